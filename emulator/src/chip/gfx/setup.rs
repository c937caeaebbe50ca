// SPDX-License-Identifier: MIT
//! Setup: turns shaded vertices into polygons on the screen, with the planes of
//! depth and attributes.

use super::clip::{Clipper, Corner};
use super::math::{power_below, power_of_two};
use super::primitive::{Primitive, Shape};
use super::raster::{double_area, Plane, Planes, Point, Polygon, MAX_COORDINATE, PIXEL};
use super::state::{bit, bits, Fill, PolygonOffset, SetupState, Viewport, VIEWPORTS};
use crate::chip::regs::fields::r700::{
    pa_cl_vs_out_cntl, pa_cl_vte_cntl, pa_su_poly_offset_db_fmt_cntl,
};

/// Shaded vertices of a batch.
#[derive(Debug, Default)]
pub struct Vertices {
    /// Clip-space positions.
    pub position: Vec<[f32; 4]>,
    /// Misc vectors: point size, edge flag, layer, viewport; raw bits.
    pub misc: Vec<[u32; 4]>,
    /// Clip and cull distances.
    pub distance: Vec<[f32; 8]>,
    /// Parameters, [`Self::stride`] for each vertex.
    pub params: Vec<[u32; 4]>,
    /// Number of parameters of a vertex.
    pub stride: usize,
}

impl Vertices {
    /// Removes all vertices; new ones have `stride` parameters.
    pub fn clear(&mut self, stride: usize) {
        self.position.clear();
        self.misc.clear();
        self.distance.clear();
        self.params.clear();
        self.stride = stride;
    }

    /// Moves all vertices of `other`, which have the same number of parameters, to the end.
    pub fn append(&mut self, other: &mut Self) {
        self.position.append(&mut other.position);
        self.misc.append(&mut other.misc);
        self.distance.append(&mut other.distance);
        self.params.append(&mut other.params);
    }

    /// Bytes of memory that the lists take, empty or not.
    pub fn bytes(&self) -> usize {
        capacity(&self.position)
            + capacity(&self.misc)
            + capacity(&self.distance)
            + capacity(&self.params)
    }

    /// Parameter `index` of vertex `vertex`; zeroes if there is none.
    pub fn param(&self, vertex: u32, index: usize) -> [u32; 4] {
        self.find(vertex, index).copied().unwrap_or([0; 4])
    }

    #[inline]
    fn find(&self, vertex: u32, index: usize) -> Option<&[u32; 4]> {
        let at = vertex as usize * self.stride + index;
        self.params.get(at).filter(|_| index < self.stride)
    }
}

/// Bytes of memory that `list` takes.
pub fn capacity<T>(list: &Vec<T>) -> usize {
    list.capacity() * size_of::<T>()
}

/// Line stipple of one line.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Stipple {
    /// The 16 bits of the pattern, bit 0 first.
    pub pattern: u16,
    /// Pixels per bit.
    pub repeat: u32,
    /// Axis along which pixels are counted: 0 for x, 1 for y.
    pub axis: usize,
    /// Coordinate on that axis at which counting begins, in pixels.
    pub start: f32,
    /// Direction of counting: 1 or -1.
    pub sign: f32,
    /// Pixels counted before this line.
    pub phase: f32,
}

/// Texture coordinates of a point sprite.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sprite {
    /// 0 at the left edge, 1 at the right edge.
    pub s: Plane,
    /// 0 at the upper edge, 1 at the lower edge.
    pub t: Plane,
}

/// A polygon to rasterise, with the state of its pixels.
#[derive(Debug, Clone)]
pub struct Setup {
    /// Its edges and bounds.
    pub polygon: Polygon,
    /// Depth on the screen, without the polygon offset, not clamped.
    pub z: Plane,
    /// The polygon offset. It is added to rounded depths: one unit is the last bit of the largest one
    /// at least, so that all differ from those without it.
    pub z_offset: f32,
    /// Range to which depth is clamped.
    pub z_range: [f32; 2],
    /// Weight divided by w, of vertices 1 and 2.
    pub weights: [Plane; 2],
    /// 1 / w.
    pub inv_w: Plane,
    /// Weights without perspective, of vertices 1 and 2.
    pub linear: [Plane; 2],
    /// Attributes are interpolated with perspective: it is on, and w differs between the corners.
    pub perspective: bool,
    /// The vertices that the weights refer to.
    pub vertices: [u32; 3],
    /// The vertex of the flat attributes.
    pub provoking: u32,
    /// A front face. Points and lines are front faces unless they come from a polygon's back face.
    pub front: bool,
    /// Slice of the render target, counted from the view's first.
    pub layer: u32,
    /// Coordinates of a point sprite.
    pub sprite: Option<Sprite>,
    /// Stipple of a line.
    pub stipple: Option<Stipple>,
}

#[cfg(test)]
impl Setup {
    /// A polygon whose values are all 0.
    pub(super) fn of(polygon: Polygon) -> Self {
        Self {
            polygon,
            z: Plane::default(),
            z_offset: 0.0,
            z_range: [0.0; 2],
            weights: [Plane::default(); 2],
            inv_w: Plane::default(),
            linear: [Plane::default(); 2],
            perspective: false,
            vertices: [0; 3],
            provoking: 0,
            front: true,
            layer: 0,
            sprite: None,
            stipple: None,
        }
    }
}

/// Pipeline statistics of the clipper.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ClipCounts {
    /// Primitives that entered the clipper.
    pub invocations: u64,
    /// Primitives of which something is left after clipping and culling.
    pub primitives: u64,
}

/// What becomes one or more setups: a primitive, or an edge or a corner of one.
#[derive(Clone, Copy)]
struct Piece<'a> {
    vertices: &'a Vertices,
    primitive: &'a Primitive,
    /// The provoking vertex.
    provoking: u32,
    /// It is a front face, or none.
    front: bool,
}

/// A corner on the screen.
#[derive(Debug, Clone, Copy)]
struct Screen {
    point: Point,
    z: f64,
    inv_w: f64,
    weights: [f64; 3],
}

/// Makes [`Setup`]s of primitives.
#[derive(Debug)]
pub struct Builder<'a> {
    state: &'a SetupState,
    clipper: Clipper,
    /// Unit of the polygon offset: of fixed-point depth, or of float depth with exponent 0.
    offset_unit: f64,
    /// Statistics of the draw so far.
    pub counts: ClipCounts,
    stipple_phase: f32,
    corners: Vec<Corner>,
}

fn fixed(value: f64) -> i32 {
    let limit = MAX_COORDINATE;
    (value.clamp(-limit, limit) * f64::from(PIXEL)).round_ties_even() as i32
}

impl<'a> Builder<'a> {
    /// A builder for one draw.
    pub fn new(state: &'a SetupState) -> Self {
        use pa_su_poly_offset_db_fmt_cntl::POLY_OFFSET_NEG_NUM_DB_BITS;
        let negative_bits = POLY_OFFSET_NEG_NUM_DB_BITS.of(state.offset_format) as u8 as i8;
        Self {
            state,
            clipper: Clipper::new(state),
            offset_unit: power_of_two(negative_bits.into()),
            counts: ClipCounts::default(),
            stipple_phase: 0.0,
            corners: Vec::new(),
        }
    }

    /// Adds the polygons of `primitive` to `out`.
    pub fn add(&mut self, vertices: &Vertices, primitive: &Primitive, out: &mut Vec<Setup>) {
        self.counts.invocations += 1;
        let known = vertices.position.len();
        if primitive.vertices.iter().any(|&v| v as usize >= known) {
            return;
        }
        let count = primitive.shape.corners();
        if self.culled_by_distance(vertices, &primitive.vertices[..count]) {
            return;
        }
        let provoking = primitive.vertices[usize::from(primitive.provoking.min(2))];
        let before = out.len();
        let piece = Piece {
            vertices,
            primitive,
            provoking,
            front: true,
        };
        match primitive.shape {
            Shape::Point | Shape::Line | Shape::Rectangle if self.state.cull_others => {}
            Shape::Point => self.point(&piece, 0, None, out),
            Shape::Line => self.line(&piece, [0, 1], None, out),
            Shape::Triangle => self.triangle(piece, out),
            Shape::Rectangle => self.rectangle(&piece, out),
        }
        self.counts.primitives += u64::from(out.len() > before);
    }

    /// Whether an enabled cull distance is negative at all vertices.
    fn culled_by_distance(&self, vertices: &Vertices, which: &[u32]) -> bool {
        // CULL_DIST_ENA_0 to 7
        let enabled = bits(self.state.vs_out_cntl, 8, 8);
        (0..8).any(|n| {
            bit(enabled, n)
                && which
                    .iter()
                    .all(|&v| vertices.distance[v as usize][n as usize] < 0.0)
        })
    }

    fn viewport(&self, vertices: &Vertices, provoking: u32) -> (&'a Viewport, u32) {
        let cntl = self.state.vs_out_cntl;
        let misc = vertices.misc[provoking as usize];
        let enabled = pa_cl_vs_out_cntl::VS_OUT_MISC_VEC_ENA.is_set(cntl);
        let viewport = if enabled && pa_cl_vs_out_cntl::USE_VTX_VIEWPORT_INDX.is_set(cntl) {
            misc[3] as usize % VIEWPORTS
        } else {
            0
        };
        let layer = if enabled && pa_cl_vs_out_cntl::USE_VTX_RENDER_TARGET_INDX.is_set(cntl) {
            misc[2]
        } else {
            0
        };
        (&self.state.viewports[viewport], layer)
    }

    /// The viewport transform (`PA_CL_VTE_CNTL`).
    fn screen(&self, viewport: &Viewport, corner: &Corner) -> Screen {
        let vte = self.state.vte_cntl;
        let [x, y, z, w] = corner.position;
        // The vertex holds w, else 1 / w.
        let inv_w = if pa_cl_vte_cntl::VTX_W0_FMT.is_set(vte) {
            1.0 / w
        } else {
            w
        };
        let xy = if pa_cl_vte_cntl::VTX_XY_FMT.is_set(vte) {
            1.0
        } else {
            inv_w
        };
        let zf = if pa_cl_vte_cntl::VTX_Z_FMT.is_set(vte) {
            1.0
        } else {
            inv_w
        };
        let apply = |value: f64, axis: usize| {
            let n = axis as u32 * 2;
            let scaled = if bit(vte, n) {
                value * f64::from(viewport.scale[axis])
            } else {
                value
            };
            if bit(vte, n + 1) {
                scaled + f64::from(viewport.offset[axis])
            } else {
                scaled
            }
        };
        let [ox, oy] = self.state.window_offset.map(f64::from);
        Screen {
            point: [fixed(apply(x * xy, 0) + ox), fixed(apply(y * xy, 1) + oy)],
            z: apply(z * zf, 2),
            inv_w,
            weights: corner.weights,
        }
    }

    /// w of the primitive's vertices.
    fn vertex_w(&self, vertices: &Vertices, primitive: &Primitive) -> [f64; 3] {
        let given_w = pa_cl_vte_cntl::VTX_W0_FMT.is_set(self.state.vte_cntl);
        primitive.vertices.map(|v| {
            let w = f64::from(vertices.position[v as usize][3]);
            if given_w {
                w
            } else {
                1.0 / w
            }
        })
    }

    fn corner(vertices: &Vertices, v: u32, index: usize) -> Corner {
        let mut weights = [0.0; 3];
        weights[index] = 1.0;
        Corner {
            position: vertices.position[v as usize].map(f64::from),
            weights,
        }
    }

    /// The polygon offset for a plane of depth; `z_max` is the largest depth of the vertices.
    fn offset(&self, offset: &PolygonOffset, z: &Plane, z_max: f64) -> f64 {
        let slope = z.dx.abs().max(z.dy.abs());
        let unit = if pa_su_poly_offset_db_fmt_cntl::POLY_OFFSET_DB_IS_FLOAT_FMT
            .is_set(self.state.offset_format)
        {
            // Float depth: the unit is the last bit of the largest depth. The
            // field holds minus the number of mantissa bits.
            let power = if z_max == 0.0 {
                1.0
            } else {
                power_below(z_max)
            };
            self.offset_unit * power
        } else {
            self.offset_unit
        };
        // The register holds 16 times the scale.
        let value = slope * f64::from(offset.scale) / 16.0 + unit * f64::from(offset.units);
        let clamp = f64::from(self.state.offset_clamp);
        let value = if clamp > 0.0 {
            value.min(clamp)
        } else if clamp < 0.0 {
            value.max(clamp)
        } else {
            value
        };
        if value.is_finite() {
            value
        } else {
            0.0
        }
    }

    /// The setup of `polygon`, which `piece` becomes in a viewport and a layer.
    fn finish(
        &self,
        piece: &Piece<'_>,
        polygon: Polygon,
        (viewport, layer): (&Viewport, u32),
        planes: &Planes,
        corners: [&Screen; 3],
        z_offset: f64,
    ) -> Setup {
        let vertex_w = self.vertex_w(piece.vertices, piece.primitive);
        // Not `map()`, which the compiler does not inline for arrays of floats.
        let [a, b, c] = corners;
        let z = planes.through([a.z, b.z, c.z]);
        let w = [a.inv_w, b.inv_w, c.inv_w];
        let perspective = !self.state.perspective_off && (w[0] != w[1] || w[0] != w[2]);
        // A corner's weight on the screen is its weight in clip space, times the
        // vertex's w, divided by the corner's w.
        let over_w = |i: usize| {
            let of = |corner: &Screen| corner.weights[i] * corner.inv_w;
            [of(a), of(b), of(c)]
        };
        let linear = |i: usize| {
            let [a, b, c] = over_w(i);
            planes.through([a * vertex_w[i], b * vertex_w[i], c * vertex_w[i]])
        };
        let inv_w = planes.through(w);
        Setup {
            polygon,
            z,
            z_offset: z_offset as f32,
            z_range: {
                let (a, b) = (viewport.z_min, viewport.z_max);
                if a <= b {
                    [a, b]
                } else {
                    [b, a]
                }
            },
            weights: [planes.through(over_w(1)), planes.through(over_w(2))],
            inv_w,
            linear: [linear(1), linear(2)],
            perspective,
            vertices: piece.primitive.vertices,
            provoking: piece.provoking,
            front: piece.front,
            layer,
            sprite: None,
            stipple: None,
        }
    }

    fn triangle(&mut self, mut piece: Piece<'_>, out: &mut Vec<Setup>) {
        let Piece {
            vertices,
            primitive,
            provoking,
            ..
        } = piece;
        let v = primitive.vertices;
        let outside = v.map(|v| {
            let v = v as usize;
            self.clipper
                .outside(&vertices.position[v], &vertices.distance[v])
        });
        let any = outside[0] | outside[1] | outside[2];
        if any >> 15 != 0 || outside[0] & outside[1] & outside[2] != 0 {
            return;
        }
        let mut corners = std::mem::take(&mut self.corners);
        corners.clear();
        corners.extend((0..3).map(|i| Self::corner(vertices, v[i], i)));
        if any != 0 {
            let clip = v.map(|v| &vertices.distance[v as usize]);
            self.clipper.clip(any, clip, &mut corners);
        }
        let (viewport, layer) = self.viewport(vertices, provoking);
        let mut screen: [Screen; 3 + super::clip::PLANES] = [Screen {
            point: [0; 2],
            z: 0.0,
            inv_w: 1.0,
            weights: [0.0; 3],
        }; 18];
        let n = corners.len().min(screen.len());
        for (s, corner) in screen.iter_mut().zip(&corners) {
            *s = self.screen(viewport, corner);
        }
        self.corners = corners;
        if n < 3 {
            return;
        }
        let screen = &screen[..n];
        let fan = |i: usize| [screen[0].point, screen[i].point, screen[i + 1].point];
        let area: i64 = (1..n - 1).map(|i| double_area(fan(i))).sum();
        // FACE: 0 makes counterclockwise faces front faces.
        let clockwise = area > 0;
        let front = clockwise == self.state.front_cw;
        piece.front = front;
        let fill = self.state.fill[usize::from(!front)];
        let culled = if front {
            self.state.cull_front
        } else {
            self.state.cull_back
        };
        if culled || (area == 0 && fill == Fill::Triangles) {
            return;
        }
        // All parts share the planes of the largest part.
        let largest = (1..n - 1)
            .max_by_key(|&i| double_area(fan(i)).abs())
            .unwrap_or(1);
        let planes = Planes::new(fan(largest));
        let at = [&screen[0], &screen[largest], &screen[largest + 1]];
        let z_offset = self.state.offset[usize::from(!front)].map_or(0.0, |o| {
            let z = planes.through(at.map(|c| c.z));
            let z_max = screen.iter().fold(f64::MIN, |m, c| m.max(c.z));
            self.offset(&o, &z, z_max)
        });
        if fill != Fill::Triangles {
            let mut outline = primitive.outline;
            if pa_cl_vs_out_cntl::VS_OUT_MISC_VEC_ENA.is_set(self.state.vs_out_cntl)
                && pa_cl_vs_out_cntl::USE_VTX_EDGE_FLAG.is_set(self.state.vs_out_cntl)
            {
                for (i, v) in v.iter().enumerate() {
                    let flag = f32::from_bits(vertices.misc[*v as usize][1]);
                    if flag == 0.0 {
                        outline &= !(1 << i);
                    }
                }
            }
            for i in 0..3 {
                if outline >> i & 1 == 0 {
                    continue;
                }
                if fill == Fill::Lines {
                    self.line(&piece, [i, (i + 1) % 3], Some(z_offset), out);
                } else {
                    self.point(&piece, i, Some(z_offset), out);
                }
            }
            return;
        }
        for i in 1..n - 1 {
            if let Some(polygon) = Polygon::new(&fan(i), viewport.scissor) {
                let place = (viewport, layer);
                out.push(self.finish(&piece, polygon, place, &planes, at, z_offset));
            }
        }
    }

    /// Adds a rectangle. It is not clipped in z: the driver clears and copies
    /// depth by rectangles.
    fn rectangle(&mut self, piece: &Piece<'_>, out: &mut Vec<Setup>) {
        let Piece {
            vertices,
            primitive,
            provoking,
            ..
        } = *piece;
        let v = primitive.vertices;
        let (viewport, layer) = self.viewport(vertices, provoking);
        if v.iter()
            .any(|&v| vertices.position[v as usize].iter().any(|c| !c.is_finite()))
        {
            return;
        }
        let corners: [Corner; 3] = std::array::from_fn(|i| Self::corner(vertices, v[i], i));
        let s = corners.map(|c| self.screen(viewport, &c));
        let min = |k: usize| s.iter().map(|c| c.point[k]).min().unwrap_or(0);
        let max = |k: usize| s.iter().map(|c| c.point[k]).max().unwrap_or(0);
        let (x0, y0, x1, y1) = (min(0), min(1), max(0), max(1));
        let box_corners = [[x0, y0], [x1, y0], [x1, y1], [x0, y1]];
        let Some(polygon) = Polygon::new(&box_corners, viewport.scissor) else {
            return;
        };
        let planes = Planes::new(s.map(|c| c.point));
        let at = [&s[0], &s[1], &s[2]];
        out.push(self.finish(piece, polygon, (viewport, layer), &planes, at, 0.0));
    }

    /// Adds a line between two of the primitive's vertices. `z_offset` is the
    /// polygon offset if the line is an edge of a polygon.
    fn line(
        &mut self,
        piece: &Piece<'_>,
        ends: [usize; 2],
        z_offset: Option<f64>,
        out: &mut Vec<Setup>,
    ) {
        let Piece {
            vertices,
            primitive,
            provoking,
            ..
        } = *piece;
        let v = ends.map(|i| primitive.vertices[i]);
        let outside = v.map(|v| {
            let v = v as usize;
            self.clipper
                .outside(&vertices.position[v], &vertices.distance[v])
        });
        let any = outside[0] | outside[1];
        let reset = match self.state.stipple {
            Some((_, _, 1)) => true,
            Some((_, _, 2)) => primitive.restarts,
            _ => false,
        };
        if reset || z_offset.is_some() {
            self.stipple_phase = 0.0;
        }
        if any >> 15 != 0 || outside[0] & outside[1] != 0 {
            return;
        }
        let mut corners: Vec<Corner> = (0..2)
            .map(|i| Self::corner(vertices, v[i], ends[i]))
            .collect();
        if any != 0 {
            let clip = primitive.vertices.map(|v| &vertices.distance[v as usize]);
            self.clipper.clip(any, clip, &mut corners);
        }
        if corners.len() != 2 {
            return;
        }
        let (viewport, layer) = self.viewport(vertices, provoking);
        let s = [
            self.screen(viewport, &corners[0]),
            self.screen(viewport, &corners[1]),
        ];
        let [mut p, mut q] = s.map(|c| c.point);
        let d = [q[0] - p[0], q[1] - p[1]];
        let axis = usize::from(d[0].abs() < d[1].abs());
        let half = f64::from(self.state.line_half) * f64::from(PIXEL);
        let shape = if self.state.line_rectangular {
            let [dx, dy] = d.map(f64::from);
            let length = (dx * dx + dy * dy).sqrt();
            if length == 0.0 {
                return;
            }
            let n = [
                (-f64::from(d[1]) / length * half).round() as i32,
                (f64::from(d[0]) / length * half).round() as i32,
            ];
            [
                [p[0] - n[0], p[1] - n[1]],
                [q[0] - n[0], q[1] - n[1]],
                [q[0] + n[0], q[1] + n[1]],
                [p[0] + n[0], p[1] + n[1]],
            ]
        } else {
            // A line includes its first pixel and excludes its last one. The
            // coverage rule excludes the right or lower end, so a line to the
            // left or up is shifted by 1/256 pixel.
            if d[axis] < 0 {
                p[axis] += 1;
                q[axis] += 1;
            }
            let mut n = [0; 2];
            n[1 - axis] = (half.round() as i32).max(1);
            [
                [p[0] - n[0], p[1] - n[1]],
                [q[0] - n[0], q[1] - n[1]],
                [q[0] + n[0], q[1] + n[1]],
                [p[0] + n[0], p[1] + n[1]],
            ]
        };
        let stipple = self.state.stipple.map(|(pattern, repeat, _)| {
            let phase = self.stipple_phase;
            self.stipple_phase += (d[axis].abs() as f32 / PIXEL as f32).round();
            Stipple {
                pattern,
                repeat: repeat + 1,
                axis,
                start: s[0].point[axis] as f32 / PIXEL as f32,
                sign: if d[axis] < 0 { -1.0 } else { 1.0 },
                phase,
            }
        });
        let Some(polygon) = Polygon::new(&shape, viewport.scissor) else {
            return;
        };
        // Values are constant across the line.
        let a = s[0].point;
        let across = [a[0].saturating_sub(d[1]), a[1].saturating_add(d[0])];
        let planes = Planes::new([a, s[1].point, across]);
        let at = [&s[0], &s[1], &s[0]];
        let z_offset = z_offset.unwrap_or_else(|| {
            self.state.offset_para.map_or(0.0, |o| {
                self.offset(&o, &planes.through(at.map(|c| c.z)), s[0].z.max(s[1].z))
            })
        });
        let mut setup = self.finish(piece, polygon, (viewport, layer), &planes, at, z_offset);
        setup.stipple = stipple;
        out.push(setup);
    }

    fn point(
        &mut self,
        piece: &Piece<'_>,
        index: usize,
        z_offset: Option<f64>,
        out: &mut Vec<Setup>,
    ) {
        let Piece {
            vertices,
            primitive,
            provoking,
            ..
        } = *piece;
        let v = primitive.vertices[index];
        let position = &vertices.position[v as usize];
        let distance = &vertices.distance[v as usize];
        if self
            .clipper
            .drops_point(position, distance, self.state.discard)
        {
            return;
        }
        let (viewport, layer) = self.viewport(vertices, provoking);
        let center = self.screen(viewport, &Self::corner(vertices, v, index));
        let cntl = self.state.vs_out_cntl;
        let half = if pa_cl_vs_out_cntl::VS_OUT_MISC_VEC_ENA.is_set(cntl)
            && pa_cl_vs_out_cntl::USE_VTX_POINT_SIZE.is_set(cntl)
            && primitive.shape == Shape::Point
        {
            let size = f32::from_bits(vertices.misc[v as usize][0]) / 2.0;
            let [low, high] = self.state.point_limits;
            let size = if size.is_nan() { low } else { size };
            [size.max(low).min(high.max(low)); 2]
        } else {
            self.state.point_half
        };
        let half = half.map(|h| (f64::from(h) * f64::from(PIXEL)).round() as i32);
        if half[0] == 0 || half[1] == 0 {
            return;
        }
        let [x, y] = center.point;
        let (x0, x1, y0, y1) = (x - half[0], x + half[0], y - half[1], y + half[1]);
        let corners = [[x0, y0], [x1, y0], [x1, y1], [x0, y1]];
        let Some(polygon) = Polygon::new(&corners, viewport.scissor) else {
            return;
        };
        // All planes are constant.
        let planes = Planes::new([[x, y]; 3]);
        let at = [&center; 3];
        let z_offset = z_offset.unwrap_or_else(|| {
            self.state
                .offset_para
                .map_or(0.0, |o| self.offset(&o, &Plane::default(), center.z))
        });
        let mut setup = self.finish(piece, polygon, (viewport, layer), &planes, at, z_offset);
        let sprite = Planes::new([[x0, y0], [x1, y0], [x0, y1]]);
        setup.sprite = Some(Sprite {
            s: sprite.through([0.0, 1.0, 0.0]),
            t: sprite.through([0.0, 0.0, 1.0]),
        });
        out.push(setup);
    }
}

#[cfg(test)]
mod tests;
