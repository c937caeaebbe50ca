// SPDX-License-Identifier: MIT
//! A draw as text: its packet, targets, registers and shaders, for debugging
//! wrong pictures.

use std::fmt::Write;

use super::colour::Targets;
use super::front::Front;
use super::shader::disasm::disassemble;
use super::shaders::{name, Shaders};
use super::state::{has_geometry, ProgramState, Shadow, Stage, VGT_GS_MODE};
use super::{GfxContext, STATE_BASE};
use crate::chip::cp::pm4::Draw;

/// Registers of context state, `SET_CONTEXT_REG`'s range (`r600d.h`).
const CONTEXT: std::ops::Range<u32> = STATE_BASE..0x2_9000;
/// Samplers of all stages; below Evergreen half of them exist.
const SAMPLERS: u32 = 108;
/// Most dwords of a shader that are listed.
const MAX_DWORDS: usize = 1 << 14;

/// Lists the draw, its colour targets, all context registers that are not 0 with their fields, the resources and
/// samplers likewise, and the shaders, or what replaces them, in the notation of Mesa's `R600_DEBUG`.
pub(super) fn describe(
    context: &GfxContext<'_>,
    shadow: &Shadow,
    targets: &Targets,
    shaders: Option<&Shaders>,
    draw: &Draw,
) -> String {
    let (mut out, front) = (String::new(), shadow.front());
    let registers = (front.registers)();
    // Writing to a string does not fail.
    let _ = writeln!(out, "{draw:?}");
    for (i, target) in (0..8).filter_map(|i| Some((i, targets.get(i)?))) {
        let _ = writeln!(out, "target {i}: {target:?}");
    }
    for offset in CONTEXT.step_by(4) {
        let value = context.regs.load(offset);
        if value == 0 {
            continue;
        }
        let name = registers.name(offset).unwrap_or_default();
        let _ = write!(out, "{offset:#07x} = {value:#010x} {name}");
        let fields = registers.fields(offset).iter();
        for field in fields.filter(|field| field.is_set(value)) {
            let _ = write!(out, " {}={}", field.name(), field.of(value));
        }
        let _ = writeln!(out);
    }
    list_descriptors(context, front, &mut out);
    let mut programs = vec![(None, shadow.fetch_program())];
    let mut stage = |stage| programs.push((Some(stage), shadow.program(stage)));
    if (front.tessellation)(shadow).is_some() {
        stage(Stage::Local);
        stage(Stage::Hull);
    }
    if has_geometry(shadow.get(VGT_GS_MODE)) {
        stage(Stage::Export);
        stage(Stage::Geometry);
    }
    stage(Stage::Vertex);
    stage(Stage::Pixel);
    for (stage, ProgramState { base, .. }) in programs {
        let words = read_words(context, base);
        let replaced = shaders.and_then(|shaders| shaders.words(base, front.isa, &words));
        let listing = disassemble(replaced.unwrap_or(&words), front.isa);
        let note = if replaced.is_some() { ", replaced" } else { "" };
        let _ = writeln!(out, "{} at {base:#x}{note}:\n{listing}", name(stage));
    }
    out
}

/// Lists the textures, the buffers and the samplers of all stages, by the numbers of their registers.
fn list_descriptors(context: &GfxContext<'_>, front: &Front, out: &mut String) {
    let words = |first: u32, number: u32, count: u32| -> Vec<u32> {
        let first = first + 4 * number * count;
        let offsets = (0..count).map(|word| first + 4 * word);
        offsets.map(|offset| context.regs.load(offset)).collect()
    };
    let (first, dwords, count) = front.resources;
    for number in 0..count {
        let words = words(first, number, dwords);
        if let Some(text) = front.descriptors.resource(&words) {
            let _ = write!(out, "resource {number}:\n{text}");
        }
    }
    for number in 0..SAMPLERS {
        let text = (front.descriptors).sampler(&words(front.samplers, number, 3));
        if !text.is_empty() {
            let _ = write!(out, "sampler {number}:\n{text}");
        }
    }
}

/// Dwords from `base` on, at most [`MAX_DWORDS`], to the first 256 bytes that no memory answers.
fn read_words(context: &GfxContext<'_>, base: u64) -> Vec<u32> {
    let mut words = Vec::new();
    let mut page = [0; 256];
    while words.len() < MAX_DWORDS {
        let at = base.wrapping_add(words.len() as u64 * 4);
        if context.mc.read(at, &mut page).is_err() {
            break;
        }
        let dwords = page.chunks_exact(4);
        words.extend(dwords.map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]])));
    }
    words
}
