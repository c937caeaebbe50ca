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

use std::collections::hash_map::DefaultHasher;
use std::collections::HashMap;
use std::fmt;
use std::hash::Hasher;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::chip::strict::cache::Cache;

/// Bytes of a line: the smallest tile, 8x8 bytes of stencil.
const LINE: usize = 64;
/// Most lines that are remembered, 256 MiB of surfaces. Beyond them all are forgotten.
const LINES: usize = 1 << 22;

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

/// Reads of compressed lines of a surface.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Found {
    /// MC address of the surface.
    pub base: u64,
    /// Lines read.
    pub lines: u64,
    /// By which cache the first was read.
    pub cache: Cache,
}

impl fmt::Display for Found {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let by = match self.cache {
            Cache::Depth => "the depth backend, without its tile surface,",
            _ => "a shader",
        };
        let base = self.base;
        write!(
            f,
            "{by} reads compressed tiles of the surface at {base:#x}, which no draw has expanded"
        )
    }
}

#[derive(Debug, Default)]
struct State {
    /// Line numbers, with the hash of the surface's base and the line's bytes.
    lines: HashMap<u64, u64>,
    found: Option<Found>,
}

/// The compressed lines of a chip's memory. Its lock is held for one tile; no other is taken inside.
#[derive(Debug, Default)]
pub struct Compressed(Mutex<State>);

fn hash(base: u64, bytes: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    hasher.write_u64(base);
    hasher.write(bytes);
    hasher.finish()
}

impl Compressed {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A backend has written `bytes` at MC address `address` of the surface at `base`.
    pub fn written(&self, compression: Compression, base: u64, address: u64, bytes: &[u8]) {
        let mut state = self.state();
        if state.lines.len() >= LINES {
            state.lines.clear();
        }
        for (number, line) in (address / LINE as u64..).zip(bytes.chunks(LINE)) {
            match compression {
                Compression::Keeps => state.lines.insert(number, hash(base, line)),
                Compression::None | Compression::Expands => state.lines.remove(&number),
            };
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
                let found = state.found.get_or_insert(Found {
                    base,
                    lines: 0,
                    cache,
                });
                found.lines += 1;
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
        compressed.written(Compression::Keeps, BASE, BASE + 256, &TILE);
        assert_eq!(read(&compressed, BASE, &TILE), Some(4));
        // Another surface at the same place, whose base differs.
        assert_eq!(read(&compressed, BASE + 256, &TILE), None);
        let mut other = TILE;
        other[70] = 8;
        assert_eq!(read(&compressed, BASE, &other), Some(3));
        compressed.expanded(BASE + 256, 128);
        assert_eq!(read(&compressed, BASE, &TILE), Some(2));
        compressed.written(Compression::Expands, BASE, BASE + 256, &TILE);
        assert_eq!(read(&compressed, BASE, &TILE), None);
    }
}
