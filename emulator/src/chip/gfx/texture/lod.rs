// SPDX-License-Identifier: MIT
//! Level of detail: gradients of quads, and the footprint of a pixel.
//!
//! Equations: OpenGL 3.3, section 3.8.11; anisotropy as
//! EXT_texture_filter_anisotropic describes it.

use super::address::{Coord, CubePoint};
use super::resource::{Dim, Texture};
use crate::chip::gfx::lanes::{iter, Lanes, Mask, LANES};

/// Differences across each quad, right less left (`direction` 0) or bottom
/// less top (1), for all four lanes alike.
pub fn gradients(src: &[Lanes; 4], direction: usize) -> [Lanes; 4] {
    let step = direction + 1;
    src.map(|c| {
        std::array::from_fn(|lane| {
            let first = lane & !3;
            (f32::from_bits(c[first + step]) - f32::from_bits(c[first])).to_bits()
        })
    })
}

/// What one pixel covers in a texture.
pub struct Footprint {
    /// log2 of texels for each pixel.
    pub lod: Coord,
    /// Lanes that take several samples.
    pub several: Mask,
    /// Number of samples.
    count: [u8; LANES],
    /// The longer axis, in the units of the coordinates.
    axis: [Coord; 2],
}

impl Footprint {
    /// A given level of detail.
    pub fn level(lod: &Coord) -> Self {
        Self {
            lod: *lod,
            several: 0,
            count: [1; LANES],
            axis: [[0.0; LANES]; 2],
        }
    }

    /// From the coordinates in `src`, or the gradients `given` (horizontal, then
    /// vertical). `normalized` tells coordinates of 0..1 from texels;
    /// `log2_aniso` limits the samples.
    pub fn new(
        texture: &Texture,
        normalized: [bool; 4],
        src: &[Lanes; 4],
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
            let coords = quad_coordinates(texture.dim, src, quad);
            for lane in quad * 4..quad * 4 + 4 {
                let delta = |direction: usize, i: usize| match given {
                    Some(given) => f32::from_bits(given[direction][i][lane]),
                    None => coords[direction + 1][i] - coords[0][i],
                };
                let length = |direction: usize| {
                    (0..3).fold(0.0, |sum, i| {
                        // Infinite steps along axes without size do not count.
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
                let mut lod = 0.5 * long.log2();
                if most > 1 && long > 1.0 {
                    let ratio = (long / short.max(1e-12)).sqrt().min(most as f32);
                    let count = (ratio.ceil() as u32).clamp(1, most);
                    if count > 1 {
                        footprint.several |= 1 << lane;
                        footprint.count[lane] = count as u8;
                        lod -= (count as f32).log2();
                        let major = usize::from(down > across);
                        for i in 0..2 {
                            footprint.axis[i][lane] = delta(major, i);
                        }
                    }
                }
                footprint.lod[lane] = lod;
                if given.is_none() && lane == quad * 4 {
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

    /// Averages what `pass` gives at each lane's samples along its axis.
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

/// Coordinates of the first three lanes of a quad: here, to the right, below.
/// On a cube map those of one face, so that differences mean something where a
/// quad crosses an edge.
fn quad_coordinates(dim: Dim, src: &[Lanes; 4], quad: usize) -> [[f32; 3]; 3] {
    let at = |lane: usize| [0, 1, 2].map(|i: usize| f32::from_bits(src[i][quad * 4 + lane]));
    let mut coords = [at(0), at(1), at(2)];
    if dim == Dim::Cube {
        let face = coords[0][2];
        for i in 1..3 {
            if coords[i][2] != face {
                let point = CubePoint {
                    face: coords[i][2].max(0.0) as u32,
                    s: coords[i][0] - 1.0,
                    t: coords[i][1] - 1.0,
                };
                coords[i] = match CubePoint::on_face(point.direction(), face.max(0.0) as u32) {
                    Some(p) => [p.s + 1.0, p.t + 1.0, face],
                    None => coords[0],
                };
            }
        }
    }
    coords
}
