// SPDX-License-Identifier: MIT
//! Unmodified Mesa on the emulated R700, without guest or kernel.
//!
//! `libr7xx_shim.so` is loaded with `LD_PRELOAD` into a GL program. It shows
//! the program one radeon device and answers radeon's ioctls in the process:
//!
//! ```text
//!   Mesa ── open, ioctl ── hooks ── ioctl ─┬─ bo      handles, files of exported BOs
//!    │                                     └─ checker addresses into IBs
//!    └── mmap ── memory file ── memory ── gpu ── the board's chip
//! ```
//!
//! - [`hooks`] takes the place of libc's and libdrm's functions.
//! - [`ioctl`] implements the kernel driver's ioctls; [`bo`] has the buffer
//!   objects, most of them in one memory file whose offsets are MC addresses.
//! - [`memory`] is that file, with what the GPU reads while a submission is captured; [`share`] makes
//!   files of exported BOs.
//! - [`checker`] puts addresses into command streams and refuses what the kernel's
//!   command checker (`r600_cs.c`) refuses; `track` has its rules of surfaces.
//! - [`capture`] writes a program's submissions to a file, and [`replay`]
//!   executes them again (`r7xx-replay`).
//! - [`history`] prints what happened to a pixel or a vertex of a capture.
//! - [`edit`] lists the shaders of a capture, and puts changed ones in their place.
//! - [`timeline`] writes when a replay executed what.
//! - [`settings`] reads the environment.
//! - [`gpu`] is the driver's side of the rings of a
//!   [`Chip`](r7xx_board::chip::Chip).
//!
//! A submission is executed before its ioctl returns, so no BO is ever busy.
//! Tests that depend on time, rings, interrupts or the kernel's memory
//! management need the guest.
//!
//! # Unsafe code
//!
//! [`user`] and [`ioctl`] access the program's memory, [`share`] maps files over mappings, and [`hooks`]
//! replaces libc's functions. Each use of `unsafe` in them says why it is sound. The other
//! modules are safe.
//!
//! # Environment
//!
//! `R7XX_CHIP` names the chip (`rv710`, `turks`, `cayman`, ...; default
//! `rv770`). `R7XX_TRACE` names a file for the chip's trace, `R7XX_CAPTURE` one
//! for the submissions; `R7XX_CAPTURE_SUBMISSIONS` says which (`FIRST-LAST`). `R7XX_CAPTURE_ON=hang` and
//! `R7XX_CAPTURE_DRAW` take the last ones up to that, `R7XX_CAPTURE_LAST` many.
//! `R7XX_CHECK=1` prints which shaders hardware would not execute as the interpreter does.
//! `R7XX_LINT=1` prints mistakes of the driver that hardware does not tell.
//! `R7XX_STRICT` is the seed of a strict board: the 3D engine's caches and the CP's
//! prefetch give stale data where a flush is missing. If one of them cannot be obeyed, or
//! the chip does not start, the program ends with exit status 125.

#![deny(missing_docs, unsafe_op_in_unsafe_fn)]

pub mod bo;
pub mod capture;
pub mod checker;
pub mod checker_evergreen;
pub mod checker_r600;
pub mod checker_vm;
pub mod edit;
pub mod gpu;
pub mod history;
pub mod hooks;
pub mod ioctl;
pub mod memory;
pub mod redundant;
pub mod replay;
pub mod settings;
pub mod share;
pub mod space;
pub mod timeline;
pub(crate) mod track;
pub mod user;
