// SPDX-License-Identifier: MIT
//! Surfaces: tiles that hardware has compressed and a driver forgets to expand, unknown array modes.

// Register values are written field by field.
#![allow(clippy::identity_op)]

use std::sync::{Arc, Mutex};

use crate::rig::scene::*;
use crate::rig::shader::*;
use crate::rig::{config, r800, strict_config, Rig};
use r7xx_board::chip::counters::Counter;
use r7xx_board::chip::gfx::lint::Lint;
use r7xx_board::chip::gfx::shader::Isa;
use r7xx_board::chip::gfx::{Gfx, Pipeline, Report};
use r7xx_board::chip::regs::evergreen::gfx as eg;
use r7xx_board::chip::{ChipConfig, Family};

const DB_RENDER_CONTROL: u32 = 0x2_8D0C;
/// `STENCIL_COMPRESS_DISABLE`, `DEPTH_COMPRESS_DISABLE`
const EXPAND: u32 = 3 << 5;
const CB_COLOR0_INFO: u32 = 0x2_80A0;
const CB_COLOR_CONTROL: u32 = 0x2_8808;
/// `TILE_SURFACE_ENABLE` of `DB_DEPTH_INFO`.
const TILE_SURFACE: u32 = 1 << 25;
const D32F: u32 = 6;
const ALL: [f32; 4] = [0.0, 0.0, 64.0, 64.0];

type Lines = Arc<Mutex<Vec<String>>>;

fn collect() -> (Lines, Report) {
    let lines = Lines::default();
    let sink = lines.clone();
    let report = move |line: &str| sink.lock().unwrap().push(line.to_string());
    (lines, Box::new(report))
}

fn scene_of(config: ChipConfig, gfx: Pipeline) -> Scene {
    let gfx: Box<dyn Gfx> = Box::new(gfx);
    Scene::new(Rig::with_gfx(config, gfx))
}

/// Draws depth of a 64x64 buffer, whose `DB_DEPTH_INFO` has `info` besides the format.
fn draw_depth(s: &mut Scene, info: u32) {
    depth_buffer(s, D32F | info, Z_ENABLE | Z_WRITE | ALWAYS);
    s.rectangle(ALL, 0.25, RED);
}

/// Draws with a shader that samples a 1D tiled 64x64 texture at `base`, in depth order if `depth`.
fn sample(s: &mut Scene, base: u64, format: u32, depth: bool) {
    s.set(0x2_8800, 0);
    let words = [
        1 | 2 << 3 | u32::from(depth) << 7 | 7 << 8 | 63 << 19,
        63 | format << 26,
        (base >> 8) as u32,
        0,
        1 << 19 | 2 << 22 | 3 << 25,
        0,
        2 << 30,
    ];
    s.texture(words, [0; 3]);
    let mut ps = Shader::new();
    ps.sample(1, 0, 0).export(PIXEL, 0, 1, XYZW, true);
    let start = s.shader(&ps);
    s.set(START_PS, start);
    s.rectangle([0.0, 0.0, 8.0, 8.0], 0.5, [0.5625, 0.5625, 0.0, 1.0]);
    s.finish();
}

fn sample_depth(s: &mut Scene) {
    sample(s, DEPTH, 0x0E, true);
}

/// What a report says of `draw`, and the lines of compressed tiles that were read.
fn reported(draw: impl Fn(&mut Scene)) -> (Vec<String>, u64) {
    let (lines, report) = collect();
    let mut s = scene_of(config(None), Pipeline::new(2).with_report(report));
    draw(&mut s);
    let count = s.rig.chip.counters().get(Counter::CompressedReads);
    let said = |line: &&String| line.contains("compressed");
    let lines = lines.lock().unwrap();
    (lines.iter().filter(said).cloned().collect(), count)
}

#[test]
fn depth_that_no_draw_has_expanded_is_found() {
    let (lines, count) = reported(|s| {
        draw_depth(s, TILE_SURFACE | 2 << 15);
        sample_depth(s);
        sample_depth(s);
    });
    let line = format!(
        "draw 2: a shader reads compressed tiles of the surface at {DEPTH:#x}, which no draw has expanded"
    );
    assert_eq!(lines, [line]);
    // The tile of the pixel that is sampled has four lines; both draws read it.
    assert_eq!(count, 2 * 4);
}

#[test]
fn depth_without_a_tile_surface_or_expanded_is_not() {
    let none = (Vec::new(), 0);
    let plain = reported(|s| {
        draw_depth(s, 2 << 15);
        sample_depth(s);
    });
    assert_eq!(plain, none);
    let expanded = reported(|s| {
        draw_depth(s, TILE_SURFACE | 2 << 15);
        s.set(0x2_8800, 0);
        s.set(DB_RENDER_CONTROL, EXPAND);
        s.rectangle(ALL, 0.0, RED);
        s.set(DB_RENDER_CONTROL, 0);
        sample_depth(s);
    });
    assert_eq!(expanded, none);
}

#[test]
fn an_expansion_that_leaves_tiles_out_is_found() {
    let (lines, count) = reported(|s| {
        draw_depth(s, TILE_SURFACE | 2 << 15);
        s.set(0x2_8800, 0);
        s.set(DB_RENDER_CONTROL, EXPAND);
        // The pixel that is sampled is in the other half.
        s.rectangle([0.0, 0.0, 32.0, 64.0], 0.0, RED);
        s.set(DB_RENDER_CONTROL, 0);
        sample_depth(s);
    });
    assert_eq!((lines.len(), count), (1, 4));
}

#[test]
fn the_depth_backend_needs_the_tile_surface_to_read_what_it_compressed() {
    let (lines, _) = reported(|s| {
        draw_depth(s, TILE_SURFACE | 2 << 15);
        depth_buffer(s, D32F, Z_ENABLE | LESS);
        s.rectangle(ALL, 0.5, RED);
        s.finish();
    });
    assert!(
        matches!(&lines[..], [line] if line.contains("the depth backend, without its tile surface")),
        "{lines:#?}"
    );
}

/// Draws on a 1D tiled target with `info` in `CB_COLOR0_INFO`, a draw with `special` in
/// `SPECIAL_OP` unless it is 0, and samples the target on another one.
fn sample_colour(s: &mut Scene, info: u32, special: u32) {
    s.set(CB_COLOR0_INFO, 0x1A << 2 | 2 << 8 | info);
    s.rectangle(ALL, 0.0, RED);
    if special != 0 {
        s.set(CB_COLOR_CONTROL, 0xCC << 16 | special << 4);
        s.rectangle(ALL, 0.0, GREEN);
        s.set(CB_COLOR_CONTROL, 0xCC << 16);
    }
    s.set(0x2_8040, (COLOUR >> 8) as u32 + 0x400);
    s.set(CB_COLOR0_INFO, 0x1A << 2 | 1 << 8);
    sample(s, COLOUR, 0x1A, false);
}

#[test]
fn samples_that_no_draw_has_expanded_are_found() {
    // TILE_MODE: FRAG_ENABLE
    const FRAGMENTS: u32 = 2 << 18;
    let counts = [(0, 0), (FRAGMENTS, 0), (FRAGMENTS, 5)]
        .map(|(info, special)| reported(|s| sample_colour(s, info, special)).1);
    assert_eq!(counts, [0, 4, 0]);
}

#[test]
fn a_strict_board_counts_and_a_lint_reports() {
    let forget = |s: &mut Scene| {
        draw_depth(s, TILE_SURFACE | 2 << 15);
        s.event(0x16, 0, None);
        sample_depth(s);
    };
    let mut s = scene_of(strict_config(), Pipeline::new(1));
    forget(&mut s);
    assert_eq!(s.rig.chip.counters().get(Counter::CompressedReads), 4);
    let mut s = scene_of(config(None), Pipeline::new(1));
    forget(&mut s);
    assert_eq!(s.rig.chip.counters().get(Counter::CompressedReads), 0);
    let (lines, report) = collect();
    let mut s = scene_of(config(None), Pipeline::new(1).with_lint(Lint::new(report)));
    forget(&mut s);
    assert!(lines.lock().unwrap()[0].contains("reads compressed tiles"));
}

/// Place of a mask for fast clears.
const CMASK: u64 = 0x78_0000;
/// 1D tiled; `FAST_CLEAR` of `CB_COLOR0_INFO`.
const TILED: u32 = 0x1A << 2 | 2 << 8;
const FAST_CLEAR: u32 = 1 << 17;

/// Between a clear and the texture's read.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Between {
    Nothing,
    /// A draw with this `MODE` of `CB_COLOR_CONTROL`.
    Draw(u32),
    /// The CPU writes to the whole surface.
    Cpu,
    /// The surface has no mask any more.
    NoMask,
    /// A depth buffer at the same place is drawn.
    Depth,
}

/// Clears a target by its mask, draws its left half, and samples it in column `x`. Returns what is reported,
/// the lines that are counted, and the pixel that was sampled.
fn fast_cleared(family: Family, isa: Isa, x: f32, between: Between) -> (Vec<String>, u64, [u8; 4]) {
    let (lines, report) = collect();
    let config = ChipConfig {
        family,
        ..config(None)
    };
    let gfx = Box::new(Pipeline::new(2).with_report(report));
    let mut s = Scene::r800(Rig::with_gfx(config, gfx), isa);
    s.rig.ib(COLOUR, &noise(64 * 64, 3));
    s.rig.ib(CMASK, &[0; 32]);
    s.set(eg::CB_COLOR0_CMASK, (CMASK >> 8) as u32);
    s.set(eg::CB_COLOR0_CLEAR_WORD0, u32::from_le_bytes(bytes(GREEN)));
    s.set(eg::CB_COLOR0_INFO, TILED | FAST_CLEAR);
    s.rectangle([0.0, 0.0, 32.0, 64.0], 0.5, RED);
    match between {
        Between::Nothing => {}
        Between::Draw(mode) => {
            s.set(0x2_8808, 0xCC << 16 | mode << 4);
            s.rectangle(ALL, 0.5, RED);
            s.set(0x2_8808, 0xCC << 16 | 1 << 4);
        }
        Between::Cpu => {
            s.finish();
            s.rig
                .ib(COLOUR, &[u32::from_le_bytes(bytes(BLUE)); 64 * 64]);
        }
        Between::NoMask => {
            s.finish();
            s.rig.ib(CMASK, &[u32::MAX; 32]);
        }
        Between::Depth => {
            s.set(eg::CB_COLOR0_INFO, 0);
            s.set(0x2_8040, 3 | 2 << 4); // DB_Z_INFO
            s.set(0x2_8048, (COLOUR >> 8) as u32);
            s.set(0x2_8050, (COLOUR >> 8) as u32);
            s.set(0x2_8058, 7 | 7 << 11); // DB_DEPTH_SIZE
            s.set(0x2_805C, 63);
            s.set(0x2_8800, Z_ENABLE | Z_WRITE | ALWAYS);
            s.rectangle(ALL, 0.25, RED);
            s.set(0x2_8800, 0);
        }
    }
    // Another target, linear.
    let target = COLOUR + 0x4_0000;
    s.set(eg::CB_COLOR0_BASE, (target >> 8) as u32);
    s.set(eg::CB_COLOR0_INFO, 0x1A << 2 | 1 << 8);
    let texture = [
        1 | (WIDTH / 8 - 1) << 6 | (WIDTH - 1) << 18,
        (HEIGHT - 1) | 2 << 28,
        (COLOUR >> 8) as u32,
        (COLOUR >> 8) as u32,
        1 << 19 | 2 << 22 | 3 << 25,
        0,
        0,
        0x1A | 2 << 30,
    ];
    for (register, word) in (0x3_0000..).step_by(4).zip(texture) {
        s.set(register, word);
    }
    (0..3).for_each(|n| s.set(0x3_C000 + 4 * n, 0));
    let ps = s.shader_words(&r800::sampling(isa, 0x10).words());
    s.set(eg::SQ_PGM_START_PS, ps);
    s.rectangle([0.0, 0.0, 8.0, 8.0], 0.5, [(x + 0.5) / 64.0, 0.5, 0.0, 1.0]);
    s.finish();
    let count = s.rig.chip.counters().get(Counter::CompressedReads);
    let lines: Vec<_> = lines.lock().unwrap().clone();
    let pixel = s.rig.bytes(target, 4).try_into().unwrap();
    (lines, count, pixel)
}

#[test]
fn clear_colours_that_no_draw_has_eliminated_are_found() {
    for (family, isa) in [(Family::Turks, Isa::R800), (Family::Cayman, Isa::R900)] {
        let (lines, count, pixel) = fast_cleared(family, isa, 40.0, Between::Nothing);
        let line = format!(
            "draw 2: a shader reads fast-cleared tiles of the surface at {COLOUR:#x}, which no draw has eliminated"
        );
        assert_eq!((lines, count), (vec![line], 4), "{family}");
        assert_ne!(pixel, bytes(GREEN), "the bytes from before the clear");
        let none = |x, between, colour| {
            let found = fast_cleared(family, isa, x, between);
            assert_eq!(found, (vec![], 0, bytes(colour)), "{family}: {between:?}");
        };
        // The other half has been drawn.
        none(20.0, Between::Nothing, RED);
        // CB_ELIMINATE_FAST_CLEAR, CB_DECOMPRESS
        none(40.0, Between::Draw(2), GREEN);
        none(40.0, Between::Draw(4), GREEN);
        none(40.0, Between::Cpu, BLUE);
        let (lines, count, _) = fast_cleared(family, isa, 40.0, Between::NoMask);
        assert_eq!((lines.len(), count), (0, 0), "{family}");
        let found = fast_cleared(family, isa, 40.0, Between::Depth);
        assert_eq!(found, (vec![], 0, 0.25f32.to_le_bytes()), "{family}");
    }
}

#[test]
fn array_modes_that_the_model_does_not_know_are_counted() {
    let unknown = |target: u32, texture: u32| {
        let mut s = scene();
        s.set(CB_COLOR0_INFO, 0x1A << 2 | target << 8);
        sample(&mut s, COLOUR, 0x1A, false);
        s.set(0x3_8000, 1 | texture << 3 | 7 << 8 | 63 << 19);
        s.rectangle([0.0, 0.0, 8.0, 8.0], 0.5, [0.5625, 0.5625, 0.0, 1.0]);
        s.finish();
        let unknown = s.rig.chip.counters().snapshot().unknown;
        unknown.into_keys().collect::<Vec<_>>()
    };
    for known in [0, 1, 2, 4] {
        assert_eq!(unknown(known, known), [""; 0], "{known}");
    }
    // ARRAY_1D_TILED_THICK, ARRAY_2D_TILED_THICK
    assert_eq!(unknown(7, 1), ["array mode 7"]);
    assert_eq!(unknown(1, 3), ["array mode 3"]);
}
