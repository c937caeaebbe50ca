// SPDX-License-Identifier: MIT
//! Fuses of Evergreen, which `RCU_IND_INDEX` and `RCU_IND_DATA` reach: which render
//! backends are off. Other registers behind the pair are storage.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::Arc;

use crate::chip::bus::Registers;
use crate::chip::hub::Hub;
use crate::chip::regs::evergreen::{EFUSE_STRAPS_3, EFUSE_STRAPS_4, RCU_IND_DATA, RCU_IND_INDEX};

/// Registers behind the pair: the driver masks its index to 13 bits.
const REGISTERS: usize = 0x2000;

/// The indirect registers.
#[derive(Debug)]
pub(crate) struct Rcu {
    hub: Arc<Hub>,
    registers: Vec<AtomicU32>,
}

impl Rcu {
    pub fn new(hub: Arc<Hub>) -> Self {
        let registers = (0..REGISTERS).map(|_| AtomicU32::new(0)).collect();
        Self { hub, registers }
    }

    /// Registers after reset.
    pub fn power_on(&self) {
        for register in &self.registers {
            register.store(0, Ordering::Relaxed);
        }
        let off = self.hub.model.backends_off();
        self.at(EFUSE_STRAPS_3).store(off << 28, Ordering::Relaxed);
        self.at(EFUSE_STRAPS_4).store(off >> 4, Ordering::Relaxed);
    }

    fn at(&self, index: u32) -> &AtomicU32 {
        &self.registers[index as usize % REGISTERS]
    }

    fn selected(&self) -> &AtomicU32 {
        self.at(self.hub.regs.load(RCU_IND_INDEX))
    }
}

impl Registers for Rcu {
    fn read(&self, offset: u32) -> u32 {
        match offset {
            RCU_IND_DATA => self.selected().load(Ordering::Relaxed),
            _ => self.hub.regs.load(offset),
        }
    }

    fn write(&self, offset: u32, value: u32) {
        match offset {
            RCU_IND_DATA => self.selected().store(value, Ordering::Relaxed),
            _ => self.hub.regs.store(offset, value),
        }
    }
}
