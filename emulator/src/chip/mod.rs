// SPDX-License-Identifier: MIT
//! The half of the board that is the chip: registers, memory controller,
//! engines, interrupts and display, a module for each block.
//!
//! It knows nothing of vfio-user. What surrounds it is behind the traits of
//! [`bus`], so that tests run blocks on plain memory.

pub mod bus;
pub mod counters;
pub mod cp;
mod dispatch;
pub mod display;
pub mod dma;
pub mod engine;
mod fetch;
pub mod gfx;
mod hub;
pub mod ih;
pub mod memory;
pub mod regs;
pub mod tiling;
mod tlb;
pub mod trace;
mod uvd;

pub(crate) use dispatch::{read_reg, write_reg};
pub use dispatch::{Chip, ChipConfig, Family};
