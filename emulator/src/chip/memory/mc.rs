// SPDX-License-Identifier: MIT
//! The memory controller: translates MC addresses to VRAM and, through the
//! GART, to guest RAM.

use std::sync::Arc;

use super::gart::{translate, vram_offset, Access, Target, Translation, VmRegisters};
use super::{GuestRam, RegisterFile, Vram, PAGE_SIZE};
use crate::chip::bus::{Extent, Mc, McError};
use crate::chip::generation::{r700, Generation};
use crate::chip::strict::Strict;

/// Set in an [`Extent::place`] that is a bus address; without it, the place is an
/// offset into VRAM.
const BUS: u64 = 1 << 63;

/// The memory controller.
#[derive(Debug, Clone)]
pub struct MemoryController {
    pub(super) regs: Arc<RegisterFile>,
    pub(super) vram: Arc<Vram>,
    guest: Arc<GuestRam>,
    pub(super) vm: &'static VmRegisters,
    pub(super) strict: Option<Arc<Strict>>,
}

impl MemoryController {
    /// A controller of VRAM and guest RAM, with the R700 family's apertures
    /// in `regs`.
    pub fn new(regs: Arc<RegisterFile>, vram: Arc<Vram>, guest: Arc<GuestRam>) -> Self {
        Self {
            regs,
            vram,
            guest,
            vm: &r700::R700.vm,
            strict: None,
        }
    }

    /// With the apertures' registers where `generation` has them.
    pub fn with_generation(mut self, generation: &'static Generation) -> Self {
        self.vm = &generation.vm;
        self
    }

    /// With `strict`, caches translations in its TLB and tells its HDP of the
    /// GPU's reads.
    pub fn with_strict(mut self, strict: Option<Arc<Strict>>) -> Self {
        self.strict = strict;
        self
    }

    /// Translates MC address `addr`, on a strict board through its TLB.
    fn translate(&self, addr: u64, access: Access) -> Result<Translation, McError> {
        let regs = self.regs.as_ref();
        let found = translate(regs, self.vm, &self.vram, addr, access);
        match &self.strict {
            // The VRAM aperture needs no translation.
            Some(strict) if vram_offset(regs, self.vm, self.vram.size(), addr).is_none() => strict
                .tlb
                .translate(0, addr / PAGE_SIZE, addr % PAGE_SIZE, access, found),
            _ => found,
        }
    }

    /// Calls `access(target, range of the buffer)` for each contiguous
    /// piece of `len` bytes at `addr`, as `translate` finds them.
    fn for_each_piece<T, F>(
        addr: u64,
        len: usize,
        translate: T,
        mut access: F,
    ) -> Result<(), McError>
    where
        T: Fn(u64) -> Result<Translation, McError>,
        F: FnMut(Target, std::ops::Range<usize>) -> Result<(), McError>,
    {
        let mut done = 0;
        while done < len {
            let at = addr
                .checked_add(done as u64)
                .ok_or(McError::Unmapped(addr))?;
            let found = translate(at)?;
            let room = usize::try_from(found.len).unwrap_or(usize::MAX);
            let piece = room.min(len - done);
            access(found.target, done..done + piece)?;
            done += piece;
        }
        Ok(())
    }

    /// Reads by the addresses that `translate` translates.
    pub(super) fn read_by(
        &self,
        addr: u64,
        buf: &mut [u8],
        translate: impl Fn(u64) -> Result<Translation, McError>,
    ) -> Result<(), McError> {
        Self::for_each_piece(addr, buf.len(), translate, |target, piece| match target {
            Target::Vram(offset) => {
                if let Some(strict) = &self.strict {
                    strict.hdp.gpu_reads(offset, piece.len());
                }
                self.vram
                    .read(offset, &mut buf[piece])
                    .map_err(|_| McError::Unmapped(addr))
            }
            Target::Bus(address) => self.guest.read(address, &mut buf[piece]),
        })
    }

    /// Writes by the addresses that `translate` translates.
    pub(super) fn write_by(
        &self,
        addr: u64,
        buf: &[u8],
        translate: impl Fn(u64) -> Result<Translation, McError>,
    ) -> Result<(), McError> {
        Self::for_each_piece(addr, buf.len(), translate, |target, piece| match target {
            Target::Vram(offset) => self
                .vram
                .write(offset, &buf[piece])
                .map_err(|_| McError::Unmapped(addr)),
            Target::Bus(address) => self.guest.write(address, &buf[piece]),
        })
    }
}

/// The handle of a target, for [`Mc::read_at`] and [`Mc::write_at`].
pub(super) const fn place(target: Target) -> u64 {
    match target {
        Target::Vram(offset) => offset,
        Target::Bus(address) => BUS | address,
    }
}

impl Mc for MemoryController {
    fn read(&self, addr: u64, buf: &mut [u8]) -> Result<(), McError> {
        self.read_by(addr, buf, |at| self.translate(at, Access::Read))
    }

    fn context(&self, context: u8) -> Option<Arc<dyn Mc>> {
        super::context::view(self, context)
    }

    fn resolve(&self, addr: u64, write: bool) -> Result<Option<Extent>, McError> {
        // A strict board has to see every access.
        if self.strict.is_some() {
            return Ok(None);
        }
        let kind = if write { Access::Write } else { Access::Read };
        let found = translate(self.regs.as_ref(), self.vm, &self.vram, addr, kind)?;
        Ok(Some(match found.target {
            // All of VRAM, including the part before `addr`.
            Target::Vram(offset) if found.len > PAGE_SIZE => Extent {
                start: addr - offset,
                len: offset + found.len,
                place: 0,
            },
            // A GART page in VRAM, or VRAM's last page: from `addr` on.
            Target::Vram(offset) => Extent {
                start: addr,
                len: found.len,
                place: offset,
            },
            Target::Bus(address) => {
                let within = addr % PAGE_SIZE;
                Extent {
                    start: addr - within,
                    len: within + found.len,
                    place: BUS | (address - within),
                }
            }
        }))
    }

    fn read_at(&self, place: u64, buf: &mut [u8]) -> Result<(), McError> {
        if place & BUS != 0 {
            self.guest.read(place & !BUS, buf)
        } else {
            self.vram
                .read(place, buf)
                .map_err(|_| McError::Unmapped(place))
        }
    }

    fn prefetch_at(&self, place: u64, len: usize) {
        // Not guest RAM: its look-up takes a lock.
        if place & BUS == 0 {
            // The access itself reports an invalid place.
            let _ = self.vram.prefetch(place, len);
        }
    }

    fn copy_at(&self, from: u64, to: u64, len: u64) -> bool {
        let inside = (from | to) & BUS == 0;
        inside && self.vram.copy(from, to, len as usize).is_ok()
    }

    fn write_at(&self, place: u64, buf: &[u8]) -> Result<(), McError> {
        if place & BUS != 0 {
            self.guest.write(place & !BUS, buf)
        } else {
            self.vram
                .write(place, buf)
                .map_err(|_| McError::Unmapped(place))
        }
    }

    fn write(&self, addr: u64, buf: &[u8]) -> Result<(), McError> {
        self.write_by(addr, buf, |at| self.translate(at, Access::Write))
    }
}

#[cfg(test)]
mod tests {
    use super::super::gart::*;
    use super::super::Mapping;
    use super::*;
    use crate::chip::bus::RegFile;
    use crate::chip::regs::mc::*;

    const MIB: u64 = 1 << 20;
    /// MC address at which the tests' GART begins.
    const GTT: u64 = 0x2000_0000;

    struct Fixture {
        mc: MemoryController,
        regs: Arc<RegisterFile>,
        vram: Arc<Vram>,
        guest: Arc<GuestRam>,
    }

    /// 32 MiB of VRAM at MC address 0x1000_0000, a table of 16 entries at
    /// its offset 1 MiB and four pages of guest RAM at bus address 0x8000.
    fn fixture() -> Fixture {
        let regs = Arc::new(RegisterFile::new().unwrap());
        let vram = Arc::new(Vram::new(32 * MIB).unwrap());
        let guest = Arc::new(GuestRam::new());
        guest.set_bus_master(true);
        let ram = Mapping::create("ram", 4 * PAGE_SIZE).unwrap();
        let file = ram.file().unwrap().try_clone().unwrap();
        guest
            .map(0x8000, 4 * PAGE_SIZE, Some((file, 0)), true)
            .unwrap();
        regs.store(MC_VM_FB_LOCATION, 0x0011_0010);
        regs.store(VM_CONTEXT0_CNTL, ENABLE_CONTEXT);
        let page = |addr: u64| (addr / PAGE_SIZE) as u32;
        regs.store(VM_CONTEXT0_PAGE_TABLE_BASE_ADDR, page(0x1010_0000));
        regs.store(VM_CONTEXT0_PAGE_TABLE_START_ADDR, page(GTT));
        regs.store(VM_CONTEXT0_PAGE_TABLE_END_ADDR, page(GTT) + 15);
        let mc = MemoryController::new(regs.clone(), vram.clone(), guest.clone());
        Fixture {
            mc,
            regs,
            vram,
            guest,
        }
    }

    impl Fixture {
        fn set_pte(&self, index: u64, pte: u64) {
            self.vram
                .write(MIB + index * 8, &pte.to_le_bytes())
                .unwrap();
        }
    }

    const RW: u64 = PTE_VALID | PTE_SYSTEM | PTE_READABLE | PTE_WRITEABLE;

    #[test]
    fn vram_aperture_follows_fb_location() {
        let f = fixture();
        f.mc.write_u32(0x1000_0004, 77).unwrap();
        let mut b = [0; 4];
        f.vram.read(4, &mut b).unwrap();
        assert_eq!(u32::from_le_bytes(b), 77);
        assert_eq!(
            f.mc.read_u32(0x0fff_fffc),
            Err(McError::Unmapped(0x0fff_fffc))
        );
        assert_eq!(
            f.mc.read_u32(0x1200_0000),
            Err(McError::Unmapped(0x1200_0000))
        );
    }

    #[test]
    fn aperture_larger_than_vram_ends_with_it() {
        let f = fixture();
        f.regs.store(MC_VM_FB_LOCATION, 0xffff_0010);
        assert!(f.mc.read_u32(0x1000_0000 + 32 * MIB - 4).is_ok());
        assert!(f.mc.read_u32(0x1000_0000 + 32 * MIB).is_err());
    }

    #[test]
    fn extents_lead_where_accesses_lead() {
        let f = fixture();
        f.set_pte(0, 0x9000 | RW);
        f.set_pte(1, 0x1000_3000 | (RW & !PTE_SYSTEM));
        for (addr, value) in [(0x1000_0804, 1), (GTT + 0x7F0, 2), (GTT + 0x1010, 3)] {
            let extent = f.mc.resolve(addr, true).unwrap().unwrap();
            assert!(addr >= extent.start && addr < extent.start + extent.len);
            let place = extent.place + (addr - extent.start);
            f.mc.write_at(place, &[value; 4]).unwrap();
            let mut found = [0; 4];
            f.mc.read(addr, &mut found).unwrap();
            assert_eq!(found, [value; 4]);
            f.mc.write(addr, &[value + 8; 4]).unwrap();
            f.mc.read_at(place, &mut found).unwrap();
            assert_eq!(found, [value + 8; 4]);
        }
        assert!(f.mc.resolve(GTT + 0x2000, false).is_err());
    }

    #[test]
    fn vram_is_copied_in_place_and_guest_memory_is_not() {
        let f = fixture();
        f.set_pte(0, 0x9000 | RW);
        let bus = f.mc.resolve(GTT, true).unwrap().unwrap().place;
        f.mc.write_at(0x100, &[1, 2, 3, 4]).unwrap();
        assert!(f.mc.copy_at(0x100, 0x202, 4));
        let mut found = [0; 4];
        f.mc.read_at(0x202, &mut found).unwrap();
        assert_eq!(found, [1, 2, 3, 4]);
        assert!(!f.mc.copy_at(0x100, bus, 4) && !f.mc.copy_at(bus, 0x100, 4));
        assert!(!f.mc.copy_at(0x100, f.mc.vram.size() - 2, 4));
    }

    #[test]
    fn gart_write_crosses_scattered_pages() {
        let f = fixture();
        f.set_pte(0, 0x9000 | RW);
        f.set_pte(1, 0x8000 | RW);
        f.mc.write(GTT + 0xffe, &[1, 2, 3, 4]).unwrap();
        let mut b = [0; 2];
        f.guest.read(0x9ffe, &mut b).unwrap();
        assert_eq!(b, [1, 2]);
        f.guest.read(0x8000, &mut b).unwrap();
        assert_eq!(b, [3, 4]);
        let mut all = [0; 4];
        f.mc.read(GTT + 0xffe, &mut all).unwrap();
        assert_eq!(all, [1, 2, 3, 4]);
    }

    #[test]
    fn entry_without_system_bit_points_to_vram() {
        let f = fixture();
        f.set_pte(2, 0x1000_3000 | (RW & !PTE_SYSTEM));
        f.mc.write_u32(GTT + 0x2010, 5).unwrap();
        assert_eq!(f.mc.read_u32(0x1000_3010), Ok(5));
    }

    #[test]
    fn invalid_entry_faults_or_hits_default_page() {
        let f = fixture();
        assert_eq!(f.mc.read_u32(GTT), Err(McError::PageFault(GTT)));
        f.regs.store(
            VM_CONTEXT0_CNTL,
            ENABLE_CONTEXT | RANGE_PROTECTION_FAULT_ENABLE_DEFAULT,
        );
        f.regs.store(VM_CONTEXT0_PROTECTION_FAULT_DEFAULT_ADDR, 0xa);
        f.mc.write_u32(GTT + 8, 9).unwrap();
        let mut b = [0; 4];
        f.guest.read(0xa008, &mut b).unwrap();
        assert_eq!(u32::from_le_bytes(b), 9);
    }

    #[test]
    fn read_only_entry_refuses_writes() {
        let f = fixture();
        f.set_pte(0, 0x8000 | (RW & !PTE_WRITEABLE));
        assert!(f.mc.read_u32(GTT).is_ok());
        assert_eq!(f.mc.write_u32(GTT, 1), Err(McError::PageFault(GTT)));
    }

    #[test]
    fn entry_outside_guest_ram_is_an_error() {
        let f = fixture();
        f.set_pte(0, 0xff_ffff_f000 | RW);
        assert_eq!(
            f.mc.write_u32(GTT, 1),
            Err(McError::GuestRam(0xff_ffff_f000))
        );
    }

    #[test]
    fn unmapped_guest_ram_is_gone_at_once() {
        let f = fixture();
        f.set_pte(0, 0x8000 | RW);
        f.mc.write_u32(GTT, 1).unwrap();
        f.guest.unmap(0x8000, 4 * PAGE_SIZE).unwrap();
        assert_eq!(f.mc.read_u32(GTT), Err(McError::GuestRam(0x8000)));
    }

    #[test]
    fn range_ends_and_disabled_context_are_unmapped() {
        let f = fixture();
        let beyond = GTT + 16 * PAGE_SIZE;
        assert_eq!(f.mc.read_u32(beyond), Err(McError::Unmapped(beyond)));
        f.regs.store(VM_CONTEXT0_CNTL, 0);
        assert_eq!(f.mc.read_u32(GTT), Err(McError::Unmapped(GTT)));
        assert!(f.mc.write(u64::MAX - 3, &[0; 8]).is_err());
    }

    #[test]
    fn hostile_table_registers_never_panic() {
        let f = fixture();
        for value in [0, 1, 0x7fff_ffff, u32::MAX] {
            for reg in [
                MC_VM_FB_LOCATION,
                VM_CONTEXT0_PAGE_TABLE_BASE_ADDR,
                VM_CONTEXT0_PAGE_TABLE_START_ADDR,
                VM_CONTEXT0_PAGE_TABLE_END_ADDR,
            ] {
                f.regs.store(reg, value);
                for addr in [0, GTT, 0xff_ffff_ffff, u64::MAX] {
                    let _ = f.mc.read(addr, &mut [0; 16]);
                    let _ = f.mc.write(addr, &[0; 16]);
                }
            }
        }
    }
}
