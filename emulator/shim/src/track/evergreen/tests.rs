// SPDX-License-Identifier: MIT
//! A stream that draws to a target with depth and stencil is accepted; each change that the kernel
//! refuses is refused, for that reason.

mod colour;
mod depth;
mod textures;

use r7xx_board::chip::cp::evergreen as eg;
use r7xx_board::chip::cp::opcode as op;

use super::*;
use crate::checker::CheckError;
use crate::checker_evergreen::{relocate_cayman, relocate_gfx};

const TURKS: Tiling = Tiling {
    pipes: 4,
    banks: 8,
    group: 256,
    cube_faces: 8,
};
/// 1 MiB, 4 KiB, 128 KiB and 512 KiB. Only offsets have to be aligned.
const BOS: [Reloc; 4] = [
    Reloc {
        address: 0x400_1000,
        size: 1 << 20,
    },
    Reloc {
        address: 0x800_1000,
        size: 0x1000,
    },
    Reloc {
        address: 0xA00_1000,
        size: 0x2_0000,
    },
    Reloc {
        address: 0xC00_1000,
        size: 0x8_0000,
    },
];

type Register = (u32, u32, Option<u32>);

fn packet(opcode: u8, data: &[u32]) -> Vec<u32> {
    let mut words = vec![3 << 30 | (data.len() as u32 - 1) << 16 | u32::from(opcode) << 8];
    words.extend(data);
    words
}

fn nop(bo: u32) -> Vec<u32> {
    packet(op::NOP, &[4 * bo])
}

/// One register, with the relocation to BO number `bo`.
fn set((reg, value, bo): Register) -> Vec<u32> {
    let (opcode, first) = match reg {
        0..0x2_8000 => (op::SET_CONFIG_REG, 0x8000),
        _ => (op::SET_CONTEXT_REG, 0x2_8000),
    };
    let mut words = packet(opcode, &[(reg - first) / 4, value]);
    words.extend(bo.map(nop).into_iter().flatten());
    words
}

const BASE: u32 = 0x2_8C60;
const PITCH: u32 = 0x2_8C64;
const SLICE: u32 = 0x2_8C68;
const VIEW: u32 = 0x2_8C6C;
const INFO: u32 = 0x2_8C70;
const ATTRIB: u32 = 0x2_8C74;

const COLOR_8_8_8_8: u32 = 0x1A << 2;
const ALIGNED: u32 = 1;
const TILED_1D: u32 = 2;
const TILED: u32 = 4;
/// Eight banks, one tile wide and two high, an aspect of two, a split of 512 bytes: macro tiles have
/// 64x64 pixels, 16 KiB where a pixel has four bytes.
const MACRO: u32 = 3 << 5 | 2 << 10 | 1 << 16 | 1 << 19;
/// The same in `DB_Z_INFO`.
const DB_MACRO: u32 = 3 << 8 | 2 << 12 | 1 << 20 | 1 << 24;
const Z_24: u32 = 2 | TILED << 4 | DB_MACRO;

fn pitch(width: u32) -> u32 {
    width / 8 - 1
}
fn slice(width: u32, height: u32) -> u32 {
    width * height / 64 - 1
}

/// A target of 512x256 pixels (512 KiB) at offset 512 KiB of 1 MiB, and a depth and a stencil buffer of
/// that size (512 and 128 KiB), each in a BO of its own. All is 2D tiled.
fn good() -> Vec<Register> {
    vec![
        (BASE, 0x800, Some(0)),
        (PITCH, pitch(512), None),
        (SLICE, slice(512, 256), None),
        (VIEW, 0, None),
        (INFO, COLOR_8_8_8_8 | TILED << 8, None),
        (ATTRIB, MACRO, Some(0)),
        (CB_TARGET_MASK, 0xF, None),
        (DB_Z_INFO, Z_24, None),
        (DB_STENCIL_INFO, 1 | 3 << 8, None),
        (0x2_8048, 0, Some(3)),
        (0x2_804C, 0, Some(2)),
        (0x2_8050, 0, Some(3)),
        (0x2_8054, 0, Some(2)),
        (DB_DEPTH_SIZE, pitch(512), None),
        (DB_DEPTH_SLICE, slice(512, 256), None),
        (DB_DEPTH_VIEW, 0, None),
        (DB_DEPTH_CONTROL, 3, None),
    ]
}

/// [`good`] with changed registers.
fn changed(changes: &[Register]) -> Vec<u32> {
    let mut registers = good();
    for change in changes {
        match registers.iter_mut().find(|r| r.0 == change.0) {
            Some(register) => *register = *change,
            None => registers.push(*change),
        }
    }
    registers.into_iter().flat_map(set).collect()
}

/// The message for which a stream is refused.
fn message(mut ib: Vec<u32>) -> Option<String> {
    match relocate_gfx(&mut ib, &BOS, TURKS) {
        Ok(()) => None,
        Err(CheckError::Surface(_, broken)) => Some(broken.to_string()),
        Err(e) => panic!("{e:?}"),
    }
}

/// The message for which a draw by [`changed`] is refused.
fn refused(changes: &[Register]) -> Option<String> {
    let mut ib = changed(changes);
    ib.extend(packet(op::DRAW_INDEX_AUTO, &[3, 2]));
    message(ib)
}

#[track_caller]
fn assert_fits(changes: &[Register]) {
    assert_eq!(refused(changes), None);
}

#[track_caller]
fn assert_refused(changes: &[Register], why: &str) {
    assert_eq!(refused(changes).as_deref(), Some(why));
}

#[test]
fn every_draw_and_dispatch_is_checked() {
    let draws: [(u8, &[u32], bool); 12] = [
        (op::DRAW_INDEX, &[0, 0, 3, 0], true),
        (op::DRAW_INDEX_2, &[3, 0, 0, 3, 0], true),
        (op::DRAW_INDEX_AUTO, &[3, 2], false),
        (op::DRAW_INDEX_IMMD, &[3, 0, 0], false),
        (eg::DRAW_INDEX_MULTI_AUTO, &[3, 2, 0], false),
        (eg::DRAW_INDEX_OFFSET, &[0, 3, 0], false),
        (eg::DRAW_INDEX_OFFSET_2, &[3, 0, 3, 0], false),
        (eg::DRAW_INDIRECT, &[0, 2], false),
        (eg::DRAW_INDEX_INDIRECT, &[0, 2], false),
        (eg::DISPATCH_DIRECT, &[1, 1, 1, 1], false),
        (eg::DISPATCH_INDIRECT, &[0, 1], true),
        // This, too, though it draws nothing.
        (eg::INDEX_BASE, &[0, 0], true),
    ];
    for (opcode, data, relocated) in draws {
        let stream = |changes: &[Register]| {
            let mut ib = changed(changes);
            ib.extend(packet(eg::SET_BASE, &[1, 0, 0]));
            ib.extend(nop(1));
            ib.extend(packet(opcode, data));
            if relocated {
                ib.extend(nop(1));
            }
            ib
        };
        assert_eq!(message(stream(&[])), None, "{opcode:#x}");
        let why = "a render target (register 0x28c60) needs 0x180000 bytes, its BO has 0x100000";
        let ib = stream(&[(VIEW, 1 << 13, None)]);
        assert_eq!(message(ib).as_deref(), Some(why), "{opcode:#x}");
    }
}

#[test]
fn streamout_buffers_are_checked() {
    let why = |why| Some(format!("a stream-out buffer (register 0x28ae8) {why}"));
    let buffer = |config: u32, buffers: u32, bytes: u32, bo: Option<u32>| {
        let mut changes = vec![
            (VGT_STRMOUT_CONFIG, config, None),
            (VGT_STRMOUT_BUFFER_CONFIG, buffers, None),
            (0x2_8AE0, bytes / 4, None),
        ];
        changes.extend(bo.map(|_| (0x2_8AE8, 1, bo)));
        refused(&changes)
    };
    assert_eq!(buffer(1, 2, 0xF00, Some(1)), None);
    let large = why("needs 0x1004 bytes, its BO has 0x1000");
    assert_eq!(buffer(1, 2, 0xF04, Some(1)), large);
    assert_eq!(buffer(1, 2, 4, None), why("has no BO"));
    // Streams 1 and 3 have buffers of their own.
    assert_eq!(buffer(2, 2, 0xF04, Some(1)), None);
    assert_eq!(buffer(2, 2 << 4, 0xF04, Some(1)), large);
    assert_eq!(buffer(8, 2 << 12, 0xF04, Some(1)), large);
    assert_eq!(buffer(0, !0, 4, None), None);
    assert_eq!(buffer(1, 0, 4, None), None);
    // Other buffers have their registers 16 bytes apart; no primitive but stream-out is killed.
    for i in [0, 2, 3] {
        let why = format!("a stream-out buffer (register {:#x})", 0x2_8AD8 + 16 * i);
        assert_refused(
            &[
                (SX_MISC, 1, None),
                (VGT_STRMOUT_CONFIG, 1, None),
                (VGT_STRMOUT_BUFFER_CONFIG, 1 << i, None),
                (0x2_8AD0 + 16 * i, 0x401, None),
                (0x2_8AD8 + 16 * i, 0, Some(1)),
            ],
            &format!("{why} needs 0x1004 bytes, its BO has 0x1000"),
        );
    }
}

#[test]
fn what_changes_is_checked_again() {
    let draw = packet(op::DRAW_INDEX_AUTO, &[3, 2]);
    let again = |change| {
        let ib = [changed(&[]), draw.clone(), set(change), draw.clone()];
        message(ib.concat())
    };
    assert_eq!(again((0x2_8C8C, 1, None)), None);
    let streamout = [
        (VGT_STRMOUT_CONFIG, 1, None),
        (VGT_STRMOUT_BUFFER_CONFIG, 1, None),
        (0x2_8AD0, 0x3C0, None),
        (0x2_8AD8, 1, Some(1)),
        // Buffer 1 has no BO.
        (0x2_8AE0, 0, None),
    ];
    for change in [
        (VGT_STRMOUT_CONFIG, 2, None),
        (VGT_STRMOUT_BUFFER_CONFIG, 2, None),
        (0x2_8AD0, 0x3C1, None),
        (0x2_8AD8, 2, Some(1)),
    ] {
        let before = [changed(&streamout), draw.clone(), draw.clone()];
        assert_eq!(message(before.concat()), None);
        let after = [changed(&streamout), draw.clone(), set(change), draw.clone()];
        let broken = message(after.concat()).is_some();
        assert_eq!(broken, change.0 != VGT_STRMOUT_CONFIG, "{change:x?}");
    }
    // A stream of vertices that is on from the second draw.
    let streams = [
        changed(&streamout),
        set((VGT_STRMOUT_CONFIG, 0, None)),
        set((VGT_STRMOUT_BUFFER_CONFIG, 2 << 4, None)),
        draw.clone(),
        set((VGT_STRMOUT_CONFIG, 2, None)),
        draw.clone(),
    ];
    let why = "a stream-out buffer (register 0x28ae8) has no BO";
    assert_eq!(message(streams.concat()).as_deref(), Some(why));
    for change in [
        (BASE, 0x840, Some(0)),
        (PITCH, pitch(520), None),
        (SLICE, slice(512, 320), None),
        (VIEW, 1 << 13, None),
        (INFO, COLOR_8_8_8_8 | 3 << 8, None),
        (ATTRIB, MACRO | 7 << 5, Some(0)),
        (0x2_8048, 0x840, Some(0)),
        (0x2_804C, 1, Some(2)),
        (0x2_8050, 0x840, Some(0)),
        (0x2_8054, 1, Some(2)),
        (DB_Z_INFO, Z_24 | 1 << 29, None),
        (DB_STENCIL_INFO, 1 | 7 << 8, None),
        (DB_DEPTH_SIZE, pitch(520), None),
        (DB_DEPTH_SLICE, slice(512, 320), None),
        (DB_DEPTH_VIEW, 1 << 13, None),
    ] {
        assert!(again(change).is_some(), "{change:x?}");
    }
    let ib = |off: Register, broken: Register, on: Register| {
        let first = changed(&[off, broken]);
        let ib = [first, draw.clone(), set(on), draw.clone()];
        (message(ib[..2].concat()), message(ib.concat()))
    };
    let off = (DB_DEPTH_CONTROL, 0, None);
    let (before, after) = ib(off, (0x2_8050, 0, Some(1)), (DB_DEPTH_CONTROL, 2, None));
    assert!(before.is_none() && after.is_some());
    let off = (CB_TARGET_MASK, 0, None);
    let (before, after) = ib(off, (BASE, 0, Some(1)), (CB_TARGET_MASK, 1, None));
    assert!(before.is_none() && after.is_some());
    let off = (SX_MISC, 1, None);
    let (before, after) = ib(off, (BASE, 0, Some(1)), (SX_MISC, 0, None));
    assert!(before.is_none() && after.is_some());
}

#[test]
fn registers_that_are_not_set_have_the_kernels_values() {
    let without = |register: u32, changes: &[Register]| {
        let mut ib = changed(changes);
        let at = (0..ib.len()).find(|&i| ib[i..].starts_with(&set((register, 0, None))[..2]));
        // What is skipped is a NOP of two dwords of data, without relocation.
        ib[at.unwrap()] = 3 << 30 | 1 << 16 | u32::from(op::NOP) << 8;
        ib.extend(packet(op::DRAW_INDEX_AUTO, &[3, 2]));
        message(ib)
    };
    let why = |why| Some(format!("a render target (register 0x28c60) {why}"));
    let refused = why("has pitch 8, no multiple of 64");
    assert_eq!(without(PITCH, &[]), refused);
    let refused = why("needs 0x40080000 bytes, its BO has 0x100000");
    assert_eq!(without(VIEW, &[]), refused);
    assert_eq!(without(INFO, &[(BASE, 0, Some(1))]), None);
    let refused = why("needs 0x80000 bytes, its BO has 0x1000");
    assert_eq!(without(CB_TARGET_MASK, &[(BASE, 0, Some(1))]), refused);
    let stencil = |why| Some(format!("the stencil buffer (register 0x2804c) {why}"));
    let refused = stencil("has invalid array mode 15");
    assert_eq!(without(DB_Z_INFO, &[]), refused);
    let refused = stencil("has invalid tile split 7");
    assert_eq!(without(DB_STENCIL_INFO, &[]), refused);
    let refused = stencil("has height 8, no multiple of 64");
    assert_eq!(without(DB_DEPTH_SIZE, &[]), refused);
    let refused = stencil("needs 0xffe0000 bytes, its BO has 0x20000");
    assert_eq!(without(DB_DEPTH_VIEW, &[]), refused);
    let refused = stencil("needs 0x20000 bytes, its BO has 0x1000");
    let small = (0x2_804C, 0, Some(1));
    assert_eq!(without(DB_DEPTH_CONTROL, &[small]), refused);
    // The kernel's slices wrap to none.
    assert_eq!(without(SLICE, &[(BASE, 0, Some(1))]), None);
    assert_eq!(without(DB_DEPTH_SLICE, &[small]), None);
}

#[test]
fn arguments_of_indirect_draws_are_within_their_bo() {
    let refused = Err("the arguments of an indirect draw are not within their BO");
    let draw = |opcode, offset, base_is_set| {
        let mut ib = changed(&[]);
        if base_is_set {
            ib.extend(packet(eg::SET_BASE, &[1, 0x123, 0]));
            ib.extend(nop(1));
        }
        ib.extend(packet(opcode, &[offset, 2]));
        match relocate_gfx(&mut ib, &BOS, TURKS) {
            // The offset in SET_BASE is dropped.
            Ok(()) => {
                let base = [1, BOS[1].address as u32, 0];
                assert!(!base_is_set || ib.windows(3).any(|words| words == base));
                Ok(())
            }
            Err(CheckError::Refused(_, why)) => Err(why),
            Err(e) => panic!("{e:?}"),
        }
    };
    assert_eq!(draw(eg::DRAW_INDIRECT, 0xFF0, true), Ok(()));
    assert_eq!(draw(eg::DRAW_INDIRECT, 0xFF1, true), refused);
    assert_eq!(draw(eg::DRAW_INDIRECT, !0, true), refused);
    assert_eq!(draw(eg::DRAW_INDEX_INDIRECT, 0xFEC, true), Ok(()));
    assert_eq!(draw(eg::DRAW_INDEX_INDIRECT, 0xFED, true), refused);
    assert_eq!(draw(eg::DRAW_INDIRECT, 0, false), refused);
}

#[test]
fn forbidden_registers_are_refused() {
    // GRBM_SOFT_RESET, a register of the VM's block, a hole between context registers, and Cayman's
    // DB_EQAA, DB_DEPTH_INFO and PA_SC_AA_CONFIG.
    for reg in [
        0x8020,
        0xA000,
        0x2_8E80 + 0x34,
        0x2_8804,
        0x2_803C,
        0x2_8BE0,
    ] {
        let mut ib = set((reg, 0, None));
        let expected = Err(CheckError::Register(0, reg));
        assert_eq!(relocate_gfx(&mut ib, &BOS, TURKS), expected);
    }
    for reg in [0x2_8804, 0x2_803C, 0x2_8BE0] {
        let mut ib = set((reg, 0, None));
        assert_eq!(relocate_cayman(&mut ib, &BOS, TURKS), Ok(()));
    }
    // Sizes of rings, PA_SC_AA_CONFIG, CB_SHADER_MASK, CMASK_SLICE and FMASK_SLICE.
    for reg in [
        0x8C44, 0x8988, 0x2_8900, 0x2_8C04, 0x2_823C, 0x2_8C80, 0x2_8C88,
    ] {
        let mut ib = set((reg, 0, None));
        assert_eq!(relocate_gfx(&mut ib, &BOS, TURKS), Ok(()), "{reg:#x}");
    }
    // SX_MEMORY_EXPORT_BASE takes a relocation; Cayman does not have it.
    let ib = set((0x9010, 0, Some(1)));
    assert_eq!(relocate_gfx(&mut ib.clone(), &BOS, TURKS), Ok(()));
    let refused = Err(CheckError::Register(0, 0x9010));
    assert_eq!(relocate_cayman(&mut ib.clone(), &BOS, TURKS), refused);
    // By COPY_DW, from and to: CP_STRMOUT_CNTL is allowed, GRBM_SOFT_RESET is not, nor is a register
    // that the track looks at.
    let copy = |memory: u32, from: u32, to: u32| {
        let mut ib = packet(op::COPY_DW, &[memory, from / 4, 0, to / 4, 0]);
        ib.extend(nop(1));
        relocate_gfx(&mut ib, &BOS, TURKS)
    };
    assert_eq!(copy(1, 0, 0x84FC), Ok(()));
    assert_eq!(copy(2, 0x84FC, 0), Ok(()));
    for reg in [0x8020, CB_TARGET_MASK, 0x8C44] {
        assert_eq!(copy(1, 0, reg), Err(CheckError::Register(0, reg)));
        assert_eq!(copy(2, reg, 0), Err(CheckError::Register(0, reg)));
    }
}

#[test]
fn buffers_are_cut_to_their_bos() {
    let buffer = |offset, size| {
        let data = [0, offset, size, 0, 0, 0, 0, 0, 3 << 30];
        let mut ib = packet(op::SET_RESOURCE, &data);
        ib.extend(nop(1));
        relocate_gfx(&mut ib, &BOS, TURKS).unwrap();
        ib[3]
    };
    assert_eq!(buffer(0, 0xFFF), 0xFFF);
    assert_eq!(buffer(0x10, 0xFF0), 0xFF0);
    assert_eq!(buffer(0x10, 0xFF1), 0xFF0);
    assert_eq!(buffer(0x10, !0x10), 0xFF0);
    // The kernel's sum wraps.
    assert_eq!(buffer(0x10, !0), !0);
}
