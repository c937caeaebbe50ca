// SPDX-License-Identifier: MIT
//! Asynchronous DMA packets of Evergreen and Northern Islands.
//!
//! A header has a command (bits 31:28), a sub-command (27:20) and a count of
//! 20 bits; R7xx has two flags and 16 bits. Sources: `evergreend.h`
//! (`DMA_PACKET_*`), `evergreen_dma.c`, `evergreen_dma_cs_parse()` (lengths,
//! addresses).

use super::packet::{addr, OwnTiling, Packet, TiledSurface};
use super::packet::{
    CONSTANT_FILL, COPY, FENCE, INDIRECT_BUFFER, NOP, SEMAPHORE, SRBM_WRITE, TRAP, WRITE,
};

/// Sub-command of `COPY`: dwords between linear surfaces.
pub const LINEAR: u32 = 0x00;
/// Sub-command of `COPY` and `WRITE`: one side is tiled.
pub const TILED: u32 = 0x08;
/// Sub-command of `COPY`: bytes between linear surfaces.
pub const BYTES: u32 = 0x40;
/// Sub-command of `COPY`: dwords to two linear surfaces.
pub const BROADCAST: u32 = 0x44;
/// Sub-command of `SEMAPHORE`: signal instead of wait.
pub const SIGNAL: u32 = 0x04;

/// The other sub-commands of `COPY`, and the dwords that follow their headers: parts of
/// surfaces, and two tiled destinations. `TILED` first.
const TILED_COPIES: [(u32, u32); 8] = [
    (TILED, 8),
    (0x41, 8),
    (0x48, 9),
    (0x49, 11),
    (0x4B, 9),
    (0x4C, 8),
    (0x4D, 12),
    (0x4F, 9),
];

/// The tiled side of a copy, and whether it is the source (Mesa's `evergreen_dma_copy_tile()`).
fn surface(b: &[u32; 6]) -> (TiledSurface, bool) {
    let own = OwnTiling {
        split: b[5] >> 21 & 7,
        banks: b[5] >> 25 & 3,
        bank_width: b[1] >> 18 & 7,
        bank_height: b[1] >> 21 & 7,
        aspect: b[1] >> 16 & 3,
        depth_order: b[5] & 1 << 28 != 0,
    };
    let surface = TiledSurface {
        base: u64::from(b[0]) << 8,
        array_mode: b[1] >> 27 & 0xF,
        log2_bpe: b[1] >> 24 & 7,
        height: (b[2] >> 16 & 0x3FFF) + 1,
        pitch_tiles: (b[2] & 0x7FF) + 1,
        slice_tiles: (b[3] & 0x3F_FFFF) + 1,
        z: b[4] >> 18 & 0x7FF,
        x: b[4] & 0x3FFF,
        y: b[5] & 0x3FFF,
        own: Some(own),
    };
    (surface, b[1] & 1 << 31 != 0)
}

/// Encodes a header.
pub fn header(command: u32, sub_command: u32, count: u32) -> u32 {
    (command & 0xF) << 28 | (sub_command & 0xFF) << 20 | count & 0xF_FFFF
}

fn fields(header: u32) -> (u32, u32, u32) {
    (header >> 28, header >> 20 & 0xFF, header & 0xF_FFFF)
}

/// Dwords that follow the header; 0 for an unknown command.
pub fn body(header: u32) -> u32 {
    match fields(header) {
        (WRITE, TILED, count) => count + 6,
        (WRITE, _, count) => count + 2,
        (COPY, LINEAR | BYTES, _) => 4,
        (COPY, BROADCAST, _) => 6,
        (COPY, sub, _) => {
            let known = TILED_COPIES.iter().find(|(code, _)| *code == sub);
            known.map_or(0, |(_, dwords)| *dwords)
        }
        (INDIRECT_BUFFER | SEMAPHORE | SRBM_WRITE, ..) => 2,
        (FENCE | CONSTANT_FILL, ..) => 3,
        _ => 0,
    }
}

/// Decodes a packet; `b` has the header's [`body`] length. `None` for an unknown command
/// or a body that is too short.
pub fn decode(header: u32, b: &[u32]) -> Option<Packet<'_>> {
    let (command, sub, count) = fields(header);
    Some(match (command, sub, b) {
        (WRITE, 0, [lo, hi, data @ ..]) => Packet::Write {
            dst: addr(*lo, *hi),
            data,
        },
        (COPY, LINEAR, [dst_lo, src_lo, dst_hi, src_hi]) => Packet::Copy {
            dst: addr(*dst_lo, *dst_hi),
            src: addr(*src_lo, *src_hi),
            dwords: count,
        },
        (COPY, BYTES, [dst_lo, src_lo, dst_hi, src_hi]) => Packet::CopyBytes {
            dst: u64::from(dst_hi & 0xFF) << 32 | u64::from(*dst_lo),
            src: u64::from(src_hi & 0xFF) << 32 | u64::from(*src_lo),
            bytes: count,
        },
        (COPY, BROADCAST, [dst_lo, dst2_lo, src_lo, dst_hi, dst2_hi, src_hi]) => {
            Packet::CopyTwice {
                dst: [addr(*dst_lo, *dst_hi), addr(*dst2_lo, *dst2_hi)],
                src: addr(*src_lo, *src_hi),
                dwords: count,
            }
        }
        (COPY, TILED, [words @ .., lo, hi]) => {
            let (tiled, detile) = surface(words.try_into().ok()?);
            Packet::CopyTiled {
                tiled,
                linear: addr(*lo, *hi),
                detile,
                dwords: count,
            }
        }
        // No driver writes tiled surfaces from packets, or copies parts of them.
        (WRITE, TILED, [_, ..]) => Packet::Unmodelled,
        (COPY, sub, [_, ..]) if TILED_COPIES.iter().any(|(code, _)| *code == sub) => {
            Packet::Unmodelled
        }
        (INDIRECT_BUFFER, _, [lo, hi]) => Packet::IndirectBuffer {
            addr: addr(lo & !0x1F, *hi),
            dwords: hi >> 12,
            context: 0,
        },
        (SEMAPHORE, _, [lo, hi]) => Packet::Semaphore {
            addr: addr(*lo, *hi),
            signal: sub & SIGNAL != 0,
        },
        (FENCE, _, [lo, hi, value]) => Packet::Fence {
            addr: addr(*lo, *hi),
            value: *value,
        },
        (TRAP, _, []) => Packet::Trap,
        // Bits 19:16 of the first dword enable the value's bytes; the driver sets all.
        (SRBM_WRITE, _, [reg, value]) => Packet::WriteRegister {
            reg: (reg & 0xFFFF) << 2,
            bytes: (reg >> 16 & 0xF) as u8,
            value: *value,
        },
        (CONSTANT_FILL, _, [lo, value, hi]) => Packet::ConstantFill {
            dst: addr(*lo, hi >> 16),
            value: *value,
            dwords: count,
        },
        (NOP, _, []) => Packet::Nop,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The dwords of `evergreen_dma_fence_ring_emit()`, `evergreen_dma_ring_ib_execute()`
    /// and `evergreen_copy_dma()`.
    #[test]
    fn packets_of_the_driver() {
        let fence = [0x2000, 0x1, 77];
        assert_eq!(header(FENCE, 0, 0), 0x6000_0000);
        assert_eq!(body(0x6000_0000), 3);
        assert_eq!(
            decode(0x6000_0000, &fence),
            Some(Packet::Fence {
                addr: 0x1_0000_2000,
                value: 77
            })
        );
        let flush = [0xF << 16 | 0x5480 >> 2, 1];
        assert_eq!(
            decode(header(SRBM_WRITE, 0, 0), &flush),
            Some(Packet::WriteRegister {
                reg: 0x5480,
                bytes: 0xF,
                value: 1
            })
        );
        let ib = [0x3000, 16 << 12 | 0x2];
        assert_eq!(
            decode(header(INDIRECT_BUFFER, 0, 0), &ib),
            Some(Packet::IndirectBuffer {
                addr: 0x2_0000_3000,
                dwords: 16,
                context: 0
            })
        );
        // 0xFFFFF dwords in one packet: 16 bits would lose four of them.
        let copy = [0x1000, 0x2000, 0, 0];
        assert_eq!(
            decode(header(COPY, 0, 0xF_FFFF), &copy),
            Some(Packet::Copy {
                dst: 0x1000,
                src: 0x2000,
                dwords: 0xF_FFFF
            })
        );
        // r600_dma_semaphore_ring_emit(): the flag of bit 22 is the same.
        let signal = decode(0x5040_0000, &[0x10, 0]);
        assert!(matches!(
            signal,
            Some(Packet::Semaphore { signal: true, .. })
        ));
    }

    #[test]
    fn lengths_lead_to_the_next_packet() {
        for (sub, dwords) in [
            (LINEAR, 4),
            (TILED, 8),
            (BYTES, 4),
            (0x41, 8),
            (BROADCAST, 6),
            (0x48, 9),
            (0x49, 11),
            (0x4B, 9),
            (0x4C, 8),
            (0x4D, 12),
            (0x4F, 9),
        ] {
            assert_eq!(body(header(COPY, sub, 5)), dwords, "{sub:#x}");
            let zeroes = vec![0; dwords as usize];
            let known = decode(header(COPY, sub, 5), &zeroes);
            assert!(known.is_some(), "{sub:#x}");
        }
        assert_eq!(body(header(WRITE, 0, 3)), 5);
        assert_eq!(body(header(WRITE, TILED, 3)), 9);
        assert_eq!(decode(header(COPY, 0x42, 5), &[]), None);
        assert_eq!(decode(header(1, 0, 0), &[]), None);
        assert_eq!(decode(header(COPY, LINEAR, 5), &[0; 3]), None);
    }

    #[test]
    fn tiled_copies_have_the_surfaces_geometry() {
        let words = [
            0x100,
            1 << 31 | 4 << 27 | 2 << 24 | 1 << 21 | 2 << 18 | 1 << 16,
            31 | 99 << 16,
            1023,
            8 | 3 << 18,
            16 | 4 << 21 | 2 << 25 | 1 << 28,
            0x2000,
            1,
        ];
        let Some(Packet::CopyTiled {
            tiled,
            linear,
            detile,
            dwords,
        }) = decode(header(COPY, TILED, 64), &words)
        else {
            panic!("no tiled copy");
        };
        assert_eq!((linear, detile, dwords), (0x1_0000_2000, true, 64));
        assert_eq!(
            (tiled.base, tiled.pitch_tiles, tiled.slice_tiles),
            (0x1_0000, 32, 1024)
        );
        assert_eq!((tiled.x, tiled.y, tiled.z, tiled.height), (8, 16, 3, 100));
        let own = tiled.own.unwrap();
        assert_eq!((own.bank_height, own.bank_width, own.aspect), (1, 2, 1));
        assert_eq!((own.split, own.banks, own.depth_order), (4, 2, true));
    }

    #[test]
    fn copies_of_bytes_keep_odd_addresses() {
        let copy = [0x1003, 0x2001, 0, 1];
        assert_eq!(
            decode(header(COPY, BYTES, 7), &copy),
            Some(Packet::CopyBytes {
                dst: 0x1003,
                src: 0x1_0000_2001,
                bytes: 7
            })
        );
    }
}
