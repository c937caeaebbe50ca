// SPDX-License-Identifier: MIT
//! The short way of the float operations that shaders are mostly made of: all lanes run, operands
//! are taken as they are in their rows, and results get no modifier but the flush of denormals.
//! Whether an operation is one of these is known when it is decoded.

use super::super::math;
use super::super::ops::AluOp;
use super::super::program::{Flush, Slot, Src};
use super::chunk::{f, flush_chunk, mul_legacy, select, Chunk, CHUNK};
use crate::chip::gfx::lanes::{Lanes, LANES};

/// True if [`plain`] can run `slot` where no denormals were loaded.
pub(in super::super) fn is_plain(slot: &Slot) -> bool {
    use AluOp::*;
    let is_plain = |src: &Src| (src.and, src.xor) == (u32::MAX, 0) && src.flush != Flush::Always;
    let known = matches!(
        slot.op,
        Add | Mul | MulIeee | Muladd | MuladdIeee | Mov | Max | Min | MaxDx10 | MinDx10 | RecipIeee
    );
    known && slot.src.iter().all(is_plain) && slot.omod == 0 && !slot.clamp && slot.pred_sel < 2
}

/// Chunk `at` of row `row`.
#[inline(always)]
fn load(rows: &[Lanes], row: usize, at: usize) -> Chunk {
    let mut chunk: Chunk = [0; CHUNK];
    chunk.copy_from_slice(&rows[row][at * CHUNK..(at + 1) * CHUNK]);
    chunk
}

/// One to three operands to one result, as bits; `flush` results that may be denormals, `keep`
/// others.
macro_rules! lanes {
    ($rows:ident, $slot:ident, $flush:ident, |$($arg:ident),+| $result:expr) => {{
        let dst = $slot.dst as usize;
        let mut sources = $slot.src.iter().map(|src| src.row as usize);
        $(let $arg = sources.next().unwrap_or(0);)+
        for at in 0..LANES / CHUNK {
            $(let $arg = load($rows, $arg, at);)+
            let mut r: Chunk = [0; CHUNK];
            for i in 0..CHUNK {
                $(let $arg = $arg[i];)+
                r[i] = $result;
            }
            lanes!(@$flush r);
            $rows[dst][at * CHUNK..(at + 1) * CHUNK].copy_from_slice(&r);
        }
    }};
    (@flush $r:ident) => { flush_chunk(&mut $r) };
    (@keep $r:ident) => {};
}

/// Runs `slot`, for which [`is_plain`] holds.
#[inline(always)]
pub(super) fn plain(rows: &mut [Lanes], slot: &Slot) {
    use AluOp::*;
    match slot.op {
        Add => lanes!(rows, slot, flush, |a, b| (f(a) + f(b)).to_bits()),
        Mul => lanes!(rows, slot, flush, |a, b| mul_legacy(a, b).to_bits()),
        MulIeee => lanes!(rows, slot, flush, |a, b| (f(a) * f(b)).to_bits()),
        Muladd => lanes!(rows, slot, flush, |a, b, c| {
            (mul_legacy(a, b) + f(c)).to_bits()
        }),
        MuladdIeee => lanes!(rows, slot, flush, |a, b, c| {
            (f(a) * f(b) + f(c)).to_bits()
        }),
        Max => lanes!(rows, slot, keep, |a, b| select(f(a) >= f(b), a, b)),
        Min => lanes!(rows, slot, keep, |a, b| select(f(a) < f(b), a, b)),
        MaxDx10 => lanes!(rows, slot, keep, |a, b| {
            select(f(a) >= f(b) || f(b).is_nan(), a, b)
        }),
        MinDx10 => lanes!(rows, slot, keep, |a, b| {
            select(f(a) < f(b) || f(b).is_nan(), a, b)
        }),
        RecipIeee => lanes!(rows, slot, keep, |a| math::recip(f(a)).to_bits()),
        _ => lanes!(rows, slot, keep, |a| a),
    }
}
