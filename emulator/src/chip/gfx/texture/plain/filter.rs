// SPDX-License-Identifier: MIT
//! The filter of the fast path: from texels of a patch to colours. It computes the results of
//! eight lanes at a time, so that intermediate values stay in registers.

use pulp::{bytemuck, Simd, WithSimd};

use super::super::address::{small_round, Axis, Index};
use super::super::patch::{LAST_PLACE, PATCH, PITCH, SIDE};
use super::Patch;
use crate::chip::gfx::lanes::{expand, first, Lanes, Mask, ALL, CHUNK, LANES};

/// A value of each lane of a step.
pub(super) type Chunk = [u32; CHUNK];
/// For each component of a texel, the component of the result; none if the result does not have it.
pub(super) type To = [Option<usize>; 4];

/// The first component of the result for each component of a texel; others [copy it](swizzled).
#[inline(always)]
pub(super) fn components(swizzle: &[u8; 4]) -> To {
    let mut to = [None; 4];
    for (i, select) in swizzle.iter().enumerate().rev() {
        if let Some(to) = to.get_mut(usize::from(*select)) {
            *to = Some(i);
        }
    }
    to
}

/// Completes a result of which the components of `to` are there.
#[inline(always)]
pub(super) fn swizzled(swizzle: &[u8; 4], to: &To, out: &mut [Lanes; 4]) {
    for (i, select) in swizzle.iter().enumerate() {
        match select {
            0..=3 => {
                let from = to[usize::from(*select)].unwrap_or(i);
                if from != i {
                    out[i] = out[from];
                }
            }
            5 => out[i] = [1f32.to_bits(); LANES],
            _ => out[i] = [0; LANES],
        }
    }
}

/// Positions of each lane's texels.
pub(super) enum Places<'a> {
    /// From [`super::Find::inside`].
    Fixed(&'a [Index; 2]),
    /// From [`super::Find::wrapped`].
    Axes(&'a [Axis; 2]),
}

/// Bilinear filter over a patch. Without `linear` it takes the first texel of each axis.
pub(super) struct Bilinear<'a> {
    pub(super) texels: &'a [u32; PATCH],
    pub(super) patch: &'a Patch,
    pub(super) places: Places<'a>,
    pub(super) linear: bool,
    pub(super) swizzle: &'a [u8; 4],
    pub(super) mask: Mask,
    pub(super) out: &'a mut [Lanes; 4],
}

/// The place in the patch of texel (`x`, `y`).
#[inline(always)]
fn place(x: i32, y: i32) -> u32 {
    (y as u32 & (SIDE - 1)) * PITCH + (x as u32 & (SIDE - 1))
}

/// Texels in the patch.
struct Texels<'a>(&'a [u32; PATCH]);

impl Texels<'_> {
    /// The texels at `places`.
    #[inline(always)]
    fn one(&self, places: &Chunk) -> Chunk {
        let mut out = [0; CHUNK];
        for i in 0..CHUNK {
            out[i] = self.0[places[i] as usize & LAST_PLACE];
        }
        out
    }

    /// The texels `below` rows below `places`, and their right neighbours: one load for both.
    #[inline(always)]
    fn two(&self, places: &Chunk, below: u32) -> [Chunk; 2] {
        let texels: &[u8] = bytemuck::cast_slice(self.0);
        let mut pairs = [0; CHUNK];
        for i in 0..CHUNK {
            let at = 4 * ((places[i] as usize & LAST_PLACE) + (below * PITCH) as usize);
            let mut bytes = [0; 8];
            bytes.copy_from_slice(&texels[at..at + 8]);
            pairs[i] = u64::from_ne_bytes(bytes);
        }
        let (mut first, mut second) = ([0; CHUNK], [0; CHUNK]);
        for i in 0..CHUNK {
            first[i] = pairs[i] as u32;
            second[i] = (pairs[i] >> 32) as u32;
        }
        match cfg!(target_endian = "big") {
            true => [second, first],
            false => [first, second],
        }
    }
}

/// Finds texels and weights of the lanes from `lane` on.
trait Taps {
    /// The first texel of each axis.
    fn nearest(&self, texels: &Texels<'_>, lane: usize) -> Chunk;
    /// Top left, top right, bottom left, bottom right.
    fn corners(&self, texels: &Texels<'_>, lane: usize) -> [Chunk; 4];
    /// Weights of the second column and row, in 1/256.
    fn weights(&self, lane: usize) -> [Chunk; 2];
}

/// Texels inside the texture: the others are right of and below the first.
struct Inside<'a>(&'a [Index; 2]);

impl Inside<'_> {
    #[inline(always)]
    fn places(&self, lane: usize) -> Chunk {
        let [x, y] = self.0;
        let mut places = [0; CHUNK];
        for i in 0..CHUNK {
            places[i] = place(x[lane + i] >> 8, y[lane + i] >> 8);
        }
        places
    }
}

impl Taps for Inside<'_> {
    #[inline(always)]
    fn nearest(&self, texels: &Texels<'_>, lane: usize) -> Chunk {
        texels.one(&self.places(lane))
    }

    #[inline(always)]
    fn corners(&self, texels: &Texels<'_>, lane: usize) -> [Chunk; 4] {
        let places = self.places(lane);
        let [top_left, top_right] = texels.two(&places, 0);
        let [left, right] = texels.two(&places, 1);
        [top_left, top_right, left, right]
    }

    #[inline(always)]
    fn weights(&self, lane: usize) -> [Chunk; 2] {
        let mut out = [[0; CHUNK]; 2];
        for i in 0..CHUNK {
            out[0][i] = self.0[0][lane + i] as u32 & 0xFF;
            out[1][i] = self.0[1][lane + i] as u32 & 0xFF;
        }
        out
    }
}

/// Texels after wrapping; if `ADJACENT`, the second of a row is right of the first.
struct Wrapped<'a, const ADJACENT: bool>(&'a [Axis; 2]);

impl<const ADJACENT: bool> Wrapped<'_, ADJACENT> {
    #[inline(always)]
    fn places(&self, x: &Index, y: &Index, lane: usize) -> Chunk {
        let mut places = [0; CHUNK];
        for i in 0..CHUNK {
            places[i] = place(x[lane + i], y[lane + i]);
        }
        places
    }
}

impl<const ADJACENT: bool> Taps for Wrapped<'_, ADJACENT> {
    #[inline(always)]
    fn nearest(&self, texels: &Texels<'_>, lane: usize) -> Chunk {
        let [x, y] = self.0;
        texels.one(&self.places(&x.first, &y.first, lane))
    }

    #[inline(always)]
    fn corners(&self, texels: &Texels<'_>, lane: usize) -> [Chunk; 4] {
        let [x, y] = self.0;
        let first = self.places(&x.first, &y.first, lane);
        let second = self.places(&x.first, &y.second, lane);
        if ADJACENT {
            let [top_left, top_right] = texels.two(&first, 0);
            let [left, right] = texels.two(&second, 0);
            return [top_left, top_right, left, right];
        }
        let top_right = self.places(&x.second, &y.first, lane);
        let right = self.places(&x.second, &y.second, lane);
        [
            texels.one(&first),
            texels.one(&top_right),
            texels.one(&second),
            texels.one(&right),
        ]
    }

    #[inline(always)]
    fn weights(&self, lane: usize) -> [Chunk; 2] {
        let mut out = [[0; CHUNK]; 2];
        for i in 0..CHUNK {
            out[0][i] = small_round(self.0[0].weight[lane + i] * 256.0) as u32;
            out[1][i] = small_round(self.0[1].weight[lane + i] * 256.0) as u32;
        }
        out
    }
}

/// How texels become a colour.
#[derive(Clone, Copy)]
enum Mix {
    Nearest,
    Linear,
}

/// Writes the components of the nearest texels to `out`.
#[inline(always)]
fn nearest(texels: &Chunk, to: &To, lane: usize, out: &mut [Lanes; 4]) {
    for component in 0..4 {
        if let Some(out) = to[component].and_then(|to| out.get_mut(to)) {
            for i in 0..CHUNK {
                let byte = texels[i] >> (8 * component) & 0xFF;
                out[lane + i] = (byte as i32 as f32 / 255.0).to_bits();
            }
        }
    }
}

/// Bytes 0 and 2 of a texel.
const EVEN: u32 = 0x00FF_00FF;
/// Factor from texels in 1/256 to 0..1.
const TO_UNIT: f32 = 1.0 / 255.0 / 256.0;

/// Writes the components of the texels at `corners`, mixed by `weights`, to `out`.
///
/// All steps before the division by 255 are exact, in any order: a texel has 8 bits, each weight
/// adds 8. So the columns are mixed as integers, two components in a word.
#[inline(always)]
pub(super) fn linear(
    corners: &[Chunk; 4],
    weights: &[Chunk; 2],
    to: &To,
    lane: usize,
    out: &mut [Lanes; 4],
) {
    let [top_left, top_right, left, right] = corners;
    let [x, y] = weights;
    let above = mix_columns(top_left, top_right, x);
    let below = mix_columns(left, right, x);
    let mut w = [0.0; CHUNK];
    for i in 0..CHUNK {
        w[i] = y[i] as i32 as f32 * (1.0 / 256.0);
    }
    for component in 0..4 {
        if let Some(out) = to[component].and_then(|to| out.get_mut(to)) {
            // Components 1 and 3 are in the second words.
            let (above, below) = match component & 1 {
                0 => (&above.0, &below.0),
                _ => (&above.1, &below.1),
            };
            let shift = 16 * (component / 2) as u32;
            for i in 0..CHUNK {
                let above = (above[i] >> shift & 0xFFFF) as i32 as f32;
                let below = (below[i] >> shift & 0xFFFF) as i32 as f32;
                out[lane + i] = ((above + (below - above) * w[i]) * TO_UNIT).to_bits();
            }
        }
    }
}

/// Mixes the neighbouring texels `a` and `b`: bytes 0 and 2, and bytes 1 and 3, in 1/256.
#[inline(always)]
fn mix_columns(a: &Chunk, b: &Chunk, weight: &Chunk) -> (Chunk, Chunk) {
    let (mut even, mut odd) = ([0; CHUNK], [0; CHUNK]);
    for i in 0..CHUNK {
        let (a, b, w) = (a[i], b[i], weight[i]);
        let difference = (b & EVEN).wrapping_sub(a & EVEN).wrapping_mul(w);
        even[i] = ((a & EVEN) << 8).wrapping_add(difference);
        let difference = (b >> 8 & EVEN).wrapping_sub(a >> 8 & EVEN).wrapping_mul(w);
        odd[i] = (a & !EVEN).wrapping_add(difference);
    }
    (even, odd)
}

/// Computes the colours of the chunks of lanes that have one of `mask`.
#[inline(always)]
fn mix<T: Taps>(
    taps: &T,
    texels: &Texels<'_>,
    mix: Mix,
    to: &To,
    mask: Mask,
    out: &mut [Lanes; 4],
) {
    for chunk in 0..LANES / CHUNK {
        let lane = CHUNK * chunk;
        if mask >> lane & first(CHUNK) == 0 {
            continue;
        }
        match mix {
            Mix::Nearest => nearest(&taps.nearest(texels, lane), to, lane, out),
            Mix::Linear => {
                let corners = taps.corners(texels, lane);
                linear(&corners, &taps.weights(lane), to, lane, out);
            }
        }
    }
}

impl WithSimd for Bilinear<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _simd: S) {
        let texels = Texels(self.texels);
        let to = components(self.swizzle);
        let (out, mask) = (&mut *self.out, self.mask);
        let linear = self.linear;
        match self.places {
            Places::Fixed(fixed) if linear => {
                mix(&Inside(fixed), &texels, Mix::Linear, &to, mask, out)
            }
            Places::Fixed(fixed) => mix(&Inside(fixed), &texels, Mix::Nearest, &to, mask, out),
            Places::Axes(axes) => {
                let taps = Wrapped::<false>(axes);
                match (linear, self.patch.adjacent) {
                    (false, _) => mix(&taps, &texels, Mix::Nearest, &to, mask, out),
                    (true, false) => mix(&taps, &texels, Mix::Linear, &to, mask, out),
                    (true, true) => {
                        let taps = Wrapped::<true>(axes);
                        mix(&taps, &texels, Mix::Linear, &to, mask, out);
                    }
                }
            }
        }
        swizzled(self.swizzle, &to, self.out);
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
