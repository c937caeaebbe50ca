// SPDX-License-Identifier: MIT
//! The operations of the local and the global data share, which have the same codes (`LDS_OP`,
//! `GDS_OP`). Source: AMD "Evergreen Family Instruction Set Architecture", chapter 9.3 (LDS
//! instructions); Mesa's `r600_isa.c`.

/// Set in the codes of operations that return the old value.
pub const RETURNS: u8 = 0x20;
/// Stores of bytes and halves, and operations on two addresses, which no driver of the family uses,
/// are not in this list.
pub const WRITE: u8 = 0x0D;
/// Two values at an address and `IDX_OFFSET` dwords behind it.
pub const WRITE_REL: u8 = 0x0E;
/// Returns the value.
pub const READ_RET: u8 = 0x32;
const CMP_STORE: u8 = 0x10;

/// Whether `op` is modelled.
pub const fn is_modelled(op: u8) -> bool {
    op == READ_RET || op == WRITE_REL || matches!(op & !RETURNS, 0..=WRITE | CMP_STORE)
}

/// The new value of a dword that was `old`. `a` and `b` are the operands.
pub fn apply(op: u8, old: u32, a: u32, b: u32) -> u32 {
    let signed = |f: fn(i32, i32) -> i32| f(old as i32, a as i32) as u32;
    match op & !RETURNS {
        0x00 => old.wrapping_add(a),
        0x01 => old.wrapping_sub(a),
        0x02 => a.wrapping_sub(old),
        // INC and DEC wrap at the operand.
        0x03 if old >= a => 0,
        0x03 => old + 1,
        0x04 if old == 0 || old > a => a,
        0x04 => old - 1,
        0x05 => signed(i32::min),
        0x06 => signed(i32::max),
        0x07 => old.min(a),
        0x08 => old.max(a),
        0x09 => old & a,
        0x0A => old | a,
        0x0B => old ^ a,
        // MSKOR
        0x0C => old & !a | b,
        WRITE | WRITE_REL => a,
        CMP_STORE if old == a => b,
        _ => old,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operations_by_their_codes() {
        let cases: [(u8, [u32; 3], u32); 17] = [
            (0x00, [5, 7, 0], 12),
            (0x21, [5, 7, 0], -2i32 as u32),
            (0x02, [5, 7, 0], 2),
            (0x03, [6, 7, 0], 7),
            (0x03, [7, 7, 0], 0),
            (0x24, [0, 7, 0], 7),
            (0x04, [3, 7, 0], 2),
            (0x05, [u32::MAX, 7, 0], u32::MAX),
            (0x26, [u32::MAX, 7, 0], 7),
            (0x07, [u32::MAX, 7, 0], 7),
            (0x08, [u32::MAX, 7, 0], u32::MAX),
            (0x0C, [0xFF, 0xF0, 0x100], 0x10F),
            (0x0D, [5, 7, 0], 7),
            (0x2D, [5, 7, 0], 7),
            (0x30, [5, 5, 9], 9),
            (0x30, [5, 7, 9], 5),
            (READ_RET, [5, 7, 9], 5),
        ];
        for (op, [old, a, b], new) in cases {
            assert!(is_modelled(op), "{op:#x}");
            assert_eq!(apply(op, old, a, b), new, "{op:#x} {old:#x} {a:#x} {b:#x}");
        }
        assert!(!is_modelled(0x12) && !is_modelled(0x34));
    }
}
