// SPDX-License-Identifier: MIT
//! Denormals and zeroes in the inputs of the pixel shader, from parameters and from the position.

// Register values are written field by field.
#![allow(clippy::precedence, clippy::identity_op, clippy::erasing_op)]

use crate::rig::scene::*;
use crate::rig::shader::*;

const SETE: u32 = 0x08;
const AND_INT: u32 = 0x30;
const OR_INT: u32 = 0x31;
/// The largest denormal, and half of it.
const TINY: [f32; 2] = [f32::from_bits(0x007F_FFFF), f32::from_bits(0x0040_0000)];

/// The green channel of a pixel drawn by a shader with two inputs: R0 is the vertices' parameter,
/// R1 is (0.5, 0.5, 0.5, 1).
fn green(shader: &Shader, params: [[f32; 4]; 3], setup: impl Fn(&mut Scene)) -> u8 {
    let mut s = scene();
    let mut vs = Shader::new();
    vs.fetch(1, 0, 0, 0, 0)
        .fetch(2, 0, 0, 0, 16)
        .alu(
            0x08,
            &[0, 1, 2].map(|chan| mov(3, chan, Src(HALF, 0), chan == 2)),
            &[],
        )
        .export(POSITION, 60, 1, XYZW, true)
        .export(PARAM, 0, 2, XYZW, false)
        .export(PARAM, 1, 3, [0, 1, 2, 5], true);
    let start = s.shader(&vs);
    s.set(0x2_8858, start);
    // Semantics 1 and 2, two inputs in perspective.
    s.set(0x2_8614, 1 | 2 << 8);
    s.set(0x2_86C4, 1 << 1);
    s.set(0x2_8648, 2);
    s.set(0x2_86CC, 2 | 1 << 28);
    setup(&mut s);
    s.one_colour(shader, params)[1]
}

/// A shader that draws green where component `chan` of R`input` equals zero.
fn is_zero(input: u32, chan: u32) -> Shader {
    let mut ps = Shader::new();
    ps.alu(
        0x08,
        &[op2(SETE, 2, 1, gpr(input, chan), Src(ZERO, 0), true)],
        &[],
    )
    .export(PIXEL, 0, 2, [4, 1, 4, 5], true);
    ps
}

#[test]
fn denormals_of_inputs_count_as_zero() {
    let [a, b] = TINY.map(|v| [v, v, 0.25, 1.0]);
    let normal = [f32::MIN_POSITIVE, 1.0, 0.25, 1.0];
    for (params, zero) in [
        ([a, a, a], true),
        ([a, b, b], true),
        ([b, a, b], true),
        ([normal; 3], false),
        (
            [normal, [2.0 * f32::MIN_POSITIVE, 1.0, 0.25, 1.0], normal],
            false,
        ),
    ] {
        let expected = 255 * u8::from(zero);
        assert_eq!(
            green(&is_zero(0, 0), params, |_| ()),
            expected,
            "{params:?}"
        );
        // Components beside them that are not denormal.
        assert_eq!(green(&is_zero(0, 2), params, |_| ()), 0);
        assert_eq!(green(&is_zero(1, 0), params, |_| ()), 0);
    }
}

#[test]
fn denormals_of_the_position_count_as_zero() {
    let normal = [[1.0; 4]; 3];
    // The position is in R1 or R2, and its depth is a denormal.
    for register in [1, 2] {
        let setup = |s: &mut Scene| {
            s.set(0x2_86CC, 2 | 1 << 8 | register << 10 | 1 << 28);
            s.set(0x2_844C, f(0.5));
            s.set(0x2_8450, TINY[0].to_bits());
        };
        assert_eq!(green(&is_zero(register, 2), normal, setup), 255);
        assert_eq!(green(&is_zero(register, 0), normal, setup), 0);
    }
}

#[test]
fn equal_negative_zeroes_are_mixed_to_a_positive_one() {
    // Put the sign of the input on 1.0.
    let mut ps = Shader::new();
    let literal = |chan| Src(LITERAL, chan);
    ps.alu(
        0x08,
        &[op2(AND_INT, 2, 1, gpr(0, 0), literal(0), true)],
        &[1 << 31, 0],
    )
    .alu(
        0x08,
        &[op2(OR_INT, 2, 1, gpr(2, 1), Src(ONE, 0), true)],
        &[],
    )
    .export(PIXEL, 0, 2, [4, 1, 4, 5], true);
    assert_eq!(green(&ps, [[-0.0; 4]; 3], |_| ()), 255);
    assert_eq!(green(&ps, [[-1.0; 4]; 3], |_| ()), 0);
}
