// SPDX-License-Identifier: MIT
//! The fast path of a fetch gives the bits of the general path, and is taken where possible.

use super::*;
use crate::chip::gfx::compressed::Compressed;

/// Coordinates of a tile that begins at `origin`, in 0..1, with `step` texels from pixel to pixel.
fn coordinates(origin: [f32; 2], step: f32, size: [u32; 2]) -> [Lanes; 4] {
    let mut src = [[0; LANES]; 4];
    for lane in 0..LANES {
        let (x, y) = crate::chip::gfx::lanes::pixel_of(lane);
        for (i, at) in [x, y].into_iter().enumerate() {
            src[i][lane] = (origin[i] + at as f32 * step / size[i] as f32).to_bits();
        }
    }
    src
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    /// Coordinates near and across the edges, all wrap modes, sizes of whole blocks and others.
    #[test]
    fn fast_path_gives_the_general_paths_bits(
        mode in proptest::sample::select(vec![1u32, 2, 4]),
        width in proptest::sample::select(vec![8u32, 24, 37, 64]),
        height in proptest::sample::select(vec![3u32, 16, 40]),
        wrap in [0u32..8, 0u32..8], linear: bool, offset in [-16i8..16, -16i8..16],
        origin in [-1.2f32..1.2, -1.2f32..1.2], step in 0.0f32..3.0,
        exec in prop_oneof![Just(Mask::MAX), any::<u64>()],
    ) {
        let mut scene = Scene::new(1, mode, [width, height, 1], RGBA8, 0);
        prop_assert!(scene.texture.packed);
        let filters = if linear { LINEAR_FILTERS } else { 0 };
        let sampler = sampler(filters | wrap[0] | wrap[1] << 3);
        let mut op = op(tex::SAMPLE);
        op.offset = [offset[0], offset[1], 0];
        let src = coordinates(origin, step, [width, height]);
        scene.run_both(&op, &sampler, &src, exec);
    }

    /// If all active lanes are inside, neither the wrap mode nor the other lanes have an effect.
    #[test]
    fn texels_inside_are_the_general_paths_bits(
        mode in proptest::sample::select(vec![1u32, 2, 4]),
        width in proptest::sample::select(vec![37u32, 64, 96]),
        height in proptest::sample::select(vec![40u32, 64]),
        wrap in [0u32..8, 0u32..8], linear: bool,
        origin in [0.1f32..0.4, 0.1f32..0.4], step in [-0.2f32..1.5, -0.2f32..1.5],
        exec in prop_oneof![Just(Mask::MAX), 1..u64::MAX],
        other in proptest::sample::select(vec![f32::NAN, -1.0, 1.0, 3.0e38, 0.5]),
    ) {
        let mut scene = Scene::new(1, mode, [width, height, 1], RGBA8, 0);
        let filters = if linear { LINEAR_FILTERS } else { 0 };
        let sampler = sampler(filters | wrap[0] | wrap[1] << 3);
        let size = [width as f32, height as f32];
        let mut src = [[other.to_bits(); LANES]; 4];
        for lane in iter(exec) {
            let (x, y) = crate::chip::gfx::lanes::pixel_of(lane);
            for (i, at) in [x, y].into_iter().enumerate() {
                src[i][lane] = (origin[i] + at as f32 * step[i] / size[i]).to_bits();
            }
        }
        scene.run_both(&op(tex::SAMPLE), &sampler, &src, exec);
        prop_assert_eq!(scene.unit.cache.inside, 1);
    }

    #[test]
    fn fast_loads_give_the_general_paths_bits(
        mode in proptest::sample::select(vec![1u32, 2, 4]), origin in [-4i32..40, -4i32..40],
        step in [0i32..3, 0i32..3], exec in prop_oneof![Just(Mask::MAX), any::<u64>()],
    ) {
        let mut scene = Scene::new(1, mode, [37, 29, 1], RGBA8, 0);
        let mut src = [[0; LANES]; 4];
        for lane in 0..LANES {
            let (x, y) = crate::chip::gfx::lanes::pixel_of(lane);
            src[0][lane] = (origin[0] + x as i32 * step[0]) as u32;
            src[1][lane] = (origin[1] + y as i32 * step[1]) as u32;
        }
        scene.run_both(&op(tex::LD), &sampler(0), &src, exec);
    }
}

#[test]
fn fast_path_is_taken_inside_and_at_the_seam() {
    let mut scene = Scene::new(1, 2, [64, 64, 1], RGBA8, 0);
    // The coordinates of a tile that begins `first` texels from the left.
    let src = |first: f32| {
        let mut src = [[0; LANES]; 4];
        for lane in 0..LANES {
            let (x, y) = crate::chip::gfx::lanes::pixel_of(lane);
            src[0][lane] = ((first + x as f32) / 64.0).to_bits();
            src[1][lane] = ((8.5 + y as f32) / 64.0).to_bits();
        }
        src
    };
    // At both ends, a tile whose texels end at the texture's edge, and one that crosses it.
    let ends = [(0.5, 2), (0.25, 2), (55.5, 3), (56.5, 3)];
    for (i, (first, inside)) in [(20.5, 1), (-3.0, 1), (60.0, 1)]
        .into_iter()
        .chain(ends)
        .enumerate()
    {
        scene.run(
            &op(tex::SAMPLE),
            &sampler(LINEAR_FILTERS),
            &src(first),
            Mask::MAX,
        );
        assert_eq!(scene.unit.fast_paths(), i as u64 + 1, "{first}");
        assert_eq!(scene.unit.cache.inside, inside, "{first}");
    }
}

/// Coordinates of all exponents and both signs: none outside is rounded to a texel inside.
#[test]
fn no_coordinate_is_taken_for_one_inside() {
    let mut scene = Scene::new(1, 2, [64, 64, 1], RGBA8, 0);
    let mut inside = 0;
    for high in 0..1 << 12 {
        for bits in [high << 20, high << 20 | 0xF_FFFF] {
            let mut src = splat([0.3, 0.3, 0.0, 0.0]);
            src[0][5] = bits;
            for filters in [0, LINEAR_FILTERS] {
                let s = sampler(filters);
                let fast = scene.run(&op(tex::SAMPLE), &s, &src, Mask::MAX);
                inside += u32::from(scene.unit.cache.inside == 1);
                scene.unit.cache.inside = 0;
                scene.unit.general = true;
                let general = scene.run(&op(tex::SAMPLE), &s, &src, Mask::MAX);
                scene.unit.general = false;
                assert_eq!(fast, general, "{bits:#x}");
            }
        }
    }
    assert!(inside > 100, "{inside}");
}

#[test]
fn blocks_are_laid_out_once() {
    let mut scene = Scene::new(1, 4, [64, 64, 1], RGBA8, 0);
    let s = sampler(LINEAR_FILTERS);
    // Texels (19, 19), (19 or 20, 19), (23, 19) with its neighbours in the next block, (51, 51).
    let at = |x: f32, y: f32| splat([x, y, 0.0, 0.0]);
    let (near, next) = (at(0.3, 0.3), at(0.31, 0.3));
    let (edge, far) = (at(24.0 / 64.0, 0.3), at(0.8, 0.8));
    for (src, laid_out) in [
        (&near, 1),
        (&next, 1),
        (&edge, 2),
        (&near, 2),
        // Four blocks further in both directions: the same place in the patch.
        (&far, 3),
        (&near, 4),
        (&edge, 4),
    ] {
        scene.run_both(&op(tex::SAMPLE), &s, src, Mask::MAX);
        assert_eq!(scene.unit.cache.laid_out, laid_out);
    }
}

/// The four texels of a filter lie in four blocks, in the four corners of the patch.
#[test]
fn texels_beyond_the_last_column_and_row_are_those_of_the_first() {
    for (x, y) in [(32.0, 32.0), (32.0, 10.25), (10.25, 32.0), (64.0, 96.0)] {
        let mut scene = Scene::new(1, 2, [128, 128, 1], RGBA8, 0);
        let src = splat([(x + 0.25) / 128.0, (y + 0.25) / 128.0, 0.0, 0.0]);
        let s = sampler(LINEAR_FILTERS);
        scene.run_both(&op(tex::SAMPLE), &s, &src, Mask::MAX);
        assert_eq!(scene.unit.cache.inside, 1);
    }
}

/// The same block of two levels, and of two textures.
#[test]
fn blocks_in_the_patch_are_of_one_texture_and_level() {
    let mut scene = Scene::new(1, 2, [64, 64, 1], RGBA8, 1);
    let words = scene.words;
    let mut other = words;
    // The base address, in units of 256 bytes.
    other[2] = 0x10;
    let mut seen = Vec::new();
    for (words, level) in [(words, 0), (words, 1), (words, 0), (other, 0), (words, 0)] {
        scene.words = words;
        let mut src = [[3; LANES]; 4];
        src[3] = [level; LANES];
        let fast = scene.run_both(&op(tex::LD), &sampler(0), &src, Mask::MAX);
        seen.push(fast[0][0]);
    }
    // All took the fast path, and the texels differ.
    assert_eq!(scene.unit.cache.laid_out, 5);
    assert!(seen[0] != seen[1] && seen[0] != seen[3], "{seen:x?}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// A sequence of fetches, near and far, at seams and edges: none uses blocks that another fetch
    /// left in the patch for other texels.
    #[test]
    fn what_fetches_leave_behind_serves_those_of_the_same_blocks_only(
        size in proptest::sample::select(vec![[8u32, 16], [24, 37], [64, 64], [128, 40]]),
        wrap in [0u32..3, 0u32..3], linear: bool,
        origins in proptest::collection::vec([-1.5f32..1.5, -1.5f32..1.5], 2..12), step in 0.0f32..3.0,
    ) {
        let mut scene = Scene::new(1, 4, [size[0], size[1], 1], RGBA8, 0);
        let sampler = sampler((if linear { LINEAR_FILTERS } else { 0 }) | wrap[0] | wrap[1] << 3);
        for origin in origins {
            let src = coordinates(origin, step, size);
            scene.run_both(&op(tex::SAMPLE), &sampler, &src, Mask::MAX);
        }
    }
}

/// Coordinates of a tile with two texels from pixel to pixel. The upper left texel of the first pixel
/// is `first`, and the second texels have these weights in 1/256.
fn halves(first: [u32; 2], weights: [u32; 2], size: [u32; 2]) -> [Lanes; 4] {
    let origin =
        [0, 1].map(|i| (first[i] as f32 + 0.5 + weights[i] as f32 / 256.0) / size[i] as f32);
    coordinates(origin, 2.0, size)
}

/// Selects component `select[i]` of a texel, 0 (4) or 1 (5) for component i of the result.
fn swizzle(scene: &mut Scene, select: [u32; 4]) {
    scene.words[4] = (0..4).fold(0, |word, i| word | select[i] << (16 + 3 * i));
}

#[test]
fn pictures_of_half_the_size_are_filtered_from_memory() {
    let mut taken = 0;
    for (mode, size) in [(2, [64, 64]), (4, [128, 96]), (4, [88, 40])] {
        for (first, weights, select) in [
            ([0, 0], [128, 128], [0, 1, 2, 3]),
            ([16, 8], [128, 128], [2, 1, 0, 5]),
            ([48, 24], [0, 255], [3, 3, 4, 0]),
            ([8, 16], [77, 1], [1, 0, 1, 2]),
        ] {
            let mut scene = Scene::new(1, mode, [size[0], size[1], 1], RGBA8, 0);
            swizzle(&mut scene, select);
            let src = halves(first, weights, size);
            let out = scene.run_both(&op(tex::SAMPLE), &sampler(LINEAR_FILTERS), &src, Mask::MAX);
            assert_eq!(
                (scene.unit.halved(), scene.unit.cache.laid_out),
                (1, 0),
                "{mode} {size:?}"
            );
            assert!(out[0][0] != out[0][63]);
            taken += 1;
        }
    }
    assert_eq!(taken, 12);
}

/// A fetch like those above, but for one thing, takes another path to the same bits.
#[test]
fn what_only_looks_like_half_the_size_is_not() {
    const SIZE: [u32; 2] = [64, 64];
    let linear = sampler(LINEAR_FILTERS);
    let texture = |mode: u32, format: u32| Scene::new(1, mode, [SIZE[0], SIZE[1], 1], format, 0);
    let src = halves([16, 8], [128, 128], SIZE);
    let check = |what: &str, mut scene: Scene, sampler: &Sampler, src: &[Lanes; 4], exec: Mask| {
        scene.run_both(&op(tex::SAMPLE), sampler, src, exec);
        assert_eq!(scene.unit.halved(), 0, "{what}");
        assert_eq!(scene.unit.fast_paths(), 1, "{what}");
    };
    check("linear rows", texture(1, RGBA8), &linear, &src, Mask::MAX);
    check("nearest", texture(4, RGBA8), &sampler(0), &src, Mask::MAX);
    check(
        "a lane less",
        texture(4, RGBA8),
        &linear,
        &src,
        Mask::MAX >> 1,
    );
    // 8_8, whose elements have two bytes.
    check("two bytes", texture(4, 0x07), &linear, &src, Mask::MAX);
    let mut depth = texture(2, RGBA8);
    // TILE_TYPE
    depth.words[0] |= 1 << 7;
    check("depth order", depth, &linear, &src, Mask::MAX);
    for first in [[20, 8], [16, 9], [23, 15]] {
        let src = halves(first, [128, 128], SIZE);
        check(
            "not whole blocks",
            texture(4, RGBA8),
            &linear,
            &src,
            Mask::MAX,
        );
    }
    let origin = [16.5 / 64.0, 8.5 / 64.0];
    for step in [1.0, 1.99, 2.01, 3.0] {
        let src = coordinates(origin, step, SIZE);
        check("another scale", texture(4, RGBA8), &linear, &src, Mask::MAX);
    }
    let turned = coordinates([31.0 / 64.0, 23.0 / 64.0], -2.0, SIZE);
    check("turned", texture(4, RGBA8), &linear, &turned, Mask::MAX);
    // Any lane, by as little as makes a difference.
    for lane in 1..LANES {
        for axis in 0..2 {
            let mut src = src;
            let moved = f32::from_bits(src[axis][lane]) + 1.0 / 256.0 / 64.0;
            src[axis][lane] = moved.to_bits();
            check("one lane off", texture(4, RGBA8), &linear, &src, Mask::MAX);
        }
    }
}

/// Blocks that memory does not have are zeroes, and the access is reported.
#[test]
fn half_of_a_picture_outside_memory_is_reported() {
    let mut scene = Scene::new(1, 4, [64, 64, 1], RGBA8, 0);
    // The last macro tile row begins at the memory's end.
    scene.memory.0.lock().unwrap().truncate(64 * 32 * 4);
    let (s, src) = (
        sampler(LINEAR_FILTERS),
        halves([16, 16], [128, 128], [64, 64]),
    );
    let missing = halves([16, 40], [128, 128], [64, 64]);
    scene.run_both(&op(tex::SAMPLE), &s, &src, Mask::MAX);
    assert_eq!((scene.unit.halved(), scene.unit.take_fault()), (1, None));
    let out = scene.run(&op(tex::SAMPLE), &s, &missing, Mask::MAX);
    assert_eq!(scene.unit.halved(), 1);
    assert!(scene.unit.take_fault().is_some());
    assert_eq!(out, [[0; LANES]; 4]);
}

/// If accesses are watched, the blocks are read through the cache, which has them reported.
#[test]
fn half_of_a_picture_is_read_by_block_if_somebody_watches() {
    let mut scene = Scene::new(1, 4, [64, 64, 1], RGBA8, 0);
    let (s, src) = (
        sampler(LINEAR_FILTERS),
        halves([16, 16], [128, 128], [64, 64]),
    );
    let (compressed, mut out) = (Compressed::default(), [[0; LANES]; 4]);
    for (watched, halved) in [(true, 0), (false, 1)] {
        let view = View::new(&scene.memory).watched(watched.then_some(&compressed));
        let unit = &mut scene.unit;
        let mut seen = [[1; LANES]; 4];
        sample_anew(
            unit,
            &view,
            &op(tex::SAMPLE),
            (scene.words, s),
            &src.each_ref(),
            Mask::MAX,
            &mut seen,
        );
        assert_eq!((unit.fast_paths(), unit.halved()), (1 + halved, halved));
        if watched {
            out = seen;
        }
        assert_eq!(seen, out);
    }
}
