// SPDX-License-Identifier: MIT
//! Operands and results: chunks of 16 lanes with their modifiers, and the loops over
//! them that the operations use.

use super::super::step::Src;
use crate::chip::gfx::lanes::Lanes;
use crate::chip::gfx::math;

/// 1.0
pub(super) const ONE: u32 = 0x3f80_0000;

/// Lanes of one step.
pub(super) const CHUNK: usize = 16;
pub(super) type Chunk = [u32; CHUNK];

#[inline(always)]
pub(super) fn f(bits: u32) -> f32 {
    f32::from_bits(bits)
}

/// The product in which 0 times anything is 0, even NaN and infinity.
#[inline(always)]
pub(super) fn mul_legacy(a: u32, b: u32) -> f32 {
    let product = f(a) * f(b);
    if f(a) == 0.0 || f(b) == 0.0 {
        0.0
    } else {
        product
    }
}

#[inline(always)]
pub(super) fn select(condition: bool, yes: u32, no: u32) -> u32 {
    if condition {
        yes
    } else {
        no
    }
}

/// True for zeros and denormals.
#[inline(always)]
pub(super) fn is_zero(bits: u32) -> bool {
    bits & 0x7f80_0000 == 0
}

/// `MUL_LIT` (AMD, R700 ISA).
#[inline(always)]
pub(super) fn mul_lit(a: u32, b: u32, c: u32) -> f32 {
    let (x, y) = (f(b), f(c));
    if x == f32::MIN || x == f32::NEG_INFINITY || x.is_nan() || y <= 0.0 || y.is_nan() {
        f32::MIN
    } else {
        mul_legacy(a, b)
    }
}

#[inline(always)]
pub(super) fn rndne(x: f32) -> f32 {
    x.round_ties_even()
}

/// Reads chunk `at` of an operand with its modifiers. Flushes denormals if `src.flush` is at least
/// `level`.
#[inline(always)]
pub(super) fn load(rows: &[Lanes], src: &Src, at: usize, level: u8) -> Chunk {
    let row = &rows[src.row as usize];
    let mut chunk: Chunk = [0; CHUNK];
    chunk.copy_from_slice(&row[at * CHUNK..(at + 1) * CHUNK]);
    if (src.and, src.xor) != (u32::MAX, 0) {
        for lane in &mut chunk {
            *lane = (*lane & src.and) ^ src.xor;
        }
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
pub(super) struct Post {
    pub omod: u8,
    pub clamp: bool,
    pub dx10_clamp: bool,
    /// Row with the mask of the lanes to write; none for all lanes.
    pub mask: Option<u32>,
}

/// Applies output modifiers and writes chunk `at` of row `dst`.
#[inline(always)]
pub(super) fn store(rows: &mut [Lanes], dst: u32, post: &Post, at: usize, mut chunk: Chunk) {
    if post.omod != 0 || post.clamp {
        modify(&mut chunk, post);
    }
    if let Some(mask) = post.mask {
        keep(rows, mask, dst as usize, at, &mut chunk);
    }
    rows[dst as usize][at * CHUNK..(at + 1) * CHUNK].copy_from_slice(&chunk);
}

/// Puts what row `dst` holds into the lanes of `chunk` that are not in row `mask`.
#[inline(always)]
pub(super) fn keep(rows: &[Lanes], mask: u32, dst: usize, at: usize, chunk: &mut Chunk) {
    let mask = &rows[mask as usize][at * CHUNK..(at + 1) * CHUNK];
    let held = &rows[dst][at * CHUNK..(at + 1) * CHUNK];
    for i in 0..CHUNK {
        chunk[i] = (chunk[i] & mask[i]) | (held[i] & !mask[i]);
    }
}

#[inline(always)]
pub(super) fn modify(chunk: &mut Chunk, post: &Post) {
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
pub(super) fn flush_chunk(chunk: &mut Chunk) {
    for lane in chunk.iter_mut() {
        *lane = math::flush(*lane);
    }
}

/// Computes one result from one operand, both as bits.
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

/// Tests two operands and returns the mask of lanes that pass. Lanes get the
/// result `$yes` if they pass, else `$no`.
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

/// The most frequent float operations, defined once for the fast and the general path. A match of
/// `$op`, which calls `$run!` with `$args`, `flush` if the result may be a denormal, else `keep`,
/// and the operation on bits. All other operations evaluate `$other`.
macro_rules! common_ops {
    ($op:expr, $run:ident!($($args:ident),*), $other:expr) => {
        match $op {
            AluOp::Add => $run!($($args,)* flush, |a, b| (f(a) + f(b)).to_bits()),
            AluOp::Mul => $run!($($args,)* flush, |a, b| mul_legacy(a, b).to_bits()),
            AluOp::MulIeee => $run!($($args,)* flush, |a, b| (f(a) * f(b)).to_bits()),
            AluOp::Muladd => {
                $run!($($args,)* flush, |a, b, c| (mul_legacy(a, b) + f(c)).to_bits())
            }
            AluOp::MuladdIeee => {
                $run!($($args,)* flush, |a, b, c| (f(a) * f(b) + f(c)).to_bits())
            }
            AluOp::Mov => $run!($($args,)* keep, |a| a),
            AluOp::Max => $run!($($args,)* keep, |a, b| select(f(a) >= f(b), a, b)),
            AluOp::Min => $run!($($args,)* keep, |a, b| select(f(a) < f(b), a, b)),
            AluOp::MaxDx10 => {
                $run!($($args,)* keep, |a, b| select(f(a) >= f(b) || f(b).is_nan(), a, b))
            }
            AluOp::MinDx10 => {
                $run!($($args,)* keep, |a, b| select(f(a) < f(b) || f(b).is_nan(), a, b))
            }
            AluOp::RecipIeee => $run!($($args,)* keep, |a| math::recip(f(a)).to_bits()),
            _ => $other,
        }
    };
}
