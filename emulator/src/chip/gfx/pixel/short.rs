// SPDX-License-Identifier: MIT
//! The short path of a tile: shaders that only multiply a texel and inputs ([`Program::modulate`])
//! are computed without the interpreter: neither registers nor clauses, and inputs that are the same
//! in all pixels of a polygon are not interpolated. It computes the same bits as the interpreter.
//!
//! [`Program::modulate`]: crate::chip::gfx::shader::Program::modulate

use pulp::{bytemuck, Simd, WithSimd};

use super::tile::Tile;
use super::PixelState;
use crate::chip::counters::ARRAY_MODE;
use crate::chip::gfx::interpolate::{Component, Interpolator, Weights};
use crate::chip::gfx::lanes::{expand, first, whole_quads, Lanes, Mask, ALL, LANES};
use crate::chip::gfx::math::{flush, recip};
use crate::chip::gfx::setup::{Setup, Vertices};
use crate::chip::gfx::shader::isa::TexInstruction;
use crate::chip::gfx::shader::{Coordinate, Modulate, Term};
use crate::chip::gfx::stage::DrawShared;
use crate::chip::gfx::state::Stage;
use crate::chip::gfx::texture::{self, Sampler, Slot};
use crate::chip::gfx::vertex::Core;

/// A component of the colour in a polygon.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Channel {
    Input(Component),
    /// A component of the texel.
    Texel(usize),
    /// Its product with an input.
    Product(usize, Component),
}

/// What the coordinates of a fetch are multiplied by.
#[derive(Debug)]
enum Scale {
    /// Nothing.
    None,
    /// The same in all pixels: bits.
    Same(u32),
    /// The reciprocal of an input.
    Reciprocal(Component),
}

/// A fetch in a polygon.
#[derive(Debug)]
struct Fetch {
    op: TexInstruction,
    coordinates: [Component; 2],
    scale: Scale,
}

/// What the short path does for a polygon.
#[derive(Debug)]
pub struct Short {
    fetch: Option<Fetch>,
    colour: [Channel; 4],
    /// Components of the colour that are inputs to interpolate, or factors: their number, and the
    /// input. The first `varies` of the list.
    varying: [(usize, Component); 4],
    varies: usize,
    /// Inputs are interpolated without perspective, and with it.
    uses: [bool; 2],
    /// Instructions that the shader would execute.
    instructions: u64,
}

/// Rows of a tile, kept from tile to tile as they are large, and as some are the same in all tiles of
/// a polygon.
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

/// 1.0.
const ONE: u32 = 0x3F80_0000;

static ZERO: Lanes = [0; LANES];

/// `MUL_IEEE`: denormals are 0, as operands and as results.
#[inline(always)]
fn product<S: Simd>(simd: S, a: S::f32s, b: S::f32s) -> S::f32s {
    flushed(simd, simd.mul_f32s(flushed(simd, a), flushed(simd, b)))
}

/// [`flush`] of a vector.
#[inline(always)]
fn flushed<S: Simd>(simd: S, v: S::f32s) -> S::f32s {
    let least = simd.splat_f32s(f32::MIN_POSITIVE);
    let small = simd.less_than_f32s(simd.abs_f32s(v), least);
    simd.select_f32s_m32s(small, simd.and_f32s(v, simd.splat_f32s(-0.0)), v)
}

/// `RECIP_IEEE`.
#[inline(always)]
fn reciprocals<S: Simd>(simd: S, v: S::f32s) -> S::f32s {
    flushed(simd, simd.div_f32s(simd.splat_f32s(1.0), flushed(simd, v)))
}

/// [`reciprocals`] of one value.
fn reciprocal(v: u32) -> u32 {
    recip(f32::from_bits(flush(v))).to_bits()
}

/// Whether vector `n` has a lane of `mask`.
#[inline(always)]
fn has<S: Simd>(mask: Mask, n: usize) -> bool {
    mask >> (n * S::F32_LANES) & first(S::F32_LANES) != 0
}

/// The vectors of a row.
#[inline(always)]
fn of<S: Simd>(row: &Lanes) -> &[S::f32s] {
    S::as_simd_f32s(bytemuck::cast_ref::<Lanes, [f32; LANES]>(row)).0
}

/// The same, to change them.
#[inline(always)]
fn of_mut<S: Simd>(row: &mut Lanes) -> &mut [S::f32s] {
    S::as_mut_simd_f32s(bytemuck::cast_mut::<Lanes, [f32; LANES]>(row)).0
}

/// Whether the product of this factor and a texel of the fast path, which is 0 or at least
/// [`LEAST`](texture::LEAST), is no denormal.
fn is_tame(factor: u32) -> bool {
    let factor = f32::from_bits(factor).abs();
    (TAME..=1.0 / TAME).contains(&factor)
}

/// See [`is_tame`].
const TAME: f32 = 1.0 / (1u64 << 60) as f32;
const _: () = assert!(TAME * texture::LEAST >= f32::MIN_POSITIVE);

/// Interpolates inputs of a tile: coordinates, and those that are colours or factors.
struct Interpolate<'a> {
    short: &'a Short,
    interpolator: &'a Interpolator,
    setup: &'a Setup,
    x: i32,
    y: i32,
    /// Lanes that get values.
    lanes: Mask,
    /// Other lanes keep theirs; else they get any.
    keeps: bool,
    rows: &'a mut Rows,
}

impl WithSimd for Interpolate<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        match self.short.uses {
            [false, false] => self.run::<S, false, false>(simd),
            [true, false] => self.run::<S, true, false>(simd),
            [false, true] => self.run::<S, false, true>(simd),
            [true, true] => self.run::<S, true, true>(simd),
        }
    }
}

impl Interpolate<'_> {
    #[inline(always)]
    fn run<S: Simd, const LINEAR: bool, const PERSPECTIVE: bool>(mut self, simd: S) {
        let weights = self.interpolator.central(simd, self.setup, self.x, self.y);
        let vectors = LANES / S::F32_LANES;
        if self.lanes == ALL {
            for n in 0..vectors {
                self.vector(
                    simd,
                    n,
                    &weights.vector::<LINEAR, PERSPECTIVE>(simd, n),
                    None,
                );
            }
            return;
        }
        let (lanes, written) = (self.lanes, expand(self.lanes));
        for n in (0..vectors).filter(|n| has::<S>(lanes, *n)) {
            let bits = self.keeps.then(|| of::<S>(&written)[n]);
            self.vector(
                simd,
                n,
                &weights.vector::<LINEAR, PERSPECTIVE>(simd, n),
                bits,
            );
        }
    }

    /// Vector `n` of the tile. If there are `bits`, only these of the rows change.
    #[inline(always)]
    fn vector<S: Simd>(&mut self, simd: S, n: usize, weights: &Weights<S>, bits: Option<S::f32s>) {
        let (rows, short) = (&mut *self.rows, self.short);
        for (channel, input) in &short.varying[..short.varies] {
            let values = input.vector(simd, weights);
            store(simd, &mut rows.colour[channel & 3], n, values, bits);
        }
        let Some(fetch) = &short.fetch else {
            return;
        };
        let factor = match &fetch.scale {
            Scale::None => None,
            Scale::Same(factor) => Some(simd.splat_f32s(f32::from_bits(*factor))),
            Scale::Reciprocal(input) => Some(reciprocals(simd, input.vector(simd, weights))),
        };
        for (row, input) in rows.coordinates.iter_mut().zip(&fetch.coordinates) {
            let mut values = input.vector(simd, weights);
            if let Some(factor) = factor {
                values = product(simd, values, factor);
            }
            store(simd, row, n, values, bits);
        }
    }
}

/// Sets vector `n` of `row` to `values`; if there are `bits`, only these bits of it.
#[inline(always)]
fn store<S: Simd>(simd: S, row: &mut Lanes, n: usize, values: S::f32s, bits: Option<S::f32s>) {
    let row = &mut of_mut::<S>(row)[n];
    *row = match bits {
        None => values,
        Some(bits) => {
            let old = simd.and_f32s(*row, simd.not_f32s(bits));
            simd.or_f32s(old, simd.and_f32s(values, bits))
        }
    };
}

/// Computes the products of texels and inputs.
struct Multiply<'a> {
    short: &'a Short,
    rows: &'a mut Rows,
    /// Lanes that need them.
    mask: Mask,
    /// Texels may be denormals, or larger than 1.
    any: bool,
}

impl WithSimd for Multiply<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Rows { texels, colour, .. } = self.rows;
        for (row, channel) in colour.iter_mut().zip(&self.short.colour) {
            let Channel::Product(texel, input) = channel else {
                continue;
            };
            let (texel, row) = (of::<S>(&texels[*texel & 3]), of_mut::<S>(row));
            let (factor, tame) = match input {
                // [`Short::row`] takes the texel.
                Component::Constant(ONE) if !self.any => continue,
                Component::Constant(bits) => {
                    let factor = simd.splat_f32s(f32::from_bits(*bits));
                    (Some(factor), !self.any && is_tame(*bits))
                }
                Component::Varying { .. } => (None, false),
            };
            for n in 0..LANES / S::F32_LANES {
                if !has::<S>(self.mask, n) {
                    continue;
                }
                row[n] = match factor {
                    Some(factor) if tame => simd.mul_f32s(texel[n], factor),
                    Some(factor) => product(simd, texel[n], factor),
                    None => product(simd, texel[n], row[n]),
                };
            }
        }
    }
}

impl Channel {
    #[inline(always)]
    fn input(&self) -> Option<&Component> {
        match self {
            Self::Input(input) | Self::Product(_, input) => Some(input),
            Self::Texel(_) => None,
        }
    }

    /// Whether it is the same as `other`, or both are interpolated.
    fn is_like(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Product(a, x), Self::Product(b, y)) => a == b && is_like(x, y),
            (Self::Input(x), Self::Input(y)) => is_like(x, y),
            _ => self == other,
        }
    }
}

/// Whether `a` and `b` are the same constant, or both vary.
fn is_like(a: &Component, b: &Component) -> bool {
    let varies = |input: &Component| matches!(input, Component::Varying { .. });
    a == b || varies(a) && varies(b)
}

impl Short {
    fn new(program: &Modulate, input: impl Fn(Coordinate) -> Option<Component>) -> Option<Self> {
        let fetch = match &program.sample {
            Some(sample) => {
                let [s, t] = sample.coordinates;
                Some(Fetch {
                    op: sample.op,
                    coordinates: [input(s)?, input(t)?],
                    scale: match sample.divisor.map(&input) {
                        None => Scale::None,
                        // It only makes denormals 0, which are the same texel.
                        Some(Some(Component::Constant(ONE))) => Scale::None,
                        Some(Some(Component::Constant(bits))) => Scale::Same(reciprocal(bits)),
                        Some(varying) => Scale::Reciprocal(varying?),
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
        let mut uses = [false; 2];
        let mut note = |input: &Component| {
            if let Component::Varying { perspective, .. } = input {
                uses[usize::from(*perspective)] = true;
            }
        };
        let (mut varying, mut varies) = ([(0, Component::Constant(0)); 4], 0);
        for (n, channel) in colour.iter().enumerate() {
            if let Some(input @ Component::Varying { .. }) = channel.input() {
                note(input);
                varying[varies] = (n, *input);
                varies += 1;
            }
        }
        if let Some(fetch) = &fetch {
            fetch.coordinates.iter().for_each(&mut note);
            if let Scale::Reciprocal(input) = &fetch.scale {
                note(input);
            }
        }
        Some(Self {
            fetch,
            colour,
            varying,
            varies,
            uses,
            instructions: program.instructions,
        })
    }

    /// Fills the rows that are the same in all tiles.
    fn fill(&self, rows: &mut Rows) {
        for (row, channel) in rows.colour.iter_mut().zip(&self.colour) {
            if let Channel::Input(Component::Constant(bits)) = channel {
                row.fill(*bits);
            }
        }
    }

    /// Whether both, of the same draw, can be computed in one tile: of colours and factors, the same
    /// ones are interpolated, and the others have the same values.
    pub(super) fn is_like(&self, other: &Self) -> bool {
        let mut colour = self.colour.iter().zip(&other.colour);
        colour.all(|(a, b)| a.is_like(b))
    }

    /// The row of component `n` of the colour. `any`: see [`Multiply`].
    #[inline]
    fn row<'a>(&self, rows: &'a Rows, n: usize, any: bool) -> &'a Lanes {
        match self.colour[n] {
            Channel::Texel(texel) => &rows.texels[texel & 3],
            Channel::Product(texel, Component::Constant(ONE)) if !any => &rows.texels[texel & 3],
            _ => &rows.colour[n],
        }
    }
}

/// The pixels of a polygon in a tile that the short path draws.
#[derive(Debug, Clone, Copy)]
pub(super) struct Share<'a> {
    pub(super) short: &'a Short,
    pub(super) setup: &'a Setup,
    pub(super) mask: Mask,
}

impl PixelState {
    /// Whether the draw's state allows the short path.
    pub(super) fn is_short(&self, shared: &DrawShared<'_>) -> bool {
        *self.short.get_or_init(|| {
            let program = self.program.as_ref();
            let other = self.per_sample || self.samples() != 1 || self.late() || !self.colour;
            program.is_some_and(|program| program.modulate().is_some())
                && !(other || self.writes_memory || shared.lint.is_some())
                // Each target gets colour 0.
                && (self.targets.written())
                    .all(|(_, export, target)| export == 0 && !target.uses_second())
        })
    }

    /// What the short path does for `setup`; none if it cannot draw it. What is the same in all its
    /// tiles is in the core's rows then.
    pub(super) fn short(
        &self,
        core: &mut Core,
        shared: &DrawShared<'_>,
        vertices: &Vertices,
        setup: &Setup,
    ) -> Option<Short> {
        // Not only before the shader has run: else it would depend on the first tile, and so on the
        // thread, whether a tile of a polygon in one colour is drawn here.
        if core.uniform.is_shared() || !self.is_short(shared) {
            return None;
        }
        let program = self.program.as_ref()?.modulate()?;
        let interpolator = &self.interpolator;
        let short = Short::new(program, |input| {
            interpolator.component(setup, vertices, input)
        })?;
        short.fill(&mut core.rows);
        Some(short)
    }

    /// Whether the fetches of `short` need no more pixels than are drawn, as their level of detail
    /// does not matter.
    pub(super) fn needs_no_quads(core: &mut Core, shared: &DrawShared<'_>, short: &Short) -> bool {
        let Some(fetch) = &short.fetch else {
            return true;
        };
        let (slot, words) = fetch.slot(shared);
        core.unit.is_one_way(slot, words)
    }

    /// Draws pixels of one polygon on the short path, or of two that are [alike](Short::is_like).
    /// Only then can `quads` be false: fetches [need no](Self::needs_no_quads) whole quads.
    pub(super) fn draw_short(
        &self,
        core: &mut Core,
        shares: &[Share<'_>],
        quads: bool,
        shared: &DrawShared<'_>,
        tile: &mut Tile<'_, '_>,
    ) {
        let [Share { short, .. }, ..] = shares else {
            return;
        };
        let mask = shares.iter().fold(0, |mask, share| mask | share.mask);
        let exec = if quads { whole_quads(mask) } else { mask };
        tile.counts.invocations += u64::from(mask.count_ones());
        tile.counts.short += 1;
        let rows = &mut *core.rows;
        for share in shares {
            core.executed += short.instructions;
            self.arch.dispatch(Interpolate {
                short: share.short,
                interpolator: &self.interpolator,
                setup: share.setup,
                x: tile.x,
                y: tile.y,
                lanes: if quads { exec } else { share.mask },
                keeps: !quads,
                rows,
            });
        }
        let mut any = false;
        if let Some(fetch) = &short.fetch {
            let (slot, words) = fetch.slot(shared);
            let [s, t] = &rows.coordinates;
            let src = [s, t, &ZERO, &ZERO];
            let (unit, texels) = (&mut core.unit, &mut rows.texels);
            any = unit.sample(tile.view, &fetch.op, slot, words, &src, exec, texels);
            unit.end_of_clause();
            let control = shared.context.control;
            if let Some(fault) = core.unit.take_fault() {
                control.fault(fault);
            }
            if let Some(mode) = core.unit.take_unknown() {
                control.unknown(ARRAY_MODE, mode);
            }
            self.arch.dispatch(Multiply {
                short,
                rows,
                mask,
                any,
            });
        }
        let row = |n: usize| short.row(rows, n, any);
        let src = [row(0), row(1), row(2), row(3)];
        for (index, ..) in self.targets.written() {
            let result = (self.targets).write_tile(tile.view, index, tile.at, &src, None, mask);
            tile.account(result, 2);
        }
    }
}

impl Fetch {
    /// The resource and sampler that it uses, and what returns their words.
    fn slot<'a>(
        &self,
        shared: &'a DrawShared<'_>,
    ) -> (Slot, impl FnOnce() -> ([u32; 8], Sampler) + use<'a>) {
        let (resource, sampler) = (self.op.resource, self.op.sampler);
        let slot = Slot {
            stage: Stage::Pixel,
            resource,
            sampler,
        };
        let words = move || {
            let words = shared.resource(Stage::Pixel, resource.into());
            (words, shared.sampler(Stage::Pixel, sampler.into()))
        };
        (slot, words)
    }
}
