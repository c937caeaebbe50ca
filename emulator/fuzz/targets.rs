// SPDX-License-Identifier: MIT
//! What the fuzzer executes for an input, and inputs to begin with.
//!
//! Inputs are bytes. Any bytes are an input, and a changed byte changes little: that lets a fuzzer
//! that watches coverage advance.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::Mutex;

use r7xx_board::chip::bus::{Mc, McError, RegFile};
use r7xx_board::chip::cp::pm4::{Draw, IndexSource};
use r7xx_board::chip::gfx::front::{self, Front};
use r7xx_board::chip::gfx::lanes::{Lanes, Mask, LANES};
use r7xx_board::chip::gfx::shader::isa::TexInstruction;
use r7xx_board::chip::gfx::shader::{
    run, Env, ExportKind, Isa, MemoryExport, Options, Program, Wave,
};
use r7xx_board::chip::gfx::{
    Cancelled, Control, Gfx, GfxContext, GfxStatistics, Limits, Pipeline, PipelineCounter,
};
use r7xx_board::chip::regs::evergreen::gfx as eg;

// The tests' assembler, and the state of their scenes.
use super::shader::{gpr, mov, op2, Shader, Src, HALF, PIXEL, XYZW};
use super::state::{
    self, f, pixel_shader, vertex_shader, COLOUR, DEPTH, POINTS, RECTANGLES, SHADERS, START_ES,
    START_GS, START_PS, START_VS, TRIANGLES, VERTICES,
};

pub mod asm;
pub mod cayman;

/// Reads an input; behind its end there are zeroes.
struct Input<'a>(&'a [u8]);

impl Input<'_> {
    fn byte(&mut self) -> u8 {
        match self.0.split_first() {
            Some((first, rest)) => {
                self.0 = rest;
                *first
            }
            None => 0,
        }
    }

    fn half(&mut self) -> u16 {
        u16::from_le_bytes([self.byte(), self.byte()])
    }

    fn word(&mut self) -> u32 {
        u32::from(self.half()) | u32::from(self.half()) << 16
    }

    fn words(&mut self, count: usize) -> Vec<u32> {
        (0..count.min(self.0.len() / 4))
            .map(|_| self.word())
            .collect()
    }
}

/// An environment in which everything reads as a pattern.
struct Pattern;

impl Env for Pattern {
    fn constants(&mut self, bank: u32, first: u32, out: &mut [[u32; 4]]) {
        for (i, vector) in out.iter_mut().enumerate() {
            *vector = [bank, first, i as u32, f(0.5)];
        }
    }

    fn resource(&mut self, index: u32) -> [u32; 7] {
        [0x100 * index, 0xFFFF, 16 << 8, 0, 0, 0, 0xC000_0000]
    }

    fn read(&mut self, address: u64, out: &mut [u8]) -> Result<(), McError> {
        out.fill(address as u8);
        match address {
            0..=0xF_FFFF => Ok(()),
            _ => Err(McError::Unmapped(address)),
        }
    }

    fn texture(
        &mut self,
        _: &TexInstruction,
        src: &[&Lanes; 4],
        _: Mask,
        out: &mut [Lanes; 4],
    ) -> bool {
        for (out, src) in out.iter_mut().zip(src) {
            *out = **src;
        }
        true
    }

    fn export(&mut self, _: ExportKind, _: u32, _: [&Lanes; 4], _: u8, _: Mask) {}

    fn memory_export(&mut self, _: &MemoryExport<'_>) {}
}

/// Decodes `data` as a shader in an encoding and runs it. Returns the number of executed instructions.
pub fn shader(options: Options, data: &[u8]) -> u64 {
    let words: Vec<u32> = data
        .chunks_exact(4)
        .map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]]))
        .collect();
    let mut code = |address: u64, out: &mut [u32]| {
        for (i, word) in out.iter_mut().enumerate() {
            *word = words.get(address as usize / 4 + i).copied().unwrap_or(0);
        }
        address < 1 << 16
    };
    let Ok(program) = Program::decode(0, options, &mut code) else {
        return 0;
    };
    let mut wave = Wave::new();
    for lane in 0..LANES {
        wave.gpr_mut(0, 0)[lane] = lane as u32;
        wave.gpr_mut(0, 1)[lane] = f(lane as f32);
        wave.gpr_mut(1, 0)[lane] = f(0.5 - lane as f32);
    }
    wave.begin(u64::MAX, u64::MAX >> 1, 1 << 12);
    // A program that does not end is no fault.
    let _ = run(&program, &mut wave, &mut Pattern);
    wave.executed
}

/// Flat memory at MC address 0.
struct Memory(Mutex<Vec<u8>>);

const MEMORY: usize = 8 << 20;

impl Memory {
    fn with(&self, addr: u64, len: usize, access: impl FnOnce(&mut [u8])) -> Result<(), McError> {
        let at = usize::try_from(addr).unwrap_or(usize::MAX);
        let mut bytes = self.0.lock().unwrap();
        let range = at..at.saturating_add(len);
        access(bytes.get_mut(range).ok_or(McError::Unmapped(addr))?);
        Ok(())
    }
}

impl Mc for Memory {
    fn read(&self, addr: u64, buf: &mut [u8]) -> Result<(), McError> {
        self.with(addr, buf.len(), |bytes| buf.copy_from_slice(bytes))
    }

    fn write(&self, addr: u64, buf: &[u8]) -> Result<(), McError> {
        self.with(addr, buf.len(), |bytes| bytes.copy_from_slice(buf))
    }
}

/// All registers.
struct Registers(Vec<AtomicU32>);

impl RegFile for Registers {
    fn load(&self, offset: u32) -> u32 {
        let register = self.0.get(offset as usize / 4);
        register.map_or(0, |r| r.load(Ordering::Relaxed))
    }

    fn store(&self, offset: u32, value: u32) {
        if let Some(register) = self.0.get(offset as usize / 4) {
            register.store(value, Ordering::Relaxed);
        }
    }
}

struct Always;

impl Control for Always {
    fn check(&self) -> Result<(), Cancelled> {
        Ok(())
    }
}

/// Budgets that keep an input short.
const LIMITS: Limits = Limits {
    wave_instructions: 1 << 10,
    instructions: 1 << 15,
    vertices: 1 << 10,
    tiles: 1 << 9,
};

// The commands of an input: a byte, modulo `COMMANDS`.
const REGISTER: u8 = 0;
const SHADER: u8 = 1;
const WORDS: u8 = 2;
const DRAW: u8 = 3;
const COMMANDS: u8 = 4;

/// Registers outside of the windows that [`register`] names.
const OTHERS: [u32; 16] = [
    0x8958, 0x8974, 0x8C40, 0x8C44, 0x8C48, 0x8C4C, 0x9508, 0x98F0, 0x98F4, 0xA400, 0x3_CFF0,
    0x3_CFF4, 0x3_E200, 0x3_E280, 0x3_E300, 0x3_E380,
];

/// The register that number `n` of an input means.
fn register(n: u16) -> u32 {
    let at = u32::from(n & 0xFFF) * 4;
    match n >> 12 {
        // Context state
        0..=7 => 0x2_8000 + at % 0x1000,
        // Resources of all stages, then samplers
        8..=11 => 0x3_8000 + at,
        12..=13 => 0x3_C000 + at % 0x288,
        _ => OTHERS[usize::from(n) % OTHERS.len()],
    }
}

/// Registers and places of the shaders that an input can replace.
const STARTS: [(u32, u64); 5] = [
    (START_VS, SHADERS),
    (START_PS, SHADERS + 0x1000),
    (START_ES, SHADERS + 0x2000),
    (START_GS, SHADERS + 0x3000),
    // The fetch shader.
    (0x2_8894, SHADERS + 0x4000),
];

/// What an input begins with, and what its commands mean.
struct Machine<'a> {
    front: &'static Front,
    limits: Limits,
    registers: Vec<(u32, u32)>,
    /// Dwords at places.
    memory: Vec<(u64, Vec<u32>)>,
    /// The register that a number means.
    register: fn(u16) -> u32,
    /// Registers and places of the shaders that an input can replace.
    starts: &'a [(u32, u64)],
    /// What [`DRAW`] does.
    work: fn(&mut Pipeline, &GfxContext<'_>, &mut Input<'_>) -> Result<bool, Cancelled>,
}

/// What the commands of an input have left.
struct Executed {
    pipeline: Pipeline,
    memory: Memory,
    /// Whether the last draw or dispatch was executed to its end.
    ended: bool,
}

impl Machine<'_> {
    /// Executes the commands of `data`.
    fn execute(&self, data: &[u8]) -> Executed {
        let memory = Memory(Mutex::new(vec![0; MEMORY]));
        let registers = Registers((0..0x1_0000).map(|_| AtomicU32::new(0)).collect());
        let store = |at: u64, words: &[u32]| {
            let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
            // What lies outside of memory is left out.
            let _ = memory.write(at, &bytes);
        };
        for &(register, place) in self.starts {
            registers.store(register, (place >> 8) as u32);
        }
        for &(register, value) in &self.registers {
            registers.store(register, value);
        }
        for (place, words) in &self.memory {
            store(*place, words);
        }
        let mut pipeline = Pipeline::new(1).with_limits(self.limits);
        pipeline.set_front(self.front);
        let mut ended = false;
        let mut input = Input(data);
        while !input.0.is_empty() {
            match input.byte() % COMMANDS {
                REGISTER => registers.store((self.register)(input.half()), input.word()),
                SHADER => {
                    let which = usize::from(input.byte()) % self.starts.len();
                    let (register, place) = self.starts[which];
                    let count = usize::from(input.byte());
                    store(place, &input.words(count));
                    registers.store(register, (place >> 8) as u32);
                }
                WORDS => {
                    let place = u64::from(input.half()) * 128;
                    let count = usize::from(input.byte());
                    store(place, &input.words(count));
                }
                _ => {
                    let context = GfxContext {
                        regs: &registers,
                        mc: &memory,
                        control: &Always,
                    };
                    // Nothing cancels it.
                    ended = (self.work)(&mut pipeline, &context, &mut input).unwrap_or(false);
                }
            }
        }
        Executed {
            pipeline,
            memory,
            ended,
        }
    }
}

/// A draw of an input: primitive type, where its indices are, their number, initiator.
fn draw_of(
    pipeline: &mut Pipeline,
    context: &GfxContext<'_>,
    input: &mut Input<'_>,
) -> Result<bool, Cancelled> {
    let kind = input.byte() & 0x1F;
    context.regs.store(0x8958, kind.into());
    let source = match input.byte() {
        0..=127 => IndexSource::Auto,
        128..=191 => IndexSource::Memory(u64::from(input.half()) * 128),
        n => IndexSource::Immediate(input.words(usize::from(n & 15))),
    };
    let draw = Draw {
        indices: input.half().into(),
        initiator: input.byte().into(),
        source,
    };
    pipeline.draw(context, &draw)
}

/// Vertices of a triangle that covers the target: position and colour.
fn triangle() -> (u64, Vec<u32>) {
    let corners = [[-1.0, -1.0], [3.0, -1.0], [-1.0, 3.0]];
    let vertex = |[x, y]: [f32; 2]| [x, y, 0.5, 1.0, 1.0, 0.5, 0.25, 1.0].map(f);
    (VERTICES, corners.into_iter().flat_map(vertex).collect())
}

/// Executes the commands of `data` on a pipeline whose state draws a triangle in one colour.
/// Returns what it has counted.
pub fn draw(data: &[u8]) -> GfxStatistics {
    let mut registers = state::state(0);
    // VGT_DMA_NUM_INSTANCES
    registers.push((0x2_8A88, 1));
    let machine = Machine {
        front: &front::R700,
        limits: LIMITS,
        registers,
        memory: vec![
            (STARTS[0].1, vertex_shader().words()),
            (STARTS[1].1, pixel_shader().words()),
            triangle(),
        ],
        register,
        starts: &STARTS,
        work: draw_of,
    };
    machine.execute(data).pipeline.statistics()
}

/// What the dispatches of an input did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Dispatched {
    /// Threads that have run.
    pub threads: u64,
    /// Whether the last dispatch was executed to its end.
    pub ended: bool,
    /// Append counter 0.
    pub counter: u32,
    /// The first dword of the target of random access.
    pub stored: u32,
}

/// The registers that numbers of an input of [`compute`] mean.
fn compute_register(n: u16) -> u32 {
    let at = u32::from(n & 0xFFF) * 4;
    match n >> 12 {
        0..=7 => 0x2_8000 + at % 0x1000,
        // Resources of compute shaders (EG_FETCH_CONSTANTS_OFFSET_CS).
        8..=11 => 0x3_0000 + 32 * 816 + at % 0x1000,
        12..=13 => 0x3_C000 + at % 0x600,
        _ => eg::VGT_COMPUTE_START_X + at % 12,
    }
}

/// Executes the commands of `data` on the pipeline of an Evergreen or a Cayman with one group of 64
/// threads, a local data share, a counter and a target of random access; `DRAW` dispatches. Its operands
/// are the number of groups in x, y and z.
pub fn compute(front: &'static Front, data: &[u8]) -> Dispatched {
    let machine = Machine {
        front,
        // A group costs much more than its instructions.
        limits: Limits {
            instructions: 1 << 12,
            ..LIMITS
        },
        registers: vec![
            (eg::GB_ADDR_CONFIG, 0x0201_0002),
            (eg::SPI_COMPUTE_NUM_THREAD_X, 64),
            (eg::SPI_COMPUTE_NUM_THREAD_Y, 1),
            (eg::SPI_COMPUTE_NUM_THREAD_Z, 1),
            (eg::SQ_LDS_ALLOC, 64),
            // 64x64 elements of COLOR_32, linear, RAT.
            (eg::CB_COLOR0_BASE, (COLOUR >> 8) as u32),
            (eg::CB_COLOR0_PITCH, 7),
            (eg::CB_COLOR0_SLICE, 63),
            (eg::CB_COLOR0_INFO, 0x0D << 2 | 1 << 8 | 4 << 12 | 1 << 26),
            (eg::CB_COLOR0_DIM, 63 | 63 << 16),
        ],
        memory: Vec::new(),
        register: compute_register,
        starts: &[(eg::SQ_PGM_START_LS, SHADERS)],
        work: |pipeline, context, input| {
            let groups = [input.half(), input.half(), input.half()].map(u32::from);
            pipeline.dispatch(context, groups)
        },
    };
    let done = machine.execute(data);
    let mut first = [0; 4];
    let _ = done.memory.read(COLOUR, &mut first);
    let counter = done.pipeline.append_counter(0);
    Dispatched {
        threads: done.pipeline.statistics().pipeline[PipelineCounter::CsInvocations as usize],
        ended: done.ended,
        counter: counter.wrapping_add(done.pipeline.global_share(0)),
        stored: u32::from_le_bytes(first),
    }
}

/// A program of R800's or R900's encoding: its control flow, a padding to a clause at dword 8, the clause. It
/// ends with its last instruction, or with `CF_END`.
fn program(isa: Isa, flow: &[[u32; 2]], clause: &[u32]) -> Vec<u32> {
    let mut words = flow.concat();
    match isa {
        Isa::R900 => words.extend([0, 0x20 << 22]),
        _ => words.extend([0, 1 << 21]),
    }
    if !clause.is_empty() {
        words.resize(CLAUSE, 0);
        words.extend(clause);
    }
    words
}

/// Dword of a program's clause.
const CLAUSE: usize = 8;

/// Inputs of [`compute`] by name, in R800's or R900's encoding; each dispatches one group.
pub fn compute_seeds(isa: Isa) -> Vec<(&'static str, Vec<u8>)> {
    let input = |words: &[u32]| {
        let mut bytes = vec![SHADER, 0, words.len() as u8];
        bytes.extend(words.iter().flat_map(|word| word.to_le_bytes()));
        bytes.extend([DRAW, 1, 0, 1, 0, 1, 0]);
        bytes
    };
    // ADD of R0.x, the thread, at the place R1, the group, of target 0.
    let store = [7 << 4 | 3 << 13 | 1 << 23, 0xF << 12 | 0x56 << 22];
    // LOOP_START_DX10, LOOP_END, without a break.
    let endless = [[2, 6 << 22], [1, 5 << 22]];
    // A clause of the global data share: ADD_RET of R0.x, to append counter 0 or, on Cayman, to the dword
    // at R0.y, which is 0.
    let (clause, count) = (CLAUSE as u32 / 2, 3 << 22);
    let add = match isa {
        Isa::R900 => [2 | 4 << 8 | 1 << 20, 4 | 0x20 << 9, 7 | 7 << 3 | 7 << 9, 0],
        _ => [2 | 4 << 8, 4 | 0x20 << 9 | 1 << 30, 7 | 7 << 3 | 7 << 9, 0],
    };
    vec![
        ("empty", input(&program(isa, &[], &[]))),
        ("store", input(&program(isa, &[store], &[]))),
        ("endless", input(&program(isa, &endless, &[]))),
        ("counter", input(&program(isa, &[[clause, count]], &add))),
    ]
}

/// A shader that samples a texture.
fn sampling() -> Shader {
    let mut s = Shader::new();
    s.sample(1, 0, 0).export(PIXEL, 0, 1, XYZW, true);
    s
}

/// A shader that discards pixels.
fn killing() -> Shader {
    let compare = op2(0x2D, 2, 0, gpr(0, 0), Src(HALF, 0), true);
    let mut s = Shader::new();
    s.alu(0x08, &[compare], &[])
        .alu(0x08, &[mov(1, 0, gpr(0, 1), true)], &[])
        .export(PIXEL, 0, 1, XYZW, true);
    s
}

/// Inputs of [`shader`] that execute instructions, by name.
pub fn shader_seeds() -> Vec<(&'static str, Vec<u8>)> {
    let mut looping = Shader::new();
    // Four turns, with a write to a ring in each.
    looping
        .cf(0x07, 3, 0)
        .memory_indexed(0x26, 0, 1, 0)
        .cf(0x05, 1, 0)
        .export(PIXEL, 0, 0, XYZW, true);
    let shaders = [
        ("vertex", vertex_shader()),
        ("pixel", pixel_shader()),
        ("sampling", sampling()),
        ("killing", killing()),
        ("looping", looping),
    ];
    let bytes = |shader: Shader| {
        shader
            .words()
            .iter()
            .flat_map(|w| w.to_le_bytes())
            .collect()
    };
    shaders.map(|(name, shader)| (name, bytes(shader))).into()
}

/// Inputs of [`draw`] that draw pixels, by name.
pub fn seeds() -> Vec<(&'static str, Vec<u8>)> {
    fn set(register: u32, value: u32) -> Vec<u8> {
        let number = match register {
            0x2_8000..=0x2_8FFF => (register - 0x2_8000) / 4,
            0x3_8000..=0x3_BFFF => 8 << 12 | (register - 0x3_8000) / 4,
            _ => 12 << 12 | (register - 0x3_C000) / 4,
        };
        let [low, high, ..] = number.to_le_bytes();
        let mut bytes = vec![REGISTER, low, high];
        bytes.extend(value.to_le_bytes());
        bytes
    }
    fn code(stage: u8, shader: &Shader) -> Vec<u8> {
        let words = shader.words();
        let mut bytes = vec![SHADER, stage, words.len() as u8];
        bytes.extend(words.iter().flat_map(|word| word.to_le_bytes()));
        bytes
    }
    let draw = |kind: u32| vec![DRAW, kind as u8, 0, 3, 0, 2];
    let depth = [
        set(0x2_8000, 7 | 63 << 10),
        set(0x2_800C, (DEPTH >> 8) as u32),
        set(0x2_8010, 1 | 2 << 15),
        // Z_ENABLE, Z_WRITE_ENABLE, always.
        set(0x2_8800, 1 << 1 | 1 << 2 | 7 << 4),
        draw(TRIANGLES),
    ];
    let blend = [
        set(0x2_8780, 4 | 5 << 8),
        set(0x2_8808, 0xCC << 16 | 1 << 8),
        draw(POINTS),
        draw(RECTANGLES),
    ];
    let texture = [
        // 2D, linear, 64x64 texels of 8_8_8_8, at the colour target.
        set(0x3_8000, 1 | 1 << 3 | 7 << 8 | 63 << 19),
        set(0x3_8004, 63 | 0x1A << 26),
        set(0x3_8008, (COLOUR >> 8) as u32),
        set(0x3_800C, (COLOUR >> 8) as u32),
        set(0x3_8010, 1 << 19 | 2 << 22 | 3 << 25),
        set(0x3_8018, 2 << 30),
        code(1, &sampling()),
        draw(TRIANGLES),
    ];
    let kill = [code(1, &killing()), draw(TRIANGLES)];
    vec![
        ("triangle", draw(TRIANGLES)),
        ("depth", depth.concat()),
        ("blend", blend.concat()),
        ("texture", texture.concat()),
        ("kill", kill.concat()),
    ]
}
