// SPDX-License-Identifier: MIT
//! Vertical blanks, flips and scan-out as the driver uses them.

use std::time::Duration;

use crate::rig::*;
use r7xx_board::chip::bus::RegFile;
use r7xx_board::chip::counters::Counter;
use r7xx_board::chip::display::PixelFormat;
use r7xx_board::chip::regs::dce::{self, CRTC_STRIDE};
use r7xx_board::chip::regs::gb;
use r7xx_board::chip::tiling::TilingConfig;

/// avivo_crtc_do_set_base() for 640x480, 32 bits, linear.
fn set_mode(rig: &Rig, crtc: u32, base: u32) {
    let at = |reg: u32| reg + crtc * CRTC_STRIDE;
    rig.write(at(dce::D1GRPH_FLIP_CONTROL), 0);
    rig.write(at(dce::D1GRPH_PRIMARY_SURFACE_ADDRESS), base);
    rig.write(at(dce::D1GRPH_CONTROL), 2 | (1 << 20));
    rig.write(at(dce::D1GRPH_PITCH), 704);
    rig.write(at(dce::D1GRPH_ENABLE), 1);
    rig.write(at(dce::D1MODE_VIEWPORT_START), 0);
    rig.write(at(dce::D1MODE_VIEWPORT_SIZE), (640 << 16) | 480);
    rig.write(at(dce::D1GRPH_INTERRUPT_CONTROL), dce::PFLIP_INT_MASK);
    rig.write(at(dce::D1CRTC_CONTROL), dce::CRTC_EN);
}

/// rv770_page_flip().
fn flip(rig: &Rig, crtc: u32, base: u32) {
    let at = |reg: u32| reg + crtc * CRTC_STRIDE;
    let update = rig.read(at(dce::D1GRPH_UPDATE)) | dce::UPDATE_LOCK;
    rig.write(at(dce::D1GRPH_UPDATE), update);
    rig.write(at(dce::D1GRPH_PRIMARY_SURFACE_ADDRESS), base);
    assert!(pending(rig, crtc));
    rig.write(at(dce::D1GRPH_UPDATE), update & !dce::UPDATE_LOCK);
}

fn pending(rig: &Rig, crtc: u32) -> bool {
    let update = rig.read(dce::D1GRPH_UPDATE + crtc * CRTC_STRIDE);
    update & dce::SURFACE_UPDATE_PENDING != 0
}

#[test]
fn scanout_off_is_none_and_on_describes_surface() {
    let rig = Rig::new();
    assert_eq!(rig.chip.scanout(0), None);
    assert_eq!(rig.chip.scanout(7), None);
    set_mode(&rig, 0, 0x10_0000);
    let scanout = rig.chip.scanout(0).unwrap();
    assert_eq!(scanout.mc_addr, 0x10_0000);
    assert_eq!((scanout.width, scanout.height), (640, 480));
    assert_eq!(scanout.pitch_bytes, 704 * 4);
    assert_eq!(scanout.format, PixelFormat::Argb8888);
    assert_eq!(scanout.array_mode, 1);
    // A tiled one has the chip's geometry.
    rig.write(gb::GB_TILING_CONFIG, 2 << 1 | 1 << 4);
    let tiling = rig.chip.scanout(0).unwrap().tiling;
    assert_eq!(tiling, TilingConfig::from_register(2 << 1 | 1 << 4));
    // A panned linear surface starts at its first visible pixel.
    rig.write(dce::D1MODE_VIEWPORT_START, (8 << 16) | 2);
    let panned = rig.chip.scanout(0).unwrap();
    assert_eq!(panned.mc_addr, 0x10_0000 + 2 * 704 * 4 + 8 * 4);
    assert_eq!(rig.chip.scanout(1), None);
    rig.write(dce::D1CRTC_BLANK_CONTROL, dce::BLANK_DATA_EN);
    assert_eq!(rig.chip.scanout(0), None);
}

/// avivo_crtc_load_lut().
fn load_lut(rig: &Rig, crtc: u32, entry: impl Fn(u32) -> u32) {
    rig.write(dce::DC_LUT_RW_SELECT, crtc);
    rig.write(dce::DC_LUT_RW_INDEX, 0);
    for i in 0..256 {
        rig.write(dce::DC_LUT_30_COLOR, entry(i));
    }
    rig.write(dce::D1GRPH_LUT_SEL + crtc * CRTC_STRIDE, crtc);
}

#[test]
fn look_up_tables_belong_to_crtcs() {
    let rig = Rig::new();
    set_mode(&rig, 0, 0x10_0000);
    set_mode(&rig, 1, 0x20_0000);
    // The tables as the BIOS leaves them.
    assert_eq!(
        rig.chip.scanout(1).unwrap().gamma.apply([1, 2, 3]),
        [1, 2, 3]
    );
    load_lut(&rig, 0, |i| 1023 - 4 * i);
    load_lut(&rig, 1, |i| (4 * i) << 20);
    let gamma = |crtc| rig.chip.scanout(crtc).unwrap().gamma;
    assert_eq!(gamma(0).apply([9, 9, 10]), [0, 0, 245]);
    assert_eq!(gamma(1).apply([9, 9, 9]), [9, 0, 0]);
    // The index has wrapped around, and reads increment it, too.
    rig.write(dce::DC_LUT_RW_SELECT, 0);
    assert_eq!(rig.read(dce::DC_LUT_30_COLOR), 1023);
    assert_eq!(rig.read(dce::DC_LUT_30_COLOR), 1019);
    assert_eq!(rig.read(dce::DC_LUT_RW_INDEX), 2);
}

#[test]
fn cursor_is_placed_in_the_surface() {
    for crtc in 0..2 {
        let rig = Rig::new();
        let at = |reg: u32| reg + crtc * CRTC_STRIDE;
        set_mode(&rig, crtc, 0x10_0000);
        let cursor = || rig.chip.scanout(crtc as usize).unwrap().cursor;
        assert_eq!(cursor(), None);
        // radeon_show_cursor(), radeon_cursor_move_locked().
        let high = [
            dce::D1CUR_SURFACE_ADDRESS_HIGH,
            dce::D2CUR_SURFACE_ADDRESS_HIGH,
        ];
        rig.write(high[crtc as usize], 1);
        rig.write(at(dce::D1CUR_SURFACE_ADDRESS), 0x30_0000);
        rig.write(at(dce::D1CUR_POSITION), 20 << 16 | 30);
        rig.write(at(dce::D1CUR_HOT_SPOT), 2 << 16 | 3);
        rig.write(at(dce::D1CUR_SIZE), 63 << 16 | 31);
        rig.write(at(dce::D1CUR_CONTROL), dce::CURSOR_EN | 2 << 8);
        rig.write(at(dce::D1MODE_VIEWPORT_START), 8 << 16 | 40);
        let shown = cursor().unwrap();
        assert_eq!(shown.mc_addr, 0x1_0030_0000);
        assert_eq!((shown.x, shown.y, shown.hot), (12, -10, (2, 3)));
        assert_eq!((shown.width, shown.height), (64, 32));
        assert!(shown.premultiplied);
        // radeon_hide_cursor().
        rig.write(at(dce::D1CUR_CONTROL), 2 << 8);
        assert_eq!(cursor(), None);
    }
}

#[test]
fn flip_of_stopped_crtc_takes_effect_at_once() {
    let rig = Rig::new();
    set_mode(&rig, 0, 0x10_0000);
    rig.write(dce::D1GRPH_UPDATE, dce::UPDATE_LOCK);
    rig.write(dce::D1GRPH_PRIMARY_SURFACE_ADDRESS, 0x20_0000);
    rig.write(dce::D1CRTC_CONTROL, 0);
    rig.write(dce::D1GRPH_UPDATE, 0);
    rig.until("flip", |r| !pending(r, 0));
    rig.write(dce::D1CRTC_CONTROL, dce::CRTC_EN);
    assert_eq!(rig.chip.scanout(0).unwrap().mc_addr, 0x20_0000);
}

#[test]
fn vblank_enabled_interrupts_and_acknowledges() {
    for (crtc, source, enable, asserted) in [(0, 1, 1, 1 << 4), (1, 5, 1 << 8, 1 << 5)] {
        let mut rig = Rig::new();
        set_mode(&rig, crtc, 0);
        rig.write(dce::DxMODE_INT_MASK, enable);
        rig.until("vblanks", |r| r.irq_count() >= 3);
        rig.write(dce::DxMODE_INT_MASK, 0);
        assert!(rig.vectors().iter().all(|v| *v == (source, 0)));
        let status = dce::D1MODE_VBLANK_STATUS + crtc * CRTC_STRIDE;
        assert_ne!(rig.read(status) & dce::VBLANK_OCCURRED, 0);
        // The status summary is in a mapped page.
        assert_ne!(rig.regs.load(dce::DCE3_DISP_INTERRUPT_STATUS) & asserted, 0);
        // A blank may still be in delivery: acknowledge until none is left.
        rig.until("acknowledge", |r| {
            r.write(status, dce::VBLANK_ACK);
            std::thread::sleep(Duration::from_millis(1));
            r.read(status) & dce::VBLANK_OCCURRED == 0
                && r.regs.load(dce::DCE3_DISP_INTERRUPT_STATUS) == 0
        });
    }
}

#[test]
fn vblank_disabled_is_silent_but_counts_frames() {
    let rig = Rig::new();
    set_mode(&rig, 0, 0);
    let first = rig.read(dce::D1CRTC_STATUS_FRAME_COUNT);
    rig.until("frames", |r| {
        r.read(dce::D1CRTC_STATUS_FRAME_COUNT) > first + 2
    });
    assert_eq!(rig.irq_count(), 0);
    assert_eq!(rig.chip.counters().get(Counter::Vblanks), 0);
}

#[test]
fn beam_running_moves_within_the_frame() {
    let rig = Rig::new();
    set_mode(&rig, 0, 0);
    let before = rig.read(dce::D1CRTC_STATUS_HV_COUNT);
    rig.until("beam", |r| r.read(dce::D1CRTC_STATUS_HV_COUNT) != before);
    let mut blank = [false; 2];
    rig.until("blank and picture", |r| {
        let line = r.read(dce::D1CRTC_STATUS_POSITION) & 0x1FFF;
        assert!(line < 480 + 480 / 20 + 1);
        blank[(r.read(dce::D1CRTC_STATUS) & dce::CRTC_V_BLANK) as usize] = true;
        blank == [true; 2]
    });
    // The counter of a disabled CRTC does not change.
    assert_eq!(rig.read(dce::D1CRTC_STATUS_HV_COUNT + CRTC_STRIDE), 0);
}

#[test]
fn flip_latches_at_vblank_and_interrupts() {
    for (crtc, source) in [(0u32, 9), (1, 11)] {
        let mut rig = Rig::new();
        set_mode(&rig, crtc, 0x10_0000);
        flip(&rig, crtc, 0x20_0000);
        rig.until("flip", |r| !pending(r, crtc));
        assert_eq!(rig.chip.scanout(crtc as usize).unwrap().mc_addr, 0x20_0000);
        rig.until("interrupt", |r| r.irq_count() >= 1);
        assert_eq!(rig.vectors(), [(source, 0)]);
        let status = dce::D1GRPH_INTERRUPT_STATUS + crtc * CRTC_STRIDE;
        assert_ne!(rig.read(status) & dce::PFLIP_INT_OCCURRED, 0);
        rig.write(status, dce::PFLIP_INT_CLEAR);
        assert_eq!(rig.read(status) & dce::PFLIP_INT_OCCURRED, 0);
    }
}

#[test]
fn flip_locked_waits_for_unlock() {
    let rig = Rig::new();
    set_mode(&rig, 0, 0x10_0000);
    rig.write(dce::D1GRPH_UPDATE, dce::UPDATE_LOCK);
    rig.write(dce::D1GRPH_PRIMARY_SURFACE_ADDRESS, 0x20_0000);
    let frame = rig.read(dce::D1CRTC_STATUS_FRAME_COUNT);
    rig.until("frames", |r| {
        r.read(dce::D1CRTC_STATUS_FRAME_COUNT) > frame + 2
    });
    assert!(pending(&rig, 0));
    assert_eq!(rig.chip.scanout(0).unwrap().mc_addr, 0x10_0000);
    rig.write(dce::D1GRPH_UPDATE, 0);
    rig.until("flip", |r| !pending(r, 0));
    assert_eq!(rig.chip.scanout(0).unwrap().mc_addr, 0x20_0000);
}

#[test]
fn surface_address_high_belongs_to_the_right_crtc() {
    let rig = Rig::new();
    rig.write(dce::D1GRPH_PRIMARY_SURFACE_ADDRESS_HIGH, 0x12);
    rig.write(dce::D2GRPH_PRIMARY_SURFACE_ADDRESS_HIGH, 0x34);
    set_mode(&rig, 0, 0x1000);
    set_mode(&rig, 1, 0x2000);
    assert_eq!(rig.chip.scanout(0).unwrap().mc_addr, 0x12_0000_1000);
    assert_eq!(rig.chip.scanout(1).unwrap().mc_addr, 0x34_0000_2000);
}
