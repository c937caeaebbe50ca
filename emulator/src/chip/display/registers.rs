// SPDX-License-Identifier: MIT
//! Registers of the display controller.

use std::sync::Arc;

use super::{split, Display};
use crate::chip::bus::Registers;
use crate::chip::hub::Hub;
use crate::chip::regs::dce;

/// Register interface of the display controller.
#[derive(Debug)]
pub(crate) struct DisplayRegisters {
    hub: Arc<Hub>,
    display: Arc<Display>,
}

impl DisplayRegisters {
    pub fn new(hub: Arc<Hub>, display: Arc<Display>) -> Self {
        Self { hub, display }
    }
}

impl Registers for DisplayRegisters {
    fn read(&self, offset: u32) -> u32 {
        if offset == dce::DC_LUT_30_COLOR {
            return self.display.read_lut(&self.hub);
        }
        let (crtc, reg) = split(offset);
        self.display.read(&self.hub, crtc, reg)
    }

    fn write(&self, offset: u32, value: u32) {
        match offset {
            // The second CRTC's block holds the first's high address register.
            dce::D1GRPH_PRIMARY_SURFACE_ADDRESS_HIGH
            | dce::D2GRPH_PRIMARY_SURFACE_ADDRESS_HIGH
            | dce::D1CUR_SURFACE_ADDRESS_HIGH
            | dce::D2CUR_SURFACE_ADDRESS_HIGH => self.hub.regs.store(offset, value),
            dce::DC_LUT_30_COLOR => self.display.write_lut(&self.hub, value),
            _ => {
                let (crtc, reg) = split(offset);
                self.display.write(&self.hub, crtc, reg, value);
            }
        }
    }
}
