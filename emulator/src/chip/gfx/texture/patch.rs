// SPDX-License-Identifier: MIT
//! The shape of a patch: texels of neighbouring blocks, laid out for the fast path, see `plain`.

/// Blocks of a patch.
pub const SLOTS: usize = 16;
/// Columns and rows of texels in a patch: four blocks.
pub const SIDE: u32 = 32;
/// Texels from row to row of a patch.
pub const PITCH: u32 = 2 * SIDE;
/// Texels of a patch, with those that a bilinear filter reads below the last row and right of the
/// last column.
pub const PATCH: usize = (PITCH * (SIDE + 1)) as usize + 1;
/// Mask that keeps a place within a patch, without the row below.
pub const LAST_PLACE: usize = (PITCH * SIDE - 1) as usize;
