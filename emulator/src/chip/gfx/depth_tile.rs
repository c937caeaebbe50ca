// SPDX-License-Identifier: MIT
//! The depth buffer in memory: loads tiles of elements into lanes and stores them.
//!
//! A depth buffer is 1D or 2D tiled in depth order (`TILE_TYPE` 1), in which the
//! samples of an element are adjacent.

use super::compressed::Compression;
use super::depth::{Format, Replaced, Samples};
use super::lanes::{Lanes, Mask, ALL, LANES};
use super::memory::View;
use super::state::Shadow;
use super::surface::{self, At, Place};
use crate::chip::bus::McError;
use crate::chip::regs::fields::r700::{
    db_depth_info, db_depth_size, db_depth_view, db_render_control,
};
use crate::chip::regs::fields::Field;
use crate::chip::regs::gfx as reg;
use crate::chip::strict::cache::Cache;
use crate::chip::tiling::{ArrayMode, Layout, TilingConfig};

/// Bytes of the largest tile: elements of 8 bytes, 8 samples.
const MAX_TILE: usize = LANES * 8 * 8;

/// All rows of a tile: there are no linear depth buffers.
const ALL_ROWS: u8 = 0xFF;

/// A plane of depth or of stencil.
#[derive(Debug, Clone, Copy)]
pub struct Plane {
    /// MC address.
    pub base: u64,
    /// Tiling geometry.
    pub config: TilingConfig,
    /// Whether its tiles are compressed.
    pub compression: Compression,
}

/// Separate planes of depth and stencil (Evergreen).
#[derive(Debug, Clone, Copy)]
pub struct Planes {
    /// Arrangement.
    pub mode: ArrayMode,
    /// Pixels in a row.
    pub pitch: u32,
    /// Pixels of a slice.
    pub slice: u32,
    /// First and last slice of the view.
    pub slices: (u32, u32),
    /// Samples of a pixel.
    pub samples: u32,
    /// Depth.
    pub depth: Plane,
    /// Stencil, if there is one.
    pub stencil: Option<Plane>,
}

/// A depth buffer.
#[derive(Debug, Clone)]
pub struct Surface {
    surface: surface::Surface,
    format: Format,
    /// There is no depth, only the plane of stencil.
    no_depth: bool,
    /// The plane of stencil, a byte for each sample; none if it shares the elements of depth.
    stencil: Option<surface::Surface>,
    /// The draw does not access that plane.
    no_stencil: bool,
    first_slice: u32,
    last_slice: u32,
}

impl Surface {
    /// Decodes `DB_DEPTH_BASE`, `_SIZE`, `_VIEW` and `_INFO`.
    pub fn decode(s: &Shadow, config: TilingConfig, samples: u32) -> Option<Self> {
        let info = s.get(reg::DB_DEPTH_INFO);
        let format = Format::decode(db_depth_info::FORMAT.of(info))?;
        let size = s.get(reg::DB_DEPTH_SIZE);
        let view = s.get(reg::DB_DEPTH_VIEW);
        // There is no linear depth; the other modes mean 1D here.
        let mode = match ArrayMode::from_field(db_depth_info::ARRAY_MODE.of(info)) {
            ArrayMode::Tiled2dThin1 => ArrayMode::Tiled2dThin1,
            _ => ArrayMode::Tiled1dThin1,
        };
        let mut layout = Layout::new(
            mode,
            format.bytes(),
            (db_depth_size::PITCH_TILE_MAX.of(size) + 1) * 8,
            (db_depth_size::SLICE_TILE_MAX.of(size) + 1) * 64,
            config,
        );
        layout.samples = samples;
        layout.depth_order = true;
        let base = u64::from(s.get(reg::DB_DEPTH_BASE)) << 8;
        Some(Self {
            surface: surface::Surface::new(base, layout, Cache::Depth).with_compression(
                compression(
                    s,
                    db_depth_info::TILE_SURFACE_ENABLE.is_set(info),
                    &[
                        db_render_control::STENCIL_COMPRESS_DISABLE,
                        db_render_control::DEPTH_COMPRESS_DISABLE,
                    ],
                ),
            ),
            format,
            no_depth: false,
            stencil: None,
            no_stencil: false,
            first_slice: db_depth_view::SLICE_START.of(view),
            last_slice: db_depth_view::SLICE_MAX.of(view),
        })
    }

    /// A buffer of separate planes of depth, none without `format`, and stencil.
    pub fn planes(format: Option<Format>, planes: &Planes) -> Self {
        let mode = match planes.mode {
            ArrayMode::Tiled2dThin1 => ArrayMode::Tiled2dThin1,
            _ => ArrayMode::Tiled1dThin1,
        };
        let surface = |plane: &Plane, bytes| {
            let mut layout = Layout::new(mode, bytes, planes.pitch, planes.slice, plane.config);
            layout.samples = planes.samples;
            layout.depth_order = true;
            surface::Surface::new(plane.base, layout, Cache::Depth)
                .with_compression(plane.compression)
        };
        let held = format.unwrap_or(Format::X8D24);
        Self {
            surface: surface(&planes.depth, held.bytes()),
            format: held,
            no_depth: format.is_none(),
            stencil: planes.stencil.as_ref().map(|plane| surface(plane, 1)),
            no_stencil: false,
            first_slice: planes.slices.0,
            last_slice: planes.slices.1,
        }
    }

    /// The same buffer for a draw that neither tests nor writes stencil: a plane of stencil is not
    /// accessed then. What shares the elements of depth is.
    pub fn without_stencil(self) -> Self {
        Self {
            no_stencil: true,
            ..self
        }
    }

    /// The plane of stencil that the draw accesses.
    fn stencil(&self) -> Option<&surface::Surface> {
        self.stencil.as_ref().filter(|_| !self.no_stencil)
    }

    /// A draw covers tile `at`: expands the planes that it expands.
    pub fn expand(&self, view: &View<'_>, at: At) {
        let depth = (!self.no_depth).then_some(&self.surface);
        for plane in [depth, self.stencil.as_ref()].into_iter().flatten() {
            plane.expand_tile(view, &self.place_in(plane, at));
        }
    }

    fn slice(&self, layer: u32) -> u32 {
        let last = self.last_slice.max(self.first_slice);
        self.first_slice.saturating_add(layer).min(last)
    }

    /// The micro tile of `at`, with all its samples.
    fn place(&self, at: At) -> Place {
        self.place_in(&self.surface, at)
    }

    /// The same in a plane.
    fn place_in(&self, plane: &surface::Surface, at: At) -> Place {
        let len = plane.layout.tile_bytes() as usize;
        plane.place((at.x, at.y), self.slice(at.layer), 0, len)
    }

    fn read(&self, view: &View<'_>, place: &Place, bytes: &mut [u8]) -> Result<(), McError> {
        self.surface.read_tile(view, place, ALL_ROWS, bytes)
    }

    /// Reads the sample `at`. Formats with 24 bits of depth put the 8 bits above
    /// them into `out.stencil`, stencil or not. Returns the bytes moved.
    ///
    /// # Errors
    /// The first access that no memory answered.
    pub fn load(&self, view: &View<'_>, at: At, out: &mut Samples) -> Result<u64, McError> {
        let depth = match self.no_depth {
            true => 0,
            false => self.load_elements(view, at, out)?,
        };
        let Some(stencil) = self.stencil() else {
            return Ok(depth);
        };
        let mut buffer = [0; LANES * 8];
        let (place, bytes) = self.stencil_place(stencil, at, &mut buffer);
        stencil.read_tile(view, &place, ALL_ROWS, bytes)?;
        let elements = stencil.layout.lanes();
        for lane in 0..LANES {
            let element = u32::from(elements[lane]);
            out.stencil[lane] = bytes[stencil.layout.sample_place(element, at.sample) as usize];
        }
        Ok(depth + bytes.len() as u64)
    }

    /// The micro tile of `at` in the plane of stencil, and room for its bytes.
    fn stencil_place<'b>(
        &self,
        stencil: &surface::Surface,
        at: At,
        buffer: &'b mut [u8; LANES * 8],
    ) -> (Place, &'b mut [u8]) {
        let len = stencil.layout.tile_bytes() as usize;
        (
            self.place_in(stencil, at),
            &mut buffer[..len.min(LANES * 8)],
        )
    }

    /// [`Self::load`] without a separate plane of stencil.
    fn load_elements(&self, view: &View<'_>, at: At, out: &mut Samples) -> Result<u64, McError> {
        let place = self.place(at);
        if self.is_dword() {
            let mut bytes = [0; LANES * 4];
            self.read(view, &place, &mut bytes)?;
            let words = reorder(&std::array::from_fn(|i| {
                let b = &bytes[i * 4..i * 4 + 4];
                u32::from_le_bytes([b[0], b[1], b[2], b[3]])
            }));
            let mask = self.depth_mask();
            out.depth = words.map(|v| v & mask);
            out.stencil = words.map(|v| ((v & !mask) >> 24) as u8);
            return Ok(bytes.len() as u64);
        }
        let mut buffer = [0; MAX_TILE];
        let bytes = &mut buffer[..self.surface.layout.tile_bytes() as usize];
        self.read(view, &place, bytes)?;
        let elements = self.surface.layout.lanes();
        for lane in 0..LANES {
            let at = self.element(elements[lane], at.sample);
            let word = |at: usize| {
                u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
            };
            match self.format {
                Format::D16 => {
                    out.depth[lane] = u32::from(u16::from_le_bytes([bytes[at], bytes[at + 1]]));
                }
                Format::X8D24 | Format::S8D24 => {
                    let v = word(at);
                    out.depth[lane] = v & 0xFF_FFFF;
                    out.stencil[lane] = (v >> 24) as u8;
                }
                Format::D32F => out.depth[lane] = word(at),
                Format::X24S8D32F => {
                    out.depth[lane] = word(at);
                    out.stencil[lane] = bytes[at + 4];
                }
            }
        }
        Ok(bytes.len() as u64)
    }

    /// Prefetches the sample `at`.
    #[inline]
    pub fn prefetch(&self, view: &View<'_>, at: At) {
        if self.is_plain() {
            (self.surface).prefetch_tile(view, &self.place(at));
        }
    }

    fn element(&self, element: u8, sample: u32) -> usize {
        let layout = &self.surface.layout;
        layout.sample_place(u32::from(element), sample) as usize
    }

    /// Writes the lanes of `changed` back. The other lanes of `samples` must be as [`Self::load`]
    /// left them. Returns the bytes moved.
    ///
    /// # Errors
    /// The first access that no memory answered.
    pub fn store(
        &self,
        view: &View<'_>,
        at: At,
        samples: &Samples,
        changed: Mask,
    ) -> Result<u64, McError> {
        let depth = match self.no_depth {
            true => 0,
            false => self.store_elements(view, at, samples, changed)?,
        };
        let Some(stencil) = self.stencil() else {
            return Ok(depth);
        };
        let mut buffer = [0; LANES * 8];
        let (place, bytes) = self.stencil_place(stencil, at, &mut buffer);
        if stencil.layout.samples != 1 || changed != ALL {
            stencil.read_tile(view, &place, ALL_ROWS, bytes)?;
        }
        let elements = stencil.layout.lanes();
        for lane in (0..LANES).filter(|l| changed >> l & 1 != 0) {
            let element = u32::from(elements[lane]);
            bytes[stencil.layout.sample_place(element, at.sample) as usize] = samples.stencil[lane];
        }
        stencil.write_tile(view, &place, ALL_ROWS, bytes)?;
        Ok(depth + bytes.len() as u64)
    }

    /// [`Self::store`] without a separate plane of stencil.
    fn store_elements(
        &self,
        view: &View<'_>,
        at: At,
        samples: &Samples,
        changed: Mask,
    ) -> Result<u64, McError> {
        let place = self.place(at);
        if self.is_dword() {
            // The unchanged lanes still have the values that `load` read.
            let mask = self.depth_mask();
            let words = reorder(&std::array::from_fn(|lane| {
                samples.depth[lane] & mask | u32::from(samples.stencil[lane]) << 24 & !mask
            }));
            let mut bytes = [0; LANES * 4];
            for (b, word) in bytes.chunks_exact_mut(4).zip(words) {
                b.copy_from_slice(&word.to_le_bytes());
            }
            return self.write(view, &place, &bytes);
        }
        let mut buffer = [0; MAX_TILE];
        let bytes = &mut buffer[..self.surface.layout.tile_bytes() as usize];
        // `samples` may not have every byte of the tile: the others must stay.
        let known =
            self.surface.layout.samples == 1 && changed == ALL && self.format != Format::X24S8D32F;
        if !known {
            self.read(view, &place, bytes)?;
        }
        let elements = self.surface.layout.lanes();
        for lane in (0..LANES).filter(|l| changed >> l & 1 != 0) {
            let at = self.element(elements[lane], at.sample);
            let depth = samples.depth[lane];
            match self.format {
                Format::D16 => {
                    bytes[at..at + 2].copy_from_slice(&(depth as u16).to_le_bytes());
                }
                Format::X8D24 | Format::S8D24 => {
                    let v = depth & 0xFF_FFFF | u32::from(samples.stencil[lane]) << 24;
                    bytes[at..at + 4].copy_from_slice(&v.to_le_bytes());
                }
                Format::D32F => bytes[at..at + 4].copy_from_slice(&depth.to_le_bytes()),
                Format::X24S8D32F => {
                    bytes[at..at + 4].copy_from_slice(&depth.to_le_bytes());
                    bytes[at + 4] = samples.stencil[lane];
                }
            }
        }
        self.write(view, &place, bytes)
    }

    /// Writes `new` to all pixels of a tile. The buffer must be [`Self::is_fillable`].
    ///
    /// # Errors
    /// The first access that no memory answered.
    pub fn fill(&self, view: &View<'_>, at: At, new: Replaced) -> Result<u64, McError> {
        let place = self.place(at);
        let mut bytes = [0; LANES * 4];
        for b in bytes.chunks_exact_mut(4) {
            b.copy_from_slice(&new.element.to_le_bytes());
        }
        self.write(view, &place, &bytes)?;
        if let Some((plane, stencil)) = self.stencil.as_ref().zip(new.stencil) {
            plane.write_tile(view, &self.place_in(plane, at), ALL_ROWS, &[stencil; LANES])?;
        }
        Ok(self.filled(new))
    }

    /// Bytes of a tile that [`Self::fill`] writes.
    pub fn filled(&self, new: Replaced) -> u64 {
        let stencil = self.stencil.is_some() && new.stencil.is_some();
        LANES as u64 * if stencil { 5 } else { 4 }
    }

    /// Writes `new` to all pixels of the `size` micro tiles (columns, rows) at `at`. The buffer
    /// must be [`Self::is_fillable`]. False if that is not possible or failed; a part may then have
    /// been written.
    pub fn fill_block(&self, view: &View<'_>, at: At, size: (u32, u32), new: Replaced) -> bool {
        let fill = |plane: &surface::Surface, pattern: [u8; 4]| {
            plane.fill_tiles(view, (at.x, at.y), size, self.slice(at.layer), &pattern)
        };
        let stencil = self.stencil.as_ref().zip(new.stencil);
        fill(&self.surface, new.element.to_le_bytes())
            && stencil.is_none_or(|(plane, stencil)| fill(plane, [stencil; 4]))
    }

    fn write(&self, view: &View<'_>, place: &Place, bytes: &[u8]) -> Result<u64, McError> {
        (self.surface).write_tile(view, place, ALL_ROWS, bytes)?;
        Ok(bytes.len() as u64)
    }

    /// Whether there is one sample, an element is a dword, and no other plane is accessed.
    pub fn is_plain(&self) -> bool {
        self.is_fillable() && self.stencil().is_none()
    }

    /// Whether all pixels of a tile can be filled: there is one sample, and elements of depth are dwords.
    pub fn is_fillable(&self) -> bool {
        self.is_dword() && !self.no_depth
    }

    /// Whether there is one sample and an element of depth is a dword.
    fn is_dword(&self) -> bool {
        self.surface.layout.samples == 1 && self.format.bytes() == 4
    }

    /// The depth bits of a dword.
    fn depth_mask(&self) -> u32 {
        match self.format {
            Format::D32F => u32::MAX,
            _ => 0xFF_FFFF,
        }
    }
}

/// What the backend does with the tiles of a plane that has a tile surface (HTILE), or none: it
/// expands them if one of the fields `disable` of `DB_RENDER_CONTROL` is set.
pub fn compression(s: &Shadow, tile_surface: bool, disable: &[Field]) -> Compression {
    let render = s.get(reg::DB_RENDER_CONTROL);
    match disable.iter().any(|field| field.is_set(render)) {
        _ if !tile_surface => Compression::None,
        false => Compression::Keeps,
        true => Compression::Expands,
    }
}

/// Converts elements in depth order to lanes, or lanes to depth order: swaps the lower two bits of
/// the number of each group of eight.
fn reorder(words: &Lanes) -> Lanes {
    let mut out = [0; LANES];
    for (group, to) in out.chunks_exact_mut(8).enumerate() {
        let from = [0, 2, 1, 3, 4, 6, 5, 7][group] * 8;
        to.copy_from_slice(&words[from..from + 8]);
    }
    out
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;
    use crate::chip::bus::Mc;

    #[test]
    fn reordered_groups_are_the_depth_order() {
        let mut layout = Layout::new(
            ArrayMode::Tiled1dThin1,
            4,
            64,
            4096,
            TilingConfig::from_register(2),
        );
        layout.depth_order = true;
        let words: Lanes = std::array::from_fn(|i| i as u32);
        assert_eq!(reorder(&words), layout.lanes().map(u32::from));
        assert_eq!(reorder(&reorder(&words)), words);
    }

    /// A flat memory, filled with noise. It is direct: blocks are written in runs.
    struct Memory(Mutex<Vec<u8>>);

    impl Memory {
        fn new() -> Self {
            let noise = (0..1u32 << 20).map(|i| (i.wrapping_mul(2_654_435_761) >> 24) as u8);
            Self(Mutex::new(noise.collect()))
        }
    }

    impl Mc for Memory {
        fn read(&self, addr: u64, buf: &mut [u8]) -> Result<(), McError> {
            let at = addr as usize;
            buf.copy_from_slice(&self.0.lock().unwrap()[at..at + buf.len()]);
            Ok(())
        }

        fn write(&self, addr: u64, buf: &[u8]) -> Result<(), McError> {
            let at = addr as usize;
            self.0.lock().unwrap()[at..at + buf.len()].copy_from_slice(buf);
            Ok(())
        }
    }

    /// Depth of 32 bits and a plane of stencil, as Mesa has them on TURKS.
    fn planes(format: Format, stencil: bool) -> Surface {
        let plane = |base, split| Plane {
            base,
            config: TilingConfig::from_register(2).of_surface(split, 2, 0, 2, 1),
            compression: Compression::None,
        };
        let planes = Planes {
            mode: ArrayMode::Tiled2dThin1,
            pitch: 512,
            slice: 512 * 128,
            slices: (0, 0),
            samples: 1,
            depth: plane(0, 4),
            stencil: stencil.then(|| plane(1 << 19, 3)),
        };
        Surface::planes(Some(format), &planes)
    }

    #[test]
    fn filled_tiles_are_those_that_were_stored() {
        for (format, plane, stencil) in [
            (Format::X8D24, true, Some(0x5A)),
            (Format::D32F, true, Some(0x5A)),
            (Format::D32F, true, None),
            (Format::D32F, false, None),
            (Format::S8D24, false, Some(0x5A)),
        ] {
            let surface = planes(format, plane);
            assert!(surface.is_fillable());
            let high = if format == Format::D32F {
                0
            } else {
                0x5A << 24
            };
            let new = Replaced {
                element: 0x12_3456 | high,
                stencil,
            };
            let (stored, filled) = (Memory::new(), Memory::new());
            let (one, other) = (View::new(&stored), View::new(&filled));
            for (x, y) in [(0, 0), (1, 0), (5, 3), (63, 15)] {
                let at = At::new(x, y, 0);
                let mut samples = Samples::default();
                surface.load(&one, at, &mut samples).unwrap();
                samples.depth = [new.element & surface.depth_mask(); LANES];
                if let Some(stencil) = stencil {
                    samples.stencil = [stencil; LANES];
                }
                surface.store(&one, at, &samples, ALL).unwrap();
                assert_eq!(surface.fill(&other, at, new), Ok(surface.filled(new)));
            }
            let bytes = |memory: &Memory| memory.0.lock().unwrap().clone();
            assert!(bytes(&stored) == bytes(&filled), "{format:?} {stencil:?}");
            // Blocks of macro tiles, of 4x16 micro tiles, and of their units, of 2x4, are their tiles.
            for (from, size) in [((0, 0), (8, 16)), ((16, 8), (8, 8))] {
                for (x, y) in (0..size.1).flat_map(|y| (0..size.0).map(move |x| (x, y))) {
                    let at = At::new(from.0 + x, from.1 + y, 0);
                    surface.fill(&one, at, new).unwrap();
                }
                assert!(surface.fill_block(&other, At::new(from.0, from.1, 0), size, new));
                assert!(bytes(&stored) == bytes(&filled), "{format:?} {stencil:?}");
            }
            for (from, size) in [
                ((16, 2), (4, 4)),
                ((17, 4), (4, 4)),
                ((16, 4), (3, 4)),
                ((16, 4), (4, 6)),
            ] {
                assert!(!surface.fill_block(&other, At::new(from.0, from.1, 0), size, new));
            }
        }
        let of = |format| planes(format, true).is_fillable();
        assert!(!of(Format::D16) && !of(Format::X24S8D32F));
    }

    /// A draw without stencil does not read its plane: here no memory answers there.
    #[test]
    fn a_plane_that_the_draw_does_not_access_is_not_read() {
        struct NoStencil(Memory);
        impl Mc for NoStencil {
            fn read(&self, addr: u64, buf: &mut [u8]) -> Result<(), McError> {
                match addr < 1 << 19 {
                    true => self.0.read(addr, buf),
                    false => Err(McError::Unmapped(addr)),
                }
            }
            fn write(&self, addr: u64, buf: &[u8]) -> Result<(), McError> {
                match addr < 1 << 19 {
                    true => self.0.write(addr, buf),
                    false => Err(McError::Unmapped(addr)),
                }
            }
        }
        for format in [Format::X8D24, Format::D32F, Format::D16] {
            let memory = NoStencil(Memory::new());
            let view = View::new(&memory);
            let before = memory.0 .0.lock().unwrap().clone();
            let at = At::new(5, 3, 0);
            let surface = planes(format, true);
            let mut samples = Samples::default();
            assert!(!surface.is_plain());
            assert!(surface.load(&view, at, &mut samples).is_err());
            let surface = surface.without_stencil();
            assert_eq!(surface.is_plain(), format.bytes() == 4);
            let bytes = u64::from(format.bytes()) * LANES as u64;
            assert_eq!(surface.load(&view, at, &mut samples), Ok(bytes));
            assert_eq!(surface.store(&view, at, &samples, ALL), Ok(bytes));
            assert!(*memory.0 .0.lock().unwrap() == before, "{format:?}");
        }
    }
}
