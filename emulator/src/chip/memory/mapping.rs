// SPDX-License-Identifier: MIT
//! Shared memory, mapped once and accessed with bounds checks.
//!
//! The guest's CPUs may change the bytes at any time, so the only references
//! into a mapping are to atomic integers; all other data is copied.
//!
//! A mapping never extends beyond its file: an access past the end of the file
//! would raise SIGBUS.

use std::fmt;
use std::fs::File;
use std::io;
use std::sync::atomic::{AtomicU32, Ordering};

use rustix::fs::{fcntl_add_seals, ftruncate, memfd_create, MemfdFlags, SealFlags};
use rustix::mm::{MapFlags, ProtFlags};
use vm_memory::{Bytes, FileOffset, MmapRegion, VolatileMemory};

/// Bytes that [`Mapping::prefetch`] fetches at a time.
const CACHE_LINE: usize = 64;

/// Why memory could not be created, mapped or accessed.
#[derive(Debug)]
pub enum MemoryError {
    /// The memory file could not be created or sized.
    Create(io::Error),
    /// The file's size could not be read.
    Stat(io::Error),
    /// The wanted range ends beyond the end of the file.
    BeyondFile {
        /// First byte after the wanted range.
        end: u64,
        /// Size of the file in bytes.
        file: u64,
    },
    /// The kernel refused the mapping.
    Map(String),
    /// An access is not entirely inside the mapping.
    OutOfBounds {
        /// Offset of the access in bytes.
        offset: u64,
        /// Length of the access in bytes.
        len: usize,
    },
    /// A write to memory the client shared read-only.
    ReadOnly,
}

impl fmt::Display for MemoryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Create(e) => write!(f, "cannot create shared memory: {e}"),
            Self::Stat(e) => write!(f, "cannot size a shared memory file: {e}"),
            Self::BeyondFile { end, file } => {
                write!(f, "mapping ends at {end:#x}, its file at {file:#x}")
            }
            Self::Map(e) => write!(f, "cannot map shared memory: {e}"),
            Self::OutOfBounds { offset, len } => {
                write!(f, "{len} bytes at {offset:#x} are out of bounds")
            }
            Self::ReadOnly => write!(f, "memory is shared read-only"),
        }
    }
}

impl std::error::Error for MemoryError {}

/// A piece of a file, mapped shared into this process.
#[derive(Debug)]
pub struct Mapping {
    region: MmapRegion<()>,
    writable: bool,
}

impl Mapping {
    /// Creates `size` bytes of zeroed shared memory named `name` (shown in
    /// `/proc/PID/maps`) and maps all of it.
    pub fn create(name: &str, size: u64) -> Result<Self, MemoryError> {
        let failed = |e| MemoryError::Create(io::Error::from(e));
        let fd =
            memfd_create(name, MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING).map_err(failed)?;
        ftruncate(&fd, size).map_err(failed)?;
        // The client gets the file and must not shrink it under the mapping.
        let seals = SealFlags::SHRINK | SealFlags::GROW | SealFlags::SEAL;
        fcntl_add_seals(&fd, seals).map_err(failed)?;
        Self::from_file(File::from(fd), 0, size, true)
    }

    /// Maps `size` bytes of `file` from byte `offset` on, which must be a
    /// multiple of the host's page size.
    ///
    /// Fails if the range reaches beyond the file.
    pub fn from_file(
        file: File,
        offset: u64,
        size: u64,
        writable: bool,
    ) -> Result<Self, MemoryError> {
        let file_size = file.metadata().map_err(MemoryError::Stat)?.len();
        let end = offset.saturating_add(size);
        if end > file_size {
            return Err(MemoryError::BeyondFile {
                end,
                file: file_size,
            });
        }
        let len =
            usize::try_from(size).map_err(|_| MemoryError::Map("size too large".to_string()))?;
        let mut prot = ProtFlags::READ;
        if writable {
            prot |= ProtFlags::WRITE;
        }
        let flags = MapFlags::SHARED | MapFlags::NORESERVE;
        let region = MmapRegion::build(
            Some(FileOffset::new(file, offset)),
            len,
            prot.bits() as i32,
            flags.bits() as i32,
        )
        .map_err(|e| MemoryError::Map(e.to_string()))?;
        Ok(Self { region, writable })
    }

    /// Size in bytes.
    pub fn size(&self) -> u64 {
        self.region.size() as u64
    }

    /// The file behind the mapping, for passing on to the client.
    pub fn file(&self) -> Option<&File> {
        self.region.file_offset().map(|f| f.file())
    }

    /// Where it begins in this process, for system calls.
    pub fn as_ptr(&self) -> *mut u8 {
        self.region.as_ptr()
    }

    fn start(&self, offset: u64, len: usize) -> Result<usize, MemoryError> {
        let fits = offset
            .checked_add(len as u64)
            .is_some_and(|end| end <= self.size());
        if fits {
            // Below `size()`, which is a usize.
            Ok(offset as usize)
        } else {
            Err(MemoryError::OutOfBounds { offset, len })
        }
    }

    /// Copies `buf.len()` bytes at `offset` into `buf`.
    pub fn read(&self, offset: u64, buf: &mut [u8]) -> Result<(), MemoryError> {
        let len = buf.len();
        let start = self.start(offset, len)?;
        if len == 0 {
            return Ok(());
        }
        self.region
            .as_volatile_slice()
            .read_slice(buf, start)
            .map_err(|_| MemoryError::OutOfBounds { offset, len })
    }

    /// Copies `buf` to `offset`.
    pub fn write(&self, offset: u64, buf: &[u8]) -> Result<(), MemoryError> {
        let len = buf.len();
        let start = self.start(offset, len)?;
        if !self.writable {
            return Err(MemoryError::ReadOnly);
        }
        if len == 0 {
            return Ok(());
        }
        self.region
            .as_volatile_slice()
            .write_slice(buf, start)
            .map_err(|_| MemoryError::OutOfBounds { offset, len })
    }

    /// Copies `len` bytes from offset `from` to offset `to`; the ranges may overlap.
    pub fn copy(&self, from: u64, to: u64, len: usize) -> Result<(), MemoryError> {
        let [start, target] = [self.start(from, len)?, self.start(to, len)?];
        if !self.writable {
            return Err(MemoryError::ReadOnly);
        }
        let all = self.region.as_volatile_slice();
        let part = |offset: usize| {
            all.subslice(offset, len)
                .map_err(|_| MemoryError::OutOfBounds {
                    offset: offset as u64,
                    len,
                })
        };
        part(start)?.copy_to_volatile_slice(part(target)?);
        Ok(())
    }

    /// Prefetches `len` bytes at `offset` into the host CPU's caches.
    #[inline]
    #[allow(unsafe_code)]
    pub fn prefetch(&self, offset: u64, len: usize) -> Result<(), MemoryError> {
        let start = self.start(offset, len)?;
        for at in (0..len).step_by(CACHE_LINE) {
            let line = self.region.as_ptr().wrapping_add(start + at);
            #[cfg(target_arch = "x86_64")]
            // SAFETY: a prefetch is a hint: at any address it neither faults nor
            // changes anything that the program sees.
            unsafe {
                use std::arch::x86_64::{_mm_prefetch, _MM_HINT_T0};
                _mm_prefetch::<_MM_HINT_T0>(line.cast_const().cast());
            }
            #[cfg(not(target_arch = "x86_64"))]
            let _ = line;
        }
        Ok(())
    }

    fn dword(&self, offset: u64) -> Result<&AtomicU32, MemoryError> {
        let err = || MemoryError::OutOfBounds { offset, len: 4 };
        let start = self.start(offset, 4)?;
        self.region.get_atomic_ref(start).map_err(|_| err())
    }

    /// Reads the aligned little-endian dword at `offset` in one access with
    /// acquire ordering.
    pub fn load_u32(&self, offset: u64) -> Result<u32, MemoryError> {
        Ok(u32::from_le(self.dword(offset)?.load(Ordering::Acquire)))
    }

    /// Writes the aligned little-endian dword at `offset` in one access with
    /// release ordering.
    pub fn store_u32(&self, offset: u64, value: u32) -> Result<(), MemoryError> {
        if !self.writable {
            return Err(MemoryError::ReadOnly);
        }
        self.dword(offset)?.store(value.to_le(), Ordering::Release);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn create_is_zeroed_and_keeps_bytes() {
        let m = Mapping::create("test", 8192).unwrap();
        let mut b = [0xff; 16];
        m.read(4090, &mut b).unwrap();
        assert_eq!(b, [0; 16]);
        m.write(4090, &[7; 16]).unwrap();
        m.read(4090, &mut b).unwrap();
        assert_eq!(b, [7; 16]);
    }

    #[test]
    fn size_of_a_created_file_is_sealed() {
        let m = Mapping::create("test", 8192).unwrap();
        let file = m.file().unwrap();
        assert!(file.set_len(4096).is_err());
        assert!(file.set_len(16384).is_err());
        m.write(8191, &[1]).unwrap();
    }

    #[test]
    fn access_beyond_end_is_refused() {
        let m = Mapping::create("test", 4096).unwrap();
        assert!(m.read(4093, &mut [0; 4]).is_err());
        assert!(m.write(u64::MAX, &[0; 1]).is_err());
        assert!(m.write(u64::MAX - 1, &[0; 4]).is_err());
        assert!(m.load_u32(4096).is_err());
        assert!(m.load_u32(2).is_err(), "misaligned");
        m.write(4096, &[]).unwrap();
    }

    #[test]
    fn copies_stay_inside() {
        let m = Mapping::create("test", 4096).unwrap();
        m.write(8, &[1, 2, 3, 4, 5]).unwrap();
        m.copy(8, 4091, 5).unwrap();
        let mut b = [0; 6];
        m.read(4090, &mut b).unwrap();
        assert_eq!(b, [0, 1, 2, 3, 4, 5]);
        assert!(m.copy(8, 4092, 5).is_err());
        assert!(m.copy(4092, 8, 5).is_err());
        assert!(m.copy(u64::MAX, 0, 2).is_err());
        m.copy(4096, 0, 0).unwrap();
    }

    #[test]
    fn prefetch_stays_inside_and_changes_nothing() {
        let m = Mapping::create("test", 4096).unwrap();
        m.write(0, &[7; 4096]).unwrap();
        for (offset, len) in [(0, 256), (3, 4093), (4096, 0)] {
            m.prefetch(offset, len).unwrap();
        }
        for (offset, len) in [(4000, 256), (u64::MAX, 1), (4096, 1)] {
            assert!(m.prefetch(offset, len).is_err());
        }
        let mut b = [0; 4096];
        m.read(0, &mut b).unwrap();
        assert_eq!(b, [7; 4096]);
    }

    #[test]
    fn dwords_are_little_endian() {
        let m = Mapping::create("test", 4096).unwrap();
        m.store_u32(8, 0x1122_3344).unwrap();
        let mut b = [0; 4];
        m.read(8, &mut b).unwrap();
        assert_eq!(b, [0x44, 0x33, 0x22, 0x11]);
        assert_eq!(m.load_u32(8).unwrap(), 0x1122_3344);
    }

    #[test]
    fn mapping_beyond_file_is_refused() {
        let m = Mapping::create("test", 8192).unwrap();
        let file = || m.file().unwrap().try_clone().unwrap();
        assert!(matches!(
            Mapping::from_file(file(), 4096, 8192, true),
            Err(MemoryError::BeyondFile {
                end: 12288,
                file: 8192
            })
        ));
        assert!(Mapping::from_file(file(), u64::MAX, 4096, true).is_err());
    }

    #[test]
    fn read_only_mapping_refuses_writes() {
        let m = Mapping::create("test", 4096).unwrap();
        m.store_u32(0, 5).unwrap();
        let ro = Mapping::from_file(m.file().unwrap().try_clone().unwrap(), 0, 4096, false);
        let ro = ro.unwrap();
        assert_eq!(ro.load_u32(0).unwrap(), 5);
        assert!(matches!(ro.write(0, &[1]), Err(MemoryError::ReadOnly)));
        assert!(matches!(ro.store_u32(0, 1), Err(MemoryError::ReadOnly)));
    }
}
