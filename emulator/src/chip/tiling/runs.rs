// SPDX-License-Identifier: MIT
//! Fast path for tiles that are one run of bytes, as in nearly all render targets and textures. It
//! computes once for a surface what [`Layout::tile`] computes for each tile.

use super::{ArrayMode, Layout, MICRO};

/// Locations of the runs of a tiled surface whose tiles are not split over slices.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Runs {
    /// log2 of the pipes, of the banks, and of both together: 0 in 1D tiling.
    pipes: u32,
    banks: u32,
    spread: u32,
    log2_group: u32,
    /// Bytes of a group minus one: a run does not cross groups. 1D tiling has no groups.
    group: u64,
    /// Micro tiles in a row of one pipe and bank.
    per_row: u64,
    tile_bytes: u64,
    slice_bytes: u64,
    /// Rotation of pipe and bank from slice to slice; 0 in 1D tiling.
    rotation: u32,
    /// The shares that the low bits of a tile's column and row have in its pipe and bank, which
    /// are the XOR of both shares.
    columns: [u8; 16],
    rows: [u8; 64],
}

impl Runs {
    /// `None` for linear surfaces, and if the samples of a tile are spread over slices.
    pub fn new(layout: &Layout) -> Option<Self> {
        let config = &layout.config;
        let tile_bytes = u64::from(layout.tile_bytes());
        let bytes = u64::from(layout.bytes_per_element) * u64::from(layout.stored_samples());
        let two_d = match layout.mode {
            ArrayMode::Tiled1dThin1 => false,
            ArrayMode::Tiled2dThin1
                if tile_bytes <= layout.split_size() && config.macro_tile.is_none() =>
            {
                true
            }
            _ => return None,
        };
        let (mut columns, mut rows) = ([0; 16], [0; 64]);
        let (mut pipes, mut banks, mut group) = (0, 0, u64::MAX >> 1);
        if two_d {
            (pipes, banks) = (config.log2_pipes, config.log2_banks);
            group = (1 << config.log2_group) - 1;
            let select = |tx, ty| config.bank(tx, ty) << pipes | config.pipe(tx, ty);
            fill(&mut columns, |bit| select(1 << bit, 0));
            fill(&mut rows, |bit| select(0, 1 << bit));
        }
        let log2_width = MICRO.trailing_zeros() + banks;
        Some(Self {
            pipes,
            banks,
            spread: pipes + banks,
            log2_group: config.log2_group,
            group,
            per_row: (u64::from(layout.pitch) + (1 << log2_width) - 1) >> log2_width,
            tile_bytes,
            slice_bytes: u64::from(layout.slice_elements) * bytes,
            rotation: if two_d { config.rotation() } else { 0 },
            columns,
            rows,
        })
    }

    /// Offset from the surface's base of bytes `first..first + len` of micro tile (`tx`, `ty`) of
    /// slice `z`; `None` if they are not contiguous or not all in the tile. The result agrees with
    /// [`super::Tile::pieces`].
    #[inline(always)]
    pub fn run(&self, tx: u32, ty: u32, z: u32, first: u32, len: usize) -> Option<u64> {
        let (first, len) = (u64::from(first), len as u64);
        let macro_tile = u64::from(ty >> self.pipes) * self.per_row + u64::from(tx >> self.banks);
        let mut local = macro_tile.wrapping_mul(self.tile_bytes).wrapping_add(first);
        let mut select = self.columns[tx as usize & 15] ^ self.rows[ty as usize & 63];
        if z != 0 {
            let slice = self.slice_bytes.wrapping_mul(u64::from(z)) >> self.spread;
            local = local.wrapping_add(slice);
            let turn = z.wrapping_mul(self.rotation) & ((1 << self.spread) - 1);
            select ^= turn as u8;
        }
        let inside = local & self.group;
        let in_group = inside.saturating_add(len) <= self.group + 1;
        if first.saturating_add(len) > self.tile_bytes || !in_group {
            return None;
        }
        let offset = (local - inside) << self.spread;
        Some(offset | u64::from(select) << self.log2_group | inside)
    }
}

/// Sets each entry to the XOR of `of(bit)` for the set bits of its index.
fn fill<const N: usize>(table: &mut [u8; N], of: impl Fn(u32) -> u32) {
    for i in 1..N {
        table[i] = table[i & (i - 1)] ^ of(i.trailing_zeros()) as u8;
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{config, mode};
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// A run is found if and only if the tile's bytes are one piece, and agrees with it.
        #[test]
        fn runs_are_those_of_tiles(
            mode in mode(), config in config(), log2_bpe in 0u32..5, log2_samples in 0u32..4,
            pitch in 1u32..200, rows in 1u32..200, depth_order: bool,
            tx in 0u32..80, ty in 0u32..80, z in 0u32..9, first in 0u32..1024, len in 1usize..600,
        ) {
            let mut layout = Layout::new(mode, 1 << log2_bpe, pitch * 8, pitch * rows * 64, config);
            (layout.samples, layout.depth_order) = (1 << log2_samples, depth_order);
            let tile = layout.tile(tx, ty, z);
            let Some(runs) = Runs::new(&layout) else {
                let splits = u64::from(layout.tile_bytes()) > layout.split_size();
                prop_assert!(mode == ArrayMode::LinearAligned || splits);
                return Ok(());
            };
            let inside = first as usize + len <= layout.tile_bytes() as usize;
            let pieces: Vec<_> = tile.pieces(first, len as u32).collect();
            let expected = (inside && pieces.len() == 1).then(|| pieces[0].0);
            prop_assert_eq!(runs.run(tx, ty, z, first, len), expected);
        }

        #[test]
        fn hostile_input_does_not_overflow(
            mode in mode(), config in config(), tx: u32, ty: u32, z: u32, first: u32, len: usize,
            pitch: u32, slice_elements: u32, bytes_per_element in 0u32..=16, samples: u32,
        ) {
            let layout = Layout {
                mode, bytes_per_element, pitch, slice_elements, config, samples, depth_order: false,
            };
            if let Some(runs) = Runs::new(&layout) {
                runs.run(tx, ty, z, first, len);
            }
        }
    }

    #[test]
    fn a_tile_of_a_window_is_one_run() {
        // 2 pipes, 4 banks, groups of 256 bytes; see the test of `Layout::offset`.
        let config = super::super::TilingConfig::from_register(1 << 1);
        let layout = Layout::new(ArrayMode::Tiled2dThin1, 4, 64, 64 * 64, config);
        let runs = Runs::new(&layout).unwrap();
        assert_eq!(runs.run(0, 0, 0, 0, 256), Some(0));
        assert_eq!(runs.run(1, 0, 0, 0, 256), Some(0b011 << 8));
        assert_eq!(runs.run(0, 2, 0, 0, 256), Some(2 * 0x800 + (0b100 << 8)));
        assert_eq!(runs.run(0, 0, 0, 128, 256), None);
    }
}
