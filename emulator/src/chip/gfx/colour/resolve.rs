// SPDX-License-Identifier: MIT
//! Resolves: a target becomes the average of another one's samples.

use pulp::{Simd, WithSimd};

use super::general::{merge, read, update};
use super::pack::{Packing, Raw};
use super::packed::{self, Mode};
use super::{Target, Targets};
use crate::chip::bus::McError;
use crate::chip::gfx::format::Endian;
use crate::chip::gfx::lanes::{Mask, ALL, LANES};
use crate::chip::gfx::memory::View;
use crate::chip::gfx::surface::{rows_of, At};

impl Targets {
    /// Averages the samples of target 0 in a micro tile and writes the pixels of
    /// `mask` to target 1. Of integers it takes sample 0. It averages sRGB in
    /// linear light.
    ///
    /// # Errors
    /// As [`Self::write_tile`].
    pub fn resolve_tile(&self, view: &View<'_>, at: At, mask: Mask) -> Result<(), McError> {
        let (Some(from), Some(to)) = (self.get(0), self.get(1)) else {
            return Ok(());
        };
        from.expand(view, at)?;
        to.expand(view, at)?;
        let samples = if from.number().is_integer() {
            1
        } else {
            from.samples()
        };
        if let (Some(source), Some(packed)) = (from.packing.bytes_of_word(), &to.packed) {
            if samples > 1 && from.endian == Endian::None && packed.mode == Mode::Copy {
                let shifts = [source, packed.shift];
                return self.resolve_packed(view, from, to, shifts, at, mask);
            }
        }
        let mut planes = [[[0; LANES]; 4]; 8];
        let mut data = [0; 64 * 16];
        for sample in 0..samples {
            read(
                from,
                view,
                at.sample(sample),
                mask,
                &mut data,
                &mut planes[sample as usize & 7],
            )?;
        }
        let average = self.arch.dispatch(Average {
            from: from.packing,
            to: to.packing,
            planes: &planes[..samples.clamp(1, 8) as usize],
        });
        let bits = to.packing.mask(to.write_mask);
        update(to, view, at.sample(0), mask, to.kept != [0; 4], |old| {
            merge(old, &average, bits, mask)
        })
    }

    /// [`Self::resolve_tile`] on the fast path. The components of `from` and `to` begin at bits
    /// `shifts`.
    fn resolve_packed(
        &self,
        view: &View<'_>,
        from: &Target,
        to: &Target,
        shifts: [[u32; 4]; 2],
        at: At,
        mask: Mask,
    ) -> Result<(), McError> {
        if mask == 0 {
            return Ok(());
        }
        const TILE: usize = packed::TILE_BYTES;
        let rows = rows_of(mask);
        let layout = &from.surface.layout;
        let samples = from.samples().clamp(1, 8);
        let mut planes = [[0; TILE]; 8];
        let planes = &mut planes[..samples as usize];
        for (sample, plane) in (0..samples).zip(planes.iter_mut()) {
            // The next tile's samples, which are far apart, arrive while this tile is averaged.
            let next = At {
                x: at.x.saturating_add(1),
                ..at
            };
            (from.surface).prefetch_tile(view, &from.place(next.sample(sample)));
            let place = from.place(at.sample(sample));
            from.surface.read_tile(view, &place, rows, plane)?;
        }
        let to_layout = &to.surface.layout;
        let place = to.place(at.sample(0));
        let mut data = [0; TILE];
        if mask != ALL || to.kept[0] != 0 {
            to.surface.read_tile(view, &place, rows, &mut data)?;
        }
        self.arch.dispatch(packed::Average {
            planes,
            from: shifts[0],
            to: shifts[1],
            orders: [layout, to_layout].map(|layout| (layout.is_word_order(), layout.lanes())),
            kept: to.kept[0],
            mask,
            data: &mut data,
        });
        to.surface.write_tile(view, &place, rows, &data)
    }
}

/// Averages a tile's samples.
struct Average<'a> {
    from: Packing,
    to: Packing,
    planes: &'a [Raw],
}

impl WithSimd for Average<'_> {
    type Output = Raw;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _simd: S) -> Raw {
        if self.from.number.is_integer() {
            return self.planes[0];
        }
        let mut sum = [[0.0; LANES]; 4];
        for plane in self.planes {
            let colour = self.from.unpack(plane);
            for (sum, colour) in sum.iter_mut().zip(&colour) {
                for (sum, colour) in sum.iter_mut().zip(colour) {
                    *sum += colour;
                }
            }
        }
        let scale = 1.0 / self.planes.len() as f32;
        let colour = sum.map(|c| c.map(|v| (v * scale).to_bits()));
        let mut out = [[0; LANES]; 4];
        self.to.pack(&colour, &mut out);
        out
    }
}
