// SPDX-License-Identifier: MIT
//! Board control: a block of dword registers in the I/O BAR by which tests
//! inside the guest turn the board's knobs. No real chip has it.
//!
//! | offset | register | access |
//! |---|---|---|
//! | 0xC0 | CTL_MAGIC: 0x37786D6E | R |
//! | 0xC4 | CTL_VERSION: 1 | R |
//! | 0xC8 | CTL_LATENCY_US: delay of each submission, microseconds | RW |
//! | 0xCC | CTL_RATE_MBPS: rate of copies, 10^6 bytes/s; 0 unlimited | RW |
//! | 0xD0 | CTL_HANG: W mask of engines to hang, R mask of hung engines | RW |
//! | 0xD4 | CTL_COUNTER_SELECT: counter index | RW |
//! | 0xD8 | CTL_COUNTER_LO: low half of the selected counter | R |
//! | 0xDC | CTL_COUNTER_HI: high half, latched when the low one was read | R |
//!
//! Engine mask: bit 0 graphics CP, bit 1 DMA, bit 2 UVD. Everything else in
//! 0xC0 to 0xFF reads 0 and ignores writes. Root reaches the block by 4-byte
//! pread and pwrite on the PCI device's `resource4`.

use std::sync::atomic::{AtomicU32, Ordering};

use crate::chip::Chip;

/// First offset of the block in the I/O BAR.
pub const CTL_BASE: u32 = 0xC0;
/// Identifies the block.
pub const CTL_MAGIC: u32 = 0xC0;
/// Revision of this interface.
pub const CTL_VERSION: u32 = 0xC4;
/// Latency knob, in microseconds.
pub const CTL_LATENCY_US: u32 = 0xC8;
/// Rate knob, in 10^6 bytes/s.
pub const CTL_RATE_MBPS: u32 = 0xCC;
/// Hang injection: a mask of engines.
pub const CTL_HANG: u32 = 0xD0;
/// Index of the counter to read.
pub const CTL_COUNTER_SELECT: u32 = 0xD4;
/// Low half of the counter.
pub const CTL_COUNTER_LO: u32 = 0xD8;
/// High half of the counter.
pub const CTL_COUNTER_HI: u32 = 0xDC;

/// Value of [`CTL_MAGIC`].
pub const MAGIC: u32 = 0x3778_6D6E;
/// Value of [`CTL_VERSION`].
pub const VERSION: u32 = 1;

/// State of the block; the knobs themselves belong to the chip.
#[derive(Debug, Default)]
pub struct Control {
    select: AtomicU32,
    high: AtomicU32,
}

impl Control {
    /// Reads the register at I/O BAR offset `offset`.
    pub fn read(&self, chip: &Chip, offset: u32) -> u32 {
        let clamp = |v: u64| u32::try_from(v).unwrap_or(u32::MAX);
        match offset {
            CTL_MAGIC => MAGIC,
            CTL_VERSION => VERSION,
            CTL_LATENCY_US => clamp(chip.knobs().latency_us()),
            CTL_RATE_MBPS => clamp(chip.knobs().rate_mbps()),
            CTL_HANG => chip.knobs().hung(),
            CTL_COUNTER_SELECT => self.select.load(Ordering::Relaxed),
            CTL_COUNTER_LO => {
                let index = self.select.load(Ordering::Relaxed) as usize;
                let value = chip.counters().by_index(index);
                self.high.store((value >> 32) as u32, Ordering::Relaxed);
                value as u32
            }
            CTL_COUNTER_HI => self.high.load(Ordering::Relaxed),
            _ => 0,
        }
    }

    /// Writes the register at I/O BAR offset `offset`.
    pub fn write(&self, chip: &Chip, offset: u32, value: u32) {
        match offset {
            CTL_LATENCY_US => chip.knobs().set_latency_us(u64::from(value)),
            CTL_RATE_MBPS => chip.knobs().set_rate_mbps(u64::from(value)),
            CTL_HANG => chip.knobs().set_hang(value),
            CTL_COUNTER_SELECT => self.select.store(value, Ordering::Relaxed),
            _ => {}
        }
    }
}
