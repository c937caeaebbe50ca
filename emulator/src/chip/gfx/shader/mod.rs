// SPDX-License-Identifier: MIT
//! The shader core: decodes R700 shaders and runs waves of 64 lanes.

pub mod env;
pub mod isa;

pub use env::{Env, ExportKind, MemoryExport, MemoryTarget};

use super::lanes::{Lanes, Mask, LANES};

/// GPRs of a wave, clause temporaries (124 to 127) included.
pub const GPRS: usize = 128;

/// Why a wave ended early.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stop {
    /// The instruction budget is used up: a runaway shader.
    Budget,
    /// The job was cancelled.
    Cancelled,
    /// The program cannot be run on; the text says why.
    Fault(&'static str),
}

/// What of `SQ_PGM_RESOURCES_x` changes how a program runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Options {
    /// `DX10_CLAMP`: clamping a NaN gives 0.
    pub dx10_clamp: bool,
}

/// A decoded shader.
#[derive(Debug)]
pub struct Program {}

impl Program {
    /// Decodes the shader whose first word is at byte address `base`
    /// (`SQ_PGM_START_x` << 8). `fetch(address, out)` reads dwords; false if it
    /// cannot.
    ///
    /// # Errors
    /// A program that cannot be read, or is longer than the decoder accepts.
    pub fn decode(
        _base: u64,
        _options: Options,
        _fetch: &mut dyn FnMut(u64, &mut [u32]) -> bool,
    ) -> Result<Self, Stop> {
        Err(Stop::Fault("not implemented"))
    }
}

/// A wavefront: 64 lanes with their registers.
#[derive(Debug)]
pub struct Wave {
    rows: Vec<Lanes>,
    /// Lanes that run, helper lanes included.
    pub exec: Mask,
    /// Lanes whose exports and memory writes count.
    pub valid: Mask,
    /// Lanes that a `KILL` ended; reset by [`Wave::begin`].
    pub killed: Mask,
    /// Instructions left before [`Stop::Budget`].
    pub budget: u64,
    /// Instructions (ALU slots, fetches, CF words) executed since `begin`.
    pub executed: u64,
}

impl Default for Wave {
    fn default() -> Self {
        Self::new()
    }
}

impl Wave {
    /// A wave with zeroed registers. Large (some 150 KiB): make one a worker
    /// and use it again.
    pub fn new() -> Self {
        Self {
            rows: vec![[0; LANES]; GPRS * 4],
            exec: 0,
            valid: 0,
            killed: 0,
            budget: 0,
            executed: 0,
        }
    }

    /// Prepares for a run: `exec` lanes run (helpers included), `valid` of
    /// them count, at most `budget` instructions are executed.
    pub fn begin(&mut self, exec: Mask, valid: Mask, budget: u64) {
        self.exec = exec;
        self.valid = exec & valid;
        self.killed = 0;
        self.budget = budget;
        self.executed = 0;
    }

    /// Component `chan` of GPR `index`.
    pub fn gpr(&self, index: usize, chan: usize) -> &Lanes {
        &self.rows[index * 4 + chan]
    }

    /// Component `chan` of GPR `index`, to fill before a run.
    pub fn gpr_mut(&mut self, index: usize, chan: usize) -> &mut Lanes {
        &mut self.rows[index * 4 + chan]
    }
}

/// Runs `program` from its first instruction until it ends.
///
/// Before: the caller has filled the input GPRs and called [`Wave::begin`].
/// After: exports have gone to `env`; [`Wave::killed`] tells lanes that ended
/// themselves.
///
/// # Errors
/// The budget, a cancelled job or a program that cannot go on.
pub fn run(_program: &Program, _wave: &mut Wave, _env: &mut dyn Env) -> Result<(), Stop> {
    Err(Stop::Fault("not implemented"))
}
