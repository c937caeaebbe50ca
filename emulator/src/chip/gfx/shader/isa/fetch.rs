// SPDX-License-Identifier: MIT
//! Instructions of texture, vertex, memory and data share clauses. Layouts: see [`isa`](super).

use super::signed;
use crate::chip::regs::fields::words::four;
use crate::chip::regs::fields::words::r700::{
    sq_mem_rd_word0, sq_mem_rd_word1, sq_mem_rd_word2, sq_tex_word0, sq_tex_word1, sq_tex_word2,
    sq_vtx_word0, sq_vtx_word1, sq_vtx_word1_gpr, sq_vtx_word1_sem, sq_vtx_word2,
};

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
    /// `INST_MOD` of R800: the component of a `GATHER4`; 1 for fine gradients.
    pub modifier: u8,
    /// `RESOURCE_INDEX_MODE` and `SAMPLER_INDEX_MODE` of R800: 0 none, 1 and 2 add index register
    /// 0 or 1.
    pub index: [u8; 2],
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
    /// R800's, in no R700 word: the pointers to the samples' colours (`LD` with `INST_MOD` 1).
    pub const LD_FPTR: u8 = 0x23;
    pub const GATHER4: u8 = 0x40;
    pub const GATHER4_O: u8 = 0x41;
    pub const GATHER4_C: u8 = 0x42;
    pub const GATHER4_C_O: u8 = 0x43;
    pub const SET_TEXTURE_OFFSETS: u8 = 0x44;
}

/// A vertex instruction (`SQ_VTX_WORD0` to `WORD2`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct VtxInstruction {
    /// `VTX_INST`: 0 is a fetch, 1 a fetch to the GPR that a semantic names, 14 R800's
    /// `GET_BUFFER_RESINFO`.
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
    /// `MEGA_FETCH_COUNT`: bytes to fetch minus 1.
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
    /// `SRF_MODE_ALL`: true for "no zero", in which only one code is -1.
    pub srf_mode: bool,
    /// `OFFSET` in bytes.
    pub offset: u16,
    /// `ENDIAN_SWAP`.
    pub endian_swap: u8,
    /// `CONST_BUF_NO_STRIDE`: the resource's stride is not used.
    pub const_buf_no_stride: bool,
    /// `MEGA_FETCH`.
    pub mega_fetch: bool,
    /// `ALT_CONST`.
    pub alt_const: bool,
    /// `BUFFER_INDEX_MODE` of R800: 0 none, 1 and 2 add index register 0 or 1.
    pub index: u8,
}

impl TexInstruction {
    /// Decodes the three words.
    pub const fn decode(words: [u32; 3]) -> Self {
        use {sq_tex_word0 as word0, sq_tex_word1 as word1, sq_tex_word2 as word2};
        let [a, b, c] = words;
        Self {
            opcode: word0::TEX_INST.of(a) as u8,
            bc_frac_mode: word0::BC_FRAC_MODE.is_set(a),
            whole_quad: word0::FETCH_WHOLE_QUAD.is_set(a),
            resource: word0::RESOURCE_ID.of(a) as u8,
            sampler: word2::SAMPLER_ID.of(c) as u8,
            src_gpr: word0::SRC_GPR.of(a) as u8,
            src_rel: word0::SRC_REL.is_set(a),
            alt_const: word0::ALT_CONST.is_set(a),
            src_sel: four(
                c,
                [
                    word2::SRC_SEL_X,
                    word2::SRC_SEL_Y,
                    word2::SRC_SEL_Z,
                    word2::SRC_SEL_W,
                ],
            ),
            dst_gpr: word1::DST_GPR.of(b) as u8,
            dst_rel: word1::DST_REL.is_set(b),
            dst_sel: four(
                b,
                [
                    word1::DST_SEL_X,
                    word1::DST_SEL_Y,
                    word1::DST_SEL_Z,
                    word1::DST_SEL_W,
                ],
            ),
            lod_bias: signed(word1::LOD_BIAS.of(b), 7),
            normalized: [
                word1::COORD_TYPE_X.is_set(b),
                word1::COORD_TYPE_Y.is_set(b),
                word1::COORD_TYPE_Z.is_set(b),
                word1::COORD_TYPE_W.is_set(b),
            ],
            offset: [
                signed(word2::OFFSET_X.of(c), 5),
                signed(word2::OFFSET_Y.of(c), 5),
                signed(word2::OFFSET_Z.of(c), 5),
            ],
            modifier: 0,
            index: [0; 2],
        }
    }

    /// Whether the texture unit executes it. The result of the other operations,
    /// which headers name and no driver of the family uses, is 0.
    pub const fn is_modelled(&self) -> bool {
        !matches!(
            self.opcode,
            0..tex::LD
                | tex::GET_LERP_FACTORS
                | tex::PASS
                | tex::SET_CUBEMAP_INDEX
                | tex::FETCH4
                | 0x20..
        ) || matches!(
            self.opcode,
            tex::LD_FPTR | tex::GATHER4..=tex::SET_TEXTURE_OFFSETS
        )
    }

    /// Mesa's name of the operation.
    pub const fn name(&self) -> &'static str {
        match self.opcode {
            tex::LD => "LD",
            tex::GET_TEXTURE_RESINFO => "GET_TEXTURE_RESINFO",
            tex::GET_NUMBER_OF_SAMPLES => "GET_NUMBER_OF_SAMPLES",
            tex::GET_LOD => "GET_LOD",
            tex::GET_GRADIENTS_H => "GET_GRADIENTS_H",
            tex::GET_GRADIENTS_V => "GET_GRADIENTS_V",
            tex::GET_LERP_FACTORS => "GET_LERP",
            tex::KEEP_GRADIENTS => "KEEP_GRADIENTS",
            tex::SET_GRADIENTS_H => "SET_GRADIENTS_H",
            tex::SET_GRADIENTS_V => "SET_GRADIENTS_V",
            tex::PASS => "PASS",
            tex::SET_CUBEMAP_INDEX => "SET_CUBEMAP_INDEX",
            tex::FETCH4 => "FETCH4",
            tex::SAMPLE => "SAMPLE",
            tex::SAMPLE_L => "SAMPLE_L",
            tex::SAMPLE_LB => "SAMPLE_LB",
            tex::SAMPLE_LZ => "SAMPLE_LZ",
            tex::SAMPLE_G => "SAMPLE_G",
            tex::SAMPLE_G_L => "SAMPLE_G_L",
            tex::SAMPLE_G_LB => "SAMPLE_G_LB",
            tex::SAMPLE_G_LZ => "SAMPLE_G_LZ",
            tex::SAMPLE_C => "SAMPLE_C",
            tex::SAMPLE_C_L => "SAMPLE_C_L",
            tex::SAMPLE_C_LB => "SAMPLE_C_LB",
            tex::SAMPLE_C_LZ => "SAMPLE_C_LZ",
            tex::SAMPLE_C_G => "SAMPLE_C_G",
            tex::SAMPLE_C_G_L => "SAMPLE_C_G_L",
            tex::SAMPLE_C_G_LB => "SAMPLE_C_G_LB",
            tex::SAMPLE_C_G_LZ => "SAMPLE_C_G_LZ",
            tex::LD_FPTR => "LDFPTR",
            tex::GATHER4 => "GATHER4",
            tex::GATHER4_O => "GATHER4_O",
            tex::GATHER4_C => "GATHER4_C",
            tex::GATHER4_C_O => "GATHER4_C_O",
            tex::SET_TEXTURE_OFFSETS => "SET_TEXTURE_OFFSETS",
            _ => "TEX_UNKNOWN",
        }
    }
}

impl VtxInstruction {
    /// Decodes the three words of a fetch (`VTX_INST` 0 or 1).
    pub const fn decode(words: [u32; 3]) -> Self {
        use {sq_vtx_word0 as word0, sq_vtx_word1 as word1, sq_vtx_word2 as word2};
        let [a, b, c] = words;
        let opcode = word0::VTX_INST.of(a) as u8;
        let semantic = opcode == 1;
        Self {
            opcode,
            fetch_type: word0::FETCH_TYPE.of(a) as u8,
            whole_quad: word0::FETCH_WHOLE_QUAD.is_set(a),
            buffer: word0::BUFFER_ID.of(a) as u8,
            src_gpr: word0::SRC_GPR.of(a) as u8,
            src_rel: word0::SRC_REL.is_set(a),
            src_sel_x: word0::SRC_SEL_X.of(a) as u8,
            mega_fetch_count: word0::MEGA_FETCH_COUNT.of(a) as u8,
            dst_gpr: match semantic {
                true => sq_vtx_word1_sem::SEMANTIC_ID.of(b) as u8,
                false => sq_vtx_word1_gpr::DST_GPR.of(b) as u8,
            },
            dst_rel: !semantic && sq_vtx_word1_gpr::DST_REL.is_set(b),
            dst_sel: four(
                b,
                [
                    word1::DST_SEL_X,
                    word1::DST_SEL_Y,
                    word1::DST_SEL_Z,
                    word1::DST_SEL_W,
                ],
            ),
            use_const_fields: word1::USE_CONST_FIELDS.is_set(b),
            data_format: word1::DATA_FORMAT.of(b) as u8,
            num_format: word1::NUM_FORMAT_ALL.of(b) as u8,
            signed: word1::FORMAT_COMP_ALL.is_set(b),
            srf_mode: word1::SRF_MODE_ALL.is_set(b),
            offset: word2::OFFSET.of(c) as u16,
            endian_swap: word2::ENDIAN_SWAP.of(c) as u8,
            const_buf_no_stride: word2::CONST_BUF_NO_STRIDE.is_set(c),
            mega_fetch: word2::MEGA_FETCH.is_set(c),
            alt_const: word2::ALT_CONST.is_set(c),
            index: 0,
        }
    }
}

/// [`VtxInstruction::opcode`] of a query of a buffer's number of elements (R800).
pub const BUFFER_SIZE: u8 = 14;

/// [`MemInstruction::op`] of a read from scratch memory.
pub const MEM_SCRATCH: u8 = 0;

/// A memory read of a vertex clause (`SQ_MEM_RD_WORD0` to `WORD2`,
/// `VTX_INST` 2).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct MemInstruction {
    /// `MEM_OP`: 0 reads scratch, 1 the reduction buffer, 2 global memory, 4
    /// writes and 5 reads the local share.
    pub op: u8,
    /// `ELEM_SIZE`: dwords of an element minus 1.
    pub element_size: u8,
    /// `UNCACHED`.
    pub uncached: bool,
    /// `INDEXED`: the source has the number of the element, which `ARRAY_SIZE`
    /// bounds.
    pub indexed: bool,
    /// `SRC_GPR`.
    pub src_gpr: u8,
    /// `SRC_REL`.
    pub src_rel: bool,
    /// `SRC_SEL_X`.
    pub src_sel_x: u8,
    /// `SRC_SEL_Y`.
    pub src_sel_y: u8,
    /// `BURST_COUNT`: elements to read minus 1.
    pub burst_count: u8,
    /// `DST_GPR`.
    pub dst_gpr: u8,
    /// `DST_REL`.
    pub dst_rel: bool,
    /// `DST_SEL_X` to `W`.
    pub dst_sel: [u8; 4],
    /// `DATA_FORMAT`.
    pub data_format: u8,
    /// `NUM_FORMAT_ALL`.
    pub num_format: u8,
    /// `FORMAT_COMP_ALL`.
    pub signed: bool,
    /// `SRF_MODE_ALL`.
    pub srf_mode: bool,
    /// `ARRAY_BASE`.
    pub array_base: u16,
    /// `ENDIAN_SWAP`.
    pub endian_swap: u8,
    /// `ARRAY_SIZE`: elements minus 1.
    pub array_size: u16,
}

impl MemInstruction {
    /// Decodes the three words.
    pub const fn decode(words: [u32; 3]) -> Self {
        use {sq_mem_rd_word0 as word0, sq_mem_rd_word1 as word1, sq_mem_rd_word2 as word2};
        let [a, b, c] = words;
        Self {
            op: word0::MEM_OP.of(a) as u8,
            element_size: word0::ELEM_SIZE.of(a) as u8,
            uncached: word0::UNCACHED.is_set(a),
            indexed: word0::INDEXED.is_set(a),
            src_gpr: word0::SRC_GPR.of(a) as u8,
            src_rel: word0::SRC_REL.is_set(a),
            src_sel_x: word0::SRC_SEL_X.of(a) as u8,
            src_sel_y: word0::SRC_SEL_Y.of(a) as u8,
            burst_count: word0::BURST_COUNT.of(a) as u8,
            dst_gpr: word1::DST_GPR.of(b) as u8,
            dst_rel: word1::DST_REL.is_set(b),
            dst_sel: four(
                b,
                [
                    word1::DST_SEL_X,
                    word1::DST_SEL_Y,
                    word1::DST_SEL_Z,
                    word1::DST_SEL_W,
                ],
            ),
            data_format: word1::DATA_FORMAT.of(b) as u8,
            num_format: word1::NUM_FORMAT_ALL.of(b) as u8,
            signed: word1::FORMAT_COMP_ALL.is_set(b),
            srf_mode: word1::SRF_MODE_ALL.is_set(b),
            array_base: word2::ARRAY_BASE.of(c) as u16,
            endian_swap: word2::ENDIAN_SWAP.of(c) as u8,
            array_size: word2::ARRAY_SIZE.of(c) as u16,
        }
    }
}

/// An access of the global data share (`SQ_MEM_GDS_WORD0` to `WORD2` of R800, `MEM_OP` 4), or of the
/// tessellation factors (`TF_WRITE`, `MEM_OP` 5).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct GdsInstruction {
    /// `GDS_OP`, see [`share`](crate::chip::gfx::shader::share).
    pub op: u8,
    /// `ALLOC_CONSUME`: it changes an append counter.
    pub counter: bool,
    /// `TF_WRITE`: the first operand goes to the address of a tessellation factor.
    pub factor: bool,
    /// `UAV_ID`: the counter's number.
    pub uav: u8,
    /// `UAV_INDEX_MODE`: 0 none, 1 and 2 add index register 0 or 1.
    pub index: u8,
    /// `SRC_GPR`.
    pub src_gpr: u8,
    /// `SRC_REL`.
    pub src_rel: bool,
    /// `SRC_SEL_X` to `Z`: address, first and second operand.
    pub src_sel: [u8; 3],
    /// `DST_GPR`.
    pub dst_gpr: u8,
    /// `DST_REL`.
    pub dst_rel: bool,
    /// `DST_SEL_X` to `W`.
    pub dst_sel: [u8; 4],
}
