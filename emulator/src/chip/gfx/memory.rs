// SPDX-License-Identifier: MIT
//! The pipeline's view of memory.
//!
//! Each worker holds a [`View`] of its own for the length of one draw, so it
//! may remember where addresses lead: hardware, too, keeps translations
//! between two flushes of its TLB, and a draw lies between two.

use crate::chip::bus::{Mc, McError};

/// A worker's window on the memory controller's address space.
#[derive(Clone)]
pub struct View<'a> {
    mc: &'a dyn Mc,
}

impl<'a> View<'a> {
    /// A view that remembers nothing yet.
    pub fn new(mc: &'a dyn Mc) -> Self {
        Self { mc }
    }

    /// Reads `buf.len()` bytes from MC address `addr`.
    ///
    /// # Errors
    /// As [`Mc::read`].
    #[inline]
    pub fn read(&self, addr: u64, buf: &mut [u8]) -> Result<(), McError> {
        self.mc.read(addr, buf)
    }

    /// Writes `buf` to MC address `addr`.
    ///
    /// # Errors
    /// As [`Mc::write`].
    #[inline]
    pub fn write(&self, addr: u64, buf: &[u8]) -> Result<(), McError> {
        self.mc.write(addr, buf)
    }
}
