// SPDX-License-Identifier: MIT
//! Tests of whole programs. The corpus of Mesa's shaders is in `tests/shader_corpus.rs`.

use super::*;
use crate::chip::gfx::shader::disasm::disassemble;
use crate::chip::gfx::shader::isa::CfKind;

mod random;

const ALL: [Isa; 4] = [Isa::R600, Isa::R700, Isa::R800, Isa::R900];

/// A loop with a branch in it, a texture and two groups with literals.
const LOOP: &str = "\
0000 LOOP_START_DX10 @10
0002 ALU_PUSH_BEFORE 3 @14 KC0[CB0:0-16]
     1 x:M  PRED_SETGT __.x, R1.x, KC0[2].y
     2 x:   MOV*2_sat R1.x, -|R1.y|
       t:   RECIP_IEEE T0.x, [0x3FC00000 1.500000]
0004 JUMP @8 POP:1
0006 LOOP_BREAK @10
0008 POP @10 POP:1
0010 LOOP_END @2
0012 TEX 1 @24
     SAMPLE R2.xyzw, R1.xy00, RID:18 , SID:0 LB:-3 CT:NNNN OX:-2
     EXPORT_DONE PIXEL 0 R2.xyzw ES:3 EOP
";

fn message(text: &str, isa: Isa) -> String {
    assemble(text, isa).unwrap_err().to_string()
}

#[test]
fn a_program_without_words_is_laid_out() {
    let words = assemble(LOOP, Isa::R700).unwrap();
    // Eight control-flow instructions; the clauses do not fit at 14.
    assert_eq!(words.len(), 16 + 6 + 2 + 2 + 4 - 2);
    let listing = disassemble(&words, Isa::R700);
    let lines: Vec<String> = (listing.lines())
        .map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "))
        .collect();
    assert!(
        lines[1].ends_with("ALU_PUSH_BEFORE 4 @16 KC0[CB0:0-16]"),
        "{listing}"
    );
    assert!(lines[2].ends_with("1 x:M PRED_SETGT __.x, R1.x, KC0[2].y"));
    assert!(lines[3].ends_with("2 x: MOV*2_sat R1.x, -|R1.y|"));
    assert!(lines[4].ends_with("t: RECIP_IEEE T0.x, [0x3FC00000 1.500000]"));
    assert_eq!(lines[5], "0022 3FC00000 1.500000 (1069547520)");
    assert!(lines[6].ends_with("JUMP @8 POP:1"));
    assert!(lines[10].contains("TEX 1 @24"));
    assert!(lines[11].ends_with("LB:-3 CT:NNNN OX:-2"));
    assert_eq!(words[23], 0, "literals are padded");
    let source = source(&words, Isa::R700).unwrap();
    assert_eq!(assemble(&source, Isa::R700), Ok(words));
}

/// Lines of the notation alone, each below the clause that it needs: those of ALU clauses, of fetches, and others.
const LINES: &[(&[Isa], &str)] = &[
    (&ALL, "1 x:MP 0 MUL*2 R1.x, -|R1.y|, KC0[0+AR].x BS:5"),
    (&ALL, "1 y: P 1 ADD*4_sat R[1+AL].y, R2.x, R[3+AL].x"),
    (&ALL, "1 z:M MAX/2 __.z, PV.x, -1"),
    (&ALL, "1 w: 1 MULADD_IEEE_sat T3.w, 0.5, 1.0, -R1.x"),
    (&[Isa::R600, Isa::R700], "1 t: SIN*2 R1.x, C[255].w"),
    (&[Isa::R700], "1 x: ASHR_INT R1.x, R1.y, PS"),
    (&[Isa::R600], "1 t: ASHR_INT R1.x, R1.y, PS"),
    (&[Isa::R600, Isa::R700, Isa::R800], "1 x: MOVA_INT __.x, R1.y"),
    (&[Isa::R900], "1 y: MOVA_INT CF_IDX1, R1.y"),
    (&[Isa::R800, Isa::R900], "1 x: LDS_CMP_XCHG_RET __.x, R1.x, R2.x, LDS_OQ_A_POP.x"),
    (&[Isa::R800, Isa::R900], "1 x: BFE_UINT R1.x, KC1[3].x, TIME_LO, Param3"),
    (&[Isa::R700], "SAMPLE_C_L R1.xyz_, R2.01w?, RID:255 , SID:31 LB:-64 CT:NUNU OX:-16 OY:15 OZ:1"),
    (&[Isa::R800], "LDFPTR R1.xyzw, R2.xyzw, RID:1 RQ_CF_INDEX_0, SID:2 SQ_CF_INDEX_1 CT:UUUU"),
    (&[Isa::R600, Isa::R700], "VFETCH R1.xy01, R2.w +65535b, RID:9 INSTANCE MFC:63 UCF:1 FMT(DTA:63 NUM:3 COMP:1 MODE:1)"),
    (&[Isa::R800, Isa::R900], "SEMFETCH R9.xyzw, R2.x, RID:9 SQ_CF_INDEX_0 UCF:0 FMT(DTA:1 NUM:2 COMP:0 MODE:0)"),
    (&[Isa::R800], "GET_BUFFER_RESINFO R9.xyzw, R2._, RID:9 VERTEX UCF:0 FMT(DTA:1 NUM:2 COMP:0 MODE:0)"),
    (
        &[Isa::R700, Isa::R800],
        "READ_SCRATCH R1.xyzw, R2.xy, RID:0 UNCACHED INDEXED:1 ELEM_SIZE:3 BURST_COUNT:15 ARRAY_BASE:8191 ARRAY_SIZE:4095 UCF:0 FMT(DTA:1 NUM:1 COMP:1 MODE:0)",
    ),
    (&[Isa::R700], "DS_LOCAL_READ R1.xyzw, R2.xy, RID:0 ELEM_SIZE:0 ARRAY_BASE:0 ARRAY_SIZE:0 UCF:0 FMT(DTA:1 NUM:1 COMP:1 MODE:0)"),
    (&[Isa::R800, Isa::R900], "GDS_CMP_XCHG_RET R1.x___, R2.xy0, R0. UAV: 15[CF_INDEX_1]"),
    (&[Isa::R800, Isa::R900], "TF_WRITE , R2.zy0"),
    (&ALL, "JUMP @0 CND:3 POP:7 VPM"),
    (&[Isa::R700, Isa::R800], "EMIT_VERTEX @0 STREAM3"),
    (&ALL, "EXPORT PARAM 4-7 R3-6.x01_ ES:2 NO_BARRIER"),
    (&[Isa::R600], "MEM_SCRATCH READ_IND 3 R1.xy_w R2.xyz ES:3 AS:5 NO_BARRIER EOP"),
    (&[Isa::R700], "MEM_STREAM3 WRITE_ACK 3 R1.xy_w ES:3 EOP"),
    (&[Isa::R800], "MEM_STREAM2_BUF1 WRITE 3-4 R1-2.xyzw ES:0 AS:1"),
    (&[Isa::R800, Isa::R900], "MEM_RAT WRITE_IND_ACK RAT11[IDX1] CMPXCHG_INT_RTN 0 R1.xyzw R2.xyz ES:3 AS:1"),
];

#[test]
fn a_line_is_listed_as_it_was_written() {
    for (isas, line) in LINES {
        for &isa in *isas {
            let clauses = ["", "ALU KC0[CB15:0-32] KC1[CB2:4080-4112]\n", "TEX\n"];
            let found = clauses.iter().find_map(|clause| {
                let words = assemble(&format!("{clause}{line}"), isa).ok()?;
                let own = if clause.is_empty() { 0 } else { 1 };
                let listing = disassemble(&words, isa);
                let of_line = listing.lines().nth(own)?.split_whitespace();
                // Address and words.
                let hex =
                    |part: &&str| part.len() >= 4 && part.bytes().all(|b| b.is_ascii_hexdigit());
                Some(of_line.skip_while(hex).collect::<Vec<_>>().join(" "))
            });
            assert_eq!(found.as_deref(), Some(*line), "{isa:?}");
        }
    }
}

#[test]
fn the_second_of_two_dwords_of_literals_is_kept() {
    let mut words = assemble("ALU\n1 x: MOV R0.x, [1]\nNOP @0 EOP", Isa::R700).unwrap();
    assert_eq!(words[6..], [1, 0]);
    words[7] = 9;
    let text = source(&words, Isa::R700).unwrap();
    assert_eq!(assemble(&text, Isa::R700), Ok(words));
}

/// Bits without a name stand as the whole word, which has the place and the count of before.
#[test]
fn a_whole_word_by_name_does_not_hold_places_and_counts() {
    let text = "0000 JUMP @2 WORD0=0x80000001
0002 TEX 1 @4 WORD0=0x80000002 WORD1=0x80600000
LD R0.xyzw, R0.xyzw, RID:0, SID:0 CT:UUUU
NOP @0 EOP";
    let fetch = "LD R0.xyzw, R0.xyzw, RID:0, SID:0 CT:UUUU\n";
    let longer = text.replace(fetch, &fetch.repeat(2));
    let words = assemble(&format!("NOP @0\n{longer}"), Isa::R800).unwrap();
    assert_eq!(words[2], 0x8000_0002, "the target");
    assert_eq!(words[4..6], [0x8000_0004, 0x8060_0400], "the clause");
    // A field by its own name is what counts.
    let named = assemble(
        "TEX 1 @2 COUNT=5 ADDR=9\nLD R0.xyzw, R0.xyzw, RID:0, SID:0 CT:UUUU",
        Isa::R800,
    );
    assert_eq!(named.unwrap()[..2], [9, 0x8040_1400]);
}

/// A program that calls what its listing does not have is refused, not changed.
#[test]
fn a_target_outside_of_the_listing_is_an_error() {
    let words = assemble(
        "CALL @8 COUNT=1\nNOP @0 EOP\nNOP @0\nNOP @0\nNOP @0 EOP",
        Isa::R700,
    );
    let text = source(&words.unwrap(), Isa::R700).unwrap();
    let error = message(&text, Isa::R700);
    assert!(
        error.contains("@8 is the label of no control-flow instruction"),
        "{error}"
    );
}

#[test]
fn targets_follow_their_instructions() {
    let text = LOOP.replace("0006 LOOP", "NOP @0\nNOP @0\n0006 LOOP");
    let words = assemble(&text, Isa::R700).unwrap();
    let address = |at: usize| words[at];
    // LOOP_START_DX10 to LOOP_END, JUMP to POP, LOOP_BREAK to LOOP_END, in units of two dwords.
    assert_eq!([0, 4, 10, 12, 14].map(address), [7, 6, 7, 7, 1]);
    let lost = LOOP.replace("0008 POP", "POP");
    let error = message(&lost, Isa::R700);
    assert!(
        error.starts_with("line 6, column 6: @8 is the label of no control-flow"),
        "{error}"
    );
    let twice = LOOP.replace("0006 LOOP", "0008 LOOP");
    let error = message(&twice, Isa::R700);
    assert!(error.contains("@8 is the label of several"), "{error}");
    // Without any label the numbers are places.
    assert_eq!(assemble("JUMP @2\nNOP @0 EOP", Isa::R700).unwrap()[0], 1);
}

#[test]
fn places_of_a_listing_are_kept_while_clauses_fit() {
    let text = "\
0000 ALU 1 @8
     1 x: MOV R0.x, 0
0002 NOP @0
0004 EXPORT_DONE PIXEL 0 R0.xyzw ES:3 EOP
";
    let words = assemble(text, Isa::R700).unwrap();
    assert_eq!((words.len(), words[0]), (10, 4));
    // One more instruction in the clause, or ahead of it, fits.
    let wider = text.replace(
        "0002 NOP",
        "2 x: MOV R0.y, 1.0\n2 y: MOV R0.y, 1.0\n0002 NOP",
    );
    let error = message(&wider, Isa::R700);
    assert!(error.contains("line 3, column 3: expected `y:`"), "{error}");
    let wider = text.replace("0002 NOP", "2 y: MOV R0.y, 1.0\n0002 NOP");
    let words = assemble(&wider, Isa::R700).unwrap();
    assert_eq!((words.len(), words[0], words[1] >> 18 & 0x7F), (12, 4, 1));
    let ahead = text.replace("0002 NOP", "NOP @0\n0002 NOP");
    assert_eq!(assemble(&ahead, Isa::R700).unwrap()[0], 4);
    let moved = text.replace("0002 NOP", "NOP @0\nNOP @0\n0002 NOP");
    assert_eq!(assemble(&moved, Isa::R700).unwrap()[0], 5);
}

#[test]
fn literals_are_those_of_operands() {
    let program = |lines: &str| {
        let text = format!("ALU\n{lines}\nEXPORT_DONE PIXEL 0 R0.xyzw ES:3 EOP");
        assemble(&text, Isa::R700)
    };
    let literals = |lines: &str| program(lines).unwrap()[8..].to_vec();
    let two = "1 x: MOV R0.x, [1.0]\ny: MOV R0.y, [2]";
    assert_eq!(literals(two), [0x3F80_0000, 2]);
    // A listing's order is kept, the pad with it.
    let listed = format!("{two}\n0002 00000002 0.000000 (2)\n0003 3F800000 1.000000 (1065353216)");
    assert_eq!(literals(&listed), [2, 0x3F80_0000]);
    let one = "1 x: MOV R0.x, [1]\ny: MOV R0.y, [1]";
    assert_eq!(literals(one), [1, 0]);
    assert_eq!(
        literals(&format!("{one}\n00000001 0.0 (1)\n00000007 0.0 (7)")),
        [1, 7]
    );
    // The line of a literal that nobody uses any more is dropped.
    let unused = "1 x: MOV R0.x, 0\ny: MOV R0.y, 0\n00000007 0.0 (7)";
    assert!(literals(unused).is_empty());
    // A place by name.
    let named = "1 x: MOV R0.x, [5] SRC0_CHAN=1\ny: MOV R0.y, [6]";
    assert_eq!(literals(named), [6, 5]);
    let error = program(&format!("{one}\n00000007 0.0 (7)")).unwrap_err();
    assert_eq!((error.line, error.column), (4, 1));
    assert!(error
        .message
        .contains("no operand of the group is 00000007, but one is [1]"));
    let five = "1 x: MULADD R0.x, [1], [2], [3]\ny: MULADD R0.y, [1], [4], [5]";
    let error = program(five).unwrap_err().to_string();
    assert!(
        error.contains("line 3, column 27: a group has at most 4 literals"),
        "{error}"
    );
}

#[test]
fn sets_of_constants_are_in_the_extension() {
    let text = "\
ALU_EXT
ALU KC0[CB1:0-16 CF_INDEX_1] KC2[CB3:32-64] KC3[CB4:16-32]
1 x: ADD R0.x, KC2[1].x, KC3[0].y
CF_END @0
";
    let words = assemble(text, Isa::R900).unwrap();
    let CfKind::AluExtended(extension) = Isa::R900.cf([words[0], words[1]]) else {
        panic!("{words:x?}");
    };
    assert_eq!(extension.kcache_bank, [0, 0, 3, 4]);
    assert_eq!(extension.kcache_mode, [0, 0, 2, 1]);
    assert_eq!(extension.kcache_line, [0, 0, 2, 1]);
    assert_eq!(extension.kcache_index, [2, 0, 0, 0]);
    assert_eq!(
        assemble(&source(&words, Isa::R900).unwrap(), Isa::R900),
        Ok(words)
    );
    let error = message(&text.replace("ALU_EXT\n", ""), Isa::R900);
    assert!(error.contains("an ALU_EXT has to be ahead"), "{error}");
}

/// Texts, where each is wrong (line and column), and a part of what is said.
const WRONG: &[(Isa, &str, (usize, usize), &str)] = &[
    (Isa::R700, "", (1, 1), "expected a control-flow instruction"),
    (
        Isa::R700,
        "# nothing\n",
        (1, 1),
        "expected a control-flow instruction",
    ),
    (
        Isa::R700,
        "NOP",
        (1, 4),
        "expected `@`, found the end of the line",
    ),
    (
        Isa::R700,
        "FOO @0",
        (1, 1),
        "expected an instruction of the chip, found `FOO`",
    ),
    (
        Isa::R700,
        "0000 00000000 00000000",
        (1, 23),
        "expected an instruction",
    ),
    (
        Isa::R700,
        "x: MOV R0.x, 0",
        (1, 1),
        "no ALU clause is above",
    ),
    (
        Isa::R700,
        "NOP @0\n VFETCH R1.xyzw",
        (2, 2),
        "no clause of fetches is above",
    ),
    (
        Isa::R700,
        "00000001 0.0 (1)",
        (1, 1),
        "no group is above this literal",
    ),
    (
        Isa::R700,
        "ALU\nNOP @0",
        (1, 1),
        "the clause has no instructions",
    ),
    (
        Isa::R700,
        "NOP @0\nTEX 1 @8",
        (2, 1),
        "the clause has no instructions",
    ),
    (Isa::R700, "NOP @1", (1, 6), "expected an even number"),
    (
        Isa::R700,
        "NOP @0 EOPS",
        (1, 8),
        "expected the end of the line or a field",
    ),
    (
        Isa::R900,
        "NOP @0 EOP",
        (1, 8),
        "the chip ends programs by CF_END",
    ),
    (
        Isa::R700,
        "CF_END @0",
        (1, 1),
        "expected an instruction of the chip",
    ),
    (
        Isa::R700,
        "JUMP @99999999998",
        (1, 7),
        "expected a lower number",
    ),
    (
        Isa::R700,
        "JUMP @0 POP:8",
        (1, 13),
        "8 does not fit POP_COUNT, which is at most 7",
    ),
    (
        Isa::R700,
        "EXPORT PIXELS 0 R0.xyzw ES:3",
        (1, 8),
        "expected `PIXEL`, `POS`",
    ),
    (
        Isa::R700,
        "EXPORT PIXEL 0 R0.xyz ES:3",
        (1, 16),
        "expected 4 of the letters",
    ),
    (
        Isa::R700,
        "EXPORT PIXEL 0-1 R0.xyzw ES:3",
        (1, 18),
        "0 registers, but 0-1 exports",
    ),
    (
        Isa::R700,
        "EXPORT PIXEL 0 R128.xyzw ES:3",
        (1, 16),
        "128 does not fit RW_GPR",
    ),
    (
        Isa::R700,
        "EXPORT PIXEL 0 R0.xyzw",
        (1, 23),
        "expected `ES:`",
    ),
    (
        Isa::R700,
        "MEM_RING READ 0 R0.xyzw ES:3",
        (1, 10),
        "expected one of",
    ),
    (
        Isa::R700,
        "MEM_RING WRITE 0 R0.yxzw ES:3",
        (1, 18),
        "each in its place",
    ),
    (
        Isa::R800,
        "MEM_RAT WRITE RAT0 FOO 0 R0.xyzw ES:3",
        (1, 20),
        "expected an operation on a RAT",
    ),
    (
        Isa::R700,
        "ALU KC0[CB0:1-17]\nx: MOV R0.x, 0",
        (1, 7),
        "from a multiple of 16 on",
    ),
    (
        Isa::R700,
        "ALU KC4[CB0:0-16]\nx: MOV R0.x, 0",
        (1, 7),
        "expected a set of constants",
    ),
    (
        Isa::R700,
        "ALU KC0[CB16:0-16]\nx: MOV R0.x, 0",
        (1, 7),
        "16 does not fit KCACHE_BANK0",
    ),
    (Isa::R700, "ALU\nv: MOV R0.x, 0", (2, 1), "expected a unit"),
    (Isa::R700, "ALU\n1 MOV R0.x, 0", (2, 3), "expected a unit"),
    (
        Isa::R700,
        "ALU\nx:MM MOV R0.x, 0",
        (2, 1),
        "`M` is too much",
    ),
    (
        Isa::R700,
        "ALU\nx: MOVE R0.x, 0",
        (2, 4),
        "expected an operation of the chip, found `MOVE`",
    ),
    (
        Isa::R700,
        "ALU\nx: BFE_UINT R0.x, 0, 0, 0",
        (2, 4),
        "expected an operation of the chip",
    ),
    (
        Isa::R700,
        "ALU\nx: MOV R0.x",
        (2, 12),
        "expected `,`, found the end of the line",
    ),
    (
        Isa::R700,
        "ALU\nx: MOV R0.x, 0, 0",
        (2, 15),
        "`MOV` has 1 operands, no more",
    ),
    (
        Isa::R700,
        "ALU\nx: MOV R0.x 0",
        (2, 13),
        "expected `,`, found `0`",
    ),
    (
        Isa::R700,
        "ALU\nx: MULADD*2 R0.x, 0, 0, 0",
        (2, 4),
        "has three operands",
    ),
    (
        Isa::R700,
        "ALU\nx: MULADD R0.x, 0, 0, |R1.x|",
        (2, 23),
        "no absolute values",
    ),
    (
        Isa::R700,
        "ALU\nx: MULADD __.x, 0, 0, 0",
        (2, 11),
        "always writes a register",
    ),
    (
        Isa::R700,
        "ALU\nx: MOV PV.x, 0",
        (2, 8),
        "expected a destination",
    ),
    (
        Isa::R700,
        "ALU\nx: MOV R[1+AR].x, R[1+AL].x",
        (2, 19),
        "one index register",
    ),
    (
        Isa::R700,
        "ALU\nx: MOV R0.x, 0 BS:8",
        (2, 19),
        "8 does not fit BANK_SWIZZLE",
    ),
    (Isa::R700, "ALU\nt: MOV R0.x, 0", (2, 1), "expected `x:`"),
    (
        Isa::R700,
        "ALU\nx: MOV R0.x, 0\nx: MOV R0.x, 0",
        (3, 1),
        "expected `t:`",
    ),
    (
        Isa::R700,
        "ALU\nx: RECIP_IEEE R0.x, R0.x",
        (2, 1),
        "expected `t:`",
    ),
    (
        Isa::R900,
        "ALU\nt: RECIP_IEEE R0.x, R0.x",
        (2, 1),
        "expected `x:`",
    ),
    (
        Isa::R900,
        "ALU\nx: MOVA_INT __.x, R0.x",
        (2, 13),
        "expected `AR`, `CF_IDX0`",
    ),
    (
        Isa::R800,
        "ALU\nx: LDS_WRITE R1.x, R0.x, R0.x",
        (2, 14),
        "has no destination",
    ),
    (
        Isa::R800,
        "ALU\nx: LDS_WRITE __.x, -R0.x, R0.x",
        (2, 20),
        "no negative operands",
    ),
    (
        Isa::R900,
        "ALU\n1 x: MOV R0.x, 0\ny: MOV R0.y, 0\nz: MOV R0.z, 0\nw: MOV R0.w, 0\nx: MOV R1.x, 0",
        (6, 1),
        "a group has at most 4 instructions",
    ),
    (
        Isa::R700,
        "TEX\nSAMPLE R0.xyzw, R1.xyzw, RID:18, SID:0 CT:NNN",
        (2, 43),
        "expected four",
    ),
    (
        Isa::R700,
        "TEX\nSAMPLE R0.xyzw, R1.xyzw, RID:256, SID:0 CT:NNNN",
        (2, 30),
        "RESOURCE_ID",
    ),
    (
        Isa::R700,
        "TEX\nSAMPLE R0.xyzw, R1.xyzw, RID:1, SID:0 CT:NNNN OX:16",
        (2, 50),
        "from -16 to 15",
    ),
    (
        Isa::R700,
        "TEX\nGATHER4 R0.xyzw",
        (2, 1),
        "expected an instruction of the chip",
    ),
    (
        Isa::R700,
        "TEX\nSAMPLE R0.xyzw, R1.xyzw, RID:1 RQ_CF_INDEX_0, SID:0",
        (2, 44),
        "no index registers",
    ),
    (
        Isa::R800,
        "TEX\nSAMPLE R0.xyzw, R1.xyzw, RID:1 RQ_CF_INDEX_2, SID:0",
        (2, 44),
        "expected `0` or `1`",
    ),
    (
        Isa::R700,
        "VTX\nVFETCH R1.xyzw, R0.0, RID:1 UCF:0 FMT()",
        (2, 17),
        "SRC_SEL_X",
    ),
    (
        Isa::R700,
        "VTX\nVFETCH R1.xyzw, R0.x, RID:1 UCF:0 FMT(DTA:1)",
        (2, 39),
        "expected `FMT(",
    ),
    (
        Isa::R700,
        "VTX\nVFETCH R1.xyzw, R0.x +16, RID:1",
        (2, 23),
        "expected an offset",
    ),
    (
        Isa::R800,
        "GDS\nGDS_ADD_RET R0.xyzw, R0.xyz, R1.",
        (2, 30),
        "expected `R0.`",
    ),
];

#[test]
fn errors_name_the_place_and_what_is_expected() {
    for (isa, text, place, part) in WRONG {
        let error = assemble(text, *isa).unwrap_err();
        assert_eq!((error.line, error.column), *place, "{text}: {error}");
        assert!(error.message.contains(part), "{text}: {error}");
    }
}

#[test]
fn clauses_have_a_largest_length() {
    let alu = |count: usize| format!("ALU\n{}NOP @0 EOP", "1 x: MOV R0.x, 0\n".repeat(count));
    assert_eq!(assemble(&alu(128), Isa::R700).unwrap()[1] >> 18 & 0x7F, 127);
    let error = message(&alu(129), Isa::R700);
    assert!(error.contains("the clause has 129 instructions"), "{error}");
    let fetch = "SAMPLE R0.xyzw, R1.xyzw, RID:18, SID:0 CT:NNNN\n";
    let texture = |count: usize| format!("TEX\n{}", fetch.repeat(count));
    for (isa, most) in [
        (Isa::R600, 8),
        (Isa::R700, 16),
        (Isa::R800, 64),
        (Isa::R900, 64),
    ] {
        let words = assemble(&texture(most), isa).unwrap();
        let CfKind::Other(clause) = isa.cf([words[0], words[1]]) else {
            panic!("{isa:?}");
        };
        assert_eq!(usize::from(clause.count), most);
        let error = message(&texture(most + 1), isa);
        assert!(error.contains(&format!("the chip takes {most}")), "{error}");
    }
    // The longest program.
    let clause = alu(128).replace("NOP @0 EOP", "");
    let error = message(&clause.repeat(1025), Isa::R700);
    assert!(error.contains("at most 262144 are executed"), "{error}");
}

#[test]
fn names_are_unique() {
    use crate::chip::gfx::shader::names::{cf_text, rat_text, share_text};
    let unique = |what: &str, names: Vec<String>| {
        let mut sorted = names.clone();
        sorted.sort();
        sorted.dedup();
        assert_eq!(sorted.len(), names.len(), "{what}: {names:?}");
    };
    for isa in ALL {
        // Codes whose highest bit is that of ALU clauses are theirs.
        let (codes, low) = if isa.has_data_share() {
            (128, 22)
        } else {
            (64, 23)
        };
        let others = (0..codes).map(|code: u32| cf_text(isa, [0, code << low]));
        let clauses = (8..16).map(|code: u32| cf_text(isa, [0, code << 26]));
        unique("control flow", others.chain(clauses).collect());
    }
    unique("RAT", (0..64).map(rat_text).collect());
    unique("GDS", (0..64).map(|op| share_text("GDS_", op)).collect());
}
