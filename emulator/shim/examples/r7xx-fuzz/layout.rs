// SPDX-License-Identifier: MIT
//! Where a generation's streams have addresses, shaders and resources.

use std::ops::Range;

use r7xx_board::chip::gfx::front::Front;
use r7xx_board::chip::Family;

/// Places in the streams of a generation. Sources: Mesa's `r600d.h` and `evergreend.h`.
#[derive(Debug)]
pub struct Layout {
    /// Byte offset of the first resource, dwords of each, and number of those of the pixel shader.
    pub resources: (u32, u32, u32),
    /// Context registers that are addresses in units of 256 bytes: depth, colours, tiles and fragments
    /// of colours, shaders, rings, stream-out, constants.
    addresses: &'static [Range<u32>],
    /// Start addresses of the stages' shaders among them (`SQ_PGM_START_*`).
    pub shaders: &'static [u32],
    /// `SQ_ALU_CONST_CACHE_*`.
    constants: &'static [Range<u32>],
    /// `CB_COLOR0_BASE`, the distance of the next target's, their number, and the distances of a
    /// target's other addresses.
    targets: Option<(u32, u32, u32, [u32; 2])>,
}

// R7xx has one range of constants.
#[allow(clippy::single_range_in_vec_init)]
static R700: Layout = Layout {
    // R600_FETCH_CONSTANTS_OFFSET_VS
    resources: (0x3_8000, 7, 160),
    addresses: &[
        0x2_800C..0x2_8018,
        0x2_8040..0x2_8060,
        0x2_80C0..0x2_8100,
        0x2_8840..0x2_88A0,
        0x2_8940..0x2_89C0,
        0x2_8AD0..0x2_8B10,
        0x2_8D3C..0x2_8D40,
    ],
    shaders: &[0x2_8840, 0x2_8858, 0x2_886C, 0x2_8880, 0x2_8894],
    constants: &[0x2_8940..0x2_89C0],
    targets: None,
};

static EVERGREEN: Layout = Layout {
    // EG_FETCH_CONSTANTS_OFFSET_VS
    resources: (0x3_0000, 8, 176),
    addresses: &[
        // HTILE, DB_Z_READ_BASE to DB_STENCIL_WRITE_BASE
        0x2_8014..0x2_8018,
        0x2_8048..0x2_8058,
        0x2_8940..0x2_8A00,
        0x2_8AD0..0x2_8B10,
        0x2_8F00..0x2_8F80,
    ],
    // PS, VS, GS, ES, FS, HS, LS
    shaders: &[
        0x2_8840, 0x2_885C, 0x2_8874, 0x2_888C, 0x2_88A4, 0x2_88B8, 0x2_88D0,
    ],
    constants: &[0x2_8940..0x2_8A00, 0x2_8F00..0x2_8F80],
    // CB_COLORn_CMASK and CB_COLORn_FMASK
    targets: Some((0x2_8C60, 0x3C, 8, [0x1C, 0x24])),
};

impl Layout {
    /// The layout of a chip's streams.
    pub fn of(family: Family) -> &'static Layout {
        let front: Option<&Front> = family.model().generation.draws;
        // The generations differ in the size of a resource.
        match front.map(|front| front.resources.1) {
            Some(8) => &EVERGREEN,
            _ => &R700,
        }
    }

    /// Whether a context register is an address.
    pub fn is_address(&self, register: u32) -> bool {
        let of_target = self.targets.is_some_and(|(first, step, count, others)| {
            let from = register.wrapping_sub(first);
            from < step * count && (from % step == 0 || others.contains(&(from % step)))
        });
        of_target
            || self.shaders.contains(&register)
            || self.addresses.iter().any(|range| range.contains(&register))
    }

    /// Whether a context register is the address of constants.
    pub fn is_constants(&self, register: u32) -> bool {
        self.constants.iter().any(|range| range.contains(&register))
    }
}
