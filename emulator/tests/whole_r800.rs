// SPDX-License-Identifier: MIT
//! Copies on Evergreen, whose macro tiles may be higher than the squares that are moved in long runs of
//! memory: the runs of their banks are moved then, and get the same bytes.

use crate::rig::r800::{op2, sampling, Code};
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

/// A copy of 64x64 pixels between surfaces of the same tiling.
#[derive(Debug, Clone, Copy)]
struct Copy {
    /// `NUM_BANKS` and `BANK_HEIGHT`: log2, of banks minus one.
    banks: u32,
    height: u32,
    /// Row of the texture that gets to row 0.
    row: u32,
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
    let corners = [corner(-1.0, -1.0), corner(-1.0, 1.0), corner(1.0, -1.0)];
    s.draw_vertices(RECTANGLES, &corners);
    s.finish();
    let counters = s.rig.chip.counters();
    let counts = [Counter::WholeTiles, Counter::WholeBlocks].map(|counter| counters.get(counter));
    (s.rig.bytes(COLOUR, BYTES), counts)
}

#[test]
fn squares_of_higher_macro_tiles_are_copied_in_the_runs_of_banks() {
    let cases = [
        // 8 banks: 64x64 pixels a macro tile; 16 banks: 64x128; banks of two micro tiles as well.
        ((2, 0, 0), 1),
        ((3, 0, 0), 1),
        ((2, 1, 0), 1),
        // Pipes repeat after as many micro tiles.
        ((3, 0, 64), 1),
        ((3, 0, 8), 0),
        ((2, 1, 16), 0),
        ((2, 1, 8), 0),
    ];
    for ((banks, height, row), blocks) in cases {
        let copy = Copy { banks, height, row };
        let (bytes, counts) = copied(copy, false);
        let (expected, by_shader) = copied(copy, true);
        assert!(bytes == expected, "{copy:?}");
        assert_eq!((counts, by_shader), ([64, blocks], [0; 2]), "{copy:?}");
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
        assert_eq!(kept.count(), (WIDTH * (ROWS - HEIGHT)) as usize, "{copy:?}");
        if row == 0 {
            let taken = bytes
                .chunks(4)
                .zip(texels.chunks(4))
                .filter(|(a, b)| a == b);
            assert_eq!(taken.count(), (WIDTH * HEIGHT) as usize, "{copy:?}");
        }
    }
}
