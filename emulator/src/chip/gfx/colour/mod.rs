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
mod general;
pub mod pack;
mod packed;
mod resolve;
mod target;

use pulp::Arch;

pub use self::cleared::FastClear;
use self::general::{merge, update, Merge};
use self::pack::Raw;
pub use self::packed::Moves;
use self::packed::{Mode, Packed};
pub use self::target::{ColourBuffer, Target};
use super::lanes::{Lanes, Mask, ALL};
use super::memory::View;
use super::pixel::SQUARE_TILES;
use super::surface::{rows_of, At, Surface};
use crate::chip::bus::{McError, RegFile};
use crate::chip::regs::gfx::{CB_COLOR_CONTROL, CB_SHADER_MASK, CB_TARGET_MASK, PA_SC_AA_CONFIG};

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
    /// Target 0 gets half floats, and so does the alpha test. Blending and the target's format are
    /// not modelled so: they get the shader's floats.
    pub half: bool,
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
            half: false,
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
                *target = target::decode(regs, &buffer(i), i, write_mask, samples, control);
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
            half: buffer(0).half,
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

    /// Fills the square whose first micro tile is `at` of target `index` with the bytes of
    /// [`Self::uniform_tile`], all samples. False if that is not possible or failed; a part may then have
    /// been written.
    pub fn fill_square(
        &self,
        view: &View<'_>,
        index: usize,
        at: At,
        data: &[u8; UNIFORM_BYTES],
    ) -> bool {
        let Some(target) = self.get(index) else {
            return false;
        };
        let slice = target.slice(at.layer);
        target.overwrite_square(view, at)
            && (target.surface).fill_tiles(view, (at.x, at.y), SQUARE_TILES, slice, data)
    }

    /// The memory of target `index` and the slice of `at`.
    pub fn surface(&self, index: usize, at: At) -> Option<(&Surface, u32)> {
        let target = self.get(index)?;
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

    /// Tells who remembers compressed tiles, if somebody does, which targets can be fast-cleared.
    pub fn tell_masks(&self, view: &View<'_>) {
        let Some(compressed) = view.compressed else {
            return;
        };
        for target in self.targets.iter().flatten() {
            if let Some(cleared) = &target.cleared {
                compressed.bound(view, &target.surface, cleared, target.slices);
            }
        }
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
}

#[cfg(test)]
mod tests;
