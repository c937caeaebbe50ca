// SPDX-License-Identifier: MIT
//! A record of what a program does in one lane, instruction by instruction.
//!
//! [`Wave::record`] has the next run recorded. A run without a tape costs a branch for each
//! control-flow instruction and each clause. With one, an ALU clause runs group by group.

use serde::Serialize;

use super::program::Cf;
use super::{Program, Wave, GPRS};
use crate::chip::gfx::lanes::LANES;

/// Most instructions that a tape keeps of a run: a loop can run for millions.
pub const MAX_STEPS: usize = 10_000;

/// The note of an instruction that kills the lane.
pub const KILLS: &str = "kills the fragment";
/// The note of a load of a texel that is not in its texture.
pub const OUTSIDE_TEXTURE: &str = "it reads outside the texture";
/// The note of a vertex fetch of an element that is not in its buffer.
pub const OUTSIDE_BUFFER: &str = "it reads outside the buffer";
/// The note of a vertex fetch of what the lane itself has written by `MEM_RAT`, if the program has
/// not waited since: a fetch may overtake writes that are not acknowledged (`MARK`, `WAIT_ACK`).
pub const UNACKNOWLEDGED: &str = "it reads what its own store may not have written yet";
/// Most writes that a tape remembers as not acknowledged.
const MAX_PENDING: usize = 1024;

/// A component of a register, or another named value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Value {
    /// As the disassembly names it, for example `R1.x`.
    pub name: String,
    /// The bits.
    pub bits: u32,
}

impl Value {
    /// A value with a name.
    pub fn new(name: impl Into<String>, bits: u32) -> Self {
        let name = name.into();
        Self { name, bits }
    }
}

/// A texel that a fetch has read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Texel {
    /// Mip level, counted from the largest one.
    pub level: u32,
    /// Layer, face or plane.
    pub slice: u32,
    /// Sample.
    pub sample: u32,
    /// Column.
    pub x: u32,
    /// Row.
    pub y: u32,
    /// MC address of its element, which a compressed format shares with other texels.
    pub address: u64,
    /// Red to alpha before the swizzle: bits of floats, or integers.
    pub value: [u32; 4],
}

/// An instruction that was executed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Step {
    /// Its place, in dwords from the start of its program.
    pub at: u32,
    /// It is of the fetch shader.
    pub fetch_shader: bool,
    /// The lane ran. Of a clause that the lane skips there is only this step.
    pub active: bool,
    /// What it wrote; of a fetch, also the operands that it read.
    pub values: Vec<Value>,
    /// The outcome of a test.
    pub note: Option<&'static str>,
    /// Texels read.
    pub texels: Vec<Texel>,
    /// MC address of the element that a vertex fetch read. None if it is outside the buffer.
    pub address: Option<u64>,
}

/// The record of one run.
#[derive(Debug, Default)]
pub struct Tape {
    /// The lane.
    pub(super) lane: usize,
    /// Place of the fetch clause that runs, in dwords.
    pub(super) clause: u32,
    /// Components of registers that the run has read before it wrote them, with their values: the
    /// inputs of the program, or what an earlier program has left. Registers with a relative index
    /// are not followed.
    pub inputs: Vec<Value>,
    /// Components of registers that are not inputs any more, a bit each.
    known: Known,
    /// What was executed, in order.
    pub steps: Vec<Step>,
    /// Writes of the lane that nothing has waited for: MC address, bytes, and whether they are
    /// marked, so that `WAIT_ACK` waits for them.
    pending: Vec<(u64, u64, bool)>,
    /// The run had more than [`MAX_STEPS`].
    pub truncated: bool,
}

#[derive(Debug)]
struct Known([u8; GPRS]);

impl Default for Known {
    fn default() -> Self {
        Self([0; GPRS])
    }
}

/// The name of a register's component, as the disassembly has it.
pub(super) fn register(gpr: usize, chan: usize) -> String {
    let (letter, number) = match gpr {
        0..=123 => ('R', gpr),
        _ => ('T', gpr - 124),
    };
    format!("{letter}{number}.{}", ['x', 'y', 'z', 'w'][chan & 3])
}

impl Tape {
    /// The run reads a component of a register, which has the value `bits`.
    pub(super) fn reads(&mut self, gpr: usize, chan: usize, bits: u32) {
        if !self.writes(gpr, chan) {
            self.inputs.push(Value::new(register(gpr, chan), bits));
        }
    }

    /// The run writes a component of a register. True if it is known already.
    pub(super) fn writes(&mut self, gpr: usize, chan: usize) -> bool {
        let Some(known) = self.known.0.get_mut(gpr) else {
            return true;
        };
        let before = *known;
        *known |= 1 << (chan & 3);
        before == *known
    }

    /// The lane writes `bytes` at MC address `address`.
    pub(super) fn stores(&mut self, address: u64, bytes: u64, marked: bool) {
        if self.pending.len() < MAX_PENDING {
            self.pending.push((address, bytes, marked));
        }
    }

    /// The program waits for marked writes.
    pub(super) fn waits(&mut self) {
        self.pending.retain(|(_, _, marked)| !marked);
    }

    /// Whether one of `bytes` at MC address `address` has been written, and not waited for.
    pub(super) fn is_pending(&self, address: u64, bytes: u64) -> bool {
        let end = address.saturating_add(bytes);
        (self.pending.iter())
            .any(|(at, written, _)| *at < end && address < at.saturating_add(*written))
    }

    pub(super) fn push(&mut self, step: Step) {
        if self.steps.len() < MAX_STEPS {
            self.steps.push(step);
        } else {
            self.truncated = true;
        }
    }
}

impl Wave {
    /// Has the next run recorded for `lane`, 0 to 63. Call it after [`Wave::begin`].
    pub fn record(&mut self, lane: usize) {
        self.tape = Some(Box::new(Tape {
            lane: lane % LANES,
            ..Tape::default()
        }));
    }

    /// Whether the next run is recorded.
    pub fn is_recorded(&self) -> bool {
        self.tape.is_some()
    }

    /// The record since [`Wave::record`]; none without that call. Ends the recording.
    pub fn take_tape(&mut self) -> Option<Box<Tape>> {
        self.tape.take()
    }
}

impl Program {
    /// The parameters that the program has exports of, a bit each.
    pub fn exported_parameters(&self) -> u64 {
        let exports = self.cf.iter().filter_map(|cf| match cf {
            Cf::Export(export) if export.kind == 2 => Some(export),
            _ => None,
        });
        exports.fold(0, |all, export| {
            let burst = (1u64 << export.burst.min(63)) - 1;
            all | burst.checked_shl(export.array_base.into()).unwrap_or(0)
        })
    }
}
