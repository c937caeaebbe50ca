// SPDX-License-Identifier: MIT
//! The seam between a generation's registers and the pipeline.
//!
//! The pipeline works on neutral state: context registers in R7xx's places, decoded programs,
//! textures, buffers, render targets and depth buffers. A [`Front`] is the table of the decoders
//! by which a generation's registers, descriptors and shader words become that state. R7xx's is
//! here; [`r600`](super::r600) and [`evergreen`](super::evergreen) have theirs. No other code of the pipeline asks for the
//! generation.

use super::colour::ColourBuffer;
use super::depth;
use super::depth_tile;
use super::interpolate::Interpolator;
use super::rat::Rat;
use super::shader::Isa;
use super::state::{SetupState, Shadow, Stage};
use super::tessellation;
use super::texture::resource::Texture;
use super::texture::sampler::{Filter, Sampler};
use crate::chip::bus::RegFile;
use crate::chip::regs::fields::r700::{sq_gs_vert_itemsize, vgt_gs_out_prim_type, vgt_strmout_en};
use crate::chip::regs::fields::words::{self, Descriptors};
use crate::chip::regs::{self, gb, gfx as reg, Map};
use crate::chip::tiling::TilingConfig;

/// Where a stage's registers and descriptors are, as byte offsets and numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StageLayout {
    /// `SQ_PGM_START_x`, `SQ_PGM_RESOURCES_x`.
    pub program: [u32; 2],
    /// First constant buffer registers: size and address.
    pub constants: [u32; 2],
    /// First of the stage's fetch resources.
    pub first_resource: u32,
    /// First of the stage's samplers.
    pub first_sampler: u32,
    /// Red border colour of the stage's first sampler.
    pub border: u32,
    /// Index of the stage among loop and boolean constants.
    pub constant_set: u32,
}

/// A generation's decoders.
pub struct Front {
    /// Its name.
    pub name: &'static str,
    /// Names and fields of the registers.
    pub registers: fn() -> &'static Map,
    /// The encoding of shaders.
    pub isa: Isa,
    /// Converts context registers to R7xx's places: reads with `Shadow::raw`, sets
    /// with `Shadow::set`. None if they are there.
    pub translate: Option<fn(&mut Shadow)>,
    /// A stage's registers and descriptors.
    pub stage: fn(Stage) -> StageLayout,
    /// Byte offset of the first fetch resource, dwords of one, and their number.
    pub resources: (u32, u32, u32),
    /// First resource of a fetch shader, counted from the vertex shader's first.
    pub fetch_resources: u32,
    /// Byte offset of the first sampler.
    pub samplers: u32,
    /// Names and fields of the words of resources and samplers.
    pub descriptors: &'static Descriptors,
    /// Byte offsets of the first loop constant and of the first boolean constants.
    pub flow_constants: [u32; 2],
    /// The tiling geometry that all surfaces share.
    pub tiling: fn(&dyn RegFile) -> TilingConfig,
    /// Whether cube maps filter across edges, unless a sampler forbids it.
    pub seamless: fn(&dyn RegFile) -> bool,
    /// A buffer's words in R7xx's form (`SQ_VTX_CONSTANT_WORD0` to `WORD6`).
    pub buffer: fn([u32; 8]) -> [u32; 7],
    /// `DST_SEL` of a buffer, which fetches with `USE_CONST_FIELDS` apply after their own; and its
    /// number of elements. None if buffers have none.
    pub buffer_view: fn(&[u32; 8]) -> Option<BufferView>,
    /// A texture.
    pub texture: fn(&[u32; 8], TilingConfig) -> Option<Texture>,
    /// A sampler's fields.
    pub sampler: fn(&Sampler) -> Filter,
    /// Whether a sampler's border colour is in registers.
    pub has_border: fn(&[u32; 3]) -> bool,
    /// Registers of a render target; none without a format.
    pub colour: fn(&Shadow, &dyn RegFile, usize) -> ColourBuffer,
    /// Depth and stencil state and buffer; none without a depth buffer.
    #[allow(clippy::type_complexity)] // of one entry
    pub depth: fn(&Shadow, TilingConfig, u32) -> Option<(depth::State, depth_tile::Surface)>,
    /// The vertex streams.
    pub streams: fn(&Shadow) -> VertexStreams,
    /// A target of random access; none without one.
    pub random_access: fn(&Shadow, &dyn RegFile, usize) -> Option<Rat>,
    /// How patches are subdivided; none without a hull shader.
    pub tessellation: fn(&Shadow) -> Option<tessellation::Config>,
    /// The inputs of the pixel shader.
    pub interpolator: fn(&Shadow, &SetupState) -> Interpolator,
    /// `CULL_FRONT` culls all points, lines and rectangles, too.
    pub front_cull_takes_all: bool,
}

/// Number of vertex streams of a geometry shader; only Evergreen has more than the first.
pub const STREAMS: usize = 4;

/// The vertex streams: what a geometry shader emits to each, and where stream-out writes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct VertexStreams {
    /// Whether stream-out is on.
    pub enabled: [bool; STREAMS],
    /// Bit n: stream-out writes to buffer n.
    pub buffers: [u8; STREAMS],
    /// The stream that is rasterised; from [`STREAMS`] on none is.
    pub rasterised: usize,
    /// Dwords of a vertex in the GS-VS ring.
    pub vertex_size: [u32; STREAMS],
    /// Where a thread's item in the ring has the stream's vertices, in dwords.
    pub ring_offset: [u32; STREAMS],
    /// Threads of the geometry shader for each primitive, at least 1.
    pub invocations: u32,
    /// `VGT_GS_OUT_PRIM_TYPE`: 0 points, 1 line strips, 2 triangle strips.
    pub kind: [u32; STREAMS],
}

/// What a buffer's descriptor adds to a fetch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BufferView {
    /// `DST_SEL_X` to `W`.
    pub swizzle: [u8; 4],
    /// Number of elements, for size queries.
    pub elements: u32,
}

impl std::fmt::Debug for Front {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

/// R7xx.
pub static R700: Front = R700_TABLE;

/// R7xx's decoders, of which R6xx has most.
pub(super) const R700_TABLE: Front = Front {
    name: "R700",
    registers: || &regs::R700,
    isa: Isa::R700,
    translate: None,
    stage: r700_stage,
    // 7 dwords each in the window of `SET_RESOURCE`.
    resources: (reg::SQ_TEX_RESOURCE_WORD0_0, 7, 0x4000 / 28),
    fetch_resources: 0,
    samplers: reg::SQ_TEX_SAMPLER_WORD0_0,
    descriptors: &words::r700::DESCRIPTORS,
    flow_constants: [reg::SQ_LOOP_CONST_0, reg::SQ_BOOL_CONST_0],
    tiling: |regs| TilingConfig::from_register(regs.load(gb::GB_TILING_CONFIG)),
    // DISABLE_CUBE_WRAP
    seamless: |regs| regs.load(reg::TA_CNTL_AUX) & 1 == 0,
    buffer: |words| std::array::from_fn(|i| words[i]),
    buffer_view: |_| None,
    texture: Texture::decode,
    sampler: Sampler::decode,
    has_border: Sampler::has_border_registers,
    colour: |shadow, regs, index| ColourBuffer::decode(shadow, regs, index),
    depth: |s, tiling, samples| {
        let state = depth::State::decode(s)?;
        Some((state, depth_tile::Surface::decode(s, tiling, samples)?))
    },
    streams: |s| VertexStreams {
        enabled: [
            vgt_strmout_en::STREAMOUT.is_set(s.get(reg::VGT_STRMOUT_EN)),
            false,
            false,
            false,
        ],
        buffers: [s.get(reg::VGT_STRMOUT_BUFFER_EN) as u8 & 0xF, 0, 0, 0],
        rasterised: 0,
        vertex_size: [
            sq_gs_vert_itemsize::ITEMSIZE.of(s.get(reg::SQ_GS_VERT_ITEMSIZE)),
            0,
            0,
            0,
        ],
        ring_offset: [0; STREAMS],
        invocations: 1,
        kind: [
            vgt_gs_out_prim_type::OUTPRIM_TYPE.of(s.get(reg::VGT_GS_OUT_PRIM_TYPE)),
            0,
            0,
            0,
        ],
    },
    random_access: |_, _, _| None,
    tessellation: |_| None,
    interpolator: |s, setup| {
        let samples = setup.samples();
        Interpolator::new(s, &setup.sample_places, samples, setup.center_half)
    },
    front_cull_takes_all: false,
};

fn r700_stage(stage: Stage) -> StageLayout {
    let layout =
        |program, constants, first_resource, first_sampler, border, constant_set| StageLayout {
            program,
            constants,
            first_resource,
            first_sampler,
            border,
            constant_set,
        };
    match stage {
        Stage::Pixel => layout(
            [reg::SQ_PGM_START_PS, reg::SQ_PGM_RESOURCES_PS],
            [
                reg::SQ_ALU_CONST_BUFFER_SIZE_PS_0,
                reg::SQ_ALU_CONST_CACHE_PS_0,
            ],
            0,
            0,
            reg::TD_PS_SAMPLER0_BORDER_RED,
            0,
        ),
        // There are no compute, hull and local shaders.
        Stage::Vertex | Stage::Export | Stage::Compute | Stage::Hull | Stage::Local => layout(
            match stage {
                Stage::Vertex => [reg::SQ_PGM_START_VS, reg::SQ_PGM_RESOURCES_VS],
                _ => [reg::SQ_PGM_START_ES, reg::SQ_PGM_RESOURCES_ES],
            },
            [
                reg::SQ_ALU_CONST_BUFFER_SIZE_VS_0,
                reg::SQ_ALU_CONST_CACHE_VS_0,
            ],
            160,
            18,
            reg::TD_VS_SAMPLER0_BORDER_RED,
            1,
        ),
        Stage::Geometry => layout(
            [reg::SQ_PGM_START_GS, reg::SQ_PGM_RESOURCES_GS],
            [
                reg::SQ_ALU_CONST_BUFFER_SIZE_GS_0,
                reg::SQ_ALU_CONST_CACHE_GS_0,
            ],
            336,
            36,
            reg::TD_GS_SAMPLER0_BORDER_RED,
            2,
        ),
    }
}
