// SPDX-License-Identifier: MIT
//! The PFP of the strict board: it fetches packets, indirect buffers and
//! indices before the ME comes to them.
//!
//! What the ME (or a copy that it has started) writes to memory that the PFP
//! has read already is not seen. A chip of this family stops its PFP in one
//! way only: `WAIT_REG_MEM` with the engine bit for a value that the ME will
//! write, usually by a `MEM_WRITE` before it (`PFP_SYNC_ME` came with later
//! families, see `r600_semaphore_ring_emit()`). Neither semaphores nor copies
//! with `CP_SYNC` nor cache flushes hold it back.
//!
//! `COND_EXEC` and `PRED_EXEC` skip dwords that only the ME knows of; the PFP
//! goes no further before they are executed.
//!
//! Of draws with indices in memory the indices are fetched, too, and handed
//! on as if they had been in the packet. No packet of R700 reads its draw's
//! parameters from memory.

use std::collections::VecDeque;
use std::sync::Arc;

use super::pm4::{Header, IndexSource, Packet};
use super::{execute, opcode, Cp, Flow, IB_DEPTH};
use crate::chip::counters::Counter;
use crate::chip::engine::{Ended, Job, Ring, Step};
use crate::chip::fetch::{FetchError, Fetcher};
use crate::chip::regs::vgt;
use crate::chip::strict::Strict;

/// Fewest and most packets that the PFP is ahead.
const AHEAD: std::ops::RangeInclusive<usize> = 16..=64;
/// Most bytes of indices that are fetched for one draw; others are left where
/// they are.
const MAX_INDEX_BYTES: usize = 1 << 20;
/// Engine bit of `WAIT_REG_MEM`'s first dword: the PFP waits, not the ME.
const WAIT_ENGINE_PFP: u32 = 1 << 8;
/// `INDEX_TYPE` value of 32-bit indices.
const INDEX_32: u32 = 1;

/// A packet as the PFP read it.
struct Fetched {
    header: Header,
    dword: u32,
    body: Vec<u32>,
    /// Indices in memory as the PFP read them.
    indices: Option<Vec<u32>>,
    /// Whether the PFP could follow an `INDIRECT_BUFFER`; none if the packet
    /// is no call, or one that only the ME can decide about.
    called: Option<bool>,
    /// Read pointer of the ring after the packet.
    rptr: u32,
    /// Whether the stream is in the ring after the packet.
    in_ring: bool,
    /// MC address of the packet, to find out later whether it has changed.
    addr: Option<u64>,
    /// Text of the position, for traces.
    position: String,
}

/// The prefetcher. Its fetcher's position is the PFP's.
pub(super) struct Pfp {
    strict: Arc<Strict>,
    rng: fastrand::Rng,
    queue: VecDeque<Fetched>,
    /// The last fetched packet has to be executed before more is fetched.
    stopped: bool,
    /// Read pointer of the ring that the PFP has reached; none while it is
    /// the ME's.
    rptr: Option<u32>,
    index_type: Option<u32>,
}

impl Pfp {
    pub fn new(strict: Arc<Strict>) -> Self {
        Self {
            rng: strict.prefetch_generator(),
            strict,
            queue: VecDeque::new(),
            stopped: false,
            rptr: None,
            index_type: None,
        }
    }

    pub fn reset(&mut self) {
        self.queue.clear();
        self.stopped = false;
        self.rptr = None;
        self.index_type = None;
    }

    /// Goes on in the ring where the ME is.
    pub fn follow(&mut self) {
        self.rptr = None;
    }

    /// Whether the ME has executed all that was fetched.
    pub fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }

    /// Fetches ahead, so that the queue holds the packet that the ME executes
    /// next.
    ///
    /// # Errors
    /// The queue is empty and the next packet cannot be fetched.
    fn run_ahead(
        &mut self,
        job: &Job<'_>,
        ring: &Ring,
        fetch: &mut Fetcher,
    ) -> Result<(), FetchError> {
        let ahead = self.rng.usize(AHEAD);
        while self.queue.len() < ahead && !self.stopped {
            match self.fetch(job, ring, fetch) {
                Ok(fetched) => self.queue.push_back(fetched),
                // The ME comes to it when it has executed what is before it.
                Err(_) if !self.queue.is_empty() => break,
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    fn fetch(
        &mut self,
        job: &Job<'_>,
        ring: &Ring,
        fetch: &mut Fetcher,
    ) -> Result<Fetched, FetchError> {
        let mc = &*job.hub.mc;
        let mut ring = *ring;
        if let Some(rptr) = self.rptr {
            ring.rptr = rptr;
        }
        let dword = fetch.header(mc, &ring)?;
        let header = Header::decode(dword);
        fetch.body(mc, &ring, header.body())?;
        let position = if job.hub.trace.enabled() {
            fetch.position(&ring)
        } else {
            String::new()
        };
        let addr = fetch.address(&ring, header.body());
        let body = fetch.body.clone();
        let mut indices = None;
        let mut call = None;
        if let Header::Type3 {
            opcode: op,
            predicate,
            ..
        } = header
        {
            match op {
                opcode::COND_EXEC | opcode::PRED_EXEC => self.stopped = true,
                opcode::WAIT_REG_MEM if body.first().is_some_and(|b| b & WAIT_ENGINE_PFP != 0) => {
                    self.stopped = !execute::wait_is_over(job, &body);
                }
                opcode::INDEX_TYPE => self.index_type = body.first().copied(),
                _ => {}
            }
            match Packet::decode(op, &body) {
                Ok(Packet::Draw(draw)) => {
                    if let IndexSource::Memory(at) = draw.source {
                        indices = self.indices(job, at, draw.indices);
                    }
                }
                Ok(Packet::IndirectBuffer { .. }) if predicate => self.stopped = true,
                Ok(Packet::IndirectBuffer { addr, dwords }) => call = Some((addr, dwords)),
                _ => {}
            }
        }
        let rptr = fetch.consume(&ring, 1 + header.body());
        let called = call.map(|(addr, dwords)| fetch.call(addr, dwords, IB_DEPTH));
        self.rptr = Some(rptr);
        Ok(Fetched {
            header,
            dword,
            body,
            indices,
            called,
            rptr,
            in_ring: fetch.level() == 0,
            addr,
            position,
        })
    }

    /// The indices of a draw, packed as `DRAW_INDEX_IMMD` has them.
    fn indices(&self, job: &Job<'_>, addr: u64, count: u32) -> Option<Vec<u32>> {
        let kind = self
            .index_type
            .unwrap_or_else(|| job.hub.regs.load(vgt::VGT_DMA_INDEX_TYPE));
        let bytes = if kind & 3 == INDEX_32 { 4 } else { 2 } * count as usize;
        if bytes > MAX_INDEX_BYTES {
            return None;
        }
        let mut raw = vec![0; bytes.next_multiple_of(4)];
        // What cannot be read is the ME's business.
        job.hub.mc.read(addr, &mut raw[..bytes]).ok()?;
        Some(dwords(&raw))
    }

    /// Takes the packet at the head away, which has been executed. Where the
    /// PFP waits for it, it goes on behind it.
    fn take(&mut self) -> Option<Fetched> {
        let fetched = self.queue.pop_front()?;
        if self.queue.is_empty() {
            self.stopped = false;
            if fetched.in_ring {
                self.rptr = None;
            }
        }
        Some(fetched)
    }

    /// Counts a packet if memory has changed since it was fetched.
    fn count_stale(&self, job: &Job<'_>, fetched: &Fetched) {
        let counters = &self.strict.counters;
        let mc = &*job.hub.mc;
        if let Some(addr) = fetched.addr {
            let mut raw = vec![0; 4 * (1 + fetched.body.len())];
            if mc.read(addr, &mut raw).is_ok() {
                let now = dwords(&raw);
                if now[0] != fetched.dword || now[1..] != fetched.body[..] {
                    counters.inc(Counter::PfpStalePackets);
                }
            }
        }
        let Some(indices) = &fetched.indices else {
            return;
        };
        if let Header::Type3 { opcode, .. } = fetched.header {
            if let Ok(Packet::Draw(draw)) = Packet::decode(opcode, &fetched.body) {
                if let IndexSource::Memory(addr) = draw.source {
                    if self.indices(job, addr, draw.indices).as_ref() != Some(indices) {
                        counters.inc(Counter::PfpStaleIndices);
                    }
                }
            }
        }
    }
}

impl Cp {
    /// Executes the next packet of the queue, fetching ahead before.
    pub(super) fn packet_ahead(
        &mut self,
        job: &Job<'_>,
        ring: &Ring,
        pfp: &mut Pfp,
    ) -> Result<Step, Ended<FetchError>> {
        pfp.run_ahead(job, ring, &mut self.fetch)?;
        let Some(head) = pfp.queue.front() else {
            return Err(FetchError::Starved.into());
        };
        if self.polls == 0 {
            pfp.count_stale(job, head);
        }
        let (header, body) = (head.header, head.body.clone());
        self.draw_indices = head.indices.clone();
        self.position = head.position.clone();
        let flow = self.execute(job, ring, header, &body)?;
        if flow == Flow::Wait {
            return Ok(self.wait());
        }
        self.polls = 0;
        let Some(fetched) = pfp.take() else {
            return Ok(Step::Cancelled);
        };
        let mut rptr = fetched.rptr;
        match (flow, fetched.called) {
            (Flow::Skip(count), _) => {
                let at = Ring { rptr, ..*ring };
                rptr = self.fetch.consume(&at, count);
                pfp.follow();
            }
            (Flow::Call { .. }, Some(followed)) => self.count_call(job.hub, followed),
            (Flow::Call { addr, dwords }, None) => self.call(job.hub, addr, dwords),
            _ => {}
        }
        Ok(Step::Done { rptr })
    }
}

fn dwords(raw: &[u8]) -> Vec<u32> {
    raw.chunks_exact(4)
        .map(|d| u32::from_le_bytes([d[0], d[1], d[2], d[3]]))
        .collect()
}
