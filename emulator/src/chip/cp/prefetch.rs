// SPDX-License-Identifier: MIT
//! The PFP of the strict board: it fetches packets, indirect buffers and
//! indices ahead of the ME.
//!
//! If the ME, or a copy that it starts, later writes to memory that the PFP
//! has already read, the PFP does not see the write. On this family only one
//! packet stops the PFP: `WAIT_REG_MEM` with the engine bit, which waits for a
//! value that the ME will write, usually by a `MEM_WRITE` before it. `PFP_SYNC_ME`
//! stops it on Cayman (see `r600_semaphore_ring_emit()`).
//! Semaphores, copies with `CP_SYNC` and cache flushes do not stop it.
//!
//! Only the ME knows whether `COND_EXEC` and `PRED_EXEC` skip dwords and whether
//! a predicated `INDIRECT_BUFFER` is called; the PFP stops there until the ME
//! has executed the packet.
//!
//! For draws with indices in memory the PFP fetches the indices, too, and passes
//! them on as if they were in the packet. R700 has no indirect draws.

use std::collections::VecDeque;
use std::sync::Arc;

use super::pm4::{Header, IndexSource, Packet};
use super::{execute, opcode, Cp, Flow, IB_DEPTH};
use crate::chip::context::{report, Contexts};
use crate::chip::counters::Counter;
use crate::chip::engine::{Ended, Job, Ring, Step};
use crate::chip::fetch::{FetchError, Fetcher};
use crate::chip::hub::Client;
use crate::chip::regs::vgt;
use crate::chip::strict::Strict;

/// Fewest and most packets by which the PFP is ahead of the ME.
const AHEAD: std::ops::RangeInclusive<usize> = 16..=64;
/// Most bytes of indices that the PFP fetches for one draw; longer lists are left
/// to the ME.
const MAX_INDEX_BYTES: usize = 1 << 20;
/// Engine bit of `WAIT_REG_MEM`'s first dword: the PFP waits, not the ME.
const WAIT_ENGINE_PFP: u32 = 1 << 8;
/// `INDEX_TYPE` value of 32-bit indices.
const INDEX_32: u32 = 1;

/// A packet as the PFP read it.
struct Fetched {
    header: Header,
    dword: u32,
    /// VM context of the packet.
    context: u8,
    body: Vec<u32>,
    /// Indices in memory as the PFP read them.
    indices: Option<Vec<u32>>,
    /// Whether the PFP could follow an `INDIRECT_BUFFER`; `None` if the packet
    /// is no call, or a predicated one.
    called: Option<bool>,
    /// Read pointer of the ring after the packet.
    rptr: u32,
    /// Whether the next packet comes from the ring, not from an indirect buffer.
    in_ring: bool,
    /// MC address of the packet, to check later whether it has changed.
    addr: Option<u64>,
    /// Text of the position, for traces.
    position: String,
}

/// The prefetcher. Its fetcher's position is the PFP's.
pub(super) struct Pfp {
    strict: Arc<Strict>,
    contexts: Contexts,
    rng: fastrand::Rng,
    queue: VecDeque<Fetched>,
    /// The last fetched packet has to be executed before more is fetched.
    stopped: bool,
    /// The PFP's read pointer of the ring; `None` while it equals the ME's.
    rptr: Option<u32>,
    index_type: Option<u32>,
}

impl Pfp {
    pub fn new(strict: Arc<Strict>, contexts: Contexts) -> Self {
        Self {
            rng: strict.prefetch_generator(),
            strict,
            contexts,
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

    /// Continues in the ring at the ME's read pointer.
    pub fn follow(&mut self) {
        self.rptr = None;
    }

    /// Whether the ME has executed all fetched packets.
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
                // The ME meets the error when it has executed the packets before.
                Err(_) if !self.queue.is_empty() => break,
                Err(error) => {
                    let context = self.contexts.enter(fetch.context());
                    report(&context.job(job), Client::Cp);
                    return Err(error);
                }
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
        let context = fetch.context();
        let entered = self.contexts.enter(context);
        let job = &entered.job(job);
        let mc = job.mc;
        // A fault ahead of the ME: the ME meets it, too, and reports it.
        mc.take_fault();
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
            match (job.hub.generation.pm4.decode)(op, &body) {
                Ok(Packet::Draw(draw)) => {
                    if let IndexSource::Memory(at) = draw.source {
                        indices = self.indices(job, at, draw.indices);
                    }
                }
                Ok(Packet::IndirectBuffer { .. }) if predicate => self.stopped = true,
                Ok(Packet::IndirectBuffer {
                    addr,
                    dwords,
                    context,
                }) => call = Some(job.buffer(addr, dwords, context)),
                Ok(Packet::PfpSyncMe) => self.stopped = true,
                _ => {}
            }
        }
        let rptr = fetch.consume(&ring, 1 + header.body());
        let called = call.map(|buffer| fetch.call(buffer, IB_DEPTH));
        self.rptr = Some(rptr);
        Ok(Fetched {
            header,
            dword,
            context,
            body,
            indices,
            called,
            rptr,
            in_ring: fetch.level() == 0,
            addr,
            position,
        })
    }

    /// The indices of a draw, packed as in `DRAW_INDEX_IMMD`.
    fn indices(&self, job: &Job<'_>, addr: u64, count: u32) -> Option<Vec<u32>> {
        let kind = self
            .index_type
            .unwrap_or_else(|| job.hub.regs.load(vgt::VGT_DMA_INDEX_TYPE));
        let bytes = if kind & 3 == INDEX_32 { 4 } else { 2 } * count as usize;
        if bytes > MAX_INDEX_BYTES {
            return None;
        }
        let mut raw = vec![0; bytes.next_multiple_of(4)];
        // The ME reports indices that cannot be read.
        job.mc.read(addr, &mut raw[..bytes]).ok()?;
        Some(dwords(&raw))
    }

    /// Removes the packet at the head, which the ME has executed. If the PFP
    /// stopped there, it may continue.
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
        let mc = job.mc;
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
            let decode = job.hub.generation.pm4.decode;
            if let Ok(Packet::Draw(draw)) = decode(opcode, &fetched.body) {
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
    /// Fetches ahead, then executes the next packet of the queue.
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
        let context = self.contexts.enter(head.context);
        let job = &context.job(job);
        if self.polls.is_first() {
            pfp.count_stale(job, head);
        }
        let (header, body) = (head.header, head.body.clone());
        self.draw_indices = head.indices.clone();
        self.position = head.position.clone();
        let flow = self.execute(job, ring, header, &body);
        report(job, Client::Cp);
        let flow = flow?;
        if flow == Flow::Wait {
            return Ok(self.polls.wait());
        }
        self.polls.reset();
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
            (Flow::Call(_), Some(followed)) => self.count_call(job.hub, followed),
            (Flow::Call(buffer), None) => self.call(job.hub, buffer),
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
