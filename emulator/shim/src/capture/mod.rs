// SPDX-License-Identifier: MIT
//! Captured command streams: the submissions of a GL program, and the memory
//! that they could access.
//!
//! A capture file is the magic, the chip's name (a byte with its length, then
//! ASCII), and records until its end: a tag byte and its fields, little-endian.
//!
//! | tag | record | fields |
//! |---|---|---|
//! | 1 | register | offset u32, value u32 |
//! | 2 | page | MC address u64, 4096 bytes |
//! | 3 | page of zeroes | MC address u64 |
//! | 4 | submission | ring u8 (bit 0: DMA, bit 1: in the address space), dwords u32, the dwords |
//! | 5 | result | MC address u64 of a page, FNV-1a hash u64 of its contents |
//!
//! Before a submission come the pages that have changed since the previous one, those of the address
//! space's table among them.
//! After it come the hashes of the pages that it changed, by which a replay
//! checks that it drew the same.
//!
//! The program may go on, and write to memory, while a submission waits in Mesa's thread and is executed. A
//! captured submission therefore reads a snapshot ([`memory`](crate::memory)), and what the GPU writes is told from what the
//! program writes: the file has exactly what the GPU has read. What the program writes too late for a submission is
//! in the file before the next one.

mod writer;

use std::fmt;
use std::io::{self, Read, Write};
use std::ops::Range;

use r7xx_board::chip::gfx::STATE_BASE;
use r7xx_board::chip::Family;
use r7xx_board::fnv::fnv1a;

pub use crate::memory::Page;
pub use writer::{Until, Which, Writer};

use crate::gpu::{Ring, IB_MAX};
use crate::memory::{END, PAGE, RESERVED};

const MAGIC: &[u8; 8] = b"r7xxcap1";

/// Registers that a stream may inherit from earlier ones: context state, and
/// resources and constants of shaders (`SET_CONTEXT_REG` to `SET_CTL_CONST` of
/// `r600d.h`).
pub const STATE: Range<u32> = STATE_BASE..0x3_F000;

/// FNV-1a of a page's contents.
pub fn hash(page: &Page) -> u64 {
    fnv1a(page.iter().copied())
}

/// One record of a capture file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Record {
    /// Value of a state register when the capture began.
    Register(u32, u32),
    /// Contents of a page of memory ahead of the next submission.
    Page(u64, Box<Page>),
    /// As `Page`, for a page of zeroes.
    Zero(u64),
    /// A command stream with relocations applied, if it has any.
    Submission(Ring, Vec<u32>),
    /// Hash of a page that the previous submission has changed.
    Result(u64, u64),
}

/// Why a capture file cannot be read.
#[derive(Debug)]
pub enum CaptureError {
    /// The file could not be read.
    Io(io::Error),
    /// It is no capture file, or of another version.
    Magic,
    /// Its chip is not known.
    Chip(String),
    /// An invalid record, and what is wrong with it.
    Corrupt(&'static str),
}

impl fmt::Display for CaptureError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(e) if e.kind() == io::ErrorKind::UnexpectedEof => {
                f.write_str("it ends within a record")
            }
            Self::Io(e) => write!(f, "{e}"),
            Self::Magic => f.write_str("not a capture of r7xx-shim, or one of another version"),
            Self::Chip(name) => write!(f, "of an unknown chip, {name}"),
            Self::Corrupt(what) => write!(f, "corrupt: {what}"),
        }
    }
}

impl From<io::Error> for CaptureError {
    fn from(e: io::Error) -> Self {
        Self::Io(e)
    }
}

impl Record {
    /// Appends it to a file.
    ///
    /// # Errors
    /// Those of writing.
    pub fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        match self {
            Record::Register(offset, value) => {
                out.write_all(&[1])?;
                out.write_all(&offset.to_le_bytes())?;
                out.write_all(&value.to_le_bytes())
            }
            Record::Page(address, page) => {
                out.write_all(&[2])?;
                out.write_all(&address.to_le_bytes())?;
                out.write_all(&page[..])
            }
            Record::Zero(address) => {
                out.write_all(&[3])?;
                out.write_all(&address.to_le_bytes())
            }
            Record::Submission(ring, ib) => {
                out.write_all(&[4, u8::from(ring.dma) | u8::from(ring.vm) << 1])?;
                out.write_all(&(ib.len() as u32).to_le_bytes())?;
                ib.iter().try_for_each(|d| out.write_all(&d.to_le_bytes()))
            }
            Record::Result(address, hash) => {
                out.write_all(&[5])?;
                out.write_all(&address.to_le_bytes())?;
                out.write_all(&hash.to_le_bytes())
            }
        }
    }
}

/// Writes the head of a file: what it is, and its chip.
fn write_head(family: Family, out: &mut dyn Write) -> io::Result<()> {
    let name = family.model().name.as_bytes();
    out.write_all(MAGIC)?;
    out.write_all(&[name.len() as u8])?;
    out.write_all(name)
}

/// Reads a capture file.
pub struct Reader<R> {
    input: R,
    /// The chip that was captured.
    pub family: Family,
}

impl<R: Read> Reader<R> {
    /// Reads the head of a capture.
    ///
    /// # Errors
    /// [`CaptureError`] if it is no capture.
    pub fn new(mut input: R) -> Result<Self, CaptureError> {
        let mut magic = [0; 9];
        input.read_exact(&mut magic).map_err(|e| match e.kind() {
            io::ErrorKind::UnexpectedEof => CaptureError::Magic,
            _ => CaptureError::Io(e),
        })?;
        if magic[..8] != MAGIC[..] {
            return Err(CaptureError::Magic);
        }
        let mut name = vec![0; usize::from(magic[8])];
        input.read_exact(&mut name)?;
        let name = String::from_utf8_lossy(&name).into_owned();
        let family = name.parse().map_err(|_| CaptureError::Chip(name))?;
        Ok(Self { input, family })
    }

    fn bytes<const N: usize>(&mut self) -> io::Result<[u8; N]> {
        let mut bytes = [0; N];
        self.input.read_exact(&mut bytes)?;
        Ok(bytes)
    }

    fn word(&mut self) -> io::Result<u32> {
        Ok(u32::from_le_bytes(self.bytes()?))
    }

    fn page_address(&mut self) -> Result<u64, CaptureError> {
        let address = u64::from_le_bytes(self.bytes()?);
        if address % PAGE != 0 || !(RESERVED..END).contains(&address) {
            return Err(CaptureError::Corrupt("a page outside of the BOs"));
        }
        Ok(address)
    }

    /// The next record; `None` at the end.
    ///
    /// # Errors
    /// [`CaptureError`] for an invalid or truncated record.
    pub fn record(&mut self) -> Result<Option<Record>, CaptureError> {
        let mut tag = [0];
        if self.input.read(&mut tag)? == 0 {
            return Ok(None);
        }
        Ok(Some(match tag[0] {
            1 => {
                let (offset, value) = (self.word()?, self.word()?);
                if !STATE.contains(&offset) || offset % 4 != 0 {
                    return Err(CaptureError::Corrupt("a register outside of the state"));
                }
                Record::Register(offset, value)
            }
            2 => {
                let address = self.page_address()?;
                let mut page = Box::new([0; PAGE as usize]);
                self.input.read_exact(&mut page[..])?;
                Record::Page(address, page)
            }
            3 => Record::Zero(self.page_address()?),
            4 => {
                let ring = match self.bytes::<1>()?[0] {
                    bits @ 0..4 => Ring {
                        dma: bits & 1 != 0,
                        vm: bits & 2 != 0,
                    },
                    _ => return Err(CaptureError::Corrupt("an unknown ring")),
                };
                let count = self.word()? as usize;
                if count > IB_MAX {
                    return Err(CaptureError::Corrupt("too long a submission"));
                }
                let words: io::Result<Vec<u32>> = (0..count).map(|_| self.word()).collect();
                Record::Submission(ring, words?)
            }
            5 => Record::Result(self.page_address()?, u64::from_le_bytes(self.bytes()?)),
            _ => return Err(CaptureError::Corrupt("an unknown record")),
        }))
    }
}
