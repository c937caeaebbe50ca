// SPDX-License-Identifier: MIT
//! A block of texels that is read prefetches the one to its right.

use std::ops::Range;

use super::*;
use crate::chip::bus::Extent;

/// Memory whose places are its addresses, and what was prefetched.
struct Prefetched<'a> {
    memory: &'a Memory,
    places: Mutex<Vec<(u64, usize)>>,
}

impl Mc for Prefetched<'_> {
    fn read(&self, addr: u64, buf: &mut [u8]) -> Result<(), McError> {
        self.memory.read(addr, buf)
    }
    fn write(&self, addr: u64, buf: &[u8]) -> Result<(), McError> {
        self.memory.write(addr, buf)
    }
    fn resolve(&self, _addr: u64, _write: bool) -> Result<Option<Extent>, McError> {
        let len = self.memory.0.lock().unwrap().len() as u64;
        Ok(Some(Extent {
            start: 0,
            len,
            place: 0,
        }))
    }
    fn read_at(&self, place: u64, buf: &mut [u8]) -> Result<(), McError> {
        self.memory.read(place, buf)
    }
    fn prefetch_at(&self, place: u64, len: usize) {
        self.places.lock().unwrap().push((place, len));
    }
}

/// Samples a texture of RGBA8, `width` x 24 texels, in the middle of `columns` of the second row of blocks.
/// Returns the places and lengths of what is prefetched.
fn prefetched(mode: u32, width: u32, columns: Range<u32>) -> (Scene, Vec<(u64, usize)>) {
    let mut scene = Scene::new(1, mode, [width, 24, 1], RGBA8, 0);
    let memory = Prefetched {
        memory: &scene.memory,
        places: Mutex::default(),
    };
    let view = View::new(&memory);
    let words = (scene.words, sampler(2 | 2 << 3));
    for x in columns.clone() {
        let at = splat([(x as f32 * 8.0 + 4.5) / width as f32, 12.5 / 24.0, 0.0, 0.0]);
        let mut out = [[1; LANES]; 4];
        let op = op(tex::SAMPLE_L);
        sample_anew(
            &mut scene.unit,
            &view,
            &op,
            words,
            &at.each_ref(),
            Mask::MAX,
            &mut out,
        );
    }
    let places = memory.places.into_inner().unwrap();
    assert_eq!(scene.unit.cache.misses, columns.len() as u64);
    (scene, places)
}

#[test]
fn a_block_that_is_read_leads_to_the_next_of_its_row() {
    for mode in [2, 4] {
        let (scene, places) = prefetched(mode, 40, 0..3);
        let surface = &scene.texture.level(0).unwrap().surface;
        let next = |x: u32| (surface.base + surface.layout.offset(x * 8, 8, 0), 256);
        let expected: Vec<_> = (1..4).map(next).collect();
        assert_eq!(places, expected, "array mode {mode}");
    }
}

#[test]
fn the_last_block_of_a_row_leads_nowhere() {
    let (_, places) = prefetched(2, 64, 7..8);
    assert!(places.is_empty());
}
