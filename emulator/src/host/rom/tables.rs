// SPDX-License-Identifier: MIT
//! Contents of the ATOM tables. Field order and meaning: `atombios.h`.

use super::bytecode::{Code, Lane, Operand, OP_EOT};
use crate::chip::family::Model;
use crate::host::pci::VENDOR_ID;

/// Entries of the master list of command tables.
pub const COMMAND_TABLES: usize = 81;
/// Entries of the master list of data tables.
pub const DATA_TABLES: usize = 34;
/// Command table index: look for a monitor on a DAC.
pub const DAC_LOAD_DETECTION: usize = 21;
/// Command table index: blank a CRTC.
pub const BLANK_CRTC: usize = 34;
/// Command table index: switch a CRTC on or off.
pub const ENABLE_CRTC: usize = 35;
/// Command table index: timing of a CRTC.
pub const SET_CRTC_USING_DTD_TIMING: usize = 49;
/// Data table index: clocks and PLL limits.
pub const FIRMWARE_INFO: usize = 4;
/// Data table index: connectors and encoders.
pub const OBJECT_HEADER: usize = 22;
/// Data table index: indirect register access programs.
pub const INDIRECT_IO_ACCESS: usize = 23;

/// Indirect I/O program: end.
const IIO_END: u8 = 9;

/// ATOM_DEVICE_CRT1_SUPPORT.
const DEVICE_CRT1: u16 = 1 << 0;
/// Connector object: VGA, first of its kind.
const CONNECTOR_VGA: u16 = 0x3105;
/// Encoder object: KLDSCP internal DAC 1, first of its kind.
const ENCODER_DAC1: u16 = 0x2115;
/// GPU object.
const GPU: u16 = 0x1100;

/// Reference crystal in units of 10 kHz: 27 MHz on these boards.
const REFERENCE_CLOCK: u16 = 2700;

/// ATOM_COMMON_TABLE_HEADER: every table begins with one.
#[derive(Debug, Clone, Copy)]
pub struct TableHeader {
    format: u8,
    content: u8,
}

impl TableHeader {
    /// Header with a format and a content revision.
    pub fn new(format: u8, content: u8) -> Self {
        Self { format, content }
    }

    /// The header followed by `body`, sizes filled in.
    pub fn table(self, body: &[u8]) -> Vec<u8> {
        let size = (body.len() + 4) as u16;
        let mut t = size.to_le_bytes().to_vec();
        t.push(self.format);
        t.push(self.content);
        t.extend_from_slice(body);
        t
    }
}

/// Appends little-endian fields one after the other.
#[derive(Default)]
struct Fields(Vec<u8>);

impl Fields {
    fn u8(mut self, v: u8) -> Self {
        self.0.push(v);
        self
    }
    fn u16(mut self, v: u16) -> Self {
        self.0.extend_from_slice(&v.to_le_bytes());
        self
    }
    fn u32(mut self, v: u32) -> Self {
        self.0.extend_from_slice(&v.to_le_bytes());
        self
    }
    fn bytes(mut self, v: &[u8]) -> Self {
        self.0.extend_from_slice(v);
        self
    }
}

/// ATOM_ROM_HEADER, revision 1.1. The offsets are of the name string and
/// of the two master lists.
pub fn rom_header(model: &Model, name: usize, commands: usize, data: usize) -> Vec<u8> {
    let f = Fields::default()
        .bytes(b"ATOM")
        .u16(0) // BIOS run-time segment
        .u16(0) // protected mode info
        .u16(0) // configuration file name
        .u16(0) // CRC block
        .u16(name as u16) // boot-up message
        .u16(0) // INT 10h
        .u16(0) // PCI bus and device code
        .u16(0) // I/O base
        .u16(VENDOR_ID)
        .u16(model.device_id)
        .u16(0x18) // PCI info
        .u16(commands as u16)
        .u16(data as u16)
        .u8(0)
        .u8(0);
    TableHeader::new(1, 1).table(&f.0)
}

/// A command table that does nothing: no work space, no parameters, EOT.
pub fn no_op_command() -> Vec<u8> {
    TableHeader::new(1, 1).table(&[0, 0, OP_EOT])
}

/// Distance of the second CRTC's registers from the first's (`r500_reg.h`).
const CRTC_STRIDE: u16 = 0x800;
/// ATOM_CRTC2.
const CRTC2: u8 = 1;
/// AVIVO_D1CRTC_H_TOTAL; blank and sync follow at +4 and +8.
const D1CRTC_H_TOTAL: u16 = 0x6000;
/// AVIVO_D1CRTC_V_TOTAL; blank and sync follow at +4 and +8.
const D1CRTC_V_TOTAL: u16 = 0x6020;
/// AVIVO_D1CRTC_CONTROL: enable is bit 0.
const D1CRTC_CONTROL: u16 = 0x6080;
/// AVIVO_D1CRTC_BLANK_CONTROL: blank is bit 8, as EVERGREEN_CRTC_BLANK_DATA_EN.
const D1CRTC_BLANK_CONTROL: u16 = 0x6084;

/// R600_BIOS_0_SCRATCH: what the BIOS has detected.
const BIOS_0_SCRATCH: u16 = 0x1724;
/// ATOM_S0_CRT1_COLOR: a colour monitor is on the first CRT's DAC.
const S0_CRT1_COLOR: u8 = 0x2;

/// DAC_LoadDetection: whatever DAC is asked about, the one colour monitor of
/// this board is found on the first.
pub fn dac_load_detection() -> Vec<u8> {
    let code = Code::new().mov(
        Operand::Reg(BIOS_0_SCRATCH, Lane::Byte0),
        Operand::Imm8(S0_CRT1_COLOR),
    );
    TableHeader::new(1, 1).table(&code.body(0, 1))
}

/// EnableCRTC: parameter bytes CRTC and enable.
pub fn enable_crtc() -> Vec<u8> {
    let code = Code::new()
        .reg_block_if(Operand::Ps(0, Lane::Byte0), CRTC2, CRTC_STRIDE)
        .mov(
            Operand::Reg(D1CRTC_CONTROL, Lane::Byte0),
            Operand::Ps(0, Lane::Byte8),
        );
    TableHeader::new(1, 1).table(&code.body(0, 1))
}

/// BlankCRTC: parameter bytes CRTC and blank, then the blank colour, which
/// is always black here.
pub fn blank_crtc() -> Vec<u8> {
    let code = Code::new()
        .reg_block_if(Operand::Ps(0, Lane::Byte0), CRTC2, CRTC_STRIDE)
        .mov(
            Operand::Reg(D1CRTC_BLANK_CONTROL, Lane::Byte8),
            Operand::Ps(0, Lane::Byte8),
        );
    TableHeader::new(1, 1).table(&code.body(0, 2))
}

/// SetCRTC_UsingDTDTiming. Parameter words: width, horizontal blank;
/// height, vertical blank; sync offset and width of both directions; mode
/// flags, borders; CRTC.
///
/// The CRTC counts from the start of the sync pulse: the picture begins
/// when the rest of the blank after that is over, and ends a sync offset
/// before the total.
pub fn set_crtc_using_dtd_timing() -> Vec<u8> {
    const TOTAL: u8 = 0;
    const VALUE: u8 = 1;
    let mut code = Code::new().reg_block_if(Operand::Ps(5, Lane::Byte0), CRTC2, CRTC_STRIDE);
    for (size, sync, reg) in [(0, 2, D1CRTC_H_TOTAL), (1, 3, D1CRTC_V_TOTAL)] {
        let total = Operand::Ws(TOTAL, Lane::Word0);
        let low = Operand::Ws(VALUE, Lane::Word0);
        let high = Operand::Ws(VALUE, Lane::Word16);
        let blank = Operand::Ps(size, Lane::Word16);
        let sync_offset = Operand::Ps(sync, Lane::Word0);
        let put = |code: Code, reg| {
            code.mov(
                Operand::Reg(reg, Lane::Dword),
                Operand::Ws(VALUE, Lane::Dword),
            )
        };
        code = code
            .clear_ws(TOTAL)
            .mov(total, Operand::Ps(size, Lane::Word0))
            .add(total, blank);
        // Total minus one.
        code = code
            .clear_ws(VALUE)
            .mov(low, total)
            .sub(low, Operand::Imm16(1));
        code = put(code, reg);
        // Start of the blank in the low half, its end in the high one.
        code = code
            .mov(low, total)
            .sub(low, sync_offset)
            .mov(high, blank)
            .sub(high, sync_offset);
        code = put(code, reg + 4);
        // Sync from 0 to its width.
        code = code
            .clear_ws(VALUE)
            .mov(high, Operand::Ps(sync, Lane::Word16));
        code = put(code, reg + 8);
    }
    TableHeader::new(1, 1).table(&code.body(2, 6))
}

/// ATOM_FIRMWARE_INFO_V1_4. Clocks are in units of 10 kHz; limits are
/// typical for the family and wide enough for every VESA mode.
pub fn firmware_info(model: &Model) -> Vec<u8> {
    let f = Fields::default()
        .u32(0x0001_0000) // firmware revision
        .u32(model.engine_clock)
        .u32(model.memory_clock)
        .u32(model.engine_clock) // driver target engine
        .u32(model.memory_clock) // driver target memory
        .u32(120_000) // max engine PLL output
        .u32(200_000) // max memory PLL output
        .u32(120_000) // max pixel PLL output
        .u32(model.engine_clock) // ASIC max engine
        .u32(model.memory_clock) // ASIC max memory
        .u8(110) // max temperature, degrees Celsius
        .u8(0) // min back light level
        .u16(1100) // boot voltage, mV
        .u16(648) // LCD PLL output min, MHz
        .u16(1200) // LCD PLL output max, MHz
        .u32(model.engine_clock) // 3D engine clock
        .u32(64_800) // min pixel PLL output
        .u16(100) // min engine PLL input
        .u16(1350) // max engine PLL input
        .u16(60_000) // min engine PLL output
        .u16(100) // min memory PLL input
        .u16(1350) // max memory PLL input
        .u16(60_000) // min memory PLL output
        .u16(40_000) // max pixel clock
        .u16(600) // min pixel PLL input
        .u16(1350) // max pixel PLL input
        .u16(64_800) // min pixel PLL output, low half
        .u16(0) // capabilities: no PowerPlay, no asserted features
        .u16(REFERENCE_CLOCK)
        .u16(0) // RTS location
        .u8(0) // RTS size
        .u8(0) // design
        .u8(0); // memory module
    TableHeader::new(1, 4).table(&f.0)
}

/// ATOM_OBJECT_HEADER revision 1.2: a VGA connector fed by the first DAC.
/// Offsets inside count from the start of this table.
pub fn object_header() -> Vec<u8> {
    // Header (4) plus six words.
    const FIXED: usize = 16;
    // Each list: count and padding (4) plus one 8-byte object.
    const LIST: usize = 12;
    let connectors = FIXED;
    let encoders = connectors + LIST;
    let routers = encoders + LIST;
    let paths = routers + 4;
    // Records of all objects: one list that ends at once.
    let no_records = paths + 4 + 10;

    let object = |f: Fields, id| {
        f.u8(1)
            .bytes(&[0; 3])
            .u16(id)
            .u16(0) // no source/destination list
            .u16(no_records as u16)
            .u16(0)
    };
    let mut f = Fields::default()
        .u16(DEVICE_CRT1)
        .u16(connectors as u16)
        .u16(routers as u16)
        .u16(encoders as u16)
        .u16(0) // no protection objects
        .u16(paths as u16);
    f = object(f, CONNECTOR_VGA);
    f = object(f, ENCODER_DAC1);
    f = f.u8(0).bytes(&[0; 3]); // no routers
    f = f
        .u8(1) // one display path
        .u8(0)
        .bytes(&[0; 2])
        .u16(DEVICE_CRT1)
        .u16(10) // bytes of this path
        .u16(CONNECTOR_VGA)
        .u16(GPU)
        .u16(ENCODER_DAC1);
    f = f.bytes(&[0xff, 0]); // end of records
    TableHeader::new(1, 2).table(&f.0)
}

/// Indirect I/O list without programs.
pub fn indirect_io_access() -> Vec<u8> {
    TableHeader::new(1, 1).table(&[IIO_END])
}

#[cfg(test)]
mod tests {
    use super::super::bytecode::interpreter::{execute, Registers};
    use super::*;

    #[test]
    fn enable_crtc_sets_and_clears_only_the_enable_byte() {
        let mut regs = Registers::from([(0x6080, 0x0001_0000), (0x6880, 0x0001_0000)]);
        execute(&enable_crtc(), &[0x0100], &mut regs);
        assert_eq!(regs[&0x6080], 0x0001_0001);
        assert_eq!(regs[&0x6880], 0x0001_0000);
        execute(&enable_crtc(), &[0x0101], &mut regs);
        assert_eq!(regs[&0x6880], 0x0001_0001);
        execute(&enable_crtc(), &[0x0000], &mut regs);
        assert_eq!(regs[&0x6080], 0x0001_0000);
    }

    #[test]
    fn dac_load_detection_finds_the_monitor_and_keeps_other_bytes() {
        let mut regs = Registers::from([(0x1724, 0xaabb_cc00)]);
        execute(&dac_load_detection(), &[1], &mut regs);
        assert_eq!(regs[&0x1724], 0xaabb_cc02);
    }

    #[test]
    fn blank_crtc_drives_blank_data_enable() {
        let mut regs = Registers::new();
        execute(&blank_crtc(), &[0x0101, 0], &mut regs);
        assert_eq!(regs[&0x6884], 1 << 8);
        execute(&blank_crtc(), &[0x0001, 0], &mut regs);
        assert_eq!(regs[&0x6884], 0);
    }

    #[test]
    fn vesa_1024x768_at_60_gets_its_timing() {
        // 1024 1048 1184 1344, 768 771 777 806 (VESA DMT).
        let word = |low: u32, high: u32| (high << 16) | low;
        let ps = [
            word(1024, 320),
            word(768, 38),
            word(24, 136),
            word(3, 6),
            0,
            1,
        ];
        let mut regs = Registers::new();
        execute(&set_crtc_using_dtd_timing(), &ps, &mut regs);
        let second = |at: u32| regs[&(at + 0x800)];
        assert_eq!(second(0x6000), 1343);
        assert_eq!(second(0x6004), word(1344 - 24, 320 - 24));
        assert_eq!(second(0x6008), word(0, 136));
        assert_eq!(second(0x6020), 805);
        assert_eq!(second(0x6024), word(806 - 3, 38 - 3));
        assert_eq!(second(0x6028), word(0, 6));
        assert_eq!(regs.len(), 6);
    }
}
