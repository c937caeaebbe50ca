// SPDX-License-Identifier: MIT
//! Pixels of a micro tile: converts between bytes in the chip's order and
//! lanes, and between elements of a render target and colours.

use super::blend::Colour;
use crate::chip::gfx::format::{
    decode_float, encode_component, linear_to_srgb, srgb_table, srgb_to_linear, unorm, Component,
    DataFormat, ElementFormat, Kind, NumFormat, NumberType, Sign,
};
use crate::chip::gfx::lanes::{Lanes, LANES};
use crate::chip::tiling::ElementTable;

/// The elements of 64 pixels, up to four dwords each. Elements of fewer than 4
/// bytes use the low bits of the first.
pub type Raw = [Lanes; 4];

/// Loads 64 elements of `bytes` bytes from `data`, which holds a tile in the
/// chip's order; `order` has the element of each lane.
#[inline(always)]
pub fn load(data: &[u8], bytes: usize, order: &ElementTable, raw: &mut Raw) {
    match bytes {
        1 => {
            let Some(data) = data.first_chunk::<64>() else {
                return;
            };
            for lane in 0..LANES {
                raw[0][lane] = u32::from(data[usize::from(order[lane] & 63)]);
            }
        }
        2 => {
            let Some(data) = data.first_chunk::<128>() else {
                return;
            };
            for lane in 0..LANES {
                let at = usize::from(order[lane] & 63) * 2;
                raw[0][lane] = u32::from(u16::from_le_bytes([data[at], data[at + 1]]));
            }
        }
        4 => load_words::<1, 256>(data, order, raw),
        8 => load_words::<2, 512>(data, order, raw),
        12 => load_words::<3, 768>(data, order, raw),
        16 => load_words::<4, 1024>(data, order, raw),
        _ => {}
    }
}

#[inline(always)]
fn load_words<const WORDS: usize, const BYTES: usize>(
    data: &[u8],
    order: &ElementTable,
    raw: &mut Raw,
) {
    let Some(data) = data.first_chunk::<BYTES>() else {
        return;
    };
    for lane in 0..LANES {
        let at = usize::from(order[lane] & 63) * WORDS * 4;
        for (word, raw) in raw.iter_mut().enumerate().take(WORDS) {
            let b = &data[at + word * 4..at + word * 4 + 4];
            raw[lane] = u32::from_le_bytes([b[0], b[1], b[2], b[3]]);
        }
    }
}

/// Stores 64 elements: the reverse of [`load`].
#[inline(always)]
pub fn store(raw: &Raw, bytes: usize, order: &ElementTable, data: &mut [u8]) {
    match bytes {
        1 => {
            let Some(data) = data.first_chunk_mut::<64>() else {
                return;
            };
            for lane in 0..LANES {
                data[usize::from(order[lane] & 63)] = raw[0][lane] as u8;
            }
        }
        2 => {
            let Some(data) = data.first_chunk_mut::<128>() else {
                return;
            };
            for lane in 0..LANES {
                let at = usize::from(order[lane] & 63) * 2;
                data[at..at + 2].copy_from_slice(&(raw[0][lane] as u16).to_le_bytes());
            }
        }
        4 => store_words::<1, 256>(raw, order, data),
        8 => store_words::<2, 512>(raw, order, data),
        12 => store_words::<3, 768>(raw, order, data),
        16 => store_words::<4, 1024>(raw, order, data),
        _ => {}
    }
}

#[inline(always)]
fn store_words<const WORDS: usize, const BYTES: usize>(
    raw: &Raw,
    order: &ElementTable,
    data: &mut [u8],
) {
    let Some(data) = data.first_chunk_mut::<BYTES>() else {
        return;
    };
    for lane in 0..LANES {
        let at = usize::from(order[lane] & 63) * WORDS * 4;
        for (word, raw) in raw.iter().enumerate().take(WORDS) {
            data[at + word * 4..at + word * 4 + 4].copy_from_slice(&raw[lane].to_le_bytes());
        }
    }
}

/// Converts colours to elements of one target, and back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Packing {
    format: DataFormat,
    /// `NUMBER_TYPE`.
    pub number: NumberType,
    /// Shader component that each component in memory holds.
    source: [u8; 4],
}

impl Packing {
    /// The packing of `format` with the fields `NUMBER_TYPE` and `COMP_SWAP`.
    pub fn new(format: DataFormat, number: NumberType, swap: u32) -> Self {
        // Standard, alternate, reversed and alternate reversed order, by the
        // number of components (Mesa, r600_translate_colorswap()).
        const SOURCES: [[[u8; 4]; 4]; 4] = [
            [[0, 0, 0, 0], [1, 0, 0, 0], [2, 0, 0, 0], [3, 0, 0, 0]],
            [[0, 1, 0, 0], [0, 3, 0, 0], [1, 0, 0, 0], [3, 0, 0, 0]],
            [[0, 1, 2, 0], [0, 1, 3, 0], [2, 1, 0, 0], [3, 1, 0, 0]],
            [[0, 1, 2, 3], [2, 1, 0, 3], [3, 2, 1, 0], [3, 0, 1, 2]],
        ];
        let count = usize::from(format.layout().count).clamp(1, 4);
        Self {
            format,
            number,
            source: SOURCES[count - 1][(swap & 3) as usize],
        }
    }

    /// Bytes per element.
    pub fn bytes(&self) -> usize {
        self.format.bytes() as usize
    }

    fn components(&self) -> impl Iterator<Item = (usize, Component, usize)> + '_ {
        let layout = self.format.layout();
        (0..usize::from(layout.count))
            .map(move |i| (i, layout.components[i], usize::from(self.source[i] & 3)))
    }

    /// Bits of the element that the components in `write_mask` (bit 0 is red)
    /// occupy.
    pub fn mask(&self, write_mask: u8) -> [u32; 4] {
        let mut mask = [0; 4];
        for (_, c, source) in self.components() {
            if write_mask & (1 << source) != 0 {
                mask[usize::from(c.word & 3)] |= ones(c);
            }
        }
        mask
    }

    /// Bits of the element that any component occupies.
    pub fn all_bits(&self) -> [u32; 4] {
        self.mask(0xF)
    }

    fn is_float(&self) -> bool {
        self.format.layout().kind == Kind::Float || self.number == NumberType::Float
    }

    /// The range of the target's values, to which `BLEND_CLAMP` clamps.
    pub fn range(&self) -> (f32, f32) {
        match self.number {
            NumberType::Snorm => (-1.0, 1.0),
            _ => (0.0, 1.0),
        }
    }

    /// The lowest bit of each component of the shader, if an element is four unsigned normalised
    /// bytes.
    pub fn bytes_of_word(&self) -> Option<[u32; 4]> {
        if self.format != DataFormat::F8_8_8_8 || self.number != NumberType::Unorm {
            return None;
        }
        let mut shift = [0; 4];
        for (_, c, source) in self.components() {
            shift[source] = u32::from(c.shift) & 31;
        }
        Some(shift)
    }

    /// Converts elements to colours. Components that the format lacks are 0, alpha is 1.
    #[inline(always)]
    pub fn unpack(&self, raw: &Raw) -> Colour {
        let mut out = [[0.0; LANES], [0.0; LANES], [0.0; LANES], [1.0; LANES]];
        for (i, c, source) in self.components() {
            let words = &raw[usize::from(c.word & 3)];
            let out = &mut out[source];
            let (shift, mask) = (u32::from(c.shift) & 31, ones_unshifted(c));
            match self.number {
                NumberType::Srgb if source != 3 && c.bits == 8 => {
                    let table = srgb_table();
                    for lane in 0..LANES {
                        out[lane] = table[(words[lane] >> shift & 0xFF) as usize];
                    }
                }
                NumberType::Srgb if source != 3 && !self.is_float() => {
                    for lane in 0..LANES {
                        out[lane] = srgb_to_linear(words[lane] >> shift & mask, c.bits);
                    }
                }
                NumberType::Unorm | NumberType::Srgb if c.bits <= 16 && !self.is_float() => {
                    // Off by at most one unit in the last place from the quotient;
                    // packing the value again gives the same bits.
                    let scale = 1.0 / mask as f32;
                    for lane in 0..LANES {
                        out[lane] = (words[lane] >> shift & mask) as i32 as f32 * scale;
                    }
                }
                _ if self.is_float() => {
                    for lane in 0..LANES {
                        out[lane] =
                            f32::from_bits(decode_float(words[lane] >> shift & mask, c.bits));
                    }
                }
                NumberType::Unorm | NumberType::Srgb => {
                    for lane in 0..LANES {
                        out[lane] = unorm(words[lane] >> shift & mask, c.bits);
                    }
                }
                _ => {
                    let element = self.element_format();
                    for lane in 0..LANES {
                        let bytes = element_bytes(raw, lane);
                        out[lane] = f32::from_bits(element.decode(&bytes)[i]);
                    }
                }
            }
        }
        out
    }

    /// This packing as an [`ElementFormat`], for decoding.
    fn element_format(&self) -> ElementFormat {
        let (num, sign) = match self.number {
            NumberType::Unorm | NumberType::Srgb | NumberType::Float => {
                (NumFormat::Norm, Sign::Unsigned)
            }
            NumberType::Snorm => (NumFormat::Norm, Sign::Signed),
            NumberType::Uscaled => (NumFormat::Scaled, Sign::Unsigned),
            NumberType::Sscaled => (NumFormat::Scaled, Sign::Signed),
            NumberType::Uint => (NumFormat::Int, Sign::Unsigned),
            NumberType::Sint => (NumFormat::Int, Sign::Signed),
        };
        ElementFormat {
            data: self.format,
            num,
            sign: [sign; 4],
            ..ElementFormat::default()
        }
    }

    /// Converts colours (raw bits, red first) to elements.
    #[inline(always)]
    pub fn pack(&self, colour: &[Lanes; 4], raw: &mut Raw) {
        *raw = [[0; LANES]; 4];
        for (_, c, source) in self.components() {
            let values = &colour[source];
            let out = &mut raw[usize::from(c.word & 3)];
            let shift = u32::from(c.shift) & 31;
            let srgb = self.number == NumberType::Srgb && source != 3;
            if self.is_float() {
                // The stencil in an element of float depth is an integer.
                let number = if matches!(c.bits, 10 | 11 | 16 | 24 | 32) {
                    NumberType::Float
                } else {
                    NumberType::Uint
                };
                for lane in 0..LANES {
                    out[lane] |= encode_component(values[lane], c.bits, number) << shift;
                }
            } else if srgb {
                for lane in 0..LANES {
                    let v = linear_to_srgb(f32::from_bits(values[lane])).to_bits();
                    out[lane] |= encode_component(v, c.bits, NumberType::Unorm) << shift;
                }
            } else if c.bits <= 16 && matches!(self.number, NumberType::Unorm | NumberType::Srgb) {
                let max = ones_unshifted(c) as f32;
                for lane in 0..LANES {
                    let v = f32::from_bits(values[lane]).max(0.0).min(1.0);
                    out[lane] |= floor(v * max + 0.5) << shift;
                }
            } else {
                for lane in 0..LANES {
                    out[lane] |= encode_component(values[lane], c.bits, self.number) << shift;
                }
            }
        }
    }

    /// Converts depth (single-precision bits) and stencil to elements, as copies
    /// from the depth to the colour buffer do. Returns the elements and the mask
    /// of their valid bits.
    pub fn pack_depth(&self, depth: Option<&Lanes>, stencil: Option<&Lanes>) -> (Raw, [u32; 4]) {
        let mut raw = [[0; LANES]; 4];
        let mut mask = [0; 4];
        let layout = self.format.layout();
        for c in layout.components.iter().take(usize::from(layout.count)) {
            let word = usize::from(c.word & 3);
            let (values, number) = match (c.bits, depth, stencil) {
                (8, _, Some(stencil)) => (stencil, NumberType::Uint),
                (16.., Some(depth), _) if layout.kind == Kind::Float => (depth, NumberType::Float),
                (16.., Some(depth), _) => (depth, NumberType::Unorm),
                _ => continue,
            };
            for lane in 0..LANES {
                raw[word][lane] |= encode_component(values[lane], c.bits, number) << c.shift;
            }
            mask[word] |= ones(*c);
        }
        (raw, mask)
    }
}

/// `value`, 0 to 65535.5, rounded down. The compiler does not vectorise a plain
/// cast, which saturates.
#[inline(always)]
fn floor(value: f32) -> u32 {
    // Singles have no fraction bits from 2^23 on: the sum is a rounded integer,
    // in the low bits.
    const MAGIC: f32 = 8_388_608.0;
    let sum = value + MAGIC;
    let up = sum - MAGIC > value;
    (sum.to_bits() & 0x7F_FFFF) - u32::from(up)
}

/// Encodes `value` as an unsigned normalised component of 8 bits.
#[inline(always)]
pub fn to_byte(value: f32) -> u32 {
    unit_to_byte(value.max(0.0).min(1.0))
}

/// [`to_byte`] of a value that is known to be in 0..1.
#[inline(always)]
pub fn unit_to_byte(value: f32) -> u32 {
    floor(value * 255.0 + 0.5)
}

fn ones_unshifted(c: Component) -> u32 {
    crate::chip::gfx::format::mask(c.bits)
}

fn ones(c: Component) -> u32 {
    ones_unshifted(c) << (u32::from(c.shift) & 31)
}

fn element_bytes(raw: &Raw, lane: usize) -> [u8; 16] {
    let mut bytes = [0; 16];
    for (word, out) in raw.iter().zip(bytes.chunks_exact_mut(4)) {
        out.copy_from_slice(&word[lane].to_le_bytes());
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chip::tiling::{ArrayMode, Layout, TilingConfig};
    use proptest::prelude::*;

    fn raw_of(words: [u32; 4]) -> Raw {
        words.map(|word| [word; LANES])
    }

    #[test]
    fn component_swaps_are_mesas() {
        // (format, swap, memory bytes of r g b a = 1 2 3 4 of 8 bits)
        let cases: [(u32, u32, [u32; 4]); 11] = [
            (0x1A, 0, [1, 2, 3, 4]), // R8G8B8A8
            (0x1A, 1, [3, 2, 1, 4]), // B8G8R8A8
            (0x1A, 2, [4, 3, 2, 1]), // A8B8G8R8
            (0x1A, 3, [4, 1, 2, 3]), // A8R8G8B8
            (0x07, 0, [1, 2, 0, 0]), // R8G8
            (0x07, 1, [1, 4, 0, 0]), // L8A8
            (0x07, 2, [2, 1, 0, 0]), // G8R8
            (0x07, 3, [4, 1, 0, 0]), // A8L8
            (0x01, 0, [1, 0, 0, 0]), // R8
            (0x01, 3, [4, 0, 0, 0]), // A8
            (0x01, 1, [2, 0, 0, 0]),
        ];
        for (format, swap, bytes) in cases {
            let packing = Packing::new(DataFormat::from_field(format), NumberType::Uint, swap);
            let mut raw = raw_of([0; 4]);
            packing.pack(&[1, 2, 3, 4].map(|v| [v; LANES]), &mut raw);
            let want = bytes.iter().rev().fold(0, |w, b| w << 8 | b);
            assert_eq!(raw[0][5], want, "format {format:#x} swap {swap}");
        }
    }

    #[test]
    fn write_mask_covers_the_component_that_moved() {
        let bgra = Packing::new(DataFormat::F8_8_8_8, NumberType::Unorm, 1);
        assert_eq!(bgra.mask(1), [0x00FF_0000, 0, 0, 0]);
        assert_eq!(bgra.mask(8), [0xFF00_0000, 0, 0, 0]);
        let wide = Packing::new(DataFormat::from_field(0x22), NumberType::Uint, 0);
        assert_eq!(wide.mask(0b0110), [0, u32::MAX, u32::MAX, 0]);
    }

    #[test]
    fn srgb_leaves_alpha_alone() {
        let packing = Packing::new(DataFormat::F8_8_8_8, NumberType::Srgb, 1);
        let colour = [0.5f32; 4].map(|v| [v.to_bits(); LANES]);
        let mut raw = raw_of([0; 4]);
        packing.pack(&colour, &mut raw);
        // Linear 0.5 is code 188 (IEC 61966-2-1).
        assert_eq!(raw[0][0], 0x80BC_BCBC);
        let back = packing.unpack(&raw);
        assert!((back[0][0] - 0.5).abs() < 0.005);
        assert!((back[3][0] - 128.0 / 255.0).abs() < 1e-6);
    }

    #[test]
    fn formats_without_alpha_read_one() {
        let packing = Packing::new(DataFormat::F5_6_5, NumberType::Unorm, 0);
        let colour = packing.unpack(&raw_of([0xFFFF, 0, 0, 0]));
        assert_eq!(colour.map(|c| c[9]), [1.0; 4]);
        let colour = packing.unpack(&raw_of([0x07E0, 0, 0, 0]));
        assert_eq!(colour.map(|c| c[9]), [0.0, 1.0, 0.0, 1.0]);
    }

    #[test]
    fn depth_and_stencil_share_an_element() {
        let depth = [1.0f32.to_bits(); LANES];
        let stencil = [0x5A; LANES];
        let pack = |format, d, s| {
            let packing = Packing::new(DataFormat::from_field(format), NumberType::Unorm, 0);
            let (raw, mask) = packing.pack_depth(d, s);
            ([raw[0][3], raw[1][3]], [mask[0], mask[1]])
        };
        let both = (Some(&depth), Some(&stencil));
        assert_eq!(pack(0x11, both.0, both.1), ([0x5AFF_FFFF, 0], [!0, 0]));
        assert_eq!(
            pack(0x11, both.0, None),
            ([0x00FF_FFFF, 0], [0x00FF_FFFF, 0])
        );
        assert_eq!(pack(0x13, both.0, both.1), ([0xFFFF_FF5A, 0], [!0, 0]));
        assert_eq!(
            pack(0x1C, both.0, both.1),
            ([0x3F80_0000, 0x5A], [!0, 0xFF])
        );
        assert_eq!(pack(0x05, both.0, both.1), ([0xFFFF, 0], [0xFFFF, 0]));
        assert_eq!(pack(0x01, both.0, both.1), ([0x5A, 0], [0xFF, 0]));
    }

    proptest! {
        #[test]
        fn floor_rounds_down(value in 0.0f32..65536.0) {
            prop_assert_eq!(floor(value), value as u32);
            prop_assert_eq!(floor(value.trunc()), value as u32);
            prop_assert_eq!(floor(value.trunc() + 0.5), value as u32);
        }

        #[test]
        fn packed_elements_survive_unpacking(
            format in proptest::sample::select(vec![1u32, 2, 3, 5, 7, 8, 9, 10, 11, 12, 15, 25, 26, 31]),
            // UNORM, USCALED, SSCALED and sRGB: SNORM has two codes for -1.
            number in proptest::sample::select(vec![0, 2, 3, 6]),
            swap in 0u32..4, words: [u32; 4],
        ) {
            let number = NumberType::from_field(number);
            let packing = Packing::new(DataFormat::from_field(format), number, swap);
            // In 16 bits sRGB has more codes near black than a single's steps.
            prop_assume!(number != NumberType::Srgb || format != 5 && format != 15 && format != 31);
            let bits = packing.all_bits();
            let raw = raw_of(std::array::from_fn(|i| words[i] & bits[i]));
            let colour = packing.unpack(&raw).map(|c| c.map(f32::to_bits));
            let mut back = raw_of([0; 4]);
            packing.pack(&colour, &mut back);
            prop_assert_eq!(back, raw);
        }

        #[test]
        fn store_undoes_load(log2_bytes in 0u32..5, depth_order: bool, seed: u8) {
            let config = TilingConfig::from_register(2);
            let mut layout = Layout::new(ArrayMode::Tiled1dThin1, 1 << log2_bytes, 64, 4096, config);
            layout.depth_order = depth_order;
            let data: Vec<u8> = (0..layout.tile_bytes()).map(|i| (i as u8).wrapping_mul(31) ^ seed).collect();
            let mut raw = raw_of([0; 4]);
            load(&data, 1 << log2_bytes, layout.lanes(), &mut raw);
            // Lane 1 is pixel (1, 0), lane 2 is (0, 1).
            let at = layout.element_offset(0, 1, 0) as usize;
            prop_assert_eq!(raw[0][2] as u8, data[at]);
            let mut back = vec![0; data.len()];
            store(&raw, 1 << log2_bytes, layout.lanes(), &mut back);
            prop_assert_eq!(back, data);
        }
    }
}
