// SPDX-License-Identifier: MIT
//! The address space of a chip with VM contexts (Cayman): where its addresses lead.
//!
//! The program has one, context 1. Mesa maps BOs into it by `DRM_RADEON_GEM_VA`. Its table is behind
//! the BOs, an entry for each page, so that a capture has it, too. As with the kernel's
//! settings an access that leads nowhere goes to a default page and is reported
//! (`cayman_pcie_gart_enable()`).

use std::sync::{Arc, Mutex, PoisonError};

use r7xx_board::chip::bus::{Extent, Mc, McError, VmFault};

use crate::gpu::IB;
use crate::memory::{Memory, Places, GTT, PAGE, RESERVED, VRAM};

/// First address that a program may use (`RADEON_VA_RESERVED_SIZE`).
pub const START: u64 = 8 << 20;
/// First address beyond the space: 8 GiB, as radeon's parameter `vm_size` has it.
pub const END: u64 = 8 << 30;
/// MC address of the table.
pub const TABLE: u64 = RESERVED + VRAM + GTT;
/// Bytes of the table: a dword for each page.
pub const TABLE_SIZE: u64 = END / PAGE * 4;
/// MC address of the page to which faulting accesses go.
const DEFAULT_PAGE: u64 = 0x4000;

/// Bits of an entry besides the number of an MC page: what may be done with the page.
pub const READABLE: u32 = 1 << 30;
/// The page may be written.
pub const WRITEABLE: u32 = 1 << 31;

impl Memory {
    /// Has `size` bytes of the address space from `address` on lead to `place`, with the bits
    /// `access`, or nowhere. Addresses and size are multiples of a page.
    ///
    /// # Errors
    /// If the range leaves the space.
    pub fn map(
        &self,
        address: u64,
        size: u64,
        place: Option<u64>,
        access: u32,
    ) -> Result<(), McError> {
        if address.checked_add(size).is_none_or(|end| end > END) {
            return Err(McError::Unmapped(address));
        }
        let entries = (0..size / PAGE).map(|page| match place {
            Some(place) => (place / PAGE + page) as u32 | access,
            None => 0,
        });
        let bytes: Vec<u8> = entries.flat_map(u32::to_le_bytes).collect();
        // A submission that is being captured keeps the table that it began with.
        self.put(TABLE + address / PAGE * 4, &bytes)
    }
}

/// Memory by the addresses of the space.
pub(crate) struct Space {
    memory: Arc<Places>,
    /// The first fault since the last look.
    fault: Mutex<Option<VmFault>>,
}

impl Space {
    /// The space whose table is in `memory`.
    pub(crate) fn new(memory: Arc<Places>) -> Self {
        Self {
            memory,
            fault: Mutex::default(),
        }
    }

    /// The MC address of `address`.
    fn translate(&self, address: u64, write: bool) -> u64 {
        let (page, within) = (address / PAGE, address % PAGE);
        self.walk(page, write).unwrap_or_else(|protections| {
            let fault = VmFault {
                page,
                write,
                protections,
            };
            let mut kept = self.fault.lock().unwrap_or_else(PoisonError::into_inner);
            kept.get_or_insert(fault);
            DEFAULT_PAGE
        }) + within
    }

    /// The MC address of a page, or what its fault is.
    fn walk(&self, page: u64, write: bool) -> Result<u64, u32> {
        if page >= END / PAGE {
            return Err(VmFault::RANGE);
        }
        let address = page * PAGE;
        // The driver maps its IBs into each space.
        if (IB..START).contains(&address) {
            return match write {
                true => Err(VmFault::WRITE),
                false => Ok(address),
            };
        }
        let mut entry = [0; 4];
        let read = self.memory.read(TABLE + page * 4, &mut entry);
        let entry = u32::from_le_bytes(entry);
        let (bit, forbidden) = match write {
            true => (WRITEABLE, VmFault::WRITE),
            false => (READABLE, VmFault::READ),
        };
        match entry {
            0 => Err(VmFault::INVALID),
            _ if read.is_err() => Err(VmFault::INVALID),
            entry if entry & bit == 0 => Err(forbidden),
            entry => Ok(u64::from(entry & !(READABLE | WRITEABLE)) * PAGE),
        }
    }

    /// The parts of an access of `len` bytes that lie in one page each: MC address, and the range of
    /// the access's bytes.
    fn parts(
        &self,
        address: u64,
        len: usize,
        write: bool,
    ) -> impl Iterator<Item = (u64, std::ops::Range<usize>)> + '_ {
        let mut done = 0;
        std::iter::from_fn(move || {
            let at = address.wrapping_add(done as u64);
            let rest = (PAGE - at % PAGE) as usize;
            let part = done..len.min(done + rest);
            done = part.end;
            (!part.is_empty()).then(|| (self.translate(at, write), part))
        })
    }
}

impl Mc for Space {
    fn read(&self, address: u64, buf: &mut [u8]) -> Result<(), McError> {
        for (place, part) in self.parts(address, buf.len(), false) {
            self.read_at(place, &mut buf[part])?;
        }
        Ok(())
    }

    fn write(&self, address: u64, buf: &[u8]) -> Result<(), McError> {
        for (place, part) in self.parts(address, buf.len(), true) {
            self.write_at(place, &buf[part])?;
        }
        Ok(())
    }

    fn take_fault(&self) -> Option<VmFault> {
        let mut fault = self.fault.lock().unwrap_or_else(PoisonError::into_inner);
        fault.take()
    }

    fn resolve(&self, address: u64, write: bool) -> Result<Option<Extent>, McError> {
        let within = address % PAGE;
        Ok(Some(Extent {
            start: address - within,
            len: PAGE,
            place: self.translate(address, write) - within,
        }))
    }

    fn read_at(&self, place: u64, buf: &mut [u8]) -> Result<(), McError> {
        self.memory.read(place, buf)
    }

    fn prefetch_at(&self, place: u64, len: usize) {
        self.memory.prefetch(place, len);
    }

    fn write_at(&self, place: u64, buf: &[u8]) -> Result<(), McError> {
        self.memory.write(place, buf)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_lead_where_they_are_mapped_and_others_to_the_default_page() {
        let memory = Memory::new().unwrap();
        let (first, second) = (RESERVED, RESERVED + 5 * PAGE);
        let both = READABLE | WRITEABLE;
        memory.map(START, PAGE, Some(second), both).unwrap();
        memory.map(START + PAGE, PAGE, Some(first), both).unwrap();
        memory
            .map(START + 2 * PAGE, PAGE, Some(first), READABLE)
            .unwrap();
        let space = memory.context(1).unwrap();
        // Across the two pages.
        space.write(START + PAGE - 2, &[1, 2, 3, 4]).unwrap();
        let mut found = [0; 2];
        memory.read(second + PAGE - 2, &mut found).unwrap();
        assert_eq!(found, [1, 2]);
        memory.read(first, &mut found).unwrap();
        assert_eq!(found, [3, 4]);
        assert_eq!(space.take_fault(), None);
        let extent = space.resolve(START + 3, true).unwrap().unwrap();
        let expected = Extent {
            start: START,
            len: PAGE,
            place: second,
        };
        assert_eq!(extent, expected);
        // What is there can be read only.
        space.write(START + 2 * PAGE, &[9; 2]).unwrap();
        let fault = space.take_fault().unwrap();
        assert_eq!((fault.protections, fault.write), (VmFault::WRITE, true));
        memory.read(first, &mut found).unwrap();
        assert_eq!(found, [3, 4]);
        memory.map(START, PAGE, None, 0).unwrap();
        for (address, protections) in [
            (START, VmFault::INVALID),
            (0, VmFault::INVALID),
            (END, VmFault::RANGE),
            (u64::MAX, VmFault::RANGE),
        ] {
            space.read(address, &mut [0]).unwrap();
            let fault = space.take_fault().unwrap();
            assert_eq!(fault.protections, protections, "{address:#x}");
            assert_eq!(fault.page, address / PAGE);
        }
        assert!(space.read(IB, &mut [0]).is_ok() && space.take_fault().is_none());
        // The driver's IBs can be read only.
        space.write(IB, &[1]).unwrap();
        assert_eq!(space.take_fault().unwrap().protections, VmFault::WRITE);
        // What can be written only; the first of two faults is kept, and its bytes go to one page.
        memory.map(START, PAGE, Some(first), WRITEABLE).unwrap();
        space.read(START + 8, &mut [0]).unwrap();
        space.write(END, &[7]).unwrap();
        let fault = space.take_fault().unwrap();
        assert_eq!(
            (fault.page, fault.protections),
            (START / PAGE, VmFault::READ)
        );
        memory.read(0x4000, &mut found[..1]).unwrap();
        assert_eq!(found[0], 7, "the default page");
        assert!(memory.map(END - PAGE, 2 * PAGE, Some(first), both).is_err());
    }
}
