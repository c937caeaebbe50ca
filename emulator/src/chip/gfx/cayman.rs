// SPDX-License-Identifier: MIT
//! Cayman's decoders, where they are not Evergreen's. The shader encoding is
//! [`r900`](super::shader::r900); addresses are those of the draw's VM context.
//!
//! Sources: Mesa's `evergreend.h` (`CM_*`), `cayman_msaa.c` and the places of `evergreen_state.c`
//! that ask for Cayman; `sfn_instr_mem.cpp` (operands of atomic operations).
//!
//! `DB_EQAA` and the numbers of samples and fragments of a surface are as many as
//! `PA_SC_AA_CONFIG` has samples: Mesa uses no coverage samples. `DB_COUNT_CONTROL`'s `SAMPLE_RATE` and
//! `PS_ITER_SAMPLES` follow from them, too.

use super::colour::ColourBuffer;
use super::evergreen::{self, TABLE};
use super::front::Front;
use super::rat::Rat;
use super::shader::Isa;
use super::state::Shadow;
use super::texture::resource::Texture;
use super::texture::sampler::{Filter, Sampler};
use crate::chip::bus::RegFile;
use crate::chip::regs::fields::cayman::cayman_pa_sc_aa_config;
use crate::chip::regs::fields::evergreen::cb_color0_attrib;
use crate::chip::regs::fields::words::evergreen::{
    sq_tex_resource_word0, CAYMAN_NON_DISP_TILING_ORDER,
};
use crate::chip::regs::{self, cayman::gfx as cm, gfx as reg};
use crate::chip::tiling::TilingConfig;

/// The decoders.
pub static FRONT: Front = Front {
    name: "Cayman",
    registers: || &regs::CAYMAN,
    isa: Isa::R900,
    translate: Some(translate),
    texture,
    sampler,
    colour,
    random_access,
    ..TABLE
};

/// Registers with the same fields: here, and R7xx's place. The places of samples are those of pixel 0;
/// Mesa gives all four pixels the same.
const MOVED: [(u32, u32); 8] = [
    (cm::CAYMAN_PA_SC_LINE_CNTL, reg::PA_SC_LINE_CNTL),
    (cm::CAYMAN_PA_SU_VTX_CNTL, reg::PA_SU_VTX_CNTL),
    (
        cm::CAYMAN_PA_CL_GB_VERT_CLIP_ADJ,
        reg::PA_CL_GB_VERT_CLIP_ADJ,
    ),
    (
        cm::CAYMAN_PA_CL_GB_VERT_DISC_ADJ,
        reg::PA_CL_GB_VERT_DISC_ADJ,
    ),
    (
        cm::CAYMAN_PA_CL_GB_HORZ_CLIP_ADJ,
        reg::PA_CL_GB_HORZ_CLIP_ADJ,
    ),
    (
        cm::CAYMAN_PA_CL_GB_HORZ_DISC_ADJ,
        reg::PA_CL_GB_HORZ_DISC_ADJ,
    ),
    (
        cm::PA_SC_AA_SAMPLE_LOCS_PIXEL_X0_Y0_0,
        reg::PA_SC_AA_SAMPLE_LOCS_MCTX,
    ),
    (
        cm::PA_SC_AA_SAMPLE_LOCS_PIXEL_X0_Y0_1,
        reg::PA_SC_AA_SAMPLE_LOCS_8S_WD1_MCTX,
    ),
];

/// Most samples that the pipeline has, as a logarithm. Mesa offers no more.
const LOG2_SAMPLES: u32 = 3;

/// Sets R7xx's registers: Evergreen's, and those that Cayman has elsewhere.
fn translate(s: &mut Shadow) {
    evergreen::translate(s);
    for (from, to) in MOVED {
        s.set(to, s.raw(from));
    }
    // MSAA_NUM_SAMPLES has three bits.
    let config = s.raw(cm::CAYMAN_PA_SC_AA_CONFIG);
    let samples = cayman_pa_sc_aa_config::MSAA_NUM_SAMPLES
        .of(config)
        .min(LOG2_SAMPLES);
    s.set(reg::PA_SC_AA_CONFIG, config & !7 | samples);
    // Masks of 16 samples for each pixel of a quad.
    let [upper, lower] =
        [cm::PA_SC_AA_MASK_X0_Y0_X1_Y0, cm::PA_SC_AA_MASK_X0_Y1_X1_Y1].map(|row| s.raw(row));
    let pair = |row: u32| row & 0xFF | row >> 8 & 0xFF00;
    s.set(reg::PA_SC_AA_MASK, pair(upper) | pair(lower) << 16);
}

/// `NON_DISP_TILING_ORDER` of a texture has bits 4 and 5.
fn texture(words: &[u32; 8], config: TilingConfig) -> Option<Texture> {
    let both = CAYMAN_NON_DISP_TILING_ORDER;
    let one = sq_tex_resource_word0::NON_DISP_TILING_ORDER;
    let mut words = *words;
    words[0] = words[0] & !both.with(!0) | one.with(both.is_set(words[0]).into());
    (TABLE.texture)(&words, config)
}

/// Border colours of textures of integers are integers.
fn sampler(sampler: &Sampler) -> Filter {
    Filter {
        float_border: false,
        ..(TABLE.sampler)(sampler)
    }
}

/// `FORCE_DST_ALPHA_1` of a target: blending takes 1 for the alpha that is there.
fn colour(s: &Shadow, regs: &dyn RegFile, index: usize) -> ColourBuffer {
    ColourBuffer {
        opaque: cb_color0_attrib::FORCE_DST_ALPHA_1.is_set(evergreen::colour_attributes(s, index)),
        ..(TABLE.colour)(s, regs, index)
    }
}

/// A comparison's operand is in the third component.
fn random_access(s: &Shadow, regs: &dyn RegFile, index: usize) -> Option<Rat> {
    let rat = (TABLE.random_access)(s, regs, index)?;
    Some(Rat { compare: 2, ..rat })
}

#[cfg(test)]
mod tests {
    use super::super::evergreen::tests::{shadow_of, NoRegisters};
    use super::*;
    use crate::chip::gfx::state::SetupState;
    use crate::chip::gfx::texture::resource::Level;

    fn shadow(registers: &[(u32, u32)]) -> Shadow {
        shadow_of(&FRONT, registers)
    }

    #[test]
    fn samples_are_where_mesa_puts_them() {
        // cayman_emit_msaa_state() of four samples; Evergreen's places have others.
        let s = shadow(&[
            (0x2_8A48, 1),
            (0x2_8BDC, 1 << 9),
            (0x2_8BE0, 2 | 6 << 13 | 2 << 20),
            (0x2_8BE4, 1),
            (0x2_8BE8, 2f32.to_bits()),
            (0x2_8BF0, 3f32.to_bits()),
            (0x2_8BF8, 0x622A_E66A),
            (0x2_8C38, 0x00FF_00A5),
            (0x2_8C3C, 0x0011_0022),
            (0x2_8C04, 1),
            (0x2_8C1C, 0x7777_7777),
        ]);
        let setup = SetupState::decode(&s);
        assert_eq!((setup.samples(), setup.center_half), (4, true));
        assert_eq!(setup.guard, [3.0, 2.0]);
        assert!(setup.line_rectangular);
        assert_eq!(setup.sample_mask, [0xA5, 0xFF, 0x22, 0x11]);
        // -6 and 6 sixteenths of a pixel, then 6 and -2.
        assert_eq!(setup.sample_places[..2], [[-6, 6], [6, -2]]);
        // Sixteen samples are more than the pipeline has. Of eight, the last four have a register of
        // their own.
        let most = shadow(&[
            (0x2_8A48, 1),
            (0x2_8BE0, 4),
            (0x2_8BF8, 0x622A_E66A),
            (0x2_8BFC, 0x1234_5678),
        ]);
        let setup = SetupState::decode(&most);
        assert_eq!(setup.samples(), 8);
        assert_eq!(setup.sample_places[..2], [[-6, 6], [6, -2]]);
        assert_eq!(setup.sample_places[4..6], [[-8, 7], [6, 5]]);
    }

    #[test]
    fn a_textures_order_has_another_bit_than_evergreens() {
        // 64x64 RGBA8, 2D, 8 banks.
        let words = |order: u32| {
            let word0 = 1 | order << 4 | (64 / 8 - 1) << 6 | 63 << 18;
            let word7 = 0x1A | 2 << 16 | 2 << 30;
            [
                word0,
                63 | 4 << 28,
                0x100,
                0x100,
                0o3210 << 16,
                0,
                4 << 29,
                word7,
            ]
        };
        let config = TilingConfig::from_address_config(0x0201_1003);
        for (order, depth) in [(0, false), (1, true)] {
            let t = texture(&words(order), config).unwrap();
            let Level { surface, .. } = *t.level(0).unwrap();
            assert_eq!(surface.layout.depth_order, depth, "{order}");
            assert_eq!(surface.layout.config.log2_pipes, 3);
        }
    }

    #[test]
    fn border_colours_of_integers_are_integers() {
        assert!(!(FRONT.sampler)(&Sampler::default()).float_border);
        assert!((TABLE.sampler)(&Sampler::default()).float_border);
    }

    #[test]
    fn targets_can_have_alpha_1_and_compare_the_third_component() {
        let target = |attrib| {
            let s = shadow(&[(0x2_8C70 + 0x3C, 0x1A << 2), (0x2_8C74 + 0x3C, attrib)]);
            colour(&s, &NoRegisters, 1).opaque
        };
        assert_eq!([target(0), target(1 << 31)], [false, true]);
        let s = shadow(&[(0x2_8C70 + 0x3C, 0x0D << 2 | 1 << 8 | 4 << 12 | 1 << 26)]);
        assert_eq!(random_access(&s, &NoRegisters, 1).unwrap().compare, 2);
        assert_eq!(
            (TABLE.random_access)(&s, &NoRegisters, 1).unwrap().compare,
            3
        );
    }
}
