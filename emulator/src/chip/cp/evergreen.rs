// SPDX-License-Identifier: MIT
//! PM4 packets of Evergreen and Northern Islands: what differs from [`pm4`](super::pm4).
//!
//! Sources: `evergreend.h` (opcodes, windows, `CP_DMA`), `evergreen_cp_start()`
//! (clear state), the checks in `evergreen_cs.c` (body layouts).

use super::opcode as op;
use super::pm4::{addr, AppendSource, DecodeError, Packet, Place};

/// Defines opcode constants with their names.
macro_rules! opcodes {
    ($($(#[$doc:meta])* $name:ident = $value:expr;)*) => {
        $($(#[$doc])* pub const $name: u8 = $value;)*
        fn own_name(opcode: u8) -> Option<&'static str> {
            match opcode {
                $($value => Some(stringify!($name)),)*
                _ => None,
            }
        }
    };
}

opcodes! {
    /// Base address for indirect draws, and others.
    SET_BASE = 0x11;
    /// Sets the context registers to the recorded clear state.
    CLEAR_STATE = 0x12;
    /// Size of the index buffer.
    INDEX_BUFFER_SIZE = 0x13;
    /// Runs a compute shader.
    DISPATCH_DIRECT = 0x15;
    /// Runs a compute shader, with its size in memory.
    DISPATCH_INDIRECT = 0x16;
    /// Mode of the CP.
    MODE_CONTROL = 0x18;
    /// Draw with its arguments in memory.
    DRAW_INDIRECT = 0x24;
    /// Indexed draw with its arguments in memory.
    DRAW_INDEX_INDIRECT = 0x25;
    /// Address of the index buffer.
    INDEX_BASE = 0x26;
    /// Indexed draw from an offset in the index buffer.
    DRAW_INDEX_OFFSET = 0x29;
    /// Several draws with generated indices.
    DRAW_INDEX_MULTI_AUTO = 0x30;
    /// Indexed draw from an offset, with the index buffer's size.
    DRAW_INDEX_OFFSET_2 = 0x35;
    /// Several draws of elements.
    DRAW_INDEX_MULTI_ELEMENT = 0x36;
    /// Event at the end of a shader: writes a dword.
    EVENT_WRITE_EOS = 0x48;
    /// Begin and end of the preamble that defines the clear state.
    PREAMBLE_CNTL = 0x4A;
    /// Offset into the ring buffer.
    RB_OFFSET = 0x4B;
    /// Sets a counter of appended elements.
    SET_APPEND_CNT = 0x75;
}

/// First context register.
const CONTEXT: u32 = 0x2_8000;

/// Opcodes of R7xx that Evergreen does not have, or with another meaning.
const GONE: [u8; 3] = [
    op::SET_ALU_CONST,
    op::STRMOUT_BASE_UPDATE,
    op::SURFACE_BASE_UPDATE,
];

/// Name of a type-3 opcode, if known.
pub fn name(opcode: u8) -> Option<&'static str> {
    let common = || op::name(opcode).filter(|_| !GONE.contains(&opcode));
    own_name(opcode).or_else(common)
}

/// Register window `[start, end)` of a `SET_*` opcode, in byte offsets.
pub fn set_window(opcode: u8) -> Option<(u32, u32)> {
    match opcode {
        op::SET_CONFIG_REG => Some((0x0000_8000, 0x0000_AC00)),
        op::SET_CONTEXT_REG => Some((0x0002_8000, 0x0002_9000)),
        op::SET_BOOL_CONST => Some((0x0003_A500, 0x0003_A518)),
        op::SET_LOOP_CONST => Some((0x0003_A200, 0x0003_A500)),
        op::SET_RESOURCE => Some((0x0003_0000, 0x0003_8000)),
        op::SET_SAMPLER => Some((0x0003_C000, 0x0003_C600)),
        op::SET_CTL_CONST => Some((0x0003_CFF0, 0x0003_FF0C)),
        _ => None,
    }
}

/// Decodes the body of a type-3 packet.
///
/// # Errors
/// See [`DecodeError`].
pub fn decode(opcode: u8, b: &[u32]) -> Result<Packet<'_>, DecodeError> {
    let need = |n: usize| (b.len() >= n).then_some(()).ok_or(DecodeError::Short);
    if GONE.contains(&opcode) {
        return Err(DecodeError::UnknownOpcode);
    }
    if let Some((start, end)) = set_window(opcode) {
        need(1)?;
        let first = start + ((b[0] & 0xFFFF) << 2);
        let values = &b[1..];
        if first + 4 * values.len() as u32 > end {
            return Err(DecodeError::Window);
        }
        return Ok(Packet::SetRegs { first, values });
    }
    match opcode {
        MODE_CONTROL | RB_OFFSET => Ok(Packet::Nop),
        SET_APPEND_CNT => {
            need(3)?;
            let source = match b[0] & 3 {
                0 => AppendSource::Packet(b[1]),
                1 => AppendSource::Reg((b[1] & 0xFFFF) << 2),
                // From the global data share: no driver does it.
                2 => return Ok(Packet::Undrawn),
                _ => AppendSource::Memory(addr(b[1] & !3, b[2])),
            };
            Ok(Packet::SetAppendCounter {
                reg: CONTEXT + (b[0] >> 16 << 2),
                source,
            })
        }
        DISPATCH_DIRECT => {
            need(4)?;
            Ok(Packet::Dispatch {
                groups: [b[0], b[1], b[2]],
                initiator: b[3],
            })
        }
        DISPATCH_INDIRECT => {
            need(2)?;
            Ok(Packet::DispatchIndirect {
                addr: u64::from(b[0] & !3),
                initiator: b[1],
            })
        }
        SET_BASE => {
            need(3)?;
            Ok(Packet::SetBase {
                base: b[0] as u8 & 0xF,
                addr: addr(b[1] & !3, b[2]),
            })
        }
        INDEX_BASE => {
            need(2)?;
            Ok(Packet::IndexBase(addr(b[0], b[1])))
        }
        INDEX_BUFFER_SIZE => {
            need(1)?;
            Ok(Packet::IndexBufferSize(b[0]))
        }
        DRAW_INDIRECT | DRAW_INDEX_INDIRECT => {
            need(2)?;
            Ok(Packet::DrawIndirect {
                indexed: opcode == DRAW_INDEX_INDIRECT,
                offset: b[0] & !3,
                initiator: b[1],
            })
        }
        CLEAR_STATE => Ok(Packet::ClearState),
        PREAMBLE_CNTL => {
            need(1)?;
            // PREAMBLE_BEGIN_CLEAR_STATE and PREAMBLE_END_CLEAR_STATE.
            match b[0] >> 28 {
                2 => Ok(Packet::Preamble { record: true }),
                3 => Ok(Packet::Preamble { record: false }),
                _ => Ok(Packet::Nop),
            }
        }
        DRAW_INDEX_OFFSET
        | DRAW_INDEX_MULTI_AUTO
        | DRAW_INDEX_OFFSET_2
        | DRAW_INDEX_MULTI_ELEMENT => Ok(Packet::Undrawn),
        EVENT_WRITE_EOS => {
            need(4)?;
            let (event, addr) = (b[0] as u8 & 0x3F, addr(b[1] & !3, b[2]));
            // COMMAND: an append counter, the global data share, the packet's dword.
            Ok(match b[2] >> 29 {
                0 => Packet::StoreAppendCounter {
                    event,
                    addr,
                    reg: (b[3] & 0xFFFF) << 2,
                },
                1 => Packet::StoreShare {
                    event,
                    addr,
                    first: b[3] & 0xFFFF,
                    count: b[3] >> 16,
                },
                command => Packet::EventWriteEop {
                    event,
                    addr,
                    data_sel: u8::from(command == 2),
                    int_sel: 0,
                    data: b[3].into(),
                },
            })
        }
        op::CP_DMA => {
            need(5)?;
            let (from, to) = (b[1] >> 29 & 3, b[1] >> 20 & 3);
            match (from, to) {
                (0, 0) => Packet::decode(opcode, b),
                // SRC_SEL DATA: fills with a dword.
                (2, 0) => Ok(Packet::CpDmaFill {
                    value: b[0],
                    dst: if b[4] & (1 << 27) != 0 {
                        Place::Reg(b[2] & 0x3_FFFC)
                    } else {
                        Place::Mem(addr(b[2], b[3]))
                    },
                    bytes: b[4] & 0x1F_FFFF,
                }),
                (0, 1) => Ok(Packet::CopyToShare {
                    from: addr(b[0], b[1]),
                    to: b[2],
                    bytes: b[4] & 0x1F_FFFF,
                }),
                (1, 0) => Ok(Packet::CopyFromShare {
                    from: b[0],
                    to: addr(b[2], b[3]),
                    bytes: b[4] & 0x1F_FFFF,
                }),
                // Within the share, or to somewhere else: no driver does it.
                _ => Ok(Packet::Undrawn),
            }
        }
        _ => Packet::decode(opcode, b),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_are_those_of_the_header_and_end_where_it_says() {
        let values = [0, 1, 2];
        for (opcode, first) in [
            (op::SET_CONTEXT_REG, 0x2_8000),
            (op::SET_RESOURCE, 0x3_0000),
            (op::SET_LOOP_CONST, 0x3_A200),
            (op::SET_CTL_CONST, 0x3_CFF0),
        ] {
            assert_eq!(
                decode(opcode, &values),
                Ok(Packet::SetRegs {
                    first,
                    values: &[1, 2]
                })
            );
        }
        // The last two resource dwords, then one too many.
        assert!(decode(op::SET_RESOURCE, &[0x1FFE, 1, 2]).is_ok());
        assert_eq!(
            decode(op::SET_RESOURCE, &[0x1FFF, 1, 2]),
            Err(DecodeError::Window)
        );
        for gone in GONE {
            assert_eq!(decode(gone, &values), Err(DecodeError::UnknownOpcode));
            assert_eq!(name(gone), None);
        }
    }

    #[test]
    fn opcodes_with_another_meaning_than_before() {
        assert_eq!(op::name(0x24), Some("START_3D_CMDBUF"));
        assert_eq!(name(0x24), Some("DRAW_INDIRECT"));
        let (indexed, offset, initiator) = (false, 16, 2);
        let draw = Packet::DrawIndirect {
            indexed,
            offset,
            initiator,
        };
        assert_eq!(decode(0x24, &[16, 2]), Ok(draw));
        assert_eq!(decode(0x29, &[0; 4]), Ok(Packet::Undrawn));
        for (control, packet) in [
            (2 << 28, Packet::Preamble { record: true }),
            (3 << 28, Packet::Preamble { record: false }),
            (0, Packet::Nop),
        ] {
            assert_eq!(decode(PREAMBLE_CNTL, &[control]), Ok(packet));
        }
    }

    #[test]
    fn append_counters_and_dispatches_as_mesa_submits_them() {
        // evergreen_emit_set_append_cnt(), evergreen_emit_event_write_eos() of counter 2.
        let register = 0x2_872C + 8;
        let set = [(register - 0x2_8000) >> 2 << 16 | 3, 0x1000, 1];
        let (reg, source) = (register, AppendSource::Memory(0x1_0000_1000));
        assert_eq!(
            decode(SET_APPEND_CNT, &set),
            Ok(Packet::SetAppendCounter { reg, source })
        );
        let store = [0x2F | 6 << 8, 0x1000, 1, register >> 2];
        let (event, addr) = (0x2F, 0x1_0000_1000);
        assert_eq!(
            decode(EVENT_WRITE_EOS, &store),
            Ok(Packet::StoreAppendCounter { event, addr, reg })
        );
        let (groups, initiator) = ([5, 6, 7], 1);
        assert_eq!(
            decode(DISPATCH_DIRECT, &[5, 6, 7, 1]),
            Ok(Packet::Dispatch { groups, initiator })
        );
        assert_eq!(
            decode(DISPATCH_INDIRECT, &[0x2000, 1]),
            Ok(Packet::DispatchIndirect {
                addr: 0x2000,
                initiator
            })
        );
    }

    #[test]
    fn cp_dma_fills_with_data_and_has_no_shared_memory() {
        let fill = [0xAABB_CCDD, 2 << 29, 0x1000, 1, 64];
        assert_eq!(
            decode(op::CP_DMA, &fill),
            Ok(Packet::CpDmaFill {
                value: 0xAABB_CCDD,
                dst: Place::Mem(0x1_0000_1000),
                bytes: 64
            })
        );
        let within = [0, 1 << 29 | 1 << 20, 0, 0, 64];
        assert_eq!(decode(op::CP_DMA, &within), Ok(Packet::Undrawn));
        let copy = [0x2000, 0, 0x1000, 0, 64];
        assert!(matches!(
            decode(op::CP_DMA, &copy),
            Ok(Packet::CpDma { bytes: 64, .. })
        ));
    }
}
