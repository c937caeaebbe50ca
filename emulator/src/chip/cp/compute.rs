// SPDX-License-Identifier: MIT
//! Context registers of compute shaders.
//!
//! A packet with `COMPUTE_MODE` in its header sets registers of a context of its own: Mesa emits the
//! images of compute shaders so between draws, where their `CB_COLORn` would overwrite the render
//! targets (`evergreen_emit_compute_image_state()`, `RADEON_CP_PACKET3_COMPUTE_MODE`).

use super::execute::CONTEXT;
use crate::chip::bus::RegFile;

/// The registers' values.
#[derive(Debug)]
pub(super) struct ComputeState(Vec<u32>);

impl Default for ComputeState {
    fn default() -> Self {
        Self(vec![0; CONTEXT.len() / 4])
    }
}

impl ComputeState {
    /// Sets consecutive registers from byte offset `first` on. Those outside of the context are left
    /// out.
    pub(super) fn set(&mut self, first: u32, values: &[u32]) {
        for (offset, value) in (first..).step_by(4).zip(values) {
            let at = offset.wrapping_sub(CONTEXT.start) as usize / 4;
            if let Some(register) = self.0.get_mut(at) {
                *register = *value;
            }
        }
    }

    /// The registers as a dispatch sees them: the others are `regs`'.
    pub(super) fn over<'a>(&'a self, regs: &'a dyn RegFile) -> impl RegFile + 'a {
        Over { state: self, regs }
    }
}

struct Over<'a> {
    state: &'a ComputeState,
    regs: &'a dyn RegFile,
}

impl RegFile for Over<'_> {
    fn load(&self, offset: u32) -> u32 {
        match CONTEXT.contains(&offset) {
            true => self.state.0[(offset - CONTEXT.start) as usize / 4],
            false => self.regs.load(offset),
        }
    }

    fn store(&self, offset: u32, value: u32) {
        self.regs.store(offset, value);
    }
}
