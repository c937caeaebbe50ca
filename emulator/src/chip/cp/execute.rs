// SPDX-License-Identifier: MIT
//! Effects of PM4 packets.
//!
//! Draws and events run to completion before the next packet, so waits for
//! idle never wait. On a strict board from Evergreen on they need not ([`super::pipe`]).

use super::pm4::{
    AppendSource, Compare, DecodeError, Draw, Header, IndexSource, MemWriteData, Operand, Packet,
    Place, StrmoutSource,
};
use super::{opcode, Cp, Flow, Indirect};
use crate::chip::bus::McError;
use crate::chip::context::report;
use crate::chip::counters::{Counter, PACKET};
use crate::chip::engine::{Cancelled, Ended, Job, Ring};
use crate::chip::gfx::{Control, Gfx, GfxContext};
use crate::chip::hub::{Client, Hub};
use crate::chip::ih::Source;
use crate::chip::regs::evergreen::gfx;
use crate::chip::regs::{cp, field, gb, vgt};
use crate::chip::strict::cache::Cache;

/// Bit 63 of a query result: the value has been written.
const RESULT_VALID: u64 = 1 << 63;

impl Cp {
    /// Executes one packet. Memory faults are reported and end the packet.
    pub(super) fn execute(
        &mut self,
        job: &Job<'_>,
        ring: &Ring,
        header: Header,
        body: &[u32],
    ) -> Result<Flow, Cancelled> {
        let hub = job.hub;
        if hub.trace.enabled() && self.polls.is_first() {
            self.trace(hub, ring, header, body);
        }
        let (opcode, predicate, compute) = match header {
            Header::Type0 { reg, .. } => {
                self.end_all(job)?;
                write_regs(job, reg, body)?;
                return Ok(Flow::Next);
            }
            Header::Type1 => {
                hub.counters.inc(Counter::BadPackets);
                return Ok(Flow::Next);
            }
            Header::Type2 => return Ok(Flow::Next),
            Header::Type3 {
                opcode,
                predicate,
                compute,
                ..
            } => (opcode, predicate, compute),
        };
        if predicate && self.predicate == Some(false) {
            return Ok(Flow::Next);
        }
        let packet = match (hub.generation.pm4.decode)(opcode, body) {
            Ok(packet) => packet,
            Err(error) => {
                hub.counters.inc(Counter::BadPackets);
                hub.counters.unknown(PACKET, opcode.into());
                self.log_once(
                    hub,
                    opcode,
                    match error {
                        DecodeError::UnknownOpcode => "unknown, skipped",
                        DecodeError::Short => "body too short, skipped",
                        DecodeError::Window => "registers outside the window, skipped",
                    },
                );
                return Ok(Flow::Next);
            }
        };
        if let Packet::SetRegs { first, values } = packet {
            if compute && hub.generation.pm4.compute_state && CONTEXT.contains(&first) {
                self.compute.set(first, values);
                return Ok(Flow::Next);
            }
        }
        // Of compute shaders, whose state stays: no source says what it has afterwards. Draws have
        // their own, which this packet does not clear.
        if compute && packet == Packet::ClearState {
            return Ok(Flow::Next);
        }
        let performed = match self.pipe {
            Some(_) => self.perform_beside(job, packet),
            None => self.perform(job, packet),
        };
        match performed {
            Ok(flow) => Ok(flow),
            Err(Ended::Failed(e)) => {
                job.report(Client::Cp, e);
                Ok(Flow::Next)
            }
            Err(Ended::Cancelled) => Err(Cancelled),
        }
    }

    pub(super) fn perform(
        &mut self,
        job: &Job<'_>,
        packet: Packet<'_>,
    ) -> Result<Flow, Ended<McError>> {
        let hub = job.hub;
        match packet {
            // Without a PFP that is ahead there is nothing to wait for.
            Packet::Nop | Packet::PfpSyncMe => {}
            // Shadowing is for context switches, which the driver never does.
            Packet::ContextControl { .. } => {}
            Packet::SetPredication {
                addr,
                op,
                draw_visible,
                keep,
            } => {
                let visible = match op {
                    0 => None,
                    1 => Some(zpass_visible(job, addr)?),
                    2 => Some(!streamout_overflowed(job, addr)?),
                    _ => None,
                };
                let before = keep && self.predicate == Some(draw_visible);
                self.predicate = visible.map(|v| (v || before) == draw_visible);
            }
            Packet::RegRmw { reg, and, or } => {
                let value = |operand| match operand {
                    Operand::Value(v) => v,
                    Operand::Reg(r) => job.registers.read(r),
                };
                let new = job.registers.read(reg) & value(and) | value(or);
                job.registers.write(reg, new);
            }
            Packet::CondExec { addr, count } => {
                if job.mc.read_u32(addr)? == 0 {
                    return Ok(Flow::Skip(count));
                }
            }
            Packet::PredExec {
                device_select,
                count,
            } => {
                // ME_INITIALIZE gives this device its mask; the driver uses 1. A
                // packet with mask 0 addresses every device.
                if device_select != 0 && device_select & self.device_id == 0 {
                    return Ok(Flow::Skip(count));
                }
            }
            Packet::IndexType(value) => job.registers.write(vgt::VGT_DMA_INDEX_TYPE, value),
            Packet::NumInstances(value) => {
                job.registers.write(vgt::VGT_DMA_NUM_INSTANCES, value);
            }
            Packet::Draw(draw) => self.draw(job, &draw)?,
            Packet::IndirectBuffer {
                addr,
                dwords,
                context,
            } => return Ok(Flow::Call(job.buffer(addr, dwords, context))),
            Packet::StrmoutBufferUpdate {
                buffer,
                source,
                store,
            } => self.strmout_update(job, usize::from(buffer), source, store)?,
            Packet::MemSemaphore { addr, wait } => {
                if !wait {
                    hub.semaphore_signal(addr)?;
                } else if !hub.semaphore_try_wait(addr)? {
                    return Ok(Flow::Wait);
                }
            }
            Packet::CopyDw { src, dst } => {
                let value = load(job, src)?;
                store_place(job, dst, value)?;
            }
            Packet::WaitRegMem { place, compare, .. } => {
                if !test(job, place, compare)? {
                    return Ok(Flow::Wait);
                }
            }
            Packet::MemWrite { addr, data } => match data {
                MemWriteData::U32(value) => job.mc.write_u32(addr, value)?,
                MemWriteData::U64(value) => job.mc.write_u64(addr, value)?,
                MemWriteData::Clock => job.mc.write_u64(addr, hub.gpu_clock())?,
            },
            Packet::CpDma {
                src, dst, bytes, ..
            } => super::copy::cp_dma(job, src, dst, bytes)?,
            Packet::SurfaceSync { coher_cntl, .. } => self.flush(job, coher_cntl),
            Packet::MeInitialize { device_id } => self.device_id = device_id,
            Packet::CondWrite {
                place,
                compare,
                dst,
                value,
            } => {
                if test(job, place, compare)? {
                    store_place(job, dst, value)?;
                }
            }
            Packet::EventWrite { event, index, addr } => {
                self.event(job, event);
                if let Some(addr) = addr {
                    self.event_result(job, event, index, addr)?;
                }
            }
            Packet::EventWriteEop {
                event,
                addr,
                data_sel,
                int_sel,
                data,
            } => {
                self.event(job, event);
                end_of_pipe(job, addr, data_sel, int_sel, data)?;
            }
            Packet::SetRegs { first, values } => {
                if self.clear.recording && CONTEXT.contains(&first) {
                    let registers = (first..).step_by(4).zip(values.iter().copied());
                    self.clear.values.extend(registers);
                }
                write_regs(job, first, values)?;
            }
            Packet::Preamble { record } => self.clear.recording = record,
            Packet::ClearState => {
                for (reg, value) in &self.clear.values {
                    job.registers.write(*reg, *value);
                }
            }
            Packet::CpDmaFill { value, dst, bytes } => super::copy::fill(job, value, dst, bytes)?,
            // DRAW_INDEX_INDIRECT_PATCH_TABLE_BASE, the only one that the kernel accepts.
            Packet::SetBase { base: 1, addr } => self.indirect.arguments = addr,
            Packet::SetBase { .. } => {}
            Packet::IndexBase(addr) => self.indirect.indices = addr,
            Packet::IndexBufferSize(size) => self.indirect.size = size,
            Packet::DrawIndirect {
                indexed,
                offset,
                initiator,
            } => self.draw_indirect(job, indexed, offset, initiator)?,
            Packet::Dispatch { groups, .. } => self.dispatch(job, groups)?,
            Packet::DispatchIndirect { addr, .. } => {
                let mut groups = [0; 3];
                for (i, n) in groups.iter_mut().enumerate() {
                    *n = job.mc.read_u32(addr + 4 * i as u64)?;
                }
                self.dispatch(job, groups)?;
            }
            Packet::SetAppendCounter { reg, source } => {
                let value = match source {
                    AppendSource::Packet(value) => value,
                    AppendSource::Memory(addr) => job.mc.read_u32(addr)?,
                    AppendSource::Reg(reg) => job.registers.read(reg),
                };
                if let Some(counter) = append_counter(reg) {
                    self.gfx.set_append_counter(counter, value);
                }
            }
            Packet::StoreAppendCounter { event, addr, reg } => {
                self.event(job, event);
                if let Some(counter) = append_counter(reg) {
                    job.mc.write_u32(addr, self.gfx.append_counter(counter))?;
                }
            }
            Packet::CopyToShare { from, to, bytes } => {
                for at in self.shared_dwords(to, bytes) {
                    let value = job.mc.read_u32(from + (at - u64::from(to)))?;
                    self.gfx.set_global_share(at as usize / 4, value);
                }
            }
            Packet::CopyFromShare { from, to, bytes } => {
                for at in self.shared_dwords(from, bytes) {
                    let value = self.gfx.global_share(at as usize / 4);
                    job.mc.write_u32(to + (at - u64::from(from)), value)?;
                }
            }
            Packet::StoreShare {
                event,
                addr,
                first,
                count,
            } => {
                self.event(job, event);
                for i in 0..count {
                    let value = self.gfx.global_share((first + i) as usize);
                    job.mc.write_u32(addr + 4 * u64::from(i), value)?;
                }
            }
            Packet::Undrawn => hub.unmodelled(Client::Gfx),
        }
        Ok(Flow::Next)
    }

    /// The byte offsets of whole dwords of the global data share from `first` on.
    fn shared_dwords(&self, first: u32, bytes: u32) -> impl Iterator<Item = u64> {
        let first = u64::from(first);
        (first..first + u64::from(bytes & !3)).step_by(4)
    }

    fn draw(&mut self, job: &Job<'_>, draw: &Draw) -> Result<(), Cancelled> {
        job.count(Counter::Draws, 1);
        if job.hub.generation.draws.is_none() {
            job.hub.unmodelled(Client::Gfx);
            return Ok(());
        }
        let ahead = self.draw_indices.take().map(|indices| Draw {
            source: IndexSource::Immediate(indices),
            ..draw.clone()
        });
        let draw = ahead.as_ref().unwrap_or(draw);
        if let Some(pipe) = &mut self.pipe {
            pipe.draw(job, &*job.hub.regs, draw.clone());
            return Ok(());
        }
        self.owns_caches(job);
        self.drawn(job, &context(job), draw)
    }

    /// Executes a draw.
    pub(super) fn drawn(
        &mut self,
        job: &Job<'_>,
        context: &GfxContext<'_>,
        draw: &Draw,
    ) -> Result<(), Cancelled> {
        let drawn = self.gfx.draw(context, draw);
        // Before the packet's end reports it as the CP's.
        report(job, Client::Gfx);
        if !drawn? {
            job.trace(format_args!("DRAW indices={} not executed", draw.indices));
        }
        Ok(())
    }

    fn dispatch(&mut self, job: &Job<'_>, groups: [u32; 3]) -> Result<(), Cancelled> {
        job.count(Counter::Dispatches, 1);
        if job.hub.generation.draws.is_none() {
            job.hub.unmodelled(Client::Gfx);
            return Ok(());
        }
        if let Some(pipe) = &mut self.pipe {
            pipe.dispatch(job, &self.compute.over(&*job.hub.regs), groups);
            return Ok(());
        }
        // The state is moved out and back, so that execution may borrow self.
        let compute = std::mem::take(&mut self.compute);
        let result = {
            let registers = compute.over(&*job.hub.regs);
            let context = GfxContext {
                regs: &registers,
                ..context(job)
            };
            self.dispatched(job, &context, groups)
        };
        self.compute = compute;
        result
    }

    /// Executes a dispatch.
    pub(super) fn dispatched(
        &mut self,
        job: &Job<'_>,
        context: &GfxContext<'_>,
        groups: [u32; 3],
    ) -> Result<(), Cancelled> {
        let run = self.gfx.dispatch(context, groups);
        report(job, Client::Gfx);
        if !run? {
            job.trace(format_args!("DISPATCH of {groups:?} groups not executed"));
        }
        Ok(())
    }

    /// Draws with arguments from memory, which become registers: the number of instances, the first
    /// vertex (or the base of the indices) and the first instance, as fetches add them
    /// (`r600_draw_vbo()` in Mesa sets the registers anew after such a draw). Indices beyond the
    /// index buffer are not drawn.
    fn draw_indirect(
        &mut self,
        job: &Job<'_>,
        indexed: bool,
        offset: u32,
        initiator: u32,
    ) -> Result<(), Ended<McError>> {
        let Indirect {
            arguments,
            indices,
            size,
        } = self.indirect;
        let mut args = [0; 5];
        for (i, arg) in args.iter_mut().enumerate().take(4 + usize::from(indexed)) {
            let at = arguments.wrapping_add(u64::from(offset) + 4 * i as u64);
            *arg = job.mc.read_u32(at)?;
        }
        let [mut count, instances, first, third, fourth] = args;
        let (mut source, mut bases) = (IndexSource::Auto, [first, third]);
        if indexed {
            let bytes = match job.hub.regs.load(vgt::VGT_DMA_INDEX_TYPE) & 3 {
                1 => 4,
                _ => 2,
            };
            count = count.min(size.saturating_sub(first));
            source = IndexSource::Memory(indices.wrapping_add(u64::from(first) * bytes));
            bases = [third, fourth];
        }
        job.registers.write(vgt::VGT_DMA_NUM_INSTANCES, instances);
        for (register, base) in [gfx::SQ_VTX_BASE_VTX_LOC, gfx::SQ_VTX_START_INST_LOC]
            .into_iter()
            .zip(bases)
        {
            job.registers.write(register, base);
        }
        if count == 0 || instances == 0 {
            job.count(Counter::Draws, 1);
            return Ok(());
        }
        let draw = Draw {
            initiator,
            indices: count,
            source,
        };
        Ok(self.draw(job, &draw)?)
    }

    pub(super) fn flush(&mut self, job: &Job<'_>, coher_cntl: u32) {
        self.by_owner(job, |gfx, context| gfx.flush(context, coher_cntl));
    }

    /// Has the graphics block act on the strict board's write-back caches, in the VM context whose
    /// lines they have.
    fn by_owner(&mut self, job: &Job<'_>, act: impl FnOnce(&mut dyn Gfx, &GfxContext<'_>)) {
        let strict = job.hub.strict.as_ref();
        let owner = strict.map_or(job.context, |strict| strict.caches.owner());
        self.in_context(job, owner, |cp, job| {
            act(&mut *cp.gfx, &context(job));
            report(job, Client::Gfx);
        });
    }

    /// Has `act` done in a VM context, whichever `job` is in.
    pub(super) fn in_context<T>(
        &mut self,
        job: &Job<'_>,
        context: u8,
        act: impl FnOnce(&mut Self, &Job<'_>) -> T,
    ) -> T {
        let entered = self.contexts.enter(context);
        let ring = job.within(0, &*job.hub.mc);
        act(self, &entered.job(&ring))
    }

    /// Writes the lines of another VM context back before work of `job`'s is executed.
    pub(super) fn owns_caches(&mut self, job: &Job<'_>) {
        let Some(strict) = &job.hub.strict else {
            return;
        };
        if strict.caches.owner() != job.context {
            self.flush(job, Cache::Color.action() | Cache::Depth.action());
            strict.caches.set_owner(job.context);
        }
    }

    /// Passes an event down the pipeline. The pipeline is empty, so the event
    /// need not wait.
    pub(super) fn event(&mut self, job: &Job<'_>, event: u8) {
        self.by_owner(job, |gfx, context| gfx.event(context, event));
        if event == SO_VGTSTREAMOUT_FLUSH {
            let register = job.hub.generation.pm4.strmout_control;
            let done = job.hub.regs.load(register) | cp::OFFSET_UPDATE_DONE;
            job.hub.regs.store(register, done);
        }
    }

    /// Writes the result an event asks for (`EVENT_INDEX` in `r600d.h`).
    fn event_result(
        &mut self,
        job: &Job<'_>,
        event: u8,
        index: u8,
        addr: u64,
    ) -> Result<(), McError> {
        let stats = self.gfx.statistics();
        match index {
            // ZPASS_DONE: each enabled backend has a slot of 16 bytes: 8 for the
            // begin of the query and 8 for its end.
            1 => {
                for backend in backends(job.hub) {
                    let value = stats.zpass[backend] | RESULT_VALID;
                    job.mc.write_u64(addr + 16 * backend as u64, value)?;
                }
            }
            // SAMPLE_PIPELINESTAT
            2 => {
                for i in 0..job.hub.generation.pm4.pipeline_counters {
                    let value = stats.pipeline.get(i).copied().unwrap_or(0);
                    job.mc.write_u64(addr + 8 * i as u64, value)?;
                }
            }
            // SAMPLE_STREAMOUTSTATS, and SAMPLE_STREAMOUTSTATS1 to 3 of the other streams:
            // primitives needed, then written.
            3 => {
                let stream = if event <= 3 { usize::from(event) } else { 0 };
                for (i, value) in stats.streamout[stream].iter().enumerate() {
                    job.mc
                        .write_u64(addr + 8 * i as u64, value | RESULT_VALID)?;
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn strmout_update(
        &mut self,
        job: &Job<'_>,
        buffer: usize,
        source: StrmoutSource,
        store: Option<u64>,
    ) -> Result<(), McError> {
        let filled = self.gfx.statistics().filled[buffer & 3];
        if let Some(addr) = store {
            job.mc.write_u32(addr, filled)?;
        }
        let offset = match source {
            StrmoutSource::Packet(value) => value,
            StrmoutSource::FilledSize => filled,
            StrmoutSource::Memory(addr) => job.mc.read_u32(addr)?,
            StrmoutSource::None => return Ok(()),
        };
        // Offsets and sizes are in dwords, as in the register (Mesa `r600_streamout.c`).
        let reg = vgt::VGT_STRMOUT_BUFFER_OFFSET_0 + 16 * buffer as u32;
        job.hub.regs.store(reg, offset);
        self.gfx.set_filled(buffer, offset);
        Ok(())
    }

    fn trace(&self, hub: &Hub, ring: &Ring, header: Header, body: &[u32]) {
        let at = match self.position.as_str() {
            "" => self.fetch.position(ring),
            ahead => ahead.to_string(),
        };
        // Cut long bodies: constants and inline data would make the trace unreadable.
        let shown = &body[..body.len().min(12)];
        let more = if body.len() > shown.len() { " ..." } else { "" };
        match header {
            Header::Type0 { reg, count } => hub.trace.line(
                "cp",
                format_args!("{at} TYPE0 {reg:#x} n={count} {shown:x?}{more}"),
            ),
            Header::Type1 => hub.trace.line("cp", format_args!("{at} TYPE1")),
            Header::Type2 => hub.trace.line("cp", format_args!("{at} TYPE2")),
            Header::Type3 { opcode, count, .. } => hub.trace.line(
                "cp",
                format_args!(
                    "{at} {}({opcode:#x}) n={count} {shown:x?}{more}",
                    (hub.generation.pm4.name)(opcode).unwrap_or("UNKNOWN"),
                ),
            ),
        }
    }
}

/// The append counter of a register.
fn append_counter(reg: u32) -> Option<usize> {
    let offset = reg.checked_sub(gfx::GDS_APPEND_COUNT_0)?;
    (offset < 4 * 12).then_some(offset as usize / 4)
}

/// Registers of the context, which `CLEAR_STATE` sets.
pub(super) const CONTEXT: std::ops::Range<u32> = 0x2_8000..0x2_9000;

/// The event that updates the stream-out offsets (`r600d.h`).
const SO_VGTSTREAMOUT_FLUSH: u8 = 0x1F;

pub(super) fn context<'a>(job: &'a Job<'_>) -> GfxContext<'a> {
    GfxContext {
        regs: &*job.hub.regs,
        mc: job.mc,
        control: job,
    }
}

/// Indices of the render backends that are not fused off.
fn backends(hub: &Hub) -> impl Iterator<Item = usize> {
    let disabled = hub.regs.load(gb::CC_RB_BACKEND_DISABLE) >> gb::BACKEND_DISABLE_SHIFT;
    (0..8).filter(move |i| disabled & (1 << i) == 0)
}

/// Whether any sample passed between the two halves of a ZPASS result.
fn zpass_visible(job: &Job<'_>, addr: u64) -> Result<bool, McError> {
    let mut visible = false;
    for backend in backends(job.hub) {
        let begin = job.mc.read_u64(addr + 16 * backend as u64)?;
        let end = job.mc.read_u64(addr + 16 * backend as u64 + 8)?;
        visible |= begin != end;
    }
    Ok(visible)
}

/// Whether, between the two stream-out samples at `addr`, more primitives were
/// needed than written. Predication counts no overflow as visible.
fn streamout_overflowed(job: &Job<'_>, addr: u64) -> Result<bool, McError> {
    let mut v = [0; 4];
    for (i, value) in v.iter_mut().enumerate() {
        *value = job.mc.read_u64(addr + 8 * i as u64)?;
    }
    Ok(v[2].wrapping_sub(v[0]) != v[3].wrapping_sub(v[1]))
}

/// `EVENT_WRITE_EOP`: writes the data, then raises the interrupt.
pub(super) fn end_of_pipe(
    job: &Job<'_>,
    addr: u64,
    data_sel: u8,
    int_sel: u8,
    data: u64,
) -> Result<(), McError> {
    let hub = job.hub;
    match data_sel {
        1 => {
            job.mc.write_u32(addr, data as u32)?;
            hub.counters.inc(Counter::Fences);
        }
        2 => {
            job.mc.write_u64(addr, data)?;
            hub.counters.inc(Counter::Fences);
        }
        3 => job.mc.write_u64(addr, hub.gpu_clock())?,
        _ => {}
    }
    let ring = job.engine.id.cp_ring();
    let enabled = hub.cp_interrupts(ring) & cp::TIME_STAMP_INT_ENABLE != 0;
    if matches!(int_sel, 1 | 2) && enabled {
        // The vector's data is the ring (evergreen_irq_process()).
        job.ih.post(hub, Source::CpEop, ring as u32);
    }
    Ok(())
}

fn load(job: &Job<'_>, place: Place) -> Result<u32, McError> {
    match place {
        Place::Mem(addr) => job.mc.read_u32(addr),
        Place::Reg(reg) => Ok(job.registers.read(reg)),
    }
}

fn store_place(job: &Job<'_>, place: Place, value: u32) -> Result<(), McError> {
    match place {
        Place::Mem(addr) => job.mc.write_u32(addr, value),
        Place::Reg(reg) => {
            job.registers.write(reg, value);
            Ok(())
        }
    }
}

fn test(job: &Job<'_>, place: Place, compare: Compare) -> Result<bool, McError> {
    if field(u32::from(compare.function), 7) == 0 {
        return Ok(true);
    }
    Ok(compare.holds(load(job, place)?))
}

/// Whether the condition of a `WAIT_REG_MEM` with this body holds. True as well
/// if the packet cannot be decoded or its operand cannot be read.
pub(super) fn wait_is_over(job: &Job<'_>, body: &[u32]) -> bool {
    match Packet::decode(opcode::WAIT_REG_MEM, body) {
        Ok(Packet::WaitRegMem { place, compare, .. }) => test(job, place, compare).unwrap_or(true),
        _ => true,
    }
}

/// Writes consecutive registers with their side effects.
fn write_regs(job: &Job<'_>, first: u32, values: &[u32]) -> Result<(), Cancelled> {
    for (i, value) in values.iter().enumerate() {
        // A write may reset this engine, which cancels the rest.
        if i % 64 == 0 {
            job.check()?;
        }
        job.registers.write(first + 4 * i as u32, *value);
    }
    Ok(())
}
