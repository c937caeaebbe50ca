// SPDX-License-Identifier: MIT
//! The fast path of a texture fetch: one level of a 2D texture of 8-bit components, no border, no
//! comparison. It does the arithmetic of [`super::filter`], the general path, bit for bit.
//!
//! The texels of a wave nearly always lie in at most 4x4 blocks of 8x8. These are copied to a
//! patch, a square of 4x4 blocks that repeats in both directions: a texel's place in it depends on
//! the lower bits of its coordinates only. If all texels are inside the texture, wrap modes have no
//! effect, and the cheaper [`Find::inside`] finds them.

mod filter;
mod halved;

use pulp::{Arch, Simd, WithSimd};

use self::filter::{Bilinear, Places};
use self::halved::{is_halved, Halve};
use super::address::{axis, small_round, Axis, Index, MOST_TEXELS};
use super::cache::{BlockId, Cache};
use super::patch::{PITCH, SIDE};
use super::resource::Texture;
use super::sampler::Wrap;
use crate::chip::gfx::lanes::{expand, select, Lanes, Mask, ALL, CHUNK, LANES};
use crate::chip::gfx::memory::View;

/// Arguments of a fetch.
pub struct Fetch<'a> {
    /// The texture.
    pub texture: &'a Texture,
    /// Its number for [`Cache::block`].
    pub id: u64,
    /// Mip level.
    pub level: u32,
    /// Bilinear, else the nearest texel.
    pub linear: bool,
    /// Coordinates are integers that count texels; a lane outside needs the general path.
    pub integers: bool,
    /// Wrap modes of s and t.
    pub wrap: [Wrap; 2],
    /// Coordinates are in 0..1 rather than in texels.
    pub normalized: [bool; 2],
    /// Offsets in half texels.
    pub offset: [i32; 2],
    /// Lanes that get a result.
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
    let sizes = [level.width, level.height];
    // Filled in place: copying data that was just written in smaller parts would stall.
    let mut patch = Patch::default();
    let found = arch.dispatch(Find {
        fetch,
        sizes,
        src,
        fixed: &mut cache.fixed,
        axes: &mut cache.axes,
        patch: &mut patch,
    });
    if !found {
        return false;
    }
    cache.inside += u64::from(patch.inside);
    let first = (patch.x as u32, patch.y as u32);
    if patch.halved && cache.read_blocks(view, texture, fetch.level, first) {
        arch.dispatch(Halve {
            blocks: &cache.blocks,
            weights: [0, 1].map(|axis| cache.fixed[axis][0] as u32 & 0xFF),
            swizzle: &texture.swizzle,
            out,
        });
        return true;
    }
    load(cache, view, fetch, sizes, &patch);
    arch.dispatch(Bilinear {
        texels: &cache.patch,
        patch: &patch,
        places: match patch.inside {
            true => Places::Fixed(&cache.fixed),
            false => Places::Axes(&cache.axes),
        },
        linear: fetch.linear,
        swizzle: &texture.swizzle,
        mask: fetch.mask,
        out,
    });
    true
}

/// Copies the blocks that `patch` needs to the cache's patch, except those that earlier fetches
/// have put there: neighbouring tiles share blocks.
fn load(
    cache: &mut Cache,
    view: &View<'_>,
    fetch: &Fetch<'_>,
    [width, height]: [u32; 2],
    patch: &Patch,
) {
    let turn = |block: i32, size: u32| {
        let blocks = size.div_ceil(8).max(1) as i32;
        // A block beyond the seam of a repeated texture, see `unwrap`.
        match block {
            b if b < 0 => (b + blocks) as u32,
            b if b >= blocks => (b - blocks) as u32,
            b => b as u32,
        }
    };
    let mut needed = patch.needed & 0xFFFF;
    while needed != 0 {
        let i = needed.trailing_zeros() as i32;
        needed &= needed - 1;
        let (column, row) = (patch.x + i % 4, patch.y + i / 4);
        let block = BlockId {
            level: fetch.level & 0xF,
            slice: fetch.texture.layers.0,
            sample: 0,
            x: turn(column, width) & 0x7FF,
            y: turn(row, height) & 0x7FF,
        };
        let (column, row) = (column as usize & 3, row as usize & 3);
        let slot = row * 4 + column;
        // The tag needs no slice or sample: here, they are the same in all fetches of a texture.
        let tag = fetch.id << 26 | u64::from(block.level << 22 | block.y << 11 | block.x);
        if cache.slots[slot] != tag {
            cache.slots[slot] = tag;
            cache.laid_out += 1;
            let set = cache.block(view, fetch.texture, fetch.id, block);
            place(cache, set, column, row);
        }
    }
}

/// Copies the block in `set` to `column` and `row` of the patch. Right of its last column the patch
/// has a copy of its first one, and below its last row a copy of its first one.
fn place(cache: &mut Cache, set: usize, column: usize, row: usize) {
    const ROW: usize = PITCH as usize;
    const END: usize = SIDE as usize;
    let (texels, patch) = (&cache.packed[set * 64..set * 64 + 64], &mut cache.patch);
    let first = row * 8 * ROW + column * 8;
    let rows = patch[first..].chunks_mut(ROW).zip(texels.chunks_exact(8));
    for (to, from) in rows {
        to[..8].copy_from_slice(from);
        if column == 0 {
            to[END] = from[0];
        }
    }
    if row == 0 {
        let first = END * ROW + column * 8;
        patch[first..first + 8].copy_from_slice(&texels[..8]);
        if column == 0 {
            patch[first + END] = texels[0];
        }
    }
}

/// The square of at most 4x4 blocks in which all texels of a wave lie: column and row of the first
/// block, and a bit for each block that is needed.
#[derive(Default)]
struct Patch {
    x: i32,
    y: i32,
    needed: u32,
    /// All texels are inside the texture: `Cache::fixed` has their positions, else `Cache::axes`.
    inside: bool,
    /// The second texel of each row is the right neighbour of the first.
    adjacent: bool,
    /// See [`is_halved`]; both texels of each axis are used.
    halved: bool,
}

/// Finds the patch of a fetch. False if the texels do not fit into one.
struct Find<'a> {
    fetch: &'a Fetch<'a>,
    sizes: [u32; 2],
    src: &'a [&'a Lanes; 4],
    /// If all texels are inside: first texels and weights, in fixed point with 8 fraction bits.
    fixed: &'a mut [Index; 2],
    /// Else: texels and weights.
    axes: &'a mut [Axis; 2],
    /// The result.
    patch: &'a mut Patch,
}

/// Converts integer coordinates to an axis of a fetch.
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

impl WithSimd for Find<'_> {
    type Output = bool;

    #[inline(always)]
    fn with_simd<S: Simd>(mut self, _simd: S) -> bool {
        let fetch = self.fetch;
        if fetch.mask == 0 {
            return false;
        }
        // Lanes outside the mask get the coordinates of the first lane in it.
        let lead = fetch.mask.trailing_zeros() as usize & 63;
        let mut own;
        let mut coords = [self.src[0], self.src[1]];
        if fetch.mask != ALL {
            let active = expand(fetch.mask);
            own = coords.map(|coord| [coord[lead]; LANES]);
            for (coord, own) in coords.iter_mut().zip(&mut own) {
                select(own, coord, &active);
                *coord = own;
            }
        }
        let plain = !fetch.integers && fetch.normalized == [true; 2] && fetch.offset == [0; 2];
        let inside = if plain { self.inside(coords) } else { None };
        match inside.or_else(|| self.wrapped(coords, lead)) {
            Some(patch) => *self.patch = patch,
            None => return false,
        }
        true
    }
}

impl Find<'_> {
    /// The patch of texels that are all within the texture without wrapping: no wrap mode then
    /// changes a coordinate.
    #[inline(always)]
    fn inside(&mut self, coords: [&Lanes; 2]) -> Option<Patch> {
        let (half, step) = if self.fetch.linear { (128, 1) } else { (0, 0) };
        let (mut first, mut last) = ([0; 2], [0; 2]);
        for (i, fixed) in self.fixed.iter_mut().enumerate() {
            let size = self.sizes[i].clamp(1, MOST_TEXELS);
            let n = size as f32;
            // Coordinates far outside and NaN are rounded to wrong numbers, but these are far
            // outside, too.
            for (t, bits) in fixed.iter_mut().zip(coords[i]) {
                *t = small_round(f32::from_bits(*bits) * n * 256.0).wrapping_sub(half);
            }
            let low = fixed.iter().fold(i32::MAX, |m, t| m.min(*t)) >> 8;
            let high = (fixed.iter().fold(i32::MIN, |m, t| m.max(*t)) >> 8) + step;
            if low < 0 || high >= size as i32 {
                return None;
            }
            (first[i], last[i]) = (low >> 3, high >> 3);
        }
        let [x, y] = &*self.fixed;
        let block =
            |axis: &Index, i: usize, lane: usize| ((axis[lane] >> 8) + i as i32 * step) >> 3;
        let found = patch(first, last, x, y, block)?;
        Some(Patch {
            inside: true,
            halved: self.fetch.linear && is_halved(&*self.fixed),
            ..found
        })
    }

    /// The patch of all other texels, after wrapping. `lead` is a lane of the mask.
    #[inline(always)]
    fn wrapped(&mut self, coords: [&Lanes; 2], lead: usize) -> Option<Patch> {
        let fetch = self.fetch;
        for (i, out) in self.axes.iter_mut().enumerate() {
            if fetch.integers {
                integers(coords[i], fetch.offset[i], self.sizes[i], out);
                continue;
            }
            let coord = |lane: usize| f32::from_bits(coords[i][lane]);
            let (wrap, size) = (fetch.wrap[i], self.sizes[i]);
            let (normalized, offset) = (fetch.normalized[i], fetch.offset[i]);
            axis(wrap, size, coord, normalized, offset, fetch.linear, out);
        }
        let [x, y] = &*self.axes;
        let border = x.border[0] | x.border[1] | y.border[0] | y.border[1];
        if border & fetch.mask != 0 {
            return None;
        }
        let (mut first, mut last) = ([0; 2], [0; 2]);
        for (i, axis) in self.axes.iter_mut().enumerate() {
            let (mut low, mut high) = bounds(axis);
            let size = self.sizes[i] as i32;
            if high - low > 3 && fetch.wrap[i] == Wrap::Wrap && size % 8 == 0 {
                unwrap(axis, lead, size);
                (low, high) = bounds(axis);
            }
            (first[i], last[i]) = (low, high);
        }
        let [x, y] = &*self.axes;
        let apart = (x.first.iter().zip(&x.second)).fold(0, |all, (a, b)| all | (b - a) ^ 1);
        let block =
            |axis: &Axis, i: usize, lane: usize| [axis.first[lane], axis.second[lane]][i] >> 3;
        let found = patch(first, last, x, y, block)?;
        Some(Patch {
            adjacent: apart == 0,
            ..found
        })
    }
}

/// The patch of the blocks from `first` to `last`; none if they are too far apart. `block` returns
/// the block of a lane's first (0) or second (1) texel along axis `x` or `y`.
#[inline(always)]
fn patch<A>(
    first: [i32; 2],
    last: [i32; 2],
    x: &A,
    y: &A,
    block: impl Fn(&A, usize, usize) -> i32,
) -> Option<Patch> {
    let [left, top] = first;
    let (columns, rows) = (last[0] - left, last[1] - top);
    if columns > 3 || rows > 3 {
        return None;
    }
    let of = |needed: u32| Patch {
        x: left,
        y: top,
        needed,
        ..Patch::default()
    };
    if columns <= 1 && rows <= 1 {
        // All of the at most four blocks, even those without a texel.
        return Some(of((1 << columns | 1) * (1 << (4 * rows) | 1)));
    }
    let mut needed = [0u32; CHUNK];
    for at in 0..LANES / CHUNK {
        for i in 0..CHUNK {
            let lane = at * CHUNK + i;
            let x = [0, 1].map(|i| (block(x, i, lane) - left) & 3);
            let y = [0, 1].map(|i| (block(y, i, lane) - top) & 3);
            let columns = 1u32 << x[0] | 1 << x[1];
            needed[i] |= columns << (y[0] * 4) | columns << (y[1] * 4);
        }
    }
    Some(of(needed.iter().fold(0, |all, bits| all | bits)))
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

/// Moves texels of a repeated texture to the repetition that is nearest to the texel of lane
/// `lead`: texels on both sides of a seam become neighbours.
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
