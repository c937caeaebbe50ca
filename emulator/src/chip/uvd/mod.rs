// SPDX-License-Identifier: MIT
//! Video decoder: the part that the unmodified driver needs to start and test it.
//!
//! The VCPU comes up, the ring is executed, fences are written and traps
//! raised; decode messages are accepted and ignored. Register use: the
//! sequences in `uvd_v1_0.c` and `uvd_v2_2.c`.

mod registers;

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::Arc;

use crate::chip::counters::Counter;
use crate::chip::cp::pm4::Header;
use crate::chip::engine::{Job, Polls, Ring, RingUnit, Step};
use crate::chip::fetch::{Buffer, FetchError, Fetcher};
use crate::chip::generation::UvdFence;
use crate::chip::hub::{Client, Hub};
use crate::chip::ih::Source;
use crate::chip::regs::uvd;
pub(crate) use registers::UvdRegisters;
use registers::{vcpu_running, FIRST, LAST};

/// Indirect buffers do not nest on this engine.
const IB_DEPTH: usize = 1;

/// Number of clients with a segment in `UVD_LMI_EXT40_ADDR`.
const SEGMENTS: usize = 16;

/// UVD state behind indexed registers.
#[derive(Debug, Default)]
pub(crate) struct UvdSegments {
    /// Address bits 39:32 by client.
    high: [AtomicU32; SEGMENTS],
}

impl UvdSegments {
    /// Handles a write of `UVD_LMI_EXT40_ADDR`.
    pub fn write(&self, value: u32) {
        let index = (value >> 16) as usize % SEGMENTS;
        self.high[index].store(value & 0xFF, Ordering::Relaxed);
    }

    /// Back to the state after reset.
    pub fn reset(&self) {
        for segment in &self.high {
            segment.store(0, Ordering::Relaxed);
        }
    }

    fn base(&self, low: u32) -> u64 {
        let high = self.high[uvd::EXT40_INDEX_RBC as usize].load(Ordering::Relaxed);
        (u64::from(high) << 32) | u64::from(low)
    }
}

/// The UVD ring's state beyond its registers.
#[derive(Debug)]
pub(crate) struct Uvd {
    segments: Arc<UvdSegments>,
    fetch: Fetcher,
    polls: Polls,
}

/// Effect of a register write from the ring on the fetch.
enum Effect {
    None,
    Call(u32),
    Wait,
}

impl Uvd {
    /// A ring whose upper address bits are in `segments`.
    pub fn new(segments: Arc<UvdSegments>) -> Self {
        Self {
            segments,
            fetch: Fetcher::default(),
            polls: Polls::default(),
        }
    }

    fn packet(&mut self, job: &Job<'_>, ring: &Ring) -> Result<Step, FetchError> {
        let hub = job.hub;
        let header = Header::decode(self.fetch.header(&*hub.mc, ring)?);
        self.fetch.body(&*hub.mc, ring, header.body())?;
        if hub.trace.enabled() && self.polls.is_first() {
            let shown = &self.fetch.body[..self.fetch.body.len().min(4)];
            let at = self.fetch.position(ring);
            hub.trace
                .line("uvd", format_args!("{at} {header:x?} {shown:x?}"));
        }
        let mut call = None;
        match header {
            Header::Type0 { reg, .. } => {
                for (i, value) in self.fetch.body.iter().enumerate() {
                    match self.write(job, reg + 4 * i as u32, *value) {
                        Effect::None => {}
                        Effect::Call(dwords) => call = Some(dwords),
                        Effect::Wait => return Ok(self.polls.wait()),
                    }
                }
            }
            Header::Type2 => {}
            Header::Type1 | Header::Type3 { .. } => hub.counters.inc(Counter::BadPackets),
        }
        self.polls.reset();
        let rptr = self.fetch.consume(ring, 1 + header.body());
        if let Some(dwords) = call {
            let addr = self.segments.base(hub.regs.load(uvd::UVD_RBC_IB_BASE));
            let buffer = Buffer {
                addr,
                dwords,
                context: 0,
            };
            if self.fetch.call(buffer, IB_DEPTH) {
                hub.counters.inc(Counter::Ibs);
            } else {
                hub.counters.inc(Counter::BadPackets);
            }
        }
        Ok(Step::Done { rptr })
    }

    /// A register write from the ring or an indirect buffer. It can reach only
    /// the UVD's own registers.
    fn write(&self, job: &Job<'_>, reg: u32, value: u32) -> Effect {
        let hub = job.hub;
        match reg {
            uvd::UVD_RBC_IB_SIZE => {
                hub.regs.store(reg, value);
                return Effect::Call(value & 0xF_FFFF);
            }
            uvd::UVD_GPCOM_VCPU_CMD => self.command(job, value),
            uvd::UVD_SEMA_CMD => return semaphore(hub, value),
            FIRST..=LAST => job.registers.write(reg, value),
            _ => hub.counters.inc(Counter::BadPackets),
        }
        Effect::None
    }

    /// Command to the VCPU. In the ring, 0 writes a fence and
    /// 2 raises the trap. In an indirect buffer, commands announce messages, which
    /// are ignored.
    fn command(&self, job: &Job<'_>, command: u32) {
        let hub = job.hub;
        if self.fetch.level() > 0 {
            return;
        }
        match command {
            0 => {
                let lo = hub.regs.load(uvd::UVD_GPCOM_VCPU_DATA0);
                let data1 = hub.regs.load(uvd::UVD_GPCOM_VCPU_DATA1);
                let (hi, value) = match hub.generation.uvd_fence {
                    UvdFence::Data1 => (0, data1),
                    UvdFence::ContextId => (data1 & 0xFF, hub.regs.load(uvd::UVD_CONTEXT_ID)),
                };
                let addr = (u64::from(hi) << 32) | u64::from(lo);
                hub.counters.inc(Counter::Fences);
                if let Err(e) = hub.mc.write_u32(addr, value) {
                    hub.fault(Client::Uvd, e);
                }
            }
            2 if hub.regs.load(uvd::UVD_MASTINT_EN) & uvd::MASTINT_SYS_EN != 0 => {
                job.ih.post(hub, Source::Uvd, 0);
            }
            _ => {}
        }
    }
}

fn semaphore(hub: &Hub, command: u32) -> Effect {
    let low = u64::from(hub.regs.load(uvd::UVD_SEMA_ADDR_LOW) & 0xF_FFFF);
    let high = u64::from(hub.regs.load(uvd::UVD_SEMA_ADDR_HIGH) & 0xF_FFFF);
    let addr = ((high << 23) | (low << 3)) & 0xFF_FFFF_FFFF;
    let result = if command & 1 == 0 {
        hub.semaphore_signal(addr).map(|()| true)
    } else {
        hub.semaphore_try_wait(addr)
    };
    match result {
        Ok(true) => Effect::None,
        Ok(false) => Effect::Wait,
        Err(e) => {
            hub.fault(Client::Uvd, e);
            Effect::None
        }
    }
}

impl RingUnit for Uvd {
    fn ring(&self, hub: &Hub) -> Ring {
        let log2 = (hub.regs.load(uvd::UVD_RBC_RB_CNTL) & uvd::RB_BUFSZ_MASK).clamp(2, 24);
        Ring {
            base: self.segments.base(hub.regs.load(uvd::UVD_RBC_RB_BASE)),
            size: 1 << (log2 - 2),
            rptr: 0,
            limit: 0,
        }
    }

    fn enabled(&self, hub: &Hub) -> bool {
        vcpu_running(hub) && hub.regs.load(uvd::UVD_RBC_RB_CNTL) & uvd::RB_NO_FETCH == 0
    }

    fn publish_rptr(&self, hub: &Hub, rptr: u32) {
        hub.regs.store(uvd::UVD_RBC_RB_RPTR, rptr);
    }

    fn step(&mut self, job: &Job<'_>, ring: &Ring) -> Step {
        match self.packet(job, ring) {
            Ok(step) => step,
            Err(FetchError::Starved) => Step::Starved,
            Err(error) => Step::Done {
                rptr: self.fetch.abandon(job.hub, Client::Uvd, ring, error),
            },
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
