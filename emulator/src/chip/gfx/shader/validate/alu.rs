// SPDX-License-Identifier: MIT
//! Rules of ALU clauses and of their groups.
//!
//! - Units, and read ports: see the module above.
//! - A clause loads AR before it uses it, and not in the same group (Mesa's `r600_bytecode_add_cf()` forgets what
//!   AR holds, `merge_inst_groups()` keeps `MOVA` and users of AR apart).
//! - PV and PS are results of the group before in the same clause (`replace_gpr_with_pv_ps()`).
//! - A constant is in a line that the clause locks (`r600_bytecode_alloc_kcache_lines()`).
//! - No two instructions write the same component (`merge_inst_groups()`), and there is one predicate, one access of the
//!   local data share or of its queue, and one barrier a group (`is_alu_once_inst()`, `AluGroup::add_instruction()`). Of
//!   kills Mesa's scheduler puts two into a group, on a vector unit and on the transcendental one.
//! - Results of the local data share are read in the clause that asks for them (`sfn_scheduler.cpp`).
//! - On RV770 a group does not see what the one before has written by AR (`r6xx_nop_after_rel_dst`).

use super::{Check, Violation, CLAUSE_TEMPORARIES};
use crate::chip::gfx::shader::isa::{sel, AluInstruction, AluSource, CfAlu};
use crate::chip::gfx::shader::ops::{AluOp, Units};
use crate::chip::gfx::shader::ports::Ports;
use crate::chip::gfx::shader::program::kcache;
use crate::chip::gfx::shader::{share, Isa, GPRS};

const TRANS: usize = 4;
/// The highest value of `INDEX_MODE` that is a component of AR. Behind it is the loop index.
const AR_W: u8 = 3;

/// What a clause has done before a group.
#[derive(Default)]
struct Clause {
    /// AR is loaded.
    address: bool,
    /// Units of the group before.
    units: [bool; 5],
    /// The first register of each component that the group before may have written by AR.
    relative: [Option<u8>; 4],
    /// Results of the local data share that have not been read. None once it is not known.
    queue: Option<i32>,
}

/// A group so far.
struct Group {
    at: usize,
    units: [bool; 5],
    literals: usize,
    writes: Vec<(u8, u8)>,
    /// Predicates, accesses of the local data share, barriers.
    once: [usize; 3],
    /// It loads AR.
    address: bool,
    relative: [Option<u8>; 4],
    ports: Ports,
    fits: bool,
}

impl Group {
    fn new(at: usize, isa: Isa) -> Self {
        Self {
            at,
            units: [false; 5],
            literals: 0,
            writes: Vec::new(),
            once: [0; 3],
            address: false,
            relative: [None; 4],
            ports: Ports::new(isa),
            fits: true,
        }
    }
}

const fn in_kcache(source: &AluSource) -> bool {
    matches!(source.sel, sel::KCACHE0..sel::KCACHE_END | sel::KCACHE2..sel::KCACHE_EXTENDED_END)
}

const fn is_temporary(gpr: usize) -> bool {
    gpr >= CLAUSE_TEMPORARIES
}

impl Check<'_> {
    pub(super) fn alu(&mut self, word: &CfAlu) {
        let from = 2 * word.address as usize;
        let end = from + 2 * word.count as usize;
        let isa = self.program.isa();
        let locked = (0..4).filter(|set| word.kcache_mode[*set] != 0);
        let modes: Vec<u8> = locked.map(|set| word.kcache_index[set]).collect();
        self.uses_index(from, &modes);
        let mut clause = Clause {
            queue: Some(0),
            ..Clause::default()
        };
        let mut at = from;
        while at < end {
            let mut group = Group::new(at, isa);
            let mut ended = false;
            for _ in 0..isa.slots() {
                if ended || at >= end {
                    break;
                }
                let instruction = isa.alu(self.pair(at));
                at += 2;
                self.slot(word, &instruction, &mut group, &mut clause);
                ended = instruction.last;
            }
            at += 2 * usize::div_ceil(group.literals, 2);
            if !ended || at > end {
                self.report(Violation::Cut(group.at));
            }
            if !group.fits {
                self.report(Violation::Ports(group.at));
            }
            if group.once.iter().any(|count| *count > 1) {
                self.report(Violation::Once(group.at));
            }
            clause.address |= group.address;
            clause.units = group.units;
            clause.relative = group.relative;
        }
        if clause.queue.is_some_and(|left| left != 0) {
            self.report(Violation::Queue(from));
        }
        for (known, loaded) in self.index.iter_mut().zip(&mut self.loads) {
            *known |= std::mem::take(loaded);
        }
    }

    /// Checks an instruction.
    fn slot(
        &mut self,
        word: &CfAlu,
        instruction: &AluInstruction,
        group: &mut Group,
        clause: &mut Clause,
    ) {
        for source in instruction.sources() {
            self.source(word, source, group, clause);
        }
        let (chan, gpr) = (usize::from(instruction.dst_chan), instruction.dst_gpr);
        let relative_source = |source: &AluSource| {
            source.rel && (usize::from(source.sel) < GPRS || in_kcache(source))
        };
        let by_address = instruction.dst_rel || instruction.sources().iter().any(relative_source);
        if by_address && instruction.index_mode <= AR_W && !clause.address {
            self.report(Violation::Address(group.at));
        }
        let Some(op) = instruction.op else {
            // What it does is not known, nor where.
            group.units = [true; 5];
            group.fits &= group.ports.take(instruction, false);
            return;
        };
        if instruction.write && !is_temporary(gpr.into()) {
            self.writes(gpr, 1, instruction.dst_rel, 1 << chan);
        }
        if instruction.write && instruction.dst_rel {
            let first = group.relative[chan].map_or(gpr, |first| first.min(gpr));
            group.relative[chan] = Some(first);
        } else if instruction.write && instruction.pred_sel == 0 {
            if group.writes.contains(&(gpr, instruction.dst_chan)) {
                self.report(Violation::Twice(group.at));
            }
            group.writes.push((gpr, instruction.dst_chan));
        }
        let queue = |source: &AluSource| matches!(source.sel, sel::LDS_OQ_A | sel::LDS_OQ_A_POP);
        let shares = op == AluOp::LdsIdxOp || instruction.sources().iter().any(queue);
        group.once[0] += usize::from(op.is_pred() && !op.is_double());
        group.once[1] += usize::from(shares);
        group.once[2] += usize::from(op == AluOp::GroupBarrier);
        group.address |= op.is_mova();
        self.loads[0] |= matches!(op, AluOp::SetCfIdx0 | AluOp::MovaIndex0);
        self.loads[1] |= matches!(op, AluOp::SetCfIdx1 | AluOp::MovaIndex1);
        if op == AluOp::LdsIdxOp {
            self.share(instruction.lds[0], clause);
        }
        let unit = match instruction.units {
            Units::Trans => TRANS,
            Units::Any if group.units[chan] => TRANS,
            Units::Any | Units::Vector | Units::Four => chan,
        };
        if std::mem::replace(&mut group.units[unit], true) {
            self.report(Violation::Unit(group.at));
        }
        group.fits = group.fits && group.ports.take(instruction, unit == TRANS);
    }

    fn source(&mut self, word: &CfAlu, source: &AluSource, group: &mut Group, clause: &mut Clause) {
        let (gpr, chan) = (usize::from(source.sel), usize::from(source.chan));
        match source.sel {
            sel::LITERAL => group.literals = group.literals.max(chan + 1),
            sel::PV if !clause.units[chan] => self.report(Violation::Previous(group.at)),
            sel::PS if !clause.units[TRANS] => self.report(Violation::Previous(group.at)),
            sel::LDS_OQ_A_POP => clause.queue = clause.queue.map(|left| left - 1),
            _ => {}
        }
        if clause.queue.is_some_and(|left| left < 0) {
            self.report(Violation::Queue(2 * word.address as usize));
            clause.queue = None;
        }
        if in_kcache(source) && kcache(word, source.sel).is_none() {
            self.report(Violation::Constant(group.at));
        }
        if gpr >= GPRS || is_temporary(gpr) {
            return;
        }
        self.reads(gpr as u8, 1, source.rel, 1 << chan);
        let written = clause.relative[chan];
        let reached = |first: u8| source.rel || gpr >= usize::from(first);
        if self.resources.chip.late_relative_writes && written.is_some_and(reached) {
            self.report(Violation::Relative(group.at));
        }
    }

    /// An access of the local data share.
    fn share(&mut self, op: u8, clause: &mut Clause) {
        if !share::is_modelled(op) {
            clause.queue = None;
        } else if op & share::RETURNS != 0 {
            clause.queue = clause.queue.map(|left| left + 1);
        }
    }
}
