// SPDX-License-Identifier: MIT
//! An emulated AMD R700-class graphics board.

#![forbid(unsafe_code)]
#![deny(missing_docs)]

pub mod board;
pub mod bus;
pub mod chip;
pub mod cli;
pub mod control;
pub mod counters;
pub mod cp;
pub mod display;
pub mod dma;
pub mod engine;
mod fetch;
pub mod gfx;
mod hub;
pub mod ih;
pub mod memory;
pub mod output;
pub mod pci;
pub mod regs;
pub mod rom;
pub mod run;
pub mod screenshot;
pub mod tiling;
pub mod trace;
mod uvd;
pub mod vfio;
