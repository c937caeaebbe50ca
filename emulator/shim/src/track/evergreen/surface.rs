// SPDX-License-Identifier: MIT
//! The layout that the kernel demands of a surface of Evergreen and later.
//!
//! Source: `evergreen_surface_check()`, the functions for each array mode that it calls, and
//! `evergreen_surface_value_conv_check()` in `evergreen_cs.c` of Linux 6.12. Products wrap at 32 bits
//! where the kernel's do, so that both give the same answer.

use super::super::broken::Rule;
use super::super::surface::{LINEAR_ALIGNED, LINEAR_GENERAL, TILED_1D, TILED_2D};
use crate::checker::Reloc;
use crate::track::Tiling;

/// Fields of 2D tiling, encoded as in registers.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Macro {
    pub(super) banks: u32,
    pub(super) bank_width: u32,
    pub(super) bank_height: u32,
    pub(super) aspect: u32,
    pub(super) split: u32,
}

/// A surface as a stream describes it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Surface {
    /// Pitch and height in elements.
    pub(super) pitch: u32,
    pub(super) height: u32,
    pub(super) mode: u32,
    /// Bytes of an element.
    pub(super) bytes: u32,
    pub(super) samples: u32,
    pub(super) tiles: Macro,
}

/// What a surface's extent and place have to be multiples of, and its size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Layout {
    /// In elements.
    pub(super) pitch: u32,
    pub(super) height: u32,
    /// In bytes.
    pub(super) base: u32,
    /// Bytes of a layer.
    pub(super) layer: u32,
}

impl Surface {
    /// Checks the array mode and, of 2D tiling, the tile split. The other fields have no invalid
    /// values.
    ///
    /// # Errors
    /// Why the kernel refuses it.
    pub(super) fn check_mode(&self) -> Result<(), Rule> {
        match self.mode {
            LINEAR_GENERAL | LINEAR_ALIGNED | TILED_1D => Ok(()),
            TILED_2D if self.tiles.split < 7 => Ok(()),
            TILED_2D => Err(Rule::TileSplit(self.tiles.split)),
            mode => Err(Rule::ArrayMode(mode)),
        }
    }

    /// The layout of a surface whose mode is checked.
    pub(super) fn layout(&self, tiling: &Tiling) -> Layout {
        let &Self {
            pitch,
            height,
            bytes,
            samples,
            ..
        } = self;
        let layer = pitch.wrapping_mul(height).wrapping_mul(bytes);
        match self.mode {
            LINEAR_GENERAL => Layout {
                pitch: 1,
                height: 1,
                base: bytes,
                layer: layer.wrapping_mul(samples),
            },
            LINEAR_ALIGNED => Layout {
                pitch: (tiling.group / bytes).max(64),
                height: 1,
                base: tiling.group,
                layer: layer.wrapping_mul(samples),
            },
            // Samples do not count.
            TILED_1D => Layout {
                pitch: (tiling.group / (8 * bytes * samples)).max(8),
                height: 8,
                base: tiling.group,
                layer,
            },
            _ => self.layout_2d(tiling),
        }
    }

    fn layout_2d(&self, tiling: &Tiling) -> Layout {
        let tiles = &self.tiles;
        let all = 64 * self.bytes * self.samples;
        // A tile that is larger than the split is spread over several slices.
        let slices = (all / (64 << tiles.split)).max(1);
        let tile = all / slices;
        let pitch = 8 * tiling.pipes << tiles.bank_width << tiles.aspect;
        let height = (8 << tiles.bank_height) * (2 << tiles.banks) >> tiles.aspect;
        let macro_tile = (pitch / 8).wrapping_mul(height / 8).wrapping_mul(tile);
        let macro_tiles = (self.pitch / pitch).wrapping_mul(self.height) / height;
        Layout {
            pitch,
            height,
            base: macro_tile,
            layer: macro_tiles.wrapping_mul(macro_tile).wrapping_mul(slices),
        }
    }

    /// [`Self::layout`], if pitch and height are multiples of what it demands.
    ///
    /// # Errors
    /// Why the kernel refuses the surface.
    pub(super) fn check(&self, tiling: &Tiling) -> Result<Layout, Rule> {
        let layout = self.layout(tiling);
        if self.pitch & (layout.pitch - 1) != 0 {
            return Err(Rule::Pitch(self.pitch, layout.pitch));
        }
        if self.height & (layout.height - 1) != 0 {
            return Err(Rule::Height(self.height, layout.height));
        }
        Ok(layout)
    }
}

impl Layout {
    /// Checks an offset in bytes. The kernel masks it, also where the alignment is no power of two, and
    /// lets only 0 pass where the alignment is 0.
    ///
    /// # Errors
    /// If it is not aligned.
    pub(super) fn check_offset(&self, offset: u64) -> Result<(), Rule> {
        let base = u64::from(self.base);
        match offset & base.wrapping_sub(1) {
            0 => Ok(()),
            _ => Err(Rule::Offset(offset, base)),
        }
    }

    /// Checks that `layers` layers from the offset in bytes on are within the BO.
    ///
    /// # Errors
    /// If they are not.
    pub(super) fn check_size(&self, bo: Reloc, offset: u64, layers: u32) -> Result<(), Rule> {
        within(bo, offset + u64::from(self.layer) * u64::from(layers))
    }
}

/// Checks that a BO has that many bytes.
///
/// # Errors
/// If it is smaller.
pub(super) fn within(bo: Reloc, needed: u64) -> Result<(), Rule> {
    match needed <= bo.size {
        true => Ok(()),
        false => Err(Rule::Size(needed, bo.size)),
    }
}
