// SPDX-License-Identifier: MIT
//! Tiles that are drawn as a whole: depth, and the colour that a polygon has everywhere or the
//! texels of a copy. Of squares that are whole macro tiles, the bytes are moved in long runs.

use super::{PixelCounts, PixelState, TileJob, SQUARE_TILES, TILE_BYTES};
use crate::chip::bus::McError;
use crate::chip::gfx::blit::Blit;
use crate::chip::gfx::depth::Replaced;
use crate::chip::gfx::interpolate::evaluate_depth;
use crate::chip::gfx::lanes::{ALL, LANES};
use crate::chip::gfx::memory::View;
use crate::chip::gfx::raster::TILE;
use crate::chip::gfx::setup::{Setup, Vertices};
use crate::chip::gfx::shader::Program;
use crate::chip::gfx::stage::DrawShared;
use crate::chip::gfx::surface::At;
use crate::chip::gfx::vertex::Core;

/// How to draw whole tiles that a polygon covers.
pub(super) struct Whole {
    /// The new depth and stencil of all pixels; none if these are not tested.
    pub(super) depth: Option<Replaced>,
    /// The copy whose texels are the colours. Without one, all pixels get the same colour.
    pub(super) blit: Option<Blit>,
}

impl PixelState {
    /// Whether one run of the shader gives the colour of all pixels of `setup`.
    pub(super) fn is_uniform(&self, setup: &Setup) -> bool {
        let same = |program: &Program| {
            program.is_uniform() && self.interpolator.is_uniform(setup, program.reads())
        };
        !self.per_sample && !self.late() && self.program.as_deref().is_some_and(same)
    }

    /// How to draw whole tiles that `setup` covers. None if a pixel's new depth depends on its old
    /// one, or if the colours are neither the same everywhere nor the texels of a copy.
    pub(super) fn whole(
        &self,
        core: &mut Core,
        shared: &DrawShared<'_>,
        vertices: &Vertices,
        setup: &Setup,
    ) -> Option<Whole> {
        let all = self.cliprects.is_none()
            && setup.stipple.is_none()
            && self.sample_mask[..self.samples()].iter().all(|m| *m == ALL);
        if !all || self.copy.is_some() || self.resolve || self.expand || self.late() {
            return None;
        }
        // The shader runs for its side effects, and no colour is written.
        if self.needs_shader() && !self.colour {
            return None;
        }
        // The program alone rules most draws out.
        let program = match self.needs_shader() && !core.uniform.wanted() {
            true if self.per_sample || self.samples() != 1 => return None,
            true => Some(self.program.as_ref()?.texel_copy()?),
            false => None,
        };
        let depth = match &self.depth {
            Some((state, surface)) if state.is_active() => {
                let z = match self.depth_clear {
                    Some(z) => z,
                    None if (setup.z.dx, setup.z.dy) == (0.0, 0.0) => {
                        let mut z = [0.0; LANES];
                        evaluate_depth(setup, 0, 0, &[0.0; LANES], &[0.0; LANES], &mut z);
                        self.clamped(setup, z[0])
                    }
                    None => return None,
                };
                if self.stencil_clear.is_some() || !surface.is_fillable() {
                    return None;
                }
                Some(state.replaces(z, setup.front)?)
            }
            _ => None,
        };
        let blit = match program {
            Some(program) => Some(Blit::new(
                program,
                &self.interpolator,
                &self.targets,
                shared,
                &mut core.unit,
                setup,
                vertices,
            )?),
            None => None,
        };
        Some(Whole { depth, blit })
    }

    /// Draws tile (`tx`, `ty`), all of whose samples are covered, as [`Self::whole`] says. Unless
    /// there is a blit, the exports hold the shader's results, if it is needed.
    pub(super) fn whole_tile(
        &self,
        core: &mut Core,
        job: TileJob<'_>,
        setup: &Setup,
        whole: &Whole,
        (tx, ty): (i32, i32),
        counts: &mut PixelCounts,
    ) {
        let TileJob { shared, view, .. } = job;
        let samples = self.samples();
        let all = LANES as u64;
        counts.whole += 1;
        if self.needs_shader() {
            counts.invocations += all;
        }
        counts.passed += all * samples as u64;
        let mut failed = None;
        let mut account = |result: Result<u64, McError>| match result {
            Ok(bytes) => counts.bytes += bytes,
            Err(e) => failed = Some(e),
        };
        let at = At::new(tx as u32, ty as u32, setup.layer);
        self.expand_compressed(view, at);
        if let (Some(new), Some((_, surface))) = (whole.depth, &self.depth) {
            account(surface.fill(view, at, new));
        }
        if let Some(blit) = &whole.blit {
            account(self.blit_tile(core, shared, view, blit, at));
        } else if self.needs_shader() {
            self.uniform_tile(core, view, at, account);
        }
        if let Some(e) = failed {
            shared.context.control.fault(e);
        }
    }

    /// Draws the square whose first micro tile is `at`, all of whose samples are covered, as
    /// [`Self::whole_tile`] would tile by tile, but in long runs of memory. False if the surfaces do
    /// not allow it, if somebody watches accesses, or if memory did not answer. The caller then
    /// draws tile by tile, which reports the fault to the context and shows a strict board's caches
    /// each access; it writes again what has been written here.
    pub(super) fn whole_square(
        &self,
        core: &mut Core,
        view: &View<'_>,
        whole: &Whole,
        at: At,
        counts: &mut PixelCounts,
    ) -> bool {
        if !view.is_direct() {
            return false;
        }
        let (mut writes, mut depth) = (0, 0);
        if let (Some(new), Some((_, surface))) = (whole.depth, &self.depth) {
            if !surface.fill_block(view, at, SQUARE_TILES, new) {
                return false;
            }
            depth = surface.filled(new);
        }
        if let Some(blit) = &whole.blit {
            if !blit.copy_square(view, &self.targets, at) {
                return false;
            }
            writes += 2;
        } else if self.needs_shader() {
            if !core.uniform.is_known() {
                return false;
            }
            for (index, export, target) in self.targets.written() {
                if core.exports.pixel_mask >> export & 1 == 0 {
                    continue;
                }
                let samples = self.samples();
                let src = core.exports.colour(&core.wave, export);
                let bytes = core.uniform.tile(&self.targets, index, &src);
                let filled = bytes.is_some_and(|bytes| {
                    target.samples() as usize == samples
                        && (self.targets).fill_square(view, index, at, bytes)
                });
                if !filled {
                    return false;
                }
                writes += 2 * samples as u64;
            }
        }
        let tiles = u64::from(SQUARE_TILES.0) * u64::from(SQUARE_TILES.1);
        let pixels = tiles * LANES as u64;
        counts.whole += tiles;
        counts.blocks += 1;
        counts.passed += pixels * self.samples() as u64;
        counts.bytes += (writes * TILE_BYTES + depth) * tiles;
        if self.needs_shader() {
            counts.invocations += pixels;
        }
        true
    }

    /// Copies the texels of a blit to tile `at`. Returns the bytes moved.
    fn blit_tile(
        &self,
        core: &mut Core,
        shared: &DrawShared<'_>,
        view: &View<'_>,
        blit: &Blit,
        at: At,
    ) -> Result<u64, McError> {
        let [dx, dy] = blit.distance;
        let (x, y) = (at.x as i32 * TILE + dx, at.y as i32 * TILE + dy);
        if blit.copy_tile(view, &self.targets, at) {
            return Ok(2 * TILE_BYTES);
        }
        let mut texels = [0; LANES];
        (core.unit).texels(view, &blit.source, x as u32, y as u32, &mut texels);
        if let Some(fault) = core.unit.take_fault() {
            shared.context.control.fault(fault);
        }
        (self.targets).copy_tile(view, blit.target, at, &texels, &blit.moves)?;
        Ok(2 * TILE_BYTES)
    }

    /// Writes the colours of all pixels of tile `at`. The exports hold the shader's results.
    fn uniform_tile(
        &self,
        core: &mut Core,
        view: &View<'_>,
        at: At,
        mut account: impl FnMut(Result<u64, McError>),
    ) {
        let (exports, wave, uniform) = (&core.exports, &core.wave, &mut core.uniform);
        self.write_colour(
            exports,
            wave,
            uniform,
            view,
            at,
            |_| ALL,
            |result| {
                account(result.map(|()| 2 * TILE_BYTES));
            },
        );
    }
}
