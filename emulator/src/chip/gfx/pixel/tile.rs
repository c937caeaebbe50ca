// SPDX-License-Identifier: MIT
//! One tile of a polygon: depth and stencil tests, copies and resolves, colour.

use pulp::{Simd, WithSimd};

use super::super::depth::{self, Samples, Tested};
use super::super::interpolate::{evaluate_depth, lane_offsets};
use super::super::lanes::{Lanes, Mask, LANES};
use super::super::memory::View;
use super::super::probe::Probe;
use super::super::raster::Coverage;
use super::super::setup::Setup;
use super::super::shader::{Stop, Wave};
use super::super::stage::{DrawShared, Exports};
use super::super::surface::At;
use super::super::uniform::Uniform;
use super::{Copy, PixelCounts, PixelState, TILE_BYTES};
use crate::chip::bus::McError;

/// A tile while it is drawn. Each sample's depth is read at most once, and
/// written back at the end.
pub(super) struct Tile<'a, 'b> {
    pub(super) state: &'b PixelState,
    pub(super) setup: &'b Setup,
    pub(super) view: &'b View<'a>,
    pub(super) x: i32,
    pub(super) y: i32,
    pub(super) at: At,
    pub(super) coverage: Coverage,
    pub(super) depth: &'b mut [Samples],
    pub(super) loaded: [bool; 8],
    pub(super) changed: [Mask; 8],
    pub(super) counts: &'b mut PixelCounts,
    pub(super) failed: Option<McError>,
    /// Its depth could not be read.
    pub(super) unread: bool,
    pub(super) probe: Option<&'b Probe>,
}

/// The depth and stencil test of one sample of a tile.
struct DepthTest<'a> {
    state: &'a PixelState,
    depth: &'a depth::State,
    setup: &'a Setup,
    /// Upper left pixel of the tile.
    origin: (i32, i32),
    sample: usize,
    stored: &'a mut Samples,
    mask: Mask,
    /// Depth, if the shader exports it.
    exported: Option<&'a Lanes>,
    /// Stencil references, if the shader exports them.
    reference: Option<&'a Lanes>,
    update: bool,
}

impl DepthTest<'_> {
    /// Depths of the fragments, clamped.
    #[inline(always)]
    fn depths(&self) -> [f32; LANES] {
        let (state, setup) = (self.state, self.setup);
        let mut z = [0.0; LANES];
        if let Some(clear) = state.depth_clear {
            z = [clear; LANES];
        } else {
            match self.exported {
                Some(values) => {
                    for lane in 0..LANES {
                        z[lane] = f32::from_bits(values[lane]);
                    }
                }
                None => {
                    let (dx, dy) = lane_offsets();
                    let [ox, oy] = state.sample_offsets[self.sample];
                    let dx = dx.map(|d| d + ox);
                    let dy = dy.map(|d| d + oy);
                    evaluate_depth(setup, self.origin.0, self.origin.1, &dx, &dy, &mut z);
                }
            }
            for z in &mut z {
                *z = state.clamped(setup, *z);
            }
        }
        z
    }
}

impl WithSimd for DepthTest<'_> {
    type Output = Tested;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _simd: S) -> Tested {
        let z = self.depths();
        self.depth.test(
            self.stored,
            &z,
            self.mask,
            self.setup.front,
            self.reference,
            self.update,
        )
    }
}

impl Tile<'_, '_> {
    fn load(&mut self, sample: usize) -> Option<&mut Samples> {
        let (_, surface) = self.state.depth.as_ref()?;
        let samples = &mut self.depth[sample];
        if !self.loaded[sample] {
            samples.depth.fill(0);
            samples.stencil.fill(0);
            match surface.load(self.view, self.at.sample(sample as u32), samples) {
                Ok(bytes) => self.counts.bytes += bytes,
                Err(e) => (self.failed, self.unread) = (Some(e), true),
            }
            self.loaded[sample] = true;
        }
        Some(samples)
    }

    /// Tests depth and stencil of the covered samples and removes those that
    /// fail from the coverage.
    pub(super) fn test(&mut self, z: Option<&Lanes>, reference: Option<&Lanes>, update: bool) {
        let state = self.state;
        for sample in 0..state.samples() {
            let mask = self.coverage.samples[sample];
            if mask == 0 {
                continue;
            }
            if let Some((depth, _)) = state.depth.as_ref().filter(|(d, _)| d.is_active()) {
                let (setup, x, y, probe) = (self.setup, self.x, self.y, self.probe);
                let Some(stored) = self.load(sample) else {
                    continue;
                };
                let test = DepthTest {
                    state,
                    depth,
                    setup,
                    origin: (x, y),
                    sample,
                    stored,
                    mask,
                    exported: z,
                    reference,
                    update,
                };
                let seen = probe.map(|probe| (probe, test.depths(), test.stored.clone()));
                let mut tested = state.arch.dispatch(test);
                if let (Some(clear), true) = (state.stencil_clear, update) {
                    for lane in (0..LANES).filter(|l| tested.passed >> l & 1 != 0) {
                        stored.stencil[lane] = clear;
                    }
                    tested.changed |= tested.passed;
                }
                if let Some((probe, z, before)) = &seen {
                    let front = setup.front;
                    let held = [before, &*stored];
                    probe.depth(sample, depth, front, z, mask, reference, held, update);
                }
                self.coverage.samples[sample] = tested.passed;
                self.changed[sample] |= tested.changed;
            }
            if update {
                self.counts.passed += u64::from(self.coverage.samples[sample].count_ones());
            }
        }
    }

    pub(super) fn resolve(&mut self) {
        let mask = self.coverage.any();
        let targets = &self.state.targets;
        let result = targets.resolve_tile(self.view, self.at, mask);
        self.account(result, 2);
    }

    pub(super) fn expand(&mut self) {
        let result = self.state.targets.expand_tile(self.view, self.at);
        self.account(result, 1);
    }

    pub(super) fn account(&mut self, result: Result<(), McError>, tiles: u64) {
        match result {
            Ok(()) => self.counts.bytes += tiles * TILE_BYTES,
            Err(e) => self.failed = Some(e),
        }
    }

    /// Copies depth and stencil of one sample of each pixel to the covered samples of the first
    /// colour target. Mesa copies all samples of a texture, each by a draw of its own whose
    /// `PA_SC_AA_MASK` has that sample.
    pub(super) fn copy(&mut self, copy: Copy) {
        let Some(format) = self.state.depth.as_ref().map(|(d, _)| d.format) else {
            return;
        };
        let count = self.state.samples();
        let mut left = self.coverage.any();
        for step in 0..count {
            let from = (copy.sample + step) % count;
            let lanes = match copy.centroid {
                true => left & self.coverage.samples[from],
                false => left,
            };
            if lanes == 0 {
                continue;
            }
            left &= !lanes;
            let Some(stored) = self.load(from) else {
                return;
            };
            let depth = stored.depth.map(|d| format.depth(d).to_bits());
            let stencil = stored.stencil.map(u32::from);
            for to in 0..count {
                let mask = lanes & self.coverage.samples[to];
                if mask == 0 {
                    continue;
                }
                let result = self.state.targets.write_depth(
                    self.view,
                    0,
                    self.at.sample(to as u32),
                    copy.depth.then_some(&depth),
                    copy.stencil.then_some(&stencil),
                    mask,
                );
                self.account(result, 1);
            }
        }
    }

    pub(super) fn write_colour(
        &mut self,
        exports: &Exports,
        wave: &Wave,
        coverage: &Coverage,
        uniform: &mut Uniform,
    ) {
        let (state, view, at) = (self.state, self.view, self.at);
        let lanes = |sample: usize| coverage.samples[sample];
        state.write_colour(exports, wave, uniform, view, at, lanes, |result| {
            self.account(result, 2);
        });
    }

    /// Writes changed depth back and reports a failed access.
    pub(super) fn finish(&mut self, shared: &DrawShared<'_>) -> Result<(), Stop> {
        if let Some((_, surface)) = &self.state.depth {
            for sample in 0..self.state.samples() {
                let changed = self.changed[sample];
                // If reading the tile failed, its unchanged lanes are unknown: write nothing.
                if changed == 0 || self.unread || !self.loaded[sample] {
                    continue;
                }
                let samples = &self.depth[sample];
                let at = self.at.sample(sample as u32);
                match surface.store(self.view, at, samples, changed) {
                    Ok(bytes) => self.counts.bytes += bytes,
                    Err(e) => self.failed = Some(e),
                }
            }
        }
        if let Some(e) = self.failed {
            shared.context.control.fault(e);
        }
        Ok(())
    }
}
