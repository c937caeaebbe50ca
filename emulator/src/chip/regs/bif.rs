// SPDX-License-Identifier: MIT
//! Bus interface. Source: `r600d.h` (`R600_PCIE_PORT_*`), `rv770d.h`
//! (`PCIE_LC_*` and their fields).

super::registers! {
    /// Index of the link controller's register in `PCIE_PORT_DATA`.
    PCIE_PORT_INDEX = 0x0038;
    /// The selected register.
    PCIE_PORT_DATA = 0x003C;
}

/// Index: width of the link.
pub const PCIE_LC_LINK_WIDTH_CNTL: u32 = 0xA2;
/// Index: speed of the link.
pub const PCIE_LC_SPEED_CNTL: u32 = 0xA4;

/// `LC_LINK_WIDTH_X16`: code of 16 lanes in `LC_LINK_WIDTH` and its read-back.
pub const LC_LINK_WIDTH_X16: u32 = 6;
/// `LC_LINK_WIDTH_RD`: width in use, bits 6:4.
pub const LC_LINK_WIDTH_RD_SHIFT: u32 = 4;
/// Mask of `LC_LINK_WIDTH_RD`.
pub const LC_LINK_WIDTH_RD_MASK: u32 = 7 << LC_LINK_WIDTH_RD_SHIFT;
/// `LC_RECONFIG_NOW`: a write changes the width.
pub const LC_RECONFIG_NOW: u32 = 1 << 8;
/// `LC_RENEGOTIATION_SUPPORT`: the width can be changed.
pub const LC_RENEGOTIATION_SUPPORT: u32 = 1 << 9;

/// `LC_GEN2_EN_STRAP`: 5 GT/s allowed.
pub const LC_GEN2_EN_STRAP: u32 = 1 << 0;
/// `LC_CURRENT_DATA_RATE`: the link runs at 5 GT/s.
pub const LC_CURRENT_DATA_RATE: u32 = 1 << 11;
/// `LC_OTHER_SIDE_EVER_SENT_GEN2`: the port has offered 5 GT/s.
pub const LC_OTHER_SIDE_EVER_SENT_GEN2: u32 = 1 << 23;
/// `LC_OTHER_SIDE_SUPPORTS_GEN2`: the port can do 5 GT/s.
pub const LC_OTHER_SIDE_SUPPORTS_GEN2: u32 = 1 << 24;
