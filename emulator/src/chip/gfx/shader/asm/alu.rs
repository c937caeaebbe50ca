// SPDX-License-Identifier: MIT
//! ALU instructions from text, and their groups with literals.

use std::collections::HashMap;

use super::fields::{self, apply, put, set, Named, Table};
use super::operand::{component, gpr, operand, Operand, PARAMETERS};
use super::text::{word, Error, Line, Token};
use crate::chip::gfx::shader::names::{share_operands, share_text, UNKNOWN_OPERATION};
use crate::chip::gfx::shader::ops::{AluOp, Units};
use crate::chip::gfx::shader::{r800, Isa};
use crate::chip::regs::fields::words::evergreen::sq_alu_word1_lds_idx_op as lds1;
use crate::chip::regs::fields::words::r700::{
    r600, sq_alu_word0 as word0, sq_alu_word1 as word1, sq_alu_word1_op2 as op2,
    sq_alu_word1_op3 as op3,
};
use crate::chip::regs::fields::Field;

/// Most literals of a group.
const LITERALS: usize = 4;
/// `SRCn_SEL` of the operands that an access of the local data share does not have.
const NO_OPERAND: u32 = crate::chip::gfx::shader::isa::sel::ZERO as u32;

/// An operation's code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Code {
    op3: bool,
    /// `ALU_INST`.
    code: u32,
    /// `LDS_OP`.
    lds: Option<u32>,
    /// Operands.
    sources: usize,
}

/// The names of a chip's operations.
pub(super) struct Names {
    isa: Isa,
    codes: HashMap<String, Code>,
}

impl Names {
    /// Those of `isa`.
    pub fn new(isa: Isa) -> Self {
        let encodings: Vec<(bool, u32)> = match isa {
            Isa::R600 | Isa::R700 => (AluOp::ALL.iter())
                .filter(|op| op.is_r700())
                .map(|op| op.encoding())
                .collect(),
            Isa::R800 | Isa::R900 => (r800::ALU.iter())
                .map(|(op3, code, ..)| (*op3, u32::from(*code)))
                .collect(),
        };
        let mut names = Self {
            isa,
            codes: HashMap::new(),
        };
        for (op3, code) in encodings {
            let plain = Code {
                op3,
                code,
                lds: None,
                sources: 0,
            };
            match isa.alu([0, names.word1(&plain)]).op {
                None => {}
                Some(AluOp::LdsIdxOp) => {
                    for lds in 0..=lds1::LDS_OP.of(u32::MAX) {
                        let of_share = Code {
                            lds: Some(lds),
                            sources: share_operands(lds as u8),
                            ..plain
                        };
                        names.codes.insert(share_text("LDS_", lds as u8), of_share);
                    }
                }
                Some(op) => {
                    let sources = op.sources();
                    let code = Code { sources, ..plain };
                    names.codes.insert(op.name().to_string(), code);
                }
            }
        }
        names
    }

    fn code_field(&self, op3: bool) -> Field {
        match (op3, self.isa) {
            (true, _) => op3::ALU_INST,
            (false, Isa::R600) => r600::sq_alu_word1_op2::ALU_INST,
            (false, _) => op2::ALU_INST,
        }
    }

    /// The second word with the operation alone.
    fn word1(&self, code: &Code) -> u32 {
        let share = code.lds.map_or(0, |lds| lds1::LDS_OP.with(lds));
        self.code_field(code.op3).with(code.code) | share
    }

    fn table(&self, code: &Code) -> Table {
        match (code.lds, code.op3, self.isa) {
            (Some(_), ..) => fields::ALU_LDS,
            (None, true, _) => fields::ALU3,
            (None, false, Isa::R600) => fields::ALU2_R600,
            (None, false, _) => fields::ALU2,
        }
    }

    /// The operation of that name; a code without one is `ALU_` or `ALU3_` with hexadecimal digits.
    fn find(&self, name: &str) -> Option<Code> {
        if let Some(code) = self.codes.get(name) {
            return Some(*code);
        }
        let of = |prefix| {
            let digits: &str = name.strip_prefix(prefix)?;
            u32::from_str_radix(digits, 16).ok()
        };
        let [two, three] = UNKNOWN_OPERATION;
        let (op3, code) = match (of(two), of(three)) {
            (Some(code), _) => (false, code),
            (None, Some(code)) => (true, code),
            (None, None) => return None,
        };
        let code = Code {
            op3,
            code,
            lds: None,
            sources: 0,
        };
        let words = self.word1(&code);
        let decoded = self.isa.alu([0, words]);
        let same = decoded.op3 == op3 && u32::from(decoded.code) == code.code;
        same.then_some(code)
    }
}

/// An instruction of a group, before the group is complete.
#[derive(Debug)]
pub(super) struct Slot<'a> {
    /// The token with the unit's letter.
    pub unit: Token<'a>,
    /// A group begins with it.
    pub begins: bool,
    pub table: Table,
    words: [u32; 2],
    named: Vec<Named>,
    /// Literals by operand, with the token.
    literals: [Option<(u32, Token<'a>)>; 3],
}

/// Whether the line, up to its instruction, is one of the ALU.
pub(super) fn is_alu(line: &Line<'_>) -> bool {
    let number = line
        .peek()
        .is_some_and(|t| t.text.bytes().all(|b| b.is_ascii_digit()));
    let unit = line.ahead(usize::from(number));
    number || unit.is_some_and(|token| token.text.as_bytes().get(1) == Some(&b':'))
}

/// A literal as a listing has it in a line of its own, if the line is one.
pub(super) fn listed_literal(line: &Line<'_>) -> Option<u32> {
    let last = line.ahead(2).filter(|_| line.ahead(3).is_none())?;
    let is_number = last.text.starts_with('(') && last.text.ends_with(')');
    line.peek().filter(|_| is_number).and_then(|t| word(t.text))
}

/// Where the fields of an operand are: `SEL`, `REL`, `CHAN`, `NEG`.
const SOURCES: [(usize, [Field; 4]); 3] = [
    (
        0,
        [
            word0::SRC0_SEL,
            word0::SRC0_REL,
            word0::SRC0_CHAN,
            word0::SRC0_NEG,
        ],
    ),
    (
        0,
        [
            word0::SRC1_SEL,
            word0::SRC1_REL,
            word0::SRC1_CHAN,
            word0::SRC1_NEG,
        ],
    ),
    (
        1,
        [op3::SRC2_SEL, op3::SRC2_REL, op3::SRC2_CHAN, op3::SRC2_NEG],
    ),
];

/// Parses an instruction from the number of its group on, if it has one.
///
/// # Errors
/// What is not as the notation has it, or what the encoding cannot express.
pub(super) fn slot<'a>(line: &mut Line<'a>, names: &Names) -> Result<Slot<'a>, Error> {
    let mut begins = false;
    let mut unit = line.expect("an instruction")?;
    if unit.text.bytes().all(|b| b.is_ascii_digit()) {
        begins = true;
        unit = line.expect("a unit, as `x:`")?;
    }
    let parts = unit.text.split_once(':');
    let known = |letter: &str| letter == "t" || component(letter).is_some();
    let (letter, flags) = parts
        .filter(|(letter, _)| known(letter))
        .ok_or_else(|| unit.expected("a unit: `x:`, `y:`, `z:`, `w:` or `t:`"))?;
    let mut flags = flags.to_string();
    while let Some(token) = line.peek() {
        if !token.text.chars().all(|c| "MP01".contains(c)) {
            break;
        }
        line.take();
        flags += token.text;
    }
    let mnemonic = line.expect("an operation")?;
    let (name, clamp) = match mnemonic.text.strip_suffix("_sat") {
        Some(name) => (name, true),
        None => (mnemonic.text, false),
    };
    let modifiers = ["", "*2", "*4", "/2"];
    let omod = (1..4).find(|&omod| name.ends_with(modifiers[omod]));
    let omod = omod.unwrap_or(0);
    let name = name.strip_suffix(modifiers[omod]).unwrap_or(name);
    let code = (names.find(name)).ok_or_else(|| mnemonic.expected("an operation of the chip"))?;
    let mut words = [0, names.word1(&code)];
    let [a, b] = &mut words;

    let mut flag = |letter: char, set: &mut dyn FnMut()| {
        if flags.contains(letter) {
            flags = flags.replacen(letter, "", 1);
            set();
        }
    };
    let (mut exec, mut pred, mut select) = (false, false, 0);
    flag('M', &mut || exec = true);
    flag('P', &mut || pred = true);
    flag('0', &mut || select = 2);
    flag('1', &mut || select = 3);
    if !flags.is_empty() {
        return Err(unit.error(format!("`{flags}` is too much: `M`, `P` and `0` or `1`")));
    }
    set(a, word0::PRED_SEL, select);
    set(b, word1::CLAMP, clamp.into());
    if code.op3 {
        if exec || pred || omod != 0 {
            let what = format!("`{name}` has three operands: no `M`, `P`, `*2`, `*4`, `/2`");
            return Err(mnemonic.error(what));
        }
    } else {
        set(b, op2::UPDATE_EXECUTE_MASK, exec.into());
        set(b, op2::UPDATE_PRED, pred.into());
        let field = match names.isa {
            Isa::R600 => r600::sq_alu_word1_op2::OMOD,
            _ => op2::OMOD,
        };
        set(b, field, omod as u32);
    }
    let mut mode = destination(line, names.isa, &code, name, letter, b)?;

    let mut literals = [None; 3];
    for n in 0..3 {
        let (at, [sel, rel, chan, neg]) = SOURCES[n];
        if n >= code.sources {
            if code.lds.is_some() {
                set(&mut words[at], sel, NO_OPERAND);
            }
            continue;
        }
        line.comma()?;
        let token = line.expect("an operand")?;
        let o = operand(&token, names.isa)?;
        source(&o, &token, &code, n, &mut words)?;
        set(&mut words[at], sel, o.select);
        set(&mut words[at], rel, o.relative.into());
        // An input's component is not shown: Mesa's is that of the destination.
        let input = names.isa.has_data_share() && o.select >= PARAMETERS.0;
        let of_destination = word1::DST_CHAN.of(words[1]);
        set(
            &mut words[at],
            chan,
            if input { of_destination } else { o.chan },
        );
        set(&mut words[at], neg, o.negative.into());
        literals[n] = o.literal.map(|value| (value, token));
        match (mode, o.mode) {
            (Some(before), Some(now)) if before != now => {
                return Err(token.error("an instruction has one index register".into()));
            }
            _ => mode = mode.or(o.mode),
        }
    }
    if let Some(token) = line.peek().filter(|token| token.text == ",") {
        let count = code.sources;
        return Err(token.error(format!("`{name}` has {count} operands, no more")));
    }
    set(&mut words[0], word0::INDEX_MODE, mode.unwrap_or(0));
    if let Some(token) = line.after("BS:") {
        let value = super::text::decimal(token.text);
        let value = value.ok_or_else(|| token.expected("a number"))?;
        put(&mut words[1], word1::BANK_SWIZZLE, value, &token)?;
    }
    let table = names.table(&code);
    let named = fields::rest(line, table)?;
    apply(&mut words, &named);
    Ok(Slot {
        unit,
        begins,
        table,
        words,
        named,
        literals,
    })
}

/// Parses the destination into the second word. Returns the index mode that it needs.
fn destination(
    line: &mut Line<'_>,
    isa: Isa,
    code: &Code,
    name: &str,
    unit: &str,
    word: &mut u32,
) -> Result<Option<u32>, Error> {
    let token = line.expect("a destination")?;
    if isa == Isa::R900 && name == AluOp::MovaInt.name() {
        let number = ["AR", "", "CF_IDX0", "CF_IDX1"]
            .iter()
            .position(|n| *n == token.text);
        let number = number.ok_or_else(|| token.expected("`AR`, `CF_IDX0` or `CF_IDX1`"))?;
        set(word, word1::DST_GPR, number as u32);
        set(word, word1::DST_CHAN, component(unit).unwrap_or(0));
        return Ok(None);
    }
    let wrong = || token.expected("a destination, as `R1.x` or `__.x`");
    let (register, letter) = token.text.rsplit_once('.').ok_or_else(wrong)?;
    let chan = component(letter).ok_or_else(wrong)?;
    set(word, word1::DST_CHAN, chan);
    if register == "__" {
        if code.op3 && code.lds.is_none() {
            return Err(token.error(format!("`{name}` always writes a register")));
        }
        return Ok(None);
    }
    let (place, rest) = gpr(register).ok_or_else(wrong)?;
    if !rest.is_empty() {
        return Err(wrong());
    }
    if code.lds.is_some() {
        return Err(token.expected("`__`, as an access of the local data share has no destination"));
    }
    set(word, word1::DST_GPR, place.number);
    set(word, word1::DST_REL, place.relative.into());
    if !code.op3 {
        set(word, op2::WRITE_MASK, 1);
    }
    Ok(place.mode)
}

/// Sets what an operand has beside its four fields, if the encoding can express it.
fn source(
    o: &Operand,
    token: &Token<'_>,
    code: &Code,
    n: usize,
    words: &mut [u32; 2],
) -> Result<(), Error> {
    if o.absolute {
        let field = [op2::SRC0_ABS, op2::SRC1_ABS].get(n).copied();
        let field = field.filter(|_| !code.op3);
        let what = "an operation of three operands has no absolute values";
        set(
            &mut words[1],
            field.ok_or_else(|| token.error(what.into()))?,
            1,
        );
    }
    if o.negative && code.lds.is_some() {
        let what = "an access of the local data share has no negative operands";
        return Err(token.error(what.into()));
    }
    Ok(())
}

/// An instruction's final words, by the line that it is in.
#[derive(Debug, Clone, Copy)]
pub(super) struct Encoded {
    pub line: usize,
    pub words: [u32; 3],
    /// How many of the words it has.
    pub count: usize,
    pub table: Table,
}

/// Completes a group: which literal is where, and which instruction is the last one. `listed` are the literals of
/// the lines behind it.
///
/// # Errors
/// If the chip does not execute such a group.
pub(super) fn group(
    slots: &mut [Slot<'_>],
    listed: &[(u32, Token<'_>)],
    isa: Isa,
) -> Result<(Vec<Encoded>, Vec<u32>), Error> {
    if let Some(slot) = slots.get(isa.slots()) {
        let most = isa.slots();
        let what = format!("a group has at most {most} instructions; its number begins the next");
        return Err(slot.unit.error(what));
    }
    let literals = place_literals(slots, listed)?;
    let mut used = [false; 4];
    let mut encoded = Vec::new();
    let count = slots.len();
    for (i, slot) in slots.iter_mut().enumerate() {
        set(&mut slot.words[0], word0::LAST, (i + 1 == count).into());
        apply(&mut slot.words, &slot.named);
        let decoded = isa.alu(slot.words);
        let chan = usize::from(decoded.dst_chan);
        let unit = match used[chan] || decoded.units == Units::Trans {
            true => "t",
            false => ["x", "y", "z", "w"][chan],
        };
        used[chan] = true;
        if slot.unit.text.split(':').next() != Some(unit) {
            let what = format!("`{unit}:`, the unit that executes this instruction of the group");
            return Err(slot.unit.expected(what));
        }
        encoded.push(Encoded {
            line: slot.unit.line,
            words: [slot.words[0], slot.words[1], 0],
            count: 2,
            table: slot.table,
        });
    }
    Ok((encoded, literals))
}

/// Which literals get their places.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Pass {
    Named,
    Listed,
    New,
}

/// Finds a place for each literal: that of the listing if it has the value, otherwise a new one. The result has an
/// even number.
fn place_literals(slots: &mut [Slot<'_>], listed: &[(u32, Token<'_>)]) -> Result<Vec<u32>, Error> {
    if let Some((_, token)) = listed.get(LITERALS) {
        return Err(token.error(format!("a group has at most {LITERALS} literals")));
    }
    let mut values: Vec<(u32, bool)> = listed.iter().map(|(value, _)| (*value, false)).collect();
    // First those whose place a field names, then those that the listing has, then new ones.
    for pass in [Pass::Named, Pass::Listed, Pass::New] {
        for slot in slots.iter_mut() {
            for n in 0..3 {
                let Some((value, token)) = slot.literals[n] else {
                    continue;
                };
                let (at, [_, _, chan, _]) = SOURCES[n];
                let named = slot.named.iter().any(|named| named.sets(at, chan));
                let place = match pass {
                    Pass::Named if named => chan.of(slot.words[at]) as usize,
                    Pass::Listed | Pass::New if !named => {
                        let known = values.iter().position(|(known, _)| *known == value);
                        let unused = values.iter().position(|(_, used)| !used);
                        match (known, unused) {
                            (Some(place), _) => place,
                            (None, _) if pass == Pass::Listed => continue,
                            (None, Some(stale)) if stale < listed.len() => {
                                return Err(stale_literal(&listed[stale], &token));
                            }
                            (None, Some(place)) => place,
                            (None, None) => values.len(),
                        }
                    }
                    _ => continue,
                };
                if place >= LITERALS {
                    return Err(token.error(format!("a group has at most {LITERALS} literals")));
                }
                if values.len() <= place {
                    values.resize(place + 1, (0, false));
                }
                let (known, used) = &mut values[place];
                if *used && *known != value {
                    return Err(token.error(format!("literal {place} has another value")));
                }
                (*known, *used) = (value, true);
                set(&mut slot.words[at], chan, place as u32);
            }
        }
    }
    let count = values
        .iter()
        .rposition(|(_, used)| *used)
        .map_or(0, |last| last + 1);
    values.resize(count.next_multiple_of(2), (0, false));
    Ok(values.into_iter().map(|(value, _)| value).collect())
}

/// The error that the listing has a literal which no operand has, while an operand has one that the listing has not:
/// which of the two is meant is not clear.
fn stale_literal((value, token): &(u32, Token<'_>), operand: &Token<'_>) -> Error {
    let text = operand.text;
    token.error(format!(
        "no operand of the group is {value:08X}, but one is {text}: remove this line, or change both"
    ))
}
