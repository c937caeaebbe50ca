// SPDX-License-Identifier: MIT
//! Exported BOs: memory files of their own, so that another process can map them.
//!
//! DRM exports a BO as a dma-buf. Here it is a memory file of the BO's size with a name that tells what an
//! importer has to know, and seals, so that nobody makes it shorter under a mapping. At its first export a BO
//! moves into its file: the file is mapped over the BO's part of the memory file, in the device's mapping and in those that the
//! program has. The program must not write to the BO meanwhile.

use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::os::unix::fs::{FileExt, MetadataExt};

use r7xx_board::chip::memory::Mapping;
use rustix::fs::{fcntl_add_seals, fcntl_get_seals, memfd_create, MemfdFlags, SealFlags};
use rustix::mm::{mmap, MapFlags, ProtFlags};

/// Beginning of the name of a BO's file.
const NAME: &str = "r7xx-bo";

/// What an importer of a BO has to know besides its size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Label {
    /// `RADEON_TILING_*`
    pub tiling_flags: u32,
    /// Pitch in bytes.
    pub pitch: u32,
    /// `RADEON_GEM_DOMAIN_*` at creation.
    pub domain: u32,
}

/// A new file for a BO of `size` bytes.
///
/// # Errors
/// Those of making it.
pub fn create(size: u64, label: Label) -> io::Result<File> {
    let Label {
        tiling_flags,
        pitch,
        domain,
    } = label;
    let name = format!("{NAME} {tiling_flags:x} {pitch:x} {domain:x}");
    let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
    let file = File::from(memfd_create(name, flags)?);
    file.set_len(size)?;
    let seals = SealFlags::SHRINK | SealFlags::GROW | SealFlags::SEAL;
    fcntl_add_seals(&file, seals)?;
    Ok(file)
}

/// The label of a BO's file; `None` for any other file.
pub fn label(fd: BorrowedFd<'_>) -> Option<Label> {
    let name = std::fs::read_link(format!("/proc/self/fd/{}", fd.as_raw_fd())).ok()?;
    let name = name.to_str()?.strip_prefix("/memfd:")?;
    let mut words = name.strip_suffix(" (deleted)")?.split(' ');
    if words.next()? != NAME || !fcntl_get_seals(fd).ok()?.contains(SealFlags::SHRINK) {
        return None;
    }
    let mut number = || u32::from_str_radix(words.next()?, 16).ok();
    Some(Label {
        tiling_flags: number()?,
        pitch: number()?,
        domain: number()?,
    })
}

/// Maps `file` from `offset` on over `range` of `mapping`.
///
/// # Errors
/// If the range is not within the mapping or the file, or the kernel refuses.
pub fn map_over(mapping: &Mapping, range: Range<u64>, file: &File, offset: u64) -> io::Result<()> {
    let len = range.end - range.start;
    let fits = range.end <= mapping.size() && offset + len <= file.metadata()?.len();
    if !fits {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    let at = mapping.as_ptr().wrapping_add(range.start as usize);
    let protection = ProtFlags::READ | ProtFlags::WRITE;
    let flags = MapFlags::SHARED | MapFlags::NORESERVE | MapFlags::FIXED;
    // SAFETY: the range is within the mapping, which lives on. It stays memory that can be read and
    // written: the file is not shorter, and sealed. Mapping has no references into it but to atomics.
    unsafe { mmap(at.cast(), len as usize, protection, flags, file, offset) }?;
    Ok(())
}

/// One of this process's mappings of a file, or the part of one that is looked for.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Part {
    address: usize,
    len: usize,
    /// Offset in the file.
    offset: u64,
    protection: ProtFlags,
}

/// The parts of the mappings in `maps` (`/proc/PID/maps`) of the file with that inode and name which show
/// `range` of the file.
fn parts(maps: &str, inode: u64, name: &str, range: &Range<u64>) -> Vec<Part> {
    let part = |line: &str| {
        let mut words = line.split_whitespace();
        let (addresses, protection) = (words.next()?, words.next()?);
        let offset = u64::from_str_radix(words.next()?, 16).ok()?;
        let (_device, found, path) = (words.next()?, words.next()?, words.next()?);
        let path = path.strip_prefix("/memfd:")?;
        if found.parse() != Ok(inode) || path != name || !protection.contains('s') {
            return None;
        }
        let (start, end) = addresses.split_once('-')?;
        let [start, end] = [start, end].map(|text| u64::from_str_radix(text, 16));
        let (start, end) = (start.ok()?, end.ok()?);
        let first = range.start.max(offset);
        let last = range.end.min(offset + (end - start));
        let bits = [('r', ProtFlags::READ), ('w', ProtFlags::WRITE)];
        (first < last).then(|| Part {
            address: (start + (first - offset)) as usize,
            len: (last - first) as usize,
            offset: first,
            protection: (bits.into_iter())
                .filter(|(letter, _)| protection.contains(*letter))
                .fold(ProtFlags::empty(), |all, (_, bit)| all | bit),
        })
    };
    maps.lines().filter_map(part).collect()
}

/// Has this process's mappings of `range` of the memory file `from` show the file `to` instead, from its start.
///
/// # Errors
/// Those of mapping.
pub fn redirect(from: &File, range: Range<u64>, to: &File) -> io::Result<()> {
    let inode = from.metadata()?.ino();
    let maps = std::fs::read_to_string("/proc/self/maps")?;
    for part in parts(&maps, inode, "r7xx-shim", &range) {
        let flags = MapFlags::SHARED | MapFlags::FIXED;
        let offset = part.offset - range.start;
        let at = part.address as *mut std::ffi::c_void;
        // SAFETY: there is a mapping of the memory file, of that protection; it becomes one of another file
        // with the same bytes, which nobody can make shorter. Who unmaps it meanwhile breaks the rule
        // of the module.
        unsafe { mmap(at, part.len, part.protection, flags, to, offset) }?;
    }
    Ok(())
}

/// Copies the bytes of `range` of the device's memory to the start of a BO's file.
///
/// # Errors
/// Those of writing the file.
pub fn copy(
    read: &dyn Fn(u64, &mut [u8]) -> io::Result<()>,
    range: Range<u64>,
    to: &File,
) -> io::Result<()> {
    let mut bytes = vec![0; 1 << 16];
    for at in range.clone().step_by(1 << 16) {
        let part = &mut bytes[..(range.end - at).min(1 << 16) as usize];
        read(at, part)?;
        if part.iter().any(|byte| *byte != 0) {
            to.write_all_at(part, at - range.start)?;
        }
    }
    Ok(())
}

/// Whether the range of addresses is anonymous memory of the program, of one mapping
/// (`radeon_ttm_tt_pin_userptr()`).
pub fn is_anonymous(range: &Range<u64>) -> bool {
    let Ok(maps) = std::fs::read_to_string("/proc/self/maps") else {
        return false;
    };
    maps.lines().any(|line| {
        let mut words = line.split_whitespace();
        let Some((start, end)) = words.next().and_then(|word| word.split_once('-')) else {
            return false;
        };
        let [start, end] = [start, end].map(|text| u64::from_str_radix(text, 16).unwrap_or(0));
        // A mapping of a file has an inode.
        let anonymous = words.nth(3) == Some("0");
        anonymous && start <= range.start && range.end <= end
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::fd::AsFd;

    #[test]
    fn a_label_is_read_from_the_file_that_has_it() {
        let label_of = Label {
            tiling_flags: 0x1_0003,
            pitch: 256,
            domain: 4,
        };
        let file = create(8192, label_of).unwrap();
        assert_eq!(label(file.as_fd()), Some(label_of));
        assert_eq!(file.metadata().unwrap().len(), 8192);
        assert!(file.set_len(4096).is_err(), "sealed");
        // Not sealed, of another name, and no memory file.
        for name in ["r7xx-bo 0 0 0", "other 0 0 0"] {
            let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
            let other = File::from(memfd_create(name, flags).unwrap());
            assert_eq!(label(other.as_fd()), None, "{name}");
        }
        assert_eq!(label(File::open("/proc/self/exe").unwrap().as_fd()), None);
    }

    #[test]
    fn parts_of_mappings_are_found_where_they_show_the_range() {
        let maps = "7000-9000 rw-s 00002000 00:01 77   /memfd:r7xx-shim (deleted)\n\
            a000-c000 r--s 00000000 00:01 77   /memfd:r7xx-shim (deleted)\n\
            d000-f000 rw-s 00002000 00:01 78   /memfd:r7xx-shim (deleted)\n\
            11000-13000 rw-p 00002000 00:01 77   /memfd:r7xx-shim (deleted)\n\
            20000-21000 rw-p 00000000 00:00 0\n";
        let found = parts(maps, 77, "r7xx-shim", &(0x1000..0x3000));
        let part = |address, offset, protection| Part {
            address,
            len: 0x1000,
            offset,
            protection,
        };
        let both = ProtFlags::READ | ProtFlags::WRITE;
        assert_eq!(
            found,
            [
                part(0x7000, 0x2000, both),
                part(0xB000, 0x1000, ProtFlags::READ)
            ]
        );
    }

    #[test]
    fn only_anonymous_memory_is() {
        let local = vec![0u8; 3 << 20];
        let start = (local.as_ptr() as u64).next_multiple_of(4096);
        assert!(is_anonymous(&(start..start + (1 << 20))));
        assert!(!is_anonymous(&(4096..8192)));
        let file = create(
            4096,
            Label {
                tiling_flags: 0,
                pitch: 0,
                domain: 4,
            },
        )
        .unwrap();
        let mapping = Mapping::from_file(file, 0, 4096, true).unwrap();
        let start = mapping.as_ptr() as u64;
        assert!(!is_anonymous(&(start..start + 4096)));
    }
}
