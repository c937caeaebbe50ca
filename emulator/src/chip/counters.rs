// SPDX-License-Identifier: MIT
//! Event counters of the board.
//!
//! Indices 0 to 9 are part of the board control interface (register
//! `CTL_COUNTER_SELECT`) and never change meaning.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use serde::Serialize;

use crate::chip::cp::opcode;

/// Unknown or malformed packets, by opcode; `bad_packets` counts them, too.
pub const PACKET: &str = "packet";
/// Unknown registers, by byte offset.
pub const REGISTER: &str = "register";
/// Name of unknown array modes of render targets and textures in [`Counters::unknown`].
pub const ARRAY_MODE: &str = "array mode";

/// Defines the counter indices, their names and the snapshot structure.
macro_rules! counters {
    ($($(#[$doc:meta])* $variant:ident $field:ident = $index:expr;)*) => {
        /// What a counter counts.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        #[repr(usize)]
        pub enum Counter {
            $($(#[$doc])* $variant = $index,)*
        }

        /// Values of all counters at one moment.
        #[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
        pub struct CounterSnapshot {
            $($(#[$doc])* pub $field: u64,)*
            /// Number of occurrences of each unknown or malformed packet, unknown
            /// register and unknown instruction, by name.
            pub unknown: BTreeMap<String, u64>,
        }

        const COUNTERS: usize = [$($index),*].len();

        impl Counters {
            /// Reads all counters. They may advance between two reads.
            pub fn snapshot(&self) -> CounterSnapshot {
                CounterSnapshot {
                    $($field: self.get(Counter::$variant),)*
                    unknown: self.unknown_by_name(),
                }
            }
        }
    };
}

/// The board's counters; all methods may be called from any thread.
#[derive(Debug)]
pub struct Counters {
    values: [AtomicU64; COUNTERS],
    unknown: Mutex<BTreeMap<(&'static str, u32), u64>>,
}

/// Most distinct unknown items that are counted by name; [`MORE`] counts the
/// others together.
const MAX_UNKNOWN: usize = 4096;
/// Key of the unknown items beyond [`MAX_UNKNOWN`].
const MORE: (&str, u32) = ("more", 0);

counters! {
    /// PM4 packets executed by the command processor.
    Pm4Packets pm4_packets = 0;
    /// Packets executed by the asynchronous DMA engine.
    DmaPackets dma_packets = 1;
    /// Bytes copied by `CP_DMA` packets.
    CpDmaBytes cp_dma_bytes = 2;
    /// Bytes copied by the asynchronous DMA engine.
    DmaBytes dma_bytes = 3;
    /// Interrupts raised to the host.
    Irqs irqs = 4;
    /// Register reads trapped.
    MmioReads mmio_reads = 5;
    /// Register writes trapped.
    MmioWrites mmio_writes = 6;
    /// Soft resets of an engine.
    SoftResets soft_resets = 7;
    /// Indirect buffers started, all rings.
    Ibs ibs = 8;
    /// Fences written, all rings.
    Fences fences = 9;
    /// Packets executed by the video decoder.
    UvdPackets uvd_packets = 10;
    /// Packets with an unknown opcode or a malformed body, skipped.
    BadPackets bad_packets = 11;
    /// Memory accesses of the engines outside the apertures or to invalid pages.
    McFaults mc_faults = 12;
    /// Draw packets decoded.
    Draws draws = 13;
    /// Vertical blanks signalled.
    Vblanks vblanks = 14;
    /// Page flips completed.
    Flips flips = 15;
    /// Interrupt ring overflows.
    IhOverflows ih_overflows = 16;
    /// Panics of an engine's thread: faults of the board itself.
    EnginePanics engine_panics = 17;
    /// Changes of the memory clock.
    MemoryClockChanges memory_clock_changes = 18;
    /// Strict board: flushes of the host data path that the driver asked for.
    HdpFlushes hdp_flushes = 19;
    /// Strict board: lines of CPU writes that reached VRAM without a flush.
    HdpLateLines hdp_late_lines = 20;
    /// Strict board: GPU reads that missed a CPU write not yet delivered.
    HdpUnseenReads hdp_unseen_reads = 21;
    /// Strict board: CPU reads that were given bytes older than VRAM's.
    HdpStaleReads hdp_stale_reads = 22;
    /// Strict board: TLB invalidations that the driver asked for.
    TlbInvalidates tlb_invalidates = 23;
    /// Strict board: accesses by a cached translation that the page table no
    /// longer has.
    TlbStaleHits tlb_stale_hits = 24;
    /// Strict board: packets executed that had changed since the PFP read them.
    PfpStalePackets pfp_stale_packets = 25;
    /// Strict board: draws with indices that had changed since the PFP read
    /// them.
    PfpStaleIndices pfp_stale_indices = 26;
    /// Draws that were cut short: a shader cannot be decoded or does not end,
    /// memory cannot be read, or there is too much work.
    DroppedDraws dropped_draws = 27;
    /// Writes to registers that are in no table of the board. The value is stored.
    UnknownRegisters unknown_registers = 28;
    /// Instructions that the chip does not have or the model does not execute,
    /// counted once for each wave that runs the shader.
    UnknownInstructions unknown_instructions = 29;
    /// Strict board: reads by the 3D engine for which its caches returned other
    /// bytes than memory has.
    GfxStaleReads gfx_stale_reads = 30;
    /// Strict board: reads by the 3D engine that missed data which its colour or
    /// depth cache had not yet written back.
    GfxUnseenWrites gfx_unseen_writes = 31;
    /// Strict board: times that the colour or the depth cache was written back.
    GfxCacheFlushes gfx_cache_flushes = 32;
    /// Strict board: times that the texture, vertex or shader cache was dropped.
    GfxCacheInvalidates gfx_cache_invalidates = 33;
    /// Nanoseconds that the engines spent on packets, summed over the engines. Packets that
    /// wait for memory, a register or a semaphore do not count, pauses of the rate knob do.
    BusyNs busy_ns = 34;
    /// Tiles of 8x8 pixels that the 3D engine cleared, filled or copied as a whole.
    WholeTiles whole_tiles = 35;
    /// Strict board: shaders that break a rule by which hardware hangs or corrupts registers: too
    /// few GPRs or stack entries, an ALU unit used twice, a missing `EXPORT_DONE`.
    BrokenShaders broken_shaders = 36;
    /// Packets that the model of the chip's generation consumes without executing them: draws,
    /// dispatches and tiled copies where there is no model of the 3D engine.
    Unmodelled unmodelled = 37;
    /// Reads of BAR0 by the CPU, on a board where these trap.
    BarReads bar_reads = 38;
    /// Lines of 64 bytes of BAR0 that the CPU has begun to write, on a board where that traps.
    BarLines bar_lines = 39;
    /// Nanoseconds that these two cost by `--bar-read-ns` and `--bar-write-ns`.
    BarNs bar_ns = 40;
    /// Dispatches of compute shaders decoded.
    Dispatches dispatches = 41;
    /// Accesses of packets in VM contexts other than 0 that met no valid page; one for each packet.
    VmFaults vm_faults = 42;
    /// Strict board: lines of 64 bytes of compressed tiles (HTILE, FMASK) that were read as if they
    /// were expanded.
    CompressedReads compressed_reads = 43;
    /// Squares of 64x64 pixels of such tiles that the 3D engine moved in long runs of memory.
    WholeBlocks whole_blocks = 44;
    /// Tiles of 8x8 pixels whose shader the 3D engine computed without the interpreter.
    ShortTiles short_tiles = 45;
    /// Batches of a draw whose vertices, or whose primitives, several threads shared: each counts.
    SharedBatches shared_batches = 46;
    /// Tiles of `short_tiles` in which the 3D engine drew two polygons at a time.
    PairTiles pair_tiles = 47;
    /// Strict board from Evergreen on: packets that have waited for a draw, a dispatch or the
    /// write-back of the colour or depth cache.
    PipeWaits pipe_waits = 48;
    /// Strict board from Evergreen on: copies and fills by `CP_DMA` that have begun before an earlier
    /// draw, dispatch, or flush of the colour or depth cache had ended.
    Overtaken overtaken = 49;
    /// Batches of a draw whose polygons the 3D engine sorted by square for its threads.
    SortedBatches sorted_batches = 50;
    /// Waves of pixel shaders in which the 3D engine shaded several polygons, or several tiles of one.
    GatheredWaves gathered_waves = 51;
}

impl Default for Counters {
    fn default() -> Self {
        Self {
            values: [const { AtomicU64::new(0) }; COUNTERS],
            unknown: Mutex::default(),
        }
    }
}

impl Counters {
    /// Adds `n` to a counter.
    pub fn add(&self, counter: Counter, n: u64) {
        self.values[counter as usize].fetch_add(n, Ordering::Relaxed);
    }

    /// Adds one to a counter.
    pub fn inc(&self, counter: Counter) {
        self.add(counter, 1);
    }

    /// Counts an unknown item: `what` kind it is of, and its code or offset.
    pub fn unknown(&self, what: &'static str, code: u32) {
        match what {
            PACKET | ARRAY_MODE => {}
            REGISTER => self.inc(Counter::UnknownRegisters),
            _ => self.inc(Counter::UnknownInstructions),
        }
        let mut unknown = self.unknown.lock().unwrap_or_else(PoisonError::into_inner);
        let full = unknown.len() >= MAX_UNKNOWN && !unknown.contains_key(&(what, code));
        let key = if full { MORE } else { (what, code) };
        *unknown.entry(key).or_default() += 1;
    }

    fn unknown_by_name(&self) -> BTreeMap<String, u64> {
        let unknown = self.unknown.lock().unwrap_or_else(PoisonError::into_inner);
        let named = unknown.iter().map(|(&(what, code), n)| match what {
            PACKET => match opcode::name(code as u8) {
                Some(name) => (name.to_string(), *n),
                None => (format!("{what} {code:#04x}"), *n),
            },
            REGISTER => (format!("{what} {code:#07x}"), *n),
            ARRAY_MODE => (format!("{what} {code}"), *n),
            _ => (format!("{what} {code:#x}"), *n),
        });
        named.collect()
    }

    /// Reads one counter.
    pub fn get(&self, counter: Counter) -> u64 {
        self.values[counter as usize].load(Ordering::Relaxed)
    }

    /// Reads the counter with index `index`; 0 for an index not in use.
    pub fn by_index(&self, index: usize) -> u64 {
        self.values
            .get(index)
            .map_or(0, |v| v.load(Ordering::Relaxed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_contract_indices_are_stable() {
        let order = [
            Counter::Pm4Packets,
            Counter::DmaPackets,
            Counter::CpDmaBytes,
            Counter::DmaBytes,
            Counter::Irqs,
            Counter::MmioReads,
            Counter::MmioWrites,
            Counter::SoftResets,
            Counter::Ibs,
            Counter::Fences,
        ];
        let counters = Counters::default();
        for (index, counter) in order.into_iter().enumerate() {
            counters.add(counter, index as u64 + 1);
            assert_eq!(counters.by_index(index), index as u64 + 1);
        }
        assert_eq!(counters.by_index(usize::MAX), 0);
    }

    #[test]
    fn unknown_things_are_counted_by_name_and_bounded() {
        let counters = Counters::default();
        for _ in 0..2 {
            counters.unknown(PACKET, 0x5A);
        }
        counters.unknown(REGISTER, 0x2_8F00);
        counters.unknown("CF instruction", 0x3F);
        let snapshot = counters.snapshot();
        assert_eq!(snapshot.unknown["packet 0x5a"], 2);
        assert_eq!(snapshot.unknown["register 0x28f00"], 1);
        assert_eq!(snapshot.unknown["CF instruction 0x3f"], 1);
        assert_eq!(counters.get(Counter::UnknownRegisters), 1);
        assert_eq!(counters.get(Counter::UnknownInstructions), 1);
        for code in 0..2 * MAX_UNKNOWN as u32 {
            counters.unknown("ALU instruction", code);
        }
        let unknown = counters.snapshot().unknown;
        assert_eq!(unknown.len(), MAX_UNKNOWN + 1);
        assert_eq!(unknown["more 0x0"], MAX_UNKNOWN as u64 + 3);
    }

    #[test]
    fn snapshot_serialises_by_field_name() {
        let counters = Counters::default();
        counters.add(Counter::Fences, 7);
        let json = serde_json::to_value(counters.snapshot()).unwrap();
        assert_eq!(json["fences"], 7);
        assert_eq!(json["irqs"], 0);
    }
}
