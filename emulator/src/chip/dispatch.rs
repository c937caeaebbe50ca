// SPDX-License-Identifier: MIT
//! The chip: register dispatch, reset, and the threads of its engines.
//!
//! Registers without behaviour are plain storage in the [`RegFile`]; some of
//! their pages are mapped into the guest, so no side effect may live at
//! 0x1000-0x5FFF (but for the requests that `tlb` watches for), 0x7000-0x7FFF
//! or 0x9000-0xBFFF. Side effects of the others are helpers of their blocks.
//!
//! Register writes never wait: they queue work and wake threads.

use std::io::Write;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use crate::chip::bus::{IrqLine, Mc, RegFile};
use crate::chip::counters::{Counter, Counters};
use crate::chip::cp::Cp;
use crate::chip::display::{self, Scanout};
use crate::chip::dma::Dma;
use crate::chip::engine::{EngineId, Hang, Knobs, RingUnit};
use crate::chip::gfx::{Gfx, NullGfx, STATE_BASE};
use crate::chip::hub::Hub;
use crate::chip::ih::Source;
use crate::chip::regs::{self, cg, cp, dce, dma, grbm, ih, mc, srbm, uvd};
use crate::chip::tlb;
use crate::chip::trace::Trace;
use crate::chip::uvd::Uvd;

/// Members of the R700 family the board can be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Family {
    /// RV710 (Radeon HD 4350/4550).
    Rv710,
    /// RV730 (Radeon HD 4650/4670).
    Rv730,
    /// RV740 (Radeon HD 4770).
    Rv740,
    /// RV770 (Radeon HD 4850/4870).
    Rv770,
}

impl Family {
    /// Shader pipes and render backends (`rv770_gpu_init()`), and log2 of the
    /// memory channels of 64 bits.
    fn units(self) -> (u32, u32, u32) {
        match self {
            Family::Rv710 => (2, 1, 0),
            Family::Rv730 => (2, 2, 1),
            Family::Rv740 => (4, 4, 1),
            Family::Rv770 => (4, 4, 2),
        }
    }
}

/// What a chip is built from.
pub struct ChipConfig {
    /// Family member.
    pub family: Family,
    /// VRAM in bytes, as `CONFIG_MEMSIZE` reports it (less than 4 GiB).
    pub vram_size: u64,
    /// Delay of submissions in microseconds.
    pub latency_us: u64,
    /// Rate of copies in MB/s, 0 for unlimited.
    pub rate_mbps: u64,
    /// Where the trace goes.
    pub trace: Option<Box<dyn Write + Send>>,
    /// Hang to inject.
    pub hang: Option<Hang>,
}

/// The chip. Methods may be called from any thread.
pub struct Chip {
    hub: Arc<Hub>,
    family: Family,
    vram_size: u64,
    threads: Mutex<Vec<JoinHandle<()>>>,
}

impl Chip {
    /// Builds a chip in power-on state, without a graphics pipeline, and
    /// starts its threads.
    pub fn new(
        config: ChipConfig,
        regs: Arc<dyn RegFile>,
        mc: Arc<dyn Mc>,
        irq: Arc<dyn IrqLine>,
    ) -> Arc<Chip> {
        Self::with_gfx(config, regs, mc, irq, Box::<NullGfx>::default())
    }

    /// As [`Chip::new`], with a graphics block that executes draws.
    pub fn with_gfx(
        config: ChipConfig,
        regs: Arc<dyn RegFile>,
        mc: Arc<dyn Mc>,
        irq: Arc<dyn IrqLine>,
        gfx: Box<dyn Gfx>,
    ) -> Arc<Chip> {
        let trace = Trace::new(config.trace);
        let hub = Hub::new(regs, mc, irq, config.latency_us, config.rate_mbps, trace);
        if let Some(hang) = config.hang {
            hub.knobs.hang_after(hang);
        }
        let chip = Arc::new(Chip {
            hub: Arc::new(hub),
            family: config.family,
            vram_size: config.vram_size,
            threads: Mutex::new(Vec::new()),
        });
        chip.power_on();
        chip.start(gfx);
        chip
    }

    fn start(&self, gfx: Box<dyn Gfx>) {
        let units: [(EngineId, Box<dyn RingUnit>); 3] = [
            (EngineId::Gfx, Box::new(Cp::new(gfx))),
            (EngineId::Dma, Box::new(Dma::default())),
            (EngineId::Uvd, Box::new(Uvd::default())),
        ];
        let mut threads = self.threads.lock().unwrap_or_else(PoisonError::into_inner);
        for (id, mut unit) in units {
            let hub = self.hub.clone();
            threads.push(std::thread::spawn(move || {
                hub.engine(id).run(&hub, &mut *unit);
            }));
        }
        let hub = self.hub.clone();
        threads.push(std::thread::spawn(move || hub.display.run(&hub)));
        let hub = self.hub.clone();
        threads.push(std::thread::spawn(move || hub.tlb.run(&*hub.regs)));
    }

    /// Reads the register at byte offset `offset` (0 to 0x3FFFC).
    pub fn mmio_read(&self, offset: u32) -> u32 {
        let hub = &*self.hub;
        hub.counters.inc(Counter::MmioReads);
        hub.update_clock();
        let value = read_reg(hub, offset);
        trace_mmio(hub, "read", offset, value);
        value
    }

    /// Writes the register at byte offset `offset` (0 to 0x3FFFC).
    pub fn mmio_write(&self, offset: u32, value: u32) {
        let hub = &*self.hub;
        hub.counters.inc(Counter::MmioWrites);
        hub.update_clock();
        trace_mmio(hub, "write", offset, value);
        write_reg(hub, offset, value);
    }

    /// Run-time knobs.
    pub fn knobs(&self) -> &Knobs {
        &self.hub.knobs
    }

    /// Event counters.
    pub fn counters(&self) -> &Counters {
        &self.hub.counters
    }

    /// What a CRTC shows, or none if it is off.
    pub fn scanout(&self, crtc: usize) -> Option<Scanout> {
        self.hub.display.scanout(&self.hub, crtc)
    }

    /// Whether the interrupt ring holds vectors the driver has not taken:
    /// the level of an INTx line.
    pub fn irq_pending(&self) -> bool {
        let wptr = self.hub.regs.load(ih::IH_RB_WPTR) & ih::WPTR_OFFSET_MASK;
        let rptr = self.hub.regs.load(ih::IH_RB_RPTR) & ih::WPTR_OFFSET_MASK;
        wptr != rptr && self.hub.regs.load(ih::IH_CNTL) & ih::ENABLE_INTR != 0
    }

    /// Back to power-on state: work in flight is cancelled, all registers
    /// have their reset values. Knobs and counters keep theirs.
    pub fn reset(&self) {
        self.power_on();
    }

    fn power_on(&self) {
        let hub = &*self.hub;
        // Halt bits first, so that no engine sees half of the reset values.
        hub.regs
            .store(cp::CP_ME_CNTL, cp::CP_ME_HALT | cp::CP_PFP_HALT);
        for id in EngineId::ALL {
            hub.engine(id).reset(hub);
        }
        for offset in (0..regs::REG_SPACE_SIZE).step_by(4) {
            if offset != cp::CP_ME_CNTL {
                hub.regs.store(offset, 0);
            }
        }
        let (pipes, backends, log2_channels) = self.family.units();
        let fused = |n: u32| (0xFF << n) & 0xFF;
        let values = [
            (
                grbm::CC_GC_SHADER_PIPE_CONFIG,
                fused(pipes) << grbm::INACTIVE_QD_PIPES_SHIFT,
            ),
            (
                grbm::CC_RB_BACKEND_DISABLE,
                fused(backends) << grbm::BACKEND_DISABLE_SHIFT,
            ),
            (mc::MC_SHARED_CHMAP, log2_channels << mc::NOOFCHAN_SHIFT),
            // Eight banks, channels of 64 bits.
            (mc::MC_ARB_RAMCFG, 1 | mc::CHANSIZE_64),
            (srbm::CONFIG_MEMSIZE, self.vram_size as u32),
            // 40 degrees.
            (cg::CG_MULT_THERMAL_STATUS, (40 * 2) << cg::ASIC_T_SHIFT),
            (uvd::UVD_SOFT_RESET, uvd::VCPU_SOFT_RESET),
            (uvd::UVD_RBC_RB_CNTL, uvd::RB_NO_FETCH),
        ];
        for (offset, value) in values {
            hub.regs.store(offset, value);
        }
        hub.gfx_dirty.store(u64::MAX, Ordering::Release);
        hub.ih.reset();
        hub.uvd.reset();
        hub.display.reset();
    }

    /// Stops and joins all threads. The chip answers register accesses
    /// afterwards, but nothing executes any more.
    pub fn shutdown(&self) {
        for id in EngineId::ALL {
            self.hub.engine(id).stop();
        }
        self.hub.display.stop();
        self.hub.tlb.stop();
        let threads =
            std::mem::take(&mut *self.threads.lock().unwrap_or_else(PoisonError::into_inner));
        for thread in threads {
            if thread.join().is_err() {
                log::error!("an engine thread panicked");
            }
        }
        self.hub.trace.flush();
    }
}

impl Drop for Chip {
    fn drop(&mut self) {
        self.shutdown();
    }
}

fn trace_mmio(hub: &Hub, what: &str, offset: u32, value: u32) {
    if hub.trace.enabled() {
        let name = regs::name(offset).unwrap_or("-");
        hub.trace.line(
            "mmio",
            format_args!("{what} {offset:#07x} {name} {value:#010x}"),
        );
    }
}

/// Reads a register with the behaviour of hardware.
pub(crate) fn read_reg(hub: &Hub, offset: u32) -> u32 {
    match offset {
        grbm::GRBM_STATUS => {
            if hub.engine(EngineId::Gfx).busy(hub) {
                grbm::GRBM_STATUS_IDLE | grbm::CP_BUSY | grbm::GUI_ACTIVE
            } else {
                grbm::GRBM_STATUS_IDLE
            }
        }
        // No instance but the CP is ever busy: draws take no time yet.
        grbm::GRBM_STATUS2 | srbm::SRBM_STATUS => 0,
        cp::CP_STAT | cp::CP_BUSY_STAT => {
            // Bit 31 of CP_STAT is CP_BUSY; CP_BUSY_STAT's parts are not
            // modelled, the same bit stands for all of them.
            u32::from(hub.engine(EngineId::Gfx).busy(hub)) << 31
        }
        dma::DMA_STATUS_REG => {
            if hub.engine(EngineId::Dma).busy(hub) {
                0
            } else {
                dma::DMA_IDLE
            }
        }
        uvd::UVD_STATUS => crate::chip::uvd::status(hub),
        0x6000..=0x6FFF => {
            let (crtc, reg) = display::split(offset);
            hub.display.read(hub, crtc, reg)
        }
        _ => hub.regs.load(offset),
    }
}

/// Writes a register with its side effects; from the host or from a packet.
pub(crate) fn write_reg(hub: &Hub, offset: u32, value: u32) {
    match offset {
        // Status registers and read pointers are read-only.
        grbm::GRBM_STATUS
        | grbm::GRBM_STATUS2
        | srbm::SRBM_STATUS
        | cp::CP_RB_RPTR
        | cp::CP_STAT
        | cp::CP_BUSY_STAT
        | dma::DMA_STATUS_REG
        | uvd::UVD_STATUS => {}

        cg::CG_UPLL_FUNC_CNTL => {
            let ack = cg::UPLL_CTLACK_MASK | cg::UPLL_CTLACK2_MASK;
            let request = value & cg::UPLL_CTLREQ_MASK != 0;
            hub.regs
                .store(offset, value & !ack | if request { ack } else { 0 });
        }
        mc::VM_CONTEXT0_REQUEST_RESPONSE => {
            let request = value & mc::REQUEST_TYPE_MASK;
            hub.regs.store(offset, tlb::response(request).unwrap_or(0));
        }

        grbm::GRBM_SOFT_RESET => {
            let rising = value & !hub.regs.load(offset);
            hub.regs.store(offset, value);
            if rising & grbm::SOFT_RESET_CP != 0 {
                soft_reset(hub, EngineId::Gfx);
            }
        }
        srbm::SRBM_SOFT_RESET => {
            let rising = value & !hub.regs.load(offset);
            hub.regs.store(offset, value);
            if rising & srbm::RV770_SOFT_RESET_DMA != 0 {
                soft_reset(hub, EngineId::Dma);
            }
            if rising & srbm::SOFT_RESET_UVD != 0 {
                soft_reset(hub, EngineId::Uvd);
            }
            if rising & srbm::SOFT_RESET_IH != 0 {
                hub.ih.reset();
            }
        }

        0x8500..=0x851C => scratch_write(hub, offset, value),
        cp::CP_ME_CNTL | cp::CP_RB_BASE => {
            hub.regs.store(offset, value);
            hub.engine(EngineId::Gfx).kick();
        }
        cp::CP_RB_RPTR_WR => {
            hub.regs.store(offset, value);
            if hub.regs.load(cp::CP_RB_CNTL) & cp::RB_RPTR_WR_ENA != 0 {
                hub.engine(EngineId::Gfx).set_rptr(value);
                hub.regs.store(cp::CP_RB_RPTR, value);
            }
        }
        cp::CP_RB_WPTR => {
            hub.regs.store(offset, value);
            hub.engine(EngineId::Gfx).submit(value);
        }
        cp::CP_INT_STATUS => {
            let raised = value & hub.regs.load(cp::CP_INT_CNTL);
            for (bit, source) in [
                (cp::RB_INT, Source::CpRb),
                (cp::IB1_INT, Source::CpIb1),
                (cp::IB2_INT, Source::CpIb2),
            ] {
                if raised & bit != 0 {
                    hub.ih.post(hub, source, 0);
                }
            }
        }

        dma::DMA_RB_CNTL | dma::DMA_RB_BASE => {
            hub.regs.store(offset, value);
            hub.engine(EngineId::Dma).kick();
        }
        dma::DMA_RB_RPTR => {
            hub.regs.store(offset, value);
            hub.engine(EngineId::Dma).set_rptr(value >> 2);
        }
        dma::DMA_RB_WPTR => {
            hub.regs.store(offset, value);
            hub.engine(EngineId::Dma).submit(value >> 2);
        }

        uvd::UVD_LMI_EXT40_ADDR => {
            hub.regs.store(offset, value);
            hub.uvd.write(value);
        }
        uvd::UVD_SOFT_RESET => {
            let rising = value & !hub.regs.load(offset);
            hub.regs.store(offset, value);
            if rising & (uvd::RBC_SOFT_RESET | uvd::VCPU_SOFT_RESET) != 0 {
                hub.engine(EngineId::Uvd).reset(hub);
            }
            hub.engine(EngineId::Uvd).kick();
        }
        uvd::UVD_VCPU_CNTL | uvd::UVD_RBC_RB_CNTL => {
            hub.regs.store(offset, value);
            hub.engine(EngineId::Uvd).kick();
        }
        uvd::UVD_RBC_RB_RPTR => {
            hub.regs.store(offset, value);
            hub.engine(EngineId::Uvd).set_rptr(value);
        }
        uvd::UVD_RBC_RB_WPTR => {
            hub.regs.store(offset, value);
            hub.engine(EngineId::Uvd).submit(value);
        }

        // The second CRTC's block holds the first's high address register.
        dce::D1GRPH_PRIMARY_SURFACE_ADDRESS_HIGH | dce::D2GRPH_PRIMARY_SURFACE_ADDRESS_HIGH => {
            hub.regs.store(offset, value);
        }
        0x6000..=0x6FFF => {
            let (crtc, reg) = display::split(offset);
            hub.display.write(hub, crtc, reg, value);
        }
        _ => {
            hub.regs.store(offset, value);
            if let Some(at) = offset.checked_sub(STATE_BASE) {
                let block = (at >> 11).min(63);
                hub.gfx_dirty.fetch_or(1 << block, Ordering::Release);
            }
        }
    }
}

/// Soft reset of an engine: work in flight is cancelled, an injected hang is
/// cleared, and the ring's pointers are zero.
fn soft_reset(hub: &Hub, id: EngineId) {
    hub.counters.inc(Counter::SoftResets);
    hub.trace
        .line("chip", format_args!("soft reset {}", id.name()));
    hub.engine(id).reset(hub);
    let pointers = match id {
        EngineId::Gfx => [cp::CP_RB_RPTR, cp::CP_RB_WPTR],
        EngineId::Dma => [dma::DMA_RB_RPTR, dma::DMA_RB_WPTR],
        EngineId::Uvd => [uvd::UVD_RBC_RB_RPTR, uvd::UVD_RBC_RB_WPTR],
    };
    for offset in pointers {
        hub.regs.store(offset, 0);
    }
}

/// Writes a scratch register and, if `SCRATCH_UMSK` says so, memory.
fn scratch_write(hub: &Hub, offset: u32, value: u32) {
    hub.regs.store(offset, value);
    let index = (offset - cp::SCRATCH_REG0) / 4;
    if hub.regs.load(cp::SCRATCH_UMSK) & (1 << index) != 0 {
        let base = u64::from(hub.regs.load(cp::SCRATCH_ADDR)) << 8;
        if let Err(e) = hub.mc.write_u32(base + u64::from(index) * 4, value) {
            hub.fault(crate::chip::hub::Client::Cp, e);
        }
    }
}
