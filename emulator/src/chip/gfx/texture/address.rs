// SPDX-License-Identifier: MIT
//! Converts texture coordinates to texels: wrap modes, fixed point, faces of
//! cube maps.
//!
//! Coordinates become fixed point with 8 fraction bits of a texel, rounded to
//! nearest (`MC_COORD_TRUNCATE` off). Filter weights have the same precision,
//! and point sampling at a texel's edge does not depend on the last bit of a
//! coordinate.

use super::sampler::Wrap;
use crate::chip::gfx::lanes::{Mask, LANES};

/// One coordinate of 64 lanes.
pub type Coord = [f32; LANES];
/// One texel number of 64 lanes.
pub type Index = [i32; LANES];

/// Positions of each lane's texels along one axis.
#[derive(Debug, Clone)]
pub struct Axis {
    /// First texel; the only one of point sampling.
    pub first: Index,
    /// Second texel of linear filtering.
    pub second: Index,
    /// Weight of the second, 0 to 255 / 256.
    pub weight: Coord,
    /// Lanes whose first or second texel is the border.
    pub border: [Mask; 2],
}

impl Axis {
    /// An axis of one texel.
    pub fn flat() -> Self {
        Self {
            first: [0; LANES],
            second: [0; LANES],
            weight: [0.0; LANES],
            border: [0; 2],
        }
    }
}

/// Most texels along an axis: Evergreen's. R7xx's have 8192.
pub const MOST_TEXELS: u32 = 16384;
/// Most texels of an axis for which [`round`] does, also where it is mirrored.
const MOST_OF_SMALL: u32 = 8192;
/// The range in which a larger one is rounded.
const WIDE: f32 = 16_777_216.0;
/// Largest magnitude that [`round`] passes to [`small_round`].
const LIMIT: f32 = 4_194_303.0;

/// `value` clamped to `-LIMIT..=LIMIT`, rounded to the nearest integer, ties to even.
#[inline(always)]
fn round(value: f32) -> i32 {
    small_round(value.max(-LIMIT).min(LIMIT))
}

/// `value`, whose magnitude must be below 2^22, rounded to the nearest integer, ties to even.
/// Adding 1.5 * 2^23 leaves the integer in the mantissa's low bits.
#[inline(always)]
pub fn small_round(value: f32) -> i32 {
    ((value + 12_582_912.0).to_bits() as i32).wrapping_sub(0x4B40_0000)
}

/// `value` minus its floor. Does not call `floor`, which is a function call on
/// baseline x86-64. Magnitudes from 2^22 on and NaN give 0.
#[inline(always)]
fn fraction(value: f32) -> f32 {
    // Rounds to an integer, as in [`round`].
    let whole = (value + 12_582_912.0) - 12_582_912.0;
    let rest = value - whole;
    let rest = if rest < 0.0 { rest + 1.0 } else { rest };
    if value.abs() < 4_194_304.0 && rest < 1.0 {
        rest
    } else {
        0.0
    }
}

/// Finds the texels along an axis of `size` texels. `coord` returns the coordinate of a lane.
/// `normalized`: 0..1 is the whole axis, else coordinates are in texels.
/// `offset` is in half texels.
#[inline(always)]
pub fn axis(
    wrap: Wrap,
    size: u32,
    coord: impl Fn(usize) -> f32,
    normalized: bool,
    offset: i32,
    linear: bool,
    out: &mut Axis,
) {
    if size > MOST_OF_SMALL {
        let round = |value: f32| value.clamp(-WIDE, WIDE).round_ties_even() as i32;
        axis_by(round, wrap, size, coord, normalized, offset, linear, out);
    } else {
        axis_by(round, wrap, size, coord, normalized, offset, linear, out);
    }
}

/// [`axis`] with a function that rounds texels * 256, in twice the range of the axis.
#[allow(clippy::too_many_arguments)]
#[inline(always)]
fn axis_by(
    round: impl Fn(f32) -> i32,
    wrap: Wrap,
    size: u32,
    coord: impl Fn(usize) -> f32,
    normalized: bool,
    offset: i32,
    linear: bool,
    out: &mut Axis,
) {
    let size = size.clamp(1, MOST_TEXELS) as i32;
    let n = size as f32;
    let scale = if normalized { n } else { 1.0 };
    let to_unit = 1.0 / n;
    let shift = offset as f32 * 0.5;
    let clamp = |i: i32| i.max(0).min(size - 1);
    let unit = |s: f32| if normalized { s } else { s * to_unit };
    let moved = |s: f32| s * scale + shift;
    let step = i32::from(linear);
    out.border = [0; 2];
    match wrap {
        Wrap::Wrap => {
            let fixed = |s| round((fraction(unit(s)) * n + shift) * 256.0);
            // One addition or subtraction is enough unless the offset is too large.
            if offset.unsigned_abs() as i32 / 2 < size {
                texels(coord, step, out, fixed, |i| {
                    let low = if i < 0 { i + size } else { i };
                    if low >= size {
                        low - size
                    } else {
                        low
                    }
                });
            } else {
                texels(coord, step, out, fixed, |i| i.rem_euclid(size));
            }
        }
        Wrap::Mirror => {
            let fixed = |s| round((fraction(unit(s) * 0.5) * 2.0 * n + shift) * 256.0);
            texels(coord, step, out, fixed, |i| {
                let turned = i.rem_euclid(2 * size);
                turned.min(2 * size - 1 - turned)
            });
        }
        Wrap::ClampLastTexel => {
            texels(coord, step, out, |s| round(moved(s) * 256.0), clamp);
        }
        Wrap::MirrorOnceLastTexel => {
            let fixed = |s| round(moved(s).abs() * 256.0);
            texels(coord, step, out, fixed, |i| {
                clamp(if i < 0 { -1 - i } else { i })
            });
        }
        Wrap::ClampBorder => {
            texels(coord, step, out, |s| round(moved(s) * 256.0), |i| i);
            borders(out, size);
        }
        Wrap::MirrorOnceBorder => {
            texels(coord, step, out, |s| round(moved(s).abs() * 256.0), |i| i);
            borders(out, size);
        }
        Wrap::ClampHalfBorder | Wrap::MirrorOnceHalfBorder => {
            let mirror = wrap == Wrap::MirrorOnceHalfBorder;
            let fixed = |s| {
                let u = moved(s);
                let u = if mirror { u.abs() } else { u.max(0.0) };
                round(u.min(n) * 256.0)
            };
            if linear {
                texels(coord, step, out, fixed, |i| i);
                borders(out, size);
            } else {
                texels(coord, step, out, fixed, clamp);
            }
        }
    }
}

/// Finds first and second texels and their weights in one pass. `fixed` converts a coordinate to
/// 1/256 texels, `turn` wraps a texel's number into the texture. `step` is 1 for bilinear
/// filtering, else 0.
#[inline(always)]
fn texels(
    coord: impl Fn(usize) -> f32,
    step: i32,
    out: &mut Axis,
    fixed: impl Fn(f32) -> i32,
    turn: impl Fn(i32) -> i32,
) {
    let (half, fraction) = (128 * step, 0xFF * step);
    for lane in 0..LANES {
        let t = fixed(coord(lane)) - half;
        out.first[lane] = turn(t >> 8);
        out.second[lane] = turn((t >> 8) + step);
        out.weight[lane] = (t & fraction) as f32 * (1.0 / 256.0);
    }
}

/// Marks texels that are outside as border, and clamps them.
#[inline(always)]
fn borders(out: &mut Axis, size: i32) {
    out.border = [outside(&out.first, size), outside(&out.second, size)];
    each(out, |i| i.max(0).min(size - 1));
}

/// Changes all texel numbers. One loop for each array: the compiler does not vectorise a chained
/// iterator.
#[inline(always)]
fn each(axis: &mut Axis, change: impl Fn(i32) -> i32) {
    for i in &mut axis.first {
        *i = change(*i);
    }
    for i in &mut axis.second {
        *i = change(*i);
    }
}

#[inline(always)]
fn outside(index: &Index, size: i32) -> Mask {
    let mut mask = 0;
    for (lane, &i) in index.iter().enumerate() {
        mask |= u64::from(i < 0 || i >= size) << lane;
    }
    mask
}

/// A point on the faces of a cube: face 0 to 5 (+x -x +y -y +z -z) and the
/// position on it, both coordinates in 0..1 (OpenGL 3.3, table 3.21).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CubePoint {
    /// Face.
    pub face: u32,
    /// Across.
    pub s: f32,
    /// Down.
    pub t: f32,
}

impl CubePoint {
    /// The direction of the point. The magnitude of its largest component is 1
    /// if the position is on the face.
    pub fn direction(self) -> [f32; 3] {
        let (s, t) = (self.s * 2.0 - 1.0, self.t * 2.0 - 1.0);
        match self.face {
            0 => [1.0, -t, -s],
            1 => [-1.0, -t, s],
            2 => [s, 1.0, t],
            3 => [s, -1.0, -t],
            4 => [s, -t, 1.0],
            _ => [-s, -t, -1.0],
        }
    }

    /// The point at which a direction hits the plane of `face`; none if it points away from it.
    pub fn on_face([x, y, z]: [f32; 3], face: u32) -> Option<Self> {
        let (major, s, t) = match face {
            0 => (x, -z, -y),
            1 => (-x, z, -y),
            2 => (y, x, z),
            3 => (-y, x, -z),
            4 => (z, x, -y),
            _ => (-z, -x, -y),
        };
        (major > 1e-6).then(|| Self {
            face,
            s: (s / major + 1.0) * 0.5,
            t: (t / major + 1.0) * 0.5,
        })
    }

    /// The point at which a direction hits the cube.
    pub fn of(direction: [f32; 3]) -> Self {
        let [x, y, z] = direction;
        let (ax, ay, az) = (x.abs(), y.abs(), z.abs());
        let face = if az >= ax && az >= ay {
            if z < 0.0 {
                5
            } else {
                4
            }
        } else if ay >= ax {
            if y < 0.0 {
                3
            } else {
                2
            }
        } else if x < 0.0 {
            1
        } else {
            0
        };
        Self::on_face(direction, face).unwrap_or(Self {
            face: 4,
            s: 0.5,
            t: 0.5,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn one(
        wrap: Wrap,
        size: u32,
        u: f32,
        normalized: bool,
        offset: i32,
        linear: bool,
    ) -> (i32, i32, f32, bool, bool) {
        let mut out = Axis::flat();
        axis(wrap, size, |_| u, normalized, offset, linear, &mut out);
        let border = |i: usize| out.border[i] & 1 == 1;
        (
            out.first[0],
            out.second[0],
            out.weight[0],
            border(0),
            border(1),
        )
    }

    #[test]
    fn point_sampling_takes_the_texel_around_the_coordinate() {
        for i in 0..8 {
            let u = (i as f32 + 0.5) / 8.0;
            assert_eq!(one(Wrap::Wrap, 8, u, true, 0, false).0, i);
            assert_eq!(one(Wrap::ClampLastTexel, 8, u * 8.0, false, 0, false).0, i);
        }
    }

    #[test]
    fn linear_filtering_weighs_the_neighbour() {
        assert_eq!(
            one(Wrap::Wrap, 8, 0.5, true, 0, true),
            (3, 4, 0.5, false, false)
        );
        assert_eq!(
            one(Wrap::Wrap, 8, 0.0, true, 0, true),
            (7, 0, 0.5, false, false)
        );
        assert_eq!(
            one(Wrap::Wrap, 8, 1.0 / 16.0, true, 0, true),
            (0, 1, 0.0, false, false)
        );
    }

    #[test]
    fn wrap_modes_at_the_edges() {
        // OpenGL 3.3, section 3.8.8 and EXT_texture_mirror_clamp.
        let first = |wrap, u| one(wrap, 4, u, true, 0, false).0;
        assert_eq!(first(Wrap::Wrap, -0.1), 3);
        assert_eq!(first(Wrap::Mirror, -0.1), 0);
        assert_eq!(first(Wrap::Mirror, 1.1), 3);
        assert_eq!(first(Wrap::Mirror, 1.9), 0);
        assert_eq!(first(Wrap::ClampLastTexel, -3.0), 0);
        assert_eq!(first(Wrap::ClampLastTexel, 3.0), 3);
        assert_eq!(first(Wrap::MirrorOnceLastTexel, -0.3), 1);
        assert_eq!(first(Wrap::MirrorOnceLastTexel, -3.0), 3);
        // GL_CLAMP never reaches the border with point sampling.
        assert_eq!(
            one(Wrap::ClampHalfBorder, 4, 2.0, true, 0, false),
            (3, 3, 0.0, false, false)
        );
        let half = one(Wrap::ClampHalfBorder, 4, 2.0, true, 0, true);
        assert_eq!((half.2, half.3, half.4), (0.5, false, true));
        let border = one(Wrap::ClampBorder, 4, -0.01, true, 0, false);
        assert!(border.3);
        assert!(!one(Wrap::ClampBorder, 4, 0.01, true, 0, false).3);
        assert!(one(Wrap::MirrorOnceBorder, 4, -1.1, true, 0, false).3);
    }

    #[test]
    fn axes_have_up_to_16384_texels() {
        for (wrap, u, texel) in [
            (Wrap::ClampLastTexel, 0.75, 12288),
            (Wrap::ClampLastTexel, 2.0, 16383),
            (Wrap::Wrap, 1.75, 12288),
            (Wrap::Mirror, 1.25, 12287),
            (Wrap::Mirror, -0.9375, 15359),
        ] {
            assert_eq!(one(wrap, 16384, u, true, 0, false).0, texel, "{u}");
        }
        assert!(one(Wrap::ClampBorder, 16384, 1.0001, true, 0, false).3);
        assert!(!one(Wrap::ClampBorder, 16384, 0.9999, true, 0, false).3);
    }

    #[test]
    fn offsets_are_half_texels_and_wrap() {
        assert_eq!(one(Wrap::Wrap, 4, 0.125, true, -2, false).0, 3);
        assert_eq!(one(Wrap::Wrap, 1, 0.5, true, 14, false).0, 0);
        assert_eq!(one(Wrap::ClampLastTexel, 8, 0.0625, true, 6, false).0, 3);
    }

    #[test]
    fn cube_faces_are_those_of_opengl() {
        let point = CubePoint::of([1.0, 0.0, 0.0]);
        assert_eq!((point.face, point.s, point.t), (0, 0.5, 0.5));
        // On +x, s grows with -z and t with -y.
        let point = CubePoint::of([1.0, -0.5, 0.5]);
        assert_eq!((point.face, point.s, point.t), (0, 0.25, 0.75));
        let point = CubePoint::of([0.2, 0.1, -1.0]);
        assert_eq!(point.face, 5);
        assert!((point.s - 0.4).abs() < 1e-6);
    }

    proptest! {
        #[test]
        fn any_coordinate_stays_inside(
            wrap in 0u32..8, size in 1u32..=16384, bits: u32, normalized: bool,
            offset in -16i32..16, linear: bool,
        ) {
            let u = f32::from_bits(bits);
            let (a, b, w, _, _) = one(Wrap::from_field(wrap), size, u, normalized, offset, linear);
            prop_assert!((0..size as i32).contains(&a), "{a}");
            prop_assert!((0..size as i32).contains(&b), "{b}");
            prop_assert!((0.0..1.0).contains(&w));
        }

        #[test]
        fn cube_points_and_directions_agree(face in 0u32..6, s in 0.01f32..0.99, t in 0.01f32..0.99) {
            let point = CubePoint { face, s, t };
            let back = CubePoint::of(point.direction());
            prop_assert_eq!(back.face, face);
            prop_assert!((back.s - s).abs() < 1e-5 && (back.t - t).abs() < 1e-5);
        }
    }
}
