// SPDX-License-Identifier: MIT
//! Tiles of any format: their elements are loaded into lanes, changed and stored.

use pulp::{Simd, WithSimd};

use super::pack::{load, store, Raw};
use super::Target;
use crate::chip::bus::McError;
use crate::chip::gfx::format::Endian;
use crate::chip::gfx::lanes::{Lanes, Mask, ALL, LANES};
use crate::chip::gfx::memory::View;
use crate::chip::gfx::surface::{rows_of, At};

/// Reads one sample of a tile into lanes.
pub(super) fn read(
    target: &Target,
    view: &View<'_>,
    at: At,
    mask: Mask,
    data: &mut [u8; 64 * 16],
    raw: &mut Raw,
) -> Result<(), McError> {
    let bytes = target.packing.bytes();
    let data = &mut data[..bytes * LANES];
    (target.surface).read_tile(view, &target.place(at), rows_of(mask), data)?;
    swap_bytes(target, data);
    load(data, bytes, target.surface.layout.lanes(), raw);
    Ok(())
}

/// Replaces one sample of a tile by `change` of it. Reads it first only if
/// `keep` is set or `mask` lacks pixels; else `change` gets zeroes.
pub(super) fn update(
    target: &Target,
    view: &View<'_>,
    at: At,
    mask: Mask,
    keep: bool,
    change: impl FnOnce(&Raw) -> Raw,
) -> Result<(), McError> {
    if mask == 0 {
        return Ok(());
    }
    let mut data = [0; 64 * 16];
    let mut old = [[0; LANES]; 4];
    if keep || mask != ALL {
        read(target, view, at, mask, &mut data, &mut old)?;
    }
    let new = change(&old);
    let bytes = target.packing.bytes();
    let data = &mut data[..bytes * LANES];
    store(&new, bytes, target.surface.layout.lanes(), data);
    swap_bytes(target, data);
    (target.surface).write_tile(view, &target.place(at), rows_of(mask), data)
}

fn swap_bytes(target: &Target, data: &mut [u8]) {
    if target.endian != Endian::None {
        for element in data.chunks_exact_mut(target.packing.bytes().max(1)) {
            target.endian.apply(element);
        }
    }
}

/// Takes `new` in the bits of `bits` and the lanes of `mask`, else `old`.
#[inline(always)]
pub(super) fn merge(old: &Raw, new: &Raw, bits: [u32; 4], mask: Mask) -> Raw {
    let mut out = *old;
    if mask == ALL {
        for (word, out) in out.iter_mut().enumerate() {
            for (out, new) in out.iter_mut().zip(&new[word]) {
                *out = *out & !bits[word] | new & bits[word];
            }
        }
        return out;
    }
    let mut lanes = [0; LANES];
    for (lane, bits) in lanes.iter_mut().enumerate() {
        *bits = 0u32.wrapping_sub((mask >> lane) as u32 & 1);
    }
    for (word, out) in out.iter_mut().enumerate() {
        for (lane, out) in out.iter_mut().enumerate() {
            let bits = bits[word] & lanes[lane];
            *out = *out & !bits | new[word][lane] & bits;
        }
    }
    out
}

/// Merges colours into one tile: blending, logic operation, masks.
pub(super) struct Merge<'a> {
    pub(super) target: &'a Target,
    pub(super) old: &'a Raw,
    pub(super) src: &'a [&'a Lanes; 4],
    pub(super) src1: Option<&'a [&'a Lanes; 4]>,
    pub(super) mask: Mask,
}

impl WithSimd for Merge<'_> {
    type Output = Raw;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _simd: S) -> Raw {
        let target = self.target;
        let floats = |lanes: &[&Lanes; 4]| lanes.map(|c| c.map(f32::from_bits));
        let mut new = [[0; LANES]; 4];
        if let Some(blend) = &target.blend {
            let mut colour = floats(self.src);
            let second = self.src1.map(floats);
            let mut dst = target.packing.unpack(self.old);
            if target.opaque {
                dst[3] = [1.0; LANES];
            }
            blend.apply(&mut colour, second.as_ref(), &dst);
            let colour = colour.map(|c| c.map(f32::to_bits));
            target.packing.pack(&colour, &mut new);
        } else {
            target.packing.pack(&self.src.map(|c| *c), &mut new);
        }
        if let Some(logic) = target.logic {
            for (new, old) in new.iter_mut().zip(self.old) {
                for (new, old) in new.iter_mut().zip(old) {
                    *new = logic.apply(*new, *old);
                }
            }
        }
        // Bits that no component uses become 0: `pack()` sets them so.
        let kept = target.kept;
        merge(self.old, &new, kept.map(|bits| !bits), self.mask)
    }
}
