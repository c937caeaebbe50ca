// SPDX-License-Identifier: MIT
//! Polygons in one colour: clears, and areas that desktops fill.
//!
//! If neither the registers that a pixel shader starts with nor the memory that it reads differ
//! from pixel to pixel, it runs once for a polygon, and the bytes of a covered tile are packed
//! once.

use super::colour::{Targets, UNIFORM_BYTES};
use super::lanes::{Lanes, Mask, ALL};
use super::memory::View;
use super::surface::At;
use crate::chip::bus::McError;

/// The results of a pixel shader that gives all pixels of a polygon the same: it runs once.
#[derive(Debug)]
pub struct Uniform {
    state: Known,
    /// Packed tiles in the exported colour, by target.
    tiles: Box<[[u8; UNIFORM_BYTES]; 8]>,
    /// Bit n: packing for target n has been tried.
    looked: u8,
    /// Bit n: it succeeded, tile n is valid.
    held: u8,
    /// Instructions of the shader's run.
    instructions: u64,
    /// The run has been charged to the square that is drawn.
    charged: bool,
}

/// State of the shader's results.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Known {
    /// They may differ from pixel to pixel.
    Different,
    /// They are the same for all pixels, and the shader has not run yet.
    Wanted,
    /// They are in the exports.
    There,
}

impl Default for Uniform {
    fn default() -> Self {
        Self {
            state: Known::Different,
            tiles: Box::new([[0; UNIFORM_BYTES]; 8]),
            looked: 0,
            held: 0,
            instructions: 0,
            charged: false,
        }
    }
}

impl Uniform {
    /// Begins a polygon. If `uniform`, the shader gives all its pixels the same results.
    pub fn begin(&mut self, uniform: bool) {
        self.state = if uniform {
            Known::Wanted
        } else {
            Known::Different
        };
        (self.looked, self.held) = (0, 0);
    }

    /// The shader has to run once, for any pixel.
    pub fn wanted(&self) -> bool {
        self.state == Known::Wanted
    }

    /// The shader gives all pixels of the polygon the same results.
    pub fn is_shared(&self) -> bool {
        self.state != Known::Different
    }

    /// The exports hold the results.
    pub fn is_known(&self) -> bool {
        self.state == Known::There
    }

    /// Forgets the results for a tile that has its own run; returns whether the others can share
    /// one.
    pub fn suspend(&mut self) -> bool {
        let shared = self.is_shared();
        self.begin(false);
        shared
    }

    /// The shader has run, with so many instructions.
    pub fn ran(&mut self, instructions: u64) {
        if self.wanted() {
            self.state = Known::There;
            (self.instructions, self.charged) = (instructions, true);
        }
    }

    /// The next square of the polygon begins.
    pub fn next_square(&mut self) {
        self.charged = false;
    }

    /// Instructions to charge for results that are used without a run: those of one run for each
    /// square, so that the sum does not depend on which threads draw the squares.
    pub fn charge(&mut self) -> u64 {
        match self.is_known() && !std::mem::replace(&mut self.charged, true) {
            true => self.instructions,
            false => 0,
        }
    }

    /// Writes `lanes` of sample `at` of target `index`, as [`Targets::write_tile`] does; a whole
    /// tile in one colour is packed once.
    ///
    /// # Errors
    /// As [`Targets::write_tile`].
    #[allow(clippy::too_many_arguments)] // those of a tile's write
    #[inline]
    pub fn write(
        &mut self,
        targets: &Targets,
        view: &View<'_>,
        index: usize,
        at: At,
        src: &[&Lanes; 4],
        second: Option<&[&Lanes; 4]>,
        lanes: Mask,
    ) -> Result<(), McError> {
        let known = match lanes {
            ALL => self.tile(targets, index, src),
            _ => None,
        };
        match known {
            Some(bytes) => targets.write_uniform(view, index, at, bytes),
            None => targets.write_tile(view, index, at, src, second, lanes),
        }
    }

    /// The packed bytes of a tile in the exported colour. None unless the shader's results are
    /// known and [`Targets::uniform_tile`] can pack them.
    #[inline]
    pub fn tile(
        &mut self,
        targets: &Targets,
        index: usize,
        src: &[&Lanes; 4],
    ) -> Option<&[u8; UNIFORM_BYTES]> {
        if !self.is_known() {
            return None;
        }
        let bit = 1u8 << (index & 7);
        if self.looked & bit == 0 {
            self.looked |= bit;
            if let Some(bytes) = targets.uniform_tile(index, src) {
                self.tiles[index & 7] = bytes;
                self.held |= bit;
            }
        }
        (self.held & bit != 0).then(|| &self.tiles[index & 7])
    }
}
