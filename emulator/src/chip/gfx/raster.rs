// SPDX-License-Identifier: MIT
//! The rasteriser: which samples of an 8x8 tile a convex polygon covers.
//!
//! Positions are fixed point with 8 fraction bits (`QUANT_MODE` 1/256, the only
//! mode that the driver uses). A sample on an edge belongs to the polygon of
//! which this is a left or top edge, so polygons that share an edge neither
//! overlap nor leave a gap (Direct3D 10 functional specification, "Triangle
//! Rasterization Rules"; Mesa selects them by `EDGERULE`).

use super::lanes::{pixel_of, Mask, ALL, LANES};
use super::state::Rect;

/// Fraction bits of a position.
pub const SUBPIXEL_BITS: u32 = 8;
/// One pixel.
pub const PIXEL: i32 = 1 << SUBPIXEL_BITS;
/// Largest coordinate of a vertex, in pixels: products of two differences then
/// fit into 63 bits.
pub const MAX_COORDINATE: f64 = (1 << 20) as f64;
/// Width and height of a tile in pixels.
pub const TILE: i32 = 8;

/// A point in 1/256 pixel.
pub type Point = [i32; 2];

/// The half plane on the inner side of an edge: `a * x + b * y + c >= 0`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Edge {
    a: i64,
    b: i64,
    c: i64,
}

impl Edge {
    /// The edge from `p` to `q` of a polygon that lies to its right in a
    /// system whose y axis points down. A sample exactly on it is inside only
    /// if it is a top or left edge.
    fn new(p: Point, q: Point) -> Self {
        let [dx, dy] = [
            i64::from(q[0]) - i64::from(p[0]),
            i64::from(q[1]) - i64::from(p[1]),
        ];
        let top_left = dy < 0 || (dy == 0 && dx > 0);
        let c = dy * i64::from(p[0]) - dx * i64::from(p[1]) - i64::from(!top_left);
        Self { a: -dy, b: dx, c }
    }

    fn at(&self, x: i64, y: i64) -> i64 {
        self.a * x + self.b * y + self.c
    }
}

/// Twice the signed area of a triangle in units of a pixel / 65536; positive
/// if it is clockwise on a screen whose y axis points down.
pub fn double_area(v: [Point; 3]) -> i64 {
    let d = |i: usize, k: usize| i64::from(v[i][k]) - i64::from(v[0][k]);
    d(1, 0) * d(2, 1) - d(1, 1) * d(2, 0)
}

/// The samples of a tile that a polygon covers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Coverage {
    /// Covered pixels of each sample; empty masks beyond the number of samples.
    pub samples: [Mask; 8],
}

impl Coverage {
    /// All pixels covered, with `count` samples.
    pub fn all(count: usize) -> Self {
        Self {
            samples: std::array::from_fn(|i| if i < count { ALL } else { 0 }),
        }
    }

    /// Pixels with a covered sample.
    pub fn any(&self) -> Mask {
        self.samples.iter().fold(0, |m, s| m | s)
    }

    /// Removes the pixels that are not in `mask`.
    pub fn keep(&mut self, mask: Mask) {
        for sample in &mut self.samples {
            *sample &= mask;
        }
    }
}

/// A convex polygon of three or four corners, as edge equations.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Polygon {
    edges: [Edge; 4],
    /// Number of edges.
    count: usize,
    /// Bounding box within the scissor, in pixels.
    pub bounds: Rect,
    /// Pixels of its area, rounded down; the scissor does not matter.
    pub area: u64,
}

/// Positions of a pixel's samples.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SamplePlaces {
    /// Offsets from the pixel's corner in 1/256 pixel.
    offsets: Vec<[i32; 2]>,
}

impl SamplePlaces {
    /// The first `count` of `places`, which are in 1/16 pixel from the centre.
    pub fn new(places: &[[i8; 2]; 8], count: usize, center_half: bool) -> Self {
        let center = if center_half { PIXEL / 2 } else { 0 };
        Self {
            offsets: places
                .iter()
                .take(count.clamp(1, 8))
                .map(|p| p.map(|v| center + i32::from(v) * (PIXEL / 16)))
                .collect(),
        }
    }

    /// Number of samples.
    pub fn count(&self) -> usize {
        self.offsets.len()
    }
}

/// Steps from a tile's first pixel to each lane's, in pixels.
static LANE_X: [i32; LANES] = lane_steps(0);
static LANE_Y: [i32; LANES] = lane_steps(1);

const fn lane_steps(axis: usize) -> [i32; LANES] {
    let mut steps = [0; LANES];
    let mut lane = 0;
    while lane < LANES {
        let (x, y) = pixel_of(lane);
        steps[lane] = if axis == 0 { x as i32 } else { y as i32 };
        lane += 1;
    }
    steps
}

/// The lanes of a tile's first 0 to 8 columns and rows.
static COLUMNS: [Mask; 9] = lanes_before(0);
static ROWS: [Mask; 9] = lanes_before(1);

const fn lanes_before(axis: usize) -> [Mask; 9] {
    let mut masks = [0; 9];
    let mut n = 0;
    while n <= 8 {
        let mut lane = 0;
        while lane < LANES {
            let (x, y) = pixel_of(lane);
            if (if axis == 0 { x } else { y }) < n {
                masks[n] |= 1 << lane;
            }
            lane += 1;
        }
        n += 1;
    }
    masks
}

/// The lanes of a tile at pixel (`x`, `y`) that lie within `rect`.
pub fn lanes_within(rect: Rect, x: i32, y: i32) -> Mask {
    let before = |masks: &[Mask; 9], end: i32, start: i32| {
        masks[end.saturating_sub(start).clamp(0, TILE) as usize]
    };
    before(&COLUMNS, rect.x1, x)
        & !before(&COLUMNS, rect.x0, x)
        & before(&ROWS, rect.y1, y)
        & !before(&ROWS, rect.y0, y)
}

impl Polygon {
    /// A polygon with `corners` (three or four, convex, either winding), clipped
    /// to `scissor`. None if it has no area or lies outside.
    pub fn new(corners: &[Point], scissor: Rect) -> Option<Self> {
        let count = corners.len().min(4);
        // Twice the area, the sum over a fan of triangles. It fits: corners are
        // within MAX_COORDINATE.
        let area: i64 = (1..count.saturating_sub(1))
            .map(|i| double_area([corners[0], corners[i], corners[i + 1]]))
            .sum();
        if area == 0 {
            return None;
        }
        let min = |k: usize| corners.iter().map(|c| c[k]).min().unwrap_or(0);
        let max = |k: usize| corners.iter().map(|c| c[k]).max().unwrap_or(0);
        let touched = Rect {
            x0: min(0) >> SUBPIXEL_BITS,
            y0: min(1) >> SUBPIXEL_BITS,
            x1: (max(0) >> SUBPIXEL_BITS) + 1,
            y1: (max(1) >> SUBPIXEL_BITS) + 1,
        };
        let bounds = touched.intersect(scissor);
        if bounds.is_empty() {
            return None;
        }
        let mut edges = [Edge::default(); 4];
        for (i, edge) in edges.iter_mut().take(count).enumerate() {
            let (p, q) = (corners[i], corners[(i + 1) % count]);
            *edge = if area > 0 {
                Edge::new(p, q)
            } else {
                Edge::new(q, p)
            };
        }
        Some(Self {
            edges,
            count,
            bounds,
            area: area.unsigned_abs() >> (2 * SUBPIXEL_BITS + 1),
        })
    }

    /// Whether the square of `size` pixels at (`x`, `y`) lies outside of an edge. False does not
    /// mean that it has covered pixels.
    pub fn misses(&self, x: i32, y: i32, size: i32) -> bool {
        let (x0, y0) = (
            i64::from(x) * i64::from(PIXEL),
            i64::from(y) * i64::from(PIXEL),
        );
        let extent = i64::from(size) * i64::from(PIXEL);
        self.edges[..self.count].iter().any(|e| {
            let best = e.at(x0, y0) + e.a.max(0) * extent + e.b.max(0) * extent;
            best < 0
        })
    }

    /// Whether all samples of the square of `size` pixels at (`x`, `y`) are covered.
    pub fn covers(&self, x: i32, y: i32, size: i32, places: &SamplePlaces) -> bool {
        let b = self.bounds;
        if b.x0 > x || b.y0 > y || b.x1 < x + size || b.y1 < y + size {
            return false;
        }
        let span = i64::from(size - 1) * i64::from(PIXEL);
        places.offsets.iter().all(|offset| {
            let sx = i64::from(x) * i64::from(PIXEL) + i64::from(offset[0]);
            let sy = i64::from(y) * i64::from(PIXEL) + i64::from(offset[1]);
            self.edges[..self.count].iter().all(|e| {
                let worst = e.at(sx, sy) + (e.a.min(0) + e.b.min(0)) * span;
                worst >= 0
            })
        })
    }

    /// The covered samples of the tile whose upper left pixel is (`x`, `y`).
    pub fn cover(&self, x: i32, y: i32, places: &SamplePlaces) -> Coverage {
        let mut samples = [0; 8];
        let within = lanes_within(self.bounds, x, y);
        if within == 0 {
            return Coverage { samples };
        }
        let clamp = |v: i32| v.saturating_sub(y).clamp(0, TILE);
        let rows = [clamp(self.bounds.y0), clamp(self.bounds.y1)];
        for (mask, offset) in samples.iter_mut().zip(&places.offsets) {
            let sx = i64::from(x) * i64::from(PIXEL) + i64::from(offset[0]);
            let sy = i64::from(y) * i64::from(PIXEL) + i64::from(offset[1]);
            *mask = within & inner_lanes(&self.edges[..self.count], sx, sy, rows);
        }
        Coverage { samples }
    }
}

/// Lanes of the rows from `rows[0]` to before `rows[1]` on the inner side of all `edges`, and any of
/// the others. The first lane's sample is at (`sx`, `sy`).
fn inner_lanes(edges: &[Edge], sx: i64, sy: i64, rows: [i32; 2]) -> Mask {
    const SPAN: i64 = TILE as i64 - 1;
    let mut mask = ALL;
    // Edges that cross the tile, with small coefficients.
    let (mut small, mut count) = ([[0; 3]; 4], 0);
    for edge in edges {
        // A step of one pixel changes the value by a multiple of 256, so it is divided by 256 and
        // rounded down: signs do not change.
        let c = edge.at(sx, sy) >> SUBPIXEL_BITS;
        let (a, b) = (edge.a, edge.b);
        if c + SPAN * (a.min(0) + b.min(0)) >= 0 {
            continue;
        }
        if c + SPAN * (a.max(0) + b.max(0)) < 0 {
            return 0;
        }
        // The edge crosses the tile, so |c| is at most 7 * (|a| + |b|).
        match (i32::try_from(a), i32::try_from(b), i32::try_from(c)) {
            (Ok(a), Ok(b), Ok(c)) if a.abs() < 1 << 26 && b.abs() < 1 << 26 => {
                small[count & 3] = [a, b, c];
                count += 1;
            }
            _ => {
                for lane in 0..LANES {
                    let v = c + a * i64::from(LANE_X[lane]) + b * i64::from(LANE_Y[lane]);
                    mask &= !(u64::from(v < 0) << lane);
                }
            }
        }
    }
    mask & match small {
        _ if count == 0 => return mask,
        [a, ..] if count == 1 => small_edges([a], rows),
        [a, b, ..] if count == 2 => small_edges([a, b], rows),
        [a, b, c, _] if count == 3 => small_edges([a, b, c], rows),
        all => small_edges(all, rows),
    }
}

/// The lanes of `rows` for which `c + a * x + b * y >= 0` for all `[a, b, c]` of `edges`. The caller
/// rules overflow out.
fn small_edges<const N: usize>(edges: [[i32; 3]; N], rows: [i32; 2]) -> Mask {
    let mut at = [[0i32; TILE as usize]; N];
    for (at, [a, b, c]) in at.iter_mut().zip(edges) {
        for (x, at) in at.iter_mut().enumerate() {
            *at = c + a * x as i32 + b * rows[0];
        }
    }
    // Rows 0 to 3 are the lower 32 lanes, rows 4 to 7 the upper ones.
    let mut halves = [[0u32; TILE as usize]; 2];
    for row in rows[0]..rows[1] {
        let (half, bits) = (row as usize / 4 & 1, &LANE_BIT[row as usize & 3]);
        for x in 0..TILE as usize {
            let mut all = at[0][x];
            for at in &at[1..] {
                all |= at[x];
            }
            // All ones if all sign bits are clear.
            halves[half][x] |= !(all >> 31) as u32 & bits[x];
        }
        for (at, [_, b, _]) in at.iter_mut().zip(edges) {
            at.iter_mut().for_each(|at| *at += b);
        }
    }
    let [low, high] = &halves;
    let any = |lanes: &[u32; TILE as usize]| lanes.iter().fold(0, |all, lane| all | lane);
    u64::from(any(low)) | u64::from(any(high)) << 32
}

/// The bit of the lane of pixel (x, y) in the upper half of a tile, indexed by y, then x.
static LANE_BIT: [[u32; 8]; 4] = lane_bits();

const fn lane_bits() -> [[u32; 8]; 4] {
    let mut bits = [[0; 8]; 4];
    let mut lane = 0;
    while lane < 32 {
        let (x, y) = pixel_of(lane);
        bits[y][x] = 1 << lane;
        lane += 1;
    }
    bits
}

/// A linear function of the position on the screen.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Plane {
    /// Value at the origin.
    pub c: f64,
    /// Change per pixel to the right.
    pub dx: f64,
    /// Change per pixel down.
    pub dy: f64,
}

impl Plane {
    /// The value at (`x`, `y`) in pixels.
    #[inline]
    pub fn at(&self, x: f64, y: f64) -> f64 {
        self.c + self.dx * x + self.dy * y
    }
}

/// Makes planes through three corners of a polygon.
#[derive(Debug, Clone, Copy)]
pub struct Planes {
    origin: [f64; 2],
    d1: [f64; 2],
    d2: [f64; 2],
    inverse: f64,
}

impl Planes {
    /// Planes over the triangle `v`; constant ones if it has no area.
    pub fn new(v: [Point; 3]) -> Self {
        let p = v.map(|p| p.map(|c| f64::from(c) / f64::from(PIXEL)));
        let d1 = [p[1][0] - p[0][0], p[1][1] - p[0][1]];
        let d2 = [p[2][0] - p[0][0], p[2][1] - p[0][1]];
        let area = d1[0] * d2[1] - d1[1] * d2[0];
        Self {
            origin: p[0],
            d1,
            d2,
            inverse: if area == 0.0 { 0.0 } else { 1.0 / area },
        }
    }

    /// The plane that has the given values at the three corners.
    pub fn through(&self, v: [f64; 3]) -> Plane {
        let (a, b) = (v[1] - v[0], v[2] - v[0]);
        let dx = (a * self.d2[1] - b * self.d1[1]) * self.inverse;
        let dy = (b * self.d1[0] - a * self.d2[0]) * self.inverse;
        Plane {
            c: v[0] - dx * self.origin[0] - dy * self.origin[1],
            dx,
            dy,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const SCREEN: Rect = Rect {
        x0: 0,
        y0: 0,
        x1: 64,
        y1: 64,
    };

    fn center() -> SamplePlaces {
        SamplePlaces::new(&[[0; 2]; 8], 1, true)
    }

    /// Covered pixels of the screen, row by row.
    fn pixels(polygon: &Polygon) -> Vec<(i32, i32)> {
        let mut found = Vec::new();
        for ty in (0..64).step_by(8) {
            for tx in (0..64).step_by(8) {
                let mask = polygon.cover(tx, ty, &center()).samples[0];
                for lane in 0..LANES {
                    if mask >> lane & 1 != 0 {
                        let (x, y) = pixel_of(lane);
                        found.push((tx + x as i32, ty + y as i32));
                    }
                }
            }
        }
        found.sort_by_key(|&(x, y)| (y, x));
        found
    }

    fn point() -> impl Strategy<Value = Point> {
        // On a coarse grid half of the time, so that samples lie on edges.
        prop_oneof![
            [-20i32..84, -20i32..84].prop_map(|p| p.map(|v| v * 128)),
            [-5000i32..20_000, -5000i32..20_000],
        ]
    }

    proptest! {
        /// Independent reference: the rule evaluated per pixel with 128-bit
        /// cross products.
        #[test]
        fn cover_matches_cross_products(v in [point(), point(), point()]) {
            let area = double_area(v);
            let polygon = Polygon::new(&v, SCREEN);
            let mut expected = Vec::new();
            for y in 0..64i32 {
                for x in 0..64i32 {
                    let p = [i128::from(x) * 256 + 128, i128::from(y) * 256 + 128];
                    let inside = area != 0 && (0..3).all(|i| {
                        let (a, b) = (v[i], v[(i + 1) % 3]);
                        let (a, b) = if area > 0 { (a, b) } else { (b, a) };
                        let [ax, ay, bx, by] = [a[0], a[1], b[0], b[1]].map(i128::from);
                        let cross = (bx - ax) * (p[1] - ay) - (by - ay) * (p[0] - ax);
                        let top_left = by < ay || (by == ay && bx > ax);
                        cross > 0 || (cross == 0 && top_left)
                    });
                    if inside {
                        expected.push((x, y));
                    }
                }
            }
            prop_assert_eq!(polygon.map_or(Vec::new(), |p| pixels(&p)), expected);
        }

        /// The two triangles of a quadrilateral do not both cover a pixel.
        #[test]
        fn shared_edge_is_watertight(a in point(), b in point(), c in point(), d in point()) {
            let (p, q) = (double_area([a, b, c]), double_area([a, c, d]));
            // The triangles lie on different sides of the diagonal.
            prop_assume!(p != 0 && q != 0 && (p > 0) == (q > 0));
            let mut both = Polygon::new(&[a, b, c], SCREEN).map_or(Vec::new(), |p| pixels(&p));
            both.extend(Polygon::new(&[a, c, d], SCREEN).map_or(Vec::new(), |p| pixels(&p)));
            let n = both.len();
            both.sort_unstable();
            both.dedup();
            prop_assert_eq!(both.len(), n);
        }

        #[test]
        fn covers_says_what_cover_finds(
            v in [point(), point(), point()], x in 0i32..8, y in 0i32..8, size in 1i32..4,
        ) {
            let size = size * 8;
            if let Some(polygon) = Polygon::new(&v, SCREEN) {
                let all = (0..size / 8).all(|ty| {
                    (0..size / 8).all(|tx| {
                        polygon.cover((x + tx) * 8, (y + ty) * 8, &center()).samples[0] == ALL
                    })
                });
                prop_assert_eq!(polygon.covers(x * 8, y * 8, size, &center()), all);
            }
        }

        #[test]
        fn lanes_within_are_those_inside(x0 in -20i32..20, y0 in -20i32..20, w in 0i32..30, h in 0i32..30) {
            let rect = Rect { x0, y0, x1: x0 + w, y1: y0 + h };
            let mask = lanes_within(rect, 0, 0);
            for lane in 0..LANES {
                let (x, y) = pixel_of(lane);
                let (x, y) = (x as i32, y as i32);
                let inside = x >= x0 && x < x0 + w && y >= y0 && y < y0 + h;
                prop_assert_eq!(mask >> lane & 1 == 1, inside);
            }
        }

        #[test]
        fn misses_never_loses_a_pixel(v in [point(), point(), point()], x in 0i32..8, y in 0i32..8) {
            if let Some(polygon) = Polygon::new(&v, SCREEN) {
                if polygon.misses(x * 8, y * 8, 8) {
                    prop_assert_eq!(polygon.cover(x * 8, y * 8, &center()).any(), 0);
                }
            }
        }
    }

    #[test]
    fn rectangle_on_pixel_edges_covers_them_exactly() {
        let r = |v: i32| v * 256;
        let corners = [[r(3), r(2)], [r(10), r(2)], [r(10), r(4)], [r(3), r(4)]];
        let found = pixels(&Polygon::new(&corners, SCREEN).unwrap());
        assert_eq!(found.len(), 14);
        assert_eq!((found[0], found[13]), ((3, 2), (9, 3)));
    }

    #[test]
    fn largest_coordinates_do_not_overflow() {
        let m = MAX_COORDINATE as i32 * 256;
        let corners = [[-m, -m], [m, -m], [m, m], [-m, m]];
        let polygon = Polygon::new(&corners, SCREEN).unwrap();
        assert_eq!(pixels(&polygon).len(), 64 * 64);
    }

    #[test]
    fn samples_have_their_own_coverage() {
        // A half plane through the pixel's centre column.
        let places = SamplePlaces::new(
            &[
                [-4, 4],
                [4, -4],
                [0, 0],
                [0, 0],
                [0, 0],
                [0, 0],
                [0, 0],
                [0, 0],
            ],
            2,
            true,
        );
        let corners = [[128, 0], [2048, 0], [2048, 2048], [128, 2048]];
        let cover = Polygon::new(&corners, SCREEN).unwrap().cover(0, 0, &places);
        assert_eq!(cover.samples[0] & 1, 0, "left of the centre");
        assert_eq!(cover.samples[1] & 1, 1, "right of it");
        assert_eq!(cover.samples[2], 0);
        assert_eq!(cover.any(), ALL);
    }

    #[test]
    fn plane_passes_through_corners() {
        let v = [[256, 512], [5000, 700], [1000, 9000]];
        let plane = Planes::new(v).through([1.0, -2.0, 5.0]);
        for (p, value) in v.iter().zip([1.0, -2.0, 5.0]) {
            let found = plane.at(f64::from(p[0]) / 256.0, f64::from(p[1]) / 256.0);
            assert!((found - value).abs() < 1e-9);
        }
    }
}
