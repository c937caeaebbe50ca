// SPDX-License-Identifier: MIT
//! R700: RV710, RV730, RV740, RV770 (Radeon HD 4000). The generation that the
//! others are described against; its draws are modelled.

use super::{Bios, FirmwareInfo, Generation, SoftReset, UvdFence};
use crate::chip::cp;
use crate::chip::dispatch::Entry;
use crate::chip::display;
use crate::chip::dma;
use crate::chip::family::Model;
use crate::chip::gfx::front;
use crate::chip::memory::gart::VmRegisters;
use crate::chip::regs::{self, cg, gb, grbm, mc, srbm};

/// Blocks of R6xx and R7xx.
pub(super) const R700_BLOCKS: [Entry; 13] = [
    (0x0_0038, 0x0_003F, |b| &b.bif),
    (0x0_0600, 0x0_07FF, |b| &b.cg),
    (0x0_0E00, 0x0_0EFF, |b| &b.srbm),
    (0x0_1400, 0x0_15FF, |b| &b.vm),
    (0x0_2C00, 0x0_2FFF, |b| &b.hdp),
    (0x0_5480, 0x0_5483, |b| &b.hdp),
    (0x0_6000, 0x0_6FFF, |b| &b.crtc),
    (0x0_8000, 0x0_84FF, |b| &b.grbm),
    (0x0_8500, 0x0_87FF, |b| &*b.cp),
    (0x0_C000, 0x0_CFFF, |b| &*b.cp),
    (0x0_D000, 0x0_DFFF, |b| &*b.dma),
    (0x0_EF00, 0x0_FFFF, |b| &*b.uvd),
    (0x2_8000, 0x3_FFFF, |b| &b.state),
];

/// R700. Sources of the offsets: the headers that [`regs`] names.
pub static R700: Generation = Generation {
    name: "R700",
    mmio_size: 0x1_0000,
    // VM, memory controller, HDP, interrupt ring and BIF (0x1000), display
    // outputs (0x7000), configuration of the 3D pipeline (0x9000).
    mappable: &[(0x1000, 0x5000), (0x7000, 0x1000), (0x9000, 0x3000)],
    mappable_strict: &[(0x3000, 0x2000), (0x7000, 0x1000), (0x9000, 0x3000)],
    registers: &regs::R700,
    blocks: &R700_BLOCKS,
    vm: VM,
    upll: cg::CG_UPLL_FUNC_CNTL,
    uvd_fence: UvdFence::ContextId,
    straps,
    reset: SoftReset {
        dma: srbm::RV770_SOFT_RESET_DMA,
        dma1: 0,
        uvd: srbm::SOFT_RESET_UVD,
        ih: srbm::SOFT_RESET_IH,
    },
    grbm_idle: grbm::GRBM_STATUS_IDLE,
    // No unit is ever seen busy: the CP waits for the end of each draw.
    grbm_second_idle: 0,
    mc_program: 0,
    cp_rings: &cp::rings::ONE,
    dma_rings: &dma::rings::ONE,
    pm4: cp::R700_FORMAT,
    dma: dma::R700_FORMAT,
    display: display::AVIVO,
    bios: Bios {
        firmware_info: FirmwareInfo::V1_4,
        set_pixel_clock: 1,
        chipset: false,
    },
    draws: Some(&front::R700),
};

/// Where R700 and everything later has the VM's registers (`rv770d.h`,
/// `evergreend.h`).
pub(super) const VM: VmRegisters = VmRegisters {
    fb_location: mc::MC_VM_FB_LOCATION,
    cntl: mc::VM_CONTEXT0_CNTL,
    base: mc::VM_CONTEXT0_PAGE_TABLE_BASE_ADDR,
    start: mc::VM_CONTEXT0_PAGE_TABLE_START_ADDR,
    end: mc::VM_CONTEXT0_PAGE_TABLE_END_ADDR,
    default_page: mc::VM_CONTEXT0_PROTECTION_FAULT_DEFAULT_ADDR,
    fault_status: mc::VM_CONTEXT0_PROTECTION_FAULT_STATUS,
    fault_addr: mc::VM_CONTEXT0_PROTECTION_FAULT_ADDR,
    contexts: None,
};

/// The inactive ones of eight shader pipes, in their place.
pub(super) fn pipes_off(model: &Model) -> u32 {
    ((0xFF << model.pipes) & 0xFF) << gb::INACTIVE_QD_PIPES_SHIFT
}

fn straps(model: &Model, vram: u64) -> Vec<(u32, u32)> {
    vec![
        (gb::CC_GC_SHADER_PIPE_CONFIG, pipes_off(model)),
        (
            gb::CC_RB_BACKEND_DISABLE,
            model.backends_off() << gb::BACKEND_DISABLE_SHIFT,
        ),
        (
            mc::MC_SHARED_CHMAP,
            model.log2_channels << mc::NOOFCHAN_SHIFT,
        ),
        (mc::MC_ARB_RAMCFG, mc::NOOFBANK_8 | mc::CHANSIZE_64),
        // Bytes, less than 4 GiB.
        (srbm::CONFIG_MEMSIZE, vram as u32),
        (cg::CG_SPLL_FUNC_CNTL, model.engine_clock),
        (cg::MPLL_AD_FUNC_CNTL, model.memory_clock),
    ]
}
