// SPDX-License-Identifier: MIT
//! The fuzzer's targets (`fuzz/`) on the inputs that it begins with, and on random ones.
//!
//! `R7XX_SEEDS=emulator/fuzz/corpus cargo test fuzz_targets` writes the former to files there.

#[allow(dead_code)] // The fuzzer's programs use other parts.
#[path = "../fuzz/targets.rs"]
mod targets;

use std::time::{Duration, Instant};

use self::targets::asm::Assembled;
use crate::rig::{r800, shader, state};
use r7xx_board::chip::gfx::front::Front;
use r7xx_board::chip::gfx::shader::Options;
use r7xx_board::chip::gfx::{cayman, evergreen, PipelineCounter};

/// Inputs by name.
type Seeds = Vec<(&'static str, Vec<u8>)>;

/// The encodings of shaders that are targets, with the targets' inputs.
fn encodings() -> [(&'static str, Options, Seeds); 2] {
    [
        ("shader", Options::r700(true), targets::shader_seeds()),
        (
            "shader_cayman",
            targets::cayman::OPTIONS,
            targets::cayman::shader_seeds(),
        ),
    ]
}

/// The generations with compute shaders.
const COMPUTE: [(&str, &Front); 2] = [
    ("compute", &evergreen::FRONT),
    ("compute_cayman", &cayman::FRONT),
];

/// Writes an input of target `target` to a file, if the user wants that.
fn keep(target: &str, name: &str, input: &[u8]) {
    if let Some(directory) = std::env::var_os("R7XX_SEEDS") {
        let directory = std::path::PathBuf::from(directory).join(target);
        std::fs::create_dir_all(&directory).unwrap();
        std::fs::write(directory.join(name), input).unwrap();
    }
}

#[test]
fn seeds_draw() {
    for (name, input) in targets::seeds() {
        let pixels = targets::draw(&input).pipeline[PipelineCounter::PsInvocations as usize];
        assert!(pixels > 0, "{name}");
        keep("draw", name, &input);
    }
}

#[test]
fn seeds_of_shaders_run() {
    for (target, options, seeds) in encodings() {
        for (name, input) in seeds {
            assert!(targets::shader(options, &input) > 0, "{target}: {name}");
            keep(target, name, &input);
        }
    }
}

/// Each seed of Cayman's draws shows its case in the target, in the depth buffer or in the number of samples.
#[test]
fn seeds_draw_on_cayman() {
    for (name, input) in &targets::cayman::seeds() {
        let done = targets::cayman::draw(input);
        // Red, green and blue of the first and the last pixel of the upper row.
        let [first, last] = [0, done.row.len() - 4].map(|at| &done.row[at..at + 3]);
        let expected = match *name {
            // The texel itself; its red is the second of those that are gathered.
            "texture" | "indexed" => [[1, 2, 3]; 2],
            "gather" => [[0, 1, 0]; 2],
            "kill" => [[255, 128, 64], [0; 3]],
            // The reciprocal of 1.
            "wide" => [[255; 3]; 2],
            // The first turn takes 1 from red, which is 1.
            "turns" => [[0, 128, 64]; 2],
            _ => [[255, 128, 64]; 2],
        };
        assert_eq!([first, last], expected, "{name}");
        let depth = if *name == "depth" { 0.75f32 } else { 0.0 };
        assert_eq!(f32::from_bits(done.depth), depth, "{name}");
        let samples: u64 = done.statistics.zpass.iter().sum();
        let of_pixel = if *name == "samples" { 4 } else { 1 };
        assert_eq!(samples, 64 * 64 * of_pixel, "{name}");
        keep("draw_cayman", name, input);
    }
}

#[test]
fn seeds_of_compute_shaders_run() {
    // The sum of all threads' numbers.
    let sum = 64 * 63 / 2;
    for (target, front) in COMPUTE {
        for (name, input) in &targets::compute_seeds(front.isa) {
            let done = targets::compute(front, input);
            let expected = match *name {
                "store" => (64, true, 0, sum),
                "counter" => (64, true, sum, 0),
                "endless" => (0, false, 0, 0),
                _ => (64, true, 0, 0),
            };
            let found = (done.threads, done.ended, done.counter, done.stored);
            assert_eq!(found, expected, "{target}: {name}");
            keep(target, name, input);
        }
    }
}

/// Groups without number are cut by the budget of all instructions.
#[test]
fn too_many_groups_end() {
    for (target, front) in COMPUTE {
        let (_, mut input) = targets::compute_seeds(front.isa).swap_remove(0);
        let at = input.len() - 6;
        input[at..].fill(0xFF);
        let done = targets::compute(front, &input);
        assert!(!done.ended && done.threads > 1 << 10, "{target}: {done:?}");
    }
}

#[test]
fn changed_compute_shaders_end_without_a_panic() {
    for (number, (target, front)) in COMPUTE.into_iter().enumerate() {
        let mut random = fastrand::Rng::with_seed(3 + number as u64);
        let seeds = targets::compute_seeds(front.isa);
        let (mut run, mut different) = (0, 0);
        for _ in 0..200 {
            let (_, seed) = &seeds[random.usize(..seeds.len())];
            let mut input = changed(seed, &mut random);
            // A register, often of the target of random access, then the seed's dispatch.
            let register = random.u16(0x318..0x31F);
            input.push(0);
            input.extend(register.to_le_bytes());
            input.extend(random.u32(..).to_le_bytes());
            input.extend(&seed[seed.len() - 7..]);
            let done = targets::compute(front, &input);
            run += usize::from(done.threads > 0);
            different += usize::from(done != targets::compute(front, seed));
        }
        assert!(
            run > 80 && different > 80,
            "{target}: of 200, {run} run, {different} run otherwise"
        );
    }
}

#[test]
fn seeds_assemble() {
    for (name, input) in targets::asm::seeds() {
        assert_eq!(targets::asm::asm(&input), Assembled::Same, "{name}");
        keep("asm", &name, &input);
    }
}

#[test]
fn large_programs_assemble_in_time() {
    for (name, input) in targets::asm::large() {
        let begun = Instant::now();
        let done = targets::asm::asm(&input);
        let expected = match name {
            "tokens" | "lines" => Assembled::Refused,
            _ => Assembled::Same,
        };
        assert_eq!(done, expected, "{name}");
        // A second or two, unoptimised. A guard, not a measurement.
        assert!(begun.elapsed() < Duration::from_secs(30), "{name}");
    }
}

#[test]
fn changed_texts_and_words_assemble_or_are_refused() {
    let mut random = fastrand::Rng::with_seed(5);
    let seeds = targets::asm::seeds();
    let mut counts = [0; 4];
    for _ in 0..2000 {
        let (_, seed) = &seeds[random.usize(..seeds.len())];
        let done = targets::asm::asm(&changed(seed, &mut random));
        counts[done as usize] += 1;
    }
    let [refused, same, moved, lost] = counts;
    assert!(
        refused > 300 && same > 600 && moved > 3 && lost > 10,
        "refused, same, moved, lost: {counts:?}"
    );
}

/// `seed` with some bytes changed.
fn changed(seed: &[u8], random: &mut fastrand::Rng) -> Vec<u8> {
    let mut input = seed.to_vec();
    for _ in 0..random.usize(1..6) {
        let at = random.usize(..input.len());
        input[at] = random.u8(..);
    }
    input
}

#[test]
fn changed_seeds_end_without_a_panic() {
    let mut random = fastrand::Rng::with_seed(1);
    let seeds = targets::seeds();
    let mut different = 0;
    for _ in 0..300 {
        let (_, seed) = &seeds[random.usize(..seeds.len())];
        let mut input = changed(seed, &mut random);
        // The draw of the seed follows the changed state.
        input.extend(&seed[seed.len() - 6..]);
        different += usize::from(targets::draw(&input) != targets::draw(seed));
    }
    assert!(
        different > 150,
        "{different} of 300 inputs count other than their seed"
    );
}

#[test]
fn changed_draws_of_cayman_end_without_a_panic() {
    let mut random = fastrand::Rng::with_seed(4);
    let seeds = targets::cayman::seeds();
    let mut different = 0;
    for _ in 0..300 {
        let (_, seed) = &seeds[random.usize(..seeds.len())];
        let mut input = changed(seed, &mut random);
        // The draw of the seed follows the changed state.
        input.extend(&seed[seed.len() - 6..]);
        different += usize::from(targets::cayman::draw(&input) != targets::cayman::draw(seed));
    }
    assert!(
        different > 150,
        "{different} of 300 inputs draw other than their seed"
    );
}

#[test]
fn changed_shaders_end_without_a_panic() {
    for (target, options, seeds) in encodings() {
        let mut random = fastrand::Rng::with_seed(2);
        let (mut run, mut different) = (0, 0);
        for _ in 0..1000 {
            let (_, seed) = &seeds[random.usize(..seeds.len())];
            let executed = targets::shader(options, &changed(seed, &mut random));
            run += usize::from(executed > 0);
            different += usize::from(executed != targets::shader(options, seed));
        }
        assert!(
            run > 500 && different > 200,
            "{target}: of 1000, {run} run, {different} run otherwise"
        );
    }
}
