// SPDX-License-Identifier: MIT
//! Accesses of the local data share.

use std::collections::VecDeque;

use super::super::share::{self, RETURNS, WRITE_REL};
use super::super::step::Lds;
use crate::chip::gfx::lanes::{iter, Lanes, Mask, LANES};

/// Most results in the queue. Hardware's is smaller; a shader that takes none would fill memory.
const MOST: usize = 256;

/// Executes `item` for the lanes of `active`, one after the other. Dwords beyond the end of `memory`
/// are 0.
#[inline(never)]
pub(super) fn access(
    rows: &[Lanes],
    item: &Lds,
    memory: &mut [u32],
    active: Mask,
    queue: &mut VecDeque<Lanes>,
) {
    let [address, a, b] = item.src.map(|src| &rows[src.row as usize]);
    let mut out = [0; LANES];
    for lane in iter(active) {
        let at = address[lane] as usize / 4;
        if let Some(dword) = memory.get_mut(at) {
            out[lane] = *dword;
            *dword = share::apply(item.op, *dword, a[lane], b[lane]);
        }
        if item.op == WRITE_REL {
            if let Some(dword) = memory.get_mut(at + usize::from(item.offset)) {
                *dword = b[lane];
            }
        }
    }
    if item.op & RETURNS != 0 && queue.len() < MOST {
        queue.push_back(out);
    }
}
