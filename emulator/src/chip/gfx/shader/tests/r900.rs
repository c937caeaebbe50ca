// SPDX-License-Identifier: MIT
//! Programs in R900's encoding. Words as Mesa's `eg_asm.c` composes them for Cayman.

use super::r800::{op2, Operand, Shares};
use super::*;

/// `RECIP_IEEE`, `MULLO_INT`, `MOV`, `ADD_INT` and `MOVA_INT` as `OP2` words have them.
const RECIP: u32 = 0x86;
const MULLO_INT: u32 = 0x8F;
const MOV: u32 = 0x19;
const ADD_INT: u32 = 0x34;
const MOVA_INT: u32 = 0xCC;
/// Operations on doubles.
const RECIP_64: u32 = 0x95;
const SQRT_64: u32 = 0x99;
const SETE_64: u32 = 0xB8;
const SETGE_64: u32 = 0xBB;
const MIN_64: u32 = 0xBC;
const MAX_64: u32 = 0xBD;
const MUL_64: u32 = 0xCA;
const ADD_64: u32 = 0xCB;
const ZERO: Operand = (248, 0);

/// A program with CF instructions, which ends with `CF_END`, and a clause at dword 8.
fn controlled(cf: &[[u32; 2]], clause: &[u32]) -> Program {
    let mut words: Vec<u32> = cf.iter().flatten().copied().collect();
    words.extend([0, 0x20 << 22]);
    assert!(words.len() <= 8);
    words.resize(8, 0);
    words.extend(clause);
    decoded_by(Isa::R900, words)
}

/// A program with one ALU clause.
fn program(slots: &[[u32; 2]]) -> Program {
    let clause = [4, 8 << 26 | (slots.len() as u32 - 1) << 18];
    controlled(&[clause], &slots.concat())
}

/// Runs the program on a wave with these dwords in R1 and R2.
fn ran(slots: &[[u32; 2]], first: [u32; 4], second: [u32; 4]) -> Wave {
    let program = program(slots);
    assert!(program.unknown_instructions().is_empty());
    let mut wave = Wave::new();
    for chan in 0..4 {
        wave.gpr_mut(1, chan).fill(first[chan]);
        wave.gpr_mut(2, chan).fill(second[chan]);
    }
    wave.begin(ALL, ALL, BUDGET);
    run(&program, &mut wave, &mut Shares::default()).unwrap();
    wave
}

fn dwords(wave: &Wave, gpr: usize) -> [u32; 4] {
    [0, 1, 2, 3].map(|chan| wave.gpr(gpr, chan)[9])
}

/// emit_alu_trans_op1_cayman(): three slots with the same operand, of which one writes; PV has the
/// result in each.
#[test]
fn each_slot_of_an_operation_writes_by_its_own_mask() {
    let half = 0.5f32.to_bits();
    let slots = [
        op2(RECIP, None, 0, (1, 1), ZERO, false),
        op2(RECIP, Some(3), 1, (1, 1), ZERO, false),
        op2(RECIP, None, 2, (1, 1), ZERO, true),
        op2(MOV, Some(4), 0, (254, 2), ZERO, true),
    ];
    let wave = ran(&slots, [0, half, 0, 0], [0; 4]);
    let two = 2f32.to_bits();
    assert_eq!(dwords(&wave, 3), [0, two, 0, 0]);
    assert_eq!(dwords(&wave, 4), [two, 0, 0, 0]);
    // All four write at once, and read what was there before.
    let slots: Vec<_> = (0..4)
        .map(|chan| op2(MULLO_INT, Some(1), chan, (1, 0), (1, 1), chan == 3))
        .collect();
    let wave = ran(&slots, [0x10001, 0x30000, 1, 1], [0; 4]);
    assert_eq!(dwords(&wave, 1), [0x30000; 4]);
}

/// A fifth instruction belongs to the next group, whatever LAST says.
#[test]
fn a_group_has_four_instructions() {
    let mut slots: Vec<_> = (0..4)
        .map(|chan| op2(ADD_INT, Some(1), chan, (1, chan), (250, 0), false))
        .collect();
    slots.push(op2(MOV, Some(3), 0, (1, 0), ZERO, true));
    let wave = ran(&slots, [5, 6, 7, 8], [0; 4]);
    assert_eq!(dwords(&wave, 1), [6, 7, 8, 9]);
    assert_eq!(wave.gpr(3, 0)[9], 6, "of the group before");
}

/// Words of a double, the low one first.
fn words(value: f64) -> [u32; 2] {
    let bits = value.to_bits();
    [bits as u32, (bits >> 32) as u32]
}

/// Two doubles in a register.
fn pair(first: f64, second: f64) -> [u32; 4] {
    let ([a, b], [c, d]) = (words(first), words(second));
    [a, b, c, d]
}

fn double(wave: &Wave, gpr: usize, chan: usize) -> f64 {
    let word = |chan| u64::from(wave.gpr(gpr, chan)[9]);
    f64::from_bits(word(chan + 1) << 32 | word(chan))
}

#[test]
fn doubles_lie_where_mesa_puts_them() {
    let (a, b) = (1.5e300, -7.25e-3);
    let of = |slots: &[[u32; 2]]| ran(slots, pair(a, b), pair(b, b));
    let dst = |chan: u32| (chan < 2).then_some(3);
    // emit_alu_op2_64bit(): high words in the first three slots, low words in the last.
    let mul: Vec<_> = (0..4)
        .map(|chan| {
            let word = u32::from(chan < 3);
            let (x, y) = ((1, word), (1, 2 + word));
            op2(MUL_64, dst(chan), chan, x, y, chan == 3)
        })
        .collect();
    assert_eq!(double(&of(&mul), 3, 0), a * b);
    // In the first of each pair the high words, in the second the low ones.
    let two = |code: u32, x: u32, y: u32| -> Vec<[u32; 2]> {
        (0..2)
            .map(|chan| {
                op2(
                    code,
                    Some(3),
                    chan,
                    (1, x + 1 - chan),
                    (1, y + 1 - chan),
                    chan == 1,
                )
            })
            .collect()
    };
    assert_eq!(double(&of(&two(ADD_64, 0, 2)), 3, 0), a + b);
    assert_eq!(double(&of(&two(MIN_64, 0, 2)), 3, 0), b);
    assert_eq!(double(&of(&two(MAX_64, 0, 2)), 3, 0), a);
    for (code, x, y, truth) in [
        (SETE_64, 0, 2, false),
        (SETE_64, 2, 2, true),
        (SETGE_64, 0, 2, true),
        (SETGE_64, 2, 0, false),
    ] {
        let truth = if truth { u32::MAX } else { 0 };
        assert_eq!(
            of(&two(code, x, y)).gpr(3, 0)[9],
            truth,
            "{code:#x} {x} {y}"
        );
    }
    // emit_alu_op1_64bit_trans(): three slots, whose operands are the two words.
    let one = |code: u32, of: u32| -> Vec<[u32; 2]> {
        (0..3)
            .map(|chan| op2(code, dst(chan), chan, (1, of + 1), (1, of), chan == 2))
            .collect()
    };
    let wave = of(&one(RECIP_64, 2));
    assert_eq!(double(&wave, 3, 0), b.recip());
    assert_eq!(wave.gpr(3, 2)[9], 0, "masked");
    assert_eq!(double(&of(&one(SQRT_64, 0)), 3, 0), a.sqrt());
    // emit_alu_fma_64bit(), an OP3: 0x0A.
    let fma: Vec<_> = (0..4u32)
        .map(|chan| {
            let word = u32::from(chan < 3);
            let [x, y] = op2(
                0,
                Some(3 + chan / 2),
                chan,
                (1, word),
                (1, 2 + word),
                chan == 3,
            );
            let keep = 0x7F << 21 | 3 << 29;
            [x, y & keep | 2 | word << 10 | 0x0A << 13]
        })
        .collect();
    assert_eq!(double(&of(&fma), 3, 0), a.mul_add(b, b));
}

/// MOVA_INT to CF_IDX1 moves the bank of a constant; AR keeps its value.
#[test]
fn an_index_is_loaded_without_the_address_register() {
    // ALU_EXT has the index modes: set 0 by CF_IDX1. The clause locks bank 2, line 0.
    let extension = [2 << 4, 0x0C << 26];
    let clause = |first: u32, count: u32| [first | 2 << 22 | 1 << 30, 8 << 26 | (count - 1) << 18];
    let load = [
        op2(MOVA_INT, None, 0, (1, 0), ZERO, true),
        op2(MOVA_INT, Some(3), 0, (1, 1), ZERO, true),
    ]
    .map(|[a, b]| [a, b & !(1 << 4)]);
    let read = [
        // The constant, then R1[AR + 1].x.
        op2(MOV, Some(4), 0, (128, 2), ZERO, true),
        op2(MOV, Some(5), 0, (1 | 1 << 9, 0), ZERO, true),
    ];
    let mut words = vec![8, 8 << 26 | 1 << 18];
    words.extend(extension);
    words.extend(clause(10, 2));
    words.extend([0, 0x20 << 22]);
    words.resize(16, 0);
    words.extend(load.concat());
    words.extend(read.concat());
    let program = decoded_by(Isa::R900, words);
    assert!(program.unknown_instructions().is_empty());
    let mut wave = Wave::new();
    wave.gpr_mut(1, 0).fill(1);
    wave.gpr_mut(1, 1).fill(3);
    wave.gpr_mut(2, 0).fill(77);
    wave.begin(ALL, ALL, BUDGET);
    let mut env = Shares::default();
    for bank in 0..8 {
        env.recorder
            .constants
            .insert((bank, 0), [0, 0, 100 + bank, 0]);
    }
    run(&program, &mut wave, &mut env).unwrap();
    assert_eq!(wave.gpr(4, 0)[9], 100 + 2 + 3, "of bank 2 and the index");
    assert_eq!(wave.gpr(5, 0)[9], 77);
}

/// GDSInstr::emit_atomic_inc(): without ALLOC_CONSUME, byte address in x, operand in y.
#[test]
fn a_clause_of_the_global_share_changes_its_memory() {
    let clause = [
        2 | 4 << 8 | 2 << 11 | 1 << 23 | 4 << 26,
        4 | 0x20 << 9,
        7 | 7 << 6 | 7 << 9,
        0,
    ];
    let program = controlled(&[[4, 0x03 << 22]], &clause);
    assert!(program.unknown_instructions().is_empty());
    let mut wave = Wave::new();
    wave.gpr_mut(2, 0).fill(64);
    wave.gpr_mut(2, 1).fill(3);
    let mut env = Shares::default();
    wave.begin(ALL, 0xFF00, BUDGET);
    run(&program, &mut wave, &mut env).unwrap();
    assert_eq!(env.global, [(0x20, 64, 3, 0xFF00)]);
    assert!(env.counters.is_empty());
    assert_eq!(wave.gpr(4, 1)[9], 2000);
}

proptest::proptest! {
    /// Any words are decoded, or refused, and what is decoded ends.
    #[test]
    fn hostile_programs_end(words in proptest::collection::vec(proptest::num::u32::ANY, 2..96)) {
        // CF_END at every other dword.
        hostile(words, Isa::R900, 0x20 << 22);
    }
}
