// SPDX-License-Identifier: MIT
//! Fetch clauses: textures, vertices and scratch memory.

use super::{find_denormals, operand, Runner, ONE, ONE_INT, ZERO};
use crate::chip::gfx::lanes::{iter, Lanes, LANES};
use crate::chip::gfx::shader::isa::{
    tex, GdsInstruction, MemInstruction, TexInstruction, VtxInstruction, BUFFER_SIZE, MEM_SCRATCH,
};
use crate::chip::gfx::shader::program::{Fetch, Program};
use crate::chip::gfx::shader::GPRS;
use crate::chip::gfx::vertex_fetch;

impl Runner<'_> {
    pub(super) fn fetches(&mut self, program: &Program, clause: &[Fetch]) {
        for (number, fetch) in clause.iter().enumerate() {
            let taped = match self.wave.tape {
                None => None,
                Some(_) => self.before_fetch(fetch, number),
            };
            match fetch {
                Fetch::Tex(op) => self.texture(program, op),
                Fetch::Vtx(op) => self.vertex(program, op),
                Fetch::Mem(op) => self.read_memory(program, op),
                Fetch::Gds(op) => self.data_share(program, op),
            }
            if let Some(step) = taped {
                self.after_fetch(fetch, step);
            }
        }
        self.env.end_of_fetch_clause();
    }

    fn texture(&mut self, program: &Program, op: &TexInstruction) {
        let moved;
        let op = match op.index {
            [0, 0] => op,
            [resource, sampler] => {
                moved = TexInstruction {
                    resource: self.indexed(op.resource, resource),
                    sampler: self.indexed(op.sampler, sampler),
                    ..*op
                };
                &moved
            }
        };
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

    /// A resource's number, to which `mode` 1 or 2 adds index register 0 or 1.
    pub(super) fn indexed(&self, number: u8, mode: u8) -> u8 {
        let added = match mode {
            1 | 2 => self.wave.index[usize::from(mode - 1)],
            _ => 0,
        };
        (u32::from(number).saturating_add(added)).min(255) as u8
    }

    fn vertex(&mut self, program: &Program, op: &VtxInstruction) {
        let op = &VtxInstruction {
            buffer: self.indexed(op.buffer, op.index),
            ..*op
        };
        self.env.vertex_fetch(op, self.wave.exec);
        let Some(gpr) = self.gpr(op.src_gpr, op.src_rel) else {
            return;
        };
        let dst = match op.opcode {
            0 | BUFFER_SIZE => op.dst_gpr,
            _ => match self.env.semantic(op.dst_gpr.into()) {
                Some(gpr) if (gpr as usize) < GPRS => gpr as u8,
                _ => return,
            },
        };
        let first = match self.in_fetch_shader {
            true => self.env.fetch_resources(),
            false => 0,
        };
        if op.opcode == BUFFER_SIZE {
            let view = self.env.buffer_view(first + u32::from(op.buffer));
            let mut size = [[0; LANES]; 4];
            size[0].fill(view.map_or(0, |view| view.elements));
            self.write(program, dst, op.dst_rel, op.dst_sel, &size, &ONE_INT, true);
            return;
        }
        let wave = &mut *self.wave;
        let index = wave.rows[gpr * 4 + usize::from(op.src_sel_x & 3)];
        let (result, integer) =
            vertex_fetch::fetch(self.env, op, first, &index, wave.exec, &mut wave.buffer);
        let one = if integer { &ONE_INT } else { &ONE };
        let result = match self.env.buffer_view(first + u32::from(op.buffer)) {
            Some(view) if op.use_const_fields => view.swizzle.map(|select| match select {
                0..=3 => result[usize::from(select)],
                5 => *one,
                _ => ZERO,
            }),
            _ => result,
        };
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

    fn data_share(&mut self, program: &Program, op: &GdsInstruction) {
        let Some(gpr) = self.gpr(op.src_gpr, op.src_rel) else {
            return;
        };
        let exec = self.counting();
        let uav = self.indexed(op.uav, op.index);
        // One by one, as the environment is borrowed, too.
        let [address, a, b] = op
            .src_sel
            .map(|select| *operand(&self.wave.rows, gpr, select));
        if op.factor {
            return self.env.tessellation_factor(&address, &a, exec);
        }
        let mut old = [[0; LANES]; 4];
        if op.counter {
            (self.env).counter(op.op, uav.into(), &a, &b, exec, &mut old[0]);
        } else {
            (self.env).global_share(op.op, [&address, &a, &b], exec, &mut old[0]);
        }
        let (dst, relative, select) = (op.dst_gpr, op.dst_rel, op.dst_sel);
        self.write(program, dst, relative, select, &old, &ONE, true);
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
