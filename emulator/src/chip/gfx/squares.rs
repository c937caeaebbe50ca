// SPDX-License-Identifier: MIT
//! Which thread draws which square of the render targets.
//!
//! In a batch a square is drawn by one thread, so that each of its pixels gets its polygons in order.
//! Threads take squares as they come: one that starts late takes fewer.
//!
//! Many small polygons are sorted by square first ([`Bins`]): a thread then looks at those of its
//! squares alone. Otherwise each thread walks all polygons, and takes squares that no other one has
//! taken ([`Claims`]): what a polygon's tiles have in common is worked out once for each thread.

use std::ops::RangeInclusive;
use std::sync::atomic::{AtomicU16, AtomicUsize, Ordering};

use super::pixel::SQUARE;
use super::raster::{Polygon, TILE};
use super::setup::Setup;
use super::state::Rect;

/// Fewest polygons that are sorted.
const SORTED: usize = 64;
/// Most squares of a polygon, on average, with which polygons are sorted, and most squares in all for
/// each polygon.
const SPREAD: usize = 4;

/// The squares that a thread may draw.
#[derive(Debug, Clone, Copy)]
pub enum Squares<'a> {
    /// All: it is the only one.
    All,
    /// This one (column, row).
    One(i32, i32),
    /// Those that it takes; the number is the thread's.
    Claimed(&'a Claims, u16),
}

impl Squares<'_> {
    /// The columns and rows of squares within `bounds` to look at.
    #[inline]
    pub fn within(&self, bounds: Rect) -> [RangeInclusive<i32>; 2] {
        match *self {
            Self::One(x, y) => [x..=x, y..=y],
            _ => within(bounds),
        }
    }

    /// Whether the thread draws the square, in which a polygon may have pixels: no other thread does
    /// then.
    #[inline]
    pub fn take(&self, x: i32, y: i32) -> bool {
        match self {
            Self::Claimed(claims, thread) => claims.take(*thread, (x, y)),
            _ => true,
        }
    }

    /// Whether it is still to be found out that a polygon misses a square. Sorting has done so.
    #[inline]
    pub fn may_miss(&self, polygon: &Polygon, x: i32, y: i32) -> bool {
        let sorted = matches!(self, Self::One(..));
        !sorted && misses(polygon, x, y)
    }
}

/// Columns and rows of the squares that `bounds` touches.
#[inline]
fn within(bounds: Rect) -> [RangeInclusive<i32>; 2] {
    let of = |from: i32, to: i32| from.div_euclid(SQUARE)..=(to - 1).div_euclid(SQUARE);
    [of(bounds.x0, bounds.x1), of(bounds.y0, bounds.y1)]
}

/// Whether a polygon certainly has no pixels in a square that its bounds touch. A polygon in one
/// square alone is not looked at.
#[inline]
fn misses(polygon: &Polygon, x: i32, y: i32) -> bool {
    let [columns, rows] = within(polygon.bounds);
    let several = columns.start() != columns.end() || rows.start() != rows.end();
    several && polygon.misses(x * SQUARE, y * SQUARE, SQUARE)
}

/// Columns and rows of tiles that `bounds` touches.
fn tiles_within(bounds: Rect) -> [u64; 2] {
    let of = |from: i32, to: i32| ((to - 1).div_euclid(TILE) - from.div_euclid(TILE) + 1) as u64;
    [of(bounds.x0, bounds.x1), of(bounds.y0, bounds.y1)]
}

/// At least the number of squares that a polygon's bounds touch, and of tiles in those of them that
/// it does not [miss](misses): what [`Limits::tiles`](super::stage::Limits) counts. It depends on
/// nothing but the polygon, and costs the same for each.
///
/// A convex polygon has at most so many squares inside as fit into its area. Its outline advances to
/// each side once, so that it passes at most twice as many squares as there are columns and rows.
fn work(polygon: &Polygon, squares: usize) -> u64 {
    let [columns, rows] = tiles_within(polygon.bounds);
    let square = (SQUARE / TILE) as u64;
    let thin = polygon.area / (TILE * TILE) as u64
        + 2 * square * (columns + rows)
        + CORNERS * square * square;
    squares as u64 + thin.min(columns * rows)
}

/// More squares that [`work`] adds: where the outline turns, and where edges meet.
const CORNERS: u64 = 8;

/// Shortens lists of polygons, the first one first, so that their [work](work) is at most `most`: the
/// polygon that exceeds it keeps the rows of squares that fit, or the first squares of its first
/// row; those after it are dropped.
pub(super) fn cut(lists: &mut [Vec<Setup>], most: u64) {
    // None once a polygon has exceeded it.
    let mut left = Some(most);
    for list in lists {
        let mut kept = 0;
        for setup in &mut *list {
            let Some(rest) = left else {
                break;
            };
            let bounds = setup.polygon.bounds;
            let [columns, rows] = within(bounds).map(Iterator::count);
            left = rest.checked_sub(work(&setup.polygon, columns * rows));
            if left.is_none() {
                let Some(part) = beginning(bounds, rest) else {
                    break;
                };
                setup.polygon.bounds = part;
            }
            kept += 1;
        }
        list.truncate(kept);
    }
}

/// The first rows of squares of `bounds` whose squares and tiles are at most `most`, or the first
/// squares of the first row; none if not even one square fits.
fn beginning(bounds: Rect, most: u64) -> Option<Rect> {
    let [columns, rows] = within(bounds);
    let fits = |part: Rect| {
        let [columns, rows] = within(part).map(|range| range.count() as u64);
        let [across, down] = tiles_within(part);
        columns * rows + across * down <= most
    };
    let to_row = |row: i32| Rect {
        y1: bounds.y1.min((row + 1) * SQUARE),
        ..bounds
    };
    let first = to_row(*rows.start());
    let to_column = |column: i32| Rect {
        x1: bounds.x1.min((column + 1) * SQUARE),
        ..first
    };
    let several = rows.map(to_row).take_while(|part| fits(*part)).last();
    several.or_else(|| columns.map(to_column).take_while(|part| fits(*part)).last())
}

/// What a batch's polygons cover.
#[derive(Debug, Clone, Copy)]
pub(super) struct Extent {
    /// Pixels of their bounds, all together.
    pub(super) area: i64,
    polygons: usize,
    /// Squares of each polygon's bounds, all together.
    touched: usize,
    /// The [work](work) of each, all together.
    pub(super) work: u64,
    /// Bounds of them all.
    bounds: Rect,
}

impl Extent {
    pub(super) fn of<'a>(setups: impl Iterator<Item = &'a Setup>) -> Self {
        let mut extent = Self {
            area: 0,
            polygons: 0,
            touched: 0,
            work: 0,
            bounds: Rect {
                x0: i32::MAX,
                y0: i32::MAX,
                x1: i32::MIN,
                y1: i32::MIN,
            },
        };
        for setup in setups {
            let b = setup.polygon.bounds;
            extent.polygons += 1;
            extent.area += i64::from(b.x1 - b.x0) * i64::from(b.y1 - b.y0);
            let [columns, rows] = within(b).map(|range| (range.end() - range.start() + 1) as usize);
            extent.touched = extent.touched.saturating_add(columns * rows);
            extent.work += work(&setup.polygon, columns * rows);
            let all = &mut extent.bounds;
            (all.x0, all.y0) = (all.x0.min(b.x0), all.y0.min(b.y0));
            (all.x1, all.y1) = (all.x1.max(b.x1), all.y1.max(b.y1));
        }
        extent
    }

    fn grid(&self) -> Grid {
        let none = Rect {
            x0: 0,
            y0: 0,
            x1: 1,
            y1: 1,
        };
        let bounds = if self.polygons == 0 {
            none
        } else {
            self.bounds
        };
        let [columns, rows] = within(bounds);
        Grid {
            first: (*columns.start(), *rows.start()),
            width: (columns.end() - columns.start() + 1) as usize,
            height: (rows.end() - rows.start() + 1) as usize,
        }
    }

    /// The polygons, sorted by square; none if they are few or large.
    pub(super) fn sort<'a>(&self, setups: impl Iterator<Item = &'a Setup>) -> Option<Bins<'a>> {
        let grid = self.grid();
        let most = self.polygons * SPREAD;
        let small = self.touched <= most && grid.width * grid.height <= most;
        (small && self.polygons >= SORTED).then(|| Bins::new(grid, setups))
    }

    /// Claims of the squares.
    pub(super) fn claims(&self) -> Claims {
        let grid = self.grid();
        let owners = (0..grid.width * grid.height).map(|_| AtomicU16::new(FREE));
        Claims {
            owners: owners.collect(),
            grid,
        }
    }
}

/// Squares in a rectangle.
#[derive(Debug, Clone, Copy)]
struct Grid {
    /// Column and row of the first one.
    first: (i32, i32),
    width: usize,
    height: usize,
}

impl Grid {
    #[inline]
    fn index(&self, (x, y): (i32, i32)) -> usize {
        (y - self.first.1) as usize * self.width + (x - self.first.0) as usize
    }

    fn square(&self, index: usize) -> (i32, i32) {
        let (x, y) = (index % self.width, index / self.width);
        (self.first.0 + x as i32, self.first.1 + y as i32)
    }
}

/// No thread has taken the square.
const FREE: u16 = u16::MAX;

/// The thread that has taken each square of a batch.
#[derive(Debug)]
pub struct Claims {
    grid: Grid,
    owners: Vec<AtomicU16>,
}

impl Claims {
    /// Takes a square for `thread`, if it is free. Whether it is this thread's.
    // The threads hand no data on by this, so the order of other accesses does not matter.
    #[inline]
    fn take(&self, thread: u16, square: (i32, i32)) -> bool {
        let Some(owner) = self.owners.get(self.grid.index(square)) else {
            return false;
        };
        match owner.load(Ordering::Relaxed) {
            FREE => {
                let order = Ordering::Relaxed;
                (owner.compare_exchange(FREE, thread, order, order)).is_ok()
            }
            owner => owner == thread,
        }
    }
}

/// The polygons of a batch by square.
#[derive(Debug)]
pub(super) struct Bins<'a> {
    grid: Grid,
    /// Of square n of the grid, from place n to n + 1 of `ends`, in their order.
    setups: Vec<&'a Setup>,
    ends: Vec<u32>,
    /// The square that is taken next.
    next: AtomicUsize,
}

impl<'a> Bins<'a> {
    fn new(grid: Grid, setups: impl Iterator<Item = &'a Setup>) -> Self {
        let mut found = Vec::new();
        let mut ends = vec![0; grid.width * grid.height + 1];
        for setup in setups {
            let [columns, rows] = within(setup.polygon.bounds);
            for (x, y) in rows.flat_map(|y| columns.clone().map(move |x| (x, y))) {
                if !misses(&setup.polygon, x, y) {
                    let index = grid.index((x, y));
                    ends[index] += 1;
                    found.push((index as u32, setup));
                }
            }
        }
        // The place of each square's first polygon; then that of its next one.
        let mut sum = 0;
        for end in &mut ends {
            sum += std::mem::replace(end, sum);
        }
        let mut setups: Vec<&Setup> = match found.first() {
            Some((_, any)) => vec![*any; found.len()],
            None => Vec::new(),
        };
        for (index, setup) in found {
            let place = &mut ends[index as usize];
            setups[*place as usize] = setup;
            *place += 1;
        }
        // What was the end of square n is the place where n + 1 begins.
        ends.rotate_right(1);
        ends[0] = 0;
        Self {
            grid,
            setups,
            ends,
            next: AtomicUsize::new(0),
        }
    }

    /// Takes a square: its column and row, and its polygons in their order. None if all are taken.
    pub(super) fn take(&self) -> Option<(Squares<'static>, &[&'a Setup])> {
        loop {
            let index = self.next.fetch_add(1, Ordering::Relaxed);
            let range = match (self.ends.get(index), self.ends.get(index + 1)) {
                (Some(from), Some(to)) => *from as usize..*to as usize,
                _ => return None,
            };
            let setups = self.setups.get(range)?;
            if !setups.is_empty() {
                let (x, y) = self.grid.square(index);
                return Some((Squares::One(x, y), setups));
            }
        }
    }
}

#[cfg(test)]
mod tests;
