// SPDX-License-Identifier: MIT
//! Packet formats: encoding and decoding round-trip, and decoding never panics.

use proptest::prelude::*;

use r7xx_board::chip::cp::pm4::{
    Compare, DmaEnd, Draw, Header, IndexSource, MemWriteData, Operand, Packet, Place, StrmoutSource,
};
use r7xx_board::chip::dma::packet::{Header as DmaHeader, Packet as DmaPacket, TiledSurface};

fn mc_addr(align: u64) -> impl Strategy<Value = u64> {
    (0u64..1 << 40).prop_map(move |a| a & !(align - 1))
}

fn reg() -> impl Strategy<Value = u32> {
    (0u32..0x1_0000).prop_map(|r| r << 2)
}

fn place() -> impl Strategy<Value = Place> {
    prop_oneof![mc_addr(4).prop_map(Place::Mem), reg().prop_map(Place::Reg)]
}

fn compare() -> impl Strategy<Value = Compare> {
    (0u8..8, any::<u32>(), any::<u32>()).prop_map(|(function, mask, reference)| Compare {
        function,
        mask,
        reference,
    })
}

fn operand() -> impl Strategy<Value = Operand> {
    prop_oneof![
        any::<u32>().prop_map(Operand::Value),
        reg().prop_map(Operand::Reg)
    ]
}

fn dma_end() -> impl Strategy<Value = DmaEnd> {
    let place = prop_oneof![mc_addr(1).prop_map(Place::Mem), reg().prop_map(Place::Reg)];
    (place, 0u8..4, any::<bool>()).prop_map(|(place, swap, fixed)| DmaEnd { place, swap, fixed })
}

fn draw() -> impl Strategy<Value = Draw> {
    let source = prop_oneof![
        Just(IndexSource::Auto),
        mc_addr(1).prop_map(IndexSource::Memory),
        proptest::collection::vec(any::<u32>(), 0..40).prop_map(IndexSource::Immediate),
    ];
    (any::<u32>(), any::<u32>(), source).prop_map(|(initiator, indices, source)| Draw {
        initiator,
        indices,
        source,
    })
}

fn pm4() -> impl Strategy<Value = Packet<'static>> {
    let strmout = prop_oneof![
        any::<u32>().prop_map(StrmoutSource::Packet),
        Just(StrmoutSource::FilledSize),
        mc_addr(4).prop_map(StrmoutSource::Memory),
        Just(StrmoutSource::None),
    ];
    let write = prop_oneof![
        any::<u32>().prop_map(MemWriteData::U32),
        any::<u64>().prop_map(MemWriteData::U64),
        Just(MemWriteData::Clock),
    ];
    prop_oneof![
        Just(Packet::Nop),
        (mc_addr(16), 0u8..8, any::<bool>(), any::<bool>()).prop_map(
            |(addr, op, draw_visible, keep)| Packet::SetPredication {
                addr,
                op,
                draw_visible,
                keep
            }
        ),
        (reg(), operand(), operand()).prop_map(|(reg, and, or)| Packet::RegRmw { reg, and, or }),
        (mc_addr(4), 0u32..0x4000).prop_map(|(addr, count)| Packet::CondExec { addr, count }),
        (any::<u8>(), 0u32..0x4000).prop_map(|(device_select, count)| Packet::PredExec {
            device_select,
            count
        }),
        (any::<u32>(), any::<u32>())
            .prop_map(|(load, shadow)| Packet::ContextControl { load, shadow }),
        any::<u32>().prop_map(Packet::IndexType),
        any::<u32>().prop_map(Packet::NumInstances),
        draw().prop_map(Packet::Draw),
        (mc_addr(4), 0u32..1 << 20).prop_map(|(addr, dwords)| Packet::IndirectBuffer {
            addr,
            dwords,
            context: 0
        }),
        (0u8..4, strmout, proptest::option::of(mc_addr(4))).prop_map(|(buffer, source, store)| {
            Packet::StrmoutBufferUpdate {
                buffer,
                source,
                store,
            }
        }),
        (mc_addr(8), any::<bool>()).prop_map(|(addr, wait)| Packet::MemSemaphore { addr, wait }),
        (place(), place()).prop_map(|(src, dst)| Packet::CopyDw { src, dst }),
        (place(), compare(), 0u32..0x1_0000).prop_map(|(place, compare, interval)| {
            Packet::WaitRegMem {
                place,
                compare,
                interval,
            }
        }),
        (mc_addr(8), write).prop_map(|(addr, data)| Packet::MemWrite { addr, data }),
        (dma_end(), dma_end(), 0u32..1 << 21, any::<bool>()).prop_map(|(src, dst, bytes, sync)| {
            Packet::CpDma {
                src,
                dst,
                bytes,
                sync,
            }
        }),
        (any::<u32>(), any::<u32>(), any::<u32>()).prop_map(|(coher_cntl, size, base)| {
            Packet::SurfaceSync {
                coher_cntl,
                size,
                base,
            }
        }),
        any::<u8>().prop_map(|device_id| Packet::MeInitialize { device_id }),
        (place(), compare(), place(), any::<u32>()).prop_map(|(place, compare, dst, value)| {
            Packet::CondWrite {
                place,
                compare,
                dst,
                value,
            }
        }),
        (0u8..64, 0u8..16, proptest::option::of(mc_addr(8)))
            .prop_map(|(event, index, addr)| Packet::EventWrite { event, index, addr }),
        (0u8..64, mc_addr(4), 0u8..8, 0u8..4, any::<u64>()).prop_map(
            |(event, addr, data_sel, int_sel, data)| Packet::EventWriteEop {
                event,
                addr,
                data_sel,
                int_sel,
                data
            }
        ),
    ]
}

fn surface() -> impl Strategy<Value = TiledSurface> {
    (
        (mc_addr(256), 0u32..16, 0u32..8),
        (1u32..=0x4000, 1u32..=0x400, 1u32..=0x10_0000),
        (0u32..0x1000, 0u32..0x4000, 0u32..0x4000),
    )
        .prop_map(
            |((base, array_mode, log2_bpe), (height, pitch_tiles, slice_tiles), (z, x, y))| {
                TiledSurface {
                    base,
                    array_mode,
                    log2_bpe,
                    height,
                    pitch_tiles,
                    slice_tiles,
                    z,
                    x,
                    y,
                    own: None,
                }
            },
        )
}

fn dma() -> impl Strategy<Value = DmaPacket<'static>> {
    prop_oneof![
        (mc_addr(4), mc_addr(4), 0u32..0x1_0000).prop_map(|(dst, src, dwords)| DmaPacket::Copy {
            dst,
            src,
            dwords
        }),
        (surface(), mc_addr(4), any::<bool>(), 0u32..0x1_0000).prop_map(
            |(tiled, linear, detile, dwords)| DmaPacket::CopyTiled {
                tiled,
                linear,
                detile,
                dwords
            }
        ),
        (mc_addr(32), 0u32..0x1_0000).prop_map(|(addr, dwords)| DmaPacket::IndirectBuffer {
            addr,
            dwords,
            context: 0
        }),
        (mc_addr(4), any::<bool>())
            .prop_map(|(addr, signal)| DmaPacket::Semaphore { addr, signal }),
        (mc_addr(4), any::<u32>()).prop_map(|(addr, value)| DmaPacket::Fence { addr, value }),
        (mc_addr(4), any::<u32>(), 0u32..0x1_0000)
            .prop_map(|(dst, value, dwords)| DmaPacket::ConstantFill { dst, value, dwords }),
        Just(DmaPacket::Trap),
        Just(DmaPacket::Nop),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn pm4_packet_round_trips(packet in pm4()) {
        let dwords = packet.encode();
        let Header::Type3 { opcode, count, .. } = Header::decode(dwords[0]) else {
            panic!("not a type-3 packet");
        };
        prop_assert_eq!(count as usize, dwords.len() - 1);
        prop_assert_eq!(Packet::decode(opcode, &dwords[1..]), Ok(packet));
    }

    #[test]
    fn pm4_header_round_trips(dword: u32) {
        let header = Header::decode(dword);
        prop_assert_eq!(Header::decode(header.encode()), header);
        prop_assert!(header.body() <= 0x4000);
    }

    #[test]
    fn pm4_register_writes_round_trip(
        first in (0u32..0x1_0000).prop_map(|r| r << 2),
        values in proptest::collection::vec(any::<u32>(), 1..20),
    ) {
        let dwords = Packet::SetRegs { first, values: &values }.encode();
        match Header::decode(dwords[0]) {
            Header::Type0 { reg, count } => {
                prop_assert_eq!((reg, count as usize), (first, values.len()));
                prop_assert_eq!(&dwords[1..], &values[..]);
            }
            Header::Type3 { opcode, .. } => prop_assert_eq!(
                Packet::decode(opcode, &dwords[1..]),
                Ok(Packet::SetRegs { first, values: &values })
            ),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn pm4_decode_any_body_does_not_panic(
        opcode: u8, body in proptest::collection::vec(any::<u32>(), 0..40),
    ) {
        let _ = Packet::decode(opcode, &body);
    }

    #[test]
    fn dma_packet_round_trips(packet in dma()) {
        let dwords = packet.encode();
        let header = DmaHeader::decode(dwords[0]);
        prop_assert_eq!(header.body() as usize, dwords.len() - 1);
        prop_assert_eq!(DmaPacket::decode(header, &dwords[1..]), Some(packet));
    }

    #[test]
    fn dma_writes_round_trip(
        dst in surface(), linear in mc_addr(4),
        data in proptest::collection::vec(any::<u32>(), 0..40),
    ) {
        for packet in [
            DmaPacket::WriteTiled { dst, data: &data },
            DmaPacket::Write { dst: linear, data: &data },
        ] {
            let dwords = packet.encode();
            let header = DmaHeader::decode(dwords[0]);
            prop_assert_eq!(header.body() as usize, dwords.len() - 1);
            prop_assert_eq!(DmaPacket::decode(header, &dwords[1..]), Some(packet));
        }
    }

    #[test]
    fn dma_decode_any_body_does_not_panic(
        header: u32, body in proptest::collection::vec(any::<u32>(), 0..12),
    ) {
        let _ = DmaPacket::decode(DmaHeader::decode(header), &body);
    }
}
