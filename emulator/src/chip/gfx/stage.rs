// SPDX-License-Identifier: MIT
//! The environment of a running shader of any stage: constants, resources,
//! memory, the texture unit, and the buffers of its exports.

use std::sync::{Arc, Mutex, OnceLock};

use super::front::BufferView;
use super::global::{self, GlobalShare};
use super::interpolate::Scratch;
use super::lanes::{expand, iter, select, Lanes, Mask, ALL, LANES, QUADS};
use super::lint::Lint;
use super::memory::View;
use super::probe::Probe;
use super::rat::{self, Rat};
use super::shader::isa::TexInstruction;
use super::shader::tape::Texel;
use super::shader::{
    Env, ExportKind, MemoryExport, MemoryTarget, Program, RandomAccess, Stop, Wave,
};
use super::state::{Shadow, Stage};
use super::texture::{self, Sampler};
use super::GfxContext;
use crate::chip::bus::McError;
use crate::chip::counters::ARRAY_MODE;
use crate::chip::regs::gfx as reg;
use crate::chip::strict::cache::Cache;

/// Limits of one draw: past them it counts as a runaway and its rest is
/// dropped. A reset ends it earlier; the driver waits ten seconds before it
/// resets a GPU that hangs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Instructions of one wave. The default takes some tenths of a second.
    pub wave_instructions: u64,
    /// Instructions of all waves.
    pub instructions: u64,
    /// Input vertices.
    pub vertices: u64,
    /// Tiles and squares in which polygons may have pixels, by their bounds and areas: the draw ends
    /// at the same place however many threads share it.
    pub tiles: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            wave_instructions: 1 << 24,
            instructions: 1 << 34,
            vertices: 1 << 28,
            tiles: 1 << 28,
        }
    }
}

/// Samplers of one stage.
const STAGE_SAMPLERS: u32 = 18;

/// Outputs of one wave.
#[derive(Debug)]
pub struct Exports {
    /// Colours 0 to 7 of a pixel shader, except those in `in_place`.
    pixel: Vec<[Lanes; 4]>,
    /// Bit n: colour n was exported.
    pub pixel_mask: u8,
    /// Colours that are still in a GPR: its number, and the components that are x, y, z and w.
    in_place: [Option<(u8, [u8; 4])>; 8],
    /// Export 61: depth, stencil, sample mask.
    pub depth: [Lanes; 4],
    /// Exports 60 to 63 of a vertex shader.
    pub position: Vec<[Lanes; 4]>,
    /// Parameters 0 to 31.
    pub param: Vec<[Lanes; 4]>,
    /// Stream-out writes.
    pub stream: Vec<StreamWrite>,
    /// Writes to the stage's ring.
    pub ring: Vec<RingWrite>,
    /// What a geometry shader emitted and cut, in order.
    pub emitted: Vec<Emission>,
}

/// One stream-out export of a wave: up to four dwords of each vertex.
#[derive(Debug, Clone)]
pub struct StreamWrite {
    /// Buffer 0 to 3.
    pub buffer: u8,
    /// First dword within the vertex.
    pub offset: u32,
    /// Bit n: dword `offset` + n is written.
    pub components: u8,
    /// Vertices that write.
    pub exec: Mask,
    /// The values.
    pub values: Box<[Lanes; 4]>,
}

/// An emit or a cut of a geometry shader.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Emission {
    /// A cut: the stream's strip ends.
    pub cut: bool,
    /// Vertex stream 0 to 3.
    pub stream: u8,
    /// The lanes that executed it.
    pub exec: Mask,
}

/// One ring export of a wave.
#[derive(Debug, Clone)]
pub struct RingWrite {
    /// Vertex stream 0 to 3 of a geometry shader.
    pub stream: u8,
    /// First dword within the lane's item, for each lane.
    pub offset: Box<Lanes>,
    /// Bit n: dword `offset` + n is written.
    pub components: u8,
    /// Lanes that write.
    pub exec: Mask,
    /// The values.
    pub values: Box<[Lanes; 4]>,
}

/// Most exports of a kind that are kept of one wave: a runaway shader must not exhaust memory.
const MAX_WRITES: usize = 1 << 14;

const NONE: [Lanes; 4] = [[0; LANES]; 4];

impl Default for Exports {
    fn default() -> Self {
        Self {
            pixel: vec![NONE; 8],
            pixel_mask: 0,
            in_place: [None; 8],
            depth: NONE,
            position: vec![NONE; 4],
            param: vec![NONE; 32],
            stream: Vec::new(),
            ring: Vec::new(),
            emitted: Vec::new(),
        }
    }
}

impl Exports {
    /// Discards a wave's exports, before the next wave runs.
    pub fn clear(&mut self) {
        self.pixel_mask = 0;
        self.in_place = [None; 8];
        self.stream.clear();
        self.ring.clear();
        self.emitted.clear();
    }

    /// Colour `index` (0 to 7) of the pixel shader that `wave` ran; undefined unless
    /// [`Self::pixel_mask`] has its bit.
    #[inline]
    pub fn colour<'a>(&'a self, wave: &'a Wave, index: usize) -> [&'a Lanes; 4] {
        let index = index & 7;
        let Some((gpr, [x, y, z, w])) = self.in_place[index] else {
            return self.pixel[index].each_ref();
        };
        // Not `map()`, which the compiler does not inline here.
        let component = |chan: u8| wave.gpr(gpr.into(), (chan & 3).into());
        [component(x), component(y), component(z), component(w)]
    }

    fn emission(&mut self, cut: bool, stream: u32, exec: Mask) {
        if self.emitted.len() < MAX_WRITES {
            let stream = stream as u8 & 3;
            self.emitted.push(Emission { cut, stream, exec });
        }
    }

    fn slot(&mut self, kind: ExportKind, index: u32) -> Option<&mut [Lanes; 4]> {
        let index = index as usize;
        match kind {
            ExportKind::Pixel if index == 61 => Some(&mut self.depth),
            ExportKind::Pixel => {
                if index < 8 {
                    self.pixel_mask |= 1 << index;
                }
                self.pixel.get_mut(index)
            }
            ExportKind::Position => self.position.get_mut(index.checked_sub(60)?),
            ExportKind::Parameter => self.param.get_mut(index),
        }
    }
}

/// State that all waves of a draw share.
pub struct DrawShared<'a> {
    /// Registers, memory and control.
    pub context: GfxContext<'a>,
    /// State registers.
    pub shadow: &'a Shadow,
    /// The fetch shader.
    pub fetch: Option<Arc<Program>>,
    /// Number of the draw, from 1. Loaded constants are valid for one draw.
    pub serial: u64,
    /// Budgets.
    pub limits: Limits,
    /// Targets of random access, decoded at their first use.
    pub targets: Targets,
    /// Append counters and the memory that shaders share.
    pub global: &'a GlobalShare,
    /// Records a pixel or a vertex.
    pub probe: Option<&'a Probe>,
    /// Looks for a driver's mistakes.
    pub lint: Option<&'a Lint>,
}

/// Targets of random access of a draw.
#[derive(Default)]
pub struct Targets {
    targets: [OnceLock<Option<Rat>>; rat::TARGETS],
    /// Held during an atomic operation.
    turns: Mutex<()>,
}

impl<'a> DrawShared<'a> {
    /// Whether the draw goes on: for loops over waves, as a short wave does not look.
    ///
    /// # Errors
    /// If it is cancelled.
    pub(super) fn check(&self) -> Result<(), Stop> {
        (self.context.control.check()).map_err(|_| Stop::Cancelled)
    }

    /// The probe, while it records a fragment.
    #[inline]
    pub(super) fn recording(&self) -> Option<&'a Probe> {
        self.probe.filter(|probe| probe.is_open())
    }

    /// Words of fetch resource `index` of `stage`; zeroes if there is none.
    pub fn resource(&self, stage: Stage, index: u32) -> [u32; 8] {
        let front = self.shadow.front();
        let (base, dwords, count) = front.resources;
        let index = (front.stage)(stage).first_resource.saturating_add(index);
        let mut words = [0; 8];
        if index < count {
            for (i, word) in (0..dwords).zip(&mut words) {
                *word = self.shadow.raw(base + 4 * (dwords * index + i));
            }
        }
        words
    }

    /// Target `index` of random access, if there is one.
    fn random_access_target(&self, index: usize) -> Option<&Rat> {
        let decode = || (self.shadow.front().random_access)(self.shadow, self.context.regs, index);
        self.targets
            .targets
            .get(index)?
            .get_or_init(decode)
            .as_ref()
    }

    /// Sampler `index` of `stage`.
    pub fn sampler(&self, stage: Stage, index: u32) -> Sampler {
        let front = self.shadow.front();
        let layout = (front.stage)(stage);
        let index = index % STAGE_SAMPLERS;
        let at = front.samplers + 12 * (layout.first_sampler + index);
        let words = std::array::from_fn(|i| self.shadow.raw(at + 4 * i as u32));
        let mut border = [0; 4];
        if (front.has_border)(&words) {
            let register = layout.border + 16 * index;
            border = std::array::from_fn(|i| self.context.regs.load(register + 4 * i as u32));
        }
        Sampler { words, border }
    }
}

/// The environment of one wave.
pub struct StageEnv<'a, 'b> {
    /// State that all waves share.
    pub shared: &'b DrawShared<'a>,
    /// The worker's window on memory.
    pub view: &'b View<'a>,
    /// Which stage runs.
    pub stage: Stage,
    /// Receives the exports.
    pub exports: &'b mut Exports,
    /// The worker's texture unit.
    pub unit: &'b mut texture::Unit,
    /// The inputs of a pixel shader that interpolates itself.
    pub inputs: &'b Scratch,
    /// The local data share.
    pub share: &'b mut [u32],
    /// Tessellation factors.
    pub factors: &'b mut [u32],
    /// The worker's number.
    pub worker: u32,
}

impl Env for StageEnv<'_, '_> {
    fn constants(&mut self, bank: u32, first: u32, out: &mut [[u32; 4]]) {
        out.fill([0; 4]);
        let shadow = self.shared.shadow;
        let [size, address] = (shadow.front().stage)(self.stage).constants;
        let bank = 4 * (bank & 15);
        // Size and address count units of 256 bytes, 16 vectors.
        let size = u64::from(shadow.raw(size + bank)).min(1 << 16) * 16;
        let base = u64::from(shadow.raw(address + bank)) << 8;
        let first = u64::from(first);
        let count = size.saturating_sub(first).min(out.len() as u64) as usize;
        let mut bytes = [0; 512];
        for (i, part) in out[..count].chunks_mut(32).enumerate() {
            let bytes = &mut bytes[..part.len() * 16];
            let at = base + (first + i as u64 * 32) * 16;
            if let Err(e) = self.view.read_by(Cache::Shader, at, bytes) {
                self.shared.context.control.fault(e);
                return;
            }
            for (vector, bytes) in part.iter_mut().zip(bytes.chunks_exact(16)) {
                for (v, b) in vector.iter_mut().zip(bytes.chunks_exact(4)) {
                    *v = u32::from_le_bytes([b[0], b[1], b[2], b[3]]);
                }
            }
        }
    }

    fn constants_epoch(&mut self) -> u64 {
        self.shared.serial << 3 | self.stage as u64
    }

    fn constant_file(&mut self, index: u32) -> [u32; 4] {
        // 256 constants for PS, the next 256 for VS.
        let set = match self.stage {
            Stage::Pixel => 0,
            _ => 256,
        };
        self.shared
            .shadow
            .array(reg::SQ_ALU_CONSTANT0_0 + 16 * (set + (index & 255)))
    }

    fn resource(&mut self, index: u32) -> [u32; 7] {
        (self.shared.shadow.front().buffer)(self.shared.resource(self.stage, index))
    }

    fn fetch_resources(&mut self) -> u32 {
        // Counted from those of the stage that calls the fetch shader.
        let front = self.shared.shadow.front();
        let first = |stage| (front.stage)(stage).first_resource;
        let moved = first(Stage::Vertex).wrapping_sub(first(self.stage));
        front.fetch_resources.wrapping_add(moved)
    }

    fn parameter(&mut self, index: u32, chan: u8) -> Option<[f32; 3]> {
        self.inputs.parameter(index as usize, chan.into())
    }

    fn quad_parameters(&mut self, index: u32, chan: u8) -> [[f32; 3]; QUADS] {
        self.inputs.quad_parameters(index as usize, chan.into())
    }

    fn buffer_view(&mut self, index: u32) -> Option<BufferView> {
        (self.shared.shadow.front().buffer_view)(&self.shared.resource(self.stage, index))
    }

    fn read(&mut self, address: u64, out: &mut [u8]) -> Result<(), McError> {
        self.view
            .read_by(Cache::Vertex, address, out)
            .inspect_err(|e| {
                self.shared.context.control.fault(*e);
            })
    }

    fn read_uncached(&mut self, address: u64, out: &mut [u8]) -> Result<(), McError> {
        let control = self.shared.context.control;
        (self.view.read(address, out)).inspect_err(|e| control.fault(*e))
    }

    fn random_access(&mut self, access: &RandomAccess<'_>) {
        let context = &self.shared.context;
        if !rat::is_modelled(access.op) {
            (context.control).unknown("RAT operation", access.op.into());
            return;
        }
        if let Some(target) = self.shared.random_access_target(access.target as usize) {
            if let Err(e) = target.execute(self.view, access, &self.shared.targets.turns) {
                context.control.fault(e);
            }
        }
    }

    fn random_writes(&mut self, access: &RandomAccess<'_>, lane: usize) -> Vec<(u64, u64)> {
        let target = self.shared.random_access_target(access.target as usize);
        target.map_or_else(Vec::new, |target| target.writes(access, lane))
    }

    fn counter(&mut self, op: u8, counter: u32, a: &Lanes, b: &Lanes, exec: Mask, out: &mut Lanes) {
        let Some(counter) = self.shared.global.counter(counter as usize) else {
            return;
        };
        for lane in iter(exec) {
            out[lane] = global::change(counter, op, a[lane], b[lane]);
        }
    }

    fn global_share(&mut self, op: u8, operands: [&Lanes; 3], exec: Mask, out: &mut Lanes) {
        let [address, a, b] = operands;
        for lane in iter(exec) {
            // Beyond its end nothing is stored, and 0 is read.
            let place = self.shared.global.dword(address[lane] as usize / 4);
            out[lane] = place.map_or(0, |place| global::change(place, op, a[lane], b[lane]));
        }
    }

    fn tessellation_factor(&mut self, address: &Lanes, factor: &Lanes, exec: Mask) {
        for lane in iter(exec) {
            if let Some(held) = self.factors.get_mut(address[lane] as usize / 4) {
                *held = factor[lane];
            }
        }
    }

    fn local_share(&mut self) -> &mut [u32] {
        self.share
    }

    fn wave_id(&mut self) -> u32 {
        self.worker
    }

    fn texture(
        &mut self,
        op: &TexInstruction,
        src: &[&Lanes; 4],
        exec: Mask,
        out: &mut [Lanes; 4],
    ) -> bool {
        let (shared, stage) = (self.shared, self.stage);
        let slot = texture::Slot {
            stage,
            resource: op.resource,
            sampler: op.sampler,
        };
        let words = || {
            let resource = shared.resource(stage, op.resource.into());
            (resource, shared.sampler(stage, op.sampler.into()))
        };
        let denormals = (self.unit).sample(self.view, op, slot, words, src, exec, out);
        if let Some(fault) = self.unit.take_fault() {
            self.shared.context.control.fault(fault);
        }
        if let Some(mode) = self.unit.take_unknown() {
            self.unknown(ARRAY_MODE, mode);
        }
        denormals
    }

    fn texels(&mut self, op: &TexInstruction, src: &[&Lanes; 4], lane: usize) -> Vec<Texel> {
        let resource = self.shared.resource(self.stage, op.resource.into());
        let sampler = self.shared.sampler(self.stage, op.sampler.into());
        (self.unit).texels_of(self.view, op, &resource, &sampler, src, lane)
    }

    fn end_of_fetch_clause(&mut self) {
        self.unit.end_of_clause();
    }

    fn export(
        &mut self,
        kind: ExportKind,
        index: u32,
        values: [&Lanes; 4],
        components: u8,
        exec: Mask,
    ) {
        if let Some(slot) = self.exports.slot(kind, index) {
            let lanes = (exec != ALL).then(|| expand(exec));
            for (chan, (to, from)) in slot.iter_mut().zip(values).enumerate() {
                if components >> chan & 1 == 0 {
                    continue;
                }
                match &lanes {
                    Some(lanes) => select(to, from, lanes),
                    None => *to = *from,
                }
            }
        }
    }

    fn export_in_place(
        &mut self,
        kind: ExportKind,
        index: u32,
        gpr: usize,
        select: [u8; 4],
    ) -> bool {
        let Some(slot) = self.exports.in_place.get_mut(index as usize) else {
            return false;
        };
        let (ExportKind::Pixel, Ok(gpr)) = (kind, u8::try_from(gpr)) else {
            return false;
        };
        *slot = Some((gpr, select));
        self.exports.pixel_mask |= 1 << index;
        true
    }

    fn memory_export(&mut self, export: &MemoryExport<'_>) {
        let values = || Box::new(export.values.map(|v| *v));
        match export.target {
            MemoryTarget::Stream(buffer) if self.exports.stream.len() < MAX_WRITES => {
                self.exports.stream.push(StreamWrite {
                    buffer: buffer & 3,
                    offset: export.array_base,
                    components: export.components,
                    exec: export.exec,
                    values: values(),
                });
            }
            MemoryTarget::Ring(stream) if self.exports.ring.len() < MAX_WRITES => {
                let base = export.array_base;
                let mut offset = Box::new([base; LANES]);
                if let Some(index) = export.index {
                    for (o, i) in offset.iter_mut().zip(index) {
                        *o = base.wrapping_add(i.wrapping_mul(export.element_size));
                    }
                }
                self.exports.ring.push(RingWrite {
                    stream: stream & 3,
                    offset,
                    components: export.components,
                    exec: export.exec,
                    values: values(),
                });
            }
            _ => {}
        }
    }

    fn emit_vertex(&mut self, stream: u32, exec: Mask) {
        self.exports.emission(false, stream, exec);
    }

    fn cut_vertex(&mut self, stream: u32, exec: Mask) {
        self.exports.emission(true, stream, exec);
    }

    fn fetch_shader(&mut self) -> Option<Arc<Program>> {
        self.shared.fetch.clone()
    }

    fn loop_constant(&mut self, index: u32) -> u32 {
        let front = self.shared.shadow.front();
        let at = 32 * (front.stage)(self.stage).constant_set + (index & 31);
        self.shared.shadow.raw(front.flow_constants[0] + 4 * at)
    }

    fn bool_constants(&mut self) -> u32 {
        let front = self.shared.shadow.front();
        let set = (front.stage)(self.stage).constant_set;
        self.shared.shadow.raw(front.flow_constants[1] + 4 * set)
    }

    fn vertex_offsets(&mut self) -> [u32; 2] {
        let get = |register| self.shared.shadow.get(register);
        [reg::SQ_VTX_BASE_VTX_LOC, reg::SQ_VTX_START_INST_LOC].map(get)
    }

    fn semantic(&mut self, id: u32) -> Option<u32> {
        (0..32).find(|&i| self.shared.shadow.get(reg::SQ_VTX_SEMANTIC_0 + 4 * i) & 0xFF == id)
    }

    fn unknown(&mut self, what: &'static str, code: u32) {
        self.shared.context.control.unknown(what, code);
    }

    fn cancelled(&mut self) -> bool {
        self.shared.context.control.check().is_err()
    }
}
