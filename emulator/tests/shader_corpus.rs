// SPDX-License-Identifier: MIT
//! The decoder compared with Mesa: every shader of `shaders/rv770.txt` is
//! assembled from the words in Mesa's listing, listed again, and decoded for the
//! interpreter.

use std::collections::BTreeMap;

use r7xx_board::chip::gfx::shader::disasm::disassemble;
use r7xx_board::chip::gfx::shader::{Isa, Options, Program};

const DUMPS: &str = include_str!("shaders/rv770.txt");

struct Shader<'a> {
    name: &'a str,
    dwords: usize,
    lines: Vec<&'a str>,
}

fn shaders() -> Vec<Shader<'static>> {
    let mut shaders: Vec<Shader> = Vec::new();
    for line in DUMPS.lines().filter(|line| !line.starts_with('#')) {
        if let Some(head) = line.strip_prefix("shader ") {
            let words: Vec<&str> = head.split(' ').collect();
            shaders.push(Shader {
                name: words[0],
                dwords: words[2].parse().unwrap(),
                lines: Vec::new(),
            });
        } else {
            shaders
                .last_mut()
                .expect("a line before the first shader")
                .lines
                .push(line);
        }
    }
    shaders
}

/// Address and words of a line of a listing: one to three words of eight
/// hexadecimal digits follow the address.
fn words_of(line: &str) -> (usize, Vec<u32>) {
    let mut parts = line.split(' ');
    let at = parts.next().and_then(|at| at.parse().ok()).expect(line);
    let words = parts
        .take_while(|word| word.len() == 8 && word.bytes().all(|b| b.is_ascii_hexdigit()))
        .take(3)
        .map(|word| u32::from_str_radix(word, 16).unwrap())
        .collect();
    (at, words)
}

fn assemble(shader: &Shader<'_>) -> Vec<u32> {
    let mut words = vec![0; shader.dwords];
    for line in &shader.lines {
        let (at, found) = words_of(line);
        words[at..at + found.len()].copy_from_slice(&found);
    }
    words
}

/// The part of a line that is compared. Of a literal it is the word, as the C
/// library prints NaN and rounds in its own way. Mesa's "MARK" is left out: only
/// Evergreen's instructions have a bit for it.
fn comparable(line: &str) -> String {
    let words = line.split_whitespace().filter(|&word| word != "MARK");
    let words: Vec<&str> = words.collect();
    let literal = words.len() == 4 && words[3].starts_with('(');
    let mut text = words[..if literal { 2 } else { words.len() }].join(" ");
    // Floats inside of an operand, "[0x3F800000 1.000000]".
    while let Some(open) = text.find("[0x") {
        let close = open + text[open..].find(']').unwrap();
        let hex = text[open + 1..open + 11].to_owned();
        text.replace_range(open..=close, &hex);
    }
    text
}

#[test]
fn listings_agree_with_mesas() {
    let shaders = shaders();
    assert!(shaders.len() > 50, "{}", shaders.len());
    let mut lines = 0;
    let mut kinds: BTreeMap<String, usize> = BTreeMap::new();
    for shader in &shaders {
        let words = assemble(shader);
        let ours = disassemble(&words, Isa::R700);
        // Neither listing has words after the end of the program.
        let mut ours = ours.lines();
        for want in &shader.lines {
            let got = ours.next().unwrap_or("");
            assert_eq!(comparable(got), comparable(want), "{}", shader.name);
            for word in want.split(' ').skip(1) {
                if word.len() > 3 && word.bytes().all(|b| b.is_ascii_uppercase() || b == b'_') {
                    *kinds.entry(word.to_owned()).or_default() += 1;
                }
            }
            lines += 1;
        }
        assert_eq!(ours.next(), None, "{}", shader.name);
    }
    assert!(lines > 4000, "{lines}");
    for kind in [
        "SAMPLE",
        "SAMPLE_G",
        "SAMPLE_C",
        "CUBE",
        "KILLGT",
        "MOVA_INT",
        "MEM_STREAM",
        "MEM_RING",
        "MEM_SCRATCH",
        "READ_SCRATCH",
        "LOOP_BREAK",
        "LOOP_END",
        "CALL_FS",
        "EMIT_VERTEX",
        "ALU_POP_AFTER",
        "GET_GRADIENTS_H",
        "VFETCH",
    ] {
        let seen = kinds.keys().any(|k| k.starts_with(kind));
        assert!(seen || DUMPS.contains(kind), "no {kind} in the corpus");
    }
}

#[test]
fn every_shader_decodes_without_unknowns() {
    for shader in &shaders() {
        let mut words = assemble(shader);
        words.resize(words.len().next_multiple_of(64), 0);
        let mut fetch = |address: u64, out: &mut [u32]| {
            let at = (address / 4) as usize;
            match words.get(at..at + out.len()) {
                Some(found) => out.copy_from_slice(found),
                None => return false,
            }
            true
        };
        let options = Options::r700(true);
        let program = Program::decode(0, options, &mut fetch);
        let program = program.unwrap_or_else(|e| panic!("{}: {e:?}", shader.name));
        assert_eq!(program.unknown_instructions(), [], "{}", shader.name);
        let read: Vec<u32> = program
            .words()
            .map(|(_, word)| word)
            .take(words.len())
            .collect();
        assert_eq!(read, words[..read.len()], "{}", shader.name);
    }
}
