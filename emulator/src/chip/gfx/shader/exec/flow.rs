// SPDX-License-Identifier: MIT
//! Control flow: the stack of masks, branches and loops.

use super::{Frame, Loop, Runner, MAX_STACK};
use crate::chip::gfx::lanes::Mask;
use crate::chip::gfx::shader::env::Env;
use crate::chip::gfx::shader::isa::{cf, CfOther};
use crate::chip::gfx::shader::Stop;

impl Runner<'_> {
    pub(super) fn push(&mut self, frame: Frame) -> Result<(), Stop> {
        if self.stack.len() >= MAX_STACK {
            return Err(Stop::Fault("the stack overflows"));
        }
        self.stack.push(frame);
        Ok(())
    }

    pub(super) fn innermost(&mut self) -> Option<&mut Loop> {
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
    pub(super) fn pop(&mut self, count: u8) {
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
    pub(super) fn invert(&mut self) {
        let mask = match self.stack.last() {
            Some(Frame::Push(mask)) => *mask,
            Some(Frame::Loop(inner)) => inner.entry,
            None => self.wave.live,
        };
        self.wave.exec = mask & !self.wave.exec & !self.off();
    }

    /// The lanes that pass the condition of a control-flow instruction.
    pub(super) fn pass(&mut self, word: &CfOther) -> Mask {
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
    pub(super) fn flow(
        &mut self,
        word: &CfOther,
        target: Option<u32>,
        pc: u32,
    ) -> Result<Option<u32>, Stop> {
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
}
