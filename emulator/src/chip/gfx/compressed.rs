// SPDX-License-Identifier: MIT
//! Tiles that a backend has left compressed, and reads of them.
//!
//! With a tile surface (HTILE) the depth backend compresses depth and stencil, with FMASK the colour
//! backend compresses samples. The texture unit cannot read such tiles: a driver expands them first,
//! by a draw with `DEPTH_COMPRESS_DISABLE` or `STENCIL_COMPRESS_DISABLE` (`DB_RENDER_CONTROL`) or with
//! an expanding `SPECIAL_OP` (`CB_COLOR_CONTROL`), or copies them
//! (Mesa's `r600_blit_decompress_depth()`, `r600_blit_decompress_color()`). The board stores all tiles
//! expanded, so a read of a tile that hardware has compressed returns the right bytes here.
//!
//! This remembers for each line of 64 bytes what a backend has written to it compressed, with the base
//! of the surface. A line that has other bytes has been written by somebody else since, and counts no
//! more: CPUs, copies and other draws need not be watched. Copies of compressed lines are not followed.
//!
//! Evergreen and Cayman also have tiles that stand for a clear colour, which their CMASK tells
//! ([`FastClear`]). The texture unit does not read a CMASK, so it reads the bytes from before the clear,
//! here as there, until a draw with `CB_ELIMINATE_FAST_CLEAR` has stored the colour (Mesa's
//! `evergreen_do_fast_color_clear()` and `r600_blit_decompress_color()`). Such reads count, too. A surface's
//! mask is known once the surface has been the target of a draw, and its tiles have to have the bytes
//! that they had then, or that the colour backend has written since. Mesa clears R6xx and R7xx without CMASK.

use std::collections::hash_map::DefaultHasher;
use std::collections::HashMap;
use std::fmt;
use std::hash::Hasher;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::colour::FastClear;
use super::memory::View;
use super::surface::Surface;
use crate::chip::strict::cache::Cache;

/// Bytes of a line: the smallest tile, 8x8 bytes of stencil.
const LINE: usize = 64;
/// Most lines that are remembered, 256 MiB of surfaces. Beyond them all are forgotten.
const LINES: usize = 1 << 22;
/// Most tiles of a target that a draw looks at for clear colours: 4096x4096 pixels.
const TILES: u64 = 1 << 18;
/// Most targets whose masks are remembered. Beyond them all are forgotten.
const MASKS: usize = 1 << 12;

/// What a backend does with the tiles of a surface.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Compression {
    /// The tiles are not compressed: they are read as they are.
    #[default]
    None,
    /// Reads compressed tiles, and leaves them compressed.
    Keeps,
    /// Reads compressed tiles, and leaves them expanded.
    Expands,
}

/// Why the texture unit cannot read a tile.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tile {
    /// It is compressed.
    Compressed,
    /// It stands for a clear colour.
    Cleared,
}

/// Reads of lines of a surface that are compressed or stand for a clear colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Found {
    /// MC address of the surface.
    pub base: u64,
    /// Lines read.
    pub lines: u64,
    /// By which cache the first was read.
    pub cache: Cache,
    /// What the first was.
    pub tile: Tile,
}

impl fmt::Display for Found {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let by = match self.cache {
            Cache::Depth => "the depth backend, without its tile surface,",
            _ => "a shader",
        };
        let base = self.base;
        match self.tile {
            Tile::Compressed => write!(
                f,
                "{by} reads compressed tiles of the surface at {base:#x}, which no draw has expanded"
            ),
            Tile::Cleared => write!(
                f,
                "{by} reads fast-cleared tiles of the surface at {base:#x}, which no draw has eliminated"
            ),
        }
    }
}

#[derive(Debug, Default)]
struct State {
    /// Line numbers, with the hash of the surface's base and the line's bytes.
    lines: HashMap<u64, u64>,
    /// Surfaces that have a mask for fast clears, by their bases.
    masks: HashMap<u64, (Surface, FastClear)>,
    /// Numbers of the first lines of tiles of such surfaces, with the hash of their last known bytes.
    clearable: HashMap<u64, u64>,
    found: Option<Found>,
}

impl State {
    fn found(&mut self, base: u64, lines: u64, cache: Cache, tile: Tile) {
        let found = self.found.get_or_insert(Found {
            base,
            lines: 0,
            cache,
            tile,
        });
        found.lines += lines;
    }
}

/// The compressed lines of a chip's memory. Its lock is held for one tile, or for the tiles of a target; no
/// other is taken inside, and no memory is accessed.
#[derive(Debug, Default)]
pub struct Compressed(Mutex<State>);

fn hash(base: u64, bytes: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    hasher.write_u64(base);
    hasher.write(bytes);
    hasher.finish()
}

/// The number and the hash of the first line of a tile, if its bytes are contiguous.
fn first_line(
    view: &View<'_>,
    surface: &Surface,
    tile: (u32, u32),
    slice: u32,
) -> Option<(u64, u64)> {
    let address = surface.place(tile, slice, 0, LINE).address()?;
    let mut line = [0; LINE];
    view.read(address, &mut line).ok()?;
    Some((address / LINE as u64, hash(surface.base, &line)))
}

impl Compressed {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A backend has written `bytes` by its `cache` at MC address `address` of the surface at `base`.
    pub fn written(
        &self,
        cache: Cache,
        compression: Compression,
        base: u64,
        address: u64,
        bytes: &[u8],
    ) {
        let mut state = self.state();
        if state.lines.len() >= LINES {
            state.lines.clear();
        }
        for (number, line) in (address / LINE as u64..).zip(bytes.chunks(LINE)) {
            match compression {
                Compression::Keeps => state.lines.insert(number, hash(base, line)),
                Compression::None | Compression::Expands => state.lines.remove(&number),
            };
            // A depth buffer at the base of a former target has no mask.
            if cache == Cache::Depth {
                state.clearable.remove(&number);
            } else if let Some(known) = state.clearable.get_mut(&number) {
                *known = hash(base, line);
            }
        }
    }

    /// A draw has a target with a mask: `surface`, of which the draw sees the slices `first` to `last`.
    pub fn bound(
        &self,
        view: &View<'_>,
        surface: &Surface,
        cleared: &FastClear,
        (first, last): (u32, u32),
    ) {
        let layout = &surface.layout;
        let columns = layout.pitch.div_ceil(8).max(1);
        let tiles = layout.slice_elements / 64;
        let slices = u64::from(last.saturating_sub(first)) + 1;
        let all = (0..slices * u64::from(tiles)).take_while(|n| *n < TILES);
        let mut there = Vec::new();
        for n in all {
            let (slice, n) = (n / u64::from(tiles), n % u64::from(tiles));
            let (slice, n) = (first.saturating_add(slice as u32), n as u32);
            let tile = (n % columns, n / columns);
            if cleared.has(view, layout.pitch, tile, slice) {
                there.extend(first_line(view, surface, tile, slice));
            }
        }
        let mut state = self.state();
        if state.clearable.len() >= LINES || state.masks.len() >= MASKS {
            state.clearable.clear();
            state.masks.clear();
        }
        state.masks.insert(surface.base, (*surface, *cleared));
        for (number, hash) in there {
            state.clearable.entry(number).or_insert(hash);
        }
    }

    /// `surface` reads `len` bytes of a tile as they are in memory, by a cache that reads no masks.
    pub fn read_tile(
        &self,
        view: &View<'_>,
        surface: &Surface,
        tile: (u32, u32),
        slice: u32,
        len: usize,
    ) {
        let Some((target, cleared)) = self.state().masks.get(&surface.base).copied() else {
            return;
        };
        if !cleared.has(view, target.layout.pitch, tile, slice) {
            return;
        }
        let Some((number, hash)) = first_line(view, surface, tile, slice) else {
            return;
        };
        // The order of tiles may be another one.
        let place = target.place(tile, slice, 0, LINE).address();
        let mut state = self.state();
        let same = state.clearable.get(&number) == Some(&hash);
        if same && place.map(|place| place / LINE as u64) == Some(number) {
            let lines = len.div_ceil(LINE) as u64;
            state.found(surface.base, lines, surface.cache, Tile::Cleared);
        }
    }

    /// A backend expands the tile of `len` bytes at MC address `address`.
    pub fn expanded(&self, address: u64, len: usize) {
        let mut state = self.state();
        for number in (address / LINE as u64..).take(len.div_ceil(LINE)) {
            state.lines.remove(&number);
        }
    }

    /// `cache` has read `bytes` at MC address `address` of the surface at `base` as expanded ones.
    pub fn read(&self, cache: Cache, base: u64, address: u64, bytes: &[u8]) {
        let mut state = self.state();
        if state.lines.is_empty() {
            return;
        }
        for (number, line) in (address / LINE as u64..).zip(bytes.chunks(LINE)) {
            let Some(written) = state.lines.get(&number) else {
                continue;
            };
            if *written == hash(base, line) {
                state.found(base, 1, cache, Tile::Compressed);
            }
        }
    }

    /// Takes the reads that have been found since the last call.
    pub fn take_found(&self) -> Option<Found> {
        self.state().found.take()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BASE: u64 = 0x1_0000;
    const TILE: [u8; 256] = [7; 256];

    fn read(compressed: &Compressed, base: u64, bytes: &[u8]) -> Option<u64> {
        compressed.read(Cache::Texture, base, BASE + 256, bytes);
        compressed.take_found().map(|found| found.lines)
    }

    #[test]
    fn lines_count_until_they_are_expanded_or_have_other_bytes() {
        let compressed = Compressed::default();
        compressed.written(Cache::Depth, Compression::Keeps, BASE, BASE + 256, &TILE);
        assert_eq!(read(&compressed, BASE, &TILE), Some(4));
        // Another surface at the same place, whose base differs.
        assert_eq!(read(&compressed, BASE + 256, &TILE), None);
        let mut other = TILE;
        other[70] = 8;
        assert_eq!(read(&compressed, BASE, &other), Some(3));
        compressed.expanded(BASE + 256, 128);
        assert_eq!(read(&compressed, BASE, &TILE), Some(2));
        compressed.written(Cache::Depth, Compression::Expands, BASE, BASE + 256, &TILE);
        assert_eq!(read(&compressed, BASE, &TILE), None);
    }
}
