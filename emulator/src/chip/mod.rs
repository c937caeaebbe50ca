// SPDX-License-Identifier: MIT
//! The half of the board that is the chip: registers, memory controller,
//! engines, interrupts and display, a module for each block.
//!
//! It knows nothing of vfio-user. It reaches memory and the host through the
//! traits of [`bus`], so that tests run blocks on plain memory.

mod bif;
pub mod bus;
mod cg;
mod context;
pub mod counters;
pub mod coverage;
pub mod cp;
mod dispatch;
pub mod display;
pub mod dma;
mod dmif;
pub mod engine;
pub mod family;
mod fetch;
pub mod generation;
pub mod gfx;
mod grbm;
mod hdp;
mod hub;
pub mod ih;
mod lifecycle;
mod mc_seq;
pub mod memory;
pub mod queue;
mod rcu;
pub mod regs;
mod srbm;
mod state;
pub mod strict;
pub mod tiling;
mod tlb;
pub mod trace;
mod uvd;

pub use family::Family;
pub use lifecycle::{Chip, ChipConfig};
