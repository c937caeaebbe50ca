// SPDX-License-Identifier: MIT
//! Command processor. Source: `rv770d.h`, `r600d.h`.

super::registers! {
    /// First of eight scratch registers.
    SCRATCH_REG0 = 0x8500 [8; 4];
    /// Bit n: scratch register n is written back to memory.
    SCRATCH_UMSK = 0x8540;
    /// Write-back address of the scratch registers, in units of 256 bytes.
    SCRATCH_ADDR = 0x8544;
    /// Busy parts of the CP.
    CP_BUSY_STAT = 0x867C;
    /// Bit 0: the offsets of the stream-out buffers are up to date; set by
    /// the event `SO_VGTSTREAMOUT_FLUSH`, cleared by the driver.
    CP_STRMOUT_CNTL = 0x8490;
    /// CP status.
    CP_STAT = 0x8680;
    /// Halt bits of the micro engines.
    CP_ME_CNTL = 0x86D8;
    /// Read pointer of the ring, in dwords.
    CP_RB_RPTR = 0x8700;
    /// Ring base address, in units of 256 bytes.
    CP_RB_BASE = 0xC100;
    /// Ring size and flags.
    CP_RB_CNTL = 0xC104;
    /// Sets the read pointer while `RB_RPTR_WR_ENA` is set.
    CP_RB_RPTR_WR = 0xC108;
    /// Read pointer write-back address, low part.
    CP_RB_RPTR_ADDR = 0xC10C;
    /// Read pointer write-back address, bits 39:32.
    CP_RB_RPTR_ADDR_HI = 0xC110;
    /// Write pointer of the ring, in dwords; a write submits work.
    CP_RB_WPTR = 0xC114;
    /// Interrupt enables.
    CP_INT_CNTL = 0xC124;
    /// Interrupt status; a write of a status bit raises the interrupt.
    CP_INT_STATUS = 0xC128;
}

/// `WAIT_3D_IDLE` of `WAIT_UNTIL`.
pub const WAIT_3D_IDLE: u32 = 1 << 15;
/// `WAIT_3D_IDLECLEAN`: its caches have been written back, too.
pub const WAIT_3D_IDLECLEAN: u32 = 1 << 17;

/// `CP_BUSY` of `CP_STAT`. The parts of the CP in `CP_BUSY_STAT` are not
/// modelled: in that register the same bit stands for all of them.
pub const STAT_CP_BUSY: u32 = 1 << 31;

/// Number of scratch registers.
pub const SCRATCH_REGS: u32 = 8;

/// `CP_ME_HALT` of `CP_ME_CNTL`.
pub const CP_ME_HALT: u32 = 1 << 28;
/// `CP_PFP_HALT` of `CP_ME_CNTL`.
pub const CP_PFP_HALT: u32 = 1 << 26;

/// `RB_BUFSZ`: log2 of half the ring size in dwords.
pub const RB_BUFSZ_MASK: u32 = 0x3F;
/// `RB_NO_UPDATE`: no read pointer write-back.
pub const RB_NO_UPDATE: u32 = 1 << 27;
/// `RB_RPTR_WR_ENA`: `CP_RB_RPTR_WR` takes effect.
pub const RB_RPTR_WR_ENA: u32 = 1 << 31;

/// `TIME_STAMP_INT_ENABLE`: end-of-pipe events interrupt.
pub const TIME_STAMP_INT_ENABLE: u32 = 1 << 26;
/// `IB2_INT_ENABLE` and `IB2_INT_STAT`.
pub const IB2_INT: u32 = 1 << 29;
/// `IB1_INT_ENABLE` and `IB1_INT_STAT`.
pub const IB1_INT: u32 = 1 << 30;
/// `RB_INT_ENABLE` and `RB_INT_STAT`.
pub const RB_INT: u32 = 1 << 31;

/// `OFFSET_UPDATE_DONE` of `CP_STRMOUT_CNTL`.
pub const OFFSET_UPDATE_DONE: u32 = 1 << 0;
