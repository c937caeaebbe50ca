// SPDX-License-Identifier: MIT
//! Textures, samplers, render targets and depth buffers.
//!
//! Bank width and height, aspect ratio, tile split and number of banks are the surface's own
//! (`eg_bank_wh()`, `eg_macro_tile_aspect()`, `eg_tile_split()`, `eg_num_banks()` in Mesa).

use super::super::colour::pack::Packing;
use super::super::colour::{ColourBuffer, FastClear};
use super::super::depth;
use super::super::depth_tile;
use super::super::format::{self, DataFormat, ElementFormat, NumberType};
use super::super::rat::{self, Rat};
use super::super::state::{bits, Shadow};
use super::super::texture::resource::{Descriptor, Dim, Texture, CUBE_SLICES, SELECTS};
use super::super::texture::sampler::{Filter, MipFilter, Sampler, Wrap, BORDER_REGISTERS};
use crate::chip::bus::RegFile;
use crate::chip::regs::evergreen::gfx as eg;
use crate::chip::regs::fields::evergreen::{
    cb_color0_attrib, cb_color0_cmask_slice, cb_color0_info, cb_color0_pitch, cb_color0_slice,
    db_depth_size, db_depth_slice, db_render_control, db_stencil_info, db_z_info,
};
use crate::chip::regs::fields::r700::{self, cb_color0_view};
use crate::chip::regs::fields::words::evergreen::{
    sq_tex_resource_word0 as word0, sq_tex_resource_word1 as word1, sq_tex_resource_word4 as word4,
    sq_tex_resource_word5 as word5, sq_tex_resource_word6 as word6, sq_tex_resource_word7 as word7,
    sq_tex_sampler_word0 as sampler0, sq_tex_sampler_word1 as sampler1,
    sq_tex_sampler_word2 as sampler2,
};
use crate::chip::regs::fields::words::{four, VALID_TEXTURE};
use crate::chip::regs::fields::Field;
use crate::chip::tiling::{ArrayMode, Layout, TilingConfig};

/// `SQ_TEX_RESOURCE_WORD0` to `WORD7`.
pub(super) fn texture(words: &[u32; 8], config: TilingConfig) -> Option<Texture> {
    if word7::TYPE.of(words[7]) != VALID_TEXTURE {
        return None;
    }
    let descriptor = Descriptor {
        dim: Dim::from_field(word0::DIM.of(words[0])),
        mode: ArrayMode::from_field(word1::ARRAY_MODE.of(words[1])),
        depth_order: word0::NON_DISP_TILING_ORDER.is_set(words[0]),
        pitch: (word0::PITCH.of(words[0]) + 1) * 8,
        size: [
            word0::TEX_WIDTH.of(words[0]) + 1,
            word1::TEX_HEIGHT.of(words[1]) + 1,
            word1::TEX_DEPTH.of(words[1]) + 1,
        ],
        format: ElementFormat::texture(word7::DATA_FORMAT.of(words[7]), words[4]),
        base: u64::from(words[2]) << 8,
        mips: u64::from(words[3]) << 8,
        swizzle: four(words[4], SELECTS),
        base_level: word4::BASE_LEVEL.of(words[4]),
        last: word5::LAST_LEVEL.of(words[5]),
        layers: (
            word5::BASE_ARRAY.of(words[5]),
            word5::LAST_ARRAY.of(words[5]),
        ),
        log2_max_aniso: word6::MAX_ANISO_RATIO.of(words[6]),
        cube_slices: CUBE_SLICES,
        config: config.of_surface(
            word6::TILE_SPLIT.of(words[6]),
            word7::NUM_BANKS.of(words[7]),
            word7::BANK_WIDTH.of(words[7]),
            word7::BANK_HEIGHT.of(words[7]),
            word7::MACRO_TILE_ASPECT.of(words[7]),
        ),
    };
    Texture::new(words, config, &descriptor)
}

/// Whether `BORDER_COLOR_TYPE` is a register.
pub(super) fn has_border(words: &[u32; 3]) -> bool {
    sampler0::BORDER_COLOR_TYPE.of(words[0]) == BORDER_REGISTERS
}

/// `SQ_TEX_SAMPLER_WORD0` to `WORD2`.
pub(super) fn sampler(sampler: &Sampler) -> Filter {
    let [w0, w1, w2] = sampler.words;
    // Filters 2 and 3 are anisotropic.
    let mag = sampler0::XY_MAG_FILTER.of(w0);
    let min = sampler0::XY_MIN_FILTER.of(w0);
    let aniso = mag & 2 != 0 || min & 2 != 0;
    Filter {
        wrap: [sampler0::CLAMP_X, sampler0::CLAMP_Y, sampler0::CLAMP_Z]
            .map(|field| Wrap::from_field(field.of(w0))),
        mag_linear: mag & 1 != 0,
        min_linear: min & 1 != 0,
        z_point: sampler0::Z_FILTER.of(w0) == 1,
        mip: match sampler0::MIP_FILTER.of(w0) {
            0 => MipFilter::None,
            1 => MipFilter::Point,
            _ => MipFilter::Linear,
        },
        log2_aniso: if aniso {
            sampler0::MAX_ANISO_RATIO.of(w0).min(4)
        } else {
            0
        },
        // Eight fraction bits.
        lod: (
            sampler1::MIN_LOD.of(w1) as f32 / 256.0,
            sampler1::MAX_LOD.of(w1) as f32 / 256.0,
        ),
        // LOD_BIAS is signed, of 14 bits.
        bias: (((sampler2::LOD_BIAS.of(w2) << 18) as i32) >> 18) as f32 / 256.0,
        compare: sampler0::DEPTH_COMPARE_FUNCTION.of(w0) as u8,
        seamless: !sampler2::DISABLE_CUBE_WRAP.is_set(w2),
        border_type: sampler0::BORDER_COLOR_TYPE.of(w0) as u8,
        border: sampler.border,
        float_border: true,
    }
}

/// `SOURCE_FORMAT` of colours of 16 bits a component.
const EXPORT_4C_16BPC: u32 = 1;

/// Bytes from a target's registers to the next one's.
const TARGET: u32 = 0x3C;

/// `CB_COLORn_CLEAR_WORD0`.
const CLEAR: [u32; 8] = [
    eg::CB_COLOR0_CLEAR_WORD0,
    eg::CB_COLOR1_CLEAR_WORD0,
    eg::CB_COLOR2_CLEAR_WORD0,
    eg::CB_COLOR3_CLEAR_WORD0,
    eg::CB_COLOR4_CLEAR_WORD0,
    eg::CB_COLOR5_CLEAR_WORD0,
    eg::CB_COLOR6_CLEAR_WORD0,
    eg::CB_COLOR7_CLEAR_WORD0,
];

/// `CB_COLORn_ATTRIB` of target `index`, 0 to 7.
pub(in super::super) fn colour_attributes(s: &Shadow, index: usize) -> u32 {
    s.raw(eg::CB_COLOR0_ATTRIB + TARGET * index as u32)
}

/// `CB_COLORn_BASE` to `CB_COLORn_ATTRIB`.
pub(super) fn colour(s: &Shadow, regs: &dyn RegFile, index: usize) -> ColourBuffer {
    let reg = |first: u32| s.raw(first + TARGET * index as u32);
    let (info, attrib) = (reg(eg::CB_COLOR0_INFO), colour_attributes(s, index));
    let shared = TilingConfig::from_address_config(regs.load(eg::GB_ADDR_CONFIG));
    use cb_color0_info::*;
    // A target of random access is written by instructions of its own only.
    if RAT.is_set(info) {
        return ColourBuffer {
            base: 0,
            info: 0,
            view: 0,
            pitch: 8,
            slice: 64,
            depth_order: false,
            config: shared,
            cleared: None,
            compressed: false,
            opaque: false,
            half: false,
        };
    }
    // TILE_MAX counts 128x128 pixels of four bits for each tile.
    let cleared = FAST_CLEAR.is_set(info).then(|| FastClear {
        mask: u64::from(reg(eg::CB_COLOR0_CMASK)) << 8,
        slice: (u64::from(cb_color0_cmask_slice::TILE_MAX.of(reg(eg::CB_COLOR0_CMASK_SLICE))) + 1)
            * 128,
        element: [0, 4].map(|word| s.raw(CLEAR[index & 7] + word)),
    });
    ColourBuffer {
        base: u64::from(reg(eg::CB_COLOR0_BASE)) << 8,
        // ENDIAN, FORMAT, ARRAY_MODE and NUMBER_TYPE are R7xx's.
        info: info & 0x7FFF
            | r700::cb_color0_info::COMP_SWAP.with(COMP_SWAP.of(info))
            | r700::cb_color0_info::BLEND_CLAMP.with(BLEND_CLAMP.of(info))
            | r700::cb_color0_info::BLEND_BYPASS.with(BLEND_BYPASS.of(info)),
        view: reg(eg::CB_COLOR0_VIEW),
        pitch: (cb_color0_pitch::PITCH_TILE_MAX.of(reg(eg::CB_COLOR0_PITCH)) + 1) * 8,
        slice: (cb_color0_slice::SLICE_TILE_MAX.of(reg(eg::CB_COLOR0_SLICE)) + 1) * 64,
        depth_order: cb_color0_attrib::NON_DISP_TILING_ORDER.is_set(attrib),
        config: tiling(shared, attrib),
        cleared,
        compressed: COMPRESSION.is_set(info),
        opaque: false,
        half: SOURCE_FORMAT.of(info) == EXPORT_4C_16BPC,
    }
}

/// A target of random access: `CB_COLORn_BASE` to `CB_COLORn_DIM` of one whose `RAT` is set, and
/// `CB_IMMEDn_BASE`. From 8 on, targets have fewer registers.
pub(super) fn random_access(s: &Shadow, regs: &dyn RegFile, index: usize) -> Option<Rat> {
    let [base, pitch, slice, view, info, attrib, dim] = registers(index)?.map(|reg| s.raw(reg));
    use cb_color0_info::*;
    let format = DataFormat::from_field(FORMAT.of(info));
    let layout = format.layout();
    if !RAT.is_set(info) || !matches!(layout.kind, format::Kind::Fixed | format::Kind::Float) {
        return None;
    }
    let mode = ArrayMode::from_field(ARRAY_MODE.of(info));
    let shared = TilingConfig::from_address_config(regs.load(eg::GB_ADDR_CONFIG));
    let (pitch, slice) = (
        (cb_color0_pitch::PITCH_TILE_MAX.of(pitch) + 1) * 8,
        (cb_color0_slice::SLICE_TILE_MAX.of(slice) + 1) * 64,
    );
    let mut layout = Layout::new(mode, format.bytes(), pitch, slice, tiling(shared, attrib));
    layout.depth_order = cb_color0_attrib::NON_DISP_TILING_ORDER.is_set(attrib);
    if !matches!(format.bytes(), 1 | 2 | 4 | 8 | 16) {
        return None;
    }
    let kind = rat::Kind::from_field(RESOURCE_TYPE.of(info));
    Some(Rat {
        base: u64::from(base) << 8,
        kind,
        layout,
        packing: Packing::new(
            format,
            NumberType::from_field(NUMBER_TYPE.of(info)),
            COMP_SWAP.of(info),
        ),
        // WIDTH_MAX and HEIGHT_MAX; of a buffer all bits are one number.
        last: match kind {
            rat::Kind::Buffer => [dim, 0],
            _ => [dim & 0xFFFF, dim >> 16],
        },
        slices: (
            cb_color0_view::SLICE_START.of(view),
            cb_color0_view::SLICE_MAX.of(view),
        ),
        returned: u64::from(s.raw(eg::CB_IMMED0_BASE + 4 * index as u32)) << 8,
        compare: 3,
    })
}

/// `BASE`, `PITCH`, `SLICE`, `VIEW`, `INFO`, `ATTRIB` and `DIM` of target `index`.
fn registers(index: usize) -> Option<[u32; 7]> {
    let first = [
        eg::CB_COLOR0_BASE,
        eg::CB_COLOR0_PITCH,
        eg::CB_COLOR0_SLICE,
        eg::CB_COLOR0_VIEW,
        eg::CB_COLOR0_INFO,
        eg::CB_COLOR0_ATTRIB,
        eg::CB_COLOR0_DIM,
    ];
    Some(match index {
        0..8 => first.map(|register| register + TARGET * index as u32),
        8 => [
            eg::CB_COLOR8_BASE,
            eg::CB_COLOR8_PITCH,
            eg::CB_COLOR8_SLICE,
            eg::CB_COLOR8_VIEW,
            eg::CB_COLOR8_INFO,
            eg::CB_COLOR8_ATTRIB,
            eg::CB_COLOR8_DIM,
        ],
        9 => [
            eg::CB_COLOR9_BASE,
            eg::CB_COLOR9_PITCH,
            eg::CB_COLOR9_SLICE,
            eg::CB_COLOR9_VIEW,
            eg::CB_COLOR9_INFO,
            eg::CB_COLOR9_ATTRIB,
            eg::CB_COLOR9_DIM,
        ],
        10 => [
            eg::CB_COLOR10_BASE,
            eg::CB_COLOR10_PITCH,
            eg::CB_COLOR10_SLICE,
            eg::CB_COLOR10_VIEW,
            eg::CB_COLOR10_INFO,
            eg::CB_COLOR10_ATTRIB,
            eg::CB_COLOR10_DIM,
        ],
        11 => [
            eg::CB_COLOR11_BASE,
            eg::CB_COLOR11_PITCH,
            eg::CB_COLOR11_SLICE,
            eg::CB_COLOR11_VIEW,
            eg::CB_COLOR11_INFO,
            eg::CB_COLOR11_ATTRIB,
            eg::CB_COLOR11_DIM,
        ],
        _ => return None,
    })
}

/// The tiling geometry of a target, from `CB_COLORn_ATTRIB`.
fn tiling(shared: TilingConfig, attrib: u32) -> TilingConfig {
    shared.of_surface(
        cb_color0_attrib::TILE_SPLIT.of(attrib),
        cb_color0_attrib::NUM_BANKS.of(attrib),
        cb_color0_attrib::BANK_WIDTH.of(attrib),
        cb_color0_attrib::BANK_HEIGHT.of(attrib),
        cb_color0_attrib::MACRO_TILE_ASPECT.of(attrib),
    )
}

/// `DB_Z_INFO`, `DB_STENCIL_INFO` and their buffers.
pub(super) fn depth(
    s: &Shadow,
    shared: TilingConfig,
    samples: u32,
) -> Option<(depth::State, depth_tile::Surface)> {
    let (z, stencil) = (s.raw(eg::DB_Z_INFO), s.raw(eg::DB_STENCIL_INFO));
    let has_stencil = db_stencil_info::FORMAT.is_set(stencil);
    let format = match db_z_info::FORMAT.of(z) {
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
            db_z_info::NUM_BANKS.of(z),
            db_z_info::BANK_WIDTH.of(z),
            db_z_info::BANK_HEIGHT.of(z),
            db_z_info::MACRO_TILE_ASPECT.of(z),
        )
    };
    // TILE_STENCIL_DISABLE, which Mesa's header does not have.
    let (tiles, no_stencil) = (
        db_z_info::TILE_SURFACE_ENABLE.is_set(z),
        bits(stencil, 29, 1) != 0,
    );
    let plane = |base: u32, split: u32, tiles: bool, disable: Field| depth_tile::Plane {
        base: u64::from(s.raw(base)) << 8,
        config: config(split),
        compression: depth_tile::compression(s, tiles, &[disable]),
    };
    let view = s.raw(eg::DB_DEPTH_VIEW);
    let planes = depth_tile::Planes {
        mode: ArrayMode::from_field(db_z_info::ARRAY_MODE.of(z)),
        pitch: (db_depth_size::PITCH_TILE_MAX.of(s.raw(eg::DB_DEPTH_SIZE)) + 1) * 8,
        slice: (db_depth_slice::SLICE_TILE_MAX.of(s.raw(eg::DB_DEPTH_SLICE)) + 1) * 64,
        slices: (
            cb_color0_view::SLICE_START.of(view),
            cb_color0_view::SLICE_MAX.of(view),
        ),
        samples,
        depth: plane(
            eg::DB_Z_WRITE_BASE,
            db_z_info::TILE_SPLIT.of(z),
            tiles,
            db_render_control::DEPTH_COMPRESS_DISABLE,
        ),
        stencil: has_stencil.then(|| {
            let split = db_stencil_info::TILE_SPLIT.of(stencil);
            plane(
                eg::DB_STENCIL_WRITE_BASE,
                split,
                tiles && !no_stencil,
                db_render_control::STENCIL_COMPRESS_DISABLE,
            )
        }),
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
        assert!(f.mag_linear && f.min_linear && !f.seamless && f.float_border);
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
        assert!(c.depth_order && c.cleared.is_none() && !c.half);
        assert_eq!((c.config.log2_split, c.config.log2_banks), (11, 3));
        let s = shadow(&[
            (0x2_8C70 + 0x3C, 0x1A << 2 | 1 << 17),
            (0x2_8C7C + 0x3C, 0x77),
            (0x2_8C80 + 0x3C, 3),
            (0x2_8C8C + 0x3C, 5),
            (0x2_8C90 + 0x3C, 6),
        ]);
        let cleared = FastClear {
            mask: 0x7700,
            slice: 4 * 128,
            element: [5, 6],
        };
        assert_eq!(colour(&s, &None, 1).cleared, Some(cleared));
        let half = |source: u32| {
            let s = shadow(&[(0x2_8C70 + 0x3C, 0x1A << 2 | source << 24)]);
            colour(&s, &None, 1).half
        };
        // 4C_32BPC, 4C_16BPC, 2C_32BPC.
        assert_eq!([half(0), half(1), half(2)], [false, true, false]);
    }

    #[test]
    fn targets_of_random_access_are_no_render_targets() {
        struct None;
        impl RegFile for None {
            fn load(&self, _: u32) -> u32 {
                0
            }
            fn store(&self, _: u32, _: u32) {}
        }
        // evergreen_set_shader_buffers(): 32, UINT, linear, RESOURCE_TYPE buffer.
        let info = 0x0D << 2 | 1 << 8 | 4 << 12 | 1 << 26;
        let s = shadow(&[
            (0x2_8C60 + 0x3C, 0x55),
            (0x2_8C70 + 0x3C, info),
            (0x2_8C78 + 0x3C, 0x1_0000),
            (0x2_8B9C + 4, 0x66),
            // Target 9, a 2D array; target 10 has no RAT.
            (0x2_8E5C, 0x77),
            (0x2_8E68, 2 | 5 << 13),
            (0x2_8E6C, info | 4 << 27),
            (0x2_8E74, 99 | 49 << 16),
            (0x2_8E88, 0x0D << 2),
        ]);
        assert_eq!(colour(&s, &None, 1).info, 0);
        let buffer = random_access(&s, &None, 1).unwrap();
        assert_eq!(
            (buffer.kind, buffer.last),
            (rat::Kind::Buffer, [0x1_0000, 0])
        );
        assert_eq!((buffer.base, buffer.returned), (0x5500, 0x6600));
        let image = random_access(&s, &None, 9).unwrap();
        assert_eq!((image.kind, image.last), (rat::Kind::Planes, [99, 49]));
        assert_eq!((image.base, image.slices), (0x7700, (2, 5)));
        for none in [0, 10, 12, 100] {
            assert!(random_access(&s, &None, none).is_none(), "{none}");
        }
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
