// SPDX-License-Identifier: MIT
//! Textures, samplers, render targets and depth buffers.
//!
//! Bank width and height, aspect ratio, tile split and number of banks are the surface's own
//! (`eg_bank_wh()`, `eg_macro_tile_aspect()`, `eg_tile_split()`, `eg_num_banks()` in Mesa).

use super::super::colour::ColourBuffer;
use super::super::depth;
use super::super::depth_tile;
use super::super::format::ElementFormat;
use super::super::state::{bits, Shadow};
use super::super::texture::resource::{Descriptor, Dim, Texture};
use super::super::texture::sampler::{Filter, MipFilter, Sampler, Wrap};
use crate::chip::bus::RegFile;
use crate::chip::regs::evergreen::gfx as eg;
use crate::chip::tiling::{ArrayMode, TilingConfig};

/// `SQ_TEX_RESOURCE_WORD0` to `WORD7`.
pub(super) fn texture(words: &[u32; 8], config: TilingConfig) -> Option<Texture> {
    let field = |word: usize, shift, width| bits(words[word], shift, width);
    // SQ_TEX_VTX_VALID_TEXTURE
    if words[7] >> 30 != 2 {
        return None;
    }
    let descriptor = Descriptor {
        dim: Dim::from_field(words[0]),
        mode: ArrayMode::from_field(field(1, 28, 4)),
        // NON_DISP_TILING_ORDER
        depth_order: field(0, 5, 1) != 0,
        pitch: (field(0, 6, 12) + 1) * 8,
        size: [
            field(0, 18, 14) + 1,
            field(1, 0, 14) + 1,
            field(1, 14, 13) + 1,
        ],
        // R7xx has the data format in word 1.
        format: ElementFormat::texture(words[7] << 26, words[4]),
        base: u64::from(words[2]) << 8,
        mips: u64::from(words[3]) << 8,
        swizzle: [16, 19, 22, 25].map(|shift| field(4, shift, 3) as u8),
        base_level: field(4, 28, 4),
        last: field(5, 0, 4),
        layers: (field(5, 4, 13), field(5, 17, 13)),
        log2_max_aniso: field(6, 0, 3),
        config: config.of_surface(
            field(6, 29, 3),
            field(7, 16, 2),
            field(7, 8, 2),
            field(7, 10, 2),
            field(7, 6, 2),
        ),
    };
    Texture::new(words, config, &descriptor)
}

/// Whether `BORDER_COLOR_TYPE` is a register.
pub(super) fn has_border(words: &[u32; 3]) -> bool {
    bits(words[0], 20, 2) == 3
}

/// `SQ_TEX_SAMPLER_WORD0` to `WORD2`.
pub(super) fn sampler(sampler: &Sampler) -> Filter {
    let [w0, w1, w2] = sampler.words;
    // Filters 2 and 3 are anisotropic.
    let aniso = bits(w0, 10, 1) != 0 || bits(w0, 12, 1) != 0;
    Filter {
        wrap: [0, 3, 6].map(|shift| Wrap::from_field(w0 >> shift)),
        mag_linear: bits(w0, 9, 1) != 0,
        min_linear: bits(w0, 11, 1) != 0,
        z_point: bits(w0, 13, 2) == 1,
        mip: match bits(w0, 15, 2) {
            0 => MipFilter::None,
            1 => MipFilter::Point,
            _ => MipFilter::Linear,
        },
        log2_aniso: if aniso { bits(w0, 17, 3).min(4) } else { 0 },
        // Eight fraction bits.
        lod: (
            bits(w1, 0, 12) as f32 / 256.0,
            bits(w1, 12, 12) as f32 / 256.0,
        ),
        bias: (((w2 << 18) as i32) >> 18) as f32 / 256.0,
        compare: bits(w0, 22, 3) as u8,
        // DISABLE_CUBE_WRAP
        seamless: bits(w2, 29, 1) == 0,
        border_type: bits(w0, 20, 2) as u8,
        border: sampler.border,
    }
}

/// Bytes from a target's registers to the next one's.
const TARGET: u32 = 0x3C;

/// `CB_COLORn_BASE` to `CB_COLORn_ATTRIB`.
pub(super) fn colour(s: &Shadow, regs: &dyn RegFile, index: usize) -> ColourBuffer {
    let reg = |first: u32| s.raw(first + TARGET * index as u32);
    let (info, attrib) = (reg(eg::CB_COLOR0_INFO), reg(eg::CB_COLOR0_ATTRIB));
    let shared = TilingConfig::from_address_config(regs.load(eg::GB_ADDR_CONFIG));
    let field = |shift, width| bits(info, shift, width);
    ColourBuffer {
        base: u64::from(reg(eg::CB_COLOR0_BASE)) << 8,
        // ENDIAN, FORMAT, ARRAY_MODE and NUMBER_TYPE are R7xx's; then COMP_SWAP, BLEND_CLAMP and
        // BLEND_BYPASS.
        info: info & 0x7FFF | field(15, 2) << 16 | field(19, 1) << 20 | field(20, 1) << 22,
        view: reg(eg::CB_COLOR0_VIEW),
        pitch: (bits(reg(eg::CB_COLOR0_PITCH), 0, 11) + 1) * 8,
        slice: (bits(reg(eg::CB_COLOR0_SLICE), 0, 22) + 1) * 64,
        // NON_DISP_TILING_ORDER
        depth_order: bits(attrib, 4, 1) != 0,
        config: shared.of_surface(
            bits(attrib, 5, 4),
            bits(attrib, 10, 2),
            bits(attrib, 13, 2),
            bits(attrib, 16, 2),
            bits(attrib, 19, 2),
        ),
        cleared: None,
    }
}

/// `DB_Z_INFO`, `DB_STENCIL_INFO` and their buffers.
pub(super) fn depth(
    s: &Shadow,
    shared: TilingConfig,
    samples: u32,
) -> Option<(depth::State, depth_tile::Surface)> {
    let (z, stencil) = (s.raw(eg::DB_Z_INFO), s.raw(eg::DB_STENCIL_INFO));
    let has_stencil = bits(stencil, 0, 1) != 0;
    let format = match bits(z, 0, 2) {
        1 => Some(depth::Format::D16),
        2 => Some(depth::Format::X8D24),
        3 => Some(depth::Format::D32F),
        // Stencil alone.
        _ if has_stencil => None,
        _ => return None,
    };
    let config = |split| {
        shared.of_surface(
            split,
            bits(z, 12, 2),
            bits(z, 16, 2),
            bits(z, 20, 2),
            bits(z, 24, 2),
        )
    };
    let plane = |base: u32, split: u32| depth_tile::Plane {
        base: u64::from(s.raw(base)) << 8,
        config: config(split),
    };
    let view = s.raw(eg::DB_DEPTH_VIEW);
    let planes = depth_tile::Planes {
        mode: ArrayMode::from_field(bits(z, 4, 4)),
        pitch: (bits(s.raw(eg::DB_DEPTH_SIZE), 0, 11) + 1) * 8,
        slice: (bits(s.raw(eg::DB_DEPTH_SLICE), 0, 22) + 1) * 64,
        slices: (bits(view, 0, 11), bits(view, 13, 11)),
        samples,
        depth: plane(eg::DB_Z_WRITE_BASE, bits(z, 8, 3)),
        stencil: has_stencil.then(|| plane(eg::DB_STENCIL_WRITE_BASE, bits(stencil, 8, 3))),
    };
    let state = depth::State::planes(s, format, has_stencil);
    Some((state, depth_tile::Surface::planes(format, &planes)))
}

#[cfg(test)]
mod tests {
    use super::super::registers::tests::shadow;
    use super::*;
    use crate::chip::gfx::texture::resource::Level;

    fn shared() -> TilingConfig {
        // TURKS_GB_ADDR_CONFIG_GOLDEN
        TilingConfig::from_address_config(0x0201_0002)
    }

    #[test]
    fn a_textures_fields_are_where_mesa_puts_them() {
        // evergreen_fill_tex_resource_words(): 256x128 RGBA8, 2D, bankw 1, bankh 4, aspect 2, 8
        // banks, tile split 1024, levels 0 to 3.
        let words = [
            1 | (256 / 8 - 1) << 6 | 255 << 18,
            127 | 4 << 28,
            0x100,
            0x300,
            0o3210 << 16,
            3,
            4 << 29,
            0x1A | 1 << 6 | 2 << 10 | 2 << 16 | 2 << 30,
        ];
        let t = texture(&words, shared()).unwrap();
        let Level {
            width,
            height,
            surface,
            ..
        } = *t.level(0).unwrap();
        assert_eq!((width, height, surface.base), (256, 128, 0x1_0000));
        let config = surface.layout.config;
        assert_eq!(
            (config.log2_pipes, config.log2_banks, config.log2_split),
            (2, 3, 10)
        );
        assert_eq!(config.alignment(ArrayMode::Tiled2dThin1, 4, 1), (64, 128));
        // 128x64 is less than a macro tile of 64x128.
        let one = t.level(1).unwrap().surface;
        assert_eq!(
            (one.base, one.layout.mode),
            (0x3_0000, ArrayMode::Tiled1dThin1)
        );
        let mut invalid = words;
        invalid[7] ^= 1 << 30;
        assert!(texture(&invalid, shared()).is_none());
    }

    #[test]
    fn a_samplers_fields_are_where_mesa_puts_them() {
        let words = [
            2 | 6 << 3 | 1 << 6 | 1 << 9 | 3 << 11 | 2 << 15 | 4 << 17 | 3 << 20 | 5 << 22,
            128 | (15 << 8) << 12,
            0x3F80 | 1 << 29,
        ];
        assert!(has_border(&words));
        let f = sampler(&Sampler {
            words,
            border: [1, 2, 3, 4],
        });
        assert_eq!(
            f.wrap,
            [Wrap::ClampLastTexel, Wrap::ClampBorder, Wrap::Mirror]
        );
        assert!(f.mag_linear && f.min_linear && !f.seamless);
        assert_eq!((f.mip, f.log2_aniso, f.compare), (MipFilter::Linear, 4, 5));
        assert_eq!((f.lod, f.bias), ((0.5, 15.0), -0.5));
    }

    #[test]
    fn a_targets_fields_are_in_r7xxs_form() {
        let s = shadow(&[
            (0x2_8C60 + 0x3C, 0x55),
            (0x2_8C64 + 0x3C, 1279),
            (0x2_8C68 + 0x3C, 0x20_0000),
            (
                0x2_8C70 + 0x3C,
                0x1A << 2 | 4 << 8 | 6 << 12 | 1 << 15 | 1 << 19,
            ),
            (0x2_8C74 + 0x3C, 1 << 4 | 5 << 5 | 2 << 10),
        ]);
        struct None;
        impl RegFile for None {
            fn load(&self, _: u32) -> u32 {
                0
            }
            fn store(&self, _: u32, _: u32) {}
        }
        let c = colour(&s, &None, 1);
        assert_eq!((c.base, c.pitch, c.slice), (0x5500, 10240, 0x20_0001 * 64));
        assert_eq!(c.info, 0x1A << 2 | 4 << 8 | 6 << 12 | 1 << 16 | 1 << 20);
        assert!(c.depth_order);
        assert_eq!((c.config.log2_split, c.config.log2_banks), (11, 3));
    }

    #[test]
    fn depth_and_stencil_are_planes_of_their_own() {
        let s = shadow(&[
            (0x2_8040, 2 | 4 << 4),
            (0x2_8044, 1),
            (0x2_8050, 1),
            (0x2_8800, 3),
        ]);
        let (state, surface) = depth(&s, shared(), 1).unwrap();
        assert!(state.stencil_enable && state.z_enable);
        assert!(!surface.is_plain());
        // Without depth, there is stencil only.
        let s = shadow(&[(0x2_8044, 1), (0x2_8800, 3)]);
        let (state, _) = depth(&s, shared(), 1).unwrap();
        assert!(state.stencil_enable && !state.z_enable);
        assert!(depth(&shadow(&[(0x2_8800, 3)]), shared(), 1).is_none());
    }
}
