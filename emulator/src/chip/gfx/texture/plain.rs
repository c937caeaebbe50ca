// SPDX-License-Identifier: MIT
//! The short way of a texture fetch: one level of a 2D texture of plain bytes, no border,
//! no comparison. The same arithmetic as [`super::filter`], bit for bit; what this does not
//! take, that does.
//!
//! The texels of a wave nearly always lie in at most 4x4 blocks of 8x8. These are laid
//! out side by side, so that a texel's place follows from its coordinates alone. Where all
//! are inside the texture, no wrap mode matters, and [`Find::inside`] takes few steps.

use pulp::{bytemuck, Arch, Simd, WithSimd};

use super::address::{axis, small_round, Axis, Index};
use super::cache::{BlockId, Cache};
use super::resource::Texture;
use super::sampler::Wrap;
use crate::chip::gfx::lanes::{expand, select, Lanes, Mask, ALL, LANES};
use crate::chip::gfx::memory::View;

/// Texels from row to row of a patch: four blocks.
const PITCH: u32 = 32;
/// Texels of a patch, and room for what is read with the last one: those below and to the right.
pub const PATCH: usize = (PITCH * (PITCH + 1)) as usize + 1;
/// The largest place in a patch, of those that a mask leaves.
const LAST_PLACE: usize = (PITCH * PITCH - 1) as usize;
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
    let sizes = [level.width, level.height];
    // Filled in place: a copy of something just written in parts waits for the parts.
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

/// What is in [`Cache::patch`]: which blocks of which level of which texture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Held {
    id: u64,
    level: u32,
    first: [i32; 2],
    needed: u32,
}

/// Lays the blocks of `patch` out in the cache's patch, if they are not there from the last fetch.
fn load(
    cache: &mut Cache,
    view: &View<'_>,
    fetch: &Fetch<'_>,
    [width, height]: [u32; 2],
    patch: &Patch,
) {
    let held = Held {
        id: fetch.id,
        level: fetch.level,
        first: [patch.x, patch.y],
        needed: patch.needed,
    };
    if cache.held == Some(held) {
        cache.kept += 1;
        return;
    }
    let turn = |block: i32, size: u32| {
        let blocks = size.div_ceil(8).max(1) as i32;
        // Beyond the seam of a repeated texture, see `unwrap`.
        match block {
            b if b < 0 => (b + blocks) as u32,
            b if b >= blocks => (b - blocks) as u32,
            b => b as u32,
        }
    };
    for i in (0..16u32).filter(|i| patch.needed >> i & 1 != 0) {
        let (column, row) = (i % 4, i / 4);
        let block = BlockId {
            level: fetch.level,
            slice: fetch.texture.layers.0,
            sample: 0,
            x: turn(patch.x + column as i32, width),
            y: turn(patch.y + row as i32, height),
        };
        let set = cache.block(view, fetch.texture, fetch.id, block);
        let texels = &cache.packed[set * 64..set * 64 + 64];
        let first = (row * 8 * PITCH + column * 8) as usize;
        let rows = cache.patch[first..].chunks_mut(PITCH as usize);
        for (to, from) in rows.zip(texels.chunks_exact(8)) {
            to[..8].copy_from_slice(from);
        }
    }
    cache.held = Some(held);
}

/// The at most 4x4 blocks that all texels of a wave lie in: the first, and a bit for each
/// that is needed.
#[derive(Default)]
struct Patch {
    x: i32,
    y: i32,
    needed: u32,
    /// All texels are inside: their places are in fixed point.
    inside: bool,
    /// The texels lie on both sides of a seam.
    turned: bool,
    /// The second texel of each row is the right neighbour of the first.
    adjacent: bool,
}

/// Finds the patch of a fetch; false if there is none.
struct Find<'a> {
    fetch: &'a Fetch<'a>,
    sizes: [u32; 2],
    src: &'a [&'a Lanes; 4],
    /// First texels and weights where all are inside: fixed point with 8 fraction bits.
    fixed: &'a mut [Index; 2],
    /// Texels and weights elsewhere.
    axes: &'a mut [Axis; 2],
    /// What is found.
    patch: &'a mut Patch,
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

impl WithSimd for Find<'_> {
    type Output = bool;

    #[inline(always)]
    fn with_simd<S: Simd>(mut self, _simd: S) -> bool {
        let fetch = self.fetch;
        if fetch.mask == 0 {
            return false;
        }
        // Lanes that do not count look like the first that does.
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
    /// The patch of texels that are all within the texture as they are. Then a repeated or
    /// mirrored coordinate is the coordinate itself, and nothing is clamped.
    #[inline(always)]
    fn inside(&mut self, coords: [&Lanes; 2]) -> Option<Patch> {
        let (half, step) = if self.fetch.linear { (128, 1) } else { (0, 0) };
        let (mut first, mut last) = ([0; 2], [0; 2]);
        for (i, fixed) in self.fixed.iter_mut().enumerate() {
            let size = self.sizes[i].clamp(1, 8192);
            let n = size as f32;
            // What is far outside, and what is no number, comes out far outside, too, although
            // it is rounded to something else.
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
            ..found
        })
    }

    /// The patch of other texels, after wrapping. `lead` is a lane that counts.
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
        let mut turned = false;
        let (mut first, mut last) = ([0; 2], [0; 2]);
        for (i, axis) in self.axes.iter_mut().enumerate() {
            let (mut low, mut high) = bounds(axis);
            let size = self.sizes[i] as i32;
            if high - low > 3 && fetch.wrap[i] == Wrap::Wrap && size % 8 == 0 {
                unwrap(axis, lead, size);
                turned = true;
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
            turned,
            adjacent: apart == 0,
            ..found
        })
    }
}

/// The patch of the blocks from `first` to `last` that texels lie in; none if these are too far apart.
/// `block` gives the block of a lane's first (0) and second (1) texel along axis `x` or `y`.
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
        // At most one too many: of the four around a corner of the texels' outline.
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

/// Where each lane's texels lie.
enum Places<'a> {
    /// As [`Find::inside`] found.
    Fixed(&'a [Index; 2]),
    /// As [`Find::wrapped`] found.
    Axes(&'a [Axis; 2]),
}

/// Bilinear filter over a patch. Without `linear` the first texel of each axis is taken.
struct Bilinear<'a> {
    texels: &'a [u32; PATCH],
    patch: &'a Patch,
    places: Places<'a>,
    linear: bool,
    swizzle: &'a [u8; 4],
    mask: Mask,
    out: &'a mut [Lanes; 4],
}

impl Bilinear<'_> {
    /// Places in the patch of the texels in column and row (`x`, `y`) of each lane.
    #[inline(always)]
    fn places(&self, x: impl Fn(usize) -> i32, y: impl Fn(usize) -> i32) -> Lanes {
        let (left, top) = (self.patch.x as u32, self.patch.y as u32);
        let first = (top.wrapping_mul(PITCH).wrapping_add(left)).wrapping_mul(8);
        let mut places = [0u32; LANES];
        for lane in 0..LANES {
            let row = (y(lane) as u32).wrapping_mul(PITCH);
            places[lane] = row.wrapping_add(x(lane) as u32).wrapping_sub(first);
        }
        places
    }

    /// The texels at `places`.
    #[inline(always)]
    fn corner(&self, places: &Lanes) -> Lanes {
        let mut out = [0; LANES];
        for (out, place) in out.iter_mut().zip(places) {
            *out = self.texels[*place as usize & LAST_PLACE];
        }
        out
    }

    /// Texel `below` rows below `place`, and its right neighbour, in the low half: one load for both.
    #[inline(always)]
    fn pair(texels: &[u8], place: u32, below: u32) -> u64 {
        let at = 4 * ((place as usize & LAST_PLACE) + (below * PITCH) as usize);
        let mut bytes = [0; 8];
        bytes.copy_from_slice(&texels[at..at + 8]);
        let pair = u64::from_ne_bytes(bytes);
        match cfg!(target_endian = "big") {
            true => pair.rotate_left(32),
            false => pair,
        }
    }

    /// The texels at `places`, and their right neighbours; those below them, too, if `ROWS` is 2.
    #[inline(always)]
    fn rows<const ROWS: usize>(&self, places: &Lanes) -> [[Lanes; 2]; ROWS] {
        let texels: &[u8] = bytemuck::cast_slice(self.texels);
        let mut out = [[[0; LANES]; 2]; ROWS];
        // By number: an iterator in steps is not taken apart here.
        for group in 0..LANES / 4 {
            let lanes = 4 * group;
            for (row, out) in out.iter_mut().enumerate() {
                let mut pairs = [0; 4];
                for i in 0..4 {
                    pairs[i] = Self::pair(texels, places[lanes + i], row as u32);
                }
                for i in 0..4 {
                    out[0][lanes + i] = pairs[i] as u32;
                    out[1][lanes + i] = (pairs[i] >> 32) as u32;
                }
            }
        }
        out
    }

    /// The texels at the corners of each lane's filter.
    #[inline(always)]
    fn corners(&self) -> [Lanes; 4] {
        match self.places {
            Places::Fixed([x, y]) => {
                let (x, y) = (|lane: usize| x[lane] >> 8, |lane: usize| y[lane] >> 8);
                let first = self.places(x, y);
                if !self.linear {
                    return [self.corner(&first); 4];
                }
                let [above, below] = self.rows::<2>(&first);
                [above[0], above[1], below[0], below[1]]
            }
            Places::Axes([x, y]) => {
                let columns = [&x.first, &x.second].map(|texels| |lane: usize| texels[lane]);
                let rows = [&y.first, &y.second].map(|texels| |lane: usize| texels[lane]);
                if !self.linear {
                    return [self.corner(&self.places(columns[0], rows[0])); 4];
                }
                if self.patch.adjacent {
                    let [above] = self.rows::<1>(&self.places(columns[0], rows[0]));
                    let [below] = self.rows::<1>(&self.places(columns[0], rows[1]));
                    return [above[0], above[1], below[0], below[1]];
                }
                let at = |x: usize, y: usize| self.corner(&self.places(columns[x], rows[y]));
                [at(0, 0), at(1, 0), at(0, 1), at(1, 1)]
            }
        }
    }

    /// The weights of the second column and row, in 1/256.
    #[inline(always)]
    fn weights(&self) -> [Lanes; 2] {
        let mut out = [[0; LANES]; 2];
        for (i, out) in out.iter_mut().enumerate() {
            match self.places {
                Places::Fixed(fixed) => {
                    for lane in 0..LANES {
                        out[lane] = fixed[i][lane] as u32 & 0xFF;
                    }
                }
                Places::Axes(axes) => {
                    for lane in 0..LANES {
                        out[lane] = small_round(axes[i].weight[lane] * 256.0) as u32;
                    }
                }
            }
        }
        out
    }
}

/// Components of the nearest texels, where `to` says that they go.
#[inline(always)]
fn nearest(texels: &Lanes, to: &[Option<usize>; 4], out: &mut [Lanes; 4]) {
    for (component, to) in to.iter().enumerate() {
        let Some(to) = *to else {
            continue;
        };
        for lane in 0..LANES {
            let byte = texels[lane] >> (8 * component) & 0xFF;
            out[to][lane] = (byte as i32 as f32 / 255.0).to_bits();
        }
    }
}

/// Bytes 0 and 2 of a texel.
const EVEN: u32 = 0x00FF_00FF;
/// Texels in 1/256 to 0..1.
const TO_UNIT: f32 = 1.0 / 255.0 / 256.0;

/// Components of the texels at `corners`, mixed by `weights`, where `to` says that they go.
///
/// All is exact up to the division by 255, in whatever order it is done: a texel has 8
/// bits, each weight adds 8. So the columns are mixed as integers, two components in a word.
#[inline(always)]
fn linear(
    corners: &[Lanes; 4],
    weights: &[Lanes; 2],
    to: &[Option<usize>; 4],
    out: &mut [Lanes; 4],
) {
    let [top_left, top_right, left, right] = corners;
    let [x, y] = weights;
    for chunk in 0..LANES / CHUNK {
        let lanes = CHUNK * chunk;
        let above = mix_columns(top_left, top_right, x, lanes);
        let below = mix_columns(left, right, x, lanes);
        for component in 0..4 {
            if let Some(out) = to[component].and_then(|to| out.get_mut(to)) {
                // Components 1 and 3 are in the second words.
                let (above, below) = match component & 1 {
                    0 => (&above.0, &below.0),
                    _ => (&above.1, &below.1),
                };
                mix_rows(above, below, 16 * (component / 2) as u32, y, lanes, out);
            }
        }
    }
}

/// Texels `a` and `b`, side by side, mixed: bytes 0 and 2, and bytes 1 and 3, in 1/256.
#[inline(always)]
fn mix_columns(a: &Lanes, b: &Lanes, weight: &Lanes, lanes: usize) -> ([u32; CHUNK], [u32; CHUNK]) {
    let (mut even, mut odd) = ([0; CHUNK], [0; CHUNK]);
    for i in 0..CHUNK {
        let (a, b, w) = (a[lanes + i], b[lanes + i], weight[lanes + i]);
        let difference = (b & EVEN).wrapping_sub(a & EVEN).wrapping_mul(w);
        even[i] = ((a & EVEN) << 8).wrapping_add(difference);
        let difference = (b >> 8 & EVEN).wrapping_sub(a >> 8 & EVEN).wrapping_mul(w);
        odd[i] = (a & !EVEN).wrapping_add(difference);
    }
    (even, odd)
}

/// The component at bit `shift` of two rows' words, mixed.
#[inline(always)]
fn mix_rows(
    above: &[u32; CHUNK],
    below: &[u32; CHUNK],
    shift: u32,
    weight: &Lanes,
    lanes: usize,
    out: &mut Lanes,
) {
    for i in 0..CHUNK {
        let w = weight[lanes + i] as i32 as f32 * (1.0 / 256.0);
        let above = (above[i] >> shift & 0xFFFF) as i32 as f32;
        let below = (below[i] >> shift & 0xFFFF) as i32 as f32;
        out[lanes + i] = ((above + (below - above) * w) * TO_UNIT).to_bits();
    }
}

/// [`linear`] in the general way's order of operations: there, texels on both sides of a seam
/// are too far apart for the other.
#[inline(always)]
fn seam(corners: &[Lanes; 4], weights: &[Lanes; 2], to: &[Option<usize>; 4], out: &mut [Lanes; 4]) {
    for (component, to) in to.iter().enumerate() {
        let Some(to) = *to else {
            continue;
        };
        for lane in 0..LANES {
            let mut t = [0.0; 4];
            for (t, corner) in t.iter_mut().zip(corners) {
                *t = (corner[lane] >> (8 * component) & 0xFF) as i32 as f32 / 255.0;
            }
            let wx = weights[0][lane] as i32 as f32 * (1.0 / 256.0);
            let wy = weights[1][lane] as i32 as f32 * (1.0 / 256.0);
            let (vx, vy) = (1.0 - wx, 1.0 - wy);
            let sum = vx * vy * t[0] + wx * vy * t[1] + vx * wy * t[2] + wx * wy * t[3];
            out[to][lane] = sum.to_bits();
        }
    }
}

impl WithSimd for Bilinear<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _simd: S) {
        let corners = self.corners();
        // The first place each component goes to; the others copy.
        let mut to = [None; 4];
        for (i, select) in self.swizzle.iter().enumerate().rev() {
            if let Some(to) = to.get_mut(usize::from(*select)) {
                *to = Some(i);
            }
        }
        if !self.linear {
            nearest(&corners[0], &to, self.out);
        } else if self.patch.turned {
            seam(&corners, &self.weights(), &to, self.out);
        } else {
            linear(&corners, &self.weights(), &to, self.out);
        }
        for (i, select) in self.swizzle.iter().enumerate() {
            match select {
                0..=3 => {
                    let from = to[usize::from(*select)].unwrap_or(i);
                    if from != i {
                        self.out[i] = self.out[from];
                    }
                }
                5 => self.out[i] = [1f32.to_bits(); LANES],
                _ => self.out[i] = [0; LANES],
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
