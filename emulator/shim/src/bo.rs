// SPDX-License-Identifier: MIT
//! Buffer objects: ranges of the device's memory ([`memory`](crate::memory)).
//!
//! The offset of a byte in the memory file is both its MC address and its `mmap()` offset, so the
//! device's file descriptor can be the file itself. Two kinds of BO have their bytes elsewhere: exported and imported ones in a file of their own
//! ([`share`]), and those that are the program's memory.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::fd::BorrowedFd;
use std::os::unix::fs::MetadataExt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use r7xx_board::chip::bus::Mc;

use crate::memory::{punch, Memory, GTT, PAGE, RESERVED, USER, USER_SIZE, VRAM};
use crate::share::{self, Label};

/// `RADEON_GEM_DOMAIN_GTT`
const DOMAIN_GTT: u32 = 2;

/// Where a BO's bytes are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// In the memory file.
    Own,
    /// In a file of its own, by which it is found again: device and inode.
    Shared(u64, u64),
    /// In the program's memory.
    User,
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
    /// Where its bytes are.
    pub place: Place,
}

impl Bo {
    /// Its MC addresses.
    pub fn range(&self) -> Range<u64> {
        self.address..self.address + self.size
    }
}

#[derive(Default)]
struct Table {
    bos: BTreeMap<u32, Bo>,
    /// Ranges in use: address to end.
    ranges: BTreeMap<u64, u64>,
    last_handle: u32,
    /// The files of exported and imported BOs, by handle.
    files: BTreeMap<u32, Arc<File>>,
}

impl Table {
    /// Address of `size` free bytes of `within` with that alignment, if there are any.
    fn room(&self, within: Range<u64>, size: u64, alignment: u64) -> Option<u64> {
        let mut address = within.start.next_multiple_of(alignment);
        for (&start, &end) in self.ranges.range(within.clone()) {
            if start >= address + size {
                break;
            }
            address = address.max(end).next_multiple_of(alignment);
        }
        (address + size <= within.end).then_some(address)
    }

    /// Adds a BO, and returns its handle.
    fn add(&mut self, bo: Bo) -> u32 {
        self.ranges.insert(bo.address, bo.address + bo.size);
        self.last_handle += 1;
        self.bos.insert(self.last_handle, bo);
        self.last_handle
    }
}

/// Where BOs are that are not the program's memory.
const BOS: Range<u64> = RESERVED..RESERVED + VRAM + GTT;

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
        let room = table.room(BOS, size, alignment);
        let address = room.ok_or(io::ErrorKind::OutOfMemory)?;
        Ok(table.add(Bo {
            address,
            size,
            domain,
            tiling_flags: 0,
            pitch: 0,
            virtual_address: None,
            place: Place::Own,
        }))
    }

    /// Creates a BO that is `size` bytes of the program's memory from `address` on, both multiples of
    /// a page.
    ///
    /// # Errors
    /// `ENOMEM` without room, `EFAULT` or `ENODEV` if that memory cannot be accessed.
    pub fn borrow(&self, address: u64, size: u64, writable: bool) -> Result<u32, i32> {
        let mut table = self.table();
        let room = table.room(USER..USER + USER_SIZE, size, PAGE);
        let place = room.ok_or(libc::ENOMEM)?;
        self.memory.borrow(place, size, address, writable)?;
        Ok(table.add(Bo {
            address: place,
            size,
            domain: DOMAIN_GTT,
            tiling_flags: 0,
            pitch: 0,
            virtual_address: None,
            place: Place::User,
        }))
    }

    /// The BO of a handle.
    pub fn get(&self, handle: u32) -> Option<Bo> {
        self.table().bos.get(&handle).copied()
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
    /// ([`READABLE`](crate::space::READABLE), [`WRITEABLE`](crate::space::WRITEABLE)). Returns where it is: that is elsewhere if it has been
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

    /// The file of a BO, which [`Self::import`] and other processes find it by. The GPU must be idle.
    ///
    /// # Errors
    /// `ENOENT` without such a BO, `EPERM` if it is the program's memory, and those of making the file.
    pub fn export(&self, handle: u32) -> Result<Arc<File>, i32> {
        let mut table = self.table();
        let bo = *table.bos.get(&handle).ok_or(libc::ENOENT)?;
        match bo.place {
            // radeon_gem_prime_export()
            Place::User => Err(libc::EPERM),
            Place::Shared(..) => table.files.get(&handle).cloned().ok_or(libc::EINVAL),
            Place::Own => {
                let moved = self.move_out(&bo).map_err(|e| errno(&e))?;
                let place = identity(&moved).map_err(|e| errno(&e))?;
                let file = Arc::new(moved);
                table.files.insert(handle, file.clone());
                if let Some(bo) = table.bos.get_mut(&handle) {
                    bo.place = place;
                }
                Ok(file)
            }
        }
    }

    /// Moves a BO into a file of its own, with all of the process's mappings of it.
    fn move_out(&self, bo: &Bo) -> io::Result<File> {
        let label = Label {
            tiling_flags: bo.tiling_flags,
            pitch: bo.pitch,
            domain: bo.domain,
        };
        let file = share::create(bo.size, label)?;
        let read = |at, buf: &mut [u8]| {
            let read = self.memory.read(at, buf);
            read.map_err(|e| io::Error::other(format!("{e:?}")))
        };
        share::copy(&read, bo.range(), &file)?;
        self.memory.overlay(bo.address, bo.size, &file)?;
        if let Some(own) = self.memory.file() {
            share::redirect(own, bo.range(), &file)?;
            punch(own, bo.range())?;
        }
        Ok(file)
    }

    /// The handle of the BO of a file that this or another process has exported. As in DRM, one close
    /// closes it, however often it was imported (`drm_gem_prime_fd_to_handle()`).
    ///
    /// # Errors
    /// `EINVAL` if it is no such file, `ENOMEM` without room.
    pub fn import(&self, fd: BorrowedFd<'_>) -> Result<u32, i32> {
        let label = share::label(fd).ok_or(libc::EINVAL)?;
        let file = fd.try_clone_to_owned().map_err(|e| errno(&e))?;
        let file = File::from(file);
        let place = identity(&file).map_err(|e| errno(&e))?;
        let size = file.metadata().map_err(|e| errno(&e))?.len();
        let mut table = self.table();
        if let Some((handle, _)) = table.bos.iter().find(|(_, bo)| bo.place == place) {
            return Ok(*handle);
        }
        if size == 0 || size % PAGE != 0 {
            return Err(libc::EINVAL);
        }
        // The largest alignment of a surface of r600: of its macro tiles.
        let alignment = (1 << 20).min(size.next_power_of_two());
        let address = table.room(BOS, size, alignment).ok_or(libc::ENOMEM)?;
        let mapped = self.memory.overlay(address, size, &file);
        mapped.map_err(|e| errno(&e))?;
        let handle = table.add(Bo {
            address,
            size,
            domain: label.domain,
            tiling_flags: label.tiling_flags,
            pitch: label.pitch,
            virtual_address: None,
            place,
        });
        table.files.insert(handle, Arc::new(file));
        Ok(handle)
    }

    /// The file and the offset in it that the program gets when it maps the device at `offset`; `None`
    /// if that is the memory file.
    pub fn file_at(&self, offset: u64) -> Option<(Arc<File>, u64)> {
        let table = self.table();
        let shared = table.files.iter().find_map(|(handle, file)| {
            let bo = table.bos.get(handle)?;
            bo.range().contains(&offset).then_some((file, bo.address))
        });
        shared.map(|(file, start)| (file.clone(), offset - start))
    }

    /// Closes a handle; false without such a handle. Frees its memory, but not that of other
    /// processes.
    pub fn close(&self, handle: u32) -> bool {
        let mut table = self.table();
        let Some(bo) = table.bos.remove(&handle) else {
            return false;
        };
        self.forget(bo.virtual_address, bo.size);
        table.ranges.remove(&bo.address);
        table.files.remove(&handle);
        let freed = match (bo.place, self.memory.file()) {
            (Place::User, _) => {
                self.memory.give_back(bo.address);
                Ok(())
            }
            (Place::Shared(..), _) => self.memory.uncover(bo.address, bo.size),
            // New BOs are zero, and free ranges take no memory of the host.
            (Place::Own, Some(file)) => punch(file, bo.range()),
            (Place::Own, None) => Ok(()),
        };
        if let Err(e) = freed {
            log::warn!("memory of a BO is not given back: {e}");
        }
        true
    }

    /// Bytes of all BOs that were created in `domain`.
    pub fn usage(&self, domain: u32) -> u64 {
        let table = self.table();
        let of_domain = table.bos.values().filter(|bo| bo.domain & domain != 0);
        of_domain.map(|bo| bo.size).sum()
    }
}

/// By what a file is found again.
fn identity(file: &File) -> io::Result<Place> {
    let metadata = file.metadata()?;
    Ok(Place::Shared(metadata.dev(), metadata.ino()))
}

/// The errno of a failure to make or map a file.
fn errno(e: &io::Error) -> i32 {
    e.raw_os_error().unwrap_or(libc::EINVAL)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::space;
    use r7xx_board::chip::memory::Mapping;
    use std::os::fd::AsFd;
    use std::os::unix::fs::FileExt;

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
        assert!(bos.close(first));
        assert!(!bos.close(first));
        let second = bos.create(PAGE, PAGE, 4).unwrap();
        assert_ne!(first, second);
        assert_eq!(bos.get(second).unwrap().address, address);
        let mut b = [1; 16];
        bos.memory.read(address, &mut b).unwrap();
        assert_eq!(b, [0; 16]);
    }

    /// What this process sees at a place of a mapping.
    fn seen(mapping: &Mapping, at: u64) -> u8 {
        let mut byte = [0];
        mapping.read(at, &mut byte).unwrap();
        byte[0]
    }

    #[test]
    fn an_exported_bo_moves_into_its_file_with_all_mappings() {
        let bos = bos();
        let neighbour = bos.create(PAGE, PAGE, 4).unwrap();
        let handle = bos.create(2 * PAGE, PAGE, 4).unwrap();
        let bo = bos.get(handle).unwrap();
        bos.memory.write(bo.address + PAGE, &[7]).unwrap();
        // A mapping of the program, with the page before.
        let own = bos.memory.file().unwrap().try_clone().unwrap();
        let mapping = Mapping::from_file(own, bo.address - PAGE, 3 * PAGE, true).unwrap();
        let file = bos.export(handle).unwrap();
        let other = Mapping::from_file(file.try_clone().unwrap(), 0, 2 * PAGE, true).unwrap();
        assert_eq!((seen(&other, PAGE), seen(&mapping, 2 * PAGE)), (7, 7));
        // The GPU, the program's mapping and the file are one memory.
        bos.memory.write(bo.address, &[8]).unwrap();
        mapping.write(2 * PAGE, &[9]).unwrap();
        assert_eq!((seen(&other, 0), seen(&other, PAGE)), (8, 9));
        other.write(1, &[10]).unwrap();
        assert_eq!(seen(&mapping, PAGE + 1), 10);
        let mut b = [0];
        bos.memory.read(bo.address + PAGE, &mut b).unwrap();
        assert_eq!(b, [9]);
        // The page before is not part of it.
        mapping.write(0, &[3]).unwrap();
        bos.memory
            .read(bos.get(neighbour).unwrap().address, &mut b)
            .unwrap();
        assert_eq!(b, [3]);
        // It is exported once, and has one handle.
        let again = bos.export(handle).unwrap();
        assert_eq!(
            again.metadata().unwrap().ino(),
            file.metadata().unwrap().ino()
        );
        assert_eq!(bos.import(file.as_fd()), Ok(handle));
        let (found, offset) = bos.file_at(bo.address + PAGE).unwrap();
        assert_eq!(
            (identity(&found).unwrap(), offset),
            (identity(&file).unwrap(), PAGE)
        );
        assert!(
            bos.file_at(bo.address - 1).is_none() && bos.file_at(bo.address + 2 * PAGE).is_none()
        );
        // Closed, it gives its range back, and is found again by its file.
        assert!(bos.close(handle) && !bos.close(handle));
        bos.memory.read(bo.address, &mut b).unwrap();
        assert_eq!(b, [0]);
        assert_eq!(seen(&other, 0), 8);
        let handle = bos.import(file.as_fd()).unwrap();
        bos.memory
            .read(bos.get(handle).unwrap().address, &mut b)
            .unwrap();
        assert_eq!(b, [8]);
    }

    #[test]
    fn another_device_imports_memory_and_tiling() {
        let (first, second) = (bos(), bos());
        let handle = first.create(3 * PAGE, PAGE, 2).unwrap();
        assert!(first.set_tiling(handle, 5, 256));
        let file = first.export(handle).unwrap();
        // Another range than the first device's.
        second.create(PAGE, PAGE, 4).unwrap();
        let there = second.import(file.as_fd()).unwrap();
        let (bo, imported) = (first.get(handle).unwrap(), second.get(there).unwrap());
        assert_eq!((imported.tiling_flags, imported.pitch), (5, 256));
        assert_eq!((imported.size, imported.domain), (bo.size, 2));
        second.memory.write(imported.address + PAGE, &[6]).unwrap();
        let mut b = [0];
        first.memory.read(bo.address + PAGE, &mut b).unwrap();
        assert_eq!(b, [6]);
        assert!(first.close(handle));
        second.memory.read(imported.address + PAGE, &mut b).unwrap();
        assert_eq!(b, [6]);
        // No file of a BO.
        let exe = File::open("/proc/self/exe").unwrap();
        assert_eq!(second.import(exe.as_fd()), Err(libc::EINVAL));
    }

    #[test]
    fn a_capture_has_what_another_process_wrote() {
        let bos = Bos::new(Arc::new(Memory::of_program(true).unwrap()));
        let handle = bos.create(2 * PAGE, PAGE, 4).unwrap();
        let bo = bos.get(handle).unwrap();
        bos.memory.write(bo.address, &[1]).unwrap();
        bos.memory.begin_snapshot().unwrap();
        bos.memory.end_snapshot().unwrap();
        let file = bos.export(handle).unwrap();
        assert_eq!(
            bos.memory.begin_snapshot().unwrap(),
            [],
            "nothing but the place changes"
        );
        bos.memory.end_snapshot().unwrap();
        file.write_all_at(&[4], PAGE).unwrap();
        let changes = bos.memory.begin_snapshot().unwrap();
        let addresses: Vec<u64> = changes.iter().map(|change| change.address).collect();
        assert_eq!(addresses, [bo.address + PAGE]);
        bos.memory.write(bo.address, &[2]).unwrap();
        assert_eq!(bos.memory.end_snapshot().unwrap().len(), 1);
        let mut b = [0];
        file.read_exact_at(&mut b, 0).unwrap();
        assert_eq!(b, [2]);
    }

    #[test]
    fn the_programs_memory_is_a_bo_until_it_is_closed() {
        let bos = Bos::new(Arc::new(Memory::of_program(false).unwrap()));
        let bytes = vec![7u8; 3 * PAGE as usize];
        let start = (bytes.as_ptr() as u64).next_multiple_of(PAGE);
        let [first, second] = [0; 2].map(|_| bos.borrow(start, 2 * PAGE, true).unwrap());
        let [one, two] = [first, second].map(|handle| bos.get(handle).unwrap());
        assert!(one.address >= USER && one.range().end <= two.address);
        bos.memory.write(one.address + 3, &[9]).unwrap();
        let mut b = [0; 2];
        bos.memory.read(two.address + 2, &mut b).unwrap();
        assert_eq!(b, [7, 9]);
        assert_eq!(bos.export(first).unwrap_err(), libc::EPERM);
        assert!(bos.close(first) && bos.memory.read(one.address, &mut b).is_err());
        bos.memory.read(two.address + 2, &mut b).unwrap();
        assert_eq!(bos.borrow(start, USER_SIZE, true), Err(libc::ENOMEM));
        drop(bytes);
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
