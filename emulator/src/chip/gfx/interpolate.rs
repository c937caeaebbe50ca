// SPDX-License-Identifier: MIT
//! SPI: interpolates vertex parameters into a pixel wave's registers before
//! the shader starts.
//!
//! Input i of the pixel shader arrives in GPR i. Its parameter is the one that
//! has `SPI_PS_INPUT_CNTL_i.SEMANTIC` in `SPI_VS_OUT_ID_0-9` (Mesa
//! `r600_update_ps_state()`, `r600_update_vs_state()`).

mod decode;
mod quads;
mod registers;
#[cfg(test)]
mod tests;
mod varying;

pub use self::varying::{Component, Weights};

use pulp::{Simd, WithSimd};

use super::lanes::{has_denormals, pixel_of, Lanes, Mask, LANES};
use super::raster::Plane;
use super::setup::{Setup, Vertices};
use super::shader::{Program, Wave, GPRS};

/// Most inputs of a pixel shader.
const MAX_INPUTS: usize = 32;
/// Most parameters of a vertex.
pub const MAX_PARAMS: usize = 32;

/// The position within a pixel at which an attribute is evaluated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    Center,
    Centroid,
    Sample,
}

impl Place {
    /// Whether it is the centre of a pixel with `samples` samples.
    fn is_center(self, samples: usize) -> bool {
        self == Place::Center || samples == 1
    }
}

/// One input of the pixel shader.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Input {
    /// Number of the vertices' parameter, or none for the default value.
    param: Option<usize>,
    default: [f32; 4],
    flat: bool,
    linear: bool,
    place: Place,
    sprite: bool,
}

/// The SPI's state, decoded once per draw.
#[derive(Debug, Clone, PartialEq)]
pub struct Interpolator {
    inputs: Vec<Input>,
    /// Number of parameters that a vertex must keep.
    pub params: usize,
    /// Register of x, y, z, w and the place at which they are evaluated.
    position: Option<(usize, Place)>,
    /// Register and channel of the face. The register's z gets the sample mask.
    face: Option<(usize, usize)>,
    /// Register whose w gets the sample number.
    sample_id: Option<usize>,
    /// Values of a sprite input's channels: 0 zero, 1 one, 2 s, 3 t, 4 and more: no override.
    sprite: [u32; 4],
    sprite_enabled: bool,
    sprite_top_1: bool,
    flat_enabled: bool,
    /// All inputs are evaluated at the centre, unless the shader runs per sample.
    central: bool,
    /// An input is interpolated without perspective, and with perspective.
    uses: [bool; 2],
    center: [f32; 2],
    places: [[f32; 2]; 8],
    samples: usize,
    /// The shader interpolates its inputs itself: it gets weights, two pairs in a register.
    barycentric: Option<Vec<Pair>>,
}

/// A pair of weights, of vertices 1 and 2.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Pair {
    place: Place,
    linear: bool,
}

/// What the registers of a tile's wave are filled from.
#[derive(Clone, Copy)]
pub struct Inputs<'a> {
    /// The pixel shader, which may read some of them only.
    pub program: &'a Program,
    /// The polygon.
    pub setup: &'a Setup,
    /// The vertices that it refers to.
    pub vertices: &'a Vertices,
    /// The tile's first pixel.
    pub x: i32,
    /// The tile's first pixel.
    pub y: i32,
    /// The sample, if the shader runs for each.
    pub sample: Option<usize>,
    /// The lanes that are covered, for each sample.
    pub coverage: &'a [Mask; 8],
}

/// Interpolation weights of a tile's lanes at one place of their pixels.
#[derive(Debug)]
struct TileWeights {
    /// Of vertices 1 and 2, with perspective.
    perspective: [[f32; LANES]; 2],
    /// Of vertices 1 and 2, without perspective.
    linear: [[f32; LANES]; 2],
    /// Position of each lane relative to the tile's upper left pixel, in pixels.
    x: [f32; LANES],
    y: [f32; LANES],
    /// The lanes' offset within their pixels, if it is the same in all.
    place: Option<[f32; 2]>,
}

impl TileWeights {
    #[inline(always)]
    const fn new() -> Self {
        Self {
            perspective: [[0.0; LANES]; 2],
            linear: [[0.0; LANES]; 2],
            x: [0.0; LANES],
            y: [0.0; LANES],
            place: None,
        }
    }
}

impl Interpolator {
    /// True if the registers that the shader reads are the same in all pixels of `setup`: `reads` has
    /// their components, as [`Program::reads`].
    pub fn is_uniform(&self, setup: &Setup, reads: &[u8; GPRS]) -> bool {
        let same = match &self.barycentric {
            // Mesa enables a pair of weights for shaders that need none, too.
            Some(pairs) => reads[..pairs.len().div_ceil(2)]
                .iter()
                .all(|read| *read == 0),
            None => (self.inputs.iter())
                .all(|input| input.param.is_none() || input.flat && self.flat_enabled),
        };
        same && setup.sprite.is_none()
            && self.position.is_none()
            && self.face.is_none()
            && self.sample_id.is_none()
    }

    /// Offset of a pixel's centre from its corner, on both axes.
    pub fn center(&self) -> f32 {
        self.center[0]
    }

    /// Component `chan` of input `gpr`: its values at the vertices and its plane. None unless it is
    /// interpolated at the pixels' centres without perspective.
    pub fn plane(
        &self,
        setup: &Setup,
        vertices: &Vertices,
        gpr: usize,
        chan: usize,
    ) -> Option<([f64; 3], Plane)> {
        let input = self.inputs.get(gpr)?;
        let flat = input.flat && self.flat_enabled;
        let straight = input.linear || !setup.perspective;
        let central = input.place.is_center(self.samples);
        // These may overwrite an input's register.
        let others = self.barycentric.is_some()
            || self.position.is_some()
            || self.face.is_some()
            || self.sample_id.is_some();
        if flat || !straight || !central || others || setup.sprite.is_some() {
            return None;
        }
        Some(Self::mixed(setup, vertices, input.param?, chan))
    }

    /// [`Self::plane`] of component `chan` of input `index`, which the shader interpolates by `weights`:
    /// those of vertices 1 and 2, registers and components. None unless they are a pair at the pixels'
    /// centres without perspective.
    pub fn parameter_plane(
        &self,
        setup: &Setup,
        vertices: &Vertices,
        (index, chan): (usize, usize),
        weights: [(usize, usize); 2],
    ) -> Option<([f64; 3], Plane)> {
        let pair = self.pair(weights)?;
        let straight = pair.linear || !setup.perspective;
        if !straight || setup.sprite.is_some() {
            return None;
        }
        let input = self.inputs.get(index)?;
        if input.flat && self.flat_enabled {
            return None;
        }
        Some(Self::mixed(setup, vertices, input.param?, chan))
    }

    /// The pair that `weights` are, registers and components; none unless they are both of one at the
    /// pixels' centres, which nothing overwrites.
    fn pair(&self, weights: [(usize, usize); 2]) -> Option<&Pair> {
        let [(gpr, first), second] = weights;
        let pair = self.barycentric.as_ref()?.get(2 * gpr + first / 2)?;
        let whole = first % 2 == 0 && second == (gpr, first + 1);
        let central = pair.place.is_center(self.samples);
        // These may overwrite the weights.
        let others = [
            self.position.map(|(of, _)| of),
            self.face.map(|(of, _)| of),
            self.sample_id,
        ];
        (whole && central && !others.contains(&Some(gpr))).then_some(pair)
    }

    /// Component `chan` of the vertices' parameter `param` at the vertices, and its plane without
    /// perspective.
    fn mixed(setup: &Setup, vertices: &Vertices, param: usize, chan: usize) -> ([f64; 3], Plane) {
        let values =
            (setup.vertices).map(|v| f64::from(f32::from_bits(vertices.param(v, param)[chan & 3])));
        let [a, b, c] = values;
        let [v, w] = &setup.linear;
        let mix = |start: f64, v: f64, w: f64| start + (b - a) * v + (c - a) * w;
        let plane = Plane {
            c: mix(a, v.c, w.c),
            dx: mix(0.0, v.dx, w.dx),
            dy: mix(0.0, v.dy, w.dy),
        };
        (values, plane)
    }

    /// Offset from the pixel's corner for each lane: the sample's, or for a
    /// centroid that of the first covered sample, unless all are covered. None if
    /// it is the centre in all lanes.
    #[inline(always)]
    fn offsets(
        &self,
        place: Place,
        sample: Option<usize>,
        coverage: &[Mask; 8],
    ) -> Option<[[f32; 2]; LANES]> {
        match (place, sample) {
            (_, Some(sample)) => Some([self.places[sample & 7]; LANES]),
            (Place::Centroid, None) if self.samples > 1 => {
                let covered = &coverage[..self.samples];
                let all = covered.iter().fold(Mask::MAX, |m, s| m & s);
                if all == Mask::MAX {
                    return None;
                }
                Some(std::array::from_fn(|lane| {
                    if all >> lane & 1 != 0 {
                        return self.center;
                    }
                    covered
                        .iter()
                        .position(|s| s >> lane & 1 != 0)
                        .map_or(self.center, |s| self.places[s])
                }))
            }
            _ => None,
        }
    }

    #[inline(always)]
    fn weights(
        &self,
        setup: &Setup,
        x: i32,
        y: i32,
        offsets: Option<&[[f32; 2]; LANES]>,
        at: &mut TileWeights,
    ) {
        match offsets {
            None if at.place == Some(self.center) => {}
            None => {
                for lane in 0..LANES {
                    at.x[lane] = LANE_X[lane] + self.center[0];
                    at.y[lane] = LANE_Y[lane] + self.center[1];
                }
                at.place = Some(self.center);
            }
            Some(offsets) => {
                for lane in 0..LANES {
                    at.x[lane] = LANE_X[lane] + offsets[lane][0];
                    at.y[lane] = LANE_Y[lane] + offsets[lane][1];
                }
                at.place = None;
            }
        }
        let [linear, perspective] = self.uses;
        if linear || perspective && !setup.perspective {
            for i in 0..2 {
                evaluate(&setup.linear[i], x, y, &at.x, &at.y, &mut at.linear[i]);
            }
        }
        if perspective && setup.perspective {
            let mut inv_w = [0.0; LANES];
            evaluate(&setup.inv_w, x, y, &at.x, &at.y, &mut inv_w);
            for v in &mut inv_w {
                *v = 1.0 / *v;
            }
            for i in 0..2 {
                evaluate(
                    &setup.weights[i],
                    x,
                    y,
                    &at.x,
                    &at.y,
                    &mut at.perspective[i],
                );
                for (v, w) in at.perspective[i].iter_mut().zip(&inv_w) {
                    *v *= w;
                }
            }
        }
    }

    /// Fills the input registers of `wave` that the program of `inputs` reads, and tells it how many of the
    /// first ones have no denormals.
    pub fn fill(&self, wave: &mut Wave, scratch: &mut Scratch, inputs: Inputs<'_>) {
        wave.arch().dispatch(Fill {
            interpolator: self,
            wave,
            scratch,
            inputs,
        });
    }

    #[inline(always)]
    fn fill_sprite(
        &self,
        wave: &mut Wave,
        gpr: usize,
        planes: [&Plane; 2],
        x: i32,
        y: i32,
        weights: &TileWeights,
    ) {
        let mut st = [[0.0; LANES]; 2];
        for (values, plane) in st.iter_mut().zip(planes) {
            evaluate(plane, x, y, &weights.x, &weights.y, values);
        }
        if self.sprite_top_1 {
            st[1].iter_mut().for_each(|t| *t = 1.0 - *t);
        }
        for chan in 0..4 {
            let row = wave.gpr_mut(gpr, chan);
            match self.sprite[chan] {
                0 => row.fill(0),
                1 => row.fill(1.0f32.to_bits()),
                2 => *row = to_bits(&st[0]),
                3 => *row = to_bits(&st[1]),
                // No override: the model has 0 instead of the vertex's value.
                _ => row.fill(0),
            }
        }
    }

    #[inline(always)]
    fn fill_position(
        &self,
        wave: &mut Wave,
        gpr: usize,
        setup: &Setup,
        x: i32,
        y: i32,
        weights: &TileWeights,
    ) {
        debug_assert!(gpr < GPRS);
        let mut row = [0.0; LANES];
        let plane = |c: f64, dx: f64, dy: f64| Plane { c, dx, dy };
        for (chan, p) in [
            plane(0.0, 1.0, 0.0),
            plane(0.0, 0.0, 1.0),
            setup.z,
            setup.inv_w,
        ]
        .iter()
        .enumerate()
        {
            if chan == 2 {
                evaluate_depth(setup, x, y, &weights.x, &weights.y, &mut row);
                let [low, high] = setup.z_range;
                row.iter_mut().for_each(|z| *z = z.max(low).min(high));
            } else {
                evaluate(p, x, y, &weights.x, &weights.y, &mut row);
            }
            if chan == 3 {
                // The register gets w: the shader computes the reciprocal.
                row.iter_mut().for_each(|w| *w = 1.0 / *w);
            }
            *wave.gpr_mut(gpr, chan) = to_bits(&row);
        }
    }
}

/// Buffers of [`Interpolator::fill`], one for each worker.
#[derive(Debug)]
pub struct Scratch {
    /// Weights of a tile: at centroids, at a sample, at the centre. Only the positions are valid
    /// for the next tile.
    weights: [TileWeights; 3],
    /// Of each input of a setup: its components at vertex 0, and how much those at vertices 1 and 2
    /// differ from them.
    deltas: [[[f32; 4]; 3]; MAX_INPUTS],
    /// `deltas` are those of the current setup.
    known: bool,
    /// Of a wave in which quads are of several polygons.
    gathered: quads::Gathered,
}

const CENTER: usize = 2;

impl Default for Scratch {
    fn default() -> Self {
        Self {
            weights: [const { TileWeights::new() }; 3],
            deltas: [[[0.0; 4]; 3]; MAX_INPUTS],
            known: false,
            gathered: quads::Gathered::default(),
        }
    }
}

impl Scratch {
    /// Call this before the first tile of each setup.
    pub fn begin(&mut self) {
        self.known = false;
    }

    /// [`Self::find_deltas`] of a shader that interpolates itself: its flat inputs do not differ,
    /// and those of a point sprite are its coordinates.
    fn find_parameters(&mut self, of: &Interpolator, setup: &Setup, vertices: &Vertices) {
        self.find_deltas(&of.inputs, setup, vertices);
        for (deltas, input) in self.deltas.iter_mut().zip(&of.inputs) {
            let flat = |value: [f32; 4]| [value, [0.0; 4], [0.0; 4]];
            if input.sprite && of.sprite_enabled && setup.sprite.is_some() {
                let mut parts = flat([0.0; 4]);
                for chan in 0..4 {
                    match (of.sprite[chan], of.sprite_top_1) {
                        (1, _) => parts[0][chan] = 1.0,
                        (2, _) => parts[1][chan] = 1.0,
                        (3, false) => parts[2][chan] = 1.0,
                        (3, true) => (parts[0][chan], parts[2][chan]) = (1.0, -1.0),
                        _ => {}
                    }
                }
                *deltas = parts;
                continue;
            }
            let Some(param) = input.param else {
                *deltas = flat(input.default);
                continue;
            };
            if (input.flat && of.flat_enabled) || setup.sprite.is_some() {
                *deltas = flat(vertices.param(setup.provoking, param).map(f32::from_bits));
            }
        }
    }

    fn find_deltas(&mut self, inputs: &[Input], setup: &Setup, vertices: &Vertices) {
        for (deltas, input) in self.deltas.iter_mut().zip(inputs) {
            let Some(param) = input.param else {
                continue;
            };
            let [a, b, c] = setup.vertices;
            let at = |vertex: u32| vertices.param(vertex, param);
            let (a, b, c) = (at(a), at(b), at(c));
            let mut of = [[0.0; 4]; 3];
            for chan in 0..4 {
                let [a, b, c] = [a[chan], b[chan], c[chan]].map(f32::from_bits);
                (of[0][chan], of[1][chan], of[2][chan]) = (a, b - a, c - a);
            }
            *deltas = of;
        }
        self.known = true;
    }
}

/// [`Interpolator::fill`], compiled for several instruction sets.
struct Fill<'a> {
    interpolator: &'a Interpolator,
    wave: &'a mut Wave,
    scratch: &'a mut Scratch,
    inputs: Inputs<'a>,
}

impl WithSimd for Fill<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _simd: S) {
        let Fill {
            interpolator,
            wave,
            scratch,
            inputs,
        } = self;
        let Inputs {
            program,
            setup,
            vertices,
            x,
            y,
            sample,
            coverage,
        } = inputs;
        let (reads, floats) = (program.reads(), program.reads_floats());
        let mut normal = 0;
        match &interpolator.barycentric {
            None if !scratch.known => {
                scratch.find_deltas(&interpolator.inputs, setup, vertices);
            }
            Some(_) if !scratch.known => {
                scratch.find_parameters(interpolator, setup, vertices);
            }
            _ => {}
        }
        let (scratch, deltas) = (&mut scratch.weights, &scratch.deltas);
        let mut there = [false; 3];
        let mut at = |place: Place| -> usize {
            let index = match place {
                // A shader that runs per sample has barycentric coordinates of the centre all the same: r600
                // adds offsets to them for `interpolateAtSample()` (`sfn_shader_fs.cpp`), and KHR-GLES31's
                // `shader_multisample_interpolation` is not among what fails on a real Turks.
                Place::Center if sample.is_none() || interpolator.barycentric.is_some() => {
                    return CENTER
                }
                Place::Centroid if sample.is_none() => 0,
                // Inputs of a shader that runs per sample are those of the sample.
                _ => 1,
            };
            if !there[index] {
                let Some(offsets) = interpolator.offsets(place, sample, coverage) else {
                    return CENTER;
                };
                interpolator.weights(setup, x, y, Some(&offsets), &mut scratch[index]);
                there[index] = true;
            }
            index
        };
        // Bytes, because the array is initialised for each tile.
        let mut chosen = [CENTER as u8; MAX_INPUTS + 1];
        let mut wanted = true;
        if let Some(pairs) = &interpolator.barycentric {
            for (slot, pair) in chosen.iter_mut().zip(pairs) {
                *slot = at(pair.place) as u8;
            }
            if let Some((_, place)) = interpolator.position {
                chosen[MAX_INPUTS] = at(place) as u8;
            }
        } else if !interpolator.central || sample.is_some() {
            for (slot, input) in chosen.iter_mut().zip(&interpolator.inputs) {
                *slot = at(input.place) as u8;
            }
            if let Some((_, place)) = interpolator.position {
                chosen[MAX_INPUTS] = at(place) as u8;
            }
            wanted = chosen[..interpolator.inputs.len()].contains(&(CENTER as u8))
                || interpolator.position.is_some() && chosen[MAX_INPUTS] == CENTER as u8;
        }
        if wanted && (interpolator.uses != [false; 2] || interpolator.position.is_some()) {
            interpolator.weights(setup, x, y, None, &mut scratch[CENTER]);
            there[CENTER] = true;
        }
        let pick = |slot: usize| {
            let index = usize::from(chosen[slot]).min(CENTER);
            there[index].then_some(&scratch[index])
        };
        for (n, pair) in interpolator.barycentric.iter().flatten().enumerate() {
            let Some(weights) = pick(n) else {
                continue;
            };
            let linear = pair.linear || !setup.perspective;
            for half in 0..2 {
                let row = wave.gpr_mut(n / 2, n % 2 * 2 + half);
                match &setup.sprite {
                    // The parameters of a sprite are weighted by its coordinates.
                    Some(sprite) => {
                        let plane = [&sprite.s, &sprite.t][half];
                        let mut values = [0.0; LANES];
                        evaluate(plane, x, y, &weights.x, &weights.y, &mut values);
                        *row = to_bits(&values);
                    }
                    None if linear => *row = to_bits(&weights.linear[half]),
                    None => *row = to_bits(&weights.perspective[half]),
                }
            }
        }
        let inputs = match interpolator.barycentric {
            Some(_) => &[][..],
            None => &interpolator.inputs[..],
        };
        for (gpr, input) in inputs.iter().enumerate() {
            let weights = pick(gpr);
            if input.sprite && interpolator.sprite_enabled {
                if let Some(sprite) = &setup.sprite {
                    let planes = [&sprite.s, &sprite.t];
                    match weights {
                        Some(at) => interpolator.fill_sprite(wave, gpr, planes, x, y, at),
                        None => {
                            let mut at = TileWeights::new();
                            interpolator.weights(setup, x, y, None, &mut at);
                            interpolator.fill_sprite(wave, gpr, planes, x, y, &at);
                        }
                    }
                    continue;
                }
            }
            let Some(param) = input.param else {
                for chan in 0..4 {
                    wave.gpr_mut(gpr, chan).fill(input.default[chan].to_bits());
                }
                continue;
            };
            if (input.flat && interpolator.flat_enabled) || setup.sprite.is_some() {
                let value = vertices.param(setup.provoking, param);
                for chan in 0..4 {
                    wave.gpr_mut(gpr, chan).fill(value[chan]);
                }
                continue;
            }
            // Inputs that use weights always have them.
            let Some(weights) = weights else {
                continue;
            };
            let w = if input.linear || !setup.perspective {
                &weights.linear
            } else {
                &weights.perspective
            };
            let mut is_normal = normal == gpr;
            for chan in (0..4).filter(|chan| reads[gpr] >> chan & 1 != 0) {
                let [a, b, c] = &deltas[gpr];
                let (a, b, c) = (a[chan], b[chan], c[chan]);
                let row = wave.gpr_mut(gpr, chan);
                if (b, c) == (0.0, 0.0) {
                    // As `mix()` does it: -0 + 0 is +0.
                    row.fill((a + 0.0).to_bits());
                    is_normal &= !a.is_subnormal();
                    continue;
                }
                mix(row, a, b, c, w);
                if floats[gpr] >> chan & 1 != 0 {
                    is_normal &= !has_denormals(row);
                }
            }
            normal += usize::from(is_normal);
        }
        // Registers that are overwritten below are not checked for denormals.
        let others = [
            interpolator.position.map(|(gpr, _)| gpr),
            interpolator.face.map(|(gpr, _)| gpr),
            interpolator.sample_id,
        ];
        wave.set_normal(others.into_iter().flatten().fold(normal, usize::min));
        if let (Some((gpr, _)), Some(at)) = (interpolator.position, pick(MAX_INPUTS)) {
            interpolator.fill_position(wave, gpr, setup, x, y, at);
        }
        if let Some((gpr, chan)) = interpolator.face {
            let face = if setup.front { 1.0f32 } else { -1.0 };
            wave.gpr_mut(gpr, chan).fill(face.to_bits());
            if chan != 2 {
                let mut masks = [0; LANES];
                for (lane, mask) in masks.iter_mut().enumerate() {
                    *mask = match sample {
                        Some(sample) => 1 << (sample & 7),
                        None => {
                            (0..8).fold(0, |m, s| m | (((coverage[s] >> lane & 1) as u32) << s))
                        }
                    };
                }
                *wave.gpr_mut(gpr, 2) = masks;
            }
        }
        if let Some(gpr) = interpolator.sample_id {
            wave.gpr_mut(gpr, 3).fill(sample.unwrap_or(0) as u32);
        }
    }
}

static LANE_X: [f32; LANES] = lane_steps(0);
static LANE_Y: [f32; LANES] = lane_steps(1);

const fn lane_steps(axis: usize) -> [f32; LANES] {
    let mut steps = [0.0; LANES];
    let mut lane = 0;
    while lane < LANES {
        let (x, y) = pixel_of(lane);
        steps[lane] = if axis == 0 { x as f32 } else { y as f32 };
        lane += 1;
    }
    steps
}

/// The offsets of the lanes of a tile from its first pixel.
pub fn lane_offsets() -> (&'static [f32; LANES], &'static [f32; LANES]) {
    (&LANE_X, &LANE_Y)
}

/// Evaluates a plane at the offsets `dx`, `dy` of each lane from pixel (`x`, `y`).
#[inline(always)]
pub fn evaluate(
    plane: &Plane,
    x: i32,
    y: i32,
    dx: &[f32; LANES],
    dy: &[f32; LANES],
    out: &mut [f32; LANES],
) {
    let base = plane.at(f64::from(x), f64::from(y)) as f32;
    let (a, b) = (plane.dx as f32, plane.dy as f32);
    for lane in 0..LANES {
        out[lane] = base + (a * dx[lane] + b * dy[lane]);
    }
}

/// [`evaluate`] for the depth of a polygon, its offset included.
#[inline(always)]
pub fn evaluate_depth(
    setup: &Setup,
    x: i32,
    y: i32,
    dx: &[f32; LANES],
    dy: &[f32; LANES],
    out: &mut [f32; LANES],
) {
    evaluate(&setup.z, x, y, dx, dy, out);
    if setup.z_offset != 0.0 {
        out.iter_mut().for_each(|z| *z += setup.z_offset);
    }
}

#[inline(always)]
fn mix(row: &mut Lanes, a: f32, b: f32, c: f32, w: &[[f32; LANES]; 2]) {
    for lane in 0..LANES {
        row[lane] = (a + (b * w[0][lane] + c * w[1][lane])).to_bits();
    }
}

#[inline(always)]
fn to_bits(row: &[f32; LANES]) -> Lanes {
    std::array::from_fn(|i| row[i].to_bits())
}
