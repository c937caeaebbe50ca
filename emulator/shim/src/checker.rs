// SPDX-License-Identifier: MIT
//! Relocates command streams, as the kernel's command checker does: adds the
//! addresses of BOs.
//!
//! Source: `r600_cs_parse()` with `r600_packet3_check()` and
//! `r600_cs_check_reg()`, and `r600_dma_cs_parse()`, all in `r600_cs.c` of Linux
//! 6.12, for R700. A packet with addresses is followed by NOPs that name a
//! relocation each, in the order in which the checker takes them. Mesa asks
//! for `RADEON_CS_KEEP_TILING_FLAGS`, so tiling fields stay as they are.
//!
//! What the kernel refuses is refused: packets and registers that are not allowed, and draws
//! whose surfaces are not within their BOs (`track`).

use r7xx_board::chip::cp::opcode as op;

use crate::track::surface::check_texture;
use crate::track::{Broken, Refused, Tiling, Track};

/// A BO that a stream uses.
#[derive(Debug, Clone, Copy)]
pub struct Reloc {
    /// MC address.
    pub address: u64,
    /// Size in bytes.
    pub size: u64,
}

impl Reloc {
    /// Whether both are the same BO.
    pub(crate) fn is(&self, other: &Reloc) -> bool {
        self.address == other.address
    }
}

/// Why a stream is refused; the kernel answers `EINVAL` to each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CheckError {
    /// The packet at this dword ends beyond the stream.
    Truncated(usize),
    /// The packet at this dword has a type or opcode that is not allowed.
    Packet(usize),
    /// The packet at this dword has a wrong length or wrong fields.
    Field(usize),
    /// A relocation is missing after the packet at this dword.
    NoReloc(usize),
    /// The packet at this dword uses a relocation that does not exist.
    BadReloc(usize),
    /// The packet at this dword accesses a register, by its byte offset, that is not allowed.
    Register(usize, u32),
    /// The packet at this dword breaks a rule.
    Refused(usize, Refused),
    /// A surface or a buffer of the packet at this dword breaks a rule.
    Surface(usize, Broken),
}

const CB_COLOR0_BASE: u32 = 0x2_8040;
const CB_COLOR0_TILE: u32 = 0x2_80C0;
const CB_COLOR0_FRAG: u32 = 0x2_80E0;
const DB_HTILE_SURFACE: u32 = 0x2_8D24;
/// SQ_TEX_VTX_VALID_TEXTURE and _BUFFER, in bits 31:30 of a resource's word 6.
const VALID_TEXTURE: u32 = 2;
const VALID_BUFFER: u32 = 3;

/// Whether a register has an address in units of 256 bytes, to which a
/// relocation is added.
fn has_base(reg: u32) -> bool {
    matches!(
        reg,
        // SQ_*_RING_BASE
        0x8C40 | 0x8C48 | 0x8C50 | 0x8C58 | 0x8C60 | 0x8C68
        // CP_COHER_BASE, SX_MEMORY_EXPORT_BASE
        | 0x85F8 | 0x9010
        // DB_DEPTH_BASE, DB_HTILE_DATA_BASE, CB_COLOR0-7_BASE
        | 0x2_800C | 0x2_8014 | CB_COLOR0_BASE..=0x2_805C
        // SQ_PGM_START_PS, VS, GS, ES, FS
        | 0x2_8840 | 0x2_8858 | 0x2_886C | 0x2_8880 | 0x2_8894
        // SQ_ALU_CONST_CACHE_PS, VS, GS, 16 each
        | 0x2_8940..=0x2_89FC
        // VGT_STRMOUT_BUFFER_BASE_0-3
        | 0x2_8AD8 | 0x2_8AE8 | 0x2_8AF8 | 0x2_8B08
    )
}

/// A stream that is being checked; `T` is the generation's track.
pub(crate) struct Parser<'a, T> {
    pub(crate) ib: &'a mut [u32],
    relocs: &'a [Reloc],
    /// Index of the next packet's header.
    pub(crate) next: usize,
    /// Last CB_COLORn_BASE, for CB_COLORn_TILE and _FRAG without relocation.
    colour_base: [u32; 8],
    pub(crate) track: T,
}

/// Checks a stream of the graphics ring for a chip with that tiling, and relocates it in place.
///
/// # Errors
/// The first error; the stream is then unusable.
pub fn relocate_gfx(ib: &mut [u32], relocs: &[Reloc], tiling: Tiling) -> Result<(), CheckError> {
    relocate_with(
        ib,
        relocs,
        Track::new(tiling),
        |parser, at, opcode, count| parser.packet3(at, opcode, count),
    )
}

/// Relocates a packet of type 3: gets the index of the header, the opcode, and the number of data
/// dwords.
pub(crate) type Packet3<T> = fn(&mut Parser<'_, T>, usize, u8, usize) -> Result<(), CheckError>;

/// Relocates a stream of the graphics ring, whose packets of type 3 `packet3` relocates.
pub(crate) fn relocate_with<T>(
    ib: &mut [u32],
    relocs: &[Reloc],
    track: T,
    packet3: Packet3<T>,
) -> Result<(), CheckError> {
    if ib.is_empty() {
        return Err(CheckError::Truncated(0));
    }
    let mut parser = Parser {
        ib,
        relocs,
        next: 0,
        colour_base: [0; 8],
        track,
    };
    while parser.next < parser.ib.len() {
        parser.packet(packet3)?;
    }
    Ok(())
}

impl<T> Parser<'_, T> {
    /// Type, register or opcode, and data dwords of the packet at `at`.
    fn header(&self, at: usize) -> Result<(u32, u8, usize), CheckError> {
        let header = *self.ib.get(at).ok_or(CheckError::Truncated(at))?;
        let kind = header >> 30;
        let count = if kind == 2 {
            0
        } else {
            (header >> 16 & 0x3FFF) as usize + 1
        };
        if at + count >= self.ib.len() {
            return Err(CheckError::Truncated(at));
        }
        Ok((kind, (header >> 8) as u8, count))
    }

    /// The relocation that the next NOP names.
    pub(crate) fn reloc(&mut self, at: usize) -> Result<Reloc, CheckError> {
        let (kind, opcode, count) = self
            .header(self.next)
            .map_err(|_| CheckError::NoReloc(at))?;
        if kind != 3 || opcode != op::NOP {
            return Err(CheckError::NoReloc(at));
        }
        // The NOP has the index of the relocation's first dword, of four.
        let index = self.ib[self.next + 1] as usize / 4;
        self.next += 1 + count;
        self.relocs
            .get(index)
            .copied()
            .ok_or(CheckError::BadReloc(at))
    }

    pub(crate) fn next_is_nop(&self) -> bool {
        matches!(self.header(self.next), Ok((3, op::NOP, _)))
    }

    fn packet(&mut self, packet3: Packet3<T>) -> Result<(), CheckError> {
        let at = self.next;
        let (kind, opcode, count) = self.header(at)?;
        self.next = at + 1 + count;
        match kind {
            2 => Ok(()),
            // The kernel allows type 0 only for waiting for a scan line; there is no
            // display here.
            3 => packet3(self, at, opcode, count),
            _ => Err(CheckError::Packet(at)),
        }
    }

    /// Adds a relocation to the 40-bit address in dwords `lo` and `lo + 1`. The
    /// mask `low` selects the address bits of the first dword. Of the other bits
    /// in both dwords, those in `keep` are kept and the rest become 0.
    pub(crate) fn address(
        &mut self,
        at: usize,
        lo: usize,
        low: u32,
        keep: u32,
    ) -> Result<(), CheckError> {
        self.address_of(at, lo, low, keep, None)
    }

    /// As [`Self::address`]; `bytes` bytes from there on have to be in the BO.
    pub(crate) fn address_of(
        &mut self,
        at: usize,
        lo: usize,
        low: u32,
        keep: u32,
        bytes: Option<u64>,
    ) -> Result<(), CheckError> {
        let reloc = self.reloc(at)?;
        let offset = u64::from(self.ib[lo] & low) | u64::from(self.ib[lo + 1] & 0xFF) << 32;
        if bytes.is_some_and(|bytes| offset + bytes > reloc.size) {
            return Err(CheckError::Refused(at, "an access is not within its BO"));
        }
        let address = reloc.address + offset;
        self.ib[lo] = self.ib[lo] & !low & keep | address as u32 & low;
        self.ib[lo + 1] = self.ib[lo + 1] & keep & !0xFF | (address >> 32) as u32 & 0xFF;
        Ok(())
    }

    /// Checks that the registers of a `SET_*` packet are in `window`, the byte offsets of the first
    /// register and of the end. Returns the byte offset of the first that is set.
    pub(crate) fn window(
        &self,
        at: usize,
        window: Option<(u32, u32)>,
        count: usize,
    ) -> Result<u32, CheckError> {
        let (first, end) = window.ok_or(CheckError::Packet(at))?;
        let start = (self.ib[at + 1] << 2).wrapping_add(first);
        let last = (4 * (count as u32 - 1)).wrapping_add(start).wrapping_sub(4);
        match start >= first && start < end && last < end {
            true => Ok(start),
            false => Err(CheckError::Field(at)),
        }
    }

    /// A source or target of `COPY_DW`: memory, or register `self.ib[dword]`, of which `is_safe` tells
    /// whether the stream may access it.
    pub(crate) fn dword(
        &mut self,
        at: usize,
        dword: usize,
        in_memory: bool,
        is_safe: impl Fn(u32) -> bool,
    ) -> Result<(), CheckError> {
        if in_memory {
            return self.address_of(at, dword, !0, 0, Some(4));
        }
        let reg = self.ib[dword] << 2;
        match is_safe(reg) {
            true => Ok(()),
            false => Err(CheckError::Register(at, reg)),
        }
    }

    /// A packet of type 3 that is checked alike on R7xx and Evergreen.
    pub(crate) fn common(&mut self, at: usize, opcode: u8, count: usize) -> Result<(), CheckError> {
        let data = at + 1;
        let first = self.ib[data];
        let length = |n: usize| {
            if count == n {
                Ok(())
            } else {
                Err(CheckError::Field(at))
            }
        };
        match opcode {
            op::NOP => Ok(()),
            op::SET_PREDICATION => {
                length(2)?;
                match self.ib[data + 1] >> 16 & 7 {
                    0 => Ok(()),
                    1 | 2 => {
                        let reloc = self.reloc(at)?;
                        let high = self.ib[data + 1];
                        let offset = u64::from(first & !0xF) | u64::from(high & 0xFF) << 32;
                        let address = reloc.address + offset;
                        self.ib[data] = address as u32;
                        self.ib[data + 1] = high & !0xFF | (address >> 32) as u32 & 0xFF;
                        Ok(())
                    }
                    _ => Err(CheckError::Field(at)),
                }
            }
            op::DRAW_INDEX => {
                length(4)?;
                self.address(at, data, !0, 0)
            }
            op::WAIT_REG_MEM => {
                length(6)?;
                if first & 0x10 != 0 {
                    // The lowest two bits are the swap mode.
                    let swap = self.ib[data + 1] & 3;
                    self.address(at, data + 1, !0xF, 0)?;
                    self.ib[data + 1] |= swap;
                } else if first & 0x100 != 0 {
                    let why = "the PFP cannot wait for a register";
                    return Err(CheckError::Refused(at, why));
                }
                Ok(())
            }
            op::CP_DMA => {
                length(5)?;
                let command = self.ib[data + 4];
                // SAS, DAS, SAIC, DAIC: registers, or the same address for each dword
                if command >> 26 & 0xF != 0 {
                    return Err(CheckError::Refused(at, "CP_DMA of registers"));
                }
                let bytes = Some(u64::from(command & 0x1F_FFFF));
                // The source's second dword has CP_SYNC and the engine.
                self.address_of(at, data, !0, !0, bytes)?;
                self.address_of(at, data + 2, !0, 0, bytes)
            }
            op::SURFACE_SYNC => {
                length(4)?;
                if (self.ib[data + 1], self.ib[data + 2]) != (!0, 0) {
                    let reloc = self.reloc(at)?;
                    self.add_base(data + 2, reloc);
                }
                Ok(())
            }
            op::EVENT_WRITE => match count {
                1 => Ok(()),
                3 => self.address(at, data + 1, !7, 0),
                _ => Err(CheckError::Field(at)),
            },
            op::EVENT_WRITE_EOP => {
                length(5)?;
                let fields = self.ib[data + 2] & !0xFF;
                self.address(at, data + 1, !3, 0)?;
                self.ib[data + 2] |= fields;
                Ok(())
            }
            op::MEM_WRITE => {
                length(4)?;
                if first & 7 != 0 {
                    return Err(CheckError::Refused(at, "MEM_WRITE to no multiple of 8"));
                }
                // The kernel clears the fields beside the address, too.
                self.address_of(at, data, !0, 0, Some(8))
            }
            op::STRMOUT_BUFFER_UPDATE => {
                length(5)?;
                if first & 1 != 0 {
                    self.address_of(at, data + 1, !0, 0, Some(4))?;
                }
                if first >> 1 & 3 == 2 {
                    self.address_of(at, data + 3, !0, 0, Some(4))?;
                }
                Ok(())
            }
            _ => Err(CheckError::Packet(at)),
        }
    }

    /// Relocates a buffer's resource, whose first words at `word` are offset, size in bytes less
    /// one, and address bits 39:32. A size beyond the BO is cut. The chip's checker adds `more` to the
    /// size. Its sum wraps at 32 bits.
    pub(crate) fn buffer_resource(
        &mut self,
        at: usize,
        word: usize,
        more: u32,
    ) -> Result<(), CheckError> {
        let reloc = self.reloc(at)?;
        let (offset, size) = (self.ib[word], self.ib[word + 1].wrapping_add(more));
        if u64::from(size.wrapping_add(offset)) > reloc.size {
            self.ib[word + 1] = (reloc.size as u32).wrapping_sub(offset);
        }
        let address = reloc.address + u64::from(offset);
        self.ib[word] = address as u32;
        self.ib[word + 2] = self.ib[word + 2] & !0xFF | (address >> 32) as u32 & 0xFF;
        Ok(())
    }

    pub(crate) fn add_base(&mut self, at: usize, reloc: Reloc) {
        self.ib[at] = self.ib[at].wrapping_add((reloc.address >> 8) as u32);
    }
}

impl Parser<'_, Track> {
    /// Checks a draw by the registers that the stream has set.
    fn draw(&mut self, at: usize) -> Result<(), CheckError> {
        let ib = &mut *self.ib;
        let checked = self.track.draw(|dword, value| ib[dword] = value);
        checked.map_err(|why| CheckError::Refused(at, why))
    }

    /// A packet of type 3 that R7xx's checker allows.
    pub(crate) fn packet3(
        &mut self,
        at: usize,
        opcode: u8,
        count: usize,
    ) -> Result<(), CheckError> {
        let (data, first) = (at + 1, self.ib[at + 1]);
        match opcode {
            op::CONTEXT_CONTROL if count == 2 => Ok(()),
            op::INDEX_TYPE | op::NUM_INSTANCES if count == 1 => Ok(()),
            op::DRAW_INDEX_AUTO if count == 2 => self.draw(at),
            op::DRAW_INDEX_IMMD | op::DRAW_INDEX_IMMD_BE if count >= 3 => self.draw(at),
            op::DRAW_INDEX => {
                self.common(at, opcode, count)?;
                self.draw(at)
            }
            op::STRMOUT_BASE_UPDATE => {
                if count != 2 || first > 3 {
                    return Err(CheckError::Field(at));
                }
                let reloc = self.reloc(at)?;
                if !self.track.is_streamout(first, self.ib[data + 1], reloc) {
                    let why = "STRMOUT_BASE_UPDATE names another buffer than the register";
                    return Err(CheckError::Refused(at, why));
                }
                self.add_base(data + 1, reloc);
                Ok(())
            }
            op::COPY_DW if count == 5 => {
                self.dword(at, data + 1, first & 1 != 0, Track::is_safe)?;
                self.dword(at, data + 3, first & 2 != 0, Track::is_safe)
            }
            op::SET_CONFIG_REG | op::SET_CONTEXT_REG => self.registers(at, opcode, count),
            op::SET_RESOURCE => self.resources(at, count),
            op::SET_ALU_CONST if !self.track.dx9_constants => Ok(()),
            op::SET_ALU_CONST
            | op::SET_BOOL_CONST
            | op::SET_LOOP_CONST
            | op::SET_CTL_CONST
            | op::SET_SAMPLER => {
                if opcode == op::SET_SAMPLER && (count - 1) % 3 != 0 {
                    return Err(CheckError::Field(at));
                }
                self.window(at, op::set_window(opcode), count).map(|_| ())
            }
            _ => self.common(at, opcode, count),
        }
    }

    fn registers(&mut self, at: usize, opcode: u8, count: usize) -> Result<(), CheckError> {
        let start = self.window(at, op::set_window(opcode), count)?;
        for i in 0..count - 1 {
            let (reg, at_value) = (start.wrapping_add(4 * i as u32), at + 2 + i);
            let value = self.ib[at_value];
            match reg {
                CB_COLOR0_TILE..=0x2_80DC | CB_COLOR0_FRAG..=0x2_80FC => {
                    let mut placed = None;
                    if self.next_is_nop() {
                        let reloc = self.reloc(at)?;
                        self.add_base(at_value, reloc);
                        placed = Some((value, reloc));
                    } else {
                        let base = self.colour_base[(reg >> 2 & 7) as usize];
                        if base == 0 {
                            return Err(CheckError::NoReloc(at));
                        }
                        self.ib[at_value] = base;
                    }
                    self.track.set_mask_base(reg, placed);
                }
                _ if has_base(reg) => {
                    let reloc = self.reloc(at)?;
                    self.add_base(at_value, reloc);
                    self.track.set_base(reg, value, reloc);
                    if (CB_COLOR0_BASE..=0x2_805C).contains(&reg) {
                        self.colour_base[(reg >> 2 & 7) as usize] = self.ib[at_value];
                    }
                }
                _ if !self.track.set(reg, value, at_value) => {
                    return Err(CheckError::Register(at, reg));
                }
                DB_HTILE_SURFACE => self.ib[at_value] |= 3,
                _ => {}
            }
        }
        Ok(())
    }

    fn resources(&mut self, at: usize, count: usize) -> Result<(), CheckError> {
        if (count - 1) % 7 != 0 {
            return Err(CheckError::Field(at));
        }
        self.window(at, op::set_window(op::SET_RESOURCE), count)?;
        for i in 0..(count - 1) / 7 {
            let word = at + 2 + 7 * i;
            match self.ib[word + 6] >> 30 {
                VALID_TEXTURE => {
                    let texture = self.reloc(at)?;
                    let mipmap = self.reloc(at)?;
                    let words = std::array::from_fn(|i| self.ib[word + i]);
                    check_texture(self.track.tiling(), &words, texture, mipmap)
                        .map_err(|why| CheckError::Refused(at, why))?;
                    self.add_base(word + 2, texture);
                    self.add_base(word + 3, mipmap);
                }
                VALID_BUFFER => self.buffer_resource(at, word, 1)?,
                _ => return Err(CheckError::Field(at)),
            }
        }
        Ok(())
    }
}

/// Relocates a stream of the DMA ring in place. Packets take the relocations in
/// the order of the list, without NOPs.
///
/// # Errors
/// The first error; the stream is then unusable.
pub fn relocate_dma(ib: &mut [u32], relocs: &[Reloc]) -> Result<(), CheckError> {
    let mut relocs = relocs.iter();
    let mut at = 0;
    while at < ib.len() {
        let header = ib[at];
        let (count, tiled) = ((header & 0xFFFF) as usize, header & 1 << 23 != 0);
        let mut reloc = || relocs.next().copied().ok_or(CheckError::NoReloc(at));
        let linear = |ib: &mut [u32], lo: usize, hi: usize, r: Reloc| {
            ib[lo] = ib[lo].wrapping_add(r.address as u32 & !3);
            ib[hi] = ib[hi].wrapping_add((r.address >> 32) as u32 & 0xFF);
        };
        let length = match (header >> 28, tiled) {
            // WRITE
            (2, false) => 3 + count,
            (2, true) => 5 + count,
            // COPY
            (3, false) => 5,
            (3, true) => 7,
            // CONSTANT_FILL
            (0xD, _) => 4,
            // NOP
            (0xF, _) => 1,
            _ => return Err(CheckError::Packet(at)),
        };
        if at + length > ib.len() {
            return Err(CheckError::Truncated(at));
        }
        let inside = |offset: u64, r: Reloc| match offset + 4 * count as u64 <= r.size {
            true => Ok(()),
            false => Err(CheckError::Refused(at, "a copy is not within its BO")),
        };
        let linear_at =
            |ib: &[u32], lo: usize, hi: usize| u64::from(ib[lo]) | u64::from(ib[hi] & 0xFF) << 32;
        let tiled_at = |ib: &[u32]| u64::from(ib[at + 1]) << 8;
        match (header >> 28, tiled) {
            (2, false) => {
                let target = reloc()?;
                inside(linear_at(ib, at + 1, at + 2), target)?;
                linear(ib, at + 1, at + 2, target);
            }
            (2, true) => {
                let target = reloc()?;
                inside(tiled_at(ib), target)?;
                ib[at + 1] = ib[at + 1].wrapping_add((target.address >> 8) as u32);
            }
            (3, false) => {
                let (source, target) = (reloc()?, reloc()?);
                inside(linear_at(ib, at + 2, at + 4), source)?;
                inside(linear_at(ib, at + 1, at + 3), target)?;
                linear(ib, at + 1, at + 3, target);
                linear(ib, at + 2, at + 4, source);
            }
            (3, true) => {
                let (source, target) = (reloc()?, reloc()?);
                let detile = ib[at + 2] & 1 << 31 != 0;
                let (tiled, flat) = if detile {
                    (source, target)
                } else {
                    (target, source)
                };
                // `count` is a part of a tiled surface, too.
                inside(tiled_at(ib), tiled)?;
                inside(linear_at(ib, at + 5, at + 6), flat)?;
                ib[at + 1] = ib[at + 1].wrapping_add((tiled.address >> 8) as u32);
                linear(ib, at + 5, at + 6, flat);
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
    const OTHER: Reloc = Reloc {
        address: 0x1_0000_0000,
        size: 0x100,
    };
    /// RV770's.
    const TILING: Tiling = Tiling {
        pipes: 8,
        banks: 8,
        group: 256,
        cube_faces: 8,
    };

    fn packet3(opcode: u8, data: &[u32]) -> Vec<u32> {
        let mut packet = vec![3 << 30 | (data.len() as u32 - 1) << 16 | u32::from(opcode) << 8];
        packet.extend(data);
        packet
    }
    fn nop(reloc: u32) -> Vec<u32> {
        packet3(op::NOP, &[4 * reloc])
    }
    fn gfx(parts: &[Vec<u32>]) -> Result<Vec<u32>, CheckError> {
        let mut ib = parts.concat();
        relocate_gfx(&mut ib, &[BO, OTHER], TILING).map(|()| ib)
    }

    #[test]
    fn context_registers_take_relocations_in_order() {
        // DB_DEPTH_BASE, DB_DEPTH_INFO, DB_HTILE_DATA_BASE.
        let set = packet3(op::SET_CONTEXT_REG, &[0xC / 4, 1, 0x55, 2]);
        let ib = gfx(&[set, nop(0), nop(1)]).unwrap();
        assert_eq!(ib[2..5], [0x1234_5670 + 1, 0x55, 0x100_0000 + 2]);
    }

    #[test]
    fn colour_tile_without_relocation_is_the_base() {
        let base = packet3(op::SET_CONTEXT_REG, &[0x44 / 4, 8]);
        let tile = packet3(op::SET_CONTEXT_REG, &[0xC4 / 4, 0]);
        let ib = gfx(&[base, nop(0), tile]).unwrap();
        assert_eq!(ib[2], 0x1234_5678);
        assert_eq!(ib[7], 0x1234_5678);
    }

    #[test]
    fn resources_of_both_kinds() {
        // 8x1 texels of one byte.
        let texture = [7 << 19, 1 << 26, 1, 2, 0, 0, VALID_TEXTURE << 30];
        let buffer = [0x10, 0xFFFF, 0x300, 0, 0, 0, VALID_BUFFER << 30];
        let set = packet3(
            op::SET_RESOURCE,
            &[&[0][..], &texture[..], &buffer[..]].concat(),
        );
        let ib = gfx(&[set, nop(0), nop(1), nop(0)]).unwrap();
        assert_eq!(ib[4..6], [0x1234_5671, 0x100_0002]);
        assert_eq!(ib[9..12], [0x3456_7010, 0xFF0, 0x312]);
    }

    #[test]
    fn addresses_keep_the_fields_beside_them() {
        let dma = packet3(op::CP_DMA, &[4, 1 << 31, 8, 0, 16]);
        let eop = packet3(op::EVENT_WRITE_EOP, &[0x14, 8, 2 << 29, 1, 2]);
        let wait = packet3(op::WAIT_REG_MEM, &[0x13, 0x21, 0, 0, 0, 0]);
        let ib = gfx(&[dma, nop(0), nop(1), eop, nop(0), wait, nop(0)]).unwrap();
        assert_eq!(ib[1..6], [0x3456_7004, 1 << 31 | 0x12, 8, 1, 16]);
        assert_eq!(ib[11..14], [0x14, 0x3456_7008, 2 << 29 | 0x12]);
        assert_eq!(ib[20..22], [0x3456_7021, 0x12]);
    }

    #[test]
    fn streams_that_the_kernel_refuses() {
        let draw = packet3(op::DRAW_INDEX, &[0, 0, 3, 0]);
        assert_eq!(
            gfx(std::slice::from_ref(&draw)),
            Err(CheckError::NoReloc(0))
        );
        assert_eq!(gfx(&[draw, nop(2)]), Err(CheckError::BadReloc(0)));
        assert_eq!(gfx(&[vec![0xC003_2B00, 0]]), Err(CheckError::Truncated(0)));
        assert_eq!(gfx(&[vec![1 << 30, 0]]), Err(CheckError::Packet(0)));
        let short = packet3(op::CP_DMA, &[0, 0]);
        assert_eq!(gfx(&[short]), Err(CheckError::Field(0)));
    }

    #[test]
    fn type_2_packets_are_skipped() {
        assert_eq!(gfx(&[vec![2 << 30; 3]]), Ok(vec![2 << 30; 3]));
    }

    #[test]
    fn dma_copies_take_source_first() {
        let mut ib = vec![3 << 28 | 4, 0x10, 0x20, 0, 0, 0xF << 28];
        relocate_dma(&mut ib, &[BO, OTHER]).unwrap();
        assert_eq!(ib[1..5], [0x10, 0x3456_7020, 1, 0x12]);
        let mut tiled = vec![3 << 28 | 1 << 23 | 4, 1, 1 << 31, 0, 0, 8, 0];
        relocate_dma(&mut tiled, &[BO, OTHER]).unwrap();
        assert_eq!(tiled[1], 0x1234_5671);
        assert_eq!(tiled[5..7], [8, 1]);
        assert!(relocate_dma(&mut [3 << 28], &[BO]).is_err());
        assert!(relocate_dma(&mut [3 << 28, 0, 0, 0, 0], &[BO]).is_err());
    }
}
