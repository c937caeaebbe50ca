// SPDX-License-Identifier: MIT
//! What the decoder finds out about a whole program: the components that it reads, its inputs, and
//! the operands that can hold a denormal.

use super::*;

impl Program {
    pub(super) fn find_reads(&self) -> [u8; GPRS] {
        const EVERYTHING: [u8; GPRS] = [0xF; GPRS];
        let mut reads = [0u8; GPRS];
        let mut read = |row: u32| {
            if let Some(gpr) = reads.get_mut(row as usize / 4) {
                *gpr |= 1 << (row % 4);
            }
        };
        let mut selected = |gpr: u8, select: &[u8]| {
            for chan in select.iter().filter(|chan| **chan < 4) {
                read(u32::from(gpr) * 4 + u32::from(*chan));
            }
        };
        for item in &self.cf {
            match item {
                Cf::Fetch { clause, .. } => {
                    for fetch in &self.fetch[*clause as usize] {
                        match fetch {
                            Fetch::Tex(op) if !op.src_rel => selected(op.src_gpr, &op.src_sel),
                            Fetch::Vtx(op) if !op.src_rel => selected(op.src_gpr, &[0, 1, 2, 3]),
                            Fetch::Mem(op) if !op.src_rel => selected(op.src_gpr, &[0, 1, 2, 3]),
                            Fetch::Gds(op) if !op.src_rel => selected(op.src_gpr, &op.src_sel),
                            _ => return EVERYTHING,
                        }
                    }
                }
                Cf::Export(word) if !word.rel => {
                    for i in 0..word.burst {
                        selected(word.gpr.wrapping_add(i), &word.sel);
                    }
                }
                Cf::Export(_) | Cf::Memory(_) => return EVERYTHING,
                Cf::Flow { word, .. } if word.code == cf::CALL_FS => return EVERYTHING,
                Cf::Alu { .. } | Cf::Flow { .. } | Cf::Goto(_) | Cf::Barrier => {}
            }
        }
        for step in self.alu.iter().flat_map(|clause| &clause.steps) {
            match step {
                Step::Alu(slot) => slot.src.iter().for_each(|src| read(src.row)),
                Step::Wide(index) => {
                    let sources = self.wide[*index as usize].src.iter().flatten();
                    sources.for_each(|src| read(src.row));
                }
                Step::Copy { from, .. } => read(*from),
                Step::Scatter { src, .. } => read(*src),
                Step::GatherGpr { .. } => return EVERYTHING,
                Step::Interpolate(item) => {
                    item.weights.iter().flatten().for_each(|row| read(*row));
                }
                Step::Lds(item) => item.src.iter().for_each(|src| read(src.row)),
                Step::SetIndex { from, .. } => from.iter().for_each(|src| read(src.row)),
                Step::GatherConst { .. }
                | Step::LdsQueue { .. }
                | Step::Time { .. }
                | Step::Commit => {}
            }
        }
        reads
    }

    /// Finds out for each operand whether it can hold a denormal.
    ///
    /// Results of float operations are never denormals. Loaded values are checked
    /// when they are loaded. Only results of integer operations have to be
    /// flushed at each use.
    ///
    /// # Errors
    /// The caller has cancelled the decoding.
    pub(super) fn find_denormals(&mut self, code: &mut dyn Code) -> Result<(), Stop> {
        let rows = ROW_CONST as usize;
        let mut class = vec![Flush::Never; rows];
        // Inputs, fetches and scratch are checked when they are loaded.
        for class in &mut class[..GPRS * 4] {
            *class = Flush::IfLoaded;
        }
        let constants = &self.constants;
        let of = |class: &[Flush], row: u32| -> Flush {
            let constant = row.wrapping_sub(ROW_CONST) as usize;
            match (class.get(row as usize), constants.get(constant)) {
                (Some(class), _) => *class,
                (None, Some(Constant::Literal(value))) if !is_denormal(*value) => Flush::Never,
                (None, Some(Constant::Literal(_))) => Flush::Always,
                _ => Flush::IfLoaded,
            }
        };
        // The highest class that relative writes have to each component of all GPRs.
        let mut scattered = [Flush::Never; 4];
        loop {
            if code.cancelled() {
                return Err(Stop::Cancelled);
            }
            let mut changed = false;
            let mut raise = |class: &mut Vec<Flush>, row: u32, to: Flush| {
                if let Some(held) = class.get_mut(row as usize) {
                    if *held < to {
                        *held = to;
                        changed = true;
                    }
                }
            };
            for step in self.alu.iter().flat_map(|clause| &clause.steps) {
                match step {
                    Step::Alu(slot) => {
                        let result = result_class(slot, |src| of(&class, src.row));
                        raise(&mut class, slot.dst, result);
                    }
                    Step::Wide(index) => {
                        let wide = &self.wide[*index as usize];
                        if wide.op.is_double() {
                            for dst in wide.dst.iter().flatten() {
                                raise(&mut class, *dst, Flush::Always);
                            }
                        }
                    }
                    Step::GatherGpr { dst, .. } => raise(&mut class, *dst, Flush::Always),
                    Step::GatherConst { dst, .. } => raise(&mut class, *dst, Flush::Always),
                    Step::Copy { from, to, .. } => {
                        let from = of(&class, *from);
                        raise(&mut class, *to, from);
                    }
                    Step::Scatter { chan, src, .. } => {
                        // The index can select any GPR.
                        let from = of(&class, *src);
                        let so_far = &mut scattered[usize::from(*chan & 3)];
                        if from > *so_far {
                            *so_far = from;
                            for gpr in 0..GPRS as u32 {
                                raise(&mut class, gpr * 4 + u32::from(*chan), from);
                            }
                        }
                    }
                    // Flat inputs can be integers.
                    Step::Interpolate(item) => raise(&mut class, item.dst, Flush::Always),
                    Step::LdsQueue { dst, .. } | Step::Time { dst, .. } => {
                        raise(&mut class, *dst, Flush::Always);
                    }
                    Step::Lds(_) | Step::SetIndex { .. } | Step::Commit => {}
                }
            }
            if !changed {
                break;
            }
        }
        let mut float_rows = Vec::new();
        let mut float_constants = vec![false; constants.len()];
        let mut settle = |src: &mut Src| {
            if src.flush == Flush::Always {
                src.flush = of(&class, src.row);
                if src.flush == Flush::IfLoaded && src.row < ROW_PV {
                    float_rows.push(src.row);
                } else if src.flush == Flush::IfLoaded && src.row >= ROW_CONST {
                    float_constants[(src.row - ROW_CONST) as usize] = true;
                }
            }
        };
        for step in self.alu.iter_mut().flat_map(|clause| &mut clause.steps) {
            if let Step::Alu(slot) = step {
                slot.src.iter_mut().for_each(&mut settle);
                slot.plain = is_plain(slot);
            }
        }
        for wide in &mut self.wide {
            wide.src.iter_mut().flatten().for_each(&mut settle);
        }
        float_rows.sort_unstable();
        float_rows.dedup();
        for row in &float_rows {
            self.float_gprs[*row as usize / 4] |= 1 << (row % 4);
        }
        let inputs = self.inputs();
        float_rows.retain(|&row| inputs[row as usize]);
        self.float_rows = float_rows;
        self.float_constants = float_constants;
        Ok(())
    }
}

impl Program {
    /// The GPR rows that the program may read before it has written them.
    ///
    /// A write counts if all lanes do it: outside of branches, loops and
    /// subroutines.
    fn inputs(&self) -> Vec<bool> {
        let mut inputs = vec![false; ROW_PV as usize];
        let mut written = vec![false; ROW_PV as usize];
        let mut depth = 0usize;
        // Once set, no further write counts.
        let mut partial = false;
        for item in &self.cf {
            let definite = depth == 0 && !partial;
            let mut pop = 0;
            match item {
                Cf::Alu { code, clause } => {
                    for step in &self.alu[*clause as usize].steps {
                        let mut read = |row: u32, written: &[bool]| {
                            if written.get(row as usize) == Some(&false) {
                                inputs[row as usize] = true;
                            }
                        };
                        let narrows = match step {
                            Step::Alu(slot) => slot.update_exec,
                            Step::Wide(index) => self.wide[*index as usize].update_exec,
                            _ => false,
                        };
                        partial |= narrows && *code != cf::ALU_PUSH_BEFORE && depth == 0;
                        match step {
                            Step::Alu(slot) => {
                                (slot.src.iter()).for_each(|src| read(src.row, &written));
                                if definite && slot.pred_sel < 2 {
                                    mark(&mut written, slot.dst);
                                }
                            }
                            Step::Wide(index) => {
                                let wide = &self.wide[*index as usize];
                                let rows = wide.src.iter().flatten().map(|src| src.row);
                                rows.for_each(|row| read(row, &written));
                                if definite && wide.pred_sel < 2 {
                                    let rows = wide.dst.iter().flatten();
                                    rows.for_each(|&row| mark(&mut written, row));
                                }
                            }
                            Step::Interpolate(item) => {
                                let rows = item.weights.iter().flatten();
                                rows.for_each(|row| read(*row, &written));
                                if definite && item.pred_sel < 2 {
                                    mark(&mut written, item.dst);
                                }
                            }
                            Step::Copy { from, to, pred_sel } => {
                                read(*from, &written);
                                if definite && *pred_sel < 2 {
                                    mark(&mut written, *to);
                                }
                            }
                            _ => {}
                        }
                    }
                    match *code {
                        cf::ALU_PUSH_BEFORE => depth += 1,
                        cf::ALU_POP_AFTER => pop = 1,
                        cf::ALU_POP2_AFTER => pop = 2,
                        _ => {}
                    }
                }
                Cf::Fetch { clause, .. } => {
                    for fetch in &self.fetch[*clause as usize] {
                        let (gpr, relative, select) = match fetch {
                            Fetch::Tex(op) => (op.dst_gpr, op.dst_rel, op.dst_sel),
                            Fetch::Vtx(op) if op.opcode == 0 => {
                                (op.dst_gpr, op.dst_rel, op.dst_sel)
                            }
                            Fetch::Mem(op) => (op.dst_gpr, op.dst_rel, op.dst_sel),
                            Fetch::Gds(op) => (op.dst_gpr, op.dst_rel, op.dst_sel),
                            Fetch::Vtx(_) => continue,
                        };
                        for (chan, select) in select.iter().enumerate() {
                            if definite && *select < 6 && !relative {
                                mark(&mut written, u32::from(gpr) * 4 + chan as u32);
                            }
                        }
                    }
                }
                Cf::Flow { word, .. } => match word.code {
                    cf::LOOP_START | cf::LOOP_START_DX10 | cf::LOOP_START_NO_AL => depth += 1,
                    cf::PUSH | cf::PUSH_ELSE => depth += 1,
                    cf::LOOP_END => pop = 1,
                    cf::POP => pop = usize::from(word.pop_count),
                    cf::JUMP | cf::ELSE | cf::NOP | cf::CALL_FS | cf::WAIT_ACK => {}
                    cf::LOOP_BREAK | cf::LOOP_CONTINUE if depth > 0 => {}
                    cf::EMIT_VERTEX | cf::EMIT_CUT_VERTEX | cf::CUT_VERTEX => {}
                    _ => partial = true,
                },
                Cf::Goto(_) => partial = true,
                Cf::Export(_) | Cf::Memory(_) | Cf::Barrier => {}
            }
            partial |= pop > depth;
            depth = depth.saturating_sub(pop);
        }
        inputs
    }
}

fn mark(written: &mut [bool], row: u32) {
    if let Some(written) = written.get_mut(row as usize) {
        *written = true;
    }
}

/// The class of the result of `slot`, given the classes of its operands.
fn result_class(slot: &Slot, of: impl Fn(&Src) -> Flush) -> Flush {
    use AluOp::*;
    if slot.omod != 0 || slot.clamp || slot.op.float_result() {
        return Flush::Never;
    }
    match slot.op {
        Mov => of(&slot.src[0]),
        Cnde | Cndgt | Cndge | CndeInt | CndgtInt | CndgeInt => {
            of(&slot.src[1]).max(of(&slot.src[2]))
        }
        // All ones or zero: NaN or 0 as a float.
        SeteDx10 | SetgtDx10 | SetgeDx10 | SetneDx10 | SeteInt | SetgtInt | SetgeInt | SetneInt
        | SetgtUint | SetgeUint => Flush::Never,
        _ => Flush::Always,
    }
}
