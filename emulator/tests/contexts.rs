// SPDX-License-Identifier: MIT
//! Cayman: VM contexts, three rings of the command processor and two DMA engines, used as `ni.c`,
//! `ni_dma.c` and `radeon_vm.c` do, on the real memory controller.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;
use std::time::{Duration, Instant};

use r7xx_board::chip::bus::{IrqLine, Mc, RegFile};
use r7xx_board::chip::counters::{Counter, Counters};
use r7xx_board::chip::cp::pm4::{MemWriteData, Packet};
use r7xx_board::chip::dma::cayman::PTE_PDE;
use r7xx_board::chip::dma::evergreen::header;
use r7xx_board::chip::dma::packet;
use r7xx_board::chip::gfx::NullGfx;
use r7xx_board::chip::memory::{GuestRam, Mapping, MemoryController, RegisterFile, Vram};
use r7xx_board::chip::queue::EngineId;
use r7xx_board::chip::regs::{cayman, cp, dma, ih, mc, srbm};
use r7xx_board::chip::strict::Strict;
use r7xx_board::chip::{Chip, ChipConfig, Family};

const MIB: u64 = 1 << 20;
const PAGE: u64 = 4096;
const VRAM: u64 = 16 * MIB;

// What the tests have in VRAM, which begins at MC address 0.
const IH_WPTR: u64 = 0x800;
const FENCE: u64 = 0xC00;
const IH_RING: u64 = 0x1_0000;
const RINGS: u64 = 0x10_0000;
const RING_DWORDS: u32 = 1 << 10;
const IB: u64 = 0x20_0000;
const DIRECTORIES: u64 = 0x30_0000;
const TABLES: u64 = 0x40_0000;
const PAGES: u64 = 0x80_0000;
/// Guest RAM, by bus address: the default page, then others.
const BUS: u64 = 0x8000;

/// First address of the contexts' mappings, and entries of a table: 2^12.
const VA: u64 = 0x1000_0000;
const BLOCK: u64 = 12;
const MAPPED: u64 = 1 | 1 << 5 | 1 << 6;
const SYSTEM: u64 = 1 << 1;

#[derive(Default)]
struct Irqs(AtomicU64);

impl IrqLine for Irqs {
    fn raise(&self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

struct Board {
    chip: Arc<Chip>,
    regs: Arc<RegisterFile>,
    mc: MemoryController,
    guest: Arc<GuestRam>,
    ih_rptr: u32,
    wptr: [u32; 6],
}

/// A ring's registers: base, control, write pointer, and the pointer's unit in bytes.
fn ring(engine: EngineId) -> (u32, u32, u32, u32) {
    match engine {
        EngineId::Gfx => (cp::CP_RB_BASE, cp::CP_RB_CNTL, cp::CP_RB_WPTR, 1),
        EngineId::Cp1 => (
            cayman::CP_RB1_BASE,
            cayman::CP_RB1_CNTL,
            cayman::CP_RB1_WPTR,
            1,
        ),
        EngineId::Cp2 => (
            cayman::CP_RB2_BASE,
            cayman::CP_RB2_CNTL,
            cayman::CP_RB2_WPTR,
            1,
        ),
        EngineId::Dma => (dma::DMA_RB_BASE, dma::DMA_RB_CNTL, dma::DMA_RB_WPTR, 4),
        _ => (
            cayman::DMA1_RB_BASE,
            cayman::DMA1_RB_CNTL,
            cayman::DMA1_RB_WPTR,
            4,
        ),
    }
}

impl Board {
    fn new(strict: bool) -> Self {
        let regs = Arc::new(RegisterFile::new().unwrap());
        let vram = Arc::new(Vram::new(VRAM).unwrap());
        let guest = Arc::new(GuestRam::new());
        guest.set_bus_master(true);
        let ram = Mapping::create("ram", 4 * PAGE).unwrap();
        let file = ram.file().unwrap().try_clone().unwrap();
        guest.map(BUS, 4 * PAGE, Some((file, 0)), true).unwrap();
        let strict = strict.then(|| {
            let counters = Arc::new(Counters::default());
            Arc::new(Strict::new(1, vram.clone(), counters))
        });
        let family = Family::Cayman;
        let mc = MemoryController::new(regs.clone(), vram, guest.clone())
            .with_generation(family.model().generation)
            .with_strict(strict.clone());
        let config = ChipConfig {
            family,
            vram_size: VRAM,
            latency_us: 0,
            rate_mbps: 0,
            trace: None,
            hang: None,
            strict,
        };
        let shared = Arc::new(mc.clone());
        let irqs = Arc::new(Irqs::default());
        let gfx = Box::<NullGfx>::default();
        let chip = Chip::with_gfx(config, regs.clone(), shared, irqs, gfx);
        let board = Self {
            chip,
            regs,
            mc,
            guest,
            ih_rptr: 0,
            wptr: [0; 6],
        };
        board.start();
        board
    }

    fn start(&self) {
        let regs = &*self.regs;
        regs.store(mc::MC_VM_FB_LOCATION, 0);
        regs.store(ih::IH_RB_BASE, (IH_RING >> 8) as u32);
        regs.store(ih::IH_RB_WPTR_ADDR_LO, IH_WPTR as u32);
        regs.store(ih::IH_CNTL, ih::ENABLE_INTR);
        regs.store(
            ih::IH_RB_CNTL,
            ih::IH_RB_ENABLE | ih::IH_WPTR_WRITEBACK_ENABLE | 10 << 1,
        );
        self.write(cp::CP_ME_CNTL, 0);
        for id in EngineId::ALL.into_iter().filter(|id| *id != EngineId::Uvd) {
            let (base, cntl, _, unit) = ring(id);
            self.write(base, (Self::ring_at(id) >> 8) as u32);
            match unit {
                1 => self.write(cntl, RING_DWORDS.ilog2() - 1 | cp::RB_NO_UPDATE),
                _ => self.write(cntl, RING_DWORDS.ilog2() << 1 | dma::DMA_RB_ENABLE),
            }
        }
        for offset in [0, cayman::DMA1_CNTL - dma::DMA_CNTL] {
            self.write(dma::DMA_IB_CNTL + offset, dma::DMA_IB_ENABLE);
            self.write(dma::DMA_CNTL + offset, dma::TRAP_ENABLE);
        }
        for number in 0..3 {
            self.write(cayman::SRBM_GFX_CNTL, number);
            self.write(cp::CP_INT_CNTL, cp::TIME_STAMP_INT_ENABLE);
        }
        // cayman_pcie_gart_enable().
        for context in 1..8 {
            let at = |register| register + 4 * context;
            let directory = DIRECTORIES + u64::from(context) * PAGE;
            self.write(at(mc::VM_CONTEXT0_PAGE_TABLE_START_ADDR), 0);
            self.write(at(mc::VM_CONTEXT0_PAGE_TABLE_END_ADDR), (1 << 20) - 1);
            let base = at(mc::VM_CONTEXT0_PAGE_TABLE_BASE_ADDR);
            self.write(base, (directory / PAGE) as u32);
            let entry = DIRECTORIES + u64::from(context) * PAGE + 8 * (VA / PAGE >> BLOCK);
            let table = Self::table(context as u8);
            self.mc.write_u64(entry, table | 1).unwrap();
        }
        let default = cayman::VM_CONTEXT1_PROTECTION_FAULT_DEFAULT_ADDR;
        self.write(default, (BUS / PAGE) as u32);
        let depth_and_block = 1 << 1 | (BLOCK as u32 - 9) << 24;
        let faults = (1..=6).fold(0, |bits, i| bits | 3 << (3 * i));
        self.write(cayman::VM_CONTEXT1_CNTL, 1 | depth_and_block | faults);
        self.write(cayman::VM_INVALIDATE_REQUEST, 0xFF);
    }

    fn ring_at(id: EngineId) -> u64 {
        RINGS + id as u64 * 0x1_0000
    }

    fn table(context: u8) -> u64 {
        TABLES + u64::from(context) * 8 * (1 << BLOCK)
    }

    /// Sets the entry of the `index`th page from [`VA`] on.
    fn map(&self, context: u8, index: u64, entry: u64) {
        let at = Self::table(context) + 8 * ((VA / PAGE + index) & ((1 << BLOCK) - 1));
        self.mc.write_u64(at, entry).unwrap();
    }

    fn read(&self, offset: u32) -> u32 {
        self.chip.mmio_read(offset)
    }

    fn write(&self, offset: u32, value: u32) {
        self.chip.mmio_write(offset, value);
    }

    fn count(&self, counter: Counter) -> u64 {
        self.chip.counters().get(counter)
    }

    fn put(&self, addr: u64, dwords: &[u32]) {
        for (i, dword) in dwords.iter().enumerate() {
            self.mc.write_u32(addr + 4 * i as u64, *dword).unwrap();
        }
    }

    fn submit(&mut self, id: EngineId, dwords: &[u32]) {
        let wptr = &mut self.wptr[id as usize];
        let at = Self::ring_at(id) + 4 * u64::from(*wptr);
        *wptr += dwords.len() as u32;
        assert!(*wptr < RING_DWORDS, "the tests do not wrap");
        let value = *wptr;
        self.put(at, dwords);
        let (_, _, register, unit) = ring(id);
        self.write(register, value * unit);
    }

    /// Executes an indirect buffer in a context and waits for its end.
    fn execute(&mut self, id: EngineId, context: u8, ib: &[u32]) {
        // The buffer is mapped where VRAM has it.
        let addr = if context == 0 { IB } else { VA + IB };
        self.map(context.max(1), IB / PAGE, IB | MAPPED);
        self.write(cayman::VM_INVALIDATE_REQUEST, 1 << context);
        self.put(IB, ib);
        self.call(id, context, addr, ib.len() as u32);
    }

    /// Calls an indirect buffer in a context and waits for what follows it in the ring.
    fn call(&mut self, id: EngineId, context: u8, addr: u64, dwords: u32) {
        self.mc.write_u32(FENCE, 0).unwrap();
        match id {
            EngineId::Dma | EngineId::Dma1 => {
                let call = header(packet::INDIRECT_BUFFER, context.into(), 0);
                self.submit(id, &[call, addr as u32, dwords << 12]);
                self.submit(id, &[header(packet::FENCE, 0, 0), FENCE as u32, 0, 1]);
            }
            _ => {
                let call = Packet::IndirectBuffer {
                    addr,
                    dwords,
                    context,
                };
                self.submit(id, &call.encode());
                self.submit(id, &fence(1));
            }
        }
        self.until_mem(FENCE, 1);
    }

    fn until(&self, what: &str, mut condition: impl FnMut(&Self) -> bool) {
        let start = Instant::now();
        while !condition(self) {
            assert!(start.elapsed() < Duration::from_secs(20), "no {what}");
            std::thread::sleep(Duration::from_micros(50));
        }
    }

    fn until_mem(&self, addr: u64, value: u32) {
        self.until("value in memory", |b| b.mc.read_u32(addr) == Ok(value));
    }

    /// The interrupt vectors since the last call.
    fn vectors(&mut self) -> Vec<(u32, u32)> {
        let wptr = self.mc.read_u32(IH_WPTR).unwrap();
        let mut found = Vec::new();
        while self.ih_rptr < wptr {
            let at = IH_RING + u64::from(self.ih_rptr);
            let word = |i| self.mc.read_u32(at + i).unwrap();
            found.push((word(0), word(4)));
            self.ih_rptr += 16;
        }
        found
    }

    fn until_vectors(&mut self, expected: &[(u32, u32)]) {
        let wptr = self.ih_rptr + 16 * expected.len() as u32;
        self.until("interrupt", |b| b.mc.read_u32(IH_WPTR).unwrap() >= wptr);
        assert_eq!(self.vectors(), expected);
    }

    /// Status and page of the fault that is latched.
    fn fault(&self) -> (u32, u32) {
        let status = self.read(cayman::VM_CONTEXT1_PROTECTION_FAULT_STATUS);
        (status, self.read(cayman::VM_CONTEXT1_PROTECTION_FAULT_ADDR))
    }
}

/// A fence with an interrupt, of either kind of ring.
fn fence(value: u32) -> Vec<u32> {
    end_of_pipe(FENCE, value)
}

fn end_of_pipe(addr: u64, value: u32) -> Vec<u32> {
    Packet::EventWriteEop {
        event: 0x14,
        addr,
        data_sel: 1,
        int_sel: 0,
        data: value.into(),
    }
    .encode()
}

fn mem_write(addr: u64, value: u32) -> Vec<u32> {
    let data = MemWriteData::U32(value);
    Packet::MemWrite { addr, data }.encode()
}

fn dma_copy(dst: u64, src: u64, dwords: u32) -> [u32; 5] {
    let hi = |addr: u64| (addr >> 32) as u32;
    let copy = header(packet::COPY, 0, dwords);
    [copy, dst as u32, src as u32, hi(dst), hi(src)]
}

#[test]
fn five_rings_run_at_once_and_say_which_has_interrupted() {
    let mut board = Board::new(false);
    for (id, vector) in [
        (EngineId::Gfx, (181, 0)),
        (EngineId::Cp1, (181, 1)),
        (EngineId::Cp2, (181, 2)),
    ] {
        let mut packet = fence(id as u32 + 5);
        // INT_SEL: when the write is confirmed.
        packet[3] |= 2 << 24;
        board.submit(id, &packet);
        board.until_mem(FENCE, id as u32 + 5);
        board.until_vectors(&[vector]);
    }
    for (id, vector) in [(EngineId::Dma, (224, 0)), (EngineId::Dma1, (244, 0))] {
        board.submit(id, &[header(packet::TRAP, 0, 0)]);
        board.until_vectors(&[vector]);
    }
    // Each CP ring has interrupts of its own.
    board.write(cayman::SRBM_GFX_CNTL, 1);
    board.write(cp::CP_INT_CNTL, 0);
    board.write(cayman::SRBM_GFX_CNTL, 2);
    assert_ne!(board.read(cp::CP_INT_CNTL), 0);
    let mut packet = fence(20);
    packet[3] |= 2 << 24;
    board.submit(EngineId::Cp1, &packet);
    board.until_mem(FENCE, 20);
    packet[4] = 21;
    board.submit(EngineId::Cp2, &packet);
    board.until_vectors(&[(181, 2)]);
}

/// cayman_gpu_check_soft_reset() and cayman_gpu_soft_reset().
#[test]
fn hangs_of_each_ring_are_seen_and_end_with_its_reset() {
    let mut board = Board::new(false);
    for (id, register, bit, idle) in [
        (EngineId::Cp1, 0x8010, 1 << 29, 0),
        (EngineId::Cp2, 0x8010, 1 << 29, 0),
        (EngineId::Dma1, cayman::DMA1_STATUS_REG, 1, 1),
    ] {
        assert_eq!(board.read(register) & bit, idle * bit, "{id:?}");
        board.chip.knobs().set_hang(id.bit());
        assert_ne!(board.read(register) & bit, idle * bit, "{id:?}");
        let dma1 = u32::from(id == EngineId::Dma1) << 6;
        assert_eq!(board.read(0x0EC4), dma1);
        if dma1 != 0 {
            board.write(srbm::SRBM_SOFT_RESET, srbm::RV770_SOFT_RESET_DMA);
            assert_ne!(board.chip.knobs().hung(), 0, "that is the other engine's");
            board.write(srbm::SRBM_SOFT_RESET, cayman::SOFT_RESET_DMA1);
        } else {
            board.write(0x8020, 1);
            board.write(0x8020, 0);
        }
        assert_eq!(board.chip.knobs().hung(), 0);
        assert_eq!(board.read(register) & bit, idle * bit, "{id:?}");
        board.wptr = [0; 6];
        for id in [EngineId::Gfx, EngineId::Cp1, EngineId::Cp2] {
            let packet = fence(id as u32 + 1);
            board.submit(id, &packet);
            board.until_mem(FENCE, id as u32 + 1);
            board.write(0x8020, 1);
            board.write(0x8020, 0);
            board.wptr = [0; 6];
        }
    }
}

#[test]
fn buffers_of_a_context_see_its_pages_and_the_ring_does_not() {
    let mut board = Board::new(false);
    for id in [EngineId::Gfx, EngineId::Cp2] {
        for context in [1, 7] {
            let page = PAGES + u64::from(context) * PAGE;
            board.map(context, 3, page | MAPPED);
            board.execute(id, context, &mem_write(VA + 3 * PAGE + 8, 77));
            assert_eq!(board.mc.read_u32(page + 8), Ok(77));
            board.mc.write_u32(page + 8, 0).unwrap();
        }
    }
    // Context 0: an MC address.
    board.execute(EngineId::Gfx, 0, &mem_write(PAGES + 64, 5));
    assert_eq!(board.mc.read_u32(PAGES + 64), Ok(5));
    assert_eq!(board.count(Counter::VmFaults), 0);
    assert_eq!(board.fault(), (0, 0));
}

/// On a strict board they end behind the buffer, when the ring has left its context.
#[test]
fn what_the_pipeline_ends_later_it_ends_in_its_context() {
    let mut board = Board::new(true);
    for context in [1, 7] {
        let page = PAGES + u64::from(context) * PAGE;
        board.map(context, 3, page | MAPPED);
        board.execute(EngineId::Gfx, context, &end_of_pipe(VA + 3 * PAGE + 8, 77));
        assert_eq!(board.mc.read_u32(page + 8), Ok(77));
    }
    assert_eq!(board.count(Counter::VmFaults), 0);
    assert_eq!(board.fault(), (0, 0));
}

#[test]
fn a_buffer_within_a_buffer_has_the_same_context() {
    let mut board = Board::new(false);
    board.map(2, 3, PAGES | MAPPED);
    let inner = mem_write(VA + 3 * PAGE, 9);
    board.put(IB + 0x400, &inner);
    // The caller names another one.
    let call = Packet::IndirectBuffer {
        addr: VA + IB + 0x400,
        dwords: inner.len() as u32,
        context: 5,
    };
    board.execute(EngineId::Gfx, 2, &call.encode());
    assert_eq!(board.mc.read_u32(PAGES), Ok(9));
    assert_eq!(board.count(Counter::VmFaults), 0);
}

/// cayman_dma_vm_set_pages(), cayman_dma_vm_flush(), then a client's copy.
#[test]
fn the_dma_engines_write_page_tables_and_copy_through_them() {
    for id in [EngineId::Dma, EngineId::Dma1] {
        let mut board = Board::new(false);
        let table = Board::table(4) + 8 * (VA / PAGE & ((1 << BLOCK) - 1));
        let entries = 5;
        board.submit(
            id,
            &[
                header(packet::WRITE, PTE_PDE, 2 * entries),
                table as u32,
                0,
                MAPPED as u32,
                0,
                PAGES as u32,
                0,
                PAGE as u32,
                0,
            ],
        );
        let write = header(packet::SRBM_WRITE, 0, 0);
        let request = cayman::VM_INVALIDATE_REQUEST >> 2;
        board.submit(id, &[write, 0xF << 16 | request, 1 << 4]);
        let poll = 9 << 28 | 1 << 27;
        let response = cayman::VM_INVALIDATE_RESPONSE >> 2;
        board.submit(id, &[poll, 0xFF << 20 | response, 1 << 4, 1 << 4]);
        board.put(PAGES + 0xFF8, &[1, 2, 3, 4]);
        // Over the border of two pages.
        board.execute(id, 4, &dma_copy(VA + 3 * PAGE, VA + 0xFF8, 4));
        let copied = [0, 1, 2, 3].map(|i| board.mc.read_u32(PAGES + 3 * PAGE + 4 * i));
        assert_eq!(copied, [1, 2, 3, 4].map(Ok), "{id:?}");
        assert_eq!(board.count(Counter::VmFaults), 0);
    }
}

#[test]
fn pages_of_guest_ram_are_reached() {
    let mut board = Board::new(false);
    board.map(1, 2, (BUS + 2 * PAGE) | MAPPED | SYSTEM);
    board.execute(EngineId::Gfx, 1, &mem_write(VA + 2 * PAGE + 12, 0xCAFE));
    let mut found = [0; 4];
    board.guest.read(BUS + 2 * PAGE + 12, &mut found).unwrap();
    assert_eq!(u32::from_le_bytes(found), 0xCAFE);
}

/// cayman_vm_decode_fault(), evergreen_irq_process().
#[test]
fn a_fault_is_latched_reported_and_goes_to_the_default_page() {
    let mut board = Board::new(false);
    let page = |index: u64| (VA / PAGE + index) as u32;
    // Nothing there; what only a read may do; outside of the range; without a table.
    board.execute(EngineId::Gfx, 6, &mem_write(VA + 40 * PAGE + 4, 0xAB));
    let cp_writes = 112 << 12 | 1 << 24 | 6 << 25;
    assert_eq!(board.fault(), (cp_writes | 1 << 3, page(40)));
    board.until_vectors(&[(146, 0)]);
    let mut found = [0; 4];
    board.guest.read(BUS + 4, &mut found).unwrap();
    assert_eq!(u32::from_le_bytes(found), 0xAB, "the default page");

    // The next one does not replace it, nor interrupt, until it is cleared.
    board.map(6, 41, PAGES | MAPPED & !(1 << 6));
    board.execute(EngineId::Gfx, 6, &mem_write(VA + 41 * PAGE, 1));
    assert_eq!(board.fault().1, page(40));
    assert_eq!(board.count(Counter::VmFaults), 2);
    board.write(cayman::VM_CONTEXT1_CNTL2, 1);
    assert_eq!(board.fault(), (0, 0));
    board.execute(EngineId::Gfx, 6, &mem_write(VA + 41 * PAGE, 1));
    assert_eq!(board.fault(), (cp_writes | 1 << 5, page(41)));
    board.until_vectors(&[(147, 0)]);
    assert_eq!(board.mc.read_u32(PAGES), Ok(0), "not written");

    // Cleared through the mapped page, which the board does not see at once.
    board.regs.store(cayman::VM_CONTEXT1_CNTL2, 1);
    let beyond = 1 << 32;
    board.execute(EngineId::Dma1, 3, &dma_copy(VA + IB + 0x800, beyond, 1));
    let dma_reads = 55 << 12 | 3 << 25;
    assert_eq!(board.fault(), (dma_reads | 1, (beyond / PAGE) as u32));
    board.until_vectors(&[(146, 0)]);
    board.write(cayman::VM_CONTEXT1_CNTL2, 1);
    board.execute(EngineId::Dma, 3, &dma_copy(VA + IB + 0x800, 0x2000, 1));
    assert_eq!(board.fault(), (dma_reads | 1 << 2, 2));
}

#[test]
fn a_fault_without_a_default_page_ends_its_packet() {
    let mut board = Board::new(false);
    let cntl = board.read(cayman::VM_CONTEXT1_CNTL);
    board.write(cayman::VM_CONTEXT1_CNTL, cntl & !(1 << 12 | 1 << 13));
    board.execute(EngineId::Gfx, 1, &mem_write(VA + 40 * PAGE, 1));
    assert_eq!(board.fault().0 & 0xFF, 1 << 3);
    assert_eq!(board.count(Counter::McFaults), 1);
    assert_eq!(board.vectors(), [], "its interrupt is off");
    // Context 0's registers are not touched.
    assert_eq!(board.read(mc::VM_CONTEXT0_PROTECTION_FAULT_STATUS), 0);
}

/// The fault is the fetch's, and there is no packet after it in its context.
#[test]
fn a_buffer_that_is_not_mapped_is_a_fault_at_once() {
    for strict in [false, true] {
        for (id, client) in [(EngineId::Gfx, 112), (EngineId::Dma, 55)] {
            let mut board = Board::new(strict);
            let cntl = board.read(cayman::VM_CONTEXT1_CNTL);
            board.write(cayman::VM_CONTEXT1_CNTL, cntl & !(1 << 13));
            board.call(id, 2, VA + 40 * PAGE, 16);
            let expected = (client << 12 | 2 << 25 | 1 << 3, (VA / PAGE + 40) as u32);
            assert_eq!(board.fault(), expected, "{id:?} {strict}");
            assert_eq!(board.count(Counter::VmFaults), 1);
            assert_eq!(board.vectors(), [(146, 0)]);
        }
    }
}

#[test]
fn a_strict_board_keeps_translations_until_their_context_is_invalidated() {
    let mut board = Board::new(true);
    let (old, new) = (PAGES, PAGES + PAGE);
    for (context, other) in [(1u8, 2), (7, 1)] {
        let write = |value| mem_write(VA + 9 * PAGE, value);
        board.map(context, 9, old | MAPPED);
        board.execute(EngineId::Gfx, context, &write(1));
        assert_eq!(board.mc.read_u32(old), Ok(1));
        board.map(context, 9, new | MAPPED);
        // Another context's request, before the buffer that execute() would announce.
        board.write(cayman::VM_INVALIDATE_REQUEST, 1 << other);
        let stale = board.count(Counter::TlbStaleHits);
        let ib = write(2);
        board.put(IB, &ib);
        let call = Packet::IndirectBuffer {
            addr: VA + IB,
            dwords: ib.len() as u32,
            context,
        };
        board.submit(EngineId::Gfx, &call.encode());
        board.submit(EngineId::Gfx, &fence(2));
        board.until_mem(FENCE, 2);
        assert_eq!(board.mc.read_u32(old), Ok(2), "the old page");
        assert!(board.count(Counter::TlbStaleHits) > stale);
        board.execute(EngineId::Gfx, context, &write(3));
        assert_eq!(board.mc.read_u32(new), Ok(3));
        assert_eq!(board.mc.read_u32(old), Ok(2));
    }
    assert_eq!(board.count(Counter::VmFaults), 0);
    assert_eq!(board.read(cayman::VM_INVALIDATE_RESPONSE), 1 << 7);
}

#[test]
fn contexts_with_hostile_registers_are_survived() {
    let mut board = Board::new(false);
    for value in [0, 1, 0x7FFF_FFFF, u32::MAX] {
        for register in [
            cayman::VM_CONTEXT1_CNTL,
            mc::VM_CONTEXT0_PAGE_TABLE_BASE_ADDR + 4,
            mc::VM_CONTEXT0_PAGE_TABLE_START_ADDR + 4,
            mc::VM_CONTEXT0_PAGE_TABLE_END_ADDR + 4,
            cayman::VM_CONTEXT1_PROTECTION_FAULT_DEFAULT_ADDR,
            mc::MC_VM_FB_LOCATION,
        ] {
            let before = board.regs.load(register);
            board.regs.store(register, value);
            let view = board.mc.context(1).unwrap();
            for addr in [0, VA, 0xFF_FFFF_FFFF, u64::MAX] {
                let _ = view.read(addr, &mut [0; 16]);
                let _ = view.write(addr, &[0; 16]);
                let _ = view.take_fault();
            }
            board.regs.store(register, before);
        }
    }
    assert!(board.mc.context(0).is_none() && board.mc.context(8).is_none());
    board.execute(EngineId::Gfx, 1, &mem_write(VA + IB + 0x800, 1));
}

/// cayman_cp_resume(): while RB_RPTR_WR_ENA is set, a ring's read pointer is set by its own register.
#[test]
fn a_ring_begins_where_its_read_pointer_is_set() {
    const BEGIN: u32 = 64;
    for (id, rptr) in [
        (EngineId::Gfx, cp::CP_RB_RPTR),
        (EngineId::Cp1, cayman::CP_RB1_RPTR),
        (EngineId::Cp2, cayman::CP_RB2_RPTR),
    ] {
        let mut board = Board::new(false);
        // What the ring has before must not be executed.
        board.put(Board::ring_at(id), &mem_write(PAGES, 1));
        let (_, cntl, wptr, _) = ring(id);
        let value = board.read(cntl);
        board.write(cntl, value | cp::RB_RPTR_WR_ENA);
        board.write(rptr, BEGIN);
        board.write(wptr, BEGIN);
        board.write(cntl, value);
        board.wptr[id as usize] = BEGIN;
        board.submit(id, &fence(3));
        board.until_mem(FENCE, 3);
        assert_eq!(board.mc.read_u32(PAGES), Ok(0), "{id:?}");
        assert_eq!(board.read(rptr), BEGIN + fence(3).len() as u32, "{id:?}");
    }
}
