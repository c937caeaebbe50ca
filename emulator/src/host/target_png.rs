// SPDX-License-Identifier: MIT
//! A PNG of a colour target, as the last draw into it has left it.

use std::io::{self, Write};

use crate::chip::bus::Mc;
use crate::chip::gfx::colour::Target;
use crate::chip::gfx::format::{linear_to_srgb, NumberType};
use crate::chip::gfx::lanes::{pixel_of, LANES};
use crate::chip::gfx::surface::At;

/// Writes the first layer and sample of `target`, `width` by `height` pixels,
/// as 8-bit RGBA. Values are clamped to 0 to 1, so integers show as black or
/// white; memory that cannot be read is transparent black. As in GL, the first
/// row in memory is the lowest one unless `top_down`.
///
/// # Errors
/// That of `out`, or `InvalidInput` for a picture without pixels.
pub fn write_png(
    target: &Target,
    (width, height): (u32, u32),
    top_down: bool,
    mc: &dyn Mc,
    out: &mut dyn Write,
) -> io::Result<()> {
    if width == 0 || height == 0 {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "no pixels"));
    }
    let mut encoder = png::Encoder::new(out, width, height);
    encoder.set_color(png::ColorType::Rgba);
    encoder.set_depth(png::BitDepth::Eight);
    let mut writer = encoder.write_header()?;
    let mut stream = writer.stream_writer()?;
    // A band has eight rows, the height of a micro tile.
    let row_bytes = width as usize * 4;
    let mut band = vec![0; row_bytes * 8];
    let mut of_band = None;
    for line in 0..height {
        let y = if top_down { line } else { height - 1 - line };
        if of_band != Some(y / 8) {
            read_band(target, mc, y / 8, width, &mut band);
            of_band = Some(y / 8);
        }
        let at = (y % 8) as usize * row_bytes;
        stream.write_all(&band[at..at + row_bytes])?;
    }
    stream.finish()?;
    writer.finish()?;
    Ok(())
}

fn read_band(target: &Target, mc: &dyn Mc, tile_y: u32, width: u32, band: &mut [u8]) {
    band.fill(0);
    let row_bytes = width as usize * 4;
    for tile_x in 0..width.div_ceil(8) {
        let Ok(colour) = target.read_tile(mc, At::new(tile_x, tile_y, 0)) else {
            continue;
        };
        for lane in 0..LANES {
            let (x, y) = pixel_of(lane);
            let x = tile_x as usize * 8 + x;
            if x >= width as usize {
                continue;
            }
            for (channel, values) in colour.iter().enumerate() {
                let mut value = values[lane];
                if target.number() == NumberType::Srgb && channel < 3 {
                    value = linear_to_srgb(value);
                }
                // NaN becomes 0.
                let byte = (value.clamp(0.0, 1.0) * 255.0).round() as u8;
                band[y * row_bytes + x * 4 + channel] = byte;
            }
        }
    }
}
