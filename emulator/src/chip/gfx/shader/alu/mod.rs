// SPDX-License-Identifier: MIT
//! Runs ALU clauses.
//!
//! Semantics: AMD "R700-Family Instruction Set Architecture", chapter 9. Where
//! its text does not define the bits of a result:
//!
//! - Denormals are zero, as operands and as results. R700 has no control for
//!   them (Evergreen added `SINGLE_DENORM_IN/OUT` in `SQ_PGM_RESOURCES_2`) and
//!   AMD's OpenCL never reported `CL_FP_DENORM` for RV770. Moves, selects and
//!   integer operations pass bits unchanged.
//! - Results are rounded to nearest even; `MULADD` rounds the product too.
//! - `DOT4` adds its products from x to w.
//! - The payload of a NaN is not defined.
//!
//! Operations copy chunks of 16 lanes to locals, so a destination may be one of
//! the operands. The compiler vectorises the loops; [`Clause`] enters them with
//! AVX2 if the host has it.

#[macro_use]
mod chunk;
mod double;
mod four;
mod interpolate;
mod local;
mod own;
mod plain;
mod relative;

use std::collections::VecDeque;

use pulp::{Simd, WithSimd};

use chunk::{
    f, flush_chunk, is_zero, load, mul_legacy, mul_lit, rndne, select, store, Chunk, Post, CHUNK,
    ONE,
};
use double::double;
use four::four;
use interpolate::{interpolate, interpolate_quads};
pub(super) use plain::is_plain;
use plain::plain;
use relative::{gather_const, gather_gpr, index_of, load_ar, scatter, ConstGather};

use super::env::Env;
use super::ops::AluOp;
use super::step::{AluClause, Slot, Step, Wide, ROW_EXEC, ROW_SELECT};
use crate::chip::gfx::lanes::{expand, has_denormals, Lanes, Mask, LANES};
use crate::chip::gfx::math;

/// The state of a wave that a clause uses and changes.
pub(super) struct State<'a> {
    pub rows: &'a mut [Lanes],
    /// Address register, by component.
    pub ar: &'a mut [[i32; LANES]; 4],
    /// Index registers of resources and constant buffers (R800).
    pub index: &'a mut [u32; 2],
    /// Results of the local data share (R800).
    pub queue: &'a mut VecDeque<Lanes>,
    /// Loop index.
    pub al: i32,
    pub exec: Mask,
    /// Lanes whose registers are in use: those of other lanes may be overwritten.
    pub live: Mask,
    pub pred: Mask,
    pub killed: Mask,
    /// True if a loaded value is a denormal.
    pub denormals: bool,
}

/// A clause to run.
pub(super) struct Clause<'a, 'b> {
    pub clause: &'a AluClause,
    /// The program's operations that steps refer to.
    pub wide: &'a [Wide],
    pub dx10_clamp: bool,
    /// Instructions that the wave executed before.
    pub begun: u64,
    pub state: State<'b>,
    pub env: &'a mut dyn Env,
}

/// Masks after a clause: lanes that continue, predicates, killed lanes.
pub(super) struct Outcome {
    pub exec: Mask,
    pub pred: Mask,
    pub killed: Mask,
}

impl WithSimd for Clause<'_, '_> {
    type Output = Outcome;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _simd: S) -> Outcome {
        run(self)
    }
}

#[inline(always)]
fn run(job: Clause<'_, '_>) -> Outcome {
    let Clause {
        clause,
        wide: wides,
        dx10_clamp,
        begun,
        state,
        env,
    } = job;
    let State {
        rows,
        ar,
        index,
        queue,
        al,
        mut exec,
        live,
        mut pred,
        mut killed,
        denormals,
    } = state;
    let level = if denormals { 1 } else { 2 };
    let (mut next_exec, mut next_pred) = (exec, pred);
    let mut mask = None;
    if exec != live {
        rows[ROW_EXEC as usize] = expand(exec);
        mask = Some(ROW_EXEC);
    }
    for step in &clause.steps {
        match step {
            Step::Alu(slot) if slot.plain && level == 2 => plain(rows, slot, mask),
            Step::Alu(slot) => {
                let mut post = Post {
                    omod: slot.omod,
                    clamp: slot.clamp,
                    dx10_clamp,
                    mask,
                };
                let mut active = exec;
                if slot.pred_sel >= 2 {
                    active = predicated(rows, slot.pred_sel, exec, pred);
                    post.mask = Some(ROW_SELECT);
                }
                if let Some(passed) = alu(rows, ar, slot, post, level) {
                    if slot.op.is_kill() {
                        killed |= passed & active;
                    } else {
                        if slot.update_pred {
                            next_pred = (next_pred & !active) | (passed & active);
                        }
                        if slot.update_exec {
                            next_exec &= passed | !active;
                        }
                    }
                }
            }
            Step::Wide(index) => {
                let wide = &wides[*index as usize];
                let mut post = Post {
                    omod: wide.omod,
                    clamp: wide.clamp,
                    dx10_clamp,
                    mask,
                };
                let mut active = exec;
                if wide.pred_sel >= 2 {
                    active = predicated(rows, wide.pred_sel, exec, pred);
                    post.mask = Some(ROW_SELECT);
                }
                if wide.op.is_double() {
                    let passed = double(rows, wide, &post);
                    if wide.op.is_pred() {
                        if wide.update_pred {
                            next_pred = (next_pred & !active) | (passed & active);
                        }
                        if wide.update_exec {
                            next_exec &= passed | !active;
                        }
                    }
                } else {
                    four(rows, wide, &post, level);
                }
            }
            Step::GatherGpr {
                base,
                chan,
                mode,
                dst,
            } => gather_gpr(rows, ar, al, *base, *chan, *mode, *dst),
            Step::Interpolate(item) => {
                let mut post = Post {
                    omod: 0,
                    clamp: item.clamp,
                    dx10_clamp,
                    mask,
                };
                if item.pred_sel >= 2 {
                    predicated(rows, item.pred_sel, exec, pred);
                    post.mask = Some(ROW_SELECT);
                }
                let (index, chan) = (item.parameter.into(), item.chan);
                match env.parameter(index, chan) {
                    Some(parts) => interpolate(rows, item, parts, &post),
                    None => {
                        let quads = env.quad_parameters(index, chan);
                        interpolate_quads(rows, item, &quads, &post);
                    }
                }
            }
            Step::Lds(item) => {
                let active = match item.pred_sel {
                    2 => exec & !pred,
                    3 => exec & pred,
                    _ => exec,
                };
                local::access(rows, item, env.local_share(), active, queue);
            }
            Step::LdsQueue { dst, pop } => {
                let first = match pop {
                    true => queue.pop_front(),
                    false => queue.front().copied(),
                };
                rows[*dst as usize] = first.unwrap_or([0; LANES]);
            }
            Step::Time { dst, high, slots } => {
                let time = begun + u64::from(*slots);
                rows[*dst as usize].fill((time >> if *high { 32 } else { 0 }) as u32);
            }
            Step::SetIndex { which, from } => {
                let lane = exec.trailing_zeros() as usize & 63;
                let value = match from {
                    None => ar[0][lane],
                    Some(src) => ((rows[src.row as usize][lane] & src.and) ^ src.xor) as i32,
                };
                index[usize::from(*which & 1)] = value.max(0) as u32;
            }
            Step::GatherConst {
                bank,
                bank_index,
                base,
                scale,
                chan,
                mode,
                dst,
            } => {
                let moved = match bank_index {
                    0 => 0,
                    which => index[usize::from(which - 1 & 1)],
                };
                let gather = ConstGather {
                    bank: bank.map(|bank| (u32::from(bank) + moved).min(255) as u8),
                    base: *base,
                    scale: *scale,
                    chan: *chan,
                };
                let out = &mut rows[*dst as usize];
                gather_const(env, &gather, index_of(ar, al, *mode), exec, out);
            }
            Step::Scatter {
                base,
                chan,
                mode,
                src,
                pred_sel,
            } => {
                let active = match pred_sel {
                    2 => exec & !pred,
                    3 => exec & pred,
                    _ => exec,
                };
                scatter(rows, ar, al, *base, *chan, *mode, *src, active);
            }
            Step::Copy { from, to, pred_sel } => {
                let mut post = Post {
                    omod: 0,
                    clamp: false,
                    dx10_clamp,
                    mask,
                };
                if *pred_sel >= 2 {
                    predicated(rows, *pred_sel, exec, pred);
                    post.mask = Some(ROW_SELECT);
                }
                for at in 0..LANES / CHUNK {
                    let mut chunk: Chunk = [0; CHUNK];
                    chunk.copy_from_slice(&rows[*from as usize][at * CHUNK..(at + 1) * CHUNK]);
                    store(rows, *to, &post, at, chunk);
                }
            }
            Step::Commit => {
                pred = next_pred;
                if next_exec != exec {
                    exec = next_exec;
                    rows[ROW_EXEC as usize] = expand(exec);
                    mask = Some(ROW_EXEC);
                }
            }
        }
    }
    Outcome { exec, pred, killed }
}

/// Fills [`ROW_SELECT`] for a step with `pred_sel`; returns its lanes.
#[inline(always)]
fn predicated(rows: &mut [Lanes], pred_sel: u8, exec: Mask, pred: Mask) -> Mask {
    let active = exec & if pred_sel == 2 { !pred } else { pred };
    rows[ROW_SELECT as usize] = expand(active);
    active
}
/// The general path of the common operations: with modifiers, or not in all lanes.
macro_rules! general {
    ($rows:ident, $slot:ident, $post:ident, $level:ident, keep, |$a:ident| $result:expr) => {
        op1!($rows, $slot, $post, $level, |$a| $result)
    };
    ($rows:ident, $slot:ident, $post:ident, $level:ident, $flush:ident, |$a:ident, $b:ident| $result:expr) => {
        op2!($rows, $slot, $post, $level, $flush, |$a, $b| $result)
    };
    ($rows:ident, $slot:ident, $post:ident, $level:ident, $flush:ident, |$a:ident, $b:ident, $c:ident| $result:expr) => {
        op3!($rows, $slot, $post, $level, $flush, |$a, $b, $c| $result)
    };
}

/// Runs one operation. Returns the lanes that pass if it is a test.
#[inline(always)]
fn alu(
    rows: &mut [Lanes],
    ar: &mut [[i32; LANES]; 4],
    slot: &Slot,
    post: Post,
    level: u8,
) -> Option<Mask> {
    common_ops!(
        slot.op,
        general!(rows, slot, post, level),
        return special(rows, ar, slot, post, level)
    );
    None
}

/// [`alu`] for the operations that are not in `common_ops`.
#[inline(always)]
fn special(
    rows: &mut [Lanes],
    ar: &mut [[i32; LANES]; 4],
    slot: &Slot,
    post: Post,
    level: u8,
) -> Option<Mask> {
    use AluOp::*;
    match slot.op {
        Sete => op2!(rows, slot, post, level, keep, |a, b| select(
            f(a) == f(b),
            ONE,
            0
        )),
        Setgt => op2!(rows, slot, post, level, keep, |a, b| select(
            f(a) > f(b),
            ONE,
            0
        )),
        Setge => op2!(rows, slot, post, level, keep, |a, b| select(
            f(a) >= f(b),
            ONE,
            0
        )),
        Setne => op2!(rows, slot, post, level, keep, |a, b| select(
            f(a) != f(b),
            ONE,
            0
        )),
        SeteDx10 => op2!(rows, slot, post, level, keep, |a, b| select(
            f(a) == f(b),
            !0,
            0
        )),
        SetgtDx10 => op2!(rows, slot, post, level, keep, |a, b| select(
            f(a) > f(b),
            !0,
            0
        )),
        SetgeDx10 => op2!(rows, slot, post, level, keep, |a, b| select(
            f(a) >= f(b),
            !0,
            0
        )),
        SetneDx10 => op2!(rows, slot, post, level, keep, |a, b| select(
            f(a) != f(b),
            !0,
            0
        )),
        Fract => op1!(rows, slot, post, level, |a| math::flush(
            (f(a) - f(a).floor()).to_bits()
        )),
        Trunc => op1!(rows, slot, post, level, |a| f(a).trunc().to_bits()),
        Ceil => op1!(rows, slot, post, level, |a| f(a).ceil().to_bits()),
        Rndne => op1!(rows, slot, post, level, |a| rndne(f(a)).to_bits()),
        Floor => op1!(rows, slot, post, level, |a| f(a).floor().to_bits()),
        Mova => {
            op1!(
                rows,
                slot,
                post,
                level,
                |a| ((f(a) + 0.5).floor() as i32).clamp(-256, 255) as u32
            );
            load_ar(rows, ar, slot);
        }
        MovaFloor => {
            op1!(
                rows,
                slot,
                post,
                level,
                |a| (f(a).floor() as i32).clamp(-256, 255) as u32
            );
            load_ar(rows, ar, slot);
        }
        MovaInt => {
            op1!(rows, slot, post, level, |a| (a as i32).clamp(-256, 255)
                as u32);
            load_ar(rows, ar, slot);
        }
        AndInt => op2!(rows, slot, post, level, keep, |a, b| a & b),
        OrInt => op2!(rows, slot, post, level, keep, |a, b| a | b),
        XorInt => op2!(rows, slot, post, level, keep, |a, b| a ^ b),
        NotInt => op1!(rows, slot, post, level, |a| !a),
        AddInt => op2!(rows, slot, post, level, keep, |a, b| a.wrapping_add(b)),
        SubInt => op2!(rows, slot, post, level, keep, |a, b| a.wrapping_sub(b)),
        MaxInt => op2!(
            rows,
            slot,
            post,
            level,
            keep,
            |a, b| (a as i32).max(b as i32) as u32
        ),
        MinInt => op2!(
            rows,
            slot,
            post,
            level,
            keep,
            |a, b| (a as i32).min(b as i32) as u32
        ),
        MaxUint => op2!(rows, slot, post, level, keep, |a, b| a.max(b)),
        MinUint => op2!(rows, slot, post, level, keep, |a, b| a.min(b)),
        SeteInt => op2!(rows, slot, post, level, keep, |a, b| select(a == b, !0, 0)),
        SetgtInt => op2!(rows, slot, post, level, keep, |a, b| select(
            a as i32 > b as i32,
            !0,
            0
        )),
        SetgeInt => op2!(rows, slot, post, level, keep, |a, b| select(
            a as i32 >= b as i32,
            !0,
            0
        )),
        SetneInt => op2!(rows, slot, post, level, keep, |a, b| select(a != b, !0, 0)),
        SetgtUint => op2!(rows, slot, post, level, keep, |a, b| select(a > b, !0, 0)),
        SetgeUint => op2!(rows, slot, post, level, keep, |a, b| select(a >= b, !0, 0)),
        ExpIeee => op1!(rows, slot, post, level, |a| math::exp2(f(a)).to_bits()),
        LogClamped => op1!(rows, slot, post, level, |a| math::clamp_infinite(
            math::log2(f(a))
        )
        .to_bits()),
        LogIeee => op1!(rows, slot, post, level, |a| math::log2(f(a)).to_bits()),
        RecipClamped => op1!(rows, slot, post, level, |a| math::clamp_infinite(
            math::recip(f(a))
        )
        .to_bits()),
        RecipFf => op1!(rows, slot, post, level, |a| math::zero_infinite(
            math::recip(f(a))
        )
        .to_bits()),
        RecipsqrtClamped => op1!(rows, slot, post, level, |a| math::clamp_infinite(
            math::rsqrt(f(a))
        )
        .to_bits()),
        RecipsqrtFf => op1!(rows, slot, post, level, |a| math::zero_infinite(
            math::rsqrt(f(a))
        )
        .to_bits()),
        RecipsqrtIeee => op1!(rows, slot, post, level, |a| math::rsqrt(f(a)).to_bits()),
        SqrtIeee => op1!(rows, slot, post, level, |a| f(a).sqrt().to_bits()),
        FltToInt => op1!(rows, slot, post, level, |a| f(a) as i32 as u32),
        FltToUint => op1!(rows, slot, post, level, |a| f(a) as u32),
        IntToFlt => op1!(rows, slot, post, level, |a| (a as i32 as f32).to_bits()),
        UintToFlt => op1!(rows, slot, post, level, |a| (a as f32).to_bits()),
        Sin => op1!(rows, slot, post, level, |a| math::sin_turns(f(a)).to_bits()),
        Cos => op1!(rows, slot, post, level, |a| math::cos_turns(f(a)).to_bits()),
        SinRadians => op1!(rows, slot, post, level, |a| math::sin_radians(f(a))
            .to_bits()),
        CosRadians => op1!(rows, slot, post, level, |a| math::cos_radians(f(a))
            .to_bits()),
        AshrInt => op2!(rows, slot, post, level, keep, |a, b| (a as i32 >> (b & 31))
            as u32),
        LshrInt => op2!(rows, slot, post, level, keep, |a, b| a >> (b & 31)),
        LshlInt => op2!(rows, slot, post, level, keep, |a, b| a << (b & 31)),
        MulloInt | MulloUint => {
            op2!(rows, slot, post, level, keep, |a, b| a.wrapping_mul(b))
        }
        MulhiInt => op2!(rows, slot, post, level, keep, |a, b| {
            ((i64::from(a as i32) * i64::from(b as i32)) >> 32) as u32
        }),
        MulhiUint => op2!(rows, slot, post, level, keep, |a, b| {
            ((u64::from(a) * u64::from(b)) >> 32) as u32
        }),
        RecipInt => op1!(rows, slot, post, level, |a| math::recip_int(a as i32)
            as u32),
        RecipUint => op1!(rows, slot, post, level, |a| math::recip_uint(a)),
        MulLit => op3!(rows, slot, post, level, flush, |a, b, c| mul_lit(a, b, c)
            .to_bits()),
        MulLitM2 => op3!(rows, slot, post, level, flush, |a, b, c| {
            (mul_lit(a, b, c) * 2.0).to_bits()
        }),
        MulLitM4 => op3!(rows, slot, post, level, flush, |a, b, c| {
            (mul_lit(a, b, c) * 4.0).to_bits()
        }),
        MulLitD2 => op3!(rows, slot, post, level, flush, |a, b, c| {
            (mul_lit(a, b, c) * 0.5).to_bits()
        }),
        MuladdM2 => op3!(rows, slot, post, level, flush, |a, b, c| {
            ((mul_legacy(a, b) + f(c)) * 2.0).to_bits()
        }),
        MuladdM4 => op3!(rows, slot, post, level, flush, |a, b, c| {
            ((mul_legacy(a, b) + f(c)) * 4.0).to_bits()
        }),
        MuladdD2 => op3!(rows, slot, post, level, flush, |a, b, c| {
            ((mul_legacy(a, b) + f(c)) * 0.5).to_bits()
        }),
        MuladdIeeeM2 => op3!(rows, slot, post, level, flush, |a, b, c| {
            ((f(a) * f(b) + f(c)) * 2.0).to_bits()
        }),
        MuladdIeeeM4 => op3!(rows, slot, post, level, flush, |a, b, c| {
            ((f(a) * f(b) + f(c)) * 4.0).to_bits()
        }),
        MuladdIeeeD2 => op3!(rows, slot, post, level, flush, |a, b, c| {
            ((f(a) * f(b) + f(c)) * 0.5).to_bits()
        }),
        Cnde => op3!(rows, slot, post, level, keep, |a, b, c| select(
            is_zero(a),
            b,
            c
        )),
        Cndgt => op3!(rows, slot, post, level, keep, |a, b, c| select(
            f(a) >= f32::MIN_POSITIVE,
            b,
            c
        )),
        Cndge => op3!(rows, slot, post, level, keep, |a, b, c| select(
            f(a) > -f32::MIN_POSITIVE,
            b,
            c
        )),
        CndeInt => op3!(rows, slot, post, level, keep, |a, b, c| select(
            a == 0,
            b,
            c
        )),
        CndgtInt => op3!(rows, slot, post, level, keep, |a, b, c| select(
            a as i32 > 0,
            b,
            c
        )),
        CndgeInt => op3!(rows, slot, post, level, keep, |a, b, c| select(
            a as i32 >= 0,
            b,
            c
        )),
        Kille => return Some(test!(rows, slot, post, level, |a, b| f(a) == f(b), ONE, 0)),
        Killgt => return Some(test!(rows, slot, post, level, |a, b| f(a) > f(b), ONE, 0)),
        Killge => return Some(test!(rows, slot, post, level, |a, b| f(a) >= f(b), ONE, 0)),
        Killne => return Some(test!(rows, slot, post, level, |a, b| f(a) != f(b), ONE, 0)),
        KillgtUint => return Some(test!(rows, slot, post, level, |a, b| a > b, ONE, 0)),
        KillgeUint => return Some(test!(rows, slot, post, level, |a, b| a >= b, ONE, 0)),
        KilleInt => return Some(test!(rows, slot, post, level, |a, b| a == b, ONE, 0)),
        KillgtInt => {
            return Some(test!(
                rows,
                slot,
                post,
                level,
                |a, b| a as i32 > b as i32,
                ONE,
                0
            ))
        }
        KillgeInt => {
            return Some(test!(
                rows,
                slot,
                post,
                level,
                |a, b| a as i32 >= b as i32,
                ONE,
                0
            ))
        }
        KillneInt => return Some(test!(rows, slot, post, level, |a, b| a != b, ONE, 0)),
        PredSete => return Some(test!(rows, slot, post, level, |a, b| f(a) == f(b), 0, ONE)),
        PredSetgt => return Some(test!(rows, slot, post, level, |a, b| f(a) > f(b), 0, ONE)),
        PredSetge => return Some(test!(rows, slot, post, level, |a, b| f(a) >= f(b), 0, ONE)),
        PredSetne => return Some(test!(rows, slot, post, level, |a, b| f(a) != f(b), 0, ONE)),
        PredSetgtUint => return Some(test!(rows, slot, post, level, |a, b| a > b, 0, ONE)),
        PredSetgeUint => return Some(test!(rows, slot, post, level, |a, b| a >= b, 0, ONE)),
        PredSeteInt => return Some(test!(rows, slot, post, level, |a, b| a == b, 0, ONE)),
        PredSetgtInt => {
            return Some(test!(
                rows,
                slot,
                post,
                level,
                |a, b| a as i32 > b as i32,
                0,
                ONE
            ))
        }
        PredSetgeInt => {
            return Some(test!(
                rows,
                slot,
                post,
                level,
                |a, b| a as i32 >= b as i32,
                0,
                ONE
            ))
        }
        PredSetneInt => return Some(test!(rows, slot, post, level, |a, b| a != b, 0, ONE)),
        _ => return own::r800(rows, slot, post, level),
    }
    None
}
/// The predicate operations that count nesting levels in a register.
#[inline(never)]
fn counter(rows: &mut [Lanes], slot: &Slot, post: Post, level: u8) -> Option<Mask> {
    use AluOp::*;
    let up = |a: u32| math::flush((f(a) + 1.0).to_bits());
    Some(match slot.op {
        PredSetInv => test!(
            rows,
            slot,
            post,
            level,
            |a, _b| f(a) == 1.0,
            0,
            select(is_zero(a), ONE, a)
        ),
        PredSetPop => test!(
            rows,
            slot,
            post,
            level,
            |a, b| f(a) <= f(b),
            0,
            math::flush((f(a) - f(b)).to_bits())
        ),
        PredSetClr => test!(
            rows,
            slot,
            post,
            level,
            |_a, _b| false,
            0,
            f32::MAX.to_bits()
        ),
        PredSetRestore => test!(rows, slot, post, level, |a, _b| is_zero(a), 0, a),
        PredSetePush => {
            test!(
                rows,
                slot,
                post,
                level,
                |a, b| f(b) == 0.0 && f(a) == 0.0,
                0,
                up(a)
            )
        }
        PredSetgtPush => {
            test!(
                rows,
                slot,
                post,
                level,
                |a, b| f(b) > 0.0 && f(a) == 0.0,
                0,
                up(a)
            )
        }
        PredSetgePush => {
            test!(
                rows,
                slot,
                post,
                level,
                |a, b| f(b) >= 0.0 && f(a) == 0.0,
                0,
                up(a)
            )
        }
        PredSetnePush => {
            test!(
                rows,
                slot,
                post,
                level,
                |a, b| f(b) != 0.0 && f(a) == 0.0,
                0,
                up(a)
            )
        }
        PredSetePushInt => test!(rows, slot, post, level, |a, b| b == 0 && a == 0, 0, up(a)),
        PredSetgtPushInt => {
            test!(
                rows,
                slot,
                post,
                level,
                |a, b| b as i32 > 0 && a == 0,
                0,
                up(a)
            )
        }
        PredSetgePushInt => {
            test!(
                rows,
                slot,
                post,
                level,
                |a, b| b as i32 >= 0 && a == 0,
                0,
                up(a)
            )
        }
        PredSetnePushInt => test!(rows, slot, post, level, |a, b| b != 0 && a == 0, 0, up(a)),
        PredSetltPushInt => {
            test!(
                rows,
                slot,
                post,
                level,
                |a, b| (b as i32) < 0 && a == 0,
                0,
                up(a)
            )
        }
        PredSetlePushInt => {
            test!(
                rows,
                slot,
                post,
                level,
                |a, b| b as i32 <= 0 && a == 0,
                0,
                up(a)
            )
        }
        _ => return None,
    })
}
/// Checks rows for denormals.
pub(super) struct FindDenormals<'a> {
    pub rows: &'a [Lanes],
    /// Numbers of the rows to check.
    pub which: &'a [u32],
}

impl WithSimd for FindDenormals<'_> {
    type Output = bool;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _simd: S) -> bool {
        (self.which.iter()).any(|row| has_denormals(&self.rows[*row as usize]))
    }
}
