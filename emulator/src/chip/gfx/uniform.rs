// SPDX-License-Identifier: MIT
//! Polygons in one colour: clears, and what desktops fill.
//!
//! Where neither the registers that a pixel shader starts with nor what it reads differ
//! from pixel to pixel, it runs once for a polygon, and a tile that is covered as a whole is
//! packed once.

use super::colour::{Targets, UNIFORM_BYTES};
use super::lanes::{Lanes, Mask, ALL};
use super::memory::View;
use super::surface::At;
use crate::chip::bus::McError;

/// The results of a shader that gives the same in all pixels of a polygon: it runs once.
#[derive(Debug)]
pub struct Uniform {
    state: Known,
    /// Tiles in one colour, by target.
    tiles: Box<[[u8; UNIFORM_BYTES]; 8]>,
    /// Bit n: tile n is known, or known not to be one.
    looked: u8,
    held: u8,
}

/// What is known of the shader's results.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Known {
    /// They differ.
    Different,
    /// Nothing, it has not run.
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
        }
    }
}

impl Uniform {
    /// Begins a polygon; `uniform` says that its pixels all get the same.
    pub fn begin(&mut self, uniform: bool) {
        self.state = if uniform {
            Known::Wanted
        } else {
            Known::Different
        };
        (self.looked, self.held) = (0, 0);
    }

    /// The shader has to run, for any pixel.
    pub fn wanted(&self) -> bool {
        self.state == Known::Wanted
    }

    /// The exports hold the results.
    pub fn is_known(&self) -> bool {
        self.state == Known::There
    }

    /// The shader has run.
    pub fn ran(&mut self) {
        if self.wanted() {
            self.state = Known::There;
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

    /// The bytes of a tile in the colour that was exported, if that is all.
    #[inline]
    fn tile(
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
