// SPDX-License-Identifier: MIT
//! Registers of the display controller.

use std::sync::Arc;

use super::Display;
use crate::chip::bus::Registers;
use crate::chip::hub::Hub;

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
        let layout = &self.hub.generation.display;
        let (crtc, reg) = layout.split(offset);
        if layout.is_lut_colour(crtc, reg) {
            return self.display.read_lut(&self.hub, crtc);
        }
        self.display.read(&self.hub, crtc, reg)
    }

    fn write(&self, offset: u32, value: u32) {
        let layout = &self.hub.generation.display;
        let (crtc, reg) = layout.split(offset);
        if layout.primary_high.contains(&offset) || layout.cursor_high.contains(&offset) {
            self.hub.regs.store(offset, value);
        } else if layout.is_lut_colour(crtc, reg) {
            self.display.write_lut(&self.hub, crtc, value);
        } else {
            self.display.write(&self.hub, crtc, reg, value);
        }
    }
}
