// SPDX-License-Identifier: MIT
//! PCI configuration space of the board.
//!
//! The layout follows the PCI Local Bus Specification 3.0 (header and MSI)
//! and the PCI Express Base Specification 2.0 (capability of an endpoint).
//! Every byte has a mask of writable bits; all other bits are read-only. QEMU
//! itself keeps the BARs and the MSI capability that the guest sees; here they
//! only answer sizing.
//!
//! The driver needs the PCI Express capability: without it radeon treats the
//! chip as a PCI one and silently makes every GTT buffer cached.

/// PCI vendor: ATI Technologies.
pub const VENDOR_ID: u16 = 0x1002;
/// Size of the configuration space in bytes: PCI Express has 4 KiB.
pub const CONFIG_SIZE: usize = 4096;

/// Index of the VRAM BAR (64-bit, prefetchable).
pub const BAR_VRAM: u32 = 0;
/// Index of the MMIO BAR (64-bit).
pub const BAR_MMIO: u32 = 2;
/// Index of the I/O BAR.
pub const BAR_IO: u32 = 4;
/// Size of the I/O BAR in bytes.
pub const IO_SIZE: u64 = 0x100;
/// Size of the expansion ROM BAR in bytes.
pub const ROM_SIZE: u64 = 0x10000;

const COMMAND: usize = 0x04;
const COMMAND_BUS_MASTER: u16 = 1 << 2;
const COMMAND_INTX_DISABLE: u16 = 1 << 10;
const STATUS: usize = 0x06;
const STATUS_CAP_LIST: u16 = 1 << 4;
const CAP_PTR: usize = 0x34;

const PM_CAP: usize = 0x50;
const EXP_CAP: usize = 0x58;
const MSI_CAP: usize = 0xA0;
const LINK_STATUS: usize = EXP_CAP + 0x12;

/// Configuration space with per-bit write masks.
#[derive(Debug, Clone)]
pub struct ConfigSpace {
    bytes: Vec<u8>,
    mask: Vec<u8>,
    power_on: Vec<u8>,
}

impl ConfigSpace {
    /// Configuration space of a board with PCI device `device_id` and
    /// `vram_bar` and `mmio_bar` bytes (powers of two) of VRAM and MMIO BAR;
    /// with `msi` it has an MSI capability, else just the INTA pin.
    pub fn new(device_id: u16, vram_bar: u64, mmio_bar: u64, msi: bool) -> Self {
        let mut c = Self {
            bytes: vec![0; CONFIG_SIZE],
            mask: vec![0; CONFIG_SIZE],
            power_on: Vec::new(),
        };
        c.set16(0x00, VENDOR_ID, 0);
        c.set16(0x02, device_id, 0);
        // I/O, memory, bus master, parity response, SERR#, INTx disable.
        c.set16(COMMAND, 0, 0x0547);
        c.set16(STATUS, STATUS_CAP_LIST, 0);
        // Class 0x030000: VGA-compatible display controller.
        c.set16(0x0A, 0x0300, 0);
        c.set8(0x0C, 0, 0xff); // cache line size
        c.set_bar64(0x10, vram_bar, 0xC);
        c.set_bar64(0x18, mmio_bar, 0x4);
        c.set32(0x20, 0x1, !(IO_SIZE as u32 - 1));
        c.set16(0x2C, VENDOR_ID, 0);
        c.set16(0x2E, device_id, 0);
        c.set32(0x30, 0, !(ROM_SIZE as u32 - 1) | 1);
        c.set8(0x3C, 0xff, 0xff); // interrupt line
        c.set8(0x3D, 1, 0); // INTA#
        c.set8(CAP_PTR, PM_CAP as u8, 0);

        // Power management 1.2, D0 to D3hot, no PME; power state writable.
        c.capability(PM_CAP, 0x01, EXP_CAP);
        c.set16(PM_CAP + 2, 0x0603, 0);
        // No_Soft_Reset: D3hot to D0 keeps the state.
        c.set16(PM_CAP + 4, 0x0008, 0x0003);

        c.capability(EXP_CAP, 0x10, if msi { MSI_CAP } else { 0 });
        // Version 2 (bits 3:0), legacy endpoint (type 1 in bits 7:4): it has
        // I/O space, as VGA boards do.
        c.set16(EXP_CAP + 2, 0x0012, 0);
        // Device capabilities: payload up to 256 bytes (1 in bits 2:0),
        // extended tags (bit 5), role-based error reporting (bit 15).
        c.set32(EXP_CAP + 4, 0x0000_8021, 0);
        // Device control: relaxed ordering (bit 4), no snoop (bit 11), read
        // requests up to 512 bytes (2 in bits 14:12).
        c.set16(EXP_CAP + 8, 0x2810, 0x7fff);
        // Link capabilities: 5 GT/s (2 in bits 3:0), x16 (bits 9:4), L0s and
        // L1 (bits 11:10).
        c.set32(EXP_CAP + 0x0C, 0x0000_0D02, 0);
        c.set16(EXP_CAP + 0x10, 0, 0x01fb);
        // Link status: speed (bits 3:0, see set_link_speed), x16 (bits 9:4),
        // the slot's clock is used (bit 12).
        c.set16(LINK_STATUS, 0x1101, 0);
        // Link capabilities 2: 2.5 and 5 GT/s (bits 1 and 2); link control 2:
        // target 5 GT/s.
        c.set32(EXP_CAP + 0x2C, 0x0000_0006, 0);
        c.set16(EXP_CAP + 0x30, 0x0002, 0x000f);

        if msi {
            c.capability(MSI_CAP, 0x05, 0);
            // 64-bit address, one vector, no per-vector masking.
            c.set16(MSI_CAP + 2, 0x0080, 0x0001);
            c.set32(MSI_CAP + 4, 0, !3);
            c.set32(MSI_CAP + 8, 0, !0);
            c.set16(MSI_CAP + 12, 0, 0xffff);
        }
        c.power_on = c.bytes.clone();
        c
    }

    fn set8(&mut self, at: usize, value: u8, mask: u8) {
        self.bytes[at] = value;
        self.mask[at] = mask;
    }

    fn set16(&mut self, at: usize, value: u16, mask: u16) {
        self.bytes[at..at + 2].copy_from_slice(&value.to_le_bytes());
        self.mask[at..at + 2].copy_from_slice(&mask.to_le_bytes());
    }

    fn set32(&mut self, at: usize, value: u32, mask: u32) {
        self.bytes[at..at + 4].copy_from_slice(&value.to_le_bytes());
        self.mask[at..at + 4].copy_from_slice(&mask.to_le_bytes());
    }

    fn set_bar64(&mut self, at: usize, size: u64, flags: u32) {
        let mask = !(size - 1);
        self.set32(at, flags, mask as u32);
        self.set32(at + 4, 0, (mask >> 32) as u32);
    }

    fn capability(&mut self, at: usize, id: u8, next: usize) {
        self.set8(at, id, 0);
        self.set8(at + 1, next as u8, 0);
    }

    fn command(&self) -> u16 {
        u16::from_le_bytes([self.bytes[COMMAND], self.bytes[COMMAND + 1]])
    }

    /// Sets the speed in the link status register: 5 GT/s with
    /// `second_generation`, else 2.5 GT/s.
    pub fn set_link_speed(&mut self, second_generation: bool) {
        let speed = if second_generation { 2 } else { 1 };
        self.bytes[LINK_STATUS] = self.bytes[LINK_STATUS] & 0xf0 | speed;
    }

    /// Whether the board may access guest RAM.
    pub fn bus_master(&self) -> bool {
        self.command() & COMMAND_BUS_MASTER != 0
    }

    /// Whether the guest has switched INTA# off.
    pub fn intx_disabled(&self) -> bool {
        self.command() & COMMAND_INTX_DISABLE != 0
    }

    /// Reads any number of bytes at any offset; beyond the end they are 0.
    pub fn read(&self, offset: u64, data: &mut [u8]) {
        for (i, byte) in data.iter_mut().enumerate() {
            let at = offset.checked_add(i as u64);
            *byte = at
                .and_then(|at| usize::try_from(at).ok())
                .and_then(|at| self.bytes.get(at).copied())
                .unwrap_or(0);
        }
    }

    /// Writes the writable bits of any number of bytes at any offset.
    pub fn write(&mut self, offset: u64, data: &[u8]) {
        for (i, &value) in data.iter().enumerate() {
            let Some(at) = offset
                .checked_add(i as u64)
                .and_then(|at| usize::try_from(at).ok())
                .filter(|&at| at < CONFIG_SIZE)
            else {
                return;
            };
            let mask = self.mask[at];
            self.bytes[at] = (self.bytes[at] & !mask) | (value & mask);
        }
    }

    /// Puts everything back to its power-on value.
    pub fn reset(&mut self) {
        self.bytes.clone_from(&self.power_on);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config() -> ConfigSpace {
        ConfigSpace::new(0x9540, 256 << 20, 0x1_0000, true)
    }

    fn read32(c: &ConfigSpace, at: u64) -> u32 {
        let mut b = [0; 4];
        c.read(at, &mut b);
        u32::from_le_bytes(b)
    }

    #[test]
    fn identifies_as_vga_controller() {
        let c = config();
        assert_eq!(read32(&c, 0), 0x9540_1002);
        assert_eq!(read32(&c, 8) >> 8, 0x03_0000);
    }

    #[test]
    fn bars_answer_sizing() {
        let mut c = config();
        for (at, want) in [
            (0x10, 0xf000_000c),
            (0x14, 0xffff_ffff),
            (0x18, 0xffff_0004),
            (0x1c, 0xffff_ffff),
            (0x20, 0xffff_ff01),
            (0x24, 0),
            (0x30, 0xffff_0001),
        ] {
            c.write(at, &[0xff; 4]);
            assert_eq!(read32(&c, at), want, "BAR at {at:#x}");
        }
    }

    #[test]
    fn read_only_bits_stay() {
        let mut c = config();
        c.write(0, &[0; 4]);
        assert_eq!(read32(&c, 0), 0x9540_1002);
        c.write(4, &[0xff; 4]);
        assert_eq!(read32(&c, 4), 0x0010_0547);
    }

    fn capabilities(c: &ConfigSpace) -> Vec<u8> {
        let mut found = Vec::new();
        let mut at = (read32(c, 0x34) & 0xff) as u64;
        while at != 0 {
            let header = read32(c, at);
            found.push(header as u8);
            at = u64::from((header >> 8) & 0xff);
        }
        found
    }

    #[test]
    fn express_capability_is_a_legacy_endpoint_of_sixteen_lanes() {
        let mut c = config();
        let exp = EXP_CAP as u64;
        assert_eq!((read32(&c, exp) >> 20) & 0xf, 1, "type");
        assert_eq!(read32(&c, exp + 0xc) & 0x3ff, 0x102, "capabilities");
        assert_eq!(read32(&c, exp + 0x10) >> 16 & 0x3ff, 0x101, "status");
        c.set_link_speed(true);
        assert_eq!(read32(&c, exp + 0x10) >> 16 & 0x3ff, 0x102);
        c.write(exp + 0x12, &[0xff; 2]);
        assert_eq!(read32(&c, exp + 0x10) >> 16 & 0x3ff, 0x102, "read-only");
    }

    #[test]
    fn msi_is_hidden_on_request() {
        assert_eq!(capabilities(&config()), [0x01, 0x10, 0x05]);
        let c = ConfigSpace::new(0x9540, 256 << 20, 0x1_0000, false);
        assert_eq!(capabilities(&c), [0x01, 0x10]);
    }

    #[test]
    fn command_bits_are_seen_and_reset_clears_them() {
        let mut c = config();
        c.write(4, &[0x06, 0x04]);
        assert!(c.bus_master());
        assert!(c.intx_disabled());
        c.reset();
        assert!(!c.bus_master());
        assert!(!c.intx_disabled());
    }

    #[test]
    fn odd_accesses_are_harmless() {
        let mut c = config();
        for offset in [0, 3, 0xffe, 0xfff, 0x1000, u64::MAX - 1, u64::MAX] {
            for len in [0, 1, 2, 3, 8, 64] {
                c.write(offset, &vec![0xff; len]);
                let mut b = vec![0; len];
                c.read(offset, &mut b);
            }
        }
        let mut b = [1; 4];
        c.read(0xffe, &mut b);
        assert_eq!(b[2..], [0, 0]);
    }
}
