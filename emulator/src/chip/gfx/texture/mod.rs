// SPDX-License-Identifier: MIT
//! The texture unit: fetch instructions of the TEX clause.
//!
//! Instructions: AMD "R700-Family Instruction Set Architecture", texture fetch
//! clauses; how Mesa uses them: `r600_shader.c` and `sfn_instr_tex.cpp`.
//!
//! A unit belongs to one worker. It caches decoded texels and descriptors;
//! [`Unit::invalidate`] drops the texels.
//!
//! Modelled: all dimensions with mip levels, nearest, bilinear, trilinear and
//! anisotropic filtering, all wrap modes and borders, comparisons, seamless
//! cubes, multisampled loads, size queries, gradients, offsets and gathers. Anisotropy
//! takes up to 16 samples along the longer axis of the footprint; where the
//! chip places its samples is not known. Level of detail is exact rather than
//! the chip's approximation. Not modelled: `FETCH4`, `GET_LERP_FACTORS`,
//! `PASS` and `SET_CUBEMAP_INDEX` (which Mesa never uses on this chip), bicubic
//! filters, chroma keys, `LOD_USES_MINOR_AXIS`.

pub mod address;
pub mod block;
mod border;
pub mod bptc;
pub mod cache;
mod filter;
mod gather;
mod lod;
pub mod log;
mod patch;
mod plain;
pub mod resource;
pub mod sampler;
mod source;

use pulp::Arch;

use self::cache::Cache;
use self::filter::Request;
use self::lod::{gradients, Footprint};
use self::resource::{Dim, Texture};
pub use self::sampler::Sampler;
use self::sampler::{Filter, MipFilter, Wrap};
pub use self::source::Source;
use super::front::{self, Front};
use super::lanes::{iter, Lanes, Mask, LANES};
use super::memory::View;
use super::shader::isa::{tex, TexInstruction};
use super::state::Stage;
use crate::chip::bus::McError;
use crate::chip::tiling::TilingConfig;

/// The resource and sampler of a fetch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Slot {
    /// The stage.
    pub stage: Stage,
    /// `RESOURCE_ID`, counted from the stage's first.
    pub resource: u8,
    /// `SAMPLER_ID`.
    pub sampler: u8,
}

/// The texture of a slot, by its index in the cache's list and its number, and the decoded
/// sampler. No texture if the descriptor is invalid.
#[derive(Debug, Clone, Copy)]
struct Binding {
    texture: Option<(usize, u64)>,
    filter: Filter,
}

/// A fetch from a texture: the instruction, what it refers to, and the wave.
#[derive(Clone, Copy)]
struct Fetch<'a> {
    view: &'a View<'a>,
    op: &'a TexInstruction,
    texture: &'a Texture,
    /// The texture's number in the cache.
    id: u64,
    filter: &'a Filter,
    /// The operands after their swizzle.
    src: &'a [&'a Lanes; 4],
    exec: Mask,
}

/// The least value but 0 of the fast path's texels: one of 255 steps, filtered by weights in 1/256.
pub const LEAST: f32 = 1.0 / (1 << 24) as f32;

/// A texture unit.
#[derive(Debug)]
pub struct Unit {
    cache: Cache,
    /// The slot that was fetched from last; most shaders have only one.
    bound: Option<(Slot, Binding)>,
    front: &'static Front,
    config: TilingConfig,
    seamless: bool,
    /// Gradients of `SET_GRADIENTS_H` and `V`, until the clause ends.
    gradients: [[Lanes; 4]; 2],
    /// The clause has set gradients.
    has_gradients: bool,
    /// Offsets in texels of `SET_TEXTURE_OFFSETS`, until the clause ends.
    offsets: Option<Box<[Lanes; 3]>>,
    arch: Arch,
    /// Fetches that took the fast path.
    fast: u64,
    /// All fetches take the general path: for comparisons.
    general: bool,
}

impl Default for Unit {
    fn default() -> Self {
        Self::new()
    }
}

impl Unit {
    /// A unit with an empty cache. Large (some 1.3 MiB): make one for each worker.
    pub fn new() -> Self {
        Self {
            cache: Cache::default(),
            bound: None,
            front: &front::R700,
            config: TilingConfig::from_register(0),
            seamless: true,
            gradients: [[[0; LANES]; 4]; 2],
            has_gradients: false,
            offsets: None,
            arch: Arch::new(),
            fast: 0,
            general: false,
        }
    }

    /// Sets the state that all textures share: the decoders of descriptors, the tiling geometry,
    /// and whether cube maps filter across edges. Keeps the cache. Call it for each draw: slots are
    /// looked up again after it.
    pub fn set_state(&mut self, front: &'static Front, config: TilingConfig, seamless: bool) {
        self.bound = None;
        self.front = front;
        self.config = config;
        self.seamless = seamless;
    }

    /// Drops all texels. The pipeline does this for each draw.
    pub fn invalidate(&mut self) {
        self.cache.invalidate();
    }

    /// Discards the gradients and offsets of a clause that ended.
    pub fn end_of_clause(&mut self) {
        self.offsets = None;
        if std::mem::take(&mut self.has_gradients) {
            self.gradients = [[[0; LANES]; 4]; 2];
        }
    }

    /// The first access since the last call that no memory answered. Its texels
    /// read as 0.
    pub fn take_fault(&mut self) -> Option<McError> {
        self.cache.fault.take()
    }

    /// The array mode of a texture since the last call whose mode is unknown.
    pub fn take_unknown(&mut self) -> Option<u32> {
        self.cache.unknown_mode.take()
    }

    /// Number of fetches so far that took the fast path, `plain`.
    pub fn fast_paths(&self) -> u64 {
        self.fast
    }

    /// Number of them so far that scaled a picture to half its size, from texels in memory's order.
    pub fn halved(&self) -> u64 {
        self.cache.halved
    }

    /// Number of blocks of texels read from memory so far.
    pub fn misses(&self) -> u64 {
        self.cache.misses
    }

    /// Executes `op` for the lanes of `exec`. `words` returns the resource and the sampler of
    /// `slot`; it is called unless they are known since [`Self::set_state`]. `src` has the operands
    /// after their swizzle. `out` becomes the result after the resource's swizzle; lanes outside
    /// `exec` are 0. Returns false if no result can be a denormal; what `SAMPLE` returns then is 0, or
    /// in [`LEAST`] to 1.
    #[allow(clippy::too_many_arguments)] // the instruction, what it refers to, and the wave
    #[inline]
    pub fn sample(
        &mut self,
        view: &View<'_>,
        op: &TexInstruction,
        slot: Slot,
        words: impl FnOnce() -> ([u32; 8], Sampler),
        src: &[&Lanes; 4],
        exec: Mask,
        out: &mut [Lanes; 4],
    ) -> bool {
        let binding = self.bound(slot, words);
        self.execute(view, op, &binding, src, exec, out)
    }

    /// Whether the results of `SAMPLE` from `slot` do not depend on the level of detail, and with it on
    /// the other pixels of a quad. `words` as for [`Self::sample`].
    pub fn is_one_way(&mut self, slot: Slot, words: impl FnOnce() -> ([u32; 8], Sampler)) -> bool {
        let binding = self.bound(slot, words);
        let texture = binding
            .texture
            .and_then(|(index, _)| self.cache.textures.get(index));
        texture.is_none_or(|(texture, _)| one_way(texture, &binding.filter))
    }

    /// What is bound to `slot`.
    #[inline]
    fn bound(&mut self, slot: Slot, words: impl FnOnce() -> ([u32; 8], Sampler)) -> Binding {
        let textures = &self.cache.textures;
        let known = self.bound.filter(|(of, binding)| {
            // Another texture may have replaced it in the list.
            let there = binding.texture.is_none_or(|(index, id): (usize, u64)| {
                textures.get(index).is_some_and(|(_, number)| *number == id)
            });
            *of == slot && there
        });
        match known {
            Some((_, binding)) => binding,
            None => {
                let (resource, sampler) = words();
                let binding = self.binding(&resource, &sampler);
                self.bound = Some((slot, binding));
                binding
            }
        }
    }

    fn binding(&mut self, resource: &[u32; 8], sampler: &Sampler) -> Binding {
        let index = self.texture(resource);
        let number = |index: usize| Some((index, self.cache.textures.get(index)?.1));
        Binding {
            texture: index.and_then(number),
            filter: (self.front.sampler)(sampler),
        }
    }

    fn execute(
        &mut self,
        view: &View<'_>,
        op: &TexInstruction,
        binding: &Binding,
        src: &[&Lanes; 4],
        exec: Mask,
        out: &mut [Lanes; 4],
    ) -> bool {
        match op.opcode {
            tex::GET_GRADIENTS_H | tex::GET_GRADIENTS_V => {
                // INST_MOD of R800; 0 on R700.
                let fine = op.modifier == 1;
                *out = gradients(src, usize::from(op.opcode == tex::GET_GRADIENTS_V), fine);
                return true;
            }
            tex::SET_GRADIENTS_H | tex::SET_GRADIENTS_V => {
                let direction = usize::from(op.opcode == tex::SET_GRADIENTS_V);
                self.gradients[direction] = src.map(|row| *row);
                self.has_gradients = true;
                *out = [[0; LANES]; 4];
                return false;
            }
            tex::KEEP_GRADIENTS => {
                self.gradients = [gradients(src, 0, false), gradients(src, 1, false)];
                self.has_gradients = true;
                *out = [[0; LANES]; 4];
                return false;
            }
            tex::SET_TEXTURE_OFFSETS => {
                self.offsets = Some(Box::new([*src[0], *src[1], *src[2]]));
                *out = [[0; LANES]; 4];
                return false;
            }
            _ => {}
        }
        // Taken out of the unit during the fetch, which needs the unit mutably.
        let textures = std::mem::take(&mut self.cache.textures);
        let texture = binding.texture.and_then(|(index, _)| textures.get(index));
        let denormals = match texture {
            Some((texture, id)) => {
                let fetch = Fetch {
                    view,
                    op,
                    texture,
                    id: *id,
                    filter: &binding.filter,
                    src,
                    exec,
                };
                self.fetch(&fetch, out)
            }
            None => {
                *out = [[0; LANES]; 4];
                false
            }
        };
        self.cache.textures = textures;
        denormals
    }

    /// Executes a fetch from a texture.
    #[inline]
    fn fetch(&mut self, fetch: &Fetch<'_>, out: &mut [Lanes; 4]) -> bool {
        if self.fast_path(fetch, out) {
            self.fast += 1;
            return false;
        }
        let Fetch {
            op,
            texture,
            src,
            exec,
            ..
        } = *fetch;
        *out = [[0; LANES]; 4];
        match op.opcode {
            tex::LD => self.load(fetch, out),
            tex::GET_TEXTURE_RESINFO => size(texture, src, exec, out),
            // Mesa's shaders read the fourth component.
            tex::GET_NUMBER_OF_SAMPLES => {
                for component in out {
                    iter(exec).for_each(|lane| component[lane] = texture.samples);
                }
            }
            tex::GET_LOD => self.query_lod(fetch, out),
            tex::SAMPLE..=tex::SAMPLE_C_G_LZ => self.filtered(fetch, out),
            tex::GATHER4..=tex::GATHER4_C_O => self.gather(fetch, out),
            // Samples are stored expanded: sample n has colour n, four bits each.
            tex::LD_FPTR => iter(exec).for_each(|lane| out[0][lane] = 0x7654_3210),
            _ => {}
        }
        true
    }

    /// Index in the cache's list of the texture that `resource` describes.
    fn texture(&mut self, resource: &[u32; 8]) -> Option<usize> {
        let (config, decode) = (self.config, self.front.texture);
        let index = self.cache.texture(
            |texture| texture.words == *resource && texture.config == config,
            || decode(resource, config),
        )?;
        let level = self.cache.textures.get(index)?.0.level(0);
        if let Some(mode) = level.and_then(|level| level.surface.layout.mode.unknown()) {
            self.cache.unknown_mode = Some(mode);
        }
        Some(index)
    }

    /// Runs `LD` or `SAMPLE` by [`plain`]. False if that cannot do it.
    fn fast_path(&mut self, fetch: &Fetch<'_>, out: &mut [Lanes; 4]) -> bool {
        let Fetch {
            view,
            op,
            texture,
            id,
            filter,
            src,
            exec,
        } = *fetch;
        if !texture.packed || texture.dim != Dim::D2 || exec == 0 || self.general {
            return false;
        }
        let offset = [op.offset[0], op.offset[1]].map(i32::from);
        let plain = match op.opcode {
            tex::LD => {
                let level = src[3][exec.trailing_zeros() as usize & 63];
                if level > texture.last_level || src[3].iter().any(|l| *l != level) {
                    return false;
                }
                plain::Fetch {
                    texture,
                    id,
                    level: (texture.base_level + level).min(texture.last_level),
                    linear: false,
                    integers: true,
                    wrap: [Wrap::ClampLastTexel; 2],
                    normalized: [false; 2],
                    offset,
                    mask: exec,
                }
            }
            // Bit 3 is a comparison.
            tex::SAMPLE..=tex::SAMPLE_C_G_LZ if op.opcode & 8 == 0 => {
                if !one_way(texture, filter) {
                    return false;
                }
                plain::Fetch {
                    texture,
                    id,
                    level: texture.base_level,
                    linear: filter.mag_linear,
                    integers: false,
                    wrap: [filter.wrap[0], filter.wrap[1]],
                    normalized: [op.normalized[0], op.normalized[1]],
                    offset,
                    mask: exec,
                }
            }
            _ => return false,
        };
        plain::sample(&mut self.cache, view, self.arch, &plain, src, out)
    }

    /// `LD`: unfiltered texels by integer coordinates. Lanes outside the texture are left alone.
    fn load(&mut self, fetch: &Fetch<'_>, out: &mut [Lanes; 4]) {
        let Fetch {
            view,
            op,
            texture,
            id,
            src,
            exec,
            ..
        } = *fetch;
        let filter = Filter::default();
        let request = Request {
            texture,
            id,
            filter: &filter,
            level: 0,
            linear: false,
            coord: &[[0.0; LANES]; 3],
            normalized: [false; 3],
            offset: [0; 3],
            reference: None,
            seamless: false,
            mask: exec,
        };
        let msaa = texture.dim.is_msaa();
        for lane in iter(exec) {
            let fourth = src[3][lane];
            let (level, sample) = if msaa { (0, fourth) } else { (fourth, 0) };
            if level > texture.last_level || sample >= texture.samples {
                continue;
            }
            let number = (texture.base_level + level).min(texture.last_level);
            let Some(size) = texture.level(number) else {
                continue;
            };
            let at =
                |i: usize| (src[i][lane] as i32).wrapping_add(i32::from(op.offset[i]) / 2) as u32;
            let (x, y, z) = (at(0), if texture.dim.is_1d() { 0 } else { at(1) }, at(2));
            let (base, last) = texture.layers;
            let (slice, inside) = match texture.dim {
                Dim::D3 => (z, z < size.depth),
                Dim::Cube => (base + z.min(5), z < 6),
                // Offsets do not apply to layers.
                dim if dim.is_array() => {
                    let slice = base.saturating_add(src[2][lane]);
                    (slice, slice <= last)
                }
                _ => (base, true),
            };
            if !inside || x >= size.width || y >= size.height {
                continue;
            }
            let cache = &mut self.cache;
            let texel = filter::texel(cache, view, texture, id, number, slice, sample, x, y);
            let value = filter::finish(&request, lane, &texel);
            for c in 0..4 {
                out[c][lane] = value[c];
            }
        }
    }

    /// Level of detail of each lane, before the sampler's limits.
    fn level_of_detail(
        &self,
        op: &TexInstruction,
        texture: &Texture,
        filter: &Filter,
        src: &[&Lanes; 4],
    ) -> Footprint {
        let mode = op.opcode & 3;
        let bias = f32::from(op.lod_bias) / 16.0;
        let with_gradients = op.opcode & 4 != 0;
        let mut footprint = match mode {
            // SAMPLE_L and SAMPLE_LZ need no gradients.
            1 => Footprint::level(&src[3].map(f32::from_bits)),
            3 => Footprint::level(&[0.0; LANES]),
            _ => {
                let from = with_gradients.then_some(&self.gradients);
                Footprint::new(
                    texture,
                    op.normalized,
                    src,
                    from,
                    filter.log2_aniso.min(texture.log2_max_aniso),
                )
            }
        };
        for (lane, lod) in footprint.lod.iter_mut().enumerate() {
            // The sampler's bias applies to an explicit level, too: OpenGL biases
            // textureLod().
            *lod += filter.bias;
            match mode {
                0 => *lod += bias,
                2 => *lod += bias + f32::from_bits(src[3][lane]),
                _ => {}
            }
        }
        footprint
    }

    /// `GET_LOD` (`GET_COMP_TEX_LOD`): x is the level of detail, y the same within the limits of sampler and
    /// texture. Mesa's `emit_tex_lod()` takes y for GLSL's x, and a real Turks passes a test of coordinates that
    /// do not change, of which only y is finite (piglit's `zero-tex-coord textureQueryLOD`).
    fn query_lod(&self, fetch: &Fetch<'_>, out: &mut [Lanes; 4]) {
        let Fetch {
            texture,
            filter,
            src,
            exec,
            ..
        } = *fetch;
        let op = TexInstruction {
            opcode: tex::SAMPLE,
            ..*fetch.op
        };
        let footprint = self.level_of_detail(&op, texture, filter, src);
        for lane in iter(exec) {
            let (raw, limit) = (footprint.lod[lane], texture.last_level as f32);
            let limited = raw.max(filter.lod.0).min(filter.lod.1).max(0.0).min(limit);
            out[0][lane] = raw.to_bits();
            out[1][lane] = limited.to_bits();
        }
    }

    /// `GATHER4` and its variants, of the base level. The reference value of a comparison is in w
    /// (Mesa's `prepare_coord()`).
    fn gather(&mut self, fetch: &Fetch<'_>, out: &mut [Lanes; 4]) {
        let Fetch {
            view,
            op,
            texture,
            id,
            filter,
            src,
            exec,
        } = *fetch;
        let compares = matches!(op.opcode, tex::GATHER4_C | tex::GATHER4_C_O);
        let reference = compares.then(|| src[3].map(f32::from_bits));
        let request = Request {
            texture,
            id,
            filter,
            level: texture.base_level,
            linear: true,
            coord: &std::array::from_fn(|i| src[i].map(f32::from_bits)),
            normalized: [op.normalized[0], op.normalized[1], op.normalized[2]],
            offset: op.offset.map(i32::from),
            reference: reference.as_ref(),
            seamless: self.seamless && filter.seamless,
            mask: exec,
        };
        let by_register = matches!(op.opcode, tex::GATHER4_O | tex::GATHER4_C_O);
        let offsets = self.offsets.as_deref().filter(|_| by_register);
        // A comparison has one result.
        let component = if compares { 0 } else { op.modifier };
        let component = usize::from(component);
        let cache = &mut self.cache;
        gather::gather(cache, view, self.arch, &request, offsets, component, out);
    }

    fn filtered(&mut self, fetch: &Fetch<'_>, out: &mut [Lanes; 4]) {
        let Fetch {
            view,
            op,
            texture,
            id,
            filter,
            src,
            exec,
        } = *fetch;
        let uniform = one_way(texture, filter);
        let compares = op.opcode & 8 != 0;
        let footprint = if uniform {
            Footprint::level(&[0.0; LANES])
        } else {
            self.level_of_detail(op, texture, filter, src)
        };
        let reference = compares.then(|| {
            // In w, except for the _L, _LB and _LZ forms.
            let from = if matches!(op.opcode & 3, 0) { 3 } else { 2 };
            src[from].map(f32::from_bits)
        });
        let coord: [[f32; LANES]; 3] = std::array::from_fn(|i| src[i].map(f32::from_bits));
        let levels = if uniform {
            Levels::single(texture.base_level, filter.mag_linear)
        } else {
            Levels::new(texture, filter, &footprint.lod)
        };
        let mut pass = |coord: &[[f32; LANES]; 3], mask: Mask, out: &mut [Lanes; 4]| {
            let mut request = Request {
                texture,
                id,
                filter,
                level: 0,
                linear: false,
                coord,
                normalized: [op.normalized[0], op.normalized[1], op.normalized[2]],
                offset: op.offset.map(i32::from),
                reference: reference.as_ref(),
                seamless: self.seamless && filter.seamless,
                mask: 0,
            };
            levels.each_group(mask, &levels.first, |level, linear, mask| {
                (request.level, request.linear, request.mask) = (level, linear, mask);
                filter::level(&mut self.cache, view, self.arch, &request, out);
            });
            let between = mask & levels.between;
            if between != 0 {
                let mut other = [[0; LANES]; 4];
                levels.each_group(between, &levels.second, |level, linear, mask| {
                    (request.level, request.linear, request.mask) = (level, linear, mask);
                    filter::level(&mut self.cache, view, self.arch, &request, &mut other);
                });
                for lane in iter(between) {
                    let w = levels.weight[lane];
                    for c in 0..4 {
                        let (a, b) = (f32::from_bits(out[c][lane]), f32::from_bits(other[c][lane]));
                        out[c][lane] = (a * (1.0 - w) + b * w).to_bits();
                    }
                }
            }
        };
        let several = footprint.several & exec;
        if exec & !several != 0 {
            pass(&coord, exec & !several, out);
        }
        if several != 0 {
            footprint.along(&coord, several, out, pass);
        }
    }
}

/// Whether the result does not depend on the level of detail, which then need not be computed.
fn one_way(texture: &Texture, filter: &Filter) -> bool {
    let one_level = texture.last_level == texture.base_level || filter.mip == MipFilter::None;
    let aniso = filter.log2_aniso.min(texture.log2_max_aniso);
    one_level && filter.mag_linear == filter.min_linear && aniso == 0
}

/// `GET_TEXTURE_RESINFO`: the size of level x in xyz, the number of levels in w.
///
/// Of an array it has the view's layers, not the resource's: a Turks passes piglit's
/// `rendering-layers-image` (Mesa's `src/gallium/drivers/r600/ci`), which compares them.
fn size(texture: &Texture, src: &[&Lanes; 4], exec: Mask, out: &mut [Lanes; 4]) {
    for lane in iter(exec) {
        let wanted = src[0][lane];
        let levels = texture.last_level - texture.base_level + 1;
        out[3][lane] = levels;
        if wanted >= levels {
            continue;
        }
        let Some(level) = texture.level(texture.base_level + wanted) else {
            continue;
        };
        out[0][lane] = level.width;
        let (first, last) = texture.layers;
        let layers = last.saturating_sub(first) + 1;
        let (second, third) = match texture.dim {
            Dim::D1 => (1, 1),
            // OpenGL's textureSize() of a 1D array has the layers in y.
            Dim::D1Array => (layers, layers),
            Dim::D3 => (level.height, level.depth),
            dim if dim.is_array() => (level.height, layers),
            _ => (level.height, 1),
        };
        out[1][lane] = second;
        out[2][lane] = third;
    }
}

/// Mip levels that each lane samples.
struct Levels {
    first: [u8; LANES],
    second: [u8; LANES],
    /// Weight of the second level.
    weight: [f32; LANES],
    /// Lanes that need the second level.
    between: Mask,
    /// Lanes that filter linearly inside a level.
    linear: Mask,
}

impl Levels {
    /// The same level for all lanes.
    fn single(level: u32, linear: bool) -> Self {
        Self {
            first: [level as u8; LANES],
            second: [level as u8; LANES],
            weight: [0.0; LANES],
            between: 0,
            linear: if linear { Mask::MAX } else { 0 },
        }
    }

    fn new(texture: &Texture, filter: &Filter, lod: &[f32; LANES]) -> Self {
        let mut levels = Self {
            first: [0; LANES],
            second: [0; LANES],
            weight: [0.0; LANES],
            between: 0,
            linear: 0,
        };
        let base = texture.base_level;
        let last = texture.last_level - base;
        for lane in 0..LANES {
            // The order makes NaN the lower limit.
            let lod = lod[lane].max(filter.lod.0).min(filter.lod.1);
            let linear = if lod > 0.0 {
                filter.min_linear
            } else {
                filter.mag_linear
            };
            levels.linear |= u64::from(linear) << lane;
            let limited = lod.max(0.0).min(last as f32);
            let (first, weight) = match filter.mip {
                MipFilter::None => (0, 0.0),
                MipFilter::Point => ((limited + 0.5) as u32, 0.0),
                MipFilter::Linear => (limited as u32, limited - (limited as u32) as f32),
            };
            let first = first.min(last);
            levels.first[lane] = (base + first) as u8;
            levels.second[lane] = (base + (first + 1).min(last)) as u8;
            // Eight fraction bits, as coordinates have.
            let weight = (weight * 256.0 + 0.5) as u32 as f32 / 256.0;
            levels.weight[lane] = weight;
            let mixes = weight > 0.0 && first < last && !texture.is_integer();
            levels.between |= u64::from(mixes) << lane;
        }
        levels
    }

    /// Calls `f(level, linear, lanes)` for each combination of level and filter in `mask`.
    fn each_group(&self, mask: Mask, of: &[u8; LANES], mut f: impl FnMut(u32, bool, Mask)) {
        let mut left = mask;
        while left != 0 {
            let lead = left.trailing_zeros() as usize & 63;
            let mut same = 0;
            for (lane, &level) in of.iter().enumerate() {
                same |= u64::from(level == of[lead]) << lane;
            }
            let linear = self.linear >> lead & 1 == 1;
            same &= left & if linear { self.linear } else { !self.linear };
            f(u32::from(of[lead]), linear, same);
            left &= !same;
        }
    }
}

#[cfg(test)]
mod tests;
