// SPDX-License-Identifier: MIT
//! The board, used through a vfio-user client.

use std::os::fd::AsRawFd;
use std::os::unix::fs::FileExt;

use crate::common::*;
use r7xx_board::host::vfio::server::Stop;
use rustix::event::{eventfd, EventfdFlags};

#[test]
fn config_space_identifies_the_chip_asked_for() {
    for (chip, id) in [
        ("rv710", 0x9540),
        ("rv730", 0x9480),
        ("rv740", 0x94a0),
        ("rv770", 0x9440),
        ("rv670", 0x9505),
        ("cedar", 0x68f9),
        ("turks", 0x6759),
        ("palm", 0x9802),
    ] {
        let served = Served::start(&["--chip", chip]);
        let mut client = served.client();
        assert_eq!(read32(&mut client, CONFIG, 0), (id << 16) | 0x1002);
        assert_eq!(read32(&mut client, CONFIG, 8) >> 8, 0x03_0000);
    }
}

#[test]
fn bars_have_the_sizes_asked_for() {
    let served = Served::start(&["--vram-mib", "128", "--bar-mib", "64"]);
    let mut client = served.client();
    let size = |index| client.region(index).unwrap().size;
    assert_eq!(size(BAR0), 64 << 20);
    assert_eq!(size(BAR2), 0x10000);
    assert_eq!(size(BAR4), 0x100);
    assert_eq!(size(ROM), 0x10000);
    assert_eq!(size(CONFIG), 4096);
    assert_eq!(size(1), 0);
    write32(&mut client, CONFIG, 0x10, !0);
    assert_eq!(read32(&mut client, CONFIG, 0x10), 0xfc00_000c);
    write32(&mut client, CONFIG, 0x30, !1);
    assert_eq!(read32(&mut client, CONFIG, 0x30), 0xffff_0000);
    // CRTCs from the third on have registers above 64 KiB.
    let served = Served::start(&["--chip", "cedar"]);
    let mut client = served.client();
    assert_eq!(client.region(BAR2).unwrap().size, 0x20000);
    write32(&mut client, CONFIG, 0x18, !0);
    assert_eq!(read32(&mut client, CONFIG, 0x18), 0xfffe_0004);
}

#[test]
fn rom_is_read_whole_and_padded() {
    let served = Served::start(&[]);
    let mut client = served.client();
    let mut rom = vec![0; 0x10000];
    client.region_read(ROM, 0, &mut rom).unwrap();
    assert_eq!(rom[..2], [0x55, 0xaa]);
    let len = usize::from(rom[2]) * 512;
    assert_eq!(rom[..len].iter().fold(0u8, |s, b| s.wrapping_add(*b)), 0);
    assert!(rom[len..].iter().all(|&b| b == 0xff));
}

#[test]
fn vram_with_a_price_traps_and_is_counted() {
    let served = Served::start(&["--bar-read-ns", "1000", "--bar-write-ns", "10"]);
    let mut client = served.client();
    assert!(client.region(BAR0).unwrap().sparse_areas.is_empty());
    write32(&mut client, BAR0, 0x40, 0xfeed);
    write32(&mut client, BAR0, 0x44, 1);
    assert_eq!(read32(&mut client, BAR0, 0x40), 0xfeed);
    let counters = served.board.chip().counters().snapshot();
    assert_eq!((counters.bar_reads, counters.bar_lines), (1, 1));
    assert_eq!(counters.bar_ns, 1010);
}

#[test]
fn mapped_vram_and_trapped_vram_are_the_same() {
    let served = Served::start(&[]);
    let mut client = served.client();
    let vram = client.region(BAR0).unwrap();
    assert_eq!(vram.sparse_areas.len(), 1);
    let file = vram.file_offset.as_ref().unwrap();
    assert_eq!(file.start(), 0);
    file.file().write_all_at(&[1, 2, 3, 4], 0x1234).unwrap();
    assert_eq!(read32(&mut client, BAR0, 0x1234), 0x0403_0201);
    // MM_INDEX with bit 31 accesses VRAM, also CPU-inaccessible VRAM.
    write32(&mut client, BAR2, 0, 0x8000_1234);
    assert_eq!(read32(&mut client, BAR2, 4), 0x0403_0201);
    write32(&mut client, BAR4, 0, 0x8000_0000 | (300 << 20));
    write32(&mut client, BAR4, 4, 0xfeed);
    assert_eq!(read32(&mut client, BAR2, 4), 0xfeed);
}

#[test]
fn mapped_and_trapped_registers_are_the_same() {
    let served = Served::start(&[]);
    let mut client = served.client();
    let mmio = client.region(BAR2).unwrap();
    let areas: Vec<_> = mmio
        .sparse_areas
        .iter()
        .map(|a| (a.offset, a.size))
        .collect();
    assert_eq!(
        areas,
        [(0x1000, 0x5000), (0x7000, 0x1000), (0x9000, 0x3000)]
    );
    let file = mmio
        .file_offset
        .as_ref()
        .unwrap()
        .file()
        .try_clone()
        .unwrap();
    // 0x9000, in a mapped page: plain storage.
    file.write_all_at(&0xabcd_u32.to_le_bytes(), 0x9000)
        .unwrap();
    assert_eq!(read32(&mut client, BAR2, 0x9000), 0xabcd);
    write32(&mut client, BAR2, 0x9000, 0x1357);
    let mut b = [0; 4];
    file.read_exact_at(&mut b, 0x9000).unwrap();
    assert_eq!(u32::from_le_bytes(b), 0x1357);
    // The same register through the indirect pair of the I/O BAR.
    write32(&mut client, BAR4, 0, 0x9000);
    assert_eq!(read32(&mut client, BAR4, 4), 0x1357);
}

#[test]
fn narrow_and_wide_register_accesses_work() {
    let served = Served::start(&[]);
    let mut client = served.client();
    // SCRATCH_REG2 and 3: plain storage in a trapped page.
    let wide = 0x1122_3344_5566_7788_u64.to_le_bytes();
    client.region_write(BAR2, 0x8508, &wide).unwrap();
    assert_eq!(read32(&mut client, BAR2, 0x8508), 0x5566_7788);
    assert_eq!(read32(&mut client, BAR2, 0x850c), 0x1122_3344);
    client.region_write(BAR2, 0x8509, &[0xaa]).unwrap();
    assert_eq!(read32(&mut client, BAR2, 0x8508), 0x5566_aa88);
    let mut b = [0; 3];
    client.region_read(BAR2, 0x850a, &mut b).unwrap();
    assert_eq!(b, [0x66, 0x55, 0x44]);
}

#[test]
fn guest_ram_is_reached_through_gart_until_unmapped() {
    let served = Served::start(&[]);
    let mut client = served.client();
    let ram = memory(0x4000);
    ram.write_all_at(&[9, 8, 7, 6], 0x3010).unwrap();
    client
        .dma_map(0x2000, 0x10_0000, 0x2000, ram.as_raw_fd())
        .unwrap();
    // Bus master on; VRAM at MC address 0, GART of one page at 1 GiB with
    // its table at VRAM offset 1 MiB.
    write32(&mut client, CONFIG, 4, 0x6);
    write32(&mut client, BAR2, 0x2024, 0x001f_0000);
    write32(&mut client, BAR2, 0x153c, 0x100);
    write32(&mut client, BAR2, 0x155c, 0x4_0000);
    write32(&mut client, BAR2, 0x157c, 0x4_0000);
    write32(&mut client, BAR2, 0x1410, 1);
    write32(&mut client, BAR0, 0x10_0000, 0x10_1000 | 0x63);
    let mc = served.board.mc();
    assert_eq!(mc.read_u32(0x4000_0010), Ok(0x0607_0809));
    mc.write_u32(0x4000_0014, 0x55).unwrap();
    let mut b = [0; 4];
    ram.read_exact_at(&mut b, 0x3014).unwrap();
    assert_eq!(b, [0x55, 0, 0, 0]);

    write32(&mut client, CONFIG, 4, 0x2);
    assert!(mc.read_u32(0x4000_0010).is_err(), "bus master off");
    write32(&mut client, CONFIG, 4, 0x6);
    client.dma_unmap(0x10_0000, 0x2000).unwrap();
    assert!(mc.read_u32(0x4000_0010).is_err(), "unmapped");
}

#[test]
fn board_control_reads_back_its_knobs() {
    let served = Served::start(&["--latency-us", "17", "--rate-mbps", "250"]);
    let mut client = served.client();
    assert_eq!(read32(&mut client, BAR4, 0xc0), 0x3778_6d6e);
    assert_eq!(read32(&mut client, BAR4, 0xc4), 1);
    assert_eq!(read32(&mut client, BAR4, 0xc8), 17);
    assert_eq!(read32(&mut client, BAR4, 0xcc), 250);
    write32(&mut client, BAR4, 0xc8, 1000);
    assert_eq!(served.board.chip().knobs().latency_us(), 1000);
    write32(&mut client, BAR4, 0xd0, 2);
    assert_eq!(read32(&mut client, BAR4, 0xd0), 2);
    // Counter 5: trapped register reads.
    write32(&mut client, BAR4, 0xd4, 5);
    let before = read32(&mut client, BAR4, 0xd8);
    read32(&mut client, BAR2, 0x8508);
    assert_eq!(read32(&mut client, BAR4, 0xd8), before + 1);
    assert_eq!(read32(&mut client, BAR4, 0xdc), 0);
}

#[test]
fn msi_eventfd_is_signalled() {
    let served = Served::start(&[]);
    let mut client = served.client();
    assert_eq!(client.get_irq_info(1).unwrap().count, 1);
    assert_eq!(client.get_irq_info(2).unwrap().count, 0);
    let event = std::fs::File::from(eventfd(0, EventfdFlags::NONBLOCK).unwrap());
    // Set up (eventfd, trigger), then fire by message (none, trigger).
    client
        .set_irqs(1, 0x24, 0, 1, &[event.as_raw_fd()])
        .unwrap();
    client.set_irqs(1, 0x21, 0, 1, &[]).unwrap();
    let mut b = [0; 8];
    std::io::Read::read_exact(&mut &event, &mut b).unwrap();
    assert_eq!(u64::from_ne_bytes(b), 1);
}

#[test]
fn reset_brings_power_on_values_back() {
    let served = Served::start(&[]);
    let mut client = served.client();
    let memsize = read32(&mut client, BAR2, 0x5428);
    write32(&mut client, CONFIG, 4, 0x6);
    write32(&mut client, BAR2, 0x8508, 0x1234);
    write32(&mut client, BAR2, 0x5428, 0);
    write32(&mut client, BAR0, 0x40, 0x77);
    client.reset().unwrap();
    assert_eq!(read32(&mut client, CONFIG, 4) & 0xffff, 0);
    assert_eq!(read32(&mut client, BAR2, 0x8508), 0);
    assert_eq!(read32(&mut client, BAR2, 0x5428), memsize);
    assert_eq!(read32(&mut client, BAR0, 0x40), 0x77, "VRAM survives");
}

#[test]
fn server_ends_when_the_client_leaves() {
    let served = Served::start(&[]);
    let client = served.client();
    drop(client);
    assert_eq!(served.ended().unwrap(), Stop::Disconnected);
}
