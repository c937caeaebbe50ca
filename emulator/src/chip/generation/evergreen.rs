// SPDX-License-Identifier: MIT
//! Evergreen (CEDAR to CYPRESS, the APU PALM) and Northern Islands without a VM
//! (TURKS): Radeon HD 5000 and 6000.
//!
//! Both have the same command processor, DMA engine and address space. NI has
//! DCE 5 instead of DCE 4 and a memory sequencer with a program of its own
//! (`chip::mc_seq`). Sources: `evergreend.h`, `evergreen_reg.h`,
//! `nid.h`, `evergreen.c`, `ni.c`.

use super::r700::{pipes_off, VM};
use super::{Bios, FirmwareInfo, Generation, SoftReset, UvdFence};
use crate::chip::cp;
use crate::chip::dispatch::Entry;
use crate::chip::display;
use crate::chip::dma;
use crate::chip::family::Model;
use crate::chip::gfx;
use crate::chip::regs::{self, cg, evergreen as eg, gb, grbm, mc, srbm};

/// Blocks of an Evergreen chip. CRTCs 1 and 2 end below 0x8000, the others begin
/// at 0x10000.
const BLOCKS: [Entry; 17] = [
    (0x0_0038, 0x0_003F, |b| &b.bif),
    (0x0_0100, 0x0_0107, |b| &b.rcu),
    (0x0_0600, 0x0_07FF, |b| &b.cg),
    (0x0_0CA0, 0x0_0D5F, |b| &b.dmif),
    (0x0_0E00, 0x0_0EFF, |b| &b.srbm),
    (0x0_1400, 0x0_15FF, |b| &b.vm),
    (0x0_2C00, 0x0_2FFF, |b| &b.hdp),
    (0x0_5480, 0x0_5483, |b| &b.hdp),
    (0x0_6000, 0x0_7FFF, |b| &b.crtc),
    (0x0_8000, 0x0_84FF, |b| &b.grbm),
    (0x0_8500, 0x0_87FF, |b| &*b.cp),
    (0x0_A400, 0x0_A477, |b| &b.borders),
    (0x0_C000, 0x0_CFFF, |b| &*b.cp),
    (0x0_D000, 0x0_DFFF, |b| &*b.dma),
    (0x0_EF00, 0x0_FFFF, |b| &*b.uvd),
    (0x1_0000, 0x1_2FFF, |b| &b.crtc),
    (0x2_8000, 0x3_FFFF, |b| &b.state),
];

/// As [`BLOCKS`], with the memory sequencer.
pub(super) const BLOCKS_NI: [Entry; 18] = [
    BLOCKS[0],
    BLOCKS[1],
    BLOCKS[2],
    BLOCKS[3],
    BLOCKS[4],
    BLOCKS[5],
    (0x0_2800, 0x0_2BFF, |b| &b.mc_seq),
    BLOCKS[6],
    BLOCKS[7],
    BLOCKS[8],
    BLOCKS[9],
    BLOCKS[10],
    BLOCKS[11],
    BLOCKS[12],
    BLOCKS[13],
    BLOCKS[14],
    BLOCKS[15],
    BLOCKS[16],
];

/// What the three below and [`cayman`](super::cayman) have in common. (A function: a constant cannot refer to the
/// register map, which has a cache.)
pub(super) const fn evergreen() -> Generation {
    Generation {
        name: "Evergreen",
        mmio_size: 0x2_0000,
        // As on R700, without the pages of the second CRTC and of the border colours.
        mappable: &[(0x1000, 0x5000), (0x9000, 0x1000), (0xB000, 0x1000)],
        mappable_strict: &[(0x3000, 0x2000), (0x9000, 0x1000), (0xB000, 0x1000)],
        registers: &regs::EVERGREEN,
        blocks: &BLOCKS,
        vm: VM,
        upll: cg::CG_UPLL_FUNC_CNTL,
        uvd_fence: UvdFence::ContextId,
        straps: discrete,
        reset: SoftReset {
            // SOFT_RESET_DMA, SOFT_RESET_IH and SOFT_RESET_UVD have R700's places.
            dma: srbm::RV770_SOFT_RESET_DMA,
            dma1: 0,
            uvd: srbm::SOFT_RESET_UVD,
            ih: srbm::SOFT_RESET_IH,
        },
        grbm_idle: grbm::GRBM_STATUS_IDLE | eg::SX_CLEAN,
        grbm_second_idle: eg::SE_CLEAN,
        mc_program: 0,
        cp_rings: &cp::rings::ONE,
        dma_rings: &dma::rings::ONE,
        pm4: cp::EVERGREEN_FORMAT,
        dma: dma::EVERGREEN_FORMAT,
        display: display::DCE4,
        bios: Bios {
            firmware_info: FirmwareInfo::V2_1,
            set_pixel_clock: 5,
            chipset: false,
        },
        draws: Some(&gfx::evergreen::FRONT),
    }
}

/// Evergreen with memory of its own.
pub static EVERGREEN: Generation = evergreen();

/// An APU's Evergreen: its VRAM is a part of system memory that the firmware has taken.
pub static APU: Generation = Generation {
    name: "Evergreen (APU)",
    straps: apu,
    bios: Bios {
        firmware_info: FirmwareInfo::V2_1,
        set_pixel_clock: 6,
        chipset: false,
    },
    ..evergreen()
};

/// Northern Islands.
pub static NI: Generation = Generation {
    name: "Northern Islands",
    // BTC_MC_UCODE_SIZE.
    mc_program: 6024,
    // Without the page of the memory sequencer.
    mappable: &[
        (0x1000, 0x1000),
        (0x3000, 0x3000),
        (0x9000, 0x1000),
        (0xB000, 0x1000),
    ],
    blocks: &BLOCKS_NI,
    straps: ni,
    bios: Bios {
        firmware_info: FirmwareInfo::V2_1,
        set_pixel_clock: 6,
        chipset: false,
    },
    ..evergreen()
};

/// Straps that all have.
fn common(model: &Model) -> Vec<(u32, u32)> {
    vec![
        (gb::CC_GC_SHADER_PIPE_CONFIG, pipes_off(model)),
        // For each shader engine, of four backends; NI reads it there, Evergreen by the RCU.
        (
            gb::CC_RB_BACKEND_DISABLE,
            model.backends_off() << gb::BACKEND_DISABLE_SHIFT,
        ),
        (
            mc::MC_SHARED_CHMAP,
            model.log2_channels << mc::NOOFCHAN_SHIFT,
        ),
        (cg::CG_SPLL_FUNC_CNTL, model.engine_clock),
        (cg::MPLL_AD_FUNC_CNTL, model.memory_clock),
    ]
}

pub(super) fn discrete(model: &Model, vram: u64) -> Vec<(u32, u32)> {
    let mut straps = common(model);
    straps.push((mc::MC_ARB_RAMCFG, mc::NOOFBANK_8 | mc::CHANSIZE_64));
    // MiB (`evergreen_mc_init()`).
    straps.push((srbm::CONFIG_MEMSIZE, (vram >> 20) as u32));
    straps
}

fn apu(model: &Model, vram: u64) -> Vec<(u32, u32)> {
    let mut straps = common(model);
    straps.extend([
        (eg::FUS_MC_ARB_RAMCFG, mc::NOOFBANK_8 | mc::CHANSIZE_64),
        // Bytes.
        (srbm::CONFIG_MEMSIZE, vram as u32),
        // Dividers are not modelled: they are in effect at once.
        (eg::CG_DCLK_STATUS, eg::CLOCK_STATUS),
        (eg::CG_VCLK_STATUS, eg::CLOCK_STATUS),
    ]);
    straps
}

pub(super) fn ni(model: &Model, vram: u64) -> Vec<(u32, u32)> {
    let mut straps = discrete(model, vram);
    straps.push((eg::MC_SEQ_MISC0, eg::GDDR5));
    straps
}
