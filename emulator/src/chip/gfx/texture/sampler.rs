// SPDX-License-Identifier: MIT
//! Samplers: three descriptor words and a border colour.
//!
//! Fields: `SQ_TEX_SAMPLER_WORD0` to `WORD2` in `r600d.h`.

use crate::chip::regs::fields::words::r700::{
    sq_tex_sampler_word0 as word0, sq_tex_sampler_word1 as word1,
};

/// `BORDER_COLOR_TYPE`: the colour is in registers.
pub const BORDER_REGISTERS: u32 = 3;

/// `CLAMP_X`, `Y`, `Z`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[allow(missing_docs)] // The names are the registers'.
pub enum Wrap {
    #[default]
    Wrap,
    Mirror,
    ClampLastTexel,
    MirrorOnceLastTexel,
    ClampHalfBorder,
    MirrorOnceHalfBorder,
    ClampBorder,
    MirrorOnceBorder,
}

impl Wrap {
    /// Decodes a field of 3 bits.
    pub fn from_field(value: u32) -> Self {
        [
            Self::Wrap,
            Self::Mirror,
            Self::ClampLastTexel,
            Self::MirrorOnceLastTexel,
            Self::ClampHalfBorder,
            Self::MirrorOnceHalfBorder,
            Self::ClampBorder,
            Self::MirrorOnceBorder,
        ][(value & 7) as usize]
    }
}

/// `MIP_FILTER`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[allow(missing_docs)]
pub enum MipFilter {
    #[default]
    None,
    Point,
    Linear,
}

/// A sampler as the registers hold it. `Default` is the sampler of fetches
/// that need none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Sampler {
    /// `SQ_TEX_SAMPLER_WORD0` to `WORD2`.
    pub words: [u32; 3],
    /// The stage's `TD_xS_SAMPLER_BORDER_RED` to `ALPHA` of this sampler, if
    /// [`Self::has_border_registers`].
    pub border: [u32; 4],
}

/// The fields of a sampler.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Filter {
    /// Wrap modes of x, y and z.
    pub wrap: [Wrap; 3],
    /// Magnification is bilinear.
    pub mag_linear: bool,
    /// Minification is bilinear.
    pub min_linear: bool,
    /// Point filtering along z of 3D textures; else the filter of x and y, also
    /// for `Z_FILTER` NONE (0).
    pub z_point: bool,
    /// Filter between levels.
    pub mip: MipFilter,
    /// log2 of the largest anisotropy.
    pub log2_aniso: u32,
    /// Lower and upper limit of the level of detail.
    pub lod: (f32, f32),
    /// Added to the level of detail.
    pub bias: f32,
    /// `DEPTH_COMPARE_FUNCTION`: 0 never, 1 less, .. 7 always.
    pub compare: u8,
    /// Cube maps filter across edges, if they do so at all.
    pub seamless: bool,
    /// `BORDER_COLOR_TYPE`.
    pub border_type: u8,
    /// The border colour in registers.
    pub border: [u32; 4],
    /// Border colours are floats for textures of integers, too.
    pub float_border: bool,
}

/// Sign-extends the low `bits` bits and scales by 1/64.
fn lod(value: u32, bits: u32) -> f32 {
    (((value << (32 - bits)) as i32) >> (32 - bits)) as f32 / 64.0
}

impl Sampler {
    /// Whether the sampler's border colour is in registers (`BORDER_COLOR_TYPE`).
    pub fn has_border_registers([w0, ..]: &[u32; 3]) -> bool {
        word0::BORDER_COLOR_TYPE.of(*w0) == BORDER_REGISTERS
    }

    /// Decodes the words.
    pub fn decode(&self) -> Filter {
        let [w0, w1, _] = self.words;
        let (mag, min) = (word0::XY_MAG_FILTER.of(w0), word0::XY_MIN_FILTER.of(w0));
        // Filters from 4 on are anisotropic.
        let aniso = mag & 4 != 0 || min & 4 != 0;
        Filter {
            wrap: [word0::CLAMP_X, word0::CLAMP_Y, word0::CLAMP_Z]
                .map(|field| Wrap::from_field(field.of(w0))),
            // 1 is bilinear, with and without anisotropy; bicubic (2) is taken as
            // bilinear.
            mag_linear: mag & 3 != 0,
            min_linear: min & 3 != 0,
            z_point: word0::Z_FILTER.of(w0) == 1,
            mip: match word0::MIP_FILTER.of(w0) {
                1 => MipFilter::Point,
                2 | 3 => MipFilter::Linear,
                _ => MipFilter::None,
            },
            log2_aniso: if aniso {
                word0::MAX_ANISO_RATIO.of(w0).min(4)
            } else {
                0
            },
            // Six fraction bits.
            lod: (
                word1::MIN_LOD.of(w1) as f32 / 64.0,
                word1::MAX_LOD.of(w1) as f32 / 64.0,
            ),
            bias: lod(word1::LOD_BIAS.of(w1), 12),
            compare: word0::DEPTH_COMPARE_FUNCTION.of(w0) as u8,
            seamless: true,
            border_type: word0::BORDER_COLOR_TYPE.of(w0) as u8,
            border: self.border,
            float_border: false,
        }
    }
}

impl Filter {
    /// The border colour of a texture of integers, or else of floats.
    pub fn border_colour(&self, integer: bool) -> [u32; 4] {
        let one = if integer { 1 } else { 1f32.to_bits() };
        match self.border_type {
            0 => [0; 4],
            1 => [0, 0, 0, one],
            2 => [one; 4],
            _ => self.border,
        }
    }
}

/// Compares a reference with a texel. Returns 1 if the comparison holds, else 0.
pub fn compare(function: u8, reference: f32, texel: f32) -> f32 {
    let pass = match function & 7 {
        0 => false,
        1 => reference < texel,
        2 => reference == texel,
        3 => reference <= texel,
        4 => reference > texel,
        5 => reference != texel,
        6 => reference >= texel,
        _ => true,
    };
    f32::from(u8::from(pass))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_where_mesa_puts_them() {
        let sampler = Sampler {
            words: [
                1 | 2 << 3 | 6 << 6 | 1 << 9 | 5 << 12 | 2 << 17 | 3 << 19 | 3 << 22 | 3 << 26,
                32 | 640 << 10 | 0xFC0 << 20,
                1 << 31,
            ],
            border: [1, 2, 3, 4],
        };
        let f = sampler.decode();
        assert_eq!(
            f.wrap,
            [Wrap::Mirror, Wrap::ClampLastTexel, Wrap::ClampBorder]
        );
        assert!(f.mag_linear && f.min_linear);
        assert_eq!((f.mip, f.log2_aniso, f.compare), (MipFilter::Linear, 3, 3));
        assert_eq!((f.lod, f.bias), ((0.5, 10.0), -1.0));
        assert_eq!(f.border_colour(true), [1, 2, 3, 4]);
    }

    #[test]
    fn border_types() {
        let border = |kind: u32, integer| {
            let sampler = Sampler {
                words: [kind << 22, 0, 0],
                border: [9; 4],
            };
            sampler.decode().border_colour(integer)
        };
        let one = 1f32.to_bits();
        assert_eq!(border(0, false), [0; 4]);
        assert_eq!(border(1, false), [0, 0, 0, one]);
        assert_eq!(border(2, true), [1; 4]);
    }

    #[test]
    fn comparisons_have_the_reference_on_the_left() {
        assert_eq!(compare(1, 0.2, 0.5), 1.0);
        assert_eq!(compare(4, 0.2, 0.5), 0.0);
        assert_eq!(
            (compare(0, 0.0, 0.0), compare(7, f32::NAN, 0.0)),
            (0.0, 1.0)
        );
    }
}
