// SPDX-License-Identifier: MIT
//! What the kernel's checker of command streams lets R6xx do and no later chip.
//!
//! Source: `r600_packet3_check()` in `r600_cs.c` of Linux 6.12. Everything else is R7xx's
//! ([`checker`](crate::checker)). `SURFACE_BASE_UPDATE` is refused on the R600 itself, which the
//! board does not have.

use r7xx_board::chip::cp::opcode as op;

use crate::checker::{relocate_with, CheckError, Parser, Reloc};
use crate::track::{Tiling, Track};

/// Checks a stream of the graphics ring for a chip with that tiling, and relocates it in place.
///
/// # Errors
/// The first error; the stream is then unusable.
pub fn relocate_gfx(ib: &mut [u32], relocs: &[Reloc], tiling: Tiling) -> Result<(), CheckError> {
    relocate_with(ib, relocs, Track::new(tiling), packet3)
}

fn packet3(
    p: &mut Parser<'_, Track>,
    at: usize,
    opcode: u8,
    count: usize,
) -> Result<(), CheckError> {
    match opcode {
        op::START_3D_CMDBUF | op::SURFACE_BASE_UPDATE if count == 1 => Ok(()),
        op::START_3D_CMDBUF | op::SURFACE_BASE_UPDATE => Err(CheckError::Field(at)),
        _ => p.packet3(at, opcode, count),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checker;

    const TILING: Tiling = Tiling {
        pipes: 8,
        banks: 8,
        group: 256,
        cube_faces: 6,
    };

    #[test]
    fn only_r6xx_has_the_packets_that_begin_a_stream() {
        for opcode in [op::START_3D_CMDBUF, op::SURFACE_BASE_UPDATE] {
            let header = |count: u32| 3 << 30 | (count - 1) << 16 | u32::from(opcode) << 8;
            let (mut one, mut two) = ([header(1), 0], [header(2), 0, 0]);
            assert_eq!(relocate_gfx(&mut one, &[], TILING), Ok(()));
            let refused = Err(CheckError::Field(0));
            assert_eq!(relocate_gfx(&mut two, &[], TILING), refused);
            let refused = Err(CheckError::Packet(0));
            assert_eq!(checker::relocate_gfx(&mut one, &[], TILING), refused);
        }
    }
}
