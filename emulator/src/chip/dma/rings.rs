// SPDX-License-Identifier: MIT
//! The asynchronous DMA engines: one, and two on Cayman (`cayman_dma_resume()`), each with a ring,
//! registers and a thread of its own.

use crate::chip::ih::Source;
use crate::chip::queue::EngineId;
use crate::chip::regs::{cayman, dma};

/// Registers of an engine.
#[derive(Debug, Clone, Copy)]
pub struct RingRegisters {
    /// The engine's ring.
    pub engine: EngineId,
    /// Source of its interrupts.
    pub source: Source,
    /// Ring enable, size and write-back flags.
    pub cntl: u32,
    /// Base address.
    pub base: u32,
    /// Read pointer.
    pub rptr: u32,
    /// Write pointer.
    pub wptr: u32,
    /// Read pointer write-back address, high part.
    pub rptr_addr_hi: u32,
    /// Read pointer write-back address, low part.
    pub rptr_addr_lo: u32,
    /// Indirect buffer enable.
    pub ib_cntl: u32,
    /// Interrupt enables.
    pub int_cntl: u32,
    /// Status.
    pub status: u32,
}

/// The engine of chips before Cayman.
pub(crate) static ONE: [RingRegisters; 1] = [FIRST];

/// Cayman's engines.
pub(crate) static TWO: [RingRegisters; 2] = [
    FIRST,
    RingRegisters {
        engine: EngineId::Dma1,
        source: Source::Dma1,
        cntl: cayman::DMA1_RB_CNTL,
        base: cayman::DMA1_RB_BASE,
        rptr: cayman::DMA1_RB_RPTR,
        wptr: cayman::DMA1_RB_WPTR,
        rptr_addr_hi: cayman::DMA1_RB_RPTR_ADDR_HI,
        rptr_addr_lo: cayman::DMA1_RB_RPTR_ADDR_LO,
        ib_cntl: cayman::DMA1_IB_CNTL,
        int_cntl: cayman::DMA1_CNTL,
        status: cayman::DMA1_STATUS_REG,
    },
];

const FIRST: RingRegisters = RingRegisters {
    engine: EngineId::Dma,
    source: Source::Dma,
    cntl: dma::DMA_RB_CNTL,
    base: dma::DMA_RB_BASE,
    rptr: dma::DMA_RB_RPTR,
    wptr: dma::DMA_RB_WPTR,
    rptr_addr_hi: dma::DMA_RB_RPTR_ADDR_HI,
    rptr_addr_lo: dma::DMA_RB_RPTR_ADDR_LO,
    ib_cntl: dma::DMA_IB_CNTL,
    int_cntl: dma::DMA_CNTL,
    status: dma::DMA_STATUS_REG,
};
