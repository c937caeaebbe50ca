// SPDX-License-Identifier: MIT
//! Hostile state, shaders and draws: every draw ends, and the ring continues.

use proptest::prelude::*;

use crate::rig::scene::*;
use crate::rig::shader::*;
use crate::rig::{config, Rig, GTT};
use r7xx_board::chip::counters::Counter;
use r7xx_board::chip::cp::pm4::{IndexSource, Packet};
use r7xx_board::chip::gfx::{Limits, Pipeline};

/// Budgets that keep a case short.
const LIMITS: Limits = Limits {
    wave_instructions: 1 << 12,
    instructions: 1 << 18,
    vertices: 1 << 12,
    tiles: 1 << 12,
};

/// Registers that the pipeline reads.
fn register() -> impl Strategy<Value = u32> {
    let context = (0x2_8000u32 / 4..0x2_9000 / 4).prop_map(|r| r * 4);
    let resources = (0u32..7).prop_map(|i| 0x3_8000 + 28 * 160 + 4 * i);
    let textures = (0u32..7).prop_map(|i| 0x3_8000 + 4 * i);
    let samplers = (0u32..3).prop_map(|i| 0x3_C000 + 4 * i);
    let rings = (0u32..8).prop_map(|i| 0x8C40 + 4 * i);
    prop_oneof![
        8 => context,
        1 => resources,
        1 => textures,
        1 => samplers,
        1 => rings,
        1 => Just(0x8958u32),
        1 => Just(0x98F0),
    ]
}

fn value() -> impl Strategy<Value = u32> {
    let float = prop_oneof![
        Just(f32::NAN),
        Just(f32::INFINITY),
        Just(f32::MAX),
        Just(-1.0f32),
        -100.0f32..100.0,
    ];
    prop_oneof![
        4 => any::<u32>(),
        2 => 0u32..32,
        2 => float.prop_map(f32::to_bits),
        1 => (0u32..32).prop_map(|n| 1 << n),
        1 => Just(u32::MAX),
        1 => Just((GTT >> 8) as u32),
    ]
}

/// A change of one word of a shader.
fn mutation() -> impl Strategy<Value = (usize, u32)> {
    (
        0usize..64,
        prop_oneof![any::<u32>(), (0u32..32).prop_map(|n| 1 << n)],
    )
}

fn source() -> impl Strategy<Value = IndexSource> {
    prop_oneof![
        Just(IndexSource::Auto),
        (0u64..1 << 40).prop_map(IndexSource::Memory),
        (0u64..0x60_0000).prop_map(IndexSource::Memory),
        proptest::collection::vec(any::<u32>(), 0..9).prop_map(IndexSource::Immediate),
    ]
}

fn count() -> impl Strategy<Value = u32> {
    prop_oneof![4 => 0u32..40, 1 => any::<u32>()]
}

#[derive(Debug, Clone)]
struct Case {
    registers: Vec<(u32, u32)>,
    shaders: Vec<(u8, Vec<(usize, u32)>)>,
    draws: Vec<(u32, IndexSource, u32, u32)>,
    instances: u32,
    vertices: Vec<[u32; 8]>,
}

fn case() -> impl Strategy<Value = Case> {
    (
        proptest::collection::vec((register(), value()), 0..24),
        proptest::collection::vec((0u8..4, proptest::collection::vec(mutation(), 0..4)), 0..3),
        proptest::collection::vec((0u32..32, source(), count(), 0u32..128), 1..4),
        prop_oneof![6 => 0u32..4, 1 => any::<u32>()],
        proptest::collection::vec(any::<[u32; 8]>(), 0..6),
    )
        .prop_map(|(registers, shaders, draws, instances, vertices)| Case {
            registers,
            shaders,
            draws,
            instances,
            vertices,
        })
}

fn run(case: &Case, s: &mut Scene) {
    s.vertices(&[
        ([-1.0, -1.0, 0.5, 1.0], [1.0, 0.5, 0.25, 1.0]),
        ([3.0, -1.0, 0.5, 1.0], [0.0, 0.5, 0.25, 1.0]),
        ([-1.0, 3.0, 0.5, 1.0], [1.0, 1.0, 0.25, 1.0]),
    ]);
    for (i, words) in case.vertices.iter().enumerate() {
        s.rig.ib(VERTICES + 32 * i as u64, words);
    }
    for (stage, mutations) in &case.shaders {
        let mut words = match stage {
            0 => vertex_shader().words(),
            1 => {
                let mut ps = Shader::new();
                ps.sample(1, 0, 0)
                    .alu(0x08, &[op2(0x2D, 2, 0, gpr(1, 0), Src(HALF, 0), true)], &[])
                    .export(PIXEL, 0, 1, XYZW, true);
                ps.words()
            }
            _ => pixel_shader().words(),
        };
        for (at, value) in mutations {
            let n = words.len();
            words[at % n] ^= value;
        }
        let start = s.shader_words(&words);
        s.set(
            [0x2_8858, 0x2_8840, 0x2_886C, 0x2_8880][*stage as usize],
            start,
        );
    }
    for (register, value) in &case.registers {
        s.set(*register, *value);
    }
    s.rig
        .cp_fill(&Packet::NumInstances(case.instances).encode());
    for (kind, source, count, initiator) in &case.draws {
        s.draw_from(*kind, source.clone(), *count, *initiator);
    }
    s.event(0x1F, 0, None);
    s.finish();
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 120,
        max_shrink_iters: 200,
        ..ProptestConfig::default()
    })]

    #[test]
    fn hostile_draws_end_and_the_ring_goes_on(cases in proptest::collection::vec(case(), 1..4)) {
        let gfx = Box::new(Pipeline::new(2).with_limits(LIMITS));
        let mut s = Scene::new(Rig::with_gfx(config(None), gfx));
        for case in &cases {
            run(case, &mut s);
        }
        let draws: usize = cases.iter().map(|c| c.draws.len()).sum();
        prop_assert_eq!(s.rig.chip.counters().get(Counter::Draws), draws as u64);
    }
}

#[test]
fn budgets_cut_what_does_not_end() {
    let gfx = Box::new(Pipeline::new(1).with_limits(LIMITS));
    let mut s = Scene::new(Rig::with_gfx(config(None), gfx));
    s.vertices(&[([0.0; 4], [0.0; 4]); 3]);
    s.draw(TRIANGLES, u32::MAX);
    s.finish();
    assert_eq!(s.rig.chip.counters().get(Counter::DroppedDraws), 1);
    // Instances without indices: the packet has fewer than it announces.
    s.rig.cp_fill(&Packet::NumInstances(u32::MAX).encode());
    s.draw_from(TRIANGLES, IndexSource::Immediate(Vec::new()), 3, 1);
    s.finish();
    assert_eq!(s.rig.chip.counters().get(Counter::DroppedDraws), 2);
}
