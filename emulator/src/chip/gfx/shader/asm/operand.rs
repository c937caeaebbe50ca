// SPDX-License-Identifier: MIT
//! Operands of ALU instructions, and registers of all instructions, from text.

use super::text::{decimal, Error, Token};
use crate::chip::gfx::shader::isa::sel;
use crate::chip::gfx::shader::Isa;

/// Number of the first clause temporary, `T0`.
const TEMPORARIES: u32 = 124;
/// Names of the components; in a swizzle also constants, and `_` for none.
const CHANNELS: &str = "xyzw01?_";

/// A place in a register file, whose number may be relative to an index register.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Indexed {
    pub number: u32,
    pub relative: bool,
    /// `INDEX_MODE`, if it is relative.
    pub mode: Option<u32>,
}

/// An operand (`SRCn_SEL` and its other fields).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Operand {
    /// `SRCn_SEL` as the chip has it.
    pub select: u32,
    pub chan: u32,
    pub relative: bool,
    pub mode: Option<u32>,
    pub negative: bool,
    pub absolute: bool,
    /// The value of a literal.
    pub literal: Option<u32>,
}

/// The letters `x`, `y`, `z` and `w` as a component.
pub(super) fn component(text: &str) -> Option<u32> {
    let at = CHANNELS.find(text).filter(|_| text.chars().count() == 1)?;
    (at < 4).then_some(at as u32)
}

/// `COUNT` letters of a swizzle as selects.
///
/// # Errors
/// If there are others, or not as many.
pub(super) fn swizzle<const COUNT: usize>(
    text: &str,
    token: &Token<'_>,
) -> Result<[u32; COUNT], Error> {
    let wrong = || token.expected(format_args!("{COUNT} of the letters {CHANNELS}"));
    let mut selects = [0; COUNT];
    let mut letters = text.chars();
    for select in &mut selects {
        let found = letters.next().and_then(|letter| CHANNELS.find(letter));
        *select = found.ok_or_else(wrong)? as u32;
    }
    match letters.next() {
        None => Ok(selects),
        Some(_) => Err(wrong()),
    }
}

/// `Rn.` with `COUNT` letters of a swizzle.
///
/// # Errors
/// If `token` is something else.
pub(super) fn register<const COUNT: usize>(
    token: &Token<'_>,
) -> Result<(u32, [u32; COUNT]), Error> {
    let parts = (token.text.strip_prefix('R')).and_then(|text| text.split_once('.'));
    let parts = parts.and_then(|(number, letters)| Some((decimal(number)?, letters)));
    let (number, letters) = parts.ok_or_else(|| token.expected("a register, as `R1.xyzw`"))?;
    Ok((number, swizzle(letters, token)?))
}

/// A number behind a register's letters: `3`, or in brackets with an index register, and what follows it.
fn indexed(text: &str) -> Option<(Indexed, bool, &str)> {
    let (global, text) = match text.strip_prefix('G') {
        Some(rest) => (true, rest),
        None => (false, text),
    };
    let Some(text) = text.strip_prefix('[') else {
        let end = text.find(|c: char| !c.is_ascii_digit());
        let (digits, rest) = text.split_at(end.unwrap_or(text.len()));
        let place = Indexed {
            number: decimal(digits)?,
            relative: false,
            mode: None,
        };
        return (!global).then_some((place, false, rest));
    };
    let (inside, rest) = text.split_once(']')?;
    let (digits, register) = match inside.split_once('+') {
        Some((digits, register)) => (digits, Some(register)),
        None => (inside, None),
    };
    let mode = match (global, register) {
        (false, None) => None,
        (false, Some("AR")) => Some(0),
        (false, Some("AL")) => Some(4),
        (true, None) => Some(5),
        (true, Some("AR")) => Some(6),
        _ => return None,
    };
    let place = Indexed {
        number: decimal(digits)?,
        relative: mode.is_some(),
        mode,
    };
    Some((place, true, rest))
}

/// A GPR or a clause temporary, and what follows it. A number in brackets is relative.
pub(super) fn gpr(text: &str) -> Option<(Indexed, &str)> {
    let (first, rest) = match (text.strip_prefix('R'), text.strip_prefix('T')) {
        (Some(rest), _) => (0, rest),
        (None, Some(rest)) => (TEMPORARIES, rest),
        (None, None) => return None,
    };
    let (mut place, brackets, rest) = indexed(rest)?;
    place.number = place.number.checked_add(first)?;
    if brackets && !place.relative {
        // One of the modes that the notation does not tell apart.
        (place.relative, place.mode) = (true, Some(1));
    }
    (place.number < 128).then_some((place, rest))
}

/// Constants and special registers: name, `SRCn_SEL`, whether a component follows, whether only R800 has it.
const NAMED: [(&str, u32, bool, bool); 13] = [
    ("0", sel::ZERO as u32, false, false),
    ("1.0", sel::ONE as u32, false, false),
    ("1", sel::ONE_INT as u32, false, false),
    ("-1", sel::MINUS_ONE_INT as u32, false, false),
    ("0.5", sel::HALF as u32, false, false),
    ("PV", sel::PV as u32, true, false),
    ("PS", sel::PS as u32, false, false),
    ("LDS_OQ_A", (sel::LDS_OQ_A & !sel::OTHER) as u32, true, true),
    (
        "LDS_OQ_A_POP",
        (sel::LDS_OQ_A_POP & !sel::OTHER) as u32,
        true,
        true,
    ),
    ("TIME_HI", (sel::TIME_HI & !sel::OTHER) as u32, false, true),
    ("TIME_LO", (sel::TIME_LO & !sel::OTHER) as u32, false, true),
    (
        "HW_WAVE_ID",
        (sel::HW_WAVE_ID & !sel::OTHER) as u32,
        false,
        true,
    ),
    ("SE_ID", (sel::SE_ID & !sel::OTHER) as u32, false, true),
];

/// Sets of the constant cache and the constant file: letters, `SRCn_SEL` of the first, how many, whether R800 has it,
/// and whether the others have.
const CONSTANTS: [(&str, u32, u32, bool, bool); 5] = [
    ("KC0", sel::KCACHE0 as u32, 32, true, true),
    ("KC1", sel::KCACHE1 as u32, 32, true, true),
    ("KC2", 256, 32, true, false),
    ("KC3", 288, 32, true, false),
    ("C", sel::CONSTANT_FILE as u32, 256, false, true),
];
/// `SRCn_SEL` of R800's first interpolation parameter, and how many there are.
pub(super) const PARAMETERS: (u32, u32) = (448, 64);

/// A literal: `[0x3F800000]`, `[0x3F800000 1.000000]`, or a decimal number with or without a point.
fn literal(inside: &str, token: &Token<'_>) -> Result<u32, Error> {
    let wrong = || token.expected("a literal, as `[0x3F800000 1.000000]` or `[1.0]`");
    let mut parts = inside.split_whitespace();
    let first = parts.next().ok_or_else(wrong)?;
    let second = parts.next();
    if parts.next().is_some() {
        return Err(wrong());
    }
    let Some(digits) = first.strip_prefix("0x") else {
        let value = match first.contains('.') {
            true => first.parse::<f32>().ok().map(f32::to_bits),
            false => first.parse::<u32>().ok().or_else(|| {
                let negative = first.parse::<i32>().ok();
                negative.map(|value| value as u32)
            }),
        };
        return value.filter(|_| second.is_none()).ok_or_else(wrong);
    };
    let hex = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_hexdigit());
    let value = u32::from_str_radix(digits, 16).ok().filter(|_| hex);
    let value = value.ok_or_else(wrong)?;
    // The two have to agree, so that neither is changed in vain. NaN has many forms.
    let number = f32::from_bits(value);
    let shown = format!("{number:.6}");
    match second {
        Some(text) if text != shown && !number.is_nan() => Err(token.error(format!(
            "{first} is {shown}, not {text}: change both, or leave one of them out"
        ))),
        _ => Ok(value),
    }
}

/// Parses an operand.
///
/// # Errors
/// If it is none, or the chip does not have it.
pub(super) fn operand(token: &Token<'_>, isa: Isa) -> Result<Operand, Error> {
    let later = isa.has_data_share();
    let mut operand = Operand {
        select: 0,
        chan: 0,
        relative: false,
        mode: None,
        negative: false,
        absolute: false,
        literal: None,
    };
    let mut text = token.text;
    // "-1" is a constant.
    if let Some(rest) = text.strip_prefix('-').filter(|_| text != "-1") {
        (operand.negative, text) = (true, rest);
    }
    if let Some(rest) = text.strip_prefix('|') {
        let inside = rest.strip_suffix('|');
        text = inside.ok_or_else(|| token.expected("a second `|` at the operand's end"))?;
        operand.absolute = true;
    }
    if let Some(rest) = text.strip_prefix('[') {
        let inside = rest.strip_suffix(']');
        let inside = inside.ok_or_else(|| token.expected("a `]` at the literal's end"))?;
        operand.select = sel::LITERAL.into();
        operand.literal = Some(literal(inside, token)?);
        return Ok(operand);
    }
    let missing = |name: &str| token.error(format!("the chip has no operand `{name}`"));
    let (name, letter) = match text.rsplit_once('.') {
        Some((name, letter)) if component(letter).is_some() => (name, component(letter)),
        _ => (text, None),
    };
    if let Some((_, select, has_component, only_later)) =
        NAMED.iter().find(|(known, ..)| *known == name)
    {
        if *only_later && !later {
            return Err(missing(name));
        }
        operand.select = *select;
        return match (has_component, letter) {
            (true, Some(chan)) => Ok(Operand { chan, ..operand }),
            (false, None) => Ok(operand),
            (true, None) => Err(token.expected("a component, as `PV.x`")),
            (false, Some(_)) => Err(token.error(format!("`{name}` has no components"))),
        };
    }
    if let Some(number) = name.strip_prefix("??IMM_").filter(|_| letter.is_none()) {
        let select = decimal(number).filter(|select| *select < 512);
        operand.select = select.ok_or_else(|| token.expected("a number below 512"))?;
        return Ok(operand);
    }
    if let Some(number) = name.strip_prefix("Param").filter(|_| letter.is_none()) {
        let number = decimal(number).filter(|number| *number < PARAMETERS.1);
        let number = number.ok_or_else(|| token.expected("the number of an input"))?;
        if !later {
            return Err(missing(name));
        }
        operand.select = PARAMETERS.0 + number;
        return Ok(operand);
    }
    let chan = letter.ok_or_else(|| token.expected("an operand, as `R1.x`, `PV.x` or `1.0`"))?;
    operand.chan = chan;
    let constants = CONSTANTS.iter().find_map(|entry| {
        let (place, brackets, rest) = indexed(name.strip_prefix(entry.0)?)?;
        (brackets && rest.is_empty()).then_some((entry, place))
    });
    let place = match (constants, gpr(name)) {
        (Some(((letters, first, count, on_r800, before), place)), _) => {
            if !(if later { *on_r800 } else { *before }) {
                return Err(missing(letters));
            }
            if place.number >= *count {
                let most = count - 1;
                return Err(token.error(format!("{letters} has no number above {most}")));
            }
            Indexed {
                number: first + place.number,
                ..place
            }
        }
        (None, Some((place, ""))) => place,
        _ => return Err(token.expected("an operand, as `R1.x`, `KC0[1].x`, `PV.x` or `1.0`")),
    };
    operand.select = place.number;
    (operand.relative, operand.mode) = (place.relative, place.mode);
    Ok(operand)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str, isa: Isa) -> Result<Operand, Error> {
        let token = Token {
            text,
            column: 1,
            line: 1,
        };
        operand(&token, isa)
    }

    fn fields(text: &str, isa: Isa) -> (u32, u32, bool, Option<u32>) {
        let o = read(text, isa).unwrap();
        (o.select, o.chan, o.relative, o.mode)
    }

    #[test]
    fn registers_and_constants() {
        assert_eq!(fields("R5.z", Isa::R700), (5, 2, false, None));
        assert_eq!(fields("T3.w", Isa::R700), (127, 3, false, None));
        assert_eq!(fields("R[1+AR].x", Isa::R700), (1, 0, true, Some(0)));
        assert_eq!(fields("R[1+AL].x", Isa::R700), (1, 0, true, Some(4)));
        assert_eq!(fields("RG[1].x", Isa::R700), (1, 0, true, Some(5)));
        assert_eq!(fields("RG[1+AR].x", Isa::R700), (1, 0, true, Some(6)));
        assert_eq!(fields("KC1[31].y", Isa::R700), (191, 1, false, None));
        assert_eq!(fields("KC0[3+AR].y", Isa::R700), (131, 1, true, Some(0)));
        assert_eq!(fields("C[2].x", Isa::R700), (258, 0, false, None));
        assert_eq!(fields("KC3[2].x", Isa::R800), (290, 0, false, None));
        assert_eq!(fields("Param7", Isa::R900), (455, 0, false, None));
        assert_eq!(fields("LDS_OQ_A_POP.x", Isa::R800), (221, 0, false, None));
        assert_eq!(fields("??IMM_200", Isa::R700), (200, 0, false, None));
        let o = read("-|PV.y|", Isa::R700).unwrap();
        assert!(o.negative && o.absolute && (o.select, o.chan) == (254, 1));
        assert!(!read("-1", Isa::R700).unwrap().negative);
        assert!(read("-1.0", Isa::R700).unwrap().negative);
    }

    #[test]
    fn literals_have_one_value() {
        let value = |text| read(text, Isa::R700).map(|o| o.literal);
        for text in ["[0x3FC00000 1.500000]", "[0x3FC00000]", "[1.5]", "-[1.5]"] {
            assert_eq!(value(text), Ok(Some(0x3FC0_0000)), "{text}");
        }
        assert_eq!(value("[-2]"), Ok(Some(u32::MAX - 1)));
        assert_eq!(value("[4294967295]"), Ok(Some(u32::MAX)));
        assert_eq!(value("[0xFFFFFFFF NaN]"), Ok(Some(u32::MAX)));
        assert_eq!(value("[0xFFFFFFFF -nan]"), Ok(Some(u32::MAX)));
        let error = value("[0x3FC00000 2.5]").unwrap_err().to_string();
        assert!(error.contains("0x3FC00000 is 1.500000, not 2.5"), "{error}");
        for wrong in ["[]", "[x]", "[0x]", "[0x+1]", "[1.5 2]", "[0x1 2 3]", "[1"] {
            assert!(value(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn what_the_chip_does_not_have_is_refused() {
        for (text, isa) in [
            ("KC2[0].x", Isa::R700),
            ("Param0", Isa::R600),
            ("LDS_OQ_A.x", Isa::R700),
            ("C[0].x", Isa::R800),
        ] {
            let error = read(text, isa).unwrap_err().to_string();
            assert!(error.contains("the chip has no operand"), "{text}: {error}");
        }
        for text in [
            "R128.x",
            "T4.x",
            "R1",
            "R1.",
            "R1.v",
            "R1.xy",
            "KC0[32].x",
            "KC0.x",
            "KC0[1",
            "R[1+AX].x",
            "RG1.x",
            "PV",
            "PS.x",
            "0.x",
            "|R1.x",
            "Param64",
            "??IMM_512",
            "",
            "-",
            "é.x",
            "Q1.x",
        ] {
            assert!(read(text, Isa::R700).is_err(), "{text}");
            assert!(read(text, Isa::R800).is_err(), "{text}");
        }
    }

    #[test]
    fn swizzles_have_as_many_letters_as_fields() {
        let token = |text| Token {
            text,
            column: 1,
            line: 1,
        };
        assert_eq!(register::<4>(&token("R3.xz0_")), Ok((3, [0, 2, 4, 7])));
        assert_eq!(register::<1>(&token("R3.w")), Ok((3, [3])));
        for wrong in ["R3.xyz", "R3.xyzww", "R3", "R.xyzw", "R3.xyzé", "T3.xyzw"] {
            assert!(register::<4>(&token(wrong)).is_err(), "{wrong}");
        }
    }
}
