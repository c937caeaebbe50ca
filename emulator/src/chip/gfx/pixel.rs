// SPDX-License-Identifier: MIT
//! Pixels: one 8x8 tile of one polygon at a time, from coverage to memory.
//!
//! Order: coverage, early depth and stencil (unless the shader can change their
//! outcome), interpolation, shader, alpha test and masks, late depth and
//! stencil, colour. One worker draws all tiles of a 64x64 square, so each pixel
//! gets its primitives in order.

mod gather;
mod masks;
mod pair;
mod short;
mod tile;
mod whole;

use std::ops::RangeInclusive;
use std::sync::{Arc, OnceLock};

pub use self::gather::Gather;
use self::masks::{cliprect_lanes, stipple_lanes};
pub use self::short::Rows;
use self::short::{Share, Short};
use self::tile::Tile;
use super::colour::{SpecialOp, Targets};
use super::depth::{self, compare, Samples};
use super::depth_tile::Surface;
use super::interpolate::{Inputs, Interpolator};
use super::lanes::{whole_quads, Lanes, Mask, ALL, LANES};
use super::memory::View;
use super::raster::{Coverage, SamplePlaces, TILE};
use super::setup::{Setup, Vertices};
use super::shader::{Program, Stop, Wave};
use super::squares::Squares;
use super::stage::{DrawShared, Exports};
use super::state::{bits, SetupState, Shadow, Stage};
use super::surface::At;
use super::uniform::Uniform;
use super::vertex::Core;
use crate::chip::bus::McError;
use crate::chip::regs::fields::evergreen::db_shader_control; // R7xx's fields and more.
use crate::chip::regs::fields::r700::{
    db_alpha_to_mask, db_render_control, db_render_override, sx_alpha_test_control,
};
use crate::chip::regs::gfx as reg;

/// Bytes of memory traffic charged for reading or writing a colour tile.
const TILE_BYTES: u64 = 256;

/// Width and height of a worker's square in pixels.
pub const SQUARE: i32 = 64;
/// Its columns and rows of micro tiles.
pub const SQUARE_TILES: (u32, u32) = ((SQUARE / TILE) as u32, (SQUARE / TILE) as u32);

/// Squares of a polygon that a worker passes over, as they are not its own, before it looks whether
/// the draw has been cancelled.
const UNCHECKED: u32 = 256;

/// The pixel shader, the fixed-function state after it, and the parts of the
/// setup state that the tile loop needs.
pub struct PixelState {
    /// The shader; none if nothing uses its results.
    pub program: Option<Arc<Program>>,
    /// Interpolates the shader's inputs.
    pub interpolator: Interpolator,
    /// Colour targets.
    pub targets: Targets,
    /// Depth and stencil, if there is a buffer.
    pub depth: Option<(depth::State, Surface)>,
    places: SamplePlaces,
    /// Offsets of the samples from the pixel's corner, in pixels.
    sample_offsets: [[f32; 2]; 8],
    sample_mask: [Mask; 8],
    cliprects: Option<(u16, [super::state::Rect; 4])>,
    per_sample: bool,
    alpha: Option<AlphaTest>,
    alpha_to_mask: Option<u32>,
    z_export: bool,
    stencil_export: bool,
    mask_export: bool,
    kill: bool,
    clamp_z: bool,
    depth_clear: Option<f32>,
    stencil_clear: Option<u8>,
    copy: Option<Copy>,
    /// The shader's colours are written to a target.
    colour: bool,
    /// Target 1 becomes the average of target 0's samples.
    resolve: bool,
    /// The shader writes memory: it runs whatever becomes of its exports.
    writes_memory: bool,
    /// `Z_ORDER` is `LATE_Z`: the tests follow the shader.
    late_z: bool,
    /// `DEPTH_BEFORE_SHADER`: the tests come first, whatever the shader does.
    early: bool,
    /// Covered tiles get the clear colour that they stand for, and nothing else.
    expand: bool,
    /// `STENCIL_COMPRESS_DISABLE`, `DEPTH_COMPRESS_DISABLE`: compressed tiles are expanded.
    expands: bool,
    /// See [`PixelState::late`].
    late: bool,
    /// See [`PixelState::needs_shader`].
    shades: bool,
    /// See [`PixelState::is_short`].
    short: OnceLock<bool>,
    arch: pulp::Arch,
}

/// The alpha test (`SX_ALPHA_TEST_CONTROL`, `SX_ALPHA_REF`).
#[derive(Debug, Clone, Copy)]
struct AlphaTest {
    function: u32,
    reference: f32,
    /// It sees the exported alpha as a half float. That rounds towards zero: Mesa cuts the last 13
    /// bits of the reference then (`r600_emit_alphatest_state()`). The smaller range of half floats
    /// is not modelled.
    half: bool,
}

impl AlphaTest {
    /// The lanes that pass.
    fn passing(self, alpha: &Lanes) -> Mask {
        let kept = if self.half { !0x1FFF } else { !0 };
        let mut pass = 0;
        for (lane, alpha) in alpha.iter().enumerate() {
            let alpha = f32::from_bits(alpha & kept);
            pass |= u64::from(compare(self.function, alpha, self.reference)) << lane;
        }
        pass
    }
}

/// A copy from the depth to the colour buffer (`DEPTH_COPY_ENABLE`).
#[derive(Debug, Clone, Copy)]
struct Copy {
    depth: bool,
    stencil: bool,
    /// The sample to copy (`COPY_SAMPLE`).
    sample: usize,
    /// Copies the first covered sample from `sample` on, wrapping back to 0 (`COPY_CENTROID`).
    centroid: bool,
}

/// What all polygons of a batch have in common for those who draw their pixels.
#[derive(Clone, Copy)]
pub struct TileJob<'a> {
    /// The draw.
    pub shared: &'a DrawShared<'a>,
    /// Memory, by the worker's translations.
    pub view: &'a View<'a>,
    /// The vertices of the batch.
    pub vertices: &'a Vertices,
}

/// What a polygon leaves behind, and room for it.
struct Left<'a> {
    counts: &'a mut PixelCounts,
    /// The depth of a tile's samples.
    depth: &'a mut [Samples],
}

/// Counters of a worker.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PixelCounts {
    /// Samples that passed depth and stencil.
    pub passed: u64,
    /// Pixels for which the shader ran.
    pub invocations: u64,
    /// Bytes of colour and depth moved.
    pub bytes: u64,
    /// Tiles drawn as a whole, not pixel by pixel.
    pub whole: u64,
    /// Squares of such tiles that were moved in long runs of memory.
    pub blocks: u64,
    /// Tiles drawn on the short path.
    pub short: u64,
    /// Those of them in which two polygons were drawn at a time.
    pub pairs: u64,
    /// Waves of the shader that several polygons, or tiles of one, shared.
    pub gathered: u64,
}

impl PixelState {
    /// Decodes the state. `program` is the pixel shader.
    pub fn decode(
        s: &Shadow,
        setup: &SetupState,
        program: Option<Arc<Program>>,
        interpolator: Interpolator,
        targets: Targets,
        depth: Option<(depth::State, Surface)>,
    ) -> Self {
        let shader_control = s.get(reg::DB_SHADER_CONTROL);
        let alpha = s.get(reg::SX_ALPHA_TEST_CONTROL);
        let to_mask = s.get(reg::DB_ALPHA_TO_MASK);
        let render = s.get(reg::DB_RENDER_CONTROL);
        let over = s.get(reg::DB_RENDER_OVERRIDE);
        let samples = setup.samples();
        let half = targets.half;
        let center = if setup.center_half { 0.5 } else { 0.0 };
        let copy = (db_render_control::DEPTH_COPY_ENABLE.is_set(render)
            || db_render_control::STENCIL_COPY_ENABLE.is_set(render))
        .then(|| Copy {
            depth: db_render_control::DEPTH_COPY_ENABLE.is_set(render),
            stencil: db_render_control::STENCIL_COPY_ENABLE.is_set(render),
            sample: (db_render_control::COPY_SAMPLE.of(render) as usize).min(samples - 1),
            centroid: db_render_control::COPY_CENTROID.is_set(render),
        });
        // Masks are per pixel of a quad, samples in the low bits.
        let sample_mask = std::array::from_fn(|sample| {
            let mut mask = 0;
            for pixel in 0..4 {
                if setup.sample_mask[pixel] >> sample & 1 != 0 {
                    mask |= 0x1111_1111_1111_1111 << pixel;
                }
            }
            mask
        });
        let colour = targets.written().next().is_some()
            && !db_render_override::FORCE_COLOR_KILL.is_set(over);
        let depth = depth.map(|(state, surface)| match accesses_stencil(&state, render) {
            true => (state, surface),
            false => (state, surface.without_stencil()),
        });
        let resolve = targets.special == SpecialOp::Resolve;
        let expand = targets.special == SpecialOp::Expand;
        let mut state = Self {
            program,
            interpolator,
            targets,
            depth,
            places: SamplePlaces::new(&setup.sample_places, samples, setup.center_half),
            sample_offsets: setup
                .sample_places
                .map(|p| p.map(|v| center + f32::from(v) / 16.0)),
            sample_mask,
            cliprects: setup.cliprects,
            per_sample: setup.per_sample,
            alpha: (sx_alpha_test_control::ALPHA_TEST_ENABLE.is_set(alpha)
                && !sx_alpha_test_control::ALPHA_TEST_BYPASS.is_set(alpha))
            .then(|| AlphaTest {
                function: sx_alpha_test_control::ALPHA_FUNC.of(alpha),
                reference: s.float(reg::SX_ALPHA_REF),
                half,
            }),
            alpha_to_mask: db_alpha_to_mask::ALPHA_TO_MASK_ENABLE
                .is_set(to_mask)
                .then_some(to_mask),
            z_export: db_shader_control::Z_EXPORT_ENABLE.is_set(shader_control),
            stencil_export: db_shader_control::STENCIL_EXPORT_ENABLE.is_set(shader_control),
            mask_export: db_shader_control::MASK_EXPORT_ENABLE.is_set(shader_control),
            kill: db_shader_control::KILL_ENABLE.is_set(shader_control),
            clamp_z: !db_render_override::DISABLE_VIEWPORT_CLAMP.is_set(over),
            depth_clear: db_render_control::DEPTH_CLEAR_ENABLE
                .is_set(render)
                .then(|| s.float(reg::DB_DEPTH_CLEAR)),
            stencil_clear: db_render_control::STENCIL_CLEAR_ENABLE
                .is_set(render)
                .then(|| s.get(reg::DB_STENCIL_CLEAR) as u8),
            copy,
            colour,
            resolve,
            // `evergreen_update_ps_state()`
            writes_memory: db_shader_control::EXEC_ON_HIER_FAIL.is_set(shader_control)
                || db_shader_control::EXEC_ON_NOOP.is_set(shader_control),
            late_z: db_shader_control::Z_ORDER.of(shader_control) == 0,
            early: db_shader_control::DEPTH_BEFORE_SHADER.is_set(shader_control),
            expand,
            expands: db_render_control::STENCIL_COMPRESS_DISABLE.is_set(render)
                || db_render_control::DEPTH_COMPRESS_DISABLE.is_set(render),
            late: false,
            shades: false,
            short: OnceLock::new(),
            arch: pulp::Arch::new(),
        };
        // Asked for each tile.
        state.late = state.has_late_tests();
        let runs = state.colour || state.writes_memory || state.late;
        state.shades = state.copy.is_none() && !state.resolve && !state.expand && runs;
        state
    }

    fn samples(&self) -> usize {
        self.places.count()
    }

    /// Whether the final depth test has to follow the shader: the shader, the alpha test or
    /// alpha-to-mask can drop fragments, or the shader exports their depth.
    fn late(&self) -> bool {
        self.late
    }

    /// Works [`Self::late`] out.
    fn has_late_tests(&self) -> bool {
        (self.tests_follow() || self.writes_memory && self.late_z) && !self.early
    }

    /// The shader's results, besides colours, change which fragments are drawn.
    fn tests_follow(&self) -> bool {
        self.kill
            || self.z_export
            || self.stencil_export
            || self.mask_export
            || self.alpha.is_some()
            || self.alpha_to_mask.is_some()
    }

    /// Whether draws copy depth, resolve samples or expand depth in place, rather than draw
    /// fragments. The board has nothing to expand.
    pub(super) fn is_transfer(&self) -> bool {
        self.copy.is_some() || self.resolve || self.expands
    }

    /// Whether the pixel shader has to run.
    pub fn needs_shader(&self) -> bool {
        self.shades
    }

    /// Draws the parts of `setup` that lie in `squares`.
    ///
    /// # Errors
    /// Why the shader or the draw was stopped.
    pub fn draw(
        &self,
        core: &mut Core,
        job: TileJob<'_>,
        setup: &Setup,
        counts: &mut PixelCounts,
        squares: Squares<'_>,
    ) -> Result<(), Stop> {
        let mut depth = std::mem::take(&mut core.depth);
        if depth.len() < 8 {
            depth.resize(8, Samples::default());
        }
        let mut left = Left {
            counts,
            depth: &mut depth,
        };
        let result = self.squares(core, job, setup, &mut left, squares);
        core.depth = depth;
        result
    }

    /// [`Self::draw`], with room for the depth of a tile's samples.
    fn squares(
        &self,
        core: &mut Core,
        job: TileJob<'_>,
        setup: &Setup,
        left: &mut Left<'_>,
        squares: Squares<'_>,
    ) -> Result<(), Stop> {
        let TileJob {
            shared,
            view,
            vertices,
        } = job;
        let b = setup.polygon.bounds;
        // Worked out in the first square: a polygon may have none for this worker.
        let mut whole = None;
        let probe = shared.probe.filter(|probe| probe.near(b));
        let mut short = None;
        let next_depth = self.depth.as_ref().filter(|(state, _)| state.is_active());
        let last = |v: i32, step: i32| (v - 1).div_euclid(step);
        let [columns, rows] = squares.within(b);
        let mut passed_over = 0u32;
        for sy in rows {
            for sx in columns.clone() {
                if squares.may_miss(&setup.polygon, sx, sy) || !squares.take(sx, sy) {
                    passed_over += 1;
                    if passed_over % UNCHECKED == 0 {
                        shared.check()?;
                    }
                    continue;
                }
                let whole = whole
                    .get_or_insert_with(|| {
                        core.uniform.begin(self.is_uniform(setup));
                        core.weights.begin();
                        self.whole(core, shared, vertices, setup)
                    })
                    .as_ref();
                core.uniform.next_square();
                shared.check()?;
                if whole.is_some() {
                    self.shade_gathered(core, job, left.counts)?;
                }
                let places = &self.places;
                let full = (setup.polygon).covers(sx * SQUARE, sy * SQUARE, SQUARE, places);
                let tiles = SQUARE / TILE;
                let ty0 = (b.y0.div_euclid(TILE)).max(sy * tiles);
                let ty1 = last(b.y1, TILE).min(sy * tiles + tiles - 1);
                let tx0 = (b.x0.div_euclid(TILE)).max(sx * tiles);
                let tx1 = last(b.x1, TILE).min(sx * tiles + tiles - 1);
                if let Some(whole) = whole.filter(|_| full && probe.is_none()) {
                    self.learn(core, job, setup, (tx0, ty0))?;
                    let at = At::new(tx0 as u32, ty0 as u32, setup.layer);
                    if self.whole_square(core, view, whole, at, left.counts) {
                        continue;
                    }
                }
                for ty in ty0..=ty1 {
                    for tx in tx0..=tx1 {
                        let probed = probe
                            .filter(|probe| probe.begin(shared.serial, (tx, ty), setup, vertices))
                            .map(|probe| (probe, core.uniform.suspend()));
                        let covered =
                            |size| (setup.polygon).covers(tx * size, ty * size, size, places);
                        if let Some(whole) =
                            whole.filter(|_| probed.is_none() && (full || covered(TILE)))
                        {
                            self.learn(core, job, setup, (tx, ty))?;
                            self.whole_tile(core, job, setup, whole, (tx, ty), left.counts);
                            continue;
                        }
                        // The next tile's depth arrives while this tile is drawn.
                        let next = next_tile((tx, ty), (tx0..=tx1, ty1));
                        if let (Some((_, surface)), Some((x, y))) = (next_depth, next) {
                            surface.prefetch(view, At::new(x as u32, y as u32, setup.layer));
                        }
                        let short = match &probed {
                            None => short
                                .get_or_insert_with(|| self.short(core, shared, vertices, setup))
                                .as_ref(),
                            Some(_) => None,
                        };
                        self.tile(core, job, setup, (tx, ty), (full, short), left)?;
                        if let Some((probe, uniform)) = probed {
                            probe.end();
                            core.uniform.begin(uniform);
                        }
                    }
                }
            }
        }
        Ok(())
    }

    /// Runs the shader of a polygon in one colour for a tile that is drawn as a whole, unless that
    /// colour is known.
    fn learn(
        &self,
        core: &mut Core,
        job: TileJob<'_>,
        setup: &Setup,
        (tx, ty): (i32, i32),
    ) -> Result<(), Stop> {
        let Some(program) = self.program.as_ref().filter(|_| core.uniform.wanted()) else {
            core.executed += core.uniform.charge();
            return Ok(());
        };
        let covered = Coverage::all(self.samples());
        let budget = job.shared.limits.wave_instructions;
        core.wave.begin(ALL, ALL, budget);
        let inputs = Inputs {
            program,
            setup,
            vertices: job.vertices,
            x: tx * TILE,
            y: ty * TILE,
            sample: None,
            coverage: &covered.samples,
        };
        (self.interpolator).fill(&mut core.wave, &mut core.weights, inputs);
        core.run(job.shared, job.view, Stage::Pixel, program)?;
        core.uniform.ran(core.wave.executed);
        Ok(())
    }

    /// `z` clamped to the depth range of `setup`, if clamping is on.
    #[inline(always)]
    fn clamped(&self, setup: &Setup, z: f32) -> f32 {
        let [low, high] = setup.z_range;
        if self.clamp_z {
            z.max(low).min(high)
        } else {
            z
        }
    }

    /// Draws that expand compressed tiles do so wherever they cover one. Only who looks for reads of
    /// compressed tiles notices.
    #[inline]
    fn expand_compressed(&self, view: &View<'_>, at: At) {
        if view.compressed.is_none() {
            return;
        }
        if let Some((_, surface)) = &self.depth {
            surface.expand(view, at);
        }
        self.targets.expand_samples(view, at);
    }

    /// Writes the exported colours to the targets: of each sample, the lanes that `lanes` returns.
    #[allow(clippy::too_many_arguments)] // the wave, and where its results go
    #[inline]
    fn write_colour(
        &self,
        exports: &Exports,
        wave: &Wave,
        uniform: &mut Uniform,
        view: &View<'_>,
        at: At,
        lanes: impl Fn(usize) -> Mask,
        mut account: impl FnMut(Result<(), McError>),
    ) {
        let targets = &self.targets;
        for (index, export, target) in targets.written() {
            if exports.pixel_mask >> export & 1 == 0 {
                continue;
            }
            let src = exports.colour(wave, export);
            let second = target.uses_second().then(|| exports.colour(wave, 1));
            for sample in 0..self.samples() {
                let (at, lanes) = (at.sample(sample as u32), lanes(sample));
                if lanes != 0 {
                    account(uniform.write(targets, view, index, at, &src, second.as_ref(), lanes));
                }
            }
        }
    }

    /// Draws tile (`tx`, `ty`), by `short` if there is one. If `full`, the polygon covers all its samples.
    fn tile(
        &self,
        core: &mut Core,
        job: TileJob<'_>,
        setup: &Setup,
        (tx, ty): (i32, i32),
        (full, short): (bool, Option<&Short>),
        left: &mut Left<'_>,
    ) -> Result<(), Stop> {
        let TileJob { shared, view, .. } = job;
        let (x, y) = (tx * TILE, ty * TILE);
        let mut coverage = if full {
            Coverage::all(self.samples())
        } else {
            setup.polygon.cover(x, y, &self.places)
        };
        if coverage.any() == 0 {
            return Ok(());
        }
        let note = |what, coverage: &Coverage| {
            if let Some(probe) = shared.recording() {
                probe.coverage(what, coverage, None);
            }
        };
        note("the polygon's edges", &coverage);
        if let Some((rule, rects)) = &self.cliprects {
            coverage.keep(cliprect_lanes(*rule, rects, x, y));
            note("the clip rectangles", &coverage);
        }
        if let Some(stipple) = &setup.stipple {
            coverage.keep(stipple_lanes(stipple, x, y));
            note("the line's stipple", &coverage);
        }
        for (sample, mask) in coverage.samples.iter_mut().zip(&self.sample_mask) {
            *sample &= mask;
        }
        note("the sample mask", &coverage);
        if coverage.any() == 0 {
            return Ok(());
        }
        let at = At::new(tx as u32, ty as u32, setup.layer);
        self.expand_compressed(view, at);
        // The target's bytes arrive while the shader runs.
        self.targets.prefetch(view, at);

        let mut tile = Tile {
            state: self,
            setup,
            view,
            x,
            y,
            at,
            coverage,
            depth: &mut *left.depth,
            loaded: [false; 8],
            changed: [0; 8],
            counts: &mut *left.counts,
            failed: None,
            unread: false,
            probe: shared.recording(),
        };
        if self.expand {
            tile.expand();
            return tile.finish(shared);
        }
        if self.resolve || self.copy.is_some() {
            let mc = shared.context.mc;
            if let Some(probe) = shared.recording() {
                probe.before_write(mc, &self.targets, at, &tile.coverage, None);
            }
            match self.copy.filter(|_| !self.resolve) {
                Some(copy) => tile.copy(copy),
                None => tile.resolve(),
            }
            if let Some(probe) = shared.recording() {
                probe.after_write(mc, &self.targets, at, 0);
            }
            return tile.finish(shared);
        }
        let late = self.late();
        if !late {
            tile.test(None, None, true);
        } else if self.depth.as_ref().is_some_and(|(d, _)| !d.stencil_enable)
            && !self.z_export
            && !(self.writes_memory && self.late_z)
        {
            // Depth alone decides, and the shader does not change it: a fragment that fails here
            // fails the late test, too.
            tile.test(None, None, false);
        }
        note("the depth or stencil test", &tile.coverage);
        if tile.coverage.any() == 0 || !self.needs_shader() {
            if late {
                tile.test(None, None, true);
                note("the depth or stencil test", &tile.coverage);
            }
            return tile.finish(shared);
        }
        let Some(program) = &self.program else {
            return tile.finish(shared);
        };
        if let Some(short) = short {
            let mask = tile.coverage.samples[0];
            let share = Share { short, setup, mask };
            self.draw_short(core, &[share], true, shared, &mut tile);
            return tile.finish(shared);
        }
        if self.gather(core, job, program, &mut tile)? {
            return tile.finish(shared);
        }
        let samples = self.samples();
        if self.per_sample {
            for sample in 0..samples {
                let mut only = tile.coverage;
                for (i, mask) in only.samples.iter_mut().enumerate() {
                    if i != sample {
                        *mask = 0;
                    }
                }
                if only.any() == 0 {
                    continue;
                }
                self.shade(core, job, program, &mut tile, only, Some(sample))?;
            }
        } else {
            let all = tile.coverage;
            self.shade(core, job, program, &mut tile, all, None)?;
        }
        tile.finish(shared)
    }

    /// Runs the shader for the covered pixels, then the late tests, and writes the colours.
    fn shade(
        &self,
        core: &mut Core,
        job: TileJob<'_>,
        program: &Arc<Program>,
        tile: &mut Tile<'_, '_>,
        mut coverage: Coverage,
        sample: Option<usize>,
    ) -> Result<(), Stop> {
        let TileJob { shared, view, .. } = job;
        let valid = coverage.any();
        let budget = shared.limits.wave_instructions;
        if !core.uniform.is_known() {
            let (exec, counting) = match core.uniform.wanted() {
                true => (ALL, ALL),
                false => (whole_quads(valid), valid),
            };
            core.wave.begin(exec, counting, budget);
            let inputs = Inputs {
                program,
                setup: tile.setup,
                vertices: job.vertices,
                x: tile.x,
                y: tile.y,
                sample,
                coverage: &coverage.samples,
            };
            (self.interpolator).fill(&mut core.wave, &mut core.weights, inputs);
            if let Some(probe) = shared.recording() {
                probe.shader(&mut core.wave, sample);
            }
            core.run(shared, view, Stage::Pixel, program)?;
            if let Some(probe) = shared.recording() {
                probe.shader_ran(program, &mut core.wave);
            }
            core.uniform.ran(core.wave.executed);
        } else {
            core.executed += core.uniform.charge();
        }
        tile.counts.invocations += u64::from(valid.count_ones());
        let note = |what, coverage: &Coverage| {
            if let Some(probe) = shared.recording() {
                probe.coverage(what, coverage, sample);
            }
        };
        let exports = &core.exports;
        coverage.keep(!core.wave.killed);
        note("the shader's discard", &coverage);
        if let Some(test) = self.alpha {
            coverage.keep(test.passing(exports.colour(&core.wave, 0)[3]));
            note("the alpha test", &coverage);
        }
        if let Some(control) = self.alpha_to_mask {
            let alpha = exports.colour(&core.wave, 0)[3];
            self.apply_alpha_to_mask(control, alpha, &mut coverage);
            note("alpha to coverage", &coverage);
        }
        if self.mask_export {
            for (i, mask) in coverage.samples.iter_mut().enumerate() {
                let mut keep = 0;
                for lane in 0..LANES {
                    keep |= u64::from(exports.depth[2][lane] >> i & 1) << lane;
                }
                *mask &= keep;
            }
            note("the shader's sample mask", &coverage);
        }
        if self.late() {
            // Test only the samples of this call.
            let rest = tile.coverage;
            tile.coverage = coverage;
            let z = self.z_export.then_some(&exports.depth[0]);
            let reference = self.stencil_export.then_some(&exports.depth[1]);
            tile.test(z, reference, true);
            coverage = tile.coverage;
            tile.coverage = rest;
            note("the late depth or stencil test", &coverage);
        }
        if self.colour {
            let mc = shared.context.mc;
            let probed = shared.recording().map(|probe| (probe, probe.writes()));
            if let Some((probe, _)) = probed {
                let source = Some((exports, &core.wave));
                probe.before_write(mc, &self.targets, tile.at, &coverage, source);
            }
            tile.write_colour(exports, &core.wave, &coverage, &mut core.uniform);
            if let Some((probe, first)) = probed {
                probe.after_write(mc, &self.targets, tile.at, first);
            }
        }
        Ok(())
    }

    /// `DB_ALPHA_TO_MASK`: alpha sets the number of samples that stay covered.
    /// The offsets dither the pixels of a quad.
    fn apply_alpha_to_mask(&self, control: u32, alpha: &Lanes, coverage: &mut Coverage) {
        let samples = self.samples();
        for lane in 0..LANES {
            let offset = bits(control, 8 + 2 * (lane as u32 & 3), 2) as f32 / 4.0;
            let a = f32::from_bits(alpha[lane]);
            let a = if a.is_nan() { 0.0 } else { a.clamp(0.0, 1.0) };
            let on = if samples == 1 {
                u32::from(a >= 0.5)
            } else {
                ((a * samples as f32 + offset).floor() as u32).min(samples as u32)
            };
            for (i, mask) in coverage.samples.iter_mut().enumerate() {
                if i as u32 >= on {
                    *mask &= !(1 << lane);
                }
            }
        }
    }
}

/// Whether a draw tests, writes or copies stencil. `render` is `DB_RENDER_CONTROL`.
fn accesses_stencil(state: &depth::State, render: u32) -> bool {
    state.stencil_enable
        || db_render_control::STENCIL_CLEAR_ENABLE.is_set(render)
        || db_render_control::STENCIL_COPY_ENABLE.is_set(render)
}

/// The tile that is drawn after the one in column `x` and row `y`: row by row, of these columns, up to the row
/// `last`. Columns and rows are those of micro tiles.
fn next_tile(
    (x, y): (i32, i32),
    (columns, last): (RangeInclusive<i32>, i32),
) -> Option<(i32, i32)> {
    if x < *columns.end() {
        return Some((x + 1, y));
    }
    (y < last).then_some((*columns.start(), y + 1))
}

#[cfg(test)]
mod tests;
