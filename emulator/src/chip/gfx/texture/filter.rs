// SPDX-License-Identifier: MIT
//! The general path of texture fetches: filters the texels of one mip level.

use pulp::{Arch, Simd, WithSimd};

use super::address::{axis, Axis, Coord, CubePoint};
use super::border::border;
use super::cache::{is_fixed_depth, BlockId, Cache, TEXELS};
use super::log::TexelRead;
use super::resource::{Dim, Level, Texture};
use super::sampler::{compare, Filter, Wrap};
use crate::chip::gfx::lanes::{iter, Lanes, Mask, LANES};
use crate::chip::gfx::memory::View;

/// Arguments of a sample instruction for one level.
#[derive(Clone, Copy)]
pub struct Request<'a> {
    /// The texture.
    pub texture: &'a Texture,
    /// Its number for [`Cache::block`].
    pub id: u64,
    /// The sampler's fields.
    pub filter: &'a Filter,
    /// Mip level.
    pub level: u32,
    /// Bilinear (and linear along z), else the nearest texel.
    pub linear: bool,
    /// Coordinates: s, t and r (or layer, or face).
    pub coord: &'a [Coord; 3],
    /// Coordinates are in 0..1 rather than in texels.
    pub normalized: [bool; 3],
    /// Offsets in half texels.
    pub offset: [i32; 3],
    /// Reference values, if the instruction compares.
    pub reference: Option<&'a Coord>,
    /// Faces of a cube are filtered across their edges.
    pub seamless: bool,
    /// Lanes that get a result.
    pub mask: Mask,
}

/// Texels of one corner of the filter.
struct Corner<'a> {
    x: &'a [i32; LANES],
    y: &'a [i32; LANES],
    slice: &'a [u32; LANES],
    border: Mask,
    weight: Coord,
}

/// Writes the results of the lanes of `request.mask` to `out`: components after
/// the resource's swizzle.
pub fn level(
    cache: &mut Cache,
    view: &View<'_>,
    arch: Arch,
    request: &Request<'_>,
    out: &mut [Lanes; 4],
) {
    let texture = request.texture;
    let Some(level) = texture.level(request.level) else {
        return;
    };
    let linear = request.linear && !texture.is_integer();
    let mut axes = [Axis::flat(), Axis::flat()];
    let planes = Planes::new(request, level, linear);
    let cube = texture.dim == Dim::Cube;
    arch.dispatch(FindTexels {
        request,
        level,
        linear,
        axes: &mut axes,
    });
    let wrapped = cube && linear && request.seamless;
    if wrapped {
        return cube_seamless(cache, view, request, level, out);
    }
    let borders = (axes[0].border[0] | axes[0].border[1] | axes[1].border[0] | axes[1].border[1])
        & request.mask;
    let plain = borders == 0 && request.reference.is_none() && planes.second.is_none();
    if texture.packed && plain && planes.borders & request.mask == 0 {
        let patch = arch.dispatch(FindPatch {
            axes: &axes,
            mask: request.mask,
            slices: &planes.first,
        });
        // Both compute the same bits: a texel's do not depend on where the others of the wave are.
        let colour = match patch.filter(|_| cache.log.is_none()) {
            Some(patch) => {
                let sets = patch.load(cache, view, request);
                arch.dispatch(Bilinear {
                    texels: &cache.packed,
                    sets: &sets,
                    patch: &patch,
                    axes: &axes,
                    linear,
                })
            }
            None => scattered(cache, view, request, &axes, &planes.first, linear),
        };
        return put(texture, &colour, request.mask, out);
    }
    let mut sum = [[0.0; LANES]; 4];
    let mut nearest = [[0; LANES]; 4];
    let corners: &[(usize, usize)] = match (linear, texture.dim.is_1d()) {
        (false, _) => &[(0, 0)],
        (true, true) => &[(0, 0), (1, 0)],
        (true, false) => &[(0, 0), (1, 0), (0, 1), (1, 1)],
    };
    for (plane, (slice, plane_weight, plane_border)) in planes.iter().enumerate() {
        for &(i, j) in corners {
            let x = if i == 0 {
                &axes[0].first
            } else {
                &axes[0].second
            };
            let y = if j == 0 {
                &axes[1].first
            } else {
                &axes[1].second
            };
            let mut weight = *plane_weight;
            if linear {
                for lane in 0..LANES {
                    let (wx, wy) = (axes[0].weight[lane], axes[1].weight[lane]);
                    weight[lane] *= if i == 0 { 1.0 - wx } else { wx };
                    weight[lane] *= if j == 0 { 1.0 - wy } else { wy };
                }
            }
            let corner = Corner {
                x,
                y,
                slice,
                border: axes[0].border[i] | axes[1].border[j] | plane_border,
                weight,
            };
            let single = !linear && planes.second.is_none();
            fetch(cache, view, request, &corner, &mut nearest);
            if single && plane == 0 {
                for lane in iter(request.mask) {
                    for c in 0..4 {
                        out[c][lane] = nearest[c][lane];
                    }
                }
                return;
            }
            accumulate(&nearest, &corner.weight, request.mask, &mut sum);
        }
    }
    for lane in iter(request.mask) {
        for c in 0..4 {
            out[c][lane] = sum[c][lane].to_bits();
        }
    }
}

/// Adds weighted texels to `sum`. A weight of zero adds nothing, even for infinity and NaN.
fn accumulate(texels: &[Lanes; 4], weight: &Coord, mask: Mask, sum: &mut [Coord; 4]) {
    for lane in iter(mask) {
        let weight = weight[lane];
        if weight != 0.0 {
            for c in 0..4 {
                sum[c][lane] += weight * f32::from_bits(texels[c][lane]);
            }
        }
    }
}

/// Finds the axes of the filter, compiled for several instruction sets.
pub(super) struct FindTexels<'a> {
    pub(super) request: &'a Request<'a>,
    pub(super) level: &'a Level,
    pub(super) linear: bool,
    pub(super) axes: &'a mut [Axis; 2],
}

impl WithSimd for FindTexels<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _simd: S) {
        let request = self.request;
        let cube = request.texture.dim == Dim::Cube;
        let sizes = [self.level.width, self.level.height];
        for (i, axis_out) in self.axes.iter_mut().enumerate() {
            if i == 1 && request.texture.dim.is_1d() {
                continue;
            }
            // Shaders scale the results of CUBE to 1..2.
            let shift = if cube { 1.0 } else { 0.0 };
            let coord = |lane: usize| request.coord[i][lane] - shift;
            let wrap = if cube {
                Wrap::ClampLastTexel
            } else {
                request.filter.wrap[i]
            };
            axis(
                wrap,
                sizes[i],
                coord,
                request.normalized[i],
                request.offset[i],
                self.linear,
                axis_out,
            );
        }
    }
}

/// The slices that each lane reads: one, or two of a 3D texture with a linear filter.
pub(super) struct Planes {
    pub(super) first: Lanes,
    first_weight: Coord,
    first_border: Mask,
    second: Option<(Lanes, Coord, Mask)>,
    borders: Mask,
}

impl Planes {
    pub(super) fn new(request: &Request<'_>, level: &Level, linear: bool) -> Self {
        let texture = request.texture;
        let coord = &request.coord[2];
        let (base, last) = texture.layers;
        let mut planes = Self {
            first: [0; LANES],
            first_weight: [1.0; LANES],
            first_border: 0,
            second: None,
            borders: 0,
        };
        match texture.dim {
            Dim::D3 => {
                let mut z = Axis::flat();
                let linear = linear && !request.filter.z_point;
                let wrap = request.filter.wrap[2];
                let offset = request.offset[2];
                axis(
                    wrap,
                    level.depth,
                    |lane| coord[lane],
                    request.normalized[2],
                    offset,
                    linear,
                    &mut z,
                );
                planes.first = z.first.map(|i| i as u32);
                planes.first_border = z.border[0];
                planes.borders = z.border[0] | z.border[1];
                if linear {
                    planes.first_weight = z.weight.map(|w| 1.0 - w);
                    planes.second = Some((z.second.map(|i| i as u32), z.weight, z.border[1]));
                }
            }
            Dim::Cube => {
                planes.first = coord.map(|face| cube_slice(texture, face));
            }
            dim if dim.is_array() => {
                planes.first = coord.map(|layer| layer_of(layer, base, last));
            }
            _ => planes.first = [base; LANES],
        }
        planes
    }

    fn iter(&self) -> impl Iterator<Item = (&Lanes, &Coord, Mask)> {
        let first = (&self.first, &self.first_weight, self.first_border);
        let second = self.second.as_ref().map(|(s, w, b)| (s, w, *b));
        std::iter::once(first).chain(second)
    }
}

/// The slice of a cube map's face: `face`, or of an array (Evergreen) eight times the cube's number
/// and the face (Mesa's `r600_nir_lower_cube_to_2darray_impl()`). A cube behind the last one is the
/// last, with the face that was asked for: a real Turks passes dEQP-GLES31's
/// `texture.filtering.cube_array.sizes`, whose coordinates go there.
fn cube_slice(texture: &Texture, face: f32) -> u32 {
    let (base, last) = texture.layers;
    let seen = (last.saturating_sub(base) + 1) / 6;
    let cubes = texture.layer_count.min(seen).max(1);
    let number = (face.max(0.0) + 0.5).min((8 * 8192) as f32) as u32;
    let cube = (number >> 3).min(cubes - 1);
    base.saturating_add(6 * cube + (number & 7).min(5))
}

/// The slice of array layer `layer`, rounded to nearest and clamped to the view.
pub fn layer_of(layer: f32, base: u32, last: u32) -> u32 {
    let layer = (layer.max(0.0) + 0.5).min(8192.0) as u32;
    base.saturating_add(layer).min(last.max(base))
}

/// The square of at most 4x4 blocks in which all texels of a wave lie.
struct Patch {
    x: i32,
    y: i32,
    slice: u32,
    needed: u16,
}

/// Finds the [`Patch`] of a wave; `slices` has the slice of each lane.
struct FindPatch<'a> {
    axes: &'a [Axis; 2],
    mask: Mask,
    slices: &'a Lanes,
}

impl WithSimd for FindPatch<'_> {
    type Output = Option<Patch>;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _simd: S) -> Option<Patch> {
        if self.mask == 0 {
            return None;
        }
        // Lanes outside the mask count with the texels of the first lane in it.
        let lead = self.mask.trailing_zeros() as usize & 63;
        let slice = self.slices[lead];
        let mut active = [0i32; LANES];
        for (lane, active) in active.iter_mut().enumerate() {
            *active = -((self.mask >> lane & 1) as i32);
        }
        let mut differs = 0;
        for lane in 0..LANES {
            differs |= (self.slices[lane] ^ slice) & active[lane] as u32;
        }
        if differs != 0 {
            return None;
        }
        let blocks = |index: &[i32; LANES]| {
            let own = index[lead];
            let mut out = [0; LANES];
            for lane in 0..LANES {
                out[lane] = (index[lane] & active[lane] | own & !active[lane]) >> 3;
            }
            out
        };
        let [x, y] = self.axes;
        let (x0, x1) = (blocks(&x.first), blocks(&x.second));
        let (y0, y1) = (blocks(&y.first), blocks(&y.second));
        let bounds = |a: &[i32; LANES], b: &[i32; LANES]| {
            let (mut low, mut high) = (i32::MAX, 0);
            for lane in 0..LANES {
                low = low.min(a[lane]).min(b[lane]);
                high = high.max(a[lane]).max(b[lane]);
            }
            (low, high)
        };
        let (left, right) = bounds(&x0, &x1);
        let (top, bottom) = bounds(&y0, &y1);
        if right - left > 3 || bottom - top > 3 {
            return None;
        }
        let mut needed = 0u32;
        for lane in 0..LANES {
            let (x0, x1) = ((x0[lane] - left) & 3, (x1[lane] - left) & 3);
            let (y0, y1) = (((y0[lane] - top) & 3) * 4, ((y1[lane] - top) & 3) * 4);
            needed |= 1 << (x0 + y0) | 1 << (x1 + y0) | 1 << (x0 + y1) | 1 << (x1 + y1);
        }
        Some(Patch {
            x: left,
            y: top,
            slice,
            needed: needed as u16,
        })
    }
}

impl Patch {
    /// Loads the needed blocks. Returns the index in the cache of each block's first texel.
    fn load(&self, cache: &mut Cache, view: &View<'_>, request: &Request<'_>) -> [u32; 16] {
        std::array::from_fn(|i| {
            if self.needed & (1 << i) == 0 {
                return 0;
            }
            let block = BlockId {
                level: request.level,
                slice: self.slice,
                sample: 0,
                x: self.x as u32 + i as u32 % 4,
                y: self.y as u32 + i as u32 / 4,
            };
            let set = cache.block(view, request.texture, request.id, block);
            (set * 64) as u32
        })
    }
}

/// Bilinear filter over packed texels of one patch. Without `linear` it takes
/// the first texel of each axis.
struct Bilinear<'a> {
    texels: &'a [u32; TEXELS],
    sets: &'a [u32; 16],
    patch: &'a Patch,
    axes: &'a [Axis; 2],
    linear: bool,
}

impl WithSimd for Bilinear<'_> {
    type Output = [Coord; 4];

    #[inline(always)]
    fn with_simd<S: Simd>(self, _simd: S) -> [Coord; 4] {
        let Self {
            texels,
            sets,
            patch,
            axes,
            linear,
        } = self;
        let mut corners = [[0u32; LANES]; 4];
        // Splits the texel numbers of an axis into block and texel within it.
        let split = |index: &[i32; LANES], origin: i32| {
            let mut parts = [0u32; LANES];
            for lane in 0..LANES {
                let v = index[lane];
                let block = ((v >> 3).wrapping_sub(origin) & 3) as u32;
                parts[lane] = block << 8 | (v & 7) as u32;
            }
            parts
        };
        // The block is in bits 9:8, the texel in bits 2:0.
        let x = [
            split(&axes[0].first, patch.x),
            split(&axes[0].second, patch.x),
        ];
        let y = [
            split(&axes[1].first, patch.y),
            split(&axes[1].second, patch.y),
        ];
        let count = if linear { 4 } else { 1 };
        for (corner, out) in corners.iter_mut().enumerate().take(count) {
            let (x, y) = (&x[corner & 1], &y[corner >> 1]);
            for lane in 0..LANES {
                let (x, y) = (x[lane], y[lane]);
                let block = (x >> 8 | y >> 8 << 2) & 15;
                let texel = (y & 7) << 3 | x & 7;
                let at = (sets[block as usize] + texel) as usize & (TEXELS - 1);
                out[lane] = texels[at];
            }
        }
        let mut colour = [[0.0; LANES]; 4];
        for (c, out) in colour.iter_mut().enumerate() {
            let shift = 8 * c as u32;
            if !linear {
                for lane in 0..LANES {
                    out[lane] = (corners[0][lane] >> shift & 0xFF) as i32 as f32 / 255.0;
                }
                continue;
            }
            for lane in 0..LANES {
                let t = |corner: usize| (corners[corner][lane] >> shift & 0xFF) as i32 as f32;
                let (wx, wy) = (axes[0].weight[lane], axes[1].weight[lane]);
                let top = t(0) + (t(1) - t(0)) * wx;
                let bottom = t(2) + (t(3) - t(2)) * wx;
                out[lane] = (top + (bottom - top) * wy) * (1.0 / 255.0);
            }
        }
        colour
    }
}

/// [`Bilinear`] of texels that are not in one patch, each from the cache.
fn scattered(
    cache: &mut Cache,
    view: &View<'_>,
    request: &Request<'_>,
    [x, y]: &[Axis; 2],
    slices: &Lanes,
    linear: bool,
) -> [Coord; 4] {
    let mut colour = [[0.0; LANES]; 4];
    for lane in iter(request.mask) {
        let weights = match linear {
            true => [x.weight[lane], y.weight[lane]],
            false => [0.0; 2],
        };
        // Texels as bytes, 0 to 255. Those without a weight are not read.
        let mut corners = [[0.0; 4]; 4];
        for (corner, bytes) in corners.iter_mut().enumerate() {
            let [right, below] = [corner & 1 != 0, corner & 2 != 0];
            if right && weights[0] == 0.0 || below && weights[1] == 0.0 {
                continue;
            }
            let column = if right { x.second[lane] } else { x.first[lane] };
            let row = if below { y.second[lane] } else { y.first[lane] };
            let (texture, level) = (request.texture, request.level);
            let (id, slice, at) = (request.id, slices[lane], (column as u32, row as u32));
            let values = texel(cache, view, texture, id, level, slice, 0, at.0, at.1);
            for (byte, value) in bytes.iter_mut().zip(values) {
                *byte = (f32::from_bits(value) * 255.0 + 0.5) as i32 as f32;
            }
        }
        for (c, out) in colour.iter_mut().enumerate() {
            let t = |corner: usize| corners[corner][c];
            out[lane] = if linear {
                let [wx, wy] = weights;
                let top = t(0) + (t(1) - t(0)) * wx;
                let bottom = t(2) + (t(3) - t(2)) * wx;
                (top + (bottom - top) * wy) * (1.0 / 255.0)
            } else {
                t(0) / 255.0
            };
        }
    }
    colour
}

/// Writes a colour to `out` after the texture's swizzle. The texture is no integer one.
fn put(texture: &Texture, colour: &[Coord; 4], mask: Mask, out: &mut [Lanes; 4]) {
    for (c, out) in out.iter_mut().enumerate() {
        let one = 1f32.to_bits();
        match texture.swizzle[c] {
            s @ 0..=3 => {
                let from = &colour[usize::from(s)];
                if mask == Mask::MAX {
                    *out = from.map(f32::to_bits);
                } else {
                    for lane in iter(mask) {
                        out[lane] = from[lane].to_bits();
                    }
                }
            }
            s => {
                let value = if s == 5 { one } else { 0 };
                for lane in iter(mask) {
                    out[lane] = value;
                }
            }
        }
    }
}

/// A texel after the swizzle.
pub(super) fn swizzled(texture: &Texture, texel: &[u32; 4]) -> [u32; 4] {
    texture.swizzle.map(|s| match s {
        0..=3 => texel[usize::from(s)],
        5 if texture.is_integer() => 1,
        5 => 1f32.to_bits(),
        _ => 0,
    })
}

/// The components of a packed texel, as floats.
fn unpacked(texel: u32) -> [u32; 4] {
    [0, 8, 16, 24].map(|shift| ((texel >> shift & 0xFF) as f32 / 255.0).to_bits())
}

/// A texel from the cache, before swizzle and comparison.
#[allow(clippy::too_many_arguments)]
pub fn texel(
    cache: &mut Cache,
    view: &View<'_>,
    texture: &Texture,
    id: u64,
    level: u32,
    slice: u32,
    sample: u32,
    x: u32,
    y: u32,
) -> [u32; 4] {
    let block = BlockId {
        level,
        slice,
        sample,
        x: x >> 3,
        y: y >> 3,
    };
    let set = cache.block(view, texture, id, block);
    let at = (set * 64 + ((y & 7) * 8 + (x & 7)) as usize) & (TEXELS - 1);
    let value = if texture.packed {
        unpacked(cache.packed[at])
    } else {
        cache.wide[at]
    };
    if let Some(log) = &mut cache.log {
        let (place, at) = ([level, slice, sample], [x, y]);
        log.push(TexelRead { place, at, value });
    }
    value
}

/// Compares a texel, if the instruction does, and swizzles the result.
pub fn finish(request: &Request<'_>, lane: usize, texel: &[u32; 4]) -> [u32; 4] {
    let Some(reference) = request.reference else {
        return swizzled(request.texture, texel);
    };
    let mut reference = reference[lane];
    if is_fixed_depth(request.texture.format.data) {
        reference = reference.clamp(0.0, 1.0);
    }
    let result = compare(request.filter.compare, reference, f32::from_bits(texel[0]));
    swizzled(request.texture, &[result.to_bits(); 4])
}

fn fetch(
    cache: &mut Cache,
    view: &View<'_>,
    request: &Request<'_>,
    corner: &Corner<'_>,
    out: &mut [Lanes; 4],
) {
    let level = request.level;
    for lane in iter(request.mask) {
        let value = if corner.border >> lane & 1 == 1 {
            border(request, lane)
        } else if corner.weight[lane] == 0.0 {
            continue;
        } else {
            let (x, y) = (corner.x[lane] as u32, corner.y[lane] as u32);
            let slice = corner.slice[lane];
            let texel = texel(
                cache,
                view,
                request.texture,
                request.id,
                level,
                slice,
                0,
                x,
                y,
            );
            finish(request, lane, &texel)
        };
        for c in 0..4 {
            out[c][lane] = value[c];
        }
    }
}

/// Where the filter is on a face of a cube map: its first texel along both axes, and the weights of
/// the second ones. The face has `n` by `n` texels; `half` is added to the coordinates, in texels.
pub(super) fn cube_point(
    request: &Request<'_>,
    lane: usize,
    n: f32,
    half: f32,
) -> ([f32; 2], [f32; 2]) {
    let point = [0, 1].map(|i| {
        let offset = request.offset[i] as f32 * 0.5 + half;
        let t = ((request.coord[i][lane] - 1.0) * n + offset).clamp(0.0, n) - 0.5;
        ((t * 256.0).round() / 256.0).max(-0.5)
    });
    let base = point.map(f32::floor);
    (base, [point[0] - base[0], point[1] - base[1]])
}

/// Texel `corner` (0 or 1 along x and y) of the filter of `lane` on a cube map, which may be on
/// another face; `base` is of [`cube_point`]. None at a corner of the cube, where three faces meet.
pub(super) fn cube_corner(
    cache: &mut Cache,
    view: &View<'_>,
    request: &Request<'_>,
    lane: usize,
    base: [f32; 2],
    corner: (usize, usize),
) -> Option<[u32; 4]> {
    let texture = request.texture;
    let size = texture.level(request.level)?.width.max(1);
    let n = size as f32;
    let slice = cube_slice(texture, request.coord[2][lane]);
    let of_face = slice.saturating_sub(texture.layers.0);
    // The cube of an array, and the face.
    let (first, face) = (slice - of_face % 6, of_face % 6);
    let (x, y) = (base[0] + corner.0 as f32, base[1] + corner.1 as f32);
    let (in_x, in_y) = ((0.0..n).contains(&x), (0.0..n).contains(&y));
    if !in_x && !in_y {
        return None;
    }
    let mut at = CubePoint {
        face,
        s: (x + 0.5) / n,
        t: (y + 0.5) / n,
    };
    if !in_x || !in_y {
        at = CubePoint::of(at.direction());
    }
    let place = |v: f32| ((v * n).max(0.0) as u32).min(size - 1);
    let (x, y) = (place(at.s), place(at.t));
    let (slice, level) = (first + at.face, request.level);
    Some(texel(
        cache, view, texture, request.id, level, slice, 0, x, y,
    ))
}

/// Bilinear filtering of a cube map across the edges of its faces. At a corner,
/// where three faces meet, the missing fourth texel is the average of the other
/// three (OpenGL 3.3, section 3.8.7).
fn cube_seamless(
    cache: &mut Cache,
    view: &View<'_>,
    request: &Request<'_>,
    level: &Level,
    out: &mut [Lanes; 4],
) {
    let n = level.width.max(1) as f32;
    for lane in iter(request.mask) {
        let (base, weight) = cube_point(request, lane, n, 0.0);
        let (mut sum, mut missing) = ([0.0; 4], 0.0);
        let (mut plain, mut count) = ([0.0; 4], 0.0);
        for (i, j) in [(0, 0), (1, 0), (0, 1), (1, 1)] {
            let wx = if i == 0 { 1.0 - weight[0] } else { weight[0] };
            let wy = if j == 0 { 1.0 - weight[1] } else { weight[1] };
            let Some(raw) = cube_corner(cache, view, request, lane, base, (i, j)) else {
                missing += wx * wy;
                continue;
            };
            let value = finish(request, lane, &raw).map(f32::from_bits);
            for c in 0..4 {
                sum[c] += value[c] * wx * wy;
                plain[c] += value[c];
            }
            count += 1.0;
        }
        for c in 0..4 {
            let average = if missing > 0.0 { plain[c] / count } else { 0.0 };
            out[c][lane] = (sum[c] + missing * average).to_bits();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chip::tiling::TilingConfig;

    /// A cube map of 8_8_8_8, whose array has `count` cubes, seen from layer `first` to `last`.
    fn cubes(count: u32, first: u32, last: u32) -> Texture {
        let words = [
            1 | 2 << 3 | 7 << 8 | 63 << 19,
            63 | 0x1A << 26,
            0,
            0,
            1 << 8 | 0o3210 << 16,
            0,
            2 << 30,
            0,
        ];
        let texture = Texture::decode(&words, TilingConfig::from_register(1 << 1 | 1 << 4));
        Texture {
            dim: Dim::Cube,
            layers: (first, last),
            layer_count: count,
            ..texture.unwrap()
        }
    }

    #[test]
    fn a_cube_behind_the_last_one_keeps_its_face() {
        let array = cubes(4, 0, 23);
        let slice = |cube: f32, face: f32| cube_slice(&array, 8.0 * cube + face);
        assert_eq!((slice(0.0, 0.0), slice(0.0, 5.0)), (0, 5));
        assert_eq!((slice(3.0, 2.0), slice(3.0, 5.0)), (20, 23));
        assert_eq!((slice(4.0, 2.0), slice(9.0, 1.0)), (20, 19));
        assert_eq!((slice(-1.0, 2.0), cube_slice(&array, f32::NAN)), (0, 0));
        assert_eq!(cube_slice(&array, f32::INFINITY), 18);
    }

    #[test]
    fn a_view_of_some_cubes_ends_with_its_last_layer() {
        let view = cubes(4, 6, 17);
        assert_eq!(cube_slice(&view, 8.0 + 3.0), 15);
        assert_eq!(cube_slice(&view, 16.0 + 3.0), 15);
        // Of a single cube the chip has no last layer.
        let single = cubes(1, 0, 0);
        assert_eq!(cube_slice(&single, 4.0), 4);
        assert_eq!(cube_slice(&single, 12.0), 4);
    }
}
