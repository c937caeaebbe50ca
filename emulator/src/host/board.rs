// SPDX-License-Identifier: MIT
//! The board: chip, memories, ROM and configuration space behind the PCI
//! regions that the client sees.
//!
//! | region | content |
//! |---|---|
//! | BAR0 | first part of VRAM, mapped by the client unless [each access has to be seen](crate::host::bar) |
//! | BAR2 | registers 0 to 0xFFFF (0x1FFFF from Evergreen on); pages without side effects are mapped |
//! | BAR4 | MM_INDEX/MM_DATA and [board control](crate::host::control) |
//! | ROM | [ATOM BIOS](crate::host::rom) |
//! | config | [configuration space](crate::host::pci) |
//!
//! Accesses to registers, of any width and alignment, are done dword by dword;
//! a narrow write keeps the dword's other bytes, except in MM_DATA, where they
//! become 0.

use std::io::Write;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::chip::bus::{Mc, RegFile};
use crate::chip::generation::Generation;
use crate::chip::ih;
use crate::chip::memory::regfile::REGISTER_SPACE;
use crate::chip::memory::{DmaError, GuestRam, MemoryController, MemoryError, RegisterFile, Vram};
use crate::chip::strict::Strict;
use crate::chip::{Chip, ChipConfig};
use crate::host::bar::Bar;
use crate::host::cli::{InterruptMode, Options};
use crate::host::control::{Control, CTL_BASE};
use crate::host::pci::{ConfigSpace, BAR_IO, BAR_MMIO, BAR_VRAM, CONFIG_SIZE, IO_SIZE, ROM_SIZE};
use crate::host::rom;
use crate::host::screenshot::{self, Picture};
use crate::host::vfio::{Device, DmaMap, Errno, Interrupts, RegionInfo, REGION_CONFIG, REGION_ROM};

/// Index register of the indirect access pair (`r600d.h`, `radeon_reg.h`).
const MM_INDEX: u32 = 0x0;
/// Data register of the pair.
const MM_DATA: u32 = 0x4;
/// MM_INDEX bit 31: the other bits are a VRAM offset instead of a register's.
const MM_APER: u32 = 1 << 31;

/// An emulated board.
pub struct Board {
    generation: &'static Generation,
    chip: Arc<Chip>,
    regs: Arc<RegisterFile>,
    vram: Arc<Vram>,
    guest: Arc<GuestRam>,
    mc: Arc<MemoryController>,
    interrupts: Arc<Interrupts>,
    config: Mutex<ConfigSpace>,
    control: Control,
    rom: Vec<u8>,
    vram_bar: [(u64, u64); 1],
    /// Set if every access to BAR0 reaches the board.
    trapped: Option<Bar>,
    strict: Option<Arc<Strict>>,
    mm_index: AtomicU32,
}

impl Board {
    /// Assembles a board as `options` ask and starts the engines' threads.
    /// The packet and register trace goes to `trace`.
    pub fn new(
        options: &Options,
        trace: Option<Box<dyn Write + Send>>,
    ) -> Result<Self, MemoryError> {
        const MIB: u64 = 1 << 20;
        let regs = Arc::new(RegisterFile::new()?);
        let vram = Arc::new(Vram::new(options.vram_mib * MIB)?);
        let guest = Arc::new(GuestRam::new());
        let strict = options
            .strict
            .map(|seed| Arc::new(Strict::new(seed, vram.clone(), Arc::default())));
        let mc = MemoryController::new(regs.clone(), vram.clone(), guest.clone());
        let generation = options.chip.model().generation;
        let mc = Arc::new(mc.with_generation(generation).with_strict(strict.clone()));
        let ring = regs.clone();
        // INTA# is asserted while the interrupt ring has unread entries.
        let interrupts = Arc::new(Interrupts::new(move || ih::pending(&*ring)));
        let chip = Chip::new(
            ChipConfig {
                family: options.chip,
                vram_size: vram.size(),
                latency_us: options.latency_us,
                rate_mbps: options.rate_mbps,
                trace,
                hang: options.hang,
                strict: strict.clone(),
            },
            regs.clone(),
            mc.clone(),
            interrupts.clone(),
        );
        let model = options.chip.model();
        let bar = options.bar_mib * MIB;
        let msi = options.interrupt == InterruptMode::Msi;
        Ok(Self {
            generation,
            chip,
            regs,
            vram,
            guest,
            mc,
            interrupts,
            config: Mutex::new(ConfigSpace::new(
                model.device_id,
                bar,
                generation.mmio_size,
                msi,
            )),
            control: Control::default(),
            rom: rom::build(model, options.monitors.into()),
            vram_bar: [(0, bar)],
            trapped: options.bar_traps().then(|| {
                let price = |ns: Option<u32>| ns.unwrap_or(0).into();
                Bar::new(price(options.bar_read_ns), price(options.bar_write_ns))
            }),
            strict,
            mm_index: AtomicU32::new(0),
        })
    }

    /// The chip, for counters and scan-out.
    pub fn chip(&self) -> &Chip {
        &self.chip
    }

    /// The pictures on the monitors, in the order of the CRTCs that are on.
    pub fn pictures(&self) -> Vec<Picture> {
        screenshot::capture(&self.chip)
    }

    /// The memory as the chip addresses it.
    pub fn mc(&self) -> &dyn Mc {
        self.mc.as_ref()
    }

    fn config(&self) -> MutexGuard<'_, ConfigSpace> {
        self.config.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Applies the PCI command register: bus mastering to guest RAM and
    /// interrupts, INTx disable to interrupts.
    fn apply_command(&self) {
        let (master, intx_disabled) = {
            let config = self.config();
            (config.bus_master(), config.intx_disabled())
        };
        self.guest.set_bus_master(master);
        self.interrupts.set_bus_master(master);
        self.interrupts.set_intx_disabled(intx_disabled);
    }

    fn mm_data_read(&self) -> u32 {
        let index = self.mm_index.load(Ordering::Relaxed);
        if index & MM_APER != 0 {
            let mut dword = [0; 4];
            let offset = u64::from(index & !MM_APER & !3);
            // A read beyond the end of VRAM returns 0.
            let _ = self.vram.read(offset, &mut dword);
            u32::from_le_bytes(dword)
        } else {
            self.register_read(index & !3)
        }
    }

    fn mm_data_write(&self, value: u32) {
        let index = self.mm_index.load(Ordering::Relaxed);
        if index & MM_APER != 0 {
            let offset = u64::from(index & !MM_APER & !3);
            let _ = self.vram.write(offset, &value.to_le_bytes());
        } else {
            self.register_write(index & !3, value);
        }
    }

    /// Reads a register of the chip. MM_INDEX and MM_DATA read 0: MM_INDEX
    /// may select the pair itself.
    fn register_read(&self, offset: u32) -> u32 {
        match offset {
            MM_INDEX | MM_DATA | REGISTER_SPACE.. => 0,
            _ => self.chip.mmio_read(offset),
        }
    }

    fn register_write(&self, offset: u32, value: u32) {
        match offset {
            MM_INDEX | MM_DATA | REGISTER_SPACE.. => {}
            _ => self.chip.mmio_write(offset, value),
        }
    }

    fn mmio_read(&self, offset: u32) -> u32 {
        match offset {
            MM_INDEX => self.mm_index.load(Ordering::Relaxed),
            MM_DATA => self.mm_data_read(),
            _ => self.register_read(offset),
        }
    }

    fn mmio_write(&self, offset: u32, value: u32) {
        match offset {
            MM_INDEX => self.mm_index.store(value, Ordering::Relaxed),
            MM_DATA => self.mm_data_write(value),
            _ => self.register_write(offset, value),
        }
    }

    fn io_read(&self, offset: u32) -> u32 {
        match offset {
            MM_INDEX | MM_DATA => self.mmio_read(offset),
            CTL_BASE.. => self.control.read(&self.chip, offset),
            _ => 0,
        }
    }

    fn io_write(&self, offset: u32, value: u32) {
        match offset {
            MM_INDEX | MM_DATA => self.mmio_write(offset, value),
            CTL_BASE.. => self.control.write(&self.chip, offset, value),
            _ => {}
        }
    }

    /// The value of a dword that a narrow write is merged into. MMIO registers
    /// are read from storage, without their side effects.
    fn keep(&self, region: u32, offset: u32) -> u32 {
        match (region, offset) {
            (_, MM_INDEX) => self.mm_index.load(Ordering::Relaxed),
            (BAR_MMIO, _) if offset != MM_DATA => self.regs.load(offset),
            (BAR_IO, CTL_BASE..) => self.control.read(&self.chip, offset),
            _ => 0,
        }
    }

    fn read_dword(&self, region: u32, offset: u32) -> u32 {
        if region == BAR_MMIO {
            self.mmio_read(offset)
        } else {
            self.io_read(offset)
        }
    }

    fn write_dword(&self, region: u32, offset: u32, value: u32) {
        if region == BAR_MMIO {
            self.mmio_write(offset, value);
        } else {
            self.io_write(offset, value);
        }
    }

    /// Reads `data.len()` bytes of dword registers.
    fn read_registers(&self, region: u32, offset: u32, data: &mut [u8]) {
        let mut done = 0;
        while done < data.len() {
            let at = offset + done as u32;
            let dword = self.read_dword(region, at & !3).to_le_bytes();
            let first = (at & 3) as usize;
            let n = (4 - first).min(data.len() - done);
            data[done..done + n].copy_from_slice(&dword[first..first + n]);
            done += n;
        }
    }

    /// Writes `data` to dword registers.
    fn write_registers(&self, region: u32, offset: u32, data: &[u8]) {
        let mut done = 0;
        while done < data.len() {
            let at = offset + done as u32;
            let first = (at & 3) as usize;
            let n = (4 - first).min(data.len() - done);
            let mut dword = if n == 4 {
                [0; 4]
            } else {
                self.keep(region, at & !3).to_le_bytes()
            };
            dword[first..first + n].copy_from_slice(&data[done..done + n]);
            self.write_dword(region, at & !3, u32::from_le_bytes(dword));
            done += n;
        }
    }

    /// Reads VRAM as the CPU does, through the HDP on a strict board. (`MM_DATA`
    /// bypasses the HDP.)
    fn vram_read(&self, offset: u64, data: &mut [u8]) -> Result<(), MemoryError> {
        if let Some(bar) = &self.trapped {
            bar.read(self.chip.counters());
        }
        match &self.strict {
            Some(strict) => strict.hdp.read(offset, data),
            None => self.vram.read(offset, data),
        }
    }

    fn vram_write(&self, offset: u64, data: &[u8]) -> Result<(), MemoryError> {
        if let Some(bar) = &self.trapped {
            bar.write(self.chip.counters(), offset, data.len());
        }
        match &self.strict {
            Some(strict) => strict.hdp.write(offset, data),
            None => self.vram.write(offset, data),
        }
    }

    fn size(&self, region: u32) -> u64 {
        match region {
            BAR_VRAM => self.vram_bar[0].1,
            BAR_MMIO => self.generation.mmio_size,
            BAR_IO => IO_SIZE,
            REGION_ROM => ROM_SIZE,
            REGION_CONFIG => CONFIG_SIZE as u64,
            _ => 0,
        }
    }

    /// Fails unless the whole access is inside the region.
    fn check(&self, region: u32, offset: u64, len: usize) -> Result<(), Errno> {
        let end = offset.checked_add(len as u64).ok_or(Errno::INVAL)?;
        if end > self.size(region) {
            return Err(Errno::INVAL);
        }
        Ok(())
    }
}

impl Drop for Board {
    fn drop(&mut self) {
        self.chip.shutdown();
    }
}

impl Device for Board {
    fn region_info(&self, index: u32) -> RegionInfo<'_> {
        let size = self.size(index);
        match index {
            BAR_VRAM => RegionInfo {
                size,
                writable: true,
                file: self.vram.file(),
                mappable: match self.trapped {
                    Some(_) => &[],
                    None => &self.vram_bar,
                },
            },
            BAR_MMIO => RegionInfo {
                size,
                writable: true,
                file: self.regs.file(),
                mappable: match self.strict {
                    Some(_) => self.generation.mappable_strict,
                    None => self.generation.mappable,
                },
            },
            _ => RegionInfo {
                size,
                writable: index != REGION_ROM,
                ..RegionInfo::default()
            },
        }
    }

    fn region_read(&self, region: u32, offset: u64, data: &mut [u8]) -> Result<(), Errno> {
        self.check(region, offset, data.len())?;
        match region {
            BAR_VRAM => self.vram_read(offset, data).map_err(|_| Errno::INVAL)?,
            // The check above keeps these offsets small.
            BAR_MMIO | BAR_IO => self.read_registers(region, offset as u32, data),
            REGION_ROM => {
                for (i, byte) in data.iter_mut().enumerate() {
                    *byte = self.rom.get(offset as usize + i).copied().unwrap_or(0xff);
                }
            }
            REGION_CONFIG => {
                let mut config = self.config();
                config.set_link_speed(self.chip.second_generation_link());
                config.read(offset, data);
            }
            _ => {}
        }
        Ok(())
    }

    fn region_write(&self, region: u32, offset: u64, data: &[u8]) -> Result<(), Errno> {
        self.check(region, offset, data.len())?;
        match region {
            BAR_VRAM => self.vram_write(offset, data).map_err(|_| Errno::INVAL)?,
            BAR_MMIO | BAR_IO => self.write_registers(region, offset as u32, data),
            REGION_CONFIG => {
                self.config().write(offset, data);
                self.apply_command();
            }
            // A ROM ignores writes.
            _ => {}
        }
        Ok(())
    }

    fn dma_map(&self, map: DmaMap) -> Result<(), Errno> {
        let file = map.file.map(|f| (f, map.offset));
        let result = self.guest.map(map.address, map.size, file, map.writable);
        result.map_err(|e| {
            log::warn!("DMA_MAP {:#x}+{:#x}: {e}", map.address, map.size);
            dma_errno(&e)
        })
    }

    fn dma_unmap(&self, range: Option<(u64, u64)>) -> Result<(), Errno> {
        let Some((address, size)) = range else {
            self.guest.unmap_all();
            return Ok(());
        };
        self.guest.unmap(address, size).map_err(|e| {
            log::warn!("DMA_UNMAP {address:#x}+{size:#x}: {e}");
            dma_errno(&e)
        })
    }

    fn interrupts(&self) -> &Interrupts {
        &self.interrupts
    }

    fn reset(&self) {
        self.mm_index.store(0, Ordering::Relaxed);
        self.config().reset();
        self.apply_command();
        self.chip.reset();
    }
}

fn dma_errno(e: &DmaError) -> Errno {
    match e {
        DmaError::Range => Errno::INVAL,
        DmaError::Overlap => Errno::EXIST,
        DmaError::NotMapped => Errno::NOENT,
        DmaError::TooMany => Errno::NOSPC,
        DmaError::Memory(_) => Errno::NOMEM,
    }
}
