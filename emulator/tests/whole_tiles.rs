// SPDX-License-Identifier: MIT
//! Tiles drawn as a whole (fast path) get the same bytes as tiles drawn pixel by pixel.

// Register values are written field by field.
#![allow(clippy::precedence, clippy::identity_op, clippy::erasing_op)]

use crate::rig::scene::*;
use crate::rig::shader::*;
use r7xx_board::chip::counters::Counter;

const TEXTURE: u64 = 0x68_0000;
const TARGET_BYTES: usize = (WIDTH * HEIGHT * 4) as usize;
/// Component swaps of a target: RGBA, BGRA.
const SWAPS: [u32; 2] = [0, 1];
const RGBA: [u32; 4] = [0, 1, 2, 3];

/// A scene whose 1D-tiled target is filled with noise.
fn noisy(swap: u32) -> Scene {
    let mut s = scene();
    s.rig.ib(COLOUR, &noise(TARGET_BYTES / 4, 7));
    s.set(0x2_80A0, 0x1A << 2 | 2 << 8 | swap << 16);
    s
}

fn whole_tiles(s: &Scene) -> u64 {
    s.rig.chip.counters().get(Counter::WholeTiles)
}

/// A blit to the rectangle `to`.
#[derive(Debug, Clone, Copy)]
struct Blit {
    to: [f32; 4],
    /// Offset from a pixel to its texel.
    distance: [f32; 2],
    /// Texels per pixel.
    scale: f32,
    swizzle: [u32; 4],
    swap: u32,
    /// Coordinates are in 0..1, for `SAMPLE`; else integers.
    sampled: bool,
    /// Level of the texture at each vertex, for `LD`.
    levels: [f32; 3],
    /// Word 0 of the sampler.
    sampler: u32,
    /// Side of the texture.
    side: u32,
    blend: bool,
}

const PLAIN: Blit = Blit {
    to: [0.0, 0.0, 64.0, 64.0],
    distance: [0.0; 2],
    scale: 1.0,
    swizzle: RGBA,
    swap: 0,
    sampled: false,
    levels: [0.0; 3],
    sampler: 0,
    side: 128,
    blend: false,
};

impl Blit {
    /// The target's bytes, and the number of tiles drawn as a whole. With `detour` the shader has
    /// one more instruction, which rules the fast path out.
    fn draw(&self, detour: bool) -> (Vec<u8>, u64) {
        let mut s = noisy(self.swap);
        s.rig.ib(TEXTURE, &noise(128 * 128, 7));
        let select = |i: usize| self.swizzle[i] << (16 + 3 * i);
        let words = [
            // 2D, linear aligned, 128 texels from row to row.
            1 | 1 << 3 | 15 << 8 | (self.side - 1) << 19,
            (self.side - 1) | 0x1A << 26,
            (TEXTURE >> 8) as u32,
            0,
            select(0) | select(1) | select(2) | select(3),
            0,
            2 << 30,
        ];
        s.texture(words, [self.sampler, 0, 0]);
        if self.blend {
            // SRC_ALPHA, ONE_MINUS_SRC_ALPHA.
            s.set(0x2_8804, 4 | 5 << 8);
            s.set(0x2_8808, 0xCC << 16 | 1 << 8);
        }
        let mut ps = Shader::new();
        if self.sampled {
            ps.sample(1, 0, 0);
        } else {
            ps.load_at_input(1, 2, 0);
        }
        if detour {
            ps.alu(0x08, &[mov(1, 0, gpr(1, 0), true)], &[]);
        }
        ps.export(PIXEL, 0, 1, XYZW, true);
        let start = s.shader(&ps);
        s.set(0x2_8840, start);
        let [x0, y0, x1, y1] = self.to;
        let unit = if self.sampled { self.side as f32 } else { 1.0 };
        let vertex = |x: f32, y: f32, level: f32| {
            let [u, v] = [
                x * self.scale + self.distance[0],
                y * self.scale + self.distance[1],
            ];
            let at = [x / 32.0 - 1.0, y / 32.0 - 1.0, 0.0, 1.0];
            (at, [u / unit, v / unit, 0.0, level])
        };
        s.draw_vertices(
            RECTANGLES,
            &[
                vertex(x0, y0, self.levels[0]),
                vertex(x0, y1, self.levels[1]),
                vertex(x1, y0, self.levels[2]),
            ],
        );
        s.finish();
        (s.rig.bytes(COLOUR, TARGET_BYTES), whole_tiles(&s))
    }

    /// Draws on both paths and compares; returns the number of tiles drawn as a whole.
    fn check(&self) -> u64 {
        let (general, none) = self.draw(true);
        assert_eq!(none, 0, "{self:?}");
        let (bytes, whole) = self.draw(false);
        assert!(bytes == general, "{self:?}");
        whole
    }
}

#[test]
fn blits_move_bytes() {
    let distances = [[0.0; 2], [8.0, 16.0], [3.0, 0.0], [0.0, 5.0], [61.0, 13.0]];
    for distance in distances {
        for sampled in [false, true] {
            let blit = Blit {
                distance,
                sampled,
                ..PLAIN
            };
            assert_eq!(blit.check(), 64, "{blit:?}");
        }
    }
    for swizzle in [
        [2, 1, 0, 3],
        [0, 1, 2, 5],
        [3, 3, 4, 5],
        [5; 4],
        [1, 2, 3, 0],
    ] {
        for swap in SWAPS {
            let blit = Blit {
                swizzle,
                swap,
                ..PLAIN
            };
            assert_eq!(blit.check(), 64, "{blit:?}");
        }
    }
    // Only the 6 by 7 tiles that are all inside are drawn as a whole.
    let blit = Blit {
        to: [5.0, 3.0, 61.0, 64.0],
        distance: [-5.0, -3.0],
        ..PLAIN
    };
    assert_eq!(blit.check(), 42);
}

#[test]
fn other_blits_go_pixel_by_pixel() {
    for blit in [
        Blit {
            scale: 0.5,
            ..PLAIN
        },
        Blit {
            scale: 0.99,
            ..PLAIN
        },
        // Between texels.
        Blit {
            distance: [0.5, 0.0],
            ..PLAIN
        },
        Blit {
            distance: [0.0, 0.36],
            ..PLAIN
        },
        // Beyond the texture.
        Blit {
            distance: [1.0, 0.0],
            side: 64,
            ..PLAIN
        },
        Blit {
            distance: [0.0, -1.0],
            ..PLAIN
        },
        Blit {
            distance: [1.0, 1.0],
            side: 64,
            sampled: true,
            ..PLAIN
        },
        // A different level for each pixel, or a level that does not exist.
        Blit {
            levels: [0.0, 0.25, 0.75],
            ..PLAIN
        },
        Blit {
            levels: [-1.0; 3],
            ..PLAIN
        },
        // Bilinear.
        Blit {
            sampled: true,
            sampler: 1 << 9 | 1 << 12,
            ..PLAIN
        },
        Blit {
            blend: true,
            ..PLAIN
        },
    ] {
        assert_eq!(blit.check(), 0, "{blit:?}");
    }
}

/// A clear by a rectangle: all its state but the depth function.
#[derive(Debug, Clone, Copy)]
struct Clear {
    to: [f32; 4],
    format: u32,
    /// Stencil fields of `DB_DEPTH_CONTROL`.
    stencil: u32,
    /// Value of `DB_STENCILREFMASK`.
    masks: u32,
    colour: bool,
    /// `DEPTH_CLEAR_ENABLE`, with this depth.
    fast: Option<f32>,
    /// `STENCIL_CLEAR_ENABLE`, with this stencil.
    fast_stencil: Option<u32>,
}

const STENCIL_ALWAYS: u32 = 1 | 7 << 8;
const REPLACE: u32 = 2 << 14;
const ZERO_OP: u32 = 1 << 14;

const CLEAR: Clear = Clear {
    to: [0.0, 0.0, 64.0, 64.0],
    format: 3,
    stencil: STENCIL_ALWAYS | REPLACE,
    masks: 0x5A | 0xFF << 8 | 0xFF << 16,
    colour: true,
    fast: None,
    fast_stencil: None,
};

impl Clear {
    /// The bytes of target and depth buffer, and the number of tiles drawn as a whole. To rule the
    /// fast path out, `detour` sets another depth function that passes everything; for fast clears,
    /// which have only one depth function, it makes the colours interpolated.
    fn draw(&self, detour: bool) -> (Vec<u8>, Vec<u8>, u64) {
        const GREATER_OR_EQUAL: u32 = 6;
        const ALWAYS: u32 = 7;
        let fast = self.fast.is_some();
        // The rectangle's depth is 1, so both functions always pass.
        let function = if detour && !fast {
            GREATER_OR_EQUAL
        } else {
            ALWAYS
        };
        let mut s = noisy(0);
        let mut depth = noise(TARGET_BYTES / 2, 7);
        if self.format >= 6 {
            // Floats of 0 to 1.
            depth.iter_mut().for_each(|word| *word &= 0x3F7F_FFFF);
        }
        s.rig.ib(DEPTH, &depth);
        s.set(0x2_8000, (WIDTH / 8 - 1) | (WIDTH * HEIGHT / 64 - 1) << 10);
        s.set(0x2_8004, 0);
        s.set(0x2_800C, (DEPTH >> 8) as u32);
        s.set(0x2_8010, self.format | 2 << 15);
        s.set(0x2_8800, 1 << 1 | 1 << 2 | function << 4 | self.stencil);
        s.set(0x2_8430, self.masks);
        s.set(0x2_8238, if self.colour { 0xF } else { 0 });
        if let Some(depth) = self.fast {
            s.set(0x2_8D0C, 1 | u32::from(self.fast_stencil.is_some()) << 1);
            s.set(0x2_8028, self.fast_stencil.unwrap_or(0));
            s.set(0x2_802C, f(depth));
        }
        // Flat: the shader gives all pixels the same colour.
        let flat = !(detour && fast);
        s.set(0x2_8644, 1 | u32::from(flat) << 10);
        s.rectangle(self.to, 1.0, [0.2, 0.4, 0.6, 0.8]);
        s.finish();
        (
            s.rig.bytes(COLOUR, TARGET_BYTES),
            s.rig.bytes(DEPTH, 2 * TARGET_BYTES),
            whole_tiles(&s),
        )
    }

    /// Draws on both paths and compares; returns the number of tiles drawn as a whole.
    fn check(&self) -> u64 {
        let (colour, depth, none) = self.draw(true);
        assert_eq!(none, 0, "{self:?}");
        let (new_colour, new_depth, whole) = self.draw(false);
        assert!(colour == new_colour, "{self:?}");
        assert!(depth == new_depth, "{self:?}");
        whole
    }
}

#[test]
fn clears_of_depth_replace_elements() {
    assert_eq!(CLEAR.check(), 64);
    let zero = STENCIL_ALWAYS | ZERO_OP;
    assert_eq!(
        Clear {
            stencil: zero,
            ..CLEAR
        }
        .check(),
        64
    );
    for depth in [0.75, -0.0, f32::NAN] {
        let fast = Some(depth);
        assert_eq!(Clear { fast, ..CLEAR }.check(), 64);
        assert_eq!(
            Clear {
                fast,
                format: 6,
                stencil: 0,
                ..CLEAR
            }
            .check(),
            64
        );
    }
    assert_eq!(
        Clear {
            colour: false,
            ..CLEAR
        }
        .check(),
        64
    );
    let to = [5.0, 3.0, 61.0, 64.0];
    assert_eq!(
        Clear {
            to,
            colour: false,
            ..CLEAR
        }
        .check(),
        42
    );
    let depth_only = Clear {
        stencil: 0,
        colour: false,
        ..CLEAR
    };
    for (format, whole) in [(1, 0), (2, 0), (3, 0), (6, 64), (7, 0)] {
        assert_eq!(
            Clear {
                format,
                ..depth_only
            }
            .check(),
            whole,
            "{format}"
        );
    }
}

#[test]
fn clears_that_keep_something_read_it() {
    for clear in [
        Clear {
            masks: 0x5A | 0xFF << 8 | 0x7F << 16,
            ..CLEAR
        },
        // Equal, increment, keep.
        Clear {
            stencil: 1 | 2 << 8 | REPLACE,
            ..CLEAR
        },
        Clear {
            stencil: STENCIL_ALWAYS | 3 << 14,
            ..CLEAR
        },
        Clear {
            stencil: STENCIL_ALWAYS,
            ..CLEAR
        },
        // The stencil value is in DB_STENCIL_CLEAR.
        Clear {
            fast: Some(0.75),
            fast_stencil: Some(0x77),
            ..CLEAR
        },
    ] {
        assert_eq!(clear.check(), 0, "{clear:?}");
    }
}

/// What a draw over the whole target leaves: its bytes, the tiles drawn as a whole, and how often the
/// shader ran. The shader is said to write memory, so it runs even if all its colours are killed.
fn draw_with_side_effects(copies: bool, kill: bool) -> (Vec<u8>, u64, u64) {
    const EARLY_Z: u32 = 1 << 4;
    const EXEC_ON_NOOP: u32 = 1 << 11;
    let mut s = noisy(0);
    s.rig.ib(TEXTURE, &noise(128 * 128, 8));
    s.set(0x2_880C, EARLY_Z | EXEC_ON_NOOP);
    // FORCE_COLOR_KILL
    s.set(0x2_8D10, u32::from(kill) << 10);
    let corner = |x: f32, y: f32| {
        let at = [x / 32.0 - 1.0, y / 32.0 - 1.0, 0.0, 1.0];
        (at, [x, y, 0.0, 0.0])
    };
    if copies {
        let words = [
            1 | 1 << 3 | 15 << 8 | 127 << 19,
            127 | 0x1A << 26,
            (TEXTURE >> 8) as u32,
            0,
            1 << 19 | 2 << 22 | 3 << 25,
            0,
            2 << 30,
        ];
        s.texture(words, [0; 3]);
        let mut ps = Shader::new();
        ps.load_at_input(1, 2, 0);
        ps.export(PIXEL, 0, 1, XYZW, true);
        let start = s.shader(&ps);
        s.set(START_PS, start);
    } else {
        // Flat: one colour.
        s.set(0x2_8644, 1 | 1 << 10);
    }
    let corners = [corner(0.0, 0.0), corner(0.0, 64.0), corner(64.0, 0.0)];
    s.draw_vertices(RECTANGLES, &corners);
    let at = s.results();
    s.event(0x1E, 2, Some(at));
    s.finish();
    let invocations = s.rig.mc_u64(at);
    (
        s.rig.bytes(COLOUR, TARGET_BYTES),
        whole_tiles(&s),
        invocations,
    )
}

#[test]
fn whole_tiles_keep_killed_colours_back() {
    let before = noisy(0).rig.bytes(COLOUR, TARGET_BYTES);
    for copies in [false, true] {
        let (drawn, whole, runs) = draw_with_side_effects(copies, false);
        assert!(drawn != before && whole != 0, "copies: {copies}");
        assert_eq!(runs, 64 * 64, "copies: {copies}");
        let (kept, _, runs) = draw_with_side_effects(copies, true);
        assert!(kept == before, "copies: {copies}");
        assert_eq!(runs, 64 * 64, "copies: {copies}");
    }
}

/// Fills the target and a depth buffer of 32 bits of float, by a flat colour if `flat`, else by one
/// that is interpolated, which rules whole tiles out. `samples`: `PA_SC_AA_MASK`. Returns the bytes of
/// both, and the number of tiles drawn as a whole.
fn fill(flat: bool, samples: u32, slope: f32) -> (Vec<u8>, u64) {
    let mut s = noisy(0);
    s.rig.ib(DEPTH, &noise(TARGET_BYTES / 4, 8));
    depth_buffer(&mut s, 6, Z_ENABLE | Z_WRITE | ALWAYS);
    s.set(0x2_8C48, samples);
    s.set(0x2_8644, 1 | u32::from(flat) << 10);
    let corner = |x: f32, y: f32| ([x, y, slope * x, 1.0], [0.2, 0.4, 0.6, 0.8]);
    let corners = [corner(-1.0, -1.0), corner(-1.0, 1.0), corner(1.0, -1.0)];
    s.draw_vertices(RECTANGLES, &corners);
    s.finish();
    let [colour, depth] = [COLOUR, DEPTH].map(|at| s.rig.bytes(at, TARGET_BYTES));
    ([colour, depth].concat(), whole_tiles(&s))
}

#[test]
fn what_differs_in_a_tile_is_not_drawn_as_a_whole() {
    for (samples, slope, whole) in [(u32::MAX, 0.0, 64), (0xF0F, 0.0, 0), (u32::MAX, 0.5, 0)] {
        let (pixels, none) = fill(false, samples, slope);
        assert_eq!(none, 0);
        let (tiles, found) = fill(true, samples, slope);
        assert!(tiles == pixels, "{samples:#x} {slope}");
        assert_eq!(found, whole, "{samples:#x} {slope}");
    }
}
