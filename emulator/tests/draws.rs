// SPDX-License-Identifier: MIT
//! Draws from the ring to memory, with shaders assembled by hand.

// Register values are written field by field.
#![allow(clippy::precedence, clippy::identity_op, clippy::erasing_op)]

use std::time::{Duration, Instant};

use crate::rig::scene::*;
use crate::rig::shader::*;
use r7xx_board::chip::counters::Counter;
use r7xx_board::chip::cp::pm4::{IndexSource, Packet};
use r7xx_board::chip::tiling::{ArrayMode, Layout, TilingConfig};

#[test]
fn rectangle_colours_its_pixels_and_no_other() {
    let mut s = scene();
    s.rectangle([5.0, 7.0, 21.0, 10.0], 0.0, [0.2, 0.4, 0.6, 0.8]);
    let pixels = s.pixels();
    for (i, pixel) in pixels.iter().enumerate() {
        let (x, y) = (i % 64, i / 64);
        let inside = (5..21).contains(&x) && (7..10).contains(&y);
        let expected = if inside { [51, 102, 153, 204] } else { [0; 4] };
        assert_eq!(*pixel, expected, "({x}, {y})");
    }
    assert_eq!(s.rig.chip.counters().get(Counter::DroppedDraws), 0);
    assert_eq!(s.rig.chip.counters().get(Counter::McFaults), 0);
}

/// Flat colours: the shader runs once for a polygon.
#[test]
fn flat_colours_give_the_picture_of_interpolated_ones() {
    let draw = |flat: bool, mode: u32| {
        let mut s = scene();
        s.rig.write(0x98F0, 1 << 1 | 1 << 4);
        s.set(0x2_80A0, 0x1A << 2 | mode << 8);
        if flat {
            s.set(0x2_8644, 1 | 1 << 10);
        }
        s.rectangle([0.0, 0.0, 64.0, 64.0], 0.0, [0.2, 0.4, 0.6, 0.8]);
        s.rectangle([13.0, 3.0, 50.0, 60.0], 0.0, RED);
        let triangle =
            everything(0.0, GREEN).map(|([x, y, z, w], c)| ([x * 0.4, y * 0.4, z, w], c));
        s.draw_vertices(TRIANGLES, &triangle);
        s.finish();
        s.rig.bytes(COLOUR, 64 * 64 * 4)
    };
    for mode in [1, 2, 4] {
        let (flat, other) = (draw(true, mode), draw(false, mode));
        assert!(flat == other, "mode {mode}");
        assert!(flat.chunks_exact(4).any(|p| p == [51, 102, 153, 204]));
    }
}

#[test]
fn tiled_targets_hold_the_same_picture() {
    for mode in [2, 4] {
        let mut s = scene();
        // 2 pipes, 8 banks.
        let tiling = 1 << 1 | 1 << 4;
        s.rig.write(0x98F0, tiling);
        s.set(0x2_80A0, 0x1A << 2 | mode << 8);
        s.rectangle([0.0, 0.0, 64.0, 64.0], 0.0, BLUE);
        s.rectangle([13.0, 3.0, 50.0, 60.0], 0.0, RED);
        s.finish();
        let layout = Layout::new(
            ArrayMode::from_field(mode),
            4,
            64,
            64 * 64,
            TilingConfig::from_register(tiling),
        );
        for (x, y, expected) in [(13, 3, RED), (12, 3, BLUE), (49, 59, RED), (49, 60, BLUE)] {
            let found = s.rig.bytes(COLOUR + layout.offset(x, y, 0), 4);
            assert_eq!(found, bytes(expected), "mode {mode} ({x}, {y})");
        }
    }
}

#[test]
fn parameters_are_interpolated_with_perspective() {
    let mut s = scene();
    // w differs; the reference divides in f64.
    let w = [1.0f64, 4.0, 2.0];
    let ndc = [[-1.0, -1.0], [1.0, -1.0], [-1.0, 1.0]];
    let colours = [
        [1.0, 0.0, 0.25, 1.0],
        [0.0, 1.0, 0.5, 1.0],
        [0.0, 0.0, 1.0, 1.0f32],
    ];
    let v: Vec<Vertex> = (0..3)
        .map(|i| {
            let wi = w[i] as f32;
            ([ndc[i][0] * wi, ndc[i][1] * wi, 0.0, wi], colours[i])
        })
        .collect();
    s.draw_vertices(TRIANGLES, &v);
    let pixels = s.pixels();
    let mut tested = 0;
    for y in 0..64usize {
        for x in 0..63 - y {
            let (px, py) = ((x as f64 + 0.5) / 64.0, (y as f64 + 0.5) / 64.0);
            let b = [1.0 - px - py, px, py];
            let d: f64 = (0..3).map(|i| b[i] / w[i]).sum();
            for c in 0..4 {
                let value: f64 = (0..3)
                    .map(|i| b[i] / w[i] * f64::from(colours[i][c]))
                    .sum::<f64>()
                    / d;
                let expected = value * 255.0;
                let found = f64::from(pixels[y * 64 + x][c]);
                assert!((found - expected).abs() <= 0.51, "({x}, {y}) {c}");
            }
            tested += 1;
        }
    }
    assert!(tested > 1000);
}

#[test]
fn components_of_a_colour_are_exported_as_selected() {
    let params = [[0.25, 0.5, 1.0, 0.75]; 3];
    // Four components of the register; and two of them with the constants 0 and 1.
    for (select, expected) in [
        ([2, 0, 1, 3], [255, 64, 128, 191]),
        ([1, 1, 0, 2], [128, 128, 64, 255]),
        ([2, 4, 0, 5], [255, 0, 64, 255]),
    ] {
        let mut ps = Shader::new();
        ps.export(PIXEL, 0, 0, select, true);
        assert_eq!(scene().one_colour(&ps, params), expected, "{select:?}");
    }
}

#[test]
fn the_pixels_centre_may_change_from_draw_to_draw() {
    let mut s = scene();
    // Red is x / 64 of the screen's left lower half.
    let at = |x: f32, y: f32, red: f32| ([x, y, 0.0, 1.0], [red, 0.0, 0.0, 1.0]);
    let v = [at(-1.0, -1.0, 0.0), at(1.0, -1.0, 1.0), at(-1.0, 1.0, 0.0)];
    for (center, vtx_cntl) in [(0.5, 1), (0.0, 0), (0.5, 1)] {
        s.set(0x2_8C08, vtx_cntl | 2 << 1 | 5 << 3);
        s.draw_vertices(TRIANGLES, &v);
        let pixels = s.pixels();
        for x in 1..40 {
            let expected = (x as f32 + center) / 64.0 * 255.0;
            let found = f32::from(pixels[9 * 64 + x][0]);
            assert!(
                (found - expected).abs() <= 0.51,
                "{x}: {found}, not {expected}"
            );
        }
    }
}

#[test]
fn all_index_sources_draw_the_same() {
    let quad = [
        ([-1.0, -1.0, 0.0, 1.0], RED),
        ([0.0, -1.0, 0.0, 1.0], RED),
        ([-1.0, 0.0, 0.0, 1.0], RED),
        ([0.0, 0.0, 0.0, 1.0], RED),
    ];
    let indices: [u16; 6] = [0, 1, 2, 2, 1, 3];
    const AT: u64 = 0x55_0000;
    type Setup = fn(&mut Scene, &[u16; 6]);
    let sources: [(&str, Setup); 4] = [
        ("auto", |s, _| s.draw(TRIANGLE_STRIP, 4)),
        ("32 bits", |s, i| {
            s.rig.ib(AT, &i.map(u32::from));
            s.set(0x2_8A7C, 1);
            s.draw_from(TRIANGLES, IndexSource::Memory(AT), 6, 0);
        }),
        ("16 bits", |s, i| {
            let packed: Vec<u32> = i
                .chunks(2)
                .map(|p| u32::from(p[0]) | u32::from(p[1]) << 16)
                .collect();
            s.rig.ib(AT, &packed);
            s.set(0x2_8A7C, 0);
            s.draw_from(TRIANGLES, IndexSource::Memory(AT), 6, 0);
        }),
        ("immediate with restart", |s, _| {
            s.set(0x2_8A7C, 0);
            s.set(0x2_8A94, 1);
            s.set(0x2_840C, 0xFFFF);
            let packed = vec![0x0001_0000, 0xFFFF_0002, 0x0001_0002, 0x0003];
            s.draw_from(TRIANGLE_STRIP, IndexSource::Immediate(packed), 7, 1);
        }),
    ];
    for (name, draw) in sources {
        let mut s = scene();
        s.vertices(&quad);
        draw(&mut s, &indices);
        let pixels = s.pixels();
        assert_eq!(count(&pixels, RED), 32 * 32, "{name}");
    }
}

#[test]
fn instances_reach_the_shader() {
    let mut s = scene();
    // Moves instance N to the right by N halves of the target.
    let mut vs = Shader::new();
    vs.fetch(1, 0, 0, 0, 0)
        .fetch(2, 0, 0, 0, 16)
        .alu(
            0x08,
            &[
                // UINT_TO_FLT R3.x = R0.w, then R1.x += R3.x
                op2(0x6D, 3, 0, gpr(0, 3), Src(ZERO, 0), true),
                op2(0x00, 1, 0, gpr(1, 0), gpr(3, 0), true),
            ],
            &[],
        )
        .export(POSITION, 60, 1, XYZW, true)
        .export(PARAM, 0, 2, XYZW, true);
    let vs = s.shader(&vs);
    s.set(0x2_8858, vs);
    // Draw once before, so that only the packet tells the pipeline of the change.
    s.rectangle([0.0, 0.0, 8.0, 8.0], 0.0, RED);
    s.finish();
    s.rig.cp_fill(&Packet::NumInstances(2).encode());
    s.rectangle([0.0, 0.0, 8.0, 8.0], 0.0, GREEN);
    let pixels = s.pixels();
    assert_eq!(count(&pixels, GREEN), 128);
    assert_eq!(pixels[0], bytes(GREEN));
    assert_eq!(pixels[32], bytes(GREEN));
    assert_eq!(pixels[8], [0; 4]);
}

#[test]
fn flat_parameters_come_from_the_provoking_vertex() {
    for (last, expected) in [(true, BLUE), (false, RED)] {
        let mut s = scene();
        s.set(0x2_8644, 1 | 1 << 10);
        s.set(0x2_8814, u32::from(last) << 19);
        let mut v = everything(0.5, RED);
        v[1].1 = GREEN;
        v[2].1 = BLUE;
        s.draw_vertices(TRIANGLES, &v);
        assert_eq!(count(&s.pixels(), expected), 64 * 64);
    }
}

#[test]
fn scissors_and_culling_limit_what_is_drawn() {
    let mut s = scene();
    s.set(0x2_8240, 1 << 31 | 10 | 20 << 16);
    s.set(0x2_8244, 30 | 25 << 16);
    s.draw_vertices(TRIANGLES, &everything(0.5, RED));
    assert_eq!(count(&s.pixels(), RED), 20 * 5);

    let mut s = scene();
    // The triangle is clockwise on the screen, so it is a back face.
    s.set(0x2_8814, 1 << 1);
    s.draw_vertices(TRIANGLES, &everything(0.5, RED));
    assert_eq!(count(&s.pixels(), RED), 0);
    s.set(0x2_8814, 1);
    s.draw_vertices(TRIANGLES, &everything(0.5, RED));
    assert_eq!(count(&s.pixels(), RED), 64 * 64);
}

#[test]
fn depth_test_hides_what_lies_behind() {
    for format in [1, 2, 3, 6, 7] {
        let mut s = scene();
        depth_buffer(&mut s, format, Z_ENABLE | Z_WRITE | ALWAYS);
        s.rectangle([0.0, 0.0, 64.0, 64.0], 1.0, BLUE);
        s.set(0x2_8800, Z_ENABLE | Z_WRITE | LESS);
        s.rectangle([0.0, 0.0, 40.0, 64.0], 0.5, RED);
        s.rectangle([20.0, 0.0, 64.0, 64.0], 0.75, GREEN);
        let pixels = s.pixels();
        assert_eq!(count(&pixels, RED), 40 * 64, "format {format}");
        assert_eq!(count(&pixels, GREEN), 24 * 64, "format {format}");
    }
}

#[test]
fn stencil_counts_and_masks() {
    let mut s = scene();
    // Always, increment on pass.
    let increment = 1 | 7 << 8 | 3 << 14;
    depth_buffer(&mut s, 3, increment);
    s.set(0x2_8430, 0xFF << 8 | 0xFF << 16);
    s.set(0x2_8238, 0);
    s.rectangle([0.0, 0.0, 32.0, 32.0], 0.0, RED);
    s.rectangle([16.0, 0.0, 48.0, 32.0], 0.0, RED);
    // Draw where the count equals 2.
    s.set(0x2_8238, 0xF);
    s.set(0x2_8800, 1 | 2 << 8);
    s.set(0x2_8430, 2 | 0xFF << 8);
    s.draw_vertices(TRIANGLES, &everything(0.5, GREEN));
    let pixels = s.pixels();
    assert_eq!(count(&pixels, GREEN), 16 * 32);
    assert_eq!(pixels[16], bytes(GREEN));
}

#[test]
fn occlusion_query_counts_samples_that_pass() {
    let mut s = scene();
    depth_buffer(&mut s, 2, Z_ENABLE | Z_WRITE | LESS);
    let results = s.results();
    s.rectangle([0.0, 0.0, 64.0, 64.0], 0.5, BLUE);
    s.event(0x15, 1, Some(results));
    s.event(0x15, 1, Some(results + 8));
    s.finish();
    // Depth memory was 0: nothing is less.
    assert_eq!(s.rig.mc_u64(results), s.rig.mc_u64(results + 8));

    s.set(0x2_8800, Z_ENABLE | Z_WRITE | ALWAYS);
    s.rectangle([0.0, 0.0, 64.0, 64.0], 1.0, BLUE);
    s.set(0x2_8800, Z_ENABLE | LESS);
    s.event(0x15, 1, Some(results));
    s.rectangle([3.0, 3.0, 13.0, 20.0], 0.5, RED);
    s.event(0x15, 1, Some(results + 8));
    // ZPASS_INCREMENT_DISABLE
    s.set(0x2_8D0C, 1 << 11);
    s.rectangle([3.0, 3.0, 13.0, 20.0], 0.5, RED);
    s.event(0x15, 1, Some(results + 16));
    s.finish();
    let at = |i: u64| s.rig.mc_u64(results + 8 * i);
    assert_eq!(at(1) - at(0), 170);
    assert_eq!(at(2), at(1));
}

/// A pixel shader that kills pixels whose parameter's x is greater than 0.5.
fn killing_shader() -> Shader {
    let mut ps = Shader::new();
    ps.alu(0x08, &[op2(0x2D, 1, 0, gpr(0, 0), Src(HALF, 0), true)], &[])
        .export(PIXEL, 0, 0, XYZW, true);
    ps
}

#[test]
fn killed_pixels_leave_colour_and_depth_alone() {
    let mut s = scene();
    depth_buffer(&mut s, 2, Z_ENABLE | Z_WRITE | ALWAYS);
    let ps = s.shader(&killing_shader());
    s.set(0x2_8840, ps);
    s.set(0x2_880C, 1 << 6);
    // x goes from 0 to 2 over the target: the right three quarters are killed.
    let v = |x: f32, y: f32, r: f32| ([x, y, 1.0, 1.0], [r, 0.0, 1.0, 1.0]);
    s.draw_vertices(
        RECTANGLES,
        &[v(-1.0, -1.0, 0.0), v(-1.0, 1.0, 0.0), v(1.0, -1.0, 2.0)],
    );
    let drawn = |p: &[[u8; 4]]| p.iter().filter(|p| p[2] == 255).count();
    assert_eq!(drawn(&s.pixels()), 16 * 64);
    // Depth has been written only where pixels were not killed.
    s.set(0x2_8800, Z_ENABLE | LESS);
    let pass = s.shader(&pixel_shader());
    s.set(0x2_8840, pass);
    s.set(0x2_880C, 0);
    s.draw_vertices(TRIANGLES, &everything(0.5, GREEN));
    assert_eq!(count(&s.pixels(), GREEN), 16 * 64);
}

#[test]
fn alpha_test_uses_reference() {
    let mut s = scene();
    // GREATER 0.5
    s.set(0x2_8410, 4 | 1 << 3);
    s.set(0x2_8438, f(0.5));
    s.rectangle([0.0, 0.0, 8.0, 8.0], 0.0, [1.0, 0.0, 0.0, 0.4]);
    s.rectangle([8.0, 0.0, 16.0, 8.0], 0.0, [1.0, 0.0, 0.0, 0.6]);
    let pixels = s.pixels();
    assert_eq!(pixels[0], [0; 4]);
    assert_eq!(pixels[8], [255, 0, 0, 153]);
}

/// A shader that takes its position's z as colour sees the polygon's offset, as the depth buffer does.
#[test]
fn polygon_offset_is_part_of_the_position() {
    let mut s = scene();
    depth_buffer(&mut s, 6, Z_ENABLE | Z_WRITE | ALWAYS);
    let mut ps = Shader::new();
    ps.export(PIXEL, 0, 1, [2, 2, 2, 5], true);
    let ps = s.shader(&ps);
    s.set(0x2_8840, ps);
    // The position is in R1.
    s.set(0x2_86CC, 1 | 1 << 28 | 1 << 8 | 1 << 10);
    for (units, depth) in [(0.0, 0.25), (64.0, 0.5), (512.0, 1.0)] {
        // POLY_OFFSET_FRONT_ENABLE, BACK_ENABLE; 64 units of 1/256.
        s.set(0x2_8814, 1 << 19 | 3 << 11);
        s.set(0x2_8DF8, 0xF8);
        s.set(0x2_8E04, f(units));
        s.set(0x2_8E0C, f(units));
        s.draw_vertices(TRIANGLES, &everything(0.25, RED));
        let pixel = s.pixels()[0];
        assert_eq!(pixel, bytes([depth, depth, depth, 1.0]), "{units}");
        assert_eq!(s.rig.mem(DEPTH), f(depth), "{units}");
    }
}

#[test]
fn exported_depth_replaces_the_polygons() {
    let mut s = scene();
    depth_buffer(&mut s, 6, Z_ENABLE | Z_WRITE | ALWAYS);
    let mut ps = Shader::new();
    ps.export(PIXEL, 0, 0, XYZW, false)
        .export(PIXEL, 61, 0, X001, true);
    let ps = s.shader(&ps);
    s.set(0x2_8840, ps);
    s.set(0x2_880C, 1);
    s.rectangle([0.0, 0.0, 8.0, 8.0], 0.9, [0.25, 0.0, 0.0, 1.0]);
    s.finish();
    assert_eq!(s.rig.mem(DEPTH), f(0.25));
}

/// A factor of the stipple pattern is its repeat count plus one.
#[test]
fn stipple_pattern_bits_last_one_pixel_more_than_their_repeat_count() {
    for repeat in [0, 1, 4] {
        let mut s = scene();
        // LINE_STIPPLE_ENABLE; each line restarts the pattern.
        s.set(0x2_8A4C, 1 << 2);
        s.set(0x2_8A0C, 1 | repeat << 16 | 1 << 29);
        let end = |x: f32| ([x, 1.0 / 64.0, 0.0, 1.0], RED);
        s.draw_vertices(LINES, &[end(-1.0), end(1.0)]);
        let pixels = s.pixels();
        // Bit 0 of 16.
        let on = |x: u32| x / (repeat + 1) % 16 == 0;
        for x in 1..63 {
            let drawn = pixels[(32 * WIDTH + x) as usize] == bytes(RED);
            assert_eq!(drawn, on(x), "pixel {x}, repeat count {repeat}");
        }
    }
}

/// Neighbours in a strip have a vertex in common, which makes no pair of stippled lines.
#[test]
fn stippled_lines_of_a_strip_are_drawn_one_by_one() {
    const LINE_STRIP: u32 = 3;
    let draw = |kind: u32, xs: &[f32]| {
        let mut s = scene();
        s.set(0x2_8A4C, 1 << 2);
        s.set(0x2_8A0C, 0x00F0 | 1 << 29);
        let ends: Vec<Vertex> = (xs.iter())
            .map(|x| ([*x, 1.0 / 64.0, 0.0, 1.0], RED))
            .collect();
        s.draw_vertices(kind, &ends);
        s.pixels()
    };
    let list = draw(LINES, &[-1.0, -0.25, -0.25, 1.0]);
    let drawn = count(&list, RED);
    // Four of each sixteen pixels: 8 of 24, and 12 of 40.
    assert_eq!(drawn, 20);
    assert!(draw(LINE_STRIP, &[-1.0, -0.25, 1.0]) == list);
}

#[test]
fn pipeline_statistics_count_the_stages() {
    let mut s = scene();
    let results = s.results();
    s.rig.pattern(results, 256, 1);
    s.event(0x19, 0, None);
    s.event(0x1E, 2, Some(results));
    s.draw_vertices(TRIANGLES, &everything(0.5, RED));
    s.event(0x1E, 2, Some(results + 64));
    s.event(0x1A, 0, None);
    s.draw(TRIANGLES, 3);
    s.event(0x1E, 2, Some(results + 128));
    s.finish();
    let block = |b: u64| -> Vec<u64> {
        (0..8)
            .map(|i| s.rig.mc_u64(results + 64 * b + 8 * i))
            .collect()
    };
    let (a, b, c) = (block(0), block(1), block(2));
    let difference: Vec<u64> = a.iter().zip(&b).map(|(a, b)| b - a).collect();
    assert_eq!(difference, [64 * 64, 1, 1, 3, 0, 0, 1, 3]);
    assert_eq!(b, c, "stopped");
}

/// Two strips of three vertices and a restart index between them.
#[test]
fn a_restart_index_is_no_vertex_in_the_statistics() {
    let mut s = scene();
    let results = s.results();
    s.rig.pattern(results, 128, 1);
    s.vertices(&everything(0.5, RED));
    s.event(0x19, 0, None);
    s.event(0x1E, 2, Some(results));
    s.set(0x2_8A7C, 0);
    s.set(0x2_8A94, 1);
    s.set(0x2_840C, 0xFFFF);
    let indices = IndexSource::Immediate(vec![0x0001_0000, 0xFFFF_0002, 0x0001_0000, 0x0002]);
    s.draw_from(TRIANGLE_STRIP, indices, 7, 1);
    s.event(0x1E, 2, Some(results + 64));
    s.finish();
    let counted = |i: u64| s.rig.mc_u64(results + 64 + 8 * i) - s.rig.mc_u64(results + 8 * i);
    assert_eq!([6, 7].map(counted), [2, 6]);
}

#[test]
fn points_have_their_size_and_sprites_their_coordinates() {
    let mut s = scene();
    // Half of 8 pixels in 12.4; sprite coordinates instead of the parameter.
    s.set(0x2_8A00, 64 | 64 << 16);
    s.set(0x2_8644, 1 | 1 << 17);
    s.set(0x2_86D4, 1 | 1 << 1 | 2 << 2 | 3 << 5 | 1 << 11);
    s.draw_vertices(POINTS, &[([0.0, 0.0, 0.0, 1.0], RED)]);
    let pixels = s.pixels();
    let drawn = pixels.iter().filter(|p| p[3] == 255).count();
    assert_eq!(drawn, 64);
    let at = |x: usize, y: usize| pixels[y * 64 + x];
    // Centres of the first and last pixels: 1/16 and 15/16.
    assert_eq!(at(28, 28)[..2], [16, 16]);
    assert_eq!(at(35, 28)[..2], [239, 16]);
    assert_eq!(at(28, 35)[..2], [16, 239]);
}

/// A pixel shader that never ends.
fn endless_shader() -> Shader {
    let mut ps = Shader::new();
    // LOOP_START_DX10 and LOOP_END, without a LOOP_BREAK.
    ps.cf(0x06, 2, 0)
        .cf(0x05, 1, 0)
        .export(PIXEL, 0, 0, XYZW, true);
    ps
}

#[test]
fn endless_shader_is_cut_by_its_budget_and_counted() {
    let mut s = scene();
    let ps = s.shader(&endless_shader());
    s.set(0x2_8840, ps);
    s.draw_vertices(TRIANGLES, &everything(0.5, RED));
    assert_eq!(count(&s.pixels(), RED), 0);
    assert_eq!(s.rig.chip.counters().get(Counter::DroppedDraws), 1);
}

#[test]
fn reset_ends_a_long_draw() {
    let mut s = scene();
    s.vertices(&everything(0.5, RED));
    s.rig.cp_fill(&Packet::NumInstances(u32::MAX).encode());
    s.draw(TRIANGLES, 0xFFFF_FFFF);
    s.submit_fence();
    s.rig.until("the draw has begun", |rig| {
        rig.chip.counters().get(Counter::Draws) == 1
    });
    std::thread::sleep(Duration::from_millis(30));
    let start = Instant::now();
    s.rig.start_cp();
    let mut s = Scene::new(s.rig);
    s.rectangle([0.0, 0.0, 8.0, 8.0], 0.0, GREEN);
    let pixels = s.pixels();
    let took = start.elapsed();
    assert_eq!(pixels[0], bytes(GREEN));
    // Generous for a loaded machine: without cancellation it takes minutes.
    assert!(took < Duration::from_secs(2), "{took:?}");
}

#[test]
fn exit_during_a_long_draw_does_not_wait_for_it() {
    let mut s = scene();
    s.vertices(&everything(0.5, RED));
    s.rig.cp_fill(&Packet::NumInstances(u32::MAX).encode());
    s.draw(TRIANGLES, 0xFFFF_FFFF);
    s.submit_fence();
    s.rig.until("the draw has begun", |rig| {
        rig.chip.counters().get(Counter::Draws) == 1
    });
    let start = Instant::now();
    s.rig.chip.shutdown();
    assert!(start.elapsed() < Duration::from_secs(2));
}

#[test]
fn unreadable_shader_drops_the_draw_and_is_counted() {
    let mut s = scene();
    s.set(0x2_8858, 0x0FFF_FFFF);
    s.draw_vertices(TRIANGLES, &everything(0.5, RED));
    assert_eq!(count(&s.pixels(), RED), 0);
    let counters = s.rig.chip.counters();
    assert_eq!(counters.get(Counter::DroppedDraws), 1);
    assert!(counters.get(Counter::McFaults) > 0);
}

/// The second colour that a shader exports is a factor for the first target (`BLEND_SRC1_COLOR`).
#[test]
fn dual_source_blending_takes_the_second_export() {
    let mut ps = Shader::new();
    ps.alu(
        0x08,
        &[
            mov(1, 0, Src(HALF, 0), false),
            mov(1, 1, Src(ONE, 0), false),
            mov(1, 2, Src(ZERO, 0), false),
            mov(1, 3, Src(ONE, 0), true),
        ],
        &[],
    )
    .export(PIXEL, 0, 0, XYZW, false)
    .export(PIXEL, 1, 1, XYZW, true);
    let white = [[1.0; 4]; 3];
    let drawn = |blend: u32| {
        let mut s = scene();
        s.set(0x2_8780, blend);
        s.set(0x2_8808, 0xCC << 16 | 1 << 8 | 1 << 7);
        s.one_colour(&ps, white)
    };
    // Source factor SRC1_COLOR, INV_SRC1_COLOR or ONE; destination factor ZERO.
    assert_eq!(drawn(15), [128, 255, 0, 255]);
    assert_eq!(drawn(16), [128, 0, 255, 0]);
    assert_eq!(drawn(1), [255; 4]);
}
