// SPDX-License-Identifier: MIT
//! Clock generator. Source: `rv770d.h`.

super::registers! {
    /// Engine clock's PLL. The board's ROM keeps the clock itself here, in
    /// units of 10 kHz: dividers are not modelled.
    CG_SPLL_FUNC_CNTL = 0x0600;
    /// Memory clock's PLL, with the clock as in the engine's.
    MPLL_AD_FUNC_CNTL = 0x0624;
    /// UVD PLL control: request and acknowledge bits.
    CG_UPLL_FUNC_CNTL = 0x0718;
    /// Measured temperatures.
    CG_MULT_THERMAL_STATUS = 0x0740;
}

/// Request to apply new dividers.
pub const UPLL_CTLREQ_MASK: u32 = 0x0000_0008;
/// Acknowledge for VCLK.
pub const UPLL_CTLACK_MASK: u32 = 0x4000_0000;
/// Acknowledge for DCLK.
pub const UPLL_CTLACK2_MASK: u32 = 0x8000_0000;
/// `ASIC_T`: die temperature in half degrees Celsius.
pub const ASIC_T_SHIFT: u32 = 16;
