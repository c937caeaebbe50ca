// SPDX-License-Identifier: MIT
//! The pipeline: carries a draw from its packet to memory.
//!
//! A draw is executed in batches of primitives. For each batch one thread
//! shades the vertices, then assembles, streams out, clips and sets up the
//! primitives; if their pixels are many, several threads draw them. Batches
//! limit the memory that a draw takes.

use std::panic::{catch_unwind, AssertUnwindSafe};
use std::sync::{Arc, OnceLock};

use rayon_core::{ThreadPool, ThreadPoolBuilder};

use super::colour::Targets;
use super::depth;
use super::depth_tile::Surface;
use super::draw::{Index, Indices};
use super::geometry::{self, Emitted};
use super::interpolate::Interpolator;
use super::memory::View;
use super::pixel::{PixelCounts, PixelState};
use super::primitive::{Assembler, Input, Primitive, Sink, Type};
use super::setup::{capacity, Builder, Setup, Vertices};
use super::shader::{Code, Options, Program, ProgramCache, Stop};
use super::stage::{DrawShared, Limits};
use super::state::{
    bit, has_geometry, ProgramState, Registers, SetupState, Shadow, Stage, VGT_GS_MODE,
};
use super::streamout::StreamOut;
use super::vertex::{self, Core, Request, StreamData};
use super::{Cancelled, Control, Gfx, GfxContext, GfxStatistics, PipelineCounter};
use crate::chip::bus::McError;
use crate::chip::counters::Counter;
use crate::chip::cp::pm4::Draw;
use crate::chip::regs::{gb, gfx as reg, vgt};
use crate::chip::strict::cache::Cache;
use crate::chip::tiling::TilingConfig;

/// Primitives of a batch.
pub(super) const BATCH: usize = 2048;
/// Fewest pixels of a batch for which several threads are faster than one.
const PARALLEL_PIXELS: i64 = 16 * 1024;
/// Entries of the vertex reuse table, a power of two.
const REUSE: usize = 4096;

/// The graphics block that executes draws.
pub struct Pipeline {
    shadow: Shadow,
    programs: ProgramCache,
    cores: Vec<Core>,
    /// Threads for all cores but the first, which runs on the caller's thread. Created at their
    /// first use.
    pool: Pool,
    statistics: GfxStatistics,
    /// `PIPELINESTAT_START`: pipeline counters count.
    counting: bool,
    buffers: Buffers,
    /// Dropped draws logged so far.
    logged: u32,
    limits: Limits,
    /// Draws begun.
    serial: u64,
}

/// Worker threads; none if the host cannot create them.
type Pool = OnceLock<Option<ThreadPool>>;

/// Allocations that batches share.
#[derive(Default)]
struct Buffers {
    indices: Vec<Index>,
    primitives: Vec<(Primitive, u32)>,
    inputs: Vec<(Input, u32)>,
    emitted: Emitted,
    batch: Batch,
}

impl Buffers {
    /// Bytes that are kept from draw to draw.
    const KEPT: usize = 8 << 20;

    /// Bytes of memory that the lists take, empty or not.
    fn bytes(&self) -> usize {
        let Batch {
            vertices,
            streams,
            primitives,
            requests,
            setups,
            reuse,
        } = &self.batch;
        let batch = vertices.bytes()
            + streams.bytes()
            + capacity(primitives)
            + capacity(requests)
            + capacity(setups)
            + capacity(reuse);
        let lists = capacity(&self.indices) + capacity(&self.primitives) + capacity(&self.inputs);
        lists + self.emitted.bytes() + batch
    }

    /// Primitives that wait for [`flush`].
    fn collected(&self) -> usize {
        self.primitives.len() + self.inputs.len()
    }

    /// Frees the lists if a draw has made them large.
    fn trim(&mut self) {
        if self.bytes() > Self::KEPT {
            *self = Self::default();
        }
    }
}

/// Shaded vertices of a batch, their primitives and setups.
#[derive(Default)]
pub(super) struct Batch {
    pub(super) vertices: Vertices,
    pub(super) streams: StreamData,
    pub(super) primitives: Vec<Primitive>,
    requests: Vec<Request>,
    setups: Vec<Setup>,
    reuse: Vec<(u64, u32)>,
}

impl Default for Pipeline {
    fn default() -> Self {
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        Self::new(threads.min(8))
    }
}

/// Why a draw ended early.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Failed {
    /// A reset.
    Cancelled,
    /// The geometry shader's rings cannot hold this many primitives.
    TooMany,
    /// The rest of the draw is dropped; the text says why.
    Dropped(&'static str),
}

impl From<Stop> for Failed {
    fn from(stop: Stop) -> Self {
        match stop {
            Stop::Cancelled => Failed::Cancelled,
            Stop::Budget => Failed::Dropped("a shader does not end"),
            Stop::Fault(what) => Failed::Dropped(what),
        }
    }
}

impl From<Cancelled> for Failed {
    fn from(_: Cancelled) -> Self {
        Failed::Cancelled
    }
}

/// Memory that shaders are read from.
struct ShaderMemory<'b, 'a> {
    view: &'b View<'a>,
    control: &'a dyn Control,
    /// Buffer.
    bytes: Vec<u8>,
    /// The access that no memory answered.
    fault: Option<McError>,
}

impl Code for ShaderMemory<'_, '_> {
    fn read(&mut self, address: u64, out: &mut [u32]) -> bool {
        self.bytes.resize(out.len() * 4, 0);
        if let Err(e) = self.view.read_by(Cache::Shader, address, &mut self.bytes) {
            self.fault = Some(e);
            return false;
        }
        for (word, b) in out.iter_mut().zip(self.bytes.chunks_exact(4)) {
            *word = u32::from_le_bytes([b[0], b[1], b[2], b[3]]);
        }
        true
    }

    fn cancelled(&mut self) -> bool {
        self.control.check().is_err()
    }
}

struct Collect<'a> {
    primitives: &'a mut Vec<(Primitive, u32)>,
    inputs: &'a mut Vec<(Input, u32)>,
    instance: u32,
}

impl Sink for Collect<'_> {
    fn primitive(&mut self, primitive: Primitive) {
        self.primitives.push((primitive, self.instance));
    }
    fn input(&mut self, input: Input) {
        self.inputs.push((input, self.instance));
    }
}

/// State of a draw, decoded.
pub(super) struct DrawState<'a, 'b> {
    pub(super) shared: &'b DrawShared<'a>,
    pool: &'b Pool,
    pub(super) view: &'b View<'a>,
    pub(super) vertex: Arc<Program>,
    pub(super) setup: &'b SetupState,
    pub(super) pixel: Option<&'b PixelState>,
    pub(super) params: usize,
    pub(super) primitive_ids: bool,
}

/// State that changes in the course of a draw.
pub(super) struct Progress<'b> {
    pub(super) streamout: Option<StreamOut>,
    pub(super) builder: Builder<'b>,
    pub(super) pixels: PixelCounts,
    pub(super) vertices: u64,
    pub(super) geometry: [u64; 2],
}

impl Pipeline {
    /// A pipeline that draws pixels with `threads` threads.
    pub fn new(threads: usize) -> Self {
        Self {
            shadow: Shadow::default(),
            programs: ProgramCache::default(),
            cores: cores(threads.max(1)),
            pool: Pool::new(),
            statistics: GfxStatistics::default(),
            counting: true,
            buffers: Buffers::default(),
            logged: 0,
            limits: Limits::default(),
            serial: 0,
        }
    }

    /// The same with other budgets.
    pub fn with_limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Bytes of memory that it takes for draws and decoded shaders, besides a fixed number for each
    /// thread.
    pub fn bytes(&self) -> usize {
        self.buffers.bytes() + self.programs.bytes()
    }

    /// The decoded program that `state` points to.
    fn program(
        &mut self,
        context: &GfxContext<'_>,
        view: &View<'_>,
        state: ProgramState,
    ) -> Result<Arc<Program>, Failed> {
        let options = Options {
            dx10_clamp: state.dx10_clamp,
        };
        let mut code = ShaderMemory {
            view,
            control: context.control,
            bytes: Vec::new(),
            fault: None,
        };
        let program = self.programs.load(state.base, options, &mut code);
        if let (Err(_), Some(fault)) = (&program, code.fault) {
            context.control.fault(fault);
            return Err(Failed::Dropped("a shader's memory cannot be read"));
        }
        Ok(program?)
    }

    fn stage_program(
        &mut self,
        context: &GfxContext<'_>,
        view: &View<'_>,
        stage: Stage,
    ) -> Result<Arc<Program>, Failed> {
        self.program(context, view, self.shadow.program(stage))
    }

    fn execute(&mut self, context: &GfxContext<'_>, draw: &Draw) -> Result<(), Failed> {
        self.serial += 1;
        self.shadow.refresh(context);
        let view = View::of(context);
        let Some(kind) = Type::decode(context.regs.load(vgt::VGT_PRIMITIVE_TYPE)) else {
            return Err(Failed::Dropped("unknown primitive type"));
        };
        let gs_mode = self.shadow.get(VGT_GS_MODE);
        let geometry = has_geometry(gs_mode);
        let vertex = self.stage_program(context, &view, Stage::Vertex)?;
        let shaders = if geometry {
            Some((
                self.stage_program(context, &view, Stage::Export)?,
                self.stage_program(context, &view, Stage::Geometry)?,
            ))
        } else {
            None
        };
        // Without a call the fetch shader's address may be stale.
        let calls = shaders.as_ref().map_or(&vertex, |(export, _)| export);
        let fetch = match calls.calls_fetch_shader() {
            true => match self.program(context, &view, self.shadow.fetch_program()) {
                Err(Failed::Cancelled) => return Err(Failed::Cancelled),
                program => program.ok(),
            },
            false => None,
        };

        let setup = SetupState::decode(&self.shadow);
        let samples = setup.samples();
        let tiling = TilingConfig::from_register(context.regs.load(gb::GB_TILING_CONFIG));
        let pixel = if setup.kill {
            None
        } else {
            Some(self.pixel_state(context, &view, &setup, tiling, samples)?)
        };
        let params = pixel.as_ref().map_or(0, |p| p.interpolator.params);
        let streamout = StreamOut::decode(&self.shadow, self.statistics.filled);

        let shared = DrawShared {
            context: *context,
            shadow: &self.shadow,
            fetch,
            serial: self.serial,
            limits: self.limits,
        };
        for core in &mut self.cores {
            core.executed = 0;
            core.unit.set_state(
                context.regs.load(gb::GB_TILING_CONFIG),
                context.regs.load(reg::TA_CNTL_AUX),
            );
            // Textures may have been written since the last draw.
            core.unit.invalidate();
        }
        let state = DrawState {
            shared: &shared,
            pool: &self.pool,
            view: &view,
            vertex,
            setup: &setup,
            pixel: pixel.as_ref(),
            params,
            primitive_ids: bit(self.shadow.get(reg::VGT_PRIMITIVEID_EN), 0),
        };
        let mut progress = Progress {
            streamout,
            builder: Builder::new(&setup),
            pixels: PixelCounts::default(),
            vertices: 0,
            geometry: [0; 2],
        };
        let result = run(
            &state,
            &mut progress,
            &mut self.cores,
            &mut self.buffers,
            shaders.as_ref(),
            kind,
            draw,
        );
        self.buffers.trim();
        for core in &mut self.cores {
            // Those of a geometry shader's wave can be some ten MiB.
            core.exports.clear();
        }
        let (inputs, indices) = result.1;
        self.count(context, &progress, inputs, indices);
        result.0
    }

    fn pixel_state(
        &mut self,
        context: &GfxContext<'_>,
        view: &View<'_>,
        setup: &SetupState,
        tiling: TilingConfig,
        samples: usize,
    ) -> Result<PixelState, Failed> {
        let interpolator = Interpolator::new(
            &self.shadow,
            &setup.sample_places,
            samples,
            setup.center_half,
        );
        let targets = Targets::decode(&Registers {
            shadow: &self.shadow,
            regs: context.regs,
        });
        let depth = depth::State::decode(&self.shadow).and_then(|state| {
            let surface = Surface::decode(&self.shadow, tiling, samples as u32)?;
            Some((state, surface))
        });
        let mut pixel = PixelState::decode(&self.shadow, setup, None, interpolator, targets, depth);
        if pixel.needs_shader() {
            pixel.program = Some(self.stage_program(context, view, Stage::Pixel)?);
        }
        Ok(pixel)
    }

    fn count(&mut self, context: &GfxContext<'_>, p: &Progress<'_>, inputs: u64, indices: u64) {
        (context.control).count(Counter::WholeTiles, p.pixels.whole);
        let s = &mut self.statistics;
        let disabled = context.regs.load(gb::CC_RB_BACKEND_DISABLE) >> gb::BACKEND_DISABLE_SHIFT;
        let backend = (0..8).find(|b| disabled >> b & 1 == 0).unwrap_or(0);
        // ZPASS_INCREMENT_DISABLE
        if !bit(self.shadow.get(reg::DB_RENDER_CONTROL), 11) {
            s.zpass[backend] += p.pixels.passed;
        }
        if let Some(out) = &p.streamout {
            s.filled = out.filled;
            // Mesa stops the counters around its own draws while a query of generated
            // primitives is active; a real RV770 then does not count those primitives.
            if self.counting {
                s.streamout[0][0] += out.needed;
                s.streamout[0][1] += out.written;
            }
        }
        if self.counting {
            for (counter, n) in [
                (PipelineCounter::PsInvocations, p.pixels.invocations),
                (
                    PipelineCounter::ClippedPrimitives,
                    p.builder.counts.primitives,
                ),
                (
                    PipelineCounter::ClipperInvocations,
                    p.builder.counts.invocations,
                ),
                (PipelineCounter::VsInvocations, p.vertices),
                (PipelineCounter::GsInvocations, p.geometry[0]),
                (PipelineCounter::GsPrimitives, p.geometry[1]),
                (PipelineCounter::InputPrimitives, inputs),
                (PipelineCounter::InputVertices, indices),
            ] {
                s.pipeline[counter as usize] += n;
            }
        }
    }
}

/// Runs all batches. The pair of counts is input primitives and input vertices.
fn run(
    state: &DrawState<'_, '_>,
    progress: &mut Progress<'_>,
    cores: &mut [Core],
    buffers: &mut Buffers,
    shaders: Option<&(Arc<Program>, Arc<Program>)>,
    kind: Type,
    draw: &Draw,
) -> (Result<(), Failed>, (u64, u64)) {
    let mut counts = (0, 0);
    let result = instances(
        state,
        progress,
        cores,
        buffers,
        shaders,
        kind,
        draw,
        &mut counts,
    );
    let result = match &mut progress.streamout {
        Some(out) => {
            let flushed = out.finish(state.view).map_err(|e| {
                state.shared.context.control.fault(e);
                Failed::Dropped("a stream-out buffer cannot be written")
            });
            result.and(flushed)
        }
        None => result,
    };
    (result, counts)
}

#[allow(clippy::too_many_arguments)]
fn instances(
    state: &DrawState<'_, '_>,
    progress: &mut Progress<'_>,
    cores: &mut [Core],
    buffers: &mut Buffers,
    shaders: Option<&(Arc<Program>, Arc<Program>)>,
    kind: Type,
    draw: &Draw,
    counts: &mut (u64, u64),
) -> Result<(), Failed> {
    let control = state.shared.context.control;
    let shadow = state.shared.shadow;
    let source = Indices::decode(shadow, draw);
    buffers.primitives.clear();
    buffers.inputs.clear();
    let provoking_last = state.setup.provoking_last;
    let mut assembler = Assembler::new(kind, provoking_last, shaders.is_some());
    for instance in 0..shadow.get(vgt::VGT_DMA_NUM_INSTANCES).max(1) {
        let mut first = 0u32;
        while first < source.count {
            control.check()?;
            let fetched = source.fetch(state.view, first, &mut buffers.indices);
            fetched.map_err(|e| {
                control.fault(e);
                Failed::Dropped("an index buffer cannot be read")
            })?;
            let count = buffers.indices.len() as u32;
            if count == 0 {
                break;
            }
            let mut sink = Collect {
                primitives: &mut buffers.primitives,
                inputs: &mut buffers.inputs,
                instance,
            };
            for index in &buffers.indices {
                match index {
                    Index::Vertex(v) => assembler.push(*v, &mut sink),
                    Index::Restart => assembler.restart(&mut sink),
                }
            }
            counts.1 += u64::from(count);
            if counts.1 > state.shared.limits.vertices {
                return Err(Failed::Dropped("too many vertices"));
            }
            first = match first.checked_add(count) {
                Some(next) => next,
                None => break,
            };
            if buffers.collected() >= BATCH {
                counts.0 += buffers.collected() as u64;
                flush(state, progress, cores, buffers, shaders)?;
            }
        }
        assembler.next_instance(&mut Collect {
            primitives: &mut buffers.primitives,
            inputs: &mut buffers.inputs,
            instance,
        });
        if buffers.collected() >= BATCH {
            counts.0 += buffers.collected() as u64;
            flush(state, progress, cores, buffers, shaders)?;
        }
        // The loop above does not check for cancellation if there are no indices.
        if instance % 4096 == 4095 {
            control.check()?;
        }
        if counts.1 + u64::from(instance) > state.shared.limits.vertices {
            return Err(Failed::Dropped("too many instances"));
        }
    }
    counts.0 += buffers.collected() as u64;
    flush(state, progress, cores, buffers, shaders)
}

/// Draws the collected primitives and clears the lists.
fn flush(
    state: &DrawState<'_, '_>,
    progress: &mut Progress<'_>,
    cores: &mut [Core],
    buffers: &mut Buffers,
    shaders: Option<&(Arc<Program>, Arc<Program>)>,
) -> Result<(), Failed> {
    let Buffers {
        primitives,
        inputs,
        emitted,
        batch,
        ..
    } = buffers;
    if let Some((export, geometry)) = shaders {
        let mut rest = &inputs[..];
        let mut size = geometry::INPUTS;
        while !rest.is_empty() {
            let part = &rest[..size.min(rest.len())];
            let core = &mut cores[0];
            match geometry::shade(state, progress, core, emitted, part, export, geometry) {
                Err(Failed::TooMany) => {
                    size = part.len() / 2;
                    continue;
                }
                result => result?,
            }
            // A wave can emit as many as 64 batches.
            for first in (0..emitted.len()).step_by(BATCH) {
                state.shared.context.control.check()?;
                let part = first..emitted.len().min(first + BATCH);
                geometry::copy(state, &mut cores[0], emitted, part, batch)?;
                finish(state, progress, cores, batch)?;
            }
            rest = &rest[part.len()..];
        }
        inputs.clear();
        return Ok(());
    }
    for part in primitives.chunks(BATCH) {
        shade(state, progress, &mut cores[0], batch, part)?;
        finish(state, progress, cores, batch)?;
    }
    primitives.clear();
    Ok(())
}

/// Shades the vertices of primitives. Reuses a shaded vertex, unless the shader gets primitive ids.
fn shade(
    state: &DrawState<'_, '_>,
    progress: &mut Progress<'_>,
    core: &mut Core,
    batch: &mut Batch,
    primitives: &[(Primitive, u32)],
) -> Result<(), Failed> {
    batch.requests.clear();
    batch.primitives.clear();
    batch.reuse.clear();
    batch.reuse.resize(REUSE, (0, u32::MAX));
    for (primitive, instance) in primitives {
        let mut assembled = *primitive;
        let count = primitive.shape.corners();
        for corner in 0..count {
            let index = primitive.vertices[corner];
            let request = Request {
                index,
                instance: *instance,
                primitive: if state.primitive_ids { primitive.id } else { 0 },
            };
            let key = u64::from(*instance) << 32 | u64::from(index);
            let entry = &mut batch.reuse[index as usize % REUSE];
            assembled.vertices[corner] =
                if !state.primitive_ids && entry.1 != u32::MAX && entry.0 == key {
                    entry.1
                } else {
                    let slot = batch.requests.len() as u32;
                    batch.requests.push(request);
                    *entry = (key, slot);
                    slot
                };
        }
        for corner in count..3 {
            assembled.vertices[corner] = assembled.vertices[0];
        }
        batch.primitives.push(assembled);
    }
    batch.vertices.clear(state.params);
    batch.streams.clear();
    progress.vertices += batch.requests.len() as u64;
    vertex::shade(
        core,
        state.shared,
        state.view,
        &state.vertex,
        &batch.requests,
        &mut batch.vertices,
        &mut batch.streams,
    )?;
    Ok(())
}

/// Streams a batch out and draws its pixels.
fn finish(
    state: &DrawState<'_, '_>,
    progress: &mut Progress<'_>,
    cores: &mut [Core],
    batch: &mut Batch,
) -> Result<(), Failed> {
    let control = state.shared.context.control;
    if let Some(out) = &mut progress.streamout {
        for primitive in &batch.primitives {
            let vertices = &primitive.vertices[..primitive.shape.corners()];
            out.primitive(state.view, &batch.streams, vertices)
                .map_err(|e| {
                    control.fault(e);
                    Failed::Dropped("a stream-out buffer cannot be written")
                })?;
        }
    }
    let Some(pixel) = state.pixel else {
        return Ok(());
    };
    batch.setups.clear();
    for primitive in &batch.primitives {
        progress
            .builder
            .add(&batch.vertices, primitive, &mut batch.setups);
    }
    let before = progress.pixels.bytes;
    raster(state, pixel, progress, cores, batch)?;
    if cores.iter().map(|c| c.executed).sum::<u64>() > state.shared.limits.instructions {
        return Err(Failed::Dropped("too many instructions"));
    }
    control.charge(progress.pixels.bytes - before)?;
    Ok(())
}

/// The state of `count` threads that run shaders.
fn cores(count: usize) -> Vec<Core> {
    (0..count).map(|_| Core::default()).collect()
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
fn raster(
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
            pool.in_place_scope(|scope| {
                for ((core, result), worker) in others.iter_mut().zip(rest).zip(1..) {
                    scope.spawn(move |_| {
                        let job = || draw(core, &View::of(&context), &mine(worker));
                        // The pool would pass the panic on to the caller's thread.
                        *result = catch_unwind(AssertUnwindSafe(job)).unwrap_or_else(|_| {
                            context.control.count(Counter::EnginePanics, 1);
                            *core = Core::default();
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
        progress.pixels.bytes += counts.bytes;
        progress.pixels.tiles = progress.pixels.tiles.max(counts.tiles);
    }
    Ok(())
}

/// Event types (`VGT_EVENT_TYPE` in `r600d.h`).
const CACHE_FLUSH_AND_INV_TS: u8 = 0x14;
const CACHE_FLUSH_AND_INV: u8 = 0x16;
const PIPELINESTAT_START: u8 = 0x19;
const PIPELINESTAT_STOP: u8 = 0x1A;

impl Gfx for Pipeline {
    fn draw(&mut self, context: &GfxContext<'_>, draw: &Draw) -> Result<bool, Cancelled> {
        match self.execute(context, draw) {
            Ok(()) => Ok(true),
            Err(Failed::Cancelled) => Err(Cancelled),
            Err(failed) => {
                let why = match failed {
                    Failed::Dropped(why) => why,
                    _ => "too many primitives at once",
                };
                context.control.count(Counter::DroppedDraws, 1);
                context.control.trace(format_args!("DRAW dropped: {why}"));
                if self.logged < 16 {
                    self.logged += 1;
                    log::warn!("gfx: draw dropped: {why}");
                }
                Ok(false)
            }
        }
    }

    fn event(&mut self, context: &GfxContext<'_>, event: u8) {
        match event {
            CACHE_FLUSH_AND_INV_TS | CACHE_FLUSH_AND_INV => {
                if let Some(Err(e)) = (context.control.caches()).map(|c| c.flush(context.mc)) {
                    context.control.fault(e);
                }
            }
            PIPELINESTAT_START => self.counting = true,
            PIPELINESTAT_STOP => self.counting = false,
            _ => {}
        }
    }

    fn flush(&mut self, context: &GfxContext<'_>, coher_cntl: u32) {
        let caches = context.control.caches();
        if let Some(Err(e)) = caches.map(|c| c.sync(context.mc, coher_cntl)) {
            context.control.fault(e);
        }
    }

    fn statistics(&self) -> GfxStatistics {
        self.statistics.clone()
    }

    fn set_filled(&mut self, buffer: usize, dwords: u32) {
        self.statistics.filled[buffer & 3] = dwords;
    }

    fn reset(&mut self) {
        self.statistics = GfxStatistics::default();
        self.counting = true;
        self.programs = ProgramCache::default();
        // The draw that caused the reset may have panicked at any point.
        self.cores = cores(self.cores.len());
        self.buffers = Buffers::default();
    }
}
