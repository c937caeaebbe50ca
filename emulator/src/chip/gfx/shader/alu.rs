// SPDX-License-Identifier: MIT
//! Runs ALU clauses.
//!
//! Semantics: AMD "R700-Family Instruction Set Architecture", chapter 9. Where
//! its text leaves bits open:
//!
//! - Denormals are zero, as operands and as results. R700 has no control for
//!   them (Evergreen added `SINGLE_DENORM_IN/OUT` in `SQ_PGM_RESOURCES_2`) and
//!   AMD's OpenCL never reported `CL_FP_DENORM` for RV770. Moves, selects and
//!   integer operations pass bits unchanged.
//! - Results are rounded to nearest even; `MULADD` rounds the product too.
//! - `DOT4` adds its products from x to w.
//! - The payload of a NaN is not defined.
//!
//! Work is done in chunks of 16 lanes held in locals, so that a destination
//! may be one of the operands. The loops are written for the compiler to
//! vectorise; [`Clause`] enters them with AVX2 where the host has it.

use pulp::{Simd, WithSimd};

use super::env::Env;
use super::math;
use super::ops::AluOp;
use super::program::{AluClause, Program, Slot, Src, Step, Wide, ROW_EXEC, ROW_SELECT};
use crate::chip::gfx::lanes::{Lanes, Mask, LANES};

/// Lanes worked on at a time.
const CHUNK: usize = 16;
type Chunk = [u32; CHUNK];

const ONE: u32 = 0x3f80_0000;

/// What a clause changes of a wave.
pub(super) struct State<'a> {
    pub rows: &'a mut [Lanes],
    /// Address register, by component.
    pub ar: &'a mut [[i32; LANES]; 4],
    /// Loop index.
    pub al: i32,
    pub exec: Mask,
    /// Lanes that ran at the start: the others' registers are free.
    pub live: Mask,
    pub pred: Mask,
    pub killed: Mask,
    /// True if anything loaded held a denormal.
    pub denormals: bool,
}

/// A clause to run.
pub(super) struct Clause<'a, 'b> {
    pub program: &'a Program,
    pub clause: &'a AluClause,
    pub state: State<'b>,
    pub env: &'a mut dyn Env,
}

/// What a clause leaves: the lanes that run on, predicates, killed lanes.
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

/// Expands `mask` into a row.
#[inline(always)]
pub(super) fn expand(mask: Mask, row: &mut Lanes) {
    for (half, lanes) in row.chunks_exact_mut(32).enumerate() {
        let word = (mask >> (32 * half)) as u32;
        for (i, lane) in lanes.iter_mut().enumerate() {
            *lane = (word >> i & 1).wrapping_neg();
        }
    }
}

#[inline(always)]
fn f(bits: u32) -> f32 {
    f32::from_bits(bits)
}

/// The product in which zero wins over everything, NaN and infinity too.
#[inline(always)]
fn mul_legacy(a: u32, b: u32) -> f32 {
    let product = f(a) * f(b);
    if f(a) == 0.0 || f(b) == 0.0 {
        0.0
    } else {
        product
    }
}

#[inline(always)]
fn select(condition: bool, yes: u32, no: u32) -> u32 {
    if condition {
        yes
    } else {
        no
    }
}

/// True for zeros and denormals.
#[inline(always)]
fn is_zero(bits: u32) -> bool {
    bits & 0x7f80_0000 == 0
}

/// `MUL_LIT` (AMD, R700 ISA).
#[inline(always)]
fn mul_lit(a: u32, b: u32, c: u32) -> f32 {
    let (x, y) = (f(b), f(c));
    if x == f32::MIN || x == f32::NEG_INFINITY || x.is_nan() || y <= 0.0 || y.is_nan() {
        f32::MIN
    } else {
        mul_legacy(a, b)
    }
}

#[inline(always)]
fn rndne(x: f32) -> f32 {
    x.round_ties_even()
}

/// Reads chunk `at` of an operand with its modifiers.
#[inline(always)]
fn load(rows: &[Lanes], src: &Src, at: usize, level: u8) -> Chunk {
    let row = &rows[src.row as usize];
    let mut chunk: Chunk = [0; CHUNK];
    chunk.copy_from_slice(&row[at * CHUNK..(at + 1) * CHUNK]);
    for lane in &mut chunk {
        *lane = (*lane & src.and) ^ src.xor;
    }
    if src.flush as u8 >= level {
        for lane in &mut chunk {
            *lane = math::flush(*lane);
        }
    }
    chunk
}

/// Output modifiers of a step.
#[derive(Clone, Copy)]
struct Post {
    omod: u8,
    clamp: bool,
    dx10_clamp: bool,
    /// Row of the lanes to write, if not all.
    mask: Option<u32>,
}

/// Applies output modifiers and writes chunk `at` of row `dst`.
#[inline(always)]
fn store(rows: &mut [Lanes], dst: u32, post: &Post, at: usize, mut chunk: Chunk) {
    if post.omod != 0 || post.clamp {
        modify(&mut chunk, post);
    }
    if let Some(mask) = post.mask {
        let mask = &rows[mask as usize][at * CHUNK..(at + 1) * CHUNK];
        let held = &rows[dst as usize][at * CHUNK..(at + 1) * CHUNK];
        for i in 0..CHUNK {
            chunk[i] = (chunk[i] & mask[i]) | (held[i] & !mask[i]);
        }
    }
    rows[dst as usize][at * CHUNK..(at + 1) * CHUNK].copy_from_slice(&chunk);
}

#[inline(always)]
fn modify(chunk: &mut Chunk, post: &Post) {
    if post.omod != 0 {
        let factor = match post.omod {
            1 => 2.0,
            2 => 4.0,
            _ => 0.5,
        };
        for lane in chunk.iter_mut() {
            *lane = (f(*lane) * factor).to_bits();
        }
    }
    if post.clamp {
        if post.dx10_clamp {
            for lane in chunk.iter_mut() {
                let x = f(*lane);
                // False for NaN, which becomes 0.
                let x = if x > 0.0 { x } else { 0.0 };
                *lane = (if x < 1.0 { x } else { 1.0 }).to_bits();
            }
        } else {
            for lane in chunk.iter_mut() {
                let x = f(*lane);
                let x = if x < 0.0 { 0.0 } else { x };
                *lane = (if x > 1.0 { 1.0 } else { x }).to_bits();
            }
        }
    }
    for lane in chunk.iter_mut() {
        *lane = math::flush(*lane);
    }
}

#[inline(always)]
fn flush_chunk(chunk: &mut Chunk) {
    for lane in chunk.iter_mut() {
        *lane = math::flush(*lane);
    }
}

/// One operand to one result, as bits.
macro_rules! op1 {
    ($rows:ident, $slot:ident, $post:ident, $level:ident, |$a:ident| $result:expr) => {
        for at in 0..LANES / CHUNK {
            let a = load($rows, &$slot.src[0], at, $level);
            let mut r: Chunk = [0; CHUNK];
            for i in 0..CHUNK {
                let $a = a[i];
                r[i] = $result;
            }
            store($rows, $slot.dst, &$post, at, r);
        }
    };
}

macro_rules! op2 {
    ($rows:ident, $slot:ident, $post:ident, $level:ident, $flush:ident, |$a:ident, $b:ident| $result:expr) => {
        for at in 0..LANES / CHUNK {
            let a = load($rows, &$slot.src[0], at, $level);
            let b = load($rows, &$slot.src[1], at, $level);
            let mut r: Chunk = [0; CHUNK];
            for i in 0..CHUNK {
                let ($a, $b) = (a[i], b[i]);
                r[i] = $result;
            }
            op2!(@$flush r);
            store($rows, $slot.dst, &$post, at, r);
        }
    };
    (@flush $r:ident) => { flush_chunk(&mut $r) };
    (@keep $r:ident) => {};
}

macro_rules! op3 {
    ($rows:ident, $slot:ident, $post:ident, $level:ident, $flush:ident, |$a:ident, $b:ident, $c:ident| $result:expr) => {
        for at in 0..LANES / CHUNK {
            let a = load($rows, &$slot.src[0], at, $level);
            let b = load($rows, &$slot.src[1], at, $level);
            let c = load($rows, &$slot.src[2], at, $level);
            let mut r: Chunk = [0; CHUNK];
            for i in 0..CHUNK {
                let ($a, $b, $c) = (a[i], b[i], c[i]);
                r[i] = $result;
            }
            op2!(@$flush r);
            store($rows, $slot.dst, &$post, at, r);
        }
    };
}

/// A test of two operands; gives the mask of lanes that pass. `$yes` and
/// `$no` are the results.
macro_rules! test {
    ($rows:ident, $slot:ident, $post:ident, $level:ident, |$a:ident, $b:ident| $test:expr, $yes:expr, $no:expr) => {{
        let mut passed: Mask = 0;
        for at in 0..LANES / CHUNK {
            let a = load($rows, &$slot.src[0], at, $level);
            let b = load($rows, &$slot.src[1], at, $level);
            let mut r: Chunk = [0; CHUNK];
            let mut m: Chunk = [0; CHUNK];
            for i in 0..CHUNK {
                let ($a, $b) = (a[i], b[i]);
                let pass = $test;
                r[i] = select(pass, $yes, $no);
                m[i] = u32::from(pass) << i;
            }
            store($rows, $slot.dst, &$post, at, r);
            let bits = m.iter().fold(0, |all, bit| all | bit);
            passed |= Mask::from(bits) << (at * CHUNK);
        }
        passed
    }};
}

#[inline(always)]
fn run(job: Clause<'_, '_>) -> Outcome {
    let Clause {
        program,
        clause,
        state,
        env,
    } = job;
    let State {
        rows,
        ar,
        al,
        mut exec,
        live,
        mut pred,
        mut killed,
        denormals,
    } = state;
    let level = if denormals { 1 } else { 2 };
    let dx10_clamp = program.options.dx10_clamp;
    let (mut next_exec, mut next_pred) = (exec, pred);
    let mut mask = None;
    if exec != live {
        expand(exec, &mut rows[ROW_EXEC as usize]);
        mask = Some(ROW_EXEC);
    }
    for step in &clause.steps {
        match step {
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
                let wide = &program.wide[*index as usize];
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
            Step::GatherConst {
                bank,
                base,
                scale,
                chan,
                mode,
                dst,
            } => {
                let gather = ConstGather {
                    bank: *bank,
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
                    expand(exec, &mut rows[ROW_EXEC as usize]);
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
    expand(active, &mut rows[ROW_SELECT as usize]);
    active
}

#[inline(always)]
fn index_of<'a>(ar: &'a [[i32; LANES]; 4], al: i32, mode: u8) -> Index<'a> {
    match mode {
        0..=3 => Index::Lanes(&ar[usize::from(mode)]),
        4 => Index::All(al),
        5 => Index::All(0),
        _ => Index::Lanes(&ar[0]),
    }
}

/// A relative index: one for each lane or one for all.
enum Index<'a> {
    Lanes(&'a [i32; LANES]),
    All(i32),
}

impl Index<'_> {
    #[inline(always)]
    fn at(&self, lane: usize) -> i32 {
        match self {
            Index::Lanes(lanes) => lanes[lane],
            Index::All(index) => *index,
        }
    }
}

/// The row of GPR `base` + `index`, if there is such a GPR.
#[inline(always)]
fn relative_row(base: u8, chan: u8, index: i32) -> Option<usize> {
    let gpr = i32::from(base) + index;
    // The clause temporaries above 123 are not reached by an index.
    (0..124)
        .contains(&gpr)
        .then_some(gpr as usize * 4 + usize::from(chan))
}

#[inline(never)]
fn gather_gpr(
    rows: &mut [Lanes],
    ar: &[[i32; LANES]; 4],
    al: i32,
    base: u8,
    chan: u8,
    mode: u8,
    dst: u32,
) {
    let index = index_of(ar, al, mode);
    let mut out = [0; LANES];
    for (lane, out) in out.iter_mut().enumerate() {
        if let Some(row) = relative_row(base, chan, index.at(lane)) {
            *out = rows[row][lane];
        }
    }
    rows[dst as usize] = out;
}

#[inline(never)]
#[allow(clippy::too_many_arguments)]
fn scatter(
    rows: &mut [Lanes],
    ar: &[[i32; LANES]; 4],
    al: i32,
    base: u8,
    chan: u8,
    mode: u8,
    src: u32,
    active: Mask,
) {
    let index = index_of(ar, al, mode);
    let values = rows[src as usize];
    for lane in crate::chip::gfx::lanes::iter(active) {
        if let Some(row) = relative_row(base, chan, index.at(lane)) {
            rows[row][lane] = values[lane];
        }
    }
}

struct ConstGather {
    bank: Option<u8>,
    base: u32,
    scale: u32,
    chan: u8,
}

#[inline(never)]
fn gather_const(
    env: &mut dyn Env,
    gather: &ConstGather,
    index: Index<'_>,
    exec: Mask,
    out: &mut Lanes,
) {
    // Most lanes ask for the same vec4.
    let mut last: Option<(i64, [u32; 4])> = None;
    for lane in crate::chip::gfx::lanes::iter(exec) {
        let at = i64::from(gather.base) + i64::from(index.at(lane)) * i64::from(gather.scale);
        let vec4 = match last {
            Some((known, vec4)) if known == at => vec4,
            _ => match (u32::try_from(at), gather.bank) {
                (Ok(first), Some(bank)) => {
                    let mut out = [[0; 4]];
                    env.constants(bank.into(), first, &mut out);
                    out[0]
                }
                (Ok(first), None) if first < 256 => env.constant_file(first),
                _ => [0; 4],
            },
        };
        last = Some((at, vec4));
        out[lane] = vec4[usize::from(gather.chan)];
    }
}

/// Runs one operation; the lanes that pass, if it is a test.
#[inline(always)]
fn alu(
    rows: &mut [Lanes],
    ar: &mut [[i32; LANES]; 4],
    slot: &Slot,
    post: Post,
    level: u8,
) -> Option<Mask> {
    use AluOp::*;
    match slot.op {
        Add => op2!(rows, slot, post, level, flush, |a, b| (f(a) + f(b))
            .to_bits()),
        Mul => op2!(rows, slot, post, level, flush, |a, b| mul_legacy(a, b)
            .to_bits()),
        MulIeee => op2!(rows, slot, post, level, flush, |a, b| (f(a) * f(b))
            .to_bits()),
        Max => op2!(rows, slot, post, level, keep, |a, b| select(
            f(a) >= f(b),
            a,
            b
        )),
        Min => op2!(rows, slot, post, level, keep, |a, b| select(
            f(a) < f(b),
            a,
            b
        )),
        MaxDx10 => op2!(rows, slot, post, level, keep, |a, b| select(
            f(a) >= f(b) || f(b).is_nan(),
            a,
            b
        )),
        MinDx10 => op2!(rows, slot, post, level, keep, |a, b| select(
            f(a) < f(b) || f(b).is_nan(),
            a,
            b
        )),
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
        Mov => op1!(rows, slot, post, level, |a| a),
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
        RecipIeee => op1!(rows, slot, post, level, |a| math::recip(f(a)).to_bits()),
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
        Muladd => op3!(rows, slot, post, level, flush, |a, b, c| {
            (mul_legacy(a, b) + f(c)).to_bits()
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
        MuladdIeee => op3!(rows, slot, post, level, flush, |a, b, c| {
            (f(a) * f(b) + f(c)).to_bits()
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
        _ => return counter(rows, slot, post, level),
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

/// Copies a `MOVA`'s result to the address register.
#[inline(always)]
fn load_ar(rows: &[Lanes], ar: &mut [[i32; LANES]; 4], slot: &Slot) {
    let row = &rows[slot.dst as usize];
    for (to, from) in ar[usize::from(slot.chan & 3)].iter_mut().zip(row) {
        *to = *from as i32;
    }
}

/// `DOT4`, `DOT4_IEEE`, `MAX4` and `CUBE`.
#[inline(always)]
fn four(rows: &mut [Lanes], wide: &Wide, post: &Post, level: u8) {
    for at in 0..LANES / CHUNK {
        let a: [Chunk; 4] = std::array::from_fn(|unit| load(rows, &wide.src[unit][0], at, level));
        let b: [Chunk; 4] = std::array::from_fn(|unit| load(rows, &wide.src[unit][1], at, level));
        let mut r: [Chunk; 4] = [[0; CHUNK]; 4];
        match wide.op {
            AluOp::Dot4 => {
                for i in 0..CHUNK {
                    r[0][i] = (mul_legacy(a[0][i], b[0][i])
                        + mul_legacy(a[1][i], b[1][i])
                        + mul_legacy(a[2][i], b[2][i])
                        + mul_legacy(a[3][i], b[3][i]))
                    .to_bits();
                }
            }
            AluOp::Dot4Ieee => {
                for i in 0..CHUNK {
                    r[0][i] = (f(a[0][i]) * f(b[0][i])
                        + f(a[1][i]) * f(b[1][i])
                        + f(a[2][i]) * f(b[2][i])
                        + f(a[3][i]) * f(b[3][i]))
                    .to_bits();
                }
            }
            AluOp::Max4 => {
                for i in 0..CHUNK {
                    let max = |x: u32, y: u32| select(f(x) >= f(y), x, y);
                    r[0][i] = max(max(a[0][i], a[1][i]), max(a[2][i], a[3][i]));
                }
            }
            _ => {
                for i in 0..CHUNK {
                    // The operands come as .zzxy and .yxzz.
                    let [t, s, ma, face] = cube(b[1][i], b[0][i], a[0][i]);
                    r[0][i] = t;
                    r[1][i] = s;
                    r[2][i] = ma;
                    r[3][i] = face;
                }
            }
        }
        for (dst, mut chunk) in wide.dst.iter().zip(r) {
            if let Some(dst) = dst {
                flush_chunk(&mut chunk);
                store(rows, *dst, post, at, chunk);
            }
        }
    }
}

/// t, s, twice the major axis and the face of direction (x, y, z).
#[inline(always)]
fn cube(x: u32, y: u32, z: u32) -> [u32; 4] {
    let (x, y, z) = (f(x), f(y), f(z));
    let (ax, ay, az) = (x.abs(), y.abs(), z.abs());
    let (s, t, ma, face) = if az >= ax && az >= ay {
        (
            if z < 0.0 { -x } else { x },
            -y,
            z,
            if z < 0.0 { 5.0 } else { 4.0 },
        )
    } else if ay >= ax {
        (
            x,
            if y < 0.0 { -z } else { z },
            y,
            if y < 0.0 { 3.0 } else { 2.0 },
        )
    } else {
        (
            if x < 0.0 { z } else { -z },
            -y,
            x,
            if x < 0.0 { 1.0 } else { 0.0f32 },
        )
    };
    [
        t.to_bits(),
        s.to_bits(),
        (2.0 * ma).to_bits(),
        face.to_bits(),
    ]
}

fn from_words(high: u32, low: u32) -> f64 {
    f64::from_bits(u64::from(high) << 32 | u64::from(low))
}

/// Operations on doubles; the lanes that pass, if it is a test.
///
/// A double takes two units: the even one is given the high word and the odd
/// one the low word, and results come the other way round, low word first
/// (AMD, R700 ISA, `ADD_64`; Mesa, `fp64_switch`). `MUL_64` and `MULADD_64` take
/// four, the high word in the last and the low word in the others.
#[inline(never)]
fn double(rows: &mut [Lanes], wide: &Wide, post: &Post) -> Mask {
    use AluOp::*;
    let mut passed: Mask = 0;
    let all_four = wide.dst.iter().all(Option::is_some);
    let word = |rows: &[Lanes], unit: usize, operand: usize, lane: usize| -> u32 {
        let src = &wide.src[unit][operand];
        (rows[src.row as usize][lane] & src.and) ^ src.xor
    };
    let mut results = [[0u32; LANES]; 4];
    for pair in [0, 2] {
        if wide.dst[pair].is_none() && wide.dst[pair + 1].is_none() {
            continue;
        }
        for lane in 0..LANES {
            let four = all_four
                && matches!(
                    wide.op,
                    Mul64 | Muladd64 | Muladd64M2 | Muladd64M4 | Muladd64D2
                );
            let (high, low) = if four { (3, 0) } else { (pair, pair + 1) };
            let arg = |operand| {
                from_words(
                    word(rows, high, operand, lane),
                    word(rows, low, operand, lane),
                )
            };
            let muladd = || arg(0) * arg(1) + arg(2);
            let value = match wide.op {
                Add64 => arg(0) + arg(1),
                Mul64 => arg(0) * arg(1),
                Muladd64 => muladd(),
                Muladd64M2 => muladd() * 2.0,
                Muladd64M4 => muladd() * 4.0,
                Muladd64D2 => muladd() * 0.5,
                Fract64 => arg(0) - arg(0).floor(),
                Ldexp64 => ldexp(arg(0), word(rows, high, 1, lane) as i32),
                Flt32ToFlt64 => f64::from(f(word(rows, high, 0, lane))),
                Flt64ToFlt32 => {
                    let narrow = math::flush((arg(0) as f32).to_bits());
                    results[pair][lane] = narrow;
                    results[pair + 1][lane] = 0;
                    continue;
                }
                Frexp64 => {
                    // Mantissa in z and w, exponent in y.
                    if pair == 0 {
                        let (mantissa, exponent) = frexp(arg(0));
                        let bits = mantissa.to_bits();
                        results[0][lane] = 0;
                        results[1][lane] = (exponent as f32).to_bits();
                        results[2][lane] = bits as u32;
                        results[3][lane] = (bits >> 32) as u32;
                    }
                    continue;
                }
                PredSetgt64 | PredSete64 | PredSetge64 => {
                    let pass = match wide.op {
                        PredSetgt64 => arg(0) > arg(1),
                        PredSete64 => arg(0) == arg(1),
                        _ => arg(0) >= arg(1),
                    };
                    passed |= Mask::from(pass) << lane;
                    results[pair][lane] = select(pass, 0, ONE);
                    results[pair + 1][lane] = results[pair][lane];
                    continue;
                }
                _ => 0.0,
            };
            let value = if wide.clamp {
                if value > 0.0 {
                    value.min(1.0)
                } else {
                    0.0
                }
            } else {
                value
            };
            let bits = value.to_bits();
            results[pair][lane] = bits as u32;
            results[pair + 1][lane] = (bits >> 32) as u32;
        }
    }
    let plain = Post {
        omod: 0,
        clamp: false,
        ..*post
    };
    for (dst, row) in wide.dst.iter().zip(&results) {
        if let Some(dst) = dst {
            for at in 0..LANES / CHUNK {
                let mut chunk: Chunk = [0; CHUNK];
                chunk.copy_from_slice(&row[at * CHUNK..(at + 1) * CHUNK]);
                store(rows, *dst, &plain, at, chunk);
            }
        }
    }
    passed
}

fn ldexp(x: f64, exponent: i32) -> f64 {
    // In two steps, so that neither factor overflows.
    let exponent = exponent.clamp(-2200, 2200);
    let half = exponent / 2;
    let power = |e: i32| 2f64.powi(e);
    x * power(half / 2)
        * power(half - half / 2)
        * power((exponent - half) / 2)
        * power(exponent - half - (exponent - half) / 2)
}

fn frexp(x: f64) -> (f64, i32) {
    if x == 0.0 || !x.is_finite() {
        return (x, 0);
    }
    let scaled = if x.is_normal() { x } else { x * 2f64.powi(64) };
    let shift = if x.is_normal() { 0 } else { 64 };
    let bits = scaled.to_bits();
    let exponent = ((bits >> 52) & 0x7ff) as i32 - 1022;
    let mantissa = f64::from_bits(bits & !(0x7ff << 52) | 1022 << 52);
    (mantissa, exponent - shift)
}

/// Looks for denormals in rows.
pub(super) struct FindDenormals<'a> {
    pub rows: &'a [Lanes],
    /// The rows to look at.
    pub which: &'a [u32],
}

impl WithSimd for FindDenormals<'_> {
    type Output = bool;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _simd: S) -> bool {
        let mut least: Chunk = [u32::MAX; CHUNK];
        for &row in self.which {
            for chunk in self.rows[row as usize].chunks_exact(CHUNK) {
                for (least, bits) in least.iter_mut().zip(chunk) {
                    // Without the sign: denormals are 1 to 0xfffffe, and zero
                    // wraps to the largest number.
                    *least = (*least).min((bits << 1).wrapping_sub(1));
                }
            }
        }
        least.iter().any(|&least| least < 0x00ff_ffff)
    }
}
