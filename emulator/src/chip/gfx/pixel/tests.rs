// SPDX-License-Identifier: MIT

use super::super::lanes::ALL;
use super::super::raster::lanes_within;
use super::super::setup::Stipple;
use super::super::state::Rect;
use super::*;

#[test]
fn cliprect_rule_is_a_truth_table() {
    let empty = Rect::default();
    let left = Rect {
        x0: 0,
        y0: 0,
        x1: 4,
        y1: 8,
    };
    let rects = [left, empty, empty, empty];
    // In rectangle 0 only: bit 1 of the rule.
    let inside = cliprect_lanes(0b10, &rects, 0, 0);
    let outside = cliprect_lanes(0b01, &rects, 0, 0);
    assert_eq!(inside, lanes_within(left, 0, 0));
    assert_eq!(inside ^ outside, ALL);
    assert_eq!(cliprect_lanes(0xFFFF, &rects, 0, 0), ALL);
}

#[test]
fn stencil_is_accessed_where_a_draw_tests_clears_or_copies_it() {
    let mut state = depth::State::planes(&Shadow::default(), None, true);
    for test in [false, true] {
        state.stencil_enable = test;
        for bit in 0..32 {
            let named = matches!(bit, 1 | 3);
            assert_eq!(
                accesses_stencil(&state, 1 << bit),
                test || named,
                "bit {bit}"
            );
        }
    }
}

#[test]
fn each_tile_leads_to_the_next_one() {
    let (columns, rows) = (3..=5, 7..=9);
    let drawn: Vec<_> = rows
        .clone()
        .flat_map(|y| columns.clone().map(move |x| (x, y)))
        .collect();
    let mut next = drawn.first().copied();
    let mut found = Vec::new();
    while let Some(tile) = next {
        found.push(tile);
        next = next_tile(tile, (columns.clone(), *rows.end()));
    }
    assert_eq!(found, drawn);
}

#[test]
fn alpha_of_half_floats_is_cut_for_its_test() {
    let alpha: Lanes = [0.4f32, 0.4004, -0.4].map(f32::to_bits).repeat(22)[..LANES]
        .try_into()
        .unwrap();
    // Mesa's reference for 0.4.
    let cut = f32::from_bits(0.4f32.to_bits() & !0x1FFF);
    let three = |function, reference, half| {
        let test = AlphaTest {
            function,
            reference,
            half,
        };
        test.passing(&alpha) & 7
    };
    const EQUAL: u32 = 2;
    const GREATER: u32 = 4;
    assert_eq!(three(EQUAL, cut, true), 0b001);
    assert_eq!(three(EQUAL, cut, false), 0);
    assert_eq!(three(EQUAL, 0.4, false), 0b001);
    assert_eq!(three(GREATER, cut, true), 0b010);
    // Towards zero.
    assert_eq!(three(EQUAL, -cut, true), 0b100);
}

#[test]
fn stipple_repeats_and_follows_direction() {
    let s = Stipple {
        pattern: 0b01,
        repeat: 2,
        axis: 0,
        start: 0.0,
        sign: 1.0,
        phase: 0.0,
    };
    // Pixels 0 and 1 of 32 are on.
    let row = |s: &Stipple| stipple_lanes(s, 0, 0) & 0x3333;
    assert_eq!(row(&s), 0b11);
    let back = Stipple {
        start: 8.0,
        sign: -1.0,
        ..s
    };
    assert_eq!(row(&back), 0x3000);
    assert_eq!(row(&Stipple { phase: 32.0, ..s }), 0b11);
}
