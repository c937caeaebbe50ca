// SPDX-License-Identifier: MIT
//! System register bus manager: status and soft reset of the blocks other than
//! graphics.

use std::sync::Arc;

use crate::chip::bus::Registers;
use crate::chip::dma::DmaRegisters;
use crate::chip::hub::Hub;
use crate::chip::ih::Ih;
use crate::chip::queue::EngineId;
use crate::chip::regs::{cayman, evergreen, srbm};
use crate::chip::uvd::UvdRegisters;

/// The register bus manager.
#[derive(Debug)]
pub(crate) struct Srbm {
    hub: Arc<Hub>,
    dma: Arc<DmaRegisters>,
    uvd: Arc<UvdRegisters>,
    ih: Arc<Ih>,
}

impl Srbm {
    pub fn new(hub: Arc<Hub>, dma: Arc<DmaRegisters>, uvd: Arc<UvdRegisters>, ih: Arc<Ih>) -> Self {
        Self { hub, dma, uvd, ih }
    }

    fn soft_reset(&self, rising: u32) {
        let bits = &self.hub.generation.reset;
        if rising & bits.dma != 0 {
            self.dma.soft_reset(EngineId::Dma);
        }
        if rising & bits.dma1 != 0 {
            self.dma.soft_reset(EngineId::Dma1);
        }
        if rising & bits.uvd != 0 {
            self.uvd.soft_reset();
        }
        if rising & bits.ih != 0 {
            self.ih.reset();
        }
    }
}

impl Registers for Srbm {
    fn read(&self, offset: u32) -> u32 {
        match offset {
            // The blocks behind the bus are never busy.
            srbm::SRBM_STATUS => 0,
            // R7xx does not have this register.
            evergreen::SRBM_STATUS2 => [
                (EngineId::Dma, evergreen::DMA_BUSY),
                (EngineId::Dma1, cayman::DMA1_BUSY),
            ]
            .iter()
            .filter(|(engine, _)| self.hub.busy(*engine))
            .fold(0, |status, (_, busy)| status | busy),
            _ => self.hub.regs.load(offset),
        }
    }

    fn write(&self, offset: u32, value: u32) {
        match offset {
            srbm::SRBM_STATUS | evergreen::SRBM_STATUS2 => {}
            srbm::SRBM_SOFT_RESET => {
                let rising = value & !self.hub.regs.load(offset);
                self.hub.regs.store(offset, value);
                self.soft_reset(rising);
            }
            _ => self.hub.regs.store(offset, value),
        }
    }
}
