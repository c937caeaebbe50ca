// SPDX-License-Identifier: MIT
//! Depth and stencil buffers that fit their BOs are accepted, and those that do not are refused.

use super::*;

#[test]
fn depth_buffers_are_checked() {
    let (read, write) = (0x2_8048, 0x2_8050);
    let no_stencil = (DB_DEPTH_CONTROL, 2, None);
    for reg in [read, write] {
        let why = |why| format!("the depth buffer (register {reg:#x}) {why}");
        let large = why("needs 0x80000 bytes, its BO has 0x1000");
        assert_refused(&[(reg, 0, Some(1))], &large);
        assert_fits(&[(reg, 0x800, Some(0))]);
        let large = why("needs 0x104000 bytes, its BO has 0x100000");
        assert_refused(&[(reg, 0x840, Some(0))], &large);
        let offset = why("is at offset 0x7ff00, no multiple of 0x4000");
        assert_refused(&[(reg, 0x7FF, Some(0))], &offset);
        // Without Z_ENABLE, or a format, it does not matter.
        assert_fits(&[(reg, 0, Some(1)), (DB_DEPTH_CONTROL, 1, None)]);
        assert_fits(&[(reg, 0, Some(1)), (DB_Z_INFO, Z_24 & !3, None)]);
        let mut registers = good();
        registers.retain(|r| r.0 != reg);
        let mut ib: Vec<u32> = registers.into_iter().flat_map(set).collect();
        ib.extend(packet(op::DRAW_INDEX_AUTO, &[3, 2]));
        assert_eq!(message(ib), Some(why("has no BO")));
    }
    let why = |why| format!("the depth buffer (register 0x28048) {why}");
    let extent = |width, height| {
        refused(&[
            no_stencil,
            (DB_DEPTH_SIZE, pitch(width), None),
            (DB_DEPTH_SLICE, slice(width, height), None),
        ])
    };
    assert_eq!(extent(512, 256), None);
    let large = Some(why("needs 0xa0000 bytes, its BO has 0x80000"));
    assert_eq!(extent(512, 320), large);
    let large = Some(why("needs 0x90000 bytes, its BO has 0x80000"));
    assert_eq!(extent(576, 256), large);
    let aligned = Some(why("has pitch 520, no multiple of 64"));
    assert_eq!(extent(520, 256), aligned);
    let aligned = Some(why("has height 248, no multiple of 64"));
    assert_eq!(extent(512, 248), aligned);
    let layers = why("needs 0x100000 bytes, its BO has 0x80000");
    assert_refused(&[no_stencil, (DB_DEPTH_VIEW, 1 << 13, None)], &layers);
    assert_fits(&[no_stencil, (DB_DEPTH_VIEW, 1, None)]);
    // Z_16 has half of the bytes.
    let layers = [no_stencil, (DB_DEPTH_VIEW, 1 << 13, None)];
    assert_fits(&[layers[0], layers[1], (DB_Z_INFO, Z_24 - 1, None)]);
    assert_refused(
        &[(DB_Z_INFO, 2 | 3 << 4, None), no_stencil],
        &why("has invalid array mode 3"),
    );
    assert_refused(
        &[(DB_Z_INFO, Z_24 | 7 << 8, None), no_stencil],
        &why("has invalid tile split 7"),
    );
    // Nothing is set: all is on.
    let draw = packet(op::DRAW_INDEX_AUTO, &[3, 2]);
    let why = "the stencil buffer (register 0x2804c) has invalid array mode 15";
    assert_eq!(message(draw).as_deref(), Some(why));
}

#[test]
fn stencil_buffers_are_checked() {
    for reg in [0x2_804C, 0x2_8054] {
        let why = |why| format!("the stencil buffer (register {reg:#x}) {why}");
        let large = why("needs 0x20000 bytes, its BO has 0x1000");
        assert_refused(&[(reg, 0, Some(1))], &large);
        assert_fits(&[(reg, 0x600, Some(3))]);
        let large = why("needs 0x81000 bytes, its BO has 0x80000");
        assert_refused(&[(reg, 0x610, Some(3))], &large);
        let offset = why("is at offset 0x5ff00, no multiple of 0x1000");
        assert_refused(&[(reg, 0x5FF, Some(3))], &offset);
        // Without STENCIL_ENABLE, or a format, it does not matter.
        assert_fits(&[(reg, 0, Some(1)), (DB_DEPTH_CONTROL, 2, None)]);
        assert_fits(&[(reg, 0, Some(1)), (DB_STENCIL_INFO, 3 << 8, None)]);
        let mut registers = good();
        registers.retain(|r| r.0 != reg);
        let mut ib: Vec<u32> = registers.into_iter().flat_map(set).collect();
        ib.extend(packet(op::DRAW_INDEX_AUTO, &[3, 2]));
        assert_eq!(message(ib), Some(why("has no BO")));
    }
    let no_depth = (DB_DEPTH_CONTROL, 1, None);
    let why = |why| format!("the stencil buffer (register 0x2804c) {why}");
    let layers = why("needs 0x40000 bytes, its BO has 0x20000");
    assert_refused(&[no_depth, (DB_DEPTH_VIEW, 1 << 13, None)], &layers);
    let split = why("has invalid tile split 7");
    assert_refused(&[(DB_STENCIL_INFO, 1 | 7 << 8, None)], &split);
    // With 1D tiling 104 pixels are aligned for four bytes, not for one: the kernel leaves it at that.
    let tiled_1d = |width, bo| {
        refused(&[
            no_depth,
            (DB_Z_INFO, 2 | TILED_1D << 4, None),
            (DB_DEPTH_SIZE, pitch(width), None),
            (DB_DEPTH_SLICE, slice(width, 64), None),
            (0x2_804C, 0, Some(bo)),
        ])
    };
    assert_eq!(tiled_1d(64, 1), None);
    let large = why("needs 0x1800 bytes, its BO has 0x1000");
    assert_eq!(tiled_1d(96, 1), Some(large));
    assert_eq!(tiled_1d(104, 1), None);
    // What is not aligned for four bytes either is refused.
    let height = why("has height 248, no multiple of 64");
    assert_refused(
        &[no_depth, (DB_DEPTH_SLICE, slice(512, 248), None)],
        &height,
    );
}

#[test]
fn htile_is_within_its_bo() {
    let on = (DB_Z_INFO, Z_24 | 1 << 29, None);
    assert_refused(&[on], "HTILE (register 0x28014) has no BO");
    // 512x256 pixels on four pipes: four bytes for each 8x8, rounded to 8 KiB.
    let why = |why| format!("HTILE (register 0x28014) {why}");
    assert_refused(
        &[on, (0x2_8014, 0, Some(1))],
        &why("needs 0x2000 bytes, its BO has 0x1000"),
    );
    // Each of both buffers alone has it.
    for control in [1, 2] {
        let control = (DB_DEPTH_CONTROL, control, None);
        let large = why("needs 0x2000 bytes, its BO has 0x1000");
        assert_refused(&[on, control, (0x2_8014, 0, Some(1))], &large);
    }
    // The offset is taken for bytes.
    assert_fits(&[on, (0x2_8014, 0x1_E000, Some(2))]);
    assert_refused(
        &[on, (0x2_8014, 0x1_E001, Some(2))],
        &why("needs 0x20001 bytes, its BO has 0x20000"),
    );
    // 2048x64 pixels: rounded to 256 lines, if it is linear to 32.
    let extent = [
        (DB_DEPTH_SIZE, pitch(2048), None),
        (DB_DEPTH_SLICE, slice(2048, 64), None),
    ];
    let changes = [on, extent[0], extent[1], (0x2_8014, 0, Some(1))];
    assert_refused(&changes, &why("needs 0x8000 bytes, its BO has 0x1000"));
    let linear = [&changes[..], &[(DB_HTILE_SURFACE, 4, None)]].concat();
    assert_refused(&linear, &why("needs 0x2000 bytes, its BO has 0x1000"));
    // 2 KiB are rounded to 8.
    let short = (DB_DEPTH_SLICE, slice(512, 64), None);
    let linear = [
        on,
        short,
        (0x2_8014, 0, Some(1)),
        (DB_HTILE_SURFACE, 4, None),
    ];
    assert_refused(&linear, &why("needs 0x2000 bytes, its BO has 0x1000"));
    // The kernel sets the size of tiles to 8x8.
    let mut ib = set((DB_HTILE_SURFACE, 4, None));
    relocate_gfx(&mut ib, &BOS, TURKS).unwrap();
    assert_eq!(ib[2], 7);
}
