// SPDX-License-Identifier: MIT
//! Read ports of the ALU: which operands the instructions of a group can read.
//!
//! The register file gives one register of each element (x, y, z, w) in each of three cycles.
//! `BANK_SWIZZLE` says in which cycle an instruction reads each operand, so the compiler has to
//! choose swizzles with which no two instructions need different registers of an element in the
//! same cycle. Constants have ports of their own. Hardware reads wrong registers if they do not
//! suffice.
//!
//! Source: AMD "R700-Family Instruction Set Architecture", chapter 4.7 (GPR read-port
//! restrictions, constant-register restrictions, cycle restrictions of the ALU.Trans unit). Ports
//! for constants: Mesa's `reserve_cfile()`; R600 has four for elements, all later chips have two for
//! pairs of elements.

use super::isa::{sel, AluInstruction, AluSource};
use super::{Isa, GPRS};

/// Cycles in which a vector unit reads its operands, by `BANK_SWIZZLE`: `VEC_012`, `VEC_021`,
/// `VEC_120`, `VEC_102`, `VEC_201`, `VEC_210`.
const VECTOR: [[usize; 3]; 6] = [
    [0, 1, 2],
    [0, 2, 1],
    [1, 2, 0],
    [1, 0, 2],
    [2, 0, 1],
    [2, 1, 0],
];
/// The same for the transcendental unit: `SCL_210`, `SCL_122`, `SCL_212`, `SCL_221`.
const SCALAR: [[usize; 3]; 4] = [[2, 1, 0], [1, 2, 2], [2, 1, 2], [2, 2, 1]];
/// Elements of constants that a group can read on R600.
const R600_CONSTANTS: usize = 4;
/// Pairs of elements (xy or zw) of constants that a group can read on R700 and later.
const CONSTANTS: usize = 2;
/// Constants that the transcendental unit can read.
const SCALAR_CONSTANTS: usize = 2;

/// The ports that the instructions of a group have taken so far.
#[derive(Debug)]
pub struct Ports {
    /// The register that each element's port reads in each cycle.
    gprs: [[Option<(u16, bool)>; 4]; 3],
    /// Constant and elements of each constant port.
    constants: [Option<(u16, u8)>; R600_CONSTANTS],
    isa: Isa,
}

/// Whether it comes from the constant cache or the constant file.
const fn in_memory(source: &AluSource) -> bool {
    let constant = source.sel >= sel::KCACHE0 && source.sel < sel::KCACHE_END;
    constant || source.sel >= sel::CONSTANT_FILE && source.sel < sel::KCACHE_EXTENDED_END
}

/// Whether it is a constant of the instruction: 0, 1, 0.5, a literal.
const fn inline(source: &AluSource) -> bool {
    source.sel >= sel::ZERO && source.sel <= sel::LITERAL
}

const fn previous(source: &AluSource) -> bool {
    source.sel == sel::PV || source.sel == sel::PS
}

impl Ports {
    /// The ports of a group in this encoding, none taken.
    pub const fn new(isa: Isa) -> Self {
        Self {
            gprs: [[None; 4]; 3],
            constants: [None; R600_CONSTANTS],
            isa,
        }
    }

    /// Takes the ports of an instruction of the group. False if they are taken for other
    /// registers, or if `BANK_SWIZZLE` is none. `scalar`: it runs on the transcendental unit.
    pub fn take(&mut self, instruction: &AluInstruction, scalar: bool) -> bool {
        let sources = instruction.sources();
        let swizzle = usize::from(instruction.bank_swizzle);
        if scalar {
            let cycles = SCALAR.get(swizzle);
            cycles.is_some_and(|cycles| self.take_scalar(sources, cycles))
        } else {
            let cycles = VECTOR.get(swizzle);
            cycles.is_some_and(|cycles| self.take_vector(sources, cycles))
        }
    }

    fn take_vector(&mut self, sources: &[AluSource], cycles: &[usize; 3]) -> bool {
        let same = |a: &AluSource, b: &AluSource| (a.sel, a.rel, a.chan) == (b.sel, b.rel, b.chan);
        sources.iter().enumerate().all(|(i, source)| {
            // The second operand uses what was read for the first.
            let read = i == 1 && same(source, &sources[0]);
            read || self.take_source(source, cycles[i])
        })
    }

    fn take_scalar(&mut self, sources: &[AluSource], cycles: &[usize; 3]) -> bool {
        // Constants are read in the first cycles, which no register and no result can have.
        let constants = sources.iter().filter(|s| in_memory(s) || inline(s)).count();
        constants <= SCALAR_CONSTANTS
            && sources.iter().zip(cycles).all(|(source, &cycle)| {
                let register = usize::from(source.sel) < GPRS || previous(source);
                !(register && cycle < constants) && self.take_source(source, cycle)
            })
    }

    fn take_source(&mut self, source: &AluSource, cycle: usize) -> bool {
        let chan = source.chan;
        if usize::from(source.sel) < GPRS {
            let port = &mut self.gprs[cycle][usize::from(chan)];
            return *port.get_or_insert((source.sel, source.rel)) == (source.sel, source.rel);
        }
        if !in_memory(source) {
            return true;
        }
        let (wanted, count) = match self.isa {
            Isa::R600 => ((source.sel, chan), R600_CONSTANTS),
            Isa::R700 | Isa::R800 | Isa::R900 => ((source.sel, chan / 2), CONSTANTS),
        };
        let mut ports = self.constants[..count].iter_mut();
        ports.any(|port| *port.get_or_insert(wanted) == wanted)
    }
}
