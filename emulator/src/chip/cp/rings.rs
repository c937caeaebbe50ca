// SPDX-License-Identifier: MIT
//! The command processor's rings: one, and three on Cayman, each with registers and a thread of its
//! own (`cayman_cp_resume()`). They share the micro engines, and so their halt bits and soft reset.

use crate::chip::queue::EngineId;
use crate::chip::regs::{cayman, cp};

/// Registers of a ring.
#[derive(Debug, Clone, Copy)]
pub struct RingRegisters {
    /// The ring.
    pub engine: EngineId,
    /// Base address.
    pub base: u32,
    /// Size and flags.
    pub cntl: u32,
    /// Read pointer.
    pub rptr: u32,
    /// Register that sets the read pointer while `RB_RPTR_WR_ENA` is set.
    pub set_rptr: u32,
    /// Read pointer write-back address, low part.
    pub rptr_addr: u32,
    /// Read pointer write-back address, high part.
    pub rptr_addr_hi: u32,
    /// Write pointer.
    pub wptr: u32,
}

/// The ring of chips before Cayman.
pub(crate) static ONE: [RingRegisters; 1] = [RingRegisters {
    engine: EngineId::Gfx,
    base: cp::CP_RB_BASE,
    cntl: cp::CP_RB_CNTL,
    rptr: cp::CP_RB_RPTR,
    set_rptr: cp::CP_RB_RPTR_WR,
    rptr_addr: cp::CP_RB_RPTR_ADDR,
    rptr_addr_hi: cp::CP_RB_RPTR_ADDR_HI,
    wptr: cp::CP_RB_WPTR,
}];

/// Cayman's. The first one's registers are where the only one's were, but the driver sets its read
/// pointer in the pointer's own register.
pub(crate) static THREE: [RingRegisters; 3] = [
    RingRegisters {
        set_rptr: cp::CP_RB_RPTR,
        ..ONE[0]
    },
    RingRegisters {
        engine: EngineId::Cp1,
        base: cayman::CP_RB1_BASE,
        cntl: cayman::CP_RB1_CNTL,
        rptr: cayman::CP_RB1_RPTR,
        set_rptr: cayman::CP_RB1_RPTR,
        rptr_addr: cayman::CP_RB1_RPTR_ADDR,
        rptr_addr_hi: cayman::CP_RB1_RPTR_ADDR_HI,
        wptr: cayman::CP_RB1_WPTR,
    },
    RingRegisters {
        engine: EngineId::Cp2,
        base: cayman::CP_RB2_BASE,
        cntl: cayman::CP_RB2_CNTL,
        rptr: cayman::CP_RB2_RPTR,
        set_rptr: cayman::CP_RB2_RPTR,
        rptr_addr: cayman::CP_RB2_RPTR_ADDR,
        rptr_addr_hi: cayman::CP_RB2_RPTR_ADDR_HI,
        wptr: cayman::CP_RB2_WPTR,
    },
];
