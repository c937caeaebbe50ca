// SPDX-License-Identifier: MIT
//! Programs that hardware does not execute as the interpreter does.

use std::slice;

use super::*;
use crate::chip::gfx::shader::validate::{validate, Chip, Resources, Violation};

fn found(items: &[Item], register: u32, exports: &[ExportKind]) -> Vec<Violation> {
    validate(
        &decode(&assemble(items)),
        Resources::decode(register, Chip::default()),
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
    let add = |chan| alu(AluOp::Add, (1, chan), &[r(0, 0), r(0, 1)]).masked();
    let sine = |chan| alu(AluOp::Sin, (2, chan), &[r(0, 0)]).masked();
    let dot = |chan| alu(AluOp::Dot4, (2, chan), &[r(0, 0), r(0, 1)]).masked();
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
fn registers_are_read_by_one_port_an_element_and_cycle() {
    let ports = |slots: &[Alu]| found(&[clause(cf::ALU, &[group(slots)])], 8, &[]);
    let refused = [Violation::Ports(4)];
    let add = |chan, a, b| alu(AluOp::Add, (0, chan), &[a, b]);
    // Both read an x in cycle 0, of two registers; with VEC_102 the second one reads it in cycle 1.
    let slots = |bank| {
        [
            add(0, r(1, 0), r(1, 1)),
            add(1, r(2, 0), r(1, 2)).bank(bank),
        ]
    };
    assert_eq!(ports(&slots(0)), refused);
    assert_eq!(ports(&slots(3)), []);
    // The same register, and another element, are no conflict.
    assert_eq!(
        ports(&[add(0, r(1, 0), r(1, 1)), add(1, r(1, 0), r(3, 2))]),
        []
    );
    assert_eq!(
        ports(&[add(0, r(1, 0), r(1, 1)), add(1, r(2, 1), r(3, 2))]),
        []
    );
    // Three registers of an element need three cycles, and a fourth one has none.
    let muladd = |chan, regs: [u16; 3], bank| {
        alu(AluOp::Muladd, (0, chan), &regs.map(|reg| r(reg, 0))).bank(bank)
    };
    assert_eq!(
        ports(&[muladd(0, [1, 2, 3], 0), muladd(1, [3, 1, 2], 4)]),
        []
    );
    assert_eq!(
        ports(&[muladd(0, [1, 2, 3], 0), muladd(1, [3, 1, 2], 0)]),
        refused
    );
    for bank in 0..6 {
        assert_eq!(
            ports(&[muladd(0, [1, 2, 3], 0), muladd(1, [4, 1, 2], bank)]),
            refused
        );
        // Each swizzle has a cycle for each operand: an order of its own suits the other instruction.
        let orders = [
            [1, 2, 3],
            [1, 3, 2],
            [3, 1, 2],
            [2, 1, 3],
            [2, 3, 1],
            [3, 2, 1],
        ];
        let fits =
            |regs: [u16; 3]| ports(&[muladd(0, [1, 2, 3], 0), muladd(1, regs, bank)]).is_empty();
        assert_eq!(orders.into_iter().filter(|regs| fits(*regs)).count(), 1);
    }
    // A second operand that is the first has its cycle; a third one has not.
    assert_eq!(
        ports(&[
            add(0, r(1, 0), r(1, 0)),
            alu(AluOp::Mov, (0, 1), &[r(2, 0)]).bank(3)
        ]),
        []
    );
    assert_eq!(
        ports(&[
            muladd(0, [1, 2, 2], 0),
            alu(AluOp::Mov, (0, 1), &[r(3, 0)]).bank(4)
        ]),
        refused
    );
    // There are no seventh swizzle and no fifth one of the transcendental unit.
    assert_eq!(ports(&[add(0, r(1, 0), r(1, 1)).bank(6)]), refused);
    assert_eq!(
        ports(&[alu(AluOp::Sin, (0, 0), &[r(1, 0)]).bank(4)]),
        refused
    );
}

#[test]
fn constants_have_two_ports_a_group() {
    let ports = |slots: &[Alu]| {
        let mut found = found(&[clause_kc([0, 0], &[group(slots)])], 8, &[]);
        // The first group has no PV.
        found.retain(|violation| *violation != Violation::Previous(4));
        found
    };
    let refused = [Violation::Ports(4)];
    let mov = |chan, source| alu(AluOp::Mov, (0, chan), &[source]);
    // A port reads a pair of elements of a constant.
    assert_eq!(
        ports(&[
            mov(0, kc(0, 0, 0)),
            mov(1, kc(0, 0, 1)),
            mov(2, kc(0, 1, 3))
        ]),
        []
    );
    assert_eq!(
        ports(&[
            mov(0, kc(0, 0, 0)),
            mov(1, kc(0, 0, 2)),
            mov(2, kc(0, 1, 3))
        ]),
        refused
    );
    assert_eq!(
        ports(&[
            mov(0, kc(0, 0, 0)),
            mov(1, kc(0, 1, 0)),
            mov(2, kc(0, 2, 0))
        ]),
        refused
    );
    // The transcendental unit reads its constants in the first cycles, before registers.
    let exp = |op_: AluOp, src: &[Operand], bank| alu(op_, (0, 0), src).bank(bank);
    let three = |a, b, c, bank| exp(AluOp::MulLitM2, &[a, b, c], bank);
    assert_eq!(ports(&[three(r(1, 0), kc(0, 0, 0), r(2, 1), 3)]), []);
    assert_eq!(ports(&[three(r(1, 0), kc(0, 0, 0), r(2, 1), 0)]), refused);
    assert_eq!(
        ports(&[three(kc(0, 0, 0), kc(0, 1, 0), r(2, 1), 3)]),
        refused
    );
    assert_eq!(ports(&[three(kc(0, 0, 0), kc(0, 1, 0), r(2, 1), 1)]), []);
    assert_eq!(
        ports(&[three(kc(0, 0, 0), kc(0, 0, 1), lit(3), 1)]),
        refused
    );
    assert_eq!(ports(&[three(kc(0, 0, 0), zero(), pv(1), 3)]), refused);
    assert_eq!(ports(&[three(r(1, 0), r(1, 1), pv(1), 0)]), []);
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

/// What breaks a rule in an ALU clause, which begins at dword 4.
fn of_clause(groups: &[Vec<u32>]) -> Vec<Violation> {
    found(&[clause(cf::ALU, groups)], 8, &[])
}

fn mova() -> Vec<u32> {
    group(&[alu(AluOp::MovaInt, (0, 0), &[r(1, 0)]).masked()])
}

fn mov(dst: u8, src: Operand) -> Vec<u32> {
    op(AluOp::Mov, (dst, 0), &[src])
}

#[test]
fn a_clause_loads_ar_before_it_uses_it() {
    let stores = group(&[alu(AluOp::Mov, (2, 0), &[r(1, 0)]).dst_rel()]);
    for uses in [mov(0, r(1, 0).rel()), stores] {
        assert_eq!(of_clause(&[mova(), uses.clone()]), []);
        assert_eq!(of_clause(slice::from_ref(&uses)), [Violation::Address(4)]);
        assert_eq!(of_clause(&[uses.clone(), mova()]), [Violation::Address(4)]);
        // A clause does not know what another one has loaded.
        let two = [
            clause(cf::ALU, &[mova()]),
            clause(cf::ALU, &[uses]),
            flow(cf::NOP, 0, 0),
        ];
        assert_eq!(found(&two, 8, &[]), [Violation::Address(10)]);
    }
    // Not in the same group.
    let both = group(&[
        alu(AluOp::MovaInt, (0, 0), &[r(1, 0)]).masked(),
        alu(AluOp::Mov, (0, 1), &[r(1, 1).rel()]),
    ]);
    assert_eq!(of_clause(slice::from_ref(&both)), [Violation::Address(4)]);
    assert_eq!(of_clause(&[mova(), both]), []);
    // The loop index is none of AR.
    let mut looped = alu(AluOp::Mov, (0, 1), &[r(1, 1).rel()]);
    looped.index_mode = 4;
    assert_eq!(of_clause(&[group(&[looped])]), []);
}

#[test]
fn pv_and_ps_are_of_the_group_before() {
    let y = |src| op(AluOp::Mov, (0, 1), &[src]);
    assert_eq!(of_clause(&[mov(0, r(1, 0)), y(pv(0))]), []);
    assert_eq!(
        of_clause(&[mov(0, r(1, 0)), y(pv(1))]),
        [Violation::Previous(6)]
    );
    assert_eq!(
        of_clause(&[mov(0, r(1, 0)), y(r(1, 0)), y(pv(0))]),
        [Violation::Previous(8)]
    );
    assert_eq!(
        of_clause(&[mov(0, r(1, 0)), y(ps())]),
        [Violation::Previous(6)]
    );
    assert_eq!(
        of_clause(&[op(AluOp::Sin, (0, 2), &[r(1, 0)]), y(ps())]),
        []
    );
    // The first group of a clause has none.
    let two = [
        clause(cf::ALU, &[mov(0, r(1, 0))]),
        clause(cf::ALU, &[y(pv(0))]),
        flow(cf::NOP, 0, 0),
    ];
    assert_eq!(found(&two, 8, &[]), [Violation::Previous(10)]);
}

#[test]
fn constants_are_locked_by_the_clause() {
    let reads = |mode: u32, index| {
        let words = mov(0, kc(0, index, 0));
        let item = Item::Alu(cf::ALU, [mode << 30, 0], words);
        found(&[item], 8, &[])
    };
    assert_eq!(reads(0, 0), [Violation::Constant(4)]);
    assert_eq!(reads(1, 15), []);
    assert_eq!(reads(1, 16), [Violation::Constant(4)]);
    assert_eq!(reads(2, 31), []);
}

#[test]
fn a_group_ends_in_its_clause() {
    let mut open = mov(0, r(1, 0));
    open[0] &= !(1 << 31);
    assert_eq!(of_clause(slice::from_ref(&open)), [Violation::Cut(4)]);
    assert_eq!(of_clause(&[mov(0, r(1, 0)), open]), [Violation::Cut(6)]);
    let literal = mov(0, lit(7));
    assert_eq!(of_clause(slice::from_ref(&literal)), []);
    assert_eq!(of_clause(&[literal[..2].to_vec()]), [Violation::Cut(4)]);
}

#[test]
fn a_component_is_written_once_and_one_predicate_is_made() {
    let add = |dst| alu(AluOp::Add, dst, &[r(0, 0), r(0, 1)]);
    let twice = |slots: &[Alu]| of_clause(&[group(slots)]);
    // The second one is on the transcendental unit.
    assert_eq!(twice(&[add((1, 0)), add((2, 0))]), []);
    assert_eq!(twice(&[add((1, 0)), add((1, 0))]), [Violation::Twice(4)]);
    assert_eq!(twice(&[add((1, 0)), add((1, 0)).masked()]), []);
    // By the predicate one of them runs.
    let either = [add((1, 0)).pred_sel(2), add((1, 0)).pred_sel(3)];
    assert_eq!(twice(&either), []);
    let kill = |chan| alu(AluOp::Kille, (0, chan), &[r(0, 0), r(0, 1)]).masked();
    let test = |chan| alu(AluOp::PredSete, (0, chan), &[r(0, 0), r(0, 1)]).branch();
    assert_eq!(twice(&[kill(0), add((1, 1))]), []);
    assert_eq!(twice(&[kill(0), kill(1)]), []);
    assert_eq!(twice(&[test(0), test(1)]), [Violation::Once(4)]);
}

#[test]
fn on_rv770_a_group_waits_for_writes_by_ar() {
    use crate::chip::family::Family;
    let late = |family, groups: &[Vec<u32>]| {
        let words = assemble(&[clause(cf::ALU, groups)]);
        let resources = Resources::decode(8, Chip::of(family));
        validate(&decode(&words), resources, &[])
    };
    let store = group(&[alu(AluOp::Mov, (2, 0), &[r(1, 0)]).dst_rel()]);
    let nop = op(AluOp::Nop, (0, 0), &[]);
    let refused = [Violation::Relative(8)];
    for (read, found) in [
        (mov(0, r(3, 0)), &refused[..]),
        (mov(0, r(1, 0).rel()), &refused[..]),
        // Another component, and a register before the array.
        (mov(0, r(3, 1)), &[]),
        (mov(0, r(1, 0)), &[]),
    ] {
        let groups = [mova(), store.clone(), read.clone()];
        assert_eq!(late(Family::Rv770, &groups), found);
        assert_eq!(late(Family::Rv730, &groups), []);
        let apart = [mova(), store.clone(), nop.clone(), read];
        assert_eq!(late(Family::Rv770, &apart), []);
    }
}

#[test]
fn stack_entries_are_those_of_the_chip() {
    use crate::chip::family::Family;
    let nested = |pushes: usize, family, entries: u32| {
        let mut items: Vec<Item> = (0..pushes).map(|_| flow(cf::PUSH, pushes, 0)).collect();
        items.extend((0..pushes).map(|_| flow(cf::POP, 0, 1)));
        items.push(flow(cf::NOP, 0, 0));
        let resources = Resources::decode(8 | entries << 8, Chip::of(family));
        validate(&decode(&assemble(&items)), resources, &[])
    };
    for (family, fits) in [
        (Family::Rv770, 2),
        (Family::Rv740, 2),
        (Family::Rv670, 2),
        (Family::Rv710, 6),
        (Family::Rs780, 6),
    ] {
        assert_eq!(nested(fits, family, 1), [], "{family}");
        assert_eq!(
            nested(fits + 1, family, 1),
            [Violation::Stack(2, 1)],
            "{family}"
        );
    }
}

#[test]
fn pops_need_something_on_the_stack() {
    let pops = |pushes: usize, pops: u32| {
        let mut items: Vec<Item> = (0..pushes).map(|_| flow(cf::PUSH, 0, 0)).collect();
        items.extend([flow(cf::POP, 0, pops), flow(cf::NOP, 0, 0)]);
        found(&items, 8 | 1 << 8, &[])
    };
    assert_eq!(pops(2, 2), []);
    assert_eq!(pops(1, 2), [Violation::Pop(2)]);
    let after = clause(cf::ALU_POP_AFTER, &[mov(0, r(1, 0))]);
    assert_eq!(found(&[after], 8, &[]), [Violation::Pop(0)]);
}

#[test]
fn instructions_wait_for_what_they_need() {
    let without = |item: Item| match item {
        Item::Raw([low, high]) => Item::Raw([low, high & !(1 << 31)]),
        other => other,
    };
    let fetch = || Item::Fetch(cf::VTX, vfetch(0, 5, 2, 0x23, 0, 0));
    let out = |gpr| export(0, 0, gpr, [0, 1, 2, 3], 1);
    let all = |items: &[Item]| found(items, 8, &[]);
    assert_eq!(all(&[fetch(), out(5)]), []);
    assert_eq!(all(&[fetch(), without(out(5))]), [Violation::Barrier(2)]);
    assert_eq!(all(&[fetch(), without(out(4))]), []);
    // Another one in between has waited.
    let between = clause(cf::ALU, &[mov(0, r(1, 0))]);
    assert_eq!(all(&[fetch(), between, without(out(5))]), []);
    let writes = clause(cf::ALU, &[mov(5, r(1, 0))]);
    assert_eq!(
        all(&[fetch(), writes, without(out(5))]),
        [Violation::Barrier(4)]
    );
}

#[test]
fn fetches_of_a_clause_need_none_of_each_other() {
    let texel = |src: u32, dst: u32, select: u32| {
        vec![
            0x10 | src << 16,
            dst | select << 9,
            1 << 23, // SRC_SEL is x, y, x, x.
            0,
        ]
    };
    let xyzw = 1 << 3 | 2 << 6 | 3 << 9;
    // x and y are 7, which writes nothing.
    let zw = 7 | 7 << 3 | 2 << 6 | 3 << 9;
    let both = |first: Vec<u32>, second: Vec<u32>| {
        found(&[Item::Fetch(cf::TEX, [first, second].concat())], 8, &[])
    };
    assert_eq!(both(texel(1, 2, xyzw), texel(1, 3, xyzw)), []);
    assert_eq!(
        both(texel(1, 2, xyzw), texel(2, 3, xyzw)),
        [Violation::Fetched(8)]
    );
    assert_eq!(both(texel(1, 2, zw), texel(2, 3, xyzw)), []);
    assert_eq!(
        both(vfetch(0, 2, 1, 0x23, 0, 0), vfetch(0, 3, 2, 0x23, 0, 0)),
        [Violation::Fetched(8)]
    );
}
