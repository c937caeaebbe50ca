// SPDX-License-Identifier: MIT
//! The strict board: the effects of a missing flush or synchronisation, and that
//! the right one prevents them.

use crate::common::*;
use crate::rig::*;
use r7xx_board::chip::counters::Counter;
use r7xx_board::chip::cp::pm4::{Compare, MemWriteData, Packet, Place};
use r7xx_board::chip::regs::{cp, hdp};

const SCRATCH: u32 = cp::SCRATCH_REG0 + 4;

fn strict_rig() -> Rig {
    Rig::with(strict_config())
}

fn set_scratch(value: u32) -> Vec<u32> {
    Packet::SetRegs {
        first: SCRATCH,
        values: &[value],
    }
    .encode()
}

fn write(addr: u64, value: u32) -> Vec<u32> {
    let data = MemWriteData::U32(value);
    Packet::MemWrite { addr, data }.encode()
}

fn call(addr: u64, dwords: u32) -> Vec<u32> {
    Packet::IndirectBuffer {
        addr,
        dwords,
        context: 0,
    }
    .encode()
}

/// A packet by which the PFP (with `pfp`) or the ME waits until memory at `addr`
/// is `value`.
fn wait(addr: u64, value: u32, pfp: bool) -> Vec<u32> {
    let mut dwords = Packet::WaitRegMem {
        place: Place::Mem(addr),
        compare: Compare {
            function: 3,
            mask: u32::MAX,
            reference: value,
        },
        interval: 10,
    }
    .encode();
    dwords[1] |= u32::from(pfp) << 8;
    dwords
}

fn fence(value: u32) -> Vec<u32> {
    write(FENCE, value)
}

/// Lets the ME change the value that an indirect buffer sets, then executes
/// the buffer; returns the value that it has set.
fn changed_buffer(rig: &mut Rig, between: &[u32]) -> u32 {
    rig.ib(IB, &set_scratch(1));
    rig.cp_fill(&write(IB + 8, 2));
    rig.cp_fill(between);
    rig.cp_fill(&call(IB, 3));
    rig.cp_fill(&fence(7));
    rig.cp_commit();
    rig.until_mem(FENCE, 7);
    rig.read(SCRATCH)
}

#[test]
fn pfp_executes_buffer_as_it_was_before_the_me_changed_it() {
    let mut rig = strict_rig();
    assert_eq!(changed_buffer(&mut rig, &[]), 1);
    assert_eq!(rig.chip.counters().get(Counter::PfpStalePackets), 1);
    assert_eq!(rig.chip.counters().get(Counter::Ibs), 1);
}

#[test]
fn me_wait_does_not_stop_the_pfp() {
    let mut rig = strict_rig();
    let mut sync = write(DATA, 5);
    sync.extend(wait(DATA, 5, false));
    assert_eq!(changed_buffer(&mut rig, &sync), 1);
    assert_eq!(rig.chip.counters().get(Counter::PfpStalePackets), 1);
}

#[test]
fn pfp_wait_for_what_the_me_writes_stops_it() {
    let mut rig = strict_rig();
    let mut sync = write(DATA, 5);
    sync.extend(wait(DATA, 5, true));
    assert_eq!(changed_buffer(&mut rig, &sync), 2);
    assert_eq!(rig.chip.counters().get(Counter::PfpStalePackets), 0);
}

#[test]
fn pfp_wait_for_a_value_already_there_stops_nothing() {
    let mut rig = strict_rig();
    rig.set_mem(DATA, 5);
    let mut sync = write(DATA, 5);
    sync.extend(wait(DATA, 5, true));
    assert_eq!(changed_buffer(&mut rig, &sync), 1);
    assert_eq!(rig.chip.counters().get(Counter::PfpStalePackets), 1);
}

#[test]
fn without_strict_the_buffer_is_read_when_it_is_executed() {
    let mut rig = Rig::new();
    assert_eq!(changed_buffer(&mut rig, &[]), 2);
    assert_eq!(rig.chip.counters().get(Counter::PfpStalePackets), 0);
}

#[test]
fn draw_has_the_indices_from_before_the_copy() {
    use r7xx_board::chip::cp::pm4::{Draw, IndexSource};
    let mut rig = strict_rig();
    let draw = Packet::Draw(Draw {
        initiator: 0,
        indices: 4,
        source: IndexSource::Memory(DATA),
    })
    .encode();
    rig.cp_fill(&draw);
    rig.cp_fill(&write(DATA + 4, 0x0001_0002));
    rig.cp_fill(&draw);
    rig.cp_fill(&fence(1));
    rig.cp_commit();
    rig.until_mem(FENCE, 1);
    let counters = rig.chip.counters();
    assert_eq!(counters.get(Counter::Draws), 2);
    assert_eq!(counters.get(Counter::PfpStaleIndices), 1);
}

#[test]
fn skips_and_nested_buffers_stay_in_step() {
    let mut rig = strict_rig();
    let skipped = set_scratch(9);
    let cond = Packet::CondExec {
        addr: DATA,
        count: skipped.len() as u32,
    }
    .encode();
    let mut inner = cond.clone();
    inner.extend(&skipped);
    inner.extend(set_scratch(3));
    rig.ib(IB2, &inner);
    let mut outer = call(IB2, inner.len() as u32);
    outer.extend(wait(DATA + 8, 1, false));
    rig.ib(IB, &outer);
    for round in 1..=200 {
        rig.set_mem(DATA + 8, 0);
        rig.cp_fill(&call(IB, outer.len() as u32));
        rig.cp_fill(&cond);
        rig.cp_fill(&skipped);
        rig.cp_fill(&fence(round));
        rig.cp_commit();
        rig.set_mem(DATA + 8, 1);
        rig.until_mem(FENCE, round);
        assert_eq!(rig.read(SCRATCH), 3);
    }
    assert_eq!(rig.chip.counters().get(Counter::BadPackets), 0);
    assert_eq!(rig.chip.counters().get(Counter::Ibs), 400);
}

#[test]
fn reset_drops_what_was_fetched() {
    let mut rig = strict_rig();
    rig.cp_fill(&wait(DATA, 1, false));
    rig.cp_fill(&set_scratch(9));
    rig.cp_commit();
    std::thread::sleep(std::time::Duration::from_millis(10));
    rig.start_cp();
    rig.set_mem(DATA, 1);
    rig.cp(&fence(1));
    rig.until_mem(FENCE, 1);
    assert_ne!(rig.read(SCRATCH), 9);
}

#[test]
fn bar0_is_trapped_and_only_flush_pages_are() {
    let served = Served::start(&["--strict=7"]);
    let mut client = served.client();
    let mapped = |bar: u32, at: u64| {
        let region = client.region(bar).unwrap();
        (region.sparse_areas.iter()).any(|a| (a.offset..a.offset + a.size).contains(&at))
    };
    assert!(!mapped(BAR0, 0));
    assert!(mapped(BAR2, 0x3E08) && mapped(BAR2, 0x98F0));
    for flush in [0x1470, 0x2F34, 0x5480] {
        assert!(!mapped(BAR2, flush), "{flush:#x}");
    }
    write32(&mut client, BAR0, 0x100, 0xCAFE_F00D);
    assert_eq!(read32(&mut client, BAR0, 0x100), 0xCAFE_F00D);
}

#[test]
fn gpu_sees_bar0_writes_after_the_familys_flush() {
    let served = Served::start(&["--strict"]);
    let mut client = served.client();
    let mc = served.board.mc();
    // So many lines that some are still in the buffer when the test looks.
    let value = |client: &mut vfio_user::Client, round: u32| {
        for i in 0..32u64 {
            write32(client, BAR0, i * 64, round);
        }
        (0..32).filter(|i| mc.read_u32(i * 64) == Ok(round)).count()
    };
    let early = value(&mut client, 1);
    assert!(early < 32, "all of {early} were there without a flush");
    write32(&mut client, BAR2, u64::from(hdp::HDP_DEBUG1), 0);
    read32(&mut client, BAR0, 0x1000);
    assert!((0..32).all(|i| mc.read_u32(i * 64) == Ok(1)));
    value(&mut client, 2);
    write32(
        &mut client,
        BAR2,
        u64::from(hdp::HDP_MEM_COHERENCY_FLUSH_CNTL),
        1,
    );
    assert!((0..32).all(|i| mc.read_u32(i * 64) == Ok(2)));
    let counters = served.board.chip().counters();
    assert!(counters.get(Counter::HdpUnseenReads) > 0);
    assert_eq!(counters.get(Counter::HdpFlushes), 2);
}
