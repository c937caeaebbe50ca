// SPDX-License-Identifier: MIT
//! The compiled code against the interpreter: registers and exports over random inputs.
//!
//! The payload and the sign of a NaN that an operation makes are not defined, so NaNs count as equal.

use r7xx_board::chip::gfx::lanes::{Mask, ALL};
use r7xx_board::chip::gfx::shader::ops::{AluOp, Units};
use r7xx_board::chip::gfx::shader::{run, Wave};
use shader_compiler::corpus::{decoded, named, shaders, CORPUS, SCENES};
use shader_compiler::decode::without_calls;
use shader_compiler::fake::{hash, value, Fake};
use shader_compiler::machine::{LANES, ROWS};
use shader_compiler::run::{Compiled, Options as How, State};

/// NaNs are equal.
fn same(a: u32, b: u32) -> bool {
    a == b || f32::from_bits(a).is_nan() && f32::from_bits(b).is_nan()
}

/// What a comparison has seen.
#[derive(Default, Debug)]
struct Seen {
    lanes: usize,
    exports: usize,
    texels: usize,
    killed: u32,
    /// Lanes of waves in which not all run.
    partial: usize,
}

/// Runs `words` both ways `waves` times; the first difference, if there is one.
fn compare(words: &[u32], how: How, waves: u64, seen: &mut Seen) -> Result<(), String> {
    let words = without_calls(words);
    let program = decoded(&words);
    let mut compiled =
        Compiled::new(&words, how).map_err(|why| format!("not compiled: {why:?}"))?;
    let (mut wave, mut state) = (Wave::new(), State::default());
    for seed in 0..waves {
        for row in 0..ROWS {
            for lane in 0..LANES {
                let bits = value(seed << 20 | (row * LANES + lane) as u64, how.normal);
                state.rows[row][lane] = bits;
                wave.gpr_mut(row / 4, row % 4)[lane] = bits;
            }
        }
        let lanes = |n| Mask::from(hash(seed + n)) << 32 | Mask::from(hash(seed + n + 1));
        let exec = if seed % 3 == 0 { ALL } else { lanes(7) | 1 };
        let valid = exec & (lanes(900) | 1);
        seen.partial += usize::from(exec != ALL);
        let fake = || Fake {
            seed,
            tame: how.normal,
            ..Fake::default()
        };
        let (mut a, mut b) = (fake(), fake());
        wave.begin(exec, valid, u64::MAX);
        run(&program, &mut wave, &mut a).map_err(|why| format!("{why:?}"))?;
        compiled.load_constants(&mut b);
        compiled.run(&mut state, &mut b, exec, valid);
        if wave.killed & valid != state.killed & valid {
            return Err(format!("killed {:x} {:x}", wave.killed, state.killed));
        }
        seen.killed += (state.killed & valid).count_ones();
        seen.exports += a.exports.len();
        seen.texels += a.texels;
        if a.exports.len() != b.exports.len() {
            return Err("another number of exports".into());
        }
        for (one, other) in a.exports.iter().zip(&b.exports) {
            let (head, values) = ((one.0, one.1, one.2, one.3), &one.4);
            if head != (other.0, other.1, other.2, other.3)
                || !values.iter().zip(&other.4).all(|(a, b)| same(*a, *b))
            {
                return Err(format!("wave {seed}: export {one:x?} {other:x?}"));
            }
        }
        for row in (0..ROWS).filter(|_| how.all) {
            for lane in (0..LANES).filter(|lane| exec >> lane & 1 != 0) {
                let (want, got) = (wave.gpr(row / 4, row % 4)[lane], state.rows[row][lane]);
                if !same(want, got) {
                    return Err(format!(
                        "wave {seed} R{}.{} lane {lane}: {want:#x} {got:#x}",
                        row / 4,
                        row % 4
                    ));
                }
                seen.lanes += 1;
            }
        }
    }
    Ok(())
}

/// The four ways to compile.
fn ways() -> [How; 4] {
    [(false, true), (true, true), (false, false), (true, false)].map(|(normal, all)| How {
        normal,
        all,
        alone: false,
    })
}

#[test]
fn the_measured_shaders() {
    let mut seen = Seen::default();
    let mut names: Vec<String> = shaders(SCENES).into_iter().map(|(name, _)| name).collect();
    names.extend(["noise/1", "mandelbrot/1", "functions/0", "branches/0"].map(String::from));
    for name in &names {
        for how in ways() {
            compare(&named(name), how, 40, &mut seen)
                .unwrap_or_else(|e| panic!("{name} {how:?}: {e}"));
        }
    }
    assert!(
        seen.texels > 100 && seen.exports > 1000 && seen.partial > 100,
        "{seen:?}"
    );
    assert!(seen.lanes > 1_000_000, "{seen:?}");
}

#[test]
fn every_shader_of_the_corpus_that_is_compiled() {
    let (mut done, mut refused) = (0, Vec::new());
    let mut seen = Seen::default();
    for (name, words) in shaders(CORPUS) {
        for how in ways() {
            match compare(&words, how, 12, &mut seen) {
                Ok(()) => done += 1,
                Err(why) if why.starts_with("not compiled") => {
                    refused.push(format!("{name}: {why}"))
                }
                Err(why) => panic!("{name} {how:?}: {why}"),
            }
        }
    }
    println!("{done} {refused:#?}");
    // A quarter of the counts are shaders.
    assert!(done / 4 >= 25, "{done} {refused:#?}");
    assert!(seen.killed > 100, "{seen:?}");
}

/// A fault in a program's words is seen: each of the ALU instructions that the scenes' shaders have,
/// with one bit of its operation or operands changed for the compiler alone, gives another result.
#[test]
fn a_changed_instruction_is_seen() {
    let words = without_calls(&named("fill/vertex"));
    let program = decoded(&words);
    let (mut found, mut same_results) = (0, 0);
    // ADDR of the clause is in the low 22 bits of its first word.
    let first = (words[2] & 0x3f_ffff) as usize * 2;
    for at in (first..first + 40).step_by(2) {
        let mut other = words.clone();
        // The sign of the first operand.
        other[at] ^= 1 << 12;
        let how = How {
            normal: true,
            all: true,
            alone: false,
        };
        let mut compiled = Compiled::new(&other, how).expect("it is compiled");
        let (mut wave, mut state) = (Wave::new(), State::default());
        for row in 0..ROWS {
            for lane in 0..LANES {
                let bits = value((row * LANES + lane) as u64, true);
                state.rows[row][lane] = bits;
                wave.gpr_mut(row / 4, row % 4)[lane] = bits;
            }
        }
        let mut env = Fake {
            tame: true,
            ..Fake::default()
        };
        wave.begin(ALL, ALL, u64::MAX);
        run(&program, &mut wave, &mut env).expect("it runs");
        compiled.load_constants(&mut env);
        compiled.run(&mut state, &mut env, ALL, ALL);
        let differs = (0..ROWS).any(|row| {
            (0..LANES).any(|l| !same(wave.gpr(row / 4, row % 4)[l], state.rows[row][l]))
        });
        match differs {
            true => found += 1,
            false => same_results += 1,
        }
    }
    assert_eq!((found, same_results), (20, 0));
}

/// Each operation that is compiled, alone, over random and special values.
#[test]
fn every_operation() {
    let (mut done, mut seen) = (0, Seen::default());
    for &op in AluOp::ALL {
        let (op3, code) = op.encoding();
        if !op.is_r700() || op.units() == Units::Four {
            continue;
        }
        // R4.x = op R1.x, R2.y, R3.z
        let word = match op3 {
            true => 3 | 2 << 10 | code << 13,
            false => 1 << 4 | code << 7,
        };
        let words = [
            2,
            8 << 26,
            0,
            1 << 21,
            1 | 2 << 13 | 1 << 23 | 1 << 31,
            word | 4 << 21,
        ];
        let mut words = words.to_vec();
        words.resize(64, 0);
        for how in ways().into_iter().filter(|how| how.all) {
            match compare(&words, how, 40, &mut seen) {
                Ok(()) => done += 1,
                Err(why) if why.starts_with("not compiled") => {}
                Err(why) => panic!("{} {how:?}: {why}", op.name()),
            }
        }
    }
    assert!(done >= 2 * 80, "{done}");
}
