// SPDX-License-Identifier: MIT
//! The memory of the device: one memory file, which the program maps, too.
//!
//! ```text
//!   0        RESERVED                    TABLE            USER
//!   driver   BOs, exported ones mapped   address space's  BOs of the program's own memory,
//!            over the file ([`share`])   table ([`space`])   by /proc/self/mem
//! ```
//!
//! While a captured submission is executed, the GPU reads a snapshot: the program, or Mesa's other
//! thread, may write to memory meanwhile, and a replay has to read what the GPU has read. What the GPU
//! writes goes to both, so that the snapshot always is what a replay has in its memory.
//!
//! [`share`]: crate::share
//! [`space`]: crate::space

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use r7xx_board::chip::bus::{Extent, Mc, McError};
use r7xx_board::chip::memory::{Mapping, MemoryError};
use rustix::fs::{fallocate, seek, FallocateFlags, SeekFrom};

use crate::share;
use crate::space::{self, Space};

/// Granularity of BOs in bytes, the GPU's page.
pub const PAGE: u64 = 4096;
/// Bytes of video memory, as GEM_INFO reports them.
pub const VRAM: u64 = 1 << 30;
/// Bytes of GTT.
pub const GTT: u64 = 1 << 30;
/// Bytes of the driver's own memory (rings, fences, IBs), which is below the BOs.
pub const RESERVED: u64 = 32 << 20;
/// MC address of the first BO that is the program's own memory.
pub const USER: u64 = space::TABLE + space::TABLE_SIZE;
/// Bytes for such BOs.
pub const USER_SIZE: u64 = 1 << 30;
/// End of all memory.
pub const END: u64 = USER + USER_SIZE;

/// Pages that are compared at a time.
const CHUNK: usize = 64;

/// Contents of a page.
pub type Page = [u8; PAGE as usize];

/// A page that somebody has changed. `None` stands for zeroes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// MC address of the page.
    pub address: u64,
    /// Its contents before.
    pub old: Option<Box<Page>>,
    /// Its contents now.
    pub new: Option<Box<Page>>,
}

/// A page's contents; `None` for zeroes.
fn page(bytes: &[u8]) -> Option<Box<Page>> {
    if bytes.iter().all(|&byte| byte == 0) {
        return None;
    }
    let mut page = Box::new([0; PAGE as usize]);
    page.copy_from_slice(bytes);
    Some(page)
}

/// Memory as the last captured submission has left it, and as it was when the current one began.
struct Snapshot {
    mapping: Mapping,
    /// A captured submission is being executed.
    active: AtomicBool,
    /// A bit for each page that the GPU has written during the submission.
    written: Vec<AtomicU64>,
    /// What these pages had before.
    old: Mutex<BTreeMap<u64, Box<Page>>>,
}

impl Snapshot {
    fn new() -> Result<Self, MemoryError> {
        Ok(Self {
            mapping: Mapping::create("r7xx-snapshot", END)?,
            active: AtomicBool::new(false),
            written: (0..END / PAGE / 64).map(|_| AtomicU64::new(0)).collect(),
            old: Mutex::default(),
        })
    }

    fn file(&self) -> io::Result<&File> {
        self.mapping.file().ok_or(io::ErrorKind::NotFound.into())
    }

    /// Keeps the contents of the pages that the GPU is going to write, if it has not yet written there.
    fn keep(&self, place: u64, len: u64) -> io::Result<()> {
        let end = place.checked_add(len).filter(|end| *end <= END);
        let end = end.ok_or(io::ErrorKind::InvalidInput)?;
        for page in place / PAGE..end.div_ceil(PAGE) {
            let (word, bit) = (&self.written[(page / 64) as usize], 1 << (page % 64));
            if word.load(Ordering::Acquire) & bit != 0 {
                continue;
            }
            let mut kept = self.old.lock().unwrap_or_else(PoisonError::into_inner);
            // Another thread may have been faster, and may have written.
            if word.load(Ordering::Acquire) & bit == 0 {
                let mut contents = Box::new([0; PAGE as usize]);
                self.file()?.read_exact_at(&mut contents[..], page * PAGE)?;
                kept.insert(page * PAGE, contents);
                word.fetch_or(bit, Ordering::Release);
            }
        }
        Ok(())
    }

    /// Makes `range` what `read` reads of it, and appends the pages that differed.
    fn update(
        &self,
        range: Range<u64>,
        read: &dyn Fn(u64, &mut [u8]) -> io::Result<()>,
        changes: &mut Vec<Change>,
    ) -> io::Result<()> {
        let size = CHUNK * PAGE as usize;
        let (mut now, mut was) = (vec![0; size], vec![0; size]);
        for at in range.clone().step_by(size) {
            let len = (range.end - at).min(size as u64) as usize;
            let (now, was) = (&mut now[..len], &mut was[..len]);
            read(at, now)?;
            self.file()?.read_exact_at(was, at)?;
            let pages = (now.chunks(PAGE as usize)).zip(was.chunks(PAGE as usize));
            for (address, (now, was)) in (at..).step_by(PAGE as usize).zip(pages) {
                if now == was {
                    continue;
                }
                self.file()?.write_all_at(now, address)?;
                changes.push(Change {
                    address,
                    old: page(was),
                    new: page(now),
                });
            }
        }
        Ok(())
    }

    /// Makes `range` zeroes, which take no memory, and appends the pages that were not.
    fn clear(&self, range: Range<u64>, changes: &mut Vec<Change>) -> io::Result<()> {
        let mut was = [0; PAGE as usize];
        for address in range.clone().step_by(PAGE as usize) {
            self.file()?.read_exact_at(&mut was, address)?;
            if let Some(old) = page(&was) {
                changes.push(Change {
                    address,
                    old: Some(old),
                    new: None,
                });
            }
        }
        punch(self.file()?, range)
    }
}

/// Has a range of a file take no memory and read as zeroes.
pub(crate) fn punch(file: &File, range: Range<u64>) -> io::Result<()> {
    let flags = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
    fallocate(file, flags, range.start, range.end - range.start).map_err(io::Error::from)
}

/// The first byte from `at` on that a file has data for, at most `end`.
fn data(file: &File, at: u64, end: u64) -> io::Result<u64> {
    match seek(file, SeekFrom::Data(at)) {
        Ok(start) => Ok(start.min(end)),
        Err(rustix::io::Errno::NXIO) => Ok(end),
        Err(e) => Err(e.into()),
    }
}

/// Memory of the program that is a BO.
#[derive(Debug, Clone, Copy)]
struct Borrowed {
    size: u64,
    /// Its address in the program.
    address: u64,
    writable: bool,
}

/// The program's own memory, by the addresses of the BOs that stand for it.
struct User {
    /// `/proc/self/mem`: an access to an address that the program does not have is an error there, and
    /// no crash.
    memory: File,
    ranges: RwLock<BTreeMap<u64, Borrowed>>,
}

impl User {
    /// The address in the program of `len` bytes at `place`.
    fn address(&self, place: u64, len: u64, write: bool) -> Option<u64> {
        let ranges = self.ranges.read().unwrap_or_else(PoisonError::into_inner);
        let (start, range) = ranges.range(..=place).next_back()?;
        let inside = place.checked_add(len)? <= start + range.size;
        (inside && (range.writable || !write)).then(|| range.address + (place - start))
    }
}

/// All places to which an MC address can lead.
pub(crate) struct Places {
    shared: Mapping,
    snapshot: Option<Snapshot>,
    user: Option<User>,
    /// Ranges over which exported BOs are mapped: start and end.
    overlaid: Mutex<BTreeMap<u64, u64>>,
}

impl Places {
    /// The snapshot, if the GPU has to use it.
    fn active(&self, place: u64) -> Option<&Snapshot> {
        let snapshot = self.snapshot.as_ref()?;
        // The driver's memory belongs to no capture.
        (place >= RESERVED && snapshot.active.load(Ordering::Acquire)).then_some(snapshot)
    }

    pub(crate) fn read(&self, place: u64, buf: &mut [u8]) -> Result<(), McError> {
        let from = match self.active(place) {
            Some(snapshot) => &snapshot.mapping,
            None => &self.shared,
        };
        match from.read(place, buf) {
            Ok(()) => Ok(()),
            Err(_) => self.read_user(place, buf),
        }
    }

    pub(crate) fn write(&self, place: u64, buf: &[u8]) -> Result<(), McError> {
        if let Some(snapshot) = self.active(place) {
            let kept = snapshot.keep(place, buf.len() as u64);
            kept.map_err(|_| McError::Unmapped(place))?;
            let written = snapshot.mapping.write(place, buf);
            written.map_err(|_| McError::Unmapped(place))?;
        }
        self.put(place, buf)
    }

    /// Writes as the program does: not to the snapshot.
    fn put(&self, place: u64, buf: &[u8]) -> Result<(), McError> {
        match self.shared.write(place, buf) {
            Ok(()) => Ok(()),
            Err(_) => self.write_user(place, buf),
        }
    }

    #[cold]
    fn read_user(&self, place: u64, buf: &mut [u8]) -> Result<(), McError> {
        let unmapped = McError::Unmapped(place);
        let user = self.user.as_ref().ok_or(unmapped)?;
        let address = user.address(place, buf.len() as u64, false);
        let address = address.ok_or(unmapped)?;
        let read = user.memory.read_exact_at(buf, address);
        read.map_err(|_| unmapped)
    }

    #[cold]
    fn write_user(&self, place: u64, buf: &[u8]) -> Result<(), McError> {
        let unmapped = McError::Unmapped(place);
        let user = self.user.as_ref().ok_or(unmapped)?;
        let address = user.address(place, buf.len() as u64, true);
        let address = address.ok_or(unmapped)?;
        let written = user.memory.write_all_at(buf, address);
        written.map_err(|_| unmapped)
    }

    pub(crate) fn prefetch(&self, place: u64, len: usize) {
        // The access itself reports an invalid place.
        let _ = self.shared.prefetch(place, len);
    }

    /// The extent that has MC address `address`.
    fn extent(&self, address: u64) -> Option<Extent> {
        let whole = |start, len| Extent {
            start,
            len,
            place: start,
        };
        if address < self.shared.size() {
            return Some(whole(0, self.shared.size()));
        }
        let ranges = &self.user.as_ref()?.ranges;
        let ranges = ranges.read().unwrap_or_else(PoisonError::into_inner);
        let (start, range) = ranges.range(..=address).next_back()?;
        (address - start < range.size).then(|| whole(*start, range.size))
    }

    /// Makes the snapshot what memory is; returns the pages that differed.
    fn update(&self, snapshot: &Snapshot) -> io::Result<Vec<Change>> {
        let file = self.shared.file().ok_or(io::ErrorKind::NotFound)?;
        let mut changes = Vec::new();
        let overlaid: Vec<Range<u64>> = {
            let overlaid = self.overlaid.lock().unwrap_or_else(PoisonError::into_inner);
            overlaid.iter().map(|(start, end)| *start..*end).collect()
        };
        let mut at = RESERVED;
        for part in overlaid.iter().cloned().chain(std::iter::once(USER..USER)) {
            self.update_files(snapshot, file, at..part.start, &mut changes)?;
            at = part.end;
        }
        for part in overlaid {
            let read = |at, buf: &mut [u8]| self.shared.read(at, buf).map_err(io::Error::other);
            snapshot.update(part, &read, &mut changes)?;
        }
        if let Some(user) = &self.user {
            let ranges = user.ranges.read().unwrap_or_else(PoisonError::into_inner);
            for (start, range) in ranges.iter() {
                let read = |at: u64, buf: &mut [u8]| {
                    let read = user.memory.read_exact_at(buf, range.address + (at - start));
                    if read.is_err() {
                        // The program has not got it any more; the GPU would fault there.
                        buf.fill(0);
                    }
                    Ok(())
                };
                snapshot.update(*start..start + range.size, &read, &mut changes)?;
            }
        }
        Ok(changes)
    }

    /// As [`Self::update`], for a range without mappings of other files. Looks only at those parts of
    /// the files that have data: reading a hole through a mapping would allocate memory for it.
    fn update_files(
        &self,
        snapshot: &Snapshot,
        file: &File,
        range: Range<u64>,
        changes: &mut Vec<Change>,
    ) -> io::Result<()> {
        let end = range.end;
        let mut at = range.start;
        while at < end {
            let starts = [data(file, at, end)?, data(snapshot.file()?, at, end)?];
            let start = starts[0].min(starts[1]);
            if start == end {
                break;
            }
            // Until there, each of them has either data or none.
            let mut stop = end;
            for (file, data) in [file, snapshot.file()?].into_iter().zip(starts) {
                stop = stop.min(match data == start {
                    true => seek(file, SeekFrom::Hole(start))?,
                    false => data,
                });
            }
            if starts[0] == start {
                let read = |at, buf: &mut [u8]| file.read_exact_at(buf, at);
                snapshot.update(start..stop, &read, changes)?;
            } else {
                snapshot.clear(start..stop, changes)?;
            }
            at = stop;
        }
        Ok(())
    }
}

/// Flat memory at MC address 0, with an address space of a VM context on top ([`space`]).
pub struct Memory(Arc<Places>);

impl Memory {
    /// Creates memory of which all is in one file, all zeroes: a replay's.
    ///
    /// # Errors
    /// As [`Mapping::create`].
    pub fn new() -> Result<Self, MemoryError> {
        Self::create(END, None, None)
    }

    /// Creates the memory of a program, all zeroes; with a snapshot if `captured`.
    ///
    /// # Errors
    /// As [`Mapping::create`].
    pub fn of_program(captured: bool) -> Result<Self, MemoryError> {
        let snapshot = captured.then(Snapshot::new).transpose()?;
        let memory = File::options()
            .read(true)
            .write(true)
            .open("/proc/self/mem");
        // Without it no memory of the program's can be a BO.
        let user = memory.ok().map(|memory| User {
            memory,
            ranges: RwLock::default(),
        });
        Self::create(USER, snapshot, user)
    }

    fn create(
        size: u64,
        snapshot: Option<Snapshot>,
        user: Option<User>,
    ) -> Result<Self, MemoryError> {
        Ok(Self(Arc::new(Places {
            shared: Mapping::create("r7xx-shim", size)?,
            snapshot,
            user,
            overlaid: Mutex::default(),
        })))
    }

    /// The memory file.
    pub fn file(&self) -> Option<&File> {
        self.0.shared.file()
    }

    /// Writes as the program does: a submission that is being captured does not see it.
    ///
    /// # Errors
    /// If there is no such memory.
    pub fn put(&self, address: u64, bytes: &[u8]) -> Result<(), McError> {
        self.0.put(address, bytes)
    }

    /// Before a captured submission: makes the snapshot what memory is, and has the GPU use it. Returns
    /// the pages that have changed since the last captured submission.
    ///
    /// # Errors
    /// Those of reading and writing the files; without a snapshot `NotFound`.
    pub fn begin_snapshot(&self) -> io::Result<Vec<Change>> {
        let snapshot = self.0.snapshot.as_ref().ok_or(io::ErrorKind::NotFound)?;
        let changes = self.0.update(snapshot)?;
        snapshot.active.store(true, Ordering::Release);
        Ok(changes)
    }

    /// After the submission. Returns the pages that the GPU has changed.
    ///
    /// # Errors
    /// As [`Self::begin_snapshot`].
    pub fn end_snapshot(&self) -> io::Result<Vec<Change>> {
        let snapshot = self.0.snapshot.as_ref().ok_or(io::ErrorKind::NotFound)?;
        snapshot.active.store(false, Ordering::Release);
        let mut old = snapshot.old.lock().unwrap_or_else(PoisonError::into_inner);
        let old = std::mem::take(&mut *old);
        let mut changes = Vec::new();
        for (address, old) in old {
            let number = address / PAGE;
            snapshot.written[(number / 64) as usize]
                .fetch_and(!(1 << (number % 64)), Ordering::AcqRel);
            let mut new = Box::new([0; PAGE as usize]);
            snapshot.file()?.read_exact_at(&mut new[..], address)?;
            if new != old {
                let (old, new) = (page(&old[..]), page(&new[..]));
                changes.push(Change { address, old, new });
            }
        }
        Ok(changes)
    }

    /// All pages of the snapshot that are not zeroes, in their order.
    ///
    /// # Errors
    /// As [`Self::begin_snapshot`], and those of `page`.
    pub fn snapshot(
        &self,
        each: &mut dyn FnMut(u64, Box<Page>) -> io::Result<()>,
    ) -> io::Result<()> {
        let snapshot = self.0.snapshot.as_ref().ok_or(io::ErrorKind::NotFound)?;
        let file = snapshot.file()?;
        let mut at = data(file, RESERVED, END)?;
        while at < END {
            let stop = seek(file, SeekFrom::Hole(at))?;
            let mut contents = [0; PAGE as usize];
            for address in (at..stop).step_by(PAGE as usize) {
                file.read_exact_at(&mut contents, address)?;
                if let Some(page) = page(&contents) {
                    each(address, page)?;
                }
            }
            at = data(file, stop, END)?;
        }
        Ok(())
    }

    /// Has `size` bytes at `address`, at or above [`USER`], be the program's memory at `of`.
    ///
    /// # Errors
    /// `EFAULT` if the program has no such memory, `ENODEV` if it cannot be accessed.
    pub(crate) fn borrow(
        &self,
        address: u64,
        size: u64,
        of: u64,
        writable: bool,
    ) -> Result<(), i32> {
        let user = self.0.user.as_ref().ok_or(libc::ENODEV)?;
        for at in (of..of + size).step_by(PAGE as usize) {
            let read = user.memory.read_exact_at(&mut [0], at);
            read.map_err(|_| libc::EFAULT)?;
        }
        let borrowed = Borrowed {
            size,
            address: of,
            writable,
        };
        let mut ranges = user.ranges.write().unwrap_or_else(PoisonError::into_inner);
        ranges.insert(address, borrowed);
        Ok(())
    }

    /// The opposite of [`Self::borrow`].
    pub(crate) fn give_back(&self, address: u64) {
        if let Some(user) = &self.0.user {
            let mut ranges = user.ranges.write().unwrap_or_else(PoisonError::into_inner);
            ranges.remove(&address);
        }
    }

    /// Has `size` bytes at `address` be those of another file, from its start, for the GPU.
    ///
    /// # Errors
    /// Those of mapping.
    pub(crate) fn overlay(&self, address: u64, size: u64, file: &File) -> io::Result<()> {
        share::map_over(&self.0.shared, address..address + size, file, 0)?;
        let mut overlaid = (self.0.overlaid.lock()).unwrap_or_else(PoisonError::into_inner);
        overlaid.insert(address, address + size);
        Ok(())
    }

    /// The opposite of [`Self::overlay`]: the bytes are the memory file's again, zeroes.
    ///
    /// # Errors
    /// Those of mapping.
    pub(crate) fn uncover(&self, address: u64, size: u64) -> io::Result<()> {
        if let Some(own) = self.file() {
            share::map_over(&self.0.shared, address..address + size, own, address)?;
        }
        let mut overlaid = (self.0.overlaid.lock()).unwrap_or_else(PoisonError::into_inner);
        overlaid.remove(&address);
        Ok(())
    }
}

impl Mc for Memory {
    fn context(&self, context: u8) -> Option<Arc<dyn Mc>> {
        (context == 1).then(|| Arc::new(Space::new(self.0.clone())) as Arc<dyn Mc>)
    }

    fn read(&self, addr: u64, buf: &mut [u8]) -> Result<(), McError> {
        self.0.read(addr, buf)
    }

    fn write(&self, addr: u64, buf: &[u8]) -> Result<(), McError> {
        self.0.write(addr, buf)
    }

    fn resolve(&self, addr: u64, _write: bool) -> Result<Option<Extent>, McError> {
        let extent = self.0.extent(addr);
        extent.map(Some).ok_or(McError::Unmapped(addr))
    }

    fn read_at(&self, place: u64, buf: &mut [u8]) -> Result<(), McError> {
        self.0.read(place, buf)
    }

    fn prefetch_at(&self, place: u64, len: usize) {
        self.0.prefetch(place, len);
    }

    fn copy_at(&self, from: u64, to: u64, len: u64) -> bool {
        // A snapshot has both sides of its own; a copy in parts gives both.
        self.0.active(from).is_none() && self.0.shared.copy(from, to, len as usize).is_ok()
    }

    fn write_at(&self, place: u64, buf: &[u8]) -> Result<(), McError> {
        self.0.write(place, buf)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const AT: u64 = RESERVED + 8 * PAGE;

    fn byte(memory: &Memory, at: u64) -> u8 {
        let mut byte = [0];
        memory.read(at, &mut byte).unwrap();
        byte[0]
    }

    fn addresses(changes: &[Change]) -> Vec<u64> {
        changes.iter().map(|change| change.address).collect()
    }

    #[test]
    fn the_gpu_reads_what_memory_was_when_its_submission_began() {
        let memory = Memory::of_program(true).unwrap();
        memory.write(AT, &[1, 1, 1]).unwrap();
        let changes = memory.begin_snapshot().unwrap();
        assert_eq!(addresses(&changes), [AT]);
        assert_eq!(changes[0].old, None);
        assert_eq!(changes[0].new.as_ref().map(|page| page[1]), Some(1));
        // The program writes in the same page and in another; the GPU writes in the same page.
        memory.put(AT + 1, &[2]).unwrap();
        memory.put(AT + PAGE, &[2]).unwrap();
        memory.write(AT + 2, &[3]).unwrap();
        memory.write(AT + 2, &[4]).unwrap();
        assert_eq!([0, 1, 2, PAGE].map(|i| byte(&memory, AT + i)), [1, 1, 4, 0]);
        let space = memory.context(1).unwrap();
        memory
            .map(space::START, PAGE, Some(AT), space::READABLE)
            .unwrap();
        space.read(space::START, &mut [0]).unwrap();
        assert!(
            space.take_fault().is_some(),
            "mapped since the submission began"
        );
        // A copy between places reads the snapshot, too.
        assert!(!memory.copy_at(AT, AT + 2 * PAGE, 4));
        let changes = memory.end_snapshot().unwrap();
        assert_eq!(addresses(&changes), [AT]);
        let contents = |page: &Option<Box<Page>>| page.as_ref().map(|page| page[..3].to_vec());
        assert_eq!(contents(&changes[0].old), Some(vec![1, 1, 1]));
        assert_eq!(contents(&changes[0].new), Some(vec![1, 1, 4]));
        // Now the GPU's writes are in memory, and the program's have not been lost.
        assert_eq!([0, 1, 2, PAGE].map(|i| byte(&memory, AT + i)), [1, 2, 4, 2]);
        let changes = memory.begin_snapshot().unwrap();
        assert_eq!(
            addresses(&changes),
            [
                AT,
                AT + PAGE,
                space::TABLE + space::START / PAGE * 4 / PAGE * PAGE
            ]
        );
        assert_eq!(contents(&changes[0].new), Some(vec![1, 2, 4]));
        assert_eq!(memory.end_snapshot().unwrap(), []);
    }

    #[test]
    fn what_the_gpu_writes_back_is_no_change() {
        let memory = Memory::of_program(true).unwrap();
        memory.write(AT, &[5]).unwrap();
        memory.begin_snapshot().unwrap();
        memory.write(AT, &[6]).unwrap();
        memory.write(AT, &[5]).unwrap();
        assert_eq!(memory.end_snapshot().unwrap(), []);
        // The next submission's first write keeps the contents again.
        memory.begin_snapshot().unwrap();
        memory.write(AT, &[7]).unwrap();
        let changes = memory.end_snapshot().unwrap();
        assert_eq!(changes[0].old.as_ref().map(|page| page[0]), Some(5));
        assert!(memory.begin_snapshot().unwrap().is_empty());
    }

    #[test]
    fn holes_and_zeroes_are_changes_as_well() {
        let memory = Memory::of_program(true).unwrap();
        for page in 0..70 {
            memory.write(AT + page * PAGE, &[9; 4096]).unwrap();
        }
        assert_eq!(memory.begin_snapshot().unwrap().len(), 70);
        memory.end_snapshot().unwrap();
        memory.put(AT + 3 * PAGE, &[0; 4096]).unwrap();
        punch(memory.file().unwrap(), AT + 60 * PAGE..AT + 70 * PAGE).unwrap();
        let changes = memory.begin_snapshot().unwrap();
        assert!(changes.iter().all(|change| change.new.is_none()));
        let expected: Vec<u64> = [3]
            .into_iter()
            .chain(60..70)
            .map(|p| AT + p * PAGE)
            .collect();
        assert_eq!(addresses(&changes), expected);
        memory.end_snapshot().unwrap();
        let mut left = 0;
        memory
            .snapshot(&mut |_, _| {
                left += 1;
                Ok(())
            })
            .unwrap();
        assert_eq!(left, 59);
    }

    #[test]
    fn many_threads_that_write_one_page_keep_what_it_had() {
        let memory = Memory::of_program(true).unwrap();
        memory.write(AT, &[1; 4096]).unwrap();
        for round in 0..50 {
            memory.begin_snapshot().unwrap();
            std::thread::scope(|scope| {
                for thread in 0..4u64 {
                    let memory = &memory;
                    scope.spawn(move || {
                        memory.write(AT + thread, &[2 + (round % 2) as u8]).unwrap()
                    });
                }
            });
            let changes = memory.end_snapshot().unwrap();
            let old = changes[0].old.as_ref().unwrap();
            let before = if round == 0 { 1 } else { 3 - (round % 2) as u8 };
            assert_eq!(old[..4], [before; 4], "{round}");
        }
    }

    /// Memory of this program at an address that is a multiple of a page.
    fn own(pages: usize) -> (Vec<u8>, usize) {
        let bytes = vec![7; (pages + 1) * PAGE as usize];
        let skip = bytes.as_ptr().align_offset(PAGE as usize);
        (bytes, skip)
    }

    #[test]
    fn the_programs_memory_is_read_and_written_by_its_bos_address() {
        let memory = Memory::of_program(true).unwrap();
        let (bytes, skip) = own(2);
        let address = bytes[skip..].as_ptr() as u64;
        assert!(memory.read(USER, &mut [0]).is_err());
        memory.borrow(USER, 2 * PAGE, address, true).unwrap();
        assert_eq!(byte(&memory, USER + 2 * PAGE - 1), 7);
        assert!(memory.read(USER + 2 * PAGE - 1, &mut [0; 2]).is_err());
        let extent = memory.resolve(USER + PAGE, true).unwrap().unwrap();
        assert_eq!((extent.start, extent.len), (USER, 2 * PAGE));
        assert!(memory.resolve(USER + 2 * PAGE, false).is_err());
        // A capture has it, too.
        let changes = memory.begin_snapshot().unwrap();
        assert_eq!(addresses(&changes), [USER, USER + PAGE]);
        memory.write(USER + 5, &[8]).unwrap();
        assert_eq!(addresses(&memory.end_snapshot().unwrap()), [USER]);
        assert_eq!(std::hint::black_box(&bytes)[skip + 5], 8);
        assert!(memory.begin_snapshot().unwrap().is_empty());
        memory.end_snapshot().unwrap();
        memory.give_back(USER);
        assert!(memory.write(USER, &[1]).is_err());
        memory.borrow(USER, PAGE, address, false).unwrap();
        assert!(memory.write(USER, &[1]).is_err(), "it may be read only");
        assert_eq!(memory.borrow(USER, PAGE, 4096, true), Err(libc::EFAULT));
    }
}
