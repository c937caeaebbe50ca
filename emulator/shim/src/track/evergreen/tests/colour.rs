// SPDX-License-Identifier: MIT
//! Render targets that fit their BOs are accepted, and those that do not are refused.

use super::*;

#[test]
fn render_targets_are_within_their_bos() {
    // One row of macro tiles, one layer, and one macro tile of offset more.
    assert_fits(&[(BASE, 0, Some(0)), (SLICE, slice(512, 512), None)]);
    assert_refused(
        &[(BASE, 0, Some(0)), (SLICE, slice(512, 576), None)],
        "a render target (register 0x28c60) needs 0x120000 bytes, its BO has 0x100000",
    );
    assert_fits(&[(BASE, 0, Some(0)), (VIEW, 1 << 13, None)]);
    assert_refused(
        &[(BASE, 0, Some(0)), (VIEW, 2 << 13, None)],
        "a render target (register 0x28c60) needs 0x180000 bytes, its BO has 0x100000",
    );
    // That the first layers are not drawn to makes no difference.
    assert_fits(&[(BASE, 0, Some(0)), (VIEW, 1 << 13 | 1, None)]);
    assert_refused(
        &[(BASE, 0, Some(0)), (VIEW, 2 << 13 | 1, None)],
        "a render target (register 0x28c60) needs 0x180000 bytes, its BO has 0x100000",
    );
    assert_refused(
        &[(BASE, 0x840, Some(0))],
        "a render target (register 0x28c60) needs 0x104000 bytes, its BO has 0x100000",
    );
    assert_refused(
        &[(PITCH, pitch(576), None), (SLICE, slice(576, 256), None)],
        "a render target (register 0x28c60) needs 0x110000 bytes, its BO has 0x100000",
    );
    assert_refused(
        &[(BASE, 0, Some(1))],
        "a render target (register 0x28c60) needs 0x80000 bytes, its BO has 0x1000",
    );
    // 16 bytes a pixel.
    let wide = (INFO, 0x23 << 2 | TILED << 8, None);
    assert_refused(
        &[wide, (BASE, 0, Some(0))],
        "a render target (register 0x28c60) needs 0x200000 bytes, its BO has 0x100000",
    );
    let mut none = changed(&[]);
    none.drain(..5);
    none.extend(packet(op::DRAW_INDEX_AUTO, &[3, 2]));
    let why = "a render target (register 0x28c60) has no BO";
    assert_eq!(message(none).as_deref(), Some(why));
}

#[test]
fn render_targets_are_aligned() {
    assert_refused(
        &[(PITCH, pitch(520), None), (SLICE, slice(520, 256), None)],
        "a render target (register 0x28c60) has pitch 520, no multiple of 64",
    );
    assert_refused(
        &[(SLICE, slice(512, 264), None)],
        "a render target (register 0x28c60) has height 264, no multiple of 64",
    );
    assert_refused(
        &[(BASE, 0x7FF, Some(0))],
        "a render target (register 0x28c60) is at offset 0x7ff00, no multiple of 0x4000",
    );
    assert_refused(
        &[(PITCH, !0, None)],
        "a render target (register 0x28c60) has pitch 0",
    );
    // Each field of 2D tiling counts: 16 banks, a width of two, a height of four, an aspect of one.
    let at = |attrib, base| refused(&[(ATTRIB, attrib, Some(0)), (BASE, base, Some(0))]);
    let offset = |offset, align| {
        let why = format!("is at offset {offset}, no multiple of {align}");
        Some(format!("a render target (register 0x28c60) {why}"))
    };
    assert_eq!(at(MACRO, 0x40), None);
    for double in [MACRO + (1 << 10), MACRO + (1 << 13), MACRO + (1 << 16)] {
        assert_eq!(at(double, 0x40), offset("0x4000", "0x8000"));
        assert_eq!(at(double, 0x80), None);
    }
    let high = [(SLICE, slice(512, 192), None), (BASE, 0, Some(0))];
    assert_fits(&high);
    assert_refused(
        &[high[0], high[1], (ATTRIB, MACRO - (1 << 19), Some(0))],
        "a render target (register 0x28c60) has height 192, no multiple of 128",
    );
    // A split of 64 bytes makes four slices of each tile: macro tiles have 4 KiB.
    assert_eq!(at(MACRO & !(15 << 5), 0x10), None);
    assert_eq!(at(MACRO & !(15 << 5), 0x8), offset("0x800", "0x1000"));
    assert_eq!(
        at(MACRO & !(15 << 5), 0x810),
        Some("a render target (register 0x28c60) needs 0x101000 bytes, its BO has 0x100000".into())
    );
    for split in [7, 8, 15] {
        let why = format!("a render target (register 0x28c60) has invalid tile split {split}");
        let attrib = MACRO & !(15 << 5) | split << 5;
        assert_refused(&[(ATTRIB, attrib, Some(0))], &why);
    }
    // Macro tiles of two lines have no bytes: offset 0 only is accepted.
    let flat = 3 << 19;
    assert_eq!(at(flat, 0), None);
    assert_eq!(at(flat, 0x40), offset("0x4000", "0x0"));
}

#[test]
fn array_modes_have_their_alignments() {
    let mode = |mode, width, height, base, bo| {
        refused(&[
            (INFO, COLOR_8_8_8_8 | mode << 8, None),
            (PITCH, pitch(width), None),
            (SLICE, slice(width, height), None),
            (BASE, base, Some(bo)),
        ])
    };
    let why = |why: &str| Some(format!("a render target (register 0x28c60) {why}"));
    // 4 KiB are 128x8 pixels.
    assert_eq!(mode(ALIGNED, 128, 8, 0, 1), None);
    let large = why("needs 0x1400 bytes, its BO has 0x1000");
    assert_eq!(mode(ALIGNED, 128, 10, 0, 1), large);
    assert_eq!(mode(ALIGNED, 64, 16, 0, 1), None);
    let large = why("needs 0x1100 bytes, its BO has 0x1000");
    assert_eq!(mode(ALIGNED, 64, 17, 0, 1), large);
    assert_eq!(mode(ALIGNED, 64, 15, 1, 1), None);
    assert_eq!(mode(ALIGNED, 64, 16, 1, 1), large);
    let multiple = why("has pitch 72, no multiple of 64");
    assert_eq!(mode(ALIGNED, 72, 8, 0, 1), multiple);
    assert_eq!(mode(TILED_1D, 128, 8, 0, 1), None);
    assert_eq!(mode(TILED_1D, 136, 8, 0, 1), large);
    assert_eq!(mode(TILED_1D, 128, 8, 1, 1), large);
    let height = why("has height 12, no multiple of 8");
    assert_eq!(mode(TILED_1D, 64, 12, 0, 1), height);
    // A group has 256 bytes: four tiles of one-byte pixels, or a line of 256. A line has 64 at least.
    let pixels = |format: u32, width: u32, mode: u32| {
        refused(&[
            (INFO, format << 2 | mode << 8, None),
            (PITCH, pitch(width), None),
            (SLICE, slice(width, 8), None),
            (BASE, 0, Some(0)),
        ])
    };
    assert_eq!(pixels(1, 96, TILED_1D), None);
    let multiple = why("has pitch 72, no multiple of 32");
    assert_eq!(pixels(1, 72, TILED_1D), multiple);
    assert_eq!(pixels(1, 256, ALIGNED), None);
    let multiple = why("has pitch 64, no multiple of 256");
    assert_eq!(pixels(1, 64, ALIGNED), multiple);
    assert_eq!(pixels(0x23, 64, ALIGNED), None);
    let multiple = why("has pitch 16, no multiple of 64");
    assert_eq!(pixels(0x23, 16, ALIGNED), multiple);
    for invalid in [3, 5, 15] {
        let invalid_mode = format!("has invalid array mode {invalid}");
        assert_eq!(mode(invalid, 64, 8, 0, 1), why(&invalid_mode));
    }
}

#[test]
fn formats_of_render_targets_are_checked() {
    let format = |format: u32| refused(&[(INFO, format << 2 | TILED << 8, None)]);
    // FMT_1, BC1, BC7.
    for invalid in [0x25, 0x31, 0x37] {
        let why = format!("a render target (register 0x28c60) has invalid format {invalid:#x}");
        assert_eq!(format(invalid), Some(why));
    }
    // Without a format there is no target.
    let large = (SLICE, slice(512, 320), None);
    assert!(refused(&[large]).is_some());
    assert_fits(&[large, (INFO, TILED << 8, None)]);
}

#[test]
fn targets_count_by_the_mask() {
    let why = "a render target (register 0x28c60) needs 0x120000 bytes, its BO has 0x100000";
    let large = (SLICE, slice(512, 320), None);
    assert_refused(&[large], why);
    assert_fits(&[large, (CB_TARGET_MASK, 0xFFFF_FFF0, None)]);
    assert_refused(&[large, (CB_TARGET_MASK, 8, None)], why);
    // SX_MISC kills all primitives, DB and CB have nothing to do.
    assert_fits(&[large, (SX_MISC, 1, None)]);
    // Target 7 is one; target 8 is not looked at.
    let target = |first: u32, mask| {
        refused(&[
            (CB_TARGET_MASK, mask, None),
            (first, 0, Some(1)),
            (first + 4, pitch(512), None),
            (first + 8, slice(512, 256), None),
            (first + 0xC, 0, None),
            (first + 0x10, COLOR_8_8_8_8 | TILED << 8, None),
            (first + 0x14, MACRO, Some(0)),
        ])
    };
    let why = "a render target (register 0x28e04) needs 0x80000 bytes, its BO has 0x1000";
    assert_eq!(target(0x2_8E04, !0).as_deref(), Some(why));
    assert_eq!(target(0x2_8E04, 0x0FFF_FFFF), None);
    assert_eq!(target(0x2_8E40, !0), None);
}

#[test]
fn linear_targets_are_cut_to_their_bos() {
    // 64 pixels of four bytes: 4 KiB are 16 rows.
    let stream = |height, view| {
        let mut ib = changed(&[
            (BASE, 0, Some(1)),
            (PITCH, pitch(64), None),
            (SLICE, slice(64, height), None),
            (VIEW, view, None),
            (INFO, COLOR_8_8_8_8, None),
        ]);
        let at = 3 + 2 + 3 + 2;
        assert_eq!(ib[at], slice(64, height));
        ib.extend(packet(op::DRAW_INDEX_AUTO, &[3, 2]));
        match relocate_gfx(&mut ib, &BOS, TURKS) {
            Ok(()) => Ok(ib[at]),
            Err(CheckError::Surface(_, broken)) => Err(broken.to_string()),
            Err(e) => panic!("{e:?}"),
        }
    };
    assert_eq!(stream(16, 0), Ok(slice(64, 16)));
    assert_eq!(stream(17, 0), Ok(slice(64, 16)));
    assert_eq!(stream(23, 0), Ok(slice(64, 16)));
    let large = |needed| {
        let why = format!("needs {needed} bytes, its BO has 0x1000");
        Err(format!("a render target (register 0x28c60) {why}"))
    };
    assert_eq!(stream(24, 0), large("0x1800"));
    // Of two layers each has eight.
    assert_eq!(stream(15, 1 << 13), Ok(slice(64, 8)));
    assert_eq!(stream(16, 1 << 13), large("0x2000"));
    // From beyond the end there is nothing to cut.
    assert_refused(
        &[(BASE, 0x11, Some(1)), (INFO, COLOR_8_8_8_8, None)],
        "a render target (register 0x28c60) needs 0x81100 bytes, its BO has 0x1000",
    );
}
