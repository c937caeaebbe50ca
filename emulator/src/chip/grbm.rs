// SPDX-License-Identifier: MIT
//! Graphics register bus manager: status and soft reset of the graphics blocks.

use std::sync::Arc;

use crate::chip::bus::Registers;
use crate::chip::cp::CpRegisters;
use crate::chip::hub::Hub;
use crate::chip::regs::grbm;

/// The register bus manager.
#[derive(Debug)]
pub(crate) struct Grbm {
    hub: Arc<Hub>,
    cp: Arc<CpRegisters>,
}

impl Grbm {
    pub fn new(hub: Arc<Hub>, cp: Arc<CpRegisters>) -> Self {
        Self { hub, cp }
    }
}

impl Registers for Grbm {
    fn read(&self, offset: u32) -> u32 {
        match offset {
            grbm::GRBM_STATUS if self.cp.busy() => {
                self.hub.generation.grbm_idle | grbm::CP_BUSY | grbm::GUI_ACTIVE
            }
            grbm::GRBM_STATUS => self.hub.generation.grbm_idle,
            grbm::GRBM_STATUS2 => self.hub.generation.grbm_second_idle,
            _ => self.hub.regs.load(offset),
        }
    }

    fn write(&self, offset: u32, value: u32) {
        match offset {
            grbm::GRBM_STATUS | grbm::GRBM_STATUS2 => {}
            grbm::GRBM_SOFT_RESET => {
                let rising = value & !self.hub.regs.load(offset);
                self.hub.regs.store(offset, value);
                if rising & grbm::SOFT_RESET_CP != 0 {
                    self.cp.soft_reset();
                }
            }
            _ => self.hub.regs.store(offset, value),
        }
    }
}
