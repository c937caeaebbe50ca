// SPDX-License-Identifier: MIT
//! Boundaries between the chip's blocks and the world outside the chip.
//!
//! The blocks (`cp`, `dma`, `ih`, ...) know nothing of vfio-user, of file
//! descriptors or of how guest memory is reached: they see the memory
//! controller's address space through [`Mc`] and signal the host through
//! [`IrqLine`]. Tests replace both with plain vectors and counters.

use std::sync::Arc;

/// Why an access to the memory controller's address space failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum McError {
    /// No aperture (VRAM or GART) decodes the address.
    Unmapped(u64),
    /// The GART has no valid page-table entry for the address.
    PageFault(u64),
    /// The page-table entry points outside guest RAM.
    GuestRam(u64),
}

/// A range of MC addresses that leads to contiguous memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Extent {
    /// MC address of its first byte.
    pub start: u64,
    /// Length in bytes.
    pub len: u64,
    /// Handle of the first byte for [`Mc::read_at`] and [`Mc::write_at`]. The
    /// handle of byte `n` is `place + n`.
    pub place: u64,
}

/// A fault of a VM context other than 0 (Cayman).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct VmFault {
    /// The page that was accessed.
    pub page: u64,
    /// Whether the access was a write.
    pub write: bool,
    /// What the fault is, one of the bits below: `PROTECTIONS` of
    /// `VM_CONTEXT1_PROTECTION_FAULT_STATUS` (`nid.h`).
    pub protections: u32,
}

impl VmFault {
    /// The page is outside of the context's range.
    pub const RANGE: u32 = 1 << 0;
    /// The page directory has no valid entry.
    pub const DIRECTORY: u32 = 1 << 2;
    /// The page table has no valid entry.
    pub const INVALID: u32 = 1 << 3;
    /// The page must not be read.
    pub const READ: u32 = 1 << 4;
    /// The page must not be written.
    pub const WRITE: u32 = 1 << 5;
    /// The page exists, and the access is forbidden.
    pub const FORBIDDEN: u32 = Self::READ | Self::WRITE;

    /// The `*_FAULT_ENABLE_INTERRUPT` of this fault in `VM_CONTEXT1_CNTL`.
    pub fn interrupt_enable(&self) -> u32 {
        1 << (3 * (self.protections.trailing_zeros() + 1)).min(31)
    }

    /// The `*_FAULT_ENABLE_DEFAULT` of this fault: such accesses go to the default page.
    pub fn default_enable(&self) -> u32 {
        self.interrupt_enable() << 1
    }
}

/// The memory controller's address space ("MC address", 40 bits): the VRAM
/// aperture at `MC_VM_FB_LOCATION` and the GART behind VM context 0.
///
/// All accesses are bounds-checked and may be issued from any thread. An
/// access may cross pages; on error the bytes before the failing page may
/// already have been transferred.
pub trait Mc: Send + Sync {
    /// Reads `buf.len()` bytes from MC address `addr`.
    fn read(&self, addr: u64, buf: &mut [u8]) -> Result<(), McError>;
    /// Writes `buf` to MC address `addr`.
    fn write(&self, addr: u64, buf: &[u8]) -> Result<(), McError>;

    /// Memory by the addresses of VM context `context`, 1 to 7: a new view, with faults
    /// of its own. `None` if this controller has no such context.
    fn context(&self, _context: u8) -> Option<Arc<dyn Mc>> {
        None
    }
    /// Takes the first fault of this view since the last call.
    fn take_fault(&self) -> Option<VmFault> {
        None
    }

    /// Resolves `addr`, for a read or a write, to the extent that contains it.
    /// `None` if this controller resolves nothing. The extent is valid until
    /// the driver changes the apertures or page tables: hardware, too, keeps
    /// translations until the driver invalidates them.
    ///
    /// # Errors
    /// As [`Self::read`] and [`Self::write`].
    fn resolve(&self, _addr: u64, _write: bool) -> Result<Option<Extent>, McError> {
        Ok(None)
    }
    /// Reads at a place returned by [`Self::resolve`].
    ///
    /// # Errors
    /// If the place no longer exists.
    fn read_at(&self, place: u64, _buf: &mut [u8]) -> Result<(), McError> {
        Err(McError::Unmapped(place))
    }
    /// Prefetches `len` bytes at a place returned by [`Self::resolve`] into the host's caches: a
    /// hint.
    fn prefetch_at(&self, _place: u64, _len: usize) {}
    /// Writes at a place returned by [`Self::resolve`].
    ///
    /// # Errors
    /// If the place no longer exists.
    fn write_at(&self, place: u64, _buf: &[u8]) -> Result<(), McError> {
        Err(McError::Unmapped(place))
    }

    /// Copies `len` bytes from place `from` to place `to`, both returned by [`Self::resolve`], without
    /// a buffer in between. The ranges must not overlap. False if it cannot do that.
    fn copy_at(&self, _from: u64, _to: u64, _len: u64) -> bool {
        false
    }

    /// Reads one little-endian dword.
    fn read_u32(&self, addr: u64) -> Result<u32, McError> {
        let mut b = [0; 4];
        self.read(addr, &mut b)?;
        Ok(u32::from_le_bytes(b))
    }
    /// Writes one little-endian dword.
    fn write_u32(&self, addr: u64, value: u32) -> Result<(), McError> {
        self.write(addr, &value.to_le_bytes())
    }
    /// Reads one little-endian qword.
    fn read_u64(&self, addr: u64) -> Result<u64, McError> {
        let mut b = [0; 8];
        self.read(addr, &mut b)?;
        Ok(u64::from_le_bytes(b))
    }
    /// Writes one little-endian qword.
    fn write_u64(&self, addr: u64, value: u64) -> Result<(), McError> {
        self.write(addr, &value.to_le_bytes())
    }
}

/// Register file shared between the blocks and, for the side-effect-free
/// pages of the MMIO BAR, with the guest itself.
///
/// `offset` is a byte offset into the register space (0 to 0x3FFFC),
/// rounded down to a dword; offsets beyond it read 0 and ignore writes.
pub trait RegFile: Send + Sync {
    /// Reads the register without side effect.
    fn load(&self, offset: u32) -> u32;
    /// Reads as many registers as `words` has, from `first` on: one dynamic call for all of them.
    fn load_all(&self, first: u32, words: &mut [u32]) {
        for (offset, word) in (first..).step_by(4).zip(words) {
            *word = self.load(offset);
        }
    }
    /// Writes the register without side effect.
    fn store(&self, offset: u32, value: u32);
}

/// Registers with their side effects: one block's, or all of the chip's.
///
/// `offset` is a byte offset as in [`RegFile`]. A write never waits: it queues
/// work and wakes threads.
pub trait Registers: Sync {
    /// Reads the register as hardware would.
    fn read(&self, offset: u32) -> u32;
    /// Writes the register with its side effects, for the host or for a packet.
    fn write(&self, offset: u32, value: u32);
}

/// The board's interrupt pin or message.
pub trait IrqLine: Send + Sync {
    /// Signals the host once (MSI), or asserts the line (INTx).
    fn raise(&self);
}

/// Memory of unit tests: flat, from address 0 on.
#[cfg(test)]
pub(crate) struct FlatMemory(pub(crate) std::sync::Mutex<Vec<u8>>);

#[cfg(test)]
impl FlatMemory {
    /// `len` bytes of `value`.
    pub(crate) fn new(len: usize, value: u8) -> Self {
        Self(std::sync::Mutex::new(vec![value; len]))
    }
}

#[cfg(test)]
impl Mc for FlatMemory {
    fn read(&self, addr: u64, buf: &mut [u8]) -> Result<(), McError> {
        let bytes = self.0.lock().unwrap();
        let range = addr as usize..addr as usize + buf.len();
        buf.copy_from_slice(bytes.get(range).ok_or(McError::Unmapped(addr))?);
        Ok(())
    }
    fn write(&self, addr: u64, buf: &[u8]) -> Result<(), McError> {
        let mut bytes = self.0.lock().unwrap();
        let range = addr as usize..addr as usize + buf.len();
        let to = bytes.get_mut(range).ok_or(McError::Unmapped(addr))?;
        to.copy_from_slice(buf);
        Ok(())
    }
}
