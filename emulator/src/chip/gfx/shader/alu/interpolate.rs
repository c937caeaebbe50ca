// SPDX-License-Identifier: MIT
//! `INTERP_*` of R800: inputs of a pixel shader from the weights in its registers.

use super::super::step::Interpolate;
use super::chunk::{f, store, Chunk, Post, CHUNK};
use crate::chip::gfx::lanes::{Lanes, LANES, QUADS};

/// Interpolates an input whose P0, P10 and P20 are `parts`, or loads one of them.
#[inline(always)]
pub(super) fn interpolate(rows: &mut [Lanes], item: &Interpolate, parts: [f32; 3], post: &Post) {
    for at in 0..LANES / CHUNK {
        let mut chunk: Chunk = [0; CHUNK];
        mix(rows, item, parts, at * CHUNK, &mut chunk);
        store(rows, item.dst, post, at, chunk);
    }
}

/// [`interpolate`] where quads are of several polygons.
#[inline(always)]
pub(super) fn interpolate_quads(
    rows: &mut [Lanes],
    item: &Interpolate,
    quads: &[[f32; 3]; QUADS],
    post: &Post,
) {
    for (at, quads) in quads.chunks(CHUNK / 4).enumerate() {
        let mut chunk: Chunk = [0; CHUNK];
        for (n, (to, parts)) in chunk.chunks_mut(4).zip(quads).enumerate() {
            mix(rows, item, *parts, at * CHUNK + n * 4, to);
        }
        store(rows, item.dst, post, at, chunk);
    }
}

/// [`interpolate`] for lanes of one polygon, the first of which is `first`.
#[inline(always)]
fn mix(rows: &[Lanes], item: &Interpolate, parts: [f32; 3], first: usize, to: &mut [u32]) {
    let [a, b, c] = parts;
    match item.weights {
        None => to.fill(parts[usize::from(item.part).min(2)].to_bits()),
        // Flat inputs keep their bits.
        Some(_) if (b.to_bits(), c.to_bits()) == (0, 0) => to.fill(a.to_bits()),
        Some([i, j]) => {
            let lanes = first..first + to.len();
            let row = |row: u32| &rows[row as usize][lanes.clone()];
            for (to, (i, j)) in to.iter_mut().zip(row(i).iter().zip(row(j))) {
                *to = (a + (b * f(*i) + c * f(*j))).to_bits();
            }
        }
    }
}
