// SPDX-License-Identifier: MIT
//! System register bus manager and BIOS scratch registers.
//!
//! Source: `r600d.h` (SRBM), `radeon_reg.h`/`r600_reg.h` (BIOS scratch),
//! `ObjectID.h`/`atombios.h` for the meaning of the scratch bits.

super::registers! {
    /// Status of the blocks behind the SRBM.
    SRBM_STATUS = 0x0E50;
    /// Soft reset of the blocks behind the SRBM.
    SRBM_SOFT_RESET = 0x0E60;
    /// BIOS scratch 0: device detection results (`R600_BIOS_0_SCRATCH`).
    BIOS_0_SCRATCH = 0x1724;
    /// Size of VRAM in bytes; non-zero also means "posted".
    CONFIG_MEMSIZE = 0x5428;
}

/// `SRBM_STATUS.SEM_BUSY` (`G_000E50_SEM_BUSY`).
pub const SEM_BUSY: u32 = 1 << 14;

/// `SOFT_RESET_GRBM` (`S_000E60_SOFT_RESET_GRBM`).
pub const SOFT_RESET_GRBM: u32 = 1 << 8;
/// `SOFT_RESET_IH` (`S_000E60_SOFT_RESET_IH`).
pub const SOFT_RESET_IH: u32 = 1 << 10;
/// `SOFT_RESET_UVD` (`r600d.h`).
pub const SOFT_RESET_UVD: u32 = 1 << 18;
/// `RV770_SOFT_RESET_DMA` (`r600d.h`).
pub const RV770_SOFT_RESET_DMA: u32 = 1 << 20;
