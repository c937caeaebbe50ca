// SPDX-License-Identifier: MIT
//! The encoding of Evergreen's shaders (R800): decodes words to the typed forms of
//! [`isa`](super::isa), which the interpreter executes.
//!
//! Sources: AMD "Evergreen Family Instruction Set Architecture", chapters 8 and 9; Mesa's
//! `eg_sq.h` and `eg_asm.c` (layouts), `r600_isa.c` (codes and units, the columns of Evergreen).

use super::isa::{
    cf, sel, tex, AluInstruction, AluSource, CfAlu, CfExport, CfKind, CfOther, GdsInstruction,
    TexInstruction, VtxInstruction, SELECTS,
};
use super::ops::{AluOp, Units};
use crate::chip::regs::fields::words::evergreen::{
    sq_alu_word0_lds_idx_op as lds0, sq_alu_word1_lds_idx_op as lds1,
    sq_cf_alloc_export_word1 as export1, sq_cf_alu_word0_ext as ext0, sq_cf_alu_word1 as alu1,
    sq_cf_alu_word1_ext as ext1, sq_cf_word0 as word0, sq_cf_word1 as word1,
    sq_mem_gds_word0 as gds0, sq_mem_gds_word1 as gds1, sq_mem_gds_word2 as gds2,
    sq_tex_word0 as tex0, sq_vtx_word2 as vtx2,
};
use crate::chip::regs::fields::words::four;
use crate::chip::regs::fields::words::r700::{
    sq_cf_alloc_export_word0 as export0, sq_cf_alloc_export_word1_buf as buffer,
    sq_cf_alu_word0 as alu0,
};

/// The operations: whether the word is an `OP3`, its `ALU_INST`, operation, units.
pub const ALU: &[(bool, u16, AluOp, Units)] = &[
    (false, 0x00, AluOp::Add, Units::Any),
    (false, 0x01, AluOp::Mul, Units::Any),
    (false, 0x02, AluOp::MulIeee, Units::Any),
    (false, 0x03, AluOp::Max, Units::Any),
    (false, 0x04, AluOp::Min, Units::Any),
    (false, 0x05, AluOp::MaxDx10, Units::Any),
    (false, 0x06, AluOp::MinDx10, Units::Any),
    (false, 0x08, AluOp::Sete, Units::Any),
    (false, 0x09, AluOp::Setgt, Units::Any),
    (false, 0x0a, AluOp::Setge, Units::Any),
    (false, 0x0b, AluOp::Setne, Units::Any),
    (false, 0x0c, AluOp::SeteDx10, Units::Any),
    (false, 0x0d, AluOp::SetgtDx10, Units::Any),
    (false, 0x0e, AluOp::SetgeDx10, Units::Any),
    (false, 0x0f, AluOp::SetneDx10, Units::Any),
    (false, 0x10, AluOp::Fract, Units::Any),
    (false, 0x11, AluOp::Trunc, Units::Any),
    (false, 0x12, AluOp::Ceil, Units::Any),
    (false, 0x13, AluOp::Rndne, Units::Any),
    (false, 0x14, AluOp::Floor, Units::Any),
    (false, 0x15, AluOp::AshrInt, Units::Any),
    (false, 0x16, AluOp::LshrInt, Units::Any),
    (false, 0x17, AluOp::LshlInt, Units::Any),
    (false, 0x19, AluOp::Mov, Units::Any),
    (false, 0x1a, AluOp::Nop, Units::Any),
    (false, 0x1e, AluOp::PredSetgtUint, Units::Any),
    (false, 0x1f, AluOp::PredSetgeUint, Units::Any),
    (false, 0x20, AluOp::PredSete, Units::Any),
    (false, 0x21, AluOp::PredSetgt, Units::Any),
    (false, 0x22, AluOp::PredSetge, Units::Any),
    (false, 0x23, AluOp::PredSetne, Units::Any),
    (false, 0x24, AluOp::PredSetInv, Units::Any),
    (false, 0x25, AluOp::PredSetPop, Units::Any),
    (false, 0x26, AluOp::PredSetClr, Units::Any),
    (false, 0x27, AluOp::PredSetRestore, Units::Any),
    (false, 0x28, AluOp::PredSetePush, Units::Any),
    (false, 0x29, AluOp::PredSetgtPush, Units::Any),
    (false, 0x2a, AluOp::PredSetgePush, Units::Any),
    (false, 0x2b, AluOp::PredSetnePush, Units::Any),
    (false, 0x2c, AluOp::Kille, Units::Any),
    (false, 0x2d, AluOp::Killgt, Units::Any),
    (false, 0x2e, AluOp::Killge, Units::Any),
    (false, 0x2f, AluOp::Killne, Units::Any),
    (false, 0x30, AluOp::AndInt, Units::Any),
    (false, 0x31, AluOp::OrInt, Units::Any),
    (false, 0x32, AluOp::XorInt, Units::Any),
    (false, 0x33, AluOp::NotInt, Units::Any),
    (false, 0x34, AluOp::AddInt, Units::Any),
    (false, 0x35, AluOp::SubInt, Units::Any),
    (false, 0x36, AluOp::MaxInt, Units::Any),
    (false, 0x37, AluOp::MinInt, Units::Any),
    (false, 0x38, AluOp::MaxUint, Units::Any),
    (false, 0x39, AluOp::MinUint, Units::Any),
    (false, 0x3a, AluOp::SeteInt, Units::Any),
    (false, 0x3b, AluOp::SetgtInt, Units::Any),
    (false, 0x3c, AluOp::SetgeInt, Units::Any),
    (false, 0x3d, AluOp::SetneInt, Units::Any),
    (false, 0x3e, AluOp::SetgtUint, Units::Any),
    (false, 0x3f, AluOp::SetgeUint, Units::Any),
    (false, 0x40, AluOp::KillgtUint, Units::Any),
    (false, 0x41, AluOp::KillgeUint, Units::Any),
    (false, 0x42, AluOp::PredSeteInt, Units::Any),
    (false, 0x43, AluOp::PredSetgtInt, Units::Any),
    (false, 0x44, AluOp::PredSetgeInt, Units::Any),
    (false, 0x45, AluOp::PredSetneInt, Units::Any),
    (false, 0x46, AluOp::KilleInt, Units::Any),
    (false, 0x47, AluOp::KillgtInt, Units::Any),
    (false, 0x48, AluOp::KillgeInt, Units::Any),
    (false, 0x49, AluOp::KillneInt, Units::Any),
    (false, 0x4a, AluOp::PredSetePushInt, Units::Any),
    (false, 0x4b, AluOp::PredSetgtPushInt, Units::Any),
    (false, 0x4c, AluOp::PredSetgePushInt, Units::Any),
    (false, 0x4d, AluOp::PredSetnePushInt, Units::Any),
    (false, 0x4e, AluOp::PredSetltPushInt, Units::Any),
    (false, 0x4f, AluOp::PredSetlePushInt, Units::Any),
    (false, 0x50, AluOp::FltToInt, Units::Vector),
    (false, 0x51, AluOp::BfrevInt, Units::Any),
    (false, 0x52, AluOp::AddcUint, Units::Any),
    (false, 0x53, AluOp::SubbUint, Units::Any),
    (false, 0x54, AluOp::GroupBarrier, Units::Any),
    (false, 0x57, AluOp::SetMode, Units::Any),
    (false, 0x58, AluOp::SetCfIdx0, Units::Any),
    (false, 0x59, AluOp::SetCfIdx1, Units::Any),
    (false, 0x81, AluOp::ExpIeee, Units::Trans),
    (false, 0x82, AluOp::LogClamped, Units::Trans),
    (false, 0x83, AluOp::LogIeee, Units::Trans),
    (false, 0x84, AluOp::RecipClamped, Units::Trans),
    (false, 0x85, AluOp::RecipFf, Units::Trans),
    (false, 0x86, AluOp::RecipIeee, Units::Trans),
    (false, 0x87, AluOp::RecipsqrtClamped, Units::Trans),
    (false, 0x88, AluOp::RecipsqrtFf, Units::Trans),
    (false, 0x89, AluOp::RecipsqrtIeee, Units::Trans),
    (false, 0x8a, AluOp::SqrtIeee, Units::Trans),
    (false, 0x8d, AluOp::Sin, Units::Trans),
    (false, 0x8e, AluOp::Cos, Units::Trans),
    (false, 0x8f, AluOp::MulloInt, Units::Trans),
    (false, 0x90, AluOp::MulhiInt, Units::Trans),
    (false, 0x91, AluOp::MulloUint, Units::Trans),
    (false, 0x92, AluOp::MulhiUint, Units::Trans),
    (false, 0x93, AluOp::RecipInt, Units::Trans),
    (false, 0x94, AluOp::RecipUint, Units::Trans),
    (false, 0x95, AluOp::Recip64, Units::Vector),
    (false, 0x96, AluOp::RecipClamped64, Units::Vector),
    (false, 0x97, AluOp::Recipsqrt64, Units::Vector),
    (false, 0x98, AluOp::RecipsqrtClamped64, Units::Vector),
    (false, 0x99, AluOp::Sqrt64, Units::Vector),
    (false, 0x9a, AluOp::FltToUint, Units::Trans),
    (false, 0x9b, AluOp::IntToFlt, Units::Trans),
    (false, 0x9c, AluOp::UintToFlt, Units::Trans),
    (false, 0xa0, AluOp::BfmInt, Units::Vector),
    (false, 0xa2, AluOp::Flt32ToFlt16, Units::Vector),
    (false, 0xa3, AluOp::Flt16ToFlt32, Units::Vector),
    (false, 0xa4, AluOp::Ubyte0Flt, Units::Vector),
    (false, 0xa5, AluOp::Ubyte1Flt, Units::Vector),
    (false, 0xa6, AluOp::Ubyte2Flt, Units::Vector),
    (false, 0xa7, AluOp::Ubyte3Flt, Units::Vector),
    (false, 0xaa, AluOp::BcntInt, Units::Vector),
    (false, 0xab, AluOp::FfbhUint, Units::Vector),
    (false, 0xac, AluOp::FfblInt, Units::Vector),
    (false, 0xad, AluOp::FfbhInt, Units::Vector),
    (false, 0xb0, AluOp::FltToIntRpi, Units::Vector),
    (false, 0xb1, AluOp::FltToIntFloor, Units::Vector),
    (false, 0xb2, AluOp::MulhiUint24, Units::Vector),
    (false, 0xb3, AluOp::Mbcnt32Hi, Units::Vector),
    (false, 0xb5, AluOp::MulUint24, Units::Vector),
    (false, 0xb7, AluOp::Mbcnt32Lo, Units::Vector),
    (false, 0xb8, AluOp::Sete64, Units::Vector),
    (false, 0xb9, AluOp::Setne64, Units::Vector),
    (false, 0xba, AluOp::Setgt64, Units::Vector),
    (false, 0xbb, AluOp::Setge64, Units::Vector),
    (false, 0xbc, AluOp::Min64, Units::Vector),
    (false, 0xbd, AluOp::Max64, Units::Vector),
    (false, 0xbe, AluOp::Dot4, Units::Four),
    (false, 0xbf, AluOp::Dot4Ieee, Units::Four),
    (false, 0xc0, AluOp::Cube, Units::Four),
    (false, 0xc1, AluOp::Max4, Units::Four),
    (false, 0xc4, AluOp::Frexp64, Units::Vector),
    (false, 0xc5, AluOp::Ldexp64, Units::Vector),
    (false, 0xc6, AluOp::Fract64, Units::Vector),
    (false, 0xc7, AluOp::PredSetgt64, Units::Vector),
    (false, 0xc8, AluOp::PredSete64, Units::Vector),
    (false, 0xc9, AluOp::PredSetge64, Units::Vector),
    (false, 0xca, AluOp::Mul64Wide, Units::Vector),
    (false, 0xcb, AluOp::Add64, Units::Vector),
    (false, 0xcc, AluOp::MovaInt, Units::Vector),
    (false, 0xcd, AluOp::Flt64ToFlt32, Units::Vector),
    (false, 0xce, AluOp::Flt32ToFlt64, Units::Vector),
    (false, 0xd6, AluOp::InterpXy, Units::Vector),
    (false, 0xd7, AluOp::InterpZw, Units::Vector),
    (false, 0xd8, AluOp::InterpX, Units::Vector),
    (false, 0xd9, AluOp::InterpZ, Units::Vector),
    (false, 0xe0, AluOp::InterpLoadP0, Units::Vector),
    (false, 0xe1, AluOp::InterpLoadP10, Units::Vector),
    (false, 0xe2, AluOp::InterpLoadP20, Units::Vector),
    (false, 0xaf, AluOp::DotIeee, Units::Vector),
    (false, 0xd0, AluOp::Dot, Units::Vector),
    (true, 0x04, AluOp::BfeUint, Units::Vector),
    (true, 0x05, AluOp::BfeInt, Units::Vector),
    (true, 0x06, AluOp::BfiInt, Units::Vector),
    (true, 0x07, AluOp::Fma, Units::Vector),
    (true, 0x0a, AluOp::Fma64, Units::Vector),
    (true, 0x0c, AluOp::BitAlignInt, Units::Vector),
    (true, 0x0d, AluOp::ByteAlignInt, Units::Vector),
    (true, 0x10, AluOp::MuladdUint24, Units::Vector),
    (true, 0x11, AluOp::LdsIdxOp, Units::Vector),
    (true, 0x14, AluOp::Muladd, Units::Any),
    (true, 0x15, AluOp::MuladdM2, Units::Any),
    (true, 0x16, AluOp::MuladdM4, Units::Any),
    (true, 0x17, AluOp::MuladdD2, Units::Any),
    (true, 0x18, AluOp::MuladdIeee, Units::Any),
    (true, 0x19, AluOp::Cnde, Units::Any),
    (true, 0x1a, AluOp::Cndgt, Units::Any),
    (true, 0x1b, AluOp::Cndge, Units::Any),
    (true, 0x1c, AluOp::CndeInt, Units::Any),
    (true, 0x1d, AluOp::CndgtInt, Units::Any),
    (true, 0x1e, AluOp::CndgeInt, Units::Any),
    (true, 0x1f, AluOp::MulLit, Units::Trans),
];

/// `CF_INST` of eight bits.
mod code {
    pub const GDS: u32 = 0x03;
    pub const LAST_COMMON: u32 = 0x1C;
    pub const MEM_STREAM0_BUF0: u32 = 0x40;
    pub const MEM_STREAM3_BUF3: u32 = 0x4F;
    pub const MEM_SCRATCH: u32 = 0x50;
    pub const MEM_RING: u32 = 0x52;
    pub const EXPORT: u32 = 0x53;
    pub const EXPORT_DONE: u32 = 0x54;
    pub const MEM_RAT: u32 = 0x56;
    pub const MEM_RAT_NOCACHE: u32 = 0x57;
    pub const MEM_RING1: u32 = 0x58;
    pub const MEM_RING3: u32 = 0x5A;
}

/// Decodes the two words of a control-flow instruction (`SQ_CF_WORD0`, `SQ_CF_ALU_WORD0`,
/// `SQ_CF_ALLOC_EXPORT_WORD0` and their second words). Codes that R700 has keep its number.
pub const fn cf(words: [u32; 2]) -> CfKind {
    let [a, b] = words;
    // The highest bit of CF_INST.
    if alu1::CF_INST.of(b) >= 8 {
        return alu_clause(a, b);
    }
    let code = word1::CF_INST.of(b);
    if code >= code::MEM_STREAM0_BUF0 {
        // Stream-out: four buffers of four vertex streams.
        let (neutral, stream) = match code {
            code::MEM_STREAM0_BUF0..=code::MEM_STREAM3_BUF3 => {
                (cf::MEM_STREAM0 + (code & 3) as u8, code >> 2 & 3)
            }
            code::MEM_SCRATCH => (cf::MEM_SCRATCH, 0),
            code::MEM_RING => (cf::MEM_RING, 0),
            code::MEM_RING1..=code::MEM_RING3 => (cf::MEM_RING1, code - code::MEM_RING1 + 1),
            code::EXPORT => (cf::EXPORT, 0),
            code::EXPORT_DONE => (cf::EXPORT_DONE, 0),
            code::MEM_RAT | code::MEM_RAT_NOCACHE => (cf::MEM_RAT, 0),
            other => (other as u8, 0),
        };
        let export = CfExport {
            code: neutral,
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
            stream: stream as u8,
        };
        return match neutral {
            cf::EXPORT | cf::EXPORT_DONE => CfKind::Export(export),
            _ => CfKind::Memory(export),
        };
    }
    CfKind::Other(CfOther {
        code: match code {
            code::GDS => cf::GDS,
            0..=code::LAST_COMMON => code as u8,
            // Nothing on R700 has these codes.
            other => other as u8 | 0x60,
        },
        address: word0::ADDR.of(a),
        pop_count: word1::POP_COUNT.of(b) as u8,
        constant: word1::CF_CONST.of(b) as u8,
        cond: word1::COND.of(b) as u8,
        count: word1::COUNT.of(b) as u8 + 1,
        valid_pixel: word1::VALID_PIXEL_MODE.is_set(b),
        whole_quad: word1::WHOLE_QUAD_MODE.is_set(b),
        end: word1::END_OF_PROGRAM.is_set(b),
    })
}

/// `ALU_EXT` of the four-bit codes.
const ALU_EXT: u8 = 0x0C;

const fn alu_clause(a: u32, b: u32) -> CfKind {
    let code = alu1::CF_INST.of(b) as u8;
    if code == ALU_EXT {
        let [bank2, bank3] = [ext0::KCACHE_BANK2.of(a), ext0::KCACHE_BANK3.of(a)];
        let [mode2, mode3] = [ext0::KCACHE_MODE2.of(a), ext1::KCACHE_MODE3.of(b)];
        let [line2, line3] = [ext1::KCACHE_ADDR2.of(b), ext1::KCACHE_ADDR3.of(b)];
        return CfKind::AluExtended(CfAlu {
            code,
            address: 0,
            count: 0,
            kcache_bank: [0, 0, bank2 as u8, bank3 as u8],
            kcache_mode: [0, 0, mode2 as u8, mode3 as u8],
            kcache_line: [0, 0, line2 as u8, line3 as u8],
            kcache_index: four(
                a,
                [
                    ext0::KCACHE_BANK_INDEX_MODE0,
                    ext0::KCACHE_BANK_INDEX_MODE1,
                    ext0::KCACHE_BANK_INDEX_MODE2,
                    ext0::KCACHE_BANK_INDEX_MODE3,
                ],
            ),
            alt_const: false,
        });
    }
    let [bank0, bank1] = [alu0::KCACHE_BANK0.of(a), alu0::KCACHE_BANK1.of(a)];
    let [mode0, mode1] = [alu0::KCACHE_MODE0.of(a), alu1::KCACHE_MODE1.of(b)];
    let [line0, line1] = [alu1::KCACHE_ADDR0.of(b), alu1::KCACHE_ADDR1.of(b)];
    CfKind::Alu(CfAlu {
        code,
        address: alu0::ADDR.of(a),
        count: alu1::COUNT.of(b) + 1,
        kcache_bank: [bank0 as u8, bank1 as u8, 0, 0],
        kcache_mode: [mode0 as u8, mode1 as u8, 0, 0],
        kcache_line: [line0 as u8, line1 as u8, 0, 0],
        kcache_index: [0; 4],
        alt_const: alu1::ALT_CONST.is_set(b),
    })
}

/// Adds the sets of an `ALU_EXT` to the clause that follows it.
pub fn extend(clause: &mut CfAlu, extension: &CfAlu) {
    for set in 2..4 {
        clause.kcache_bank[set] = extension.kcache_bank[set];
        clause.kcache_mode[set] = extension.kcache_mode[set];
        clause.kcache_line[set] = extension.kcache_line[set];
    }
    clause.kcache_index = extension.kcache_index;
}

/// An operand's select in R700's numbering.
const fn select(value: u32) -> u16 {
    let value = value as u16;
    match value {
        0..=191 | 248..=255 => value,
        256..=287 => sel::KCACHE2 + value - 256,
        288..=319 => sel::KCACHE3 + value - 288,
        448..=511 => sel::PARAMETER + value - 448,
        _ => sel::OTHER + value,
    }
}

/// Decodes the two words of an ALU instruction. Its fields are where R700's are; operations and
/// operands have other codes.
pub fn alu(words: [u32; 2]) -> AluInstruction {
    let mut instruction = AluInstruction::decode(words);
    let key = (instruction.op3, instruction.code);
    let found = ALU.iter().find(|(op3, code, ..)| (*op3, *code) == key);
    instruction.op = found.map(|(_, _, op, _)| *op);
    instruction.units = found.map_or(Units::Any, |(.., units)| *units);
    if instruction.op == Some(AluOp::LdsIdxOp) {
        // Its other fields are in the places of modifiers and of the destination.
        let [a, b] = words;
        let offset = [
            lds1::IDX_OFFSET_0.is_set(b),
            lds1::IDX_OFFSET_1.is_set(b),
            lds1::IDX_OFFSET_2.is_set(b),
            lds1::IDX_OFFSET_3.is_set(b),
            lds0::IDX_OFFSET_4.is_set(a),
            lds0::IDX_OFFSET_5.is_set(a),
        ];
        let offset = (offset.iter().enumerate()).fold(0, |all, (i, bit)| all | u8::from(*bit) << i);
        instruction.lds = [lds1::LDS_OP.of(b) as u8, offset];
        for source in &mut instruction.src {
            source.neg = false;
        }
        (instruction.write, instruction.clamp, instruction.dst_rel) = (false, false, false);
    }
    for source in &mut instruction.src {
        let AluSource { sel, .. } = source;
        *sel = select((*sel).into());
    }
    instruction
}

/// Decodes the three words of a texture instruction.
pub fn texture(words: [u32; 3]) -> TexInstruction {
    let mut op = TexInstruction::decode(words);
    let modifier = tex0::INST_MOD.of(words[0]) as u8;
    op.bc_frac_mode = false;
    op.modifier = modifier;
    op.index = [tex0::RIM.of(words[0]) as u8, tex0::SIM.of(words[0]) as u8];
    op.opcode = match (op.opcode, modifier) {
        (tex::LD, 1) => tex::LD_FPTR,
        (tex::GET_LERP_FACTORS, _) => tex::SET_TEXTURE_OFFSETS,
        (tex::SAMPLE_G_L, _) => tex::GATHER4,
        (tex::SAMPLE_G_LZ, _) => tex::GATHER4_O,
        (tex::SAMPLE_C_G_L, _) => tex::GATHER4_C,
        (tex::SAMPLE_C_G_LZ, _) => tex::GATHER4_C_O,
        (opcode, _) => opcode,
    };
    op
}

/// Decodes the three words of an access of the global data share or of the tessellation factors; none
/// if `MEM_OP` is another.
pub fn data_share(words: [u32; 3]) -> Option<GdsInstruction> {
    let [a, b, c] = words;
    let factor = match gds0::MEM_OP.of(a) {
        4 => false,
        5 => true,
        _ => return None,
    };
    Some(GdsInstruction {
        op: gds1::GDS_OP.of(b) as u8,
        counter: gds1::ALLOC_CONSUME.is_set(b) && !factor,
        factor,
        uav: gds1::UAV_ID.of(b) as u8,
        index: gds1::UAV_INDEX_MODE.of(b) as u8,
        src_gpr: gds0::SRC_GPR.of(a) as u8,
        src_rel: gds0::SRC_REL.is_set(a),
        src_sel: [gds0::SRC_SEL_X, gds0::SRC_SEL_Y, gds0::SRC_SEL_Z].map(|sel| sel.of(a) as u8),
        dst_gpr: gds1::DST_GPR.of(b) as u8,
        dst_rel: gds1::DST_REL.is_set(b),
        dst_sel: four(
            c,
            [
                gds2::DST_SEL_X,
                gds2::DST_SEL_Y,
                gds2::DST_SEL_Z,
                gds2::DST_SEL_W,
            ],
        ),
    })
}

/// Decodes the three words of a vertex fetch.
pub fn vertex(words: [u32; 3]) -> VtxInstruction {
    VtxInstruction {
        index: vtx2::BIM.of(words[2]) as u8,
        ..VtxInstruction::decode(words)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Words as Mesa's `eg_asm.c` composes them.
    #[test]
    fn control_flow_words_have_evergreens_fields() {
        // CF_INST(EXPORT_DONE), END_OF_PROGRAM, BURST_COUNT 2, SEL xyzw; ARRAY_BASE 60, POS, R5.
        let words = [
            60 | 1 << 13 | 5 << 15,
            0x54 << 22 | 1 << 21 | 2 << 16 | 0o3210,
        ];
        let CfKind::Export(export) = cf(words) else {
            panic!("{:?}", cf(words));
        };
        assert_eq!(
            (export.code, export.kind, export.gpr),
            (cf::EXPORT_DONE, 1, 5)
        );
        assert_eq!(
            (export.burst, export.end, export.sel),
            (3, true, [0, 1, 2, 3])
        );
        // MEM_STREAM2_BUF1 is buffer 1 of stream 2.
        let CfKind::Memory(write) = cf([0, 0x49 << 22]) else {
            panic!("no memory write");
        };
        assert_eq!((write.code, write.stream), (cf::MEM_STREAM0 + 1, 2));
        // Six bits of COUNT: 33 instructions.
        let CfKind::Other(clause) = cf([0x77, 1 << 22 | 32 << 10]) else {
            panic!("no clause");
        };
        assert_eq!(
            (clause.code, clause.address, clause.count),
            (cf::TEX, 0x77, 33)
        );
        assert!(matches!(cf([0, 3 << 22]), CfKind::Other(w) if w.code == cf::GDS));
    }

    #[test]
    fn an_extended_clause_has_four_sets() {
        let ext = [
            2 << 22 | 3 << 26 | 1 << 30 | 1 << 8,
            0x0C << 26 | 2 | 7 << 2 | 9 << 10,
        ];
        let CfKind::AluExtended(ext) = cf(ext) else {
            panic!("no ALU_EXT");
        };
        let CfKind::Alu(mut alu) = cf([1 << 22 | 1 << 30 | 0x10, 0x08 << 26 | 4 << 18]) else {
            panic!("no ALU");
        };
        extend(&mut alu, &ext);
        assert_eq!(alu.kcache_bank, [1, 0, 2, 3]);
        assert_eq!(alu.kcache_mode, [1, 0, 1, 2]);
        assert_eq!(alu.kcache_line[2..], [7, 9]);
        assert_eq!((alu.kcache_index, alu.count), ([0, 0, 1, 0], 5));
    }

    #[test]
    fn operations_and_operands_have_other_codes() {
        // MULADD_IEEE (OP3 0x18) of R1.x, constant 5 of set 2, R3.y.
        let add = alu([1 | 261 << 13, 3 | 1 << 10 | 0x18 << 13 | 9 << 21]);
        assert_eq!(add.op, Some(AluOp::MuladdIeee));
        assert_eq!((add.src[1].sel, add.src[2].sel), (sel::KCACHE2 + 5, 3));
        // FLT_TO_INT is a vector operation here, INT_TO_FLT is not.
        let of = |code: u32| alu([0, code << 7]);
        assert_eq!(
            (of(0x50).op, of(0x50).units),
            (Some(AluOp::FltToInt), Units::Vector)
        );
        assert_eq!(
            (of(0x9B).op, of(0x9B).units),
            (Some(AluOp::IntToFlt), Units::Trans)
        );
        assert_eq!(
            (of(0xBE).op, of(0xC0).op),
            (Some(AluOp::Dot4), Some(AluOp::Cube))
        );
        assert_eq!(of(0x6B).op, None, "R700's FLT_TO_INT");
        let load = alu([448 + 7 | 2 << 10, 0xE0 << 7]);
        assert_eq!(load.op, Some(AluOp::InterpLoadP0));
        assert_eq!((load.src[0].sel, load.src[0].chan), (sel::PARAMETER + 7, 2));
    }

    #[test]
    fn codes_are_unique_and_every_own_operation_has_one() {
        for (i, (op3, code, op, _)) in ALU.iter().enumerate() {
            let same = |(a, b, c, _): &&(bool, u16, AluOp, Units)| (a, b) == (op3, code) || c == op;
            assert_eq!(ALU[i + 1..].iter().find(same), None, "{}", op.name());
        }
        for op in AluOp::ALL.iter().filter(|op| op.is_r800()) {
            assert!(ALU.iter().any(|(_, _, of, _)| of == op), "{}", op.name());
        }
    }

    #[test]
    fn fetches_have_modifiers_and_indices() {
        let gather = texture([0x15 | 2 << 5 | 1 << 25 | 2 << 27, 0, 0]);
        assert_eq!((gather.opcode, gather.modifier), (tex::GATHER4, 2));
        assert_eq!(gather.index, [1, 2]);
        assert_eq!(texture([3 | 1 << 5, 0, 0]).opcode, tex::LD_FPTR);
        assert_eq!(texture([3, 0, 0]).opcode, tex::LD);
        assert_eq!(vertex([0, 0, 2 << 21]).index, 2);
    }

    /// Words as `eg_bytecode_gds_build()` composes them.
    #[test]
    fn data_shares_and_tessellation_factors_have_one_form() {
        let words = |op: u32| {
            let word0 = 2 | op << 8 | 5 << 11 | 1 << 20 | 3 << 23 | 4 << 26;
            [word0, 7 | 0x20 << 9 | 2 << 26 | 1 << 30, 0o7777]
        };
        let counter = data_share(words(4)).unwrap();
        assert_eq!((counter.counter, counter.factor), (true, false));
        assert_eq!((counter.op, counter.uav), (0x20, 2));
        let factor = data_share(words(5)).unwrap();
        assert_eq!((factor.counter, factor.factor), (false, true));
        assert_eq!((factor.src_gpr, factor.src_sel), (5, [1, 3, 4]));
        assert_eq!(data_share(words(3)), None);
    }
}
