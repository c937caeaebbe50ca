// SPDX-License-Identifier: MIT
//! What the lint finds in draws with one mistake each, and that it finds nothing in those without.

// Register values are written field by field.
#![allow(clippy::precedence, clippy::identity_op, clippy::erasing_op)]

use std::sync::{Arc, Mutex};

use r7xx_board::chip::gfx::lint::Lint;
use r7xx_board::chip::gfx::Pipeline;

use crate::rig::scene::*;
use crate::rig::shader::*;
use crate::rig::{config, Rig};

const ALL: [f32; 4] = [0.0, 0.0, 64.0, 64.0];

/// The findings in what `draw` draws.
fn findings(draw: impl Fn(&mut Scene)) -> Vec<String> {
    let found = Arc::new(Mutex::new(Vec::new()));
    let sink = found.clone();
    let report = move |line: &str| sink.lock().unwrap().push(line.to_string());
    let pipeline = Pipeline::new(2).with_lint(Lint::new(Box::new(report)));
    let mut s = Scene::new(Rig::with_gfx(config(None), Box::new(pipeline)));
    draw(&mut s);
    s.finish();
    let found = found.lock().unwrap();
    found.clone()
}

/// Binds a pixel shader.
fn bind(s: &mut Scene, register: u32, shader: &Shader) {
    let start = s.shader(shader);
    s.set(register, start);
}

#[test]
fn draws_without_mistakes_have_no_findings() {
    let found = findings(|s| {
        s.rectangle(ALL, 0.0, RED);
        // Written before it is read, in the same clause and in a later one.
        let mut ps = Shader::new();
        ps.alu(
            0x08,
            &[mov(1, 0, gpr(0, 0), true), mov(2, 1, gpr(1, 0), true)],
            &[],
        );
        ps.export(PIXEL, 0, 2, [4, 1, 4, 5], true);
        bind(s, START_PS, &ps);
        s.rectangle(ALL, 0.0, RED);
        // A copy of depth to colour, and an expansion in place.
        depth_buffer(s, 6, 0);
        for control in [1 << 2, 1 << 6] {
            s.set(0x2_8D0C, control);
            s.rectangle(ALL, 0.0, RED);
        }
    });
    assert!(found.is_empty(), "{found:#?}");
}

#[test]
fn registers_that_nothing_has_written_are_found_once() {
    let found = findings(|s| {
        let mut ps = Shader::new();
        ps.alu(0x08, &[mov(1, 0, gpr(5, 2), true)], &[]);
        ps.export(PIXEL, 0, 1, XYZW, true);
        bind(s, START_PS, &ps);
        for _ in 0..3 {
            s.rectangle(ALL, 0.0, RED);
        }
    });
    let line = |register: &str| {
        format!("draw 1: the pixel shader reads {register}, which nothing has written")
    };
    let expected = ["R5.z", "R1.y", "R1.z", "R1.w"].map(line);
    assert_eq!(found, expected);
}

#[test]
fn parameters_that_are_not_exported_are_found() {
    let found = findings(|s| {
        let mut vs = Shader::new();
        vs.fetch(1, 0, 0, 0, 0).export(POSITION, 60, 1, XYZW, true);
        bind(s, START_VS, &vs);
        s.rectangle(ALL, 0.0, RED);
    });
    assert_eq!(
        found,
        ["draw 1: the pixel shader takes parameter 0, which the vertex shader does not export"]
    );
}

#[test]
fn fetches_outside_are_found() {
    let found = findings(|s| {
        // The second fetch begins at byte 16 of an element; the buffer ends there.
        s.set(0x3_8000 + 28 * 160 + 4, 16 - 1);
        s.rectangle(ALL, 0.0, RED);
    });
    let outside = |line: &String| {
        line.contains("vertex shader's instruction") && line.contains("outside the buffer")
    };
    assert!(found.iter().any(outside), "{found:#?}");

    // A texture of 8x8 texels, loaded at (100, 0).
    let found = findings(|s| {
        let words = [
            1 | 1 << 3 | 7 << 8 | 7 << 19,
            7 | 0x1A << 26,
            0x68_00,
            0,
            0,
            0,
            2 << 30,
        ];
        s.texture(words, [0; 3]);
        let mut ps = Shader::new();
        let zero = |chan| mov(1, chan, Src(ZERO, 0), chan == 3);
        ps.alu(
            0x08,
            &[mov(1, 0, Src(LITERAL, 0), false), zero(1), zero(2), zero(3)],
            &[100, 0],
        );
        ps.load(2, 1, 0).export(PIXEL, 0, 2, XYZW, true);
        bind(s, START_PS, &ps);
        s.rectangle(ALL, 0.0, RED);
    });
    let outside = |line: &String| {
        line.contains("pixel shader's instruction") && line.contains("outside the texture")
    };
    assert!(found.len() == 1 && found.iter().all(outside), "{found:#?}");
}

#[test]
fn draws_that_change_nothing_are_found_with_the_reason() {
    let found = findings(|s| {
        s.draw(TRIANGLES, 2);
        s.rectangle([100.0, 100.0, 120.0, 120.0], 0.0, RED);
        depth_buffer(s, 6, Z_ENABLE | LESS);
        s.rectangle(ALL, 0.5, RED);
    });
    let reasons: Vec<&str> = found
        .iter()
        .filter_map(|line| line.split(": ").nth(2))
        .collect();
    let reason = [
        "it has no primitives",
        "all of its primitives are clipped or culled, or rasterisation is off",
        "no sample passes",
    ];
    assert_eq!(reasons, reason, "{found:#?}");
    assert!(found[0].starts_with("draw 1: ") && found[2].starts_with("draw 3: "));
}
