// SPDX-License-Identifier: MIT
//! Operations that take all four vector units: `DOT4`, `MAX4`, `CUBE`.

use super::super::ops::AluOp;
use super::super::step::Wide;
use super::chunk::{f, flush_chunk, load, mul_legacy, select, store, Chunk, Post, CHUNK};
use crate::chip::gfx::lanes::{Lanes, LANES};

/// Sums the products of the four units' operands in chunk `at`.
///
/// A macro, as those in `chunk`: what is not inlined is built without the vector instructions of the caller.
macro_rules! dot {
    ($rows:ident, $wide:ident, $at:ident, $level:ident, |$a:ident, $b:ident| $product:expr) => {{
        // Unlike 0.0, -0.0 leaves the sign of every first product as it is.
        let mut sum = [-0.0f32; CHUNK];
        for src in &$wide.src {
            let a = load($rows, &src[0], $at, $level);
            let b = load($rows, &src[1], $at, $level);
            for i in 0..CHUNK {
                let ($a, $b) = (a[i], b[i]);
                sum[i] += $product;
            }
        }
        let mut r: Chunk = [0; CHUNK];
        for i in 0..CHUNK {
            r[i] = sum[i].to_bits();
        }
        r
    }};
}

/// Operand `n` of the four units, chunk `at`.
#[inline(always)]
fn operands(rows: &[Lanes], wide: &Wide, n: usize, at: usize, level: u8) -> [Chunk; 4] {
    [
        load(rows, &wide.src[0][n], at, level),
        load(rows, &wide.src[1][n], at, level),
        load(rows, &wide.src[2][n], at, level),
        load(rows, &wide.src[3][n], at, level),
    ]
}

/// Runs `DOT4`, `DOT4_IEEE`, `MAX4` or `CUBE`.
#[inline(always)]
pub(super) fn four(rows: &mut [Lanes], wide: &Wide, post: &Post, level: u8) {
    for at in 0..LANES / CHUNK {
        let mut r: [Chunk; 4] = [[0; CHUNK]; 4];
        match wide.op {
            AluOp::Dot4 => r[0] = dot!(rows, wide, at, level, |a, b| mul_legacy(a, b)),
            AluOp::Dot4Ieee => r[0] = dot!(rows, wide, at, level, |a, b| f(a) * f(b)),
            AluOp::Max4 => {
                let a = operands(rows, wide, 0, at, level);
                for i in 0..CHUNK {
                    let max = |x: u32, y: u32| select(f(x) >= f(y), x, y);
                    r[0][i] = max(max(a[0][i], a[1][i]), max(a[2][i], a[3][i]));
                }
            }
            _ => {
                let a = operands(rows, wide, 0, at, level);
                let b = operands(rows, wide, 1, at, level);
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
pub(super) fn cube(x: u32, y: u32, z: u32) -> [u32; 4] {
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
