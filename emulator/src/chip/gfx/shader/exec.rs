// SPDX-License-Identifier: MIT
//! Runs programs: control flow, masks, fetches, exports.
//!
//! Control flow: AMD "R700-Family Instruction Set Architecture", chapters 3
//! and 6. The execution mask has the lanes that run; the stack holds masks. A
//! lane that left a loop does not run until the loop ends, even if a popped mask
//! has it.

use super::alu::{Clause, FindDenormals, State};
use super::env::{Env, ExportKind, MemoryExport, MemoryTarget};
use super::isa::{
    cf, tex, CfExport, CfOther, MemInstruction, TexInstruction, VtxInstruction, MEM_SCRATCH,
};
use super::program::{is_denormal, Cf, Constant, Fetch, Program};
use super::step::ROW_CONST;
use super::{Stop, Wave, GPRS};
use crate::chip::gfx::lanes::{iter, Lanes, Mask, LANES};
use crate::chip::gfx::vertex_fetch;

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
        let mut calls: Vec<u32> = Vec::new();
        let mut pc = 0u32;
        while let Some(instruction) = program.cf.get(pc as usize) {
            self.charge(1)?;
            let mut next = pc + 1;
            match instruction {
                Cf::Alu { code, clause } => self.alu(program, *code, *clause)?,
                Cf::Fetch { clause } => {
                    let clause = &program.fetch[*clause as usize];
                    self.charge(clause.len() as u64)?;
                    if self.wave.exec != 0 {
                        self.fetches(program, clause);
                    }
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
                        None => return Ok(()),
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
                return Ok(());
            }
            if program.uses_kill && self.wave.valid & !self.wave.killed == 0 {
                // No lane is left whose results count.
                return Ok(());
            }
            pc = next;
        }
        Ok(())
    }

    fn call_fetch_shader(&mut self, program: &Program, depth: usize) -> Result<(), Stop> {
        let Some(fetch_shader) = self.env.fetch_shader() else {
            return Err(Stop::Fault("no fetch shader"));
        };
        let denormals = self.wave.denormals;
        let constants = self.wave.constant_denormals;
        self.program(&fetch_shader, depth + 1)?;
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
        let epoch = if program.has_buffers {
            self.env.constants_epoch()
        } else {
            u64::MAX
        };
        if self.wave.loaded == (program.id, epoch) && epoch != 0 {
            return Ok(());
        }
        self.charge(program.constants.len() as u64)?;
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
            let wave = &mut *self.wave;
            let outcome = wave.arch.dispatch(Clause {
                clause,
                wide: &program.wide,
                dx10_clamp: program.options.dx10_clamp,
                state: State {
                    rows: &mut wave.rows,
                    ar: &mut wave.ar,
                    al: self.al,
                    exec: wave.exec,
                    live: wave.live,
                    pred: self.pred,
                    killed: wave.killed,
                    denormals: wave.denormals,
                },
                env: &mut *self.env,
            });
            wave.exec = outcome.exec;
            wave.killed = outcome.killed;
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

    fn push(&mut self, frame: Frame) -> Result<(), Stop> {
        if self.stack.len() >= MAX_STACK {
            return Err(Stop::Fault("the stack overflows"));
        }
        self.stack.push(frame);
        Ok(())
    }

    fn innermost(&mut self) -> Option<&mut Loop> {
        self.stack.iter_mut().rev().find_map(|frame| match frame {
            Frame::Loop(inner) => Some(inner),
            Frame::Push(_) => None,
        })
    }

    /// Lanes that have left the innermost loop or wait for its next iteration.
    fn off(&self) -> Mask {
        (self.stack.iter().rev())
            .find_map(|frame| match frame {
                Frame::Loop(inner) => Some(inner.broken | inner.continued),
                Frame::Push(_) => None,
            })
            .unwrap_or(0)
    }

    /// Pops `count` entries. The lanes of the last one run, except those of [`Self::off`].
    fn pop(&mut self, count: u8) {
        for _ in 0..count {
            match self.stack.pop() {
                Some(Frame::Push(mask)) => self.wave.exec = mask & !self.off(),
                Some(Frame::Loop(inner)) => {
                    self.al = inner.outer_al;
                    self.wave.exec = inner.entry & !self.off();
                }
                None => self.env.unknown("pop of an empty stack", 0),
            }
        }
    }

    /// Runs those lanes of the top entry that do not run now, and no others.
    fn invert(&mut self) {
        let mask = match self.stack.last() {
            Some(Frame::Push(mask)) => *mask,
            Some(Frame::Loop(inner)) => inner.entry,
            None => self.wave.live,
        };
        self.wave.exec = mask & !self.wave.exec & !self.off();
    }

    /// The lanes that pass the condition of a control-flow instruction.
    fn pass(&mut self, word: &CfOther) -> Mask {
        let boolean = |env: &mut dyn Env| env.bool_constants() >> word.constant & 1 != 0;
        let pass = match word.cond {
            0 => true,
            1 => false,
            2 => boolean(self.env),
            _ => !boolean(self.env),
        };
        if pass {
            self.wave.exec
        } else {
            0
        }
    }

    /// Runs an instruction that changes masks. Returns the index of the next
    /// instruction if it jumps.
    fn flow(&mut self, word: &CfOther, target: Option<u32>, pc: u32) -> Result<Option<u32>, Stop> {
        const NOWHERE: Stop = Stop::Fault("jump to nowhere");
        #[allow(clippy::collapsible_match)] // each arm says what its instruction does
        match word.code {
            cf::JUMP => {
                if self.pass(word) == 0 {
                    self.pop(word.pop_count);
                    return target.map(Some).ok_or(NOWHERE);
                }
            }
            cf::PUSH | cf::PUSH_ELSE | cf::POP_PUSH | cf::POP_PUSH_ELSE => {
                if matches!(word.code, cf::POP_PUSH | cf::POP_PUSH_ELSE) {
                    self.pop(1);
                }
                let pass = self.pass(word);
                let exec = self.wave.exec;
                self.push(Frame::Push(exec))?;
                let inverted = matches!(word.code, cf::PUSH_ELSE | cf::POP_PUSH_ELSE);
                self.wave.exec = if inverted { exec & !pass } else { pass };
                if self.wave.exec == 0 {
                    self.pop(word.pop_count);
                    return target.map(Some).ok_or(NOWHERE);
                }
            }
            cf::ELSE => {
                self.invert();
                if self.wave.exec == 0 {
                    self.pop(word.pop_count);
                    return target.map(Some).ok_or(NOWHERE);
                }
            }
            cf::POP => self.pop(word.pop_count),
            cf::POP_JUMP => {
                self.pop(word.pop_count.max(1));
                if self.pass(word) == 0 {
                    return target.map(Some).ok_or(NOWHERE);
                }
            }
            cf::LOOP_START | cf::LOOP_START_DX10 | cf::LOOP_START_NO_AL => {
                let pass = self.pass(word);
                let constant = self.env.loop_constant(word.constant.into());
                // A DX10 loop ignores the constant.
                let counted = word.code != cf::LOOP_START_DX10;
                let limit = if counted { constant & 0xfff } else { u32::MAX };
                if pass == 0 || limit == 0 {
                    return target.map(Some).ok_or(NOWHERE);
                }
                let outer_al = self.al;
                let mut step = 0;
                if word.code == cf::LOOP_START {
                    self.al = (constant >> 12 & 0xfff) as i32;
                    step = i32::from((constant >> 24) as u8 as i8);
                }
                self.push(Frame::Loop(Loop {
                    entry: self.wave.exec,
                    broken: 0,
                    continued: 0,
                    turns: 0,
                    limit,
                    outer_al,
                    step,
                }))?;
                self.wave.exec = pass;
            }
            cf::LOOP_END => {
                // Entries above the loop's belong to its body.
                while let Some(Frame::Push(_)) = self.stack.last() {
                    self.env.unknown("push without pop in a loop", pc);
                    self.stack.pop();
                }
                let counts = self.wave.valid & !self.wave.killed;
                let Some(Frame::Loop(inner)) = self.stack.last_mut() else {
                    self.env.unknown("end of a loop that was not begun", pc);
                    return Ok(None);
                };
                inner.turns += 1;
                inner.continued = 0;
                let running = inner.entry & !inner.broken;
                // Killed lanes continue as helper lanes, but only with lanes that count.
                if running & counts != 0 && inner.turns < inner.limit {
                    self.al += inner.step;
                    self.wave.exec = running;
                    return target.map(Some).ok_or(NOWHERE);
                }
                self.pop(1);
            }
            cf::LOOP_BREAK | cf::LOOP_CONTINUE => {
                let pass = self.pass(word);
                let breaks = word.code == cf::LOOP_BREAK;
                match self.innermost() {
                    Some(inner) if breaks => inner.broken |= pass,
                    Some(inner) => inner.continued |= pass,
                    None => self.env.unknown("break outside of a loop", pc),
                }
                self.wave.exec &= !pass;
            }
            cf::EMIT_VERTEX | cf::EMIT_CUT_VERTEX | cf::CUT_VERTEX => {
                let stream = u32::from(word.count - 1) & 3;
                let exec = self.wave.exec & self.wave.valid;
                if word.code != cf::CUT_VERTEX {
                    self.env.emit_vertex(stream, exec);
                }
                if word.code != cf::EMIT_VERTEX {
                    self.env.cut_vertex(stream, exec);
                }
            }
            cf::KILL => {
                let pass = self.pass(word);
                self.wave.killed |= pass;
            }
            // NOP, WAIT_ACK, and codes that the decoder has reported.
            _ => {}
        }
        Ok(None)
    }

    fn gpr(&self, gpr: u8, relative: bool) -> Option<usize> {
        let index = i32::from(gpr) + if relative { self.al } else { 0 };
        usize::try_from(index).ok().filter(|&gpr| gpr < GPRS)
    }

    /// The lanes whose exports and memory writes count.
    fn counting(&self) -> Mask {
        self.wave.exec & self.wave.valid & !self.wave.killed
    }

    /// Exports registers. `last`: the program ends with this instruction.
    fn export(&mut self, export: &CfExport, last: bool) {
        let kind = match export.kind {
            0 => ExportKind::Pixel,
            1 => ExportKind::Position,
            2 => ExportKind::Parameter,
            _ => {
                self.env.unknown("export type", export.kind.into());
                return;
            }
        };
        let exec = self.counting();
        let all = exec == self.wave.valid & !self.wave.killed;
        let in_place = last && all && export.sel.iter().all(|select| *select < 4);
        for i in 0..export.burst {
            let Some(gpr) = self.gpr(export.gpr.wrapping_add(i), export.rel) else {
                break;
            };
            let index = u32::from(export.array_base) + u32::from(i);
            if !in_place || !self.env.export_in_place(kind, index, gpr, export.sel) {
                self.export_values(kind, index, gpr, export, exec);
            }
        }
    }

    /// Exports the values of one register. Not inlined, as most exports are in place.
    #[inline(never)]
    fn export_values(
        &mut self,
        kind: ExportKind,
        index: u32,
        gpr: usize,
        export: &CfExport,
        exec: Mask,
    ) {
        let value = |chan: usize| operand(&self.wave.rows, gpr, export.sel[chan]);
        let components = (0..4).fold(0, |all, chan| all | u8::from(export.sel[chan] <= 5) << chan);
        let values = [value(0), value(1), value(2), value(3)];
        self.env.export(kind, index, values, components, exec);
    }

    fn memory(&mut self, export: &CfExport) {
        let target = match export.code {
            cf::MEM_STREAM0..=cf::MEM_STREAM3 => {
                MemoryTarget::Stream(export.code - cf::MEM_STREAM0)
            }
            cf::MEM_SCRATCH => return self.write_scratch(export),
            cf::MEM_REDUCTION => MemoryTarget::Reduction,
            cf::MEM_RING => MemoryTarget::Ring,
            cf::MEM_EXPORT => MemoryTarget::Global,
            _ => return,
        };
        let exec = self.counting();
        let element_size = u32::from(export.element_size) + 1;
        for i in 0..u32::from(export.burst) {
            let gpr = export.gpr.wrapping_add(i as u8);
            let Some(gpr) = self.gpr(gpr, export.rel) else {
                break;
            };
            let rows = &self.wave.rows;
            let values = [0, 1, 2, 3].map(|chan| &rows[gpr * 4 + chan]);
            self.env.memory_export(&MemoryExport {
                target,
                array_base: u32::from(export.array_base) + i * element_size,
                array_size: export.array_size.into(),
                element_size,
                index: (export.kind & 1 != 0).then(|| &rows[usize::from(export.index_gpr) * 4]),
                values,
                components: export.components,
                exec,
            });
        }
    }

    /// The element of scratch that each lane accesses: `base`, plus the lane's
    /// index in row `index`, if given. None if an index is larger than `size`.
    fn scratch_elements(
        &self,
        base: u32,
        size: u32,
        index: Option<usize>,
    ) -> [Option<usize>; LANES] {
        match index {
            None => [Some(base as usize); LANES],
            Some(row) => {
                self.wave.rows[row].map(|index| (index <= size).then(|| (base + index) as usize))
            }
        }
    }

    fn write_scratch(&mut self, export: &CfExport) {
        // Helper lanes write, too: they must read back their own values.
        let exec = self.wave.exec;
        let index = (export.kind & 1 != 0).then(|| usize::from(export.index_gpr) * 4);
        for i in 0..export.burst {
            let Some(gpr) = self.gpr(export.gpr.wrapping_add(i), export.rel) else {
                break;
            };
            let base = u32::from(export.array_base) + u32::from(i);
            let elements = self.scratch_elements(base, export.array_size.into(), index);
            for lane in iter(exec) {
                let Some(element) = elements[lane] else {
                    continue;
                };
                if self.wave.scratch.len() < (element + 1) * 4 {
                    self.wave.scratch.resize((element + 1) * 4, [0; LANES]);
                }
                for chan in 0..4 {
                    if export.components >> chan & 1 != 0 {
                        self.wave.scratch[element * 4 + chan][lane] =
                            self.wave.rows[gpr * 4 + chan][lane];
                    }
                }
            }
        }
    }

    fn fetches(&mut self, program: &Program, clause: &[Fetch]) {
        for fetch in clause {
            match fetch {
                Fetch::Tex(op) => self.texture(program, op),
                Fetch::Vtx(op) => self.vertex(program, op),
                Fetch::Mem(op) => self.read_memory(program, op),
            }
        }
        self.env.end_of_fetch_clause();
    }

    fn texture(&mut self, program: &Program, op: &TexInstruction) {
        let Some(gpr) = self.gpr(op.src_gpr, op.src_rel) else {
            return;
        };
        if self.texture_in_place(program, op, gpr) {
            return;
        }
        // Kept from fetch to fetch, to save clearing it.
        let texels = self.wave.texels.take();
        let mut texels = texels.unwrap_or_else(|| Box::new([ZERO; 4]));
        let source = |chan: usize| operand(&self.wave.rows, gpr, op.src_sel[chan]);
        // Not `map()`, which the compiler does not inline here.
        let src = [source(0), source(1), source(2), source(3)];
        let denormals = self.env.texture(op, &src, self.wave.exec, &mut texels);
        if !matches!(op.opcode, tex::SET_GRADIENTS_H | tex::SET_GRADIENTS_V) {
            let (dst, relative, select) = (op.dst_gpr, op.dst_rel, op.dst_sel);
            self.write(program, dst, relative, select, &texels, &ONE, denormals);
        }
        self.wave.texels = Some(texels);
    }

    /// [`Self::texture`] with the source in R`src`, which writes its destination directly. False,
    /// without a fetch, if the result needs a swizzle or does not go to all lanes.
    fn texture_in_place(&mut self, program: &Program, op: &TexInstruction, src: usize) -> bool {
        let to_all = self.wave.exec == self.wave.live && op.dst_sel == [0, 1, 2, 3];
        if !to_all || matches!(op.opcode, tex::SET_GRADIENTS_H | tex::SET_GRADIENTS_V) {
            return false;
        }
        let Some(dst) = self.gpr(op.dst_gpr, op.dst_rel).filter(|dst| *dst != src) else {
            return false;
        };
        let (below, rest) = self.wave.rows.split_at_mut(4 * dst);
        let (out, above) = rest.split_at_mut(4);
        let Ok(out) = <&mut [Lanes; 4]>::try_from(out) else {
            return false;
        };
        let (rows, gpr) = match src < dst {
            true => (&*below, src),
            false => (&*above, src - dst - 1),
        };
        let source = |chan: usize| operand(rows, gpr, op.src_sel[chan]);
        let values = [source(0), source(1), source(2), source(3)];
        if self.env.texture(op, &values, self.wave.exec, out) {
            for chan in 0..4 {
                self.look_for_denormals(program, dst, chan);
            }
        }
        true
    }

    /// Checks a component of a GPR for denormals after a load that may have some.
    fn look_for_denormals(&mut self, program: &Program, gpr: usize, chan: usize) {
        let wave = &mut *self.wave;
        if program.float_gprs[gpr] >> chan & 1 != 0 && !wave.denormals {
            wave.denormals = find_denormals(wave, &[(gpr * 4 + chan) as u32]);
        }
    }

    fn vertex(&mut self, program: &Program, op: &VtxInstruction) {
        self.env.vertex_fetch(op, self.wave.exec);
        let Some(gpr) = self.gpr(op.src_gpr, op.src_rel) else {
            return;
        };
        let dst = match op.opcode {
            0 => op.dst_gpr,
            _ => match self.env.semantic(op.dst_gpr.into()) {
                Some(gpr) if (gpr as usize) < GPRS => gpr as u8,
                _ => return,
            },
        };
        let wave = &mut *self.wave;
        let index = wave.rows[gpr * 4 + usize::from(op.src_sel_x & 3)];
        let (result, integer) =
            vertex_fetch::fetch(self.env, op, &index, wave.exec, &mut wave.buffer);
        let one = if integer { &ONE_INT } else { &ONE };
        self.write(program, dst, op.dst_rel, op.dst_sel, &result, one, true);
    }

    fn read_memory(&mut self, program: &Program, op: &MemInstruction) {
        if op.op != MEM_SCRATCH {
            return;
        }
        let Some(gpr) = self.gpr(op.src_gpr, op.src_rel) else {
            return;
        };
        let index = op.indexed.then(|| gpr * 4 + usize::from(op.src_sel_x & 3));
        for i in 0..=op.burst_count {
            let base = u32::from(op.array_base) + u32::from(i);
            let elements = self.scratch_elements(base, op.array_size.into(), index);
            let mut result = [[0; LANES]; 4];
            for lane in iter(self.wave.exec) {
                let Some(element) = elements[lane] else {
                    continue;
                };
                for (chan, row) in result.iter_mut().enumerate() {
                    if let Some(held) = self.wave.scratch.get(element * 4 + chan) {
                        row[lane] = held[lane];
                    }
                }
            }
            self.write(
                program,
                op.dst_gpr.wrapping_add(i),
                op.dst_rel,
                op.dst_sel,
                &result,
                &ONE,
                true,
            );
        }
    }

    /// Writes a fetched value through `select` to a GPR of the lanes that run. `one` is
    /// the value of `SEL_1`. `denormals`: the fetched value may have some.
    #[allow(clippy::too_many_arguments)]
    fn write(
        &mut self,
        program: &Program,
        dst: u8,
        relative: bool,
        select: [u8; 4],
        value: &[Lanes; 4],
        one: &Lanes,
        denormals: bool,
    ) {
        let Some(gpr) = self.gpr(dst, relative) else {
            return;
        };
        let (exec, live) = (self.wave.exec, self.wave.live);
        for (chan, &select) in select.iter().enumerate() {
            let from = match select {
                0..=3 => &value[usize::from(select)],
                4 => &ZERO,
                5 => one,
                _ => continue,
            };
            let row = &mut self.wave.rows[gpr * 4 + chan];
            if exec == live {
                *row = *from;
            } else {
                for lane in iter(exec) {
                    row[lane] = from[lane];
                }
            }
            if denormals {
                self.look_for_denormals(program, gpr, chan);
            }
        }
    }
}
