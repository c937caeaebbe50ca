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
//! The kernel's safety checks (sizes of surfaces, forbidden registers) are left
//! out: the stream can only access the process' own memory file.

use r7xx_board::chip::cp::opcode as op;

/// A BO that a stream uses.
#[derive(Debug, Clone, Copy)]
pub struct Reloc {
    /// MC address.
    pub address: u64,
    /// Size in bytes.
    pub size: u64,
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
}

const CONFIG_REG: u32 = 0x8000;
const CONTEXT_REG: u32 = 0x2_8000;
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

pub(crate) struct Parser<'a> {
    pub(crate) ib: &'a mut [u32],
    relocs: &'a [Reloc],
    /// Index of the next packet's header.
    pub(crate) next: usize,
    /// Last CB_COLORn_BASE, for CB_COLORn_TILE and _FRAG without relocation.
    colour_base: [u32; 8],
}

/// Relocates a stream of the graphics ring in place.
///
/// # Errors
/// The first error; the stream is then unusable.
pub fn relocate_gfx(ib: &mut [u32], relocs: &[Reloc]) -> Result<(), CheckError> {
    relocate_with(ib, relocs, |parser, at, opcode, count| {
        parser.packet3(at, opcode, count)
    })
}

/// Relocates a stream of the graphics ring, whose packets of type 3 `packet3` relocates: it gets the
/// index of the header, the opcode, and the number of data dwords.
pub(crate) fn relocate_with(
    ib: &mut [u32],
    relocs: &[Reloc],
    packet3: fn(&mut Parser<'_>, usize, u8, usize) -> Result<(), CheckError>,
) -> Result<(), CheckError> {
    let mut parser = Parser {
        ib,
        relocs,
        next: 0,
        colour_base: [0; 8],
    };
    while parser.next < parser.ib.len() {
        parser.packet(packet3)?;
    }
    Ok(())
}

impl Parser<'_> {
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

    fn packet(
        &mut self,
        packet3: fn(&mut Parser<'_>, usize, u8, usize) -> Result<(), CheckError>,
    ) -> Result<(), CheckError> {
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
        let reloc = self.reloc(at)?;
        let offset = u64::from(self.ib[lo] & low) | u64::from(self.ib[lo + 1] & 0xFF) << 32;
        let address = reloc.address + offset;
        self.ib[lo] = self.ib[lo] & !low & keep | address as u32 & low;
        self.ib[lo + 1] = self.ib[lo + 1] & keep & !0xFF | (address >> 32) as u32 & 0xFF;
        Ok(())
    }

    pub(crate) fn packet3(
        &mut self,
        at: usize,
        opcode: u8,
        count: usize,
    ) -> Result<(), CheckError> {
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
                }
                Ok(())
            }
            op::CP_DMA => {
                length(5)?;
                // The source's second dword has CP_SYNC and the engine.
                self.address(at, data, !0, !0)?;
                self.address(at, data + 2, !0, 0)
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
                // The kernel clears the fields beside the address, too.
                self.address(at, data, !0, 0)
            }
            op::COPY_DW => {
                length(5)?;
                if first & 1 != 0 {
                    self.address(at, data + 1, !0, 0)?;
                }
                if first & 2 != 0 {
                    self.address(at, data + 3, !0, 0)?;
                }
                Ok(())
            }
            op::STRMOUT_BUFFER_UPDATE => {
                length(5)?;
                if first & 1 != 0 {
                    self.address(at, data + 1, !0, 0)?;
                }
                if first >> 1 & 3 == 2 {
                    self.address(at, data + 3, !0, 0)?;
                }
                Ok(())
            }
            op::STRMOUT_BASE_UPDATE => {
                length(2)?;
                let reloc = self.reloc(at)?;
                self.add_base(data + 1, reloc);
                Ok(())
            }
            op::SET_CONFIG_REG => self.registers(at, CONFIG_REG, count),
            op::SET_CONTEXT_REG => self.registers(at, CONTEXT_REG, count),
            op::SET_RESOURCE => self.resources(at, count),
            _ => Ok(()),
        }
    }

    /// Relocates a buffer's resource, whose first words at `word` are offset, size in bytes less
    /// one, and address bits 39:32. A size beyond the BO is cut.
    pub(crate) fn buffer_resource(&mut self, at: usize, word: usize) -> Result<(), CheckError> {
        let reloc = self.reloc(at)?;
        let (offset, size) = (self.ib[word], u64::from(self.ib[word + 1]) + 1);
        if size + u64::from(offset) > reloc.size {
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

    fn registers(&mut self, at: usize, base: u32, count: usize) -> Result<(), CheckError> {
        let start = base.wrapping_add(self.ib[at + 1] << 2);
        for i in 0..count - 1 {
            let (reg, at_value) = (start.wrapping_add(4 * i as u32), at + 2 + i);
            match reg {
                CB_COLOR0_TILE..=0x2_80DC | CB_COLOR0_FRAG..=0x2_80FC => {
                    if self.next_is_nop() {
                        let reloc = self.reloc(at)?;
                        self.add_base(at_value, reloc);
                    } else {
                        self.ib[at_value] = self.colour_base[(reg >> 2 & 7) as usize];
                    }
                }
                DB_HTILE_SURFACE => self.ib[at_value] |= 3,
                _ if has_base(reg) => {
                    let reloc = self.reloc(at)?;
                    self.add_base(at_value, reloc);
                    if (CB_COLOR0_BASE..=0x2_805C).contains(&reg) {
                        self.colour_base[(reg >> 2 & 7) as usize] = self.ib[at_value];
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn resources(&mut self, at: usize, count: usize) -> Result<(), CheckError> {
        if (count - 1) % 7 != 0 {
            return Err(CheckError::Field(at));
        }
        for i in 0..(count - 1) / 7 {
            let word = at + 2 + 7 * i;
            match self.ib[word + 6] >> 30 {
                VALID_TEXTURE => {
                    let texture = self.reloc(at)?;
                    let mipmap = self.reloc(at)?;
                    self.add_base(word + 2, texture);
                    self.add_base(word + 3, mipmap);
                }
                VALID_BUFFER => self.buffer_resource(at, word)?,
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
        match (header >> 28, tiled) {
            (2, false) => linear(ib, at + 1, at + 2, reloc()?),
            (2, true) => ib[at + 1] = ib[at + 1].wrapping_add((reloc()?.address >> 8) as u32),
            (3, false) => {
                let (source, target) = (reloc()?, reloc()?);
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
                ib[at + 1] = ib[at + 1].wrapping_add((tiled.address >> 8) as u32);
                linear(ib, at + 5, at + 6, flat);
            }
            (0xD, _) => {
                let target = reloc()?;
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
        relocate_gfx(&mut ib, &[BO, OTHER]).map(|()| ib)
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
        let texture = [0, 0, 1, 2, 0, 0, VALID_TEXTURE << 30];
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
