// SPDX-License-Identifier: MIT
//! Control-flow instructions. Layouts: see [`isa`](super).

use crate::chip::regs::fields::words::four;
use crate::chip::regs::fields::words::r700::{
    sq_cf_alloc_export_word0 as export0, sq_cf_alloc_export_word1 as export1,
    sq_cf_alloc_export_word1_buf as buffer, sq_cf_alloc_export_word1_swiz as swizzle,
    sq_cf_alu_word0 as alu0, sq_cf_alu_word1 as alu1, sq_cf_word0 as word0, sq_cf_word1 as word1,
};
use crate::chip::regs::fields::Field;

/// `SEL_X` to `W` of an export.
pub(in crate::chip::gfx::shader) const SELECTS: [Field; 4] = [
    swizzle::SEL_X,
    swizzle::SEL_Y,
    swizzle::SEL_Z,
    swizzle::SEL_W,
];

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
        // Bit 29 is the highest of CF_INST.
        if alu1::CF_INST.of(b) >= 8 {
            return Self::Alu(CfAlu {
                code: alu1::CF_INST.of(b) as u8,
                address: alu0::ADDR.of(a),
                count: alu1::COUNT.of(b) + 1,
                kcache_bank: [
                    alu0::KCACHE_BANK0.of(a) as u8,
                    alu0::KCACHE_BANK1.of(a) as u8,
                    0,
                    0,
                ],
                kcache_mode: [
                    alu0::KCACHE_MODE0.of(a) as u8,
                    alu1::KCACHE_MODE1.of(b) as u8,
                    0,
                    0,
                ],
                kcache_line: [
                    alu1::KCACHE_ADDR0.of(b) as u8,
                    alu1::KCACHE_ADDR1.of(b) as u8,
                    0,
                    0,
                ],
                kcache_index: [0; 4],
                alt_const: alu1::ALT_CONST.is_set(b),
            });
        }
        let code = word1::CF_INST.of(b) as u8;
        if code >= cf::MEM_STREAM0 {
            let export = CfExport {
                code,
                array_base: export0::ARRAY_BASE.of(a) as u16,
                kind: export0::TYPE.of(a) as u8,
                gpr: export0::RW_GPR.of(a) as u8,
                rel: export0::RW_REL.is_set(a),
                index_gpr: export0::INDEX_GPR.of(a) as u8,
                element_size: export0::ELEM_SIZE.of(a) as u8,
                array_size: buffer::ARRAY_SIZE.of(b) as u16,
                components: buffer::COMP_MASK.of(b) as u8,
                sel: four(b, SELECTS),
                burst: export1::BURST_COUNT.of(b) as u8 + 1,
                end: export1::END_OF_PROGRAM.is_set(b),
                barrier: export1::BARRIER.is_set(b),
                stream: 0,
            };
            return match code {
                cf::EXPORT | cf::EXPORT_DONE => Self::Export(export),
                _ => Self::Memory(export),
            };
        }
        Self::Other(CfOther {
            code,
            address: word0::ADDR.of(a),
            pop_count: word1::POP_COUNT.of(b) as u8,
            constant: word1::CF_CONST.of(b) as u8,
            cond: word1::COND.of(b) as u8,
            count: (word1::COUNT.of(b) | word1::COUNT_3.of(b) << 3) as u8 + 1,
            valid_pixel: word1::VALID_PIXEL_MODE.is_set(b),
            whole_quad: word1::WHOLE_QUAD_MODE.is_set(b),
            end: word1::END_OF_PROGRAM.is_set(b),
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
