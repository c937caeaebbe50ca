// SPDX-License-Identifier: MIT
//! Mesa's names of control-flow codes and of operations on shared memory, for listings. Source:
//! `r600_isa.c`, `r600_asm.c` (`rat_instr_name`).

use super::Isa;
use crate::chip::regs::fields::words::{evergreen, r700};

/// Name of a control-flow instruction by its two words.
pub fn cf_name(isa: Isa, words: [u32; 2]) -> &'static str {
    let word = words[1];
    // Bit 29 tells the ALU clauses' four-bit code from the others'; below Evergreen it is in their code
    // too, of which none is that high.
    let code = r700::sq_cf_alu_word1::CF_INST.of(word);
    let alu = code >= 8;
    if alu {
        return alu_name(isa, code as u8);
    }
    match isa {
        Isa::R600 | Isa::R700 => code_name(r700::sq_cf_word1::CF_INST.of(word) as u8),
        Isa::R800 | Isa::R900 => r800_code_name(evergreen::sq_cf_word1::CF_INST.of(word) as u8),
    }
}

/// Name of an ALU clause's code.
pub const fn alu_name(isa: Isa, code: u8) -> &'static str {
    let later = isa.has_data_share();
    match code {
        0x08 => "ALU",
        0x09 => "ALU_PUSH_BEFORE",
        0x0A => "ALU_POP_AFTER",
        0x0B => "ALU_POP2_AFTER",
        0x0C if later => "ALU_EXT",
        0x0D => "ALU_CONTINUE",
        0x0E if matches!(isa, Isa::R900) => "ALU_VALID_PIXEL_MODE",
        0x0E => "ALU_BREAK",
        0x0F => "ALU_ELSE_AFTER",
        _ => "ALU_UNKNOWN",
    }
}

/// Name of one of R6xx's and R7xx's seven-bit codes.
pub const fn code_name(code: u8) -> &'static str {
    match code {
        0x03 => "VTX_TC",
        0x0C => "PUSH_ELSE",
        0x0F => "POP_JUMP",
        0x10 => "POP_PUSH",
        0x11 => "POP_PUSH_ELSE",
        0x1D => "VTX_TC_ACK",
        0x20 => "MEM_STREAM0",
        0x21 => "MEM_STREAM1",
        0x22 => "MEM_STREAM2",
        0x23 => "MEM_STREAM3",
        0x24 => "MEM_SCRATCH",
        0x25 => "MEM_REDUCT",
        0x26 => "MEM_RING",
        0x27 => "EXPORT",
        0x28 => "EXPORT_DONE",
        0x3A => "MEM_EXPORT",
        _ => common_name(code),
    }
}

/// Name of one of Evergreen's and Cayman's eight-bit codes.
pub const fn r800_code_name(code: u8) -> &'static str {
    const STREAMS: [&str; 16] = [
        "MEM_STREAM0_BUF0",
        "MEM_STREAM0_BUF1",
        "MEM_STREAM0_BUF2",
        "MEM_STREAM0_BUF3",
        "MEM_STREAM1_BUF0",
        "MEM_STREAM1_BUF1",
        "MEM_STREAM1_BUF2",
        "MEM_STREAM1_BUF3",
        "MEM_STREAM2_BUF0",
        "MEM_STREAM2_BUF1",
        "MEM_STREAM2_BUF2",
        "MEM_STREAM2_BUF3",
        "MEM_STREAM3_BUF0",
        "MEM_STREAM3_BUF1",
        "MEM_STREAM3_BUF2",
        "MEM_STREAM3_BUF3",
    ];
    match code {
        0x03 => "GDS",
        0x1D => "JUMPTABLE",
        0x1E => "WAVE_SYNC",
        0x1F => "HALT",
        0x20 => "CF_END",
        0x21 => "LDS_DEALLOC",
        0x22 => "PUSH_WQM",
        0x23 => "POP_WQM",
        0x24 => "ELSE_WQM",
        0x25 => "JUMP_ANY",
        0x26 => "REACTIVATE",
        0x27 => "REACTIVATE_WQM",
        0x28 => "INTERRUPT",
        0x29 => "INTERRUPT_AND_SLEEP",
        0x2A => "SET_PRIORITY",
        0x40..=0x4F => STREAMS[(code & 0xF) as usize],
        0x50 => "MEM_SCRATCH",
        0x52 => "MEM_RING",
        0x53 => "EXPORT",
        0x54 => "EXPORT_DONE",
        0x55 => "MEM_EXPORT",
        0x56 => "MEM_RAT",
        0x57 => "MEM_RAT_NOCACHE",
        0x58 => "MEM_RING1",
        0x59 => "MEM_RING2",
        0x5A => "MEM_RING3",
        0x5B => "MEM_MEM_COMBINED",
        0x5C => "MEM_RAT_COMBINED_NOCACHE",
        0x5D => "MEM_RAT_COMBINED",
        0x5E => "EXPORT_DONE_END",
        _ => common_name(code),
    }
}

/// Name of a code that all generations have.
const fn common_name(code: u8) -> &'static str {
    match code {
        0x00 => "NOP",
        0x01 => "TEX",
        0x02 => "VTX",
        0x04 => "LOOP_START",
        0x05 => "LOOP_END",
        0x06 => "LOOP_START_DX10",
        0x07 => "LOOP_START_NO_AL",
        0x08 => "LOOP_CONTINUE",
        0x09 => "LOOP_BREAK",
        0x0A => "JUMP",
        0x0B => "PUSH",
        0x0D => "ELSE",
        0x0E => "POP",
        0x12 => "CALL",
        0x13 => "CALL_FS",
        0x14 => "RET",
        0x15 => "EMIT_VERTEX",
        0x16 => "EMIT_CUT_VERTEX",
        0x17 => "CUT_VERTEX",
        0x18 => "KILL",
        0x19 => "END_PROGRAM",
        0x1A => "WAIT_ACK",
        0x1B => "TEX_ACK",
        0x1C => "VTX_ACK",
        _ => "CF_UNKNOWN",
    }
}

/// Name of an operation of the data shares, without their prefix (`LDS_`, `GDS_`).
pub const fn share_name(op: u8) -> &'static str {
    match op {
        0x00 => "ADD",
        0x01 => "SUB",
        0x02 => "RSUB",
        0x03 => "INC",
        0x04 => "DEC",
        0x05 => "MIN_INT",
        0x06 => "MAX_INT",
        0x07 => "MIN_UINT",
        0x08 => "MAX_UINT",
        0x09 => "AND",
        0x0A => "OR",
        0x0B => "XOR",
        0x0C => "MSKOR",
        0x0D => "WRITE",
        0x0E => "WRITE_REL",
        0x0F => "WRITE2",
        0x10 => "CMP_STORE",
        0x11 => "CMP_STORE_SPF",
        0x12 => "BYTE_WRITE",
        0x13 => "SHORT_WRITE",
        0x20 => "ADD_RET",
        0x21 => "SUB_RET",
        0x22 => "RSUB_RET",
        0x23 => "INC_RET",
        0x24 => "DEC_RET",
        0x25 => "MIN_INT_RET",
        0x26 => "MAX_INT_RET",
        0x27 => "MIN_UINT_RET",
        0x28 => "MAX_UINT_RET",
        0x29 => "AND_RET",
        0x2A => "OR_RET",
        0x2B => "XOR_RET",
        0x2C => "MSKOR_RET",
        0x2D => "XCHG_RET",
        0x2E => "XCHG_REL_RET",
        0x2F => "XCHG2_RET",
        0x30 => "CMP_XCHG_RET",
        0x31 => "CMP_XCHG_SPF_RET",
        0x32 => "READ_RET",
        0x33 => "READ_REL_RET",
        0x34 => "READ2_RET",
        0x35 => "READWRITE_RET",
        0x36 => "BYTE_READ_RET",
        0x37 => "UBYTE_READ_RET",
        0x38 => "SHORT_READ_RET",
        0x39 => "USHORT_READ_RET",
        0x3F => "ATOMIC_ORDERED_ALLOC",
        _ => "UNKNOWN",
    }
}

/// Operands of an operation of the local data share, its address included.
pub const fn share_operands(op: u8) -> usize {
    match op {
        0x32 | 0x36..=0x39 => 1,
        0x0C | 0x0E..=0x11 | 0x2C | 0x2E..=0x31 => 3,
        _ => 2,
    }
}

/// Name of an operation on a target of random access (`RAT_INST`).
pub const fn rat_name(op: u32) -> &'static str {
    match op {
        0 => "NOP",
        1 => "STORE_TYPED",
        2 => "STORE_RAW",
        3 => "STORE_RAW_FDENORM",
        4 => "CMP_XCHG_INT",
        5 => "CMP_XCHG_FLT",
        6 => "CMP_XCHG_FDENORM",
        7 => "ADD",
        8 => "SUB",
        9 => "RSUB",
        10 => "MIN_INT",
        11 => "MIN_UINT",
        12 => "MAX_INT",
        13 => "MAX_UINT",
        14 => "AND",
        15 => "OR",
        16 => "XOR",
        17 => "MSKOR",
        18 => "INC_UINT",
        19 => "DEC_UINT",
        32 => "NOP_RTN",
        34 => "XCHG_RTN",
        35 => "XCHG_FDENORM_RTN",
        36 => "CMPXCHG_INT_RTN",
        37 => "CMPXCHG_FLT_RTN",
        38 => "CMPXCHG_FDENORM_RTN",
        39 => "ADD_RTN",
        40 => "SUB_RTN",
        41 => "RSUB_RTN",
        42 => "MIN_INT_RTN",
        43 => "MIN_UINT_RTN",
        44 => "MAX_INT_RTN",
        45 => "MAX_UINT_RTN",
        46 => "AND_RTN",
        47 => "OR_RTN",
        48 => "XOR_RTN",
        49 => "MSKOR_RTN",
        50 => "INC_UINT_RTN",
        51 => "DEC_UINT_RTN",
        _ => "RESERVED",
    }
}

/// What a listing calls an ALU operation without a name, of two and of three operands; its code follows in
/// hexadecimal digits.
pub const UNKNOWN_OPERATION: [&str; 2] = ["ALU_", "ALU3_"];
/// What is exported, by `TYPE`.
pub const EXPORTS: [&str; 4] = ["PIXEL", "POS", "PARAM", "SX"];

/// Kinds of memory exports, by `TYPE`.
pub const fn memory_kinds(isa: Isa) -> [&'static str; 4] {
    match isa {
        Isa::R600 => ["WRITE", "WRITE_IND", "READ", "READ_IND"],
        _ => ["WRITE", "WRITE_IND", "WRITE_ACK", "WRITE_IND_ACK"],
    }
}

/// [`cf_name`] as a listing has it: a code without a name is a number.
pub fn cf_text(isa: Isa, words: [u32; 2]) -> String {
    let code = r700::sq_cf_alu_word1::CF_INST.of(words[1]);
    match (cf_name(isa, words), isa) {
        ("ALU_UNKNOWN", _) => format!("CF_ALU_{code:X}"),
        ("CF_UNKNOWN", Isa::R600 | Isa::R700) => {
            format!("CF_{:02X}", r700::sq_cf_word1::CF_INST.of(words[1]))
        }
        ("CF_UNKNOWN", _) => format!("CF_{:02X}", evergreen::sq_cf_word1::CF_INST.of(words[1])),
        (name, _) => name.to_string(),
    }
}

/// An operation of a data share as a listing has it, `prefix` being `LDS_` or `GDS_`.
pub fn share_text(prefix: &str, op: u8) -> String {
    match share_name(op) {
        "UNKNOWN" => format!("{prefix}OP_{op:02X}"),
        name => format!("{prefix}{name}"),
    }
}

/// [`rat_name`] as a listing has it.
pub fn rat_text(op: u32) -> String {
    match rat_name(op) {
        "RESERVED" => format!("OP_{op:02X}"),
        name => name.to_string(),
    }
}

/// A memory read of a vertex clause, by `MEM_OP`.
pub fn memory_read_text(op: u8) -> String {
    match op {
        0 => "READ_SCRATCH".into(),
        1 => "READ_REDUCT".into(),
        2 => "READ_MEM".into(),
        4 => "DS_LOCAL_WRITE".into(),
        5 => "DS_LOCAL_READ".into(),
        _ => format!("MEM_OP_{op}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_have_the_names_of_their_generation() {
        let of = |isa, code: u32, low: u32| cf_name(isa, [0, code << low]);
        assert_eq!(of(Isa::R700, 0x27, 23), "EXPORT");
        assert_eq!(of(Isa::R800, 0x53, 22), "EXPORT");
        assert_eq!(of(Isa::R800, 0x49, 22), "MEM_STREAM2_BUF1");
        assert_eq!(of(Isa::R700, 0x03, 23), "VTX_TC");
        assert_eq!(of(Isa::R800, 0x03, 22), "GDS");
        assert_eq!(of(Isa::R900, 0x20, 22), "CF_END");
        assert_eq!(of(Isa::R900, 0x0E, 26), "ALU_VALID_PIXEL_MODE");
        assert_eq!(of(Isa::R800, 0x0E, 26), "ALU_BREAK");
        assert_eq!(of(Isa::R700, 0x3A, 23), "MEM_EXPORT");
    }
}
