// SPDX-License-Identifier: MIT
//! Captures a program's submissions: each as it is made, or the last ones when something has happened.

use std::collections::{BTreeMap, VecDeque};
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::ops::RangeInclusive;
use std::sync::Arc;

use r7xx_board::chip::counters::Counter;
use r7xx_board::chip::Family;

use super::{hash, write_head, Page, Record, STATE};
use crate::gpu::{Gpu, Ring};
use crate::memory::{Change, Memory, PAGE};

/// Which submissions are captured.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Which {
    /// Those with these numbers, counted from 1.
    Range(RangeInclusive<u64>),
    /// The last ones, at most `count`, when something has happened for the first time.
    Last {
        /// How many, at least one.
        count: usize,
        /// What has to happen.
        until: Until,
    },
}

/// What ends a capture of the last submissions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Until {
    /// What would hang hardware: a draw that was cut short, a ring that does not end, a fault of the address
    /// space, a shader that breaks a rule, a refused stream.
    Hang,
    /// The draw with this number, counted from 1.
    Draw(u64),
}

/// A submission, and what it takes to execute it again and to undo it.
struct Taken {
    /// State before it.
    registers: Vec<(u32, u32)>,
    /// What the program has changed before it.
    before: Vec<Change>,
    ring: Ring,
    ib: Vec<u32>,
    /// What the GPU has changed.
    after: Vec<Change>,
}

/// What the chip has counted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Counts {
    draws: u64,
    dropped: u64,
    panics: u64,
}

impl Counts {
    fn of(gpu: &Gpu) -> Self {
        let count = |counter| gpu.chip().counters().get(counter);
        Self {
            draws: count(Counter::Draws),
            dropped: count(Counter::DroppedDraws),
            panics: count(Counter::EnginePanics),
        }
    }
}

/// Writes a capture file while a program runs.
pub struct Writer {
    out: BufWriter<File>,
    family: Family,
    memory: Arc<Memory>,
    which: Which,
    /// Submissions so far.
    seen: u64,
    /// The last submissions, and the draws that came before the first of them.
    last: VecDeque<Taken>,
    draws: VecDeque<u64>,
    /// The chip's counts before the submission.
    counts: Counts,
    /// Nothing is captured any more: all has been, or writing has failed.
    ended: bool,
}

impl Writer {
    /// A capture into `out`. `memory` has to be one with a snapshot.
    ///
    /// # Errors
    /// Those of writing.
    pub fn new(out: File, family: Family, memory: Arc<Memory>, which: Which) -> io::Result<Self> {
        let mut out = BufWriter::new(out);
        if matches!(which, Which::Range(_)) {
            write_head(family, &mut out)?;
            out.flush()?;
        }
        Ok(Self {
            out,
            family,
            memory,
            which,
            seen: 0,
            last: VecDeque::new(),
            draws: VecDeque::new(),
            counts: Counts::default(),
            ended: false,
        })
    }

    /// Captures what the submission is going to read, and the submission. If writing fails, prints a
    /// message and ends the capture; the program goes on.
    pub fn before(&mut self, gpu: &Gpu, ring: Ring, ib: &[u32]) {
        self.seen += 1;
        self.counts = Counts::of(gpu);
        if self.captures() {
            let result = self.take_before(gpu, ring, ib);
            self.end_if_failed(result);
        }
    }

    /// Captures what the submission has changed. Afterwards the file of a range is complete. `trouble` is
    /// what the device has noticed besides what the chip counts.
    pub fn after(&mut self, gpu: &Gpu, trouble: Option<&str>) {
        if !self.captures() {
            return;
        }
        let result = self.take_after(gpu, trouble);
        self.end_if_failed(result);
        if matches!(&self.which, Which::Range(range) if self.seen >= *range.end()) {
            self.ended = true;
        }
    }

    /// A stream has been refused, and is not executed.
    pub fn refused(&mut self, why: &str) {
        if !self.ended && self.until() == Some(Until::Hang) {
            let result = self.write_last(why);
            self.end_if_failed(result);
        }
    }

    fn until(&self) -> Option<Until> {
        match self.which {
            Which::Range(_) => None,
            Which::Last { until, .. } => Some(until),
        }
    }

    fn captures(&self) -> bool {
        let wanted = match &self.which {
            Which::Range(range) => range.contains(&self.seen),
            Which::Last { .. } => true,
        };
        wanted && !self.ended
    }

    fn end_if_failed(&mut self, result: io::Result<()>) {
        if let Err(e) = result {
            eprintln!("r7xx-shim: the capture ends here, it cannot be written: {e}");
            // The GPU must not go on with a snapshot that nobody updates.
            let _ = self.memory.end_snapshot();
            self.ended = true;
        }
    }

    fn take_before(&mut self, gpu: &Gpu, ring: Ring, ib: &[u32]) -> io::Result<()> {
        let registers = match &self.which {
            Which::Range(range) if self.seen != *range.start() => Vec::new(),
            _ => state(gpu),
        };
        let before = self.memory.begin_snapshot()?;
        let taken = Taken {
            registers,
            before,
            ring,
            ib: ib.to_vec(),
            after: Vec::new(),
        };
        if let Which::Last { count, .. } = self.which {
            self.last.push_back(taken);
            self.draws.push_back(self.counts.draws);
            while self.last.len() > count {
                self.last.pop_front();
                self.draws.pop_front();
            }
            return Ok(());
        }
        write_registers(&taken.registers, &mut self.out)?;
        write_before(&taken, &mut self.out)?;
        // A program that crashes in this submission leaves it in the file.
        self.out.flush()
    }

    fn take_after(&mut self, gpu: &Gpu, trouble: Option<&str>) -> io::Result<()> {
        let after = self.memory.end_snapshot()?;
        let (before, now) = (self.counts, Counts::of(gpu));
        let Which::Last { until, .. } = self.which else {
            write_after(&after, &mut self.out)?;
            return self.out.flush();
        };
        if let Some(taken) = self.last.back_mut() {
            taken.after = after;
        }
        match until {
            Until::Hang if now.panics > before.panics => self.write_last("an engine has panicked"),
            Until::Hang if now.dropped > before.dropped => self.write_last("a draw was cut short"),
            Until::Hang => trouble.map_or(Ok(()), |why| self.write_last(why)),
            Until::Draw(number) if (before.draws + 1..=now.draws).contains(&number) => {
                let first = self.draws.front().copied().unwrap_or(0);
                self.write_last(&format!(
                    "draw {number} of the program is draw {} here",
                    number - first
                ))
            }
            Until::Draw(_) => Ok(()),
        }
    }

    /// Writes the last submissions, and ends the capture.
    fn write_last(&mut self, why: &str) -> io::Result<()> {
        self.ended = true;
        let last = std::mem::take(&mut self.last);
        let out = &mut self.out;
        write_head(self.family, out)?;
        if let Some(first) = last.front() {
            write_registers(&first.registers, out)?;
        }
        // Memory ahead of the first: that of now, with all that has changed since undone. The oldest
        // contents of a page are those.
        let mut undone: BTreeMap<u64, Option<&Page>> = BTreeMap::new();
        for taken in last.iter().rev() {
            for change in taken.after.iter().chain(&taken.before) {
                undone.insert(change.address, change.old.as_deref());
            }
        }
        self.memory
            .snapshot(&mut |address, page| match undone.contains_key(&address) {
                true => Ok(()),
                false => Record::Page(address, page).write(out),
            })?;
        for (address, page) in &undone {
            if let Some(page) = page {
                Record::Page(*address, Box::new(**page)).write(out)?;
            }
        }
        for taken in &last {
            write_before(taken, out)?;
            write_after(&taken.after, out)?;
        }
        out.flush()?;
        let count = last.len();
        eprintln!("r7xx-shim: {why}: captured the last {count} submissions");
        Ok(())
    }
}

/// The state registers that are not 0.
fn state(gpu: &Gpu) -> Vec<(u32, u32)> {
    let values = (STATE.step_by(4)).map(|offset| (offset, gpu.chip().mmio_read(offset)));
    values.filter(|(_, value)| *value != 0).collect()
}

fn write_registers(registers: &[(u32, u32)], out: &mut dyn Write) -> io::Result<()> {
    (registers.iter()).try_for_each(|(offset, value)| Record::Register(*offset, *value).write(out))
}

fn write_before(taken: &Taken, out: &mut dyn Write) -> io::Result<()> {
    for change in &taken.before {
        match &change.new {
            Some(page) => Record::Page(change.address, page.clone()),
            None => Record::Zero(change.address),
        }
        .write(out)?;
    }
    Record::Submission(taken.ring, taken.ib.clone()).write(out)
}

fn write_after(after: &[Change], out: &mut dyn Write) -> io::Result<()> {
    after.iter().try_for_each(|change| {
        let zeroes = [0; PAGE as usize];
        let hash = hash(change.new.as_deref().unwrap_or(&zeroes));
        Record::Result(change.address, hash).write(out)
    })
}
