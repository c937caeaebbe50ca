// SPDX-License-Identifier: MIT
//! Tiles on the short path get the same bytes as those whose shader the interpreter runs, over
//! random states.

// Register values are written field by field.
#![allow(clippy::precedence, clippy::identity_op, clippy::erasing_op)]

use crate::rig::scene::*;
use crate::rig::shader::*;
use r7xx_board::chip::counters::Counter;

const TEXTURE: u64 = 0x68_0000;
const SECOND: u64 = 0x60_0000;
const BYTES: usize = (WIDTH * HEIGHT * 4) as usize;
/// Side of the memory of textures.
const SIDE: u32 = 128;

/// `DEPTH_32_FLOAT`.
const D32F: u32 = 6;
/// Filters of a sampler: both linear, or only that of textures that are made smaller.
const LINEAR: u32 = 1 << 9 | 1 << 12;
const MIN_LINEAR: u32 = 1 << 12;

/// `COLOR_32_FLOAT`, `FMT_32_FLOAT`.
const FLOAT_32: u32 = 0x0E;
/// `SAMPLE_PIPELINESTAT`.
const SAMPLE_PIPELINESTAT: u8 = 0x1E;
const ZPASS_DONE: u8 = 0x15;

const MUL_IEEE: u32 = 0x02;
const OR_INT: u32 = 0x31;
const RECIP_IEEE: u32 = 0x66;

/// What the pixel shader does.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Form {
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
    /// Three are a triangle, more a strip.
    vertices: Vec<Vertex>,
    /// There is a depth buffer, and the test is `LESS`.
    depth: bool,
    /// A rectangle outside of which nothing is drawn: its left, upper, right and lower edge.
    clip: Option<[u32; 4]>,
    /// `PA_SC_AA_MASK`.
    samples: u32,
    /// A second target gets colour 1, which is not exported, or colour 0, too (`MULTIWRITE_ENABLE`).
    second: Option<bool>,
    /// The alpha test drops fragments.
    alpha_test: bool,
    /// Exported components.
    select: [u32; 4],
    texels: u64,
}

impl Case {
    fn random(rng: &mut fastrand::Rng, corners: usize) -> Self {
        let form = [Form::Input, Form::Texel, Form::Product, Form::Alpha][rng.usize(..4)];
        let mut often = |of: u32| rng.u32(..of) != 0;
        let (opaque, perspective, tame) = (often(2), often(2), often(8));
        let input = u32::from(!often(8)) << 10 | u32::from(!often(4)) << 12;
        let mask = if often(4) { 0xF } else { rng.u32(..16) };
        // SRC_ALPHA or ONE, and ONE_MINUS_SRC_ALPHA, for colours and for alpha.
        let factor = |rng: &mut fastrand::Rng| [4, 1][rng.usize(..2)] | 5 << 8;
        let blend = factor(rng) | factor(rng) << 16 | 1 << 29;
        let kind = rng.u32(..8);
        let (mode, size) = ([1, 2][rng.usize(..2)], [8, 40, 128][rng.usize(..3)]);
        // One byte a texel is in alpha; floats are in all components, with denormals and NaN.
        let (format, swizzle) = match kind {
            0 | 1 => (1, [4, 4, 4, 0]),
            2 => (FLOAT_32, [0; 4]),
            _ => (
                0x1A,
                [[0, 1, 2, 3], [2, 1, 0, 3], [0, 1, 2, 5]][rng.usize(..3)],
            ),
        };
        let swizzle = (0..4).fold(0, |word, i| word | swizzle[i] << (16 + 3 * i));
        let filter = [0, LINEAR, MIN_LINEAR][rng.usize(..3)];
        let wrap = [0, 2 | 2 << 3][rng.usize(..2)];
        let mut vertex = || {
            let w = if perspective {
                rng.f32() * 3.0 + 0.5
            } else {
                1.0
            };
            let [x, y, depth] = [(); 3].map(|()| (rng.f32() * 3.0 - 1.5) * w);
            let [s, t] = [(); 2].map(|()| match tame {
                true => rng.f32() * 0.8 + 0.1,
                false => [rng.f32() * 8.0 - 4.0, -0.0, 1e-40, f32::NAN][rng.usize(..4)],
            });
            let z = [rng.f32() * 2.0 - 0.5, 1.0, 0.0, 1e-39][rng.usize(..4)];
            let divisor = if rng.bool() { 1.0 } else { rng.f32() + 0.9 };
            ([x, y, depth / 2.0, w], [s, t, z, divisor])
        };
        let mut vertices: Vec<Vertex> = (0..corners).map(|_| vertex()).collect();
        if corners == 4 {
            // Two triangles side by side, of whose pixels none is in both.
            for (n, ([x, y, _, w], _)) in vertices.iter_mut().enumerate() {
                (*x, *y) = (x.abs().copysign(n as f32 % 2.0 - 0.5), y.abs());
                *y = y.copysign(n as f32 - 1.5);
                *w = w.abs();
            }
        }
        if rng.bool() {
            // The same factor at all vertices, and the same divisor.
            let [.., z, w] = vertices[0].1;
            vertices.iter_mut().for_each(|(_, p)| (p[2], p[3]) = (z, w));
        }
        Self {
            form,
            projected: rng.bool(),
            input,
            // 1D tiled. 8_8_8_8; RGBA or BGRA; BLEND_CLAMP. Or 32 bits of float, to see all bits.
            info: match rng.u32(..4) {
                // Those of a product with 1 are the factor's, too.
                n if n == 0 || format == FLOAT_32 => FLOAT_32 << 2 | 2 << 8 | 7 << 12,
                _ => 0x1A << 2 | 2 << 8 | rng.u32(..2) << 16 | 1 << 20,
            },
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
            depth: rng.bool(),
            clip: (rng.u32(..4) == 0).then(|| [(); 4].map(|()| rng.u32(..65))),
            samples: if rng.u32(..4) == 0 { 0xF0F } else { u32::MAX },
            second: [None, None, None, Some(false), Some(true)][rng.usize(..5)],
            alpha_test: rng.u32(..8) == 0,
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
                .map(|chan| op2(OR_INT, result, chan, same(chan), same(chan), chan == 3));
            ps.alu(0x08, &all, &[]);
        }
        ps.export(PIXEL, 0, result, self.select, true);
        ps
    }

    /// Draws, and returns the bytes of targets and depth buffer and how often the pixel shader ran, and
    /// the numbers of tiles on the short path and of those for two polygons.
    fn draw(&self, s: &mut Scene, detour: bool) -> (Vec<u8>, [u64; 2]) {
        let count = |s: &Scene| {
            let counters = s.rig.chip.counters();
            [Counter::ShortTiles, Counter::PairTiles].map(|counter| counters.get(counter))
        };
        let before = count(s);
        s.rig.ib(COLOUR, &noise(BYTES / 4, 7));
        s.rig.ib(DEPTH, &vec![f(0.7); BYTES / 4]);
        depth_buffer(
            s,
            if self.depth { D32F } else { 0 },
            Z_ENABLE | Z_WRITE | LESS,
        );
        s.rig
            .ib(TEXTURE, &noise((SIDE * SIDE) as usize, self.texels));
        // Pixels in rectangle 0 are drawn: the odd numbers.
        let [x0, y0, x1, y1] = self.clip.unwrap_or_default();
        s.set(0x2_820C, if self.clip.is_some() { 0xAAAA } else { 0xFFFF });
        s.set(0x2_8210, x0 | y0 << 16);
        s.set(0x2_8214, x1 | y1 << 16);
        s.set(0x2_8C48, self.samples);
        // GREATER 0.5
        s.set(0x2_8410, if self.alpha_test { 4 | 1 << 3 } else { 0 });
        s.set(0x2_8438, f(0.5));
        s.set(0x2_80A0, self.info);
        s.rig.ib(SECOND, &noise(BYTES / 4, 9));
        s.set(0x2_8044, (SECOND >> 8) as u32);
        s.set(0x2_8064, (WIDTH / 8 - 1) | (WIDTH * HEIGHT / 64 - 1) << 10);
        s.set(0x2_80A4, 0x1A << 2 | 2 << 8);
        let masks = if self.second.is_some() { 0xF0 } else { 0 };
        s.set(0x2_8238, self.mask | masks);
        s.set(0x2_823C, 0xF | masks);
        s.set(0x2_8644, 1 | self.input);
        // FLAT_SHADE_ENA
        s.set(0x2_86D4, 1);
        s.set(0x2_8804, self.blend.unwrap_or(0));
        let multiwrite = u32::from(self.second == Some(true)) << 1;
        let blends = u32::from(self.blend.is_some()) << 8;
        s.set(0x2_8808, 0xCC << 16 | blends | multiwrite);
        s.texture(self.texture, [self.sampler, 0, 0]);
        let start = s.shader(&self.shader(detour));
        s.set(START_PS, start);
        let results = s.results();
        s.event(SAMPLE_PIPELINESTAT, 2, Some(results));
        s.event(ZPASS_DONE, 1, Some(results + 128));
        let kind = match self.vertices.len() {
            3 => TRIANGLES,
            _ => TRIANGLE_STRIP,
        };
        s.draw_vertices(kind, &self.vertices);
        s.event(SAMPLE_PIPELINESTAT, 2, Some(results + 64));
        s.event(ZPASS_DONE, 1, Some(results + 160));
        s.finish();
        // How often the pixel shader ran, the first of the statistics, and samples that passed.
        let counted =
            |at: u64, from: u64| s.rig.mc_u64(results + at) - s.rig.mc_u64(results + from);
        let counts = [counted(64, 0), counted(160, 128)].map(u64::to_le_bytes);
        let (colour, depth) = (s.rig.bytes(COLOUR, BYTES), s.rig.bytes(DEPTH, BYTES));
        let second = s.rig.bytes(SECOND, BYTES);
        let bytes = [colour, depth, second, counts.concat()].concat();
        let after = count(s);
        (bytes, [0, 1].map(|n| after[n] - before[n]))
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
        let case = Case::random(&mut rng, 3);
        let (general, none) = case.draw(&mut scene, true);
        assert_eq!(none, [0; 2], "{n}: {case:?}");
        let (bytes, [short, _]) = case.draw(&mut scene, false);
        let wrong = bytes.iter().zip(&general).filter(|(a, b)| a != b).count();
        assert_eq!(wrong, 0, "{n}: {case:?}");
        cases[case.form as usize][usize::from(case.blend.is_some())] += short;
    }
    // Each form took the path, with and without blending.
    for (form, tiles) in cases.iter().enumerate() {
        assert!(tiles.iter().all(|tiles| *tiles > 100), "{form}: {tiles:?}");
    }
}

#[test]
fn pairs_have_the_interpreters_bytes() {
    let mut rng = fastrand::Rng::with_seed(34);
    let mut scene = scene();
    // Of each form, without and with a depth buffer; side by side, and in strips that fold.
    let mut cases = [[[0; 2]; 2]; 4];
    let mut by_level = 0;
    for n in 0..600 {
        if n % 50 == 0 {
            scene = crate::rig::scene::scene();
        }
        let corners = 4 + rng.usize(..2) * rng.usize(1..5);
        let case = Case::random(&mut rng, corners);
        let (general, none) = case.draw(&mut scene, true);
        assert_eq!(none, [0; 2], "{n}: {case:?}");
        let (bytes, [short, pairs]) = case.draw(&mut scene, false);
        let wrong = bytes.iter().zip(&general).filter(|(a, b)| a != b).count();
        assert_eq!(wrong, 0, "{n}: {case:?}");
        cases[case.form as usize][usize::from(case.depth)][usize::from(corners != 4)] += pairs;
        // The filter depends on the level of detail, and with it on the other pixels of a quad.
        if case.form != Form::Input && case.sampler & LINEAR == MIN_LINEAR {
            assert_eq!(pairs, 0, "{n}: {case:?}");
            by_level += short;
        }
    }
    assert!(by_level > 100, "{by_level}");
    for (form, tiles) in cases.iter().enumerate() {
        assert!(
            tiles.iter().flatten().all(|tiles| *tiles > 10),
            "{form}: {tiles:?}"
        );
    }
}
