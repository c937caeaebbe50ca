// SPDX-License-Identifier: MIT
//! Register maps: the R700 family's, one file per hardware block, and what other
//! generations have at other places.
//!
//! Offsets are byte offsets into the register space (0 to 0x3FFFC). Names are
//! those of the Linux driver's headers (`rv770d.h`, `r600d.h`, `r500_reg.h`,
//! `r600_reg.h`, `avivod.h`, `nid.h`); each block names its source. Where
//! `r600d.h` and `rv770d.h` give different offsets for one name, the R700
//! value is used.

use std::borrow::Cow;
use std::sync::OnceLock;

use fields::{Field, Fields};

/// A register, or an array of registers that share a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Register {
    /// Byte offset of the first.
    pub offset: u32,
    /// Name of the first.
    pub name: &'static str,
    /// Number of elements; 1 for a single register.
    pub count: u32,
    /// Bytes from element to element.
    pub stride: u32,
    /// Number of consecutive registers in an element.
    pub words: u32,
}

/// Endings of the names of an element's words.
const WORDS: [&[&str]; 2] = [&["RED", "GREEN", "BLUE", "ALPHA"], &["X", "Y", "Z", "W"]];

impl Register {
    /// Offsets of all its registers.
    pub fn offsets(self) -> impl Iterator<Item = u32> {
        (0..self.count).flat_map(move |i| {
            (0..self.words).map(move |word| self.offset + i * self.stride + 4 * word)
        })
    }

    /// Element and word of the register at byte offset `offset`, if this entry has it.
    fn place_of(self, offset: u32) -> Option<(u32, u32)> {
        let from = offset.checked_sub(self.offset)?;
        let (element, word) = match self.stride {
            0 => (0, from / 4),
            stride => (from / stride, from % stride / 4),
        };
        (from % 4 == 0 && element < self.count && word < self.words).then_some((element, word))
    }

    /// Offset of the same word of the first element, if this entry has the register at byte offset
    /// `offset`.
    fn first_alike(self, offset: u32) -> Option<u32> {
        let (_, word) = self.place_of(offset)?;
        Some(self.offset + 4 * word)
    }

    /// Name of the register at byte offset `offset`, if this entry has it: the first
    /// register's name, in which the element's number replaces the last 0, or the last 1
    /// of a name without 0, and the word's ending (see `WORDS`) or number the first ending or the first 0.
    pub fn name_at(self, offset: u32) -> Option<Cow<'static, str>> {
        let (element, word) = self.place_of(offset)?;
        if self.count * self.words == 1 {
            return Some(Cow::Borrowed(self.name));
        }
        let mut name = self.name.to_string();
        let (digit, first) = if name.contains('0') {
            ('0', 0)
        } else {
            ('1', 1)
        };
        if let (2.., Some(at)) = (self.count, name.rfind(digit)) {
            name.replace_range(at..=at, &(first + element).to_string());
        }
        if self.words > 1 {
            let ending = WORDS.iter().find(|words| name.ends_with(words[0]));
            match (ending, name.find('0')) {
                (Some(words), _) => {
                    let at = name.len() - words[0].len();
                    name.replace_range(at.., words[word as usize % words.len()]);
                }
                (None, Some(at)) => name.replace_range(at..=at, &word.to_string()),
                _ => {}
            }
        }
        Some(Cow::Owned(name))
    }
}

/// Defines register offset constants and the block's table: offset, and for an
/// array `[elements; bytes from one to the next; registers of an element]`.
macro_rules! registers {
    ($($(#[$doc:meta])* $name:ident = $offset:literal
        $([$count:literal; $stride:literal $(; $words:literal)?])?;)*) => {
        $($(#[$doc])* #[allow(non_upper_case_globals)] pub const $name: u32 = $offset;)*
        /// The block's registers.
        pub const REGISTERS: &[crate::chip::regs::Register] = &[$({
            #[allow(unused_mut, unused_assignments)]
            let mut register = crate::chip::regs::Register {
                offset: $offset,
                name: stringify!($name),
                count: 1,
                stride: 0,
                words: 1,
            };
            $(
                register.count = $count;
                register.stride = $stride;
                $(register.words = $words;)?
            )?
            register
        }),*];
    };
}
pub(crate) use registers;

pub mod bif;
pub mod cayman;
pub mod cg;
pub mod cp;
pub mod dce;
pub mod dma;
pub mod evergreen;
pub mod fields;
pub mod gb;
pub mod gfx;
pub mod grbm;
pub mod hdp;
pub mod ih;
pub mod mc;
pub mod r600;
pub mod srbm;
mod stored;
pub mod uvd;
pub mod vgt;

/// First byte offset past the register space.
pub const REG_SPACE_SIZE: u32 = 0x4_0000;

/// The registers of a generation.
#[derive(Debug)]
pub struct Map {
    /// Registers that have an effect, by block.
    modelled: &'static [&'static [Register]],
    /// Registers that only keep their value.
    stored: &'static [&'static [Register]],
    /// Registers of these tables that the generation does not have at this place.
    except: &'static [u32],
    /// Fields of registers.
    fields: &'static [&'static [Fields]],
    /// A bit for each register of the space that a table has.
    known: OnceLock<Vec<u64>>,
}

impl Map {
    const fn new(
        modelled: &'static [&'static [Register]],
        stored: &'static [&'static [Register]],
        except: &'static [u32],
        fields: &'static [&'static [Fields]],
    ) -> Self {
        Self {
            modelled,
            stored,
            except,
            fields,
            known: OnceLock::new(),
        }
    }

    /// Registers that have an effect.
    pub fn modelled(&self) -> impl Iterator<Item = Register> + '_ {
        let all = self.modelled.iter().copied().flatten().copied();
        all.filter(|register| !self.except.contains(&register.offset))
    }

    /// Registers that only keep their value.
    pub fn stored(&self) -> impl Iterator<Item = Register> + '_ {
        self.stored.iter().copied().flatten().copied()
    }

    /// Name of the register at byte offset `offset`, if a table has it.
    pub fn name(&self, offset: u32) -> Option<Cow<'static, str>> {
        self.modelled()
            .chain(self.stored())
            .find_map(|register| register.name_at(offset))
    }

    /// Fields of the register at byte offset `offset`, from bit 0 up; none if no table has them.
    pub fn fields(&self, offset: u32) -> &'static [Field] {
        let alike = self
            .modelled()
            .chain(self.stored())
            .find_map(|register| register.first_alike(offset));
        let mut all = self.fields.iter().copied().flatten();
        let found = all.find(|(first, _)| Some(*first) == alike);
        found.map_or(&[], |(_, fields)| fields)
    }

    /// Whether a table has the register at byte offset `offset`. Cheap.
    pub fn is_known(&self, offset: u32) -> bool {
        let known = self.known.get_or_init(|| {
            let mut bits = vec![0; REG_SPACE_SIZE as usize / 4 / 64];
            let all = self.modelled().chain(self.stored());
            for offset in all.flat_map(Register::offsets) {
                bits[offset as usize / 256] |= 1 << (offset / 4 % 64);
            }
            bits
        });
        known
            .get(offset as usize / 256)
            .is_some_and(|bits| bits >> (offset / 4 % 64) & 1 != 0)
    }
}

/// The registers of the R700 family.
pub static R700: Map = Map::new(
    &[
        bif::REGISTERS,
        cg::REGISTERS,
        srbm::REGISTERS,
        mc::REGISTERS,
        gb::REGISTERS,
        gfx::REGISTERS,
        grbm::REGISTERS,
        hdp::REGISTERS,
        cp::REGISTERS,
        ih::REGISTERS,
        dma::REGISTERS,
        dce::REGISTERS,
        uvd::REGISTERS,
        vgt::REGISTERS,
    ],
    &[stored::REGISTERS, stored_r700::REGISTERS],
    &[],
    &[fields::r700::TABLE],
);

/// Registers that have an effect on R6xx, and are only stored on R700.
mod stored_r700 {
    #![allow(dead_code)] // Only the table is used, not the constant.

    super::registers! {
        SX_MISC = 0x2_8350;
    }
}

/// The registers of R6xx: R700's, some of them elsewhere. Those that the board only
/// stores are listed as R700 has them.
pub static R600: Map = Map::new(
    &[
        bif::REGISTERS,
        cg::REGISTERS,
        srbm::REGISTERS,
        mc::REGISTERS,
        gb::REGISTERS,
        gfx::REGISTERS,
        grbm::REGISTERS,
        hdp::REGISTERS,
        cp::REGISTERS,
        ih::REGISTERS,
        dma::REGISTERS,
        dce::REGISTERS,
        uvd::REGISTERS,
        vgt::REGISTERS,
        r600::REGISTERS,
    ],
    &[stored::REGISTERS],
    &[
        cg::CG_UPLL_FUNC_CNTL,
        mc::VM_CONTEXT0_PROTECTION_FAULT_DEFAULT_ADDR,
        mc::VM_CONTEXT0_PAGE_TABLE_BASE_ADDR,
        mc::VM_CONTEXT0_PAGE_TABLE_START_ADDR,
        mc::VM_CONTEXT0_PAGE_TABLE_END_ADDR,
        mc::MC_VM_FB_LOCATION,
        mc::MC_ARB_RAMCFG,
        hdp::HDP_DEBUG1,
    ],
    &[fields::r700::TABLE, fields::r700::r600::TABLE],
);

/// The tables of Evergreen and what came after it.
const FROM_EVERGREEN: [&[Register]; 14] = [
    bif::REGISTERS,
    cg::REGISTERS,
    srbm::REGISTERS,
    mc::REGISTERS,
    gb::REGISTERS,
    grbm::REGISTERS,
    hdp::REGISTERS,
    cp::REGISTERS,
    ih::REGISTERS,
    dma::REGISTERS,
    uvd::REGISTERS,
    vgt::REGISTERS,
    evergreen::REGISTERS,
    evergreen::gfx::REGISTERS,
];

/// The same, and Cayman's.
const FROM_CAYMAN: [&[Register]; 16] = {
    let mut tables: [&[Register]; 16] = [cayman::REGISTERS; 16];
    tables[15] = cayman::gfx::REGISTERS;
    let mut i = 0;
    while i < FROM_EVERGREEN.len() {
        tables[i] = FROM_EVERGREEN[i];
        i += 1;
    }
    tables
};

/// The registers of Evergreen and Northern Islands: of R700's those that are still there,
/// and their own.
pub static EVERGREEN: Map = Map::new(
    &FROM_EVERGREEN,
    &[evergreen::stored::REGISTERS, stored_evergreen::REGISTERS],
    &[
        gb::GB_TILING_CONFIG,
        grbm::GRBM_STATUS2,
        hdp::HDP_DEBUG1,
        cp::CP_STRMOUT_CNTL,
        dma::DMA_TILING_CONFIG,
    ],
    &[
        fields::evergreen::TABLE,
        fields::evergreen::SAME,
        fields::evergreen::AS_R700,
    ],
);

/// Registers that have an effect on Cayman, and are only stored on Evergreen.
mod stored_evergreen {
    #![allow(dead_code)] // Only the table is used, not the constants.

    super::registers! {
        VM_L2_CNTL2 = 0x1404;
        VM_CONTEXT1_CNTL = 0x1414;
        VM_CONTEXT1_CNTL2 = 0x1434;
        VM_CONTEXT1_PROTECTION_FAULT_STATUS = 0x14DC;
        VM_CONTEXT1_PROTECTION_FAULT_ADDR = 0x14FC;
        GRBM_STATUS_SE1 = 0x8018;
        CAYMAN_DMA1_CNTL = 0xD82C;
    }
}

/// The registers of Cayman: Evergreen's and its own.
pub static CAYMAN: Map = Map::new(
    &FROM_CAYMAN,
    &[evergreen::stored::REGISTERS, cayman::stored::REGISTERS],
    &[
        gb::GB_TILING_CONFIG,
        grbm::GRBM_STATUS2,
        hdp::HDP_DEBUG1,
        cp::CP_STRMOUT_CNTL,
        cp::CP_RB_RPTR_WR,
        dma::DMA_TILING_CONFIG,
        evergreen::gfx::PA_SC_LINE_CNTL,
        evergreen::gfx::PA_SC_AA_CONFIG,
        evergreen::gfx::PA_SU_VTX_CNTL,
        evergreen::gfx::PA_CL_GB_VERT_CLIP_ADJ,
        evergreen::gfx::PA_CL_GB_VERT_DISC_ADJ,
        evergreen::gfx::PA_CL_GB_HORZ_CLIP_ADJ,
        evergreen::gfx::PA_CL_GB_HORZ_DISC_ADJ,
        evergreen::gfx::PA_SC_AA_SAMPLE_LOCS_0,
    ],
    &[
        fields::cayman::TABLE,
        fields::cayman::AS_R700,
        fields::evergreen::TABLE,
        fields::evergreen::SAME,
        fields::evergreen::AS_R700,
    ],
);

/// Extracts the bits of `mask` from `value`, shifted down to bit 0.
pub const fn field(value: u32, mask: u32) -> u32 {
    if mask == 0 {
        0
    } else {
        (value & mask) >> mask.trailing_zeros()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_registers_and_of_elements_of_arrays() {
        for (offset, expected) in [
            (0x8010, Some("GRBM_STATUS")),
            (0x8012, None),
            (0xC114, Some("CP_RB_WPTR")),
            (0x2_8048, Some("CB_COLOR2_BASE")),
            (0x2_8274, Some("PA_SC_VPORT_SCISSOR_4_BR")),
            (0x2_8420, Some("CB_BLEND_ALPHA")),
            (0x2_8E38, Some("PA_CL_UCP_1_Z")),
            (0xA614, Some("TD_VS_SAMPLER1_BORDER_GREEN")),
            (0x3_8000 + 28 * 160 + 8, Some("SQ_TEX_RESOURCE_WORD2_160")),
            (0x3_C000 + 12 * 53 + 8, Some("SQ_TEX_SAMPLER_WORD2_53")),
            (0x3_C000 + 12 * 54, None),
            (0x2_8F00, None),
        ] {
            assert_eq!(R700.name(offset).as_deref(), expected, "{offset:#x}");
            assert!(
                offset % 4 != 0 || R700.is_known(offset) == expected.is_some(),
                "{offset:#x}"
            );
        }
        assert!(!R700.is_known(u32::MAX));
    }

    #[test]
    fn arrays_that_begin_with_1_are_counted_from_there() {
        let name = |offset| CAYMAN.name(offset);
        let base = |n| Some(format!("VM_CONTEXT{n}_PAGE_TABLE_BASE_ADDR").into());
        assert_eq!(
            [0x153C, 0x1540, 0x1558].map(name),
            [base(0), base(1), base(7)]
        );
    }

    #[test]
    fn field_mask_is_shifted_down() {
        assert_eq!(field(0x0030_0000, 0x00F0_0000), 3);
        assert_eq!(field(u32::MAX, 0), 0);
    }

    #[test]
    fn tables_hold_no_duplicate_or_outside_offsets() {
        for map in [&R600, &R700, &EVERGREEN, &CAYMAN] {
            no_duplicate_or_outside_offsets(map);
        }
    }

    fn no_duplicate_or_outside_offsets(map: &Map) {
        let mut seen = std::collections::HashMap::new();
        for register in map.modelled().chain(map.stored()) {
            for offset in register.offsets() {
                let name = register.name;
                assert!(offset < REG_SPACE_SIZE && offset % 4 == 0, "{name}");
                assert_eq!(seen.insert(offset, name), None, "{name}");
            }
        }
        let names: std::collections::HashSet<_> = seen.keys().map(|o| map.name(*o)).collect();
        assert_eq!(names.len(), seen.len(), "a name stands for two registers");
    }
}
