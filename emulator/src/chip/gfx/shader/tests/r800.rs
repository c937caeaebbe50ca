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
pub(super) type Operand = (u32, u32);

/// An `OP2` of two operands to a channel of a GPR; a GPR of none masks the write.
pub(super) fn op2(
    code: u32,
    dst: Option<u32>,
    chan: u32,
    a: Operand,
    b: Operand,
    last: bool,
) -> [u32; 2] {
    [
        a.0 | a.1 << 10 | b.0 << 13 | b.1 << 23 | u32::from(last) << 31,
        u32::from(dst.is_some()) << 4 | code << 7 | dst.unwrap_or(0) << 21 | chan << 29,
    ]
}

/// The program that begins with these dwords; the others are 0.
fn decoded(words: Vec<u32>) -> Program {
    decoded_by(Isa::R800, words)
}

/// A program with one ALU clause, which ends with a NOP.
fn program(slots: &[[u32; 2]]) -> Program {
    let mut words = vec![2, 8 << 26 | (slots.len() as u32 - 1) << 18, 0, 1 << 21];
    words.extend(slots.iter().flatten());
    decoded(words)
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

/// The pixel shader of Mesa's `glBlitFramebuffer()`: each of three coordinates is interpolated, cut off and
/// converted, and a texel is loaded.
const COPY: [u32; 40] = [
    0x0000_0003,
    0xA034_0000,
    0x0000_0012,
    0x8040_0000,
    0xC000_8000,
    0x9520_0688,
    0x0038_0400,
    0x0034_6B80,
    0x00B8_0000,
    0x2034_6B80,
    0x0138_0400,
    0x4014_6B90,
    0x81B8_0000,
    0x6014_6B90,
    0x0038_0400,
    0x0034_6B10,
    0x00B8_0000,
    0x2034_6B10,
    0x0138_0400,
    0x4014_6B00,
    0x01B8_0000,
    0x6014_6B00,
    0x8000_0CFE,
    0x2040_0890,
    0x0000_00FE,
    0x0040_0890,
    0x0000_00FF,
    0x2000_2810,
    0x8000_04FE,
    0x6000_0890,
    0x0000_0CFE,
    0x0000_2810,
    0x8000_00FE,
    0x4000_2810,
    0,
    0,
    0x0000_1203,
    0xF00D_1001,
    0x3C20_0000,
    0,
];

#[test]
fn the_shader_of_a_copy_is_known() {
    let copy = |change: &[(usize, u32)]| {
        let mut words = COPY;
        for (at, bits) in change {
            words[*at] ^= bits;
        }
        decoded(words.to_vec())
            .texel_copy()
            .map(|copy| copy.coordinates)
    };
    let of = |chan| Coordinate::Parameter {
        of: (0, chan),
        weights: [(0, 0), (0, 1)],
    };
    assert_eq!(copy(&[]), Some([of(0), of(1), of(3)]));
    // Without TRUNC of x, a MOV in its place: the conversion cuts off, too; but a MOV is not looked through.
    let trunc_x = 25;
    assert_eq!(copy(&[(trunc_x, (0x11 ^ 0x19) << 7)]), None);
    // Clamped interpolation, a negated operand, a result times two, a component that is not loaded.
    for change in [(15, 1 << 31), (24, 1 << 12), (31, 1 << 5), (38, 7 << 20)] {
        assert_eq!(copy(&[change]), None, "{change:x?}");
    }
    // Other weights are for the interpolator to refuse.
    let other = Coordinate::Parameter {
        of: (0, 0),
        weights: [(0, 0), (0, 0)],
    };
    assert_eq!(copy(&[(14, 0x400)]).map(|found| found[0]), Some(other));
}

#[test]
fn a_dot_product_is_clamped_once() {
    // All slots clamp. The product of z is negative, and y takes it as it is; so does x with y's sum.
    let (lane, one, half) = ((1, 2), (249, 0), (252, 0));
    let mut slots = [
        op2(DOT_IEEE, Some(2), 0, half, one, false),
        op2(DOT_IEEE, Some(2), 1, lane, lane, false),
        op2(MUL_IEEE, Some(2), 2, lane, one, true),
    ];
    slots[2][0] |= 1 << 12;
    for slot in &mut slots {
        slot[1] |= 1 << 31;
    }
    let wave = ran(&slots, &mut Recorder::default());
    for l in 0..64 {
        let sum = (l * l) as f32 - l as f32;
        let wanted = [(sum + 0.5).min(1.0), sum.min(1.0), 0.0];
        let got = [0, 1, 2].map(|chan| f32::from_bits(wave.gpr(2, chan)[l]));
        assert_eq!(got, wanted, "lane {l}");
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
    fn parameter(&mut self, index: u32, chan: u8) -> Option<[f32; 3]> {
        assert_eq!(index, 5);
        Some([100.0 + f32::from(chan), 10.0, 1000.0])
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

/// Mesa's assembler names the results of the group before as `PV`, for `interpolateAtOffset()`.
#[test]
fn weights_can_be_results_of_the_group_before() {
    let (param, one) = ((448 + 5, 0), (249, 0));
    let mut slots = vec![
        // PV.x is R1.w, PV.y is R1.z.
        op2(MUL_IEEE, None, 0, (1, 3), one, false),
        op2(MUL_IEEE, Some(2), 1, (1, 2), one, true),
    ];
    slots.extend((0..4).map(|chan| {
        let dst = (chan < 2).then_some(3);
        op2(INTERP_XY, dst, chan, (254, chan % 2), param, chan == 3)
    }));
    let wave = ran(&slots, &mut Parameters(Recorder::default()));
    for l in 0..64 {
        let (i, j) = (l as f32, 63.0 - l as f32);
        for chan in 0..2 {
            let value = f32::from_bits(wave.gpr(3, chan)[l]);
            assert_eq!(value, 100.0 + chan as f32 + (10.0 * i + 1000.0 * j));
        }
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

/// `GROUP_BARRIER`, `MOV`, `ADD_INT`, `MBCNT_32HI_INT` and `MBCNT_32LO_ACCUM_PREV_INT`.
const BARRIER: u32 = 0x54;
const MOV: u32 = 0x19;
const ADD_INT: u32 = 0x34;
const MBCNT_HI: u32 = 0xB3;
const MBCNT_LO: u32 = 0xB7;
/// `LDS_OQ_A_POP`.
const POP: Operand = (221, 0);

/// An `LDS_IDX_OP`: operation, offset in dwords, byte address and two operands.
fn lds(op: u32, offset: u32, address: Operand, a: Operand, b: Operand) -> [u32; 2] {
    let bit = |n: u32| offset >> n & 1;
    [
        address.0 | address.1 << 10 | bit(4) << 12 | a.0 << 13 | a.1 << 23 | bit(5) << 25 | 1 << 31,
        b.0 | b.1 << 10
            | bit(1) << 12
            | 0x11 << 13
            | op << 21
            | bit(0) << 27
            | bit(2) << 28
            | bit(3) << 31,
    ]
}

/// A data share of 1024 dwords; keeps the accesses of RATs and of append counters.
#[derive(Default)]
pub(super) struct Shares {
    pub(super) recorder: Recorder,
    local: Vec<u32>,
    accesses: Vec<(u32, u8, [u32; 3], [u32; 4], u8, Mask)>,
    pub(super) counters: Vec<(u8, u32, u32, Mask)>,
    pub(super) global: Vec<(u8, u32, u32, Mask)>,
    factors: Vec<(u32, u32)>,
}

impl Env for Shares {
    fn constants(&mut self, bank: u32, first: u32, out: &mut [[u32; 4]]) {
        self.recorder.constants(bank, first, out);
    }
    fn resource(&mut self, index: u32) -> [u32; 7] {
        self.recorder.resource(index)
    }
    fn read(&mut self, address: u64, out: &mut [u8]) -> Result<(), McError> {
        self.recorder.read(address, out)
    }
    fn texture(
        &mut self,
        op: &TexInstruction,
        src: &[&Lanes; 4],
        exec: Mask,
        out: &mut [Lanes; 4],
    ) -> bool {
        self.recorder.texture(op, src, exec, out)
    }
    fn export(&mut self, k: ExportKind, i: u32, v: [&Lanes; 4], c: u8, exec: Mask) {
        self.recorder.export(k, i, v, c, exec);
    }
    fn memory_export(&mut self, export: &MemoryExport<'_>) {
        self.recorder.memory_export(export);
    }
    fn tessellation_factor(&mut self, address: &Lanes, factor: &Lanes, exec: Mask) {
        let lanes = (0..64).filter(|lane| exec >> lane & 1 != 0);
        self.factors
            .extend(lanes.map(|lane| (address[lane], factor[lane])));
    }
    fn local_share(&mut self) -> &mut [u32] {
        &mut self.local
    }
    fn wave_id(&mut self) -> u32 {
        7
    }
    fn random_access(&mut self, access: &RandomAccess<'_>) {
        self.accesses.push((
            access.target,
            access.op,
            access.index.map(|row| row[9]),
            access.values.map(|row| row[9]),
            access.components,
            access.exec,
        ));
    }
    fn counter(
        &mut self,
        op: u8,
        counter: u32,
        a: &Lanes,
        _b: &Lanes,
        exec: Mask,
        out: &mut Lanes,
    ) {
        self.counters.push((op, counter, a[9], exec));
        out.fill(1000);
    }
    fn global_share(&mut self, op: u8, operands: [&Lanes; 3], exec: Mask, out: &mut Lanes) {
        self.global.push((op, operands[0][9], operands[1][9], exec));
        out.fill(2000);
    }
}

/// `TF_WRITE` (a clause at dword 4) of R1.y to the address in R1.x.
#[test]
fn tessellation_factors_go_to_their_addresses() {
    let gds = [2 | 5 << 8 | 1 << 11 | 1 << 23 | 4 << 26, 0, 0o7777, 0];
    let mut words = vec![2, 3 << 22 | 1 << 31, 0, 1 << 21];
    words.extend(gds);
    let program = decoded(words);
    assert!(program.unknown_instructions().is_empty());
    let mut wave = integers();
    for lane in 0..64 {
        wave.gpr_mut(1, 1)[lane] = 1000 + lane as u32;
    }
    let lanes = 0b1010_0000;
    wave.begin(lanes, lanes, BUDGET);
    let mut env = Shares::default();
    run(&program, &mut wave, &mut env).unwrap();
    assert_eq!(env.factors, [(5, 1005), (7, 1007)]);
    assert!(env.counters.is_empty());
}

#[test]
fn lanes_share_memory_and_take_results_in_their_order() {
    // R1.x is the lane; R2.x = 4 * lane, R2.y = 252 - R2.x.
    let slots = [
        op2(0x17, Some(2), 0, (1, 0), (253, 0), true),
        [2, 0],
        op2(0x35, Some(2), 1, (253, 0), (2, 0), true),
        [252, 0],
        lds(0x0D, 0, (2, 0), (1, 0), (248, 0)),
        // WRITE_REL: the lane, and 1 at 32 dwords behind; lanes from 32 on overwrite that.
        lds(0x0E, 32, (2, 0), (1, 0), (250, 0)),
        lds(0x32, 0, (2, 1), (248, 0), (248, 0)),
        lds(0x20, 0, (2, 0), (250, 0), (248, 0)),
        op2(MOV, Some(3), 0, POP, (248, 0), true),
        op2(MOV, Some(3), 1, POP, (248, 0), true),
    ];
    let mut env = Shares {
        local: vec![9; 1024],
        ..Shares::default()
    };
    let mut slots = slots.to_vec();
    // Ends with a value that no read has put into the queue.
    slots.push(op2(MOV, Some(3), 2, POP, (248, 0), true));
    let program = program(&slots);
    let mut wave = integers();
    wave.begin(ALL, ALL, BUDGET);
    run(&program, &mut wave, &mut env).unwrap();
    for l in 0..64u32 {
        let at = |chan| wave.gpr(3, chan)[l as usize];
        assert_eq!(at(0), 63 - l, "lane {l}");
        assert_eq!((at(1), at(2)), (l, 0));
        assert_eq!(env.local[l as usize], l + 1);
    }
    assert_eq!(env.local[64..97], [[1; 32].as_slice(), &[9]].concat());
}

/// A wave with the lane's number as an integer in R1.x.
fn integers() -> Wave {
    let mut wave = Wave::new();
    for lane in 0..64 {
        wave.gpr_mut(1, 0)[lane] = lane as u32;
    }
    wave
}

#[test]
fn a_barrier_stops_a_wave_in_its_clause() {
    // Each lane writes 1 to its dword; behind the barrier it reads its mirror's in the other wave.
    let slots = [
        lds(0x0D, 0, (1, 1), (250, 0), (248, 0)),
        op2(BARRIER, None, 0, (248, 0), (248, 0), true),
        lds(0x32, 0, (1, 2), (248, 0), (248, 0)),
        op2(MOV, Some(3), 0, POP, (248, 0), true),
    ];
    let program = program(&slots);
    let mut env = Shares {
        local: vec![0; 128],
        ..Shares::default()
    };
    let mut waves: Vec<_> = (0..2)
        .map(|n| {
            let mut wave = Wave::new();
            for lane in 0..64 {
                let place = n * 64 + lane as u32;
                wave.gpr_mut(1, 1)[lane] = 4 * place;
                wave.gpr_mut(1, 2)[lane] = 4 * (127 - place);
            }
            wave.begin(ALL, ALL, BUDGET);
            (wave, Position::default())
        })
        .collect();
    for round in 0..2 {
        for (wave, at) in &mut waves {
            assert!(!at.done);
            run_part(&program, wave, &mut env, at).unwrap();
            assert_eq!(at.done, round == 1);
        }
    }
    for (wave, _) in &waves {
        assert_eq!(*wave.gpr(3, 0), [1; 64]);
    }
    // Without a position it does not stop.
    let mut alone = Wave::new();
    alone.begin(ALL, ALL, BUDGET);
    run(&program, &mut alone, &mut env).unwrap();
    assert_eq!(alone.gpr(3, 0)[0], 1);
}

#[test]
fn lanes_count_those_before_them() {
    let all = (251, 0);
    let slots = [
        op2(MBCNT_LO, Some(2), 0, all, (248, 0), false),
        op2(MBCNT_HI, Some(2), 1, all, (248, 0), true),
        // HW_WAVE_ID and SE_ID.
        op2(ADD_INT, Some(3), 0, (231, 0), (233, 0), true),
    ];
    let wave = ran(&slots, &mut Shares::default());
    for l in 0..64 {
        assert_eq!(wave.gpr(2, 0)[l], l as u32, "lane {l}");
        assert_eq!(wave.gpr(3, 0)[l], 7);
    }
}

#[test]
fn time_goes_on() {
    const MOV: u32 = 25;
    let zero = (248, 0);
    // R2.xy = TIME_LO, TIME_HI; R3.xy the same two groups later.
    let slots = [
        op2(MOV, Some(2), 0, (228, 0), zero, false),
        op2(MOV, Some(2), 1, (227, 0), zero, true),
        op2(MOV, Some(5), 0, zero, zero, true),
        op2(MOV, Some(3), 0, (228, 0), zero, false),
        op2(MOV, Some(3), 1, (227, 0), zero, true),
    ];
    let program = program(&slots);
    assert!(program.unknown_instructions().is_empty());
    let mut wave = Wave::new();
    for before in [0, u64::from(u32::MAX) - 3] {
        wave.begin(ALL, ALL, u64::MAX);
        wave.executed = before;
        run(&program, &mut wave, &mut Shares::default()).unwrap();
        let time = |wave: &Wave, gpr| {
            u64::from(wave.gpr(gpr, 1)[9]) << 32 | u64::from(wave.gpr(gpr, 0)[9])
        };
        let first = time(&wave, 2);
        assert!(first > before && first < before + 10, "{first:x}");
        assert_eq!(time(&wave, 3), first + 3);
    }
    assert_eq!([wave.gpr(2, 1)[9], wave.gpr(3, 1)[9]], [0, 1], "carried");
}

/// A program of CF instructions and of a clause at dword 8.
fn controlled(cf: &[[u32; 2]], clause: &[u32]) -> Program {
    let mut words: Vec<u32> = cf.iter().flatten().copied().collect();
    words.resize(8, 0);
    words.extend(clause);
    decoded(words)
}

#[test]
fn random_accesses_name_target_operation_and_registers() {
    // RAT 5, ADD_RTN of R3 at R2, xyzw; then END.
    let access = [
        5 | 39 << 4 | 3 << 13 | 3 << 15 | 2 << 23,
        0xF << 12 | 0x56 << 22 | 1 << 21,
    ];
    let program = controlled(&[access], &[]);
    assert!(program.unknown_instructions().is_empty());
    let mut wave = Wave::new();
    for chan in 0..4 {
        wave.gpr_mut(2, chan).fill(20 + chan as u32);
        wave.gpr_mut(3, chan).fill(30 + chan as u32);
    }
    let mut env = Shares::default();
    // Helper lanes do not take part.
    wave.begin(ALL, 0xFF00, BUDGET);
    run(&program, &mut wave, &mut env).unwrap();
    let expected = (5, 39, [20, 21, 22], [30, 31, 32, 33], 0xF, 0xFF00);
    assert_eq!(env.accesses, [expected]);
}

#[test]
fn a_clause_of_fetches_can_leave_helpers_alone() {
    const KILLGT: u32 = 45;
    // R1.x > 59 kills; a fetch writes 0 to R4.x; R5.x = 1.
    let mut clause: Vec<u32> = op2(KILLGT, None, 0, (1, 0), (2, 0), true).to_vec();
    clause.extend(op2(25, Some(5), 0, (250, 0), (248, 0), true));
    clause.extend([0, 4 | 4 << 9 | 7 << 12 | 7 << 15 | 7 << 18, 0, 0]);
    for (mode, untouched) in [(0, 0u64), (1 << 20, 0xF000_0000_0000_00FF)] {
        let kill = [4, 8 << 26];
        let fetch = [6, 2 << 22 | mode];
        let after = [5, 8 << 26];
        let program = controlled(&[kill, fetch, after, [0, 1 << 21]], &clause);
        assert!(program.unknown_instructions().is_empty());
        let mut wave = Wave::new();
        for l in 0..64 {
            wave.gpr_mut(1, 0)[l] = (l as f32).to_bits();
        }
        wave.gpr_mut(2, 0).fill(59f32.to_bits());
        wave.gpr_mut(4, 0).fill(u32::MAX);
        wave.begin(ALL, !0xFF, BUDGET);
        run(&program, &mut wave, &mut Shares::default()).unwrap();
        for l in 0..64 {
            let left = untouched >> l & 1 != 0;
            let expected = if left { u32::MAX } else { 0 };
            assert_eq!(wave.gpr(4, 0)[l], expected, "lane {l}, mode {mode:x}");
        }
        assert_eq!(wave.gpr(5, 0)[0], 1, "helpers go on");
    }
}

#[test]
fn a_clause_of_the_global_share_changes_counters() {
    let clause = [
        // ADD_RET of counter 6 by R2.y; the result goes to R4.z.
        2 | 4 << 8 | 2 << 11 | 4 << 20 | 1 << 23 | 4 << 26,
        4 | 0x20 << 9 | 6 << 26 | 1 << 30,
        7 | 7 << 3 | 7 << 9,
        0,
    ];
    let gds = [4, 0x03 << 22];
    let program = controlled(&[gds, [0, 1 << 21]], &clause);
    assert!(program.unknown_instructions().is_empty());
    let mut wave = Wave::new();
    wave.gpr_mut(2, 0).fill(64);
    wave.gpr_mut(2, 1).fill(3);
    let mut env = Shares::default();
    wave.begin(ALL, 0xFF00, BUDGET);
    run(&program, &mut wave, &mut env).unwrap();
    assert_eq!(env.counters, [(0x20, 6, 3, 0xFF00)]);
    assert_eq!(wave.gpr(4, 2)[9], 1000);
    assert_eq!(wave.gpr(4, 1)[9], 0, "masked");
}

proptest::proptest! {
    /// Any words are decoded, or refused, and what is decoded ends.
    #[test]
    fn hostile_programs_end(words in proptest::collection::vec(proptest::num::u32::ANY, 2..96)) {
        hostile(words, Isa::R800, 1 << 21);
    }
}
