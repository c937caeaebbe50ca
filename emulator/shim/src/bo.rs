// SPDX-License-Identifier: MIT
//! Buffer objects: ranges of one memory file, which is video memory and GTT
//! at the same time.
//!
//! The offset of a byte in the file is its MC address and what `mmap()` takes,
//! so the device's file descriptor can be the file itself.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use r7xx_board::chip::bus::{Extent, Mc, McError};
use r7xx_board::chip::memory::{Mapping, MemoryError};
use rustix::fs::{fallocate, FallocateFlags};

/// Granularity of BOs in bytes, the GPU's page.
pub const PAGE: u64 = 4096;
/// Bytes of video memory, as GEM_INFO reports them.
pub const VRAM: u64 = 1 << 30;
/// Bytes of GTT.
pub const GTT: u64 = 1 << 30;
/// The driver's own memory (rings, fences, IBs) lies below the BOs.
pub const RESERVED: u64 = 32 << 20;

/// Flat memory at MC address 0.
pub struct Memory(Mapping);

impl Memory {
    /// Makes the memory file, all zeroes.
    ///
    /// # Errors
    /// As [`Mapping::create`].
    pub fn new() -> Result<Self, MemoryError> {
        Ok(Self(Mapping::create("r7xx-shim", RESERVED + VRAM + GTT)?))
    }

    /// The memory file.
    pub fn file(&self) -> Option<&File> {
        self.0.file()
    }
}

impl Mc for Memory {
    fn read(&self, addr: u64, buf: &mut [u8]) -> Result<(), McError> {
        self.0.read(addr, buf).map_err(|_| McError::Unmapped(addr))
    }

    fn write(&self, addr: u64, buf: &[u8]) -> Result<(), McError> {
        self.0.write(addr, buf).map_err(|_| McError::Unmapped(addr))
    }

    fn resolve(&self, addr: u64, _write: bool) -> Result<Option<Extent>, McError> {
        let all = Extent {
            start: 0,
            len: self.0.size(),
            place: 0,
        };
        if addr < all.len {
            Ok(Some(all))
        } else {
            Err(McError::Unmapped(addr))
        }
    }

    fn read_at(&self, place: u64, buf: &mut [u8]) -> Result<(), McError> {
        self.read(place, buf)
    }

    fn prefetch_at(&self, place: u64, len: usize) {
        // The access itself says it if nothing is there.
        let _ = self.0.prefetch(place, len);
    }

    fn write_at(&self, place: u64, buf: &[u8]) -> Result<(), McError> {
        self.write(place, buf)
    }
}

/// A buffer object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bo {
    /// MC address and offset in the memory file.
    pub address: u64,
    /// Bytes, whole pages.
    pub size: u64,
    /// `RADEON_GEM_DOMAIN_*` at creation.
    pub domain: u32,
    /// `RADEON_TILING_*`, as set last.
    pub tiling_flags: u32,
    /// Pitch that was set with them.
    pub pitch: u32,
    users: u32,
}

#[derive(Default)]
struct Table {
    bos: BTreeMap<u32, Bo>,
    /// Ranges in use: address to end.
    ranges: BTreeMap<u64, u64>,
    last_handle: u32,
}

/// All buffer objects of the process.
pub struct Bos {
    memory: Arc<Memory>,
    table: Mutex<Table>,
}

impl Bos {
    /// None yet.
    pub fn new(memory: Arc<Memory>) -> Self {
        Self {
            memory,
            table: Mutex::default(),
        }
    }

    fn table(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes a BO of zeroes of at least `size` bytes, whose address is a
    /// multiple of `alignment` (a power of two; less than a page counts as a
    /// page).
    ///
    /// # Errors
    /// `ENOMEM` if there is no room, `EINVAL` for a size of 0 or an alignment
    /// that is no power of two.
    pub fn create(&self, size: u64, alignment: u64, domain: u32) -> io::Result<u32> {
        let alignment = alignment.max(PAGE);
        if size == 0 || size > VRAM + GTT || !alignment.is_power_of_two() || alignment > VRAM {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        let size = size.next_multiple_of(PAGE);
        let mut table = self.table();
        let mut address = RESERVED.next_multiple_of(alignment);
        for (&start, &end) in &table.ranges {
            if start >= address + size {
                break;
            }
            address = address.max(end).next_multiple_of(alignment);
        }
        if address + size > RESERVED + VRAM + GTT {
            return Err(io::ErrorKind::OutOfMemory.into());
        }
        table.ranges.insert(address, address + size);
        table.last_handle += 1;
        let handle = table.last_handle;
        let bo = Bo {
            address,
            size,
            domain,
            tiling_flags: 0,
            pitch: 0,
            users: 1,
        };
        table.bos.insert(handle, bo);
        Ok(handle)
    }

    /// The BO of a handle.
    pub fn get(&self, handle: u32) -> Option<Bo> {
        self.table().bos.get(&handle).copied()
    }

    /// Sets what other clients are told of the BO's tiling; false without one.
    pub fn set_tiling(&self, handle: u32, flags: u32, pitch: u32) -> bool {
        let mut table = self.table();
        let Some(bo) = table.bos.get_mut(&handle) else {
            return false;
        };
        (bo.tiling_flags, bo.pitch) = (flags, pitch);
        true
    }

    /// One user more, who closes the handle as well.
    pub fn reference(&self, handle: u32) -> Option<Bo> {
        let mut table = self.table();
        let bo = table.bos.get_mut(&handle)?;
        bo.users += 1;
        Some(*bo)
    }

    /// Closes a handle; the last user's takes the memory back. False without
    /// such a BO.
    pub fn close(&self, handle: u32) -> bool {
        let mut table = self.table();
        let Some(bo) = table.bos.get_mut(&handle) else {
            return false;
        };
        bo.users -= 1;
        if bo.users > 0 {
            return true;
        }
        let bo = *bo;
        table.bos.remove(&handle);
        table.ranges.remove(&bo.address);
        if let Some(file) = self.memory.file() {
            // A new BO reads zeroes, and what is not used takes no memory.
            let flags = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
            if let Err(e) = fallocate(file, flags, bo.address, bo.size) {
                log::warn!("memory of a BO is not given back: {e}");
            }
        }
        true
    }

    /// Bytes of all BOs that were made in `domain`.
    pub fn usage(&self, domain: u32) -> u64 {
        let table = self.table();
        let of_domain = table.bos.values().filter(|bo| bo.domain & domain != 0);
        of_domain.map(|bo| bo.size).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bos() -> Bos {
        Bos::new(Arc::new(Memory::new().unwrap()))
    }

    #[test]
    fn bos_do_not_overlap_and_keep_their_alignment() {
        let bos = bos();
        let handles: Vec<u32> = [(1, 0), (5000, 4096), (4096, 1 << 20), (100, 256)]
            .into_iter()
            .map(|(size, alignment)| bos.create(size, alignment, 4).unwrap())
            .collect();
        let mut ranges: Vec<(u64, u64)> = Vec::new();
        for handle in &handles {
            let bo = bos.get(*handle).unwrap();
            assert_eq!(bo.size % PAGE, 0);
            assert!(bo.address >= RESERVED);
            ranges.push((bo.address, bo.address + bo.size));
        }
        assert_eq!(ranges[2].0 % (1 << 20), 0);
        ranges.sort_unstable();
        assert!(ranges.windows(2).all(|w| w[0].1 <= w[1].0), "{ranges:?}");
    }

    #[test]
    fn memory_comes_back_zeroed_after_the_last_user() {
        let bos = bos();
        let first = bos.create(PAGE, PAGE, 4).unwrap();
        let address = bos.get(first).unwrap().address;
        bos.memory.write(address, &[7; 16]).unwrap();
        bos.reference(first).unwrap();
        assert!(bos.close(first));
        assert!(bos.get(first).is_some());
        assert!(bos.close(first));
        assert!(!bos.close(first));
        let second = bos.create(PAGE, PAGE, 4).unwrap();
        assert_ne!(first, second);
        assert_eq!(bos.get(second).unwrap().address, address);
        let mut b = [1; 16];
        bos.memory.read(address, &mut b).unwrap();
        assert_eq!(b, [0; 16]);
    }

    #[test]
    fn hostile_sizes_are_refused() {
        let bos = bos();
        for (size, alignment) in [(0, 0), (u64::MAX, 0), (1, 3 << 12), (1, 1 << 63)] {
            assert!(
                bos.create(size, alignment, 4).is_err(),
                "{size} {alignment}"
            );
        }
        let half = bos.create(VRAM, PAGE, 4).unwrap();
        assert!(bos.create(GTT, PAGE, 4).is_ok());
        assert!(bos.create(PAGE, PAGE, 4).is_err());
        assert!(bos.close(half));
        assert!(bos.create(PAGE, PAGE, 4).is_ok());
    }
}
