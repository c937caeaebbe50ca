// SPDX-License-Identifier: MIT
//! The register file: the values of all registers, without side effects.
//!
//! It is a memory file, so that the client can map those pages of the MMIO BAR
//! in which no register has a side effect. Trapped accesses, mapped accesses and
//! the blocks themselves all use this one copy.

use std::fs::File;

use super::{Mapping, MemoryError};
use crate::chip::bus::RegFile;

/// Size of the register space reached through MM_INDEX/MM_DATA, in bytes.
pub const REGISTER_SPACE: u32 = 0x40000;

/// Parts of the MMIO BAR that the client may map, as (offset, size) in
/// bytes: VM, memory controller, HDP, interrupt ring and BIF registers
/// (0x1000), display outputs (0x7000) and configuration registers of the 3D
/// pipeline (0x9000). Fence waits and interrupt handlers access these often; a
/// trapped access costs 300 times more.
pub const MAPPABLE: [(u64, u64); 3] = [(0x1000, 0x5000), (0x7000, 0x1000), (0x9000, 0x3000)];

/// As [`MAPPABLE`], for a strict board: without the pages of the TLB requests
/// (0x1000) and of the HDP flushes (0x2000, 0x5000), which have effects on it.
pub const MAPPABLE_STRICT: [(u64, u64); 3] = [(0x3000, 0x2000), (0x7000, 0x1000), (0x9000, 0x3000)];

/// The register file.
#[derive(Debug)]
pub struct RegisterFile {
    mapping: Mapping,
}

impl RegisterFile {
    /// Creates a register file of zeroes.
    pub fn new() -> Result<Self, MemoryError> {
        Ok(Self {
            mapping: Mapping::create("r7xx-registers", u64::from(REGISTER_SPACE))?,
        })
    }

    /// The memory file, for mapping [`MAPPABLE`] pages into the client.
    pub fn file(&self) -> Option<&File> {
        self.mapping.file()
    }
}

impl RegFile for RegisterFile {
    fn load(&self, offset: u32) -> u32 {
        self.mapping.load_u32(u64::from(offset & !3)).unwrap_or(0)
    }

    fn store(&self, offset: u32, value: u32) {
        // Writes beyond the register space are ignored.
        let _ = self.mapping.store_u32(u64::from(offset & !3), value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn store_then_load_returns_value() {
        let regs = RegisterFile::new().unwrap();
        regs.store(0x3fffc, 0xdead_beef);
        assert_eq!(regs.load(0x3fffc), 0xdead_beef);
        assert_eq!(regs.load(0x3fffe), 0xdead_beef, "rounded down");
    }

    #[test]
    fn beyond_space_reads_zero_and_ignores_writes() {
        let regs = RegisterFile::new().unwrap();
        for offset in [REGISTER_SPACE, u32::MAX] {
            regs.store(offset, 1);
            assert_eq!(regs.load(offset), 0);
        }
    }

    #[test]
    fn mappable_pages_are_whole_and_inside_the_bar() {
        for (offset, size) in MAPPABLE.into_iter().chain(MAPPABLE_STRICT) {
            assert_eq!(offset % 4096, 0);
            assert_eq!(size % 4096, 0);
            assert!(offset + size <= 0x10000);
        }
    }
}
