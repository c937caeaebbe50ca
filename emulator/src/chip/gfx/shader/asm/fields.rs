// SPDX-License-Identifier: MIT
//! Fields of an instruction's words by name: those that the notation does not show stand as `NAME=VALUE` behind it.
//!
//! Bits that no header names stand as `WORDn=0x...`, the whole word.

use super::text::{Error, Line, Token};
use crate::chip::regs::fields::words::{evergreen as eg, r700};
use crate::chip::regs::fields::Field;

/// For each word of an instruction the lists of its fields. Of two fields with the same name, or in the same bits,
/// the first one is meant.
pub(super) type Table = &'static [&'static [&'static [Field]]];

/// `SQ_CF_WORD0` and `WORD1`.
pub(super) const CF: Table = &[&[r700::sq_cf_word0::ALL], &[r700::sq_cf_word1::ALL]];
/// The same of R800.
pub(super) const CF_R800: Table = &[&[eg::sq_cf_word0::ALL], &[eg::sq_cf_word1::ALL]];
/// `SQ_CF_ALU_WORD0` and `WORD1`; those of R800 have them in the same bits.
pub(super) const CF_ALU: Table = &[&[r700::sq_cf_alu_word0::ALL], &[r700::sq_cf_alu_word1::ALL]];
/// `ALU_EXT` of R800.
pub(super) const CF_ALU_EXT: Table = &[
    &[eg::sq_cf_alu_word0_ext::ALL],
    &[eg::sq_cf_alu_word1_ext::ALL],
];
/// Exports.
pub(super) const EXPORT: Table = &[
    &[r700::sq_cf_alloc_export_word0::ALL],
    &[
        r700::sq_cf_alloc_export_word1_swiz::ALL,
        r700::sq_cf_alloc_export_word1::ALL,
    ],
];
/// The same of R800.
pub(super) const EXPORT_R800: Table = &[
    &[r700::sq_cf_alloc_export_word0::ALL],
    &[
        r700::sq_cf_alloc_export_word1_swiz::ALL,
        eg::sq_cf_alloc_export_word1::ALL,
    ],
];
/// Memory exports.
pub(super) const MEMORY: Table = &[
    &[r700::sq_cf_alloc_export_word0::ALL],
    &[
        r700::sq_cf_alloc_export_word1_buf::ALL,
        r700::sq_cf_alloc_export_word1::ALL,
    ],
];
/// The same of R800.
pub(super) const MEMORY_R800: Table = &[
    &[
        eg::sq_cf_alloc_export_word0_rat::ALL,
        r700::sq_cf_alloc_export_word0::ALL,
    ],
    &[
        r700::sq_cf_alloc_export_word1_buf::ALL,
        eg::sq_cf_alloc_export_word1::ALL,
    ],
];
/// ALU instructions of two operands.
pub(super) const ALU2: Table = &[
    &[r700::sq_alu_word0::ALL],
    &[r700::sq_alu_word1_op2::ALL, r700::sq_alu_word1::ALL],
];
/// The same of R600.
pub(super) const ALU2_R600: Table = &[
    &[r700::sq_alu_word0::ALL],
    &[r700::r600::sq_alu_word1_op2::ALL, r700::sq_alu_word1::ALL],
];
/// ALU instructions of three operands.
pub(super) const ALU3: Table = &[
    &[r700::sq_alu_word0::ALL],
    &[r700::sq_alu_word1_op3::ALL, r700::sq_alu_word1::ALL],
];
/// `LDS_IDX_OP` of R800.
pub(super) const ALU_LDS: Table = &[
    &[eg::sq_alu_word0_lds_idx_op::ALL, r700::sq_alu_word0::ALL],
    &[
        eg::sq_alu_word1_lds_idx_op::ALL,
        r700::sq_alu_word1_op3::ALL,
        r700::sq_alu_word1::ALL,
    ],
];
/// Texture instructions.
pub(super) const TEXTURE: Table = &[
    &[r700::sq_tex_word0::ALL],
    &[r700::sq_tex_word1::ALL],
    &[r700::sq_tex_word2::ALL],
];
/// The same of R800.
pub(super) const TEXTURE_R800: Table = &[
    &[eg::sq_tex_word0::ALL],
    &[r700::sq_tex_word1::ALL],
    &[r700::sq_tex_word2::ALL],
];
/// Vertex fetches; R800's `SQ_VTX_WORD2` has one field more.
pub(super) const VERTEX: Table = &[
    &[r700::sq_vtx_word0::ALL],
    &[r700::sq_vtx_word1_gpr::ALL, r700::sq_vtx_word1::ALL],
    &[eg::sq_vtx_word2::ALL],
];
/// Memory reads of vertex clauses.
pub(super) const MEMORY_READ: Table = &[
    &[r700::sq_mem_rd_word0::ALL],
    &[r700::sq_mem_rd_word1::ALL],
    &[r700::sq_mem_rd_word2::ALL],
];
/// Accesses of the global data share.
pub(super) const DATA_SHARE: Table = &[
    &[eg::sq_mem_gds_word0::ALL],
    &[eg::sq_mem_gds_word1::ALL],
    &[eg::sq_mem_gds_word2::ALL],
];

/// Sets a field of a word. Bits of `value` beyond it are dropped.
pub(super) fn set(word: &mut u32, field: Field, value: u32) {
    *word = *word & !field.with(u32::MAX) | field.with(value);
}

/// Sets a field of a word.
///
/// # Errors
/// At `token` if the field is too small for `value`.
pub(super) fn put(
    word: &mut u32,
    field: Field,
    value: u32,
    token: &Token<'_>,
) -> Result<(), Error> {
    set(word, field, value);
    match field.of(*word) == value {
        true => Ok(()),
        false => {
            let (name, most) = (field.name(), field.of(u32::MAX));
            Err(token.error(format!(
                "{value} does not fit {name}, which is at most {most}"
            )))
        }
    }
}

/// A field, or a whole word, that the text sets by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Named {
    /// Which word of the instruction.
    pub word: usize,
    /// Its bits that are set.
    mask: u32,
    value: u32,
}

impl Named {
    /// Leaves `bits` of word `word` as they are, if it sets the whole word.
    pub fn leave(&mut self, word: usize, bits: u32) {
        if self.word == word && self.mask == u32::MAX {
            (self.mask, self.value) = (!bits, self.value & !bits);
        }
    }

    /// Whether it sets `field` of word `word`.
    pub fn sets(&self, word: usize, field: Field) -> bool {
        self.word == word && self.mask & field.with(u32::MAX) != 0
    }
}

/// Sets all of `named`, in their order.
pub(super) fn apply(words: &mut [u32], named: &[Named]) {
    for named in named {
        if let Some(word) = words.get_mut(named.word) {
            *word = *word & !named.mask | named.value;
        }
    }
}

/// The field that `name` means: which word it is in.
fn find(table: Table, name: &str) -> Option<(usize, Field)> {
    let lists = (table.iter().enumerate())
        .flat_map(|(word, lists)| lists.iter().map(move |list| (word, list)));
    let mut fields = lists.flat_map(|(word, list)| list.iter().map(move |field| (word, *field)));
    fields.find(|(_, field)| field.name() == name)
}

/// A decimal number, or a hexadecimal one after `0x`.
fn number(text: &str) -> Option<u32> {
    match text.strip_prefix("0x") {
        Some(digits) if digits.bytes().all(|b| b.is_ascii_hexdigit()) => {
            u32::from_str_radix(digits, 16).ok()
        }
        Some(_) => None,
        None => super::text::decimal(text),
    }
}

/// Reads the rest of a line, which may have fields by name only.
///
/// # Errors
/// If something else is there, no field has the name, or a value does not fit.
pub(super) fn rest(line: &mut Line<'_>, table: Table) -> Result<Vec<Named>, Error> {
    let mut all = Vec::new();
    while let Some(token) = line.take() {
        let (name, value) = match token.text.split_once('=') {
            Some(found) => found,
            None => return Err(token.expected("the end of the line or a field as NAME=VALUE")),
        };
        let value = number(value).ok_or_else(|| token.expected("a number behind the `=`"))?;
        let word = (0..table.len()).find(|n| name.strip_prefix("WORD") == Some(&n.to_string()));
        let (word, mask, value) = match (word, find(table, name)) {
            (Some(word), _) => (word, u32::MAX, value),
            (None, Some((word, field))) => {
                let mut bits = 0;
                put(&mut bits, field, value, &token)?;
                (word, field.with(u32::MAX), bits)
            }
            (None, None) => {
                return Err(token.error(format!("the instruction has no field `{name}`")));
            }
        };
        all.push(Named { word, mask, value });
    }
    Ok(all)
}

/// What [`rest`] has to read to make `wanted` of `words`; empty if they are equal.
pub(super) fn differences(table: Table, words: &[u32], wanted: &[u32]) -> String {
    let mut text = String::new();
    for (at, (&from, &to)) in words.iter().zip(wanted).enumerate() {
        let mut now = from;
        let fields = table.get(at).into_iter().flat_map(|lists| lists.iter());
        for &field in fields.flat_map(|list| list.iter()) {
            let named = find(table, field.name()) == Some((at, field));
            if named && field.of(now) != field.of(to) {
                text += &format!(" {}={}", field.name(), field.of(to));
                set(&mut now, field, field.of(to));
            }
        }
        if now != to {
            text += &format!(" WORD{at}={to:#010X}").replace("0X", "0x");
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(table: Table, text: &str) -> Result<Vec<Named>, Error> {
        rest(&mut Line::new(3, text), table)
    }

    #[test]
    fn differences_are_read_back() {
        for table in [CF, CF_R800, CF_ALU_EXT, MEMORY_R800, ALU3, ALU_LDS, VERTEX] {
            let mut random = fastrand::Rng::with_seed(5);
            for _ in 0..200 {
                let mut words: Vec<u32> = table.iter().map(|_| random.u32(..)).collect();
                let wanted: Vec<u32> = words.iter().map(|_| random.u32(..)).collect();
                let text = differences(table, &words, &wanted);
                apply(&mut words, &read(table, &text).unwrap());
                assert_eq!(words, wanted, "{text}");
            }
            assert_eq!(differences(table, &[1, 2], &[1, 2]), "");
        }
    }

    #[test]
    fn fields_have_the_names_of_the_headers() {
        let text = differences(ALU2, &[0, 0], &[0, 1 << 4 | 3 << 21]);
        assert_eq!(text, " WRITE_MASK=1 DST_GPR=3");
        // FOG_MERGE is R600's; bits 16 to 18 of the texture's first word are SRC_GPR.
        assert_eq!(
            differences(ALU2_R600, &[0, 0], &[0, 1 << 5]),
            " FOG_MERGE=1"
        );
        assert_eq!(
            differences(TEXTURE, &[0; 3], &[1 << 6, 0, 0]),
            " WORD0=0x00000040"
        );
        // The second SRC_GPR of an access of the data share has no name of its own.
        let text = differences(DATA_SHARE, &[0; 3], &[0, 5 << 16, 0]);
        assert_eq!(text, " WORD1=0x00050000");
    }

    #[test]
    fn wrong_fields_are_refused() {
        for (text, part) in [
            ("BARRIER=2", "2 does not fit BARRIER, which is at most 1"),
            ("BARRIER=", "a number behind the `=`"),
            ("BARRIER=0xg", "a number behind the `=`"),
            ("BARRIERS=1", "no field `BARRIERS`"),
            ("WORD2=1", "no field `WORD2`"),
            ("EOP", "expected the end of the line"),
        ] {
            let error = read(CF, text).unwrap_err();
            assert!(error.to_string().contains(part), "{text}: {error}");
        }
        let named = read(EXPORT_R800, "MARK=1 ARRAY_BASE=0x10").unwrap();
        assert!(named[0].sets(1, eg::sq_cf_alloc_export_word1::MARK));
        assert!(!named[0].sets(1, eg::sq_cf_alloc_export_word1::BARRIER));
    }
}
