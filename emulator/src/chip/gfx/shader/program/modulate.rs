// SPDX-License-Identifier: MIT
//! Programs that export inputs, a filtered texel, or products of both: the shaders of textured and
//! coloured polygons, of glyphs and of scaled copies. Those of R800 interpolate their inputs themselves.

use std::collections::HashMap;

use super::*;
use crate::chip::gfx::shader::isa::tex;
use crate::chip::gfx::shader::ops::AluOp;

/// A component of an input: number of its register, and component.
pub type Place = (usize, usize);

/// A component of an exported colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Term {
    /// 0.0 or 1.0, as bits.
    Constant(u32),
    /// An input, its bits unchanged.
    Input(Coordinate),
    /// A component of the texel, after the resource's swizzle.
    Texel(usize),
    /// Its product with an input by `MUL_IEEE`.
    Product(usize, Coordinate),
}

/// The fetch of a [`Modulate`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sample {
    /// The instruction.
    pub op: TexInstruction,
    /// The inputs that are its coordinates.
    pub coordinates: [Coordinate; 2],
    /// The coordinates are first multiplied (`MUL_IEEE`) by the reciprocal of this input.
    pub divisor: Option<Coordinate>,
}

/// A program that exports as colour 0 what its terms say, and does nothing else.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Modulate {
    /// The only fetch.
    pub sample: Option<Sample>,
    /// Red to alpha.
    pub colour: [Term; 4],
    /// Instructions of a run, for the budget.
    pub instructions: u64,
}

/// The value of a row while the program runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Value {
    Input(Coordinate),
    Reciprocal(Coordinate),
    /// An input times the reciprocal of another.
    Quotient(Coordinate, Coordinate),
    Texel(usize),
    Product(usize, Coordinate),
}

impl Value {
    fn product(self, other: Self) -> Option<Self> {
        match (self, other) {
            (Self::Input(a), Self::Reciprocal(b)) | (Self::Reciprocal(b), Self::Input(a)) => {
                Some(Self::Quotient(a, b))
            }
            (Self::Texel(texel), Self::Input(input)) | (Self::Input(input), Self::Texel(texel)) => {
                Some(Self::Product(texel, input))
            }
            _ => None,
        }
    }
}

/// What the rows hold. A row that nothing has written is an input; one with a value that is no
/// [`Value`] is `None`.
#[derive(Default)]
struct Rows(HashMap<u32, Option<Value>>);

impl Rows {
    fn get(&self, row: u32) -> Option<Value> {
        let place = (row as usize / 4, row as usize % 4);
        let input = (row < ROW_PV).then_some(Value::Input(Coordinate::Input(place)));
        self.0.get(&row).copied().unwrap_or(input)
    }

    /// Runs a clause; none if it does more than compute values.
    fn clause(&mut self, clause: &AluClause) -> Option<()> {
        for step in &clause.steps {
            let slot = match step {
                Step::Alu(slot) => slot,
                Step::Copy {
                    from,
                    to,
                    pred_sel: 0,
                } => {
                    self.0.insert(*to, self.get(*from));
                    continue;
                }
                Step::Interpolate(item) => {
                    let weight = |row| match self.get(row)? {
                        Value::Input(Coordinate::Input(place)) => Some(place),
                        _ => None,
                    };
                    let input = Coordinate::interpolated(item, weight)?;
                    self.0.insert(item.dst, Some(Value::Input(input)));
                    continue;
                }
                _ => return None,
            };
            if !is_unmodified(slot) {
                return None;
            }
            let [a, b, _] = slot.src.map(|src| self.get(src.row));
            let value = match slot.op {
                AluOp::Mov => a,
                AluOp::RecipIeee => match a {
                    Some(Value::Input(place)) => Some(Value::Reciprocal(place)),
                    _ => None,
                },
                AluOp::MulIeee => a.zip(b).and_then(|(a, b)| a.product(b)),
                _ => None,
            };
            self.0.insert(slot.dst, value);
        }
        Some(())
    }

    /// Runs a fetch.
    fn fetch(&mut self, op: &TexInstruction) -> Option<Sample> {
        // The other coordinates are 0.
        let plain = op.opcode == tex::SAMPLE
            && op.src_sel[2..].iter().all(|select| matches!(select, 4 | 7))
            && !(op.src_rel || op.dst_rel || op.alt_const)
            && op.index == [0; 2]
            && op.lod_bias == 0;
        let source = |component: usize| {
            let select = op.src_sel[component];
            let row = u32::from(op.src_gpr) * 4 + u32::from(select);
            (select < 4).then(|| self.get(row)).flatten()
        };
        let (coordinates, divisor) = match (source(0)?, source(1)?) {
            (Value::Input(s), Value::Input(t)) => ([s, t], None),
            (Value::Quotient(s, p), Value::Quotient(t, q)) if p == q => ([s, t], Some(p)),
            _ => return None,
        };
        for (chan, select) in op.dst_sel.iter().enumerate() {
            let row = u32::from(op.dst_gpr) * 4 + chan as u32;
            let value = match select {
                0..=3 => Some(Value::Texel(usize::from(*select))),
                7 => continue,
                _ => None,
            };
            self.0.insert(row, value);
        }
        plain.then_some(Sample {
            op: *op,
            coordinates,
            divisor,
        })
    }

    /// The colour that `export` exports.
    fn colour(&self, export: &CfExport) -> Option<[Term; 4]> {
        let whole = export.kind == 0 && export.array_base == 0 && export.burst == 1 && !export.rel;
        let mut colour = [Term::Constant(0); 4];
        for (term, select) in colour.iter_mut().zip(export.sel) {
            let row = u32::from(export.gpr) * 4 + u32::from(select);
            *term = match select {
                0..=3 => match self.get(row)? {
                    Value::Input(place) => Term::Input(place),
                    Value::Texel(texel) => Term::Texel(texel),
                    Value::Product(texel, input) => Term::Product(texel, input),
                    Value::Reciprocal(_) | Value::Quotient(..) => return None,
                },
                4 => Term::Constant(0),
                5 => Term::Constant(1f32.to_bits()),
                // Masked.
                _ => return None,
            };
        }
        whole.then_some(colour)
    }
}

/// Whether it computes its result in all lanes, of its operands as they are.
pub(super) fn is_unmodified(slot: &Slot) -> bool {
    let is_unmodified = |src: &Src| (src.and, src.xor) == (u32::MAX, 0);
    (slot.omod, slot.clamp, slot.pred_sel) == (0, false, 0)
        && !(slot.update_exec || slot.update_pred)
        && slot.src.iter().all(is_unmodified)
}

impl Program {
    pub(super) fn find_modulate(&self) -> Option<Modulate> {
        let (mut rows, mut sample, mut colour) = (Rows::default(), None, None);
        let mut instructions = self.cf.len() as u64;
        for (item, ends) in self.cf.iter().zip(&self.ends) {
            match item {
                Cf::Flow { word, .. } if word.code == cf::NOP => {}
                // That of Cayman is an instruction of its own.
                Cf::Flow { word, .. } if word.code == cf::END_PROGRAM && colour.is_some() => {}
                _ if colour.is_some() => return None,
                Cf::Alu {
                    code: cf::ALU,
                    clause,
                } => {
                    let clause = &self.alu[*clause as usize];
                    instructions += u64::from(clause.slots);
                    rows.clause(clause)?;
                }
                Cf::Fetch { clause, .. } => {
                    let [Fetch::Tex(op)] = self.fetch[*clause as usize].as_slice() else {
                        return None;
                    };
                    instructions += 1;
                    if sample.is_some() {
                        return None;
                    }
                    sample = Some(rows.fetch(op)?);
                }
                Cf::Export(export) => colour = Some(rows.colour(export)?),
                _ => return None,
            }
            if *ends && colour.is_none() {
                return None;
            }
        }
        (self.unknown.is_empty() && !self.uses_kill).then_some(Modulate {
            sample,
            colour: colour?,
            instructions,
        })
    }
}
