// SPDX-License-Identifier: MIT
//! An emulated AMD Radeon board: R700 with its 3D engine, R600, Evergreen and Northern
//! Islands for the kernel ([`chip::generation`]).
//!
//! The board is a process of its own that serves QEMU's `vfio-user-pci`.
//! Inside it two halves meet at the traits of [`chip::bus`]:
//!
//! ```text
//!   QEMU ── vfio ── board ─┬─ pci, rom, control
//!    │                     ├─ dispatch ── cp, dma, uvd (a thread each)
//!    │ maps                │    └──────── display, bif, cg, ... (a block each)
//!    │                     │               └── ih ── hub, queue (what they share)
//!    └── VRAM, registers ──┴─ memory ── GART ── guest RAM
//! ```
//!
//! - [`host`] knows sockets, file descriptors, messages, PCI configuration
//!   space and the ROM, and nothing of packets.
//! - [`chip`] knows registers, packets and memory; a message of the host's
//!   half reaches it as a register access, and an interrupt is a call.
//!
//! A register write never waits: it queues work, and an engine's thread does
//! it after the latency knob's delay, at the rate knob's speed. Therefore
//! fences, busy buffers and interrupts behave as on hardware.
//!
//! # Modelled and not
//!
//! The board models what a kernel driver needs to come up, to move memory and
//! to display it: rings and indirect buffers, copies, fences, semaphores,
//! interrupts, GART, scan-out, flips, resets and hangs. A strict board
//! ([`chip::strict`]) also models the effects of missing flushes. Draws go to a
//! [`chip::gfx::Gfx`], by default the 3D engine of [`chip::gfx::Pipeline`]. The
//! board does not model the power management processor, dividers, encoders and
//! VM contexts beyond 0. The README has the table.
//!
//! # Trust
//!
//! The guest is hostile: no ring, page table, register write or message may
//! crash or hang the board, or make it touch memory other than VRAM and the
//! guest RAM that the client has mapped. The only unsafe code is a prefetch
//! instruction, in [`chip::memory::Mapping`].

#![deny(unsafe_code)]
#![deny(missing_docs)]
// Tests write expected values as register fields are written in the headers.
#![cfg_attr(
    test,
    allow(
        clippy::precedence,
        clippy::identity_op,
        clippy::erasing_op,
        clippy::no_effect,
        clippy::field_reassign_with_default,
        clippy::type_complexity
    )
)]

pub mod chip;
pub mod fnv;
pub mod host;
