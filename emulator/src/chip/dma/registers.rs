// SPDX-License-Identifier: MIT
//! Registers of the asynchronous DMA engine.

use std::sync::Arc;

use crate::chip::bus::Registers;
use crate::chip::hub::Hub;
use crate::chip::queue::EngineId;
use crate::chip::regs::dma;

/// Register interface of the DMA engine.
#[derive(Debug)]
pub(crate) struct DmaRegisters {
    hub: Arc<Hub>,
}

impl DmaRegisters {
    pub fn new(hub: Arc<Hub>) -> Self {
        Self { hub }
    }

    /// Soft reset: cancels work in flight and zeroes the pointers.
    pub fn soft_reset(&self) {
        self.hub.soft_reset(EngineId::Dma);
        self.hub.regs.store(dma::DMA_RB_RPTR, 0);
        self.hub.regs.store(dma::DMA_RB_WPTR, 0);
    }
}

impl Registers for DmaRegisters {
    fn read(&self, offset: u32) -> u32 {
        match offset {
            dma::DMA_STATUS_REG if self.hub.busy(EngineId::Dma) => 0,
            dma::DMA_STATUS_REG => dma::DMA_IDLE,
            _ => self.hub.regs.load(offset),
        }
    }

    fn write(&self, offset: u32, value: u32) {
        let hub = &*self.hub;
        let engine = hub.engine(EngineId::Dma);
        match offset {
            dma::DMA_STATUS_REG => {}
            dma::DMA_RB_CNTL | dma::DMA_RB_BASE => {
                hub.regs.store(offset, value);
                engine.kick();
            }
            // The pointers count bytes.
            dma::DMA_RB_RPTR => {
                hub.regs.store(offset, value);
                engine.set_rptr(value >> 2);
            }
            dma::DMA_RB_WPTR => {
                hub.regs.store(offset, value);
                engine.submit(value >> 2);
            }
            _ => hub.regs.store(offset, value),
        }
    }
}
