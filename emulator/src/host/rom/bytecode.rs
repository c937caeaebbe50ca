// SPDX-License-Identifier: MIT
//! Assembler for the ATOM byte code of command tables.
//!
//! It has only the instructions that [`tables`](super::tables) needs. Opcode
//! numbers and operand encodings are those of the kernel's interpreter
//! (`atom.h`, `atom-names.h`).
//!
//! An instruction is an opcode, an attribute byte (source argument type in
//! bits 2:0, width and lane of the source in 5:3, lane of the destination in
//! 7:6), the destination and the source. Both sides have the same width.

/// Byte position of a narrow operand inside a dword.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lane {
    /// The whole dword.
    Dword,
    /// Bits 15:0.
    Word0,
    /// Bits 31:16.
    Word16,
    /// Bits 7:0.
    Byte0,
    /// Bits 15:8.
    Byte8,
    /// Bits 23:16.
    Byte16,
}

impl Lane {
    /// `ATOM_SRC_*`.
    fn source(self) -> u8 {
        match self {
            Lane::Dword => 0,
            Lane::Word0 => 1,
            Lane::Word16 => 3,
            Lane::Byte0 => 4,
            Lane::Byte8 => 5,
            Lane::Byte16 => 6,
        }
    }

    /// Encoding of the lane in a destination, whose width is the source's.
    fn destination(self) -> u8 {
        match self {
            Lane::Dword | Lane::Word0 | Lane::Byte0 => 0,
            Lane::Byte8 => 1,
            Lane::Word16 | Lane::Byte16 => 2,
        }
    }
}

/// An operand. Parameters and work space are indexed by dword, registers by
/// byte offset.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operand {
    /// Register.
    Reg(u16, Lane),
    /// Parameter of the table.
    Ps(u8, Lane),
    /// Work space of the table.
    Ws(u8, Lane),
    /// Constant byte.
    Imm8(u8),
    /// Constant word.
    Imm16(u16),
}

impl Operand {
    /// `ATOM_ARG_*`. For a destination it is also added to the opcode.
    fn kind(self) -> u8 {
        match self {
            Operand::Reg(..) => 0,
            Operand::Ps(..) => 1,
            Operand::Ws(..) => 2,
            Operand::Imm8(_) | Operand::Imm16(_) => 5,
        }
    }

    fn lane(self) -> Lane {
        match self {
            Operand::Reg(_, l) | Operand::Ps(_, l) | Operand::Ws(_, l) => l,
            Operand::Imm8(_) => Lane::Byte0,
            Operand::Imm16(_) => Lane::Word0,
        }
    }

    fn encode(self, out: &mut Vec<u8>) {
        match self {
            // Registers are numbered in dwords.
            Operand::Reg(offset, _) => out.extend_from_slice(&(offset / 4).to_le_bytes()),
            Operand::Ps(index, _) | Operand::Ws(index, _) | Operand::Imm8(index) => out.push(index),
            Operand::Imm16(value) => out.extend_from_slice(&value.to_le_bytes()),
        }
    }
}

const OP_MOVE: u8 = 1;
const OP_ADD: u8 = 43;
const OP_SUB: u8 = 49;
const OP_SET_REG_BLOCK: u8 = 58;
const OP_COMPARE: u8 = 60;
const OP_JUMP_NOT_EQUAL: u8 = 73;
const OP_CLEAR: u8 = 84;
/// End of the table.
pub const OP_EOT: u8 = 91;

/// Offset of the code: it follows the table header (4 bytes) and the sizes of
/// work space and parameters.
const CODE_START: usize = 6;

/// A command table's code under construction.
#[derive(Debug, Default)]
pub struct Code {
    bytes: Vec<u8>,
}

impl Code {
    /// Starts an empty program.
    pub fn new() -> Self {
        Self::default()
    }

    fn binary(mut self, op: u8, to: Operand, from: Operand) -> Self {
        self.bytes.push(op + to.kind());
        let lanes = (to.lane().destination() << 6) | (from.lane().source() << 3);
        self.bytes.push(lanes | from.kind());
        to.encode(&mut self.bytes);
        from.encode(&mut self.bytes);
        self
    }

    /// `to = from`
    pub fn mov(self, to: Operand, from: Operand) -> Self {
        self.binary(OP_MOVE, to, from)
    }

    /// `to += from`
    pub fn add(self, to: Operand, from: Operand) -> Self {
        self.binary(OP_ADD, to, from)
    }

    /// `to -= from`
    pub fn sub(self, to: Operand, from: Operand) -> Self {
        self.binary(OP_SUB, to, from)
    }

    /// Clears a dword of work space.
    pub fn clear_ws(mut self, index: u8) -> Self {
        self.bytes.extend_from_slice(&[OP_CLEAR + 2, 0, index]);
        self
    }

    /// If `what` equals `value`, adds byte offset `block` to all register
    /// offsets in the rest of the table.
    pub fn reg_block_if(mut self, what: Operand, value: u8, block: u16) -> Self {
        self = self.binary(OP_COMPARE, what, Operand::Imm8(value));
        // This jump and the instruction it skips are 3 bytes each; targets
        // count from the start of the table.
        let target = (CODE_START + self.bytes.len() + 6) as u16;
        self.bytes.push(OP_JUMP_NOT_EQUAL);
        self.bytes.extend_from_slice(&target.to_le_bytes());
        self.bytes.push(OP_SET_REG_BLOCK);
        self.bytes.extend_from_slice(&(block / 4).to_le_bytes());
        self
    }

    /// The table's body: the sizes of work space and parameters, then the code
    /// and its end. The arguments are in dwords, the table has bytes.
    pub fn body(self, work_space: u8, parameters: u8) -> Vec<u8> {
        let mut body = vec![work_space * 4, parameters * 4];
        body.extend_from_slice(&self.bytes);
        body.push(OP_EOT);
        body
    }
}

#[cfg(test)]
pub(crate) mod interpreter {
    //! Runs tables, to test the assembler's output. Written from the same
    //! definitions, independently of the assembler above.

    use std::collections::HashMap;

    /// Registers by byte offset.
    pub type Registers = HashMap<u32, u32>;

    struct Run<'a> {
        code: &'a [u8],
        at: usize,
        ps: Vec<u32>,
        ws: Vec<u32>,
        regs: &'a mut Registers,
        block: u32,
    }

    fn mask_shift(align: u8) -> (u32, u32) {
        match align {
            0 => (0xffff_ffff, 0),
            1 => (0xffff, 0),
            2 => (0xff_ff00, 8),
            3 => (0xffff_0000, 16),
            4 => (0xff, 0),
            5 => (0xff00, 8),
            6 => (0xff_0000, 16),
            _ => (0xff00_0000, 24),
        }
    }

    impl Run<'_> {
        fn u8(&mut self) -> u8 {
            self.at += 1;
            self.code[self.at - 1]
        }

        fn u16(&mut self) -> u16 {
            u16::from_le_bytes([self.u8(), self.u8()])
        }

        fn load(&mut self, kind: u8, index: u32) -> u32 {
            match kind {
                0 => *self.regs.get(&((index + self.block) * 4)).unwrap_or(&0),
                1 => self.ps[index as usize],
                2 => self.ws[index as usize],
                k => panic!("argument {k}"),
            }
        }

        fn store(&mut self, kind: u8, index: u32, value: u32) {
            match kind {
                0 => {
                    self.regs.insert((index + self.block) * 4, value);
                }
                1 => self.ps[index as usize] = value,
                2 => self.ws[index as usize] = value,
                k => panic!("destination {k}"),
            }
        }

        fn index(&mut self, kind: u8) -> u32 {
            if kind == 0 {
                u32::from(self.u16())
            } else {
                u32::from(self.u8())
            }
        }

        fn source(&mut self, attr: u8) -> u32 {
            let align = (attr >> 3) & 7;
            if attr & 7 == 5 {
                return match align {
                    1..=3 => u32::from(self.u16()),
                    4..=7 => u32::from(self.u8()),
                    _ => panic!("dword constant"),
                };
            }
            let index = self.index(attr & 7);
            let (mask, shift) = mask_shift(align);
            (self.load(attr & 7, index) & mask) >> shift
        }

        fn run(&mut self) {
            let mut equal = false;
            loop {
                let op = self.u8();
                match op {
                    1..=3 | 43..=45 | 49..=51 | 60..=62 => {
                        let kind = if op >= 60 { op - 60 } else { (op - 1) % 6 };
                        let attr = self.u8();
                        let lane = attr >> 6;
                        let align = match (attr >> 3) & 7 {
                            0 => 0,
                            1..=3 => 1 + lane,
                            _ => 4 + lane,
                        };
                        let index = self.index(kind);
                        let source = self.source(attr);
                        let old = self.load(kind, index);
                        let (mask, shift) = mask_shift(align);
                        let dst = (old & mask) >> shift;
                        let value = match op {
                            1..=3 => source,
                            43..=45 => dst.wrapping_add(source),
                            49..=51 => dst.wrapping_sub(source),
                            _ => {
                                equal = dst == source;
                                continue;
                            }
                        };
                        self.store(kind, index, (old & !mask) | ((value << shift) & mask));
                    }
                    58 => self.block = u32::from(self.u16()),
                    73 => {
                        let target = usize::from(self.u16());
                        if !equal {
                            self.at = target;
                        }
                    }
                    86 => {
                        assert_eq!(self.u8() & 0x38, 0, "whole dword");
                        let index = u32::from(self.u8());
                        self.store(2, index, 0);
                    }
                    91 => return,
                    op => panic!("opcode {op}"),
                }
            }
        }
    }

    /// Executes `table` (header first) on `regs`. Returns the parameters as
    /// the table has left them.
    pub fn execute(table: &[u8], ps: &[u32], regs: &mut Registers) -> Vec<u32> {
        assert_eq!(ps.len() * 4, usize::from(table[5] & 0x7f));
        let mut run = Run {
            code: table,
            at: 6,
            ps: ps.to_vec(),
            ws: vec![0; usize::from(table[4]) / 4],
            regs,
            block: 0,
        };
        run.run();
        run.ps
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn move_encodes_lanes_and_dword_numbers() {
        let code = Code::new().mov(
            Operand::Reg(0x6080, Lane::Byte0),
            Operand::Ps(0, Lane::Byte8),
        );
        // MOVE_REG; source PS (1), byte 8 (5 << 3); register 0x1820; PS 0.
        assert_eq!(code.body(0, 1), [0, 4, 1, 0x29, 0x20, 0x18, 0, OP_EOT]);
    }

    #[test]
    fn skipped_block_select_lands_after_it() {
        let code = Code::new().reg_block_if(Operand::Ps(0, Lane::Byte0), 1, 0x800);
        let body = code.body(0, 1);
        // COMPARE_PS (4 bytes), JUMP_NOT_EQUAL, SET_REG_BLOCK, EOT.
        assert_eq!(body[2..6], [61, 0x25, 0, 1]);
        assert_eq!(body[6..9], [OP_JUMP_NOT_EQUAL, 16, 0]);
        assert_eq!(body[9..12], [OP_SET_REG_BLOCK, 0x00, 0x02]);
        // Offset 16 of the table is offset 12 of its body.
        assert_eq!(body[12], OP_EOT);
    }
}
