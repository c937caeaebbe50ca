// SPDX-License-Identifier: MIT
//! Graphics configuration: fused-off units and tiling. Source: `rv770d.h`.

super::registers! {
    /// Fused-off shader pipes and SIMDs.
    CC_GC_SHADER_PIPE_CONFIG = 0x8950;
    /// Surface tiling configuration as programmed by the driver.
    GB_TILING_CONFIG = 0x98F0;
    /// Fused-off render backends.
    CC_RB_BACKEND_DISABLE = 0x98F4;
}

/// `INACTIVE_QD_PIPES` of `CC_GC_SHADER_PIPE_CONFIG`.
pub const INACTIVE_QD_PIPES_SHIFT: u32 = 8;
/// `BACKEND_DISABLE` of `CC_RB_BACKEND_DISABLE`.
pub const BACKEND_DISABLE_SHIFT: u32 = 16;
