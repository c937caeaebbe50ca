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

    fn load_all(&self, first: u32, words: &mut [u32]) {
        let mut bytes = [0; 256];
        let mut offset = u64::from(first & !3);
        for words in words.chunks_mut(bytes.len() / 4) {
            let bytes = &mut bytes[..words.len() * 4];
            if self.mapping.read(offset, bytes).is_err() {
                // The end of the register space is among them.
                for (offset, word) in (offset as u32..).step_by(4).zip(&mut *words) {
                    *word = self.load(offset);
                }
            } else {
                for (word, bytes) in words.iter_mut().zip(bytes.chunks_exact(4)) {
                    *word = u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
                }
            }
            offset += bytes.len() as u64;
        }
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
    fn many_are_loaded_as_one_by_one() {
        let regs = RegisterFile::new().unwrap();
        for offset in (0x28000..0x28400).step_by(4).chain([REGISTER_SPACE - 4]) {
            regs.store(offset, offset ^ 0x5A00_0000);
        }
        for (first, count) in [
            (0x28000, 100),
            (0x28100, 64),
            (0x283FE, 3),
            (0x3FFF0, 9),
            (0, 0),
        ] {
            let mut words = vec![1; count];
            regs.load_all(first, &mut words);
            let one_by_one = (first..).step_by(4).map(|offset| regs.load(offset));
            assert!(one_by_one.take(count).eq(words), "{first:#x}");
        }
    }
}
