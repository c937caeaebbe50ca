// SPDX-License-Identifier: MIT
//! The fixed-function tessellator: subdivides the domain of a patch.
//!
//! Which points and edges there are follows the OpenGL 4.6 specification, section 11.2.2; where
//! it leaves the place of the two short segments of a fractional spacing open, that of Direct3D 11
//! is taken (functional specification 11.7), for which the hardware was made. As there, places on an
//! edge have 16 fractional bits, so that `1 - t` is exact and both halves of an edge mirror each
//! other.
//!
//! Invariance (specification, appendix A.4): an edge depends on its own level and the spacing only,
//! the inside on the inner levels only, and what connects an edge with the inside on these.

/// What a patch is subdivided as (`VGT_TF_PARAM.TYPE`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Domain {
    /// Parallel lines.
    Isolines,
    /// A triangle.
    Triangles,
    /// A square.
    Quads,
}

impl Domain {
    /// Number of factors of a patch.
    pub fn levels(self) -> usize {
        match self {
            Domain::Isolines => 2,
            Domain::Triangles => 4,
            Domain::Quads => 6,
        }
    }
}

/// How an edge is subdivided (`PARTITIONING`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Spacing {
    /// Into equal segments.
    Equal,
    /// Into an odd number of segments, two of which may be shorter.
    FractionalOdd,
    /// Into an even number of segments, two of which may be shorter.
    FractionalEven,
}

/// The primitives that come out (`TOPOLOGY`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Output {
    /// Each point once.
    Points,
    /// The segments of isolines.
    Lines,
    /// Triangles that are counterclockwise with u to the right and v up.
    Counterclockwise,
    /// Triangles that are clockwise.
    Clockwise,
}

/// Most segments of an edge.
pub const MOST_SEGMENTS: f32 = 64.0;

/// Factors of a patch, in the order in which the hull shader writes them. Isolines: segments of a
/// line, lines. Others: those of the edges `u = 0`, `v = 0`, then of triangles `w = 0`, of quads `u = 1`
/// and `v = 1`; then those of the inside.
pub type Factors = [f32; 6];

/// What the tessellator does with every patch of a draw.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tessellator {
    /// The domain.
    pub domain: Domain,
    /// The spacing.
    pub spacing: Spacing,
    /// The primitives.
    pub output: Output,
    /// Most segments, 1 to 64 (`VGT_HOS_MAX_TESS_LEVEL`).
    pub most: u8,
}

/// The result: places in the domain, and primitives made of them.
#[derive(Debug, Default)]
pub struct Mesh {
    /// u and v of each point.
    pub points: Vec<[f32; 2]>,
    /// Points as one, lines as two, triangles as three numbers of points; the rest are copies of
    /// the first.
    pub primitives: Vec<[u32; 3]>,
}

/// 1 with 16 fractional bits.
const ONE: u32 = 1 << 16;

/// A subdivided edge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Edge {
    /// Number of segments.
    segments: u32,
    /// The number with which the spacing has two segments less, and how far the level is from there
    /// to `segments`, in 1/65536; none if all segments are equal.
    between: Option<(u32, u32)>,
}

impl Edge {
    fn equal(segments: u32) -> Self {
        Self {
            segments,
            between: None,
        }
    }

    fn new(spacing: Spacing, level: f32, most: f32) -> Self {
        // Not `clamp()`: a NaN becomes the least level.
        let level = match spacing {
            Spacing::Equal => return Self::equal(level.max(1.0).min(most).ceil() as u32),
            Spacing::FractionalOdd => {
                let most = (most as u32 - 1) | 1;
                level.max(1.0).min(most as f32)
            }
            Spacing::FractionalEven => {
                let most = (most as u32 & !1).max(2);
                level.max(2.0).min(most as f32)
            }
        };
        let odd = u32::from(spacing == Spacing::FractionalOdd);
        let mut segments = level.ceil() as u32;
        segments += (segments ^ odd) & 1;
        if level == segments as f32 {
            return Self::equal(segments);
        }
        let fewer = segments - 2;
        let part = (level - fewer as f32) * 0.5 * ONE as f32;
        Self {
            segments,
            between: Some((fewer, part as u32)),
        }
    }

    /// Subdivided as if its level was a little above 1.
    fn above_one(spacing: Spacing) -> Self {
        match spacing {
            Spacing::FractionalOdd => Self {
                segments: 3,
                between: Some((1, 1)),
            },
            _ => Self::equal(2),
        }
    }

    /// The place of point `i`, 0 to `segments`.
    fn place(&self, i: u32) -> u32 {
        let n = self.segments;
        if 2 * i > n {
            return ONE - self.place(n - i);
        }
        if 2 * i == n {
            return ONE / 2;
        }
        let part_of = |i: u32, n: u32| u64::from(i) * (1 << 32) / u64::from(n);
        let place = part_of(i, n);
        let exact = match self.between {
            None => place,
            Some((fewer, part)) => {
                // With fewer segments, the points on both sides of a short one coincide.
                let i = i - u32::from(i > short_segment(fewer));
                let (part, whole) = (u64::from(part), u64::from(ONE));
                (part_of(i, fewer) * (whole - part) + place * part) / whole
            }
        };
        ((exact + (1 << 15)) >> 16) as u32
    }
}

/// The segment of each half of an edge that is short when it grows from `fewer` segments to two
/// more. Each time that their number has doubled, it begins again near the corner, and goes on
/// with every second segment.
fn short_segment(fewer: u32) -> u32 {
    // Whole segments between the corner and the middle of the edge.
    let half = fewer / 2;
    match half.checked_ilog2() {
        None => 0,
        Some(log2) => 2 * (half - (1 << log2)) + 1,
    }
}

/// The sides of a triangle in the order in which their points are made: the first is that of the
/// first outer level, at u = 0.
const FROM_V: [usize; 3] = [2, 0, 1];

/// A point of an edge, as a number and as its place along the edge.
type Link = (u32, u32);

impl Tessellator {
    /// Subdivides a patch into `mesh`. It is empty if the patch is dropped: a level of an edge is
    /// not positive.
    pub fn run(&self, factors: &Factors, mesh: &mut Mesh) {
        mesh.points.clear();
        mesh.primitives.clear();
        let edges = match self.domain {
            Domain::Isolines => 2,
            Domain::Triangles => 3,
            Domain::Quads => 4,
        };
        // False for a NaN, too.
        if !factors[..edges].iter().all(|level| *level > 0.0) {
            return;
        }
        match self.domain {
            Domain::Isolines => self.isolines(factors, mesh),
            Domain::Triangles => self.triangle(factors, mesh),
            Domain::Quads => self.quad(factors, mesh),
        }
        match self.output {
            Output::Points => {
                mesh.primitives.clear();
                let points = 0..mesh.points.len() as u32;
                mesh.primitives.extend(points.map(|point| [point; 3]));
            }
            Output::Clockwise if self.domain != Domain::Isolines => {
                mesh.primitives.iter_mut().for_each(|t| t.swap(1, 2));
            }
            _ => {}
        }
    }

    fn edge(&self, level: f32) -> Edge {
        Edge::new(self.spacing, level, f32::from(self.most))
    }

    /// The edges of the outline and the subdivisions of the inside. Those of a single segment count
    /// as of slightly more, unless all are.
    fn edges<const OUTER: usize, const INNER: usize>(
        &self,
        factors: &Factors,
    ) -> ([Edge; OUTER], [Edge; INNER]) {
        let outer: [Edge; OUTER] = std::array::from_fn(|i| self.edge(factors[i]));
        let mut inner: [Edge; INNER] = std::array::from_fn(|i| self.edge(factors[OUTER + i]));
        let mut all = outer.iter().chain(&inner);
        if !all.all(|edge| edge.segments == 1) {
            for edge in inner.iter_mut().filter(|edge| edge.segments == 1) {
                *edge = Edge::above_one(self.spacing);
            }
        }
        (outer, inner)
    }

    fn isolines(&self, factors: &Factors, mesh: &mut Mesh) {
        let line = self.edge(factors[0]);
        let lines = Edge::new(Spacing::Equal, factors[1], f32::from(self.most));
        // There is no line at v = 1.
        for i in 0..lines.segments {
            let first = mesh.points.len() as u32;
            for j in 0..=line.segments {
                mesh.point(line.place(j), lines.place(i));
            }
            for j in first..first + line.segments {
                mesh.primitives.push([j, j + 1, j]);
            }
        }
    }

    fn quad(&self, factors: &Factors, mesh: &mut Mesh) {
        let (outer, [across, up]) = self.edges::<4, 2>(factors);
        // Around the square, from (0, 0) along v = 0.
        let mut links: [Vec<Link>; 4] = [const { Vec::new() }; 4];
        for (side, edge) in [outer[1], outer[2], outer[3], outer[0]].iter().enumerate() {
            for i in 0..edge.segments {
                let t = edge.place(i);
                let point = match side {
                    0 => mesh.point(t, 0),
                    1 => mesh.point(ONE, t),
                    2 => mesh.point(ONE - t, ONE),
                    _ => mesh.point(0, ONE - t),
                };
                links[side].push((point, t));
            }
        }
        close(&mut links);
        let (m, n) = (across.segments, up.segments);
        if (m, n) == (1, 1) {
            mesh.primitives.extend([[0, 1, 2], [0, 2, 3]]);
            return;
        }
        let first = mesh.points.len() as u32;
        for j in 1..n {
            for i in 1..m {
                mesh.point(across.place(i), up.place(j));
            }
        }
        let at = |i: u32, j: u32| first + (j - 1) * (m - 1) + i - 1;
        for j in 1..n - 1 {
            for i in 1..m - 1 {
                let [a, b, c, d] = [at(i, j), at(i + 1, j), at(i + 1, j + 1), at(i, j + 1)];
                mesh.primitives.extend([[a, b, c], [a, c, d]]);
            }
        }
        let inner: [Vec<Link>; 4] = [
            (1..m).map(|i| (at(i, 1), across.place(i))).collect(),
            (1..n).map(|j| (at(m - 1, j), up.place(j))).collect(),
            (1..m)
                .map(|i| (at(m - i, n - 1), across.place(i)))
                .collect(),
            (1..n).map(|j| (at(1, n - j), up.place(j))).collect(),
        ];
        for (outer, inner) in links.iter().zip(&inner) {
            mesh.connect(outer, inner);
        }
    }

    fn triangle(&self, factors: &Factors, mesh: &mut Mesh) {
        let (outer, [inside]) = self.edges::<3, 1>(factors);
        // Sides around the triangle, from (0, 0) along v = 0. Its points begin at (0, 1), as
        // Direct3D's do: of points at the same place the last one stays.
        let mut links: [Vec<Link>; 3] = [const { Vec::new() }; 3];
        for (side, edge) in FROM_V.into_iter().zip(&outer) {
            for i in 0..edge.segments {
                let t = edge.place(i);
                let point = match side {
                    0 => mesh.point(t, 0),
                    1 => mesh.point(ONE - t, t),
                    _ => mesh.point(0, ONE - t),
                };
                links[side].push((point, t));
            }
        }
        close(&mut links);
        let n = inside.segments;
        // Triangles inside each other, up to a point or to one that is not subdivided.
        for ring in 1..=n / 2 {
            let rest = n - 2 * ring;
            let mut inner: [Vec<Link>; 3] = [const { Vec::new() }; 3];
            // The perpendiculars of the two edges at a corner meet at this distance of both.
            let inset = f64::from(inside.place(ring)) * 2.0 / 3.0;
            for side in FROM_V {
                let inner = &mut inner[side];
                for i in ring..(ring + rest).max(ring + 1) {
                    if rest == 0 && side > 0 {
                        break;
                    }
                    let t = inside.place(i);
                    let along = f64::from(t) - inset / 2.0;
                    let left = f64::from(ONE) - along - inset;
                    let (u, v) = match side {
                        0 => (along, inset),
                        1 => (left, along),
                        _ => (inset, left),
                    };
                    inner.push((mesh.at(u, v), t));
                }
            }
            if rest == 0 {
                let [centre, others @ ..] = &mut inner;
                others.iter_mut().for_each(|other| other.clone_from(centre));
            } else {
                close_at(&mut inner, inside.place(ring + rest));
            }
            for (outer, inner) in links.iter().zip(&inner) {
                mesh.connect(outer, inner);
            }
            links = inner;
        }
        if n % 2 == 1 {
            mesh.primitives
                .push([0, 1, 2].map(|side: usize| links[side][0].0));
        }
    }
}

/// Ends each side of an outline with the first point of the next one.
fn close<const SIDES: usize>(links: &mut [Vec<Link>; SIDES]) {
    close_at(links, ONE);
}

/// The same for sides that end at `end`.
fn close_at<const SIDES: usize>(links: &mut [Vec<Link>; SIDES], end: u32) {
    let corners: [u32; SIDES] = std::array::from_fn(|side| links[side][0].0);
    for (side, links) in links.iter_mut().enumerate() {
        links.push((corners[(side + 1) % SIDES], end));
    }
}

impl Mesh {
    /// Adds a point, in 1/65536. Returns its number.
    fn point(&mut self, u: u32, v: u32) -> u32 {
        self.at(u.into(), v.into())
    }

    fn at(&mut self, u: f64, v: f64) -> u32 {
        let scale = |x: f64| (x / f64::from(ONE)) as f32;
        self.points.push([scale(u), scale(v)]);
        self.points.len() as u32 - 1
    }

    /// Fills the strip between an outer side and the inner one on its left, which run in the same
    /// direction.
    fn connect(&mut self, outer: &[Link], inner: &[Link]) {
        let (mut o, mut i) = (0, 0);
        loop {
            // The shorter of the two diagonals, so that the strip is the same from both of its ends.
            let outer_first = match (outer.get(o + 1), inner.get(i + 1)) {
                (Some((_, a)), Some((_, b))) => a.abs_diff(inner[i].1) <= b.abs_diff(outer[o].1),
                (Some(_), None) => true,
                (None, Some(_)) => false,
                (None, None) => return,
            };
            let (from, to) = (outer[o].0, inner[i].0);
            if outer_first {
                o += 1;
                self.primitives.push([from, outer[o].0, to]);
            } else {
                i += 1;
                self.primitives.push([from, inner[i].0, to]);
            }
        }
    }
}

#[cfg(test)]
mod tests;
