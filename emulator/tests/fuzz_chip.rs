// SPDX-License-Identifier: MIT
//! Hostile input: random rings, indirect buffers and register accesses.
//!
//! After any input, a reset makes the chip work again, and its threads end on
//! request (at the rig's drop). A panic in an engine's thread shows as a missing
//! fence in [`recovers`].

use proptest::prelude::*;

use crate::rig::*;
use r7xx_board::chip::bus::Mc;
use r7xx_board::chip::cp::pm4::Packet;
use r7xx_board::chip::dma::packet::Packet as DmaPacket;
use r7xx_board::chip::family::MODELS;
use r7xx_board::chip::regs::{self, cp, dma, uvd};
use r7xx_board::chip::{ChipConfig, Family};

/// Dwords that are often meaningful: packet headers, addresses that exist,
/// small numbers, register numbers.
fn dword() -> impl Strategy<Value = u32> {
    prop_oneof![
        3 => any::<u32>(),
        4 => (0u32..0x100, 0u32..8).prop_map(|(op, n)| (3 << 30) | (n << 16) | (op << 8)),
        3 => (0x10u32..0x74, 0u32..8).prop_map(|(op, n)| (3 << 30) | (n << 16) | (op << 8)),
        2 => (0u32..16, any::<bool>(), 0u32..64).prop_map(|(c, t, n)| (c << 28) | (u32::from(t) << 23) | n),
        1 => (0u32..16, 0u32..0x100, 0u32..64).prop_map(|(c, s, n)| (c << 28) | (s << 20) | n),
        3 => (0u32..GTT_SIZE as u32).prop_map(|o| GTT as u32 + (o & !3)),
        1 => Just(IB as u32),
        1 => Just(SEMAPHORE as u32),
        2 => 0u32..64,
        1 => (0u32..0x1_0000).prop_map(|r| r & 0x3FFF),
    ]
}

fn dwords(max: usize) -> impl Strategy<Value = Vec<u32>> {
    proptest::collection::vec(dword(), 1..max)
}

/// A chip of any generation.
fn family() -> impl Strategy<Value = Family> {
    (0..MODELS.len()).prop_map(|i| MODELS[i].family)
}

fn rig(family: Family) -> Rig {
    Rig::with(ChipConfig {
        family,
        ..config(None)
    })
}

/// Checks that the chip works again after a reset.
fn recovers(rig: &mut Rig) {
    rig.chip.reset();
    rig.start_ih();
    rig.start_cp();
    rig.start_dma();
    rig.set_mem(FENCE, 0);
    rig.cp(&Packet::EventWriteEop {
        event: 0x14,
        addr: FENCE,
        data_sel: 1,
        int_sel: 2,
        data: 0xF00D,
    }
    .encode());
    rig.until_mem(FENCE, 0xF00D);
    rig.dma(
        &DmaPacket::Fence {
            addr: FENCE,
            value: 0xBEEF,
        }
        .encode(),
    );
    rig.until_mem(FENCE, 0xBEEF);
}

/// Runs a ring, after a call of `ib` if `call`, and checks that the CP recovers.
fn cp_survives(mut rig: Rig, ring: &[u32], ib: &[u32], call: bool, rate: u64) {
    rig.chip.knobs().set_rate_mbps(rate);
    rig.ib(IB, ib);
    if call {
        let dwords = ib.len() as u32;
        rig.cp_fill(
            &Packet::IndirectBuffer {
                addr: IB,
                dwords,
                context: 0,
            }
            .encode(),
        );
    }
    rig.cp(ring);
    linger();
    recovers(&mut rig);
}

fn linger() {
    std::thread::sleep(std::time::Duration::from_micros(300));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn cp_random_ring_and_ib_is_survived(
        family in family(),
        ring in dwords(200), ib in dwords(400), call in any::<bool>(), rate in 0u64..3,
    ) {
        cp_survives(rig(family), &ring, &ib, call, rate);
    }

    #[test]
    fn cp_random_ring_and_ib_is_survived_when_strict(
        ring in dwords(200), ib in dwords(400), call in any::<bool>(), rate in 0u64..3,
    ) {
        cp_survives(Rig::with(strict_config()), &ring, &ib, call, rate);
    }

    #[test]
    fn dma_random_ring_and_ib_is_survived(
        family in family(),
        ring in dwords(200), ib in dwords(400), call in any::<bool>(), rate in 0u64..3,
    ) {
        let format = family.model().generation.dma;
        let mut rig = rig(family);
        rig.chip.knobs().set_rate_mbps(rate);
        rig.ib(IB, &ib);
        if call {
            let dwords = ib.len() as u32;
            let packet = DmaPacket::IndirectBuffer { addr: IB, dwords, context: 0 };
            // The length is in other bits from Evergreen on.
            let r700 = packet.encode();
            let evergreen = [r700[0], r700[1], dwords << 12];
            let understood = (format.decode)(r700[0], &r700[1..]) == Some(packet);
            rig.dma(if understood { &r700 } else { &evergreen });
        }
        rig.dma(&ring);
        linger();
        recovers(&mut rig);
    }

    #[test]
    fn uvd_random_ring_is_survived(
        ring in proptest::collection::vec(prop_oneof![
            dword(),
            (0xEF00u32..0xF700).prop_map(|r| r >> 2),
        ], 1..200),
        ib in dwords(50),
    ) {
        let mut rig = Rig::new();
        rig.ib(IB, &ib);
        rig.uvd(&ring);
        linger();
        recovers(&mut rig);
    }

    #[test]
    fn registers_random_accesses_are_survived(
        family in family(),
        accesses in proptest::collection::vec(
            (
                prop_oneof![
                    3 => any::<u32>(),
                    3 => 0u32..regs::REG_SPACE_SIZE,
                    4 => prop::sample::select(vec![
                        cp::CP_RB_WPTR, cp::CP_RB_CNTL, cp::CP_RB_BASE, cp::CP_RB_RPTR_WR,
                        cp::CP_ME_CNTL, cp::CP_INT_STATUS, cp::CP_INT_CNTL, cp::SCRATCH_REG0,
                        cp::SCRATCH_ADDR, cp::SCRATCH_UMSK,
                        dma::DMA_RB_WPTR, dma::DMA_RB_CNTL, dma::DMA_RB_BASE, dma::DMA_RB_RPTR,
                        uvd::UVD_RBC_RB_WPTR, uvd::UVD_RBC_RB_CNTL, uvd::UVD_RBC_RB_BASE,
                        0x8020, 0x0E60, 0x6110, 0x6144, 0x6540, 0x6080, 0x6100, 0x6880,
                        // DCE 4: the first CRTC's, then the sixth's.
                        0x6800, 0x6810, 0x6B40, 0x6E70, 0x69E4, 0x69F0, 0x1_2400, 0x1_2410,
                        0x1_2740, 0x1_2A70, 0x0100, 0x0104, 0x0CA0, 0x28C8, 0x28CC, 0x29D0,
                    ]),
                ],
                dword(),
                any::<bool>(),
            ),
            1..200,
        ),
    ) {
        let mut rig = rig(family);
        for (offset, value, write) in accesses {
            if write {
                rig.write(offset, value);
            } else {
                rig.read(offset);
            }
        }
        for crtc in 0..=6 {
            rig.chip.scanout(crtc);
        }
        linger();
        recovers(&mut rig);
    }
}

#[test]
fn cp_ring_of_endless_ibs_ends_at_reset() {
    let mut rig = Rig::new();
    // IB1 calls an IB2 of the greatest length, again and again: hours of work.
    let call = |addr, dwords| {
        Packet::IndirectBuffer {
            addr,
            dwords,
            context: 0,
        }
        .encode()
    };
    for i in 0..1000 {
        rig.ib(IB2 + i * 16, &call(DATA, 0xF_FFFF));
    }
    rig.cp(&call(IB2, 4000));
    linger();
    recovers(&mut rig);
}

#[test]
fn engines_wait_forever_end_at_shutdown() {
    let mut rig = Rig::new();
    rig.cp(&Packet::MemSemaphore {
        addr: SEMAPHORE,
        wait: true,
    }
    .encode());
    rig.dma(
        &DmaPacket::Semaphore {
            addr: SEMAPHORE,
            signal: false,
        }
        .encode(),
    );
    linger();
    rig.chip.shutdown();
    assert_eq!(rig.mc.read_u64(SEMAPHORE).unwrap(), 0);
    // A second shutdown is harmless, and so are accesses after it.
    rig.chip.shutdown();
    rig.cp(&[0x8000_0000]);
}

#[test]
fn copies_of_absurd_ranges_fault_and_go_on() {
    let mut rig = Rig::new();
    for (dst, src) in [(0, 0xFF_FFFF_FFFC), (0xFF_FFFF_FFFC, 0), (GTT - 4, GTT)] {
        let dwords = 0xFFFF;
        rig.dma(&DmaPacket::Copy { dst, src, dwords }.encode());
        let value = 1;
        rig.dma(&DmaPacket::ConstantFill { dst, value, dwords }.encode());
    }
    rig.dma(
        &DmaPacket::Fence {
            addr: FENCE,
            value: 5,
        }
        .encode(),
    );
    rig.until_mem(FENCE, 5);
    let faults = rig.chip.counters().snapshot().mc_faults;
    assert!(faults >= 5, "{faults}");
    assert_ne!(rig.read(regs::mc::VM_CONTEXT0_PROTECTION_FAULT_STATUS), 0);
}
