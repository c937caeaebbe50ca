// SPDX-License-Identifier: MIT
//! Geometry shaders: export shader, geometry shader, copy shader.
//!
//! The export shader writes each vertex to the ES-GS ring. The geometry shader
//! reads up to six of them and writes the vertices that it emits to the GS-VS
//! ring. The copy shader, which runs as vertex shader, exports these (Mesa
//! `sfn_shader_gs.cpp`, `generate_gs_copy_shader()`).
//!
//! Both rings are in memory and consist of items, whose sizes in dwords are in
//! registers. Vertex `n` is item `n` of the ES-GS ring. The GS-VS ring has one
//! item for each thread of the geometry shader, with the thread's vertices in
//! order. Only these shaders see the layout. On Evergreen a primitive can have several threads, its
//! invocations (`VGT_GS_INSTANCE_CNT`).
//!
//! Registers at the start of a geometry shader: R0.x, .y, .w, R1.x, .y, .z
//! the vertices' offsets in dwords, R0.z primitive id, R1.w invocation.

use std::ops::Range;

use super::batch::{Batch, DrawState, Failed, Progress};
use super::front::STREAMS;
use super::lanes::{first, LANES};
use super::primitive::{Assembler, Input, Primitive, Sink, Type};
use super::setup::capacity;
use super::stage::{Emission, RingWrite};
use super::state::Stage;
use super::vertex::{self, Core, Request};
use crate::chip::regs::fields::r700::{sq_gsvs_ring_itemsize, vgt_gs_max_vert_out};
use crate::chip::regs::gfx as reg;

/// Most primitives of a geometry shader's wave: one for each lane.
pub(super) const INPUTS: usize = LANES;

/// A ring in memory.
#[derive(Debug, Clone, Copy)]
struct Ring {
    base: u64,
    /// Dwords of an item, at least 1.
    item: u32,
    /// Number of items that fit, at most 2^20.
    items: u32,
}

impl Ring {
    /// A ring from its registers: base and size in units of 256 bytes, item size in dwords.
    fn new(base: u32, size: u32, item: u32) -> Self {
        let item = sq_gsvs_ring_itemsize::ITEMSIZE.of(item).max(1);
        Self {
            base: u64::from(base) << 8,
            item,
            items: (u64::from(size) * 64 / u64::from(item)).min(1 << 20) as u32,
        }
    }

    /// Writes a wave's exports to the ring; lane `l` has item `first_item + l`, in which the
    /// vertices of each stream begin at `stream_offset` dwords.
    fn store(
        &self,
        state: &DrawState<'_, '_>,
        writes: &[RingWrite],
        first_item: u32,
        stream_offset: &[u32; STREAMS],
    ) -> Result<(), Failed> {
        for write in writes {
            for lane in (0..LANES).filter(|l| write.exec >> l & 1 != 0) {
                let item = first_item + lane as u32;
                let stream = stream_offset[usize::from(write.stream) & (STREAMS - 1)];
                let offset = write.offset[lane].saturating_add(stream);
                if item >= self.items || offset >= self.item {
                    continue;
                }
                // One write if the components have no gap.
                let room = (self.item - offset).min(4);
                let mut bytes = [0; 16];
                let count = 4
                    .min(32 - u32::from(write.components).leading_zeros())
                    .min(room);
                for chan in 0..count as usize {
                    bytes[chan * 4..chan * 4 + 4]
                        .copy_from_slice(&write.values[chan][lane].to_le_bytes());
                }
                let at =
                    self.base + 4 * (u64::from(item) * u64::from(self.item) + u64::from(offset));
                let whole = first(count as usize) as u8;
                let result = if write.components & whole == whole {
                    state.view.write(at, &bytes[..count as usize * 4])
                } else {
                    (0..count as usize)
                        .filter(|c| write.components >> c & 1 != 0)
                        .try_for_each(|c| {
                            state
                                .view
                                .write(at + 4 * c as u64, &bytes[c * 4..c * 4 + 4])
                        })
                };
                result.map_err(|e| {
                    state.shared.context.control.fault(e);
                    Failed::Dropped("a ring of the geometry shader cannot be written")
                })?;
            }
        }
        Ok(())
    }
}

/// What a wave of geometry shader threads has emitted.
#[derive(Default)]
pub(super) struct Emitted {
    /// Vertices for the copy shader, thread by thread.
    vertices: Vec<Request>,
    /// Their primitives, whose vertices are indices of `vertices`.
    primitives: Vec<Primitive>,
}

impl Emitted {
    /// Number of primitives.
    pub(super) fn len(&self) -> usize {
        self.primitives.len()
    }

    /// Bytes of memory that the lists take, empty or not.
    pub(super) fn bytes(&self) -> usize {
        capacity(&self.vertices) + capacity(&self.primitives)
    }

    /// Puts the primitives `part` into `out`, with the vertices renumbered: 0 is the first of the
    /// returned ones.
    fn part(&self, part: Range<usize>, out: &mut Vec<Primitive>) -> &[Request] {
        let primitives = self.primitives.get(part).unwrap_or_default();
        let vertices = || primitives.iter().flat_map(|p| p.vertices);
        // A primitive's vertices are neighbours, so that the parts have few in common.
        let first = vertices().min().unwrap_or(0);
        let end = vertices().max().map_or(first, |last| last + 1);
        out.clear();
        out.extend(primitives.iter().map(|primitive| Primitive {
            vertices: primitive.vertices.map(|v| v - first),
            ..*primitive
        }));
        (self.vertices.get(first as usize..end as usize)).unwrap_or_default()
    }
}

struct Assembled<'a>(&'a mut Vec<Primitive>);

impl Sink for Assembled<'_> {
    fn primitive(&mut self, primitive: Primitive) {
        self.0.push(primitive);
    }
    fn input(&mut self, _: Input) {}
}

/// Most vertices that `VGT_GS_MAX_VERT_OUT` can allow a geometry shader for one input.
pub(super) const MOST_VERTICES: u32 = 2047;

/// Runs the export and the geometry shader for `inputs` (at most [`INPUTS`]). `out` then holds
/// what they have emitted: up to [`MOST_VERTICES`] vertices for each input, which [`copy`] shades in parts. The
/// export shader gets `request` of a vertex and its instance.
pub(super) fn shade(
    state: &DrawState<'_, '_>,
    progress: &mut Progress<'_>,
    core: &mut Core,
    out: &mut [Emitted; STREAMS],
    inputs: &[(Input, u32)],
    request: &dyn Fn(u32, u32) -> Request,
) -> Result<(), Failed> {
    let Some((export, geometry)) = &state.geometry else {
        return Ok(());
    };
    let s = state.shared.shadow;
    let regs = state.shared.context.regs;
    let esgs = Ring::new(
        regs.load(reg::SQ_ESGS_RING_BASE),
        regs.load(reg::SQ_ESGS_RING_SIZE),
        s.get(reg::SQ_ESGS_RING_ITEMSIZE),
    );
    let gsvs = Ring::new(
        regs.load(reg::SQ_GSVS_RING_BASE),
        regs.load(reg::SQ_GSVS_RING_SIZE),
        s.get(reg::SQ_GSVS_RING_ITEMSIZE),
    );
    let streams = state.streams;
    let most = vgt_gs_max_vert_out::MAX_VERT_OUT.of(s.get(reg::VGT_GS_MAX_VERT_OUT));
    for out in &mut *out {
        out.vertices.clear();
        out.primitives.clear();
    }
    if inputs.is_empty() {
        return Ok(());
    }
    // A thread for each invocation of each primitive.
    let invocations = streams.invocations.max(1) as usize;
    let threads = inputs.len().min(LANES) * invocations;
    if threads > INPUTS && inputs.len() > 1 {
        return Err(Failed::TooMany);
    }

    // The export shader runs once for each vertex that inputs share.
    let mut requests: Vec<Request> = Vec::new();
    let mut offsets = [[0u32; 6]; LANES];
    for (lane, (input, instance)) in inputs.iter().enumerate().take(LANES) {
        for (corner, index) in input.vertices[..usize::from(input.count).min(6)]
            .iter()
            .enumerate()
        {
            let request = request(*index, *instance);
            let slot = requests.iter().position(|r| *r == request);
            let slot = slot.unwrap_or_else(|| {
                requests.push(request);
                requests.len() - 1
            });
            offsets[lane][corner] = slot as u32 * esgs.item;
        }
    }
    if requests.len() as u32 > esgs.items || threads as u32 > gsvs.items {
        // Half of the primitives may fit.
        if inputs.len() > 1 {
            return Err(Failed::TooMany);
        }
        return Err(Failed::Dropped(
            "a ring of the geometry shader is too small",
        ));
    }
    match state.tessellation {
        Some(_) => progress.domain += requests.len() as u64,
        None => progress.vertices += requests.len() as u64,
    }
    for (i, part) in requests.chunks(LANES).enumerate() {
        vertex::begin(core, state.shared, part);
        core.run(state.shared, state.view, Stage::Export, export)?;
        esgs.store(state, &core.exports.ring, (i * LANES) as u32, &[0; STREAMS])?;
    }

    for begin in (0..threads).step_by(LANES) {
        let wave = begin..threads.min(begin + LANES);
        let lanes = first(wave.len());
        let budget = state.shared.limits.wave_instructions;
        core.wave.begin(lanes, lanes, budget);
        for (lane, thread) in wave.clone().enumerate() {
            let input = thread / invocations;
            let ([a, b, c, d, e, f], id) = (offsets[input], inputs[input].0.id);
            for (chan, value) in [a, b, id, c].into_iter().enumerate() {
                core.wave.gpr_mut(0, chan)[lane] = value;
            }
            let invocation = (thread % invocations) as u32;
            for (chan, value) in [d, e, f, invocation].into_iter().enumerate() {
                core.wave.gpr_mut(1, chan)[lane] = value;
            }
        }
        core.run(state.shared, state.view, Stage::Geometry, geometry)?;
        progress.geometry[0] += wave.len() as u64;
        let item = begin as u32;
        gsvs.store(state, &core.exports.ring, item, &streams.ring_offset)?;

        let emits = |stream: usize| {
            let events = &core.exports.emitted;
            events.iter().any(|e| usize::from(e.stream) == stream)
        };
        for (stream, out) in out.iter_mut().enumerate().filter(|(n, _)| emits(*n)) {
            let kind = match streams.kind[stream] {
                0 => Type::PointList,
                1 => Type::LineStrip,
                _ => Type::TriangleStrip,
            };
            let (size, first) = (streams.vertex_size[stream], streams.ring_offset[stream]);
            let before = out.len();
            let strips = Strips {
                stream: stream as u8,
                kind,
                most,
                provoking_last: state.setup.provoking_last,
            };
            emitted(
                &core.exports.emitted,
                &strips,
                wave.clone().map(|thread| inputs[thread / invocations].0.id),
                // The copy shader finds the stream in the two highest bits.
                |lane, n| {
                    let at = (item + lane) * gsvs.item + first + n * size;
                    at & 0x3FFF_FFFF | (stream as u32) << 30
                },
                out,
            );
            progress.geometry[1] += (out.len() - before) as u64;
        }
    }
    Ok(())
}

/// Runs the copy shader for the primitives `part` of `emitted`. `batch` then holds them and their
/// vertices.
pub(super) fn copy(
    state: &DrawState<'_, '_>,
    core: &mut Core,
    emitted: &Emitted,
    part: Range<usize>,
    batch: &mut Batch,
) -> Result<(), Failed> {
    let vertices = emitted.part(part, &mut batch.primitives);
    batch.vertices.clear(state.params);
    batch.streams.clear();
    vertex::shade(
        core,
        state.shared,
        state.view,
        &state.vertex,
        vertices,
        &mut batch.vertices,
        &mut batch.streams,
    )?;
    Ok(())
}

/// The primitives that become of a vertex stream.
struct Strips {
    /// The stream, 0 to 3.
    stream: u8,
    kind: Type,
    /// Most vertices of a thread.
    most: u32,
    provoking_last: bool,
}

/// Assembles the vertices that a wave emitted to the stream of `strips`, thread by thread. `ids` are
/// the primitive ids of the threads. The index of a vertex for the copy shader is `offset` of thread
/// and vertex number.
fn emitted(
    events: &[Emission],
    strips: &Strips,
    ids: impl Iterator<Item = u32>,
    offset: impl Fn(u32, u32) -> u32,
    out: &mut Emitted,
) {
    for (lane, id) in ids.enumerate() {
        let first = out.primitives.len();
        let mut assembler = Assembler::new(strips.kind, strips.provoking_last, false);
        let mut count = 0;
        let of_lane = |e: &&Emission| e.stream == strips.stream && e.exec >> lane & 1 != 0;
        for event in events.iter().filter(of_lane) {
            if event.cut {
                assembler.restart(&mut Assembled(&mut out.primitives));
            } else if count < strips.most {
                let vertex = out.vertices.len() as u32;
                assembler.push(vertex, &mut Assembled(&mut out.primitives));
                out.vertices.push(Request {
                    index: offset(lane as u32, count),
                    second: None,
                    instance: 0,
                    primitive: 0,
                });
                count += 1;
            }
        }
        assembler.restart(&mut Assembled(&mut out.primitives));
        for primitive in &mut out.primitives[first..] {
            primitive.id = id;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn emitted_vertices_become_strips_of_their_thread() {
        let both = 0b11;
        let event = |(cut, exec)| Emission {
            cut,
            stream: 1,
            exec,
        };
        let mut events = [
            (false, both),
            (false, both),
            (false, both),
            (true, 0b01),
            (false, both),
            (false, 0b01),
            (false, 0b01),
        ]
        .map(event)
        .to_vec();
        // Other streams do not matter.
        for stream in [0, 2, 3] {
            events.insert(
                2,
                Emission {
                    cut: stream == 2,
                    stream,
                    exec: both,
                },
            );
        }
        let mut out = Emitted::default();
        let strips = Strips {
            stream: 1,
            kind: Type::TriangleStrip,
            most: 100,
            provoking_last: true,
        };
        emitted(
            &events,
            &strips,
            [7, 8].into_iter(),
            |lane, n| lane * 1000 + n,
            &mut out,
        );
        let index = |p: &Primitive| p.vertices.map(|v| out.vertices[v as usize].index);
        let found: Vec<_> = out.primitives.iter().map(index).collect();
        let strips = [[0, 1, 2], [3, 4, 5], [1000, 1001, 1002], [1002, 1001, 1003]];
        assert_eq!(found, strips);
        let ids: Vec<_> = out.primitives.iter().map(|p| p.id).collect();
        assert_eq!(ids, [7, 7, 8, 8]);
        // In parts, the primitives have the same vertices.
        for (n, strip) in strips.iter().enumerate() {
            let mut part = Vec::new();
            let vertices = out.part(n..n + 1, &mut part);
            assert_eq!((part.len(), vertices.len()), (1, 3));
            let found = part[0].vertices.map(|v| vertices[v as usize].index);
            assert_eq!((found, part[0].id), (*strip, ids[n]));
        }
        let mut part = Vec::new();
        assert_eq!(out.part(1..4, &mut part).len(), 7);
        assert_eq!(part.len(), 3);
        assert!(out.part(9..10, &mut part).is_empty() && part.is_empty());
    }

    #[test]
    fn vertices_beyond_the_limit_are_dropped() {
        let mut out = Emitted::default();
        let strips = Strips {
            stream: 0,
            kind: Type::PointList,
            most: 4,
            provoking_last: true,
        };
        emitted(
            &[Emission {
                cut: false,
                stream: 0,
                exec: 1,
            }; 9],
            &strips,
            [0].into_iter(),
            |_, n| n,
            &mut out,
        );
        assert_eq!((out.vertices.len(), out.primitives.len()), (4, 4));
    }
}
