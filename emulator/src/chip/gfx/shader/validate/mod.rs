// SPDX-License-Identifier: MIT
//! What the chip does not forgive in a shader. The interpreter executes such a program as its
//! author meant it; hardware hangs, corrupts the registers of other waves, or reads another value.
//!
//! Rules: AMD "R700-Family Instruction Set Architecture", chapters 3 (control flow, exports), 4.3
//! (assignment of ALU units) and 8, read ports: see `ports`; sizes of stack entries: Mesa's `update_max_depth()` and
//! `stack_entry_size()`. The other encodings have the same rules with other numbers. Rules of clauses and groups
//! that Mesa 25.0.7 keeps: see the modules `alu` and `fetch`.

mod alu;
mod fetch;

use std::fmt;

use super::env::ExportKind;
use super::isa::{cf, is_tex_clause, is_vtx_clause, CfAlu, CfExport, CfKind};
use super::{r800, Isa, Program, GPRS};
use crate::chip::family::Family;

/// First of the four clause temporaries, which are no wave's own.
const CLAUSE_TEMPORARIES: usize = GPRS - 4;
/// Most violations that are reported of a program.
const MOST: usize = 16;
/// Elements of a stack entry on the chips that have most.
const LARGE_ENTRY: usize = 8;

/// What chips of an encoding differ in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Chip {
    /// Elements of a stack entry (Mesa's `stack_entry_size()`).
    pub stack_entry: usize,
    /// A group does not see what the one before it has written by AR (Mesa's `r6xx_nop_after_rel_dst`).
    pub late_relative_writes: bool,
}

impl Default for Chip {
    /// A chip that forgives most.
    fn default() -> Self {
        Self {
            stack_entry: LARGE_ENTRY,
            late_relative_writes: false,
        }
    }
}

impl Chip {
    /// That of a member of the family.
    pub const fn of(family: Family) -> Self {
        Self {
            stack_entry: match family {
                Family::Rs780 | Family::Rv710 | Family::Rv730 | Family::Palm | Family::Cedar => {
                    LARGE_ENTRY
                }
                _ => 4,
            },
            late_relative_writes: matches!(family, Family::Rv770),
        }
    }
}

/// Resources that the driver gives a stage (`SQ_PGM_RESOURCES_x`), and the chip's own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Resources {
    /// `NUM_GPRS`: GPRs of each lane.
    pub gprs: usize,
    /// `STACK_SIZE` in entries.
    pub stack: usize,
    /// The chip's.
    pub chip: Chip,
}

impl Resources {
    /// Decodes the register, for `chip`.
    pub const fn decode(register: u32, chip: Chip) -> Self {
        Self {
            gprs: (register & 0xFF) as usize,
            stack: (register >> 8 & 0xFF) as usize,
            chip,
        }
    }
}

/// A rule that a program breaks. Places are in dwords from the program's begin on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Violation {
    /// It uses a GPR that the wave does not have: its number, and how many there are.
    Gpr(usize, usize),
    /// It needs more stack entries than there are.
    Stack(usize, usize),
    /// The CF instruction takes more from the stack than is on it.
    Pop(usize),
    /// The CF instruction does not wait for an earlier one, whose results it needs or whose registers it writes.
    Barrier(usize),
    /// Two instructions of the group that begins at this dword need the same unit.
    Unit(usize),
    /// The group reads more registers or constants than there are ports.
    Ports(usize),
    /// The group's instructions or literals do not end in its clause.
    Cut(usize),
    /// The group uses AR, which no group before it in its clause loads.
    Address(usize),
    /// The group uses PV or PS of a unit on which the group before it, of the same clause, has nothing.
    Previous(usize),
    /// The group reads a constant that its clause does not lock.
    Constant(usize),
    /// Two instructions of the group write the same component of a register.
    Twice(usize),
    /// The group has two instructions of a kind that a group can have once.
    Once(usize),
    /// The group reads what the group before it may have written by AR.
    Relative(usize),
    /// The ALU clause reads more results of the local data share than it has asked for, or leaves some.
    Queue(usize),
    /// The clause uses an index register, which none before it loads.
    Index(usize),
    /// The fetch reads what an earlier one of its clause fetches.
    Fetched(usize),
    /// The last export of a kind is no `EXPORT_DONE`, or there is none.
    NotDone(ExportKind),
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let of_group = |f: &mut fmt::Formatter<'_>, at: &usize, what: &str| {
            write!(f, "the group at dword {at} {what}")
        };
        match self {
            Self::Gpr(gpr, has) => write!(f, "it uses R{gpr}, but NUM_GPRS is {has}"),
            Self::Stack(needs, has) => {
                write!(f, "it needs {needs} stack entries, but STACK_SIZE is {has}")
            }
            Self::Pop(at) => write!(f, "the CF instruction at dword {at} pops an empty stack"),
            Self::Barrier(at) => write!(
                f,
                "the CF instruction at dword {at} has no BARRIER, but needs registers of one before it"
            ),
            Self::Unit(at) => write!(
                f,
                "two instructions of the group at dword {at} need the same unit"
            ),
            Self::Ports(at) => write!(
                f,
                "the bank swizzles of the group at dword {at} read two registers by one port"
            ),
            Self::Cut(at) => of_group(f, at, "does not end in its clause"),
            Self::Address(at) => of_group(f, at, "uses AR, which its clause has not loaded before"),
            Self::Previous(at) => {
                of_group(f, at, "reads PV or PS, of which the group before has none")
            }
            Self::Constant(at) => of_group(f, at, "reads a constant that its clause has not locked"),
            Self::Twice(at) => of_group(f, at, "writes a component of a register twice"),
            Self::Once(at) => of_group(f, at, "has two instructions of which one may be in a group"),
            Self::Relative(at) => {
                of_group(f, at, "reads what the group before may have written by AR")
            }
            Self::Queue(at) => write!(
                f,
                "the clause at dword {at} does not read the results that it has the LDS queue return"
            ),
            Self::Index(at) => write!(
                f,
                "the clause at dword {at} uses an index register that none before it loads"
            ),
            Self::Fetched(at) => write!(
                f,
                "the fetch at dword {at} reads what an earlier one of its clause fetches"
            ),
            Self::NotDone(kind) => write!(f, "no EXPORT_DONE ends its {kind:?} exports"),
        }
    }
}

/// How many entries of `entry` elements a stack of loops and pushes needs; Cayman's all have 4.
fn entries(isa: Isa, entry: usize, loops: usize, pushes: usize) -> usize {
    let (entry, masks) = match isa {
        // With a push, two elements hold the masks of the innermost level.
        Isa::R600 | Isa::R700 => (entry, if pushes > 0 { 2 } else { 0 }),
        Isa::R800 => (entry, if pushes > 0 { 1 } else { 0 }),
        Isa::R900 => (4, 2),
    };
    (loops * entry + pushes + masks).div_ceil(entry)
}

/// Components of GPRs, a bit each.
#[derive(Clone, Copy)]
struct Access {
    reads: [u8; GPRS],
    writes: [u8; GPRS],
}

impl Access {
    const NONE: Self = Self {
        reads: [0; GPRS],
        writes: [0; GPRS],
    };

    /// Whether an instruction with `later` has to wait for one with this.
    fn is_needed_by(&self, later: &Self) -> bool {
        (0..GPRS).any(|i| {
            self.writes[i] & (later.reads[i] | later.writes[i]) | self.reads[i] & later.writes[i]
                != 0
        })
    }

    fn add(&mut self, other: &Self) {
        for i in 0..GPRS {
            self.reads[i] |= other.reads[i];
            self.writes[i] |= other.writes[i];
        }
    }
}

/// The components that the selects of operands name: bit 0 is x.
fn read_by(selects: &[u8]) -> u8 {
    let components = selects.iter().filter(|select| **select < 4);
    components.fold(0, |mask, select| mask | 1 << select)
}

/// The components that the selects of a result write.
fn written_by(selects: [u8; 4]) -> u8 {
    (0..4).fold(0, |mask, i| mask | u8::from(selects[i] < 6) << i)
}

/// What has been found so far.
struct Check<'a> {
    program: &'a Program,
    resources: Resources,
    found: Vec<Violation>,
    /// The highest GPR beyond those that there are.
    gpr: Option<usize>,
    /// What the CF instruction accesses.
    now: Access,
    /// Index registers that clauses before have loaded, and that this one loads.
    index: [bool; 2],
    loads: [bool; 2],
}

/// Checks `program` for the rules that hold for a wave with `resources`. `exports`: the kinds of
/// exports that its stage has to do.
pub fn validate(program: &Program, resources: Resources, exports: &[ExportKind]) -> Vec<Violation> {
    let mut check = Check {
        program,
        resources,
        found: Vec::new(),
        gpr: None,
        now: Access::NONE,
        index: [false; 2],
        loads: [false; 2],
    };
    check.control_flow(exports);
    if let Some(gpr) = check.gpr {
        check.found.push(Violation::Gpr(gpr, resources.gprs));
    }
    check.found.truncate(MOST);
    check.found
}

/// Nested loops (true) and pushes, in the order of the program.
#[derive(Default)]
struct Nesting {
    stack: Vec<bool>,
    /// Most entries so far.
    most: usize,
}

impl Nesting {
    /// Goes on behind an instruction. False if it pops more than there is.
    fn step(&mut self, isa: Isa, entry: usize, push: Option<bool>, pops: usize) -> bool {
        self.stack.extend(push);
        if push.is_some() {
            let loops = self.stack.iter().filter(|is_loop| **is_loop).count();
            let needs = entries(isa, entry, loops, self.stack.len() - loops);
            self.most = self.most.max(needs);
        }
        let left = self.stack.len().checked_sub(pops);
        self.stack.truncate(left.unwrap_or(0));
        left.is_some()
    }
}

impl Check<'_> {
    fn pair(&self, at: usize) -> [u32; 2] {
        [self.program.word(at), self.program.word(at + 1)]
    }

    fn triple(&self, at: usize) -> [u32; 3] {
        [0, 1, 2].map(|i| self.program.word(at + i))
    }

    fn report(&mut self, violation: Violation) {
        if self.found.len() < MOST && !self.found.contains(&violation) {
            self.found.push(violation);
        }
    }

    /// A read (or write) of the components of `mask` of `count` GPRs from `gpr` on.
    fn access(&mut self, gpr: u8, count: usize, relative: bool, write: bool, mask: u8) {
        if relative {
            return;
        }
        let last = usize::from(gpr) + count - 1;
        if last >= self.resources.gprs {
            self.gpr = self.gpr.max(Some(last));
        }
        let rows = match write {
            true => &mut self.now.writes,
            false => &mut self.now.reads,
        };
        let touched = rows.iter_mut().skip(gpr.into()).take(count);
        touched.for_each(|row| *row |= mask);
    }

    fn reads(&mut self, gpr: u8, count: usize, relative: bool, mask: u8) {
        self.access(gpr, count, relative, false, mask);
    }

    fn writes(&mut self, gpr: u8, count: usize, relative: bool, mask: u8) {
        self.access(gpr, count, relative, true, mask);
    }

    /// The clause at dword `at` uses the index registers of `modes`: 0 is none.
    fn uses_index(&mut self, at: usize, modes: &[u8]) {
        let mut numbers = modes.iter().filter_map(|mode| mode.checked_sub(1));
        if numbers.any(|number| !self.index.get(usize::from(number)).unwrap_or(&true)) {
            self.report(Violation::Index(at));
        }
    }

    fn control_flow(&mut self, exports: &[ExportKind]) {
        let isa = self.program.isa();
        let mut done: Vec<(ExportKind, bool)> = exports.iter().map(|kind| (*kind, false)).collect();
        let mut nesting = Nesting::default();
        let mut pending = Access::NONE;
        let mut extension = CfAlu::default();
        for at in 0.. {
            let words = self.pair(2 * at);
            let kind = isa.cf(words);
            let mut push = None;
            let mut pops = 0;
            self.now = Access::NONE;
            match kind {
                CfKind::AluExtended(word) => extension = word,
                CfKind::Alu(mut word) => {
                    r800::extend(&mut word, &std::mem::take(&mut extension));
                    self.alu(&word);
                    match word.code {
                        cf::ALU_PUSH_BEFORE => push = Some(false),
                        cf::ALU_POP_AFTER => pops = 1,
                        cf::ALU_POP2_AFTER => pops = 2,
                        _ => {}
                    }
                }
                CfKind::Export(word) => self.export(&word, &mut done),
                CfKind::Memory(word) => self.memory(&word),
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
            // The highest bit of all second words is BARRIER: the instruction waits for all before it.
            if words[1] >> 31 != 0 {
                pending = Access::NONE;
            } else if pending.is_needed_by(&self.now) {
                self.report(Violation::Barrier(2 * at));
            }
            pending.add(&self.now);
            if !nesting.step(isa, self.resources.chip.stack_entry, push, pops) {
                self.report(Violation::Pop(2 * at));
            }
            // What follows the end is subroutines, and data.
            let returns = matches!(kind, CfKind::Other(word) if word.code == cf::RET);
            if kind.ends() || returns || at + 1 >= self.program.cf.len() {
                break;
            }
        }
        if nesting.most > self.resources.stack {
            self.found
                .push(Violation::Stack(nesting.most, self.resources.stack));
        }
        let not_done = done.iter().filter(|(_, done)| !done);
        self.found
            .extend(not_done.map(|(kind, _)| Violation::NotDone(*kind)));
    }

    fn export(&mut self, word: &CfExport, done: &mut Vec<(ExportKind, bool)>) {
        let components = read_by(&word.sel);
        if components != 0 {
            self.reads(word.gpr, word.burst.into(), word.rel, components);
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

    fn memory(&mut self, word: &CfExport) {
        let (burst, components) = (word.burst.into(), word.components);
        match self.program.isa().scratch_read(word) {
            Some(_) => self.writes(word.gpr, burst, word.rel, components),
            None => self.reads(word.gpr, burst, word.rel, components),
        }
        if word.kind & 1 != 0 {
            self.reads(word.index_gpr, 1, false, 0xF);
        }
    }
}
