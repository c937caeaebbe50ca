// SPDX-License-Identifier: MIT
//! Clipping in clip space.
//!
//! Each corner of a clipped polygon has the weights of the original triangle's
//! vertices. Attributes are interpolated from the original vertices by these
//! weights, so clipping does not change them.
//!
//! Planes: near and far (`DX_CLIP_SPACE_DEF`, `ZCLIP_*_DISABLE`), the guard
//! band in x and y, w above 0, and the clip distances or user planes.

use super::state::SetupState;
use crate::chip::regs::fields::r700::pa_cl_clip_cntl;

/// A corner of a polygon in clip space.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Corner {
    /// x, y, z, w.
    pub position: [f64; 4],
    /// Weights of the primitive's vertices; their sum is 1.
    pub weights: [f64; 3],
}

/// Number of clip planes: four of the guard band in x and y, near, far, w, and
/// eight distances.
pub const PLANES: usize = 15;
/// Least w. Divisions by it do not overflow.
const MIN_W: f64 = 1e-30;

/// The clip state, decoded once per draw.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Clipper {
    /// Bit n: plane n is tested.
    planes: u16,
    /// z is visible from 0 to w, else from -w to w.
    half_z: bool,
    guard: [f64; 2],
    /// User planes, used instead of clip distances unless `user_count` is 0.
    user: [[f64; 4]; 6],
    user_count: u8,
}

impl Clipper {
    /// Decodes the clip state.
    pub fn new(state: &SetupState) -> Self {
        let mut planes = 0;
        let cntl = state.clip_cntl;
        let disabled = pa_cl_clip_cntl::CLIP_DISABLE.is_set(cntl);
        let guard = state.guard.map(|g| {
            // Clip at the viewport's edge if the guard band is narrower or not finite.
            let g = f64::from(g);
            if g.is_finite() && g >= 1.0 {
                g
            } else {
                1.0
            }
        });
        if !disabled {
            planes |= 0xF | 1 << 6;
            planes |= u16::from(!pa_cl_clip_cntl::ZCLIP_NEAR_DISABLE.is_set(cntl)) << 4;
            planes |= u16::from(!pa_cl_clip_cntl::ZCLIP_FAR_DISABLE.is_set(cntl)) << 5;
        }
        let distances = state.vs_out_cntl & 0xFF;
        let user = cntl & 0x3F;
        if distances != 0 {
            planes |= (distances as u16) << 7;
        } else {
            planes |= (user as u16) << 7;
        }
        Self {
            planes,
            half_z: pa_cl_clip_cntl::DX_CLIP_SPACE_DEF.is_set(cntl),
            guard,
            user: state.planes.map(|p| p.map(f64::from)),
            user_count: if distances == 0 && user != 0 { 6 } else { 0 },
        }
    }

    /// Signed distance of a position to plane `n`; negative is outside.
    fn distance(&self, n: usize, p: &[f64; 4], clip: &[f32; 8]) -> f64 {
        let [x, y, z, w] = *p;
        match n {
            0 => w * self.guard[0] + x,
            1 => w * self.guard[0] - x,
            2 => w * self.guard[1] + y,
            3 => w * self.guard[1] - y,
            4 if self.half_z => z,
            4 => z + w,
            5 => w - z,
            6 => w - MIN_W,
            _ if self.user_count != 0 => {
                let plane = self.user[(n - 7) % 6];
                plane[0] * x + plane[1] * y + plane[2] * z + plane[3] * w
            }
            _ => f64::from(clip[(n - 7) & 7]),
        }
    }

    /// Planes that a vertex lies outside of. A position that is not finite is
    /// outside of all tested planes and sets bit 15, too.
    pub fn outside(&self, position: &[f32; 4], clip: &[f32; 8]) -> u16 {
        let p = position.map(f64::from);
        if p.iter().any(|c| !c.is_finite()) {
            return self.planes | 1 << 15;
        }
        // Nearly all vertices are inside of everything, and nearly all draws have neither user planes
        // nor distances. Planes that are not tested may send a vertex on.
        if self.planes >> 7 == 0 {
            let [x, y, z, w] = p;
            let near = if self.half_z { z } else { z + w };
            let [a, b] = self.guard.map(|guard| w * guard);
            // False for NaN.
            let inside = [a + x, a - x, b + y, b - y, near, w - z, w - MIN_W];
            if inside.iter().fold(true, |all, d| all & (*d >= 0.0)) {
                return 0;
            }
        }
        (0..PLANES)
            .filter(|&n| self.planes >> n & 1 != 0)
            .filter(|&n| {
                let d = self.distance(n, &p, clip);
                d.is_nan() || d < 0.0
            })
            .fold(0, |mask, n| mask | 1 << n)
    }

    /// Whether the centre of a point is clipped. Instead of the guard band,
    /// `discard` times w limits x and y.
    pub fn drops_point(&self, position: &[f32; 4], clip: &[f32; 8], discard: [f32; 2]) -> bool {
        let outside = self.outside(position, clip);
        if outside & !0xF != 0 {
            return true;
        }
        let w = position[3];
        self.planes & 1 != 0
            && (0..2).any(|k| {
                let limit = if discard[k].is_finite() && discard[k] >= 1.0 {
                    discard[k]
                } else {
                    1.0
                };
                position[k].abs() > w * limit
            })
    }

    /// Clips a polygon or, with two corners, a line against the planes of
    /// `mask`. `clip` holds the clip distances of the original vertices.
    /// `corners` becomes empty if nothing is left.
    pub fn clip(&self, mask: u16, clip: [&[f32; 8]; 3], corners: &mut Vec<Corner>) {
        let mut from = std::mem::take(corners);
        let mut to = Vec::with_capacity(from.len() + PLANES);
        let line = from.len() == 2;
        for n in (0..PLANES).filter(|&n| (mask & self.planes) >> n & 1 != 0) {
            to.clear();
            let count = from.len();
            let distances: Vec<f64> = from.iter().map(|c| self.corner(n, c, clip)).collect();
            let segments = if line { count.min(1) } else { count };
            if line && count == 2 && distances[0] >= 0.0 {
                to.push(from[0]);
            }
            for i in 0..segments {
                let j = (i + 1) % count;
                let (a, b) = (distances[i], distances[j]);
                if !line && a >= 0.0 {
                    to.push(from[i]);
                }
                // A corner on the plane is the crossing itself.
                if (a >= 0.0) != (b >= 0.0) && (line || a.max(b) > 0.0) {
                    // Computed from the inner end: polygons that share the edge
                    // get the same point.
                    let (inner, outer, t) = if a >= 0.0 {
                        (&from[i], &from[j], a / (a - b))
                    } else {
                        (&from[j], &from[i], b / (b - a))
                    };
                    to.push(between(inner, outer, t));
                }
            }
            if line && count == 2 && distances[1] >= 0.0 {
                to.push(from[1]);
            }
            std::mem::swap(&mut from, &mut to);
            if from.len() < if line { 2 } else { 3 } {
                from.clear();
                break;
            }
        }
        *corners = from;
    }

    fn corner(&self, n: usize, corner: &Corner, clip: [&[f32; 8]; 3]) -> f64 {
        if n < 7 || self.user_count != 0 {
            return self.distance(n, &corner.position, clip[0]);
        }
        (0..3)
            .map(|i| corner.weights[i] * f64::from(clip[i][(n - 7) & 7]))
            .sum()
    }
}

fn between(a: &Corner, b: &Corner, t: f64) -> Corner {
    let mix = |a: f64, b: f64| a + (b - a) * t;
    Corner {
        position: std::array::from_fn(|i| mix(a.position[i], b.position[i])),
        weights: std::array::from_fn(|i| mix(a.weights[i], b.weights[i])),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clipper(clip_cntl: u32, vs_out_cntl: u32) -> Clipper {
        Clipper::new(&SetupState {
            clip_cntl,
            vs_out_cntl,
            guard: [8.0, 8.0],
            ..SetupState::default()
        })
    }

    fn corners(v: [[f64; 4]; 3]) -> Vec<Corner> {
        let one = |i: usize| std::array::from_fn(|j| f64::from(u8::from(i == j)));
        (0..3)
            .map(|i| Corner {
                position: v[i],
                weights: one(i),
            })
            .collect()
    }

    const NONE: [f32; 8] = [0.0; 8];

    #[test]
    fn vertex_inside_is_outside_of_nothing() {
        let c = clipper(0, 0);
        assert_eq!(c.outside(&[0.5, -0.5, 0.0, 1.0], &NONE), 0);
        assert_eq!(c.outside(&[7.0, -0.5, 0.0, 1.0], &NONE), 0, "guard band");
        assert_eq!(c.outside(&[9.0, 0.0, -2.0, 1.0], &NONE), 1 << 1 | 1 << 4);
        assert_eq!(c.outside(&[0.0, 0.0, 0.0, -1.0], &NONE) & 1 << 6, 1 << 6);
        assert_ne!(c.outside(&[f32::NAN, 0.0, 0.0, 1.0], &NONE), 0);
    }

    #[test]
    fn near_plane_cuts_triangle_into_quadrilateral() {
        let c = clipper(0, 0);
        let mut poly = corners([
            [0.0, 0.0, -3.0, 1.0],
            [1.0, 0.0, 0.0, 1.0],
            [0.0, 1.0, 0.0, 1.0],
        ]);
        c.clip(1 << 4, [&NONE; 3], &mut poly);
        assert_eq!(poly.len(), 4);
        for corner in &poly {
            assert!(corner.position[2] + corner.position[3] >= -1e-12);
            assert!((corner.weights.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        }
        // A third of the way from z = 0 towards z = -3 lies on z = -w.
        assert!(poly
            .iter()
            .any(|p| (p.weights[0] - 1.0 / 3.0).abs() < 1e-12));
    }

    #[test]
    fn clip_distance_and_user_plane_agree() {
        let v = [
            [-1.0, 0.0, 0.0, 1.0],
            [1.0, 0.0, 0.0, 1.0],
            [0.0, 1.0, 0.0, 1.0],
        ];
        let by_distance = clipper(0, 1);
        let d = |x: f32| [x, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0];
        let (a, b, z) = (d(-1.0), d(1.0), d(0.0));
        let mut p = corners(v);
        by_distance.clip(1 << 7, [&a, &b, &z], &mut p);
        let mut state = SetupState {
            clip_cntl: 1,
            guard: [8.0, 8.0],
            ..SetupState::default()
        };
        state.planes[0] = [1.0, 0.0, 0.0, 0.0];
        let by_plane = Clipper::new(&state);
        let mut q = corners(v);
        by_plane.clip(1 << 7, [&NONE; 3], &mut q);
        assert_eq!(p, q);
        assert_eq!(p.len(), 3);
    }

    #[test]
    fn line_keeps_its_direction_and_may_vanish() {
        let c = clipper(0, 0);
        let ends = |z0: f64, z1: f64| {
            corners([[0.0, 0.0, z0, 1.0], [1.0, 0.0, z1, 1.0], [0.0; 4]])[..2].to_vec()
        };
        let mut line = ends(-2.0, 0.0);
        c.clip(1 << 4, [&NONE; 3], &mut line);
        assert_eq!(line.len(), 2);
        assert_eq!(line[0].weights[0], 0.5);
        assert_eq!(line[1].weights[1], 1.0);
        let mut line = ends(-2.0, -3.0);
        c.clip(1 << 4, [&NONE; 3], &mut line);
        assert!(line.is_empty());
    }

    #[test]
    fn disabled_planes_are_not_tested() {
        let c = clipper(1 << 16, 0);
        assert_eq!(c.outside(&[99.0, 0.0, 9.0, 1.0], &NONE), 0);
        let c = clipper(3 << 26, 0);
        assert_eq!(c.outside(&[0.0, 0.0, 9.0, 1.0], &NONE), 0);
    }

    #[test]
    fn point_is_dropped_by_its_centre() {
        let c = clipper(0, 0);
        assert!(!c.drops_point(&[1.0, 0.0, 0.0, 1.0], &NONE, [1.0; 2]));
        assert!(c.drops_point(&[1.1, 0.0, 0.0, 1.0], &NONE, [1.0; 2]));
        assert!(!c.drops_point(&[1.1, 0.0, 0.0, 1.0], &NONE, [1.5; 2]));
        assert!(c.drops_point(&[0.0, 0.0, 2.0, 1.0], &NONE, [9.0; 2]));
    }
}
