// SPDX-License-Identifier: MIT
//! The shaders of a captured frame as text, and changed ones in their place: `r7xx-replay --shaders`, `--shader` and
//! `--edit`.
//!
//! A text begins with a line `shader ADDRESS hash HASH`, which says which shader it replaces: byte address, and the
//! hash of the words that are there. The program follows, in the notation of
//! [`asm`].

use std::fmt::Write;

use r7xx_board::chip::gfx::shader::{asm, Isa};
use r7xx_board::chip::gfx::shaders::{Replacement, Shader};

/// Which shader of a frame is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Which {
    /// Its number in [`list`], from 1.
    Number(usize),
    /// Its byte address.
    Address(u64),
}

/// Parses a number, or an address after `0x`.
///
/// # Errors
/// What is wrong, for the user.
pub fn which(text: &str) -> Result<Which, String> {
    let parsed = match address(text) {
        Some(address) => Some(Which::Address(address)),
        None => {
            let digits = text.bytes().all(|b| b.is_ascii_digit());
            let number = text.parse().ok().filter(|number| digits && *number > 0);
            number.map(Which::Number)
        }
    };
    parsed.ok_or_else(|| {
        format!("{text}: not a shader; give its number of --shaders, or its address as 0x...")
    })
}

fn address(text: &str) -> Option<u64> {
    let digits = text.strip_prefix("0x")?;
    let hex = digits.bytes().all(|b| b.is_ascii_hexdigit());
    u64::from_str_radix(digits, 16).ok().filter(|_| hex)
}

/// The draws and dispatches that executed a shader.
fn uses(shader: &Shader) -> String {
    let ranges = shader
        .draws
        .iter()
        .map(|(first, last)| match first == last {
            true => first.to_string(),
            false => format!("{first}-{last}"),
        });
    let draws: Vec<String> = ranges.collect();
    let mut parts = Vec::new();
    if !draws.is_empty() {
        parts.push(format!("draws {}", draws.join(" ")));
    }
    if shader.dispatches > 0 {
        parts.push(format!("{} dispatches", shader.dispatches));
    }
    parts.join(", ")
}

/// The shaders, a line each: number, stage, address, length, and the draws that executed it.
pub fn list(shaders: &[Shader]) -> String {
    let mut out = String::new();
    for (i, shader) in shaders.iter().enumerate() {
        // Writing to a string does not fail.
        let _ = writeln!(
            out,
            "{:4} {:<13} {:#012x} {:5} dwords, {}",
            i + 1,
            shader.name(),
            shader.address,
            shader.dwords,
            uses(shader)
        );
    }
    out
}

/// The shader that `which` means.
///
/// # Errors
/// If there is none, or several are at the address.
pub fn find(shaders: &[Shader], which: Which) -> Result<&Shader, String> {
    let address = match which {
        Which::Number(number) => {
            let count = shaders.len();
            let absent = || format!("there is no shader {number}, only {count}");
            return shaders.get(number - 1).ok_or_else(absent);
        }
        Which::Address(address) => address,
    };
    let found = (shaders.iter().enumerate()).filter(|(_, shader)| shader.address == address);
    let found: Vec<(usize, &Shader)> = found.collect();
    match &found[..] {
        [] => Err(format!("no shader is at {address:#x}; --shaders lists all")),
        // One program may be that of several stages.
        [(_, first), others @ ..] if others.iter().all(|(_, s)| s.hash == first.hash) => Ok(first),
        several => {
            let numbers = several.iter().map(|(i, _)| (i + 1).to_string());
            let numbers: Vec<String> = numbers.collect();
            let all = numbers.join(", ");
            Err(format!(
                "several shaders were at {address:#x}: give the number of one, {all}"
            ))
        }
    }
}

/// The text of a shader of chip `chip`, for [`replacement`].
///
/// # Errors
/// If its listing cannot be assembled.
pub fn text(shader: &Shader, chip: &str) -> Result<String, String> {
    let source = asm::source(&shader.words, shader.isa).map_err(|e| e.to_string())?;
    let (address, hash, name) = (shader.address, shader.hash, shader.name());
    Ok(format!(
        "shader {address:#x} hash {hash:016x}\n\
         # {name} of {chip}, {} dwords, {}\n\
         # The words ahead of an instruction are ignored. The address of a control-flow instruction is its label.\n\
         # What the notation does not show stands behind the instruction as FIELD=VALUE.\n\
         {source}",
        shader.dwords,
        uses(shader)
    ))
}

/// The replacement that a text of [`text`] is, after changes.
///
/// # Errors
/// The line that is wrong, and what is expected there.
pub fn replacement(text: &str, isa: Isa) -> Result<Replacement, String> {
    let (first, program) = text.split_once('\n').unwrap_or((text, ""));
    let words: Vec<&str> = first.split_whitespace().collect();
    let head = match words[..] {
        ["shader", at, "hash", hash] => {
            let digits = hash.bytes().all(|b| b.is_ascii_hexdigit());
            let hash = u64::from_str_radix(hash, 16).ok().filter(|_| digits);
            address(at).zip(hash)
        }
        _ => None,
    };
    let (address, hash) = head.ok_or_else(|| {
        format!(
            "line 1: expected `shader ADDRESS hash HASH`, as --shader writes it, found `{first}`"
        )
    })?;
    // Lines keep their numbers.
    let words = asm::assemble(&format!("\n{program}"), isa).map_err(|e| e.to_string())?;
    Ok(Replacement {
        address,
        hash,
        words,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use r7xx_board::chip::gfx::Stage;

    fn shader(address: u64, hash: u64) -> Shader {
        Shader {
            stage: Some(Stage::Pixel),
            address,
            isa: Isa::R700,
            words: vec![0, 0, 0xC000_0000, 0x9420_0688],
            dwords: 4,
            hash,
            draws: vec![(1, 3), (5, 5)],
            dispatches: 0,
        }
    }

    #[test]
    fn shaders_have_numbers_and_addresses() {
        assert_eq!(which("3"), Ok(Which::Number(3)));
        assert_eq!(which("0x2000"), Ok(Which::Address(0x2000)));
        for wrong in ["", "0", "-1", "+1", "0x", "0xg", "0x+1", "x"] {
            assert!(which(wrong).unwrap_err().contains("--shaders"), "{wrong}");
        }
        let mut all = vec![shader(0x2000, 1), shader(0x3000, 2), shader(0x2000, 1)];
        assert_eq!(find(&all, Which::Number(2)).unwrap().hash, 2);
        assert_eq!(find(&all, Which::Address(0x2000)).unwrap().hash, 1);
        let error = find(&all, Which::Number(4)).unwrap_err();
        assert_eq!(error, "there is no shader 4, only 3");
        assert!(find(&all, Which::Address(0x4000)).is_err());
        all[2].hash = 3;
        let error = find(&all, Which::Address(0x2000)).unwrap_err();
        assert!(error.ends_with("give the number of one, 1, 3"), "{error}");
        let lines = list(&all);
        let second = lines.lines().nth(1).unwrap();
        assert_eq!(
            second,
            "   2 PS (pixel)    0x0000003000     4 dwords, draws 1-3 5"
        );
    }

    #[test]
    fn a_text_is_the_replacement_of_its_shader() {
        let shader = shader(0x2000, 0xABC);
        let written = text(&shader, "RV770").unwrap();
        let expected = Replacement {
            address: 0x2000,
            hash: 0xABC,
            words: shader.words,
        };
        assert_eq!(replacement(&written, Isa::R700), Ok(expected));
        let error = replacement(&written.replace("EXPORT", "EXPECT"), Isa::R700).unwrap_err();
        assert!(
            error.starts_with("line 6, column 24: expected an instruction"),
            "{error}"
        );
        for wrong in [
            "",
            "shader 1 hash 2\n",
            "shader 0x1 hash +2\n",
            "shader 0x1 2\n",
            "NOP @0",
        ] {
            let error = replacement(wrong, Isa::R700).unwrap_err();
            assert!(
                error.starts_with("line 1: expected `shader ADDRESS"),
                "{error}"
            );
        }
    }
}
