// SPDX-License-Identifier: MIT
//! Lanes that clip rectangles and the stipple of lines leave.

use super::super::interpolate::lane_offsets;
use super::super::lanes::{Mask, LANES};
use super::super::raster::lanes_within;
use super::super::setup::Stipple;
use super::super::state::Rect;

/// Lanes that a clip rectangle rule accepts. The number of a pixel's bit in the
/// rule has bit i set if the pixel lies in rectangle i.
pub(super) fn cliprect_lanes(rule: u16, rects: &[Rect; 4], x: i32, y: i32) -> Mask {
    let inside = rects.map(|r| lanes_within(r, x, y));
    let mut mask = 0;
    for lane in 0..LANES {
        let n = (0..4).fold(0, |n, i| n | (inside[i] >> lane & 1) << i);
        mask |= u64::from(rule >> n & 1) << lane;
    }
    mask
}

/// Lanes that the stipple pattern of a line draws.
pub(super) fn stipple_lanes(s: &Stipple, x: i32, y: i32) -> Mask {
    let (dx, dy) = lane_offsets();
    let mut mask = 0;
    for lane in 0..LANES {
        let at = if s.axis == 0 {
            x as f32 + dx[lane]
        } else {
            y as f32 + dy[lane]
        };
        let along = ((at + 0.5 - s.start) * s.sign).max(0.0) + s.phase;
        let index = (along as u64 / u64::from(s.repeat)) % 16;
        mask |= u64::from(s.pattern >> index & 1) << lane;
    }
    mask
}
