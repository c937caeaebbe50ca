// SPDX-License-Identifier: MIT
//! Pictures scaled to half their size: the pixels of a tile have 2x2 texels each, all with the same
//! weights, and those of the tile are four blocks. They are filtered from the bytes in memory's
//! order. The cache and the patch, which serve texels that pixels share, would copy each of them
//! twice for a single use.

use pulp::{bytemuck, Simd, WithSimd};

use super::super::address::Index;
use super::super::cache::BLOCK_BYTES;
use super::filter::{components, linear, swizzled, Chunk};
use crate::chip::gfx::lanes::{pixel_of, Lanes, CHUNK, LANES};
use crate::chip::tiling::WORD_GROUPS;

/// Two texels in fixed point with 8 fraction bits.
const STEP: i32 = 2 << 8;

/// Distance of each lane's texels from the first lane's.
static DISTANCES: [Index; 2] = distances();

const fn distances() -> [Index; 2] {
    let mut distances = [[0; LANES]; 2];
    let mut lane = 0;
    while lane < LANES {
        let (x, y) = pixel_of(lane);
        distances[0][lane] = STEP * x as i32;
        distances[1][lane] = STEP * y as i32;
        lane += 1;
    }
    distances
}

/// Whether the texels at `places`, which are inside the texture, are those of four whole blocks, two
/// texels from pixel to pixel.
#[inline(always)]
pub(super) fn is_halved([x, y]: &[Index; 2]) -> bool {
    let (left, top) = (x[0], y[0]);
    // Most fetches end here: the last lane, and the first texel of a block.
    let last = [x[LANES - 1] - left, y[LANES - 1] - top];
    if last != [7 * STEP; 2] || (left | top) >> 8 & 7 != 0 {
        return false;
    }
    let mut differs = 0;
    for lane in 0..LANES {
        differs |= (x[lane] - left) ^ DISTANCES[0][lane];
        differs |= (y[lane] - top) ^ DISTANCES[1][lane];
    }
    differs == 0
}

/// Bilinear filter over four blocks of which each pixel has 2x2 texels. It computes what
/// [`Bilinear`](super::filter::Bilinear) would.
pub(super) struct Halve<'a> {
    /// The blocks' bytes in the order of displayable surfaces of 32 bits.
    pub(super) blocks: &'a [[u8; BLOCK_BYTES]; 4],
    /// Weights of the second column and row, in 1/256.
    pub(super) weights: [u32; 2],
    pub(super) swizzle: &'a [u8; 4],
    pub(super) out: &'a mut [Lanes; 4],
}

impl WithSimd for Halve<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _simd: S) {
        let to = components(self.swizzle);
        let weights = self.weights.map(|weight| [weight; CHUNK]);
        for chunk in 0..LANES / CHUNK {
            let corners = corners(self.blocks, chunk);
            linear(&corners, &weights, &to, CHUNK * chunk, self.out);
        }
        swizzled(self.swizzle, &to, self.out);
    }
}

/// Words of half a block, its upper or its lower four rows.
const HALF: usize = BLOCK_BYTES / 8;

const _: () = {
    let mut i = 0;
    while i < 8 {
        // Both halves have the same order.
        assert!(WORD_GROUPS[i] < 8 && WORD_GROUPS[i + 8] == WORD_GROUPS[i] + 8);
        i += 1;
    }
};

/// The texels of the chunk of lanes: top left, top right, bottom left, bottom right. A chunk is two
/// rows of four pixels, and thus half a block.
#[inline(always)]
fn corners(blocks: &[[u8; BLOCK_BYTES]; 4], chunk: usize) -> [Chunk; 4] {
    let block = &blocks[chunk / 4 * 2 + chunk % 2];
    let half = chunk / 2 % 2 * 4 * HALF;
    let mut bytes = [0; 4 * HALF];
    bytes.copy_from_slice(&block[half..half + 4 * HALF]);
    let words: [u32; HALF] = bytemuck::cast(bytes);
    let mut corners = [[0; CHUNK]; 4];
    for lane in 0..CHUNK {
        // Pixels 2 and 3 of a row are the second quad, whose texels are in a row's second group.
        let (group, row, x) = (lane / 4, lane / 2 % 2, lane % 2);
        for below in 0..2 {
            let at = 4 * WORD_GROUPS[2 * (2 * row + below) + group] + 2 * x;
            corners[2 * below][lane] = u32::from_le(words[at]);
            corners[2 * below + 1][lane] = u32::from_le(words[at + 1]);
        }
    }
    corners
}
