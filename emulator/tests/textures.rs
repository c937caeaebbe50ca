// SPDX-License-Identifier: MIT
//! Results of texture fetches: border colours, denormals.

// Register values are written field by field.
#![allow(clippy::precedence, clippy::identity_op, clippy::erasing_op)]

use crate::rig::scene::*;
use crate::rig::shader::*;
use r7xx_board::chip::cp::pm4::{MemWriteData, Packet};

const ADD: u32 = 0x00;
const TEXTURE: u64 = 0x68_0000;
const SIDE: u32 = 64;
const RGBA8: u32 = 0x1A;
const R32F: u32 = 0x0E;
/// Clamp to the border, in x and y.
const CLAMP_BORDER: u32 = 6 | 6 << 3;
const BORDER_REGISTERS: u32 = 3 << 22;

/// The colour that `shader` draws on the whole target. R0.xy is `at`; resource 0 is a texture of
/// 64x64 texels of `format`, all of them `texel`; sampler 0 has `word0`.
fn colour(shader: &Shader, at: [f32; 2], [format, texel]: [u32; 2], word0: u32) -> [u8; 4] {
    let mut s = scene();
    s.rig.ib(TEXTURE, &vec![texel; (SIDE * SIDE) as usize]);
    let words = [
        // 2D, linear aligned, 64 texels from row to row.
        1 | 1 << 3 | 7 << 8 | (SIDE - 1) << 19,
        (SIDE - 1) | format << 26,
        (TEXTURE >> 8) as u32,
        0,
        1 << 19 | 2 << 22 | 3 << 25,
        0,
        2 << 30,
    ];
    s.texture(words, [word0, 0, 0]);
    // TD_PS_SAMPLER0_BORDER_RED to ALPHA.
    for (i, v) in [0.2, 0.4, 0.6, 0.8].into_iter().enumerate() {
        s.rig.write(0xA400 + 4 * i as u32, f(v));
    }
    s.one_colour(shader, [[at[0], at[1], 0.0, 1.0]; 3])
}

#[test]
fn border_colours_are_those_of_the_registers_if_the_sampler_says_so() {
    let mut ps = Shader::new();
    ps.sample(1, 0, 0).export(PIXEL, 0, 1, XYZW, true);
    let texture = [RGBA8, 0x4433_2211];
    for (at, word0, expected) in [
        (
            [0.5, 0.5],
            CLAMP_BORDER | BORDER_REGISTERS,
            [0x11, 0x22, 0x33, 0x44],
        ),
        (
            [1.5, 0.5],
            CLAMP_BORDER | BORDER_REGISTERS,
            [51, 102, 153, 204],
        ),
        ([0.5, -0.5], CLAMP_BORDER, [0; 4]),
        ([0.5, -0.5], CLAMP_BORDER | 2 << 22, [255; 4]),
    ] {
        assert_eq!(
            colour(&ps, at, texture, word0),
            expected,
            "{at:?} {word0:#x}"
        );
    }
}

#[test]
fn results_go_to_any_register_from_any() {
    let texture = [RGBA8, 0x4433_2211];
    for (from, to) in [(0, 1), (1, 2), (2, 1), (3, 0), (1, 1)] {
        let mut ps = Shader::new();
        // The other registers have coordinates outside the texture.
        let own = |chan| mov(from, chan, gpr(0, chan), chan == 1);
        ps.alu(0x08, &[own(0), own(1)], &[]);
        for other in (0..4).filter(|other| *other != from) {
            let far = |chan| op2(ADD, other, chan, Src(ONE, 0), Src(ONE, 0), chan == 1);
            ps.alu(0x08, &[far(0), far(1)], &[]);
        }
        ps.sample(to, from, 0).export(PIXEL, 0, to, XYZW, true);
        let got = colour(&ps, [0.5; 2], texture, CLAMP_BORDER);
        assert_eq!(got, [0x11, 0x22, 0x33, 0x44], "R{from} to R{to}");
    }
}

#[test]
fn texels_that_are_denormals_count_as_zero() {
    const SETE: u32 = 0x08;
    // To another register than the coordinates', and to the same.
    for to in [1, 0] {
        let mut ps = Shader::new();
        let is_zero = op2(SETE, 2, 1, gpr(to, 0), Src(ZERO, 0), true);
        ps.sample(to, 0, 0)
            .alu(0x08, &[is_zero], &[])
            .export(PIXEL, 0, 2, [4, 1, 4, 5], true);
        for (texel, green) in [(1, 255), (0x007F_FFFF, 255), (0x0080_0000, 0)] {
            let got = colour(&ps, [0.5; 2], [R32F, texel], 0);
            assert_eq!(got, [0, green, 0, 255], "{texel:#x} in R{to}");
        }
    }
}

/// A scene of two targets: what is drawn on the first one is sampled on the second one.
struct Feedback {
    scene: Scene,
    shaders: [u32; 2],
}

impl Feedback {
    const FIRST: u64 = COLOUR;
    const SECOND: u64 = COLOUR + 0x4_0000;
    /// `TC_ACTION_ENA`, `CB_ACTION_ENA` and `CB0_DEST_BASE_ENA` of `SURFACE_SYNC`.
    const SYNC: u32 = 1 << 23 | 1 << 25 | 1 << 6;

    fn new() -> Self {
        let mut s = scene();
        let words = [
            1 | 1 << 3 | 7 << 8 | (SIDE - 1) << 19,
            (SIDE - 1) | RGBA8 << 26,
            (Self::FIRST >> 8) as u32,
            0,
            1 << 19 | 2 << 22 | 3 << 25,
            0,
            2 << 30,
        ];
        s.texture(words, [0; 3]);
        let mut sampling = Shader::new();
        sampling.sample(1, 0, 0).export(PIXEL, 0, 1, XYZW, true);
        let shaders = [pixel_shader(), sampling].map(|shader| s.shader(&shader));
        Self { scene: s, shaders }
    }

    /// Draws on one of the targets by one of the shaders.
    fn draw(&mut self, target: usize, parameter: [f32; 4]) {
        let s = &mut self.scene;
        let base = [Self::FIRST, Self::SECOND][target];
        s.set(0x2_8040, (base >> 8) as u32);
        s.set(START_PS, self.shaders[target]);
        s.rectangle([0.0, 0.0, 64.0, 64.0], 0.5, parameter);
    }

    /// `SURFACE_SYNC`, if there is a flush.
    fn sync(&mut self, flushes: bool) {
        if flushes {
            let packet = Packet::SurfaceSync {
                coher_cntl: Self::SYNC,
                size: u32::MAX,
                base: 0,
            };
            self.scene.rig.cp_fill(&packet.encode());
        }
    }

    /// The colour of the first pixel of the first target, as a texture.
    fn sampled(&mut self) -> [u8; 4] {
        self.draw(1, [0.5 / 64.0, 0.5 / 64.0, 0.0, 1.0]);
        self.scene.finish();
        let bytes = self.scene.rig.bytes(Self::SECOND, 4);
        bytes.try_into().unwrap()
    }
}

/// A board that is not strict shows what is in memory, whether or not the driver has flushed.
#[test]
fn texels_are_those_that_are_in_memory_when_a_draw_begins() {
    let word = |colour| u32::from_le_bytes(bytes(colour));
    for flushes in [false, true] {
        let mut both = Feedback::new();
        both.draw(0, RED);
        both.sync(flushes);
        assert_eq!(both.sampled(), bytes(RED), "drawn");
        both.draw(0, GREEN);
        both.sync(flushes);
        assert_eq!(both.sampled(), bytes(GREEN), "drawn again");
        // In one submission, too: nothing waits between the draws.
        for colour in [BLUE, RED] {
            both.draw(1, [0.5; 4]);
            both.draw(0, colour);
            both.sync(flushes);
        }
        assert_eq!(both.sampled(), bytes(RED), "drawn between draws");
        both.scene.rig.ib(Feedback::FIRST, &[word(BLUE); 64]);
        both.sync(flushes);
        assert_eq!(both.sampled(), bytes(BLUE), "written by the CPU");
        let data = MemWriteData::U32(word(GREEN));
        let addr = Feedback::FIRST;
        let packet = Packet::MemWrite { addr, data };
        both.scene.rig.cp_fill(&packet.encode());
        both.sync(flushes);
        assert_eq!(both.sampled(), bytes(GREEN), "written by the CP");
    }
}
