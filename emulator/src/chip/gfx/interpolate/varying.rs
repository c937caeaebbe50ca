// SPDX-License-Identifier: MIT
//! Components of inputs one by one, for the short path of pixels, which needs no registers. They stay
//! in the host's vectors, which are explicit here: from arrays the compiler made scalars. The
//! arithmetic is that of [`Interpolator::fill`].

use pulp::Simd;

use super::{Input, Interpolator, LANE_X, LANE_Y};
use crate::chip::gfx::raster::Plane;
use crate::chip::gfx::setup::{Setup, Vertices};
use crate::chip::gfx::shader::Coordinate;

/// A component of an input in the pixels of a polygon.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Component {
    /// The same bits in all pixels.
    Constant(u32),
    /// Interpolated at the pixels' centres.
    Varying {
        /// Its value at vertex 0, and how much those at vertices 1 and 2 differ from it.
        parts: [f32; 3],
        /// With perspective.
        perspective: bool,
    },
}

impl Interpolator {
    /// What `input` is in the pixels of `setup`. None unless the shader starts with nothing but inputs that
    /// are interpolated at the pixels' centres, or gets the weights there to interpolate it.
    pub fn component(
        &self,
        setup: &Setup,
        vertices: &Vertices,
        input: Coordinate,
    ) -> Option<Component> {
        match input {
            Coordinate::Input((gpr, chan)) => self.register(setup, vertices, gpr, chan),
            Coordinate::Parameter { of, weights } => self.parameter(setup, vertices, of, weights),
        }
    }

    /// [`Self::component`] of a parameter that the shader interpolates by `weights`.
    fn parameter(
        &self,
        setup: &Setup,
        vertices: &Vertices,
        (index, chan): (usize, usize),
        weights: [(usize, usize); 2],
    ) -> Option<Component> {
        let pair = self.pair(weights)?;
        if setup.sprite.is_some() {
            return None;
        }
        let input = self.inputs.get(index)?;
        Some(self.input(input, setup, vertices, chan, (pair.linear, true)))
    }

    /// [`Self::component`] of a register.
    fn register(
        &self,
        setup: &Setup,
        vertices: &Vertices,
        gpr: usize,
        chan: usize,
    ) -> Option<Component> {
        let others = self.barycentric.is_some()
            || self.position.is_some()
            || self.face.is_some()
            || self.sample_id.is_some();
        if others || !self.central || setup.sprite.is_some() {
            return None;
        }
        let input = self.inputs.get(gpr)?;
        Some(self.input(input, setup, vertices, chan, (input.linear, false)))
    }

    /// Component `chan` of `input`, interpolated without perspective if `linear`. Where it is the same at all
    /// vertices, the instruction of R800 keeps its bits if `keeps`; else -0 becomes +0.
    fn input(
        &self,
        input: &Input,
        setup: &Setup,
        vertices: &Vertices,
        chan: usize,
        (linear, keeps): (bool, bool),
    ) -> Component {
        let chan = chan & 3;
        let Some(param) = input.param else {
            return Component::Constant(input.default[chan].to_bits());
        };
        let at = |vertex: u32| vertices.param(vertex, param)[chan];
        if input.flat && self.flat_enabled {
            return Component::Constant(at(setup.provoking));
        }
        let [a, b, c] = setup.vertices.map(|vertex| f32::from_bits(at(vertex)));
        let parts = [a, b - a, c - a];
        match (parts[1], parts[2]) {
            (b, c) if keeps && (b.to_bits(), c.to_bits()) == (0, 0) => {
                Component::Constant(a.to_bits())
            }
            // As interpolation does it: -0 + 0 is +0.
            (b, c) if !keeps && (b, c) == (0.0, 0.0) => Component::Constant((a + 0.0).to_bits()),
            _ => Component::Varying {
                parts,
                perspective: setup.perspective && !linear,
            },
        }
    }

    /// The weights of `setup` at the centres of the pixels of the tile at (`x`, `y`).
    #[inline(always)]
    pub fn central<S: Simd>(&self, simd: S, setup: &Setup, x: i32, y: i32) -> Central<S> {
        // Not `map()`, which is not inlined: each vector would go through memory.
        let [right, down] = self.center;
        let ([a, b], [c, d]) = (&setup.linear, &setup.weights);
        Central {
            center: [simd.splat_f32s(right), simd.splat_f32s(down)],
            linear: [Slope::new(simd, a, x, y), Slope::new(simd, b, x, y)],
            perspective: [Slope::new(simd, c, x, y), Slope::new(simd, d, x, y)],
            inv_w: Slope::new(simd, &setup.inv_w, x, y),
        }
    }
}

/// A plane in a tile: its value at the tile's first pixel, and its changes.
#[derive(Debug, Clone, Copy)]
struct Slope<S: Simd> {
    base: S::f32s,
    dx: S::f32s,
    dy: S::f32s,
}

impl<S: Simd> Slope<S> {
    #[inline(always)]
    fn new(simd: S, plane: &Plane, x: i32, y: i32) -> Self {
        Self {
            base: simd.splat_f32s(plane.at(f64::from(x), f64::from(y)) as f32),
            dx: simd.splat_f32s(plane.dx as f32),
            dy: simd.splat_f32s(plane.dy as f32),
        }
    }

    #[inline(always)]
    fn at(&self, simd: S, [x, y]: [S::f32s; 2]) -> S::f32s {
        let steps = simd.add_f32s(simd.mul_f32s(self.dx, x), simd.mul_f32s(self.dy, y));
        simd.add_f32s(self.base, steps)
    }
}

/// The weights of vertices 1 and 2 in a tile, for a vector of lanes at a time.
#[derive(Debug, Clone, Copy)]
pub struct Central<S: Simd> {
    center: [S::f32s; 2],
    linear: [Slope<S>; 2],
    perspective: [Slope<S>; 2],
    inv_w: Slope<S>,
}

/// The weights of vertices 1 and 2 in the lanes of a vector.
#[derive(Debug, Clone, Copy)]
pub struct Weights<S: Simd> {
    linear: [S::f32s; 2],
    perspective: [S::f32s; 2],
}

impl<S: Simd> Central<S> {
    /// The weights of vector `n` of the lanes: those without perspective if `LINEAR`, those with it
    /// if `PERSPECTIVE`.
    #[inline(always)]
    pub fn vector<const LINEAR: bool, const PERSPECTIVE: bool>(
        &self,
        simd: S,
        n: usize,
    ) -> Weights<S> {
        let zero = simd.splat_f32s(0.0);
        let (xs, ys) = (S::as_simd_f32s(&LANE_X).0, S::as_simd_f32s(&LANE_Y).0);
        let x = simd.add_f32s(xs[n], self.center[0]);
        let at = [x, simd.add_f32s(ys[n], self.center[1])];
        let mut weights = Weights {
            linear: [zero; 2],
            perspective: [zero; 2],
        };
        if LINEAR {
            weights.linear = [self.linear[0].at(simd, at), self.linear[1].at(simd, at)];
        }
        if PERSPECTIVE {
            let w = simd.div_f32s(simd.splat_f32s(1.0), self.inv_w.at(simd, at));
            let [one, two] = &self.perspective;
            weights.perspective = [
                simd.mul_f32s(one.at(simd, at), w),
                simd.mul_f32s(two.at(simd, at), w),
            ];
        }
        weights
    }
}

impl Component {
    /// Its values in the lanes of `weights`.
    #[inline(always)]
    pub fn vector<S: Simd>(&self, simd: S, weights: &Weights<S>) -> S::f32s {
        match *self {
            Self::Constant(bits) => simd.splat_f32s(f32::from_bits(bits)),
            Self::Varying {
                parts,
                perspective: true,
            } => mix(simd, parts, weights.perspective),
            Self::Varying { parts, .. } => mix(simd, parts, weights.linear),
        }
    }
}

#[inline(always)]
fn mix<S: Simd>(simd: S, parts: [f32; 3], [v, w]: [S::f32s; 2]) -> S::f32s {
    let [a, b, c] = parts;
    let (a, b, c) = (simd.splat_f32s(a), simd.splat_f32s(b), simd.splat_f32s(c));
    let rest = simd.add_f32s(simd.mul_f32s(b, v), simd.mul_f32s(c, w));
    simd.add_f32s(a, rest)
}
