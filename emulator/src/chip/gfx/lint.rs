// SPDX-License-Identifier: MIT
//! Warnings that hardware cannot give, each once, with the draw.
//!
//! - A shader reads a register that nothing has written: neither the chip before it runs, nor the
//!   shader or its fetch shader. The chip has the value of an earlier wave there.
//! - An input of the pixel shader takes a parameter that the vertex shader does not export.
//! - A texel load or a vertex fetch reads outside its texture or buffer.
//! - A fetch reads what a store of the same thread may not have written yet: nothing waits for it.
//! - A texel that a backend has left compressed is read ([`compressed`](super::compressed)).
//! - A draw changes nothing: no sample passes, and it streams nothing out.
//!
//! Of each program [`WAVES`] waves of each stage are looked at, one lane of each. Redundant state and
//! flushes are a matter of the stream alone: `r7xx-replay --redundant` counts them.

use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, PoisonError};

use super::batch::Progress;
use super::interpolate::Interpolator;
use super::pixel::PixelState;
use super::rules::{name, Report};
use super::shader::tape::{OUTSIDE_BUFFER, OUTSIDE_TEXTURE, UNACKNOWLEDGED};
use super::shader::{Program, Wave};
use super::state::Stage;

/// Waves of each program and stage that are looked at.
pub const WAVES: u32 = 4;
/// Most findings that are remembered as reported.
const SEEN: usize = 1 << 16;

struct State {
    report: Report,
    /// Findings that have been reported, with the number of the program or the surface's address.
    seen: HashSet<(u64, String)>,
    /// Waves that have been looked at.
    waves: HashMap<(u64, Stage), u32>,
    /// Number of the draw under way.
    draw: u64,
    /// Registers that its pixel shader starts with.
    registers: Vec<usize>,
}

/// Looks for mistakes of a driver, see the module.
pub struct Lint(Mutex<State>);

impl Lint {
    /// Findings go to `report`, a line each.
    pub fn new(report: Report) -> Self {
        Self(Mutex::new(State {
            report,
            seen: HashSet::new(),
            waves: HashMap::new(),
            draw: 0,
            registers: Vec::new(),
        }))
    }

    fn with<T>(&self, f: impl FnOnce(&mut State) -> T) -> T {
        f(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Draw `draw` begins with vertex shader `vertex`, and with the inputs of a pixel shader if it
    /// rasterises.
    pub(super) fn draw(&self, draw: u64, vertex: &Program, pixel: Option<&Interpolator>) {
        self.with(|state| {
            state.draw = draw;
            state.registers = pixel.map(Interpolator::registers).unwrap_or_default();
            let exported = vertex.exported_parameters();
            let missing = |parameter: &usize| exported >> (parameter & 63) & 1 == 0;
            for parameter in pixel.iter().flat_map(|p| p.parameters()).filter(missing) {
                let what = format!(
                    "the pixel shader takes parameter {parameter}, which the vertex shader does not export"
                );
                state.found(vertex.id(), what);
            }
        });
    }

    /// Dispatch `draw` begins; dispatches and draws are counted together.
    pub(super) fn dispatch(&self, draw: u64) {
        self.with(|state| state.draw = draw);
    }

    /// Draw ends without an error, after `inputs` primitives with pixels by `pixel`.
    pub(super) fn drawn(
        &self,
        vertex: &Program,
        pixel: Option<&PixelState>,
        progress: &Progress<'_>,
        inputs: u64,
    ) {
        let streamed = (progress.streamout.as_ref())
            .is_some_and(|out| out.primitives.iter().any(|[_, written]| *written != 0));
        let transfers = pixel.is_some_and(PixelState::is_transfer);
        if streamed || transfers || progress.pixels.passed != 0 {
            return;
        }
        let why = match (inputs, progress.builder.counts.primitives) {
            (0, _) => "it has no primitives",
            (_, 0) => "all of its primitives are clipped or culled, or rasterisation is off",
            _ => "no sample passes",
        };
        self.with(|state| state.found(vertex.id(), format!("the draw changes nothing: {why}")));
    }

    /// A finding about the surface at MC address `base`.
    pub(super) fn found(&self, base: u64, what: String) {
        self.with(|state| state.found(base, what));
    }

    /// Has the wave recorded that is about to run, if it is to be looked at.
    pub(super) fn records(&self, program: &Program, stage: Stage, wave: &mut Wave) -> bool {
        let wanted = self.with(|state| {
            let count = state.waves.entry((program.id(), stage)).or_default();
            *count += 1;
            *count <= WAVES
        });
        let wanted = wanted && wave.valid != 0 && !wave.is_recorded();
        if wanted {
            wave.record(wave.valid.trailing_zeros() as usize);
        }
        wanted
    }

    /// Looks at the wave that [`Self::records`] has had recorded.
    pub(super) fn ran(&self, program: &Program, stage: Stage, wave: &mut Wave) {
        let Some(tape) = wave.take_tape() else {
            return;
        };
        self.with(|state| {
            for input in &tape.inputs {
                if !state.is_filled(stage, &input.name) {
                    let (stage, register) = (name(stage), &input.name);
                    let what = format!("the {stage} reads {register}, which nothing has written");
                    state.found(program.id(), what);
                }
            }
            for step in &tape.steps {
                let mistakes = [OUTSIDE_TEXTURE, OUTSIDE_BUFFER, UNACKNOWLEDGED];
                let Some(note) = step.note.filter(|note| mistakes.contains(note)) else {
                    continue;
                };
                let shader = match step.fetch_shader {
                    true => "fetch shader",
                    false => name(stage),
                };
                let what = format!("the {shader}'s instruction at dword {}: {note}", step.at);
                state.found(program.id(), what);
            }
        });
    }
}

impl State {
    /// Whether the chip fills a component of a register, as the disassembly names it, ahead of a
    /// shader of `stage`.
    fn is_filled(&self, stage: Stage, component: &str) -> bool {
        let number = component
            .strip_prefix('R')
            .and_then(|rest| rest.split('.').next());
        let Some(number) = number.and_then(|number| number.parse::<usize>().ok()) else {
            return false;
        };
        match stage {
            Stage::Vertex | Stage::Export | Stage::Hull | Stage::Local => number == 0,
            Stage::Geometry => number < 2,
            Stage::Pixel => self.registers.contains(&number),
            // The numbers of the thread and of its group.
            Stage::Compute => number < 2,
        }
    }

    /// Reports a finding about a program unless that has been reported.
    fn found(&mut self, program: u64, what: String) {
        if self.seen.len() >= SEEN {
            return;
        }
        let line = format!("draw {}: {what}", self.draw);
        if self.seen.insert((program, what)) {
            (self.report)(&line);
        }
    }
}
