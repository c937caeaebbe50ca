// SPDX-License-Identifier: MIT
//! The coverage document: every packet, shader instruction and register that
//! the headers name, and whether the board models it.
//!
//! The board decodes by the same lists, so the document agrees with the code.
//! Tests check that the source uses every register listed as modelled and none
//! listed as stored.

use std::fmt::Write;

use crate::chip::cp::pm4::{DecodeError, Packet};
use crate::chip::cp::{self, opcode};
use crate::chip::generation::cayman::CAYMAN;
use crate::chip::generation::evergreen::EVERGREEN;
use crate::chip::generation::r700::R700;
use crate::chip::gfx::shader::isa::{cf, CfKind, TexInstruction, MEM_SCRATCH};
use crate::chip::gfx::shader::names::{alu_name, code_name, r800_code_name};
use crate::chip::gfx::shader::ops::AluOp;
use crate::chip::gfx::shader::{is_modelled, r600, r800, r900, Isa};
use crate::chip::regs::{self, Register, REG_SPACE_SIZE};

/// How far the board models an item.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// It has its effect.
    Modelled,
    /// A register keeps its value, a packet is accepted; neither has an effect.
    Stored,
    /// Counted by name and skipped.
    Unknown,
}

impl State {
    fn word(self) -> &'static str {
        match self {
            State::Modelled => "modelled",
            State::Stored => "stored",
            State::Unknown => "unknown",
        }
    }
}

/// Rows of a table: code or offset, name, state.
type Rows = Vec<(String, String, State)>;

/// A section of the document: heading, text above the table, heading of the
/// table's first column, rows.
struct Section {
    title: &'static str,
    about: &'static str,
    first: &'static str,
    rows: Rows,
}

/// The packets of a generation's format; `draws`: its draws are modelled.
fn packets(format: &cp::Format, draws: bool) -> Rows {
    // Long enough for every packet; SET_* packets write registers from the first
    // of their window on.
    let body = [0; 16];
    (0..=u8::MAX)
        .filter_map(|code| {
            let state = match (format.decode)(code, &body) {
                Ok(Packet::Nop | Packet::ContextControl { .. }) if code != opcode::NOP => {
                    State::Stored
                }
                Ok(Packet::Undrawn) => State::Stored,
                Ok(
                    Packet::Draw(_)
                    | Packet::DrawIndirect { .. }
                    | Packet::Dispatch { .. }
                    | Packet::DispatchIndirect { .. },
                ) if !draws => State::Stored,
                Err(DecodeError::UnknownOpcode) => State::Unknown,
                _ => State::Modelled,
            };
            Some((format!("{code:#04x}"), (format.name)(code)?.into(), state))
        })
        .collect()
}

fn flow() -> Rows {
    let state = |known| {
        if known {
            State::Modelled
        } else {
            State::Unknown
        }
    };
    let others = (0..0x80u8).map(|code| (false, code, is_modelled(code)));
    let alu = (cf::ALU..0x10).map(|code| (true, code, true));
    let named = others.chain(alu).filter_map(|(alu, code, known)| {
        let name = match alu {
            true => alu_name(Isa::R700, code),
            false => code_name(code),
        };
        let of_alu = if alu { "ALU " } else { "" };
        let row = (format!("{of_alu}{code:#04x}"), name.into(), state(known));
        (!name.ends_with("UNKNOWN")).then_some(row)
    });
    named.collect()
}

fn alu() -> Rows {
    let row = |&op: &AluOp| {
        let (op3, code) = op.encoding();
        let form = if op3 { "OP3" } else { "OP2" };
        (
            format!("{form} {code:#04x}"),
            op.name().into(),
            State::Modelled,
        )
    };
    let own = AluOp::ALL.iter().filter(|op| op.is_r700());
    own.map(row).collect()
}

fn fetches() -> Rows {
    let mut rows: Rows = Vec::new();
    for (code, name) in [(0, "VTX_FETCH"), (1, "VTX_SEMANTIC")] {
        rows.push((format!("{code:#04x}"), name.into(), State::Modelled));
    }
    // `MEM_OP` of `SQ_MEM_RD_WORD0`.
    for (op, name) in [
        (MEM_SCRATCH, "READ_SCRATCH"),
        (1, "READ_REDUCTION"),
        (2, "READ_GLOBAL"),
        (4, "LOCAL_DS_WRITE"),
        (5, "LOCAL_DS_READ"),
    ] {
        let state = match op {
            MEM_SCRATCH => State::Modelled,
            _ => State::Unknown,
        };
        rows.push((format!("0x02, MEM_OP {op}"), name.into(), state));
    }
    for code in 3..0x20 {
        let op = TexInstruction {
            opcode: code,
            ..TexInstruction::default()
        };
        let state = match op.is_modelled() {
            true => State::Modelled,
            false => State::Unknown,
        };
        rows.push((format!("{code:#04x}"), op.name().into(), state));
    }
    rows
}

/// The codes of R600's shaders that R700 has not, or with another meaning.
fn r600() -> Rows {
    let mut rows: Rows = Vec::new();
    for code in 0..0x80u32 {
        let op = r600::alu([0, code << 8]);
        let same = AluOp::decode(false, code) == op.op;
        let units = op.op.map(AluOp::units) == Some(op.units);
        if let (Some(own), false) = (op.op, same && units) {
            let about = match (own, same) {
                (AluOp::SinRadians | AluOp::CosRadians, _) => "of radians",
                _ => "on the transcendental unit only",
            };
            let name = format!("{}, {about}", own.name());
            rows.push((format!("ALU OP2 {code:#04x}"), name, State::Modelled));
        }
    }
    // The code is Mesa's, `MOVA_GPR_INT`; no driver uses it.
    rows.push(("ALU OP2 0x60".into(), "MOVA_GPR_INT".into(), State::Unknown));
    let word = [2 << 13, u32::from(cf::MEM_SCRATCH) << 23];
    let reads =
        matches!(r600::cf(word), CfKind::Memory(word) if r600::scratch_read(&word).is_some());
    let state = match reads {
        true => State::Modelled,
        false => State::Unknown,
    };
    let code = format!("CF {:#04x}, TYPE 2 and 3", cf::MEM_SCRATCH);
    rows.push((code, "MEM_SCRATCH, read".into(), state));
    rows
}

/// The codes of R800's shaders that R700 does not have.
fn r800() -> Rows {
    let state = |known| match known {
        true => State::Modelled,
        false => State::Unknown,
    };
    let mut rows: Rows = Vec::new();
    for code in [0x03, 0x40, 0x44, 0x48, 0x4C, 0x56, 0x57, 0x58, 0x59, 0x5A] {
        let known = match r800::cf([0, code << 22]) {
            CfKind::Export(word) | CfKind::Memory(word) => is_modelled(word.code),
            CfKind::Other(word) => is_modelled(word.code),
            CfKind::Alu(_) | CfKind::AluExtended(_) => true,
        };
        let name = r800_code_name(code as u8);
        rows.push((format!("CF {code:#04x}"), name.into(), state(known)));
    }
    rows.push(("CF ALU 0x0c".into(), "ALU_EXT".into(), State::Modelled));
    let own = r800::ALU.iter().filter(|(_, _, op, _)| op.is_r800());
    for (op3, code, op, _) in own {
        let form = if *op3 { "OP3" } else { "OP2" };
        let code = format!("ALU {form} {code:#04x}");
        let state = match op {
            AluOp::SetMode => State::Stored,
            _ => State::Modelled,
        };
        rows.push((code, op.name().into(), state));
    }
    for (code, name) in [(4, "GDS"), (5, "TF_WRITE")] {
        let known = r800::data_share([2 | code << 8, 0, 0]).is_some();
        rows.push((
            format!("VTX 0x02, MEM_OP {code}"),
            name.into(),
            state(known),
        ));
    }
    rows.push((
        "VTX 0x0e".into(),
        "GET_BUFFER_RESINFO".into(),
        State::Modelled,
    ));
    for (code, modifier) in [(3, 1), (9, 0), (0x15, 0), (0x17, 0), (0x1D, 0), (0x1F, 0)] {
        let op = r800::texture([code | modifier << 5, 0, 0]);
        let known = op.is_modelled();
        let code = match modifier {
            0 => format!("TEX {code:#04x}"),
            _ => format!("TEX {code:#04x}, INST_MOD {modifier}"),
        };
        rows.push((code, op.name().into(), state(known)));
    }
    rows
}

/// The codes of R900's shaders that R800 does not have.
fn r900() -> Rows {
    let state = |known| match known {
        true => State::Modelled,
        false => State::Unknown,
    };
    let mut rows: Rows = Vec::new();
    for code in (0x20..=0x2A).chain([0x5D, 0x5E]) {
        let known = match r900::cf([0, code << 22]) {
            CfKind::Export(word) | CfKind::Memory(word) => is_modelled(word.code),
            CfKind::Other(word) => is_modelled(word.code),
            CfKind::Alu(_) | CfKind::AluExtended(_) => true,
        };
        let name = r800_code_name(code as u8);
        rows.push((format!("CF {code:#04x}"), name.into(), state(known)));
    }
    let valid = matches!(r900::cf([0, 0x0E << 26]), CfKind::Alu(_));
    let name = "ALU_VALID_PIXEL_MODE";
    rows.push(("CF ALU 0x0e".into(), name.into(), state(valid)));
    for (code, name) in [
        (0x5B, "MUL_INT24"),
        (0x5C, "MULHI_INT24"),
        (0x5D, "FLT_TO_INT_TRUNC"),
    ] {
        let known = r900::alu([0, code << 7]).op.is_some();
        rows.push((format!("ALU OP2 {code:#04x}"), name.into(), state(known)));
    }
    let known = r900::alu([0, 0x08 << 13]).op.is_some();
    rows.push(("ALU OP3 0x08".into(), "MULADD_INT24".into(), state(known)));
    for gpr in 0..4 {
        let op = r900::alu([0, 0xCC << 7 | gpr << 21]).op;
        let name = op.map_or("MOVA_INT (CF_PC)", AluOp::name);
        let code = format!("ALU OP2 0xcc, DST_GPR {gpr}");
        rows.push((code, name.into(), state(op.is_some())));
    }
    rows
}

fn registers(first: u32, last: u32) -> Rows {
    let modelled = regs::R700.modelled().map(|r| (r, State::Modelled));
    let stored = regs::R700.stored().map(|r| (r, State::Stored));
    let all = modelled.chain(stored);
    rows(all.filter(|(r, _)| (first..=last).contains(&r.offset)))
}

/// The registers with an effect that a generation has and `than` does not, or elsewhere.
fn others(map: &regs::Map, than: &regs::Map) -> Rows {
    let theirs: Vec<_> = than.modelled().collect();
    let own = map.modelled().filter(|r| !theirs.contains(r));
    rows(own.map(|r| (r, State::Modelled)))
}

fn rows(all: impl Iterator<Item = (Register, State)>) -> Rows {
    let mut all: Vec<_> = all.collect();
    all.sort_by_key(|(r, _)| r.offset);
    let row = |(r, state): (Register, State)| {
        let last = r.offsets().last().unwrap_or(r.offset);
        let name = match r.name_at(last) {
            Some(end) if last != r.offset => format!("{} to {end}", r.name),
            _ => r.name.to_string(),
        };
        let offset = match last {
            last if last != r.offset => format!("{:#07x} to {last:#07x}", r.offset),
            _ => format!("{:#07x}", r.offset),
        };
        (offset, name, state)
    };
    all.into_iter().map(row).collect()
}

fn sections() -> Vec<Section> {
    let section = |title, about, first, rows| Section {
        title,
        about,
        first,
        rows,
    };
    vec![
        section(
            "PM4 packets",
            "Type-3 packets (`PACKET3_*` of `r600d.h`). Types 0 and 2 are executed, type 1 is not \
             defined. Opcodes without a row are unknown: skipped by their length. \"Stored\" are \
             packets that steer hardware the model does not have.",
            "opcode",
            packets(&R700.pm4, R700.draws.is_some()),
        ),
        section(
            "Control flow",
            "`CF_INST` (Mesa, `r600_isa.c`, the columns of R700); ALU clauses have codes of four \
             bits. Codes without a row are unknown: nothing is executed for them.",
            "code",
            flow(),
        ),
        section(
            "ALU",
            "`ALU_INST` of both forms. Codes without a row are unknown: their slot writes nothing.",
            "code",
            alu(),
        ),
        section(
            "Texture and vertex instructions",
            "`TEX_INST` and `VTX_INST` share their codes. The result of an unknown one is 0.",
            "code",
            fetches(),
        ),
        section(
            "Registers of the 3D engine and of the command processor",
            "Registers that the kernel lets command streams write (`reg_srcs/r600`), those of \
             Mesa's `r600d.h`, and of these blocks those of `rv770d.h`.",
            "offset",
            [
                registers(0x8000, 0xCFFF),
                registers(0x2_8000, REG_SPACE_SIZE),
            ]
            .concat(),
        ),
        section(
            "Registers of the other blocks",
            "Bus interface, clocks, memory controller, interrupts, DMA, display and video \
             decoder: those that the board uses, and the rest of `rv770d.h`. The headers of the \
             display (`avivod.h`, `r500_reg.h`) name more; these count as unknown.",
            "offset",
            [registers(0, 0x7FFF), registers(0xD000, 0x2_7FFF)].concat(),
        ),
        section(
            "R6xx: registers",
            "Registers with an effect that R6xx (`r600d.h`) has elsewhere than R700, or R700 has \
             not. Its packets and the registers of its 3D engine are R700's.",
            "offset",
            others(&regs::R600, &regs::R700),
        ),
        section(
            "R6xx: shaders",
            "Codes of R600 with another meaning than R700's (Mesa, `r600_isa.c`, the columns of \
             R600). Those of two-operand words are one bit higher in the word. R700's 0x1a to 0x1d \
             and 0x3a of control flow, and `MEM_OP`, do not exist there.",
            "code",
            r600(),
        ),
        section(
            "Evergreen and Northern Islands: PM4 packets",
            "Type-3 packets of `evergreend.h`. Draws that are \"stored\" are consumed, and counted by \
             `unmodelled` of `--counters`.",
            "opcode",
            packets(&EVERGREEN.pm4, EVERGREEN.draws.is_some()),
        ),
        section(
            "Evergreen and Northern Islands: shaders",
            "Codes of R800 that R700 does not have, or with another meaning (Mesa, `r600_isa.c`, \
             the columns of Evergreen). Codes without a row that R700 does not have are unknown.",
            "code",
            r800(),
        ),
        section(
            "Evergreen and Northern Islands: registers",
            "Registers with an effect that R700 does not have, or elsewhere (`evergreend.h`, \
             `evergreen_reg.h`, `nid.h`); of CRTCs the first one's. Those of `reg_srcs/evergreen` \
             and of the two headers that are not listed are stored.",
            "offset",
            others(&regs::EVERGREEN, &regs::R700),
        ),
        section(
            "Cayman: PM4 packets",
            "As Evergreen's, with VM contexts in `INDIRECT_BUFFER`, and `DEALLOC_STATE`.",
            "opcode",
            packets(&CAYMAN.pm4, CAYMAN.draws.is_some()),
        ),
        section(
            "Cayman: shaders",
            "Codes of R900 (VLIW4) that R800 does not have, or with another meaning (Mesa, \
             `r600_isa.c`, the columns of Cayman). R800's `VTX`, `VTX_ACK`, `ALU_CONTINUE`, `ALU_BREAK`, \
             `SET_CF_IDX0`, `SET_CF_IDX1`, `RECIP_INT` and `RECIP_UINT` do not exist there.",
            "code",
            r900(),
        ),
        section(
            "Cayman: registers",
            "Registers with an effect that Evergreen does not have (`nid.h`). Those of `reg_srcs/cayman` \
             and of the header that are not listed are stored.",
            "offset",
            others(&regs::CAYMAN, &regs::EVERGREEN),
        ),
    ]
}

/// The document, in Markdown.
pub fn document() -> String {
    let mut out = String::from(
        "# What the board models\n\n\
         Printed by `r7xx-board --coverage`; the board's tests (`lab/check board`) fail if it is not current.\n\n\
         | state | meaning |\n|---|---|\n\
         | modelled | has its effect |\n\
         | stored | accepted, and read back as written; nothing follows from it |\n\
         | unknown | counted by name when it comes (`unknown` of `--counters`), then ignored; \
         a register's value is stored |\n\n\
         | | modelled | stored | unknown, with a name |\n|---|---:|---:|---:|\n",
    );
    let sections = sections();
    // Writing to a string does not fail.
    for Section { title, rows, .. } in &sections {
        let count = |state| rows.iter().filter(|(_, _, s)| *s == state).count();
        let [modelled, stored, unknown] =
            [State::Modelled, State::Stored, State::Unknown].map(count);
        let _ = writeln!(out, "| {title} | {modelled} | {stored} | {unknown} |");
    }
    for Section {
        title,
        about,
        first,
        rows,
    } in &sections
    {
        let _ = write!(
            out,
            "\n## {title}\n\n{about}\n\n| {first} | name | |\n|---|---|---|\n"
        );
        for (code, name, state) in rows {
            let _ = writeln!(out, "| {code} | {name} | {} |", state.word());
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    /// The board's source, without comments, tests and register tables.
    fn source(directory: &Path, out: &mut String) {
        for entry in std::fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_str().unwrap();
            if path.is_dir() {
                if name != "tests" {
                    source(&path, out);
                }
                continue;
            }
            let regs = path.components().any(|c| c.as_os_str() == "regs");
            let table = regs && !path.ends_with("regs/mod.rs");
            if table || name == "tests.rs" || !name.ends_with(".rs") {
                continue;
            }
            let text = std::fs::read_to_string(&path).unwrap();
            let code = text.split("mod tests {").next().unwrap();
            for line in code.lines() {
                out.push_str(line.split("//").next().unwrap());
                out.push('\n');
            }
        }
    }

    /// Identifiers of the board's source.
    fn used() -> std::collections::HashSet<String> {
        let mut text = String::new();
        source(
            &Path::new(env!("CARGO_MANIFEST_DIR")).join("src"),
            &mut text,
        );
        let word = |c: char| c.is_ascii_alphanumeric() || c == '_';
        text.split(|c| !word(c)).map(str::to_string).collect()
    }

    #[test]
    fn modelled_registers_are_used_and_stored_ones_are_not() {
        let used = used();
        let maps = [&regs::R600, &regs::R700, &regs::EVERGREEN, &regs::CAYMAN];
        let unused: Vec<_> = maps
            .into_iter()
            .flat_map(regs::Map::modelled)
            .map(|r| r.name)
            .filter(|name| !used.contains(*name))
            .collect();
        assert_eq!(unused, [""; 0], "nothing looks at these");
        let looked_at: Vec<_> = regs::R700
            .stored()
            .map(|r| r.name)
            // The same name may have an effect on another generation.
            .filter(|name| {
                maps.iter()
                    .all(|map| map.modelled().all(|r| r.name != *name))
            })
            .filter(|name| used.contains(*name))
            .collect();
        assert_eq!(looked_at, [""; 0], "these are not only stored");
    }

    #[test]
    fn the_engine_names_the_registers_that_it_looks_at() {
        let mut text = String::new();
        let gfx = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/chip/gfx");
        source(&gfx, &mut text);
        let bare: Vec<_> = text
            .lines()
            .filter(|line| line.contains("0x2_8") || line.contains("0x3_"))
            .filter(|line| !line.contains("STATE_BASE"))
            .collect();
        assert_eq!(bare, [""; 0]);
    }

    #[test]
    fn document_has_every_state_of_every_kind() {
        let text = document();
        for line in [
            "| 0x2b | DRAW_INDEX | modelled |",
            "| 0x3a | MPEG_INDEX | stored |",
            "| OP2 0x51 | DOT4_IEEE | modelled |",
            "| OP3 0x10 | MULADD | modelled |",
            "| 0x25 | MEM_REDUCT | unknown |",
            "| ALU 0x09 | ALU_PUSH_BEFORE | modelled |",
            "| 0x0f | FETCH4 | unknown |",
            "| 0x28040 to 0x2805c | CB_COLOR0_BASE to CB_COLOR7_BASE | modelled |",
            "| 0x28014 | DB_HTILE_DATA_BASE | stored |",
        ] {
            assert!(text.lines().any(|l| l == line), "{line}");
        }
        assert!(!text.contains("TEX_UNKNOWN"));
    }
}
