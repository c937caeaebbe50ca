// SPDX-License-Identifier: MIT
//! The fast path of the common float operations: operands have no modifiers, and results get none but the
//! flush of denormals. Decoding finds out which operations can take it.

use super::super::ops::AluOp;
use super::super::step::{Flush, Slot, Src};
use super::chunk::{f, flush_chunk, keep, mul_legacy, select, Chunk, CHUNK};
use crate::chip::gfx::lanes::{Lanes, LANES};
use crate::chip::gfx::math;

macro_rules! known {
    ($flush:ident, $operation:expr) => {
        true
    };
}

/// True if [`plain`] can run `slot` while no denormals are loaded.
pub(in super::super) fn is_plain(slot: &Slot) -> bool {
    let is_plain = |src: &Src| (src.and, src.xor) == (u32::MAX, 0) && src.flush != Flush::Always;
    common_ops!(slot.op, known!(), false)
        && slot.src.iter().all(is_plain)
        && slot.omod == 0
        && !slot.clamp
        && slot.pred_sel < 2
}

/// Chunk `at` of row `row`.
#[inline(always)]
fn load(rows: &[Lanes], row: usize, at: usize) -> Chunk {
    let mut chunk: Chunk = [0; CHUNK];
    chunk.copy_from_slice(&rows[row][at * CHUNK..(at + 1) * CHUNK]);
    chunk
}

/// Computes one result from one to three operands, all as bits, in the lanes of `$mask`. `flush`
/// flushes denormal results, `keep` is for operations that have none.
macro_rules! lanes {
    ($rows:ident, $slot:ident, $mask:ident, $flush:ident, |$($arg:ident),+| $result:expr) => {{
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
            if let Some(mask) = $mask {
                keep($rows, mask, dst, at, &mut r);
            }
            $rows[dst][at * CHUNK..(at + 1) * CHUNK].copy_from_slice(&r);
        }
    }};
    (@flush $r:ident) => { flush_chunk(&mut $r) };
    (@keep $r:ident) => {};
}

/// Runs `slot`, for which [`is_plain`] holds, in the lanes of row `mask`, or in all.
#[inline(always)]
pub(super) fn plain(rows: &mut [Lanes], slot: &Slot, mask: Option<u32>) {
    // Built twice: most waves run with all lanes.
    match mask {
        None => plain_lanes(rows, slot, None),
        Some(mask) => plain_lanes(rows, slot, Some(mask)),
    }
}

#[inline(always)]
fn plain_lanes(rows: &mut [Lanes], slot: &Slot, mask: Option<u32>) {
    common_ops!(slot.op, lanes!(rows, slot, mask), ());
}
