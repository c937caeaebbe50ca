// SPDX-License-Identifier: MIT
//! Operations that add the result of the next channel: `DOT`, `DOT_IEEE`, `MBCNT_32LO_ACCUM_PREV_INT`.

use super::super::isa::AluInstruction;
use super::super::ops::AluOp;
use super::super::step::{Flush, Slot, Src, Step};

/// A slot whose result comes after those of its group's other slots.
pub(super) struct Sum {
    /// Its channel.
    pub(super) chan: usize,
    pub(super) instruction: AluInstruction,
    /// Row of its result.
    pub(super) dst: u32,
    /// Row of what it computes itself, without output modifiers.
    pub(super) product: u32,
    /// It adds the next channel's result.
    pub(super) adds: bool,
}

/// An operation that adds the result of the next channel.
pub(super) fn is_sum(op: AluOp) -> bool {
    matches!(op, AluOp::Dot | AluOp::DotIeee | AluOp::Mbcnt32Lo)
}

/// The result is scaled or clamped.
pub(super) fn modifies(instruction: &AluInstruction) -> bool {
    instruction.omod != 0 || instruction.clamp
}

/// A slot of the group adds the result of channel `chan`.
pub(super) fn is_added(group: &[AluInstruction], chan: usize) -> bool {
    group
        .iter()
        .any(|other| usize::from(other.dst_chan) + 1 == chan && other.op.is_some_and(is_sum))
}

/// Appends the steps of a group's sums. `results` has the rows of its results by unit, `taken` the units that
/// have a slot, `zero` is the operand 0.
pub(super) fn finish(
    mut sums: Vec<Sum>,
    mut results: [Option<u32>; 5],
    taken: &[bool; 5],
    zero: Src,
    steps: &mut Vec<Step>,
) {
    // From w to x: `DOT` in y adds the result of z.
    sums.sort_by_key(|sum| std::cmp::Reverse(sum.chan));
    for sum in sums {
        let Sum {
            chan,
            instruction,
            dst,
            product,
            adds,
        } = sum;
        let integers = instruction.op == Some(AluOp::Mbcnt32Lo);
        let (op, flush) = match integers {
            true => (AluOp::AddInt, Flush::Never),
            false => (AluOp::Add, Flush::Always),
        };
        let of = |row| Src { row, flush, ..zero };
        let after = match (chan < 3 && taken[chan + 1], results[(chan + 1).min(3)]) {
            (true, Some(row)) => of(row),
            _ => zero,
        };
        let modifies = modifies(&instruction);
        let add = Slot {
            op,
            omod: 0,
            clamp: false,
            pred_sel: 0,
            update_exec: false,
            update_pred: false,
            chan: instruction.dst_chan,
            plain: false,
            dst: product,
            src: [of(product), after, zero],
        };
        let last = Slot {
            op: if modifies { AluOp::Mov } else { op },
            omod: instruction.omod,
            clamp: instruction.clamp,
            pred_sel: instruction.pred_sel,
            dst,
            src: if modifies {
                [of(product), zero, zero]
            } else {
                add.src
            },
            ..add
        };
        if modifies {
            if adds {
                steps.push(Step::Alu(add));
            }
            results[chan] = Some(product);
        }
        steps.push(Step::Alu(last));
    }
}
