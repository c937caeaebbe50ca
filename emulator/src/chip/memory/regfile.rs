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

    /// The memory file, for mapping pages into the client.
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
}
