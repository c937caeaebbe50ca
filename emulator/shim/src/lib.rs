// SPDX-License-Identifier: MIT
//! Unmodified Mesa on the emulated R700, without guest or kernel.
//!
//! `libr7xx_shim.so` is loaded with `LD_PRELOAD` into a GL program. It shows
//! the program one radeon device and answers radeon's ioctls in the process:
//!
//! ```text
//!   Mesa ── open, ioctl ── hooks ── ioctl ─┬─ bo      handles, memory
//!    │                                     └─ checker addresses into IBs
//!    └── mmap ── memory file ── memory ── gpu ── the board's chip
//! ```
//!
//! - [`hooks`] takes the place of libc's and libdrm's functions.
//! - [`ioctl`] is what the kernel driver's ioctls do; [`bo`] has its buffer
//!   objects, all in one memory file whose offsets are MC addresses.
//! - [`checker`] puts addresses into command streams, as the kernel's command
//!   checker (`r600_cs.c`) does.
//! - [`capture`] writes what a program submits to a file, and [`replay`]
//!   executes it again (`r7xx-replay`).
//! - [`gpu`] is the driver's side of the rings of a
//!   [`Chip`](r7xx_board::chip::Chip).
//!
//! A submission is executed before its ioctl returns, so no BO is ever busy:
//! what depends on time, on rings, interrupts or the kernel's memory
//! management is tested in the guest.
//!
//! # Unsafe code
//!
//! The program's memory is only reached in [`user`], and libc's functions are
//! replaced in [`hooks`]. Each use of `unsafe` there says why it is sound.
//! Everything else is safe.
//!
//! # Environment
//!
//! `R7XX_CHIP` names the chip (`rv710`, `rv730`, `rv740`, `rv770`; default
//! `rv770`). `R7XX_TRACE` names a file for the chip's trace, `R7XX_CAPTURE` one
//! for the submissions; `R7XX_CAPTURE_SUBMISSIONS` says which (`FIRST-LAST`).
//! `R7XX_STRICT` is the seed of a strict board: the 3D engine's caches and the CP's
//! prefetch hold back what is not flushed.

#![deny(missing_docs, unsafe_op_in_unsafe_fn)]

pub mod bo;
pub mod capture;
pub mod checker;
pub mod gpu;
pub mod hooks;
pub mod ioctl;
pub mod replay;
pub mod user;
