// SPDX-License-Identifier: MIT
//! Lines of an assembler's text as tokens, and what is wrong with one of them.

use std::fmt;

/// What the assembler does not accept, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Error {
    /// Line of the text, counted from 1.
    pub line: usize,
    /// Column of the line in characters, counted from 1.
    pub column: usize,
    /// What was expected, and what is there.
    pub message: String,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            line,
            column,
            message,
        } = self;
        write!(f, "line {line}, column {column}: {message}")
    }
}

impl std::error::Error for Error {}

/// A word of a line. Blanks and commas inside of brackets belong to it; a comma elsewhere is one of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Token<'a> {
    pub text: &'a str,
    /// As [`Error::column`].
    pub column: usize,
    /// As [`Error::line`].
    pub line: usize,
}

impl Token<'_> {
    /// The error that the token is not what the notation has there.
    pub fn expected(&self, what: impl fmt::Display) -> Error {
        self.error(format!("expected {what}, found `{}`", self.text))
    }

    /// An error at the token.
    pub fn error(&self, message: String) -> Error {
        Error {
            line: self.line,
            column: self.column,
            message,
        }
    }
}

/// The tokens of a line, of which those before [`Line::peek`] have been read.
#[derive(Debug, Clone)]
pub(super) struct Line<'a> {
    /// As [`Error::line`].
    pub number: usize,
    tokens: Vec<Token<'a>>,
    next: usize,
    /// Column behind the last character.
    end: usize,
}

impl<'a> Line<'a> {
    /// Splits line `number`. What follows a `#` is a comment.
    pub fn new(number: usize, text: &'a str) -> Self {
        let text = text.split('#').next().unwrap_or("");
        let mut line = Self {
            number,
            tokens: Vec::new(),
            next: 0,
            end: text.chars().count() + 1,
        };
        let mut depth = 0u32;
        // Byte offset and column of the token that has begun.
        let mut begun: Option<(usize, usize)> = None;
        for (column, (at, character)) in text.char_indices().enumerate() {
            let outside = depth == 0;
            match character {
                '[' | '(' => depth += 1,
                ']' | ')' => depth = depth.saturating_sub(1),
                _ => {}
            }
            let comma = character == ',';
            if outside && (comma || character.is_whitespace()) {
                if let Some((from, column)) = begun.take() {
                    line.push(&text[from..at], column);
                }
                if comma {
                    line.push(&text[at..at + 1], column + 1);
                }
            } else if begun.is_none() {
                begun = Some((at, column + 1));
            }
        }
        if let Some((from, column)) = begun {
            line.push(&text[from..], column);
        }
        line
    }

    fn push(&mut self, text: &'a str, column: usize) {
        let line = self.number;
        self.tokens.push(Token { text, column, line });
    }

    /// The next token; none at the end of the line.
    pub fn peek(&self) -> Option<Token<'a>> {
        self.ahead(0)
    }

    /// The token `count` behind the next one.
    pub fn ahead(&self, count: usize) -> Option<Token<'a>> {
        self.tokens.get(self.next + count).copied()
    }

    /// Reads the next token.
    pub fn take(&mut self) -> Option<Token<'a>> {
        let token = self.peek();
        self.next += usize::from(token.is_some());
        token
    }

    /// Reads the next token if it is `text`.
    pub fn skip(&mut self, text: &str) -> bool {
        let found = self.peek().is_some_and(|token| token.text == text);
        self.next += usize::from(found);
        found
    }

    /// Reads the next token if it begins with `prefix`; the rest of it.
    pub fn after(&mut self, prefix: &str) -> Option<Token<'a>> {
        let token = self.peek()?;
        let text = token.text.strip_prefix(prefix)?;
        self.next += 1;
        let column = token.column + prefix.chars().count();
        Some(Token {
            text,
            column,
            ..token
        })
    }

    /// Reads the next token, which has to be there.
    ///
    /// # Errors
    /// At the end of the line.
    pub fn expect(&mut self, what: &str) -> Result<Token<'a>, Error> {
        self.take().ok_or_else(|| self.missing(what))
    }

    /// Reads the next token, which has to begin with `prefix`; the rest of it.
    ///
    /// # Errors
    /// If it does not, or at the end of the line.
    pub fn expect_after(&mut self, prefix: &str) -> Result<Token<'a>, Error> {
        match (self.after(prefix), self.peek()) {
            (Some(rest), _) => Ok(rest),
            (None, Some(token)) => Err(token.expected(format_args!("`{prefix}`"))),
            (None, None) => Err(self.missing(&format!("`{prefix}`"))),
        }
    }

    /// Reads a comma.
    ///
    /// # Errors
    /// If there is none.
    pub fn comma(&mut self) -> Result<(), Error> {
        self.expect_after(",").map(|_| ())
    }

    /// The error that the line ends where `what` has to be.
    pub fn missing(&self, what: &str) -> Error {
        Error {
            line: self.number,
            column: self.end,
            message: format!("expected {what}, found the end of the line"),
        }
    }
}

/// Decimal digits as a number. Addresses in dwords can have 33 bits.
pub(super) fn number(text: &str) -> Option<u64> {
    let digits = text.bytes().all(|b| b.is_ascii_digit());
    text.parse().ok().filter(|_| digits)
}

/// Decimal digits as a number of 32 bits.
pub(super) fn decimal(text: &str) -> Option<u32> {
    number(text)?.try_into().ok()
}

/// A number of eight hexadecimal digits: an instruction's word in a listing.
pub(super) fn word(text: &str) -> Option<u32> {
    let digits = text.len() == 8 && text.bytes().all(|b| b.is_ascii_hexdigit());
    digits.then(|| u32::from_str_radix(text, 16).ok())?
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(text: &str) -> Vec<&str> {
        let line = Line::new(1, text);
        line.tokens.iter().map(|token| token.text).collect()
    }

    #[test]
    fn blanks_inside_of_brackets_are_no_ends() {
        assert_eq!(
            texts(" 0004 ALU 3 @4 KC0[CB0:0-16 CF_INDEX_0] # 9"),
            ["0004", "ALU", "3", "@4", "KC0[CB0:0-16 CF_INDEX_0]"]
        );
        assert_eq!(
            texts("x: ADD R1.x, -[0x3F800000 1.0], |R2.y|"),
            ["x:", "ADD", "R1.x", ",", "-[0x3F800000 1.0]", ",", "|R2.y|"]
        );
        assert_eq!(texts("a]b ]c [d"), ["a]b", "]c", "[d"]);
        assert_eq!(texts("  \t"), [""; 0]);
    }

    #[test]
    fn columns_are_of_characters() {
        let mut line = Line::new(7, "é R1.x,  R2.y");
        let places = [3, 7, 10];
        line.take();
        for column in places {
            assert_eq!(line.take().map(|token| token.column), Some(column));
        }
        let error = line.expect("an operand").unwrap_err();
        assert_eq!(
            error.to_string(),
            "line 7, column 14: expected an operand, found the end of the line"
        );
    }

    #[test]
    fn numbers_have_digits_only() {
        assert_eq!(decimal("0012"), Some(12));
        assert_eq!(["", "+1", "-1", "1x", "4294967296"].map(decimal), [None; 5]);
        assert_eq!(word("0000000A"), Some(10));
        assert_eq!(["A", "0000000G", "+000000A"].map(word), [None; 3]);
    }
}
