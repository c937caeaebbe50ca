// SPDX-License-Identifier: MIT
//! The strict board: as incoherent as hardware may be.
//!
//! On a board without caches a missing flush in a driver has no effect. With
//! `--strict` the board models the caches and buffers between CPU, GPU and
//! memory, and each delays data as long as hardware may:
//!
//! | mechanism | delays | until | counter |
//! |---|---|---|---|
//! | [`hdp`]: write buffer | CPU writes to VRAM | an HDP flush, or a random time | `hdp_late_lines`, `hdp_unseen_reads` |
//! | [`hdp`]: read cache | the GPU's writes to VRAM, for the CPU | an HDP flush, or a random time | `hdp_stale_reads` |
//! | [`tlb`]: translations | changes of page-table entries | the VM's invalidate request | `tlb_stale_hits` |
//! | `cp::prefetch`: packets and indices | the ME's writes, for the PFP | a wait of the PFP | `pfp_stale_packets`, `pfp_stale_indices` |
//! | `cp::pipe`: work of the 3D engine, from Evergreen on | draws, dispatches, flushes, fences | the packets that wait for them | `pipe_waits`, `overtaken` |
//! | [`gfx`]: caches of the 3D engine | data that draws read and write | `SURFACE_SYNC`, cache events | `gfx_stale_reads`, `gfx_unseen_writes` |
//!
//! A driver that flushes correctly sees only another timing. The counters say
//! how often each mechanism has returned stale data: by them a test that removes
//! a flush from a driver knows that its case has happened.
//!
//! Each mechanism has a random generator of its own with the seed of the command
//! line, so its choices do not depend on the other mechanisms. The timing of
//! threads and guest still differs from run to run.
//!
//! Locks: each mechanism has one, held for one access. Under those of [`hdp`] and
//! [`tlb`] only VRAM is accessed. Under that of [`gfx`] the 3D engine, which then
//! holds no other lock, accesses all memory.

pub mod cache;
pub mod gfx;
pub mod hdp;
pub mod tlb;

use std::sync::Arc;

use crate::chip::counters::Counters;
use crate::chip::memory::Vram;
use gfx::Caches;
use hdp::Hdp;
use tlb::Tlb;

/// The caches and buffers of one board.
#[derive(Debug)]
pub struct Strict {
    /// The board's counters.
    pub counters: Arc<Counters>,
    /// Host data path, between BAR0 and VRAM.
    pub hdp: Hdp,
    /// The VM's TLB.
    pub tlb: Tlb,
    /// The 3D engine's caches.
    pub caches: Caches,
    seed: u64,
}

/// The mechanism that a generator is for: each gets another sequence from the
/// same seed.
#[derive(Debug, Clone, Copy)]
enum Stream {
    Hdp = 1,
    Tlb = 2,
    Prefetch = 3,
    Gfx = 4,
}

fn generator(seed: u64, stream: Stream) -> fastrand::Rng {
    // The factor keeps nearby seeds apart; any large odd number would do.
    fastrand::Rng::with_seed(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ stream as u64)
}

impl Strict {
    /// Caches and buffers in front of `vram`, with random choices by `seed`.
    pub fn new(seed: u64, vram: Arc<Vram>, counters: Arc<Counters>) -> Self {
        Self {
            hdp: Hdp::new(vram, counters.clone(), generator(seed, Stream::Hdp)),
            tlb: Tlb::new(counters.clone(), generator(seed, Stream::Tlb)),
            caches: Caches::new(counters.clone(), generator(seed, Stream::Gfx)),
            counters,
            seed,
        }
    }

    /// The generator of the CP's prefetch.
    pub(crate) fn prefetch_generator(&self) -> fastrand::Rng {
        generator(self.seed, Stream::Prefetch)
    }

    /// Back to the state after power-on: writes out the HDP's buffer and drops
    /// the contents of all caches.
    pub fn reset(&self) {
        self.hdp.reset();
        self.tlb.reset();
        self.caches.reset();
    }
}
