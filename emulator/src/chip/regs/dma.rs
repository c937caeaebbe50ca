// SPDX-License-Identifier: MIT
//! Asynchronous DMA engine. Source: `r600d.h`, `rv770d.h`.

super::registers! {
    /// Tiling configuration for tiled copies (`rv770d.h`).
    DMA_TILING_CONFIG = 0x3EC8;
    /// Ring enable, size and write-back flags.
    DMA_RB_CNTL = 0xD000;
    /// Ring base address, in units of 256 bytes.
    DMA_RB_BASE = 0xD004;
    /// Read pointer, in bytes.
    DMA_RB_RPTR = 0xD008;
    /// Write pointer, in bytes; a write submits work.
    DMA_RB_WPTR = 0xD00C;
    /// Read pointer write-back address, bits 39:32.
    DMA_RB_RPTR_ADDR_HI = 0xD01C;
    /// Read pointer write-back address, low part.
    DMA_RB_RPTR_ADDR_LO = 0xD020;
    /// Indirect buffer enable.
    DMA_IB_CNTL = 0xD024;
    /// Interrupt enables.
    DMA_CNTL = 0xD02C;
    /// Engine status.
    DMA_STATUS_REG = 0xD034;
}

/// `DMA_RB_ENABLE` of `DMA_RB_CNTL`.
pub const DMA_RB_ENABLE: u32 = 1 << 0;
/// `DMA_RB_SIZE`: log2 of the ring size in dwords.
pub const DMA_RB_SIZE_MASK: u32 = 0x3E;
/// `DMA_RPTR_WRITEBACK_ENABLE` of `DMA_RB_CNTL`.
pub const DMA_RPTR_WRITEBACK_ENABLE: u32 = 1 << 12;
/// `DMA_IB_ENABLE` of `DMA_IB_CNTL`.
pub const DMA_IB_ENABLE: u32 = 1 << 0;
/// `TRAP_ENABLE` of `DMA_CNTL`.
pub const TRAP_ENABLE: u32 = 1 << 0;
/// `DMA_IDLE` of `DMA_STATUS_REG`.
pub const DMA_IDLE: u32 = 1 << 0;
