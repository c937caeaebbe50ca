// SPDX-License-Identifier: MIT
//! Control-flow instructions from text.

use std::collections::HashMap;

use super::fields::{self, apply, put, set, Named, Table};
use super::operand::{register, swizzle};
use super::text::{decimal, number, Error, Line, Token};

use crate::chip::gfx::shader::isa::{cf, is_tex_clause, is_vtx_clause, CfKind, SELECTS};
use crate::chip::gfx::shader::names::{cf_text, memory_kinds, rat_text, EXPORTS};
use crate::chip::gfx::shader::Isa;
use crate::chip::regs::fields::words::evergreen::{
    sq_cf_alloc_export_word0_rat as rat, sq_cf_alloc_export_word1 as eg_export1,
    sq_cf_alu_word0_ext as ext0, sq_cf_alu_word1_ext as ext1, sq_cf_word0 as eg_word0,
    sq_cf_word1 as eg_word1,
};
use crate::chip::regs::fields::words::r700::{
    sq_cf_alloc_export_word0 as export0, sq_cf_alloc_export_word1 as export1,
    sq_cf_alloc_export_word1_buf as buffer, sq_cf_alu_word0 as alu0, sq_cf_alu_word1 as alu1,
    sq_cf_word0, sq_cf_word1 as word1,
};
use crate::chip::regs::fields::Field;

/// What follows a control-flow instruction in the text, and what its address means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// A clause of ALU instructions, whose place in pairs of dwords the text may name.
    Alu(Option<u32>),
    /// A clause of fetches, likewise.
    Fetch(Option<u32>),
    /// `ALU_EXT`: more of the clause that comes next.
    Extension,
    /// It goes to the control-flow instruction of that address, in pairs of dwords.
    Goes(u32),
    /// Nothing, and a number.
    Plain,
}

/// A control-flow instruction, before addresses are known.
#[derive(Debug)]
pub(super) struct Control<'a> {
    /// The token of its name.
    pub name: Token<'a>,
    /// The address that the text has at the line's beginning.
    pub label: Option<u64>,
    pub kind: Kind,
    pub words: [u32; 2],
    pub named: Vec<Named>,
    pub table: Table,
}

/// The names of a chip's control-flow instructions.
pub(super) struct Names {
    isa: Isa,
    /// The second word with the code alone.
    words: HashMap<String, u32>,
}

/// `CF_INST` and `END_OF_PROGRAM` of a control-flow instruction that is no ALU clause, `COUNT` of a fetch clause.
struct Places {
    code: Field,
    end: Field,
    valid_pixel: Field,
    count: Field,
    burst: Field,
    address: Field,
}

/// Where `isa` has them.
fn places(isa: Isa) -> Places {
    match isa {
        Isa::R600 | Isa::R700 => Places {
            code: word1::CF_INST,
            end: word1::END_OF_PROGRAM,
            valid_pixel: word1::VALID_PIXEL_MODE,
            count: word1::COUNT,
            burst: export1::BURST_COUNT,
            address: sq_cf_word0::ADDR,
        },
        Isa::R800 | Isa::R900 => Places {
            code: eg_word1::CF_INST,
            end: eg_word1::END_OF_PROGRAM,
            valid_pixel: eg_word1::VALID_PIXEL_MODE,
            count: eg_word1::COUNT,
            burst: eg_export1::BURST_COUNT,
            address: eg_word0::ADDR,
        },
    }
}

impl Names {
    /// Those of `isa`.
    pub fn new(isa: Isa) -> Self {
        let mut words = HashMap::new();
        let code = places(isa).code;
        let others = (0..=code.of(u32::MAX)).map(|value| code.with(value));
        let others = others.filter(|word| alu1::CF_INST.of(*word) < 8);
        let clauses = (8..16).map(|value| alu1::CF_INST.with(value));
        for word in others.chain(clauses) {
            words.insert(cf_text(isa, [0, word]), word);
        }
        Self { isa, words }
    }

    /// Whether there is an instruction of that name.
    pub fn has(&self, name: &str) -> bool {
        self.words.contains_key(name)
    }
}

/// Sets `COUNT` of an instruction that is no ALU clause. Returns whether it fits.
pub(super) fn set_count(isa: Isa, word: &mut u32, count: u32) -> bool {
    let field = places(isa).count;
    set(word, field, count);
    if isa == Isa::R700 {
        // Its fourth bit is elsewhere.
        set(word, word1::COUNT_3, count >> 3);
        return count < 16;
    }
    field.of(*word) == count
}

/// Sets the address of an instruction that is no ALU clause, in pairs of dwords.
pub(super) fn set_address(isa: Isa, word: &mut u32, pairs: u32) {
    set(word, places(isa).address, pairs);
}

/// The bits of both words that the layout computes: it may differ from that of the listing, which a whole word by
/// name is of.
fn computed(isa: Isa, kind: Kind) -> [u32; 2] {
    let all = |field: Field| field.with(u32::MAX);
    let address = all(places(isa).address);
    match kind {
        Kind::Alu(_) => [all(alu0::ADDR), all(alu1::COUNT)],
        Kind::Fetch(_) if isa == Isa::R700 => {
            [address, all(places(isa).count) | all(word1::COUNT_3)]
        }
        Kind::Fetch(_) => [address, all(places(isa).count)],
        Kind::Goes(_) => [address, 0],
        Kind::Extension | Kind::Plain => [0; 2],
    }
}

/// Whether a clause of fetches belongs to the code.
fn is_fetch(code: u8) -> bool {
    is_tex_clause(code) || is_vtx_clause(code) || code == cf::GDS
}

/// Parses an instruction from its name on. `extension` is an `ALU_EXT` for the clause: its sets of constants are in
/// the clause's line.
///
/// # Errors
/// What is not as the notation has it.
pub(super) fn control<'a>(
    line: &mut Line<'a>,
    label: Option<u64>,
    names: &Names,
    extension: Option<&mut Control<'_>>,
) -> Result<Control<'a>, Error> {
    let name = line.expect("an instruction")?;
    let word = names.words.get(name.text).copied();
    let word = word.ok_or_else(|| name.expected("a control-flow instruction of the chip"))?;
    let isa = names.isa;
    let later = isa.has_data_share();
    let mut control = Control {
        name,
        label,
        kind: Kind::Plain,
        words: [0, word | word1::BARRIER.with(1)],
        named: Vec::new(),
        table: if later { fields::CF_R800 } else { fields::CF },
    };
    let decoded = isa.cf(control.words);
    match decoded {
        CfKind::Alu(_) => {
            control.table = fields::CF_ALU;
            alu(line, &mut control, extension)?;
        }
        CfKind::AluExtended(_) => {
            control.table = fields::CF_ALU_EXT;
            control.kind = Kind::Extension;
        }
        CfKind::Export(_) => {
            control.table = match later {
                true => fields::EXPORT_R800,
                false => fields::EXPORT,
            };
            export(line, &mut control.words, isa)?;
        }
        CfKind::Memory(word) => {
            control.table = match later {
                true => fields::MEMORY_R800,
                false => fields::MEMORY,
            };
            memory(line, &mut control.words, isa, word.code == cf::MEM_RAT)?;
        }
        CfKind::Other(word) if is_fetch(word.code) => {
            control.kind = Kind::Fetch(clause(line)?);
            flags(line, &mut control.words[1], isa)?;
        }
        CfKind::Other(word) => other(line, &mut control, isa, word.code)?,
    }
    control.named = fields::rest(line, control.table)?;
    for (word, bits) in (0..).zip(computed(isa, control.kind)) {
        control
            .named
            .iter_mut()
            .for_each(|named| named.leave(word, bits));
    }
    apply(&mut control.words, &control.named);
    Ok(control)
}

/// A number behind a prefix.
fn number_of(token: &Token<'_>) -> Result<u32, Error> {
    decimal(token.text).ok_or_else(|| token.expected("a number"))
}

/// An address in dwords, as pairs of them.
fn pairs_of(token: &Token<'_>) -> Result<u32, Error> {
    let number = number(token.text).ok_or_else(|| token.expected("a number"))?;
    match (number % 2, u32::try_from(number / 2)) {
        (0, Ok(pairs)) => Ok(pairs),
        (0, Err(_)) => Err(token.expected("a lower number")),
        _ => Err(token.expected("an even number of dwords")),
    }
}

/// `VPM` and `EOP`.
fn flags(line: &mut Line<'_>, word: &mut u32, isa: Isa) -> Result<(), Error> {
    if line.skip("VPM") {
        set(word, places(isa).valid_pixel, 1);
    }
    end(line, word, isa)
}

fn end(line: &mut Line<'_>, word: &mut u32, isa: Isa) -> Result<(), Error> {
    let Some(token) = line.peek().filter(|token| token.text == "EOP") else {
        return Ok(());
    };
    if isa == Isa::R900 {
        return Err(token.error("the chip ends programs by CF_END, not by EOP".into()));
    }
    line.take();
    set(word, places(isa).end, 1);
    Ok(())
}

/// Count and place of a clause, both of which may be missing. The count is that of the lines that follow.
fn clause(line: &mut Line<'_>) -> Result<Option<u32>, Error> {
    if line.peek().is_some_and(|t| decimal(t.text).is_some()) {
        line.take();
    }
    let Some(at) = line.after("@") else {
        return Ok(None);
    };
    pairs_of(&at).map(Some)
}

fn other(line: &mut Line<'_>, control: &mut Control<'_>, isa: Isa, code: u8) -> Result<(), Error> {
    let at = line.expect_after("@")?;
    let pairs = pairs_of(&at)?;
    if matches!(code, cf::LOOP_START..=cf::CALL) {
        control.kind = Kind::Goes(pairs);
    }
    let [a, b] = &mut control.words;
    put(a, places(isa).address, pairs, &at)?;
    for (prefix, field) in [("CND:", word1::COND), ("POP:", word1::POP_COUNT)] {
        if let Some(token) = line.after(prefix) {
            put(b, field, number_of(&token)?, &token)?;
        }
    }
    if matches!(code, cf::EMIT_VERTEX..=cf::CUT_VERTEX) {
        if let Some(token) = line.after("STREAM") {
            let stream = number_of(&token)?;
            if !set_count(isa, b, stream) {
                return Err(token.error(format!("{stream} does not fit the instruction")));
            }
        }
    }
    flags(line, b, isa)
}

/// The sets of constants that a clause locks.
fn alu(
    line: &mut Line<'_>,
    control: &mut Control<'_>,
    mut extension: Option<&mut Control<'_>>,
) -> Result<(), Error> {
    control.kind = Kind::Alu(clause(line)?);
    let own = &mut control.words;
    // Fields by name may begin so, too.
    let is_set = |line: &Line<'_>| line.peek().is_some_and(|token| !token.text.contains('='));
    while let Some(token) = is_set(line).then(|| line.after("KC")).flatten() {
        let wrong = || token.expected("a set of constants, as `KC0[CB0:0-16]`");
        let (set, inside) = token.text.split_once('[').ok_or_else(wrong)?;
        let inside = inside.strip_suffix(']').ok_or_else(wrong)?;
        let set = decimal(set).filter(|set| *set < 4).ok_or_else(wrong)?;
        let (lines, index) = match inside.split_once(' ') {
            Some((lines, index)) => (lines, Some(index)),
            None => (inside, None),
        };
        let index = match index {
            None => 0,
            Some("CF_INDEX_0") => 1,
            Some("CF_INDEX_1") => 2,
            Some(_) => return Err(token.expected("`CF_INDEX_0` or `CF_INDEX_1`")),
        };
        let (bank, lines) = lines
            .strip_prefix("CB")
            .and_then(|text| text.split_once(':'))
            .ok_or_else(wrong)?;
        let (first, last) = lines.split_once('-').ok_or_else(wrong)?;
        let numbers = [bank, first, last].map(decimal);
        let [Some(bank), Some(first), Some(last)] = numbers else {
            return Err(wrong());
        };
        let count = last.checked_sub(first).ok_or_else(wrong)?;
        if first % 16 != 0 || count % 16 != 0 || !(16..=48).contains(&count) {
            return Err(
                token.expected("one or two lines of 16 constants, from a multiple of 16 on")
            );
        }
        let (mode, line) = (count / 16, first / 16);
        let mut ext = extension.as_deref_mut().map(|control| &mut control.words);
        if (set >= 2 || index != 0) && ext.is_none() {
            return Err(token.error("an ALU_EXT has to be ahead of this clause".into()));
        }
        let indexes = [
            ext0::KCACHE_BANK_INDEX_MODE0,
            ext0::KCACHE_BANK_INDEX_MODE1,
            ext0::KCACHE_BANK_INDEX_MODE2,
            ext0::KCACHE_BANK_INDEX_MODE3,
        ];
        if let Some(ext) = &mut ext {
            put(&mut ext[0], indexes[set as usize], index, &token)?;
        }
        let (words, banks, modes, addresses) = match (set, ext) {
            (0 | 1, _) | (_, None) => (
                &mut *own,
                [alu0::KCACHE_BANK0, alu0::KCACHE_BANK1],
                [(0, alu0::KCACHE_MODE0), (1, alu1::KCACHE_MODE1)],
                [alu1::KCACHE_ADDR0, alu1::KCACHE_ADDR1],
            ),
            (_, Some(ext)) => (
                ext,
                [ext0::KCACHE_BANK2, ext0::KCACHE_BANK3],
                [(0, ext0::KCACHE_MODE2), (1, ext1::KCACHE_MODE3)],
                [ext1::KCACHE_ADDR2, ext1::KCACHE_ADDR3],
            ),
        };
        let n = set as usize % 2;
        put(&mut words[0], banks[n], bank, &token)?;
        put(&mut words[modes[n].0], modes[n].1, mode, &token)?;
        put(&mut words[1], addresses[n], line, &token)?;
    }
    if let Some(extension) = extension {
        apply(&mut extension.words, &extension.named);
    }
    Ok(())
}

/// Exported registers: base, GPR and letters, both numbers as `0-3` for several.
fn registers(
    line: &mut Line<'_>,
    words: &mut [u32; 2],
    isa: Isa,
    base_field: Option<Field>,
) -> Result<[u32; 4], Error> {
    let base = line.expect("the number of an export, as `0` or `0-3`")?;
    let range = |text: &str| match text.split_once('-') {
        Some((first, last)) => Some((decimal(first)?, decimal(last)?)),
        None => decimal(text).map(|number| (number, number)),
    };
    let (first, last) = range(base.text).ok_or_else(|| base.expected("`0` or `0-3`"))?;
    match base_field {
        Some(field) => put(&mut words[0], field, first, &base)?,
        None if first != 0 => return Err(base.expected("`0`")),
        None => {}
    }
    let token = line.expect("a register, as `R1.xyzw`")?;
    let wrong = || token.expected("a register, as `R1.xyzw` or `R1-4.xyzw`");
    let (numbers, letters) = (token.text.strip_prefix('R'))
        .and_then(|text| text.split_once('.'))
        .ok_or_else(wrong)?;
    let (gpr, last_gpr) = range(numbers).ok_or_else(wrong)?;
    let burst = last
        .checked_sub(first)
        .ok_or_else(|| base.expected("the lower number first"))?;
    if last_gpr.checked_sub(gpr) != Some(burst) {
        return Err(token.error(format!("{} registers, but {} exports", numbers, base.text)));
    }
    put(&mut words[0], export0::RW_GPR, gpr, &token)?;
    put(&mut words[1], places(isa).burst, burst, &base)?;
    swizzle(letters, &token)
}

/// `ES:n`, and behind it of a memory export `AS:n`, `NO_BARRIER`, `MARK`, `EOP`.
fn export_end(
    line: &mut Line<'_>,
    words: &mut [u32; 2],
    isa: Isa,
    array: bool,
) -> Result<(), Error> {
    let size = line.expect_after("ES:")?;
    put(&mut words[0], export0::ELEM_SIZE, number_of(&size)?, &size)?;
    if array {
        set(&mut words[1], buffer::ARRAY_SIZE, u32::MAX);
        if let Some(token) = line.after("AS:") {
            put(
                &mut words[1],
                buffer::ARRAY_SIZE,
                number_of(&token)?,
                &token,
            )?;
        }
    }
    loop {
        if line.skip("NO_BARRIER") {
            set(&mut words[1], export1::BARRIER, 0);
        } else if line.skip("MARK") {
            // Mesa lists it for chips without the field, too.
            if isa.has_data_share() {
                set(&mut words[1], eg_export1::MARK, 1);
            }
        } else {
            break;
        }
    }
    end(line, &mut words[1], isa)
}

fn export(line: &mut Line<'_>, words: &mut [u32; 2], isa: Isa) -> Result<(), Error> {
    let kind = line.expect("what is exported")?;
    let number = EXPORTS.iter().position(|name| *name == kind.text);
    let number = number.ok_or_else(|| kind.expected("`PIXEL`, `POS`, `PARAM` or `SX`"))?;
    set(&mut words[0], export0::TYPE, number as u32);
    let selects = registers(line, words, isa, Some(export0::ARRAY_BASE))?;
    for (field, select) in SELECTS.into_iter().zip(selects) {
        set(&mut words[1], field, select);
    }
    export_end(line, words, isa, false)
}

fn memory(line: &mut Line<'_>, words: &mut [u32; 2], isa: Isa, random: bool) -> Result<(), Error> {
    let kind = line.expect("a kind of access")?;
    let kinds = memory_kinds(isa);
    let number = kinds.iter().position(|name| *name == kind.text);
    let number = number.ok_or_else(|| kind.expected(format_args!("one of {kinds:?}")))?;
    set(&mut words[0], export0::TYPE, number as u32);
    if random {
        let target = line.expect_after("RAT")?;
        let (id, index) = match target.text.split_once("[IDX") {
            Some((id, rest)) => {
                let index = rest.strip_suffix(']').and_then(decimal);
                let index = index.filter(|index| *index < 3);
                let index = index.ok_or_else(|| target.expected("`[IDX0]` or `[IDX1]`"))?;
                (id, index + 1)
            }
            None => (target.text, 0),
        };
        let id = decimal(id).ok_or_else(|| target.expected("the number of a RAT"))?;
        put(&mut words[0], rat::RAT_ID, id, &target)?;
        set(&mut words[0], rat::RAT_INDEX_MODE, index);
        let operation = line.expect("an operation on a RAT")?;
        let code = (0..=rat::RAT_INST.of(u32::MAX)).find(|op| rat_text(*op) == operation.text);
        let code = code.ok_or_else(|| operation.expected("an operation on a RAT"))?;
        set(&mut words[0], rat::RAT_INST, code);
    }
    let base = (!random).then_some(export0::ARRAY_BASE);
    let last = line.ahead(1);
    let selects = registers(line, words, isa, base)?;
    let mut mask = 0;
    for (i, select) in (0..4).zip(selects) {
        match (select == i, select == 7, last) {
            (true, ..) => mask |= 1 << i,
            (false, true, _) => {}
            (false, false, Some(token)) => {
                return Err(token.expected("`x`, `y`, `z`, `w` or `_`, each in its place"));
            }
            (false, false, None) => return Err(line.missing("a register")),
        }
    }
    set(&mut words[1], buffer::COMP_MASK, mask);
    if number & 1 != 0 {
        let token = line.expect("the register of the index, as `R1.xyz`")?;
        let (gpr, selects) = register::<3>(&token)?;
        if selects != [0, 1, 2] {
            return Err(token.expected("the letters `xyz`"));
        }
        put(&mut words[0], export0::INDEX_GPR, gpr, &token)?;
    }
    export_end(line, words, isa, true)
}
