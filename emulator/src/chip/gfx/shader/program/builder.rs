// SPDX-License-Identifier: MIT
//! Reads a program's words and converts its clauses to steps. The order of steps and temporaries
//! resolve hazards; `PV` and `PS` become the rows that hold the values.

use std::collections::HashMap;
use std::ops::Range;

use super::*;

/// Instructions that are decoded between two calls of [`Code::cancelled`].
const CHECK_EVERY: usize = 4096;

/// Reads a program's words, a block at a time.
pub(super) struct Reader<'a> {
    pub(super) isa: Isa,
    pub(super) base: u64,
    pub(super) code: &'a mut dyn Code,
    pub(super) blocks: HashMap<u64, [u32; BLOCK]>,
}

impl Reader<'_> {
    /// Dword `index` of the program.
    pub(super) fn word(&mut self, index: u64) -> Result<u32, Stop> {
        let block = index / BLOCK as u64;
        if !self.blocks.contains_key(&block) {
            if self.blocks.len() * BLOCK >= MAX_DWORDS {
                return Err(Stop::Fault("the shader is too long"));
            }
            let mut words = [0; BLOCK];
            let address = block
                .checked_mul(BLOCK as u64 * 4)
                .and_then(|offset| self.base.checked_add(offset))
                .ok_or(Stop::Fault("the shader's address wraps"))?;
            if !self.code.read(address, &mut words) {
                return Err(Stop::Fault("the shader cannot be read"));
            }
            self.blocks.insert(block, words);
        }
        Ok(self.blocks[&block][(index % BLOCK as u64) as usize])
    }

    pub(super) fn pair(&mut self, index: u64) -> Result<[u32; 2], Stop> {
        Ok([self.word(index)?, self.word(index + 1)?])
    }
}

/// The state of decoding.
pub(super) struct Builder {
    pub(super) constants: Vec<Constant>,
    pub(super) constant_rows: HashMap<Constant, u32>,
    pub(super) alu: Vec<AluClause>,
    /// Decoded clauses by the fields that they depend on: each is of one part or more.
    pub(super) alu_at: HashMap<CfAlu, (u32, u32)>,
    pub(super) wide: Vec<Wide>,
    pub(super) fetch: Vec<Vec<Fetch>>,
    pub(super) unknown: Vec<(&'static str, u32)>,
    /// Instructions of all clauses so far.
    pub(super) instructions: usize,
    /// Slots of the clause before the group that is decoded.
    pub(super) slots: u32,
}

/// An operation of a group, before the steps are ordered.
#[derive(Clone, Copy)]
pub(super) enum Work {
    Slot(Slot),
    Wide(Wide),
    Interpolate(Interpolate),
}

impl Work {
    pub(super) fn reads(&self, row: u32) -> bool {
        match self {
            Work::Slot(slot) => slot.src[..slot.op.sources()].iter().any(|s| s.row == row),
            Work::Wide(wide) => {
                (wide.src.iter()).any(|unit| unit[..wide.op.sources()].iter().any(|s| s.row == row))
            }
            Work::Interpolate(item) => item.weights.is_some_and(|rows| rows.contains(&row)),
        }
    }

    pub(super) fn writes(&self) -> [Option<u32>; 4] {
        match self {
            Work::Slot(slot) => [Some(slot.dst), None, None, None],
            Work::Wide(wide) => wide.dst,
            Work::Interpolate(item) => [Some(item.dst), None, None, None],
        }
    }

    pub(super) fn redirect(&mut self, from: u32, to: u32) {
        match self {
            Work::Slot(slot) => slot.dst = to,
            Work::Interpolate(item) => item.dst = to,
            Work::Wide(wide) => {
                for dst in wide.dst.iter_mut().filter(|dst| **dst == Some(from)) {
                    *dst = Some(to);
                }
            }
        }
    }

    pub(super) fn pred_sel(&self) -> u8 {
        match self {
            Work::Slot(slot) => slot.pred_sel,
            Work::Wide(wide) => wide.pred_sel,
            Work::Interpolate(item) => item.pred_sel,
        }
    }
}

impl Builder {
    pub(super) fn constant(&mut self, constant: Constant) -> u32 {
        let next = ROW_CONST + self.constants.len() as u32;
        let constants = &mut self.constants;
        *self.constant_rows.entry(constant).or_insert_with(|| {
            constants.push(constant);
            next
        })
    }

    /// The row of an operand that is not relative.
    pub(super) fn direct(
        &mut self,
        clause: &CfAlu,
        src: &AluSource,
        literals: &[u32; 4],
        pv: &[Option<u32>; 5],
    ) -> u32 {
        let chan = src.chan;
        match src.sel {
            0..=127 => u32::from(src.sel) * 4 + u32::from(chan),
            sel::KCACHE0..sel::KCACHE_END | sel::KCACHE2..sel::KCACHE_EXTENDED_END => {
                match kcache(clause, src.sel) {
                    Some((bank, index, _)) => self.constant(Constant::Cache(bank, index, chan)),
                    None => self.constant(Constant::Literal(0)),
                }
            }
            sel::ONE => self.constant(Constant::Literal(1f32.to_bits())),
            sel::ONE_INT => self.constant(Constant::Literal(1)),
            sel::MINUS_ONE_INT => self.constant(Constant::Literal(u32::MAX)),
            sel::HALF => self.constant(Constant::Literal(0.5f32.to_bits())),
            sel::LITERAL => self.constant(Constant::Literal(literals[usize::from(chan)])),
            sel::PV => match pv[usize::from(chan)] {
                Some(row) => row,
                None => self.constant(Constant::Literal(0)),
            },
            sel::PS => match pv[4] {
                Some(row) => row,
                None => self.constant(Constant::Literal(0)),
            },
            sel::CONSTANT_FILE..sel::KCACHE2 => {
                let index = u32::from(src.sel - sel::CONSTANT_FILE);
                self.constant(Constant::File(index, chan))
            }
            // All waves run on the first shader engine.
            sel::ZERO | sel::SE_ID => self.constant(Constant::Literal(0)),
            sel::HW_WAVE_ID => self.constant(Constant::Wave),
            other => {
                self.unknown.push(("ALU source", other.into()));
                self.constant(Constant::Literal(0))
            }
        }
    }

    /// The row of an operand. A relative one is gathered into row `temp`, which is then advanced.
    #[allow(clippy::too_many_arguments)]
    pub(super) fn operand(
        &mut self,
        clause: &CfAlu,
        instruction: &AluInstruction,
        src: &AluSource,
        literals: &[u32; 4],
        pv: &[Option<u32>; 5],
        temp: &mut u32,
        steps: &mut Vec<Step>,
    ) -> Src {
        if matches!(src.sel, sel::LDS_OQ_A | sel::LDS_OQ_A_POP) {
            let dst = *temp;
            *temp += 1;
            steps.push(Step::LdsQueue {
                dst,
                pop: src.sel == sel::LDS_OQ_A_POP,
            });
            return self.source(instruction, src, dst);
        }
        if matches!(src.sel, sel::TIME_LO | sel::TIME_HI) {
            let dst = *temp;
            *temp += 1;
            steps.push(Step::Time {
                dst,
                high: src.sel == sel::TIME_HI,
                slots: self.slots,
            });
            return self.source(instruction, src, dst);
        }
        let locked = kcache(clause, src.sel);
        let looped = locked.is_some_and(|(_, _, looped)| looped);
        let bank_index = kcache_set(src.sel).map_or(0, |set| clause.kcache_index[set]);
        let file = (sel::CONSTANT_FILE..sel::KCACHE2).contains(&src.sel);
        let can_move = src.sel < sel::KCACHE0 || file || locked.is_some();
        let row = if looped || bank_index != 0 && locked.is_some() || (src.rel && can_move) {
            let dst = *temp;
            *temp += 1;
            let mode = instruction.index_mode;
            let chan = src.chan;
            match src.sel {
                0..=127 => steps.push(Step::GatherGpr {
                    base: src.sel as u8,
                    chan,
                    mode,
                    dst,
                }),
                sel::CONSTANT_FILE..sel::KCACHE2 => steps.push(Step::GatherConst {
                    bank: None,
                    bank_index: 0,
                    base: u32::from(src.sel - sel::CONSTANT_FILE),
                    scale: 1,
                    chan,
                    mode,
                    dst,
                }),
                _ => {
                    let (bank, base, looped) = kcache(clause, src.sel).unwrap_or_default();
                    steps.push(Step::GatherConst {
                        bank: Some(bank),
                        bank_index,
                        base,
                        // The loop index moves a locked set by lines of 16 vec4s.
                        scale: if looped { 16 } else { 1 },
                        chan,
                        // Mode 5 is no index.
                        mode: match (looped, src.rel) {
                            (true, _) => 4,
                            (false, true) => mode,
                            (false, false) => 5,
                        },
                        dst,
                    });
                }
            }
            dst
        } else {
            self.direct(clause, src, literals, pv)
        };
        self.source(instruction, src, row)
    }

    pub(super) fn source(&self, instruction: &AluInstruction, src: &AluSource, row: u32) -> Src {
        let float = instruction.op.is_some_and(AluOp::float_operands);
        Src {
            row,
            and: if src.abs { 0x7fff_ffff } else { u32::MAX },
            xor: if src.neg { 0x8000_0000 } else { 0 },
            flush: if float { Flush::Always } else { Flush::Never },
        }
    }

    /// Counts `n` instructions, 1 to 16, against [`MAX_INSTRUCTIONS`].
    fn charge(&mut self, reader: &mut Reader<'_>, n: usize) -> Result<(), Stop> {
        let before = self.instructions;
        self.instructions += n;
        if self.instructions > MAX_INSTRUCTIONS {
            return Err(Stop::Fault("the shader has too many instructions"));
        }
        if before / CHECK_EVERY != self.instructions / CHECK_EVERY && reader.code.cancelled() {
            return Err(Stop::Cancelled);
        }
        Ok(())
    }

    /// Decodes the ALU clause of `word`; returns the indices of its parts. A barrier separates two.
    pub(super) fn alu_clause(
        &mut self,
        reader: &mut Reader<'_>,
        word: &CfAlu,
    ) -> Result<Range<u32>, Stop> {
        let key = CfAlu { code: 0, ..*word };
        if let Some(&(first, end)) = self.alu_at.get(&key) {
            return Ok(first..end);
        }
        let first = self.alu.len() as u32;
        let mut clause = AluClause::default();
        let mut at = u64::from(word.address) * 2;
        let end = at + u64::from(word.count) * 2;
        let mut pv: [Option<u32>; 5] = [None; 5];
        let mut bank = 0;
        let slots = reader.isa.slots();
        // Absent operands read this row.
        self.constant(Constant::Literal(0));
        while at < end {
            let first = at as u32;
            let mut group: Vec<AluInstruction> = Vec::with_capacity(5);
            while at < end && group.len() < slots {
                let words = reader.pair(at)?;
                let instruction = reader.isa.alu(words);
                at += 2;
                group.push(instruction);
                if instruction.last {
                    break;
                }
            }
            let count = (group.iter())
                .flat_map(|i| i.sources())
                .filter(|s| s.sel == sel::LITERAL)
                .map(|s| usize::from(s.chan) + 1)
                .max()
                .unwrap_or(0);
            let mut literals = [0; 4];
            for literal in &mut literals[..count] {
                *literal = reader.word(at)?;
                at += 1;
            }
            at += (count & 1) as u64;
            self.charge(reader, group.len())?;
            self.slots = clause.slots;
            self.group(word, &group, &literals, &mut pv, bank, &mut clause.steps);
            clause.slots += group.len() as u32;
            clause.groups.push(Group {
                at: first,
                count: group.len() as u8,
                end: clause.steps.len() as u32,
            });
            if self.constants.len() > MAX_CONSTANTS {
                return Err(Stop::Fault("the shader has too many constants"));
            }
            bank ^= 1;
            if group.iter().any(|i| i.op == Some(AluOp::GroupBarrier)) {
                self.alu.push(std::mem::take(&mut clause));
            }
        }
        self.alu.push(clause);
        let end = self.alu.len() as u32;
        self.alu_at.insert(key, (first, end));
        Ok(first..end)
    }

    /// Appends the steps of one group to `steps`. `pv` has the rows of the
    /// previous group's results, and then those of this group's.
    pub(super) fn group(
        &mut self,
        clause: &CfAlu,
        group: &[AluInstruction],
        literals: &[u32; 4],
        pv: &mut [Option<u32>; 5],
        bank: u32,
        steps: &mut Vec<Step>,
    ) {
        let zero = Src {
            row: self.constant(Constant::Literal(0)),
            and: u32::MAX,
            xor: 0,
            flush: Flush::Never,
        };
        let mut temp = ROW_TEMP;
        let mut work: Vec<Work> = Vec::with_capacity(5);
        let mut copies: Vec<Step> = Vec::new();
        let mut tail: Vec<Step> = Vec::new();
        let mut next: [Option<u32>; 5] = *pv;
        let mut commit = false;
        let mut added: Vec<sums::Sum> = Vec::new();
        let mut taken = [false; 5];
        // Collects the units of wide operations, by operation.
        #[allow(clippy::type_complexity)] // of this loop alone
        let mut wides: Vec<(AluOp, [Option<AluInstruction>; 4], [[Src; 3]; 4])> = Vec::new();
        for instruction in group {
            let Some(op) = instruction.op else {
                self.unknown.push((
                    ALU,
                    u32::from(instruction.op3) << 16 | u32::from(instruction.code),
                ));
                continue;
            };
            let chan = usize::from(instruction.dst_chan);
            let unit = match instruction.units {
                Units::Trans => 4,
                Units::Vector | Units::Four => chan,
                Units::Any => {
                    if taken[chan] {
                        4
                    } else {
                        chan
                    }
                }
            };
            taken[unit] = true;
            match op {
                // `alu_clause()` ends a part after a barrier.
                AluOp::Nop | AluOp::GroupBarrier | AluOp::SetMode => continue,
                AluOp::SetCfIdx0 | AluOp::SetCfIdx1 => {
                    let which = u8::from(op == AluOp::SetCfIdx1);
                    tail.push(Step::SetIndex { which, from: None });
                    continue;
                }
                _ if op.is_interpolation() => {
                    let dst = self.destination(instruction, unit, bank, &mut next, &mut tail);
                    // Weights can be results of the group before.
                    let row = |of: &mut Self, src: &AluSource| of.direct(clause, src, literals, pv);
                    if let Some(item) = self.interpolation(op, instruction, dst, group, row) {
                        work.push(Work::Interpolate(item));
                    }
                    continue;
                }
                _ => {}
            }
            let mut src = [zero; 3];
            for (to, from) in src.iter_mut().zip(instruction.sources()) {
                *to = self.operand(clause, instruction, from, literals, pv, &mut temp, steps);
            }
            if let AluOp::MovaIndex0 | AluOp::MovaIndex1 = op {
                // It reads before the group's other slots write.
                let (which, from) = (u8::from(op == AluOp::MovaIndex1), Some(src[0]));
                steps.push(Step::SetIndex { which, from });
                continue;
            }
            if op == AluOp::LdsIdxOp {
                let [op, offset] = instruction.lds;
                if !share::is_modelled(op) {
                    self.unknown.push((SHARE, op.into()));
                }
                // It reads before the group's other slots write.
                steps.push(Step::Lds(Lds {
                    op,
                    offset,
                    src,
                    pred_sel: instruction.pred_sel,
                }));
                continue;
            }
            if instruction.units == Units::Four || op.is_double() {
                let place = wides
                    .iter()
                    .position(|(other, units, _)| *other == op && units[chan].is_none());
                let place = place.unwrap_or_else(|| {
                    wides.push((op, [None; 4], [[zero; 3]; 4]));
                    wides.len() - 1
                });
                wides[place].1[chan] = Some(*instruction);
                wides[place].2[chan] = src;
                commit |= op.is_pred();
                continue;
            }
            let mut dst = self.destination(instruction, unit, bank, &mut next, &mut tail);
            commit |= op.is_pred();
            // The product is a slot like the others. The sum comes after them, as it adds the
            // result of the next channel: that without output modifiers, so that a sum of which all
            // slots clamp is clamped once (piglit's trinity-fp1, which a real Turks passes).
            let adds = sums::is_sum(op);
            let modified = sums::modifies(instruction) && unit == chan && !op.is_pred();
            if adds || modified && sums::is_added(group, chan) {
                added.push(sums::Sum {
                    chan,
                    instruction: *instruction,
                    dst,
                    product: temp,
                    adds,
                });
                dst = temp;
                temp += 1;
                work.push(Work::Slot(Slot {
                    op: match op {
                        AluOp::Dot => AluOp::Mul,
                        AluOp::DotIeee => AluOp::MulIeee,
                        other => other,
                    },
                    omod: 0,
                    clamp: false,
                    pred_sel: 0,
                    update_exec: false,
                    update_pred: false,
                    chan: instruction.dst_chan,
                    plain: false,
                    dst,
                    src,
                }));
                continue;
            }
            work.push(Work::Slot(Slot {
                op,
                omod: instruction.omod,
                clamp: instruction.clamp,
                pred_sel: instruction.pred_sel,
                update_exec: instruction.update_exec,
                update_pred: instruction.update_pred,
                chan: instruction.dst_chan,
                plain: false,
                dst,
                src,
            }));
        }
        for (op, units, src) in wides {
            self.wide(op, units, src, bank, &mut next, &mut tail, &mut work);
        }
        // Emit a step whose result no remaining step reads, if there is one.
        while !work.is_empty() {
            let free = (0..work.len()).find(|&i| {
                let dsts = work[i].writes();
                !(work.iter().enumerate())
                    .any(|(j, other)| j != i && dsts.iter().flatten().any(|&dst| other.reads(dst)))
            });
            let mut item = work.remove(free.unwrap_or(0));
            if free.is_none() {
                for dst in item.writes().into_iter().flatten() {
                    if dst < ROW_PV && work.iter().any(|other| other.reads(dst)) {
                        item.redirect(dst, temp);
                        copies.push(Step::Copy {
                            from: temp,
                            to: dst,
                            pred_sel: item.pred_sel(),
                        });
                        temp += 1;
                    }
                }
            }
            match item {
                Work::Slot(slot) => steps.push(Step::Alu(slot)),
                Work::Interpolate(item) => steps.push(Step::Interpolate(item)),
                Work::Wide(wide) => {
                    steps.push(Step::Wide(self.wide.len() as u32));
                    self.wide.push(wide);
                }
            }
        }
        steps.append(&mut copies);
        sums::finish(added, next, &taken, zero, steps);
        steps.append(&mut tail);
        if commit {
            steps.push(Step::Commit);
        }
        *pv = next;
    }

    /// The interpolation of `instruction`, whose result goes to row `dst`. The slots of a group take
    /// turns in naming the weights: those of channels x and z name J, the others I (Mesa's
    /// `evergreen_interp_alu()`). None if the group does not name both, or nothing that can be
    /// interpolated.
    fn interpolation(
        &mut self,
        op: AluOp,
        instruction: &AluInstruction,
        dst: u32,
        group: &[AluInstruction],
        mut row: impl FnMut(&mut Self, &AluSource) -> u32,
    ) -> Option<Interpolate> {
        let mut weight = |odd: u8| {
            let mut slots = group.iter();
            let slot = slots.find(|i| i.op == Some(op) && i.dst_chan & 1 == odd)?;
            Some(row(self, &slot.src[0]))
        };
        let (part, operand, weights) = match op {
            AluOp::InterpLoadP0 => (0, &instruction.src[0], None),
            AluOp::InterpLoadP10 => (1, &instruction.src[0], None),
            AluOp::InterpLoadP20 => (2, &instruction.src[0], None),
            _ => (0, &instruction.src[1], Some([weight(1)?, weight(0)?])),
        };
        let parameter = operand
            .sel
            .checked_sub(sel::PARAMETER)
            .filter(|n| *n < 64)?;
        Some(Interpolate {
            dst,
            parameter: parameter as u8,
            // A load names its component, an interpolation has the destination's.
            chan: match weights {
                None => operand.chan,
                Some(_) => instruction.dst_chan,
            },
            part,
            weights,
            pred_sel: instruction.pred_sel,
            clamp: instruction.clamp,
        })
    }

    /// The row that the step of `instruction` writes if `unit` runs it: its register, or the row of
    /// a masked result, from which `tail` copies a relative one.
    pub(super) fn destination(
        &mut self,
        instruction: &AluInstruction,
        unit: usize,
        bank: u32,
        next: &mut [Option<u32>; 5],
        tail: &mut Vec<Step>,
    ) -> u32 {
        let masked = ROW_PV + bank * 5 + unit as u32;
        let dst = if !instruction.write {
            masked
        } else if instruction.dst_rel {
            tail.push(Step::Scatter {
                base: instruction.dst_gpr,
                chan: instruction.dst_chan,
                mode: instruction.index_mode,
                src: masked,
                pred_sel: instruction.pred_sel,
            });
            masked
        } else {
            u32::from(instruction.dst_gpr) * 4 + u32::from(instruction.dst_chan)
        };
        next[unit] = Some(dst);
        dst
    }

    #[allow(clippy::too_many_arguments)]
    pub(super) fn wide(
        &mut self,
        op: AluOp,
        units: [Option<AluInstruction>; 4],
        src: [[Src; 3]; 4],
        bank: u32,
        next: &mut [Option<u32>; 5],
        tail: &mut Vec<Step>,
        work: &mut Vec<Work>,
    ) {
        let mut dst = [None; 4];
        let mut scatters = Vec::new();
        for (unit, instruction) in units.iter().enumerate() {
            if let Some(instruction) = instruction {
                dst[unit] = Some(self.destination(instruction, unit, bank, next, &mut scatters));
            }
        }
        let written = units.iter().flatten().find(|i| i.write);
        let Some(model) = written.or(units.iter().flatten().next()) else {
            return;
        };
        if matches!(op, AluOp::Dot4 | AluOp::Dot4Ieee | AluOp::Max4) {
            // All units have the same result: computed once, copied to the others.
            let result = (units
                .iter()
                .zip(dst)
                .find(|(i, _)| i.is_some_and(|i| i.write)))
            .or(units.iter().zip(dst).find(|(i, _)| i.is_some()))
            .and_then(|(_, dst)| dst);
            let Some(first) = result else { return };
            for (unit, other) in dst.iter().enumerate() {
                let writes = units[unit].is_some_and(|i| i.write);
                if let Some(to) = other {
                    if writes && *to != first {
                        tail.push(Step::Copy {
                            from: first,
                            to: *to,
                            pred_sel: model.pred_sel,
                        });
                    }
                }
                // A masked unit's PV is the same value.
                if other.is_some() && !writes {
                    next[unit] = Some(first);
                }
            }
            // Only the first result is computed. PV.x refers to its row even if unit x is masked.
            dst = [Some(first), None, None, None];
        }
        tail.append(&mut scatters);
        work.push(Work::Wide(Wide {
            op,
            omod: model.omod,
            clamp: model.clamp,
            pred_sel: model.pred_sel,
            update_exec: model.update_exec,
            update_pred: model.update_pred,
            dst,
            src,
        }));
    }

    pub(super) fn fetch_clause(
        &mut self,
        reader: &mut Reader<'_>,
        word: &CfOther,
    ) -> Result<u32, Stop> {
        self.charge(reader, word.count.into())?;
        let mut clause = Vec::with_capacity(word.count.into());
        for i in 0..u64::from(word.count) {
            let at = u64::from(word.address) * 2 + i * 4;
            let words = [reader.word(at)?, reader.word(at + 1)?, reader.word(at + 2)?];
            clause.push(match words[0] & 0x1f {
                _ if reader.isa.is_vertex(words[0]) => Fetch::Vtx(reader.isa.vertex(words)),
                2 if reader.isa.has_data_share() && r800::data_share(words).is_some() => {
                    let op = r800::data_share(words).unwrap_or_default();
                    if !(op.factor || share::is_modelled(op.op)) {
                        self.unknown.push((SHARE, op.op.into()));
                    }
                    Fetch::Gds(op)
                }
                2 => {
                    let op = MemInstruction::decode(words);
                    if op.op != MEM_SCRATCH {
                        self.unknown.push((MEM, op.op.into()));
                    }
                    Fetch::Mem(op)
                }
                _ => {
                    let op = reader.isa.texture(words);
                    if !op.is_modelled() {
                        self.unknown.push((TEX, op.opcode.into()));
                    }
                    Fetch::Tex(op)
                }
            });
        }
        Ok(self.push_fetches(clause))
    }

    /// Adds a clause of `fetches`; its number.
    pub(super) fn push_fetches(&mut self, fetches: Vec<Fetch>) -> u32 {
        self.fetch.push(fetches);
        self.fetch.len() as u32 - 1
    }
}

/// The set of the constant cache that a select belongs to.
fn kcache_set(select: u16) -> Option<usize> {
    Some(match select {
        sel::KCACHE0..sel::KCACHE1 => 0,
        sel::KCACHE1..sel::KCACHE_END => 1,
        sel::KCACHE2..sel::KCACHE3 => 2,
        sel::KCACHE3..sel::KCACHE_EXTENDED_END => 3,
        _ => return None,
    })
}

/// Decodes a select of the constant cache: bank, vec4, and whether the loop
/// index is added. None if the clause has not locked the line.
pub(in crate::chip::gfx::shader) fn kcache(clause: &CfAlu, select: u16) -> Option<(u8, u32, bool)> {
    let set = kcache_set(select)?;
    // Each set has 32 selects.
    let offset = u32::from(select % 32);
    let lines = match clause.kcache_mode[set] {
        0 => return None,
        1 => 1,
        _ => 2,
    };
    if offset >= lines * 16 {
        return None;
    }
    let index = u32::from(clause.kcache_line[set]) * 16 + offset;
    Some((clause.kcache_bank[set], index, clause.kcache_mode[set] == 3))
}
