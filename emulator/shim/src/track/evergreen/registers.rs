// SPDX-License-Identifier: MIT
//! What a stream may do with a register on Evergreen and later.
//!
//! Source: `reg_srcs/evergreen` and `reg_srcs/cayman` of Linux 6.12, from which the kernel generates
//! its tables, and `evergreen_cs_handle_reg()` in `evergreen_cs.c`.

use super::super::registers::within;

/// Byte offsets of the first and the last register of each run that user space may write without
/// further checks on every chip, in ascending order.
const FREE: &[(u32, u32)] = &[
    // GRBM, CP
    (0x802C, 0x802C),
    (0x8040, 0x8040),
    (0x84FC, 0x84FC),
    (0x85F0, 0x85F4),
    // VGT
    (0x88B0, 0x88B0),
    (0x88C4, 0x88C4),
    (0x88D4, 0x88D4),
    (0x8958, 0x895C),
    (0x8970, 0x8974),
    (0x8990, 0x89A4),
    (0x89AC, 0x89AC),
    // PA
    (0x8A14, 0x8A14),
    (0x8A60, 0x8A60),
    (0x8B10, 0x8B10),
    (0x8BF0, 0x8BF0),
    // SQ
    (0x8C00, 0x8C04),
    (0x8C10, 0x8C14),
    (0x8D8C, 0x8D8C),
    (0x8D94, 0x8D94),
    (0x8DF8, 0x8DF8),
    (0x8E20, 0x8E28),
    (0x8E48, 0x8E48),
    // SPI, TA
    (0x9100, 0x9100),
    (0x913C, 0x913C),
    (0x9508, 0x9508),
    // DB
    (0x9830, 0x983C),
    (0x9854, 0x9854),
    // Border colours
    (0xA400, 0xA474),
    // Context registers: DB_RENDER_*, clear values, screen scissor
    (0x2_8000, 0x2_8004),
    (0x2_800C, 0x2_8010),
    (0x2_8028, 0x2_8034),
    // Sizes of constant buffers, window and clip rectangles, viewports
    (0x2_8140, 0x2_8234),
    (0x2_8240, 0x2_8244),
    (0x2_8250, 0x2_834C),
    (0x2_8354, 0x2_8354),
    // Vertex semantics, blend colour, references, viewport transforms, clip planes, SPI
    (0x2_8380, 0x2_8420),
    (0x2_8430, 0x2_86F4),
    // GDS
    (0x2_8720, 0x2_8724),
    // CB_BLEND*, points, CB_COLOR_CONTROL, DB_SHADER_CONTROL, PA
    (0x2_8780, 0x2_879C),
    (0x2_87CC, 0x2_87E0),
    (0x2_8808, 0x2_882C),
    // SQ_PGM_RESOURCES_*
    (0x2_8844, 0x2_884C),
    (0x2_8860, 0x2_8864),
    (0x2_8878, 0x2_887C),
    (0x2_8890, 0x2_8894),
    (0x2_88A8, 0x2_88A8),
    (0x2_88BC, 0x2_88C0),
    (0x2_88D4, 0x2_88D8),
    // SQ_LDS_ALLOC*, PA_SU, PA_SC, VGT
    (0x2_88E8, 0x2_88F0),
    (0x2_8A00, 0x2_8A40),
    (0x2_8A48, 0x2_8A5C),
    (0x2_8A6C, 0x2_8A6C),
    (0x2_8A84, 0x2_8A84),
    (0x2_8A94, 0x2_8A94),
    (0x2_8AA0, 0x2_8AA4),
    (0x2_8AB4, 0x2_8AB8),
    // DB_SRESULTS_*
    (0x2_8AC0, 0x2_8AC8),
    // Strides of stream-out, DRAW_OPAQUE, VGT_GS_MAX_VERT_OUT
    (0x2_8AD4, 0x2_8AD4),
    (0x2_8AE4, 0x2_8AE4),
    (0x2_8AF4, 0x2_8AF4),
    (0x2_8B04, 0x2_8B04),
    (0x2_8B28, 0x2_8B30),
    (0x2_8B38, 0x2_8B38),
    // Shader stages, polygon offset
    (0x2_8B54, 0x2_8B58),
    (0x2_8B6C, 0x2_8B90),
    // PA_SC
    (0x2_8C00, 0x2_8C00),
    (0x2_8C08, 0x2_8C3C),
    // Sizes of constant buffers of HS and LS
    (0x2_8F80, 0x2_8FFC),
    // SQ_VTX_BASE_VTX_LOC, SQ_VTX_START_INST_LOC, SQ_*_CLEAR
    (0x3_CFF0, 0x3_CFF4),
    (0x3_FF00, 0x3_FF08),
];

/// Runs of Evergreen and Northern Islands that Cayman does not have: `WAIT_UNTIL_POLL_*`, `SQ_*_MGMT*`
/// and limits of GPRs, `SX_MEMORY_EXPORT_SIZE`, `VC_*`, `GDS_ORDERED_WAVE_PER_SE`, `VGT_LS_*` and
/// `VGT_HS_*`.
const FREE_EVERGREEN: &[(u32, u32)] = &[
    (0x8044, 0x804C),
    (0x8C08, 0x8C0C),
    (0x8C18, 0x8C28),
    (0x8D90, 0x8D90),
    (0x8D98, 0x8D9C),
    (0x8E2C, 0x8E2C),
    (0x9014, 0x9014),
    (0x9700, 0x9700),
    (0x9714, 0x9714),
    (0x2_8728, 0x2_8728),
    (0x2_8838, 0x2_8838),
    (0x2_8B5C, 0x2_8B68),
];

/// Runs that only Cayman has: `VGT_COMPUTE_INDEX`, `VGT_HS_OFFCHIP_PARAM`, `SX_SCATTER_EXPORT_SIZE`,
/// `SPI_*_MGMT*`, `IA_*`, `PA_SC_*` and `PA_CL_GB_*` at their new places.
const FREE_CAYMAN: &[(u32, u32)] = &[
    (0x89A8, 0x89A8),
    (0x89B0, 0x89B0),
    (0x2_835C, 0x2_835C),
    (0x2_86F8, 0x2_8708),
    (0x2_8A70, 0x2_8A70),
    (0x2_8AA8, 0x2_8AA8),
    (0x2_8BD4, 0x2_8BDC),
    (0x2_8BE4, 0x2_8BFC),
    (0x2_8C04, 0x2_8C04),
];

/// Registers that the kernel lets through unseen, in ascending order: sizes of the rings and of their
/// items (`SQ_*_RING_SIZE`, `SQ_*_RING_ITEMSIZE`, `SQ_GS_VERT_ITEMSIZE*`, `SQ_GSVS_RING_OFFSET_*`,
/// `VGT_TF_RING_SIZE`), and `CB_SHADER_MASK`.
const UNSEEN: &[(u32, u32)] = &[
    (0x8988, 0x8988),
    (0x8C44, 0x8C44),
    (0x8C4C, 0x8C4C),
    (0x8C54, 0x8C54),
    (0x8C5C, 0x8C5C),
    (0x8C64, 0x8C64),
    (0x8C6C, 0x8C6C),
    (0x8E14, 0x8E14),
    (0x8E1C, 0x8E1C),
    (0x2_823C, 0x2_823C),
    (0x2_8830, 0x2_8834),
    (0x2_8900, 0x2_8914),
    (0x2_891C, 0x2_8934),
];

/// `PA_SC_AA_CONFIG`. Cayman has the last register of `PA_SC_AA_SAMPLE_LOCS_*` there.
const PA_SC_AA_CONFIG: u32 = 0x2_8C04;
/// `DB_DEPTH_INFO`, `DB_EQAA` and `PA_SC_AA_CONFIG` of Cayman.
const UNSEEN_CAYMAN: [u32; 3] = [0x2_803C, 0x2_8804, 0x2_8BE0];

/// Registers of targets 0 to 7 begin here, 60 bytes each; those of 8 to 11, of 28 bytes each, begin and
/// end at the others.
const COLOURS: u32 = 0x2_8C60;
const COLOURS_8: u32 = 0x2_8E40;
const COLOURS_END: u32 = 0x2_8EB0;

/// Offsets of a target's registers. Targets from 8 on have those before `CMASK` only. After `CMASK` and
/// `FMASK` are `CMASK_SLICE` and `FMASK_SLICE`.
pub(super) mod colour {
    pub const BASE: u32 = 0;
    pub const PITCH: u32 = 0x04;
    pub const SLICE: u32 = 0x08;
    pub const VIEW: u32 = 0x0C;
    pub const INFO: u32 = 0x10;
    pub const ATTRIB: u32 = 0x14;
    pub const DIM: u32 = 0x18;
    pub const CMASK: u32 = 0x1C;
    pub const FMASK: u32 = 0x24;
    pub const CLEAR_WORD0: u32 = 0x2C;
}

/// The target that has register `reg`, and the offset in the target's registers.
pub(super) fn target(reg: u32) -> Option<(usize, u32)> {
    let (first, index, bytes) = match reg {
        COLOURS..COLOURS_8 => (COLOURS, 0, 0x3C),
        COLOURS_8..COLOURS_END => (COLOURS_8, 8, 0x1C),
        _ => return None,
    };
    let offset = reg - first;
    Some((index + (offset / bytes) as usize, offset % bytes))
}

/// `CB_COLORn_BASE` of one of the targets 0 to 7.
pub(super) const fn colour_base(target: usize) -> u32 {
    COLOURS + 0x3C * target as u32
}

/// What the checker does with a register.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Use {
    /// A stream may set it to any value, and access it by `COPY_DW`.
    Free,
    /// It has an address in units of 256 bytes, and takes a relocation.
    Base,
    /// It takes a relocation that changes tiling fields, which stay as they are.
    Tiling,
    /// The checker looks at the value, or a stream may not set it.
    Value,
}

pub(super) fn use_of(reg: u32, cayman: bool) -> Use {
    let own = match cayman {
        true => FREE_CAYMAN,
        false => FREE_EVERGREEN,
    };
    if within(FREE, reg) || within(own, reg) {
        return Use::Free;
    }
    if let Some((_, offset)) = target(reg) {
        return match offset {
            colour::BASE | colour::CMASK | colour::FMASK => Use::Base,
            colour::ATTRIB => Use::Tiling,
            colour::DIM | colour::CLEAR_WORD0.. => Use::Free,
            _ => Use::Value,
        };
    }
    match reg {
        // SQ_*_RING_BASE, SQ_*TMP_RING_BASE, CP_COHER_BASE
        0x8C40 | 0x8C48 | 0x8C50 | 0x8C58 | 0x8C60 | 0x8C68 | 0x8E10 | 0x8E18 | 0x85F8
        // DB_HTILE_DATA_BASE, DB_Z_READ, STENCIL_READ, Z_WRITE and STENCIL_WRITE_BASE
        | 0x2_8014 | 0x2_8048 | 0x2_804C | 0x2_8050 | 0x2_8054
        // SQ_PGM_START_PS, VS, GS, ES, FS, HS, LS
        | 0x2_8840 | 0x2_885C | 0x2_8874 | 0x2_888C | 0x2_88A4 | 0x2_88B8 | 0x2_88D0
        // SQ_ALU_CONST_CACHE_PS, VS, GS, HS, LS, 16 each
        | 0x2_8940..=0x2_89FC | 0x2_8F00..=0x2_8F7C
        // VGT_STRMOUT_BUFFER_BASE_0-3, CB_IMMED0-11_BASE
        | 0x2_8AD8 | 0x2_8AE8 | 0x2_8AF8 | 0x2_8B08 | 0x2_8B9C..=0x2_8BC8 => Use::Base,
        // SX_MEMORY_EXPORT_BASE, SX_SCATTER_EXPORT_BASE
        0x9010 if !cayman => Use::Base,
        0x2_8358 if cayman => Use::Base,
        _ => Use::Value,
    }
}

/// Whether a stream may set `reg`, and the kernel does nothing with the value.
pub(super) fn is_unseen(reg: u32, cayman: bool) -> bool {
    within(UNSEEN, reg)
        || match cayman {
            true => UNSEEN_CAYMAN.contains(&reg),
            false => reg == PA_SC_AA_CONFIG,
        }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_sorted() {
        for table in [FREE, FREE_EVERGREEN, FREE_CAYMAN, UNSEEN] {
            assert!(table.windows(2).all(|w| w[0].1 < w[1].0));
            assert!(table.iter().all(|(first, last)| first <= last));
        }
    }

    #[test]
    fn targets_have_their_registers() {
        assert_eq!(target(0x2_8C60), Some((0, colour::BASE)));
        assert_eq!(target(0x2_8E3C), Some((7, 0x38)));
        assert_eq!(target(0x2_8E40), Some((8, colour::BASE)));
        assert_eq!(target(0x2_8EAC), Some((11, colour::DIM)));
        assert_eq!(target(0x2_8C5C), None);
        assert_eq!(target(0x2_8EB0), None);
        assert_eq!(target(colour_base(7)), Some((7, colour::BASE)));
    }

    #[test]
    fn registers_are_free_where_the_kernel_has_them() {
        // DIM and CLEAR_WORD3 of target 0, DIM of target 11, SQ_CONST_MEM_BASE.
        for reg in [0x8040, 0x2_8C78, 0x2_8C98, 0x2_8EAC, 0x8DF8, 0x3_FF08] {
            assert_eq!(use_of(reg, false), Use::Free, "{reg:#x}");
            assert_eq!(use_of(reg, true), Use::Free, "{reg:#x}");
        }
        // SQ_THREAD_RESOURCE_MGMT; SX_SCATTER_EXPORT_SIZE.
        for (reg, cayman) in [(0x8C18, false), (0x2_835C, true)] {
            assert_eq!(use_of(reg, cayman), Use::Free, "{reg:#x}");
            assert_eq!(use_of(reg, !cayman), Use::Value, "{reg:#x}");
        }
        // SX_MEMORY_EXPORT_BASE and SX_SCATTER_EXPORT_BASE.
        for (reg, cayman) in [(0x9010, false), (0x2_8358, true)] {
            assert_eq!(use_of(reg, cayman), Use::Base, "{reg:#x}");
            assert_eq!(use_of(reg, !cayman), Use::Value, "{reg:#x}");
            assert!(!is_unseen(reg, !cayman), "{reg:#x}");
        }
        assert!(is_unseen(PA_SC_AA_CONFIG, false) && !is_unseen(PA_SC_AA_CONFIG, true));
        assert!(is_unseen(0x2_8BE0, true) && !is_unseen(0x2_8BE0, false));
    }
}
