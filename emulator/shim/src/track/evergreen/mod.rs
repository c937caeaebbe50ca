// SPDX-License-Identifier: MIT
//! What a stream of Evergreen or later has set so far, and whether the kernel would let it draw.
//!
//! Source: `struct evergreen_cs_track`, `evergreen_cs_track_init()`, `evergreen_cs_handle_reg()` and
//! `evergreen_cs_track_check()` in `evergreen_cs.c` of Linux 6.12. The kernel checks render targets 0 to
//! 7, among them the buffers and images that shaders write; of targets 8 to 11, of `CB_IMMEDn_BASE`, of
//! CMASK and of FMASK it only demands BOs.

mod colour;
mod depth;
mod registers;
mod surface;
pub(crate) mod texture;

use super::broken::{Broken, Rule};
use super::streamout::{self, Room, Streamout};
use super::surface::{field, Tiling};
use crate::checker::Reloc;
use colour::Colour;
use depth::Depth;
pub(crate) use registers::Use;
use registers::{colour as offset, colour_base, is_unseen, target, use_of};

const DB_DEPTH_VIEW: u32 = 0x2_8008;
const DB_Z_INFO: u32 = 0x2_8040;
const DB_STENCIL_INFO: u32 = 0x2_8044;
const DB_DEPTH_SIZE: u32 = 0x2_8058;
const DB_DEPTH_SLICE: u32 = 0x2_805C;
const CB_TARGET_MASK: u32 = 0x2_8238;
const SX_MISC: u32 = 0x2_8350;
const DB_DEPTH_CONTROL: u32 = 0x2_8800;
pub(crate) const DB_HTILE_SURFACE: u32 = 0x2_8ABC;
const VGT_STRMOUT_CONFIG: u32 = 0x2_8B94;
const VGT_STRMOUT_BUFFER_CONFIG: u32 = 0x2_8B98;

/// What a stream has set so far.
#[derive(Debug, Clone)]
pub(crate) struct Track {
    tiling: Tiling,
    cayman: bool,
    colours: [Colour; 8],
    colour_dirty: bool,
    target_mask: u32,
    depth: Depth,
    depth_dirty: bool,
    streamout: Streamout,
    /// Each of the low four bits is a stream of vertices that is written.
    streamout_config: u32,
    /// Four bits for each stream: the buffers that it writes.
    streamout_buffers: u32,
    streamout_dirty: bool,
    /// `SX_MISC.MULTIPASS` kills all primitives: surfaces do not matter.
    kills_all: bool,
    /// Size of the BO of indirect draws' arguments.
    indirect: u64,
}

impl Track {
    /// The state at the start of a stream.
    pub(crate) fn new(tiling: Tiling, cayman: bool) -> Self {
        Self {
            tiling,
            cayman,
            colours: [Colour::default(); 8],
            colour_dirty: true,
            target_mask: !0,
            depth: Depth::default(),
            depth_dirty: true,
            streamout: Streamout::default(),
            streamout_config: 0,
            streamout_buffers: 0,
            streamout_dirty: true,
            kills_all: false,
            indirect: 0,
        }
    }

    /// The tiling geometry of the chip.
    pub(crate) fn tiling(&self) -> &Tiling {
        &self.tiling
    }

    /// What the checker of the chip does with a register.
    pub(crate) fn uses(&self) -> impl Fn(u32) -> Use {
        let cayman = self.cayman;
        move |reg| use_of(reg, cayman)
    }

    /// A register without an address is set to `value`, in dword `at` of the stream. False if a stream
    /// may not write it.
    pub(crate) fn set(&mut self, reg: u32, value: u32, at: usize) -> bool {
        if let Some((index, offset)) = target(reg) {
            self.set_colour(index, offset, value, at);
            return true;
        }
        if self.streamout.set_size(reg, value) {
            self.streamout_dirty = true;
            return true;
        }
        let (field, dirty) = match reg {
            VGT_STRMOUT_CONFIG => (&mut self.streamout_config, &mut self.streamout_dirty),
            VGT_STRMOUT_BUFFER_CONFIG => (&mut self.streamout_buffers, &mut self.streamout_dirty),
            CB_TARGET_MASK => (&mut self.target_mask, &mut self.colour_dirty),
            DB_DEPTH_CONTROL => (&mut self.depth.control, &mut self.depth_dirty),
            DB_DEPTH_VIEW => (&mut self.depth.view, &mut self.depth_dirty),
            DB_DEPTH_SIZE => (&mut self.depth.size, &mut self.depth_dirty),
            DB_DEPTH_SLICE => (&mut self.depth.slice, &mut self.depth_dirty),
            DB_Z_INFO => (&mut self.depth.z_info, &mut self.depth_dirty),
            DB_STENCIL_INFO => (&mut self.depth.stencil_info, &mut self.depth_dirty),
            DB_HTILE_SURFACE => (&mut self.depth.htile_surface, &mut self.depth_dirty),
            SX_MISC => {
                self.kills_all = field(value, 0, 1) != 0;
                return true;
            }
            _ => return is_unseen(reg, self.cayman),
        };
        (*field, *dirty) = (value, true);
        true
    }

    /// [`Self::set`] for the register at `offset` of render target `index`.
    fn set_colour(&mut self, index: usize, offset: u32, value: u32, at: usize) {
        let Some(colour) = self.colours.get_mut(index) else {
            return;
        };
        match offset {
            offset::PITCH => colour.pitch = value,
            offset::SLICE => (colour.slice, colour.slice_at) = (value, Some(at)),
            offset::VIEW => colour.view = value,
            offset::INFO => colour.info = value,
            offset::ATTRIB => colour.attrib = value,
            _ => return,
        }
        self.colour_dirty = true;
    }

    /// A register with an address is set to `value`, in units of 256 bytes from the start of `bo`.
    pub(crate) fn set_base(&mut self, reg: u32, value: u32, bo: Reloc) {
        if self.streamout.set_base(reg, value, bo) {
            self.streamout_dirty = true;
            return;
        }
        let placed = Some((bo, u64::from(value) << 8));
        if let Some((index, offset::BASE)) = target(reg) {
            if let Some(colour) = self.colours.get_mut(index) {
                colour.base = placed;
                self.colour_dirty = true;
            }
            return;
        }
        match reg {
            depth::Z_READ_BASE => self.depth.z_read = placed,
            depth::Z_WRITE_BASE => self.depth.z_write = placed,
            depth::STENCIL_READ_BASE => self.depth.stencil_read = placed,
            depth::STENCIL_WRITE_BASE => self.depth.stencil_write = placed,
            depth::HTILE_DATA_BASE => self.depth.htile = Some((bo, value.into())),
            _ => return,
        }
        self.depth_dirty = true;
    }

    /// `SET_BASE` names the BO of indirect draws' arguments.
    pub(crate) fn set_indirect(&mut self, bo: Reloc) {
        self.indirect = bo.size;
    }

    /// Checks that the arguments of an indirect draw, `bytes` bytes from `offset` on, are within their
    /// BO.
    ///
    /// # Errors
    /// If they are not, or no BO is named.
    pub(crate) fn check_indirect(&self, offset: u32, bytes: u64) -> Result<(), &'static str> {
        match u64::from(offset) + bytes <= self.indirect {
            true => Ok(()),
            false => Err("the arguments of an indirect draw are not within their BO"),
        }
    }

    /// Checks a draw or a dispatch. `write` gets the index and the value of dwords that the kernel
    /// changes.
    ///
    /// # Errors
    /// Why the kernel refuses it.
    pub(crate) fn draw(&mut self, mut write: impl FnMut(usize, u32)) -> Result<(), Broken> {
        if self.streamout_dirty {
            self.check_streamout()?;
            self.streamout_dirty = false;
        }
        if self.kills_all {
            return Ok(());
        }
        if self.colour_dirty {
            for (i, colour) in self.colours.iter().enumerate() {
                if !colour.is_valid() || field(self.target_mask, 4 * i as u32, 4) == 0 {
                    continue;
                }
                let changed = colour.check(&self.tiling).map_err(|rule| Broken {
                    register: colour_base(i),
                    what: "a render target",
                    rule,
                })?;
                if let Some((at, value)) = changed {
                    write(at, value);
                }
            }
            self.colour_dirty = false;
        }
        if self.depth_dirty {
            self.depth.check(&self.tiling)?;
            self.depth_dirty = false;
        }
        Ok(())
    }

    /// Checks the buffers that any stream of vertices writes.
    fn check_streamout(&self) -> Result<(), Broken> {
        let streams = (0..4).filter(|i| self.streamout_config >> i & 1 != 0);
        let mask = streams.fold(0, |mask, i| mask | field(self.streamout_buffers, 4 * i, 4));
        (self.streamout.check(mask)).map_err(|(index, room)| Broken {
            register: streamout::BASE_0 + 16 * index as u32,
            what: "a stream-out buffer",
            rule: match room {
                Room::NoBo => Rule::Bo,
                Room::TooSmall { needed, size } => Rule::Size(needed, size),
            },
        })
    }
}

#[cfg(test)]
mod tests;
