// SPDX-License-Identifier: MIT
//! The global data share: append counters (Evergreen) and a memory that all shaders and the command
//! processor share. Mesa keeps the counters of Cayman, which has no others, in its memory.
//!
//! Sources: Mesa's `evergreen_state.c` (`cayman_write_count_to_gds()`), `GDS_ADDR_SIZE`; the
//! size is that of AMD's Evergreen ISA, chapter 1: 64 KiB.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::OnceLock;

use super::shader::share;

/// Dwords of the memory.
pub const DWORDS: usize = 0x4000;

/// Number of append counters (`GDS_APPEND_COUNT_n`).
pub const COUNTERS: usize = 12;

/// The share.
#[derive(Debug, Default)]
pub struct GlobalShare {
    counters: [AtomicU32; COUNTERS],
    /// Made at its first use: most programs have none.
    memory: OnceLock<Box<[AtomicU32]>>,
}

impl GlobalShare {
    /// Append counter `index`, if there is one.
    pub fn counter(&self, index: usize) -> Option<&AtomicU32> {
        self.counters.get(index)
    }

    /// Dword `index` of the memory, if there is one.
    pub fn dword(&self, index: usize) -> Option<&AtomicU32> {
        let zeroes = || (0..DWORDS).map(|_| AtomicU32::new(0)).collect();
        self.memory.get_or_init(zeroes).get(index)
    }
}

/// Changes `place` by [`share::apply`] and returns the value before.
pub fn change(place: &AtomicU32, op: u8, a: u32, b: u32) -> u32 {
    let order = Ordering::Relaxed;
    let new = |old| Some(share::apply(op, old, a, b));
    place.fetch_update(order, order, new).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_has_its_size_and_keeps_what_is_stored() {
        let share = GlobalShare::default();
        // 64 KiB.
        assert_eq!(DWORDS, 16384);
        let last = share.dword(DWORDS - 1).unwrap();
        assert_eq!(change(last, share::WRITE, 7, 0), 0);
        assert_eq!(change(last, 0, 5, 0), 7);
        assert_eq!(last.load(Ordering::Relaxed), 12);
        assert!(share.dword(DWORDS).is_none() && share.counter(COUNTERS).is_none());
        assert_eq!(share.dword(0).unwrap().load(Ordering::Relaxed), 0);
    }
}
