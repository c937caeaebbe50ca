// SPDX-License-Identifier: MIT
//! Inputs of Cayman's draws: R900's encoding, Cayman's registers, descriptors of eight dwords.
//!
//! Words are composed as Mesa's `eg_asm.c` does it, with the fields of `eg_sq.h` and `evergreend.h`.

use r7xx_board::chip::bus::Mc;
use r7xx_board::chip::gfx::cayman::FRONT;
use r7xx_board::chip::gfx::shader::{Isa, Options};
use r7xx_board::chip::gfx::{Gfx, GfxStatistics};
use r7xx_board::chip::regs::evergreen::gfx as eg;

use super::super::r800::{op2, passing, sampling, state, vertex_shader, Code};
use super::super::shader::{HALF, ONE, ZERO};
use super::super::state::{COLOUR, DEPTH, HEIGHT, POINTS, RECTANGLES, SHADERS, TRIANGLES, WIDTH};
use super::{draw_of, triangle, Machine, DRAW, LIMITS, REGISTER, SHADER, WORDS};

/// How [`super::shader`] decodes Cayman's shaders.
pub const OPTIONS: Options = Options {
    dx10_clamp: true,
    isa: Isa::R900,
};

/// Stages that an input can replace the shader of, by number.
const STARTS: [(u32, u64); 7] = [
    (eg::SQ_PGM_START_VS, SHADERS),
    (eg::SQ_PGM_START_PS, SHADERS + 0x1000),
    (eg::SQ_PGM_START_ES, SHADERS + 0x2000),
    (eg::SQ_PGM_START_GS, SHADERS + 0x3000),
    (eg::SQ_PGM_START_HS, SHADERS + 0x4000),
    (eg::SQ_PGM_START_LS, SHADERS + 0x5000),
    (eg::SQ_PGM_START_FS, SHADERS + 0x6000),
];
const PS: u8 = 1;

/// Place of a texture.
const TEXELS: u64 = 0x30_0000;

/// Registers outside of the windows that [`register`] names.
const OTHERS: [u32; 12] = [
    0x8958, 0x8974, 0x8C40, 0x8C44, 0x8C48, 0x8C4C, 0x98F8, 0xA400, 0xA404, 0xA408, 0x3_CFF0,
    0x3_CFF4,
];

/// The register that number `n` of an input means.
fn register(n: u16) -> u32 {
    let at = u32::from(n & 0xFFF) * 4;
    match n >> 12 {
        // Context state
        0..=7 => 0x2_8000 + at % 0x1000,
        // Resources of all stages, then samplers, then loop and boolean constants
        8..=11 => 0x3_0000 + u32::from(n & 0x3FFF) * 4 % 0x8000,
        12..=13 => 0x3_C000 + at % (108 * 12),
        14 => 0x3_A200 + at % 0x318,
        _ => OTHERS[usize::from(n) % OTHERS.len()],
    }
}

/// What an input has done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Drawn {
    pub statistics: GfxStatistics,
    /// The first row of the target.
    pub row: Vec<u8>,
    /// The first dword of the depth buffer.
    pub depth: u32,
}

/// Executes the commands of `data` on a Cayman's pipeline whose state draws a triangle in one colour.
pub fn draw(data: &[u8]) -> Drawn {
    let machine = Machine {
        front: &FRONT,
        limits: LIMITS,
        registers: state(0),
        memory: vec![
            (STARTS[0].1, vertex_shader(Isa::R900).words()),
            (STARTS[1].1, passing(Isa::R900).words()),
            triangle(),
        ],
        register,
        starts: &STARTS,
        work: draw_of,
    };
    let done = machine.execute(data);
    let mut row = vec![0; 4 * WIDTH as usize];
    let mut depth = [0; 4];
    // Both are in memory.
    let _ = done.memory.read(COLOUR, &mut row);
    let _ = done.memory.read(DEPTH, &mut depth);
    Drawn {
        statistics: done.pipeline.statistics(),
        row,
        depth: u32::from_le_bytes(depth),
    }
}

/// A pixel shader that samples the texture whose number is in `CF_IDX0`, which its first clause loads with 0.
fn indexed() -> Code {
    // MOVA_INT: DST_GPR names the register.
    let [a, b] = op2(0xCC, None, 0, (ZERO, 0), (ZERO, 0), true);
    (Code::new(Isa::R900)
        .alu(8, &[[a, b | 2 << 21]])
        .interpolated())
    // RESOURCE_INDEX_MODE and SAMPLER_INDEX_MODE
    .sample(0x10, 1 << 25 | 1 << 27)
    .export(0, 0, 2)
}

/// A pixel shader that discards pixels on one side of a diagonal.
fn killing() -> Code {
    const KILLGT: u32 = 0x2D;
    let kill = op2(KILLGT, None, 0, (0, 0), (0, 1), true);
    (Code::new(Isa::R900).alu(8, &[kill]).interpolated()).export(0, 0, 1)
}

/// A pixel shader with operations that take three and four slots: `RECIP_IEEE`, `SIN`, `MULLO_INT`, and
/// `MUL_64` of doubles.
fn wide() -> Code {
    let slots: Vec<_> = [(0x86, 3, 2), (0x8D, 3, 3), (0x8F, 4, 4)]
        .into_iter()
        .flat_map(|(code, count, dst)| {
            (0..count)
                .map(move |chan| op2(code, Some(dst), chan, (1, 0), (1, 1), chan + 1 == count))
        })
        .collect();
    let double: Vec<_> = (0..4)
        .map(|chan| {
            let dst = (chan < 2).then_some(5);
            let word = u32::from(chan < 3);
            op2(0xCA, dst, chan, (1, word), (1, 2 + word), chan == 3)
        })
        .collect();
    (Code::new(Isa::R900).interpolated())
        .alu(8, &slots)
        .alu(8, &double)
        .export(0, 0, 2)
}

/// A shader of loops and branches: four turns of loop constant 0, in each a branch by a predicate, which
/// pushes and pops, and an address by `AR`.
fn looping() -> Code {
    const PRED_SETGT: u32 = 0x21;
    const ADD: u32 = 0x00;
    let [a, b] = op2(PRED_SETGT, None, 0, (1, 0), (HALF, 0), true);
    // UPDATE_EXEC_MASK and UPDATE_PRED
    let test = [a, b | 1 << 2 | 1 << 3];
    let mova = op2(0xCC, None, 0, (ZERO, 0), (ZERO, 0), true);
    // R1[AR].x -= 1.0: SRC0_REL, SRC1_NEG, DST_REL.
    let [a, b] = op2(ADD, Some(1), 0, (1, 0), (ONE, 0), true);
    let add = [a | 1 << 9 | 1 << 25, b | 1 << 28];
    (Code::new(Isa::R900).interpolated())
        // LOOP_START, JUMP over the clause, ELSE, POP, LOOP_END
        .cf(0x04, 7, 0)
        .alu(9, &[test])
        .cf(0x0A, 5, 1)
        .alu(8, &[mova, add])
        .cf(0x0E, 6, 1)
        .cf(0x05, 2, 0)
        .export(0, 0, 1)
}

/// Inputs of [`super::shader`] that execute instructions, by name.
pub fn shader_seeds() -> Vec<(&'static str, Vec<u8>)> {
    [
        ("vertex", vertex_shader(Isa::R900)),
        ("passing", passing(Isa::R900)),
        ("sampling", sampling(Isa::R900, 0x10)),
        ("gathering", sampling(Isa::R900, 0x15)),
        ("indexed", indexed()),
        ("killing", killing()),
        ("wide", wide()),
        ("looping", looping()),
    ]
    .map(|(name, code)| {
        let bytes = code.words().iter().flat_map(|w| w.to_le_bytes()).collect();
        (name, bytes)
    })
    .into()
}

/// Inputs of [`draw`] that draw pixels, by name.
pub fn seeds() -> Vec<(&'static str, Vec<u8>)> {
    fn set(register: u32, value: u32) -> Vec<u8> {
        let number = match register {
            0x2_8000..=0x2_8FFF => (register - 0x2_8000) / 4,
            0x3_0000..=0x3_7FFF => 8 << 12 | (register - 0x3_0000) / 4,
            0x3_A200..=0x3_A517 => 14 << 12 | (register - 0x3_A200) / 4,
            _ => 12 << 12 | (register - 0x3_C000) / 4,
        };
        let [low, high, ..] = number.to_le_bytes();
        let mut bytes = vec![REGISTER, low, high];
        bytes.extend(value.to_le_bytes());
        bytes
    }
    fn pixel_shader(code: &Code) -> Vec<u8> {
        let words = code.words();
        let mut bytes = vec![SHADER, PS, words.len() as u8];
        bytes.extend(words.iter().flat_map(|word| word.to_le_bytes()));
        bytes
    }
    let draw = |kind: u32| vec![DRAW, kind as u8, 0, 3, 0, 2];
    let depth = [
        // 32_FLOAT, 1D tiled; DB_Z_READ_BASE, DB_Z_WRITE_BASE.
        set(eg::DB_Z_INFO, 3 | 2 << 4),
        set(0x2_8048, (DEPTH >> 8) as u32),
        set(eg::DB_Z_WRITE_BASE, (DEPTH >> 8) as u32),
        set(eg::DB_DEPTH_SIZE, 7 | 7 << 11),
        set(eg::DB_DEPTH_SLICE, 63),
        // Z_ENABLE, Z_WRITE_ENABLE, always.
        set(eg::DB_DEPTH_CONTROL, 1 << 1 | 1 << 2 | 7 << 4),
        draw(TRIANGLES),
    ];
    let blend = [
        // By the target's alpha, which is 0 in memory: FORCE_DST_ALPHA_1.
        set(eg::CB_BLEND0_CONTROL, 6 | 1 << 30),
        set(eg::CB_COLOR0_ATTRIB, 1 << 31),
        draw(POINTS),
        draw(RECTANGLES),
    ];
    // Four samples: CAYMAN_PA_SC_AA_CONFIG, the target's and the depth's numbers of samples.
    let samples = [
        set(0x2_8A48, 1),
        set(0x2_8BE0, 2 | 6 << 13 | 2 << 20),
        set(0x2_8BF8, 0x622A_E66A),
        set(eg::CB_COLOR0_INFO, 0x1A << 2 | 2 << 8),
        set(eg::CB_COLOR0_ATTRIB, 2 << 12 | 2 << 15),
        draw(TRIANGLES),
    ];
    // 2D, linear, 64x64 texels of 8_8_8_8, of which four are given.
    let texture: Vec<u8> = [
        1 | (WIDTH / 8 - 1) << 6 | (WIDTH - 1) << 18,
        (HEIGHT - 1) | 1 << 28,
        (TEXELS >> 8) as u32,
        (TEXELS >> 8) as u32,
        0o3210 << 16,
        0,
        0,
        0x1A | 2 << 30,
    ]
    .into_iter()
    .zip((0x3_0000..).step_by(4))
    .flat_map(|(word, register)| set(register, word))
    .collect();
    // The parameter leads to the first texel of row 32.
    let mut texels = vec![WORDS];
    texels.extend((((TEXELS + 32 * 256) / 128) as u16).to_le_bytes());
    texels.push(4);
    texels.extend(1..=16);
    let textured = |code: &Code| {
        [
            texture.clone(),
            texels.clone(),
            pixel_shader(code),
            draw(TRIANGLES),
        ]
        .concat()
    };
    let turns = [
        // Four turns from 0 on, by 1.
        set(0x3_A200, 4 | 1 << 24),
        pixel_shader(&looping()),
        draw(TRIANGLES),
    ];
    let drawn = |code: &Code| [pixel_shader(code), draw(TRIANGLES)].concat();
    vec![
        ("triangle", draw(TRIANGLES)),
        ("depth", depth.concat()),
        ("blend", blend.concat()),
        ("samples", samples.concat()),
        ("texture", textured(&sampling(Isa::R900, 0x10))),
        ("gather", textured(&sampling(Isa::R900, 0x15))),
        ("indexed", textured(&indexed())),
        ("kill", drawn(&killing())),
        ("wide", drawn(&wide())),
        ("turns", turns.concat()),
    ]
}
