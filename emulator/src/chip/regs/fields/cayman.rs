// SPDX-License-Identifier: MIT
//! Fields of Cayman's context registers. Source: Mesa's `evergreend.h`.

use crate::chip::regs::cayman::gfx as place;

super::fields! {
    CAYMAN_PA_SC_LINE_CNTL as cayman_pa_sc_line_cntl {
        EXPAND_LINE_WIDTH 9, LAST_PIXEL 10, PERPENDICULAR_ENDCAP_ENA 11, DX10_DIAMOND_TEST_ENA 12,
    }
    CAYMAN_PA_SC_AA_CONFIG as cayman_pa_sc_aa_config {
        MSAA_NUM_SAMPLES 2:0, AA_MASK_CENTROID_DTMN 4, MAX_SAMPLE_DIST 16:13,
        MSAA_EXPOSED_SAMPLES 22:20, DETAIL_TO_EXPOSED_MODE 25:24,
    }
}

/// The register with the fields that R7xx's has.
pub const AS_R700: &[super::Fields] = super::same_fields! {
    r700;
    CAYMAN_PA_SU_VTX_CNTL as pa_su_vtx_cntl,
};
