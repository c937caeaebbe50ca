// SPDX-License-Identifier: MIT
//! Memory sequencer of Northern Islands, which runs a program of the driver's to
//! train the memory.
//!
//! The driver stops it, loads the program dword by dword and starts it; training
//! is complete when `MEM_FALL_OUT_CMD` appears (`ni_mc_load_microcode()`). A
//! program that is not whole does not train. Memory works all the time here.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::Arc;

use crate::chip::bus::Registers;
use crate::chip::hub::Hub;
use crate::chip::regs::evergreen::{
    LOAD, MC_IO_PAD_CNTL_D0, MC_SEQ_SUP_CNTL, MC_SEQ_SUP_PGM, MEM_FALL_OUT_CMD, RUN,
};

/// The sequencer.
#[derive(Debug)]
pub(crate) struct McSeq {
    hub: Arc<Hub>,
    /// Dwords loaded since the sequencer last took a program.
    loaded: AtomicU32,
}

impl McSeq {
    pub fn new(hub: Arc<Hub>) -> Self {
        Self {
            hub,
            loaded: AtomicU32::new(0),
        }
    }

    /// Forgets the program.
    pub fn power_on(&self) {
        self.loaded.store(0, Ordering::Relaxed);
    }

    fn control(&self, value: u32) {
        let regs = &self.hub.regs;
        regs.store(MC_SEQ_SUP_CNTL, value);
        if value & LOAD != 0 {
            self.loaded.store(0, Ordering::Relaxed);
        }
        let trained = value & RUN != 0
            && self.loaded.load(Ordering::Relaxed) == self.hub.generation.mc_program;
        let pads = regs.load(MC_IO_PAD_CNTL_D0) & !MEM_FALL_OUT_CMD;
        let done = if trained { MEM_FALL_OUT_CMD } else { 0 };
        regs.store(MC_IO_PAD_CNTL_D0, pads | done);
        let loaded = self.loaded.load(Ordering::Relaxed);
        self.hub.trace.line(
            "mc",
            format_args!("sequencer {value:#x}, {loaded} dwords, trained {trained}"),
        );
    }
}

impl Registers for McSeq {
    fn read(&self, offset: u32) -> u32 {
        self.hub.regs.load(offset)
    }

    fn write(&self, offset: u32, value: u32) {
        match offset {
            MC_SEQ_SUP_CNTL => self.control(value),
            MC_SEQ_SUP_PGM => {
                // Beyond the program's length it is as wrong as before.
                let more = self.loaded.load(Ordering::Relaxed).saturating_add(1);
                self.loaded.store(more, Ordering::Relaxed);
            }
            MC_IO_PAD_CNTL_D0 => {
                let done = self.hub.regs.load(offset) & MEM_FALL_OUT_CMD;
                let value = value & !MEM_FALL_OUT_CMD | done;
                self.hub.regs.store(offset, value);
            }
            _ => self.hub.regs.store(offset, value),
        }
    }
}
