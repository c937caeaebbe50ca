// SPDX-License-Identifier: MIT
//! Graphics register bus manager and graphics configuration.
//! Source: `rv770d.h`, `r600d.h` (status bit names `S_008010_*`).

super::registers! {
    /// Graphics pipeline status.
    GRBM_STATUS = 0x8010;
    /// Per-instance status.
    GRBM_STATUS2 = 0x8014;
    /// Soft reset of the graphics blocks.
    GRBM_SOFT_RESET = 0x8020;
    /// Waits of the CP for engines; nothing to wait for in this model.
    WAIT_UNTIL = 0x8040;
    /// Fused-off shader pipes and SIMDs.
    CC_GC_SHADER_PIPE_CONFIG = 0x8950;
    /// Surface tiling configuration as programmed by the driver.
    GB_TILING_CONFIG = 0x98F0;
    /// Fused-off render backends.
    CC_RB_BACKEND_DISABLE = 0x98F4;
    /// Event trigger of the VGT.
    VGT_EVENT_INITIATOR = 0x2_8A90;
    /// Index type (16 or 32 bits) for draws.
    VGT_DMA_INDEX_TYPE = 0x2_8A7C;
    /// Instance count for draws.
    VGT_DMA_NUM_INSTANCES = 0x2_8A88;
    /// Stream-out buffer 0 write offset; the others follow every 16 bytes.
    VGT_STRMOUT_BUFFER_OFFSET_0 = 0x2_8ADC;
}

/// `SOFT_RESET_CP` of `GRBM_SOFT_RESET`.
pub const SOFT_RESET_CP: u32 = 1 << 0;

/// `GRBM_STATUS` of an idle chip: command FIFO space, CB and DB clean.
/// Bits 3 and 5 (`CMDFIFO_AVAIL` 8 and SRBM queue space), 12 and 13
/// (`DB03_CLEAN`, `CB03_CLEAN`).
pub const GRBM_STATUS_IDLE: u32 = 0x0000_3028;
/// `CP_BUSY` (`S_008010_CP_BUSY`).
pub const CP_BUSY: u32 = 1 << 29;
/// `GUI_ACTIVE` (`S_008010_GUI_ACTIVE`).
pub const GUI_ACTIVE: u32 = 1 << 31;

/// `INACTIVE_QD_PIPES` of `CC_GC_SHADER_PIPE_CONFIG`.
pub const INACTIVE_QD_PIPES_SHIFT: u32 = 8;
/// `BACKEND_DISABLE` of `CC_RB_BACKEND_DISABLE`.
pub const BACKEND_DISABLE_SHIFT: u32 = 16;
