// SPDX-License-Identifier: MIT
//! A chip in a test rig: flat memory, a register file, an interrupt counter, and
//! a driver that sets up and fills rings as radeon does.

pub mod r800;
pub mod scene;
pub mod shader;
pub mod state;

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use r7xx_board::chip::bus::{IrqLine, Mc, McError, RegFile};
use r7xx_board::chip::gfx::{Gfx, NullGfx};
use r7xx_board::chip::memory::Vram;
use r7xx_board::chip::queue::Hang;
use r7xx_board::chip::regs::{cp, dma, ih, uvd};
use r7xx_board::chip::strict::Strict;
use r7xx_board::chip::{Chip, ChipConfig, Family};

/// Timeout of a wait for the chip; reached only on failure.
const PATIENCE: Duration = Duration::from_secs(20);

/// VRAM at MC address 0.
pub const VRAM_SIZE: u64 = 8 << 20;
/// MC address of flat memory that stands for the GART's.
pub const GTT: u64 = 0x2000_0000;
pub const GTT_SIZE: u64 = 4 << 20;

// Layout of the GTT: write-back page and rings as the driver has them.
pub const WB: u64 = GTT;
pub const WB_CP_RPTR: u64 = WB + 0x400;
pub const WB_IH_WPTR: u64 = WB + 0x800;
pub const WB_DMA_RPTR: u64 = WB + 0x700;
pub const FENCE: u64 = WB + 0xC00;
pub const SEMAPHORE: u64 = WB + 0xE00;
pub const IH_RING: u64 = GTT + 0x1_0000;
pub const IH_BYTES: u32 = 1 << 12;
pub const CP_RING: u64 = GTT + 0x2_0000;
pub const CP_DWORDS: u32 = 1 << 12;
pub const DMA_RING: u64 = GTT + 0x4_0000;
pub const DMA_DWORDS: u32 = 1 << 12;
pub const UVD_RING: u64 = GTT + 0x6_0000;
pub const UVD_DWORDS: u32 = 1 << 10;
pub const IB: u64 = GTT + 0x8_0000;
pub const IB2: u64 = GTT + 0x9_0000;
pub const DATA: u64 = GTT + 0x10_0000;

/// Memory controller with two flat ranges.
pub struct FlatMc {
    vram: Mutex<Vec<u8>>,
    gtt: Mutex<Vec<u8>>,
    /// See [`FlatMc::set_trap`].
    trap: AtomicU64,
}

/// [`FlatMc::trap`] without a trap.
const NO_TRAP: u64 = u64::MAX;

impl FlatMc {
    fn new() -> Self {
        Self {
            vram: Mutex::new(vec![0; VRAM_SIZE as usize]),
            gtt: Mutex::new(vec![0; GTT_SIZE as usize]),
            trap: AtomicU64::new(NO_TRAP),
        }
    }

    /// The next access that begins at `addr` panics: a fault of the block that accesses memory.
    pub fn set_trap(&self, addr: u64) {
        self.trap.store(addr, Ordering::SeqCst);
    }

    /// Whether the trap waits for its access.
    pub fn trap_is_set(&self) -> bool {
        self.trap.load(Ordering::SeqCst) != NO_TRAP
    }

    fn with<T>(
        &self,
        addr: u64,
        len: usize,
        access: impl FnOnce(&mut [u8]) -> T,
    ) -> Result<T, McError> {
        let order = Ordering::SeqCst;
        if (self.trap.compare_exchange(addr, NO_TRAP, order, order)).is_ok() {
            panic!("a fault at {addr:#x}, on purpose");
        }
        let (memory, offset, size) = if addr < VRAM_SIZE {
            (&self.vram, addr, VRAM_SIZE)
        } else if (GTT..GTT + GTT_SIZE).contains(&addr) {
            (&self.gtt, addr - GTT, GTT_SIZE)
        } else {
            return Err(McError::Unmapped(addr));
        };
        if size - offset < len as u64 {
            return Err(McError::PageFault(addr));
        }
        let start = offset as usize;
        Ok(access(&mut memory.lock().unwrap()[start..start + len]))
    }
}

impl Mc for FlatMc {
    fn read(&self, addr: u64, buf: &mut [u8]) -> Result<(), McError> {
        self.with(addr, buf.len(), |bytes| buf.copy_from_slice(bytes))
    }
    fn write(&self, addr: u64, buf: &[u8]) -> Result<(), McError> {
        self.with(addr, buf.len(), |bytes| bytes.copy_from_slice(buf))
    }
}

/// Register file of plain atomics.
pub struct Registers(Vec<AtomicU32>);

impl RegFile for Registers {
    fn load(&self, offset: u32) -> u32 {
        self.0
            .get(offset as usize / 4)
            .map_or(0, |r| r.load(Ordering::SeqCst))
    }
    fn store(&self, offset: u32, value: u32) {
        if let Some(r) = self.0.get(offset as usize / 4) {
            r.store(value, Ordering::SeqCst);
        }
    }
}

/// Counts interrupts.
#[derive(Default)]
pub struct Irqs(AtomicU64);

impl IrqLine for Irqs {
    fn raise(&self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

/// Chip, bench and driver.
pub struct Rig {
    pub chip: Arc<Chip>,
    pub mc: Arc<FlatMc>,
    pub regs: Arc<Registers>,
    pub irqs: Arc<Irqs>,
    cp_wptr: u32,
    dma_wptr: u32,
    uvd_wptr: u32,
    ih_rptr: u32,
}

/// Configuration without delays.
pub fn config(hang: Option<Hang>) -> ChipConfig {
    ChipConfig {
        family: Family::Rv710,
        vram_size: VRAM_SIZE,
        latency_us: 0,
        rate_mbps: 0,
        trace: None,
        hang,
        strict: None,
    }
}

/// Configuration of a strict board.
pub fn strict_config() -> ChipConfig {
    let vram = Arc::new(Vram::new(1 << 20).unwrap());
    ChipConfig {
        strict: Some(Arc::new(Strict::new(1, vram, Arc::default()))),
        ..config(None)
    }
}

impl Rig {
    /// A chip in power-on state that draws with `gfx`.
    pub fn cold(config: ChipConfig, gfx: Box<dyn Gfx>) -> Self {
        let mc = Arc::new(FlatMc::new());
        let registers = (0..0x1_0000).map(|_| AtomicU32::new(0)).collect();
        let regs = Arc::new(Registers(registers));
        let irqs = Arc::new(Irqs::default());
        let chip = Chip::with_gfx(config, regs.clone(), mc.clone(), irqs.clone(), gfx);
        Self {
            chip,
            mc,
            regs,
            irqs,
            cp_wptr: 0,
            dma_wptr: 0,
            uvd_wptr: 0,
            ih_rptr: 0,
        }
    }

    /// A chip whose rings and interrupts run.
    pub fn new() -> Self {
        Self::with(config(None))
    }

    /// As [`Rig::new`], with a configuration.
    pub fn with(config: ChipConfig) -> Self {
        Self::with_gfx(config, Box::<NullGfx>::default())
    }

    /// As [`Rig::with`], with a graphics block.
    pub fn with_gfx(config: ChipConfig, gfx: Box<dyn Gfx>) -> Self {
        let mut rig = Self::cold(config, gfx);
        rig.start_ih();
        rig.start_cp();
        rig.start_dma();
        rig.start_uvd();
        rig
    }

    pub fn write(&self, offset: u32, value: u32) {
        self.chip.mmio_write(offset, value);
    }

    pub fn read(&self, offset: u32) -> u32 {
        self.chip.mmio_read(offset)
    }

    pub fn mem(&self, addr: u64) -> u32 {
        self.mc.read_u32(addr).unwrap()
    }

    pub fn mc_u64(&self, addr: u64) -> u64 {
        self.mc.read_u64(addr).unwrap()
    }

    pub fn set_u64(&self, addr: u64, value: u64) {
        self.mc.write_u64(addr, value).unwrap();
    }

    pub fn set_mem(&self, addr: u64, value: u32) {
        self.mc.write_u32(addr, value).unwrap();
    }

    pub fn bytes(&self, addr: u64, len: usize) -> Vec<u8> {
        let mut bytes = vec![0; len];
        self.mc.read(addr, &mut bytes).unwrap();
        bytes
    }

    /// Fills memory with a pattern that depends on `seed`, and returns the pattern.
    pub fn pattern(&self, addr: u64, len: usize, seed: u32) -> Vec<u8> {
        let mut state = seed | 1;
        let bytes: Vec<u8> = (0..len)
            .map(|_| {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                (state >> 24) as u8
            })
            .collect();
        self.mc.write(addr, &bytes).unwrap();
        bytes
    }

    /// Starts the interrupt ring. The page of its registers is mapped into the
    /// guest, so the driver's accesses go to the register file directly.
    pub fn start_ih(&mut self) {
        let log2_dwords = (IH_BYTES / 4).ilog2();
        self.regs.store(ih::IH_RB_BASE, (IH_RING >> 8) as u32);
        self.regs.store(ih::IH_RB_WPTR_ADDR_LO, WB_IH_WPTR as u32);
        self.regs.store(ih::IH_RB_WPTR_ADDR_HI, 0);
        self.regs.store(ih::IH_RB_RPTR, 0);
        self.regs.store(ih::IH_RB_WPTR, 0);
        self.regs.store(ih::IH_CNTL, ih::ENABLE_INTR);
        self.regs.store(
            ih::IH_RB_CNTL,
            ih::IH_RB_ENABLE
                | ih::IH_WPTR_WRITEBACK_ENABLE
                | ih::IH_WPTR_OVERFLOW_ENABLE
                | ih::IH_WPTR_OVERFLOW_CLEAR
                | (log2_dwords << 1),
        );
        self.write(cp::CP_INT_CNTL, cp::TIME_STAMP_INT_ENABLE | cp::RB_INT);
        self.write(dma::DMA_CNTL, dma::TRAP_ENABLE);
        self.ih_rptr = 0;
    }

    /// Starts the CP as r600_cp_resume() and r600_cp_start() do.
    pub fn start_cp(&mut self) {
        const GRBM_SOFT_RESET: u32 = 0x8020;
        self.write(GRBM_SOFT_RESET, 1);
        self.write(GRBM_SOFT_RESET, 0);
        let cntl = CP_DWORDS.ilog2() - 1;
        self.write(cp::CP_RB_CNTL, cntl | cp::RB_RPTR_WR_ENA);
        self.write(cp::CP_RB_RPTR_WR, 0);
        self.write(cp::CP_RB_WPTR, 0);
        self.write(cp::CP_RB_RPTR_ADDR, WB_CP_RPTR as u32);
        self.write(cp::CP_RB_RPTR_ADDR_HI, 0);
        self.write(cp::SCRATCH_ADDR, (WB >> 8) as u32);
        self.write(cp::SCRATCH_UMSK, 0xFF);
        self.write(cp::CP_RB_CNTL, cntl);
        self.write(cp::CP_RB_BASE, (CP_RING >> 8) as u32);
        self.cp_wptr = 0;
        self.cp(&[0xC005_4400, 1, 0, 3, 1 << 16, 0, 0]);
        self.write(cp::CP_ME_CNTL, 0xFF);
    }

    /// Starts the DMA engine as r600_dma_resume() does.
    pub fn start_dma(&mut self) {
        let cntl = DMA_DWORDS.ilog2() << 1;
        self.write(dma::DMA_RB_CNTL, cntl);
        self.write(dma::DMA_RB_RPTR, 0);
        self.write(dma::DMA_RB_WPTR, 0);
        self.write(dma::DMA_RB_RPTR_ADDR_HI, 0);
        self.write(dma::DMA_RB_RPTR_ADDR_LO, WB_DMA_RPTR as u32);
        self.write(dma::DMA_RB_BASE, (DMA_RING >> 8) as u32);
        self.write(dma::DMA_IB_CNTL, dma::DMA_IB_ENABLE);
        self.dma_wptr = 0;
        self.write(
            dma::DMA_RB_CNTL,
            cntl | dma::DMA_RB_ENABLE | dma::DMA_RPTR_WRITEBACK_ENABLE,
        );
    }

    /// Starts the UVD: the register writes of uvd_v1_0_start() that matter here.
    pub fn start_uvd(&mut self) {
        self.write(uvd::UVD_SOFT_RESET, 0x20EF);
        self.write(uvd::UVD_SOFT_RESET, uvd::VCPU_SOFT_RESET);
        self.write(uvd::UVD_VCPU_CNTL, uvd::VCPU_CLK_EN);
        self.write(uvd::UVD_SOFT_RESET, 0);
        self.write(uvd::UVD_MASTINT_EN, 3 << 1);
        self.write(uvd::UVD_RBC_RB_CNTL, 0x1101_0101);
        self.write(uvd::UVD_LMI_EXT40_ADDR, (7 << 16) | (1 << 31));
        self.write(uvd::UVD_RBC_RB_RPTR, 0);
        self.write(uvd::UVD_RBC_RB_WPTR, 0);
        self.write(uvd::UVD_RBC_RB_BASE, UVD_RING as u32);
        self.uvd_wptr = 0;
        self.write(uvd::UVD_RBC_RB_CNTL, 0x1100_0100 | (UVD_DWORDS * 4).ilog2());
    }

    fn fill(&self, base: u64, size: u32, mut wptr: u32, dwords: &[u32]) -> u32 {
        for dword in dwords {
            self.set_mem(base + u64::from(wptr) * 4, *dword);
            wptr = (wptr + 1) % size;
        }
        wptr
    }

    /// Writes dwords to the CP ring without submitting them.
    pub fn cp_fill(&mut self, dwords: &[u32]) {
        self.cp_wptr = self.fill(CP_RING, CP_DWORDS, self.cp_wptr, dwords);
    }

    /// Submits the contents of the CP ring.
    pub fn cp_commit(&mut self) {
        self.write(cp::CP_RB_WPTR, self.cp_wptr);
    }

    /// Writes dwords to the CP ring and submits them.
    pub fn cp(&mut self, dwords: &[u32]) {
        self.cp_fill(dwords);
        self.cp_commit();
    }

    /// Writes dwords to the DMA ring and submits them.
    pub fn dma(&mut self, dwords: &[u32]) {
        self.dma_wptr = self.fill(DMA_RING, DMA_DWORDS, self.dma_wptr, dwords);
        self.write(dma::DMA_RB_WPTR, self.dma_wptr << 2);
    }

    /// Writes dwords to the UVD ring and submits them.
    pub fn uvd(&mut self, dwords: &[u32]) {
        self.uvd_wptr = self.fill(UVD_RING, UVD_DWORDS, self.uvd_wptr, dwords);
        self.write(uvd::UVD_RBC_RB_WPTR, self.uvd_wptr);
    }

    /// Writes an indirect buffer.
    pub fn ib(&self, addr: u64, dwords: &[u32]) {
        for (i, dword) in dwords.iter().enumerate() {
            self.set_mem(addr + i as u64 * 4, *dword);
        }
    }

    /// Waits until `condition` holds; fails after a timeout.
    pub fn until(&self, what: &str, mut condition: impl FnMut(&Self) -> bool) {
        let start = Instant::now();
        while !condition(self) {
            assert!(start.elapsed() < PATIENCE, "{what} did not happen");
            std::thread::sleep(Duration::from_micros(50));
        }
    }

    /// Waits until memory at `addr` has `value`.
    pub fn until_mem(&self, addr: u64, value: u32) {
        self.until(&format!("[{addr:#x}] = {value:#x}"), |rig| {
            rig.mem(addr) == value
        });
    }

    pub fn irq_count(&self) -> u64 {
        self.irqs.0.load(Ordering::SeqCst)
    }

    /// Takes the interrupt vectors posted since the last call, as
    /// r600_irq_process() does: source and data.
    pub fn vectors(&mut self) -> Vec<(u32, u32)> {
        let mut vectors = Vec::new();
        let wptr = self.mem(WB_IH_WPTR);
        if wptr & ih::RB_OVERFLOW != 0 {
            let last = wptr & !ih::RB_OVERFLOW;
            self.ih_rptr = (last + 16) & (IH_BYTES - 1);
            let cntl = self.regs.load(ih::IH_RB_CNTL);
            self.regs
                .store(ih::IH_RB_CNTL, cntl | ih::IH_WPTR_OVERFLOW_CLEAR);
        }
        let wptr = wptr & (IH_BYTES - 1) & !15;
        while self.ih_rptr != wptr {
            let at = IH_RING + u64::from(self.ih_rptr);
            vectors.push((self.mem(at) & 0xFF, self.mem(at + 4)));
            self.ih_rptr = (self.ih_rptr + 16) & (IH_BYTES - 1);
            self.regs.store(ih::IH_RB_RPTR, self.ih_rptr);
        }
        vectors
    }
}

impl Drop for Rig {
    fn drop(&mut self) {
        // This must return whatever the test has done to the engines.
        self.chip.shutdown();
    }
}
