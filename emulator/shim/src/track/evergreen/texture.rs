// SPDX-License-Identifier: MIT
//! Whether textures are within their BOs.
//!
//! Source: `evergreen_cs_track_validate_texture()` in `evergreen_cs.c` of Linux 6.12.

use super::super::broken::{Broken, Rule};
use super::super::surface::{block, field, round_up, TILED_1D, TILED_2D};
use super::surface::{within, Macro, Surface};
use crate::checker::Reloc;
use crate::track::Tiling;

/// `SQ_TEX_DIM_3D`, and `SQ_TEX_DIM_2D_MSAA`, after which is only `SQ_TEX_DIM_2D_ARRAY_MSAA`.
const DIM_3D: u32 = 2;
const DIM_2D_MSAA: u32 = 6;

/// Width and height of a format's blocks in texels, and their bytes. None for formats that a chip does
/// not have.
fn blocks(format: u32) -> Option<(u32, u32, u32)> {
    match format {
        // BC6, BC7
        0x36 | 0x37 => Some((4, 4, 16)),
        // FMT_32_AS_32_32_32_32
        0x38 => Some((1, 1, 4)),
        _ => block(format),
    }
}

/// Whether a resource with that first word has samples.
pub(crate) fn is_multisampled(word: u32) -> bool {
    field(word, 0, 3) >= DIM_2D_MSAA
}

/// Whether a resource has a BO of mipmaps. Of a multisampled texture that is the one of FMASK, if there
/// is any.
pub(crate) fn has_mipmap(words: &[u32; 8], next_is_nop: bool) -> bool {
    words[3] != 0 || !is_multisampled(words[0]) || next_is_nop
}

/// An extent of a mipmap's level.
fn minify(size: u32, level: u32) -> u32 {
    (size >> level).max(1).next_power_of_two()
}

/// Checks a texture's resource at `register`, whose addresses in words 2 and 3 are offsets in the BOs.
///
/// # Errors
/// Why the kernel refuses it.
pub(crate) fn check(
    tiling: &Tiling,
    register: u32,
    words: &[u32; 8],
    texture: Reloc,
    mipmap: Option<Reloc>,
) -> Result<(), Broken> {
    let of = |what| {
        move |rule| Broken {
            register,
            what,
            rule,
        }
    };
    let broken = of("a texture");
    let format = field(words[7], 0, 6);
    let dim = field(words[0], 0, 3);
    let (width, height) = (field(words[0], 18, 14) + 1, field(words[1], 0, 14) + 1);
    let layers = field(words[5], 17, 13) + 1;
    let is_3d = dim == DIM_3D;
    let depth = if is_3d {
        field(words[1], 14, 13) + 1
    } else {
        1
    };
    let (samples, last_level) = match field(words[5], 0, 4) {
        log_samples if is_multisampled(words[0]) => (1 << log_samples, 0),
        last_level => (1, last_level),
    };
    let (block_width, block_height, bytes) = blocks(format).ok_or(broken(Rule::Format(format)))?;
    let mut surface = Surface {
        pitch: ((field(words[0], 6, 12) + 1) * 8).div_ceil(block_width),
        height: height.div_ceil(block_height),
        mode: field(words[1], 28, 4),
        bytes,
        samples,
        tiles: Macro {
            banks: field(words[7], 16, 2),
            bank_width: field(words[7], 8, 2),
            bank_height: field(words[7], 10, 2),
            aspect: field(words[7], 6, 2),
            split: field(words[6], 29, 3),
        },
    };
    surface.check_mode().map_err(broken)?;
    surface.height = round_up(surface.height, surface.layout(tiling).height);
    let mut layout = surface.check(tiling).map_err(broken)?;
    // The kernel shifts in 32 bits.
    let [offset, mut end] = [words[2], words[3]].map(|word| u64::from(word << 8));
    layout.check_offset(offset).map_err(broken)?;
    if samples <= 1 {
        let broken = of("the mipmap of a texture");
        layout.check_offset(end).map_err(broken)?;
    }
    let times = |depth| if is_3d { depth } else { layers };
    let bytes = layout.layer.wrapping_mul(times(depth));
    within(texture, offset + u64::from(bytes)).map_err(broken)?;
    // Only a multisampled texture has none, and that has one level.
    let Some(mipmap) = mipmap else { return Ok(()) };
    for level in 1..=last_level {
        surface.pitch = minify(width, level).div_ceil(block_width);
        surface.height = minify(height, level).div_ceil(block_height);
        if surface.mode == TILED_2D
            && (surface.pitch < layout.pitch || surface.height < layout.height)
        {
            surface.mode = TILED_1D;
        }
        layout = surface.layout(tiling);
        surface.pitch = round_up(surface.pitch, layout.pitch);
        surface.height = round_up(surface.height, layout.height);
        layout = surface.layout(tiling);
        let bytes = layout.layer.wrapping_mul(times(minify(depth, level)));
        end += u64::from(bytes);
        within(mipmap, end).map_err(of("the mipmap of a texture"))?;
    }
    Ok(())
}
