// SPDX-License-Identifier: MIT
//! Whether the depth and the stencil buffer are within their BOs.
//!
//! Source: `evergreen_cs_track_validate_depth()`, `evergreen_cs_track_validate_stencil()` and
//! `evergreen_cs_track_validate_htile()` in `evergreen_cs.c` of Linux 6.12.

use super::super::broken::{Broken, Rule};
use super::super::surface::{field, Placed};
use super::surface::{within, Layout, Macro, Surface};
use crate::track::Tiling;

pub(super) const Z_READ_BASE: u32 = 0x2_8048;
pub(super) const STENCIL_READ_BASE: u32 = 0x2_804C;
pub(super) const Z_WRITE_BASE: u32 = 0x2_8050;
pub(super) const STENCIL_WRITE_BASE: u32 = 0x2_8054;
pub(super) const HTILE_DATA_BASE: u32 = 0x2_8014;

/// Registers of the depth and the stencil buffer.
#[derive(Debug, Clone, Copy)]
pub(super) struct Depth {
    pub(super) control: u32,
    pub(super) view: u32,
    pub(super) size: u32,
    pub(super) slice: u32,
    pub(super) z_info: u32,
    pub(super) stencil_info: u32,
    pub(super) z_read: Placed,
    pub(super) z_write: Placed,
    pub(super) stencil_read: Placed,
    pub(super) stencil_write: Placed,
    /// The kernel takes this offset, of units of 256 bytes, for bytes.
    pub(super) htile: Placed,
    pub(super) htile_surface: u32,
}

impl Default for Depth {
    /// The kernel's assumptions at the start of a stream: all is on, and large.
    fn default() -> Self {
        Self {
            control: !0,
            view: 0xFFFF_C000,
            size: !0,
            slice: !0,
            z_info: !0,
            stencil_info: !0,
            z_read: None,
            z_write: None,
            stencil_read: None,
            stencil_write: None,
            htile: None,
            htile_surface: 0,
        }
    }
}

/// A buffer's kind, for messages: the name, and the registers of the addresses to read and to write.
struct Kind {
    what: &'static str,
    read: u32,
    write: u32,
}

const STENCIL: Kind = Kind {
    what: "the stencil buffer",
    read: STENCIL_READ_BASE,
    write: STENCIL_WRITE_BASE,
};
const DEPTH: Kind = Kind {
    what: "the depth buffer",
    read: Z_READ_BASE,
    write: Z_WRITE_BASE,
};

impl Kind {
    fn broken(&self, register: u32) -> impl Fn(Rule) -> Broken {
        let what = self.what;
        move |rule| Broken {
            register,
            what,
            rule,
        }
    }
}

impl Depth {
    /// Checks the buffers that draws test.
    ///
    /// # Errors
    /// Why the kernel refuses them.
    pub(super) fn check(&self, tiling: &Tiling) -> Result<(), Broken> {
        // STENCIL_ENABLE, Z_ENABLE
        let [stencil, depth] = [0, 1].map(|bit| field(self.control, bit, 1) != 0);
        if stencil && field(self.stencil_info, 0, 1) != 0 {
            self.check_stencil(tiling)?;
        }
        if depth && field(self.z_info, 0, 2) != 0 {
            self.check_depth(tiling)?;
        }
        Ok(())
    }

    /// The surface of the depth or, by the tile split, the stencil buffer.
    fn surface(&self, bytes: u32, split: u32) -> Surface {
        let pitch = (field(self.size, 0, 11) + 1) * 8;
        Surface {
            pitch,
            height: self.slice.wrapping_add(1).wrapping_mul(64) / pitch,
            mode: field(self.z_info, 4, 4),
            bytes,
            // The kernel does not count samples.
            samples: 1,
            tiles: Macro {
                banks: field(self.z_info, 12, 2),
                bank_width: field(self.z_info, 16, 2),
                bank_height: field(self.z_info, 20, 2),
                aspect: field(self.z_info, 24, 2),
                split,
            },
        }
    }

    fn check_stencil(&self, tiling: &Tiling) -> Result<(), Broken> {
        let broken = STENCIL.broken(STENCIL.read);
        let surface = self.surface(1, field(self.stencil_info, 8, 3));
        surface.check_mode().map_err(&broken)?;
        let Ok(layout) = surface.check(tiling) else {
            // Aligned as four bytes it is accepted, and nothing else is checked.
            let wide = Surface {
                bytes: 4,
                ..surface
            };
            return wide.check(tiling).map(|_| ()).map_err(broken);
        };
        let places = [self.stencil_read, self.stencil_write];
        self.check_places(&STENCIL, &layout, places)?;
        self.check_htile(tiling, &surface)
    }

    fn check_depth(&self, tiling: &Tiling) -> Result<(), Broken> {
        let broken = DEPTH.broken(DEPTH.read);
        let bytes = match field(self.z_info, 0, 2) {
            1 => 2,
            _ => 4,
        };
        let surface = self.surface(bytes, field(self.z_info, 8, 3));
        surface.check_mode().map_err(&broken)?;
        let layout = surface.check(tiling).map_err(broken)?;
        self.check_places(&DEPTH, &layout, [self.z_read, self.z_write])?;
        self.check_htile(tiling, &surface)
    }

    /// Checks the places from which the buffer is read, and to which it is written.
    fn check_places(
        &self,
        kind: &Kind,
        layout: &Layout,
        places: [Placed; 2],
    ) -> Result<(), Broken> {
        let layers = field(self.view, 13, 11) + 1;
        for (register, place) in [kind.read, kind.write].into_iter().zip(places) {
            let broken = kind.broken(register);
            // The kernel does not look whether there is a BO, and would crash.
            let (bo, offset) = place.ok_or(Rule::Bo).map_err(&broken)?;
            (layout.check_offset(offset))
                .and_then(|()| layout.check_size(bo, offset, layers))
                .map_err(broken)?;
        }
        Ok(())
    }

    /// Checks HTILE of that surface, if it is on.
    fn check_htile(&self, tiling: &Tiling, surface: &Surface) -> Result<(), Broken> {
        if field(self.z_info, 29, 1) == 0 {
            return Ok(());
        }
        let broken = |rule| Broken {
            register: HTILE_DATA_BASE,
            what: "HTILE",
            rule,
        };
        let (bo, offset) = self.htile.ok_or(Rule::Bo).map_err(broken)?;
        let bytes = tiling.htile_bytes(self.htile_surface, surface.pitch, surface.height);
        within(bo, u64::from(bytes) + offset).map_err(broken)
    }
}
