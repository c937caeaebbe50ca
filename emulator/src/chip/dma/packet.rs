// SPDX-License-Identifier: MIT
//! Asynchronous DMA packet formats: decoding and encoding.
//!
//! Sources: `rv770d.h` (`DMA_PACKET_*`), `r600_dma.c` and `rv770_dma.c`
//! (builders), `r600_dma_cs_parse()` (lengths, addresses), Mesa's
//! `r600_dma_copy_tile()` (fields of tiled copies). No byte-granular form is
//! known for R6xx/R7xx: all lengths are dwords.

/// `DMA_PACKET_WRITE`.
pub const WRITE: u32 = 0x2;
/// `DMA_PACKET_COPY`.
pub const COPY: u32 = 0x3;
/// `DMA_PACKET_INDIRECT_BUFFER`.
pub const INDIRECT_BUFFER: u32 = 0x4;
/// `DMA_PACKET_SEMAPHORE`.
pub const SEMAPHORE: u32 = 0x5;
/// `DMA_PACKET_FENCE`.
pub const FENCE: u32 = 0x6;
/// `DMA_PACKET_TRAP`.
pub const TRAP: u32 = 0x7;
/// `DMA_PACKET_SRBM_WRITE`, of Evergreen and later.
pub const SRBM_WRITE: u32 = 0x9;
/// `DMA_PACKET_CONSTANT_FILL`.
pub const CONSTANT_FILL: u32 = 0xD;
/// `DMA_PACKET_NOP`.
pub const NOP: u32 = 0xF;

/// Position of the command in a header, in all generations.
pub(super) const COMMAND_SHIFT: u32 = 28;

/// Name of a command.
pub fn name(command: u32) -> &'static str {
    match command {
        WRITE => "WRITE",
        COPY => "COPY",
        INDIRECT_BUFFER => "INDIRECT_BUFFER",
        SEMAPHORE => "SEMAPHORE",
        FENCE => "FENCE",
        TRAP => "TRAP",
        SRBM_WRITE => "SRBM_WRITE",
        CONSTANT_FILL => "CONSTANT_FILL",
        NOP => "NOP",
        _ => "UNKNOWN",
    }
}

/// Header of a DMA packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Header {
    /// Command, 4 bits.
    pub command: u32,
    /// T bit: one side is tiled.
    pub tiled: bool,
    /// S bit: signal instead of wait.
    pub signal: bool,
    /// Count, 16 bits.
    pub count: u32,
}

impl Header {
    /// Decodes a header dword.
    pub fn decode(dword: u32) -> Self {
        Self {
            command: dword >> 28,
            tiled: dword & (1 << 23) != 0,
            signal: dword & (1 << 22) != 0,
            count: dword & 0xFFFF,
        }
    }

    /// Encodes the header dword.
    pub fn encode(self) -> u32 {
        ((self.command & 0xF) << 28)
            | (u32::from(self.tiled) << 23)
            | (u32::from(self.signal) << 22)
            | self.count & 0xFFFF
    }

    /// Dwords that follow the header; 0 for an unknown command.
    pub fn body(self) -> u32 {
        match self.command {
            WRITE if self.tiled => self.count + 4,
            WRITE => self.count + 2,
            COPY if self.tiled => 6,
            COPY => 4,
            INDIRECT_BUFFER | SEMAPHORE => 2,
            FENCE | CONSTANT_FILL => 3,
            _ => 0,
        }
    }
}

/// The tiled side of a copy or write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TiledSurface {
    /// MC address, 256-byte aligned.
    pub base: u64,
    /// `ARRAY_MODE`, 4 bits.
    pub array_mode: u32,
    /// log2 of the bytes per element, 0 to 4 in use.
    pub log2_bpe: u32,
    /// Height in elements (1 to 16384).
    pub height: u32,
    /// Pitch in tiles of 8 elements (1 to 1024).
    pub pitch_tiles: u32,
    /// Slice size in tiles of 64 elements (1 to 2^20).
    pub slice_tiles: u32,
    /// Slice.
    pub z: u32,
    /// First column (14 bits).
    pub x: u32,
    /// First row (14 bits).
    pub y: u32,
    /// The surface's own tiling geometry (Evergreen).
    pub own: Option<OwnTiling>,
}

/// Tiling geometry that a packet of Evergreen has, in the fields' values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OwnTiling {
    /// `TILE_SPLIT`.
    pub split: u32,
    /// `NUM_BANKS`.
    pub banks: u32,
    /// `BANK_WIDTH`.
    pub bank_width: u32,
    /// `BANK_HEIGHT`.
    pub bank_height: u32,
    /// `MACRO_TILE_ASPECT`.
    pub aspect: u32,
    /// Elements are in the order of depth buffers.
    pub depth_order: bool,
}

impl TiledSurface {
    /// Decodes the four dwords that describe the tiled side; the first also
    /// carries the direction: true means tiled to linear.
    fn decode(b: &[u32; 4]) -> (Self, bool) {
        let surface = Self {
            base: u64::from(b[0]) << 8,
            array_mode: (b[1] >> 27) & 0xF,
            log2_bpe: (b[1] >> 24) & 7,
            height: ((b[1] >> 10) & 0x3FFF) + 1,
            pitch_tiles: (b[1] & 0x3FF) + 1,
            slice_tiles: (b[2] >> 12) + 1,
            z: b[2] & 0xFFF,
            x: (b[3] >> 3) & 0x3FFF,
            y: (b[3] >> 17) & 0x3FFF,
            own: None,
        };
        (surface, b[1] & (1 << 31) != 0)
    }

    fn encode(&self, detile: bool) -> [u32; 4] {
        [
            (self.base >> 8) as u32,
            (u32::from(detile) << 31)
                | (self.array_mode << 27)
                | (self.log2_bpe << 24)
                | ((self.height - 1) << 10)
                | (self.pitch_tiles - 1),
            ((self.slice_tiles - 1) << 12) | self.z,
            (self.x << 3) | (self.y << 17),
        ]
    }
}

/// A decoded DMA packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Packet<'a> {
    /// Writes dwords from the packet.
    Write {
        /// MC address, dword aligned.
        dst: u64,
        /// What to write.
        data: &'a [u32],
    },
    /// Writes dwords from the packet to a tiled surface.
    WriteTiled {
        /// Destination.
        dst: TiledSurface,
        /// What to write, in linear order.
        data: &'a [u32],
    },
    /// Copies dwords.
    Copy {
        /// Destination MC address, dword aligned.
        dst: u64,
        /// Source MC address, dword aligned.
        src: u64,
        /// Length.
        dwords: u32,
    },
    /// Copies bytes (Evergreen).
    CopyBytes {
        /// Destination MC address.
        dst: u64,
        /// Source MC address.
        src: u64,
        /// Length.
        bytes: u32,
    },
    /// Copies dwords to two destinations (Evergreen).
    CopyTwice {
        /// Destination MC addresses, dword aligned.
        dst: [u64; 2],
        /// Source MC address, dword aligned.
        src: u64,
        /// Length.
        dwords: u32,
    },
    /// Writes a register (Evergreen).
    WriteRegister {
        /// Byte offset of the register.
        reg: u32,
        /// Bit n: byte n is written.
        bytes: u8,
        /// Value.
        value: u32,
    },
    /// A packet that the generation's model consumes without executing it.
    Unmodelled,
    /// Copies between a tiled and a linear surface.
    CopyTiled {
        /// The tiled side.
        tiled: TiledSurface,
        /// The linear side's MC address, dword aligned.
        linear: u64,
        /// True if the tiled side is the source.
        detile: bool,
        /// Length.
        dwords: u32,
    },
    /// Executes an indirect buffer.
    IndirectBuffer {
        /// MC address, 32-byte aligned.
        addr: u64,
        /// Length.
        dwords: u32,
        /// VM context (Cayman).
        context: u8,
    },
    /// Writes entries of a page table (Cayman): `first`, and `step` more in each, with flags.
    PageTable {
        /// Address of the first entry.
        dst: u64,
        /// Flags of each entry.
        flags: u64,
        /// Address in the first entry.
        first: u64,
        /// From one entry's address to the next's.
        step: u64,
        /// Number of entries.
        entries: u32,
    },
    /// Waits until the bits in `mask` of a register have a value (Cayman).
    PollRegister {
        /// Byte offset.
        reg: u32,
        /// The bits.
        mask: u32,
        /// Their value.
        value: u32,
    },
    /// Semaphore signal or wait.
    Semaphore {
        /// MC address.
        addr: u64,
        /// Signal instead of wait.
        signal: bool,
    },
    /// Writes a fence value.
    Fence {
        /// MC address, dword aligned.
        addr: u64,
        /// Value.
        value: u32,
    },
    /// Raises the trap interrupt.
    Trap,
    /// Fills dwords with a constant.
    ConstantFill {
        /// MC address, dword aligned.
        dst: u64,
        /// Value.
        value: u32,
        /// Length.
        dwords: u32,
    },
    /// Filler.
    Nop,
}

/// The MC address of a dword from its halves.
pub(super) fn addr(lo: u32, hi: u32) -> u64 {
    (u64::from(hi & 0xFF) << 32) | u64::from(lo & !3)
}

impl<'a> Packet<'a> {
    /// Decodes a packet; `body` has the header's [`Header::body`] length.
    /// None for an unknown command or a body that is too short.
    pub fn decode(header: Header, body: &'a [u32]) -> Option<Self> {
        let dwords = header.count;
        Some(match (header.command, body) {
            (WRITE, [a, b, c, d, data @ ..]) if header.tiled => Packet::WriteTiled {
                dst: TiledSurface::decode(&[*a, *b, *c, *d]).0,
                data,
            },
            (WRITE, [lo, hi, data @ ..]) if !header.tiled => Packet::Write {
                dst: addr(*lo, *hi),
                data,
            },
            (COPY, [a, b, c, d, lo, hi]) if header.tiled => {
                let (tiled, detile) = TiledSurface::decode(&[*a, *b, *c, *d]);
                Packet::CopyTiled {
                    tiled,
                    linear: addr(*lo, *hi),
                    detile,
                    dwords,
                }
            }
            (COPY, [dst_lo, src_lo, dst_hi, src_hi]) => Packet::Copy {
                dst: addr(*dst_lo, *dst_hi),
                src: addr(*src_lo, *src_hi),
                dwords,
            },
            (INDIRECT_BUFFER, [lo, hi]) => Packet::IndirectBuffer {
                addr: addr(lo & !0x1F, *hi),
                dwords: hi >> 16,
                context: 0,
            },
            (SEMAPHORE, [lo, hi]) => Packet::Semaphore {
                addr: addr(*lo, *hi),
                signal: header.signal,
            },
            (FENCE, [lo, hi, value]) => Packet::Fence {
                addr: addr(*lo, *hi),
                value: *value,
            },
            (TRAP, []) => Packet::Trap,
            (CONSTANT_FILL, [lo, value, hi]) => Packet::ConstantFill {
                dst: addr(*lo, hi >> 16),
                value: *value,
                dwords,
            },
            (NOP, []) => Packet::Nop,
            _ => return None,
        })
    }

    /// Encodes header and body, in the format of R7xx. A packet that R7xx does not have is
    /// empty.
    pub fn encode(&self) -> Vec<u32> {
        let header = |command: u32, tiled: bool, signal: bool, count: u32| {
            Header {
                command,
                tiled,
                signal,
                count,
            }
            .encode()
        };
        let hi = |a: u64| (a >> 32) as u32;
        match self {
            Packet::Write { dst, data } => {
                let mut dwords = vec![
                    header(WRITE, false, false, data.len() as u32),
                    *dst as u32,
                    hi(*dst),
                ];
                dwords.extend_from_slice(data);
                dwords
            }
            Packet::WriteTiled { dst, data } => {
                let mut dwords = vec![header(WRITE, true, false, data.len() as u32)];
                dwords.extend_from_slice(&dst.encode(false));
                dwords.extend_from_slice(data);
                dwords
            }
            Packet::Copy { dst, src, dwords } => vec![
                header(COPY, false, false, *dwords),
                *dst as u32,
                *src as u32,
                hi(*dst),
                hi(*src),
            ],
            Packet::CopyTiled {
                tiled,
                linear,
                detile,
                dwords,
            } => {
                let mut packet = vec![header(COPY, true, false, *dwords)];
                packet.extend_from_slice(&tiled.encode(*detile));
                packet.extend_from_slice(&[*linear as u32, hi(*linear)]);
                packet
            }
            Packet::IndirectBuffer {
                addr,
                dwords,
                context: _,
            } => vec![
                header(INDIRECT_BUFFER, false, false, 0),
                *addr as u32,
                hi(*addr) | (dwords << 16),
            ],
            Packet::Semaphore { addr, signal } => vec![
                header(SEMAPHORE, false, *signal, 0),
                *addr as u32,
                hi(*addr),
            ],
            Packet::Fence { addr, value } => {
                vec![
                    header(FENCE, false, false, 0),
                    *addr as u32,
                    hi(*addr),
                    *value,
                ]
            }
            Packet::CopyBytes { .. }
            | Packet::CopyTwice { .. }
            | Packet::WriteRegister { .. }
            | Packet::PageTable { .. }
            | Packet::PollRegister { .. }
            | Packet::Unmodelled => Vec::new(),
            Packet::Trap => vec![header(TRAP, false, false, 0)],
            Packet::ConstantFill { dst, value, dwords } => vec![
                header(CONSTANT_FILL, false, false, *dwords),
                *dst as u32,
                *value,
                hi(*dst) << 16,
            ],
            Packet::Nop => vec![header(NOP, false, false, 0)],
        }
    }
}
