// SPDX-License-Identifier: MIT
//! Reads a program's words: control flow, and the groups of its ALU clauses.

use std::collections::HashMap;

use r7xx_board::chip::gfx::shader::isa::{
    cf, is_tex_clause, sel, AluInstruction, CfAlu, CfExport, CfKind, CfOther, TexInstruction,
};
use r7xx_board::chip::gfx::shader::ops::{AluOp, Units};

/// Why a program is not compiled.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unsupported(pub String);

fn no<T>(what: impl Into<String>) -> Result<T, Unsupported> {
    Err(Unsupported(what.into()))
}

/// A value that is the same in all lanes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Constant {
    /// The value.
    Literal(u32),
    /// Bank, vec4, component of a constant buffer.
    Buffer(u32, u32, u8),
}

/// Where an operand is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// A component of a register: 4 * GPR + component.
    Row(u16),
    /// A number of [`Program::constants`].
    Constant(u16),
    /// The last result of a unit: x, y, z, w, trans.
    Last(u8),
}

/// An operand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Source {
    pub place: Place,
    pub abs: bool,
    pub neg: bool,
}

/// An instruction of a group.
#[derive(Debug, Clone)]
pub struct Slot {
    pub op: AluOp,
    pub unit: u8,
    pub dst: u16,
    pub src: Vec<Source>,
    pub word: AluInstruction,
}

/// An ALU clause: groups of instructions.
#[derive(Debug, Clone)]
pub struct Clause {
    pub code: u8,
    pub groups: Vec<Vec<Slot>>,
}

/// A control-flow instruction.
#[derive(Debug, Clone)]
pub enum Item {
    /// A number of [`Program::clauses`].
    Alu(usize),
    Tex(Vec<TexInstruction>),
    Export(CfExport),
    Flow(CfOther),
}

/// A decoded program; `items[i]` is the instruction at dword 2 * i.
#[derive(Debug)]
pub struct Program {
    pub items: Vec<(Item, bool)>,
    pub clauses: Vec<Clause>,
    pub constants: Vec<Constant>,
}

/// The words without calls of a fetch shader, whose results become inputs of the program.
pub fn without_calls(words: &[u32]) -> Vec<u32> {
    replaced(
        words,
        |kind| matches!(kind, CfKind::Other(word) if word.code == cf::CALL_FS),
    )
}

/// The words with nothing but ALU clauses and branches.
pub fn alu_alone(words: &[u32]) -> Vec<u32> {
    replaced(words, |kind| match kind {
        CfKind::Alu(_) => false,
        CfKind::Other(word) => word.code <= cf::VTX_TC || word.code == cf::CALL_FS,
        _ => true,
    })
}

/// The words with NOPs in place of some control-flow instructions.
fn replaced(words: &[u32], which: impl Fn(&CfKind) -> bool) -> Vec<u32> {
    let mut out = words.to_vec();
    for pair in out.chunks_exact_mut(2) {
        let kind = CfKind::decode([pair[0], pair[1]]);
        if which(&kind) {
            // END_OF_PROGRAM is bit 21.
            pair.copy_from_slice(&[0, u32::from(kind.ends()) << 21]);
        }
        if kind.ends() {
            break;
        }
    }
    out
}

struct Decoder<'a> {
    words: &'a [u32],
    constants: Vec<Constant>,
    numbers: HashMap<Constant, u16>,
}

impl Decoder<'_> {
    fn word(&self, at: usize) -> Result<u32, Unsupported> {
        self.words
            .get(at)
            .copied()
            .map_or_else(|| no("the end of the words"), Ok)
    }

    fn constant(&mut self, constant: Constant) -> Place {
        let next = self.constants.len() as u16;
        let constants = &mut self.constants;
        Place::Constant(*self.numbers.entry(constant).or_insert_with(|| {
            constants.push(constant);
            next
        }))
    }

    fn place(
        &mut self,
        clause: &CfAlu,
        select: u16,
        chan: u8,
        literals: &[u32; 4],
    ) -> Result<Place, Unsupported> {
        let literal = match select {
            0..=127 => return Ok(Place::Row(select * 4 + u16::from(chan))),
            sel::PV => return Ok(Place::Last(chan)),
            sel::PS => return Ok(Place::Last(4)),
            sel::KCACHE0..sel::KCACHE_END => {
                let set = usize::from(select >= sel::KCACHE1);
                let offset = u32::from(select % 32);
                match clause.kcache_mode[set] {
                    1 if offset < 16 => {}
                    2 => {}
                    _ => return no("constants that are not locked"),
                }
                let index = u32::from(clause.kcache_line[set]) * 16 + offset;
                let bank = clause.kcache_bank[set].into();
                return Ok(self.constant(Constant::Buffer(bank, index, chan)));
            }
            sel::ZERO => 0,
            sel::ONE => 1f32.to_bits(),
            sel::ONE_INT => 1,
            sel::MINUS_ONE_INT => u32::MAX,
            sel::HALF => 0.5f32.to_bits(),
            sel::LITERAL => literals[usize::from(chan)],
            other => return no(format!("operand {other}")),
        };
        Ok(self.constant(Constant::Literal(literal)))
    }

    fn clause(&mut self, clause: &CfAlu) -> Result<Clause, Unsupported> {
        let mut at = clause.address as usize * 2;
        let end = at + clause.count as usize * 2;
        let mut groups = Vec::new();
        while at < end {
            let mut group: Vec<AluInstruction> = Vec::new();
            while at < end && group.len() < 5 {
                let instruction = AluInstruction::decode([self.word(at)?, self.word(at + 1)?]);
                at += 2;
                group.push(instruction);
                if instruction.last {
                    break;
                }
            }
            let literal = |i: &AluInstruction| {
                let used = i.sources().iter().filter(|s| s.sel == sel::LITERAL);
                used.map(|s| usize::from(s.chan) + 1).max().unwrap_or(0)
            };
            let count = group.iter().map(literal).max().unwrap_or(0);
            let mut literals = [0; 4];
            for literal in &mut literals[..count] {
                *literal = self.word(at)?;
                at += 1;
            }
            at += count & 1;
            groups.push(self.group(clause, &group, &literals)?);
        }
        Ok(Clause {
            code: clause.code,
            groups,
        })
    }

    fn group(
        &mut self,
        clause: &CfAlu,
        group: &[AluInstruction],
        literals: &[u32; 4],
    ) -> Result<Vec<Slot>, Unsupported> {
        let mut taken = [false; 5];
        let mut slots = Vec::new();
        for word in group {
            let Some(op) = word.op else {
                return no("an unknown operation");
            };
            let chan = word.dst_chan;
            let unit = match word.units {
                Units::Trans => 4,
                Units::Any if taken[usize::from(chan)] => 4,
                _ => chan,
            };
            taken[usize::from(unit)] = true;
            if op == AluOp::Nop {
                continue;
            }
            let mut src = Vec::new();
            for operand in word.sources() {
                if operand.rel {
                    return no("a relative operand");
                }
                src.push(Source {
                    place: self.place(clause, operand.sel, operand.chan, literals)?,
                    abs: operand.abs,
                    neg: operand.neg,
                });
            }
            if word.dst_rel {
                return no("a relative destination");
            }
            slots.push(Slot {
                op,
                unit,
                dst: u16::from(word.dst_gpr) * 4 + u16::from(chan),
                src,
                word: *word,
            });
        }
        Ok(slots)
    }
}

impl Program {
    /// Decodes `words`, a program from its first instruction on.
    ///
    /// # Errors
    /// It has something that the prototype cannot compile.
    pub fn decode(words: &[u32]) -> Result<Self, Unsupported> {
        let mut decoder = Decoder {
            words,
            constants: Vec::new(),
            numbers: HashMap::new(),
        };
        let (mut items, mut clauses) = (Vec::new(), Vec::new());
        loop {
            let at = items.len() * 2;
            let kind = CfKind::decode([decoder.word(at)?, decoder.word(at + 1)?]);
            let item = match kind {
                CfKind::Alu(word) => {
                    clauses.push(decoder.clause(&word)?);
                    Item::Alu(clauses.len() - 1)
                }
                CfKind::Export(word) if !word.rel => Item::Export(word),
                CfKind::Other(word) if is_tex_clause(word.code) => {
                    let mut fetches = Vec::new();
                    for i in 0..usize::from(word.count) {
                        let at = word.address as usize * 2 + i * 4;
                        let mut words = [0; 3];
                        for (i, word) in words.iter_mut().enumerate() {
                            *word = decoder.word(at + i)?;
                        }
                        let fetch = TexInstruction::decode(words);
                        if fetch.src_rel || fetch.dst_rel || words[0] & 0x1f < 3 {
                            return no("a fetch that is not a texture's");
                        }
                        fetches.push(fetch);
                    }
                    Item::Tex(fetches)
                }
                CfKind::Other(word) => match word.code {
                    cf::NOP | cf::JUMP | cf::ELSE | cf::POP | cf::KILL => Item::Flow(word),
                    other => return no(format!("control flow {other:#x}")),
                },
                _ => return no("a memory export"),
            };
            items.push((item, kind.ends()));
            if kind.ends() {
                return Ok(Self {
                    items,
                    clauses,
                    constants: decoder.constants,
                });
            }
        }
    }
}
