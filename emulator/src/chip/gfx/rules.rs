// SPDX-License-Identifier: MIT
//! Reports shaders that hardware would not execute as the interpreter does, each once.

use std::collections::HashSet;

use super::compressed::Found;
use super::shader::validate::{validate, Chip, Resources};
use super::shader::{ExportKind, Program};
use super::state::{ProgramState, Stage};
use super::GfxContext;
use crate::chip::counters::Counter;

/// Most programs that are remembered as checked. Beyond them all are forgotten.
const SEEN: usize = 4096;

/// Takes a line about a shader that breaks a rule.
pub type Report = Box<dyn FnMut(&str) + Send>;

/// The name of a stage's program.
pub(super) fn name(stage: Stage) -> &'static str {
    match stage {
        Stage::Pixel => "pixel shader",
        Stage::Vertex => "vertex shader",
        Stage::Geometry => "geometry shader",
        Stage::Export => "export shader",
        Stage::Compute => "compute shader",
        Stage::Hull => "hull shader",
        Stage::Local => "local shader",
    }
}

/// Exports of a stage without which the chip waits for ever.
pub(super) fn exports(stage: Stage) -> &'static [ExportKind] {
    match stage {
        Stage::Pixel => &[ExportKind::Pixel],
        Stage::Vertex => &[ExportKind::Position, ExportKind::Parameter],
        Stage::Geometry | Stage::Export | Stage::Compute | Stage::Hull | Stage::Local => &[],
    }
}

/// The checks of a pipeline. They are done on a strict board, and if there is a report.
#[derive(Default)]
pub(super) struct Rules {
    pub(super) report: Option<Report>,
    /// What its chip forgives.
    pub(super) chip: Chip,
    /// Number, registers and stage of the programs that have been checked.
    seen: HashSet<(u64, u32, Stage)>,
    /// Surfaces whose compressed tiles have been read.
    surfaces: HashSet<u64>,
}

impl Rules {
    /// Checks programs again that have been checked.
    pub(super) fn forget(&mut self) {
        self.seen.clear();
        self.surfaces.clear();
    }

    /// Checks the program of `stage` in draw number `draw`. Fetch shaders are not checked: Mesa's
    /// fetch attributes that the vertex shader does not read, into GPRs that it does not have, and
    /// real chips execute that.
    pub(super) fn check(
        &mut self,
        context: &GfxContext<'_>,
        draw: u64,
        stage: Stage,
        state: ProgramState,
        program: &Program,
    ) {
        if self.report.is_none() && context.control.caches().is_none() {
            return;
        }
        if self.seen.len() >= SEEN {
            self.seen.clear();
        }
        if !self.seen.insert((program.id(), state.resources, stage)) {
            return;
        }
        let resources = Resources::decode(state.resources, self.chip);
        let broken = validate(program, resources, exports(stage));
        if broken.is_empty() {
            return;
        }
        context.control.count(Counter::BrokenShaders, 1);
        for violation in broken {
            let (name, base) = (name(stage), state.base);
            self.say(
                context,
                &format!("draw {draw}: {name} at {base:#x}: {violation}"),
            );
        }
    }

    /// Reports that draw number `draw` has read compressed tiles, once for each surface.
    pub(super) fn found(&mut self, context: &GfxContext<'_>, draw: u64, found: &Found) {
        if self.surfaces.len() >= SEEN {
            self.surfaces.clear();
        }
        if self.surfaces.insert(found.base) {
            self.say(context, &format!("draw {draw}: {found}"));
        }
    }

    fn say(&mut self, context: &GfxContext<'_>, line: &str) {
        context.control.trace(format_args!("{line}"));
        match &mut self.report {
            Some(report) => report(line),
            None => log::warn!("gfx: {line}"),
        }
    }
}
