// SPDX-License-Identifier: MIT
//! Small polygons: the quads that several of them cover share a wave.
//!
//! The polygons of a square come in order. Coverage and the early tests are each tile's own, as
//! always; then the shader's inputs in the covered quads are added to a wave, which runs when it is
//! full. Its colours are written tile by tile in the order in which they came, so that pixels of
//! several polygons get them in order. Which polygons share a wave depends on the square alone, not on
//! the threads.

use super::tile::Tile;
use super::{PixelCounts, PixelState, TileJob, TILE_BYTES};
use crate::chip::gfx::interpolate::Inputs;
use crate::chip::gfx::lanes::{self, move_quad, Lanes, Mask, LANES, QUADS};
use crate::chip::gfx::shader::{Program, Stop, Wave};
use crate::chip::gfx::stage::DrawShared;
use crate::chip::gfx::state::Stage;
use crate::chip::gfx::surface::At;
use crate::chip::gfx::vertex::Core;

/// Fewest quads of a tile that get a wave of their own: hardly more would fit in.
const OWN: usize = 12;

/// Fewest steps of the shader for which it pays: moving inputs and colours costs some as well.
const SHORTEST: usize = 24;

/// A wave that is being filled, and room for the results.
#[derive(Debug, Default)]
pub struct Gather {
    /// Waves are gathered.
    on: bool,
    /// The registers of one tile.
    tile: Wave,
    parts: Vec<Part>,
    /// Quads that are taken.
    quads: usize,
    /// Lanes of them that are drawn.
    valid: Mask,
    /// See [`Wave::set_normal`].
    normal: usize,
    /// The colours of one tile.
    colours: Colours,
}

/// Rows of two colours.
#[derive(Debug)]
struct Colours([[Lanes; 4]; 2]);

impl Default for Colours {
    fn default() -> Self {
        Self([[[0; LANES]; 4]; 2])
    }
}

/// Quads of a polygon in a tile.
#[derive(Debug, Clone, Copy)]
struct Part {
    at: At,
    /// Lanes of the tile that are drawn.
    mask: Mask,
    /// The first of its quads in the wave.
    first: usize,
}

impl Gather {
    /// Begins a list of polygons in one square. What an earlier one has left is dropped.
    pub fn begin(&mut self, on: bool) {
        self.on = on;
        self.clear();
    }

    fn clear(&mut self) {
        self.parts.clear();
        (self.quads, self.valid) = (0, 0);
    }
}

impl Part {
    /// The tile's and the wave's number of each quad.
    fn quads(&self) -> impl Iterator<Item = (usize, usize)> + Clone {
        lanes::quads(self.mask).zip(self.first..QUADS)
    }

    /// The lanes of the tile that are drawn, without those of the wave in `killed`.
    fn drawn(&self, killed: Mask) -> Mask {
        let lost = |(quad, at): (usize, usize)| (killed >> (4 * at) & 0xF) << (4 * quad);
        self.quads()
            .fold(self.mask, |mask, quad| mask & !lost(quad))
    }

    /// The tile's rows of a colour of the wave.
    fn rows<'a>(&self, colour: &[&Lanes; 4], rows: &'a mut [Lanes; 4]) -> [&'a Lanes; 4] {
        for (row, out) in colour.iter().zip(&mut *rows) {
            for (quad, at) in self.quads() {
                move_quad(row, at, out, quad);
            }
        }
        rows.each_ref()
    }
}

impl PixelState {
    /// Whether the draw's state allows that polygons share a wave: nobody watches it, and nothing but
    /// the colours follows the shader.
    pub fn may_gather(&self, shared: &DrawShared<'_>) -> bool {
        let follows = self.tests_follow() || self.writes_memory || self.per_sample;
        let watched = shared.probe.is_some() || shared.lint.is_some();
        let alone = |program: &Program| {
            // Copies are drawn as whole tiles, and the short path needs no waves.
            program.steps() >= SHORTEST
                && program.only_exports()
                && program.texel_copy().is_none()
                && !self.is_short(shared)
        };
        self.shades
            && self.colour
            && self.samples() == 1
            && !(follows || watched)
            && (self.program.as_deref()).is_some_and(alone)
    }

    /// Adds a tile's covered quads to the wave that is being filled. Returns false if they are to be
    /// shaded on their own, for which the wave has run.
    ///
    /// # Errors
    /// Why the shader was stopped.
    pub(super) fn gather(
        &self,
        core: &mut Core,
        job: TileJob<'_>,
        program: &Program,
        tile: &mut Tile<'_, '_>,
    ) -> Result<bool, Stop> {
        if !core.gather.on {
            return Ok(false);
        }
        let mask = tile.coverage.samples[0];
        let count = lanes::quads(mask).count();
        let own = count >= OWN || core.uniform.is_shared();
        if own || core.gather.quads + count > QUADS {
            self.shade_gathered(core, job, tile.counts)?;
        }
        if own {
            return Ok(false);
        }
        let inputs = Inputs {
            program,
            setup: tile.setup,
            vertices: job.vertices,
            x: tile.x,
            y: tile.y,
            sample: None,
            coverage: &tile.coverage.samples,
        };
        let gather = &mut *core.gather;
        let first = gather.quads;
        let normal = self.interpolator.fill_quads(
            &mut gather.tile,
            &mut core.wave,
            &mut core.weights,
            inputs,
            lanes::quads(mask),
            first,
        );
        gather.normal = match first {
            0 => normal,
            _ => gather.normal.min(normal),
        };
        let part = Part {
            at: tile.at,
            mask,
            first,
        };
        for (quad, at) in part.quads() {
            gather.valid |= (mask >> (4 * quad) & 0xF) << (4 * at);
        }
        gather.parts.push(part);
        gather.quads += count;
        Ok(true)
    }

    /// Runs the shader for the quads that are waiting, and writes their colours.
    ///
    /// # Errors
    /// Why the shader was stopped.
    pub fn shade_gathered(
        &self,
        core: &mut Core,
        job: TileJob<'_>,
        counts: &mut PixelCounts,
    ) -> Result<(), Stop> {
        let TileJob { shared, view, .. } = job;
        let Some(program) = self.program.as_ref().filter(|_| core.gather.quads != 0) else {
            return Ok(());
        };
        let (exec, valid) = (lanes::first(4 * core.gather.quads), core.gather.valid);
        core.wave
            .begin(exec, valid, shared.limits.wave_instructions);
        core.wave.set_normal(core.gather.normal);
        core.weights.run_gathered(true);
        let result = core.run(shared, view, Stage::Pixel, program);
        core.weights.run_gathered(false);
        let gather = &mut *core.gather;
        counts.invocations += u64::from(valid.count_ones());
        counts.gathered += u64::from(gather.parts.len() > 1);
        let (exports, targets) = (&core.exports, &self.targets);
        let [first, second] = &mut gather.colours.0;
        for part in gather.parts.iter().filter(|_| result.is_ok()) {
            let mask = part.drawn(core.wave.killed);
            if mask == 0 {
                continue;
            }
            for (index, export, target) in targets.written() {
                if exports.pixel_mask >> export & 1 == 0 {
                    continue;
                }
                let src = part.rows(&exports.colour(&core.wave, export), first);
                let second = target
                    .uses_second()
                    .then(|| part.rows(&exports.colour(&core.wave, 1), second));
                let result = targets.write_tile(view, index, part.at, &src, second.as_ref(), mask);
                match result {
                    Ok(()) => counts.bytes += 2 * TILE_BYTES,
                    Err(e) => shared.context.control.fault(e),
                }
            }
        }
        gather.clear();
        result
    }
}
