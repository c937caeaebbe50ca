// SPDX-License-Identifier: MIT
//! ALU instructions. Layouts: see [`isa`](super).

use super::{bit, bits};
use crate::chip::gfx::shader::ops;

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
        let op3 = bits(b, 15, 3) != 0;
        let code = if op3 { bits(b, 13, 5) } else { bits(b, 7, 11) };
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
