// SPDX-License-Identifier: MIT
//! What Evergreen and Cayman have beside draws of R700: compute shaders, targets of random access, append
//! counters, patches, shaders that interpolate, arguments in memory.

use r7xx_board::chip::cp::pm4::{Header, Packet};
use r7xx_board::chip::gfx::shader::{asm, Isa};
use r7xx_board::chip::regs::evergreen::gfx as eg;
use r7xx_board::chip::Family;
use r7xx_shim::memory::RESERVED;

use super::{start_of, Case, End, Proof, CODE, MOST_BYTES_GROUP};
use crate::rig::r800::{passing, set, state, vertex_shader, Code};
use crate::rig::state::{f, COLOUR, RECTANGLES, SHADERS, TRIANGLES, VERTICES};

/// Opcodes of packets that the board only decodes (`evergreend.h`).
const SET_BASE: u8 = 0x11;
const DISPATCH_DIRECT: u8 = 0x15;
const DISPATCH_INDIRECT: u8 = 0x16;
const DRAW_INDIRECT: u8 = 0x24;
/// Primitive type of patches.
const PATCHES: u32 = 9;
/// Most threads of a group.
const THREADS: u32 = 1024;
/// Place of arguments of draws and dispatches.
const ARGUMENTS: u64 = VERTICES + 0x1_0000;
/// Adds the thread's number to the first dword of the target of random access; R2.x is 0.
const ADD: &str = "MEM_RAT WRITE_IND_ACK RAT0 ADD 0 R0.xyzw R2.xyz ES:3 AS:1\n";
/// The highest element of scratch memory, whose number R3.x is.
const SCRATCH: &str = "MEM_SCRATCH WRITE_IND_ACK 0 R0.xyzw R3.xyz ES:3\n";
/// A clause that sets R2.xy to 0 and 1, and R3.x to the number of the highest element of scratch memory.
const BEGIN: &str = "ALU\n1 x: MOV R2.x, 0\ny: MOV R2.y, 1\n2 x: MOV R3.x, [4095]\n";

fn isa(family: Family) -> Isa {
    match family {
        Family::Cayman => Isa::R900,
        _ => Isa::R800,
    }
}

/// The words of `text`, in which `END_HERE` is the instruction that ends a program.
fn words(family: Family, text: &str) -> Vec<u32> {
    let end = match isa(family) {
        Isa::R900 => "CF_END @0",
        _ => "NOP @0 EOP",
    };
    let text = text.replace("END_HERE", end);
    asm::assemble(&text, isa(family)).unwrap_or_else(|error| panic!("{error}:\n{text}"))
}

/// As many ALU instructions as a wave executes between two looks at whether it is cancelled, nearly.
fn long() -> String {
    format!("ALU\n{}", "1 x: ADD R4.x, R4.x, R4.y\n".repeat(128)).repeat(31)
}

fn packet(opcode: u8, body: &[u32]) -> Vec<u32> {
    let header = Header::Type3 {
        opcode,
        count: body.len() as u32,
        predicate: false,
        compute: opcode == DISPATCH_DIRECT || opcode == DISPATCH_INDIRECT,
    };
    [&[header.encode()], body].concat()
}

impl Case {
    /// A case of a chip of Evergreen's or Cayman's, whose state draws.
    fn of(family: Family, name: &'static str, end: End) -> Self {
        let mut case = Self::empty(family, name, end);
        for (register, value) in state(RESERVED) {
            case.stream.extend(set(register, value));
        }
        case.instances(1);
        let isa = isa(family);
        case.code(eg::SQ_PGM_START_VS, SHADERS, vertex_shader(isa).words());
        case.code(eg::SQ_PGM_START_PS, SHADERS + 0x1000, passing(isa).words());
        let corners = [[-1.0, -1.0], [3.0, -1.0], [-1.0, 3.0]];
        let vertices = corners
            .iter()
            .flat_map(|[x, y]| [*x, *y, 0.5, 1.0, 1.0, 0.5, 0.25, 1.0].map(f));
        case.memory.push((VERTICES, vertices.collect()));
        case
    }

    /// Sets a register of compute shaders.
    fn compute(&mut self, first: u32, value: u32) {
        let values = &[value];
        let mut words = Packet::SetRegs { first, values }.encode();
        // COMPUTE_MODE
        words[0] |= 1 << 1;
        self.stream.extend(words);
    }

    /// A compute shader of groups with the most threads and all of the local data share, and a target of random
    /// access of 64x64 dwords.
    fn kernel(&mut self, text: &str) {
        self.memory.push((CODE, words(self.family, text)));
        for (register, value) in [
            (eg::SQ_PGM_START_LS, start_of(CODE)),
            (eg::SPI_COMPUTE_NUM_THREAD_X, THREADS),
            (eg::SPI_COMPUTE_NUM_THREAD_Y, 1),
            (eg::SPI_COMPUTE_NUM_THREAD_Z, 1),
            (eg::SQ_LDS_ALLOC, 8192),
            (eg::CB_COLOR0_BASE, start_of(COLOUR)),
            (eg::CB_COLOR0_PITCH, 7),
            (eg::CB_COLOR0_SLICE, 63),
            // COLOR_32 of integers, linear, RAT.
            (eg::CB_COLOR0_INFO, 0x0D << 2 | 1 << 8 | 4 << 12 | 1 << 26),
            (eg::CB_COLOR0_DIM, 63 | 63 << 16),
        ] {
            self.compute(register, value);
        }
    }

    fn dispatch(&mut self, [x, y, z]: [u32; 3]) {
        self.stream.extend(packet(DISPATCH_DIRECT, &[x, y, z, 1]));
    }

    /// Patches of quads with the largest factors: as many of a group and as many vertices of each as the registers
    /// take. The hull shader runs `outputs` times for a patch.
    fn patches(&mut self, local: &str, hull: &str, outputs: u32) {
        for (register, place, text) in [
            (eg::SQ_PGM_START_LS, CODE, local),
            (eg::SQ_PGM_START_HS, CODE + 0x1_0000, hull),
        ] {
            let words = words(self.family, text);
            self.code(register, place, words);
        }
        for (register, value) in [
            // LS, HS, the domain shader as VS.
            (eg::VGT_SHADER_STAGES_EN, 1 | 1 << 2 | 1 << 6),
            (eg::VGT_LS_HS_CONFIG, 255 | 63 << 8 | outputs << 14),
            // Quads, triangles.
            (eg::VGT_TF_PARAM, 2 | 2 << 5),
            (eg::VGT_HOS_MAX_TESS_LEVEL, f(64.0)),
            (eg::SQ_LDS_ALLOC, 8192),
        ] {
            self.set(register, value);
        }
    }
}

/// A hull shader that writes 64 as each of the six factors.
fn largest_factors() -> String {
    // 24 bytes a patch.
    let first = "ALU\n1 x: LSHL_INT R1.x, R0.y, [3]\ny: LSHL_INT R1.y, R0.y, [4]\n\
                 2 x: ADD_INT R1.x, R1.x, R1.y\ny: MOV R1.y, [64.0]\n";
    let factor = "GDS\nTF_WRITE , R1.xy0\nALU\n1 x: ADD_INT R1.x, R1.x, [4]\n";
    format!("{first}{}END_HERE\n", factor.repeat(6))
}

/// The cases of one chip.
pub(super) fn cases(family: Family) -> Vec<Case> {
    let isa = isa(family);
    let case = |name, end| Case::of(family, name, end);
    let mut cases = Vec::new();

    // More groups than there is time for. Each thread changes a dword of the local data share 60 times.
    let mut groups = case("groups", End::Cancelled(Proof::Threads(THREADS.into())));
    let share = "1 x: LDS_ADD_RET __.x, 0, R0.x\n2 x: MOV R4.x, LDS_OQ_A_POP.x\n";
    groups.kernel(&format!("{BEGIN}ALU\n{}{ADD}END_HERE\n", share.repeat(60)));
    groups.memory.push((ARGUMENTS, vec![u32::MAX; 3]));
    let at = (RESERVED + ARGUMENTS) as u32;
    groups.stream.extend(packet(DISPATCH_INDIRECT, &[at, 1]));
    cases.push(groups);

    // The waves of a group wait for each other in each turn.
    let mut barriers = case("barriers", End::Cancelled(Proof::Stored(1)));
    barriers.kernel(&format!(
        "{BEGIN}{ADD}LOOP_START_DX10 @10\nALU\n1 x: GROUP_BARRIER __.x\nLOOP_END @6\nEND_HERE\n"
    ));
    barriers.dispatch([1; 3]);
    cases.push(barriers);

    // Atomic operations on one element by all threads.
    let mut atomics = case("atomics", End::Cancelled(Proof::Stored(1)));
    atomics.kernel(&format!(
        "{BEGIN}LOOP_START_DX10 @44\n{}LOOP_END @4\nEND_HERE\n",
        ADD.repeat(19)
    ));
    atomics.dispatch([1; 3]);
    cases.push(atomics);

    // An append counter, or on Cayman a dword of the global data share.
    let mut append = case("append", End::Cancelled(Proof::Counted(1 << 16)));
    let counter = if isa == Isa::R900 { "" } else { " UAV: 0" };
    let add = format!(
        "GDS_ADD_RET R4.x___, R2.{}, R0.{counter}\n",
        if isa == Isa::R900 { "xy0" } else { "0y0" }
    );
    append.kernel(&format!(
        "{BEGIN}LOOP_START_DX10 @8\nGDS\n{}LOOP_END @4\nEND_HERE\n",
        add.repeat(60)
    ));
    append.dispatch([1; 3]);
    cases.push(append);

    // Each wave of a group keeps scratch memory of its own.
    let mut scratch = case("scratches", End::Ran(THREADS.into()));
    scratch.most = MOST_BYTES_GROUP;
    scratch.kernel(&format!("{BEGIN}{SCRATCH}{ADD}END_HERE\n"));
    scratch.dispatch([1; 3]);
    cases.push(scratch);

    // 251 waves of hull shaders would do the same: more threads than a group has.
    let mut hulls = case("hulls", End::Dropped);
    hulls.patches("END_HERE\n", &format!("{BEGIN}{SCRATCH}END_HERE\n"), 63);
    hulls.draw(PATCHES, 255 * 63);
    cases.push(hulls);

    // A group of patches has 251 waves of local shaders.
    let mut locals = case("locals", End::Cancelled(Proof::Vertices(255 * 63)));
    let local = format!("{}END_HERE\n", long());
    locals.patches(&local, &largest_factors(), 1);
    locals.draw(PATCHES, 200_000_000);
    cases.push(locals);

    // Each patch becomes 67 waves of domain shaders.
    let mut patches = case("patches", End::Cancelled(Proof::Domain(65 * 65)));
    patches.patches("END_HERE\n", &largest_factors(), 1);
    let domain = format!(
        "{}EXPORT_DONE POS 60 R0.xy01 ES:3\nEXPORT_DONE PARAM 0 R0.xyzw ES:3\nEND_HERE\n",
        long()
    );
    patches.code(eg::SQ_PGM_START_VS, CODE + 0x2_0000, words(family, &domain));
    patches.draw(PATCHES, 200_000_000);
    cases.push(patches);

    // The first draw shows that the shader interpolates; the second one goes on.
    let mut interpolation = case("interpolated", End::Cancelled(Proof::Pixels(64 * 64)));
    interpolation.draw(TRIANGLES, 3);
    // LOOP_START_DX10, ten times both pairs of components, LOOP_END.
    let mut code = Code::new(isa).cf(0x06, 12, 0);
    for _ in 0..10 {
        code = code.interpolated();
    }
    code = code.cf(0x05, 1, 0).export(0, 0, 1);
    interpolation.code(eg::SQ_PGM_START_PS, CODE, code.words());
    interpolation.draw(RECTANGLES, 3);
    cases.push(interpolation);

    // The largest numbers of vertices and instances, from memory.
    let mut indirect = case("indirect", End::Cancelled(Proof::Vertices(1 << 10)));
    indirect
        .memory
        .push((ARGUMENTS, vec![u32::MAX, u32::MAX, 0, 0]));
    indirect.set(0x8958, TRIANGLES);
    indirect.stream.extend(packet(SET_BASE, &[1, at, 0]));
    indirect.stream.extend(packet(DRAW_INDIRECT, &[0, 2]));
    cases.push(indirect);

    // Rows and layers without number, of no group.
    let mut nothing = case("no groups", End::Ran(0));
    nothing.kernel(&format!("{BEGIN}{ADD}END_HERE\n"));
    nothing.dispatch([0, u32::MAX, u32::MAX]);
    nothing.dispatch([u32::MAX, 0, u32::MAX]);
    cases.push(nothing);
    cases
}
