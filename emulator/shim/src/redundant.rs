// SPDX-License-Identifier: MIT
//! What a captured stream says twice: registers that are written with the value that they have, or
//! again before anything has read them, and flushes behind which nothing was done.
//!
//! It is counted by submission: between two of them other clients may have changed registers and
//! memory, so the first writes and the first flush of each are needed. A write that is executed by
//! predication, or skipped by `COND_EXEC`, counts like others. Indirect buffers that a stream calls
//! are not followed; radeon's checker lets no client call any.
//!
//! A flush is redundant if another one with at least the same bits (`CP_COHER_CNTL`) and the same
//! range, or the same event, came before it, and no draw, dispatch, copy or write to memory between
//! them.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt::{self, Display};
use std::io::Read;

use r7xx_board::chip::cp::pm4::{Header, Packet};
use r7xx_board::chip::Family;

use crate::capture::{CaptureError, Reader, Record};

/// Registers from this byte offset on are state of draws and dispatches; `CONFIG_REG`s lie below.
const FIRST_STATE: u32 = 0x2_8000;
/// Registers that the report names.
const NAMED: usize = 12;

/// How often a register was written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Writes {
    /// All writes.
    pub all: u64,
    /// Those with the value that the register had.
    pub same: u64,
    /// Those whose value another write replaced before a draw or a dispatch.
    pub unread: u64,
    /// Number of the draw or dispatch ahead of which the first of either kind stands, counted from 1.
    pub first: Option<u64>,
}

/// What a capture says twice.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Redundant {
    /// Submissions to the graphics ring.
    pub submissions: u64,
    /// Draws and dispatches in them.
    pub draws: u64,
    /// Dwords of registers that packets write.
    pub writes: Writes,
    /// The same by name of the register; elements of an array count as one.
    pub registers: BTreeMap<String, Writes>,
    /// `SURFACE_SYNC`s and events that flush or wait.
    pub flushes: u64,
    /// Those that are redundant.
    pub empty_flushes: u64,
    /// The draws or dispatches after which the latter stand, the first ones.
    pub after: Vec<u64>,
}

/// A flush, to compare with others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Flush {
    Sync { cntl: u32, size: u32, base: u32 },
    Event(u8),
}

impl Flush {
    /// Whether nothing is left to do for `other` behind this one.
    fn covers(self, other: Flush) -> bool {
        match (self, other) {
            (Flush::Event(a), Flush::Event(b)) => a == b,
            (
                Flush::Sync { cntl, size, base },
                Flush::Sync {
                    cntl: bits,
                    size: other_size,
                    base: other_base,
                },
            ) => {
                let all = size == u32::MAX && base == 0;
                cntl & bits == bits && (all || (size, base) == (other_size, other_base))
            }
            _ => false,
        }
    }
}

/// A register's place: compute shaders of Evergreen have context registers of their own.
type Place = (u32, bool);

#[derive(Default)]
struct Stream {
    values: HashMap<Place, u32>,
    /// Written since the last draw or dispatch.
    unread: HashSet<Place>,
    /// Since the last packet that does something.
    flushes: Vec<Flush>,
}

/// Events that flush caches or wait: `CS_PARTIAL_FLUSH`, `PS_PARTIAL_FLUSH`,
/// `CACHE_FLUSH_AND_INV_EVENT` and `FLUSH_AND_INV_DB_META` (Mesa's `evergreend.h`).
const FLUSHING: [u8; 4] = [0x07, 0x10, 0x16, 0x2C];

/// Counts what the capture says twice. Nothing is executed.
///
/// # Errors
/// [`CaptureError`] for an invalid or truncated record.
pub fn count<R: Read>(mut reader: Reader<R>) -> Result<Redundant, CaptureError> {
    let family = reader.family;
    let mut found = Redundant::default();
    while let Some(record) = reader.record()? {
        match record {
            Record::Submission(ring, ib) if !ring.dma => {
                found.submissions += 1;
                found.stream(family, &ib);
            }
            _ => {}
        }
    }
    Ok(found)
}

impl Redundant {
    /// A submission's stream. A packet that cannot be decoded, or that reaches beyond the end, ends it.
    fn stream(&mut self, family: Family, ib: &[u32]) {
        let generation = family.model().generation;
        let mut stream = Stream::default();
        let mut rest = ib;
        while let [header, following @ ..] = rest {
            let header = Header::decode(*header);
            let Some((body, next)) = following.split_at_checked(header.body() as usize) else {
                return;
            };
            rest = next;
            match header {
                // radeon's checker allows type 0 for a register of the display alone.
                Header::Type0 { .. } | Header::Type2 => {}
                Header::Type1 => return,
                Header::Type3 {
                    opcode, compute, ..
                } => {
                    let Ok(packet) = (generation.pm4.decode)(opcode, body) else {
                        return;
                    };
                    let compute = compute && generation.pm4.compute_state;
                    self.packet(family, &mut stream, &packet, compute);
                }
            }
        }
    }

    fn packet(&mut self, family: Family, stream: &mut Stream, packet: &Packet<'_>, compute: bool) {
        match *packet {
            Packet::SetRegs { first, values } => {
                self.writes(family, stream, (first, compute), values);
            }
            Packet::SurfaceSync {
                coher_cntl: cntl,
                size,
                base,
            } => self.flush(stream, Flush::Sync { cntl, size, base }),
            Packet::EventWrite { event, addr, .. } if addr.is_none() => {
                if FLUSHING.contains(&event) {
                    self.flush(stream, Flush::Event(event));
                }
            }
            Packet::Draw(_)
            | Packet::DrawIndirect { .. }
            | Packet::Dispatch { .. }
            | Packet::DispatchIndirect { .. }
            | Packet::Undrawn => {
                self.draws += 1;
                stream.unread.clear();
                stream.flushes.clear();
            }
            Packet::ClearState | Packet::Preamble { .. } | Packet::RegRmw { .. } => {
                *stream = Stream::default();
            }
            Packet::Nop
            | Packet::SetPredication { .. }
            | Packet::ContextControl { .. }
            | Packet::IndexType(_)
            | Packet::NumInstances(_)
            | Packet::SetBase { .. }
            | Packet::IndexBase(_)
            | Packet::IndexBufferSize(_)
            | Packet::PfpSyncMe => {}
            // Copies, writes to memory, waits: what a flush before or behind them is for.
            _ => stream.flushes.clear(),
        }
    }

    fn writes(&mut self, family: Family, stream: &mut Stream, first: Place, values: &[u32]) {
        let (first, compute) = first;
        for (offset, &value) in (first..).step_by(4).zip(values) {
            if offset < FIRST_STATE {
                continue;
            }
            let place = (offset, compute);
            let same = stream.values.insert(place, value) == Some(value);
            let unread = !stream.unread.insert(place) && !same;
            let draw = self.draws + 1;
            let count = |writes: &mut Writes| {
                writes.all += 1;
                writes.same += u64::from(same);
                writes.unread += u64::from(unread);
                if same || unread {
                    writes.first.get_or_insert(draw);
                }
            };
            count(&mut self.writes);
            count(self.registers.entry(name(family, offset)).or_default());
        }
    }

    fn flush(&mut self, stream: &mut Stream, flush: Flush) {
        self.flushes += 1;
        if stream.flushes.iter().any(|earlier| earlier.covers(flush)) {
            self.empty_flushes += 1;
            self.after.push(self.draws);
        }
        stream.flushes.push(flush);
    }
}

/// The register's name, with `n` for numbers, so that elements of an array have the same one.
fn name(family: Family, offset: u32) -> String {
    let name = family.model().generation.register_name(offset);
    let name = name.unwrap_or_else(|| format!("{offset:#07x}"));
    let (mut out, mut digits) = (String::new(), false);
    for (at, c) in name.char_indices() {
        // Not those of a name's beginning, as in 0x28004.
        let digit = at > 0 && c.is_ascii_digit() && !name.starts_with("0x");
        if !(digit && digits) {
            out.push(if digit { 'n' } else { c });
        }
        digits = digit;
    }
    out
}

/// `part` of `all` in per cent, rounded.
fn percent(part: u64, all: u64) -> u64 {
    (part * 100 + all / 2).checked_div(all).unwrap_or(0)
}

impl Display for Redundant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Writes {
            all, same, unread, ..
        } = self.writes;
        let (flushes, empty) = (self.flushes, self.empty_flushes);
        writeln!(
            f,
            "{} submissions, {} draws and dispatches",
            self.submissions, self.draws
        )?;
        writeln!(f, "{all:8} registers written")?;
        for (part, of, what) in [
            (same, all, "with the value that they had"),
            (unread, all, "with a value that was replaced before a draw"),
        ] {
            writeln!(f, "{part:8} {:3} %  {what}", percent(part, of))?;
        }
        writeln!(f, "{flushes:8} flushes")?;
        let what = "with nothing done since the last one";
        writeln!(f, "{empty:8} {:3} %  {what}", percent(empty, flushes))?;
        if let [first, ..] = self.after[..] {
            writeln!(f, "               the first after draw {first}")?;
        }
        let mut most: Vec<_> = self.registers.iter().collect();
        most.retain(|(_, writes)| writes.same + writes.unread > 0);
        most.sort_by_key(|(_, writes)| std::cmp::Reverse(writes.same + writes.unread));
        for (name, writes) in most.into_iter().take(NAMED) {
            let Writes {
                all,
                same,
                unread,
                first,
            } = writes;
            let first = first.unwrap_or(0);
            writeln!(
                f,
                "{name}: of {all}, {same} with its value, {unread} replaced; first for draw {first}"
            )?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gpu::Ring;

    fn type3(opcode: u8, body: &[u32]) -> Vec<u32> {
        let header = Header::Type3 {
            opcode,
            count: body.len() as u32,
            predicate: false,
            compute: false,
        };
        let mut packet = vec![header.encode()];
        packet.extend_from_slice(body);
        packet
    }

    /// `SET_CONTEXT_REG`.
    fn set(register: u32, values: &[u32]) -> Vec<u32> {
        let mut body = vec![(register - FIRST_STATE) / 4];
        body.extend_from_slice(values);
        type3(0x69, &body)
    }

    fn draw() -> Vec<u32> {
        type3(0x2D, &[3, 2])
    }

    fn sync(cntl: u32, size: u32) -> Vec<u32> {
        type3(0x43, &[cntl, size, 0, 10])
    }

    fn event(event: u32) -> Vec<u32> {
        type3(0x46, &[event])
    }

    /// Submissions of packets.
    fn counted(submissions: &[&[Vec<u32>]]) -> Redundant {
        let mut found = Redundant::default();
        for packets in submissions {
            found.submissions += 1;
            found.stream(Family::Rv770, &packets.concat());
        }
        found
    }

    const TARGET_MASK: u32 = 0x2_8238;

    #[test]
    fn the_same_value_and_one_that_nothing_reads_are_counted() {
        let found = counted(&[&[
            set(TARGET_MASK, &[15, 7]),
            draw(),
            set(TARGET_MASK, &[15, 8]),
            set(TARGET_MASK, &[14]),
            set(TARGET_MASK, &[13]),
            draw(),
        ]]);
        let writes = Writes {
            all: 6,
            same: 1,
            unread: 2,
            first: Some(2),
        };
        assert_eq!((found.draws, found.writes), (2, writes));
        assert_eq!(found.registers["CB_TARGET_MASK"].all, 4);
        assert_eq!(found.registers["CB_SHADER_MASK"].same, 0);
    }

    #[test]
    fn another_submission_begins_anew() {
        let stream = [set(TARGET_MASK, &[15]), draw(), sync(1 << 23, u32::MAX)];
        let found = counted(&[&stream, &stream]);
        assert_eq!((found.writes.all, found.writes.same), (2, 0));
        assert_eq!((found.flushes, found.empty_flushes), (2, 0));
    }

    #[test]
    fn a_flush_is_empty_if_nothing_was_done_since_one_that_covers_it() {
        let (all, part) = (sync(3 << 23, u32::MAX), sync(1 << 23, u32::MAX));
        for (packets, empty) in [
            (vec![all.clone(), part.clone()], 1),
            (vec![all.clone(), set(TARGET_MASK, &[1]), part.clone()], 1),
            (vec![part.clone(), all.clone()], 0),
            (vec![all.clone(), draw(), all.clone()], 0),
            // CP_DMA.
            (
                vec![all.clone(), type3(0x41, &[0, 0, 0, 0, 64]), all.clone()],
                0,
            ),
            (vec![all, sync(1 << 23, 16)], 1),
            (vec![sync(1 << 23, 16), part], 0),
            (vec![event(0x16), event(0x16)], 1),
            (vec![event(0x16), event(0x10)], 0),
            // PIPELINESTAT_START.
            (vec![event(0x19), event(0x19)], 0),
        ] {
            assert_eq!(counted(&[&packets]).empty_flushes, empty, "{packets:x?}");
        }
    }

    #[test]
    fn what_cannot_be_decoded_ends_the_stream_only() {
        let found = counted(&[&[set(TARGET_MASK, &[1]), vec![0xC0FF_6900]], &[draw()]]);
        assert_eq!(
            (found.submissions, found.draws, found.writes.all),
            (2, 1, 1)
        );
        let found = counted(&[&[type3(0xFE, &[0]), draw()], &[vec![1 << 30]]]);
        assert_eq!(found.draws, 0);
    }

    #[test]
    fn a_capture_is_read_to_its_end() {
        let ring = Ring {
            dma: false,
            vm: false,
        };
        let mut file = b"r7xxcap1\x05rv770".to_vec();
        for (ring, ib) in [(ring, draw()), (Ring { dma: true, ..ring }, draw())] {
            Record::Submission(ring, ib).write(&mut file).unwrap();
        }
        let found = count(Reader::new(&file[..]).unwrap()).unwrap();
        assert_eq!((found.submissions, found.draws), (1, 1));
        assert!(found.to_string().contains("1 submissions, 1 draws"));
        file.pop();
        assert!(count(Reader::new(&file[..]).unwrap()).is_err());
    }

    #[test]
    fn elements_of_an_array_have_one_name() {
        assert_eq!(name(Family::Rv770, 0x2_8048), "CB_COLORn_BASE");
        assert_eq!(
            name(Family::Rv770, 0x3_8000 + 28 * 160 + 8),
            "SQ_TEX_RESOURCE_WORDn_n"
        );
    }
}
