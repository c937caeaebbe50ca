// SPDX-License-Identifier: MIT
//! Where the control-flow instructions and the clauses of a program are.
//!
//! The places that the text names are kept as long as what is there fits. Otherwise the clauses follow the
//! control-flow instructions in the order of the text, fetches at multiples of four dwords.

use std::collections::HashMap;

use super::alu::Encoded;
use super::fields::{apply, set};
use super::flow::{set_address, set_count, Control, Kind};
use super::text::Error;
use super::{Assembly, MAX_DWORDS};
use crate::chip::gfx::shader::Isa;
use crate::chip::regs::fields::words::r700::{sq_cf_alu_word0 as alu0, sq_cf_alu_word1 as alu1};

/// A clause of instructions.
#[derive(Debug, Default)]
pub(super) struct Clause {
    /// Which control-flow instruction executes it.
    pub control: usize,
    /// None: it does not matter what the dword is.
    pub words: Vec<Option<u32>>,
    /// Its instructions, by line.
    pub encoded: Vec<Encoded>,
}

/// Most pairs of dwords of an ALU clause.
const ALU_PAIRS: u32 = 128;

/// Most instructions of a clause of fetches.
fn fetches(isa: Isa) -> u32 {
    match isa {
        Isa::R600 => 8,
        Isa::R700 => 16,
        Isa::R800 | Isa::R900 => 64,
    }
}

/// The place in pairs of dwords that the text has for a clause.
fn place_of(kind: Kind) -> Option<u32> {
    match kind {
        Kind::Alu(place) | Kind::Fetch(place) => place,
        Kind::Extension | Kind::Goes(_) | Kind::Plain => None,
    }
}

/// The control-flow instructions by their labels.
struct Labels {
    /// By address in dwords; none: several have it.
    known: HashMap<u64, Option<usize>>,
    /// An address that is no label is an error; otherwise it is a place.
    checked: bool,
}

impl Labels {
    /// Without any label in the text, each instruction has its place.
    fn new(controls: &[Control<'_>], checked: bool) -> Self {
        let without = controls.iter().all(|control| control.label.is_none());
        let mut known = HashMap::new();
        for (i, control) in controls.iter().enumerate() {
            let label = if without {
                Some(2 * i as u64)
            } else {
                control.label
            };
            if let Some(label) = label {
                let entry = known.entry(label);
                entry.and_modify(|known| *known = None).or_insert(Some(i));
            }
        }
        Self { known, checked }
    }

    /// The place that the address `pairs` means, both in pairs of dwords.
    fn place(&self, control: &Control<'_>, pairs: u32) -> Result<u32, Error> {
        let target = u64::from(pairs) * 2;
        let wrong = |what| {
            Err(control
                .name
                .error(format!("@{target} is the label of {what}")))
        };
        match self.known.get(&target) {
            Some(Some(index)) => Ok(*index as u32),
            Some(None) => wrong("several control-flow instructions"),
            None if !self.checked => Ok(pairs),
            None => wrong("no control-flow instruction"),
        }
    }
}

/// Words of a program by their place. No two may differ there.
#[derive(Default)]
struct Image {
    words: Vec<Option<u32>>,
    fits: bool,
}

impl Image {
    /// `pairs`: where, in pairs of dwords.
    fn put(&mut self, pairs: u32, words: &[Option<u32>]) {
        let at = (pairs as usize).saturating_mul(2);
        let end = at.saturating_add(words.len());
        if end > MAX_DWORDS {
            self.fits = false;
            return;
        }
        if self.words.len() < end {
            self.words.resize(end, None);
        }
        for (place, word) in self.words[at..end].iter_mut().zip(words) {
            self.fits &= place.is_none() || word.is_none() || place == word;
            *place = word.or(*place);
        }
    }
}

/// Gives each instruction its place. Unless it is `checked`, clauses may be too long, targets may be places without a
/// label, and what the text names places for stays there.
///
/// # Errors
/// If a clause or the program is too long, or a target is none.
pub(super) fn place(
    controls: &mut [Control<'_>],
    clauses: &[Clause],
    isa: Isa,
    checked: bool,
) -> Result<Assembly, Error> {
    for clause in clauses {
        let control = &mut controls[clause.control];
        let dwords = clause.words.len() as u32;
        let (count, most) = match control.kind {
            Kind::Alu(_) => (dwords / 2, ALU_PAIRS),
            _ => (dwords / 4, fetches(isa)),
        };
        if checked && count > most {
            return Err(control.name.error(format!(
                "the clause has {count} instructions and pairs of literals; the chip takes {most}"
            )));
        }
        let last = count.wrapping_sub(1);
        match control.kind {
            Kind::Alu(_) => set(&mut control.words[1], alu1::COUNT, last),
            _ => {
                set_count(isa, &mut control.words[1], last);
            }
        }
    }
    let labels = Labels::new(controls, checked);
    let named: Option<Vec<u32>> = (clauses.iter())
        .map(|clause| place_of(controls[clause.control].kind))
        .collect();
    if let Some(places) = named {
        let image = compose(controls, clauses, &places, isa, &labels)?;
        if image.fits || !checked {
            return Ok(assembly(image, controls, clauses));
        }
    }
    let mut at = 2 * controls.len() as u32;
    let mut places = Vec::new();
    for clause in clauses {
        if let Kind::Fetch(_) = controls[clause.control].kind {
            at = at.next_multiple_of(4);
        }
        places.push(at / 2);
        at = at.saturating_add(clause.words.len() as u32);
    }
    let image = compose(controls, clauses, &places, isa, &labels)?;
    match (image.fits, controls.last()) {
        (false, Some(last)) => Err(last.name.error(format!(
            "the program has {at} dwords; at most {MAX_DWORDS} are executed"
        ))),
        _ => Ok(assembly(image, controls, clauses)),
    }
}

/// The words, with the clauses at `places`, in pairs of dwords.
fn compose(
    controls: &mut [Control<'_>],
    clauses: &[Clause],
    places: &[u32],
    isa: Isa,
    labels: &Labels,
) -> Result<Image, Error> {
    let mut image = Image {
        fits: true,
        ..Image::default()
    };
    for (clause, &at) in clauses.iter().zip(places) {
        let control = &mut controls[clause.control];
        match control.kind {
            Kind::Alu(_) => set(&mut control.words[0], alu0::ADDR, at),
            _ => set_address(isa, &mut control.words[0], at),
        }
        image.put(at, &clause.words);
    }
    for (i, control) in controls.iter_mut().enumerate() {
        if let Kind::Goes(target) = control.kind {
            let place = labels.place(control, target)?;
            set_address(isa, &mut control.words[0], place);
        }
        apply(&mut control.words, &control.named);
        image.put(i as u32, &control.words.map(Some));
    }
    Ok(image)
}

fn assembly(image: Image, controls: &[Control<'_>], clauses: &[Clause]) -> Assembly {
    let of_controls = controls.iter().map(|control| Encoded {
        line: control.name.line,
        words: [control.words[0], control.words[1], 0],
        count: 2,
        table: control.table,
    });
    Assembly {
        controls: of_controls.collect(),
        instructions: clauses
            .iter()
            .flat_map(|clause| clause.encoded.iter().copied())
            .collect(),
        words: image
            .words
            .into_iter()
            .map(Option::unwrap_or_default)
            .collect(),
    }
}
