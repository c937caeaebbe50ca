// SPDX-License-Identifier: MIT
//! A PNG of what the monitor would show.
//!
//! Pixels are read through the memory controller as the CRTC would, one row
//! at a time, so that a mode of absurd size costs no memory. Memory that
//! cannot be read is black. The look-up table (gamma, palette) and the hardware
//! cursor are applied; overlays are not.

use std::io::{self, Write};

use crate::chip::bus::Mc;
use crate::chip::display::{Cursor, PixelFormat, Scanout};
use crate::chip::tiling::{ArrayMode, Layout};
use crate::chip::Chip;

/// The surface that a CRTC scanned out at the time of [`capture`].
/// [`Picture::write_png`] reads its pixels.
#[derive(Debug, Clone, Copy)]
pub struct Picture {
    scanout: Scanout,
    layout: Layout,
}

/// The pictures of the CRTCs that show one.
pub fn capture(chip: &Chip) -> Vec<Picture> {
    let shown = (0..chip.crtcs()).filter_map(|crtc| chip.scanout(crtc));
    shown.filter_map(Picture::new).collect()
}

impl Picture {
    /// A picture of `scanout`; `None` if it has no pixels.
    pub fn new(scanout: Scanout) -> Option<Self> {
        if scanout.width == 0 || scanout.height == 0 {
            return None;
        }
        let bytes_per_element = scanout.format.bytes();
        Some(Self {
            scanout,
            layout: Layout::new(
                ArrayMode::from_field(scanout.array_mode),
                bytes_per_element,
                scanout.pitch_bytes / bytes_per_element,
                0,
                scanout.tiling,
            ),
        })
    }

    /// Writes the picture as 8-bit RGB, reading its pixels from `mc`.
    pub fn write_png(&self, mc: &dyn Mc, out: &mut dyn Write) -> io::Result<()> {
        let scanout = &self.scanout;
        let mut encoder = png::Encoder::new(out, scanout.width, scanout.height);
        encoder.set_color(png::ColorType::Rgb);
        encoder.set_depth(png::BitDepth::Eight);
        encoder.set_compression(png::Compression::Fast);
        let mut writer = encoder.write_header()?;
        let mut stream = writer.stream_writer()?;
        let bytes = scanout.format.bytes() as usize;
        let mut row = vec![0; scanout.width as usize * bytes];
        let mut rgb = vec![0; scanout.width as usize * 3];
        for y in 0..scanout.height {
            row.fill(0);
            self.read_row(mc, y, &mut row);
            let passes = scanout.gamma.bypass_10_bits && scanout.format == PixelFormat::Argb2101010;
            for (pixel, out) in row.chunks_exact(bytes).zip(rgb.chunks_exact_mut(3)) {
                let colour = to_rgb(scanout.format, pixel);
                out.copy_from_slice(&if passes {
                    colour
                } else {
                    scanout.gamma.apply(colour)
                });
            }
            if let Some(cursor) = &scanout.cursor {
                merge_cursor(mc, cursor, y, &mut rgb);
            }
            stream.write_all(&rgb)?;
        }
        stream.finish()?;
        writer.finish()?;
        Ok(())
    }

    fn read_row(&self, mc: &dyn Mc, y: u32, row: &mut [u8]) {
        let scanout = &self.scanout;
        match self.layout.mode {
            ArrayMode::LinearGeneral | ArrayMode::LinearAligned | ArrayMode::Unknown(_) => {
                let offset = u64::from(y) * u64::from(scanout.pitch_bytes);
                let _ = mc.read(scanout.mc_addr.wrapping_add(offset), row);
            }
            ArrayMode::Tiled1dThin1 | ArrayMode::Tiled2dThin1 => {
                let bytes = scanout.format.bytes() as usize;
                for (x, pixel) in row.chunks_exact_mut(bytes).enumerate() {
                    let x = scanout.x.saturating_add(x as u32);
                    let offset = self.layout.offset(x, scanout.y.saturating_add(y), 0);
                    let _ = mc.read(scanout.mc_addr.wrapping_add(offset), pixel);
                }
            }
        }
    }
}

/// Draws the cursor's part of line `y` of the screen. A line that cannot be
/// read is left out.
fn merge_cursor(mc: &dyn Mc, cursor: &Cursor, y: u32, rgb: &mut [u8]) {
    let Some(line) = cursor.line(y) else { return };
    let mut image = [0; Cursor::PITCH as usize * 4];
    let offset = u64::from(line) * image.len() as u64;
    if mc
        .read(cursor.mc_addr.wrapping_add(offset), &mut image)
        .is_ok()
    {
        cursor.merge(&image, rgb);
    }
}

/// Widens a channel of `bits` bits to 8 so that its maximum becomes 255.
fn widen(value: u32, bits: u32) -> u8 {
    let max = (1 << bits) - 1;
    ((value & max) * 255 / max) as u8
}

/// Decodes one little-endian pixel.
fn to_rgb(format: PixelFormat, pixel: &[u8]) -> [u8; 3] {
    let v = pixel.iter().rev().fold(0, |v, &b| (v << 8) | u32::from(b));
    match format {
        PixelFormat::Index8 => [v as u8; 3],
        PixelFormat::Argb1555 => [widen(v >> 10, 5), widen(v >> 5, 5), widen(v, 5)],
        PixelFormat::Rgb565 => [widen(v >> 11, 5), widen(v >> 5, 6), widen(v, 5)],
        PixelFormat::Argb4444 => [widen(v >> 8, 4), widen(v >> 4, 4), widen(v, 4)],
        PixelFormat::Argb8888 => [widen(v >> 16, 8), widen(v >> 8, 8), widen(v, 8)],
        PixelFormat::Abgr8888 => [widen(v, 8), widen(v >> 8, 8), widen(v >> 16, 8)],
        PixelFormat::Argb2101010 => [widen(v >> 20, 10), widen(v >> 10, 10), widen(v, 10)],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chip::bus::FlatMemory;
    use crate::chip::display::Gamma;
    use crate::chip::tiling::TilingConfig;

    fn decode(png: &[u8]) -> (u32, u32, Vec<u8>) {
        let mut reader = png::Decoder::new(png).read_info().unwrap();
        let mut rgb = vec![0; reader.output_buffer_size()];
        let info = reader.next_frame(&mut rgb).unwrap();
        (info.width, info.height, rgb)
    }

    fn scanout(array_mode: u32) -> Scanout {
        Scanout {
            mc_addr: 0x100,
            pitch_bytes: 64,
            width: 3,
            height: 2,
            format: PixelFormat::Argb8888,
            array_mode,
            tiling: CONFIG,
            x: 0,
            y: 0,
            gamma: Gamma::default(),
            cursor: None,
        }
    }

    /// The three pixels of the first line.
    fn first_line(memory: &FlatMemory, scanout: Scanout) -> Vec<u8> {
        let mut png = Vec::new();
        let picture = Picture::new(scanout).unwrap();
        picture.write_png(memory, &mut png).unwrap();
        decode(&png).2[..9].to_vec()
    }

    #[test]
    fn gamma_and_palette_are_applied() {
        let memory = FlatMemory::new(0x1000, 0);
        memory.write_u32(0x100, 0x0010_2030).unwrap();
        let mut shown = scanout(1);
        shown.gamma.set(0x10, 0x3FF << 20);
        shown.gamma.set(0x20, 0);
        shown.gamma.set(0x30, 0x3FF);
        assert_eq!(first_line(&memory, shown)[..3], [255, 0, 255]);
        // The same bytes as indices: 0x30, 0x20, 0x10.
        shown.format = PixelFormat::Index8;
        assert_eq!(first_line(&memory, shown), [0, 0, 255, 0, 0, 0, 255, 0, 0]);
    }

    #[test]
    fn cursor_lies_on_top() {
        let memory = FlatMemory::new(0x1000, 0);
        memory.write_u32(0x100, 0x0000_00ff).unwrap();
        memory.write_u32(0x800, 0xff00_ff00).unwrap();
        memory.write_u32(0x804, 0x8080_0000).unwrap();
        let mut shown = scanout(1);
        let cursor = Cursor {
            mc_addr: 0x800,
            x: 1,
            y: 0,
            width: 64,
            height: 64,
            hot: (0, 0),
            premultiplied: true,
        };
        shown.cursor = Some(cursor);
        let line = first_line(&memory, shown);
        assert_eq!(line, [0, 0, 255, 0, 255, 0, 128, 0, 0]);
        // An image that cannot be read is left out.
        shown.cursor = Some(Cursor {
            mc_addr: 0x10_0000,
            ..cursor
        });
        assert_eq!(first_line(&memory, shown), [0, 0, 255, 0, 0, 0, 0, 0, 0]);
    }

    const CONFIG: TilingConfig = TilingConfig {
        log2_pipes: 1,
        log2_banks: 2,
        log2_group: 8,
        log2_split: 10,
        optimal_bank_swap: false,
        macro_tile: None,
    };

    #[test]
    fn linear_surface_comes_out_in_order() {
        let memory = FlatMemory::new(0x1000, 0);
        memory.write_u32(0x100, 0x00ff_8001).unwrap();
        memory.write_u32(0x108, 0x0000_00ff).unwrap();
        memory.write_u32(0x144, 0xff00_ff00).unwrap();
        let mut png = Vec::new();
        let picture = Picture::new(scanout(1)).unwrap();
        picture.write_png(&memory, &mut png).unwrap();
        let (width, height, rgb) = decode(&png);
        assert_eq!((width, height), (3, 2));
        assert_eq!(rgb[..9], [0xff, 0x80, 1, 0, 0, 0, 0, 0, 0xff]);
        assert_eq!(rgb[9..], [0, 0, 0, 0, 0xff, 0, 0, 0, 0]);
    }

    #[test]
    fn tiled_surface_is_untiled() {
        let memory = FlatMemory::new(0x1000, 0);
        let picture = Picture::new(scanout(2)).unwrap();
        let at = 0x100 + picture.layout.offset(1, 1, 0);
        memory.write_u32(at, 0x0012_3456).unwrap();
        let mut png = Vec::new();
        picture.write_png(&memory, &mut png).unwrap();
        let (_, _, rgb) = decode(&png);
        assert_eq!(rgb[12..15], [0x12, 0x34, 0x56]);
    }

    #[test]
    fn unreadable_memory_is_black() {
        let memory = FlatMemory::new(0, 0);
        let mut png = Vec::new();
        let picture = Picture::new(scanout(1)).unwrap();
        picture.write_png(&memory, &mut png).unwrap();
        assert!(decode(&png).2.iter().all(|&b| b == 0));
    }

    #[test]
    fn picture_without_pixels_is_none() {
        let mut empty = scanout(1);
        empty.width = 0;
        assert!(Picture::new(empty).is_none());
    }

    #[test]
    fn formats_reach_full_white() {
        use PixelFormat::*;
        for format in [
            Index8,
            Argb1555,
            Rgb565,
            Argb4444,
            Argb8888,
            Abgr8888,
            Argb2101010,
        ] {
            let pixel = [0xff; 4];
            let bytes = format.bytes() as usize;
            assert_eq!(to_rgb(format, &pixel[..bytes]), [255; 3], "{format:?}");
        }
        assert_eq!(to_rgb(Rgb565, &[0x00, 0xf8]), [255, 0, 0]);
        assert_eq!(to_rgb(Abgr8888, &[1, 2, 3, 4]), [1, 2, 3]);
    }
}
