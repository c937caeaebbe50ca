// SPDX-License-Identifier: MIT
//! Checks and relocates command streams of Evergreen and later, as the kernel's checker does:
//! what differs from [`checker`](crate::checker).
//!
//! Source: `evergreen_packet3_check()`, `evergreen_cs_handle_reg()` and `evergreen_dma_cs_parse()`
//! in `evergreen_cs.c` of Linux 6.12. Mesa asks for `RADEON_CS_KEEP_TILING_FLAGS`, so tiling fields
//! stay as they are. Registers and surfaces are checked as well (`track`).

use r7xx_board::chip::cp::cayman::DEALLOC_STATE;
use r7xx_board::chip::cp::evergreen as eg;
use r7xx_board::chip::cp::opcode as op;

use crate::checker::{relocate_with, CheckError, Reloc};
use crate::track::evergreen::{texture, Track, Use, DB_HTILE_SURFACE};
use crate::track::Tiling;

type Parser<'a> = crate::checker::Parser<'a, Track>;

/// `SQ_TEX_VTX_VALID_TEXTURE` and `_BUFFER`, in bits 31:30 of a resource's word 7.
const VALID_TEXTURE: u32 = 2;
const VALID_BUFFER: u32 = 3;

/// Checks a stream of the graphics ring for a chip with that tiling, and relocates it in place.
///
/// # Errors
/// The first error; the stream is then unusable.
pub fn relocate_gfx(ib: &mut [u32], relocs: &[Reloc], tiling: Tiling) -> Result<(), CheckError> {
    relocate_with(ib, relocs, Track::new(tiling, false), packet3)
}

/// As [`relocate_gfx`], for Cayman's streams by MC addresses, which may have `DEALLOC_STATE`.
///
/// # Errors
/// As [`relocate_gfx`].
pub fn relocate_cayman(ib: &mut [u32], relocs: &[Reloc], tiling: Tiling) -> Result<(), CheckError> {
    let track = Track::new(tiling, true);
    relocate_with(ib, relocs, track, |p, at, opcode, count| match opcode {
        DEALLOC_STATE if count == 1 => Ok(()),
        _ => packet3(p, at, opcode, count),
    })
}

fn packet3(p: &mut Parser<'_>, at: usize, opcode: u8, count: usize) -> Result<(), CheckError> {
    let data = at + 1;
    let first = p.ib[data];
    let length = |least: usize, most: usize| match (least..=most).contains(&count) {
        true => Ok(()),
        false => Err(CheckError::Field(at)),
    };
    match opcode {
        op::INDEX_TYPE
        | op::NUM_INSTANCES
        | op::PFP_SYNC_ME
        | eg::CLEAR_STATE
        | eg::INDEX_BUFFER_SIZE => length(1, 1),
        op::CONTEXT_CONTROL => length(2, 2),
        op::DRAW_INDEX_AUTO => length(2, 2).and_then(|()| draw(p, at)),
        eg::DRAW_INDIRECT | eg::DRAW_INDEX_INDIRECT => {
            length(2, 2)?;
            let bytes = if opcode == eg::DRAW_INDIRECT { 16 } else { 20 };
            (p.track.check_indirect(first, bytes)).map_err(|why| CheckError::Refused(at, why))?;
            draw(p, at)
        }
        eg::DRAW_INDEX_MULTI_AUTO | eg::DRAW_INDEX_OFFSET => {
            length(3, 3).and_then(|()| draw(p, at))
        }
        eg::DISPATCH_DIRECT | eg::DRAW_INDEX_OFFSET_2 => length(4, 4).and_then(|()| draw(p, at)),
        op::DRAW_INDEX_IMMD => length(3, usize::MAX).and_then(|()| draw(p, at)),
        op::DRAW_INDEX => {
            p.common(at, opcode, count)?;
            draw(p, at)
        }
        op::DRAW_INDEX_2 => {
            length(5, 5)?;
            p.address(at, data + 1, !0, 0)?;
            draw(p, at)
        }
        op::SET_CONFIG_REG | op::SET_CONTEXT_REG => registers(p, at, opcode, count),
        op::SET_RESOURCE => resources(p, at, count),
        op::SET_ALU_CONST => Ok(()),
        op::SET_BOOL_CONST | op::SET_LOOP_CONST | op::SET_CTL_CONST | op::SET_SAMPLER => {
            if opcode == op::SET_SAMPLER && (count - 1) % 3 != 0 {
                return Err(CheckError::Field(at));
            }
            p.window(at, eg::set_window(opcode), count).map(|_| ())
        }
        op::CP_DMA => copy(p, at, count),
        op::WAIT_REG_MEM => {
            length(6, 6)?;
            if first & 0x10 == 0 {
                return p.common(at, opcode, count);
            }
            let swap = p.ib[data + 1] & 3;
            p.address(at, data + 1, !3, 0)?;
            p.ib[data + 1] |= swap;
            Ok(())
        }
        op::COPY_DW => {
            length(5, 5)?;
            let use_of = p.track.uses();
            let is_free = |reg| use_of(reg) == Use::Free;
            p.dword(at, data + 1, first & 1 != 0, is_free)?;
            p.dword(at, data + 3, first & 2 != 0, is_free)
        }
        // Base of the arguments of indirect draws and dispatches.
        eg::SET_BASE => {
            length(3, 3)?;
            if first != 1 {
                return Err(CheckError::Field(at));
            }
            let reloc = p.reloc(at)?;
            p.track.set_indirect(reloc);
            // The offset does not count.
            p.ib[data + 1] = reloc.address as u32;
            p.ib[data + 2] = (reloc.address >> 32) as u32 & 0xFF;
            Ok(())
        }
        eg::INDEX_BASE => {
            length(2, 2)?;
            p.address(at, data, !0, 0)?;
            draw(p, at)
        }
        eg::DISPATCH_INDIRECT => {
            length(2, 2)?;
            let reloc = p.reloc(at)?;
            p.ib[data] = p.ib[data].wrapping_add(reloc.address as u32);
            draw(p, at)
        }
        eg::EVENT_WRITE_EOS => {
            length(4, 4)?;
            let fields = p.ib[data + 2] & !0xFF;
            p.address(at, data + 1, !3, 0)?;
            p.ib[data + 2] |= fields;
            Ok(())
        }
        eg::SET_APPEND_CNT => {
            length(3, 3)?;
            // GDS_APPEND_COUNT_0 to 11, from memory.
            let counter = (first >> 16).wrapping_sub(0x72C / 4);
            if counter > 11 || first & 3 != 3 {
                return Err(CheckError::Field(at));
            }
            p.address(at, data + 1, !0, 0)
        }
        _ => p.common(at, opcode, count),
    }
}

/// `CP_DMA`: each end is memory, the global data share, or (a source) data of the packet.
fn copy(p: &mut Parser<'_>, at: usize, count: usize) -> Result<(), CheckError> {
    if count != 5 {
        return Err(CheckError::Field(at));
    }
    let (data, refused) = (at + 1, |why| Err(CheckError::Refused(at, why)));
    let (info, command) = (p.ib[data + 1], p.ib[data + 4]);
    let (from, to) = (info >> 29 & 3, info >> 20 & 3);
    let bytes = command & 0x1F_FFFF;
    // SAS and DAS, SAIC and DAIC
    let [from_register, to_register, from_same, to_same] =
        [26, 27, 28, 29].map(|bit| command >> bit & 1 != 0);
    let in_memory = from == 0 && to == 0 && !from_register && !to_register;
    if !in_memory && bytes % 4 != 0 {
        return refused("CP_DMA of a part of a dword");
    }
    match (from_register, from) {
        (true, 1) | (false, 2) if !from_same || from_register => {}
        (false, 0) if !from_same => p.address_of(at, data, !0, !0, Some(bytes.into()))?,
        _ => return refused("CP_DMA from there"),
    }
    match (to_register, to) {
        (true, 1) => Ok(()),
        (false, 0) if !to_same => p.address_of(at, data + 2, !0, 0, Some(bytes.into())),
        _ => refused("CP_DMA to there"),
    }
}

/// Checks a draw by the registers that the stream has set.
fn draw(p: &mut Parser<'_>, at: usize) -> Result<(), CheckError> {
    let ib = &mut *p.ib;
    let checked = p.track.draw(|dword, value| ib[dword] = value);
    checked.map_err(|broken| CheckError::Surface(at, broken))
}

fn registers(p: &mut Parser<'_>, at: usize, opcode: u8, count: usize) -> Result<(), CheckError> {
    let start = p.window(at, eg::set_window(opcode), count)?;
    let use_of = p.track.uses();
    for i in 0..count - 1 {
        let (reg, dword) = (start.wrapping_add(4 * i as u32), at + 2 + i);
        let value = p.ib[dword];
        match use_of(reg) {
            Use::Free => continue,
            Use::Base => {
                let reloc = p.reloc(at)?;
                p.add_base(dword, reloc);
                p.track.set_base(reg, value, reloc);
                continue;
            }
            Use::Tiling => {
                p.reloc(at)?;
            }
            Use::Value => {}
        }
        if !p.track.set(reg, value, dword) {
            return Err(CheckError::Register(at, reg));
        }
        if reg == DB_HTILE_SURFACE {
            // Tiles of 8x8 pixels.
            p.ib[dword] |= 3;
        }
    }
    Ok(())
}

fn resources(p: &mut Parser<'_>, at: usize, count: usize) -> Result<(), CheckError> {
    if (count - 1) % 8 != 0 {
        return Err(CheckError::Field(at));
    }
    let start = p.window(at, eg::set_window(op::SET_RESOURCE), count)?;
    for i in 0..(count - 1) / 8 {
        let word = at + 2 + 8 * i;
        match p.ib[word + 7] >> 30 {
            VALID_TEXTURE => {
                let words = std::array::from_fn(|i| p.ib[word + i]);
                let bo = p.reloc(at)?;
                let mipmap = match texture::has_mipmap(&words, p.next_is_nop()) {
                    true => Some(p.reloc(at)?),
                    false => None,
                };
                let register = start + 32 * i as u32;
                texture::check(p.track.tiling(), register, &words, bo, mipmap)
                    .map_err(|broken| CheckError::Surface(at, broken))?;
                p.add_base(word + 2, bo);
                if let Some(mipmap) = mipmap {
                    p.add_base(word + 3, mipmap);
                }
            }
            VALID_BUFFER => p.buffer_resource(at, word, 0)?,
            _ => return Err(CheckError::Field(at)),
        }
    }
    Ok(())
}

/// Relocates a stream of the DMA ring in place. Packets take the relocations in the order of the
/// list, without NOPs.
///
/// # Errors
/// The first error; the stream is then unusable.
pub fn relocate_dma(ib: &mut [u32], relocs: &[Reloc]) -> Result<(), CheckError> {
    let mut relocs = relocs.iter();
    let mut at = 0;
    while at < ib.len() {
        let header = ib[at];
        let (command, sub, count) = (header >> 28, header >> 20 & 0xFF, header & 0xF_FFFF);
        let mut reloc = || relocs.next().copied().ok_or(CheckError::NoReloc(at));
        let length = match (command, sub) {
            (2, 0) => 3 + count as usize,
            (3, 0x00 | 0x40) => 5,
            (3, 0x08) => 9,
            (0xD, _) => 4,
            (0xF, _) => 1,
            _ => return Err(CheckError::Packet(at)),
        };
        if at + length > ib.len() {
            return Err(CheckError::Truncated(at));
        }
        let linear = |ib: &mut [u32], lo: usize, hi: usize, r: Reloc, low: u32| {
            ib[lo] = ib[lo].wrapping_add(r.address as u32 & low);
            ib[hi] = ib[hi].wrapping_add((r.address >> 32) as u32 & 0xFF);
        };
        // A copy of bytes counts bytes, all others dwords.
        let bytes = u64::from(count) * if (command, sub) == (3, 0x40) { 1 } else { 4 };
        let inside = |offset: u64, r: Reloc| match offset + bytes <= r.size {
            true => Ok(()),
            false => Err(CheckError::Refused(at, "a copy is not within its BO")),
        };
        let linear_at =
            |ib: &[u32], lo: usize, hi: usize| u64::from(ib[lo]) | u64::from(ib[hi] & 0xFF) << 32;
        match (command, sub) {
            (2, 0) => {
                let target = reloc()?;
                inside(linear_at(ib, at + 1, at + 2), target)?;
                linear(ib, at + 1, at + 2, target, !3);
            }
            (3, 0x00 | 0x40) => {
                let (source, target) = (reloc()?, reloc()?);
                inside(linear_at(ib, at + 2, at + 4), source)?;
                inside(linear_at(ib, at + 1, at + 3), target)?;
                let low = if sub == 0 { !3 } else { !0 };
                linear(ib, at + 1, at + 3, target, low);
                linear(ib, at + 2, at + 4, source, low);
            }
            (3, _) => {
                let (source, target) = (reloc()?, reloc()?);
                let detile = ib[at + 2] & 1 << 31 != 0;
                let (tiled, flat) = match detile {
                    true => (source, target),
                    false => (target, source),
                };
                inside(u64::from(ib[at + 1]) << 8, tiled)?;
                inside(linear_at(ib, at + 7, at + 8), flat)?;
                ib[at + 1] = ib[at + 1].wrapping_add((tiled.address >> 8) as u32);
                linear(ib, at + 7, at + 8, flat, !3);
            }
            (0xD, _) => {
                let target = reloc()?;
                let high = u64::from(ib[at + 3] & 0xFF_0000) << 16;
                inside(u64::from(ib[at + 1]) | high, target)?;
                ib[at + 1] = ib[at + 1].wrapping_add(target.address as u32 & !3);
                let high = (target.address >> 32) as u32 & 0xFF;
                ib[at + 3] = ib[at + 3].wrapping_add(high << 16);
            }
            _ => {}
        }
        at += length;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const BO: Reloc = Reloc {
        address: 0x12_3456_7000,
        size: 0x1000,
    };

    const TILING: Tiling = Tiling {
        pipes: 4,
        banks: 8,
        group: 256,
        cube_faces: 8,
    };

    fn packet(opcode: u8, data: &[u32]) -> Vec<u32> {
        let mut words = vec![3 << 30 | (data.len() as u32 - 1) << 16 | u32::from(opcode) << 8];
        words.extend(data);
        words
    }

    #[test]
    fn a_targets_registers_take_four_relocations() {
        let mut ib = packet(
            op::SET_CONTEXT_REG,
            &[0xC60 / 4, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10],
        );
        for _ in 0..4 {
            ib.extend(packet(op::NOP, &[0]));
        }
        relocate_gfx(&mut ib, &[BO], TILING).unwrap();
        // BASE, ATTRIB (unchanged), CMASK, FMASK.
        assert_eq!((ib[2], ib[7], ib[9]), (0x1234_5671, 6, 0x1234_5678));
        let mut short = packet(op::SET_CONTEXT_REG, &[0xC74 / 4, 1]);
        assert_eq!(
            relocate_gfx(&mut short, &[BO], TILING),
            Err(CheckError::NoReloc(0))
        );
    }

    #[test]
    fn only_cayman_ends_the_use_of_its_state() {
        let stream = packet(DEALLOC_STATE, &[0]);
        assert_eq!(relocate_cayman(&mut stream.clone(), &[], TILING), Ok(()));
        let refused = relocate_gfx(&mut stream.clone(), &[], TILING);
        assert_eq!(refused, Err(CheckError::Packet(0)));
        let mut long = packet(DEALLOC_STATE, &[0, 0]);
        let refused = relocate_cayman(&mut long, &[], TILING);
        assert_eq!(refused, Err(CheckError::Packet(0)));
    }

    #[test]
    fn resources_have_eight_words() {
        // 8x1 texels of one byte, linear.
        let texture = [0, 0, 0, 3, 4, 0, 0, 0, 1 | 2 << 30];
        let mut ib = packet(op::SET_RESOURCE, &texture);
        ib.extend(packet(op::NOP, &[0]));
        ib.extend(packet(op::NOP, &[0]));
        relocate_gfx(&mut ib, &[BO], TILING).unwrap();
        assert_eq!(ib[4..6], [0x1234_5673, 0x1234_5674]);
        let mut buffer = packet(op::SET_RESOURCE, &[0, 0x10, 0xFFFF, 0, 0, 0, 0, 0, 3 << 30]);
        buffer.extend(packet(op::NOP, &[0]));
        relocate_gfx(&mut buffer, &[BO], TILING).unwrap();
        assert_eq!(buffer[2..5], [0x3456_7010, 0xFF0, 0x12]);
        let mut seven = packet(op::SET_RESOURCE, &[0; 8]);
        assert_eq!(
            relocate_gfx(&mut seven, &[BO], TILING),
            Err(CheckError::Field(0))
        );
    }

    #[test]
    fn dma_copies_have_source_and_target() {
        let other = Reloc {
            address: 0x100,
            size: 0x100,
        };
        let mut ib = vec![3 << 28 | 4, 0, 0, 0, 0];
        relocate_dma(&mut ib, &[BO, other]).unwrap();
        assert_eq!(ib[1..], [0x100, 0x3456_7000, 0, 0x12]);
        assert_eq!(
            relocate_dma(&mut [1 << 28], &[]),
            Err(CheckError::Packet(0))
        );
    }
}
