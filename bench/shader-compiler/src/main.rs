// SPDX-License-Identifier: MIT
//! Measures the ALU part of shaders, interpreted and compiled.
//!
//! `shader-compiler times`: JSON: of each shader the instructions of its ALU clauses, the time of a
//! wave in which all lanes run (interpreted, interpreted without AVX, compiled), the times of decoding
//! and compiling, the bytes of machine code. Times are the least of many.
//!
//! `shader-compiler waves WAY SHADER N`: runs N waves; for callgrind, of which `measure.py` makes
//! the number of instructions of one. WAY: interpreted, baseline, compiled.

use std::hint::black_box;
use std::time::Instant;

use r7xx_board::chip::gfx::lanes::ALL;
use r7xx_board::chip::gfx::shader::{run, Wave};
use serde_json::json;
use shader_compiler::corpus::{decoded, named};
use shader_compiler::decode::{alu_alone, without_calls};
use shader_compiler::fake::{value, Fake};
use shader_compiler::machine::{LANES, ROWS};
use shader_compiler::run::{Compiled, Options as How, State};

/// The shaders of the scenes that have ALU instructions, and longer ones.
const MEASURED: [&str; 9] = [
    "fill/vertex",
    "fill/pixel",
    "triangles/vertex",
    "glyphs/pixel",
    "gallery-phong/vertex",
    "gallery-phong/pixel",
    "functions/0",
    "noise/1",
    "mandelbrot/1",
];
const HOW: How = How {
    normal: true,
    all: false,
    alone: true,
};

fn input(row: usize, lane: usize) -> u32 {
    value((row * LANES + lane) as u64, true)
}

fn env() -> Fake {
    Fake {
        tame: true,
        ..Fake::default()
    }
}

/// A function that runs one wave by the interpreter.
fn interpreted(words: &[u32], mut wave: Wave) -> impl FnMut() {
    let program = decoded(&alu_alone(words));
    let mut env = env();
    for row in 0..ROWS {
        for lane in 0..LANES {
            wave.gpr_mut(row / 4, row % 4)[lane] = input(row, lane);
        }
    }
    move || {
        wave.begin(ALL, ALL, u64::MAX);
        wave.set_normal(128);
        run(&program, &mut wave, &mut env).expect("it runs");
    }
}

/// A function that runs one wave by compiled code.
fn compiled(words: &[u32]) -> impl FnMut() {
    let mut program = Compiled::new(&without_calls(words), HOW).expect("it is compiled");
    let (mut env, mut state) = (env(), State::default());
    for row in 0..ROWS {
        for lane in 0..LANES {
            state.rows[row][lane] = input(row, lane);
        }
    }
    program.load_constants(&mut env);
    move || program.run(&mut state, &mut env, ALL, ALL)
}

/// The least time of a call in nanoseconds: 200 batches of at least 50 us.
fn least(mut call: impl FnMut()) -> f64 {
    let start = Instant::now();
    call();
    let once = start.elapsed().as_nanos().max(20);
    let calls = (50_000 / once).clamp(1, 10_000) as u32;
    let batch = |_| {
        let start = Instant::now();
        for _ in 0..calls {
            call();
        }
        start.elapsed().as_nanos() as f64 / f64::from(calls)
    };
    (0..200).map(batch).fold(f64::INFINITY, f64::min)
}

fn times() {
    let rows = MEASURED.map(|name| {
        let words = named(name);
        let bare = without_calls(&words);
        let program = Compiled::new(&bare, HOW).expect("it is compiled");
        let compile = || {
            black_box(Compiled::new(&bare, HOW).expect("it is compiled"));
        };
        json!({
            "shader": name,
            "slots": program.slots(),
            "bytes": program.bytes(),
            "interpreted_ns": least(interpreted(&words, Wave::new())),
            "baseline_ns": least(interpreted(&words, Wave::baseline())),
            "compiled_ns": least(compiled(&words)),
            "decode_us": least(|| { black_box(decoded(&words)); }) / 1e3,
            "compile_us": least(compile) / 1e3,
        })
    });
    let arch = format!("{:?}", Wave::new().arch());
    let arch = arch.split(['(', ' ']).next().unwrap_or_default();
    let report = json!({ "arch": arch, "rows": rows });
    println!("{}", serde_json::to_string_pretty(&report).expect("JSON"));
}

fn waves(way: &str, name: &str, count: u32) {
    let words = named(name);
    let mut call: Box<dyn FnMut()> = match way {
        "interpreted" => Box::new(interpreted(&words, Wave::new())),
        "baseline" => Box::new(interpreted(&words, Wave::baseline())),
        _ => Box::new(compiled(&words)),
    };
    for _ in 0..count {
        call();
    }
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments[..] {
        ["times"] => times(),
        ["shaders"] => println!("{}", MEASURED.join("\n")),
        ["waves", way, name, count] => {
            waves(way, name, count.parse().expect("a number of waves"));
        }
        _ => {
            eprintln!("usage: shader-compiler times | shaders | waves WAY SHADER N");
            std::process::exit(2);
        }
    }
}
