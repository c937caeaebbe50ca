// SPDX-License-Identifier: MIT
//! vfio-user: the board's connection to QEMU.
//!
//! A small server for the vfio-user protocol as published with libvfio-user
//! (version 0.0), over a Unix stream socket with one client. [`wire`] has
//! the message layouts, [`server`] the connection, [`irq`] the interrupt
//! lines. A [`Device`] carries the messages out.
//!
//! Not supported: migration and dirty tracking, DMA_READ/DMA_WRITE (the board
//! maps guest RAM), region I/O eventfds, write coalescing.

pub mod irq;
pub mod server;
pub mod wire;

use std::fs::File;

pub use irq::Interrupts;
pub use rustix::io::Errno;
pub use server::{ServeError, Server};

/// Number of PCI regions: six BARs, ROM, configuration space and VGA.
pub const REGIONS: u32 = 9;
/// Region index of the expansion ROM.
pub const REGION_ROM: u32 = 6;
/// Region index of the configuration space.
pub const REGION_CONFIG: u32 = 7;
/// Number of interrupt indices: INTx, MSI, MSI-X, error and request.
pub const IRQS: u32 = 5;
/// Interrupt index of INTA#.
pub const IRQ_INTX: u32 = 0;
/// Interrupt index of MSI.
pub const IRQ_MSI: u32 = 1;

/// Description of a region for the client.
#[derive(Debug, Default)]
pub struct RegionInfo<'a> {
    /// Size in bytes; 0 if the region does not exist.
    pub size: u64,
    /// Whether the region is writable.
    pub writable: bool,
    /// File to map the region from, offset 0 being the region's start.
    pub file: Option<&'a File>,
    /// Parts of the region that may be mapped, as (offset, size).
    pub mappable: &'a [(u64, u64)],
}

/// A request to map a piece of guest RAM.
#[derive(Debug)]
pub struct DmaMap {
    /// Bus address.
    pub address: u64,
    /// Size in bytes.
    pub size: u64,
    /// Offset into the file.
    pub offset: u64,
    /// The memory; `None` for ranges that are accessible by messages only.
    pub file: Option<File>,
    /// Whether the device may write.
    pub writable: bool,
}

/// The device behind a [`Server`]. The client gets the errors in its replies.
pub trait Device {
    /// Describes region `index` (below [`REGIONS`]).
    fn region_info(&self, index: u32) -> RegionInfo<'_>;
    /// Reads from a region. Must be safe for any offset and length.
    fn region_read(&self, index: u32, offset: u64, data: &mut [u8]) -> Result<(), Errno>;
    /// Writes to a region. Must be safe for any offset and length.
    fn region_write(&self, index: u32, offset: u64, data: &[u8]) -> Result<(), Errno>;
    /// Maps guest RAM.
    fn dma_map(&self, map: DmaMap) -> Result<(), Errno>;
    /// Unmaps guest RAM; with `None`, all of it.
    fn dma_unmap(&self, range: Option<(u64, u64)>) -> Result<(), Errno>;
    /// Interrupt lines of the device.
    fn interrupts(&self) -> &Interrupts;
    /// Back to the power-on state.
    fn reset(&self);
}
