// SPDX-License-Identifier: MIT
//! Typed forms of the words of an R700 shader.
//!
//! Layouts: AMD "R700-Family Instruction Set Architecture", chapter 8, and
//! Mesa's `r600_sq.h`, `r700_sq.h` and `sb/sb_bc_fmt_def.inc`.

mod alu;
mod fetch;
mod flow;

pub use self::alu::*;
pub use self::fetch::*;
pub use self::flow::*;

pub(in crate::chip::gfx::shader) const fn bits(word: u32, low: u32, count: u32) -> u32 {
    (word >> low) & ((1 << count) - 1)
}

pub(in crate::chip::gfx::shader) const fn bit(word: u32, at: u32) -> bool {
    word >> at & 1 != 0
}

/// Sign-extends the low `count` bits.
const fn signed(value: u32, count: u32) -> i8 {
    ((value << (32 - count)) as i32 >> (32 - count)) as i8
}

pub(in crate::chip::gfx::shader) const fn four(word: u32, low: u32) -> [u8; 4] {
    [
        bits(word, low, 3) as u8,
        bits(word, low + 3, 3) as u8,
        bits(word, low + 6, 3) as u8,
        bits(word, low + 9, 3) as u8,
    ]
}
