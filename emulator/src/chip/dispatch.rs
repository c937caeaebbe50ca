// SPDX-License-Identifier: MIT
//! The table of the chip's blocks and their register ranges.
//!
//! Registers outside the table are plain storage. Some pages of the register
//! space are mapped into the guest (see
//! [`MAPPABLE`](crate::chip::memory::regfile::MAPPABLE)): a guest's write there
//! reaches no block. Of these registers [`tlb`](crate::chip::tlb) polls only
//! the one with TLB requests.

use std::sync::Arc;

use crate::chip::bif::Bif;
use crate::chip::bus::Registers;
use crate::chip::cg::Cg;
use crate::chip::counters::REGISTER;
use crate::chip::cp::CpRegisters;
use crate::chip::display::{Display, DisplayRegisters};
use crate::chip::dma::DmaRegisters;
use crate::chip::grbm::Grbm;
use crate::chip::hdp::HdpRegisters;
use crate::chip::hub::Hub;
use crate::chip::ih::Ih;
use crate::chip::regs;
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
    cg: Cg,
    cp: Arc<CpRegisters>,
    crtc: DisplayRegisters,
    dma: Arc<DmaRegisters>,
    grbm: Grbm,
    hdp: HdpRegisters,
    srbm: Srbm,
    state: PipelineState,
    uvd: Arc<UvdRegisters>,
    vm: Vm,
}

/// A block's registers: first and last byte offset, and the block.
type Entry = (u32, u32, fn(&Blocks) -> &dyn Registers);

/// The table, sorted by offset. Sources of the offsets: the headers that
/// [`regs`](crate::chip::regs) names.
const TABLE: [Entry; 13] = [
    (0x0_0038, 0x0_003F, |b| &b.bif),
    (0x0_0600, 0x0_07FF, |b| &b.cg),
    (0x0_0E00, 0x0_0EFF, |b| &b.srbm),
    (0x0_1400, 0x0_15FF, |b| &b.vm),
    (0x0_2C00, 0x0_2FFF, |b| &b.hdp),
    (0x0_5480, 0x0_5483, |b| &b.hdp),
    (0x0_6000, 0x0_6FFF, |b| &b.crtc),
    (0x0_8000, 0x0_84FF, |b| &b.grbm),
    (0x0_8500, 0x0_87FF, |b| &*b.cp),
    (0x0_C000, 0x0_CFFF, |b| &*b.cp),
    (0x0_D000, 0x0_DFFF, |b| &*b.dma),
    (0x0_EF00, 0x0_FFFF, |b| &*b.uvd),
    (0x2_8000, 0x3_FFFF, |b| &b.state),
];

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
            cg: Cg::new(hub.clone()),
            crtc: DisplayRegisters::new(hub.clone(), display.clone()),
            grbm: Grbm::new(hub.clone(), cp.clone()),
            hdp: HdpRegisters::new(hub.clone()),
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
        self.state.power_on();
        self.uvd.power_on();
        self.ih.reset();
        self.display.reset();
    }

    fn block(&self, offset: u32) -> Option<&dyn Registers> {
        let after = TABLE.partition_point(|(first, ..)| *first <= offset);
        let (_, last, block) = TABLE[..after].last()?;
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
        if !regs::is_known(offset) {
            self.hub.counters.unknown(REGISTER, offset);
        }
        match self.block(offset) {
            Some(block) => block.write(offset, value),
            None => self.hub.regs.store(offset, value),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::TABLE;
    use crate::chip::regs::REG_SPACE_SIZE;

    #[test]
    fn table_is_sorted_without_overlaps_and_inside_the_space() {
        for (first, last, _) in TABLE {
            assert!(first % 4 == 0 && last % 4 == 3 && first < last);
            assert!(last < REG_SPACE_SIZE);
        }
        for pair in TABLE.windows(2) {
            assert!(pair[0].1 < pair[1].0, "{:#x}", pair[1].0);
        }
    }
}
