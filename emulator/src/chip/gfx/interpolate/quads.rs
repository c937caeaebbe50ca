// SPDX-License-Identifier: MIT
//! Inputs of a wave whose quads are of several polygons.

use super::{Inputs, Interpolator, Scratch};
use crate::chip::gfx::lanes::{move_quad, QUADS};
use crate::chip::gfx::shader::Wave;

/// The polygons of such a wave, for a shader that interpolates its inputs itself.
#[derive(Debug, Default)]
pub(super) struct Gathered {
    /// The wave that runs is one.
    running: bool,
    /// Inputs of a polygon.
    inputs: usize,
    /// Their [`Scratch::deltas`](super::Scratch), polygon after polygon.
    deltas: Vec<[[f32; 4]; 3]>,
    /// Place of the first input of each quad's polygon.
    first: [usize; QUADS],
}

impl Interpolator {
    /// As [`Self::fill`] for the quads `quads` of a tile, which become those of `wave` from `to` on.
    /// `tile` is any other wave, which the registers go through. Returns how many of the first
    /// registers have no denormals, as [`Wave::set_normal`] wants to be told.
    pub fn fill_quads(
        &self,
        tile: &mut Wave,
        wave: &mut Wave,
        scratch: &mut Scratch,
        inputs: Inputs<'_>,
        quads: impl Iterator<Item = usize> + Clone,
        to: usize,
    ) -> usize {
        self.fill(tile, scratch, inputs);
        let moves = quads.zip(to..QUADS);
        let reads = inputs.program.reads();
        for gpr in self.filled() {
            for chan in (0..4).filter(|chan| reads[gpr] >> chan & 1 != 0) {
                let (row, out) = (tile.gpr(gpr, chan), wave.gpr_mut(gpr, chan));
                for (from, to) in moves.clone() {
                    move_quad(row, from, out, to);
                }
            }
        }
        if self.barycentric.is_some() {
            let gathered = &mut scratch.gathered;
            if to == 0 {
                gathered.deltas.clear();
            }
            gathered.inputs = self.inputs.len();
            let first = gathered.deltas.len();
            moves.for_each(|(_, to)| gathered.first[to] = first);
            let deltas = &scratch.deltas[..gathered.inputs];
            gathered.deltas.extend_from_slice(deltas);
        }
        tile.normal()
    }
}

impl Scratch {
    /// Whether the wave that runs next is one that [`Interpolator::fill_quads`] has filled.
    pub fn run_gathered(&mut self, gathered: bool) {
        self.gathered.running = gathered;
    }

    /// Component `chan` of input `index`: its value at vertex 0, and how much those at vertices 1 and 2
    /// differ from it. None in a wave whose quads are of several polygons.
    pub fn parameter(&self, index: usize, chan: usize) -> Option<[f32; 3]> {
        let component = |of: &[[f32; 4]; 3]| of.map(|vector| vector[chan & 3]);
        let parts = self.deltas.get(index).map_or([0.0; 3], component);
        (!self.gathered.running).then_some(parts)
    }

    /// The same of each quad's polygon.
    pub fn quad_parameters(&self, index: usize, chan: usize) -> [[f32; 3]; QUADS] {
        let gathered = &self.gathered;
        std::array::from_fn(|quad| {
            let place = gathered.first[quad] + index;
            match gathered.deltas.get(place) {
                Some(deltas) if index < gathered.inputs => deltas.map(|vector| vector[chan & 3]),
                _ => [0.0; 3],
            }
        })
    }
}
