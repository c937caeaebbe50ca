// SPDX-License-Identifier: MIT
//! What the CPU's accesses to VRAM cost on a bus (`--bar-read-ns`, `--bar-write-ns`).
//!
//! Usually the client maps BAR0, and an access costs what memory costs. With one of the options, as
//! on a strict board, each access traps; the board counts it and adds its price to a counter. It does
//! not wait: a trap alone takes tens of microseconds, and a guest that counts instructions
//! (`lab/run --accel icount`) sees no time pass while the board works. So who measures in the guest
//! reads [`Counter::BarNs`] before and after, and adds the difference.
//!
//! - **A read** is non-posted: the CPU waits for the completion before it goes on. Every access has
//!   the price `--bar-read-ns`, whatever its width. QEMU splits loads of 16 bytes, so a line that
//!   non-temporal loads (MOVNTDQA) fetch at once on hardware is eight reads here.
//! - **Writes** are posted and combined: the price `--bar-write-ns` is that of a line of 64 bytes, as a
//!   write-combining buffer of x86 has (Intel SDM volume 3A, "Buffering of Write Combining Memory
//!   Locations"). Writes to the line of the write before cost nothing more. There is one buffer, where
//!   CPUs have several.
//!
//! Only the CPU pays. Copies by the engines have `--rate-mbps`.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::chip::counters::{Counter, Counters};

/// Bytes of a write-combining buffer.
const LINE: u64 = 64;
/// No line: the first write after a read begins a new one.
const NONE: u64 = u64::MAX;

/// The prices of accesses to BAR0, and the line that the last write has filled.
#[derive(Debug)]
pub struct Bar {
    read_ns: u64,
    write_ns: u64,
    line: AtomicU64,
}

impl Bar {
    /// Prices in nanoseconds: `read_ns` of a read, `write_ns` of a line of writes.
    pub fn new(read_ns: u64, write_ns: u64) -> Self {
        Self {
            read_ns,
            write_ns,
            line: AtomicU64::new(NONE),
        }
    }

    /// Counts a read. It also empties the write-combining buffer, as a load from memory of that type does.
    pub fn read(&self, counters: &Counters) {
        self.line.store(NONE, Ordering::Relaxed);
        counters.inc(Counter::BarReads);
        counters.add(Counter::BarNs, self.read_ns);
    }

    /// Counts the lines that a write of `len` bytes at `offset` begins.
    pub fn write(&self, counters: &Counters, offset: u64, len: usize) {
        if len == 0 {
            return;
        }
        let (first, last) = (offset / LINE, (offset + len as u64 - 1) / LINE);
        let before = self.line.swap(last, Ordering::Relaxed);
        let lines = last - first + u64::from(before != first);
        counters.add(Counter::BarLines, lines);
        counters.add(Counter::BarNs, lines * self.write_ns);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads, lines and nanoseconds.
    fn counted(counters: &Counters) -> [u64; 3] {
        [Counter::BarReads, Counter::BarLines, Counter::BarNs].map(|c| counters.get(c))
    }

    #[test]
    fn each_read_has_its_price() {
        let (bar, counters) = (Bar::new(1000, 11), Counters::default());
        bar.read(&counters);
        bar.read(&counters);
        assert_eq!(counted(&counters), [2, 0, 2000]);
    }

    #[test]
    fn writes_to_a_line_in_a_row_are_one() {
        let (bar, counters) = (Bar::new(1000, 11), Counters::default());
        for offset in (0..128).step_by(8) {
            bar.write(&counters, offset, 8);
        }
        assert_eq!(counted(&counters), [0, 2, 22]);
        // Back to the first line, and over the end of a line.
        bar.write(&counters, 0, 4);
        assert_eq!(counted(&counters), [0, 3, 33]);
        bar.write(&counters, 60, 8);
        assert_eq!(counted(&counters), [0, 4, 44]);
        bar.write(&counters, 64, 0);
        assert_eq!(counted(&counters), [0, 4, 44]);
    }

    #[test]
    fn a_read_ends_the_line() {
        let (bar, counters) = (Bar::new(0, 1), Counters::default());
        bar.write(&counters, 0, 8);
        bar.read(&counters);
        bar.write(&counters, 8, 8);
        assert_eq!(counted(&counters), [1, 2, 2]);
    }
}
