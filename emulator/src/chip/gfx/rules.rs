// SPDX-License-Identifier: MIT
//! Reports shaders that hardware would not execute as the interpreter does, each once.

use std::collections::HashSet;

use super::shader::validate::{validate, Resources};
use super::shader::{ExportKind, Program};
use super::state::{ProgramState, Stage};
use super::GfxContext;
use crate::chip::counters::Counter;

/// Most programs that are remembered as checked. Beyond them all are forgotten.
const SEEN: usize = 4096;

/// Takes a line about a shader that breaks a rule.
pub type Report = Box<dyn FnMut(&str) + Send>;

/// The role that a program is checked in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Role {
    Stage(Stage),
    Fetch,
}

impl Role {
    fn name(self) -> &'static str {
        match self {
            Self::Stage(Stage::Pixel) => "pixel shader",
            Self::Stage(Stage::Vertex) => "vertex shader",
            Self::Stage(Stage::Geometry) => "geometry shader",
            Self::Stage(Stage::Export) => "export shader",
            Self::Fetch => "fetch shader",
        }
    }

    /// Exports without which the chip waits for ever.
    fn exports(self) -> &'static [ExportKind] {
        match self {
            Self::Stage(Stage::Pixel) => &[ExportKind::Pixel],
            Self::Stage(Stage::Vertex) => &[ExportKind::Position, ExportKind::Parameter],
            Self::Stage(Stage::Geometry | Stage::Export) | Self::Fetch => &[],
        }
    }
}

/// The checks of a pipeline. They are done on a strict board, and if there is a report.
#[derive(Default)]
pub(super) struct Rules {
    pub(super) report: Option<Report>,
    /// Number, registers and role of the programs that have been checked.
    seen: HashSet<(u64, u32, Role)>,
}

impl Rules {
    /// Checks programs again that have been checked.
    pub(super) fn forget(&mut self) {
        self.seen.clear();
    }

    /// Checks the program that draw number `draw` runs in `role`.
    pub(super) fn check(
        &mut self,
        context: &GfxContext<'_>,
        draw: u64,
        role: Role,
        state: ProgramState,
        program: &Program,
    ) {
        if self.report.is_none() && context.control.caches().is_none() {
            return;
        }
        if self.seen.len() >= SEEN {
            self.seen.clear();
        }
        if !self.seen.insert((program.id(), state.resources, role)) {
            return;
        }
        let resources = Resources::decode(state.resources);
        let broken = validate(program, resources, role.exports());
        if broken.is_empty() {
            return;
        }
        context.control.count(Counter::BrokenShaders, 1);
        for violation in broken {
            let (name, base) = (role.name(), state.base);
            let line = format!("draw {draw}: {name} at {base:#x}: {violation}");
            context.control.trace(format_args!("{line}"));
            match &mut self.report {
                Some(report) => report(&line),
                None => log::warn!("gfx: {line}"),
            }
        }
    }
}
