// SPDX-License-Identifier: MIT
//! Interrupt handler: the ring of 16-byte vectors that the driver reads.
//!
//! Register meanings: `r600d.h`; vector layout and source numbers: the
//! decoding in `r600_irq_process()`. The block's registers are in a page that the
//! guest maps, so all state but the overflow flag is in the register file.

use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::chip::bus::RegFile;
use crate::chip::counters::Counter;
use crate::chip::hub::{Client, Hub};
use crate::chip::regs::{field, ih};

/// Bytes of one vector.
pub const VECTOR_SIZE: u32 = 16;

/// Interrupt sources this board raises.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// Vertical blank of a CRTC (data 0): its number in the vector.
    Vblank(u8),
    /// Page flip of a CRTC: its number in the vector.
    Flip(u8),
    /// UVD trap.
    Uvd,
    /// CP interrupt requested from the ring.
    CpRb,
    /// CP interrupt requested from an indirect buffer.
    CpIb1,
    /// CP interrupt requested from a nested indirect buffer.
    CpIb2,
    /// End-of-pipe event.
    CpEop,
    /// DMA trap.
    Dma,
    /// Trap of the second DMA engine.
    Dma1,
    /// Access of a VM context to a page that it does not have.
    VmInvalid,
    /// Access of a VM context that its page forbids.
    VmForbidden,
}

impl Source {
    /// The source's number in a vector.
    pub fn number(self) -> u32 {
        match self {
            Source::Vblank(number) | Source::Flip(number) => number.into(),
            Source::Uvd => 124,
            Source::CpRb => 176,
            Source::CpIb1 => 177,
            Source::CpIb2 => 178,
            Source::CpEop => 181,
            Source::Dma => 224,
            Source::Dma1 => 244,
            // evergreen_irq_process() treats both alike; amdgpu names them invalid and protection.
            Source::VmInvalid => 146,
            Source::VmForbidden => 147,
        }
    }
}

/// Whether the driver has enabled interrupts and not read all vectors: the level of INTA#.
pub fn pending(regs: &dyn RegFile) -> bool {
    let unread = regs.load(ih::IH_RB_WPTR) ^ regs.load(ih::IH_RB_RPTR);
    regs.load(ih::IH_CNTL) & ih::ENABLE_INTR != 0 && unread & ih::WPTR_OFFSET_MASK != 0
}

/// State of the interrupt handler beyond its registers.
#[derive(Debug, Default)]
pub(crate) struct Ih {
    /// The ring overflowed and the driver has not cleared it.
    overflow: Mutex<bool>,
}

impl Ih {
    /// Forgets an overflow.
    pub fn reset(&self) {
        *self.hold() = false;
    }

    /// Keeps vectors from being posted while the guard lives.
    pub fn hold(&self) -> MutexGuard<'_, bool> {
        self.overflow.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Appends a vector, writes the pointer back and raises the interrupt. Drops
    /// the vector while the driver has the ring or interrupts disabled.
    pub fn post(&self, hub: &Hub, source: Source, data: u32) {
        let mut overflow = self.hold();
        let regs = &*hub.regs;
        let cntl = regs.load(ih::IH_RB_CNTL);
        if cntl & ih::IH_RB_ENABLE == 0 || regs.load(ih::IH_CNTL) & ih::ENABLE_INTR == 0 {
            hub.trace
                .line("ih", format_args!("{source:?} dropped, disabled"));
            return;
        }
        if cntl & ih::IH_WPTR_OVERFLOW_CLEAR != 0 {
            *overflow = false;
            regs.store(ih::IH_RB_CNTL, cntl & !ih::IH_WPTR_OVERFLOW_CLEAR);
        }

        // The pointers have 18 bits, so the ring has at most 64 Ki dwords.
        let log2 = field(cntl, ih::IH_RB_SIZE_MASK).clamp(2, 16);
        let mask = (4u32 << log2) - 1;
        let base = u64::from(regs.load(ih::IH_RB_BASE)) << 8;
        let wptr = regs.load(ih::IH_RB_WPTR) & mask & !(VECTOR_SIZE - 1);
        let mut vector = [0; VECTOR_SIZE as usize];
        vector[..4].copy_from_slice(&source.number().to_le_bytes());
        vector[4..8].copy_from_slice(&data.to_le_bytes());
        if let Err(e) = hub.mc.write(base + u64::from(wptr), &vector) {
            hub.fault(Client::Ih, e);
            return;
        }

        let next = (wptr + VECTOR_SIZE) & mask;
        if next == regs.load(ih::IH_RB_RPTR) & mask {
            hub.counters.inc(Counter::IhOverflows);
            *overflow |= cntl & ih::IH_WPTR_OVERFLOW_ENABLE != 0;
        }
        let value = next | if *overflow { ih::RB_OVERFLOW } else { 0 };
        regs.store(ih::IH_RB_WPTR, value);
        if cntl & ih::IH_WPTR_WRITEBACK_ENABLE != 0 {
            let addr = (u64::from(regs.load(ih::IH_RB_WPTR_ADDR_HI) & 0xFF) << 32)
                | u64::from(regs.load(ih::IH_RB_WPTR_ADDR_LO) & !3);
            if let Err(e) = hub.mc.write_u32(addr, value) {
                hub.fault(Client::Ih, e);
            }
        }
        hub.trace.line(
            "ih",
            format_args!("{source:?} data={data:#x} wptr={value:#x}"),
        );
        hub.update_clock();
        hub.counters.inc(Counter::Irqs);
        hub.irq.raise();
    }
}
