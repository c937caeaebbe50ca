// SPDX-License-Identifier: MIT
//! Surfaces as the render backends see them: a base address, a layout, and
//! access by micro tile.

use std::ops::Range;

use super::compressed::Compression;
use super::lanes::Mask;
use super::memory::View;
use crate::chip::bus::McError;
use crate::chip::strict::cache::Cache;
use crate::chip::tiling::{Block, Layout, Runs, MICRO};

/// Bytes of the largest micro tile: 64 elements of 16 bytes with 8 samples.
pub const MAX_TILE_BYTES: usize = 64 * 16 * 8;

/// One sample of a micro tile of a render target or depth buffer.
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

    /// Sample `sample` of the same tile.
    pub fn sample(self, sample: u32) -> Self {
        Self { sample, ..self }
    }
}

/// A surface in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Surface {
    /// MC address of its first byte.
    pub base: u64,
    /// Tiling mode, pitch and element size.
    pub layout: Layout,
    /// The cache through which it is accessed on a strict board.
    pub cache: Cache,
    /// What its backend does with compressed tiles.
    compression: Compression,
    runs: Option<Runs>,
}

/// Bytes of a micro tile, found by [`Surface::place`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// Column and row of the micro tile.
    tile: (u32, u32),
    slice: u32,
    /// First byte within the tile, and number of bytes.
    first: u32,
    len: usize,
    /// MC address of the first byte, if the bytes are contiguous.
    run: Option<u64>,
}

impl Place {
    /// MC address of the first byte, if the bytes are contiguous.
    pub fn address(&self) -> Option<u64> {
        self.run
    }
}

/// Rows (bit y) of a micro tile that have a pixel in `mask`, a mask of lanes in
/// the quad order of pixel waves.
pub const fn rows_of(mask: Mask) -> u8 {
    // Sixteen lanes are two rows of pixels: the lower two lanes of each quad
    // belong to the upper row.
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
    /// The surface at MC address `base`, accessed through `cache`.
    pub fn new(base: u64, layout: Layout, cache: Cache) -> Self {
        Self {
            base,
            layout,
            cache,
            compression: Compression::None,
            runs: Runs::new(&layout),
        }
    }

    /// The same surface, whose backend does this with compressed tiles.
    pub fn with_compression(self, compression: Compression) -> Self {
        Self {
            compression,
            ..self
        }
    }

    /// Bytes `first..first + len` of the micro tile in column and row `tile` of slice `slice`.
    #[inline]
    pub fn place(&self, tile: (u32, u32), slice: u32, first: u32, len: usize) -> Place {
        let run = |runs: &Runs| runs.run(tile.0, tile.1, slice, first, len);
        let offset = self.runs.as_ref().and_then(run);
        Place {
            tile,
            slice,
            first,
            len,
            run: offset.map(|offset| self.base.wrapping_add(offset)),
        }
    }

    /// MC address of the bytes of the micro tile in column and row `tile` of slice `slice`, if they are
    /// one run.
    pub fn tile_run(&self, tile: (u32, u32), slice: u32) -> Option<u64> {
        self.place(tile, slice, 0, self.layout.tile_bytes() as usize)
            .run
    }

    /// The bytes of a block of micro tiles, as [`Runs::block`]. None if they are not a few runs, or
    /// if an access tells somebody: `view` is not [direct](View::is_direct).
    pub fn block(
        &self,
        view: &View<'_>,
        from: (u32, u32),
        size: (u32, u32),
        slice: u32,
    ) -> Option<Block> {
        let runs = self.runs.as_ref().filter(|_| view.is_direct())?;
        runs.block(from, size, slice)
    }

    /// Columns and rows of micro tiles after which their order in [blocks](Self::block) repeats.
    pub fn period(&self) -> Option<(u32, u32)> {
        self.runs.as_ref().map(Runs::period)
    }

    /// The bytes of the unit of micro tiles at `from`, and the pipe of the first one, as
    /// [`Runs::unit`].
    pub fn unit(&self, from: (u32, u32), slice: u32) -> Option<(Block, u8)> {
        self.runs.as_ref()?.unit(from, slice)
    }

    /// The first micro tiles of the units of which a block of `size` micro tiles at `from` consists.
    /// None unless it consists of [whole units](Runs::unit_size), or if an access tells somebody.
    pub fn units(
        &self,
        view: &View<'_>,
        from: (u32, u32),
        size: (u32, u32),
    ) -> Option<impl Iterator<Item = (u32, u32)>> {
        let (columns, rows) = (self.runs.as_ref().filter(|_| view.is_direct())?).unit_size()?;
        let whole = (from.0 | size.0) % columns == 0 && (from.1 | size.1) % rows == 0;
        let at = move |x, y| (from.0 + x * columns, from.1 + y * rows);
        whole.then(|| {
            (0..size.1 / rows).flat_map(move |y| (0..size.0 / columns).map(move |x| at(x, y)))
        })
    }

    /// Fills the `size` micro tiles (columns, rows) at `from` with copies of `pattern`, the bytes of a
    /// micro tile whose elements and samples are all the same. False if they are not a few runs, if an
    /// access tells somebody, or if it failed; a part may then have been written.
    pub fn fill_tiles(
        &self,
        view: &View<'_>,
        from: (u32, u32),
        size: (u32, u32),
        slice: u32,
        pattern: &[u8],
    ) -> bool {
        let fill = |block: &Block| self.fill_block(view, block, pattern).is_ok();
        if let Some(block) = self.block(view, from, size, slice) {
            return fill(&block);
        }
        let unit = |at| (self.unit(at, slice)).is_some_and(|(block, _)| fill(&block));
        (self.units(view, from, size)).is_some_and(|mut units| units.all(unit))
    }

    fn fill_block(&self, view: &View<'_>, block: &Block, pattern: &[u8]) -> Result<(), McError> {
        (0..u64::from(block.runs)).try_for_each(|run| {
            let at = block.start.wrapping_add(run.wrapping_mul(block.step));
            view.fill(self.base.wrapping_add(at), block.len, pattern)
        })
    }

    /// Copies block `from` of `source` to block `to` of this surface, whose tiles must be in the
    /// same order and must not overlap with it.
    ///
    /// # Errors
    /// As [`View::copy`].
    pub fn copy_block(
        &self,
        view: &View<'_>,
        to: &Block,
        source: &Self,
        from: &Block,
    ) -> Result<(), McError> {
        (0..u64::from(to.runs)).try_for_each(|run| {
            let at = |surface: &Self, block: &Block| {
                let offset = block.start.wrapping_add(run.wrapping_mul(block.step));
                surface.base.wrapping_add(offset)
            };
            view.copy(at(source, from), at(self, to), to.len)
        })
    }

    /// MC addresses from the surface's base to the end of slice `slice`.
    pub fn extent(&self, slice: u32) -> Range<u64> {
        let layout = &self.layout;
        let bytes = u64::from(layout.tile_bytes() / 64) * u64::from(layout.slice_elements);
        let end = bytes.saturating_mul(u64::from(slice) + 1);
        self.base..self.base.saturating_add(end)
    }

    /// Reads the bytes of `place` into `out`, which has the same length.
    /// Of a linear surface, reads only the rows in `rows`, as memory may end
    /// with its last line; the bytes of the other rows in `out` do not change.
    ///
    /// # Errors
    /// The first access that no memory answered.
    #[inline]
    pub fn read_tile(
        &self,
        view: &View<'_>,
        place: &Place,
        rows: u8,
        out: &mut [u8],
    ) -> Result<(), McError> {
        if let (Some(compressed), Cache::Texture) = (view.compressed, self.cache) {
            compressed.read_tile(view, self, place.tile, place.slice, out.len());
        }
        match place.run {
            Some(addr) => self.read(view, addr, out),
            None => self.pieces(place, rows, |addr, bytes| {
                self.read(view, addr, &mut out[bytes])
            }),
        }
    }

    /// Writes `data`, which has the same length, to `place`; of a linear surface, only the rows in
    /// `rows`.
    ///
    /// # Errors
    /// The first access that no memory answered.
    #[inline]
    pub fn write_tile(
        &self,
        view: &View<'_>,
        place: &Place,
        rows: u8,
        data: &[u8],
    ) -> Result<(), McError> {
        match place.run {
            Some(addr) => self.write(view, addr, data),
            None => self.pieces(place, rows, |addr, bytes| {
                self.write(view, addr, &data[bytes])
            }),
        }
    }

    #[inline]
    fn read(&self, view: &View<'_>, addr: u64, out: &mut [u8]) -> Result<(), McError> {
        view.read_by(self.cache, addr, out)?;
        // The colour backend reads what is in memory when a draw covers a part of a tile that
        // nobody has written: that is no mistake.
        if let (Some(compressed), Compression::None, Cache::Texture | Cache::Depth) =
            (view.compressed, self.compression, self.cache)
        {
            compressed.read(self.cache, self.base, addr, out);
        }
        Ok(())
    }

    #[inline]
    fn write(&self, view: &View<'_>, addr: u64, data: &[u8]) -> Result<(), McError> {
        if let Some(compressed) = view.compressed {
            compressed.written(self.cache, self.compression, self.base, addr, data);
        }
        view.write_by(self.cache, addr, data)
    }

    /// A draw covers `place`, which its backend leaves expanded if it expands compressed tiles.
    pub fn expand_tile(&self, view: &View<'_>, place: &Place) {
        let (Some(compressed), Compression::Expands) = (view.compressed, self.compression) else {
            return;
        };
        let tile = self.layout.tile(place.tile.0, place.tile.1, place.slice);
        for (offset, len) in tile.pieces(place.first, place.len as u32) {
            compressed.expanded(self.base.wrapping_add(offset), len);
        }
    }

    /// Prefetches the bytes of `place`, if they are contiguous.
    #[inline]
    pub fn prefetch_tile(&self, view: &View<'_>, place: &Place) {
        if let Some(addr) = place.run {
            view.prefetch(addr, place.len);
        }
    }

    /// Prefetches the same bytes of the micro tile to the right of `place`, if they are contiguous and
    /// the surface has that tile.
    #[inline]
    pub fn prefetch_right(&self, view: &View<'_>, place: &Place) {
        let (x, y) = place.tile;
        let x = x.saturating_add(1);
        if x < self.layout.pitch / MICRO {
            let next = self.place((x, y), place.slice, place.first, place.len);
            self.prefetch_tile(view, &next);
        }
    }

    /// Calls `access` for each contiguous run of the bytes of `place`, with its MC address and its
    /// range within these bytes.
    fn pieces(
        &self,
        place: &Place,
        rows: u8,
        mut access: impl FnMut(u64, Range<usize>) -> Result<(), McError>,
    ) -> Result<(), McError> {
        let tile = self.layout.tile(place.tile.0, place.tile.1, place.slice);
        let mut at = 0;
        for (offset, len) in tile.pieces(place.first, place.len as u32) {
            if self.has_row(at, rows) {
                access(self.base.wrapping_add(offset), at..at + len)?;
            }
            at += len;
        }
        Ok(())
    }

    /// Whether to access byte `at` of a tile: always if the surface is tiled,
    /// else if `rows` has its row.
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
