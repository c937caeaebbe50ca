// SPDX-License-Identifier: MIT
//! Buffer objects: ranges of one memory file, which serves as video memory and
//! as GTT.
//!
//! The offset of a byte in the file is both its MC address and its `mmap()`
//! offset, so the device's file descriptor can be the file itself.

use std::collections::{BTreeMap, VecDeque};
use std::fs::File;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use r7xx_board::chip::bus::{Extent, Mc, McError};
use r7xx_board::chip::memory::{Mapping, MemoryError};
use rustix::fs::{fallocate, FallocateFlags};

use crate::space::{self, Space};

/// Granularity of BOs in bytes, the GPU's page.
pub const PAGE: u64 = 4096;
/// Bytes of video memory, as GEM_INFO reports them.
pub const VRAM: u64 = 1 << 30;
/// Bytes of GTT.
pub const GTT: u64 = 1 << 30;
/// Most exported BOs that are kept after their handles are closed.
const KEPT: usize = 64;
/// Bytes of the driver's own memory (rings, fences, IBs), which is below the BOs.
pub const RESERVED: u64 = 32 << 20;

/// Flat memory at MC address 0, with an address space of a VM context on top ([`space`]).
pub struct Memory(Arc<Mapping>);

impl Memory {
    /// Creates the memory file, all zeroes.
    ///
    /// # Errors
    /// As [`Mapping::create`].
    pub fn new() -> Result<Self, MemoryError> {
        let size = RESERVED + VRAM + GTT + space::TABLE_SIZE;
        Ok(Self(Arc::new(Mapping::create("r7xx-shim", size)?)))
    }

    /// The memory file.
    pub fn file(&self) -> Option<&File> {
        self.0.file()
    }
}

impl Mc for Memory {
    fn context(&self, context: u8) -> Option<Arc<dyn Mc>> {
        (context == 1).then(|| Arc::new(Space::new(self.0.clone())) as Arc<dyn Mc>)
    }

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
        // The access itself reports an invalid place.
        let _ = self.0.prefetch(place, len);
    }

    fn copy_at(&self, from: u64, to: u64, len: u64) -> bool {
        self.0.copy(from, to, len as usize).is_ok()
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
    /// Size in bytes, a multiple of [`PAGE`].
    pub size: u64,
    /// `RADEON_GEM_DOMAIN_*` at creation.
    pub domain: u32,
    /// `RADEON_TILING_*` of the last GEM_SET_TILING.
    pub tiling_flags: u32,
    /// Pitch of the last GEM_SET_TILING.
    pub pitch: u32,
    /// Its address in the program's address space, if it is mapped there.
    pub virtual_address: Option<u64>,
    /// It was exported as a file, by which it can be opened again.
    exported: bool,
    /// The handle is open.
    open: bool,
}

#[derive(Default)]
struct Table {
    bos: BTreeMap<u32, Bo>,
    /// Ranges in use: address to end.
    ranges: BTreeMap<u64, u64>,
    last_handle: u32,
    /// Closed handles of exported BOs, the first closed in front. The shim does not know whether
    /// their files are still open.
    closed: VecDeque<u32>,
}

impl Table {
    /// Address of `size` free bytes with that alignment, if there are any.
    fn room(&self, size: u64, alignment: u64) -> Option<u64> {
        let mut address = RESERVED.next_multiple_of(alignment);
        for (&start, &end) in &self.ranges {
            if start >= address + size {
                break;
            }
            address = address.max(end).next_multiple_of(alignment);
        }
        (address + size <= RESERVED + VRAM + GTT).then_some(address)
    }
}

/// All buffer objects of the process.
pub struct Bos {
    memory: Arc<Memory>,
    table: Mutex<Table>,
}

impl Bos {
    /// An empty table of BOs in `memory`.
    pub fn new(memory: Arc<Memory>) -> Self {
        Self {
            memory,
            table: Mutex::default(),
        }
    }

    fn table(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Creates a BO of zeroes of at least `size` bytes. Its address is a multiple
    /// of `alignment`, a power of two, and of a page.
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
        let address = loop {
            if let Some(address) = table.room(size, alignment) {
                break address;
            }
            let Some(oldest) = table.closed.pop_front() else {
                return Err(io::ErrorKind::OutOfMemory.into());
            };
            self.free(&mut table, oldest);
        };
        table.ranges.insert(address, address + size);
        table.last_handle += 1;
        let handle = table.last_handle;
        let bo = Bo {
            address,
            size,
            domain,
            tiling_flags: 0,
            pitch: 0,
            virtual_address: None,
            exported: false,
            open: true,
        };
        table.bos.insert(handle, bo);
        Ok(handle)
    }

    /// The BO of an open handle.
    pub fn get(&self, handle: u32) -> Option<Bo> {
        let table = self.table();
        table.bos.get(&handle).filter(|bo| bo.open).copied()
    }

    /// Sets the tiling that GEM_GET_TILING returns; false without such a BO.
    pub fn set_tiling(&self, handle: u32, flags: u32, pitch: u32) -> bool {
        let mut table = self.table();
        let Some(bo) = table.bos.get_mut(&handle) else {
            return false;
        };
        (bo.tiling_flags, bo.pitch) = (flags, pitch);
        true
    }

    /// Maps a BO at `address` of the program's address space, with the bits `access`
    /// ([`space::READABLE`], [`space::WRITEABLE`]). Returns where it is: that is elsewhere if it has been
    /// mapped before.
    ///
    /// # Errors
    /// `ENOENT` without such a BO, `EINVAL` if the range leaves the space or another BO is there.
    pub fn map(&self, handle: u32, address: u64, access: u32) -> Result<u64, i32> {
        let mut table = self.table();
        let bo = *table.bos.get(&handle).ok_or(libc::ENOENT)?;
        if let Some(there) = bo.virtual_address {
            return Ok(there);
        }
        let address = address / PAGE * PAGE;
        let end = address.checked_add(bo.size).ok_or(libc::EINVAL)?;
        let taken = table.bos.values().any(|other| {
            let there = other.virtual_address;
            there.is_some_and(|there| there < end && address < there + other.size)
        });
        if taken {
            return Err(libc::EINVAL);
        }
        let mapped = (self.memory).map(address, bo.size, Some(bo.address), access);
        mapped.map_err(|_| libc::EINVAL)?;
        if let Some(bo) = table.bos.get_mut(&handle) {
            bo.virtual_address = Some(address);
        }
        Ok(address)
    }

    /// Takes a BO out of the program's address space; false without such a BO.
    pub fn unmap(&self, handle: u32) -> bool {
        let mut table = self.table();
        let Some(bo) = table.bos.get_mut(&handle) else {
            return false;
        };
        let (there, size) = (bo.virtual_address.take(), bo.size);
        self.forget(there, size);
        true
    }

    /// Has `size` bytes from `address` on lead nowhere.
    fn forget(&self, address: Option<u64>, size: u64) {
        let Some(address) = address else {
            return;
        };
        if let Err(e) = self.memory.map(address, size, None, 0) {
            log::error!("a BO stays in the address space: {e:?}");
        }
    }

    /// The BO of an open handle. From now on [`Self::import`] finds it.
    pub fn export(&self, handle: u32) -> Option<Bo> {
        let mut table = self.table();
        let bo = table.bos.get_mut(&handle).filter(|bo| bo.open)?;
        bo.exported = true;
        Some(*bo)
    }

    /// Opens the handle of an exported BO again. As in DRM, an open handle is closed by one close,
    /// however often it was imported (`drm_gem_prime_fd_to_handle()`). `None` if the BO is gone.
    pub fn import(&self, handle: u32) -> Option<Bo> {
        let mut table = self.table();
        let bo = table.bos.get_mut(&handle).filter(|bo| bo.exported)?;
        bo.open = true;
        let bo = *bo;
        table.closed.retain(|closed| *closed != handle);
        Some(bo)
    }

    /// Closes a handle; false without such a handle. It frees the memory at once, that of an
    /// exported BO only when `KEPT` others have been closed after it or there is no room.
    pub fn close(&self, handle: u32) -> bool {
        let mut table = self.table();
        let Some(bo) = table.bos.get_mut(&handle).filter(|bo| bo.open) else {
            return false;
        };
        bo.open = false;
        let (there, size) = (bo.virtual_address.take(), bo.size);
        self.forget(there, size);
        let Some(bo) = table.bos.get(&handle) else {
            return false;
        };
        if !bo.exported {
            self.free(&mut table, handle);
            return true;
        }
        table.closed.push_back(handle);
        if table.closed.len() > KEPT {
            if let Some(oldest) = table.closed.pop_front() {
                self.free(&mut table, oldest);
            }
        }
        true
    }

    fn free(&self, table: &mut Table, handle: u32) {
        let Some(bo) = table.bos.remove(&handle) else {
            return;
        };
        table.ranges.remove(&bo.address);
        if let Some(file) = self.memory.file() {
            // New BOs are zero, and free ranges take no memory of the host.
            let flags = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
            if let Err(e) = fallocate(file, flags, bo.address, bo.size) {
                log::warn!("memory of a BO is not given back: {e}");
            }
        }
    }

    /// Bytes of all BOs that were created in `domain`.
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
    fn memory_comes_back_zeroed() {
        let bos = bos();
        let first = bos.create(PAGE, PAGE, 4).unwrap();
        let address = bos.get(first).unwrap().address;
        bos.memory.write(address, &[7; 16]).unwrap();
        assert!(bos.import(first).is_none(), "it was not exported");
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
    fn exported_bos_outlive_their_handles() {
        let bos = bos();
        let handle = bos.create(PAGE, PAGE, 4).unwrap();
        let bo = bos.export(handle).unwrap();
        bos.memory.write(bo.address, &[7; 16]).unwrap();
        for _ in 0..3 {
            assert!(bos.close(handle));
            assert!(bos.get(handle).is_none() && !bos.close(handle));
            let other = bos.create(PAGE, PAGE, 4).unwrap();
            assert_ne!(bos.get(other).unwrap().address, bo.address);
            assert!(bos.import(handle).is_some() && bos.import(handle).is_some());
            assert_eq!(bos.get(handle).unwrap().address, bo.address);
        }
        let mut b = [0; 16];
        bos.memory.read(bo.address, &mut b).unwrap();
        assert_eq!(b, [7; 16]);
        // An open one is never taken back.
        assert!(bos.create(VRAM + GTT, PAGE, 4).is_err());
        assert!(bos.get(handle).is_some());
    }

    #[test]
    fn closed_exports_go_the_oldest_first() {
        let bos = bos();
        let exported = || {
            let handle = bos.create(PAGE, PAGE, 4).unwrap();
            bos.export(handle).unwrap();
            handle
        };
        let handles: Vec<u32> = (0..=KEPT).map(|_| exported()).collect();
        assert!(handles.iter().all(|handle| bos.close(*handle)));
        assert!(bos.import(handles[0]).is_none());
        assert!(bos.import(handles[1]).is_some() && bos.close(handles[1]));
        assert_eq!(bos.usage(4), KEPT as u64 * PAGE);
        // All of the memory can be had.
        assert!(bos.create(VRAM + GTT, PAGE, 4).is_ok());
        assert!(handles.iter().all(|handle| bos.import(*handle).is_none()));
    }

    #[test]
    fn bos_leave_the_address_space_when_they_are_closed() {
        let bos = bos();
        let both = space::READABLE | space::WRITEABLE;
        let [first, second] = [0; 2].map(|_| bos.create(PAGE, PAGE, 4).unwrap());
        let at = space::START;
        assert_eq!(bos.map(first, at, both), Ok(at));
        // It stays where it is, and nothing else gets there.
        assert_eq!(bos.map(first, at + 8 * PAGE, both), Ok(at));
        assert_eq!(bos.map(second, at, both), Err(libc::EINVAL));
        assert_eq!(bos.map(second, space::END, both), Err(libc::EINVAL));
        assert_eq!(bos.map(99, at, both), Err(libc::ENOENT));
        let space = bos.memory.context(1).unwrap();
        space.write(at, &[7]).unwrap();
        let (mut found, bo) = ([0], bos.get(first).unwrap());
        bos.memory.read(bo.address, &mut found).unwrap();
        assert_eq!((found, space.take_fault()), ([7], None));
        assert!(bos.close(first));
        space.read(at, &mut found).unwrap();
        assert!(space.take_fault().is_some());
        assert_eq!(bos.map(second, at, both), Ok(at));
        assert!(bos.unmap(second) && bos.map(second, at + PAGE, both).is_ok());
        assert!(!bos.unmap(99));
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
