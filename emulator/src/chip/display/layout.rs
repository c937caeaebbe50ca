// SPDX-License-Identifier: MIT
//! Where a generation of display controllers has its registers. Their fields are
//! the same in all generations that the board has ([`regs::dce`](crate::chip::regs::dce)),
//! but for the geometry of tiled surfaces.

use crate::chip::bus::RegFile;
use crate::chip::regs::{dce, gb, r600};
use crate::chip::tiling::TilingConfig;

/// Most CRTCs of a display controller.
pub const MAX_CRTCS: usize = 6;

/// An interrupt's bit for each CRTC: a register's byte offset and a mask. CRTCs that do not
/// exist have none.
pub type Bits = [(u32, u32); MAX_CRTCS];

/// Registers of a display controller. Unless said otherwise, offsets are those of the
/// first CRTC; another's are `blocks[crtc]` higher.
#[derive(Debug, Clone, Copy)]
pub struct Layout {
    /// Distance of each CRTC's registers from the first's.
    pub blocks: [u32; MAX_CRTCS],
    /// First of the first CRTC's registers.
    pub first: u32,
    /// Bytes of a CRTC's registers.
    pub size: u32,
    /// Horizontal total minus one; blank and sync follow at +4 and +8.
    pub h_total: u32,
    /// Vertical total minus one, lines.
    pub v_total: u32,
    /// Vertical blank start (bits 12:0) and end (28:16), lines; sync follows at +4.
    pub v_blank_start_end: u32,
    /// CRTC enable.
    pub control: u32,
    /// Blanking of the picture.
    pub blank_control: u32,
    /// Bit 0: in vertical blank.
    pub status: u32,
    /// Beam position.
    pub position: u32,
    /// Frames since start.
    pub frame_count: u32,
    /// Free-running pixel counter.
    pub hv_count: u32,
    /// Surface enable.
    pub grph_enable: u32,
    /// Depth, format and array mode of the surface.
    pub grph_control: u32,
    /// Endian swap and colour crossbars.
    pub grph_swap: u32,
    /// Surface address bits 31:0; a write requests a flip.
    pub primary: u32,
    /// Each CRTC's surface address bits 39:32.
    pub primary_high: [u32; MAX_CRTCS],
    /// Pitch in pixels.
    pub pitch: u32,
    /// Double-buffer state: pending and lock bits.
    pub update: u32,
    /// Flip at horizontal instead of vertical retrace.
    pub flip_control: u32,
    /// Flip interrupt status and clear.
    pub flip_status: u32,
    /// Flip interrupt enable.
    pub flip_enable: u32,
    /// Look-up table for the surface, and its bypass for 10-bit channels.
    pub lut_bypass: u32,
    /// Who has the look-up tables.
    pub lut: Lut,
    /// Entry that `lut_colour` accesses; incremented by each access.
    pub lut_index: u32,
    /// The entry's colours, 10 bits each, red from bit 20.
    pub lut_colour: u32,
    /// Cursor enable and pixel mode.
    pub cursor_control: u32,
    /// Cursor image address bits 31:0.
    pub cursor: u32,
    /// Each CRTC's cursor address bits 39:32.
    pub cursor_high: [u32; MAX_CRTCS],
    /// Cursor size minus one.
    pub cursor_size: u32,
    /// Cursor position in the surface.
    pub cursor_position: u32,
    /// Pixel of the cursor image at that position.
    pub cursor_hot_spot: u32,
    /// Vertical blank status and acknowledge.
    pub vblank_status: u32,
    /// Viewport origin.
    pub viewport_start: u32,
    /// Viewport size.
    pub viewport_size: u32,
    /// Enables of the vertical blank interrupts.
    pub vblank_enable: Bits,
    /// Vertical blank interrupts asserted.
    pub vblank_asserted: Bits,
    /// Numbers of the vertical blank interrupts in the interrupt ring.
    pub vblank_source: [u8; MAX_CRTCS],
    /// Numbers of the flip interrupts.
    pub flip_source: [u8; MAX_CRTCS],
    /// The memory geometry of a tiled surface: of the chip's registers and of the surface's
    /// `grph_control`.
    pub tiling: fn(&dyn RegFile, u32) -> TilingConfig,
}

/// Who has the look-up tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lut {
    /// Two tables, for any CRTC: bit 0 of `lut_bypass` chooses. Bit 0 of this register
    /// tells which one the shared access registers mean.
    Shared(u32),
    /// A table and access registers for each CRTC.
    Own,
}

impl Layout {
    /// Byte offset of `crtc`'s register, given the first CRTC's.
    pub fn at(&self, crtc: usize, reg: u32) -> u32 {
        reg + self.blocks[crtc % MAX_CRTCS]
    }

    /// CRTC that owns a register, and the first CRTC's offset of the same register.
    /// Registers of no CRTC count as the first's.
    pub fn split(&self, offset: u32) -> (usize, u32) {
        let owner = (1..MAX_CRTCS)
            .filter(|crtc| self.blocks[*crtc] != 0)
            .find_map(|crtc| {
                let from = offset.checked_sub(self.first + self.blocks[crtc])?;
                (from < self.size).then_some((crtc, self.first + from))
            });
        owner.unwrap_or((0, offset))
    }

    /// Whether a register, as from [`Self::split`], accesses a look-up table.
    pub(super) fn is_lut_colour(&self, crtc: usize, reg: u32) -> bool {
        reg == self.lut_colour && (crtc == 0 || self.lut == Lut::Own)
    }
}

/// `values` for two CRTCs.
const fn two<T: Copy>(values: [T; 2], none: T) -> [T; MAX_CRTCS] {
    [values[0], values[1], none, none, none, none]
}

/// DCE 2 and 3 (R6xx, R7xx), which keep the registers of the R5xx display ("AVIVO").
pub const AVIVO: Layout = Layout {
    blocks: two([0, dce::CRTC_STRIDE], 0),
    first: 0x6000,
    size: dce::CRTC_STRIDE,
    h_total: dce::D1CRTC_H_TOTAL,
    v_total: dce::D1CRTC_V_TOTAL,
    v_blank_start_end: dce::D1CRTC_V_BLANK_START_END,
    control: dce::D1CRTC_CONTROL,
    blank_control: dce::D1CRTC_BLANK_CONTROL,
    status: dce::D1CRTC_STATUS,
    position: dce::D1CRTC_STATUS_POSITION,
    frame_count: dce::D1CRTC_STATUS_FRAME_COUNT,
    hv_count: dce::D1CRTC_STATUS_HV_COUNT,
    grph_enable: dce::D1GRPH_ENABLE,
    grph_control: dce::D1GRPH_CONTROL,
    grph_swap: dce::D1GRPH_SWAP_CONTROL,
    primary: dce::D1GRPH_PRIMARY_SURFACE_ADDRESS,
    // The second CRTC's block holds the first's high address registers.
    primary_high: two(
        [
            dce::D1GRPH_PRIMARY_SURFACE_ADDRESS_HIGH,
            dce::D2GRPH_PRIMARY_SURFACE_ADDRESS_HIGH,
        ],
        0,
    ),
    pitch: dce::D1GRPH_PITCH,
    update: dce::D1GRPH_UPDATE,
    flip_control: dce::D1GRPH_FLIP_CONTROL,
    flip_status: dce::D1GRPH_INTERRUPT_STATUS,
    flip_enable: dce::D1GRPH_INTERRUPT_CONTROL,
    lut_bypass: dce::D1GRPH_LUT_SEL,
    lut: Lut::Shared(dce::DC_LUT_RW_SELECT),
    lut_index: dce::DC_LUT_RW_INDEX,
    lut_colour: dce::DC_LUT_30_COLOR,
    cursor_control: dce::D1CUR_CONTROL,
    cursor: dce::D1CUR_SURFACE_ADDRESS,
    cursor_high: two(
        [
            dce::D1CUR_SURFACE_ADDRESS_HIGH,
            dce::D2CUR_SURFACE_ADDRESS_HIGH,
        ],
        0,
    ),
    cursor_size: dce::D1CUR_SIZE,
    cursor_position: dce::D1CUR_POSITION,
    cursor_hot_spot: dce::D1CUR_HOT_SPOT,
    vblank_status: dce::D1MODE_VBLANK_STATUS,
    viewport_start: dce::D1MODE_VIEWPORT_START,
    viewport_size: dce::D1MODE_VIEWPORT_SIZE,
    vblank_enable: two(
        [
            (dce::DxMODE_INT_MASK, dce::VBLANK_INT_MASK[0]),
            (dce::DxMODE_INT_MASK, dce::VBLANK_INT_MASK[1]),
        ],
        (0, 0),
    ),
    vblank_asserted: two(
        [
            (dce::DCE3_DISP_INTERRUPT_STATUS, dce::LB_VBLANK_INTERRUPT[0]),
            (dce::DCE3_DISP_INTERRUPT_STATUS, dce::LB_VBLANK_INTERRUPT[1]),
        ],
        (0, 0),
    ),
    vblank_source: two([1, 5], 0),
    flip_source: two([9, 11], 0),
    // The driver writes the same to DCP_TILING_CONFIG (`rv770_gpu_init()`).
    tiling: |regs, _| TilingConfig::from_register(regs.load(gb::GB_TILING_CONFIG)),
};

/// DCE 2 (the first R6xx): as [`AVIVO`], which is DCE 3 in this, with the interrupt
/// status at another place.
pub const DCE2: Layout = Layout {
    vblank_asserted: two(
        [
            (r600::DISP_INTERRUPT_STATUS, dce::LB_VBLANK_INTERRUPT[0]),
            (r600::DISP_INTERRUPT_STATUS, dce::LB_VBLANK_INTERRUPT[1]),
        ],
        (0, 0),
    ),
    ..AVIVO
};

#[cfg(test)]
mod tests {
    use crate::chip::family::MODELS;

    #[test]
    fn a_crtc_owns_its_registers_and_no_other() {
        for model in &MODELS {
            let layout = &model.generation.display;
            for crtc in 0..model.crtcs {
                for reg in [layout.control, layout.primary, layout.vblank_status] {
                    assert_eq!(layout.split(layout.at(crtc, reg)), (crtc, reg));
                }
                let (register, mask) = layout.vblank_enable[crtc];
                assert!(register != 0 && mask != 0, "{} {crtc}", model.name);
                let before = layout.vblank_enable[..crtc].iter();
                assert!(before.clone().all(|b| *b != (register, mask)));
            }
            assert_eq!(layout.split(0x100), (0, 0x100));
        }
    }
}
