// SPDX-License-Identifier: MIT
//! Relative operands: registers and constants that the address register or the loop index selects.

use super::super::env::Env;
use super::super::step::Slot;
use crate::chip::gfx::lanes::{Lanes, Mask, LANES};

#[inline(always)]
pub(super) fn index_of<'a>(ar: &'a [[i32; LANES]; 4], al: i32, mode: u8) -> Index<'a> {
    match mode {
        0..=3 => Index::Lanes(&ar[usize::from(mode)]),
        4 => Index::All(al),
        5 => Index::All(0),
        _ => Index::Lanes(&ar[0]),
    }
}

/// A relative index: one for each lane or one for all.
pub(super) enum Index<'a> {
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
pub(super) fn relative_row(base: u8, chan: u8, index: i32) -> Option<usize> {
    let gpr = i32::from(base) + index;
    // An index does not reach the clause temporaries above 123.
    (0..124)
        .contains(&gpr)
        .then(|| gpr as usize * 4 + usize::from(chan))
}

#[inline(never)]
pub(super) fn gather_gpr(
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
pub(super) fn scatter(
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

pub(super) struct ConstGather {
    pub bank: Option<u8>,
    pub base: u32,
    pub scale: u32,
    pub chan: u8,
}

#[inline(never)]
pub(super) fn gather_const(
    env: &mut dyn Env,
    gather: &ConstGather,
    index: Index<'_>,
    exec: Mask,
    out: &mut Lanes,
) {
    // Most lanes select the same vec4.
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

/// Copies a `MOVA`'s result to the address register.
#[inline(always)]
pub(super) fn load_ar(rows: &[Lanes], ar: &mut [[i32; LANES]; 4], slot: &Slot) {
    let row = &rows[slot.dst as usize];
    for (to, from) in ar[usize::from(slot.chan & 3)].iter_mut().zip(row) {
        *to = *from as i32;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_index_beyond_the_registers_selects_none() {
        assert_eq!(relative_row(5, 3, -5), Some(3));
        assert_eq!(relative_row(100, 1, 23), Some(123 * 4 + 1));
        for (base, index) in [(5, -6), (0, i32::MIN), (100, 24), (127, -3), (1, 255)] {
            assert_eq!(relative_row(base, 1, index), None, "R{base} and {index}");
        }
    }
}
