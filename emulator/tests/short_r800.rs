// SPDX-License-Identifier: MIT
//! [`short`](crate::short) for shaders of Evergreen and Cayman, which interpolate their inputs themselves.

use crate::rig::r800::{op2, Code, Operand};
use crate::rig::scene::*;
use crate::rig::{config, Rig};
use crate::short::Form;
use r7xx_board::chip::counters::Counter;
use r7xx_board::chip::gfx::shader::Isa;
use r7xx_board::chip::gfx::Pipeline;
use r7xx_board::chip::regs::evergreen::gfx as eg;
use r7xx_board::chip::{ChipConfig, Family};

const TEXTURE: u64 = 0x68_0000;
const BYTES: usize = (WIDTH * HEIGHT * 4) as usize;

const MUL_IEEE: u32 = 0x02;
const MOV: u32 = 0x19;
const OR_INT: u32 = 0x31;
const RECIP_IEEE: u32 = 0x86;
const INTERP_XY: u32 = 0xD6;
const INTERP_ZW: u32 = 0xD7;
/// Operands: parameter 0, and 0.0.
const PARAMETER: Operand = (448, 0);
const ZERO: Operand = (248, 0);

/// `SPI_BARYC_CNTL`: pairs of weights at the centre with perspective, at the centroid with it, and at the
/// centre without, in R0.xy, R0.zw and R1.xy.
const PAIRS: u32 = 1 | 1 << 4 | 1 << 16;

/// Modifiers: negated and absolute operands, the result times two, and clamped.
const MODIFIERS: [[u32; 2]; 6] = [
    [1 << 12, 0],
    [1 << 25, 0],
    [0, 1],
    [0, 1 << 1],
    [0, 1 << 5],
    [0, 1 << 31],
];

/// Where the shader takes its weights from.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Weights {
    /// Of this pair: 0 to 2.
    Pair(u32),
    /// The first of one pair, and the second of another.
    Mixed,
    /// The face is in their register.
    Overwritten,
}

#[derive(Debug, Clone)]
struct Case {
    form: Form,
    weights: Weights,
    projected: bool,
    /// Bits of the first product's two words: a modifier of an operand or of the result.
    modifier: Option<[u32; 2]>,
    /// The vertices are points, which get their coordinates instead of the parameter.
    sprites: bool,
    /// `SPI_PS_INPUT_CNTL_0`: flat; a semantic that no vertex has; values of that.
    input: u32,
    blend: bool,
    /// The target has 32 bits of float, to see all bits of red.
    float: bool,
    vertices: Vec<Vertex>,
    /// Word 0 of the sampler.
    sampler: u32,
    texels: u64,
}

impl Case {
    fn random(rng: &mut fastrand::Rng) -> Self {
        let weights = match rng.u32(..8) {
            0 => Weights::Mixed,
            1 => Weights::Overwritten,
            n => Weights::Pair(n % 3),
        };
        // Semantic 1 is the vertices' parameter, 2 none; FLAT_SHADE; DEFAULT_VAL.
        let input = match rng.u32(..8) {
            0 => 1 | 1 << 10,
            1 => 2 | rng.u32(..4) << 8,
            _ => 1,
        };
        let (perspective, tame) = (rng.bool(), rng.u32(..4) != 0);
        let mut vertex = || {
            let w = if perspective {
                rng.f32() * 3.0 + 0.5
            } else {
                1.0
            };
            let [x, y, z] = [(); 3].map(|()| (rng.f32() * 3.0 - 1.5) * w);
            let value = |rng: &mut fastrand::Rng| match tame {
                true => rng.f32() * 0.8 + 0.1,
                false => [rng.f32() * 8.0 - 4.0, -0.0, 1e-40, f32::NAN, 1e-39, 1.0][rng.usize(..6)],
            };
            let [s, t, factor] = [(); 3].map(|()| value(rng));
            ([x, y, z / 2.0, w], [s, t, factor, rng.f32() + 0.9])
        };
        let mut vertices: Vec<Vertex> = (0..3).map(|_| vertex()).collect();
        match rng.u32(..6) {
            // The same values at all vertices.
            0 | 1 => {
                let same = vertices[0].1;
                vertices.iter_mut().for_each(|(_, p)| *p = same);
            }
            // The sign of 0 is kept.
            2 => vertices.iter_mut().for_each(|(_, p)| *p = [-0.0; 4]),
            _ => {}
        }
        Self {
            form: [Form::Input, Form::Texel, Form::Product, Form::Alpha][rng.usize(..4)],
            weights,
            projected: rng.bool(),
            modifier: (rng.u32(..4) == 0).then(|| MODIFIERS[rng.usize(..MODIFIERS.len())]),
            sprites: rng.u32(..8) == 0,
            input,
            blend: rng.bool(),
            float: rng.bool(),
            vertices,
            sampler: [0, 2 | 2 << 3][rng.usize(..2)] | [0, 1 << 9 | 1 << 12][rng.usize(..2)],
            texels: rng.u64(..),
        }
    }

    /// Whether the shader has the modifier.
    fn modified(&self) -> bool {
        self.modifier.is_some() && matches!(self.form, Form::Product | Form::Alpha)
    }

    /// Whether the short path can have it.
    fn fits(&self) -> bool {
        matches!(self.weights, Weights::Pair(_)) && !self.modified() && !self.sprites
    }

    /// The operand that has weight I (0) or J (1).
    fn weight(&self, which: u32) -> Operand {
        match self.weights {
            Weights::Pair(pair) => (pair / 2, pair % 2 * 2 + which),
            Weights::Mixed => (which, which),
            Weights::Overwritten => (0, which),
        }
    }

    /// The pixel shader. With `detour` it has one more instruction, which rules the path out.
    fn shader(&self, isa: Isa, detour: bool) -> Code {
        // R4 = the parameter.
        let mut slots = Vec::new();
        for (code, first) in [(INTERP_ZW, 2), (INTERP_XY, 0)] {
            slots.extend((0..4).map(|chan| {
                let dst = (first..first + 2).contains(&chan).then_some(4);
                op2(
                    code,
                    dst,
                    chan,
                    self.weight(1 - chan % 2),
                    PARAMETER,
                    chan == 3,
                )
            }));
        }
        if self.projected && self.form != Form::Input && isa == Isa::R800 {
            slots.push(op2(RECIP_IEEE, Some(3), 3, (4, 3), ZERO, true));
            slots.extend(
                [0, 1].map(|chan| op2(MUL_IEEE, Some(1), chan, (4, chan), (3, 3), chan == 1)),
            );
        } else {
            slots.extend([0, 1].map(|chan| op2(MOV, Some(1), chan, (4, chan), ZERO, chan == 1)));
        }
        let mut code = Code::new(isa).alu(8, &slots);
        let times = |chan| op2(MUL_IEEE, Some(3), chan, (2, chan), (4, 2), chan == 3);
        let moved = |chan| op2(MOV, Some(3), chan, (4, chan), ZERO, false);
        let mut result = 4;
        if self.form != Form::Input {
            // R2 = the texel at R1.xy.
            code = code.sample(0x10, 0);
            result = 2;
        }
        let slots = match self.form {
            Form::Product => Some([times(0), times(1), times(2), times(3)]),
            Form::Alpha => Some([moved(0), moved(1), moved(2), times(3)]),
            Form::Input | Form::Texel => None,
        };
        if let Some(mut slots) = slots {
            if let Some(bits) = self.modifier {
                // The last is a product in both forms.
                slots[3] = [slots[3][0] | bits[0], slots[3][1] | bits[1]];
            }
            code = code.alu(8, &slots);
            result = 3;
        }
        if detour {
            let same = |chan| (result, chan);
            let slots = [0, 1, 2, 3].map(|chan| {
                op2(
                    OR_INT,
                    Some(result),
                    chan,
                    same(chan),
                    same(chan),
                    chan == 3,
                )
            });
            code = code.alu(8, &slots);
        }
        code.export(0, 0, result)
    }

    /// Draws; returns the target's bytes and the number of tiles on the short path.
    fn draw(&self, s: &mut Scene, isa: Isa, detour: bool) -> (Vec<u8>, u64) {
        let count = |s: &Scene| s.rig.chip.counters().get(Counter::ShortTiles);
        let before = count(s);
        s.rig.ib(COLOUR, &noise(BYTES / 4, 7));
        s.rig.ib(TEXTURE, &noise(BYTES / 4, self.texels));
        s.set(eg::SPI_BARYC_CNTL, PAIRS);
        // PT_SPRITE_TEX
        s.set(
            eg::SPI_PS_INPUT_CNTL_0,
            self.input | u32::from(self.sprites) << 17,
        );
        // FLAT_SHADE_ENA, PNT_SPRITE_ENA; s, t, 0, 1. Points of 20 pixels.
        let sprites = 1 << 1 | 2 << 2 | 3 << 5 | 1 << 11;
        s.set(0x2_86D4, 1 | u32::from(self.sprites) * sprites);
        s.set(0x2_8A00, 160 | 160 << 16);
        // FRONT_FACE_ENA, in all bits of R0.x.
        let overwritten = self.weights == Weights::Overwritten;
        s.set(
            eg::SPI_PS_IN_CONTROL_1,
            u32::from(overwritten) << 8 | u32::from(overwritten) << 11,
        );
        let info = if self.float {
            0x0E << 2 | 7 << 12
        } else {
            0x1A << 2 | 1 << 19
        };
        s.set(eg::CB_COLOR0_INFO, info | 1 << 8);
        // SRC_ALPHA and ONE_MINUS_SRC_ALPHA.
        let blend = if self.blend { 1 << 30 | 4 | 5 << 8 } else { 0 };
        s.set(eg::CB_BLEND0_CONTROL, blend);
        let texture = [
            1 | (WIDTH / 8 - 1) << 6 | (WIDTH - 1) << 18,
            (HEIGHT - 1) | 2 << 28,
            (TEXTURE >> 8) as u32,
            (TEXTURE >> 8) as u32,
            1 << 19 | 2 << 22 | 3 << 25,
            0,
            0,
            0x1A | 2 << 30,
        ];
        for (register, word) in (0x3_0000..).step_by(4).zip(texture) {
            s.set(register, word);
        }
        for (n, word) in (0..).zip([self.sampler, 0, 0]) {
            s.set(0x3_C000 + 4 * n, word);
        }
        let start = s.shader_words(&self.shader(isa, detour).words());
        s.set(eg::SQ_PGM_START_PS, start);
        let kind = if self.sprites { POINTS } else { TRIANGLES };
        s.draw_vertices(kind, &self.vertices);
        s.finish();
        (s.rig.bytes(COLOUR, BYTES), count(s) - before)
    }
}

/// The numbers of the first two that are true.
fn only(reasons: [bool; 3]) -> [Option<usize>; 2] {
    let mut numbers = (0..3).filter(|n| reasons[*n]);
    [numbers.next(), numbers.next()]
}

fn scene_of(family: Family, isa: Isa) -> Scene {
    let config = ChipConfig {
        family,
        ..config(None)
    };
    Scene::r800(Rig::with_gfx(config, Box::new(Pipeline::new(2))), isa)
}

#[test]
fn short_tiles_of_shaders_that_interpolate_have_the_interpreters_bytes() {
    for (family, isa) in [(Family::Turks, Isa::R800), (Family::Cayman, Isa::R900)] {
        let mut rng = fastrand::Rng::with_seed(35);
        let mut scene = scene_of(family, isa);
        let mut forms = [[0; 2]; 4];
        let mut pairs = [0; 3];
        // For the weights, a modifier, sprites.
        let mut refused = [0; 3];
        for n in 0..400 {
            if n % 50 == 0 {
                // Its memory for shaders and vertices is used up by and by.
                scene = scene_of(family, isa);
            }
            let case = Case::random(&mut rng);
            let (general, none) = case.draw(&mut scene, isa, true);
            assert_eq!(none, 0, "{family}, {n}: {case:?}");
            let (bytes, short) = case.draw(&mut scene, isa, false);
            let wrong = bytes.iter().zip(&general).filter(|(a, b)| a != b).count();
            assert_eq!(wrong, 0, "{family}, {n}: {case:?}");
            assert!(short == 0 || case.fits(), "{family}, {n}: {case:?}");
            let drawn = general.chunks(4).zip(noise(BYTES / 4, 7));
            let drawn = drawn.filter(|(a, b)| **a != b.to_le_bytes()).count();
            let weights = !matches!(case.weights, Weights::Pair(_));
            let reasons = [weights, case.modified(), case.sprites];
            if let ([Some(reason), None], true) = (only(reasons), drawn > 100) {
                refused[reason] += 1;
            }
            forms[case.form as usize][usize::from(case.blend)] += short;
            if let Weights::Pair(pair) = case.weights {
                pairs[pair as usize] += short;
            }
        }
        // Each form took the path, with and without blending, and with each pair.
        assert!(
            forms.iter().flatten().all(|tiles| *tiles > 100),
            "{family}: {forms:?}"
        );
        assert!(
            pairs.iter().all(|tiles| *tiles > 100),
            "{family}: {pairs:?}"
        );
        assert!(
            refused.iter().all(|draws| *draws > 5),
            "{family}: {refused:?}"
        );
    }
}
