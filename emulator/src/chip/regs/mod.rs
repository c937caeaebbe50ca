// SPDX-License-Identifier: MIT
//! Register map of the R700 family, one file per hardware block.
//!
//! Offsets are byte offsets into the register space (0 to 0x3FFFC). Names are
//! those of the Linux driver's headers (`rv770d.h`, `r600d.h`, `r500_reg.h`,
//! `r600_reg.h`, `avivod.h`, `nid.h`); each block names its source. Where
//! `r600d.h` and `rv770d.h` give different offsets for one name, the R700
//! value is used.

/// Defines register offset constants and the block's name table.
macro_rules! registers {
    ($($(#[$doc:meta])* $name:ident = $offset:expr;)*) => {
        $($(#[$doc])* #[allow(non_upper_case_globals)] pub const $name: u32 = $offset;)*
        /// Offset and name of each register of the block, for traces.
        pub const NAMES: &[(u32, &str)] = &[$(($offset, stringify!($name))),*];
    };
}
pub(crate) use registers;

pub mod bif;
pub mod cg;
pub mod cp;
pub mod dce;
pub mod dma;
pub mod gb;
pub mod grbm;
pub mod hdp;
pub mod ih;
pub mod mc;
pub mod srbm;
pub mod uvd;
pub mod vgt;

/// First byte offset past the register space.
pub const REG_SPACE_SIZE: u32 = 0x4_0000;

/// The registers of all blocks.
const BLOCKS: &[&[(u32, &str)]] = &[
    bif::NAMES,
    cg::NAMES,
    srbm::NAMES,
    mc::NAMES,
    gb::NAMES,
    grbm::NAMES,
    hdp::NAMES,
    cp::NAMES,
    ih::NAMES,
    dma::NAMES,
    dce::NAMES,
    uvd::NAMES,
    vgt::NAMES,
];

/// Name of the register at byte offset `offset`, if the map knows it.
pub fn name(offset: u32) -> Option<&'static str> {
    BLOCKS
        .iter()
        .flat_map(|block| block.iter())
        .find(|(o, _)| *o == offset)
        .map(|(_, n)| *n)
}

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
    fn name_known_offset_is_found() {
        assert_eq!(name(0x8010), Some("GRBM_STATUS"));
        assert_eq!(name(0xC114), Some("CP_RB_WPTR"));
        assert_eq!(name(0x8012), None);
    }

    #[test]
    fn field_mask_is_shifted_down() {
        assert_eq!(field(0x0030_0000, 0x00F0_0000), 3);
        assert_eq!(field(u32::MAX, 0), 0);
    }

    #[test]
    fn blocks_hold_no_duplicate_or_outside_offsets() {
        let mut seen = std::collections::HashMap::new();
        for block in BLOCKS {
            for (offset, name) in *block {
                assert!(*offset < REG_SPACE_SIZE && offset % 4 == 0, "{name}");
                assert_eq!(seen.insert(*offset, *name), None, "{name}");
            }
        }
    }
}
