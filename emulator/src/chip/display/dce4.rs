// SPDX-License-Identifier: MIT
//! The display controllers of Evergreen (DCE 4, 4.1) and NI (DCE 5): up to six CRTCs
//! with all registers in blocks of their own. What the board models has the same places
//! in all three.

use super::layout::{Bits, Layout, Lut, MAX_CRTCS};
use crate::chip::bus::RegFile;
use crate::chip::regs::evergreen::{self as eg, gfx::GB_ADDR_CONFIG};
use crate::chip::tiling::TilingConfig;

/// Offset of `reg` in each CRTC's block.
const fn each(reg: u32) -> [u32; MAX_CRTCS] {
    let mut offsets = [0; MAX_CRTCS];
    let mut crtc = 0;
    while crtc < MAX_CRTCS {
        offsets[crtc] = reg + eg::CRTC_BLOCKS[crtc];
        crtc += 1;
    }
    offsets
}

const fn with_mask(offsets: [u32; MAX_CRTCS], mask: u32) -> Bits {
    let mut bits = [(0, 0); MAX_CRTCS];
    let mut crtc = 0;
    while crtc < MAX_CRTCS {
        bits[crtc] = (offsets[crtc], mask);
        crtc += 1;
    }
    bits
}

/// The geometry of a tiled surface. `EVERGREEN_GRPH_CONTROL` has its banks, tile split and macro
/// tile (`evergreen_reg.h`; `dce4_crtc_do_set_base()` sets them), in the encodings of
/// `CB_COLORn_ATTRIB`.
fn tiling(regs: &dyn RegFile, control: u32) -> TilingConfig {
    let bits = |shift: u32, width: u32| control >> shift & ((1 << width) - 1);
    TilingConfig::from_address_config(regs.load(GB_ADDR_CONFIG)).of_surface(
        bits(13, 3),
        bits(2, 2),
        bits(6, 2),
        bits(11, 2),
        bits(18, 2),
    )
}

/// DCE 4, 4.1 and 5.
pub const DCE4: Layout = Layout {
    blocks: eg::CRTC_BLOCKS,
    first: eg::CRTC_FIRST,
    size: eg::CRTC_SIZE,
    h_total: eg::CRTC_H_TOTAL,
    v_total: eg::CRTC_V_TOTAL,
    v_blank_start_end: eg::EVERGREEN_CRTC_V_BLANK_START_END,
    control: eg::EVERGREEN_CRTC_CONTROL,
    blank_control: eg::EVERGREEN_CRTC_BLANK_CONTROL,
    status: eg::EVERGREEN_CRTC_STATUS,
    position: eg::EVERGREEN_CRTC_STATUS_POSITION,
    frame_count: eg::CRTC_STATUS_FRAME_COUNT,
    hv_count: eg::EVERGREEN_CRTC_STATUS_HV_COUNT,
    grph_enable: eg::EVERGREEN_GRPH_ENABLE,
    grph_control: eg::EVERGREEN_GRPH_CONTROL,
    grph_swap: eg::EVERGREEN_GRPH_SWAP_CONTROL,
    primary: eg::EVERGREEN_GRPH_PRIMARY_SURFACE_ADDRESS,
    primary_high: each(eg::EVERGREEN_GRPH_PRIMARY_SURFACE_ADDRESS_HIGH),
    pitch: eg::EVERGREEN_GRPH_PITCH,
    update: eg::EVERGREEN_GRPH_UPDATE,
    flip_control: eg::EVERGREEN_GRPH_FLIP_CONTROL,
    flip_status: eg::GRPH_INT_STATUS,
    flip_enable: eg::GRPH_INT_CONTROL,
    lut_bypass: eg::EVERGREEN_GRPH_LUT_10BIT_BYPASS_CONTROL,
    lut: Lut::Own,
    lut_index: eg::EVERGREEN_DC_LUT_RW_INDEX,
    lut_colour: eg::EVERGREEN_DC_LUT_30_COLOR,
    cursor_control: eg::EVERGREEN_CUR_CONTROL,
    cursor: eg::EVERGREEN_CUR_SURFACE_ADDRESS,
    cursor_high: each(eg::EVERGREEN_CUR_SURFACE_ADDRESS_HIGH),
    cursor_size: eg::EVERGREEN_CUR_SIZE,
    cursor_position: eg::EVERGREEN_CUR_POSITION,
    cursor_hot_spot: eg::EVERGREEN_CUR_HOT_SPOT,
    vblank_status: eg::VBLANK_STATUS,
    viewport_start: eg::EVERGREEN_VIEWPORT_START,
    viewport_size: eg::EVERGREEN_VIEWPORT_SIZE,
    vblank_enable: with_mask(each(eg::INT_MASK), eg::VBLANK_INT_MASK),
    vblank_asserted: with_mask(
        [
            eg::DISP_INTERRUPT_STATUS,
            eg::DISP_INTERRUPT_STATUS_CONTINUE,
            eg::DISP_INTERRUPT_STATUS_CONTINUE2,
            eg::DISP_INTERRUPT_STATUS_CONTINUE3,
            eg::DISP_INTERRUPT_STATUS_CONTINUE4,
            eg::DISP_INTERRUPT_STATUS_CONTINUE5,
        ],
        eg::LB_VBLANK_INTERRUPT,
    ),
    vblank_source: [1, 2, 3, 4, 5, 6],
    flip_source: [8, 10, 12, 14, 16, 18],
    tiling,
};
