// SPDX-License-Identifier: MIT
//! Decoded programs, by address and content.

use std::collections::HashMap;
use std::sync::Arc;

use super::{Code, Options, Program, Stop};

/// Most programs kept for one address: drivers reuse buffers for other shaders.
const VERSIONS: usize = 8;
/// Most programs in the cache. When it is full, all are dropped.
const PROGRAMS: usize = 1024;
/// Most bytes of the programs in the cache. A program of a hundred instructions takes some 15 KiB,
/// the largest that the decoder accepts less than half of this.
pub(super) const BYTES: usize = 128 << 20;

/// Keeps decoded programs. An entry is used again only if memory still holds
/// the words that it was decoded from.
#[derive(Debug, Default)]
pub struct ProgramCache {
    programs: HashMap<(u64, Options), Vec<Arc<Program>>>,
    count: usize,
    bytes: usize,
    /// Look-ups that found a program.
    pub hits: u64,
    /// Look-ups that had to decode one.
    pub misses: u64,
}

impl ProgramCache {
    /// The program at byte address `base` of `code`, from the cache or decoded now.
    ///
    /// # Errors
    /// As [`Program::decode`].
    pub fn load(
        &mut self,
        base: u64,
        options: Options,
        code: &mut dyn Code,
    ) -> Result<Arc<Program>, Stop> {
        let key = (base, options);
        if let Some(known) = self.programs.get_mut(&key) {
            if let Some(at) = known.iter().position(|program| program.is_current(code)) {
                self.hits += 1;
                // The most recent one is tried first.
                known[..=at].rotate_right(1);
                return Ok(known[0].clone());
            }
        }
        self.misses += 1;
        let program = Arc::new(Program::decode(base, options, code)?);
        let bytes = program.bytes();
        if self.count >= PROGRAMS || self.bytes + bytes > BYTES {
            self.programs.clear();
            self.count = 0;
            self.bytes = 0;
        }
        let known = self.programs.entry(key).or_default();
        if known.len() >= VERSIONS {
            if let Some(oldest) = known.pop() {
                self.count -= 1;
                self.bytes -= oldest.bytes();
            }
        }
        known.insert(0, program.clone());
        self.count += 1;
        self.bytes += bytes;
        Ok(program)
    }

    /// Bytes of the programs in the cache.
    pub fn bytes(&self) -> usize {
        self.bytes
    }
}
