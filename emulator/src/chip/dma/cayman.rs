// SPDX-License-Identifier: MIT
//! Asynchronous DMA packets of Cayman: what differs from [`evergreen`].
//!
//! Sources: `nid.h` (`DMA_PTE_PDE_PACKET`, `DMA_SRBM_READ_PACKET`, `DMA_IB_PACKET`), `ni_dma.c`.

use super::evergreen;
use super::packet::{addr, Packet, INDIRECT_BUFFER, SRBM_WRITE, WRITE};

/// Sub-command of `WRITE`: entries of a page table that lead to consecutive pages.
pub const PTE_PDE: u32 = 0x42;
/// Sub-command of `SRBM_WRITE`: waits for a register.
pub const SRBM_READ: u32 = 0x80;

fn sub(header: u32) -> (u32, u32) {
    (header >> 28, header >> 20 & 0xFF)
}

/// Dwords that follow the header; 0 for an unknown command.
pub fn body(header: u32) -> u32 {
    match sub(header) {
        (WRITE, PTE_PDE) => 8,
        (SRBM_WRITE, SRBM_READ) => 3,
        _ => evergreen::body(header),
    }
}

/// Decodes a packet; `b` has the header's [`body`] length. `None` for an unknown command
/// or a body that is too short.
pub fn decode(header: u32, b: &[u32]) -> Option<Packet<'_>> {
    let wide = |lo: u32, hi: u32| u64::from(hi) << 32 | u64::from(lo);
    Some(match (sub(header), b) {
        ((WRITE, PTE_PDE), [lo, hi, words @ ..]) => {
            let &[flags, flags_hi, value, value_hi, step, step_hi] = words else {
                return None;
            };
            Packet::PageTable {
                dst: addr(*lo, *hi),
                flags: wide(flags, flags_hi),
                first: wide(value, value_hi),
                step: wide(step, step_hi),
                entries: (header & 0xF_FFFF) / 2,
            }
        }
        ((SRBM_WRITE, SRBM_READ), [reg, mask, value]) => Packet::PollRegister {
            reg: (reg & 0xFFFF) << 2,
            mask: *mask,
            value: *value,
        },
        ((INDIRECT_BUFFER, context), [lo, hi]) => Packet::IndirectBuffer {
            addr: addr(lo & !0x1F, *hi),
            dwords: hi >> 12,
            context: (context & 0xF) as u8,
        },
        _ => return evergreen::decode(header, b),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The dwords of `cayman_dma_vm_set_pages()`, `cayman_dma_vm_flush()` and
    /// `cayman_dma_ring_ib_execute()`.
    #[test]
    fn packets_of_the_driver() {
        let pages = [0x1000, 0x1, 0x61, 0, 0x20_0000, 0, 0x1000, 0];
        let header = 2 << 28 | 1 << 26 | 1 << 21 | 32;
        assert_eq!(body(header), 8);
        assert_eq!(
            decode(header, &pages),
            Some(Packet::PageTable {
                dst: 0x1_0000_1000,
                flags: 0x61,
                first: 0x20_0000,
                step: 0x1000,
                entries: 16
            })
        );
        assert_eq!(decode(header, &pages[..7]), None);
        let poll = 9 << 28 | 1 << 27;
        assert_eq!(body(poll), 3);
        assert_eq!(
            decode(poll, &[0xFF << 20 | 0x1478 >> 2, 6, 2]),
            Some(Packet::PollRegister {
                reg: 0x1478,
                mask: 6,
                value: 2
            })
        );
        assert_eq!(
            decode(4 << 28 | 7 << 20, &[0x2000, 24 << 12 | 1]),
            Some(Packet::IndirectBuffer {
                addr: 0x1_0000_2000,
                dwords: 24,
                context: 7
            })
        );
        assert_eq!(decode(0x7000_0000, &[]), Some(Packet::Trap));
        assert_eq!(body(2 << 28 | 5), 7);
    }
}
