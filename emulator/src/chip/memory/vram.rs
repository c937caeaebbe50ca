// SPDX-License-Identifier: MIT
//! Video memory: one memory file. BAR0 is its first part.

use std::fs::File;

use super::{Mapping, MemoryError};

/// The board's video memory.
#[derive(Debug)]
pub struct Vram {
    mapping: Mapping,
}

impl Vram {
    /// Creates `size` bytes of zeroed video memory. The host allocates a page
    /// when it is first accessed.
    pub fn new(size: u64) -> Result<Self, MemoryError> {
        Ok(Self {
            mapping: Mapping::create("r7xx-vram", size)?,
        })
    }

    /// Size in bytes, CPU-visible or not.
    pub fn size(&self) -> u64 {
        self.mapping.size()
    }

    /// The memory file, for mapping BAR0 into the client.
    pub fn file(&self) -> Option<&File> {
        self.mapping.file()
    }

    /// Reads from byte `offset` of video memory.
    pub fn read(&self, offset: u64, buf: &mut [u8]) -> Result<(), MemoryError> {
        self.mapping.read(offset, buf)
    }

    /// Prefetches `len` bytes from byte `offset` of video memory on into the host's caches.
    #[inline]
    pub fn prefetch(&self, offset: u64, len: usize) -> Result<(), MemoryError> {
        self.mapping.prefetch(offset, len)
    }

    /// Copies `len` bytes of video memory.
    pub fn copy(&self, from: u64, to: u64, len: usize) -> Result<(), MemoryError> {
        self.mapping.copy(from, to, len)
    }

    /// Writes to byte `offset` of video memory.
    pub fn write(&self, offset: u64, buf: &[u8]) -> Result<(), MemoryError> {
        self.mapping.write(offset, buf)
    }
}
