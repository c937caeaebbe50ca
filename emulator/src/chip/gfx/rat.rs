// SPDX-License-Identifier: MIT
//! Targets of random access (RATs): buffers and images that shaders store to, load from and change by
//! atomic operations (`MEM_RAT`).
//!
//! A RAT is a render target with `RAT` set in `CB_COLORn_INFO` (Mesa's
//! `evergreen_set_shader_images()`, `evergreen_set_shader_buffers()`). A typed store converts the
//! values to the target's format; a raw store writes dwords. Operations that return the old element
//! write it to the buffer of `CB_IMMEDn_BASE`, at the number of elements that the shader gives; a
//! vertex fetch reads it there (`RatInstr::emit_image_load_or_atomic()`). Coordinates outside the
//! target store nothing and return 0.
//!
//! Lanes take turns from 0 on, and the waves of other threads come before or after an operation.
//! Accesses do not go through the colour cache of a strict board.

use std::sync::{Mutex, PoisonError};

use super::colour::pack::{Packing, Raw};
use super::lanes::{iter, LANES};
use super::memory::View;
use super::shader::RandomAccess;
use crate::chip::bus::McError;
use crate::chip::tiling::Layout;

/// Targets of the chip.
pub const TARGETS: usize = 12;

/// `RAT_INST` (Mesa's `RatInstr::ERatOp`).
mod op {
    pub const NOP: u8 = 0;
    pub const STORE_TYPED: u8 = 1;
    pub const STORE_RAW: u8 = 2;
    pub const STORE_RAW_FDENORM: u8 = 3;
    pub const CMPXCHG_INT: u8 = 4;
    pub const ADD: u8 = 7;
    pub const SUB: u8 = 8;
    pub const RSUB: u8 = 9;
    pub const MIN_INT: u8 = 10;
    pub const MIN_UINT: u8 = 11;
    pub const MAX_INT: u8 = 12;
    pub const MAX_UINT: u8 = 13;
    pub const AND: u8 = 14;
    pub const OR: u8 = 15;
    pub const XOR: u8 = 16;
    pub const MSKOR: u8 = 17;
    pub const INC_UINT: u8 = 18;
    pub const DEC_UINT: u8 = 19;
    /// Set in the codes of operations that return the old element.
    pub const RETURNS: u8 = 32;
    /// Codes of stores stand for exchanges there.
    pub const XCHG: u8 = STORE_RAW;
    pub const XCHG_FDENORM: u8 = STORE_RAW_FDENORM;
}

/// `RESOURCE_TYPE`: which of the three coordinates there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Elements in a row.
    Buffer,
    /// x, and z for the layer of an array.
    Lines,
    /// x and y, and z for the layer or slice.
    Planes,
}

impl Kind {
    /// Decodes `RESOURCE_TYPE`.
    pub const fn from_field(value: u32) -> Self {
        match value {
            0 => Kind::Buffer,
            1 | 2 => Kind::Lines,
            _ => Kind::Planes,
        }
    }
}

/// A target of random access.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rat {
    /// MC address of its first byte.
    pub base: u64,
    /// Its coordinates.
    pub kind: Kind,
    /// The arrangement of an image.
    pub layout: Layout,
    /// The format.
    pub packing: Packing,
    /// Largest x and y; of a buffer the largest element.
    pub last: [u32; 2],
    /// First and last slice.
    pub slices: (u32, u32),
    /// MC address of the buffer of returned elements.
    pub returned: u64,
    /// The component of the exported values with the second operand: what is compared.
    pub compare: usize,
}

impl Rat {
    /// The address of the element at `index`, if it is inside.
    fn address(&self, index: [u32; 3]) -> Option<u64> {
        let [x, y, z] = index;
        let offset = match self.kind {
            Kind::Buffer if x <= self.last[0] => u64::from(x) * self.packing.bytes() as u64,
            Kind::Buffer => return None,
            kind => {
                let y = if kind == Kind::Lines { 0 } else { y };
                let slice = self.slices.0.checked_add(z)?;
                if x > self.last[0] || y > self.last[1] || slice > self.slices.1 {
                    return None;
                }
                self.layout.offset(x, y, slice)
            }
        };
        self.base.checked_add(offset)
    }

    /// Executes `access`. `turns`: held while an element is read and written.
    ///
    /// # Errors
    /// The last access that no memory answered. The other lanes have their effect.
    pub fn execute(
        &self,
        view: &View<'_>,
        access: &RandomAccess<'_>,
        turns: &Mutex<()>,
    ) -> Result<(), McError> {
        match access.op {
            op::STORE_TYPED => self.store(view, access),
            op::STORE_RAW | op::STORE_RAW_FDENORM => self.store_raw(view, access),
            _ => {
                let _turn = turns.lock().unwrap_or_else(PoisonError::into_inner);
                self.atomic(view, access)
            }
        }
    }

    /// How many dwords raw stores reach.
    fn dwords(&self) -> u64 {
        (u64::from(self.last[0]) + 1) * self.packing.bytes() as u64 / 4
    }

    /// What `access` writes for `lane`: MC addresses and bytes.
    pub fn writes(&self, access: &RandomAccess<'_>, lane: usize) -> Vec<(u64, u64)> {
        let bytes = self.packing.bytes() as u64;
        let index = access.index.map(|index| index[lane]);
        if matches!(access.op, op::STORE_RAW | op::STORE_RAW_FDENORM) {
            let written = (0..4).filter(|chan| access.components >> chan & 1 != 0);
            let places = written.map(|chan| u64::from(index[0]) + chan);
            let inside = places.filter(|at| *at < self.dwords());
            return inside
                .map(|at| (self.base.saturating_add(4 * at), 4))
                .collect();
        }
        let mut writes = Vec::new();
        if access.op & !op::RETURNS != op::NOP {
            writes.extend(self.address(index).map(|address| (address, bytes)));
        }
        if access.op & op::RETURNS != 0 {
            let place = u64::from(access.values[1][lane]) * bytes;
            writes.push((self.returned.saturating_add(place), bytes));
        }
        writes
    }

    fn store(&self, view: &View<'_>, access: &RandomAccess<'_>) -> Result<(), McError> {
        let mut raw: Raw = [[0; LANES]; 4];
        self.packing
            .pack(&access.values.map(|values| *values), &mut raw);
        let (all, written) = (
            self.packing.all_bits(),
            self.packing.mask(access.components),
        );
        let bytes = self.packing.bytes();
        let mut result = Ok(());
        for lane in iter(access.exec) {
            let Some(address) = self.address(access.index.map(|index| index[lane])) else {
                continue;
            };
            let mut element = [0; 16];
            let element = &mut element[..bytes];
            if all != written {
                if let Err(e) = view.read(address, element) {
                    result = Err(e);
                    continue;
                }
            }
            // The words of an element of less than four bytes are shorter.
            for (word, out) in element.chunks_mut(4).enumerate() {
                let mut old = [0; 4];
                old[..out.len()].copy_from_slice(out);
                let kept = u32::from_le_bytes(old) & all[word] & !written[word];
                let new = kept | raw[word][lane] & written[word];
                out.copy_from_slice(&new.to_le_bytes()[..out.len()]);
            }
            if let Err(e) = view.write(address, element) {
                result = Err(e);
            }
        }
        result
    }

    fn store_raw(&self, view: &View<'_>, access: &RandomAccess<'_>) -> Result<(), McError> {
        let dwords = self.dwords();
        let mut result = Ok(());
        for lane in iter(access.exec) {
            for chan in (0..4).filter(|chan| access.components >> chan & 1 != 0) {
                let at = u64::from(access.index[0][lane]) + chan as u64;
                if at >= dwords {
                    continue;
                }
                let value = access.values[chan][lane].to_le_bytes();
                if let Err(e) = view.write(self.base.saturating_add(4 * at), &value) {
                    result = Err(e);
                }
            }
        }
        result
    }

    fn atomic(&self, view: &View<'_>, access: &RandomAccess<'_>) -> Result<(), McError> {
        let bytes = self.packing.bytes();
        let mut result = Ok(());
        let mut failed = |e| result = Err(e);
        for lane in iter(access.exec) {
            let mut element = [0; 16];
            let element = &mut element[..bytes];
            let address = self.address(access.index.map(|index| index[lane]));
            if let Some(address) = address {
                if let Err(e) = view.read(address, element) {
                    failed(e);
                    continue;
                }
            }
            let returned = access.values[1][lane];
            if access.op & op::RETURNS != 0 {
                let place = u64::from(returned) * bytes as u64;
                if let Err(e) = view.write(self.returned.saturating_add(place), element) {
                    failed(e);
                }
            }
            // Elements of other sizes are only loaded.
            let (Some(address), Ok(old)) = (address, <[u8; 4]>::try_from(&*element)) else {
                continue;
            };
            let (old, operand) = (u32::from_le_bytes(old), access.values[0][lane]);
            if let Some(new) = apply(
                access.op,
                old,
                operand,
                access.values[self.compare & 3][lane],
            ) {
                if let Err(e) = view.write(address, &new.to_le_bytes()) {
                    failed(e);
                }
            }
        }
        result
    }
}

/// Whether the operation is modelled. Those on floats are not: no driver of the family uses them.
pub const fn is_modelled(operation: u8) -> bool {
    matches!(
        operation & !op::RETURNS,
        op::NOP | op::STORE_RAW..=op::CMPXCHG_INT | op::ADD..=op::DEC_UINT
    ) || operation == op::STORE_TYPED
}

/// The components of the values that `operation` reads: those to store, or an operand in x and the
/// place of the result in y. That of a value to compare with is left out, as it depends on the chip.
pub const fn operands(operation: u8, components: u8) -> u8 {
    let returns = operation & op::RETURNS != 0;
    let place = if returns { 0b10 } else { 0 };
    match operation & !op::RETURNS {
        op::NOP => place,
        op::STORE_TYPED | op::STORE_RAW | op::STORE_RAW_FDENORM if !returns => components,
        _ => place | 1,
    }
}

/// The new value of a dword that was `old`; none if it stays.
fn apply(operation: u8, old: u32, operand: u32, compare: u32) -> Option<u32> {
    let signed = |f: fn(i32, i32) -> i32| f(old as i32, operand as i32) as u32;
    Some(match operation & !op::RETURNS {
        op::XCHG | op::XCHG_FDENORM => operand,
        op::CMPXCHG_INT if old == compare => operand,
        op::ADD => old.wrapping_add(operand),
        op::SUB => old.wrapping_sub(operand),
        op::RSUB => operand.wrapping_sub(old),
        op::MIN_INT => signed(i32::min),
        op::MIN_UINT => old.min(operand),
        op::MAX_INT => signed(i32::max),
        op::MAX_UINT => old.max(operand),
        op::AND => old & operand,
        op::OR => old | operand,
        op::XOR => old ^ operand,
        op::MSKOR => old & !operand | compare,
        op::INC_UINT if old >= operand => 0,
        op::INC_UINT => old + 1,
        op::DEC_UINT if old == 0 || old > operand => operand,
        op::DEC_UINT => old - 1,
        _ => return None,
    })
}

#[cfg(test)]
mod tests;
