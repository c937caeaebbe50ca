// SPDX-License-Identifier: MIT
//! An assembler for the notation of [`disasm`](super::disasm), which is that of Mesa's `R600_DEBUG` dumps.
//!
//! [`source`] writes a program as text that [`assemble`] makes the same words of. A line has an instruction, or a
//! literal of the group above it. Ahead of it may be what a listing has there: its address in dwords and its words.
//! Both are ignored, but for the address of a control-flow instruction, which is its label (`JUMP @8`): a new
//! instruction needs none. The number ahead of an ALU instruction's unit begins a group; which number it is does not
//! matter. What follows a `#` is a comment.
//!
//! Counts and places of clauses are computed; the places of a listing are kept as long as what is there fits. The
//! operands' literals are what counts: a literal's line only tells its place in the group, and can be left out.
//!
//! Subroutines behind the instruction that ends the program are not in a listing: a program that calls one has a
//! label too few, which is an error.
//!
//! What the notation does not show stands behind the instruction as `FIELD=VALUE`, by the name of the field in Mesa's
//! headers, and any field can be set so. Without it, fields that are not shown have the value that Mesa's compiler
//! gives them: `BARRIER` is 1, `MEGA_FETCH` is 1 before Cayman, `SRCn_SEL` of operands that an access of the local
//! data share does not have is that of 0, all others are 0. The fourth dword of a fetch, which no chip reads, is 0.
//!
//! Sources: those of [`isa`](super::isa), [`r600`](super::r600), [`r800`](super::r800) and [`r900`](super::r900), whose
//! decoders are the other direction.

mod alu;
mod fetch;
mod fields;
mod flow;
mod layout;
mod operand;
mod source;
#[cfg(test)]
mod tests;
mod text;

pub use source::source;
pub use text::Error;

use self::alu::{Encoded, Slot};
use self::flow::{Control, Kind};
use self::layout::Clause;
use self::text::{number, word, Line, Token};
use super::Isa;

/// Most dwords of a program, as its decoder has it.
const MAX_DWORDS: usize = 1 << 18;

/// Assembles `text` for the encoding `isa`: the words of the program, from its first control-flow instruction to its
/// last clause.
///
/// # Errors
/// The first line that is not as the notation has it, or that the chip has not.
pub fn assemble(text: &str, isa: Isa) -> Result<Vec<u32>, Error> {
    Ok(Parser::new(isa).parse(text, true)?.words)
}

/// An assembled program.
struct Assembly {
    words: Vec<u32>,
    /// The control-flow instructions, and those of clauses.
    controls: Vec<Encoded>,
    instructions: Vec<Encoded>,
}

/// A chip's names, which can be used for several texts.
struct Parser {
    isa: Isa,
    alu: alu::Names,
    flow: flow::Names,
    fetch: fetch::Names,
}

/// What has been read of a text.
#[derive(Default)]
struct Program<'a> {
    controls: Vec<Control<'a>>,
    clauses: Vec<Clause>,
    /// Which of `controls` is an `ALU_EXT` for the clause that comes next.
    extension: Option<usize>,
    /// The group that is not complete, and its literals' lines.
    group: Vec<Slot<'a>>,
    literals: Vec<(u32, Token<'a>)>,
}

impl Parser {
    fn new(isa: Isa) -> Self {
        Self {
            isa,
            alu: alu::Names::new(isa),
            flow: flow::Names::new(isa),
            fetch: fetch::Names::new(isa),
        }
    }

    /// `checked`: see [`layout::place`].
    fn parse(&self, text: &str, checked: bool) -> Result<Assembly, Error> {
        let mut program = Program::default();
        let mut count = 0;
        for (i, text) in text.lines().enumerate() {
            count = i + 1;
            let mut line = Line::new(count, text);
            if line.peek().is_some() {
                self.line(&mut line, &mut program)?;
            }
        }
        program.end_group(self.isa)?;
        for (i, control) in program.controls.iter().enumerate() {
            let clause = matches!(control.kind, Kind::Alu(_) | Kind::Fetch(_));
            let mut filled = program.clauses.iter().filter(|c| !c.words.is_empty());
            if clause && !filled.any(|clause| clause.control == i) {
                let what = "the clause has no instructions: they have to follow this line";
                return Err(control.name.error(what.into()));
            }
        }
        if program.controls.is_empty() {
            return Err(Line::new(count.max(1), "").missing("a control-flow instruction"));
        }
        let Program {
            controls, clauses, ..
        } = &mut program;
        layout::place(controls, clauses, self.isa, checked)
    }

    /// Reads a line that is not empty.
    fn line<'a>(&self, line: &mut Line<'a>, program: &mut Program<'a>) -> Result<(), Error> {
        if let Some(value) = alu::listed_literal(line) {
            return program.literal(line, value);
        }
        let label = address(line);
        if let Some(value) = alu::listed_literal(line) {
            return program.literal(line, value);
        }
        for _ in 0..3 {
            if line.peek().is_some_and(|token| word(token.text).is_some()) {
                line.take();
            }
        }
        let Some(token) = line.peek() else {
            return Err(line.missing("an instruction"));
        };
        if alu::is_alu(line) {
            let clause = program.clause(|kind| matches!(kind, Kind::Alu(_)));
            clause.ok_or_else(|| token.error("no ALU clause is above this instruction".into()))?;
            let slot = alu::slot(line, &self.alu)?;
            if slot.begins || !program.literals.is_empty() {
                program.end_group(self.isa)?;
            }
            program.group.push(slot);
            return Ok(());
        }
        if self.flow.has(token.text) {
            program.end_group(self.isa)?;
            return self.control(line, label, program);
        }
        if self.fetch.find(token.text).is_none() {
            return Err(token.expected("an instruction of the chip"));
        }
        let clause = program.clause(|kind| matches!(kind, Kind::Fetch(_)));
        let clause = clause
            .ok_or_else(|| token.error("no clause of fetches is above this instruction".into()))?;
        let encoded = fetch::fetch(line, &self.fetch)?;
        clause.words.extend(encoded.words.map(Some));
        clause.words.push(None);
        clause.encoded.push(encoded);
        Ok(())
    }

    fn control<'a>(
        &self,
        line: &mut Line<'a>,
        label: Option<u64>,
        program: &mut Program<'a>,
    ) -> Result<(), Error> {
        let extension = program.extension.map(|at| &mut program.controls[at]);
        let control = flow::control(line, label, &self.flow, extension)?;
        let index = program.controls.len();
        if let Kind::Alu(_) | Kind::Fetch(_) = control.kind {
            program.clauses.push(Clause {
                control: index,
                ..Clause::default()
            });
        }
        match control.kind {
            Kind::Extension => program.extension = Some(index),
            Kind::Alu(_) => program.extension = None,
            Kind::Fetch(_) | Kind::Goes(_) | Kind::Plain => {}
        }
        program.controls.push(control);
        Ok(())
    }
}

impl<'a> Program<'a> {
    /// The clause that the last control-flow instruction has, if `kind` holds for it.
    fn clause(&mut self, kind: impl Fn(Kind) -> bool) -> Option<&mut Clause> {
        self.controls.last().filter(|control| kind(control.kind))?;
        let index = self.controls.len() - 1;
        self.clauses
            .last_mut()
            .filter(|clause| clause.control == index)
    }

    fn literal(&mut self, line: &Line<'a>, value: u32) -> Result<(), Error> {
        let Some(token) = line.peek() else {
            return Ok(());
        };
        if self.group.is_empty() {
            return Err(token.error("no group is above this literal".into()));
        }
        self.literals.push((value, token));
        Ok(())
    }

    fn end_group(&mut self, isa: Isa) -> Result<(), Error> {
        let (mut slots, literals) = (
            std::mem::take(&mut self.group),
            std::mem::take(&mut self.literals),
        );
        if slots.is_empty() {
            return Ok(());
        }
        let (encoded, literals) = alu::group(&mut slots, &literals, isa)?;
        // A group is read only below a clause.
        if let Some(clause) = self.clauses.last_mut() {
            for instruction in &encoded {
                clause
                    .words
                    .extend(instruction.words[..2].iter().copied().map(Some));
            }
            clause.encoded.extend(encoded);
            clause.words.extend(literals.into_iter().map(Some));
        }
        Ok(())
    }
}

/// The address at the beginning of a line: a number of four digits or more, or one with an instruction's words behind
/// it. Others are numbers of groups.
fn address(line: &mut Line<'_>) -> Option<u64> {
    let token = line.peek()?;
    let number = number(token.text)?;
    let words = line.ahead(1).is_some_and(|next| word(next.text).is_some());
    if token.text.len() < 4 && !words {
        return None;
    }
    line.take();
    Some(number)
}
