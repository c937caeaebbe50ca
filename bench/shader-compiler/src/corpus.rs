// SPDX-License-Identifier: MIT
//! Shaders as Mesa lists them: the words are in the lines.

use r7xx_board::chip::gfx::shader::{Options, Program};

/// The shaders of the scenes of `make bench-board`.
pub const SCENES: &str = include_str!("../shaders/bench-board.txt");
/// The emulator's corpus for RV770.
pub const CORPUS: &str = include_str!("../../../emulator/tests/shaders/rv770.txt");

/// The shaders of a listing: name and words.
///
/// # Panics
/// If the listing is not one.
pub fn shaders(listing: &str) -> Vec<(String, Vec<u32>)> {
    let mut out: Vec<(String, Vec<u32>)> = Vec::new();
    for line in listing.lines().filter(|line| !line.starts_with('#')) {
        let mut parts = line.split(' ');
        let first = parts.next().expect("a line has words");
        if first == "shader" {
            let name = parts.next().expect("a shader has a name").to_owned();
            let count = parts.nth(1).and_then(|word| word.parse().ok());
            // Programs are read in blocks of 64 dwords.
            let count = usize::next_multiple_of(count.expect("its length"), 64);
            out.push((name, vec![0; count]));
            continue;
        }
        let at: usize = first.parse().expect("a line begins with its place");
        let words = &mut out.last_mut().expect("a shader").1;
        let found = parts
            .take_while(|word| word.len() == 8 && word.bytes().all(|b| b.is_ascii_hexdigit()))
            .take(3)
            .filter_map(|word| u32::from_str_radix(word, 16).ok());
        for (i, word) in found.enumerate() {
            words[at + i] = word;
        }
    }
    out
}

/// The shader with this name, of the scenes or the corpus.
///
/// # Panics
/// If there is none.
pub fn named(name: &str) -> Vec<u32> {
    let all = shaders(SCENES).into_iter().chain(shaders(CORPUS));
    let found = all.into_iter().find(|(other, _)| other == name);
    found.unwrap_or_else(|| panic!("no shader {name}")).1
}

/// The words of a shader, decoded by the interpreter.
///
/// # Panics
/// If it does not decode them.
pub fn decoded(words: &[u32]) -> Program {
    let mut code = |address: u64, out: &mut [u32]| {
        let at = address as usize / 4;
        for (i, to) in out.iter_mut().enumerate() {
            *to = words.get(at + i).copied().unwrap_or(0);
        }
        true
    };
    Program::decode(0, Options::r700(true), &mut code).expect("the interpreter decodes it")
}
