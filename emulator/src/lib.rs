// SPDX-License-Identifier: MIT
//! An emulated AMD R700-class graphics board.
//!
//! The board is a process of its own that serves QEMU's `vfio-user-pci`.
//! Inside it two halves meet at the traits of [`bus`]:
//!
//! ```text
//!   QEMU ── vfio ── board ─┬─ pci, rom, control
//!    │                     ├─ chip ── cp, dma, uvd (a thread each)
//!    │ maps                │    └──── ih, display (a thread for vblanks)
//!    └── VRAM, registers ──┴─ memory ── GART ── guest RAM
//! ```
//!
//! - The outer half ([`vfio`], [`board`], [`pci`], [`rom`], [`memory`],
//!   [`control`], [`run`]) knows file descriptors and messages, and nothing
//!   of packets.
//! - The inner half ([`chip`], [`cp`], [`dma`], [`ih`], [`display`],
//!   [`engine`]) knows registers and packets; memory is an MC address space
//!   and an interrupt a call.
//!
//! A register write never waits: it queues work, and an engine's thread does
//! it after the latency knob's delay, at the rate knob's speed. That is what
//! makes fences, busy buffers and interrupts behave as on hardware.
//!
//! # Modelled and not
//!
//! Modelled is what a kernel driver needs to come up, to move memory and to
//! show it: rings and indirect buffers, copies, fences, semaphores, interrupts,
//! GART, scan-out, flips, resets and hangs. Draws are decoded and handed to a
//! [`gfx::Gfx`], whose default executes nothing. Not modelled are power
//! management, PLLs, encoders, TLBs and VM contexts beyond 0. The README has
//! the table.
//!
//! # Trust
//!
//! The guest is hostile: no ring, page table, register write or message may
//! crash or hang the board, or make it touch memory other than VRAM and the
//! guest RAM it was given. There is no unsafe code in the crate.

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
mod vm;
