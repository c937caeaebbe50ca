// SPDX-License-Identifier: MIT
//! Unfiltered squares of 8x8 texels, for copies.

use std::sync::Arc;

use super::cache::BlockId;
use super::resource::{Dim, Texture};
use super::{one_way, Sampler, Unit};
use crate::chip::gfx::memory::View;
use crate::chip::gfx::shader::isa::{tex, TexInstruction};
use crate::chip::gfx::surface::Surface;

/// A level of a 2D texture of 8-bit components, whose texels are fetched unfiltered.
#[derive(Debug)]
pub struct Source {
    texture: Arc<Texture>,
    id: u64,
    level: u32,
    size: [u32; 2],
}

impl Source {
    /// Width and height in texels.
    pub fn size(&self) -> [u32; 2] {
        self.size
    }

    /// The memory of the level and the slice that is fetched from, if texels are elements.
    pub fn surface(&self) -> Option<(&Surface, u32)> {
        let level = self.texture.level(self.level)?;
        Some((&level.surface, self.texture.layers.0))
    }

    /// The resource's swizzle: 0 to 3 select a byte of the texel, 4 is 0, 5 is 1.
    pub fn swizzle(&self) -> &[u8; 4] {
        &self.texture.swizzle
    }
}

impl Unit {
    /// The level from which `op` fetches, if its coordinates lie inside: `level` for `LD`, the base
    /// level for `SAMPLE`. None if `op` filters or compares, or if texels are not 8-bit components.
    pub fn source(
        &mut self,
        op: &TexInstruction,
        resource: &[u32; 8],
        sampler: &Sampler,
        level: u32,
    ) -> Option<Source> {
        let index = self.texture(resource)?;
        let (texture, id) = self.cache.textures.get(index)?.clone();
        if !texture.packed || texture.dim != Dim::D2 || self.general {
            return None;
        }
        let filter = (self.front.sampler)(sampler);
        let level = match op.opcode {
            tex::LD if level <= texture.last_level => {
                (texture.base_level + level).min(texture.last_level)
            }
            tex::SAMPLE if one_way(&texture, &filter) && !filter.mag_linear => texture.base_level,
            _ => return None,
        };
        let size = texture.level(level).map(|l| [l.width, l.height])?;
        Some(Source {
            texture,
            id,
            level,
            size,
        })
    }

    /// The 8x8 texels from (`x`, `y`) on, row by row. All must be inside the texture.
    pub fn texels(
        &mut self,
        view: &View<'_>,
        source: &Source,
        x: u32,
        y: u32,
        out: &mut [u32; 64],
    ) {
        let [right, down] = [x % 8, y % 8].map(|v| v as usize);
        for (row, rows) in [(0, down..8), (1, 0..down)] {
            for (column, columns) in [(0, right..8), (1, 0..right)] {
                if rows.is_empty() || columns.is_empty() {
                    continue;
                }
                let block = BlockId {
                    level: source.level,
                    slice: source.texture.layers.0,
                    sample: 0,
                    x: x / 8 + column as u32,
                    y: y / 8 + row as u32,
                };
                let set = self.cache.block(view, &source.texture, source.id, block);
                let texels = &self.cache.packed[set * 64..set * 64 + 64];
                if columns.len() * rows.len() == 64 {
                    out.copy_from_slice(texels);
                    return;
                }
                let (left, top) = (column * (8 - right), row * (8 - down));
                let to = out[top * 8..].chunks_exact_mut(8);
                for (to, from) in to.zip(texels[rows.start * 8..rows.end * 8].chunks_exact(8)) {
                    to[left..left + columns.len()].copy_from_slice(&from[columns.clone()]);
                }
            }
        }
    }
}
