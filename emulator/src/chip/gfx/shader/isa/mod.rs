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

/// Sign-extends the low `count` bits.
const fn signed(value: u32, count: u32) -> i8 {
    ((value << (32 - count)) as i32 >> (32 - count)) as i8
}
