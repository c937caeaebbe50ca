// SPDX-License-Identifier: MIT
//! The strict board: as incoherent as hardware may be.
//!
//! A board without caches forgives every flush that a driver forgets. With
//! `--strict` each mechanism that sits between two views of one memory is
//! modelled, and delays as long as it may:
//!
//! | mechanism | delays | until | counter |
//! |---|---|---|---|
//! | [`hdp`]: write buffer | CPU writes to VRAM | an HDP flush, or an unforeseeable time | `hdp_late_lines`, `hdp_unseen_reads` |
//! | [`hdp`]: read cache | what the GPU wrote to VRAM, for the CPU | an HDP flush, or an unforeseeable time | `hdp_stale_reads` |
//! | [`tlb`]: translations | changes of page-table entries | the VM's invalidate request | `tlb_stale_hits` |
//! | `cp::prefetch`: packets and indices | what the ME writes, for the PFP | a wait of the PFP | `pfp_stale_packets`, `pfp_stale_indices` |
//! | [`gfx`]: caches of the 3D engine | what draws read and write | `SURFACE_SYNC`, cache events | `gfx_stale_reads`, `gfx_unseen_writes` |
//!
//! A driver that flushes where it must sees no difference but in time. The
//! counters say how often each mechanism has served old bytes: a test that
//! takes a flush out of a driver looks at them to know that its case happened.
//!
//! Choices are made by generators with the seed of the command line, one for
//! each mechanism, so that what one does is independent of the others. Threads
//! and the guest's timing still differ from run to run.
//!
//! Locks: each mechanism has one, held for one access. Under it only plain
//! memory is touched ([`Vram`], never guest RAM), except under that of [`gfx`]:
//! the engine alone takes it, and holds no other then.

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

/// The mechanisms of one board.
#[derive(Debug)]
pub struct Strict {
    /// The board's counters.
    pub counters: Arc<Counters>,
    /// Host data path: what stands between BAR0 and VRAM.
    pub hdp: Hdp,
    /// The VM's translations.
    pub tlb: Tlb,
    /// The 3D engine's caches.
    pub caches: Caches,
    seed: u64,
}

/// Which mechanism a generator is for: the same seed gives each another
/// sequence.
#[derive(Debug, Clone, Copy)]
enum Stream {
    Hdp = 1,
    Tlb = 2,
    Prefetch = 3,
    Gfx = 4,
}

fn generator(seed: u64, stream: Stream) -> fastrand::Rng {
    // Any constant that is odd does: it keeps nearby seeds apart.
    fastrand::Rng::with_seed(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ stream as u64)
}

impl Strict {
    /// Mechanisms in front of `vram`, choosing by `seed`.
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

    /// Back to the state after power-on: buffers are written out, caches empty.
    pub fn reset(&self) {
        self.hdp.reset();
        self.tlb.reset();
        self.caches.reset();
    }
}
