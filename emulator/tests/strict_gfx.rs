// SPDX-License-Identifier: MIT
//! The strict board's caches of the 3D engine: draws without the flush that the
//! driver has to send, and with it.

use crate::rig::scene::*;
use crate::rig::shader::*;
use crate::rig::{strict_config, Rig, DATA};
use r7xx_board::chip::counters::Counter;
use r7xx_board::chip::cp::pm4::{MemWriteData, Packet, Place};
use r7xx_board::chip::gfx::Pipeline;
use r7xx_board::chip::{ChipConfig, Family};

const TEXTURE: u64 = 0x68_0000;
const TC: u32 = 1 << 23;
const VC: u32 = 1 << 24;
const CB: u32 = 1 << 25;
const DB: u32 = 1 << 26;
const SH: u32 = 1 << 27;
const CACHE_FLUSH_AND_INV: u8 = 0x16;

const RED: u32 = 0xFF00_00FF;
const GREEN: u32 = 0xFF00_FF00;

/// A scene whose pixels are texel (4, 4) of an 8x8 texture, which is all red.
fn textured(family: Family) -> Scene {
    let config = ChipConfig {
        family,
        ..strict_config()
    };
    let mut s = Scene::new(Rig::with_gfx(config, Box::new(Pipeline::new(1))));
    s.rig.ib(TEXTURE, &[RED; 64 * 8]);
    let words = [
        // 2D, linear aligned, 64 texels from row to row, 8 wide.
        1 | 1 << 3 | 7 << 8 | 7 << 19,
        7 | 0x1A << 26,
        (TEXTURE >> 8) as u32,
        0,
        1 << 19 | 2 << 22 | 3 << 25,
        0,
        2 << 30,
    ];
    s.texture(words, [0; 3]);
    let mut ps = Shader::new();
    ps.sample(1, 0, 0).export(PIXEL, 0, 1, XYZW, true);
    let start = s.shader(&ps);
    s.set(0x2_8840, start);
    s
}

fn write(s: &mut Scene, addr: u64, value: u32) {
    let data = MemWriteData::U32(value);
    s.rig.cp_fill(&Packet::MemWrite { addr, data }.encode());
}

fn sync(s: &mut Scene, coher_cntl: u32) {
    s.rig.cp_fill(
        &Packet::SurfaceSync {
            coher_cntl,
            size: u32::MAX,
            base: 0,
        }
        .encode(),
    );
}

/// Lets the CP copy the first pixel to result `n`.
fn copy_pixel(s: &mut Scene, n: u64) {
    s.rig.cp_fill(
        &Packet::CopyDw {
            src: Place::Mem(COLOUR),
            dst: Place::Mem(DATA + 4 * n),
        }
        .encode(),
    );
}

/// Draws, changes memory by `change`, sends SURFACE_SYNC with `coher_cntl` unless
/// it is 0, and draws again. Returns the first pixel of both draws.
fn twice(s: &mut Scene, coher_cntl: u32, change: impl FnOnce(&mut Scene)) -> [u32; 2] {
    s.rectangle([0.0, 0.0, 8.0, 8.0], 0.5, [0.5625, 0.5625, 0.0, 1.0]);
    s.event(CACHE_FLUSH_AND_INV, 0, None);
    copy_pixel(s, 0);
    change(s);
    if coher_cntl != 0 {
        sync(s, coher_cntl);
    }
    s.draw(RECTANGLES, 3);
    s.event(CACHE_FLUSH_AND_INV, 0, None);
    copy_pixel(s, 1);
    s.finish();
    [s.rig.mem(DATA), s.rig.mem(DATA + 4)]
}

/// Result of [`twice`], whether the caches returned stale data, and the number of
/// caches invalidated.
fn seen(s: &mut Scene, coher_cntl: u32, change: impl FnOnce(&mut Scene)) -> ([u32; 2], bool, u64) {
    let pixels = twice(s, coher_cntl, change);
    let counters = s.rig.chip.counters();
    (
        pixels,
        counters.get(Counter::GfxStaleReads) > 0,
        counters.get(Counter::GfxCacheInvalidates),
    )
}

#[test]
fn texels_are_old_without_surface_sync_and_new_with_it() {
    let change = |s: &mut Scene| write(s, TEXTURE + (4 * 64 + 4) * 4, GREEN);
    for (coher_cntl, expected) in [
        (0, ([RED, RED], true, 0)),
        (SH | CB | DB, ([RED, RED], true, 1)),
        (TC, ([RED, GREEN], false, 1)),
    ] {
        let found = seen(&mut textured(Family::Rv770), coher_cntl, change);
        assert_eq!(found, expected, "{coher_cntl:#x}");
    }
}

#[test]
fn vertices_are_in_the_cache_that_the_chip_has_for_them() {
    // Other texture coordinates for all three vertices: texel (0, 0).
    let change = |s: &mut Scene| {
        for vertex in 0..3 {
            write(s, VERTICES + 32 * vertex + 16, 0);
            write(s, VERTICES + 32 * vertex + 20, 0);
        }
    };
    for (family, coher_cntl, expected) in [
        (Family::Rv770, 0, ([RED, RED], true, 0)),
        (Family::Rv770, TC, ([RED, RED], true, 1)),
        (Family::Rv770, VC, ([RED, GREEN], false, 1)),
        (Family::Rv710, VC, ([RED, RED], true, 0)),
        (Family::Rv710, TC, ([RED, GREEN], false, 1)),
    ] {
        let mut s = textured(family);
        s.rig.ib(TEXTURE, &[GREEN]);
        let found = seen(&mut s, coher_cntl, change);
        assert_eq!(found, expected, "{family:?} {coher_cntl:#x}");
    }
}

#[test]
fn shaders_are_old_without_their_action() {
    // Replaces the pixel shader by one that exports 1.0 for green and alpha, else 0.0.
    let change = |s: &mut Scene| {
        let mut ps = Shader::new();
        ps.sample(1, 0, 0).export(PIXEL, 0, 1, [4, 5, 4, 5], true);
        let program = u64::from(s.shader(&ps)) << 8;
        let size = ps.words().len() as u64 * 4;
        let before = program - size.div_ceil(256) * 256;
        for (i, word) in ps.words().into_iter().enumerate() {
            write(s, before + 4 * i as u64, word);
        }
    };
    for (coher_cntl, expected) in [
        (0, ([RED, RED], true, 0)),
        (TC | VC, ([RED, RED], true, 2)),
        (SH, ([RED, GREEN], false, 1)),
    ] {
        let found = seen(&mut textured(Family::Rv770), coher_cntl, change);
        assert_eq!(found, expected, "{coher_cntl:#x}");
    }
}

#[test]
fn constants_are_old_without_the_shaders_action() {
    const CONSTANTS: u64 = TEXTURE + 0x1_0000;
    let [zero, one] = [0.0, 1.0].map(f);
    // Swaps the constants of red and green.
    let change = |s: &mut Scene| {
        write(s, CONSTANTS, zero);
        write(s, CONSTANTS + 4, one);
    };
    for (coher_cntl, expected) in [
        (0, ([RED, RED], true, 0)),
        (TC | VC, ([RED, RED], true, 2)),
        (SH, ([RED, GREEN], false, 1)),
    ] {
        let mut s = textured(Family::Rv770);
        s.rig.ib(CONSTANTS, &[one, zero, zero, one]);
        // SQ_ALU_CONST_BUFFER_SIZE_PS_2 and SQ_ALU_CONST_CACHE_PS_2.
        s.set(0x2_8148, 1);
        s.set(0x2_8948, (CONSTANTS >> 8) as u32);
        let code = [0, 1, 2, 3].map(|chan| mov(1, chan, Src(KCACHE0, chan), chan == 3));
        let mut ps = Shader::new();
        ps.alu(0x08, &code, &[]).lock(2);
        ps.export(PIXEL, 0, 1, XYZW, true);
        let start = s.shader(&ps);
        s.set(0x2_8840, start);
        let found = seen(&mut s, coher_cntl, change);
        assert_eq!(found, expected, "{coher_cntl:#x}");
    }
}

#[test]
fn depth_reaches_memory_with_a_flush_only() {
    const DEPTH_32_FLOAT: u32 = 6;
    let drawn = |flush: fn(&mut Scene)| {
        let mut s = textured(Family::Rv770);
        depth_buffer(&mut s, DEPTH_32_FLOAT, Z_ENABLE | Z_WRITE | ALWAYS);
        s.rectangle([0.0, 0.0, 8.0, 8.0], 0.5, [0.0; 4]);
        flush(&mut s);
        let copy = Packet::CopyDw {
            src: Place::Mem(DEPTH),
            dst: Place::Mem(DATA),
        };
        s.rig.cp_fill(&copy.encode());
        s.finish();
        [s.rig.mem(DATA), s.rig.mem(DEPTH)]
    };
    let half = f(0.5);
    // The fence's event writes depth back.
    assert_eq!(drawn(|_| ()), [0, half]);
    assert_eq!(drawn(|s| sync(s, CB | TC)), [0, half]);
    assert_eq!(drawn(|s| sync(s, DB)), [half, half]);
    assert_eq!(
        drawn(|s| s.event(CACHE_FLUSH_AND_INV, 0, None)),
        [half, half]
    );
}

/// A depth test compares with the depth cache, even if the CP has written to memory since; after a
/// flush it compares with memory.
#[test]
fn depth_tests_see_memory_after_a_flush_only() {
    const DEPTH_32_FLOAT: u32 = 6;
    for (coher_cntl, expected) in [(0, RED), (CB, RED), (DB, 0)] {
        let mut s = textured(Family::Rv770);
        depth_buffer(&mut s, DEPTH_32_FLOAT, Z_ENABLE | Z_WRITE | ALWAYS);
        s.rectangle([0.0, 0.0, 8.0, 8.0], 0.5, [0.0; 4]);
        // Draw to another target, nearer than 0.5: only a depth of 0.0 in memory hides the pixel.
        s.set(0x2_8040, ((TEXTURE + 0x2_0000) >> 8) as u32);
        sync(&mut s, if coher_cntl == DB { DB } else { TC });
        write(&mut s, DEPTH, 0);
        if coher_cntl != 0 {
            sync(&mut s, coher_cntl);
        }
        depth_buffer(&mut s, DEPTH_32_FLOAT, Z_ENABLE | LESS);
        s.rectangle([0.0, 0.0, 8.0, 8.0], 0.25, [0.0; 4]);
        s.finish();
        assert_eq!(s.rig.mem(TEXTURE + 0x2_0000), expected, "{coher_cntl:#x}");
    }
}

#[test]
fn colours_reach_memory_with_a_flush_only() {
    let drawn = |flush: fn(&mut Scene)| {
        let mut s = textured(Family::Rv770);
        s.rectangle([0.0, 0.0, 8.0, 8.0], 0.5, [0.0; 4]);
        flush(&mut s);
        copy_pixel(&mut s, 0);
        s.finish();
        let flushes = s.rig.chip.counters().get(Counter::GfxCacheFlushes);
        let at_last = s.rig.mem(COLOUR);
        (s.rig.mem(DATA), flushes, at_last)
    };
    // The fence's event writes colour and depth back.
    assert_eq!(drawn(|_| ()), (0, 2, RED));
    assert_eq!(drawn(|s| sync(s, DB | TC)), (0, 3, RED));
    assert_eq!(drawn(|s| sync(s, CB)), (RED, 3, RED));
    assert_eq!(
        drawn(|s| s.event(CACHE_FLUSH_AND_INV, 0, None)),
        (RED, 4, RED)
    );
}

#[test]
fn sampling_what_was_drawn_needs_a_flush() {
    // The texture is the target of the first draw.
    let drawn = |flush: bool| {
        let mut s = textured(Family::Rv770);
        s.rectangle([0.0, 0.0, 8.0, 8.0], 0.5, [0.0; 4]);
        if flush {
            s.event(CACHE_FLUSH_AND_INV, 0, None);
            sync(&mut s, TC);
        }
        s.set(0x3_8008, (COLOUR >> 8) as u32);
        s.set(0x2_8040, (DEPTH >> 8) as u32);
        s.draw(RECTANGLES, 3);
        s.finish();
        let unseen = s.rig.chip.counters().get(Counter::GfxUnseenWrites);
        (s.rig.mem(DEPTH), unseen > 0)
    };
    assert_eq!(drawn(false), (0, true));
    assert_eq!(drawn(true), (RED, false));
}

#[test]
fn more_than_the_cache_holds_is_written_early() {
    let mut s = textured(Family::Rv770);
    // A target of 1024x512 pixels in a cache of 256 KiB.
    let size = 1024 | 512 << 16;
    for register in [0x2_8034, 0x2_8208, 0x2_8244] {
        s.set(register, size);
    }
    s.set(0x2_8040, (0x10_0000u32) >> 8);
    s.set(0x2_8060, (1024 / 8 - 1) | (1024 * 512 / 64 - 1) << 10);
    for (register, value) in [
        (0x2_843C, 512.0),
        (0x2_8440, 512.0),
        (0x2_8444, 256.0),
        (0x2_8448, 256.0),
    ] {
        s.set(register, f(value));
    }
    s.rectangle([0.0, 0.0, 64.0, 64.0], 0.5, [0.0; 4]);
    copy_pixel(&mut s, 0);
    s.finish();
    assert_eq!(s.rig.mem(DATA), RED);
    let bytes = s.rig.bytes(COLOUR, 1024 * 512 * 4);
    let red = bytes
        .chunks_exact(4)
        .filter(|p| *p == RED.to_le_bytes())
        .count();
    assert_eq!(red, 1024 * 512);
}
