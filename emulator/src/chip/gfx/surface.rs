// SPDX-License-Identifier: MIT
//! Surfaces as the render backends see them: a base address, a layout, and
//! access by micro tile.

use super::lanes::Mask;
use super::memory::View;
use crate::chip::bus::McError;
use crate::chip::strict::cache::Cache;
use crate::chip::tiling::{Layout, Tile};

/// Largest micro tile: 64 elements of 16 bytes with 8 samples.
pub const MAX_TILE_BYTES: usize = 64 * 16 * 8;

/// A micro tile of a render target or depth buffer, one sample of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct At {
    /// Column in tiles.
    pub x: u32,
    /// Row in tiles.
    pub y: u32,
    /// Slice, counted from the view's first.
    pub layer: u32,
    /// Sample.
    pub sample: u32,
}

impl At {
    /// The first sample of tile (`x`, `y`) of layer `layer`.
    pub fn new(x: u32, y: u32, layer: u32) -> Self {
        Self {
            x,
            y,
            layer,
            sample: 0,
        }
    }

    /// Another sample of the tile.
    pub fn sample(self, sample: u32) -> Self {
        Self { sample, ..self }
    }
}

/// A surface in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Surface {
    /// MC address of its first byte.
    pub base: u64,
    /// Arrangement.
    pub layout: Layout,
    /// The cache that it is reached through.
    pub cache: Cache,
}

/// Rows (bit y) of a micro tile that have a pixel in `mask`, which is in the
/// quad order of pixel waves.
pub const fn rows_of(mask: Mask) -> u8 {
    // Sixteen lanes are two rows: in each quad of four, the lower two lanes are
    // the upper row.
    let mut rows = 0;
    let mut pair = 0;
    while pair < 4 {
        let lanes = (mask >> (pair * 16)) as u16;
        if lanes & 0x3333 != 0 {
            rows |= 1 << (pair * 2);
        }
        if lanes & 0xCCCC != 0 {
            rows |= 2 << (pair * 2);
        }
        pair += 1;
    }
    rows
}

impl Surface {
    /// Reads `out.len()` bytes of micro tile `tile` from its byte `first` on.
    /// Of a linear surface only the rows in `rows` are read: those below its
    /// last line may not exist. What is not read stays as it was in `out`.
    ///
    /// # Errors
    /// That of the first run that no memory answered.
    #[inline]
    pub fn read_tile(
        &self,
        view: &View<'_>,
        tile: &Tile,
        first: u32,
        rows: u8,
        out: &mut [u8],
    ) -> Result<(), McError> {
        if let Some(offset) = self.run(tile, first, out.len()) {
            return view.read_by(self.cache, offset, out);
        }
        let mut at = 0;
        for (offset, len) in tile.pieces(first, out.len() as u32) {
            if self.has_row(at, rows) {
                view.read_by(
                    self.cache,
                    self.base.wrapping_add(offset),
                    &mut out[at..at + len],
                )?;
            }
            at += len;
        }
        Ok(())
    }

    /// Writes `data` to micro tile `tile` from its byte `first` on; of a linear
    /// surface only the rows in `rows`.
    ///
    /// # Errors
    /// That of the first run that no memory answered.
    #[inline]
    pub fn write_tile(
        &self,
        view: &View<'_>,
        tile: &Tile,
        first: u32,
        rows: u8,
        data: &[u8],
    ) -> Result<(), McError> {
        if let Some(offset) = self.run(tile, first, data.len()) {
            return view.write_by(self.cache, offset, data);
        }
        let mut at = 0;
        for (offset, len) in tile.pieces(first, data.len() as u32) {
            if self.has_row(at, rows) {
                view.write_by(
                    self.cache,
                    self.base.wrapping_add(offset),
                    &data[at..at + len],
                )?;
            }
            at += len;
        }
        Ok(())
    }

    /// Says that `len` bytes of `tile` from its byte `first` on will be read soon.
    #[inline]
    pub fn prefetch_tile(&self, view: &View<'_>, tile: &Tile, first: u32, len: usize) {
        if let Some(addr) = self.run(tile, first, len) {
            view.prefetch(addr, len);
        }
    }

    /// The address of `len` bytes of `tile` from its byte `first` on, if they lie together.
    #[inline]
    fn run(&self, tile: &Tile, first: u32, len: usize) -> Option<u64> {
        let offset = tile.run(first, len).filter(|_| self.layout.is_tiled())?;
        Some(self.base.wrapping_add(offset))
    }

    /// True unless byte `at` of a tile is in a row of a linear surface that is
    /// not in `rows`.
    fn has_row(&self, at: usize, rows: u8) -> bool {
        if self.layout.is_tiled() {
            return true;
        }
        let row = at / (8 * self.layout.bytes_per_element.max(1) as usize);
        row < 8 && rows & (1 << row) != 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chip::gfx::lanes::pixel_of;

    #[test]
    fn rows_follow_the_quad_order() {
        for lane in 0..64 {
            assert_eq!(rows_of(1 << lane), 1 << pixel_of(lane).1, "lane {lane}");
        }
        assert_eq!(rows_of(u64::MAX), 0xFF);
        assert_eq!(rows_of(0), 0);
    }
}
