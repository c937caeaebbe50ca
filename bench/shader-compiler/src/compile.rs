// SPDX-License-Identifier: MIT
//! Makes a function of an ALU clause: a loop over the wave, four lanes at a time (Cranelift has
//! vectors of 128 bits on x86-64), in which results stay in registers. Only the last value of a
//! component that something may read later is stored.
//!
//! Semantics: those of the interpreter (`emulator/src/chip/gfx/shader/alu`).

use std::collections::{BTreeMap, HashMap};

use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::{
    types, ConstantData, FuncRef, InstBuilder, MemFlags, StackSlotData, StackSlotKind, Value,
};
use cranelift_codegen::Context;
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};
use r7xx_board::chip::gfx::shader::ops::AluOp;

use crate::decode::{Clause, Item, Place, Program, Slot, Source, Unsupported};
use crate::machine::{Code, ROWS};

/// A component of four lanes.
#[derive(Clone, Copy)]
struct Lanes {
    bits: Value,
    /// It is never a denormal.
    normal: bool,
}

/// What is known of a program's registers.
#[derive(Debug)]
pub struct Facts {
    /// Something reads the row after a clause has ended.
    live: [bool; ROWS],
    /// The row never has a denormal when a clause begins.
    normal: [bool; ROWS],
    /// No constant is a denormal.
    constants: bool,
}

/// Whether the result of `op` is never a denormal; `normal` tells it of its operands.
fn is_normal(op: AluOp, normal: impl Fn(usize) -> bool) -> bool {
    match op {
        AluOp::Mov => normal(0),
        AluOp::Cnde
        | AluOp::Cndgt
        | AluOp::Cndge
        | AluOp::CndeInt
        | AluOp::CndgtInt
        | AluOp::CndgeInt => normal(1) && normal(2),
        // All ones is a NaN.
        AluOp::SeteDx10 | AluOp::SetgtDx10 | AluOp::SetgeDx10 | AluOp::SetneDx10 => true,
        _ => op.float_result(),
    }
}

impl Facts {
    /// Examines `program`. `normal`: its inputs and constants have no denormals. `all`: every
    /// register is read in the end.
    pub fn new(program: &Program, normal: bool, all: bool) -> Self {
        let mut facts = Self {
            live: [all; ROWS],
            normal: [normal; ROWS],
            constants: normal,
        };
        for clause in &program.clauses {
            // A clause begins with what others have left. Temporaries end with it.
            let mut written = [false; ROWS];
            for group in &clause.groups {
                for source in group.iter().flat_map(|slot| &slot.src) {
                    if let Place::Row(row) = source.place {
                        facts.live[usize::from(row)] |= !written[usize::from(row)];
                    }
                }
                for slot in group.iter().filter(|slot| slot.word.write) {
                    written[usize::from(slot.dst)] |= slot.word.pred_sel < 2;
                }
            }
        }
        for (item, _) in &program.items {
            match item {
                Item::Tex(fetches) => {
                    for fetch in fetches {
                        for select in fetch.src_sel.into_iter().filter(|select| *select < 4) {
                            let row = usize::from(fetch.src_gpr) * 4 + usize::from(select);
                            facts.live[row] = true;
                        }
                    }
                }
                Item::Export(export) => {
                    for i in 0..export.burst {
                        for select in export.sel.into_iter().filter(|select| *select < 4) {
                            let row = usize::from(export.gpr.wrapping_add(i) & 127) * 4;
                            facts.live[row + usize::from(select)] = true;
                        }
                    }
                }
                Item::Alu(_) | Item::Flow(_) => {}
            }
        }
        // Clauses that may leave denormals in a row: until nothing changes.
        loop {
            let mut changed = false;
            for clause in &program.clauses {
                let mut now = facts.normal;
                let mut last = [true; 5];
                for group in &clause.groups {
                    let mut results = Vec::new();
                    for slot in group {
                        let normal = is_normal(slot.op, |i| match slot.src[i].place {
                            Place::Row(row) => now[usize::from(row)],
                            Place::Constant(_) => facts.constants,
                            Place::Last(unit) => last[usize::from(unit)],
                        });
                        let normal = normal || slot.word.omod != 0 || slot.word.clamp;
                        results.push((slot, normal));
                    }
                    for (slot, normal) in results {
                        last[usize::from(slot.unit)] = normal;
                        let row = usize::from(slot.dst);
                        if slot.word.write {
                            let masked = slot.word.pred_sel >= 2;
                            now[row] = normal && (!masked || now[row]);
                            if facts.normal[row] && !normal {
                                facts.normal[row] = false;
                                changed = true;
                            }
                        }
                    }
                }
            }
            if !changed {
                return facts;
            }
        }
    }
}

/// Compiles `clause` into `code`; returns the function's number. `masked`: not all lanes that count
/// run.
///
/// # Errors
/// It has an operation that the prototype does not know.
pub fn clause(
    code: &mut Code,
    clause: &Clause,
    facts: &Facts,
    masked: bool,
) -> Result<usize, Unsupported> {
    let mut context = Context::new();
    let mut storage = FunctionBuilderContext::new();
    context.func.signature = code.signature();
    let mut builder = FunctionBuilder::new(&mut context.func, &mut storage);
    let entry = builder.create_block();
    let body = builder.create_block();
    let exit = builder.create_block();
    builder.append_block_params_for_function_params(entry);
    builder.switch_to_block(entry);
    let [rows, constants, masks] = [0, 1, 2].map(|i| builder.block_params(entry)[i]);
    let first = builder.ins().iconst(types::I64, 0);
    builder.ins().jump(body, &[first.into()]);
    let offset = builder.append_block_param(body, types::I64);
    builder.switch_to_block(body);
    let at = builder.ins().iadd(rows, offset);
    let mask_at = builder.ins().iadd(masks, offset);
    let mut maker = Maker {
        at,
        mask_at,
        constants,
        facts,
        current: HashMap::new(),
        dirty: BTreeMap::new(),
        last: [None; 5],
        helpers: HashMap::new(),
        entry: None,
        exec: None,
        changed: false,
        pred: None,
        kill: None,
        code,
        b: builder,
    };
    if masked {
        maker.entry = Some(maker.mask(0));
        maker.exec = maker.entry;
    }
    for group in &clause.groups {
        maker.group(group)?;
    }
    maker.end(masks, offset);
    let mut builder = maker.b;
    let next = builder.ins().iadd_imm(offset, 16);
    let more = builder
        .ins()
        .icmp_imm(IntCC::UnsignedLessThan, next, 4 * 64);
    builder.ins().brif(more, body, &[next.into()], exit, &[]);
    builder.switch_to_block(exit);
    builder.ins().return_(&[]);
    builder.seal_all_blocks();
    builder.finalize();
    Ok(code.define(&mut context))
}

struct Maker<'a, 'b> {
    b: FunctionBuilder<'b>,
    code: &'a mut Code,
    facts: &'a Facts,
    at: Value,
    mask_at: Value,
    constants: Value,
    current: HashMap<u16, Lanes>,
    /// Rows to store, in order.
    dirty: BTreeMap<u16, ()>,
    last: [Option<Lanes>; 5],
    helpers: HashMap<&'static str, FuncRef>,
    /// The lanes that run when the clause begins, and now; none for all.
    entry: Option<Value>,
    exec: Option<Value>,
    /// `exec` is not `entry`.
    changed: bool,
    pred: Option<Value>,
    kill: Option<Value>,
}

/// What a slot leaves, until the group ends.
struct Done<'s> {
    slot: &'s Slot,
    value: Lanes,
    /// Lanes that pass a test.
    passed: Option<Value>,
}

impl Maker<'_, '_> {
    fn f(&mut self, bits: Value) -> Value {
        self.b.ins().bitcast(types::F32X4, little(), bits)
    }

    fn i(&mut self, float: Value) -> Value {
        self.b.ins().bitcast(types::I32X4, little(), float)
    }

    fn splat(&mut self, value: u32) -> Value {
        let data: Vec<u8> = value.to_le_bytes().repeat(4);
        let constant = self.b.func.dfg.constants.insert(ConstantData::from(data));
        self.b.ins().vconst(types::I32X4, constant)
    }

    fn fsplat(&mut self, value: f32) -> Value {
        let bits = self.splat(value.to_bits());
        self.f(bits)
    }

    /// Mask 0 (lanes that run) or 1 (the predicate).
    fn mask(&mut self, which: i32) -> Value {
        let at = self.mask_at;
        self.b
            .ins()
            .load(types::I32X4, MemFlags::trusted(), at, which * 256)
    }

    fn flush(&mut self, bits: Value) -> Value {
        let exponent = self.splat(0x7f80_0000);
        let zero = self.splat(0);
        let magnitude = self.splat(0x7fff_ffff);
        let found = self.b.ins().band(bits, exponent);
        let tiny = self.b.ins().icmp(IntCC::Equal, found, zero);
        let cleared = self.b.ins().band(tiny, magnitude);
        self.b.ins().band_not(bits, cleared)
    }

    fn row(&mut self, row: u16) -> Lanes {
        if let Some(known) = self.current.get(&row) {
            return *known;
        }
        let at = self.at;
        let bits = (self.b.ins()).load(types::I32X4, trusted(), at, i32::from(row) * 256);
        let normal = self.facts.normal[usize::from(row)];
        let value = Lanes { bits, normal };
        self.current.insert(row, value);
        value
    }

    fn source(&mut self, source: &Source, float: bool) -> Lanes {
        let mut value = match source.place {
            Place::Row(row) => self.row(row),
            Place::Last(unit) => match self.last[usize::from(unit)] {
                Some(value) => value,
                None => Lanes {
                    bits: self.splat(0),
                    normal: true,
                },
            },
            Place::Constant(number) => {
                let at = self.constants;
                let scalar = (self.b.ins()).load(
                    types::I32,
                    trusted().with_readonly(),
                    at,
                    i32::from(number) * 4,
                );
                Lanes {
                    bits: self.b.ins().splat(types::I32X4, scalar),
                    normal: self.facts.constants,
                }
            }
        };
        if source.abs {
            let and = self.splat(0x7fff_ffff);
            value.bits = self.b.ins().band(value.bits, and);
        }
        if source.neg {
            let xor = self.splat(0x8000_0000);
            value.bits = self.b.ins().bxor(value.bits, xor);
        }
        if float && !value.normal {
            value.bits = self.flush(value.bits);
            value.normal = true;
        }
        value
    }

    fn select(&mut self, mask: Value, yes: Value, no: Value) -> Value {
        self.b.ins().bitselect(mask, yes, no)
    }

    fn compare(&mut self, how: FloatCC, a: Value, b: Value) -> Value {
        let (a, b) = (self.f(a), self.f(b));
        self.b.ins().fcmp(how, a, b)
    }

    fn icompare(&mut self, how: IntCC, a: Value, b: Value) -> Value {
        self.b.ins().icmp(how, a, b)
    }

    /// The product, as a float.
    fn mul(&mut self, a: Value, b: Value, legacy: bool) -> Value {
        let (x, y) = (self.f(a), self.f(b));
        let product = self.b.ins().fmul(x, y);
        if !legacy {
            return product;
        }
        let zero = self.fsplat(0.0);
        let p = self.b.ins().fcmp(FloatCC::Equal, x, zero);
        let q = self.b.ins().fcmp(FloatCC::Equal, y, zero);
        let any = self.b.ins().bor(p, q);
        let bits = self.i(product);
        let bits = self.b.ins().band_not(bits, any);
        self.f(bits)
    }

    fn call(&mut self, name: &'static str, bits: Value) -> Value {
        let function = match self.helpers.get(name) {
            Some(function) => *function,
            None => {
                let function = self.code.helper(name, self.b.func);
                self.helpers.insert(name, function);
                function
            }
        };
        let slot = StackSlotData::new(StackSlotKind::ExplicitSlot, 16, 4);
        let slot = self.b.create_sized_stack_slot(slot);
        self.b.ins().stack_store(bits, slot, 0);
        let address = self.b.ins().stack_addr(types::I64, slot, 0);
        self.b.ins().call(function, &[address]);
        self.b.ins().stack_load(types::I32X4, slot, 0)
    }

    /// Executes a group: all slots read before one writes.
    fn group(&mut self, group: &[Slot]) -> Result<(), Unsupported> {
        let mut done: Vec<Done<'_>> = Vec::new();
        let mut dots: Vec<(AluOp, Lanes)> = Vec::new();
        for slot in group {
            let (mut value, passed) = match slot.op {
                AluOp::Dot4 | AluOp::Dot4Ieee => {
                    let known = dots.iter().find(|(op, _)| *op == slot.op);
                    match known {
                        Some((_, value)) => (*value, None),
                        None => {
                            let value = self.dot(slot, group)?;
                            dots.push((slot.op, value));
                            (value, None)
                        }
                    }
                }
                _ => {
                    let float = slot.op.float_operands();
                    let src: Vec<Lanes> = slot.src.iter().map(|s| self.source(s, float)).collect();
                    let bits: Vec<Value> = src.iter().map(|s| s.bits).collect();
                    let normal = is_normal(slot.op, |i| src[i].normal);
                    let (bits, passed) = self.operation(slot.op, &bits)?;
                    (Lanes { bits, normal }, passed)
                }
            };
            let word = &slot.word;
            let is_dot = matches!(slot.op, AluOp::Dot4 | AluOp::Dot4Ieee);
            if !is_dot && (word.omod != 0 || word.clamp) {
                value = self.modified(value.bits, word.omod, word.clamp);
            }
            done.push(Done {
                slot,
                value,
                passed,
            });
        }
        let (exec, pred) = (self.exec, self.pred);
        for Done {
            slot,
            mut value,
            passed,
        } in done
        {
            let chosen = match slot.word.pred_sel {
                0 | 1 => None,
                which => {
                    let pred = match pred {
                        Some(pred) => pred,
                        None => self.mask(1),
                    };
                    Some(if which == 2 {
                        self.b.ins().bnot(pred)
                    } else {
                        pred
                    })
                }
            };
            // Lanes that do not run get their old values at the clause's end.
            let running = exec.filter(|_| self.changed);
            let mask = match (chosen, running) {
                (Some(a), Some(b)) => Some(self.b.ins().band(a, b)),
                (a, b) => a.or(b),
            };
            if slot.word.write {
                if let Some(mask) = mask {
                    let old = self.row(slot.dst);
                    value.bits = self.select(mask, value.bits, old.bits);
                    value.normal &= old.normal;
                }
                self.current.insert(slot.dst, value);
                self.dirty.insert(slot.dst, ());
            }
            self.last[usize::from(slot.unit)] = Some(value);
            let Some(passed) = passed else { continue };
            let active = match (chosen, exec) {
                (Some(a), Some(b)) => Some(self.b.ins().band(a, b)),
                (a, b) => a.or(b),
            };
            let hit = match active {
                Some(active) => self.b.ins().band(passed, active),
                None => passed,
            };
            if slot.op.is_kill() {
                self.kill = Some(match self.kill {
                    Some(before) => self.b.ins().bor(before, hit),
                    None => hit,
                });
                continue;
            }
            if slot.word.update_pred {
                self.pred = Some(match active {
                    None => hit,
                    Some(active) => {
                        let old = match self.pred {
                            Some(old) => old,
                            None => self.mask(1),
                        };
                        let kept = self.b.ins().band_not(old, active);
                        self.b.ins().bor(kept, hit)
                    }
                });
            }
            if slot.word.update_exec {
                let stays = match active {
                    None => passed,
                    Some(active) => {
                        let rest = self.b.ins().bnot(active);
                        self.b.ins().bor(passed, rest)
                    }
                };
                self.exec = Some(match self.exec {
                    None => stays,
                    Some(before) => self.b.ins().band(before, stays),
                });
                self.changed = true;
            }
        }
        Ok(())
    }

    /// `DOT4`, which all four units compute together.
    fn dot(&mut self, first: &Slot, group: &[Slot]) -> Result<Lanes, Unsupported> {
        let mut units: [Option<&Slot>; 4] = [None; 4];
        for slot in group.iter().filter(|slot| slot.op == first.op) {
            if units[usize::from(slot.word.dst_chan)]
                .replace(slot)
                .is_some()
            {
                return Err(Unsupported("two of DOT4 in a group".into()));
            }
        }
        let legacy = first.op == AluOp::Dot4;
        let mut sum = None;
        for slot in units {
            let Some(slot) = slot else {
                return Err(Unsupported("DOT4 of fewer than four units".into()));
            };
            let [a, b] = [0, 1].map(|i| self.source(&slot.src[i], true).bits);
            let product = self.mul(a, b, legacy);
            sum = Some(match sum {
                None => product,
                Some(sum) => self.b.ins().fadd(sum, product),
            });
        }
        let bits = sum.map(|sum| self.i(sum)).expect("four units");
        let mut bits = self.flush(bits);
        // The modifiers are those of the unit that writes.
        let model = group.iter().filter(|slot| slot.op == first.op);
        let model = model.clone().find(|slot| slot.word.write).unwrap_or(first);
        if model.word.omod != 0 || model.word.clamp {
            bits = self.modified(bits, model.word.omod, model.word.clamp).bits;
        }
        Ok(Lanes { bits, normal: true })
    }

    /// Output modifiers, with `DX10_CLAMP`.
    fn modified(&mut self, bits: Value, omod: u8, clamp: bool) -> Lanes {
        let mut x = self.f(bits);
        if omod != 0 {
            let factor = self.fsplat([2.0, 4.0, 0.5][usize::from(omod - 1)]);
            x = self.b.ins().fmul(x, factor);
        }
        if clamp {
            let (zero, one) = (self.fsplat(0.0), self.fsplat(1.0));
            let positive = self.b.ins().fcmp(FloatCC::GreaterThan, x, zero);
            let bits = self.i(x);
            let bits = self.b.ins().band(bits, positive);
            let y = self.f(bits);
            let below = self.b.ins().fcmp(FloatCC::LessThan, y, one);
            let one = self.i(one);
            let bits = self.select(below, bits, one);
            x = self.f(bits);
        }
        let bits = self.i(x);
        Lanes {
            bits: self.flush(bits),
            normal: true,
        }
    }

    /// One operation: the result, and the lanes that pass if it is a test.
    fn operation(&mut self, op: AluOp, s: &[Value]) -> Result<(Value, Option<Value>), Unsupported> {
        use AluOp::*;
        let one = |m: &mut Self| m.splat(1f32.to_bits());
        // Tests that set registers: the comparison, the values.
        let float = match op {
            Sete | SeteDx10 | Kille | PredSete => Some(FloatCC::Equal),
            Setgt | SetgtDx10 | Killgt | PredSetgt => Some(FloatCC::GreaterThan),
            Setge | SetgeDx10 | Killge | PredSetge => Some(FloatCC::GreaterThanOrEqual),
            Setne | SetneDx10 | Killne | PredSetne => Some(FloatCC::NotEqual),
            _ => None,
        };
        let int = match op {
            SeteInt | KilleInt | PredSeteInt => Some(IntCC::Equal),
            SetneInt | KillneInt | PredSetneInt => Some(IntCC::NotEqual),
            SetgtInt | KillgtInt | PredSetgtInt => Some(IntCC::SignedGreaterThan),
            SetgeInt | KillgeInt | PredSetgeInt => Some(IntCC::SignedGreaterThanOrEqual),
            SetgtUint | KillgtUint | PredSetgtUint => Some(IntCC::UnsignedGreaterThan),
            SetgeUint | KillgeUint | PredSetgeUint => Some(IntCC::UnsignedGreaterThanOrEqual),
            _ => None,
        };
        let test = match (float, int) {
            (Some(how), _) => Some(self.compare(how, s[0], s[1])),
            (_, Some(how)) => Some(self.icompare(how, s[0], s[1])),
            _ => None,
        };
        if let Some(mask) = test {
            let whole = matches!(
                op,
                SeteDx10
                    | SetgtDx10
                    | SetgeDx10
                    | SetneDx10
                    | SeteInt
                    | SetneInt
                    | SetgtInt
                    | SetgeInt
                    | SetgtUint
                    | SetgeUint
            );
            if whole {
                return Ok((mask, None));
            }
            let value = one(self);
            if op.is_pred() {
                return Ok((self.b.ins().band_not(value, mask), Some(mask)));
            }
            let value = self.b.ins().band(value, mask);
            return Ok((value, op.is_kill().then_some(mask)));
        }
        let helper = match op {
            ExpIeee => Some("exp"),
            LogIeee => Some("log"),
            LogClamped => Some("log_clamped"),
            RecipClamped => Some("recip_clamped"),
            RecipsqrtIeee => Some("rsqrt"),
            RecipsqrtClamped => Some("rsqrt_clamped"),
            Sin => Some("sin"),
            Cos => Some("cos"),
            _ => None,
        };
        if let Some(name) = helper {
            return Ok((self.call(name, s[0]), None));
        }
        let bits = match op {
            Mov => s[0],
            Add => {
                let (a, b) = (self.f(s[0]), self.f(s[1]));
                let sum = self.b.ins().fadd(a, b);
                self.flushed(sum)
            }
            Mul | MulIeee => {
                let product = self.mul(s[0], s[1], op == Mul);
                self.flushed(product)
            }
            Muladd | MuladdIeee | MuladdM2 | MuladdM4 | MuladdD2 | MuladdIeeeM2 | MuladdIeeeM4
            | MuladdIeeeD2 => {
                let legacy = matches!(op, Muladd | MuladdM2 | MuladdM4 | MuladdD2);
                let product = self.mul(s[0], s[1], legacy);
                let c = self.f(s[2]);
                let mut sum = self.b.ins().fadd(product, c);
                let factor = match op {
                    MuladdM2 | MuladdIeeeM2 => Some(2.0),
                    MuladdM4 | MuladdIeeeM4 => Some(4.0),
                    MuladdD2 | MuladdIeeeD2 => Some(0.5),
                    _ => None,
                };
                if let Some(factor) = factor {
                    let factor = self.fsplat(factor);
                    sum = self.b.ins().fmul(sum, factor);
                }
                self.flushed(sum)
            }
            Max => {
                let mask = self.compare(FloatCC::GreaterThanOrEqual, s[0], s[1]);
                self.select(mask, s[0], s[1])
            }
            Min => {
                let mask = self.compare(FloatCC::LessThan, s[0], s[1]);
                self.select(mask, s[0], s[1])
            }
            MaxDx10 | MinDx10 => {
                let how = match op {
                    MaxDx10 => FloatCC::GreaterThanOrEqual,
                    _ => FloatCC::LessThan,
                };
                let mask = self.compare(how, s[0], s[1]);
                let nan = self.compare(FloatCC::Unordered, s[1], s[1]);
                let mask = self.b.ins().bor(mask, nan);
                self.select(mask, s[0], s[1])
            }
            Fract => {
                let x = self.f(s[0]);
                let floor = self.b.ins().floor(x);
                let fract = self.b.ins().fsub(x, floor);
                self.flushed(fract)
            }
            Trunc | Ceil | Rndne | Floor => {
                let x = self.f(s[0]);
                let x = match op {
                    Trunc => self.b.ins().trunc(x),
                    Ceil => self.b.ins().ceil(x),
                    Rndne => self.b.ins().nearest(x),
                    _ => self.b.ins().floor(x),
                };
                self.i(x)
            }
            RecipIeee => {
                let (one, x) = (self.fsplat(1.0), self.f(s[0]));
                let quotient = self.b.ins().fdiv(one, x);
                self.flushed(quotient)
            }
            SqrtIeee => {
                let x = self.f(s[0]);
                let root = self.b.ins().sqrt(x);
                self.i(root)
            }
            FltToInt => {
                let x = self.f(s[0]);
                self.b.ins().fcvt_to_sint_sat(types::I32X4, x)
            }
            FltToUint => {
                let x = self.f(s[0]);
                self.b.ins().fcvt_to_uint_sat(types::I32X4, x)
            }
            IntToFlt => {
                let x = self.b.ins().fcvt_from_sint(types::F32X4, s[0]);
                self.i(x)
            }
            UintToFlt => {
                let x = self.b.ins().fcvt_from_uint(types::F32X4, s[0]);
                self.i(x)
            }
            AndInt => self.b.ins().band(s[0], s[1]),
            OrInt => self.b.ins().bor(s[0], s[1]),
            XorInt => self.b.ins().bxor(s[0], s[1]),
            NotInt => self.b.ins().bnot(s[0]),
            AddInt => self.b.ins().iadd(s[0], s[1]),
            SubInt => self.b.ins().isub(s[0], s[1]),
            MaxInt => self.b.ins().smax(s[0], s[1]),
            MinInt => self.b.ins().smin(s[0], s[1]),
            MaxUint => self.b.ins().umax(s[0], s[1]),
            MinUint => self.b.ins().umin(s[0], s[1]),
            MulloInt | MulloUint => self.b.ins().imul(s[0], s[1]),
            Cnde => {
                let exponent = self.splat(0x7f80_0000);
                let found = self.b.ins().band(s[0], exponent);
                let zero = self.splat(0);
                let mask = self.icompare(IntCC::Equal, found, zero);
                self.select(mask, s[1], s[2])
            }
            Cndgt | Cndge => {
                let (how, limit) = match op {
                    Cndgt => (FloatCC::GreaterThanOrEqual, f32::MIN_POSITIVE),
                    _ => (FloatCC::GreaterThan, -f32::MIN_POSITIVE),
                };
                let limit = self.splat(limit.to_bits());
                let mask = self.compare(how, s[0], limit);
                self.select(mask, s[1], s[2])
            }
            CndeInt | CndgtInt | CndgeInt => {
                let how = match op {
                    CndeInt => IntCC::Equal,
                    CndgtInt => IntCC::SignedGreaterThan,
                    _ => IntCC::SignedGreaterThanOrEqual,
                };
                let zero = self.splat(0);
                let mask = self.icompare(how, s[0], zero);
                self.select(mask, s[1], s[2])
            }
            other => return Err(Unsupported(other.name().into())),
        };
        Ok((bits, None))
    }

    fn flushed(&mut self, float: Value) -> Value {
        let bits = self.i(float);
        self.flush(bits)
    }

    /// Stores what the clause leaves.
    fn end(&mut self, masks: Value, offset: Value) {
        let dirty: Vec<u16> = self.dirty.keys().copied().collect();
        for row in dirty {
            if !self.facts.live[usize::from(row)] {
                continue;
            }
            let mut bits = self.current[&row].bits;
            let (at, place) = (self.at, i32::from(row) * 256);
            if let Some(entry) = self.entry {
                let held = self.b.ins().load(types::I32X4, trusted(), at, place);
                bits = self.select(entry, bits, held);
            }
            self.b.ins().store(trusted(), bits, at, place);
        }
        let outcomes = [
            (self.exec.filter(|_| self.changed), 512),
            (self.pred, 528),
            (self.kill, 544),
        ];
        for (mask, place) in outcomes {
            if let Some(mask) = mask {
                // Four lanes in each byte.
                let bits = self.b.ins().vhigh_bits(types::I32, mask);
                let number = self.b.ins().ushr_imm(offset, 4);
                let at = self.b.ins().iadd(masks, number);
                self.b.ins().istore8(trusted(), bits, at, place);
            }
        }
    }
}

fn trusted() -> MemFlags {
    MemFlags::trusted()
}

fn little() -> MemFlags {
    MemFlags::new().with_endianness(cranelift_codegen::ir::Endianness::Little)
}
