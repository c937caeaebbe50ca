// SPDX-License-Identifier: MIT
//! The shader core: decodes R700 shaders and runs waves of 64 lanes.

mod alu;
pub mod asm;
pub mod cache;
pub mod disasm;
pub mod env;
mod exec;
pub mod isa;
pub mod names;
pub mod ops;
mod ports;
mod program;
pub mod r600;
pub mod r800;
pub mod r900;
pub mod share;
mod step;
pub mod tape;
#[cfg(test)]
mod tests;
pub mod validate;

pub use cache::ProgramCache;
pub use env::{Env, ExportKind, MemoryExport, MemoryTarget, RandomAccess};
pub use exec::{run, run_part, Position};
pub use program::{
    is_modelled, Code, Coordinate, Modulate, Place, Program, Sample, Term, TexelCopy,
};

use std::collections::VecDeque;

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
    /// The program cannot continue; the text says why.
    Fault(&'static str),
}

/// The encoding of a shader's words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Isa {
    /// R6xx: [`r600`], the rest as R7xx.
    R600,
    /// R7xx: [`isa`].
    #[default]
    R700,
    /// Evergreen and Northern Islands without VLIW4: [`r800`].
    R800,
    /// Cayman, groups of four instructions: [`r900`], the rest as Evergreen.
    R900,
}

impl Isa {
    /// Most instructions of a group.
    pub(crate) const fn slots(self) -> usize {
        match self {
            Self::R600 | Self::R700 | Self::R800 => 5,
            Self::R900 => 4,
        }
    }

    /// Whether it has instructions of the global data share, and others of Evergreen's fetches.
    pub(crate) const fn has_data_share(self) -> bool {
        matches!(self, Self::R800 | Self::R900)
    }

    /// Decodes the two words of a control-flow instruction.
    pub(crate) const fn cf(self, words: [u32; 2]) -> isa::CfKind {
        match self {
            Self::R600 => r600::cf(words),
            Self::R700 => isa::CfKind::decode(words),
            Self::R800 => r800::cf(words),
            Self::R900 => r900::cf(words),
        }
    }

    /// The read that a memory instruction is, if it reads scratch memory.
    pub(crate) fn scratch_read(self, word: &isa::CfExport) -> Option<isa::MemInstruction> {
        match self {
            Self::R600 => r600::scratch_read(word),
            // By vertex clauses.
            Self::R700 | Self::R800 | Self::R900 => None,
        }
    }

    /// Decodes the two words of an ALU instruction.
    pub(crate) fn alu(self, words: [u32; 2]) -> isa::AluInstruction {
        match self {
            Self::R600 => r600::alu(words),
            Self::R700 => isa::AluInstruction::decode(words),
            Self::R800 => r800::alu(words),
            Self::R900 => r900::alu(words),
        }
    }

    /// Whether the first word of a fetch is that of a vertex instruction: a fetch, one to the GPR that
    /// a semantic names, or R800's `GET_BUFFER_RESINFO`. Others are texture instructions, reads of
    /// memory, and accesses of the global data share.
    pub(crate) const fn is_vertex(self, word: u32) -> bool {
        let opcode = (word & 0x1F) as u8;
        opcode <= 1 || opcode == isa::BUFFER_SIZE && self.has_data_share()
    }

    /// Decodes the three words of a vertex fetch.
    pub(crate) fn vertex(self, words: [u32; 3]) -> isa::VtxInstruction {
        match self {
            Self::R600 | Self::R700 => isa::VtxInstruction::decode(words),
            Self::R800 | Self::R900 => r800::vertex(words),
        }
    }

    /// Decodes the three words of a texture instruction.
    pub(crate) fn texture(self, words: [u32; 3]) -> isa::TexInstruction {
        match self {
            Self::R600 | Self::R700 => isa::TexInstruction::decode(words),
            Self::R800 => r800::texture(words),
            Self::R900 => r900::texture(words),
        }
    }
}

/// How a program is decoded, and the fields of `SQ_PGM_RESOURCES_x` that change how it runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Options {
    /// `DX10_CLAMP`: clamping a NaN gives 0.
    pub dx10_clamp: bool,
    /// The encoding.
    pub isa: Isa,
}

impl Options {
    /// Options of an R7xx shader.
    pub const fn r700(dx10_clamp: bool) -> Self {
        Self {
            dx10_clamp,
            isa: Isa::R700,
        }
    }
}

/// A wavefront: 64 lanes with their registers.
#[derive(Debug)]
pub struct Wave {
    /// A row for each component: GPRs first, then the interpreter's own rows and constants.
    rows: Vec<Lanes>,
    ar: Box<[[i32; LANES]; 4]>,
    /// Index registers of resources and constant buffers (R800).
    index: [u32; 2],
    scratch: Vec<Lanes>,
    /// Results of the local data share that no instruction has taken yet (R800).
    queue: VecDeque<Lanes>,
    /// Buffer for the bytes of a vertex fetch.
    buffer: Vec<u8>,
    /// Buffer for the result of a texture fetch.
    texels: Option<Box<[Lanes; 4]>>,
    stack_storage: exec::StackStorage,
    /// See [`Wave::record`].
    tape: Option<Box<tape::Tape>>,
    /// Program and epoch of the constants that are in the rows.
    loaded: (u64, u64),
    constant_denormals: bool,
    denormals: bool,
    /// See [`Wave::set_normal`].
    normal: usize,
    /// The lanes whose registers are in use.
    live: Mask,
    /// Lanes that do not run but whose registers must not change.
    kept: Mask,
    arch: pulp::Arch,
    /// Lanes that run, helper lanes included.
    pub exec: Mask,
    /// Lanes whose exports and memory writes count.
    pub valid: Mask,
    /// Lanes that a `KILL` ended; reset by [`Wave::begin`].
    pub killed: Mask,
    /// Most instructions of a run: beyond them it ends with [`Stop::Budget`].
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
    /// A wave with zeroed registers. Large (some 150 KiB): make one for each
    /// worker and reuse it.
    pub fn new() -> Self {
        Self {
            rows: vec![[0; LANES]; step::ROW_CONST as usize],
            ar: Box::new([[0; LANES]; 4]),
            index: [0; 2],
            scratch: Vec::new(),
            queue: VecDeque::new(),
            buffer: Vec::new(),
            texels: None,
            stack_storage: exec::StackStorage::default(),
            tape: None,
            loaded: (0, 0),
            constant_denormals: false,
            denormals: false,
            normal: 0,
            live: 0,
            kept: 0,
            arch: pulp::Arch::new(),
            exec: 0,
            valid: 0,
            killed: 0,
            budget: 0,
            executed: 0,
        }
    }

    /// A wave that runs without AVX, for measurements and comparisons.
    pub fn baseline() -> Self {
        Self {
            arch: pulp::Arch::Scalar,
            ..Self::new()
        }
    }

    /// The host's instruction set that this wave uses.
    pub fn arch(&self) -> pulp::Arch {
        self.arch
    }

    /// Lets only the lanes of `exec` run, and keeps the registers of the others,
    /// as a branch does. Call it after [`Wave::begin`].
    pub fn restrict(&mut self, exec: Mask) {
        self.kept = self.exec;
        self.exec &= exec;
        self.valid &= exec;
    }

    /// Prepares for a run of at most `budget` instructions. The lanes of `exec`
    /// run, helper lanes included; the exports of those in `valid` count.
    pub fn begin(&mut self, exec: Mask, valid: Mask, budget: u64) {
        self.exec = exec;
        self.kept = 0;
        self.queue.clear();
        self.normal = 0;
        self.valid = exec & valid;
        self.killed = 0;
        self.budget = budget;
        self.executed = 0;
    }

    /// Declares that the first `gprs` GPRs have no denormal in the components that the program
    /// reads as floating point ([`Program::reads_floats`]): a run does not check them.
    pub fn set_normal(&mut self, gprs: usize) {
        self.normal = gprs;
    }

    /// See [`Self::set_normal`].
    pub fn normal(&self) -> usize {
        self.normal
    }

    /// Component `chan` of GPR `index`.
    ///
    /// # Panics
    /// If `index` is not below [`GPRS`] or `chan` not below 4.
    pub fn gpr(&self, index: usize, chan: usize) -> &Lanes {
        assert!(index < GPRS && chan < 4);
        &self.rows[index * 4 + chan]
    }

    /// Component `chan` of GPR `index`, for filling it before a run.
    ///
    /// # Panics
    /// If `index` is not below [`GPRS`] or `chan` not below 4.
    pub fn gpr_mut(&mut self, index: usize, chan: usize) -> &mut Lanes {
        assert!(index < GPRS && chan < 4);
        &mut self.rows[index * 4 + chan]
    }
}
