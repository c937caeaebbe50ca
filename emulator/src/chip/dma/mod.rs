// SPDX-License-Identifier: MIT
//! Asynchronous DMA engine: executes the DMA ring and its indirect buffers.
//!
//! Register meanings: `r600d.h` and the set-up in `r600_dma_resume()`.

pub mod cayman;
pub mod evergreen;
pub mod packet;
pub mod rings;

mod registers;
mod transfer;

use crate::chip::context::Contexts;
use crate::chip::counters::Counter;
use crate::chip::engine::{Cancelled, Ended, Job, Polls, Ring, RingUnit, Step};
use crate::chip::fetch::{FetchError, Fetcher};
use crate::chip::hub::{Client, Hub};
use crate::chip::regs::{dma, field};
use packet::Packet;
pub(crate) use registers::DmaRegisters;
use rings::RingRegisters;

/// A generation's packets.
#[derive(Debug, Clone, Copy)]
pub struct Format {
    /// Dwords that follow a header; 0 for an unknown command.
    pub body: fn(u32) -> u32,
    /// Decodes a packet: header and body. `None` for an unknown command.
    pub decode: for<'a> fn(u32, &'a [u32]) -> Option<Packet<'a>>,
}

/// Packets of R6xx and R7xx.
pub(crate) const R700_FORMAT: Format = Format {
    body: |header| packet::Header::decode(header).body(),
    decode: |header, body| Packet::decode(packet::Header::decode(header), body),
};

/// Packets of Evergreen and Northern Islands.
pub(crate) const EVERGREEN_FORMAT: Format = Format {
    body: evergreen::body,
    decode: evergreen::decode,
};

/// Packets of Cayman.
pub(crate) const CAYMAN_FORMAT: Format = Format {
    body: cayman::body,
    decode: cayman::decode,
};

/// Indirect buffers do not nest on this engine.
const IB_DEPTH: usize = 1;

/// The DMA engine's state beyond its registers.
pub(crate) struct Dma {
    ring: &'static RingRegisters,
    contexts: Contexts,
    fetch: Fetcher,
    polls: Polls,
    /// Commands already logged as unknown, one bit each.
    logged: u16,
}

impl Dma {
    /// The engine with these registers, whose indirect buffers are executed in `contexts`.
    pub fn new(ring: &'static RingRegisters, contexts: Contexts) -> Self {
        Self {
            ring,
            contexts,
            fetch: Fetcher::default(),
            polls: Polls::default(),
            logged: 0,
        }
    }

    /// Fetches and executes one packet in its context.
    fn packet(&mut self, job: &Job<'_>, ring: &Ring) -> Result<Step, Ended<FetchError>> {
        let context = self.contexts.enter(self.fetch.context());
        context.run(job, Client::Dma, |job| self.packet_within(job, ring))
    }

    fn packet_within(&mut self, job: &Job<'_>, ring: &Ring) -> Result<Step, Ended<FetchError>> {
        let hub = job.hub;
        let format = &hub.generation.dma;
        let header = self.fetch.header(job.mc, ring)?;
        let command = header >> packet::COMMAND_SHIFT;
        let length = (format.body)(header);
        self.fetch.body(job.mc, ring, length)?;
        if hub.trace.enabled() && self.polls.is_first() {
            let shown = &self.fetch.body[..self.fetch.body.len().min(8)];
            hub.trace.line(
                "dma",
                format_args!(
                    "{} {} {header:#010x} {shown:x?}",
                    self.fetch.position(ring),
                    packet::name(command),
                ),
            );
        }
        let mut call = None;
        match (format.decode)(header, &self.fetch.body) {
            Some(Packet::IndirectBuffer {
                addr,
                dwords,
                context,
            }) => call = Some(job.buffer(addr, dwords, context)),
            Some(Packet::PollRegister { reg, mask, value }) => {
                if job.registers.read(reg) & mask != value {
                    return Ok(self.polls.wait());
                }
            }
            Some(Packet::Semaphore { addr, signal }) => {
                if !self.semaphore(hub, addr, signal) {
                    return Ok(self.polls.wait());
                }
            }
            Some(packet) => execute(job, packet, self.ring)?,
            None => {
                hub.counters.inc(Counter::BadPackets);
                if self.logged & (1 << command) == 0 {
                    self.logged |= 1 << command;
                    log::warn!("dma: unknown command {header:#x}, skipped");
                }
            }
        }
        self.polls.reset();
        let rptr = self.fetch.consume(ring, 1 + length);
        if let Some(buffer) = call {
            let enabled = hub.regs.load(self.ring.ib_cntl) & dma::DMA_IB_ENABLE != 0;
            if enabled && self.fetch.call(buffer, IB_DEPTH) {
                hub.counters.inc(Counter::Ibs);
            } else {
                hub.counters.inc(Counter::BadPackets);
            }
        }
        Ok(Step::Done { rptr })
    }

    /// Executes a semaphore packet; false if it has to wait.
    fn semaphore(&self, hub: &Hub, addr: u64, signal: bool) -> bool {
        let result = if signal {
            hub.semaphore_signal(addr).map(|()| true)
        } else {
            hub.semaphore_try_wait(addr)
        };
        // A semaphore that cannot be accessed is not waited for.
        result.unwrap_or_else(|e| {
            hub.fault(Client::Dma, e);
            true
        })
    }
}

/// Executes a packet that does not change the fetch state. A memory fault is
/// reported and ends the packet.
fn execute(job: &Job<'_>, packet: Packet<'_>, ring: &RingRegisters) -> Result<(), Cancelled> {
    let hub = job.hub;
    let result = match packet {
        Packet::Write { dst, data } => transfer::write(job, dst, data).map_err(Into::into),
        Packet::WriteTiled { dst, data } => transfer::write_tiled(job, &dst, data),
        Packet::Copy { dst, src, dwords } => transfer::copy(job, dst, src, 4 * dwords as usize),
        Packet::CopyTiled {
            tiled,
            linear,
            detile,
            dwords,
        } => transfer::copy_tiled(job, &tiled, linear, detile, dwords),
        Packet::CopyBytes { dst, src, bytes } => transfer::copy(job, dst, src, bytes as usize),
        Packet::CopyTwice { dst, src, dwords } => dst
            .into_iter()
            .try_for_each(|dst| transfer::copy(job, dst, src, 4 * dwords as usize)),
        Packet::WriteRegister { reg, bytes, value } => {
            let mask = (0..4).fold(0, |m, i| m | u32::from(bytes >> i & 1) * 0xFF << (8 * i));
            let kept = match mask {
                u32::MAX => 0,
                _ => job.registers.read(reg) & !mask,
            };
            job.registers.write(reg, kept | value & mask);
            Ok(())
        }
        Packet::Unmodelled => {
            hub.unmodelled(Client::Dma);
            Ok(())
        }
        Packet::PageTable {
            dst,
            flags,
            first,
            step,
            entries,
        } => transfer::page_table(job, dst, (first, step), flags, entries),
        Packet::ConstantFill { dst, value, dwords } => transfer::fill(job, dst, value, dwords),
        Packet::Fence { addr, value } => {
            hub.counters.inc(Counter::Fences);
            job.mc.write_u32(addr, value).map_err(Into::into)
        }
        Packet::Trap => {
            if hub.regs.load(ring.int_cntl) & dma::TRAP_ENABLE != 0 {
                job.ih.post(hub, ring.source, 0);
            }
            Ok(())
        }
        Packet::Nop
        | Packet::IndirectBuffer { .. }
        | Packet::PollRegister { .. }
        | Packet::Semaphore { .. } => Ok(()),
    };
    match result {
        Ok(()) => Ok(()),
        Err(Ended::Failed(e)) => {
            job.report(Client::Dma, e);
            Ok(())
        }
        Err(Ended::Cancelled) => Err(Cancelled),
    }
}

impl RingUnit for Dma {
    fn ring(&self, hub: &Hub) -> Ring {
        // The byte pointers have 18 bits: at most 64 Ki dwords.
        let log2 = field(hub.regs.load(self.ring.cntl), dma::DMA_RB_SIZE_MASK).min(16);
        Ring {
            base: u64::from(hub.regs.load(self.ring.base)) << 8,
            size: 1 << log2,
            rptr: 0,
            limit: 0,
        }
    }

    fn enabled(&self, hub: &Hub) -> bool {
        hub.regs.load(self.ring.cntl) & dma::DMA_RB_ENABLE != 0
    }

    fn publish_rptr(&self, hub: &Hub, rptr: u32) {
        hub.regs.store(self.ring.rptr, rptr << 2);
        if hub.regs.load(self.ring.cntl) & dma::DMA_RPTR_WRITEBACK_ENABLE == 0 {
            return;
        }
        let addr = (u64::from(hub.regs.load(self.ring.rptr_addr_hi) & 0xFF) << 32)
            | u64::from(hub.regs.load(self.ring.rptr_addr_lo) & !3);
        if let Err(e) = hub.mc.write_u32(addr, rptr << 2) {
            hub.fault(Client::Dma, e);
        }
    }

    fn step(&mut self, job: &Job<'_>, ring: &Ring) -> Step {
        match self.packet(job, ring) {
            Ok(step) => step,
            Err(Ended::Failed(FetchError::Starved)) => Step::Starved,
            Err(Ended::Failed(error)) => Step::Done {
                rptr: self.fetch.abandon(job.hub, Client::Dma, ring, error),
            },
            Err(Ended::Cancelled) => Step::Cancelled,
        }
    }

    fn idle(&self) -> bool {
        self.fetch.level() == 0
    }

    fn reset(&mut self) {
        self.fetch.reset();
        self.polls.reset();
    }
}
