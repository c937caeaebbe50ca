// SPDX-License-Identifier: MIT
//! Tiles on the short path get the same bytes as those whose shader the interpreter runs, over
//! random states.

// Register values are written field by field.
#![allow(clippy::precedence, clippy::identity_op, clippy::erasing_op)]

use crate::rig::scene::*;
use crate::rig::shader::*;
use r7xx_board::chip::counters::Counter;

const TEXTURE: u64 = 0x68_0000;
const BYTES: usize = (WIDTH * HEIGHT * 4) as usize;
/// Side of the memory of textures.
const SIDE: u32 = 128;

const MUL_IEEE: u32 = 0x02;
const MAX_DX10: u32 = 0x05;
const RECIP_IEEE: u32 = 0x66;

/// What the pixel shader does.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Form {
    /// Exports the input.
    Input,
    /// Exports a texel.
    Texel,
    /// Exports a texel times the input's z.
    Product,
    /// Exports the input's colours and a texel's alpha times the input's z.
    Alpha,
}

#[derive(Debug, Clone)]
struct Case {
    form: Form,
    /// The coordinates are divided by the input's w.
    projected: bool,
    /// Bits 10 and 12 of `SPI_PS_INPUT_CNTL_0`: flat, without perspective.
    input: u32,
    /// `CB_COLOR0_INFO`, `CB_TARGET_MASK`.
    info: u32,
    mask: u32,
    /// `CB_BLEND_CONTROL`, if there is blending.
    blend: Option<u32>,
    texture: [u32; 7],
    /// Word 0 of the sampler.
    sampler: u32,
    vertices: Vec<Vertex>,
    /// Exported components.
    select: [u32; 4],
    texels: u64,
}

impl Case {
    fn random(rng: &mut fastrand::Rng) -> Self {
        let form = [Form::Input, Form::Texel, Form::Product, Form::Alpha][rng.usize(..4)];
        let mut often = |of: u32| rng.u32(..of) != 0;
        let (opaque, perspective, tame) = (often(2), often(2), often(8));
        let input = u32::from(!often(8)) << 10 | u32::from(!often(4)) << 12;
        let mask = if often(4) { 0xF } else { rng.u32(..16) };
        // SRC_ALPHA or ONE, and ONE_MINUS_SRC_ALPHA, for colours and for alpha.
        let factor = |rng: &mut fastrand::Rng| [4, 1][rng.usize(..2)] | 5 << 8;
        let blend = factor(rng) | factor(rng) << 16 | 1 << 29;
        let bytes = rng.u32(..4) != 0;
        let (mode, size) = ([1, 2][rng.usize(..2)], [8, 40, 128][rng.usize(..3)]);
        // One byte a texel is in alpha.
        let (format, swizzle) = match bytes {
            true => (
                0x1A,
                [[0, 1, 2, 3], [2, 1, 0, 3], [0, 1, 2, 5]][rng.usize(..3)],
            ),
            false => (1, [4, 4, 4, 0]),
        };
        let swizzle = (0..4).fold(0, |word, i| word | swizzle[i] << (16 + 3 * i));
        let filter = [0, 1 << 9 | 1 << 12][rng.usize(..2)];
        let wrap = [0, 2 | 2 << 3][rng.usize(..2)];
        let mut vertex = || {
            let w = if perspective {
                rng.f32() * 3.0 + 0.5
            } else {
                1.0
            };
            let [x, y] = [(); 2].map(|()| (rng.f32() * 3.0 - 1.5) * w);
            let [s, t] = [(); 2].map(|()| match tame {
                true => rng.f32() * 0.8 + 0.1,
                false => [rng.f32() * 8.0 - 4.0, -0.0, 1e-40, f32::NAN][rng.usize(..4)],
            });
            let z = [rng.f32() * 2.0 - 0.5, 1.0, 0.0, 1e-39][rng.usize(..4)];
            let divisor = if rng.bool() { 1.0 } else { rng.f32() + 0.9 };
            ([x, y, 0.0, w], [s, t, z, divisor])
        };
        let mut vertices = vec![vertex(), vertex(), vertex()];
        if rng.bool() {
            // The same factor at all vertices, and the same divisor.
            let [.., z, w] = vertices[0].1;
            vertices.iter_mut().for_each(|(_, p)| (p[2], p[3]) = (z, w));
        }
        Self {
            form,
            projected: rng.bool(),
            input,
            // 8_8_8_8, 1D tiled; RGBA or BGRA; BLEND_CLAMP.
            info: 0x1A << 2 | 2 << 8 | rng.u32(..2) << 16 | 1 << 20,
            mask,
            blend: (!opaque).then_some(blend),
            texture: [
                1 | mode << 3 | (SIDE / 8 - 1) << 8 | (size - 1) << 19,
                (size - 1) | format << 26,
                (TEXTURE >> 8) as u32,
                0,
                swizzle,
                0,
                2 << 30,
            ],
            sampler: wrap | filter,
            vertices,
            select: [XYZW, [2, 1, 0, 3], [0, 0, 5, 3], [4, 1, 2, 5]][rng.usize(..4)],
            texels: rng.u64(..),
        }
    }

    /// The pixel shader. With `detour` it has one more instruction, which rules the path out.
    fn shader(&self, detour: bool) -> Shader {
        let mut ps = Shader::new();
        let mut at = 0;
        if self.projected && self.form != Form::Input {
            let recip = op2(RECIP_IEEE, 3, 3, gpr(0, 3), Src(ZERO, 0), true);
            let times = |chan, last| op2(MUL_IEEE, 3, chan, gpr(0, chan), gpr(3, 3), last);
            ps.alu(0x08, &[recip, times(0, false), times(1, true)], &[]);
            at = 3;
        }
        let (mut result, times) = (0, |chan, last| {
            op2(MUL_IEEE, 2, chan, gpr(1, chan), gpr(0, 2), last)
        });
        if self.form != Form::Input {
            ps.sample_2d(1, at, 0);
            result = 1;
        }
        match self.form {
            Form::Product => {
                let all = [
                    times(0, false),
                    times(1, false),
                    times(2, false),
                    times(3, true),
                ];
                ps.alu(0x08, &all, &[]);
                result = 2;
            }
            Form::Alpha => {
                let moved = |chan| mov(2, chan, gpr(0, chan), false);
                let all = [moved(0), moved(1), moved(2), times(3, true)];
                ps.alu(0x08, &all, &[]);
                result = 2;
            }
            Form::Input | Form::Texel => {}
        }
        if detour {
            let same = |chan| gpr(result, chan);
            let all = [0, 1, 2, 3]
                .map(|chan| op2(MAX_DX10, result, chan, same(chan), same(chan), chan == 3));
            ps.alu(0x08, &all, &[]);
        }
        ps.export(PIXEL, 0, result, self.select, true);
        ps
    }

    /// Draws and returns the target's bytes and the number of tiles on the short path.
    fn draw(&self, s: &mut Scene, detour: bool) -> (Vec<u8>, u64) {
        let count = |s: &Scene| s.rig.chip.counters().get(Counter::ShortTiles);
        let before = count(s);
        s.rig.ib(COLOUR, &noise(BYTES / 4, 7));
        s.rig
            .ib(TEXTURE, &noise((SIDE * SIDE) as usize, self.texels));
        s.set(0x2_80A0, self.info);
        s.set(0x2_8238, self.mask);
        s.set(0x2_8644, 1 | self.input);
        // FLAT_SHADE_ENA
        s.set(0x2_86D4, 1);
        s.set(0x2_8804, self.blend.unwrap_or(0));
        s.set(0x2_8808, 0xCC << 16 | u32::from(self.blend.is_some()) << 8);
        s.texture(self.texture, [self.sampler, 0, 0]);
        let start = s.shader(&self.shader(detour));
        s.set(START_PS, start);
        s.draw_vertices(TRIANGLES, &self.vertices);
        s.finish();
        (s.rig.bytes(COLOUR, BYTES), count(s) - before)
    }
}

#[test]
fn short_tiles_have_the_interpreters_bytes() {
    let mut rng = fastrand::Rng::with_seed(33);
    let mut scene = scene();
    let mut cases = [[0; 2]; 4];
    for n in 0..400 {
        if n % 50 == 0 {
            // Its memory for shaders and vertices is used up by and by.
            scene = crate::rig::scene::scene();
        }
        let case = Case::random(&mut rng);
        let (general, none) = case.draw(&mut scene, true);
        assert_eq!(none, 0, "{n}: {case:?}");
        let (bytes, short) = case.draw(&mut scene, false);
        let wrong = bytes.iter().zip(&general).filter(|(a, b)| a != b).count();
        assert_eq!(wrong, 0, "{n}: {case:?}");
        cases[case.form as usize][usize::from(case.blend.is_some())] += short;
    }
    // Each form took the path, with and without blending.
    for (form, tiles) in cases.iter().enumerate() {
        assert!(tiles.iter().all(|tiles| *tiles > 100), "{form}: {tiles:?}");
    }
}
