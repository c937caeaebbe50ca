// SPDX-License-Identifier: MIT
//! Life of the chip: power-on, start of its threads, reset, shutdown.

use std::io::Write;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use crate::chip::bus::{IrqLine, Mc, RegFile, Registers};
use crate::chip::context::Contexts;
use crate::chip::counters::{Counter, Counters};
use crate::chip::cp::Cp;
use crate::chip::dispatch::Blocks;
use crate::chip::display::Scanout;
use crate::chip::dma::Dma;
use crate::chip::engine::{self, RingUnit};
use crate::chip::family::Family;
use crate::chip::gfx::{Gfx, NullGfx, Pipeline};
use crate::chip::hub::Hub;
use crate::chip::queue::{EngineId, Hang, Knobs};
use crate::chip::regs::{self, cp};
use crate::chip::strict::Strict;
use crate::chip::trace::Trace;
use crate::chip::uvd::Uvd;

/// Configuration of a chip.
pub struct ChipConfig {
    /// Family member.
    pub family: Family,
    /// VRAM in bytes, as `CONFIG_MEMSIZE` reports it (less than 4 GiB).
    pub vram_size: u64,
    /// Delay of submissions in microseconds.
    pub latency_us: u64,
    /// Rate of copies in MB/s, 0 for unlimited.
    pub rate_mbps: u64,
    /// Destination of the packet and register trace, if wanted.
    pub trace: Option<Box<dyn Write + Send>>,
    /// Hang to inject.
    pub hang: Option<Hang>,
    /// Caches and buffers of a strict board; `None` for another.
    pub strict: Option<Arc<Strict>>,
}

/// The chip. Methods may be called from any thread.
pub struct Chip {
    blocks: Arc<Blocks>,
    family: Family,
    vram_size: u64,
    threads: Mutex<Vec<JoinHandle<()>>>,
}

impl Chip {
    /// Builds a chip in power-on state and starts its threads.
    pub fn new(
        config: ChipConfig,
        regs: Arc<dyn RegFile>,
        mc: Arc<dyn Mc>,
        irq: Arc<dyn IrqLine>,
    ) -> Arc<Chip> {
        Self::with_gfx(config, regs, mc, irq, Box::<Pipeline>::default())
    }

    /// As [`Chip::new`], with another graphics block. A generation whose draws are not modelled
    /// has none.
    pub fn with_gfx(
        config: ChipConfig,
        regs: Arc<dyn RegFile>,
        mc: Arc<dyn Mc>,
        irq: Arc<dyn IrqLine>,
        gfx: Box<dyn Gfx>,
    ) -> Arc<Chip> {
        let trace = Trace::new(config.trace);
        if let Some(strict) = &config.strict {
            let vertices_as_texels = config.family.model().vertices_as_texels;
            strict.caches.set_vertices_as_texels(vertices_as_texels);
        }
        let hub = Hub::new(
            config.family.model(),
            regs,
            mc,
            irq,
            config.latency_us,
            config.rate_mbps,
            trace,
            config.strict,
        );
        if let Some(hang) = config.hang {
            hub.knobs.hang_after(hang);
        }
        let chip = Arc::new(Chip {
            blocks: Arc::new(Blocks::new(Arc::new(hub))),
            family: config.family,
            vram_size: config.vram_size,
            threads: Mutex::new(Vec::new()),
        });
        chip.power_on();
        chip.start(gfx);
        chip
    }

    fn start(&self, gfx: Box<dyn Gfx>) {
        let gfx = match self.hub().generation.draws {
            Some(front) => {
                let mut gfx = gfx;
                gfx.set_front(front);
                gfx.set_family(self.family);
                gfx
            }
            None => Box::<NullGfx>::default(),
        };
        let hub = self.hub();
        let mut units: Vec<(EngineId, Box<dyn RingUnit>)> = Vec::new();
        let mut gfx = Some(gfx);
        for ring in hub.generation.cp_rings {
            // Only the first ring draws.
            let gfx = gfx.take().unwrap_or_else(|| Box::<NullGfx>::default());
            let goes_on = hub.generation.pm4.goes_on;
            let cp = Cp::new(ring, &*hub.mc, gfx, hub.strict.clone(), goes_on);
            units.push((ring.engine, Box::new(cp)));
        }
        for ring in hub.generation.dma_rings {
            let dma = Dma::new(ring, Contexts::new(&*hub.mc));
            units.push((ring.engine, Box::new(dma)));
        }
        let uvd = Uvd::new(self.blocks.segments.clone());
        units.push((EngineId::Uvd, Box::new(uvd)));
        let mut threads = self.threads.lock().unwrap_or_else(PoisonError::into_inner);
        for (id, mut unit) in units {
            let b = self.blocks.clone();
            threads.push(std::thread::spawn(move || {
                engine::run(id, &b.hub, &b.ih, &*b, &mut *unit);
            }));
        }
        let b = self.blocks.clone();
        threads.push(std::thread::spawn(move || b.display.run(&b.hub, &b.ih)));
        let b = self.blocks.clone();
        threads.push(std::thread::spawn(move || b.tlb.run(&*b.hub.regs)));
    }

    fn hub(&self) -> &Hub {
        &self.blocks.hub
    }

    /// Reads the register at byte offset `offset` (0 to 0x3FFFC).
    pub fn mmio_read(&self, offset: u32) -> u32 {
        let hub = self.hub();
        self.tick();
        hub.counters.inc(Counter::MmioReads);
        hub.update_clock();
        let value = self.blocks.read(offset);
        trace_mmio(hub, "read", offset, value);
        value
    }

    /// Writes the register at byte offset `offset` (0 to 0x3FFFC).
    pub fn mmio_write(&self, offset: u32, value: u32) {
        let hub = self.hub();
        self.tick();
        hub.counters.inc(Counter::MmioWrites);
        hub.update_clock();
        trace_mmio(hub, "write", offset, value);
        self.blocks.write(offset, value);
    }

    fn tick(&self) {
        if let Some(strict) = &self.hub().strict {
            strict.hdp.tick();
        }
    }

    /// Run-time knobs.
    pub fn knobs(&self) -> &Knobs {
        &self.hub().knobs
    }

    /// Event counters.
    pub fn counters(&self) -> &Counters {
        &self.hub().counters
    }

    /// The GPU clock counter in periods of the reference clock, as the CP writes it for timestamps
    /// and `RLC_GPU_CLOCK_COUNT` shows it.
    pub fn gpu_clock(&self) -> u64 {
        self.hub().gpu_clock()
    }

    /// The surface that a CRTC shows; `None` if the CRTC is off.
    pub fn scanout(&self, crtc: usize) -> Option<Scanout> {
        self.blocks.display.scanout(self.hub(), crtc)
    }

    /// Number of CRTCs.
    pub fn crtcs(&self) -> usize {
        self.hub().model.crtcs
    }

    /// Whether the PCI Express link runs at 5 GT/s rather than 2.5.
    pub fn second_generation_link(&self) -> bool {
        self.blocks.bif.second_generation()
    }

    /// Back to power-on state: cancels work in flight and sets all registers to
    /// their reset values. Knobs and counters keep theirs.
    ///
    /// Waits until no engine executes anything, so that no earlier work reaches
    /// memory afterwards. An engine's thread must not call this.
    pub fn reset(&self) {
        self.power_on();
    }

    fn power_on(&self) {
        let hub = self.hub();
        // Set the halt bits first, so that no engine sees half of the reset values.
        hub.regs
            .store(cp::CP_ME_CNTL, cp::CP_ME_HALT | cp::CP_PFP_HALT);
        for id in EngineId::ALL {
            hub.engine(id).reset(&hub.knobs);
        }
        for id in EngineId::ALL {
            hub.engine(id).quiesce();
        }
        // An interrupt in flight must not see half of them either.
        let display = self.blocks.display.hold();
        let ih = self.blocks.ih.hold();
        for offset in (0..regs::REG_SPACE_SIZE).step_by(4) {
            if offset != cp::CP_ME_CNTL {
                hub.regs.store(offset, 0);
            }
        }
        drop((ih, display));
        if let Some(strict) = &hub.strict {
            strict.reset();
        }
        self.strap();
        self.blocks.power_on();
    }

    /// Sets the registers that describe the board: pipes, backends, memory, clocks.
    fn strap(&self) {
        let straps = self.hub().generation.straps;
        for (offset, value) in straps(self.family.model(), self.vram_size) {
            self.hub().regs.store(offset, value);
        }
    }

    /// Waits until ring `id` has nothing queued or in flight, or `timeout` is over. True if it has
    /// nothing.
    pub fn wait_idle(&self, id: EngineId, timeout: Duration) -> bool {
        self.hub().engine(id).wait_idle(timeout)
    }

    /// Stops and joins all threads. The chip answers register accesses
    /// afterwards, but nothing executes any more.
    pub fn shutdown(&self) {
        for id in EngineId::ALL {
            self.hub().engine(id).stop();
        }
        self.blocks.display.stop();
        self.blocks.tlb.stop();
        let threads =
            std::mem::take(&mut *self.threads.lock().unwrap_or_else(PoisonError::into_inner));
        for thread in threads {
            if thread.join().is_err() {
                log::error!("an engine thread panicked");
            }
        }
        self.hub().trace.flush();
    }
}

impl Drop for Chip {
    fn drop(&mut self) {
        self.shutdown();
    }
}

fn trace_mmio(hub: &Hub, what: &str, offset: u32, value: u32) {
    if hub.trace.enabled() {
        let name = hub.generation.register_name(offset);
        let name = name.as_deref().unwrap_or("-");
        hub.trace.line(
            "mmio",
            format_args!("{what} {offset:#07x} {name} {value:#010x}"),
        );
    }
}
