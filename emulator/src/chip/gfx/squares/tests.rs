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
