// SPDX-License-Identifier: MIT
//! Several samples per pixel: coverage, resolves, copies from depth to colour.

// Register values are written field by field.
#![allow(clippy::precedence, clippy::identity_op, clippy::erasing_op)]

use crate::rig::scene::*;
use crate::rig::shader::*;

#[test]
fn multisampled_target_is_resolved_by_coverage() {
    let mut s = scene();
    // Four samples at Mesa's positions.
    let places = [-2i32, -2, 2, 2, -6, 6, 6, -6];
    let word = places
        .iter()
        .enumerate()
        .fold(0u32, |w, (i, v)| w | (*v as u32 & 15) << (4 * i));
    s.set(0x2_8C1C, word);
    s.set(0x2_8C04, 2);
    s.set(0x2_8A4C, 1);
    // 1D tiled
    s.set(0x2_80A0, 0x1A << 2 | 2 << 8);
    s.rectangle([0.0, 0.0, 64.0, 64.0], 0.0, BLUE);
    // The left edge is in the middle of pixel 8: the samples with x > 0, two of
    // four, are inside.
    s.rectangle([8.5, 0.0, 64.0, 64.0], 0.0, RED);
    // Resolve into another target.
    const RESOLVED: u64 = 0x2_0000;
    s.set(0x2_8044, (RESOLVED >> 8) as u32);
    s.set(0x2_8064, (WIDTH / 8 - 1) | (WIDTH * HEIGHT / 64 - 1) << 10);
    s.set(0x2_80A4, 0x1A << 2 | 1 << 8);
    s.set(0x2_8808, 0xCC << 16 | 7 << 4);
    s.rectangle([0.0, 0.0, 64.0, 64.0], 0.0, GREEN);
    s.finish();
    let pixel = |x: u64| s.rig.bytes(RESOLVED + 4 * x, 4);
    assert_eq!(pixel(7), bytes(BLUE));
    assert_eq!(pixel(9), bytes(RED));
    let edge = pixel(8);
    assert!(
        (127..=128).contains(&edge[0]) && (127..=128).contains(&edge[2]),
        "{edge:?}"
    );
}

/// x of an edge through pixel 8. It is exact in the chip's fixed point.
const EDGE: f32 = 8.59375;

/// The red channel of sample 1 of pixel 8, after a draw right of [`EDGE`] on a target with four
/// samples. `input` and `control` are bits of `SPI_PS_INPUT_CNTL_0` and `SPI_PS_IN_CONTROL_0`.
fn red_of_edge(input: u32, control: u32, ps: &Shader) -> u8 {
    let mut s = scene();
    // Samples 1 and 3, at 8.625 and 8.875, are covered; 1 is the first covered one.
    let places = [-2i32, -2, 2, 2, -6, 6, 6, -6];
    let word = (places.iter().enumerate()).fold(0u32, |w, (i, v)| w | (*v as u32 & 15) << (4 * i));
    s.set(0x2_8C1C, word);
    s.set(0x2_8C04, 2);
    s.set(0x2_8A4C, 1);
    s.set(0x2_80A0, 0x1A << 2 | 2 << 8);
    s.set(0x2_8644, 1 | input);
    s.set(0x2_86CC, 1 | 1 << 28 | control);
    let start = s.shader(ps);
    s.set(0x2_8840, start);
    // The parameter is 0.5 at the edge and grows by one per pixel.
    let x = |pixels: f32| pixels / (WIDTH as f32 / 2.0) - 1.0;
    let corner = |pixels: f32, y: f32| {
        let red = 0.5 + pixels - EDGE;
        ([x(pixels), y, 0.0, 1.0], [red, 0.0, 0.0, 1.0])
    };
    let corners = [corner(EDGE, -1.0), corner(EDGE, 1.0), corner(12.0, -1.0)];
    s.draw_vertices(RECTANGLES, &corners);
    s.finish();
    // Sample 1 of the first pixel of the second tile: a tile has four planes of 8x8 pixels, one
    // for each sample.
    s.rig.bytes(COLOUR + 4 * 256 + 256, 1)[0]
}

#[test]
fn centroids_are_where_the_pixel_is_covered() {
    const CENTROID: u32 = 1 << 11;
    let byte = |v: f32| (v * 255.0 + 0.5) as u8;
    // At the centre, 8.5, and at sample 1.
    let (centre, centroid) = (byte(9.0 - EDGE), byte(9.125 - EDGE));
    assert_eq!(red_of_edge(0, 0, &pixel_shader()), centre);
    assert_eq!(red_of_edge(CENTROID, 0, &pixel_shader()), centroid);

    // The position is in R1; the shader subtracts 8.
    const POSITION_ENA: u32 = 1 << 8;
    const POSITION_CENTROID: u32 = 1 << 9;
    let r1 = POSITION_ENA | 1 << 10;
    let mut ps = Shader::new();
    let less_8 = [op2(0, 2, 0, gpr(1, 0), Src(LITERAL, 0), true)];
    ps.alu(0x08, &less_8, &[f(-8.0), 0]);
    ps.export(PIXEL, 0, 2, [0, 4, 4, 5], true);
    assert_eq!(red_of_edge(0, r1, &ps), byte(0.5));
    assert_eq!(red_of_edge(0, r1 | POSITION_CENTROID, &ps), byte(0.625));
}

/// A depth buffer of 2^`log` samples in which sample i has depth (i + 1) / 16.
fn sampled_depths(s: &mut Scene, log: u32) {
    s.set(0x2_8C04, log);
    s.set(0x2_8A4C, 1);
    // 32 bits, floating point; colours are not written.
    depth_buffer(s, 6, Z_ENABLE | Z_WRITE | ALWAYS);
    s.set(0x2_8238, 0);
    for sample in 0..1 << log {
        s.set(0x2_8C48, 0x0101_0101 << sample);
        s.rectangle([0.0, 0.0, 64.0, 64.0], (sample + 1) as f32 / 16.0, RED);
    }
    s.set(0x2_8800, 0);
    s.set(0x2_8238, 0xF);
    // 32_FLOAT, 1D tiled.
    s.set(0x2_80A0, 0xE << 2 | 2 << 8 | 7 << 12);
    s.set(0x2_8808, 0);
}

/// Depths of the first `count` samples of the target's first pixel, in sixteenths.
fn copied_depths(s: &mut Scene, count: usize) -> Vec<f32> {
    s.finish();
    // Each sample has a plane of 8x8 pixels.
    let plane = |i| s.rig.bytes(COLOUR + 256 * i as u64, 4);
    (0..count)
        .map(|i| 16.0 * f32::from_le_bytes(plane(i).try_into().unwrap()))
        .collect()
}

const DEPTH_COPY: u32 = 1 << 2;
const COPY_CENTROID: u32 = 1 << 7;

#[test]
fn depth_is_copied_to_colour_sample_by_sample() {
    for log in 1..=3 {
        let mut s = scene();
        sampled_depths(&mut s, log);
        let count = 1 << log;
        // As Mesa does it: its field for the sample has two bits, the sample mask selects the rest.
        for sample in 0..count {
            s.set(0x2_8C48, 0x0101_0101 << sample);
            s.set(0x2_8D0C, DEPTH_COPY | COPY_CENTROID | (sample & 3) << 8);
            s.rectangle([0.0, 0.0, 64.0, 64.0], 1.0, RED);
        }
        let expected: Vec<f32> = (1..=count).map(|i| i as f32).collect();
        assert_eq!(copied_depths(&mut s, count as usize), expected);
    }
}

#[test]
fn depth_copy_takes_the_named_sample_or_the_first_covered_one() {
    for (control, mask, expected) in [
        (2 << 8, 0xFF, [3.0, 3.0, 3.0, 3.0]),
        (2 << 8, 0x11, [3.0, 0.0, 0.0, 0.0]),
        (COPY_CENTROID | 2 << 8, 0x33, [1.0, 1.0, 0.0, 0.0]),
        (COPY_CENTROID | 1 << 8, 0xDD, [3.0, 0.0, 3.0, 3.0]),
    ] {
        let mut s = scene();
        sampled_depths(&mut s, 2);
        s.set(0x2_8C48, 0x0101_0101 * mask);
        s.set(0x2_8D0C, DEPTH_COPY | control);
        s.rectangle([0.0, 0.0, 64.0, 64.0], 1.0, RED);
        assert_eq!(copied_depths(&mut s, 4), expected, "{control:#x} {mask:#x}");
    }
}
