// SPDX-License-Identifier: MIT
//! ALU instructions. Layouts: see [`isa`](super).

use crate::chip::gfx::shader::ops;
use crate::chip::regs::fields::words::r700::{
    sq_alu_word0 as word0, sq_alu_word1 as word1, sq_alu_word1_op2 as op2,
    sq_alu_word1_op3 as op3_word,
};

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
    /// The halves of a counter of time, 64 bits.
    pub const TIME_HI: u16 = OTHER + 227;
    pub const TIME_LO: u16 = OTHER + 228;
    /// The number of the wave's slot on its SIMD, and of its shader engine.
    pub const HW_WAVE_ID: u16 = OTHER + 231;
    pub const SE_ID: u16 = OTHER + 233;
}

/// An ALU instruction (`SQ_ALU_WORD0` and `WORD1`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AluInstruction {
    /// The operation; none for a code that the chip does not have.
    pub op: Option<ops::AluOp>,
    /// Units that can run it.
    pub units: ops::Units,
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
        let op3 = word1::ENCODING.is_set(b);
        let code = match op3 {
            true => op3_word::ALU_INST.of(b),
            false => op2::ALU_INST.of(b),
        };
        let op = ops::AluOp::decode(op3, code);
        Self {
            op,
            units: match op {
                Some(op) => op.units(),
                None => ops::Units::Any,
            },
            code: code as u16,
            op3,
            src: [
                AluSource {
                    sel: word0::SRC0_SEL.of(a) as u16,
                    rel: word0::SRC0_REL.is_set(a),
                    chan: word0::SRC0_CHAN.of(a) as u8,
                    neg: word0::SRC0_NEG.is_set(a),
                    abs: !op3 && op2::SRC0_ABS.is_set(b),
                },
                AluSource {
                    sel: word0::SRC1_SEL.of(a) as u16,
                    rel: word0::SRC1_REL.is_set(a),
                    chan: word0::SRC1_CHAN.of(a) as u8,
                    neg: word0::SRC1_NEG.is_set(a),
                    abs: !op3 && op2::SRC1_ABS.is_set(b),
                },
                AluSource {
                    sel: if op3 {
                        op3_word::SRC2_SEL.of(b) as u16
                    } else {
                        0
                    },
                    rel: op3 && op3_word::SRC2_REL.is_set(b),
                    chan: if op3 {
                        op3_word::SRC2_CHAN.of(b) as u8
                    } else {
                        0
                    },
                    neg: op3 && op3_word::SRC2_NEG.is_set(b),
                    abs: false,
                },
            ],
            index_mode: word0::INDEX_MODE.of(a) as u8,
            pred_sel: word0::PRED_SEL.of(a) as u8,
            last: word0::LAST.is_set(a),
            update_exec: !op3 && op2::UPDATE_EXECUTE_MASK.is_set(b),
            update_pred: !op3 && op2::UPDATE_PRED.is_set(b),
            write: op3 || op2::WRITE_MASK.is_set(b),
            omod: if op3 { 0 } else { op2::OMOD.of(b) as u8 },
            bank_swizzle: word1::BANK_SWIZZLE.of(b) as u8,
            dst_gpr: word1::DST_GPR.of(b) as u8,
            dst_rel: word1::DST_REL.is_set(b),
            dst_chan: word1::DST_CHAN.of(b) as u8,
            clamp: word1::CLAMP.is_set(b),
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
