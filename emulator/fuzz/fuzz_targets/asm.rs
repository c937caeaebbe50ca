// SPDX-License-Identifier: MIT
//! A shader's text, or words that become a text: the assembler.
#![no_main]
// Each program has one target, and the tests use all of the assembler.
#![allow(dead_code)]

#[path = "../../tests/rig/r800.rs"]
mod r800;
#[path = "../../tests/rig/shader.rs"]
mod shader;
#[path = "../../tests/rig/state.rs"]
mod state;
#[path = "../targets.rs"]
mod targets;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    targets::asm::asm(data);
});
