// SPDX-License-Identifier: MIT
//! The chip's blocks, and the way of a register access to its block.
//!
//! Which registers are which block's, the generation's table says
//! ([`Generation`](crate::chip::generation::Generation)); others are plain
//! storage. Some pages of the register space are mapped into the guest
//! (`Generation::mappable`): a guest's write there reaches no block. Of these
//! registers [`tlb`](crate::chip::tlb) polls only the one with TLB requests.

use std::sync::Arc;

use crate::chip::bif::Bif;
use crate::chip::bus::Registers;
use crate::chip::cg::Cg;
use crate::chip::counters::REGISTER;
use crate::chip::cp::CpRegisters;
use crate::chip::display::{Display, DisplayRegisters};
use crate::chip::dma::DmaRegisters;
use crate::chip::dmif::Dmif;
use crate::chip::gfx::evergreen::BorderColours;
use crate::chip::grbm::Grbm;
use crate::chip::hdp::HdpRegisters;
use crate::chip::hub::Hub;
use crate::chip::ih::Ih;
use crate::chip::mc_seq::McSeq;
use crate::chip::rcu::Rcu;
use crate::chip::srbm::Srbm;
use crate::chip::state::PipelineState;
use crate::chip::tlb::{TlbResponder, Vm};
use crate::chip::uvd::{UvdRegisters, UvdSegments};

/// All blocks with registers, and the state that they share with the threads.
#[derive(Debug)]
pub(crate) struct Blocks {
    pub hub: Arc<Hub>,
    pub ih: Arc<Ih>,
    pub display: Arc<Display>,
    pub segments: Arc<UvdSegments>,
    pub tlb: TlbResponder,
    pub bif: Bif,
    pub borders: BorderColours,
    pub cg: Cg,
    pub cp: Arc<CpRegisters>,
    pub crtc: DisplayRegisters,
    pub dma: Arc<DmaRegisters>,
    pub dmif: Dmif,
    pub grbm: Grbm,
    pub hdp: HdpRegisters,
    pub mc_seq: McSeq,
    pub rcu: Rcu,
    pub srbm: Srbm,
    pub state: PipelineState,
    pub uvd: Arc<UvdRegisters>,
    pub vm: Vm,
}

/// A block's registers: first and last byte offset, and the block.
pub(crate) type Entry = (u32, u32, fn(&Blocks) -> &dyn Registers);

impl Blocks {
    /// Puts the blocks together.
    pub fn new(hub: Arc<Hub>) -> Self {
        let ih = Arc::new(Ih::default());
        let display = Arc::new(Display::default());
        let segments = Arc::new(UvdSegments::default());
        let cp = Arc::new(CpRegisters::new(hub.clone(), ih.clone()));
        let dma = Arc::new(DmaRegisters::new(hub.clone()));
        let uvd = Arc::new(UvdRegisters::new(hub.clone(), segments.clone()));
        Self {
            tlb: TlbResponder::default(),
            bif: Bif::default(),
            borders: BorderColours::new(hub.clone()),
            cg: Cg::new(hub.clone()),
            crtc: DisplayRegisters::new(hub.clone(), display.clone()),
            grbm: Grbm::new(hub.clone(), cp.clone()),
            dmif: Dmif::new(hub.clone()),
            hdp: HdpRegisters::new(hub.clone()),
            mc_seq: McSeq::new(hub.clone()),
            rcu: Rcu::new(hub.clone()),
            srbm: Srbm::new(hub.clone(), dma.clone(), uvd.clone(), ih.clone()),
            state: PipelineState::new(hub.clone()),
            vm: Vm::new(hub.clone()),
            hub,
            ih,
            display,
            segments,
            cp,
            dma,
            uvd,
        }
    }

    /// Initialises the registers that are not zero after reset, and the state
    /// outside the register file.
    pub fn power_on(&self) {
        self.bif.reset();
        self.cg.power_on();
        self.cp.power_on();
        self.mc_seq.power_on();
        self.rcu.power_on();
        self.state.power_on();
        self.uvd.power_on();
        self.ih.reset();
        self.display.reset();
    }

    fn block(&self, offset: u32) -> Option<&dyn Registers> {
        let table = self.hub.generation.blocks;
        let after = table.partition_point(|(first, ..)| *first <= offset);
        let (_, last, block) = table[..after].last()?;
        (offset <= *last).then(|| block(self))
    }
}

impl Registers for Blocks {
    fn read(&self, offset: u32) -> u32 {
        match self.block(offset) {
            Some(block) => block.read(offset),
            None => self.hub.regs.load(offset),
        }
    }

    fn write(&self, offset: u32, value: u32) {
        if !self.hub.generation.knows(offset) {
            self.hub.counters.unknown(REGISTER, offset);
        }
        match self.block(offset) {
            Some(block) => block.write(offset, value),
            None => self.hub.regs.store(offset, value),
        }
    }
}
