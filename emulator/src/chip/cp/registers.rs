// SPDX-License-Identifier: MIT
//! Registers of the command processor.

use std::sync::Arc;

use super::rings::RingRegisters;
use crate::chip::bus::Registers;
use crate::chip::hub::{Client, Hub};
use crate::chip::ih::{Ih, Source};
use crate::chip::regs::{cayman, cp};

/// Register interface of the command processor.
#[derive(Debug)]
pub(crate) struct CpRegisters {
    hub: Arc<Hub>,
    ih: Arc<Ih>,
}

impl CpRegisters {
    pub fn new(hub: Arc<Hub>, ih: Arc<Ih>) -> Self {
        Self { hub, ih }
    }

    /// No ring may interrupt.
    pub fn power_on(&self) {
        for ring in 0..self.rings().len() {
            self.hub.set_cp_interrupts(ring, 0);
        }
    }

    fn rings(&self) -> &'static [RingRegisters] {
        self.hub.generation.cp_rings
    }

    /// Soft reset of all rings: cancels work in flight and zeroes the pointers.
    pub fn soft_reset(&self) {
        for ring in self.rings() {
            self.hub.soft_reset(ring.engine);
            self.hub.regs.store(ring.rptr, 0);
            self.hub.regs.store(ring.wptr, 0);
        }
    }

    /// Whether a ring has work queued or in flight, or hangs.
    pub fn busy(&self) -> bool {
        self.rings().iter().any(|ring| self.hub.busy(ring.engine))
    }

    /// The ring whose `CP_INT_CNTL` is accessed.
    fn selected(&self) -> usize {
        match self.rings().len() {
            1 => 0,
            _ => (self.hub.regs.load(cayman::SRBM_GFX_CNTL) & cayman::RINGID) as usize,
        }
    }

    /// Writes a register of a ring; false if `offset` is none of one.
    fn write_ring(&self, offset: u32, value: u32) -> bool {
        let hub = &*self.hub;
        for ring in self.rings() {
            let engine = hub.engine(ring.engine);
            match offset {
                _ if offset == ring.base => {
                    hub.regs.store(offset, value);
                    engine.kick();
                }
                _ if offset == ring.set_rptr => {
                    let settable = hub.regs.load(ring.cntl) & cp::RB_RPTR_WR_ENA != 0;
                    if offset != ring.rptr {
                        hub.regs.store(offset, value);
                    }
                    if settable {
                        engine.set_rptr(value);
                        hub.regs.store(ring.rptr, value);
                    }
                }
                _ if offset == ring.rptr => {}
                _ if offset == ring.wptr => {
                    hub.regs.store(offset, value);
                    engine.submit(value);
                }
                _ => continue,
            }
            return true;
        }
        false
    }

    /// Writes a scratch register and, if its bit in `SCRATCH_UMSK` is set, memory.
    fn write_scratch(&self, offset: u32, value: u32) {
        let hub = &*self.hub;
        hub.regs.store(offset, value);
        let index = (offset - cp::SCRATCH_REG0) / 4;
        if hub.regs.load(cp::SCRATCH_UMSK) & (1 << index) != 0 {
            let base = u64::from(hub.regs.load(cp::SCRATCH_ADDR)) << 8;
            if let Err(e) = hub.mc.write_u32(base + u64::from(index) * 4, value) {
                hub.fault(Client::Cp, e);
            }
        }
    }

    /// Raises the enabled interrupts that a write to `CP_INT_STATUS` requests.
    fn raise(&self, value: u32) {
        let raised = value & self.hub.cp_interrupts(0);
        for (bit, source) in [
            (cp::RB_INT, Source::CpRb),
            (cp::IB1_INT, Source::CpIb1),
            (cp::IB2_INT, Source::CpIb2),
        ] {
            if raised & bit != 0 {
                self.ih.post(&self.hub, source, 0);
            }
        }
    }
}

/// The last scratch register.
const SCRATCH_LAST: u32 = cp::SCRATCH_REG0 + 4 * (cp::SCRATCH_REGS - 1);

impl Registers for CpRegisters {
    fn read(&self, offset: u32) -> u32 {
        match offset {
            cp::CP_STAT | cp::CP_BUSY_STAT if self.busy() => cp::STAT_CP_BUSY,
            cp::CP_STAT | cp::CP_BUSY_STAT => 0,
            cp::CP_INT_CNTL => self.hub.cp_interrupts(self.selected()),
            _ => self.hub.regs.load(offset),
        }
    }

    fn write(&self, offset: u32, value: u32) {
        let hub = &*self.hub;
        if self.write_ring(offset, value) {
            return;
        }
        match offset {
            cp::CP_STAT | cp::CP_BUSY_STAT => {}
            cp::SCRATCH_REG0..=SCRATCH_LAST => self.write_scratch(offset, value),
            cp::CP_ME_CNTL => {
                hub.regs.store(offset, value);
                for ring in self.rings() {
                    hub.engine(ring.engine).kick();
                }
            }
            cp::CP_INT_CNTL => hub.set_cp_interrupts(self.selected(), value),
            cp::CP_INT_STATUS => self.raise(value),
            _ => hub.regs.store(offset, value),
        }
    }
}
