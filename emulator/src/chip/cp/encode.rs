// SPDX-License-Identifier: MIT
//! Encoding of PM4 packets, for tests that act as a driver.

use super::opcode as op;
use super::pm4::{
    DmaEnd, Header, IndexSource, MemWriteData, Operand, Packet, Place, StrmoutSource,
};

impl Packet<'_> {
    /// Encodes header and body, as a driver would. Draws with immediate
    /// indices are encoded little-endian; register writes use the `SET_*`
    /// packet of their window, else a type-0 packet.
    pub fn encode(&self) -> Vec<u32> {
        let packet = |opcode: u8, body: &[u32]| {
            let mut dwords = vec![Header::Type3 {
                opcode,
                count: body.len() as u32,
                predicate: false,
                compute: false,
            }
            .encode()];
            dwords.extend_from_slice(body);
            dwords
        };
        let hi = |a: u64| (a >> 32) as u32;
        match self {
            Packet::Nop => packet(op::NOP, &[0]),
            Packet::SetPredication {
                addr,
                op: operation,
                draw_visible,
                keep,
            } => packet(
                op::SET_PREDICATION,
                &[
                    *addr as u32,
                    hi(*addr)
                        | (u32::from(*operation) << 16)
                        | (u32::from(*draw_visible) << 8)
                        | (u32::from(*keep) << 31),
                ],
            ),
            Packet::RegRmw { reg, and, or } => {
                let split = |operand: &Operand| match operand {
                    Operand::Value(v) => (*v, 0),
                    Operand::Reg(r) => (r >> 2, 1),
                };
                let ((and, and_reg), (or, or_reg)) = (split(and), split(or));
                packet(
                    op::REG_RMW,
                    &[(reg >> 2) | (and_reg << 30) | (or_reg << 31), and, or],
                )
            }
            Packet::CondExec { addr, count } => {
                packet(op::COND_EXEC, &[*addr as u32, hi(*addr), *count])
            }
            Packet::PredExec {
                device_select,
                count,
            } => packet(op::PRED_EXEC, &[(u32::from(*device_select) << 24) | count]),
            Packet::ContextControl { load, shadow } => {
                packet(op::CONTEXT_CONTROL, &[*load, *shadow])
            }
            Packet::IndexType(v) => packet(op::INDEX_TYPE, &[*v]),
            Packet::PfpSyncMe => packet(op::PFP_SYNC_ME, &[0]),
            Packet::NumInstances(v) => packet(op::NUM_INSTANCES, &[*v]),
            Packet::Draw(draw) => match &draw.source {
                IndexSource::Auto => packet(op::DRAW_INDEX_AUTO, &[draw.indices, draw.initiator]),
                IndexSource::Memory(a) => packet(
                    op::DRAW_INDEX,
                    &[*a as u32, hi(*a), draw.indices, draw.initiator],
                ),
                IndexSource::Immediate(list) => {
                    let mut body = vec![draw.indices, draw.initiator];
                    body.extend_from_slice(list);
                    packet(op::DRAW_INDEX_IMMD, &body)
                }
            },
            Packet::IndirectBuffer {
                addr,
                dwords,
                context,
            } => packet(
                op::INDIRECT_BUFFER,
                &[*addr as u32, hi(*addr), *dwords | u32::from(*context) << 24],
            ),
            Packet::StrmoutBufferUpdate {
                buffer,
                source,
                store,
            } => {
                let (select, lo, high) = match source {
                    StrmoutSource::Packet(v) => (0, *v, 0),
                    StrmoutSource::FilledSize => (1, 0, 0),
                    StrmoutSource::Memory(a) => (2, *a as u32, hi(*a)),
                    StrmoutSource::None => (3, 0, 0),
                };
                let dst = store.unwrap_or(0);
                packet(
                    op::STRMOUT_BUFFER_UPDATE,
                    &[
                        (u32::from(*buffer) << 8) | (select << 1) | u32::from(store.is_some()),
                        dst as u32,
                        hi(dst),
                        lo,
                        high,
                    ],
                )
            }
            Packet::MemSemaphore { addr, wait } => packet(
                op::MEM_SEMAPHORE,
                &[*addr as u32, hi(*addr) | ((6 + u32::from(*wait)) << 29)],
            ),
            Packet::CopyDw { src, dst } => {
                let (s, d) = (src.encode(), dst.encode());
                let control = u32::from(src.is_mem()) | (u32::from(dst.is_mem()) << 1);
                packet(op::COPY_DW, &[control, s[0], s[1], d[0], d[1]])
            }
            Packet::WaitRegMem {
                place,
                compare,
                interval,
            } => {
                let p = place.encode();
                let control = u32::from(compare.function) | (u32::from(place.is_mem()) << 4);
                let (reference, mask) = (compare.reference, compare.mask);
                packet(
                    op::WAIT_REG_MEM,
                    &[control, p[0], p[1], reference, mask, *interval],
                )
            }
            Packet::MemWrite { addr, data } => {
                let (flags, value) = match data {
                    MemWriteData::U32(v) => (1 << 18, u64::from(*v)),
                    MemWriteData::U64(v) => (0, *v),
                    MemWriteData::Clock => (1 << 16, 0),
                };
                packet(
                    op::MEM_WRITE,
                    &[*addr as u32, hi(*addr) | flags, value as u32, hi(value)],
                )
            }
            Packet::CpDma {
                src,
                dst,
                bytes,
                sync,
            } => {
                let place = |end: &DmaEnd| match end.place {
                    Place::Mem(a) => (a as u32, hi(a), 0),
                    Place::Reg(r) => (r, 0, 1),
                };
                let ((sl, sh, sr), (dl, dh, dr)) = (place(src), place(dst));
                let command = bytes
                    | (u32::from(src.swap) << 22)
                    | (u32::from(dst.swap) << 24)
                    | (sr << 26)
                    | (dr << 27)
                    | (u32::from(src.fixed) << 28)
                    | (u32::from(dst.fixed) << 29);
                packet(
                    op::CP_DMA,
                    &[sl, sh | (u32::from(*sync) << 31), dl, dh, command],
                )
            }
            Packet::SurfaceSync {
                coher_cntl,
                size,
                base,
            } => packet(op::SURFACE_SYNC, &[*coher_cntl, *size, *base, 10]),
            Packet::MeInitialize { device_id } => packet(
                op::ME_INITIALIZE,
                &[1, 0, 3, u32::from(*device_id) << 16, 0, 0],
            ),
            Packet::CondWrite {
                place,
                compare,
                dst,
                value,
            } => {
                let (p, d) = (place.encode(), dst.encode());
                let control = u32::from(compare.function)
                    | (u32::from(place.is_mem()) << 4)
                    | (u32::from(dst.is_mem()) << 8);
                let (reference, mask) = (compare.reference, compare.mask);
                packet(
                    op::COND_WRITE,
                    &[control, p[0], p[1], reference, mask, d[0], d[1], *value],
                )
            }
            Packet::EventWrite { event, index, addr } => {
                let first = u32::from(*event) | (u32::from(*index) << 8);
                match addr {
                    Some(a) => packet(op::EVENT_WRITE, &[first, *a as u32, hi(*a)]),
                    None => packet(op::EVENT_WRITE, &[first]),
                }
            }
            Packet::EventWriteEop {
                event,
                addr,
                data_sel,
                int_sel,
                data,
            } => packet(
                op::EVENT_WRITE_EOP,
                &[
                    // End-of-pipe events have index 5.
                    u32::from(*event) | (5 << 8),
                    *addr as u32,
                    hi(*addr) | (u32::from(*data_sel) << 29) | (u32::from(*int_sel) << 24),
                    *data as u32,
                    hi(*data),
                ],
            ),
            Packet::SetRegs { first, values } => encode_set(*first, values),
            Packet::ClearState
            | Packet::Preamble { .. }
            | Packet::CpDmaFill { .. }
            | Packet::SetBase { .. }
            | Packet::IndexBase(_)
            | Packet::IndexBufferSize(_)
            | Packet::DrawIndirect { .. }
            | Packet::Dispatch { .. }
            | Packet::DispatchIndirect { .. }
            | Packet::SetAppendCounter { .. }
            | Packet::StoreAppendCounter { .. }
            | Packet::CopyToShare { .. }
            | Packet::CopyFromShare { .. }
            | Packet::StoreShare { .. }
            | Packet::Undrawn => Vec::new(),
        }
    }
}

/// Encodes a register write with the packet that covers its window.
fn encode_set(first: u32, values: &[u32]) -> Vec<u32> {
    let end = first + 4 * values.len() as u32;
    let window = (op::SET_CONFIG_REG..=op::SET_CTL_CONST).find_map(|opcode| {
        op::set_window(opcode)
            .filter(|(s, e)| first >= *s && end <= *e)
            .map(|(s, _)| (opcode, s))
    });
    let mut dwords = match window {
        Some((opcode, start)) => vec![
            Header::Type3 {
                opcode,
                count: values.len() as u32 + 1,
                predicate: false,
                compute: false,
            }
            .encode(),
            (first - start) >> 2,
        ],
        None => vec![Header::Type0 {
            reg: first,
            count: values.len() as u32,
        }
        .encode()],
    };
    dwords.extend_from_slice(values);
    dwords
}
