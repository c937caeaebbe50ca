// SPDX-License-Identifier: MIT
//! Display controller (DCE 3.2). Source: `r500_reg.h` (AVIVO names, without
//! the `AVIVO_` prefix), `r600_reg.h`, `rv770d.h`, `r600d.h`.
//!
//! Offsets are those of the first CRTC. The second CRTC's are [`CRTC_STRIDE`]
//! higher, except for registers with a name of their own.

super::registers! {
    /// Horizontal total minus one, pixels.
    D1CRTC_H_TOTAL = 0x6000;
    /// Vertical total minus one, lines.
    D1CRTC_V_TOTAL = 0x6020;
    /// Vertical blank start (bits 12:0) and end (28:16), lines.
    D1CRTC_V_BLANK_START_END = 0x6024;
    /// CRTC enable.
    D1CRTC_CONTROL = 0x6080;
    /// Blanking of the picture.
    D1CRTC_BLANK_CONTROL = 0x6084;
    /// Bit 0: in vertical blank.
    D1CRTC_STATUS = 0x609C;
    /// Beam position: line (12:0) and pixel (28:16).
    D1CRTC_STATUS_POSITION = 0x60A0;
    /// Frames since start, 24 bits.
    D1CRTC_STATUS_FRAME_COUNT = 0x60A4;
    /// Free-running pixel counter.
    D1CRTC_STATUS_HV_COUNT = 0x60AC;
    /// Graphics surface enable.
    D1GRPH_ENABLE = 0x6100;
    /// Depth, format and array mode of the surface.
    D1GRPH_CONTROL = 0x6104;
    /// Endian swap and colour crossbars.
    D1GRPH_SWAP_CONTROL = 0x610C;
    /// Surface address bits 31:0; a write requests a flip.
    D1GRPH_PRIMARY_SURFACE_ADDRESS = 0x6110;
    /// Second CRTC's surface address bits 39:32.
    D2GRPH_PRIMARY_SURFACE_ADDRESS_HIGH = 0x6114;
    /// Pitch in pixels.
    D1GRPH_PITCH = 0x6120;
    /// Double-buffer state: pending and lock bits.
    D1GRPH_UPDATE = 0x6144;
    /// Flip at horizontal instead of vertical retrace.
    D1GRPH_FLIP_CONTROL = 0x6148;
    /// Flip interrupt status and clear.
    D1GRPH_INTERRUPT_STATUS = 0x6158;
    /// Flip interrupt enable.
    D1GRPH_INTERRUPT_CONTROL = 0x615C;
    /// Look-up table for the surface, and its bypass for 10-bit channels.
    D1GRPH_LUT_SEL = 0x6108;
    /// Cursor enable and pixel mode.
    D1CUR_CONTROL = 0x6400;
    /// Cursor image address bits 31:0.
    D1CUR_SURFACE_ADDRESS = 0x6408;
    /// Second CRTC's cursor address bits 39:32.
    D2CUR_SURFACE_ADDRESS_HIGH = 0x640C;
    /// Cursor size minus one: width (31:16), height (15:0).
    D1CUR_SIZE = 0x6410;
    /// Cursor position in the surface: x (31:16), y (15:0).
    D1CUR_POSITION = 0x6414;
    /// Pixel of the cursor image at that position: x (31:16), y (15:0).
    D1CUR_HOT_SPOT = 0x6418;
    /// Look-up table that `DC_LUT_30_COLOR` accesses.
    DC_LUT_RW_SELECT = 0x6480;
    /// Entry that `DC_LUT_30_COLOR` accesses; incremented by each access.
    DC_LUT_RW_INDEX = 0x6488;
    /// The entry's colours, 10 bits each, red from bit 20.
    DC_LUT_30_COLOR = 0x6494;
    /// Vertical blank status and acknowledge.
    D1MODE_VBLANK_STATUS = 0x6534;
    /// Vertical blank and line interrupt enables of both CRTCs.
    DxMODE_INT_MASK = 0x6540;
    /// Viewport origin: x (31:16), y (15:0).
    D1MODE_VIEWPORT_START = 0x6580;
    /// Viewport size: width (31:16), height (15:0).
    D1MODE_VIEWPORT_SIZE = 0x6584;
    /// First CRTC's cursor address bits 39:32.
    D1CUR_SURFACE_ADDRESS_HIGH = 0x6C0C;
    /// First CRTC's surface address bits 39:32.
    D1GRPH_PRIMARY_SURFACE_ADDRESS_HIGH = 0x6914;
    /// Display interrupt status.
    DCE3_DISP_INTERRUPT_STATUS = 0x7DDC;
}

/// Distance of the second CRTC's registers from the first's.
pub const CRTC_STRIDE: u32 = 0x800;
/// Number of CRTCs.
pub const CRTCS: usize = 2;

/// `AVIVO_CRTC_EN` of `D1CRTC_CONTROL`.
pub const CRTC_EN: u32 = 1 << 0;
/// Blank data enable of `D1CRTC_BLANK_CONTROL` (`rs600d.h`,
/// `D1CRTC_BLANK_DATA_EN`).
pub const BLANK_DATA_EN: u32 = 1 << 8;
/// `AVIVO_D1CRTC_V_BLANK` of `D1CRTC_STATUS`.
pub const CRTC_V_BLANK: u32 = 1 << 0;
/// `DxGRPH_PFLIP_INT_OCCURRED`.
pub const PFLIP_INT_OCCURRED: u32 = 1 << 0;
/// `DxGRPH_PFLIP_INT_CLEAR`.
pub const PFLIP_INT_CLEAR: u32 = 1 << 8;
/// `DxGRPH_PFLIP_INT_MASK`: flip interrupts enabled.
pub const PFLIP_INT_MASK: u32 = 1 << 0;
/// `AVIVO_D1GRPH_SURFACE_UPDATE_PENDING`.
pub const SURFACE_UPDATE_PENDING: u32 = 1 << 2;
/// `AVIVO_D1GRPH_UPDATE_LOCK`.
pub const UPDATE_LOCK: u32 = 1 << 16;
/// `AVIVO_D1GRPH_SURFACE_UPDATE_H_RETRACE_EN`.
pub const SURFACE_UPDATE_H_RETRACE_EN: u32 = 1 << 0;
/// `AVIVO_D1CURSOR_EN`.
pub const CURSOR_EN: u32 = 1 << 0;
/// `AVIVO_LUT_10BIT_BYPASS_EN` of `D1GRPH_LUT_SEL`.
pub const LUT_10BIT_BYPASS_EN: u32 = 1 << 8;
/// `DxMODE_VBLANK_OCCURRED`.
pub const VBLANK_OCCURRED: u32 = 1 << 0;
/// `DxMODE_VBLANK_ACK`.
pub const VBLANK_ACK: u32 = 1 << 4;
/// `DxMODE_VBLANK_STAT`: in vertical blank.
pub const VBLANK_STAT: u32 = 1 << 12;
/// `DxMODE_VBLANK_INTERRUPT`.
pub const VBLANK_INTERRUPT: u32 = 1 << 16;
/// `D1MODE_VBLANK_INT_MASK` and `D2MODE_VBLANK_INT_MASK`.
pub const VBLANK_INT_MASK: [u32; CRTCS] = [1 << 0, 1 << 8];
/// `LB_D1_VBLANK_INTERRUPT` and `LB_D2_VBLANK_INTERRUPT`.
pub const LB_VBLANK_INTERRUPT: [u32; CRTCS] = [1 << 4, 1 << 5];
