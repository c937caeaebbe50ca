// SPDX-License-Identifier: MIT
//! Programs in R800's encoding. Words as Mesa's `eg_asm.c` composes them.

use super::*;

/// `MUL_IEEE`, `DOT_IEEE`, `INTERP_XY`, `INTERP_LOAD_P0` and `BFE_INT` as `OP2` words have them.
const MUL_IEEE: u32 = 0x02;
const DOT_IEEE: u32 = 0xAF;
const INTERP_XY: u32 = 0xD6;
const LOAD_P0: u32 = 0xE0;
const BFE_INT: u32 = 0x05;

/// An operand: select and channel.
type Operand = (u32, u32);

/// An `OP2` of two operands to a channel of a GPR; a GPR of none masks the write.
fn op2(code: u32, dst: Option<u32>, chan: u32, a: Operand, b: Operand, last: bool) -> [u32; 2] {
    [
        a.0 | a.1 << 10 | b.0 << 13 | b.1 << 23 | u32::from(last) << 31,
        u32::from(dst.is_some()) << 4 | code << 7 | dst.unwrap_or(0) << 21 | chan << 29,
    ]
}

/// A program with one ALU clause, which ends with a NOP.
fn program(slots: &[[u32; 2]]) -> Program {
    let mut words = vec![2, 8 << 26 | (slots.len() as u32 - 1) << 18, 0, 1 << 21];
    words.extend(slots.iter().flatten());
    let mut fetch = |address: u64, out: &mut [u32]| {
        let at = (address / 4) as usize;
        words.resize(words.len().max(at + out.len()), 0);
        out.copy_from_slice(&words[at..at + out.len()]);
        true
    };
    let options = Options {
        dx10_clamp: true,
        isa: Isa::R800,
    };
    Program::decode(0, options, &mut fetch).unwrap()
}

/// Runs the program on a wave of [`lane_numbers`].
fn ran(slots: &[[u32; 2]], env: &mut dyn Env) -> Wave {
    let program = program(slots);
    assert!(program.unknown_instructions().is_empty());
    let mut wave = lane_numbers();
    wave.begin(ALL, ALL, BUDGET);
    run(&program, &mut wave, env).unwrap();
    wave
}

#[test]
fn dot_products_add_the_next_channels_result() {
    // z: a masked product; y and x add to it. x also overwrites an operand of y.
    let lane = (1, 2);
    let rest = (1, 3);
    let slots = [
        op2(DOT_IEEE, Some(1), 3, lane, rest, false),
        op2(DOT_IEEE, Some(2), 0, lane, lane, false),
        op2(DOT_IEEE, Some(2), 1, rest, rest, false),
        op2(MUL_IEEE, None, 2, lane, (249, 0), true),
    ];
    let wave = ran(&slots, &mut Recorder::default());
    for l in 0..64 {
        let (a, b) = (l as f32, 63.0 - l as f32);
        assert_eq!(f32::from_bits(wave.gpr(2, 1)[l]), b * b + a, "lane {l}");
        assert_eq!(f32::from_bits(wave.gpr(2, 0)[l]), a * a + (b * b + a));
        // There is nothing beyond w.
        assert_eq!(f32::from_bits(wave.gpr(1, 3)[l]), a * b);
    }
}

/// Parameter 5 is 100 + chan at vertex 0; vertices 1 and 2 differ by 10 and 1000.
struct Parameters(Recorder);

impl Env for Parameters {
    fn constants(&mut self, bank: u32, first: u32, out: &mut [[u32; 4]]) {
        self.0.constants(bank, first, out);
    }
    fn resource(&mut self, index: u32) -> [u32; 7] {
        self.0.resource(index)
    }
    fn read(&mut self, address: u64, out: &mut [u8]) -> Result<(), McError> {
        self.0.read(address, out)
    }
    fn texture(
        &mut self,
        op: &TexInstruction,
        src: &[&Lanes; 4],
        exec: Mask,
        out: &mut [Lanes; 4],
    ) -> bool {
        self.0.texture(op, src, exec, out)
    }
    fn export(&mut self, k: ExportKind, i: u32, v: [&Lanes; 4], c: u8, exec: Mask) {
        self.0.export(k, i, v, c, exec);
    }
    fn memory_export(&mut self, export: &MemoryExport<'_>) {
        self.0.memory_export(export);
    }
    fn parameter(&mut self, index: u32, chan: u8) -> [f32; 3] {
        assert_eq!(index, 5);
        [100.0 + f32::from(chan), 10.0, 1000.0]
    }
}

#[test]
fn inputs_are_interpolated_with_both_weights() {
    // I is in R1.z (the lane), J in R1.w; the slots name J, I, J, I.
    let param = (448 + 5, 0);
    let mut slots: Vec<_> = (0..4)
        .map(|chan| {
            let weight = (1, 3 - chan % 2);
            let dst = (chan < 2).then_some(1);
            op2(INTERP_XY, dst, chan, weight, param, chan == 3)
        })
        .collect();
    slots.push(op2(LOAD_P0, Some(3), 0, (448 + 5, 2), (248, 0), true));
    let wave = ran(&slots, &mut Parameters(Recorder::default()));
    for l in 0..64 {
        let (i, j) = (l as f32, 63.0 - l as f32);
        let at = |chan: usize| f32::from_bits(wave.gpr(1, chan)[l]);
        assert_eq!(at(0), 100.0 + (10.0 * i + 1000.0 * j), "lane {l}");
        assert_eq!(at(1), 101.0 + (10.0 * i + 1000.0 * j), "lane {l}");
        assert_eq!(f32::from_bits(wave.gpr(3, 0)[l]), 102.0);
    }
}

#[test]
fn own_integer_operations() {
    // Of the lane's number, in R1.x: results in R4 on.
    let unary = [
        (0x51, (|l| l.reverse_bits()) as fn(u32) -> u32),
        (0xAA, |l| l.count_ones()),
        (0xAB, |l| if l == 0 { !0 } else { l.leading_zeros() }),
        (0xAC, |l| if l == 0 { !0 } else { l.trailing_zeros() }),
        (0xA4, |l| (l as f32).to_bits()),
    ];
    let mut slots = Vec::new();
    for (n, (code, _)) in unary.iter().enumerate() {
        slots.push(op2(*code, Some(4 + n as u32), 0, (1, 0), (248, 0), true));
    }
    // BFE_INT of three bits from bit 2 on; the offset is literal x, the width y.
    slots.push([
        1 | 253 << 13 | 1 << 31,
        253 | 1 << 10 | BFE_INT << 13 | 12 << 21,
    ]);
    slots.push([2, 3]);
    let wave = ran(&slots, &mut Recorder::default());
    for (n, (code, want)) in unary.iter().enumerate() {
        for l in 0..64u32 {
            let got = wave.gpr(4 + n, 0)[l as usize];
            assert_eq!(got, want(l), "{code:#x} of {l}");
        }
    }
    for l in 0..64u32 {
        let field = (l >> 2 & 7) as i32;
        let want = if field > 3 { field - 8 } else { field };
        assert_eq!(wave.gpr(12, 0)[l as usize] as i32, want, "BFE_INT of {l}");
    }
}

proptest::proptest! {
    /// Any words are decoded, or refused, and what is decoded ends.
    #[test]
    fn hostile_programs_end(words in proptest::collection::vec(proptest::num::u32::ANY, 2..96)) {
        let mut words = words;
        let mut fetch = |address: u64, out: &mut [u32]| {
            let at = (address / 4) as usize;
            if at > 1 << 12 {
                return false;
            }
            words.resize(words.len().max(at + out.len()), 1 << 21);
            out.copy_from_slice(&words[at..at + out.len()]);
            true
        };
        let options = Options { dx10_clamp: true, isa: Isa::R800 };
        if let Ok(program) = Program::decode(0, options, &mut fetch) {
            let mut wave = lane_numbers();
            wave.begin(ALL, ALL, 1 << 14);
            let _ = run(&program, &mut wave, &mut Recorder::default());
        }
    }
}
