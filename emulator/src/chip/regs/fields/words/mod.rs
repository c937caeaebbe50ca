// SPDX-License-Identifier: MIT
//! Fields of the words of resources, samplers and shaders: the decoders in `chip::gfx` take them from
//! these tables, and `r7xx-replay --describe` prints those of resources and samplers.
//!
//! Names and places are those of Mesa's headers; `emulator/tests/fields` compares all of them.

pub mod evergreen;
pub mod r700;

use super::Field;

/// Name of a word, and its fields from bit 0 up.
pub type Word = (&'static str, &'static [Field]);

/// The words of a generation's descriptors.
#[derive(Debug)]
pub struct Descriptors {
    /// A texture's.
    pub texture: &'static [Word],
    /// A buffer's.
    pub buffer: &'static [Word],
    /// A sampler's.
    pub sampler: &'static [Word; 3],
    /// Which word of a resource tells its kind, and where.
    pub kind: (usize, Field),
}

/// `TYPE` of a resource: a texture (`SQ_TEX_VTX_VALID_TEXTURE`).
pub const VALID_TEXTURE: u32 = 2;
/// `TYPE` of a resource: a buffer (`SQ_TEX_VTX_VALID_BUFFER`).
pub const VALID_BUFFER: u32 = 3;

/// [`field_modules`](super::field_modules) of words, and their table.
macro_rules! words {
    ($($word:ident as $module:ident { $($fields:tt)* })*) => {
        crate::chip::regs::fields::field_modules! { $($word as $module { $($fields)* })* }

        /// The words above.
        pub const TABLE: &[crate::chip::regs::fields::words::Word] =
            &[$($module::NAMED),*];
    };
}
use words;

/// The values of four fields that lie in a word.
#[inline(always)]
pub const fn four(word: u32, [x, y, z, w]: [Field; 4]) -> [u8; 4] {
    [
        x.of(word) as u8,
        y.of(word) as u8,
        z.of(word) as u8,
        w.of(word) as u8,
    ]
}

impl Descriptors {
    /// The words of a resource that are not 0, as text, if it is a texture or a buffer.
    pub fn resource(&self, words: &[u32]) -> Option<String> {
        let (word, field) = self.kind;
        match field.of(*words.get(word)?) {
            VALID_TEXTURE => Some(text(self.texture, words)),
            VALID_BUFFER => Some(text(self.buffer, words)),
            _ => None,
        }
    }

    /// The words of a sampler that are not 0, as text.
    pub fn sampler(&self, words: &[u32]) -> String {
        text(self.sampler, words)
    }
}

/// The words that are not 0, with their fields that are not 0.
fn text(names: &[Word], words: &[u32]) -> String {
    let mut lines = String::new();
    for ((name, fields), value) in names.iter().zip(words).filter(|(_, value)| **value != 0) {
        lines += &format!("    {value:#010x} {name}");
        for field in fields.iter().filter(|field| field.is_set(*value)) {
            lines += &format!(" {}={}", field.name(), field.of(*value));
        }
        lines.push('\n');
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_resource_is_described_as_what_it_is() {
        let texture = [1 | 99 << 19, 59, 0x100, 0, 5 << 25, 0, 2 << 30];
        let text = r700::DESCRIPTORS.resource(&texture).unwrap();
        assert!(
            text.contains("SQ_TEX_RESOURCE_WORD0 DIM=1 TEX_WIDTH=99\n"),
            "{text}"
        );
        assert!(
            text.contains("0x0a000000 SQ_TEX_RESOURCE_WORD4 DST_SEL_W=5\n"),
            "{text}"
        );
        assert_eq!(text.lines().count(), 5);
        let buffer = [0x1000, 63, 16 << 8, 0, 0, 0, 3 << 30];
        let text = r700::DESCRIPTORS.resource(&buffer).unwrap();
        assert!(text.contains("SQ_VTX_CONSTANT_WORD2 STRIDE=16\n"), "{text}");
        assert_eq!(r700::DESCRIPTORS.resource(&[0; 7]), None);
        // On Evergreen the eighth word has the kind.
        assert_eq!(evergreen::DESCRIPTORS.resource(&buffer), None);
        let texture = [1, 0, 0, 0, 0, 0, 0, 2 << 30 | 0x1A];
        let text = evergreen::DESCRIPTORS.resource(&texture).unwrap();
        assert!(
            text.ends_with("SQ_TEX_RESOURCE_WORD7 DATA_FORMAT=26 TYPE=2\n"),
            "{text}"
        );
        let sampler = evergreen::DESCRIPTORS.sampler(&[1 << 9, 0, 1 << 29]);
        assert!(
            sampler.contains("SQ_TEX_SAMPLER_WORD2 DISABLE_CUBE_WRAP=1\n"),
            "{sampler}"
        );
    }

    /// Fields of two meanings of the same bits.
    const SHARED: [&str; 4] = [
        "FETCH_4",
        "SAMPLE_IS_PCF",
        "USES_WATERFALL",
        "FMASK_BANK_HEIGHT",
    ];

    #[test]
    fn no_two_other_fields_of_a_word_share_a_bit() {
        for table in [r700::TABLE, r700::r600::TABLE, evergreen::TABLE] {
            for (name, fields) in table {
                let own = fields
                    .iter()
                    .filter(|field| !SHARED.contains(&field.name()));
                let bits = own.map(|field| field.with(u32::MAX));
                let sum: u64 = bits.clone().map(u64::from).sum();
                let all = bits.fold(0, |all, bits| all | bits);
                assert_eq!(sum, u64::from(all), "{name}");
            }
        }
    }
}
