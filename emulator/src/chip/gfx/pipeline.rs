// SPDX-License-Identifier: MIT
//! The pipeline: carries a draw from its packet to memory.
//!
//! A draw is executed in batches of primitives. For each batch one thread
//! shades the vertices, then assembles, streams out, clips and sets up the
//! primitives; if their pixels are many, several threads draw them. Batches
//! limit the memory that a draw takes.

use std::sync::atomic::Ordering;
use std::sync::Arc;

use super::batch::{DrawState, Failed, Pool, Progress};
use super::colour::Targets;
use super::compressed::Compressed;
use super::compute::{self, Dispatch};
use super::describe::describe;
use super::execute::{run, Assembled, Buffers};
use super::front::Front;
use super::global::GlobalShare;
use super::lint::Lint;
use super::memory::View;
use super::pixel::{PixelCounts, PixelState};
use super::primitive::Type;
use super::probe::Probe;
use super::rules::{Report, Rules};
use super::setup::Builder;
use super::shader::validate::Chip;
use super::shader::{Code, Options, Program, ProgramCache};
use super::shaders::Shaders;
use super::stage::{DrawShared, Limits, Targets as RandomTargets};
use super::state::{has_geometry, ProgramState, Registers, SetupState, Shadow, Stage, VGT_GS_MODE};
use super::streamout::StreamOut;
use super::tessellation::Tessellation;
use super::vertex::Core;
use super::workers::{cores, Part};
use super::{Cancelled, Control, Gfx, GfxContext, GfxStatistics, PipelineCounter};
use crate::chip::bus::McError;
use crate::chip::counters::{Counter, ARRAY_MODE};
use crate::chip::cp::pm4::Draw;
use crate::chip::family::Family;
use crate::chip::regs::fields::r700::{db_render_control, vgt_primitiveid_en};
use crate::chip::regs::{gb, gfx as reg, vgt};
use crate::chip::strict::cache::Cache;
use crate::chip::tiling::TilingConfig;

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
    rules: Rules,
    /// The global data share.
    global: GlobalShare,
    /// The registers of compute shaders.
    compute: Option<Shadow>,
    probe: Option<Arc<Probe>>,
    lint: Option<Arc<Lint>>,
    shaders: Option<Arc<Shaders>>,
    /// Tiles that have been left compressed, if somebody asks about them.
    compressed: Option<Arc<Compressed>>,
}

impl Default for Pipeline {
    fn default() -> Self {
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        Self::new(threads.min(8))
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
            rules: Rules::default(),
            global: GlobalShare::default(),
            compute: None,
            probe: None,
            lint: None,
            shaders: None,
            compressed: None,
        }
    }

    /// The same, but `report` is called for each rule that a shader breaks and by which hardware
    /// hangs or corrupts registers. A strict board checks and logs without it.
    pub fn with_report(mut self, report: Report) -> Self {
        self.rules.report = Some(report);
        self
    }

    /// The same with one thread and a probe: it records what it watches for.
    pub fn with_probe(mut self, probe: Arc<Probe>) -> Self {
        self.cores.truncate(1);
        self.probe = Some(probe);
        self
    }

    /// The same, but looks for a driver's mistakes.
    pub fn with_lint(mut self, lint: Lint) -> Self {
        self.lint = Some(Arc::new(lint));
        self
    }

    /// The same, but lists the shaders that it executes, and replaces some.
    pub fn with_shaders(mut self, shaders: Arc<Shaders>) -> Self {
        self.shaders = Some(shaders);
        self
    }

    /// The same with other budgets.
    pub fn with_limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Bytes of memory that it takes for draws and decoded shaders, besides a fixed number for each
    /// thread.
    pub fn bytes(&self) -> usize {
        let parts = self.cores.iter().map(|core| core.part.bytes());
        self.buffers.bytes() + self.programs.bytes() + parts.sum::<usize>()
    }

    /// The decoded program of `stage`, none being the fetch shader, that `state` points to.
    fn program(
        &mut self,
        context: &GfxContext<'_>,
        view: &View<'_>,
        stage: Option<Stage>,
        state: ProgramState,
    ) -> Result<Arc<Program>, Failed> {
        let options = Options {
            dx10_clamp: state.dx10_clamp,
            isa: self.shadow.front().isa,
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
        match &self.shaders {
            None => Ok(program?),
            Some(shaders) => Ok(shaders.execute(stage, state, options, program?)?),
        }
    }

    fn stage_program(
        &mut self,
        context: &GfxContext<'_>,
        view: &View<'_>,
        stage: Stage,
    ) -> Result<Arc<Program>, Failed> {
        let state = self.shadow.program(stage);
        let program = self.program(context, view, Some(stage), state)?;
        (self.rules).check(context, self.serial, stage, state, &program);
        Ok(program)
    }

    fn execute(&mut self, context: &GfxContext<'_>, draw: &Draw) -> Result<(), Failed> {
        self.serial += 1;
        let (probe, lint) = (self.probe.clone(), self.lint.clone());
        if let Some(probe) = &probe {
            probe.draw();
        }
        if let Some(shaders) = &self.shaders {
            shaders.draw();
        }
        self.shadow.refresh(context);
        let compressed = self.compressed(context);
        let view = View::of(context).watched(compressed.as_deref());
        let kind = Type::decode(context.regs.load(vgt::VGT_PRIMITIVE_TYPE));
        let tessellation = match (self.shadow.front().tessellation)(&self.shadow) {
            Some(config) if kind == Some(Type::PatchList) => Some(Tessellation {
                config,
                local: self.stage_program(context, &view, Stage::Local)?,
                hull: self.stage_program(context, &view, Stage::Hull)?,
            }),
            Some(_) => return Err(Failed::Dropped("a hull shader's primitives are no patches")),
            None => None,
        };
        let kind = match kind {
            Some(Type::PatchList) if tessellation.is_none() => {
                return Err(Failed::Dropped("patches without a hull shader"));
            }
            Some(kind) => kind,
            None => return Err(Failed::Dropped("unknown primitive type")),
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
        let calls = match (&tessellation, &shaders) {
            (Some(tessellation), _) => &tessellation.local,
            (None, Some((export, _))) => export,
            (None, None) => &vertex,
        };
        let fetch = match calls.calls_fetch_shader() {
            true => match self.program(context, &view, None, self.shadow.fetch_program()) {
                Err(Failed::Cancelled) => return Err(Failed::Cancelled),
                program => program.ok(),
            },
            false => None,
        };

        let setup = SetupState::decode(&self.shadow);
        let front = self.shadow.front();
        let tiling = (front.tiling)(context.regs);
        let pixel = if setup.kill {
            None
        } else {
            Some(self.pixel_state(context, &view, &setup, tiling)?)
        };
        let params = pixel.as_ref().map_or(0, |p| p.interpolator.params);
        let streams = (front.streams)(&self.shadow);
        let streamout = StreamOut::decode(&self.shadow, &streams, self.statistics.filled);

        let shared = DrawShared {
            context: *context,
            shadow: &self.shadow,
            fetch,
            serial: self.serial,
            limits: self.limits,
            targets: RandomTargets::default(),
            global: &self.global,
            probe: probe.as_deref(),
            lint: lint.as_deref(),
        };
        if let Some(lint) = &lint {
            let inputs = pixel.as_ref().map(|pixel| &pixel.interpolator);
            lint.draw(self.serial, &vertex, inputs);
        }
        for core in &mut self.cores {
            core.executed = 0;
            core.unit
                .set_state(front, tiling, (front.seamless)(context.regs));
            // Textures may have been written since the last draw.
            core.unit.invalidate();
        }
        let state = DrawState {
            shared: &shared,
            pool: &self.pool,
            view: &view,
            vertex,
            geometry: shaders,
            setup: &setup,
            pixel: pixel.as_ref(),
            params,
            streams: &streams,
            primitive_ids: vgt_primitiveid_en::PRIMITIVEID_EN
                .is_set(self.shadow.get(reg::VGT_PRIMITIVEID_EN)),
            tessellation: tessellation.as_ref(),
        };
        let mut progress = Progress {
            streamout,
            builder: Builder::new(&setup),
            pixels: PixelCounts::default(),
            tiles: 0,
            vertices: 0,
            geometry: [0; 2],
            patches: 0,
            domain: 0,
        };
        let result = run(
            &state,
            &mut progress,
            &mut self.cores,
            &mut self.buffers,
            kind,
            draw,
        );
        self.buffers.trim();
        for core in &mut self.cores {
            // Those of a geometry shader's wave can be some ten MiB.
            core.exports.clear();
            if core.part.bytes() > Buffers::KEPT {
                core.part = Part::default();
            }
        }
        if let (Some(lint), Ok(())) = (&lint, result.0) {
            lint.drawn(&state.vertex, state.pixel, &progress, result.1.primitives);
        }
        self.count(context, &progress, &result.1);
        self.compressed_reads(context, compressed.as_deref());
        result.0
    }

    /// What remembers compressed tiles: on a strict board, and if there is a report or a lint.
    fn compressed(&mut self, context: &GfxContext<'_>) -> Option<Arc<Compressed>> {
        let wanted = context.control.caches().is_some()
            || self.rules.report.is_some()
            || self.lint.is_some();
        wanted.then(|| self.compressed.get_or_insert_default().clone())
    }

    /// Counts and reports the compressed tiles that the draw or dispatch has read.
    fn compressed_reads(&mut self, context: &GfxContext<'_>, compressed: Option<&Compressed>) {
        let Some(found) = compressed.and_then(Compressed::take_found) else {
            return;
        };
        (context.control).count(Counter::CompressedReads, found.lines);
        match (&self.rules.report, &self.lint) {
            (None, Some(lint)) => lint.found(found.base, found.to_string()),
            _ => self.rules.found(context, self.serial, &found),
        }
    }

    /// Runs a compute shader, whose registers `shadow` gets.
    fn compute(
        &mut self,
        context: &GfxContext<'_>,
        shadow: &mut Shadow,
        groups: [u32; 3],
    ) -> Result<(), Failed> {
        self.serial += 1;
        let lint = self.lint.clone();
        shadow.load(context.regs);
        let shadow = &*shadow;
        let compressed = self.compressed(context);
        let view = View::of(context).watched(compressed.as_deref());
        let state = shadow.program(Stage::Compute);
        let program = self.program(context, &view, Some(Stage::Compute), state)?;
        (self.rules).check(context, self.serial, Stage::Compute, state, &program);
        let front = shadow.front();
        let shared = DrawShared {
            context: *context,
            shadow,
            fetch: None,
            serial: self.serial,
            limits: self.limits,
            targets: RandomTargets::default(),
            global: &self.global,
            probe: None,
            lint: lint.as_deref(),
        };
        if let Some(lint) = &lint {
            lint.dispatch(self.serial);
        }
        let core = &mut self.cores[0];
        core.executed = 0;
        core.unit.set_state(
            front,
            (front.tiling)(context.regs),
            (front.seamless)(context.regs),
        );
        core.unit.invalidate();
        core.exports.clear();
        let dispatch = Dispatch::decode(shadow, context.regs, groups);
        let mut threads = 0;
        let result = compute::run(&dispatch, &shared, &view, core, &program, &mut threads);
        if self.counting {
            self.statistics.pipeline[PipelineCounter::CsInvocations as usize] += threads;
        }
        self.compressed_reads(context, compressed.as_deref());
        result
    }

    /// Counts and logs why a draw or a dispatch was dropped. True if it was executed.
    fn ended(
        &mut self,
        context: &GfxContext<'_>,
        what: &str,
        result: Result<(), Failed>,
    ) -> Result<bool, Cancelled> {
        let why = match result {
            Ok(()) => return Ok(true),
            Err(Failed::Cancelled) => return Err(Cancelled),
            Err(Failed::Dropped(why)) => why,
            Err(_) => "too many primitives at once",
        };
        context.control.count(Counter::DroppedDraws, 1);
        context.control.trace(format_args!("{what} dropped: {why}"));
        if self.logged < 16 {
            self.logged += 1;
            log::warn!("gfx: {} dropped: {why}", what.to_lowercase());
        }
        Ok(false)
    }

    /// The colour targets of the last draw.
    pub fn targets(&self, context: &GfxContext<'_>) -> Targets {
        let registers = Registers {
            shadow: &self.shadow,
            regs: context.regs,
        };
        Targets::of(&registers, |i| {
            (self.shadow.front().colour)(&self.shadow, context.regs, i)
        })
    }

    /// A draw that comes next as text: its packet, targets, registers with their fields, and shaders
    /// in the notation of Mesa's `R600_DEBUG`.
    pub fn describe(&mut self, context: &GfxContext<'_>, draw: &Draw) -> String {
        self.shadow.refresh(context);
        let (targets, shaders) = (self.targets(context), self.shaders.as_deref());
        describe(context, &self.shadow, &targets, shaders, draw)
    }

    fn pixel_state(
        &mut self,
        context: &GfxContext<'_>,
        view: &View<'_>,
        setup: &SetupState,
        tiling: TilingConfig,
    ) -> Result<PixelState, Failed> {
        let front = self.shadow.front();
        let interpolator = (front.interpolator)(&self.shadow, setup);
        let targets = self.targets(context);
        let depth = (front.depth)(&self.shadow, tiling, setup.samples() as u32);
        for mode in targets.unknown_modes() {
            context.control.unknown(ARRAY_MODE, mode);
        }
        targets.tell_masks(view);
        let mut pixel = PixelState::decode(&self.shadow, setup, None, interpolator, targets, depth);
        if pixel.needs_shader() {
            pixel.program = Some(self.stage_program(context, view, Stage::Pixel)?);
        }
        Ok(pixel)
    }

    fn count(&mut self, context: &GfxContext<'_>, p: &Progress<'_>, inputs: &Assembled) {
        (context.control).count(Counter::WholeTiles, p.pixels.whole);
        (context.control).count(Counter::WholeBlocks, p.pixels.blocks);
        (context.control).count(Counter::ShortTiles, p.pixels.short);
        (context.control).count(Counter::PairTiles, p.pixels.pairs);
        (context.control).count(Counter::GatheredWaves, p.pixels.gathered);
        let s = &mut self.statistics;
        let disabled = context.regs.load(gb::CC_RB_BACKEND_DISABLE) >> gb::BACKEND_DISABLE_SHIFT;
        let backend = (0..8).find(|b| disabled >> b & 1 == 0).unwrap_or(0);
        // ZPASS_INCREMENT_DISABLE
        if !db_render_control::ZPASS_INCREMENT_DISABLE
            .is_set(self.shadow.get(reg::DB_RENDER_CONTROL))
        {
            s.zpass[backend] += p.pixels.passed;
        }
        if let Some(out) = &p.streamout {
            s.filled = out.filled;
            // Mesa stops the counters around its own draws while a query of generated
            // primitives is active; a real RV770 then does not count those primitives.
            if self.counting {
                let drawn = out.primitives.iter().flatten();
                let counters = s.streamout.iter_mut().flatten();
                counters.zip(drawn).for_each(|(all, n)| *all += n);
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
                (PipelineCounter::HsInvocations, p.patches),
                (PipelineCounter::DsInvocations, p.domain),
                (PipelineCounter::InputPrimitives, inputs.primitives),
                (PipelineCounter::InputVertices, inputs.vertices),
            ] {
                s.pipeline[counter as usize] += n;
            }
        }
    }
}

/// Event types (`VGT_EVENT_TYPE` in `r600d.h`).
const CACHE_FLUSH_AND_INV_TS: u8 = 0x14;
const CACHE_FLUSH_AND_INV: u8 = 0x16;
const PIPELINESTAT_START: u8 = 0x19;
const PIPELINESTAT_STOP: u8 = 0x1A;

impl Gfx for Pipeline {
    fn draw(&mut self, context: &GfxContext<'_>, draw: &Draw) -> Result<bool, Cancelled> {
        let result = self.execute(context, draw);
        self.ended(context, "DRAW", result)
    }

    fn dispatch(&mut self, context: &GfxContext<'_>, groups: [u32; 3]) -> Result<bool, Cancelled> {
        let front = self.shadow.front();
        let mut shadow = self.compute.take().unwrap_or_else(|| Shadow::new(front));
        let result = self.compute(context, &mut shadow, groups);
        self.compute = Some(shadow);
        self.ended(context, "DISPATCH", result)
    }

    fn append_counter(&self, counter: usize) -> u32 {
        let counter = self.global.counter(counter);
        counter.map_or(0, |value| value.load(Ordering::Relaxed))
    }

    fn set_append_counter(&mut self, counter: usize, value: u32) {
        if let Some(counter) = self.global.counter(counter) {
            counter.store(value, Ordering::Relaxed);
        }
    }

    fn global_share(&self, index: usize) -> u32 {
        let dword = self.global.dword(index);
        dword.map_or(0, |value| value.load(Ordering::Relaxed))
    }

    fn set_global_share(&mut self, index: usize, value: u32) {
        if let Some(dword) = self.global.dword(index) {
            dword.store(value, Ordering::Relaxed);
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

    fn set_family(&mut self, family: Family) {
        self.rules.chip = Chip::of(family);
    }

    fn set_front(&mut self, front: &'static Front) {
        self.shadow = Shadow::new(front);
        self.compute = None;
    }

    fn reset(&mut self) {
        self.statistics = GfxStatistics::default();
        self.counting = true;
        self.programs = ProgramCache::default();
        self.global = GlobalShare::default();
        self.rules.forget();
        self.compressed = None;
        // The draw that caused the reset may have panicked at any point.
        self.cores = cores(self.cores.len());
        self.buffers = Buffers::default();
    }
}
