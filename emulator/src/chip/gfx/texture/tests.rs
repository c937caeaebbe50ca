// SPDX-License-Identifier: MIT

use std::sync::Mutex;

use proptest::prelude::*;

use super::address::CubePoint;
use super::*;
use crate::chip::bus::Mc;

mod gather;
mod plain;
mod prefetch;

/// Memory at address 0.
struct Memory(Mutex<Vec<u8>>);

impl Mc for Memory {
    fn read(&self, addr: u64, buf: &mut [u8]) -> Result<(), McError> {
        let bytes = self.0.lock().unwrap();
        let start = usize::try_from(addr).map_err(|_| McError::Unmapped(addr))?;
        let range = start..start.saturating_add(buf.len());
        buf.copy_from_slice(bytes.get(range).ok_or(McError::Unmapped(addr))?);
        Ok(())
    }
    fn write(&self, addr: u64, _buf: &[u8]) -> Result<(), McError> {
        Err(McError::Unmapped(addr))
    }
}

/// RV710: two pipes, eight banks.
const TILING: u32 = 1 << 1 | 1 << 4;
const RGBA8: u32 = 0x1A;
const RGBA32F: u32 = 0x23;
const R32F: u32 = 0x0E;
const LINEAR_FILTERS: u32 = 1 << 9 | 1 << 12;

/// A texture with random-looking contents, and its memory.
struct Scene {
    words: [u32; 8],
    texture: Texture,
    memory: Memory,
    unit: Unit,
}

/// The 8-bit code of component `c` of a texel.
fn code(x: u32, y: u32, slice: u32, level: u32, c: u32) -> u8 {
    let h = (x.wrapping_mul(73) ^ y.wrapping_mul(151) ^ slice.wrapping_mul(199))
        .wrapping_add(level * 57 + c * 91)
        .wrapping_mul(0x9E37_79B1);
    (h >> 24) as u8
}

const SLOT: Slot = Slot {
    stage: Stage::Pixel,
    resource: 0,
    sampler: 0,
};

/// [`Unit::sample`] of a slot that is not bound yet, as at the beginning of a draw.
fn sample_anew(
    unit: &mut Unit,
    view: &View<'_>,
    op: &TexInstruction,
    words: ([u32; 8], Sampler),
    src: &[&Lanes; 4],
    exec: Mask,
    out: &mut [Lanes; 4],
) -> bool {
    unit.bound = None;
    unit.sample(view, op, SLOT, || words, src, exec, out)
}

impl Scene {
    fn new(dim: u32, mode: u32, size: [u32; 3], format: u32, last: u32) -> Self {
        let pitch = size[0]
            .next_multiple_of(if mode == 4 { 64 } else { 8 })
            .max(64);
        let layers = if dim >= 4 || dim == 3 { size[2] } else { 1 };
        let words = [
            dim | mode << 3 | (pitch / 8 - 1) << 8 | (size[0] - 1) << 19,
            (size[1] - 1) | (size[2] - 1) << 13 | format << 26,
            0,
            0x2000,
            3 << 25 | 2 << 22 | 1 << 19,
            last | (layers - 1) << 17,
            2 << 30,
            0,
        ];
        let texture = Texture::decode(&words, TilingConfig::from_register(TILING)).unwrap();
        let mut bytes = vec![0u8; 0x40_0000];
        for l in 0..=texture.last_level {
            let level = texture.level(l).unwrap();
            let slices = match texture.dim {
                Dim::D3 => level.depth,
                Dim::Cube => 6,
                _ => size[2],
            };
            for (z, y, x, s) in (0..slices).flat_map(|z| {
                let samples = texture.samples;
                (0..level.height).flat_map(move |y| {
                    (0..level.width).flat_map(move |x| (0..samples).map(move |s| (z, y, x, s)))
                })
            }) {
                let layout = &level.surface.layout;
                let at = (level.surface.base + layout.sample_offset(x, y, z, s)) as usize;
                for c in 0..4u32 {
                    let code = code(x, y, z + 100 * s, l, c);
                    if format == RGBA8 {
                        bytes[at + c as usize] = code;
                    } else if format == RGBA32F {
                        let f = (f32::from(code) / 255.0).to_le_bytes();
                        bytes[at + 4 * c as usize..][..4].copy_from_slice(&f);
                    } else if c == 0 {
                        // 32_FLOAT, 16: depth.
                        let f = (f32::from(code) / 255.0).to_le_bytes();
                        let len = layout.bytes_per_element as usize;
                        if len == 4 {
                            bytes[at..at + 4].copy_from_slice(&f);
                        } else {
                            bytes[at..at + 2].copy_from_slice(&[code, code]);
                        }
                    }
                }
            }
        }
        let mut unit = Unit::new();
        unit.set_state(&front::R700, TilingConfig::from_register(TILING), true);
        Self {
            words,
            texture,
            memory: Memory(Mutex::new(bytes)),
            unit,
        }
    }

    fn run(
        &mut self,
        op: &TexInstruction,
        sampler: &Sampler,
        src: &[Lanes; 4],
        exec: Mask,
    ) -> [Lanes; 4] {
        let view = View::new(&self.memory);
        let mut out = [[1; LANES]; 4];
        let words = (self.words, *sampler);
        let unit = &mut self.unit;
        let denormals = sample_anew(unit, &view, op, words, &src.each_ref(), exec, &mut out);
        let has = |bits: &u32| (bits << 1).wrapping_sub(1) < 0x00FF_FFFF;
        assert!(denormals || !out.as_flattened().iter().any(has));
        out
    }

    /// [`Self::run`], which may take the fast path: the general path must give the same bits.
    fn run_both(
        &mut self,
        op: &TexInstruction,
        sampler: &Sampler,
        src: &[Lanes; 4],
        exec: Mask,
    ) -> [Lanes; 4] {
        let fast = self.run(op, sampler, src, exec);
        let taken = |unit: &Unit| (unit.fast_paths(), unit.cache.inside, unit.halved());
        let before = taken(&self.unit);
        self.unit.general = true;
        assert_eq!(self.run(op, sampler, src, exec), fast);
        self.unit.general = false;
        assert_eq!(taken(&self.unit), before);
        fast
    }

    fn value(&self, x: u32, y: u32, slice: u32, level: u32, c: usize) -> f64 {
        f64::from(code(x, y, slice, level, c as u32)) / 255.0
    }
}

fn op(opcode: u8) -> TexInstruction {
    TexInstruction {
        opcode,
        normalized: [true; 4],
        ..TexInstruction::default()
    }
}

fn sampler(word0: u32) -> Sampler {
    Sampler {
        words: [word0, 0x3FF << 10, 1 << 31],
        border: [0.25f32, 0.5, 0.75, 1.0].map(f32::to_bits),
    }
}

fn splat(values: [f32; 4]) -> [Lanes; 4] {
    values.map(|v| [v.to_bits(); LANES])
}

/// OpenGL's wrapping of one texel number; none for the border.
fn wrapped(mode: u32, i: i64, n: i64, linear: bool) -> Option<i64> {
    let mirror = |i: i64| if i < 0 { -1 - i } else { i };
    let inside = |i: i64| (0..n).contains(&i).then_some(i);
    match mode {
        0 => Some(i.rem_euclid(n)),
        1 => {
            let m = i.rem_euclid(2 * n);
            Some(if m < n { m } else { 2 * n - 1 - m })
        }
        2 => Some(i.clamp(0, n - 1)),
        3 => Some(mirror(i).clamp(0, n - 1)),
        4 | 5 if !linear => Some(i.clamp(0, n - 1)),
        _ => inside(i),
    }
}

/// Texels and weights along an axis, in f64 (OpenGL 3.3, section 3.8.8).
fn taps(mode: u32, u: f64, n: i64, linear: bool) -> Vec<(Option<i64>, f64)> {
    let mut u = u;
    if matches!(mode, 3 | 5 | 7) {
        u = u.abs();
    }
    if matches!(mode, 4 | 5) {
        u = u.clamp(0.0, n as f64);
    }
    if !linear {
        return vec![(wrapped(mode, u.floor() as i64, n, false), 1.0)];
    }
    let first = (u - 0.5).floor();
    let w = u - 0.5 - first;
    vec![
        (wrapped(mode, first as i64, n, true), 1.0 - w),
        (wrapped(mode, first as i64 + 1, n, true), w),
    ]
}

const BORDER: [f64; 4] = [0.25, 0.5, 0.75, 1.0];

#[allow(clippy::too_many_arguments)]
fn reference(scene: &Scene, modes: [u32; 3], at: [f64; 3], level: u32, linear: bool) -> [f64; 4] {
    let l = scene.texture.level(level).unwrap();
    let x = taps(
        modes[0],
        at[0] * f64::from(l.width),
        i64::from(l.width),
        linear,
    );
    let y = if scene.texture.dim.is_1d() {
        vec![(Some(0), 1.0)]
    } else {
        taps(
            modes[1],
            at[1] * f64::from(l.height),
            i64::from(l.height),
            linear,
        )
    };
    let z = if scene.texture.dim == Dim::D3 {
        taps(
            modes[2],
            at[2] * f64::from(l.depth),
            i64::from(l.depth),
            linear,
        )
    } else {
        vec![(Some(at[2] as i64), 1.0)]
    };
    let mut sum = [0.0; 4];
    for &(x, wx) in &x {
        for &(y, wy) in &y {
            for &(z, wz) in &z {
                for (c, sum) in sum.iter_mut().enumerate() {
                    let value = match (x, y, z) {
                        (Some(x), Some(y), Some(z)) => {
                            scene.value(x as u32, y as u32, z as u32, level, c)
                        }
                        _ => BORDER[c],
                    };
                    *sum += value * wx * wy * wz;
                }
            }
        }
    }
    sum
}

fn close(got: &[Lanes; 4], lane: usize, want: [f64; 4], tolerance: f64) {
    for c in 0..4 {
        let value = f64::from(f32::from_bits(got[c][lane]));
        assert!(
            (value - want[c]).abs() <= tolerance,
            "component {c}: {value} for {}",
            want[c]
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    /// Every dimension, wrap mode and filter against OpenGL's equations.
    #[test]
    fn filters_are_those_of_opengl(
        dim in proptest::sample::select(vec![0u32, 1, 2, 4, 5]),
        mode in proptest::sample::select(vec![1u32, 2, 4]),
        format in proptest::sample::select(vec![RGBA8, RGBA32F]),
        size in (1u32..40, 1u32..40, 1u32..6), wraps: [u8; 3], linear: bool,
        level in 0u32..3, at in (-2.0f64..3.0, -2.0f64..3.0, -2.0f64..3.0),
    ) {
        let size = [size.0, if dim == 0 || dim == 4 { 1 } else { size.1 },
            if dim == 1 || dim == 0 { 1 } else { size.2 }];
        let mut scene = Scene::new(dim, mode, size, format, 2);
        let l = *scene.texture.level(level).unwrap();
        let modes = wraps.map(|w| u32::from(w & 7));
        let sizes = [l.width, l.height, l.depth].map(f64::from);
        // On 1/256 of a texel exactly, away from the edges of texels.
        let snap = |v: f64, n: f64| ((v * n * 256.0).floor() + if (v * n * 256.0).floor().rem_euclid(256.0) == 0.0 { 3.0 } else { 0.0 }) / 256.0 / n;
        let layer = f64::from(size[2] - 1).min(at.2.abs().floor());
        let at = [snap(at.0, sizes[0]), snap(at.1, sizes[1]),
            if dim == 2 { snap(at.2, sizes[2]) } else { layer }];
        let mut instruction = op(tex::SAMPLE_L);
        instruction.normalized[2] = dim == 2;
        let w0 = modes[0] | modes[1] << 3 | modes[2] << 6 | 1 << 17 | 3 << 22
            | if linear { LINEAR_FILTERS } else { 0 };
        let src = splat([at[0] as f32, at[1] as f32, at[2] as f32, level as f32]);
        let got = scene.run(&instruction, &sampler(w0), &src, Mask::MAX);
        let want = reference(&scene, modes, at, level, linear);
        // Coordinates are singles: up to two steps of 1/256 in each weight.
        let tolerance = if linear { 2.0 / 256.0 * 3.0 } else { 1e-6 };
        for lane in [0, 31, 63] {
            for c in 0..4 {
                let value = f64::from(f32::from_bits(got[c][lane]));
                prop_assert!((value - want[c]).abs() <= tolerance,
                    "component {}: {} for {} at {:?}", c, value, want[c], at);
            }
        }
    }

    /// Lanes with texels near and far apart: for packed texels, the fast and the general path.
    #[test]
    fn packed_and_wide_texels_agree(
        step in 0.0f32..0.5, x in -1.0f32..1.0, y in -1.0f32..1.0, exec: Mask,
        linear: bool,
    ) {
        let mut packed = Scene::new(1, 4, [64, 64, 1], RGBA8, 0);
        let mut wide = Scene::new(1, 2, [64, 64, 1], RGBA32F, 0);
        let coord = |base: f32, shift: usize| -> Lanes {
            std::array::from_fn(|lane| (base + step * ((lane >> shift) & 7) as f32 / 8.0).to_bits())
        };
        let src = [coord(x, 0), coord(y, 3), [0; LANES], [0; LANES]];
        let s = sampler(if linear { LINEAR_FILTERS } else { 0 });
        let a = packed.run(&op(tex::SAMPLE_LZ), &s, &src, exec);
        let b = wide.run(&op(tex::SAMPLE_LZ), &s, &src, exec);
        for lane in 0..LANES {
            let want = std::array::from_fn(|c| f64::from(f32::from_bits(b[c][lane])));
            close(&a, lane, want, 1e-6);
            if exec >> lane & 1 == 0 {
                prop_assert_eq!(a[0][lane], 0);
            }
        }
    }

    #[test]
    fn hostile_descriptors_end_in_a_result(
        words: [u32; 8], sampler_words: [u32; 3], src: [u32; 4], opcode in 0u8..32,
        bias: i8, offset: [i8; 3], normalized: [bool; 4], exec: Mask, tiling: u32, aux: u32,
        valid in 0u32..8, small: bool,
    ) {
        let mut words = words;
        if valid != 0 {
            words[6] = words[6] & 0x3FFF_FFFF | 2 << 30;
        }
        if small {
            (words[2], words[3]) = (words[2] & 0xFF, words[3] & 0xFF);
        }
        let memory = Memory(Mutex::new(vec![0x5A; 0x1_0000]));
        let view = View::new(&memory);
        let mut unit = Unit::new();
        unit.set_state(&front::R700, TilingConfig::from_register(tiling), aux & 1 == 0);
        let instruction = TexInstruction {
            opcode, lod_bias: bias, offset, normalized, ..TexInstruction::default()
        };
        let sampler = Sampler { words: sampler_words, border: src };
        let lanes: [Lanes; 4] = std::array::from_fn(|c| {
            std::array::from_fn(|lane| src[c].rotate_left(lane as u32))
        });
        let mut got = [[1; LANES]; 4];
        let src = lanes.each_ref();
        sample_anew(&mut unit, &view, &instruction, (words, sampler), &src, exec, &mut got);
        if !matches!(opcode, tex::GET_GRADIENTS_H | tex::GET_GRADIENTS_V) {
            for lane in 0..LANES {
                if exec >> lane & 1 == 0 {
                    prop_assert_eq!(got[0][lane], 0);
                }
            }
        }
    }
}

/// Coordinates of an 8x8 tile of pixels that step by (dx, dy).
fn stepping(dx: f32, dy: f32) -> [Lanes; 4] {
    let coord = |f: fn((usize, usize)) -> usize, step: f32| -> Lanes {
        std::array::from_fn(|lane| {
            (0.1 + step * f(crate::chip::gfx::lanes::pixel_of(lane)) as f32).to_bits()
        })
    };
    [
        coord(|p| p.0, dx),
        coord(|p| p.1, dy),
        [0; LANES],
        [0; LANES],
    ]
}

fn lod(scene: &mut Scene, src: &[Lanes; 4], word0: u32) -> f32 {
    let got = scene.run(&op(tex::GET_LOD), &sampler(word0), src, Mask::MAX);
    f32::from_bits(got[0][20])
}

#[test]
fn level_of_detail_is_log2_of_texels_a_pixel() {
    let mut scene = Scene::new(1, 4, [64, 64, 1], RGBA8, 6);
    assert!((lod(&mut scene, &stepping(1.0 / 64.0, 1.0 / 64.0), 0)).abs() < 1e-3);
    assert!((lod(&mut scene, &stepping(4.0 / 64.0, 1.0 / 64.0), 0) - 2.0).abs() < 1e-3);
    assert!((lod(&mut scene, &stepping(1.0 / 64.0, 8.0 / 64.0), 0) - 3.0).abs() < 1e-3);
    // Anisotropic: four samples, a quarter of the footprint.
    let aniso = 5 << 9 | 5 << 12 | 2 << 19;
    scene.words[6] |= 4 << 2;
    assert!((lod(&mut scene, &stepping(4.0 / 64.0, 1.0 / 64.0), aniso)).abs() < 1e-3);
}

#[test]
fn the_level_that_is_sampled_has_limits() {
    let mut scene = Scene::new(1, 4, [64, 64, 1], RGBA8, 3);
    let limits = |least: u32, most: u32| Sampler {
        words: [0, least | most << 10, 1 << 31],
        ..sampler(0)
    };
    let mut query = |sampler: &Sampler, step: f32| {
        let got = scene.run(&op(tex::GET_LOD), sampler, &stepping(step, step), Mask::MAX);
        [0, 1].map(|c| f32::from_bits(got[c][20]))
    };
    // Coordinates that do not change.
    assert_eq!(query(&limits(0, 0x3FF), 0.0), [f32::NEG_INFINITY, 0.0]);
    // Levels end at 3; the sampler's limits are 1 and 2.
    let most = query(&limits(0, 0x3FF), 32.0 / 64.0);
    assert!((most[0] - 5.0).abs() < 1e-3 && most[1] == 3.0, "{most:?}");
    assert_eq!(query(&limits(64, 128), 0.0)[1], 1.0);
    assert_eq!(query(&limits(64, 128), 32.0 / 64.0)[1], 2.0);
}

#[test]
fn trilinear_mixes_two_levels() {
    let mut scene = Scene::new(1, 4, [64, 64, 1], RGBA8, 6);
    let s = sampler(LINEAR_FILTERS | 2 << 17);
    let at = |lod: f32| splat([0.3, 0.7, 0.0, lod]);
    let one = scene.run(&op(tex::SAMPLE_L), &s, &at(1.0), Mask::MAX);
    let two = scene.run(&op(tex::SAMPLE_L), &s, &at(2.0), Mask::MAX);
    let between = scene.run(&op(tex::SAMPLE_L), &s, &at(1.25), Mask::MAX);
    for c in 0..4 {
        let f = |l: &[Lanes; 4]| f64::from(f32::from_bits(l[c][9]));
        assert!((f(&between) - (f(&one) * 0.75 + f(&two) * 0.25)).abs() < 1e-6);
    }
}

#[test]
fn bias_and_limits_of_the_sampler_apply() {
    let mut scene = Scene::new(1, 4, [64, 64, 1], RGBA8, 6);
    let mut s = sampler(1 << 17);
    let src = stepping(2.0 / 64.0, 2.0 / 64.0);
    let plain = scene.run(&op(tex::SAMPLE), &s, &src, Mask::MAX);
    // A bias of -1 selects level 0, as does an upper limit of 0.
    s.words[1] = 0x3FF << 10 | 0xFC0 << 20;
    let biased = scene.run(&op(tex::SAMPLE), &s, &src, Mask::MAX);
    s.words[1] = 0;
    let limited = scene.run(&op(tex::SAMPLE), &s, &src, Mask::MAX);
    assert_eq!(biased, limited);
    assert_ne!(biased, plain);
    let mut instruction = op(tex::SAMPLE);
    instruction.lod_bias = -16;
    s.words[1] = 0x3FF << 10;
    assert_eq!(scene.run(&instruction, &s, &src, Mask::MAX), biased);
    let mut src = src;
    src[3] = [(-1.0f32).to_bits(); LANES];
    assert_eq!(scene.run(&op(tex::SAMPLE_LB), &s, &src, Mask::MAX), biased);
}

#[test]
fn given_gradients_replace_the_quads() {
    let mut scene = Scene::new(1, 4, [64, 64, 1], RGBA8, 6);
    let s = sampler(1 << 17);
    let mut step = splat([0.0; 4]);
    step[0] = [(4.0f32 / 64.0).to_bits(); LANES];
    scene.run(&op(tex::SET_GRADIENTS_H), &s, &step, Mask::MAX);
    scene.run(&op(tex::SET_GRADIENTS_V), &s, &splat([0.0; 4]), Mask::MAX);
    let at = splat([0.3, 0.7, 0.0, 2.0]);
    let got = scene.run(&op(tex::SAMPLE_G), &s, &at, Mask::MAX);
    assert_eq!(got, scene.run(&op(tex::SAMPLE_L), &s, &at, Mask::MAX));
    scene.unit.end_of_clause();
    assert_ne!(got, scene.run(&op(tex::SAMPLE_G), &s, &at, Mask::MAX));
}

#[test]
fn gradients_are_differences_in_the_quad() {
    let mut scene = Scene::new(1, 4, [8, 8, 1], RGBA8, 0);
    let src = stepping(0.25, 0.5);
    let h = scene.run(&op(tex::GET_GRADIENTS_H), &sampler(0), &src, Mask::MAX);
    let v = scene.run(&op(tex::GET_GRADIENTS_V), &sampler(0), &src, Mask::MAX);
    let f = |l: &[Lanes; 4], c: usize| l[c].map(f32::from_bits);
    assert!(f(&h, 0).iter().all(|d| (d - 0.25).abs() < 1e-6));
    assert!(f(&h, 1).iter().all(|d| *d == 0.0));
    assert!(f(&v, 1).iter().all(|d| (d - 0.5).abs() < 1e-6));
}

/// `dFdxFine` of R800 (`TexInstr::grad_fine` in Mesa).
#[test]
fn fine_gradients_are_of_the_lanes_own_row_and_column() {
    let mut scene = Scene::new(1, 4, [8, 8, 1], RGBA8, 0);
    // x * y in each quad: its four values are 6, 9, 8 and 12.
    let values = std::array::from_fn(|lane| [6.0f32, 9.0, 8.0, 12.0][lane % 4].to_bits());
    let src = [values; 4];
    let mut get = |opcode, modifier| {
        let instruction = TexInstruction {
            modifier,
            ..op(opcode)
        };
        let got = scene.run(&instruction, &sampler(0), &src, Mask::MAX);
        [0, 1, 2, 3].map(|lane| f32::from_bits(got[0][lane]))
    };
    assert_eq!(get(tex::GET_GRADIENTS_H, 0), [3.0; 4]);
    assert_eq!(get(tex::GET_GRADIENTS_V, 0), [2.0; 4]);
    assert_eq!(get(tex::GET_GRADIENTS_H, 1), [3.0, 3.0, 4.0, 4.0]);
    assert_eq!(get(tex::GET_GRADIENTS_V, 1), [2.0, 3.0, 2.0, 3.0]);
}

#[test]
fn loads_take_integers_and_are_zero_outside() {
    for (dim, size) in [(1, [20, 10, 1]), (2, [20, 10, 3]), (5, [20, 10, 3])] {
        let mut scene = Scene::new(dim, 2, size, RGBA8, 1);
        let load = |scene: &mut Scene, at: [u32; 4]| {
            scene.run(
                &op(tex::LD),
                &Sampler::default(),
                &at.map(|v| [v; LANES]),
                1 << 5,
            )
        };
        let z = size[2] - 1;
        for (x, y, level) in [(0, 0, 0), (19, 9, 0), (9, 4, 1)] {
            let z = if dim == 2 && level == 1 { 0 } else { z };
            let got = load(&mut scene, [x, y, z, level]);
            let want = std::array::from_fn(|c| scene.value(x, y, z, level, c));
            close(&got, 5, want, 1e-6);
            assert_eq!(got[0][4], 0);
        }
        for at in [
            [20, 0, 0, 0],
            [0, 10, 0, 0],
            [u32::MAX, 0, 0, 0],
            [0, 0, 0, 2],
        ] {
            assert_eq!(load(&mut scene, at)[0][5], 0, "{at:?}");
        }
    }
}

#[test]
fn samples_of_a_texel_are_loaded() {
    for (depth_order, format) in [(0, RGBA32F), (1 << 7, RGBA32F), (1 << 7, R32F)] {
        let mut scene = Scene::new(6, 4, [64, 16, 1], format, 2);
        scene.words[0] |= depth_order;
        let texture = Texture::decode(&scene.words, TilingConfig::from_register(TILING)).unwrap();
        assert_eq!(texture.samples, 4);
        let mut bytes = vec![0; 0x40_0000];
        let layout = texture.level(0).unwrap().surface.layout;
        // Those of depth buffers are adjacent, those of colours in planes.
        let apart = layout.element_offset(0, 0, 1) / layout.bytes_per_element;
        assert_eq!(apart, if format == R32F { 1 } else { 64 });
        for sample in 0..4 {
            let at = layout.sample_offset(13, 9, 0, sample) as usize;
            bytes[at..at + 4].copy_from_slice(&(sample as f32).to_le_bytes());
        }
        scene.memory = Memory(Mutex::new(bytes));
        for sample in 0..5 {
            let src = [13, 9, 0, sample].map(|v| [v; LANES]);
            let got = scene.run(&op(tex::LD), &Sampler::default(), &src, 1);
            let want = if sample < 4 { sample as f32 } else { 0.0 };
            assert_eq!(f32::from_bits(got[0][0]), want);
        }
        let src = splat([0.0; 4]);
        let got = scene.run(
            &op(tex::GET_NUMBER_OF_SAMPLES),
            &Sampler::default(),
            &src,
            1,
        );
        assert_eq!(got[3][0], 4);
    }
}

#[test]
fn sizes_are_of_the_level_asked_for() {
    let view_of = |dim, size, layers: Option<(u32, u32)>, level: u32| {
        let mut scene = Scene::new(dim, 2, size, RGBA8, 3);
        if let Some((first, last)) = layers {
            // BASE_ARRAY and LAST_ARRAY.
            scene.words[5] = scene.words[5] & 0xf | first << 4 | last << 17;
        }
        let src = [level; 4].map(|v| [v; LANES]);
        let got = scene.run(&op(tex::GET_TEXTURE_RESINFO), &Sampler::default(), &src, 1);
        got.map(|c| c[0])
    };
    let size_of = |dim, size, level| view_of(dim, size, None, level);
    assert_eq!(view_of(5, [20, 10, 5], Some((1, 3)), 1), [10, 5, 3, 4]);
    assert_eq!(view_of(4, [20, 1, 5], Some((4, 4)), 0), [20, 1, 1, 4]);
    assert_eq!(size_of(1, [20, 10, 1], 1), [10, 5, 1, 4]);
    assert_eq!(size_of(2, [20, 10, 5], 1), [10, 5, 2, 4]);
    assert_eq!(size_of(5, [20, 10, 5], 1), [10, 5, 5, 4]);
    assert_eq!(size_of(4, [20, 1, 5], 0), [20, 5, 5, 4]);
    assert_eq!(size_of(1, [20, 10, 1], 9), [0, 0, 0, 4]);
}

#[test]
fn a_given_level_is_biased_by_the_sampler() {
    let mut scene = Scene::new(1, 2, [16, 16, 1], RGBA8, 3);
    // The nearest level, and a bias of 1.
    let mut s = sampler(1 << 17);
    s.words[1] |= 64 << 20;
    for (opcode, given, level) in [
        (tex::SAMPLE_L, 0.0, 1),
        (tex::SAMPLE_L, 2.0, 3),
        (tex::SAMPLE_LZ, 2.0, 1),
    ] {
        let side = (16 >> level) as f32;
        let src = splat([0.5 / side, 0.5 / side, 0.0, given]);
        let got = scene.run(&op(opcode), &s, &src, Mask::MAX);
        let want = [0, 1, 2, 3].map(|c| scene.value(0, 0, 0, level, c));
        close(&got, 5, want, 1e-6);
    }
}

#[test]
fn comparisons_are_filtered() {
    // 32_FLOAT in depth order.
    let mut scene = Scene::new(1, 2, [8, 8, 1], 0x0E, 0);
    scene.words[4] = 0; // xxxx
    let s = sampler(LINEAR_FILTERS | 3 << 26);
    // Between texels (2, 4) and (3, 4): a quarter of the second.
    let src = splat([2.75 / 8.0, 4.5 / 8.0, 0.0, 0.5]);
    let got = scene.run(&op(tex::SAMPLE_C), &s, &src, Mask::MAX);
    let pass = |x: u32| f64::from(u8::from(0.5 <= scene.value(x, 4, 0, 0, 0)));
    let want = pass(2) * 0.75 + pass(3) * 0.25;
    close(&got, 17, [want; 4], 1e-6);
    // An explicit level moves the reference to z.
    let src = splat([2.75 / 8.0, 4.5 / 8.0, 0.5, 0.0]);
    let got = scene.run(&op(tex::SAMPLE_C_L), &s, &src, Mask::MAX);
    close(&got, 17, [want; 4], 1e-6);
}

#[test]
fn swizzle_and_constants() {
    let mut scene = Scene::new(1, 2, [8, 8, 1], RGBA8, 0);
    scene.words[4] = 2 << 16 | 5 << 19 | 4 << 22; // z 1 0 x
    let src = splat([0.5 / 8.0, 0.5 / 8.0, 0.0, 0.0]);
    for w0 in [0, LINEAR_FILTERS | 2 | 2 << 3] {
        let got = scene.run(&op(tex::SAMPLE_LZ), &sampler(w0), &src, Mask::MAX);
        let (z, x) = (scene.value(0, 0, 0, 0, 2), scene.value(0, 0, 0, 0, 0));
        close(&got, 1, [z, 1.0, 0.0, x], 1e-6);
    }
    // Integers: one is the integer.
    scene.words[4] |= 1 << 8;
    let got = scene.run(&op(tex::SAMPLE_LZ), &sampler(LINEAR_FILTERS), &src, 1);
    assert_eq!((got[1][0], got[3][0]), (1, u32::from(code(0, 0, 0, 0, 0))));
}

#[test]
fn seamless_cubes_filter_across_edges() {
    let mut scene = Scene::new(3, 2, [8, 8, 1], RGBA8, 0);
    let s = sampler(LINEAR_FILTERS);
    // On the left edge of face 4 (+z): half of its texel, half of the one on
    // face 1 (-x) that shares the edge.
    let src = splat([1.0, 1.0 + 3.5 / 8.0, 4.0, 0.0]);
    let got = scene.run(&op(tex::SAMPLE_LZ), &s, &src, Mask::MAX);
    let outside = CubePoint::of(
        CubePoint {
            face: 4,
            s: -0.5 / 8.0,
            t: 3.5 / 8.0,
        }
        .direction(),
    );
    assert_eq!(outside.face, 1);
    let (x, y) = ((outside.s * 8.0) as u32, (outside.t * 8.0) as u32);
    assert_eq!((x, y), (7, 3));
    let want =
        std::array::from_fn(|c| (scene.value(0, 3, 4, 0, c) + scene.value(x, y, 1, 0, c)) / 2.0);
    close(&got, 40, want, 1e-5);
    // DISABLE_CUBE_WRAP: clamped to the face.
    scene
        .unit
        .set_state(&front::R700, TilingConfig::from_register(TILING), false);
    let got = scene.run(&op(tex::SAMPLE_LZ), &s, &src, Mask::MAX);
    close(
        &got,
        40,
        std::array::from_fn(|c| scene.value(0, 3, 4, 0, c)),
        1e-5,
    );
    // At a corner, three texels of three faces have the same weight.
    scene
        .unit
        .set_state(&front::R700, TilingConfig::from_register(TILING), true);
    let src = splat([1.0, 1.0, 4.0, 0.0]);
    let got = scene.run(&op(tex::SAMPLE_LZ), &s, &src, Mask::MAX);
    let want = std::array::from_fn(|c| {
        (scene.value(0, 0, 4, 0, c) + scene.value(7, 0, 1, 0, c) + scene.value(0, 7, 2, 0, c)) / 3.0
    });
    close(&got, 40, want, 0.01);
}

#[test]
fn cache_keeps_texels_until_told() {
    let mut scene = Scene::new(1, 4, [64, 64, 1], RGBA8, 0);
    let src = stepping(1.0 / 64.0, 1.0 / 64.0);
    let s = sampler(LINEAR_FILTERS);
    let first = scene.run(&op(tex::SAMPLE), &s, &src, Mask::MAX);
    let misses = scene.unit.misses();
    assert!((1..=4).contains(&misses), "{misses}");
    scene.memory.0.lock().unwrap().fill(0);
    assert_eq!(scene.run(&op(tex::SAMPLE), &s, &src, Mask::MAX), first);
    assert_eq!(scene.unit.misses(), misses);
    scene.unit.invalidate();
    let after = scene.run(&op(tex::SAMPLE), &s, &src, Mask::MAX);
    assert!(after.iter().flatten().all(|&v| v == 0));
}

#[test]
fn slots_are_looked_up_once_a_draw() {
    let mut scene = Scene::new(1, 4, [64, 64, 1], RGBA8, 0);
    let (view, src) = (View::new(&scene.memory), splat([0.5; 4]));
    let (slot, op) = (
        Slot {
            stage: Stage::Pixel,
            resource: 3,
            sampler: 1,
        },
        op(tex::SAMPLE_LZ),
    );
    let mut asked = Vec::new();
    let mut fetch = |unit: &mut Unit, slot: Slot, words: [u32; 8]| {
        let mut out = [[0; LANES]; 4];
        let mut looked = false;
        let of = || {
            looked = true;
            (words, sampler(0))
        };
        unit.sample(&view, &op, slot, of, &src.each_ref(), Mask::MAX, &mut out);
        asked.push(looked);
        out[0][0]
    };
    // The same texture with green in red's place.
    let mut other = scene.words;
    other[4] = other[4] & !(7 << 16) | 1 << 16;
    let unit = &mut scene.unit;
    let red = fetch(unit, slot, scene.words);
    // The words are not read again: a slot does not change within a draw.
    assert_eq!(fetch(unit, slot, other), red);
    for next in [
        Slot {
            stage: Stage::Vertex,
            ..slot
        },
        Slot {
            resource: 4,
            ..slot
        },
        Slot { sampler: 2, ..slot },
    ] {
        assert_ne!(fetch(unit, next, other), red, "{next:?}");
    }
    assert_eq!(fetch(unit, slot, scene.words), red);
    unit.set_state(&front::R700, TilingConfig::from_register(TILING), true);
    assert_ne!(fetch(unit, slot, other), red);
    // Textures of blits replace all others in the list; the slot's texture is looked up again.
    for width in 1..=40 {
        let mut words = scene.words;
        words[0] ^= width << 19;
        unit.source(&op, &words, &sampler(0), 0);
    }
    assert_ne!(fetch(unit, slot, other), red);
    let expected = [true, false, true, true, true, true, true, true];
    assert_eq!(asked, expected);
}

#[test]
fn unreadable_textures_are_zero_and_reported() {
    let mut scene = Scene::new(1, 4, [64, 64, 1], RGBA8, 0);
    scene.words[2] = 0xFFFF_FF00;
    let src = splat([0.5; 4]);
    let got = scene.run(&op(tex::SAMPLE_LZ), &sampler(0), &src, Mask::MAX);
    assert!(got.iter().flatten().all(|&v| v == 0));
    assert!(scene.unit.take_fault().is_some());
    assert!(scene.unit.take_fault().is_none());
}
