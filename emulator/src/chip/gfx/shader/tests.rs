// SPDX-License-Identifier: MIT
//! Tests of the interpreter on hand-assembled programs.

use std::collections::HashMap;

use super::env::{ExportKind, MemoryExport, MemoryTarget};
use super::isa::{cf, tex, TexInstruction};
use super::ops::{AluOp, Units};
use super::*;
use crate::chip::bus::McError;
use crate::chip::gfx::lanes::{iter, ALL};

mod assembler;
mod control;
mod exports;
mod fetches;
mod limits;
mod operations;
mod r600;
mod r800;
mod r900;
mod rules;
mod rules_of_encodings;
mod taped;

use assembler::*;

/// An environment that records a wave's accesses and exports.
#[derive(Default)]
struct Recorder {
    memory: Vec<u8>,
    constants: HashMap<(u32, u32), [u32; 4]>,
    epoch: u64,
    constant_reads: usize,
    resources: HashMap<u32, [u32; 7]>,
    exports: Vec<(ExportKind, u32, [Lanes; 4], u8, Mask)>,
    takes_in_place: bool,
    in_place: Vec<(ExportKind, u32, usize, [u8; 4])>,
    memory_exports: Vec<(MemoryTarget, u32, u32, Option<Lanes>, [Lanes; 4], u8, Mask)>,
    textures: Vec<(TexInstruction, [Lanes; 4], Mask)>,
    texture_result: Option<[Lanes; 4]>,
    fetch_shader: Option<std::sync::Arc<Program>>,
    emitted: Vec<(u32, Mask)>,
    cuts: usize,
    unknown: Vec<(&'static str, u32)>,
    offsets: [u32; 2],
    cancel_after: Option<usize>,
    checks: usize,
    clauses: usize,
    reads: usize,
    /// Address of a buffer of dwords that all RATs are.
    rat: u64,
}

impl Env for Recorder {
    fn constants(&mut self, bank: u32, first: u32, out: &mut [[u32; 4]]) {
        self.constant_reads += 1;
        for (i, out) in out.iter_mut().enumerate() {
            *out = (self.constants.get(&(bank, first + i as u32)).copied()).unwrap_or_default();
        }
    }

    fn constants_epoch(&mut self) -> u64 {
        self.epoch
    }

    fn resource(&mut self, index: u32) -> [u32; 7] {
        self.resources.get(&index).copied().unwrap_or_default()
    }

    fn read(&mut self, address: u64, out: &mut [u8]) -> Result<(), McError> {
        self.reads += 1;
        let from = usize::try_from(address).unwrap();
        let bytes = self.memory.get(from..from + out.len());
        out.copy_from_slice(bytes.ok_or(McError::Unmapped(address))?);
        Ok(())
    }

    fn texture(
        &mut self,
        op: &TexInstruction,
        src: &[&Lanes; 4],
        exec: Mask,
        out: &mut [Lanes; 4],
    ) -> bool {
        let src = src.map(|row| *row);
        self.textures.push((*op, src, exec));
        *out = self.texture_result.unwrap_or(src);
        true
    }

    fn end_of_fetch_clause(&mut self) {
        self.clauses += 1;
    }

    fn export(
        &mut self,
        kind: ExportKind,
        index: u32,
        values: [&Lanes; 4],
        components: u8,
        exec: Mask,
    ) {
        let values = values.map(|row| *row);
        self.exports.push((kind, index, values, components, exec));
    }

    fn export_in_place(
        &mut self,
        kind: ExportKind,
        index: u32,
        gpr: usize,
        select: [u8; 4],
    ) -> bool {
        if self.takes_in_place {
            self.in_place.push((kind, index, gpr, select));
        }
        self.takes_in_place
    }

    fn memory_export(&mut self, e: &MemoryExport<'_>) {
        self.memory_exports.push((
            e.target,
            e.array_base,
            e.element_size,
            e.index.copied(),
            e.values.map(|row| *row),
            e.components,
            e.exec,
        ));
    }

    fn random_writes(&mut self, access: &RandomAccess<'_>, lane: usize) -> Vec<(u64, u64)> {
        vec![(self.rat + 4 * u64::from(access.index[0][lane]), 4)]
    }

    fn emit_vertex(&mut self, stream: u32, exec: Mask) {
        self.emitted.push((stream, exec));
    }

    fn cut_vertex(&mut self, _stream: u32, _exec: Mask) {
        self.cuts += 1;
    }

    fn fetch_shader(&mut self) -> Option<std::sync::Arc<Program>> {
        self.fetch_shader.clone()
    }

    fn vertex_offsets(&mut self) -> [u32; 2] {
        self.offsets
    }

    fn cancelled(&mut self) -> bool {
        self.checks += 1;
        self.cancel_after.is_some_and(|n| self.checks > n)
    }

    fn unknown(&mut self, what: &'static str, word: u32) {
        self.unknown.push((what, word));
    }
}

const BUDGET: u64 = 1 << 20;

fn decode(words: &[u32]) -> Program {
    decoded_by(Isa::R700, words.to_vec())
}

/// The program in a generation's encoding that begins with these dwords; the others are 0.
fn decoded_by(isa: Isa, mut words: Vec<u32>) -> Program {
    let mut fetch = |address: u64, out: &mut [u32]| {
        let at = (address / 4) as usize;
        words.resize(words.len().max(at + out.len()), 0);
        out.copy_from_slice(&words[at..at + out.len()]);
        true
    };
    let options = Options {
        dx10_clamp: true,
        isa,
    };
    Program::decode(0, options, &mut fetch).unwrap()
}

/// Runs `words` on a wave whose GPR 1 holds, in lane l, the integers l in x and
/// 63 - l in y, and the same as floats in z and w.
fn run_words(words: &[u32], env: &mut Recorder) -> Wave {
    run_masked(words, env, ALL)
}

fn run_masked(words: &[u32], env: &mut Recorder, exec: Mask) -> Wave {
    let program = decode(words);
    let mut wave = lane_numbers();
    wave.begin(exec, exec, BUDGET);
    run(&program, &mut wave, env).unwrap();
    wave
}

fn lane_numbers() -> Wave {
    let mut wave = Wave::new();
    for lane in 0..LANES {
        wave.gpr_mut(1, 0)[lane] = lane as u32;
        wave.gpr_mut(1, 1)[lane] = 63 - lane as u32;
        wave.gpr_mut(1, 2)[lane] = (lane as f32).to_bits();
        wave.gpr_mut(1, 3)[lane] = (63.0 - lane as f32).to_bits();
    }
    wave
}

/// Checks that each lane of GPR `gpr`.x is `want` of its number.
fn assert_lanes(wave: &Wave, gpr: usize, want: impl Fn(u32) -> u32) {
    for lane in 0..64u32 {
        assert_eq!(wave.gpr(gpr, 0)[lane as usize], want(lane), "lane {lane}");
    }
}

/// Decodes any words in the encoding `isa`, with the dword `filler` behind them, and runs what comes of
/// it, which must end.
fn hostile(mut words: Vec<u32>, isa: Isa, filler: u32) {
    let mut fetch = |address: u64, out: &mut [u32]| {
        let at = (address / 4) as usize;
        if at > 1 << 12 {
            return false;
        }
        words.resize(words.len().max(at + out.len()), filler);
        out.copy_from_slice(&words[at..at + out.len()]);
        true
    };
    let options = Options {
        dx10_clamp: true,
        isa,
    };
    if let Ok(program) = Program::decode(0, options, &mut fetch) {
        let mut wave = lane_numbers();
        wave.begin(ALL, ALL, 1 << 14);
        let _ = run(&program, &mut wave, &mut Recorder::default());
    }
}
