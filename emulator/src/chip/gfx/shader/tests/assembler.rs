// SPDX-License-Identifier: MIT
//! A small assembler: the inverse of `isa`, written from the same tables.

use super::*;
use crate::chip::gfx::shader::isa::sel;

#[derive(Clone, Copy)]
pub struct Operand {
    pub sel: u16,
    pub chan: u8,
    pub rel: bool,
    pub neg: bool,
    pub abs: bool,
    pub literal: Option<u32>,
}

pub fn r(gpr: u16, chan: u8) -> Operand {
    Operand {
        sel: gpr,
        chan,
        rel: false,
        neg: false,
        abs: false,
        literal: None,
    }
}

pub fn kc(set: u16, index: u16, chan: u8) -> Operand {
    r(sel::KCACHE0 + set * 32 + index, chan)
}

pub fn pv(chan: u8) -> Operand {
    r(sel::PV, chan)
}

pub fn ps() -> Operand {
    r(sel::PS, 0)
}

pub fn zero() -> Operand {
    r(sel::ZERO, 0)
}

pub fn lit(value: u32) -> Operand {
    Operand {
        literal: Some(value),
        ..r(sel::LITERAL, 0)
    }
}

impl Operand {
    pub fn neg(self) -> Self {
        Self { neg: true, ..self }
    }
    pub fn abs(self) -> Self {
        Self { abs: true, ..self }
    }
    pub fn rel(self) -> Self {
        Self { rel: true, ..self }
    }
}

#[derive(Clone)]
pub struct Alu {
    pub op: AluOp,
    pub dst: (u8, u8),
    pub write: bool,
    pub dst_rel: bool,
    pub src: Vec<Operand>,
    pub omod: u32,
    pub clamp: bool,
    pub exec: bool,
    pub pred: bool,
    pub pred_sel: u32,
    pub index_mode: u32,
    /// `BANK_SWIZZLE`
    pub bank: u32,
}

pub fn alu(op: AluOp, dst: (u8, u8), src: &[Operand]) -> Alu {
    Alu {
        op,
        dst,
        write: true,
        dst_rel: false,
        src: src.to_vec(),
        omod: 0,
        clamp: false,
        exec: false,
        pred: false,
        pred_sel: 0,
        index_mode: 0,
        bank: 0,
    }
}

impl Alu {
    pub fn masked(mut self) -> Self {
        self.write = false;
        self
    }
    pub fn clamp(mut self) -> Self {
        self.clamp = true;
        self
    }
    pub fn omod(mut self, omod: u32) -> Self {
        self.omod = omod;
        self
    }
    /// Updates the execution mask and the predicate.
    pub fn branch(mut self) -> Self {
        self.exec = true;
        self.pred = true;
        self.masked()
    }
    pub fn pred_sel(mut self, pred_sel: u32) -> Self {
        self.pred_sel = pred_sel;
        self
    }
    pub fn bank(mut self, bank: u32) -> Self {
        self.bank = bank;
        self
    }
    pub fn dst_rel(mut self) -> Self {
        self.dst_rel = true;
        self
    }
}

/// The words of a group.
pub fn group(slots: &[Alu]) -> Vec<u32> {
    let mut literals: Vec<u32> = Vec::new();
    let mut words = Vec::new();
    for (i, slot) in slots.iter().enumerate() {
        let mut src = slot.src.clone();
        for operand in &mut src {
            if let Some(value) = operand.literal {
                let at = (literals.iter().position(|&v| v == value)).unwrap_or_else(|| {
                    literals.push(value);
                    literals.len() - 1
                });
                operand.chan = at as u8;
            }
        }
        src.resize(3, zero());
        let bit = |flag: bool, at: u32| u32::from(flag) << at;
        let source = |o: &Operand| {
            u32::from(o.sel) | bit(o.rel, 9) | u32::from(o.chan) << 10 | bit(o.neg, 12)
        };
        let (op3, code) = slot.op.encoding();
        words.push(
            source(&src[0])
                | source(&src[1]) << 13
                | slot.index_mode << 26
                | slot.pred_sel << 29
                | bit(i + 1 == slots.len(), 31),
        );
        let common = slot.bank << 18
            | u32::from(slot.dst.0) << 21
            | bit(slot.dst_rel, 28)
            | u32::from(slot.dst.1) << 29
            | bit(slot.clamp, 31);
        words.push(
            common
                | if op3 {
                    source(&src[2]) | code << 13
                } else {
                    bit(src[0].abs, 0)
                        | bit(src[1].abs, 1)
                        | bit(slot.exec, 2)
                        | bit(slot.pred, 3)
                        | bit(slot.write, 4)
                        | slot.omod << 5
                        | code << 7
                },
        );
    }
    if literals.len() % 2 != 0 {
        literals.push(0);
    }
    words.extend(literals);
    words
}

pub fn op(op: AluOp, dst: (u8, u8), src: &[Operand]) -> Vec<u32> {
    group(&[alu(op, dst, src)])
}

/// The instruction waits for those before it, as all of Mesa's do.
const BARRIER: u32 = 1 << 31;

/// A control-flow instruction, before addresses are assigned.
pub enum Item {
    Alu(u8, [u32; 2], Vec<u32>),
    Fetch(u8, Vec<u32>),
    /// Code, target (an index of the list), pop count, condition, constant.
    Flow(u8, usize, u32, u32, u32),
    Raw([u32; 2]),
}

pub fn clause(code: u8, groups: &[Vec<u32>]) -> Item {
    Item::Alu(code, [0; 2], groups.concat())
}

/// An ALU clause whose sets lock two lines each: set 0 line `lines[0]` of
/// buffer 0, set 1 line `lines[1]` of buffer 1.
pub fn clause_kc(lines: [u32; 2], groups: &[Vec<u32>]) -> Item {
    Item::Alu(
        cf::ALU,
        [1 << 26 | 2 << 30, 2 | lines[0] << 2 | lines[1] << 10],
        groups.concat(),
    )
}

pub fn flow(code: u8, target: usize, pop: u32) -> Item {
    Item::Flow(code, target, pop, 0, 0)
}

pub fn export(kind: u32, base: u32, gpr: u32, select: [u32; 4], burst: u32) -> Item {
    Item::Raw([
        base | kind << 13 | gpr << 15 | 3 << 30,
        select[0]
            | select[1] << 3
            | select[2] << 6
            | select[3] << 9
            | (burst - 1) << 17
            | u32::from(cf::EXPORT_DONE) << 23
            | BARRIER,
    ])
}

/// Assembles a program: control flow first, then the clauses. The last
/// instruction gets the end-of-program bit.
pub fn assemble(items: &[Item]) -> Vec<u32> {
    let mut code = Vec::new();
    let mut clauses: Vec<u32> = Vec::new();
    // An ALU clause has no end-of-program bit.
    let needs_nop = matches!(items.last(), Some(Item::Alu(..)));
    let count = items.len() + usize::from(needs_nop);
    let start = (count * 2).next_multiple_of(4);
    for item in items {
        match item {
            Item::Alu(inst, extra, words) => {
                let address = (start + clauses.len()) as u32 / 2;
                let slots = words.len() as u32 / 2;
                code.push(address | extra[0]);
                code.push(extra[1] | (slots - 1) << 18 | u32::from(*inst) << 26 | BARRIER);
                clauses.extend(words);
            }
            Item::Fetch(inst, words) => {
                clauses.resize(clauses.len().next_multiple_of(4), 0);
                let address = (start + clauses.len()) as u32 / 2;
                let n = words.len() as u32 / 4 - 1;
                code.push(address);
                code.push((n & 7) << 10 | (n >> 3) << 19 | u32::from(*inst) << 23 | BARRIER);
                clauses.extend(words);
            }
            Item::Flow(inst, target, pop, cond, constant) => {
                code.push(*target as u32);
                code.push(pop | constant << 3 | cond << 8 | u32::from(*inst) << 23 | BARRIER);
            }
            Item::Raw(words) => code.extend(words),
        }
        clauses.resize(clauses.len().next_multiple_of(2), 0);
    }
    if needs_nop {
        code.extend([0, 0]);
    }
    *code.last_mut().unwrap() |= 1 << 21;
    code.resize(start, 0);
    code.extend(clauses);
    code
}

/// A vertex fetch to GPR `dst` without a swizzle; the index is x of GPR `src`.
pub fn vfetch(buffer: u32, dst: u32, src: u32, format: u32, num: u32, offset: u32) -> Vec<u32> {
    vec![
        buffer << 8 | src << 16,
        dst | 1 << 12 | 2 << 15 | 3 << 18 | format << 22 | num << 28,
        offset,
        0,
    ]
}
