// SPDX-License-Identifier: MIT
//! The colour backend: writes a pixel shader's colours to render targets,
//! through blending, logic operations and write masks, and resolves
//! multisampled targets.
//!
//! Registers: `CB_*` in `r600d.h`; their use in Mesa's `r600_state.c`. All
//! memory accesses are of micro tiles. A tile that is overwritten as a whole is
//! not read.
//!
//! Not modelled: FMASK, and CMASK but for fast clears (samples are always stored
//! expanded, see [`compressed`](super::compressed)), fog, dithering, colour comparison (`CB_CLRCMP_*`).

pub mod blend;
mod cleared;
mod describe;
pub mod pack;
mod packed;

use pulp::{Arch, Simd, WithSimd};

use self::blend::{Blend, Colour, LogicOp};
pub use self::cleared::FastClear;
use self::pack::{load, store, Packing, Raw};
pub use self::packed::Moves;
use self::packed::{Mode, Packed};
use super::compressed::Compression;
use super::format::{DataFormat, Endian, Kind, NumberType};
use super::lanes::{Lanes, Mask, ALL, LANES};
use super::memory::View;
use super::state::{Registers, Shadow};
use super::surface::{rows_of, At, Place, Surface};
use crate::chip::bus::{Mc, McError, RegFile};
use crate::chip::regs::gb::GB_TILING_CONFIG;
use crate::chip::regs::gfx::{
    CB_BLEND0_CONTROL, CB_BLEND_CONTROL, CB_BLEND_RED, CB_COLOR0_BASE, CB_COLOR0_INFO,
    CB_COLOR0_SIZE, CB_COLOR0_VIEW, CB_COLOR_CONTROL, CB_SHADER_MASK, CB_TARGET_MASK,
    PA_SC_AA_CONFIG,
};
use crate::chip::strict::cache::Cache;
use crate::chip::tiling::{ArrayMode, Layout, TilingConfig};

/// Number of bytes that [`Targets::uniform_tile`] returns.
pub const UNIFORM_BYTES: usize = packed::TILE_BYTES;

/// Number of render targets of the chip.
pub const TARGETS: usize = 8;

/// `SPECIAL_OP` of `CB_COLOR_CONTROL`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SpecialOp {
    /// Colours are written.
    Normal,
    /// Nothing is written: `DISABLE`, and operations that clear or expand
    /// compressed targets, if none can be fast-cleared.
    Disable,
    /// Covered tiles that stand for a clear colour get it (`EXPAND_*`).
    Expand,
    /// `RESOLVE_BOX`: target 1 becomes the average of target 0's samples.
    Resolve,
}

impl SpecialOp {
    fn from_field(value: u32) -> Self {
        match value & 7 {
            0 => SpecialOp::Normal,
            4..=6 => SpecialOp::Expand,
            7 => SpecialOp::Resolve,
            _ => SpecialOp::Disable,
        }
    }
}

/// A decoded render target.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Target {
    /// Its memory.
    pub surface: Surface,
    /// First and last slice of the view.
    pub slices: (u32, u32),
    packing: Packing,
    endian: Endian,
    /// Components that are written, bit 0 is red.
    pub write_mask: u8,
    blend: Option<Blend>,
    logic: Option<LogicOp>,
    /// Bits of an element that the write mask protects. Bits that belong to no
    /// component are not protected: they become 0.
    kept: [u32; 4],
    /// The new element depends on the old one.
    reads: bool,
    /// State of the fast path, if the target takes it.
    packed: Option<Packed>,
    /// See [`ColourBuffer::cleared`].
    pub cleared: Option<FastClear>,
    /// See [`ColourBuffer::opaque`].
    opaque: bool,
}

impl Target {
    /// `NUMBER_TYPE` of the target.
    pub fn number(&self) -> NumberType {
        self.packing.number
    }

    /// Samples per pixel.
    pub fn samples(&self) -> u32 {
        self.surface.layout.samples
    }

    /// True if the new element depends on the old one.
    pub fn reads_destination(&self) -> bool {
        self.reads
    }

    /// True if dual-source blending uses the shader's second colour.
    pub fn uses_second(&self) -> bool {
        // The fast path has no dual-source blending.
        self.packed.is_none() && self.blend.is_some_and(|blend| blend.uses_second())
    }

    /// The bytes of `at`'s sample in its micro tile.
    #[inline]
    fn place(&self, at: At) -> Place {
        let first = match at.sample {
            0 => 0,
            sample => self.surface.layout.sample_place(0, sample),
        };
        let len = self.packing.bytes() * LANES;
        (self.surface).place((at.x, at.y), self.slice(at.layer), first, len)
    }

    /// The colours of micro tile `at`, lanes in quad order. Integers are in the
    /// floats' bits.
    ///
    /// # Errors
    /// The first access that no memory answered.
    pub fn read_tile(&self, mc: &dyn Mc, at: At) -> Result<Colour, McError> {
        let (mut raw, mut data) = ([[0; LANES]; 4], [0; 64 * 16]);
        read(self, &View::new(mc), at, Mask::MAX, &mut data, &mut raw)?;
        Ok(self.packing.unpack(&raw))
    }

    fn slice(&self, layer: u32) -> u32 {
        let (first, last) = self.slices;
        first.saturating_add(layer).min(last.max(first))
    }
}

/// All render targets with the state that they share, decoded from registers.
#[derive(Debug, Clone)]
pub struct Targets {
    targets: [Option<Target>; TARGETS],
    /// Number of the last target plus 1; 0 without targets.
    end: usize,
    /// `MULTIWRITE_ENABLE`: export 0 goes to all targets.
    pub multiwrite: bool,
    /// How draws write the targets.
    pub special: SpecialOp,
    arch: Arch,
}

impl Default for Targets {
    /// No target.
    fn default() -> Self {
        Self {
            targets: [None; TARGETS],
            end: 0,
            multiwrite: false,
            special: SpecialOp::Normal,
            arch: Arch::new(),
        }
    }
}

impl Targets {
    /// Decodes the targets. A target is none without a format, or if
    /// `CB_SHADER_MASK` and `CB_TARGET_MASK` have no common component of it. A
    /// resolve ignores the masks of targets 0 and 1.
    pub fn decode(regs: &dyn RegFile) -> Self {
        Self::of(regs, |index| ColourBuffer::of(regs, regs, index))
    }

    /// As [`Self::decode`]; `buffer` returns the registers of a target's buffer.
    pub fn of(regs: &dyn RegFile, buffer: impl Fn(usize) -> ColourBuffer) -> Self {
        let control = regs.load(CB_COLOR_CONTROL);
        let special = SpecialOp::from_field(control >> 4);
        let resolve = special == SpecialOp::Resolve;
        let target_mask = regs.load(CB_TARGET_MASK);
        let masks = target_mask & regs.load(CB_SHADER_MASK);
        let samples = 1 << (regs.load(PA_SC_AA_CONFIG) & 3);
        let mut targets = [None; TARGETS];
        for (i, target) in targets.iter_mut().enumerate() {
            let nibble = |mask: u32| (mask >> (4 * i) & 0xF) as u8;
            let (write_mask, samples) = match i {
                0 if resolve => (0xF, samples),
                1 if resolve => (0xF, 1),
                _ => (nibble(masks), samples),
            };
            if write_mask != 0 {
                *target = decode_target(regs, &buffer(i), i, write_mask, samples, control);
            }
        }
        let cleared = targets
            .iter()
            .flatten()
            .any(|t: &Target| t.cleared.is_some());
        let special = match special {
            SpecialOp::Expand if !cleared => SpecialOp::Disable,
            other => other,
        };
        Self {
            targets,
            end: targets
                .iter()
                .rposition(Option::is_some)
                .map_or(0, |last| last + 1),
            multiwrite: control & 2 != 0,
            special,
            arch: Arch::new(),
        }
    }

    /// Array modes of targets that the model does not know.
    pub fn unknown_modes(&self) -> impl Iterator<Item = u32> + '_ {
        let targets = self.targets.iter().flatten();
        targets.filter_map(|target| target.surface.layout.mode.unknown())
    }

    /// Target `index`, if there is one.
    pub fn get(&self, index: usize) -> Option<&Target> {
        self.targets.get(index)?.as_ref()
    }

    /// The targets that a draw writes: target number, number of the exported
    /// colour, target. Empty for special operations.
    pub fn written(&self) -> impl Iterator<Item = (usize, usize, &Target)> {
        let active = self.special == SpecialOp::Normal;
        let end = if active { self.end } else { 0 };
        self.targets
            .iter()
            .enumerate()
            .take(end)
            .filter_map(|(i, target)| {
                let export = if self.multiwrite { 0 } else { i };
                Some((i, export, target.as_ref()?))
            })
    }

    /// Writes the pixels of `mask` to sample `at` of target `index`. `src` has red to alpha
    /// as the shader exported them, lanes in quad order; `src1` has the second colour, if the
    /// target [uses it](Target::uses_second). Does nothing if there is no such target.
    ///
    /// # Errors
    /// The first access that no memory answered; the tile may then be partly written.
    pub fn write_tile(
        &self,
        view: &View<'_>,
        index: usize,
        at: At,
        src: &[&Lanes; 4],
        src1: Option<&[&Lanes; 4]>,
        mask: Mask,
    ) -> Result<(), McError> {
        let Some(target) = self.get(index) else {
            return Ok(());
        };
        target.expand(view, at)?;
        if let Some(packed) = &target.packed {
            return self.write_packed(view, target, packed, at, src, mask);
        }
        let job = |old: &Raw| {
            self.arch.dispatch(Merge {
                target,
                old,
                src,
                src1,
                mask,
            })
        };
        update(target, view, at, mask, target.reads_destination(), job)
    }

    /// Prefetches tile `at` of the targets on the fast path whose old colours a draw reads.
    #[inline]
    pub fn prefetch(&self, view: &View<'_>, at: At) {
        for (_, _, target) in self.written() {
            if target.reads && target.packed.is_some() {
                (target.surface).prefetch_tile(view, &target.place(at));
            }
        }
    }

    /// [`Self::write_tile`] on the fast path.
    fn write_packed(
        &self,
        view: &View<'_>,
        target: &Target,
        packed: &Packed,
        at: At,
        src: &[&Lanes; 4],
        mask: Mask,
    ) -> Result<(), McError> {
        if mask == 0 {
            return Ok(());
        }
        let place = target.place(at);
        let rows = rows_of(mask);
        let mut data = [0; packed::TILE_BYTES];
        if target.reads || mask != ALL {
            target.surface.read_tile(view, &place, rows, &mut data)?;
        }
        self.arch.dispatch(packed::Merge {
            packed,
            kept: target.kept[0],
            src,
            mask,
            order: target.surface.layout.lanes(),
            data: &mut data,
        });
        target.surface.write_tile(view, &place, rows, &data)
    }

    /// The bytes that [`Self::write_tile`] writes for all lanes. Draws in one colour compute them
    /// once. None if they depend on the old bytes, or if the target does not take the fast path.
    pub fn uniform_tile(&self, index: usize, src: &[&Lanes; 4]) -> Option<[u8; UNIFORM_BYTES]> {
        let target = self.get(index)?;
        let packed = target.packed.as_ref().filter(|_| !target.reads)?;
        let mut data = [0; packed::TILE_BYTES];
        self.arch.dispatch(packed::Merge {
            packed,
            kept: 0,
            src,
            mask: ALL,
            order: target.surface.layout.lanes(),
            data: &mut data,
        });
        Some(data)
    }

    /// Writes the bytes of [`Self::uniform_tile`] to a whole micro tile; arguments as for
    /// [`Self::write_tile`].
    ///
    /// # Errors
    /// As [`Self::write_tile`].
    #[inline]
    pub fn write_uniform(
        &self,
        view: &View<'_>,
        index: usize,
        at: At,
        data: &[u8; UNIFORM_BYTES],
    ) -> Result<(), McError> {
        let Some(target) = self.get(index) else {
            return Ok(());
        };
        target.expand(view, at)?;
        (target.surface).write_tile(view, &target.place(at), 0xFF, data)
    }

    /// Fills a block of `size` micro tiles (columns, rows) at `at` of target `index` with the bytes
    /// of [`Self::uniform_tile`], all samples. False if that is not possible or failed; a part may
    /// then have been written.
    pub fn fill_block(
        &self,
        view: &View<'_>,
        index: usize,
        at: At,
        size: (u32, u32),
        data: &[u8; UNIFORM_BYTES],
    ) -> bool {
        let Some((surface, slice)) = self.surface(index, at) else {
            return false;
        };
        let block = surface.block(view, (at.x, at.y), size, slice);
        block.is_some_and(|block| surface.fill_block(view, &block, data).is_ok())
    }

    /// The memory of target `index` and the slice of `at`, if no tile of it stands for another
    /// colour than its bytes.
    pub fn surface(&self, index: usize, at: At) -> Option<(&Surface, u32)> {
        let target = self.get(index).filter(|target| target.cleared.is_none())?;
        Some((&target.surface, target.slice(at.layer)))
    }

    /// The only target that a draw writes, and how it moves the bytes of a texel to a pixel.
    /// `swizzle` selects a byte of the texel (0 to 3), 0 (4) or 1 (5) for each component. None if
    /// the draw has several targets or does more than move bytes.
    pub fn moves(&self, swizzle: &[u8; 4]) -> Option<(usize, Moves)> {
        let mut written = self.written();
        let (index, export, target) = written.next()?;
        let packed = target.packed.as_ref()?;
        let plain = packed.mode == Mode::Copy && packed.word_order && !target.reads;
        if written.next().is_some() || export != 0 || target.samples() != 1 || !plain {
            return None;
        }
        Some((index, Moves::new(swizzle, &packed.shift)))
    }

    /// Writes 8x8 texels, row by row, to a micro tile of target `index`, for which
    /// [`Self::moves`] returned `moves`; arguments as for [`Self::write_tile`].
    ///
    /// # Errors
    /// As [`Self::write_tile`].
    pub fn copy_tile(
        &self,
        view: &View<'_>,
        index: usize,
        at: At,
        texels: &Lanes,
        moves: &Moves,
    ) -> Result<(), McError> {
        let mut data = [0; packed::TILE_BYTES];
        self.arch.dispatch(packed::Move {
            moves,
            texels,
            data: &mut data,
        });
        self.write_uniform(view, index, at, &data)
    }

    /// Gives tile `at` of all targets their clear colours, where it stands for them.
    ///
    /// # Errors
    /// The first access that no memory answered.
    pub fn expand_tile(&self, view: &View<'_>, at: At) -> Result<(), McError> {
        self.targets
            .iter()
            .flatten()
            .try_for_each(|target| target.expand(view, at))
    }

    /// A draw covers tile `at`: expands all samples of the targets that it expands.
    pub fn expand_samples(&self, view: &View<'_>, at: At) {
        for target in self.targets.iter().flatten() {
            for sample in 0..target.samples() {
                let place = target.place(at.sample(sample));
                target.surface.expand_tile(view, &place);
            }
        }
    }

    /// Copies depth (single-precision bits) and stencil (integers) to target
    /// `index`, as draws with `DEPTH_COPY_ENABLE` and `STENCIL_COPY_ENABLE` do.
    /// Arguments as for [`Self::write_tile`]. If `depth` or `stencil` is none,
    /// its bits do not change.
    ///
    /// # Errors
    /// As [`Self::write_tile`].
    pub fn write_depth(
        &self,
        view: &View<'_>,
        index: usize,
        at: At,
        depth: Option<&Lanes>,
        stencil: Option<&Lanes>,
        mask: Mask,
    ) -> Result<(), McError> {
        let Some(target) = self.get(index) else {
            return Ok(());
        };
        target.expand(view, at)?;
        let (new, bits) = target.packing.pack_depth(depth, stencil);
        let keep = bits != target.packing.all_bits();
        update(target, view, at, mask, keep, |old| {
            merge(old, &new, bits, mask)
        })
    }

    /// Averages the samples of target 0 in a micro tile and writes the pixels of
    /// `mask` to target 1. Of integers it takes sample 0. It averages sRGB in
    /// linear light.
    ///
    /// # Errors
    /// As [`Self::write_tile`].
    pub fn resolve_tile(&self, view: &View<'_>, at: At, mask: Mask) -> Result<(), McError> {
        let (Some(from), Some(to)) = (self.get(0), self.get(1)) else {
            return Ok(());
        };
        from.expand(view, at)?;
        to.expand(view, at)?;
        let samples = if from.number().is_integer() {
            1
        } else {
            from.samples()
        };
        if let (Some(source), Some(packed)) = (from.packing.bytes_of_word(), &to.packed) {
            if samples > 1 && from.endian == Endian::None && packed.mode == Mode::Copy {
                let shifts = [source, packed.shift];
                return self.resolve_packed(view, from, to, shifts, at, mask);
            }
        }
        let mut planes = [[[0; LANES]; 4]; 8];
        let mut data = [0; 64 * 16];
        for sample in 0..samples {
            read(
                from,
                view,
                at.sample(sample),
                mask,
                &mut data,
                &mut planes[sample as usize & 7],
            )?;
        }
        let average = self.arch.dispatch(Average {
            from: from.packing,
            to: to.packing,
            planes: &planes[..samples.clamp(1, 8) as usize],
        });
        let bits = to.packing.mask(to.write_mask);
        update(to, view, at.sample(0), mask, to.kept != [0; 4], |old| {
            merge(old, &average, bits, mask)
        })
    }
}

impl Targets {
    /// [`Self::resolve_tile`] on the fast path. The components of `from` and `to` begin at bits
    /// `shifts`.
    fn resolve_packed(
        &self,
        view: &View<'_>,
        from: &Target,
        to: &Target,
        shifts: [[u32; 4]; 2],
        at: At,
        mask: Mask,
    ) -> Result<(), McError> {
        if mask == 0 {
            return Ok(());
        }
        const TILE: usize = packed::TILE_BYTES;
        let rows = rows_of(mask);
        let layout = &from.surface.layout;
        let samples = from.samples().clamp(1, 8);
        let mut planes = [[0; TILE]; 8];
        let planes = &mut planes[..samples as usize];
        for (sample, plane) in (0..samples).zip(planes.iter_mut()) {
            let place = from.place(at.sample(sample));
            from.surface.read_tile(view, &place, rows, plane)?;
        }
        let to_layout = &to.surface.layout;
        let place = to.place(at.sample(0));
        let mut data = [0; TILE];
        if mask != ALL || to.kept[0] != 0 {
            to.surface.read_tile(view, &place, rows, &mut data)?;
        }
        self.arch.dispatch(packed::Average {
            planes,
            from: shifts[0],
            to: shifts[1],
            orders: [layout, to_layout].map(|layout| (layout.is_word_order(), layout.lanes())),
            kept: to.kept[0],
            mask,
            data: &mut data,
        });
        to.surface.write_tile(view, &place, rows, &data)
    }
}

/// Reads one sample of a tile into lanes.
fn read(
    target: &Target,
    view: &View<'_>,
    at: At,
    mask: Mask,
    data: &mut [u8; 64 * 16],
    raw: &mut Raw,
) -> Result<(), McError> {
    let bytes = target.packing.bytes();
    let data = &mut data[..bytes * LANES];
    (target.surface).read_tile(view, &target.place(at), rows_of(mask), data)?;
    swap_bytes(target, data);
    load(data, bytes, target.surface.layout.lanes(), raw);
    Ok(())
}

/// Replaces one sample of a tile by `change` of it. Reads it first only if
/// `keep` is set or `mask` lacks pixels; else `change` gets zeroes.
fn update(
    target: &Target,
    view: &View<'_>,
    at: At,
    mask: Mask,
    keep: bool,
    change: impl FnOnce(&Raw) -> Raw,
) -> Result<(), McError> {
    if mask == 0 {
        return Ok(());
    }
    let mut data = [0; 64 * 16];
    let mut old = [[0; LANES]; 4];
    if keep || mask != ALL {
        read(target, view, at, mask, &mut data, &mut old)?;
    }
    let new = change(&old);
    let bytes = target.packing.bytes();
    let data = &mut data[..bytes * LANES];
    store(&new, bytes, target.surface.layout.lanes(), data);
    swap_bytes(target, data);
    (target.surface).write_tile(view, &target.place(at), rows_of(mask), data)
}

fn swap_bytes(target: &Target, data: &mut [u8]) {
    if target.endian != Endian::None {
        for element in data.chunks_exact_mut(target.packing.bytes().max(1)) {
            target.endian.apply(element);
        }
    }
}

/// Takes `new` in the bits of `bits` and the lanes of `mask`, else `old`.
#[inline(always)]
fn merge(old: &Raw, new: &Raw, bits: [u32; 4], mask: Mask) -> Raw {
    let mut out = *old;
    if mask == ALL {
        for (word, out) in out.iter_mut().enumerate() {
            for (out, new) in out.iter_mut().zip(&new[word]) {
                *out = *out & !bits[word] | new & bits[word];
            }
        }
        return out;
    }
    let mut lanes = [0; LANES];
    for (lane, bits) in lanes.iter_mut().enumerate() {
        *bits = 0u32.wrapping_sub((mask >> lane) as u32 & 1);
    }
    for (word, out) in out.iter_mut().enumerate() {
        for (lane, out) in out.iter_mut().enumerate() {
            let bits = bits[word] & lanes[lane];
            *out = *out & !bits | new[word][lane] & bits;
        }
    }
    out
}

/// Merges colours into one tile: blending, logic operation, masks.
struct Merge<'a> {
    target: &'a Target,
    old: &'a Raw,
    src: &'a [&'a Lanes; 4],
    src1: Option<&'a [&'a Lanes; 4]>,
    mask: Mask,
}

impl WithSimd for Merge<'_> {
    type Output = Raw;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _simd: S) -> Raw {
        let target = self.target;
        let floats = |lanes: &[&Lanes; 4]| lanes.map(|c| c.map(f32::from_bits));
        let mut new = [[0; LANES]; 4];
        if let Some(blend) = &target.blend {
            let mut colour = floats(self.src);
            let second = self.src1.map(floats);
            let mut dst = target.packing.unpack(self.old);
            if target.opaque {
                dst[3] = [1.0; LANES];
            }
            blend.apply(&mut colour, second.as_ref(), &dst);
            let colour = colour.map(|c| c.map(f32::to_bits));
            target.packing.pack(&colour, &mut new);
        } else {
            target.packing.pack(&self.src.map(|c| *c), &mut new);
        }
        if let Some(logic) = target.logic {
            for (new, old) in new.iter_mut().zip(self.old) {
                for (new, old) in new.iter_mut().zip(old) {
                    *new = logic.apply(*new, *old);
                }
            }
        }
        // Bits that no component uses become 0: `pack()` sets them so.
        let kept = target.kept;
        merge(self.old, &new, kept.map(|bits| !bits), self.mask)
    }
}

/// Averages a tile's samples.
struct Average<'a> {
    from: Packing,
    to: Packing,
    planes: &'a [Raw],
}

impl WithSimd for Average<'_> {
    type Output = Raw;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _simd: S) -> Raw {
        if self.from.number.is_integer() {
            return self.planes[0];
        }
        let mut sum = [[0.0; LANES]; 4];
        for plane in self.planes {
            let colour = self.from.unpack(plane);
            for (sum, colour) in sum.iter_mut().zip(&colour) {
                for (sum, colour) in sum.iter_mut().zip(colour) {
                    *sum += colour;
                }
            }
        }
        let scale = 1.0 / self.planes.len() as f32;
        let colour = sum.map(|c| c.map(|v| (v * scale).to_bits()));
        let mut out = [[0; LANES]; 4];
        self.to.pack(&colour, &mut out);
        out
    }
}

/// The registers of a target's memory, whatever their places.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ColourBuffer {
    /// MC address.
    pub base: u64,
    /// `CB_COLORn_INFO` in R7xx's form.
    pub info: u32,
    /// `CB_COLORn_VIEW`.
    pub view: u32,
    /// Pixels in a row.
    pub pitch: u32,
    /// Pixels of a slice.
    pub slice: u32,
    /// Pixels are in the order of depth buffers.
    pub depth_order: bool,
    /// Tiling geometry.
    pub config: TilingConfig,
    /// Fast clear, if the buffer has been cleared so.
    pub cleared: Option<FastClear>,
    /// Its samples are compressed, with an FMASK.
    pub compressed: bool,
    /// Blending takes 1 for its alpha (Cayman).
    pub opaque: bool,
}

impl ColourBuffer {
    /// The registers of target `index` of R7xx.
    pub fn decode(shadow: &Shadow, regs: &dyn RegFile, index: usize) -> Self {
        Self::of(&Registers { shadow, regs }, regs, index)
    }

    fn of(registers: &dyn RegFile, regs: &dyn RegFile, index: usize) -> Self {
        let reg = |first: u32| registers.load(first + 4 * index as u32);
        let size = reg(CB_COLOR0_SIZE);
        Self {
            base: u64::from(reg(CB_COLOR0_BASE)) << 8,
            info: reg(CB_COLOR0_INFO),
            view: reg(CB_COLOR0_VIEW),
            pitch: ((size & 0x3FF) + 1) * 8,
            slice: ((size >> 10 & 0xF_FFFF) + 1) * 64,
            depth_order: false,
            config: TilingConfig::from_register(regs.load(GB_TILING_CONFIG)),
            cleared: None,
            // TILE_MODE is FRAG_ENABLE.
            compressed: reg(CB_COLOR0_INFO) >> 18 & 3 == 2,
            opaque: false,
        }
    }
}

/// Decodes target `index`; none if its format cannot be written.
fn decode_target(
    regs: &dyn RegFile,
    buffer: &ColourBuffer,
    index: usize,
    write_mask: u8,
    samples: u32,
    control: u32,
) -> Option<Target> {
    let reg = |first: u32| regs.load(first + 4 * index as u32);
    let info = buffer.info;
    let format = DataFormat::from_field(info >> 2);
    if !matches!(format.layout().kind, Kind::Fixed | Kind::Float) {
        return None;
    }
    let number = NumberType::from_field(info >> 12);
    let packing = Packing::new(format, number, info >> 16);
    let mut layout = Layout::new(
        ArrayMode::from_field(info >> 8 & 0xF),
        format.bytes(),
        buffer.pitch,
        buffer.slice,
        buffer.config,
    );
    layout.samples = samples;
    layout.depth_order = buffer.depth_order;
    if layout.is_tiled() && !format.bytes().is_power_of_two() {
        return None;
    }
    let view = buffer.view;
    let bit = |n: u32| info & (1 << n) != 0;
    let (clamp, bypass) = (bit(20), bit(22));
    let per_target = control & (1 << 7) != 0;
    let blend_control = if per_target {
        reg(CB_BLEND0_CONTROL)
    } else {
        regs.load(CB_BLEND_CONTROL)
    };
    let enabled = control & (1 << (8 + index)) != 0 && !bypass && !number.is_integer();
    let blend = if enabled {
        let constant = [0, 4, 8, 12].map(|at| f32::from_bits(regs.load(CB_BLEND_RED + at)));
        Blend::decode(blend_control, constant, clamp.then(|| packing.range()))
    } else {
        None
    };
    // Logic operations are defined for fixed point (OpenGL 3.3, 4.1.9).
    let float = format.layout().kind == Kind::Float || number == NumberType::Srgb;
    let logic = if float || blend.is_some() {
        None
    } else {
        LogicOp::from_field(control >> 16)
    };
    let endian = Endian::from_field(info);
    let (all, written) = (packing.all_bits(), packing.mask(write_mask));
    let kept: [u32; 4] = std::array::from_fn(|i| all[i] & !written[i]);
    let packed = packing.bytes_of_word().and_then(|shift| {
        let plain =
            logic.is_none() && endian == Endian::None && !(buffer.opaque && blend.is_some());
        Some(Packed {
            shift,
            mode: Mode::of(blend.as_ref()).filter(|_| plain)?,
            word_order: layout.is_word_order(),
        })
    });
    let special = SpecialOp::from_field(control >> 4);
    let compression = match (buffer.compressed, special) {
        (false, _) => Compression::None,
        (true, SpecialOp::Expand) => Compression::Expands,
        (true, _) => Compression::Keeps,
    };
    Some(Target {
        surface: Surface::new(buffer.base, layout, Cache::Color).with_compression(compression),
        cleared: buffer.cleared,
        opaque: buffer.opaque,
        slices: (view & 0x7FF, view >> 13 & 0x7FF),
        packing,
        endian,
        write_mask,
        kept,
        reads: blend.is_some_and(|b| b.reads_destination()) || logic.is_some() || kept != [0; 4],
        packed,
        blend,
        logic,
    })
}

#[cfg(test)]
mod tests;
