// SPDX-License-Identifier: MIT
//! Contents of the ATOM tables. Field order and meaning: `atombios.h`.

use super::bytecode::{Code, Lane, Operand, OP_EOT};
use crate::chip::display::Layout;
use crate::chip::family::Model;
use crate::chip::generation::FirmwareInfo;
use crate::host::pci::VENDOR_ID;

/// Entries of the master list of command tables.
pub const COMMAND_TABLES: usize = 81;
/// Entries of the master list of data tables.
pub const DATA_TABLES: usize = 34;
/// Command table index: clock of a CRTC or of the display engine.
pub const SET_PIXEL_CLOCK: usize = 12;
/// Command table index: look for a monitor on a DAC.
pub const DAC_LOAD_DETECTION: usize = 21;
/// Command table index: blank a CRTC.
pub const BLANK_CRTC: usize = 34;
/// Command table index: switch a CRTC on or off.
pub const ENABLE_CRTC: usize = 35;
/// Command table index: timing of a CRTC.
pub const SET_CRTC_USING_DTD_TIMING: usize = 49;
/// Command table index: set the engine clock.
pub const SET_ENGINE_CLOCK: usize = 10;
/// Command table index: set the memory clock.
pub const SET_MEMORY_CLOCK: usize = 11;
/// Command table index: get the memory clock.
pub const GET_MEMORY_CLOCK: usize = 47;
/// Command table index: get the engine clock.
pub const GET_ENGINE_CLOCK: usize = 48;
/// Data table index: power states.
pub const POWER_PLAY_INFO: usize = 15;
/// Data table index: clocks and PLL limits.
pub const FIRMWARE_INFO: usize = 4;
/// Data table index: connectors and encoders.
pub const OBJECT_HEADER: usize = 22;
/// Data table index: clocks of a chipset.
pub const INTEGRATED_SYSTEM_INFO: usize = 30;
/// Data table index: indirect register access programs.
pub const INDIRECT_IO_ACCESS: usize = 23;

/// Indirect I/O program: end.
const IIO_END: u8 = 9;

/// A VGA connector with a monitor, and the DAC that feeds it.
struct Path {
    /// `ATOM_DEVICE_CRTn_SUPPORT`
    device: u16,
    /// Connector object.
    connector: u16,
    /// Encoder object.
    encoder: u16,
    /// Where `BIOS_0_SCRATCH` has `ATOM_S0_CRTn_COLOR`, a colour monitor on that DAC: a byte, and
    /// the bit in it.
    detected: (Lane, u8),
}

/// The display paths of boards: VGA connectors, and the internal DACs (KLDSCP) 1 and 2.
const PATHS: [Path; 2] = [
    Path {
        device: 1 << 0,
        connector: 0x3105,
        encoder: 0x2115,
        detected: (Lane::Byte0, 0x2),
    },
    Path {
        device: 1 << 4,
        connector: 0x3205,
        encoder: 0x2116,
        detected: (Lane::Byte8, 0x2),
    },
];
/// Most monitors of a board.
pub const MAX_MONITORS: usize = PATHS.len();

/// GPU object.
const GPU: u16 = 0x1100;

/// Reference crystal in units of 10 kHz: 27 MHz on these boards.
const REFERENCE_CLOCK: u16 = 2700;

/// Clock of the display engine (DCE 4 and later) in units of 10 kHz.
const DISPLAY_CLOCK: u32 = 60_000;

/// ATOM_COMMON_TABLE_HEADER, the first 4 bytes of every table.
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

/// ATOM_ROM_HEADER, revision 1.1. `name`, `commands` and `data` are the offsets
/// of the name string and of the two master lists.
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

/// A command table of a content revision that does nothing: no work space, no parameters,
/// EOT.
pub fn no_op_command(revision: u8) -> Vec<u8> {
    TableHeader::new(1, revision).table(&[0, 0, OP_EOT])
}

/// Selects the registers of the CRTC in the parameter byte `crtc`.
fn select_crtc(display: &Layout, crtc: Operand) -> Code {
    let others = display.blocks.iter().enumerate().filter(|(_, b)| **b != 0);
    others.fold(Code::new(), |code, (number, block)| {
        // Offsets of registers have 17 bits, those between CRTCs 16.
        code.reg_block_if(crtc, number as u8, *block as u16)
    })
}

/// R600_BIOS_0_SCRATCH: the monitors that the BIOS has detected.
const BIOS_0_SCRATCH: u16 = 0x1724;

/// DAC_LoadDetection: reports a colour monitor on each of the first `monitors` DACs, whichever
/// DAC the driver asks about.
pub fn dac_load_detection(monitors: usize) -> Vec<u8> {
    let paths = PATHS.iter().take(monitors);
    let code = paths.fold(Code::new(), |code, path| {
        let (byte, colour) = path.detected;
        code.mov(Operand::Reg(BIOS_0_SCRATCH, byte), Operand::Imm8(colour))
    });
    TableHeader::new(1, 1).table(&code.body(0, 1))
}

/// EnableCRTC: parameter bytes CRTC and enable.
pub fn enable_crtc(display: &Layout) -> Vec<u8> {
    // The enable bit is bit 0.
    let code = select_crtc(display, Operand::Ps(0, Lane::Byte0)).mov(
        Operand::Reg(display.control as u16, Lane::Byte0),
        Operand::Ps(0, Lane::Byte8),
    );
    TableHeader::new(1, 1).table(&code.body(0, 1))
}

/// BlankCRTC: parameter bytes CRTC and blank, then the blank colour, which
/// is always black here.
pub fn blank_crtc(display: &Layout) -> Vec<u8> {
    // BLANK_DATA_EN is bit 8.
    let code = select_crtc(display, Operand::Ps(0, Lane::Byte0)).mov(
        Operand::Reg(display.blank_control as u16, Lane::Byte8),
        Operand::Ps(0, Lane::Byte8),
    );
    TableHeader::new(1, 1).table(&code.body(0, 2))
}

/// SetCRTC_UsingDTDTiming. Parameter words: width, horizontal blank;
/// height, vertical blank; sync offset and width of both directions; mode
/// flags, borders; CRTC.
///
/// The CRTC counts from the start of the sync pulse, so the picture begins at
/// the blank's length minus the sync offset, and ends at the total minus the
/// sync offset.
pub fn set_crtc_using_dtd_timing(display: &Layout) -> Vec<u8> {
    const TOTAL: u8 = 0;
    const VALUE: u8 = 1;
    let mut code = select_crtc(display, Operand::Ps(5, Lane::Byte0));
    let horizontal = [display.h_total, display.h_total + 4];
    let vertical = [display.v_total, display.v_blank_start_end];
    for (size, sync, registers) in [(0, 2, horizontal), (1, 3, vertical)] {
        let [total_register, blank_register] = registers.map(|r| r as u16);
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
        code = put(code, total_register);
        // Start of the blank in the low half, end of the blank in the high one.
        code = code
            .mov(low, total)
            .sub(low, sync_offset)
            .mov(high, blank)
            .sub(high, sync_offset);
        code = put(code, blank_register);
        // Sync from 0 to its width.
        code = code
            .clear_ws(VALUE)
            .mov(high, Operand::Ps(sync, Lane::Word16));
        code = put(code, blank_register + 4);
    }
    TableHeader::new(1, 1).table(&code.body(2, 6))
}

/// SetEngineClock and SetMemoryClock: the low 24 bits of the parameter are the
/// clock in units of 10 kHz. The flags in its byte 3 are ignored.
pub fn set_clock(register: u32) -> Vec<u8> {
    let (low, high) = (Operand::Ws(0, Lane::Word0), Operand::Ws(0, Lane::Byte16));
    let code = Code::new()
        .clear_ws(0)
        .mov(low, Operand::Ps(0, Lane::Word0))
        .mov(high, Operand::Ps(0, Lane::Byte16))
        .mov(
            Operand::Reg(register as u16, Lane::Dword),
            Operand::Ws(0, Lane::Dword),
        );
    TableHeader::new(1, 1).table(&code.body(1, 1))
}

/// GetEngineClock and GetMemoryClock: the clock is returned in the parameter.
pub fn get_clock(register: u32) -> Vec<u8> {
    let code = Code::new().mov(
        Operand::Ps(0, Lane::Dword),
        Operand::Reg(register as u16, Lane::Dword),
    );
    TableHeader::new(1, 1).table(&code.body(0, 1))
}

/// ATOM_PPLIB_POWERPLAYTABLE revision 4.1 (`pptable.h`): the boot state, a state
/// for one display and one for several. All three share three clock modes.
///
/// With fewer than four states, radeon's profiles use clock modes 0 to 2 (low,
/// mid, high) of states 1 and 2, and mode 2 of the boot state
/// (`r600_pm_init_profile()`). The low mode halves both clocks, the mid one
/// takes a quarter off; no mode changes the voltages.
pub fn power_play_info(model: &Model) -> Vec<u8> {
    // Header (4) and the fixed part of the table; the arrays follow.
    const FIXED: usize = 4 + 33;
    const STATES: usize = 3;
    const MODES: usize = 3;
    const STATE: usize = 1 + MODES;
    const CLOCK: usize = 16;
    const NON_CLOCK: usize = 24;
    /// Classification: boot state.
    const BOOT: u16 = 0x0008;
    /// Classification: performance state.
    const PERFORMANCE: u16 = 0x0005;
    /// Capabilities: the state is for one display.
    const SINGLE_DISPLAY: u32 = 1;
    /// Capabilities: PCI Express lanes minus one, from bit 3 on.
    const LANES_16: u32 = 15 << 3;

    let states = FIXED;
    let clocks = states + STATES * STATE;
    let non_clocks = clocks + MODES * CLOCK;
    let size = non_clocks + STATES * NON_CLOCK;
    let mut f = Fields::default()
        .u8(1) // data revision
        .u8(STATES as u8)
        .u8(STATE as u8)
        .u8(CLOCK as u8)
        .u8(NON_CLOCK as u8)
        .u16(states as u16)
        .u16(clocks as u16)
        .u16(non_clocks as u16)
        .u16(0) // back bias time
        .u16(0) // voltage time
        .u16(size as u16)
        .u32(0) // platform capabilities
        .bytes(&[0; 8]) // no thermal controller
        .u16(clocks as u16) // clocks of the boot state
        .u16(non_clocks as u16);
    for state in 0..STATES as u8 {
        f = f.u8(state).bytes(&[0, 1, 2]);
    }
    for quarters in [2, 3, 4] {
        for clock in [model.engine_clock, model.memory_clock] {
            let clock = clock * quarters / 4;
            f = f.u16(clock as u16).u8((clock >> 16) as u8);
        }
        // No voltages and no flags.
        f = f.u16(0).u16(0).u16(0).u32(0);
    }
    for (class, caps) in [
        (BOOT, LANES_16),
        (PERFORMANCE, LANES_16 | SINGLE_DISPLAY),
        (PERFORMANCE, LANES_16),
    ] {
        f = f
            .u16(class)
            .u8(0) // min temperature
            .u8(110) // max temperature
            .u32(caps)
            .u8(0) // required power
            .u16(0) // further classification
            .u32(0) // video clocks
            .u32(0)
            .bytes(&[0; 5]);
    }
    let table = TableHeader::new(4, 1).table(&f.0);
    debug_assert_eq!(table.len(), size);
    table
}

/// ATOM_FIRMWARE_INFO in the revision of the chip's generation.
pub fn firmware_info(model: &Model) -> Vec<u8> {
    match model.generation.bios.firmware_info {
        FirmwareInfo::V1_4 => firmware_info_1_4(model),
        FirmwareInfo::V2_1 => firmware_info_2_1(model),
    }
}

/// ATOM_FIRMWARE_INFO_V2_1: as version 1.4, with three clocks instead of limits.
fn firmware_info_2_1(model: &Model) -> Vec<u8> {
    let f = Fields::default()
        .u32(0x0002_0001) // firmware revision
        .u32(model.engine_clock)
        .u32(model.memory_clock)
        .u32(0)
        .u32(0)
        .u32(120_000) // max engine PLL output
        .u32(200_000) // max memory PLL output
        .u32(120_000) // max pixel PLL output
        .u32(0) // not altered
        .u32(DISPLAY_CLOCK)
        .u8(0)
        .u8(0) // min back light level
        .u16(1100) // boot voltage, mV
        .u16(648) // LCD PLL output min, MHz
        .u16(1200) // LCD PLL output max, MHz
        .u32(0)
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
        .u16(0) // capabilities: none asserted
        .u16(REFERENCE_CLOCK) // of the engine
        .u16(REFERENCE_CLOCK) // of the memory
        .u16(0) // no external clock for DisplayPort
        .u8(0) // memory module
        .bytes(&[0; 3]);
    TableHeader::new(2, 1).table(&f.0)
}

/// ATOM_FIRMWARE_INFO_V1_4. Clocks are in units of 10 kHz; limits are
/// typical for the family and wide enough for every VESA mode.
fn firmware_info_1_4(model: &Model) -> Vec<u8> {
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
        .u16(0) // capabilities: none asserted
        .u16(REFERENCE_CLOCK)
        .u16(0) // RTS location
        .u8(0) // RTS size
        .u8(0) // design
        .u8(0); // memory module
    TableHeader::new(1, 4).table(&f.0)
}

/// ATOM_OBJECT_HEADER revision 1.2: VGA connectors with the internal DACs, one for each of `monitors`.
/// Offsets inside count from the start of this table.
pub fn object_header(monitors: usize) -> Vec<u8> {
    // Header (4) plus six words.
    const FIXED: usize = 16;
    // Bytes of a path.
    const PATH: usize = 10;
    let used = &PATHS[..monitors.min(MAX_MONITORS)];
    // Count and padding (4) plus objects of 8 bytes.
    let list = 4 + 8 * used.len();
    let connectors = FIXED;
    let encoders = connectors + list;
    let routers = encoders + list;
    let paths = routers + 4;
    // All objects share one empty list of records.
    let no_records = paths + 4 + PATH * used.len();

    let objects = |f: Fields, id: fn(&Path) -> u16| {
        let f = f.u8(used.len() as u8).bytes(&[0; 3]);
        used.iter().fold(f, |f, path| {
            f.u16(id(path))
                .u16(0) // no source/destination list
                .u16(no_records as u16)
                .u16(0)
        })
    };
    let mut f = Fields::default()
        .u16(used.iter().fold(0, |all, path| all | path.device))
        .u16(connectors as u16)
        .u16(routers as u16)
        .u16(encoders as u16)
        .u16(0) // no protection objects
        .u16(paths as u16);
    f = objects(f, |path| path.connector);
    f = objects(f, |path| path.encoder);
    f = f.u8(0).bytes(&[0; 3]); // no routers
    f = f.u8(used.len() as u8).u8(0).bytes(&[0; 2]);
    for path in used {
        f = f
            .u16(path.device)
            .u16(PATH as u16)
            .u16(path.connector)
            .u16(GPU)
            .u16(path.encoder);
    }
    f = f.bytes(&[0xff, 0]); // end of records
    TableHeader::new(1, 2).table(&f.0)
}

/// ATOM_INTEGRATED_SYSTEM_INFO_V2: memory and the link to the processor.
pub fn integrated_system_info(model: &Model) -> Vec<u8> {
    /// Memory type: DDR2.
    const DDR2: u8 = 2;
    /// Clock of the HyperTransport link, units of 10 kHz.
    const LINK_CLOCK: u32 = 100_000;
    /// Lanes of the link.
    const LINK_WIDTH: u16 = 16;
    let f = Fields::default()
        .u32(model.engine_clock)
        .bytes(&[0; 8])
        .u32(model.memory_clock) // of system memory
        .u32(0) // no memory of its own
        .u32(0)
        .bytes(&[0; 24])
        .u32(0) // system configuration
        .bytes(&[0; 16]) // displays
        .u8(DDR2)
        .u8(1) // channels
        .u16(0) // no dock
        .bytes(&[0; 8])
        .bytes(&[0; 8]) // voltages
        .u32(LINK_CLOCK)
        .u16(LINK_WIDTH)
        .u16(LINK_WIDTH)
        .bytes(&[0; 8])
        .u32(LINK_CLOCK)
        .u32(LINK_CLOCK)
        .bytes(&[0; 12])
        .bytes(&[0; 4 * 96]);
    TableHeader::new(1, 2).table(&f.0)
}

/// Indirect I/O list: empty.
pub fn indirect_io_access() -> Vec<u8> {
    TableHeader::new(1, 1).table(&[IIO_END])
}

#[cfg(test)]
mod tests {
    use super::super::bytecode::interpreter::{execute, Registers};
    use super::*;
    use crate::chip::display::{AVIVO, DCE4};

    #[test]
    fn enable_crtc_sets_and_clears_only_the_enable_byte() {
        let mut regs = Registers::from([(0x6080, 0x0001_0000), (0x6880, 0x0001_0000)]);
        execute(&enable_crtc(&AVIVO), &[0x0100], &mut regs);
        assert_eq!(regs[&0x6080], 0x0001_0001);
        assert_eq!(regs[&0x6880], 0x0001_0000);
        execute(&enable_crtc(&AVIVO), &[0x0101], &mut regs);
        assert_eq!(regs[&0x6880], 0x0001_0001);
        execute(&enable_crtc(&AVIVO), &[0x0000], &mut regs);
        assert_eq!(regs[&0x6080], 0x0001_0000);
    }

    #[test]
    fn programs_reach_each_of_six_crtcs() {
        for (crtc, block) in DCE4.blocks.iter().enumerate() {
            let mut regs = Registers::new();
            execute(&enable_crtc(&DCE4), &[0x0100 | crtc as u32], &mut regs);
            assert_eq!(regs, Registers::from([(0x6E70 + block, 1)]));
            let mut regs = Registers::new();
            let ps = [1024 | 320 << 16, 768 | 38 << 16, 24, 3, 0, crtc as u32];
            execute(&set_crtc_using_dtd_timing(&DCE4), &ps, &mut regs);
            assert_eq!(regs[&(0x6E00 + block)], 1343);
            assert_eq!(regs[&(0x6E1C + block)], 805);
            assert_eq!(regs[&(0x6E34 + block)], 35 << 16 | 803);
        }
    }

    #[test]
    fn clocks_are_set_without_their_top_byte_and_read_back() {
        let mut regs = Registers::new();
        execute(&set_clock(0x624), &[0xff01_8704], &mut regs);
        assert_eq!(regs[&0x624], 0x0001_8704);
        let parameters = execute(&get_clock(0x624), &[0], &mut regs);
        assert_eq!(parameters, [0x0001_8704]);
    }

    #[test]
    fn clocks_of_a_chipset_are_where_the_driver_looks() {
        let model = crate::chip::Family::Rs780.model();
        let table = integrated_system_info(model);
        let u32_at = |at: usize| u32::from_le_bytes(table[at..at + 4].try_into().unwrap());
        // ulBootUpUMAClock, ulBootUpSidePortClock, ulHTLinkFreq, usMinHTLinkWidth.
        assert_eq!(u32_at(16), model.memory_clock);
        assert_eq!(u32_at(20), 0);
        assert_eq!(u32_at(92), 100_000);
        assert_eq!(table[96], 16);
        assert_eq!(table.len(), 512);
    }

    #[test]
    fn power_play_states_lead_to_three_rising_clock_modes() {
        let model = crate::chip::Family::Rv770.model();
        let table = power_play_info(model);
        let u16_at = |at: usize| usize::from(u16::from_le_bytes([table[at], table[at + 1]]));
        assert_eq!(table[2..4], [4, 1]);
        let (states, entry, clock, non_clock) = (table[5], table[6], table[7], table[8]);
        assert_eq!((states, entry, clock, non_clock), (3, 4, 16, 24));
        assert_eq!(u16_at(0), table.len());
        let memory = |mode: usize| {
            let at = u16_at(11) + mode * usize::from(clock) + 3;
            u16_at(at) | usize::from(table[at + 2]) << 16
        };
        let full = model.memory_clock as usize;
        assert_eq!(
            [memory(0), memory(1), memory(2)],
            [full / 2, full * 3 / 4, full]
        );
        for state in 0..3 {
            let at = u16_at(9) + state * usize::from(entry);
            assert_eq!(table[at..at + 4], [state as u8, 0, 1, 2]);
            let class = u16_at(u16_at(13) + state * usize::from(non_clock));
            assert_eq!(class, [8, 5, 5][state]);
        }
    }

    #[test]
    fn dac_load_detection_finds_the_monitor_and_keeps_other_bytes() {
        let mut regs = Registers::from([(0x1724, 0xaabb_cc00)]);
        execute(&dac_load_detection(1), &[1], &mut regs);
        assert_eq!(regs[&0x1724], 0xaabb_cc02);
        // ATOM_S0_CRT2_COLOR is 0x200.
        execute(&dac_load_detection(2), &[1], &mut regs);
        assert_eq!(regs[&0x1724], 0xaabb_0202);
    }

    #[test]
    fn each_monitor_has_a_connector_an_encoder_and_a_path() {
        for monitors in 1..=MAX_MONITORS {
            let table = object_header(monitors);
            let u16_at = |at: usize| u16::from_le_bytes([table[at], table[at + 1]]);
            let list = |field: usize| usize::from(u16_at(field));
            let (connectors, encoders, paths) = (list(6), list(10), list(14));
            let mut devices = 0;
            for at in [connectors, encoders, paths] {
                assert_eq!(usize::from(table[at]), monitors);
            }
            for n in 0..monitors {
                let [connector, encoder] = [connectors, encoders].map(|at| u16_at(at + 4 + 8 * n));
                let path = paths + 4 + 10 * n;
                assert_eq!(u16_at(path + 2), 10);
                assert_eq!(u16_at(path + 4), connector);
                assert_eq!(u16_at(path + 6), GPU);
                assert_eq!(u16_at(path + 8), encoder);
                devices |= u16_at(path);
                // The list of records ends at once.
                assert_eq!(table[list(connectors + 4 + 8 * n + 4)], 0xff);
            }
            assert_eq!(devices, u16_at(4));
            assert_eq!(devices.count_ones() as usize, monitors);
        }
    }

    #[test]
    fn blank_crtc_drives_blank_data_enable() {
        let mut regs = Registers::new();
        execute(&blank_crtc(&AVIVO), &[0x0101, 0], &mut regs);
        assert_eq!(regs[&0x6884], 1 << 8);
        execute(&blank_crtc(&AVIVO), &[0x0001, 0], &mut regs);
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
        execute(&set_crtc_using_dtd_timing(&AVIVO), &ps, &mut regs);
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
