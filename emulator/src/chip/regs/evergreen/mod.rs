// SPDX-License-Identifier: MIT
//! Registers that have an effect on Evergreen and Northern Islands, but not on
//! R700 or at another place there. Sources: `evergreend.h`, `evergreen_reg.h`,
//! `nid.h`.
//!
//! Display offsets are those of the first CRTC of DCE 4; see [`CRTC_BLOCKS`].

pub mod gfx;
pub(super) mod stored;

super::registers! {
    /// Index of the indirect registers with the fuses.
    RCU_IND_INDEX = 0x0100;
    /// The selected register.
    RCU_IND_DATA = 0x0104;
    /// APUs: the video clock's divider is in effect.
    CG_DCLK_STATUS = 0x0614;
    /// APUs: the decoder clock's divider is in effect.
    CG_VCLK_STATUS = 0x061C;
    /// Buffers of each CRTC between memory and line buffer; DCE 4.1 and 5.
    PIPE0_DMIF_BUFFER_CONTROL = 0x0CA0 [6; 32];
    /// Status of further blocks behind the SRBM.
    SRBM_STATUS2 = 0x0EC4;
    /// Control of the memory sequencer; NI.
    MC_SEQ_SUP_CNTL = 0x28C8;
    /// Program of the memory sequencer: each write is one dword; NI.
    MC_SEQ_SUP_PGM = 0x28CC;
    /// Pads of the memory channels; NI.
    MC_IO_PAD_CNTL_D0 = 0x29D0;
    /// Type of the memory; NI.
    MC_SEQ_MISC0 = 0x2A00;
    /// APUs: memory geometry, as `MC_ARB_RAMCFG`.
    FUS_MC_ARB_RAMCFG = 0x2768;
    /// Interrupt status of the first CRTC.
    DISP_INTERRUPT_STATUS = 0x60F4;
    /// Interrupt status of the second CRTC.
    DISP_INTERRUPT_STATUS_CONTINUE = 0x60F8;
    /// Interrupt status of the third CRTC.
    DISP_INTERRUPT_STATUS_CONTINUE2 = 0x60FC;
    /// Interrupt status of the fourth CRTC.
    DISP_INTERRUPT_STATUS_CONTINUE3 = 0x6100;
    /// Interrupt status of the fifth CRTC.
    DISP_INTERRUPT_STATUS_CONTINUE4 = 0x614C;
    /// Interrupt status of the sixth CRTC.
    DISP_INTERRUPT_STATUS_CONTINUE5 = 0x6150;
    /// Graphics surface enable.
    EVERGREEN_GRPH_ENABLE = 0x6800;
    /// Depth, format and array mode of the surface.
    EVERGREEN_GRPH_CONTROL = 0x6804;
    /// Bypass of the look-up table for 10-bit channels.
    EVERGREEN_GRPH_LUT_10BIT_BYPASS_CONTROL = 0x6808;
    /// Endian swap and colour crossbars.
    EVERGREEN_GRPH_SWAP_CONTROL = 0x680C;
    /// Surface address bits 31:0; a write requests a flip.
    EVERGREEN_GRPH_PRIMARY_SURFACE_ADDRESS = 0x6810;
    /// Pitch in pixels.
    EVERGREEN_GRPH_PITCH = 0x6818;
    /// Surface address bits 39:32.
    EVERGREEN_GRPH_PRIMARY_SURFACE_ADDRESS_HIGH = 0x681C;
    /// Double-buffer state: pending and lock bits.
    EVERGREEN_GRPH_UPDATE = 0x6844;
    /// Flip at horizontal instead of vertical retrace.
    EVERGREEN_GRPH_FLIP_CONTROL = 0x6848;
    /// Flip interrupt status and clear.
    GRPH_INT_STATUS = 0x6858;
    /// Flip interrupt enable.
    GRPH_INT_CONTROL = 0x685C;
    /// Cursor enable and pixel mode.
    EVERGREEN_CUR_CONTROL = 0x6998;
    /// Cursor image address bits 31:0.
    EVERGREEN_CUR_SURFACE_ADDRESS = 0x699C;
    /// Cursor size minus one: width (31:16), height (15:0).
    EVERGREEN_CUR_SIZE = 0x69A0;
    /// Cursor image address bits 39:32.
    EVERGREEN_CUR_SURFACE_ADDRESS_HIGH = 0x69A4;
    /// Cursor position in the surface: x (31:16), y (15:0).
    EVERGREEN_CUR_POSITION = 0x69A8;
    /// Pixel of the cursor image at that position: x (31:16), y (15:0).
    EVERGREEN_CUR_HOT_SPOT = 0x69AC;
    /// Entry that `EVERGREEN_DC_LUT_30_COLOR` accesses; incremented by each access.
    EVERGREEN_DC_LUT_RW_INDEX = 0x69E4;
    /// The entry's colours, 10 bits each, red from bit 20.
    EVERGREEN_DC_LUT_30_COLOR = 0x69F0;
    /// Vertical blank and line interrupt enables.
    INT_MASK = 0x6B40;
    /// Vertical blank status and acknowledge.
    VBLANK_STATUS = 0x6BBC;
    /// Viewport origin: x (31:16), y (15:0).
    EVERGREEN_VIEWPORT_START = 0x6D70;
    /// Viewport size: width (31:16), height (15:0).
    EVERGREEN_VIEWPORT_SIZE = 0x6D74;
    /// Horizontal total minus one, pixels. `evergreend.h` does not name it nor
    /// `CRTC_V_TOTAL`; the offsets are those of the later `dce_6_0_d.h`, whose
    /// `CRTC_V_BLANK_START_END` is where `evergreen_reg.h` has it.
    CRTC_H_TOTAL = 0x6E00;
    /// Vertical total minus one, lines.
    CRTC_V_TOTAL = 0x6E1C;
    /// Vertical blank start (bits 12:0) and end (28:16), lines.
    EVERGREEN_CRTC_V_BLANK_START_END = 0x6E34;
    /// CRTC enable.
    EVERGREEN_CRTC_CONTROL = 0x6E70;
    /// Blanking of the picture.
    EVERGREEN_CRTC_BLANK_CONTROL = 0x6E74;
    /// Bit 0: in vertical blank.
    EVERGREEN_CRTC_STATUS = 0x6E8C;
    /// Beam position: line (12:0) and pixel (28:16).
    EVERGREEN_CRTC_STATUS_POSITION = 0x6E90;
    /// Frames since start, 24 bits.
    CRTC_STATUS_FRAME_COUNT = 0x6E98;
    /// Free-running pixel counter.
    EVERGREEN_CRTC_STATUS_HV_COUNT = 0x6EA0;
    /// What the CP waits for before its next packet; only a strict board ever waits.
    WAIT_UNTIL = 0x8040;
    /// Bit 0: the offsets of the stream-out buffers are up to date.
    CP_STRMOUT_CNTL = 0x84FC;
}

/// Distance of each CRTC's registers from the first's
/// (`EVERGREEN_CRTCn_REGISTER_OFFSET`).
pub const CRTC_BLOCKS: [u32; 6] = [0, 0xC00, 0x9800, 0xA400, 0xB000, 0xBC00];
/// First of the first CRTC's registers.
pub const CRTC_FIRST: u32 = 0x6800;
/// Bytes of a CRTC's registers.
pub const CRTC_SIZE: u32 = 0xC00;
/// `VBLANK_INT_MASK` of `INT_MASK`.
pub const VBLANK_INT_MASK: u32 = 1 << 0;
/// `LB_D1_VBLANK_INTERRUPT`; the same bit in each CRTC's register.
pub const LB_VBLANK_INTERRUPT: u32 = 1 << 3;
/// `DMIF_BUFFERS_ALLOCATED_COMPLETED`.
pub const DMIF_BUFFERS_ALLOCATED_COMPLETED: u32 = 1 << 4;
/// `SX_CLEAN` of `GRBM_STATUS`.
pub const SX_CLEAN: u32 = 1 << 11;
/// `SE_SX_CLEAN`, `SE_DB_CLEAN` and `SE_CB_CLEAN` of `GRBM_STATUS_SE0`.
pub const SE_CLEAN: u32 = 0x7;
/// `DMA_BUSY` of `SRBM_STATUS2`.
pub const DMA_BUSY: u32 = 1 << 5;
/// `DCLK_STATUS` and `VCLK_STATUS`.
pub const CLOCK_STATUS: u32 = 1 << 0;
/// `RUN_MASK` of `MC_SEQ_SUP_CNTL`.
pub const RUN: u32 = 1 << 0;
/// Bits of `MC_SEQ_SUP_CNTL` without a name, as `ni_mc_load_microcode()` uses them: the
/// sequencer takes a program.
pub const LOAD: u32 = 1 << 4;
/// `MEM_FALL_OUT_CMD` of `MC_IO_PAD_CNTL_D0`: training is complete.
pub const MEM_FALL_OUT_CMD: u32 = 1 << 8;
/// `MC_SEQ_MISC0_GDDR5_VALUE` in its place.
pub const GDDR5: u32 = 5 << 28;
/// RCU register: the lowest of the render backends fused off, from bit 28 on
/// (`efuse_straps_3` in `evergreen_gpu_init()`).
pub const EFUSE_STRAPS_3: u32 = 0x203;
/// RCU register: the others, from bit 0 on.
pub const EFUSE_STRAPS_4: u32 = 0x204;
