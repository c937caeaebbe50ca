// SPDX-License-Identifier: MIT
//! Interface to the graphics block: what the CP hands over for drawing.
//!
//! Shader, raster, texture and render backends live behind [`Gfx`]. Until
//! they exist [`NullGfx`] accepts every draw without effect; the CP traces
//! such draws as not executed.

use crate::chip::bus::{Mc, RegFile};
use crate::chip::cp::pm4::Draw;

/// What a draw may look at besides its packet.
pub struct GfxContext<'a> {
    /// All state registers, as the packets before have left them.
    pub regs: &'a dyn RegFile,
    /// MC address space.
    pub mc: &'a dyn Mc,
}

/// Query counters of the graphics block.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct GfxStatistics {
    /// Samples passed, per render backend.
    pub zpass: [u64; 8],
    /// `SAMPLE_PIPELINESTAT` counters in memory order.
    pub pipeline: [u64; 11],
    /// Primitives written and needed, per stream.
    pub streamout: [[u64; 2]; 4],
    /// Bytes filled per stream-out buffer.
    pub filled: [u32; 4],
}

/// The graphics block. Called on the CP's thread only.
pub trait Gfx: Send {
    /// Executes a draw; false if it was accepted but not executed.
    fn draw(&mut self, context: &GfxContext<'_>, draw: &Draw) -> bool;

    /// Makes results visible in memory (cache flush, end of pipe).
    fn flush(&mut self, _context: &GfxContext<'_>) {}

    /// Query counters.
    fn statistics(&self) -> GfxStatistics {
        GfxStatistics::default()
    }

    /// Back to the state after reset.
    fn reset(&mut self) {}
}

/// A graphics block without pipeline.
#[derive(Debug, Default)]
pub struct NullGfx;

impl Gfx for NullGfx {
    fn draw(&mut self, _context: &GfxContext<'_>, _draw: &Draw) -> bool {
        false
    }
}
