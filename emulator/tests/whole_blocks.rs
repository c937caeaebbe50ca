// SPDX-License-Identifier: MIT
//! Squares whose bytes are moved in long runs of memory get the same bytes as tiles.

// Register values are written field by field.
#![allow(clippy::precedence, clippy::identity_op, clippy::erasing_op)]

use crate::rig::scene::*;
use crate::rig::shader::*;
use crate::rig::{config, strict_config, Rig};
use r7xx_board::chip::counters::Counter;
use r7xx_board::chip::gfx::Pipeline;

/// Width and height of target and texture: 3 by 3 squares, of which the last are cut.
const SIDE: u32 = 160;
/// Pixels in a row of memory.
const PITCH: u32 = 192;
const BYTES: usize = (PITCH * PITCH * 4) as usize;
const TARGET: u64 = 0x60_0000;
const TEXTURE: u64 = 0x68_0000;
const BUFFER: u64 = 0x70_0000;
/// `ARRAY_MODE`.
const ONE_D: u32 = 2;
const TWO_D: u32 = 4;
/// Events.
const ZPASS_DONE: u8 = 0x15;
const SAMPLE_PIPELINESTAT: u8 = 0x1E;
/// A register of the tiling: 2 pipes; 4 or 8 banks; groups of 256 or 512 bytes.
const GEOMETRIES: [u32; 3] = [1 << 1, 1 << 1 | 1 << 4, 1 << 1 | 1 << 6];

/// How a draw reaches memory.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Path {
    /// By blocks, if it can.
    Blocks,
    /// Tile by tile: a strict board watches each access.
    Tiles,
    /// Pixel by pixel: the shader is longer, or the colours are interpolated.
    Pixels,
}

#[derive(Debug, Clone, Copy)]
enum Job {
    /// A copy from the texture, `distance` pixels away.
    Copy { distance: [f32; 2] },
    /// The target copies itself.
    Itself,
    /// Red and blue change places.
    Swapped,
    /// One colour, with or without a depth.
    Fill { depth: bool },
    /// Two columns of squares in two colours, by one thread.
    Two,
}

struct Result {
    colour: Vec<u8>,
    depth: Vec<u8>,
    /// Invocations of the pixel shader, and samples that passed.
    counts: [u64; 2],
    blocks: u64,
    tiles: u64,
}

fn draw(job: Job, mode: u32, geometry: u32, path: Path) -> Result {
    let config = match path {
        Path::Tiles => strict_config(),
        _ => config(None),
    };
    let threads = if matches!(job, Job::Two) { 1 } else { 2 };
    let mut s = Scene::new(Rig::with_gfx(config, Box::new(Pipeline::new(threads))));
    for (at, seed) in [(TARGET, 0), (TEXTURE, 1), (BUFFER, 2)] {
        let words: Vec<u32> = noise(BYTES / 4, 7).iter().map(|word| word ^ seed).collect();
        s.rig.ib(at, &words);
    }
    s.rig.write(0x98F0, geometry);
    let size = SIDE | SIDE << 16;
    for register in [0x2_8034, 0x2_8208, 0x2_8244] {
        s.set(register, size);
    }
    for register in [0x2_843C, 0x2_8440, 0x2_8444, 0x2_8448] {
        s.set(register, f(SIDE as f32 / 2.0));
    }
    let extent = (PITCH / 8 - 1) | (PITCH * PITCH / 64 - 1) << 10;
    s.set(0x2_8040, (TARGET >> 8) as u32);
    s.set(0x2_8060, extent);
    s.set(0x2_80A0, 0x1A << 2 | mode << 8);
    let results = s.results();
    s.event(ZPASS_DONE, 1, Some(results));
    let whole = |[u, v]: [f32; 2], colour: [f32; 4], job: Job| {
        let side = SIDE as f32;
        let corner = |x: f32, y: f32| {
            let parameter = match job {
                Job::Copy { .. } | Job::Itself | Job::Swapped => [
                    (x + 1.0) / 2.0 * side + u,
                    (y + 1.0) / 2.0 * side + v,
                    0.0,
                    0.0,
                ],
                Job::Fill { .. } | Job::Two => colour,
            };
            ([x, y, 0.0, 1.0], parameter)
        };
        [corner(-1.0, -1.0), corner(-1.0, 1.0), corner(1.0, -1.0)]
    };
    let detour = path == Path::Pixels;
    match job {
        Job::Copy { .. } | Job::Itself | Job::Swapped => {
            let (from, distance) = match job {
                Job::Copy { distance } => (TEXTURE, distance),
                Job::Itself => (TARGET, [0.0; 2]),
                _ => (TEXTURE, [0.0; 2]),
            };
            let [red, blue] = if matches!(job, Job::Swapped) {
                [2, 0]
            } else {
                [0, 2]
            };
            let words = [
                1 | mode << 3 | (PITCH / 8 - 1) << 8 | (PITCH - 1) << 19,
                (PITCH - 1) | 0x1A << 26,
                (from >> 8) as u32,
                0,
                red << 16 | 1 << 19 | blue << 22 | 3 << 25,
                0,
                2 << 30,
            ];
            s.texture(words, [0; 3]);
            let mut ps = Shader::new();
            ps.load_at_input(1, 2, 0);
            if detour {
                ps.alu(0x08, &[mov(1, 0, gpr(1, 0), true)], &[]);
            }
            ps.export(PIXEL, 0, 1, XYZW, true);
            let start = s.shader(&ps);
            s.set(START_PS, start);
            s.draw_vertices(RECTANGLES, &whole(distance, [0.0; 4], job));
        }
        Job::Fill { depth } => {
            if depth {
                const ALWAYS: u32 = 7;
                s.set(0x2_8000, extent);
                s.set(0x2_8004, 0);
                s.set(0x2_800C, (BUFFER >> 8) as u32);
                // 32 bits of float.
                s.set(0x2_8010, 6 | mode << 15);
                s.set(0x2_8800, 1 << 1 | 1 << 2 | ALWAYS << 4);
                // DEPTH_CLEAR_ENABLE
                s.set(0x2_8D0C, 1);
                s.set(0x2_802C, f(0.25));
            }
            s.set(0x2_8644, 1 | u32::from(!detour) << 10);
            s.draw_vertices(RECTANGLES, &whole([0.0; 2], [0.2, 0.4, 0.6, 0.8], job));
        }
        Job::Two => {
            s.set(0x2_8644, 1 | u32::from(!detour) << 10);
            let column = |n: f32, colour: [f32; 4]| {
                let x = |pixel: f32| pixel / (SIDE as f32 / 2.0) - 1.0;
                let (left, right) = (x(64.0 * n), x(64.0 * n + 64.0));
                let corner = |x: f32, y: f32| ([x, y, 0.0, 1.0], colour);
                [corner(left, -1.0), corner(left, 1.0), corner(right, -1.0)]
            };
            let both = [column(0.0, RED), column(1.0, GREEN)].concat();
            s.draw_vertices(RECTANGLES, &both);
        }
    }
    s.event(SAMPLE_PIPELINESTAT, 2, Some(results + 64));
    s.event(ZPASS_DONE, 1, Some(results + 32));
    s.finish();
    let counters = s.rig.chip.counters();
    let passed = [results, results + 32].map(|at| s.rig.mc_u64(at) & !(1 << 63));
    Result {
        counts: [s.rig.mc_u64(results + 64), passed[1] - passed[0]],
        colour: s.rig.bytes(TARGET, BYTES),
        depth: s.rig.bytes(BUFFER, BYTES),
        blocks: counters.get(Counter::WholeBlocks),
        tiles: counters.get(Counter::WholeTiles),
    }
}

/// Draws `job` on all paths and compares. Returns the blocks of the first.
fn check(job: Job, mode: u32, geometry: u32) -> u64 {
    let [blocks, tiles, pixels] =
        [Path::Blocks, Path::Tiles, Path::Pixels].map(|path| draw(job, mode, geometry, path));
    let what = format!("{job:?} mode {mode} geometry {geometry:#x}");
    assert!(blocks.colour == pixels.colour, "{what}: colour, blocks");
    assert!(blocks.depth == pixels.depth, "{what}: depth, blocks");
    assert!(tiles.colour == pixels.colour, "{what}: colour, tiles");
    assert!(tiles.depth == pixels.depth, "{what}: depth, tiles");
    assert_eq!([blocks.counts, tiles.counts], [pixels.counts; 2], "{what}");
    assert!(pixels.counts[0] != 0 && pixels.counts[0] == pixels.counts[1]);
    assert_eq!((tiles.blocks, pixels.blocks), (0, 0), "{what}");
    assert_eq!((blocks.tiles, pixels.tiles), (tiles.tiles, 0), "{what}");
    // 160 pixels are 20 tiles.
    let columns = if matches!(job, Job::Two) { 16 } else { 20 };
    assert!(blocks.tiles >= columns * 20, "{what}");
    blocks.blocks
}

#[test]
fn fills_of_squares_are_runs() {
    for depth in [false, true] {
        let job = Job::Fill { depth };
        assert_eq!(check(job, ONE_D, GEOMETRIES[0]), 4);
        assert_eq!(check(job, TWO_D, GEOMETRIES[0]), 4);
        assert_eq!(check(job, TWO_D, GEOMETRIES[1]), 4);
        // A group has two tiles, of different macro tiles.
        assert_eq!(check(job, TWO_D, GEOMETRIES[2]), 0);
    }
}

#[test]
fn copies_of_squares_are_runs() {
    for (distance, blocks) in [
        ([0.0; 2], [4, 4]),
        // Whole tiles. In 2D, pipes and banks differ.
        ([8.0, 16.0], [4, 0]),
        ([3.0, 0.0], [0, 0]),
        ([0.0, 5.0], [0, 0]),
    ] {
        let job = Job::Copy { distance };
        assert_eq!(check(job, ONE_D, GEOMETRIES[0]), blocks[0], "{distance:?}");
        assert_eq!(check(job, TWO_D, GEOMETRIES[1]), blocks[1], "{distance:?}");
    }
    let job = Job::Copy { distance: [0.0; 2] };
    assert_eq!(check(job, TWO_D, GEOMETRIES[2]), 0);
}

#[test]
fn squares_that_are_not_in_the_same_order_are_copied_by_tile() {
    // Whole macro tiles, but pipes and banks are others.
    for distance in [[32.0, 0.0], [0.0, 16.0], [0.0, 32.0]] {
        let job = Job::Copy { distance };
        assert_eq!(check(job, TWO_D, GEOMETRIES[0]), 0, "{distance:?}");
    }
    assert_eq!(check(Job::Swapped, ONE_D, GEOMETRIES[0]), 0);
    // Memory that is read and written.
    assert_eq!(check(Job::Itself, ONE_D, GEOMETRIES[0]), 0);
}

#[test]
fn each_polygon_fills_with_its_own_colour() {
    assert_eq!(check(Job::Two, ONE_D, GEOMETRIES[0]), 4);
    assert_eq!(check(Job::Two, TWO_D, GEOMETRIES[1]), 4);
}
