// SPDX-License-Identifier: MIT
//! Work that the 3D pipeline has begun and not ended, on a strict board from Evergreen on.
//!
//! Elsewhere a draw is complete before the next packet. Hardware's CP hands draws, dispatches, flushes of
//! the colour and depth caches and end-of-pipe events to the pipeline and goes on; what it does itself can
//! overtake them. Here the last draw or dispatch, and the flushes and end-of-pipe events behind it, are
//! kept until a packet waits for them:
//!
//! | packet | waits for |
//! |---|---|
//! | event `PS_PARTIAL_FLUSH` | a draw |
//! | event `CS_PARTIAL_FLUSH` | a dispatch |
//! | `SURFACE_SYNC` with `CB_ACTION_ENA` or `DB_ACTION_ENA` | a draw, and the write-back of these caches |
//! | `WAIT_UNTIL` with `WAIT_3D_IDLE`, below Cayman | a draw or dispatch |
//! | `WAIT_UNTIL` with `WAIT_3D_IDLECLEAN`, below Cayman | everything |
//! | draws, dispatches, and all packets that are not named here | a draw or dispatch |
//! | semaphores, `MEM_WRITE`, registers by packets of type 0, and whatever has to wait itself | everything |
//!
//! Everything ends, too, when the ring has no more packets, and behind the first 64 KiB of a copy by
//! `CP_DMA`: copies and fills are what overtakes. Where no source says that a packet does not wait, it waits.
//!
//! Sources: Mesa's `r600_flush_emit()` (`WAIT_UNTIL` is deprecated on Cayman; `SURFACE_SYNC` waits for
//! shaders only if it flushes CB or DB), `compute_emit_cs()`, `r600_cp_dma_copy_buffer()`; the kernel's
//! `cayman_fence_ring_emit()`.

use std::ops::Range;
use std::sync::atomic::Ordering;

use super::execute::{context, end_of_pipe};
use super::pm4::{DmaEnd, Draw, Packet, Place};
use super::{copy, Cp, Flow};
use crate::chip::bus::{McError, RegFile};
use crate::chip::context::report;
use crate::chip::counters::Counter;
use crate::chip::engine::{Cancelled, Ended, Job, COPY_CHUNK};
use crate::chip::gfx::{Control, GfxContext};
use crate::chip::hub::Client;
use crate::chip::regs::cp;
use crate::chip::regs::evergreen::WAIT_UNTIL;
use crate::chip::strict::cache::Cache;

/// Most flushes and events that are kept. Beyond them all end.
const MOST: usize = 64;

/// Event types (`VGT_EVENT_TYPE`, Mesa's `evergreend.h`).
const CS_PARTIAL_FLUSH: u8 = 0x07;
const PS_PARTIAL_FLUSH: u8 = 0x10;
const CACHE_FLUSH_AND_INV: u8 = 0x16;

/// Registers that a draw or dispatch reads: those of configuration, then the state.
const WINDOWS: [Range<u32>; 2] = [0x8000..0xB000, 0x2_8000..0x4_0000];

/// What the pipeline has begun.
#[derive(Default)]
pub(super) struct Pipe {
    shader: Option<Shader>,
    /// Behind it, each with its VM context.
    behind: Vec<(u8, Behind)>,
}

/// A draw or a dispatch.
struct Shader {
    context: u8,
    registers: Snapshot,
    work: Work,
}

enum Work {
    Draw(Draw),
    Dispatch([u32; 3]),
}

/// What ends after the draw or dispatch.
enum Behind {
    /// An event that flushes caches.
    Flush(u8),
    /// Caches that have been dropped, by `CP_COHER_CNTL`. They may have got lines since.
    Drop(u32),
    /// `EVENT_WRITE_EOP`.
    End {
        event: u8,
        addr: u64,
        data_sel: u8,
        int_sel: u8,
        data: u64,
    },
}

impl Pipe {
    /// Whether nothing is kept.
    pub fn is_empty(&self) -> bool {
        self.shader.is_none() && self.behind.is_empty()
    }

    fn draws(&self) -> bool {
        matches!(&self.shader, Some(shader) if matches!(shader.work, Work::Draw(_)))
    }

    /// Keeps a draw with the registers that it has now. There must be no other.
    pub fn draw(&mut self, job: &Job<'_>, regs: &dyn RegFile, draw: Draw) {
        self.begin(job, regs, Work::Draw(draw));
    }

    /// The same of a dispatch.
    pub fn dispatch(&mut self, job: &Job<'_>, regs: &dyn RegFile, groups: [u32; 3]) {
        self.begin(job, regs, Work::Dispatch(groups));
    }

    fn begin(&mut self, job: &Job<'_>, regs: &dyn RegFile, work: Work) {
        self.shader = Some(Shader {
            context: job.context,
            registers: Snapshot::of(regs),
            work,
        });
    }
}

/// Registers as they were.
struct Snapshot(Vec<u32>);

impl Snapshot {
    fn of(regs: &dyn RegFile) -> Self {
        let offsets = WINDOWS.into_iter().flat_map(|window| window.step_by(4));
        Self(offsets.map(|offset| regs.load(offset)).collect())
    }

    fn place(offset: u32) -> Option<usize> {
        let [config, state] = WINDOWS;
        let before = config.len();
        let bytes = match offset {
            _ if config.contains(&offset) => (offset - config.start) as usize,
            _ if state.contains(&offset) => (offset - state.start) as usize + before,
            _ => return None,
        };
        Some(bytes / 4)
    }
}

/// The registers of a snapshot over the others.
struct Over<'a> {
    snapshot: &'a Snapshot,
    regs: &'a dyn RegFile,
}

impl RegFile for Over<'_> {
    fn load(&self, offset: u32) -> u32 {
        let place = Snapshot::place(offset);
        let kept = place.and_then(|place| self.snapshot.0.get(place));
        kept.copied().unwrap_or_else(|| self.regs.load(offset))
    }

    fn store(&self, offset: u32, value: u32) {
        self.regs.store(offset, value);
    }
}

/// What `WAIT_UNTIL` is set to by registers from `first` on, if it is among them.
fn wait_until(first: u32, values: &[u32]) -> u32 {
    let index = WAIT_UNTIL.checked_sub(first).map(|bytes| bytes / 4);
    let value = index.and_then(|index| values.get(index as usize));
    value.copied().unwrap_or(0)
}

impl Cp {
    /// Performs a packet on a board that keeps what the pipeline has begun.
    pub(super) fn perform_beside(
        &mut self,
        job: &Job<'_>,
        packet: Packet<'_>,
    ) -> Result<Flow, Ended<McError>> {
        match packet {
            // The CP's own.
            Packet::Nop
            | Packet::PfpSyncMe
            | Packet::ContextControl { .. }
            | Packet::IndexType(_)
            | Packet::NumInstances(_)
            | Packet::IndirectBuffer { .. }
            | Packet::WaitRegMem { .. }
            | Packet::SetBase { .. }
            | Packet::IndexBase(_)
            | Packet::IndexBufferSize(_) => {}
            Packet::SetRegs { first, values } => {
                let wait = match job.hub.generation.pm4.wait_until {
                    true => wait_until(first, values),
                    false => 0,
                };
                if wait & cp::WAIT_3D_IDLECLEAN != 0 {
                    self.await_all(job)?;
                } else if wait & cp::WAIT_3D_IDLE != 0 {
                    self.await_shader(job)?;
                }
            }
            Packet::CpDma {
                src,
                dst,
                bytes,
                sync,
            } if self.has_begun() => {
                let first = bytes.min(COPY_CHUNK as u32);
                self.count_overtaken(job);
                copy::cp_dma(job, src, dst, first)?;
                self.end_all(job)?;
                let rest = Packet::CpDma {
                    src: behind(src, first),
                    dst: behind(dst, first),
                    bytes: bytes - first,
                    sync,
                };
                return self.perform(job, rest);
            }
            Packet::CpDmaFill { value, dst, bytes } if self.has_begun() => {
                self.count_overtaken(job);
                copy::fill(job, value, dst, bytes)?;
                self.end_all(job)?;
                return Ok(Flow::Next);
            }
            Packet::SurfaceSync { coher_cntl, .. } => {
                self.surface_sync(job, coher_cntl)?;
                return Ok(Flow::Next);
            }
            Packet::EventWrite {
                event, addr: None, ..
            } => match event {
                CACHE_FLUSH_AND_INV => {
                    self.keep(job, Behind::Flush(event))?;
                    return Ok(Flow::Next);
                }
                PS_PARTIAL_FLUSH => self.await_work(job, true)?,
                CS_PARTIAL_FLUSH => self.await_work(job, false)?,
                _ => self.end_shader(job)?,
            },
            Packet::EventWriteEop {
                event,
                addr,
                data_sel,
                int_sel,
                data,
            } => {
                let end = Behind::End {
                    event,
                    addr,
                    data_sel,
                    int_sel,
                    data,
                };
                self.keep(job, end)?;
                return Ok(Flow::Next);
            }
            Packet::MemSemaphore { .. } | Packet::MemWrite { .. } => self.end_all(job)?,
            _ => self.end_shader(job)?,
        }
        let flow = self.perform(job, packet)?;
        if flow == Flow::Wait {
            self.end_all(job)?;
        }
        Ok(flow)
    }

    /// Whether the pipeline has begun something.
    fn has_begun(&self) -> bool {
        self.pipe.as_ref().is_some_and(|pipe| !pipe.is_empty())
    }

    /// Whether a draw or dispatch has not ended, or lines of the caches have not been written back.
    fn is_busy(&self, job: &Job<'_>) -> bool {
        let pipe = self.pipe.as_ref();
        let strict = job.hub.strict.as_ref();
        pipe.is_some_and(|pipe| pipe.shader.is_some())
            || strict.is_some_and(|strict| strict.caches.is_dirty())
    }

    /// Counts a copy that begins now, while the pipeline has begun something.
    fn count_overtaken(&self, job: &Job<'_>) {
        if self.is_busy(job) {
            job.count(Counter::Overtaken, 1);
        }
    }

    fn keep(&mut self, job: &Job<'_>, what: Behind) -> Result<(), Cancelled> {
        let Some(pipe) = &mut self.pipe else {
            return Ok(());
        };
        pipe.behind.push((job.context, what));
        match pipe.behind.len() {
            MOST.. => self.end_all(job),
            _ => Ok(()),
        }
    }

    fn surface_sync(&mut self, job: &Job<'_>, coher_cntl: u32) -> Result<(), Cancelled> {
        let writes = [Cache::Color, Cache::Depth];
        if writes.iter().any(|cache| cache.named_by(coher_cntl)) {
            let busy = self.is_busy(job);
            if self.pipe.as_ref().is_some_and(Pipe::draws) {
                self.end_shader(job)?;
            }
            self.flush(job, coher_cntl);
            if busy {
                job.count(Counter::PipeWaits, 1);
            }
        } else {
            self.flush(job, coher_cntl);
        }
        match &self.pipe {
            // What it has dropped the work may get again.
            Some(pipe) if pipe.shader.is_some() => self.keep(job, Behind::Drop(coher_cntl)),
            _ if writes.iter().all(|cache| cache.named_by(coher_cntl)) => self.end_all(job),
            _ => Ok(()),
        }
    }

    /// Waits for a draw, or else for a dispatch, if there is one.
    fn await_work(&mut self, job: &Job<'_>, draw: bool) -> Result<(), Cancelled> {
        match &self.pipe {
            Some(pipe) if pipe.shader.is_some() && pipe.draws() == draw => self.await_shader(job),
            _ => Ok(()),
        }
    }

    fn await_shader(&mut self, job: &Job<'_>) -> Result<(), Cancelled> {
        if self.pipe.as_ref().is_some_and(|pipe| pipe.shader.is_some()) {
            job.count(Counter::PipeWaits, 1);
        }
        self.end_shader(job)
    }

    fn await_all(&mut self, job: &Job<'_>) -> Result<(), Cancelled> {
        if self.is_busy(job) {
            job.count(Counter::PipeWaits, 1);
        }
        self.end_all(job)
    }

    /// Ends the draw or dispatch.
    fn end_shader(&mut self, job: &Job<'_>) -> Result<(), Cancelled> {
        let Some(shader) = self.pipe.as_mut().and_then(|pipe| pipe.shader.take()) else {
            return Ok(());
        };
        let result = self.in_context(job, shader.context, |cp, job| {
            cp.owns_caches(job);
            let registers = Over {
                snapshot: &shader.registers,
                regs: &*job.hub.regs,
            };
            let context = GfxContext {
                regs: &registers,
                ..context(job)
            };
            match &shader.work {
                Work::Draw(draw) => cp.drawn(job, &context, draw),
                Work::Dispatch(groups) => cp.dispatched(job, &context, *groups),
            }
        });
        // Of the registers that have been set since it has got the old values: the next draw loads all.
        job.hub.gfx_dirty.store(u64::MAX, Ordering::Release);
        result
    }

    /// Ends the draw or dispatch, and all flushes and events behind it.
    pub(super) fn end_all(&mut self, job: &Job<'_>) -> Result<(), Cancelled> {
        self.end_shader(job)?;
        let Some(pipe) = &mut self.pipe else {
            return Ok(());
        };
        for (context, what) in std::mem::take(&mut pipe.behind) {
            self.in_context(job, context, |cp, job| match what {
                Behind::Flush(event) => cp.event(job, event),
                Behind::Drop(coher_cntl) => cp.flush(job, coher_cntl),
                Behind::End {
                    event,
                    addr,
                    data_sel,
                    int_sel,
                    data,
                } => {
                    cp.event(job, event);
                    if let Err(e) = end_of_pipe(job, addr, data_sel, int_sel, data) {
                        job.report(Client::Cp, e);
                    }
                    report(job, Client::Cp);
                }
            });
        }
        Ok(())
    }
}

/// The end of a copy, `bytes` further.
fn behind(end: DmaEnd, bytes: u32) -> DmaEnd {
    let place = match end.place {
        Place::Mem(addr) => Place::Mem(addr.wrapping_add(u64::from(bytes))),
        Place::Reg(reg) if end.fixed => Place::Reg(reg),
        Place::Reg(reg) => Place::Reg(reg.wrapping_add(bytes)),
    };
    DmaEnd { place, ..end }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_register_of_the_windows_has_a_place_of_its_own() {
        let offsets: Vec<u32> = WINDOWS.into_iter().flat_map(|w| w.step_by(4)).collect();
        for (index, offset) in offsets.iter().enumerate() {
            assert_eq!(Snapshot::place(*offset), Some(index), "{offset:#x}");
        }
        assert_eq!([0, 0xB000, 0x4_0000].map(Snapshot::place), [None; 3]);
    }

    #[test]
    fn wait_until_is_found_among_others() {
        assert_eq!(wait_until(0x8040, &[5]), 5);
        assert_eq!(wait_until(0x803C, &[1, 7, 2]), 7);
        assert_eq!(wait_until(0x8040, &[]), 0);
        assert_eq!(wait_until(0x8044, &[9]), 0);
        assert_eq!(wait_until(0x803C, &[9]), 0);
    }
}
