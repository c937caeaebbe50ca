// SPDX-License-Identifier: MIT
//! A draw as text: its packet, targets, registers and shaders, for debugging
//! wrong pictures.

use std::fmt::Write;

use super::colour::Targets;
use super::front;
use super::shader::disasm::disassemble;
use super::state::{has_geometry, Stage, FETCH_PROGRAM_REGISTERS, VGT_GS_MODE};
use super::{GfxContext, STATE_BASE};
use crate::chip::cp::pm4::Draw;
use crate::chip::regs;

/// Registers of context state, `SET_CONTEXT_REG`'s range (`r600d.h`).
const CONTEXT: std::ops::Range<u32> = STATE_BASE..0x2_9000;
/// Most dwords of a shader that are listed.
const MAX_DWORDS: usize = 1 << 14;
/// Lists the draw, its colour targets, all context registers that are not 0, and
/// the shaders in the notation of Mesa's `R600_DEBUG`.
pub fn describe(context: &GfxContext<'_>, draw: &Draw) -> String {
    let mut out = String::new();
    // Writing to a string does not fail.
    let _ = writeln!(out, "{draw:?}");
    let targets = Targets::decode(context.regs);
    for (i, target) in (0..8).filter_map(|i| Some((i, targets.get(i)?))) {
        let _ = writeln!(out, "target {i}: {target:?}");
    }
    for offset in CONTEXT.step_by(4) {
        let value = context.regs.load(offset);
        if value != 0 {
            let name = regs::name(offset).unwrap_or_default();
            let _ = writeln!(out, "{offset:#07x} = {value:#010x} {name}");
        }
    }
    let mut programs = vec![("FS (fetch)", FETCH_PROGRAM_REGISTERS)];
    if has_geometry(context.regs.load(VGT_GS_MODE)) {
        programs.push(("ES (export)", (front::R700.stage)(Stage::Export).program));
        programs.push((
            "GS (geometry)",
            (front::R700.stage)(Stage::Geometry).program,
        ));
    }
    programs.push(("VS (vertex)", (front::R700.stage)(Stage::Vertex).program));
    programs.push(("PS (pixel)", (front::R700.stage)(Stage::Pixel).program));
    for (name, [start, _]) in programs {
        let base = u64::from(context.regs.load(start)) << 8;
        let words = read_words(context, base);
        let _ = writeln!(out, "{name} at {base:#x}:\n{}", disassemble(&words));
    }
    out
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
