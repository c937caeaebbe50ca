// SPDX-License-Identifier: MIT
//! Bus interface: the link controller's indirect registers.
//!
//! A driver selects a register in `PCIE_PORT_INDEX` and accesses it in
//! `PCIE_PORT_DATA`. The board trains at 2.5 GT/s, as the cards of this family
//! do, and goes to 5 GT/s when a driver sets `LC_GEN2_EN_STRAP`
//! (`rv770_pcie_gen2_enable()`): the slot's port supports 5 GT/s.

use std::sync::atomic::{AtomicU32, Ordering};

use crate::chip::bus::Registers;
use crate::chip::regs::bif::{
    LC_CURRENT_DATA_RATE, LC_GEN2_EN_STRAP, LC_LINK_WIDTH_RD_MASK, LC_LINK_WIDTH_RD_SHIFT,
    LC_LINK_WIDTH_X16, LC_OTHER_SIDE_EVER_SENT_GEN2, LC_OTHER_SIDE_SUPPORTS_GEN2, LC_RECONFIG_NOW,
    LC_RENEGOTIATION_SUPPORT, PCIE_LC_LINK_WIDTH_CNTL, PCIE_LC_SPEED_CNTL, PCIE_PORT_DATA,
    PCIE_PORT_INDEX,
};

/// Number of registers behind the pair: the index has eight bits.
const PORT_REGISTERS: usize = 0x100;

/// Read-only bits: the abilities of the link's other end and the current rate.
const SPEED_READ_ONLY: u32 =
    LC_OTHER_SIDE_EVER_SENT_GEN2 | LC_OTHER_SIDE_SUPPORTS_GEN2 | LC_CURRENT_DATA_RATE;

/// The link controller.
#[derive(Debug)]
pub(crate) struct Bif {
    index: AtomicU32,
    port: [AtomicU32; PORT_REGISTERS],
}

impl Default for Bif {
    fn default() -> Self {
        let bif = Self {
            index: AtomicU32::new(0),
            port: [const { AtomicU32::new(0) }; PORT_REGISTERS],
        };
        bif.reset();
        bif
    }
}

impl Bif {
    fn selected(&self) -> u32 {
        self.index.load(Ordering::Relaxed) % PORT_REGISTERS as u32
    }

    fn port(&self, register: u32) -> &AtomicU32 {
        &self.port[register as usize % PORT_REGISTERS]
    }

    fn write_port(&self, register: u32, value: u32) {
        let port = self.port(register);
        let old = port.load(Ordering::Relaxed);
        let new = match register {
            PCIE_LC_SPEED_CNTL => {
                let rate = if value & LC_GEN2_EN_STRAP != 0 {
                    LC_CURRENT_DATA_RATE
                } else {
                    0
                };
                let fixed = SPEED_READ_ONLY & !LC_CURRENT_DATA_RATE;
                value & !SPEED_READ_ONLY | old & fixed | rate
            }
            // The width never changes, so a reconfiguration is over at once.
            PCIE_LC_LINK_WIDTH_CNTL => {
                let fixed = LC_LINK_WIDTH_RD_MASK | LC_RENEGOTIATION_SUPPORT;
                value & !(fixed | LC_RECONFIG_NOW) | old & fixed
            }
            _ => value,
        };
        port.store(new, Ordering::Relaxed);
    }

    /// Whether the link runs at 5 GT/s rather than 2.5.
    pub fn second_generation(&self) -> bool {
        self.port(PCIE_LC_SPEED_CNTL).load(Ordering::Relaxed) & LC_CURRENT_DATA_RATE != 0
    }

    /// Back to the state after link training.
    pub fn reset(&self) {
        self.index.store(0, Ordering::Relaxed);
        for port in &self.port {
            port.store(0, Ordering::Relaxed);
        }
        let width = LC_LINK_WIDTH_X16 | (LC_LINK_WIDTH_X16 << LC_LINK_WIDTH_RD_SHIFT);
        self.port(PCIE_LC_LINK_WIDTH_CNTL)
            .store(width | LC_RENEGOTIATION_SUPPORT, Ordering::Relaxed);
        self.port(PCIE_LC_SPEED_CNTL).store(
            LC_OTHER_SIDE_EVER_SENT_GEN2 | LC_OTHER_SIDE_SUPPORTS_GEN2,
            Ordering::Relaxed,
        );
    }
}

impl Registers for Bif {
    fn read(&self, offset: u32) -> u32 {
        match offset {
            PCIE_PORT_INDEX => self.index.load(Ordering::Relaxed),
            PCIE_PORT_DATA => self.port(self.selected()).load(Ordering::Relaxed),
            _ => 0,
        }
    }

    fn write(&self, offset: u32, value: u32) {
        match offset {
            PCIE_PORT_INDEX => self.index.store(value, Ordering::Relaxed),
            PCIE_PORT_DATA => self.write_port(self.selected(), value),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn port(bif: &Bif, register: u32) -> u32 {
        bif.write(PCIE_PORT_INDEX, register);
        bif.read(PCIE_PORT_DATA)
    }

    fn set_port(bif: &Bif, register: u32, value: u32) {
        bif.write(PCIE_PORT_INDEX, register);
        bif.write(PCIE_PORT_DATA, value);
    }

    #[test]
    fn strap_raises_the_rate_and_capabilities_stay() {
        let bif = Bif::default();
        assert!(!bif.second_generation());
        set_port(&bif, PCIE_LC_SPEED_CNTL, LC_GEN2_EN_STRAP);
        assert!(bif.second_generation());
        let speed = port(&bif, PCIE_LC_SPEED_CNTL);
        assert_ne!(speed & LC_OTHER_SIDE_SUPPORTS_GEN2, 0);
        set_port(&bif, PCIE_LC_SPEED_CNTL, LC_CURRENT_DATA_RATE);
        assert!(!bif.second_generation());
    }

    #[test]
    fn width_is_sixteen_lanes_whatever_is_written() {
        let bif = Bif::default();
        set_port(&bif, PCIE_LC_LINK_WIDTH_CNTL, LC_RECONFIG_NOW | 1);
        let width = port(&bif, PCIE_LC_LINK_WIDTH_CNTL);
        assert_eq!(
            (width & LC_LINK_WIDTH_RD_MASK) >> LC_LINK_WIDTH_RD_SHIFT,
            LC_LINK_WIDTH_X16
        );
        assert_eq!(width & LC_RECONFIG_NOW, 0);
    }

    #[test]
    fn registers_are_apart_and_any_index_is_survived() {
        let bif = Bif::default();
        set_port(&bif, 0x10, 1);
        set_port(&bif, 0x11, 2);
        assert_eq!((port(&bif, 0x10), port(&bif, 0x11)), (1, 2));
        set_port(&bif, u32::MAX, 3);
        assert_eq!(port(&bif, 0xFF), 3);
        bif.reset();
        assert_eq!(port(&bif, 0x10), 0);
    }
}
