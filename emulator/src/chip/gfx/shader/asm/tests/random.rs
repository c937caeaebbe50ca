// SPDX-License-Identifier: MIT
//! Random words, which are made again, and random texts, which are refused at a place.

use super::*;

/// Words of a program whose clauses are within `dwords`, of instructions that are more or less likely.
fn random_words(random: &mut fastrand::Rng, isa: Isa, dwords: usize) -> Vec<u32> {
    let mut words: Vec<u32> = (0..dwords).map(|_| random.u32(..)).collect();
    // Some are close to what there is.
    for word in &mut words {
        if random.bool() {
            *word &= random.u32(..) & random.u32(..);
        }
    }
    let flows = random.usize(1..8);
    for flow in 0..flows {
        let at = 2 * flow;
        // An address of its low bits, and small counts.
        words[at] = words[at] & !0x3F_FFFF | random.u32(0..dwords as u32 / 2);
        words[at + 1] &= !(0x78 << 18 | 1 << 21);
        if random.bool() {
            words[at + 1] = words[at + 1] & 0x83FF_FFFF | random.u32(..) & 0x0F80_0000;
        }
    }
    let end = 2 * flows;
    words[end] = 0;
    words[end + 1] = match isa {
        Isa::R900 => 0x20 << 22,
        _ => 1 << 21,
    };
    words
}

#[test]
fn any_words_are_made_again() {
    for isa in ALL {
        let mut random = fastrand::Rng::with_seed(11 + isa as u64);
        for round in 0..400 {
            let words = random_words(&mut random, isa, 256);
            let text = source(&words, isa).unwrap_or_else(|e| panic!("{isa:?} {round}: {e}"));
            let again = Parser::new(isa).parse(&text, false);
            let again = again.unwrap_or_else(|e| panic!("{isa:?} {round}: {e}\n{text}"));
            assert_eq!(
                disassemble(&again.words, isa),
                disassemble(&words, isa),
                "{isa:?} {round}:\n{text}"
            );
        }
    }
}

/// A text with characters, words or lines that are other ones.
fn mutate(random: &mut fastrand::Rng, text: &str) -> String {
    let mut bytes: Vec<char> = text.chars().collect();
    let odd = [
        '[', ']', '(', ')', ',', '.', '-', '|', '@', ':', '=', '+', '#', 'é', '\u{0}', '9', 'x',
        ' ', '\n',
    ];
    for _ in 0..random.usize(1..3) {
        if bytes.is_empty() {
            break;
        }
        let (at, other) = (random.usize(..bytes.len()), random.usize(..bytes.len()));
        match random.u8(..6) {
            0 => bytes[at] = odd[random.usize(..odd.len())],
            1 => bytes.insert(at, odd[random.usize(..odd.len())]),
            2 => {
                bytes.remove(at);
            }
            3 => bytes.swap(at, other),
            4 => {
                let (from, to) = (at.min(other), at.max(other).min(at.min(other) + 60));
                let part: Vec<char> = bytes[from..to].to_vec();
                bytes.splice(at..at, part);
            }
            _ => {
                let (from, to) = (at.min(other), at.max(other).min(at.min(other) + 60));
                bytes.drain(from..to);
            }
        }
    }
    bytes.into_iter().collect()
}

#[test]
fn no_text_makes_it_panic() {
    let parsers = ALL.map(Parser::new);
    let mut random = fastrand::Rng::with_seed(20);
    let (mut accepted, mut refused) = (0, 0);
    for _ in 0..4000 {
        let parser = &parsers[random.usize(..ALL.len())];
        let mut text = LOOP.to_string();
        if random.u8(..4) == 0 {
            let words = random_words(&mut random, parser.isa, 64);
            text = source(&words, parser.isa).unwrap();
        }
        let text = mutate(&mut random, &text);
        match parser.parse(&text, true) {
            Ok(assembly) => {
                accepted += 1;
                // What it accepts can be written and read again.
                source(&assembly.words, parser.isa).unwrap();
            }
            Err(error) => {
                refused += 1;
                let lines = text.lines().count().max(1);
                assert!((1..=lines).contains(&error.line), "{error}:\n{text}");
                let columns = text
                    .lines()
                    .nth(error.line - 1)
                    .unwrap_or("")
                    .chars()
                    .count();
                assert!(
                    (1..=columns + 1).contains(&error.column),
                    "{error}:\n{text}"
                );
            }
        }
    }
    assert!(accepted > 50 && refused > 1000, "{accepted} {refused}");
}
