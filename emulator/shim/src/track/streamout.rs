// SPDX-License-Identifier: MIT
//! The stream-out buffers. Their registers are the same from R6xx to Cayman.
//!
//! Source: `r600_cs_track_check()` and `evergreen_cs_track_check()` in `r600_cs.c` and
//! `evergreen_cs.c` of Linux 6.12.

use super::surface::Placed;
use crate::checker::Reloc;

/// `VGT_STRMOUT_BUFFER_SIZE_0` and `_BASE_0`. Those of the other buffers follow every 16 bytes.
const SIZE_0: u32 = 0x2_8AD0;
pub(super) const BASE_0: u32 = 0x2_8AD8;

/// A stream-out buffer.
#[derive(Debug, Clone, Copy, Default)]
struct Buffer {
    /// The offset wraps at 32 bits, as the kernel's.
    base: Placed,
    bytes: u32,
}

/// Why a buffer has no room for what is written to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Room {
    NoBo,
    /// The size that the BO needs, and its size.
    TooSmall {
        needed: u64,
        size: u64,
    },
}

/// The four buffers.
#[derive(Debug, Clone, Default)]
pub(super) struct Streamout([Buffer; 4]);

impl Streamout {
    /// The buffer whose register, that of buffer 0 being `first`, is `reg`.
    fn of(&mut self, reg: u32, first: u32) -> Option<&mut Buffer> {
        let offset = reg.checked_sub(first)?;
        match offset % 16 {
            0 => self.0.get_mut(offset as usize / 16),
            _ => None,
        }
    }

    /// Sets `VGT_STRMOUT_BUFFER_SIZE_n`, in dwords. False if `reg` is another register.
    pub(super) fn set_size(&mut self, reg: u32, value: u32) -> bool {
        let buffer = self.of(reg, SIZE_0);
        buffer
            .map(|buffer| buffer.bytes = value.wrapping_mul(4))
            .is_some()
    }

    /// Sets `VGT_STRMOUT_BUFFER_BASE_n`, in units of 256 bytes from the start of `bo`. False if `reg`
    /// is another register.
    pub(super) fn set_base(&mut self, reg: u32, value: u32, bo: Reloc) -> bool {
        let buffer = self.of(reg, BASE_0);
        buffer
            .map(|buffer| buffer.base = Some((bo, u64::from(value << 8))))
            .is_some()
    }

    /// Where buffer `index` is.
    pub(super) fn base(&self, index: usize) -> Placed {
        self.0.get(index)?.base
    }

    /// Checks the buffers whose bits in `mask` are set.
    ///
    /// # Errors
    /// The first buffer that is not within its BO.
    pub(super) fn check(&self, mask: u32) -> Result<(), (usize, Room)> {
        for (i, buffer) in self.0.iter().enumerate() {
            if mask >> i & 1 == 0 {
                continue;
            }
            let (bo, offset) = buffer.base.ok_or((i, Room::NoBo))?;
            let (needed, size) = (offset + u64::from(buffer.bytes), bo.size);
            if needed > size {
                return Err((i, Room::TooSmall { needed, size }));
            }
        }
        Ok(())
    }
}
