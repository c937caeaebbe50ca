// SPDX-License-Identifier: MIT
//! 2D tiling of Evergreen and Northern Islands: each surface has a macro tile of its own.
//!
//! A macro tile is `bank_width` micro tiles of each pipe wide, times the aspect ratio, and
//! `bank_height` micro tiles of each bank high, divided by it (`eg_surface_init_2d()` of libdrm's
//! `radeon_surface.c`; `evergreen_surface_check_2d()` of the kernel's `evergreen_cs.c`). A micro
//! tile larger than the tile split is spread over as many slices.
//!
//! No source: which pipe and bank a micro tile is in. Pipes are those of R6xx; the bank is a hash
//! of the place in units of `bank_width` and `bank_height`, with the rotations of R6xx between
//! slices and splits. Tests check that all elements of a surface have a place of their own.

use super::{Layout, Place, Tile, TilingConfig};

/// Bank width, bank height and aspect ratio of a surface's macro tile, as logarithms, 0 to 3.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MacroTile {
    /// Micro tiles of a bank side by side.
    pub log2_bank_width: u32,
    /// Micro tiles of a bank one below the other.
    pub log2_bank_height: u32,
    /// Factor of the width, divisor of the height.
    pub log2_aspect: u32,
}

impl MacroTile {
    /// log2 of width and height in micro tiles.
    pub(super) fn log2_size(&self, config: &TilingConfig) -> (u32, u32) {
        let width = self.log2_bank_width + config.log2_pipes + self.log2_aspect;
        let height = self.log2_bank_height + config.log2_banks;
        (width, height.saturating_sub(self.log2_aspect))
    }

    /// Width and height in elements.
    pub fn size(&self, config: &TilingConfig) -> (u32, u32) {
        let (width, height) = self.log2_size(config);
        (8 << width, 8 << height)
    }

    /// The bank of micro tile (`tx`, `ty`), before rotation.
    pub(super) fn bank(&self, config: &TilingConfig, tx: u32, ty: u32) -> u32 {
        let x = tx >> (self.log2_bank_width + config.log2_pipes);
        let y = ty >> self.log2_bank_height;
        let bit = |v: u32, n: u32| v >> n & 1;
        match config.log2_banks {
            0 => 0,
            1 => bit(x, 0) ^ bit(y, 0),
            2 => bit(x, 0) ^ bit(y, 1) | (bit(x, 1) ^ bit(y, 0)) << 1,
            3 => {
                bit(x, 0) ^ bit(y, 2)
                    | (bit(x, 1) ^ bit(y, 1) ^ bit(y, 2)) << 1
                    | (bit(x, 2) ^ bit(y, 0)) << 2
            }
            _ => {
                bit(x, 0) ^ bit(y, 3)
                    | (bit(x, 1) ^ bit(y, 2) ^ bit(y, 3)) << 1
                    | (bit(x, 2) ^ bit(y, 1)) << 2
                    | (bit(x, 3) ^ bit(y, 0)) << 3
            }
        }
    }
}

impl TilingConfig {
    /// The geometry in `GB_ADDR_CONFIG`: `NUM_PIPES`, `PIPE_INTERLEAVE_SIZE`. The banks, the tile
    /// split and the macro tile are the surface's.
    pub fn from_address_config(config: u32) -> Self {
        Self {
            log2_pipes: (config & 7).min(3),
            log2_banks: 3,
            log2_group: 8 + (config >> 4 & 1),
            log2_split: 10,
            optimal_bank_swap: false,
            macro_tile: None,
        }
    }

    /// The geometry of a surface with these fields of its registers: `TILE_SPLIT`, `NUM_BANKS`,
    /// `BANK_WIDTH`, `BANK_HEIGHT` and `MACRO_TILE_ASPECT`.
    pub fn of_surface(self, split: u32, banks: u32, width: u32, height: u32, aspect: u32) -> Self {
        Self {
            log2_banks: 1 + (banks & 3),
            // 64 bytes to 4 KiB
            log2_split: 6 + (split & 7).min(6),
            macro_tile: Some(MacroTile {
                log2_bank_width: width & 3,
                log2_bank_height: height & 3,
                log2_aspect: aspect & 3,
            }),
            ..self
        }
    }
}

impl Layout {
    /// Micro tile (`tx`, `ty`) of slice `z` in 2D tiling with a [`MacroTile`]. Total for all inputs.
    pub(super) fn macro_tiled(&self, tx: u32, ty: u32, z: u32) -> Tile {
        let config = &self.config;
        let Some(tile) = &config.macro_tile else {
            return Tile {
                start: 0,
                place: Place::Run,
            };
        };
        let splits = self.splits();
        let spread = config.log2_pipes + config.log2_banks;
        let (log2_width, log2_height) = tile.log2_size(config);
        let per_row = u64::from(self.pitch.div_ceil(8 << log2_width));
        let number = u64::from(ty >> log2_height)
            .wrapping_mul(per_row)
            .wrapping_add(u64::from(tx >> log2_width));
        // Micro tiles of one pipe and bank in a macro tile, and this one's number among them.
        let count = 1u64 << (tile.log2_bank_width + tile.log2_bank_height);
        let row = u64::from(ty & ((1 << tile.log2_bank_height) - 1));
        let column = u64::from(tx >> config.log2_pipes & ((1 << tile.log2_bank_width) - 1));
        let inner = row << tile.log2_bank_width | column;
        let select = (tile.bank(config, tx, ty) << config.log2_pipes | config.pipe(tx, ty))
            ^ z.wrapping_mul(config.rotation());
        Tile {
            start: number
                .wrapping_mul(count)
                .wrapping_add(inner)
                .wrapping_mul(splits.bytes),
            place: Place::Spread {
                config: *config,
                spread,
                select,
                split_bytes: splits.bytes,
                split_slice: splits.slice,
                first_slice: splits.count.wrapping_mul(u64::from(z)),
            },
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::super::ArrayMode;
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashSet;

    pub fn config() -> impl Strategy<Value = TilingConfig> {
        let fields = (0u32..4, 1u32..5, 8u32..10, 6u32..13);
        (fields, 0u32..3, 0u32..3, 0u32..2).prop_map(
            |((log2_pipes, log2_banks, log2_group, log2_split), width, height, aspect)| {
                TilingConfig {
                    log2_pipes,
                    log2_banks,
                    log2_group,
                    log2_split,
                    optimal_bank_swap: false,
                    macro_tile: Some(MacroTile {
                        log2_bank_width: width,
                        log2_bank_height: height,
                        log2_aspect: aspect,
                    }),
                }
            },
        )
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        /// Every element has its own place, and the places fill the slice exactly.
        #[test]
        fn elements_fill_a_slice_once(
            config in config(), log2_bpe in 0u32..5, log2_samples in 0u32..4, z in 0u32..3,
            depth_order: bool,
        ) {
            let (width, height) = config.macro_tile.unwrap().size(&config);
            prop_assume!(width * height <= 1 << 14);
            let (pitch, rows) = (2 * width, height);
            let mut layout =
                Layout::new(ArrayMode::Tiled2dThin1, 1 << log2_bpe, pitch, pitch * rows, config);
            (layout.samples, layout.depth_order) = (1 << log2_samples, depth_order);
            let slice = u64::from(pitch * rows) << (log2_bpe + log2_samples);
            let splits = u64::from(layout.tile_bytes() >> config.log2_split).max(1);
            // libdrm's eg_surface_sanity(): a bank's share of a macro tile is whole groups.
            let share = slice / splits >> (config.log2_pipes + config.log2_banks);
            prop_assume!(share % (1 << config.log2_group) == 0);
            let mut seen = HashSet::new();
            for y in 0..rows {
                for x in 0..pitch {
                    for sample in 0..layout.samples {
                        let at = layout.sample_offset(x, y, z, sample);
                        let inside = at >= slice * u64::from(z)
                            && at + (1 << log2_bpe) <= slice * u64::from(z + 1);
                        prop_assert!(inside && seen.insert(at), "({x}, {y}) {sample}: {at}");
                    }
                }
            }
        }

        #[test]
        fn hostile_input_does_not_overflow(
            config in config(), x: u32, y: u32, z: u32, sample: u32, pitch: u32, slice: u32,
            bytes in 0u32..=16, samples: u32, first in 0u32..65536, len in 0u32..65536,
        ) {
            let mut layout = Layout::new(ArrayMode::Tiled2dThin1, bytes, pitch, slice, config);
            layout.samples = samples;
            layout.sample_offset(x, y, z, sample);
            let total: usize = layout.tile(x, y, z).pieces(first, len).map(|(_, len)| len).sum();
            prop_assert_eq!(total, len as usize);
        }
    }

    #[test]
    fn macro_tiles_have_libdrms_size() {
        // TURKS: 4 pipes, 8 banks; bankw 1, bankh 4, aspect 2.
        let config = TilingConfig {
            log2_pipes: 2,
            log2_banks: 3,
            log2_group: 8,
            log2_split: 10,
            optimal_bank_swap: false,
            macro_tile: Some(MacroTile {
                log2_bank_width: 0,
                log2_bank_height: 2,
                log2_aspect: 1,
            }),
        };
        let size = config.alignment(ArrayMode::Tiled2dThin1, 4, 1);
        assert_eq!(size, (8 * 4 * 2, 8 * 4 * 8 / 2));
    }
}
