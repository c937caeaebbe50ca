// SPDX-License-Identifier: MIT
//! Exports that stay in their registers.

use super::*;
use crate::chip::gfx::lanes::first;

const ALL_IN_ORDER: [u32; 4] = [0, 1, 2, 3];

/// Runs `items` on the lanes of `exec`. Returns the colours that stay in registers, and the
/// registers; `env` has the values of other exports.
fn in_place(items: &[Item], exec: Mask, env: &mut Recorder) -> Vec<(u32, usize)> {
    env.takes_in_place = true;
    run_masked(&assemble(items), env, exec);
    let in_place = std::mem::take(&mut env.in_place);
    assert!(in_place.iter().all(|(kind, ..)| *kind == ExportKind::Pixel));
    in_place
        .iter()
        .map(|(_, index, gpr, _)| (*index, *gpr))
        .collect()
}

#[test]
fn the_last_export_may_stay_in_its_register() {
    let mut env = Recorder::default();
    let last = || export(0, 0, 1, ALL_IN_ORDER, 1);
    assert_eq!(in_place(&[last()], ALL, &mut env), [(0, 1)]);
    assert_eq!(in_place(&[last()], 0x11, &mut env), [(0, 1)]);
    assert!(env.exports.is_empty());
    // Each export of a burst stays in its register.
    let burst = export(0, 2, 1, ALL_IN_ORDER, 3);
    let found = in_place(&[burst], ALL, &mut env);
    assert_eq!(found, [(2, 1), (3, 2), (4, 3)]);
    // An environment that declines gets the values.
    env.takes_in_place = false;
    run_words(&assemble(&[last()]), &mut env);
    let (kind, index, values, components, exec) = &env.exports[0];
    assert_eq!(
        (*kind, *index, *components, *exec),
        (ExportKind::Pixel, 0, 0xF, ALL)
    );
    assert_eq!([values[0][5], values[1][5]], [5, 58]);
}

#[test]
fn what_comes_before_or_has_constants_is_exported() {
    let mut env = Recorder::default();
    let one = || export(0, 0, 1, ALL_IN_ORDER, 1);
    assert_eq!(in_place(&[one(), flow(cf::NOP, 0, 0)], ALL, &mut env), []);
    assert_eq!(env.exports.len(), 1);
    let swizzled = export(0, 0, 1, [2, 0, 1, 3], 1);
    env.takes_in_place = true;
    run_words(&assemble(&[swizzled]), &mut env);
    assert_eq!(
        env.in_place.pop(),
        Some((ExportKind::Pixel, 0, 1, [2, 0, 1, 3]))
    );
    let constant = export(0, 0, 1, [0, 1, 2, 5], 1);
    assert_eq!(in_place(&[constant], ALL, &mut env), []);
    assert_eq!(env.exports.len(), 2);
    // The first of two is copied: a later instruction could change its register.
    let other = export(0, 1, 1, ALL_IN_ORDER, 1);
    assert_eq!(in_place(&[one(), other], ALL, &mut env), [(1, 1)]);
    assert_eq!(env.exports.len(), 3);
}

#[test]
fn lanes_that_do_not_export_keep_what_they_exported() {
    // The last export is for lanes 0 to 9 only: the others keep the colour of the first.
    let mut env = Recorder::default();
    let branch = alu(AluOp::PredSetgtInt, (0, 0), &[lit(10), r(1, 0)]).branch();
    let few = [
        export(0, 0, 2, ALL_IN_ORDER, 1),
        clause(cf::ALU_PUSH_BEFORE, &[group(&[branch])]),
        export(0, 0, 1, ALL_IN_ORDER, 1),
    ];
    assert_eq!(in_place(&few, ALL, &mut env), []);
    let lanes: Vec<Mask> = env.exports.iter().map(|(.., exec)| *exec).collect();
    assert_eq!(lanes, [ALL, first(10)]);
    // Killed lanes do not count: the export is in place.
    let kill = alu(AluOp::KillgtInt, (0, 0), &[r(1, 0), lit(9)]).masked();
    let killed = [
        clause(cf::ALU, &[group(&[kill])]),
        export(0, 0, 1, ALL_IN_ORDER, 1),
    ];
    assert_eq!(in_place(&killed, ALL, &mut env), [(0, 1)]);
}
