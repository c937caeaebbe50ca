// SPDX-License-Identifier: MIT
//! Packet fetch for all ring engines: from the ring, and from indirect buffers
//! that can be left and resumed at any packet.

use crate::chip::bus::{Mc, McError};
use crate::chip::counters::Counter;
use crate::chip::engine::Ended;
use crate::chip::hub::{Client, Hub};
use crate::chip::queue::Ring;

/// Why a packet cannot be fetched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FetchError {
    /// The ring does not hold the whole packet yet.
    Starved,
    /// The packet reaches beyond the end of the indirect buffer.
    Truncated,
    /// The memory of ring or buffer cannot be read.
    Mc(McError),
}

impl From<FetchError> for Ended<FetchError> {
    fn from(error: FetchError) -> Self {
        Ended::Failed(error)
    }
}

/// An indirect buffer, as a packet calls it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Buffer {
    /// Address in its VM context.
    pub addr: u64,
    /// Length.
    pub dwords: u32,
    /// VM context in which it is read and its packets are executed.
    pub context: u8,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Ib {
    buffer: Buffer,
    pos: u32,
}

impl Ib {
    /// Address of the next packet.
    fn next(&self) -> u64 {
        self.buffer.addr.wrapping_add(u64::from(self.pos) * 4)
    }
}

/// Position in the packet stream of a ring.
#[derive(Debug, Default)]
pub(crate) struct Fetcher {
    ibs: Vec<Ib>,
    /// Dwords of the ring still to be skipped.
    ring_skip: u32,
    bytes: Vec<u8>,
    /// Body of the packet last fetched.
    pub body: Vec<u32>,
}

impl Fetcher {
    /// Nesting: 0 in the ring, 1 in an indirect buffer, 2 in a nested one.
    pub fn level(&self) -> usize {
        self.ibs.len()
    }

    /// VM context of the current packet: 0 in the ring, in an indirect buffer its own.
    pub fn context(&self) -> u8 {
        self.ibs.last().map_or(0, |ib| ib.buffer.context)
    }

    /// Text of the position, for traces.
    pub fn position(&self, ring: &Ring) -> String {
        match self.ibs.last() {
            None => format!("ring+{:#x}", ring.rptr),
            Some(ib) => format!("ib{}:{:#x}+{:#x}", self.ibs.len(), ib.buffer.addr, ib.pos),
        }
    }

    /// MC address of the current packet, whose body has `body` dwords; `None`
    /// if the packet wraps around the end of the ring.
    pub fn address(&self, ring: &Ring, body: u32) -> Option<u64> {
        match self.ibs.last() {
            Some(ib) => Some(ib.next()),
            None if ring.rptr + body >= ring.size => None,
            None => Some(ring.base + u64::from(ring.rptr) * 4),
        }
    }

    /// Leaves all indirect buffers.
    pub fn reset(&mut self) {
        self.ibs.clear();
        self.ring_skip = 0;
    }

    /// Consumes ring dwords that are left over from a skip and returns the new
    /// read pointer; `None` if there are none.
    pub fn pending_skip(&mut self, ring: &Ring) -> Option<u32> {
        if self.ring_skip == 0 || !self.ibs.is_empty() {
            return None;
        }
        let n = self.ring_skip.min(ring.available());
        self.ring_skip -= n;
        Some(ring.advanced(n))
    }

    /// Reads the next packet's header.
    pub fn header(&mut self, mc: &dyn Mc, ring: &Ring) -> Result<u32, FetchError> {
        let addr = match self.ibs.last() {
            Some(ib) => ib.next(),
            None if ring.available() == 0 => return Err(FetchError::Starved),
            None => ring.base + u64::from(ring.rptr) * 4,
        };
        mc.read_u32(addr).map_err(FetchError::Mc)
    }

    /// Reads the `count` dwords after the header into [`Self::body`].
    pub fn body(&mut self, mc: &dyn Mc, ring: &Ring, count: u32) -> Result<(), FetchError> {
        self.body.clear();
        if let Some(ib) = self.ibs.last() {
            if u64::from(ib.pos) + 1 + u64::from(count) > u64::from(ib.buffer.dwords) {
                return Err(FetchError::Truncated);
            }
            let addr = ib.next().wrapping_add(4);
            return self.read(mc, addr, count);
        }
        if ring.available() <= count {
            return Err(FetchError::Starved);
        }
        let first = ring.advanced(1);
        let to_end = (ring.size - first).min(count);
        self.read(mc, ring.base + u64::from(first) * 4, to_end)?;
        self.read(mc, ring.base, count - to_end)
    }

    fn read(&mut self, mc: &dyn Mc, addr: u64, count: u32) -> Result<(), FetchError> {
        if count == 0 {
            return Ok(());
        }
        self.bytes.resize(count as usize * 4, 0);
        mc.read(addr, &mut self.bytes).map_err(FetchError::Mc)?;
        let dwords = self.bytes.chunks_exact(4);
        self.body
            .extend(dwords.map(|d| u32::from_le_bytes([d[0], d[1], d[2], d[3]])));
        Ok(())
    }

    /// Moves past `count` dwords of the current stream and leaves indirect
    /// buffers that are finished. Returns the ring's read pointer.
    pub fn consume(&mut self, ring: &Ring, count: u32) -> u32 {
        let Some(ib) = self.ibs.last_mut() else {
            let n = count.min(ring.available());
            self.ring_skip = count - n;
            return ring.advanced(n);
        };
        ib.pos = ib.pos.saturating_add(count);
        self.leave_finished();
        ring.rptr
    }

    /// Enters an indirect buffer, whose packets are executed in VM context `context`,
    /// unless `depth` of them are already nested, and returns whether it did. The
    /// caller has consumed the calling packet.
    pub fn call(&mut self, buffer: Buffer, depth: usize) -> bool {
        if self.ibs.len() >= depth {
            return false;
        }
        self.ibs.push(Ib { buffer, pos: 0 });
        self.leave_finished();
        true
    }

    fn leave_finished(&mut self) {
        while self.ibs.last().is_some_and(|ib| ib.pos >= ib.buffer.dwords) {
            self.ibs.pop();
        }
    }

    /// Gives up on the current stream after a fetch error: the rest of the
    /// indirect buffer, or all of the ring submitted so far. Returns the
    /// ring's read pointer.
    pub fn abandon(&mut self, hub: &Hub, client: Client, ring: &Ring, error: FetchError) -> u32 {
        match error {
            FetchError::Mc(e) => hub.fault_in(self.context(), client, e),
            FetchError::Truncated | FetchError::Starved => hub.counters.inc(Counter::BadPackets),
        }
        if self.ibs.pop().is_some() {
            self.leave_finished();
            ring.rptr
        } else {
            ring.limit
        }
    }
}
