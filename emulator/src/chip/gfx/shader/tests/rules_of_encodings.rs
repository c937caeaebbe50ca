// SPDX-License-Identifier: MIT
//! The rules of `validate` in the other encodings. Words as Mesa's `r600_asm.c` and `eg_asm.c` compose them.

use super::r800::op2;
use super::*;
use crate::chip::gfx::shader::validate::{validate, Chip, Resources, Violation};

const MOV: u32 = 0x19;
/// `SIN` on the transcendental unit; Cayman has it on three vector units.
const SIN: u32 = 0x8D;
const ONE: (u32, u32) = (249, 0);

/// Where `CF_INST` is, and the codes of `NOP` with the end of the program and of `EXPORT`.
const fn codes(isa: Isa) -> (u32, [u32; 2], u32) {
    match isa {
        Isa::R600 | Isa::R700 => (23, [0, 1 << 21], 0x27),
        Isa::R800 => (22, [0, 1 << 21], 0x53),
        Isa::R900 => (22, [0, 0x20 << 22], 0x53),
    }
}

/// What breaks a rule in a program of these CF instructions, its end, and a clause at dword 64.
fn found(
    isa: Isa,
    cf: &[[u32; 2]],
    clause: &[u32],
    register: u32,
    exports: &[ExportKind],
) -> Vec<Violation> {
    let mut words: Vec<u32> = cf.concat();
    words.extend(codes(isa).1);
    assert!(words.len() <= 64);
    words.resize(64, 0);
    words.extend(clause);
    validate(
        &decoded_by(isa, words),
        Resources::decode(register, Chip::default()),
        exports,
    )
}

/// The same of an ALU clause with a wave of 8 GPRs.
fn slots(isa: Isa, slots: &[[u32; 2]]) -> Vec<Violation> {
    // Two lines of sets 0 and 1 of the constant cache are locked.
    let clause = [32 | 2 << 30, 8 << 26 | (slots.len() as u32 - 1) << 18 | 2];
    found(isa, &[clause], &slots.concat(), 8, &[])
}

fn swizzled(mut words: [u32; 2], swizzle: u32) -> [u32; 2] {
    words[1] |= swizzle << 18;
    words
}

#[test]
fn gprs_count_in_all_clauses() {
    for isa in [Isa::R800, Isa::R900] {
        let mov = |dst, src| slots(isa, &[op2(MOV, Some(dst), 0, (src, 0), ONE, true)]);
        assert_eq!(mov(3, 7), []);
        assert_eq!(mov(3, 8), [Violation::Gpr(8, 8)]);
        assert_eq!(mov(9, 7), [Violation::Gpr(9, 8)]);
        // TC: R5 is sampled into R2. VTX on R800, and on Cayman by the texture unit, likewise.
        let texture = [0x10 | 5 << 16, 2 | 1 << 12 | 2 << 15 | 3 << 18, 1 << 23, 0];
        let fetch = [5 << 16, 2 | 1 << 12 | 2 << 15 | 3 << 18, 0, 0];
        let clause = |words: &[u32], gprs| found(isa, &[[32, 1 << 22]], words, gprs, &[]);
        for words in [&texture, &fetch] {
            assert_eq!(clause(words, 6), []);
            assert_eq!(clause(words, 5), [Violation::Gpr(5, 5)]);
        }
        // GDS: its offset is in R6, its result goes to R7.
        let gds = [2 | 4 << 8 | 6 << 11, 7, 1 << 3 | 2 << 6 | 3 << 9, 0];
        let clause = |gprs| found(isa, &[[32, 3 << 22]], &gds, gprs, &[]);
        assert_eq!(clause(8), []);
        assert_eq!(clause(7), [Violation::Gpr(7, 7)]);
        // A store to a RAT: the address is in R4, and the words from R3 on.
        let store = [2 | 1 << 13 | 3 << 15 | 4 << 23, 0x56 << 22 | 1 << 12];
        assert_eq!(found(isa, &[store], &[], 5, &[]), []);
        assert_eq!(found(isa, &[store], &[], 4, &[]), [Violation::Gpr(4, 4)]);
    }
}

#[test]
fn cayman_has_no_transcendental_unit() {
    let mov = |chan, last| op2(MOV, None, chan, (0, 0), ONE, last);
    let sine = |chan, last| op2(SIN, None, chan, (0, 0), ONE, last);
    let five = [
        mov(0, false),
        mov(1, false),
        mov(2, false),
        mov(3, false),
        sine(0, true),
    ];
    // The swizzle of the last slot is one of the transcendental unit there.
    assert_eq!(slots(Isa::R800, &five), []);
    assert_eq!(
        slots(Isa::R800, &[sine(0, false), sine(1, true)]),
        [Violation::Unit(64)]
    );
    assert_eq!(
        slots(Isa::R900, &[sine(0, false), sine(1, false), sine(2, true)]),
        []
    );
    assert_eq!(
        slots(Isa::R900, &[sine(0, false), sine(0, true)]),
        [Violation::Unit(64)]
    );
    // The second instruction of a channel goes to the unit that Cayman has not.
    assert_eq!(slots(Isa::R800, &[mov(0, false), mov(0, true)]), []);
    assert_eq!(
        slots(Isa::R900, &[mov(0, false), mov(0, true)]),
        [Violation::Unit(64)]
    );
}

#[test]
fn ports_are_those_of_r700_but_for_r600s_constants() {
    for isa in [Isa::R600, Isa::R800, Isa::R900] {
        let both = |swizzle| {
            let second = op2(MOV, Some(1), 1, (2, 0), ONE, true);
            slots(
                isa,
                &[
                    op2(MOV, Some(1), 0, (3, 0), ONE, false),
                    swizzled(second, swizzle),
                ],
            )
        };
        // VEC_012 and VEC_120: the operands are read in cycles 0 and 1.
        assert_eq!(both(0), [Violation::Ports(64)]);
        assert_eq!(both(2), []);
        // Three constants, an element each.
        let three = [(128, 0), (129, 0), (130, 0)];
        let constants: Vec<[u32; 2]> = (0..3)
            .map(|i| op2(MOV, Some(1), i, three[i as usize], ONE, i == 2))
            .collect();
        let fits = slots(isa, &constants).is_empty();
        assert_eq!(fits, isa == Isa::R600);
    }
    // Sets 2 and 3 have the same ports, after ALU_EXT. Selects of R800.
    let of_sets = |selects: [u32; 3]| {
        let words: Vec<[u32; 2]> = (0..3)
            .map(|i| op2(MOV, Some(1), i, (selects[i as usize], 0), ONE, i == 2))
            .collect();
        let cf = [[2 << 30, 12 << 26 | 2], [32, 8 << 26 | 2 << 18]];
        found(Isa::R800, &cf, &words.concat(), 8, &[])
    };
    assert_eq!(of_sets([256, 256, 288]), []);
    assert_eq!(of_sets([256, 257, 288]), [Violation::Ports(64)]);
}

#[test]
fn stack_entries_are_those_of_the_encoding() {
    // LOOP_START_DX10, PUSH, POP and LOOP_END.
    let nested = |isa, pushes: usize, entries: u32| {
        let shift = codes(isa).0;
        let flow = |code: u32, to: usize, pops: u32| [to as u32, code << shift | pops];
        let mut cf = vec![flow(6, 2 * pushes + 2, 0)];
        cf.extend((0..pushes).map(|_| flow(0xB, 2 * pushes + 1, 0)));
        cf.extend((0..pushes).map(|_| flow(0xE, 0, 1)));
        cf.push(flow(5, 1, 0));
        found(isa, &cf, &[], 8 | entries << 8, &[])
    };
    for (isa, pushes, entries) in [
        (Isa::R600, 6, 2),
        // One element for the masks.
        (Isa::R800, 7, 2),
        // Entries of four elements, two for the masks, also without a push.
        (Isa::R900, 0, 2),
        (Isa::R900, 2, 2),
    ] {
        assert_eq!(nested(isa, pushes, entries), [], "{isa:?}");
    }
    for (isa, pushes, needs) in [(Isa::R600, 7, 3), (Isa::R800, 8, 3), (Isa::R900, 3, 3)] {
        assert_eq!(
            nested(isa, pushes, 2),
            [Violation::Stack(needs, 2)],
            "{isa:?}"
        );
    }
}

#[test]
fn exports_have_to_be_done() {
    for isa in [Isa::R600, Isa::R800, Isa::R900] {
        let (shift, _, export) = codes(isa);
        let pixel = |code: u32| [0, code << shift | 0o3210];
        let of = |cf: &[[u32; 2]]| found(isa, cf, &[], 8, &[ExportKind::Pixel]);
        assert_eq!(of(&[pixel(export), pixel(export + 1)]), [], "{isa:?}");
        assert_eq!(
            of(&[pixel(export)]),
            [Violation::NotDone(ExportKind::Pixel)]
        );
    }
}

#[test]
fn results_of_the_data_share_are_read_in_their_clause() {
    const READ_RET: u32 = 0x32;
    // LDS_IDX_OP on x, with LAST.
    let access = |op: u32| [1 | 1 << 31, 0x11 << 13 | op << 21];
    let pop = op2(MOV, Some(1), 0, (221, 0), ONE, true);
    let alu = |words: &[[u32; 2]]| slots(Isa::R800, words);
    assert_eq!(alu(&[access(READ_RET), pop]), []);
    // A write returns nothing.
    assert_eq!(alu(&[access(0x0D)]), []);
    assert_eq!(alu(&[access(READ_RET)]), [Violation::Queue(64)]);
    assert_eq!(alu(&[pop]), [Violation::Queue(64)]);
    // One access a group.
    let open = |word: [u32; 2], chan: u32| [word[0] & !(1 << 31), word[1] | chan << 29];
    let both = [access(READ_RET), access(READ_RET), open(pop, 0)];
    let last = op2(MOV, Some(1), 1, (221, 0), ONE, true);
    assert_eq!(
        alu(&[both[0], both[1], both[2], last]),
        [Violation::Once(68)]
    );
    assert_eq!(alu(&[access(READ_RET), pop, pop]), [Violation::Queue(64)]);
}

/// `GET_BUFFER_RESINFO` has the words of a vertex fetch: one of Mesa's, which uses no index register.
#[test]
fn the_size_of_a_buffer_needs_no_index_register() {
    let words = [0x0300_A84E, 0x489F_F002, 0x0008_0000, 0];
    for (isa, code) in [(Isa::R800, 2), (Isa::R900, 1)] {
        assert_eq!(found(isa, &[[32, code << 22]], &words, 8, &[]), []);
        // The GPR that gets it counts.
        let beyond = [words[0], words[1] + 6, words[2], 0];
        assert_eq!(
            found(isa, &[[32, code << 22]], &beyond, 8, &[]),
            [Violation::Gpr(8, 8)]
        );
    }
}

#[test]
fn index_registers_are_loaded_by_a_clause_before() {
    const SET_CF_IDX0: u32 = 0x58;
    let alu = [36, 8 << 26 | 1 << 31];
    // TC of one SAMPLE, whose resource is indexed by register 0.
    let tc = [32, 1 << 22 | 1 << 31];
    let mut words = vec![
        0x10 | 1 << 25,
        2 | 7 << 9 | 7 << 12 | 7 << 15 | 7 << 18,
        0,
        0,
    ];
    words.extend([0; 4]);
    words.extend(op2(SET_CF_IDX0, None, 0, (0, 0), ONE, true));
    let of = |cf: &[[u32; 2]]| found(Isa::R800, cf, &words, 8, &[]);
    assert_eq!(of(&[alu, tc]), []);
    assert_eq!(of(&[tc, alu]), [Violation::Index(64)]);
    // A clause's own load is too late for its constants: ALU_EXT with index mode 1 of set 0, which is locked.
    let extended = [
        [1 << 4, 12 << 26 | 1 << 31],
        [36 | 1 << 30, 8 << 26 | 1 << 31],
    ];
    assert_eq!(of(&extended), [Violation::Index(72)]);
    assert_eq!(
        of(&[
            [alu],
            extended[..1].try_into().unwrap(),
            extended[1..].try_into().unwrap()
        ]
        .concat()),
        []
    );
}
