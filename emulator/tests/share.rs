// SPDX-License-Identifier: MIT
//! The memory of Cayman's global data share, and the packets that fill and store it.

use crate::rig::{config, Rig, DATA, FENCE};
use r7xx_board::chip::cp::pm4::{MemWriteData, Packet};
use r7xx_board::chip::gfx::Pipeline;
use r7xx_board::chip::{ChipConfig, Family};

/// cayman_write_count_to_gds() of Mesa, and its evergreen_emit_event_write_eos(): the command processor
/// fills dwords of the global data share, copies them back and stores them.
#[test]
fn the_global_data_share_is_filled_copied_and_stored() {
    const EVENT_WRITE_EOS: u32 = 0x48;
    const CP_DMA: u32 = 0x41;
    let config = ChipConfig {
        family: Family::Cayman,
        ..config(None)
    };
    let mut rig = Rig::with_gfx(config, Box::new(Pipeline::new(1)));
    rig.ib(DATA, &[11, 22, 33, 44]);
    let header = |opcode: u32, dwords: u32| 3 << 30 | (dwords - 1) << 16 | opcode << 8;
    // Three dwords to byte 0x20 of the share; two from byte 0x24 to memory.
    rig.cp_fill(&[header(CP_DMA, 5), DATA as u32, 1 << 20, 0x20, 0, 12]);
    rig.cp_fill(&[header(CP_DMA, 5), 0x24, 1 << 29, DATA as u32 + 0x40, 0, 8]);
    // Two dwords from the share's dword 9 on, at the end of the pipe.
    rig.cp_fill(&[header(EVENT_WRITE_EOS, 4), 0x2F | 6 << 8]);
    rig.cp_fill(&[DATA as u32 + 0x80, 1 << 29, 9 | 2 << 16]);
    let data = MemWriteData::U32(1);
    rig.cp(&Packet::MemWrite { addr: FENCE, data }.encode());
    rig.until_mem(FENCE, 1);
    for at in [DATA + 0x40, DATA + 0x80] {
        let found = [0, 1, 2].map(|n| rig.mem(at + 4 * n));
        assert_eq!(found, [22, 33, 0], "{at:#x}");
    }
}
