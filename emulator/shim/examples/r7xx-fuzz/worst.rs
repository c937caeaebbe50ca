// SPDX-License-Identifier: MIT
//! Draws made to take as much memory and time as one can. Each has to stay below a limit of memory,
//! and to end soon after a soft reset.
//!
//! Memory is what the process has allocated; the emulated memory is a file and does not count. Time
//! is that of the CPU, which does not depend on the machine's load.

mod evergreen;

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Arc;
use std::time::Duration;

use r7xx_board::chip::bus::Mc;
use r7xx_board::chip::counters::Counter;
use r7xx_board::chip::cp::pm4::{Draw, IndexSource, Packet};
use r7xx_board::chip::gfx::Limits;
use r7xx_board::chip::Family;
use r7xx_shim::gpu::{Gpu, GpuError, Ring};
use r7xx_shim::memory::{Memory, RESERVED};
use rustix::time::{clock_gettime, ClockId};

use crate::rig::shader::{
    gpr, mov, op2, Shader, Src, KCACHE0, LITERAL, PARAM, POSITION, XYZW, ZERO,
};
use crate::rig::state::{
    f, pixel_shader, state, vertex_shader, COLOUR, POINTS, RECTANGLES, RING, SHADERS, START_ES,
    START_GS, START_PS, START_VS, STREAM, TRIANGLES, VERTICES,
};
use crate::watch::{DrawRecord, Watch, Watched};

/// Most bytes that a case may allocate: some batches, a decoded program, what a wave keeps.
const MOST_BYTES: usize = 48 << 20;
/// The same if it fills the cache of programs, which is bound by 128 MiB.
const MOST_BYTES_CACHED: usize = 224 << 20;
/// The same if the 16 waves of a group have all scratch memory, of 4 MiB each.
const MOST_BYTES_GROUP: usize = 112 << 20;
/// Most CPU time from a reset to the draw's end. The driver waits ten seconds before it resets.
const MOST_TIME: Duration = Duration::from_millis(100);
/// CPU time after which a draw that need not end is cancelled.
const PATIENCE: Duration = Duration::from_millis(300);
/// The same for a draw that ends: a guard, not a measurement.
const ENDLESS: Duration = Duration::from_secs(100);

const GRBM_SOFT_RESET: u32 = 0x8020;
/// Place of large shaders: up to 2 MiB.
const CODE: u64 = 0x100_0000;

/// Counts the bytes that the process has allocated.
struct Counting;

static LIVE: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

fn grown(bytes: usize) {
    let live = LIVE.fetch_add(bytes, Ordering::Relaxed) + bytes;
    PEAK.fetch_max(live, Ordering::Relaxed);
}

// SAFETY: all functions pass their arguments to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        grown(layout.size());
        // SAFETY: as the caller's.
        unsafe { System.alloc(layout) }
    }
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        grown(layout.size());
        // SAFETY: as the caller's.
        unsafe { System.alloc_zeroed(layout) }
    }
    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        LIVE.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: as the caller's.
        unsafe { System.dealloc(pointer, layout) }
    }
    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        grown(size);
        LIVE.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: as the caller's.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// CPU time of the process.
fn cpu_time() -> Duration {
    let now = clock_gettime(ClockId::ProcessCPUTime);
    Duration::new(now.tv_sec as u64, now.tv_nsec as u32)
}

/// How a case ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    /// All draws are executed; at least so many vertices and pixels are shaded.
    Drawn(u64, u64),
    /// The engine drops the draw.
    Dropped,
    /// Dispatches of so many threads are executed.
    Ran(u64),
    /// The draw or dispatch goes on until it is cancelled. What shows that it was under way.
    Cancelled(Proof),
    /// The draw is executed, or cancelled on a slow machine.
    Any,
}

/// What a case that is cancelled has done until then, at least.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Proof {
    /// It is enough that it was cancelled.
    None,
    /// Vertices have been shaded.
    Vertices(u64),
    /// Pixels have been shaded.
    Pixels(u64),
    /// Threads of compute shaders have ended.
    Threads(u64),
    /// Points of patches have been shaded.
    Domain(u64),
    /// An append counter, or the first dword of the global data share.
    Counted(u32),
    /// The first dword of the target.
    Stored(u32),
}

/// A case: draws with their state and memory. Addresses count from [`RESERVED`].
struct Case {
    name: &'static str,
    family: Family,
    end: End,
    /// Most bytes that it may allocate.
    most: usize,
    memory: Vec<(u64, Vec<u32>)>,
    stream: Vec<u32>,
}

fn start_of(place: u64) -> u32 {
    ((RESERVED + place) >> 8) as u32
}

impl Case {
    /// Nothing yet.
    fn empty(family: Family, name: &'static str, end: End) -> Self {
        Self {
            name,
            family,
            end,
            most: MOST_BYTES,
            memory: Vec::new(),
            stream: Vec::new(),
        }
    }

    /// A case of an RV770, whose state draws.
    fn new(name: &'static str, end: End) -> Self {
        let mut case = Self::empty(Family::Rv770, name, end);
        for (register, value) in state(RESERVED) {
            case.set(register, value);
        }
        case.instances(1);
        case.shader(START_VS, SHADERS, &vertex_shader());
        case.shader(START_PS, SHADERS + 0x1000, &pixel_shader());
        // The first one alone, as a point, covers a pixel.
        let corners = [[-0.99, -0.99], [3.0, -1.0], [-1.0, 3.0]];
        let vertices = corners.iter().flat_map(|[x, y]| {
            let vertex = [*x, *y, 0.5, 1.0, 1.0, 0.5, 0.25, 1.0];
            vertex.map(f)
        });
        case.memory.push((VERTICES, vertices.collect()));
        case
    }

    fn set(&mut self, register: u32, value: u32) {
        let values = &[value];
        let first = register;
        self.stream
            .extend(Packet::SetRegs { first, values }.encode());
    }

    fn instances(&mut self, count: u32) {
        self.stream.extend(Packet::NumInstances(count).encode());
    }

    fn code(&mut self, register: u32, place: u64, words: Vec<u32>) {
        self.memory.push((place, words));
        self.set(register, start_of(place));
    }

    fn shader(&mut self, register: u32, place: u64, shader: &Shader) {
        self.code(register, place, shader.words());
    }

    fn draw(&mut self, kind: u32, indices: u32) {
        self.set(0x8958, kind);
        let source = IndexSource::Auto;
        let initiator = 2;
        let draw = Draw {
            initiator,
            indices,
            source,
        };
        self.stream.extend(Packet::Draw(draw).encode());
    }
}

/// Slots of the longest ALU clause.
const SLOTS: usize = 128;

/// `count` ALU clauses of the same 128 slots, each with other constants, and an end. `count` is
/// even. Beyond 2048, the clauses differ in the second set's line, which no slot uses.
fn clauses(count: usize, slots: &[[u32; 2]]) -> Vec<u32> {
    let mut words = Vec::new();
    for n in 0..count as u32 {
        // Two lines from an even one on, in each bank.
        let (bank, line) = (n % 16, n / 16 * 2 % 256);
        words.push(count as u32 + 2 | bank << 22 | 2 << 30);
        words.push(line << 2 | n / 2048 << 10 | (SLOTS as u32 - 1) << 18 | 8 << 26);
    }
    words.extend([0, 1 << 21, 0, 0]);
    words.extend(slots.iter().cycle().take(SLOTS).flatten());
    words
}

/// A geometry shader's state: `gs` emits up to 2047 vertices of a position for each point.
fn geometry(case: &mut Case, gs: &Shader) {
    const MOST: u32 = 2047;
    const BYTES: u32 = 64 * MOST * 16;
    let ring = RING + 0x80_0000;
    let mut es = Shader::new();
    es.fetch(1, 0, 0, 0, 0).memory(0x26, 0, 1, 15);
    let mut vs = Shader::new();
    vs.fetch(1, 0, 0, 17, 0)
        .export(POSITION, 60, 1, XYZW, true)
        .export(PARAM, 0, 1, XYZW, true);
    case.shader(START_ES, SHADERS + 0x2000, &es);
    case.shader(START_GS, SHADERS + 0x3000, gs);
    case.shader(START_VS, SHADERS + 0x4000, &vs);
    let resource = |n: u32, base: u64, bytes: u32| {
        let at = 0x3_8000 + 28 * n;
        let base = (RESERVED + base) as u32;
        [
            (at, base),
            (at + 4, bytes - 1),
            (at + 8, 4 << 8),
            (at + 24, 0xC000_0000),
        ]
    };
    for (register, value) in [
        (0x2_8A40, 3),
        (0x2_88A8, 4),
        (0x2_88AC, MOST * 4),
        (0x2_88C8, 4),
        (0x2_8B38, MOST),
        // Triangle strips.
        (0x2_8A6C, 2),
        (0x8C40, start_of(STREAM)),
        (0x8C44, 0x100),
        (0x8C48, start_of(ring)),
        (0x8C4C, BYTES / 256),
        // The geometry shader's loop constant 0.
        (0x3_E200 + 4 * 32 * 2, MOST),
    ]
    .into_iter()
    .chain(resource(336 + 17, STREAM, 0x1_0000))
    .chain(resource(160 + 17, ring, BYTES))
    {
        case.set(register, value);
    }
}

/// Op codes of ALU instructions.
const ADD: u32 = 0x00;
const MUL: u32 = 0x01;
const DOT4: u32 = 0x50;
const ADD_INT: u32 = 0x34;
/// `DST_REL` of an ALU instruction's second word.
const RELATIVE: u32 = 1 << 28;

fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    let constant = |n: u32| Src(KCACHE0 + n / 4, n % 4);

    // 127 KiB that decode to 145 MiB of steps.
    let mut case = Case::new("clauses", End::Dropped);
    let slot = op2(ADD, 1, 0, constant(0), gpr(1, 1), true);
    case.code(START_PS, CODE, clauses(16_000, &[slot]));
    case.draw(POINTS, 1);
    cases.push(case);

    // As many constants as the decoder accepts: rows of 256 bytes in each worker.
    let mut case = Case::new("constants", End::Drawn(1, 1));
    let slots: Vec<_> = (0..SLOTS as u32)
        .map(|n| op2(ADD, 1, 0, constant(n), gpr(1, 1), true))
        .collect();
    case.code(START_PS, CODE, clauses(254, &slots));
    case.draw(TRIANGLES, 3);
    cases.push(case);

    // Each start address is another program of 40 MiB, as an operation of four units is large.
    let mut case = Case::new("starts", End::Drawn(10, 10));
    case.most = MOST_BYTES_CACHED;
    let words = clauses(1000, &[op2(DOT4, 1, 0, constant(0), gpr(1, 1), true)]);
    for n in 0..10 {
        // The code moves with its start, as the clauses' addresses count from it.
        let place = CODE + n * 0x20_0000;
        case.code(START_PS, place, words.clone());
        case.draw(POINTS, 1);
    }
    cases.push(case);

    // The search for denormals advances by one step of the chain in each of its passes, and each
    // relative write concerns 128 registers.
    let mut case = Case::new("relative", End::Any);
    let chain: Vec<_> = (0..SLOTS as u32 - 1)
        .map(|n| mov(n / 4, n % 4, gpr((n + 1) / 4, (n + 1) % 4), true))
        .chain([op2(
            ADD_INT,
            (SLOTS as u32 - 1) / 4,
            3,
            gpr(100, 0),
            gpr(100, 1),
            true,
        )])
        .collect();
    let [low, high] = op2(ADD, 1, 0, constant(0), gpr(1, 1), true);
    let mut words = clauses(1000, &[[low, high | RELATIVE]]);
    // The first clause is the chain.
    let place = words.len() as u32 / 2;
    words[0] = place;
    words.extend(chain.iter().flatten());
    case.code(START_PS, CODE, words);
    case.draw(POINTS, 1);
    cases.push(case);

    // 64 points become 130,880 triangles around the middle pixel, the only one that is drawn. They
    // grow until the guard band clips them.
    let mut case = Case::new("geometry", End::Drawn(64, 100_000));
    let mut gs = Shader::new();
    let (sine, cosine) = (f(0.8747), f(-0.505));
    gs.fetch(4, 0, 0, 17, 0)
        .alu(0x08, &[mov(3, 0, Src(ZERO, 0), true)], &[])
        // LOOP_START_NO_AL, up to LOOP_END
        .cf(0x07, 10, 0)
        .memory_indexed(0x26, 0, 4, 3)
        .cf(0x15, 0, 0)
        .alu(
            0x08,
            &[op2(ADD_INT, 3, 0, gpr(3, 0), Src(250, 0), true)],
            &[],
        )
        // A turn by a third, a bit outwards.
        .alu(
            0x08,
            &[
                op2(MUL, 5, 0, gpr(4, 0), Src(LITERAL, 0), false),
                op2(MUL, 5, 1, gpr(4, 0), Src(LITERAL, 1), true),
            ],
            &[cosine, sine],
        )
        .alu(
            0x08,
            &[
                op2(MUL, 6, 0, gpr(4, 1), Src(LITERAL, 1), false),
                op2(MUL, 6, 1, gpr(4, 1), Src(LITERAL, 0), true),
            ],
            &[cosine, sine ^ 1 << 31],
        )
        .alu(
            0x08,
            &[
                op2(ADD, 4, 0, gpr(5, 0), gpr(6, 0), false),
                op2(ADD, 4, 1, gpr(5, 1), gpr(6, 1), true),
            ],
            &[],
        )
        .cf(0x05, 3, 0);
    geometry(&mut case, &gs);
    // The generic scissor.
    case.set(0x2_8240, 1 << 31 | 32 | 32 << 16);
    case.set(0x2_8244, 33 | 33 << 16);
    case.instances(64);
    case.draw(POINTS, 1);
    cases.push(case);

    // More writes to the ring than are kept.
    let mut case = Case::new("ring", End::Drawn(64, 0));
    let mut gs = Shader::new();
    gs.alu(0x08, &[mov(3, 0, Src(ZERO, 0), true)], &[])
        .cf(0x07, 11, 0);
    for _ in 0..8 {
        gs.memory_indexed(0x26, 0, 4, 3);
    }
    gs.cf(0x05, 2, 0);
    geometry(&mut case, &gs);
    case.draw(POINTS, 64);
    cases.push(case);

    // The highest element of scratch memory.
    let mut case = Case::new("scratch", End::Drawn(1, 1));
    let mut ps = Shader::new();
    ps.alu(0x08, &[mov(3, 0, Src(LITERAL, 0), true)], &[0xFFF, 0])
        .memory_indexed(0x24, 0x1FFF, 0, 3)
        .export(0, 0, 0, XYZW, true);
    case.shader(START_PS, CODE, &ps);
    case.draw(TRIANGLES, 3);
    cases.push(case);

    let mut case = Case::new("loops", End::Cancelled(Proof::None));
    let mut ps = Shader::new();
    // Two loops of 2000 turns: no wave reaches its budget.
    ps.cf(0x07, 4, 0)
        .cf(0x07, 3, 0)
        .cf(0x05, 2, 0)
        .cf(0x05, 1, 0)
        .export(0, 0, 0, XYZW, true);
    case.set(0x3_E200, 2000);
    case.shader(START_PS, CODE, &ps);
    case.instances(4096);
    case.draw(TRIANGLES, 3);
    cases.push(case);

    // Each wave loads 30,000 constants twice, as the fetch shader has some, too.
    let mut case = Case::new("reloads", End::Cancelled(Proof::None));
    let slots: Vec<_> = (0..SLOTS as u32)
        .map(|n| op2(ADD, 1, 0, constant(n), gpr(1, 1), true))
        .collect();
    let mut words = clauses(250, &slots);
    // CALL_FS ahead of the clauses: they move by one instruction, which takes the place of the
    // padding behind the end.
    words.splice(0..0, [0, 0x13 << 23]);
    let end = 2 * 252 + 2;
    words.drain(end - 2..end);
    case.code(START_VS, CODE, words);
    let fetch = clauses(16, &slots);
    case.code(0x2_8894, CODE + 0x20_0000, fetch);
    case.draw(TRIANGLES, 200_000_000);
    cases.push(case);

    let mut case = Case::new("instances", End::Cancelled(Proof::None));
    case.instances(u32::MAX);
    case.draw(TRIANGLES, u32::MAX);
    cases.push(case);

    // The largest target, many times.
    let mut case = Case::new("pixels", End::Cancelled(Proof::None));
    let size = 8192 | 8192 << 16;
    for register in [0x2_8034, 0x2_8208, 0x2_8244] {
        case.set(register, size);
    }
    for register in [0x2_843C, 0x2_8440, 0x2_8444, 0x2_8448] {
        case.set(register, f(4096.0));
    }
    case.set(0x2_8040, start_of(0x800_0000));
    case.set(0x2_8060, (8192 / 8 - 1) | (8192 * 8192 / 64 - 1) << 10);
    case.instances(4096);
    case.draw(RECTANGLES, 3);
    cases.push(case);
    cases
}

/// What a case has taken.
struct Taken {
    bytes: usize,
    cancelled: Option<Duration>,
    dropped: u64,
    draws: Vec<DrawRecord>,
    /// The first dword of the target.
    stored: u32,
}

fn execute(case: &Case) -> Taken {
    let memory = Arc::new(Memory::new().expect("memory"));
    for (place, words) in &case.memory {
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        memory.write(RESERVED + place, &bytes).expect("memory");
    }
    let watched = Watched::new();
    let gfx = Box::new(Watch::new(case.family, Limits::default(), watched.clone()));
    let gpu = Gpu::start(case.family, memory.clone(), gfx, None).expect("a chip");
    PEAK.store(LIVE.load(Ordering::Relaxed), Ordering::Relaxed);
    let before = PEAK.load(Ordering::Relaxed);
    let begun = cpu_time();
    let mut reset_at = None;
    let mut ended_at = None;
    let result = gpu.submit_until(Ring::GRAPHICS, &case.stream, &mut || {
        let now = cpu_time();
        let may_end = matches!(case.end, End::Drawn(..) | End::Dropped | End::Ran(_));
        let patience = if may_end { ENDLESS } else { PATIENCE };
        if reset_at.is_none() && now - begun > patience {
            reset_at = Some(now);
            gpu.chip().mmio_write(GRBM_SOFT_RESET, 1);
            gpu.chip().mmio_write(GRBM_SOFT_RESET, 0);
        }
        if let (Some(_), false) = (reset_at, watched.drawing()) {
            ended_at = Some(now);
        }
        if let (Some(at), None) = (reset_at, ended_at) {
            // Nothing ends the thread that does not look.
            if now - at > ENDLESS {
                eprintln!(
                    "worst case {}: {:?} after the reset it goes on",
                    case.name,
                    now - at
                );
                std::process::exit(1);
            }
        }
        ended_at.is_some()
    });
    assert!(matches!(result, Ok(()) | Err(GpuError::Hung)), "{result:?}");
    let counters = gpu.chip().counters();
    assert_eq!(counters.get(Counter::EnginePanics), 0, "the board panics");
    let mut stored = [0; 4];
    memory.read(RESERVED + COLOUR, &mut stored).expect("memory");
    Taken {
        bytes: PEAK.load(Ordering::Relaxed) - before,
        cancelled: reset_at.zip(ended_at).map(|(reset, end)| end - reset),
        dropped: counters.get(Counter::DroppedDraws),
        draws: watched.take(),
        stored: u32::from_le_bytes(stored),
    }
}

/// Whether a case went as it has to.
fn check(case: &Case, taken: &Taken) -> Result<(), String> {
    let sum = |of: fn(&DrawRecord) -> u64| taken.draws.iter().map(of).sum::<u64>();
    let executed = taken.draws.iter().all(|draw| draw.executed) && !taken.draws.is_empty();
    let as_expected = match case.end {
        End::Drawn(vertices, pixels) => {
            executed && sum(|d| d.vertices) >= vertices && sum(|d| d.pixels) >= pixels
        }
        End::Dropped => taken.dropped == 1,
        End::Ran(threads) => executed && sum(|d| d.threads) >= threads,
        End::Cancelled(proof) => {
            let counted = taken.draws.iter().map(|d| d.counted).max();
            taken.cancelled.is_some()
                && match proof {
                    Proof::None => true,
                    Proof::Vertices(least) => sum(|d| d.vertices) >= least,
                    Proof::Pixels(least) => sum(|d| d.pixels) >= least,
                    Proof::Threads(least) => sum(|d| d.threads) >= least,
                    Proof::Domain(least) => sum(|d| d.domain) >= least,
                    Proof::Counted(least) => counted >= Some(least),
                    Proof::Stored(least) => taken.stored >= least,
                }
        }
        End::Any => executed || taken.cancelled.is_some(),
    };
    if !as_expected {
        return Err(format!(
            "it does not end as {:?}: {:?}, stored {:#x}",
            case.end, taken.draws, taken.stored
        ));
    }
    if taken.bytes > case.most {
        return Err(format!(
            "{} MiB, at most {}",
            taken.bytes >> 20,
            case.most >> 20
        ));
    }
    match taken.cancelled {
        Some(time) if time > MOST_TIME => {
            Err(format!("{time:?} from reset to end, at most {MOST_TIME:?}"))
        }
        _ => Ok(()),
    }
}

/// Executes all cases and prints a table.
///
/// # Errors
/// Names the cases that take too much, or that do not do what they are made for.
pub fn run() -> Result<(), String> {
    println!("chip   worst case     MiB  from reset to end");
    let mut failures = Vec::new();
    let later = [Family::Turks, Family::Cayman].map(evergreen::cases);
    for case in cases().into_iter().chain(later.into_iter().flatten()) {
        let chip = case.family.model().name;
        let taken = execute(&case);
        let time = (taken.cancelled).map_or("-".to_owned(), |time| format!("{time:.1?}"));
        println!("{chip:6} {:12} {:5}  {time}", case.name, taken.bytes >> 20);
        if let Err(e) = check(&case, &taken) {
            failures.push(format!("worst case {} of {chip}: {e}", case.name));
        }
    }
    match failures.is_empty() {
        true => Ok(()),
        false => Err(failures.join("\n")),
    }
}
