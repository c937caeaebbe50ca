// SPDX-License-Identifier: MIT
//! Registers of the asynchronous DMA engines.

use std::sync::Arc;

use super::rings::RingRegisters;
use crate::chip::bus::Registers;
use crate::chip::hub::Hub;
use crate::chip::queue::EngineId;
use crate::chip::regs::dma;

/// Register interface of the DMA engines.
#[derive(Debug)]
pub(crate) struct DmaRegisters {
    hub: Arc<Hub>,
}

impl DmaRegisters {
    pub fn new(hub: Arc<Hub>) -> Self {
        Self { hub }
    }

    fn rings(&self) -> &'static [RingRegisters] {
        self.hub.generation.dma_rings
    }

    /// Soft reset of an engine, if the generation has it: cancels work in flight and
    /// zeroes the pointers.
    pub fn soft_reset(&self, engine: EngineId) {
        if let Some(ring) = self.rings().iter().find(|ring| ring.engine == engine) {
            self.hub.soft_reset(engine);
            self.hub.regs.store(ring.rptr, 0);
            self.hub.regs.store(ring.wptr, 0);
        }
    }
}

impl Registers for DmaRegisters {
    fn read(&self, offset: u32) -> u32 {
        match self.rings().iter().find(|ring| ring.status == offset) {
            Some(ring) if self.hub.busy(ring.engine) => 0,
            Some(_) => dma::DMA_IDLE,
            None => self.hub.regs.load(offset),
        }
    }

    fn write(&self, offset: u32, value: u32) {
        let hub = &*self.hub;
        for ring in self.rings() {
            let engine = hub.engine(ring.engine);
            let effect = |act: &dyn Fn()| {
                hub.regs.store(offset, value);
                act();
            };
            // The pointers count bytes.
            match offset {
                _ if offset == ring.status => {}
                _ if offset == ring.cntl || offset == ring.base => effect(&|| engine.kick()),
                _ if offset == ring.rptr => effect(&|| engine.set_rptr(value >> 2)),
                _ if offset == ring.wptr => effect(&|| engine.submit(value >> 2)),
                _ => continue,
            }
            return;
        }
        hub.regs.store(offset, value);
    }
}
