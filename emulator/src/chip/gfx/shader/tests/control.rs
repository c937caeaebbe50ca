// SPDX-License-Identifier: MIT
//! Groups, constants, control flow and exports.

// The C library's functions give the expected values.
#![allow(clippy::disallowed_methods)]

use super::*;
use crate::chip::gfx::lanes::first;

fn mov(dst: (u8, u8), src: Operand) -> Vec<u32> {
    op(AluOp::Mov, dst, &[src])
}

/// The lanes for whose number `keep` is true.
fn lanes_where(keep: impl Fn(u32) -> bool) -> Mask {
    (0..64).filter(|&l| keep(l)).fold(0, |m, l| m | 1 << l)
}

#[test]
fn a_group_reads_before_it_writes() {
    // A swap, and a rotation through three components.
    let words = assemble(&[clause(
        cf::ALU,
        &[
            group(&[
                alu(AluOp::Mov, (1, 0), &[r(1, 1)]),
                alu(AluOp::Mov, (1, 1), &[r(1, 0)]),
            ]),
            group(&[
                alu(AluOp::Mov, (1, 1), &[r(1, 2)]),
                alu(AluOp::Mov, (1, 2), &[r(1, 3)]),
                alu(AluOp::Mov, (1, 3), &[r(1, 1)]),
            ]),
        ],
    )]);
    let wave = run_words(&words, &mut Recorder::default());
    assert_lanes(&wave, 1, |l| 63 - l);
    assert_eq!(wave.gpr(1, 1)[5], 5f32.to_bits());
    assert_eq!(wave.gpr(1, 2)[5], 58f32.to_bits());
    assert_eq!(wave.gpr(1, 3)[5], 5);
}

#[test]
fn previous_results() {
    // The vector unit x gives PV.x; the second operation on x takes the trans unit, which gives PS.
    let words = assemble(&[clause(
        cf::ALU,
        &[
            group(&[
                alu(AluOp::AddInt, (2, 0), &[r(1, 0), lit(100)]),
                alu(AluOp::AddInt, (2, 0), &[r(1, 0), lit(200)]).masked(),
            ]),
            group(&[
                alu(AluOp::Mov, (3, 0), &[pv(0)]),
                alu(AluOp::Mov, (4, 0), &[ps()]).masked(),
                alu(AluOp::Mov, (4, 1), &[ps()]),
            ]),
            // A masked result that only PV carries, twice in a row.
            group(&[alu(AluOp::AddInt, (9, 2), &[pv(0), lit(1)]).masked()]),
            group(&[alu(AluOp::AddInt, (9, 2), &[pv(2), lit(1)]).masked()]),
            mov((5, 0), pv(2)),
        ],
    )]);
    let wave = run_words(&words, &mut Recorder::default());
    assert_lanes(&wave, 3, |l| l + 100);
    assert_eq!(wave.gpr(4, 1)[7], 207);
    assert_lanes(&wave, 5, |l| l + 102);
    assert_eq!(wave.gpr(9, 2)[0], 0);
}

#[test]
fn previous_result_survives_a_write_to_its_register() {
    // PV.x is in R2.x. The group that reads PV.x also writes R2.x.
    let words = assemble(&[clause(
        cf::ALU,
        &[
            group(&[alu(AluOp::AddInt, (2, 0), &[r(1, 0), lit(7)])]),
            group(&[
                alu(AluOp::Mov, (2, 0), &[zero()]),
                alu(AluOp::Mov, (3, 1), &[pv(0)]),
            ]),
        ],
    )]);
    let wave = run_words(&words, &mut Recorder::default());
    assert_lanes(&wave, 2, |_| 0);
    assert_eq!(wave.gpr(3, 1)[8], 15);
}

#[test]
fn constant_buffers_literals_and_inline_constants() {
    let mut env = Recorder::default();
    env.constants.insert((0, 16 * 3 + 17), [1, 2, 3, 4]);
    env.constants.insert((1, 16 * 5), [5, 6, 7, 8]);
    let words = assemble(&[clause_kc(
        [3, 5],
        &[
            group(&[
                alu(AluOp::AddInt, (2, 0), &[kc(0, 17, 2), kc(1, 0, 3)]),
                alu(AluOp::AddInt, (2, 1), &[lit(10), lit(0xdead_0000)]),
                alu(AluOp::Mov, (2, 2), &[r(249, 0)]),
                alu(AluOp::AddInt, (2, 3), &[r(251, 0), r(250, 0)]),
            ]),
            mov((3, 0), r(252, 0)),
        ],
    )]);
    let wave = run_words(&words, &mut env);
    assert_lanes(&wave, 2, |_| 11);
    assert_eq!(wave.gpr(2, 1)[0], 0xdead_000a);
    assert_eq!(wave.gpr(2, 2)[0], 1f32.to_bits());
    assert_eq!(wave.gpr(2, 3)[0], 0);
    assert_eq!(wave.gpr(3, 0)[0], 0.5f32.to_bits());
}

#[test]
fn constants_are_loaded_once_an_epoch() {
    let words = assemble(&[clause_kc([0, 0], &[mov((2, 0), kc(0, 0, 0))])]);
    let program = decode(&words);
    let mut env = Recorder {
        epoch: 1,
        ..Recorder::default()
    };
    let mut wave = lane_numbers();
    for (epoch, value, want, reads) in [
        (1, 5, 5, 1),
        (1, 6, 5, 1),
        (2, 6, 6, 2),
        (0, 7, 7, 3),
        (0, 8, 8, 4),
    ] {
        env.epoch = epoch;
        env.constants.insert((0, 0), [value; 4]);
        wave.begin(ALL, ALL, BUDGET);
        run(&program, &mut wave, &mut env).unwrap();
        assert_lanes(&wave, 2, |_| want);
        assert_eq!(env.constant_reads, reads);
    }
}

#[test]
fn relative_addressing() {
    let mut env = Recorder::default();
    for i in 0..64 {
        env.constants.insert((0, i), [i * 10; 4]);
    }
    // AR = lane % 4 selects GPRs 10 to 13, which hold 110 to 113.
    let mut groups: Vec<Vec<u32>> = (0..4)
        .map(|i| mov((10 + i, 0), lit(110 + u32::from(i))))
        .collect();
    groups.push(op(AluOp::AndInt, (2, 0), &[r(1, 0), lit(3)]));
    groups.push(group(&[alu(AluOp::MovaInt, (0, 0), &[pv(0)]).masked()]));
    groups.push(group(&[
        alu(AluOp::Mov, (3, 0), &[r(10, 0).rel()]),
        alu(AluOp::Mov, (3, 1), &[kc(0, 1, 0).rel()]),
    ]));
    // Scatter: R20.x + AR = lane + 1000.
    groups.push(group(&[
        alu(AluOp::AddInt, (20, 0), &[r(1, 0), lit(1000)]).dst_rel()
    ]));
    // An index outside of the registers reads 0 and writes nothing.
    groups.push(op(AluOp::MovaInt, (9, 0), &[lit(200)]));
    groups.push(group(&[
        alu(AluOp::Mov, (4, 0), &[r(10, 0).rel()]),
        alu(AluOp::Mov, (10, 1), &[lit(1)]).dst_rel(),
    ]));
    let wave = run_words(&assemble(&[clause_kc([0, 0], &groups)]), &mut env);
    assert_lanes(&wave, 3, |l| 110 + l % 4);
    for lane in 0..64u32 {
        assert_eq!(wave.gpr(3, 1)[lane as usize], (1 + lane % 4) * 10);
        let scattered = wave.gpr(20 + (lane % 4) as usize, 0)[lane as usize];
        assert_eq!(scattered, lane + 1000);
        assert_eq!(
            wave.gpr(20 + ((lane + 1) % 4) as usize, 0)[lane as usize],
            0
        );
    }
    assert_lanes(&wave, 4, |_| 0);
}

#[test]
fn predicates_select_lanes() {
    let words = assemble(&[clause(
        cf::ALU,
        &[
            group(&[{
                let mut p = alu(AluOp::PredSetgtInt, (0, 0), &[r(1, 0), lit(31)]).masked();
                p.pred = true;
                p
            }]),
            group(&[alu(AluOp::Mov, (2, 0), &[lit(7)]).pred_sel(3)]),
            group(&[alu(AluOp::Mov, (2, 0), &[lit(8)]).pred_sel(2)]),
        ],
    )]);
    let wave = run_words(&words, &mut Recorder::default());
    assert_lanes(&wave, 2, |l| if l > 31 { 7 } else { 8 });
    assert_eq!(wave.exec, ALL);
}

/// if (lane > 15) { R2 = 1; if (lane > 47) R2 = 2; else R2 = 3; } else R2 = 4;
/// R3 = 5
fn nested_if() -> Vec<u32> {
    let gt = |n: u32| {
        vec![group(&[alu(
            AluOp::PredSetgtInt,
            (0, 0),
            &[r(1, 0), lit(n)],
        )
        .branch()])]
    };
    assemble(&[
        clause(cf::ALU_PUSH_BEFORE, &gt(15)),              // 0
        flow(cf::JUMP, 8, 0),                              // 1: to ELSE
        clause(cf::ALU, &[mov((2, 0), lit(1))]),           // 2
        clause(cf::ALU_PUSH_BEFORE, &gt(47)),              // 3
        flow(cf::JUMP, 6, 0),                              // 4: to ELSE
        clause(cf::ALU, &[mov((2, 0), lit(2))]),           // 5
        flow(cf::ELSE, 8, 1),                              // 6
        clause(cf::ALU_POP_AFTER, &[mov((2, 0), lit(3))]), // 7
        flow(cf::ELSE, 11, 1),                             // 8
        clause(cf::ALU, &[mov((2, 0), lit(4))]),           // 9
        flow(cf::POP, 11, 1),                              // 10
        clause(cf::ALU, &[mov((3, 0), lit(5))]),           // 11
    ])
}

#[test]
fn branches() {
    let words = nested_if();
    let mut env = Recorder::default();
    let wave = run_words(&words, &mut env);
    assert_lanes(&wave, 2, |l| match l {
        0..=15 => 4,
        16..=47 => 3,
        _ => 2,
    });
    assert_lanes(&wave, 3, |_| 5);
    assert_eq!(wave.exec, ALL);
    // If all lanes take the same side, the jumps are taken; the stack must stay balanced.
    for (exec, value) in [(0xffff, 4), (0xffff_0000, 3), (0xffff_u64 << 48, 2)] {
        let wave = run_masked(&words, &mut env, exec);
        for lane in iter(exec) {
            assert_eq!((wave.gpr(2, 0)[lane], wave.gpr(3, 0)[lane]), (value, 5));
        }
        assert_eq!(wave.exec, exec);
    }
    assert_eq!(env.unknown, []);
}

/// R2 counts iterations: loop { R2 += 1; if (R2 > lane) break; if (R2 odd)
/// continue; R3 += 1 }
fn counting_loop(start: u8) -> Vec<u32> {
    assemble(&[
        flow(start, 11, 0),                                                // 0
        clause(cf::ALU, &[op(AluOp::AddInt, (2, 0), &[r(2, 0), lit(1)])]), // 1
        clause(
            cf::ALU_PUSH_BEFORE,
            &[group(&[alu(
                AluOp::PredSetgtInt,
                (0, 0),
                &[r(2, 0), r(1, 0)],
            )
            .branch()])],
        ), // 2
        flow(cf::JUMP, 5, 1),                                              // 3
        flow(cf::LOOP_BREAK, 10, 0),                                       // 4
        // The pop restores the lanes that did not break.
        flow(cf::POP, 6, 1), // 5
        clause(
            cf::ALU_PUSH_BEFORE,
            &[
                op(AluOp::AndInt, (4, 0), &[r(2, 0), lit(1)]),
                group(&[alu(AluOp::PredSetneInt, (0, 0), &[pv(0), zero()]).branch()]),
            ],
        ), // 6
        flow(cf::LOOP_CONTINUE, 10, 0), // 7
        flow(cf::POP, 9, 1), // 8
        clause(cf::ALU, &[op(AluOp::AddInt, (3, 0), &[r(3, 0), lit(1)])]), // 9
        flow(cf::LOOP_END, 1, 0), // 10
        clause(cf::ALU, &[mov((5, 0), lit(1))]), // 11
    ])
}

#[test]
fn loops_with_break_and_continue() {
    // The jump at 3 is never taken, as a lane breaks in each iteration: lane 0
    // in the first, lane 63 in the 64th.
    let mut env = Recorder::default();
    let words = {
        let mut words = counting_loop(cf::LOOP_START_DX10);
        // JUMP to 6, past the POP, if no lane breaks.
        words[6] = 6;
        words
    };
    let wave = run_words(&words, &mut env);
    assert_lanes(&wave, 2, |l| l + 1);
    assert_lanes(&wave, 3, |l| l / 2);
    assert_lanes(&wave, 5, |_| 1);
    assert_eq!(wave.exec, ALL);
    assert_eq!(env.unknown, []);
}

#[test]
fn counted_loops_end_by_their_constant() {
    struct Counted(Recorder);
    impl Env for Counted {
        fn constants(&mut self, b: u32, f: u32, o: &mut [[u32; 4]]) {
            self.0.constants(b, f, o)
        }
        fn resource(&mut self, i: u32) -> [u32; 7] {
            self.0.resource(i)
        }
        fn read(&mut self, a: u64, o: &mut [u8]) -> Result<(), McError> {
            self.0.read(a, o)
        }
        fn texture(
            &mut self,
            op: &TexInstruction,
            s: &[&Lanes; 4],
            e: Mask,
            o: &mut [Lanes; 4],
        ) -> bool {
            self.0.texture(op, s, e, o)
        }
        fn export(&mut self, k: ExportKind, i: u32, v: [&Lanes; 4], c: u8, e: Mask) {
            self.0.export(k, i, v, c, e)
        }
        fn memory_export(&mut self, e: &MemoryExport<'_>) {
            self.0.memory_export(e)
        }
        fn loop_constant(&mut self, index: u32) -> u32 {
            assert_eq!(index, 3);
            // 5 iterations, index from 2 in steps of 3.
            5 | 2 << 12 | 3 << 24
        }
    }
    // R2.x is the sum of R[10 + aL].x.
    let mut add = alu(AluOp::AddInt, (2, 0), &[r(2, 0), r(10, 0).rel()]);
    add.index_mode = 4;
    let words = assemble(&[
        Item::Flow(cf::LOOP_START, 3, 0, 0, 3),
        clause(cf::ALU, &[group(&[add])]),
        flow(cf::LOOP_END, 1, 0),
        flow(cf::NOP, 0, 0),
    ]);
    let mut wave = lane_numbers();
    for gpr in 10..40 {
        wave.gpr_mut(gpr, 0).fill(gpr as u32);
    }
    wave.begin(ALL, ALL, BUDGET);
    run(
        &decode(&words),
        &mut wave,
        &mut Counted(Recorder::default()),
    )
    .unwrap();
    let want: u32 = (0..5).map(|i| 12 + 3 * i).sum();
    assert_lanes(&wave, 2, |_| want);
}

#[test]
fn alu_break_and_else_after() {
    // loop { R2 += 1; break unless R2 < lane }: the clause itself breaks.
    let words = assemble(&[
        flow(cf::LOOP_START_DX10, 3, 0),
        clause(
            cf::ALU_BREAK,
            &[
                op(AluOp::AddInt, (2, 0), &[r(2, 0), lit(1)]),
                group(&[alu(AluOp::PredSetgtInt, (0, 0), &[r(1, 0), pv(0)]).branch()]),
            ],
        ),
        flow(cf::LOOP_END, 1, 0),
        clause(
            cf::ALU_PUSH_BEFORE,
            &[group(&[alu(
                AluOp::PredSetgtInt,
                (0, 0),
                &[r(1, 0), lit(9)],
            )
            .branch()])],
        ),
        clause(cf::ALU_ELSE_AFTER, &[mov((3, 0), lit(1))]),
        clause(cf::ALU_POP_AFTER, &[mov((3, 0), lit(2))]),
        clause(cf::ALU, &[mov((4, 0), lit(3))]),
    ]);
    let wave = run_words(&words, &mut Recorder::default());
    assert_lanes(&wave, 2, |l| l.max(1));
    assert_lanes(&wave, 3, |l| if l > 9 { 1 } else { 2 });
    assert_lanes(&wave, 4, |_| 3);
}

#[test]
fn calls_return() {
    let words = assemble(&[
        flow(cf::CALL, 3, 0),
        flow(cf::CALL, 3, 0),
        Item::Raw([0, 1 << 21]), // NOP, end of program
        clause(cf::ALU, &[op(AluOp::AddInt, (2, 0), &[r(2, 0), lit(5)])]),
        flow(cf::RET, 0, 0),
        flow(cf::NOP, 0, 0),
    ]);
    let wave = run_words(&words, &mut Recorder::default());
    assert_lanes(&wave, 2, |_| 10);
    // Endless recursion is cut.
    let words = assemble(&[flow(cf::CALL, 0, 0), flow(cf::NOP, 0, 0)]);
    let mut wave = lane_numbers();
    wave.begin(ALL, ALL, BUDGET);
    let result = run(&decode(&words), &mut wave, &mut Recorder::default());
    assert!(matches!(result, Err(Stop::Fault(_))));
}

#[test]
fn budget_and_cancellation_cut_endless_loops() {
    let words = assemble(&[
        flow(cf::LOOP_START_DX10, 3, 0),
        clause(cf::ALU, &[op(AluOp::AddInt, (2, 0), &[r(2, 0), lit(1)])]),
        flow(cf::LOOP_END, 1, 0),
        flow(cf::NOP, 0, 0),
    ]);
    let program = decode(&words);
    let mut wave = lane_numbers();
    wave.begin(ALL, ALL, 30_000);
    assert_eq!(
        run(&program, &mut wave, &mut Recorder::default()),
        Err(Stop::Budget)
    );
    assert!(wave.executed > 29_000 && wave.executed < 31_000);
    let mut env = Recorder {
        cancel_after: Some(2),
        ..Recorder::default()
    };
    wave.begin(ALL, ALL, u64::MAX);
    assert_eq!(run(&program, &mut wave, &mut env), Err(Stop::Cancelled));
    assert!(wave.executed < 20_000);
    // Jumps to themselves, too.
    let words = assemble(&[Item::Flow(cf::JUMP, 0, 0, 1, 0), flow(cf::NOP, 0, 0)]);
    wave.begin(ALL, ALL, 1000);
    assert_eq!(
        run(&decode(&words), &mut wave, &mut Recorder::default()),
        Err(Stop::Budget)
    );
}

#[test]
fn killed_lanes_do_not_export_but_compute() {
    let words = assemble(&[
        clause(
            cf::ALU,
            &[
                group(&[alu(AluOp::KillgtInt, (0, 0), &[r(1, 0), lit(9)]).masked()]),
                mov((2, 0), lit(1)),
            ],
        ),
        export(0, 0, 2, [0, 4, 5, 7], 1),
    ]);
    let mut env = Recorder::default();
    let wave = run_words(&words, &mut env);
    assert_eq!(wave.killed, !first(10));
    assert_lanes(&wave, 2, |_| 1);
    let (kind, index, values, components, exec) = &env.exports[0];
    assert_eq!(
        (*kind, *index, *components, *exec),
        (ExportKind::Pixel, 0, 0b0111, first(10))
    );
    assert_eq!(
        [values[0][0], values[1][0], values[2][0]],
        [1, 0, 1f32.to_bits()]
    );
    // A loop ends if all lanes in it have been killed.
    let words = assemble(&[
        flow(cf::LOOP_START_DX10, 4, 0),
        clause(
            cf::ALU_BREAK,
            &[
                group(&[alu(AluOp::KillgtInt, (0, 0), &[r(1, 0), lit(9)]).masked()]),
                group(&[alu(AluOp::PredSetgtInt, (0, 0), &[r(1, 0), lit(9)]).branch()]),
            ],
        ),
        flow(cf::LOOP_END, 1, 0),
        flow(cf::NOP, 0, 0),
        export(0, 0, 1, [0, 0, 0, 0], 1),
    ]);
    let mut env = Recorder::default();
    run_words(&words, &mut env);
    assert_eq!(env.exports[0].4, first(10));
    // The program ends once all lanes have been killed.
    let words = assemble(&[
        clause(
            cf::ALU,
            &[group(&[
                alu(AluOp::KillgeInt, (0, 0), &[r(1, 0), zero()]).masked()
            ])],
        ),
        export(0, 0, 1, [0, 0, 0, 0], 1),
    ]);
    let mut env = Recorder::default();
    run_words(&words, &mut env);
    assert!(env.exports.is_empty());
}

#[test]
fn helper_lanes_compute_but_do_not_export() {
    let words = assemble(&[
        clause(cf::ALU, &[mov((2, 0), lit(3))]),
        export(1, 60, 2, [0, 0, 0, 0], 1),
        Item::Raw([
            2 << 15 | 5,
            0xf << 12 | u32::from(cf::MEM_STREAM0 + 1) << 23,
        ]),
        flow(cf::NOP, 0, 0),
    ]);
    let mut env = Recorder::default();
    let mut wave = lane_numbers();
    wave.begin(0xff, 0x11, BUDGET);
    run(&decode(&words), &mut wave, &mut env).unwrap();
    assert_eq!(wave.gpr(2, 0)[7], 3);
    assert_eq!(env.exports[0].4, 0x11);
    assert_eq!(env.memory_exports[0].6, 0x11);
    assert_eq!(env.memory_exports[0].0, MemoryTarget::Stream(1));
}

#[test]
fn bursts_export_consecutive_registers() {
    let words = assemble(&[export(2, 4, 1, [3, 2, 1, 0], 3), flow(cf::NOP, 0, 0)]);
    let mut env = Recorder::default();
    run_words(&words, &mut env);
    let places: Vec<_> = env.exports.iter().map(|e| (e.0, e.1)).collect();
    let parameter = |i| (ExportKind::Parameter, i);
    assert_eq!(places, [parameter(4), parameter(5), parameter(6)]);
    assert_eq!(env.exports[0].2[3][17], 17);
}

#[test]
fn ring_and_stream_exports() {
    let ring = |kind: u32, base: u32, gpr: u32, index: u32, burst: u32| {
        Item::Raw([
            base | kind << 13 | gpr << 15 | index << 23 | 3 << 30,
            0xfff | 0b1011 << 12 | (burst - 1) << 17 | u32::from(cf::MEM_RING) << 23,
        ])
    };
    let words = assemble(&[
        ring(0, 8, 1, 0, 2),
        ring(1, 4, 2, 1, 1),
        flow(cf::EMIT_VERTEX, 0, 0),
        flow(cf::CUT_VERTEX, 0, 0),
        flow(cf::NOP, 0, 0),
    ]);
    let mut env = Recorder::default();
    run_words(&words, &mut env);
    let seen: Vec<_> = (env.memory_exports.iter())
        .map(|e| (e.0, e.1, e.2, e.3.map(|i| i[9]), e.4[0][9], e.5))
        .collect();
    let ring = MemoryTarget::Ring(0);
    assert_eq!(
        seen,
        [
            (ring, 8, 4, None, 9, 0b1011),
            (ring, 12, 4, None, 0, 0b1011),
            (ring, 4, 4, Some(9), 0, 0b1011),
        ]
    );
    assert_eq!(env.emitted, [(0, ALL)]);
    assert_eq!(env.cuts, 1);
}

#[test]
fn scratch_is_read_back() {
    let write = |indexed: u32, base: u32, gpr: u32, index: u32, size: u32, mask: u32| {
        Item::Raw([
            base | indexed << 13 | gpr << 15 | index << 23 | 3 << 30,
            size | mask << 12 | u32::from(cf::MEM_SCRATCH) << 23,
        ])
    };
    let read = |indexed: u32, base: u32, dst: u32, src: u32, size: u32| {
        vec![
            2 | 3 << 5 | indexed << 12 | src << 16,
            dst | 1 << 12 | 2 << 15 | 3 << 18,
            base | size << 20,
            0,
        ]
    };
    let words = assemble(&[
        clause(cf::ALU, &[op(AluOp::AndInt, (5, 0), &[r(1, 0), lit(7)])]),
        write(1, 0, 1, 5, 7, 0xf),    // [lane & 7] = R1
        write(0, 3, 6, 0, 0, 0b0100), // [3].z = R6.z = 0
        Item::Fetch(cf::VTX, [read(1, 0, 2, 5, 7), read(0, 3, 3, 0, 0)].concat()),
        // Beyond the array: reads 0.
        Item::Fetch(cf::VTX, read(1, 0, 4, 1, 7)),
        flow(cf::NOP, 0, 0),
    ]);
    let mut env = Recorder::default();
    let wave = run_words(&words, &mut env);
    assert_lanes(&wave, 2, |l| l);
    assert_lanes(&wave, 3, |l| if l & 7 == 3 { l } else { 0 });
    for lane in 0..64 {
        let at_3 = lane & 7 == 3;
        let z = if at_3 { 0 } else { (lane as f32).to_bits() };
        assert_eq!(wave.gpr(2, 2)[lane], z);
    }
    assert_lanes(&wave, 4, |l| if l <= 7 { l } else { 0 });
    assert_eq!(env.clauses, 2);
}

#[test]
fn denormals_count_as_zero_wherever_they_come_from() {
    let tiny = 1u32;
    // Made by an integer operation, loaded as input, constant and literal.
    let mut env = Recorder::default();
    env.constants.insert((0, 0), [tiny; 4]);
    let seq = |dst: u8, src: Operand| op(AluOp::Sete, (dst, 0), &[src, zero()]);
    let words = assemble(&[clause_kc(
        [0, 0],
        &[
            op(AluOp::AndInt, (4, 0), &[lit(tiny), lit(tiny)]),
            seq(5, r(4, 0)),
            seq(6, kc(0, 0, 0)),
            seq(7, lit(tiny)),
            seq(8, r(3, 0)),
            // Through a move, which keeps the bits.
            mov((9, 0), r(3, 0)),
            seq(10, r(9, 0)),
            // The smallest normal number is not zero.
            seq(11, lit(0x0080_0000)),
        ],
    )]);
    let program = decode(&words);
    for (input, want) in [(tiny, 1f32), (0x0080_0000, 0.0)] {
        let mut wave = lane_numbers();
        wave.gpr_mut(3, 0).fill(input);
        wave.begin(ALL, ALL, BUDGET);
        run(&program, &mut wave, &mut env).unwrap();
        for gpr in [5, 6, 7] {
            assert_eq!(wave.gpr(gpr, 0)[1], 1f32.to_bits(), "R{gpr}");
        }
        for gpr in [8, 10] {
            assert_eq!(wave.gpr(gpr, 0)[1], want.to_bits(), "R{gpr}");
        }
        assert_eq!(wave.gpr(9, 0)[1], input);
        assert_eq!(wave.gpr(11, 0)[1], 0);
    }
}

/// No loaded value is a denormal, so operations may take the fast path, except those on results of
/// integer operations.
#[test]
fn integers_count_as_zero_where_nothing_else_is_a_denormal() {
    let huge = lit(2f32.powi(100).to_bits());
    let words = assemble(&[clause(
        cf::ALU,
        &[
            op(AluOp::AndInt, (4, 0), &[lit(0xFFF), lit(0x801)]),
            op(AluOp::MulIeee, (5, 0), &[r(4, 0), huge]),
            op(AluOp::MulIeee, (6, 0), &[lit(0x0080_0000), huge]),
        ],
    )]);
    let mut wave = lane_numbers();
    wave.begin(ALL, ALL, BUDGET);
    run(&decode(&words), &mut wave, &mut Recorder::default()).unwrap();
    assert!(!wave.denormals);
    assert_eq!(wave.gpr(4, 0)[1], 0x801);
    assert_eq!(wave.gpr(5, 0)[1], 0);
    assert_eq!(wave.gpr(6, 0)[1], 2f32.powi(100 - 126).to_bits());
}

#[test]
fn inactive_lanes_keep_their_registers() {
    let words = nested_if();
    let mut env = Recorder::default();
    let wave = run_masked(&words, &mut env, lanes_where(|l| l % 3 == 0));
    // Registers of lanes that never ran may hold anything.
    for lane in (0..64).step_by(3) {
        let want = match lane {
            0..=15 => 4,
            16..=47 => 3,
            _ => 2,
        };
        assert_eq!(wave.gpr(2, 0)[lane], want);
    }
}

#[test]
fn unknown_instructions_are_reported() {
    let mut words = assemble(&[clause(cf::ALU, &[mov((2, 0), lit(1))]), flow(cf::NOP, 0, 0)]);
    let at = words.iter().rposition(|&w| w != 0 && w != 1).unwrap();
    words[at] |= 0x7ff << 7 & 0x7f << 7;
    words[at] = words[at] & !(0x7ff << 7) | 0x60 << 7;
    let mut env = Recorder::default();
    run_words(&words, &mut env);
    assert_eq!(env.unknown, [("ALU instruction", 0x60)]);
}

mod hostile {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(256))]

        /// Any words lead to the program's end, a fault or the end of the budget, never to a panic.
        #[test]
        fn any_words(words in proptest::collection::vec(any::<u32>(), 2..400)) {
            run_hostile(&words);
        }

        /// Words that are mostly instructions.
        #[test]
        fn near_instructions(
            flips in proptest::collection::vec((0usize..4096, 0u32..32), 1..12),
            which in 0usize..3,
        ) {
            let mut words = match which {
                0 => nested_if(),
                1 => counting_loop(cf::LOOP_START),
                _ => counting_loop(cf::LOOP_START_DX10),
            };
            for (at, bit) in flips {
                let at = at % words.len();
                words[at] ^= 1 << bit;
            }
            run_hostile(&words);
        }
    }

    fn run_hostile(words: &[u32]) {
        let mut fetch = |address: u64, out: &mut [u32]| {
            for (i, out) in out.iter_mut().enumerate() {
                *out = words.get(address as usize / 4 + i).copied().unwrap_or(0);
            }
            address < 1 << 16
        };
        let Ok(program) = Program::decode(0, Options::r700(true), &mut fetch) else {
            return;
        };
        let mut wave = lane_numbers();
        wave.begin(ALL, ALL, 3000);
        let mut env = Recorder {
            memory: vec![0; 64],
            ..Recorder::default()
        };
        let _ = run(&program, &mut wave, &mut env);
        assert!(wave.executed <= 3000 + 200);
    }
}
