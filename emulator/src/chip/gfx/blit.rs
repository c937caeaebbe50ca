// SPDX-License-Identifier: MIT
//! Copies: polygons whose pixels (x, y) get the texels (x + dx, y + dy) of a texture.
//!
//! Drivers copy by draws: a blit between surfaces of one size, a window that moves. If it is
//! certain that the shader would fetch texel (x + dx, y + dy) for each pixel (x, y), and the target
//! stores the texel's bytes unchanged or reordered, whole tiles of bytes are moved.
//!
//! The planes of the coordinates decide. They are evaluated in double precision at the corners of
//! the polygon's bounds, where they deviate most from the middle of a texel, and must be within
//! [`MIDDLE`] of it. The interpolation itself, in single precision, adds an error of less than 1/16
//! texel: with coordinates up to [`LARGEST`] and weights up to [`WEIGHT`] that change by at most
//! [`STEP`] a pixel, each of its dozen roundings is of a value of at most 2^15.

use super::colour::{Moves, Targets};
use super::interpolate::Interpolator;
use super::memory::View;
use super::pixel::SQUARE_TILES;
use super::raster::{Plane, TILE};
use super::setup::{Setup, Vertices};
use super::shader::isa::tex;
use super::shader::{Coordinate, TexelCopy};
use super::stage::DrawShared;
use super::state::Stage;
use super::surface::{At, Surface};
use super::texture::{Source, Unit};
use crate::chip::tiling::Block;

/// Largest distance from a texel's middle, in texels.
const MIDDLE: f64 = 1.0 / 8.0;
/// Largest coordinate of a vertex in texels.
const LARGEST: f64 = 8192.0;
/// Largest weight of a vertex.
const WEIGHT: f64 = 2.0;
/// Largest change of a weight from pixel to pixel.
const STEP: f64 = 1.0 / 8.0;

/// A copy that a polygon makes.
#[derive(Debug)]
pub struct Blit {
    /// The texels to copy.
    pub source: Source,
    /// Texel coordinates minus pixel coordinates: (dx, dy).
    pub distance: [i32; 2],
    /// Number of the render target, 0 to 7.
    pub target: usize,
    /// The order of a texel's bytes in the target.
    pub moves: Moves,
    /// Texels and pixels are the same bytes, in tiles of the same order that do not overlap: tiles
    /// can be copied from memory to memory.
    pub same: bool,
}

impl Blit {
    /// The copy that `setup` makes with the program `program`; none if it may not be one.
    pub fn new(
        program: &TexelCopy,
        interpolator: &Interpolator,
        targets: &Targets,
        shared: &DrawShared<'_>,
        unit: &mut Unit,
        setup: &Setup,
        vertices: &Vertices,
    ) -> Option<Self> {
        let bounds = setup.polygon.bounds;
        let center = f64::from(interpolator.center());
        let xs = [bounds.x0, bounds.x1 - 1].map(|x| f64::from(x) + center);
        let ys = [bounds.y0, bounds.y1 - 1].map(|y| f64::from(y) + center);
        let corners = |plane: &Plane| {
            [
                plane.at(xs[0], ys[0]),
                plane.at(xs[1], ys[0]),
                plane.at(xs[0], ys[1]),
                plane.at(xs[1], ys[1]),
            ]
        };
        let tame = setup.linear.iter().all(|plane| {
            let steps = [plane.dx, plane.dy];
            steps.iter().all(|step| step.abs() <= STEP)
                && corners(plane).iter().all(|weight| weight.abs() <= WEIGHT)
        });
        if !tame {
            return None;
        }
        let input = |coordinate| match coordinate {
            Coordinate::Input((gpr, chan)) => interpolator.plane(setup, vertices, gpr, chan),
            Coordinate::Parameter { of, weights } => {
                interpolator.parameter_plane(setup, vertices, of, weights)
            }
        };
        let op = &program.op;
        let mut level = 0;
        if op.opcode == tex::LD {
            let (values, _) = input(program.coordinates[2])?;
            if values != [values[0]; 3] || !(0.0..16.0).contains(&values[0]) {
                return None;
            }
            level = values[0] as u32;
        }
        let resource = shared.resource(Stage::Pixel, op.resource.into());
        let sampler = shared.sampler(Stage::Pixel, op.sampler.into());
        let source = unit.source(op, &resource, &sampler, level)?;
        let (target, moves) = targets.moves(source.swizzle())?;
        let size = source.size();
        let mut distance = [0; 2];
        for axis in 0..2 {
            let (values, plane) = input(program.coordinates[axis])?;
            let scale = if op.opcode != tex::LD && op.normalized[axis] {
                f64::from(size[axis])
            } else {
                1.0
            };
            // NaN and infinity fail this comparison.
            let largest = LARGEST / scale;
            if !values.iter().all(|v| v.abs() <= largest) {
                return None;
            }
            let pixels = match axis {
                0 => [xs[0], xs[1], xs[0], xs[1]],
                _ => [ys[0], ys[0], ys[1], ys[1]],
            };
            let apart = |i: usize| corners(&plane)[i] * scale - (pixels[i] - center);
            let first = apart(0).floor();
            if !(0..4).all(|i| (apart(i) - first - 0.5).abs() <= MIDDLE) {
                return None;
            }
            distance[axis] = first as i32;
        }
        let inside = |low: i32, high: i32, axis: usize| {
            low + distance[axis] >= 0 && i64::from(high + distance[axis]) <= i64::from(size[axis])
        };
        if !inside(bounds.x0, bounds.x1, 0) || !inside(bounds.y0, bounds.y1, 1) {
            return None;
        }
        let same = moves.is_same() && is_same(&source, targets, target, setup.layer, distance);
        Some(Self {
            source,
            distance,
            target,
            moves,
            same,
        })
    }

    /// Source and target of micro tile `at`, each with its slice and the tile's column and row; none unless
    /// tiles can be copied from memory to memory.
    fn ends<'a>(&'a self, targets: &'a Targets, at: At) -> Option<[End<'a>; 2]> {
        let (source, slice) = self.source.surface().filter(|_| self.same)?;
        let (target, target_slice) = targets.surface(self.target, at)?;
        let [dx, dy] = self.distance.map(|pixels| pixels / TILE);
        let from = (at.x.checked_add_signed(dx)?, at.y.checked_add_signed(dy)?);
        Some([(source, slice, from), (target, target_slice, (at.x, at.y))])
    }

    /// Copies micro tile `at` from memory to memory. False if that is not possible or failed.
    pub fn copy_tile(&self, view: &View<'_>, targets: &Targets, at: At) -> bool {
        let Some(ends) = self.ends(targets, at).filter(|_| view.is_direct()) else {
            return false;
        };
        let expanded = (targets.get(self.target)).is_some_and(|t| t.expand(view, at).is_ok());
        let len = u64::from(ends[1].0.layout.tile_bytes());
        let [from, to] = ends.map(|(surface, slice, tile)| surface.tile_run(tile, slice));
        expanded && (from.zip(to)).is_some_and(|(from, to)| view.copy(from, to, len).is_ok())
    }

    /// Copies the square whose first micro tile is `at` from memory to memory. False if that is not
    /// possible or failed; it may then have copied a part.
    pub fn copy_square(&self, view: &View<'_>, targets: &Targets, at: At) -> bool {
        let size = SQUARE_TILES;
        let Some(ends) = self.ends(targets, at).filter(|_| view.is_direct()) else {
            return false;
        };
        let [(source, slice, from), (target, target_slice, to)] = ends;
        let overwritten = targets.get(self.target);
        if !overwritten.is_some_and(|target| target.overwrite_square(view, at)) {
            return false;
        }
        let copy = |(from, to): (Block, Block)| {
            (from.len, from.runs) == (to.len, to.runs)
                && target.copy_block(view, &to, source, &from).is_ok()
        };
        if self.keeps_order(ends) {
            let from = source.block(view, from, size, slice);
            if let Some(blocks) = from.zip(target.block(view, to, size, target_slice)) {
                return copy(blocks);
            }
        }
        let unit = |(from, to)| {
            let (from, to) = (source.unit(from, slice)?, target.unit(to, target_slice)?);
            (from.1 == to.1).then_some((from.0, to.0))
        };
        let units = source
            .units(view, from, size)
            .zip(target.units(view, to, size));
        units.is_some_and(|(from, to)| from.zip(to).all(|pair| unit(pair).is_some_and(copy)))
    }

    /// Whether the micro tiles of a [block](Surface::block) are in the same order in source and target:
    /// pipes and banks differ in other slices and at other distances.
    fn keeps_order(&self, [(_, slice, _), (target, target_slice, _)]: [End<'_>; 2]) -> bool {
        target.period().is_some_and(|(columns, rows)| {
            let [dx, dy] = self.distance.map(|pixels| pixels / TILE);
            let turned = (columns, rows) != (1, 1) && slice != target_slice;
            !turned && dx % columns as i32 == 0 && dy % rows as i32 == 0
        })
    }
}

/// A surface, a slice of it, and column and row of a micro tile.
type End<'a> = (&'a Surface, u32, (u32, u32));

/// Whether the micro tiles of `source` at `distance` can be copied as they are to the target.
fn is_same(
    source: &Source,
    targets: &Targets,
    target: usize,
    layer: u32,
    distance: [i32; 2],
) -> bool {
    let (Some((from, slice)), Some((to, target_slice))) = (
        source.surface(),
        targets.surface(target, At::new(0, 0, layer)),
    ) else {
        return false;
    };
    let order = |surface: &Surface| {
        let layout = &surface.layout;
        (
            layout.config,
            layout.mode,
            layout.is_word_order(),
            layout.bytes_per_element,
        )
    };
    let (a, b) = (from.extent(slice), to.extent(target_slice));
    distance.iter().all(|pixels| pixels % TILE == 0)
        && order(from) == order(to)
        && from.layout.is_word_order()
        && from.layout.samples == 1
        && (a.end <= b.start || b.end <= a.start)
}
