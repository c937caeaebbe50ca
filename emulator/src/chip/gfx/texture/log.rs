// SPDX-License-Identifier: MIT
//! The texels that a fetch reads for one lane, for a [`tape`](crate::chip::gfx::shader::tape).

use super::{Sampler, Unit};
use crate::chip::gfx::lanes::{Lanes, LANES};
use crate::chip::gfx::memory::View;
use crate::chip::gfx::shader::isa::{tex, TexInstruction};
use crate::chip::gfx::shader::tape::Texel;

/// A texel that the general path has read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TexelRead {
    /// Mip level, slice and sample.
    pub place: [u32; 3],
    /// Column and row.
    pub at: [u32; 2],
    /// Before the swizzle.
    pub value: [u32; 4],
}

impl Unit {
    /// Executes `op` once more for `lane` alone and returns the texels that it reads, in order.
    /// Their level of detail depends on the whole quad, as `src` has all lanes. Takes the general
    /// path, which gives the same bits as the fast one. Changes nothing but the cache.
    pub fn texels_of(
        &mut self,
        view: &View<'_>,
        op: &TexInstruction,
        resource: &[u32; 8],
        sampler: &Sampler,
        src: &[&Lanes; 4],
        lane: usize,
    ) -> Vec<Texel> {
        let reads = matches!(op.opcode, tex::LD | tex::SAMPLE..=tex::SAMPLE_C_G_LZ)
            || matches!(op.opcode, tex::GATHER4..=tex::GATHER4_C_O);
        let binding = self.binding(resource, sampler);
        let Some((index, _)) = binding.texture.filter(|_| reads) else {
            return Vec::new();
        };
        let texture = self.cache.textures[index].0.clone();
        let general = std::mem::replace(&mut self.general, true);
        self.cache.log = Some(Vec::new());
        let mut out = [[0; LANES]; 4];
        self.execute(view, op, &binding, src, 1 << (lane % LANES), &mut out);
        self.general = general;
        let log = self.cache.log.take().unwrap_or_default();
        let (columns, rows) = texture.format.data.texels();
        let texel = |read: &TexelRead| {
            let ([level, slice, sample], [x, y]) = (read.place, read.at);
            let surface = texture.level(level)?.surface;
            let (column, row) = (x / columns, y / rows);
            let offset = (surface.layout).sample_offset(column, row, slice, sample);
            Some(Texel {
                level,
                slice,
                sample,
                x,
                y,
                address: surface.base.wrapping_add(offset),
                value: read.value,
            })
        };
        log.iter().filter_map(texel).collect()
    }
}
