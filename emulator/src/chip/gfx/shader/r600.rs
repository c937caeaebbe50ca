// SPDX-License-Identifier: MIT
//! The encoding of R6xx's shaders, where it is not R7xx's.
//!
//! Sources: AMD "R600-Family Instruction Set Architecture", chapters 7 and 8; Mesa's `r600_sq.h`
//! (layouts), `r600_asm.c`, `r600_isa.c` (the columns of R600), `sfn_assembler.cpp` (scratch
//! memory), `sfn_nir_lower_alu.cpp` (angles).

use super::isa::{cf, AluInstruction, CfExport, CfKind, CfOther, MemInstruction, MEM_SCRATCH};
use super::ops::{AluOp, Units};
use crate::chip::regs::fields::words::r700::{r600::sq_alu_word1_op2 as op2, sq_cf_word1};

/// `TYPE` of a `MEM_SCRATCH` that reads: bit 1. R7xx has acknowledged writes there, and reads by
/// an instruction of a vertex clause.
const READS: u8 = 2;

/// Decodes the two words of a control-flow instruction.
pub const fn cf(words: [u32; 2]) -> CfKind {
    match CfKind::decode(words) {
        // There is no COUNT_3: a clause has at most eight fetches.
        CfKind::Other(word) => CfKind::Other(CfOther {
            count: sq_cf_word1::COUNT.of(words[1]) as u8 + 1,
            ..word
        }),
        other => other,
    }
}

/// Decodes the two words of an ALU instruction.
pub const fn alu(words: [u32; 2]) -> AluInstruction {
    let mut instruction = AluInstruction::decode(words);
    if instruction.op3 {
        return instruction;
    }
    // FOG_MERGE has bit 5, so that the fields above it lie one bit higher.
    let code = op2::ALU_INST.of(words[1]);
    instruction.code = code as u16;
    instruction.omod = op2::OMOD.of(words[1]) as u8;
    instruction.op = match AluOp::decode(false, code) {
        // Of radians: R7xx's take turns.
        Some(AluOp::Sin) => Some(AluOp::SinRadians),
        Some(AluOp::Cos) => Some(AluOp::CosRadians),
        op => op,
    };
    instruction.units = match instruction.op {
        Some(AluOp::AshrInt | AluOp::LshrInt | AluOp::LshlInt) => Units::Trans,
        Some(op) => op.units(),
        None => Units::Any,
    };
    instruction
}

/// The read that `word` is, if it reads scratch memory, as the instruction of R7xx's vertex clauses.
pub fn scratch_read(word: &CfExport) -> Option<MemInstruction> {
    let reads = word.code == cf::MEM_SCRATCH && word.kind & READS != 0;
    reads.then(|| MemInstruction {
        op: MEM_SCRATCH,
        element_size: word.element_size,
        indexed: word.kind & 1 != 0,
        src_gpr: word.index_gpr,
        burst_count: word.burst - 1,
        dst_gpr: word.gpr,
        dst_rel: word.rel,
        dst_sel: std::array::from_fn(|chan| match word.components >> chan & 1 {
            0 => 7,
            _ => chan as u8,
        }),
        array_base: word.array_base,
        array_size: word.array_size,
        ..MemInstruction::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Words as Mesa's `r600_bytecode_alu_build()` and `r600_bytecode_cf_build()` compose them.
    #[test]
    fn two_operand_words_have_their_operation_one_bit_higher() {
        // MULLO_INT R3.y, R1.x, R2.z with OMOD 2, LAST.
        let words = [
            1 | 2 << 13 | 2 << 23 | 1 << 31,
            1 << 4 | 2 << 6 | 0x73 << 8 | 3 << 21 | 1 << 29,
        ];
        let op = alu(words);
        assert_eq!((op.op, op.omod), (Some(AluOp::MulloInt), 2));
        assert_eq!((op.dst_gpr, op.dst_chan, op.last), (3, 1, true));
        assert_ne!(AluInstruction::decode(words).op, op.op);
        // FOG_MERGE is no part of OMOD.
        assert_eq!(alu([0, 1 << 5 | 0x19 << 8]).omod, 0);
    }

    #[test]
    fn three_operand_words_are_those_of_r700() {
        let words = [1 | 2 << 13, 3 | 0x14 << 13 | 5 << 21];
        assert_eq!(alu(words), AluInstruction::decode(words));
        assert_eq!(alu(words).op, Some(AluOp::MuladdIeee));
    }

    #[test]
    fn shifts_need_the_transcendental_unit_and_angles_are_radians() {
        let of = |code: u32| alu([0, code << 8]);
        for code in 0x70..=0x72 {
            assert_eq!(of(code).units, Units::Trans);
            assert_eq!(AluInstruction::decode([0, code << 7]).units, Units::Any);
        }
        assert_eq!(of(0x6E).op, Some(AluOp::SinRadians));
        assert_eq!(of(0x6F).op, Some(AluOp::CosRadians));
        assert_eq!((of(0x6F).units, of(0x60).op), (Units::Trans, None));
    }

    #[test]
    fn a_clause_has_three_bits_of_count() {
        let count = |words| match cf(words) {
            CfKind::Other(word) => word.count,
            kind => panic!("{kind:?}"),
        };
        assert_eq!(count([0, 1 << 23 | 7 << 10]), 8);
        assert_eq!(count([0, 1 << 23 | 7 << 10 | 1 << 19]), 8);
    }

    #[test]
    fn scratch_is_read_by_a_control_flow_instruction() {
        let word = |kind: u32| {
            let words = [
                9 | kind << 13 | 5 << 15 | 6 << 23 | 3 << 30,
                31 | 0b0111 << 12 | 1 << 17 | u32::from(cf::MEM_SCRATCH) << 23,
            ];
            match cf(words) {
                CfKind::Memory(word) => word,
                kind => panic!("{kind:?}"),
            }
        };
        assert_eq!(scratch_read(&word(0)), None);
        assert_eq!(scratch_read(&word(1)), None);
        let read = scratch_read(&word(3)).unwrap();
        assert_eq!((read.op, read.dst_gpr, read.src_gpr), (MEM_SCRATCH, 5, 6));
        assert_eq!((read.indexed, read.burst_count), (true, 1));
        assert_eq!((read.array_base, read.array_size), (9, 31));
        assert_eq!(read.dst_sel, [0, 1, 2, 7]);
        assert!(!scratch_read(&word(2)).unwrap().indexed);
    }
}
