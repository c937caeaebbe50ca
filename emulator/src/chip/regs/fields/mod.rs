// SPDX-License-Identifier: MIT
//! Fields of the 3D engine's context registers: the decoders in `chip::gfx` take fields by name from
//! these tables, and `r7xx-replay --describe` prints them.
//!
//! Names and places are those of Mesa's headers; `emulator/tests/fields` compares all of them.

pub mod cayman;
pub mod evergreen;
pub mod r700;
pub mod words;

/// A field of a register.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Field {
    name: &'static str,
    low: u32,
    mask: u32,
}

impl Field {
    /// The field of bits `low` to `high`, both of them included.
    pub const fn new(name: &'static str, high: u32, low: u32) -> Self {
        assert!(low <= high && high < 32);
        Self {
            name,
            low,
            mask: u32::MAX >> (31 - (high - low)),
        }
    }

    /// Its name.
    pub const fn name(self) -> &'static str {
        self.name
    }

    /// Its lowest and its highest bit.
    pub const fn ends(self) -> (u32, u32) {
        (self.low, self.low + self.mask.count_ones() - 1)
    }

    /// Its value in a register that has `value`.
    #[inline]
    pub const fn of(self, value: u32) -> u32 {
        value >> self.low & self.mask
    }

    /// Whether it is not 0 in a register that has `value`.
    #[inline]
    pub const fn is_set(self, value: u32) -> bool {
        self.of(value) != 0
    }

    /// A register in which the field has `value`, of which higher bits are dropped, and all else is 0.
    #[inline]
    pub const fn with(self, value: u32) -> u32 {
        (value & self.mask) << self.low
    }
}

/// Byte offset of a register, of an array the first one's, and its fields from bit 0 up.
pub type Fields = (u32, &'static [Field]);

/// Defines a module of [`Field`]s for each register or word (`NAME as module { FIELD bit, FIELD high:low, }`).
macro_rules! field_modules {
    ($($name:ident as $module:ident {
        $($field:ident $high:literal $(: $low:literal)?),* $(,)?
    })*) => {
        $(
            #[doc = concat!("Fields of `", stringify!($name), "`.")]
            #[allow(missing_docs)] // The headers have them.
            pub mod $module {
                use crate::chip::regs::fields::Field;

                $(pub const $field: Field = {
                    let ends = [$high $(, $low)?];
                    Field::new(stringify!($field), ends[0], ends[ends.len() - 1])
                };)*

                /// All, from bit 0 up.
                pub const ALL: &[Field] = &[$($field),*];
                /// The name, and all.
                pub const NAMED: (&str, &[Field]) = (stringify!($name), ALL);
            }
        )*
    };
}
use field_modules;

/// [`field_modules`] of registers, and their table. `place` has to be the module of the registers.
macro_rules! fields {
    ($($register:ident as $module:ident { $($fields:tt)* })*) => {
        crate::chip::regs::fields::field_modules! { $($register as $module { $($fields)* })* }

        /// The registers above.
        pub const TABLE: &[crate::chip::regs::fields::Fields] =
            &[$((place::$register, $module::ALL)),*];
    };
}
use fields;

/// A table of registers that have the fields of others (`REGISTER as module,`), of R7xx's after `r700;`, otherwise
/// of the same file.
macro_rules! same_fields {
    (r700; $($register:ident as $module:ident),* $(,)?) => {
        &[$((place::$register, crate::chip::regs::fields::r700::$module::ALL)),*]
    };
    ($($register:ident as $module:ident),* $(,)?) => {
        &[$((place::$register, $module::ALL)),*]
    };
}
use same_fields;

#[cfg(test)]
mod tests {
    use super::super::{CAYMAN, EVERGREEN, R600, R700};
    use super::r700::{pa_su_sc_mode_cntl, sx_alpha_test_control};
    use super::Field;

    #[test]
    fn fields_of_one_bit_of_several_and_of_all() {
        let format = Field::new("FORMAT", 7, 2);
        assert_eq!(format.of(0xFFFF_FF55), 0x15);
        assert_eq!(format.ends(), (2, 7));
        assert_eq!(format.with(0xFF), 0xFC);
        assert!(!format.is_set(0xFFFF_FF03));
        assert_eq!(Field::new("ALL", 31, 0).of(u32::MAX), u32::MAX);
        assert_eq!(pa_su_sc_mode_cntl::PROVOKING_VTX_LAST.ends(), (19, 19));
        assert_eq!(sx_alpha_test_control::ALPHA_FUNC.of(0b1_0101), 5);
    }

    #[test]
    fn each_generation_has_its_own() {
        let named = |fields: &[Field], name| fields.iter().find(|f| f.name() == name).copied();
        // CB_COLOR3_INFO
        let (r700, evergreen) = (R700.fields(0x2_80AC), EVERGREEN.fields(0x2_8C70 + 3 * 60));
        let ends = |fields| named(fields, "COMP_SWAP").map(Field::ends);
        assert_eq!(ends(r700), Some((16, 17)));
        assert_eq!(ends(evergreen), Some((15, 16)));
        assert!(EVERGREEN.fields(0x2_80AC).is_empty());
        // CB_COLOR10_ATTRIB
        assert!(named(EVERGREEN.fields(0x2_8E8C), "NUM_BANKS").is_some());
        // SX_MISC
        assert_eq!(R600.fields(0x2_8350).len(), 1);
        assert!(R700.fields(0x2_8350).is_empty());
        // PA_SC_AA_CONFIG
        let samples = |map: &super::super::Map, at| {
            named(map.fields(at), "MSAA_NUM_SAMPLES").map(Field::ends)
        };
        assert_eq!(samples(&EVERGREEN, 0x2_8C04), Some((0, 1)));
        assert_eq!(samples(&CAYMAN, 0x2_8C04), None);
        assert_eq!(samples(&CAYMAN, 0x2_8BE0), Some((0, 2)));
        // The second of SPI_PS_IN_CONTROL, and what has no fields.
        assert!(named(R700.fields(0x2_86D0), "FRONT_FACE_ENA").is_some());
        assert!(R700.fields(0x2_86D1).is_empty() && R700.fields(0x2_802C).is_empty());
    }

    #[test]
    fn no_two_fields_of_a_register_share_a_bit() {
        for map in [&R600, &R700, &EVERGREEN, &CAYMAN] {
            for &(offset, fields) in map.fields.iter().copied().flatten() {
                let bits = fields.iter().map(|field| field.with(u32::MAX));
                let sum: u64 = bits.clone().map(u64::from).sum();
                let all = bits.fold(0, |all, bits| all | bits);
                assert_eq!(sum, u64::from(all), "{offset:#x}");
                // Cayman has some of Evergreen's elsewhere.
                let absent = map.except.contains(&offset);
                assert!(absent || map.name(offset).is_some(), "{offset:#x}");
            }
        }
    }
}
