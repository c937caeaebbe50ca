// SPDX-License-Identifier: MIT
//! The threads that draw pixels: each owns squares of the render targets.

use std::panic::{catch_unwind, AssertUnwindSafe};

use rayon_core::{ThreadPool, ThreadPoolBuilder};

use super::batch::{Batch, DrawState, Failed, Progress};
use super::memory::View;
use super::pixel::{PixelCounts, PixelState};
use super::shader::Stop;
use super::vertex::Core;
use crate::chip::counters::Counter;

/// Fewest pixels of a batch for which several threads are faster than one.
const PARALLEL_PIXELS: i64 = 16 * 1024;

/// The state of `count` threads that run shaders.
pub(super) fn cores(count: usize) -> Vec<Core> {
    let core = |worker| Core {
        // HW_WAVE_ID has no more.
        worker: worker as u32 & 0xFF,
        ..Core::default()
    };
    (0..count).map(core).collect()
}

/// A pool of `count` threads.
fn threads(count: usize) -> Option<ThreadPool> {
    let pool = ThreadPoolBuilder::new().num_threads(count);
    match pool.thread_name(|i| format!("gfx-{}", i + 1)).build() {
        Ok(pool) => Some(pool),
        Err(e) => {
            log::warn!("gfx: draws on one thread: {e}");
            None
        }
    }
}

/// Draws the pixels of all setups, each square by one worker.
pub(super) fn raster(
    state: &DrawState<'_, '_>,
    pixel: &PixelState,
    progress: &mut Progress<'_>,
    cores: &mut [Core],
    batch: &Batch,
) -> Result<(), Failed> {
    let area: i64 = batch
        .setups
        .iter()
        .map(|s| {
            let b = s.polygon.bounds;
            i64::from(b.x1 - b.x0) * i64::from(b.y1 - b.y0)
        })
        .sum();
    // Each worker's count begins with that of the draw so far.
    let before = progress.pixels.tiles;
    let draw = |core: &mut Core, view: &View<'_>, mine: &dyn Fn(i32, i32) -> bool| {
        let mut counts = PixelCounts {
            tiles: before,
            ..PixelCounts::default()
        };
        for setup in &batch.setups {
            pixel.draw(
                core,
                state.shared,
                view,
                &batch.vertices,
                setup,
                &mut counts,
                mine,
            )?;
        }
        Ok::<_, Stop>(counts)
    };
    let workers = cores.len() as i32;
    let mine = |worker: i32| move |sx: i32, sy: i32| (sx + sy).rem_euclid(workers) == worker;
    let mut results = vec![Ok(PixelCounts::default()); cores.len()];
    let pool = match workers > 1 && area > PARALLEL_PIXELS {
        true => state.pool.get_or_init(|| threads(cores.len() - 1)).as_ref(),
        false => None,
    };
    match (cores, &mut results[..], pool) {
        // This thread is worker 0.
        ([own, others @ ..], [result, rest @ ..], Some(pool)) => {
            let (draw, mine, context) = (&draw, &mine, state.shared.context);
            let compressed = state.view.compressed;
            pool.in_place_scope(|scope| {
                for ((core, result), worker) in others.iter_mut().zip(rest).zip(1..) {
                    scope.spawn(move |_| {
                        let view = View::of(&context).watched(compressed);
                        let job = || draw(core, &view, &mine(worker));
                        // The pool would pass the panic on to the caller's thread.
                        *result = catch_unwind(AssertUnwindSafe(job)).unwrap_or_else(|_| {
                            context.control.count(Counter::EnginePanics, 1);
                            *core = Core {
                                worker: worker as u32 & 0xFF,
                                ..Core::default()
                            };
                            Err(Stop::Fault("a worker panicked"))
                        });
                    });
                }
                *result = draw(own, state.view, &mine(0));
            });
        }
        (cores, results, _) => results[0] = draw(&mut cores[0], state.view, &|_, _| true),
    }
    for result in results {
        let counts = result?;
        progress.pixels.passed += counts.passed;
        progress.pixels.invocations += counts.invocations;
        progress.pixels.whole += counts.whole;
        progress.pixels.blocks += counts.blocks;
        progress.pixels.short += counts.short;
        progress.pixels.bytes += counts.bytes;
        progress.pixels.tiles = progress.pixels.tiles.max(counts.tiles);
    }
    Ok(())
}
