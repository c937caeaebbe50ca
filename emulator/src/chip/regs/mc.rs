// SPDX-License-Identifier: MIT
//! Memory controller and VM. Source: `rv770d.h`; fault status registers:
//! `nid.h`, whose VM register layout matches `rv770d.h` where both exist
//! (context 1 there, hence 4 less for context 0).

super::registers! {
    /// Fault status of VM context 0 (see the module's note on the source).
    VM_CONTEXT0_PROTECTION_FAULT_STATUS = 0x14D8;
    /// Faulting page of VM context 0 (see the module's note on the source).
    VM_CONTEXT0_PROTECTION_FAULT_ADDR = 0x14F8;
    /// VM context 0 enable and depth.
    VM_CONTEXT0_CNTL = 0x1410;
    /// TLB request (bits 3:0) and response (bits 7:4), `r600d.h`.
    VM_CONTEXT0_REQUEST_RESPONSE = 0x1470;
    /// Page that unmapped accesses are redirected to.
    VM_CONTEXT0_PROTECTION_FAULT_DEFAULT_ADDR = 0x1518;
    /// Page table base, in 4 KiB pages.
    VM_CONTEXT0_PAGE_TABLE_BASE_ADDR = 0x153C;
    /// First page of the GART aperture.
    VM_CONTEXT0_PAGE_TABLE_START_ADDR = 0x155C;
    /// Last page of the GART aperture.
    VM_CONTEXT0_PAGE_TABLE_END_ADDR = 0x157C;
    /// Number of memory channels.
    MC_SHARED_CHMAP = 0x2004;
    /// VRAM aperture in MC addresses.
    MC_VM_FB_LOCATION = 0x2024;
    /// Memory geometry: banks, rows, columns, channel width.
    MC_ARB_RAMCFG = 0x2760;
}

/// Response field of `VM_CONTEXT0_REQUEST_RESPONSE`: request done.
pub const RESPONSE_DONE: u32 = 1 << 4;
/// `RESPONSE_TYPE` field.
pub const RESPONSE_TYPE_MASK: u32 = 0xF << 4;
/// `REQUEST_TYPE` field.
pub const REQUEST_TYPE_MASK: u32 = 0xF;

/// `NOOFBANK` of `MC_ARB_RAMCFG`: 8 banks.
pub const NOOFBANK_8: u32 = 1;
/// Mask of `NOOFBANK`: 0 is 4 banks, 1 is 8.
pub const NOOFBANK_MASK: u32 = 0x3;
/// `CHANSIZE` of `MC_ARB_RAMCFG`: channel is 64 bits wide.
pub const CHANSIZE_64: u32 = 1 << 8;
/// `NOOFCHAN` of `MC_SHARED_CHMAP`: log2 of the channel count.
pub const NOOFCHAN_SHIFT: u32 = 12;
