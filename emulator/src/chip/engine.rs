// SPDX-License-Identifier: MIT
//! Ring engines: their threads, latency, rate and cancellation.
//!
//! Each of the chip's rings (graphics CP, asynchronous DMA, UVD) is an
//! `Engine` driven by a thread of its own. A write-pointer write only queues
//! a *batch* and wakes the thread, so no work is done inside a register write.
//! A `RingUnit` executes the packets.
//!
//! Locks: `Engine::shared` is never held while a packet executes or a copy is
//! throttled. It may be taken while no other lock of the chip is held; while
//! it is held only the memory controller (pointer write-back) is called.
//!
//! Cancellation: every reset increments the engine's epoch. A packet in flight
//! sees the change at its next chunk or pause and ends; its result is discarded.

use std::fmt;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use crate::chip::bus::{Mc, McError, Registers};
use crate::chip::counters::Counter;
use crate::chip::fetch::Buffer;
use crate::chip::gfx::Control;
use crate::chip::hub::{Client, Hub};
use crate::chip::ih::Ih;
use crate::chip::queue::MAX_PAUSE;
pub use crate::chip::queue::{Cancelled, EngineId, Hang, Knobs, ENGINES};
pub(crate) use crate::chip::queue::{Engine, Ring};
use crate::chip::strict::gfx::Caches;

/// Bytes copied between two checks of the rate and for a reset.
pub(crate) const COPY_CHUNK: usize = 64 << 10;

/// Why a piece of work ended early: an error of its own, or the engine was
/// reset or stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ended<E> {
    /// The work cannot be done.
    Failed(E),
    /// The engine was reset or stopped.
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

/// Outcome of executing one packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    /// A packet was executed; the ring's read pointer is now `rptr`.
    Done { rptr: u32 },
    /// The packet at the read pointer is not complete yet.
    Starved,
    /// The packet waits for memory, a register or a semaphore: try again after
    /// this pause.
    Wait(Duration),
    /// Reset or shutdown happened while the packet executed.
    Cancelled,
    /// No packet was executed: what earlier ones had begun has ended.
    Settled,
}

/// Counts how often the packet at the read pointer had to wait, to make each pause longer.
#[derive(Debug, Default)]
pub(crate) struct Polls(u32);

impl Polls {
    /// First and longest pause.
    const FIRST: Duration = Duration::from_micros(20);
    const LONGEST: Duration = Duration::from_millis(1);

    /// True until the packet has to wait.
    pub fn is_first(&self) -> bool {
        self.0 == 0
    }

    /// The packet has to wait: returns the step with the next pause.
    pub fn wait(&mut self) -> Step {
        let pause = Self::FIRST * (1 << self.0.min(6));
        self.0 = self.0.saturating_add(1);
        Step::Wait(pause.min(Self::LONGEST))
    }

    /// Starts anew, for the next packet.
    pub fn reset(&mut self) {
        self.0 = 0;
    }
}

/// The part of an engine that differs between the rings: registers and packets.
/// Runs on the engine's thread only.
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
    /// Whether something that packets have begun has not ended.
    fn unsettled(&self) -> bool {
        false
    }
    /// Ends it. Called when the ring has nothing to execute.
    fn settle(&mut self, _job: &Job<'_>) {}
    /// Forgets everything in flight.
    fn reset(&mut self);
}

/// Context in which a packet executes: memory, registers and cancellation.
#[derive(Clone, Copy)]
pub(crate) struct Job<'a> {
    pub hub: &'a Hub,
    /// Memory, by the addresses of VM context `context`.
    pub mc: &'a dyn Mc,
    /// VM context of the packet.
    pub context: u8,
    pub ih: &'a Ih,
    /// All registers, with their side effects.
    pub registers: &'a dyn Registers,
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
        self.report(Client::Gfx, error);
    }

    fn count(&self, counter: Counter, n: u64) {
        self.hub.counters.add(counter, n);
    }

    fn caches(&self) -> Option<&Caches> {
        self.hub.strict.as_ref().map(|strict| &strict.caches)
    }

    fn unknown(&self, what: &'static str, code: u32) {
        self.hub.counters.unknown(what, code);
    }

    fn trace(&self, line: fmt::Arguments<'_>) {
        self.hub.trace.line("gfx", line);
    }

    fn take_dirty(&self) -> u64 {
        self.hub.gfx_dirty.swap(0, Ordering::AcqRel)
    }
}

impl<'a> Job<'a> {
    /// The same, in VM context `context`, whose addresses `mc` translates.
    pub fn within<'b>(&self, context: u8, mc: &'b dyn Mc) -> Job<'b>
    where
        'a: 'b,
    {
        Job {
            mc,
            context,
            ..*self
        }
    }

    /// An indirect buffer that this packet calls; in a context other than 0, its own.
    pub fn buffer(&self, addr: u64, dwords: u32, context: u8) -> Buffer {
        let context = match self.context {
            0 => context,
            own => own,
        };
        Buffer {
            addr,
            dwords,
            context,
        }
    }

    /// Reports a failed memory access.
    pub fn report(&self, client: Client, error: McError) {
        self.hub.fault_in(self.context, client, error);
    }

    /// Fails if the engine has been reset or stopped since the packet began.
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
            // The time since the last charge reduces the debt. A little credit is
            // kept, so that pauses that took too long even out.
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
            // Debt too short for a timer is carried over to the next charge.
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

/// Shortest pause worth a system call.
const MIN_PAUSE: Duration = Duration::from_micros(50);
/// Time a copy may run ahead of the rate after a pause that took too long.
const CREDIT: Duration = Duration::from_millis(1);

/// Body of the thread of ring `id`. Returns when the engine is stopped.
pub(crate) fn run(
    id: EngineId,
    hub: &Hub,
    ih: &Ih,
    registers: &dyn Registers,
    unit: &mut dyn RingUnit,
) {
    let engine = hub.engine(id);
    let mut epoch = engine.epoch.load(Ordering::Acquire);
    let mut shared = engine.lock();
    // When the last packet ended, if the next one follows at once.
    let mut ended = None;
    while !engine.stop.load(Ordering::Acquire) {
        let now_epoch = engine.epoch.load(Ordering::Acquire);
        if epoch != now_epoch {
            epoch = now_epoch;
            unit.reset();
        }
        let stopped = hub.knobs.is_hung(engine.id) || !unit.enabled(hub);
        let mut ring = unit.ring(hub);
        ring.rptr = shared.rptr & (ring.size - 1);
        ring.limit = shared.limit & (ring.size - 1);
        let idle = !shared.active && (shared.starved || ring.available() == 0);
        let sleeps = stopped || idle && !shared.is_due(&hub.knobs);
        let settles = sleeps && unit.unsettled();
        let start = ended.take();
        if stopped && !settles {
            shared = engine.sleep(shared);
            continue;
        }
        if idle && !settles {
            engine.idles(&shared);
            shared = engine.admit(shared, &hub.knobs);
            continue;
        }
        shared.stepping = true;
        drop(shared);

        let job = Job {
            hub,
            mc: &*hub.mc,
            context: 0,
            ih,
            registers,
            engine,
            epoch,
        };
        let start = start.unwrap_or_else(Instant::now);
        // A panic is a fault of the board; the guest sees a ring that hangs.
        let step = catch_unwind(AssertUnwindSafe(|| match settles {
            true => {
                unit.settle(&job);
                Step::Settled
            }
            false => unit.step(&job, &ring),
        }));
        let step = step.unwrap_or_else(|_| {
            log::error!("{}: the engine panicked, it hangs until reset", id.name());
            hub.counters.inc(Counter::EnginePanics);
            hub.knobs.set_hang(id.bit());
            unit.reset();
            Step::Cancelled
        });

        if !matches!(step, Step::Wait(_)) {
            let now = Instant::now();
            let ns = u64::try_from((now - start).as_nanos()).unwrap_or(u64::MAX);
            hub.counters.add(Counter::BusyNs, ns);
            ended = Some(now);
        }

        shared = engine.lock();
        engine.stepped(&mut shared);
        if engine.epoch.load(Ordering::Acquire) != epoch {
            continue;
        }
        match step {
            Step::Done { rptr } => {
                if shared.rptr != rptr {
                    shared.rptr = rptr;
                    unit.publish_rptr(hub, rptr);
                }
                shared.active = !unit.idle();
                hub.knobs.packet_done(engine.id);
                hub.counters.inc(match engine.id {
                    EngineId::Gfx | EngineId::Cp1 | EngineId::Cp2 => Counter::Pm4Packets,
                    EngineId::Dma | EngineId::Dma1 => Counter::DmaPackets,
                    EngineId::Uvd => Counter::UvdPackets,
                });
            }
            Step::Starved => shared.starved = true,
            Step::Wait(pause) => shared = engine.wait_timeout(shared, pause),
            Step::Cancelled | Step::Settled => {}
        }
    }
}
