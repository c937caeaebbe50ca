// SPDX-License-Identifier: MIT
//! The state that all blocks of the chip share: registers, memory, the interrupt
//! line, rings, knobs, counters, trace, semaphores and fault reporting.
//!
//! The blocks depend on the hub, the hub on none of them.

use std::fmt;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use crate::chip::bus::{IrqLine, Mc, McError, RegFile};
use crate::chip::counters::{Counter, Counters};
use crate::chip::family::Model;
use crate::chip::generation::Generation;
use crate::chip::queue::{Engine, EngineId, Knobs, ENGINES};
use crate::chip::regs::ih;
use crate::chip::strict::Strict;
use crate::chip::trace::Trace;

/// Frequency of the GPU clock counter in Hz: the reference clock (27 MHz)
/// that FirmwareInfo reports.
const GPU_CLOCK_HZ: u64 = 27_000_000;

/// Unit that issued a memory access. The discriminant is its number in the
/// fault status register.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
pub(crate) enum Client {
    Cp = 0,
    Dma = 1,
    Uvd = 2,
    Ih = 3,
    Gfx = 4,
}

impl Client {
    fn name(self) -> &'static str {
        match self {
            Client::Cp => "cp",
            Client::Dma => "dma",
            Client::Uvd => "uvd",
            Client::Ih => "ih",
            Client::Gfx => "gfx",
        }
    }
}

/// The number of an error's kind, and the address.
fn kind(error: McError) -> (usize, u64) {
    match error {
        McError::Unmapped(addr) => (0, addr),
        McError::PageFault(addr) => (1, addr),
        McError::GuestRam(addr) => (2, addr),
    }
}

/// Number of kinds of [`McError`].
const FAULT_KINDS: usize = 3;

pub(crate) struct Hub {
    /// The chip.
    pub model: &'static Model,
    /// What the chip's generation changes.
    pub generation: &'static Generation,
    pub regs: Arc<dyn RegFile>,
    pub mc: Arc<dyn Mc>,
    pub irq: Arc<dyn IrqLine>,
    pub knobs: Knobs,
    pub counters: Arc<Counters>,
    /// Caches and buffers of a strict board; `None` on another.
    pub strict: Option<Arc<Strict>>,
    pub trace: Trace,
    pub engines: [Arc<Engine>; ENGINES],
    /// Blocks of pipeline state written since the last draw, a bit for each
    /// 2 KiB from [`STATE_BASE`](crate::chip::gfx::STATE_BASE) on.
    pub gfx_dirty: AtomicU64,
    /// `CP_INT_CNTL` of each of the command processor's rings.
    cp_interrupts: [AtomicU32; 3],
    start: Instant,
    /// Serialises read-modify-write of semaphores by different engines.
    semaphores: Mutex<()>,
    /// Faults already logged: for each kind, a bit for each client.
    faults_logged: [AtomicU32; FAULT_KINDS],
    /// Clients whose packets without effect are already logged, a bit for each.
    unmodelled_logged: AtomicU32,
}

impl fmt::Debug for Hub {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Hub").finish_non_exhaustive()
    }
}

impl Hub {
    #[allow(clippy::too_many_arguments)] // The parts of a chip.
    pub fn new(
        model: &'static Model,
        regs: Arc<dyn RegFile>,
        mc: Arc<dyn Mc>,
        irq: Arc<dyn IrqLine>,
        latency_us: u64,
        rate_mbps: u64,
        trace: Trace,
        strict: Option<Arc<Strict>>,
    ) -> Self {
        let counters = strict
            .as_ref()
            .map_or_else(Arc::default, |s| s.counters.clone());
        let engines = EngineId::ALL.map(|id| Arc::new(Engine::new(id)));
        Self {
            model,
            generation: model.generation,
            regs,
            mc,
            irq,
            knobs: Knobs::new(
                engines.clone(),
                model.generation.rings(),
                latency_us,
                rate_mbps,
            ),
            counters,
            strict,
            trace,
            engines,
            gfx_dirty: AtomicU64::new(u64::MAX),
            cp_interrupts: [const { AtomicU32::new(0) }; 3],
            start: Instant::now(),
            semaphores: Mutex::new(()),
            faults_logged: [const { AtomicU32::new(0) }; FAULT_KINDS],
            unmodelled_logged: AtomicU32::new(0),
        }
    }

    pub fn engine(&self, id: EngineId) -> &Engine {
        &self.engines[id as usize]
    }

    /// Whether a ring has work queued or in flight, or hangs.
    pub fn busy(&self, id: EngineId) -> bool {
        self.engine(id).busy(&self.knobs)
    }

    /// Interrupts that a ring of the command processor may raise, as `CP_INT_CNTL` has them.
    pub fn cp_interrupts(&self, ring: usize) -> u32 {
        self.cp_interrupts[ring % 3].load(Ordering::Relaxed)
    }

    /// Sets them.
    pub fn set_cp_interrupts(&self, ring: usize, value: u32) {
        self.cp_interrupts[ring % 3].store(value, Ordering::Relaxed);
    }

    /// Soft reset of a ring: cancels work in flight and clears an injected hang.
    /// The caller resets the registers.
    pub fn soft_reset(&self, id: EngineId) {
        self.counters.inc(Counter::SoftResets);
        self.trace
            .line("chip", format_args!("soft reset {}", id.name()));
        self.engine(id).reset(&self.knobs);
    }

    /// The GPU clock counter.
    pub fn gpu_clock(&self) -> u64 {
        let elapsed = self.start.elapsed();
        elapsed.as_secs() * GPU_CLOCK_HZ
            + u64::from(elapsed.subsec_nanos()) * GPU_CLOCK_HZ / 1_000_000_000
    }

    /// Updates the registers of the GPU clock counter. Their page is mapped into
    /// the guest, so reads of them do not trap: every other trapped register
    /// access and every interrupt updates them.
    pub fn update_clock(&self) {
        let clock = self.gpu_clock();
        self.regs.store(ih::RLC_GPU_CLOCK_COUNT_LSB, clock as u32);
        let high = (clock >> 32) as u32;
        self.regs.store(ih::RLC_GPU_CLOCK_COUNT_MSB, high);
    }

    /// Reports a failed memory access: counts it, logs it once per kind and
    /// client, and latches it in the VM fault registers.
    pub fn fault(&self, client: Client, error: McError) {
        let (kind, addr) = kind(error);
        // Kind in the low bits, client in the memory-id field of nid.h.
        let status = (1 << kind) | ((client as u32) << 12);
        let vm = &self.generation.vm;
        self.regs.store(vm.fault_status, status);
        self.regs.store(vm.fault_addr, (addr >> 12) as u32);
        self.count_fault(client, error);
    }

    /// As [`Hub::fault`], for an access in VM context `context`. A context other than 0 has fault
    /// registers of its own (`chip::context`).
    pub fn fault_in(&self, context: u8, client: Client, error: McError) {
        match context {
            0 => self.fault(client, error),
            _ => self.count_fault(client, error),
        }
    }

    /// As [`Hub::fault`], without the fault registers.
    fn count_fault(&self, client: Client, error: McError) {
        let (kind, _) = kind(error);
        self.counters.inc(Counter::McFaults);
        let bit = 1 << client as u32;
        if self.faults_logged[kind].fetch_or(bit, Ordering::Relaxed) & bit == 0 {
            log::warn!(
                "{}: memory access failed: {error:x?} (further ones are only counted)",
                client.name()
            );
        }
        self.trace
            .line(client.name(), format_args!("FAULT {error:x?}"));
    }

    /// Counts a packet that the generation's model consumes without executing it, and says
    /// so once for each client.
    pub fn unmodelled(&self, client: Client) {
        self.counters.inc(Counter::Unmodelled);
        let bit = 1 << client as u32;
        if self.unmodelled_logged.fetch_or(bit, Ordering::Relaxed) & bit == 0 {
            let what = match (client, self.generation.draws) {
                (Client::Dma, _) => "copies of parts of tiled surfaces",
                (_, Some(_)) => "some kinds of draws",
                (_, None) => "draws and dispatches",
            };
            log::warn!(
                "{}: {} is modelled without {what}: they do nothing \
                 (further ones are only counted)",
                client.name(),
                self.generation.name
            );
        }
    }

    /// Signals the semaphore at `addr`: increments its 64-bit count.
    pub fn semaphore_signal(&self, addr: u64) -> Result<(), McError> {
        {
            let _guard = self
                .semaphores
                .lock()
                .unwrap_or_else(PoisonError::into_inner);
            let count = self.mc.read_u64(addr)?;
            self.mc.write_u64(addr, count.wrapping_add(1))?;
        }
        for engine in &self.engines {
            engine.kick();
        }
        Ok(())
    }

    /// Tries to take the semaphore at `addr`; false if its count is zero.
    pub fn semaphore_try_wait(&self, addr: u64) -> Result<bool, McError> {
        let _guard = self
            .semaphores
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let count = self.mc.read_u64(addr)?;
        if count == 0 {
            return Ok(false);
        }
        self.mc.write_u64(addr, count - 1)?;
        Ok(true)
    }
}
