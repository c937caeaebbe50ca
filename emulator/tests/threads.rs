// SPDX-License-Identifier: MIT
//! Draws whose vertices and primitives several threads share leave the same as on one thread.

// Register values are written field by field.
#![allow(clippy::precedence, clippy::identity_op, clippy::erasing_op)]

use crate::rig::scene::*;
use crate::rig::shader::*;
use crate::rig::{config, Rig};
use r7xx_board::chip::counters::Counter;
use r7xx_board::chip::cp::pm4::IndexSource;
use r7xx_board::chip::gfx::{Limits, Pipeline};

const INDICES: u64 = 0x68_0000;
const BYTES: usize = (WIDTH * HEIGHT * 4) as usize;
/// The target of many squares, the last ones cut.
const TARGET: u64 = 0x60_0000;
const SIDE: u32 = 312;
/// Triangles of the draw: more than a batch has, and no multiple of anything.
const TRIANGLES_DRAWN: u32 = 2901;
const VERTICES_DRAWN: u32 = 1999;
/// `PIPELINESTAT_STOP` and so on.
const SAMPLE_PIPELINESTAT: u8 = 0x1E;
const ZPASS_DONE: u8 = 0x15;
const ADD: u32 = 0x00;
const MUL_IEEE: u32 = 0x02;

/// What is drawn.
#[derive(Debug, Clone, Copy, PartialEq)]
enum What {
    /// Triangles all over a target of one square, some of them clipped.
    Triangles,
    /// Stippled lines there.
    Lines,
    /// Small triangles all over a target of many squares, some of which have an edge in common.
    Small,
    /// Triangles as large as that target.
    Large,
    /// Such triangles of one colour each: the pixel shader need not run for each tile.
    Flat,
    /// Small triangles whose pixel shader is so long that they share its waves.
    Shaded,
}

/// What a draw leaves.
#[derive(Debug, PartialEq)]
struct Drawn {
    /// The target's bytes.
    bytes: Vec<u8>,
    /// The pipeline's statistics with the samples that passed.
    statistics: Vec<u64>,
    /// Tiles in one colour.
    whole: u64,
    /// Waves that several polygons shared.
    gathered: u64,
    /// Its end was dropped.
    dropped: bool,
}

/// The target's bytes, the pipeline's statistics with the samples that passed, and how often threads
/// shared a batch, and sorted it.
fn draw(threads: usize, what: What) -> (Vec<u8>, Vec<u64>, [u64; 2]) {
    let (drawn, shared) = draw_within(threads, what, Limits::default());
    assert!(!drawn.dropped, "{what:?}, {threads} threads");
    (drawn.bytes, drawn.statistics, shared)
}

/// What a draw within `limits` leaves, and how often threads shared a batch, and sorted it.
fn draw_within(threads: usize, what: What, limits: Limits) -> (Drawn, [u64; 2]) {
    let mut rng = fastrand::Rng::with_seed(33);
    let pipeline = Box::new(Pipeline::new(threads).with_limits(limits));
    let mut s = Scene::new(Rig::with_gfx(config(None), pipeline));
    let lines = what == What::Lines;
    let (base, bytes) = match what {
        What::Triangles | What::Lines => (COLOUR, BYTES),
        What::Small | What::Large | What::Flat | What::Shaded => {
            let size = SIDE | SIDE << 16;
            for register in [0x2_8034, 0x2_8208, 0x2_8244] {
                s.set(register, size);
            }
            for register in [0x2_843C, 0x2_8440, 0x2_8444, 0x2_8448] {
                s.set(register, f(SIDE as f32 / 2.0));
            }
            s.set(0x2_8040, (TARGET >> 8) as u32);
            s.set(0x2_8060, (SIDE / 8 - 1) | (SIDE * SIDE / 64 - 1) << 10);
            (TARGET, (SIDE * SIDE * 4) as usize)
        }
    };
    s.rig.ib(base, &vec![0; bytes / 4]);
    // Triangles all over each other, some of them clipped, in colours of their own.
    let mut last = [0.0; 2];
    let vertices: Vec<Vertex> = (0..VERTICES_DRAWN)
        .map(|_| {
            let w = rng.f32() * 2.0 - 0.2;
            let position = [(); 3].map(|()| (rng.f32() * 3.0 - 1.5) * w.abs());
            let colour = [(); 4].map(|()| rng.f32());
            match (what, position) {
                (What::Small | What::Shaded, _) => {}
                (What::Flat, _) => {
                    let [x, y] = [(); 2].map(|()| rng.f32() * 4.0 - 2.0);
                    return ([x, y, 0.0, 1.0], colour);
                }
                (_, [x, y, z]) => return ([x, y, z, w], colour),
            }
            // A walk in small steps, with jumps.
            for at in &mut last {
                *at += rng.f32() * 0.2 - 0.1;
                if at.abs() > 1.0 || rng.u8(..) < 8 {
                    *at = rng.f32() * 2.0 - 1.0;
                }
            }
            ([last[0], last[1], 0.0, 1.0], colour)
        })
        .collect();
    s.vertices(&vertices);
    let triangles = match what {
        What::Large | What::Flat => 50,
        _ => TRIANGLES_DRAWN,
    };
    let mut next = 0;
    let indices: Vec<u32> = (0..triangles)
        .flat_map(|_| match what {
            What::Small | What::Shaded => {
                next = match rng.bool() {
                    true if next + 3 < VERTICES_DRAWN => next + 1,
                    _ => rng.u32(..VERTICES_DRAWN - 2),
                };
                [next, next + 1, next + 2]
            }
            _ => [(); 3].map(|()| rng.u32(..VERTICES_DRAWN)),
        })
        .collect();
    s.rig.ib(INDICES, &indices);
    // VGT_INDEX_32
    s.set(0x2_8A7C, 1);
    // SRC_ALPHA, ONE_MINUS_SRC_ALPHA: the order is seen everywhere.
    s.set(0x2_80A0, 0x1A << 2 | 1 << 8 | 1 << 20);
    s.set(0x2_8804, 4 | 5 << 8);
    s.set(0x2_8808, 0xCC << 16 | 1 << 8);
    if what == What::Flat {
        // FLAT_SHADE of input 0.
        s.set(0x2_8644, 1 | 1 << 10);
    }
    if what == What::Shaded {
        // Each component of the colour, and something much smaller, 40 times.
        let smaller = |chan: u32| op2(MUL_IEEE, 1, chan, gpr(0, chan), Src(LITERAL, 0), true);
        let mut ps = Shader::new();
        for chan in 0..4 {
            ps.alu(0x08, &[smaller(chan)], &[f(0.001), 0]);
            let add = op2(ADD, 0, chan, gpr(0, chan), gpr(1, chan), true);
            ps.alu(0x08, &[add; 10], &[]);
        }
        ps.export(PIXEL, 0, 0, XYZW, true);
        let start = s.shader(&ps);
        s.set(START_PS, start);
    }
    if lines {
        // Stippled lines: each begins where the one before has ended.
        s.set(0x2_8A0C, 0xF0F0 | 2 << 16);
        s.set(0x2_8A4C, 1 << 2);
    }
    let (kind, count) = match lines {
        true => (LINES, 2 * triangles),
        false => (TRIANGLES, 3 * triangles),
    };
    let at = s.results();
    s.event(ZPASS_DONE, 1, Some(at + 64));
    s.draw_from(kind, IndexSource::Memory(INDICES), count, 0);
    s.event(SAMPLE_PIPELINESTAT, 2, Some(at));
    s.event(ZPASS_DONE, 1, Some(at + 96));
    s.finish();
    let mut statistics: Vec<u64> = (0..8).map(|n| s.rig.mc_u64(at + 8 * n)).collect();
    statistics.push(s.rig.mc_u64(at + 96) - s.rig.mc_u64(at + 64));
    let counters = s.rig.chip.counters();
    let shared = [Counter::SharedBatches, Counter::SortedBatches].map(|n| counters.get(n));
    let drawn = Drawn {
        bytes: s.rig.bytes(base, bytes),
        statistics,
        whole: counters.get(Counter::WholeTiles),
        gathered: counters.get(Counter::GatheredWaves),
        dropped: counters.get(Counter::DroppedDraws) == 1,
    };
    (drawn, shared)
}

/// Draws by `threads`, and by one thread, which leaves the same. Returns the bytes, and how often the
/// threads sorted a batch.
fn compare(threads: usize, what: What) -> (Vec<u8>, u64) {
    let (bytes, statistics, none) = draw(1, what);
    assert_eq!(none, [0; 2], "{what:?}");
    let (same, numbers, [_, sorted]) = draw(threads, what);
    assert!(same == bytes, "{what:?}, {threads} threads");
    assert_eq!(numbers, statistics, "{what:?}, {threads} threads");
    (bytes, sorted)
}

#[test]
fn polygons_sorted_by_square_keep_their_order() {
    for threads in [2, 3] {
        let (bytes, sorted) = compare(threads, What::Small);
        assert_eq!(sorted, 2, "batches");
        let drawn = bytes.chunks(4).filter(|pixel| pixel[3] != 0).count();
        assert!(drawn > (SIDE * SIDE / 2) as usize, "{drawn}");
    }
}

#[test]
fn polygons_share_the_same_waves_on_any_number_of_threads() {
    let (alone, [_, sorted]) = draw_within(1, What::Shaded, Limits::default());
    assert_eq!(sorted, 2, "batches");
    assert!(alone.gathered > 500, "{}", alone.gathered);
    for threads in [2, 3, 8] {
        let (same, [_, sorted]) = draw_within(threads, What::Shaded, Limits::default());
        assert!(same == alone, "{threads} threads");
        assert_eq!(sorted, 2, "{threads} threads");
    }
}

#[test]
fn threads_that_take_squares_keep_the_order_of_polygons() {
    for threads in [2, 3, 7] {
        let (bytes, sorted) = compare(threads, What::Large);
        assert_eq!(sorted, 0);
        let drawn = bytes.chunks(4).filter(|pixel| pixel[3] != 0).count();
        assert!(drawn > (SIDE * SIDE / 2) as usize, "{drawn}");
    }
}

#[test]
fn threads_that_share_a_batch_keep_its_order() {
    let (bytes, statistics, none) = draw(1, What::Triangles);
    assert_eq!(none, [0; 2]);
    assert!(bytes.chunks(4).filter(|pixel| pixel[3] != 0).count() > 4000);
    // Primitives that entered the clipper, and samples that passed: each ran the pixel shader.
    assert_eq!(statistics[2], u64::from(TRIANGLES_DRAWN));
    assert!(statistics[8] > 4000 && statistics[8] == statistics[0]);
    for threads in [2, 3] {
        let (same, numbers, [shared, _]) = draw(threads, What::Triangles);
        assert!(same == bytes, "{threads} threads");
        assert_eq!(numbers, statistics, "{threads} threads");
        // Two batches, each of vertices and of primitives.
        assert_eq!(shared, 4, "{threads} threads");
    }
}

#[test]
fn stippled_lines_are_set_up_in_their_order() {
    let (bytes, statistics, none) = draw(1, What::Lines);
    assert_eq!(none, [0; 2]);
    let (same, numbers, [shared, _]) = draw(3, What::Lines);
    assert!(same == bytes);
    assert_eq!(numbers, statistics);
    // Vertices only.
    assert_eq!(shared, 2);
}

/// Pixels that something was drawn to.
fn touched(bytes: &[u8]) -> usize {
    bytes.chunks(4).filter(|pixel| pixel[3] != 0).count()
}

/// The limit of tiles ends a draw in its middle: the same pixels and statistics, however many threads
/// take squares, and whether these are sorted.
#[test]
fn a_limit_of_tiles_is_the_draws_and_not_a_threads() {
    // Polygons that are sorted, in the second batch; some that are not; the middle of one.
    for (what, tiles, sorted) in [
        (What::Small, 30_000, 2),
        (What::Large, 20_000, 0),
        (What::Large, 400, 0),
    ] {
        let limits = Limits {
            tiles,
            ..Limits::default()
        };
        let (all, ..) = draw(1, what);
        let (cut, _) = draw_within(1, what, limits);
        assert!(cut.dropped, "{what:?}");
        let (some, most) = (touched(&cut.bytes), touched(&all));
        assert!(
            some > 1000 && cut.bytes != all,
            "{what:?}: {some} of {most}"
        );
        for threads in [2, 3, 8, 8] {
            let (same, [_, batches]) = draw_within(threads, what, limits);
            assert!(same == cut, "{what:?}, {threads} threads");
            assert_eq!(batches, sorted, "{what:?}, {threads} threads");
        }
    }
}

/// A shader that gives all pixels of a polygon the same runs once for each thread that draws it, or
/// once for each square. What is charged for it does not depend on that.
#[test]
fn a_limit_of_instructions_is_the_draws_and_not_a_threads() {
    let whole = limit_of_instructions(What::Flat).whole;
    assert!(whole > 1000, "{whole}");
    let gathered = limit_of_instructions(What::Shaded).gathered;
    assert!(gathered > 500, "{gathered}");
}

/// Checks that the same limit drops a draw on any number of threads. Returns what it leaves with the
/// least one that does not.
fn limit_of_instructions(what: What) -> Drawn {
    let draw = |threads: usize, instructions: u64| {
        let limits = Limits {
            instructions,
            ..Limits::default()
        };
        draw_within(threads, what, limits).0
    };
    let dropped = |threads: usize, instructions: u64| draw(threads, instructions).dropped;
    // The most instructions with which it is dropped.
    let (mut low, mut high) = (0, 1 << 20);
    while high - low > 1 {
        let middle = (low + high) / 2;
        match dropped(1, middle) {
            true => low = middle,
            false => high = middle,
        }
    }
    assert!(low > 300, "{low}");
    for threads in [2, 3, 8] {
        assert!(dropped(threads, low), "{what:?}, {threads} threads");
        assert!(!dropped(threads, high), "{what:?}, {threads} threads");
    }
    draw(1, high)
}
