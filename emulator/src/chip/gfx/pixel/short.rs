// SPDX-License-Identifier: MIT
//! The short path of a tile: shaders that only multiply a texel and inputs ([`Program::modulate`])
//! are computed without the interpreter: neither registers nor clauses, and inputs that are the same
//! in all pixels of a polygon are not interpolated. It computes the same bits as the interpreter.
//!
//! [`Program::modulate`]: crate::chip::gfx::shader::Program::modulate

use pulp::{Simd, WithSimd};

use super::tile::Tile;
use super::PixelState;
use crate::chip::counters::ARRAY_MODE;
use crate::chip::gfx::interpolate::{Component, Interpolator, Scratch};
use crate::chip::gfx::lanes::{whole_quads, Lanes, Mask, LANES};
use crate::chip::gfx::math::{flush, recip};
use crate::chip::gfx::setup::{Setup, Vertices};
use crate::chip::gfx::shader::isa::TexInstruction;
use crate::chip::gfx::shader::{Modulate, Place, Term};
use crate::chip::gfx::stage::DrawShared;
use crate::chip::gfx::state::Stage;
use crate::chip::gfx::texture::Slot;
use crate::chip::gfx::vertex::Core;

/// A component of the colour in a polygon.
#[derive(Debug, Clone, Copy)]
enum Channel {
    Input(Component),
    /// A component of the texel.
    Texel(usize),
    /// Its product with an input.
    Product(usize, Component),
}

/// A fetch in a polygon.
#[derive(Debug)]
struct Fetch {
    op: TexInstruction,
    coordinates: [Component; 2],
    divisor: Option<Component>,
}

/// What the short path does for a polygon.
#[derive(Debug)]
pub struct Short {
    fetch: Option<Fetch>,
    colour: [Channel; 4],
    /// An input has to be interpolated.
    varies: bool,
    /// Instructions that the shader would execute.
    instructions: u64,
}

/// Rows of a tile, kept from tile to tile as they are large.
#[derive(Debug)]
pub struct Rows {
    coordinates: [Lanes; 2],
    texels: [Lanes; 4],
    colour: [Lanes; 4],
}

impl Default for Rows {
    fn default() -> Self {
        Self {
            coordinates: [[0; LANES]; 2],
            texels: [[0; LANES]; 4],
            colour: [[0; LANES]; 4],
        }
    }
}

static ZERO: Lanes = [0; LANES];

/// `MUL_IEEE`: denormals are 0, as operands and as results.
#[inline(always)]
fn product(a: u32, b: u32) -> u32 {
    flush((f32::from_bits(flush(a)) * f32::from_bits(flush(b))).to_bits())
}

/// `RECIP_IEEE`.
#[inline(always)]
fn reciprocal(v: u32) -> u32 {
    recip(f32::from_bits(flush(v))).to_bits()
}

/// Interpolates the inputs of a tile: coordinates, and those that are colours or factors.
struct Interpolate<'a> {
    short: &'a Short,
    interpolator: &'a Interpolator,
    setup: &'a Setup,
    x: i32,
    y: i32,
    scratch: &'a mut Scratch,
    rows: &'a mut Rows,
}

impl WithSimd for Interpolate<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _simd: S) {
        let (scratch, rows) = (self.scratch, self.rows);
        if self.short.varies {
            (self.interpolator).central_weights(self.setup, self.x, self.y, scratch);
        }
        for (row, channel) in rows.colour.iter_mut().zip(&self.short.colour) {
            match channel {
                Channel::Input(input) | Channel::Product(_, input @ Component::Varying { .. }) => {
                    input.fill(scratch, row);
                }
                _ => {}
            }
        }
        let Some(fetch) = &self.short.fetch else {
            return;
        };
        for (row, input) in rows.coordinates.iter_mut().zip(&fetch.coordinates) {
            input.fill(scratch, row);
        }
        match fetch.divisor {
            None => {}
            Some(Component::Constant(bits)) => {
                let r = reciprocal(bits);
                for row in &mut rows.coordinates {
                    for v in row {
                        *v = product(*v, r);
                    }
                }
            }
            Some(varying) => {
                let mut r = [0; LANES];
                varying.fill(scratch, &mut r);
                for v in &mut r {
                    *v = reciprocal(*v);
                }
                for row in &mut rows.coordinates {
                    for lane in 0..LANES {
                        row[lane] = product(row[lane], r[lane]);
                    }
                }
            }
        }
    }
}

/// Computes the products of texels and inputs.
struct Multiply<'a> {
    short: &'a Short,
    rows: &'a mut Rows,
}

impl WithSimd for Multiply<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _simd: S) {
        let Rows { texels, colour, .. } = self.rows;
        for (row, channel) in colour.iter_mut().zip(&self.short.colour) {
            match channel {
                Channel::Product(texel, Component::Constant(bits)) => {
                    let texel = &texels[*texel & 3];
                    for lane in 0..LANES {
                        row[lane] = product(texel[lane], *bits);
                    }
                }
                Channel::Product(texel, _) => {
                    let texel = &texels[*texel & 3];
                    for lane in 0..LANES {
                        row[lane] = product(texel[lane], row[lane]);
                    }
                }
                _ => {}
            }
        }
    }
}

impl Short {
    fn new(program: &Modulate, input: impl Fn(Place) -> Option<Component>) -> Option<Self> {
        let fetch = match &program.sample {
            Some(sample) => {
                let [s, t] = sample.coordinates;
                Some(Fetch {
                    op: sample.op,
                    coordinates: [input(s)?, input(t)?],
                    divisor: match sample.divisor {
                        Some(place) => Some(input(place)?),
                        None => None,
                    },
                })
            }
            None => None,
        };
        let mut colour = [Channel::Texel(0); 4];
        for (channel, term) in colour.iter_mut().zip(program.colour) {
            *channel = match term {
                Term::Constant(bits) => Channel::Input(Component::Constant(bits)),
                Term::Input(place) => Channel::Input(input(place)?),
                Term::Texel(component) => Channel::Texel(component),
                Term::Product(component, place) => Channel::Product(component, input(place)?),
            };
        }
        let varies = |input: &Component| matches!(input, Component::Varying { .. });
        let of_fetch = (fetch.iter()).flat_map(|f| f.coordinates.iter().chain(&f.divisor));
        let of_colour = colour.iter().filter_map(|channel| match channel {
            Channel::Input(input) | Channel::Product(_, input) => Some(input),
            Channel::Texel(_) => None,
        });
        Some(Self {
            varies: of_fetch.chain(of_colour).any(varies),
            fetch,
            colour,
            instructions: program.instructions,
        })
    }
}

impl PixelState {
    /// What the short path does for `setup`; none if it cannot draw it.
    pub(super) fn short(
        &self,
        core: &Core,
        shared: &DrawShared<'_>,
        vertices: &Vertices,
        setup: &Setup,
    ) -> Option<Short> {
        let program = self.program.as_ref()?.modulate()?;
        let other = self.per_sample || self.samples() != 1 || self.late() || !self.colour;
        if other || self.writes_memory || shared.lint.is_some() || core.uniform.wanted() {
            return None;
        }
        // Each target gets colour 0.
        let mut written = self.targets.written();
        if !written.all(|(_, export, target)| export == 0 && !target.uses_second()) {
            return None;
        }
        let interpolator = &self.interpolator;
        Short::new(program, |(gpr, chan)| {
            interpolator.component(setup, vertices, gpr, chan)
        })
    }

    /// Draws the pixels of `mask` on the short path.
    pub(super) fn draw_short(
        &self,
        core: &mut Core,
        short: &Short,
        shared: &DrawShared<'_>,
        tile: &mut Tile<'_, '_>,
        mask: Mask,
    ) {
        core.executed += short.instructions;
        tile.counts.invocations += u64::from(mask.count_ones());
        tile.counts.short += 1;
        let rows = &mut *core.rows;
        self.arch.dispatch(Interpolate {
            short,
            interpolator: &self.interpolator,
            setup: tile.setup,
            x: tile.x,
            y: tile.y,
            scratch: &mut core.weights,
            rows,
        });
        if let Some(fetch) = &short.fetch {
            let op = &fetch.op;
            let slot = Slot {
                stage: Stage::Pixel,
                resource: op.resource,
                sampler: op.sampler,
            };
            let words = || {
                let resource = shared.resource(Stage::Pixel, op.resource.into());
                (resource, shared.sampler(Stage::Pixel, op.sampler.into()))
            };
            let [s, t] = &rows.coordinates;
            let (src, exec) = ([s, t, &ZERO, &ZERO], whole_quads(mask));
            (core.unit).sample(tile.view, op, slot, words, &src, exec, &mut rows.texels);
            core.unit.end_of_clause();
            let control = shared.context.control;
            if let Some(fault) = core.unit.take_fault() {
                control.fault(fault);
            }
            if let Some(mode) = core.unit.take_unknown() {
                control.unknown(ARRAY_MODE, mode);
            }
            self.arch.dispatch(Multiply { short, rows });
        }
        let row = |n: usize| match short.colour[n] {
            Channel::Texel(texel) => &rows.texels[texel & 3],
            _ => &rows.colour[n],
        };
        let src = [row(0), row(1), row(2), row(3)];
        for (index, ..) in self.targets.written() {
            let result = (self.targets).write_tile(tile.view, index, tile.at, &src, None, mask);
            tile.account(result, 2);
        }
    }
}
