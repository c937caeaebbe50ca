// SPDX-License-Identifier: MIT
//! Display controller: vertical blanks, page flips, beam position, scan-out.
//!
//! Frame counters and beam positions are computed from the clock when a driver
//! reads them. A thread does only what happens at a vertical blank (interrupts,
//! flips); it sleeps while none is waited for. A frame starts with its vertical
//! blank.
//!
//! A CRTC runs while `CRTC_EN` is set. The surface registers of a stopped CRTC
//! take effect at once.
//!
//! The screen shows the surface through the look-up table of the CRTC, with the
//! cursor on top; see [`scanout`].
//!
//! Register meanings: `r500_reg.h`, `r600d.h`, and the use in
//! `rv770_page_flip()`, `r600_irq_ack()`, `avivo_crtc_do_set_base()`.

mod dce4;
mod layout;
mod registers;
pub mod scanout;

pub use dce4::DCE4;
pub use layout::{Layout, AVIVO, DCE2, MAX_CRTCS};
pub(crate) use registers::DisplayRegisters;
pub use scanout::{Cursor, Gamma};

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::chip::counters::Counter;
use crate::chip::hub::Hub;
use crate::chip::ih::{Ih, Source};
use crate::chip::regs::dce;
use crate::chip::tiling::TilingConfig;
use layout::Lut;

/// Duration of a frame: 60 Hz.
const FRAME: Duration = Duration::from_nanos(16_666_667);
/// Visible lines while no mode is set.
const DEFAULT_LINES: u32 = 768;
/// Pixels per line including blanking, for the beam position.
const PIXELS_PER_LINE: u32 = 1344;

/// Pixel format of a scanned-out surface, as little-endian memory holds it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PixelFormat {
    /// 8 bits, index into the palette.
    Index8,
    /// 16 bits, x1 r5 g5 b5 from the top.
    Argb1555,
    /// 16 bits, r5 g6 b5 from the top.
    Rgb565,
    /// 16 bits, a4 r4 g4 b4 from the top.
    Argb4444,
    /// 32 bits, a8 r8 g8 b8 from the top.
    Argb8888,
    /// 32 bits, a8 b8 g8 r8 from the top (crossbar swaps red and blue).
    Abgr8888,
    /// 32 bits, a2 r10 g10 b10 from the top.
    Argb2101010,
}

impl PixelFormat {
    /// Bytes per pixel.
    pub fn bytes(self) -> u32 {
        match self {
            PixelFormat::Index8 => 1,
            PixelFormat::Argb1555 | PixelFormat::Rgb565 | PixelFormat::Argb4444 => 2,
            PixelFormat::Argb8888 | PixelFormat::Abgr8888 | PixelFormat::Argb2101010 => 4,
        }
    }

    /// Decodes `D1GRPH_CONTROL` and `D1GRPH_SWAP_CONTROL`; `None` for formats
    /// that the driver never sets.
    fn decode(control: u32, swap: u32) -> Option<Self> {
        // RED_CROSSBAR = 2 and BLUE_CROSSBAR = 2 select the other's channel.
        let crossed = (swap >> 4) & 3 == 2 && (swap >> 8) & 3 == 2;
        match (control & 3, (control >> 8) & 7) {
            (0, 0) => Some(PixelFormat::Index8),
            (1, 0) => Some(PixelFormat::Argb1555),
            (1, 1) => Some(PixelFormat::Rgb565),
            (1, 2) => Some(PixelFormat::Argb4444),
            (2, 0) if crossed => Some(PixelFormat::Abgr8888),
            (2, 0) => Some(PixelFormat::Argb8888),
            (2, 1) => Some(PixelFormat::Argb2101010),
            _ => None,
        }
    }
}

/// What a CRTC scans out at this moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Scanout {
    /// MC address of the first visible pixel (linear) or of the surface
    /// (tiled).
    pub mc_addr: u64,
    /// Pitch in bytes.
    pub pitch_bytes: u32,
    /// Visible pixels per line.
    pub width: u32,
    /// Visible lines.
    pub height: u32,
    /// Pixel format.
    pub format: PixelFormat,
    /// `ARRAY_MODE` field of the surface, see [`crate::chip::tiling::ArrayMode`].
    pub array_mode: u32,
    /// Memory geometry of a tiled surface.
    pub tiling: TilingConfig,
    /// First visible column of a tiled surface; 0 for a linear one.
    pub x: u32,
    /// First visible row of a tiled surface; 0 for a linear one.
    pub y: u32,
    /// Look-up table.
    pub gamma: Gamma,
    /// The cursor, if it is on.
    pub cursor: Option<Cursor>,
}

#[derive(Debug, Default)]
struct State {
    /// Surface address being scanned out (latched).
    active: [u64; MAX_CRTCS],
    stop: bool,
    /// Set while the thread sets status bits and posts vectors without the lock.
    delivering: bool,
    /// Frame whose vertical blank was delivered last.
    delivered: u64,
    /// Look-up tables: A and B, or one for each CRTC.
    luts: [Gamma; MAX_CRTCS],
}

/// The display controller.
#[derive(Debug)]
pub(crate) struct Display {
    start: Instant,
    state: Mutex<State>,
    wake: Condvar,
}

impl Default for Display {
    fn default() -> Self {
        Self {
            start: Instant::now(),
            state: Mutex::new(State::default()),
            wake: Condvar::new(),
        }
    }
}

fn layout(hub: &Hub) -> &'static Layout {
    &hub.generation.display
}

fn load(hub: &Hub, crtc: usize, reg: u32) -> u32 {
    hub.regs.load(layout(hub).at(crtc, reg))
}

fn set_bits(hub: &Hub, reg: u32, clear: u32, set: u32) {
    hub.regs.store(reg, hub.regs.load(reg) & !clear | set);
}

fn running(hub: &Hub, crtc: usize) -> bool {
    load(hub, crtc, layout(hub).control) & dce::CRTC_EN != 0
}

fn pending(hub: &Hub, crtc: usize) -> bool {
    load(hub, crtc, layout(hub).update) & dce::SURFACE_UPDATE_PENDING != 0
}

fn vblank_enabled(hub: &Hub, crtc: usize) -> bool {
    let (register, mask) = layout(hub).vblank_enable[crtc];
    hub.regs.load(register) & mask != 0
}

/// Vertical timing in lines.
struct Vertical {
    total: u64,
    blank_start: u64,
    visible: u64,
}

impl Vertical {
    fn of(hub: &Hub, crtc: usize) -> Self {
        let layout = layout(hub);
        let lines = match load(hub, crtc, layout.viewport_size) & 0x1FFF {
            0 => DEFAULT_LINES,
            n => n,
        };
        let total = match load(hub, crtc, layout.v_total) & 0x1FFF {
            0 => lines + lines / 20 + 1,
            n => n + 1,
        };
        let blank_start = match load(hub, crtc, layout.v_blank_start_end) & 0x1FFF {
            0 => lines,
            n => n,
        };
        Self {
            total: u64::from(total.max(lines + 1)),
            blank_start: u64::from(blank_start),
            visible: u64::from(lines),
        }
    }
}

impl Display {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn frame(&self) -> u64 {
        (self.start.elapsed().as_nanos() / FRAME.as_nanos()) as u64
    }

    /// Time since the current frame's vertical blank began.
    fn since_vblank(&self) -> Duration {
        let nanos = self.start.elapsed().as_nanos() % FRAME.as_nanos();
        Duration::from_nanos(nanos as u64)
    }

    /// Line and pixel of the beam, and whether it is in the vertical blank.
    fn beam(&self, hub: &Hub, crtc: usize) -> (u32, u32, bool) {
        let v = Vertical::of(hub, crtc);
        let pixels = v.total * u64::from(PIXELS_PER_LINE);
        let done = self.since_vblank().as_nanos() as u64 * pixels / FRAME.as_nanos() as u64;
        let lines = done / u64::from(PIXELS_PER_LINE);
        let line = (v.blank_start + lines) % v.total;
        let in_blank = lines < v.total - v.visible;
        let pixel = done % u64::from(PIXELS_PER_LINE);
        (line as u32, pixel as u32, in_blank)
    }

    /// Reads a register whose value depends on time. `reg` is the first
    /// CRTC's offset. The values of a stopped CRTC do not change.
    pub fn read(&self, hub: &Hub, crtc: usize, reg: u32) -> u32 {
        if !running(hub, crtc) {
            return load(hub, crtc, reg);
        }
        let layout = layout(hub);
        if reg == layout.frame_count {
            self.frame() as u32 & 0xFF_FFFF
        } else if reg == layout.position {
            let (line, pixel, _) = self.beam(hub, crtc);
            line | (pixel << 16)
        } else if reg == layout.hv_count {
            // In pixels of 37 ns: less than a trapped read takes, so that
            // successive reads differ.
            (self.start.elapsed().as_nanos() / 37) as u32 & 0x1FFF_FFFF
        } else if reg == layout.status {
            let (_, _, in_blank) = self.beam(hub, crtc);
            if in_blank {
                dce::CRTC_V_BLANK
            } else {
                0
            }
        } else if reg == layout.vblank_status {
            let (_, _, in_blank) = self.beam(hub, crtc);
            let stat = if in_blank { dce::VBLANK_STAT } else { 0 };
            load(hub, crtc, reg) & !dce::VBLANK_STAT | stat
        } else {
            load(hub, crtc, reg)
        }
    }

    /// Writes a display register with a side effect. `reg` is the first
    /// CRTC's offset.
    pub fn write(&self, hub: &Hub, crtc: usize, reg: u32, value: u32) {
        let layout = layout(hub);
        let offset = layout.at(crtc, reg);
        if reg == layout.primary {
            hub.regs.store(offset, value);
            let mut state = self.lock();
            if running(hub, crtc) {
                let update = layout.at(crtc, layout.update);
                set_bits(hub, update, 0, dce::SURFACE_UPDATE_PENDING);
            } else {
                state.active[crtc] = requested(hub, crtc);
            }
            drop(state);
            self.wake.notify_all();
        } else if reg == layout.update {
            // The pending bit is read-only; the thread clears it under
            // the lock.
            let state = self.lock();
            let old = load(hub, crtc, reg) & dce::SURFACE_UPDATE_PENDING;
            let new = value & !dce::SURFACE_UPDATE_PENDING | old;
            hub.regs.store(offset, new);
            drop(state);
            self.wake.notify_all();
        } else if reg == layout.flip_status {
            if value & dce::PFLIP_INT_CLEAR != 0 {
                set_bits(hub, offset, dce::PFLIP_INT_OCCURRED, 0);
            }
        } else if reg == layout.vblank_status {
            if value & dce::VBLANK_ACK != 0 {
                let clear = dce::VBLANK_OCCURRED | dce::VBLANK_INTERRUPT;
                set_bits(hub, offset, clear, 0);
                let (register, asserted) = layout.vblank_asserted[crtc];
                set_bits(hub, register, asserted, 0);
            }
        } else {
            hub.regs.store(offset, value);
            self.kick();
        }
    }

    /// The surface that `crtc` shows; `None` if the CRTC is off or blanked, or
    /// its mode is incomplete or unknown.
    pub fn scanout(&self, hub: &Hub, crtc: usize) -> Option<Scanout> {
        let layout = layout(hub);
        if crtc >= hub.model.crtcs
            || !running(hub, crtc)
            || load(hub, crtc, layout.blank_control) & dce::BLANK_DATA_EN != 0
            || load(hub, crtc, layout.grph_enable) & 1 == 0
        {
            return None;
        }
        let control = load(hub, crtc, layout.grph_control);
        let swap = load(hub, crtc, layout.grph_swap);
        let format = PixelFormat::decode(control, swap)?;
        let size = load(hub, crtc, layout.viewport_size);
        let origin = load(hub, crtc, layout.viewport_start);
        let (width, height) = ((size >> 16) & 0x1FFF, size & 0x1FFF);
        let (x, y) = ((origin >> 16) & 0x1FFF, origin & 0x1FFF);
        let pitch_bytes = (load(hub, crtc, layout.pitch) & 0x3FFF) * format.bytes();
        if width == 0 || height == 0 || pitch_bytes == 0 {
            return None;
        }
        let array_mode = (control >> 20) & 0xF;
        let surface = self.lock().active[crtc];
        let mut scanout = Scanout {
            mc_addr: surface,
            pitch_bytes,
            width,
            height,
            format,
            array_mode,
            tiling: (layout.tiling)(hub.regs.as_ref(), control),
            x,
            y,
            gamma: self.gamma(hub, crtc),
            cursor: Cursor::of(hub, crtc, (x, y)),
        };
        if array_mode < 2 {
            let skip = u64::from(y) * u64::from(pitch_bytes) + u64::from(x * format.bytes());
            scanout.mc_addr = surface + skip;
            (scanout.x, scanout.y) = (0, 0);
        }
        Some(scanout)
    }

    /// The look-up table that `crtc` uses.
    fn gamma(&self, hub: &Hub, crtc: usize) -> Gamma {
        let layout = layout(hub);
        let select = load(hub, crtc, layout.lut_bypass);
        let table = match layout.lut {
            Lut::Shared(_) => (select & 1) as usize,
            Lut::Own => crtc,
        };
        let mut gamma = self.lock().luts[table];
        gamma.bypass_10_bits = select & dce::LUT_10BIT_BYPASS_EN != 0;
        gamma
    }

    /// A write to a register of the first CRTC's offset `lut_colour`: sets an entry and
    /// increments the index.
    fn write_lut(&self, hub: &Hub, crtc: usize, value: u32) {
        let index = self.next_lut_index(hub, crtc);
        self.lock().luts[lut_accessed(hub, crtc)].set(index, value);
    }

    /// A read of that register: returns an entry and increments the index.
    fn read_lut(&self, hub: &Hub, crtc: usize) -> u32 {
        let index = self.next_lut_index(hub, crtc);
        self.lock().luts[lut_accessed(hub, crtc)].entry(index)
    }

    fn next_lut_index(&self, hub: &Hub, crtc: usize) -> u32 {
        let layout = layout(hub);
        let index = load(hub, crtc, layout.lut_index) & 0xFF;
        let register = layout.at(crtc, layout.lut_index);
        hub.regs.store(register, (index + 1) & 0xFF);
        index
    }

    fn kick(&self) {
        drop(self.lock());
        self.wake.notify_all();
    }

    /// Keeps retraces from being delivered while the guard lives.
    pub(crate) fn hold(&self) -> MutexGuard<'_, impl Sized> {
        let mut state = self.lock();
        while state.delivering {
            let woken = self.wake.wait(state);
            state = woken.unwrap_or_else(PoisonError::into_inner);
        }
        state
    }

    /// Forgets flips, surfaces and look-up tables.
    pub fn reset(&self) {
        let mut state = self.lock();
        state.active = [0; MAX_CRTCS];
        state.luts = [Gamma::default(); MAX_CRTCS];
        drop(state);
        self.wake.notify_all();
    }

    /// Ends the thread; the caller joins it.
    pub fn stop(&self) {
        self.lock().stop = true;
        self.wake.notify_all();
    }

    /// Body of the display thread.
    pub fn run(&self, hub: &Hub, ih: &Ih) {
        let mut state = self.lock();
        while !state.stop {
            let needed = (0..hub.model.crtcs)
                .any(|c| pending(hub, c) || running(hub, c) && vblank_enabled(hub, c));
            if !needed {
                state.delivered = self.frame();
                state = self
                    .wake
                    .wait(state)
                    .unwrap_or_else(PoisonError::into_inner);
                // Do not deliver the blanks that passed during the sleep.
                state.delivered = state.delivered.max(self.frame());
                continue;
            }
            let now = self.frame();
            let mut due = [false; MAX_CRTCS];
            let layout = layout(hub);
            for (crtc, due) in due.iter_mut().enumerate().take(hub.model.crtcs) {
                let async_flip =
                    load(hub, crtc, layout.flip_control) & dce::SURFACE_UPDATE_H_RETRACE_EN != 0;
                let locked = load(hub, crtc, layout.update) & dce::UPDATE_LOCK != 0;
                let at_retrace = now > state.delivered || async_flip;
                let now_or_never = at_retrace || !running(hub, crtc);
                *due = pending(hub, crtc) && !locked && now_or_never;
                if *due {
                    state.active[crtc] = requested(hub, crtc);
                    let update = layout.at(crtc, layout.update);
                    set_bits(hub, update, dce::SURFACE_UPDATE_PENDING, 0);
                }
            }
            let blank = now > state.delivered;
            state.delivered = state.delivered.max(now);
            if blank || due != [false; MAX_CRTCS] {
                // Raise interrupts without holding this block's lock.
                state.delivering = true;
                drop(state);
                deliver(hub, ih, blank, due);
                state = self.lock();
                state.delivering = false;
                self.wake.notify_all();
                continue;
            }
            let rest = FRAME.saturating_sub(self.since_vblank());
            // Wake up a microsecond late rather than early.
            state = self
                .wake
                .wait_timeout(state, rest + Duration::from_micros(1))
                .unwrap_or_else(PoisonError::into_inner)
                .0;
        }
    }
}

/// The look-up table that the access registers of `crtc`'s block mean.
fn lut_accessed(hub: &Hub, crtc: usize) -> usize {
    match layout(hub).lut {
        Lut::Shared(select) => (hub.regs.load(select) & 1) as usize,
        Lut::Own => crtc,
    }
}

/// Surface address in the registers.
fn requested(hub: &Hub, crtc: usize) -> u64 {
    let layout = layout(hub);
    let low = load(hub, crtc, layout.primary);
    let high = hub.regs.load(layout.primary_high[crtc]) & 0xFF;
    (u64::from(high) << 32) | u64::from(low)
}

/// Sets status bits and posts the vectors of a retrace.
fn deliver(hub: &Hub, ih: &Ih, blank: bool, flipped: [bool; MAX_CRTCS]) {
    let layout = layout(hub);
    for (crtc, flipped) in flipped.into_iter().enumerate().take(hub.model.crtcs) {
        if blank && running(hub, crtc) {
            let enabled = vblank_enabled(hub, crtc);
            let interrupt = if enabled { dce::VBLANK_INTERRUPT } else { 0 };
            let status = layout.at(crtc, layout.vblank_status);
            set_bits(hub, status, 0, dce::VBLANK_OCCURRED | interrupt);
            if enabled {
                hub.counters.inc(Counter::Vblanks);
                let (register, asserted) = layout.vblank_asserted[crtc];
                set_bits(hub, register, 0, asserted);
                ih.post(hub, Source::Vblank(layout.vblank_source[crtc]), 0);
            }
        }
        if flipped {
            hub.counters.inc(Counter::Flips);
            hub.trace
                .line("display", format_args!("crtc {crtc} flipped"));
            let status = layout.at(crtc, layout.flip_status);
            set_bits(hub, status, 0, dce::PFLIP_INT_OCCURRED);
            if load(hub, crtc, layout.flip_enable) & dce::PFLIP_INT_MASK != 0 {
                ih.post(hub, Source::Flip(layout.flip_source[crtc]), 0);
            }
        }
    }
}
