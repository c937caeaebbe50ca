// SPDX-License-Identifier: MIT
//! Video decoder. Source: `r600d.h`, `rv770d.h`; bit meanings from the
//! start-up sequence in `uvd_v1_0.c`.

super::registers! {
    /// Semaphore address bits 22:3.
    UVD_SEMA_ADDR_LOW = 0xEF00;
    /// Semaphore address bits 42:23.
    UVD_SEMA_ADDR_HIGH = 0xEF04;
    /// Semaphore command: 1 waits, 0 signals.
    UVD_SEMA_CMD = 0xEF08;
    /// Command to the VCPU: 0 fence or message, 2 trap.
    UVD_GPCOM_VCPU_CMD = 0xEF0C;
    /// Command argument 0.
    UVD_GPCOM_VCPU_DATA0 = 0xEF10;
    /// Command argument 1.
    UVD_GPCOM_VCPU_DATA1 = 0xEF14;
    /// Address bits 39:32 of a client's segment, selected by bits 19:16.
    UVD_LMI_EXT40_ADDR = 0xF498;
    /// Interrupt enable.
    UVD_MASTINT_EN = 0xF500;
    /// VCPU clock enable.
    UVD_VCPU_CNTL = 0xF660;
    /// Resets of the parts of the block.
    UVD_SOFT_RESET = 0xF680;
    /// Indirect buffer base.
    UVD_RBC_IB_BASE = 0xF684;
    /// Indirect buffer size in dwords; a write starts it.
    UVD_RBC_IB_SIZE = 0xF688;
    /// Ring base, address bits 31:0.
    UVD_RBC_RB_BASE = 0xF68C;
    /// Read pointer, in dwords.
    UVD_RBC_RB_RPTR = 0xF690;
    /// Write pointer, in dwords; a write submits work.
    UVD_RBC_RB_WPTR = 0xF694;
    /// Ring size and fetch control.
    UVD_RBC_RB_CNTL = 0xF6A4;
    /// VCPU status.
    UVD_STATUS = 0xF6BC;
    /// Value that fences write.
    UVD_CONTEXT_ID = 0xF6F4;
}

/// `RBC_SOFT_RESET` of `UVD_SOFT_RESET`.
pub const RBC_SOFT_RESET: u32 = 1 << 0;
/// `VCPU_SOFT_RESET` of `UVD_SOFT_RESET`.
pub const VCPU_SOFT_RESET: u32 = 1 << 3;
/// Clock enable bit of `UVD_VCPU_CNTL`.
pub const VCPU_CLK_EN: u32 = 1 << 9;
/// `UVD_STATUS`: the VCPU runs its firmware.
pub const STATUS_VCPU_RUNNING: u32 = 1 << 1;
/// `UVD_RBC_RB_CNTL`: no fetch from the ring.
pub const RB_NO_FETCH: u32 = 1 << 16;
/// `UVD_RBC_RB_CNTL`: log2 of the ring size in bytes.
pub const RB_BUFSZ_MASK: u32 = 0x1F;
/// System interrupt enable bits of `UVD_MASTINT_EN`.
pub const MASTINT_SYS_EN: u32 = 1 << 1;
/// Segment index of ring and indirect buffer in `UVD_LMI_EXT40_ADDR`.
pub const EXT40_INDEX_RBC: u32 = 7;
