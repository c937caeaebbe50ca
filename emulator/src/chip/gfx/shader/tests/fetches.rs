// SPDX-License-Identifier: MIT
//! Vertex fetches, fetch shaders and texture instructions.

use super::*;
use crate::chip::gfx::lanes::first;

/// Seven words of a buffer resource.
fn buffer(base: u32, size: u32, stride: u32) -> [u32; 7] {
    [base, size - 1, stride << 8, 0, 0, 0, 3 << 30]
}

const FMT_32: u32 = 0x0d;
const FMT_32_32_32_FLOAT: u32 = 0x30;
const FMT_8_8_8_8: u32 = 0x1a;

#[test]
fn vertex_fetch_formats_bounds_and_offsets() {
    let mut env = Recorder::default();
    // 32 vertices of 20 bytes at 256: three floats, four bytes, a dword.
    env.memory = vec![0; 256 + 32 * 20];
    for v in 0..32usize {
        let at = 256 + v * 20;
        for c in 0..3 {
            let x = (v * 10 + c) as f32;
            env.memory[at + c * 4..at + c * 4 + 4].copy_from_slice(&x.to_le_bytes());
        }
        env.memory[at + 12..at + 16].copy_from_slice(&[v as u8, 255, 0, 51]);
        env.memory[at + 16..at + 20].copy_from_slice(&(v as u32 | 0x8000_0000).to_le_bytes());
    }
    env.resources.insert(160, buffer(256, 32 * 20, 20));
    let words = assemble(&[
        Item::Fetch(
            cf::VTX,
            [
                vfetch(160, 2, 1, FMT_32_32_32_FLOAT, 2, 0),
                vfetch(160, 3, 1, FMT_8_8_8_8, 0, 12),
                vfetch(160, 4, 1, FMT_32, 1, 16),
                vfetch(161, 5, 1, FMT_32, 1, 16),
            ]
            .concat(),
        ),
        flow(cf::NOP, 0, 0),
    ]);
    let wave = run_words(&words, &mut env);
    for lane in 0..64 {
        let inside = lane < 32;
        let f = |x: f32| if inside { x.to_bits() } else { 0 };
        assert_eq!(
            wave.gpr(2, 1)[lane],
            f((lane * 10 + 1) as f32),
            "lane {lane}"
        );
        assert_eq!(wave.gpr(3, 0)[lane], f(lane as f32 / 255.0));
        assert_eq!(wave.gpr(3, 1)[lane], f(1.0));
        assert_eq!(wave.gpr(3, 3)[lane], f(0.2));
        assert_eq!(
            wave.gpr(4, 0)[lane],
            if inside { lane as u32 | 1 << 31 } else { 0 }
        );
        assert_eq!(wave.gpr(5, 0)[lane], 0);
    }
    // One read for each fetch, not for each lane.
    assert_eq!(env.reads, 3);
    // The fetch type tells whether the base vertex or the first instance is added.
    env.offsets = [3, 100];
    env.reads = 0;
    let wave = run_words(&words, &mut env);
    assert_lanes(&wave, 4, |l| if l < 29 { (l + 3) | 1 << 31 } else { 0 });
    let mut none = vfetch(160, 4, 1, FMT_32, 1, 16);
    none[0] |= 2 << 5;
    let words = assemble(&[Item::Fetch(cf::VTX, none), flow(cf::NOP, 0, 0)]);
    let wave = run_words(&words, &mut env);
    assert_lanes(&wave, 4, |l| if l < 32 { l | 1 << 31 } else { 0 });
    // Scattered indices, and memory that does not exist.
    env.resources.insert(160, buffer(256, 1 << 30, 1 << 10));
    env.reads = 0;
    let wave = run_words(&words, &mut env);
    assert_eq!(wave.gpr(4, 0)[0], 1 << 31);
    assert_eq!(wave.gpr(4, 0)[1], 0);
    assert!(env.reads >= 64);
}

/// Mesa fetches three bytes as four: the last dword that holds a byte of the buffer is read.
#[test]
fn last_dword_of_a_buffer_is_inside_if_it_begins_inside() {
    let mut env = Recorder::default();
    env.memory = vec![255; 256];
    let words = assemble(&[
        Item::Fetch(cf::VTX, vfetch(160, 2, 1, FMT_8_8_8_8, 0, 0)),
        flow(cf::NOP, 0, 0),
    ]);
    for (size, vertices) in [(12, 3), (13, 4), (15, 4), (16, 4), (17, 5)] {
        env.resources.insert(160, buffer(0, size, 4));
        let wave = run_words(&words, &mut env);
        for lane in 0..8 {
            let expected = f32::from(u8::from(lane < vertices)).to_bits();
            assert_eq!(wave.gpr(2, 0)[lane], expected, "{size} bytes, {lane}");
        }
    }
}

#[test]
fn a_constant_one_is_of_the_format_of_the_fetch() {
    let mut env = Recorder::default();
    env.memory = vec![0; 256];
    env.resources.insert(160, buffer(0, 256, 4));
    // DST_SEL_W is SEL_1.
    let one = |dst, format, num| {
        let mut words = vfetch(160, dst, 1, format, num, 0);
        words[1] = words[1] & !(7 << 18) | 5 << 18;
        words
    };
    let fetches = [one(2, FMT_32, 1), one(3, FMT_8_8_8_8, 0)].concat();
    let words = assemble(&[Item::Fetch(cf::VTX, fetches), flow(cf::NOP, 0, 0)]);
    let wave = run_words(&words, &mut env);
    assert_lanes(&wave, 2, |_| 0);
    assert_eq!(wave.gpr(2, 3)[7], 1);
    assert_eq!(wave.gpr(3, 3)[7], 1f32.to_bits());
}

#[test]
fn fetch_shaders() {
    let mut env = Recorder::default();
    env.memory = (0..64u32).flat_map(|i| (i * 3).to_le_bytes()).collect();
    env.resources.insert(160, buffer(0, 256, 4));
    let fetch_shader = assemble(&[
        // Its constants must not replace the caller's.
        clause(cf::ALU, &[op(AluOp::AddInt, (6, 0), &[r(1, 0), lit(1)])]),
        Item::Fetch(cf::VTX, vfetch(160, 2, 6, FMT_32, 1, 0)),
        flow(cf::RET, 0, 0),
        flow(cf::NOP, 0, 0),
    ]);
    env.fetch_shader = Some(std::sync::Arc::new(decode(&fetch_shader)));
    let words = assemble(&[
        flow(cf::CALL_FS, 0, 0),
        clause(cf::ALU, &[op(AluOp::AddInt, (3, 0), &[r(2, 0), lit(1000)])]),
    ]);
    let wave = run_words(&words, &mut env);
    assert_lanes(&wave, 3, |l| 1000 + if l < 63 { (l + 1) * 3 } else { 0 });
    env.fetch_shader = None;
    let mut wave = lane_numbers();
    wave.begin(ALL, ALL, BUDGET);
    assert!(run(&decode(&words), &mut wave, &mut env).is_err());
}

#[test]
fn texture_instructions() {
    let sample = vec![
        u32::from(tex::SAMPLE) | 3 << 8 | 1 << 16,
        // R2.wz_1, bias -1.5, x and y normalised
        2 | 3 << 9 | 2 << 12 | 7 << 15 | 5 << 18 | (0x68 << 21) | 3 << 28,
        // offset x -2, sampler 4, source .y0x1
        0x1e | 4 << 15 | 1 << 20 | 4 << 23 | 5 << 29,
        0,
    ];
    let words = assemble(&[
        clause(
            cf::ALU_PUSH_BEFORE,
            &[group(&[alu(
                AluOp::PredSetgtInt,
                (0, 0),
                &[r(1, 0), lit(31)],
            )
            .branch()])],
        ),
        Item::Fetch(cf::TEX, sample),
        flow(cf::POP, 0, 1),
        flow(cf::NOP, 0, 0),
    ]);
    let mut env = Recorder::default();
    let wave = run_words(&words, &mut env);
    let (op, src, exec) = &env.textures[0];
    assert_eq!(
        (op.resource, op.sampler, op.lod_bias, op.offset),
        (3, 4, -24, [-2, 0, 0])
    );
    assert_eq!(op.normalized, [true, true, false, false]);
    assert_eq!(*exec, !first(32));
    assert_eq!(
        [src[0][40], src[1][40], src[2][40], src[3][40]],
        [23, 0, 40, 1f32.to_bits()]
    );
    for lane in 0..64 {
        let got = [0, 1, 2, 3].map(|c| wave.gpr(2, c)[lane]);
        if lane > 31 {
            // w, z, masked, 1.0: the result is the source.
            assert_eq!(got, [1f32.to_bits(), lane as u32, 0, 1f32.to_bits()]);
        } else {
            assert_eq!(got, [0; 4]);
        }
    }
}
