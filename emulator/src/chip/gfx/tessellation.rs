// SPDX-License-Identifier: MIT
//! Patches: local shader, hull shader, tessellator. The domain shader, which places the points,
//! runs as vertex shader or, ahead of a geometry shader, as export shader.
//!
//! Patches go through these stages in groups of `VGT_LS_HS_CONFIG.NUM_PATCHES`, whose waves share
//! the local data share from the local shader to the domain shader. The local shader runs once for
//! each vertex of a patch, the hull shader once for each output vertex (Mesa's `r600_shader.c`,
//! `sfn_shader_tess.cpp`, `evergreen_setup_tess_constants()`). Registers at their start:
//!
//! | shader | R0.x | R0.y | R0.z | R0.w |
//! |---|---|---|---|---|
//! | local | index | vertex in the group | | instance |
//! | hull | patch of the instance | patch of the group | output vertex | address of the factors |
//! | domain | u | v | patch of the group | patch of the instance |
//!
//! The hull shader writes the factors by `TF_WRITE` to byte addresses: here those of the group's
//! first patch begin at 0, and each patch has as many dwords as its domain has levels.

use std::sync::Arc;

use super::batch::{DrawState, Failed, Progress};
use super::compute::{self, Waiting, MOST_THREADS};
use super::lanes::{first, LANES};
use super::primitive::{Input, Primitive, Shape};
use super::setup::capacity;
use super::shader::Program;
use super::state::Stage;
use super::tessellator::{Domain, Factors, Mesh, Output, Tessellator};
use super::vertex::{self, Core, Request};

/// Most vertices of a patch that a draw has: a register has six bits for their number.
const MOST_VERTICES: u32 = 63;

/// The registers of tessellation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Config {
    /// The fixed-function part.
    pub tessellator: Tessellator,
    /// Patches of a group, at least 1 (`NUM_PATCHES`).
    pub patches: u32,
    /// Vertices of a patch, at least 1 (`HS_NUM_INPUT_CP`).
    pub inputs: u32,
    /// Runs of the hull shader for a patch, at least 1 (`HS_NUM_OUTPUT_CP`).
    pub outputs: u32,
    /// Dwords of the local data share (`SQ_LDS_ALLOC`).
    pub share: usize,
}

/// What a draw needs for its patches.
pub(super) struct Tessellation {
    /// The registers.
    pub(super) config: Config,
    /// The local shader.
    pub(super) local: Arc<Program>,
    /// The hull shader.
    pub(super) hull: Arc<Program>,
}

/// Patches that wait for a flush.
#[derive(Default)]
pub(super) struct Patches {
    /// Vertices, patch by patch.
    vertices: Vec<u32>,
    /// Instance of each, and its number in that.
    patches: Vec<(u32, u32)>,
    /// Vertices of the last one, while some are missing.
    open: u32,
    next: u32,
}

impl Patches {
    /// Number of complete patches.
    pub(super) fn len(&self) -> usize {
        self.patches.len()
    }

    /// Bytes of memory that the lists take, empty or not.
    pub(super) fn bytes(&self) -> usize {
        capacity(&self.vertices) + capacity(&self.patches)
    }

    /// Takes the next vertex of a patch of `size`.
    pub(super) fn push(&mut self, vertex: u32, instance: u32, size: u32) {
        self.vertices.push(vertex);
        self.open += 1;
        if self.open >= size.clamp(1, MOST_VERTICES) {
            self.patches.push((instance, self.next));
            self.next = self.next.wrapping_add(1);
            self.open = 0;
        }
    }

    /// Drops the vertices of a patch that is not complete.
    pub(super) fn restart(&mut self) {
        self.vertices
            .truncate(self.vertices.len() - self.open as usize);
        self.open = 0;
    }

    /// Begins a new instance.
    pub(super) fn next_instance(&mut self) {
        self.restart();
        self.next = 0;
    }

    /// Removes the complete patches.
    pub(super) fn clear(&mut self) {
        let open = self.vertices.len() - self.open as usize;
        self.vertices.drain(..open);
        self.patches.clear();
    }

    /// Removes all.
    pub(super) fn reset(&mut self) {
        self.restart();
        self.clear();
        self.next = 0;
    }
}

/// What the tessellator made of a patch.
#[derive(Default)]
pub(super) struct Points {
    /// The points, for the domain shader.
    pub(super) requests: Vec<Request>,
    /// Their primitives.
    pub(super) primitives: Vec<Primitive>,
    mesh: Mesh,
}

impl Points {
    /// Bytes of memory that the lists take, empty or not.
    pub(super) fn bytes(&self) -> usize {
        capacity(&self.requests)
            + capacity(&self.primitives)
            + capacity(&self.mesh.points)
            + capacity(&self.mesh.primitives)
    }

    /// Subdivides patch `patch` of the group from `from` on, whose factors `core` has.
    pub(super) fn subdivide(
        &mut self,
        state: &DrawState<'_, '_>,
        tessellator: &Tessellator,
        core: &Core,
        patches: &Patches,
        (from, patch): (usize, usize),
    ) {
        self.requests.clear();
        self.primitives.clear();
        let levels = tessellator.domain.levels();
        let mut factors = Factors::default();
        let written = core.factors.iter().skip(patch * levels).take(levels);
        for (factor, bits) in factors.iter_mut().zip(written) {
            *factor = f32::from_bits(*bits);
        }
        let id = patches.patches.get(from + patch).map_or(0, |(_, id)| *id);
        let last = state.setup.provoking_last;
        self.add(tessellator, &factors, patch as u32, id, last);
    }

    /// Subdivides a patch and appends its primitives.
    fn add(
        &mut self,
        tessellator: &Tessellator,
        factors: &Factors,
        patch: u32,
        id: u32,
        last: bool,
    ) {
        tessellator.run(factors, &mut self.mesh);
        let first = self.requests.len() as u32;
        let shape = match (tessellator.output, tessellator.domain) {
            (Output::Points, _) => Shape::Point,
            (Output::Lines, _) | (_, Domain::Isolines) => Shape::Line,
            _ => Shape::Triangle,
        };
        let points = self.mesh.points.iter();
        self.requests.extend(points.map(|[u, v]| Request {
            index: u.to_bits(),
            second: Some(v.to_bits()),
            primitive: patch,
            instance: id,
        }));
        // The end of the segment before: a line that begins elsewhere is another isoline.
        let mut end = None;
        for vertices in &self.mesh.primitives {
            let restarts = shape != Shape::Line || end != Some(vertices[0]);
            end = Some(vertices[1]);
            self.primitives.push(Primitive {
                shape,
                vertices: vertices.map(|vertex| first + vertex),
                provoking: if last { shape.corners() as u8 - 1 } else { 0 },
                outline: if shape == Shape::Line { 1 } else { 7 },
                id,
                restarts,
            });
        }
    }

    /// The primitives as inputs of a geometry shader, whose vertices are numbers of `requests`.
    pub(super) fn inputs(&self) -> impl Iterator<Item = Input> + '_ {
        self.primitives.iter().map(|primitive| {
            let [a, b, c] = primitive.vertices;
            Input {
                vertices: [a, b, c, a, a, a],
                count: primitive.shape.corners() as u8,
                id: primitive.id,
            }
        })
    }
}

/// Ranges of the patches of each group.
pub(super) fn groups(config: &Config, patches: &Patches) -> impl Iterator<Item = (usize, usize)> {
    let (count, size) = (patches.len(), config.patches.max(1) as usize);
    (0..count)
        .step_by(size)
        .map(move |at| (at, (at + size).min(count)))
}

/// Runs the local and the hull shader for the patches from `from` up to `to` (excluded), one group.
/// `core` then has their factors for [`Points::subdivide`], and their data for the domain shader.
pub(super) fn shade(
    state: &DrawState<'_, '_>,
    progress: &mut Progress<'_>,
    core: &mut Core,
    tessellation: &Tessellation,
    patches: &Patches,
    (from, to): (usize, usize),
) -> Result<(), Failed> {
    let Tessellation {
        config,
        local,
        hull,
    } = tessellation;
    let shared = state.shared;
    core.share.clear();
    core.share.resize(config.share, 0);
    let inputs = config.inputs.clamp(1, MOST_VERTICES) as usize;
    let group = patches.patches.get(from..to).unwrap_or_default();

    let vertices = patches.vertices.get(from * inputs..to * inputs);
    let vertices = vertices.unwrap_or_default().iter().enumerate();
    let requests: Vec<Request> = vertices
        .map(|(n, index)| Request {
            index: *index,
            second: Some(n as u32),
            primitive: 0,
            instance: group.get(n / inputs).map_or(0, |(instance, _)| *instance),
        })
        .collect();
    progress.vertices += requests.len() as u64;
    for part in requests.chunks(LANES) {
        shared.check()?;
        vertex::begin(core, shared, part);
        core.run(shared, state.view, Stage::Local, local)?;
    }

    let levels = config.tessellator.domain.levels();
    core.factors.clear();
    core.factors.resize(levels * group.len(), 0);
    hull_waves(state, core, config, group, hull)?;
    progress.patches += group.len() as u64;

    if core.executed > shared.limits.instructions {
        return Err(Failed::Dropped("too many instructions"));
    }
    Ok(())
}

/// Runs the hull shader for the patches of a group.
fn hull_waves(
    state: &DrawState<'_, '_>,
    core: &mut Core,
    config: &Config,
    group: &[(u32, u32)],
    hull: &Arc<Program>,
) -> Result<(), Failed> {
    let outputs = config.outputs.clamp(1, MOST_VERTICES) as usize;
    let threads = group.len() * outputs;
    if threads as u64 > MOST_THREADS {
        return Err(Failed::Dropped("a group has too many threads"));
    }
    let limit = state.shared.limits.wave_instructions;
    let fill = |wave: &mut super::shader::Wave, from: usize| {
        let lanes = (threads - from).min(LANES);
        wave.begin(first(lanes), first(lanes), limit);
        for lane in 0..lanes {
            let (patch, output) = ((from + lane) / outputs, (from + lane) % outputs);
            let id = group[patch].1;
            for (chan, value) in [id, patch as u32, output as u32, 0].into_iter().enumerate() {
                wave.gpr_mut(0, chan)[lane] = value;
            }
        }
    };
    if threads <= LANES {
        fill(&mut core.wave, 0);
        core.run(state.shared, state.view, Stage::Hull, hull)?;
        return Ok(());
    }
    // They meet at barriers.
    let mut waves: Vec<Waiting> = Vec::new();
    for from in (0..threads).step_by(LANES) {
        let mut waiting = Waiting::default();
        fill(&mut waiting.wave, from);
        waves.push(waiting);
    }
    compute::group(
        state.shared,
        state.view,
        core,
        Stage::Hull,
        hull,
        &mut waves,
    )?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::tessellator::Spacing;
    use super::*;

    #[test]
    fn patches_are_complete_and_numbered_in_their_instance() {
        let mut patches = Patches::default();
        for vertex in 0..5 {
            patches.push(vertex, 0, 3);
        }
        assert_eq!((patches.len(), patches.open), (1, 2));
        patches.restart();
        for vertex in 10..13 {
            patches.push(vertex, 0, 3);
        }
        patches.push(99, 0, 3);
        patches.next_instance();
        patches.push(20, 1, 1);
        assert_eq!(patches.vertices, [0, 1, 2, 10, 11, 12, 20]);
        assert_eq!(patches.patches, [(0, 0), (0, 1), (1, 0)]);
        // A flush keeps the patch that is not complete, and the count.
        patches.push(21, 1, 2);
        patches.clear();
        patches.push(22, 1, 2);
        assert_eq!(patches.vertices, [21, 22]);
        assert_eq!(patches.patches, [(1, 1)]);
        patches.reset();
        assert_eq!(
            (patches.len(), patches.next, patches.vertices.len()),
            (0, 0, 0)
        );
    }

    #[test]
    fn groups_have_the_registers_number_of_patches() {
        let mut patches = Patches::default();
        (0..7).for_each(|vertex| patches.push(vertex, 0, 1));
        let mut config = Config {
            tessellator: Tessellator {
                domain: Domain::Quads,
                spacing: Spacing::Equal,
                output: Output::Points,
                most: 64,
            },
            patches: 3,
            inputs: 1,
            outputs: 1,
            share: 0,
        };
        let found: Vec<_> = groups(&config, &patches).collect();
        assert_eq!(found, [(0, 3), (3, 6), (6, 7)]);
        config.patches = 0;
        assert_eq!(groups(&config, &patches).count(), 7);
    }

    #[test]
    fn points_become_primitives_of_their_patch() {
        let tessellator = Tessellator {
            domain: Domain::Isolines,
            spacing: Spacing::Equal,
            output: Output::Lines,
            most: 64,
        };
        let mut points = Points::default();
        let factors = [2.0, 2.0, 0.0, 0.0, 0.0, 0.0];
        points.add(&tessellator, &factors, 0, 8, true);
        points.add(&tessellator, &factors, 1, 9, true);
        assert_eq!(points.requests.len(), 12);
        let request = points.requests[7];
        assert_eq!((request.index, request.second), (0.5f32.to_bits(), Some(0)));
        assert_eq!((request.primitive, request.instance), (1, 9));
        let found: Vec<_> = (points.primitives.iter())
            .map(|p| (p.vertices[0], p.vertices[1], p.id, p.restarts, p.provoking))
            .collect();
        let expected = [
            (0, 1, 8, true, 1),
            (1, 2, 8, false, 1),
            (3, 4, 8, true, 1),
            (4, 5, 8, false, 1),
            (6, 7, 9, true, 1),
        ];
        assert_eq!(found[..5], expected);
        let input = points.inputs().nth(4).unwrap();
        assert_eq!(
            (input.count, input.id, &input.vertices[..2]),
            (2, 9, &[6, 7][..])
        );
    }
}
