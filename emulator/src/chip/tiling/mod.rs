// SPDX-License-Identifier: MIT
//! Address mapping of surfaces: computes the offset of an element in a linear or
//! tiled surface, for colour, depth, textures, the DMA engine and scan-out.
//!
//! A *micro tile* is 8x8 elements with all their samples. [`Tile`] maps its
//! bytes, in the chip's order, to memory: one run in 1D tiling, a few runs of at
//! most a group (256 or 512 bytes) in 2D tiling, a run for each row of a linear
//! surface.
//!
//! Sources and fidelity:
//! - Field meanings of the tiling registers: `rv770d.h` (`PIPE_TILING`,
//!   `BANK_TILING`, `GROUP_SIZE`, `ROW_TILING`, `SAMPLE_SPLIT`), `r600_cs.c`
//!   (alignment of pitches).
//! - Order of elements, pipe and bank hashes, rotation between slices and
//!   samples: AMD's address library for R600-class chips, published with
//!   decaf-emu; `tests/tiling.rs` compares with numbers that it computed.
//! - No source: a pitch that is no multiple of the macro tile (rounded up here),
//!   and more than one sample in 1D tiling, which the library rules out. Tests
//!   check only that these are self-consistent.
//! - Not modelled: thick tiles and the modes with other aspect ratios or bank
//!   swaps (`ARRAY_2D_TILED_THIN2` and up). The kernel's command checker refuses
//!   them.

mod evergreen;
mod runs;

pub use evergreen::MacroTile;
pub use runs::{Block, Runs};

/// Width and height of a micro tile in elements.
pub const MICRO: u32 = 8;

/// How the elements of a surface are arranged (`ARRAY_*` in `r600d.h`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ArrayMode {
    /// `ARRAY_LINEAR_GENERAL`.
    LinearGeneral,
    /// `ARRAY_LINEAR_ALIGNED`.
    LinearAligned,
    /// `ARRAY_1D_TILED_THIN1`: micro tiles in rows.
    Tiled1dThin1,
    /// `ARRAY_2D_TILED_THIN1`: micro tiles spread over pipes and banks.
    Tiled2dThin1,
    /// A mode that no driver of these chips uses for scan-out, rendering, textures or DMA, by its
    /// number (thick tiles, for example). Treated as linear.
    Unknown(u8),
}

impl ArrayMode {
    /// Decodes an `ARRAY_MODE` field of four bits.
    pub fn from_field(value: u32) -> Self {
        match value {
            1 => ArrayMode::LinearAligned,
            2 => ArrayMode::Tiled1dThin1,
            4 => ArrayMode::Tiled2dThin1,
            0 => ArrayMode::LinearGeneral,
            other => ArrayMode::Unknown((other & 0xF) as u8),
        }
    }

    /// The number of a mode that the model does not know.
    pub fn unknown(self) -> Option<u32> {
        match self {
            ArrayMode::Unknown(mode) => Some(mode.into()),
            _ => None,
        }
    }
}

/// Memory geometry that 2D tiling depends on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TilingConfig {
    /// log2 of the number of pipes, 0 to 3.
    pub log2_pipes: u32,
    /// log2 of the number of banks, 2 or 3.
    pub log2_banks: u32,
    /// log2 of the bytes in a group, which belong to one pipe, 8 or 9.
    pub log2_group: u32,
    /// log2 of the split size in bytes, 10 to 13: the samples of a larger micro
    /// tile are spread over several slices.
    pub log2_split: u32,
    /// Use the variant of the bank hash that chips with 8 pipes have.
    pub optimal_bank_swap: bool,
    /// Evergreen: the surface's own macro tile, and its split size in `log2_split`.
    pub macro_tile: Option<MacroTile>,
}

impl TilingConfig {
    /// Decodes `GB_TILING_CONFIG`, `DMA_TILING_CONFIG` and similar registers.
    pub fn from_register(value: u32) -> Self {
        Self {
            log2_pipes: ((value >> 1) & 7).min(3),
            log2_banks: 2 + ((value >> 4) & 1),
            log2_group: 8 + ((value >> 6) & 1),
            log2_split: 10 + ((value >> 14) & 3),
            optimal_bank_swap: value & (1 << 10) != 0,
            macro_tile: None,
        }
    }

    /// Alignment of pitch and height in elements of `bytes` bytes with `samples` samples
    /// (`r6_surface_init_*()` and `eg_surface_init_*()` of libdrm's `radeon_surface.c`).
    pub fn alignment(&self, mode: ArrayMode, bytes: u32, samples: u32) -> (u32, u32) {
        let group = 1 << self.log2_group;
        let line = (bytes * samples).max(1);
        match mode {
            ArrayMode::LinearGeneral | ArrayMode::LinearAligned | ArrayMode::Unknown(_) => {
                (64u32.max(group / bytes.max(1)), 1)
            }
            ArrayMode::Tiled1dThin1 => (8u32.max(group / (8 * line)), 8),
            ArrayMode::Tiled2dThin1 => match &self.macro_tile {
                Some(tile) => tile.size(self),
                None => {
                    let banks = 1 << self.log2_banks;
                    let width = (8 * banks).max(group * banks / (8 * line));
                    (width, 8 << self.log2_pipes)
                }
            },
        }
    }

    /// Pipe that holds micro tile (`x`, `y`), before rotation.
    fn pipe(&self, x: u32, y: u32) -> u32 {
        let bit = |v: u32, n: u32| (v >> n) & 1;
        match self.log2_pipes {
            0 => 0,
            1 => bit(y, 0) ^ bit(x, 0),
            2 => (bit(y, 0) ^ bit(x, 1)) | ((bit(y, 1) ^ bit(x, 0)) << 1),
            _ => {
                (bit(y, 0) ^ bit(x, 2))
                    | ((bit(y, 1) ^ bit(x, 2) ^ bit(x, 1)) << 1)
                    | ((bit(y, 2) ^ bit(x, 0)) << 2)
            }
        }
    }

    /// Bank that holds micro tile (`x`, `y`), before rotation.
    fn bank(&self, x: u32, y: u32) -> u32 {
        // The row of macro tiles: one is as many micro tiles high as there are pipes.
        let y = y >> self.log2_pipes;
        let bit = |v: u32, n: u32| (v >> n) & 1;
        let swap = self.optimal_bank_swap && self.log2_pipes == 3;
        let extra = |n: u32| if swap { bit(x, n) } else { 0 };
        if self.log2_banks == 2 {
            (bit(y, 1) ^ bit(x, 0) ^ extra(2)) | ((bit(y, 0) ^ bit(x, 1)) << 1)
        } else {
            (bit(y, 2) ^ bit(x, 0) ^ extra(3))
                | ((bit(y, 2) ^ bit(y, 1) ^ bit(x, 1)) << 1)
                | ((bit(y, 0) ^ bit(x, 2)) << 2)
        }
    }

    /// Rotation of pipe and bank from slice to slice.
    fn rotation(&self) -> u32 {
        ((1 << self.log2_banks) / 2 - 1) << self.log2_pipes
    }

    /// The same from a split of a tile's samples to the next one.
    fn split_rotation(&self) -> u32 {
        ((1 << self.log2_banks) / 2 + 1) << self.log2_pipes
    }
}

/// The parameters that determine an element's offset from the base address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Layout {
    /// Arrangement of the elements.
    pub mode: ArrayMode,
    /// Bytes per element and sample: 1, 2, 4, 8 or 16; any number if linear.
    pub bytes_per_element: u32,
    /// Elements per row, a multiple of 8 for tiled modes.
    pub pitch: u32,
    /// Elements per slice.
    pub slice_elements: u32,
    /// Memory geometry.
    pub config: TilingConfig,
    /// Samples per element: 1, 2, 4 or 8; ignored by linear surfaces.
    pub samples: u32,
    /// `TILE_TYPE` 1, the order of depth buffers: the elements of a micro tile are
    /// in another order, and [the samples of an element are adjacent](Self::samples_are_adjacent). In the
    /// displayable order each sample is a plane of 8x8 elements.
    pub depth_order: bool,
}

/// Order of the elements of a micro tile: the coordinate bit (0-2 x, 3-5 y) of
/// each bit of the index, lowest first.
type Order = [u32; 6];

const X: [u32; 3] = [0, 1, 2];
const Y: [u32; 3] = [3, 4, 5];
const ORDER_LINEAR: Order = [X[0], X[1], X[2], Y[0], Y[1], Y[2]];
const ORDER_8: Order = [X[0], X[1], X[2], Y[1], Y[0], Y[2]];
const ORDER_16: Order = [X[0], X[1], X[2], Y[0], Y[1], Y[2]];
const ORDER_32: Order = [X[0], X[1], Y[0], X[2], Y[1], Y[2]];
const ORDER_64: Order = [X[0], Y[0], X[1], X[2], Y[1], Y[2]];
const ORDER_128: Order = [Y[0], X[0], X[1], X[2], Y[1], Y[2]];
const ORDER_DEPTH: Order = [X[0], Y[0], X[1], Y[1], X[2], Y[2]];

/// A table of 64 element numbers.
pub type ElementTable = [u8; 64];

const fn index_of(order: Order, x: u32, y: u32) -> u32 {
    let xy = (x & 7) | ((y & 7) << 3);
    let mut index = 0;
    let mut i = 0;
    while i < 6 {
        index |= ((xy >> order[i]) & 1) << i;
        i += 1;
    }
    index
}

/// Element numbers by row: entry `y * 8 + x`.
const fn by_row(order: Order) -> ElementTable {
    let mut table = [0; 64];
    let mut i = 0;
    while i < 64 {
        table[i] = index_of(order, i as u32 % 8, i as u32 / 8) as u8;
        i += 1;
    }
    table
}

/// Element numbers by lane of a pixel wave: quads in rows of four.
const fn by_lane(order: Order) -> ElementTable {
    let mut table = [0; 64];
    let mut i = 0;
    while i < 64 {
        let (quad, corner) = (i as u32 / 4, i as u32 % 4);
        let x = (quad % 4) * 2 + (corner & 1);
        let y = (quad / 4) * 2 + (corner >> 1);
        table[i] = index_of(order, x, y) as u8;
        i += 1;
    }
    table
}

const ORDERS: [Order; 7] = [
    ORDER_LINEAR,
    ORDER_8,
    ORDER_16,
    ORDER_32,
    ORDER_64,
    ORDER_128,
    ORDER_DEPTH,
];

const fn all(lane: bool) -> [ElementTable; 7] {
    let mut tables = [[0; 64]; 7];
    let mut i = 0;
    while i < 7 {
        tables[i] = if lane {
            by_lane(ORDERS[i])
        } else {
            by_row(ORDERS[i])
        };
        i += 1;
    }
    tables
}

static BY_ROW: [ElementTable; 7] = all(false);
static BY_LANE: [ElementTable; 7] = all(true);

/// In the order of displayable surfaces of 32 bits ([`Layout::is_word_order`]), a row is two groups
/// of four adjacent elements. The table has the number of each group, row by row.
pub const WORD_GROUPS: [usize; 16] = word_groups();

const fn word_groups() -> [usize; 16] {
    let mut groups = [0; 16];
    let mut i = 0;
    while i < 16 {
        groups[i] = index_of(ORDER_32, i as u32 % 2 * 4, i as u32 / 2) as usize / 4;
        i += 1;
    }
    groups
}

impl Layout {
    /// A layout with one sample in displayable order.
    pub fn new(
        mode: ArrayMode,
        bytes_per_element: u32,
        pitch: u32,
        slice_elements: u32,
        config: TilingConfig,
    ) -> Self {
        Self {
            mode,
            bytes_per_element,
            pitch,
            slice_elements,
            config,
            samples: 1,
            depth_order: false,
        }
    }

    /// True for the modes that have micro tiles.
    pub fn is_tiled(&self) -> bool {
        matches!(self.mode, ArrayMode::Tiled1dThin1 | ArrayMode::Tiled2dThin1)
    }

    /// Samples stored for each element: 1 in linear surfaces.
    fn stored_samples(&self) -> u32 {
        if self.is_tiled() {
            self.samples.clamp(1, 8)
        } else {
            1
        }
    }

    /// Byte offset of element (`x`, `y`) of slice `z`, sample 0, from the
    /// surface's base. Total for all inputs; different elements inside pitch
    /// and slice never share a byte.
    pub fn offset(&self, x: u32, y: u32, z: u32) -> u64 {
        self.sample_offset(x, y, z, 0)
    }

    /// Byte offset of sample `sample` of element (`x`, `y`) of slice `z`.
    pub fn sample_offset(&self, x: u32, y: u32, z: u32, sample: u32) -> u64 {
        self.tile(x / MICRO, y / MICRO, z)
            .offset(self.element_offset(x % MICRO, y % MICRO, sample))
    }

    /// Bytes of a micro tile with all its samples.
    pub fn tile_bytes(&self) -> u32 {
        MICRO * MICRO * self.bytes_per_element * self.stored_samples()
    }

    /// Byte in its micro tile of sample `sample` of element (`x`, `y`), both
    /// taken modulo 8.
    pub fn element_offset(&self, x: u32, y: u32, sample: u32) -> u32 {
        let row = ((y % MICRO) * MICRO + x % MICRO) as usize;
        self.sample_place(u32::from(self.rows()[row]), sample)
    }

    /// Byte in its micro tile of sample `sample` of the element with number
    /// `element` in the chip's order.
    pub fn sample_place(&self, element: u32, sample: u32) -> u32 {
        let samples = self.stored_samples();
        let sample = sample % samples;
        if self.samples_are_adjacent() {
            (element * samples + sample) * self.bytes_per_element
        } else {
            (sample * MICRO * MICRO + element) * self.bytes_per_element
        }
    }

    /// True if the samples of an element are adjacent, as in depth buffers. Otherwise each sample of a
    /// micro tile has a plane of its own.
    ///
    /// Colours of 16 bytes have the order of depth buffers on Cayman, but planes (Mesa, addrlib's
    /// `EgBasedLib::DispatchComputeSurfaceAddrFromCoord()`: `isDepthSampleOrder` does not follow from
    /// `ADDR_NON_DISPLAYABLE`). No depth buffer has elements of that size.
    pub fn samples_are_adjacent(&self) -> bool {
        self.depth_order && self.bytes_per_element < 16
    }

    /// Split size in bytes: the samples of a larger micro tile are spread over several slices. It
    /// is at least the size of one sample's plane, which is never split but where surfaces have macro
    /// tiles of their own.
    fn split_size(&self) -> u64 {
        let plane = u64::from(MICRO * MICRO) * u64::from(self.bytes_per_element);
        let least = match self.config.macro_tile {
            Some(_) => 0,
            None => plane,
        };
        (1 << self.config.log2_split).max(least)
    }

    /// How the samples of a micro tile are split. Samples beyond the split size go to slices of their own.
    #[inline(always)]
    fn splits(&self) -> Splits {
        let tile_bytes = u64::from(self.tile_bytes());
        let samples = u64::from(self.stored_samples());
        let slice = u64::from(self.slice_elements) * u64::from(self.bytes_per_element);
        let split_size = self.split_size();
        // Most surfaces are not split and need no division.
        if self.mode != ArrayMode::Tiled2dThin1 || tile_bytes <= split_size {
            return Splits {
                count: 1,
                bytes: tile_bytes,
                slice: slice * samples,
            };
        }
        let count = tile_bytes.div_ceil(split_size);
        Splits {
            count,
            bytes: tile_bytes / count,
            slice: match self.config.macro_tile {
                // All bytes of a slice, shared by its splits.
                Some(_) => slice * samples / count,
                None => slice * (samples / count).max(1),
            },
        }
    }

    fn order(&self) -> usize {
        if !self.is_tiled() {
            return 0;
        }
        if self.depth_order {
            return 6;
        }
        match self.bytes_per_element {
            1 => 1,
            2 => 2,
            8 => 4,
            16 => 5,
            _ => 3,
        }
    }

    /// True if elements are in the order of displayable surfaces of 32 bits. It is the order of
    /// lanes with bits 1 and 2 of the number swapped.
    pub fn is_word_order(&self) -> bool {
        self.order() == 3
    }

    /// True if the elements of a row of a micro tile follow each other: in linear surfaces, and in the
    /// displayable orders of 8 and 16 bits.
    pub fn has_whole_rows(&self) -> bool {
        self.order() <= 2
    }

    /// Element numbers of a micro tile in the chip's order; entry `y * 8 + x`.
    pub fn rows(&self) -> &'static ElementTable {
        &BY_ROW[self.order()]
    }

    /// Element numbers of a micro tile in the chip's order, for each lane of a
    /// pixel wave (quads of 2x2 in rows of four, see `gfx::lanes`).
    pub fn lanes(&self) -> &'static ElementTable {
        &BY_LANE[self.order()]
    }

    /// Micro tile (`tx`, `ty`) of slice `z`. Total for all inputs.
    #[inline(always)]
    pub fn tile(&self, tx: u32, ty: u32, z: u32) -> Tile {
        let bpe = u64::from(self.bytes_per_element);
        let (tx64, ty64, z64) = (u64::from(tx), u64::from(ty), u64::from(z));
        let samples = u64::from(self.stored_samples());
        let slice = u64::from(self.slice_elements) * bpe;
        let slice_start = (slice * samples).wrapping_mul(z64);
        let tile_bytes = u64::from(self.tile_bytes());
        match self.mode {
            ArrayMode::LinearGeneral | ArrayMode::LinearAligned | ArrayMode::Unknown(_) => {
                let row = u64::from(self.pitch) * bpe;
                Tile {
                    start: slice_start
                        .wrapping_add((ty64 * u64::from(MICRO)).wrapping_mul(row))
                        .wrapping_add(tx64 * u64::from(MICRO) * bpe),
                    place: Place::Linear {
                        row,
                        width: u64::from(MICRO) * bpe,
                    },
                }
            }
            ArrayMode::Tiled1dThin1 => {
                let tiles_per_row = u64::from(self.pitch.div_ceil(MICRO));
                let tile = ty64 * tiles_per_row + tx64;
                Tile {
                    start: slice_start.wrapping_add(tile.wrapping_mul(tile_bytes)),
                    place: Place::Run,
                }
            }
            ArrayMode::Tiled2dThin1 if self.config.macro_tile.is_some() => {
                self.macro_tiled(tx, ty, z)
            }
            ArrayMode::Tiled2dThin1 => {
                let TilingConfig {
                    log2_pipes,
                    log2_banks,
                    ..
                } = self.config;
                let spread = log2_pipes + log2_banks;
                let splits = self.splits();
                let log2_width = MICRO.trailing_zeros() + log2_banks;
                let per_row = (u64::from(self.pitch) + (1 << log2_width) - 1) >> log2_width;
                let macro_tile = (ty64 >> log2_pipes) * per_row + (tx64 >> log2_banks);
                let config = &self.config;
                let select = (config.bank(tx, ty) << log2_pipes | config.pipe(tx, ty))
                    ^ z.wrapping_mul(config.rotation());
                Tile {
                    start: macro_tile.wrapping_mul(splits.bytes),
                    place: Place::Spread {
                        config: self.config,
                        spread,
                        select,
                        split_bytes: splits.bytes,
                        split_slice: splits.slice,
                        first_slice: splits.count.wrapping_mul(z64),
                    },
                }
            }
        }
    }
}

/// See [`Layout::splits`].
#[derive(Debug, Clone, Copy)]
struct Splits {
    /// Slices of samples in a slice: 1 unless a tile is larger than the split size.
    count: u64,
    /// Bytes of a micro tile in each.
    bytes: u64,
    /// Bytes of each, over all pipes and banks.
    slice: u64,
}

/// Locations of the bytes of one micro tile, as offsets from the surface's base.
#[derive(Debug, Clone, Copy)]
pub struct Tile {
    start: u64,
    place: Place,
}

#[derive(Debug, Clone, Copy)]
enum Place {
    /// One run.
    Run,
    /// Rows of `width` bytes, `row` bytes apart.
    Linear { row: u64, width: u64 },
    /// Groups of one pipe and bank.
    Spread {
        config: TilingConfig,
        /// log2 of pipes times banks.
        spread: u32,
        /// Pipe and bank of the first slice of samples.
        select: u32,
        /// Bytes of the tile in each slice of samples.
        split_bytes: u64,
        /// Bytes of such a slice over all pipes and banks.
        split_slice: u64,
        /// Number of the first such slice of the tile.
        first_slice: u64,
    },
}

impl Tile {
    /// Offset of the tile's byte `byte` from the surface's base.
    pub fn offset(&self, byte: u32) -> u64 {
        self.piece(u64::from(byte)).0
    }

    /// The runs of bytes `first..first + len` of the tile, in order: offset from
    /// the surface's base, and length.
    pub fn pieces(&self, first: u32, len: u32) -> impl Iterator<Item = (u64, usize)> + '_ {
        let (mut at, end) = (u64::from(first), u64::from(first) + u64::from(len));
        std::iter::from_fn(move || {
            if at >= end {
                return None;
            }
            let (offset, room) = self.piece(at);
            let len = room.min(end - at);
            at += len;
            Some((offset, len as usize))
        })
    }

    /// Offset of byte `byte`, and the number of contiguous bytes from there on
    /// (at least 1).
    #[inline(always)]
    fn piece(&self, byte: u64) -> (u64, u64) {
        match self.place {
            Place::Run => (self.start.wrapping_add(byte), u64::MAX - byte),
            Place::Linear { row, width } => {
                let width = width.max(1);
                let (line, column) = (byte / width, byte % width);
                let offset = line.wrapping_mul(row).wrapping_add(column);
                (self.start.wrapping_add(offset), width - column)
            }
            Place::Spread {
                config,
                spread,
                select,
                split_bytes,
                split_slice,
                first_slice,
            } => {
                let split_bytes = split_bytes.max(1);
                let (split, inside) = match byte < split_bytes {
                    true => (0, byte),
                    false => (byte / split_bytes, byte % split_bytes),
                };
                let log2_group = config.log2_group;
                let slice = split_slice.wrapping_mul(first_slice.wrapping_add(split)) >> spread;
                let local = self.start.wrapping_add(slice).wrapping_add(inside);
                let turn = (split as u32).wrapping_mul(config.split_rotation());
                let select = u64::from(select ^ turn) & ((1 << spread) - 1);
                let group = (1u64 << log2_group) - 1;
                let offset =
                    ((local & !group) << spread) | (select << log2_group) | (local & group);
                let room = (group + 1 - (local & group)).min(split_bytes - inside);
                (offset, room)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashSet;

    pub(super) fn config() -> impl Strategy<Value = TilingConfig> {
        (0u32..4, 2u32..4, 8u32..10, 10u32..14, any::<bool>()).prop_map(
            |(log2_pipes, log2_banks, log2_group, log2_split, optimal_bank_swap)| TilingConfig {
                log2_pipes,
                log2_banks,
                log2_group,
                log2_split,
                optimal_bank_swap,
                macro_tile: None,
            },
        )
    }

    pub(super) fn mode() -> impl Strategy<Value = ArrayMode> {
        prop_oneof![
            Just(ArrayMode::LinearAligned),
            Just(ArrayMode::Tiled1dThin1),
            Just(ArrayMode::Tiled2dThin1),
        ]
    }

    #[test]
    fn rows_are_whole_where_it_is_said() {
        let modes = [ArrayMode::LinearAligned, ArrayMode::Tiled1dThin1];
        let mut found = 0;
        for (mode, log2_bpe) in modes.into_iter().flat_map(|m| (0..5).map(move |b| (m, b))) {
            for depth_order in [false, true] {
                let config = TilingConfig::from_register(0);
                let mut layout = Layout::new(mode, 1 << log2_bpe, 64, 64 * 64, config);
                layout.depth_order = depth_order;
                let whole = (layout.rows().chunks_exact(8))
                    .all(|row| row.windows(2).all(|pair| pair[0] + 1 == pair[1]));
                assert_eq!(layout.has_whole_rows(), whole, "{layout:?}");
                found += u32::from(whole);
            }
        }
        // Ten linear ones, and two that are tiled.
        assert_eq!(found, 12);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]

        /// Every element of a slice made of whole macro tiles has its own
        /// place, and the places fill the slice exactly.
        #[test]
        fn offset_all_elements_fill_slice_once(
            mode in mode(), config in config(), log2_bpe in 0u32..5,
            columns in 1u32..3, rows in 1u32..3, z in 0u32..2,
            log2_samples in 0u32..4, depth_order: bool,
        ) {
            let samples = if mode == ArrayMode::LinearAligned { 1 } else { 1 << log2_samples };
            let bytes_per_element = 1 << log2_bpe;
            let pitch = columns * (MICRO << config.log2_banks);
            let height = rows * (MICRO << config.log2_pipes);
            let layout = Layout {
                mode, bytes_per_element, pitch, config, samples, depth_order,
                slice_elements: pitch * height,
            };
            let slice = u64::from(pitch * height * bytes_per_element * samples);
            // Groups larger than a micro tile's share span slices: only
            // slices of whole groups are exact.
            let splits = u64::from(layout.tile_bytes() >> config.log2_split).clamp(1, u64::from(samples));
            let share = slice / splits >> (config.log2_pipes + config.log2_banks);
            prop_assume!(mode != ArrayMode::Tiled2dThin1 || share % (1 << config.log2_group) == 0);
            let mut seen = HashSet::new();
            for y in 0..height {
                for x in 0..pitch {
                    for sample in 0..samples {
                        let offset = layout.sample_offset(x, y, z, sample);
                        prop_assert!(offset >= slice * u64::from(z));
                        prop_assert!(offset + u64::from(bytes_per_element) <= slice * u64::from(z + 1));
                        prop_assert_eq!(offset % u64::from(bytes_per_element), 0);
                        prop_assert!(seen.insert(offset), "({}, {}) {}", x, y, sample);
                    }
                }
            }
        }

        #[test]
        fn offset_hostile_input_does_not_overflow(
            mode in mode(), config in config(), x: u32, y: u32, z: u32, sample: u32,
            pitch: u32, slice_elements: u32, bytes_per_element in 0u32..=16, samples: u32,
            depth_order: bool, first in 0u32..65536, len in 0u32..65536,
        ) {
            let layout = Layout {
                mode, bytes_per_element, pitch, slice_elements, config, samples, depth_order,
            };
            layout.sample_offset(x, y, z, sample);
            let total: usize = layout.tile(x, y, z).pieces(first, len).map(|(_, len)| len).sum();
            prop_assert_eq!(total, len as usize);
        }

        /// The runs of a tile agree with the offsets of its elements.
        #[test]
        fn pieces_agree_with_elements(
            mode in mode(), config in config(), log2_bpe in 0u32..5, log2_samples in 0u32..4,
            depth_order: bool, tx in 0u32..40, ty in 0u32..40, z in 0u32..8,
        ) {
            let samples = 1 << log2_samples;
            let mut layout = Layout::new(mode, 1 << log2_bpe, 512, 512 * 512, config);
            (layout.samples, layout.depth_order) = (samples, depth_order);
            let mut bytes = Vec::new();
            for (offset, len) in layout.tile(tx, ty, z).pieces(0, layout.tile_bytes()) {
                bytes.extend(offset..offset + len as u64);
            }
            prop_assert_eq!(bytes.len(), layout.tile_bytes() as usize);
            let stored = if layout.is_tiled() { samples } else { 1 };
            for lane in 0..64 {
                let (quad, corner) = (lane / 4, lane % 4);
                let (x, y) = ((quad % 4) * 2 + (corner & 1), (quad / 4) * 2 + (corner >> 1));
                for sample in 0..stored {
                    let place = layout.sample_place(u32::from(layout.lanes()[lane as usize]), sample);
                    prop_assert_eq!(place, layout.element_offset(x, y, sample));
                    let offset = layout.sample_offset(tx * 8 + x, ty * 8 + y, z, sample);
                    prop_assert_eq!(bytes[place as usize], offset);
                }
            }
        }
    }

    #[test]
    fn offset_1d_second_tile_follows_first() {
        let config = TilingConfig::from_register(0);
        let layout = Layout::new(ArrayMode::Tiled1dThin1, 4, 64, 64 * 64, config);
        assert_eq!(layout.offset(7, 7, 0), 63 * 4);
        assert_eq!(layout.offset(8, 0, 0), 64 * 4);
        assert_eq!(layout.offset(0, 8, 0), 8 * 64 * 4);
        // 32-bit order: x0 x1 y0 x2 y1 y2.
        assert_eq!(layout.offset(0, 1, 0), 4 * 4);
        assert_eq!(layout.offset(4, 0, 0), 8 * 4);
    }

    #[test]
    fn offset_2d_neighbouring_tiles_change_pipe_and_bank() {
        // 2 pipes, 4 banks, groups of 256 bytes.
        let config = TilingConfig::from_register(1 << 1);
        let layout = Layout::new(ArrayMode::Tiled2dThin1, 4, 64, 64 * 64, config);
        // One micro tile of 32-bit elements is exactly one group.
        assert_eq!(layout.offset(0, 0, 0), 0);
        assert_eq!(layout.offset(8, 0, 0), 0b011 << 8);
        assert_eq!(layout.offset(0, 8, 0), 0b001 << 8);
        assert_eq!(layout.offset(0, 16, 0), 2 * 0x800 + (0b100 << 8));
    }

    #[test]
    fn config_register_fields_are_decoded() {
        assert_eq!(
            TilingConfig::from_register((3 << 1) | (1 << 4) | (1 << 6) | (4 << 8) | (2 << 14)),
            TilingConfig {
                log2_pipes: 3,
                log2_banks: 3,
                log2_group: 9,
                log2_split: 12,
                optimal_bank_swap: true,
                macro_tile: None,
            }
        );
    }
}
