// SPDX-License-Identifier: MIT
//! PM4 packets of Cayman: what differs from [`evergreen`].
//!
//! Sources: `nid.h` (opcodes), `cayman_ring_ib_execute()` (the VM context of an indirect buffer),
//! `cayman_vm_flush()`; Mesa's `compute_emit_cs()` (`DEALLOC_STATE`).

use super::opcode as op;
use super::pm4::{DecodeError, Packet};
use super::{evergreen, Format, EVERGREEN_FORMAT};

/// Position of the VM context in the third dword of `INDIRECT_BUFFER`.
const CONTEXT_SHIFT: u32 = 24;

/// Ends a compute shader's use of the chip's state: nothing follows from it here.
pub const DEALLOC_STATE: u8 = 0x14;

/// Packets of Cayman.
pub(crate) const FORMAT: Format = Format {
    name,
    decode,
    // Deprecated (Mesa's r600_flush_emit()).
    wait_until: false,
    ..EVERGREEN_FORMAT
};

/// Name of a type-3 opcode, if known.
pub fn name(opcode: u8) -> Option<&'static str> {
    match opcode {
        DEALLOC_STATE => Some("DEALLOC_STATE"),
        _ => evergreen::name(opcode),
    }
}

/// Decodes the body of a type-3 packet.
///
/// # Errors
/// See [`DecodeError`].
pub fn decode(opcode: u8, b: &[u32]) -> Result<Packet<'_>, DecodeError> {
    if opcode == DEALLOC_STATE {
        return Ok(Packet::Nop);
    }
    let packet = evergreen::decode(opcode, b)?;
    Ok(match (opcode, packet) {
        (op::PFP_SYNC_ME, _) => Packet::PfpSyncMe,
        (_, Packet::IndirectBuffer { addr, dwords, .. }) => Packet::IndirectBuffer {
            addr,
            dwords,
            context: (b[2] >> CONTEXT_SHIFT) as u8,
        },
        (_, packet) => packet,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn indirect_buffers_have_a_context_and_others_are_evergreens() {
        let (addr, dwords, context) = (0x1_0000_2000, 0x12345, 5);
        let body = [0x2000, 1, dwords | 5 << 24];
        let buffer = Packet::IndirectBuffer {
            addr,
            dwords,
            context,
        };
        assert_eq!(decode(op::INDIRECT_BUFFER, &body), Ok(buffer.clone()));
        assert_eq!(buffer.encode()[1..], body);
        assert_eq!(decode(op::PFP_SYNC_ME, &[0]), Ok(Packet::PfpSyncMe));
        assert_eq!(decode(evergreen::CLEAR_STATE, &[0]), Ok(Packet::ClearState));
        assert_eq!(decode(op::INDIRECT_BUFFER, &[0]), Err(DecodeError::Short));
        assert_eq!(decode(DEALLOC_STATE, &[0]), Ok(Packet::Nop));
        assert_eq!(name(DEALLOC_STATE), Some("DEALLOC_STATE"));
    }
}
