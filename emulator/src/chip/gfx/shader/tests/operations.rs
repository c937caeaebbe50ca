// SPDX-License-Identifier: MIT
//! Every ALU operation against an exact reference over special values.
//!
//! The reference works in double precision: the sum, difference, product,
//! quotient and root of two singles, rounded to double and then to single,
//! are the correctly rounded single (53 >= 2 * 24 + 2 bits). Estimates of the
//! transcendental unit are compared within two units of the last place.

// The C library's functions give the expected values.
#![allow(clippy::disallowed_methods)]

use super::super::program::is_denormal;
use super::*;

/// An expected result.
#[derive(Debug, Clone, Copy)]
enum Want {
    Bits(u32),
    Nan,
    /// Within two units of the last place.
    Near(f64),
}

const MAX: u32 = 0x7f7f_ffff;

fn special_values() -> Vec<u32> {
    let mut values: Vec<u32> = [
        0.0f32,
        1.0,
        0.5,
        2.0,
        3.0,
        0.25,
        1.5,
        2.5,
        3.5,
        0.1,
        1e-20,
        1e20,
        3e38,
        8388607.5,
        8388608.5,
        16777216.0,
        2147483648.0,
        4294967296.0,
        255.0,
        256.0,
        0.999_999_94,
        1.000_000_1,
    ]
    .iter()
    .flat_map(|x| [x.to_bits(), (-x).to_bits()])
    .collect();
    values.extend([
        0x7f80_0000,
        0xff80_0000, // infinities
        0x7fc0_0000,
        0xffc0_0000,
        0x7f80_0001, // NaN, quiet and signalling
        MAX,
        MAX | 1 << 31, // largest
        0x0080_0000,
        0x8080_0000,
        0x0080_0001, // smallest normal
        0x007f_ffff,
        0x807f_ffff,
        1,
        0x8000_0001,
        7, // denormals, small integers
        0x7fff_ffff,
        0xffff_ffff,
        0xffff_fff0,
        0x5555_5555,
        0x1234_5678,
    ]);
    values
}

fn ftz(bits: u32) -> u32 {
    if bits & 0x7f80_0000 == 0 {
        bits & 0x8000_0000
    } else {
        bits
    }
}

fn float(x: f64) -> Want {
    if x.is_nan() {
        Want::Nan
    } else {
        // Rounded, then flushed.
        Want::Bits(ftz((x as f32).to_bits()))
    }
}

fn bool_float(x: bool) -> Want {
    Want::Bits(if x { 0x3f80_0000 } else { 0 })
}

fn bool_int(x: bool) -> Want {
    Want::Bits(if x { u32::MAX } else { 0 })
}

/// Result and, for tests, whether the lane passes.
fn reference(op: AluOp, a: u32, b: u32, c: u32) -> (Want, Option<bool>) {
    use AluOp::*;
    let d = |bits: u32| f64::from(f32::from_bits(ftz(bits)));
    let (x, y, z) = (d(a), d(b), d(c));
    let (i, j) = (a as i32, b as i32);
    let single = |v: f64| f64::from(v as f32);
    let product = |legacy: bool| {
        if legacy && (x == 0.0 || y == 0.0) {
            0.0
        } else {
            single(x * y)
        }
    };
    let pick = |take_a: bool| {
        let bits = ftz(if take_a { a } else { b });
        if f32::from_bits(bits).is_nan() {
            Want::Nan
        } else {
            Want::Bits(bits)
        }
    };
    let kill = |pass: bool| (bool_float(pass), Some(pass));
    let pred = |pass: bool| (bool_float(!pass), Some(pass));
    let level = |pass: bool, up: Want| (if pass { Want::Bits(0) } else { up }, Some(pass));
    let near = |v: f64| {
        if v.is_nan() {
            Want::Nan
        } else {
            Want::Near(v)
        }
    };
    let clamped = |v: f64| {
        if v.is_infinite() {
            Want::Bits(MAX | u32::from(v < 0.0) << 31)
        } else {
            near(v)
        }
    };
    let no_infinity = |v: f64| {
        if v.is_infinite() {
            Want::Bits(u32::from(v < 0.0) << 31)
        } else {
            near(v)
        }
    };
    let lit = || {
        if y == -f64::from(f32::MAX)
            || y == f64::NEG_INFINITY
            || y.is_nan()
            || z <= 0.0
            || z.is_nan()
        {
            -f64::from(f32::MAX)
        } else {
            product(true)
        }
    };
    let choose = |first: bool| Want::Bits(if first { b } else { c });
    let value = match op {
        Add => float(x + y),
        Mul => float(product(true)),
        MulIeee => float(product(false)),
        Max => pick(x >= y),
        Min => pick(x < y),
        MaxDx10 => pick(x >= y || y.is_nan()),
        MinDx10 => pick(x < y || y.is_nan()),
        Sete => bool_float(x == y),
        Setgt => bool_float(x > y),
        Setge => bool_float(x >= y),
        Setne => bool_float(x != y),
        SeteDx10 => bool_int(x == y),
        SetgtDx10 => bool_int(x > y),
        SetgeDx10 => bool_int(x >= y),
        SetneDx10 => bool_int(x != y),
        Fract => float(x - x.floor()),
        Trunc => float(x.trunc()),
        Ceil => float(x.ceil()),
        Floor => float(x.floor()),
        Rndne => {
            let low = x.floor();
            let rest = x - low;
            let up = rest > 0.5 || (rest == 0.5 && low % 2.0 != 0.0);
            let v = if up { low + 1.0 } else { low };
            float(if v == 0.0 { v.copysign(x) } else { v })
        }
        Mova => Want::Bits((x as f32 + 0.5).floor().clamp(-256.0, 255.0) as i32 as u32),
        MovaFloor => Want::Bits(x.floor().clamp(-256.0, 255.0) as i32 as u32),
        MovaInt => Want::Bits(i.clamp(-256, 255) as u32),
        Mov => Want::Bits(a),
        AndInt => Want::Bits(a & b),
        OrInt => Want::Bits(a | b),
        XorInt => Want::Bits(a ^ b),
        NotInt => Want::Bits(!a),
        AddInt => Want::Bits((u64::from(a) + u64::from(b)) as u32),
        SubInt => Want::Bits((i64::from(i) - i64::from(j)) as u32),
        MaxInt => Want::Bits(if i > j { a } else { b }),
        MinInt => Want::Bits(if i < j { a } else { b }),
        MaxUint => Want::Bits(if a > b { a } else { b }),
        MinUint => Want::Bits(if a < b { a } else { b }),
        SeteInt => bool_int(a == b),
        SetgtInt => bool_int(i > j),
        SetgeInt => bool_int(i >= j),
        SetneInt => bool_int(a != b),
        SetgtUint => bool_int(a > b),
        SetgeUint => bool_int(a >= b),
        AshrInt => Want::Bits((i64::from(i) >> (b % 32)) as u32),
        LshrInt => Want::Bits((u64::from(a) >> (b % 32)) as u32),
        LshlInt => Want::Bits((u64::from(a) << (b % 32)) as u32),
        MulloInt | MulloUint => Want::Bits((u64::from(a) * u64::from(b)) as u32),
        MulhiInt => Want::Bits(((i128::from(i) * i128::from(j)) >> 32) as u32),
        MulhiUint => Want::Bits(((u128::from(a) * u128::from(b)) >> 32) as u32),
        RecipUint if a == 0 => Want::Bits(u32::MAX),
        RecipUint => Want::Bits(((1u64 << 32) / u64::from(a)).min(0xffff_ffff) as u32),
        RecipInt if a == 0 => Want::Bits(i32::MAX as u32),
        RecipInt => Want::Bits(((1i64 << 31) / i64::from(i)).min(0x7fff_ffff) as u32),
        FltToInt if x.is_nan() => Want::Bits(0),
        FltToInt => Want::Bits(x.trunc().clamp(-2147483648.0, 2147483647.0) as i64 as u32),
        FltToUint if x.is_nan() => Want::Bits(0),
        FltToUint => Want::Bits(x.trunc().clamp(0.0, 4294967295.0) as i64 as u32),
        IntToFlt => float(f64::from(i)),
        UintToFlt => float(f64::from(a)),
        ExpIeee => near(x.exp2()),
        LogIeee | LogClamped => {
            let v = if x == 0.0 {
                f64::NEG_INFINITY
            } else {
                x.log2()
            };
            if op == LogIeee {
                near(v)
            } else {
                clamped(v)
            }
        }
        RecipIeee => near(1.0 / x),
        RecipClamped => clamped(1.0 / x),
        RecipFf => no_infinity(1.0 / x),
        RecipsqrtIeee => near(1.0 / x.sqrt()),
        RecipsqrtClamped => clamped(1.0 / x.sqrt()),
        RecipsqrtFf => no_infinity(1.0 / x.sqrt()),
        SqrtIeee => float(x.sqrt()),
        Sin | Cos if x.is_infinite() => Want::Nan,
        Sin | Cos if x.abs() > 256.0 => Want::Bits(if op == Sin { 0 } else { 0x3f80_0000 }),
        Sin => near((x.fract() * std::f64::consts::TAU).sin()),
        Cos => near((x.fract() * std::f64::consts::TAU).cos()),
        MulLit => float(lit()),
        MulLitM2 => float(single(lit() * 2.0)),
        MulLitM4 => float(single(lit() * 4.0)),
        MulLitD2 => float(single(lit() * 0.5)),
        Muladd => float(product(true) + z),
        MuladdM2 => float(single(product(true) + z) * 2.0),
        MuladdM4 => float(single(product(true) + z) * 4.0),
        MuladdD2 => float(single(product(true) + z) * 0.5),
        MuladdIeee => float(product(false) + z),
        MuladdIeeeM2 => float(single(product(false) + z) * 2.0),
        MuladdIeeeM4 => float(single(product(false) + z) * 4.0),
        MuladdIeeeD2 => float(single(product(false) + z) * 0.5),
        Cnde => choose(x == 0.0),
        Cndgt => choose(x > 0.0),
        Cndge => choose(x >= 0.0),
        CndeInt => choose(i == 0),
        CndgtInt => choose(i > 0),
        CndgeInt => choose(i >= 0),
        Kille => return kill(x == y),
        Killgt => return kill(x > y),
        Killge => return kill(x >= y),
        Killne => return kill(x != y),
        KillgtUint => return kill(a > b),
        KillgeUint => return kill(a >= b),
        KilleInt => return kill(a == b),
        KillgtInt => return kill(i > j),
        KillgeInt => return kill(i >= j),
        KillneInt => return kill(a != b),
        PredSete => return pred(x == y),
        PredSetgt => return pred(x > y),
        PredSetge => return pred(x >= y),
        PredSetne => return pred(x != y),
        PredSetgtUint => return pred(a > b),
        PredSetgeUint => return pred(a >= b),
        PredSeteInt => return pred(a == b),
        PredSetgtInt => return pred(i > j),
        PredSetgeInt => return pred(i >= j),
        PredSetneInt => return pred(a != b),
        PredSetInv => {
            let other = if x == 0.0 { float(1.0) } else { float(x) };
            return level(x == 1.0, other);
        }
        PredSetPop => return level(x <= y, float(x - y)),
        PredSetClr => return (Want::Bits(MAX), Some(false)),
        PredSetRestore => return level(x == 0.0, float(x)),
        PredSetePush => return level(y == 0.0 && x == 0.0, float(x + 1.0)),
        PredSetgtPush => return level(y > 0.0 && x == 0.0, float(x + 1.0)),
        PredSetgePush => return level(y >= 0.0 && x == 0.0, float(x + 1.0)),
        PredSetnePush => return level(y != 0.0 && x == 0.0, float(x + 1.0)),
        PredSetePushInt => return level(b == 0 && a == 0, float(raw(a) + 1.0)),
        PredSetgtPushInt => return level(j > 0 && a == 0, float(raw(a) + 1.0)),
        PredSetgePushInt => return level(j >= 0 && a == 0, float(raw(a) + 1.0)),
        PredSetnePushInt => return level(b != 0 && a == 0, float(raw(a) + 1.0)),
        PredSetltPushInt => return level(j < 0 && a == 0, float(raw(a) + 1.0)),
        PredSetlePushInt => return level(j <= 0 && a == 0, float(raw(a) + 1.0)),
        other => panic!("{} has no reference", other.name()),
    };
    (value, None)
}

fn raw(bits: u32) -> f64 {
    f64::from(f32::from_bits(bits))
}

fn check(op: AluOp, got: u32, want: Want, args: [u32; 3]) {
    let value = f32::from_bits(got);
    let ok = match want {
        Want::Bits(bits) => got == bits,
        Want::Nan => value.is_nan(),
        Want::Near(want) => {
            let rounded = f32::from_bits(ftz((want as f32).to_bits()));
            if rounded.is_infinite() || rounded == 0.0 {
                // Infinities must match; zeros of sine and cosine may be inexact.
                value == rounded || (value - rounded).abs() < 1e-14
            } else {
                got.abs_diff(rounded.to_bits()) <= 2
                    || (matches!(op, AluOp::Sin | AluOp::Cos)
                        && (f64::from(value) - want).abs() < 1e-14)
            }
        }
    };
    assert!(
        ok,
        "{} {args:08x?}: {got:08x} ({value:e}), not {want:x?}",
        op.name()
    );
}

/// What lanes hold that an operation does not run for.
const HELD: u32 = 0x1234_5678;

/// Runs `op` on 64 triples, in the lanes of `exec` alone. Returns the result row, the lanes that pass,
/// and whether it took the fast path.
fn run_op(
    op: AluOp,
    args: &[[u32; 3]; LANES],
    arch: pulp::Arch,
    exec: Mask,
) -> (Lanes, Mask, bool) {
    let mut slot = alu(op, (2, 0), &[r(1, 0), r(1, 1), r(1, 2)][..op.sources()]);
    slot.pred = op.is_pred();
    slot.exec = op.is_pred();
    let words = assemble(&[clause(cf::ALU, &[group(&[slot])])]);
    let program = decode(&words);
    let mut wave = Wave::new();
    wave.arch = arch;
    for (lane, arg) in args.iter().enumerate() {
        for chan in 0..3 {
            wave.gpr_mut(1, chan)[lane] = arg[chan];
        }
    }
    wave.gpr_mut(2, 0).fill(HELD);
    wave.begin(ALL, ALL, BUDGET);
    wave.restrict(exec);
    run(&program, &mut wave, &mut Recorder::default()).unwrap();
    let passed = if op.is_kill() { wave.killed } else { wave.exec };
    let fast = program.is_plain() && !wave.denormals;
    (*wave.gpr(2, 0), passed, fast)
}

#[test]
fn every_operation_agrees_with_the_reference() {
    let values = special_values();
    let few: Vec<u32> = values
        .iter()
        .copied()
        .step_by(4)
        .chain([0x7fc0_0000, 0, 1 << 31])
        .collect();
    let mut checked = 0;
    let mut passes = [0u32; 2];
    let mut plain = 0;
    // R800's own are in no word of R700.
    for &op in AluOp::ALL.iter().filter(|op| op.is_r700()) {
        if op.units() == Units::Four || op.is_double() || op == AluOp::Nop {
            continue;
        }
        let mut triples: Vec<[u32; 3]> = Vec::new();
        match op.sources() {
            0 | 1 => triples.extend(values.iter().map(|&a| [a, 0, 0])),
            2 => {
                for &a in &values {
                    triples.extend(values.iter().map(|&b| [a, b, 0]));
                }
            }
            _ => {
                for &a in &few {
                    for &b in &few {
                        triples.extend(few.iter().map(|&c| [a, b, c]));
                    }
                }
            }
        }
        // Batches without a denormal take the fast path, if the operation has one.
        let (normal, others): (Vec<[u32; 3]>, Vec<[u32; 3]>) =
            (triples.iter()).partition(|args| args.iter().all(|&arg| !is_denormal(arg)));
        let batches = normal.chunks(LANES).chain(others.chunks(LANES));
        for (i, batch) in batches.enumerate() {
            let mut args = [[0; 3]; LANES];
            args[..batch.len()].copy_from_slice(batch);
            let (got, passed, fast) = run_op(op, &args, pulp::Arch::new(), ALL);
            let (scalar, scalar_passed, _) = run_op(op, &args, pulp::Arch::Scalar, ALL);
            // Some of each chunk of lanes.
            let some = 0x9A3C_F00F_5A1D_81E7;
            let (part, part_passed, _) = run_op(op, &args, pulp::Arch::new(), some);
            assert_eq!(part_passed, passed & some, "{}", op.name());
            plain += usize::from(fast);
            assert!(!fast || !op.float_operands() || i * LANES < normal.len());
            assert_eq!(passed, scalar_passed, "{}", op.name());
            for (lane, arg) in args.iter().enumerate() {
                let [a, b, c] = *arg;
                let (want, pass) = reference(op, a, b, c);
                check(op, got[lane], want, *arg);
                // The same bits on every host.
                let both_nan =
                    f32::from_bits(got[lane]).is_nan() && f32::from_bits(scalar[lane]).is_nan();
                assert!(
                    got[lane] == scalar[lane] || both_nan,
                    "{} {arg:08x?}",
                    op.name()
                );
                let kept = if some >> lane & 1 != 0 {
                    got[lane]
                } else {
                    HELD
                };
                assert_eq!(part[lane], kept, "{} {arg:08x?}, lane {lane}", op.name());
                if let Some(pass) = pass {
                    assert_eq!(passed >> lane & 1 != 0, pass, "{} {arg:08x?}", op.name());
                    passes[usize::from(pass)] += 1;
                }
                checked += 1;
            }
        }
    }
    assert!(checked > 400_000, "{checked}");
    assert!(plain > 500, "{plain}");
    assert!(passes.iter().all(|&n| n > 10_000), "{passes:?}");
}

/// The result of one operation with modifiers, on `a` in all lanes.
fn modified(slot: Alu, a: u32) -> u32 {
    let words = assemble(&[clause(cf::ALU, &[group(&[slot])])]);
    let program = decode(&words);
    let mut wave = Wave::new();
    wave.gpr_mut(1, 0).fill(a);
    wave.begin(ALL, ALL, BUDGET);
    run(&program, &mut wave, &mut Recorder::default()).unwrap();
    wave.gpr(2, 0)[63]
}

#[test]
fn modifiers() {
    let one = 1f32.to_bits();
    let mov = |src: Operand| alu(AluOp::Mov, (2, 0), &[src]);
    assert_eq!(modified(mov(r(1, 0).neg()), one), (-1f32).to_bits());
    assert_eq!(modified(mov(r(1, 0).abs()), (-1f32).to_bits()), one);
    // The absolute value comes before the sign.
    assert_eq!(
        modified(mov(r(1, 0).abs().neg()), (-1f32).to_bits()),
        (-1f32).to_bits()
    );
    assert_eq!(
        modified(mov(r(1, 0)).omod(1), 3f32.to_bits()),
        6f32.to_bits()
    );
    assert_eq!(
        modified(mov(r(1, 0)).omod(2), 3f32.to_bits()),
        12f32.to_bits()
    );
    assert_eq!(
        modified(mov(r(1, 0)).omod(3), 3f32.to_bits()),
        1.5f32.to_bits()
    );
    // Halving the smallest normal number underflows.
    assert_eq!(modified(mov(r(1, 0)).omod(3), 0x0080_0000), 0);
    // Output modifier before clamp.
    assert_eq!(
        modified(mov(r(1, 0)).omod(1).clamp(), 0.75f32.to_bits()),
        one
    );
    for (a, want) in [
        (2f32, 1f32),
        (-1.0, 0.0),
        (0.25, 0.25),
        (f32::INFINITY, 1.0),
        (f32::NEG_INFINITY, 0.0),
        (f32::NAN, 0.0),
    ] {
        assert_eq!(
            modified(mov(r(1, 0)).clamp(), a.to_bits()),
            want.to_bits(),
            "{a}"
        );
    }
    // A move without modifiers passes any bits.
    assert_eq!(modified(mov(r(1, 0)), 0x8000_0001), 0x8000_0001);
    assert_eq!(modified(mov(r(1, 0)), 0x7f80_0001), 0x7f80_0001);
}

#[test]
fn clamp_of_nan_without_dx10_clamp() {
    let words = assemble(&[clause(
        cf::ALU,
        &[group(&[alu(AluOp::Mov, (2, 0), &[r(1, 0)]).clamp()])],
    )]);
    let mut fetch = |address: u64, out: &mut [u32]| {
        for (i, out) in out.iter_mut().enumerate() {
            *out = words.get(address as usize / 4 + i).copied().unwrap_or(0);
        }
        true
    };
    let program = Program::decode(0, Options::r700(false), &mut fetch).unwrap();
    let mut wave = Wave::new();
    wave.gpr_mut(1, 0).fill(0x7fc0_0000);
    wave.begin(ALL, ALL, BUDGET);
    run(&program, &mut wave, &mut Recorder::default()).unwrap();
    assert!(f32::from_bits(wave.gpr(2, 0)[0]).is_nan());
}

/// A group of four slots of `op`, which read R1 and R3 component by component,
/// or the components of R1 in `select`.
fn four(op: AluOp, select: Option<([u8; 4], [u8; 4])>, write: [bool; 4]) -> Vec<u32> {
    let (s0, s1) = select.unwrap_or(([0, 1, 2, 3], [0, 1, 2, 3]));
    let second = if select.is_some() { 1 } else { 3 };
    let slots: Vec<Alu> = (0..4)
        .map(|i| {
            let src = [r(1, s0[i]), r(second, s1[i])];
            let mut slot = alu(op, (2, i as u8), &src[..op.sources()]);
            slot.write = write[i];
            slot
        })
        .collect();
    group(&slots)
}

fn run_four(words: Vec<u32>, a: [f32; 4], b: [f32; 4]) -> [f32; 4] {
    let words = assemble(&[clause(
        cf::ALU,
        &[words, group(&[alu(AluOp::Mov, (4, 0), &[pv(0)])])],
    )]);
    let program = decode(&words);
    let mut wave = Wave::new();
    for chan in 0..4 {
        wave.gpr_mut(1, chan).fill(a[chan].to_bits());
        wave.gpr_mut(3, chan).fill(b[chan].to_bits());
        wave.gpr_mut(2, chan).fill(99f32.to_bits());
    }
    wave.begin(ALL, ALL, BUDGET);
    run(&program, &mut wave, &mut Recorder::default()).unwrap();
    let pv_x = f32::from_bits(wave.gpr(4, 0)[0]);
    let out = std::array::from_fn(|chan| f32::from_bits(wave.gpr(2, chan)[5]));
    if select_all(&words) {
        assert!(pv_x.is_nan() || pv_x == out.into_iter().find(|x| *x != 99.0).unwrap_or(pv_x));
    }
    out
}

/// True if the program's first group writes one value to all units.
fn select_all(words: &[u32]) -> bool {
    let first = super::super::isa::AluInstruction::decode([words[4], words[5]]);
    first.op != Some(AluOp::Cube)
}

#[test]
fn dot_products() {
    let all = [true; 4];
    let a = [1.0, 2.0, 3.0, 4.0];
    let b = [5.0, 6.0, 7.0, 8.0];
    assert_eq!(run_four(four(AluOp::Dot4Ieee, None, all), a, b), [70.0; 4]);
    assert_eq!(run_four(four(AluOp::Dot4, None, all), a, b), [70.0; 4]);
    // Only z is written; PV.x still is the result.
    let only_z = [false, false, true, false];
    let got = run_four(four(AluOp::Dot4Ieee, None, only_z), a, b);
    assert_eq!(got, [99.0, 99.0, 70.0, 99.0]);
    let infinite = [f32::INFINITY, 0.0, 0.0, 1.0];
    let zeros = [0.0, 1.0, 1.0, 2.0];
    assert_eq!(
        run_four(four(AluOp::Dot4, None, all), infinite, zeros),
        [2.0; 4]
    );
    assert!(run_four(four(AluOp::Dot4Ieee, None, all), infinite, zeros)[0].is_nan());
    // The sum of four negative zeros is one; in DOT4 the products of zeros have no sign.
    for (op, negative) in [(AluOp::Dot4Ieee, true), (AluOp::Dot4, false)] {
        let got = run_four(four(op, None, all), [-1.0; 4], [0.0; 4])[0];
        assert_eq!((got, got.is_sign_negative()), (0.0, negative), "{op:?}");
    }
    assert_eq!(
        run_four(four(AluOp::Max4, None, all), [1.0, 9.0, -3.0, 4.0], b),
        [9.0; 4]
    );
}

#[test]
fn cube_faces() {
    // Operands as the instruction wants them: .zzxy and .yxzz.
    let words = || four(AluOp::Cube, Some(([2, 2, 0, 1], [1, 0, 2, 2])), [true; 4]);
    // (direction, face, s, t) by OpenGL 4.6, table 8.19.
    for (v, face, s, t) in [
        ([2.0, 0.5, 0.25], 0.0, -0.25, -0.5),
        ([-2.0, 0.5, 0.25], 1.0, 0.25, -0.5),
        ([0.5, 2.0, 0.25], 2.0, 0.5, 0.25),
        ([0.5, -2.0, 0.25], 3.0, 0.5, -0.25),
        ([0.5, 0.25, 2.0], 4.0, 0.5, -0.25),
        ([0.5, 0.25, -2.0], 5.0, -0.5, -0.25),
    ] {
        let major = if face % 2.0 == 0.0 { 4.0 } else { -4.0 };
        let got = run_four(words(), [v[0], v[1], v[2], 0.0], [0.0; 4]);
        assert_eq!(got, [t, s, major, face], "{v:?}");
    }
}

/// Runs a pair of slots on the doubles in R1.xy and R3.xy. Returns the double in R2.xy.
fn run_double(op: AluOp, a: f64, b: f64) -> (f64, Mask) {
    let n = op.sources();
    let slots: Vec<Alu> = (0..2u8)
        .map(|i| {
            let other = 1 - i;
            let mut slot = alu(op, (2, i), &[r(1, other), r(3, other)][..n]);
            slot.pred = op.is_pred();
            slot.exec = op.is_pred();
            slot
        })
        .collect();
    let words = assemble(&[clause(cf::ALU, &[group(&slots)])]);
    let program = decode(&words);
    let mut wave = Wave::new();
    for (gpr, value) in [(1, a), (3, b)] {
        wave.gpr_mut(gpr, 0).fill(value.to_bits() as u32);
        wave.gpr_mut(gpr, 1).fill((value.to_bits() >> 32) as u32);
    }
    wave.begin(ALL, ALL, BUDGET);
    run(&program, &mut wave, &mut Recorder::default()).unwrap();
    let bits = u64::from(wave.gpr(2, 0)[9]) | u64::from(wave.gpr(2, 1)[9]) << 32;
    (f64::from_bits(bits), wave.exec)
}

#[test]
fn doubles() {
    assert_eq!(run_double(AluOp::Add64, 0.1, 0.2).0, 0.1 + 0.2);
    assert_eq!(run_double(AluOp::Mul64, 0.1, 0.2).0, 0.1 * 0.2);
    assert_eq!(run_double(AluOp::Fract64, -1.25, 0.0).0, 0.75);
    assert_eq!(run_double(AluOp::PredSetgt64, 2.0, 1.0).1, ALL);
    assert_eq!(run_double(AluOp::PredSetgt64, 1.0, 1.0).1, 0);
    assert_eq!(run_double(AluOp::PredSetge64, 1.0, 1.0).1, ALL);
    assert_eq!(run_double(AluOp::PredSete64, 1.0, 1.5).1, 0);
    let (narrow, _) = run_double(AluOp::Flt64ToFlt32, 0.1, 0.0);
    assert_eq!(narrow.to_bits(), u64::from(0.1f32.to_bits()));
    // A single operand is read from the high word.
    let (wide, _) = run_double(
        AluOp::Flt32ToFlt64,
        f64::from_bits(u64::from(0.1f32.to_bits()) << 32),
        0.0,
    );
    assert_eq!(wide, f64::from(0.1f32));
}
