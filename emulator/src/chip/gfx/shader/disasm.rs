// SPDX-License-Identifier: MIT
//! Disassembles shaders in the notation of Mesa's `R600_DEBUG` dumps, so that
//! the two can be compared line by line (except for runs of blanks).

use std::fmt::Write;

use super::isa::{
    cf, is_tex_clause, is_vtx_clause, sel, AluInstruction, AluSource, CfAlu, CfExport, CfKind,
    CfOther, GdsInstruction, MemInstruction, TexInstruction, VtxInstruction, BUFFER_SIZE,
};
use super::names::{
    cf_text, memory_kinds, memory_read_text, rat_text, share_operands, share_text, EXPORTS,
    UNKNOWN_OPERATION,
};
use super::ops::{AluOp, Units};
use super::{r800, Isa};

/// Most control-flow instructions that are listed.
const MAX_CF: usize = 1 << 12;

/// Lists the program in `words`: each control-flow instruction up to the one
/// that ends the program, followed by its clause. Words beyond the end of
/// `words` read as 0.
pub fn disassemble(words: &[u32], isa: Isa) -> String {
    let mut listing = Listing {
        words,
        isa,
        extension: None,
        out: String::new(),
        groups: 0,
    };
    for index in 0..MAX_CF {
        let at = index * 2;
        if at + 1 >= words.len() {
            break;
        }
        let kind = isa.cf([words[at], words[at + 1]]);
        // Writing to a string does not fail.
        let _ = listing.control(at, &kind);
        // A fetch shader ends by returning.
        let returns = matches!(kind, CfKind::Other(word) if word.code == cf::RET);
        if kind.ends() || returns {
            break;
        }
    }
    listing.out
}

struct Listing<'a> {
    words: &'a [u32],
    isa: Isa,
    /// The `ALU_EXT` ahead of a clause.
    extension: Option<CfAlu>,
    out: String,
    groups: u32,
}

const CHANNELS: [char; 8] = ['x', 'y', 'z', 'w', '0', '1', '?', '_'];

fn swizzle(select: &[u8]) -> String {
    select
        .iter()
        .map(|&s| CHANNELS[usize::from(s & 7)])
        .collect()
}

impl Listing<'_> {
    fn word(&self, at: usize) -> u32 {
        self.words.get(at).copied().unwrap_or(0)
    }

    fn control(&mut self, at: usize, kind: &CfKind) -> std::fmt::Result {
        let (a, b) = (self.word(at), self.word(at + 1));
        write!(self.out, "{at:04} {a:08X} {b:08X} ")?;
        write!(self.out, "{} ", cf_text(self.isa, [a, b]))?;
        match kind {
            CfKind::Alu(word) => {
                let mut word = *word;
                if let Some(extension) = self.extension.take() {
                    r800::extend(&mut word, &extension);
                }
                self.alu_clause(&word)
            }
            CfKind::AluExtended(word) => {
                self.extension = Some(*word);
                writeln!(self.out)
            }
            CfKind::Export(word) => self.export(word),
            CfKind::Memory(word) => self.memory(word),
            CfKind::Other(word)
                if is_tex_clause(word.code) || is_vtx_clause(word.code) || word.code == cf::GDS =>
            {
                self.fetch_clause(word)
            }
            CfKind::Other(word) => self.other(word),
        }
    }

    fn other(&mut self, word: &CfOther) -> std::fmt::Result {
        write!(self.out, "@{} ", u64::from(word.address) * 2)?;
        if word.cond != 0 {
            write!(self.out, "CND:{:X} ", word.cond)?;
        }
        if word.pop_count != 0 {
            write!(self.out, "POP:{:X} ", word.pop_count)?;
        }
        let emits = matches!(word.code, cf::EMIT_VERTEX..=cf::CUT_VERTEX);
        if emits && word.count > 1 {
            write!(self.out, "STREAM{} ", word.count - 1)?;
        }
        self.flags(word.valid_pixel, word.end)
    }

    fn flags(&mut self, valid_pixel: bool, end: bool) -> std::fmt::Result {
        if valid_pixel {
            write!(self.out, "VPM ")?;
        }
        if end {
            write!(self.out, "EOP ")?;
        }
        writeln!(self.out)
    }

    fn registers(&mut self, word: &CfExport, base: u32, select: [u8; 4]) -> std::fmt::Result {
        let (last, gpr) = (u32::from(word.burst) - 1, u32::from(word.gpr));
        if last > 0 {
            write!(self.out, "{base}-{} R{gpr}-{}.", base + last, gpr + last)?;
        } else {
            write!(self.out, "{base} R{gpr}.")?;
        }
        write!(self.out, "{}", swizzle(&select))
    }

    fn export(&mut self, word: &CfExport) -> std::fmt::Result {
        let kind = EXPORTS[usize::from(word.kind & 3)];
        write!(self.out, "{kind} ")?;
        self.registers(word, u32::from(word.array_base), word.sel)?;
        write!(self.out, " ES:{:X} ", word.element_size)?;
        if !word.barrier {
            write!(self.out, "NO_BARRIER ")?;
        }
        self.flags(false, word.end)
    }

    fn memory(&mut self, word: &CfExport) -> std::fmt::Result {
        let kind = memory_kinds(self.isa)[usize::from(word.kind & 3)];
        write!(self.out, "{kind} ")?;
        let mut base = u32::from(word.array_base);
        if word.code == cf::MEM_RAT {
            // RAT_ID, RAT_INST and RAT_INDEX_MODE are in its place.
            write!(self.out, "RAT{}", base & 0xF)?;
            match base >> 11 & 3 {
                0 => {}
                index => write!(self.out, "[IDX{}]", index - 1)?,
            }
            write!(self.out, " {} ", rat_text(base >> 4 & 0x3F))?;
            base = 0;
        }
        let select = [0, 1, 2, 3].map(|i| if word.components >> i & 1 != 0 { i } else { 7 });
        self.registers(word, base, select)?;
        if word.kind & 1 != 0 {
            write!(self.out, " R{}.xyz", word.index_gpr)?;
        }
        write!(self.out, " ES:{} ", word.element_size)?;
        if word.array_size != 0xfff {
            write!(self.out, "AS:{} ", word.array_size)?;
        }
        if !word.barrier {
            write!(self.out, "NO_BARRIER ")?;
        }
        self.flags(false, word.end)
    }

    fn alu_clause(&mut self, word: &CfAlu) -> std::fmt::Result {
        write!(self.out, "{} @{} ", word.count, word.address * 2)?;
        for set in 0..4 {
            let mode = u32::from(word.kcache_mode[set]);
            if mode != 0 {
                let start = u32::from(word.kcache_line[set]) * 16;
                let (bank, end) = (word.kcache_bank[set], start + mode * 16);
                let index = index(word.kcache_index[set], " ");
                write!(self.out, "KC{set}[CB{bank}:{start}-{end}{index}] ")?;
            }
        }
        writeln!(self.out)?;
        let mut at = word.address as usize * 2;
        let end = at + word.count as usize * 2;
        while at < end {
            let first = at;
            let mut group = Vec::new();
            while at < end && group.len() < self.isa.slots() {
                let instruction = self.isa.alu([self.word(at), self.word(at + 1)]);
                at += 2;
                group.push(instruction);
                if instruction.last {
                    break;
                }
            }
            let literals = (group.iter().flat_map(operands))
                .filter(|s| s.sel == sel::LITERAL)
                .map(|s| usize::from(s.chan) + 1)
                .max()
                .unwrap_or(0);
            let values = [0, 1, 2, 3].map(|i| self.word(at + i));
            let mut used = [false; 4];
            self.groups += 1;
            for (i, instruction) in group.iter().enumerate() {
                let number = (i == 0).then_some(self.groups);
                self.alu(first + i * 2, instruction, number, &mut used, &values)?;
            }
            for (i, value) in values[..literals].iter().enumerate() {
                writeln!(
                    self.out,
                    " {:04} {value:08X} {:.6} ({})",
                    at + i,
                    f32::from_bits(*value),
                    *value as i32
                )?;
            }
            at += literals.next_multiple_of(2);
        }
        Ok(())
    }

    fn alu(
        &mut self,
        at: usize,
        i: &AluInstruction,
        number: Option<u32>,
        used: &mut [bool; 4],
        literals: &[u32; 4],
    ) -> std::fmt::Result {
        write!(
            self.out,
            " {at:04} {:08X} {:08X} ",
            self.word(at),
            self.word(at + 1)
        )?;
        if let Some(number) = number {
            write!(self.out, "{number} ")?;
        }
        let chan = usize::from(i.dst_chan);
        let trans = used[chan] || i.units == Units::Trans;
        used[chan] = true;
        write!(
            self.out,
            "{}:{}{} {} ",
            if trans { 't' } else { CHANNELS[chan] },
            if i.update_exec { 'M' } else { ' ' },
            if i.update_pred { 'P' } else { ' ' },
            match i.pred_sel {
                0 => ' ',
                2 => '0',
                _ => '1',
            }
        )?;
        match i.op {
            Some(AluOp::LdsIdxOp) => write!(self.out, "{}", share_text("LDS_", i.lds[0]))?,
            Some(AluOp::MovaIndex0 | AluOp::MovaIndex1) => write!(self.out, "MOVA_INT")?,
            Some(op) => write!(self.out, "{}", op.name())?,
            None => {
                let kind = UNKNOWN_OPERATION[usize::from(i.op3)];
                write!(self.out, "{kind}{:03X}", i.code)?;
            }
        }
        let omod = ["", "*2", "*4", "/2"][usize::from(i.omod)];
        write!(self.out, "{omod}{} ", if i.clamp { "_sat" } else { "" })?;
        let loads = match i.op {
            _ if self.isa != Isa::R900 => None,
            Some(AluOp::MovaInt) => Some("AR"),
            Some(AluOp::MovaIndex0) => Some("CF_IDX0"),
            Some(AluOp::MovaIndex1) => Some("CF_IDX1"),
            _ => None,
        };
        if let Some(register) = loads {
            write!(self.out, "{register}")?;
        } else if i.write {
            let (letter, gpr) = temporary(i.dst_gpr.into());
            write!(
                self.out,
                "{letter}{}",
                select(gpr, i.dst_rel, i.index_mode, false)
            )?;
        } else {
            write!(self.out, "__")?;
        }
        if loads.is_none() {
            write!(self.out, ".{}", CHANNELS[chan])?;
        }
        for src in operands(i) {
            write!(self.out, ", {}", source(src, i.index_mode, literals))?;
        }
        if i.bank_swizzle != 0 {
            write!(self.out, " BS:{}", i.bank_swizzle)?;
        }
        writeln!(self.out)
    }

    fn fetch_clause(&mut self, word: &CfOther) -> std::fmt::Result {
        let base = word.address as usize * 2;
        write!(self.out, "{} @{base} ", word.count)?;
        self.flags(word.valid_pixel, word.end)?;
        for i in 0..usize::from(word.count) {
            let at = base + i * 4;
            let words = [self.word(at), self.word(at + 1), self.word(at + 2)];
            let [a, b, c] = words;
            write!(self.out, " {at:04} {a:08X} {b:08X} {c:08X} ")?;
            let opcode = (a & 0x1f) as u8;
            let later = self.isa.has_data_share();
            match (opcode, r800::data_share(words)) {
                _ if self.isa.is_vertex(a) => self.vertex(&self.isa.vertex(words))?,
                (2, Some(access)) if later => self.data_share(&access)?,
                (2, _) => self.memory_read(&MemInstruction::decode(words))?,
                // A gather's selects as the words have them.
                _ if self.isa == Isa::R900 => self.texture(&r800::texture(words))?,
                _ => self.texture(&self.isa.texture(words))?,
            }
        }
        Ok(())
    }

    fn data_share(&mut self, i: &GdsInstruction) -> std::fmt::Result {
        if i.factor {
            write!(self.out, "TF_WRITE ")?;
        } else {
            write!(
                self.out,
                "{} R{}.{}",
                share_text("GDS_", i.op),
                i.dst_gpr,
                swizzle(&i.dst_sel)
            )?;
        }
        write!(self.out, ", R{}.{}", i.src_gpr, swizzle(&i.src_sel))?;
        if !i.factor {
            // Mesa's second register, which it does not use.
            write!(self.out, ", R0.")?;
        }
        if i.counter {
            write!(self.out, " UAV: {}", i.uav)?;
            if i.index != 0 {
                write!(self.out, "[{}]", index(i.index, ""))?;
            }
        }
        writeln!(self.out)
    }

    fn texture(&mut self, i: &TexInstruction) -> std::fmt::Result {
        write!(
            self.out,
            "{} R{}.{}, R{}.{}, RID:{} {}, SID:{} {} ",
            i.name(),
            i.dst_gpr,
            swizzle(&i.dst_sel),
            i.src_gpr,
            swizzle(&i.src_sel),
            i.resource,
            index(i.index[0], "RQ_"),
            i.sampler,
            index(i.index[1], "SQ_"),
        )?;
        // Mesa prints the fields as it stores them.
        if i.lod_bias != 0 {
            write!(self.out, "LB:{} ", i.lod_bias)?;
        }
        let types: String = i
            .normalized
            .iter()
            .map(|&n| if n { 'N' } else { 'U' })
            .collect();
        write!(self.out, "CT:{types} ")?;
        for (axis, offset) in ['X', 'Y', 'Z'].iter().zip(i.offset) {
            if offset != 0 {
                write!(self.out, "O{axis}:{offset} ")?;
            }
        }
        writeln!(self.out)
    }

    fn vertex(&mut self, i: &VtxInstruction) -> std::fmt::Result {
        // A query reads no component.
        let (name, from) = match i.opcode {
            0 => ("VFETCH", i.src_sel_x),
            BUFFER_SIZE => ("GET_BUFFER_RESINFO", 7),
            _ => ("SEMFETCH", i.src_sel_x),
        };
        write!(
            self.out,
            "{name} R{}.{}, R{}.{}",
            i.dst_gpr,
            swizzle(&i.dst_sel),
            i.src_gpr,
            CHANNELS[usize::from(from)]
        )?;
        if i.offset != 0 {
            write!(self.out, " +{}b", i.offset)?;
        }
        let kind = ["VERTEX", "INSTANCE", "", "?"][usize::from(i.fetch_type & 3)];
        write!(self.out, ", RID:{} {kind} ", i.buffer)?;
        if i.mega_fetch_count != 0 && self.isa != Isa::R900 {
            write!(self.out, "MFC:{} ", i.mega_fetch_count)?;
        }
        if i.index != 0 {
            write!(self.out, "{} ", index(i.index, "SQ_"))?;
        }
        self.format(
            i.use_const_fields,
            i.data_format,
            i.num_format,
            i.signed,
            i.srf_mode,
        )
    }

    fn memory_read(&mut self, i: &MemInstruction) -> std::fmt::Result {
        let name = memory_read_text(i.op);
        write!(
            self.out,
            "{name} R{}.{}, R{}.{}{}, RID:0 ",
            i.dst_gpr,
            swizzle(&i.dst_sel),
            i.src_gpr,
            CHANNELS[usize::from(i.src_sel_x)],
            CHANNELS[usize::from(i.src_sel_y)]
        )?;
        if i.uncached {
            write!(self.out, "UNCACHED ")?;
        }
        if i.indexed {
            write!(self.out, "INDEXED:1 ")?;
        }
        write!(self.out, "ELEM_SIZE:{} ", i.element_size)?;
        if i.burst_count != 0 {
            write!(self.out, "BURST_COUNT:{} ", i.burst_count)?;
        }
        write!(
            self.out,
            "ARRAY_BASE:{} ARRAY_SIZE:{} ",
            i.array_base, i.array_size
        )?;
        self.format(false, i.data_format, i.num_format, i.signed, i.srf_mode)
    }

    fn format(
        &mut self,
        fields: bool,
        data: u8,
        num: u8,
        signed: bool,
        srf: bool,
    ) -> std::fmt::Result {
        writeln!(
            self.out,
            "UCF:{} FMT(DTA:{data} NUM:{num} COMP:{} MODE:{})",
            u8::from(fields),
            u8::from(signed),
            u8::from(srf)
        )
    }
}

/// The operands that are read.
fn operands(i: &AluInstruction) -> &[AluSource] {
    match i.op {
        Some(AluOp::LdsIdxOp) => &i.src[..share_operands(i.lds[0])],
        _ => i.sources(),
    }
}

/// Letter and number of a GPR: the last four are the clause temporaries.
fn temporary(gpr: u16) -> (char, u16) {
    if gpr >= 124 {
        ('T', gpr - 124)
    } else {
        ('R', gpr)
    }
}

/// What an index mode of R800 adds, after `prefix`; nothing without an index.
fn index(mode: u8, prefix: &str) -> String {
    match mode {
        1 | 2 => format!("{prefix}CF_INDEX_{}", mode - 1),
        _ => String::new(),
    }
}

fn select(number: u16, relative: bool, index_mode: u8, brackets: bool) -> String {
    let index = match (relative, index_mode) {
        (false, _) => "",
        (true, 0 | 6) => "+AR",
        (true, 4) => "+AL",
        _ => "",
    };
    let global = if relative && index_mode >= 5 { "G" } else { "" };
    if relative || brackets {
        format!("{global}[{number}{index}]")
    } else {
        number.to_string()
    }
}

fn source(src: &AluSource, index_mode: u8, literals: &[u32; 4]) -> String {
    let chan = CHANNELS[usize::from(src.chan)];
    let register = |letters: &str, number: u16, brackets: bool| {
        format!(
            "{letters}{}.{chan}",
            select(number, src.rel, index_mode, brackets)
        )
    };
    let text = match src.sel {
        0..=127 => {
            let (letter, gpr) = temporary(src.sel);
            register(letter.encode_utf8(&mut [0; 4]), gpr, false)
        }
        sel::KCACHE0..sel::KCACHE1 => register("KC0", src.sel - sel::KCACHE0, true),
        sel::KCACHE1..sel::KCACHE_END => register("KC1", src.sel - sel::KCACHE1, true),
        sel::ZERO => "0".into(),
        sel::ONE => "1.0".into(),
        sel::ONE_INT => "1".into(),
        sel::MINUS_ONE_INT => "-1".into(),
        sel::HALF => "0.5".into(),
        sel::LITERAL => {
            let value = literals[usize::from(src.chan)];
            format!("[0x{value:08X} {:.6}]", f32::from_bits(value))
        }
        sel::PV => format!("PV.{chan}"),
        sel::PS => "PS".into(),
        sel::CONSTANT_FILE..sel::KCACHE2 => register("C", src.sel - sel::CONSTANT_FILE, true),
        sel::KCACHE2..sel::KCACHE3 => register("KC2", src.sel - sel::KCACHE2, true),
        sel::KCACHE3..sel::KCACHE_EXTENDED_END => register("KC3", src.sel - sel::KCACHE3, true),
        sel::PARAMETER..sel::OTHER => format!("Param{}", src.sel - sel::PARAMETER),
        sel::LDS_OQ_A => format!("LDS_OQ_A.{chan}"),
        sel::LDS_OQ_A_POP => format!("LDS_OQ_A_POP.{chan}"),
        sel::TIME_HI => "TIME_HI".into(),
        sel::TIME_LO => "TIME_LO".into(),
        sel::HW_WAVE_ID => "HW_WAVE_ID".into(),
        sel::SE_ID => "SE_ID".into(),
        other => format!("??IMM_{}", other & !sel::OTHER),
    };
    let text = if src.abs { format!("|{text}|") } else { text };
    if src.neg {
        format!("-{text}")
    } else {
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_small_program() {
        // MOV R2.x, |KC0[3].y|; MULADD_sat R3.w, -R1.z, 1.5, PV.x; export.
        let words = [
            0x8000_0002,
            8 << 26 | 2 << 18,
            1 << 15 | 3 << 30,
            0x28 << 23 | 1 << 21 | 1 << 31 | 0o3210,
            131 | 1 << 10 | 1 << 31,
            1 | 1 << 4 | 0x19 << 7 | 2 << 21,
            1 | 2 << 10 | 1 << 12 | 253 << 13 | 1 << 31,
            254 | 0x10 << 13 | 3 << 21 | 3 << 29 | 1 << 31,
            1.5f32.to_bits(),
            0,
        ];
        let lines: Vec<String> = (disassemble(&words, Isa::R700).lines())
            .map(|l| l.split_whitespace().collect::<Vec<_>>().join(" "))
            .collect();
        assert_eq!(
            lines,
            [
                "0000 80000002 20080000 ALU 3 @4 KC0[CB0:0-32]",
                "0004 80000483 00400C91 1 x: MOV R2.x, |KC0[3].y|",
                "0006 801FB801 E06200FE 2 w: MULADD_sat R3.w, -R1.z, [0x3FC00000 1.500000], PV.x",
                "0008 3FC00000 1.500000 (1069547520)",
                "0002 C0008000 94200688 EXPORT_DONE PIXEL 0 R1.xyzw ES:3 EOP",
            ]
        );
    }
}
