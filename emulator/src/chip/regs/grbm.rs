// SPDX-License-Identifier: MIT
//! Graphics register bus manager.
//! Source: `rv770d.h`, `r600d.h` (status bit names `S_008010_*`).

super::registers! {
    /// Graphics pipeline status.
    GRBM_STATUS = 0x8010;
    /// Per-instance status.
    GRBM_STATUS2 = 0x8014;
    /// Soft reset of the graphics blocks.
    GRBM_SOFT_RESET = 0x8020;
}

/// `SOFT_RESET_CP` of `GRBM_SOFT_RESET`.
pub const SOFT_RESET_CP: u32 = 1 << 0;

/// `CMDFIFO_AVAIL`, bits 4:0: free entries of the command FIFO.
pub const CMDFIFO_AVAIL_8: u32 = 8;
/// Bit 5: the headers have no name for it, but idle cards of the family have it
/// set (radeon's log after a soft reset: `0x00003028`).
pub const STATUS_BIT_5: u32 = 1 << 5;
/// `DB03_CLEAN`: the depth blocks' caches hold nothing dirty.
pub const DB03_CLEAN: u32 = 1 << 12;
/// `CB03_CLEAN`: the colour blocks' caches hold nothing dirty.
pub const CB03_CLEAN: u32 = 1 << 13;
/// `GRBM_STATUS` of an idle chip.
pub const GRBM_STATUS_IDLE: u32 = CMDFIFO_AVAIL_8 | STATUS_BIT_5 | DB03_CLEAN | CB03_CLEAN;
/// `CP_BUSY` (`S_008010_CP_BUSY`).
pub const CP_BUSY: u32 = 1 << 29;
/// `GUI_ACTIVE` (`S_008010_GUI_ACTIVE`).
pub const GUI_ACTIVE: u32 = 1 << 31;
