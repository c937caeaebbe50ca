// SPDX-License-Identifier: MIT
//! Draw initiation: fetches the indices of a draw.
//!
//! Packets and registers: `DRAW_INDEX*`, `VGT_DMA_INDEX_TYPE`,
//! `VGT_INDX_OFFSET`, `VGT_MIN/MAX_VTX_INDX`, `VGT_MULTI_PRIM_IB_RESET_*`,
//! `VGT_STRMOUT_DRAW_OPAQUE_*` (Mesa `r600_draw_vbo()`).

use super::memory::View;
use super::state::{bit, bits, Shadow};
use crate::chip::bus::McError;
use crate::chip::cp::pm4::{Draw, IndexSource};
use crate::chip::regs::{gfx as reg, vgt};

/// Most indices of one [`Indices::fetch`].
pub const CHUNK: usize = 1024;

/// One index of a draw.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Index {
    /// A vertex index, the offset added, clamped to `VGT_MIN/MAX_VTX_INDX`.
    Vertex(u32),
    /// The restart index.
    Restart,
}

/// The indices of one instance.
#[derive(Debug)]
pub struct Indices<'d> {
    source: Source<'d>,
    /// Number of indices.
    pub count: u32,
    offset: u32,
    limits: (u32, u32),
    restart: Option<u32>,
}

#[derive(Debug)]
enum Source<'d> {
    Auto,
    Memory { address: u64, bytes: u32, swap: u32 },
    Immediate { dwords: &'d [u32], bytes: u32 },
}

impl<'d> Indices<'d> {
    /// Decodes where the indices of `draw` come from.
    pub fn decode(s: &Shadow, draw: &'d Draw) -> Self {
        let index_type = s.get(vgt::VGT_DMA_INDEX_TYPE);
        // VGT_INDEX_16 and VGT_INDEX_32, then the swap mode.
        let bytes = if bits(index_type, 0, 2) == 1 { 4 } else { 2 };
        let mut count = draw.indices;
        let source = match &draw.source {
            IndexSource::Auto => {
                // USE_OPAQUE: as many vertices as stream-out has written.
                if bit(draw.initiator, 6) {
                    let stride = s.get(reg::VGT_STRMOUT_DRAW_OPAQUE_VERTEX_STRIDE);
                    let filled = s
                        .get(reg::VGT_STRMOUT_DRAW_OPAQUE_BUFFER_FILLED_SIZE)
                        .saturating_sub(s.get(reg::VGT_STRMOUT_DRAW_OPAQUE_OFFSET));
                    count = filled.checked_div(stride).unwrap_or(0);
                }
                Source::Auto
            }
            IndexSource::Memory(address) => Source::Memory {
                address: *address,
                bytes,
                swap: bits(index_type, 2, 2),
            },
            IndexSource::Immediate(dwords) => Source::Immediate { dwords, bytes },
        };
        let auto = matches!(source, Source::Auto);
        Self {
            source,
            count,
            offset: s.get(reg::VGT_INDX_OFFSET),
            limits: (s.get(reg::VGT_MIN_VTX_INDX), s.get(reg::VGT_MAX_VTX_INDX)),
            restart: (!auto && bit(s.get(reg::VGT_MULTI_PRIM_IB_RESET_EN), 0))
                .then(|| s.get(reg::VGT_MULTI_PRIM_IB_RESET_INDX)),
        }
    }

    /// Replaces `out` by the indices `first..first + CHUNK`, or fewer at the
    /// end of the draw.
    ///
    /// # Errors
    /// As [`View::read`].
    pub fn fetch(&self, view: &View<'_>, first: u32, out: &mut Vec<Index>) -> Result<(), McError> {
        out.clear();
        let n = (self.count.saturating_sub(first) as usize).min(CHUNK);
        let finish = |raw: u32| {
            if self.restart == Some(raw) {
                return Index::Restart;
            }
            let (low, high) = self.limits;
            Index::Vertex(raw.wrapping_add(self.offset).min(high).max(low))
        };
        match &self.source {
            Source::Auto => out.extend((first..).take(n).map(finish)),
            Source::Memory {
                address,
                bytes,
                swap,
            } => {
                let mut buffer = [0; CHUNK * 4];
                let buffer = &mut buffer[..n * *bytes as usize];
                let at = address.wrapping_add(u64::from(first) * u64::from(*bytes));
                view.read(at, buffer)?;
                if *bytes == 4 {
                    out.extend(buffer.chunks_exact(4).map(|b| {
                        let v = u32::from_le_bytes([b[0], b[1], b[2], b[3]]);
                        finish(match swap {
                            0 => v,
                            1 => (v & 0xFF00_FF00) >> 8 | (v & 0x00FF_00FF) << 8,
                            _ => v.swap_bytes(),
                        })
                    }));
                } else {
                    out.extend(buffer.chunks_exact(2).map(|b| {
                        let v = u16::from_le_bytes([b[0], b[1]]);
                        finish(u32::from(if *swap == 1 { v.swap_bytes() } else { v }))
                    }));
                }
            }
            Source::Immediate { dwords, bytes } => {
                out.extend((first..).take(n).map_while(|i| {
                    if *bytes == 4 {
                        dwords.get(i as usize).map(|v| finish(*v))
                    } else {
                        let v = dwords.get(i as usize / 2)?;
                        Some(finish(v >> (16 * (i & 1)) & 0xFFFF))
                    }
                }));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Control, GfxContext};
    use super::*;
    use crate::chip::bus::{Mc, RegFile};
    use crate::chip::engine::Cancelled;
    use std::collections::HashMap;

    struct Memory(Vec<u8>);

    impl Mc for Memory {
        fn read(&self, addr: u64, buf: &mut [u8]) -> Result<(), McError> {
            let at = addr as usize;
            let from = self.0.get(at..at + buf.len());
            buf.copy_from_slice(from.ok_or(McError::Unmapped(addr))?);
            Ok(())
        }
        fn write(&self, addr: u64, _: &[u8]) -> Result<(), McError> {
            Err(McError::Unmapped(addr))
        }
    }

    #[derive(Default)]
    struct Registers(HashMap<u32, u32>);

    impl RegFile for Registers {
        fn load(&self, offset: u32) -> u32 {
            self.0.get(&offset).copied().unwrap_or(0)
        }
        fn store(&self, _: u32, _: u32) {}
    }

    struct Quiet;

    impl Control for Quiet {
        fn check(&self) -> Result<(), Cancelled> {
            Ok(())
        }
    }

    fn indices(registers: &[(u32, u32)], source: IndexSource, count: u32) -> Vec<Index> {
        let mut all = Registers::default();
        all.0.insert(0x2_8400, u32::MAX);
        all.0.extend(registers.iter().copied());
        let bytes: Vec<u8> = (0..64).collect();
        let mc = Memory(bytes);
        let mut shadow = Shadow::default();
        shadow.refresh(&GfxContext {
            regs: &all,
            mc: &mc,
            control: &Quiet,
        });
        let draw = Draw {
            initiator: if count == 0 { 1 << 6 } else { 0 },
            indices: count,
            source,
        };
        let mut out = Vec::new();
        Indices::decode(&shadow, &draw)
            .fetch(&View::new(&mc), 0, &mut out)
            .unwrap();
        out
    }

    use Index::{Restart, Vertex};

    #[test]
    fn auto_counts_from_offset_and_is_clamped() {
        assert_eq!(
            indices(&[(0x2_8408, 10), (0x2_8400, 11)], IndexSource::Auto, 3),
            [Vertex(10), Vertex(11), Vertex(11)]
        );
    }

    #[test]
    fn memory_has_two_widths_and_restart() {
        assert_eq!(
            indices(
                &[(0x2_8A94, 1), (0x2_840C, 0x0504)],
                IndexSource::Memory(2),
                2
            ),
            [Vertex(0x0302), Restart]
        );
        assert_eq!(
            indices(&[(0x2_8A7C, 1)], IndexSource::Memory(4), 1),
            [Vertex(0x0706_0504)]
        );
        assert_eq!(
            indices(&[(0x2_8A7C, 1 | 2 << 2)], IndexSource::Memory(4), 1),
            [Vertex(0x0405_0607)]
        );
    }

    #[test]
    fn immediate_packs_two_short_indices() {
        let source = || IndexSource::Immediate(vec![0x0002_0001, 3]);
        assert_eq!(indices(&[], source(), 3), [Vertex(1), Vertex(2), Vertex(3)]);
        assert_eq!(
            indices(&[], source(), 9).len(),
            4,
            "no more than the packet holds"
        );
    }

    #[test]
    fn opaque_count_is_filled_size_over_stride() {
        let registers = [(0x2_8B2C, 26), (0x2_8B28, 2), (0x2_8B30, 8)];
        assert_eq!(indices(&registers, IndexSource::Auto, 0).len(), 3);
        assert!(indices(&[(0x2_8B2C, 26)], IndexSource::Auto, 0).is_empty());
    }
}
