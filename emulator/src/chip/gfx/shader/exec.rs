// SPDX-License-Identifier: MIT
//! Runs programs: the loop over control-flow instructions, and ALU clauses. `flow` has branches and
//! loops, `fetch` fetch clauses, `export` exports and writes to memory.
//!
//! Control flow: AMD "R700-Family Instruction Set Architecture", chapters 3
//! and 6. The execution mask has the lanes that run; the stack holds masks. A
//! lane that left a loop does not run until the loop ends, even if a popped mask
//! has it.

mod export;
mod fetch;
mod flow;
mod tape;

use super::alu::{Clause, FindDenormals, Outcome, State};
use super::env::Env;
use super::isa::cf;
use super::program::{is_denormal, Cf, Constant, Program};
use super::step::{AluClause, ROW_CONST};
use super::{Stop, Wave, GPRS};
use crate::chip::gfx::lanes::{Lanes, Mask, LANES};

/// Most entries of the stack. The hardware's is smaller; the driver sets its size.
const MAX_STACK: usize = 256;
/// Deepest nesting of calls.
const MAX_CALLS: usize = 32;
/// Instructions between two calls of [`Env::cancelled`].
const CHECK_EVERY: u64 = 4096;

static ZERO: Lanes = [0; LANES];
static ONE: Lanes = [0x3f80_0000; LANES];
static ONE_INT: Lanes = [1; LANES];

/// An entry of the stack.
#[derive(Debug, Clone, Copy)]
enum Frame {
    /// The mask before a branch.
    Push(Mask),
    Loop(Loop),
}

#[derive(Debug, Clone, Copy)]
struct Loop {
    /// Lanes that entered the loop.
    entry: Mask,
    /// Lanes that left it by a break.
    broken: Mask,
    /// Lanes that wait for the next iteration.
    continued: Mask,
    turns: u32,
    /// Most iterations.
    limit: u32,
    /// The loop index of the enclosing loop.
    outer_al: i32,
    step: i32,
}

/// A run: the wave, its environment, and the state of control flow.
struct Runner<'a> {
    wave: &'a mut Wave,
    env: &'a mut dyn Env,
    stack: Vec<Frame>,
    al: i32,
    pred: Mask,
    next_check: u64,
    /// A fetch shader runs.
    in_fetch_shader: bool,
    /// Where to begin, if barriers stop the run. Without, they do nothing.
    at: Option<&'a mut Position>,
}

/// Where a wave that waits at a barrier continues, and its masks.
#[derive(Debug, Default)]
pub struct Position {
    pc: u32,
    calls: Vec<u32>,
    stack: Vec<Frame>,
    al: i32,
    pred: Mask,
    begun: bool,
    /// The program has ended.
    pub done: bool,
}

/// Runs `program` from `at` on until it ends or reaches a barrier, and sets `at` to the place behind
/// that; its default value is the first instruction. The caller has prepared the wave as for [`run`],
/// once.
///
/// # Errors
/// As [`run`].
pub fn run_part(
    program: &Program,
    wave: &mut Wave,
    env: &mut dyn Env,
    at: &mut Position,
) -> Result<(), Stop> {
    if at.done || wave.valid == 0 {
        at.done = true;
        return Ok(());
    }
    if !at.begun {
        wave.live = wave.exec | wave.kept;
    }
    let next_check = wave.executed + CHECK_EVERY;
    let mut runner = Runner {
        wave,
        env,
        stack: std::mem::take(&mut at.stack),
        al: at.al,
        pred: at.pred,
        next_check,
        in_fetch_shader: false,
        at: Some(at),
    };
    let result = runner.program(program, 0);
    let (stack, al, pred) = (std::mem::take(&mut runner.stack), runner.al, runner.pred);
    (at.stack, at.al, at.pred, at.begun) = (stack, al, pred, true);
    result
}

/// Runs `program` from its first instruction until it ends.
///
/// The caller has called [`Wave::begin`] and filled the input GPRs. Exports go
/// to `env`; [`Wave::killed`] then has the lanes that were killed.
///
/// # Errors
/// The budget is used up, the job is cancelled, or the program cannot continue.
pub fn run(program: &Program, wave: &mut Wave, env: &mut dyn Env) -> Result<(), Stop> {
    if wave.valid == 0 {
        return Ok(());
    }
    wave.live = wave.exec | wave.kept;
    let stack = std::mem::take(&mut wave.stack_storage);
    let mut runner = Runner {
        wave,
        env,
        stack: stack.0,
        al: 0,
        pred: 0,
        next_check: CHECK_EVERY,
        in_fetch_shader: false,
        at: None,
    };
    runner.stack.clear();
    let result = runner.program(program, 0);
    let stack = std::mem::take(&mut runner.stack);
    wave.stack_storage = StackStorage(stack);
    result
}

/// The stack's allocation, kept from run to run.
#[derive(Debug, Default)]
pub(super) struct StackStorage(Vec<Frame>);

/// The operand that `select` selects: a component of the GPR whose x is row 4 * `gpr`, 0 (4) or
/// 1 (5).
#[inline]
fn operand(rows: &[Lanes], gpr: usize, select: u8) -> &Lanes {
    match select {
        0..=3 => &rows[gpr * 4 + usize::from(select)],
        5 => &ONE,
        _ => &ZERO,
    }
}

/// True if a lane of the rows `which` holds a denormal.
fn find_denormals(wave: &Wave, which: &[u32]) -> bool {
    let rows = &wave.rows;
    !which.is_empty() && wave.arch.dispatch(FindDenormals { rows, which })
}

impl Runner<'_> {
    fn program(&mut self, program: &Program, depth: usize) -> Result<(), Stop> {
        self.load_constants(program)?;
        let mut calls: Vec<u32> = Vec::new();
        let mut pc = 0u32;
        match &mut self.at {
            Some(at) if depth == 0 && at.begun => {
                (pc, calls) = (at.pc, std::mem::take(&mut at.calls));
            }
            _ => self.enter(program),
        }
        while let Some(instruction) = program.cf.get(pc as usize) {
            self.charge(1)?;
            if self.wave.tape.is_some() {
                self.tape_control(program, pc);
            }
            let mut next = pc + 1;
            match instruction {
                Cf::Barrier => {
                    if let (Some(at), 0) = (&mut self.at, depth) {
                        (at.pc, at.calls) = (next, calls);
                        return Ok(());
                    }
                }
                Cf::Alu { code, clause } => self.alu(program, *code, *clause)?,
                Cf::Fetch { clause, valid } => {
                    let clause = &program.fetch[*clause as usize];
                    self.charge(clause.len() as u64)?;
                    let exec = self.wave.exec;
                    if *valid {
                        self.wave.exec &= self.wave.valid & !self.wave.killed;
                    }
                    if self.wave.exec != 0 {
                        self.fetches(program, clause);
                    }
                    self.wave.exec = exec;
                }
                Cf::Export(export) => self.export(export, program.ends[pc as usize]),
                Cf::Memory(export) => self.memory(export),
                Cf::Goto(target) => next = *target,
                Cf::Flow { word, target } => match word.code {
                    cf::CALL => {
                        if self.pass(word) != 0 {
                            let target = target.ok_or(Stop::Fault("call to nowhere"))?;
                            if calls.len() >= MAX_CALLS {
                                return Err(Stop::Fault("calls nest too deep"));
                            }
                            calls.push(next);
                            next = target;
                        }
                    }
                    cf::RET => match calls.pop() {
                        Some(back) => next = back,
                        None => break,
                    },
                    cf::CALL_FS => {
                        if self.pass(word) != 0 {
                            if depth > 0 {
                                return Err(Stop::Fault("a fetch shader calls a fetch shader"));
                            }
                            self.call_fetch_shader(program, depth)?;
                        }
                    }
                    _ => {
                        if let Some(target) = self.flow(word, *target, pc)? {
                            next = target;
                        }
                    }
                },
            }
            if program.ends[pc as usize] {
                break;
            }
            if program.uses_kill && self.wave.valid & !self.wave.killed == 0 {
                // No lane is left whose results count.
                break;
            }
            pc = next;
        }
        if let (Some(at), 0) = (&mut self.at, depth) {
            at.done = true;
        }
        Ok(())
    }

    /// Begins a program: reports what it has of unknown instructions, and looks for denormals in the
    /// registers that float operations read.
    fn enter(&mut self, program: &Program) {
        for (what, word) in &program.unknown {
            self.env.unknown(what, *word);
        }
        self.wave.denormals = self.wave.constant_denormals || {
            // The rows are sorted. Of most waves `set_normal()` has declared all.
            let rows = &program.float_rows;
            let normal = 4 * self.wave.normal as u32;
            let unknown = match rows.last() {
                Some(last) if *last >= normal => rows.partition_point(|row| *row < normal),
                _ => rows.len(),
            };
            find_denormals(self.wave, &rows[unknown..])
        };
    }

    fn call_fetch_shader(&mut self, program: &Program, depth: usize) -> Result<(), Stop> {
        let Some(fetch_shader) = self.env.fetch_shader() else {
            return Err(Stop::Fault("no fetch shader"));
        };
        let denormals = self.wave.denormals;
        let constants = self.wave.constant_denormals;
        self.in_fetch_shader = true;
        self.program(&fetch_shader, depth + 1)?;
        self.in_fetch_shader = false;
        if !fetch_shader.constants.is_empty() {
            self.load_constants(program)?;
        }
        self.wave.constant_denormals = constants;
        self.wave.denormals |= denormals || find_denormals(self.wave, &program.float_rows);
        Ok(())
    }

    /// Counts `n` instructions against the budget.
    fn charge(&mut self, n: u64) -> Result<(), Stop> {
        let wave = &mut *self.wave;
        wave.executed += n;
        if wave.executed > wave.budget {
            return Err(Stop::Budget);
        }
        if wave.executed >= self.next_check {
            self.next_check = wave.executed + CHECK_EVERY;
            if self.env.cancelled() {
                return Err(Stop::Cancelled);
            }
        }
        Ok(())
    }

    /// Loads the program's constants into their rows, if they are not there yet. Each counts as
    /// an instruction: waves that call a fetch shader with constants load them again and again.
    fn load_constants(&mut self, program: &Program) -> Result<(), Stop> {
        if program.constants.is_empty() {
            return Ok(());
        }
        // Also where an earlier wave of this worker has loaded them: that depends on the number of
        // workers, and the limit of a draw's instructions must not.
        self.charge(program.constants.len() as u64)?;
        let epoch = if program.has_buffers {
            self.env.constants_epoch()
        } else {
            u64::MAX
        };
        if self.wave.loaded == (program.id, epoch) && epoch != 0 {
            return Ok(());
        }
        let rows = ROW_CONST as usize + program.constants.len();
        if self.wave.rows.len() < rows {
            self.wave.rows.resize(rows, [0; LANES]);
        }
        self.wave.constant_denormals = false;
        let mut held: Option<(u8, u32, [u32; 4])> = None;
        for (i, constant) in program.constants.iter().enumerate() {
            let value = match *constant {
                Constant::Literal(value) => value,
                Constant::Cache(bank, index, chan) => {
                    let vec4 = match held {
                        Some((b, i, vec4)) if (b, i) == (bank, index) => vec4,
                        _ => {
                            let mut out = [[0; 4]];
                            self.env.constants(bank.into(), index, &mut out);
                            out[0]
                        }
                    };
                    held = Some((bank, index, vec4));
                    vec4[usize::from(chan)]
                }
                Constant::File(index, chan) => self.env.constant_file(index)[usize::from(chan)],
                Constant::Wave => self.env.wave_id(),
            };
            if program.float_constants[i] && is_denormal(value) {
                self.wave.constant_denormals = true;
            }
            self.wave.rows[ROW_CONST as usize + i].fill(value);
        }
        self.wave.loaded = (program.id, epoch);
        Ok(())
    }

    fn alu(&mut self, program: &Program, code: u8, clause: u32) -> Result<(), Stop> {
        let clause = &program.alu[clause as usize];
        if code == cf::ALU_PUSH_BEFORE {
            self.push(Frame::Push(self.wave.exec))?;
        }
        let before = self.wave.exec;
        if before != 0 {
            self.charge(u64::from(clause.slots))?;
            let outcome = match self.wave.tape {
                None => self.clause(program, clause),
                Some(_) => self.taped_clause(program, clause),
            };
            self.wave.exec = outcome.exec;
            self.wave.killed = outcome.killed;
            self.pred = outcome.pred;
        }
        match code {
            cf::ALU_POP_AFTER => self.pop(1),
            cf::ALU_POP2_AFTER => self.pop(2),
            cf::ALU_ELSE_AFTER => self.invert(),
            cf::ALU_BREAK => {
                let left = before & !self.wave.exec;
                if let Some(frame) = self.innermost() {
                    frame.broken |= left;
                }
            }
            cf::ALU_CONTINUE => {
                let left = before & !self.wave.exec;
                if let Some(frame) = self.innermost() {
                    frame.continued |= left;
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// Runs the steps of `clause`. Not inlined: it is large, and compiled for each kind of host.
    #[inline(never)]
    fn clause(&mut self, program: &Program, clause: &AluClause) -> Outcome {
        let wave = &mut *self.wave;
        wave.arch.dispatch(Clause {
            clause,
            wide: &program.wide,
            dx10_clamp: program.options.dx10_clamp,
            begun: wave.executed - u64::from(clause.slots),
            state: State {
                rows: &mut wave.rows,
                ar: &mut wave.ar,
                index: &mut wave.index,
                queue: &mut wave.queue,
                al: self.al,
                exec: wave.exec,
                live: wave.live,
                pred: self.pred,
                killed: wave.killed,
                denormals: wave.denormals,
            },
            env: &mut *self.env,
        })
    }

    fn gpr(&self, gpr: u8, relative: bool) -> Option<usize> {
        let index = i32::from(gpr) + if relative { self.al } else { 0 };
        usize::try_from(index).ok().filter(|&gpr| gpr < GPRS)
    }
}
