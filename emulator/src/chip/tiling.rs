// SPDX-License-Identifier: MIT
//! Address mapping of surfaces: the one place that knows where an element of
//! a linear or tiled surface lies.
//!
//! Sources and fidelity:
//! - Field meanings of the tiling registers: `rv770d.h` (`PIPE_TILING`,
//!   `BANK_TILING`, `GROUP_SIZE`), `r600_cs.c` (alignment of pitches).
//! - Order of elements inside a micro tile, and the pipe and bank hashes of
//!   2D tiling: the publicly documented behaviour of AMD's address library
//!   for R600-class chips (thin, one sample, non-depth micro tiles).
//! - Only self-consistent, not checked against a chip: pipe and bank
//!   rotation between slices and between samples (none is applied here), bank
//!   swapping of the 2B modes (not offered), and what the hardware does with a
//!   pitch that is no multiple of the macro tile (rounded up here).

/// Width and height of a micro tile in elements.
const MICRO: u32 = 8;

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
}

impl ArrayMode {
    /// Decodes an `ARRAY_MODE` field. Modes that no driver of this family
    /// uses for scan-out, rendering or DMA are treated as linear.
    pub fn from_field(value: u32) -> Self {
        match value {
            1 => ArrayMode::LinearAligned,
            2 => ArrayMode::Tiled1dThin1,
            4 => ArrayMode::Tiled2dThin1,
            _ => ArrayMode::LinearGeneral,
        }
    }
}

/// Memory geometry that 2D tiling depends on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TilingConfig {
    /// log2 of the pipes, 0 to 3.
    pub log2_pipes: u32,
    /// log2 of the banks, 2 or 3.
    pub log2_banks: u32,
    /// log2 of the bytes one pipe handles in a row, 8 or 9.
    pub log2_group: u32,
}

impl TilingConfig {
    /// Decodes `GB_TILING_CONFIG`, `DMA_TILING_CONFIG` and their likes.
    pub fn from_register(value: u32) -> Self {
        Self {
            log2_pipes: ((value >> 1) & 7).min(3),
            log2_banks: 2 + ((value >> 4) & 1),
            log2_group: 8 + ((value >> 6) & 1),
        }
    }
}

/// Everything that decides where an element lies, but the base address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Layout {
    /// Arrangement.
    pub mode: ArrayMode,
    /// 1, 2, 4, 8 or 16.
    pub bytes_per_element: u32,
    /// Elements per row, a multiple of 8 for tiled modes.
    pub pitch: u32,
    /// Elements per slice.
    pub slice_elements: u32,
    /// Memory geometry.
    pub config: TilingConfig,
}

impl Layout {
    /// Byte offset of element (`x`, `y`) of slice `z` from the surface's
    /// base. Total for all inputs; different elements inside pitch and slice
    /// never share a byte.
    pub fn offset(&self, x: u32, y: u32, z: u32) -> u64 {
        let slice = u64::from(z) * u64::from(self.slice_elements);
        let bpe = u64::from(self.bytes_per_element);
        match self.mode {
            ArrayMode::LinearGeneral | ArrayMode::LinearAligned => {
                (slice + u64::from(y) * u64::from(self.pitch) + u64::from(x)) * bpe
            }
            ArrayMode::Tiled1dThin1 => {
                let tiles_per_row = u64::from(self.pitch.div_ceil(MICRO));
                let tile = u64::from(y / MICRO) * tiles_per_row + u64::from(x / MICRO);
                let inside = u64::from(self.micro_index(x, y));
                (slice + tile * u64::from(MICRO * MICRO) + inside) * bpe
            }
            ArrayMode::Tiled2dThin1 => self.offset_2d(x, y, slice * bpe),
        }
    }

    fn offset_2d(&self, x: u32, y: u32, slice_bytes: u64) -> u64 {
        let TilingConfig {
            log2_pipes,
            log2_banks,
            log2_group,
        } = self.config;
        let spread = log2_pipes + log2_banks;
        let macro_width = MICRO << log2_banks;
        let macro_height = MICRO << log2_pipes;
        let micro_bytes = u64::from(MICRO * MICRO * self.bytes_per_element);

        let per_row = u64::from(self.pitch.div_ceil(macro_width));
        let macro_tile = u64::from(y / macro_height) * per_row + u64::from(x / macro_width);
        // Offset within one pipe and bank: each holds one micro tile of every
        // macro tile.
        let inside = u64::from(self.micro_index(x, y) * self.bytes_per_element);
        let local = (slice_bytes >> spread) + macro_tile * micro_bytes + inside;

        let group = (1u64 << log2_group) - 1;
        let select = (u64::from(self.bank(x, y)) << log2_pipes) | u64::from(self.pipe(x, y));
        ((local & !group) << spread) | (select << log2_group) | local & group
    }

    /// Element number inside its micro tile.
    fn micro_index(&self, x: u32, y: u32) -> u32 {
        let bit = |v: u32, n: u32| (v >> n) & 1;
        let (x0, x1, x2) = (bit(x, 0), bit(x, 1), bit(x, 2));
        let (y0, y1, y2) = (bit(y, 0), bit(y, 1), bit(y, 2));
        let order = match self.bytes_per_element {
            1 => [x0, x1, x2, y1, y0, y2],
            2 => [x0, x1, x2, y0, y1, y2],
            8 => [x0, y0, x1, x2, y1, y2],
            16 => [y0, x0, x1, x2, y1, y2],
            _ => [x0, x1, y0, x2, y1, y2],
        };
        order.iter().rev().fold(0, |index, b| (index << 1) | b)
    }

    /// Pipe that holds the micro tile of (`x`, `y`).
    fn pipe(&self, x: u32, y: u32) -> u32 {
        let (x, y) = (x / MICRO, y / MICRO);
        let bit = |v: u32, n: u32| (v >> n) & 1;
        match self.config.log2_pipes {
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

    /// Bank that holds the micro tile of (`x`, `y`).
    fn bank(&self, x: u32, y: u32) -> u32 {
        let x = x / MICRO;
        // Rows of micro tiles, counted per macro tile row.
        let y = (y / MICRO) >> self.config.log2_pipes;
        let bit = |v: u32, n: u32| (v >> n) & 1;
        if self.config.log2_banks == 2 {
            (bit(y, 1) ^ bit(x, 0)) | ((bit(y, 0) ^ bit(x, 1)) << 1)
        } else {
            (bit(y, 2) ^ bit(x, 0))
                | ((bit(y, 2) ^ bit(y, 1) ^ bit(x, 1)) << 1)
                | ((bit(y, 0) ^ bit(x, 2)) << 2)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashSet;

    fn config() -> impl Strategy<Value = TilingConfig> {
        (0u32..4, 2u32..4, 8u32..10).prop_map(|(log2_pipes, log2_banks, log2_group)| TilingConfig {
            log2_pipes,
            log2_banks,
            log2_group,
        })
    }

    fn mode() -> impl Strategy<Value = ArrayMode> {
        prop_oneof![
            Just(ArrayMode::LinearAligned),
            Just(ArrayMode::Tiled1dThin1),
            Just(ArrayMode::Tiled2dThin1),
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]

        /// Every element of a slice made of whole macro tiles has its own
        /// place, and the places fill the slice exactly.
        #[test]
        fn offset_all_elements_fill_slice_once(
            mode in mode(), config in config(), log2_bpe in 0u32..5,
            columns in 1u32..3, rows in 1u32..3, z in 0u32..2,
        ) {
            let bytes_per_element = 1 << log2_bpe;
            let pitch = columns * (MICRO << config.log2_banks);
            let height = rows * (MICRO << config.log2_pipes);
            let layout = Layout {
                mode, bytes_per_element, pitch, config,
                slice_elements: pitch * height,
            };
            let slice = u64::from(pitch * height * bytes_per_element);
            // Groups larger than a micro tile's share span slices: only
            // slices of whole groups are exact.
            let share = slice >> (config.log2_pipes + config.log2_banks);
            prop_assume!(mode != ArrayMode::Tiled2dThin1 || share % (1 << config.log2_group) == 0);
            let mut seen = HashSet::new();
            for y in 0..height {
                for x in 0..pitch {
                    let offset = layout.offset(x, y, z);
                    prop_assert!(offset >= slice * u64::from(z));
                    prop_assert!(offset + u64::from(bytes_per_element) <= slice * u64::from(z + 1));
                    prop_assert_eq!(offset % u64::from(bytes_per_element), 0);
                    prop_assert!(seen.insert(offset), "({}, {})", x, y);
                }
            }
        }

        #[test]
        fn offset_hostile_input_does_not_overflow(
            mode in mode(), config in config(), x: u32, y: u32, z in 0u32..4096,
            pitch in 1u32..8193, slice_elements in 1u32..=(64 << 20),
        ) {
            let layout = Layout { mode, bytes_per_element: 16, pitch, slice_elements, config };
            layout.offset(x, y, z);
        }
    }

    #[test]
    fn offset_1d_second_tile_follows_first() {
        let layout = Layout {
            mode: ArrayMode::Tiled1dThin1,
            bytes_per_element: 4,
            pitch: 64,
            slice_elements: 64 * 64,
            config: TilingConfig::from_register(0),
        };
        assert_eq!(layout.offset(7, 7, 0), 63 * 4);
        assert_eq!(layout.offset(8, 0, 0), 64 * 4);
        assert_eq!(layout.offset(0, 8, 0), 8 * 64 * 4);
        // 32-bit order: x0 x1 y0 x2 y1 y2.
        assert_eq!(layout.offset(0, 1, 0), 4 * 4);
        assert_eq!(layout.offset(4, 0, 0), 8 * 4);
    }

    #[test]
    fn offset_2d_neighbouring_tiles_change_pipe_and_bank() {
        let layout = Layout {
            mode: ArrayMode::Tiled2dThin1,
            bytes_per_element: 4,
            pitch: 64,
            slice_elements: 64 * 64,
            // 2 pipes, 4 banks, groups of 256 bytes.
            config: TilingConfig::from_register(1 << 1),
        };
        // One micro tile of 32-bit elements is exactly one group.
        assert_eq!(layout.offset(0, 0, 0), 0);
        assert_eq!(layout.offset(8, 0, 0), 0b011 << 8);
        assert_eq!(layout.offset(0, 8, 0), 0b001 << 8);
        assert_eq!(layout.offset(0, 16, 0), 2 * 0x800 + (0b100 << 8));
    }

    #[test]
    fn config_register_fields_are_decoded() {
        assert_eq!(
            TilingConfig::from_register((3 << 1) | (1 << 4) | (1 << 6)),
            TilingConfig {
                log2_pipes: 3,
                log2_banks: 3,
                log2_group: 9
            }
        );
    }
}
