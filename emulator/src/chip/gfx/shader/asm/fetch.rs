// SPDX-License-Identifier: MIT
//! Instructions of fetch clauses from text: textures, vertices, memory, the global data share.

use std::collections::HashMap;

use super::alu::Encoded;
use super::fields::{self, apply, put, set, Table};
use super::operand::register;
use super::text::{decimal, Error, Line, Token};
use crate::chip::gfx::shader::isa;
use crate::chip::gfx::shader::names::{memory_read_text, share_text};
use crate::chip::gfx::shader::Isa;
use crate::chip::regs::fields::words::evergreen::{
    sq_mem_gds_word0 as gds0, sq_mem_gds_word1 as gds1, sq_mem_gds_word2 as gds2,
    sq_tex_word0 as tex0, sq_vtx_word2 as vtx2,
};
use crate::chip::regs::fields::words::r700::{
    sq_mem_rd_word0 as mem0, sq_mem_rd_word1 as mem1, sq_mem_rd_word2 as mem2,
    sq_tex_word1 as tex1, sq_tex_word2 as tex2, sq_vtx_word0 as vtx0, sq_vtx_word1 as vtx1,
    sq_vtx_word1_gpr as vtx1_gpr, sq_vtx_word1_sem as vtx1_sem,
};
use crate::chip::regs::fields::Field;

/// `VTX_INST` of a memory access, and `MEM_OP` of the global data share and of a tessellation factor.
const MEMORY: u32 = 2;
const SHARE: u32 = 4;
const FACTOR: u32 = 5;

/// `VTX_INST` of a query of a buffer's number of elements.
const BUFFER_SIZE: u32 = isa::BUFFER_SIZE as u32;

/// What an instruction's name stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Operation {
    /// `TEX_INST` and `INST_MOD`.
    Texture(u32, u32),
    /// `VTX_INST`.
    Vertex(u32),
    /// `MEM_OP`.
    Memory(u32),
    /// `GDS_OP`.
    Share(u32),
    Factor,
}

/// The names of a chip's fetches.
pub(super) struct Names {
    isa: Isa,
    operations: HashMap<String, Operation>,
}

impl Names {
    /// Those of `isa`. Of two operations with the same name the first one is meant.
    pub fn new(isa: Isa) -> Self {
        let mut operations = HashMap::new();
        let mut add = |name: String, operation| {
            operations.entry(name).or_insert(operation);
        };
        let later = isa.has_data_share();
        add("VFETCH".into(), Operation::Vertex(0));
        add("SEMFETCH".into(), Operation::Vertex(1));
        if later {
            add("GET_BUFFER_RESINFO".into(), Operation::Vertex(BUFFER_SIZE));
            add("TF_WRITE".into(), Operation::Factor);
        }
        let reads = (0..=mem0::MEM_OP.of(u32::MAX)).filter(|op| !later || !(4..6).contains(op));
        for op in reads {
            add(memory_read_text(op as u8), Operation::Memory(op));
        }
        if later {
            for op in 0..=gds1::GDS_OP.of(u32::MAX) {
                add(share_text("GDS_", op as u8), Operation::Share(op));
            }
        }
        // Codes that the listing takes for others are left out.
        let codes = (3..=tex0::TEX_INST.of(u32::MAX)).filter(|c| !later || *c != BUFFER_SIZE);
        let modifiers = if later { 2 } else { 1 };
        for (code, modifier) in codes.flat_map(|code| (0..modifiers).map(move |m| (code, m))) {
            let word = tex0::TEX_INST.with(code) | tex0::INST_MOD.with(modifier);
            // Cayman's words are those of R800.
            let isa = if later { Isa::R800 } else { isa };
            let name = isa.texture([word, 0, 0]).name();
            add(name.to_string(), Operation::Texture(code, modifier));
        }
        Self { isa, operations }
    }

    /// The operation of that name, if the chip has one.
    pub fn find(&self, name: &str) -> Option<Operation> {
        self.operations.get(name).copied()
    }
}

/// Parses an instruction from its name on.
///
/// # Errors
/// What is not as the notation has it.
pub(super) fn fetch(line: &mut Line<'_>, names: &Names) -> Result<Encoded, Error> {
    let isa = names.isa;
    let name = line.expect("an instruction")?;
    let operation = names.find(name.text);
    let operation = operation.ok_or_else(|| name.expected("a fetch of the chip"))?;
    let mut words = [0; 3];
    let table = match operation {
        Operation::Texture(code, modifier) => {
            set(&mut words[0], tex0::TEX_INST, code);
            set(&mut words[0], tex0::INST_MOD, modifier);
            texture(line, &mut words, isa)?
        }
        Operation::Vertex(code) => {
            set(&mut words[0], vtx0::VTX_INST, code);
            vertex(line, &mut words, isa, code)?
        }
        Operation::Memory(op) => {
            set(&mut words[0], mem0::MEM_INST, MEMORY);
            set(&mut words[0], mem0::MEM_OP, op);
            memory(line, &mut words)?
        }
        Operation::Share(op) => {
            set(&mut words[0], gds0::MEM_OP, SHARE);
            set(&mut words[1], gds1::GDS_OP, op);
            share(line, &mut words, false)?
        }
        Operation::Factor => {
            set(&mut words[0], gds0::MEM_OP, FACTOR);
            share(line, &mut words, true)?
        }
    };
    let named = fields::rest(line, table)?;
    apply(&mut words, &named);
    Ok(Encoded {
        line: line.number,
        words,
        count: 3,
        table,
    })
}

fn number(token: &Token<'_>) -> Result<u32, Error> {
    decimal(token.text).ok_or_else(|| token.expected("a number"))
}

/// A number behind `prefix`, for a field.
fn field(line: &mut Line<'_>, prefix: &str, word: &mut u32, field: Field) -> Result<(), Error> {
    let token = line.expect_after(prefix)?;
    put(word, field, number(&token)?, &token)
}

/// The same, if it is there.
fn optional(line: &mut Line<'_>, prefix: &str, word: &mut u32, field: Field) -> Result<(), Error> {
    match line.after(prefix) {
        Some(token) => put(word, field, number(&token)?, &token),
        None => Ok(()),
    }
}

/// A signed number behind `prefix` for a field of two's complement, if it is there.
fn signed(line: &mut Line<'_>, prefix: &str, word: &mut u32, field: Field) -> Result<(), Error> {
    let Some(token) = line.after(prefix) else {
        return Ok(());
    };
    let half = (field.of(u32::MAX) / 2 + 1) as i32;
    let value = token.text.parse::<i32>().ok();
    match value.filter(|value| (-half..half).contains(value)) {
        Some(value) => {
            set(word, field, value as u32);
            Ok(())
        }
        None => Err(token.expected(format_args!("a number from {} to {}", -half, half - 1))),
    }
}

/// An index register of a resource, if it is there: `PREFIX` and `CF_INDEX_0` or `CF_INDEX_1`.
fn index(
    line: &mut Line<'_>,
    prefix: &str,
    word: &mut u32,
    field: Field,
    isa: Isa,
) -> Result<(), Error> {
    let Some(token) = line.after(&format!("{prefix}CF_INDEX_")) else {
        return Ok(());
    };
    if !isa.has_data_share() {
        return Err(token.error("the chip has no index registers of resources".into()));
    }
    let number = number(&token)?;
    match number {
        0 | 1 => {
            set(word, field, number + 1);
            Ok(())
        }
        _ => Err(token.expected("`0` or `1`")),
    }
}

fn selects(word: &mut u32, fields: &[Field], values: &[u32]) {
    for (field, value) in fields.iter().zip(values) {
        set(word, *field, *value);
    }
}

const VTX_DST: [Field; 4] = [
    vtx1::DST_SEL_X,
    vtx1::DST_SEL_Y,
    vtx1::DST_SEL_Z,
    vtx1::DST_SEL_W,
];

fn texture(line: &mut Line<'_>, words: &mut [u32; 3], isa: Isa) -> Result<Table, Error> {
    let [a, b, c] = words;
    let token = line.expect("a register, as `R1.xyzw`")?;
    let (gpr, letters) = register::<4>(&token)?;
    put(b, tex1::DST_GPR, gpr, &token)?;
    let fields = [
        tex1::DST_SEL_X,
        tex1::DST_SEL_Y,
        tex1::DST_SEL_Z,
        tex1::DST_SEL_W,
    ];
    selects(b, &fields, &letters);
    line.comma()?;
    let token = line.expect("a register, as `R1.xyzw`")?;
    let (gpr, letters) = register::<4>(&token)?;
    put(a, tex0::SRC_GPR, gpr, &token)?;
    let fields = [
        tex2::SRC_SEL_X,
        tex2::SRC_SEL_Y,
        tex2::SRC_SEL_Z,
        tex2::SRC_SEL_W,
    ];
    selects(c, &fields, &letters);
    line.comma()?;
    field(line, "RID:", a, tex0::RESOURCE_ID)?;
    index(line, "RQ_", a, tex0::RIM, isa)?;
    line.comma()?;
    field(line, "SID:", c, tex2::SAMPLER_ID)?;
    index(line, "SQ_", a, tex0::SIM, isa)?;
    signed(line, "LB:", b, tex1::LOD_BIAS)?;
    let types = line.expect_after("CT:")?;
    let fields = [
        tex1::COORD_TYPE_X,
        tex1::COORD_TYPE_Y,
        tex1::COORD_TYPE_Z,
        tex1::COORD_TYPE_W,
    ];
    let known = types.text.len() == 4 && types.text.bytes().all(|b| matches!(b, b'N' | b'U'));
    if !known {
        return Err(types.expected("four of the letters `N` and `U`"));
    }
    for (field, letter) in fields.into_iter().zip(types.text.chars()) {
        set(b, field, (letter == 'N').into());
    }
    for (prefix, field) in [
        ("OX:", tex2::OFFSET_X),
        ("OY:", tex2::OFFSET_Y),
        ("OZ:", tex2::OFFSET_Z),
    ] {
        signed(line, prefix, c, field)?;
    }
    Ok(match isa.has_data_share() {
        true => fields::TEXTURE_R800,
        false => fields::TEXTURE,
    })
}

fn vertex(line: &mut Line<'_>, words: &mut [u32; 3], isa: Isa, code: u32) -> Result<Table, Error> {
    let [a, b, c] = words;
    let token = line.expect("a register, as `R1.xyzw`")?;
    let (gpr, letters) = register::<4>(&token)?;
    let field_of_gpr = match code {
        1 => vtx1_sem::SEMANTIC_ID,
        _ => vtx1_gpr::DST_GPR,
    };
    put(b, field_of_gpr, gpr, &token)?;
    selects(b, &VTX_DST, &letters);
    line.comma()?;
    let token = line.expect("a register, as `R1.x`")?;
    let (gpr, [letter]) = register::<1>(&token)?;
    put(a, vtx0::SRC_GPR, gpr, &token)?;
    match (code == BUFFER_SIZE, letter) {
        (true, 7) => {}
        (true, _) => return Err(token.expected("a register without a component, as `R1._`")),
        (false, _) => put(a, vtx0::SRC_SEL_X, letter, &token)?,
    }
    if let Some(token) = line.after("+") {
        let bytes = token.text.strip_suffix('b').and_then(decimal);
        let bytes = bytes.ok_or_else(|| token.expected("an offset, as `+16b`"))?;
        put(c, vtx2::OFFSET, bytes, &token)?;
    }
    line.comma()?;
    field(line, "RID:", a, vtx0::BUFFER_ID)?;
    let kinds = [("VERTEX", 0), ("INSTANCE", 1), ("?", 3)];
    let kind = kinds.iter().find(|(name, _)| line.skip(name));
    // Without a name it is no index of vertices or instances.
    set(a, vtx0::FETCH_TYPE, kind.map_or(2, |(_, kind)| *kind));
    optional(line, "MFC:", a, vtx0::MEGA_FETCH_COUNT)?;
    index(line, "SQ_", c, vtx2::BIM, isa)?;
    // Cayman has no such fetches.
    set(c, vtx2::MEGA_FETCH, (isa != Isa::R900).into());
    format(line, b)?;
    Ok(fields::VERTEX)
}

/// `UCF` and `FMT`, whose fields memory reads and vertex fetches have in the same bits.
fn format(line: &mut Line<'_>, word: &mut u32) -> Result<(), Error> {
    field(line, "UCF:", word, vtx1::USE_CONST_FIELDS)?;
    let token = line.expect_after("FMT(")?;
    let wrong = || token.expected("`FMT(DTA:n NUM:n COMP:n MODE:n)`");
    let inside = token.text.strip_suffix(')').ok_or_else(wrong)?;
    let mut parts = inside.split_whitespace();
    for (prefix, field) in [
        ("DTA:", vtx1::DATA_FORMAT),
        ("NUM:", vtx1::NUM_FORMAT_ALL),
        ("COMP:", vtx1::FORMAT_COMP_ALL),
        ("MODE:", vtx1::SRF_MODE_ALL),
    ] {
        let value = parts.next().and_then(|part| part.strip_prefix(prefix));
        put(
            word,
            field,
            value.and_then(decimal).ok_or_else(wrong)?,
            &token,
        )?;
    }
    match parts.next() {
        None => Ok(()),
        Some(_) => Err(wrong()),
    }
}

fn memory(line: &mut Line<'_>, words: &mut [u32; 3]) -> Result<Table, Error> {
    let [a, b, c] = words;
    let token = line.expect("a register, as `R1.xyzw`")?;
    let (gpr, letters) = register::<4>(&token)?;
    put(b, mem1::DST_GPR, gpr, &token)?;
    selects(b, &VTX_DST, &letters);
    line.comma()?;
    let token = line.expect("a register, as `R1.xy`")?;
    let (gpr, [x, y]) = register::<2>(&token)?;
    put(a, mem0::SRC_GPR, gpr, &token)?;
    put(a, mem0::SRC_SEL_X, x, &token)?;
    put(a, mem0::SRC_SEL_Y, y, &token)?;
    line.comma()?;
    let resource = line.expect_after("RID:")?;
    if resource.text != "0" {
        return Err(resource.expected("`0`"));
    }
    set(a, mem0::UNCACHED, line.skip("UNCACHED").into());
    optional(line, "INDEXED:", a, mem0::INDEXED)?;
    field(line, "ELEM_SIZE:", a, mem0::ELEM_SIZE)?;
    optional(line, "BURST_COUNT:", a, mem0::BURST_COUNT)?;
    field(line, "ARRAY_BASE:", c, mem2::ARRAY_BASE)?;
    field(line, "ARRAY_SIZE:", c, mem2::ARRAY_SIZE)?;
    format(line, b)?;
    Ok(fields::MEMORY_READ)
}

fn share(line: &mut Line<'_>, words: &mut [u32; 3], factor: bool) -> Result<Table, Error> {
    let [a, b, c] = words;
    set(a, gds0::MEM_INST, MEMORY);
    let mut letters = [7; 4];
    if !factor {
        let token = line.expect("a register, as `R1.xyzw`")?;
        let (gpr, found) = register::<4>(&token)?;
        put(b, gds1::DST_GPR, gpr, &token)?;
        letters = found;
    }
    let fields = [
        gds2::DST_SEL_X,
        gds2::DST_SEL_Y,
        gds2::DST_SEL_Z,
        gds2::DST_SEL_W,
    ];
    selects(c, &fields, &letters);
    line.comma()?;
    let token = line.expect("a register, as `R1.xyz`")?;
    let (gpr, letters) = register::<3>(&token)?;
    put(a, gds0::SRC_GPR, gpr, &token)?;
    selects(
        a,
        &[gds0::SRC_SEL_X, gds0::SRC_SEL_Y, gds0::SRC_SEL_Z],
        &letters,
    );
    if factor {
        return Ok(fields::DATA_SHARE);
    }
    line.comma()?;
    let second = line.expect("`R0.`")?;
    if second.text != "R0." {
        return Err(second.expected("`R0.`"));
    }
    if line.skip("UAV:") {
        let token = line.expect("the number of a counter")?;
        let (id, index) = match token.text.split_once('[') {
            Some((id, "CF_INDEX_0]")) => (id, 1),
            Some((id, "CF_INDEX_1]")) => (id, 2),
            // A mode without a name.
            Some((id, "]")) => (id, 3),
            Some(_) => return Err(token.expected("`[CF_INDEX_0]` or `[CF_INDEX_1]`")),
            None => (token.text, 0),
        };
        let id = decimal(id).ok_or_else(|| token.expected("the number of a counter"))?;
        put(b, gds1::UAV_ID, id, &token)?;
        set(b, gds1::UAV_INDEX_MODE, index);
        set(b, gds1::ALLOC_CONSUME, 1);
    }
    Ok(fields::DATA_SHARE)
}
