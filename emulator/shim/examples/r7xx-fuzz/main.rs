// SPDX-License-Identifier: MIT
//! Executes draws that would take much memory or time, see [`worst`], and captured frames with
//! mutations. Every draw has to end without a panic, and writes
//! outside memory have to be counted as faults.
//!
//! `lab/fuzz-board` captures Mesa's streams and runs this on them. Case N of seed S is case 1
//! of seed S+N-1. It is compiled with the tests, so that arithmetic overflow panics.

mod frame;
mod layout;
mod mutate;
mod watch;
mod worst;
/// The tests' assembler, and the state of their scenes.
#[allow(dead_code)] // The tests use all of it.
#[path = "../../../tests/rig"]
mod rig {
    pub mod r800;
    pub mod shader;
    pub mod state;
}

use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use clap::Parser;
use r7xx_board::chip::bus::Mc;
use r7xx_board::chip::counters::Counter;
use r7xx_board::chip::gfx::Limits;
use r7xx_shim::capture::STATE;
use r7xx_shim::gpu::{has_spaces, Gpu, GpuError};
use r7xx_shim::memory::Memory;

use frame::Frame;
use mutate::{Kind, Mutated};
use watch::{DrawRecord, Watch, Watched};

/// Budgets that keep a case short.
const LIMITS: Limits = Limits {
    wave_instructions: 1 << 13,
    instructions: 1 << 18,
    vertices: 1 << 14,
    tiles: 1 << 12,
};
/// Longer than any case on any machine: the budgets above end a case after some seconds.
const ENDLESS: Duration = Duration::from_secs(100);
/// A CP that executes no packet or draw for so long waits in vain, because of a mutation.
const IDLE: Duration = Duration::from_secs(2);

/// Result of a case.
struct Outcome {
    draws: Vec<DrawRecord>,
    faults: u64,
    bad_packets: u64,
    dropped: u64,
    /// The CP waits in vain, or its fence was overwritten: a driver would reset it.
    stuck: bool,
}

/// Executes a submission on a chip and memory of its own, until it ends or the CP has done
/// nothing for `idle`.
fn execute(frame: &Frame, ib: &[u32], pages: &frame::Pages, idle: Duration) -> Outcome {
    let memory = Arc::new(Memory::new().expect("memory"));
    let watched = Watched::new();
    let gfx = Box::new(Watch::new(frame.family, LIMITS, watched.clone()));
    let gpu = Gpu::start(frame.family, memory.clone(), gfx, None).expect("a chip");
    for (register, &value) in STATE.step_by(4).zip(&frame.registers) {
        gpu.chip().mmio_write(register, value);
    }
    for (&address, page) in &frame.pages {
        let page = pages.get(&address).unwrap_or(page);
        memory.write(address, &page[..]).expect("a page of a BO");
    }
    let counters = gpu.chip().counters();
    let begun = Instant::now();
    let mut last = (0, Instant::now());
    let result = gpu.submit_until(frame.ring, ib, &mut || {
        let seen = counters.get(Counter::Pm4Packets) + counters.get(Counter::Draws);
        if seen != last.0 || watched.drawing() {
            last = (seen, Instant::now());
        }
        last.1.elapsed() > idle || begun.elapsed() > ENDLESS
    });
    assert!(
        begun.elapsed() < ENDLESS,
        "the submission does not end; a draw goes on: {}",
        watched.drawing()
    );
    let stuck = match result {
        Ok(()) => false,
        Err(GpuError::Hung) => true,
        Err(e) => panic!("{e:?}"),
    };
    let outcome = Outcome {
        draws: Vec::new(),
        faults: counters.get(Counter::McFaults) + counters.get(Counter::VmFaults),
        bad_packets: counters.get(Counter::BadPackets),
        dropped: counters.get(Counter::DroppedDraws),
        stuck,
    };
    assert_eq!(counters.get(Counter::EnginePanics), 0, "the board panics");
    // Dropping the chip joins all its threads; as for a reset, this has to end.
    let ending = Instant::now();
    drop(gpu);
    assert!(ending.elapsed() < ENDLESS, "the chip does not end");
    let refused = watched.refused();
    assert!(
        refused == 0 || outcome.faults > 0,
        "{refused} writes were refused, none counted"
    );
    Outcome {
        draws: watched.take(),
        ..outcome
    }
}

const HEADING: &str = "\
    kind        cases  reached  draws  dropped  vertices  pixels  textures  written  faults   bad  stuck";

/// Results of the cases of one kind of mutation.
#[derive(Default, Clone, Copy)]
struct Tally {
    cases: u64,
    /// Cases in which the mutation changed the effect of a draw.
    reached: u64,
    /// Such draws; of these, those dropped, with vertices, with pixels, and so on.
    draws: u64,
    dropped: u64,
    vertices: u64,
    pixels: u64,
    textures: u64,
    written: u64,
    faults: u64,
    bad_packets: u64,
    stuck: u64,
}

impl Tally {
    fn add(&mut self, outcome: &Outcome, baseline: &[DrawRecord]) {
        self.cases += 1;
        self.faults += u64::from(outcome.faults > 0);
        self.bad_packets += u64::from(outcome.bad_packets > 0);
        self.stuck += u64::from(outcome.stuck);
        let mut reached = false;
        for (i, draw) in outcome.draws.iter().enumerate() {
            if baseline.get(i) == Some(draw) {
                continue;
            }
            reached = true;
            self.draws += 1;
            self.dropped += u64::from(!draw.executed);
            self.vertices += u64::from(draw.vertices > 0);
            self.pixels += u64::from(draw.pixels > 0);
            self.textures += u64::from(draw.textures);
            self.written += u64::from(draw.written > 0);
        }
        self.reached += u64::from(reached);
    }

    fn merge(&mut self, other: &Tally) {
        for (sum, n) in [
            (&mut self.cases, other.cases),
            (&mut self.reached, other.reached),
            (&mut self.draws, other.draws),
            (&mut self.dropped, other.dropped),
            (&mut self.vertices, other.vertices),
            (&mut self.pixels, other.pixels),
            (&mut self.textures, other.textures),
            (&mut self.written, other.written),
            (&mut self.faults, other.faults),
            (&mut self.bad_packets, other.bad_packets),
            (&mut self.stuck, other.stuck),
        ] {
            *sum += n;
        }
    }

    fn print(&self, name: &str) {
        println!(
            "{name:10} {:6} {:8} {:6} {:8} {:9} {:7} {:9} {:8} {:7} {:5} {:6}",
            self.cases,
            self.reached,
            self.draws,
            self.dropped,
            self.vertices,
            self.pixels,
            self.textures,
            self.written,
            self.faults,
            self.bad_packets,
            self.stuck
        );
    }
}

/// Executes the worst cases of draws, then captured frames with mutations.
#[derive(clap::Parser)]
struct Options {
    /// Directory of captures (*.r7xx); without it only the worst cases are executed
    captures: Option<PathBuf>,
    /// Chip that the captures have to be of
    #[arg(long)]
    chip: Option<String>,
    /// Of the first case; each further one has the next number
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// How many
    #[arg(long, default_value_t = 200)]
    cases: u64,
    /// As many as are done in so many seconds, instead
    #[arg(long)]
    seconds: Option<u64>,
}

/// The different submissions of a directory's captures.
fn frames(directory: &Path) -> Result<Vec<Frame>, String> {
    let failed = |e: std::io::Error| format!("{}: {e}", directory.display());
    let mut files = Vec::new();
    for entry in std::fs::read_dir(directory).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        if path.extension().is_some_and(|e| e == "r7xx") {
            files.push(path);
        }
    }
    files.sort();
    let mut frames = Vec::new();
    for path in &files {
        frames.extend(Frame::load(path)?);
    }
    // Drop duplicates: all programs begin with the same submissions.
    let mut seen = HashSet::new();
    frames.retain(|frame| seen.insert((frame.ring.vm, frame.shape())));
    if frames.is_empty() {
        return Err(format!("{}: no submission with draws", directory.display()));
    }
    Ok(frames)
}

/// Records of a frame's draws without a mutation. A second execution has to leave the same: only then
/// does a difference show the effect of a mutation.
fn baseline(frame: &Frame) -> Result<Vec<DrawRecord>, String> {
    let run = || execute(frame, &frame.ib, &BTreeMap::new(), ENDLESS);
    let (first, outcome) = (run(), run());
    let mut draws = first.draws.iter().zip(&outcome.draws);
    let differs = draws.position(|(first, second)| first != second);
    if differs.is_some() || first.draws.len() != outcome.draws.len() {
        let n = differs.unwrap_or(first.draws.len().min(outcome.draws.len()));
        return Err(format!("{}: draw {n} is not the same twice", frame.name));
    }
    if outcome.stuck || outcome.faults > 0 {
        return Err(format!("{}: it does not end, or has faults", frame.name));
    }
    println!(
        "{}: {} draws, {} cut by the budgets, {} that write",
        frame.name,
        outcome.draws.len(),
        outcome.dropped,
        outcome.draws.iter().filter(|d| d.written > 0).count()
    );
    Ok(outcome.draws)
}

/// Checks that mutations change draws: otherwise only the packet parser is tested.
fn deep_enough(all: &Tally, by_kind: &BTreeMap<Kind, Tally>) -> Result<(), String> {
    let parts = [
        (all.reached, all.cases, 20, "cases that change a draw"),
        (
            all.vertices,
            all.draws,
            50,
            "changed draws that run vertex shaders",
        ),
        (
            all.pixels,
            all.draws,
            20,
            "changed draws that run pixel shaders",
        ),
        (
            all.textures,
            all.draws,
            10,
            "changed draws that read textures",
        ),
        (all.written, all.draws, 35, "changed draws that write"),
        (all.dropped, all.draws, 2, "changed draws that are dropped"),
    ];
    for (n, of, least, what) in parts {
        if n * 100 < of * least {
            return Err(format!("{what}: {n} of {of}, less than {least} %"));
        }
    }
    if all.faults == 0 {
        return Err("no case has a fault".to_owned());
    }
    for kind in mutate::KINDS {
        let tally = by_kind.get(&kind).copied().unwrap_or_default();
        if tally.cases >= 30 && tally.reached == 0 {
            return Err(format!("{}: no case has changed a draw", kind.name()));
        }
    }
    Ok(())
}

fn run(options: &Options) -> Result<(), String> {
    worst::run()?;
    let Some(captures) = &options.captures else {
        return Ok(());
    };
    let frames = frames(captures)?;
    if let Some(chip) = &options.chip {
        let name = |frame: &Frame| frame.family.model().name;
        if let Some(other) = frames.iter().find(|frame| name(frame) != chip) {
            return Err(format!("{} is of {}", other.name, name(other)));
        }
        let no_space = |frame: &Frame| !frame.ring.vm;
        if has_spaces(frames[0].family) && frames.iter().all(no_space) {
            return Err(format!("no capture of {chip} has an address space"));
        }
    }
    let baselines: Result<Vec<_>, _> = frames.iter().map(baseline).collect();
    let baselines = baselines?;
    let end = options
        .seconds
        .map(|s| Instant::now() + Duration::from_secs(s));
    let cases = if end.is_some() {
        u64::MAX
    } else {
        options.cases
    };
    let mut tallies: BTreeMap<Kind, Tally> = BTreeMap::new();
    for case in 0..cases {
        if end.is_some_and(|end| Instant::now() >= end) {
            break;
        }
        let seed = options.seed.wrapping_add(case);
        let mut random = fastrand::Rng::with_seed(seed);
        let which = random.usize(..frames.len());
        let frame = &frames[which];
        let kind = mutate::KINDS[(seed % mutate::KINDS.len() as u64) as usize];
        let Mutated { ib, pages, what } = mutate::mutate(frame, kind, &mut random);
        let outcome = std::panic::catch_unwind(|| execute(frame, &ib, &pages, IDLE))
            .map_err(|_| format!("seed {seed}: {} of {}: {what:?}", kind.name(), frame.name))?;
        tallies
            .entry(kind)
            .or_default()
            .add(&outcome, &baselines[which]);
    }
    println!("{HEADING}");
    let mut all = Tally::default();
    for (kind, tally) in &tallies {
        tally.print(kind.name());
        all.merge(tally);
    }
    all.print("all");
    // With fewer cases the shares depend on chance.
    if all.cases >= 100 {
        deep_enough(&all, &tallies)?;
    }
    Ok(())
}

fn main() -> ExitCode {
    match run(&Options::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(e) => {
            eprintln!("r7xx-fuzz: {e}");
            ExitCode::FAILURE
        }
    }
}
