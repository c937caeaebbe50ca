// SPDX-License-Identifier: MIT
use super::*;

const SPACINGS: [Spacing; 3] = [
    Spacing::Equal,
    Spacing::FractionalOdd,
    Spacing::FractionalEven,
];

fn tessellator(domain: Domain, spacing: Spacing) -> Tessellator {
    Tessellator {
        domain,
        spacing,
        output: match domain {
            Domain::Isolines => Output::Lines,
            _ => Output::Counterclockwise,
        },
        most: 64,
    }
}

fn mesh(t: Tessellator, factors: &[f32]) -> Mesh {
    let mut mesh = Mesh::default();
    let mut all = [0.0; 6];
    all[..factors.len()].copy_from_slice(factors);
    t.run(&all, &mut mesh);
    mesh
}

fn places(spacing: Spacing, level: f32) -> Vec<f32> {
    let edge = Edge::new(spacing, level, 64.0);
    let places = (0..=edge.segments).map(|i| edge.place(i));
    places.map(|t| t as f32 / 65536.0).collect()
}

/// Twice the area; positive if counterclockwise.
fn area(mesh: &Mesh, t: &[u32; 3]) -> f64 {
    let [a, b, c] = t.map(|i| mesh.points[i as usize].map(f64::from));
    (b[0] - a[0]) * (c[1] - a[1]) - (c[0] - a[0]) * (b[1] - a[1])
}

#[test]
fn numbers_of_segments_follow_the_spacing() {
    let cases = [
        (Spacing::Equal, [1, 1, 2, 3, 64, 64]),
        (Spacing::FractionalOdd, [1, 1, 3, 3, 63, 63]),
        (Spacing::FractionalEven, [2, 2, 2, 4, 64, 64]),
    ];
    for (spacing, expected) in cases {
        for (level, expected) in [0.25, 1.0, 2.0, 2.5, 64.0, 1e9].into_iter().zip(expected) {
            let found = Edge::new(spacing, level, 64.0).segments;
            assert_eq!(found, expected, "{spacing:?} {level}");
        }
        let nan = Edge::new(spacing, f32::NAN, 64.0).segments;
        assert_eq!(nan, expected[0], "{spacing:?}");
    }
    // VGT_HOS_MAX_TESS_LEVEL
    let most = |spacing| Edge::new(spacing, 99.0, 5.0).segments;
    assert_eq!(SPACINGS.map(most), [5, 5, 4]);
    let least = |spacing| Edge::new(spacing, 99.0, 1.0).segments;
    assert_eq!(SPACINGS.map(least), [1, 1, 2]);
}

#[test]
fn edges_are_symmetric_and_have_two_short_segments_at_most() {
    let mut fractional = 0;
    for spacing in SPACINGS {
        for quarter in 4..=256 {
            let level = quarter as f32 / 4.0;
            let found = places(spacing, level);
            assert_eq!((found[0], *found.last().unwrap()), (0.0, 1.0));
            for (t, back) in found.iter().zip(found.iter().rev()) {
                assert_eq!(1.0 - t, *back, "{spacing:?} {level}");
            }
            let lengths: Vec<f32> = found.windows(2).map(|pair| pair[1] - pair[0]).collect();
            let longest = lengths.iter().copied().fold(0.0, f32::max);
            let rounding = 2.5 / 65536.0;
            let short: Vec<usize> = (0..lengths.len())
                .filter(|i| lengths[*i] < longest - rounding)
                .collect();
            assert!(lengths.iter().all(|length| *length >= 0.0));
            match short[..] {
                [] => {}
                [a, b] => {
                    assert_eq!(a + b, lengths.len() - 1, "{spacing:?} {level}: symmetric");
                    assert!((lengths[a] - lengths[b]).abs() <= rounding);
                    fractional += 1;
                }
                _ => panic!("{spacing:?} {level}: {lengths:?}"),
            }
            if spacing == Spacing::Equal {
                assert!(short.is_empty(), "{level}");
            }
        }
    }
    assert!(fractional > 300, "{fractional} edges had short segments");
}

/// A level just above a number looks as that number: two segments have no length yet.
#[test]
fn fractional_edges_grow_without_a_jump() {
    for (spacing, level) in [
        (Spacing::FractionalOdd, 1.0),
        (Spacing::FractionalOdd, 7.0),
        (Spacing::FractionalEven, 2.0),
        (Spacing::FractionalEven, 12.0),
    ] {
        let before = places(spacing, level);
        let after = places(spacing, level + 1.0 / 4096.0);
        assert_eq!(after.len(), before.len() + 2);
        for t in after {
            let near = before.iter().any(|old| (old - t).abs() < 1e-3);
            assert!(near, "{spacing:?} {level}: {t}");
        }
    }
    // Halfway from one segment to three: 1/3 of the length is split off to a half.
    assert_eq!(places(Spacing::FractionalOdd, 2.0)[1], 10923.0 / 65536.0);
    // From two to four segments: the new ones are next to the middle.
    assert_eq!(
        places(Spacing::FractionalEven, 3.0),
        [0.0, 0.375, 0.5, 0.625, 1.0]
    );
}

#[test]
fn triangles_and_quads_are_covered_once_and_turn_the_same_way() {
    let levels = [1.0, 1.5, 2.0, 3.0, 4.75, 7.0, 16.0, 64.0];
    let mut draw = fastrand::Rng::with_seed(7);
    for domain in [Domain::Triangles, Domain::Quads] {
        for spacing in SPACINGS {
            for case in 0..300 {
                let mut level = || levels[draw.usize(..if case < 100 { 3 } else { levels.len() })];
                let factors: [f32; 6] = std::array::from_fn(|_| level());
                let mesh = mesh(tessellator(domain, spacing), &factors);
                let whole = if domain == Domain::Quads { 2.0 } else { 1.0 };
                let areas: Vec<f64> = mesh.primitives.iter().map(|t| area(&mesh, t)).collect();
                let sum: f64 = areas.iter().sum();
                let text = format!("{domain:?} {spacing:?} {factors:?}");
                assert!((sum - whole).abs() < 1e-4, "{text}: {sum}");
                assert!(areas.iter().all(|area| *area > -1e-6), "{text}");
                // Each inner edge belongs to two triangles, once in each direction.
                let mut edges = std::collections::HashMap::new();
                for [a, b, c] in &mesh.primitives {
                    for (from, to) in [(a, b), (b, c), (c, a)] {
                        *edges.entry((*from, *to)).or_insert(0) += 1;
                    }
                }
                assert!(edges.values().all(|n| *n == 1), "{text}");
                let outline = |(from, to): &&(u32, u32)| !edges.contains_key(&(*to, *from));
                let outline = edges.keys().filter(outline).count() as u32;
                let sides = if domain == Domain::Quads { 4 } else { 3 };
                let segments = factors[..sides].iter();
                let segments: u32 = segments
                    .map(|level| Edge::new(spacing, *level, 64.0).segments)
                    .sum();
                assert_eq!(outline, segments, "{text}");
                // All points are used.
                let used: std::collections::HashSet<u32> =
                    mesh.primitives.iter().flatten().copied().collect();
                assert_eq!(used.len(), mesh.points.len(), "{text}");
            }
        }
    }
}

#[test]
fn each_outer_level_belongs_to_its_edge() {
    let on = |mesh: &Mesh, f: fn(f32, f32) -> bool| {
        let points = mesh.points.iter();
        points.filter(|[u, v]| f(*u, *v)).count() - 1
    };
    let quad = mesh(
        tessellator(Domain::Quads, Spacing::Equal),
        &[2.0, 3.0, 4.0, 5.0, 6.0, 7.0],
    );
    assert_eq!(on(&quad, |u, _| u == 0.0), 2);
    assert_eq!(on(&quad, |_, v| v == 0.0), 3);
    assert_eq!(on(&quad, |u, _| u == 1.0), 4);
    assert_eq!(on(&quad, |_, v| v == 1.0), 5);
    // Six columns and seven rows inside.
    assert_eq!(quad.points.len(), 2 + 3 + 4 + 5 + 5 * 6);
    let triangle = mesh(
        tessellator(Domain::Triangles, Spacing::Equal),
        &[2.0, 3.0, 4.0, 5.0],
    );
    assert_eq!(on(&triangle, |u, _| u == 0.0), 2);
    assert_eq!(on(&triangle, |_, v| v == 0.0), 3);
    assert_eq!(on(&triangle, |u, v| u + v == 1.0), 4);
    // Triangles of three segments and of one.
    assert_eq!(triangle.points.len(), 2 + 3 + 4 + 9 + 3);
}

#[test]
fn the_least_levels_make_one_triangle_and_two() {
    let triangle = mesh(tessellator(Domain::Triangles, Spacing::Equal), &[1.0; 4]);
    assert_eq!(triangle.points, [[0.0, 1.0], [0.0, 0.0], [1.0, 0.0]]);
    assert_eq!(triangle.primitives, [[1, 2, 0]]);
    let quad = mesh(
        tessellator(Domain::Quads, Spacing::FractionalOdd),
        &[1.0; 6],
    );
    assert_eq!((quad.points.len(), quad.primitives.len()), (4, 2));
    // One edge of two segments: the inside gets a point.
    let levels = [1.0, 1.0, 2.0, 1.0];
    let triangle = mesh(tessellator(Domain::Triangles, Spacing::Equal), &levels);
    assert_eq!((triangle.points.len(), triangle.primitives.len()), (5, 4));
    let [u, v] = triangle.points[4];
    assert!((u - 1.0 / 3.0).abs() < 1e-6 && (v - 1.0 / 3.0).abs() < 1e-6);
}

#[test]
fn patches_without_a_positive_level_are_dropped() {
    for (domain, edges) in [
        (Domain::Isolines, 2),
        (Domain::Triangles, 3),
        (Domain::Quads, 4),
    ] {
        for bad in [0.0, -0.0, -3.0, f32::NAN, f32::NEG_INFINITY] {
            for i in 0..6 {
                let mut factors = [2.0; 6];
                factors[i] = bad;
                let dropped = mesh(tessellator(domain, Spacing::Equal), &factors)
                    .primitives
                    .is_empty();
                assert_eq!(dropped, i < edges, "{domain:?} {i} {bad}");
            }
        }
    }
    let infinite = [f32::INFINITY; 6];
    let found = mesh(tessellator(Domain::Quads, Spacing::Equal), &infinite);
    assert_eq!(found.points.len(), 65 * 65);
}

#[test]
fn isolines_are_equal_and_the_last_is_missing() {
    // Three segments of two lines.
    let mut t = tessellator(Domain::Isolines, Spacing::FractionalOdd);
    let found = mesh(t, &[3.0, 1.5]);
    assert_eq!(found.points.len(), 8);
    assert_eq!(found.points[0], [0.0, 0.0]);
    assert_eq!((found.points[4], found.points[7]), ([0.0, 0.5], [1.0, 0.5]));
    let lines = [[0, 1, 0], [1, 2, 1], [2, 3, 2], [4, 5, 4]];
    assert_eq!(found.primitives[..4], lines);
    assert_eq!(found.primitives.len(), 6);
    t.output = Output::Points;
    assert_eq!(mesh(t, &[3.0, 1.5]).primitives.len(), 8);
}

#[test]
fn outputs_are_points_or_turn_the_other_way() {
    let mut t = tessellator(Domain::Quads, Spacing::Equal);
    t.output = Output::Points;
    let points = mesh(t, &[3.0; 6]);
    assert_eq!((points.points.len(), points.primitives.len()), (16, 16));
    assert_eq!(points.primitives[5], [5; 3]);
    t.output = Output::Clockwise;
    let turned = mesh(t, &[3.0; 6]);
    assert_eq!(turned.primitives.len(), 18);
    assert!(turned.primitives.iter().all(|t| area(&turned, t) < 0.0));
}

/// The corner at u = 1 comes last in the outline, as a Turks has it: piglit's
/// `arb_shader_atomic_counters-semantics` draws the three corners into one pixel.
#[test]
fn points_of_triangles_begin_where_v_is_1() {
    let mut t = tessellator(Domain::Triangles, Spacing::Equal);
    t.output = Output::Points;
    let points = mesh(t, &[2.0, 1.0, 1.0, 3.0]).points;
    let outline = [[0.0, 1.0], [0.0, 0.5], [0.0, 0.0], [1.0, 0.0]];
    assert_eq!(points[..4], outline);
    // The triangle inside begins at the same corner.
    assert_eq!(points.len(), 4 + 3);
    let highest = points[4..].iter().map(|p| p[1]).fold(0.0, f32::max);
    assert_eq!(points[4][1], highest);
}

/// Appendix A.4, rules 2, 5 and 6.
#[test]
fn other_levels_change_neither_an_edge_nor_the_inside() {
    for domain in [Domain::Triangles, Domain::Quads] {
        let outer = if domain == Domain::Quads { 4 } else { 3 };
        let t = tessellator(domain, Spacing::FractionalEven);
        let sets = |factors: &[f32; 6]| {
            let mesh = mesh(t, factors);
            let at = |i: &u32| mesh.points[*i as usize].map(f32::to_bits);
            let triangles = mesh.primitives.iter().map(|t| t.each_ref().map(at));
            triangles.collect::<std::collections::HashSet<_>>()
        };
        let one = sets(&[3.0, 7.0, 7.0, 7.0, 9.0, 9.0]);
        let mut factors = [7.0; 6];
        (factors[0], factors[4], factors[5]) = (3.0, 9.0, 9.0);
        factors[outer - 1] = 20.5;
        if domain == Domain::Triangles {
            factors[3] = 7.0;
        }
        let other = sets(&factors);
        let lost: Vec<_> = one.difference(&other).collect();
        assert!(!lost.is_empty() && lost.len() < one.len() / 2);
        // All triangles that change touch the strip of the changed edge: v = 1, or w = 0.
        for triangle in lost {
            let on_edge = triangle.iter().filter(|p| {
                let [u, v] = p.map(f32::from_bits);
                match domain {
                    Domain::Quads => v > 0.8,
                    _ => u + v > 0.8,
                }
            });
            assert_eq!(on_edge.count(), 3, "{triangle:?}");
        }
    }
}

/// A triangle between an edge and the inside is no longer along the edge than two segments.
#[test]
fn connecting_triangles_are_short() {
    let quad = mesh(tessellator(Domain::Quads, Spacing::Equal), &[8.0; 6]);
    let triangle = mesh(tessellator(Domain::Triangles, Spacing::Equal), &[8.0; 4]);
    let mut found = 0;
    for mesh in [quad, triangle] {
        let at_edge = |t: &&[u32; 3]| t.iter().any(|i| mesh.points[*i as usize][1] == 0.0);
        for t in mesh.primitives.iter().filter(at_edge) {
            let u = t.map(|i| mesh.points[i as usize][0]);
            let most = u.into_iter().fold(0.0, f32::max);
            let least = u.into_iter().fold(1.0, f32::min);
            assert!(most - least < 0.26, "{t:?}");
            found += 1;
        }
    }
    assert!(found > 30, "{found}");
}

/// Both ends of an edge of one segment get as much of a strip (piglit's `tess_with_geometry`, which
/// a real Turks passes).
#[test]
fn strips_are_the_same_from_both_ends() {
    let levels = [1.0, 1.0, 1.0, 4.0];
    let mesh = mesh(tessellator(Domain::Triangles, Spacing::Equal), &levels);
    for corner in 0..3 {
        let uses = mesh.primitives.iter().flatten().filter(|i| **i == corner);
        // One along the edge and one beside it, of each edge.
        assert_eq!(uses.count(), 4, "corner {corner}");
    }
}
