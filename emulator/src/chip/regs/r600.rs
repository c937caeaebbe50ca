// SPDX-License-Identifier: MIT
//! Registers that R6xx has at other places than R700. Source: `r600d.h`.

super::registers! {
    /// UVD PLL control: request and acknowledge bits.
    CG_UPLL_FUNC_CNTL = 0x07E0;
    /// Page that unmapped accesses are redirected to.
    VM_CONTEXT0_PROTECTION_FAULT_DEFAULT_ADDR = 0x1554;
    /// Page table base, in 4 KiB pages.
    VM_CONTEXT0_PAGE_TABLE_BASE_ADDR = 0x1574;
    /// First page of the GART aperture.
    VM_CONTEXT0_PAGE_TABLE_START_ADDR = 0x1594;
    /// Last page of the GART aperture.
    VM_CONTEXT0_PAGE_TABLE_END_ADDR = 0x15B4;
    /// VRAM aperture in MC addresses.
    MC_VM_FB_LOCATION = 0x2180;
    /// Memory geometry: banks, rows, columns, channel width.
    RAMCFG = 0x2408;
    /// Display interrupt status of DCE 2.
    DISP_INTERRUPT_STATUS = 0x7EDC;
    /// `MULTIPASS`: primitives end at stream-out.
    SX_MISC = 0x2_8350;
}

/// `NOOFBANK` of `RAMCFG`: 8 banks.
pub const NOOFBANK_8: u32 = 1;
/// `CHANSIZE` of `RAMCFG`: channel is 64 bits wide.
pub const CHANSIZE_64: u32 = 1 << 7;
/// `SOFT_RESET_DMA` of `SRBM_SOFT_RESET`.
pub const SOFT_RESET_DMA: u32 = 1 << 12;
