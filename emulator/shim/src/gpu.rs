// SPDX-License-Identifier: MIT
//! The driver's side of the chip: start-up, rings, submissions.
//!
//! Start-up writes those registers of `rv770_gpu_init()`, `r600_cp_resume()` and
//! `r600_dma_resume()` that user space depends on.

use std::io::Write;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use r7xx_board::chip::bus::{IrqLine, Mc, McError};
use r7xx_board::chip::gfx::shader::Isa;
use r7xx_board::chip::gfx::Gfx;
use r7xx_board::chip::memory::{MemoryError, RegisterFile, Vram};
use r7xx_board::chip::queue::EngineId;
use r7xx_board::chip::regs::{cp, dma};
use r7xx_board::chip::strict::Strict;
use r7xx_board::chip::{Chip, ChipConfig, Family};

use crate::memory::{Memory, PAGE, RESERVED, VRAM};
use crate::track::Tiling;

/// Timeout of a submission. The board's own budgets end a shader much earlier.
const PATIENCE: Duration = Duration::from_secs(120);
/// How long to wait before the caller is asked whether to give up.
const MAX_WAIT: Duration = Duration::from_millis(1);

// The driver's memory, below RESERVED.
const WRITE_BACK: u64 = 0x1000;
const CP_RPTR: u64 = WRITE_BACK + 0x400;
const DMA_RPTR: u64 = WRITE_BACK + 0x700;
const FENCE: u64 = WRITE_BACK + 0xC00;
const CP_RING: u64 = 0x1_0000;
const DMA_RING: u64 = 0x2_0000;
const RING_DWORDS: u32 = 1 << 12;
/// Where IBs are, for the rings and in the program's address space.
pub(crate) const IB: u64 = 1 << 20;
/// Most dwords of one IB.
pub const IB_MAX: usize = ((RESERVED - IB) / 4) as usize;

const GRBM_SOFT_RESET: u32 = 0x8020;
const VGT_NUM_INSTANCES: u32 = 0x8974;
const TA_CNTL_AUX: u32 = 0x9508;
const DISABLE_CUBE_ANISO: u32 = 1 << 1;
const GB_TILING_CONFIG: u32 = 0x98F0;
const DMA_TILING_CONFIG: u32 = 0x3EC8;
const DMA_TILING_CONFIG2: u32 = 0xD0B8;

/// Configuration of a chip, for `RADEON_INFO` and for start-up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Setup {
    /// `GB_TILING_CONFIG`.
    pub tiling_config: u32,
    /// Upper half of `tiling_config`: the backend of each pipe.
    pub backend_map: u32,
    /// Number of tile pipes.
    pub tile_pipes: u32,
    /// Number of render backends.
    pub backends: u32,
    /// Number of shader pipes.
    pub pipes: u32,
    /// Number of SIMDs.
    pub simds: u32,
    /// Number of shader engines, of at most four backends each.
    pub engines: u32,
}

/// The geometry by which the kernel checks a chip's surfaces. All chips have eight banks and groups of
/// 256 bytes.
pub fn tiling(family: Family) -> Tiling {
    Tiling {
        pipes: setup(family).tile_pipes,
        banks: 8,
        group: 256,
        cube_faces: if is_r600(family) { 6 } else { 8 },
    }
}

/// `GB_ADDR_CONFIG`.
const GB_ADDR_CONFIG: u32 = 0x98F8;

/// Whether the chip is of Evergreen or Northern Islands: it decodes shaders by R800 or R900.
pub fn is_evergreen(family: Family) -> bool {
    let front = family.model().generation.draws;
    front.is_some_and(|front| matches!(front.isa, Isa::R800 | Isa::R900))
}

/// Whether the chip has address spaces of clients: VM contexts beside the kernel's.
pub fn has_spaces(family: Family) -> bool {
    family.model().generation.vm.contexts.is_some()
}

/// Where a stream is executed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Ring {
    /// On the DMA ring; otherwise on the graphics ring.
    pub dma: bool,
    /// In the program's address space.
    pub vm: bool,
}

impl Ring {
    /// The graphics ring, by MC addresses.
    pub const GRAPHICS: Self = Self {
        dma: false,
        vm: false,
    };
}

/// Whether the chip is an R6xx: it decodes shaders by R600.
pub fn is_r600(family: Family) -> bool {
    let front = family.model().generation.draws;
    front.is_some_and(|front| front.isa == Isa::R600)
}

/// `GB_ADDR_CONFIG` of `evergreen_gpu_init()`: pipes, groups of 256 bytes, one bank at a time, one
/// shader engine, rows of 2 KiB.
fn address_config(family: Family) -> u32 {
    let pipes = family.model().tile_pipes;
    0x0201_0000 | pipes.ilog2()
}

/// The configuration that `evergreen_gpu_init()` computes. `tile_config` has log2 of the pipes, of
/// the banks over four (eight), and of the group over 256 bytes.
fn evergreen_setup(family: Family) -> Setup {
    let model = family.model();
    // The backend of each pipe, four bits each: the backends in turn.
    let backend_map = (0..model.tile_pipes)
        .rev()
        .fold(0u32, |map, pipe| map << 4 | pipe % model.backends);
    Setup {
        tiling_config: model.tile_pipes.ilog2() | 1 << 4,
        backend_map,
        tile_pipes: model.tile_pipes,
        backends: model.backends,
        pipes: model.pipes,
        simds: model.simds,
        engines: model.backends.div_ceil(4),
    }
}

/// The configuration that `rv770_gpu_init()` or `evergreen_gpu_init()` computes for a chip of the
/// board.
pub fn setup(family: Family) -> Setup {
    if is_evergreen(family) {
        return evergreen_setup(family);
    }
    let model = family.model();
    let tile_pipes = model.tile_pipes;
    // r6xx_remap_render_backend() with no backend fused off: two bits for each
    // pipe, the highest backend first, the same number of pipes for each.
    let ratio = tile_pipes / model.backends;
    let backend_map = (0..model.backends).rev().fold(0u32, |map, backend| {
        (0..ratio).fold(map, |map, _| map << 2 | backend)
    });
    // PIPE_TILING, BANK_TILING (eight banks), BANK_SWAPS. ROW_TILING and GROUP_SIZE
    // are 0 with the board's MC_ARB_RAMCFG.
    let tiling_config = tile_pipes.ilog2() << 1 | 1 << 4 | 1 << 11 | backend_map << 16;
    Setup {
        tiling_config,
        backend_map,
        tile_pipes,
        backends: model.backends,
        pipes: model.pipes,
        simds: model.simds,
        engines: 1,
    }
}

/// Why a submission was not executed.
#[derive(Debug)]
pub enum GpuError {
    /// The memory file could not be created.
    Memory(MemoryError),
    /// The driver's own memory could not be accessed.
    Mc(McError),
    /// The IB is longer than [`IB_MAX`] dwords.
    TooLong,
    /// The fence was not written in time.
    Hung,
}

impl From<McError> for GpuError {
    fn from(e: McError) -> Self {
        GpuError::Mc(e)
    }
}

struct NoIrq;
impl IrqLine for NoIrq {
    fn raise(&self) {}
}

#[derive(Default)]
struct Rings {
    cp_wptr: u32,
    dma_wptr: u32,
    fence: u32,
}

/// A started chip.
pub struct Gpu {
    chip: Arc<Chip>,
    memory: Arc<Memory>,
    rings: Mutex<Rings>,
    family: Family,
}

impl Gpu {
    /// Starts a chip on `memory`, with the 3D engine `gfx`.
    ///
    /// # Errors
    /// If memory cannot be allocated.
    pub fn start(
        family: Family,
        memory: Arc<Memory>,
        gfx: Box<dyn Gfx>,
        trace: Option<Box<dyn Write + Send>>,
    ) -> Result<Self, GpuError> {
        Self::start_strict(family, memory, gfx, trace, None)
    }

    /// As [`Self::start`]; given a seed `strict`, with the strict board's caches of
    /// the 3D engine and prefetch of the CP. The shim has no HDP and no page table.
    ///
    /// # Errors
    /// If memory cannot be allocated.
    pub fn start_strict(
        family: Family,
        memory: Arc<Memory>,
        gfx: Box<dyn Gfx>,
        trace: Option<Box<dyn Write + Send>>,
        strict: Option<u64>,
    ) -> Result<Self, GpuError> {
        let strict = match strict {
            Some(seed) => {
                // For the HDP of `Strict`, which nobody uses here.
                let vram = Arc::new(Vram::new(PAGE).map_err(GpuError::Memory)?);
                Some(Arc::new(Strict::new(seed, vram, Arc::default())))
            }
            None => None,
        };
        let config = ChipConfig {
            family,
            // CONFIG_MEMSIZE has 32 bits; nothing here depends on it.
            vram_size: VRAM,
            latency_us: 0,
            rate_mbps: 0,
            trace,
            hang: None,
            strict,
        };
        let regs = Arc::new(RegisterFile::new().map_err(GpuError::Memory)?);
        let chip = Chip::with_gfx(config, regs, memory.clone(), Arc::new(NoIrq), gfx);
        let gpu = Self {
            chip,
            memory,
            rings: Mutex::default(),
            family,
        };
        gpu.init();
        Ok(gpu)
    }

    /// The chip's family.
    pub fn family(&self) -> Family {
        self.family
    }

    /// The chip, for its registers, counters and clock.
    pub fn chip(&self) -> &Chip {
        &self.chip
    }

    fn init(&self) {
        let tiling = setup(self.family).tiling_config;
        let log2_ring = RING_DWORDS.ilog2();
        let cp_cntl = log2_ring - 1;
        let writes = [
            (GB_TILING_CONFIG, tiling),
            (DMA_TILING_CONFIG, tiling & 0xFFFF),
            (DMA_TILING_CONFIG2, tiling & 0xFFFF),
            (VGT_NUM_INSTANCES, 1),
            (TA_CNTL_AUX, DISABLE_CUBE_ANISO),
            // r600_cp_resume()
            (GRBM_SOFT_RESET, 1),
            (GRBM_SOFT_RESET, 0),
            (cp::CP_RB_CNTL, cp_cntl | cp::RB_RPTR_WR_ENA),
            (cp::CP_RB_RPTR_WR, 0),
            (cp::CP_RB_WPTR, 0),
            (cp::CP_RB_RPTR_ADDR, CP_RPTR as u32),
            (cp::CP_RB_RPTR_ADDR_HI, 0),
            (cp::CP_RB_CNTL, cp_cntl),
            (cp::CP_RB_BASE, (CP_RING >> 8) as u32),
            (cp::CP_ME_CNTL, 0xFF),
            // r600_dma_resume()
            (dma::DMA_RB_CNTL, log2_ring << 1),
            (dma::DMA_RB_RPTR, 0),
            (dma::DMA_RB_WPTR, 0),
            (dma::DMA_RB_RPTR_ADDR_HI, 0),
            (dma::DMA_RB_RPTR_ADDR_LO, DMA_RPTR as u32),
            (dma::DMA_RB_BASE, (DMA_RING >> 8) as u32),
            (dma::DMA_IB_CNTL, dma::DMA_IB_ENABLE),
            (dma::DMA_RB_CNTL, log2_ring << 1 | dma::DMA_RB_ENABLE),
        ];
        for (reg, value) in writes {
            self.chip.mmio_write(reg, value);
        }
        if is_evergreen(self.family) {
            let config = address_config(self.family);
            self.chip.mmio_write(GB_ADDR_CONFIG, config);
        }
    }

    /// The first fault of the program's address space since the last call: its page, and
    /// `VM_CONTEXT1_PROTECTION_FAULT_STATUS`.
    pub fn take_fault(&self) -> Option<(u32, u32)> {
        let vm = self.family.model().generation.vm.contexts?;
        let status = self.chip.mmio_read(vm.fault_status);
        let page = self.chip.mmio_read(vm.fault_addr);
        if status == 0 {
            return None;
        }
        self.chip.mmio_write(vm.cntl2, 1);
        Some((page, status))
    }

    /// Calls `f` while no stream is executed.
    pub fn while_idle<T>(&self, f: impl FnOnce() -> T) -> T {
        let _rings = self.rings.lock().unwrap_or_else(PoisonError::into_inner);
        f()
    }

    /// Executes a stream of the graphics or the DMA ring, and waits for its end.
    ///
    /// # Errors
    /// [`GpuError::Hung`] if it takes longer than two minutes; the chip is then
    /// unusable.
    pub fn submit(&self, ring: Ring, ib: &[u32]) -> Result<(), GpuError> {
        let start = Instant::now();
        self.submit_until(ring, ib, &mut || start.elapsed() > PATIENCE)
    }

    /// As [`Self::submit`], but waits until `give_up` returns true; it is called
    /// about every millisecond.
    ///
    /// # Errors
    /// [`GpuError::Hung`] if `give_up` returned true; the chip is then unusable.
    pub fn submit_until(
        &self,
        ring: Ring,
        ib: &[u32],
        give_up: &mut dyn FnMut() -> bool,
    ) -> Result<(), GpuError> {
        if ib.len() > IB_MAX {
            return Err(GpuError::TooLong);
        }
        let mut rings = self.rings.lock().unwrap_or_else(PoisonError::into_inner);
        let bytes: Vec<u8> = ib.iter().flat_map(|dword| dword.to_le_bytes()).collect();
        self.memory.write(IB, &bytes)?;
        rings.fence = rings.fence.wrapping_add(1);
        let fence = rings.fence;
        let count = ib.len() as u32;
        // Cayman's have the VM context in the packet.
        let context = u32::from(ring.vm);
        if ring.dma {
            // r600_dma_ring_ib_execute() or evergreen_dma_ring_ib_execute(): NOPs, so that INDIRECT_BUFFER ends at a
            // multiple of eight dwords; then FENCE.
            let mut words = vec![0xF << 28; ((5u32.wrapping_sub(rings.dma_wptr)) & 7) as usize];
            let length = match is_evergreen(self.family) {
                true => count << 12,
                false => count << 16,
            };
            words.extend([4 << 28 | context << 20, IB as u32, length]);
            words.extend([6 << 28, FENCE as u32, 0, fence]);
            rings.dma_wptr = self.append(DMA_RING, rings.dma_wptr, &words)?;
            self.chip.mmio_write(dma::DMA_RB_WPTR, rings.dma_wptr << 2);
        } else {
            let mut words = vec![0xC002_3200, IB as u32, 0, count | context << 24];
            // r600_fence_ring_emit(): invalidates the caches TC, VC and SH.
            words.extend([0xC003_4300, 1 << 23 | 1 << 24 | 1 << 27, u32::MAX, 0, 10]);
            // EVENT_WRITE_EOP: CACHE_FLUSH_AND_INV_EVENT_TS, 32-bit data.
            words.extend([0xC004_4700, 5 << 8 | 0x14, FENCE as u32, 1 << 29, fence, 0]);
            rings.cp_wptr = self.append(CP_RING, rings.cp_wptr, &words)?;
            self.chip.mmio_write(cp::CP_RB_WPTR, rings.cp_wptr);
        }
        let engine = match ring.dma {
            true => EngineId::Dma,
            false => EngineId::Gfx,
        };
        let mut pause = Duration::from_micros(10);
        loop {
            let idle = self.chip.wait_idle(engine, MAX_WAIT);
            if self.memory.read_u32(FENCE)? == fence {
                return Ok(());
            }
            if give_up() {
                return Err(GpuError::Hung);
            }
            if idle {
                // A strict board's CP goes on and writes the fence later, or a stream has ended the
                // ring before its fence: nothing wakes this thread.
                std::thread::sleep(pause);
                pause = (pause * 2).min(MAX_WAIT);
            }
        }
    }

    fn append(&self, ring: u64, mut wptr: u32, words: &[u32]) -> Result<u32, McError> {
        for word in words {
            self.memory.write_u32(ring + 4 * u64::from(wptr), *word)?;
            wptr = (wptr + 1) % RING_DWORDS;
        }
        Ok(wptr)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::space;
    use r7xx_board::chip::gfx::NullGfx;

    fn gpu() -> Gpu {
        let memory = Arc::new(Memory::new().unwrap());
        Gpu::start(Family::Rv770, memory, Box::<NullGfx>::default(), None).unwrap()
    }

    #[test]
    fn setup_is_what_the_kernel_finds() {
        // As the guest's kernel writes them to GB_TILING_CONFIG.
        assert_eq!(setup(Family::Rv710).tiling_config, 0x0000_0812);
        assert_eq!(setup(Family::Rv770).tiling_config, 0xFA50_0816);
    }

    #[test]
    fn cp_dma_and_dma_copies_are_executed() {
        let gpu = gpu();
        let (from, to) = (RESERVED, RESERVED + 0x1000);
        for round in 0..3000u32 {
            gpu.memory.write_u32(from, round).unwrap();
            let on_dma = round % 2 == 1;
            let ib = if on_dma {
                vec![3 << 28 | 1, to as u32, from as u32, 0, 0]
            } else {
                vec![0xC004_4100, from as u32, 1 << 31, to as u32, 0, 4]
            };
            let ring = Ring {
                dma: on_dma,
                vm: false,
            };
            gpu.submit(ring, &ib).unwrap();
            assert_eq!(gpu.memory.read_u32(to), Ok(round), "{on_dma}");
        }
    }

    /// The same copies in the program's address space, and one from an address that leads nowhere.
    #[test]
    fn streams_of_an_address_space_use_its_addresses() {
        let memory = Arc::new(Memory::new().unwrap());
        let gfx = Box::<NullGfx>::default();
        let gpu = Gpu::start(Family::Cayman, memory.clone(), gfx, None).unwrap();
        let both = space::READABLE | space::WRITEABLE;
        let (at, size) = (space::START, 2 * PAGE);
        memory.map(at, size, Some(RESERVED), both).unwrap();
        for dma in [false, true] {
            let ib = |from: u64, to: u64| match dma {
                true => vec![3 << 28 | 1, to as u32, from as u32, 0, 0],
                false => vec![0xC004_4100, from as u32, 1 << 31, to as u32, 0, 4],
            };
            let value = 7 + u32::from(dma);
            memory.write_u32(RESERVED, value).unwrap();
            let ring = Ring { dma, vm: true };
            gpu.submit(ring, &ib(at, at + PAGE)).unwrap();
            assert_eq!(memory.read_u32(RESERVED + PAGE), Ok(value), "{dma}");
            assert_eq!(gpu.take_fault(), None, "{dma}");
            gpu.submit(ring, &ib(at + size, at)).unwrap();
            let (page, status) = gpu.take_fault().unwrap();
            assert_eq!(u64::from(page), (at + size) / PAGE, "{dma}");
            assert_eq!(status >> 25, 1, "the context");
            assert_eq!(gpu.take_fault(), None, "{dma}");
        }
    }

    #[test]
    fn too_long_an_ib_is_refused() {
        let ib = vec![0x8000_0000; IB_MAX + 1];
        let sent = gpu().submit(Ring::GRAPHICS, &ib);
        assert!(matches!(sent, Err(GpuError::TooLong)));
    }
}
