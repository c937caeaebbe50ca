// SPDX-License-Identifier: MIT
//! Submissions of captures, each with the state and memory that it begins with.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::BufReader;
use std::path::Path;
use std::sync::Arc;

use r7xx_board::chip::bus::Mc;
use r7xx_board::chip::gfx::Pipeline;
use r7xx_board::chip::Family;
use r7xx_shim::capture::{CaptureError, Page, Reader, Record, STATE};
use r7xx_shim::gpu::{Gpu, Ring};
use r7xx_shim::memory::{Memory, PAGE};
use r7xx_shim::space::{READABLE, TABLE, TABLE_SIZE, WRITEABLE};

use crate::mutate::packets;

/// Contents of memory by MC address.
pub type Pages = BTreeMap<u64, Box<Page>>;

/// A submission to the graphics ring that draws.
pub struct Frame {
    pub name: String,
    pub family: Family,
    /// Values of all registers in [`STATE`].
    pub registers: Vec<u32>,
    pub pages: Pages,
    /// Where it is executed.
    pub ring: Ring,
    pub ib: Vec<u32>,
    /// Where the stream's addresses lead: those of its pages, and their MC addresses.
    pub space: BTreeMap<u64, u64>,
}

/// The pages that are mapped by an address space's table, if the stream has one.
fn space(ring: Ring, pages: &Pages) -> BTreeMap<u64, u64> {
    if !ring.vm {
        return pages.keys().map(|&page| (page, page)).collect();
    }
    let tables = pages.range(TABLE..TABLE + TABLE_SIZE);
    let entries = tables.flat_map(|(at, page)| {
        let words = page.chunks_exact(4);
        let words = words.map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]]));
        words.zip((at - TABLE) / 4..)
    });
    let mapped = entries.filter(|(entry, _)| *entry != 0);
    mapped
        .map(|(entry, page)| {
            let place = u64::from(entry & !(READABLE | WRITEABLE));
            (page * PAGE, place * PAGE)
        })
        .collect()
}

impl Frame {
    /// The MC address of an address of the stream.
    pub fn place(&self, address: u64) -> Option<u64> {
        let page = self.space.get(&(address & !(PAGE - 1)))?;
        Some(page + address % PAGE)
    }

    /// Opcodes and lengths of its packets.
    pub fn shape(&self) -> Vec<(u8, usize)> {
        packets(&self.ib).map(|p| (p.opcode, p.count)).collect()
    }

    /// The frames of a capture. Executes each submission once, so that the next frame begins
    /// with the state and memory that it leaves.
    ///
    /// # Errors
    /// A message for the user.
    pub fn load(path: &Path) -> Result<Vec<Frame>, String> {
        let failed = |e: CaptureError| format!("{}: {e}", path.display());
        let file = File::open(path).map_err(|e| failed(e.into()))?;
        let mut reader = Reader::new(BufReader::new(file)).map_err(failed)?;
        let family = reader.family;
        let memory = Arc::new(Memory::new().expect("memory"));
        let gfx = Box::new(Pipeline::new(2));
        let gpu = Gpu::start(family, memory.clone(), gfx, None).expect("a chip");
        let mut known = BTreeSet::new();
        let mut frames = Vec::new();
        let mut number = 0;
        while let Some(record) = reader.record().map_err(failed)? {
            match record {
                Record::Register(offset, value) => gpu.chip().mmio_write(offset, value),
                Record::Page(address, page) => {
                    known.insert(address);
                    memory.write(address, &page[..]).expect("a page of a BO");
                }
                Record::Zero(address) => {
                    known.insert(address);
                    memory
                        .write(address, &[0; PAGE as usize])
                        .expect("a page of a BO");
                }
                Record::Result(address, _) => {
                    known.insert(address);
                }
                Record::Submission(ring, ib) => {
                    number += 1;
                    let draws = packets(&ib).filter(|p| p.draws()).count();
                    if !ring.dma && draws > 0 {
                        let stem = path.file_stem().unwrap_or_default();
                        let pages = known.iter().map(|&a| (a, read(&memory, a))).collect();
                        frames.push(Frame {
                            name: format!("{}:{number}", stem.to_string_lossy()),
                            family,
                            registers: STATE.step_by(4).map(|r| gpu.chip().mmio_read(r)).collect(),
                            space: space(ring, &pages),
                            pages,
                            ring,
                            ib: ib.clone(),
                        });
                    }
                    gpu.submit(ring, &ib).expect("a submission of Mesa's ends");
                }
            }
        }
        Ok(frames)
    }
}

fn read(memory: &Memory, address: u64) -> Box<Page> {
    let mut page = Box::new([0; PAGE as usize]);
    memory.read(address, &mut page[..]).expect("a page of a BO");
    page
}
