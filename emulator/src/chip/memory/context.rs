// SPDX-License-Identifier: MIT
//! VM contexts 1 to 7 of Cayman: a page directory and page tables in VRAM.
//!
//! Sources: `cayman_pcie_gart_enable()` (control, depth, block size), `radeon_vm.c` (entries),
//! `nid.h` (`VM_CONTEXT1_*`, fault bits). Contexts share `VM_CONTEXT1_CNTL`; each has a base, a first
//! and a last page, 4 bytes after the previous context's. All addresses are translated: there is no
//! aperture of VRAM. As in context 0 the tables are read at every access, unless the board is strict.

use std::sync::{Arc, Mutex, PoisonError};

use super::gart::{vram_offset, Access, Target, Translation, VmRegisters, ENABLE_CONTEXT};
use super::gart::{PTE_ADDRESS, PTE_READABLE, PTE_SYSTEM, PTE_VALID, PTE_WRITEABLE};
use super::mc::place;
use super::{MemoryController, Vram, PAGE_SIZE};
use crate::chip::bus::{Extent, Mc, McError, RegFile, VmFault};
use crate::chip::regs::field;

/// Registers that contexts 1 to 7 share.
#[derive(Debug, Clone, Copy)]
pub struct ContextRegisters {
    /// `VM_CONTEXT1_CNTL`.
    pub cntl: u32,
    /// `VM_CONTEXT1_CNTL2`; bit 0 clears the fault registers.
    pub cntl2: u32,
    /// `VM_CONTEXT1_PROTECTION_FAULT_DEFAULT_ADDR`.
    pub default_page: u32,
    /// `VM_CONTEXT1_PROTECTION_FAULT_STATUS`.
    pub fault_status: u32,
    /// `VM_CONTEXT1_PROTECTION_FAULT_ADDR`.
    pub fault_addr: u32,
    /// `VM_CONTEXT1_PAGE_TABLE_BASE_ADDR`; the other contexts' registers follow.
    pub base: u32,
    /// `VM_CONTEXT1_PAGE_TABLE_START_ADDR`, the same.
    pub start: u32,
    /// `VM_CONTEXT1_PAGE_TABLE_END_ADDR`, the same.
    pub end: u32,
}

/// `PAGE_TABLE_DEPTH` of `VM_CONTEXT1_CNTL`: 1 with a directory.
const DEPTH: u32 = 3 << 1;
/// `PAGE_TABLE_BLOCK_SIZE`: log2 of the entries of a table, less 9.
const BLOCK_SIZE: u32 = 0xF << 24;

/// Where a context's tables are, from its registers.
struct Tables<'a> {
    regs: &'a dyn RegFile,
    vm: &'a VmRegisters,
    shared: ContextRegisters,
    vram: &'a Vram,
}

impl Tables<'_> {
    /// Reads an entry at MC address `addr`, which must be in VRAM.
    fn entry(&self, addr: u64) -> Option<u64> {
        let (offset, _) = vram_offset(self.regs, self.vm, self.vram.size(), addr)?;
        let mut entry = [0; 8];
        self.vram.read(offset, &mut entry).ok()?;
        Some(u64::from_le_bytes(entry))
    }

    /// Where `page` of `context` leads, or the bit of [`VmFault`] that says why not.
    fn walk(&self, context: u8, page: u64, access: Access) -> Result<Target, u32> {
        let of_context =
            |first: u32| u64::from(self.regs.load(first + 4 * (u32::from(context) - 1)));
        let (start, end) = (of_context(self.shared.start), of_context(self.shared.end));
        if page < start || page > end {
            return Err(VmFault::RANGE);
        }
        let cntl = self.regs.load(self.shared.cntl);
        let base = of_context(self.shared.base) * PAGE_SIZE;
        let index = page - start;
        let (table, index) = match field(cntl, DEPTH) {
            0 => (base, index),
            1 => {
                let block = 9 + field(cntl, BLOCK_SIZE);
                let directory = self.entry(base + 8 * (index >> block));
                let entry = directory.filter(|e| e & PTE_VALID != 0);
                let entry = entry.ok_or(VmFault::DIRECTORY)?;
                (entry & PTE_ADDRESS, index & ((1 << block) - 1))
            }
            // No driver has more levels here.
            _ => return Err(VmFault::DIRECTORY),
        };
        let entry = self.entry(table + 8 * index);
        let entry = entry.filter(|e| e & PTE_VALID != 0);
        let entry = entry.ok_or(VmFault::INVALID)?;
        match access {
            Access::Read if entry & PTE_READABLE == 0 => return Err(VmFault::READ),
            Access::Write if entry & PTE_WRITEABLE == 0 => return Err(VmFault::WRITE),
            _ => {}
        }
        let address = entry & PTE_ADDRESS;
        if entry & PTE_SYSTEM != 0 {
            return Ok(Target::Bus(address));
        }
        // On an APU it would be a bus address, too (`FUS_MC_VM_FB_OFFSET`, cayman_vm_init()).
        let offset = vram_offset(self.regs, self.vm, self.vram.size(), address);
        let (offset, _) = offset.ok_or(VmFault::INVALID)?;
        Ok(Target::Vram(offset))
    }
}

/// Memory by the addresses of one context.
#[derive(Debug)]
pub(super) struct View {
    mc: MemoryController,
    shared: ContextRegisters,
    context: u8,
    /// The first fault since the last look.
    fault: Mutex<Option<VmFault>>,
}

impl View {
    /// A view of `mc`'s memory; `None` for context 0 and where there are no others.
    pub fn new(mc: &MemoryController, context: u8) -> Option<Self> {
        let shared = mc.vm.contexts.filter(|_| (1..8).contains(&context))?;
        Some(Self {
            mc: mc.clone(),
            shared,
            context,
            fault: Mutex::default(),
        })
    }

    fn translate(&self, addr: u64, access: Access) -> Result<Translation, McError> {
        let regs = self.mc.regs.as_ref();
        let cntl = regs.load(self.shared.cntl);
        if cntl & ENABLE_CONTEXT == 0 {
            return Err(McError::Unmapped(addr));
        }
        let (page, within) = (addr / PAGE_SIZE, addr % PAGE_SIZE);
        let tables = Tables {
            regs,
            vm: self.mc.vm,
            shared: self.shared,
            vram: &self.mc.vram,
        };
        let at = |target| Translation {
            target: match target {
                Target::Vram(offset) => Target::Vram(offset + within),
                Target::Bus(address) => Target::Bus(address + within),
            },
            len: PAGE_SIZE - within,
        };
        let found = tables.walk(self.context, page, access).map(at);
        let found = match &self.mc.strict {
            Some(strict) => strict
                .tlb
                .translate(self.context, page, within, access, found),
            None => found,
        };
        let protections = match found {
            Ok(translation) => return Ok(translation),
            Err(protections) => protections,
        };
        let fault = VmFault {
            page,
            write: access == Access::Write,
            protections,
        };
        let mut kept = self.fault.lock().unwrap_or_else(PoisonError::into_inner);
        kept.get_or_insert(fault);
        if cntl & fault.default_enable() == 0 {
            return Err(McError::PageFault(addr));
        }
        let default = regs.load(self.shared.default_page);
        Ok(at(Target::Bus(u64::from(default) * PAGE_SIZE)))
    }
}

impl Mc for View {
    fn read(&self, addr: u64, buf: &mut [u8]) -> Result<(), McError> {
        self.mc
            .read_by(addr, buf, |at| self.translate(at, Access::Read))
    }

    fn write(&self, addr: u64, buf: &[u8]) -> Result<(), McError> {
        self.mc
            .write_by(addr, buf, |at| self.translate(at, Access::Write))
    }

    /// The page that `addr` is in: so that a draw walks the tables once for each page.
    fn resolve(&self, addr: u64, write: bool) -> Result<Option<Extent>, McError> {
        // A strict board has to see every access.
        if self.mc.strict.is_some() {
            return Ok(None);
        }
        let access = if write { Access::Write } else { Access::Read };
        let within = addr % PAGE_SIZE;
        let found = self.translate(addr - within, access)?;
        Ok(Some(Extent {
            start: addr - within,
            len: PAGE_SIZE,
            place: place(found.target),
        }))
    }

    fn read_at(&self, place: u64, buf: &mut [u8]) -> Result<(), McError> {
        self.mc.read_at(place, buf)
    }

    fn prefetch_at(&self, place: u64, len: usize) {
        self.mc.prefetch_at(place, len);
    }

    fn write_at(&self, place: u64, buf: &[u8]) -> Result<(), McError> {
        self.mc.write_at(place, buf)
    }

    fn take_fault(&self) -> Option<VmFault> {
        self.fault
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take()
    }
}

/// As [`Mc::context`].
pub(super) fn view(mc: &MemoryController, context: u8) -> Option<Arc<dyn Mc>> {
    Some(Arc::new(View::new(mc, context)?))
}
