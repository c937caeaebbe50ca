// SPDX-License-Identifier: MIT

use super::super::interpolate::{evaluate_depth, lane_offsets};
use super::super::lanes::LANES;
use super::super::state::Rect;
use super::*;

fn state() -> SetupState {
    SetupState {
        vte_cntl: 0x43F,
        guard: [8.0; 2],
        discard: [1.0; 2],
        center_half: true,
        point_half: [0.5; 2],
        line_half: 0.5,
        viewports: vec![
            Viewport {
                scale: [32.0, 32.0, 0.5],
                offset: [32.0, 32.0, 0.5],
                z_min: 0.0,
                z_max: 1.0,
                scissor: Rect {
                    x0: 0,
                    y0: 0,
                    x1: 64,
                    y1: 64
                },
            };
            VIEWPORTS
        ],
        fill: [Fill::Triangles; 2],
        ..SetupState::default()
    }
}

fn vertices(v: &[[f32; 4]]) -> Vertices {
    Vertices {
        position: v.to_vec(),
        misc: vec![[0; 4]; v.len()],
        distance: vec![[0.0; 8]; v.len()],
        params: Vec::new(),
        stride: 0,
    }
}

fn primitive(shape: Shape) -> Primitive {
    Primitive {
        shape,
        vertices: match shape {
            Shape::Point => [0; 3],
            Shape::Line => [0, 1, 0],
            _ => [0, 1, 2],
        },
        provoking: 0,
        outline: 7,
        id: 0,
        restarts: true,
    }
}

#[test]
fn culling_of_front_faces_takes_all_others_where_the_chip_does_so() {
    let corners = [
        [-0.5, -0.5, 0.0, 1.0],
        [0.5, -0.5, 0.0, 1.0],
        [0.5, 0.5, 0.0, 1.0],
    ];
    for (cull_others, drawn) in [(false, 1), (true, 0)] {
        let state = SetupState {
            cull_others,
            ..state()
        };
        for shape in [Shape::Point, Shape::Line, Shape::Rectangle] {
            assert_eq!(build(&state, &corners, shape).len(), drawn, "{shape:?}");
        }
        assert_eq!(build(&state, &corners, Shape::Triangle).len(), 1);
    }
}

fn build(state: &SetupState, v: &[[f32; 4]], shape: Shape) -> Vec<Setup> {
    let mut out = Vec::new();
    Builder::new(state).add(&vertices(v), &primitive(shape), &mut out);
    out
}

const CCW: [[f32; 4]; 3] = [
    [-1.0, -1.0, 0.0, 1.0],
    [-1.0, 1.0, 0.0, 1.0],
    [1.0, -1.0, 0.0, 1.0],
];

#[test]
fn face_follows_winding_and_culling() {
    let mut s = state();
    let setup = build(&s, &CCW, Shape::Triangle);
    assert!(setup[0].front, "counterclockwise is front by default");
    s.front_cw = true;
    assert!(!build(&s, &CCW, Shape::Triangle)[0].front);
    s.cull_back = true;
    assert!(build(&s, &CCW, Shape::Triangle).is_empty());
    s.cull_back = false;
    s.cull_front = true;
    assert_eq!(build(&s, &CCW, Shape::Triangle).len(), 1);
}

#[test]
fn clipped_triangle_keeps_attribute_planes() {
    // One vertex is behind the near plane. At the other two, their weights
    // must still be 1.
    let v = [
        [-1.0, -1.0, 0.0, 1.0],
        [0.0, 1.0, 0.0, 1.0],
        [1.0, -1.0, -9.0, 1.0],
    ];
    let setups = build(&state(), &v, Shape::Triangle);
    assert_eq!(setups.len(), 2, "a quadrilateral");
    for s in &setups {
        assert!((s.weights[0].at(32.0, 64.0) - 1.0).abs() < 1e-6);
        assert!(s.weights[0].at(0.0, 0.0).abs() < 1e-6);
        assert!((s.z.at(32.0, 64.0) - 0.5).abs() < 1e-6);
    }
}

#[test]
fn perspective_weights_divide_to_clip_space_weights() {
    let v = [
        [-1.0, -1.0, 0.0, 1.0],
        [4.0, -4.0, 0.0, 4.0],
        [-1.0, 1.0, 0.0, 1.0],
    ];
    let s = &build(&state(), &v, Shape::Triangle)[0];
    assert!(s.perspective);
    // Halfway on the screen between w = 1 and w = 4: weights 4:1.
    let (x, y) = (32.0, 0.0);
    let weight = s.weights[0].at(x, y) / s.inv_w.at(x, y);
    assert!((weight - 0.2).abs() < 1e-9, "{weight}");
    assert!((s.linear[0].at(x, y) - 0.5).abs() < 1e-9);
}

#[test]
fn rectangle_covers_box_of_its_three_corners() {
    let v = [
        [-0.5, -0.5, 3.0, 1.0],
        [-0.5, 0.5, 3.0, 1.0],
        [0.5, 0.5, 3.0, 1.0],
    ];
    let s = &build(&state(), &v, Shape::Rectangle)[0];
    assert_eq!((s.polygon.bounds.x0, s.polygon.bounds.y0), (16, 16));
    assert_eq!(s.linear[1].at(48.0, 48.0), 1.0);
    assert_eq!(s.linear[1].at(48.0, 16.0), 1.0);
}

#[test]
fn line_of_pixels_excludes_its_end() {
    use super::super::raster::SamplePlaces;
    let places = SamplePlaces::new(&[[0; 2]; 8], 1, true);
    let x = |p: f32| p / 32.0 - 1.0;
    let count = |from: f32, to: f32| {
        let v = [[x(from), x(0.5), 0.0, 1.0], [x(to), x(0.5), 0.0, 1.0]];
        let s = build(&state(), &v, Shape::Line);
        s[0].polygon.cover(0, 0, &places).samples[0]
    };
    // Quad order: pixels of the first row are lanes 0 1 4 5 8 9 12 13.
    assert_eq!(count(0.5, 2.5), 0b11);
    assert_eq!(count(2.5, 0.5), 0b1_0010);
}

#[test]
fn polygon_offset_counts_slope_and_units() {
    let mut s = state();
    s.offset[0] = Some(PolygonOffset {
        scale: 16.0,
        units: 2.0,
    });
    s.offset_format = (-24i8) as u8 as u32;
    let v = [
        [-1.0, -1.0, 0.0, 1.0],
        [-1.0, 1.0, 0.0, 1.0],
        [1.0, -1.0, 0.64, 1.0],
    ];
    let plain = build(&state(), &v, Shape::Triangle);
    let moved = build(&s, &v, Shape::Triangle);
    let slope = 0.32 / 64.0;
    let expected = slope + 2.0 / f64::from(1 << 24);
    assert_eq!((moved[0].z, plain[0].z_offset), (plain[0].z, 0.0));
    assert!((f64::from(moved[0].z_offset) - expected).abs() < 1e-8);
}

#[test]
fn a_unit_of_offset_tells_all_depths_apart() {
    let unit = 1.0 / f64::from(1 << 24);
    let (dx, dy) = lane_offsets();
    let mut rng = fastrand::Rng::with_seed(3);
    let mut rounded_together = 0;
    for _ in 0..2000 {
        let mut setup = build(&state(), &CCW, Shape::Triangle).remove(0);
        let slope = |rng: &mut fastrand::Rng| f64::from(rng.i32(-4096..4096)) * unit / 64.0;
        setup.z = Plane {
            c: 0.5 + 0.4 * rng.f64(),
            dx: slope(&mut rng),
            dy: slope(&mut rng),
        };
        let depths = |setup: &Setup| {
            let mut out = [0.0; LANES];
            evaluate_depth(setup, 8, 8, dx, dy, &mut out);
            out
        };
        let plain = depths(&setup);
        setup.z_offset = unit as f32;
        let moved = depths(&setup);
        assert!((0..LANES).all(|l| moved[l] > plain[l]));
        // In the plane, the offset is lost where two sums are rounded to the even one between.
        setup.z_offset = 0.0;
        setup.z.c += unit;
        let together = depths(&setup);
        rounded_together += (0..LANES).filter(|&l| together[l] == plain[l]).count();
    }
    assert!(rounded_together > 0, "the case did not happen");
}

#[test]
fn fill_mode_lines_draws_outlined_edges_only() {
    let mut s = state();
    s.fill = [Fill::Lines; 2];
    let mut p = primitive(Shape::Triangle);
    p.outline = 0b101;
    let mut out = Vec::new();
    Builder::new(&s).add(&vertices(&CCW), &p, &mut out);
    assert_eq!(out.len(), 2);
}

#[test]
fn hostile_positions_give_nothing_or_bounded_work() {
    for bad in [f32::NAN, f32::INFINITY, f32::MAX, -f32::MAX, 1e-40, 0.0] {
        for shape in [Shape::Point, Shape::Line, Shape::Triangle, Shape::Rectangle] {
            for k in 0..4 {
                let mut v = CCW;
                v[0][k] = bad;
                for s in build(&state(), &v, shape) {
                    assert!(s.polygon.bounds.x1 <= 64 && s.polygon.bounds.x0 >= 0);
                }
            }
        }
    }
}
