// SPDX-License-Identifier: MIT
//! The register side of the rings: submissions, pointers, knobs, resets.
//!
//! An `Engine` is the state that a ring's thread ([`super::engine`]) shares with
//! the registers. It knows nothing of memory or packets, so code that submits
//! work to a ring, wakes it or resets it depends on this module only.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Most batches that may wait; further submissions join the last one.
const MAX_BATCHES: usize = 1024;
/// Longest pause before clock and knobs are checked again.
pub(super) const MAX_PAUSE: Duration = Duration::from_secs(1);

/// The chip's rings. The discriminant is the bit in the hang mask.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
pub enum EngineId {
    /// Graphics command processor.
    Gfx = 0,
    /// Asynchronous DMA engine.
    Dma = 1,
    /// Video decoder.
    Uvd = 2,
    /// Second asynchronous DMA engine, from Cayman on.
    Dma1 = 3,
    /// Second ring of the command processor, from Cayman on.
    Cp1 = 4,
    /// Third ring of the command processor, from Cayman on.
    Cp2 = 5,
}

/// Number of rings; few chips have all.
pub const ENGINES: usize = 6;

impl EngineId {
    /// All rings, in bit order.
    pub const ALL: [EngineId; ENGINES] = [
        EngineId::Gfx,
        EngineId::Dma,
        EngineId::Uvd,
        EngineId::Dma1,
        EngineId::Cp1,
        EngineId::Cp2,
    ];

    /// Name for logs, traces and the command line.
    pub fn name(self) -> &'static str {
        match self {
            EngineId::Gfx => "gfx",
            EngineId::Dma => "dma",
            EngineId::Uvd => "uvd",
            EngineId::Dma1 => "dma1",
            EngineId::Cp1 => "cp1",
            EngineId::Cp2 => "cp2",
        }
    }

    /// Number of the ring among the command processor's; 0 for other engines'.
    pub fn cp_ring(self) -> usize {
        match self {
            EngineId::Cp1 => 1,
            EngineId::Cp2 => 2,
            _ => 0,
        }
    }

    /// Bit of the ring in the hang mask.
    pub fn bit(self) -> u32 {
        1 << self as u32
    }
}

/// A hang to inject: the ring stops after a number of packets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hang {
    /// Ring to hang.
    pub engine: EngineId,
    /// Packets it still executes.
    pub after: u64,
}

impl std::str::FromStr for Hang {
    type Err = String;

    /// Parses `RING@N`, RING being a ring's [`name`](EngineId::name).
    fn from_str(text: &str) -> Result<Self, String> {
        let (ring, after) = text
            .split_once('@')
            .ok_or_else(|| format!("'{text}' is not RING@N"))?;
        let engine = EngineId::ALL
            .into_iter()
            .find(|e| e.name() == ring)
            .ok_or_else(|| {
                format!("no ring '{ring}': gfx, dma or uvd, and of Cayman dma1, cp1 or cp2")
            })?;
        let after = after
            .parse()
            .map_err(|_| format!("'{after}' is not a number of packets"))?;
        Ok(Hang { engine, after })
    }
}

/// Run-time knobs of the engines. Changes take effect at once, also on work
/// that is already waiting.
#[derive(Debug)]
pub struct Knobs {
    latency_us: AtomicU64,
    rate_mbps: AtomicU64,
    hung: AtomicU32,
    hang_after: [AtomicU64; ENGINES],
    /// The chip's rings.
    present: u32,
    engines: [Arc<Engine>; ENGINES],
}

impl Knobs {
    /// Knobs of a chip with the rings whose bits are set in `present`.
    pub(crate) fn new(
        engines: [Arc<Engine>; ENGINES],
        present: u32,
        latency_us: u64,
        rate_mbps: u64,
    ) -> Self {
        Self {
            latency_us: AtomicU64::new(latency_us),
            rate_mbps: AtomicU64::new(rate_mbps),
            hung: AtomicU32::new(0),
            hang_after: [const { AtomicU64::new(u64::MAX) }; ENGINES],
            present,
            engines,
        }
    }

    fn kick(&self) {
        for engine in &self.engines {
            engine.kick();
        }
    }

    /// Delay in microseconds between a submission and the start of its work.
    pub fn latency_us(&self) -> u64 {
        self.latency_us.load(Ordering::Relaxed)
    }

    /// Sets the delay of submissions, in microseconds.
    pub fn set_latency_us(&self, us: u64) {
        self.latency_us.store(us, Ordering::Relaxed);
        self.kick();
    }

    /// Rate of copies in MB/s (10^6 bytes); 0 is unlimited.
    pub fn rate_mbps(&self) -> u64 {
        self.rate_mbps.load(Ordering::Relaxed)
    }

    /// Sets the rate of copies in MB/s; 0 is unlimited.
    pub fn set_rate_mbps(&self, mbps: u64) {
        self.rate_mbps.store(mbps, Ordering::Relaxed);
        self.kick();
    }

    /// Hangs every ring of the chip whose bit is set in `mask`, until its soft reset.
    pub fn set_hang(&self, mask: u32) {
        self.hung.fetch_or(mask & self.present, Ordering::Relaxed);
        self.kick();
    }

    /// Mask of the rings that hang.
    pub fn hung(&self) -> u32 {
        self.hung.load(Ordering::Relaxed)
    }

    /// Hangs a ring after it has executed `hang.after` more packets.
    pub fn hang_after(&self, hang: Hang) {
        self.hang_after[hang.engine as usize].store(hang.after, Ordering::Relaxed);
        if hang.after == 0 {
            self.packet_done(hang.engine);
        }
    }

    /// Counts a packet against the injected hang.
    pub(super) fn packet_done(&self, id: EngineId) {
        let left = &self.hang_after[id as usize];
        match left.load(Ordering::Relaxed) {
            u64::MAX => {}
            0 | 1 => {
                left.store(u64::MAX, Ordering::Relaxed);
                self.hung.fetch_or(id.bit(), Ordering::Relaxed);
                log::info!("{}: injected hang", id.name());
            }
            n => left.store(n - 1, Ordering::Relaxed),
        }
    }

    fn clear_hang(&self, id: EngineId) {
        self.hung.fetch_and(!id.bit(), Ordering::Relaxed);
    }

    pub(super) fn is_hung(&self, id: EngineId) -> bool {
        self.hung() & id.bit() != 0
    }
}

/// The work in flight was cancelled by a reset or by the end of the board.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cancelled;

/// A ring as the registers describe it at this moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Ring {
    /// MC address of the first dword.
    pub base: u64,
    /// Size in dwords, a power of two.
    pub size: u32,
    /// Next dword to execute.
    pub rptr: u32,
    /// First dword not to execute.
    pub limit: u32,
}

impl Ring {
    /// Dwords between the pointers.
    pub fn available(&self) -> u32 {
        self.limit.wrapping_sub(self.rptr) & (self.size - 1)
    }

    /// Read pointer after `dwords` more.
    pub fn advanced(&self, dwords: u32) -> u32 {
        self.rptr.wrapping_add(dwords) & (self.size - 1)
    }
}

#[derive(Debug)]
struct Batch {
    wptr: u32,
    submitted: Instant,
}

#[derive(Debug)]
pub(super) struct Shared {
    pub rptr: u32,
    pub limit: u32,
    batches: VecDeque<Batch>,
    /// Set while the thread executes a packet, for which it drops the lock.
    pub stepping: bool,
    /// Threads that wait in [`Engine::quiesce`]. A wake-up is a system call, whether anybody waits
    /// or not, and packets are many.
    quiescing: usize,
    /// Threads that wait in [`Engine::wait_idle`].
    waiting: usize,
    /// An indirect buffer is in flight.
    pub active: bool,
    /// The packet at `rptr` needs dwords beyond `limit`.
    pub starved: bool,
    /// Bytes of copy not yet paid for by the rate knob, as of `charged_at`.
    pub debt: f64,
    pub charged_at: Instant,
}

impl Shared {
    /// Whether nothing is queued or in flight.
    fn is_idle(&self) -> bool {
        !self.active && self.rptr == self.limit && self.batches.is_empty()
    }

    /// Whether a batch is queued whose latency has passed.
    pub(super) fn is_due(&self, knobs: &Knobs) -> bool {
        let latency = Duration::from_micros(knobs.latency_us());
        (self.batches.front()).is_some_and(|batch| batch.submitted.elapsed() >= latency)
    }
}

/// State of a ring shared between its thread and the register file.
#[derive(Debug)]
pub(crate) struct Engine {
    pub(super) id: EngineId,
    pub(super) epoch: AtomicU64,
    pub(super) stop: AtomicBool,
    shared: Mutex<Shared>,
    wake: Condvar,
}

impl Engine {
    pub fn new(id: EngineId) -> Self {
        Self {
            id,
            epoch: AtomicU64::new(0),
            stop: AtomicBool::new(false),
            shared: Mutex::new(Shared {
                rptr: 0,
                limit: 0,
                batches: VecDeque::new(),
                stepping: false,
                quiescing: 0,
                waiting: 0,
                active: false,
                starved: false,
                debt: 0.0,
                charged_at: Instant::now(),
            }),
            wake: Condvar::new(),
        }
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, Shared> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn wait_timeout<'a>(
        &self,
        shared: MutexGuard<'a, Shared>,
        timeout: Duration,
    ) -> MutexGuard<'a, Shared> {
        self.wake
            .wait_timeout(shared, timeout)
            .unwrap_or_else(PoisonError::into_inner)
            .0
    }

    /// Makes the thread check registers and knobs again.
    pub fn kick(&self) {
        drop(self.lock());
        self.wake.notify_all();
    }

    /// Queues the work up to `wptr` (dwords) as one batch.
    pub fn submit(&self, wptr: u32) {
        let mut shared = self.lock();
        let end = shared.batches.back().map_or(shared.limit, |b| b.wptr);
        if end == wptr {
            // Nothing new, as when the driver initialises the pointers.
            return;
        }
        let batch = Batch {
            wptr,
            submitted: Instant::now(),
        };
        if shared.batches.len() < MAX_BATCHES {
            shared.batches.push_back(batch);
        } else if let Some(last) = shared.batches.back_mut() {
            *last = batch;
        }
        drop(shared);
        self.wake.notify_all();
    }

    /// Sets the read pointer (dwords), as the driver does before it starts a
    /// ring. Work queued so far is dropped.
    pub fn set_rptr(&self, rptr: u32) {
        let mut shared = self.lock();
        shared.batches.clear();
        shared.rptr = rptr;
        shared.limit = rptr;
        shared.starved = false;
    }

    /// Cancels everything, clears an injected hang and both pointers.
    pub fn reset(&self, knobs: &Knobs) {
        let mut shared = self.lock();
        self.epoch.fetch_add(1, Ordering::AcqRel);
        shared.batches.clear();
        shared.rptr = 0;
        shared.limit = 0;
        shared.active = false;
        shared.starved = false;
        shared.debt = 0.0;
        knobs.clear_hang(self.id);
        drop(shared);
        self.wake.notify_all();
    }

    /// Notes that the thread has executed a packet, and wakes [`Engine::quiesce`].
    pub(super) fn stepped(&self, shared: &mut Shared) {
        shared.stepping = false;
        if shared.quiescing > 0 {
            self.wake.notify_all();
        }
    }

    /// Notes that the thread has nothing to do, and wakes [`Engine::wait_idle`].
    pub(super) fn idles(&self, shared: &Shared) {
        if shared.waiting > 0 {
            self.wake.notify_all();
        }
    }

    /// Waits for the end of the packet that executes now. Call it after
    /// [`Engine::reset`], which cancels the packet, and never on the ring's thread.
    pub fn quiesce(&self) {
        let mut shared = self.lock();
        shared.quiescing += 1;
        while shared.stepping {
            shared = self.sleep(shared);
        }
        shared.quiescing -= 1;
    }

    /// Waits until nothing is queued or in flight, or `timeout` is over. True if nothing is.
    /// Never call it on the ring's thread.
    pub fn wait_idle(&self, timeout: Duration) -> bool {
        let start = Instant::now();
        let mut shared = self.lock();
        shared.waiting += 1;
        let idle = loop {
            if shared.is_idle() {
                break true;
            }
            let left = timeout.saturating_sub(start.elapsed());
            if left.is_zero() {
                break false;
            }
            shared = self.wait_timeout(shared, left);
        };
        shared.waiting -= 1;
        idle
    }

    /// Ends the thread; the caller joins it.
    pub fn stop(&self) {
        self.stop.store(true, Ordering::Release);
        self.kick();
    }

    /// Whether work is queued or in flight, or the ring hangs.
    pub fn busy(&self, knobs: &Knobs) -> bool {
        let shared = self.lock();
        knobs.is_hung(self.id) || !shared.is_idle()
    }

    pub(super) fn sleep<'a>(&self, shared: MutexGuard<'a, Shared>) -> MutexGuard<'a, Shared> {
        self.wake
            .wait(shared)
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Admits the next batch if its latency has passed, else sleeps for it.
    pub(super) fn admit<'a>(
        &self,
        mut shared: MutexGuard<'a, Shared>,
        knobs: &Knobs,
    ) -> MutexGuard<'a, Shared> {
        let Some(batch) = shared.batches.front() else {
            return self.sleep(shared);
        };
        let latency = Duration::from_micros(knobs.latency_us());
        let passed = batch.submitted.elapsed();
        if passed < latency {
            return self.wait_timeout(shared, (latency - passed).min(MAX_PAUSE));
        }
        shared.limit = batch.wptr;
        shared.starved = false;
        shared.batches.pop_front();
        shared
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ring_wrapped_pointers_count_modulo_size() {
        let ring = Ring {
            base: 0,
            size: 16,
            rptr: 14,
            limit: 3,
        };
        assert_eq!(ring.available(), 5);
        assert_eq!(ring.advanced(5), 3);
    }

    #[test]
    fn hang_text_is_ring_at_packets() {
        let hang: Hang = "dma@12".parse().unwrap();
        assert_eq!(
            hang,
            Hang {
                engine: EngineId::Dma,
                after: 12
            }
        );
        for bad in ["dma", "cpu@1", "gfx@", "gfx@-1", ""] {
            assert!(bad.parse::<Hang>().is_err(), "{bad}");
        }
    }

    #[test]
    fn submit_flood_keeps_queue_bounded() {
        let engine = Engine::new(EngineId::Gfx);
        for wptr in 0..10_000 {
            engine.submit(wptr);
        }
        let shared = engine.lock();
        assert_eq!(shared.batches.len(), MAX_BATCHES);
        assert_eq!(shared.batches.back().unwrap().wptr, 9_999);
    }
}
