// SPDX-License-Identifier: MIT
//! The coverage document is current, and unknown packets, registers and
//! instructions are counted by name.

use std::path::Path;
use std::process::Command;

use crate::common;
use crate::rig::scene::*;
use crate::rig::shader::*;
use crate::rig::{config, Rig};
use r7xx_board::chip::counters::Counter;
use r7xx_board::chip::gfx::Pipeline;

#[test]
fn coverage_document_is_current() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/emulator-coverage.md");
    let printed = Command::new(common::board_program())
        .arg("--coverage")
        .output()
        .unwrap();
    assert!(printed.status.success());
    let printed = String::from_utf8(printed.stdout).unwrap();
    assert_eq!(
        std::fs::read_to_string(path).unwrap(),
        printed,
        "r7xx-board --coverage > docs/emulator-coverage.md"
    );
}

#[test]
fn unknown_packets_registers_and_instructions_are_counted_by_name() {
    let gfx = Box::new(Pipeline::new(1));
    let mut s = Scene::new(Rig::with_gfx(config(None), gfx));
    s.finish();
    let before = s.rig.chip.counters().snapshot();
    // The scene itself uses nothing unknown.
    assert!(before.unknown.is_empty(), "{:?}", before.unknown);
    // Three dwords of opcode 0x5A, twice.
    for _ in 0..2 {
        s.rig.cp_fill(&[0xC002_5A00, 1, 2, 3]);
    }
    s.set(0x2_8F00, 7);
    // ALU code 0x60 and TEX_INST FETCH4, in a shader that a wave runs.
    let mut ps = Shader::new();
    let mut code = ps
        .sample(1, 1, 0)
        .alu(0x08, &[op2(0x60, 2, 0, gpr(1, 0), gpr(1, 0), true)], &[])
        .export(PIXEL, 0, 0, XYZW, true)
        .words();
    let sample = code.iter().position(|w| *w == 0x1_0010).unwrap();
    code[sample] ^= 0x10 ^ 0x0F;
    let start = s.shader_words(&code);
    s.set(0x2_8840, start);
    s.rectangle([0.0, 0.0, 8.0, 8.0], 0.5, [1.0; 4]);
    s.finish();
    let found = s.rig.chip.counters().snapshot();
    assert_eq!(found.unknown["packet 0x5a"], 2);
    assert_eq!(found.unknown["register 0x28f00"], 1);
    assert_eq!(found.unknown["ALU instruction 0x60"], 1);
    assert_eq!(found.unknown["TEX instruction 0xf"], 1);
    assert_eq!(found.unknown.len(), 4, "{:?}", found.unknown);
    let counters = s.rig.chip.counters();
    assert_eq!(counters.get(Counter::UnknownRegisters), 1);
    assert_eq!(counters.get(Counter::UnknownInstructions), 2);
    assert_eq!(counters.get(Counter::BadPackets), 2);
}
