// SPDX-License-Identifier: MIT
//! Polygons that share a wave of the pixel shader get the bytes that they get on their own.

// Register values are written field by field.
#![allow(clippy::precedence, clippy::identity_op, clippy::erasing_op)]

use crate::rig::scene::*;
use crate::rig::shader::*;
use crate::rig::{config, Rig};
use r7xx_board::chip::counters::Counter;
use r7xx_board::chip::gfx::{Limits, Pipeline};

const TEXTURE: u64 = 0x68_0000;
const SECOND: u64 = 0x60_0000;
const BYTES: usize = (WIDTH * HEIGHT * 4) as usize;
/// Side of the texture.
const SIDE: u32 = 64;
/// Triangles of a draw, and of the draws that it is compared with: so few that waves are not shared.
const MANY: usize = 150;
const FEW: usize = 50;

/// `DEPTH_32_FLOAT`.
const D32F: u32 = 6;
/// The filter of textures that are made smaller is linear: the level of detail, and with it the other
/// pixels of a quad, is seen.
const MIN_LINEAR: u32 = 1 << 12;
/// `SAMPLE_PIPELINESTAT`.
const SAMPLE_PIPELINESTAT: u8 = 0x1E;
const ZPASS_DONE: u8 = 0x15;

const ADD: u32 = 0x00;
const MUL_IEEE: u32 = 0x02;
const FRACT: u32 = 0x10;
const KILLGT: u32 = 0x2D;

/// A draw's state.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
struct Case {
    blend: bool,
    /// The test is `LESS`.
    depth: bool,
    /// Outside of a rectangle nothing is drawn.
    clip: bool,
    /// Colour 1 goes to a second target.
    second: bool,
    /// The input is flat.
    flat: bool,
    /// The shader gets position and face.
    position: bool,
    /// It drops some pixels.
    kill: bool,
    /// Triangles are as large as the target.
    large: bool,
    /// The input's w is a denormal in half of the triangles, and 0 in the others.
    denormals: bool,
}

impl Case {
    fn numbered(n: u32) -> Self {
        let bit = |at: u32| n >> at & 1 != 0;
        Self {
            blend: bit(0),
            depth: bit(1),
            clip: bit(2),
            second: bit(3),
            flat: bit(4),
            position: bit(5),
            kill: bit(6),
            large: bit(7),
            denormals: bit(8),
        }
    }

    /// Long enough for waves that are shared: colours of texel, input, position and face.
    fn shader(self) -> Shader {
        let mut ps = Shader::new();
        ps.sample_2d(3, 0, 0);
        let mut code = Vec::new();
        let mut each = |op: u32, a: u32, b: u32| {
            code.extend((0..4).map(|chan| op2(op, 3, chan, gpr(a, chan), gpr(b, chan), true)));
        };
        each(ADD, 3, 0);
        if self.position {
            each(ADD, 3, 1);
        }
        for _ in 0..4 {
            each(MUL_IEEE, 3, 3);
            each(ADD, 3, 0);
            each(FRACT, 3, 3);
        }
        if self.position {
            code.push(op2(ADD, 3, 0, gpr(3, 0), gpr(2, 0), true));
        }
        if self.kill {
            code.push(op2(KILLGT, 4, 0, gpr(3, 1), Src(HALF, 0), true));
        }
        ps.alu(0x08, &code, &[]);
        if self.denormals {
            // As a denormal is 0, nothing is added.
            let large = op2(MUL_IEEE, 4, 3, gpr(0, 3), Src(LITERAL, 0), true);
            ps.alu(0x08, &[large], &[f(3e38), 0]);
            ps.alu(0x08, &[op2(ADD, 3, 3, gpr(3, 3), gpr(4, 3), true)], &[]);
        }
        ps.export(PIXEL, 0, 3, XYZW, !self.second);
        if self.second {
            ps.export(PIXEL, 1, 3, [3, 2, 1, 0], true);
        }
        ps
    }

    fn vertices(self, rng: &mut fastrand::Rng) -> Vec<Vertex> {
        let mut triangle = || {
            let [x, y] = [(); 2].map(|()| rng.f32() * 2.2 - 1.1);
            let size = match rng.u32(..8) {
                0 => 0.6,
                _ if self.large => 3.0,
                _ => 0.15,
            };
            let denormal = self.denormals.then(|| rng.f32().round() * 1e-39);
            [(); 3].map(|()| {
                let w = rng.f32() + 0.5;
                let [x, y] = [x, y].map(|v| (v + (rng.f32() - 0.5) * size) * w);
                let [s, t, z, v] = [(); 4].map(|()| rng.f32() * 3.0 - 1.0);
                let input = [s, t, z, denormal.unwrap_or(v)];
                ([x, y, rng.f32() * w, w], input)
            })
        };
        (0..MANY).flat_map(|_| triangle()).collect()
    }

    /// Draws `of` triangles at a time. Returns targets, depth buffer and counts of fragments, and how
    /// many waves were shared.
    fn draw(self, s: &mut Scene, vertices: &[Vertex], of: usize) -> (Vec<u8>, u64) {
        let shared = |s: &Scene| s.rig.chip.counters().get(Counter::GatheredWaves);
        let before = shared(s);
        s.rig.ib(COLOUR, &noise(BYTES / 4, 7));
        s.rig.ib(SECOND, &noise(BYTES / 4, 9));
        s.rig.ib(DEPTH, &vec![f(0.7); BYTES / 4]);
        s.rig.ib(TEXTURE, &noise((SIDE * SIDE) as usize, 8));
        let control = Z_ENABLE | Z_WRITE | LESS;
        depth_buffer(s, if self.depth { D32F } else { 0 }, control);
        // Pixels in rectangle 0 are drawn.
        s.set(0x2_820C, if self.clip { 0xAAAA } else { 0xFFFF });
        s.set(0x2_8210, 5 | 9 << 16);
        s.set(0x2_8214, 50 | 61 << 16);
        s.set(0x2_8044, (SECOND >> 8) as u32);
        s.set(0x2_8064, (WIDTH / 8 - 1) | (WIDTH * HEIGHT / 64 - 1) << 10);
        let (info, masks) = (0x1A << 2 | 2 << 8 | 1 << 20, u32::from(self.second) * 0xF0);
        s.set(0x2_80A0, info);
        s.set(0x2_80A4, info);
        s.set(0x2_8238, 0xF | masks);
        s.set(0x2_823C, 0xF | masks);
        s.set(0x2_8644, 1 | u32::from(self.flat) << 10);
        // Position in R1, face in R2.x.
        let extra = u32::from(self.position);
        s.set(0x2_86CC, 1 | 1 << 28 | extra << 8 | 1 << 10);
        s.set(0x2_86D0, extra << 8 | 2 << 12);
        // FLAT_SHADE_ENA
        s.set(0x2_86D4, 1);
        s.set(0x2_8804, 4 | 5 << 8);
        s.set(0x2_8808, 0xCC << 16 | u32::from(self.blend) << 8);
        let size = SIDE - 1;
        let texture = [
            1 | 1 << 3 | (SIDE / 8 - 1) << 8 | size << 19,
            size | 0x1A << 26,
            (TEXTURE >> 8) as u32,
            0,
            0 << 16 | 1 << 19 | 2 << 22 | 3 << 25,
            0,
            2 << 30,
        ];
        s.texture(texture, [MIN_LINEAR, 0, 0]);
        let start = s.shader(&self.shader());
        s.set(START_PS, start);
        let at = s.results();
        s.event(SAMPLE_PIPELINESTAT, 2, Some(at));
        s.event(ZPASS_DONE, 1, Some(at + 128));
        for some in vertices.chunks(3 * of) {
            s.draw_vertices(TRIANGLES, some);
        }
        s.event(SAMPLE_PIPELINESTAT, 2, Some(at + 64));
        s.event(ZPASS_DONE, 1, Some(at + 160));
        s.finish();
        let counted = |to: u64, from: u64| s.rig.mc_u64(at + to) - s.rig.mc_u64(at + from);
        let counts = [counted(64, 0), counted(160, 128)].map(u64::to_le_bytes);
        let memory = [COLOUR, SECOND, DEPTH].map(|base| s.rig.bytes(base, BYTES));
        let bytes = [memory.concat(), counts.concat()].concat();
        (bytes, shared(s) - before)
    }
}

fn scene_with(threads: usize, limits: Limits) -> Scene {
    let pipeline = Box::new(Pipeline::new(threads).with_limits(limits));
    Scene::new(Rig::with_gfx(config(None), pipeline))
}

#[test]
fn polygons_that_share_a_wave_get_the_bytes_of_their_own_waves() {
    let mut rng = fastrand::Rng::with_seed(51);
    let mut drawn = [0; 9];
    for n in (0..512).step_by(5) {
        let case = Case::numbered(n);
        let vertices = case.vertices(&mut rng);
        let mut s = scene_with(1 + n as usize % 2, Limits::default());
        let (alone, none) = case.draw(&mut s, &vertices, FEW);
        assert_eq!(none, 0, "{case:?}");
        let (bytes, waves) = case.draw(&mut s, &vertices, MANY);
        let wrong = bytes.iter().zip(&alone).filter(|(a, b)| a != b).count();
        assert_eq!(wrong, 0, "{case:?}");
        assert!(waves > 0, "{case:?}");
        for (bit, drawn) in drawn.iter_mut().enumerate() {
            *drawn += waves * u64::from(n >> bit & 1);
        }
    }
    assert!(drawn.iter().all(|waves| *waves > 500), "{drawn:?}");
}
