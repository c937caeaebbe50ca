// SPDX-License-Identifier: MIT
//! Whether surfaces are within their BOs, and aligned.
//!
//! Source: `r600_cs_track_validate_cb()`, `r600_cs_track_validate_db()`,
//! `r600_check_texture_resource()` and `r600_get_array_mode_alignment()` in `r600_cs.c` of Linux
//! 6.12. Sums wrap where the kernel's do, so that both give the same answer.

use crate::checker::Reloc;

/// Why a surface is refused.
pub type Refused = &'static str;

/// The tiling geometry of a chip.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tiling {
    /// Tile pipes.
    pub pipes: u32,
    /// Memory banks.
    pub banks: u32,
    /// Bytes of a group.
    pub group: u32,
    /// Faces that a cube has in memory: eight from R7xx on.
    pub cube_faces: u32,
}

/// Bits `first` to `first + count - 1` of `value`.
pub(crate) const fn field(value: u32, first: u32, count: u32) -> u32 {
    value >> first & ((1 << count) - 1)
}

pub(crate) const LINEAR_GENERAL: u32 = 0;
pub(crate) const LINEAR_ALIGNED: u32 = 1;
pub(crate) const TILED_1D: u32 = 2;
pub(crate) const TILED_2D: u32 = 4;

/// Width and height of a format's blocks in texels, and their bytes. None for formats that an
/// R7xx does not have.
pub(crate) fn block(format: u32) -> Option<(u32, u32, u32)> {
    Some(match format {
        // COLOR_8, 4_4, 3_3_2, FMT_1
        1..=3 | 0x25 => (1, 1, 1),
        // 16 bits
        5..=0xC => (1, 1, 2),
        // 32 bits; FMT_32_AS_8, 32_AS_8_8, 5_9_9_9; 8_8_8, whose elements are as large
        0xD..=0x1B | 0x29..=0x2C => (1, 1, 4),
        // 64 bits; 16_16_16
        0x1C..=0x20 | 0x2D | 0x2E => (1, 1, 8),
        0x22 | 0x23 => (1, 1, 16),
        0x27 | 0x28 => (2, 1, 4),
        0x2F | 0x30 => (1, 1, 12),
        // BC1 to BC5
        0x31 | 0x34 => (4, 4, 8),
        0x32 | 0x33 | 0x35 => (4, 4, 16),
        _ => return None,
    })
}

/// Whether a format is one of render targets.
pub(crate) fn is_colour(format: u32) -> bool {
    matches!(format, 1..=3 | 5..=0x20 | 0x22 | 0x23)
}

/// Alignment of a surface: pitch and height in elements, address in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Alignment {
    pub(crate) pitch: u32,
    pub(crate) height: u32,
    pub(crate) base: u64,
}

impl Tiling {
    /// The alignment of a surface of `samples` samples of `bytes` bytes. None for array modes that
    /// the kernel does not know.
    pub(crate) fn alignment(&self, mode: u32, bytes: u32, samples: u32) -> Option<Alignment> {
        let &Self {
            pipes,
            banks,
            group,
            ..
        } = self;
        let align = |pitch: u32, height: u32, base: u64| Alignment {
            pitch,
            height,
            base,
        };
        Some(match mode {
            LINEAR_GENERAL => align(1, 1, 1),
            LINEAR_ALIGNED => align((group / bytes).max(64), 1, group.into()),
            TILED_1D => align((group / (8 * bytes * samples)).max(8), 8, group.into()),
            TILED_2D => {
                let pitch = (8 * banks).max(group * banks / (bytes * samples * 8));
                let height = 8 * pipes;
                let macro_tile = banks * pipes * 64 * bytes * samples;
                let rows = pitch * bytes * height * samples;
                align(pitch, height, macro_tile.max(rows).into())
            }
            _ => return None,
        })
    }

    /// Bytes of HTILE for a depth buffer of `pitch` x `height` pixels, with that `DB_HTILE_SURFACE`.
    pub(crate) fn htile_bytes(&self, htile_surface: u32, pitch: u32, height: u32) -> u32 {
        // Pixels to which HTILE's width and height are aligned, by pipes.
        let (width, rows) = match (field(htile_surface, 2, 1), self.pipes) {
            (1, pipes) => (16 * 8, pipes * 8),
            (_, 8) => (64 * 8, 64 * 8),
            (_, 4) => (64 * 8, 32 * 8),
            (_, 2) => (32 * 8, 32 * 8),
            _ => (32 * 8, 16 * 8),
        };
        let tiles = (round_up(pitch, width) / 8).wrapping_mul(round_up(height, rows) / 8);
        let unit = self.pipes * 2048;
        tiles.wrapping_mul(4).wrapping_add(unit - 1) / unit * unit
    }
}

/// `value`, rounded up to a multiple of `multiple`, a power of two. Wraps to 0.
pub(crate) const fn round_up(value: u32, multiple: u32) -> u32 {
    (value.wrapping_sub(1) | (multiple - 1)).wrapping_add(1)
}

/// A BO at the place that a stream gives it: the BO, and the offset in it in bytes.
pub(crate) type Placed = Option<(Reloc, u64)>;

/// Registers of a render target (`CB_COLORn_*`).
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Colour {
    pub(crate) base: Placed,
    pub(crate) fmask: Placed,
    pub(crate) cmask: Placed,
    pub(crate) size: u32,
    /// Index of the dword that sets `size`.
    pub(crate) size_at: Option<usize>,
    pub(crate) view: u32,
    pub(crate) info: u32,
    pub(crate) mask: u32,
}

/// Whether `bytes` bytes from the place on are in the BO.
fn fits(placed: Placed, bytes: u32) -> bool {
    placed.is_some_and(|(bo, offset)| u64::from(bytes) + offset <= bo.size)
}

/// Pitch and height in elements of a register that has both in tiles.
fn extent(size: u32) -> (u32, u32) {
    let pitch = (field(size, 0, 10) + 1) * 8;
    let height = (field(size, 10, 20) + 1) * 64 / pitch;
    (pitch, height.min(8192))
}

impl Colour {
    /// Checks the target; `log_samples` is log2 of `PA_SC_AA_CONFIG`'s samples, `resolved` says
    /// that this target has one nevertheless. Returns the value of `CB_COLORn_SIZE` that the kernel
    /// writes into the stream.
    ///
    /// # Errors
    /// Why the kernel refuses it.
    pub(crate) fn check(
        &self,
        tiling: &Tiling,
        log_samples: u32,
        resolved: bool,
    ) -> Result<u32, Refused> {
        let samples = if resolved { 1 } else { 1 << log_samples };
        let (format, mode) = (field(self.info, 2, 6), field(self.info, 8, 4));
        let (_, _, bytes) = block(format)
            .filter(|_| is_colour(format))
            .ok_or("a render target has an invalid format")?;
        let (pitch, mut height) = extent(self.size);
        let align = (tiling.alignment(mode, bytes, samples))
            .ok_or("a render target has an invalid array mode")?;
        if mode == TILED_1D && height > 7 {
            height &= !7;
        }
        let (bo, offset) = self.base.ok_or("a render target has no BO")?;
        if pitch % align.pitch != 0 {
            return Err("the pitch of a render target is not aligned");
        }
        if height % align.height != 0 {
            return Err("the height of a render target is not aligned");
        }
        if bo.address.wrapping_add(offset) % align.base != 0 {
            return Err("the address of a render target is not aligned");
        }
        let slice = height.wrapping_mul(pitch).wrapping_mul(bytes * samples);
        let end = match mode {
            LINEAR_GENERAL | LINEAR_ALIGNED => slice.wrapping_add(self.view & 0xFF),
            _ => slice.wrapping_mul(field(self.view, 13, 11) + 1),
        };
        if u64::from(end) + offset > bo.size && mode != LINEAR_GENERAL {
            return Err("a render target is larger than its BO");
        }
        self.check_masks(log_samples)?;
        let tiles = (height.wrapping_mul(pitch) >> 6).min((field(self.size, 10, 20) + 1) * 64);
        Ok((pitch / 8 - 1) & 0x3FF | (tiles.wrapping_sub(1) & 0xF_FFFF) << 10)
    }

    /// Checks CMASK and FMASK, if `TILE_MODE` uses them.
    fn check_masks(&self, log_samples: u32) -> Result<(), Refused> {
        let tile_mode = field(self.info, 18, 2);
        match tile_mode {
            0 => return Ok(()),
            1 | 2 => {}
            _ => return Err("a render target has an invalid tile mode"),
        }
        if tile_mode == 2 && log_samples > 0 {
            let tiles = field(self.mask, 12, 20) + 1;
            let bytes = (log_samples << log_samples).wrapping_mul(8 * tiles);
            // The kernel does not look whether there is a BO, and would crash.
            if !fits(self.fmask, bytes) {
                return Err("an FMASK is larger than its BO");
            }
        }
        // A block has 4 bits for each tile of 128x128 pixels.
        if !fits(self.cmask, (field(self.mask, 0, 12) + 1) * 128) {
            return Err("a CMASK is larger than its BO");
        }
        Ok(())
    }
}

/// Registers of the depth buffer.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Depth {
    pub(crate) base: Placed,
    pub(crate) htile: Placed,
    pub(crate) control: u32,
    pub(crate) info: u32,
    pub(crate) view: u32,
    pub(crate) size: u32,
    pub(crate) size_at: Option<usize>,
    pub(crate) htile_surface: u32,
}

impl Default for Depth {
    /// The kernel's assumptions: all is on, and large.
    fn default() -> Self {
        Self {
            base: None,
            htile: None,
            control: !0,
            info: 7 | 1 << 25,
            view: 0xFFFF_C000,
            size: !0,
            size_at: None,
            htile_surface: 0,
        }
    }
}

impl Depth {
    /// Whether draws test depth or stencil.
    pub(crate) fn is_used(&self) -> bool {
        field(self.info, 0, 3) != 0 && self.control & 3 != 0
    }

    /// Checks the buffer, which has `samples` samples. Returns the value of `DB_DEPTH_SIZE` that
    /// the kernel writes into the stream, if it does.
    ///
    /// # Errors
    /// Why the kernel refuses it.
    pub(crate) fn check(&self, tiling: &Tiling, samples: u32) -> Result<Option<u32>, Refused> {
        let (bo, offset) = self.base.ok_or("depth is tested without a depth buffer")?;
        let bytes = match field(self.info, 0, 3) {
            1 => 2,
            7 => 8,
            0 => return Err("the depth buffer has an invalid format"),
            _ => 4,
        };
        let whole = self.size & !0x3FF == !0x3FF;
        let has_htile = field(self.info, 25, 1) != 0;
        if whole {
            // The kernel makes it as large as the BO.
            if self.size_at.is_none() {
                return Err("the size of the depth buffer is not set");
            }
            let tiles = (bo.size as u32).wrapping_sub(offset as u32) / bytes >> 6;
            if tiles == 0 {
                return Err("the depth buffer is larger than its BO");
            }
            if has_htile {
                return Err("HTILE is on, but the size of the depth buffer is not known");
            }
            let slice = (tiles - 1 & 0xF_FFFF) << 10;
            return Ok(Some(slice | self.size & 0x3FF));
        }
        let (pitch, mut height) = extent(self.size);
        let mode = field(self.info, 15, 4);
        let align = (tiling.alignment(mode, bytes, samples))
            .filter(|_| matches!(mode, TILED_1D | TILED_2D))
            .ok_or("the depth buffer has an invalid array mode")?;
        if mode == TILED_1D {
            height &= !7;
        }
        if pitch % align.pitch != 0 {
            return Err("the pitch of the depth buffer is not aligned");
        }
        if height % align.height != 0 {
            return Err("the height of the depth buffer is not aligned");
        }
        if bo.address.wrapping_add(offset) % align.base != 0 {
            return Err("the address of the depth buffer is not aligned");
        }
        let tiles = field(self.size, 10, 20) + 1;
        let views = field(self.view, 13, 11) + 1;
        let all = (tiles * bytes * 64)
            .wrapping_mul(views)
            .wrapping_mul(samples);
        if u64::from(all.wrapping_add(offset as u32)) > bo.size {
            return Err("the depth buffer is larger than its BO");
        }
        if has_htile {
            self.check_htile(tiling, pitch, height)?;
        }
        Ok(None)
    }

    fn check_htile(&self, tiling: &Tiling, pitch: u32, height: u32) -> Result<(), Refused> {
        let bytes = tiling.htile_bytes(self.htile_surface, pitch, height);
        match fits(self.htile, bytes) {
            true => Ok(()),
            false => Err("HTILE is larger than its BO"),
        }
    }
}

/// Checks a texture's resource, whose addresses in words 2 and 3 are offsets in the BOs.
///
/// # Errors
/// Why the kernel refuses it.
pub(crate) fn check_texture(
    tiling: &Tiling,
    words: &[u32; 7],
    texture: Reloc,
    mipmap: Reloc,
) -> Result<(), Refused> {
    let mode = field(words[0], 3, 4);
    let pitch = (field(words[0], 8, 11) + 1) * 8;
    let (width, height) = (field(words[0], 19, 13) + 1, field(words[1], 0, 13) + 1);
    let (base_level, mut last_level) = (field(words[4], 28, 4), field(words[5], 0, 4));
    let (mut samples, mut layers) = (1, 1);
    match field(words[0], 0, 3) {
        // 1D, 2D, 3D
        0..=2 => {}
        3 => layers = tiling.cube_faces,
        // Arrays; 2D_MSAA, 2D_ARRAY_MSAA
        dim => {
            if dim != 6 {
                layers = field(words[5], 17, 13).wrapping_sub(field(words[5], 4, 13));
                layers = layers.wrapping_add(1);
            }
            if dim >= 6 {
                samples = 1u32 << last_level;
                last_level = 0;
            }
        }
    }
    let (block_width, block_height, bytes) =
        block(field(words[1], 26, 6)).ok_or("a texture has an invalid format")?;
    let align =
        (tiling.alignment(mode, bytes, samples)).ok_or("a texture has an invalid array mode")?;
    if pitch % align.pitch != 0 {
        return Err("the pitch of a texture is not aligned");
    }
    for (bo, word) in [(texture, words[2]), (mipmap, words[3])] {
        let address = u64::from(((bo.address >> 8) as u32).wrapping_add(word)) << 8;
        if address % align.base != 0 {
            return Err("the address of a texture is not aligned");
        }
    }
    // The kernel computes the mipmaps' size, too, and accepts any.
    let blocks = width
        .div_ceil(block_width)
        .next_multiple_of(align.pitch)
        .wrapping_mul(height.div_ceil(block_height).next_multiple_of(align.height));
    // With layers counted as 0 the depth is a factor instead.
    let depth = match layers {
        0 => field(words[1], 13, 13).max(1),
        layers => layers,
    };
    let first = match last_level.wrapping_sub(base_level).wrapping_add(1) {
        // No level: the kernel's size of the first one stays what it was.
        0 => !0,
        _ => blocks.wrapping_mul(bytes * samples).wrapping_mul(depth),
    };
    if u64::from(first.wrapping_add(words[2] << 8)) > texture.size {
        return Err("a texture is larger than its BO");
    }
    Ok(())
}
