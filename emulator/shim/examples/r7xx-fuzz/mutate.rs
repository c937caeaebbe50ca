// SPDX-License-Identifier: MIT
//! Mutations of a submission, by what they change.

use fastrand::Rng;
use r7xx_shim::memory::{self, GTT, PAGE, RESERVED, VRAM};
use r7xx_shim::space::{END, TABLE};

use crate::frame::{Frame, Pages};
use crate::layout::Layout;

/// What a mutation changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// A context or config register.
    Register,
    /// A resource or sampler word.
    Resource,
    /// A packet's header: type, opcode or count.
    Header,
    /// A word of a draw, of the index type or the instances.
    Draw,
    /// An address: of a target, shader, buffer or texture.
    Address,
    /// Shader code.
    Shader,
    /// The memory that vertex resources point to.
    Vertices,
    /// Indices in memory.
    Indices,
    /// Constants that shaders read.
    Constants,
    /// The order of packets: one is moved, doubled or left out.
    Order,
    /// Entries of the address space's table, for streams that have one.
    Table,
}

/// All kinds.
pub const KINDS: [Kind; 11] = [
    Kind::Register,
    Kind::Resource,
    Kind::Header,
    Kind::Draw,
    Kind::Address,
    Kind::Shader,
    Kind::Vertices,
    Kind::Indices,
    Kind::Constants,
    Kind::Order,
    Kind::Table,
];

impl Kind {
    pub fn name(self) -> &'static str {
        match self {
            Kind::Register => "register",
            Kind::Resource => "resource",
            Kind::Header => "header",
            Kind::Draw => "draw",
            Kind::Address => "address",
            Kind::Shader => "shader",
            Kind::Vertices => "vertices",
            Kind::Indices => "indices",
            Kind::Constants => "constants",
            Kind::Order => "order",
            Kind::Table => "table",
        }
    }
}

/// A mutated submission.
pub struct Mutated {
    pub ib: Vec<u32>,
    /// Pages with other contents.
    pub pages: Pages,
    /// Descriptions of the changes, for the message of a failure.
    pub what: Vec<String>,
}

// Opcodes of type-3 packets (`r600d.h`).
const INDEX_TYPE: u8 = 0x2A;
const DRAW_INDEX: u8 = 0x2B;
const DRAW_INDEX_AUTO: u8 = 0x2D;
const DRAW_INDEX_IMMD: u8 = 0x2E;
const NUM_INSTANCES: u8 = 0x2F;
const SURFACE_SYNC: u8 = 0x43;
const EVENT_WRITE: u8 = 0x46;
const SET_CONFIG_REG: u8 = 0x68;
const SET_CONTEXT_REG: u8 = 0x69;
const SET_ALU_CONST: u8 = 0x6A;
const SET_LOOP_CONST: u8 = 0x6C;
const SET_RESOURCE: u8 = 0x6D;
const SET_SAMPLER: u8 = 0x6E;

const CONTEXT: u32 = 0x2_8000;
/// A type-3 packet of a stream.
#[derive(Debug, Clone, Copy)]
pub struct At {
    /// Index of its header.
    pub header: usize,
    pub opcode: u8,
    /// Words of its body.
    pub count: usize,
}

impl At {
    /// Whether it is a draw.
    pub fn draws(&self) -> bool {
        matches!(self.opcode, DRAW_INDEX | DRAW_INDEX_AUTO | DRAW_INDEX_IMMD)
    }

    /// Its values: index in the stream, and the register that is set.
    fn registers<'a>(&self, ib: &'a [u32], base: u32) -> impl Iterator<Item = (usize, u32)> + 'a {
        let first = self.header + 1;
        let register = base + 4 * (ib[first] & 0xFFFF);
        (first + 1..first + self.count).zip((register..).step_by(4))
    }
}

/// The type-3 packets of a stream, up to its end or to the first word that begins neither such
/// a packet nor a type-2 filler.
pub fn packets(ib: &[u32]) -> impl Iterator<Item = At> + '_ {
    let mut next = 0;
    std::iter::from_fn(move || {
        while ib.get(next).is_some_and(|word| word >> 30 == 2) {
            next += 1;
        }
        let header = next;
        let word = *ib.get(header)?;
        let count = (word >> 16 & 0x3FFF) as usize + 1;
        next += 1 + count;
        (word >> 30 == 3 && next <= ib.len()).then_some(At {
            header,
            opcode: (word >> 8) as u8,
            count,
        })
    })
}

/// A new value for `word` that is likely to have an effect.
fn changed(word: u32, random: &mut Rng) -> u32 {
    match random.u32(..10) {
        0..=3 => word ^ 1 << random.u32(..32),
        4 => word ^ 1 << random.u32(..32) ^ 1 << random.u32(..32),
        5 => random.u32(..),
        6 => random.u32(..64),
        7 => *random
            .choice(&[0, 1, u32::MAX, 1 << 31, 0x7FFF_FFFF])
            .unwrap_or(&0),
        8 => word.wrapping_add(random.u32(..9)).wrapping_sub(4),
        _ => random.u32(..1 << 16) | word & 0xFFFF_0000,
    }
}

/// A new value for the float `word` that real data does not contain.
fn float(word: u32, random: &mut Rng) -> u32 {
    let value = match random.u32(..8) {
        0 => f32::NAN,
        1 => f32::INFINITY,
        2 => f32::NEG_INFINITY,
        3 => f32::MAX,
        4 => f32::MIN_POSITIVE / 2.0,
        5 => -f32::from_bits(word),
        6 => f32::from_bits(word) * 1e6,
        _ => return changed(word, random),
    };
    value.to_bits()
}

/// A new value for `word`, an address in units of `1 << shift` bytes.
fn address(frame: &Frame, word: u32, shift: u32, random: &mut Rng) -> u32 {
    let end = match frame.ring.vm {
        true => END,
        false => RESERVED + VRAM + GTT,
    };
    let page = |random: &mut Rng| {
        let n = random.usize(..frame.space.len().max(1));
        frame.space.keys().nth(n).copied().unwrap_or(RESERVED)
    };
    let to = match random.u32(..8) {
        0..=2 => page(random),
        3 => page(random) + random.u64(..PAGE),
        4 => end - random.u64(..4 * PAGE),
        5 => end + random.u64(..1 << 30),
        6 => u64::from(random.u32(..)) << shift,
        _ => return changed(word, random),
    };
    (to >> shift) as u32
}

/// Words of a stream that a kind of mutation may change: index, and for an address log2 of its
/// unit in bytes.
fn words(ib: &[u32], layout: &Layout, kind: Kind) -> Vec<(usize, u32)> {
    let mut found = Vec::new();
    for p in packets(ib) {
        let body = p.header + 1..p.header + 1 + p.count;
        match (kind, p.opcode) {
            (Kind::Header, _) => found.push((p.header, 0)),
            (Kind::Register, SET_CONTEXT_REG | SET_CONFIG_REG) => {
                found.extend(body.map(|i| (i, 0)));
            }
            (Kind::Resource, SET_RESOURCE | SET_SAMPLER) => found.extend(body.map(|i| (i, 0))),
            (Kind::Draw, INDEX_TYPE | NUM_INSTANCES) => found.extend(body.map(|i| (i, 0))),
            (Kind::Draw, _) if p.draws() => found.extend(body.take(8).map(|i| (i, 0))),
            (Kind::Constants, SET_ALU_CONST | SET_LOOP_CONST) => {
                found.extend(body.skip(1).map(|i| (i, 0)));
            }
            (Kind::Address, SET_CONTEXT_REG) => {
                let registers = p.registers(ib, CONTEXT);
                let bases = registers.filter(|(_, register)| layout.is_address(*register));
                found.extend(bases.map(|(i, _)| (i, 8)));
            }
            // Texture resources have their addresses in words 2 and 3, vertex resources in
            // word 0 (type in the upper bits of the last word).
            (Kind::Address, SET_RESOURCE) => {
                let size = layout.resources.1 as usize;
                for resource in (body.start + 1..body.end).step_by(size) {
                    match ib.get(resource + size - 1).map(|word| word >> 30) {
                        Some(2) => found.extend([(resource + 2, 8), (resource + 3, 8)]),
                        Some(_) => found.push((resource, 0)),
                        None => {}
                    }
                }
            }
            (Kind::Address, DRAW_INDEX) => found.push((body.start, 0)),
            (Kind::Address, SURFACE_SYNC) if p.count >= 3 => found.push((body.start + 2, 8)),
            (Kind::Address, EVENT_WRITE) if p.count >= 2 => found.push((body.start + 1, 0)),
            _ => {}
        }
    }
    found
}

/// Ranges of memory that a kind of mutation may change: address and length in bytes.
fn places(frame: &Frame, kind: Kind) -> Vec<(u64, u64)> {
    let ib = &frame.ib[..];
    let layout = Layout::of(frame.family);
    let mut found = Vec::new();
    for p in packets(ib) {
        let body = p.header + 1..p.header + 1 + p.count;
        match (kind, p.opcode) {
            (Kind::Shader | Kind::Constants, SET_CONTEXT_REG) => {
                for (i, register) in p.registers(ib, CONTEXT) {
                    let start = u64::from(ib[i]) << 8;
                    if kind == Kind::Shader && layout.shaders.contains(&register) {
                        found.push((start, 512));
                    }
                    if kind == Kind::Constants && layout.is_constants(register) {
                        found.push((start, 128));
                    }
                }
            }
            (Kind::Vertices, SET_RESOURCE) => {
                let size = layout.resources.1 as usize;
                for resource in (body.start + 1..body.end).step_by(size) {
                    if ib
                        .get(resource + size - 1)
                        .is_some_and(|word| word >> 30 == 3)
                    {
                        let high = u64::from(ib[resource + 2] & 0xFF) << 32;
                        let start = u64::from(ib[resource]) | high;
                        found.push((start, u64::from(ib[resource + 1]) + 1));
                    }
                }
            }
            (Kind::Indices, DRAW_INDEX) if p.count >= 3 => {
                let start = u64::from(ib[body.start]) | u64::from(ib[body.start + 1] & 0xFF) << 32;
                found.push((start, 2 * u64::from(ib[body.start + 2])));
            }
            _ => {}
        }
    }
    found.retain(|(start, bytes)| *bytes >= 4 && frame.place(*start).is_some());
    found
}

/// A new value for `entry` of an address space's table: another page, or other accesses.
fn entry(frame: &Frame, entry: u32, random: &mut Rng) -> u32 {
    let flags = entry & 3 << 30;
    match random.u32(..6) {
        0 => 0,
        1 => entry ^ 1 << 30,
        2 => entry ^ 1 << 31,
        // A page of another BO, or of the table.
        3 => {
            let n = random.usize(..frame.pages.len().max(1));
            let page = frame.pages.keys().nth(n).copied().unwrap_or(TABLE);
            (page / PAGE) as u32 | flags
        }
        // Around the end of memory, or far behind.
        4 => (memory::END / PAGE) as u32 - 2 + random.u32(..4) | flags,
        _ => changed(entry, random),
    }
}

/// Changes the entries of some pages of the stream; false if it has no address space.
fn in_table(frame: &Frame, random: &mut Rng, out: &mut Mutated) -> bool {
    if !frame.ring.vm || frame.space.is_empty() {
        return false;
    }
    // Often choose a page that the stream names: most pages are not accessed.
    let named: Vec<u64> = [Kind::Shader, Kind::Constants, Kind::Vertices, Kind::Indices]
        .into_iter()
        .flat_map(|kind| places(frame, kind))
        .map(|(start, _)| start)
        .collect();
    let page = match random.choice(&named) {
        Some(&page) if random.bool() => page,
        _ => {
            let n = random.usize(..frame.space.len());
            frame.space.keys().nth(n).copied().unwrap_or(0)
        }
    };
    let first = TABLE + page / PAGE * 4;
    let new = |old, random: &mut Rng| entry(frame, old, random);
    let mut done = false;
    for n in 0..random.u64(1..5) {
        done |= change(frame, first + 4 * n, random, new, out);
    }
    done
}

/// Changes the word at an MC address; false if the frame does not have it.
fn change(
    frame: &Frame,
    at: u64,
    random: &mut Rng,
    new: impl Fn(u32, &mut Rng) -> u32,
    out: &mut Mutated,
) -> bool {
    let page = at & !(PAGE - 1);
    let Some(was) = frame.pages.get(&page) else {
        return false;
    };
    let contents = out.pages.entry(page).or_insert_with(|| was.clone());
    let word = &mut contents[(at - page) as usize..][..4];
    let old = u32::from_le_bytes([word[0], word[1], word[2], word[3]]);
    let new = new(old, random);
    word.copy_from_slice(&new.to_le_bytes());
    out.what
        .push(format!("memory {at:#x}: {old:#x} -> {new:#x}"));
    true
}

/// Changes a word of memory; false if the frame has no memory for this kind.
fn in_memory(frame: &Frame, kind: Kind, random: &mut Rng, out: &mut Mutated) -> bool {
    let places = places(frame, kind);
    let Some(&(start, bytes)) = random.choice(&places) else {
        return false;
    };
    let at = (start & !3) + 4 * random.u64(..(bytes / 4).clamp(1, PAGE));
    let Some(place) = frame.place(at) else {
        return false;
    };
    let new = |old, random: &mut Rng| match kind {
        Kind::Vertices | Kind::Constants => float(old, random),
        _ => changed(old, random),
    };
    change(frame, place, random, new, out)
}

/// Moves, doubles or leaves out a packet.
fn reorder(random: &mut Rng, out: &mut Mutated) {
    let all: Vec<At> = packets(&out.ib).collect();
    // Often choose a draw: among the packets that set state they are few.
    let draws: Vec<At> = all.iter().copied().filter(At::draws).collect();
    let sources = if random.u32(..3) == 0 && !draws.is_empty() {
        &draws
    } else {
        &all
    };
    let (Some(from), Some(to)) = (
        random.choice(sources).copied(),
        random.choice(&all).copied(),
    ) else {
        return;
    };
    let words: Vec<u32> = out.ib[from.header..=from.header + from.count].to_vec();
    let how = random.u32(..3);
    out.what.push(format!(
        "packet at {}, {}, to {}",
        from.header,
        ["moved", "doubled", "left out"][how as usize],
        to.header
    ));
    if how < 2 {
        out.ib.splice(to.header..to.header, words.iter().copied());
    }
    if how != 1 {
        let at = from.header
            + if how == 0 && to.header <= from.header {
                words.len()
            } else {
                0
            };
        out.ib.drain(at..at + words.len());
    }
}

/// A submission of `frame` with one to four mutations of one kind. If the frame has nothing of
/// this kind to change, registers are changed instead.
pub fn mutate(frame: &Frame, kind: Kind, random: &mut Rng) -> Mutated {
    let mut out = Mutated {
        ib: frame.ib.clone(),
        pages: Pages::new(),
        what: Vec::new(),
    };
    let layout = Layout::of(frame.family);
    for _ in 0..random.u32(1..5) {
        let done = match kind {
            Kind::Order => {
                reorder(random, &mut out);
                true
            }
            Kind::Shader | Kind::Vertices | Kind::Indices => {
                in_memory(frame, kind, random, &mut out)
            }
            Kind::Table => in_table(frame, random, &mut out),
            Kind::Constants if random.bool() => in_memory(frame, kind, random, &mut out),
            _ => false,
        };
        if done {
            continue;
        }
        let mut words_of = words(&out.ib, layout, kind);
        if words_of.is_empty() {
            words_of = words(&out.ib, layout, Kind::Register);
        }
        let Some(&(i, shift)) = random.choice(&words_of) else {
            continue;
        };
        let old = out.ib[i];
        let new = match kind {
            Kind::Address => address(frame, old, shift, random),
            Kind::Constants => float(old, random),
            _ => changed(old, random),
        };
        out.ib[i] = new;
        out.what.push(format!("word {i}: {old:#x} -> {new:#x}"));
    }
    out
}
