// SPDX-License-Identifier: MIT

use super::super::raster::PIXEL;
use super::*;

const SCREEN: Rect = Rect {
    x0: 0,
    y0: 0,
    x1: 1024,
    y1: 512,
};

/// A triangle in pixels, number `id`.
fn setup(id: u32, corners: [[i32; 2]; 3]) -> Option<Setup> {
    let polygon = Polygon::new(&corners.map(|p| p.map(|v| v * PIXEL)), SCREEN)?;
    Some(Setup {
        vertices: [id; 3],
        ..Setup::of(polygon)
    })
}

fn random(rng: &mut fastrand::Rng, count: u32, size: i32) -> Vec<Setup> {
    let at = |rng: &mut fastrand::Rng, most: i32| rng.i32(-40..most + 40);
    (0..count)
        .filter_map(|id| {
            let [x, y] = [at(rng, SCREEN.x1), at(rng, SCREEN.y1)];
            let corner = |rng: &mut fastrand::Rng| [x + rng.i32(0..size), y + rng.i32(0..size)];
            setup(id, [corner(rng), corner(rng), corner(rng)])
        })
        .collect()
}

/// The numbers of the polygons that draw in each square, in their order, if one thread draws them.
fn expected(setups: &[Setup]) -> Vec<((i32, i32), Vec<u32>)> {
    let mut all = Vec::new();
    for (y, x) in (0..8).flat_map(|y| (0..16).map(move |x| (y, x))) {
        let here = setups.iter().filter(|setup| {
            let [columns, rows] = within(setup.polygon.bounds);
            let inside = columns.contains(&x) && rows.contains(&y);
            inside && !Squares::All.may_miss(&setup.polygon, x, y)
        });
        let numbers: Vec<u32> = here.map(|setup| setup.vertices[0]).collect();
        if !numbers.is_empty() {
            all.push(((x, y), numbers));
        }
    }
    all
}

#[test]
fn sorted_polygons_are_those_of_each_square_in_order() {
    let mut rng = fastrand::Rng::with_seed(4);
    for _ in 0..20 {
        let setups = random(&mut rng, 700, 90);
        let bins = Extent::of(setups.iter()).sort(setups.iter()).unwrap();
        let mut found = Vec::new();
        while let Some((Squares::One(x, y), list)) = bins.take() {
            let numbers: Vec<u32> = list.iter().map(|setup| setup.vertices[0]).collect();
            found.push(((x, y), numbers));
        }
        assert!(found.len() > 50 && bins.take().is_none());
        assert_eq!(found, expected(&setups));
    }
}

#[test]
fn few_and_large_polygons_are_not_sorted() {
    let sorts = |setups: &[Setup]| Extent::of(setups.iter()).sort(setups.iter()).is_some();
    let small = |n: i32| setup(0, [[n, 8], [n + 8, 8], [n, 16]]).unwrap();
    let near: Vec<Setup> = (0..SORTED as i32).map(small).collect();
    assert!(sorts(&near) && !sorts(&near[1..]) && !sorts(&[]));
    // Each in six squares.
    let large = setup(0, [[0, 0], [130, 0], [0, 120]]).unwrap();
    assert!(!sorts(&vec![large.clone(); 100]));
    // Four squares on average.
    let mut mixed = vec![small(0); 200];
    mixed.extend(vec![large; 300]);
    assert!(sorts(&mixed));
    // Small ones, far from each other: more squares in between than is worth their memory.
    let mut far = near;
    let corner = setup(1, [[1000, 500], [1008, 500], [1000, 508]]).unwrap();
    far.push(corner);
    assert!(sorts(&far));
    let wide = Rect {
        x1: 64 * 64 * 5,
        ..SCREEN
    };
    let at = wide.x1 - 10;
    let corners = [[at, 0], [at + 8, 0], [at, 8]].map(|p| p.map(|v| v * PIXEL));
    far.push(Setup::of(Polygon::new(&corners, wide).unwrap()));
    assert!(!sorts(&far));
}

#[test]
fn a_square_has_one_thread() {
    let triangles = [
        [[100, 10], [500, 10], [100, 400]],
        [[70, 70], [80, 70], [70, 500]],
    ];
    let setups = triangles.map(|corners| setup(0, corners).unwrap());
    let claims = Extent::of(setups.iter()).claims();
    let [columns, rows] = within(Extent::of(setups.iter()).bounds);
    let squares = || (rows.clone()).flat_map(|y| columns.clone().map(move |x| (x, y)));
    for (n, square) in squares().enumerate() {
        let thread = n as u16 % 3;
        assert!(claims.take(thread, square));
        assert!(!claims.take((thread + 1) % 3, square), "{square:?}");
        assert!(claims.take(thread, square), "again");
    }
    assert_eq!(squares().count(), 7 * 8);
    // Threads that race get each square once.
    let claims = Extent::of(setups.iter()).claims();
    let taken: usize = std::thread::scope(|scope| {
        let (claims, squares) = (&claims, &squares);
        let threads: Vec<_> = (0..4)
            .map(|thread| {
                let mine = move || squares().filter(|at| claims.take(thread, *at)).count();
                scope.spawn(mine)
            })
            .collect();
        threads.into_iter().map(|t| t.join().unwrap()).sum()
    });
    assert_eq!(taken, squares().count());
}

/// Squares of a polygon's bounds, and tiles in those that it does not miss, one by one.
fn counted(polygon: &Polygon) -> u64 {
    let b = polygon.bounds;
    let [columns, rows] = within(b);
    let squares = rows.flat_map(|y| columns.clone().map(move |x| (x, y)));
    squares.fold(0, |sum, (x, y)| {
        let part = b.intersect(Rect {
            x0: x * SQUARE,
            y0: y * SQUARE,
            x1: (x + 1) * SQUARE,
            y1: (y + 1) * SQUARE,
        });
        let [across, down] = tiles_within(part);
        sum + 1 + u64::from(!misses(polygon, x, y)) * across * down
    })
}

fn work_of(polygon: &Polygon) -> u64 {
    let [columns, rows] = within(polygon.bounds).map(Iterator::count);
    work(polygon, columns * rows)
}

/// Triangles of all shapes, lines, and parts of both in a scissor.
#[test]
fn work_is_at_least_what_there_is_to_walk() {
    const WIDE: Rect = Rect {
        x0: 0,
        y0: 0,
        x1: 4096,
        y1: 3000,
    };
    let mut rng = fastrand::Rng::with_seed(31);
    let mut thin = 0;
    for n in 0..4000 {
        let at = |rng: &mut fastrand::Rng| {
            [WIDE.x1, WIDE.y1].map(|most| rng.i32(-most / 2 * PIXEL..most * 3 / 2 * PIXEL))
        };
        let (a, b) = (at(&mut rng), at(&mut rng));
        let by = 1 << rng.u32(0..12);
        let near = |rng: &mut fastrand::Rng, [x, y]: [i32; 2]| {
            let mut step = || rng.i32(-by * PIXEL..=by * PIXEL);
            [x + step(), y + step()]
        };
        let polygon = match n % 4 {
            0 => Polygon::new(&[a, b, at(&mut rng)], WIDE),
            1 => Polygon::new(&[a, b, near(&mut rng, b)], WIDE),
            2 => Polygon::new(&[a, near(&mut rng, a), near(&mut rng, a)], WIDE),
            _ => {
                let [x, y] = [rng.i32(0..3 * PIXEL), rng.i32(0..3 * PIXEL)];
                let moved = |p: [i32; 2]| [p[0] + x, p[1] + y];
                Polygon::new(&[a, b, moved(b), moved(a)], WIDE)
            }
        };
        let Some(polygon) = polygon else {
            continue;
        };
        let (least, work) = (counted(&polygon), work_of(&polygon));
        assert!(work >= least, "{work} {least} {polygon:?}");
        // Bounds alone would count far more of a line.
        let [across, down] = tiles_within(polygon.bounds);
        thin += u32::from(work * 4 < across * down);
    }
    assert!(thin > 500, "{thin}");
}

#[test]
fn a_limit_cuts_at_a_row_or_a_square() {
    // One polygon in 8x7 squares, with 57 columns and 50 rows of tiles, and one in one square.
    let large = || setup(1, [[64, 10], [512, 10], [64, 401]]).unwrap();
    let small = || setup(2, [[0, 0], [8, 0], [0, 8]]).unwrap();
    let lists = || vec![vec![small(), large()], Vec::new(), vec![small()]];
    let [one, all] = [small(), large()].map(|setup| work_of(&setup.polygon));
    assert_eq!((one, all), (5, 56 + 57 * 50));
    let cut_at = |most: u64| {
        let mut lists = lists();
        cut(&mut lists, most);
        let after: u64 = lists.iter().flatten().map(|s| work_of(&s.polygon)).sum();
        assert!(after <= most, "{after} {most}");
        let lengths: Vec<usize> = lists.iter().map(Vec::len).collect();
        let bounds = lists[0].get(1).map(|setup| setup.polygon.bounds);
        (lengths, bounds.map(|b| (b.x0, b.y0, b.x1, b.y1)))
    };
    let whole = large().polygon.bounds;
    let whole = (whole.x0, whole.y0, whole.x1, whole.y1);
    assert_eq!(cut_at(2 * one + all), (vec![2, 0, 1], Some(whole)));
    assert_eq!(cut_at(2 * one + all - 1), (vec![2, 0, 0], Some(whole)));
    let part = |x1: i32, y1: i32| (vec![2, 0, 0], Some((64, 10, x1, y1)));
    // Of the first row 7 of 8 rows of tiles are within the bounds.
    let (columns, tiles) = ((whole.2 - 64 + 63) / 64, (whole.2 - 64 + 7) / 8);
    let row = |down: i32| (columns + tiles * down) as u64;
    assert_eq!(cut_at(one + row(7)), part(whole.2, 64));
    assert_eq!(cut_at(one + row(7) + row(8) - 1), part(whole.2, 64));
    assert_eq!(cut_at(one + row(7) + row(8)), part(whole.2, 128));
    // Squares of the first row.
    assert_eq!(cut_at(one + row(7) - 1), part((columns - 1) * 64 + 64, 64));
    assert_eq!(cut_at(one + 57), part(128, 64));
    assert_eq!(cut_at(one + 56), (vec![1, 0, 0], None));
    assert_eq!(cut_at(1), (vec![0; 3], None));
    assert_eq!(cut_at(0), (vec![0; 3], None));
}
