// SPDX-License-Identifier: MIT
//! The expansion ROM: a self-written ATOM BIOS.
//!
//! [`image`] lays tables out and links them; [`tables`] says what is in
//! them. No byte comes from a vendor's BIOS. Structure layouts and table
//! indices are those of `atombios.h`, fixed offsets those of `atom.h`.
//!
//! Four command tables are real programs, made by [`bytecode`]: those that
//! look for a monitor, switch a CRTC on and off, blank it and give it its
//! timing. The others do nothing: the hardware behind them (PLLs, encoders, memory training) is
//! not modelled, and a driver that runs them finds the board as the BIOS
//! would have left it.

pub mod bytecode;
pub mod image;
pub mod tables;

pub use image::build;
