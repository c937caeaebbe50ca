// SPDX-License-Identifier: MIT
//! Probes: what happened to a pixel or a vertex. Values are compared with those that the shader
//! and the state of the test define.

// Register values are written field by field.
#![allow(clippy::precedence, clippy::identity_op, clippy::erasing_op)]

use std::sync::Arc;

use r7xx_board::chip::gfx::probe::{Fragment, History, Probe, Run, Watch};
use r7xx_board::chip::gfx::Pipeline;

use crate::rig::scene::*;
use crate::rig::shader::*;
use crate::rig::{config, Rig};

const MUL: u32 = 0x01;
const KILLGT: u32 = 0x2D;
const TEXTURE: u64 = 0x68_0000;

/// A scene that is watched.
fn watched(watch: Watch) -> (Scene, Arc<Probe>) {
    let probe = Arc::new(Probe::new(watch));
    let pipeline = Pipeline::new(2).with_probe(probe.clone());
    let scene = Scene::new(Rig::with_gfx(config(None), Box::new(pipeline)));
    (scene, probe)
}

fn pixel(x: i32, y: i32) -> Watch {
    Watch::Pixel { x, y }
}

/// The history of pixel 9,10 after `draw`; also draws it without a probe and compares the pictures.
fn history(draw: impl Fn(&mut Scene)) -> History {
    let (mut s, probe) = watched(pixel(9, 10));
    let mut plain = scene();
    draw(&mut s);
    draw(&mut plain);
    assert!(s.pixels() == plain.pixels(), "a probe changes the picture");
    probe.history()
}

/// The value of `name` that an instruction wrote last.
fn last(run: &Run, name: &str) -> Option<f32> {
    let mut values = run.lines.iter().flat_map(|line| &line.step.values);
    let found = values.rfind(|value| value.name == name);
    found.map(|value| f32::from_bits(value.bits))
}

/// The results of the instruction whose disassembly contains `part`.
fn result_of(run: &Run, part: &str) -> Vec<f32> {
    let line = run.lines.iter().find(|line| line.text.contains(part));
    let line = line.unwrap_or_else(|| panic!("no {part} in {:#?}", run.lines));
    let values = line.step.values.iter();
    values.map(|value| f32::from_bits(value.bits)).collect()
}

const ALL: [f32; 4] = [0.0, 0.0, 64.0, 64.0];

#[test]
fn each_fragment_has_its_draw_depth_test_and_colours() {
    let found = history(|s| {
        depth_buffer(s, 6, Z_ENABLE | Z_WRITE | LESS);
        // Clear depth to 1 by a draw that always passes.
        s.set(0x2_8800, Z_ENABLE | Z_WRITE | ALWAYS);
        s.rectangle(ALL, 1.0, BLUE);
        s.set(0x2_8800, Z_ENABLE | Z_WRITE | LESS);
        s.rectangle([0.0, 0.0, 16.0, 16.0], 0.25, RED);
        // Beside the pixel.
        s.rectangle([32.0, 0.0, 64.0, 64.0], 0.0, GREEN);
        // Behind it.
        s.rectangle(ALL, 0.5, GREEN);
    });
    let draws: Vec<u64> = found.fragments.iter().map(|f| f.draw).collect();
    assert_eq!(draws, [1, 2, 4]);
    let [clear, red, hidden] = &found.fragments[..] else {
        panic!("{found:#?}");
    };
    let bits = |colour: [f32; 4]| colour.map(f32::to_bits);
    assert_eq!(clear.colours[0].after, bits(BLUE));
    assert_eq!(red.tests.len(), 1);
    let test = &red.tests[0];
    assert_eq!((test.depth, test.before.0, test.after.0), (0.25, 1.0, 0.25));
    assert_eq!((test.depth_passes, test.stencil_passes), (Some(true), None));
    let write = &red.colours[0];
    assert_eq!(write.source, Some(bits(RED)));
    assert_eq!((write.before, write.after), (bits(BLUE), bits(RED)));
    assert_eq!(red.fate, "drawn");
    assert_eq!(hidden.tests[0].depth_passes, Some(false));
    assert_eq!(hidden.tests[0].after.0, 0.25);
    assert_eq!(hidden.fate, "dropped by the depth or stencil test");
    assert!(hidden.runs.is_empty() && hidden.colours.is_empty());
}

#[test]
fn each_instruction_has_its_result_and_disassembly() {
    // R1.x = R0.x * 0.5; R1.y = R1.x + R1.x in PV; R1.w = 1.
    let mut ps = Shader::new();
    ps.alu(
        0x08,
        &[
            op2(MUL, 1, 0, gpr(0, 0), Src(HALF, 0), true),
            op2(0, 1, 1, Src(254, 0), Src(254, 0), true),
            mov(1, 3, Src(ONE, 0), true),
        ],
        &[],
    );
    ps.export(PIXEL, 0, 1, [0, 1, 4, 3], true);
    let found = history(|s| {
        let start = s.shader(&ps);
        s.set(START_PS, start);
        // One tile: registers do not hold an earlier tile's results.
        s.rectangle([8.0, 8.0, 16.0, 16.0], 0.0, [0.75, 0.0, 0.0, 0.0]);
    });
    let run = &found.fragments[0].runs[0];
    let input: Vec<_> = run.inputs.iter().map(|v| v.name.as_str()).collect();
    assert_eq!(input, ["R0.x"]);
    assert_eq!(f32::from_bits(run.inputs[0].bits), 0.75);
    assert_eq!(result_of(run, "MUL"), [0.375]);
    assert_eq!(result_of(run, "ADD"), [0.75]);
    assert_eq!(result_of(run, "MOV"), [1.0]);
    assert_eq!(
        result_of(run, "EXPORT_DONE PIXEL 0"),
        [0.375, 0.75, 0.0, 1.0]
    );
    assert_eq!(last(run, "R1.y"), Some(0.75));
    let after = found.fragments[0].colours[0].after.map(f32::from_bits);
    assert!(
        (after[0] - 0.375).abs() < 0.003 && after[3] == 1.0,
        "{after:?}"
    );
}

#[test]
fn fragments_of_the_fast_paths_are_recorded() {
    let found = history(|s| {
        depth_buffer(s, 6, Z_ENABLE | Z_WRITE | ALWAYS);
        // Colours are not written: whole tiles of depth are.
        s.set(0x2_8238, 0);
        s.rectangle(ALL, 0.5, RED);
        // In one colour: the shader runs once for all tiles.
        s.set(0x2_8238, 0xF);
        let mut ps = Shader::new();
        let white = |chan| mov(1, chan, Src(ONE, 0), chan == 3);
        ps.alu(0x08, &[0, 1, 2, 3].map(white), &[]);
        ps.export(PIXEL, 0, 1, XYZW, true);
        let start = s.shader(&ps);
        s.set(START_PS, start);
        s.rectangle(ALL, 0.25, RED);
    });
    let [depth, white] = &found.fragments[..] else {
        panic!("{found:#?}");
    };
    assert_eq!(
        (depth.tests[0].before.0, depth.tests[0].after.0),
        (0.0, 0.5)
    );
    assert_eq!(depth.fate, "drawn, no colour is written");
    assert_eq!(white.colours[0].after, [1f32.to_bits(); 4]);
    assert_eq!(last(&white.runs[0], "R1.w"), Some(1.0));
}

#[test]
fn a_discarded_fragment_says_so() {
    let mut ps = Shader::new();
    ps.alu(
        0x08,
        &[op2(KILLGT, 0, 0, gpr(0, 0), Src(HALF, 0), true)],
        &[],
    );
    ps.export(PIXEL, 0, 0, XYZW, true);
    let found = history(|s| {
        let start = s.shader(&ps);
        s.set(START_PS, start);
        // KILL_ENABLE
        s.set(0x2_880C, 1 << 6);
        s.rectangle(ALL, 0.0, [0.25, 0.0, 0.0, 1.0]);
        s.rectangle(ALL, 0.0, [0.75, 0.0, 0.0, 1.0]);
    });
    let [kept, killed] = &found.fragments[..] else {
        panic!("{found:#?}");
    };
    let note = |f: &Fragment| f.runs[0].lines.iter().find_map(|line| line.step.note);
    assert_eq!((kept.runs[0].killed, killed.runs[0].killed), (false, true));
    assert_eq!(note(kept), Some("keeps the fragment"));
    assert_eq!(note(killed), Some("kills the fragment"));
    assert_eq!(kept.fate, "drawn");
    assert_eq!(killed.fate, "dropped by the shader's discard");
    assert!(killed.colours.is_empty());
}

#[test]
fn a_fetch_has_its_texels_with_their_addresses() {
    const SIDE: u32 = 64;
    let mut ps = Shader::new();
    ps.sample(1, 0, 0).export(PIXEL, 0, 1, XYZW, true);
    let found = history(|s| {
        let texels: Vec<u32> = (0..SIDE * SIDE).map(|i| 0xFF00_0000 | i).collect();
        s.rig.ib(TEXTURE, &texels);
        let words = [
            // 2D, linear aligned, 64 texels from row to row.
            1 | 1 << 3 | 7 << 8 | (SIDE - 1) << 19,
            (SIDE - 1) | 0x1A << 26,
            (TEXTURE >> 8) as u32,
            0,
            1 << 19 | 2 << 22 | 3 << 25,
            0,
            2 << 30,
        ];
        // Linear magnification.
        s.texture(words, [1 << 9 | 1 << 12, 0, 0]);
        let start = s.shader(&ps);
        s.set(START_PS, start);
        // Between texels 4 and 5 of row 3: (5 / 64, 3.5 / 64).
        let at = [5.0 / 64.0, 3.5 / 64.0, 0.0, 1.0];
        s.draw_vertices(TRIANGLES, &everything(0.0, at));
    });
    let run = &found.fragments[0].runs[0];
    let fetch = run.lines.iter().find(|line| line.text.contains("SAMPLE"));
    let step = &fetch.expect("a fetch").step;
    let texels: Vec<_> = step.texels.iter().map(|t| (t.x, t.y, t.address)).collect();
    let address = |x: u64, y: u64| TEXTURE + 4 * (y * u64::from(SIDE) + x);
    assert_eq!(texels, [(4, 3, address(4, 3)), (5, 3, address(5, 3))]);
    // Texel 196 and 197: red 0xC4 and 0xC5.
    let red: Vec<f32> = (step.texels.iter())
        .map(|t| f32::from_bits(t.value[0]) * 255.0)
        .collect();
    assert!(
        (red[0] - 196.0).abs() < 0.01 && (red[1] - 197.0).abs() < 0.01,
        "{red:?}"
    );
    let result = last(run, "R1.x").expect("a result") * 255.0;
    assert!((result - 196.5).abs() < 0.01, "{result}");
}

#[test]
fn a_draw_that_misses_the_pixel_costs_a_comparison() {
    const FAR: u64 = 400;
    let found = history(|s| {
        for _ in 0..FAR / 4 {
            for (x, y) in [(0.0, 48.0), (48.0, 0.0), (48.0, 48.0), (24.0, 8.0)] {
                s.rectangle([x, y, x + 8.0, y + 8.0], 0.0, RED);
            }
            s.finish();
        }
        s.rectangle(ALL, 0.0, GREEN);
    });
    assert_eq!(found.counts.draws, FAR + 1);
    assert_eq!(found.counts.polygons, FAR + 1);
    // The target has 64 tiles.
    let counts = found.counts;
    assert_eq!((counts.near, counts.looked, counts.tiles), (1, 64, 1));
    assert_eq!(found.fragments.len(), 1);
    assert_eq!(found.fragments[0].draw, FAR + 1);
}

#[test]
fn a_vertex_has_its_fetches_and_exports() {
    let (mut s, probe) = watched(Watch::Vertex { draw: 2, index: 4 });
    s.rectangle(ALL, 0.0, RED);
    s.draw_vertices(TRIANGLES, &everything(0.0, [0.125, 0.25, 0.5, 1.0]));
    let address = s.address_of_last(3) + 32;
    s.finish();
    let found = probe.history();
    let [vertex] = &found.vertices[..] else {
        panic!("{found:#?}");
    };
    assert_eq!((vertex.draw, vertex.index), (2, 4));
    assert_eq!(vertex.run.inputs[0].bits, 4);
    let fetches: Vec<_> = vertex
        .run
        .lines
        .iter()
        .filter_map(|l| l.step.address)
        .collect();
    assert_eq!(fetches, [address, address + 16]);
    // The second corner of the triangle.
    let position = result_of(&vertex.run, "EXPORT_DONE POS 60");
    assert_eq!(position, [3.0, -1.0, -1.0, 1.0]);
    assert_eq!(last(&vertex.run, "parameter 0.y"), Some(0.25));
    assert!(found.fragments.is_empty());
}

#[test]
fn samples_of_a_pixel_are_told_apart() {
    let found = history(|s| {
        let places = [-2i32, -2, 2, 2, -6, 6, 6, -6];
        let word =
            (places.iter().enumerate()).fold(0u32, |w, (i, v)| w | (*v as u32 & 15) << (4 * i));
        s.set(0x2_8C1C, word);
        s.set(0x2_8C04, 2);
        s.set(0x2_8A4C, 1);
        // 1D tiled
        s.set(0x2_80A0, 0x1A << 2 | 2 << 8);
        // Its left edge is in the middle of pixel 9: samples 1 and 3 are right of it.
        s.rectangle([9.5, 0.0, 64.0, 64.0], 0.0, RED);
    });
    let fragment = &found.fragments[0];
    assert_eq!(fragment.coverage[0].1, 0b1010);
    let samples: Vec<u32> = fragment.colours.iter().map(|c| c.sample).collect();
    assert_eq!(samples, [1, 3]);
}
