// SPDX-License-Identifier: MIT
//! Registers of the video decoder.

use std::sync::Arc;

use super::UvdSegments;
use crate::chip::bus::Registers;
use crate::chip::hub::Hub;
use crate::chip::queue::EngineId;
use crate::chip::regs::uvd;

/// First and last byte offset of the block's registers.
pub(crate) const FIRST: u32 = 0xEF00;
pub(crate) const LAST: u32 = 0xFFFF;

/// Register interface of the video decoder.
#[derive(Debug)]
pub(crate) struct UvdRegisters {
    hub: Arc<Hub>,
    segments: Arc<UvdSegments>,
}

/// Whether the VCPU runs: it has a clock and is not in reset.
pub(super) fn vcpu_running(hub: &Hub) -> bool {
    hub.regs.load(uvd::UVD_VCPU_CNTL) & uvd::VCPU_CLK_EN != 0
        && hub.regs.load(uvd::UVD_SOFT_RESET) & uvd::VCPU_SOFT_RESET == 0
}

impl UvdRegisters {
    pub fn new(hub: Arc<Hub>, segments: Arc<UvdSegments>) -> Self {
        Self { hub, segments }
    }

    /// Registers after reset: the VCPU is stopped, the ring is not fetched.
    pub fn power_on(&self) {
        let regs = &self.hub.regs;
        regs.store(uvd::UVD_SOFT_RESET, uvd::VCPU_SOFT_RESET);
        regs.store(uvd::UVD_RBC_RB_CNTL, uvd::RB_NO_FETCH);
        self.segments.reset();
    }

    /// Soft reset of the ring.
    pub fn soft_reset(&self) {
        self.hub.soft_reset(EngineId::Uvd);
        self.hub.regs.store(uvd::UVD_RBC_RB_RPTR, 0);
        self.hub.regs.store(uvd::UVD_RBC_RB_WPTR, 0);
    }
}

impl Registers for UvdRegisters {
    fn read(&self, offset: u32) -> u32 {
        match offset {
            uvd::UVD_STATUS if vcpu_running(&self.hub) => uvd::STATUS_VCPU_RUNNING,
            uvd::UVD_STATUS => 0,
            _ => self.hub.regs.load(offset),
        }
    }

    fn write(&self, offset: u32, value: u32) {
        let hub = &*self.hub;
        let engine = hub.engine(EngineId::Uvd);
        match offset {
            uvd::UVD_STATUS => {}
            uvd::UVD_LMI_EXT40_ADDR => {
                hub.regs.store(offset, value);
                self.segments.write(value);
            }
            uvd::UVD_SOFT_RESET => {
                let rising = value & !hub.regs.load(offset);
                hub.regs.store(offset, value);
                if rising & (uvd::RBC_SOFT_RESET | uvd::VCPU_SOFT_RESET) != 0 {
                    engine.reset(&hub.knobs);
                }
                engine.kick();
            }
            uvd::UVD_VCPU_CNTL | uvd::UVD_RBC_RB_CNTL => {
                hub.regs.store(offset, value);
                engine.kick();
            }
            uvd::UVD_RBC_RB_RPTR => {
                hub.regs.store(offset, value);
                engine.set_rptr(value);
            }
            uvd::UVD_RBC_RB_WPTR => {
                hub.regs.store(offset, value);
                engine.submit(value);
            }
            _ => hub.regs.store(offset, value),
        }
    }
}
