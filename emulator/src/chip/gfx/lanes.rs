// SPDX-License-Identifier: MIT
//! The 64 lanes of a wavefront.
//!
//! Every value that a shader sees is 32 raw bits; floats are kept as their
//! bits. A pixel wave covers one 8x8 micro tile in quad order: lanes 4q to
//! 4q + 3 are the 2x2 quad q, quads go row by row, four a row.

/// Lanes of a wavefront on RV710's and RV770's shader engines.
pub const LANES: usize = 64;

/// Its quads.
pub const QUADS: usize = LANES / 4;

/// One component of a register: the raw bits of each lane.
pub type Lanes = [u32; LANES];

/// A set of lanes; bit i stands for lane i.
pub type Mask = u64;

/// The mask with all lanes.
pub const ALL: Mask = Mask::MAX;

/// The mask with the first `count` lanes (at most 64).
pub const fn first(count: usize) -> Mask {
    if count >= LANES {
        ALL
    } else {
        (1 << count) - 1
    }
}

/// All ones in the lanes of `mask`, 0 in the others.
#[inline(always)]
pub fn expand(mask: Mask) -> Lanes {
    let mut lanes = [0; LANES];
    for (half, lanes) in lanes.chunks_exact_mut(32).enumerate() {
        let word = (mask >> (32 * half)) as u32;
        for (i, lane) in lanes.iter_mut().enumerate() {
            // A comparison: shifts that differ from lane to lane need AVX2.
            *lane = u32::from(word & 1 << i != 0).wrapping_neg();
        }
    }
    lanes
}

/// Copies to `to` the bits of `from` that are set in `bits`, such as the lanes of [`expand`].
#[inline(always)]
pub fn select(to: &mut Lanes, from: &Lanes, bits: &Lanes) {
    for lane in 0..LANES {
        to[lane] = to[lane] & !bits[lane] | from[lane] & bits[lane];
    }
}

/// Lanes that one step of a loop over lanes handles, where values stay in registers from one
/// operation to the next: two quads.
pub const CHUNK: usize = 8;

/// The chunks that have a lane of `mask`: small triangles cover few of them.
#[inline(always)]
pub fn chunks(mask: Mask) -> impl Iterator<Item = usize> {
    (0..LANES / CHUNK).filter(move |at| mask >> (CHUNK * at) & ((1 << CHUNK) - 1) != 0)
}

/// Lanes of `mask`, in ascending order.
pub fn iter(mut mask: Mask) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        if mask == 0 {
            return None;
        }
        let lane = mask.trailing_zeros() as usize;
        mask &= mask - 1;
        Some(lane)
    })
}

/// True if a lane, as a float, is a denormal. Inlined, so that it uses the caller's vector width.
#[inline(always)]
pub fn has_denormals(row: &Lanes) -> bool {
    let mut least = u32::MAX;
    for bits in row {
        // Without the sign: denormals are 1 to 0xfffffe, and zero wraps to the largest number.
        least = least.min((bits << 1).wrapping_sub(1));
    }
    least < 0x00ff_ffff
}

/// All lanes of each quad that has a lane in `mask`: derivatives need whole
/// quads.
pub const fn whole_quads(mask: Mask) -> Mask {
    const LOW: u64 = 0x1111_1111_1111_1111;
    let any = (mask | mask >> 1 | mask >> 2 | mask >> 3) & LOW;
    any * 15
}

/// The numbers of the quads that have a lane in `mask`, in ascending order.
pub fn quads(mask: Mask) -> impl Iterator<Item = usize> + Clone {
    (0..QUADS).filter(move |quad| mask >> (4 * quad) & 0xF != 0)
}

/// Copies quad `from` of `row` to quad `to` of `out`.
#[inline(always)]
pub fn move_quad(row: &Lanes, from: usize, out: &mut Lanes, to: usize) {
    out[4 * to..4 * to + 4].copy_from_slice(&row[4 * from..4 * from + 4]);
}

/// The lane of pixel (`x`, `y`) of an 8x8 tile.
pub const fn lane_of(x: usize, y: usize) -> usize {
    let quad = (y / 2 % 4) * 4 + x / 2 % 4;
    quad * 4 + (y & 1) * 2 + (x & 1)
}

/// The pixel of an 8x8 tile that lane `lane` stands for, as (x, y).
pub const fn pixel_of(lane: usize) -> (usize, usize) {
    let (quad, i) = (lane / 4 % 16, lane % 4);
    ((quad % 4) * 2 + (i & 1), (quad / 4) * 2 + (i >> 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quad_order_is_a_bijection() {
        let mut seen = 0u64;
        for lane in 0..LANES {
            let (x, y) = pixel_of(lane);
            assert!(x < 8 && y < 8);
            assert_eq!(lane_of(x, y), lane);
            seen |= 1 << (y * 8 + x);
        }
        assert_eq!(seen, ALL);
        assert_eq!(pixel_of(5), (3, 0));
        assert_eq!(pixel_of(18), (0, 3));
    }

    #[test]
    fn expanded_masks_have_their_lanes() {
        let lanes = expand(0x8000_0001_4000_0002);
        for lane in 0..LANES {
            let on = [1, 30, 32, 63].contains(&lane);
            assert_eq!(lanes[lane], if on { u32::MAX } else { 0 });
        }
    }

    #[test]
    fn chunks_are_those_with_a_lane() {
        let found = |mask| chunks(mask).collect::<Vec<_>>();
        assert!(found(0).is_empty());
        assert_eq!(found(1 << 7 | 1 << 8 | 1 << 63), [0, 1, 7]);
        assert_eq!(found(ALL).len(), LANES / CHUNK);
    }

    #[test]
    fn selected_bits_are_copied() {
        let mut to = [0x1234_5678; LANES];
        let mut bits = expand(1 << 5);
        bits[6] = 0xFF00;
        select(&mut to, &[0xAAAA_AAAA; LANES], &bits);
        for lane in 0..LANES {
            let expected = match lane {
                5 => 0xAAAA_AAAA,
                6 => 0x1234_AA78,
                _ => 0x1234_5678,
            };
            assert_eq!(to[lane], expected);
        }
    }

    #[test]
    fn denormals_are_seen_in_any_lane() {
        let denormals = [1, 0x007F_FFFF, 0x8000_0001, 0x807F_FFFF];
        let others = [
            0,
            0x8000_0000,
            0x0080_0000,
            0x8080_0000,
            0x7F80_0000,
            0xFFC0_0000,
        ];
        for lane in 0..LANES {
            for (value, is) in denormals
                .map(|v| (v, true))
                .into_iter()
                .chain(others.map(|v| (v, false)))
            {
                let mut row = [0x3F80_0000; LANES];
                row[lane] = value;
                assert_eq!(has_denormals(&row), is, "{value:#x}");
            }
        }
    }

    #[test]
    fn quads_are_completed() {
        assert_eq!(whole_quads(0), 0);
        assert_eq!(whole_quads(1 << 5), 0xf0);
        assert_eq!(whole_quads(0x8000_0000_0000_0001), 0xf000_0000_0000_000f);
        assert_eq!(whole_quads(ALL), ALL);
    }

    #[test]
    fn lanes_are_listed_in_order() {
        assert_eq!(
            iter(0x8000_0000_0000_0015).collect::<Vec<_>>(),
            [0, 2, 4, 63]
        );
        assert_eq!(first(64), ALL);
        assert_eq!(first(3), 7);
    }
}
