// SPDX-License-Identifier: MIT
//! Copies on Evergreen, whose macro tiles may be higher than the squares that are moved in long runs of
//! memory: the runs of their banks are moved then, and get the same bytes.

use crate::rig::r800::{op2, sampling, Code, Operand};
use crate::rig::scene::*;
use crate::rig::{config, Rig};
use r7xx_board::chip::counters::Counter;
use r7xx_board::chip::gfx::shader::Isa;
use r7xx_board::chip::gfx::Pipeline;
use r7xx_board::chip::regs::evergreen::gfx as eg;
use r7xx_board::chip::{ChipConfig, Family};

const TEXTURE: u64 = 0x68_0000;
/// Rows of memory; a macro tile of 16 banks has all, one of 8 banks a half.
const ROWS: u32 = 128;
const BYTES: usize = (WIDTH * ROWS * 4) as usize;
/// `ARRAY_2D_TILED_THIN1`
const TWO_D: u32 = 4;
const OR_INT: u32 = 0x31;
const INTERP_LOAD_P0: u32 = 0xE0;
/// A mask for fast clears, of two squares and room for two; `FAST_CLEAR` of `CB_COLOR0_INFO`.
const CMASK: u64 = 0x78_0000;
const MASK_BYTES: usize = 128;
const FAST_CLEAR: u32 = 1 << 17;

/// The mask's dwords: half of the first square's tiles, and all of the second one's, stand for the colour.
fn mask() -> [u32; MASK_BYTES / 4] {
    let mut mask = [0; MASK_BYTES / 4];
    mask[..8].fill(0xFF00_00FF);
    mask
}

fn clear_fast(s: &mut Scene, colour: u32) {
    s.rig.ib(CMASK, &mask());
    s.set(eg::CB_COLOR0_INFO, 0x1A << 2 | TWO_D << 8 | FAST_CLEAR);
    s.set(eg::CB_COLOR0_CMASK, (CMASK >> 8) as u32);
    s.set(eg::CB_COLOR0_CLEAR_WORD0, colour);
}

/// Asserts that no tile of the first `rows` rows of pixels stands for the clear colour any more, and the others
/// do as before.
fn assert_are_stored(s: &Scene, rows: u32) {
    let mut expected = mask().map(u32::to_le_bytes).concat();
    expected[..(rows / 8 * 4) as usize].fill(0xFF);
    assert_eq!(s.rig.bytes(CMASK, MASK_BYTES), expected);
}

/// A copy of 64 pixels a row between surfaces of the same tiling.
#[derive(Debug, Clone, Copy)]
struct Copy {
    /// `NUM_BANKS` and `BANK_HEIGHT`: log2, of banks minus one.
    banks: u32,
    height: u32,
    /// Row of the texture that gets to row 0; number of rows.
    row: u32,
    rows: u32,
    /// The target has been cleared fast.
    cleared: bool,
}

/// Makes the copy, by a shader that has more to do if `detour`. Returns the target's bytes, and the tiles
/// and blocks that were drawn as a whole.
fn copied(copy: Copy, detour: bool) -> (Vec<u8>, [u64; 2]) {
    let (banks, height) = (copy.banks, copy.height);
    let config = ChipConfig {
        family: Family::Turks,
        ..config(None)
    };
    let mut s = Scene::r800(Rig::with_gfx(config, Box::new(Pipeline::new(2))), Isa::R800);
    s.rig.ib(COLOUR, &noise(BYTES / 4, 1));
    s.rig.ib(TEXTURE, &noise(BYTES / 4, 2));
    s.set(eg::CB_COLOR0_INFO, 0x1A << 2 | TWO_D << 8);
    // The tile split is 1024 bytes.
    s.set(eg::CB_COLOR0_ATTRIB, 4 << 5 | banks << 10 | height << 16);
    s.set(eg::CB_COLOR0_SLICE, WIDTH * ROWS / 64 - 1);
    if copy.cleared {
        clear_fast(&mut s, 0x1234_5678);
    }
    let texture = [
        1 | (WIDTH / 8 - 1) << 6 | (WIDTH - 1) << 18,
        (ROWS - 1) | TWO_D << 28,
        (TEXTURE >> 8) as u32,
        (TEXTURE >> 8) as u32,
        1 << 19 | 2 << 22 | 3 << 25,
        0,
        4 << 29,
        0x1A | height << 10 | banks << 16 | 2 << 30,
    ];
    for (register, word) in (0x3_0000..).step_by(4).zip(texture) {
        s.set(register, word);
    }
    (0..3).for_each(|n| s.set(0x3_C000 + 4 * n, 0));
    let mut code = sampling(Isa::R800, 0x10);
    if detour {
        // R2.x |= R2.x
        let same = op2(OR_INT, Some(2), 0, (2, 0), (2, 0), true);
        code = (Code::new(Isa::R800).interpolated())
            .sample(0x10, 0)
            .alu(8, &[same])
            .export(0, 0, 2);
    }
    let start = s.shader_words(&code.words());
    s.set(eg::SQ_PGM_START_PS, start);
    let texel = |y: f32| (copy.row as f32 + (y + 1.0) / 2.0 * HEIGHT as f32) / ROWS as f32;
    let corner = |x: f32, y: f32| ([x, y, 0.5, 1.0], [(x + 1.0) / 2.0, texel(y), 0.0, 0.0]);
    let low = 2.0 * copy.rows as f32 / HEIGHT as f32 - 1.0;
    let corners = [corner(-1.0, -1.0), corner(-1.0, low), corner(1.0, -1.0)];
    s.draw_vertices(RECTANGLES, &corners);
    s.finish();
    if copy.cleared {
        assert_are_stored(&s, copy.rows);
    }
    let counters = s.rig.chip.counters();
    let counts = [Counter::WholeTiles, Counter::WholeBlocks].map(|counter| counters.get(counter));
    (s.rig.bytes(COLOUR, BYTES), counts)
}

#[test]
fn squares_of_higher_macro_tiles_are_copied_in_the_runs_of_banks() {
    let cases = [
        // 8 banks: 64x64 pixels a macro tile; 16 banks: 64x128; banks of two micro tiles as well.
        ((2, 0, 0, 64), 1),
        ((3, 0, 0, 64), 1),
        ((2, 1, 0, 64), 1),
        // Pipes repeat after as many micro tiles.
        ((3, 0, 64, 64), 1),
        ((3, 0, 8, 64), 0),
        ((2, 1, 16, 64), 0),
        ((2, 1, 8, 64), 0),
        // No square.
        ((2, 0, 0, 24), 0),
    ];
    let cases = cases.map(|case| [(case, false), (case, true)]);
    for (((banks, height, row, rows), blocks), cleared) in cases.into_iter().flatten() {
        let copy = Copy {
            banks,
            height,
            row,
            rows,
            cleared,
        };
        let (bytes, counts) = copied(copy, false);
        let (expected, by_shader) = copied(copy, true);
        assert!(bytes == expected, "{copy:?}");
        let tiles = u64::from(rows);
        assert_eq!((counts, by_shader), ([tiles, blocks], [0; 2]), "{copy:?}");
        let of = |seed| {
            noise(BYTES / 4, seed)
                .into_iter()
                .flat_map(u32::to_le_bytes)
        };
        let (before, texels): (Vec<u8>, Vec<u8>) = (of(1).collect(), of(2).collect());
        let kept = bytes
            .chunks(4)
            .zip(before.chunks(4))
            .filter(|(a, b)| a == b);
        assert_eq!(kept.count(), (WIDTH * (ROWS - rows)) as usize, "{copy:?}");
        if row == 0 {
            let taken = bytes
                .chunks(4)
                .zip(texels.chunks(4))
                .filter(|(a, b)| a == b);
            assert_eq!(taken.count(), (WIDTH * rows) as usize, "{copy:?}");
        }
    }
}

#[test]
fn squares_of_targets_that_were_cleared_fast_are_filled_as_a_whole() {
    for banks in [2, 3] {
        let config = ChipConfig {
            family: Family::Turks,
            ..config(None)
        };
        let mut s = Scene::r800(Rig::with_gfx(config, Box::new(Pipeline::new(2))), Isa::R800);
        s.rig.ib(COLOUR, &noise(BYTES / 4, 1));
        s.set(eg::CB_COLOR0_ATTRIB, 4 << 5 | banks << 10);
        s.set(eg::CB_COLOR0_SLICE, WIDTH * ROWS / 64 - 1);
        clear_fast(&mut s, 0x1234_5678);
        let code = of_slots(|chan| {
            let one = (if RED[chan as usize] == 1.0 { 249 } else { 248 }, 0);
            (OR_INT, one, one)
        });
        let start = s.shader_words(&code.words());
        s.set(eg::SQ_PGM_START_PS, start);
        s.rectangle([0.0, 0.0, 64.0, 64.0], 0.5, BLUE);
        s.finish();
        assert_are_stored(&s, HEIGHT);
        let counters = s.rig.chip.counters();
        let counts = [Counter::WholeTiles, Counter::WholeBlocks].map(|c| counters.get(c));
        assert_eq!(counts, [64, 1], "{banks}");
        let red = u32::from_le_bytes(bytes(RED)).to_le_bytes();
        let drawn = s.rig.bytes(COLOUR, BYTES);
        let count = drawn.chunks(4).filter(|pixel| **pixel == red).count();
        assert_eq!(count, (WIDTH * HEIGHT) as usize, "{banks}");
    }
}

/// A pixel shader that exports R1, each channel of which `slot` makes: operation and operands.
fn of_slots(slot: impl Fn(u32) -> (u32, Operand, Operand)) -> Code {
    let slots: Vec<_> = (0..4)
        .map(|chan| {
            let (code, a, b) = slot(chan);
            op2(code, Some(1), chan, a, b, chan == 3)
        })
        .collect();
    Code::new(Isa::R800).alu(8, &slots).export(0, 0, 1)
}

#[test]
fn polygons_in_a_colour_each_are_drawn_as_a_whole() {
    let config = ChipConfig {
        family: Family::Turks,
        ..config(None)
    };
    let mut s = Scene::r800(Rig::with_gfx(config, Box::new(Pipeline::new(2))), Isa::R800);
    let code = of_slots(|chan| (INTERP_LOAD_P0, (448, chan), (248, 0)));
    let start = s.shader_words(&code.words());
    s.set(eg::SQ_PGM_START_PS, start);
    let vertex = |x: f32, y: f32, colour| ([x, y, 0.5, 1.0], colour);
    // All of it, then the left half.
    let of = |right: f32, colour| {
        [(-1.0, -1.0), (-1.0, 1.0), (right, -1.0)].map(|(x, y)| vertex(x, y, colour))
    };
    s.draw_vertices(RECTANGLES, &[of(1.0, RED), of(0.0, BLUE)].concat());
    let pixels = s.pixels();
    for (n, pixel) in pixels.iter().enumerate() {
        let left = n as u32 % WIDTH < WIDTH / 2;
        assert_eq!(*pixel, bytes(if left { BLUE } else { RED }), "{n}");
    }
    let counters = s.rig.chip.counters();
    assert_eq!(counters.get(Counter::WholeTiles), 64 + 32);
}
