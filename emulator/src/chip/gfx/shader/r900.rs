// SPDX-License-Identifier: MIT
//! The encoding of Cayman's shaders (R900, VLIW4): what differs from [`r800`].
//!
//! A group has four instructions, one for each vector unit. There is no transcendental unit: its
//! operations take three or four slots with the same operands, each of which writes the result to its
//! own channel by its own mask, so that each slot can be executed on its own. Programs end with
//! `CF_END` instead of a bit, vertices are fetched by texture clauses, `MOVA_INT` names the
//! register that it loads, and a gather's texels come in OpenGL's order.
//!
//! Sources: Mesa's `r600_isa.c` (the columns of Cayman), `eg_asm.c`, `eg_sq.h` (`CM_V_SQ_MOVA_DST_*`),
//! `emit_alu_trans_op1_cayman()` and `emit_alu_trans_op2_cayman()`, `lower_tg4()`.

use super::isa::{cf, sel, tex, AluInstruction, CfKind, TexInstruction};
use super::ops::{AluOp, Units};
use super::r800;
use crate::chip::regs::fields::words::evergreen::{sq_cf_alu_word1, sq_cf_word1 as word1};

/// `CF_INST` of eight bits: Evergreen's codes that are gone.
const VTX: u32 = 0x02;
const VTX_ACK: u32 = 0x1C;
/// Cayman's own.
const CF_END: u32 = 0x20;
/// `CF_INST` of four bits: `ALU_CONTINUE`, which is gone, and `ALU_VALID_PIXEL_MODE`.
const ALU_CONTINUE: u8 = 0x0D;
const ALU_VALID_PIXEL_MODE: u8 = 0x0E;

/// Decodes the two words of a control-flow instruction.
pub const fn cf(words: [u32; 2]) -> CfKind {
    let [a, b] = words;
    // The highest bit of CF_INST.
    if sq_cf_alu_word1::CF_INST.of(b) >= 8 {
        return match r800::cf(words) {
            // It keeps helper lanes from running. What only they compute nobody sees.
            CfKind::Alu(mut word) if word.code == ALU_VALID_PIXEL_MODE => {
                word.code = cf::ALU;
                CfKind::Alu(word)
            }
            // No instruction: one whose code nothing has.
            CfKind::Alu(word) if word.code == ALU_CONTINUE => r800::cf([a, 0x3F << 22]),
            other => other,
        };
    }
    let code = match word1::CF_INST.of(b) {
        VTX | VTX_ACK => 0x3F,
        code => code,
    };
    // END_OF_PROGRAM is no field.
    let others = !(word1::CF_INST.with(!0) | word1::END_OF_PROGRAM.with(!0));
    match r800::cf([a, b & others | word1::CF_INST.with(code)]) {
        CfKind::Other(mut word) if code == CF_END => {
            word.code = cf::END_PROGRAM;
            CfKind::Other(word)
        }
        other => other,
    }
}

/// `DST_GPR` of `MOVA_INT`.
mod mova {
    pub const AR_X: u8 = 0;
    pub const CF_IDX0: u8 = 2;
    pub const CF_IDX1: u8 = 3;
}

/// Decodes the two words of an ALU instruction.
pub fn alu(words: [u32; 2]) -> AluInstruction {
    let mut instruction = r800::alu(words);
    instruction.op = match instruction.op {
        Some(AluOp::MovaInt) => match instruction.dst_gpr {
            mova::AR_X => Some(AluOp::MovaInt),
            mova::CF_IDX0 => Some(AluOp::MovaIndex0),
            mova::CF_IDX1 => Some(AluOp::MovaIndex1),
            _ => None,
        },
        Some(AluOp::SetCfIdx0 | AluOp::SetCfIdx1 | AluOp::RecipInt | AluOp::RecipUint) => None,
        other => other,
    };
    instruction.units = match instruction.units {
        Units::Four => Units::Four,
        Units::Any | Units::Vector | Units::Trans => Units::Vector,
    };
    // There is no previous scalar result.
    for source in &mut instruction.src {
        if source.sel == sel::PS {
            source.sel += sel::OTHER;
        }
    }
    instruction
}

/// Decodes the three words of a texture instruction. The components of a gather's result are other texels
/// than R800's, from which Mesa makes OpenGL's order by the destination's selects.
pub fn texture(words: [u32; 3]) -> TexInstruction {
    const R800: [u8; 4] = [1, 2, 0, 3];
    let mut op = r800::texture(words);
    if let tex::GATHER4 | tex::GATHER4_O | tex::GATHER4_C | tex::GATHER4_C_O = op.opcode {
        for select in &mut op.dst_sel {
            *select = R800.get(usize::from(*select)).copied().unwrap_or(*select);
        }
    }
    op
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gathers_texels_are_in_opengls_order() {
        let words = |opcode: u32| [opcode, 1 << 12 | 2 << 15 | 7 << 18, 0];
        for opcode in [0x15, 0x17, 0x1D, 0x1F] {
            assert_eq!(texture(words(opcode)).dst_sel, [1, 2, 0, 7], "{opcode:#x}");
            assert_eq!(r800::texture(words(opcode)).dst_sel, [0, 1, 2, 7]);
        }
        assert_eq!(texture(words(0x10)).dst_sel, [0, 1, 2, 7]);
    }

    #[test]
    fn programs_end_with_an_instruction() {
        // An export with bit 21, END_OF_PROGRAM before Cayman.
        let export = cf([60 | 1 << 13, 0x54 << 22 | 1 << 21]);
        assert!(matches!(export, CfKind::Export(_)) && !export.ends());
        let texels = cf([4, 1 << 22 | 1 << 21 | 5 << 10]);
        let CfKind::Other(clause) = texels else {
            panic!("{texels:?}");
        };
        assert_eq!((clause.code, clause.count, clause.end), (cf::TEX, 6, false));
        assert!(cf([0, CF_END << 22]).ends());
        for gone in [0x02, 0x1C] {
            let vertices = cf([4, gone << 22]);
            let CfKind::Other(unknown) = vertices else {
                panic!("{vertices:?}");
            };
            assert!(!super::super::is_modelled(unknown.code), "{gone:#x}");
        }
        // ALU_CONTINUE is none, either.
        let CfKind::Other(unknown) = cf([4, 0x0D << 26]) else {
            panic!("a clause");
        };
        assert!(!super::super::is_modelled(unknown.code));
        // Bit 21 of an ALU clause is one of COUNT.
        let CfKind::Alu(clause) = cf([0, 8 << 26 | 8 << 18]) else {
            panic!("no ALU");
        };
        assert_eq!((clause.code, clause.count), (cf::ALU, 9));
        let valid = cf([0, 0x0E << 26]);
        assert!(matches!(valid, CfKind::Alu(word) if word.code == cf::ALU));
    }

    #[test]
    fn all_units_are_vector_units() {
        let of = |code: u32| alu([255, code << 7]);
        for code in [0x81, 0x8F, 0x9B, 0x00] {
            assert_eq!(of(code).units, Units::Vector, "{code:#x}");
            assert_eq!(of(code).op, r800::alu([0, code << 7]).op);
        }
        assert_eq!(of(0xBE).units, Units::Four);
        assert_eq!(of(0x81).src[0].sel, sel::OTHER + sel::PS);
        assert_eq!([0x58, 0x59, 0x93, 0x94].map(|code| of(code).op), [None; 4]);
    }

    #[test]
    fn an_address_goes_to_the_register_that_it_names() {
        let of = |gpr: u32| alu([1, 0xCC << 7 | gpr << 21]).op;
        let all = [
            Some(AluOp::MovaInt),
            None,
            Some(AluOp::MovaIndex0),
            Some(AluOp::MovaIndex1),
        ];
        assert_eq!([0, 1, 2, 3].map(of), all);
    }
}
