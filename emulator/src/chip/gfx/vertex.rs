// SPDX-License-Identifier: MIT
//! Vertices through the shader core, 64 at a time.
//!
//! Registers at the start of a vertex shader: R0.x index (`VGT_INDX_OFFSET`
//! added), R0.y lane of the wave, R0.z primitive id, R0.w instance (Mesa
//! `r600_shader.c`, `sfn_shader_vs.cpp`).

use std::sync::Arc;

use super::depth;
use super::interpolate;
use super::lanes::{first, LANES};
use super::memory::View;
use super::pixel::{Gather, Rows};
use super::setup::{capacity, Vertices};
use super::shader::{self, Position, Program, Stop, Wave};
use super::stage::{DrawShared, Exports, StageEnv, StreamWrite};
use super::state::Stage;
use super::texture;
use super::uniform::Uniform;
use super::workers::Part;
use crate::chip::regs::fields::r700::pa_cl_vs_out_cntl;
use crate::chip::regs::gfx as reg;

/// A vertex to shade.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Request {
    /// Index, `VGT_INDX_OFFSET` added; of a domain shader u.
    pub index: u32,
    /// What the shader gets as R0.y: of a local shader the vertex in its group of patches, of a domain
    /// shader v; of others none, and the lane is there.
    pub second: Option<u32>,
    /// Instance; of a domain shader the id of the patch.
    pub instance: u32,
    /// Id of its primitive if `VGT_PRIMITIVEID_EN` is set, else 0; of a domain shader the patch in its
    /// group.
    pub primitive: u32,
}

/// The state that one thread needs to run shaders. Aligned against false sharing: the cores are
/// neighbours in an array, and the host fetches cache lines of 64 bytes in pairs.
#[derive(Debug, Default)]
#[repr(align(128))]
pub struct Core {
    /// Registers.
    pub wave: Wave,
    /// Outputs.
    pub exports: Exports,
    /// Texture unit.
    pub unit: texture::Unit,
    /// Interpolation weights of a tile.
    pub weights: Box<interpolate::Scratch>,
    /// Rows of the short path of pixels.
    pub rows: Box<Rows>,
    /// A wave of pixels of several polygons.
    pub gather: Box<Gather>,
    /// Depth and stencil of the tile that is drawn, by sample.
    pub depth: Vec<depth::Samples>,
    /// Results of a pixel shader that hold for more than one wave.
    pub uniform: Uniform,
    /// Instructions executed in this draw.
    pub executed: u64,
    /// The local data share of the group of waves that runs (R800).
    pub share: Vec<u32>,
    /// Tessellation factors of the group of patches that runs (R800).
    pub factors: Vec<u32>,
    /// Number of the worker, below 256.
    pub worker: u32,
    /// Its part of a batch.
    pub part: Part,
}

impl Core {
    /// Runs the wave. The caller has filled its registers and set its masks.
    ///
    /// # Errors
    /// See [`shader::run`].
    pub fn run(
        &mut self,
        shared: &DrawShared<'_>,
        view: &View<'_>,
        stage: Stage,
        program: &Program,
    ) -> Result<(), Stop> {
        self.exports.clear();
        let lint = (shared.lint).filter(|lint| lint.records(program, stage, &mut self.wave));
        let (wave, mut env) = self.parts(shared, view, stage);
        let result = shader::run(program, wave, &mut env);
        self.executed += self.wave.executed;
        if let Some(lint) = lint {
            lint.ran(program, stage, &mut self.wave);
        }
        result
    }

    /// Runs the wave from `at` on, as [`shader::run_part`] does. Its exports are added to those that
    /// are there.
    ///
    /// # Errors
    /// See [`shader::run_part`].
    pub fn run_part(
        &mut self,
        shared: &DrawShared<'_>,
        view: &View<'_>,
        stage: Stage,
        program: &Program,
        at: &mut Position,
    ) -> Result<(), Stop> {
        let before = self.wave.executed;
        let (wave, mut env) = self.parts(shared, view, stage);
        let result = shader::run_part(program, wave, &mut env, at);
        self.executed += self.wave.executed - before;
        result
    }

    /// The wave and its environment.
    fn parts<'a, 'b>(
        &'b mut self,
        shared: &'b DrawShared<'a>,
        view: &'b View<'a>,
        stage: Stage,
    ) -> (&'b mut Wave, StageEnv<'a, 'b>) {
        let env = StageEnv {
            shared,
            view,
            stage,
            exports: &mut self.exports,
            unit: &mut self.unit,
            inputs: &self.weights,
            share: &mut self.share,
            factors: &mut self.factors,
            worker: self.worker,
        };
        (&mut self.wave, env)
    }
}

/// Stream-out writes of shaded vertices.
#[derive(Debug, Default)]
pub struct StreamData {
    /// Destination of each dword of a vertex's record: stream-out buffer, and dword within the
    /// vertex there.
    layout: Vec<(u8, u32)>,
    /// Records, one for each vertex, each in the layout's order.
    values: Vec<u32>,
    vertices: usize,
}

/// Most dwords of a vertex that stream-out keeps: for each of four buffers 128,
/// the most components that OpenGL lets a driver offer.
const MAX_STREAM_DWORDS: usize = 512;

impl StreamData {
    /// Removes the layout and all vertices.
    pub fn clear(&mut self) {
        self.layout.clear();
        self.values.clear();
        self.vertices = 0;
    }

    /// Bytes of memory that the lists take, empty or not.
    pub fn bytes(&self) -> usize {
        capacity(&self.layout) + capacity(&self.values)
    }

    /// Appends `count` vertices of a wave that wrote `writes`.
    pub fn append(&mut self, writes: &[StreamWrite], count: usize) {
        for write in writes {
            for chan in (0..4).filter(|c| write.components >> c & 1 != 0) {
                let place = (write.buffer, write.offset.wrapping_add(chan));
                if !self.layout.contains(&place) && self.layout.len() < MAX_STREAM_DWORDS {
                    self.widen(place);
                }
            }
        }
        let width = self.layout.len();
        let start = self.values.len();
        self.values.resize(start + width * count, 0);
        self.vertices += count;
        for write in writes {
            for chan in (0..4).filter(|c| write.components >> c & 1 != 0) {
                let place = (write.buffer, write.offset.wrapping_add(chan));
                let Some(at) = self.layout.iter().position(|p| *p == place) else {
                    continue;
                };
                for lane in (0..count.min(LANES)).filter(|l| write.exec >> l & 1 != 0) {
                    self.values[start + lane * width + at] = write.values[chan as usize][lane];
                }
            }
        }
    }

    fn widen(&mut self, place: (u8, u32)) {
        let width = self.layout.len();
        self.layout.push(place);
        if self.vertices > 0 {
            let mut values = Vec::with_capacity(self.vertices * (width + 1));
            for vertex in 0..self.vertices {
                values.extend_from_slice(&self.values[vertex * width..(vertex + 1) * width]);
                values.push(0);
            }
            self.values = values;
        }
    }

    /// Buffer, offset and value of each dword of `vertex`.
    pub fn dwords(&self, vertex: u32) -> impl Iterator<Item = (u8, u32, u32)> + '_ {
        let width = self.layout.len();
        let start = vertex as usize * width;
        let values = self.values.get(start..start + width).unwrap_or(&[]);
        self.layout
            .iter()
            .zip(values)
            .map(|(&(buffer, offset), &value)| (buffer, offset, value))
    }
}

/// Shades vertices with the vertex shader and appends them to `out`.
///
/// # Errors
/// See [`shader::run`].
pub fn shade(
    core: &mut Core,
    shared: &DrawShared<'_>,
    view: &View<'_>,
    program: &Arc<Program>,
    requests: &[Request],
    out: &mut Vertices,
    streams: &mut StreamData,
) -> Result<(), Stop> {
    for batch in requests.chunks(LANES) {
        shared.check()?;
        begin(core, shared, batch);
        let probed =
            (shared.probe).and_then(|p| Some((p, p.vertex(shared.serial, batch, &mut core.wave)?)));
        core.run(shared, view, Stage::Vertex, program)?;
        if let Some((probe, request)) = probed {
            let programs = [Some(&**program), shared.fetch.as_deref()];
            probe.vertex_ran(shared.serial, request, programs, &mut core.wave);
        }
        collect(&core.exports, shared, batch.len(), out);
        streams.append(&core.exports.stream, batch.len());
    }
    Ok(())
}

/// Sets up the wave that shades the vertices of `batch`.
pub fn begin(core: &mut Core, shared: &DrawShared<'_>, batch: &[Request]) {
    let lanes = first(batch.len());
    core.wave
        .begin(lanes, lanes, shared.limits.wave_instructions);
    for (lane, request) in batch.iter().enumerate() {
        core.wave.gpr_mut(0, 0)[lane] = request.index;
        core.wave.gpr_mut(0, 1)[lane] = request.second.unwrap_or(lane as u32);
        core.wave.gpr_mut(0, 2)[lane] = request.primitive;
        core.wave.gpr_mut(0, 3)[lane] = request.instance;
    }
    for export in &mut core.exports.position {
        for row in export.iter_mut() {
            row.fill(0);
        }
    }
}

/// Appends a wave's vertices to `out`.
pub fn collect(exports: &Exports, shared: &DrawShared<'_>, count: usize, out: &mut Vertices) {
    let cntl = shared.shadow.get(reg::PA_CL_VS_OUT_CNTL);
    // Exports 61 to 63 are the enabled vectors, without gaps.
    let mut next = 0;
    let mut vector = |enabled: bool| {
        next += usize::from(enabled);
        enabled.then_some(next)
    };
    let misc = vector(pa_cl_vs_out_cntl::VS_OUT_MISC_VEC_ENA.is_set(cntl));
    let distances = [
        vector(pa_cl_vs_out_cntl::VS_OUT_CCDIST0_VEC_ENA.is_set(cntl)),
        vector(pa_cl_vs_out_cntl::VS_OUT_CCDIST1_VEC_ENA.is_set(cntl)),
    ];
    let row = |slot: Option<usize>, lane: usize| -> [u32; 4] {
        slot.and_then(|s| exports.position.get(s))
            .map_or([0; 4], |rows| std::array::from_fn(|chan| rows[chan][lane]))
    };
    for lane in 0..count.min(LANES) {
        out.position.push(row(Some(0), lane).map(f32::from_bits));
        out.misc.push(row(misc, lane));
        let (low, high) = (row(distances[0], lane), row(distances[1], lane));
        out.distance.push(std::array::from_fn(|i| {
            f32::from_bits(if i < 4 { low[i] } else { high[i - 4] })
        }));
        for param in &exports.param[..out.stride.min(exports.param.len())] {
            out.params
                .push(std::array::from_fn(|chan| param[chan][lane]));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(buffer: u8, offset: u32, components: u8, base: u32) -> StreamWrite {
        StreamWrite {
            buffer,
            offset,
            components,
            exec: first(2),
            values: Box::new(std::array::from_fn(|chan| {
                std::array::from_fn(|lane| base + chan as u32 * 100 + lane as u32)
            })),
        }
    }

    #[test]
    fn stream_data_keeps_each_vertex_and_widens() {
        let mut data = StreamData::default();
        data.append(&[write(0, 0, 0b111, 1000)], 2);
        data.append(&[write(0, 0, 0b111, 2000), write(1, 4, 1, 3000)], 2);
        let of = |v| data.dwords(v).collect::<Vec<_>>();
        assert_eq!(of(1), [(0, 0, 1001), (0, 1, 1101), (0, 2, 1201), (1, 4, 0)]);
        assert_eq!(
            of(2),
            [(0, 0, 2000), (0, 1, 2100), (0, 2, 2200), (1, 4, 3000)]
        );
        assert!(of(9).is_empty());
    }
}
