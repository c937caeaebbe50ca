// SPDX-License-Identifier: MIT
//! Components of inputs one by one, for the short path of pixels, which needs no registers. The
//! arithmetic is that of [`Interpolator::fill`].

use super::{mix, Interpolator, Scratch, CENTER};
use crate::chip::gfx::lanes::Lanes;
use crate::chip::gfx::setup::{Setup, Vertices};

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
    /// Component `chan` of input `gpr`. None unless the shader starts with nothing but inputs that
    /// are interpolated at the pixels' centres.
    pub fn component(
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
        let (input, chan) = (self.inputs.get(gpr)?, chan & 3);
        let Some(param) = input.param else {
            return Some(Component::Constant(input.default[chan].to_bits()));
        };
        let at = |vertex: u32| vertices.param(vertex, param)[chan];
        if input.flat && self.flat_enabled {
            return Some(Component::Constant(at(setup.provoking)));
        }
        let [a, b, c] = setup.vertices.map(|vertex| f32::from_bits(at(vertex)));
        let parts = [a, b - a, c - a];
        if (parts[1], parts[2]) == (0.0, 0.0) {
            // As interpolation does it: -0 + 0 is +0.
            return Some(Component::Constant((a + 0.0).to_bits()));
        }
        Some(Component::Varying {
            parts,
            perspective: setup.perspective && !input.linear,
        })
    }

    /// Computes the weights at the centres of the pixels of the tile at (`x`, `y`), for
    /// [`Component::fill`].
    #[inline(always)]
    pub fn central_weights(&self, setup: &Setup, x: i32, y: i32, scratch: &mut Scratch) {
        self.weights(setup, x, y, None, &mut scratch.weights[CENTER]);
    }
}

impl Component {
    /// Its values in all lanes, by the weights of [`Interpolator::central_weights`].
    #[inline(always)]
    pub fn fill(&self, scratch: &Scratch, row: &mut Lanes) {
        let weights = &scratch.weights[CENTER];
        match *self {
            Self::Constant(bits) => row.fill(bits),
            Self::Varying {
                parts: [a, b, c],
                perspective: true,
            } => mix(row, a, b, c, &weights.perspective),
            Self::Varying {
                parts: [a, b, c], ..
            } => mix(row, a, b, c, &weights.linear),
        }
    }
}
