// SPDX-License-Identifier: MIT
//! The rings, used as the unmodified driver does at its start and later.

use std::time::{Duration, Instant};

use crate::rig::*;
use r7xx_board::chip::bus::{Mc, RegFile};
use r7xx_board::chip::counters::Counter;
use r7xx_board::chip::cp::pm4::{Compare, DmaEnd, Draw, IndexSource, MemWriteData, Packet, Place};
use r7xx_board::chip::dma::packet::{Packet as DmaPacket, TiledSurface};
use r7xx_board::chip::queue::EngineId;
use r7xx_board::chip::regs::{cp, dma, grbm, ih, srbm, uvd};
use r7xx_board::chip::ChipConfig;

const SCRATCH: u32 = cp::SCRATCH_REG0 + 4;

fn set_reg(reg: u32, value: u32) -> Vec<u32> {
    Packet::SetRegs {
        first: reg,
        values: &[value],
    }
    .encode()
}

fn fence(value: u32) -> Vec<u32> {
    Packet::EventWriteEop {
        event: 0x14,
        addr: FENCE,
        data_sel: 1,
        int_sel: 2,
        data: u64::from(value),
    }
    .encode()
}

fn call(addr: u64, dwords: u32) -> Vec<u32> {
    Packet::IndirectBuffer {
        addr,
        dwords,
        context: 0,
    }
    .encode()
}

fn mem(place: u64) -> DmaEnd {
    DmaEnd {
        place: Place::Mem(place),
        swap: 0,
        fixed: false,
    }
}

fn cp_dma(src: u64, dst: u64, bytes: u32) -> Vec<u32> {
    Packet::CpDma {
        src: mem(src),
        dst: mem(dst),
        bytes,
        sync: true,
    }
    .encode()
}

fn dma_fence(value: u32) -> Vec<u32> {
    let mut dwords = DmaPacket::Fence { addr: FENCE, value }.encode();
    dwords.extend(DmaPacket::Trap.encode());
    dwords
}

#[test]
fn cp_ring_test_writes_scratch_and_memory() {
    let mut rig = Rig::new();
    rig.write(SCRATCH, 0xCAFE_DEAD);
    rig.cp(&set_reg(SCRATCH, 0xDEAD_BEEF));
    rig.until("scratch", |r| r.read(SCRATCH) == 0xDEAD_BEEF);
    rig.until_mem(WB + 4, 0xDEAD_BEEF);
    // 7 dwords of ME_INITIALIZE, 3 of SET_CONFIG_REG.
    rig.until_mem(WB_CP_RPTR, 10);
    assert_eq!(rig.read(cp::CP_RB_RPTR), 10);
}

#[test]
fn cp_halted_queues_until_unhalted() {
    let mut rig = Rig::new();
    rig.write(cp::CP_ME_CNTL, cp::CP_ME_HALT);
    rig.cp(&set_reg(SCRATCH, 1));
    std::thread::sleep(Duration::from_millis(20));
    assert_eq!(rig.read(SCRATCH), 0);
    assert_ne!(rig.read(grbm::GRBM_STATUS) & grbm::GUI_ACTIVE, 0);
    rig.write(cp::CP_ME_CNTL, 0xFF);
    rig.until("scratch", |r| r.read(SCRATCH) == 1);
    rig.until("idle", |r| {
        r.read(grbm::GRBM_STATUS) == grbm::GRBM_STATUS_IDLE
    });
}

#[test]
fn cp_fence_after_ib_interrupts_once() {
    let mut rig = Rig::new();
    rig.ib(IB, &set_reg(SCRATCH, 7));
    rig.cp_fill(&call(IB, 3));
    rig.cp_fill(&fence(42));
    rig.cp_commit();
    rig.until_mem(FENCE, 42);
    rig.until("interrupt", |r| r.irq_count() == 1);
    assert_eq!(rig.read(SCRATCH), 7);
    assert_eq!(rig.vectors(), [(181, 0)]);
    assert_eq!(rig.chip.counters().get(Counter::Fences), 1);
    assert_eq!(rig.chip.counters().get(Counter::Ibs), 1);
}

#[test]
fn cp_fence_with_interrupts_off_is_silent() {
    let mut rig = Rig::new();
    rig.write(cp::CP_INT_CNTL, 0);
    rig.cp(&fence(1));
    rig.until_mem(FENCE, 1);
    rig.write(cp::CP_INT_CNTL, cp::TIME_STAMP_INT_ENABLE);
    rig.regs.store(ih::IH_CNTL, 0);
    rig.cp(&fence(2));
    rig.until_mem(FENCE, 2);
    rig.until("idle", |r| {
        r.read(grbm::GRBM_STATUS) & grbm::GUI_ACTIVE == 0
    });
    assert_eq!(rig.irq_count(), 0);
}

#[test]
fn cp_software_interrupt_is_source_176() {
    let mut rig = Rig::new();
    rig.cp(&set_reg(cp::CP_INT_STATUS, cp::RB_INT));
    rig.until("interrupt", |r| r.irq_count() == 1);
    assert_eq!(rig.vectors(), [(176, 0)]);
}

#[test]
fn cp_packet_across_ring_end_is_whole() {
    let mut rig = Rig::new();
    // Fill up to two dwords before the end, then let a fence wrap.
    let filler = vec![0x8000_0000; CP_DWORDS as usize - 7 - 2];
    rig.cp(&filler);
    rig.until_mem(WB_CP_RPTR, CP_DWORDS - 2);
    rig.cp(&fence(9));
    rig.until_mem(FENCE, 9);
    rig.until_mem(WB_CP_RPTR, 4);
}

#[test]
fn cp_packet_in_two_submissions_waits_for_rest() {
    let mut rig = Rig::new();
    let packet = fence(5);
    rig.cp(&packet[..3]);
    std::thread::sleep(Duration::from_millis(10));
    assert_eq!(rig.mem(FENCE), 0);
    rig.cp(&packet[3..]);
    rig.until_mem(FENCE, 5);
}

#[test]
fn cp_wait_inside_nested_ib_resumes() {
    let mut rig = Rig::new();
    let mut inner = Packet::WaitRegMem {
        place: Place::Mem(DATA),
        compare: Compare {
            function: 5,
            mask: 0xFF,
            reference: 3,
        },
        interval: 10,
    }
    .encode();
    inner.extend(set_reg(SCRATCH, 2));
    rig.ib(IB2, &inner);
    let mut outer = set_reg(SCRATCH, 1);
    outer.extend(call(IB2, inner.len() as u32));
    outer.extend(set_reg(SCRATCH + 4, 3));
    rig.ib(IB, &outer);
    rig.cp_fill(&call(IB, outer.len() as u32));
    rig.cp_fill(&fence(1));
    rig.cp_commit();
    rig.until("first write", |r| r.read(SCRATCH) == 1);
    std::thread::sleep(Duration::from_millis(5));
    assert_eq!((rig.read(SCRATCH), rig.mem(FENCE)), (1, 0));
    assert_ne!(rig.read(grbm::GRBM_STATUS) & grbm::CP_BUSY, 0);
    rig.set_mem(DATA, 0x103);
    rig.until_mem(FENCE, 1);
    assert_eq!((rig.read(SCRATCH), rig.read(SCRATCH + 4)), (2, 3));
}

/// `make bench-desktop` takes `BusyNs` for the engines' work: copies count, waits do not.
#[test]
fn busy_time_is_that_of_work() {
    let mut rig = Rig::new();
    let busy = |rig: &Rig| rig.chip.counters().get(Counter::BusyNs);
    let wait = Packet::WaitRegMem {
        place: Place::Mem(DATA),
        compare: Compare {
            function: 5,
            mask: 0xFF,
            reference: 3,
        },
        interval: 10,
    };
    rig.set_mem(DATA, 0);
    rig.cp_fill(&set_reg(SCRATCH, 1));
    rig.cp(&wait.encode());
    rig.until("the write before the wait", |r| r.read(SCRATCH) == 1);
    std::thread::sleep(Duration::from_millis(2));
    let before = busy(&rig);
    std::thread::sleep(Duration::from_millis(20));
    assert_eq!(busy(&rig), before);
    let start = std::time::Instant::now();
    rig.set_mem(DATA, 3);
    rig.cp_fill(&cp_dma(DATA + 3, 0x1005, 200_001));
    rig.cp_fill(&fence(1));
    rig.cp_commit();
    rig.until_mem(FENCE, 1);
    rig.until("the account of it", |r| busy(r) > before);
    assert!(u128::from(busy(&rig) - before) <= start.elapsed().as_nanos());
}

#[test]
fn cp_third_ib_level_is_refused() {
    let mut rig = Rig::new();
    // A buffer that calls itself: the second level skips the call and goes on.
    let mut body = call(IB, 7);
    body.extend(set_reg(SCRATCH, 1));
    rig.ib(IB, &body);
    rig.cp_fill(&call(IB, 7));
    rig.cp_fill(&fence(1));
    rig.cp_commit();
    rig.until_mem(FENCE, 1);
    assert_eq!(rig.chip.counters().get(Counter::Ibs), 2);
    assert_eq!(rig.chip.counters().get(Counter::BadPackets), 1);
}

#[test]
fn cp_dma_unaligned_bytes_are_exact() {
    let mut rig = Rig::new();
    let source = rig.pattern(DATA + 3, 200_001, 1);
    let around = rig.pattern(0x1000, 200_016, 2);
    rig.cp_fill(&cp_dma(DATA + 3, 0x1005, 200_001));
    rig.cp_fill(&fence(1));
    rig.cp_commit();
    rig.until_mem(FENCE, 1);
    let result = rig.bytes(0x1000, 200_016);
    assert_eq!(result[..5], around[..5]);
    assert_eq!(result[5..200_006], source[..]);
    assert_eq!(result[200_006..], around[200_006..]);
    assert_eq!(rig.chip.counters().get(Counter::CpDmaBytes), 200_001);
}

#[test]
fn cp_dma_register_ends_move_dwords() {
    let mut rig = Rig::new();
    rig.set_mem(DATA, 0x1111_1111);
    rig.set_mem(DATA + 4, 0x2222_2222);
    let registers = DmaEnd {
        place: Place::Reg(cp::SCRATCH_REG0),
        ..mem(0)
    };
    rig.cp_fill(
        &Packet::CpDma {
            src: mem(DATA),
            dst: registers,
            bytes: 8,
            sync: true,
        }
        .encode(),
    );
    rig.cp_fill(
        &Packet::CpDma {
            src: DmaEnd {
                fixed: true,
                ..registers
            },
            dst: mem(DATA + 16),
            bytes: 8,
            sync: true,
        }
        .encode(),
    );
    rig.cp_fill(&fence(1));
    rig.cp_commit();
    rig.until_mem(FENCE, 1);
    assert_eq!(rig.read(SCRATCH), 0x2222_2222);
    let copied = [rig.mem(DATA + 16), rig.mem(DATA + 20)];
    assert_eq!(copied, [0x1111_1111, 0x1111_1111]);
}

#[test]
fn cp_memory_packets_have_their_effects() {
    let mut rig = Rig::new();
    rig.set_mem(DATA, 0xAAAA_0001);
    let always_different = Compare {
        function: 4,
        mask: !0,
        reference: 0,
    };
    let packets = [
        Packet::CopyDw {
            src: Place::Mem(DATA),
            dst: Place::Reg(SCRATCH),
        },
        Packet::CopyDw {
            src: Place::Reg(SCRATCH),
            dst: Place::Mem(DATA + 4),
        },
        Packet::MemWrite {
            addr: DATA + 8,
            data: MemWriteData::U64(0x0123_4567_89AB_CDEF),
        },
        Packet::MemWrite {
            addr: DATA + 20,
            data: MemWriteData::U32(7),
        },
        Packet::CondWrite {
            place: Place::Mem(DATA),
            compare: always_different,
            dst: Place::Mem(DATA + 24),
            value: 8,
        },
        // The flag at DATA + 28 is zero: the following packet is skipped.
        Packet::CondExec {
            addr: DATA + 28,
            count: 5,
        },
        Packet::MemWrite {
            addr: DATA + 24,
            data: MemWriteData::U32(9),
        },
    ];
    for packet in packets {
        rig.cp_fill(&packet.encode());
    }
    rig.cp_fill(&fence(1));
    rig.cp_commit();
    rig.until_mem(FENCE, 1);
    assert_eq!(rig.mem(DATA + 4), 0xAAAA_0001);
    assert_eq!(rig.mc.read_u64(DATA + 8).unwrap(), 0x0123_4567_89AB_CDEF);
    assert_eq!((rig.mem(DATA + 20), rig.mem(DATA + 24)), (7, 8));
}

#[test]
fn cp_unknown_opcode_is_skipped_by_length() {
    let mut rig = Rig::new();
    rig.cp_fill(&[0xC002_FF00, 1, 2, 3]);
    rig.cp_fill(&fence(1));
    rig.cp_commit();
    rig.until_mem(FENCE, 1);
    assert_eq!(rig.chip.counters().get(Counter::BadPackets), 1);
}

#[test]
fn cp_draw_and_query_are_counted_and_answered() {
    let mut rig = Rig::new();
    rig.cp_fill(
        &Packet::Draw(Draw {
            initiator: 2,
            indices: 3,
            source: IndexSource::Auto,
        })
        .encode(),
    );
    rig.cp_fill(
        &Packet::EventWrite {
            event: 0x15,
            index: 1,
            addr: Some(DATA),
        }
        .encode(),
    );
    rig.cp_fill(&fence(1));
    rig.cp_commit();
    rig.until_mem(FENCE, 1);
    assert_eq!(rig.chip.counters().get(Counter::Draws), 1);
    // One backend on RV710: its slot is valid, the next one untouched.
    assert_eq!(rig.mc.read_u64(DATA).unwrap(), 1 << 63);
    assert_eq!(rig.mc.read_u64(DATA + 16).unwrap(), 0);
}

#[test]
fn cp_predicated_packet_without_samples_is_skipped() {
    let mut rig = Rig::new();
    let mut skipped = set_reg(SCRATCH, 1);
    skipped[0] |= 1;
    let predicate = Packet::SetPredication {
        addr: DATA,
        op: 1,
        draw_visible: true,
        keep: false,
    }
    .encode();
    rig.cp_fill(&predicate);
    rig.cp_fill(&skipped);
    rig.cp_fill(&fence(1));
    rig.cp_commit();
    rig.until_mem(FENCE, 1);
    assert_eq!(rig.read(SCRATCH), 0);
    rig.mc.write_u64(DATA + 8, 5).unwrap();
    rig.cp_fill(&predicate);
    rig.cp_fill(&skipped);
    rig.cp_fill(&fence(2));
    rig.cp_commit();
    rig.until_mem(FENCE, 2);
    assert_eq!(rig.read(SCRATCH), 1);
}

#[test]
fn dma_ring_test_ib_and_fence_work() {
    let mut rig = Rig::new();
    rig.dma(
        &DmaPacket::Write {
            dst: DATA,
            data: &[0xDEAD_BEEF],
        }
        .encode(),
    );
    rig.until_mem(DATA, 0xDEAD_BEEF);
    rig.until_mem(WB_DMA_RPTR, 4 << 2);
    rig.ib(
        IB,
        &DmaPacket::Write {
            dst: DATA + 4,
            data: &[1, 2],
        }
        .encode(),
    );
    rig.dma(
        &DmaPacket::IndirectBuffer {
            addr: IB,
            dwords: 5,
            context: 0,
        }
        .encode(),
    );
    rig.dma(&dma_fence(77));
    rig.until_mem(FENCE, 77);
    assert_eq!((rig.mem(DATA + 4), rig.mem(DATA + 8)), (1, 2));
    rig.until("interrupt", |r| r.irq_count() == 1);
    assert_eq!(rig.vectors(), [(224, 0)]);
    rig.until("idle", |r| r.read(dma::DMA_STATUS_REG) & dma::DMA_IDLE != 0);
}

#[test]
fn dma_copy_and_fill_are_exact() {
    let mut rig = Rig::new();
    let source = rig.pattern(DATA, 0xFFFF * 4, 3);
    rig.dma(
        &DmaPacket::Copy {
            dst: 0x10_0000,
            src: DATA,
            dwords: 0xFFFF,
        }
        .encode(),
    );
    rig.dma(
        &DmaPacket::ConstantFill {
            dst: 0x10_0000 + 0xFFFF * 4,
            value: 0x0102_0304,
            dwords: 3,
        }
        .encode(),
    );
    rig.dma(&dma_fence(1));
    rig.until_mem(FENCE, 1);
    assert_eq!(rig.bytes(0x10_0000, 0xFFFF * 4), source);
    let filled = rig.bytes(0x10_0000 + 0xFFFF * 4, 16);
    assert_eq!(filled, [4, 3, 2, 1, 4, 3, 2, 1, 4, 3, 2, 1, 0, 0, 0, 0]);
    let copied = rig.chip.counters().get(Counter::DmaBytes);
    assert_eq!(copied, (0xFFFF + 3) * 4);
}

#[test]
fn dma_tiled_copy_there_and_back_is_identity() {
    let mut rig = Rig::new();
    // 2 pipes, 8 banks, as the driver programs RV710.
    rig.regs.store(dma::DMA_TILING_CONFIG, (1 << 1) | (1 << 4));
    for (array_mode, log2_bpe) in [(1, 2), (2, 0), (2, 2), (4, 1), (4, 2), (4, 4)] {
        let (pitch, height) = (128u32, 32u32);
        let bytes = (pitch * height) << log2_bpe;
        let source = rig.pattern(DATA, bytes as usize, array_mode + log2_bpe);
        let tiled = TiledSurface {
            base: 0x20_0000,
            array_mode,
            log2_bpe,
            height,
            pitch_tiles: pitch / 8,
            slice_tiles: pitch * height / 64,
            z: 0,
            x: 0,
            y: 0,
            own: None,
        };
        let copy = |linear, detile| {
            DmaPacket::CopyTiled {
                tiled,
                linear,
                detile,
                dwords: bytes / 4,
            }
            .encode()
        };
        rig.dma(&copy(DATA, false));
        rig.dma(&copy(DATA + 0x10_0000, true));
        rig.dma(&dma_fence(100 + array_mode * 8 + log2_bpe));
        rig.until_mem(FENCE, 100 + array_mode * 8 + log2_bpe);
        let raw = rig.bytes(0x20_0000, bytes as usize);
        assert_eq!(raw == source, array_mode == 1, "mode {array_mode}");
        assert_eq!(rig.bytes(DATA + 0x10_0000, bytes as usize), source);
    }
}

#[test]
fn semaphore_orders_rings() {
    let mut rig = Rig::new();
    rig.dma(
        &DmaPacket::Semaphore {
            addr: SEMAPHORE,
            signal: false,
        }
        .encode(),
    );
    rig.dma(&dma_fence(3));
    std::thread::sleep(Duration::from_millis(5));
    assert_eq!(rig.mem(FENCE), 0);
    assert_eq!(rig.read(dma::DMA_STATUS_REG) & dma::DMA_IDLE, 0);
    rig.cp(&Packet::MemSemaphore {
        addr: SEMAPHORE,
        wait: false,
    }
    .encode());
    rig.until_mem(FENCE, 3);
    assert_eq!(rig.mem(SEMAPHORE), 0);
}

#[test]
fn uvd_ring_test_fence_and_trap_work() {
    let mut rig = Rig::new();
    let packet0 = |reg: u32| reg >> 2;
    assert_eq!(rig.read(uvd::UVD_STATUS), 2);
    rig.write(uvd::UVD_CONTEXT_ID, 0xCAFE_DEAD);
    rig.uvd(&[packet0(uvd::UVD_CONTEXT_ID), 0xDEAD_BEEF]);
    rig.until("ring test", |r| r.read(uvd::UVD_CONTEXT_ID) == 0xDEAD_BEEF);
    let message = [
        packet0(uvd::UVD_GPCOM_VCPU_CMD),
        0,
        0x8000_0000,
        0x8000_0000,
    ];
    rig.ib(IB, &message);
    rig.uvd(&[
        packet0(uvd::UVD_RBC_IB_BASE),
        IB as u32,
        packet0(uvd::UVD_RBC_IB_SIZE),
        4,
        packet0(uvd::UVD_CONTEXT_ID),
        55,
        packet0(uvd::UVD_GPCOM_VCPU_DATA0),
        FENCE as u32,
        packet0(uvd::UVD_GPCOM_VCPU_DATA1),
        0,
        packet0(uvd::UVD_GPCOM_VCPU_CMD),
        0,
        packet0(uvd::UVD_GPCOM_VCPU_CMD),
        2,
    ]);
    rig.until_mem(FENCE, 55);
    rig.until("interrupt", |r| r.irq_count() == 1);
    assert_eq!(rig.vectors(), [(124, 0)]);
    assert_eq!(rig.chip.counters().get(Counter::Ibs), 1);
}

#[test]
fn ih_overflow_is_flagged_and_recovered() {
    let mut rig = Rig::new();
    let room = IH_BYTES / 16;
    for n in 0..room + 10 {
        rig.cp(&fence(n + 1));
        rig.until_mem(FENCE, n + 1);
    }
    rig.until("all interrupts", |r| r.irq_count() == u64::from(room) + 10);
    assert_ne!(rig.mem(WB_IH_WPTR) & ih::RB_OVERFLOW, 0);
    // The driver restarts after the oldest vector that was not overwritten.
    assert_eq!(rig.vectors().len() as u32, room - 1);
    rig.cp(&fence(9999));
    rig.until("interrupt", |r| r.irq_count() == u64::from(room) + 11);
    assert_eq!(rig.mem(WB_IH_WPTR) & ih::RB_OVERFLOW, 0);
    assert_eq!(rig.vectors(), [(181, 0)]);
}

#[test]
fn latency_work_starts_later_and_follows_the_knob() {
    let mut rig = Rig::with(ChipConfig {
        latency_us: 0,
        ..config(None)
    });
    rig.until_mem(WB_CP_RPTR, 7);
    // A latency of an hour: the work is queued, but must not start.
    rig.chip.knobs().set_latency_us(3_600_000_000);
    rig.cp(&fence(1));
    std::thread::sleep(Duration::from_millis(20));
    assert_eq!(rig.mem(FENCE), 0);
    assert_ne!(rig.read(grbm::GRBM_STATUS) & grbm::GUI_ACTIVE, 0);
    // Without latency, the waiting work starts at once.
    rig.chip.knobs().set_latency_us(0);
    rig.until_mem(FENCE, 1);
}

#[test]
fn rate_copy_is_slow_and_follows_the_knob() {
    let mut rig = Rig::new();
    rig.chip.knobs().set_rate_mbps(1);
    let source = rig.pattern(DATA, 1 << 20, 5);
    rig.cp_fill(&cp_dma(DATA, 0, 1 << 20));
    rig.cp_fill(&fence(1));
    rig.cp_commit();
    // The copy takes a second: its beginning is done, its end is not.
    rig.until("first chunk", |r| r.bytes(0, 4096) == source[..4096]);
    assert_eq!(rig.mem(FENCE), 0);
    rig.chip.knobs().set_rate_mbps(0);
    rig.until_mem(FENCE, 1);
    assert_eq!(rig.bytes(0, 1 << 20), source);
}

#[test]
fn wait_idle_ends_with_the_work_or_after_its_time() {
    let mut rig = Rig::new();
    rig.until_mem(WB_CP_RPTR, 7);
    rig.chip.knobs().set_rate_mbps(1);
    rig.cp_fill(&cp_dma(DATA, 0, 1 << 20));
    rig.cp_fill(&fence(1));
    rig.cp_commit();
    let short = Duration::from_millis(1);
    assert!(!rig.chip.wait_idle(EngineId::Gfx, short));
    assert!(rig.chip.wait_idle(EngineId::Dma, short), "another ring");
    assert_eq!(rig.mem(FENCE), 0);
    let start = Instant::now();
    std::thread::scope(|scope| {
        let waits = scope.spawn(|| rig.chip.wait_idle(EngineId::Gfx, Duration::from_secs(60)));
        rig.chip.knobs().set_rate_mbps(0);
        assert!(waits.join().unwrap());
    });
    assert!(start.elapsed() < Duration::from_secs(60), "nobody woke it");
    assert_eq!(rig.mem(FENCE), 1);
}

/// The part of r600_gpu_soft_reset() for the rings.
fn soft_reset(rig: &Rig) {
    rig.write(cp::CP_ME_CNTL, cp::CP_ME_HALT | cp::CP_PFP_HALT);
    let cntl = rig.read(dma::DMA_RB_CNTL);
    rig.write(dma::DMA_RB_CNTL, cntl & !dma::DMA_RB_ENABLE);
    for (reg, bits) in [
        (grbm::GRBM_SOFT_RESET, grbm::SOFT_RESET_CP | (1 << 14)),
        (
            srbm::SRBM_SOFT_RESET,
            srbm::SOFT_RESET_GRBM | srbm::RV770_SOFT_RESET_DMA,
        ),
    ] {
        rig.write(reg, rig.read(reg) | bits);
        rig.write(reg, rig.read(reg) & !bits);
    }
}

fn assert_idle(rig: &Rig) {
    assert_eq!(rig.read(grbm::GRBM_STATUS), grbm::GRBM_STATUS_IDLE);
    assert_eq!(rig.read(dma::DMA_STATUS_REG), dma::DMA_IDLE);
    assert_eq!(rig.read(srbm::SRBM_STATUS), 0);
}

#[test]
fn hang_is_seen_and_soft_reset_recovers() {
    let mut rig = Rig::new();
    rig.until_mem(WB_CP_RPTR, 7);
    let resets = rig.chip.counters().get(Counter::SoftResets);
    rig.chip.knobs().set_hang(0b11);
    rig.cp(&fence(1));
    rig.dma(&dma_fence(2));
    std::thread::sleep(Duration::from_millis(20));
    assert_eq!(rig.mem(FENCE), 0);
    assert_eq!(rig.read(grbm::GRBM_STATUS), 0xA000_3028);
    assert_eq!(rig.read(dma::DMA_STATUS_REG), 0);
    assert_eq!(rig.chip.knobs().hung(), 0b11);
    soft_reset(&rig);
    assert_eq!(rig.chip.knobs().hung(), 0);
    assert_idle(&rig);
    assert_eq!(rig.chip.counters().get(Counter::SoftResets), resets + 2);
    rig.start_cp();
    rig.start_dma();
    rig.cp(&fence(3));
    rig.until_mem(FENCE, 3);
    rig.dma(&dma_fence(4));
    rig.until_mem(FENCE, 4);
}

#[test]
fn hang_after_packets_lets_them_pass() {
    let mut rig = Rig::with(config(Some("dma@2".parse().unwrap())));
    rig.dma(
        &DmaPacket::Fence {
            addr: FENCE,
            value: 1,
        }
        .encode(),
    );
    rig.dma(
        &DmaPacket::Fence {
            addr: FENCE,
            value: 2,
        }
        .encode(),
    );
    rig.dma(
        &DmaPacket::Fence {
            addr: FENCE,
            value: 3,
        }
        .encode(),
    );
    rig.until_mem(FENCE, 2);
    rig.until("hang", |r| r.chip.knobs().hung() == 0b10);
    std::thread::sleep(Duration::from_millis(10));
    assert_eq!(rig.mem(FENCE), 2);
}

#[test]
fn soft_reset_cancels_endless_work() {
    let mut rig = Rig::new();
    rig.chip.knobs().set_rate_mbps(1);
    // A wait whose condition never holds, and copies of 26 seconds on the other ring.
    rig.cp(&Packet::WaitRegMem {
        place: Place::Mem(DATA),
        compare: Compare {
            function: 3,
            mask: !0,
            reference: 1,
        },
        interval: 0,
    }
    .encode());
    for _ in 0..100 {
        rig.dma(
            &DmaPacket::Copy {
                dst: 0,
                src: DATA,
                dwords: 0xFFFF,
            }
            .encode(),
        );
    }
    rig.until("copying", |r| r.chip.counters().get(Counter::DmaBytes) > 0);
    soft_reset(&rig);
    assert_idle(&rig);
    rig.start_cp();
    rig.cp(&fence(1));
    rig.until_mem(FENCE, 1);
}

#[test]
fn reset_gives_power_on_values() {
    let mut rig = Rig::new();
    rig.cp(&fence(1));
    rig.until_mem(FENCE, 1);
    rig.chip.reset();
    assert_idle(&rig);
    assert_eq!(rig.read(cp::CP_RB_BASE), 0);
    assert_eq!(rig.read(srbm::CONFIG_MEMSIZE), VRAM_SIZE as u32);
    assert_eq!(rig.read(uvd::UVD_STATUS), 0);
    rig.start_ih();
    rig.start_cp();
    rig.cp(&fence(2));
    rig.until_mem(FENCE, 2);
}
