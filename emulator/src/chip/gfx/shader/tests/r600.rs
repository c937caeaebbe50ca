// SPDX-License-Identifier: MIT
//! Programs in the encoding of R6xx.

use super::*;
use crate::chip::gfx::shader::isa::cf;
use crate::chip::gfx::shader::Isa;

/// An `OP2` of one operand, the only one of its group.
fn op2(code: u32, dst: (u32, u32), source: (u32, u32)) -> [u32; 2] {
    [
        source.0 | source.1 << 10 | 1 << 31,
        1 << 4 | code << 8 | dst.0 << 21 | dst.1 << 29,
    ]
}

/// A wave of [`lane_numbers`] after the program of these dwords.
fn ran(words: Vec<u32>) -> Wave {
    let program = decoded_by(Isa::R600, words);
    assert!(program.unknown_instructions().is_empty());
    let mut wave = lane_numbers();
    wave.begin(ALL, ALL, BUDGET);
    run(&program, &mut wave, &mut Recorder::default()).unwrap();
    wave
}

const INT_TO_FLT: u32 = 0x6C;
const SIN: u32 = 0x6E;
const COS: u32 = 0x6F;

#[test]
#[allow(clippy::disallowed_methods)] // They are compared with the C library's.
fn sines_are_of_radians() {
    let slots = [
        op2(INT_TO_FLT, (2, 0), (1, 0)),
        op2(SIN, (3, 0), (2, 0)),
        op2(COS, (3, 1), (2, 0)),
    ];
    let mut words = vec![2, 8 << 26 | (slots.len() as u32 - 1) << 18, 0, 1 << 21];
    words.extend(slots.iter().flatten());
    let wave = ran(words);
    for lane in 0..64 {
        let angle = f64::from(wave.gpr(1, 0)[lane]);
        let found = |chan| f64::from(f32::from_bits(wave.gpr(3, chan)[lane]));
        assert!((found(0) - angle.sin()).abs() < 1e-6, "sin {angle}");
        assert!((found(1) - angle.cos()).abs() < 1e-6, "cos {angle}");
    }
    assert_eq!(wave.gpr(1, 0)[3], 3, "the angles are not all zero");
}

#[test]
fn scratch_is_read_back_by_control_flow() {
    let scratch = |kind: u32, base: u32, gpr: u32, index: u32, mask: u32| {
        [
            base | kind << 13 | gpr << 15 | index << 23 | 3 << 30,
            63 | mask << 12 | u32::from(cf::MEM_SCRATCH) << 23,
        ]
    };
    // R1.x is the number of the lane.
    let words = [
        scratch(1, 0, 1, 1, 0xF),
        scratch(3, 0, 2, 1, 0xF),
        scratch(2, 5, 3, 0, 0b0001),
        [0, 1 << 21],
    ];
    let wave = ran(words.concat());
    for lane in 0..64u32 {
        let at = lane as usize;
        assert_eq!(wave.gpr(2, 0)[at], lane);
        assert_eq!(wave.gpr(2, 2)[at], wave.gpr(1, 2)[at]);
        // Each lane has its own scratch: element 5 is lane 5's only.
        assert_eq!(wave.gpr(3, 0)[at], if lane == 5 { 5 } else { 0 });
    }
    assert_eq!(wave.gpr(3, 2), lane_numbers().gpr(3, 2), "masked");
}
