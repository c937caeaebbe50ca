// SPDX-License-Identifier: MIT
//! Interface between the CP and the graphics block.
//!
//! Shader, raster, texture and render backends live behind [`Gfx`].
//! [`NullGfx`] accepts every draw without effect; the CP traces such draws as
//! not executed.
//!
//! A draw is complete, and its results are in memory, when [`Gfx::draw`]
//! returns. Nothing is pending at an event, a `SURFACE_SYNC` or a fence. On a strict board
//! the CP may call it later than it takes the packet (`cp::pipe`).

// One lane number indexes several arrays.
#![allow(clippy::needless_range_loop)]
// max().min() takes NaN to the lower bound, as the chip does; clamp() keeps it.
#![allow(clippy::manual_clamp)]

mod batch;
mod blit;
pub mod cayman;
mod clip;
pub mod colour;
pub mod compressed;
mod compute;
mod depth;
mod depth_tile;
mod describe;
mod draw;
pub mod evergreen;
mod execute;
pub mod format;
pub mod front;
mod geometry;
mod global;
mod interpolate;
pub mod lanes;
pub mod lint;
mod math;
pub mod memory;
mod pipeline;
mod pixel;
mod primitive;
pub mod probe;
pub mod r600;
mod raster;
pub mod rat;
mod rules;
mod setup;
pub mod shader;
pub mod shaders;
mod squares;
mod stage;
mod state;
mod streamout;
pub mod surface;
pub mod tessellation;
pub mod tessellator;
pub mod texture;
mod uniform;
mod vertex;
pub mod vertex_fetch;
mod workers;

pub use pipeline::Pipeline;
pub use rules::Report;
pub use stage::Limits;
pub use state::Stage;

use std::fmt;

use crate::chip::bus::{Mc, McError, RegFile};
use crate::chip::counters::Counter;
use crate::chip::cp::pm4::Draw;
use crate::chip::family::Family;
pub use crate::chip::queue::Cancelled;
use crate::chip::strict::gfx::Caches;

/// Services of the chip for the graphics block during a draw. The workers of
/// the draw share them.
pub trait Control: Sync {
    /// Fails once a reset or the board's end has cancelled the draw. Cheap:
    /// two atomic loads.
    fn check(&self) -> Result<(), Cancelled>;

    /// Charges `bytes` of memory traffic to the board's rate limit and sleeps
    /// for as long as they take at that rate.
    fn charge(&self, _bytes: u64) -> Result<(), Cancelled> {
        self.check()
    }

    /// Reports an access that no memory answered: counted, logged once,
    /// latched in the VM fault registers.
    fn fault(&self, _error: McError) {}

    /// Adds to one of the board's counters.
    fn count(&self, _counter: Counter, _n: u64) {}

    /// The strict board's caches of the 3D engine.
    fn caches(&self) -> Option<&Caches> {
        None
    }

    /// Counts something that the model does not know, by name.
    fn unknown(&self, _what: &'static str, _code: u32) {}

    /// Writes a line to the trace, if there is one.
    fn trace(&self, _line: fmt::Arguments<'_>) {}

    /// Takes the set of register blocks written since the last call: bit `n`
    /// stands for the 2 KiB from `STATE_BASE + n * 2048` on.
    fn take_dirty(&self) -> u64 {
        u64::MAX
    }
}

/// First register of the pipeline's state; the blocks of
/// [`Control::take_dirty`] begin here.
pub const STATE_BASE: u32 = 0x2_8000;

/// Everything that a draw accesses besides its packet.
#[derive(Clone, Copy)]
pub struct GfxContext<'a> {
    /// All state registers, as the packets before have left them.
    pub regs: &'a dyn RegFile,
    /// MC address space.
    pub mc: &'a dyn Mc,
    /// Cancellation, faults, counters and rate.
    pub control: &'a dyn Control,
}

/// Order of [`GfxStatistics::pipeline`], as `SAMPLE_PIPELINESTAT` writes it
/// (Mesa `r600_query.c`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(usize)]
#[allow(missing_docs)] // The names say it.
pub enum PipelineCounter {
    PsInvocations = 0,
    ClippedPrimitives = 1,
    ClipperInvocations = 2,
    VsInvocations = 3,
    GsInvocations = 4,
    GsPrimitives = 5,
    InputPrimitives = 6,
    InputVertices = 7,
    HsInvocations = 8,
    DsInvocations = 9,
    CsInvocations = 10,
}

/// Query counters of the graphics block.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct GfxStatistics {
    /// Samples passed, per render backend.
    pub zpass: [u64; 8],
    /// `SAMPLE_PIPELINESTAT` counters, see [`PipelineCounter`].
    pub pipeline: [u64; 11],
    /// Primitives per stream: needed, then written.
    pub streamout: [[u64; 2]; 4],
    /// Dwords filled per stream-out buffer, counted from its base.
    pub filled: [u32; 4],
}

/// The graphics block. Called on the CP's thread only.
pub trait Gfx: Send {
    /// Executes a draw; false if it was accepted but not executed.
    ///
    /// # Errors
    /// [`Cancelled`] if the draw was cancelled; what it has written stays.
    fn draw(&mut self, context: &GfxContext<'_>, draw: &Draw) -> Result<bool, Cancelled>;

    /// The graphics block that this one is around, if it is: it gets the calls that this one does
    /// not take itself.
    fn inner(&self) -> Option<&dyn Gfx> {
        None
    }

    /// The same, for calls that change it.
    fn inner_mut(&mut self) -> Option<&mut dyn Gfx> {
        None
    }

    /// Runs a compute shader for `groups` groups of threads in x, y and z; false if it was accepted
    /// but not executed.
    ///
    /// # Errors
    /// As [`Gfx::draw`].
    fn dispatch(&mut self, context: &GfxContext<'_>, groups: [u32; 3]) -> Result<bool, Cancelled> {
        match self.inner_mut() {
            Some(inner) => inner.dispatch(context, groups),
            None => Ok(false),
        }
    }

    /// Append counter `counter` (`GDS_APPEND_COUNT_n`); 0 if there is none.
    fn append_counter(&self, counter: usize) -> u32 {
        self.inner()
            .map_or(0, |inner| inner.append_counter(counter))
    }

    /// Sets an append counter.
    fn set_append_counter(&mut self, counter: usize, value: u32) {
        if let Some(inner) = self.inner_mut() {
            inner.set_append_counter(counter, value);
        }
    }

    /// Dword `index` of the global data share's memory; 0 beyond its end.
    fn global_share(&self, index: usize) -> u32 {
        self.inner().map_or(0, |inner| inner.global_share(index))
    }

    /// Sets a dword of the global data share's memory.
    fn set_global_share(&mut self, index: usize, value: u32) {
        if let Some(inner) = self.inner_mut() {
            inner.set_global_share(index, value);
        }
    }

    /// An event passes the pipeline: `VGT_EVENT_TYPE` of `r600d.h`.
    fn event(&mut self, context: &GfxContext<'_>, event: u8) {
        if let Some(inner) = self.inner_mut() {
            inner.event(context, event);
        }
    }

    /// `SURFACE_SYNC` and end of pipe: caches named by `coher_cntl`
    /// (`CP_COHER_CNTL`) are written back and dropped.
    fn flush(&mut self, context: &GfxContext<'_>, coher_cntl: u32) {
        if let Some(inner) = self.inner_mut() {
            inner.flush(context, coher_cntl);
        }
    }

    /// Query counters.
    fn statistics(&self) -> GfxStatistics {
        self.inner()
            .map_or_else(GfxStatistics::default, |inner| inner.statistics())
    }

    /// Sets where stream-out continues in buffer `buffer` (0 to 3), in dwords
    /// from its base.
    fn set_filled(&mut self, buffer: usize, dwords: u32) {
        if let Some(inner) = self.inner_mut() {
            inner.set_filled(buffer, dwords);
        }
    }

    /// The chip is this one. Called before the first draw; without, checks of shaders are those of a chip
    /// that forgives most.
    fn set_family(&mut self, family: Family) {
        if let Some(inner) = self.inner_mut() {
            inner.set_family(family);
        }
    }

    /// The chip's generation has these decoders. Called before the first draw; without, they are
    /// R7xx's.
    fn set_front(&mut self, front: &'static front::Front) {
        if let Some(inner) = self.inner_mut() {
            inner.set_front(front);
        }
    }

    /// Restores the state after a reset of the chip.
    fn reset(&mut self) {
        if let Some(inner) = self.inner_mut() {
            inner.reset();
        }
    }
}

/// A graphics block without a pipeline.
#[derive(Debug, Default)]
pub struct NullGfx {
    filled: [u32; 4],
}

impl Gfx for NullGfx {
    fn draw(&mut self, _context: &GfxContext<'_>, _draw: &Draw) -> Result<bool, Cancelled> {
        Ok(false)
    }

    fn statistics(&self) -> GfxStatistics {
        GfxStatistics {
            filled: self.filled,
            ..GfxStatistics::default()
        }
    }

    fn set_filled(&mut self, buffer: usize, dwords: u32) {
        self.filled[buffer & 3] = dwords;
    }

    fn reset(&mut self) {
        *self = Self::default();
    }
}
