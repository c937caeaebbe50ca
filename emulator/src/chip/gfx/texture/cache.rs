// SPDX-License-Identifier: MIT
//! A cache of decoded texels, in blocks of 8x8; each worker has one.
//!
//! Its owner invalidates it before each draw.

use std::sync::Arc;

use super::address::{Axis, Index};
use super::log::TexelRead;
use super::patch::{PATCH, SLOTS};
use super::resource::{Level, Texture};
use super::{block, bptc};
use crate::chip::bus::McError;
use crate::chip::gfx::format::{subsampled, DataFormat, Kind, Sign};
use crate::chip::gfx::lanes::LANES;
use crate::chip::gfx::memory::View;
use crate::chip::gfx::surface::MAX_TILE_BYTES;
use crate::chip::tiling::WORD_GROUPS;

/// Columns and rows of the square of blocks that the cache holds of each kind.
const SIDE: u32 = 32;
/// Blocks of each kind.
pub const SETS: usize = (SIDE * SIDE) as usize;
/// Texels of each kind.
pub const TEXELS: usize = SETS * 64;
/// Bytes of a block of texels of four bytes.
pub const BLOCK_BYTES: usize = 256;
/// Most textures whose decoded descriptors the cache holds.
const TEXTURES: usize = 32;

/// A block's place in a texture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BlockId {
    /// Mip level.
    pub level: u32,
    /// Slice in memory.
    pub slice: u32,
    /// Sample.
    pub sample: u32,
    /// Column in blocks.
    pub x: u32,
    /// Row in blocks.
    pub y: u32,
}

/// The cache: texels of two kinds, packed and wide, and decoded textures.
#[derive(Debug)]
pub struct Cache {
    /// Four bytes a texel ([`Texture::packed`]).
    pub packed: Box<[u32; TEXELS]>,
    /// Four values a texel.
    pub wide: Box<[[u32; 4]; TEXELS]>,
    /// Copies of blocks for the fast path, see `plain`.
    pub patch: Box<[u32; PATCH]>,
    /// Tags of the blocks in the patch; 0 if there is none.
    pub slots: [u64; SLOTS],
    /// Number of blocks copied to the patch so far.
    pub laid_out: u64,
    /// Number of fetches whose texels were all inside, see `plain`.
    pub inside: u64,
    /// The bytes of four neighbouring blocks, see [`Self::read_blocks`].
    pub blocks: Box<[[u8; BLOCK_BYTES]; 4]>,
    /// Number of times that they were read.
    pub halved: u64,
    /// Positions of the texels of the current fetch.
    pub axes: Box<[Axis; 2]>,
    /// The same if no wrap mode has an effect: fixed point with 8 fraction bits.
    pub fixed: Box<[Index; 2]>,
    tags: [Box<[u64; SETS]>; 2],
    /// Sets of each kind that are in use.
    used: [Vec<u16>; 2],
    /// Buffer for the bytes of a micro tile.
    tile: Box<[u8; MAX_TILE_BYTES]>,
    /// Decoded textures, and their numbers for [`Self::block`].
    pub textures: Vec<(Arc<Texture>, u64)>,
    next_texture: usize,
    next_id: u64,
    /// The first access that no memory answered since the owner took the last one.
    pub fault: Option<McError>,
    /// An array mode that the model does not know, since the owner took the last one.
    pub unknown_mode: Option<u32>,
    /// Number of blocks read from memory.
    pub misses: u64,
    /// Receives the texels that the general path reads, one by one, see `log`.
    pub log: Option<Vec<TexelRead>>,
}

fn boxed<T: Copy + std::fmt::Debug, const N: usize>(value: T) -> Box<[T; N]> {
    match vec![value; N].into_boxed_slice().try_into() {
        Ok(array) => array,
        // The vector has N elements.
        Err(_) => unreachable!(),
    }
}

impl Default for Cache {
    fn default() -> Self {
        Self {
            packed: boxed(0),
            wide: boxed([0; 4]),
            patch: boxed(0),
            slots: [0; SLOTS],
            laid_out: 0,
            inside: 0,
            blocks: Box::new([[0; BLOCK_BYTES]; 4]),
            halved: 0,
            fixed: Box::new([[0; LANES]; 2]),
            axes: Box::new([Axis::flat(), Axis::flat()]),
            tags: [boxed(0), boxed(0)],
            used: [Vec::new(), Vec::new()],
            tile: boxed(0),
            textures: Vec::new(),
            next_texture: 0,
            next_id: 1,
            fault: None,
            unknown_mode: None,
            misses: 0,
            log: None,
        }
    }
}

impl Cache {
    /// Drops all texels.
    pub fn invalidate(&mut self) {
        self.slots = [0; SLOTS];
        for (tags, used) in self.tags.iter_mut().zip(&mut self.used) {
            for set in used.drain(..) {
                tags[usize::from(set)] = 0;
            }
        }
    }

    /// The index in [`Self::textures`] of the texture for which `is` holds. If there is none, the
    /// result of `decode` is added.
    pub fn texture(
        &mut self,
        is: impl Fn(&Texture) -> bool,
        decode: impl FnOnce() -> Option<Texture>,
    ) -> Option<usize> {
        if let Some(found) = self.textures.iter().position(|(texture, _)| is(texture)) {
            return Some(found);
        }
        let texture = Arc::new(decode()?);
        // Ids have 22 bits in a tag.
        if self.next_id >= 1 << 22 {
            self.next_id = 1;
            self.textures.clear();
            self.invalidate();
        }
        let entry = (texture, self.next_id);
        self.next_id += 1;
        if self.textures.len() < TEXTURES {
            self.textures.push(entry);
            return Some(self.textures.len() - 1);
        }
        let index = self.next_texture % TEXTURES;
        self.textures[index] = entry;
        self.next_texture = (index + 1) % TEXTURES;
        Some(index)
    }

    /// The set that holds `block` of texture `id`, which is read if the cache
    /// does not have it. Its texels begin at index 64 * set of [`Self::packed`]
    /// or [`Self::wide`], row by row. The blocks of any square of 32x32 blocks
    /// of a level have different sets.
    pub fn block(&mut self, view: &View<'_>, texture: &Texture, id: u64, block: BlockId) -> usize {
        let BlockId {
            level,
            slice,
            sample,
            x,
            y,
        } = block;
        let (x, y) = (x & 0x7FF, y & 0x7FF);
        let where_in = u64::from(slice & 0x1FFF)
            | u64::from(sample & 7) << 13
            | u64::from(level & 0xF) << 16
            | id << 20;
        let tag = u64::from(x) | u64::from(y) << 11 | where_in << 22;
        let salt = (where_in.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 54) as usize;
        let place = x % SIDE + y % SIDE * SIDE;
        let set = (place as usize ^ salt) & (SETS - 1);
        let kind = usize::from(texture.packed);
        if self.tags[kind][set] != tag {
            self.misses += 1;
            if self.tags[kind][set] == 0 {
                self.used[kind].push(set as u16);
            }
            self.tags[kind][set] = tag;
            self.fill(view, texture, set, &BlockId { x, y, ..block });
        }
        set
    }

    /// Reads the bytes of the blocks from (`x`, `y`) to (`x` + 1, `y` + 1), which do not become part of
    /// the cache. False if they are not in the order of displayable surfaces of 32 bits, if somebody
    /// watches accesses, or if memory does not answer: [`Self::block`] then shows a strict board's
    /// caches each access, and reports the fault.
    pub fn read_blocks(
        &mut self,
        view: &View<'_>,
        texture: &Texture,
        level: u32,
        (x, y): (u32, u32),
    ) -> bool {
        let Some(Level { surface, .. }) = texture.level(level) else {
            return false;
        };
        if !view.is_direct() || !surface.layout.is_word_order() || element_stride(texture) != 4 {
            return false;
        }
        for (block, (x, y)) in
            (self.blocks.iter_mut()).zip([(x, y), (x + 1, y), (x, y + 1), (x + 1, y + 1)])
        {
            let place = surface.place((x, y), texture.layers.0, 0, BLOCK_BYTES);
            if surface.read_tile(view, &place, 0xFF, block).is_err() {
                return false;
            }
        }
        self.halved += 1;
        self.misses += 4;
        true
    }

    fn fill(&mut self, view: &View<'_>, texture: &Texture, set: usize, id: &BlockId) {
        let texels = set * 64..set * 64 + 64;
        let data = &mut self.tile;
        let filled = if texture.packed {
            let out = &mut self.packed[texels.clone()];
            fill_packed(view, texture, id, data, out)
        } else {
            let out = &mut self.wide[texels.clone()];
            match texture.format.data.layout().kind {
                Kind::Block => fill_compressed(view, texture, id, out),
                Kind::Subsampled => fill_subsampled(view, texture, id, data, out),
                _ => fill_wide(view, texture, id, data, out),
            }
        };
        if let Err(error) = filled {
            self.fault.get_or_insert(error);
            if texture.packed {
                self.packed[texels].fill(0);
            } else {
                self.wide[texels].fill([0; 4]);
            }
        }
    }
}

/// Reads the elements of a micro tile. Returns the offset in `data` of the
/// first element of the sample. If the level is linear, rows below its last one
/// are zero.
fn read_tile(
    view: &View<'_>,
    texture: &Texture,
    id: &BlockId,
    tile: (u32, u32),
    data: &mut [u8; MAX_TILE_BYTES],
) -> Result<u32, McError> {
    let Some(level) = texture.level(id.level) else {
        return Ok(0);
    };
    let layout = &level.surface.layout;
    let rows = level.height.div_ceil(texture.format.data.texels().1);
    let left = rows.saturating_sub(tile.1 * 8).min(8);
    let mask = ((1u32 << left) - 1) as u8;
    // Where the samples of an element are adjacent, read all.
    let (first, len, skip) = if layout.samples_are_adjacent() {
        (0, layout.tile_bytes(), layout.sample_place(0, id.sample))
    } else {
        let first = layout.sample_place(0, id.sample);
        (first, 64 * layout.bytes_per_element, 0)
    };
    let out = &mut data[..(len as usize).min(MAX_TILE_BYTES)];
    if mask != 0xFF && !layout.is_tiled() {
        out.fill(0);
    }
    let place = level.surface.place(tile, id.slice, first, out.len());
    level.surface.read_tile(view, &place, mask, out)?;
    // Tiles are drawn from left to right.
    level.surface.prefetch_right(view, &place);
    Ok(skip)
}

fn fill_packed(
    view: &View<'_>,
    texture: &Texture,
    id: &BlockId,
    data: &mut [u8; MAX_TILE_BYTES],
    out: &mut [u32],
) -> Result<(), McError> {
    let skip = read_tile(view, texture, id, (id.x, id.y), data)?;
    let Some(level) = texture.level(id.level) else {
        return Ok(());
    };
    let layout = &level.surface.layout;
    let bytes = layout.bytes_per_element as usize;
    let stride = element_stride(texture);
    if layout.is_word_order() && stride == 4 && skip == 0 {
        for (i, out) in out.chunks_exact_mut(4).enumerate() {
            let at = 16 * WORD_GROUPS[i & 15];
            for (out, b) in out.iter_mut().zip(data[at..at + 16].chunks_exact(4)) {
                *out = u32::from_le_bytes([b[0], b[1], b[2], b[3]]);
            }
        }
        return Ok(());
    }
    if layout.has_whole_rows() && stride == bytes {
        let first = |row: usize| skip as usize + usize::from(layout.rows()[8 * row]) * bytes;
        for (row, out) in out.chunks_exact_mut(8).take(8).enumerate() {
            let elements = &data[first(row)..][..8 * bytes];
            match bytes {
                4 => {
                    for (out, b) in out.iter_mut().zip(elements.chunks_exact(4)) {
                        *out = u32::from_le_bytes([b[0], b[1], b[2], b[3]]);
                    }
                }
                2 => {
                    for (out, b) in out.iter_mut().zip(elements.chunks_exact(2)) {
                        *out = u32::from(u16::from_le_bytes([b[0], b[1]]));
                    }
                }
                _ => {
                    for (out, b) in out.iter_mut().zip(elements) {
                        *out = u32::from(*b);
                    }
                }
            }
        }
        return Ok(());
    }
    for (out, &element) in out.iter_mut().zip(layout.rows()) {
        let at = skip as usize + usize::from(element) * stride;
        let b = &data[at..at + bytes];
        *out = match bytes {
            4 => u32::from_le_bytes([b[0], b[1], b[2], b[3]]),
            2 => u32::from(u16::from_le_bytes([b[0], b[1]])),
            _ => u32::from(b[0]),
        };
    }
    Ok(())
}

/// Bytes from one element to the next of the same sample in a micro tile.
fn element_stride(texture: &Texture) -> usize {
    let Some(level) = texture.level(0) else {
        return 0;
    };
    let layout = &level.surface.layout;
    let bytes = layout.bytes_per_element as usize;
    if layout.samples_are_adjacent() && layout.is_tiled() {
        bytes * layout.samples as usize
    } else {
        bytes
    }
}

fn fill_wide(
    view: &View<'_>,
    texture: &Texture,
    id: &BlockId,
    data: &mut [u8; MAX_TILE_BYTES],
    out: &mut [[u32; 4]],
) -> Result<(), McError> {
    let skip = read_tile(view, texture, id, (id.x, id.y), data)? as usize;
    let Some(level) = texture.level(id.level) else {
        return Ok(());
    };
    let layout = &level.surface.layout;
    let bytes = layout.bytes_per_element as usize;
    let stride = element_stride(texture);
    for (out, &element) in out.iter_mut().zip(layout.rows()) {
        let at = skip + usize::from(element) * stride;
        *out = texture.format.decode(&data[at..at + bytes]);
    }
    Ok(())
}

fn fill_subsampled(
    view: &View<'_>,
    texture: &Texture,
    id: &BlockId,
    data: &mut [u8; MAX_TILE_BYTES],
    out: &mut [[u32; 4]],
) -> Result<(), McError> {
    // A block of eight texels across is half a tile: four elements of two texels.
    read_tile(view, texture, id, (id.x / 2, id.y), data)?;
    let Some(level) = texture.level(id.level) else {
        return Ok(());
    };
    let layout = &level.surface.layout;
    for (i, out) in out.iter_mut().enumerate() {
        let (x, y) = (i as u32 % 8, i as u32 / 8);
        let at = layout.element_offset((id.x & 1) * 4 + x / 2, y, 0) as usize;
        let element = [data[at], data[at + 1], data[at + 2], data[at + 3]];
        *out = subsampled(texture.format.data, element, x & 1 == 1);
    }
    Ok(())
}

fn fill_compressed(
    view: &View<'_>,
    texture: &Texture,
    id: &BlockId,
    out: &mut [[u32; 4]],
) -> Result<(), McError> {
    let Some(level) = texture.level(id.level) else {
        return Ok(());
    };
    let surface = &level.surface;
    let format = &texture.format;
    let bytes = surface.layout.bytes_per_element.min(16) as usize;
    let rows = level.height.div_ceil(4);
    let signed = [0, 1].map(|i| format.sign[i] == Sign::Signed);
    for (column, row) in [(0, 0), (1, 0), (0, 1), (1, 1)] {
        let (bx, by) = (id.x * 2 + column, id.y * 2 + row);
        let mut block = [0; 16];
        if by < rows && bx < surface.layout.pitch {
            let at = surface.layout.offset(bx, by, id.slice);
            view.read_by(
                surface.cache,
                surface.base.wrapping_add(at),
                &mut block[..bytes],
            )?;
            format.endian.apply(&mut block[..bytes]);
        }
        let whole = bptc::decode(format.data, &block, signed[0], format.degamma);
        for y in 0..4 {
            for x in 0..4 {
                let texel = match &whole {
                    Some(texels) => texels[4 * y + x],
                    None => block::decode(format.data, &block, x, y, signed, format.degamma),
                };
                let at = (row as usize * 4 + y) * 8 + column as usize * 4 + x;
                out[at] = texel.map(f32::to_bits);
            }
        }
    }
    Ok(())
}

/// True for fixed-point depth formats, for which comparisons clamp the reference value to 0..1.
pub fn is_fixed_depth(format: DataFormat) -> bool {
    matches!(
        format,
        DataFormat::F16 | DataFormat::F8_24 | DataFormat::F24_8
    )
}
