// SPDX-License-Identifier: MIT
//! What the chip does not forgive in a shader. The interpreter executes such a program as its
//! author meant it; hardware hangs, or corrupts the registers of other waves.
//!
//! Rules: AMD "R700-Family Instruction Set Architecture", chapters 3 (control flow, exports), 4.3
//! (assignment of ALU units) and 8, read ports: see `ports`; sizes of stack entries: Mesa's `update_max_depth()` and
//! `stack_entry_size()`. The other encodings have the same rules with other numbers.

use std::fmt;

use super::env::ExportKind;
use super::isa::{cf, is_tex_clause, is_vtx_clause, AluInstruction, CfKind, MemInstruction};
use super::ops::Units;
use super::ports::Ports;
use super::{r800, Isa, Program, GPRS};

/// First of the four clause temporaries, which are no wave's own.
const CLAUSE_TEMPORARIES: usize = GPRS - 4;
/// Most violations that are reported of a program.
const MOST: usize = 16;

/// Resources that the driver gives a stage (`SQ_PGM_RESOURCES_x`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Resources {
    /// `NUM_GPRS`: GPRs of each lane.
    pub gprs: usize,
    /// `STACK_SIZE` in entries.
    pub stack: usize,
}

impl Resources {
    /// Decodes the register.
    pub const fn decode(register: u32) -> Self {
        Self {
            gprs: (register & 0xFF) as usize,
            stack: (register >> 8 & 0xFF) as usize,
        }
    }
}

/// A rule that a program breaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Violation {
    /// It uses a GPR that the wave does not have: its number, and how many there are.
    Gpr(usize, usize),
    /// It needs more stack entries than there are.
    Stack(usize, usize),
    /// Two instructions of the group that begins at this dword need the same unit.
    Unit(usize),
    /// The group that begins at this dword reads more registers or constants than there are ports.
    Ports(usize),
    /// The last export of a kind is no `EXPORT_DONE`, or there is none.
    NotDone(ExportKind),
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Gpr(gpr, has) => write!(f, "it uses R{gpr}, but NUM_GPRS is {has}"),
            Self::Stack(needs, has) => {
                write!(f, "it needs {needs} stack entries, but STACK_SIZE is {has}")
            }
            Self::Unit(at) => {
                write!(
                    f,
                    "two instructions of the group at dword {at} need the same unit"
                )
            }
            Self::Ports(at) => {
                write!(
                    f,
                    "the bank swizzles of the group at dword {at} read two registers by one port"
                )
            }
            Self::NotDone(kind) => write!(f, "no EXPORT_DONE ends its {kind:?} exports"),
        }
    }
}

/// How many entries a stack of loops and pushes needs. Chips of an encoding differ: it is counted as by those that need
/// the fewest entries, of 8 elements (RV710, CEDAR); Cayman's all have 4.
fn entries(isa: Isa, loops: usize, pushes: usize) -> usize {
    let (entry, masks) = match isa {
        // With a push, two elements hold the masks of the innermost level.
        Isa::R600 | Isa::R700 => (8, if pushes > 0 { 2 } else { 0 }),
        Isa::R800 => (8, if pushes > 0 { 1 } else { 0 }),
        Isa::R900 => (4, 2),
    };
    (loops * entry + pushes + masks).div_ceil(entry)
}

/// What has been found so far.
struct Check<'a> {
    program: &'a Program,
    resources: Resources,
    found: Vec<Violation>,
    /// The highest GPR beyond those that there are.
    gpr: Option<usize>,
}

/// Checks `program` for the rules that hold for a wave with `resources`. `exports`: the kinds of
/// exports that its stage has to do.
pub fn validate(program: &Program, resources: Resources, exports: &[ExportKind]) -> Vec<Violation> {
    let mut check = Check {
        program,
        resources,
        found: Vec::new(),
        gpr: None,
    };
    check.control_flow(exports);
    if let Some(gpr) = check.gpr {
        check.found.push(Violation::Gpr(gpr, resources.gprs));
    }
    check.found.truncate(MOST);
    check.found
}

impl Check<'_> {
    fn pair(&self, at: usize) -> [u32; 2] {
        [self.program.word(at), self.program.word(at + 1)]
    }

    fn triple(&self, at: usize) -> [u32; 3] {
        [0, 1, 2].map(|i| self.program.word(at + i))
    }

    /// A use of `count` GPRs from `gpr` on.
    fn uses(&mut self, gpr: u8, count: usize, relative: bool) {
        let last = usize::from(gpr) + count - 1;
        if !relative && last >= self.resources.gprs {
            self.gpr = self.gpr.max(Some(last));
        }
    }

    fn control_flow(&mut self, exports: &[ExportKind]) {
        let mut done: Vec<(ExportKind, bool)> = exports.iter().map(|kind| (*kind, false)).collect();
        // Nested loops and pushes, in the order of the program.
        let mut stack: Vec<bool> = Vec::new();
        let mut most = 0;
        for at in 0.. {
            let kind = self.program.isa().cf(self.pair(2 * at));
            let mut push = None;
            let mut pops = 0;
            match kind {
                CfKind::AluExtended(_) => {}
                CfKind::Alu(word) => {
                    self.alu(2 * word.address as usize, 2 * word.count as usize);
                    match word.code {
                        cf::ALU_PUSH_BEFORE => push = Some(false),
                        cf::ALU_POP_AFTER => pops = 1,
                        cf::ALU_POP2_AFTER => pops = 2,
                        _ => {}
                    }
                }
                CfKind::Export(word) => {
                    if word.sel.iter().any(|select| *select < 4) {
                        self.uses(word.gpr, word.burst.into(), word.rel);
                    }
                    let kind = match word.kind {
                        0 => ExportKind::Pixel,
                        1 => ExportKind::Position,
                        _ => ExportKind::Parameter,
                    };
                    let ends = word.code == cf::EXPORT_DONE;
                    match done.iter_mut().find(|(of, _)| *of == kind) {
                        Some((_, done)) => *done = ends,
                        None => done.push((kind, ends)),
                    }
                }
                CfKind::Memory(word) => {
                    self.uses(word.gpr, word.burst.into(), word.rel);
                    if word.kind & 1 != 0 {
                        self.uses(word.index_gpr, 1, false);
                    }
                }
                CfKind::Other(word) => {
                    if is_tex_clause(word.code) || is_vtx_clause(word.code) || word.code == cf::GDS
                    {
                        self.fetches(2 * word.address as usize, word.count.into());
                    }
                    match word.code {
                        cf::PUSH | cf::PUSH_ELSE => push = Some(false),
                        cf::LOOP_START | cf::LOOP_START_DX10 | cf::LOOP_START_NO_AL => {
                            push = Some(true);
                        }
                        cf::POP => pops = word.pop_count.into(),
                        cf::LOOP_END => pops = 1,
                        _ => {}
                    }
                }
            }
            stack.extend(push);
            if push.is_some() {
                let loops = stack.iter().filter(|is_loop| **is_loop).count();
                most = most.max(entries(self.program.isa(), loops, stack.len() - loops));
            }
            stack.truncate(stack.len().saturating_sub(pops));
            // What follows the end is subroutines, and data.
            let returns = matches!(kind, CfKind::Other(word) if word.code == cf::RET);
            if kind.ends() || returns || at + 1 >= self.program.cf.len() {
                break;
            }
        }
        if most > self.resources.stack {
            self.found
                .push(Violation::Stack(most, self.resources.stack));
        }
        let not_done = done.iter().filter(|(_, done)| !done);
        self.found
            .extend(not_done.map(|(kind, _)| Violation::NotDone(*kind)));
    }

    fn alu(&mut self, from: usize, count: usize) {
        let end = from + count;
        let mut at = from;
        while at < end {
            let group = at;
            let mut taken = [false; 5];
            let mut literals = 0;
            let isa = self.program.isa();
            let mut ports = Ports::new(isa);
            let mut fits = true;
            for _ in 0..isa.slots() {
                let instruction = isa.alu(self.pair(at));
                at += 2;
                let scalar = self.slot(&instruction, group, &mut taken, &mut literals);
                fits = fits && ports.take(&instruction, scalar);
                if instruction.last || at >= end {
                    break;
                }
            }
            if !fits && self.found.len() < MOST {
                self.found.push(Violation::Ports(group));
            }
            at += 2 * usize::div_ceil(literals, 2);
        }
    }

    /// Checks an instruction. Returns whether it runs on the transcendental unit.
    fn slot(
        &mut self,
        instruction: &AluInstruction,
        group: usize,
        taken: &mut [bool; 5],
        literals: &mut usize,
    ) -> bool {
        let temporary = |gpr: usize| gpr >= CLAUSE_TEMPORARIES;
        for source in instruction.sources() {
            let gpr = usize::from(source.sel);
            if gpr < GPRS && !temporary(gpr) {
                self.uses(gpr as u8, 1, source.rel);
            }
            if source.sel == super::isa::sel::LITERAL {
                *literals = (*literals).max(usize::from(source.chan) + 1);
            }
        }
        if instruction.op.is_none() {
            return false;
        }
        if instruction.write && !temporary(instruction.dst_gpr.into()) {
            self.uses(instruction.dst_gpr, 1, instruction.dst_rel);
        }
        const TRANS: usize = 4;
        let chan = usize::from(instruction.dst_chan);
        let unit = match instruction.units {
            Units::Trans => TRANS,
            Units::Any if taken[chan] => TRANS,
            Units::Any | Units::Vector | Units::Four => chan,
        };
        if std::mem::replace(&mut taken[unit], true) && self.found.len() < MOST {
            self.found.push(Violation::Unit(group));
        }
        unit == TRANS
    }

    fn fetches(&mut self, from: usize, count: usize) {
        for n in 0..count {
            let words = self.triple(from + 4 * n);
            let isa = self.program.isa();
            if let Some(op) =
                r800::data_share(words).filter(|_| isa.has_data_share() && words[0] & 0x1F == 2)
            {
                if op.src_sel.iter().any(|select| *select < 4) {
                    self.uses(op.src_gpr, 1, op.src_rel);
                }
                if op.dst_sel.iter().any(|select| *select < 4) {
                    self.uses(op.dst_gpr, 1, op.dst_rel);
                }
                continue;
            }
            let (source, source_relative, dst, dst_relative, select, burst) = match words[0] & 0x1F
            {
                0 | 1 => {
                    let op = isa.vertex(words);
                    // A semantic names the destination of the other kind.
                    let select = if op.opcode == 0 { op.dst_sel } else { [7; 4] };
                    (op.src_gpr, op.src_rel, op.dst_gpr, op.dst_rel, select, 1)
                }
                2 => {
                    let op = MemInstruction::decode(words);
                    let source = if op.indexed { op.src_gpr } else { 0 };
                    let burst = usize::from(op.burst_count) + 1;
                    (
                        source, op.src_rel, op.dst_gpr, op.dst_rel, op.dst_sel, burst,
                    )
                }
                _ => {
                    let op = isa.texture(words);
                    let reads = op.src_sel.iter().any(|select| *select < 4);
                    let source = if reads { op.src_gpr } else { 0 };
                    (source, op.src_rel, op.dst_gpr, op.dst_rel, op.dst_sel, 1)
                }
            };
            self.uses(source, 1, source_relative);
            if select.iter().any(|select| *select < 6) {
                self.uses(dst, burst, dst_relative);
            }
        }
    }
}
