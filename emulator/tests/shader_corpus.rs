// SPDX-License-Identifier: MIT
//! The decoders compared with Mesa: every shader of `shaders/*.txt`, a file for each encoding, is
//! assembled from the words in Mesa's listing, listed again, and decoded for the
//! interpreter. The assembler makes the same words of the listing. `shaders/corpus.py` makes the files.

use std::collections::BTreeSet;

use r7xx_board::chip::gfx::shader::asm;
use r7xx_board::chip::gfx::shader::disasm::disassemble;
use r7xx_board::chip::gfx::shader::{Isa, Options, Program};

/// Mesa's listings, and the fewest shaders and lines that they must have.
const DUMPS: [(Isa, &str, usize, usize); 4] = [
    (Isa::R600, include_str!("shaders/rv670.txt"), 5, 1000),
    (Isa::R700, include_str!("shaders/rv770.txt"), 50, 4000),
    (Isa::R800, include_str!("shaders/turks.txt"), 60, 5000),
    (Isa::R900, include_str!("shaders/cayman.txt"), 20, 1000),
];

struct Shader<'a> {
    name: &'a str,
    dwords: usize,
    lines: Vec<&'a str>,
}

fn shaders(dumps: &str) -> Vec<Shader<'_>> {
    let mut shaders: Vec<Shader> = Vec::new();
    for line in dumps.lines().filter(|line| !line.starts_with('#')) {
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
/// Evergreen's instructions have a bit for it. Mesa lists a load of the pointers to a pixel's samples
/// (`INST_MOD` 1) as any other load.
fn comparable(line: &str) -> String {
    let words = line.split_whitespace().filter(|&word| word != "MARK");
    let words = words.map(|word| if word == "LDFPTR" { "LD" } else { word });
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

/// Parts of names that a listing has, for each encoding.
const KINDS: [&[&str]; 4] = [
    &[
        "MULLO_INT",
        "LSHL_INT",
        "MEM_SCRATCH",
        "READ",
        "MEM_STREAM0",
    ],
    &[
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
    ],
    &[
        "INTERP_XY",
        "LDS_MIN_UINT",
        "LDS_CMP_XCHG_RET",
        "LDS_OQ_A_POP",
        "MEM_RAT",
        "STORE_TYPED",
        "CMPXCHG_INT_RTN",
        "GDS_ADD_RET",
        "TF_WRITE",
        "GATHER4",
        "SET_TEXTURE_OFFSETS",
        "CF_INDEX_0",
        "ALU_EXT",
        "BFE_UINT",
        "STREAM1",
        "MEM_STREAM1_BUF",
        "GET_BUFFER_RESINFO",
    ],
    &[
        "CF_END",
        "CF_IDX0",
        "LDS_CMP_XCHG_RET",
        "MEM_RAT",
        "GDS_ADD_RET",
        "TF_WRITE",
        "GATHER4",
        "MOVA_INT",
    ],
];

#[test]
fn listings_agree_with_mesas() {
    for ((isa, dumps, fewest, fewest_lines), kinds) in DUMPS.into_iter().zip(KINDS) {
        let (shaders, mut lines) = (shaders(dumps), 0);
        for shader in &shaders {
            let words = assemble(shader);
            let ours = disassemble(&words, isa);
            // Neither listing has words after the end of the program.
            let mut ours = ours.lines();
            for want in &shader.lines {
                let got = ours.next().unwrap_or("");
                assert_eq!(comparable(got), comparable(want), "{isa:?} {}", shader.name);
                lines += 1;
            }
            assert_eq!(ours.next(), None, "{isa:?} {}", shader.name);
        }
        assert!(
            shaders.len() > fewest && lines > fewest_lines,
            "{isa:?} {lines}"
        );
        for kind in kinds {
            assert!(dumps.contains(kind), "no {kind} in the corpus of {isa:?}");
        }
    }
}

#[test]
fn every_shader_decodes_without_unknowns() {
    for (isa, dumps, ..) in DUMPS {
        for shader in &shaders(dumps) {
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
            let options = Options {
                isa,
                ..Options::r700(true)
            };
            let program = Program::decode(0, options, &mut fetch);
            let program = program.unwrap_or_else(|e| panic!("{isa:?} {}: {e:?}", shader.name));
            assert_eq!(
                program.unknown_instructions(),
                [],
                "{isa:?} {}",
                shader.name
            );
            let read = program.words().filter(|(at, _)| *at < words.len());
            for (at, word) in read {
                assert_eq!(word, words[at], "{isa:?} {} {at}", shader.name);
            }
        }
    }
}

/// Fields that Mesa's notation does not show and that differ from what the assembler takes for them, in the corpus.
const HIDDEN: [&str; 6] = [
    "DST_GPR",
    "IDX_OFFSET_0",
    "INST_MOD",
    "MARK",
    "SRC0_CHAN",
    "SRC_SEL_X",
];

/// A listing without addresses, words and numbers of groups: its instructions, a line each.
fn instructions(listing: &str) -> Vec<String> {
    let words = |line: &str| {
        let parts = line.split_whitespace();
        let rest = parts.skip_while(|part| part.bytes().all(|b| b.is_ascii_hexdigit()));
        rest.collect::<Vec<_>>().join(" ")
    };
    listing.lines().map(words).collect()
}

#[test]
fn sources_assemble_to_the_same_words() {
    let mut hidden = BTreeSet::new();
    for (isa, dumps, ..) in DUMPS {
        for shader in &shaders(dumps) {
            let words = assemble(shader);
            let text = asm::source(&words, isa).unwrap();
            let again = asm::assemble(&text, isa);
            assert_eq!(
                again.as_ref(),
                Ok(&words),
                "{isa:?} {}:\n{text}",
                shader.name
            );
            let fields = text
                .split_whitespace()
                .filter_map(|part| part.split_once('='));
            hidden.extend(fields.map(|(name, _)| name.to_string()));
        }
    }
    assert!(hidden.iter().eq(HIDDEN.iter()), "{hidden:?}");
}

/// The notation alone, as Mesa has it: the program is the same but for what the notation does not show.
#[test]
fn mesas_listings_assemble() {
    for (isa, dumps, ..) in DUMPS {
        for shader in &shaders(dumps) {
            let name = shader.name;
            let listing = disassemble(&assemble(shader), isa);
            let ours = asm::assemble(&listing, isa);
            let ours = ours.unwrap_or_else(|e| panic!("{isa:?} {name}: {e}\n{listing}"));
            assert_eq!(
                instructions(&disassemble(&ours, isa)),
                instructions(&listing),
                "{isa:?} {name}"
            );
            let lines = shader.lines.join("\n");
            let theirs = asm::assemble(&lines, isa);
            let theirs = theirs.unwrap_or_else(|e| panic!("{isa:?} {name}: {e}\n{lines}"));
            let theirs = disassemble(&theirs, isa);
            // Mesa lists a load of the pointers to a pixel's samples as any other.
            let expected = listing.replace("LDFPTR", "LD");
            assert_eq!(
                instructions(&theirs),
                instructions(&expected),
                "{isa:?} {name}"
            );
        }
    }
}

/// Without addresses and counts, and with an instruction ahead of all others, all clauses and targets move.
#[test]
fn a_program_that_grows_is_laid_out_again() {
    for (isa, dumps, ..) in DUMPS {
        for shader in &shaders(dumps) {
            let words = assemble(shader);
            let text = asm::source(&words, isa).unwrap();
            let longer = format!("NOP @0\n{text}");
            let longer = asm::assemble(&longer, isa).unwrap();
            let grown = longer.len() - words.len();
            // Two dwords; none or four where fetches begin at a multiple of four.
            assert!(
                [0, 2, 4].contains(&grown),
                "{isa:?} {} {grown}",
                shader.name
            );
            let place = |line: &String| -> Vec<String> {
                let parts = line.split(' ').filter(|part| !part.starts_with('@'));
                parts.map(str::to_string).collect()
            };
            let of = |words: &[u32]| -> Vec<Vec<String>> {
                let listing = instructions(&disassemble(words, isa));
                listing.iter().map(place).collect()
            };
            let (before, after) = (of(&words), of(&longer));
            assert_eq!(after[0], ["NOP"], "{isa:?} {}", shader.name);
            assert_eq!(after[1..], before[..], "{isa:?} {}", shader.name);
        }
    }
}
