// SPDX-License-Identifier: MIT
//! R6xx: RV670 (Radeon HD 3850/3870), RS780 (HD 3200).
//!
//! Command processor, interrupts and display are R700's; memory controller and VM
//! have their registers elsewhere. radeon uses no DMA ring on it: it copies with
//! the command processor (`r600_copy_cpdma()`). What its draws have of their own
//! is in [`gfx::r600`]. Sources: `r600d.h`, `r600.c`.

use super::r700::{pipes_off, R700_BLOCKS};
use super::{Bios, FirmwareInfo, Generation, SoftReset, UvdFence};
use crate::chip::cp;
use crate::chip::display;
use crate::chip::dma;
use crate::chip::family::Model;
use crate::chip::gfx;
use crate::chip::memory::gart::VmRegisters;
use crate::chip::regs::{self, cg, gb, grbm, mc, r600, srbm};

/// What the two below have in common. (A function: a constant cannot refer to the register
/// map, which has a cache.)
const fn r600() -> Generation {
    Generation {
        name: "R600",
        mmio_size: 0x1_0000,
        mappable: &[(0x1000, 0x5000), (0x7000, 0x1000), (0x9000, 0x3000)],
        mappable_strict: &[(0x3000, 0x2000), (0x7000, 0x1000), (0x9000, 0x3000)],
        registers: &regs::R600,
        blocks: &R700_BLOCKS,
        vm: VmRegisters {
            fb_location: r600::MC_VM_FB_LOCATION,
            cntl: mc::VM_CONTEXT0_CNTL,
            base: r600::VM_CONTEXT0_PAGE_TABLE_BASE_ADDR,
            start: r600::VM_CONTEXT0_PAGE_TABLE_START_ADDR,
            end: r600::VM_CONTEXT0_PAGE_TABLE_END_ADDR,
            default_page: r600::VM_CONTEXT0_PROTECTION_FAULT_DEFAULT_ADDR,
            // No header has these; the driver does not read them.
            fault_status: mc::VM_CONTEXT0_PROTECTION_FAULT_STATUS,
            fault_addr: mc::VM_CONTEXT0_PROTECTION_FAULT_ADDR,
            contexts: None,
        },
        upll: r600::CG_UPLL_FUNC_CNTL,
        uvd_fence: UvdFence::Data1,
        straps,
        reset: SoftReset {
            dma: r600::SOFT_RESET_DMA,
            dma1: 0,
            uvd: srbm::SOFT_RESET_UVD,
            ih: srbm::SOFT_RESET_IH,
        },
        grbm_idle: grbm::GRBM_STATUS_IDLE,
        grbm_second_idle: 0,
        mc_program: 0,
        cp_rings: &cp::rings::ONE,
        dma_rings: &dma::rings::ONE,
        pm4: cp::R700_FORMAT,
        dma: dma::R700_FORMAT,
        display: display::DCE2,
        bios: Bios {
            firmware_info: FirmwareInfo::V1_4,
            set_pixel_clock: 1,
            chipset: false,
        },
        draws: Some(&gfx::r600::FRONT),
    }
}

/// R6xx with DCE 2.
pub static R600: Generation = r600();

/// The graphics of a chipset, with DCE 3: its VRAM is a part of system memory that the firmware
/// has taken.
pub static RS780: Generation = Generation {
    name: "R600 (chipset)",
    display: display::AVIVO,
    bios: Bios {
        firmware_info: FirmwareInfo::V1_4,
        set_pixel_clock: 1,
        chipset: true,
    },
    ..r600()
};

fn straps(model: &Model, vram: u64) -> Vec<(u32, u32)> {
    vec![
        (gb::CC_GC_SHADER_PIPE_CONFIG, pipes_off(model)),
        (
            gb::CC_RB_BACKEND_DISABLE,
            model.backends_off() << gb::BACKEND_DISABLE_SHIFT,
        ),
        // CHMAP of `r600d.h`.
        (
            mc::MC_SHARED_CHMAP,
            model.log2_channels << mc::NOOFCHAN_SHIFT,
        ),
        (r600::RAMCFG, r600::NOOFBANK_8 | r600::CHANSIZE_64),
        // Bytes.
        (srbm::CONFIG_MEMSIZE, vram as u32),
        (cg::CG_SPLL_FUNC_CNTL, model.engine_clock),
        (cg::MPLL_AD_FUNC_CNTL, model.memory_clock),
    ]
}
