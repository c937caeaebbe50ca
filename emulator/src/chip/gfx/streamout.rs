// SPDX-License-Identifier: MIT
//! Stream-out: vertices of primitives, in order, into up to four buffers.
//!
//! Registers `VGT_STRMOUT_*` (Mesa `r600_streamout.c`): sizes, strides and
//! offsets count dwords. A primitive is written whole or not at all. One that
//! does not fit still counts as needed. So does one without an enabled buffer:
//! Mesa leaves stream-out on while it is paused if a query counts generated
//! primitives, and a real RV770 then does not count written ones.

use super::front::{VertexStreams, STREAMS};
use super::memory::View;
use super::state::Shadow;
use super::vertex::StreamData;
use crate::chip::bus::McError;
use crate::chip::regs::gfx as reg;

/// Most bytes of one write.
const RUN_BYTES: usize = 4096;

/// Number of stream-out buffers of the chip.
pub const BUFFERS: usize = 4;

#[derive(Debug, Clone, Copy, Default)]
struct Buffer {
    base: u64,
    size: u32,
    stride: u32,
}

/// Stream-out state of a draw.
#[derive(Debug)]
pub struct StreamOut {
    buffers: [Buffer; BUFFERS],
    /// The buffers of each vertex stream; none if stream-out of the stream is off.
    streams: [Option<u8>; STREAMS],
    /// Dwords filled per buffer, counted from its base.
    pub filled: [u32; BUFFERS],
    /// Primitives of each stream: those that reached stream-out, and those written.
    pub primitives: [[u64; 2]; STREAMS],
    /// Dwords of one vertex: offset in dwords, and value.
    record: Vec<(u32, u32)>,
    pending: [Run; BUFFERS],
}

impl StreamOut {
    /// Decodes the state; none if stream-out is off.
    pub fn decode(s: &Shadow, of: &VertexStreams, filled: [u32; BUFFERS]) -> Option<Self> {
        if of.enabled == [false; STREAMS] {
            return None;
        }
        let buffers = std::array::from_fn(|i| {
            let get = |first: u32| s.get(first + 16 * i as u32);
            Buffer {
                size: get(reg::VGT_STRMOUT_BUFFER_SIZE_0),
                stride: get(reg::VGT_STRMOUT_VTX_STRIDE_0),
                base: u64::from(get(reg::VGT_STRMOUT_BUFFER_BASE_0)) << 8,
            }
        });
        Some(Self {
            buffers,
            streams: std::array::from_fn(|n| of.enabled[n].then_some(of.buffers[n])),
            filled,
            primitives: [[0; 2]; STREAMS],
            record: Vec::new(),
            pending: Default::default(),
        })
    }

    /// Writes the vertices of one primitive of `stream`.
    ///
    /// # Errors
    /// The first access that no memory answered.
    pub fn primitive(
        &mut self,
        view: &View<'_>,
        data: &StreamData,
        stream: usize,
        vertices: &[u32],
    ) -> Result<(), McError> {
        let stream = stream & (STREAMS - 1);
        let Some(enabled) = self.streams[stream] else {
            return Ok(());
        };
        let [needed, written] = &mut self.primitives[stream];
        *needed += 1;
        let writes = |i: usize| enabled >> i & 1 != 0;
        let fits = |i: usize| {
            let Buffer { stride, size, .. } = self.buffers[i];
            let end = u64::from(self.filled[i]) + u64::from(stride) * vertices.len() as u64;
            end <= u64::from(size)
        };
        if enabled == 0 || !(0..BUFFERS).all(|i| !writes(i) || fits(i)) {
            return Ok(());
        }
        *written += 1;
        for vertex in vertices {
            for i in (0..BUFFERS).filter(|&i| writes(i)) {
                let buffer = self.buffers[i];
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

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::super::lanes::{first, LANES};
    use super::super::stage::StreamWrite;
    use super::*;
    use crate::chip::bus::Mc;

    struct Memory(Mutex<Vec<u8>>);

    impl Mc for Memory {
        fn read(&self, addr: u64, _: &mut [u8]) -> Result<(), McError> {
            Err(McError::Unmapped(addr))
        }
        fn write(&self, addr: u64, bytes: &[u8]) -> Result<(), McError> {
            let at = addr as usize;
            self.0.lock().unwrap()[at..at + bytes.len()].copy_from_slice(bytes);
            Ok(())
        }
    }

    /// A dword for each buffer, 100 * buffer + vertex.
    fn data() -> StreamData {
        let mut data = StreamData::default();
        let write = |buffer: u8| StreamWrite {
            buffer,
            offset: 0,
            components: 1,
            exec: first(3),
            values: Box::new(std::array::from_fn(|_| {
                std::array::from_fn::<u32, LANES, _>(|lane| 100 * u32::from(buffer) + lane as u32)
            })),
        };
        data.append(&[0, 1, 2, 3].map(write), 3);
        data
    }

    /// Streams 0 to 2; buffer 0 is of stream 0, 1 and 2 of stream 1, stream 2 has none. `size` in
    /// dwords is that of buffer 2.
    fn run(size: u32, primitives: &[(usize, u32)]) -> (StreamOut, Vec<u32>) {
        let memory = Memory(Mutex::new(vec![0; 64]));
        let buffers = std::array::from_fn(|i| Buffer {
            base: 16 * i as u64,
            size: if i == 2 { size } else { 4 },
            stride: 1,
        });
        let mut out = StreamOut {
            buffers,
            streams: [Some(1), Some(0b110), Some(0), None],
            filled: [0; BUFFERS],
            primitives: [[0; 2]; STREAMS],
            record: Vec::new(),
            pending: Default::default(),
        };
        let view = View::new(&memory);
        for (stream, vertex) in primitives {
            out.primitive(&view, &data(), *stream, &[*vertex]).unwrap();
        }
        out.finish(&view).unwrap();
        let bytes = memory.0.lock().unwrap();
        let dwords = bytes.chunks_exact(4);
        let all = dwords.map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]]));
        let all = all.collect();
        drop(bytes);
        (out, all)
    }

    #[test]
    fn each_stream_writes_its_own_buffers() {
        let (out, memory) = run(4, &[(1, 1), (0, 2), (1, 0), (2, 1), (3, 1)]);
        assert_eq!(memory[..4], [2, 0, 0, 0]);
        assert_eq!(memory[4..8], [101, 100, 0, 0]);
        assert_eq!(memory[8..12], [201, 200, 0, 0]);
        assert_eq!(memory[12..], [0; 4]);
        assert_eq!(out.filled, [1, 2, 2, 0]);
        // Needed and written; without a buffer none is written, without stream-out none needed.
        assert_eq!(out.primitives, [[1, 1], [2, 2], [1, 0], [0, 0]]);
    }

    #[test]
    fn a_full_buffer_stops_its_stream_alone() {
        let (out, memory) = run(1, &[(1, 1), (1, 2), (0, 1), (0, 2)]);
        assert_eq!(memory[4..6], [101, 0], "neither buffer is written");
        assert_eq!(out.primitives[..2], [[2, 2], [2, 1]]);
    }
}
