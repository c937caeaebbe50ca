// SPDX-License-Identifier: MIT
//! Look-up tables and cursors, which are applied between surface and screen.
//!
//! Registers: `DC_LUT_*` and `D1CUR_*` in `r500_reg.h`; their use in
//! `avivo_crtc_load_lut()` and `radeon_cursor.c`. The cursor is merged after the
//! look-up table here; the order on the chip is not known.
//!
//! Not modelled: look-up tables of piecewise linear segments
//! (`DC_LUT_PWL_DATA`) and `DC_LUT_SEQ_COLOR`, black and white offsets, cursors
//! of two colours (modes 0 and 1), overlays.

use crate::chip::hub::Hub;
use crate::chip::regs::dce;

/// Entries of a look-up table.
const ENTRIES: usize = 256;

/// A look-up table. For each 8-bit code it has 10 bits each of red (from bit 20
/// on), green and blue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Gamma {
    entries: [u32; ENTRIES],
    /// Surfaces with 10-bit channels bypass the table (`LUT_10BIT_BYPASS_EN`).
    pub bypass_10_bits: bool,
}

impl Default for Gamma {
    /// The identity, as the BIOS leaves the table.
    fn default() -> Self {
        Self {
            entries: std::array::from_fn(|i| {
                let v = (i << 2 | i >> 6) as u32;
                v << 20 | v << 10 | v
            }),
            bypass_10_bits: false,
        }
    }
}

impl Gamma {
    /// The entry for code `index`, taken modulo 256.
    pub fn entry(&self, index: u32) -> u32 {
        self.entries[index as usize % ENTRIES]
    }

    /// Replaces the entry for code `index`.
    pub fn set(&mut self, index: u32, value: u32) {
        self.entries[index as usize % ENTRIES] = value & 0x3FFF_FFFF;
    }

    /// The colour on screen, 8 bits per channel, of the surface's colour `rgb`.
    pub fn apply(&self, rgb: [u8; 3]) -> [u8; 3] {
        let channel = |i: usize| {
            let entry = self.entry(u32::from(rgb[i]));
            (entry >> (22 - 10 * i) & 0xFF) as u8
        };
        [channel(0), channel(1), channel(2)]
    }
}

/// A cursor with 32 bits per pixel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cursor {
    /// MC address of its image.
    pub mc_addr: u64,
    /// Column of the screen that shows the image's column `hot.0`; may be off
    /// the screen.
    pub x: i32,
    /// Line of the screen that shows the image's line `hot.1`.
    pub y: i32,
    /// Columns of the image.
    pub width: u32,
    /// Lines of the image.
    pub height: u32,
    /// First column and line of the image that are shown.
    pub hot: (u32, u32),
    /// Colours are already multiplied by alpha.
    pub premultiplied: bool,
}

impl Cursor {
    /// Pitch of an image in pixels.
    pub const PITCH: u32 = 64;

    /// The cursor of `crtc`; `None` if it is off or of two colours. `origin` is
    /// the first visible column and line of the CRTC's surface.
    pub(super) fn of(hub: &Hub, crtc: usize, origin: (u32, u32)) -> Option<Self> {
        let layout = &hub.generation.display;
        let load = |reg: u32| hub.regs.load(layout.at(crtc, reg));
        let control = load(layout.cursor_control);
        let premultiplied = match control >> 8 & 3 {
            2 => true,
            3 => false,
            _ => return None,
        };
        if control & dce::CURSOR_EN == 0 {
            return None;
        }
        let pair = |v: u32| (v >> 16 & 0x1FFF, v & 0x1FFF);
        let (x, y) = pair(load(layout.cursor_position));
        let (width, height) = pair(load(layout.cursor_size));
        Some(Self {
            mc_addr: u64::from(hub.regs.load(layout.cursor_high[crtc]) & 0xFF) << 32
                | u64::from(load(layout.cursor)),
            x: x as i32 - origin.0 as i32,
            y: y as i32 - origin.1 as i32,
            width: (width + 1).min(Self::PITCH),
            height: (height + 1).min(Self::PITCH),
            hot: pair(load(layout.cursor_hot_spot)),
            premultiplied,
        })
    }

    /// Line of the image that is shown on line `y` of the screen, if any.
    pub fn line(&self, y: u32) -> Option<u32> {
        let line = i64::from(y) - i64::from(self.y);
        let line = u32::try_from(line).ok()?.checked_add(self.hot.1)?;
        (line < self.height).then_some(line)
    }

    /// Merges one line of the image, in the format of memory, into a line of
    /// the screen (three bytes per pixel).
    pub fn merge(&self, image: &[u8], screen: &mut [u8]) {
        let columns = self.width.min(Self::PITCH);
        for column in self.hot.0..columns {
            let x = i64::from(self.x) + i64::from(column - self.hot.0);
            let pixel = image.chunks_exact(4).nth(column as usize);
            let place = usize::try_from(x)
                .ok()
                .and_then(|x| screen.chunks_exact_mut(3).nth(x));
            let (Some(pixel), Some(place)) = (pixel, place) else {
                continue;
            };
            let alpha = u32::from(pixel[3]);
            for (i, place) in place.iter_mut().enumerate() {
                // Memory has blue first.
                let own = u32::from(pixel[2 - i]) * if self.premultiplied { 255 } else { alpha };
                let below = u32::from(*place) * (255 - alpha);
                *place = ((own + below + 127) / 255).min(255) as u8;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn default_gamma_changes_nothing() {
        for code in 0..=255 {
            assert_eq!(Gamma::default().apply([code, 0, 255]), [code, 0, 255]);
        }
    }

    #[test]
    fn entries_are_red_green_blue() {
        let mut gamma = Gamma::default();
        gamma.set(7, 0x3FF << 20 | 0x200 << 10);
        assert_eq!(gamma.apply([7, 7, 7]), [255, 128, 0]);
        gamma.set(256 + 8, u32::MAX);
        assert_eq!(gamma.entry(8), 0x3FFF_FFFF);
    }

    fn cursor() -> Cursor {
        Cursor {
            mc_addr: 0,
            x: 1,
            y: 5,
            width: 3,
            height: 2,
            hot: (0, 0),
            premultiplied: true,
        }
    }

    #[test]
    fn lines_of_the_image() {
        let c = cursor();
        assert_eq!(
            [4, 5, 6, 7].map(|y| c.line(y)),
            [None, Some(0), Some(1), None]
        );
        // Half outside at the top.
        let c = Cursor {
            y: 0,
            hot: (0, 1),
            ..c
        };
        assert_eq!([0, 1].map(|y| c.line(y)), [Some(1), None]);
    }

    #[test]
    fn images_merge_by_alpha() {
        let image = [
            0, 0, 255, 255, // red
            0, 128, 0, 128, // half green, premultiplied
            9, 9, 9, 0, // adds, as alpha 0 leaves all below
        ];
        let mut screen = [100; 3 * 3];
        cursor().merge(&image, &mut screen);
        assert_eq!(screen, [100, 100, 100, 255, 0, 0, 50, 178, 50]);
        let mut screen = [100; 3 * 3];
        let plain = Cursor {
            premultiplied: false,
            hot: (1, 0),
            x: 0,
            ..cursor()
        };
        plain.merge(&image, &mut screen);
        assert_eq!(screen[..6], [50, 114, 50, 100, 100, 100]);
    }

    #[test]
    fn hostile_cursors_stay_on_the_screen() {
        for x in [i32::MIN, -1, i32::MAX] {
            let c = Cursor {
                x,
                y: x,
                width: u32::MAX,
                height: u32::MAX,
                hot: (u32::MAX, u32::MAX),
                ..cursor()
            };
            c.line(0);
            c.merge(&[255; 256], &mut [0; 9]);
        }
    }
}
