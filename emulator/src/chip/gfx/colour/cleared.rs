// SPDX-License-Identifier: MIT
//! Fast clears: tiles of a render target that stand for a colour which is not in memory (CMASK).
//!
//! A mask has four bits for each tile of 8x8 pixels: 0 for a tile in the clear colour, with all its
//! samples (Mesa's `evergreen_do_fast_color_clear()` fills the mask with 0). Before a tile is read or
//! written here, its colour is stored and its bits become ones, as they are in a mask without fast
//! clears. An `ELIMINATE_FAST_CLEAR`, `DECOMPRESS` or `FMASK_DECOMPRESS` draw does that to all tiles
//! it covers. Only this block reads masks, and drivers fill them as a whole, so the order of tiles in
//! a mask is its own: those of 64x64 pixels are together, as one worker draws them.

use super::Target;
use crate::chip::bus::McError;
use crate::chip::gfx::lanes::LANES;
use crate::chip::gfx::memory::View;
use crate::chip::gfx::pixel::SQUARE_TILES;
use crate::chip::gfx::surface::At;

/// Rows and columns of tiles of a worker's square.
const SQUARE: u64 = SQUARE_TILES.0 as u64;
/// Bytes of a mask for a square.
const SQUARE_BYTES: u64 = SQUARE * SQUARE / 2;

/// A buffer whose tiles may stand for a colour that is not in memory (`FAST_CLEAR`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FastClear {
    /// MC address of the mask.
    pub mask: u64,
    /// Bytes of the mask of one slice. Tiles beyond them are not cleared.
    pub slice: u64,
    /// The colour as an element in memory (`CB_COLORn_CLEAR_WORD0` and `WORD1`).
    pub element: [u32; 2],
}

impl FastClear {
    /// The byte of the mask that has a tile's bits, and the lowest of these. `pitch`: pixels in a row
    /// of the buffer.
    fn place(&self, pitch: u32, (x, y): (u32, u32), slice: u32) -> Option<(u64, u32)> {
        let [x, y] = [x, y].map(u64::from);
        let row = u64::from(pitch).div_ceil(8 * SQUARE);
        let square = y / SQUARE * row + x / SQUARE;
        let tile = y % SQUARE * SQUARE + x % SQUARE;
        let byte = square * SQUARE_BYTES + tile / 2;
        let offset = u64::from(slice) * self.slice + byte;
        (byte < self.slice).then(|| (self.mask.wrapping_add(offset), 4 * (tile as u32 & 1)))
    }

    /// If a tile stands for the clear colour, the byte of the mask that says so: its address, and its value
    /// once the tile has been stored. Arguments as for `place()`.
    fn standing(
        &self,
        view: &View<'_>,
        pitch: u32,
        tile: (u32, u32),
        slice: u32,
    ) -> Result<Option<(u64, u8)>, McError> {
        let Some((address, shift)) = self.place(pitch, tile, slice) else {
            return Ok(None);
        };
        let mut bits = [0];
        view.read(address, &mut bits)?;
        Ok((bits[0] >> shift & 0xF == 0).then_some((address, bits[0] | 0xF << shift)))
    }

    /// Whether a tile stands for the clear colour. `pitch` is in elements, `tile` in tiles of 8x8.
    pub fn has(&self, view: &View<'_>, pitch: u32, tile: (u32, u32), slice: u32) -> bool {
        matches!(self.standing(view, pitch, tile, slice), Ok(Some(_)))
    }
}

impl Target {
    /// Stores the clear colour in tile `at`, all samples of it, if the tile stands for it.
    ///
    /// # Errors
    /// The first access that no memory answered.
    #[inline]
    pub fn expand(&self, view: &View<'_>, at: At) -> Result<(), McError> {
        match &self.cleared {
            Some(cleared) => self.expand_from(cleared, view, at),
            None => Ok(()),
        }
    }

    /// Notes that all pixels of the square whose first micro tile is `at` get other values: none of its tiles
    /// stands for the clear colour any more. False if a part of it alone has bits in the mask, or if memory
    /// did not answer.
    pub fn overwrite_square(&self, view: &View<'_>, at: At) -> bool {
        let Some(cleared) = &self.cleared else {
            return true;
        };
        const LAST: u32 = SQUARE as u32 - 1;
        const STORED: [u8; SQUARE_BYTES as usize] = [0xFF; SQUARE_BYTES as usize];
        let (pitch, slice) = (self.surface.layout.pitch, self.slice(at.layer));
        let corners = [(at.x, at.y), (at.x + LAST, at.y + LAST)];
        match corners.map(|tile| cleared.place(pitch, tile, slice)) {
            [Some((mask, _)), Some(_)] => {
                let mut bits = STORED;
                view.read(mask, &mut bits).is_ok()
                    && (bits == STORED || view.write(mask, &STORED).is_ok())
            }
            [None, None] => true,
            _ => false,
        }
    }

    #[cold]
    fn expand_from(&self, cleared: &FastClear, view: &View<'_>, at: At) -> Result<(), McError> {
        let pitch = self.surface.layout.pitch;
        let slice = self.slice(at.layer);
        let Some((address, stored)) = cleared.standing(view, pitch, (at.x, at.y), slice)? else {
            return Ok(());
        };
        let mut data = [0; 64 * 16];
        let bytes = self.packing.bytes().clamp(1, 16);
        let [low, high] = cleared.element.map(u32::to_le_bytes);
        let element = [low, high, [0; 4], [0; 4]].concat();
        for pixel in data.chunks_exact_mut(bytes) {
            pixel.copy_from_slice(&element[..bytes]);
        }
        for sample in 0..self.samples() {
            let place = self.place(at.sample(sample));
            (self.surface).write_tile(view, &place, 0xFF, &data[..bytes * LANES])?;
        }
        view.write(address, &[stored])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_tile_has_its_four_bits_and_those_of_a_square_are_together() {
        let cleared = FastClear {
            mask: 0x1000,
            slice: 256,
            element: [0; 2],
        };
        let place = |tile, slice| cleared.place(192, tile, slice);
        assert_eq!(place((0, 0), 0), Some((0x1000, 0)));
        assert_eq!(place((1, 0), 0), Some((0x1000, 4)));
        assert_eq!(place((7, 7), 0), Some((0x101F, 4)));
        assert_eq!(place((8, 0), 0), Some((0x1020, 0)));
        // The second row of squares: three of them are in a row.
        assert_eq!(place((0, 8), 0), Some((0x1060, 0)));
        assert_eq!(place((0, 0), 2), Some((0x1200, 0)));
        assert_eq!(place((16, 16), 0), None, "beyond the slice");
        let mut all: Vec<_> = (0..16)
            .flat_map(|y| (0..24).map(move |x| (x, y)))
            .filter_map(|tile| place(tile, 0))
            .collect();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), 16 * 24, "no two tiles share bits");
    }
}
