// SPDX-License-Identifier: MIT
//! Level of detail: gradients of quads, and the footprint of a pixel.
//!
//! Equations: OpenGL 3.3, section 3.8.11; anisotropy as
//! EXT_texture_filter_anisotropic describes it.

use super::address::{Coord, CubePoint};
use super::resource::{Dim, Texture};
use crate::chip::gfx::lanes::{iter, Lanes, Mask, LANES};
use crate::chip::gfx::math;

/// Differences within each quad, right minus left (`direction` 0) or lower minus
/// upper lane (1). `fine`: of the lane's own row or column; otherwise of the first for all four lanes.
pub fn gradients(src: &[&Lanes; 4], direction: usize, fine: bool) -> [Lanes; 4] {
    let step = direction + 1;
    // The bits of a lane's number that do not change along `direction`.
    let kept = if fine { !step } else { !3 };
    src.map(|c| {
        std::array::from_fn(|lane| {
            let first = lane & kept;
            (f32::from_bits(c[first + step]) - f32::from_bits(c[first])).to_bits()
        })
    })
}

/// The footprint of each lane's pixel in a texture.
pub struct Footprint {
    /// Level of detail: log2 of the texels for a pixel along one axis.
    pub lod: Coord,
    /// Lanes that take several samples (anisotropic filtering).
    pub several: Mask,
    /// Number of samples.
    count: [u8; LANES],
    /// The longer axis of the footprint, in the units of the coordinates.
    axis: [Coord; 2],
}

impl Footprint {
    /// A footprint with a given level of detail and one sample.
    pub fn level(lod: &Coord) -> Self {
        Self {
            lod: *lod,
            several: 0,
            count: [1; LANES],
            axis: [[0.0; LANES]; 2],
        }
    }

    /// The footprint by the coordinates in `src`, or by the gradients `given`
    /// (horizontal, then vertical). `normalized` coordinates are in 0..1, others
    /// in texels; at most 2^`log2_aniso` samples are taken.
    pub fn new(
        texture: &Texture,
        normalized: [bool; 4],
        src: &[&Lanes; 4],
        given: Option<&[[Lanes; 4]; 2]>,
        log2_aniso: u32,
    ) -> Self {
        let Some(level) = texture.level(texture.base_level) else {
            return Self::level(&[0.0; LANES]);
        };
        let scale = |i: usize, size: u32| if normalized[i] { size as f32 } else { 1.0 };
        let size = [
            scale(0, level.width),
            if texture.dim.is_1d() {
                0.0
            } else {
                scale(1, level.height)
            },
            if texture.dim == Dim::D3 {
                scale(2, level.depth)
            } else {
                0.0
            },
        ];
        let mut footprint = Self::level(&[0.0; LANES]);
        let most = 1u32 << log2_aniso.min(4);
        for quad in 0..LANES / 4 {
            let crosses = texture.dim == Dim::Cube && crosses_edge(src, quad);
            let mut coords = quad_coordinates(src, quad);
            for lane in quad * 4..quad * 4 + 4 {
                if crosses {
                    coords = face_coordinates(src, lane);
                }
                let delta = |direction: usize, i: usize| match given {
                    Some(given) => f32::from_bits(given[direction][i][lane]),
                    None => coords[direction + 1][i] - coords[0][i],
                };
                let length = |direction: usize| {
                    (0..3).fold(0.0, |sum, i| {
                        // A step along an absent axis does not count, even if infinite.
                        let step = if size[i] == 0.0 {
                            0.0
                        } else {
                            delta(direction, i) * size[i]
                        };
                        sum + step * step
                    })
                };
                let (across, down) = (length(0), length(1));
                let (long, short) = (across.max(down), across.min(down));
                let mut lod = 0.5 * math::log2(long);
                if most > 1 && long > 1.0 {
                    let ratio = (long / short.max(1e-12)).sqrt().min(most as f32);
                    let count = (ratio.ceil() as u32).clamp(1, most);
                    if count > 1 {
                        footprint.several |= 1 << lane;
                        footprint.count[lane] = count as u8;
                        lod -= math::log2(count as f32);
                        let major = usize::from(down > across);
                        for i in 0..2 {
                            footprint.axis[i][lane] = delta(major, i);
                        }
                    }
                }
                footprint.lod[lane] = lod;
                if given.is_none() && !crosses && lane == quad * 4 {
                    // All lanes of the quad have the same gradients.
                    for other in lane + 1..lane + 4 {
                        footprint.copy(lane, other);
                    }
                    break;
                }
            }
        }
        footprint
    }

    fn copy(&mut self, from: usize, to: usize) {
        self.lod[to] = self.lod[from];
        self.count[to] = self.count[from];
        self.several |= (self.several >> from & 1) << to;
        for axis in &mut self.axis {
            axis[to] = axis[from];
        }
    }

    /// Averages the results of `pass` at each lane's samples along its axis.
    pub fn along(
        &self,
        coord: &[Coord; 3],
        mask: Mask,
        out: &mut [Lanes; 4],
        mut pass: impl FnMut(&[Coord; 3], Mask, &mut [Lanes; 4]),
    ) {
        let most = iter(mask).map(|lane| self.count[lane]).max().unwrap_or(1);
        let mut sum = [[0.0f32; LANES]; 4];
        for k in 0..most {
            let mut here = *coord;
            let mut active = 0;
            for lane in iter(mask) {
                if k < self.count[lane] {
                    active |= 1 << lane;
                    let at = (f32::from(k) + 0.5) / f32::from(self.count[lane]) - 0.5;
                    for i in 0..2 {
                        here[i][lane] += self.axis[i][lane] * at;
                    }
                }
            }
            let mut one = [[0; LANES]; 4];
            pass(&here, active, &mut one);
            for lane in iter(active) {
                for c in 0..4 {
                    sum[c][lane] += f32::from_bits(one[c][lane]);
                }
            }
        }
        for lane in iter(mask) {
            for c in 0..4 {
                out[c][lane] = (sum[c][lane] / f32::from(self.count[lane])).to_bits();
            }
        }
    }
}

fn coordinates(src: &[&Lanes; 4], lane: usize) -> [f32; 3] {
    [0, 1, 2].map(|i: usize| f32::from_bits(src[i][lane]))
}

/// Coordinates of the first three lanes of a quad: upper left, upper right, lower left.
fn quad_coordinates(src: &[&Lanes; 4], quad: usize) -> [[f32; 3]; 3] {
    [0, 1, 2].map(|lane| coordinates(src, quad * 4 + lane))
}

/// Whether the lanes of a quad sample several faces of a cube map.
fn crosses_edge(src: &[&Lanes; 4], quad: usize) -> bool {
    (1..4).any(|lane| src[2][quad * 4 + lane] != src[2][quad * 4])
}

/// Coordinates of a lane of a quad that crosses an edge of a cube map, and of its
/// horizontal and vertical neighbour, all projected to the lane's own face: the
/// coordinates of different faces cannot be compared.
fn face_coordinates(src: &[&Lanes; 4], lane: usize) -> [[f32; 3]; 3] {
    let own = coordinates(src, lane);
    [lane, lane ^ 1, lane ^ 2].map(|neighbour| {
        let there = coordinates(src, neighbour);
        if there[2] == own[2] {
            return there;
        }
        // Of an array the coordinate has eight times the cube's number, too, see `cube_slice()`.
        let face = |z: f32| (z.max(0.0) + 0.5) as u32 & 7;
        let point = CubePoint {
            face: face(there[2]),
            s: there[0] - 1.0,
            t: there[1] - 1.0,
        };
        match CubePoint::on_face(point.direction(), face(own[2])) {
            Some(p) => [p.s + 1.0, p.t + 1.0, own[2]],
            None => own,
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_edge_of_a_cube_does_not_change_the_level() {
        // A quad on the plane z = 1, which leaves face +z at its right, in steps of
        // a third of the face: (2/3, 2/3, 1), (4/3, 2/3, 1) and the lower row. The second time
        // it is on the third cube of an array.
        let steps = [(2.0, 2.0), (4.0, 2.0), (2.0, 4.0), (4.0, 4.0)];
        for cube in [0, 2 * 8] {
            let mut src = [[0; LANES]; 4];
            for (lane, (x, y)) in steps.into_iter().enumerate() {
                let point = CubePoint::of([x / 3.0, -y / 3.0, 1.0f32]);
                src[0][lane] = (point.s + 1.0).to_bits();
                src[1][lane] = (point.t + 1.0).to_bits();
                src[2][lane] = ((cube + point.face) as f32).to_bits();
            }
            let src = src.each_ref();
            assert!(crosses_edge(&src, 0));
            let [own, right, below] = face_coordinates(&src, 0);
            for (delta, expected) in [
                (right[0] - own[0], 1.0 / 3.0),
                (right[1] - own[1], 0.0),
                (below[0] - own[0], 0.0),
                (below[1] - own[1], 1.0 / 3.0),
            ] {
                assert!(
                    (delta - expected).abs() < 1e-5,
                    "{cube}: {delta} {expected}"
                );
            }
        }
    }
}
