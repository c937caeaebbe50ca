// SPDX-License-Identifier: MIT
//! Programs that would take much memory or time to decode.

use super::*;
use crate::chip::gfx::shader::cache;
use crate::chip::gfx::shader::program::{MAX_CONSTANTS, MAX_INSTRUCTIONS};

/// A program's words at byte address `base`, and zeroes behind them. Counts and cancels.
struct Memory {
    base: u64,
    words: Vec<u32>,
    checks: usize,
    /// Cancels at this check, counted from 1.
    cancel_at: usize,
}

impl Memory {
    fn new(words: Vec<u32>) -> Self {
        Self {
            base: 0,
            words,
            checks: 0,
            cancel_at: usize::MAX,
        }
    }

    fn decode(&mut self) -> Result<Program, Stop> {
        Program::decode(self.base, Options::r700(true), self)
    }
}

impl Code for Memory {
    fn read(&mut self, address: u64, out: &mut [u32]) -> bool {
        let at = ((address - self.base) / 4) as usize;
        for (i, word) in out.iter_mut().enumerate() {
            *word = self.words.get(at + i).copied().unwrap_or(0);
        }
        true
    }

    fn cancelled(&mut self) -> bool {
        self.checks += 1;
        self.checks >= self.cancel_at
    }
}

/// Slots of the longest clause.
const SLOTS: usize = 128;

/// `count` ALU clauses of the 128 slots `slots`, and an end. The address of clause n is that of
/// clause `place(n)`, and its kcache fields are `locks(n)`.
fn clauses(
    count: usize,
    slots: &[u32],
    place: impl Fn(usize) -> usize,
    locks: impl Fn(usize) -> [u32; 2],
) -> Vec<u32> {
    let start = count + 2;
    let mut words = Vec::new();
    for n in 0..count {
        let [low, high] = locks(n);
        words.push((start + place(n) * SLOTS) as u32 | low);
        words.push(high | (SLOTS as u32 - 1) << 18 | u32::from(cf::ALU) << 26);
    }
    words.extend([0, 1 << 21, 0, 0]);
    let places = (0..count).map(&place).max().unwrap_or(0) + 1;
    assert_eq!(slots.len(), 2 * SLOTS);
    for _ in 0..places {
        words.extend(slots);
    }
    words
}

/// Locks two lines of bank `n % 16` from line `n / 16` on, for both sets.
fn lock(n: usize) -> [u32; 2] {
    let (bank, line) = (n as u32 % 16, n as u32 / 16 % 256);
    [
        bank << 22 | bank << 26 | 2 << 30,
        2 | line << 2 | line << 10,
    ]
}

#[test]
fn a_clause_with_other_constants_counts_again() {
    let slots = op(AluOp::Add, (1, 0), &[kc(0, 0, 0), r(1, 1)]).repeat(SLOTS);
    // 16,000 CF instructions with the same 128 slots: 127 KiB that would give 145 MiB of steps.
    let words = clauses(16_000, &slots, |_| 0, lock);
    assert!(words.len() * 4 <= 127 << 10);
    let mut memory = Memory::new(words);
    let found = memory.decode().map(|program| program.bytes());
    assert_eq!(
        found,
        Err(Stop::Fault("the shader has too many instructions"))
    );
    assert_eq!(memory.checks, MAX_INSTRUCTIONS / 4096);
    // If all have the same constants, they are one clause.
    let mut memory = Memory::new(clauses(16_000, &slots, |_| 0, |_| lock(3)));
    assert!(memory.decode().unwrap().bytes() < 2 << 20);
}

#[test]
fn constants_have_a_limit() {
    // Each clause has the 128 components of the vec4s that it locks.
    let slots: Vec<u32> = (0..SLOTS as u16)
        .flat_map(|n| op(AluOp::Add, (1, 0), &[kc(0, n / 4, n as u8 % 4), r(1, 1)]))
        .collect();
    let found = Memory::new(clauses(600, &slots, |_| 0, lock)).decode();
    let found = found.map(|program| program.constants.len());
    assert_eq!(found, Err(Stop::Fault("the shader has too many constants")));
    // Literals count, too.
    let literals = |groups: u32| {
        let mut words = Vec::new();
        let mut items = Vec::new();
        for n in 0..groups {
            words.push(op(AluOp::Add, (1, 0), &[lit(n + 1), lit(n + (1 << 20))]));
            if words.len() == 32 {
                items.push(clause(cf::ALU, &std::mem::take(&mut words)));
            }
        }
        items.push(export(0, 0, 1, [0, 1, 2, 3], 1));
        assemble(&items)
    };
    let most = MAX_CONSTANTS as u32 / 2 - 32;
    let program = Memory::new(literals(most)).decode().unwrap();
    assert!(program.constants.len() > MAX_CONSTANTS - 100);
    let more = Memory::new(literals(most + 64)).decode();
    let found = more.map(|program| program.constants.len());
    assert_eq!(found, Err(Stop::Fault("the shader has too many constants")));
}

/// The largest program that the decoder accepts: many instructions, and steps of the largest kind.
fn largest() -> Vec<u32> {
    let dots = op(AluOp::Dot4, (1, 0), &[r(1, 1), r(1, 2)]).repeat(SLOTS);
    clauses(
        MAX_INSTRUCTIONS / SLOTS,
        &dots,
        |n| n % 900,
        |n| lock(n / 900),
    )
}

#[test]
fn the_largest_program_fits_into_the_cache() {
    let program = Memory::new(largest()).decode().unwrap();
    let slots: u32 = program.alu.iter().map(|clause| clause.slots).sum();
    assert_eq!(slots as usize, MAX_INSTRUCTIONS);
    assert!(program.bytes() > cache::BYTES / 8 && program.bytes() < cache::BYTES / 2);
}

#[test]
fn the_cache_is_bound_by_bytes() {
    let mut programs = ProgramCache::default();
    let mut memory = Memory::new(largest());
    let (mut sum, mut dropped) = (0, 0);
    for n in 0..8 {
        // Moved starts: each is a program of its own.
        memory.base = n * 256;
        let before = programs.bytes();
        let program = programs.load(memory.base, Options::r700(true), &mut memory);
        sum += program.unwrap().bytes();
        dropped += usize::from(programs.bytes() < before);
        assert!(programs.bytes() > 0 && programs.bytes() <= cache::BYTES);
    }
    assert!(sum > cache::BYTES && dropped > 0);
    assert_eq!((programs.hits, programs.misses), (0, 8));
    let again = programs.load(memory.base, Options::r700(true), &mut memory);
    assert!(again.is_ok() && programs.hits == 1);
}

#[test]
fn versions_of_an_address_leave_the_byte_count() {
    let mut programs = ProgramCache::default();
    let mut most = 0;
    for n in 0..40 {
        let slot = op(AluOp::Add, (1, 0), &[lit(n + 1), r(1, 1)]);
        let mut memory = Memory::new(assemble(&[clause(cf::ALU, &[slot])]));
        let program = programs.load(0, Options::r700(true), &mut memory);
        most = most.max(program.unwrap().bytes());
        assert!(programs.bytes() <= 8 * most);
    }
    assert_eq!(programs.misses, 40);
}

#[test]
fn decoding_can_be_cancelled() {
    let mut memory = Memory::new(largest());
    memory.cancel_at = 5;
    assert_eq!(memory.decode().map(|p| p.bytes()), Err(Stop::Cancelled));
    assert_eq!(memory.checks, 5);
}

#[test]
fn the_search_for_denormals_can_be_cancelled() {
    // Each pass of the search gets one step further in a chain that is in reverse order.
    let chain = 400u16;
    let mut groups: Vec<Vec<u32>> = (0..chain)
        .map(|n| {
            let place = |n: u16| ((n / 4) as u8, (n % 4) as u8);
            let (from, chan) = place(n + 1);
            op(AluOp::Mov, place(n), &[r(from.into(), chan)])
        })
        .collect();
    let last = ((chain / 4) as u8, (chain % 4) as u8);
    groups.push(op(AluOp::AddInt, last, &[r(1, 0), r(1, 1)]));
    let items: Vec<Item> = groups.chunks(SLOTS).map(|g| clause(cf::ALU, g)).collect();
    let mut memory = Memory::new(assemble(&items));
    assert!(memory.decode().is_ok());
    assert!(memory.checks > chain.into(), "{}", memory.checks);
    let mut memory = Memory {
        checks: 0,
        cancel_at: 10,
        ..memory
    };
    assert_eq!(memory.decode().map(|p| p.bytes()), Err(Stop::Cancelled));
    assert_eq!(memory.checks, 10);
}

#[test]
fn loads_of_constants_count_against_the_budget() {
    let program = |value: &dyn Fn(u32) -> Operand| {
        let groups: Vec<_> = (0..100)
            .map(|n| op(AluOp::Add, (1, 0), &[value(n), r(1, 1)]))
            .collect();
        decode(&assemble(&[
            clause(cf::ALU, &groups[..50]),
            clause(cf::ALU, &groups[50..]),
        ]))
    };
    let mut wave = lane_numbers();
    let mut executed = |program: &Program| {
        wave.begin(ALL, ALL, BUDGET);
        run(program, &mut wave, &mut Recorder::default()).unwrap();
        wave.executed
    };
    let (with, without) = (program(&|n| lit(n + 1)), program(&|_| r(1, 2)));
    let (first, plain) = (executed(&with), executed(&without));
    let more = with.constants.len() - without.constants.len();
    assert_eq!(first - plain, more as u64);
    assert!(more >= 100);
    // A wave counts them also if an earlier one has loaded them.
    executed(&with);
    assert_eq!(executed(&with), first);
}
