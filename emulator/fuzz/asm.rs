// SPDX-License-Identifier: MIT
//! Inputs of the shaders' assembler: a text, or words that become a text.
//!
//! The first byte of an input chooses the encoding ([`ISAS`]) and, by [`TEXT`], whether a text follows or words.

use r7xx_board::chip::gfx::shader::asm::{assemble, source};
use r7xx_board::chip::gfx::shader::disasm::disassemble;
use r7xx_board::chip::gfx::shader::Isa;

use super::super::r800::{end, op2, passing, sampling, vertex_shader, Code};
use super::super::shader::ZERO;

/// The encodings, by the two lowest bits of an input's first byte.
pub const ISAS: [Isa; 4] = [Isa::R600, Isa::R700, Isa::R800, Isa::R900];
/// The bit of the first byte for a text.
const TEXT: u8 = 1 << 2;

/// Most dwords of a program (the assembler's `MAX_DWORDS`).
const MOST_DWORDS: usize = 1 << 18;
/// Most bytes of an input that are looked at.
const MOST_BYTES: usize = 1 << 14;

/// What the assembler has done with an input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Assembled {
    /// It refuses the text.
    Refused,
    /// Its words have the same listing again.
    Same,
    /// The program is the same, but at other places: that of a clause is beyond the longest program.
    Moved,
    /// It refuses the words' listing: a target is no instruction of it, or a clause or the program is too long.
    Lost,
}

/// Assembles an input's text, or the listing of its words.
///
/// # Panics
/// If the assembler does not do what it has to.
pub fn asm(data: &[u8]) -> Assembled {
    let Some((first, rest)) = data.split_first() else {
        return Assembled::Refused;
    };
    let isa = ISAS[usize::from(first & 3)];
    let rest = &rest[..rest.len().min(MOST_BYTES)];
    if first & TEXT == 0 {
        return again(words(rest), isa);
    }
    let text = String::from_utf8_lossy(rest);
    match assemble(&text, isa) {
        Ok(words) => {
            assert!(words.len() <= MOST_DWORDS, "{} dwords", words.len());
            again(words, isa)
        }
        Err(error) => {
            // What it names is in the text.
            let count = text.lines().count().max(1);
            assert!((1..=count).contains(&error.line), "{error}");
            let line = text.lines().nth(error.line - 1).unwrap_or("");
            let columns = 1..=line.chars().count() + 1;
            assert!(columns.contains(&error.column), "{error}");
            Assembled::Refused
        }
    }
}

/// The words that `data` has the bytes of.
fn words(data: &[u8]) -> Vec<u32> {
    let word = |bytes: &[u8]| u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
    data.chunks_exact(4).map(word).collect()
}

/// Writes a program as text and assembles that. `words` get an end, in case that the program has none.
fn again(mut words: Vec<u32>, isa: Isa) -> Assembled {
    words.resize(words.len().next_multiple_of(2), 0);
    words.extend(end(isa));
    let before = disassemble(&words, isa);
    let text = source(&words, isa).unwrap_or_else(|error| panic!("{isa:?}: {error}"));
    let again = match assemble(&text, isa) {
        Ok(again) => again,
        Err(error) => {
            let expected = [
                "is the label of no control-flow instruction",
                "instructions and pairs of literals; the chip takes",
                "dwords; at most 262144 are executed",
            ];
            let known = expected.iter().any(|part| error.message.contains(part));
            assert!(known, "{isa:?}: {error}\n{text}");
            return Assembled::Lost;
        }
    };
    let after = disassemble(&again, isa);
    if before == after {
        return Assembled::Same;
    }
    let beyond = before.lines().any(|line| {
        let at = line
            .split_whitespace()
            .next()
            .and_then(|at| at.parse().ok());
        at.is_some_and(|at: usize| at + 4 > MOST_DWORDS)
    });
    assert!(beyond, "{isa:?}:\n{before}\n{text}\n{after}");
    assert_eq!(
        instructions(&before),
        instructions(&after),
        "{isa:?}:\n{text}"
    );
    Assembled::Moved
}

/// A listing without places, words and numbers of groups.
fn instructions(listing: &str) -> Vec<String> {
    let digits = |part: &&str| part.bytes().all(|b| b.is_ascii_hexdigit());
    let line = |line: &str| {
        let parts = line.split_whitespace().skip_while(digits);
        parts
            .filter(|part| !part.starts_with('@'))
            .collect::<Vec<_>>()
            .join(" ")
    };
    listing.lines().map(line).collect()
}

/// An input of [`asm`].
fn input(isa: Isa, more: u8, bytes: &[u8]) -> Vec<u8> {
    let number = ISAS.iter().position(|other| *other == isa).unwrap_or(0);
    [&[number as u8 | more], bytes].concat()
}

/// A loop with a branch, literals in several forms, fields by name and a comment: what no listing has.
const WRITTEN: &str = "\
LOOP_START_DX10 @10 # the first instruction has address 0
ALU_PUSH_BEFORE KC0[CB0:0-16]
1 x:M PRED_SETGT __.x, R1.x, KC0[2].y
2 x: MOV*2_sat R1.x, -|R1.y| BS:5
t: RECIP_IEEE T0.x, [1.5]
3 y: ADD R[1+AR].y, [0x3F800000 1.000000], [-2] CLAMP=1
JUMP @8 POP:1
LOOP_BREAK @10
POP @10 POP:1
LOOP_END @2
TEX
SAMPLE R2.xyzw, R1.xy00, RID:18, SID:0 LB:-3 CT:NNNN OX:-2
VTX
VFETCH R1.xy01, R2.w +16b, RID:9 INSTANCE MFC:15 UCF:1 FMT(DTA:0 NUM:0 COMP:0 MODE:0)
MEM_STREAM0 WRITE 3 R1.xy_w ES:3 AS:5
EXPORT_DONE PIXEL 0 R2.xyzw ES:3 WORD0=0x1F BARRIER=0
";

/// The same for Evergreen and Cayman.
const WRITTEN_LATER: &str = "\
ALU_EXT
ALU KC2[CB1:16-48 CF_INDEX_0]
1 x: LDS_CMP_XCHG_RET __.x, R1.x, R2.x, LDS_OQ_A_POP.x
2 x: BFE_UINT R1.x, KC2[3].x, TIME_LO, Param3
GDS
GDS_CMP_XCHG_RET R1.x___, R2.xy0, R0. UAV: 15[CF_INDEX_1]
TF_WRITE , R2.zy0
TEX
LDFPTR R1.xyzw, R2.xyzw, RID:1 RQ_CF_INDEX_0, SID:2 SQ_CF_INDEX_1 CT:UUUU
MEM_RAT WRITE_IND_ACK RAT11[IDX1] CMPXCHG_INT_RTN 0 R1.xyzw R2.xyz ES:3 AS:1
";

/// Inputs of [`asm`] by name: texts, words, and the words' listings.
pub fn seeds() -> Vec<(String, Vec<u8>)> {
    let code = |name: &'static str, isa, code: Code| {
        let bytes: Vec<u8> = code
            .words()
            .iter()
            .flat_map(|word| word.to_le_bytes())
            .collect();
        (name, isa, bytes)
    };
    let mut programs = vec![
        code("vertex", Isa::R800, vertex_shader(Isa::R800)),
        code("passing", Isa::R800, passing(Isa::R800)),
        code("sampling", Isa::R800, sampling(Isa::R800, 0x10)),
        code("gathering", Isa::R800, sampling(Isa::R800, 0x15)),
    ];
    for (name, bytes) in super::shader_seeds() {
        programs.push((name, Isa::R600, bytes.clone()));
        programs.push((name, Isa::R700, bytes));
    }
    for (name, bytes) in super::cayman::shader_seeds() {
        programs.push((name, Isa::R900, bytes));
    }
    let mut seeds = Vec::new();
    for (name, isa, bytes) in programs {
        let text = source(&words(&bytes), isa).expect("a listing");
        seeds.push((format!("{name}_{isa:?}"), input(isa, 0, &bytes)));
        seeds.push((
            format!("{name}_text_{isa:?}"),
            input(isa, TEXT, text.as_bytes()),
        ));
    }
    for isa in ISAS {
        let text = match isa {
            Isa::R600 | Isa::R700 => WRITTEN,
            Isa::R800 | Isa::R900 => WRITTEN_LATER,
        };
        seeds.push((
            format!("written_{isa:?}"),
            input(isa, TEXT, text.as_bytes()),
        ));
    }
    seeds
}

/// Inputs that take as much time as one can, as long as the fuzzer makes them: clauses that many instructions
/// execute, and clauses of one instruction.
pub fn large() -> Vec<(&'static str, Vec<u8>)> {
    const BYTES: usize = 1 << 12;
    // A clause's address in pairs of dwords, and its largest count.
    let clause = |isa, place: u32, second: u32, repeated: &[u32]| {
        let mut words = Vec::new();
        while words.len() < 2 * place as usize {
            words.extend([place, second]);
        }
        words.extend(repeated.iter().cycle().take(512));
        let bytes: Vec<u8> = words
            .iter()
            .flat_map(|word| word.to_le_bytes())
            .take(BYTES)
            .collect();
        input(isa, 0, &bytes)
    };
    let slot = op2(0, Some(1), 0, (1, 0), (ZERO, 0), true);
    let fetches = clause(Isa::R800, 256, 1 << 22 | 0x3F << 10, &[0x1F, 0, 0, 0]);
    let text = |text: &str| input(Isa::R700, TEXT, text.repeat(BYTES / text.len()).as_bytes());
    vec![
        ("slots", clause(Isa::R700, 256, 8 << 26 | 0x7F << 18, &slot)),
        ("fetches", fetches),
        (
            "clauses",
            text("TEX\nLD R0.xyzw, R0.xyzw, RID:0, SID:0 CT:UUUU\n"),
        ),
        ("tokens", text("[ ")),
        ("lines", text("\n")),
    ]
}
