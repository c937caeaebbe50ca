// SPDX-License-Identifier: MIT
//! What happened to one pixel, or to one vertex of one draw: a record for people who look for
//! the cause of a wrong picture.
//!
//! A [`Pipeline`](super::Pipeline) with a probe of a pixel records each fragment that falls on it:
//! coverage, depth and stencil tests, the inputs of the shader, the result of each instruction,
//! the texels that it fetched, and the colours of the targets before and after. The tile of the
//! pixel takes the general paths, which give the same bits as the fast ones. A polygon that cannot
//! touch the pixel costs a comparison of its bounds.
//!
//! The pipeline must have one thread: a probe does not tell threads apart.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde::Serialize;

use super::colour::Targets;
use super::depth::{self, Samples};
use super::lanes::{lane_of, Lanes, Mask};
use super::raster::{Coverage, TILE};
use super::setup::{Setup, Vertices};
use super::shader::disasm::disassemble;
use super::shader::tape::{Step, Value, KILLS};
use super::shader::{Program, Wave};
use super::stage::Exports;
use super::state::Rect;
use super::surface::At;
use super::vertex::Request;
use crate::chip::bus::Mc;

/// Most fragments or vertices that are recorded.
pub const MAX_RECORDS: usize = 4096;
/// Most dwords of a shader that are disassembled.
const MAX_DWORDS: usize = 1 << 16;

/// What is recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Watch {
    /// The pixel in column `x` and row `y` of each render target, from the first one in memory.
    Pixel {
        /// Column.
        x: i32,
        /// Row.
        y: i32,
    },
    /// The vertex with index `index` (as the shader gets it, `VGT_INDX_OFFSET` added) of draw
    /// `draw`, counted from 1. Of several instances, those that begin a wave or are the first in
    /// it. Vertices of draws with a geometry shader are not recorded.
    Vertex {
        /// Number of the draw.
        draw: u64,
        /// Index.
        index: u32,
    },
}

/// How much had to be looked at.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// Draws.
    pub draws: u64,
    /// Polygons after clipping.
    pub polygons: u64,
    /// Those whose bounds have the pixel.
    pub near: u64,
    /// Their tiles that were compared with the pixel's.
    pub looked: u64,
    /// Their tiles that have the pixel: only these take the general paths.
    pub tiles: u64,
}

/// An executed instruction with its disassembly.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Line {
    /// In the notation of `R600_DEBUG`; empty for Evergreen's shaders.
    pub text: String,
    /// What it did.
    #[serde(flatten)]
    pub step: Step,
}

/// A run of a shader, for one pixel, sample or vertex.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Run {
    /// The sample, if the shader runs for each.
    pub sample: Option<usize>,
    /// The registers that it reads before it writes them.
    pub inputs: Vec<Value>,
    /// The instructions, in order.
    pub lines: Vec<Line>,
    /// There were more instructions than a tape holds.
    pub truncated: bool,
    /// It killed the fragment.
    pub killed: bool,
}

/// A depth and stencil test of one sample.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct DepthTest {
    /// The sample.
    pub sample: usize,
    /// Depth of the fragment.
    pub depth: f32,
    /// Depth and stencil in the buffer before the test. A plane of stencil that the draw does not access
    /// is not read.
    pub before: (f32, u8),
    /// Depth and stencil in the buffer after it.
    pub after: (f32, u8),
    /// The depth test's result, if depth is tested.
    pub depth_passes: Option<bool>,
    /// The stencil test's result, if stencil is tested.
    pub stencil_passes: Option<bool>,
    /// It may change the buffer: a test ahead of the shader only saves its run.
    pub updates: bool,
}

/// A write of one sample of a colour target.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ColourWrite {
    /// Number of the target.
    pub target: usize,
    /// The sample.
    pub sample: u32,
    /// Address, number type and blend equations.
    pub state: String,
    /// The shader's colour, as bits. None for copies and resolves.
    pub source: Option<[u32; 4]>,
    /// The second colour of dual-source blending, as bits.
    pub second: Option<[u32; 4]>,
    /// Red to alpha in the target before the write, as bits of floats or integers.
    pub before: [u32; 4],
    /// And after it.
    pub after: [u32; 4],
}

/// A fragment that fell on the pixel.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Fragment {
    /// Number of the draw, from 1.
    pub draw: u64,
    /// Number of the polygon in the draw, from 0, after clipping and culling.
    pub polygon: u64,
    /// Clip-space positions of the three vertices of its planes.
    pub corners: [[f32; 4]; 3],
    /// It is a front face.
    pub front: bool,
    /// Layer of the render target.
    pub layer: u32,
    /// What changed its coverage, and the samples that were left, a bit each. The first entry is
    /// the polygon's.
    pub coverage: Vec<(&'static str, u8)>,
    /// Depth and stencil tests.
    pub tests: Vec<DepthTest>,
    /// Runs of the pixel shader.
    pub runs: Vec<Run>,
    /// Colours written.
    pub colours: Vec<ColourWrite>,
    /// What became of it.
    pub fate: String,
}

/// A vertex that was shaded.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Vertex {
    /// Number of the draw, from 1.
    pub draw: u64,
    /// Index, as the shader gets it.
    pub index: u32,
    /// Instance.
    pub instance: u32,
    /// The run of the vertex shader, with its fetch shader.
    pub run: Run,
}

/// All that a probe recorded.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct History {
    /// How much had to be looked at.
    pub counts: Counts,
    /// Fragments, in order.
    pub fragments: Vec<Fragment>,
    /// Vertices, in order.
    pub vertices: Vec<Vertex>,
    /// There were more than [`MAX_RECORDS`].
    pub truncated: bool,
}

/// Lines of a program's disassembly, by place.
type Listing = HashMap<u32, String>;

#[derive(Debug, Default)]
struct State {
    /// The fragment that is drawn, and its lane.
    open: Option<(Fragment, usize)>,
    /// The run that is recorded.
    run: Run,
    fragments: Vec<Fragment>,
    vertices: Vec<Vertex>,
    truncated: bool,
    /// Of programs, by their number.
    listings: HashMap<u64, Listing>,
}

/// Records a pixel or a vertex, see [`Watch`].
#[derive(Debug)]
pub struct Probe {
    watch: Watch,
    draws: AtomicU64,
    polygons: AtomicU64,
    /// Number of the draw's next polygon.
    polygon: AtomicU64,
    near: AtomicU64,
    looked: AtomicU64,
    tiles: AtomicU64,
    /// A fragment is drawn.
    open: AtomicBool,
    state: Mutex<State>,
}

impl Probe {
    /// A probe that has recorded nothing.
    pub fn new(watch: Watch) -> Self {
        Self {
            watch,
            draws: AtomicU64::new(0),
            polygons: AtomicU64::new(0),
            polygon: AtomicU64::new(0),
            near: AtomicU64::new(0),
            looked: AtomicU64::new(0),
            tiles: AtomicU64::new(0),
            open: AtomicBool::new(false),
            state: Mutex::default(),
        }
    }

    /// What has been recorded so far.
    pub fn history(&self) -> History {
        let state = self.state();
        let get = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        History {
            counts: Counts {
                draws: get(&self.draws),
                polygons: get(&self.polygons),
                near: get(&self.near),
                looked: get(&self.looked),
                tiles: get(&self.tiles),
            },
            fragments: state.fragments.clone(),
            vertices: state.vertices.clone(),
            truncated: state.truncated,
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether a fragment is drawn, between [`Self::begin`] and [`Self::end`].
    pub(super) fn is_open(&self) -> bool {
        self.open.load(Ordering::Relaxed)
    }

    /// A draw begins.
    pub(super) fn draw(&self) {
        self.draws.fetch_add(1, Ordering::Relaxed);
        self.polygon.store(0, Ordering::Relaxed);
    }

    /// Whether the pixel lies within a polygon's bounds. Called once for each polygon.
    pub(super) fn near(&self, bounds: Rect) -> bool {
        self.polygons.fetch_add(1, Ordering::Relaxed);
        self.polygon.fetch_add(1, Ordering::Relaxed);
        let Watch::Pixel { x, y } = self.watch else {
            return false;
        };
        let near = (bounds.x0..bounds.x1).contains(&x) && (bounds.y0..bounds.y1).contains(&y);
        if near {
            self.near.fetch_add(1, Ordering::Relaxed);
        }
        near
    }

    /// Begins the record of the fragment of `setup` in draw `draw`, if the pixel lies in tile
    /// (`tx`, `ty`).
    pub(super) fn begin(
        &self,
        draw: u64,
        (tx, ty): (i32, i32),
        setup: &Setup,
        vertices: &Vertices,
    ) -> bool {
        let Watch::Pixel { x, y } = self.watch else {
            return false;
        };
        self.looked.fetch_add(1, Ordering::Relaxed);
        if (x.div_euclid(TILE), y.div_euclid(TILE)) != (tx, ty) {
            return false;
        }
        self.tiles.fetch_add(1, Ordering::Relaxed);
        let lane = lane_of(x.rem_euclid(TILE) as usize, y.rem_euclid(TILE) as usize);
        let corner = |vertex: u32| vertices.position.get(vertex as usize).copied();
        let fragment = Fragment {
            draw,
            polygon: self.polygon.load(Ordering::Relaxed).saturating_sub(1),
            corners: setup
                .vertices
                .map(|vertex| corner(vertex).unwrap_or_default()),
            front: setup.front,
            layer: setup.layer,
            ..Fragment::default()
        };
        self.state().open = Some((fragment, lane));
        self.open.store(true, Ordering::Relaxed);
        true
    }

    /// Ends the record. A fragment that the polygon does not cover is dropped.
    pub(super) fn end(&self) {
        self.open.store(false, Ordering::Relaxed);
        let state = &mut *self.state();
        let Some((mut fragment, _)) = state.open.take() else {
            return;
        };
        let covered =
            |entry: Option<&(&'static str, u8)>| entry.is_some_and(|(_, left)| *left != 0);
        if !covered(fragment.coverage.first()) {
            return;
        }
        fragment.fate = match fragment.coverage.last() {
            Some((what, 0)) => format!("dropped by {what}"),
            _ if fragment.colours.is_empty() => "drawn, no colour is written".into(),
            _ if fragment.colours.iter().all(|c| c.before == c.after) => {
                "drawn, no colour changes".into()
            }
            _ => "drawn".into(),
        };
        if state.fragments.len() < MAX_RECORDS {
            state.fragments.push(fragment);
        } else {
            state.truncated = true;
        }
    }

    /// Notes the coverage that `what` has left: of all samples, or only of `sample`.
    pub(super) fn coverage(&self, what: &'static str, coverage: &Coverage, sample: Option<usize>) {
        let state = &mut *self.state();
        let Some((fragment, lane)) = &mut state.open else {
            return;
        };
        let masks = coverage.samples.iter().rev();
        let mut left = masks.fold(0, |all, mask| all << 1 | (mask >> *lane & 1) as u8);
        let last = fragment.coverage.last().map(|(_, left)| *left);
        if let (Some(sample), Some(last)) = (sample, last) {
            let only = 1u8 << (sample & 7);
            left = last & !only | left & only;
        }
        if last != Some(left) {
            fragment.coverage.push((what, left));
        }
    }

    /// Notes a test of one sample: the depths `z` of the lanes of `mask` against `before`, which
    /// became `after`.
    #[allow(clippy::too_many_arguments)] // those of the test, and its outcome
    pub(super) fn depth(
        &self,
        sample: usize,
        depth: &depth::State,
        front: bool,
        z: &[f32; 64],
        mask: Mask,
        reference: Option<&Lanes>,
        [before, after]: [&Samples; 2],
        updates: bool,
    ) {
        let state = &mut *self.state();
        let Some((fragment, lane)) = &mut state.open else {
            return;
        };
        let (lane, only) = (*lane, 1u64 << *lane);
        if mask & only == 0 {
            return;
        }
        // Each test by itself.
        let passes = |z_enable: bool, stencil_enable: bool| {
            let mut state = depth.clone();
            (state.z_enable, state.stencil_enable) = (z_enable, stencil_enable);
            let tested = state.test(&mut before.clone(), z, only, front, reference, false);
            (z_enable || stencil_enable).then_some(tested.passed != 0)
        };
        let held = |samples: &Samples| {
            let value = depth.format.depth(samples.depth[lane]);
            (value, samples.stencil[lane])
        };
        fragment.tests.push(DepthTest {
            sample,
            depth: z[lane],
            before: held(before),
            after: held(after),
            depth_passes: passes(depth.z_enable, false),
            stencil_passes: passes(false, depth.stencil_enable),
            updates,
        });
    }

    /// Has the pixel shader recorded that `wave` is about to run, its inputs filled.
    pub(super) fn shader(&self, wave: &mut Wave, sample: Option<usize>) {
        let state = &mut *self.state();
        if let Some((_, lane)) = &state.open {
            state.run = Run {
                sample,
                ..Run::default()
            };
            wave.record(*lane);
        }
    }

    /// Takes the record of the pixel shader that `wave` has run.
    pub(super) fn shader_ran(&self, program: &Program, wave: &mut Wave) {
        let state = &mut *self.state();
        let Some(run) = state.take_run(program, None, wave) else {
            return;
        };
        if let Some((fragment, _)) = &mut state.open {
            fragment.runs.push(run);
        }
    }

    /// Notes the colours of the targets of tile `at`, for the samples that are covered: before a
    /// draw writes them. `source`: the shader's exports, and its wave.
    pub(super) fn before_write(
        &self,
        mc: &dyn Mc,
        targets: &Targets,
        at: At,
        coverage: &Coverage,
        source: Option<(&Exports, &Wave)>,
    ) {
        let state = &mut *self.state();
        let Some((fragment, lane)) = &mut state.open else {
            return;
        };
        let lane = *lane;
        let plain = targets.written().map(|(index, export, _)| (index, export));
        let mut which: Vec<(usize, usize)> = plain.collect();
        if source.is_none() {
            which = (0..8).map(|index| (index, index)).collect();
        }
        for (index, export) in which {
            let Some(target) = targets.get(index) else {
                continue;
            };
            let exported = source.is_none_or(|(e, _)| e.pixel_mask >> export & 1 != 0);
            for sample in (0..target.samples()).filter(|_| exported) {
                let covered = match target.samples() {
                    1 => coverage.any(),
                    _ => coverage.samples[sample as usize & 7],
                };
                if covered >> lane & 1 == 0 {
                    continue;
                }
                let colour = |export: usize| {
                    let (exports, wave) = source?;
                    Some(exports.colour(wave, export).map(|row| row[lane]))
                };
                let before = held(mc, targets, index, at.sample(sample), lane);
                fragment.colours.push(ColourWrite {
                    target: index,
                    sample,
                    state: target.describe(),
                    source: colour(export),
                    second: target.uses_second().then(|| colour(1)).flatten(),
                    before,
                    after: before,
                });
            }
        }
    }

    /// Notes the colours after the write; `first` is the number of writes noted before it.
    pub(super) fn after_write(&self, mc: &dyn Mc, targets: &Targets, at: At, first: usize) {
        let state = &mut *self.state();
        if let Some((fragment, lane)) = &mut state.open {
            for write in fragment.colours.iter_mut().skip(first) {
                write.after = held(mc, targets, write.target, at.sample(write.sample), *lane);
            }
        }
    }

    /// Number of colour writes that the fragment has so far.
    pub(super) fn writes(&self) -> usize {
        let state = self.state();
        (state.open.as_ref()).map_or(0, |(fragment, _)| fragment.colours.len())
    }

    /// Has the vertex shader recorded that `wave` is about to run for `batch` in draw `draw`, if
    /// the vertex is in it. Returns its request.
    pub(super) fn vertex(&self, draw: u64, batch: &[Request], wave: &mut Wave) -> Option<Request> {
        let Watch::Vertex {
            draw: wanted,
            index,
        } = self.watch
        else {
            return None;
        };
        let lane = batch
            .iter()
            .position(|request| request.index == index && request.second.is_none());
        let lane = lane.filter(|_| draw == wanted)?;
        self.state().run = Run::default();
        wave.record(lane);
        Some(batch[lane])
    }

    /// Takes the record of the vertex shader that `wave` has run.
    pub(super) fn vertex_ran(
        &self,
        draw: u64,
        request: Request,
        [program, fetch]: [Option<&Program>; 2],
        wave: &mut Wave,
    ) {
        let state = &mut *self.state();
        let Some(run) = program.and_then(|program| state.take_run(program, fetch, wave)) else {
            return;
        };
        if state.vertices.len() >= MAX_RECORDS {
            state.truncated = true;
            return;
        }
        state.vertices.push(Vertex {
            draw,
            index: request.index,
            instance: request.instance,
            run,
        });
    }
}

impl State {
    /// The run that `wave` has recorded, with the disassembly of its programs.
    fn take_run(
        &mut self,
        program: &Program,
        fetch: Option<&Program>,
        wave: &mut Wave,
    ) -> Option<Run> {
        let tape = wave.take_tape()?;
        let mut run = std::mem::take(&mut self.run);
        run.truncated = tape.truncated;
        run.inputs = tape.inputs;
        run.killed = tape.steps.iter().any(|step| step.note == Some(KILLS));
        for step in tape.steps {
            let of = if step.fetch_shader {
                fetch
            } else {
                Some(program)
            };
            let text = of.and_then(|program| self.listing(program).get(&step.at).cloned());
            let text = text.unwrap_or_default();
            run.lines.push(Line { text, step });
        }
        Some(run)
    }

    fn listing(&mut self, program: &Program) -> &Listing {
        if self.listings.len() > 256 {
            self.listings.clear();
        }
        (self.listings)
            .entry(program.id())
            .or_insert_with(|| listing(program))
    }
}

/// The lines of a program's disassembly, without places and words.
fn listing(program: &Program) -> Listing {
    let text = disassemble(&program.code(MAX_DWORDS), program.isa());
    let line = |line: &str| {
        let (at, rest) = line.trim_start().split_once(' ')?;
        // The instruction's words in hexadecimal.
        let is_word = |word: &&str| word.len() == 8 && u32::from_str_radix(word, 16).is_ok();
        let words = rest.split(' ').take_while(is_word).count();
        let text: Vec<&str> = rest.split(' ').skip(words).collect();
        Some((at.parse().ok()?, text.join(" ").trim().to_string()))
    };
    text.lines().filter_map(line).collect()
}

/// What a target holds for the pixel; zeroes if no memory answers.
fn held(mc: &dyn Mc, targets: &Targets, index: usize, at: At, lane: usize) -> [u32; 4] {
    let target = targets.get(index);
    let colour = target.and_then(|target| target.read_tile(mc, at).ok());
    colour.map_or([0; 4], |colour| colour.map(|row| row[lane].to_bits()))
}
