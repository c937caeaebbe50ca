// SPDX-License-Identifier: MIT
//! Transcendental functions: those of the ALU, on single floats, and what else the pipeline needs.
//!
//! AMD's documents bound the error of these units but do not define the bits of
//! their results. The results here are the correctly rounded value or one of
//! its neighbours. They are computed by polynomials in double precision, which
//! vectorise and give the same bits on every host, unlike the C library. The
//! caller flushes denormal operands; these functions flush denormal results.

use std::f64::consts::{LN_2, PI};

/// Flushes a denormal to the zero of its sign.
#[inline(always)]
pub fn flush(bits: u32) -> u32 {
    // Not a choice between two values: a vector blend would cost more than all the rest.
    let is_normal = u32::from(bits & 0x7f80_0000 != 0);
    bits & (0x8000_0000 | is_normal.wrapping_neg())
}

/// 2 to the power of `x`.
#[inline(always)]
pub fn exp2(x: f32) -> f32 {
    // Beyond these bounds the result is infinite or flushed.
    let value = exp2_double(f64::from(x).clamp(-160.0, 160.0)) as f32;
    let value = if x.is_nan() { x } else { value };
    f32::from_bits(flush(value.to_bits()))
}

/// 2 to the power of `x`, which is between -1000 and 1000.
#[inline(always)]
fn exp2_double(x: f64) -> f64 {
    let whole = round(x);
    let t = (x - whole) * LN_2;
    // The series of e^t for |t| <= ln(2)/2; the first term left out is 2e-14.
    let p = 1.0
        + t * (1.0
            + t * (1.0 / 2.0
                + t * (1.0 / 6.0
                    + t * (1.0 / 24.0
                        + t * (1.0 / 120.0
                            + t * (1.0 / 720.0
                                + t * (1.0 / 5040.0 + t * (1.0 / 40320.0 + t / 362_880.0))))))));
    p * power_of_two(whole as i32)
}

/// 2 to the power of `e`, which is between -1022 and 1023.
#[inline(always)]
pub fn power_of_two(e: i32) -> f64 {
    f64::from_bits(((e + 1023) as u64) << 52)
}

/// The largest power of two that is not above the absolute value of `x`, a normal number. 0 for 0.
pub fn power_below(x: f64) -> f64 {
    f64::from_bits(x.to_bits() & 0x7ff << 52)
}

/// `x` to the power of `y`: for `x` above 0, and a result between 2^-1000 and 2^1000. Its error is
/// below 1e-11 of it.
pub fn pow(x: f64, y: f64) -> f64 {
    exp2_double(y * log2_double(x))
}

/// The integer nearest to `x`, for |x| below 2^51: adding 1.5 * 2^52 leaves no
/// bits for a fraction.
#[inline(always)]
fn round(x: f64) -> f64 {
    const MAGIC: f64 = 6_755_399_441_055_744.0;
    (x + MAGIC) - MAGIC
}

/// The logarithm of `x` to base 2.
#[inline(always)]
pub fn log2(x: f32) -> f32 {
    let value = log2_double(f64::from(x)) as f32;
    if x == 0.0 {
        f32::NEG_INFINITY
    } else if x < 0.0 || x.is_nan() {
        f32::NAN
    } else if x == f32::INFINITY {
        f32::INFINITY
    } else {
        value
    }
}

/// The logarithm of `x` to base 2, for a normal number above 0.
#[inline(always)]
fn log2_double(x: f64) -> f64 {
    let bits = x.to_bits();
    // Mantissa in [sqrt(1/2), sqrt(2)): log2(1 + small) then keeps its digits.
    let shifted = bits.wrapping_sub(0x3fe6_a09e_667f_3bcd);
    let exponent = (shifted >> 52) as u32;
    let exponent = f64::from((exponent << 20) as i32 >> 20);
    let mantissa = f64::from_bits(bits.wrapping_sub(shifted & 0xfff0_0000_0000_0000));
    let s = (mantissa - 1.0) / (mantissa + 1.0);
    let z = s * s;
    // 2 atanh(s) for |s| <= 0.172; the first term left out is 2e-17.
    let p = 1.0
        + z * (1.0 / 3.0
            + z * (1.0 / 5.0
                + z * (1.0 / 7.0
                    + z * (1.0 / 9.0
                        + z * (1.0 / 11.0
                            + z * (1.0 / 13.0 + z * (1.0 / 15.0 + z * (1.0 / 17.0))))))));
    exponent + 2.0 * s * p / LN_2
}

/// The sine of `x` turns, 0 outside of -256..256 (AMD, R700 ISA, `SIN`).
#[inline(always)]
pub fn sin_turns(x: f32) -> f32 {
    trig(x, 1.0, 0.0, 0.0)
}

/// The cosine of `x` turns, 1 outside of -256..256.
#[inline(always)]
pub fn cos_turns(x: f32) -> f32 {
    trig(x, 1.0, 0.25, 1.0)
}

/// The sine of `x` radians. R600 promises it for -pi to pi (AMD, R600 ISA, `SIN`); beyond, as far
/// as [`sin_turns`] goes in its units, it is the sine here, too.
#[inline(always)]
pub fn sin_radians(x: f32) -> f32 {
    trig(x, 0.5 / PI, 0.0, 0.0)
}

/// The cosine of `x` radians, see [`sin_radians`].
#[inline(always)]
pub fn cos_radians(x: f32) -> f32 {
    trig(x, 0.5 / PI, 0.25, 1.0)
}

/// The sine of `x` times `unit` turns, plus `phase`; `outside` beyond 256 of x.
#[inline(always)]
fn trig(x: f32, unit: f64, phase: f64, outside: f32) -> f32 {
    let turns = if x.abs() <= 256.0 {
        f64::from(x) * unit
    } else {
        0.0
    };
    // Of turns exact for multiples of half a turn: a double has more bits than the sum needs.
    let turns = turns + phase;
    let reduced = turns - round(turns);
    // sin(pi - a) = sin(a): fold into a quarter turn either way.
    let folded = if reduced > 0.25 {
        0.5 - reduced
    } else if reduced < -0.25 {
        -0.5 - reduced
    } else {
        reduced
    };
    let a = folded * (2.0 * PI);
    let z = a * a;
    // The series for |a| <= pi/2; the first term left out is 6e-14.
    let p = 1.0
        + z * (-1.0 / 6.0
            + z * (1.0 / 120.0
                + z * (-1.0 / 5040.0
                    + z * (1.0 / 362_880.0
                        + z * (-1.0 / 39_916_800.0
                            + z * (1.0 / 6_227_020_800.0 + z * (-1.0 / 1_307_674_368_000.0)))))));
    let value = (a * p) as f32;
    if x.is_nan() {
        x
    } else if x.abs() <= 256.0 {
        f32::from_bits(flush(value.to_bits()))
    } else if x.is_infinite() {
        f32::NAN
    } else {
        outside
    }
}

/// 1 / x.
#[inline(always)]
pub fn recip(x: f32) -> f32 {
    f32::from_bits(flush((1.0 / x).to_bits()))
}

/// 1 / sqrt(x), rounded once.
#[inline(always)]
pub fn rsqrt(x: f32) -> f32 {
    (1.0 / f64::from(x).sqrt()) as f32
}

/// Replaces infinities by the largest finite value of their sign.
#[inline(always)]
pub fn clamp_infinite(x: f32) -> f32 {
    if x == f32::INFINITY {
        f32::MAX
    } else if x == f32::NEG_INFINITY {
        f32::MIN
    } else {
        x
    }
}

/// Replaces infinities by the zero of their sign.
#[inline(always)]
pub fn zero_infinite(x: f32) -> f32 {
    if x.is_infinite() {
        f32::from_bits(x.to_bits() & 0x8000_0000)
    } else {
        x
    }
}

/// 2^32 / x, truncated; all ones for 0 and 1.
#[inline(always)]
pub fn recip_uint(x: u32) -> u32 {
    if x <= 1 {
        return u32::MAX;
    }
    // Truncation is exact: 2^32 / x is an integer, or at least 1 / x away from
    // one. The error of the quotient, at most 2^-53 of it, is less.
    (4_294_967_296.0 / f64::from(x)) as u32
}

/// 2^31 / x, truncated; the largest value for 0.
#[inline(always)]
pub fn recip_int(x: i32) -> i32 {
    if x == 0 {
        return i32::MAX;
    }
    (2_147_483_648.0 / f64::from(x)) as i32
}

#[cfg(test)]
#[allow(clippy::disallowed_methods)] // They are compared with the C library's.
mod tests {
    use super::*;

    /// Distance in units of the last place, both finite and of one sign.
    fn ulps(a: f32, b: f32) -> u32 {
        a.to_bits().abs_diff(b.to_bits())
    }

    fn values() -> impl Iterator<Item = f32> {
        (0u32..200_000).map(|i| f32::from_bits(i.wrapping_mul(0x9e37_79b9) ^ 0x1357))
    }

    #[test]
    fn close_to_the_library() {
        let mut compared = [0; 3];
        for x in values().filter(|x| x.is_normal()) {
            let want = f64::from(x).exp2() as f32;
            if want.is_normal() {
                assert!(ulps(exp2(x), want) <= 1, "exp2({x})");
                compared[0] += 1;
            }
            if x > 0.0 {
                let want = f64::from(x).log2() as f32;
                assert!(ulps(log2(x), want) <= 1, "log2({x}) {} {want}", log2(x));
                compared[1] += 1;
            }
            if x.abs() <= 256.0 && x.abs() > 1e-30 {
                let turns = f64::from(x) - f64::from(x).round();
                let want = (turns * 2.0 * PI).sin() as f32;
                assert!(
                    (sin_turns(x) - want).abs() <= want.abs() * 1.2e-7 + 1e-16,
                    "sin({x})"
                );
                let want = (turns * 2.0 * PI).cos() as f32;
                assert!(
                    (cos_turns(x) - want).abs() <= want.abs() * 1.2e-7 + 1e-15,
                    "cos({x})"
                );
                compared[2] += 1;
            }
        }
        assert!(compared.iter().all(|&n| n > 10_000), "{compared:?}");
    }

    #[test]
    fn special_values() {
        assert_eq!(exp2(0.0), 1.0);
        assert_eq!(exp2(f32::INFINITY), f32::INFINITY);
        assert_eq!(exp2(f32::NEG_INFINITY), 0.0);
        assert_eq!(exp2(127.0), 2f32.powi(127));
        assert_eq!(exp2(128.0), f32::INFINITY);
        assert_eq!(exp2(-126.0), f32::MIN_POSITIVE);
        assert_eq!(exp2(-127.0).to_bits(), 0);
        assert!(exp2(f32::NAN).is_nan());
        assert_eq!(log2(1.0), 0.0);
        assert_eq!(log2(0.0), f32::NEG_INFINITY);
        assert_eq!(log2(-0.0), f32::NEG_INFINITY);
        assert!(log2(-1.0).is_nan());
        assert_eq!(log2(f32::INFINITY), f32::INFINITY);
        for e in -126..128 {
            assert_eq!(log2(2f32.powi(e)), e as f32);
            assert_eq!(exp2(e as f32), 2f32.powi(e));
        }
        for (x, s, c) in [
            (0.0, 0.0, 1.0),
            (0.25, 1.0, 0.0),
            (0.5, 0.0, -1.0),
            (-0.5, 0.0, -1.0),
            (0.75, -1.0, 0.0),
            (256.0, 0.0, 1.0),
            (257.0, 0.0, 1.0),
        ] {
            assert_eq!(sin_turns(x), s, "sin({x})");
            assert_eq!(cos_turns(x), c, "cos({x})");
        }
        assert_eq!(recip(0.0), f32::INFINITY);
        assert_eq!(recip(-0.0), f32::NEG_INFINITY);
        assert_eq!(recip(f32::MAX).to_bits(), 0);
        assert_eq!(rsqrt(0.25), 2.0);
        assert_eq!(rsqrt(0.0), f32::INFINITY);
        assert!(rsqrt(-1.0).is_nan());
    }

    #[test]
    fn integer_reciprocals_are_exact() {
        let special = [
            1u32,
            2,
            3,
            5,
            7,
            255,
            256,
            0x7fff_ffff,
            0x8000_0000,
            u32::MAX,
        ];
        let many = (0u32..100_000).map(|i| i.wrapping_mul(0x9e37_79b9) | 1);
        for x in special.into_iter().chain(many) {
            let want = ((1u64 << 32) / u64::from(x)).min(u32::MAX.into()) as u32;
            assert_eq!(recip_uint(x), want, "{x}");
            let x = x as i32;
            let want = ((1i64 << 31) / i64::from(x)).clamp(i32::MIN.into(), i32::MAX.into());
            assert_eq!(i64::from(recip_int(x)), want, "{x}");
        }
    }

    #[test]
    fn powers() {
        for e in -1022..=1023 {
            assert_eq!(power_of_two(e), 2f64.powi(e));
        }
        for (x, want) in [
            (1.0, 1.0),
            (-1.5, 1.0),
            (1.999, 1.0),
            (0.3, 0.25),
            (1e300, 2f64.powi(996)),
        ] {
            assert_eq!(power_below(x), want);
        }
        assert_eq!(power_below(0.0), 0.0);
        for i in 1..=10_000 {
            let x = f64::from(i) / 10_000.0;
            for y in [2.4, 1.0 / 2.4] {
                let want = x.powf(y);
                assert!((pow(x, y) - want).abs() < want * 1e-11, "{x} {y}");
            }
        }
    }

    /// FNV-1a of the results for many values: the same on every host.
    #[test]
    fn results_have_the_same_bits_on_every_host() {
        let hash = |f: fn(f32) -> f32| {
            let bytes = values().flat_map(|x| {
                let result = f(x);
                // The bits of a NaN differ between hosts.
                let bits = if result.is_nan() { 0 } else { result.to_bits() };
                bits.to_le_bytes()
            });
            crate::fnv::fnv1a(bytes)
        };
        let power = |x: f32| {
            // Numbers between 1/2 and 1, as the sRGB curve has.
            let x = f32::from_bits(x.to_bits() & 0x007f_ffff | 0x3f00_0000);
            (pow(f64::from(x), 2.4) + pow(f64::from(x), 1.0 / 2.4)) as f32
        };
        let found = [exp2, log2, sin_turns, cos_turns, rsqrt, power].map(hash);
        let expected = [
            0x4862_8bd5_61c3_e2a1,
            0x87f2_8c8b_437a_035f,
            0xd3d1_cba6_0627_ad86,
            0xd8a8_973c_d116_45c3,
            0x0dcc_9d92_2601_14b4,
            0xdffd_ad1a_db3e_fdda,
        ];
        assert_eq!(found, expected, "{found:#x?}");
    }
}
