// SPDX-License-Identifier: MIT
//! Command processor: executes PM4 packets from the graphics ring.
//!
//! [`pm4`] decodes packets and `execute` executes them; this file has the
//! fetch loop: one packet per step, from the ring or from the innermost of at
//! most two indirect buffers. A packet that has to wait is not consumed and is
//! fetched again at the next poll, so waits are also allowed in indirect
//! buffers.

pub mod cayman;
pub mod evergreen;
pub mod opcode;
pub mod pm4;
pub mod rings;

mod compute;
mod copy;
mod encode;
mod execute;
mod pipe;
mod prefetch;
mod registers;

use std::collections::BTreeMap;
use std::sync::Arc;

use compute::ComputeState;
use pipe::Pipe;

use crate::chip::bus::Mc;
use crate::chip::context::Contexts;
use crate::chip::counters::Counter;
use crate::chip::engine::{Ended, Job, Polls, Ring, RingUnit, Step};
use crate::chip::fetch::{Buffer, FetchError, Fetcher};
use crate::chip::gfx::Gfx;
use crate::chip::hub::{Client, Hub};
use crate::chip::regs::cp;
use crate::chip::strict::Strict;
use pm4::{DecodeError, Header, Packet};
use prefetch::Pfp;
pub(crate) use registers::CpRegisters;
use rings::RingRegisters;

/// A generation's packets.
#[derive(Debug, Clone, Copy)]
pub struct Format {
    /// Name of a type-3 opcode, if known.
    pub name: fn(u8) -> Option<&'static str>,
    /// Decodes the body of a type-3 packet.
    pub decode: for<'a> fn(u8, &'a [u32]) -> Result<Packet<'a>, DecodeError>,
    /// Byte offset of `CP_STRMOUT_CNTL`.
    pub strmout_control: u32,
    /// Counters that `SAMPLE_PIPELINESTAT` writes.
    pub pipeline_counters: usize,
    /// Whether compute shaders have context registers of their own.
    pub compute_state: bool,
    /// Whether a strict board's CP goes on while the pipeline draws and flushes (module `pipe`).
    pub goes_on: bool,
    /// Whether `WAIT_UNTIL` waits for the pipeline.
    pub wait_until: bool,
}

/// Packets of R6xx and R7xx.
pub(crate) const R700_FORMAT: Format = Format {
    name: opcode::name,
    decode: |opcode, body| Packet::decode(opcode, body),
    strmout_control: cp::CP_STRMOUT_CNTL,
    pipeline_counters: 8,
    compute_state: false,
    goes_on: false,
    wait_until: true,
};

/// Packets of Evergreen and Northern Islands.
pub(crate) const EVERGREEN_FORMAT: Format = Format {
    name: evergreen::name,
    decode: evergreen::decode,
    strmout_control: crate::chip::regs::evergreen::CP_STRMOUT_CNTL,
    // r600_query_init() in Mesa: 11 on Evergreen.
    pipeline_counters: 11,
    compute_state: true,
    goes_on: true,
    wait_until: true,
};

/// Nesting depth of indirect buffers: IB1 in the ring, IB2 in IB1.
const IB_DEPTH: usize = 2;

/// How execution continues after a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Flow {
    Next,
    /// The packet's condition does not hold yet.
    Wait,
    Call(Buffer),
    /// Skip that many dwords after the packet.
    Skip(u32),
}

/// The command processor's state beyond its registers.
pub(crate) struct Cp {
    ring: &'static RingRegisters,
    contexts: Contexts,
    fetch: Fetcher,
    gfx: Box<dyn Gfx>,
    /// Result of the last `SET_PREDICATION`; with `None`, predicated packets are
    /// executed.
    predicate: Option<bool>,
    device_id: u8,
    polls: Polls,
    /// On a strict board, what fetches ahead; `fetch` is its position then.
    pfp: Option<Pfp>,
    /// Indices that were fetched ahead for the packet being executed.
    draw_indices: Option<Vec<u32>>,
    /// Position in ring or indirect buffer of the packet being executed, if it was
    /// fetched ahead, for the trace.
    position: String,
    /// Opcodes already logged as unknown, one bit each.
    logged: [u64; 4],
    clear: ClearState,
    indirect: Indirect,
    compute: ComputeState,
    /// On a strict board, what the pipeline has begun; `None` if it ends everything at once.
    pipe: Option<Pipe>,
}

/// Where an indirect draw of Evergreen finds its arguments and indices.
#[derive(Debug, Default, Clone, Copy)]
struct Indirect {
    /// Base of the arguments (`SET_BASE`).
    arguments: u64,
    /// The index buffer (`INDEX_BASE`).
    indices: u64,
    /// Its number of indices (`INDEX_BUFFER_SIZE`).
    size: u32,
}

/// The state to which `CLEAR_STATE` sets the context registers (Evergreen).
#[derive(Debug, Default)]
struct ClearState {
    /// The preamble that defines it is being executed.
    recording: bool,
    /// Values by byte offset; at most all registers of the context.
    values: BTreeMap<u32, u32>,
}

impl Cp {
    /// A command processor for the ring with these registers, of a chip with memory `mc`, that
    /// draws with `gfx` and, given `strict`, fetches ahead. `goes_on`: as in [`Format`].
    pub fn new(
        ring: &'static RingRegisters,
        mc: &dyn Mc,
        gfx: Box<dyn Gfx>,
        strict: Option<Arc<Strict>>,
        goes_on: bool,
    ) -> Self {
        Self {
            pipe: (goes_on && strict.is_some()).then(Pipe::default),
            ring,
            contexts: Contexts::new(mc),
            fetch: Fetcher::default(),
            gfx,
            predicate: None,
            device_id: 0,
            polls: Polls::default(),
            pfp: strict.map(|strict| Pfp::new(strict, Contexts::new(mc))),
            draw_indices: None,
            position: String::new(),
            logged: [0; 4],
            clear: ClearState::default(),
            indirect: Indirect::default(),
            compute: ComputeState::default(),
        }
    }

    /// Fetches and executes one packet in its context.
    fn packet(&mut self, job: &Job<'_>, ring: &Ring) -> Result<Step, Ended<FetchError>> {
        let context = self.contexts.enter(self.fetch.context());
        context.run(job, Client::Cp, |job| self.packet_within(job, ring))
    }

    fn packet_within(&mut self, job: &Job<'_>, ring: &Ring) -> Result<Step, Ended<FetchError>> {
        let mc = job.mc;
        let dword = self.fetch.header(mc, ring)?;
        let header = Header::decode(dword);
        self.fetch.body(mc, ring, header.body())?;

        // The body is moved out and back, so that execution may borrow self.
        let body = std::mem::take(&mut self.fetch.body);
        let flow = self.execute(job, ring, header, &body);
        self.fetch.body = body;
        let flow = flow?;

        if flow == Flow::Wait {
            return Ok(self.polls.wait());
        }
        self.polls.reset();
        let mut dwords = 1 + header.body();
        if let Flow::Skip(count) = flow {
            dwords += count;
        }
        let rptr = self.fetch.consume(ring, dwords);
        if let Flow::Call(buffer) = flow {
            self.call(job.hub, buffer);
        }
        Ok(Step::Done { rptr })
    }

    fn call(&mut self, hub: &Hub, buffer: Buffer) {
        let followed = self.fetch.call(buffer, IB_DEPTH);
        self.count_call(hub, followed);
    }

    fn count_call(&mut self, hub: &Hub, followed: bool) {
        if followed {
            hub.counters.inc(Counter::Ibs);
        } else {
            hub.counters.inc(Counter::BadPackets);
            self.log_once(hub, opcode::INDIRECT_BUFFER, "nested too deep, skipped");
        }
    }

    /// Logs a complaint about an opcode, once per opcode.
    fn log_once(&mut self, hub: &Hub, opcode: u8, complaint: &str) {
        let (word, bit) = (usize::from(opcode >> 6), 1 << (opcode & 63));
        if self.logged[word] & bit == 0 {
            self.logged[word] |= bit;
            let name = (hub.generation.pm4.name)(opcode).unwrap_or("unknown");
            log::warn!("cp: packet {opcode:#04x} ({name}): {complaint}");
        }
    }
}

impl RingUnit for Cp {
    fn ring(&self, hub: &Hub) -> Ring {
        // RB_BUFSZ is the logarithm of the size in pairs of dwords. It is capped
        // above any size that a driver uses.
        let log2 = (hub.regs.load(self.ring.cntl) & cp::RB_BUFSZ_MASK).min(22) + 1;
        Ring {
            base: u64::from(hub.regs.load(self.ring.base)) << 8,
            size: 1 << log2,
            rptr: 0,
            limit: 0,
        }
    }

    fn enabled(&self, hub: &Hub) -> bool {
        hub.regs.load(cp::CP_ME_CNTL) & (cp::CP_ME_HALT | cp::CP_PFP_HALT) == 0
    }

    fn publish_rptr(&self, hub: &Hub, rptr: u32) {
        hub.regs.store(self.ring.rptr, rptr);
        if hub.regs.load(self.ring.cntl) & cp::RB_NO_UPDATE != 0 {
            return;
        }
        let addr = (u64::from(hub.regs.load(self.ring.rptr_addr_hi) & 0xFF) << 32)
            | u64::from(hub.regs.load(self.ring.rptr_addr) & !3);
        if let Err(e) = hub.mc.write_u32(addr, rptr) {
            hub.fault(Client::Cp, e);
        }
    }

    fn step(&mut self, job: &Job<'_>, ring: &Ring) -> Step {
        if let Some(rptr) = self.fetch.pending_skip(ring) {
            return Step::Done { rptr };
        }
        // Moved out and back, so that execution may borrow the rest.
        let packet = match self.pfp.take() {
            Some(mut pfp) => {
                let packet = self.packet_ahead(job, ring, &mut pfp);
                self.pfp = Some(pfp);
                packet
            }
            None => self.packet(job, ring),
        };
        match packet {
            Ok(step) => step,
            Err(Ended::Failed(FetchError::Starved)) => Step::Starved,
            Err(Ended::Failed(error)) => {
                let rptr = self.fetch.abandon(job.hub, Client::Cp, ring, error);
                if let (0, Some(pfp)) = (self.fetch.level(), &mut self.pfp) {
                    pfp.follow();
                }
                Step::Done { rptr }
            }
            Err(Ended::Cancelled) => Step::Cancelled,
        }
    }

    fn idle(&self) -> bool {
        self.fetch.level() == 0 && self.pfp.as_ref().is_none_or(Pfp::is_empty)
    }

    fn unsettled(&self) -> bool {
        self.pipe.as_ref().is_some_and(|pipe| !pipe.is_empty())
    }

    fn settle(&mut self, job: &Job<'_>) {
        // A reset drops the rest.
        let _ = self.end_all(job);
    }

    fn reset(&mut self) {
        self.fetch.reset();
        if let Some(pipe) = &mut self.pipe {
            *pipe = Pipe::default();
        }
        if let Some(pfp) = &mut self.pfp {
            pfp.reset();
        }
        self.gfx.reset();
        self.predicate = None;
        self.clear = ClearState::default();
        self.polls.reset();
    }
}
