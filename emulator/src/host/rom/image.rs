// SPDX-License-Identifier: MIT
//! Layout of the ROM image.
//!
//! | offset | content |
//! |---|---|
//! | 0x00 | 55 AA, length in 512-byte units, entry point (a far return) |
//! | 0x18 | offset of the PCI data structure |
//! | 0x21 | checksum byte: all bytes of the image add up to 0 |
//! | 0x30 | ` 761295520`, ATI's mark, NUL-terminated |
//! | 0x48 | offset of the ATOM ROM header |
//! | 0x60 | PCI data structure, then the ATOM tables, dword-aligned |
//!
//! ATOM offsets count from the start of the image.

use super::tables::{self, TableHeader};
use crate::chip::family::Model;
use crate::chip::regs::cg::{CG_SPLL_FUNC_CNTL, MPLL_AD_FUNC_CNTL};
use crate::host::pci::VENDOR_ID;

/// Offset of the image's length byte.
const LENGTH: usize = 0x02;
/// Offset of the pointer to the PCI data structure.
const PCIR_POINTER: usize = 0x18;
/// Offset of the byte that makes the sum of the image zero.
const CHECKSUM: usize = 0x21;
/// Offset of ATI's mark (ATOM_ATI_MAGIC_PTR).
const ATI_MAGIC: usize = 0x30;
/// Offset of the pointer to the ATOM ROM header (ATOM_ROM_TABLE_PTR).
const ROM_TABLE_POINTER: usize = 0x48;
/// Offset of the first byte after the fixed area.
const FIRST_TABLE: usize = 0x60;
/// Unit of the image's length, in bytes.
const BLOCK: usize = 512;

/// An image under construction.
struct Image {
    bytes: Vec<u8>,
}

impl Image {
    fn put16(&mut self, at: usize, value: usize) {
        // The image is a few KiB: every offset in it fits.
        self.bytes[at..at + 2].copy_from_slice(&(value as u16).to_le_bytes());
    }

    /// Appends `data` at the next dword and returns its offset.
    fn append(&mut self, data: &[u8]) -> usize {
        while self.bytes.len() % 4 != 0 {
            self.bytes.push(0);
        }
        let at = self.bytes.len();
        self.bytes.extend_from_slice(data);
        at
    }

    /// Appends a master list of `offsets` and returns its own offset.
    fn append_master_list(&mut self, offsets: &[usize]) -> usize {
        let mut body = Vec::new();
        for &offset in offsets {
            body.extend_from_slice(&(offset as u16).to_le_bytes());
        }
        self.append(&TableHeader::new(1, 1).table(&body))
    }
}

/// Builds the image of a board with `monitors` monitors, at most [`tables::MAX_MONITORS`]: a multiple
/// of 512 bytes long, checksum included.
pub fn build(model: &Model, monitors: usize) -> Vec<u8> {
    let mut image = Image {
        bytes: vec![0; FIRST_TABLE],
    };
    image.bytes[..2].copy_from_slice(&[0x55, 0xAA]);
    // RETF: firmware that calls the entry point gets control back at once.
    image.bytes[3] = 0xCB;
    let magic = b" 761295520\0";
    image.bytes[ATI_MAGIC..ATI_MAGIC + magic.len()].copy_from_slice(magic);

    let pcir = image.append(&pci_data_structure(model.device_id));
    image.put16(PCIR_POINTER, pcir);

    // Shown by the driver at load.
    let name = format!("R7XX_BOARD_{}\0", model.name.to_uppercase());
    let name = image.append(name.as_bytes());

    let generation = model.generation;
    let display = &generation.display;
    let no_op = image.append(&tables::no_op_command(1));
    let mut commands = [no_op; tables::COMMAND_TABLES];
    let pixel_clock = tables::no_op_command(generation.bios.set_pixel_clock);
    commands[tables::SET_PIXEL_CLOCK] = image.append(&pixel_clock);
    commands[tables::DAC_LOAD_DETECTION] = image.append(&tables::dac_load_detection(monitors));
    commands[tables::ENABLE_CRTC] = image.append(&tables::enable_crtc(display));
    commands[tables::BLANK_CRTC] = image.append(&tables::blank_crtc(display));
    let timing = tables::set_crtc_using_dtd_timing(display);
    commands[tables::SET_CRTC_USING_DTD_TIMING] = image.append(&timing);
    commands[tables::SET_ENGINE_CLOCK] = image.append(&tables::set_clock(CG_SPLL_FUNC_CNTL));
    commands[tables::SET_MEMORY_CLOCK] = image.append(&tables::set_clock(MPLL_AD_FUNC_CNTL));
    commands[tables::GET_ENGINE_CLOCK] = image.append(&tables::get_clock(CG_SPLL_FUNC_CNTL));
    commands[tables::GET_MEMORY_CLOCK] = image.append(&tables::get_clock(MPLL_AD_FUNC_CNTL));
    let commands = image.append_master_list(&commands);

    let mut data = [0; tables::DATA_TABLES];
    data[tables::FIRMWARE_INFO] = image.append(&tables::firmware_info(model));
    data[tables::POWER_PLAY_INFO] = image.append(&tables::power_play_info(model));
    data[tables::OBJECT_HEADER] = image.append(&tables::object_header(monitors));
    data[tables::INDIRECT_IO_ACCESS] = image.append(&tables::indirect_io_access());
    if generation.bios.chipset {
        let info = tables::integrated_system_info(model);
        data[tables::INTEGRATED_SYSTEM_INFO] = image.append(&info);
    }
    let data = image.append_master_list(&data);

    let header = tables::rom_header(model, name, commands, data);
    let header = image.append(&header);
    image.put16(ROM_TABLE_POINTER, header);

    let blocks = image.bytes.len().div_ceil(BLOCK);
    image.bytes.resize(blocks * BLOCK, 0);
    image.bytes[LENGTH] = blocks as u8;
    image.put16(pcir + 0x10, blocks);
    let sum = image.bytes.iter().fold(0u8, |s, &b| s.wrapping_add(b));
    image.bytes[CHECKSUM] = sum.wrapping_neg();
    image.bytes
}

/// PCI data structure (PCI Firmware Specification 3.0, revision 0). [`build`]
/// fills in the image length.
fn pci_data_structure(device_id: u16) -> Vec<u8> {
    let mut d = b"PCIR".to_vec();
    d.extend_from_slice(&VENDOR_ID.to_le_bytes());
    d.extend_from_slice(&device_id.to_le_bytes());
    d.extend_from_slice(&[0, 0]); // no vital product data
    d.extend_from_slice(&0x18u16.to_le_bytes());
    d.push(0); // revision of this structure
    d.extend_from_slice(&[0x00, 0x00, 0x03]); // class: VGA controller
    d.extend_from_slice(&[0, 0]); // image length, see build()
    d.extend_from_slice(&[0, 0]); // revision of the image
    d.push(0); // code type: PC-AT
    d.push(0x80); // last image
    d.extend_from_slice(&[0, 0]);
    d
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chip::Family;

    fn u16_at(rom: &[u8], at: usize) -> usize {
        usize::from(u16::from_le_bytes([rom[at], rom[at + 1]]))
    }

    fn u32_at(rom: &[u8], at: usize) -> u32 {
        u32::from_le_bytes(rom[at..at + 4].try_into().unwrap())
    }

    /// Offset of data table `index`, found as a driver finds it.
    fn data_table(rom: &[u8], index: usize) -> usize {
        let header = u16_at(rom, 0x48);
        u16_at(rom, u16_at(rom, header + 0x20) + 4 + 2 * index)
    }

    #[test]
    fn image_is_a_valid_option_rom() {
        let rom = build(Family::Rv710.model(), 1);
        assert_eq!(rom[..2], [0x55, 0xAA]);
        assert_eq!(usize::from(rom[2]) * 512, rom.len());
        assert_eq!(rom[3], 0xCB);
        assert_eq!(rom.iter().fold(0u8, |s, &b| s.wrapping_add(b)), 0);
        assert!(rom.len() as u64 <= crate::host::pci::ROM_SIZE);
        let pcir = u16_at(&rom, 0x18);
        assert_eq!(&rom[pcir..pcir + 4], b"PCIR");
        assert_eq!(u16_at(&rom, pcir + 4), 0x1002);
        assert_eq!(u16_at(&rom, pcir + 6), 0x9540);
        assert_eq!(u16_at(&rom, pcir + 0x10) * 512, rom.len());
    }

    #[test]
    fn rom_header_links_name_and_lists() {
        let rom = build(Family::Rv710.model(), 1);
        assert_eq!(&rom[0x30..0x3a], b" 761295520");
        let header = u16_at(&rom, 0x48);
        assert_eq!(&rom[header + 4..header + 8], b"ATOM");
        let name = u16_at(&rom, header + 0x10);
        assert_eq!(&rom[name..name + 17], b"R7XX_BOARD_RV710\0");
        let commands = u16_at(&rom, header + 0x1e);
        assert_eq!(u16_at(&rom, commands), 4 + 2 * tables::COMMAND_TABLES);
        let data = u16_at(&rom, header + 0x20);
        assert_eq!(u16_at(&rom, data), 4 + 2 * tables::DATA_TABLES);
    }

    #[test]
    fn every_command_ends_inside_itself() {
        let rom = build(Family::Rv710.model(), 1);
        let commands = u16_at(&rom, u16_at(&rom, 0x48) + 0x1e);
        for index in 0..tables::COMMAND_TABLES {
            let table = u16_at(&rom, commands + 4 + 2 * index);
            let size = u16_at(&rom, table);
            assert_eq!(rom[table + 2..table + 4], [1, 1]);
            assert_eq!(rom[table + size - 1], 0x5B, "EOT");
            let real = [10, 11, 21, 34, 35, 47, 48, 49].contains(&index);
            assert_eq!(size > 7, real, "command {index}");
        }
    }

    #[test]
    fn firmware_info_is_where_asic_init_looks() {
        let rom = build(Family::Rv710.model(), 1);
        let table = data_table(&rom, 4);
        assert_eq!(rom[table + 2..table + 4], [1, 4]);
        assert_eq!(u32_at(&rom, table + 8), 60000);
        assert_eq!(u32_at(&rom, table + 12), 40000);
        assert_eq!(u16_at(&rom, table + 82), 2700, "reference clock");
    }

    #[test]
    fn object_header_leads_to_one_vga_path() {
        let rom = build(Family::Rv710.model(), 1);
        let table = data_table(&rom, 22);
        assert_eq!(rom[table + 2..table + 4], [1, 2]);
        assert_eq!(u16_at(&rom, table + 4), 1, "CRT1");
        let connectors = table + u16_at(&rom, table + 6);
        assert_eq!(rom[connectors], 1);
        assert_eq!(u16_at(&rom, connectors + 4), 0x3105);
        let encoders = table + u16_at(&rom, table + 10);
        assert_eq!(rom[encoders], 1);
        assert_eq!(u16_at(&rom, encoders + 4), 0x2115);
        let paths = table + u16_at(&rom, table + 14);
        assert_eq!(rom[paths], 1);
        let path = paths + 4;
        assert_eq!(u16_at(&rom, path), 1);
        assert_eq!(u16_at(&rom, path + 2), 10, "length of the path");
        assert_eq!(u16_at(&rom, path + 4), 0x3105);
        assert_eq!(u16_at(&rom, path + 6), 0x1100);
        assert_eq!(u16_at(&rom, path + 8), 0x2115);
    }

    #[test]
    fn indirect_io_list_is_empty() {
        let rom = build(Family::Rv710.model(), 1);
        let table = data_table(&rom, 23);
        assert_ne!(rom[table + 4], 1, "no ATOM_IIO_START");
    }
}
