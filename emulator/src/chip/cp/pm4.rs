// SPDX-License-Identifier: MIT
//! PM4 packet formats: decoding, without any effect.
//!
//! Sources: `r600d.h` (headers, opcodes, flags), the packet builders in
//! `r600.c` and the checks in `r600_cs.c` (body layouts), Mesa's
//! `r600d.h` for predication and stream-out fields. `COND_EXEC`,
//! `PRED_EXEC`, `REG_RMW` and `COND_WRITE` are used by neither driver; their
//! layouts follow the later generations' published packet definitions.

use super::opcode as op;

/// Header of a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Header {
    /// Writes `count` consecutive registers from byte offset `reg`.
    Type0 {
        /// Byte offset of the first register.
        reg: u32,
        /// Body length in dwords (1 to 16384).
        count: u32,
    },
    /// Not defined on this family.
    Type1,
    /// Filler of one dword.
    Type2,
    /// Command.
    Type3 {
        /// Opcode, see [`super::opcode`].
        opcode: u8,
        /// Body length in dwords (1 to 16384).
        count: u32,
        /// Executed only if predication holds.
        predicate: bool,
        /// Of compute shaders, which have context registers of their own on Evergreen.
        compute: bool,
    },
}

impl Header {
    /// Decodes a header dword.
    pub fn decode(dword: u32) -> Self {
        let count = ((dword >> 16) & 0x3FFF) + 1;
        match dword >> 30 {
            0 => Header::Type0 {
                reg: (dword & 0xFFFF) << 2,
                count,
            },
            1 => Header::Type1,
            2 => Header::Type2,
            _ => Header::Type3 {
                opcode: (dword >> 8) as u8,
                count,
                predicate: dword & 1 != 0,
                compute: dword & 2 != 0,
            },
        }
    }

    /// Encodes the header dword; counts beyond 16384 wrap as the field does.
    pub fn encode(self) -> u32 {
        let field = |count: u32| (count.wrapping_sub(1) & 0x3FFF) << 16;
        match self {
            Header::Type0 { reg, count } => field(count) | (reg >> 2) & 0xFFFF,
            Header::Type1 => 1 << 30,
            Header::Type2 => 2 << 30,
            Header::Type3 {
                opcode,
                count,
                predicate,
                compute,
            } => {
                let flags = u32::from(predicate) | u32::from(compute) << 1;
                (3 << 30) | field(count) | (u32::from(opcode) << 8) | flags
            }
        }
    }

    /// Dwords that follow the header.
    pub fn body(self) -> u32 {
        match self {
            Header::Type0 { count, .. } | Header::Type3 { count, .. } => count,
            Header::Type1 | Header::Type2 => 0,
        }
    }
}

/// A dword in memory or in a register.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// MC address.
    Mem(u64),
    /// Byte offset into the register space.
    Reg(u32),
}

impl Place {
    fn decode(mem: bool, lo: u32, hi: u32) -> Self {
        if mem {
            Place::Mem(addr(lo & !3, hi))
        } else {
            Place::Reg((lo & 0xFFFF) << 2)
        }
    }

    pub(super) fn encode(self) -> [u32; 2] {
        match self {
            Place::Mem(a) => [a as u32, (a >> 32) as u32],
            Place::Reg(r) => [r >> 2, 0],
        }
    }

    pub(super) fn is_mem(self) -> bool {
        matches!(self, Place::Mem(_))
    }
}

/// A 40-bit address of a packet, from its two dwords.
pub(super) fn addr(lo: u32, hi: u32) -> u64 {
    (u64::from(hi & 0xFF) << 32) | u64::from(lo)
}

/// Comparison of `WAIT_REG_MEM` and `COND_WRITE`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Compare {
    /// 0 always, 1 `<`, 2 `<=`, 3 `==`, 4 `!=`, 5 `>=`, 6 `>`, 7 reserved.
    pub function: u8,
    /// Applied to the polled value.
    pub mask: u32,
    /// Value to compare the masked value with.
    pub reference: u32,
}

impl Compare {
    /// Whether `value` passes. The reserved function always passes, so that
    /// it cannot block a ring.
    pub fn holds(&self, value: u32) -> bool {
        let value = value & self.mask;
        match self.function & 7 {
            1 => value < self.reference,
            2 => value <= self.reference,
            3 => value == self.reference,
            4 => value != self.reference,
            5 => value >= self.reference,
            6 => value > self.reference,
            _ => true,
        }
    }
}

/// Source or destination of `CP_DMA`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DmaEnd {
    /// Memory or register.
    pub place: Place,
    /// Byte swap: 0 none, 1 8-in-16, 2 8-in-32, 3 8-in-64.
    pub swap: u8,
    /// Register address does not increment.
    pub fixed: bool,
}

/// A draw, as passed to the graphics block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Draw {
    /// Value of `VGT_DRAW_INITIATOR`.
    pub initiator: u32,
    /// Number of indices.
    pub indices: u32,
    /// Where the indices come from.
    pub source: IndexSource,
}

/// Where a draw's indices come from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum IndexSource {
    /// Counted up by the VGT.
    Auto,
    /// Read from an MC address.
    Memory(u64),
    /// In the packet.
    Immediate(Vec<u32>),
}

/// The new value of an append counter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AppendSource {
    /// A value in the packet.
    Packet(u32),
    /// A dword in memory.
    Memory(u64),
    /// A register, by byte offset.
    Reg(u32),
}

/// A decoded type-3 packet.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs)] // Field names are those of the packet definitions.
pub enum Packet<'a> {
    /// `NOP`, `INDIRECT_BUFFER_END` and packets that only control hardware
    /// pipelines that this model does not have.
    Nop,
    SetPredication {
        addr: u64,
        op: u8,
        draw_visible: bool,
        keep: bool,
    },
    RegRmw {
        reg: u32,
        and: Operand,
        or: Operand,
    },
    CondExec {
        addr: u64,
        count: u32,
    },
    PredExec {
        device_select: u8,
        count: u32,
    },
    ContextControl {
        load: u32,
        shadow: u32,
    },
    IndexType(u32),
    NumInstances(u32),
    /// The PFP waits for the ME (Cayman).
    PfpSyncMe,
    Draw(Draw),
    /// `SET_BASE`: base 1 is that of the arguments of indirect draws.
    SetBase {
        base: u8,
        addr: u64,
    },
    IndexBase(u64),
    /// In indices.
    IndexBufferSize(u32),
    /// `DRAW_INDIRECT` and `DRAW_INDEX_INDIRECT`: `offset` in bytes from the base.
    DrawIndirect {
        indexed: bool,
        offset: u32,
        initiator: u32,
    },
    IndirectBuffer {
        addr: u64,
        dwords: u32,
        /// VM context (Cayman).
        context: u8,
    },
    StrmoutBufferUpdate {
        buffer: u8,
        source: StrmoutSource,
        store: Option<u64>,
    },
    MemSemaphore {
        addr: u64,
        wait: bool,
    },
    CopyDw {
        src: Place,
        dst: Place,
    },
    WaitRegMem {
        place: Place,
        compare: Compare,
        interval: u32,
    },
    MemWrite {
        addr: u64,
        data: MemWriteData,
    },
    CpDma {
        src: DmaEnd,
        dst: DmaEnd,
        bytes: u32,
        sync: bool,
    },
    SurfaceSync {
        coher_cntl: u32,
        size: u32,
        base: u32,
    },
    MeInitialize {
        device_id: u8,
    },
    CondWrite {
        place: Place,
        compare: Compare,
        dst: Place,
        value: u32,
    },
    EventWrite {
        event: u8,
        index: u8,
        addr: Option<u64>,
    },
    EventWriteEop {
        event: u8,
        addr: u64,
        data_sel: u8,
        int_sel: u8,
        data: u64,
    },
    /// Sets the context registers to the clear state (Evergreen).
    ClearState,
    /// Begin or end of the preamble that defines the clear state (Evergreen).
    Preamble {
        record: bool,
    },
    /// Fills with a dword (Evergreen).
    CpDmaFill {
        value: u32,
        dst: Place,
        bytes: u32,
    },
    /// `DISPATCH_DIRECT`: groups of threads in x, y and z.
    Dispatch {
        groups: [u32; 3],
        initiator: u32,
    },
    /// `DISPATCH_INDIRECT`: the three numbers are at `addr`.
    DispatchIndirect {
        addr: u64,
        initiator: u32,
    },
    /// `SET_APPEND_CNT`: sets the counter at register `reg`.
    SetAppendCounter {
        reg: u32,
        source: AppendSource,
    },
    /// `EVENT_WRITE_EOS` that stores the counter at register `reg`.
    StoreAppendCounter {
        event: u8,
        addr: u64,
        reg: u32,
    },
    /// `CP_DMA` from memory to byte `to` of the global data share.
    CopyToShare {
        from: u64,
        to: u32,
        bytes: u32,
    },
    /// `CP_DMA` from byte `from` of the global data share to memory.
    CopyFromShare {
        from: u32,
        to: u64,
        bytes: u32,
    },
    /// `EVENT_WRITE_EOS` that stores `count` dwords of the global data share from dword `first` on.
    StoreShare {
        event: u8,
        addr: u64,
        first: u32,
        count: u32,
    },
    /// Work for the 3D engine of a generation whose draws are not modelled.
    Undrawn,
    /// Any packet that writes consecutive registers.
    SetRegs {
        first: u32,
        values: &'a [u32],
    },
}

/// Operand of `REG_RMW`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operand {
    /// The value itself.
    Value(u32),
    /// The value of the register at this byte offset.
    Reg(u32),
}

/// Data of `MEM_WRITE`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MemWriteData {
    /// 32 bits (`DATA32`).
    U32(u32),
    /// 64 bits.
    U64(u64),
    /// The GPU clock counter (`CNTR_SEL`).
    Clock,
}

/// New stream-out offset of `STRMOUT_BUFFER_UPDATE`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StrmoutSource {
    /// From the packet, in dwords like all stream-out offsets.
    Packet(u32),
    /// The filled size the VGT counted.
    FilledSize,
    /// From memory.
    Memory(u64),
    /// Unchanged.
    None,
}

/// Why a packet cannot be decoded. Its length is known, so it is skipped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DecodeError {
    /// No such opcode.
    UnknownOpcode,
    /// The body is shorter than the packet's fixed part.
    Short,
    /// The registers lie outside the opcode's window.
    Window,
}

impl<'a> Packet<'a> {
    /// Decodes the body of a type-3 packet.
    ///
    /// # Errors
    /// See [`DecodeError`].
    pub fn decode(opcode: u8, b: &'a [u32]) -> Result<Self, DecodeError> {
        let need = |n: usize| {
            if b.len() < n {
                Err(DecodeError::Short)
            } else {
                Ok(())
            }
        };
        Ok(match opcode {
            op::NOP
            | op::INDIRECT_BUFFER_END
            | op::START_3D_CMDBUF
            | op::MPEG_INDEX
            | op::PFP_SYNC_ME
            | op::STRMOUT_BASE_UPDATE
            | op::SURFACE_BASE_UPDATE => Packet::Nop,
            op::SET_PREDICATION => {
                need(2)?;
                Packet::SetPredication {
                    addr: addr(b[0] & !0xF, b[1]),
                    op: (b[1] >> 16) as u8 & 7,
                    draw_visible: b[1] & (1 << 8) != 0,
                    keep: b[1] & (1 << 31) != 0,
                }
            }
            op::REG_RMW => {
                need(3)?;
                let operand = |value: u32, from_reg: bool| {
                    if from_reg {
                        Operand::Reg((value & 0xFFFF) << 2)
                    } else {
                        Operand::Value(value)
                    }
                };
                Packet::RegRmw {
                    reg: (b[0] & 0xFFFF) << 2,
                    and: operand(b[1], b[0] & (1 << 30) != 0),
                    or: operand(b[2], b[0] & (1 << 31) != 0),
                }
            }
            op::COND_EXEC => {
                need(3)?;
                Packet::CondExec {
                    addr: addr(b[0] & !3, b[1]),
                    count: b[2] & 0x3FFF,
                }
            }
            op::PRED_EXEC => {
                need(1)?;
                Packet::PredExec {
                    device_select: (b[0] >> 24) as u8,
                    count: b[0] & 0x3FFF,
                }
            }
            op::CONTEXT_CONTROL => {
                need(2)?;
                Packet::ContextControl {
                    load: b[0],
                    shadow: b[1],
                }
            }
            op::INDEX_TYPE => {
                need(1)?;
                Packet::IndexType(b[0])
            }
            op::NUM_INSTANCES => {
                need(1)?;
                Packet::NumInstances(b[0])
            }
            op::DRAW_INDEX => {
                need(4)?;
                Packet::Draw(Draw {
                    source: IndexSource::Memory(addr(b[0], b[1])),
                    indices: b[2],
                    initiator: b[3],
                })
            }
            op::DRAW_INDEX_2 => {
                need(5)?;
                Packet::Draw(Draw {
                    source: IndexSource::Memory(addr(b[1], b[2])),
                    indices: b[3],
                    initiator: b[4],
                })
            }
            op::DRAW_INDEX_AUTO => {
                need(2)?;
                Packet::Draw(Draw {
                    source: IndexSource::Auto,
                    indices: b[0],
                    initiator: b[1],
                })
            }
            op::DRAW_INDEX_IMMD | op::DRAW_INDEX_IMMD_BE => {
                need(2)?;
                let swap = opcode == op::DRAW_INDEX_IMMD_BE;
                Packet::Draw(Draw {
                    source: IndexSource::Immediate(
                        b[2..]
                            .iter()
                            .map(|d| if swap { d.swap_bytes() } else { *d })
                            .collect(),
                    ),
                    indices: b[0],
                    initiator: b[1],
                })
            }
            op::INDIRECT_BUFFER | op::INDIRECT_BUFFER_MP => {
                need(3)?;
                Packet::IndirectBuffer {
                    addr: addr(b[0] & !3, b[1]),
                    dwords: b[2] & 0xF_FFFF,
                    context: 0,
                }
            }
            op::STRMOUT_BUFFER_UPDATE => {
                need(5)?;
                Packet::StrmoutBufferUpdate {
                    buffer: (b[0] >> 8) as u8 & 3,
                    source: match (b[0] >> 1) & 3 {
                        0 => StrmoutSource::Packet(b[3]),
                        1 => StrmoutSource::FilledSize,
                        2 => StrmoutSource::Memory(addr(b[3] & !3, b[4])),
                        _ => StrmoutSource::None,
                    },
                    store: (b[0] & 1 != 0).then(|| addr(b[1] & !3, b[2])),
                }
            }
            op::MEM_SEMAPHORE => {
                need(2)?;
                Packet::MemSemaphore {
                    addr: addr(b[0] & !7, b[1]),
                    // SEM_SEL: 6 signals, 7 waits.
                    wait: b[1] >> 29 == 7,
                }
            }
            op::COPY_DW => {
                need(5)?;
                Packet::CopyDw {
                    src: Place::decode(b[0] & 1 != 0, b[1], b[2]),
                    dst: Place::decode(b[0] & 2 != 0, b[3], b[4]),
                }
            }
            op::WAIT_REG_MEM => {
                need(6)?;
                Packet::WaitRegMem {
                    place: Place::decode(b[0] & 0x10 != 0, b[1], b[2]),
                    compare: Compare {
                        function: b[0] as u8 & 7,
                        reference: b[3],
                        mask: b[4],
                    },
                    interval: b[5] & 0xFFFF,
                }
            }
            op::MEM_WRITE => {
                need(4)?;
                let (data, align) = if b[1] & (1 << 16) != 0 {
                    (MemWriteData::Clock, 7)
                } else if b[1] & (1 << 18) != 0 {
                    (MemWriteData::U32(b[2]), 3)
                } else {
                    let value = (u64::from(b[3]) << 32) | u64::from(b[2]);
                    (MemWriteData::U64(value), 7)
                };
                Packet::MemWrite {
                    addr: addr(b[0] & !align, b[1]),
                    data,
                }
            }
            op::CP_DMA => {
                need(5)?;
                let end = |lo: u32, hi: u32, swap: u32, reg: u32, fixed: u32| DmaEnd {
                    place: if b[4] & (1 << reg) != 0 {
                        Place::Reg(lo & 0x3_FFFC)
                    } else {
                        Place::Mem(addr(lo, hi))
                    },
                    swap: (b[4] >> swap) as u8 & 3,
                    fixed: b[4] & (1 << fixed) != 0,
                };
                Packet::CpDma {
                    src: end(b[0], b[1], 22, 26, 28),
                    dst: end(b[2], b[3], 24, 27, 29),
                    bytes: b[4] & 0x1F_FFFF,
                    sync: b[1] & (1 << 31) != 0,
                }
            }
            op::SURFACE_SYNC => {
                need(4)?;
                Packet::SurfaceSync {
                    coher_cntl: b[0],
                    size: b[1],
                    base: b[2],
                }
            }
            op::ME_INITIALIZE => {
                need(6)?;
                Packet::MeInitialize {
                    device_id: (b[3] >> 16) as u8,
                }
            }
            op::COND_WRITE => {
                need(8)?;
                Packet::CondWrite {
                    place: Place::decode(b[0] & 0x10 != 0, b[1], b[2]),
                    compare: Compare {
                        function: b[0] as u8 & 7,
                        reference: b[3],
                        mask: b[4],
                    },
                    dst: Place::decode(b[0] & 0x100 != 0, b[5], b[6]),
                    value: b[7],
                }
            }
            op::EVENT_WRITE => {
                need(1)?;
                Packet::EventWrite {
                    event: b[0] as u8 & 0x3F,
                    index: (b[0] >> 8) as u8 & 0xF,
                    addr: (b.len() >= 3).then(|| addr(b[1] & !7, b[2])),
                }
            }
            op::EVENT_WRITE_EOP => {
                need(5)?;
                Packet::EventWriteEop {
                    event: b[0] as u8 & 0x3F,
                    addr: addr(b[1] & !3, b[2]),
                    data_sel: (b[2] >> 29) as u8,
                    int_sel: (b[2] >> 24) as u8 & 3,
                    data: (u64::from(b[4]) << 32) | u64::from(b[3]),
                }
            }
            op::ONE_REG_WRITE => {
                need(2)?;
                Packet::SetRegs {
                    first: (b[0] & 0xFFFF) << 2,
                    values: &b[1..2],
                }
            }
            _ => {
                let (start, end) = op::set_window(opcode).ok_or(DecodeError::UnknownOpcode)?;
                need(1)?;
                let first = start + ((b[0] & 0xFFFF) << 2);
                let values = &b[1..];
                if first + 4 * values.len() as u32 > end {
                    return Err(DecodeError::Window);
                }
                Packet::SetRegs { first, values }
            }
        })
    }
}
