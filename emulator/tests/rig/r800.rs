// SPDX-License-Identifier: MIT
//! State and shaders of [`state`](super::state)'s pipeline on Evergreen and Cayman: the encodings R800
//! and R900, descriptors of eight dwords.
//!
//! Words are composed as Mesa's `eg_asm.c` does it, with the fields of `eg_sq.h` and `evergreend.h`.

use r7xx_board::chip::cp::pm4::Packet;
use r7xx_board::chip::gfx::shader::Isa;
use r7xx_board::chip::regs::evergreen::gfx as eg;

use super::state::{f, COLOUR, HEIGHT, VERTICES, WIDTH};

/// First vertex resource of a vertex shader (`EG_FETCH_CONSTANTS_OFFSET_VS`).
const BUFFER: u32 = 0x3_0000 + 32 * 176;

/// The packet that sets a register. Resources are where R7xx has constants, whose packet
/// [`Packet::encode`] would choose: they get a packet of type 0.
pub fn set(register: u32, value: u32) -> Vec<u32> {
    match register {
        0x3_0000..=0x3_7FFF => vec![register >> 2, value],
        first => Packet::SetRegs {
            first,
            values: &[value],
        }
        .encode(),
    }
}

/// Registers of a linear 64x64 RGBA8 target, a viewport, vertices of 32 bytes with position and parameter,
/// for memory whose places begin at MC address `base`. Both generations' are set.
pub fn state(base: u64) -> Vec<(u32, u32)> {
    let size = WIDTH | HEIGHT << 16;
    let half = [WIDTH, HEIGHT].map(|n| f(n as f32 / 2.0));
    let swizzle = 1 << 6 | 2 << 9 | 3 << 12;
    vec![
        (eg::GB_ADDR_CONFIG, 0x0201_0003),
        (0x2_8A88, 1),
        (0x2_8034, size),
        (0x2_8204, 1 << 31),
        (0x2_8208, size),
        (0x2_8240, 1 << 31),
        (0x2_8244, size),
        (0x2_8250, 1 << 31),
        (0x2_8254, size),
        (0x2_820C, 0xFFFF),
        (0x2_82D4, f(1.0)),
        (0x2_8400, u32::MAX),
        (0x2_843C, half[0]),
        (0x2_8440, half[0]),
        (0x2_8444, half[1]),
        (0x2_8448, half[1]),
        (0x2_844C, f(0.5)),
        (0x2_8450, f(0.5)),
        (0x2_8818, 0x43F),
        (0x2_8814, 1 << 19),
        (0x2_8A00, 8 | 8 << 16),
        (0x2_8A04, 0xFFFF << 16),
        (0x2_8A08, 8),
        // PA_SU_VTX_CNTL, then PA_CL_GB_*, PA_SC_AA_MASK.
        (eg::PA_SU_VTX_CNTL, 1 | 2 << 1 | 5 << 3),
        (eg::PA_CL_GB_VERT_CLIP_ADJ, f(16.0)),
        (eg::PA_CL_GB_VERT_DISC_ADJ, f(1.0)),
        (eg::PA_CL_GB_HORZ_CLIP_ADJ, f(16.0)),
        (eg::PA_CL_GB_HORZ_DISC_ADJ, f(1.0)),
        // CAYMAN_PA_SU_VTX_CNTL, then CAYMAN_PA_CL_GB_*, PA_SC_AA_MASK_*.
        (0x2_8BE4, 1 | 2 << 1 | 5 << 3),
        (0x2_8BE8, f(16.0)),
        (0x2_8BEC, f(1.0)),
        (0x2_8BF0, f(16.0)),
        (0x2_8BF4, f(1.0)),
        (0x2_8C38, u32::MAX),
        (0x2_8C3C, u32::MAX),
        // One parameter with semantic 1, by its weights at pixels' centres.
        (eg::SPI_VS_OUT_ID_0, 1),
        (eg::SPI_PS_INPUT_CNTL_0, 1),
        (eg::SPI_PS_IN_CONTROL_0, 1 | 1 << 28),
        (eg::SPI_BARYC_CNTL, 1),
        (eg::SQ_PGM_RESOURCES_PS, 4),
        (eg::SQ_PGM_RESOURCES_VS, 4),
        (eg::CB_COLOR0_BASE, ((base + COLOUR) >> 8) as u32),
        (eg::CB_COLOR0_PITCH, WIDTH / 8 - 1),
        (eg::CB_COLOR0_SLICE, WIDTH * HEIGHT / 64 - 1),
        (eg::CB_COLOR0_INFO, 0x1A << 2 | 1 << 8),
        (eg::CB_COLOR0_DIM, (WIDTH - 1) | (HEIGHT - 1) << 16),
        (0x2_8238, 0xF),
        (0x2_823C, 0xF),
        (0x2_8808, 0xCC << 16 | 1 << 4),
        (BUFFER, (base + VERTICES) as u32),
        (BUFFER + 4, 0xFFFF),
        (BUFFER + 8, 32 << 8),
        (BUFFER + 12, swizzle),
        (BUFFER + 28, 3 << 30),
    ]
}

/// An operand: select and channel.
pub type Operand = (u32, u32);

/// An operation of two operands; a destination of none masks the write.
pub fn op2(code: u32, dst: Option<u32>, chan: u32, a: Operand, b: Operand, last: bool) -> [u32; 2] {
    [
        a.0 | a.1 << 10 | b.0 << 13 | b.1 << 23 | u32::from(last) << 31,
        u32::from(dst.is_some()) << 4 | code << 7 | dst.unwrap_or(0) << 21 | chan << 29,
    ]
}

const BARRIER: u32 = 1 << 31;
const POSITION: u32 = 1;
const PARAM: u32 = 2;

/// `CF_END` of Cayman; `NOP` with `END_OF_PROGRAM`.
pub fn end(isa: Isa) -> [u32; 2] {
    match isa {
        Isa::R900 => [0, 0x20 << 22 | BARRIER],
        _ => [0, 1 << 21 | BARRIER],
    }
}

/// A shader: control flow, and its clauses with the instruction that names each.
#[derive(Clone)]
pub struct Code {
    isa: Isa,
    flow: Vec<[u32; 2]>,
    clauses: Vec<(usize, Vec<u32>)>,
}

impl Code {
    pub fn new(isa: Isa) -> Self {
        Self {
            isa,
            flow: Vec::new(),
            clauses: Vec::new(),
        }
    }

    pub fn cf(mut self, inst: u32, address: u32, more: u32) -> Self {
        self.flow.push([address, more | inst << 22 | BARRIER]);
        self
    }

    /// An ALU clause: 8 is `ALU`, 9 `ALU_PUSH_BEFORE`, 10 and 11 pop.
    pub fn alu(mut self, inst: u32, slots: &[[u32; 2]]) -> Self {
        self.clauses.push((self.flow.len(), slots.concat()));
        let count = slots.len() as u32 - 1;
        self.flow.push([0, count << 18 | inst << 26 | BARRIER]);
        self
    }

    /// A clause of one instruction: 1 is `TEX`, 2 `VTX`, 3 `GDS`.
    pub fn fetch(mut self, inst: u32, words: [u32; 3]) -> Self {
        let [a, b, c] = words;
        self.clauses.push((self.flow.len(), vec![a, b, c, 0]));
        self.cf(inst, 0, 0)
    }

    /// R`dst` = the four floats of buffer 0 at byte `offset`, at index R0.x.
    pub fn vertex(self, dst: u32, offset: u32) -> Self {
        const FMT_32_32_32_32_FLOAT: u32 = 0x23;
        let swizzle = 1 << 12 | 2 << 15 | 3 << 18;
        // Cayman has vertex instructions in clauses of textures.
        let inst = if self.isa == Isa::R900 { 1 } else { 2 };
        self.fetch(
            inst,
            [
                15 << 26,
                dst | swizzle | FMT_32_32_32_32_FLOAT << 22 | 1 << 30,
                offset | 1 << 19,
            ],
        )
    }

    /// R2 = texture 0 at R1.xy, by `opcode`; `more` are other bits of the first word.
    pub fn sample(self, opcode: u32, more: u32) -> Self {
        let swizzle = 1 << 12 | 2 << 15 | 3 << 18;
        self.fetch(
            1,
            [
                opcode | 1 << 16 | more,
                2 | swizzle | 0xF << 28,
                1 << 23 | 4 << 26 | 4 << 29,
            ],
        )
    }

    /// R1 = the parameter: `INTERP_ZW`, then `INTERP_XY`.
    pub fn interpolated(self) -> Self {
        let slots: Vec<_> = [(0xD7, 2), (0xD6, 0)]
            .into_iter()
            .flat_map(|(code, first)| {
                (0..4).map(move |chan| {
                    let dst = (first..first + 2).contains(&chan).then_some(1);
                    op2(code, dst, chan, (0, 1 - chan % 2), (448, 0), chan == 3)
                })
            })
            .collect();
        self.alu(8, &slots)
    }

    /// The last export of its kind, of all channels of a register.
    pub fn export(self, kind: u32, place: u32, gpr: u32) -> Self {
        let channels = 1 << 3 | 2 << 6 | 3 << 9;
        self.cf(0x54, place | kind << 13 | gpr << 15, channels)
    }

    /// The words: control flow, its end, clauses at multiples of 16 bytes.
    pub fn words(&self) -> Vec<u32> {
        let mut words = self.flow.concat();
        words.extend(end(self.isa));
        for (of, clause) in &self.clauses {
            words.resize(words.len().next_multiple_of(4), 0);
            words[2 * of] |= words.len() as u32 / 2;
            words.extend(clause);
        }
        words
    }
}

pub fn vertex_shader(isa: Isa) -> Code {
    (Code::new(isa).vertex(1, 0).vertex(2, 16))
        .export(POSITION, 60, 1)
        .export(PARAM, 0, 2)
}

/// A pixel shader that takes the parameter as colour.
pub fn passing(isa: Isa) -> Code {
    Code::new(isa).interpolated().export(0, 0, 1)
}

/// A pixel shader that samples texture 0 at the parameter.
pub fn sampling(isa: Isa, opcode: u32) -> Code {
    (Code::new(isa).interpolated())
        .sample(opcode, 0)
        .export(0, 0, 2)
}
