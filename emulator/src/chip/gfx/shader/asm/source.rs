// SPDX-License-Identifier: MIT
//! A program as text that assembles to the same words.

use super::alu::{listed_literal, Encoded};
use super::text::{word, Error, Line};
use super::{address, fields, Parser};
use crate::chip::gfx::shader::disasm::disassemble;
use crate::chip::gfx::shader::Isa;

/// How often fields are compared: those of instructions first, as literals' places may change others, then those of
/// control-flow instructions.
const PASSES: usize = 6;

/// The listing of the program in `words`, with the fields that the notation does not show behind each instruction
/// (see the [module](super)): [`assemble`](super::assemble) makes the program's words of it.
///
/// What the listing does not have is not in it either: words that no instruction, literal or clause takes, and what
/// follows the instruction that ends the program, such as subroutines. Words beyond the end of `words` read as 0.
///
/// # Errors
/// A line that cannot be assembled; none is known.
pub fn source(words: &[u32], isa: Isa) -> Result<String, Error> {
    let parser = Parser::new(isa);
    let mut lines = listing(words, isa);
    for _ in 0..PASSES {
        let text = lines.join("\n");
        let assembly = parser.parse(&text, false)?;
        let found = [&assembly.instructions, &assembly.controls]
            .into_iter()
            .any(|encoded| name_fields(&mut lines, encoded));
        if !found {
            break;
        }
    }
    Ok(lines.join("\n") + "\n")
}

/// Lines of the listing. The second of two dwords of which one is a literal gets a line, if it is not 0.
fn listing(words: &[u32], isa: Isa) -> Vec<String> {
    let mut lines = Vec::new();
    // Address of the last literal, and how many there are.
    let mut run: Option<(u64, usize)> = None;
    let text = disassemble(words, isa);
    for text in text.lines().map(Some).chain([None]) {
        let mut line = Line::new(1, text.unwrap_or(""));
        let at = address(&mut line);
        match (at, listed_literal(&line), run) {
            (Some(at), Some(_), _) => run = Some((at, run.map_or(1, |(_, count)| count + 1))),
            (.., Some((last, count))) if count % 2 != 0 => {
                let at = last as usize + 1;
                if let Some(&value) = words.get(at).filter(|value| **value != 0) {
                    let (float, integer) = (f32::from_bits(value), value as i32);
                    lines.push(format!(" {at:04} {value:08X} {float:.6} ({integer})"));
                }
                run = None;
            }
            _ => run = None,
        }
        lines.extend(text.map(|text| text.trim_end().to_string()));
    }
    lines
}

/// Puts the fields in which the assembled instructions differ from the words of their lines behind them. Returns
/// whether there are any.
fn name_fields(lines: &mut [String], encoded: &[Encoded]) -> bool {
    let mut found = false;
    for instruction in encoded {
        let Some(line) = lines.get_mut(instruction.line - 1) else {
            continue;
        };
        let tokens = line.split_whitespace().skip(1);
        let wanted: Vec<u32> = tokens.take(instruction.count).map_while(word).collect();
        let words = &instruction.words[..instruction.count];
        let text = fields::differences(instruction.table, words, &wanted);
        found |= !text.is_empty();
        line.push_str(&text);
    }
    found
}
