// SPDX-License-Identifier: MIT
//! Cost of moving a tile of 64 pixels between the 3D engine and render targets or
//! textures in tiled video memory, without the other stages of a draw.
//!
//! `cargo bench --bench tiles` prints nanoseconds of CPU time per pixel, the median of 15
//! batches, and the design's limit for one core with AVX2. With `-- --check` a row
//! above its limit fails the run; use it on a quiet machine only.

use std::collections::HashMap;
use std::hint::black_box;
use std::sync::Mutex;

use r7xx_board::chip::bus::{Mc, McError, RegFile};
use r7xx_board::chip::gfx::colour::Targets;
use r7xx_board::chip::gfx::lanes::{pixel_of, Lanes, ALL, LANES};
use r7xx_board::chip::gfx::memory::View;
use r7xx_board::chip::gfx::shader::isa::{tex, TexInstruction};
use r7xx_board::chip::gfx::surface::At;
use r7xx_board::chip::gfx::texture::{Sampler, Slot, Unit};
use r7xx_board::chip::gfx::Stage;
use r7xx_board::chip::memory::Vram;

const WIDTH: u32 = 1024;
const HEIGHT: u32 = 768;
/// RV710: two pipes, eight banks.
const TILING: u32 = 1 << 1 | 1 << 4;
/// MC address of the texture; the targets are below it.
const TEXTURE: u64 = 0x200_0000;
const BATCHES: usize = 15;

/// Video memory at address 0.
struct Memory(Vram);

impl Mc for Memory {
    fn read(&self, addr: u64, buf: &mut [u8]) -> Result<(), McError> {
        self.0.read(addr, buf).map_err(|_| McError::Unmapped(addr))
    }
    fn write(&self, addr: u64, buf: &[u8]) -> Result<(), McError> {
        self.0.write(addr, buf).map_err(|_| McError::Unmapped(addr))
    }
}

#[derive(Default)]
struct Regs(Mutex<HashMap<u32, u32>>);

impl RegFile for Regs {
    fn load(&self, offset: u32) -> u32 {
        let regs = self.0.lock().expect("no panic holds the lock");
        regs.get(&offset).copied().unwrap_or(0)
    }
    fn store(&self, offset: u32, value: u32) {
        let mut regs = self.0.lock().expect("no panic holds the lock");
        regs.insert(offset, value);
    }
}

/// Operation of the render backend.
#[derive(Clone, Copy, PartialEq)]
enum Mode {
    Copy,
    Blend,
    Resolve,
}

/// Targets of 8_8_8_8 in 2D tiling.
fn targets(mode: Mode) -> Targets {
    let regs = Regs::default();
    regs.store(0x98F0, TILING);
    for target in 0..2 {
        let at = |reg: u32| reg + 4 * target;
        regs.store(at(0x2_8040), target * 0x1_4000);
        let size = (WIDTH / 8 - 1) | (WIDTH * HEIGHT / 64 - 1) << 10;
        regs.store(at(0x2_8060), size);
        regs.store(at(0x2_80A0), 0x1A << 2 | 4 << 8 | 1 << 16 | 1 << 20);
    }
    regs.store(0x2_8238, 0xF);
    regs.store(0x2_823C, 0xF);
    // SRC_ALPHA, ONE_MINUS_SRC_ALPHA.
    regs.store(0x2_8780, 4 | 5 << 8);
    let control = 0xCC << 16 | 1 << 7;
    regs.store(
        0x2_8808,
        match mode {
            Mode::Copy => control,
            Mode::Blend => control | 1 << 8,
            Mode::Resolve => control | 7 << 4,
        },
    );
    if mode == Mode::Resolve {
        regs.store(0x2_8C04, 2);
    }
    Targets::decode(&regs)
}

/// A resource of 512x512 texels in 2D tiling.
fn resource(format: u32) -> [u32; 8] {
    [
        1 | 4 << 3 | (512 / 8 - 1) << 8 | 511 << 19,
        511 | format << 26,
        (TEXTURE >> 8) as u32,
        (TEXTURE >> 8) as u32,
        3 << 25 | 2 << 22 | 1 << 19,
        0,
        2 << 30,
        0,
    ]
}

fn splat(values: [f32; 4]) -> [Lanes; 4] {
    values.map(|v| [v.to_bits(); LANES])
}

/// Texture coordinates of a tile, `scale` texels a pixel.
fn coordinates(tile_x: u32, tile_y: u32, scale: f32) -> [Lanes; 4] {
    let coord = |axis: usize, tile: u32| -> Lanes {
        std::array::from_fn(|lane| {
            let (x, y) = pixel_of(lane);
            let pixel = tile as f32 * 8.0 + [x, y][axis] as f32 + 0.5;
            (pixel * scale / 512.0).to_bits()
        })
    };
    [coord(0, tile_x), coord(1, tile_y), [0; LANES], [0; LANES]]
}

/// Nanoseconds of CPU time of this thread, so that other programs do not count.
fn cpu_time() -> u64 {
    let stat = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let first = stat.split_whitespace().next();
    first
        .and_then(|ns| ns.parse().ok())
        .expect("the kernel's scheduler statistics")
}

/// Calls `tile` for each tile of the screen: nanoseconds of CPU time per pixel.
fn measure(mut tile: impl FnMut(u32, u32)) -> f64 {
    let mut batches: Vec<f64> = (0..BATCHES)
        .map(|_| {
            let start = cpu_time();
            for y in 0..HEIGHT / 8 {
                for x in 0..WIDTH / 8 {
                    tile(x, y);
                }
            }
            (cpu_time() - start) as f64 / f64::from(WIDTH * HEIGHT)
        })
        .collect();
    batches.sort_by(f64::total_cmp);
    batches[BATCHES / 2]
}

fn main() {
    let check = std::env::args().any(|arg| arg == "--check");
    let memory = Memory(Vram::new(64 << 20).expect("memory for the benchmark"));
    let noise: Vec<u8> = (0..1u32 << 20)
        .map(|i| (i.wrapping_mul(0x9E37_79B1) >> 24) as u8)
        .collect();
    memory.write(TEXTURE, &noise).expect("inside video memory");
    let view = View::new(&memory);
    let (copy, blend, resolve) = (
        targets(Mode::Copy),
        targets(Mode::Blend),
        targets(Mode::Resolve),
    );
    let mut unit = Unit::new();
    unit.set_state(
        &r7xx_board::chip::gfx::front::R700,
        r7xx_board::chip::tiling::TilingConfig::from_register(TILING),
        true,
    );
    let op = TexInstruction {
        opcode: tex::SAMPLE,
        normalized: [true; 4],
        ..TexInstruction::default()
    };
    let sampler = |filters: u32| Sampler {
        words: [filters, 0x3FF << 10, 1 << 31],
        border: [0; 4],
    };
    let (nearest, bilinear) = (sampler(0), sampler(1 << 9 | 1 << 12));
    let colour = splat([0.25, 0.5, 0.75, 0.5]);
    let write = |targets: &Targets, x, y, src: &[Lanes; 4]| {
        let done = targets.write_tile(&view, 0, At::new(x, y, 0), &src.each_ref(), None, ALL);
        done.expect("inside video memory");
    };
    let (rgba, alpha) = (resource(0x1A), resource(0x01));
    let mut texels = [[0; LANES]; 4];
    // Each case has one slot, as slots do not change within a draw.
    let sample = |unit: &mut Unit, number: u8, words, src: &[Lanes; 4], texels: &mut _| {
        let slot = Slot {
            stage: Stage::Pixel,
            resource: number,
            sampler: number,
        };
        unit.sample(&view, &op, slot, || words, &src.each_ref(), ALL, texels);
    };

    let mut rows = vec![
        ("clear", 0.6, measure(|x, y| write(&copy, x, y, &colour))),
        (
            "fill, blended",
            2.5,
            measure(|x, y| write(&blend, x, y, &colour)),
        ),
    ];
    let scales = [("bilinear, 1:1", 0.7), ("bilinear, magnified", 0.1)];
    for (name, scale) in scales {
        let ns = measure(|x, y| {
            let src = coordinates(x, y, scale);
            sample(&mut unit, 0, (rgba, bilinear), &src, &mut texels);
            black_box(&texels);
        });
        rows.push((name, 6.0, ns));
    }
    // Each texel once, as it lies in memory.
    let halved = unit.halved();
    let ns = measure(|x, y| {
        let src = coordinates(x % 32, y % 32, 2.0);
        sample(&mut unit, 0, (rgba, bilinear), &src, &mut texels);
        black_box(&texels);
    });
    assert!(unit.halved() > halved, "another path was measured");
    rows.push(("bilinear, to half the size", 6.0, ns));
    let ns = measure(|x, y| {
        let src = coordinates(x, y, 1.0);
        sample(&mut unit, 1, (rgba, nearest), &src, &mut texels);
        write(&copy, x, y, &texels);
    });
    rows.push(("blit, nearest", 8.0, ns));
    let ns = measure(|x, y| {
        let src = coordinates(x, y, 1.0);
        sample(&mut unit, 2, (alpha, nearest), &src, &mut texels);
        let glyph = [colour[0], colour[1], colour[2], texels[0]];
        write(&blend, x, y, &glyph);
    });
    rows.push(("glyphs from an atlas", 10.0, ns));
    let ns = measure(|x, y| {
        let done = resolve.resolve_tile(&view, At::new(x, y, 0), ALL);
        done.expect("inside video memory");
    });
    rows.push(("resolve, 4 samples", 5.0, ns));

    println!("{:26} {:>9} {:>9}", "tiles of", "ns/pixel", "limit");
    let mut slow = 0;
    for (name, limit, ns) in rows {
        println!("{name:26} {ns:9.2} {limit:9.2}");
        slow += usize::from(ns > limit);
    }
    if check && slow > 0 {
        eprintln!("{slow} rows above their limits");
        std::process::exit(1);
    }
}
