// SPDX-License-Identifier: MIT
//! Records a run for [`tape`](crate::chip::gfx::shader::tape): nothing here is called without a
//! tape.

use super::{operand, Runner};
use crate::chip::gfx::rat;
use crate::chip::gfx::shader::alu::Outcome;
use crate::chip::gfx::shader::isa::{
    cf, tex, AluInstruction, CfExport, CfKind, TexInstruction, VtxInstruction, BUFFER_SIZE,
};
use crate::chip::gfx::shader::ops::{AluOp, Units};
use crate::chip::gfx::shader::program::{Cf, Fetch, Program};
use crate::chip::gfx::shader::step::{AluClause, Group, ROW_PV};
use crate::chip::gfx::shader::tape::{
    register, Step, Value, KILLS, OUTSIDE_BUFFER, OUTSIDE_TEXTURE, UNACKNOWLEDGED,
};
use crate::chip::gfx::vertex_fetch::{self, BufferResource};

const CHANNELS: [char; 4] = ['x', 'y', 'z', 'w'];

impl Runner<'_> {
    /// The recorded lane, and whether it runs.
    fn taped_lane(&self) -> Option<(usize, bool)> {
        let lane = self.wave.tape.as_ref()?.lane;
        Some((lane, self.wave.exec >> lane & 1 != 0))
    }

    fn step(&self, at: u32, active: bool) -> Step {
        Step {
            at,
            fetch_shader: self.in_fetch_shader,
            active,
            values: Vec::new(),
            note: None,
            texels: Vec::new(),
            address: None,
        }
    }

    fn push_step(&mut self, step: Step) {
        if let Some(tape) = &mut self.wave.tape {
            tape.push(step);
        }
    }

    /// Records control-flow instruction `pc`, before it is executed.
    pub(super) fn tape_control(&mut self, program: &Program, pc: u32) {
        let Some((lane, active)) = self.taped_lane() else {
            return;
        };
        let (cf, at) = (&program.cf[pc as usize], program.at[pc as usize] * 2);
        let mut step = self.step(at, active);
        match cf {
            Cf::Goto(_) => return,
            Cf::Export(export) if active => self.exported(export, lane, &mut step),
            Cf::Memory(export) if active => {
                self.written(export, lane, &mut step);
                if export.code == cf::MEM_RAT && self.counting() >> lane & 1 != 0 {
                    let writes = self.random_writes(export, lane);
                    for (address, bytes) in writes {
                        self.stored(address, bytes, export.kind & 2 != 0);
                    }
                }
            }
            Cf::Flow { word, .. } if word.code == cf::WAIT_ACK => {
                if let Some(tape) = &mut self.wave.tape {
                    tape.waits();
                }
            }
            Cf::Fetch { .. } => {
                let at = at as usize;
                let words = [program.word(at), program.word(at + 1)];
                if let (CfKind::Other(word), Some(tape)) =
                    (program.isa().cf(words), &mut self.wave.tape)
                {
                    tape.clause = word.address * 2;
                }
            }
            _ => {}
        }
        self.push_step(step);
    }

    fn stored(&mut self, address: u64, bytes: u64, marked: bool) {
        if let Some(tape) = &mut self.wave.tape {
            tape.stores(address, bytes, marked);
        }
    }

    /// Notes that the lane reads components of R`gpr`, chosen as by `operand`.
    fn tape_reads(&mut self, lane: usize, gpr: usize, select: impl IntoIterator<Item = u8>) {
        let Some(mut tape) = self.wave.tape.take() else {
            return;
        };
        for chan in select
            .into_iter()
            .filter(|select| *select < 4)
            .map(usize::from)
        {
            tape.reads(gpr, chan, self.wave.rows[gpr * 4 + chan][lane]);
        }
        self.wave.tape = Some(tape);
    }

    fn exported(&mut self, export: &CfExport, lane: usize, step: &mut Step) {
        let kind = ["colour", "position", "parameter", "?"][usize::from(export.kind & 3)];
        for i in 0..export.burst {
            let Some(gpr) = self.gpr(export.gpr.wrapping_add(i), export.rel) else {
                return;
            };
            let index = u32::from(export.array_base) + u32::from(i);
            self.tape_reads(lane, gpr, export.sel);
            for (chan, name) in CHANNELS.iter().enumerate() {
                if export.sel[chan] <= 5 {
                    let bits = operand(&self.wave.rows, gpr, export.sel[chan])[lane];
                    (step.values).push(Value::new(format!("{kind} {index}.{name}"), bits));
                }
            }
        }
    }

    fn written(&mut self, export: &CfExport, lane: usize, step: &mut Step) {
        for i in 0..export.burst {
            let Some(gpr) = self.gpr(export.gpr.wrapping_add(i), export.rel) else {
                return;
            };
            let read = match export.code {
                cf::MEM_RAT => {
                    rat::operands((export.array_base >> 4 & 0x3F) as u8, export.components)
                }
                _ => export.components,
            };
            let components = (0..4u8).filter(|chan| read >> chan & 1 != 0);
            self.tape_reads(lane, gpr, components.clone());
            for chan in components.map(usize::from) {
                let bits = self.wave.rows[gpr * 4 + chan][lane];
                step.values.push(Value::new(register(gpr, chan), bits));
            }
        }
    }

    /// Runs an ALU clause group by group, and records each instruction.
    pub(super) fn taped_clause(&mut self, program: &Program, clause: &AluClause) -> Outcome {
        let mut outcome = Outcome {
            exec: self.wave.exec,
            pred: self.pred,
            killed: self.wave.killed,
        };
        let mut first = 0;
        for (number, group) in clause.groups.iter().enumerate() {
            let end = group.end as usize;
            let part = AluClause {
                steps: clause.steps.get(first..end).unwrap_or(&[]).to_vec(),
                slots: clause.slots,
                ..AluClause::default()
            };
            first = end;
            let before = self.taped_lane();
            if let Some((lane, true)) = before {
                self.tape_sources(program, group, lane);
            }
            let killed = self.wave.killed;
            outcome = self.clause(program, &part);
            self.wave.exec = outcome.exec;
            self.wave.killed = outcome.killed;
            self.pred = outcome.pred;
            if let Some((lane, true)) = before {
                let dies = (outcome.killed & !killed) >> lane & 1 != 0;
                self.tape_group(program, group, number as u32 & 1, lane, dies);
            }
        }
        outcome
    }

    /// The instructions of a group, with their places.
    fn group(program: &Program, group: &Group) -> impl Iterator<Item = (u32, AluInstruction)> {
        let (isa, first) = (program.isa(), group.at);
        let words: Vec<[u32; 2]> = (0..usize::from(group.count))
            .map(|i| [0, 1].map(|j| program.word(first as usize + 2 * i + j)))
            .collect();
        let places = (first..).step_by(2);
        places
            .zip(words)
            .map(move |(at, words)| (at, isa.alu(words)))
    }

    /// Notes the registers that a group reads, before it is executed.
    fn tape_sources(&mut self, program: &Program, group: &Group, lane: usize) {
        for (_, instruction) in Self::group(program, group) {
            for source in instruction.sources() {
                if source.sel < 128 && !source.rel && instruction.op.is_some() {
                    self.tape_reads(lane, source.sel.into(), [source.chan]);
                }
            }
        }
    }

    /// Records the instructions of a group that has been executed. `bank` has the rows of its
    /// masked results; `dies`: it killed the lane.
    fn tape_group(&mut self, program: &Program, group: &Group, bank: u32, lane: usize, dies: bool) {
        let mut taken = [false; 4];
        for (at, i) in Self::group(program, group) {
            let chan = usize::from(i.dst_chan & 3);
            let trans = i.units == Units::Trans || i.units == Units::Any && taken[chan];
            taken[chan] |= !trans;
            let unit = if trans { 4 } else { chan };
            let mut step = self.step(at, true);
            let bit = |mask: u64| mask >> lane & 1 != 0;
            let row = |row: usize| self.wave.rows[row][lane];
            match i.op {
                None => step.note = Some("not a modelled instruction"),
                Some(AluOp::Nop) => {}
                Some(op) if op.is_kill() => {
                    step.note = Some(if dies { KILLS } else { "keeps the fragment" });
                }
                Some(op) if op.is_pred() => {
                    let passes = match i.update_exec {
                        true => bit(self.wave.exec),
                        false => bit(self.pred),
                    };
                    step.note = Some(if passes { "passes" } else { "does not pass" });
                }
                Some(AluOp::Mova | AluOp::MovaFloor | AluOp::MovaInt) => {
                    let index = self.wave.ar[chan][lane] as u32;
                    let name = format!("AR.{}", CHANNELS[chan]);
                    step.values.push(Value::new(name, index));
                }
                Some(_) if i.write && !i.dst_rel => {
                    let gpr = usize::from(i.dst_gpr);
                    let bits = row(gpr * 4 + chan);
                    step.values.push(Value::new(register(gpr, chan), bits));
                }
                // Operations of several units need not store their masked results.
                Some(op) if i.units != Units::Four && !op.is_double() => {
                    let bits = row((ROW_PV + bank * 5) as usize + unit);
                    let name = match (i.write, trans) {
                        (true, _) => format!("R[{}+index].{}", i.dst_gpr, CHANNELS[chan]),
                        (false, true) => "PS".into(),
                        (false, false) => format!("PV.{}", CHANNELS[chan]),
                    };
                    step.values.push(Value::new(name, bits));
                }
                Some(_) => {}
            }
            self.push_step(step);
            if let (Some(tape), true, false) = (&mut self.wave.tape, i.write, i.dst_rel) {
                tape.writes(i.dst_gpr.into(), chan);
            }
        }
    }

    /// Begins the record of fetch `number` of a clause: its operands, and where it reads. None if
    /// the lane does not run.
    pub(super) fn before_fetch(&mut self, fetch: &Fetch, number: usize) -> Option<Step> {
        let (lane, true) = self.taped_lane()? else {
            return None;
        };
        let at = self.wave.tape.as_ref()?.clause + 4 * number as u32;
        let mut step = self.step(at, true);
        match fetch {
            Fetch::Tex(op) => self.before_texture(op, lane, &mut step),
            Fetch::Vtx(op) => self.before_vertex(op, lane, &mut step),
            Fetch::Mem(_) | Fetch::Gds(_) => {}
        }
        Some(step)
    }

    fn before_texture(&mut self, op: &TexInstruction, lane: usize, step: &mut Step) {
        let op = TexInstruction {
            resource: self.indexed(op.resource, op.index[0]),
            sampler: self.indexed(op.sampler, op.index[1]),
            ..*op
        };
        let Some(gpr) = self.gpr(op.src_gpr, op.src_rel) else {
            return;
        };
        self.tape_reads(lane, gpr, op.src_sel);
        let source = |chan: usize| operand(&self.wave.rows, gpr, op.src_sel[chan]);
        let rows = [source(0), source(1), source(2), source(3)];
        for (name, row) in CHANNELS.iter().zip(rows) {
            (step.values).push(Value::new(format!("source.{name}"), row[lane]));
        }
        step.texels = self.env.texels(&op, &rows, lane);
        if op.opcode == tex::LD && step.texels.is_empty() {
            step.note = Some(OUTSIDE_TEXTURE);
        }
    }

    fn before_vertex(&mut self, op: &VtxInstruction, lane: usize, step: &mut Step) {
        // It asks for the size of the buffer, and has no index.
        if op.opcode == BUFFER_SIZE {
            return;
        }
        let Some(gpr) = self.gpr(op.src_gpr, op.src_rel) else {
            return;
        };
        let index = self.wave.rows[gpr * 4 + usize::from(op.src_sel_x & 3)][lane];
        self.tape_reads(lane, gpr, [op.src_sel_x & 3]);
        step.values.push(Value::new("index", index));
        let first = match self.in_fetch_shader {
            true => self.env.fetch_resources(),
            false => 0,
        };
        let buffer = first + u32::from(self.indexed(op.buffer, op.index));
        let words = self.env.resource(buffer);
        if let Some(resource) = BufferResource::decode(&words) {
            let offsets = self.env.vertex_offsets();
            let at = vertex_fetch::place(op, &resource, offsets, index);
            let inside = at < resource.size.next_multiple_of(4);
            step.address = inside.then(|| resource.base.wrapping_add(at));
            let bytes = vertex_fetch::format(op, &resource).bytes() as u64;
            let pending =
                |address| (self.wave.tape.as_ref()).is_some_and(|t| t.is_pending(address, bytes));
            if step.address.is_some_and(pending) {
                step.note = Some(UNACKNOWLEDGED);
            }
        }
        if step.address.is_none() {
            step.note = Some(OUTSIDE_BUFFER);
        }
    }

    /// Ends the record that [`Self::before_fetch`] began, after the fetch.
    pub(super) fn after_fetch(&mut self, fetch: &Fetch, mut step: Step) {
        let Some((lane, _)) = self.taped_lane() else {
            return;
        };
        let (dst, relative, select) = match fetch {
            Fetch::Tex(op) if matches!(op.opcode, tex::SET_GRADIENTS_H | tex::SET_GRADIENTS_V) => {
                return self.push_step(step);
            }
            Fetch::Tex(op) => (op.dst_gpr, op.dst_rel, op.dst_sel),
            Fetch::Vtx(op) if op.opcode != 1 => (op.dst_gpr, op.dst_rel, op.dst_sel),
            Fetch::Vtx(_) => return self.push_step(step),
            Fetch::Mem(op) => (op.dst_gpr, op.dst_rel, op.dst_sel),
            Fetch::Gds(op) => (op.dst_gpr, op.dst_rel, op.dst_sel),
        };
        if let Some(gpr) = self.gpr(dst, relative) {
            for chan in (0..4).filter(|&chan| select[chan] <= 5) {
                let bits = self.wave.rows[gpr * 4 + chan][lane];
                step.values.push(Value::new(register(gpr, chan), bits));
                if let Some(tape) = &mut self.wave.tape {
                    tape.writes(gpr, chan);
                }
            }
        }
        self.push_step(step);
    }
}
