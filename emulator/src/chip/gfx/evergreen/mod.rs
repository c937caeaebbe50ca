// SPDX-License-Identifier: MIT
//! Evergreen's and Northern Islands' decoders: registers and descriptors to the pipeline's neutral
//! state. The shader encoding is [`r800`](super::shader::r800), tiling is in
//! [`tiling`](crate::chip::tiling).
//!
//! Sources: Mesa's `evergreend.h` and `evergreen_state.c`, the kernel's `evergreend.h`,
//! `evergreen_cs.c`.
//!
//! Not modelled: HTILE and FMASK (depth and samples are always stored expanded).

mod registers;
mod surfaces;

use super::front::{BufferView, Front, StageLayout};
use super::interpolate::Interpolator;
use super::shader::Isa;
use super::state::Stage;
use crate::chip::regs::fields::words::evergreen::sq_vtx_constant_word3 as word3;
use crate::chip::regs::fields::words::{self, four};
use crate::chip::regs::{self, evergreen::gfx as eg};
use crate::chip::tiling::TilingConfig;

#[cfg(test)]
pub(super) use registers::tests;
pub(super) use registers::translate;
pub use registers::BorderColours;
pub(super) use surfaces::colour_attributes;

/// The decoders.
pub static FRONT: Front = TABLE;

/// The decoders, of which Cayman has most.
pub(super) const TABLE: Front = Front {
    name: "Evergreen",
    registers: || &regs::EVERGREEN,
    isa: Isa::R800,
    translate: Some(registers::translate),
    stage,
    resources: (eg::SQ_TEX_RESOURCE_WORD0_0, 8, 0x8000 / 32),
    // EG_FETCH_CONSTANTS_OFFSET_FS
    fetch_resources: 992 - 176,
    samplers: eg::SQ_TEX_SAMPLER_WORD0_0,
    descriptors: &words::evergreen::DESCRIPTORS,
    flow_constants: [eg::SQ_LOOP_CONST_0, eg::SQ_BOOL_CONST_0],
    tiling: |regs| TilingConfig::from_address_config(regs.load(eg::GB_ADDR_CONFIG)),
    // Samplers decide.
    seamless: |_| true,
    buffer,
    buffer_view,
    texture: surfaces::texture,
    sampler: surfaces::sampler,
    has_border: surfaces::has_border,
    colour: surfaces::colour,
    depth: surfaces::depth,
    streams: registers::streams,
    random_access: surfaces::random_access,
    tessellation: registers::tessellation,
    interpolator: Interpolator::barycentric,
    front_cull_takes_all: false,
};

/// First resources of the stages (`EG_FETCH_CONSTANTS_OFFSET_*` in Mesa's `evergreend.h`), and their
/// samplers (`evergreen_emit_*_sampler_states()`).
fn stage(stage: Stage) -> StageLayout {
    let (program, constants, first_resource, first_sampler, border, constant_set) = match stage {
        Stage::Pixel => (
            [eg::SQ_PGM_START_PS, eg::SQ_PGM_RESOURCES_PS],
            [
                eg::SQ_ALU_CONST_BUFFER_SIZE_PS_0,
                eg::SQ_ALU_CONST_CACHE_PS_0,
            ],
            0,
            0,
            0,
            0,
        ),
        Stage::Vertex | Stage::Export => (
            match stage {
                Stage::Vertex => [eg::SQ_PGM_START_VS, eg::SQ_PGM_RESOURCES_VS],
                _ => [eg::SQ_PGM_START_ES, eg::SQ_PGM_RESOURCES_ES],
            },
            [
                eg::SQ_ALU_CONST_BUFFER_SIZE_VS_0,
                eg::SQ_ALU_CONST_CACHE_VS_0,
            ],
            176,
            18,
            1,
            1,
        ),
        Stage::Geometry => (
            [eg::SQ_PGM_START_GS, eg::SQ_PGM_RESOURCES_GS],
            [
                eg::SQ_ALU_CONST_BUFFER_SIZE_GS_0,
                eg::SQ_ALU_CONST_CACHE_GS_0,
            ],
            336,
            36,
            2,
            2,
        ),
        Stage::Hull => (
            [eg::SQ_PGM_START_HS, eg::SQ_PGM_RESOURCES_HS],
            [
                eg::SQ_ALU_CONST_BUFFER_SIZE_HS_0,
                eg::SQ_ALU_CONST_CACHE_HS_0,
            ],
            496,
            54,
            3,
            3,
        ),
        Stage::Local => (
            [eg::SQ_PGM_START_LS, eg::SQ_PGM_RESOURCES_LS],
            [
                eg::SQ_ALU_CONST_BUFFER_SIZE_LS_0,
                eg::SQ_ALU_CONST_CACHE_LS_0,
            ],
            656,
            72,
            4,
            4,
        ),
        Stage::Compute => (
            [eg::SQ_PGM_START_LS, eg::SQ_PGM_RESOURCES_LS],
            [
                eg::SQ_ALU_CONST_BUFFER_SIZE_LS_0,
                eg::SQ_ALU_CONST_CACHE_LS_0,
            ],
            816,
            90,
            5,
            5,
        ),
    };
    StageLayout {
        program,
        constants,
        first_resource,
        first_sampler,
        border: BorderColours::place(border, 0),
        constant_set,
    }
}

/// `SQ_VTX_CONSTANT_WORD0` to `WORD2` are R7xx's; `TYPE` is in word 7. `UNCACHED` stays in word 3.
fn buffer(words: [u32; 8]) -> [u32; 7] {
    let uncached = word3::UNCACHED.with(word3::UNCACHED.of(words[3]));
    [words[0], words[1], words[2], uncached, 0, 0, words[7]]
}

fn buffer_view(words: &[u32; 8]) -> Option<BufferView> {
    Some(BufferView {
        swizzle: four(
            words[3],
            [
                word3::DST_SEL_X,
                word3::DST_SEL_Y,
                word3::DST_SEL_Z,
                word3::DST_SEL_W,
            ],
        ),
        elements: words[4],
    })
}
