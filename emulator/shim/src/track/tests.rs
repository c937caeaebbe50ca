// SPDX-License-Identifier: MIT
//! A stream that draws to a target with depth is accepted; each change that the kernel refuses is
//! refused, for that reason.

use r7xx_board::chip::cp::opcode as op;

use super::*;
use crate::checker::{relocate_gfx, CheckError};

const RV770: Tiling = Tiling {
    pipes: 8,
    banks: 8,
    group: 256,
    cube_faces: 8,
};
/// 1 MiB, aligned as 2D tiling demands.
const BO: Reloc = Reloc {
    address: 0x400_0000,
    size: 1 << 20,
};
const SMALL: Reloc = Reloc {
    address: 0x800_0000,
    size: 0x1000,
};

fn packet(opcode: u8, data: &[u32]) -> Vec<u32> {
    let mut words = vec![3 << 30 | (data.len() as u32 - 1) << 16 | u32::from(opcode) << 8];
    words.extend(data);
    words
}

/// One register, with the relocation to BO number `bo`.
fn set(reg: u32, value: u32, bo: Option<u32>) -> Vec<u32> {
    let (opcode, first) = match reg {
        0..0x2_8000 => (op::SET_CONFIG_REG, 0x8000),
        _ => (op::SET_CONTEXT_REG, 0x2_8000),
    };
    let mut words = packet(opcode, &[(reg - first) / 4, value]);
    if let Some(bo) = bo {
        words.extend(packet(op::NOP, &[4 * bo]));
    }
    words
}

/// `CB_COLORn_SIZE` or `DB_DEPTH_SIZE` of `width` x `height` pixels.
fn size(width: u32, height: u32) -> u32 {
    width / 8 - 1 | (width * height / 64 - 1) << 10
}

const COLOR_8_8_8_8: u32 = 0x1A << 2;
const TILED: u32 = 4;
const LINEAR: u32 = 1;
const DRAW: [u32; 2] = [3, 2];

/// A target of 512x256 pixels (512 KiB) and a depth buffer of the same size, 2D tiled.
fn good() -> Vec<(u32, u32, Option<u32>)> {
    vec![
        (0x2_8040, 0, Some(0)),
        (0x2_8060, size(512, 256), None),
        (0x2_8080, 0, None),
        (0x2_80A0, COLOR_8_8_8_8 | TILED << 8, None),
        (0x2_8238, 0xF, None),
        (0x2_8C04, 0, None),
        (0x2_8808, 0xCC << 16, None),
        (0x2_8000, size(512, 256), None),
        (0x2_8004, 0, None),
        (0x2_800C, 0x800, Some(0)),
        (0x2_8010, 3 | TILED << 15, None),
        (0x2_8800, 2, None),
    ]
}

/// Executes the checker on `registers` and a draw.
fn draw(registers: &[(u32, u32, Option<u32>)]) -> Result<Vec<u32>, CheckError> {
    let mut ib: Vec<u32> = registers.iter().flat_map(|r| set(r.0, r.1, r.2)).collect();
    ib.extend(packet(op::DRAW_INDEX_AUTO, &DRAW));
    relocate_gfx(&mut ib, &[BO, SMALL], RV770).map(|()| ib)
}

/// The reason for which [`good`] with changed registers is refused.
fn refused(changes: &[(u32, u32, Option<u32>)]) -> Option<Refused> {
    let mut registers = good();
    for change in changes {
        match registers.iter_mut().find(|r| r.0 == change.0) {
            Some(register) => *register = *change,
            None => registers.push(*change),
        }
    }
    match draw(&registers) {
        Ok(_) => None,
        Err(CheckError::Refused(_, why)) => Some(why),
        Err(e) => panic!("{e:?}"),
    }
}

#[test]
fn a_draw_within_its_bos_is_accepted() {
    let ib = draw(&good()).unwrap();
    // The size stays as it was.
    assert_eq!(ib[7], size(512, 256));
    assert_eq!(refused(&[]), None);
}

#[test]
fn render_targets_are_checked() {
    let target = |base, extent, info, bo| {
        refused(&[
            (0x2_8040, base, Some(bo)),
            (0x2_8060, extent, None),
            (0x2_80A0, info, None),
        ])
    };
    let (fits, info) = (size(512, 256), COLOR_8_8_8_8 | TILED << 8);
    let too_large = Some("a render target is larger than its BO");
    assert_eq!(target(0, size(512, 512), info, 0), None);
    assert_eq!(target(0, size(512, 576), info, 0), too_large);
    assert_eq!(target(0x800, size(512, 320), info, 0), too_large);
    assert_eq!(target(0, fits, info, 1), too_large);
    assert_eq!(
        target(0x10, fits, info, 0),
        Some("the address of a render target is not aligned")
    );
    assert_eq!(
        target(0, size(520, 256), info, 0),
        Some("the pitch of a render target is not aligned")
    );
    assert_eq!(
        target(0, size(512, 200), info, 0),
        Some("the height of a render target is not aligned")
    );
    assert_eq!(
        target(0, fits, COLOR_8_8_8_8 | 3 << 8, 0),
        Some("a render target has an invalid array mode")
    );
    assert_eq!(
        target(0, fits, 0x31 << 2 | TILED << 8, 0),
        Some("a render target has an invalid format")
    );
    // Nothing is written with an empty mask, or where no primitive is drawn.
    let large = [(0x2_8060, size(512, 576), None)];
    assert_eq!(refused(&large), too_large);
    assert_eq!(refused(&[large[0], (0x2_8238, 0xF0, None)]), None);
    assert_eq!(refused(&[large[0], (SX_MISC, 1, None)]), None);
    // A resolve uses targets 0 and 1, whatever the mask is; the second has one sample.
    let (no_mask, resolve) = ((0x2_8238, 0, None), (0x2_8808, 7 << 4, None));
    assert_eq!(refused(&[large[0], no_mask]), None);
    assert_eq!(refused(&[large[0], no_mask, resolve]), too_large);
    let second = |extent| {
        refused(&[
            (0x2_8C04, 1, None),
            (0x2_8000, size(512, 128), None),
            (0x2_8044, 0, Some(0)),
            (0x2_8064, extent, None),
            (0x2_8084, 0, None),
            (0x2_80A4, info, None),
            no_mask,
            resolve,
        ])
    };
    assert_eq!(second(size(512, 512)), None);
    assert_eq!(second(size(512, 576)), too_large);
    // Slices and samples count.
    assert_eq!(refused(&[(0x2_8080, 1 << 13, None)]), None);
    assert_eq!(refused(&[(0x2_8080, 2 << 13, None)]), too_large);
    assert_eq!(refused(&[(0x2_8C04, 2, None)]), too_large);
    // A linear target may end with the last line: the kernel lets LINEAR_GENERAL be larger.
    let linear = (0x2_80A0, COLOR_8_8_8_8 | LINEAR << 8, None);
    assert_eq!(refused(&[large[0], linear]), too_large);
    assert_eq!(refused(&[large[0], (0x2_80A0, COLOR_8_8_8_8, None)]), None);
    // Without a target.
    let mut none = good();
    none.remove(0);
    let err = CheckError::Refused(35, "a render target has no BO");
    assert_eq!(draw(&none).unwrap_err(), err);
}

#[test]
fn cmask_and_fmask_are_checked() {
    let modes = |mode: u32, mask, bo: Option<u32>, samples| {
        let mut changes = vec![
            (0x2_80A0, COLOR_8_8_8_8 | LINEAR << 8 | mode << 18, None),
            (0x2_8060, size(64, 64), None),
            (0x2_8100, mask, None),
            (0x2_8C04, samples, None),
            (0x2_8000, size(64, 64), None),
        ];
        if let Some(bo) = bo {
            changes.push((0x2_80C0, 0, Some(bo)));
            changes.push((0x2_80E0, 0, Some(bo)));
        }
        refused(&changes)
    };
    let (cmask, fmask) = (
        Some("a CMASK is larger than its BO"),
        Some("an FMASK is larger than its BO"),
    );
    assert_eq!(modes(1, 31, Some(1), 0), None);
    assert_eq!(modes(1, 32, Some(1), 0), cmask);
    assert_eq!(modes(1, 0, None, 0), cmask);
    // 4 samples: 8 bytes for each of the 8 rows of a tile.
    assert_eq!(modes(2, 63 << 12, Some(1), 2), None);
    assert_eq!(modes(2, 64 << 12, Some(1), 2), fmask);
    assert_eq!(modes(2, 0, None, 2), fmask);
    assert_eq!(
        modes(3, 0, Some(1), 0),
        Some("a render target has an invalid tile mode")
    );
}

#[test]
fn depth_buffers_are_checked() {
    let too_large = Some("the depth buffer is larger than its BO");
    assert_eq!(refused(&[(0x2_8000, size(512, 320), None)]), too_large);
    assert_eq!(refused(&[(0x2_800C, 0, Some(1))]), too_large);
    assert_eq!(
        refused(&[(0x2_800C, 0x801, Some(0))]),
        Some("the address of the depth buffer is not aligned")
    );
    assert_eq!(
        refused(&[(0x2_8010, 3 | LINEAR << 15, None)]),
        Some("the depth buffer has an invalid array mode")
    );
    assert_eq!(
        refused(&[(0x2_8000, size(512, 200), None)]),
        Some("the height of the depth buffer is not aligned")
    );
    // Without tests it does not matter.
    let large = (0x2_8000, size(512, 320), None);
    assert_eq!(refused(&[large, (0x2_8800, 0, None)]), None);
    assert_eq!(refused(&[large, (0x2_8010, 0, None)]), None);
    // HTILE: 512x512 pixels, four bytes for 64, rounded to 16 KiB.
    let on = (0x2_8010, 3 | TILED << 15 | 1 << 25, None);
    let htile = Some("HTILE is larger than its BO");
    assert_eq!(refused(&[on]), htile);
    assert_eq!(refused(&[on, (0x2_8014, 0, Some(1))]), htile);
    assert_eq!(refused(&[on, (0x2_8014, 0, Some(0))]), None);
    assert_eq!(refused(&[on, (0x2_8014, 0xFC0, Some(0))]), None);
    assert_eq!(refused(&[on, (0x2_8014, 0xFC1, Some(0))]), htile);
    // A depth buffer as large as its BO: the kernel writes its size.
    let mut whole = good();
    whole[7].1 = !0;
    let ib = draw(&whole).unwrap();
    let tiles = (BO.size as u32 - 0x8_0000) / (4 * 64);
    assert!(ib.contains(&((tiles - 1) << 10 | 0x3FF)));
}

#[test]
fn streamout_buffers_are_checked() {
    let buffer = |bytes: u32, bo: Option<u32>| {
        let mut changes = vec![(0x2_8AB0, 1, None), (0x2_8B20, 2, None)];
        changes.push((0x2_8AE0, bytes / 4, None));
        if bo.is_some() {
            changes.push((0x2_8AE8, 1, bo));
        }
        refused(&changes)
    };
    let too_large = Some("a stream-out buffer is larger than its BO");
    assert_eq!(buffer(0xF00, Some(1)), None);
    assert_eq!(buffer(0xF04, Some(1)), too_large);
    assert_eq!(buffer(4, None), Some("a stream-out buffer has no BO"));
    // STRMOUT_BASE_UPDATE repeats the register.
    let update = |index, value, bo: u32| {
        let mut ib = set(0x2_8AE8, 1, Some(1));
        ib.extend(packet(op::STRMOUT_BASE_UPDATE, &[index, value]));
        ib.extend(packet(op::NOP, &[4 * bo]));
        relocate_gfx(&mut ib, &[BO, SMALL], RV770).is_ok()
    };
    assert!(update(1, 1, 1));
    assert!(!update(0, 1, 1) && !update(1, 2, 1) && !update(1, 1, 0) && !update(4, 1, 1));
}

#[test]
fn textures_are_checked() {
    let texture = |width: u32, height: u32, pitch: u32, mode: u32, format: u32, dim: u32| {
        let words = [
            0,
            dim | mode << 3 | (pitch / 8 - 1) << 8 | (width - 1) << 19,
            height - 1 | format << 26,
            0,
            0,
            0,
            0,
            2 << 30,
        ];
        let mut ib = packet(op::SET_RESOURCE, &words);
        ib.extend(packet(op::NOP, &[0]));
        ib.extend(packet(op::NOP, &[0]));
        match relocate_gfx(&mut ib, &[BO, SMALL], RV770) {
            Ok(()) => None,
            Err(CheckError::Refused(_, why)) => Some(why),
            Err(e) => panic!("{e:?}"),
        }
    };
    let too_large = Some("a texture is larger than its BO");
    assert_eq!(texture(512, 512, 512, TILED, 0x1A, 1), None);
    assert_eq!(texture(512, 513, 512, TILED, 0x1A, 1), too_large);
    assert_eq!(texture(512, 512, 512, TILED, 0x1F, 1), too_large);
    // The width counts, rounded up to the alignment of the pitch.
    assert_eq!(texture(513, 512, 512, TILED, 0x1A, 1), too_large);
    // BC1: a quarter of the rows and columns, 8 bytes each.
    assert_eq!(texture(1024, 1024, 1024, TILED, 0x31, 1), None);
    assert_eq!(texture(1024, 2048, 1024, TILED, 0x31, 1), None);
    assert_eq!(texture(1024, 2304, 1024, TILED, 0x31, 1), too_large);
    // A cube has eight faces.
    assert_eq!(texture(128, 256, 128, TILED, 0x1A, 3), None);
    assert_eq!(texture(128, 257, 128, TILED, 0x1A, 3), too_large);
    assert_eq!(
        texture(512, 512, 520, TILED, 0x1A, 1),
        Some("the pitch of a texture is not aligned")
    );
    assert_eq!(
        texture(512, 512, 512, 3, 0x1A, 1),
        Some("a texture has an invalid array mode")
    );
    assert_eq!(
        texture(512, 512, 512, TILED, 0x36, 1),
        Some("a texture has an invalid format")
    );
}

#[test]
fn forbidden_registers_are_refused() {
    // GRBM_SOFT_RESET, a register of the VM's block, a hole between context registers.
    for reg in [0x8020, 0xA000, 0x2_8E80] {
        let mut ib = set(reg, 0, None);
        let expected = Err(CheckError::Register(0, reg));
        assert_eq!(relocate_gfx(&mut ib, &[BO], RV770), expected);
    }
    // By COPY_DW, too: to CP_STRMOUT_CNTL is allowed, to GRBM_SOFT_RESET is not.
    let copy = |reg: u32| {
        let mut ib = packet(op::COPY_DW, &[1, 0, 0, reg / 4, 0]);
        ib.extend(packet(op::NOP, &[0]));
        relocate_gfx(&mut ib, &[BO], RV770)
    };
    assert_eq!(copy(0x8490), Ok(()));
    assert_eq!(copy(0x8020), Err(CheckError::Register(0, 0x8020)));
    // Beyond the window of the opcode.
    let mut beyond = packet(op::SET_CONFIG_REG, &[0x2C00 / 4, 0]);
    assert_eq!(
        relocate_gfx(&mut beyond, &[BO], RV770),
        Err(CheckError::Field(0))
    );
}

#[test]
fn packets_outside_of_the_list_are_refused() {
    for opcode in [
        op::REG_RMW,
        op::COND_EXEC,
        op::INDIRECT_BUFFER,
        op::MEM_SEMAPHORE,
    ] {
        let mut ib = packet(opcode, &[0, 0]);
        let refused = relocate_gfx(&mut ib, &[BO], RV770);
        assert_eq!(refused, Err(CheckError::Packet(0)), "{opcode:#x}");
    }
    let access = |opcode, data: &[u32]| {
        let mut ib = packet(opcode, data);
        ib.extend(packet(op::NOP, &[4]));
        ib.extend(packet(op::NOP, &[4]));
        relocate_gfx(&mut ib, &[BO, SMALL], RV770).is_ok()
    };
    assert!(access(op::CP_DMA, &[0, 0, 0x800, 0, 0x800]));
    assert!(!access(op::CP_DMA, &[0, 0, 0x801, 0, 0x800]));
    assert!(!access(op::CP_DMA, &[0, 0, 0, 0, 0x1001]));
    // To registers.
    assert!(!access(op::CP_DMA, &[0, 0, 0, 0, 1 << 27 | 4]));
    assert!(access(op::MEM_WRITE, &[0xFF8, 0, 0, 0]));
    assert!(!access(op::MEM_WRITE, &[0x1000, 0, 0, 0]));
    assert!(!access(op::MEM_WRITE, &[4, 0, 0, 0]));
    assert!(!access(op::WAIT_REG_MEM, &[0x103, 0x2100, 0, 0, 0, 0]));
}
