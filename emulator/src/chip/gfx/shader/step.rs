// SPDX-License-Identifier: MIT
//! The steps of decoded ALU clauses, and the rows that they work on.

use super::ops::AluOp;
use super::GPRS;

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

/// An interpolation: P0 + I * P10 + J * P20, or one of these.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Interpolate {
    pub dst: u32,
    /// Number of the input.
    pub parameter: u8,
    pub chan: u8,
    /// Without weights: 0 loads P0, 1 P10, 2 P20.
    pub part: u8,
    /// Rows of I and J.
    pub weights: Option<[u32; 2]>,
    pub pred_sel: u8,
    pub clamp: bool,
}

/// An access of the local data share.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Lds {
    /// See [`share`](super::share).
    pub op: u8,
    /// Of `WRITE_REL`: dwords from the first to the second value.
    pub offset: u8,
    /// Byte address, first and second operand.
    pub src: [Src; 3],
    pub pred_sel: u8,
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
        /// 1 or 2: index register 0 or 1 is added to the bank.
        bank_index: u8,
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
    /// Interpolates an input of a pixel shader.
    Interpolate(Interpolate),
    /// Accesses the local data share; results go to the queue.
    Lds(Lds),
    /// Row `dst` = the first result in the queue, which is removed if `pop`.
    LdsQueue {
        dst: u32,
        pop: bool,
    },
    /// Row `dst` = the lower or higher half of the time. `slots`: those of the clause before it.
    Time {
        dst: u32,
        high: bool,
        slots: u32,
    },
    /// Index register 0 or 1 = `AR.x`, or a row (R900).
    SetIndex {
        which: u8,
        from: Option<Src>,
    },
    /// Predicates and execution mask of the group take effect.
    Commit,
}

/// The steps of one group of instructions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Group {
    /// Place of its first instruction, in dwords from the start of the program.
    pub at: u32,
    /// Number of instructions.
    pub count: u8,
    /// Number of the clause's steps up to the end of the group.
    pub end: u32,
}

/// An ALU clause.
#[derive(Debug, Default)]
pub(super) struct AluClause {
    pub steps: Vec<Step>,
    /// Number of instructions, for the budget.
    pub slots: u32,
    /// Where its groups end, for [`tape`](super::tape).
    pub groups: Vec<Group>,
}
