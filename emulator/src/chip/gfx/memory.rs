// SPDX-License-Identifier: MIT
//! The pipeline's view of memory.
//!
//! Each worker has its own [`View`] for the length of one draw. A view caches
//! translations: of VRAM, and of the GART pages that were used last. Hardware,
//! too, keeps translations until a TLB flush, and none comes within a draw.

use std::cell::{Cell, RefCell};

use super::compressed::Compressed;
use super::GfxContext;
use crate::chip::bus::{Extent, Mc, McError};
use crate::chip::strict::cache::Cache;
use crate::chip::strict::gfx::Caches;

/// Pages whose translations a view caches, a power of two.
const PAGES: usize = 64;
const PAGE_BITS: u32 = 12;
/// Bytes of a long copy that are moved at a time.
pub const PIECE: usize = 4096;
/// The same of a long fill, a multiple of it: a square of 64x64 pixels of four bytes.
const FILL: usize = 16 * 1024;

/// A worker's window on the memory controller's address space.
#[derive(Clone)]
pub struct View<'a> {
    mc: &'a dyn Mc,
    /// The caches of a strict board.
    caches: Option<&'a Caches>,
    /// Remembers compressed tiles, if somebody asks about them.
    pub(super) compressed: Option<&'a Compressed>,
    /// The extent last used that is larger than a page: VRAM.
    large: Cell<Extent>,
    /// The patterns that were filled with last, an element and a tile: its length, and copies of it.
    filled: RefCell<[(usize, Vec<u8>); 2]>,
    /// Extents of pages by the low bits of the page number, for reads and for writes.
    pages: [[Cell<Extent>; PAGES]; 2],
}

const NOTHING: Extent = Extent {
    start: 0,
    len: 0,
    place: 0,
};

impl<'a> View<'a> {
    /// A view without cached translations.
    pub fn new(mc: &'a dyn Mc) -> Self {
        Self {
            mc,
            caches: None,
            compressed: None,
            large: Cell::new(NOTHING),
            filled: RefCell::default(),
            pages: [const { [const { Cell::new(NOTHING) }; PAGES] }; 2],
        }
    }

    /// A view of a draw's memory, through the caches of a strict board.
    pub fn of(context: &GfxContext<'a>) -> Self {
        Self {
            caches: context.control.caches(),
            ..Self::new(context.mc)
        }
    }

    /// The same view, whose surfaces tell `compressed` of their accesses.
    pub fn watched(self, compressed: Option<&'a Compressed>) -> Self {
        Self { compressed, ..self }
    }

    /// Whether nothing watches or delays accesses: no strict board's caches, no search for
    /// compressed tiles.
    pub fn is_direct(&self) -> bool {
        self.caches.is_none() && self.compressed.is_none()
    }

    /// Copies `len` bytes from MC address `from` to `to`. The ranges must not overlap. The view must
    /// be [direct](Self::is_direct).
    ///
    /// # Errors
    /// As [`Self::read`] and [`Self::write`]; a part may then have been copied.
    pub fn copy(&self, from: u64, to: u64, len: u64) -> Result<(), McError> {
        let places = (
            self.place(from, len as usize, false)?,
            self.place(to, len as usize, true)?,
        );
        if let (Some(from), Some(to)) = places {
            if self.mc.copy_at(from, to, len) {
                return Ok(());
            }
        }
        let mut buffer = [0; PIECE];
        for at in (0..len).step_by(PIECE) {
            let piece = &mut buffer[..(len - at).min(PIECE as u64) as usize];
            self.read(from.wrapping_add(at), piece)?;
            self.write(to.wrapping_add(at), piece)?;
        }
        Ok(())
    }

    /// Fills `len` bytes from MC address `to` on with copies of `pattern`, whose length divides
    /// [`PIECE`]. The view must be [direct](Self::is_direct).
    ///
    /// # Errors
    /// As [`Self::write`]; a part may then have been written.
    pub fn fill(&self, to: u64, len: u64, pattern: &[u8]) -> Result<(), McError> {
        if pattern.is_empty() {
            return Ok(());
        }
        let mut filled = self.filled.borrow_mut();
        let (known, buffer) = &mut filled[usize::from(pattern.len() > 16)];
        if *known != pattern.len() || !buffer.starts_with(pattern) {
            *known = pattern.len();
            buffer.clear();
            buffer.extend_from_slice(pattern);
        }
        let wanted = (len.min(FILL as u64) as usize).next_multiple_of(pattern.len());
        while buffer.len() < wanted {
            let more = buffer.len().min(wanted - buffer.len());
            buffer.extend_from_within(..more);
        }
        for at in (0..len).step_by(FILL) {
            let piece = &buffer[..(len - at).min(FILL as u64) as usize];
            self.write(to.wrapping_add(at), piece)?;
        }
        Ok(())
    }

    /// Reads as [`Self::read`], through `cache`.
    ///
    /// # Errors
    /// As [`Mc::read`].
    #[inline]
    pub fn read_by(&self, cache: Cache, addr: u64, buf: &mut [u8]) -> Result<(), McError> {
        match self.caches {
            None => self.read(addr, buf),
            Some(caches) => caches.read(self.mc, cache, addr, buf),
        }
    }

    /// Writes as [`Self::write`], through `cache`.
    ///
    /// # Errors
    /// As [`Mc::write`].
    #[inline]
    pub fn write_by(&self, cache: Cache, addr: u64, buf: &[u8]) -> Result<(), McError> {
        match self.caches {
            None => self.write(addr, buf),
            Some(caches) => caches.write(self.mc, cache, addr, buf),
        }
    }

    /// The place of `addr`, if a cached extent holds all of `addr..addr + len`.
    #[inline]
    fn known(&self, addr: u64, len: usize, write: bool) -> Option<u64> {
        let holds = |e: Extent| {
            let offset = addr.wrapping_sub(e.start);
            (offset < e.len && len as u64 <= e.len - offset).then(|| e.place + offset)
        };
        holds(self.large.get()).or_else(|| {
            let page = (addr >> PAGE_BITS) as usize % PAGES;
            holds(self.pages[usize::from(write)][page].get())
        })
    }

    /// Translates `addr`, caches its extent and returns its place. None if the
    /// controller gives no extent or the access leaves the extent.
    #[cold]
    fn find(&self, addr: u64, len: usize, write: bool) -> Result<Option<u64>, McError> {
        let Some(extent) = self.mc.resolve(addr, write)? else {
            return Ok(None);
        };
        if extent.len > 1 << PAGE_BITS {
            self.large.set(extent);
        } else {
            let page = (addr >> PAGE_BITS) as usize % PAGES;
            self.pages[usize::from(write)][page].set(extent);
        }
        Ok(self.known(addr, len, write))
    }

    /// The place of `addr`; none if the controller gives no extent that holds all of
    /// `addr..addr + len`.
    #[inline]
    fn place(&self, addr: u64, len: usize, write: bool) -> Result<Option<u64>, McError> {
        match self.known(addr, len, write) {
            Some(place) => Ok(Some(place)),
            None => self.find(addr, len, write),
        }
    }

    /// Reads `buf.len()` bytes from MC address `addr`.
    ///
    /// # Errors
    /// As [`Mc::read`].
    #[inline]
    pub fn read(&self, addr: u64, buf: &mut [u8]) -> Result<(), McError> {
        match self.place(addr, buf.len(), false)? {
            Some(place) => self.mc.read_at(place, buf),
            None => self.mc.read(addr, buf),
        }
    }

    /// Prefetches `len` bytes from MC address `addr` on, if their translation is cached.
    #[inline]
    pub fn prefetch(&self, addr: u64, len: usize) {
        if let Some(place) = self.known(addr, len, false) {
            self.mc.prefetch_at(place, len);
        }
    }

    /// Writes `buf` to MC address `addr`.
    ///
    /// # Errors
    /// As [`Mc::write`].
    #[inline]
    pub fn write(&self, addr: u64, buf: &[u8]) -> Result<(), McError> {
        match self.place(addr, buf.len(), true)? {
            Some(place) => self.mc.write_at(place, buf),
            None => self.mc.write(addr, buf),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::sync::Mutex;

    /// A megabyte at address 0 and two pages at 2^32 in reverse order.
    struct Memory {
        bytes: Mutex<Vec<u8>>,
        resolved: AtomicUsize,
        copied: AtomicUsize,
        /// Places and lengths of prefetches.
        prefetched: Mutex<Vec<(u64, usize)>>,
    }

    const HIGH: u64 = 1 << 32;

    impl Memory {
        fn new() -> Self {
            Self {
                bytes: Mutex::new(vec![0; (1 << 20) + 0x2000]),
                resolved: AtomicUsize::new(0),
                copied: AtomicUsize::new(0),
                prefetched: Mutex::default(),
            }
        }
    }

    impl Mc for Memory {
        fn read(&self, addr: u64, buf: &mut [u8]) -> Result<(), McError> {
            for (i, b) in buf.iter_mut().enumerate() {
                let at = addr + i as u64;
                let extent = self.resolve(at, false)?.unwrap();
                let mut one = [0];
                self.read_at(extent.place + at - extent.start, &mut one)?;
                *b = one[0];
            }
            Ok(())
        }
        fn write(&self, addr: u64, buf: &[u8]) -> Result<(), McError> {
            for (i, b) in buf.iter().enumerate() {
                let at = addr + i as u64;
                let extent = self.resolve(at, true)?.unwrap();
                self.write_at(extent.place + at - extent.start, &[*b])?;
            }
            Ok(())
        }
        fn resolve(&self, addr: u64, _: bool) -> Result<Option<Extent>, McError> {
            self.resolved.fetch_add(1, Ordering::SeqCst);
            if addr < 1 << 20 {
                return Ok(Some(Extent {
                    start: 0,
                    len: 1 << 20,
                    place: 0,
                }));
            }
            if (HIGH..HIGH + 0x2000).contains(&addr) {
                let page = (addr - HIGH) >> 12;
                return Ok(Some(Extent {
                    start: HIGH + (page << 12),
                    len: 0x1000,
                    place: (1 << 20) + ((1 - page) << 12),
                }));
            }
            Err(McError::Unmapped(addr))
        }
        fn read_at(&self, place: u64, buf: &mut [u8]) -> Result<(), McError> {
            let at = place as usize;
            buf.copy_from_slice(&self.bytes.lock().unwrap()[at..at + buf.len()]);
            Ok(())
        }
        fn prefetch_at(&self, place: u64, len: usize) {
            self.prefetched.lock().unwrap().push((place, len));
        }
        fn copy_at(&self, from: u64, to: u64, len: u64) -> bool {
            self.copied.fetch_add(1, Ordering::SeqCst);
            let from = from as usize..(from + len) as usize;
            (self.bytes.lock().unwrap()).copy_within(from, to as usize);
            true
        }
        fn write_at(&self, place: u64, buf: &[u8]) -> Result<(), McError> {
            let at = place as usize;
            self.bytes.lock().unwrap()[at..at + buf.len()].copy_from_slice(buf);
            Ok(())
        }
    }

    #[test]
    fn extents_are_resolved_once() {
        let mc = Memory::new();
        let view = View::new(&mc);
        for i in 0..100 {
            view.write(i * 4096 + 1, &[i as u8; 3]).unwrap();
        }
        assert_eq!(mc.resolved.load(Ordering::SeqCst), 1);
        let mut found = [0; 3];
        view.read(7 * 4096 + 1, &mut found).unwrap();
        assert_eq!(found, [7; 3]);
        for _ in 0..10 {
            view.read(HIGH + 8, &mut found).unwrap();
        }
        assert_eq!(mc.resolved.load(Ordering::SeqCst), 2);
    }

    #[test]
    fn copies_and_fills_are_long() {
        let mc = Memory::new();
        let view = View::new(&mc);
        let bytes: Vec<u8> = (0..10_000u32).map(|i| (i * 7 >> 3) as u8).collect();
        view.write(100, &bytes).unwrap();
        let mut found = vec![0; bytes.len()];
        view.copy(100, 50_000, bytes.len() as u64).unwrap();
        assert_eq!(mc.copied.load(Ordering::SeqCst), 1);
        view.read(50_000, &mut found).unwrap();
        assert!(found == bytes);
        // Across pages that are no extent of their own, by way of a buffer.
        view.copy(100, HIGH + 0xF00, 0x1000).unwrap();
        assert_eq!(mc.copied.load(Ordering::SeqCst), 1);
        view.read(HIGH + 0xF00, &mut found[..0x1000]).unwrap();
        assert!(found[..0x1000] == bytes[..0x1000]);
        for pattern in [
            &[1u8, 2, 3, 4][..],
            &[5, 6, 7, 8],
            &[9; 256],
            &bytes[..256],
            &[1, 2, 3, 4],
        ] {
            // The second is longer than what is written at a time.
            for len in [9_000, 40_002, 130] {
                view.fill(200_000, len, pattern).unwrap();
                found.resize(len as usize, 0);
                view.read(200_000, &mut found).unwrap();
                let mut expected = pattern.iter().cycle();
                assert!(found.iter().all(|byte| Some(byte) == expected.next()));
            }
        }
    }

    #[test]
    fn only_what_is_known_is_prefetched() {
        let mc = Memory::new();
        let view = View::new(&mc);
        view.prefetch(4096, 256);
        assert!(mc.prefetched.lock().unwrap().is_empty());
        view.read(0, &mut [0; 4]).unwrap();
        view.read(HIGH + 8, &mut [0; 4]).unwrap();
        view.prefetch(4096, 256);
        view.prefetch(HIGH + 256, 256);
        // Across the end of the megabyte; a page that has not been accessed.
        view.prefetch((1 << 20) - 128, 256);
        view.prefetch(HIGH + 0x1000, 256);
        let places = [(4096, 256), ((1 << 20) + 0x1100, 256)];
        assert_eq!(*mc.prefetched.lock().unwrap(), places);
        assert_eq!(mc.resolved.load(Ordering::SeqCst), 2);
    }

    #[test]
    fn access_across_pages_reaches_both() {
        let mc = Memory::new();
        let view = View::new(&mc);
        view.write(HIGH + 0xFFE, &[1, 2, 3, 4]).unwrap();
        view.write(HIGH + 0xFFE, &[1, 2, 3, 4]).unwrap();
        let bytes = mc.bytes.lock().unwrap().clone();
        let at = |page: usize, offset: usize| bytes[(1 << 20) + page * 4096 + offset];
        assert_eq!(
            [at(1, 0xFFE), at(1, 0xFFF), at(0, 0), at(0, 1)],
            [1, 2, 3, 4]
        );
    }

    #[test]
    fn what_leads_nowhere_fails_each_time() {
        let mc = Memory::new();
        let view = View::new(&mc);
        for _ in 0..2 {
            assert_eq!(
                view.read(1 << 30, &mut [0; 4]),
                Err(McError::Unmapped(1 << 30))
            );
        }
        // An access across the end of an extent fails.
        assert!(view.read((1 << 20) - 2, &mut [0; 4]).is_err());
    }
}
