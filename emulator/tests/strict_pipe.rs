// SPDX-License-Identifier: MIT
//! The strict board's pipeline from Evergreen on: copies by `CP_DMA` behind draws and dispatches, with
//! and without the packets that wait for them. Shaders of dispatches, listed and replaced.

use std::sync::Arc;

use crate::rig::scene::f;
use crate::rig::{strict_config, Rig, DATA, FENCE, IB};
use r7xx_board::chip::counters::Counter;
use r7xx_board::chip::cp::evergreen::DISPATCH_DIRECT;
use r7xx_board::chip::cp::pm4::{DmaEnd, Draw, Header, IndexSource, MemWriteData, Packet, Place};
use r7xx_board::chip::gfx::shader::asm;
use r7xx_board::chip::gfx::shaders::{Replacement, Shader, Shaders};
use r7xx_board::chip::gfx::{Pipeline, Stage};
use r7xx_board::chip::{ChipConfig, Family};

const TARGET: u64 = 0x10_0000;
const VERTEX: u64 = 0x40_0000;
const PIXEL: u64 = 0x40_0100;
const COMPUTE: u64 = 0x40_0200;

/// What the draw and the dispatch write.
const OLD: u32 = u32::MAX;
/// What the copy brings.
const NEW: u32 = 0x1234_5678;

/// Events.
const CS_PARTIAL_FLUSH: u8 = 0x07;
const PS_PARTIAL_FLUSH: u8 = 0x10;
const CACHE_FLUSH_AND_INV_TS: u8 = 0x14;
const CACHE_FLUSH_AND_INV: u8 = 0x16;
/// `CP_COHER_CNTL`.
const TC: u32 = 1 << 23;
const CB: u32 = 1 << 25;
const DB: u32 = 1 << 26;
const SH: u32 = 1 << 27;
/// `WAIT_UNTIL` and its bits.
const WAIT_UNTIL: u32 = 0x8040;
const IDLE: u32 = 1 << 15;
const IDLECLEAN: u32 = 1 << 17;

const BARRIER: u32 = 1 << 31;
const MOV: u32 = 0x19 << 7 | 1 << 4;

/// A control-flow instruction of an ALU clause of `slots` slots at `address`, both in units of 8 bytes.
fn clause(address: u32, slots: u32) -> [u32; 2] {
    [address, BARRIER | 8 << 26 | (slots - 1) << 18]
}

/// `MOV` of an operand to a register's channel.
fn mov(gpr: u32, channel: u32, operand: u32, last: bool) -> [u32; 2] {
    [
        operand | u32::from(last) << 31,
        MOV | gpr << 21 | channel << 29,
    ]
}

const ZERO: u32 = 248;
const ONE: u32 = 249;
/// The first dword behind the group.
const LITERAL: u32 = 253;

/// `EXPORT_DONE` of a register's four channels.
fn export(kind: u32, place: u32, gpr: u32) -> [u32; 2] {
    let channels = 1 << 3 | 2 << 6 | 3 << 9;
    [
        place | kind << 13 | gpr << 15,
        BARRIER | 0x54 << 22 | channels,
    ]
}

/// Board, and the packets that it has got.
struct Board {
    rig: Rig,
    /// Whether programs end with `CF_END`, as Cayman's, or with a bit.
    cayman: bool,
}

impl Board {
    fn new(family: Family) -> Self {
        Self::with(family, Pipeline::new(1))
    }

    fn with(family: Family, pipeline: Pipeline) -> Self {
        let config = ChipConfig {
            family,
            ..strict_config()
        };
        let rig = Rig::with_gfx(config, Box::new(pipeline));
        let mut board = Self {
            rig,
            cayman: family == Family::Cayman,
        };
        board.rig.set_mem(DATA, NEW);
        board.state();
        board
    }

    fn put(&mut self, packet: &Packet<'_>) {
        self.rig.cp_fill(&packet.encode());
    }

    fn set(&mut self, first: u32, values: &[u32]) {
        self.put(&Packet::SetRegs { first, values });
    }

    /// Puts a program into memory: its control flow, then its clause.
    fn program(&mut self, at: u64, flow: &[[u32; 2]], slots: &[[u32; 2]]) {
        let mut words = flow.concat();
        match self.cayman {
            true => words.extend([0, BARRIER | 0x20 << 22]),
            false => {
                let last = words.len() - 1;
                words[last] |= 1 << 21;
                // Nothing.
                words.extend([0, 0]);
            }
        }
        words.extend(slots.concat());
        self.rig.ib(at, &words);
    }

    /// A pipeline whose draws are one point that covers a target of 64x64 RGBA8 pixels, in white, and whose
    /// dispatches store white to as many dwords.
    fn state(&mut self) {
        let middle = [f(32.0), 0];
        let position = [
            mov(1, 0, LITERAL, false),
            mov(1, 1, LITERAL, false),
            mov(1, 2, ZERO, false),
            mov(1, 3, ONE, true),
            middle,
        ];
        self.program(
            VERTEX,
            &[clause(4, 5), export(1, 60, 1), export(2, 0, 1)],
            &position,
        );
        let white = [0, 1, 2, 3].map(|channel| mov(0, channel, ONE, channel == 3));
        self.program(PIXEL, &[clause(3, 4), export(0, 0, 0)], &white);
        // STORE_RAW of R2.x to dword R0.x of target 0.
        let store = [2 << 4 | 1 << 13 | 2 << 15, BARRIER | 0x56 << 22 | 1 << 12];
        self.program(
            COMPUTE,
            &[clause(3, 2), store],
            &[mov(2, 0, LITERAL, true), [OLD, 0]],
        );

        let size = 64 | 64 << 16;
        for (register, value) in [
            // VGT_PRIMITIVE_TYPE: points.
            (0x8958, 1),
            (0x2_8034, size),
            (0x2_8208, size),
            (0x2_8244, size),
            (0x2_8254, size),
            (0x2_820C, 0xFFFF),
            (0x2_8400, u32::MAX),
            // CB_TARGET_MASK and CB_SHADER_MASK.
            (0x2_8238, 0xF),
            (0x2_823C, 0xF),
            // CB_COLOR_CONTROL: copies, normally.
            (0x2_8808, 0xCC << 16 | 1 << 4),
            // PA_CL_VTE_CNTL: positions in pixels.
            (0x2_8818, 1 << 8 | 1 << 9),
            // PA_CL_CLIP_CNTL: CLIP_DISABLE.
            (0x2_8810, 1 << 16),
            // PA_SU_POINT_SIZE: half of 64 pixels, in sixteenths; PA_SU_POINT_MINMAX.
            (0x2_8A00, 512 | 512 << 16),
            (0x2_8A04, 0xFFFF << 16),
            (0x2_8840, (PIXEL >> 8) as u32),
            (0x2_8844, 2),
            (0x2_885C, (VERTEX >> 8) as u32),
            (0x2_8860, 2),
            // PA_SC_AA_MASK of Evergreen; of Cayman.
            (0x2_8C3C, u32::MAX),
            (0x2_8C38, u32::MAX),
        ] {
            self.set(register, &[value]);
        }
        // CB_COLOR0_BASE to CB_COLOR0_DIM: 8_8_8_8, linear aligned.
        let target = (TARGET >> 8) as u32;
        self.set(
            0x2_8C60,
            &[target, 7, 63, 0, 0x1A << 2 | 1 << 8, 0, 63 | 63 << 16],
        );
    }

    /// Has the registers of compute shaders set, by packets with their bit.
    fn set_compute(&mut self, first: u32, values: &[u32]) {
        let mut words = Packet::SetRegs { first, values }.encode();
        words[0] |= 1 << 1;
        self.rig.cp_fill(&words);
    }

    fn draw(&mut self) {
        self.put(&Packet::NumInstances(1));
        self.put(&Packet::Draw(Draw {
            initiator: 2,
            indices: 1,
            source: IndexSource::Auto,
        }));
    }

    fn dispatch(&mut self) {
        self.dispatch_with(3);
    }

    /// A dispatch whose waves have this many GPRs.
    fn dispatch_with(&mut self, gprs: u32) {
        let target = (TARGET >> 8) as u32;
        // RAT of COLOR_32, UINT, a buffer of 4096 elements.
        let info = 1 << 26 | 0x0D << 2 | 4 << 12 | 1 << 8;
        self.set_compute(0x2_8C60, &[target, 7, 63, 0, info, 0, 4095]);
        self.set_compute(0x2_86EC, &[256, 1, 1]);
        self.set_compute(0x2_88D0, &[(COMPUTE >> 8) as u32, gprs]);
        let header = Header::Type3 {
            opcode: DISPATCH_DIRECT,
            count: 4,
            predicate: false,
            compute: true,
        };
        self.rig.cp_fill(&[header.encode(), 1, 1, 1, 1]);
    }

    fn event(&mut self, event: u8, index: u8) {
        self.put(&Packet::EventWrite {
            event,
            index,
            addr: None,
        });
    }

    fn sync(&mut self, coher_cntl: u32) {
        self.put(&Packet::SurfaceSync {
            coher_cntl,
            size: u32::MAX,
            base: 0,
        });
    }

    /// cayman_fence_ring_emit().
    fn fence(&mut self, value: u64) {
        self.sync(TC | SH);
        self.put(&Packet::EventWriteEop {
            event: CACHE_FLUSH_AND_INV_TS,
            addr: FENCE,
            data_sel: 1,
            int_sel: 2,
            data: value,
        });
    }

    /// Copies one dword to the target's second one.
    fn copy(&mut self) {
        let end = |addr| DmaEnd {
            place: Place::Mem(addr),
            swap: 0,
            fixed: false,
        };
        self.put(&Packet::CpDma {
            src: end(DATA),
            dst: end(TARGET + 4),
            bytes: 4,
            sync: true,
        });
    }

    /// Submits everything, waits for its end, and returns the first three dwords of the target, and how many
    /// copies have overtaken something.
    fn ended(&mut self) -> ([u32; 3], u64) {
        self.fence(2);
        self.rig.cp_commit();
        self.rig.until_mem(FENCE, 2);
        let found = [0, 1, 2].map(|n| self.rig.mem(TARGET + 4 * n));
        (found, self.rig.chip.counters().get(Counter::Overtaken))
    }
}

const RIGHT: ([u32; 3], u64) = ([OLD, NEW, OLD], 0);
const OVERTAKEN: ([u32; 3], u64) = ([OLD; 3], 1);

/// The driver's radeon_gem_rw_emit_flush() on Cayman.
fn flushed(board: &mut Board) {
    board.event(PS_PARTIAL_FLUSH, 4);
    board.event(CS_PARTIAL_FLUSH, 4);
    board.event(CACHE_FLUSH_AND_INV, 0);
    board.sync(1 << 31 | 0x1FFF << 6 | 1 << 28 | CB | DB);
}

/// The same before it was mended.
fn flushed_once(board: &mut Board) {
    board.event(CACHE_FLUSH_AND_INV, 0);
    board.event(PS_PARTIAL_FLUSH, 4);
}

type Act = fn(&mut Board);

/// Work, a fence, what the driver sends, a copy.
fn copied(family: Family, work: Act, flush: Act) -> ([u32; 3], u64) {
    let mut board = Board::new(family);
    work(&mut board);
    board.fence(1);
    flush(&mut board);
    board.copy();
    let found = board.ended();
    let waits = board.rig.chip.counters().get(Counter::PipeWaits);
    assert_eq!(waits > 0, found.1 == 0, "its case has happened");
    found
}

#[test]
fn a_copy_overtakes_draws_on_cayman_unless_it_waits_for_their_write_back() {
    let draw: Act = Board::draw;
    assert_eq!(copied(Family::Cayman, draw, |_| ()), OVERTAKEN);
    assert_eq!(copied(Family::Cayman, draw, flushed), RIGHT);
    // It waits for the shader, whose pixels are in the cache.
    let mut board = Board::new(Family::Cayman);
    board.draw();
    flushed_once(&mut board);
    board.copy();
    assert_eq!(board.ended(), OVERTAKEN);
    // WAIT_UNTIL does nothing there.
    let idle: Act = |board| board.set(WAIT_UNTIL, &[IDLE | IDLECLEAN]);
    assert_eq!(copied(Family::Cayman, draw, idle), OVERTAKEN);
    for (waits, expected) in [(CB, RIGHT.0), (DB, OVERTAKEN.0)] {
        let mut board = Board::new(Family::Cayman);
        board.draw();
        board.sync(waits);
        board.copy();
        assert_eq!(board.ended().0, expected, "{waits:#x}");
    }
}

#[test]
fn a_copy_overtakes_dispatches_on_cayman_unless_it_waits_for_compute() {
    let dispatch: Act = Board::dispatch;
    assert_eq!(copied(Family::Cayman, dispatch, |_| ()), OVERTAKEN);
    assert_eq!(copied(Family::Cayman, dispatch, flushed_once), OVERTAKEN);
    assert_eq!(copied(Family::Cayman, dispatch, flushed), RIGHT);
    let compute: Act = |board| board.event(CS_PARTIAL_FLUSH, 4);
    assert_eq!(copied(Family::Cayman, dispatch, compute), RIGHT);
}

#[test]
fn wait_until_waits_below_cayman() {
    let idle: Act = |board| board.set(WAIT_UNTIL, &[IDLE]);
    let clean: Act = |board| {
        board.event(CACHE_FLUSH_AND_INV, 0);
        board.set(WAIT_UNTIL, &[IDLE | IDLECLEAN]);
    };
    for family in [Family::Cedar, Family::Turks] {
        assert_eq!(copied(family, Board::draw, |_| ()), OVERTAKEN);
        assert_eq!(copied(family, Board::draw, clean), RIGHT);
        assert_eq!(copied(family, Board::dispatch, |_| ()), OVERTAKEN);
        assert_eq!(copied(family, Board::dispatch, idle), RIGHT);
        // It waits for shaders, not for caches.
        let mut board = Board::new(family);
        board.draw();
        board.event(CACHE_FLUSH_AND_INV, 0);
        idle(&mut board);
        board.copy();
        assert_eq!(board.ended(), OVERTAKEN);
    }
}

#[test]
fn a_draw_has_the_registers_that_it_was_sent_with() {
    let mut board = Board::new(Family::Cayman);
    board.draw();
    // The next one's target, before the first has ended; it draws nothing there.
    board.set(0x2_8C60, &[(TARGET + 0x10_0000) as u32 >> 8]);
    board.draw();
    assert_eq!(board.ended().0, [OLD; 3]);
    assert_eq!(board.rig.mem(TARGET + 0x10_0000), OLD);
}

/// The end of a fence, and the reading of what draws have written, need no further packet.
#[test]
fn everything_ends_when_the_ring_is_empty_or_waits() {
    let mut board = Board::new(Family::Cayman);
    board.draw();
    board.fence(1);
    board.rig.cp_commit();
    board.rig.until_mem(FENCE, 1);
    assert_eq!(board.rig.mem(TARGET), OLD);
    // The CP waits for a fence of its own.
    board.fence(5);
    let compare = r7xx_board::chip::cp::pm4::Compare {
        function: 3,
        mask: u32::MAX,
        reference: 5,
    };
    board.put(&Packet::WaitRegMem {
        place: Place::Mem(FENCE),
        compare,
        interval: 4,
    });
    let data = MemWriteData::U32(6);
    board.put(&Packet::MemWrite { addr: IB, data });
    board.rig.cp_commit();
    board.rig.until_mem(IB, 6);
}

/// The shaders of two draws and a dispatch, some of them replaced, and the first dword of the target.
fn shaders(family: Family, replacements: Vec<Replacement>) -> (Arc<Shaders>, u32) {
    let shaders = Arc::new(Shaders::new(replacements));
    let pipeline = Pipeline::new(1).with_shaders(shaders.clone());
    let mut board = Board::with(family, pipeline);
    board.draw();
    board.draw();
    flushed(&mut board);
    board.dispatch();
    flushed(&mut board);
    let (found, _) = board.ended();
    (shaders, found[0])
}

#[test]
fn shaders_of_draws_and_dispatches_are_listed_and_replaced() {
    for family in [Family::Turks, Family::Cayman] {
        let (shaders, found) = shaders(family, Vec::new());
        assert_eq!(found, OLD);
        let list = shaders.list();
        let uses: Vec<_> = (list.iter())
            .map(|s| (s.stage, s.address, &s.draws[..], s.dispatches))
            .collect();
        let both = &[(1, 2)][..];
        let expected = [
            (Some(Stage::Vertex), VERTEX, both, 0),
            (Some(Stage::Pixel), PIXEL, both, 0),
            (Some(Stage::Compute), COMPUTE, &[], 1),
        ];
        assert_eq!(uses, expected, "{family:?}");
        let changed = |shader: &Shader| {
            let text = asm::source(&shader.words, shader.isa).unwrap();
            let text = text.replace("[0xFFFFFFFF NaN]", "[0x12345678]");
            // The literal's own line, which has the old value.
            let lines = text.lines().filter(|line| !line.ends_with("(-1)"));
            let text: Vec<&str> = lines.collect();
            Replacement {
                address: shader.address,
                hash: shader.hash,
                words: asm::assemble(&text.join("\n"), shader.isa).unwrap(),
            }
        };
        let (shaders, found) = self::shaders(family, vec![changed(&list[2])]);
        assert_eq!((found, shaders.used()), (NEW, vec![1]), "{family:?}");
    }
}

#[test]
fn shaders_of_dispatches_are_checked() {
    for family in [Family::Cedar, Family::Cayman] {
        // The shader writes R2.
        for (gprs, broken) in [(3, 0), (2, 1)] {
            let mut board = Board::new(family);
            board.dispatch_with(gprs);
            flushed(&mut board);
            board.ended();
            let counters = board.rig.chip.counters();
            assert_eq!(counters.get(Counter::BrokenShaders), broken, "{family:?}");
        }
    }
}
