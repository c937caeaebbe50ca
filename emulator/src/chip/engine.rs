// SPDX-License-Identifier: MIT
//! Ring engines: threads, submission, latency, rate, hang and reset.
//!
//! Each of the chip's rings (graphics CP, asynchronous DMA, UVD) is an
//! `Engine` driven by a thread of its own. A write-pointer write only queues
//! a *batch* and wakes the thread, so that nothing ever finishes inside a
//! register write. What a packet does is the business of a `RingUnit`.
//!
//! Locks: `Engine::shared` is never held while a packet executes or a copy is
//! throttled. It may be taken while no other lock of the chip is held; while
//! it is held only the memory controller (pointer write-back) is called.
//!
//! Cancellation: every reset raises the engine's epoch. A packet in flight
//! sees it at the next chunk or pause and gives up; its result is discarded.

use std::collections::VecDeque;
use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::chip::bus::McError;
use crate::chip::counters::Counter;
use crate::chip::fetch::FetchError;
use crate::chip::gfx::Control;
use crate::chip::hub::{Client, Hub};

/// Batches that may wait at once; further submissions join the last one.
const MAX_BATCHES: usize = 1024;
/// Bytes copied between two looks at the clock and the epoch.
pub(crate) const COPY_CHUNK: usize = 64 << 10;

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
}

/// Number of rings.
pub const ENGINES: usize = 3;

impl EngineId {
    /// All rings, in bit order.
    pub const ALL: [EngineId; ENGINES] = [EngineId::Gfx, EngineId::Dma, EngineId::Uvd];

    /// Name for logs, traces and the command line.
    pub fn name(self) -> &'static str {
        match self {
            EngineId::Gfx => "gfx",
            EngineId::Dma => "dma",
            EngineId::Uvd => "uvd",
        }
    }

    /// Bit of the ring in the hang mask.
    pub fn bit(self) -> u32 {
        1 << self as u32
    }
}

/// A hang to be injected: the ring stops after that many packets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hang {
    /// Ring to hang.
    pub engine: EngineId,
    /// Packets it still executes.
    pub after: u64,
}

impl std::str::FromStr for Hang {
    type Err = String;

    /// Parses `RING@N`, RING being `gfx`, `dma` or `uvd`.
    fn from_str(text: &str) -> Result<Self, String> {
        let (ring, after) = text
            .split_once('@')
            .ok_or_else(|| format!("'{text}' is not RING@N"))?;
        let engine = EngineId::ALL
            .into_iter()
            .find(|e| e.name() == ring)
            .ok_or_else(|| format!("no ring '{ring}': gfx, dma or uvd"))?;
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
    engines: [Arc<Engine>; ENGINES],
}

impl Knobs {
    pub(crate) fn new(engines: [Arc<Engine>; ENGINES], latency_us: u64, rate_mbps: u64) -> Self {
        Self {
            latency_us: AtomicU64::new(latency_us),
            rate_mbps: AtomicU64::new(rate_mbps),
            hung: AtomicU32::new(0),
            hang_after: [const { AtomicU64::new(u64::MAX) }; ENGINES],
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

    /// Hangs every ring whose bit is set in `mask`, until its soft reset.
    pub fn set_hang(&self, mask: u32) {
        let all = EngineId::ALL.iter().fold(0, |m, e| m | e.bit());
        self.hung.fetch_or(mask & all, Ordering::Relaxed);
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
    fn packet_done(&self, id: EngineId) {
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

    fn is_hung(&self, id: EngineId) -> bool {
        self.hung() & id.bit() != 0
    }
}

/// The work in flight was cancelled by a reset or by the end of the board.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cancelled;

/// Why a piece of work ended early: an error of its own, or the engine was
/// reset or stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ended<E> {
    /// The work cannot be done.
    Failed(E),
    /// Nobody wants it any more.
    Cancelled,
}

impl<E> From<Cancelled> for Ended<E> {
    fn from(_: Cancelled) -> Self {
        Ended::Cancelled
    }
}

impl From<McError> for Ended<McError> {
    fn from(error: McError) -> Self {
        Ended::Failed(error)
    }
}

impl From<FetchError> for Ended<FetchError> {
    fn from(error: FetchError) -> Self {
        Ended::Failed(error)
    }
}

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

/// Outcome of executing one packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    /// A packet was executed; the ring's read pointer is now `rptr`.
    Done { rptr: u32 },
    /// The packet at the read pointer is not complete yet.
    Starved,
    /// The packet waits for memory, a register or a semaphore: ask again.
    Wait(Duration),
    /// Reset or shutdown happened while the packet executed.
    Cancelled,
}

/// What differs between the rings: where the pointers live and what packets
/// mean. Runs on the engine's thread only.
pub(crate) trait RingUnit: Send {
    /// Base and size of the ring from the registers (`rptr`, `limit` unset).
    fn ring(&self, hub: &Hub) -> Ring;
    /// Whether the registers let the engine run.
    fn enabled(&self, hub: &Hub) -> bool;
    /// Publishes the read pointer (register and write-back).
    fn publish_rptr(&self, hub: &Hub, rptr: u32);
    /// Executes the packet at `ring.rptr`, or the next of the indirect buffer.
    fn step(&mut self, job: &Job<'_>, ring: &Ring) -> Step;
    /// Whether no indirect buffer is in flight.
    fn idle(&self) -> bool;
    /// Forgets everything in flight.
    fn reset(&mut self);
}

/// One packet's view of the chip: memory, registers and cancellation.
pub(crate) struct Job<'a> {
    pub hub: &'a Hub,
    pub engine: &'a Engine,
    epoch: u64,
}

impl Control for Job<'_> {
    fn check(&self) -> Result<(), Cancelled> {
        Job::check(self)
    }

    fn charge(&self, bytes: u64) -> Result<(), Cancelled> {
        self.throttle(bytes)
    }

    fn fault(&self, error: McError) {
        self.hub.fault(Client::Gfx, error);
    }

    fn count(&self, counter: Counter, n: u64) {
        self.hub.counters.add(counter, n);
    }

    fn trace(&self, line: fmt::Arguments<'_>) {
        self.hub.trace.line("gfx", line);
    }

    fn take_dirty(&self) -> u64 {
        self.hub.gfx_dirty.swap(0, Ordering::AcqRel)
    }
}

impl Job<'_> {
    /// Fails once the packet's work has become void.
    pub fn check(&self) -> Result<(), Cancelled> {
        if self.engine.stop.load(Ordering::Acquire)
            || self.engine.epoch.load(Ordering::Acquire) != self.epoch
        {
            Err(Cancelled)
        } else {
            Ok(())
        }
    }

    /// Charges `bytes` of copy to the rate knob and sleeps off the debt.
    pub fn throttle(&self, bytes: u64) -> Result<(), Cancelled> {
        self.check()?;
        let mut last = Instant::now();
        let mut debt = {
            let mut shared = self.engine.lock();
            // Time since the last charge has paid for some of the old debt. A
            // little credit is kept, so that oversleeping evens out.
            let paid = last.saturating_duration_since(shared.charged_at);
            let credit = self.rate() * CREDIT.as_secs_f64();
            shared.debt = (shared.debt - paid.as_secs_f64() * self.rate()).max(-credit);
            shared.debt + bytes as f64
        };
        loop {
            let rate = self.rate();
            if rate <= 0.0 {
                debt = 0.0;
            }
            // Below the timers' resolution debt is carried to the next charge.
            let due =
                Duration::try_from_secs_f64(debt.max(0.0) / rate.max(1.0)).unwrap_or(MAX_PAUSE);
            let mut shared = self.engine.lock();
            if debt <= 0.0 || due < MIN_PAUSE {
                shared.debt = debt;
                shared.charged_at = last;
                return self.check();
            }
            self.check()?;
            shared = self.engine.wait_timeout(shared, due.min(MAX_PAUSE));
            drop(shared);
            self.check()?;
            let now = Instant::now();
            debt -= (now - last).as_secs_f64() * rate;
            last = now;
        }
    }

    fn rate(&self) -> f64 {
        self.hub.knobs.rate_mbps() as f64 * 1e6
    }
}

/// Shortest pause worth a system call, longest one without looking again.
const MIN_PAUSE: Duration = Duration::from_micros(50);
const MAX_PAUSE: Duration = Duration::from_secs(1);
/// Time a copy may run ahead of the rate after a pause that took too long.
const CREDIT: Duration = Duration::from_millis(1);

#[derive(Debug)]
struct Batch {
    wptr: u32,
    submitted: Instant,
}

#[derive(Debug)]
struct Shared {
    rptr: u32,
    limit: u32,
    batches: VecDeque<Batch>,
    /// An indirect buffer is in flight.
    active: bool,
    /// The packet at `rptr` needs dwords beyond `limit`.
    starved: bool,
    /// Bytes of copy not yet paid for by the rate knob, as of `charged_at`.
    debt: f64,
    charged_at: Instant,
}

/// State of a ring shared between its thread and the register file.
#[derive(Debug)]
pub(crate) struct Engine {
    id: EngineId,
    epoch: AtomicU64,
    stop: AtomicBool,
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
                active: false,
                starved: false,
                debt: 0.0,
                charged_at: Instant::now(),
            }),
            wake: Condvar::new(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Shared> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait_timeout<'a>(
        &self,
        shared: MutexGuard<'a, Shared>,
        timeout: Duration,
    ) -> MutexGuard<'a, Shared> {
        self.wake
            .wait_timeout(shared, timeout)
            .unwrap_or_else(PoisonError::into_inner)
            .0
    }

    /// Makes the thread look at registers and knobs again.
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
    pub fn reset(&self, hub: &Hub) {
        let mut shared = self.lock();
        self.epoch.fetch_add(1, Ordering::AcqRel);
        shared.batches.clear();
        shared.rptr = 0;
        shared.limit = 0;
        shared.active = false;
        shared.starved = false;
        shared.debt = 0.0;
        hub.knobs.clear_hang(self.id);
        drop(shared);
        self.wake.notify_all();
    }

    /// Ends the thread; the caller joins it.
    pub fn stop(&self) {
        self.stop.store(true, Ordering::Release);
        self.kick();
    }

    /// Whether work is queued or in flight, or the ring hangs.
    pub fn busy(&self, hub: &Hub) -> bool {
        let shared = self.lock();
        hub.knobs.is_hung(self.id)
            || shared.active
            || shared.rptr != shared.limit
            || !shared.batches.is_empty()
    }

    /// Body of the engine's thread.
    pub fn run(&self, hub: &Hub, unit: &mut dyn RingUnit) {
        let mut epoch = self.epoch.load(Ordering::Acquire);
        let mut shared = self.lock();
        while !self.stop.load(Ordering::Acquire) {
            let now_epoch = self.epoch.load(Ordering::Acquire);
            if epoch != now_epoch {
                epoch = now_epoch;
                unit.reset();
            }
            if hub.knobs.is_hung(self.id) || !unit.enabled(hub) {
                shared = self.sleep(shared);
                continue;
            }
            let mut ring = unit.ring(hub);
            ring.rptr = shared.rptr & (ring.size - 1);
            ring.limit = shared.limit & (ring.size - 1);
            if !shared.active && (shared.starved || ring.available() == 0) {
                shared = self.admit(shared, hub);
                continue;
            }
            drop(shared);

            let job = Job {
                hub,
                engine: self,
                epoch,
            };
            let step = unit.step(&job, &ring);

            shared = self.lock();
            if self.epoch.load(Ordering::Acquire) != epoch {
                continue;
            }
            match step {
                Step::Done { rptr } => {
                    if shared.rptr != rptr {
                        shared.rptr = rptr;
                        unit.publish_rptr(hub, rptr);
                    }
                    shared.active = !unit.idle();
                    hub.knobs.packet_done(self.id);
                    hub.counters.inc(match self.id {
                        EngineId::Gfx => Counter::Pm4Packets,
                        EngineId::Dma => Counter::DmaPackets,
                        EngineId::Uvd => Counter::UvdPackets,
                    });
                }
                Step::Starved => shared.starved = true,
                Step::Wait(pause) => shared = self.wait_timeout(shared, pause),
                Step::Cancelled => {}
            }
        }
    }

    fn sleep<'a>(&self, shared: MutexGuard<'a, Shared>) -> MutexGuard<'a, Shared> {
        self.wake
            .wait(shared)
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Admits the next batch if its latency has passed, else sleeps for it.
    fn admit<'a>(&self, mut shared: MutexGuard<'a, Shared>, hub: &Hub) -> MutexGuard<'a, Shared> {
        let Some(batch) = shared.batches.front() else {
            return self.sleep(shared);
        };
        let latency = Duration::from_micros(hub.knobs.latency_us());
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
