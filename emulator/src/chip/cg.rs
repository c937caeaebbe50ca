// SPDX-License-Identifier: MIT
//! Clock generator: acknowledges requests and counts changes of the memory
//! clock. The clocks do not change the speed of any block.

use std::sync::Arc;

use crate::chip::bus::Registers;
use crate::chip::counters::Counter;
use crate::chip::hub::Hub;
use crate::chip::regs::cg;

/// Temperature of the chip in degrees Celsius.
const TEMPERATURE: u32 = 40;

/// The clock generator.
#[derive(Debug)]
pub(crate) struct Cg {
    hub: Arc<Hub>,
}

impl Cg {
    pub fn new(hub: Arc<Hub>) -> Self {
        Self { hub }
    }

    /// Registers after reset. `ASIC_T` counts half degrees.
    pub fn power_on(&self) {
        let half_degrees = TEMPERATURE * 2;
        self.hub
            .regs
            .store(cg::CG_MULT_THERMAL_STATUS, half_degrees << cg::ASIC_T_SHIFT);
    }
}

impl Registers for Cg {
    fn read(&self, offset: u32) -> u32 {
        self.hub.regs.load(offset)
    }

    fn write(&self, offset: u32, value: u32) {
        let value = match offset {
            cg::MPLL_AD_FUNC_CNTL => {
                if value != self.hub.regs.load(offset) {
                    self.hub.counters.inc(Counter::MemoryClockChanges);
                }
                value
            }
            _ if offset == self.hub.generation.upll => {
                let ack = cg::UPLL_CTLACK_MASK | cg::UPLL_CTLACK2_MASK;
                let request = value & cg::UPLL_CTLREQ_MASK != 0;
                value & !ack | if request { ack } else { 0 }
            }
            _ => value,
        };
        self.hub.regs.store(offset, value);
    }
}
