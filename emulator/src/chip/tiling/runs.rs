// SPDX-License-Identifier: MIT
//! Fast path for tiles that are one run of bytes, as in nearly all render targets and textures. It
//! computes once for a surface what [`Layout::tile`] computes for each tile.

use super::{ArrayMode, Layout, Splits, MICRO};

/// Locations of the runs of a tiled surface.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Runs {
    /// log2 of the pipes, and of pipes times banks: 0 in 1D tiling.
    pipes: u32,
    spread: u32,
    log2_group: u32,
    /// Bytes of a group minus one: a run does not cross groups. 1D tiling has no groups.
    group: u64,
    /// Macro tiles in a row.
    per_row: u64,
    /// log2 of a macro tile's columns and rows of micro tiles; 0 in 1D tiling.
    size: (u32, u32),
    /// log2 of the columns and rows of micro tiles that a macro tile has of each pipe and bank: more than one
    /// from Evergreen on.
    own: (u32, u32),
    /// Bytes of a micro tile in each slice of samples, and number of these slices: 1 unless the samples of
    /// a tile are split.
    tile_bytes: u64,
    splits: u32,
    /// Bytes of a slice of samples.
    slice_bytes: u64,
    /// Rotation of pipe and bank from slice to slice, and from a split to the next one; 0 in 1D tiling.
    rotation: u32,
    split_rotation: u32,
    /// The shares that the low bits of a tile's column and row have in its pipe and bank, which
    /// are the XOR of both shares.
    columns: [u8; 16],
    rows: [u8; 64],
    /// The same of a tile's place in units of a bank's tiles, if these are several; as by [`Self::columns`]
    /// and rows from these bits on.
    far: Option<Far>,
}

/// See [`Runs::far`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Far {
    /// First bits of column and row.
    from: (u32, u32),
    columns: [u8; 16],
    rows: [u8; 16],
}

impl Runs {
    /// `None` for linear surfaces.
    pub fn new(layout: &Layout) -> Option<Self> {
        let config = &layout.config;
        let two_d = match layout.mode {
            ArrayMode::Tiled1dThin1 => false,
            ArrayMode::Tiled2dThin1 => true,
            _ => return None,
        };
        let Splits {
            count: splits,
            bytes: tile_bytes,
            slice: slice_bytes,
        } = layout.splits();
        let (mut columns, mut rows) = ([0; 16], [0; 64]);
        let (mut pipes, mut banks, mut group) = (0, 0, u64::MAX >> 1);
        let (mut size, mut own, mut far) = ((0, 0), (0, 0), None);
        if two_d {
            (pipes, banks) = (config.log2_pipes, config.log2_banks);
            group = (1 << config.log2_group) - 1;
            size = (banks, pipes);
            let near_bank = |tx, ty| match config.macro_tile {
                Some(_) => 0,
                None => config.bank(tx, ty),
            };
            let select = |tx, ty| near_bank(tx, ty) << pipes | config.pipe(tx, ty);
            fill(&mut columns, |bit| select(1 << bit, 0));
            fill(&mut rows, |bit| select(0, 1 << bit));
            if let Some(tile) = &config.macro_tile {
                size = tile.log2_size(config);
                own = (tile.log2_bank_width, tile.log2_bank_height);
                let from = (own.0 + pipes, own.1);
                let (mut columns, mut rows) = ([0; 16], [0; 16]);
                fill(&mut columns, |bit| {
                    tile.bank(config, 1 << (bit + from.0), 0) << pipes
                });
                fill(&mut rows, |bit| {
                    tile.bank(config, 0, 1 << (bit + from.1)) << pipes
                });
                far = Some(Far {
                    from,
                    columns,
                    rows,
                });
            }
        }
        let log2_width = MICRO.trailing_zeros() + size.0;
        Some(Self {
            pipes,
            spread: pipes + banks,
            log2_group: config.log2_group,
            group,
            per_row: (u64::from(layout.pitch) + (1 << log2_width) - 1) >> log2_width,
            size,
            own,
            tile_bytes,
            splits: splits as u32,
            slice_bytes,
            rotation: if two_d { config.rotation() } else { 0 },
            split_rotation: if two_d { config.split_rotation() } else { 0 },
            columns,
            rows,
            far,
        })
    }

    /// Offset from the surface's base of bytes `first..first + len` of micro tile (`tx`, `ty`) of
    /// slice `z`; `None` if they are not contiguous or not all in the tile. The result agrees with
    /// [`super::Tile::pieces`].
    #[inline(always)]
    pub fn run(&self, tx: u32, ty: u32, z: u32, first: u32, len: usize) -> Option<u64> {
        let (first, len) = (u64::from(first), len as u64);
        let macro_tile = u64::from(ty >> self.size.1) * self.per_row + u64::from(tx >> self.size.0);
        let mut select = self.columns[tx as usize & 15] ^ self.rows[ty as usize & 63];
        let mut number = macro_tile;
        if let Some(far) = &self.far {
            let (columns, rows) = self.own;
            let column = tx >> self.pipes & ((1 << columns) - 1);
            let row = ty & ((1 << rows) - 1);
            number = number.wrapping_mul(1 << (columns + rows));
            number = number.wrapping_add(u64::from(row << columns | column));
            select ^= far.columns[(tx >> far.from.0) as usize & 15];
            select ^= far.rows[(ty >> far.from.1) as usize & 15];
        }
        let (split, first) = match first < self.tile_bytes || self.splits == 1 {
            true => (0, first),
            false => (first / self.tile_bytes, first % self.tile_bytes),
        };
        let mut local = number.wrapping_mul(self.tile_bytes).wrapping_add(first);
        if z != 0 || split != 0 {
            let slice = u64::from(z).wrapping_mul(self.splits.into()) + split;
            let before = self.slice_bytes.wrapping_mul(slice) >> self.spread;
            local = local.wrapping_add(before);
            select ^= self.turn(z, split as u32);
        }
        let inside = local & self.group;
        let in_group = inside.saturating_add(len) <= self.group + 1;
        if first.saturating_add(len) > self.tile_bytes || !in_group || split >= self.splits.into() {
            return None;
        }
        let offset = (local - inside) << self.spread;
        Some(offset | u64::from(select) << self.log2_group | inside)
    }

    /// What pipe and bank are XORed with in slice `z` and split `split` of a tile.
    fn turn(&self, z: u32, split: u32) -> u8 {
        let turn = z.wrapping_mul(self.rotation) ^ split.wrapping_mul(self.split_rotation);
        (turn & ((1 << self.spread) - 1)) as u8
    }

    /// Columns and rows of micro tiles after which pipes and banks repeat.
    pub fn period(&self) -> (u32, u32) {
        match &self.far {
            _ if self.spread == 0 => (1, 1),
            None => (self.columns.len() as u32, self.rows.len() as u32),
            Some(Far { from, .. }) => (16 << from.0, 16 << from.1),
        }
    }

    /// The bytes of the `size` micro tiles (columns, rows) from micro tile `from` of slice `z` on:
    /// a run for each row of macro tiles (1D: of micro tiles), which contains nothing else. `None`
    /// if the block has a part of a macro tile, or if macro tiles share groups. The order of the
    /// micro tiles within the runs repeats, see [`Self::period`].
    pub fn block(&self, from: (u32, u32), size: (u32, u32), z: u32) -> Option<Block> {
        let part = |v: u32, log2: u32| v & ((1 << log2) - 1) != 0;
        let parts = part(from.0 | size.0, self.size.0) || part(from.1 | size.1, self.size.1);
        if parts {
            return None;
        }
        let (share, start) = self.share(from, z)?;
        let columns = u64::from(size.0 >> self.size.0);
        let bytes = share.checked_mul(1 << self.spread)?;
        Some(Block {
            start,
            len: columns.checked_mul(bytes)?,
            step: self.per_row.checked_mul(bytes)?,
            runs: size.1 >> self.size.1,
        })
    }

    /// Bytes of a macro tile in one pipe and bank, and the offset of the macro tile that has micro tile
    /// `from` of slice `z`. `None` if macro tiles share groups, or if the samples of a tile are split.
    fn share(&self, from: (u32, u32), z: u32) -> Option<(u64, u64)> {
        if self.splits != 1 {
            return None;
        }
        let slice = match z {
            0 => 0,
            _ => self.slice_bytes.checked_mul(z.into())? >> self.spread,
        };
        let share = self
            .tile_bytes
            .checked_mul(1 << (self.own.0 + self.own.1))?;
        // 1D tiling spreads nothing.
        if self.spread != 0 && (share | slice) & self.group != 0 {
            return None;
        }
        let [row, column] = [from.1 >> self.size.1, from.0 >> self.size.0].map(u64::from);
        let first = row.checked_mul(self.per_row)?.checked_add(column)?;
        let start = first.checked_mul(share)?.checked_add(slice)?;
        Some((share, start.checked_mul(1 << self.spread)?))
    }

    /// Columns and rows of the micro tiles that a macro tile has in one bank and all pipes, from
    /// Evergreen on: their [bytes](Self::unit) are longer runs than those of a tile.
    pub fn unit_size(&self) -> Option<(u32, u32)> {
        self.far.map(|far| (1 << far.from.0, 1 << far.from.1))
    }

    /// The bytes of the unit of micro tiles, see [`Self::unit_size`], from micro tile `from` of slice `z`
    /// on, and the pipe of the first tile. Units with the same first pipe have their tiles in the same
    /// order. `None` before Evergreen, if a unit does not begin at `from`, or if macro tiles share groups.
    pub fn unit(&self, from: (u32, u32), z: u32) -> Option<(Block, u8)> {
        let far = self.far.as_ref()?;
        let (columns, rows) = self.unit_size()?;
        if from.0 & (columns - 1) != 0 || from.1 & (rows - 1) != 0 {
            return None;
        }
        let (share, start) = self.share(from, z)?;
        let select = self.columns[from.0 as usize & 15]
            ^ self.rows[from.1 as usize & 63]
            ^ far.columns[(from.0 >> far.from.0) as usize & 15]
            ^ far.rows[(from.1 >> far.from.1) as usize & 15]
            ^ self.turn(z, 0);
        let pipe = select & ((1 << self.pipes) - 1);
        let block = Block {
            start: start.checked_add(u64::from(select - pipe) << self.log2_group)?,
            len: 1 << (self.pipes + self.log2_group),
            step: 1 << (self.spread + self.log2_group),
            runs: (share >> self.log2_group) as u32,
        };
        Some((block, pipe))
    }
}

/// The bytes of a block of whole macro tiles, see [`Runs::block`], or of a [unit](Runs::unit).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Block {
    /// Offset of the first run from the surface's base.
    pub start: u64,
    /// Bytes of a run.
    pub len: u64,
    /// Bytes from the start of a run to the next one's.
    pub step: u64,
    /// Number of runs.
    pub runs: u32,
}

/// Sets each entry to the XOR of `of(bit)` for the set bits of its index.
fn fill<const N: usize>(table: &mut [u8; N], of: impl Fn(u32) -> u32) {
    for i in 1..N {
        table[i] = table[i & (i - 1)] ^ of(i.trailing_zeros()) as u8;
    }
}

#[cfg(test)]
mod tests {
    use super::super::evergreen;
    use super::super::tests::{config as r600_config, mode};
    use super::super::TilingConfig;
    use super::*;
    use proptest::prelude::*;

    /// Those of R6xx and R7xx, and of Evergreen and later.
    fn config() -> impl Strategy<Value = TilingConfig> {
        prop_oneof![r600_config(), evergreen::tests::config()]
    }

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
                prop_assert!(mode == ArrayMode::LinearAligned);
                return Ok(());
            };
            let inside = first as usize + len <= layout.tile_bytes() as usize;
            let pieces: Vec<_> = tile.pieces(first, len as u32).collect();
            let expected = (inside && pieces.len() == 1).then(|| pieces[0].0);
            prop_assert_eq!(runs.run(tx, ty, z, first, len), expected);
        }

        /// The runs of a block hold the bytes of its tiles, each once, in an order that repeats.
        #[test]
        fn blocks_are_their_tiles(
            mode in mode(), config in config(), log2_bpe in 0u32..5, log2_samples in 0u32..4,
            pitch in 1u32..200, rows in 1u32..200, depth_order: bool,
            column in 0u32..9, row in 0u32..9, width in 1u32..3, height in 1u32..3, z in 0u32..4,
        ) {
            let mut layout = Layout::new(mode, 1 << log2_bpe, pitch * 8, pitch * rows * 64, config);
            (layout.samples, layout.depth_order) = (1 << log2_samples, depth_order);
            // Whole macro tiles.
            let unit = Runs::new(&layout).map_or((3, 3), |runs| (runs.size.0.max(3), runs.size.1.max(3)));
            prop_assume!(unit.0 + unit.1 <= 11);
            let from = (column << unit.0, row << unit.1);
            let size = (width << unit.0, height << unit.1);
            let offsets = |from: (u32, u32)| {
                let mut found = Vec::new();
                for (ty, tx) in (0..size.1).flat_map(|y| (0..size.0).map(move |x| (y, x))) {
                    let tile = layout.tile(from.0 + tx, from.1 + ty, z);
                    found.extend(tile.pieces(0, layout.tile_bytes()));
                }
                found
            };
            let Some(runs) = Runs::new(&layout) else { return Ok(()); };
            let Some(block) = runs.block(from, size, z) else {
                let spread = runs.spread != 0;
                let slice = runs.slice_bytes * u64::from(z) >> runs.spread;
                let share = runs.tile_bytes << (runs.own.0 + runs.own.1);
                prop_assert!(spread && (share | slice) & runs.group != 0 || runs.splits != 1);
                return Ok(());
            };
            let mut covered = 0;
            for (offset, len) in offsets(from) {
                let run = (0..u64::from(block.runs)).find(|run| {
                    let start = block.start + run * block.step;
                    (start..start + block.len).contains(&offset)
                });
                let start = block.start + run.unwrap_or(u64::MAX >> 32) * block.step;
                prop_assert!(run.is_some() && offset + len as u64 <= start + block.len);
                covered += len as u64;
            }
            prop_assert_eq!(covered, u64::from(block.runs) * block.len);
            let (columns, rows) = runs.period();
            let later = (from.0 + columns, from.1 + rows);
            let moved = runs.block(later, size, z).unwrap();
            prop_assert_eq!((moved.len, moved.runs, moved.step), (block.len, block.runs, block.step));
            for ((a, _), (b, _)) in offsets(from).into_iter().zip(offsets(later)) {
                prop_assert_eq!(a - block.start, b - moved.start);
            }
        }

        /// The runs of a unit hold the bytes of its tiles, each once, in an order that depends on the first
        /// one's pipe alone.
        #[test]
        fn units_are_their_tiles(
            config in evergreen::tests::config(), log2_bpe in 0u32..5, log2_samples in 0u32..4,
            pitch in 1u32..200, rows in 1u32..200, depth_order: bool,
            from in (0u32..40, 0u32..40), other in (0u32..40, 0u32..40), z in (0u32..4, 0u32..4),
        ) {
            let mode = ArrayMode::Tiled2dThin1;
            let mut layout = Layout::new(mode, 1 << log2_bpe, pitch * 8, pitch * rows * 64, config);
            (layout.samples, layout.depth_order) = (1 << log2_samples, depth_order);
            let Some(runs) = Runs::new(&layout) else { return Ok(()); };
            let Some(size) = runs.unit_size() else { return Ok(()); };
            let places = |from: (u32, u32), z: u32| {
                let from = (from.0 * size.0, from.1 * size.1);
                let (block, pipe) = runs.unit(from, z)?;
                let mut places = Vec::new();
                for (ty, tx) in (0..size.1).flat_map(|y| (0..size.0).map(move |x| (y, x))) {
                    let tile = layout.tile(from.0 + tx, from.1 + ty, z);
                    places.extend(tile.pieces(0, layout.tile_bytes()).map(|(offset, len)| {
                        let (at, len) = (offset.wrapping_sub(block.start), len as u64);
                        (at / block.step, at % block.step, len)
                    }));
                }
                Some((block, pipe, places))
            };
            let (Some(one), Some(two)) = (places(from, z.0), places(other, z.1)) else { return Ok(()); };
            let mut bytes = 0;
            for (run, at, len) in &one.2 {
                prop_assert!(*run < u64::from(one.0.runs) && at + len <= one.0.len);
                bytes += len;
            }
            prop_assert_eq!(bytes, u64::from(one.0.runs) * one.0.len);
            let shape = |block: &Block| (block.len, block.step, block.runs);
            prop_assert_eq!(shape(&one.0), shape(&two.0));
            prop_assert_eq!(one.1 == two.1, one.2 == two.2);
            prop_assert!(runs.unit((from.0 * size.0 + 1, from.1 * size.1), z.0).is_none() || size.0 == 1);
            prop_assert!(runs.unit((from.0 * size.0, from.1 * size.1 + 1), z.0).is_none() || size.1 == 1);
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
                runs.block((tx, ty), (first, samples), z);
                runs.unit((tx, ty), z);
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
