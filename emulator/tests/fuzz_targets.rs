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
