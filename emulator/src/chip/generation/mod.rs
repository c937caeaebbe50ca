// SPDX-License-Identifier: MIT
//! What a generation of chips changes.
//!
//! A [`Generation`] is one table: register blocks and their names, memory
//! controller, formats of packets, display controller, soft reset. Blocks that
//! all generations share look a difference up there; no code compares
//! generations. A difference that is more than a number is a module of its own,
//! next to the block that it belongs to, such as [`dma::evergreen`] and
//! [`cp::evergreen`]. [`MODELS`](crate::chip::family::MODELS) says which chip is of
//! which generation.

pub mod cayman;
pub mod evergreen;
pub mod r600;
pub mod r700;

use std::fmt;

use crate::chip::cp;
use crate::chip::dispatch::Entry;
use crate::chip::display::Layout;
use crate::chip::dma;
use crate::chip::family::Model;
use crate::chip::gfx::front::Front;
use crate::chip::memory::gart::VmRegisters;
use crate::chip::queue::EngineId;
use crate::chip::regs::Map;

/// What a generation changes.
pub struct Generation {
    /// Its name.
    pub name: &'static str,
    /// Bytes of the MMIO BAR.
    pub mmio_size: u64,
    /// Parts of the MMIO BAR that the client may map, as (offset, size) in
    /// bytes: pages in which no register has a side effect. Fence waits and
    /// interrupt handlers access these often; a trapped access costs 300 times
    /// more.
    pub mappable: &'static [(u64, u64)],
    /// As `mappable`, for a strict board: without the pages of TLB requests and
    /// of HDP flushes, which have effects on it.
    pub mappable_strict: &'static [(u64, u64)],
    /// Names of the registers.
    pub registers: &'static Map,
    /// The blocks' register ranges, sorted by offset. Registers outside are
    /// plain storage.
    pub(crate) blocks: &'static [Entry],
    /// Where the registers of the VM and of the VRAM aperture are.
    pub vm: VmRegisters,
    /// The video decoder's PLL.
    pub upll: u32,
    /// Where the video decoder's fence command has its value.
    pub uvd_fence: UvdFence,
    /// Values of the registers that describe a board with this model and that
    /// many bytes of VRAM.
    pub straps: fn(&Model, u64) -> Vec<(u32, u32)>,
    /// Soft reset of the blocks behind the SRBM.
    pub reset: SoftReset,
    /// `GRBM_STATUS` of an idle chip.
    pub grbm_idle: u32,
    /// `GRBM_STATUS2` or `GRBM_STATUS_SE0` of an idle chip.
    pub grbm_second_idle: u32,
    /// Dwords of the memory sequencer's program; 0 without a sequencer.
    pub mc_program: u32,
    /// Rings of the command processor.
    pub cp_rings: &'static [cp::rings::RingRegisters],
    /// The asynchronous DMA engines.
    pub dma_rings: &'static [dma::rings::RingRegisters],
    /// Packets of the command processor.
    pub pm4: cp::Format,
    /// Packets of the asynchronous DMA engine.
    pub dma: dma::Format,
    /// The display controller.
    pub display: Layout,
    /// What the driver expects of the BIOS.
    pub bios: Bios,
    /// The decoders by which the model executes draws. Without, the command processor consumes
    /// and counts them (`undrawn`).
    pub draws: Option<&'static Front>,
}

/// Bits of `SRBM_SOFT_RESET`; 0 if the generation has no such block.
#[derive(Debug, Clone, Copy)]
pub struct SoftReset {
    /// The asynchronous DMA engine.
    pub dma: u32,
    /// The second one.
    pub dma1: u32,
    /// The video decoder.
    pub uvd: u32,
    /// The interrupt handler.
    pub ih: u32,
}

/// Where the video decoder's fence command has its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UvdFence {
    /// In `UVD_GPCOM_VCPU_DATA1`; the address has 32 bits (`uvd_v1_0_fence_emit()`).
    Data1,
    /// In `UVD_CONTEXT_ID`; `DATA1` has the upper address bits (`uvd_v2_2_fence_emit()`).
    ContextId,
}

/// What a driver expects of the BIOS of a generation.
#[derive(Debug, Clone, Copy)]
pub struct Bios {
    /// Revision of the table with clocks and PLL limits.
    pub firmware_info: FirmwareInfo,
    /// Content revision of the command table `SetPixelClock`.
    pub set_pixel_clock: u8,
    /// Whether the driver asks for the clocks of a chipset (`rs690_pm_info()`).
    pub chipset: bool,
}

/// Revisions of `ATOM_FIRMWARE_INFO`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FirmwareInfo {
    /// 1.4: one reference clock.
    V1_4,
    /// 2.1: clocks of the display engine, of engine and of memory.
    V2_1,
}

impl Generation {
    /// Bits of the rings that the chip has.
    pub(crate) fn rings(&self) -> u32 {
        let cp = self.cp_rings.iter().map(|ring| ring.engine);
        let dma = self.dma_rings.iter().map(|ring| ring.engine);
        let all = cp.chain(dma).chain([EngineId::Uvd]);
        all.fold(0, |rings, engine| rings | engine.bit())
    }

    /// Whether a table has the register at byte offset `offset`. Of CRTCs the tables
    /// have the first one's.
    pub fn knows(&self, offset: u32) -> bool {
        let (_, reg) = self.display.split(offset);
        self.registers.is_known(offset) || self.registers.is_known(reg)
    }

    /// Name of the register at byte offset `offset`, if a table has it; after the
    /// number of a CRTC other than the first, the name of the first one's.
    pub fn register_name(&self, offset: u32) -> Option<String> {
        if let Some(name) = self.registers.name(offset) {
            return Some(name.into_owned());
        }
        let (crtc, reg) = self.display.split(offset);
        let name = self.registers.name(reg)?;
        Some(format!("CRTC{crtc} {name}"))
    }
}

impl fmt::Debug for Generation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

#[cfg(test)]
mod tests {
    use crate::chip::family::MODELS;
    use crate::chip::regs::REG_SPACE_SIZE;

    #[test]
    fn blocks_are_sorted_without_overlaps_and_inside_the_space() {
        for model in &MODELS {
            let blocks = model.generation.blocks;
            for (first, last, _) in blocks {
                assert!(first % 4 == 0 && last % 4 == 3 && first < last);
                assert!(*last < REG_SPACE_SIZE);
            }
            for pair in blocks.windows(2) {
                assert!(pair[0].1 < pair[1].0, "{}: {:#x}", model.name, pair[1].0);
            }
        }
    }

    #[test]
    fn mappable_pages_are_whole_and_inside_the_bar() {
        for model in &MODELS {
            let generation = model.generation;
            let both = [generation.mappable, generation.mappable_strict];
            for &(offset, size) in both.into_iter().flatten() {
                assert_eq!((offset % 4096, size % 4096), (0, 0));
                assert!(offset + size <= generation.mmio_size);
            }
        }
    }

    /// The guest writes to a mapped page without the board's notice. The VM and the
    /// HDP have effects on a strict board only.
    #[test]
    fn blocks_with_effects_are_in_no_mapped_page() {
        const VM_AND_HDP: [u32; 3] = [0x1400, 0x2C00, 0x5480];
        for model in &MODELS {
            let generation = model.generation;
            let overlaps = |pages: &[(u64, u64)], first: u32, last: u32| {
                pages.iter().any(|&(offset, size)| {
                    u64::from(first) < offset + size && u64::from(last) >= offset
                })
            };
            for &(first, last, _) in generation.blocks {
                let effect = !VM_AND_HDP.contains(&first);
                let mapped = overlaps(generation.mappable, first, last);
                assert!(!(effect && mapped), "{}: {first:#x}", model.name);
                let mapped = overlaps(generation.mappable_strict, first, last);
                assert!(!mapped, "{}, strict: {first:#x}", model.name);
            }
        }
    }
}
