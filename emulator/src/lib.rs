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
