// SPDX-License-Identifier: MIT
//! Compressed blocks of 4x4 texels: S3TC (BC1 to BC3) and RGTC (BC4, BC5).
//!
//! Block layouts: EXT_texture_compression_s3tc and
//! EXT_texture_compression_rgtc. Interpolated values are not rounded to 8 bits,
//! as the specifications allow.

use crate::chip::gfx::format::{srgb_table, srgb_to_linear, DataFormat};

/// A texel's components.
pub type Texel = [f32; 4];

/// Decodes texel (`x`, `y`), both 0 to 3, of a block. `signed` tells which
/// components of BC4 and BC5 are signed; `degamma` converts the colours of BC1
/// to BC3 from sRGB to linear. Components that the format lacks are 0.
pub fn decode(
    format: DataFormat,
    block: &[u8; 16],
    x: usize,
    y: usize,
    signed: [bool; 2],
    degamma: bool,
) -> Texel {
    let texel = (y & 3) * 4 + (x & 3);
    let (low, high) = (first(block), second(block));
    match format {
        DataFormat::BC1 => colour(low, texel, true, degamma),
        DataFormat::BC2 => {
            let [r, g, b, _] = colour(high, texel, false, degamma);
            let nibble = low[texel / 2] >> (4 * (texel & 1)) & 0xF;
            [r, g, b, f32::from(nibble) / 15.0]
        }
        DataFormat::BC3 => {
            let [r, g, b, _] = colour(high, texel, false, degamma);
            [r, g, b, channel(low, texel, false)]
        }
        DataFormat::BC4 => [channel(low, texel, signed[0]), 0.0, 0.0, 0.0],
        DataFormat::BC5 => [
            channel(low, texel, signed[0]),
            channel(high, texel, signed[1]),
            0.0,
            0.0,
        ],
        _ => [0.0; 4],
    }
}

fn first(block: &[u8; 16]) -> [u8; 8] {
    std::array::from_fn(|i| block[i])
}

fn second(block: &[u8; 16]) -> [u8; 8] {
    std::array::from_fn(|i| block[8 + i])
}

/// Widens a channel of 5 or 6 bits to 8 as the specification does, by
/// repeating its upper bits.
fn widen(value: u16, bits: u32) -> u32 {
    let v = u32::from(value) & ((1 << bits) - 1);
    v << (8 - bits) | v >> (2 * bits - 8)
}

fn colour(block: [u8; 8], texel: usize, punch_through: bool, degamma: bool) -> Texel {
    let word = |i: usize| u16::from_le_bytes([block[i], block[i + 1]]);
    let (c0, c1) = (word(0), word(2));
    let bits = u32::from_le_bytes([block[4], block[5], block[6], block[7]]);
    let code = bits >> (2 * texel) & 3;
    let rgb = |c: u16| [widen(c >> 11, 5), widen(c >> 5, 6), widen(c, 5)];
    let (a, b) = (rgb(c0), rgb(c1));
    let four = !punch_through || c0 > c1;
    let (wa, wb) = match (code, four) {
        (0, _) => (1.0, 0.0),
        (1, _) => (0.0, 1.0),
        (2, true) => (2.0 / 3.0, 1.0 / 3.0),
        (3, true) => (1.0 / 3.0, 2.0 / 3.0),
        (2, false) => (0.5, 0.5),
        _ => return [0.0; 4],
    };
    let mut out = [0.0, 0.0, 0.0, 1.0];
    for i in 0..3 {
        let value = (a[i] as f32 * wa + b[i] as f32 * wb) / 255.0;
        out[i] = if !degamma {
            value
        } else if code < 2 {
            srgb_table()[(if code == 0 { a[i] } else { b[i] }) as usize & 0xFF]
        } else {
            // sRGB codes are interpolated; 16 bits are precise enough.
            srgb_to_linear((value * 65535.0 + 0.5) as u32, 16)
        };
    }
    out
}

fn channel(block: [u8; 8], texel: usize, signed: bool) -> f32 {
    let bits = block[2..]
        .iter()
        .rev()
        .fold(0u64, |bits, &b| bits << 8 | u64::from(b));
    let code = (bits >> (3 * texel) & 7) as u32;
    let (a, b, low) = if signed {
        let norm = |v: u8| (f32::from(v as i8) / 127.0).max(-1.0);
        (norm(block[0]), norm(block[1]), -1.0)
    } else {
        let norm = |v: u8| f32::from(v) / 255.0;
        (norm(block[0]), norm(block[1]), 0.0)
    };
    let eight = if signed {
        block[0] as i8 > block[1] as i8
    } else {
        block[0] > block[1]
    };
    let mix = |steps: u32, n: u32| (a * (steps - n) as f32 + b * n as f32) / steps as f32;
    match (code, eight) {
        (0, _) => a,
        (1, _) => b,
        (n, true) => mix(7, n - 1),
        (6, false) => low,
        (7, false) => 1.0,
        (n, false) => mix(5, n - 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(a: Texel, b: Texel) {
        for i in 0..4 {
            assert!((a[i] - b[i]).abs() < 1e-6, "{a:?} is not {b:?}");
        }
    }

    fn block(bytes: &[u8]) -> [u8; 16] {
        let mut block = [0; 16];
        block[..bytes.len()].copy_from_slice(bytes);
        block
    }

    /// Red 0xF800 and blue 0x001F, codes 0 1 2 3 in the first row.
    const FOUR: [u8; 8] = [0x00, 0xF8, 0x1F, 0x00, 0b1110_0100, 0, 0, 0];

    #[test]
    fn bc1_four_colours() {
        let b = block(&FOUR);
        let at = |x| decode(DataFormat::BC1, &b, x, 0, [false; 2], false);
        close(at(0), [1.0, 0.0, 0.0, 1.0]);
        close(at(1), [0.0, 0.0, 1.0, 1.0]);
        close(at(2), [2.0 / 3.0, 0.0, 1.0 / 3.0, 1.0]);
        close(at(3), [1.0 / 3.0, 0.0, 2.0 / 3.0, 1.0]);
    }

    #[test]
    fn bc1_three_colours_and_a_hole() {
        let b = block(&[0x1F, 0x00, 0x00, 0xF8, 0b1110_0100, 0, 0, 0]);
        let at = |x| decode(DataFormat::BC1, &b, x, 0, [false; 2], false);
        close(at(2), [0.5, 0.0, 0.5, 1.0]);
        close(at(3), [0.0; 4]);
        // In BC2 and BC3 the order of the colours has no meaning.
        let mut b2 = [0; 16];
        b2[8..].copy_from_slice(&b[..8]);
        let third = decode(DataFormat::BC2, &b2, 3, 0, [false; 2], false);
        close(third, [2.0 / 3.0, 0.0, 1.0 / 3.0, 0.0]);
    }

    #[test]
    fn bc2_alpha_is_a_nibble_a_texel() {
        let mut b = [0; 16];
        b[0] = 0xF3;
        b[7] = 0x50;
        let alpha = |x, y| decode(DataFormat::BC2, &b, x, y, [false; 2], false)[3];
        assert_eq!((alpha(0, 0), alpha(1, 0)), (0.2, 1.0));
        assert_eq!(alpha(3, 3), 5.0 / 15.0);
    }

    #[test]
    fn rgtc_codes() {
        // 255 > 0: eight values. Texel 0 has code 0, texel 1 code 2.
        let b = block(&[255, 0, 0b01_0000, 0, 0, 0, 0, 0]);
        let at = |x| decode(DataFormat::BC4, &b, x, 0, [false; 2], false)[0];
        assert_eq!(at(0), 1.0);
        assert!((at(1) - 6.0 / 7.0).abs() < 1e-6);
        // Six values, codes 6 and 7 are the ends of the range.
        let b = block(&[0, 255, 0b11_1110, 0, 0, 0, 0, 0]);
        let at = |x, signed| decode(DataFormat::BC4, &b, x, 0, [signed; 2], false)[0];
        assert_eq!((at(0, false), at(1, false)), (0.0, 1.0));
        let b = block(&[0x81, 0x7F, 0b11_1110, 0, 0, 0, 0, 0]);
        let signed = |x| decode(DataFormat::BC5, &b, x, 0, [true; 2], false)[0];
        assert_eq!((signed(0), signed(1)), (-1.0, 1.0));
    }

    #[test]
    fn degamma_is_for_colours() {
        let mut b = [0; 16];
        b[..8].copy_from_slice(&[128, 0, 0, 0, 0, 0, 0, 0]);
        b[8..].copy_from_slice(&FOUR);
        let texel = decode(DataFormat::BC3, &b, 0, 0, [false; 2], true);
        close(texel, [1.0, 0.0, 0.0, 128.0 / 255.0]);
        let mixed = decode(DataFormat::BC3, &b, 2, 0, [false; 2], true);
        // IEC 61966-2-1 at 2/3.
        assert!((mixed[0] - 0.401_98).abs() < 1e-4, "{mixed:?}");
    }
}
