// SPDX-License-Identifier: MIT
//! All memory of the board: VRAM, guest RAM, the register file, and the memory
//! controller, which gives the engines one address space of the first two.
//!
//! [`mapping`] is the only module that maps memory shared with another
//! process; the rest of the crate sees bounds-checked reads and writes.
//!
//! Locking: the map of guest RAM has one reader/writer lock, held for the
//! length of one access. Nothing else here locks, so an access may be made
//! with any lock of a block held.

pub mod context;
pub mod gart;
pub mod guest_ram;
pub mod mapping;
pub mod mc;
pub mod regfile;
pub mod vram;

pub use guest_ram::{DmaError, GuestRam};
pub use mapping::{Mapping, MemoryError};
pub use mc::MemoryController;
pub use regfile::RegisterFile;
pub use vram::Vram;

/// Size of a GPU page, which one page-table entry maps, in bytes.
pub const PAGE_SIZE: u64 = 4096;
