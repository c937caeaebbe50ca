// SPDX-License-Identifier: MIT
//! The shaders that draws and dispatches execute, and other programs in their place: for tools that list and change
//! the shaders of a captured frame.
//!
//! A replacement is decoded from words of its own, as if they were at the address of the shader that it replaces: it
//! may be longer, and memory is not changed.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::fnv::fnv1a;

use super::rules;
use super::shader::validate::{validate, Chip, Resources};
use super::shader::{asm, Isa, Options, Program, Stop};
use super::state::{ProgramState, Stage};

/// Most shaders that are remembered.
const MOST: usize = 1 << 14;
/// Most dwords of a shader that are looked at.
const MAX_DWORDS: usize = 1 << 16;

/// A program that takes the place of a shader.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Replacement {
    /// Byte address of the shader that it replaces (`SQ_PGM_START_x` << 8).
    pub address: u64,
    /// [`Shader::hash`] of that shader: other words at the same address are another shader.
    pub hash: u64,
    /// The program's words.
    pub words: Vec<u32>,
}

/// A shader that was executed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shader {
    /// The stage; none for a fetch shader.
    pub stage: Option<Stage>,
    /// Byte address.
    pub address: u64,
    /// The encoding of its words.
    pub isa: Isa,
    /// Its words as they were read, from the first control-flow instruction on, and others behind them.
    pub words: Vec<u32>,
    /// Dwords up to the end of its last clause.
    pub dwords: usize,
    /// FNV-1a of these dwords.
    pub hash: u64,
    /// The draws that it was executed for, counted from 1, as first and last of each sequence.
    pub draws: Vec<(u64, u64)>,
    /// How many dispatches it was executed for.
    pub dispatches: u64,
}

impl Shader {
    /// A name of the stage, as listings of draws have it.
    pub fn name(&self) -> &'static str {
        name(self.stage)
    }
}

/// The name of a stage's program, none being the fetch shader.
pub(super) const fn name(stage: Option<Stage>) -> &'static str {
    match stage {
        None => "FS (fetch)",
        Some(Stage::Pixel) => "PS (pixel)",
        Some(Stage::Vertex) => "VS (vertex)",
        Some(Stage::Geometry) => "GS (geometry)",
        Some(Stage::Export) => "ES (export)",
        Some(Stage::Compute) => "CS (compute)",
        Some(Stage::Hull) => "HS (hull)",
        Some(Stage::Local) => "LS (local)",
    }
}

/// The words of the program at the beginning of `words`, up to the end of its last clause. What its listing does not
/// show is 0. All of `words` if the listing cannot be assembled.
fn own_words(words: &[u32], isa: Isa) -> Vec<u32> {
    let text = asm::source(words, isa);
    let own = text.and_then(|text| asm::assemble(&text, isa));
    own.unwrap_or_else(|_| words.to_vec())
}

/// FNV-1a of the bytes of `words`.
fn hash(words: &[u32]) -> u64 {
    fnv1a(words.iter().flat_map(|word| word.to_le_bytes()))
}

#[derive(Debug, Default)]
struct State {
    draws: u64,
    list: Vec<Shader>,
    /// Index in `list`, by number of the program and stage.
    known: HashMap<(u64, Option<Stage>), usize>,
    /// The program in place of one, by its number and stage.
    replaced: HashMap<(u64, Option<Stage>), (usize, Arc<Program>)>,
    /// How often each replacement was executed.
    used: Vec<u64>,
    violations: Vec<String>,
}

/// The shaders of a [`Pipeline`](super::Pipeline): lists those that it executes, and replaces some.
#[derive(Debug, Default)]
pub struct Shaders {
    replacements: Vec<Replacement>,
    state: Mutex<State>,
}

impl Shaders {
    /// Replaces shaders by `replacements`.
    pub fn new(replacements: Vec<Replacement>) -> Self {
        let state = State {
            used: vec![0; replacements.len()],
            ..State::default()
        };
        Self {
            replacements,
            state: Mutex::new(state),
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The shaders in the order of their first draws or dispatches.
    pub fn list(&self) -> Vec<Shader> {
        self.lock().list.clone()
    }

    /// For how many draws and dispatches each replacement was executed.
    pub fn used(&self) -> Vec<u64> {
        self.lock().used.clone()
    }

    /// Rules that replacements break: hardware would not execute them as it was done here.
    pub fn violations(&self) -> Vec<String> {
        self.lock().violations.clone()
    }

    /// A draw begins.
    pub(super) fn draw(&self) {
        self.lock().draws += 1;
    }

    /// Which replacement the shader with these words has.
    fn find(&self, address: u64, isa: Isa, words: &[u32]) -> Option<usize> {
        let mut of_address = (self.replacements.iter().enumerate())
            .filter(|(_, replacement)| replacement.address == address)
            .peekable();
        of_address.peek()?;
        let hash = hash(&own_words(words, isa));
        let found = of_address.find(|(_, replacement)| replacement.hash == hash);
        found.map(|(index, _)| index)
    }

    /// The words in place of those of the shader at `address`, if it is replaced.
    pub(super) fn words(&self, address: u64, isa: Isa, words: &[u32]) -> Option<&[u32]> {
        let index = self.find(address, isa, words)?;
        Some(&self.replacements[index].words)
    }

    /// Counts that `program` is executed for `stage`, of which `state` has the registers. Returns it, or what replaces
    /// it.
    ///
    /// # Errors
    /// If the replacement cannot be decoded.
    pub(super) fn execute(
        &self,
        stage: Option<Stage>,
        state: ProgramState,
        options: Options,
        program: Arc<Program>,
    ) -> Result<Arc<Program>, Stop> {
        let all = &mut *self.lock();
        let key = (program.id(), stage);
        let at = match all.known.get(&key) {
            Some(at) => *at,
            None => {
                let Some(at) = all.remember(stage, state.base, &program) else {
                    return Ok(program);
                };
                all.known.insert(key, at);
                if let Some(index) = self.find(state.base, options.isa, &all.list[at].words) {
                    let words = &self.replacements[index].words;
                    let replacement = Arc::new(decode(words, state.base, options)?);
                    all.check(stage, state, &replacement);
                    all.replaced.insert(key, (index, replacement));
                }
                at
            }
        };
        all.count(at, stage);
        let Some((index, replacement)) = all.replaced.get(&key) else {
            return Ok(program);
        };
        all.used[*index] += 1;
        Ok(replacement.clone())
    }
}

/// Decodes `words` as if they were at byte address `base`.
fn decode(words: &[u32], base: u64, options: Options) -> Result<Program, Stop> {
    let mut code = |address: u64, out: &mut [u32]| {
        let first = (address.wrapping_sub(base) / 4) as usize;
        for (i, word) in out.iter_mut().enumerate() {
            let at = first.checked_add(i);
            *word = at.and_then(|at| words.get(at)).copied().unwrap_or(0);
        }
        true
    };
    Program::decode(base, options, &mut code)
}

impl State {
    /// The place of the shader in the list; none if the list is full.
    fn remember(&mut self, stage: Option<Stage>, address: u64, program: &Program) -> Option<usize> {
        if self.known.len() >= MOST {
            return None;
        }
        let (words, isa) = (program.code(MAX_DWORDS), program.isa());
        let own = own_words(&words, isa);
        let shader = Shader {
            stage,
            address,
            isa,
            dwords: own.len(),
            hash: hash(&own),
            words,
            draws: Vec::new(),
            dispatches: 0,
        };
        // A cache may have forgotten that it has decoded the program.
        let same = |known: &Shader| {
            (known.stage, known.address, known.hash) == (stage, address, shader.hash)
        };
        let at = self.list.iter().position(same);
        Some(at.unwrap_or_else(|| {
            self.list.push(shader);
            self.list.len() - 1
        }))
    }

    fn count(&mut self, at: usize, stage: Option<Stage>) {
        let shader = &mut self.list[at];
        if stage == Some(Stage::Compute) {
            shader.dispatches += 1;
            return;
        }
        match shader.draws.last_mut() {
            Some((_, last)) if *last == self.draws => {}
            Some((_, last)) if *last + 1 == self.draws => *last = self.draws,
            _ => shader.draws.push((self.draws, self.draws)),
        }
    }

    /// Checks a replacement as a strict board would. Fetch shaders are not checked, see [`rules`].
    fn check(&mut self, stage: Option<Stage>, state: ProgramState, program: &Program) {
        let Some(stage) = stage else {
            return;
        };
        let resources = Resources::decode(state.resources, Chip::default());
        for violation in validate(program, resources, rules::exports(stage)) {
            let (name, base) = (rules::name(stage), state.base);
            let line = format!("{name} at {base:#x}: {violation}");
            if !self.violations.contains(&line) {
                self.violations.push(line);
            }
        }
    }
}
