// SPDX-License-Identifier: MIT
//! Registers of the command processor.

use std::sync::Arc;

use crate::chip::bus::Registers;
use crate::chip::hub::{Client, Hub};
use crate::chip::ih::{Ih, Source};
use crate::chip::queue::EngineId;
use crate::chip::regs::cp;

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

    /// Soft reset: cancels work in flight and zeroes the pointers.
    pub fn soft_reset(&self) {
        self.hub.soft_reset(EngineId::Gfx);
        self.hub.regs.store(cp::CP_RB_RPTR, 0);
        self.hub.regs.store(cp::CP_RB_WPTR, 0);
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
        let raised = value & self.hub.regs.load(cp::CP_INT_CNTL);
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
            cp::CP_STAT | cp::CP_BUSY_STAT if self.hub.busy(EngineId::Gfx) => cp::STAT_CP_BUSY,
            cp::CP_STAT | cp::CP_BUSY_STAT => 0,
            _ => self.hub.regs.load(offset),
        }
    }

    fn write(&self, offset: u32, value: u32) {
        let hub = &*self.hub;
        let engine = hub.engine(EngineId::Gfx);
        match offset {
            cp::CP_RB_RPTR | cp::CP_STAT | cp::CP_BUSY_STAT => {}
            cp::SCRATCH_REG0..=SCRATCH_LAST => self.write_scratch(offset, value),
            cp::CP_ME_CNTL | cp::CP_RB_BASE => {
                hub.regs.store(offset, value);
                engine.kick();
            }
            cp::CP_RB_RPTR_WR => {
                hub.regs.store(offset, value);
                if hub.regs.load(cp::CP_RB_CNTL) & cp::RB_RPTR_WR_ENA != 0 {
                    engine.set_rptr(value);
                    hub.regs.store(cp::CP_RB_RPTR, value);
                }
            }
            cp::CP_RB_WPTR => {
                hub.regs.store(offset, value);
                engine.submit(value);
            }
            cp::CP_INT_STATUS => self.raise(value),
            _ => hub.regs.store(offset, value),
        }
    }
}
