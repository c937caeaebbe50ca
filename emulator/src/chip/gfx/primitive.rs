// SPDX-License-Identifier: MIT
//! Primitive assembly: turns a stream of vertices into points, lines, triangles
//! and rectangles, with their provoking vertices.
//!
//! Types are those of `VGT_PRIMITIVE_TYPE` (`DI_PT_*` in Mesa's `r600d.h`).
//! Vertex order and provoking vertices follow the OpenGL 4.6 specification,
//! tables 10.1 and 13.2.

/// Shape as which a primitive is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// One vertex.
    Point,
    /// Two vertices.
    Line,
    /// Three vertices.
    Triangle,
    /// Three corners of a rectangle parallel to the axes (`RECTLIST`).
    Rectangle,
}

impl Shape {
    /// Number of vertices.
    pub fn corners(self) -> usize {
        match self {
            Shape::Point => 1,
            Shape::Line => 2,
            Shape::Triangle | Shape::Rectangle => 3,
        }
    }
}

/// An assembled primitive. Its vertices are the numbers that the caller pushed,
/// such as indices.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Primitive {
    /// Shape as which it is drawn.
    pub shape: Shape,
    /// Its vertices; if the shape has fewer than three, the rest are copies of the first.
    pub vertices: [u32; 3],
    /// Index in `vertices` of the vertex of the flat attributes.
    pub provoking: u8,
    /// Bit i: the edge from vertex i to the next belongs to the outline.
    pub outline: u8,
    /// Number of the primitive in its instance, from 0.
    pub id: u32,
    /// The stipple pattern restarts: the first line of a strip, or a line of a list.
    pub restarts: bool,
}

/// Vertices of a primitive for the geometry shader, with those of adjacency.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Input {
    /// The vertices in the geometry shader's order.
    pub vertices: [u32; 6],
    /// Number of vertices: 1, 2, 3, 4 or 6.
    pub count: u8,
    /// Number of the primitive in its instance, from 0.
    pub id: u32,
}

/// Receives assembled primitives.
pub trait Sink {
    /// Takes a primitive for the rasteriser.
    fn primitive(&mut self, primitive: Primitive);
    /// Takes the vertices of one primitive for a geometry shader.
    fn input(&mut self, input: Input);
}

/// The primitive types (`DI_PT_*`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)] // The names are OpenGL's.
pub enum Type {
    PointList,
    LineList,
    LineStrip,
    TriangleList,
    TriangleFan,
    TriangleStrip,
    LineListAdjacency,
    LineStripAdjacency,
    TriangleListAdjacency,
    TriangleStripAdjacency,
    RectangleList,
    LineLoop,
    QuadList,
    QuadStrip,
    Polygon,
    /// Patches, which [`tessellation`](super::tessellation) collects.
    PatchList,
}

impl Type {
    /// Decodes `VGT_PRIMITIVE_TYPE`; none for types that are not modelled.
    pub fn decode(value: u32) -> Option<Self> {
        Some(match value & 0x3F {
            1 => Type::PointList,
            2 => Type::LineList,
            3 => Type::LineStrip,
            4 => Type::TriangleList,
            5 => Type::TriangleFan,
            6 => Type::TriangleStrip,
            9 => Type::PatchList,
            0xA => Type::LineListAdjacency,
            0xB => Type::LineStripAdjacency,
            0xC => Type::TriangleListAdjacency,
            0xD => Type::TriangleStripAdjacency,
            0x11 => Type::RectangleList,
            0x12 => Type::LineLoop,
            0x13 => Type::QuadList,
            0x14 => Type::QuadStrip,
            0x15 => Type::Polygon,
            _ => return None,
        })
    }
}

/// Vertices that an assembler keeps: a strip with adjacency needs the vertex 9 before the newest.
const RECENT: usize = 10;

/// Assembles one stream of vertices.
#[derive(Debug, Clone)]
pub struct Assembler {
    kind: Type,
    provoking_last: bool,
    /// Primitives go to [`Sink::input`].
    geometry: bool,
    /// First vertex since the last restart, for fans and loops.
    first: u32,
    /// The last vertices, newest last. The last `seen` of them are valid.
    recent: [u32; RECENT],
    /// Vertices since the last restart.
    seen: u64,
    id: u32,
}

impl Assembler {
    /// An assembler for primitives of type `kind`.
    pub fn new(kind: Type, provoking_last: bool, geometry: bool) -> Self {
        Self {
            kind,
            provoking_last,
            geometry,
            first: 0,
            recent: [0; RECENT],
            seen: 0,
            id: 0,
        }
    }

    /// Ends strips, fans and loops (restart index or end of an instance).
    pub fn restart(&mut self, sink: &mut dyn Sink) {
        match self.kind {
            Type::LineLoop if self.seen >= 2 => {
                let pair = [self.back(0), self.first];
                self.line(sink, pair, false);
            }
            // The strip's last vertex is the one adjacent to the open edge of
            // the last triangle.
            Type::TriangleStripAdjacency if self.seen >= 6 => self.strip_adjacency(sink, true),
            Type::Polygon if self.seen >= 3 => {
                let v = [self.first, self.back(1), self.back(0)];
                self.polygon(sink, v, 6 | u8::from(self.seen == 3));
                self.next_id();
            }
            _ => {}
        }
        self.seen = 0;
    }

    /// Begins a new instance: ends the open primitive; ids begin at 0 again.
    pub fn next_instance(&mut self, sink: &mut dyn Sink) {
        self.restart(sink);
        self.id = 0;
    }

    /// The vertex `n` before the newest one.
    fn back(&self, n: usize) -> u32 {
        self.recent[RECENT - 1 - n]
    }

    /// Takes the next vertex.
    #[inline]
    pub fn push(&mut self, vertex: u32, sink: &mut dyn Sink) {
        if self.seen == 0 {
            self.first = vertex;
        }
        self.recent.copy_within(1.., 0);
        self.recent[RECENT - 1] = vertex;
        self.seen += 1;
        let n = self.seen;
        let b = |i| self.back(i);
        match self.kind {
            Type::PatchList => {}
            Type::PointList => {
                let v = [vertex];
                self.emit(sink, Shape::Point, &v, 0, 1, n == 1);
            }
            Type::LineList => {
                if n % 2 == 0 {
                    self.line(sink, [b(1), b(0)], true);
                }
            }
            Type::LineStrip | Type::LineLoop => {
                if n >= 2 {
                    self.line(sink, [b(1), b(0)], n == 2);
                }
            }
            Type::TriangleList => {
                if n % 3 == 0 {
                    let last = if self.provoking_last { 2 } else { 0 };
                    self.emit(sink, Shape::Triangle, &[b(2), b(1), b(0)], last, 7, true);
                }
            }
            Type::RectangleList => {
                if n % 3 == 0 {
                    let last = if self.provoking_last { 2 } else { 0 };
                    self.emit(sink, Shape::Rectangle, &[b(2), b(1), b(0)], last, 7, true);
                }
            }
            Type::TriangleFan => {
                if n >= 3 {
                    // Stream-out keeps this order: the provoking vertex is the first or the last.
                    let (v, provoking) = match self.provoking_last || self.geometry {
                        true => ([self.first, b(1), b(0)], 2),
                        false => ([b(1), b(0), self.first], 0),
                    };
                    self.emit(sink, Shape::Triangle, &v, provoking, 7, true);
                }
            }
            Type::TriangleStrip => {
                if n >= 3 {
                    self.strip(sink, [b(2), b(1), b(0)], n % 2 == 0);
                }
            }
            Type::QuadList => {
                if n % 4 == 0 {
                    self.quad(sink, [b(3), b(2), b(1), b(0)], [0, 3]);
                }
            }
            Type::QuadStrip => {
                if n >= 4 && n % 2 == 0 {
                    // In order around the quad, in which the newest vertex is the third.
                    self.quad(sink, [b(3), b(2), b(0), b(1)], [0, 2]);
                }
            }
            Type::Polygon => {
                // Each triangle is emitted one vertex late: only the last one has the closing edge.
                if n >= 4 {
                    let v = [self.first, b(2), b(1)];
                    self.polygon(sink, v, 2 | u8::from(n == 4));
                }
            }
            Type::LineListAdjacency => {
                if n % 4 == 0 {
                    self.line_adjacency(sink, true);
                }
            }
            Type::LineStripAdjacency => {
                if n >= 4 {
                    self.line_adjacency(sink, n == 4);
                }
            }
            Type::TriangleListAdjacency => {
                if n % 6 == 0 {
                    let v = [b(5), b(4), b(3), b(2), b(1), b(0)];
                    if self.geometry {
                        self.adjacent(sink, v, 6);
                    } else {
                        let last = if self.provoking_last { 2 } else { 0 };
                        self.emit(sink, Shape::Triangle, &[v[0], v[2], v[4]], last, 7, true);
                    }
                }
            }
            Type::TriangleStripAdjacency => {
                if n >= 8 && n % 2 == 0 {
                    self.strip_adjacency(sink, false);
                }
            }
        }
    }

    fn next_id(&mut self) -> u32 {
        let id = self.id;
        self.id = self.id.wrapping_add(1);
        id
    }

    fn emit(
        &mut self,
        sink: &mut dyn Sink,
        shape: Shape,
        v: &[u32],
        provoking: u8,
        outline: u8,
        restarts: bool,
    ) {
        let id = self.next_id();
        if self.geometry {
            let mut vertices = [v[0]; 6];
            vertices[..v.len()].copy_from_slice(v);
            let count = v.len() as u8;
            sink.input(Input {
                vertices,
                count,
                id,
            });
            return;
        }
        let mut vertices = [v[0]; 3];
        vertices[..v.len()].copy_from_slice(v);
        sink.primitive(Primitive {
            shape,
            vertices,
            provoking,
            outline,
            id,
            restarts,
        });
    }

    /// Emits a triangle of a polygon. All its triangles have the same id.
    fn polygon(&mut self, sink: &mut dyn Sink, v: [u32; 3], outline: u8) {
        let id = self.id;
        self.emit(sink, Shape::Triangle, &v, 0, outline, true);
        self.id = id;
    }

    fn line(&mut self, sink: &mut dyn Sink, v: [u32; 2], restarts: bool) {
        let provoking = u8::from(self.provoking_last);
        self.emit(sink, Shape::Line, &v, provoking, 1, restarts);
    }

    /// Emits a triangle of a strip. Swaps two vertices of odd ones, so that all have the same
    /// winding.
    fn strip(&mut self, sink: &mut dyn Sink, v: [u32; 3], odd: bool) {
        let (v, provoking) = match (odd, self.provoking_last) {
            (false, last) => (v, if last { 2 } else { 0 }),
            (true, true) => ([v[1], v[0], v[2]], 2),
            (true, false) => ([v[0], v[2], v[1]], 0),
        };
        self.emit(sink, Shape::Triangle, &v, provoking, 7, true);
    }

    /// Emits a quad as two triangles. `provoking` is the corner of the provoking
    /// vertex under the first-vertex and under the last-vertex convention.
    fn quad(&mut self, sink: &mut dyn Sink, v: [u32; 4], provoking: [usize; 2]) {
        let p = provoking[usize::from(self.provoking_last)];
        let c = |i: usize| v[(p + i) % 4];
        // Both triangles begin with the provoking corner. The diagonal is no outline.
        let id = self.id;
        self.emit(sink, Shape::Triangle, &[c(0), c(1), c(2)], 0, 0b011, true);
        self.id = id;
        self.emit(sink, Shape::Triangle, &[c(0), c(2), c(3)], 0, 0b110, false);
    }

    fn adjacent(&mut self, sink: &mut dyn Sink, vertices: [u32; 6], count: u8) {
        let id = self.next_id();
        sink.input(Input {
            vertices,
            count,
            id,
        });
    }

    fn line_adjacency(&mut self, sink: &mut dyn Sink, restarts: bool) {
        let v = [self.back(3), self.back(2), self.back(1), self.back(0)];
        if self.geometry {
            self.adjacent(sink, [v[0], v[1], v[2], v[3], v[0], v[0]], 4);
        } else {
            self.line(sink, [v[1], v[2]], restarts);
        }
    }

    /// Emits a triangle (OpenGL 4.6, table 10.1): the one before the newest two
    /// vertices or, at the end of the strip, the last one.
    fn strip_adjacency(&mut self, sink: &mut dyn Sink, end: bool) {
        if end && self.seen % 2 != 0 {
            // An odd vertex at the end belongs to no triangle.
            self.recent.copy_within(..RECENT - 1, 1);
            self.seen -= 1;
        }
        // The triangle's first vertex is vertex 2i of the strip. The newest
        // vertex is 2i + 7, or 2i + 5 at the end of the strip.
        let skip = if end { 0 } else { 2 };
        let i = (self.seen - skip - 6) / 2;
        let at = |k: i64| -> u32 {
            // Vertex 2i + k of the strip.
            let n = (5 + skip as i64) - k;
            self.recent[(RECENT as i64 - 1 - n).clamp(0, RECENT as i64 - 1) as usize]
        };
        let odd = i % 2 == 1;
        let before = if i == 0 { at(1) } else { at(-2) };
        let after = if end { at(5) } else { at(6) };
        let v = if odd {
            // Vertices 2i + 2, 2i, 2i + 4 with the adjacent 2i - 2, 2i + 3, 2i + 6.
            [at(2), before, at(0), at(3), at(4), after]
        } else {
            [at(0), before, at(2), after, at(4), at(3)]
        };
        if self.geometry {
            // The chip rotates the vertices of odd triangles by two; the
            // driver's shader rotates them back (Mesa `emit_adj_fix()`).
            let v = if odd {
                [v[2], v[3], v[4], v[5], v[0], v[1]]
            } else {
                v
            };
            self.adjacent(sink, v, 6);
        } else {
            self.strip(sink, [at(0), at(2), at(4)], odd);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Default)]
    struct Taken {
        primitives: Vec<Primitive>,
        inputs: Vec<Input>,
    }

    impl Sink for Taken {
        fn primitive(&mut self, primitive: Primitive) {
            self.primitives.push(primitive);
        }
        fn input(&mut self, input: Input) {
            self.inputs.push(input);
        }
    }

    fn assemble(kind: u32, last: bool, count: u32) -> Vec<Primitive> {
        let mut taken = Taken::default();
        let mut a = Assembler::new(Type::decode(kind).unwrap(), last, false);
        for v in 0..count {
            a.push(v, &mut taken);
        }
        a.restart(&mut taken);
        taken.primitives
    }

    /// Vertices and provoking vertex of each primitive.
    fn flat(primitives: &[Primitive]) -> Vec<([u32; 3], u32)> {
        primitives
            .iter()
            .map(|p| (p.vertices, p.vertices[p.provoking as usize]))
            .collect()
    }

    #[test]
    fn strip_keeps_winding_and_provoking_vertex() {
        assert_eq!(
            flat(&assemble(6, true, 5)),
            [([0, 1, 2], 2), ([2, 1, 3], 3), ([2, 3, 4], 4)]
        );
        assert_eq!(
            flat(&assemble(6, false, 5)),
            [([0, 1, 2], 0), ([1, 3, 2], 1), ([2, 3, 4], 2)]
        );
    }

    #[test]
    fn fan_and_polygon_share_their_first_vertex() {
        assert_eq!(
            flat(&assemble(5, true, 4)),
            [([0, 1, 2], 2), ([0, 2, 3], 3)]
        );
        assert_eq!(
            flat(&assemble(5, false, 4)),
            [([1, 2, 0], 1), ([2, 3, 0], 2)]
        );
        assert_eq!(
            flat(&assemble(0x15, true, 4)),
            [([0, 1, 2], 0), ([0, 2, 3], 0)]
        );
    }

    #[test]
    fn polygon_outline_closes_with_its_last_triangle() {
        let outlines = |n| {
            let p = assemble(0x15, true, n);
            p.iter().map(|p| p.outline).collect::<Vec<_>>()
        };
        assert_eq!(outlines(3), [7]);
        assert_eq!(outlines(5), [3, 2, 6]);
    }

    #[test]
    fn quads_keep_provoking_vertex_in_both_triangles() {
        assert_eq!(
            flat(&assemble(0x13, true, 4)),
            [([3, 0, 1], 3), ([3, 1, 2], 3)]
        );
        assert_eq!(
            flat(&assemble(0x13, false, 8)),
            [
                ([0, 1, 2], 0),
                ([0, 2, 3], 0),
                ([4, 5, 6], 4),
                ([4, 6, 7], 4)
            ]
        );
        // Quad strip: corners 0 1 3 2, the last one is vertex 3.
        assert_eq!(
            flat(&assemble(0x14, true, 4)),
            [([3, 2, 0], 3), ([3, 0, 1], 3)]
        );
        let ids: Vec<u32> = assemble(0x13, true, 8).iter().map(|p| p.id).collect();
        assert_eq!(ids, [0, 0, 1, 1]);
    }

    #[test]
    fn lines_loops_and_leftovers() {
        assert_eq!(
            flat(&assemble(0x12, true, 3)),
            [([0, 1, 0], 1), ([1, 2, 1], 2), ([2, 0, 2], 0)]
        );
        assert_eq!(assemble(0x12, true, 1).len(), 0);
        assert_eq!(flat(&assemble(2, false, 3)), [([0, 1, 0], 0)]);
        assert_eq!(assemble(4, true, 5).len(), 1);
        assert_eq!(Type::decode(9), Some(Type::PatchList));
        assert!(Type::decode(0x16).is_none());
    }

    #[test]
    fn restart_begins_a_new_strip_and_numbers_on() {
        let mut taken = Taken::default();
        let mut a = Assembler::new(Type::TriangleStrip, true, false);
        for v in [0, 1, 2] {
            a.push(v, &mut taken);
        }
        a.restart(&mut taken);
        for v in [7, 8, 9] {
            a.push(v, &mut taken);
        }
        assert_eq!(flat(&taken.primitives), [([0, 1, 2], 2), ([7, 8, 9], 9)]);
        assert_eq!(taken.primitives[1].id, 1);
    }

    /// OpenGL 4.6, table 10.1, for strips of one, two and three triangles.
    #[test]
    fn strip_with_adjacency_follows_table() {
        let inputs = |count| {
            let mut taken = Taken::default();
            let mut a = Assembler::new(Type::TriangleStripAdjacency, true, true);
            for v in 0..count {
                a.push(v, &mut taken);
            }
            a.restart(&mut taken);
            let turned = |i: &Input| {
                let v = i.vertices;
                if i.id % 2 == 1 {
                    [4, 5, 0, 1, 2, 3].map(|k| v[k])
                } else {
                    v
                }
            };
            taken.inputs.iter().map(turned).collect::<Vec<_>>()
        };
        assert_eq!(inputs(6), [[0, 1, 2, 5, 4, 3]]);
        assert_eq!(inputs(7), [[0, 1, 2, 5, 4, 3]]);
        assert_eq!(inputs(8), [[0, 1, 2, 6, 4, 3], [4, 0, 2, 5, 6, 7]]);
        assert_eq!(
            inputs(10),
            [[0, 1, 2, 6, 4, 3], [4, 0, 2, 5, 6, 8], [4, 2, 6, 9, 8, 7]]
        );
    }

    #[test]
    fn adjacency_without_geometry_shader_is_dropped() {
        assert_eq!(flat(&assemble(0xA, true, 4)), [([1, 2, 1], 2)]);
        assert_eq!(flat(&assemble(0xC, true, 6)), [([0, 2, 4], 4)]);
    }
}
