// SPDX-License-Identifier: MIT
//! Executes a draw in batches: assembles primitives, shades their vertices, streams them out, sets
//! them up, and has their pixels drawn.

use super::batch::{Batch, DrawState, Failed, Progress};
use super::draw::{Index, Indices, CHUNK};
use super::front::STREAMS;
use super::geometry::{self, Emitted};
use super::primitive::{Assembler, Input, Primitive, Sink, Type};
use super::setup::capacity;
use super::tessellation::{self, Patches, Points, Tessellation};
use super::vertex::{self, Core, Request};
use super::workers::{awake, raster, setups, vertices};
use crate::chip::cp::pm4::Draw;
use crate::chip::regs::vgt;

/// Primitives of a batch; there may be a chunk of indices more.
pub(super) const BATCH: usize = 2048;
/// Entries of the vertex reuse table, a power of two.
const REUSE: usize = 4096;
/// An entry without a vertex.
const UNUSED: (u64, u32) = (0, u32::MAX);

/// Allocations that batches share.
#[derive(Default)]
pub(super) struct Buffers {
    pub(super) indices: Vec<Index>,
    pub(super) primitives: Vec<(Primitive, u32)>,
    pub(super) inputs: Vec<(Input, u32)>,
    pub(super) patches: Patches,
    pub(super) points: Points,
    /// Of each vertex stream.
    pub(super) emitted: [Emitted; STREAMS],
    pub(super) batch: Batch,
}

impl Buffers {
    /// Bytes that are kept from draw to draw.
    pub(super) const KEPT: usize = 8 << 20;

    /// Bytes of memory that the lists take, empty or not.
    pub(super) fn bytes(&self) -> usize {
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
            + setups.iter().map(capacity).sum::<usize>()
            + capacity(reuse);
        let lists = capacity(&self.indices) + capacity(&self.primitives) + capacity(&self.inputs);
        let patches = self.patches.bytes() + self.points.bytes();
        lists + patches + self.emitted.iter().map(Emitted::bytes).sum::<usize>() + batch
    }

    /// Primitives that wait for a flush.
    pub(super) fn collected(&self) -> usize {
        self.primitives.len() + self.inputs.len() + self.patches.len()
    }

    /// Frees the lists if a draw has made them large.
    pub(super) fn trim(&mut self) {
        if self.bytes() > Self::KEPT {
            *self = Self::default();
        }
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

/// What a draw has assembled.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Assembled {
    /// Primitives.
    pub(super) primitives: u64,
    /// Indices, with those that restart.
    pub(super) indices: u64,
    /// Vertices. A restart index is none: KHR-GL33's
    /// `pipeline_statistics_query_tests_ARB.functional_primitives_vertices_submitted_*` wants that, and is
    /// not among the tests that fail on a real RV770 (Mesa's `r600-rv770-fails.txt`).
    pub(super) vertices: u64,
}

/// Runs all batches.
pub(super) fn run(
    state: &DrawState<'_, '_>,
    progress: &mut Progress<'_>,
    cores: &mut [Core],
    buffers: &mut Buffers,
    kind: Type,
    draw: &Draw,
) -> (Result<(), Failed>, Assembled) {
    let mut counts = Assembled::default();
    let vertices = u64::from(draw.indices)
        * u64::from(state.shared.shadow.get(vgt::VGT_DMA_NUM_INSTANCES).max(1));
    let result = awake(state, cores, vertices, |cores| {
        instances(state, progress, cores, buffers, kind, draw, &mut counts)
    });
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

fn instances(
    state: &DrawState<'_, '_>,
    progress: &mut Progress<'_>,
    cores: &mut [Core],
    buffers: &mut Buffers,
    kind: Type,
    draw: &Draw,
    counts: &mut Assembled,
) -> Result<(), Failed> {
    let control = state.shared.context.control;
    let shadow = state.shared.shadow;
    let source = Indices::decode(shadow, draw);
    buffers.primitives.clear();
    buffers.inputs.clear();
    buffers.patches.reset();
    let provoking_last = state.setup.provoking_last;
    let mut assembler = Assembler::new(kind, provoking_last, state.geometry.is_some());
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
            let patches = state.tessellation.map(|t| t.config.inputs);
            for index in &buffers.indices {
                counts.vertices += u64::from(*index != Index::Restart);
                match (index, patches) {
                    (Index::Vertex(v), None) => assembler.push(*v, &mut sink),
                    (Index::Restart, None) => assembler.restart(&mut sink),
                    (Index::Vertex(v), Some(size)) => buffers.patches.push(*v, instance, size),
                    (Index::Restart, Some(_)) => buffers.patches.restart(),
                }
            }
            counts.indices += u64::from(count);
            if counts.indices > state.shared.limits.vertices {
                return Err(Failed::Dropped("too many vertices"));
            }
            first = match first.checked_add(count) {
                Some(next) => next,
                None => break,
            };
            if buffers.collected() >= BATCH {
                counts.primitives += buffers.collected() as u64;
                flush(state, progress, cores, buffers)?;
            }
        }
        assembler.next_instance(&mut Collect {
            primitives: &mut buffers.primitives,
            inputs: &mut buffers.inputs,
            instance,
        });
        buffers.patches.next_instance();
        if buffers.collected() >= BATCH {
            counts.primitives += buffers.collected() as u64;
            flush(state, progress, cores, buffers)?;
        }
        // The loop above does not check for cancellation if there are no indices.
        if instance % 4096 == 4095 {
            control.check()?;
        }
        if counts.indices + u64::from(instance) > state.shared.limits.vertices {
            return Err(Failed::Dropped("too many instances"));
        }
    }
    counts.primitives += buffers.collected() as u64;
    flush(state, progress, cores, buffers)
}

/// Draws the collected primitives and clears the lists.
fn flush(
    state: &DrawState<'_, '_>,
    progress: &mut Progress<'_>,
    cores: &mut [Core],
    buffers: &mut Buffers,
) -> Result<(), Failed> {
    if let Some(tessellation) = state.tessellation {
        return flush_patches(state, progress, cores, buffers, tessellation);
    }
    let Buffers {
        primitives,
        inputs,
        emitted,
        batch,
        ..
    } = buffers;
    if state.geometry.is_some() {
        let request = |index, instance| Request {
            index,
            second: None,
            instance,
            primitive: 0,
        };
        run_geometry(state, progress, cores, emitted, batch, inputs, &request)?;
        inputs.clear();
        return Ok(());
    }
    // Nearly always one batch: few draws make more primitives than they have indices.
    for part in primitives.chunks(BATCH + CHUNK) {
        shade(state, progress, cores, batch, part)?;
        finish(state, progress, cores, batch, 0)?;
    }
    primitives.clear();
    Ok(())
}

/// Runs the geometry shader for `inputs` and draws what it emits. The export shader gets `request` of a
/// vertex and its instance.
fn run_geometry(
    state: &DrawState<'_, '_>,
    progress: &mut Progress<'_>,
    cores: &mut [Core],
    emitted: &mut [Emitted; STREAMS],
    batch: &mut Batch,
    inputs: &[(Input, u32)],
    request: &dyn Fn(u32, u32) -> Request,
) -> Result<(), Failed> {
    let mut rest = inputs;
    let mut size = geometry::INPUTS;
    while !rest.is_empty() {
        let part = &rest[..size.min(rest.len())];
        let core = &mut cores[0];
        match geometry::shade(state, progress, core, emitted, part, request) {
            Err(Failed::TooMany) => {
                size = part.len() / 2;
                continue;
            }
            result => result?,
        }
        // A wave can emit as many as 64 batches.
        for (stream, emitted) in emitted.iter().enumerate() {
            for first in (0..emitted.len()).step_by(BATCH) {
                state.shared.context.control.check()?;
                let part = first..emitted.len().min(first + BATCH);
                geometry::copy(state, &mut cores[0], emitted, part, batch)?;
                finish(state, progress, cores, batch, stream)?;
            }
        }
        rest = &rest[part.len()..];
    }
    Ok(())
}

/// Subdivides the collected patches and draws them. The primitives of small patches are drawn
/// together.
fn flush_patches(
    state: &DrawState<'_, '_>,
    progress: &mut Progress<'_>,
    cores: &mut [Core],
    buffers: &mut Buffers,
    tessellation: &Tessellation,
) -> Result<(), Failed> {
    let Buffers {
        inputs,
        patches,
        points,
        emitted,
        batch,
        ..
    } = buffers;
    let begin = |batch: &mut Batch| {
        batch.primitives.clear();
        batch.vertices.clear(state.params);
        batch.streams.clear();
    };
    begin(batch);
    let mut vertices = 0;
    let config = &tessellation.config;
    for (from, to) in tessellation::groups(config, patches) {
        state.shared.context.control.check()?;
        tessellation::shade(
            state,
            progress,
            &mut cores[0],
            tessellation,
            patches,
            (from, to),
        )?;
        for patch in 0..to - from {
            points.subdivide(
                state,
                &config.tessellator,
                &cores[0],
                patches,
                (from, patch),
            );
            if state.geometry.is_some() {
                inputs.clear();
                inputs.extend(points.inputs().map(|input| (input, 0)));
                let request = |n: u32, _| points.requests[n as usize];
                run_geometry(state, progress, cores, emitted, batch, inputs, &request)?;
            } else {
                progress.domain += points.requests.len() as u64;
                vertex::shade(
                    &mut cores[0],
                    state.shared,
                    state.view,
                    &state.vertex,
                    &points.requests,
                    &mut batch.vertices,
                    &mut batch.streams,
                )?;
                (batch.primitives).extend(points.primitives.iter().map(|primitive| Primitive {
                    vertices: primitive.vertices.map(|vertex| vertices + vertex),
                    ..*primitive
                }));
                vertices += points.requests.len() as u32;
                if batch.primitives.len() >= BATCH {
                    finish(state, progress, cores, batch, 0)?;
                    begin(batch);
                    vertices = 0;
                }
            }
            if progress.domain > state.shared.limits.vertices {
                return Err(Failed::Dropped("too many vertices"));
            }
        }
    }
    if state.geometry.is_none() {
        finish(state, progress, cores, batch, 0)?;
    }
    inputs.clear();
    patches.clear();
    Ok(())
}

/// Shades the vertices of primitives. Reuses a shaded vertex, unless the shader gets primitive ids.
fn shade(
    state: &DrawState<'_, '_>,
    progress: &mut Progress<'_>,
    cores: &mut [Core],
    batch: &mut Batch,
    primitives: &[(Primitive, u32)],
) -> Result<(), Failed> {
    batch.requests.clear();
    batch.primitives.clear();
    batch.reuse.resize(REUSE, UNUSED);
    for (primitive, instance) in primitives {
        let mut assembled = *primitive;
        let count = primitive.shape.corners();
        for corner in 0..count {
            let index = primitive.vertices[corner];
            let request = Request {
                index,
                second: None,
                instance: *instance,
                primitive: if state.primitive_ids { primitive.id } else { 0 },
            };
            let key = u64::from(*instance) << 32 | u64::from(index);
            let entry = &mut batch.reuse[index as usize % REUSE];
            assembled.vertices[corner] =
                if !state.primitive_ids && entry.1 != UNUSED.1 && entry.0 == key {
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
    // A few entries, as a rule: the table is far larger than most draws.
    for (primitive, _) in primitives {
        for index in &primitive.vertices[..primitive.shape.corners()] {
            batch.reuse[*index as usize % REUSE] = UNUSED;
        }
    }
    batch.vertices.clear(state.params);
    batch.streams.clear();
    progress.vertices += batch.requests.len() as u64;
    vertices(state, cores, batch, progress.streamout.is_some())
}

/// Streams a batch of vertex stream `stream` out, and draws its pixels if that one is rasterised.
fn finish(
    state: &DrawState<'_, '_>,
    progress: &mut Progress<'_>,
    cores: &mut [Core],
    batch: &mut Batch,
    stream: usize,
) -> Result<(), Failed> {
    let control = state.shared.context.control;
    if let Some(out) = &mut progress.streamout {
        for primitive in &batch.primitives {
            let vertices = &primitive.vertices[..primitive.shape.corners()];
            out.primitive(state.view, &batch.streams, stream, vertices)
                .map_err(|e| {
                    control.fault(e);
                    Failed::Dropped("a stream-out buffer cannot be written")
                })?;
        }
    }
    let Some(pixel) = state.pixel.filter(|_| stream == state.streams.rasterised) else {
        return Ok(());
    };
    setups(state, progress, cores, batch)?;
    let before = progress.pixels.bytes;
    raster(state, pixel, progress, cores, batch)?;
    if cores.iter().map(|c| c.executed).sum::<u64>() > state.shared.limits.instructions {
        return Err(Failed::Dropped("too many instructions"));
    }
    control.charge(progress.pixels.bytes - before)?;
    Ok(())
}
