// SPDX-License-Identifier: MIT
//! The expansion ROM: a self-written ATOM BIOS.
//!
//! [`image`] lays tables out and links them; [`tables`] says what is in
//! them. No byte comes from a vendor's BIOS. Structure layouts and table
//! indices are those of `atombios.h`, fixed offsets those of `atom.h`.
//!
//! Eight command tables are real programs, made by [`bytecode`]. They look for
//! a monitor, switch a CRTC on and off, blank it, set its timing, and set and
//! get the two clocks. The other tables do nothing: the hardware behind them
//! (dividers, encoders, memory training) is not modelled, and the board is
//! always in the state in which a real BIOS would leave it.
//!
//! The PowerPlay table has a state for one display and one for several, so
//! that radeon offers power profiles (with `radeon.dpm=0`) and reclocks.

pub mod bytecode;
pub mod image;
pub mod tables;

pub use image::build;
