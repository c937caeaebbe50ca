// SPDX-License-Identifier: MIT
//! The rule that a surface breaks, with the numbers that the kernel names in its log.

use std::fmt;

/// A surface or a buffer that breaks a rule.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Broken {
    /// Byte offset of the register with the surface's address, or of its resource's first word.
    pub register: u32,
    /// The surface: "a render target".
    pub what: &'static str,
    /// The rule.
    pub rule: Rule,
}

/// A rule, with what the stream has set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rule {
    /// A BO is needed.
    Bo,
    /// The format has to be one of the chip's.
    Format(u32),
    /// The array mode has to be one that the checker knows.
    ArrayMode(u32),
    /// The tile split has to be a size.
    TileSplit(u32),
    /// The pitch cannot be 0: the kernel would divide by it.
    Pitch0,
    /// The pitch in elements is a multiple.
    Pitch(u32, u32),
    /// The height in elements is a multiple.
    Height(u32, u32),
    /// The offset in bytes is a multiple.
    Offset(u64, u64),
    /// All bytes are within the BO: its size that is needed, and the size that it has.
    Size(u64, u64),
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Bo => write!(f, "has no BO"),
            Self::Format(format) => write!(f, "has invalid format {format:#x}"),
            Self::ArrayMode(mode) => write!(f, "has invalid array mode {mode}"),
            Self::TileSplit(split) => write!(f, "has invalid tile split {split}"),
            Self::Pitch0 => write!(f, "has pitch 0"),
            Self::Pitch(is, of) => write!(f, "has pitch {is}, no multiple of {of}"),
            Self::Height(is, of) => write!(f, "has height {is}, no multiple of {of}"),
            Self::Offset(is, of) => write!(f, "is at offset {is:#x}, no multiple of {of:#x}"),
            Self::Size(needed, size) => {
                write!(f, "needs {needed:#x} bytes, its BO has {size:#x}")
            }
        }
    }
}

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            register,
            what,
            rule,
        } = self;
        write!(f, "{what} (register {register:#x}) {rule}")
    }
}

impl fmt::Debug for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\"{self}\"")
    }
}
