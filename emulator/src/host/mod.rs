// SPDX-License-Identifier: MIT
//! The half of the board that faces the host: the vfio-user server, PCI
//! configuration space, the option ROM, the board control registers and the
//! output files of a run.
//!
//! It reaches the chip by [`crate::chip::Chip`]'s register accesses and
//! never sees a packet.

pub mod bar;
pub mod board;
pub mod cli;
pub mod control;
pub mod output;
pub mod pci;
pub mod rom;
pub mod run;
pub mod screenshot;
pub mod target_png;
pub mod vfio;
