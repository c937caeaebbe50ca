// SPDX-License-Identifier: MIT
//! Frames of Mesa's, captured once and executed again: a change of the 3D engine that draws something
//! else shows without Mesa.
//!
//! `tests/captures/make` makes them of scenes of `bench/gallery`. Each has hashes of the pages that its submissions
//! changed; `tests/captures/expected` has the hash of the picture that the last draw leaves.

mod frames;

use std::collections::BTreeMap;

use frames::{unpacked, FRAMES};
use r7xx_board::fnv::fnv1a;
use r7xx_board::host::target_png::write_png;
use r7xx_shim::capture::{Reader, Record};
use r7xx_shim::redundant;
use r7xx_shim::replay::{replay, Options, Outcome};

/// Chip and scene, width, height, FNV-1a of the picture's bytes (RGBA, the first row in memory last).
const EXPECTED: &str = include_str!("../../tests/captures/expected");

/// Chip and scene; draws, registers written, with their own value, replaced; flushes, those with nothing to flush.
const REDUNDANT: &str = include_str!("../../tests/captures/redundant");

fn run(bytes: &[u8], threads: usize) -> Outcome {
    let options = Options {
        threads,
        ..Options::default()
    };
    replay(Reader::new(bytes).unwrap(), options, None).unwrap()
}

/// Width, height and hash of the picture.
fn picture(outcome: &Outcome) -> (u32, u32, u64) {
    let (target, size) = outcome.seen.target.unwrap();
    let mut png = Vec::new();
    write_png(&target, size, false, &*outcome.memory, &mut png).unwrap();
    let mut reader = png::Decoder::new(&png[..]).read_info().unwrap();
    let mut pixels = vec![0; reader.output_buffer_size()];
    reader.next_frame(&mut pixels).unwrap();
    (size.0, size.1, fnv1a(pixels))
}

fn expected() -> BTreeMap<&'static str, (u32, u32, u64)> {
    let rows = EXPECTED.lines().filter(|line| !line.starts_with('#'));
    let parsed = rows.map(|row| {
        let words: Vec<&str> = row.split_whitespace().collect();
        let [name, width, height, hash] = words[..] else {
            panic!("{row}");
        };
        let hash = u64::from_str_radix(hash, 16).unwrap();
        (
            name,
            (width.parse().unwrap(), height.parse().unwrap(), hash),
        )
    });
    parsed.collect()
}

#[test]
fn frames_are_drawn_as_they_were_captured() {
    let expected = expected();
    let mut others = Vec::new();
    for &(name, frame) in FRAMES {
        assert!(frame.len() <= 100 << 10, "{name}: {} bytes", frame.len());
        let bytes = unpacked(frame);
        let mut found = Vec::new();
        let mut gathered = Vec::new();
        for threads in [1, 3] {
            let outcome = run(&bytes, threads);
            let seen = &outcome.seen;
            assert_eq!(seen.different, [], "{name}");
            assert!(seen.dropped.is_empty(), "{name}");
            assert!(seen.draws >= 3 && seen.pages > 50, "{name}: {seen:?}");
            found.push(picture(&outcome));
            gathered.push(seen.gathered);
        }
        let [first, second] = found[..] else {
            panic!("{found:?}");
        };
        println!("{name} {} {} {:016x}", first.0, first.1, first.2);
        assert_eq!(first, second, "{name}");
        // A long shader and small polygons: they share waves, the same on any number of threads.
        assert_eq!(gathered[0], gathered[1], "{name}");
        assert_eq!(
            gathered[0] > 100,
            name == "cayman-phong",
            "{name}: {gathered:?}"
        );
        if Some(&first) != expected.get(name) {
            others.push(name);
        }
    }
    assert!(others.is_empty(), "other pictures: {others:?}");
}

/// A frame with one other byte of what it reads draws something else, so the test above looks.
#[test]
fn another_texel_or_constant_is_seen() {
    for &(name, frame) in FRAMES {
        let bytes = unpacked(frame);
        let mut reader = Reader::new(&bytes[..]).unwrap();
        let mut out = bytes[..9 + usize::from(bytes[8])].to_vec();
        let mut pages = 0;
        while let Some(mut record) = reader.record().unwrap() {
            if let Record::Page(_, page) = &mut record {
                pages += 1;
                page.iter_mut().for_each(|byte| *byte ^= 0x10);
            }
            record.write(&mut out).unwrap();
        }
        assert!(pages > 0, "{name}");
        assert_ne!(run(&out, 1).seen.different, [], "{name}");
    }
}

#[test]
fn what_frames_say_twice_is_as_documented() {
    let mut found = String::new();
    for &(name, frame) in FRAMES {
        let bytes = unpacked(frame);
        let twice = redundant::count(Reader::new(&bytes[..]).unwrap()).unwrap();
        let (draws, writes, flushes) = (twice.draws, twice.writes, twice.flushes);
        let executed = run(&bytes, 1).seen.draws;
        assert_eq!(executed, draws, "{name}");
        found += &format!(
            "{name} {draws} {} {} {} {flushes} {}\n",
            writes.all, writes.same, writes.unread, twice.empty_flushes
        );
    }
    let rows = REDUNDANT.lines().filter(|line| !line.starts_with('#'));
    assert_eq!(found.lines().collect::<Vec<_>>(), rows.collect::<Vec<_>>());
}
