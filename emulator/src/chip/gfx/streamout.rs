// SPDX-License-Identifier: MIT
//! Stream-out: vertices of primitives, in order, into up to four buffers.
//!
//! Registers `VGT_STRMOUT_*` (Mesa `r600_streamout.c`): sizes, strides and
//! offsets count dwords. A primitive is written whole or not at all. One that
//! does not fit still counts as needed. So does one without an enabled buffer:
//! Mesa leaves stream-out on while it is paused if a query counts generated
//! primitives, and a real RV770 then does not count written ones.

use super::memory::View;
use super::state::{bit, Shadow};
use super::vertex::StreamData;
use crate::chip::bus::McError;
use crate::chip::regs::gfx as reg;

/// Most bytes of one write.
const RUN_BYTES: usize = 4096;

/// Number of stream-out buffers of the chip.
pub const BUFFERS: usize = 4;

#[derive(Debug, Clone, Copy)]
struct Buffer {
    base: u64,
    size: u32,
    stride: u32,
}

/// Stream-out state of a draw.
#[derive(Debug)]
pub struct StreamOut {
    buffers: [Option<Buffer>; BUFFERS],
    /// Dwords filled per buffer, counted from its base.
    pub filled: [u32; BUFFERS],
    /// Primitives that reached stream-out, written or not.
    pub needed: u64,
    /// Primitives written.
    pub written: u64,
    /// Dwords of one vertex: offset in dwords, and value.
    record: Vec<(u32, u32)>,
    pending: [Run; BUFFERS],
}

impl StreamOut {
    /// Decodes the state; none if stream-out is off.
    pub fn decode(s: &Shadow, filled: [u32; BUFFERS]) -> Option<Self> {
        if !bit(s.get(reg::VGT_STRMOUT_EN), 0) {
            return None;
        }
        let enabled = s.get(reg::VGT_STRMOUT_BUFFER_EN);
        let buffers = std::array::from_fn(|i| {
            bit(enabled, i as u32).then(|| {
                let get = |first: u32| s.get(first + 16 * i as u32);
                Buffer {
                    size: get(reg::VGT_STRMOUT_BUFFER_SIZE_0),
                    stride: get(reg::VGT_STRMOUT_VTX_STRIDE_0),
                    base: u64::from(get(reg::VGT_STRMOUT_BUFFER_BASE_0)) << 8,
                }
            })
        });
        Some(Self {
            buffers,
            filled,
            needed: 0,
            written: 0,
            record: Vec::new(),
            pending: Default::default(),
        })
    }

    /// Writes the vertices of one primitive.
    ///
    /// # Errors
    /// The first access that no memory answered.
    pub fn primitive(
        &mut self,
        view: &View<'_>,
        data: &StreamData,
        vertices: &[u32],
    ) -> Result<(), McError> {
        self.needed += 1;
        let fits = self.buffers.iter().zip(&self.filled).all(|(b, filled)| {
            b.is_none_or(|b| {
                let end = u64::from(*filled) + u64::from(b.stride) * vertices.len() as u64;
                end <= u64::from(b.size)
            })
        });
        if !fits || self.buffers.iter().all(Option::is_none) {
            return Ok(());
        }
        self.written += 1;
        for vertex in vertices {
            for i in 0..BUFFERS {
                let Some(buffer) = self.buffers[i] else {
                    continue;
                };
                let start = buffer.base.wrapping_add(4 * u64::from(self.filled[i]));
                self.filled[i] += buffer.stride;
                self.record.clear();
                self.record.extend(
                    data.dwords(*vertex)
                        .filter(|d| usize::from(d.0) == i && d.1 < buffer.stride)
                        .map(|d| (d.1, d.2)),
                );
                self.record.sort_unstable();
                for &(offset, value) in &self.record {
                    let at = start.wrapping_add(4 * u64::from(offset));
                    self.pending[i].push(view, at, value)?;
                }
            }
        }
        Ok(())
    }

    /// Writes the dwords that are still pending.
    ///
    /// # Errors
    /// The first access that no memory answered.
    pub fn finish(&mut self, view: &View<'_>) -> Result<(), McError> {
        self.pending.iter_mut().try_for_each(|p| p.flush(view))
    }
}

/// Contiguous dwords that wait to be written at once.
#[derive(Debug, Default)]
struct Run {
    start: u64,
    bytes: Vec<u8>,
}

impl Run {
    fn push(&mut self, view: &View<'_>, address: u64, value: u32) -> Result<(), McError> {
        let next = self.start.wrapping_add(self.bytes.len() as u64);
        if next != address || self.bytes.len() >= RUN_BYTES {
            self.flush(view)?;
            self.start = address;
        }
        self.bytes.extend_from_slice(&value.to_le_bytes());
        Ok(())
    }

    fn flush(&mut self, view: &View<'_>) -> Result<(), McError> {
        let result = if self.bytes.is_empty() {
            Ok(())
        } else {
            view.write(self.start, &self.bytes)
        };
        self.bytes.clear();
        result
    }
}
