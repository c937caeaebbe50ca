// SPDX-License-Identifier: MIT
//! The fast path of targets with four bytes a pixel (`COLOR_8_8_8_8`, unsigned
//! normalised), the format of nearly every window.
//!
//! It does the arithmetic of [`super::blend`] and [`super::pack`], bit for bit, in
//! one pass over a tile, for the blend equations that desktops use. All others
//! take the general path.

use pulp::{bytemuck, Simd, WithSimd};

use super::blend::{Blend, Equation, Factor, Function};
use super::pack::{to_byte, unit_to_byte};
use crate::chip::gfx::lanes::{chunks, expand, select, Lanes, Mask, ALL, CHUNK, LANES};
use crate::chip::tiling::{ElementTable, WORD_GROUPS};

/// Bytes of a tile.
pub const TILE_BYTES: usize = LANES * 4;

/// How a fast-path target combines source and destination.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Mode {
    /// The source replaces the destination.
    Copy,
    /// Source over destination. The destination's factor is `ONE_MINUS_SRC_ALPHA`, the source's is
    /// `SRC_ALPHA` or, with a flag, `ONE`. The source is clamped to 0..1.
    Over {
        /// The factor of the source's colours is `ONE`.
        colour_one: bool,
        /// The factor of the source's alpha is `ONE`.
        alpha_one: bool,
    },
}

/// State of a fast-path target.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Packed {
    /// Lowest bit of each component of the shader in a pixel.
    pub shift: [u32; 4],
    /// How source and destination are combined.
    pub mode: Mode,
    /// Elements are in the order of displayable surfaces of 32 bits.
    pub word_order: bool,
}

impl Mode {
    /// The mode of a blend state; none if the fast path does not have it.
    pub fn of(blend: Option<&Blend>) -> Option<Self> {
        let Some(blend) = blend else {
            return Some(Mode::Copy);
        };
        let over = |e: &Equation| match (e.src, e.dst, e.function) {
            (Factor::SrcAlpha, Factor::OneMinusSrcAlpha, Function::Add) => Some(false),
            (Factor::One, Factor::OneMinusSrcAlpha, Function::Add) => Some(true),
            _ => None,
        };
        (blend.clamp == Some((0.0, 1.0))).then_some(())?;
        Some(Mode::Over {
            colour_one: over(&blend.colour)?,
            alpha_one: over(&blend.alpha)?,
        })
    }
}

/// Merges colours into a tile in memory order.
pub struct Merge<'a> {
    /// The target.
    pub packed: &'a Packed,
    /// Bits of a pixel that do not change.
    pub kept: u32,
    /// Red to alpha, lanes in quad order.
    pub src: &'a [&'a Lanes; 4],
    /// Pixels that are written.
    pub mask: Mask,
    /// The elements' order ([`crate::chip::tiling::Layout::lanes`]).
    pub order: &'a ElementTable,
    /// The tile: in, the old bytes; out, the new ones.
    pub data: &'a mut [u8; TILE_BYTES],
}

impl WithSimd for Merge<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(mut self, _simd: S) {
        if self.packed.word_order {
            // Eight lanes are eight consecutive elements.
            self.pixels::<true>();
            return;
        }
        let lanes = load(self.data, false, self.order);
        store_words(&lanes, self.data);
        self.pixels::<false>();
        let lanes = load_words(self.data);
        store(&lanes, false, self.order, self.data);
    }
}

impl Merge<'_> {
    /// Merges the tile's pixels. They are in the order of displayable surfaces, else of lanes.
    #[inline(always)]
    fn pixels<const WORD_ORDER: bool>(&mut self) {
        match self.packed.mode {
            Mode::Copy => self.mode::<WORD_ORDER, false, false, false>(),
            Mode::Over {
                colour_one: false,
                alpha_one: false,
            } => self.mode::<WORD_ORDER, true, false, false>(),
            Mode::Over {
                colour_one: true,
                alpha_one: true,
            } => self.mode::<WORD_ORDER, true, true, true>(),
            Mode::Over {
                colour_one: false,
                alpha_one: true,
            } => self.mode::<WORD_ORDER, true, false, true>(),
            Mode::Over {
                colour_one: true,
                alpha_one: false,
            } => self.mode::<WORD_ORDER, true, true, false>(),
        }
    }

    #[inline(always)]
    fn mode<
        const WORD_ORDER: bool,
        const OVER: bool,
        const COLOUR_ONE: bool,
        const ALPHA_ONE: bool,
    >(
        &mut self,
    ) {
        // Copies: the compiler reloads data behind references after each store.
        let (src, shift) = (&{ *self.src }, &self.packed.shift.map(|bits| bits & 31));
        let all = self.mask == ALL && self.kept == 0;
        for at in chunks(self.mask) {
            let data = &mut self.data[at * 4 * CHUNK..(at + 1) * 4 * CHUNK];
            let old = load_chunk::<WORD_ORDER>(data);
            let mut new = match OVER {
                false => copy(src, shift, at),
                true => over::<COLOUR_ONE, ALPHA_ONE>(src, shift, at, &old),
            };
            if !all {
                let lanes = self.mask >> (CHUNK * at);
                for i in 0..CHUNK {
                    let written = u32::from(lanes as u32 & 1 << i != 0).wrapping_neg();
                    let stays = !written | self.kept;
                    new[i] = new[i] & !stays | old[i] & stays;
                }
            }
            store_chunk::<WORD_ORDER>(&new, data);
        }
    }
}

/// Converts elements of 32 bits in displayable order to lanes, or lanes to that order: swaps the
/// upper two bits of the index in a group of eight.
const SWAP: [usize; CHUNK] = [0, 1, 4, 5, 2, 3, 6, 7];

#[inline(always)]
fn swap_chunk<const WORD_ORDER: bool>(from: &[u32; CHUNK]) -> [u32; CHUNK] {
    let mut to = *from;
    if WORD_ORDER {
        for i in 0..CHUNK {
            to[i] = from[SWAP[i]];
        }
    }
    to
}

#[inline(always)]
fn load_chunk<const WORD_ORDER: bool>(data: &[u8]) -> [u32; CHUNK] {
    // Copied at once: from loads of words the compiler made narrower loads for each component.
    let mut bytes = [0; 4 * CHUNK];
    bytes.copy_from_slice(data);
    let mut words: [u32; CHUNK] = bytemuck::cast(bytes);
    for word in &mut words {
        *word = u32::from_le(*word);
    }
    swap_chunk::<WORD_ORDER>(&words)
}

#[inline(always)]
fn store_chunk<const WORD_ORDER: bool>(lanes: &[u32; CHUNK], data: &mut [u8]) {
    let words = swap_chunk::<WORD_ORDER>(lanes);
    for (word, b) in words.iter().zip(data.chunks_exact_mut(4)) {
        b.copy_from_slice(&word.to_le_bytes());
    }
}

/// Restores `old` in `new`: in the lanes outside of `mask`, and in the bits of `kept`.
#[inline(always)]
fn keep(new: &mut Lanes, old: &Lanes, mask: Mask, kept: u32) {
    let stays = expand(mask).map(|written| !written | kept);
    select(new, old, &stays);
}

#[inline(always)]
fn chunk(lanes: &Lanes, at: usize) -> [f32; CHUNK] {
    let mut out = [0.0; CHUNK];
    for i in 0..CHUNK {
        out[i] = f32::from_bits(lanes[at * CHUNK + i]);
    }
    out
}

/// [`chunk`] of values clamped to 0..1.
#[inline(always)]
fn unit_chunk(lanes: &Lanes, at: usize) -> [f32; CHUNK] {
    let mut out = chunk(lanes, at);
    for v in &mut out {
        *v = v.max(0.0).min(1.0);
    }
    out
}

#[inline(always)]
fn copy(src: &[&Lanes; 4], shift: &[u32; 4], at: usize) -> [u32; CHUNK] {
    let mut words = [0; CHUNK];
    for c in 0..4 {
        let v = chunk(src[c], at);
        for i in 0..CHUNK {
            words[i] |= to_byte(v[i]) << shift[c];
        }
    }
    words
}

#[inline(always)]
fn over<const COLOUR_ONE: bool, const ALPHA_ONE: bool>(
    src: &[&Lanes; 4],
    shift: &[u32; 4],
    at: usize,
    old: &[u32; CHUNK],
) -> [u32; CHUNK] {
    let alpha = unit_chunk(src[3], at);
    let mut rest = [0.0; CHUNK];
    for i in 0..CHUNK {
        rest[i] = 1.0 - alpha[i];
    }
    let mut words = [0; CHUNK];
    for c in 0..4 {
        let v = match c {
            3 => alpha,
            _ => unit_chunk(src[c], at),
        };
        let one = if c == 3 { ALPHA_ONE } else { COLOUR_ONE };
        for i in 0..CHUNK {
            let s = if one { v[i] } else { v[i] * alpha[i] };
            let d = (old[i] >> shift[c] & 0xFF) as i32 as f32 * (1.0 / 255.0);
            let sum = s + d * rest[i];
            // No clamp: the products are at most alpha and 1 - alpha, and the rounded sum of
            // these is 1.
            let byte = if one { to_byte(sum) } else { unit_to_byte(sum) };
            words[i] |= byte << shift[c];
        }
    }
    words
}

/// The words of a tile.
#[inline(always)]
fn load_words(data: &[u8; TILE_BYTES]) -> Lanes {
    let mut words = [0; LANES];
    for (word, b) in words.iter_mut().zip(data.chunks_exact(4)) {
        *word = u32::from_le_bytes([b[0], b[1], b[2], b[3]]);
    }
    words
}

#[inline(always)]
fn store_words(words: &Lanes, data: &mut [u8; TILE_BYTES]) {
    for (word, b) in words.iter().zip(data.chunks_exact_mut(4)) {
        b.copy_from_slice(&word.to_le_bytes());
    }
}

#[inline(always)]
fn swap(from: &Lanes) -> Lanes {
    let mut to = [0; LANES];
    for (to, from) in to.chunks_exact_mut(8).zip(from.chunks_exact(8)) {
        for i in 0..8 {
            to[i] = from[SWAP[i]];
        }
    }
    to
}

/// The elements of a tile, by lane.
#[inline(always)]
pub fn load(data: &[u8; TILE_BYTES], word_order: bool, order: &ElementTable) -> Lanes {
    let words = load_words(data);
    if word_order {
        return swap(&words);
    }
    let mut lanes = [0; LANES];
    for (lane, element) in lanes.iter_mut().zip(order) {
        *lane = words[usize::from(element & 63)];
    }
    lanes
}

/// The reverse of [`load`].
#[inline(always)]
pub fn store(lanes: &Lanes, word_order: bool, order: &ElementTable, data: &mut [u8; TILE_BYTES]) {
    let mut words = [0; LANES];
    if word_order {
        words = swap(lanes);
    } else {
        for (lane, element) in lanes.iter().zip(order) {
            words[usize::from(element & 63)] = *lane;
        }
    }
    store_words(&words, data);
}

/// How the bytes of a texel become the bytes of a pixel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Moves {
    /// Shifts of each component's byte, in bits: first right, then left.
    shift: [(u32, u32); 4],
    /// Mask of each component after the shift right: 0xFF, or 0 if it is constant.
    bits: [u32; 4],
    /// The bits of components that are the constant 1.
    ones: u32,
    /// The pixel's bytes are the texel's, in the same order.
    same: bool,
}

impl Moves {
    /// `swizzle` selects a byte (0 to 3), 0 (4) or 1 (5) for each component. The component begins
    /// at bit `to` of a pixel.
    pub fn new(swizzle: &[u8; 4], to: &[u32; 4]) -> Self {
        let mut moves = Self {
            shift: [(0, 0); 4],
            bits: [0; 4],
            ones: 0,
            same: true,
        };
        for c in 0..4 {
            match swizzle[c] {
                from @ 0..=3 => {
                    moves.shift[c] = (8 * u32::from(from), to[c] & 31);
                    moves.bits[c] = 0xFF;
                    moves.same &= 8 * u32::from(from) == to[c];
                }
                5 => (moves.ones, moves.same) = (moves.ones | 0xFF << (to[c] & 31), false),
                _ => moves.same = false,
            }
        }
        moves
    }

    /// Whether the pixel's bytes are the texel's, in the same order.
    pub fn is_same(&self) -> bool {
        self.same
    }
}

/// Writes texels to a tile in the order of displayable surfaces of 32 bits. Moves bytes: the
/// conversion to 0..1 and back, by texture unit and target, would give the same bytes.
pub struct Move<'a> {
    /// How to move bytes.
    pub moves: &'a Moves,
    /// 8x8 texels, row by row.
    pub texels: &'a Lanes,
    /// The tile.
    pub data: &'a mut [u8; TILE_BYTES],
}

impl WithSimd for Move<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _simd: S) {
        let moves = self.moves;
        let mut pixels = *self.texels;
        if !moves.same {
            for pixel in &mut pixels {
                let texel = *pixel;
                *pixel = moves.ones;
                for c in 0..4 {
                    let (right, left) = moves.shift[c];
                    *pixel |= (texel >> right & moves.bits[c]) << left;
                }
            }
        }
        for (i, group) in pixels.chunks_exact(4).enumerate() {
            let at = 16 * WORD_GROUPS[i];
            for (b, pixel) in self.data[at..at + 16].chunks_exact_mut(4).zip(group) {
                b.copy_from_slice(&pixel.to_le_bytes());
            }
        }
    }
}

/// Writes the average of each pixel's samples to a tile in memory order.
pub struct Average<'a> {
    /// The bytes of each sample, in memory order.
    pub planes: &'a [[u8; TILE_BYTES]],
    /// Lowest bit of each component in the source.
    pub from: [u32; 4],
    /// Lowest bit of each component in the target.
    pub to: [u32; 4],
    /// The orders of source and target: [`Packed::word_order`] and the table.
    pub orders: [(bool, &'a ElementTable); 2],
    /// Bits of a pixel that do not change.
    pub kept: u32,
    /// Pixels that are written.
    pub mask: Mask,
    /// The target's tile: in, the old bytes; out, the new ones.
    pub data: &'a mut [u8; TILE_BYTES],
}

impl WithSimd for Average<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _simd: S) {
        let mut lanes = [[0; LANES]; 8];
        let [source, target] = self.orders;
        let lanes = &mut lanes[..self.planes.len().min(8)];
        for (lanes, plane) in lanes.iter_mut().zip(self.planes) {
            *lanes = load(plane, source.0, source.1);
        }
        let mut new = [0; LANES];
        let scale = 1.0 / self.planes.len() as f32;
        for at in 0..LANES / CHUNK {
            let mut sums = [[0.0; CHUNK]; 4];
            for plane in lanes.iter() {
                let plane = &plane[at * CHUNK..(at + 1) * CHUNK];
                for c in 0..4 {
                    for i in 0..CHUNK {
                        let v = plane[i] >> self.from[c] & 0xFF;
                        sums[c][i] += v as i32 as f32 * (1.0 / 255.0);
                    }
                }
            }
            let mut words = [0; CHUNK];
            for c in 0..4 {
                for i in 0..CHUNK {
                    words[i] |= to_byte(sums[c][i] * scale) << self.to[c];
                }
            }
            new[at * CHUNK..(at + 1) * CHUNK].copy_from_slice(&words);
        }
        if self.mask != ALL || self.kept != 0 {
            let old = load(self.data, target.0, target.1);
            keep(&mut new, &old, self.mask, self.kept);
        }
        store(&new, target.0, target.1, self.data);
    }
}
