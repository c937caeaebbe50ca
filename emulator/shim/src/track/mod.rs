// SPDX-License-Identifier: MIT
//! What a stream has set so far, and whether the kernel would let it draw.
//!
//! The kernel keeps the registers of surfaces and stream-out while it goes through a stream, and
//! refuses the stream at the first draw whose surfaces are not within their BOs. Source:
//! `struct r600_cs_track`, `r600_cs_check_reg()` and `r600_cs_track_check()` in `r600_cs.c` of
//! Linux 6.12. [`evergreen`] has the same for Evergreen and later.

mod broken;
pub(crate) mod evergreen;
mod registers;
mod streamout;
pub(crate) mod surface;

use crate::checker::Reloc;
pub use broken::Broken;
use streamout::{Room, Streamout};
use surface::{field, Colour, Depth};
pub use surface::{Refused, Tiling};

/// `PA_SC_AA_CONFIG`, `CB_COLOR_CONTROL`, and others that the kernel follows.
const SQ_CONFIG: u32 = 0x8C00;
const DB_DEPTH_SIZE: u32 = 0x2_8000;
const DB_DEPTH_VIEW: u32 = 0x2_8004;
const DB_DEPTH_BASE: u32 = 0x2_800C;
const DB_DEPTH_INFO: u32 = 0x2_8010;
const DB_HTILE_DATA_BASE: u32 = 0x2_8014;
const CB_TARGET_MASK: u32 = 0x2_8238;
const CB_SHADER_MASK: u32 = 0x2_823C;
const SX_MISC: u32 = 0x2_8350;
const DB_DEPTH_CONTROL: u32 = 0x2_8800;
const CB_COLOR_CONTROL: u32 = 0x2_8808;
const VGT_STRMOUT_EN: u32 = 0x2_8AB0;
const VGT_STRMOUT_BUFFER_EN: u32 = 0x2_8B20;
const PA_SC_AA_CONFIG: u32 = 0x2_8C04;
const DB_HTILE_SURFACE: u32 = 0x2_8D24;
/// `SPECIAL_OP` of `CB_COLOR_CONTROL`.
const RESOLVE_BOX: u32 = 7;

/// What a stream has set so far.
#[derive(Debug, Clone)]
pub(crate) struct Track {
    tiling: Tiling,
    /// `SQ_CONFIG.DX9_CONSTS`
    pub(crate) dx9_constants: bool,
    colours: [Colour; 8],
    colour_dirty: bool,
    target_mask: u32,
    log_samples: u32,
    resolve: bool,
    depth: Depth,
    depth_dirty: bool,
    streamout: Streamout,
    streamout_on: bool,
    streamout_buffers: u32,
    streamout_dirty: bool,
    /// `SX_MISC.MULTIPASS` kills all primitives: surfaces do not matter.
    kills_all: bool,
}

impl Track {
    /// The state at the start of a stream: the worst that the registers can hold.
    pub(crate) fn new(tiling: Tiling) -> Self {
        let colour = Colour {
            view: !0,
            mask: !0,
            ..Colour::default()
        };
        Self {
            tiling,
            dx9_constants: true,
            colours: [colour; 8],
            colour_dirty: true,
            target_mask: !0,
            log_samples: 4,
            resolve: false,
            depth: Depth::default(),
            depth_dirty: true,
            streamout: Streamout::default(),
            streamout_on: false,
            streamout_buffers: 0,
            streamout_dirty: true,
            kills_all: false,
        }
    }

    /// The tiling geometry of the chip.
    pub(crate) fn tiling(&self) -> &Tiling {
        &self.tiling
    }

    /// Whether `COPY_DW` may access register `reg`.
    pub(crate) fn is_safe(reg: u32) -> bool {
        registers::is_safe(reg)
    }

    /// The target whose registers from `first` on, one for each, have `reg`.
    fn target(reg: u32, first: u32) -> Option<usize> {
        let index = reg.checked_sub(first)? / 4;
        (index < 8).then_some(index as usize)
    }

    /// A register without an address is set to `value`, in dword `at` of the stream. False if a
    /// stream may not write it.
    pub(crate) fn set(&mut self, reg: u32, value: u32, at: usize) -> bool {
        if registers::is_allowed(reg) {
            return true;
        }
        match reg {
            SQ_CONFIG => self.dx9_constants = field(value, 2, 1) != 0,
            CB_SHADER_MASK => {}
            CB_TARGET_MASK => self.target_mask = value,
            PA_SC_AA_CONFIG => self.log_samples = field(value, 0, 2),
            CB_COLOR_CONTROL => self.resolve = field(value, 4, 3) == RESOLVE_BOX,
            SX_MISC => self.kills_all = field(value, 0, 1) != 0,
            VGT_STRMOUT_EN => self.streamout_on = value != 0,
            VGT_STRMOUT_BUFFER_EN => self.streamout_buffers = value,
            DB_DEPTH_CONTROL => self.depth.control = value,
            DB_DEPTH_INFO => self.depth.info = value,
            DB_DEPTH_VIEW => self.depth.view = value,
            DB_DEPTH_SIZE => (self.depth.size, self.depth.size_at) = (value, Some(at)),
            DB_HTILE_SURFACE => self.depth.htile_surface = value,
            _ => return self.set_array(reg, value, at),
        }
        match reg {
            CB_TARGET_MASK | PA_SC_AA_CONFIG | CB_COLOR_CONTROL => self.colour_dirty = true,
            VGT_STRMOUT_EN | VGT_STRMOUT_BUFFER_EN => self.streamout_dirty = true,
            SQ_CONFIG | CB_SHADER_MASK | SX_MISC => {}
            _ => self.depth_dirty = true,
        }
        true
    }

    /// [`Self::set`] for registers that several targets or buffers have.
    fn set_array(&mut self, reg: u32, value: u32, at: usize) -> bool {
        if self.streamout.set_size(reg, value) {
            self.streamout_dirty = true;
            return true;
        }
        let targets = &mut self.colours;
        if let Some(i) = Self::target(reg, 0x2_8060) {
            (targets[i].size, targets[i].size_at) = (value, Some(at));
        } else if let Some(i) = Self::target(reg, 0x2_8080) {
            targets[i].view = value;
        } else if let Some(i) = Self::target(reg, 0x2_80A0) {
            targets[i].info = value;
        } else if let Some(i) = Self::target(reg, 0x2_8100) {
            targets[i].mask = value;
            if field(targets[i].info, 18, 2) == 0 {
                return true;
            }
        } else {
            return false;
        }
        self.colour_dirty = true;
        true
    }

    /// A register with an address is set to `value`, in units of 256 bytes from the start of `bo`.
    pub(crate) fn set_base(&mut self, reg: u32, value: u32, bo: Reloc) {
        let placed = Some((bo, u64::from(value) << 8));
        // The kernel keeps this offset in 32 bits.
        let narrow = Some((bo, u64::from(value << 8)));
        if self.streamout.set_base(reg, value, bo) {
            self.streamout_dirty = true;
        } else if let Some(i) = Self::target(reg, 0x2_8040) {
            self.colours[i].base = placed;
            self.colour_dirty = true;
        } else if reg == DB_DEPTH_BASE {
            self.depth.base = narrow;
            self.depth_dirty = true;
        } else if reg == DB_HTILE_DATA_BASE {
            self.depth.htile = placed;
            self.depth_dirty = true;
        }
    }

    /// `CB_COLORn_FRAG` or `_TILE` is set to `value`, as [`Self::set_base`]. Without a BO it is the
    /// target's.
    pub(crate) fn set_mask_base(&mut self, reg: u32, placed: Option<(u32, Reloc)>) {
        let fmask = Self::target(reg, 0x2_80E0);
        let Some(i) = fmask.or(Self::target(reg, 0x2_80C0)) else {
            return;
        };
        let target = &mut self.colours[i];
        let place = placed.map(|(value, bo)| (bo, u64::from(value) << 8));
        let mask = match fmask {
            Some(_) => &mut target.fmask,
            None => &mut target.cmask,
        };
        *mask = place.or(target.base);
        self.colour_dirty |= field(target.info, 18, 2) != 0;
    }

    /// Whether `STRMOUT_BASE_UPDATE` names the BO and the offset of buffer `index`, and these four
    /// bytes are in the BO.
    pub(crate) fn is_streamout(&self, index: u32, value: u32, bo: Reloc) -> bool {
        let offset = u64::from(value) << 8;
        let base = self.streamout.base(index as usize);
        base.is_some_and(|(own, at)| own.is(&bo) && at == offset) && offset + 4 <= bo.size
    }

    /// Checks a draw. `write` gets the index and the value of dwords that the kernel changes.
    ///
    /// # Errors
    /// Why the kernel refuses it.
    pub(crate) fn draw(&mut self, mut write: impl FnMut(usize, u32)) -> Result<(), Refused> {
        if self.streamout_dirty && self.streamout_on {
            (self.streamout.check(self.streamout_buffers)).map_err(|(_, room)| match room {
                Room::NoBo => "a stream-out buffer has no BO",
                Room::TooSmall { .. } => "a stream-out buffer is larger than its BO",
            })?;
            self.streamout_dirty = false;
        }
        if self.kills_all {
            return Ok(());
        }
        if self.colour_dirty {
            let mask = match self.resolve {
                // Both targets of a resolve are used, whatever the mask is.
                true => self.target_mask | 0xFF,
                false => self.target_mask,
            };
            for (i, target) in self.colours.iter().enumerate() {
                if field(target.info, 2, 6) == 0 || mask >> (4 * i) & 0xF == 0 {
                    continue;
                }
                let resolved = self.resolve && i == 1;
                let size = target.check(&self.tiling, self.log_samples, resolved)?;
                if let Some(at) = target.size_at {
                    write(at, size);
                }
            }
            self.colour_dirty = false;
        }
        if self.depth_dirty && self.depth.is_used() {
            let size = self.depth.check(&self.tiling, 1 << self.log_samples)?;
            if let (Some(size), Some(at)) = (size, self.depth.size_at) {
                write(at, size);
            }
            self.depth_dirty = false;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
