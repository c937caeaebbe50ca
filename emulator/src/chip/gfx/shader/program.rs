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

mod builder;
mod texel;

use builder::*;
pub use texel::TexelCopy;

use super::alu::is_plain;
use super::isa::{
    cf, is_tex_clause, is_vtx_clause, sel, AluInstruction, AluSource, CfAlu, CfExport, CfKind,
    CfOther, MemInstruction, TexInstruction, VtxInstruction, MEM_SCRATCH,
};
use super::ops::{AluOp, Units};
use super::{Options, Stop, GPRS};

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

/// First row of the two banks of masked `PV` and `PS` results.
pub(super) const ROW_PV: u32 = (GPRS * 4) as u32;
/// First temporary row.
pub(super) const ROW_TEMP: u32 = ROW_PV + 10;
/// Number of temporary rows: 15 operands and 5 results of a group of 5 slots.
const TEMPS: u32 = 20;
/// Row of the execution mask: all ones in lanes that run, else 0.
pub(super) const ROW_EXEC: u32 = ROW_TEMP + TEMPS;
/// Row of the mask of lanes that a predicated step selects.
pub(super) const ROW_SELECT: u32 = ROW_EXEC + 1;
/// First row of constants.
pub(super) const ROW_CONST: u32 = ROW_SELECT + 1;

/// Source of the value of a constant row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Constant {
    /// The value itself.
    Literal(u32),
    /// Constant buffer, vec4, component.
    Cache(u8, u32, u8),
    /// Constant file: vec4, component.
    File(u32, u8),
}

/// When to flush denormals of an operand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub(super) enum Flush {
    /// The value is never a denormal, or the operation takes bits.
    Never,
    /// The value may be a loaded one: flush if any loaded value is a denormal.
    IfLoaded,
    /// The value may be the result of an integer operation.
    Always,
}

/// An operand of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Src {
    pub row: u32,
    /// 0x7fffffff for the absolute value.
    pub and: u32,
    /// 0x80000000 for the negated value.
    pub xor: u32,
    pub flush: Flush,
}

/// One ALU operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Slot {
    pub op: AluOp,
    pub omod: u8,
    pub clamp: bool,
    pub pred_sel: u8,
    pub update_exec: bool,
    pub update_pred: bool,
    /// Component of `AR` that a `MOVA` writes.
    pub chan: u8,
    /// It can take the fast path, see `alu::plain`.
    pub plain: bool,
    pub dst: u32,
    pub src: [Src; 3],
}

/// An operation of all four vector units, or of a pair of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Wide {
    pub op: AluOp,
    pub omod: u8,
    pub clamp: bool,
    pub pred_sel: u8,
    pub update_exec: bool,
    pub update_pred: bool,
    /// Rows of the results; none for a unit that takes no part.
    pub dst: [Option<u32>; 4],
    /// Operands by unit.
    pub src: [[Src; 3]; 4],
}

/// A step of an ALU clause.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    Alu(Slot),
    Wide(u32),
    /// Row `dst` = component `chan` of GPR `base` + index of each lane.
    GatherGpr {
        base: u8,
        chan: u8,
        mode: u8,
        dst: u32,
    },
    /// Row `dst` = component `chan` of vec4 `base` + `scale` * index of each
    /// lane, in constant buffer `bank`, or in the constant file if it is none.
    GatherConst {
        bank: Option<u8>,
        base: u32,
        scale: u32,
        chan: u8,
        mode: u8,
        dst: u32,
    },
    /// Component `chan` of GPR `base` + index of each lane = row `src`.
    Scatter {
        base: u8,
        chan: u8,
        mode: u8,
        src: u32,
        pred_sel: u8,
    },
    Copy {
        from: u32,
        to: u32,
        pred_sel: u8,
    },
    /// Predicates and execution mask of the group take effect.
    Commit,
}

/// An ALU clause.
#[derive(Debug, Default)]
pub(super) struct AluClause {
    pub steps: Vec<Step>,
    /// Number of instructions, for the budget.
    pub slots: u32,
}

/// An instruction of a fetch clause.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fetch {
    Tex(TexInstruction),
    Vtx(VtxInstruction),
    Mem(MemInstruction),
}

/// A control-flow instruction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Cf {
    Alu {
        code: u8,
        clause: u32,
    },
    Fetch {
        clause: u32,
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

/// Whether the `CF_INST` of seven bits is modelled. Instructions without an effect count.
pub const fn is_modelled(code: u8) -> bool {
    match code {
        // No driver of the family uses the reduction buffer or global memory.
        cf::MEM_REDUCTION | cf::MEM_EXPORT => false,
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
    /// See [`Program::texel_copy`].
    texel_copy: Option<TexelCopy>,
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
        let mut reader = Reader {
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
        };
        let mut cfs = Vec::new();
        let mut ends = Vec::new();
        let mut index_of: HashMap<u32, u32> = HashMap::new();
        let mut pending = vec![0u32];
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
                    }
                    break;
                }
                first = false;
                if cfs.len() >= MAX_CF {
                    return Err(Stop::Fault("the shader has too many CF instructions"));
                }
                let words = reader.pair(u64::from(address) * 2)?;
                let kind = CfKind::decode(words);
                index_of.insert(address, cfs.len() as u32);
                let decoded = match kind {
                    CfKind::Alu(word) => Cf::Alu {
                        code: word.code,
                        // The key has all fields that the decoded clause depends on.
                        clause: builder.alu_clause(
                            &mut reader,
                            &word,
                            [words[0], words[1] & !0x3c00_0000],
                        )?,
                    },
                    CfKind::Export(word) => Cf::Export(word),
                    CfKind::Memory(word) => {
                        if !is_modelled(word.code) {
                            builder.unknown.push((CF, word.code.into()));
                        }
                        Cf::Memory(word)
                    }
                    CfKind::Other(word) if is_tex_clause(word.code) || is_vtx_clause(word.code) => {
                        Cf::Fetch {
                            clause: builder.fetch_clause(&mut reader, &word)?,
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
            texel_copy: None,
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
                Cf::Fetch { .. } | Cf::Memory(_) => false,
                Cf::Flow { word, .. } => word.code != cf::CALL_FS,
            });
        program.texel_copy = program.find_texel_copy();
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
        let steps: usize = self.alu.iter().map(|clause| of(&clause.steps)).sum();
        let fetches: usize = self.fetch.iter().map(of).sum();
        size_of::<Self>()
            + of(&self.cf)
            + of(&self.ends)
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

    fn find_reads(&self) -> [u8; GPRS] {
        const EVERYTHING: [u8; GPRS] = [0xF; GPRS];
        let mut reads = [0u8; GPRS];
        let mut read = |row: u32| {
            if let Some(gpr) = reads.get_mut(row as usize / 4) {
                *gpr |= 1 << (row % 4);
            }
        };
        let mut selected = |gpr: u8, select: &[u8]| {
            for chan in select.iter().filter(|chan| **chan < 4) {
                read(u32::from(gpr) * 4 + u32::from(*chan));
            }
        };
        for item in &self.cf {
            match item {
                Cf::Fetch { clause } => {
                    for fetch in &self.fetch[*clause as usize] {
                        match fetch {
                            Fetch::Tex(op) if !op.src_rel => selected(op.src_gpr, &op.src_sel),
                            Fetch::Vtx(op) if !op.src_rel => selected(op.src_gpr, &[0, 1, 2, 3]),
                            Fetch::Mem(op) if !op.src_rel => selected(op.src_gpr, &[0, 1, 2, 3]),
                            _ => return EVERYTHING,
                        }
                    }
                }
                Cf::Export(word) if !word.rel => {
                    for i in 0..word.burst {
                        selected(word.gpr.wrapping_add(i), &word.sel);
                    }
                }
                Cf::Export(_) | Cf::Memory(_) => return EVERYTHING,
                Cf::Flow { word, .. } if word.code == cf::CALL_FS => return EVERYTHING,
                Cf::Alu { .. } | Cf::Flow { .. } | Cf::Goto(_) => {}
            }
        }
        for step in self.alu.iter().flat_map(|clause| &clause.steps) {
            match step {
                Step::Alu(slot) => slot.src.iter().for_each(|src| read(src.row)),
                Step::Wide(index) => {
                    let sources = self.wide[*index as usize].src.iter().flatten();
                    sources.for_each(|src| read(src.row));
                }
                Step::Copy { from, .. } => read(*from),
                Step::Scatter { src, .. } => read(*src),
                Step::GatherGpr { .. } => return EVERYTHING,
                Step::GatherConst { .. } | Step::Commit => {}
            }
        }
        reads
    }

    /// True if lanes with the same registers give the same exports, and the program does nothing
    /// else: one run gives the results of all pixels with the same inputs.
    pub fn is_uniform(&self) -> bool {
        self.uniform
    }

    /// The fetch, if the program only fetches and exports a texel.
    pub fn texel_copy(&self) -> Option<&TexelCopy> {
        self.texel_copy.as_ref()
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

    /// True if the program can kill lanes.
    pub fn uses_kill(&self) -> bool {
        self.uses_kill
    }

    /// Finds out for each operand whether it can hold a denormal.
    ///
    /// Results of float operations are never denormals. Loaded values are checked
    /// when they are loaded. Only results of integer operations have to be
    /// flushed at each use.
    ///
    /// # Errors
    /// The caller has cancelled the decoding.
    fn find_denormals(&mut self, code: &mut dyn Code) -> Result<(), Stop> {
        let rows = ROW_CONST as usize;
        let mut class = vec![Flush::Never; rows];
        // Inputs, fetches and scratch are checked when they are loaded.
        for class in &mut class[..GPRS * 4] {
            *class = Flush::IfLoaded;
        }
        let constants = &self.constants;
        let of = |class: &[Flush], row: u32| -> Flush {
            let constant = row.wrapping_sub(ROW_CONST) as usize;
            match (class.get(row as usize), constants.get(constant)) {
                (Some(class), _) => *class,
                (None, Some(Constant::Literal(value))) if !is_denormal(*value) => Flush::Never,
                (None, Some(Constant::Literal(_))) => Flush::Always,
                _ => Flush::IfLoaded,
            }
        };
        // The highest class that relative writes have to each component of all GPRs.
        let mut scattered = [Flush::Never; 4];
        loop {
            if code.cancelled() {
                return Err(Stop::Cancelled);
            }
            let mut changed = false;
            let mut raise = |class: &mut Vec<Flush>, row: u32, to: Flush| {
                if let Some(held) = class.get_mut(row as usize) {
                    if *held < to {
                        *held = to;
                        changed = true;
                    }
                }
            };
            for step in self.alu.iter().flat_map(|clause| &clause.steps) {
                match step {
                    Step::Alu(slot) => {
                        let result = result_class(slot, |src| of(&class, src.row));
                        raise(&mut class, slot.dst, result);
                    }
                    Step::Wide(index) => {
                        let wide = &self.wide[*index as usize];
                        if wide.op.is_double() {
                            for dst in wide.dst.iter().flatten() {
                                raise(&mut class, *dst, Flush::Always);
                            }
                        }
                    }
                    Step::GatherGpr { dst, .. } => raise(&mut class, *dst, Flush::Always),
                    Step::GatherConst { dst, .. } => raise(&mut class, *dst, Flush::Always),
                    Step::Copy { from, to, .. } => {
                        let from = of(&class, *from);
                        raise(&mut class, *to, from);
                    }
                    Step::Scatter { chan, src, .. } => {
                        // The index can select any GPR.
                        let from = of(&class, *src);
                        let so_far = &mut scattered[usize::from(*chan & 3)];
                        if from > *so_far {
                            *so_far = from;
                            for gpr in 0..GPRS as u32 {
                                raise(&mut class, gpr * 4 + u32::from(*chan), from);
                            }
                        }
                    }
                    Step::Commit => {}
                }
            }
            if !changed {
                break;
            }
        }
        let mut float_rows = Vec::new();
        let mut float_constants = vec![false; constants.len()];
        let mut settle = |src: &mut Src| {
            if src.flush == Flush::Always {
                src.flush = of(&class, src.row);
                if src.flush == Flush::IfLoaded && src.row < ROW_PV {
                    float_rows.push(src.row);
                } else if src.flush == Flush::IfLoaded && src.row >= ROW_CONST {
                    float_constants[(src.row - ROW_CONST) as usize] = true;
                }
            }
        };
        for step in self.alu.iter_mut().flat_map(|clause| &mut clause.steps) {
            if let Step::Alu(slot) = step {
                slot.src.iter_mut().for_each(&mut settle);
                slot.plain = is_plain(slot);
            }
        }
        for wide in &mut self.wide {
            wide.src.iter_mut().flatten().for_each(&mut settle);
        }
        float_rows.sort_unstable();
        float_rows.dedup();
        for row in &float_rows {
            self.float_gprs[*row as usize / 4] |= 1 << (row % 4);
        }
        let inputs = self.inputs();
        float_rows.retain(|&row| inputs[row as usize]);
        self.float_rows = float_rows;
        self.float_constants = float_constants;
        Ok(())
    }
}

impl Program {
    /// The GPR rows that the program may read before it has written them.
    ///
    /// A write counts if all lanes do it: outside of branches, loops and
    /// subroutines.
    fn inputs(&self) -> Vec<bool> {
        let mut inputs = vec![false; ROW_PV as usize];
        let mut written = vec![false; ROW_PV as usize];
        let mut depth = 0usize;
        // Once set, no further write counts.
        let mut partial = false;
        for item in &self.cf {
            let definite = depth == 0 && !partial;
            let mut pop = 0;
            match item {
                Cf::Alu { code, clause } => {
                    for step in &self.alu[*clause as usize].steps {
                        let mut read = |row: u32, written: &[bool]| {
                            if written.get(row as usize) == Some(&false) {
                                inputs[row as usize] = true;
                            }
                        };
                        let narrows = match step {
                            Step::Alu(slot) => slot.update_exec,
                            Step::Wide(index) => self.wide[*index as usize].update_exec,
                            _ => false,
                        };
                        partial |= narrows && *code != cf::ALU_PUSH_BEFORE && depth == 0;
                        match step {
                            Step::Alu(slot) => {
                                (slot.src.iter()).for_each(|src| read(src.row, &written));
                                if definite && slot.pred_sel < 2 {
                                    mark(&mut written, slot.dst);
                                }
                            }
                            Step::Wide(index) => {
                                let wide = &self.wide[*index as usize];
                                let rows = wide.src.iter().flatten().map(|src| src.row);
                                rows.for_each(|row| read(row, &written));
                                if definite && wide.pred_sel < 2 {
                                    let rows = wide.dst.iter().flatten();
                                    rows.for_each(|&row| mark(&mut written, row));
                                }
                            }
                            Step::Copy { from, to, pred_sel } => {
                                read(*from, &written);
                                if definite && *pred_sel < 2 {
                                    mark(&mut written, *to);
                                }
                            }
                            _ => {}
                        }
                    }
                    match *code {
                        cf::ALU_PUSH_BEFORE => depth += 1,
                        cf::ALU_POP_AFTER => pop = 1,
                        cf::ALU_POP2_AFTER => pop = 2,
                        _ => {}
                    }
                }
                Cf::Fetch { clause } => {
                    for fetch in &self.fetch[*clause as usize] {
                        let (gpr, relative, select) = match fetch {
                            Fetch::Tex(op) => (op.dst_gpr, op.dst_rel, op.dst_sel),
                            Fetch::Vtx(op) if op.opcode == 0 => {
                                (op.dst_gpr, op.dst_rel, op.dst_sel)
                            }
                            Fetch::Mem(op) => (op.dst_gpr, op.dst_rel, op.dst_sel),
                            Fetch::Vtx(_) => continue,
                        };
                        for (chan, select) in select.iter().enumerate() {
                            if definite && *select < 6 && !relative {
                                mark(&mut written, u32::from(gpr) * 4 + chan as u32);
                            }
                        }
                    }
                }
                Cf::Flow { word, .. } => match word.code {
                    cf::LOOP_START | cf::LOOP_START_DX10 | cf::LOOP_START_NO_AL => depth += 1,
                    cf::PUSH | cf::PUSH_ELSE => depth += 1,
                    cf::LOOP_END => pop = 1,
                    cf::POP => pop = usize::from(word.pop_count),
                    cf::JUMP | cf::ELSE | cf::NOP | cf::CALL_FS | cf::WAIT_ACK => {}
                    cf::LOOP_BREAK | cf::LOOP_CONTINUE if depth > 0 => {}
                    cf::EMIT_VERTEX | cf::EMIT_CUT_VERTEX | cf::CUT_VERTEX => {}
                    _ => partial = true,
                },
                Cf::Goto(_) => partial = true,
                Cf::Export(_) | Cf::Memory(_) => {}
            }
            partial |= pop > depth;
            depth = depth.saturating_sub(pop);
        }
        inputs
    }
}

fn mark(written: &mut [bool], row: u32) {
    if let Some(written) = written.get_mut(row as usize) {
        *written = true;
    }
}

/// The class of the result of `slot`, given the classes of its operands.
fn result_class(slot: &Slot, of: impl Fn(&Src) -> Flush) -> Flush {
    use AluOp::*;
    if slot.omod != 0 || slot.clamp || slot.op.float_result() {
        return Flush::Never;
    }
    match slot.op {
        Mov => of(&slot.src[0]),
        Cnde | Cndgt | Cndge | CndeInt | CndgtInt | CndgeInt => {
            of(&slot.src[1]).max(of(&slot.src[2]))
        }
        // All ones or zero: NaN or 0 as a float.
        SeteDx10 | SetgtDx10 | SetgeDx10 | SetneDx10 | SeteInt | SetgtInt | SetgeInt | SetneInt
        | SetgtUint | SetgeUint => Flush::Never,
        _ => Flush::Always,
    }
}

/// True for the bits of a denormal.
pub(super) const fn is_denormal(bits: u32) -> bool {
    bits & 0x7f80_0000 == 0 && bits & 0x007f_ffff != 0
}
