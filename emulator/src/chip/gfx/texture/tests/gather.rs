// SPDX-License-Identifier: MIT
//! `GATHER4`, `SET_TEXTURE_OFFSETS` and `LDFPTR` of Evergreen.

use super::*;

const W: u32 = 8;

/// Between texels 3 and 4 across, 1 and 2 down.
const AT: [f32; 4] = [3.75 / W as f32, 2.25 / W as f32, 0.0, 0.0];

fn gather(opcode: u8, component: u8) -> TexInstruction {
    TexInstruction {
        modifier: component,
        ..op(opcode)
    }
}

/// The texels of a result's components: the filter's first is `(x, y)`.
fn around(x: u32, y: u32) -> [(u32, u32); 4] {
    [(x + 1, y), (x, y + 1), (x + 1, y + 1), (x, y)]
}

fn float(out: &[Lanes; 4], c: usize, lane: usize) -> f64 {
    f64::from(f32::from_bits(out[c][lane]))
}

#[test]
fn a_gather_has_a_component_of_the_filters_texels() {
    for format in [RGBA8, RGBA32F] {
        let mut scene = Scene::new(1, 2, [W, W, 1], format, 0);
        for component in 0..4 {
            let instruction = gather(tex::GATHER4, component);
            let out = scene.run(&instruction, &sampler(0), &splat(AT), 1 << 5);
            for (c, (x, y)) in around(3, 1).into_iter().enumerate() {
                let want = scene.value(x, y, 0, 0, component.into());
                assert!((float(&out, c, 5) - want).abs() < 1e-6, "{component} {c}");
                assert_eq!(out[c][6], 0, "a lane that does not run");
            }
        }
    }
}

#[test]
fn the_swizzle_comes_before_the_component() {
    let mut scene = Scene::new(1, 2, [W, W, 1], RGBA8, 0);
    // X is 1, Y is the texel's x.
    scene.words[4] = scene.words[4] & !(0x3F << 16) | 5 << 16;
    let run = |scene: &mut Scene, component| {
        let out = scene.run(&gather(tex::GATHER4, component), &sampler(0), &splat(AT), 1);
        float(&out, 3, 0)
    };
    assert_eq!(run(&mut scene, 0), 1.0);
    assert!((run(&mut scene, 1) - scene.value(3, 1, 0, 0, 0)).abs() < 1e-6);
}

#[test]
fn textures_of_integers_are_half_a_texel_off() {
    let mut scene = Scene::new(1, 2, [W, W, 1], RGBA8, 0);
    scene.words[4] |= 1 << 8;
    let out = scene.run(&gather(tex::GATHER4, 2), &sampler(0), &splat(AT), 1);
    for (c, (x, y)) in around(3, 2).into_iter().enumerate() {
        assert_eq!(out[c][0], u32::from(code(x, y, 0, 0, 2)), "{c}");
    }
}

#[test]
fn each_lane_has_its_own_offsets_until_the_clause_ends() {
    let mut scene = Scene::new(1, 2, [W, W, 1], RGBA8, 0);
    let mut offsets = [[0; LANES]; 4];
    offsets[0][1] = 2;
    offsets[1][2] = (-1i32) as u32;
    let set = op(tex::SET_TEXTURE_OFFSETS);
    let at = |scene: &mut Scene, opcode: u8, lane: usize| {
        let out = scene.run(&gather(opcode, 1), &sampler(0), &splat(AT), 7);
        float(&out, 3, lane)
    };
    scene.run(&set, &sampler(0), &offsets, 7);
    for (lane, (x, y)) in [(3, 1), (5, 1), (3, 0)].into_iter().enumerate() {
        let want = scene.value(x, y, 0, 0, 1);
        assert!((at(&mut scene, tex::GATHER4_O, lane) - want).abs() < 1e-6);
    }
    // The other instruction does not use them, nor does another clause.
    let plain = scene.value(3, 1, 0, 0, 1);
    assert!((at(&mut scene, tex::GATHER4, 1) - plain).abs() < 1e-6);
    scene.unit.end_of_clause();
    assert!((at(&mut scene, tex::GATHER4_O, 1) - plain).abs() < 1e-6);
}

#[test]
fn outside_is_the_border() {
    let mut scene = Scene::new(1, 2, [W, W, 1], RGBA8, 0);
    // CLAMP_BORDER in both directions, the border colour from registers.
    let border = sampler(6 | 6 << 3 | 3 << 22);
    let src = splat([0.25 / W as f32, 2.25 / W as f32, 0.0, 0.0]);
    let out = scene.run(&gather(tex::GATHER4, 1), &border, &src, 1);
    let found = [0, 1, 2, 3].map(|c| float(&out, c, 0));
    assert_eq!((found[1], found[3]), (0.5, 0.5));
    assert!((found[0] - scene.value(0, 1, 0, 0, 1)).abs() < 1e-6);
}

#[test]
fn a_comparison_gathers_its_results() {
    let mut scene = Scene::new(1, 2, [W, W, 1], 0x0E, 0);
    // LESS: the reference is below the texel.
    let less = sampler(1 << 26);
    let texels = around(3, 1).map(|(x, y)| scene.value(x, y, 0, 0, 0));
    let middle = texels.iter().sum::<f64>() / 4.0;
    let src = splat([AT[0], AT[1], 9.0, middle as f32]);
    let out = scene.run(&gather(tex::GATHER4_C, 3), &less, &src, 1);
    let want = texels.map(|t| if middle < t { 1.0 } else { 0.0 });
    assert!(want.contains(&1.0) && want.contains(&0.0), "{texels:?}");
    assert_eq!([0, 1, 2, 3].map(|c| float(&out, c, 0)), want);
}

#[test]
fn a_cubes_gather_goes_across_edges_and_averages_at_corners() {
    let mut scene = Scene::new(3, 2, [W, W, 1], RGBA8, 0);
    let n = W as f32;
    for face in 0..6 {
        // Between the last texel of row 1 and 2 and the next face.
        let src = splat([1.0 + (n - 0.25) / n, 1.0 + 2.25 / n, face as f32, 0.0]);
        let out = scene.run(&gather(tex::GATHER4, 0), &sampler(0), &src, 1);
        for (c, (x, y)) in around(W - 1, 1).into_iter().enumerate() {
            let mut at = CubePoint {
                face,
                s: (x as f32 + 0.5) / n,
                t: (y as f32 + 0.5) / n,
            };
            if x == W {
                at = CubePoint::of(at.direction());
                assert_ne!(at.face, face);
            }
            let (x, y) = ((at.s * n) as u32, (at.t * n) as u32);
            let want = scene.value(x.min(W - 1), y.min(W - 1), at.face, 0, 0);
            assert!((float(&out, c, 0) - want).abs() < 1e-6, "{face} {c}");
        }
        let corner = splat([2.0, 2.0, face as f32, 0.0]);
        let out = scene.run(&gather(tex::GATHER4, 0), &sampler(0), &corner, 1);
        let [a, b, missing, d] = [0, 1, 2, 3].map(|c| float(&out, c, 0));
        assert!((missing - (a + b + d) / 3.0).abs() < 1e-6);
    }
}

#[test]
fn a_cube_array_has_eight_slices_a_cube_in_its_coordinate() {
    let mut scene = Scene::new(3, 2, [W, W, 1], RGBA8, 0);
    // Two cubes: their faces follow each other. The first level has both.
    scene.words[1] |= 1 << 13;
    scene.words[5] = 11 << 17;
    let texture = Texture::decode(&scene.words, TilingConfig::from_register(TILING)).unwrap();
    let surface = texture.level(0).unwrap().surface;
    let at = (surface.base + surface.layout.sample_offset(2, 3, 7, 0)) as usize;
    scene.memory.0.lock().unwrap()[at] = 0xAB;
    let src = splat([1.0 + 2.5 / W as f32, 1.0 + 3.5 / W as f32, 9.0, 0.0]);
    let out = scene.run(&op(tex::SAMPLE_L), &sampler(0), &src, 1);
    assert!((float(&out, 0, 0) - f64::from(0xABu8) / 255.0).abs() < 1e-6);
}

#[test]
fn samples_have_their_own_colours() {
    let mut scene = Scene::new(6, 2, [W, W, 1], RGBA8, 2);
    let out = scene.run(&op(tex::LD_FPTR), &sampler(0), &splat([0.0; 4]), 3);
    assert_eq!(out[0][..3], [0x7654_3210, 0x7654_3210, 0]);
}
