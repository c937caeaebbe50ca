// SPDX-License-Identifier: MIT
//! State registers of the 3D pipeline: storage with dirty bits.

use std::sync::atomic::Ordering;
use std::sync::Arc;

use crate::chip::bus::Registers;
use crate::chip::gfx::STATE_BASE;
use crate::chip::hub::Hub;

/// log2 of the bytes of registers that share a bit of [`Hub::gfx_dirty`].
const BLOCK_SHIFT: u32 = 11;

/// Context registers, constants, resources and samplers.
#[derive(Debug)]
pub(crate) struct PipelineState {
    hub: Arc<Hub>,
}

impl PipelineState {
    pub fn new(hub: Arc<Hub>) -> Self {
        Self { hub }
    }

    /// Marks all state as changed, so that the next draw decodes it again.
    pub fn power_on(&self) {
        self.hub.gfx_dirty.store(u64::MAX, Ordering::Release);
    }
}

impl Registers for PipelineState {
    fn read(&self, offset: u32) -> u32 {
        self.hub.regs.load(offset)
    }

    fn write(&self, offset: u32, value: u32) {
        self.hub.regs.store(offset, value);
        let block = offset.saturating_sub(STATE_BASE) >> BLOCK_SHIFT;
        self.hub
            .gfx_dirty
            .fetch_or(1 << block.min(63), Ordering::Release);
    }
}
