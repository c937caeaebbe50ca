// SPDX-License-Identifier: MIT
//! Caches with lines of 64 bytes, and the list of the 3D engine's caches.
//!
//! [`ReadCache`] keeps lines until they are invalidated or others displace them.
//! The HDP's read cache is one; the 3D engine's texture, vertex and shader caches
//! are others ([`gfx`](super::gfx)).

use std::collections::HashMap;

/// Bytes of a line.
pub const LINE: u64 = 64;

/// A cache that has an action bit in `CP_COHER_CNTL` of `SURFACE_SYNC`
/// (`r600d.h`, `PACKET3_*_ENA`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cache {
    /// Colour blocks: written back.
    Color,
    /// Depth blocks: written back.
    Depth,
    /// Texture cache: invalidated.
    Texture,
    /// Vertex cache: invalidated.
    Vertex,
    /// Shader instructions and constants: invalidated.
    Shader,
    /// Memory exports and stream-out: written back.
    Export,
}

impl Cache {
    /// All caches.
    pub const ALL: [Cache; 6] = [
        Cache::Color,
        Cache::Depth,
        Cache::Texture,
        Cache::Vertex,
        Cache::Shader,
        Cache::Export,
    ];

    /// Action bit of the cache in `CP_COHER_CNTL`.
    pub fn action(self) -> u32 {
        match self {
            Cache::Texture => 1 << 23,
            Cache::Vertex => 1 << 24,
            Cache::Color => 1 << 25,
            Cache::Depth => 1 << 26,
            Cache::Shader => 1 << 27,
            Cache::Export => 1 << 28,
        }
    }

    /// Whether a `SURFACE_SYNC` with this `CP_COHER_CNTL` affects the cache.
    pub fn named_by(self, coher_cntl: u32) -> bool {
        coher_cntl & self.action() != 0
    }
}

/// A read-only cache.
#[derive(Debug)]
pub struct ReadCache {
    lines: HashMap<u64, [u8; LINE as usize]>,
    /// Line numbers, to choose a victim by index.
    order: Vec<u64>,
    capacity: usize,
}

impl ReadCache {
    /// An empty cache of `capacity` lines, at least one.
    pub fn new(capacity: usize) -> Self {
        Self {
            lines: HashMap::new(),
            order: Vec::new(),
            capacity: capacity.max(1),
        }
    }

    /// The line with number `line`, from the cache or from `fetch`. A full cache
    /// first drops a line that `rng` chooses.
    pub fn line(
        &mut self,
        line: u64,
        rng: &mut fastrand::Rng,
        fetch: impl FnOnce() -> [u8; LINE as usize],
    ) -> &[u8; LINE as usize] {
        if !self.lines.contains_key(&line) {
            if self.order.len() >= self.capacity {
                let victim = self.order.swap_remove(rng.usize(..self.order.len()));
                self.lines.remove(&victim);
            }
            self.order.push(line);
        }
        self.lines.entry(line).or_insert_with(fetch)
    }

    /// The line with number `line`, if it is cached, for a write-through to update.
    pub fn kept(&mut self, line: u64) -> Option<&mut [u8; LINE as usize]> {
        self.lines.get_mut(&line)
    }

    /// Drops the line with number `line`.
    pub fn drop_line(&mut self, line: u64) {
        if self.lines.remove(&line).is_some() {
            self.order.retain(|l| *l != line);
        }
    }

    /// Drops all lines.
    pub fn invalidate(&mut self) {
        self.lines.clear();
        self.order.clear();
    }
}

/// Splits `len` bytes at `offset` into pieces of one line each: line number,
/// first byte in the line, range in the buffer.
pub(super) fn pieces(
    offset: u64,
    len: usize,
) -> impl Iterator<Item = (u64, usize, std::ops::Range<usize>)> {
    let mut done = 0;
    std::iter::from_fn(move || {
        if done >= len {
            return None;
        }
        let at = offset + done as u64;
        let first = (at % LINE) as usize;
        let n = (LINE as usize - first).min(len - done);
        let piece = (at / LINE, first, done..done + n);
        done += n;
        Some(piece)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_cover_the_range_and_stay_in_their_lines() {
        let all: Vec<_> = pieces(60, 70).collect();
        assert_eq!(all, [(0, 60, 0..4), (1, 0, 4..68), (2, 0, 68..70)]);
        assert_eq!(pieces(0, 0).count(), 0);
    }

    #[test]
    fn lines_are_kept_until_invalidated_and_bounded() {
        let mut rng = fastrand::Rng::with_seed(1);
        let mut cache = ReadCache::new(2);
        assert_eq!(cache.line(1, &mut rng, || [1; 64])[0], 1);
        assert_eq!(cache.line(1, &mut rng, || [2; 64])[0], 1);
        for line in 2..10 {
            cache.line(line, &mut rng, || [9; 64]);
        }
        assert_eq!(cache.lines.len(), 2);
        assert_eq!(cache.order.len(), 2);
        cache.invalidate();
        assert_eq!(cache.line(1, &mut rng, || [3; 64])[0], 3);
    }

    #[test]
    fn every_cache_has_a_bit_of_its_own() {
        let all = Cache::ALL.iter().fold(0, |bits, c| bits | c.action());
        assert_eq!(all.count_ones() as usize, Cache::ALL.len());
        assert!(Cache::Texture.named_by(1 << 23));
        assert!(!Cache::Texture.named_by(1 << 25));
    }
}
