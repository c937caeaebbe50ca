// SPDX-License-Identifier: MIT
//! Rules of fetch clauses.
//!
//! All instructions of a texture or vertex clause may be under way at a time: none has the result of
//! another one as its address (Mesa's `r600_bytecode_add_tex()`, `AssamblerVisitor::visit(FetchInstr)`).
//! Index registers of an instruction are loaded by an ALU clause before (Mesa's `emit_index_reg()`).

use super::{read_by, written_by, Check, Violation};
use crate::chip::gfx::shader::isa::MemInstruction;
use crate::chip::gfx::shader::{r800, GPRS};

/// What an instruction reads and writes: GPR, relative, number of GPRs, components.
struct Fetch {
    source: (u8, bool, u8),
    result: (u8, bool, usize, u8),
    index: [u8; 2],
}

impl Check<'_> {
    fn fetch(&self, words: [u32; 3]) -> Fetch {
        let isa = self.program.isa();
        match words[0] & 0x1F {
            _ if isa.is_vertex(words[0]) => {
                let op = isa.vertex(words);
                // A semantic names the destination of the other kind.
                let select = if op.opcode == 1 { [7; 4] } else { op.dst_sel };
                Fetch {
                    source: (op.src_gpr, op.src_rel, read_by(&[op.src_sel_x])),
                    result: (op.dst_gpr, op.dst_rel, 1, written_by(select)),
                    index: [op.index, 0],
                }
            }
            2 => {
                let op = MemInstruction::decode(words);
                let components = if op.indexed {
                    read_by(&[op.src_sel_x])
                } else {
                    0
                };
                let burst = usize::from(op.burst_count) + 1;
                Fetch {
                    source: (op.src_gpr, op.src_rel, components),
                    result: (op.dst_gpr, op.dst_rel, burst, written_by(op.dst_sel)),
                    index: [0; 2],
                }
            }
            _ => {
                let op = isa.texture(words);
                Fetch {
                    source: (op.src_gpr, op.src_rel, read_by(&op.src_sel)),
                    result: (op.dst_gpr, op.dst_rel, 1, written_by(op.dst_sel)),
                    index: op.index,
                }
            }
        }
    }

    /// Checks a clause of `count` instructions from dword `from` on.
    pub(super) fn fetches(&mut self, from: usize, count: usize) {
        let mut fetched = [0; GPRS];
        for at in (0..count).map(|n| from + 4 * n) {
            let words = self.triple(at);
            let shares = self.program.isa().has_data_share() && words[0] & 0x1F == 2;
            if let Some(op) = r800::data_share(words).filter(|_| shares) {
                self.uses_index(from, &[op.index]);
                let (reads, writes) = (read_by(&op.src_sel), written_by(op.dst_sel));
                if reads != 0 {
                    self.reads(op.src_gpr, 1, op.src_rel, reads);
                }
                if writes != 0 {
                    self.writes(op.dst_gpr, 1, op.dst_rel, writes);
                }
                continue;
            }
            let Fetch {
                source: (source, source_relative, reads),
                result: (result, relative, burst, writes),
                index,
            } = self.fetch(words);
            self.uses_index(from, &index);
            if reads != 0 {
                self.reads(source, 1, source_relative, reads);
                let pending = fetched.get(usize::from(source)).copied().unwrap_or(0);
                if !source_relative && pending & reads != 0 {
                    self.report(Violation::Fetched(at));
                }
            }
            if writes != 0 {
                self.writes(result, burst, relative, writes);
                if !relative {
                    let rows = fetched.iter_mut().skip(result.into()).take(burst);
                    rows.for_each(|row| *row |= writes);
                }
            }
        }
    }
}
