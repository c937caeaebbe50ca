// SPDX-License-Identifier: MIT
//! The fuzzer's targets (`fuzz/`) on the inputs that it begins with, and on random ones.
//!
//! `R7XX_SEEDS=emulator/fuzz/corpus cargo test fuzz_targets` writes the former to files there.

#[allow(dead_code)] // The fuzzer's programs use other parts.
#[path = "../fuzz/targets.rs"]
mod targets;

use crate::rig::{shader, state};
use r7xx_board::chip::gfx::PipelineCounter;

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
    for (name, input) in targets::shader_seeds() {
        assert!(targets::shader(&input) > 0, "{name}");
        keep("shader", name, &input);
    }
}

#[test]
fn seeds_of_compute_shaders_run() {
    let seeds = targets::compute_seeds();
    // The sum of all threads' numbers.
    let sum = 64 * 63 / 2;
    for (name, input) in &seeds {
        let done = targets::compute(input);
        let expected = match *name {
            "store" => (64, true, 0, sum),
            "counter" => (64, true, sum, 0),
            "endless" => (0, false, 0, 0),
            _ => (64, true, 0, 0),
        };
        let found = (done.threads, done.ended, done.counter, done.stored);
        assert_eq!(found, expected, "{name}");
        keep("compute", name, input);
    }
}

/// Groups without number are cut by the budget of all instructions.
#[test]
fn too_many_groups_end() {
    let (_, mut input) = targets::compute_seeds().swap_remove(0);
    let at = input.len() - 6;
    input[at..].fill(0xFF);
    let done = targets::compute(&input);
    assert!(!done.ended && done.threads > 1 << 10, "{done:?}");
}

#[test]
fn changed_compute_shaders_end_without_a_panic() {
    let mut random = fastrand::Rng::with_seed(3);
    let seeds = targets::compute_seeds();
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
        let done = targets::compute(&input);
        run += usize::from(done.threads > 0);
        different += usize::from(done != targets::compute(seed));
    }
    assert!(
        run > 100 && different > 80,
        "of 200, {run} run, {different} run otherwise"
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
fn changed_shaders_end_without_a_panic() {
    let mut random = fastrand::Rng::with_seed(2);
    let seeds = targets::shader_seeds();
    let (mut run, mut different) = (0, 0);
    for _ in 0..1000 {
        let (_, seed) = &seeds[random.usize(..seeds.len())];
        let executed = targets::shader(&changed(seed, &mut random));
        run += usize::from(executed > 0);
        different += usize::from(executed != targets::shader(seed));
    }
    assert!(
        run > 500 && different > 200,
        "of 1000, {run} run, {different} run otherwise"
    );
}
