// SPDX-License-Identifier: MIT
//! Programs that only fetch and export a texel: the shaders of copies.

use super::*;
use crate::chip::gfx::shader::isa::tex;
use crate::chip::gfx::shader::ops::AluOp;

/// A program that fetches one texel, whose coordinates are inputs, and exports it unchanged as
/// colour 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TexelCopy {
    /// The fetch, `LD` or `SAMPLE`.
    pub op: TexInstruction,
    /// Registers and components of x, y and the level, as floats. The program converts those of
    /// `LD` to integers; `SAMPLE` ignores the level.
    pub coordinates: [(usize, usize); 3],
}

impl Program {
    pub(super) fn find_texel_copy(&self) -> Option<TexelCopy> {
        let (alu, fetch, export, rest) = match self.cf.as_slice() {
            [Cf::Alu {
                code: cf::ALU,
                clause,
            }, Cf::Fetch { clause: fetch, .. }, Cf::Export(export), rest @ ..] => {
                (Some(&self.alu[*clause as usize]), *fetch, export, rest)
            }
            [Cf::Fetch { clause, .. }, Cf::Export(export), rest @ ..] => {
                (None, *clause, export, rest)
            }
            _ => return None,
        };
        let nothing = |item: &Cf| matches!(item, Cf::Flow { word, .. } if word.code == cf::NOP);
        let [Fetch::Tex(op)] = self.fetch[fetch as usize].as_slice() else {
            return None;
        };
        let unchanged = op.dst_sel == [0, 1, 2, 3]
            && !(op.src_rel || op.dst_rel || op.alt_const)
            && op.offset == [0; 3]
            && op.lod_bias == 0;
        let exported = export.kind == 0
            && export.array_base == 0
            && export.burst == 1
            && !export.rel
            && export.gpr == op.dst_gpr
            && export.sel == [0, 1, 2, 3];
        if !(unchanged && exported && rest.iter().all(nothing) && self.unknown.is_empty()) {
            return None;
        }
        let integers = match (op.opcode, alu) {
            (tex::LD, Some(clause)) => Some(Self::conversions(clause)?),
            (tex::SAMPLE, None) => None,
            _ => return None,
        };
        let place = |component: usize| {
            let select = op.src_sel[component];
            let row = u32::from(op.src_gpr) * 4 + u32::from(select);
            let row = match &integers {
                _ if select > 3 => return None,
                Some(integers) => integers.iter().find(|(to, _)| *to == row)?.1,
                None => row,
            };
            (row < ROW_PV).then_some((row as usize / 4, row as usize % 4))
        };
        let level = if integers.is_some() { 3 } else { 0 };
        Some(TexelCopy {
            op: *op,
            coordinates: [place(0)?, place(1)?, place(level)?],
        })
    }

    /// The rows that a clause writes and reads, if it does nothing but convert inputs of the
    /// program to integers.
    fn conversions(clause: &AluClause) -> Option<Vec<(u32, u32)>> {
        let mut found: Vec<(u32, u32)> = Vec::new();
        for step in &clause.steps {
            let Step::Alu(slot) = step else {
                return None;
            };
            let [src, ..] = slot.src;
            let plain = slot.op == AluOp::FltToInt
                && (slot.omod, slot.clamp, slot.pred_sel) == (0, false, 0)
                && !(slot.update_exec || slot.update_pred)
                && (src.and, src.xor) == (u32::MAX, 0);
            let again = |(to, _): &(u32, u32)| *to == src.row || *to == slot.dst;
            if !plain || found.iter().any(again) {
                return None;
            }
            found.push((slot.dst, src.row));
        }
        Some(found)
    }
}
