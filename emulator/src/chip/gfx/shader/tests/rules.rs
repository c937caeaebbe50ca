// SPDX-License-Identifier: MIT
//! Programs that hardware does not execute as the interpreter does.

use super::*;
use crate::chip::gfx::shader::validate::{validate, Resources, Violation};

fn found(items: &[Item], register: u32, exports: &[ExportKind]) -> Vec<Violation> {
    validate(
        &decode(&assemble(items)),
        Resources::decode(register),
        exports,
    )
}

/// An ALU clause with one group of one instruction.
fn one(op_: AluOp, dst: (u8, u8), src: &[Operand]) -> Item {
    clause(cf::ALU, &[op(op_, dst, src)])
}

#[test]
fn gprs_of_all_instructions_count() {
    let add = |dst, src| one(AluOp::Add, (dst, 0), &[r(src, 1), r(0, 0)]);
    let gprs = |item: Item, gprs| found(&[item], gprs, &[]);
    assert_eq!(gprs(add(3, 7), 8), []);
    assert_eq!(gprs(add(3, 7), 7), [Violation::Gpr(7, 7)]);
    assert_eq!(gprs(add(9, 7), 7), [Violation::Gpr(9, 7)]);
    // A masked result and clause temporaries need none.
    let masked = group(&[alu(AluOp::Add, (9, 0), &[r(0, 0), r(0, 0)]).masked()]);
    assert_eq!(gprs(clause(cf::ALU, &[masked]), 1), []);
    assert_eq!(gprs(add(124, 127), 1), []);
    // Literals are no instructions.
    let literal = op(AluOp::Add, (0, 0), &[lit(u32::MAX), lit(0x0FFF_FFFF)]);
    assert_eq!(gprs(clause(cf::ALU, &[literal.clone(), literal]), 1), []);
    let fetch = || Item::Fetch(cf::VTX, vfetch(0, 5, 2, 0x23, 0, 0));
    assert_eq!(gprs(fetch(), 6), []);
    assert_eq!(gprs(fetch(), 5), [Violation::Gpr(5, 5)]);
    let texel = |src: u32, dst: u32| {
        let words = vec![
            0x10 | src << 16,
            dst | 1 << 12 | 2 << 15 | 3 << 18,
            1 << 23,
            0,
        ];
        Item::Fetch(cf::TEX, words)
    };
    assert_eq!(gprs(texel(4, 1), 4), [Violation::Gpr(4, 4)]);
    assert_eq!(gprs(texel(1, 4), 4), [Violation::Gpr(4, 4)]);
    assert_eq!(gprs(export(0, 0, 4, [0, 1, 2, 3], 3), 7), []);
    assert_eq!(
        gprs(export(0, 0, 4, [0, 1, 2, 3], 3), 6),
        [Violation::Gpr(6, 6)]
    );
    // What follows the end of a subroutine is none of its instructions.
    let subroutine = [
        fetch(),
        flow(cf::RET, 0, 0),
        export(0, 0, 100, [0, 1, 2, 3], 1),
    ];
    assert_eq!(found(&subroutine, 6, &[]), []);
    // (0, 0, 0, 1) reads no GPR.
    assert_eq!(gprs(export(0, 0, 4, [4, 4, 4, 5], 1), 1), []);
}

#[test]
fn units_of_a_group_are_taken_once() {
    let units = |slots: &[Alu]| found(&[clause(cf::ALU, &[group(slots)])], 8, &[]);
    let add = |chan| alu(AluOp::Add, (1, chan), &[r(0, 0), r(0, 1)]);
    let sine = |chan| alu(AluOp::Sin, (2, chan), &[r(0, 0)]);
    let dot = |chan| alu(AluOp::Dot4, (2, chan), &[r(0, 0), r(0, 1)]);
    assert_eq!(units(&[add(0), add(1), add(2), add(3), sine(0)]), []);
    // The second one goes to the transcendental unit, unless that is taken, too.
    assert_eq!(units(&[add(0), add(0)]), []);
    assert_eq!(units(&[add(0), add(0), add(0)]), [Violation::Unit(4)]);
    assert_eq!(units(&[add(0), add(0), sine(1)]), [Violation::Unit(4)]);
    assert_eq!(units(&[sine(0), sine(1)]), [Violation::Unit(4)]);
    assert_eq!(units(&[dot(0), dot(1), dot(2), dot(3)]), []);
    assert_eq!(units(&[dot(0), dot(0)]), [Violation::Unit(4)]);
}

#[test]
fn nesting_needs_stack_entries() {
    // STACK_SIZE is in bits 8 to 15.
    let has = |entries: u32| 8 | entries << 8;
    let flat = [one(AluOp::Mov, (0, 0), &[r(0, 1)])];
    assert_eq!(found(&flat, has(0), &[]), []);
    let nested = |depth: usize| {
        let mut items = vec![flow(cf::LOOP_START_DX10, 2 * depth + 2, 0)];
        items.extend((0..depth).map(|_| flow(cf::PUSH, 2 * depth + 1, 0)));
        items.extend((0..depth).map(|_| flow(cf::POP, 0, 1)));
        items.push(flow(cf::LOOP_END, 1, 0));
        items.push(flow(cf::NOP, 0, 0));
        items
    };
    assert_eq!(found(&nested(0), has(1), &[]), []);
    assert_eq!(found(&nested(0), has(0), &[]), [Violation::Stack(1, 0)]);
    // Six pushes and two masks are the second entry.
    assert_eq!(found(&nested(6), has(2), &[]), []);
    assert_eq!(found(&nested(7), has(2), &[]), [Violation::Stack(3, 2)]);
    // One after the other they share an entry.
    let mut items = Vec::new();
    for _ in 0..9 {
        items.extend([flow(cf::PUSH, 0, 0), flow(cf::POP, 0, 1)]);
    }
    items.push(flow(cf::NOP, 0, 0));
    assert_eq!(found(&items, has(1), &[]), []);
}

#[test]
fn the_last_export_of_a_kind_is_the_last() {
    use ExportKind::{Parameter, Pixel, Position};
    let done = |kind, base| export(kind, base, 0, [0, 1, 2, 3], 1);
    let more = |kind, base| match done(kind, base) {
        Item::Raw([low, high]) => Item::Raw([low, high - (1 << 23)]),
        other => other,
    };
    let all = &[Position, Parameter];
    assert_eq!(found(&[done(1, 60), more(2, 0), done(2, 1)], 1, all), []);
    let found_of = |items: &[Item], needs: &[ExportKind]| found(items, 1, needs);
    let items = [done(1, 60), done(2, 0), more(2, 1)];
    assert_eq!(found_of(&items, all), [Violation::NotDone(Parameter)]);
    assert_eq!(
        found_of(&[done(1, 60)], all),
        [Violation::NotDone(Parameter)]
    );
    assert_eq!(
        found_of(&[flow(cf::NOP, 0, 0)], &[Pixel]),
        [Violation::NotDone(Pixel)]
    );
    // Nobody needs it, but once begun it has to end.
    assert_eq!(found_of(&[more(0, 0)], &[]), [Violation::NotDone(Pixel)]);
}
