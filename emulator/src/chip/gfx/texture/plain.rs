// SPDX-License-Identifier: MIT
//! The short way of a texture fetch: one level of a 2D texture of plain bytes, no border,
//! no comparison. The same arithmetic as [`super::filter`], bit for bit; what this does not
//! take, that does.
//!
//! The texels of a wave nearly always lie in at most 4x4 blocks of 8x8. These are laid
//! out side by side, so that a texel's place follows from its coordinates alone.

use pulp::{bytemuck, Arch, Simd, WithSimd};

use super::address::{axis, Axis};
use super::cache::{BlockId, Cache};
use super::resource::Texture;
use super::sampler::Wrap;
use crate::chip::gfx::lanes::{expand, Lanes, Mask, ALL, LANES};
use crate::chip::gfx::memory::View;

/// Texels from row to row of a patch: four blocks.
const PITCH: u32 = 32;
/// Texels of a patch, and room for what is read with the last one.
pub const PATCH: usize = (PITCH * PITCH) as usize + 1;
/// Lanes worked on at a time.
const CHUNK: usize = 8;

/// What a fetch asks for.
pub struct Fetch<'a> {
    /// The texture and its number in the cache.
    pub texture: &'a Texture,
    /// Number for [`Cache::block`].
    pub id: u64,
    /// Mip level.
    pub level: u32,
    /// Bilinear, else the nearest texel.
    pub linear: bool,
    /// Coordinates are integers that count texels; what lies outside takes the general way.
    pub integers: bool,
    /// Wrap modes of s and t.
    pub wrap: [Wrap; 2],
    /// Coordinates are in 0..1 rather than in texels.
    pub normalized: [bool; 2],
    /// Offsets in half texels.
    pub offset: [i32; 2],
    /// Lanes that want a result.
    pub mask: Mask,
}

/// Fetches for the lanes of `fetch.mask` to `out`: components after the resource's swizzle, 0 in
/// the other lanes. False if the texels lie too far apart or on the border.
pub fn sample(
    cache: &mut Cache,
    view: &View<'_>,
    arch: Arch,
    fetch: &Fetch<'_>,
    src: &[&Lanes; 4],
    out: &mut [Lanes; 4],
) -> bool {
    let texture = fetch.texture;
    let Some(level) = texture.level(fetch.level) else {
        return false;
    };
    let patch = arch.dispatch(FindPatch {
        fetch,
        sizes: [level.width, level.height],
        src,
        axes: &mut cache.axes,
    });
    let Some(patch) = patch else {
        return false;
    };
    for i in 0..16u32 {
        if patch.needed >> i & 1 == 0 {
            continue;
        }
        let (column, row) = (i % 4, i / 4);
        let turn = |block: i32, size: u32| {
            let blocks = size.div_ceil(8).max(1) as i32;
            // Beyond the seam of a repeated texture, see `unwrap`.
            match block {
                b if b < 0 => (b + blocks) as u32,
                b if b >= blocks => (b - blocks) as u32,
                b => b as u32,
            }
        };
        let block = BlockId {
            level: fetch.level,
            slice: texture.layers.0,
            sample: 0,
            x: turn(patch.x + column as i32, level.width),
            y: turn(patch.y + row as i32, level.height),
        };
        let set = cache.block(view, texture, fetch.id, block);
        let texels = &cache.packed[set * 64..set * 64 + 64];
        let first = (row * 8 * PITCH + column * 8) as usize;
        let rows = cache.patch[first..].chunks_mut(PITCH as usize);
        for (to, from) in rows.zip(texels.chunks_exact(8)) {
            to[..8].copy_from_slice(from);
        }
    }
    arch.dispatch(Bilinear {
        texels: &cache.patch,
        patch: &patch,
        axes: &cache.axes,
        linear: fetch.linear,
        swizzle: &texture.swizzle,
        mask: fetch.mask,
        out,
    });
    true
}

/// The at most 4x4 blocks that all texels of a wave lie in: the first, and a bit for each
/// that is needed.
struct Patch {
    x: i32,
    y: i32,
    needed: u16,
    /// The texels lie on both sides of a seam.
    turned: bool,
    /// The second texel of each row is the right neighbour of the first.
    adjacent: bool,
}

struct FindPatch<'a> {
    fetch: &'a Fetch<'a>,
    sizes: [u32; 2],
    src: &'a [&'a Lanes; 4],
    axes: &'a mut [Axis; 2],
}

/// Integer coordinates as the axes of a fetch.
#[inline(always)]
fn integers(coord: &Lanes, offset: i32, size: u32, out: &mut Axis) {
    let mut outside = [0u32; 2];
    for lane in 0..LANES {
        let at = (coord[lane] as i32).wrapping_add(offset / 2);
        out.first[lane] = at;
        out.second[lane] = at;
        outside[lane / 32] |= u32::from(at as u32 >= size) << (lane % 32);
    }
    out.border = [u64::from(outside[0]) | u64::from(outside[1]) << 32; 2];
}

impl WithSimd for FindPatch<'_> {
    type Output = Option<Patch>;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _simd: S) -> Option<Patch> {
        let fetch = self.fetch;
        let mask = fetch.mask;
        if mask == 0 {
            return None;
        }
        for (i, out) in self.axes.iter_mut().enumerate() {
            if fetch.integers {
                integers(self.src[i], fetch.offset[i], self.sizes[i], out);
                continue;
            }
            let coord = |lane: usize| f32::from_bits(self.src[i][lane]);
            let (wrap, size) = (fetch.wrap[i], self.sizes[i]);
            let (normalized, offset) = (fetch.normalized[i], fetch.offset[i]);
            axis(wrap, size, coord, normalized, offset, fetch.linear, out);
        }
        let mut turned = false;
        let [x, y] = &*self.axes;
        let border = x.border[0] | x.border[1] | y.border[0] | y.border[1];
        if border & mask != 0 {
            return None;
        }
        // Lanes that do not count look like the first that does.
        let lead = mask.trailing_zeros() as usize & 63;
        if mask != ALL {
            let active = expand(mask);
            for axis in self.axes.iter_mut() {
                for texels in [&mut axis.first, &mut axis.second] {
                    let own = texels[lead];
                    for (texel, active) in texels.iter_mut().zip(&active) {
                        let active = *active as i32;
                        *texel = *texel & active | own & !active;
                    }
                }
            }
        }
        let (mut first, mut last) = ([0; 2], [0; 2]);
        for (i, axis) in self.axes.iter_mut().enumerate() {
            let (mut low, mut high) = bounds(axis);
            let size = self.sizes[i] as i32;
            if high - low > 3 && fetch.wrap[i] == Wrap::Wrap && size % 8 == 0 {
                unwrap(axis, lead, size);
                turned = true;
                (low, high) = bounds(axis);
            }
            if high - low > 3 {
                return None;
            }
            (first[i], last[i]) = (low, high);
        }
        let [left, top] = first;
        let [x, y] = &*self.axes;
        let apart = (x.first.iter().zip(&x.second)).fold(0, |all, (a, b)| all | (b - a) ^ 1);
        let (columns, rows) = (last[0] - left, last[1] - top);
        let needed = if columns <= 1 && rows <= 1 {
            // At most one too many: of the four around a corner of the texels' outline.
            (1 << columns | 1) * (1 << (4 * rows) | 1)
        } else {
            let mut needed = [0u32; CHUNK];
            for at in 0..LANES / CHUNK {
                for i in 0..CHUNK {
                    let lane = at * CHUNK + i;
                    let x = [x.first[lane], x.second[lane]].map(|v| ((v >> 3) - left) & 3);
                    let y = [y.first[lane], y.second[lane]].map(|v| ((v >> 3) - top) & 3);
                    let columns = 1u32 << x[0] | 1 << x[1];
                    needed[i] |= columns << (y[0] * 4) | columns << (y[1] * 4);
                }
            }
            needed.iter().fold(0, |all, bits| all | bits)
        };
        Some(Patch {
            x: left,
            y: top,
            needed: needed as u16,
            turned,
            adjacent: apart == 0,
        })
    }
}

/// First and last block along `axis`.
#[inline(always)]
fn bounds(axis: &Axis) -> (i32, i32) {
    let (mut low, mut high) = ([i32::MAX; CHUNK], [i32::MIN; CHUNK]);
    for at in 0..LANES / CHUNK {
        for i in 0..CHUNK {
            let lane = at * CHUNK + i;
            let (first, second) = (axis.first[lane], axis.second[lane]);
            low[i] = low[i].min(first).min(second);
            high[i] = high[i].max(first).max(second);
        }
    }
    let low = low.iter().fold(i32::MAX, |m, v| m.min(*v)) >> 3;
    let high = high.iter().fold(i32::MIN, |m, v| m.max(*v)) >> 3;
    (low, high)
}

/// Brings texels of a repeated texture to the turn that is nearest to that of lane `lead`: they are
/// side by side then at the seam, too.
#[inline(always)]
fn unwrap(axis: &mut Axis, lead: usize, size: i32) {
    let (own, half) = (axis.first[lead], size / 2);
    for texels in [&mut axis.first, &mut axis.second] {
        for v in texels {
            let distance = *v - own;
            let back = if distance > half { size } else { 0 };
            let forth = if distance < -half { size } else { 0 };
            *v = *v - back + forth;
        }
    }
}

/// Bilinear filter over a patch. Without `linear` the first texel of each axis is taken.
struct Bilinear<'a> {
    texels: &'a [u32; PATCH],
    patch: &'a Patch,
    axes: &'a [Axis; 2],
    linear: bool,
    swizzle: &'a [u8; 4],
    mask: Mask,
    out: &'a mut [Lanes; 4],
}

impl Bilinear<'_> {
    /// Places of texels in the patch.
    #[inline(always)]
    fn places(&self, x: &[i32; LANES], y: &[i32; LANES]) -> Lanes {
        let (left, top) = (self.patch.x * 8, self.patch.y * 8);
        let mut places = [0u32; LANES];
        for lane in 0..LANES {
            let row = (y[lane].wrapping_sub(top) as u32).wrapping_mul(PITCH);
            places[lane] = row.wrapping_add(x[lane].wrapping_sub(left) as u32);
        }
        places
    }

    /// The texels at a corner of the filter: the first or second of each axis.
    #[inline(always)]
    fn corner(&self, x: &[i32; LANES], y: &[i32; LANES]) -> Lanes {
        let places = self.places(x, y);
        let mut out = [0; LANES];
        for (out, place) in out.iter_mut().zip(&places) {
            *out = self.texels[*place as usize & (PATCH - 2)];
        }
        out
    }

    /// The texels at both corners of a row, where they are neighbours.
    #[inline(always)]
    fn row(&self, x: &[i32; LANES], y: &[i32; LANES]) -> [Lanes; 2] {
        let places = self.places(x, y);
        let texels: &[u8] = bytemuck::cast_slice(self.texels);
        let mut pairs = [0u64; LANES];
        for (pair, place) in pairs.iter_mut().zip(&places) {
            // One load for both.
            let at = 4 * (*place as usize & (PATCH - 2));
            let mut bytes = [0; 8];
            bytes.copy_from_slice(&texels[at..at + 8]);
            *pair = u64::from_ne_bytes(bytes);
            if cfg!(target_endian = "big") {
                *pair = pair.rotate_left(32);
            }
        }
        let mut out = [[0; LANES]; 2];
        for lane in 0..LANES {
            out[0][lane] = pairs[lane] as u32;
            out[1][lane] = (pairs[lane] >> 32) as u32;
        }
        out
    }
}

const NEAREST: u8 = 0;
const LINEAR: u8 = 1;
/// The general way's order of operations: there, texels on both sides of a seam are too far
/// apart for the other.
const SEAM: u8 = 2;

/// One component, which begins at bit `shift` of the texels.
#[inline(always)]
fn filter<const KIND: u8>(axes: &[Axis; 2], corners: &[Lanes; 4], shift: u32, out: &mut Lanes) {
    let [x, y] = axes;
    for at in 0..LANES / CHUNK {
        let mut t = [[0.0; CHUNK]; 4];
        for (t, corner) in t.iter_mut().zip(corners) {
            for i in 0..CHUNK {
                t[i] = (corner[at * CHUNK + i] >> shift & 0xFF) as i32 as f32;
            }
        }
        let mut colour = [0.0; CHUNK];
        for i in 0..CHUNK {
            let (wx, wy) = (x.weight[at * CHUNK + i], y.weight[at * CHUNK + i]);
            colour[i] = match KIND {
                NEAREST => t[0][i] / 255.0,
                LINEAR => {
                    let top = t[0][i] + (t[1][i] - t[0][i]) * wx;
                    let bottom = t[2][i] + (t[3][i] - t[2][i]) * wx;
                    (top + (bottom - top) * wy) * (1.0 / 255.0)
                }
                _ => {
                    let (vx, vy) = (1.0 - wx, 1.0 - wy);
                    let sum = vx * vy * (t[0][i] / 255.0) + wx * vy * (t[1][i] / 255.0);
                    sum + vx * wy * (t[2][i] / 255.0) + wx * wy * (t[3][i] / 255.0)
                }
            };
        }
        for i in 0..CHUNK {
            out[at * CHUNK + i] = colour[i].to_bits();
        }
    }
}

impl WithSimd for Bilinear<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _simd: S) {
        let [x, y] = self.axes;
        let corners = if !self.linear {
            [self.corner(&x.first, &y.first); 4]
        } else if self.patch.adjacent {
            let above = self.row(&x.first, &y.first);
            let below = self.row(&x.first, &y.second);
            [above[0], above[1], below[0], below[1]]
        } else {
            [
                self.corner(&x.first, &y.first),
                self.corner(&x.second, &y.first),
                self.corner(&x.first, &y.second),
                self.corner(&x.second, &y.second),
            ]
        };
        for component in 0..4 {
            // The first place it goes to; the others copy.
            let selects = |s: &u8| usize::from(*s) == component;
            let Some(to) = self.swizzle.iter().position(selects) else {
                continue;
            };
            let shift = 8 * component as u32;
            let out = &mut self.out[to];
            match (self.linear, self.patch.turned) {
                (false, _) => filter::<NEAREST>(self.axes, &corners, shift, out),
                (true, false) => filter::<LINEAR>(self.axes, &corners, shift, out),
                (true, true) => filter::<SEAM>(self.axes, &corners, shift, out),
            }
            for other in to + 1..4 {
                if selects(&self.swizzle[other]) {
                    self.out[other] = self.out[to];
                }
            }
        }
        for (out, select) in self.out.iter_mut().zip(self.swizzle) {
            match select {
                0..=3 => {}
                5 => *out = [1f32.to_bits(); LANES],
                _ => *out = [0; LANES],
            }
        }
        if self.mask != ALL {
            let active = expand(self.mask);
            for component in self.out {
                for (v, active) in component.iter_mut().zip(&active) {
                    *v &= active;
                }
            }
        }
    }
}
