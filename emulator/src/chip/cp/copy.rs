// SPDX-License-Identifier: MIT
//! `CP_DMA`: byte-granular copies between memory and registers.

use super::pm4::{DmaEnd, Place};
use crate::chip::counters::Counter;
use crate::chip::engine::{Cancelled, Job, COPY_CHUNK};
use crate::chip::hub::Client;

/// Executes a copy. A memory fault is reported and ends the packet; chunks
/// before it have been copied. If an end is a register, only whole dwords are
/// copied.
pub(super) fn cp_dma(job: &Job<'_>, src: DmaEnd, dst: DmaEnd, bytes: u32) -> Result<(), Cancelled> {
    let hub = job.hub;
    let registers = matches!(src.place, Place::Reg(_)) || matches!(dst.place, Place::Reg(_));
    let total = if registers { bytes & !3 } else { bytes } as usize;
    let mut buf = vec![0; total.min(COPY_CHUNK)];
    let mut done = 0;
    while done < total {
        let chunk = &mut buf[..COPY_CHUNK.min(total - done)];
        match src.place {
            Place::Mem(addr) => {
                if let Err(e) = job.mc.read(addr.wrapping_add(done as u64), chunk) {
                    job.report(Client::Cp, e);
                    return Ok(());
                }
            }
            Place::Reg(reg) => {
                for (i, d) in chunk.chunks_exact_mut(4).enumerate() {
                    let at = reg_at(reg, src.fixed, done / 4 + i);
                    d.copy_from_slice(&job.registers.read(at).to_le_bytes());
                }
            }
        }
        swap(chunk, src.swap);
        swap(chunk, dst.swap);
        match dst.place {
            Place::Mem(addr) => {
                if let Err(e) = job.mc.write(addr.wrapping_add(done as u64), chunk) {
                    job.report(Client::Cp, e);
                    return Ok(());
                }
            }
            Place::Reg(reg) => {
                for (i, d) in chunk.chunks_exact(4).enumerate() {
                    if i % 64 == 0 {
                        job.check()?;
                    }
                    let at = reg_at(reg, dst.fixed, done / 4 + i);
                    job.registers
                        .write(at, u32::from_le_bytes([d[0], d[1], d[2], d[3]]));
                }
            }
        }
        let copied = chunk.len();
        hub.counters.add(Counter::CpDmaBytes, copied as u64);
        job.throttle(copied as u64)?;
        done += copied;
    }
    Ok(())
}

/// Fills memory with a dword, or a register. A memory fault is reported and ends the packet.
pub(super) fn fill(job: &Job<'_>, value: u32, dst: Place, bytes: u32) -> Result<(), Cancelled> {
    let hub = job.hub;
    let addr = match dst {
        Place::Mem(addr) => addr,
        Place::Reg(reg) => {
            job.registers.write(reg, value);
            return Ok(());
        }
    };
    let total = (bytes & !3) as usize;
    let data = value.to_le_bytes().repeat(total.min(COPY_CHUNK) / 4);
    let mut done = 0;
    while done < total {
        let chunk = &data[..COPY_CHUNK.min(total - done)];
        if let Err(e) = job.mc.write(addr.wrapping_add(done as u64), chunk) {
            job.report(Client::Cp, e);
            return Ok(());
        }
        hub.counters.add(Counter::CpDmaBytes, chunk.len() as u64);
        job.throttle(chunk.len() as u64)?;
        done += chunk.len();
    }
    Ok(())
}

/// Offset of the `index`th dword of a register range.
fn reg_at(first: u32, fixed: bool, index: usize) -> u32 {
    if fixed {
        first
    } else {
        // At most 2^19 dwords: no overflow. Reads beyond the register space give 0.
        first + 4 * index as u32
    }
}

/// Swaps bytes within units of 2, 4 or 8 (`PACKET3_CP_DMA_CMD_*_SWAP`).
fn swap(bytes: &mut [u8], mode: u8) {
    let unit = match mode {
        0 => return,
        1 => 2,
        2 => 4,
        _ => 8,
    };
    for piece in bytes.chunks_exact_mut(unit) {
        piece.reverse();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn swap_modes_reverse_units_and_leave_rest() {
        let mut bytes = [0, 1, 2, 3, 4, 5, 6, 7, 8];
        swap(&mut bytes, 1);
        assert_eq!(bytes, [1, 0, 3, 2, 5, 4, 7, 6, 8]);
        swap(&mut bytes, 2);
        assert_eq!(bytes, [2, 3, 0, 1, 6, 7, 4, 5, 8]);
        swap(&mut bytes, 3);
        assert_eq!(bytes, [5, 4, 7, 6, 1, 0, 3, 2, 8]);
    }
}
