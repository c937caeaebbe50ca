// SPDX-License-Identifier: MIT
//! Checks command streams of a VM context (Cayman) as the kernel does: packets and registers only.
//! Addresses are virtual, and no stream can reach what its address space does not have, so there are no
//! relocations.
//!
//! Source: `evergreen_ib_parse()`, `evergreen_vm_packet3_check()`, `evergreen_vm_reg_valid()` and
//! `evergreen_dma_ib_parse()` in `evergreen_cs.c` of Linux 6.12.

use r7xx_board::chip::cp::cayman::DEALLOC_STATE;
use r7xx_board::chip::cp::evergreen as eg;
use r7xx_board::chip::cp::opcode as op;

use crate::checker::CheckError;

/// Opcodes of packets that the board does not know: `SET_RESOURCE_OFFSET`,
/// `SET_CONTEXT_REG_INDIRECT`, `SET_RESOURCE_INDIRECT`.
const UNKNOWN: [u8; 3] = [0x70, 0x73, 0x74];

/// Whether a stream may access the register.
fn is_allowed(reg: u32) -> bool {
    matches!(
        reg,
        0x2_8000..
        // WAIT_UNTIL, GRBM_GFX_INDEX, CP_STRMOUT_CNTL, CP_COHER_CNTL, CP_COHER_SIZE
        | 0x8040 | 0x802C | 0x84FC | 0x85F0 | 0x85F4
        // VGT_VTX_VECT_EJECT_REG, VGT_CACHE_INVALIDATION, VGT_GS_VERTEX_REUSE,
        // VGT_PRIMITIVE_TYPE, VGT_INDEX_TYPE, VGT_NUM_INDICES, VGT_NUM_INSTANCES
        | 0x88B0 | 0x88C4 | 0x88D4 | 0x8958 | 0x895C | 0x8970 | 0x8974
        // VGT_COMPUTE_DIM_X to Z, START_X to Z, INDEX, THREAD_GROUP_SIZE, VGT_HS_OFFCHIP_PARAM
        | 0x8990..=0x89B0
        // PA_CL_ENHANCE, PA_SU_LINE_STIPPLE_VALUE, PA_SC_LINE_STIPPLE_STATE, PA_SC_ENHANCE
        | 0x8A14 | 0x8A60 | 0x8B10 | 0x8BF0
        // SQ_DYN_GPR_CNTL_PS_FLUSH_REQ, SQ_DYN_GPR_SIMD_LOCK_EN, SQ_CONFIG,
        // SQ_GPR_RESOURCE_MGMT_1, SQ_GLOBAL_GPR_RESOURCE_MGMT_1 and 2, SQ_CONST_MEM_BASE
        | 0x8D8C | 0x8D94 | 0x8C00 | 0x8C04 | 0x8C10 | 0x8C14 | 0x8DF8
        // SQ_STATIC_THREAD_MGMT_1 to 3, SPI_CONFIG_CNTL and _1, TA_CNTL_AUX
        | 0x8E20 | 0x8E24 | 0x8E28 | 0x9100 | 0x913C | 0x9508
        // DB_DEBUG to DB_DEBUG4, DB_WATERMARKS
        | 0x9830 | 0x9834 | 0x9838 | 0x983C | 0x9854
        // TD_*_BORDER_COLOR_*
        | 0xA400..=0xA474
        // SQ_*_RING_BASE and SIZE
        | 0x8C40..=0x8C6C | 0x8E10..=0x8E1C
        // VGT_TF_RING_SIZE, CAYMAN_VGT_OFFCHIP_LDS_BASE, CAYMAN_SQ_EX_ALLOC_TABLE_SLOTS
        | 0x8988 | 0x89B4 | 0x8E48
    )
}

/// Checks a stream of the graphics or a compute ring.
///
/// # Errors
/// The first error; the stream is not executed.
pub fn check_gfx(ib: &[u32]) -> Result<(), CheckError> {
    let mut at = 0;
    while at < ib.len() {
        let header = ib[at];
        let (kind, count) = (header >> 30, (header >> 16 & 0x3FFF) as usize + 1);
        at += match kind {
            2 => 1,
            3 => {
                let body = ib.get(at + 1..at + 1 + count);
                packet(
                    at,
                    (header >> 8) as u8,
                    body.ok_or(CheckError::Truncated(at))?,
                )?;
                1 + count
            }
            _ => return Err(CheckError::Packet(at)),
        };
    }
    Ok(())
}

/// Checks a packet of type 3 at `at` with that body, which has a dword at least.
fn packet(at: usize, opcode: u8, body: &[u32]) -> Result<(), CheckError> {
    let dword = |i: usize| body.get(i).copied().ok_or(CheckError::Truncated(at));
    let allowed = |reg: u32| match is_allowed(reg) {
        true => Ok(()),
        false => Err(CheckError::Register(at, reg)),
    };
    match opcode {
        op::NOP
        | eg::CLEAR_STATE
        | eg::INDEX_BUFFER_SIZE
        | eg::DISPATCH_DIRECT
        | eg::DISPATCH_INDIRECT
        | eg::MODE_CONTROL
        | op::SET_PREDICATION
        | op::COND_EXEC
        | op::PRED_EXEC
        | eg::DRAW_INDIRECT
        | eg::DRAW_INDEX_INDIRECT
        | eg::INDEX_BASE
        | op::DRAW_INDEX_2
        | op::CONTEXT_CONTROL
        | eg::DRAW_INDEX_OFFSET
        | op::INDEX_TYPE
        | op::DRAW_INDEX
        | op::DRAW_INDEX_AUTO
        | op::DRAW_INDEX_IMMD
        | op::NUM_INSTANCES
        | eg::DRAW_INDEX_MULTI_AUTO
        | op::STRMOUT_BUFFER_UPDATE
        | eg::DRAW_INDEX_OFFSET_2
        | eg::DRAW_INDEX_MULTI_ELEMENT
        | op::MPEG_INDEX
        | op::WAIT_REG_MEM
        | op::MEM_WRITE
        | op::PFP_SYNC_ME
        | op::SURFACE_SYNC
        | op::EVENT_WRITE
        | op::EVENT_WRITE_EOP
        | eg::EVENT_WRITE_EOS
        | op::SET_CONTEXT_REG
        | op::SET_BOOL_CONST
        | op::SET_LOOP_CONST
        | op::SET_RESOURCE
        | op::SET_SAMPLER
        | op::SET_CTL_CONST
        | DEALLOC_STATE => Ok(()),
        unknown if UNKNOWN.contains(&unknown) => Ok(()),
        eg::SET_BASE if dword(0)? == 1 => Ok(()),
        op::COND_WRITE if dword(0)? & 0x100 != 0 => allowed(dword(5)? << 2),
        op::COND_WRITE => Ok(()),
        op::COPY_DW if dword(0)? & 2 != 0 => allowed(dword(3)? << 2),
        op::COPY_DW => Ok(()),
        op::SET_CONFIG_REG => {
            let (first, end) = eg::set_window(opcode).unwrap_or_default();
            let start = (dword(0)? << 2).wrapping_add(first);
            let registers = (start..).step_by(4).take(body.len() - 1);
            for reg in registers {
                if !(first..end).contains(&reg) {
                    return Err(CheckError::Field(at));
                }
                allowed(reg)?;
            }
            Ok(())
        }
        op::CP_DMA => {
            let (info, command) = (dword(1)?, dword(4)?);
            let (from, to) = (info >> 29 & 3, info >> 20 & 3);
            let count = command & 0x1F_FFFF;
            // SAS and DAS, SAIC and DAIC
            let [from_register, to_register, from_same, to_same] =
                [26, 27, 28, 29].map(|bit| command >> bit & 1 != 0);
            let in_memory = from == 0 && to == 0 && !from_register && !to_register;
            if !in_memory && count % 4 != 0 {
                return Err(CheckError::Refused(at, "CP_DMA of a part of a dword"));
            }
            // As many registers as there are bytes: so the kernel counts.
            let registers = |start: u32, same: bool| {
                let count = if same { 1 } else { count as usize };
                (0..count as u32).try_for_each(|i| allowed(start.wrapping_add(4 * i)))
            };
            if from_register && from == 0 {
                registers(dword(0)? << 2, from_same)?;
            }
            if to_register && to == 0 {
                registers(dword(2)?, to_same)?;
            }
            Ok(())
        }
        eg::SET_APPEND_CNT => match (dword(0)? >> 16).wrapping_sub(0x72C / 4) {
            0..=11 if body.len() == 3 => Ok(()),
            _ => Err(CheckError::Field(at)),
        },
        _ => Err(CheckError::Packet(at)),
    }
}

/// Checks a stream of the DMA ring.
///
/// # Errors
/// As [`check_gfx`].
pub fn check_dma(ib: &[u32]) -> Result<(), CheckError> {
    let mut at = 0;
    while at < ib.len() {
        let header = ib[at];
        let count = (header & 0xF_FFFF) as usize;
        let length = match (header >> 28, header >> 20 & 0xFF) {
            (2, 8) => count + 7,
            (2, 0) => count + 3,
            (3, 0x00 | 0x40) => 5,
            (3, 0x08 | 0x41 | 0x4C) => 9,
            (3, 0x44) => 7,
            (3, 0x48 | 0x4B | 0x4F) => 10,
            (3, 0x49) => 12,
            (3, 0x4D) => 13,
            (0xD, _) => 4,
            (0xF, _) => 1,
            _ => return Err(CheckError::Packet(at)),
        };
        at += length;
        // The kernel does not look at the last packet's end.
        if at > ib.len() {
            return Err(CheckError::Truncated(at - length));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packet(opcode: u8, data: &[u32]) -> Vec<u32> {
        let mut words = vec![3 << 30 | (data.len() as u32 - 1) << 16 | u32::from(opcode) << 8];
        words.extend(data);
        words
    }

    #[test]
    fn streams_of_mesa_pass_and_others_are_refused() {
        let config = |reg: u32| packet(op::SET_CONFIG_REG, &[(reg - 0x8000) >> 2, 0, 0]);
        // SQ_CONFIG and the register behind it; then GRBM_SOFT_RESET.
        assert_eq!(check_gfx(&config(0x8C00)), Ok(()));
        let refused = CheckError::Register(0, 0x8020);
        assert_eq!(check_gfx(&config(0x8020)), Err(refused));
        let outside = packet(op::SET_CONFIG_REG, &[0x2C00 >> 2, 0]);
        assert_eq!(check_gfx(&outside), Err(CheckError::Field(0)));
        // A stream may not call another, nor write registers without a packet.
        let call = packet(op::INDIRECT_BUFFER, &[0, 0, 4]);
        assert_eq!(check_gfx(&call), Err(CheckError::Packet(0)));
        assert_eq!(check_gfx(&[0x2000, 0]), Err(CheckError::Packet(0)));
        assert_eq!(check_gfx(&call[..2]), Err(CheckError::Truncated(0)));
        assert_eq!(check_gfx(&[2 << 30]), Ok(()));
        assert_eq!(check_gfx(&packet(DEALLOC_STATE, &[0])), Ok(()));
        // cayman_write_count_to_gds(); then to a register.
        let copy = |info: u32| packet(op::CP_DMA, &[0, info, 0x8020, 0, 1 << 27 | 4]);
        assert_eq!(check_gfx(&copy(1 << 20 | 1 << 31)), Ok(()));
        assert_eq!(check_gfx(&copy(1 << 31)), Err(refused));
        let write = packet(op::COPY_DW, &[3, 0, 0, 0x8020 >> 2, 0]);
        assert_eq!(check_gfx(&write), Err(refused));
        // Of each register that a copy writes; of one only if its address stays.
        let fixed = |command: u32| packet(op::CP_DMA, &[0, 0, 0x8C10, 0, 1 << 27 | command]);
        assert_eq!(check_gfx(&fixed(4 | 1 << 29)), Ok(()));
        let next = Err(CheckError::Register(0, 0x8C18));
        assert_eq!(check_gfx(&fixed(4)), next);
        // From registers.
        let from = packet(op::CP_DMA, &[0x8020 >> 2, 0, 0, 0, 1 << 26 | 4]);
        assert_eq!(check_gfx(&from), Err(refused));
        // Parts of dwords go between addresses in memory only.
        let part = |info: u32| packet(op::CP_DMA, &[0, info, 0, 0, 5]);
        assert_eq!(check_gfx(&part(0)), Ok(()));
        let refused_part = Err(CheckError::Refused(0, "CP_DMA of a part of a dword"));
        assert_eq!(check_gfx(&part(1 << 20)), refused_part);
        // Conditional writes to registers.
        let condition = |info: u32| packet(op::COND_WRITE, &[info, 0, 0, 0, 0, 0x8020 >> 2, 0, 0]);
        assert_eq!(check_gfx(&condition(0x100)), Err(refused));
        assert_eq!(check_gfx(&condition(0)), Ok(()));
        // The base of indirect draws' arguments, and no other.
        let base = |index: u32| packet(eg::SET_BASE, &[index, 0, 0]);
        assert_eq!(check_gfx(&base(1)), Ok(()));
        assert_eq!(check_gfx(&base(2)), Err(CheckError::Packet(0)));
        // VGT_COMPUTE_DIM_X, and what is before it.
        assert_eq!(check_gfx(&config(0x8990)), Ok(()));
        let before = Err(CheckError::Register(0, 0x898C));
        assert_eq!(check_gfx(&config(0x898C)), before);
        let counter = |reg: u32| packet(eg::SET_APPEND_CNT, &[reg >> 2 << 16 | 3, 0, 0]);
        assert_eq!(check_gfx(&counter(0x758)), Ok(()));
        assert_eq!(check_gfx(&counter(0x75C)), Err(CheckError::Field(0)));
    }

    #[test]
    fn dma_packets_have_their_lengths() {
        assert_eq!(check_dma(&[3 << 28 | 4, 0, 0, 0, 0, 0xF << 28]), Ok(()));
        let tiled = [3 << 28 | 8 << 20 | 4, 0, 0, 0, 0, 0, 0, 0];
        assert_eq!(check_dma(&tiled), Err(CheckError::Truncated(0)));
        // Of each kind of copy, the dwords behind which the next packet is.
        for (kind, dwords) in [
            (0x00, 5),
            (0x40, 5),
            (0x08, 9),
            (0x41, 9),
            (0x4C, 9),
            (0x44, 7),
            (0x48, 10),
            (0x4B, 10),
            (0x4F, 10),
            (0x49, 12),
            (0x4D, 13),
        ] {
            let mut words = vec![0; dwords];
            words[0] = 3 << 28 | kind << 20 | 4;
            words.push(6 << 28);
            let next = Err(CheckError::Packet(dwords));
            assert_eq!(check_dma(&words), next, "{kind:#x}");
        }
        // A fence and a page table's entries are the kernel's.
        assert_eq!(check_dma(&[6 << 28, 0, 0, 0]), Err(CheckError::Packet(0)));
        assert_eq!(
            check_dma(&[2 << 28 | 0x42 << 20]),
            Err(CheckError::Packet(0))
        );
    }
}
