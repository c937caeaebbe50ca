// SPDX-License-Identifier: MIT
//! Operations that R800 has and R700 has not (AMD, Evergreen ISA, chapter 9).

use super::super::ops::AluOp;
use super::super::step::Slot;
use super::chunk::{f, flush_chunk, load, store, Chunk, Post, CHUNK};
use super::counter;
use crate::chip::gfx::format::{decode_float, encode_float};
use crate::chip::gfx::lanes::{Lanes, Mask, LANES};

/// Bits `offset..offset + width` of `value`; width and offset have five bits.
#[inline(always)]
fn extract(value: u32, offset: u32, width: u32) -> u32 {
    let (offset, width) = (offset & 31, width & 31);
    (value >> offset) & ((1 << width) - 1)
}

/// As [`extract`], sign-extended.
#[inline(always)]
fn extract_signed(value: u32, offset: u32, width: u32) -> u32 {
    let width = width & 31;
    match width {
        0 => 0,
        _ => {
            let up = extract(value, offset, width) << (32 - width);
            (up as i32 >> (32 - width)) as u32
        }
    }
}

/// The number of bits of `src` that stand for lanes before `lane`. They stand for the lanes from
/// `first` on.
#[inline(always)]
fn bits_before(src: u32, lane: usize, first: usize) -> u32 {
    let before = lane.saturating_sub(first).min(32);
    (u64::from(src) & ((1 << before) - 1)).count_ones()
}

/// Runs one operation. Returns the lanes that pass if it is a test.
#[inline(never)]
pub(super) fn r800(rows: &mut [Lanes], slot: &Slot, post: Post, level: u8) -> Option<Mask> {
    use AluOp::*;
    match slot.op {
        BfrevInt => op1!(rows, slot, post, level, |a| a.reverse_bits()),
        BcntInt => op1!(rows, slot, post, level, |a| a.count_ones()),
        // The number of the bit from the top; -1 if there is none.
        FfbhUint => op1!(rows, slot, post, level, |a| match a {
            0 => u32::MAX,
            _ => a.leading_zeros(),
        }),
        FfbhInt => op1!(
            rows,
            slot,
            post,
            level,
            |a| match a ^ (a as i32 >> 31) as u32 {
                0 => u32::MAX,
                other => other.leading_zeros(),
            }
        ),
        FfblInt => op1!(rows, slot, post, level, |a| match a {
            0 => u32::MAX,
            _ => a.trailing_zeros(),
        }),
        FltToIntRpi => op1!(rows, slot, post, level, |a| (f(a) + 0.5).floor() as i32
            as u32),
        FltToIntFloor => op1!(rows, slot, post, level, |a| f(a).floor() as i32 as u32),
        Ubyte0Flt => op1!(rows, slot, post, level, |a| ((a & 0xFF) as f32).to_bits()),
        Ubyte1Flt => op1!(rows, slot, post, level, |a| ((a >> 8 & 0xFF) as f32)
            .to_bits()),
        Ubyte2Flt => op1!(rows, slot, post, level, |a| ((a >> 16 & 0xFF) as f32)
            .to_bits()),
        Ubyte3Flt => op1!(rows, slot, post, level, |a| ((a >> 24) as f32).to_bits()),
        Flt32ToFlt16 => op1!(rows, slot, post, level, |a| encode_float(a, 16, false)),
        Flt16ToFlt32 => op1!(rows, slot, post, level, |a| decode_float(a & 0xFFFF, 16)),
        AddcUint => op2!(rows, slot, post, level, keep, |a, b| u32::from(
            a.checked_add(b).is_none()
        )),
        SubbUint => op2!(rows, slot, post, level, keep, |a, b| u32::from(a < b)),
        BfmInt => op2!(rows, slot, post, level, keep, |a, b| ((1u32 << (a & 31))
            - 1)
            << (b & 31)),
        MulUint24 => op2!(rows, slot, post, level, keep, |a, b| {
            (a & 0xFF_FFFF).wrapping_mul(b & 0xFF_FFFF)
        }),
        MulhiUint24 => op2!(rows, slot, post, level, keep, |a, b| {
            ((u64::from(a & 0xFF_FFFF) * u64::from(b & 0xFF_FFFF)) >> 32) as u32
        }),
        BfeUint => op3!(rows, slot, post, level, keep, |a, b, c| extract(a, b, c)),
        BfeInt => op3!(rows, slot, post, level, keep, |a, b, c| extract_signed(
            a, b, c
        )),
        BfiInt => op3!(rows, slot, post, level, keep, |a, b, c| (a & b) | (!a & c)),
        Fma => op3!(rows, slot, post, level, flush, |a, b, c| f(a)
            .mul_add(f(b), f(c))
            .to_bits()),
        BitAlignInt => op3!(rows, slot, post, level, keep, |a, b, c| {
            ((u64::from(a) << 32 | u64::from(b)) >> (c & 31)) as u32
        }),
        ByteAlignInt => op3!(rows, slot, post, level, keep, |a, b, c| {
            ((u64::from(a) << 32 | u64::from(b)) >> (8 * (c & 3))) as u32
        }),
        // The builder adds the next channel's result to that of the low lanes.
        Mbcnt32Lo | Mbcnt32Hi => {
            let first = if slot.op == Mbcnt32Hi { 32 } else { 0 };
            for at in 0..LANES / CHUNK {
                let a = load(rows, &slot.src[0], at, level);
                let mut r: Chunk = [0; CHUNK];
                for i in 0..CHUNK {
                    r[i] = bits_before(a[i], at * CHUNK + i, first);
                }
                store(rows, slot.dst, &post, at, r);
            }
        }
        MuladdUint24 => op3!(rows, slot, post, level, keep, |a, b, c| {
            (a & 0xFF_FFFF).wrapping_mul(b & 0xFF_FFFF).wrapping_add(c)
        }),
        _ => return counter(rows, slot, post, level),
    }
    None
}
