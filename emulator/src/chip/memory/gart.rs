// SPDX-License-Identifier: MIT
//! The GART: VM context 0's single-level page table in VRAM.
//!
//! Every translation reads the registers and the page-table entry again, so
//! changes of an entry take effect at once. The real chip caches entries until
//! VM_CONTEXT0_REQUEST_RESPONSE is written, and so does a strict board
//! ([`tlb`](crate::chip::strict::tlb)).
//!
//! Register fields are those of `rv770d.h`, the same in all generations; entry
//! bits are those of `r600.h`/`radeon.h` (R600_PTE_*).

use super::context::ContextRegisters;
use super::{Vram, PAGE_SIZE};
use crate::chip::bus::{McError, RegFile};

/// Offsets of the registers of context 0 and of the VRAM aperture: the same
/// registers are at other places in R6xx than later.
#[derive(Debug, Clone, Copy)]
pub struct VmRegisters {
    /// `MC_VM_FB_LOCATION`: the VRAM aperture in MC addresses.
    pub fb_location: u32,
    /// `VM_CONTEXT0_CNTL`.
    pub cntl: u32,
    /// `VM_CONTEXT0_PAGE_TABLE_BASE_ADDR`.
    pub base: u32,
    /// `VM_CONTEXT0_PAGE_TABLE_START_ADDR`.
    pub start: u32,
    /// `VM_CONTEXT0_PAGE_TABLE_END_ADDR`.
    pub end: u32,
    /// `VM_CONTEXT0_PROTECTION_FAULT_DEFAULT_ADDR`.
    pub default_page: u32,
    /// `VM_CONTEXT0_PROTECTION_FAULT_STATUS`.
    pub fault_status: u32,
    /// `VM_CONTEXT0_PROTECTION_FAULT_ADDR`.
    pub fault_addr: u32,
    /// Registers of contexts 1 to 7, from Cayman on.
    pub contexts: Option<ContextRegisters>,
}

/// VM_CONTEXT0_CNTL: translation is on.
pub const ENABLE_CONTEXT: u32 = 1 << 0;
/// VM_CONTEXT0_CNTL: faults go to the default page.
pub const RANGE_PROTECTION_FAULT_ENABLE_DEFAULT: u32 = 1 << 4;

/// Entry is valid.
pub const PTE_VALID: u64 = 1 << 0;
/// Entry points to the bus (guest RAM), else to VRAM.
pub const PTE_SYSTEM: u64 = 1 << 1;
/// The GPU may read the page.
pub const PTE_READABLE: u64 = 1 << 5;
/// The GPU may write the page.
pub const PTE_WRITEABLE: u64 = 1 << 6;
/// Address bits of an entry: 40-bit addresses of 4 KiB pages.
pub(super) const PTE_ADDRESS: u64 = 0xff_ffff_f000;

/// Direction of an access.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// The engine reads.
    Read,
    /// The engine writes.
    Write,
}

/// The memory that an MC address leads to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Target {
    /// Byte offset into VRAM.
    Vram(u64),
    /// Bus address, in guest RAM or not.
    Bus(u64),
}

/// A translated piece of the address space.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Translation {
    /// The first byte.
    pub target: Target,
    /// Number of contiguous bytes from there on, at least 1.
    pub len: u64,
}

/// Offset into VRAM of MC address `addr`, and the number of bytes from there to
/// the end of VRAM. `None` if the address is outside VRAM.
pub fn vram_offset(
    regs: &dyn RegFile,
    vm: &VmRegisters,
    vram_size: u64,
    addr: u64,
) -> Option<(u64, u64)> {
    let location = regs.load(vm.fb_location);
    let base = u64::from(location & 0xffff) << 24;
    let end = (u64::from(location >> 16) + 1) << 24;
    let offset = addr.checked_sub(base)?;
    let len = end.saturating_sub(base).min(vram_size);
    let left = len.checked_sub(offset).filter(|&l| l > 0)?;
    Some((offset, left))
}

/// Translates MC address `addr`: VRAM aperture first, then the GART.
pub fn translate(
    regs: &dyn RegFile,
    vm: &VmRegisters,
    vram: &Vram,
    addr: u64,
    access: Access,
) -> Result<Translation, McError> {
    if let Some((offset, len)) = vram_offset(regs, vm, vram.size(), addr) {
        return Ok(Translation {
            target: Target::Vram(offset),
            len,
        });
    }
    let page = addr / PAGE_SIZE;
    let cntl = regs.load(vm.cntl);
    let start = u64::from(regs.load(vm.start));
    let end = u64::from(regs.load(vm.end));
    if cntl & ENABLE_CONTEXT == 0 || page < start || page > end {
        return Err(McError::Unmapped(addr));
    }
    let within = addr % PAGE_SIZE;
    let found = |target| Translation {
        target,
        len: PAGE_SIZE - within,
    };
    match read_entry(regs, vm, vram, page - start) {
        Some(pte) if permits(pte, access) => {
            let address = (pte & PTE_ADDRESS) + within;
            let target = if pte & PTE_SYSTEM != 0 {
                Target::Bus(address)
            } else {
                let (offset, _) =
                    vram_offset(regs, vm, vram.size(), address).ok_or(McError::PageFault(addr))?;
                Target::Vram(offset)
            };
            Ok(found(target))
        }
        _ if cntl & RANGE_PROTECTION_FAULT_ENABLE_DEFAULT != 0 => {
            let default = regs.load(vm.default_page);
            Ok(found(Target::Bus(u64::from(default) * PAGE_SIZE + within)))
        }
        _ => Err(McError::PageFault(addr)),
    }
}

fn permits(pte: u64, access: Access) -> bool {
    let right = match access {
        Access::Read => PTE_READABLE,
        Access::Write => PTE_WRITEABLE,
    };
    pte & PTE_VALID != 0 && pte & right != 0
}

/// Reads entry `index` of the table; the table itself must be in VRAM.
fn read_entry(regs: &dyn RegFile, vm: &VmRegisters, vram: &Vram, index: u64) -> Option<u64> {
    let table = u64::from(regs.load(vm.base)) * PAGE_SIZE;
    let addr = table.checked_add(index * 8)?;
    let (offset, _) = vram_offset(regs, vm, vram.size(), addr)?;
    let mut entry = [0; 8];
    vram.read(offset, &mut entry).ok()?;
    Some(u64::from_le_bytes(entry))
}
