// SPDX-License-Identifier: MIT
//! Registers that have an effect on Cayman and that Evergreen does not have. Source: `nid.h`; the
//! second DMA engine's are `DMA1_REGISTER_OFFSET` after the first's.

pub mod gfx;
pub(super) mod stored;

super::registers! {
    /// Selects the command processor's ring of `CP_INT_CNTL`.
    SRBM_GFX_CNTL = 0x0E44;
    /// Invalidates all translations.
    VM_L2_CNTL2 = 0x1404;
    /// Enable, depth and faults of VM contexts 1 to 7.
    VM_CONTEXT1_CNTL = 0x1414;
    /// Bit 0 clears the fault registers.
    VM_CONTEXT1_CNTL2 = 0x1434;
    /// Invalidates the translations of the contexts in a mask.
    VM_INVALIDATE_REQUEST = 0x1478;
    /// The contexts whose translations have been invalidated.
    VM_INVALIDATE_RESPONSE = 0x147C;
    /// What the first fault since the last clear was.
    VM_CONTEXT1_PROTECTION_FAULT_STATUS = 0x14DC;
    /// Its page.
    VM_CONTEXT1_PROTECTION_FAULT_ADDR = 0x14FC;
    /// Page to which faulting accesses go.
    VM_CONTEXT1_PROTECTION_FAULT_DEFAULT_ADDR = 0x151C;
    /// Page directories of contexts 1 to 7, in 4 KiB pages.
    VM_CONTEXT1_PAGE_TABLE_BASE_ADDR = 0x1540 [7; 4];
    /// Their first pages.
    VM_CONTEXT1_PAGE_TABLE_START_ADDR = 0x1560 [7; 4];
    /// Their last pages.
    VM_CONTEXT1_PAGE_TABLE_END_ADDR = 0x1580 [7; 4];
    /// Status of the second shader engine.
    GRBM_STATUS_SE1 = 0x8018;
    /// Read pointer of the third ring.
    CP_RB2_RPTR = 0x86F8;
    /// Read pointer of the second ring.
    CP_RB1_RPTR = 0x86FC;
    /// Base address of the second ring, in units of 256 bytes.
    CP_RB1_BASE = 0xC180;
    /// Size and flags of the second ring.
    CP_RB1_CNTL = 0xC184;
    /// Read pointer write-back address of the second ring, low part.
    CP_RB1_RPTR_ADDR = 0xC188;
    /// Its bits 39:32.
    CP_RB1_RPTR_ADDR_HI = 0xC18C;
    /// Write pointer of the second ring.
    CP_RB1_WPTR = 0xC190;
    /// Base address of the third ring, in units of 256 bytes.
    CP_RB2_BASE = 0xC194;
    /// Size and flags of the third ring.
    CP_RB2_CNTL = 0xC198;
    /// Read pointer write-back address of the third ring, low part.
    CP_RB2_RPTR_ADDR = 0xC19C;
    /// Its bits 39:32.
    CP_RB2_RPTR_ADDR_HI = 0xC1A0;
    /// Write pointer of the third ring.
    CP_RB2_WPTR = 0xC1A4;
    /// Second DMA engine: ring enable, size and write-back flags.
    DMA1_RB_CNTL = 0xD800;
    /// Ring base address, in units of 256 bytes.
    DMA1_RB_BASE = 0xD804;
    /// Read pointer, in bytes.
    DMA1_RB_RPTR = 0xD808;
    /// Write pointer, in bytes; a write submits work.
    DMA1_RB_WPTR = 0xD80C;
    /// Read pointer write-back address, bits 39:32.
    DMA1_RB_RPTR_ADDR_HI = 0xD81C;
    /// Read pointer write-back address, low part.
    DMA1_RB_RPTR_ADDR_LO = 0xD820;
    /// Indirect buffer enable.
    DMA1_IB_CNTL = 0xD824;
    /// Interrupt enables.
    DMA1_CNTL = 0xD82C;
    /// Engine status.
    DMA1_STATUS_REG = 0xD834;
}

/// `RINGID` of `SRBM_GFX_CNTL`.
pub const RINGID: u32 = 3;
/// `INVALIDATE_ALL_L1_TLBS` and `INVALIDATE_L2_CACHE` of `VM_L2_CNTL2`.
pub const INVALIDATE_ALL: u32 = 3;
/// `SOFT_RESET_DMA1` of `SRBM_SOFT_RESET`.
pub const SOFT_RESET_DMA1: u32 = 1 << 6;
/// `DMA1_BUSY` of `SRBM_STATUS2`.
pub const DMA1_BUSY: u32 = 1 << 6;
