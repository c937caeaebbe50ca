// SPDX-License-Identifier: MIT
//! The threads of a draw: each shades and sets up a part of a large batch, and takes squares of the
//! render targets.

use std::panic::{catch_unwind, AssertUnwindSafe};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use rayon_core::{ThreadPool, ThreadPoolBuilder, Yield};

use super::batch::{Batch, DrawState, Failed, Progress};
use super::lanes::LANES;
use super::memory::View;
use super::pixel::{PixelCounts, PixelState, TileJob};
use super::setup::{capacity, Builder, ClipCounts, Setup, Vertices};
use super::shader::Stop;
use super::squares::{cut, Extent, Squares};
use super::vertex::{self, Core, StreamData};
use crate::chip::counters::Counter;

/// Fewest pixels of a batch for which several threads are faster than one.
const PARALLEL_PIXELS: i64 = 16 * 1024;
/// The same of vertices, and of primitives.
const PARALLEL_VERTICES: usize = 512;
const PARALLEL_PRIMITIVES: usize = 512;

/// How long a thread that is kept awake looks for work in vain. The steps of a draw between two that
/// several threads share take less, and to wake a thread that sleeps takes some tens of µs.
const PATIENCE: Duration = Duration::from_micros(300);

/// What a thread makes of its part of a batch.
#[derive(Debug, Default)]
pub struct Part {
    vertices: Vertices,
    streams: StreamData,
    setups: Vec<Setup>,
}

impl Part {
    /// Bytes of memory that the lists take, empty or not.
    pub(super) fn bytes(&self) -> usize {
        self.vertices.bytes() + self.streams.bytes() + capacity(&self.setups)
    }
}

/// The state of `count` threads that run shaders.
pub(super) fn cores(count: usize) -> Vec<Core> {
    let core = |worker| Core {
        // HW_WAVE_ID has no more.
        worker: worker as u32 & 0xFF,
        ..Core::default()
    };
    (0..count).map(core).collect()
}

/// A pool of this thread and `count` others. What the others have not begun when this thread is done
/// with its own part it does itself: it waits for no thread to wake up. (A thread that is in another
/// pool is not in this one, and waits.)
fn threads(count: usize) -> Option<ThreadPool> {
    let build = |pool: ThreadPoolBuilder| pool.thread_name(|i| format!("gfx-{i}")).build();
    let with_this = ThreadPoolBuilder::new().num_threads(count + 1);
    let pool = build(with_this.use_current_thread());
    match pool.or_else(|_| build(ThreadPoolBuilder::new().num_threads(count))) {
        Ok(pool) => Some(pool),
        Err(e) => {
            log::warn!("gfx: draws on one thread: {e}");
            None
        }
    }
}

/// Runs `draw`. If it has as many as `vertices` vertices, the threads that share its steps stay awake
/// between two of them, which this thread takes alone.
pub(super) fn awake<R>(
    state: &DrawState<'_, '_>,
    cores: &mut [Core],
    vertices: u64,
    draw: impl FnOnce(&mut [Core]) -> R,
) -> R {
    let others = cores.len().saturating_sub(1);
    let many = others > 0 && vertices >= PARALLEL_VERTICES as u64;
    match many.then(|| state.pool.get_or_init(|| threads(others)).as_ref()) {
        Some(Some(pool)) => kept_awake(pool, others, PATIENCE, || draw(cores)).0,
        _ => draw(cores),
    }
}

/// Runs `work` while `others` threads of the pool look for tasks of it, each until there has been none
/// for as long as `patience`. Returns the result, and how many tasks they ran.
fn kept_awake<R>(
    pool: &ThreadPool,
    others: usize,
    patience: Duration,
    work: impl FnOnce() -> R,
) -> (R, usize) {
    let (over, ran) = (AtomicBool::new(false), AtomicUsize::new(0));
    let own = pool.current_thread_index();
    let result = pool.in_place_scope(|scope| {
        // Also if it panics: the scope waits for the others.
        let _over = Raised(&over);
        for _ in 0..others {
            scope.spawn(|_| {
                // This thread takes it if it waits for another one.
                if own.is_none() || own != pool.current_thread_index() {
                    ran.fetch_add(run_tasks(pool, &over, patience), Ordering::Relaxed);
                }
            });
        }
        work()
    });
    (result, ran.into_inner())
}

/// Sets a flag when it is dropped.
struct Raised<'a>(&'a AtomicBool);

impl Drop for Raised<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Release);
    }
}

/// Runs tasks of the pool until `over` is set, or there has been none for as long as `patience`. Returns
/// how many.
fn run_tasks(pool: &ThreadPool, over: &AtomicBool, patience: Duration) -> usize {
    let (mut ran, mut since) = (0, Instant::now());
    while !over.load(Ordering::Acquire) && since.elapsed() < patience {
        match pool.yield_now() {
            Some(Yield::Executed) => (ran, since) = (ran + 1, Instant::now()),
            _ => thread::yield_now(),
        }
    }
    ran
}

/// A thread of a draw: its number, and the number of threads.
#[derive(Debug, Clone, Copy)]
struct Worker {
    number: usize,
    of: usize,
}

impl Worker {
    /// The thread's part of `list`. Parts are of equal length, a multiple of `unit`, but for the
    /// last ones.
    fn part<T>(self, list: &[T], unit: usize) -> &[T] {
        let length = list.len().div_ceil(unit).div_ceil(self.of.max(1)) * unit;
        let [from, to] = [self.number, self.number + 1].map(|n| (n * length).min(list.len()));
        &list[from..to]
    }
}

/// Runs `job` on all cores, on the first by this thread; on the first alone unless `many` is set and
/// there are threads. Returns the results in the cores' order.
fn each<R: Clone + Send>(
    state: &DrawState<'_, '_>,
    cores: &mut [Core],
    many: bool,
    job: &(dyn Fn(Worker, &mut Core, &View<'_>) -> Result<R, Stop> + Sync),
) -> Vec<Result<R, Stop>> {
    let pool = match many && cores.len() > 1 {
        true => state.pool.get_or_init(|| threads(cores.len() - 1)).as_ref(),
        false => None,
    };
    let of = if pool.is_some() { cores.len() } else { 1 };
    let mut results = vec![Err(Stop::Fault("a worker did not run")); of];
    match (cores, &mut results[..], pool) {
        // This thread is worker 0.
        ([own, others @ ..], [result, rest @ ..], Some(pool)) => {
            let (context, compressed) = (state.shared.context, state.view.compressed);
            // Whichever thread panics, the draw is dropped, and the next one has all threads: the
            // pool would pass the panic on to the caller's thread.
            let run = |number: usize, core: &mut Core, view: &View<'_>| {
                let job = || job(Worker { number, of }, core, view);
                catch_unwind(AssertUnwindSafe(job)).unwrap_or_else(|_| {
                    context.control.count(Counter::EnginePanics, 1);
                    *core = Core {
                        worker: number as u32 & 0xFF,
                        ..Core::default()
                    };
                    Err(Stop::Fault("a worker panicked"))
                })
            };
            let run = &run;
            pool.in_place_scope(|scope| {
                for ((core, result), number) in others.iter_mut().zip(rest).zip(1..) {
                    scope.spawn(move |_| {
                        let view = View::of(&context).watched(compressed);
                        *result = run(number, core, &view);
                    });
                }
                *result = run(0, own, state.view);
            });
        }
        (cores, results, _) => {
            results[0] = job(Worker { number: 0, of }, &mut cores[0], state.view);
        }
    }
    results
}

/// Counts a step of a batch that `threads` threads have shared.
fn shared_by(state: &DrawState<'_, '_>, threads: usize) {
    if threads > 1 {
        (state.shared.context.control).count(Counter::SharedBatches, 1);
    }
}

/// Shades the vertices that a batch requests, on several threads if they are many; on one if
/// somebody sees the order (`ordered`).
pub(super) fn vertices(
    state: &DrawState<'_, '_>,
    cores: &mut [Core],
    batch: &mut Batch,
    ordered: bool,
) -> Result<(), Failed> {
    let requests = &batch.requests[..];
    let (stride, program) = (batch.vertices.stride, &state.vertex);
    let many = requests.len() >= PARALLEL_VERTICES
        && !ordered
        && state.shared.probe.is_none()
        && program.only_exports()
        && (state.shared.fetch.as_ref()).is_none_or(|fetch| fetch.only_exports());
    if !many {
        return Ok(vertex::shade(
            &mut cores[0],
            state.shared,
            state.view,
            program,
            requests,
            &mut batch.vertices,
            &mut batch.streams,
        )?);
    }
    // The first thread's vertices stay where they are.
    std::mem::swap(&mut batch.vertices, &mut cores[0].part.vertices);
    let results = each(state, cores, many, &|worker, core, view| {
        let mut part = std::mem::take(&mut core.part);
        part.vertices.clear(stride);
        part.streams.clear();
        let requests = worker.part(requests, LANES);
        let (vertices, streams) = (&mut part.vertices, &mut part.streams);
        let result = vertex::shade(
            core,
            state.shared,
            view,
            program,
            requests,
            vertices,
            streams,
        );
        core.part = part;
        result
    });
    std::mem::swap(&mut batch.vertices, &mut cores[0].part.vertices);
    shared_by(state, results.len());
    for (number, (core, result)) in cores.iter_mut().zip(results).enumerate() {
        result?;
        if number != 0 {
            batch.vertices.append(&mut core.part.vertices);
        }
    }
    Ok(())
}

/// Sets up the primitives of a batch, on several threads if they are many.
pub(super) fn setups(
    state: &DrawState<'_, '_>,
    progress: &mut Progress<'_>,
    cores: &mut [Core],
    batch: &mut Batch,
) -> Result<(), Failed> {
    batch.setups.resize_with(cores.len(), Vec::new);
    batch.setups.iter_mut().for_each(Vec::clear);
    let (primitives, vertices) = (&batch.primitives[..], &batch.vertices);
    // A line's stipple begins where that of the line before it ended.
    if primitives.len() < PARALLEL_PRIMITIVES || state.setup.stipple.is_some() {
        for primitive in primitives {
            (progress.builder).add(vertices, primitive, &mut batch.setups[0]);
        }
        return Ok(());
    }
    let results = each(state, cores, true, &|worker, core, _| {
        let mut builder = Builder::new(state.setup);
        core.part.setups.clear();
        for primitive in worker.part(primitives, 1) {
            builder.add(vertices, primitive, &mut core.part.setups);
        }
        Ok::<ClipCounts, Stop>(builder.counts)
    });
    shared_by(state, results.len());
    for ((setups, core), result) in batch.setups.iter_mut().zip(cores).zip(results) {
        let counts = result?;
        std::mem::swap(setups, &mut core.part.setups);
        progress.builder.counts.invocations += counts.invocations;
        progress.builder.counts.primitives += counts.primitives;
    }
    Ok(())
}

/// Draws the pixels of all setups, each square by one worker. Those beyond the draw's limit are
/// dropped before workers begin, so that it does not matter who draws what.
pub(super) fn raster(
    state: &DrawState<'_, '_>,
    pixel: &PixelState,
    progress: &mut Progress<'_>,
    cores: &mut [Core],
    batch: &mut Batch,
) -> Result<(), Failed> {
    let mut extent = Extent::of(batch.setups.iter().flatten());
    let most = state.shared.limits.tiles.saturating_sub(progress.tiles);
    let too_many = extent.work > most;
    if too_many {
        cut(&mut batch.setups, most);
        extent = Extent::of(batch.setups.iter().flatten());
    }
    progress.tiles += extent.work;
    let batch = &*batch;
    let setups = || batch.setups.iter().flatten();
    let many = cores.len() > 1 && extent.area > PARALLEL_PIXELS;
    let gathering = pixel.may_gather(state.shared);
    // Sorted on one thread as well: the same polygons share a wave then.
    let bins = if many || gathering {
        extent.sort(setups())
    } else {
        None
    };
    let claims = (many && bins.is_none()).then(|| extent.claims());
    let (shared, vertices) = (state.shared, &batch.vertices);
    let pairing = pixel.may_pair(shared);
    let results = each(state, cores, many, &|worker, core, view| {
        let job = TileJob {
            shared,
            view,
            vertices,
        };
        let mut counts = PixelCounts::default();
        let mut draw = |list: &mut dyn Iterator<Item = &Setup>, squares: Squares<'_>| {
            let mut list = list.peekable();
            (core.gather).begin(gathering && matches!(squares, Squares::One(..)));
            while let Some(setup) = list.next() {
                let counts = &mut counts;
                match list.next_if(|next| pairing && pixel.pairs(setup, next)) {
                    Some(next) => {
                        let pair = [setup, next];
                        pixel.draw_pair(core, job, pair, counts, squares)?;
                    }
                    None => pixel.draw(core, job, setup, counts, squares)?,
                }
            }
            pixel.shade_gathered(core, job, &mut counts)
        };
        match (&bins, &claims) {
            (Some(bins), _) => {
                while let Some((square, list)) = bins.take() {
                    draw(&mut list.iter().copied(), square)?;
                }
            }
            (None, Some(claims)) => {
                draw(
                    &mut setups(),
                    Squares::Claimed(claims, worker.number as u16),
                )?;
            }
            (None, None) => draw(&mut setups(), Squares::All)?,
        }
        Ok(counts)
    });
    let control = state.shared.context.control;
    control.count(Counter::SortedBatches, bins.is_some().into());
    for result in results {
        let counts = result?;
        progress.pixels.passed += counts.passed;
        progress.pixels.invocations += counts.invocations;
        progress.pixels.whole += counts.whole;
        progress.pixels.blocks += counts.blocks;
        progress.pixels.short += counts.short;
        progress.pixels.pairs += counts.pairs;
        progress.pixels.gathered += counts.gathered;
        progress.pixels.bytes += counts.bytes;
    }
    match too_many {
        true => Err(Failed::Dropped("too many pixels")),
        false => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use super::*;

    const MINUTE: Duration = Duration::from_secs(60);

    /// Runs `work` while the only other thread of a pool is busy, for a minute at most. Whether it
    /// waited for that.
    fn waits(work: impl FnOnce(&ThreadPool)) -> bool {
        let pool = threads(1).unwrap();
        let ((begins, begun), (goes_on, go_on)) = (channel(), channel::<()>());
        pool.spawn(move || {
            begins.send(()).unwrap();
            let _ = go_on.recv();
        });
        begun.recv().unwrap();
        let (done, late) = (AtomicBool::new(false), AtomicBool::new(false));
        thread::scope(|threads| {
            threads.spawn(|| {
                let begun = Instant::now();
                while !done.load(Ordering::Acquire) {
                    if begun.elapsed() > MINUTE {
                        late.store(true, Ordering::Release);
                        break;
                    }
                    thread::sleep(Duration::from_millis(10));
                }
                drop(goes_on);
            });
            work(&pool);
            done.store(true, Ordering::Release);
        });
        late.into_inner()
    }

    #[test]
    fn what_no_other_thread_begins_this_one_does() {
        assert!(!waits(
            |pool| pool.in_place_scope(|scope| scope.spawn(|_| ()))
        ));
    }

    #[test]
    fn a_thread_that_waits_does_not_look_for_tasks() {
        // What it does while it waits: here there is nothing but the task that looks for tasks.
        assert!(!waits(|pool| {
            let (took, ran) = kept_awake(pool, 1, 2 * MINUTE, || pool.yield_now());
            assert!(matches!(took, Some(Yield::Executed)));
            assert_eq!(ran, 0);
        }));
    }

    #[test]
    fn a_thread_that_is_awake_takes_tasks_until_the_end() {
        let pool = threads(1).unwrap();
        let begun = Instant::now();
        let taken = AtomicUsize::new(0);
        let own = pool.current_thread_index();
        let ((), ran) = kept_awake(&pool, 1, MINUTE, || {
            while taken.load(Ordering::Acquire) < 3 && begun.elapsed() < MINUTE {
                pool.in_place_scope(|scope| {
                    scope.spawn(|_| {
                        let other = own != pool.current_thread_index();
                        taken.fetch_add(other.into(), Ordering::Release);
                    });
                    // Time for the other thread to take it.
                    thread::sleep(Duration::from_millis(1));
                });
            }
        });
        assert_eq!(taken.into_inner(), 3);
        assert!(ran >= 2, "{ran}");
        assert!(begun.elapsed() < MINUTE);
    }

    #[test]
    fn a_thread_is_not_kept_awake_for_nothing() {
        let pool = threads(1).unwrap();
        let over = AtomicBool::new(false);
        let ran = pool.in_place_scope(|_| run_tasks(&pool, &over, Duration::from_millis(1)));
        assert_eq!(ran, 0);
        let begun = Instant::now();
        let lost = catch_unwind(AssertUnwindSafe(|| {
            kept_awake(&pool, 1, MINUTE, || panic!("the draw panics"))
        }));
        assert!(lost.is_err());
        assert!(begun.elapsed() < MINUTE, "it was awake all the time");
    }
}
