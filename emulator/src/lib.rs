// SPDX-License-Identifier: MIT
//! An emulated AMD R700-class graphics board.

#![forbid(unsafe_code)]
#![deny(missing_docs)]

pub mod bus;
pub mod memory;
pub mod output;
pub mod pci;
pub mod rom;
pub mod vfio;
pub mod chip;
pub mod counters;
pub mod cp;
pub mod display;
pub mod dma;
pub mod engine;
pub mod gfx;
pub mod ih;
pub mod regs;
pub mod tiling;
pub mod trace;
mod fetch;
mod hub;
mod uvd;
