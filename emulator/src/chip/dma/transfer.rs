// SPDX-License-Identifier: MIT
//! Data movement of the DMA engine, in bounded chunks.

use super::packet::TiledSurface;
use crate::chip::bus::McError;
use crate::chip::counters::Counter;
use crate::chip::engine::{Ended, Job, COPY_CHUNK};
use crate::chip::hub::Hub;
use crate::chip::regs::dma;
use crate::chip::regs::evergreen::gfx as evergreen;
use crate::chip::tiling::{ArrayMode, Layout, TilingConfig};

fn charge(job: &Job<'_>, bytes: usize) -> Result<(), Ended<McError>> {
    job.hub.counters.add(Counter::DmaBytes, bytes as u64);
    Ok(job.throttle(bytes as u64)?)
}

fn to_bytes(data: &[u32]) -> Vec<u8> {
    data.iter().flat_map(|d| d.to_le_bytes()).collect()
}

/// Writes the packet's dwords (at most 65,535).
pub(super) fn write(job: &Job<'_>, dst: u64, data: &[u32]) -> Result<(), McError> {
    job.mc.write(dst, &to_bytes(data))
}

/// Copies `total` bytes in chunks, by ascending address.
pub(super) fn copy(job: &Job<'_>, dst: u64, src: u64, total: usize) -> Result<(), Ended<McError>> {
    let mut buf = vec![0; total.min(COPY_CHUNK)];
    let mut done = 0;
    while done < total {
        let chunk = &mut buf[..COPY_CHUNK.min(total - done)];
        job.mc.read(src + done as u64, chunk)?;
        job.mc.write(dst + done as u64, chunk)?;
        done += chunk.len();
        charge(job, chunk.len())?;
    }
    Ok(())
}

/// Writes page-table entries with flags; their addresses begin with the first of `addresses` and
/// advance by the second.
pub(super) fn page_table(
    job: &Job<'_>,
    dst: u64,
    (first, step): (u64, u64),
    flags: u64,
    entries: u32,
) -> Result<(), Ended<McError>> {
    let entry = |i: u64| flags | first.wrapping_add(step.wrapping_mul(i));
    let mut done = 0;
    while done < u64::from(entries) {
        let until = u64::from(entries).min(done + COPY_CHUNK as u64 / 8);
        let bytes: Vec<u8> = (done..until).flat_map(|i| entry(i).to_le_bytes()).collect();
        job.mc.write(dst.wrapping_add(8 * done), &bytes)?;
        done = until;
        charge(job, bytes.len())?;
    }
    Ok(())
}

/// Fills dwords with a constant in chunks.
pub(super) fn fill(job: &Job<'_>, dst: u64, value: u32, dwords: u32) -> Result<(), Ended<McError>> {
    let total = dwords as usize * 4;
    let buf = value.to_le_bytes().repeat(total.min(COPY_CHUNK) / 4);
    let mut done = 0;
    while done < total {
        let chunk = &buf[..COPY_CHUNK.min(total - done)];
        job.mc.write(dst + done as u64, chunk)?;
        done += chunk.len();
        charge(job, chunk.len())?;
    }
    Ok(())
}

/// Copies between a linear and a tiled surface. The linear side has whole rows
/// of the tiled side's pitch, from the tiled side's element (`x`, `y`) on.
pub(super) fn copy_tiled(
    job: &Job<'_>,
    tiled: &TiledSurface,
    linear: u64,
    detile: bool,
    dwords: u32,
) -> Result<(), Ended<McError>> {
    let layout = layout(job.hub, tiled);
    let total = dwords as usize * 4;
    let mut buf = vec![0; total.min(COPY_CHUNK)];
    let mut done = 0;
    while done < total {
        let chunk = &mut buf[..COPY_CHUNK.min(total - done)];
        if detile {
            elements(job, tiled, &layout, done, chunk.len(), |addr, range| {
                job.mc.read(addr, &mut chunk[range])
            })?;
            job.mc.write(linear + done as u64, chunk)?;
        } else {
            job.mc.read(linear + done as u64, chunk)?;
            elements(job, tiled, &layout, done, chunk.len(), |addr, range| {
                job.mc.write(addr, &chunk[range])
            })?;
        }
        done += chunk.len();
        charge(job, chunk.len())?;
    }
    Ok(())
}

/// Writes the packet's dwords to a tiled surface.
pub(super) fn write_tiled(
    job: &Job<'_>,
    dst: &TiledSurface,
    data: &[u32],
) -> Result<(), Ended<McError>> {
    let layout = layout(job.hub, dst);
    let bytes = to_bytes(data);
    elements(job, dst, &layout, 0, bytes.len(), |addr, range| {
        job.mc.write(addr, &bytes[range])
    })
}

fn layout(hub: &Hub, surface: &TiledSurface) -> Layout {
    let config = match &surface.own {
        None => TilingConfig::from_register(hub.regs.load(dma::DMA_TILING_CONFIG)),
        Some(own) => TilingConfig::from_address_config(hub.regs.load(evergreen::GB_ADDR_CONFIG))
            .of_surface(
                own.split,
                own.banks,
                own.bank_width,
                own.bank_height,
                own.aspect,
            ),
    };
    let mut layout = Layout::new(
        ArrayMode::from_field(surface.array_mode),
        // Elements have at most 16 bytes.
        1 << surface.log2_bpe.min(4),
        surface.pitch_tiles * 8,
        surface.slice_tiles * 64,
        config,
    );
    layout.depth_order = surface.own.is_some_and(|own| own.depth_order);
    layout
}

/// Calls `access` for each element in the `len` bytes from linear byte `start`
/// on, with the element's tiled address and its range in the buffer.
fn elements(
    job: &Job<'_>,
    surface: &TiledSurface,
    layout: &Layout,
    start: usize,
    len: usize,
    mut access: impl FnMut(u64, std::ops::Range<usize>) -> Result<(), McError>,
) -> Result<(), Ended<McError>> {
    let bpe = layout.bytes_per_element as usize;
    let pitch = layout.pitch as usize;
    let mut at = 0;
    while at < len {
        // Check for a reset more often than once per chunk: this loop is the
        // engine's slowest.
        if at % 4096 == 0 {
            job.check()?;
        }
        let element = (start + at) / bpe;
        let x = surface.x as usize + element % pitch;
        let y = surface.y as usize + element / pitch;
        let n = bpe.min(len - at);
        let offset = layout.offset(x as u32, y as u32, surface.z);
        access(surface.base.wrapping_add(offset), at..at + n)?;
        at += n;
    }
    Ok(())
}
