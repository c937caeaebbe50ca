// SPDX-License-Identifier: MIT
//! Speed of the shader core, one row for each case: nanoseconds for one
//! operation of one lane, the best of many short batches.
//! `cargo bench --bench shader`.
//!
//! Each row has a limit, about twice the time on a quiet machine of 2023; a row
//! beyond it is marked and makes the program fail. The first two rows are the
//! same program with and without AVX.

use std::hint::black_box;
use std::time::{Duration, Instant};

use r7xx_board::chip::bus::McError;
use r7xx_board::chip::gfx::lanes::{Lanes, Mask, ALL, LANES};
use r7xx_board::chip::gfx::shader::isa::TexInstruction;
use r7xx_board::chip::gfx::shader::ops::AluOp;
use r7xx_board::chip::gfx::shader::{
    run, Env, ExportKind, MemoryExport, Options, Program, ProgramCache, Wave,
};

/// Duration of a batch: short, so that some run undisturbed on a busy machine.
const BATCH: Duration = Duration::from_micros(300);
const BATCHES: usize = 400;

/// An environment without effects; its only memory is one vertex buffer.
struct Nothing {
    memory: Vec<u8>,
}

impl Env for Nothing {
    fn constants(&mut self, _bank: u32, _first: u32, out: &mut [[u32; 4]]) {
        out.fill([0x3f40_0000; 4]);
    }
    fn constants_epoch(&mut self) -> u64 {
        1
    }
    fn resource(&mut self, _index: u32) -> [u32; 7] {
        [0, self.memory.len() as u32 - 1, 32 << 8, 0, 0, 0, 3 << 30]
    }
    fn read(&mut self, address: u64, out: &mut [u8]) -> Result<(), McError> {
        let at = address as usize;
        out.copy_from_slice(&self.memory[at..at + out.len()]);
        Ok(())
    }
    fn texture(
        &mut self,
        _op: &TexInstruction,
        src: &[&Lanes; 4],
        _exec: Mask,
        out: &mut [Lanes; 4],
    ) -> bool {
        *out = src.map(|row| *row);
        true
    }
    fn export(&mut self, _: ExportKind, _: u32, values: [&Lanes; 4], _: u8, _: Mask) {
        black_box(values[0][0]);
    }
    fn memory_export(&mut self, _export: &MemoryExport<'_>) {}
}

/// An instruction that is a group of its own. Operands are (select, component).
fn alu(op: AluOp, dst: (u32, u32), src: &[(u32, u32)], bits: u32) -> [u32; 2] {
    let (op3, code) = op.encoding();
    let source = |i: usize| src.get(i).map_or(248, |&(sel, chan)| sel | chan << 10);
    let inst = if op3 {
        source(2) | code << 13
    } else {
        1 << 4 | code << 7
    };
    [
        source(0) | source(1) << 13 | 1 << 31,
        inst | dst.0 << 21 | dst.1 << 29 | bits,
    ]
}

/// A program of ALU clauses of at most 120 instructions and a NOP.
fn program(instructions: &[[u32; 2]], constants: bool) -> Program {
    let clauses: Vec<_> = instructions.chunks(120).collect();
    let mut words = Vec::new();
    let mut at = (clauses.len() + 1) as u32;
    for clause in &clauses {
        let lock = if constants { 1 << 30 } else { 0 };
        words.push(at | lock);
        words.push((clause.len() as u32 - 1) << 18 | 8 << 26);
        at += clause.len() as u32;
    }
    words.extend([0, 1 << 21]);
    words.extend(instructions.iter().flatten());
    decode(&words)
}

fn decode(words: &[u32]) -> Program {
    let mut code = |address: u64, out: &mut [u32]| {
        for (i, out) in out.iter_mut().enumerate() {
            *out = words.get(address as usize / 4 + i).copied().unwrap_or(0);
        }
        true
    };
    Program::decode(0, Options::r700(true), &mut code).expect("the bench's own program decodes")
}

/// 20 instructions that are common in pixel shaders. None depends on the one before.
fn mix() -> Vec<[u32; 2]> {
    use AluOp::*;
    let mut out = Vec::new();
    for i in 0..4 {
        let (a, b) = (1 + i % 2, 3 + i % 2);
        out.push(alu(MulIeee, (5, i), &[(a, 0), (b, 1)], 0));
        out.push(alu(Add, (6, i), &[(a, 1), (b | 1 << 12, 2)], 0));
        out.push(alu(MuladdIeee, (7, i), &[(a, 2), (b, 3), (128, 1)], 0));
        out.push(alu(MaxDx10, (8, i), &[(5, i), (6, i)], 0));
        out.push(alu(Mov, (9, i), &[(7, i)], 1 << 31));
    }
    out
}

fn repeat(op: AluOp) -> Vec<[u32; 2]> {
    let src = [(1, 0), (2, 1), (3, 2)];
    (0..20)
        .map(|i| alu(op, (5 + i / 4, i % 4), &src[..op.sources()], 0))
        .collect()
}

fn wave(simd: bool) -> Wave {
    let mut wave = if simd { Wave::new() } else { Wave::baseline() };
    for gpr in 1..5 {
        for chan in 0..4 {
            for lane in 0..LANES {
                let x = 0.01 + (lane * 7 + gpr * 3 + chan) as f32 / 512.0;
                wave.gpr_mut(gpr, chan)[lane] = x.to_bits();
            }
        }
    }
    wave
}

/// The best time of one call of `f`, in nanoseconds.
fn best(mut f: impl FnMut()) -> f64 {
    let start = Instant::now();
    f();
    let once = start.elapsed().max(Duration::from_nanos(20));
    let n = (BATCH.as_nanos() / once.as_nanos()).clamp(1, 100_000) as u32;
    (0..BATCHES)
        .map(|_| {
            let start = Instant::now();
            for _ in 0..n {
                f();
            }
            start.elapsed().as_nanos() as f64 / f64::from(n)
        })
        .fold(f64::INFINITY, f64::min)
}

struct Row {
    name: String,
    ns: f64,
    limit: f64,
}

fn alu_row(name: &str, instructions: &[[u32; 2]], simd: bool, exec: Mask, limit: f64) -> Row {
    let program = program(instructions, true);
    let mut env = Nothing {
        memory: vec![0; 64],
    };
    let mut wave = wave(simd);
    let per = (instructions.len() * LANES) as f64;
    let ns = best(|| {
        wave.begin(ALL, ALL, u64::MAX);
        // Restrict the mask, as a branch does.
        wave.restrict(exec);
        run(&program, &mut wave, &mut env).expect("the bench's own program runs");
    });
    Row {
        name: name.into(),
        ns: ns / per,
        limit,
    }
}

fn fetch_row() -> Row {
    // 12 bytes of float from 32-byte vertices, 64 of them.
    let words = [
        2,
        2 << 23,
        0,
        1 << 21,
        160 << 8 | 1 << 16,
        2 | 1 << 12 | 2 << 15 | 7 << 18 | 0x30 << 22,
        0,
        0,
    ];
    let program = decode(&words);
    let mut env = Nothing {
        memory: vec![0; 64 * 32],
    };
    let mut wave = Wave::new();
    for lane in 0..LANES {
        wave.gpr_mut(1, 0)[lane] = lane as u32;
    }
    let ns = best(|| {
        wave.begin(ALL, ALL, u64::MAX);
        run(&program, &mut wave, &mut env).expect("the bench's own program runs");
    });
    Row {
        name: "vertex fetch, three floats (per vertex)".into(),
        ns: ns / LANES as f64,
        limit: 15.0,
    }
}

fn cache_row() -> Row {
    let mut words = vec![1, 8 << 26 | 99 << 18];
    words[0] = 2;
    words.extend([0, 1 << 21]);
    for op in std::iter::repeat_n(alu(AluOp::Add, (1, 0), &[(1, 0), (2, 0)], 0), 100) {
        words.extend(op);
    }
    words.resize(words.len().next_multiple_of(64), 0);
    let mut cache = ProgramCache::default();
    let mut fetch = |address: u64, out: &mut [u32]| {
        let at = address as usize / 4;
        out.copy_from_slice(&words[at..at + out.len()]);
        true
    };
    let options = Options::r700(true);
    let ns = best(|| {
        black_box(
            cache
                .load(0, options, &mut fetch)
                .expect("the bench's own program decodes"),
        );
    });
    assert!(cache.hits > 0 && cache.misses == 1);
    Row {
        name: "program cache hit (per dword of the program)".into(),
        ns: ns / words.len() as f64,
        limit: 2.0,
    }
}

fn main() {
    // cargo passes --bench; anything else is a filter.
    let filter = std::env::args().skip(1).find(|arg| !arg.starts_with('-'));
    type Case = (String, Box<dyn Fn() -> Row>);
    let mut cases: Vec<Case> = Vec::new();
    let mut alu = |name: &'static str, instructions: Vec<[u32; 2]>, simd, exec, limit| {
        let row = move || alu_row(name, &instructions, simd, exec, limit);
        cases.push((name.to_owned(), Box::new(row)));
    };
    alu("mix of 20, all lanes", mix(), true, ALL, 0.20);
    alu("mix of 20, all lanes, without AVX", mix(), false, ALL, 0.60);
    alu(
        "mix of 20, half of the lanes",
        mix(),
        true,
        0x5555_5555_5555_5555,
        0.25,
    );
    alu("MUL (zero wins)", repeat(AluOp::Mul), true, ALL, 0.20);
    alu("SETGT_INT", repeat(AluOp::SetgtInt), true, ALL, 0.15);
    alu("RECIP_IEEE", repeat(AluOp::RecipIeee), true, ALL, 0.40);
    alu(
        "RECIPSQRT_IEEE",
        repeat(AluOp::RecipsqrtIeee),
        true,
        ALL,
        2.5,
    );
    alu("EXP_IEEE", repeat(AluOp::ExpIeee), true, ALL, 2.5);
    alu("LOG_IEEE", repeat(AluOp::LogIeee), true, ALL, 4.0);
    alu("SIN", repeat(AluOp::Sin), true, ALL, 2.5);
    alu("MULHI_UINT", repeat(AluOp::MulhiUint), true, ALL, 0.60);
    cases.push(("vertex fetch".into(), Box::new(fetch_row)));
    cases.push(("program cache".into(), Box::new(cache_row)));
    let mut over = 0;
    println!("{:48} {:>9} {:>9}", "case", "ns", "limit");
    for (name, case) in cases {
        if filter
            .as_ref()
            .is_some_and(|filter| !name.contains(filter.as_str()))
        {
            continue;
        }
        let row = case();
        let beyond = row.ns > row.limit;
        over += u32::from(beyond);
        let mark = if beyond { "  beyond" } else { "" };
        println!("{:48} {:9.3} {:9.3}{mark}", row.name, row.ns, row.limit);
    }
    if over > 0 {
        println!("{over} beyond their limits");
        std::process::exit(1);
    }
}
