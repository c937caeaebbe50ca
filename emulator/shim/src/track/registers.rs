// SPDX-License-Identifier: MIT
//! The registers that user space may write on R6xx and R7xx without further checks.
//!
//! Source: `reg_srcs/r600` of Linux 6.12, from which the kernel generates its table.

/// Byte offsets of the first and the last register of each run, in ascending order.
const ALLOWED: &[(u32, u32)] = &[
    // WAIT_UNTIL, CP_STRMOUT_CNTL, CP_COHER_CNTL and _SIZE
    (0x8040, 0x8040),
    (0x8490, 0x8490),
    (0x85F0, 0x85F4),
    // VGT
    (0x88B0, 0x88B0),
    (0x88C4, 0x88CC),
    (0x88D4, 0x88D4),
    (0x88E8, 0x88E8),
    (0x8958, 0x895C),
    (0x8970, 0x8974),
    // PA
    (0x8A14, 0x8A14),
    (0x8B10, 0x8B10),
    (0x8B20, 0x8B20),
    (0x8B40, 0x8B4C),
    (0x8BF0, 0x8BF0),
    // SQ
    (0x8C04, 0x8C14),
    (0x8D8C, 0x8D8C),
    // SX, SPI
    (0x9014, 0x9014),
    (0x9100, 0x9100),
    (0x913C, 0x913C),
    // TD, TA, TC, VC
    (0x9400, 0x948C),
    (0x9508, 0x9508),
    (0x9604, 0x9604),
    (0x9700, 0x9700),
    (0x9714, 0x9714),
    // DB
    (0x9830, 0x9830),
    (0x9838, 0x9838),
    // Border colours
    (0xA400, 0xA51C),
    (0xA600, 0xA71C),
    (0xA800, 0xA91C),
    (0xAA00, 0xAA44),
    // Context registers: clear values and screen scissor
    (0x2_8028, 0x2_8034),
    // CB_CLEAR_*
    (0x2_8120, 0x2_812C),
    // Sizes of constant buffers, window and clip rectangles
    (0x2_8140, 0x2_8230),
    (0x2_8240, 0x2_8244),
    // Viewports
    (0x2_8250, 0x2_834C),
    (0x2_8354, 0x2_8354),
    // Vertex semantics, blend colour, alpha and stencil references
    (0x2_8380, 0x2_85B8),
    // SPI
    (0x2_8614, 0x2_8638),
    (0x2_8644, 0x2_86E4),
    // CB_BLEND*, CB_SHADER_CONTROL
    (0x2_8780, 0x2_87A0),
    (0x2_8804, 0x2_8804),
    (0x2_880C, 0x2_8820),
    // SQ_PGM_RESOURCES_*, SQ_PGM_EXPORTS_PS, SQ_PGM_CF_OFFSET_*
    (0x2_8850, 0x2_8854),
    (0x2_8868, 0x2_8868),
    (0x2_887C, 0x2_887C),
    (0x2_8890, 0x2_8890),
    (0x2_88A4, 0x2_88A4),
    (0x2_88CC, 0x2_88E0),
    // PA_SU, PA_SC, VGT
    (0x2_8A00, 0x2_8A40),
    (0x2_8A48, 0x2_8A50),
    (0x2_8A6C, 0x2_8A6C),
    (0x2_8A84, 0x2_8A84),
    (0x2_8A94, 0x2_8A94),
    (0x2_8AA0, 0x2_8AA4),
    (0x2_8AB4, 0x2_8AB8),
    // Strides of stream-out, DRAW_OPAQUE
    (0x2_8AD4, 0x2_8AD4),
    (0x2_8AE4, 0x2_8AE4),
    (0x2_8AF4, 0x2_8AF4),
    (0x2_8B04, 0x2_8B04),
    (0x2_8B28, 0x2_8B30),
    (0x2_8B38, 0x2_8B38),
    // PA_SC, CB_CLRCMP_*
    (0x2_8C00, 0x2_8C00),
    (0x2_8C08, 0x2_8C20),
    (0x2_8C30, 0x2_8C3C),
    (0x2_8C48, 0x2_8C48),
    // DB
    (0x2_8D0C, 0x2_8D10),
    (0x2_8D28, 0x2_8D34),
    (0x2_8D44, 0x2_8D44),
    // Polygon offset, user clip planes
    (0x2_8DF8, 0x2_8E7C),
    // SQ_VTX_START_INST_LOC
    (0x3_CFF4, 0x3_CFF4),
];

/// Sizes of the rings and of their items, which the kernel lets through unseen, in ascending order:
/// `SQ_*_RING_SIZE`, `SQ_*_RING_ITEMSIZE`, `SQ_GS_VERT_ITEMSIZE`.
const RING_SIZES: &[u32] = &[
    0x8C44, 0x8C4C, 0x8C54, 0x8C5C, 0x8C64, 0x8C6C, 0x8C74, 0x8C7C, 0x2_88A8, 0x2_88AC, 0x2_88B0,
    0x2_88B4, 0x2_88B8, 0x2_88BC, 0x2_88C0, 0x2_88C4, 0x2_88C8,
];

/// Whether `reg`, a byte offset, is in `table`.
pub(super) fn within(table: &[(u32, u32)], reg: u32) -> bool {
    let next = table.partition_point(|&(first, _)| first <= reg);
    next > 0 && reg <= table[next - 1].1
}

/// Whether the kernel's table has register `reg` as safe: `COPY_DW` may access those only.
pub(super) fn is_safe(reg: u32) -> bool {
    within(ALLOWED, reg)
}

/// Whether a stream may write register `reg`, whatever the value.
pub(super) fn is_allowed(reg: u32) -> bool {
    is_safe(reg) || RING_SIZES.binary_search(&reg).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_sorted() {
        assert!(ALLOWED.windows(2).all(|w| w[0].1 < w[1].0));
        assert!(ALLOWED.iter().all(|(first, last)| first <= last));
        assert!(RING_SIZES.is_sorted());
    }

    #[test]
    fn registers_between_runs_are_forbidden() {
        for reg in [0x8040, 0x9400, 0x9418, 0x948C, 0x2_8C44 + 4, 0x3_CFF4] {
            assert!(is_safe(reg), "{reg:#x}");
        }
        // GRBM_SOFT_RESET, CP_RB_BASE, MC and clock registers; CB_COLOR0_BASE needs a relocation.
        for reg in [
            0, 0x8020, 0x8044, 0x9490, 0xC100, 0x2_8040, 0x2_8C44, 0x4_0000, !3,
        ] {
            assert!(!is_allowed(reg), "{reg:#x}");
        }
        assert!(is_allowed(0x2_88C8) && !is_safe(0x2_88C8));
    }
}
