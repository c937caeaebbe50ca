// SPDX-License-Identifier: MIT
//! Draws whose vertices and primitives several threads share leave the same as on one thread.

// Register values are written field by field.
#![allow(clippy::precedence, clippy::identity_op, clippy::erasing_op)]

use crate::rig::scene::*;
use crate::rig::{config, Rig};
use r7xx_board::chip::counters::Counter;
use r7xx_board::chip::cp::pm4::IndexSource;
use r7xx_board::chip::gfx::Pipeline;

const INDICES: u64 = 0x68_0000;
const BYTES: usize = (WIDTH * HEIGHT * 4) as usize;
/// Triangles of the draw: more than a batch has, and no multiple of anything.
const TRIANGLES_DRAWN: u32 = 2901;
const VERTICES_DRAWN: u32 = 1999;
/// `PIPELINESTAT_STOP` and so on.
const SAMPLE_PIPELINESTAT: u8 = 0x1E;
const ZPASS_DONE: u8 = 0x15;

/// The target's bytes, the pipeline's statistics with the samples that passed, and how often threads
/// shared a batch.
fn draw(threads: usize, lines: bool) -> (Vec<u8>, Vec<u64>, u64) {
    let mut rng = fastrand::Rng::with_seed(33);
    let pipeline = Box::new(Pipeline::new(threads));
    let mut s = Scene::new(Rig::with_gfx(config(None), pipeline));
    s.rig.ib(COLOUR, &vec![0; BYTES / 4]);
    // Triangles all over each other, some of them clipped, in colours of their own.
    let vertices: Vec<Vertex> = (0..VERTICES_DRAWN)
        .map(|_| {
            let w = rng.f32() * 2.0 - 0.2;
            let [x, y, z] = [(); 3].map(|()| (rng.f32() * 3.0 - 1.5) * w.abs());
            ([x, y, z, w], [(); 4].map(|()| rng.f32()))
        })
        .collect();
    s.vertices(&vertices);
    let indices: Vec<u32> = (0..3 * TRIANGLES_DRAWN)
        .map(|_| rng.u32(..VERTICES_DRAWN))
        .collect();
    s.rig.ib(INDICES, &indices);
    // VGT_INDEX_32
    s.set(0x2_8A7C, 1);
    // SRC_ALPHA, ONE_MINUS_SRC_ALPHA: the order is seen everywhere.
    s.set(0x2_80A0, 0x1A << 2 | 1 << 8 | 1 << 20);
    s.set(0x2_8804, 4 | 5 << 8);
    s.set(0x2_8808, 0xCC << 16 | 1 << 8);
    if lines {
        // Stippled lines: each begins where the one before has ended.
        s.set(0x2_8A0C, 0xF0F0 | 2 << 16);
        s.set(0x2_8A4C, 1 << 2);
    }
    let (kind, count) = match lines {
        true => (LINES, 2 * TRIANGLES_DRAWN),
        false => (TRIANGLES, 3 * TRIANGLES_DRAWN),
    };
    let at = s.results();
    s.event(ZPASS_DONE, 1, Some(at + 64));
    s.draw_from(kind, IndexSource::Memory(INDICES), count, 0);
    s.event(SAMPLE_PIPELINESTAT, 2, Some(at));
    s.event(ZPASS_DONE, 1, Some(at + 96));
    s.finish();
    let mut statistics: Vec<u64> = (0..8).map(|n| s.rig.mc_u64(at + 8 * n)).collect();
    statistics.push(s.rig.mc_u64(at + 96) - s.rig.mc_u64(at + 64));
    let shared = s.rig.chip.counters().get(Counter::SharedBatches);
    (s.rig.bytes(COLOUR, BYTES), statistics, shared)
}

#[test]
fn threads_that_share_a_batch_keep_its_order() {
    let (bytes, statistics, none) = draw(1, false);
    assert_eq!(none, 0);
    assert!(bytes.chunks(4).filter(|pixel| pixel[3] != 0).count() > 4000);
    // Primitives that entered the clipper, and samples that passed: each ran the pixel shader.
    assert_eq!(statistics[2], u64::from(TRIANGLES_DRAWN));
    assert!(statistics[8] > 4000 && statistics[8] == statistics[0]);
    for threads in [2, 3] {
        let (same, numbers, shared) = draw(threads, false);
        assert!(same == bytes, "{threads} threads");
        assert_eq!(numbers, statistics, "{threads} threads");
        // Two batches, each of vertices and of primitives.
        assert_eq!(shared, 4, "{threads} threads");
    }
}

#[test]
fn stippled_lines_are_set_up_in_their_order() {
    let (bytes, statistics, none) = draw(1, true);
    assert_eq!(none, 0);
    let (same, numbers, shared) = draw(3, true);
    assert!(same == bytes);
    assert_eq!(numbers, statistics);
    // Vertices only.
    assert_eq!(shared, 2);
}
