// SPDX-License-Identifier: MIT
//! A prototype: the ALU clauses of R700 shaders as machine code, with the bits of the board's
//! interpreter. It exists to decide whether the board should have a compiler; `README.md` has the
//! figures and the decision. The board does not use it.
//!
//! [`decode`] reads a program's words, [`compile`] makes a function of each ALU clause, [`machine`]
//! holds and calls the code, [`run`] executes a program with it. What the prototype does not know
//! (relative registers, loops, vertex fetches, some operations) it refuses.

pub mod compile;
pub mod corpus;
pub mod decode;
pub mod fake;
pub mod machine;
pub mod run;

/// The transcendental functions: the interpreter's own source, as its module is private.
#[path = "../../../emulator/src/chip/gfx/math.rs"]
#[allow(dead_code)]
mod math;
