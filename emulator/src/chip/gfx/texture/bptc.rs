// SPDX-License-Identifier: MIT
//! Compressed blocks of 4x4 texels: BPTC (BC6 and BC7), which Evergreen and later have.
//!
//! Layout of the blocks: ARB_texture_compression_bptc. A block has a mode, which tells how many bits its
//! endpoints and indices have, and into how many subsets its texels are divided.

#[rustfmt::skip] // Rows of a block's texels, or of fields.
mod tables;

use self::tables::{ANCHOR_OF_THREE, ANCHOR_OF_TWO, HALVES, IN_THREE, IN_TWO, LAST_ANCHOR};
use super::block::Texel;
use crate::chip::gfx::format::{decode_float, srgb_to_linear, DataFormat};

/// A block's texels, row by row.
pub type Texels = [Texel; 16];

/// Decodes a block of BC6 (`signed` or not) or BC7 (`degamma`: its colours from sRGB to linear). None for
/// other formats.
pub fn decode(format: DataFormat, block: &[u8; 16], signed: bool, degamma: bool) -> Option<Texels> {
    let bits = Bits(u128::from_le_bytes(*block));
    match format {
        DataFormat::BC6 => Some(halves(bits, signed)),
        DataFormat::BC7 => Some(bytes(bits).map(|texel| {
            let code = |c: usize| u32::from(texel[c]);
            let norm = |c: usize| code(c) as f32 / 255.0;
            let colour = |c: usize| match degamma {
                true => srgb_to_linear(code(c), 8),
                false => norm(c),
            };
            [colour(0), colour(1), colour(2), norm(3)]
        })),
        _ => None,
    }
}

/// The bits of a block that have not been read.
struct Bits(u128);

impl Bits {
    /// The next `count` bits, at most 16.
    fn take(&mut self, count: u32) -> u32 {
        let value = self.0 as u32 & ((1 << count) - 1);
        self.0 >>= count;
        value
    }
}

/// How the texels are divided into subsets.
#[derive(Clone, Copy)]
struct Partition {
    subsets: usize,
    number: usize,
}

impl Partition {
    fn subset(self, texel: usize) -> usize {
        match self.subsets {
            2 => usize::from(IN_TWO[self.number] >> texel & 1),
            3 => (IN_THREE[self.number] >> (2 * texel) & 3) as usize,
            _ => 0,
        }
    }

    /// Whether the upper bit of the texel's index is 0 and not stored.
    fn is_anchor(self, texel: usize) -> bool {
        let is = |anchors: &[u8; 64]| usize::from(anchors[self.number]) == texel;
        texel == 0
            || match self.subsets {
                2 => is(&ANCHOR_OF_TWO),
                3 => is(&ANCHOR_OF_THREE) || is(&LAST_ANCHOR),
                _ => false,
            }
    }

    /// Reads the index of each texel: `count` bits.
    fn indices(self, bits: &mut Bits, count: u32) -> [usize; 16] {
        std::array::from_fn(|texel| bits.take(count - u32::from(self.is_anchor(texel))) as usize)
    }
}

/// A value between two endpoints by an index of `bits` bits.
fn between(a: i32, b: i32, index: usize, bits: u32) -> i32 {
    const WEIGHTS: [&[i32]; 3] = [
        &[0, 21, 43, 64],
        &[0, 9, 18, 27, 37, 46, 55, 64],
        &[0, 4, 9, 13, 17, 21, 26, 30, 34, 38, 43, 47, 51, 55, 60, 64],
    ];
    let weight = WEIGHTS[bits as usize - 2][index];
    ((64 - weight) * a + weight * b + 32) >> 6
}

/// A mode of BC7.
struct Mode {
    subsets: usize,
    partition: u32,
    rotation: u32,
    /// Bits that say which indices are the colour's.
    selection: u32,
    colour: u32,
    alpha: u32,
    /// Lowest bits of the endpoints: one for each, or one for both of a subset.
    lowest: Lowest,
    index: u32,
    second_index: u32,
}

#[derive(Clone, Copy, PartialEq)]
enum Lowest {
    None,
    Each,
    Subset,
}

const MODES: [Mode; 8] = {
    const fn mode(
        shape: [u32; 4],
        colour: u32,
        alpha: u32,
        lowest: Lowest,
        index: [u32; 2],
    ) -> Mode {
        let [subsets, partition, rotation, selection] = shape;
        let [index, second_index] = index;
        Mode {
            subsets: subsets as usize,
            partition,
            rotation,
            selection,
            colour,
            alpha,
            lowest,
            index,
            second_index,
        }
    }
    [
        mode([3, 4, 0, 0], 4, 0, Lowest::Each, [3, 0]),
        mode([2, 6, 0, 0], 6, 0, Lowest::Subset, [3, 0]),
        mode([3, 6, 0, 0], 5, 0, Lowest::None, [2, 0]),
        mode([2, 6, 0, 0], 7, 0, Lowest::Each, [2, 0]),
        mode([1, 0, 2, 1], 5, 6, Lowest::None, [2, 3]),
        mode([1, 0, 2, 0], 7, 8, Lowest::None, [2, 2]),
        mode([1, 0, 0, 0], 7, 7, Lowest::Each, [4, 0]),
        mode([2, 6, 0, 0], 5, 5, Lowest::Each, [2, 0]),
    ]
};

/// BC7. Blocks of no mode are 0.
fn bytes(mut bits: Bits) -> [[u8; 4]; 16] {
    let number = bits.0.trailing_zeros() as usize;
    let Some(mode) = MODES.get(number) else {
        return [[0; 4]; 16];
    };
    bits.take(number as u32 + 1);
    let partition = Partition {
        subsets: mode.subsets,
        number: bits.take(mode.partition) as usize,
    };
    let rotation = bits.take(mode.rotation) as usize;
    let swapped = bits.take(mode.selection) == 1;
    let ends = endpoints(mode, &mut bits);
    let first = partition.indices(&mut bits, mode.index);
    let second = match mode.second_index {
        0 => first,
        count => partition.indices(&mut bits, count),
    };
    let second_bits = mode.second_index.max(if mode.second_index == 0 {
        mode.index
    } else {
        0
    });
    let (mut colour, mut alpha) = ((first, mode.index), (second, second_bits));
    if swapped {
        std::mem::swap(&mut colour, &mut alpha);
    }
    std::array::from_fn(|texel| {
        let [a, b] = ends[partition.subset(texel) % 3];
        let mut out: [u8; 4] = std::array::from_fn(|c| {
            let (indices, count) = if c == 3 { alpha } else { colour };
            between(a[c].into(), b[c].into(), indices[texel], count) as u8
        });
        // A component changes places with alpha.
        if rotation != 0 {
            out.swap(rotation - 1, 3);
        }
        out
    })
}

/// Both endpoints of each subset of BC7, of 8 bits a component.
fn endpoints(mode: &Mode, bits: &mut Bits) -> [[[u8; 4]; 2]; 3] {
    let mut ends = [[[0u32; 4]; 2]; 3];
    for c in 0..4 {
        let width = if c == 3 { mode.alpha } else { mode.colour };
        for end in ends[..mode.subsets].as_flattened_mut() {
            end[c] = bits.take(width);
        }
    }
    for subset in &mut ends[..mode.subsets] {
        let both = if mode.lowest == Lowest::Subset {
            bits.take(1)
        } else {
            0
        };
        for end in subset {
            let lowest = match mode.lowest {
                Lowest::None => continue,
                Lowest::Each => bits.take(1),
                Lowest::Subset => both,
            };
            *end = end.map(|v| v << 1 | lowest);
        }
    }
    let more = u32::from(mode.lowest != Lowest::None);
    ends.map(|subset| {
        subset.map(|end| {
            std::array::from_fn(|c| {
                let width = if c == 3 { mode.alpha } else { mode.colour } + more;
                match (c, mode.alpha) {
                    (3, 0) => 255,
                    // The upper bits again below.
                    _ => (end[c] << (8 - width) | end[c] >> (2 * width - 8)) as u8,
                }
            })
        })
    })
}

/// A mode of BC6.
struct Half {
    /// Its two or five lowest bits.
    code: u32,
    /// All endpoints but the first are differences to it.
    transformed: bool,
    /// Two subsets, else one.
    two: bool,
    /// Bits of an endpoint's component.
    bits: u32,
    /// Bits of the differences' components.
    deltas: [u32; 3],
    /// What follows: endpoint, component, lowest bit, number of bits. Those of the first endpoint from
    /// bit 10 on have the highest first.
    fields: &'static [(usize, usize, u32, u32)],
}

/// Sign-extends the low `bits` bits.
fn signed_of(value: i32, bits: u32) -> i32 {
    value << (32 - bits) >> (32 - bits)
}

/// BC6. Blocks of no mode are black.
fn halves(mut bits: Bits, signed: bool) -> Texels {
    let low = bits.0 as u32;
    let length = if low & 2 == 0 { 2 } else { 5 };
    let code = bits.take(length);
    let Some(mode) = HALVES.iter().find(|mode| mode.code == code) else {
        return [[0.0, 0.0, 0.0, 1.0]; 16];
    };
    let mut ends = [[0i32; 3]; 4];
    for &(end, c, lowest, count) in mode.fields {
        let mut value = bits.take(count);
        if end == 0 && lowest == 10 {
            value = value.reverse_bits() >> (32 - count);
        }
        ends[end][c] |= (value << lowest) as i32;
    }
    let partition = Partition {
        subsets: if mode.two { 2 } else { 1 },
        number: if mode.two { bits.take(5) as usize } else { 0 },
    };
    let ends = absolute(mode, ends, signed);
    let count = if mode.two { 3 } else { 4 };
    let indices = partition.indices(&mut bits, count);
    std::array::from_fn(|texel| {
        let subset = partition.subset(texel);
        let (a, b) = (ends[2 * subset], ends[2 * subset + 1]);
        let half = |c: usize| {
            let [a, b] = [a[c], b[c]].map(|v| spread(v, mode.bits, signed));
            scaled(between(a, b, indices[texel], count), signed)
        };
        let float = |c: usize| f32::from_bits(decode_float(half(c), 16));
        [float(0), float(1), float(2), 1.0]
    })
}

/// The endpoints themselves, of the first and the others' differences to it.
fn absolute(mode: &Half, ends: [[i32; 3]; 4], signed: bool) -> [[i32; 3]; 4] {
    let first = ends[0];
    let mut out = ends;
    for (i, end) in out.iter_mut().enumerate() {
        for c in 0..3 {
            if i > 0 && mode.transformed {
                let sum = first[c] + signed_of(end[c], mode.deltas[c]);
                end[c] = sum & ((1 << mode.bits) - 1);
            }
            if signed {
                end[c] = signed_of(end[c], mode.bits);
            }
        }
    }
    out
}

/// An endpoint of `bits` bits as one of 16, or of 16 with its sign.
fn spread(value: i32, bits: u32, signed: bool) -> i32 {
    if !signed {
        return match value {
            _ if bits >= 15 => value,
            0 => 0,
            v if v == (1 << bits) - 1 => 0xFFFF,
            v => ((v << 16) + 0x8000) >> bits,
        };
    }
    let magnitude = match value.abs() {
        v if bits >= 16 => v,
        0 => 0,
        v if v >= (1 << (bits - 1)) - 1 => 0x7FFF,
        v => ((v << 15) + 0x4000) >> (bits - 1),
    };
    magnitude * value.signum()
}

/// The bits of a half float: the values are scaled to those of finite numbers.
fn scaled(value: i32, signed: bool) -> u32 {
    match (signed, value < 0) {
        (false, _) => (value * 31) as u32 >> 6,
        (true, false) => (value * 31) as u32 >> 5,
        (true, true) => 0x8000 | (-value * 31) as u32 >> 5,
    }
}

#[cfg(test)]
mod tests;
