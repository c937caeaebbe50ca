// SPDX-License-Identifier: MIT
//! Registers of the 3D engine that Evergreen has elsewhere. Sources: Mesa's `evergreend.h` (`CM_R_*`),
//! `reg_srcs/cayman`.

#![allow(missing_docs)] // The headers have the fields.

crate::chip::regs::registers! {
    CAYMAN_PA_SC_LINE_CNTL = 0x2_8BDC;
    CAYMAN_PA_SC_AA_CONFIG = 0x2_8BE0;
    CAYMAN_PA_SU_VTX_CNTL = 0x2_8BE4;
    CAYMAN_PA_CL_GB_VERT_CLIP_ADJ = 0x2_8BE8;
    CAYMAN_PA_CL_GB_VERT_DISC_ADJ = 0x2_8BEC;
    CAYMAN_PA_CL_GB_HORZ_CLIP_ADJ = 0x2_8BF0;
    CAYMAN_PA_CL_GB_HORZ_DISC_ADJ = 0x2_8BF4;
    PA_SC_AA_SAMPLE_LOCS_PIXEL_X0_Y0_0 = 0x2_8BF8;
    PA_SC_AA_SAMPLE_LOCS_PIXEL_X0_Y0_1 = 0x2_8BFC;
    PA_SC_AA_MASK_X0_Y0_X1_Y0 = 0x2_8C38;
}

/// Is where Evergreen has the masks of all four pixels.
pub const PA_SC_AA_MASK_X0_Y1_X1_Y1: u32 = crate::chip::regs::evergreen::gfx::PA_SC_AA_MASK;
