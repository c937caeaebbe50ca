// SPDX-License-Identifier: MIT
//! The 3D engine's caches: draws read stale data, and their writes do not reach
//! memory, until the driver invalidates or flushes the cache.
//!
//! | cache | holds | until |
//! |---|---|---|
//! | texture | texels; on chips without a vertex cache vertices, too | `TC_ACTION_ENA` of `SURFACE_SYNC` |
//! | vertex | vertices and texture buffers | `VC_ACTION_ENA` |
//! | shader | instructions and constants | `SH_ACTION_ENA` |
//! | colour, depth | pixels that the backends have read and written | `CB_ACTION_ENA`, `DB_ACTION_ENA`; events `CACHE_FLUSH_AND_INV` and its `_TS` |
//!
//! Bits and events: `r600d.h`, `r600_flush_emit()` of Mesa and
//! `r600_fence_ring_emit()` of the kernel. The caches are small, so that lines
//! are dropped and written early, as on hardware. Indices, the geometry shader's
//! rings, stream-out and the CP's own accesses bypass these caches.
//!
//! Locks: the caches' lock is held during one access; the locks of memory are
//! taken inside it.

use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::cache::{pieces, Cache, ReadCache, LINE};
use crate::chip::bus::{Mc, McError};
use crate::chip::counters::{Counter, Counters};

/// Lines of each read-only cache.
const READ_LINES: usize = 1024;
/// Lines of each write-back cache.
const WRITE_LINES: usize = 4096;

/// A set of bytes of a line, one bit each.
type Bytes = u64;

/// A line of a write-back cache.
#[derive(Debug)]
struct Line {
    data: [u8; LINE as usize],
    dirty: Bytes,
}

/// A write-back cache.
#[derive(Debug, Default)]
struct WriteCache {
    lines: HashMap<u64, Line>,
    /// Line numbers, the oldest first.
    order: VecDeque<u64>,
}

#[derive(Debug)]
struct Inner {
    /// Texture, vertex, shader.
    read: [ReadCache; 3],
    /// Colour, depth.
    written: [WriteCache; 2],
    rng: fastrand::Rng,
}

/// The caches of one chip.
#[derive(Debug)]
pub struct Caches {
    inner: Mutex<Inner>,
    counters: Arc<Counters>,
    /// The chip has no vertex cache.
    vertices_as_texels: AtomicBool,
    /// VM context of the written lines.
    owner: AtomicU8,
}

fn bytes_of(first: usize, len: usize) -> Bytes {
    // `len` is 1 to 64, the size of a line.
    (u64::MAX >> (LINE as usize - len)) << first
}

/// Writes the dirty bytes of a line to memory.
fn write_back(mc: &dyn Mc, number: u64, line: &Line) -> Result<(), McError> {
    let mut left = line.dirty;
    while left != 0 {
        let first = left.trailing_zeros() as usize;
        let len = (left >> first).trailing_ones() as usize;
        mc.write(number * LINE + first as u64, &line.data[first..first + len])?;
        left &= !bytes_of(first, len);
    }
    Ok(())
}

impl WriteCache {
    /// The line with number `number`, read from memory if it is not cached. A full
    /// cache writes its oldest line back.
    fn line(&mut self, mc: &dyn Mc, number: u64) -> Result<&mut Line, McError> {
        if !self.lines.contains_key(&number) {
            let mut data = [0; LINE as usize];
            mc.read(number * LINE, &mut data)?;
            if self.order.len() >= WRITE_LINES {
                if let Some(oldest) = self.order.pop_front() {
                    if let Some(line) = self.lines.remove(&oldest) {
                        write_back(mc, oldest, &line)?;
                    }
                }
            }
            self.order.push_back(number);
            self.lines.insert(number, Line { data, dirty: 0 });
        }
        // The line was found or has just been inserted.
        self.lines
            .get_mut(&number)
            .ok_or(McError::Unmapped(number * LINE))
    }

    /// Writes all lines back and drops them.
    fn flush(&mut self, mc: &dyn Mc) -> Result<(), McError> {
        let mut result = Ok(());
        for number in std::mem::take(&mut self.order) {
            if let Some(line) = self.lines.remove(&number) {
                result = result.and(write_back(mc, number, &line));
            }
        }
        result
    }

    fn is_dirty(&self, number: u64, bytes: Bytes) -> bool {
        (self.lines.get(&number)).is_some_and(|line| line.dirty & bytes != 0)
    }
}

impl Caches {
    /// Empty caches, which choose the lines to drop by `rng`.
    pub(super) fn new(counters: Arc<Counters>, rng: fastrand::Rng) -> Self {
        Self {
            inner: Mutex::new(Inner {
                read: [(); 3].map(|()| ReadCache::new(READ_LINES)),
                written: Default::default(),
                rng,
            }),
            counters,
            vertices_as_texels: AtomicBool::new(false),
            owner: AtomicU8::new(0),
        }
    }

    /// The VM context whose lines the write-back caches have.
    pub fn owner(&self) -> u8 {
        self.owner.load(Ordering::Relaxed)
    }

    /// From now on `context` writes. The lines of another have been written back.
    pub fn set_owner(&self, context: u8) {
        self.owner.store(context, Ordering::Relaxed);
    }

    /// Whether a line waits to be written back.
    pub fn is_dirty(&self) -> bool {
        let inner = self.lock();
        let mut lines = inner.written.iter().flat_map(|cache| cache.lines.values());
        lines.any(|line| line.dirty != 0)
    }

    /// Sets whether the chip reads vertices through its texture cache.
    pub fn set_vertices_as_texels(&self, so: bool) {
        self.vertices_as_texels.store(so, Ordering::Relaxed);
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Index of `cache` among the read-only caches; `None` for other caches.
    fn reader(&self, cache: Cache) -> Option<usize> {
        match cache {
            Cache::Texture => Some(0),
            Cache::Vertex if self.vertices_as_texels.load(Ordering::Relaxed) => Some(0),
            Cache::Vertex => Some(1),
            Cache::Shader => Some(2),
            Cache::Color | Cache::Depth | Cache::Export => None,
        }
    }

    fn writer(cache: Cache) -> Option<usize> {
        match cache {
            Cache::Color => Some(0),
            Cache::Depth => Some(1),
            _ => None,
        }
    }

    /// Reads through `cache`.
    ///
    /// # Errors
    /// As [`Mc::read`].
    pub fn read(
        &self,
        mc: &dyn Mc,
        cache: Cache,
        addr: u64,
        buf: &mut [u8],
    ) -> Result<(), McError> {
        let reader = self.reader(cache);
        let writer = Self::writer(cache);
        let mut guard = self.lock();
        let inner = &mut *guard;
        for (number, first, piece) in pieces(addr, buf.len()) {
            let out = &mut buf[piece];
            if let Some(writer) = writer {
                let line = inner.written[writer].line(mc, number)?;
                out.copy_from_slice(&line.data[first..first + out.len()]);
                continue;
            }
            let Some(reader) = reader else {
                mc.read(number * LINE + first as u64, out)?;
                continue;
            };
            let mut now = [0; LINE as usize];
            mc.read(number * LINE, &mut now)?;
            let mask = bytes_of(first, out.len());
            let mut hit = true;
            let line = inner.read[reader].line(number, &mut inner.rng, || {
                hit = false;
                now
            });
            out.copy_from_slice(&line[first..first + out.len()]);
            if hit && *out != now[first..first + out.len()] {
                self.counters.inc(Counter::GfxStaleReads);
            }
            if inner.written.iter().any(|w| w.is_dirty(number, mask)) {
                self.counters.inc(Counter::GfxUnseenWrites);
            }
        }
        Ok(())
    }

    /// Writes through `cache`.
    ///
    /// # Errors
    /// As [`Mc::write`]. Memory that is readable but not writable fails only when
    /// the line is written back.
    pub fn write(&self, mc: &dyn Mc, cache: Cache, addr: u64, buf: &[u8]) -> Result<(), McError> {
        let Some(writer) = Self::writer(cache) else {
            return mc.write(addr, buf);
        };
        let mut inner = self.lock();
        for (number, first, piece) in pieces(addr, buf.len()) {
            let data = &buf[piece];
            let line = inner.written[writer].line(mc, number)?;
            line.data[first..first + data.len()].copy_from_slice(data);
            line.dirty |= bytes_of(first, data.len());
        }
        Ok(())
    }

    /// `SURFACE_SYNC`: writes back and drops the caches whose action bits are set
    /// in `coher_cntl`.
    ///
    /// # Errors
    /// The first error of a write-back. The other lines are written nevertheless.
    pub fn sync(&self, mc: &dyn Mc, coher_cntl: u32) -> Result<(), McError> {
        let mut result = Ok(());
        let mut inner = self.lock();
        for cache in Cache::ALL {
            if !cache.named_by(coher_cntl) {
                continue;
            }
            if let Some(writer) = Self::writer(cache) {
                self.counters.inc(Counter::GfxCacheFlushes);
                result = result.and(inner.written[writer].flush(mc));
            }
            // Without a vertex cache, its action bit has no effect.
            let absent = cache == Cache::Vertex && self.reader(cache) == Some(0);
            if let (Some(reader), false) = (self.reader(cache), absent) {
                self.counters.inc(Counter::GfxCacheInvalidates);
                inner.read[reader].invalidate();
            }
        }
        result
    }

    /// `CACHE_FLUSH_AND_INV_EVENT`: writes back and drops the colour and depth
    /// caches.
    ///
    /// # Errors
    /// As [`Self::sync`].
    pub fn flush(&self, mc: &dyn Mc) -> Result<(), McError> {
        let actions = Cache::Color.action() | Cache::Depth.action();
        self.sync(mc, actions)
    }

    /// Drops all lines without writing them back.
    pub fn reset(&self) {
        let mut inner = self.lock();
        inner.read.iter_mut().for_each(ReadCache::invalidate);
        inner.written = Default::default();
    }
}
