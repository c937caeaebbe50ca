// SPDX-License-Identifier: MIT
//! Whether render targets are within their BOs.
//!
//! Source: `evergreen_cs_track_validate_cb()` in `evergreen_cs.c` of Linux 6.12. CMASK and FMASK are
//! not checked there.

use super::super::broken::Rule;
use super::super::surface::{block, field, is_colour, Placed, LINEAR_GENERAL};
use super::surface::{Macro, Surface};
use crate::track::Tiling;

/// Registers of a render target (`CB_COLORn_*`).
#[derive(Debug, Clone, Copy)]
pub(super) struct Colour {
    pub(super) base: Placed,
    pub(super) pitch: u32,
    pub(super) slice: u32,
    /// Index of the dword that sets `slice`.
    pub(super) slice_at: Option<usize>,
    pub(super) view: u32,
    pub(super) info: u32,
    pub(super) attrib: u32,
}

impl Default for Colour {
    /// The kernel's assumptions at the start of a stream.
    fn default() -> Self {
        Self {
            base: None,
            pitch: 0,
            slice: 0xFFF_FFFF,
            slice_at: None,
            view: !0,
            info: 0,
            attrib: 0,
        }
    }
}

impl Colour {
    /// Whether the target has a format.
    pub(super) fn is_valid(&self) -> bool {
        field(self.info, 2, 6) != 0
    }

    /// Checks the target. Returns the index and the value of the dword that the kernel changes: where a
    /// linear target is too high for its BO by up to eight rows, `CB_COLORn_SLICE` is cut.
    ///
    /// # Errors
    /// Why the kernel refuses it.
    pub(super) fn check(&self, tiling: &Tiling) -> Result<Option<(usize, u32)>, Rule> {
        let (bo, offset) = self.base.ok_or(Rule::Bo)?;
        let format = field(self.info, 2, 6);
        let (_, _, bytes) = block(format)
            .filter(|_| is_colour(format))
            .ok_or(Rule::Format(format))?;
        let pitch = self.pitch.wrapping_add(1).wrapping_mul(8);
        let elements = self.slice.wrapping_add(1).wrapping_mul(64);
        let height = elements.checked_div(pitch).ok_or(Rule::Pitch0)?;
        let surface = Surface {
            pitch,
            height,
            mode: field(self.info, 8, 4),
            bytes,
            // The kernel does not count samples.
            samples: 1,
            tiles: Macro {
                split: field(self.attrib, 5, 4),
                banks: field(self.attrib, 10, 2),
                bank_width: field(self.attrib, 13, 2),
                bank_height: field(self.attrib, 16, 2),
                aspect: field(self.attrib, 19, 2),
            },
        };
        surface.check_mode()?;
        let layout = surface.check(tiling)?;
        layout.check_offset(offset)?;
        let layers = field(self.view, 13, 11) + 1;
        let Err(too_large) = layout.check_size(bo, offset, layers) else {
            return Ok(None);
        };
        if surface.mode != LINEAR_GENERAL || offset > bo.size {
            return Err(too_large);
        }
        let row = u64::from(pitch) * u64::from(bytes) * u64::from(layers);
        let rows = (bo.size - offset) / row;
        if rows <= u64::from(height.saturating_sub(8)) {
            return Err(too_large);
        }
        let slice = (rows * u64::from(pitch) / 64).wrapping_sub(1) as u32;
        Ok(self.slice_at.map(|at| (at, slice)))
    }
}
