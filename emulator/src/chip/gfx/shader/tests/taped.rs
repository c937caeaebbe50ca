// SPDX-License-Identifier: MIT
//! What a tape records of programs in R800's encoding: places, inputs, and fetches of what the lane
//! has written by `MEM_RAT`.

use super::r800::op2;
use super::tape::{Tape, UNACKNOWLEDGED};
use super::*;

/// An environment with a buffer of 64 dwords at 0x100, which is RAT 0 and fetch resource 0.
fn buffer() -> Recorder {
    Recorder {
        memory: vec![0; 0x200],
        resources: HashMap::from([(0, [0x100, 255, 4 << 8, 0, 0, 0, 3 << 30])]),
        rat: 0x100,
        ..Recorder::default()
    }
}

const MARKED: bool = true;

/// `STORE_TYPED` of R3.x to RAT 0 at R1.x; a marked one is acknowledged.
fn store(marked: bool) -> [u32; 2] {
    [
        1 << 4 | (1 + 2 * u32::from(marked)) << 13 | 3 << 15 | 1 << 23,
        1 << 12 | 0x56 << 22,
    ]
}

const WAIT_ACK: [u32; 2] = [0, 0x1A << 22];

/// The TC clause at dword 16: R4.x gets the dword at R1.x or, with `chan` 1, R1.y.
const LOAD: [u32; 2] = [8, 1 << 22];

/// The record of lane 9, where R1.x is 9 and R1.y is 54.
fn taped(mut words: Vec<u32>, clause: &[u32]) -> Box<Tape> {
    words.extend([0, 1 << 21]);
    words.resize(16, 0);
    words.extend(clause);
    let program = decoded_by(Isa::R800, words);
    assert!(program.unknown_instructions().is_empty());
    let mut wave = lane_numbers();
    wave.begin(ALL, ALL, BUDGET);
    wave.record(9);
    run(&program, &mut wave, &mut buffer()).unwrap();
    wave.take_tape().unwrap()
}

/// The notes of the program's fetch.
fn notes(cf: &[[u32; 2]], chan: u32) -> Vec<Option<&'static str>> {
    let fetch = [
        2 << 5 | 1 << 16 | chan << 24 | 3 << 26,
        4 | 7 << 12 | 7 << 15 | 7 << 18 | 0x0D << 22 | 1 << 28,
        0,
        0,
    ];
    let tape = taped(cf.concat(), &fetch);
    let fetches = tape.steps.iter().filter(|step| step.at == 16);
    fetches.map(|step| step.note).collect()
}

#[test]
fn a_fetch_waits_for_what_its_lane_has_stored() {
    let early = [Some(UNACKNOWLEDGED)];
    assert_eq!(notes(&[LOAD], 0), [None]);
    assert_eq!(notes(&[store(!MARKED), LOAD], 0), early);
    assert_eq!(notes(&[store(MARKED), LOAD], 0), early);
    assert_eq!(notes(&[store(MARKED), WAIT_ACK, LOAD], 0), [None]);
    // Nothing waits for stores that are not marked.
    assert_eq!(notes(&[store(!MARKED), WAIT_ACK, LOAD], 0), early);
    assert_eq!(
        notes(&[store(MARKED), WAIT_ACK, store(MARKED), LOAD], 0),
        early
    );
    // The store comes later, or is of another dword.
    assert_eq!(notes(&[LOAD, store(MARKED)], 0), [None]);
    assert_eq!(notes(&[store(!MARKED), LOAD], 1), [None]);
}

#[test]
fn a_barrier_in_a_clause_moves_no_places() {
    const MOV: u32 = 0x19;
    const GROUP_BARRIER: u32 = 0x54;
    let mov = |dst| op2(MOV, Some(dst), 0, (1, 0), (1, 0), true);
    let barrier = op2(GROUP_BARRIER, None, 0, (1, 0), (1, 0), true);
    // The clause is at dword 16, and a store behind it.
    let cf = [[8, 8 << 26 | 2 << 18], store(!MARKED)];
    let clause = [mov(2), barrier, mov(3)].concat();
    let tape = taped(cf.concat(), &clause);
    let at: Vec<u32> = tape.steps.iter().map(|step| step.at).collect();
    // Both parts of the clause are of the instruction at dword 0, and so is what ends the first one.
    assert_eq!(at, [0, 16, 18, 0, 0, 20, 2, 4]);
}

#[test]
fn the_size_of_a_buffer_has_no_index() {
    // GET_BUFFER_RESINFO R2.x___, R0._ as Mesa has it.
    let size = [0x0300_A84E, 0x489F_F002, 0x0008_0000, 0];
    let tape = taped(LOAD.to_vec(), &size);
    assert!(tape.inputs.is_empty(), "{:?}", tape.inputs);
    let step = tape.steps.iter().find(|step| step.at == 16).unwrap();
    assert_eq!((step.note, step.address), (None, None));
    assert_eq!(step.values, [tape::Value::new("R2.x", 0)]);
}
