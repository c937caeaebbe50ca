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

pub(super) const fn bits(word: u32, low: u32, count: u32) -> u32 {
    (word >> low) & ((1 << count) - 1)
}

pub(super) const fn bit(word: u32, at: u32) -> bool {
    word >> at & 1 != 0
}

/// Sign-extends the low `count` bits.
const fn signed(value: u32, count: u32) -> i8 {
    ((value << (32 - count)) as i32 >> (32 - count)) as i8
}

pub(super) const fn four(word: u32, low: u32) -> [u8; 4] {
    [
        bits(word, low, 3) as u8,
        bits(word, low + 3, 3) as u8,
        bits(word, low + 6, 3) as u8,
        bits(word, low + 9, 3) as u8,
    ]
}

impl TexInstruction {
    /// Decodes the three words.
    pub const fn decode(words: [u32; 3]) -> Self {
        let [a, b, c] = words;
        Self {
            opcode: bits(a, 0, 5) as u8,
            bc_frac_mode: bit(a, 5),
            whole_quad: bit(a, 7),
            resource: bits(a, 8, 8) as u8,
            sampler: bits(c, 15, 5) as u8,
            src_gpr: bits(a, 16, 7) as u8,
            src_rel: bit(a, 23),
            alt_const: bit(a, 24),
            src_sel: four(c, 20),
            dst_gpr: bits(b, 0, 7) as u8,
            dst_rel: bit(b, 7),
            dst_sel: four(b, 9),
            lod_bias: signed(bits(b, 21, 7), 7),
            normalized: [bit(b, 28), bit(b, 29), bit(b, 30), bit(b, 31)],
            offset: [
                signed(bits(c, 0, 5), 5),
                signed(bits(c, 5, 5), 5),
                signed(bits(c, 10, 5), 5),
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
        let [a, b, c] = words;
        Self {
            opcode: bits(a, 0, 5) as u8,
            fetch_type: bits(a, 5, 2) as u8,
            whole_quad: bit(a, 7),
            buffer: bits(a, 8, 8) as u8,
            src_gpr: bits(a, 16, 7) as u8,
            src_rel: bit(a, 23),
            src_sel_x: bits(a, 24, 2) as u8,
            mega_fetch_count: bits(a, 26, 6) as u8,
            dst_gpr: if bits(a, 0, 5) == 1 {
                bits(b, 0, 8) as u8
            } else {
                bits(b, 0, 7) as u8
            },
            dst_rel: bits(a, 0, 5) != 1 && bit(b, 7),
            dst_sel: four(b, 9),
            use_const_fields: bit(b, 21),
            data_format: bits(b, 22, 6) as u8,
            num_format: bits(b, 28, 2) as u8,
            signed: bit(b, 30),
            srf_mode: bit(b, 31),
            offset: bits(c, 0, 16) as u16,
            endian_swap: bits(c, 16, 2) as u8,
            const_buf_no_stride: bit(c, 18),
            mega_fetch: bit(c, 19),
            alt_const: bit(c, 20),
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
        let [a, b, c] = words;
        Self {
            op: bits(a, 8, 3) as u8,
            element_size: bits(a, 5, 2) as u8,
            uncached: bit(a, 11),
            indexed: bit(a, 12),
            src_gpr: bits(a, 16, 7) as u8,
            src_rel: bit(a, 23),
            src_sel_x: bits(a, 24, 2) as u8,
            src_sel_y: bits(a, 13, 2) as u8,
            burst_count: bits(a, 26, 4) as u8,
            dst_gpr: bits(b, 0, 7) as u8,
            dst_rel: bit(b, 7),
            dst_sel: four(b, 9),
            data_format: bits(b, 22, 6) as u8,
            num_format: bits(b, 28, 2) as u8,
            signed: bit(b, 30),
            srf_mode: bit(b, 31),
            array_base: bits(c, 0, 13) as u16,
            endian_swap: bits(c, 16, 2) as u8,
            array_size: bits(c, 20, 12) as u16,
        }
    }
}

/// An access of the global data share (`SQ_MEM_GDS_WORD0` to `WORD2` of R800, `MEM_OP` 4), or of the
/// tessellation factors (`TF_WRITE`, `MEM_OP` 5).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct GdsInstruction {
    /// `GDS_OP`, see [`share`](super::share).
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

/// An operand of an ALU instruction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct AluSource {
    /// `SRC_SEL`, see [`sel`].
    pub sel: u16,
    /// `SRC_CHAN`.
    pub chan: u8,
    /// `SRC_REL`.
    pub rel: bool,
    /// `SRC_NEG`.
    pub neg: bool,
    /// `SRC_ABS`.
    pub abs: bool,
}

/// Values of [`AluSource::sel`] (Mesa, `r600_sq.h`).
#[allow(missing_docs)]
pub mod sel {
    pub const KCACHE0: u16 = 128;
    pub const KCACHE1: u16 = 160;
    pub const KCACHE_END: u16 = 192;
    pub const ZERO: u16 = 248;
    pub const ONE: u16 = 249;
    pub const ONE_INT: u16 = 250;
    pub const MINUS_ONE_INT: u16 = 251;
    pub const HALF: u16 = 252;
    pub const LITERAL: u16 = 253;
    pub const PV: u16 = 254;
    pub const PS: u16 = 255;
    pub const CONSTANT_FILE: u16 = 256;
    /// R800's sets 2 and 3 of the constant cache (256 to 319 there).
    pub const KCACHE2: u16 = 0x200;
    pub const KCACHE3: u16 = 0x220;
    pub const KCACHE_EXTENDED_END: u16 = 0x240;
    /// R800's interpolation parameters (448 and up there).
    pub const PARAMETER: u16 = 0x280;
    /// Selects of R800 without a meaning here (192 to 243 and 320 to 447 there).
    pub const OTHER: u16 = 0x400;
    /// The queue of results of the local data share, of which the second removes what it reads.
    pub const LDS_OQ_A: u16 = OTHER + 219;
    pub const LDS_OQ_A_POP: u16 = OTHER + 221;
    /// The number of the wave's slot on its SIMD, and of its shader engine.
    pub const HW_WAVE_ID: u16 = OTHER + 231;
    pub const SE_ID: u16 = OTHER + 233;
}

/// An ALU instruction (`SQ_ALU_WORD0` and `WORD1`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AluInstruction {
    /// The operation; none for a code that the chip does not have.
    pub op: Option<super::ops::AluOp>,
    /// Units that can run it.
    pub units: super::ops::Units,
    /// `ALU_INST`, not decoded.
    pub code: u16,
    /// True for the three-operand encoding.
    pub op3: bool,
    /// The operands; only `OP3` has the third.
    pub src: [AluSource; 3],
    /// `INDEX_MODE`: 0-3 `AR.x`-`w`, 4 the loop index, 5 global, 6 both.
    pub index_mode: u8,
    /// `PRED_SEL`: 0 off, 2 lanes with predicate 0, 3 lanes with 1.
    pub pred_sel: u8,
    /// `LAST` of its group.
    pub last: bool,
    /// `UPDATE_EXECUTE_MASK`.
    pub update_exec: bool,
    /// `UPDATE_PRED`.
    pub update_pred: bool,
    /// `WRITE_MASK`; `OP3` always writes.
    pub write: bool,
    /// `OMOD`: 1 doubles, 2 quadruples, 3 halves the result.
    pub omod: u8,
    /// `BANK_SWIZZLE`.
    pub bank_swizzle: u8,
    /// `DST_GPR`.
    pub dst_gpr: u8,
    /// `DST_REL`.
    pub dst_rel: bool,
    /// `DST_CHAN`.
    pub dst_chan: u8,
    /// `CLAMP` to 0..1.
    pub clamp: bool,
    /// `LDS_OP` and `IDX_OFFSET` in dwords of R800's `LDS_IDX_OP`.
    pub lds: [u8; 2],
}

impl AluInstruction {
    /// Decodes the two words.
    pub const fn decode(words: [u32; 2]) -> Self {
        let [a, b] = words;
        let op3 = bits(b, 15, 3) != 0;
        let code = if op3 { bits(b, 13, 5) } else { bits(b, 7, 11) };
        let op = super::ops::AluOp::decode(op3, code);
        Self {
            op,
            units: match op {
                Some(op) => op.units(),
                None => super::ops::Units::Any,
            },
            code: code as u16,
            op3,
            src: [
                AluSource {
                    sel: bits(a, 0, 9) as u16,
                    rel: bit(a, 9),
                    chan: bits(a, 10, 2) as u8,
                    neg: bit(a, 12),
                    abs: !op3 && bit(b, 0),
                },
                AluSource {
                    sel: bits(a, 13, 9) as u16,
                    rel: bit(a, 22),
                    chan: bits(a, 23, 2) as u8,
                    neg: bit(a, 25),
                    abs: !op3 && bit(b, 1),
                },
                AluSource {
                    sel: if op3 { bits(b, 0, 9) as u16 } else { 0 },
                    rel: op3 && bit(b, 9),
                    chan: if op3 { bits(b, 10, 2) as u8 } else { 0 },
                    neg: op3 && bit(b, 12),
                    abs: false,
                },
            ],
            index_mode: bits(a, 26, 3) as u8,
            pred_sel: bits(a, 29, 2) as u8,
            last: bit(a, 31),
            update_exec: !op3 && bit(b, 2),
            update_pred: !op3 && bit(b, 3),
            write: op3 || bit(b, 4),
            omod: if op3 { 0 } else { bits(b, 5, 2) as u8 },
            bank_swizzle: bits(b, 18, 3) as u8,
            dst_gpr: bits(b, 21, 7) as u8,
            dst_rel: bit(b, 28),
            dst_chan: bits(b, 29, 2) as u8,
            clamp: bit(b, 31),
            lds: [0; 2],
        }
    }

    /// Operands that are read.
    pub fn sources(&self) -> &[AluSource] {
        let count = match self.op {
            Some(op) => op.sources(),
            None => 0,
        };
        &self.src[..count]
    }
}

/// The kinds of control-flow instruction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CfKind {
    /// An ALU clause of `count` slots at dword pair `address`.
    Alu(CfAlu),
    /// `ALU_EXT` of R800: sets 2 and 3 of the constant cache, and the indices of all, for the
    /// clause that follows.
    AluExtended(CfAlu),
    /// An export (`EXPORT`, `EXPORT_DONE`).
    Export(CfExport),
    /// A memory export.
    Memory(CfExport),
    /// Everything else.
    Other(CfOther),
}

/// `SQ_CF_ALU_WORD0` and `WORD1`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
pub struct CfAlu {
    /// `CF_INST`: 8 to 15.
    pub code: u8,
    /// `ADDR` in units of two dwords.
    pub address: u32,
    /// Instructions and pairs of literals: `COUNT` + 1.
    pub count: u32,
    /// `KCACHE_BANKn`; only R800 has sets 2 and 3.
    pub kcache_bank: [u8; 4],
    /// `KCACHE_MODEn`: 0 off, 1 one line, 2 two lines, 3 lines by the loop index.
    pub kcache_mode: [u8; 4],
    /// `KCACHE_ADDRn` in lines of 16 vec4.
    pub kcache_line: [u8; 4],
    /// `KCACHE_BANK_INDEX_MODEn` of R800: 0 none, 1 and 2 add index register 0 or 1 to the bank.
    pub kcache_index: [u8; 4],
    /// `ALT_CONST`.
    pub alt_const: bool,
}

/// `SQ_CF_ALLOC_EXPORT_WORD0` and `WORD1`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CfExport {
    /// `CF_INST`.
    pub code: u8,
    /// `ARRAY_BASE`.
    pub array_base: u16,
    /// `TYPE`: of an export 0 pixel, 1 position, 2 parameter; of a memory export
    /// 0 write, 1 indexed, 2 with acknowledgement, 3 both.
    pub kind: u8,
    /// `RW_GPR`.
    pub gpr: u8,
    /// `RW_REL`.
    pub rel: bool,
    /// `INDEX_GPR`.
    pub index_gpr: u8,
    /// `ELEM_SIZE`: dwords of an element minus 1.
    pub element_size: u8,
    /// `ARRAY_SIZE` of a memory export.
    pub array_size: u16,
    /// `COMP_MASK` of a memory export.
    pub components: u8,
    /// `SEL_X` to `W` of an export.
    pub sel: [u8; 4],
    /// `BURST_COUNT` + 1.
    pub burst: u8,
    /// `END_OF_PROGRAM`.
    pub end: bool,
    /// `BARRIER`.
    pub barrier: bool,
    /// Vertex stream of a stream-out or ring write; 0 on R700.
    pub stream: u8,
}

/// `SQ_CF_WORD0` and `WORD1`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CfOther {
    /// `CF_INST`, see [`cf`].
    pub code: u8,
    /// `ADDR` in units of two dwords.
    pub address: u32,
    /// `POP_COUNT`.
    pub pop_count: u8,
    /// `CF_CONST`.
    pub constant: u8,
    /// `COND`: 0 active lanes, 1 none, 2 if the boolean is set, 3 if it is not.
    pub cond: u8,
    /// `COUNT` with `COUNT_3`, plus 1: instructions of a clause. Of an emit or
    /// cut: the stream plus 1.
    pub count: u8,
    /// `VALID_PIXEL_MODE`.
    pub valid_pixel: bool,
    /// `WHOLE_QUAD_MODE`.
    pub whole_quad: bool,
    /// `END_OF_PROGRAM`.
    pub end: bool,
}

/// Values of `CF_INST` (Mesa, `r600_isa.c`).
#[allow(missing_docs)]
pub mod cf {
    pub const NOP: u8 = 0x00;
    pub const TEX: u8 = 0x01;
    pub const VTX: u8 = 0x02;
    pub const VTX_TC: u8 = 0x03;
    pub const LOOP_START: u8 = 0x04;
    pub const LOOP_END: u8 = 0x05;
    pub const LOOP_START_DX10: u8 = 0x06;
    pub const LOOP_START_NO_AL: u8 = 0x07;
    pub const LOOP_CONTINUE: u8 = 0x08;
    pub const LOOP_BREAK: u8 = 0x09;
    pub const JUMP: u8 = 0x0a;
    pub const PUSH: u8 = 0x0b;
    pub const PUSH_ELSE: u8 = 0x0c;
    pub const ELSE: u8 = 0x0d;
    pub const POP: u8 = 0x0e;
    pub const POP_JUMP: u8 = 0x0f;
    pub const POP_PUSH: u8 = 0x10;
    pub const POP_PUSH_ELSE: u8 = 0x11;
    pub const CALL: u8 = 0x12;
    pub const CALL_FS: u8 = 0x13;
    pub const RET: u8 = 0x14;
    pub const EMIT_VERTEX: u8 = 0x15;
    pub const EMIT_CUT_VERTEX: u8 = 0x16;
    pub const CUT_VERTEX: u8 = 0x17;
    pub const KILL: u8 = 0x18;
    pub const END_PROGRAM: u8 = 0x19;
    pub const WAIT_ACK: u8 = 0x1a;
    pub const TEX_ACK: u8 = 0x1b;
    pub const VTX_ACK: u8 = 0x1c;
    pub const VTX_TC_ACK: u8 = 0x1d;
    pub const MEM_STREAM0: u8 = 0x20;
    pub const MEM_STREAM3: u8 = 0x23;
    pub const MEM_SCRATCH: u8 = 0x24;
    pub const MEM_REDUCTION: u8 = 0x25;
    pub const MEM_RING: u8 = 0x26;
    pub const EXPORT: u8 = 0x27;
    pub const EXPORT_DONE: u8 = 0x28;
    pub const MEM_EXPORT: u8 = 0x3a;
    /// R800's, at other codes there: its clause of the global data share, writes to RATs, and the
    /// rings of streams 1 to 3.
    pub const GDS: u8 = 0x40;
    pub const MEM_RAT: u8 = 0x41;
    pub const MEM_RING1: u8 = 0x42;

    pub const ALU: u8 = 0x08;
    pub const ALU_PUSH_BEFORE: u8 = 0x09;
    pub const ALU_POP_AFTER: u8 = 0x0a;
    pub const ALU_POP2_AFTER: u8 = 0x0b;
    pub const ALU_CONTINUE: u8 = 0x0d;
    pub const ALU_BREAK: u8 = 0x0e;
    pub const ALU_ELSE_AFTER: u8 = 0x0f;
}

impl CfKind {
    /// Decodes the two words of a control-flow instruction.
    ///
    /// `CF_INST` has four bits in an ALU clause's word and seven in others. Bit
    /// 29 tells them apart: it is set in the ALU codes, 8 to 15.
    pub const fn decode(words: [u32; 2]) -> Self {
        let [a, b] = words;
        if bit(b, 29) && bits(b, 26, 4) >= 8 {
            return Self::Alu(CfAlu {
                code: bits(b, 26, 4) as u8,
                address: bits(a, 0, 22),
                count: bits(b, 18, 7) + 1,
                kcache_bank: [bits(a, 22, 4) as u8, bits(a, 26, 4) as u8, 0, 0],
                kcache_mode: [bits(a, 30, 2) as u8, bits(b, 0, 2) as u8, 0, 0],
                kcache_line: [bits(b, 2, 8) as u8, bits(b, 10, 8) as u8, 0, 0],
                kcache_index: [0; 4],
                alt_const: bit(b, 25),
            });
        }
        let code = bits(b, 23, 7) as u8;
        if code >= cf::MEM_STREAM0 {
            let export = CfExport {
                code,
                array_base: bits(a, 0, 13) as u16,
                kind: bits(a, 13, 2) as u8,
                gpr: bits(a, 15, 7) as u8,
                rel: bit(a, 22),
                index_gpr: bits(a, 23, 7) as u8,
                element_size: bits(a, 30, 2) as u8,
                array_size: bits(b, 0, 12) as u16,
                components: bits(b, 12, 4) as u8,
                sel: four(b, 0),
                burst: bits(b, 17, 4) as u8 + 1,
                end: bit(b, 21),
                barrier: bit(b, 31),
                stream: 0,
            };
            return match code {
                cf::EXPORT | cf::EXPORT_DONE => Self::Export(export),
                _ => Self::Memory(export),
            };
        }
        Self::Other(CfOther {
            code,
            address: a,
            pop_count: bits(b, 0, 3) as u8,
            constant: bits(b, 3, 5) as u8,
            cond: bits(b, 8, 2) as u8,
            count: (bits(b, 10, 3) | bits(b, 19, 1) << 3) as u8 + 1,
            valid_pixel: bit(b, 22),
            whole_quad: bit(b, 30),
            end: bit(b, 21),
        })
    }

    /// True if the program ends after this instruction.
    pub const fn ends(&self) -> bool {
        match self {
            Self::Alu(_) | Self::AluExtended(_) => false,
            Self::Export(e) | Self::Memory(e) => e.end,
            Self::Other(o) => o.end || o.code == cf::END_PROGRAM,
        }
    }
}

/// True for control-flow codes whose clause holds texture instructions.
pub const fn is_tex_clause(code: u8) -> bool {
    matches!(code, cf::TEX | cf::TEX_ACK)
}

/// True for control-flow codes whose clause holds vertex instructions.
pub const fn is_vtx_clause(code: u8) -> bool {
    matches!(code, cf::VTX | cf::VTX_TC | cf::VTX_ACK | cf::VTX_TC_ACK)
}

/// Mesa's name of a control-flow code; `alu` tells the ALU clauses' four-bit
/// code from the others' seven-bit one.
pub const fn cf_name(alu: bool, code: u8) -> &'static str {
    if alu {
        return match code {
            cf::ALU => "ALU",
            cf::ALU_PUSH_BEFORE => "ALU_PUSH_BEFORE",
            cf::ALU_POP_AFTER => "ALU_POP_AFTER",
            cf::ALU_POP2_AFTER => "ALU_POP2_AFTER",
            cf::ALU_CONTINUE => "ALU_CONTINUE",
            cf::ALU_BREAK => "ALU_BREAK",
            cf::ALU_ELSE_AFTER => "ALU_ELSE_AFTER",
            _ => "ALU_UNKNOWN",
        };
    }
    match code {
        cf::NOP => "NOP",
        cf::TEX => "TEX",
        cf::VTX => "VTX",
        cf::VTX_TC => "VTX_TC",
        cf::LOOP_START => "LOOP_START",
        cf::LOOP_END => "LOOP_END",
        cf::LOOP_START_DX10 => "LOOP_START_DX10",
        cf::LOOP_START_NO_AL => "LOOP_START_NO_AL",
        cf::LOOP_CONTINUE => "LOOP_CONTINUE",
        cf::LOOP_BREAK => "LOOP_BREAK",
        cf::JUMP => "JUMP",
        cf::PUSH => "PUSH",
        cf::PUSH_ELSE => "PUSH_ELSE",
        cf::ELSE => "ELSE",
        cf::POP => "POP",
        cf::POP_JUMP => "POP_JUMP",
        cf::POP_PUSH => "POP_PUSH",
        cf::POP_PUSH_ELSE => "POP_PUSH_ELSE",
        cf::CALL => "CALL",
        cf::CALL_FS => "CALL_FS",
        cf::RET => "RET",
        cf::EMIT_VERTEX => "EMIT_VERTEX",
        cf::EMIT_CUT_VERTEX => "EMIT_CUT_VERTEX",
        cf::CUT_VERTEX => "CUT_VERTEX",
        cf::KILL => "KILL",
        cf::END_PROGRAM => "END_PROGRAM",
        cf::WAIT_ACK => "WAIT_ACK",
        cf::TEX_ACK => "TEX_ACK",
        cf::VTX_ACK => "VTX_ACK",
        cf::VTX_TC_ACK => "VTX_TC_ACK",
        0x20 => "MEM_STREAM0",
        0x21 => "MEM_STREAM1",
        0x22 => "MEM_STREAM2",
        0x23 => "MEM_STREAM3",
        cf::MEM_SCRATCH => "MEM_SCRATCH",
        cf::MEM_REDUCTION => "MEM_REDUCT",
        cf::MEM_RING => "MEM_RING",
        cf::EXPORT => "EXPORT",
        cf::EXPORT_DONE => "EXPORT_DONE",
        cf::MEM_EXPORT => "MEM_EXPORT",
        _ => "CF_UNKNOWN",
    }
}
