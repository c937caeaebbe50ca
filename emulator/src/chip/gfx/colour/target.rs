// SPDX-License-Identifier: MIT
//! Render targets as registers describe them.

use super::blend::{Blend, Colour, LogicOp};
use super::cleared::FastClear;
use super::pack::Packing;
use super::packed::{Mode, Packed};
use super::{general, SpecialOp};
use crate::chip::bus::{Mc, McError, RegFile};
use crate::chip::gfx::compressed::Compression;
use crate::chip::gfx::format::{DataFormat, Endian, Kind, NumberType};
use crate::chip::gfx::lanes::{Mask, LANES};
use crate::chip::gfx::memory::View;
use crate::chip::gfx::state::{Registers, Shadow};
use crate::chip::gfx::surface::{At, Place, Surface};
use crate::chip::regs::gb::GB_TILING_CONFIG;
use crate::chip::regs::gfx::{
    CB_BLEND0_CONTROL, CB_BLEND_CONTROL, CB_BLEND_RED, CB_COLOR0_BASE, CB_COLOR0_INFO,
    CB_COLOR0_SIZE, CB_COLOR0_VIEW,
};
use crate::chip::strict::cache::Cache;
use crate::chip::tiling::{ArrayMode, Layout, TilingConfig};

/// A decoded render target.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Target {
    /// Its memory.
    pub surface: Surface,
    /// First and last slice of the view.
    pub slices: (u32, u32),
    pub(super) packing: Packing,
    pub(super) endian: Endian,
    /// Components that are written, bit 0 is red.
    pub write_mask: u8,
    pub(super) blend: Option<Blend>,
    pub(super) logic: Option<LogicOp>,
    /// Bits of an element that the write mask protects. Bits that belong to no
    /// component are not protected: they become 0.
    pub(super) kept: [u32; 4],
    /// The new element depends on the old one.
    pub(super) reads: bool,
    /// State of the fast path, if the target takes it.
    pub(super) packed: Option<Packed>,
    /// See [`ColourBuffer::cleared`].
    pub cleared: Option<FastClear>,
    /// See [`ColourBuffer::opaque`].
    pub(super) opaque: bool,
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
    pub(super) fn place(&self, at: At) -> Place {
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
        general::read(self, &View::new(mc), at, Mask::MAX, &mut data, &mut raw)?;
        Ok(self.packing.unpack(&raw))
    }

    pub(super) fn slice(&self, layer: u32) -> u32 {
        let (first, last) = self.slices;
        first.saturating_add(layer).min(last.max(first))
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
    /// The shader's colours reach it as half floats (Evergreen), see [`Targets::half`].
    ///
    /// [`Targets::half`]: super::Targets::half
    pub half: bool,
}

impl ColourBuffer {
    /// The registers of target `index` of R7xx.
    pub fn decode(shadow: &Shadow, regs: &dyn RegFile, index: usize) -> Self {
        Self::of(&Registers { shadow, regs }, regs, index)
    }

    pub(super) fn of(registers: &dyn RegFile, regs: &dyn RegFile, index: usize) -> Self {
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
            half: false,
        }
    }
}

/// Decodes target `index`; none if its format cannot be written.
pub(super) fn decode(
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
