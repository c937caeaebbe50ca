// SPDX-License-Identifier: MIT
//! Two polygons at a time: the triangles of a quadrilateral, such as a glyph, or neighbours in a strip.
//!
//! Where both lie in a tile, the short path interpolates the inputs of each in its own pixels, and
//! fetches, multiplies and blends once. Pixels that both cover are drawn twice, in their order. A
//! pixel's texel does not depend on the other pixels of the wave: filters that ask for the level of
//! detail are ruled out, and all paths of the texture unit compute the same bits.

use super::short::{Share, Short};
use super::tile::Tile;
use super::{cliprect_lanes, PixelCounts, PixelState, TileJob, SQUARE, UNCHECKED};
use crate::chip::gfx::depth::Samples;
use crate::chip::gfx::lanes::{Mask, ALL};
use crate::chip::gfx::raster::{Coverage, TILE};
use crate::chip::gfx::setup::Setup;
use crate::chip::gfx::shader::Stop;
use crate::chip::gfx::squares::Squares;
use crate::chip::gfx::stage::DrawShared;
use crate::chip::gfx::state::Rect;
use crate::chip::gfx::surface::At;
use crate::chip::gfx::vertex::Core;

/// What a polygon covers of a square.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Cover {
    Nothing,
    Part,
    All,
}

impl PixelState {
    /// Whether the draw's state allows to draw two polygons at a time.
    pub fn may_pair(&self, shared: &DrawShared<'_>) -> bool {
        // Copies are drawn as whole tiles.
        let copies = (self.program.as_ref()).is_some_and(|program| program.texel_copy().is_some());
        shared.probe.is_none() && self.is_short(shared) && !copies
    }

    /// Whether to draw `b` together with `a`, the polygon before it: they have an edge in common.
    pub fn pairs(&self, a: &Setup, b: &Setup) -> bool {
        let common = |v: &&u32| a.vertices.contains(v);
        let several = |setup: &Setup| setup.stipple.is_none() && !self.is_uniform(setup);
        b.vertices.iter().filter(common).count() >= 2
            && a.layer == b.layer
            && several(a)
            && several(b)
    }

    /// As [`Self::draw`] of one after the other, for polygons that [are a pair](Self::pairs).
    ///
    /// # Errors
    /// As [`Self::draw`].
    pub fn draw_pair(
        &self,
        core: &mut Core,
        job: TileJob<'_>,
        setups: [&Setup; 2],
        counts: &mut PixelCounts,
        squares: Squares<'_>,
    ) -> Result<(), Stop> {
        let shared = job.shared;
        let [a, b] = setups.map(|setup| setup.polygon.bounds);
        let (x0, y0) = (a.x0.min(b.x0), a.y0.min(b.y0));
        let (x1, y1) = (a.x1.max(b.x1), a.y1.max(b.y1));
        let [columns, rows] = squares.within(Rect { x0, y0, x1, y1 });
        let last = |v: i32, step: i32| (v - 1).div_euclid(step);
        // Found out in the first square that is this worker's.
        let mut shorts = None;
        let mut passed_over = 0u32;
        for sy in rows {
            for sx in columns.clone() {
                let covers = setups.map(|setup| self.square(setup, sx, sy));
                if covers == [Cover::Nothing; 2] || !squares.take(sx, sy) {
                    passed_over += 1;
                    if passed_over % UNCHECKED == 0 {
                        shared.check()?;
                    }
                    continue;
                }
                let found = shorts
                    .get_or_insert_with(|| self.alike(core, job, setups))
                    .as_ref();
                let Some(shorts) = found else {
                    for setup in setups {
                        self.draw(core, job, setup, counts, squares)?;
                    }
                    return Ok(());
                };
                shared.check()?;
                let tiles = SQUARE / TILE;
                let (left, right) = (sx * tiles, sx * tiles + tiles - 1);
                let (top, bottom) = (sy * tiles, sy * tiles + tiles - 1);
                let columns = x0.div_euclid(TILE).max(left)..=last(x1, TILE).min(right);
                for ty in y0.div_euclid(TILE).max(top)..=last(y1, TILE).min(bottom) {
                    for tx in columns.clone() {
                        // Not `map()`, which is not inlined.
                        let masks = [
                            self.covered(setups[0], covers[0], (tx, ty)),
                            self.covered(setups[1], covers[1], (tx, ty)),
                        ];
                        self.pair_tile(core, job, (setups, shorts), (tx, ty), masks, counts)?;
                    }
                }
            }
        }
        Ok(())
    }

    fn square(&self, setup: &Setup, sx: i32, sy: i32) -> Cover {
        let (x, y) = (sx * SQUARE, sy * SQUARE);
        if setup.polygon.misses(x, y, SQUARE) {
            Cover::Nothing
        } else if setup.polygon.covers(x, y, SQUARE, &self.places) {
            Cover::All
        } else {
            Cover::Part
        }
    }

    /// What the short path does for both; none if it does not draw them, or not together.
    fn alike(&self, core: &mut Core, job: TileJob<'_>, setups: [&Setup; 2]) -> Option<[Short; 2]> {
        let TileJob {
            shared, vertices, ..
        } = job;
        core.uniform.begin(false);
        let [a, b] = setups.map(|setup| self.short(core, shared, vertices, setup));
        let (a, b) = (a?, b?);
        (a.is_like(&b) && Self::needs_no_quads(core, shared, &a)).then_some([a, b])
    }

    /// The pixels of a tile that the polygon covers and no mask takes away.
    fn covered(&self, setup: &Setup, square: Cover, (tx, ty): (i32, i32)) -> Mask {
        let (x, y) = (tx * TILE, ty * TILE);
        let mut mask = match square {
            Cover::Nothing => return 0,
            Cover::All => ALL,
            Cover::Part => setup.polygon.cover(x, y, &self.places).samples[0],
        };
        if let Some((rule, rects)) = &self.cliprects {
            mask &= cliprect_lanes(*rule, rects, x, y);
        }
        mask & self.sample_mask[0]
    }

    /// Draws the pixels `masks` of two polygons in tile (`tx`, `ty`).
    fn pair_tile(
        &self,
        core: &mut Core,
        job: TileJob<'_>,
        (setups, shorts): ([&Setup; 2], &[Short; 2]),
        (tx, ty): (i32, i32),
        [a, b]: [Mask; 2],
        counts: &mut PixelCounts,
    ) -> Result<(), Stop> {
        let TileJob { shared, view, .. } = job;
        // Pixels of both have to get the first one's colour before the second is blended with it.
        let rounds = match a & b {
            0 => [[a, b], [0; 2]],
            _ => [[a, 0], [0, b]],
        };
        let at = At::new(tx as u32, ty as u32, setups[0].layer);
        let tests = (self.depth.as_ref()).is_some_and(|(state, _)| state.is_active());
        for masks in rounds {
            if masks == [0; 2] {
                continue;
            }
            self.expand_compressed(view, at);
            self.targets.prefetch(view, at);
            let mut depth = std::mem::take(&mut core.depth);
            depth.resize(depth.len().max(1), Samples::default());
            let mut tile = Tile {
                state: self,
                setup: setups[0],
                view,
                x: tx * TILE,
                y: ty * TILE,
                at,
                coverage: Coverage::all(0),
                depth: &mut depth,
                loaded: [false; 8],
                changed: [0; 8],
                counts: &mut *counts,
                failed: None,
                unread: false,
                probe: None,
            };
            let share = |i: usize| Share {
                short: &shorts[i],
                setup: setups[i],
                mask: masks[i],
            };
            let mut shares = [share(0), share(1)];
            if tests {
                for share in &mut shares {
                    tile.setup = share.setup;
                    tile.coverage.samples[0] = share.mask;
                    tile.test(None, None, true);
                    share.mask = tile.coverage.samples[0];
                }
            } else {
                let passed = shares[0].mask | shares[1].mask;
                tile.counts.passed += u64::from(passed.count_ones());
            }
            match [shares[0].mask != 0, shares[1].mask != 0] {
                [true, true] => {
                    tile.counts.pairs += 1;
                    self.draw_short(core, &shares, false, shared, &mut tile);
                }
                [true, false] => self.draw_short(core, &shares[..1], false, shared, &mut tile),
                [false, true] => self.draw_short(core, &shares[1..], false, shared, &mut tile),
                [false, false] => {}
            }
            let result = tile.finish(shared);
            core.depth = depth;
            result?;
        }
        Ok(())
    }
}
