// SPDX-License-Identifier: MIT
//! Programs that only fetch and export a texel: the shaders of copies.

use std::collections::HashMap;

use super::*;
use crate::chip::gfx::shader::isa::tex;
use crate::chip::gfx::shader::ops::AluOp;

/// A component of a register, or of a parameter: what a [`TexelCopy`] or a
/// [`Modulate`](super::Modulate) starts from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Coordinate {
    /// The program starts with it.
    Input(Place),
    /// The program interpolates it, as those of R800 do.
    Parameter {
        /// Number of the input, and component.
        of: (usize, usize),
        /// The weights, which the program starts with.
        weights: [Place; 2],
    },
}

impl Coordinate {
    /// What `item` interpolates, if it does that with both weights and changes nothing else. `input` is
    /// the input that a row still holds.
    pub(super) fn interpolated(
        item: &Interpolate,
        input: impl Fn(u32) -> Option<Place>,
    ) -> Option<Self> {
        let [i, j] = item.weights?;
        let unmodified = item.pred_sel == 0 && !item.clamp;
        let weights = [input(i)?, input(j)?];
        unmodified.then_some(Self::Parameter {
            of: (item.parameter.into(), item.chan.into()),
            weights,
        })
    }
}

/// A program that fetches one texel, whose coordinates are inputs, and exports it unchanged as
/// colour 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TexelCopy {
    /// The fetch, `LD` or `SAMPLE`.
    pub op: TexInstruction,
    /// x, y and the level, as floats. The program converts those of `LD` to integers; `SAMPLE` ignores
    /// the level.
    pub coordinates: [Coordinate; 3],
}

/// What a row holds: a coordinate, cut off by `TRUNC`, converted to an integer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Value {
    coordinate: Coordinate,
    cut: bool,
    integer: bool,
}

impl Value {
    /// A coordinate as it is.
    const fn new(coordinate: Coordinate) -> Self {
        Self {
            coordinate,
            cut: false,
            integer: false,
        }
    }
}

/// The values of rows. Rows that nothing has written are inputs.
#[derive(Default)]
struct Rows(HashMap<u32, Value>);

impl Rows {
    fn get(&self, row: u32) -> Option<Value> {
        let input = || {
            let place = (row as usize / 4, row as usize % 4);
            (row < ROW_PV).then_some(Value::new(Coordinate::Input(place)))
        };
        self.0.get(&row).copied().or_else(input)
    }

    /// Runs a clause; none if it does anything but interpolate, cut off and convert coordinates.
    fn clause(&mut self, clause: &AluClause) -> Option<()> {
        for step in &clause.steps {
            let (dst, value) = match step {
                Step::Interpolate(item) => {
                    let weight = |row| match self.get(row)? {
                        Value {
                            coordinate: Coordinate::Input(place),
                            cut: false,
                            integer: false,
                        } => Some(place),
                        _ => None,
                    };
                    (
                        item.dst,
                        Value::new(Coordinate::interpolated(item, weight)?),
                    )
                }
                Step::Copy {
                    from,
                    to,
                    pred_sel: 0,
                } => (*to, self.get(*from)?),
                Step::Alu(slot) if modulate::is_unmodified(slot) => {
                    let from = self.get(slot.src[0].row)?;
                    let value = match slot.op {
                        AluOp::Trunc => Value { cut: true, ..from },
                        AluOp::FltToInt => Value {
                            integer: true,
                            ..from
                        },
                        _ => return None,
                    };
                    if from.integer {
                        return None;
                    }
                    (slot.dst, value)
                }
                _ => return None,
            };
            self.0.insert(dst, value);
        }
        Some(())
    }
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
        let nothing = |item: &Cf| matches!(item, Cf::Flow { word, .. } if matches!(word.code, cf::NOP | cf::END_PROGRAM));
        let [Fetch::Tex(op)] = self.fetch[fetch as usize].as_slice() else {
            return None;
        };
        let unchanged = op.dst_sel == [0, 1, 2, 3]
            && !(op.src_rel || op.dst_rel || op.alt_const)
            && op.offset == [0; 3]
            && op.index == [0; 2]
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
        let mut rows = Rows::default();
        if let Some(clause) = alu {
            rows.clause(clause)?;
        }
        let integers = match op.opcode {
            tex::LD => true,
            tex::SAMPLE => false,
            _ => return None,
        };
        let place = |component: usize| {
            let select = op.src_sel[component];
            if select > 3 {
                return None;
            }
            let value = rows.get(u32::from(op.src_gpr) * 4 + u32::from(select))?;
            (value.integer == integers && (integers || !value.cut)).then_some(value.coordinate)
        };
        let level = if integers { 3 } else { 0 };
        Some(TexelCopy {
            op: *op,
            coordinates: [place(0)?, place(1)?, place(level)?],
        })
    }
}
