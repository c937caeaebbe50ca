// SPDX-License-Identifier: MIT
//! Decodes a shader for the interpreter.
//!
//! A program is decoded once. Its ALU groups become flat steps on rows: a row
//! is one component of a register, or a constant, for all lanes. A group reads
//! all its operands before it writes. The decoder orders steps so that this
//! holds; where it cannot, a step writes a temporary row, which is copied at the
//! group's end. `PV` and `PS` become the row that holds the value.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};

mod analysis;
mod builder;
mod modulate;
mod sums;
mod texel;

pub(super) use builder::kcache;
use builder::*;
pub use modulate::{Modulate, Place, Sample, Term};
pub use texel::{Coordinate, TexelCopy};

use super::alu::is_plain;
use super::isa::{
    cf, is_tex_clause, is_vtx_clause, sel, AluInstruction, AluSource, CfAlu, CfExport, CfKind,
    CfOther, GdsInstruction, MemInstruction, TexInstruction, VtxInstruction, MEM_SCRATCH,
};
use super::ops::{AluOp, Units};
use super::step::*;
use super::{r800, share, Isa, Options, Stop, GPRS};

/// Dwords of the blocks that a program is read in; the hardware's instruction
/// fetch and `SQ_PGM_START_x` have the same granularity.
const BLOCK: usize = 64;
/// Most dwords of one program, all clauses together.
const MAX_DWORDS: usize = 1 << 18;
/// Most unknown instructions that a program reports.
const MAX_UNKNOWN: usize = 64;
/// Most control-flow instructions.
const MAX_CF: usize = 1 << 14;
/// Most instructions of all clauses together: as many ALU slots as [`MAX_DWORDS`] hold. A clause
/// counts once for each set of constants that it is executed with: each is decoded apart.
pub(super) const MAX_INSTRUCTIONS: usize = MAX_DWORDS / 2;
/// Most constants, each of which takes a row of 256 bytes in each worker's wave. Mesa's constant
/// buffers have 4096 vec4s; a shader that names each component of one has half as many constants.
pub(super) const MAX_CONSTANTS: usize = 1 << 15;

/// Source of the value of a constant row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Constant {
    /// The value itself.
    Literal(u32),
    /// Constant buffer, vec4, component.
    Cache(u8, u32, u8),
    /// Constant file: vec4, component.
    File(u32, u8),
    /// `HW_WAVE_ID`.
    Wave,
}

/// An instruction of a fetch clause.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fetch {
    Tex(TexInstruction),
    Vtx(VtxInstruction),
    Mem(MemInstruction),
    Gds(GdsInstruction),
}

/// A control-flow instruction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Cf {
    Alu {
        code: u8,
        clause: u32,
    },
    /// `valid`: only lanes that are neither helpers nor killed take part (`VALID_PIXEL_MODE`).
    Fetch {
        clause: u32,
        valid: bool,
    },
    Export(CfExport),
    Memory(CfExport),
    /// `target` is an index of [`Program::cf`], or none if the address leads
    /// outside the program.
    Flow {
        word: CfOther,
        target: Option<u32>,
    },
    /// Continues at an index of [`Program::cf`].
    Goto(u32),
    /// `GROUP_BARRIER`: continues when all waves of the group have come here. It ends a part of an
    /// ALU clause.
    Barrier,
}

/// The kinds of unknown instructions, as [`Env::unknown`](super::Env::unknown)
/// names them.
pub const CF: &str = "CF instruction";
/// See [`CF`].
pub const ALU: &str = "ALU instruction";
/// See [`CF`].
pub const TEX: &str = "TEX instruction";
/// See [`CF`].
pub const MEM: &str = "memory read";
/// See [`CF`].
pub const SHARE: &str = "data share operation";

/// Whether the `CF_INST` of seven bits is modelled. Instructions without an effect count.
pub const fn is_modelled(code: u8) -> bool {
    match code {
        // No driver of the family uses the reduction buffer or global memory.
        cf::MEM_REDUCTION | cf::MEM_EXPORT => false,
        cf::MEM_RING1 | cf::MEM_RAT | cf::GDS => true,
        _ => code <= cf::VTX_TC_ACK || matches!(code, 0x20..=cf::EXPORT_DONE),
    }
}

/// The memory that shaders are decoded from.
pub trait Code {
    /// Reads the dwords from byte address `address` on into `out`; false if it cannot.
    fn read(&mut self, address: u64, out: &mut [u32]) -> bool;

    /// True once nobody needs the program any more. Called every few thousand instructions.
    fn cancelled(&mut self) -> bool {
        false
    }
}

impl<F: FnMut(u64, &mut [u32]) -> bool> Code for F {
    fn read(&mut self, address: u64, out: &mut [u32]) -> bool {
        self(address, out)
    }
}

/// A decoded shader.
#[derive(Debug)]
pub struct Program {
    pub(super) id: u64,
    pub(super) options: Options,
    pub(super) cf: Vec<Cf>,
    /// For each of `cf`: the program ends after the instruction.
    pub(super) ends: Vec<bool>,
    /// For each of `cf`: its place, in units of two dwords.
    pub(super) at: Vec<u32>,
    pub(super) alu: Vec<AluClause>,
    pub(super) wide: Vec<Wide>,
    pub(super) fetch: Vec<Vec<Fetch>>,
    pub(super) constants: Vec<Constant>,
    /// GPR rows that float operations may read as inputs of the program, sorted.
    pub(super) float_rows: Vec<u32>,
    /// See [`Program::reads_floats`].
    pub(super) float_gprs: [u8; GPRS],
    /// Constants that float operations read.
    pub(super) float_constants: Vec<bool>,
    pub(super) unknown: Vec<(&'static str, u32)>,
    pub(super) uses_kill: bool,
    calls_fetch_shader: bool,
    /// True if constants come from outside the program.
    pub(super) has_buffers: bool,
    /// See [`Program::is_uniform`].
    uniform: bool,
    /// See [`Program::interpolates`].
    interpolates: bool,
    /// See [`Program::texel_copy`].
    texel_copy: Option<TexelCopy>,
    /// See [`Program::modulate`].
    modulate: Option<Modulate>,
    /// See [`Program::reads`].
    reads: [u8; GPRS],
    image: Vec<(u64, [u32; BLOCK])>,
    base: u64,
}

static NEXT_ID: AtomicU64 = AtomicU64::new(1);

impl Program {
    /// Decodes the shader whose first word is at byte address `base`
    /// (`SQ_PGM_START_x` << 8) of `code`.
    ///
    /// # Errors
    /// A program that cannot be read, or is longer than the decoder accepts; or the caller has
    /// cancelled the decoding.
    pub fn decode(base: u64, options: Options, code: &mut dyn Code) -> Result<Self, Stop> {
        let isa = options.isa;
        let mut reader = Reader {
            isa,
            base,
            code,
            blocks: HashMap::new(),
        };
        let mut builder = Builder {
            constants: Vec::new(),
            constant_rows: HashMap::new(),
            alu: Vec::new(),
            alu_at: HashMap::new(),
            wide: Vec::new(),
            fetch: Vec::new(),
            unknown: Vec::new(),
            instructions: 0,
            slots: 0,
        };
        let mut cfs = Vec::new();
        let mut ends = Vec::new();
        let mut places = Vec::new();
        let mut index_of: HashMap<u32, u32> = HashMap::new();
        let mut pending = vec![0u32];
        let mut extension = None;
        while let Some(start) = pending.pop() {
            let mut address = start;
            let mut first = true;
            loop {
                if let Some(&known) = index_of.get(&address) {
                    // Code that only a jump reaches must not fall through to
                    // the code that is decoded next.
                    if !first {
                        cfs.push(Cf::Goto(known));
                        ends.push(false);
                        places.push(address);
                    }
                    break;
                }
                first = false;
                if cfs.len() >= MAX_CF {
                    return Err(Stop::Fault("the shader has too many CF instructions"));
                }
                let words = reader.pair(u64::from(address) * 2)?;
                let kind = isa.cf(words);
                index_of.insert(address, cfs.len() as u32);
                let decoded = match kind {
                    CfKind::Alu(mut word) => {
                        if let Some(extension) = extension.take() {
                            r800::extend(&mut word, &extension);
                        }
                        let parts = builder.alu_clause(&mut reader, &word)?;
                        let last = parts.end.saturating_sub(1);
                        let code = |first, end| match word.code {
                            cf::ALU_PUSH_BEFORE if first => cf::ALU_PUSH_BEFORE,
                            cf::ALU_PUSH_BEFORE => cf::ALU,
                            code if end => code,
                            _ => cf::ALU,
                        };
                        for clause in parts.start..last {
                            let code = code(clause == parts.start, false);
                            cfs.extend([Cf::Alu { code, clause }, Cf::Barrier]);
                            ends.extend([false; 2]);
                            places.extend([address; 2]);
                        }
                        Cf::Alu {
                            code: code(last == parts.start, true),
                            clause: last,
                        }
                    }
                    CfKind::AluExtended(word) => {
                        extension = Some(word);
                        Cf::Goto(cfs.len() as u32 + 1)
                    }
                    CfKind::Export(word) => Cf::Export(word),
                    CfKind::Memory(word) => match isa.scratch_read(&word) {
                        Some(read) => Cf::Fetch {
                            clause: builder.push_fetches(vec![Fetch::Mem(read)]),
                            valid: false,
                        },
                        None => {
                            if !is_modelled(word.code) {
                                builder.unknown.push((CF, word.code.into()));
                            }
                            Cf::Memory(word)
                        }
                    },
                    CfKind::Other(word) if word.code == cf::GDS || is_fetch(word.code) => {
                        Cf::Fetch {
                            clause: builder.fetch_clause(&mut reader, &word)?,
                            valid: word.valid_pixel,
                        }
                    }
                    CfKind::Other(word) => {
                        if !is_modelled(word.code) {
                            builder.unknown.push((CF, word.code.into()));
                        }
                        if matches!(word.code, cf::LOOP_START..=cf::CALL) {
                            pending.push(word.address);
                        }
                        Cf::Flow { word, target: None }
                    }
                };
                cfs.push(decoded);
                let end = kind.ends();
                ends.push(end);
                places.push(address);
                let returns = matches!(kind, CfKind::Other(word) if word.code == cf::RET);
                if end || returns {
                    break;
                }
                address = match address.checked_add(1) {
                    Some(next) => next,
                    None => return Err(Stop::Fault("the shader's address wraps")),
                };
            }
        }
        for item in &mut cfs {
            if let Cf::Flow { word, target } = item {
                if target.is_none() {
                    *target = index_of.get(&word.address).copied();
                }
            }
        }
        let Reader { blocks, code, .. } = reader;
        let mut image: Vec<_> = blocks.into_iter().collect();
        image.sort_unstable_by_key(|(block, _)| *block);
        let calls_fetch_shader = (cfs.iter())
            .any(|item| matches!(item, Cf::Flow { word, .. } if word.code == cf::CALL_FS));
        let uses_kill = (builder.alu.iter().flat_map(|c| &c.steps)).any(|step| match step {
            Step::Alu(slot) => slot.op.is_kill(),
            _ => false,
        }) || cfs
            .iter()
            .any(|c| matches!(c, Cf::Flow { word, .. } if word.code == cf::KILL));
        let has_buffers = (builder.constants.iter()).any(|c| !matches!(c, Constant::Literal(_)));
        let mut program = Self {
            id: NEXT_ID.fetch_add(1, Ordering::Relaxed),
            options,
            cf: cfs,
            ends,
            at: places,
            alu: builder.alu,
            wide: builder.wide,
            fetch: builder.fetch,
            constants: builder.constants,
            float_rows: Vec::new(),
            float_gprs: [0; GPRS],
            float_constants: Vec::new(),
            unknown: builder.unknown,
            uses_kill,
            calls_fetch_shader,
            has_buffers,
            uniform: false,
            interpolates: false,
            texel_copy: None,
            modulate: None,
            reads: [0; GPRS],
            image,
            base,
        };
        program.unknown.sort_unstable();
        program.unknown.dedup();
        program.unknown.truncate(MAX_UNKNOWN);
        program.find_denormals(code)?;
        program.reads = program.find_reads();
        program.uniform = program.unknown.is_empty()
            && !uses_kill
            && (program.cf.iter()).all(|item| match item {
                Cf::Alu { .. } | Cf::Export(_) | Cf::Goto(_) => true,
                Cf::Fetch { .. } | Cf::Memory(_) | Cf::Barrier => false,
                Cf::Flow { word, .. } => word.code != cf::CALL_FS,
            });
        program.interpolates = (program.alu.iter().flat_map(|clause| &clause.steps))
            .any(|step| matches!(step, Step::Interpolate { .. }));
        program.texel_copy = program.find_texel_copy();
        program.modulate = program.find_modulate();
        Ok(program)
    }

    /// True if `code` still holds the words that the program was decoded from.
    pub fn is_current(&self, code: &mut dyn Code) -> bool {
        self.image.iter().all(|(block, words)| {
            let mut now = [0; BLOCK];
            code.read(self.base + block * BLOCK as u64 * 4, &mut now) && now == *words
        })
    }

    /// Bytes of memory that the program takes.
    pub fn bytes(&self) -> usize {
        fn of<T>(list: &Vec<T>) -> usize {
            list.capacity() * size_of::<T>()
        }
        let steps: usize = (self.alu.iter())
            .map(|clause| of(&clause.steps) + of(&clause.groups))
            .sum();
        let fetches: usize = self.fetch.iter().map(of).sum();
        size_of::<Self>()
            + of(&self.cf)
            + of(&self.ends)
            + of(&self.at)
            + of(&self.alu)
            + steps
            + of(&self.wide)
            + of(&self.fetch)
            + fetches
            + of(&self.constants)
            + of(&self.float_rows)
            + of(&self.float_constants)
            + of(&self.unknown)
            + of(&self.image)
    }

    /// The words of the program as read, by offset in dwords.
    pub fn words(&self) -> impl Iterator<Item = (usize, u32)> + '_ {
        self.image.iter().flat_map(|(block, words)| {
            let at = *block as usize * BLOCK;
            words
                .iter()
                .enumerate()
                .map(move |(i, word)| (at + i, *word))
        })
    }

    /// The words of the program as read, from its first one on, at most `most` dwords; 0 for those that were not read.
    pub fn code(&self, most: usize) -> Vec<u32> {
        let mut words = Vec::new();
        for (at, word) in self.words().filter(|(at, _)| *at < most) {
            if words.len() <= at {
                words.resize(at + 1, 0);
            }
            words[at] = word;
        }
        words
    }

    /// The word at offset `at` in dwords; 0 for one that was not read.
    pub(super) fn word(&self, at: usize) -> u32 {
        let block = (at / BLOCK) as u64;
        match self.image.binary_search_by_key(&block, |(block, _)| *block) {
            Ok(found) => self.image[found].1[at % BLOCK],
            Err(_) => 0,
        }
    }

    /// The program's number: no two decoded programs have the same.
    pub fn id(&self) -> u64 {
        self.id
    }

    /// Instructions and operands that are unknown or not modelled: their kind and code.
    pub fn unknown_instructions(&self) -> &[(&'static str, u32)] {
        &self.unknown
    }

    /// The components of each GPR that an instruction may read: bit 0 is x. A run does not need
    /// the others as inputs.
    pub fn reads(&self) -> &[u8; GPRS] {
        &self.reads
    }

    /// The components of each GPR that float operations read and integer operations do not write:
    /// bit 0 is x. Values that are loaded into them are checked for denormals.
    pub fn reads_floats(&self) -> &[u8; GPRS] {
        &self.float_gprs
    }

    /// True if lanes with the same registers give the same exports, and the program does nothing
    /// else: one run gives the results of all pixels with the same inputs.
    pub fn is_uniform(&self) -> bool {
        self.uniform
    }

    /// The encoding that it was decoded from.
    pub fn isa(&self) -> Isa {
        self.options.isa
    }

    /// True if the program interpolates inputs of its own (R800).
    pub fn interpolates(&self) -> bool {
        self.interpolates
    }

    /// The fetch, if the program only fetches and exports a texel.
    pub fn texel_copy(&self) -> Option<&TexelCopy> {
        self.texel_copy.as_ref()
    }

    /// What the program exports, if it only multiplies a texel and inputs.
    pub fn modulate(&self) -> Option<&Modulate> {
        self.modulate.as_ref()
    }

    /// True if all its ALU operations take the fast path while no denormals are loaded.
    #[cfg(test)]
    pub(super) fn is_plain(&self) -> bool {
        let mut steps = self.alu.iter().flat_map(|clause| &clause.steps);
        steps.all(|step| matches!(step, Step::Alu(slot) if slot.plain))
    }

    /// True if the program can call the fetch shader.
    pub fn calls_fetch_shader(&self) -> bool {
        self.calls_fetch_shader
    }

    /// True if waves of the program leave nothing but exports: no writes to memory, no counters, no
    /// shared memory.
    pub fn only_exports(&self) -> bool {
        let memory = |cf: &Cf| matches!(cf, Cf::Memory(_) | Cf::Barrier);
        let counts = |fetch: &Fetch| matches!(fetch, Fetch::Gds(_));
        let shares = |step: &Step| matches!(step, Step::Lds(_) | Step::LdsQueue { .. });
        !self.cf.iter().any(memory)
            && !self.fetch.iter().flatten().any(counts)
            && !self
                .alu
                .iter()
                .any(|clause| clause.steps.iter().any(shares))
    }

    /// Steps of the interpreter in all ALU clauses.
    pub fn steps(&self) -> usize {
        self.alu.iter().map(|clause| clause.steps.len()).sum()
    }

    /// True if the program can kill lanes.
    pub fn uses_kill(&self) -> bool {
        self.uses_kill
    }
}

const fn is_fetch(code: u8) -> bool {
    is_tex_clause(code) || is_vtx_clause(code)
}

/// True for the bits of a denormal.
pub(super) const fn is_denormal(bits: u32) -> bool {
    bits & 0x7f80_0000 == 0 && bits & 0x007f_ffff != 0
}
