// SPDX-License-Identifier: MIT
//! Cayman, the last of Northern Islands: Radeon HD 6900, and the APU ARUBA.
//!
//! Around its shader core it is as Northern Islands, with three rings of the command processor, two
//! DMA engines and eight VM contexts (`chip::memory::context`). The core executes groups of four
//! instead of five (VLIW4, `gfx::cayman`). Sources: `nid.h`, `ni.c`, `ni_dma.c`.

use super::evergreen::{discrete, evergreen, ni, BLOCKS_NI, NI};
use super::r700::VM;
use super::{Generation, SoftReset};
use crate::chip::cp;
use crate::chip::dma;
use crate::chip::family::Model;
use crate::chip::gfx;
use crate::chip::memory::context::ContextRegisters;
use crate::chip::memory::gart::VmRegisters;
use crate::chip::regs::{self, cayman, evergreen as eg};

/// The registers of contexts 1 to 7.
const CONTEXTS: ContextRegisters = ContextRegisters {
    cntl: cayman::VM_CONTEXT1_CNTL,
    cntl2: cayman::VM_CONTEXT1_CNTL2,
    default_page: cayman::VM_CONTEXT1_PROTECTION_FAULT_DEFAULT_ADDR,
    fault_status: cayman::VM_CONTEXT1_PROTECTION_FAULT_STATUS,
    fault_addr: cayman::VM_CONTEXT1_PROTECTION_FAULT_ADDR,
    base: cayman::VM_CONTEXT1_PAGE_TABLE_BASE_ADDR,
    start: cayman::VM_CONTEXT1_PAGE_TABLE_START_ADDR,
    end: cayman::VM_CONTEXT1_PAGE_TABLE_END_ADDR,
};

/// What both have in common.
const fn cayman() -> Generation {
    Generation {
        name: "Cayman",
        registers: &regs::CAYMAN,
        vm: VmRegisters {
            contexts: Some(CONTEXTS),
            ..VM
        },
        reset: SoftReset {
            dma1: cayman::SOFT_RESET_DMA1,
            ..evergreen().reset
        },
        cp_rings: &cp::rings::THREE,
        dma_rings: &dma::rings::TWO,
        pm4: cp::cayman::FORMAT,
        dma: dma::CAYMAN_FORMAT,
        draws: Some(&gfx::cayman::FRONT),
        ..evergreen()
    }
}

/// Cayman with memory of its own.
pub static CAYMAN: Generation = Generation {
    blocks: &BLOCKS_NI,
    mappable: NI.mappable,
    straps,
    // CAYMAN_MC_UCODE_SIZE.
    mc_program: 6037,
    bios: NI.bios,
    ..cayman()
};

/// An APU's Cayman, ARUBA (Trinity, Richland), without its video encoder: `radeon.vce=0`.
pub static APU: Generation = Generation {
    name: "Cayman (APU)",
    straps: apu,
    bios: NI.bios,
    ..cayman()
};

fn straps(model: &Model, vram: u64) -> Vec<(u32, u32)> {
    let mut straps = ni(model, vram);
    straps.push((cayman::GRBM_STATUS_SE1, eg::SE_CLEAN));
    straps
}

/// Unlike PALM's, the size of its memory is in MiB, and the memory controller has the place of discrete
/// chips (`evergreen_mc_init()`).
fn apu(model: &Model, vram: u64) -> Vec<(u32, u32)> {
    let mut straps = discrete(model, vram);
    straps.extend([
        // Dividers are not modelled: they are in effect at once (`sumo_set_uvd_clocks()`).
        (eg::CG_DCLK_STATUS, eg::CLOCK_STATUS),
        (eg::CG_VCLK_STATUS, eg::CLOCK_STATUS),
    ]);
    straps
}
