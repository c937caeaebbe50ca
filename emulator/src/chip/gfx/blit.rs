// SPDX-License-Identifier: MIT
//! Copies: polygons each of whose pixels gets a texel of its own, at the same distance from it.
//!
//! Drivers draw what other hardware copies: a blit between surfaces of one size, a window that
//! is moved. Where it is certain that the shader would fetch texel (x + dx, y + dy) for
//! pixel (x, y) and that the target takes its bytes as they are, they are moved by tile.
//!
//! Certain it is by the planes of the coordinates. They are evaluated in double precision at the
//! corners of the polygon's bounds, where they are furthest from the middle of a texel, and must be
//! within [`MIDDLE`] of it there. The interpolation itself, in single precision, is off
//! by less than 1/16 texel more: with coordinates up to [`LARGEST`], weights up to [`WEIGHT`] that
//! change by at most [`STEP`] a pixel, none of its dozen roundings is of more than 2^15.

use super::colour::{Moves, Targets};
use super::interpolate::Interpolator;
use super::raster::Plane;
use super::setup::{Setup, Vertices};
use super::shader::isa::tex;
use super::shader::TexelCopy;
use super::stage::DrawShared;
use super::state::Stage;
use super::texture::{Source, Unit};

/// Largest distance from a texel's middle.
const MIDDLE: f64 = 1.0 / 8.0;
/// Largest coordinate of a vertex in texels.
const LARGEST: f64 = 8192.0;
/// Largest weight of a vertex.
const WEIGHT: f64 = 2.0;
/// Largest change of a weight from pixel to pixel.
const STEP: f64 = 1.0 / 8.0;

/// How a polygon copies.
#[derive(Debug)]
pub struct Blit {
    /// What is copied.
    pub source: Source,
    /// From a pixel to its texel.
    pub distance: [i32; 2],
    /// The render target.
    pub target: usize,
    /// Where a texel's bytes go.
    pub moves: Moves,
}

impl Blit {
    /// What `setup` copies with the program `program`; none if that is not certain.
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
        let input = |(gpr, chan)| interpolator.plane(setup, vertices, gpr, chan);
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
            // Of a value that is not finite, nothing is certain.
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
        Some(Self {
            source,
            distance,
            target,
            moves,
        })
    }
}
