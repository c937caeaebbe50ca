// SPDX-License-Identifier: MIT
//! Registers of the host data path.
//!
//! Without [`strict`](crate::chip::strict) the path buffers nothing, and the
//! registers are in pages that the guest maps.

use std::sync::Arc;

use crate::chip::bus::Registers;
use crate::chip::hub::Hub;
use crate::chip::regs::hdp::{HDP_DEBUG1, HDP_MEM_COHERENCY_FLUSH_CNTL};

/// Register interface of the host data path.
#[derive(Debug)]
pub(crate) struct HdpRegisters {
    hub: Arc<Hub>,
}

impl HdpRegisters {
    pub fn new(hub: Arc<Hub>) -> Self {
        Self { hub }
    }

    /// Handles the first half of a flush: a read or write of `HDP_DEBUG1`. The
    /// second half is a read of VRAM.
    fn arm(&self, offset: u32) {
        if let (HDP_DEBUG1, Some(strict)) = (offset, &self.hub.strict) {
            strict.hdp.arm();
        }
    }
}

impl Registers for HdpRegisters {
    fn read(&self, offset: u32) -> u32 {
        self.arm(offset);
        self.hub.regs.load(offset)
    }

    fn write(&self, offset: u32, value: u32) {
        self.arm(offset);
        self.hub.regs.store(offset, value);
        if let (HDP_MEM_COHERENCY_FLUSH_CNTL, Some(strict)) = (offset, &self.hub.strict) {
            strict.hdp.flush();
        }
    }
}
