// SPDX-License-Identifier: MIT
//! Typed forms of the words of an R700 shader.
//!
//! Layouts: AMD "R700-Family Instruction Set Architecture", chapter 8, and
//! Mesa's `r600_sq.h`, `r700_sq.h` and `sb/sb_bc_fmt_def.inc`.

/// A texture instruction (`SQ_TEX_WORD0` to `WORD2`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TexInstruction {
    /// `TEX_INST`, see [`tex`].
    pub opcode: u8,
    /// `BC_FRAC_MODE`.
    pub bc_frac_mode: bool,
    /// `FETCH_WHOLE_QUAD`: lanes that do not run take part.
    pub whole_quad: bool,
    /// `RESOURCE_ID`, counted from the stage's first resource.
    pub resource: u8,
    /// `SAMPLER_ID`, counted from the stage's first sampler.
    pub sampler: u8,
    /// `SRC_GPR`.
    pub src_gpr: u8,
    /// `SRC_REL`.
    pub src_rel: bool,
    /// `ALT_CONST`: resources of the vertex shader in a geometry shader.
    pub alt_const: bool,
    /// `SRC_SEL_X` to `W`: 0-3 a component, 4 is 0.0, 5 is 1.0.
    pub src_sel: [u8; 4],
    /// `DST_GPR`.
    pub dst_gpr: u8,
    /// `DST_REL`.
    pub dst_rel: bool,
    /// `DST_SEL_X` to `W`: 0-3 a component, 4 is 0.0, 5 is 1.0, 7 masks.
    pub dst_sel: [u8; 4],
    /// `LOD_BIAS`: signed, 4 fraction bits.
    pub lod_bias: i8,
    /// `COORD_TYPE_X` to `W`: true for normalised coordinates.
    pub normalized: [bool; 4],
    /// `OFFSET_X` to `Z`: signed, in half texels.
    pub offset: [i8; 3],
}

/// Values of [`TexInstruction::opcode`] (Mesa, `r600_isa.h`).
#[allow(missing_docs)]
pub mod tex {
    pub const LD: u8 = 0x03;
    pub const GET_TEXTURE_RESINFO: u8 = 0x04;
    pub const GET_NUMBER_OF_SAMPLES: u8 = 0x05;
    pub const GET_LOD: u8 = 0x06;
    pub const GET_GRADIENTS_H: u8 = 0x07;
    pub const GET_GRADIENTS_V: u8 = 0x08;
    pub const GET_LERP_FACTORS: u8 = 0x09;
    pub const KEEP_GRADIENTS: u8 = 0x0a;
    pub const SET_GRADIENTS_H: u8 = 0x0b;
    pub const SET_GRADIENTS_V: u8 = 0x0c;
    pub const PASS: u8 = 0x0d;
    pub const SET_CUBEMAP_INDEX: u8 = 0x0e;
    pub const FETCH4: u8 = 0x0f;
    pub const SAMPLE: u8 = 0x10;
    pub const SAMPLE_L: u8 = 0x11;
    pub const SAMPLE_LB: u8 = 0x12;
    pub const SAMPLE_LZ: u8 = 0x13;
    pub const SAMPLE_G: u8 = 0x14;
    pub const SAMPLE_G_L: u8 = 0x15;
    pub const SAMPLE_G_LB: u8 = 0x16;
    pub const SAMPLE_G_LZ: u8 = 0x17;
    pub const SAMPLE_C: u8 = 0x18;
    pub const SAMPLE_C_L: u8 = 0x19;
    pub const SAMPLE_C_LB: u8 = 0x1a;
    pub const SAMPLE_C_LZ: u8 = 0x1b;
    pub const SAMPLE_C_G: u8 = 0x1c;
    pub const SAMPLE_C_G_L: u8 = 0x1d;
    pub const SAMPLE_C_G_LB: u8 = 0x1e;
    pub const SAMPLE_C_G_LZ: u8 = 0x1f;
}

/// A vertex instruction (`SQ_VTX_WORD0` to `WORD2`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct VtxInstruction {
    /// `VTX_INST`: 0 `FETCH`, 1 `SEMANTIC`, 14 `GET_BUFFER_RESINFO`.
    pub opcode: u8,
    /// `FETCH_TYPE`: 0 vertex data, 1 instance data, 2 no index offset.
    pub fetch_type: u8,
    /// `FETCH_WHOLE_QUAD`.
    pub whole_quad: bool,
    /// `BUFFER_ID`, counted from the stage's first resource.
    pub buffer: u8,
    /// `SRC_GPR`.
    pub src_gpr: u8,
    /// `SRC_REL`.
    pub src_rel: bool,
    /// `SRC_SEL_X`: the component that holds the index.
    pub src_sel_x: u8,
    /// `MEGA_FETCH_COUNT`: bytes to fetch, less one.
    pub mega_fetch_count: u8,
    /// `DST_GPR`, or `SEMANTIC_ID` of a semantic fetch.
    pub dst_gpr: u8,
    /// `DST_REL`.
    pub dst_rel: bool,
    /// `DST_SEL_X` to `W`.
    pub dst_sel: [u8; 4],
    /// `USE_CONST_FIELDS`: the format comes from the resource.
    pub use_const_fields: bool,
    /// `DATA_FORMAT`.
    pub data_format: u8,
    /// `NUM_FORMAT_ALL`: 0 normalised, 1 integer, 2 scaled.
    pub num_format: u8,
    /// `FORMAT_COMP_ALL`: true for signed.
    pub signed: bool,
    /// `SRF_MODE_ALL`: true for "no zero", -1 has one encoding only.
    pub srf_mode: bool,
    /// `OFFSET` in bytes.
    pub offset: u16,
    /// `ENDIAN_SWAP`.
    pub endian_swap: u8,
    /// `CONST_BUF_NO_STRIDE`: the stride is 1 byte... of index units.
    pub const_buf_no_stride: bool,
    /// `MEGA_FETCH`.
    pub mega_fetch: bool,
    /// `ALT_CONST`.
    pub alt_const: bool,
}
