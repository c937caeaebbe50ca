// SPDX-License-Identifier: MIT
//! Executes a compiled program: the loop over control flow, as the interpreter's. ALU clauses are
//! calls of machine code; texture fetches and exports go to the interpreter's `Env`.

use r7xx_board::chip::gfx::lanes::{expand, Mask};
use r7xx_board::chip::gfx::shader::isa::cf;
use r7xx_board::chip::gfx::shader::{Env, ExportKind};

use crate::compile::{clause, Facts};
use crate::decode::{Constant, Item, Program, Unsupported};
use crate::machine::{Code, Masks, Rows, LANES, ROWS};

static ZERO: [u32; LANES] = [0; LANES];
static ONE: [u32; LANES] = [0x3f80_0000; LANES];

/// How a program is compiled.
#[derive(Debug, Clone, Copy, Default)]
pub struct Options {
    /// Inputs and constants have no denormals.
    pub normal: bool,
    /// All registers are stored at the end of each clause, for comparisons.
    pub all: bool,
    /// Only ALU clauses and branches are executed, for measurements.
    pub alone: bool,
}

/// A compiled program.
#[derive(Debug)]
pub struct Compiled {
    program: Program,
    /// Of each clause the function for all lanes, and the one for some.
    functions: Vec<[usize; 2]>,
    code: Code,
    values: Vec<u32>,
}

/// The registers and masks of a wave.
#[derive(Debug)]
pub struct State {
    pub rows: Box<Rows>,
    masks: Box<Masks>,
    pub exec: Mask,
    pub killed: Mask,
    pred: Mask,
    stack: Vec<Mask>,
}

impl Default for State {
    fn default() -> Self {
        let rows: Box<[_; ROWS]> = vec![[0; LANES]; ROWS].try_into().expect("as many");
        Self {
            rows,
            masks: Box::new(Masks {
                exec: [0; LANES],
                pred: [0; LANES],
                out_exec: [0; 16],
                out_pred: [0; 16],
                out_kill: [0; 16],
            }),
            exec: 0,
            killed: 0,
            pred: 0,
            stack: Vec::new(),
        }
    }
}

/// What a clause does to masks.
#[derive(Debug, Clone, Copy, Default)]
struct Outcomes {
    exec: bool,
    pred: bool,
    kill: bool,
}

/// The lanes of an outcome, which has four in each byte.
fn lanes(nibbles: &[u8; 16]) -> Mask {
    let nibbles = nibbles.iter().enumerate();
    nibbles.fold(0, |all, (i, bits)| all | Mask::from(bits & 15) << (4 * i))
}

fn operand(rows: &Rows, gpr: usize, select: u8) -> &[u32; LANES] {
    match select {
        0..=3 => &rows[(gpr & 127) * 4 + usize::from(select)],
        5 => &ONE,
        _ => &ZERO,
    }
}

impl Compiled {
    /// Compiles the program `words`.
    ///
    /// # Errors
    /// It has something that the prototype does not know.
    pub fn new(words: &[u32], options: Options) -> Result<Self, Unsupported> {
        let mut program = Program::decode(words)?;
        let facts = Facts::new(&program, options.normal, options.all);
        let mut code = Code::new();
        // Without tests, all lanes run all clauses.
        let branches = (program.clauses.iter()).any(|clause| clause.code != cf::ALU)
            || program
                .items
                .iter()
                .any(|(item, _)| matches!(item, Item::Flow(word) if word.code != cf::NOP))
            || outcomes(&program).any(|outcomes| outcomes.exec);
        let mut functions = Vec::new();
        for part in &program.clauses {
            if !matches!(
                part.code,
                cf::ALU
                    | cf::ALU_PUSH_BEFORE
                    | cf::ALU_POP_AFTER
                    | cf::ALU_POP2_AFTER
                    | cf::ALU_ELSE_AFTER
            ) {
                return Err(Unsupported("a clause of a loop".into()));
            }
            let full = clause(&mut code, part, &facts, false)?;
            let some = match branches {
                true => clause(&mut code, part, &facts, true)?,
                false => full,
            };
            functions.push([full, some]);
        }
        code.finish();
        if options.alone {
            for (item, _) in &mut program.items {
                if matches!(item, Item::Tex(_) | Item::Export(_)) {
                    *item = Item::Flow(Default::default());
                }
            }
        }
        Ok(Self {
            program,
            functions,
            code,
            values: Vec::new(),
        })
    }

    /// Bytes of machine code.
    pub fn bytes(&self) -> usize {
        self.code.bytes
    }

    /// ALU instructions of the program.
    pub fn slots(&self) -> usize {
        let clauses = self.program.clauses.iter();
        clauses.flat_map(|c| &c.groups).map(Vec::len).sum()
    }

    /// Fetches the constants, as the interpreter does once for each change of them.
    pub fn load_constants(&mut self, env: &mut dyn Env) {
        let constants = self.program.constants.iter();
        let values = constants.map(|constant| match *constant {
            Constant::Literal(value) => value,
            Constant::Buffer(bank, index, chan) => {
                let mut out = [[0; 4]];
                env.constants(bank, index, &mut out);
                out[0][usize::from(chan)]
            }
        });
        self.values = values.collect();
    }

    /// Runs the program for the lanes of `exec`; the exports of those of `valid` count.
    ///
    /// # Panics
    /// If [`Compiled::load_constants`] has not been called.
    pub fn run(&self, state: &mut State, env: &mut dyn Env, exec: Mask, valid: Mask) {
        assert_eq!(self.values.len(), self.program.constants.len());
        let live = exec;
        (state.exec, state.killed, state.pred) = (exec, 0, 0);
        state.stack.clear();
        let mut at = 0;
        while let Some((item, end)) = self.program.items.get(at) {
            at += 1;
            match item {
                Item::Alu(number) => self.alu(state, *number, live),
                Item::Tex(fetches) => {
                    for fetch in fetches.iter().filter(|_| state.exec != 0) {
                        let mut out = [[0; LANES]; 4];
                        let gpr = usize::from(fetch.src_gpr);
                        let src = fetch.src_sel.map(|s| operand(&state.rows, gpr, s));
                        env.texture(fetch, &src, state.exec, &mut out);
                        let bits = expand(state.exec);
                        for (chan, select) in fetch.dst_sel.into_iter().enumerate() {
                            let from = match select {
                                0..=3 => &out[usize::from(select)],
                                4 => &ZERO,
                                5 => &ONE,
                                _ => continue,
                            };
                            let row = usize::from(fetch.dst_gpr & 127) * 4 + chan;
                            for (lane, to) in state.rows[row].iter_mut().enumerate() {
                                *to = *to & !bits[lane] | from[lane] & bits[lane];
                            }
                        }
                    }
                    env.end_of_fetch_clause();
                }
                Item::Export(export) => {
                    let kind = match export.kind {
                        0 => ExportKind::Pixel,
                        1 => ExportKind::Position,
                        _ => ExportKind::Parameter,
                    };
                    let lanes = state.exec & valid & !state.killed;
                    let select = export.sel;
                    let components =
                        (0..4).fold(0, |all, chan| all | u8::from(select[chan] <= 5) << chan);
                    for i in 0..export.burst {
                        let gpr = usize::from(export.gpr.wrapping_add(i));
                        let values = select.map(|s| operand(&state.rows, gpr, s));
                        let index = u32::from(export.array_base) + u32::from(i);
                        env.export(kind, index, values, components, lanes);
                    }
                }
                Item::Flow(word) => match word.code {
                    cf::JUMP if state.exec == 0 => {
                        state.pop(word.pop_count);
                        at = word.address as usize;
                    }
                    cf::ELSE => {
                        state.invert(live);
                        if state.exec == 0 {
                            state.pop(word.pop_count);
                            at = word.address as usize;
                        }
                    }
                    cf::POP => state.pop(word.pop_count),
                    cf::KILL => state.killed |= state.exec,
                    _ => {}
                },
            }
            if *end || valid & !state.killed == 0 {
                break;
            }
        }
    }

    fn alu(&self, state: &mut State, number: usize, live: Mask) {
        let code = self.program.clauses[number].code;
        if code == cf::ALU_PUSH_BEFORE {
            state.stack.push(state.exec);
        }
        let before = state.exec;
        if before != 0 {
            let outcomes = of(&self.program.clauses[number]);
            let some = before != live;
            if some {
                state.masks.exec = expand(before);
            }
            if outcomes.pred || state.pred != 0 {
                state.masks.pred = expand(state.pred);
            }
            let function = self.functions[number][usize::from(some)];
            let (rows, masks) = (&mut state.rows, &mut state.masks);
            self.code.call(function, rows, &self.values, masks);
            if outcomes.exec {
                state.exec &= lanes(&state.masks.out_exec);
            }
            if outcomes.pred {
                state.pred = state.pred & !before | lanes(&state.masks.out_pred) & before;
            }
            if outcomes.kill {
                state.killed |= lanes(&state.masks.out_kill) & before;
            }
        }
        match code {
            cf::ALU_POP_AFTER => state.pop(1),
            cf::ALU_POP2_AFTER => state.pop(2),
            cf::ALU_ELSE_AFTER => state.invert(live),
            _ => {}
        }
    }
}

/// What `clause` does to masks.
fn of(clause: &crate::decode::Clause) -> Outcomes {
    let mut out = Outcomes::default();
    for slot in clause.groups.iter().flatten() {
        out.kill |= slot.op.is_kill();
        if slot.op.is_pred() {
            out.exec |= slot.word.update_exec;
            out.pred |= slot.word.update_pred;
        }
    }
    out
}

fn outcomes(program: &Program) -> impl Iterator<Item = Outcomes> + '_ {
    program.clauses.iter().map(of)
}

impl State {
    fn pop(&mut self, count: u8) {
        for _ in 0..count {
            if let Some(mask) = self.stack.pop() {
                self.exec = mask;
            }
        }
    }

    fn invert(&mut self, live: Mask) {
        let mask = self.stack.last().copied().unwrap_or(live);
        self.exec = mask & !self.exec;
    }
}
