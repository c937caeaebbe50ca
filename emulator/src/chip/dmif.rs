// SPDX-License-Identifier: MIT
//! Buffers between memory and the CRTCs (DCE 4.1 and 5): an allocation is complete
//! at once (`evergreen_line_buffer_adjust()`).

use std::sync::Arc;

use crate::chip::bus::Registers;
use crate::chip::hub::Hub;
use crate::chip::regs::evergreen::{DMIF_BUFFERS_ALLOCATED_COMPLETED, PIPE0_DMIF_BUFFER_CONTROL};

/// Bytes from one CRTC's registers to the next's.
const STRIDE: u32 = 32;

/// The buffers' registers.
#[derive(Debug)]
pub(crate) struct Dmif {
    hub: Arc<Hub>,
}

impl Dmif {
    pub fn new(hub: Arc<Hub>) -> Self {
        Self { hub }
    }
}

impl Registers for Dmif {
    fn read(&self, offset: u32) -> u32 {
        self.hub.regs.load(offset)
    }

    fn write(&self, offset: u32, value: u32) {
        let from = offset.wrapping_sub(PIPE0_DMIF_BUFFER_CONTROL);
        let control = from % STRIDE == 0 && from / STRIDE < self.hub.model.crtcs as u32;
        let done = if control {
            DMIF_BUFFERS_ALLOCATED_COMPLETED
        } else {
            0
        };
        self.hub.regs.store(offset, value | done);
    }
}
