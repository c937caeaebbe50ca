// SPDX-License-Identifier: MIT
//! Interrupt handler and RLC registers. Source: `r600d.h`.
//!
//! The page of these registers is mapped into the guest, so writes to them do
//! not trap; the board reads the values when it needs them.

super::registers! {
    /// Ring control.
    IH_RB_CNTL = 0x3E00;
    /// Ring base address, in units of 256 bytes.
    IH_RB_BASE = 0x3E04;
    /// Read pointer, in bytes (written by the driver).
    IH_RB_RPTR = 0x3E08;
    /// Write pointer, in bytes, with the overflow flag.
    IH_RB_WPTR = 0x3E0C;
    /// Write pointer write-back address, bits 39:32.
    IH_RB_WPTR_ADDR_HI = 0x3E10;
    /// Write pointer write-back address, low part.
    IH_RB_WPTR_ADDR_LO = 0x3E14;
    /// Interrupt enable.
    IH_CNTL = 0x3E18;
    /// GPU clock counter, low half.
    RLC_GPU_CLOCK_COUNT_LSB = 0x3F38;
    /// GPU clock counter, high half.
    RLC_GPU_CLOCK_COUNT_MSB = 0x3F3C;
}

/// `IH_RB_ENABLE` of `IH_RB_CNTL`.
pub const IH_RB_ENABLE: u32 = 1 << 0;
/// `IH_RB_SIZE`: log2 of the ring size in dwords.
pub const IH_RB_SIZE_MASK: u32 = 0x3E;
/// `IH_WPTR_WRITEBACK_ENABLE` of `IH_RB_CNTL`.
pub const IH_WPTR_WRITEBACK_ENABLE: u32 = 1 << 8;
/// `IH_WPTR_OVERFLOW_ENABLE` of `IH_RB_CNTL`.
pub const IH_WPTR_OVERFLOW_ENABLE: u32 = 1 << 16;
/// `IH_WPTR_OVERFLOW_CLEAR` of `IH_RB_CNTL`.
pub const IH_WPTR_OVERFLOW_CLEAR: u32 = 1 << 31;
/// `RB_OVERFLOW` of `IH_RB_WPTR`.
pub const RB_OVERFLOW: u32 = 1 << 0;
/// `WPTR_OFFSET_MASK` of `IH_RB_WPTR`.
pub const WPTR_OFFSET_MASK: u32 = 0x3_FFFC;
/// `ENABLE_INTR` of `IH_CNTL`.
pub const ENABLE_INTR: u32 = 1 << 0;
