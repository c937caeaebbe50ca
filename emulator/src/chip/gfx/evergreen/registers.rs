// SPDX-License-Identifier: MIT
//! Context registers in R7xx's places, and the indexed registers of border colours.

use std::sync::Arc;

use super::super::compute::MOST_SHARE;
use super::super::front::VertexStreams;
use super::super::state::{bit, bits, Shadow};
use super::super::tessellation::Config;
use super::super::tessellator::{Domain, Output, Spacing, Tessellator, MOST_SEGMENTS};
use crate::chip::bus::Registers;
use crate::chip::hub::Hub;
use crate::chip::regs::evergreen::gfx as eg;
use crate::chip::regs::fields::evergreen::{
    cb_blend0_control, cb_color_control, db_count_control, pa_sc_mode_cntl_0, pa_sc_mode_cntl_1,
    vgt_gs_instance_cnt, vgt_ls_hs_config, vgt_shader_stages_en, vgt_strmout_config, vgt_tf_param,
};
use crate::chip::regs::fields::{r700, Field};
use crate::chip::regs::{gfx as reg, vgt};

/// Registers with the same fields: here, R7xx's place, number of consecutive ones.
const MOVED: &[(u32, u32, u32)] = &[
    (eg::DB_RENDER_OVERRIDE, reg::DB_RENDER_OVERRIDE, 1),
    (eg::DB_STENCIL_CLEAR, reg::DB_STENCIL_CLEAR, 2),
    (eg::PA_SC_SCREEN_SCISSOR_TL, reg::PA_SC_SCREEN_SCISSOR_TL, 2),
    (eg::PA_SC_WINDOW_OFFSET, reg::PA_SC_WINDOW_OFFSET, 12),
    (eg::CB_TARGET_MASK, reg::CB_TARGET_MASK, 2),
    (
        eg::PA_SC_GENERIC_SCISSOR_TL,
        reg::PA_SC_GENERIC_SCISSOR_TL,
        2,
    ),
    (
        eg::PA_SC_VPORT_SCISSOR_0_TL,
        reg::PA_SC_VPORT_SCISSOR_0_TL,
        32,
    ),
    (eg::PA_SC_VPORT_ZMIN_0, reg::PA_SC_VPORT_ZMIN_0, 32),
    (eg::SQ_VTX_SEMANTIC_0, reg::SQ_VTX_SEMANTIC_0, 32),
    (eg::VGT_MAX_VTX_INDX, reg::VGT_MAX_VTX_INDX, 4),
    (eg::SX_ALPHA_TEST_CONTROL, reg::SX_ALPHA_TEST_CONTROL, 1),
    (eg::CB_BLEND_RED, reg::CB_BLEND_RED, 4),
    (eg::DB_STENCILREFMASK, reg::DB_STENCILREFMASK, 2),
    (eg::SX_ALPHA_REF, reg::SX_ALPHA_REF, 1),
    (eg::PA_CL_VPORT_XSCALE_0, reg::PA_CL_VPORT_XSCALE_0, 96),
    (eg::PA_CL_UCP_0_X, reg::PA_CL_UCP_0_X, 24),
    (eg::SPI_VS_OUT_ID_0, reg::SPI_VS_OUT_ID_0, 10),
    (eg::SPI_PS_INPUT_CNTL_0, reg::SPI_PS_INPUT_CNTL_0, 32),
    (eg::SPI_VS_OUT_CONFIG, reg::SPI_VS_OUT_CONFIG, 1),
    (eg::SPI_PS_IN_CONTROL_0, reg::SPI_PS_IN_CONTROL_0, 2),
    (eg::SPI_INTERP_CONTROL_0, reg::SPI_INTERP_CONTROL_0, 1),
    (eg::CB_BLEND0_CONTROL, reg::CB_BLEND0_CONTROL, 8),
    (eg::DB_DEPTH_CONTROL, reg::DB_DEPTH_CONTROL, 1),
    (eg::DB_SHADER_CONTROL, reg::DB_SHADER_CONTROL, 1),
    (eg::PA_CL_CLIP_CNTL, reg::PA_CL_CLIP_CNTL, 4),
    (eg::SQ_PGM_START_FS, reg::SQ_PGM_START_FS, 1),
    (eg::SQ_PGM_RESOURCES_FS, reg::SQ_PGM_RESOURCES_FS, 1),
    (eg::SQ_ESGS_RING_ITEMSIZE, reg::SQ_ESGS_RING_ITEMSIZE, 1),
    (eg::SQ_GSVS_RING_ITEMSIZE, reg::SQ_GSVS_RING_ITEMSIZE, 1),
    (eg::PA_SU_POINT_SIZE, reg::PA_SU_POINT_SIZE, 4),
    (eg::VGT_GS_MODE, reg::VGT_GS_MODE, 1),
    (vgt::VGT_DMA_INDEX_TYPE, vgt::VGT_DMA_INDEX_TYPE, 1),
    (vgt::VGT_DMA_NUM_INSTANCES, vgt::VGT_DMA_NUM_INSTANCES, 1),
    (eg::VGT_PRIMITIVEID_EN, reg::VGT_PRIMITIVEID_EN, 1),
    (
        eg::VGT_MULTI_PRIM_IB_RESET_EN,
        reg::VGT_MULTI_PRIM_IB_RESET_EN,
        1,
    ),
    (
        eg::VGT_STRMOUT_BUFFER_SIZE_0,
        reg::VGT_STRMOUT_BUFFER_SIZE_0,
        16,
    ),
    (
        eg::VGT_STRMOUT_DRAW_OPAQUE_OFFSET,
        reg::VGT_STRMOUT_DRAW_OPAQUE_OFFSET,
        3,
    ),
    (eg::VGT_GS_MAX_VERT_OUT, reg::VGT_GS_MAX_VERT_OUT, 1),
    (eg::DB_ALPHA_TO_MASK, reg::DB_ALPHA_TO_MASK, 1),
    (
        eg::PA_SU_POLY_OFFSET_DB_FMT_CNTL,
        reg::PA_SU_POLY_OFFSET_DB_FMT_CNTL,
        6,
    ),
    (eg::PA_SC_LINE_CNTL, reg::PA_SC_LINE_CNTL, 7),
    // Of pixel 0; Mesa gives all four the same.
    (
        eg::PA_SC_AA_SAMPLE_LOCS_0,
        reg::PA_SC_AA_SAMPLE_LOCS_MCTX,
        2,
    ),
    (eg::PA_SC_AA_MASK, reg::PA_SC_AA_MASK, 1),
    (eg::SQ_VTX_BASE_VTX_LOC, reg::SQ_VTX_BASE_VTX_LOC, 2),
];

/// A register and one of its fields.
type Place = (u32, Field);

/// Fields that are elsewhere: here, R7xx's place.
const MOVED_FIELDS: &[(Place, Place)] = {
    use pa_sc_mode_cntl_0 as mode_0;
    use r700::pa_sc_mode_cntl as mode;
    const fn of_mode(field: Field) -> Place {
        (reg::PA_SC_MODE_CNTL, field)
    }
    const fn of_mode_0(field: Field) -> Place {
        (eg::PA_SC_MODE_CNTL_0, field)
    }
    &[
        (of_mode_0(mode_0::MSAA_ENABLE), of_mode(mode::MSAA_ENABLE)),
        (
            of_mode_0(mode_0::LINE_STIPPLE_ENABLE),
            of_mode(mode::LINE_STIPPLE_ENABLE),
        ),
        (
            of_mode_0(mode_0::VPORT_SCISSOR_ENABLE),
            of_mode(mode::VPORT_SCISSOR_ENABLE),
        ),
        (
            (eg::PA_SC_MODE_CNTL_1, pa_sc_mode_cntl_1::PS_ITER_SAMPLE),
            of_mode(mode::PS_ITER_SAMPLE),
        ),
        (
            (
                eg::DB_COUNT_CONTROL,
                db_count_control::ZPASS_INCREMENT_DISABLE,
            ),
            (
                reg::DB_RENDER_CONTROL,
                r700::db_render_control::ZPASS_INCREMENT_DISABLE,
            ),
        ),
    ]
};

/// Sets R7xx's registers: those of [`MOVED`], and those whose fields differ.
pub(in super::super) fn translate(s: &mut Shadow) {
    for &(from, to, count) in MOVED {
        for i in 0..count {
            s.set(to + 4 * i, s.raw(from + 4 * i));
        }
    }
    s.set(reg::DB_RENDER_CONTROL, s.raw(eg::DB_RENDER_CONTROL));
    for &((register, field), (place, of)) in MOVED_FIELDS {
        let others = s.get(place) & !of.with(u32::MAX);
        s.set(place, others | of.with(field.of(s.raw(register))));
    }
    s.set(reg::CB_COLOR_CONTROL, colour_control(s));
}

/// `VGT_STRMOUT_CONFIG`, `VGT_STRMOUT_BUFFER_CONFIG` and the geometry shader's registers of each
/// stream (`evergreen_update_gs_state()`, `r600_emit_streamout_enable()` in Mesa).
pub(super) fn streams(s: &Shadow) -> VertexStreams {
    let (config, buffers) = (
        s.raw(eg::VGT_STRMOUT_CONFIG),
        s.raw(eg::VGT_STRMOUT_BUFFER_CONFIG),
    );
    let dwords = |register| bits(s.raw(register), 0, 15);
    let kinds = s.raw(eg::VGT_GS_OUT_PRIM_TYPE);
    VertexStreams {
        enabled: std::array::from_fn(|n| bit(config, n as u32)),
        buffers: std::array::from_fn(|n| bits(buffers, 4 * n as u32, 4) as u8),
        rasterised: vgt_strmout_config::RAST_STREAM.of(config) as usize,
        vertex_size: [
            eg::SQ_GS_VERT_ITEMSIZE,
            eg::SQ_GS_VERT_ITEMSIZE_1,
            eg::SQ_GS_VERT_ITEMSIZE_2,
            eg::SQ_GS_VERT_ITEMSIZE_3,
        ]
        .map(dwords),
        ring_offset: [
            0,
            dwords(eg::SQ_GSVS_RING_OFFSET_1),
            dwords(eg::SQ_GSVS_RING_OFFSET_2),
            dwords(eg::SQ_GSVS_RING_OFFSET_3),
        ],
        invocations: match s.raw(eg::VGT_GS_INSTANCE_CNT) {
            count if vgt_gs_instance_cnt::ENABLE.is_set(count) => {
                vgt_gs_instance_cnt::CNT.of(count).max(1)
            }
            _ => 1,
        },
        // OUTPRIM_TYPE, OUTPRIM_TYPE_1 to 3
        kind: std::array::from_fn(|n| bits(kinds, 8 * n as u32, 6)),
    }
}

/// The registers of tessellation; none unless `VGT_SHADER_STAGES_EN` has local and hull shader
/// (`evergreen_emit_shader_stages()`, `evergreen_get_ls_hs_config()` in Mesa).
pub(super) fn tessellation(s: &Shadow) -> Option<Config> {
    let stages = s.raw(eg::VGT_SHADER_STAGES_EN);
    if vgt_shader_stages_en::LS_EN.of(stages) != 1 || !vgt_shader_stages_en::HS_EN.is_set(stages) {
        return None;
    }
    let (tf, config) = (s.raw(eg::VGT_TF_PARAM), s.raw(eg::VGT_LS_HS_CONFIG));
    let domain = match vgt_tf_param::TYPE.of(tf) {
        0 => Domain::Isolines,
        1 => Domain::Triangles,
        _ => Domain::Quads,
    };
    let most = f32::from_bits(s.raw(eg::VGT_HOS_MAX_TESS_LEVEL));
    Some(Config {
        tessellator: Tessellator {
            domain,
            // 1 is of powers of two, which the compiler has to take care of.
            spacing: match vgt_tf_param::PARTITIONING.of(tf) {
                2 => Spacing::FractionalOdd,
                3 => Spacing::FractionalEven,
                _ => Spacing::Equal,
            },
            // v points down in Direct3D's domain, for which it is named.
            output: match vgt_tf_param::TOPOLOGY.of(tf) {
                0 => Output::Points,
                1 => Output::Lines,
                2 => Output::Counterclockwise,
                _ => Output::Clockwise,
            },
            most: most.max(1.0).min(MOST_SEGMENTS) as u8,
        },
        patches: vgt_ls_hs_config::NUM_PATCHES.of(config).max(1),
        inputs: vgt_ls_hs_config::HS_NUM_INPUT_CP.of(config).max(1),
        outputs: vgt_ls_hs_config::HS_NUM_OUTPUT_CP.of(config).max(1),
        share: bits(s.raw(eg::SQ_LDS_ALLOC), 0, 14).min(MOST_SHARE) as usize,
    })
}

/// `CB_COLOR_CONTROL` in R7xx's form: `MODE` as `SPECIAL_OP`, the blend enables of all targets, which
/// have blend controls of their own.
fn colour_control(s: &Shadow) -> u32 {
    let control = s.raw(eg::CB_COLOR_CONTROL);
    let special = match cb_color_control::MODE.of(control) {
        // CB_NORMAL, CB_RESOLVE
        1 => 0,
        3 => 7,
        // CB_ELIMINATE_FAST_CLEAR, CB_DECOMPRESS and CB_FMASK_DECOMPRESS as SPECIAL_EXPAND_COLOR.
        2 | 4 | 5 => 4,
        // R7xx's SPECIAL_DISABLE.
        _ => 1,
    };
    let blends = (0..8).fold(0, |all, i| {
        let blend = s.raw(eg::CB_BLEND0_CONTROL + 4 * i);
        let enabled = cb_blend0_control::BLEND_CONTROL_ENABLE.is_set(blend);
        all | u32::from(enabled) << (8 + i)
    });
    let special = r700::cb_color_control::SPECIAL_OP.with(special);
    control & 0xFF_0000 | special | r700::cb_color_control::PER_MRT_BLEND.with(1) | blends
}

/// First place of the border colours in the register file: beyond all registers of the chip.
const PLACE: u32 = 0x2_A000;
/// Samplers of a stage.
const SAMPLERS: u32 = 18;
/// Registers of the stages: index, red, green, blue, alpha.
const BORDERS: [[u32; 5]; 6] = [
    [
        eg::TD_PS_BORDER_COLOR_INDEX,
        eg::TD_PS_BORDER_COLOR_RED,
        eg::TD_PS_BORDER_COLOR_GREEN,
        eg::TD_PS_BORDER_COLOR_BLUE,
        eg::TD_PS_BORDER_COLOR_ALPHA,
    ],
    [
        eg::TD_VS_BORDER_COLOR_INDEX,
        eg::TD_VS_BORDER_COLOR_RED,
        eg::TD_VS_BORDER_COLOR_GREEN,
        eg::TD_VS_BORDER_COLOR_BLUE,
        eg::TD_VS_BORDER_COLOR_ALPHA,
    ],
    [
        eg::TD_GS_BORDER_COLOR_INDEX,
        eg::TD_GS_BORDER_COLOR_RED,
        eg::TD_GS_BORDER_COLOR_GREEN,
        eg::TD_GS_BORDER_COLOR_BLUE,
        eg::TD_GS_BORDER_COLOR_ALPHA,
    ],
    [
        eg::TD_HS_BORDER_COLOR_INDEX,
        eg::TD_HS_BORDER_COLOR_RED,
        eg::TD_HS_BORDER_COLOR_GREEN,
        eg::TD_HS_BORDER_COLOR_BLUE,
        eg::TD_HS_BORDER_COLOR_ALPHA,
    ],
    [
        eg::TD_LS_BORDER_COLOR_INDEX,
        eg::TD_LS_BORDER_COLOR_RED,
        eg::TD_LS_BORDER_COLOR_GREEN,
        eg::TD_LS_BORDER_COLOR_BLUE,
        eg::TD_LS_BORDER_COLOR_ALPHA,
    ],
    [
        eg::TD_CS_BORDER_COLOR_INDEX,
        eg::TD_CS_BORDER_COLOR_RED,
        eg::TD_CS_BORDER_COLOR_GREEN,
        eg::TD_CS_BORDER_COLOR_BLUE,
        eg::TD_CS_BORDER_COLOR_ALPHA,
    ],
];

/// The border colours: of each stage four registers for the sampler that an index selects.
#[derive(Debug)]
pub struct BorderColours {
    hub: Arc<Hub>,
}

impl BorderColours {
    /// Registers in `hub`'s register file.
    pub(crate) fn new(hub: Arc<Hub>) -> Self {
        Self { hub }
    }

    /// Byte offset of the red component of sampler `sampler` of stage `stage` in the register
    /// file.
    pub const fn place(stage: u32, sampler: u32) -> u32 {
        PLACE + 16 * (SAMPLERS * stage + sampler)
    }
}

impl Registers for BorderColours {
    fn read(&self, offset: u32) -> u32 {
        self.hub.regs.load(offset)
    }

    fn write(&self, offset: u32, value: u32) {
        self.hub.regs.store(offset, value);
        let found = (BORDERS.iter().enumerate()).find_map(|(stage, registers)| {
            let at = registers.iter().position(|r| *r == offset)?;
            Some((stage as u32, registers[0], at.checked_sub(1)?))
        });
        if let Some((stage, index, component)) = found {
            let sampler = self.hub.regs.load(index) % SAMPLERS;
            let place = Self::place(stage, sampler) + 4 * component as u32;
            self.hub.regs.store(place, value);
        }
    }
}

#[cfg(test)]
pub(in super::super) mod tests {
    use super::super::FRONT;
    use super::*;
    use crate::chip::bus::{Mc, McError, RegFile};
    use crate::chip::engine::Cancelled;
    use crate::chip::gfx::front::Front;
    use crate::chip::gfx::state::SetupState;
    use crate::chip::gfx::{Control, GfxContext};
    use std::collections::HashMap;

    struct Nothing;
    impl Mc for Nothing {
        fn read(&self, addr: u64, _: &mut [u8]) -> Result<(), McError> {
            Err(McError::Unmapped(addr))
        }
        fn write(&self, addr: u64, _: &[u8]) -> Result<(), McError> {
            Err(McError::Unmapped(addr))
        }
    }
    impl Control for Nothing {
        fn check(&self) -> Result<(), Cancelled> {
            Ok(())
        }
    }
    struct Regs(HashMap<u32, u32>);
    impl RegFile for Regs {
        fn load(&self, offset: u32) -> u32 {
            self.0.get(&offset).copied().unwrap_or(0)
        }
        fn store(&self, _: u32, _: u32) {}
    }

    /// A register file that has nothing.
    pub(in super::super::super) struct NoRegisters;
    impl RegFile for NoRegisters {
        fn load(&self, _: u32) -> u32 {
            0
        }
        fn store(&self, _: u32, _: u32) {}
    }

    pub(in super::super) fn shadow(registers: &[(u32, u32)]) -> Shadow {
        shadow_of(&FRONT, registers)
    }

    /// The registers with these values, all others 0, as `front` decodes them.
    pub(in super::super::super) fn shadow_of(
        front: &'static Front,
        registers: &[(u32, u32)],
    ) -> Shadow {
        let regs = Regs(registers.iter().copied().collect());
        let mut shadow = Shadow::new(front);
        shadow.refresh(&GfxContext {
            regs: &regs,
            mc: &Nothing,
            control: &Nothing,
        });
        shadow
    }

    #[test]
    fn moved_registers_arrive_and_others_do_not() {
        // A plane's y at 0x285C0, and R7xx's place of it.
        let s = shadow(&[(0x2_85C0, 7), (0x2_8E28, 9)]);
        assert_eq!(s.get(reg::PA_CL_UCP_0_X + 4), 7);
        assert_eq!(
            s.get(reg::PA_CL_UCP_0_X + 8),
            0,
            "not what the chip has there"
        );
        for (i, (from, to, count)) in MOVED.iter().enumerate() {
            let s = shadow(&[(from + 4 * (count - 1), 0x1234)]);
            assert_eq!(s.get(to + 4 * (count - 1)), 0x1234, "{i}: {from:#x}");
        }
    }

    #[test]
    fn tessellation_needs_both_shaders_and_has_its_fields() {
        let decode = |stages: u32, tf: u32, most: f32| {
            super::tessellation(&shadow(&[
                (eg::VGT_SHADER_STAGES_EN, stages),
                (eg::VGT_TF_PARAM, tf),
                (eg::VGT_LS_HS_CONFIG, 2 | 32 << 8 | 5 << 14),
                (eg::VGT_HOS_MAX_TESS_LEVEL, most.to_bits()),
                (eg::SQ_LDS_ALLOC, 96 | 3 << 14),
            ]))
        };
        // Off, without hull shader, with a compute shader.
        for stages in [0, 1, 4, 2 | 4] {
            assert_eq!(decode(stages, 0, 64.0), None, "{stages}");
        }
        let found = decode(1 | 4 | 1 << 6, 2 | 3 << 2 | 2 << 5, 64.0).unwrap();
        let expected = Tessellator {
            domain: Domain::Quads,
            spacing: Spacing::FractionalEven,
            output: Output::Counterclockwise,
            most: 64,
        };
        assert_eq!(found.tessellator, expected);
        assert_eq!((found.patches, found.inputs, found.outputs), (2, 32, 5));
        assert_eq!(found.share, 96);
        let other = decode(5, 1 | 2 << 2 | 3 << 5, 16.0).unwrap().tessellator;
        assert_eq!((other.domain, other.most), (Domain::Triangles, 16));
        assert_eq!(other.spacing, Spacing::FractionalOdd);
        assert_eq!(other.output, Output::Clockwise);
        let isolines = decode(5, 1 << 5, f32::NAN).unwrap().tessellator;
        assert_eq!((isolines.domain, isolines.most), (Domain::Isolines, 1));
        assert_eq!(
            (isolines.spacing, isolines.output),
            (Spacing::Equal, Output::Lines)
        );
    }

    #[test]
    fn scissors_reach_16384() {
        let s = shadow(&[(0x2_8244, 0x4000 | 0x4000 << 16), (0x2_8240, 1 << 31 | 5)]);
        assert_eq!(s.get(reg::PA_SC_GENERIC_SCISSOR_BR), 0x4000 | 0x4000 << 16);
        assert_eq!(s.get(reg::PA_SC_GENERIC_SCISSOR_TL), 1 << 31 | 5);
        let all = 0x4000 | 0x4000 << 16;
        let s = shadow(&[(0x2_8034, all), (0x2_8208, all), (0x2_8244, all)]);
        let scissor = SetupState::decode(&s).viewports[0].scissor;
        assert_eq!((scissor.x1, scissor.y1), (16384, 16384));
    }

    #[test]
    fn split_registers_are_joined() {
        let s = shadow(&[
            (0x2_8A48, 7),
            (0x2_8A4C, 1 << 16),
            (0x2_8C04, 2),
            (0x2_8004, 1),
        ]);
        let setup = SetupState::decode(&s);
        assert!(setup.per_sample && setup.stipple.is_some());
        assert_eq!(setup.samples(), 4);
        assert!(bit(s.get(reg::DB_RENDER_CONTROL), 11));
    }

    #[test]
    fn each_stream_has_its_fields() {
        let s = shadow(&[
            (0x2_8B94, 0b1010 | 1 << 4),
            (0x2_8B98, 0x8421),
            (0x2_891C, 4),
            (0x2_8920, 8),
            (0x2_8934, 48),
            (0x2_8A6C, 2 | 1 << 8),
        ]);
        let streams = streams(&s);
        assert_eq!(streams.enabled, [false, true, false, true]);
        assert_eq!((streams.buffers, streams.rasterised), ([1, 2, 4, 8], 1));
        assert_eq!(streams.vertex_size, [4, 8, 0, 0]);
        assert_eq!(
            (streams.ring_offset, streams.kind),
            ([0, 0, 0, 48], [2, 1, 0, 0])
        );
    }

    #[test]
    fn blending_is_enabled_by_target() {
        let s = shadow(&[(0x2_8808, 0xCC_0010), (0x2_8784, 1 << 30)]);
        assert_eq!(s.get(reg::CB_COLOR_CONTROL), 0xCC_0000 | 1 << 7 | 1 << 9);
        let resolve = shadow(&[(0x2_8808, 0x30)]);
        assert_eq!(bits(resolve.get(reg::CB_COLOR_CONTROL), 4, 3), 7);
        for (mode, special) in [(0, 1), (2, 4), (4, 4), (5, 4), (6, 1)] {
            let s = shadow(&[(0x2_8808, mode << 4)]);
            assert_eq!(bits(s.get(reg::CB_COLOR_CONTROL), 4, 3), special, "{mode}");
        }
    }
}
