// SPDX-License-Identifier: MIT
//! Guest RAM as the client shares it: pieces of files at bus addresses.
//!
//! QEMU maps and unmaps pieces while the guest's firmware changes the memory map
//! (about 30 times at boot). An access looks its region up and holds the read
//! lock until it is done, so no engine touches a region after
//! [`GuestRam::unmap`] has returned.

use std::collections::BTreeMap;
use std::fmt;
use std::fs::File;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use super::{Mapping, MemoryError, PAGE_SIZE};
use crate::chip::bus::McError;

/// Upper bound of simultaneous mappings, announced to the client: half of
/// Linux's `vm.max_map_count`. The other half is left for the process' other
/// mappings. QEMU has some dozens.
pub const MAX_DMA_MAPS: usize = 32_768;

/// Why a DMA_MAP or DMA_UNMAP was refused.
#[derive(Debug)]
pub enum DmaError {
    /// The size is zero, the range wraps, or address, offset or size is not
    /// page-aligned.
    Range,
    /// The range overlaps one that is mapped already.
    Overlap,
    /// The range to unmap cuts a mapping in two or matches none.
    NotMapped,
    /// Too many mappings.
    TooMany,
    /// The memory itself could not be mapped.
    Memory(MemoryError),
}

impl fmt::Display for DmaError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Range => write!(f, "range is empty, misaligned or wraps"),
            Self::Overlap => write!(f, "range overlaps a mapping"),
            Self::NotMapped => write!(f, "range is not made of whole mappings"),
            Self::TooMany => write!(f, "more than {MAX_DMA_MAPS} mappings"),
            Self::Memory(e) => e.fmt(f),
        }
    }
}

impl std::error::Error for DmaError {}

/// One range of bus addresses.
#[derive(Debug)]
struct Region {
    size: u64,
    /// `None` if the client gave no file (BARs and ROMs of other devices): the
    /// range is taken, but accesses fail.
    mapping: Option<Mapping>,
}

type Regions = BTreeMap<u64, Region>;

/// All guest RAM that the board may access.
#[derive(Debug, Default)]
pub struct GuestRam {
    regions: RwLock<Regions>,
    bus_master: AtomicBool,
}

impl GuestRam {
    /// Creates an address space with no memory and bus mastering off.
    pub fn new() -> Self {
        Self::default()
    }

    // A panic elsewhere cannot leave the map half-changed, so a poisoned
    // lock is as good as a clean one.
    fn shared(&self) -> RwLockReadGuard<'_, Regions> {
        self.regions.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn exclusive(&self) -> RwLockWriteGuard<'_, Regions> {
        self.regions.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// Follows the Bus Master Enable bit of the PCI command register: while
    /// it is off, every access fails.
    ///
    /// When it is switched off, waits for the accesses under way.
    pub fn set_bus_master(&self, on: bool) {
        self.bus_master.store(on, Ordering::Release);
        if !on {
            drop(self.exclusive());
        }
    }

    /// Makes `size` bytes of `file` from byte `offset` on reachable at bus
    /// address `address`. All three must be page-aligned.
    ///
    /// Without a file the range is only reserved.
    pub fn map(
        &self,
        address: u64,
        size: u64,
        file: Option<(File, u64)>,
        writable: bool,
    ) -> Result<(), DmaError> {
        let aligned = |v: u64| v % PAGE_SIZE == 0;
        let end = address.checked_add(size).ok_or(DmaError::Range)?;
        if size == 0 || !aligned(address) || !aligned(size) {
            return Err(DmaError::Range);
        }
        if file.as_ref().is_some_and(|(_, offset)| !aligned(*offset)) {
            return Err(DmaError::Range);
        }
        let mut regions = self.exclusive();
        if regions.len() >= MAX_DMA_MAPS {
            return Err(DmaError::TooMany);
        }
        // Regions never overlap: if any reaches into the range, the last one
        // that begins before `end` does.
        if let Some((base, region)) = regions.range(..end).next_back() {
            if base + region.size > address {
                return Err(DmaError::Overlap);
            }
        }
        let mapping = match file {
            Some((file, offset)) => {
                Some(Mapping::from_file(file, offset, size, writable).map_err(DmaError::Memory)?)
            }
            None => None,
        };
        regions.insert(address, Region { size, mapping });
        Ok(())
    }

    /// Removes all mappings inside the range. Fails if one is only partly inside.
    pub fn unmap(&self, address: u64, size: u64) -> Result<(), DmaError> {
        let end = address.checked_add(size).ok_or(DmaError::Range)?;
        if size == 0 {
            return Err(DmaError::Range);
        }
        let mut regions = self.exclusive();
        if let Some((base, region)) = regions.range(..address).next_back() {
            if base + region.size > address {
                return Err(DmaError::NotMapped);
            }
        }
        let mut inside = Vec::new();
        for (&base, region) in regions.range(address..end) {
            if base + region.size > end {
                return Err(DmaError::NotMapped);
            }
            inside.push(base);
        }
        if inside.is_empty() {
            return Err(DmaError::NotMapped);
        }
        for base in inside {
            regions.remove(&base);
        }
        Ok(())
    }

    /// Removes every mapping.
    pub fn unmap_all(&self) {
        self.exclusive().clear();
    }

    /// Number of ranges the client has mapped, reachable or not.
    pub fn len(&self) -> usize {
        self.shared().len()
    }

    /// Whether the client has mapped nothing.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Calls `access(mapping, offset, piece)` for every mapped piece of the
    /// `len` bytes at `address`; `piece` is the range inside the buffer.
    fn for_each_piece<F>(&self, address: u64, len: usize, mut access: F) -> Result<(), McError>
    where
        F: FnMut(&Mapping, u64, std::ops::Range<usize>) -> Result<(), MemoryError>,
    {
        let regions = self.shared();
        // Check under the lock, for which `set_bus_master(false)` waits.
        if !self.bus_master.load(Ordering::Acquire) {
            return Err(McError::GuestRam(address));
        }
        let mut done = 0;
        while done < len {
            let at = address
                .checked_add(done as u64)
                .ok_or(McError::GuestRam(address))?;
            let fault = McError::GuestRam(at);
            let (base, region) = regions.range(..=at).next_back().ok_or(fault)?;
            let offset = at - base;
            let mapping = region.mapping.as_ref().ok_or(fault)?;
            let room = region.size.checked_sub(offset).filter(|&r| r > 0);
            let room = usize::try_from(room.ok_or(fault)?).unwrap_or(usize::MAX);
            let piece = room.min(len - done);
            access(mapping, offset, done..done + piece).map_err(|_| fault)?;
            done += piece;
        }
        Ok(())
    }

    /// Reads `buf.len()` bytes at bus address `address`.
    pub fn read(&self, address: u64, buf: &mut [u8]) -> Result<(), McError> {
        self.for_each_piece(address, buf.len(), |mapping, offset, piece| {
            mapping.read(offset, &mut buf[piece])
        })
    }

    /// Writes `buf` to bus address `address`.
    pub fn write(&self, address: u64, buf: &[u8]) -> Result<(), McError> {
        self.for_each_piece(address, buf.len(), |mapping, offset, piece| {
            mapping.write(offset, &buf[piece])
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(pages: u64) -> File {
        let m = Mapping::create("guest", pages * PAGE_SIZE).unwrap();
        m.file().unwrap().try_clone().unwrap()
    }

    fn ram() -> GuestRam {
        let ram = GuestRam::new();
        ram.set_bus_master(true);
        ram
    }

    #[test]
    fn access_crosses_adjacent_regions() {
        let ram = ram();
        ram.map(0x1000, 0x1000, Some((file(1), 0)), true).unwrap();
        ram.map(0x2000, 0x2000, Some((file(2), 0)), true).unwrap();
        ram.write(0x1ffe, &[1, 2, 3, 4]).unwrap();
        let mut b = [0; 4];
        ram.read(0x1ffe, &mut b).unwrap();
        assert_eq!(b, [1, 2, 3, 4]);
    }

    #[test]
    fn access_into_hole_fails_with_its_address() {
        let ram = ram();
        ram.map(0x1000, 0x1000, Some((file(1), 0)), true).unwrap();
        let mut b = [0; 4];
        assert_eq!(ram.read(0x1ffe, &mut b), Err(McError::GuestRam(0x2000)));
        assert_eq!(ram.read(0, &mut b), Err(McError::GuestRam(0)));
        assert!(ram.write(u64::MAX - 1, &[0; 4]).is_err());
    }

    #[test]
    fn overlap_and_bad_ranges_are_refused() {
        let ram = ram();
        ram.map(0x4000, 0x2000, Some((file(2), 0)), true).unwrap();
        for (address, size) in [(0x3000, 0x2000), (0x5000, 0x1000), (0x3000, 0x9000)] {
            let r = ram.map(address, size, None, true);
            assert!(matches!(r, Err(DmaError::Overlap)), "{address:#x}");
        }
        for (address, size) in [(0x800, 0x1000), (0x8000, 0x800), (0x8000, 0)] {
            assert!(matches!(
                ram.map(address, size, None, true),
                Err(DmaError::Range)
            ));
        }
        let wrap = ram.map(u64::MAX - 0xfff, 0x2000, None, true);
        assert!(matches!(wrap, Err(DmaError::Range)));
        let short = ram.map(0x10000, 0x2000, Some((file(1), 0)), true);
        assert!(matches!(short, Err(DmaError::Memory(_))));
        assert_eq!(ram.len(), 1);
    }

    #[test]
    fn unmap_takes_whole_mappings_only() {
        let ram = ram();
        ram.map(0x4000, 0x2000, Some((file(2), 0)), true).unwrap();
        ram.map(0x6000, 0x1000, Some((file(1), 0)), true).unwrap();
        assert!(ram.unmap(0x4000, 0x1000).is_err());
        assert!(ram.unmap(0x5000, 0x2000).is_err());
        assert!(ram.unmap(0x8000, 0x1000).is_err());
        assert_eq!(ram.len(), 2);
        ram.unmap(0x4000, 0x3000).unwrap();
        assert!(ram.is_empty());
        assert!(ram.read(0x4000, &mut [0; 1]).is_err());
    }

    #[test]
    fn number_of_mappings_is_bounded_and_said() {
        let ram = ram();
        for n in 0..MAX_DMA_MAPS as u64 {
            ram.map(n * PAGE_SIZE, PAGE_SIZE, None, true).unwrap();
        }
        let end = MAX_DMA_MAPS as u64 * PAGE_SIZE;
        let error = ram.map(end, PAGE_SIZE, None, true).unwrap_err();
        assert!(matches!(error, DmaError::TooMany));
        assert!(error.to_string().contains("32768"), "{error}");
        ram.unmap(0, PAGE_SIZE).unwrap();
        ram.map(end, PAGE_SIZE, None, true).unwrap();
    }

    #[test]
    fn bus_master_off_waits_for_the_access_under_way() {
        use std::sync::atomic::AtomicBool;
        use std::time::Duration;
        let ram = ram();
        ram.map(0, PAGE_SIZE, Some((file(1), 0)), true).unwrap();
        let (inside, off) = (AtomicBool::new(false), AtomicBool::new(false));
        std::thread::scope(|scope| {
            let access = scope.spawn(|| {
                ram.for_each_piece(0, 4, |_, _, _| {
                    inside.store(true, Ordering::SeqCst);
                    std::thread::sleep(Duration::from_millis(50));
                    assert!(!off.load(Ordering::SeqCst), "did not wait");
                    Ok(())
                })
            });
            while !inside.load(Ordering::SeqCst) {
                std::thread::yield_now();
            }
            ram.set_bus_master(false);
            off.store(true, Ordering::SeqCst);
            assert_eq!(access.join().unwrap(), Ok(()));
        });
        assert_eq!(ram.read(0, &mut [0; 4]), Err(McError::GuestRam(0)));
    }

    #[test]
    fn range_without_file_is_reserved_but_unreachable() {
        let ram = ram();
        ram.map(0xe000_0000, 0x1000, None, true).unwrap();
        assert!(ram.write(0xe000_0000, &[1]).is_err());
        ram.unmap(0xe000_0000, 0x1000).unwrap();
    }

    #[test]
    fn no_access_without_bus_master() {
        let ram = ram();
        ram.map(0, 0x1000, Some((file(1), 0)), true).unwrap();
        ram.set_bus_master(false);
        assert!(ram.read(0, &mut [0; 4]).is_err());
        assert!(ram.write(0, &[0; 4]).is_err());
    }

    #[test]
    fn read_only_region_refuses_writes() {
        let ram = ram();
        ram.map(0, 0x1000, Some((file(1), 0)), false).unwrap();
        ram.read(0, &mut [0; 4]).unwrap();
        assert!(ram.write(0, &[0; 4]).is_err());
    }
}
