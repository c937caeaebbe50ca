// SPDX-License-Identifier: MIT
//! An assembler for the few R700 instructions that tests need.
//!
//! Field positions: Mesa `r600d.h` (`S_SQ_CF_*`, `S_SQ_VTX_*`) and
//! `r700_sq.h` (`S_SQ_ALU_*`).

/// Kinds of exports.
pub const PIXEL: u32 = 0;
pub const POSITION: u32 = 1;
pub const PARAM: u32 = 2;

/// Component selects of exports and fetches.
pub const XYZW: [u32; 4] = [0, 1, 2, 3];
/// (x, 0, 0, 1).
pub const X001: [u32; 4] = [0, 4, 4, 5];

/// Source selects.
pub const ZERO: u32 = 248;
pub const ONE: u32 = 249;
pub const HALF: u32 = 252;
pub const LITERAL: u32 = 253;
/// Select of the first vector that [`Shader::lock`] locks.
pub const KCACHE0: u32 = 128;

#[derive(Debug, Clone, Default)]
pub struct Shader {
    cf: Vec<[u32; 2]>,
    /// Clauses: index of the CF instruction, and the clause's words.
    clauses: Vec<(usize, Vec<u32>)>,
}

/// Operand of an ALU instruction.
#[derive(Debug, Clone, Copy)]
pub struct Src(pub u32, pub u32);

/// R`gpr`, channel `chan`.
pub fn gpr(gpr: u32, chan: u32) -> Src {
    Src(gpr, chan)
}

/// One OP2 instruction with one or two operands.
pub fn op2(op: u32, dst: u32, chan: u32, a: Src, b: Src, last: bool) -> [u32; 2] {
    [
        a.0 | a.1 << 10 | b.0 << 13 | b.1 << 23 | u32::from(last) << 31,
        1 << 4 | op << 7 | dst << 21 | chan << 29,
    ]
}

/// MOV.
pub fn mov(dst: u32, chan: u32, a: Src, last: bool) -> [u32; 2] {
    op2(0x19, dst, chan, a, Src(ZERO, 0), last)
}

impl Shader {
    pub fn new() -> Self {
        Self::default()
    }

    fn cf_word(&mut self, inst: u32, word0: u32, more: u32) -> &mut Self {
        self.cf.push([word0, more | inst << 23 | 1 << 31]);
        self
    }

    /// A CF instruction without a clause.
    pub fn cf(&mut self, inst: u32, addr: u32, pop: u32) -> &mut Self {
        self.cf_word(inst, addr, pop)
    }

    /// Fetches four dwords as floats: R`dst` = buffer[R`src`.`chan`] at byte
    /// `offset`. It is a clause of its own.
    pub fn fetch(&mut self, dst: u32, src: u32, chan: u32, buffer: u32, offset: u32) -> &mut Self {
        const FMT_32_32_32_32_FLOAT: u32 = 0x23;
        let words = vec![
            buffer << 8 | src << 16 | chan << 24 | 15 << 26,
            dst | 1 << 12 | 2 << 15 | 3 << 18 | FMT_32_32_32_32_FLOAT << 22 | 1 << 30,
            offset | 1 << 19,
            0,
        ];
        self.clauses.push((self.cf.len(), words));
        self.cf_word(0x02, 0, 0)
    }

    /// Samples texture `resource` with sampler 0 at R`src`.xy.
    pub fn sample(&mut self, dst: u32, src: u32, resource: u32) -> &mut Self {
        self.texture(0x10, 0xF, dst, src, resource)
    }

    /// The same with the other coordinates masked, as Mesa does it.
    pub fn sample_2d(&mut self, dst: u32, src: u32, resource: u32) -> &mut Self {
        self.sample(dst, src, resource);
        if let Some((_, words)) = self.clauses.last_mut() {
            // SRC_SEL_Z and W
            words[2] |= 7 << 26 | 7 << 29;
        }
        self
    }

    /// Loads the texel of texture `resource` at input R0.xy, level R0.w, which R`at` gets as integers.
    pub fn load_at_input(&mut self, dst: u32, at: u32, resource: u32) -> &mut Self {
        const FLT_TO_INT: u32 = 0x6B;
        let convert = |chan| op2(FLT_TO_INT, at, chan, gpr(0, chan), Src(ZERO, 0), true);
        self.alu(0x08, &[convert(0), convert(1), convert(3)], &[]);
        self.load(dst, at, resource)
    }

    /// Loads the texel of texture `resource` at the integers in R`src`.xy, level R`src`.w.
    pub fn load(&mut self, dst: u32, src: u32, resource: u32) -> &mut Self {
        self.texture(0x03, 0, dst, src, resource)
    }

    fn texture(
        &mut self,
        opcode: u32,
        normalized: u32,
        dst: u32,
        src: u32,
        resource: u32,
    ) -> &mut Self {
        let words = vec![
            opcode | resource << 8 | src << 16,
            dst | 1 << 12 | 2 << 15 | 3 << 18 | normalized << 28,
            1 << 23 | 2 << 26 | 3 << 29,
            0,
        ];
        self.clauses.push((self.cf.len(), words));
        self.cf_word(0x01, 0, 0)
    }

    /// An ALU clause (0x08, or one of the kinds that change the stack).
    pub fn alu(&mut self, inst: u32, code: &[[u32; 2]], literals: &[u32]) -> &mut Self {
        let mut words: Vec<u32> = code.concat();
        words.extend_from_slice(literals);
        if words.len() % 2 != 0 {
            words.push(0);
        }
        let count = words.len() as u32 / 2;
        self.clauses.push((self.cf.len(), words));
        self.cf.push([0, (count - 1) << 18 | inst << 26 | 1 << 31]);
        self
    }

    /// Makes the last ALU clause lock the first 16 vectors of constant buffer `bank` as `KCACHE0`.
    pub fn lock(&mut self, bank: u32) -> &mut Self {
        if let Some([word0, _]) = self.cf.last_mut() {
            *word0 |= bank << 22 | 1 << 30;
        }
        self
    }

    /// An export of R`gpr`; `done` for the last one of its kind.
    pub fn export(
        &mut self,
        kind: u32,
        index: u32,
        gpr: u32,
        sel: [u32; 4],
        done: bool,
    ) -> &mut Self {
        let swizzle = sel[0] | sel[1] << 3 | sel[2] << 6 | sel[3] << 9;
        let inst = if done { 0x28 } else { 0x27 };
        self.cf_word(inst, index | kind << 13 | gpr << 15 | 3 << 30, swizzle)
    }

    /// A memory export of R`gpr`: stream-out (0x20..) or ring (0x26).
    pub fn memory(&mut self, inst: u32, base: u32, gpr: u32, components: u32) -> &mut Self {
        self.cf_word(inst, base | gpr << 15 | 3 << 30, 0xFFF | components << 12)
    }

    /// An indexed memory write, at index R`index`.x.
    pub fn memory_indexed(&mut self, inst: u32, base: u32, gpr: u32, index: u32) -> &mut Self {
        self.cf_word(
            inst,
            base | 1 << 13 | gpr << 15 | index << 23 | 3 << 30,
            0xFFF | 15 << 12,
        )
    }

    /// The words. The last instruction has the end-of-program bit if it is an
    /// export, else an added NOP has it.
    pub fn words(&self) -> Vec<u32> {
        let mut cf = self.cf.clone();
        // As in Mesa's programs, an export may be the end.
        const END: u32 = 1 << 21;
        match cf.last_mut() {
            Some([_, word1]) if matches!(*word1 >> 23 & 0x7F, 0x27 | 0x28) => *word1 |= END,
            _ => cf.push([0, END | 1 << 31]),
        }
        // Fetch clauses begin at multiples of 16 bytes.
        if cf.len() % 2 != 0 {
            cf.push([0, 0]);
        }
        let mut tail: Vec<u32> = Vec::new();
        for (at, words) in &self.clauses {
            if tail.len() % 4 != 0 {
                tail.extend([0, 0]);
            }
            let addr = cf.len() + tail.len() / 2;
            cf[*at][0] |= addr as u32;
            tail.extend_from_slice(words);
        }
        let mut all = cf.concat();
        all.extend(tail);
        all
    }
}
