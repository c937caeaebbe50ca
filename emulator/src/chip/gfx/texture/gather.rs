// SPDX-License-Identifier: MIT
//! `GATHER4` of Evergreen: one component of each of the four texels that a bilinear filter would
//! mix.
//!
//! Sources: Mesa's `sfn_instr_tex.cpp` (`lower_tg4()`: which component of the result is which
//! texel, `INST_MOD` the component) and `sfn_nir_lower_tex.cpp` (textures of integers are addressed
//! as with a nearest filter, half a texel off).

use pulp::Arch;

use super::address::Axis;
use super::border::border;
use super::cache::Cache;
use super::filter::{cube_corner, cube_point, finish, texel, FindTexels, Planes, Request};
use super::resource::Dim;
use crate::chip::gfx::lanes::{iter, Lanes};
use crate::chip::gfx::memory::View;

/// The texel of each component of the result: 0 or 1 along x, then along y.
const TEXELS: [(usize, usize); 4] = [(1, 0), (0, 1), (1, 1), (0, 0)];

/// Executes a gather of `component` for the lanes of `request.mask`. `offsets` are in texels, for
/// each lane; they add to the instruction's own.
pub fn gather(
    cache: &mut Cache,
    view: &View<'_>,
    arch: Arch,
    request: &Request<'_>,
    offsets: Option<&[Lanes; 3]>,
    component: usize,
    out: &mut [Lanes; 4],
) {
    let texture = request.texture;
    let Some(level) = texture.level(request.level) else {
        return;
    };
    if texture.dim == Dim::Cube && request.seamless {
        return cube(cache, view, request, component, out);
    }
    let planes = Planes::new(request, level, false);
    // Half a texel, which the filter of floats subtracts.
    let half = i32::from(texture.is_integer());
    // Lanes with the same offsets are addressed together.
    let mut left = request.mask;
    while left != 0 {
        let lead = left.trailing_zeros() as usize & 63;
        let (mut own, mut same) = ([0; 3], left);
        if let Some(offsets) = offsets {
            own = [0, 1, 2].map(|i| (offsets[i][lead] as i32).clamp(-32, 31));
            same = iter(left)
                .filter(|&lane| (0..3).all(|i| offsets[i][lane] == offsets[i][lead]))
                .fold(0, |mask, lane| mask | 1 << lane);
        }
        left &= !same;
        let moved = Request {
            offset: [0, 1, 2].map(|i| request.offset[i] + 2 * own[i] + half),
            mask: same,
            ..*request
        };
        let mut axes = [Axis::flat(), Axis::flat()];
        arch.dispatch(FindTexels {
            request: &moved,
            level,
            linear: true,
            axes: &mut axes,
        });
        for (result, (i, j)) in out.iter_mut().zip(TEXELS) {
            let pick = |axis: &Axis, n: usize, lane: usize| match n {
                0 => axis.first[lane] as u32,
                _ => axis.second[lane] as u32,
            };
            let outside = axes[0].border[i] | axes[1].border[j];
            for lane in iter(same) {
                let value = if outside >> lane & 1 == 1 {
                    border(&moved, lane)
                } else {
                    let (x, y) = (pick(&axes[0], i, lane), pick(&axes[1], j, lane));
                    let slice = planes.first[lane];
                    let raw = texel(cache, view, texture, moved.id, moved.level, slice, 0, x, y);
                    finish(&moved, lane, &raw)
                };
                result[lane] = value[component & 3];
            }
        }
    }
}

/// A cube map, across the edges of its faces. The texel that is missing at a corner, where three
/// faces meet, is the average of the other three.
fn cube(
    cache: &mut Cache,
    view: &View<'_>,
    request: &Request<'_>,
    component: usize,
    out: &mut [Lanes; 4],
) {
    let half = if request.texture.is_integer() {
        0.5
    } else {
        0.0
    };
    let size = request.texture.level(request.level).map_or(1, |l| l.width);
    for lane in iter(request.mask) {
        let (base, _) = cube_point(request, lane, size.max(1) as f32, half);
        let found = TEXELS.map(|(i, j)| {
            let raw = cube_corner(cache, view, request, lane, base, (i, j))?;
            Some(finish(request, lane, &raw)[component & 3])
        });
        let known = || found.iter().flatten();
        let average = if request.texture.is_integer() {
            known().copied().next().unwrap_or(0)
        } else {
            let sum: f32 = known().map(|bits| f32::from_bits(*bits)).sum();
            (sum / known().count().max(1) as f32).to_bits()
        };
        for (result, value) in out.iter_mut().zip(found) {
            result[lane] = value.unwrap_or(average);
        }
    }
}
