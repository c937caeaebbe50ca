// SPDX-License-Identifier: MIT
//! Operations on doubles.

use super::super::ops::AluOp;
use super::super::step::Wide;
use super::chunk::{f, select, store, Chunk, Post, CHUNK, ONE};
use crate::chip::gfx::lanes::{Lanes, Mask, LANES};
use crate::chip::gfx::math;

pub(super) fn from_words(high: u32, low: u32) -> f64 {
    f64::from_bits(u64::from(high) << 32 | u64::from(low))
}

/// Runs an operation on doubles. Returns the lanes that pass if it is a test.
///
/// A double takes two units. The even one has the operand's high word and the
/// result's low word, the odd one the reverse (AMD, R700 ISA, `ADD_64`; Mesa,
/// `fp64_switch`). `MUL_64` and `MULADD_64` take four units, with the operand's
/// high word in the last and its low word in the others. R800's `MUL_64` and `FMA_64` have the high
/// word in the first three and the low one in the last, and `RECIP_64` and its like take three
/// units, whose two operands are the two words (Mesa, `emit_alu_op2_64bit()`,
/// `emit_alu_fma_64bit()`, `emit_alu_op1_64bit_trans()`).
#[inline(never)]
pub(super) fn double(rows: &mut [Lanes], wide: &Wide, post: &Post) -> Mask {
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
            let (high, low) = match wide.op {
                Mul64Wide | Fma64 => (0, 3),
                _ if four => (3, 0),
                _ => (pair, pair + 1),
            };
            // Both words of the operand of an operation on three units.
            let single = || from_words(word(rows, 0, 0, lane), word(rows, 0, 1, lane));
            let arg = |operand| {
                from_words(
                    word(rows, high, operand, lane),
                    word(rows, low, operand, lane),
                )
            };
            let muladd = || arg(0) * arg(1) + arg(2);
            let value = match wide.op {
                Add64 => arg(0) + arg(1),
                Mul64 | Mul64Wide => arg(0) * arg(1),
                Fma64 => arg(0).mul_add(arg(1), arg(2)),
                Recip64 => single().recip(),
                Recipsqrt64 => single().sqrt().recip(),
                Sqrt64 => single().sqrt(),
                RecipClamped64 => single().recip().clamp(f64::MIN, f64::MAX),
                RecipsqrtClamped64 => single().sqrt().recip().clamp(f64::MIN, f64::MAX),
                // The operand that is no NaN.
                Min64 => arg(0).min(arg(1)),
                Max64 => arg(0).max(arg(1)),
                Sete64 | Setne64 | Setgt64 | Setge64 => {
                    let passed = match wide.op {
                        Sete64 => arg(0) == arg(1),
                        Setne64 => arg(0) != arg(1),
                        Setgt64 => arg(0) > arg(1),
                        _ => arg(0) >= arg(1),
                    };
                    results[pair][lane] = select(passed, u32::MAX, 0);
                    results[pair + 1][lane] = results[pair][lane];
                    continue;
                }
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

pub(super) fn ldexp(x: f64, exponent: i32) -> f64 {
    // In four steps, so that no factor overflows.
    let exponent = exponent.clamp(-2200, 2200);
    let half = exponent / 2;
    let power = math::power_of_two;
    x * power(half / 2)
        * power(half - half / 2)
        * power((exponent - half) / 2)
        * power(exponent - half - (exponent - half) / 2)
}

pub(super) fn frexp(x: f64) -> (f64, i32) {
    if x == 0.0 || !x.is_finite() {
        return (x, 0);
    }
    let scaled = if x.is_normal() {
        x
    } else {
        x * math::power_of_two(64)
    };
    let shift = if x.is_normal() { 0 } else { 64 };
    let bits = scaled.to_bits();
    let exponent = ((bits >> 52) & 0x7ff) as i32 - 1022;
    let mantissa = f64::from_bits(bits & !(0x7ff << 52) | 1022 << 52);
    (mantissa, exponent - shift)
}
