// SPDX-License-Identifier: MIT
//! Indirect draws of Evergreen, as Mesa's `r600_draw_vbo()` submits them.

use std::sync::{Arc, Mutex};

use crate::rig::*;
use r7xx_board::chip::cp::pm4::{Draw, IndexSource};
use r7xx_board::chip::gfx::{Cancelled, Gfx, GfxContext};
use r7xx_board::chip::{ChipConfig, Family};

const NUM_INSTANCES: u32 = 0x2_8A88;
const BASE_VERTEX: u32 = 0x3_CFF0;
const START_INSTANCE: u32 = 0x3_CFF4;

const ARGUMENTS: u64 = DATA;
const INDICES: u64 = DATA + 0x1000;

/// A draw, and the registers that its arguments have become.
type Drawn = Arc<Mutex<Vec<(Draw, [u32; 3])>>>;

/// Keeps the draws.
struct Recorder(Drawn);

impl Gfx for Recorder {
    fn draw(&mut self, context: &GfxContext<'_>, draw: &Draw) -> Result<bool, Cancelled> {
        let registers = [NUM_INSTANCES, BASE_VERTEX, START_INSTANCE];
        let registers = registers.map(|register| context.regs.load(register));
        self.0.lock().unwrap().push((draw.clone(), registers));
        Ok(true)
    }
}

fn type3(opcode: u32, body: &[u32]) -> Vec<u32> {
    let mut words = vec![3 << 30 | (body.len() as u32 - 1) << 16 | opcode << 8];
    words.extend(body);
    words
}

/// Executes `packet` after the bases with `arguments` in memory; returns the draws.
fn drawn(
    index_type: u32,
    indices: u32,
    packet: &[u32],
    arguments: &[u32],
) -> Vec<(Draw, [u32; 3])> {
    let all = Drawn::default();
    let config = ChipConfig {
        family: Family::Turks,
        ..config(None)
    };
    let mut rig = Rig::with_gfx(config, Box::new(Recorder(all.clone())));
    for (i, word) in arguments.iter().enumerate() {
        rig.set_mem(ARGUMENTS + 16 + 4 * i as u64, *word);
    }
    // INDEX_TYPE, SET_BASE, INDEX_BASE, INDEX_BUFFER_SIZE.
    let mut stream = type3(0x2A, &[index_type]);
    stream.extend(type3(0x11, &[1, ARGUMENTS as u32, 0]));
    stream.extend(type3(0x26, &[INDICES as u32, 0]));
    stream.extend(type3(0x13, &[indices]));
    stream.extend(packet);
    rig.cp(&stream);
    rig.cp(&type3(0x3D, &[FENCE as u32, 1 << 18, 5, 0]));
    rig.until_mem(FENCE, 5);
    let draws = all.lock().unwrap().clone();
    draws
}

#[test]
fn a_draw_takes_its_arguments_from_memory() {
    // DRAW_INDIRECT: vertices, instances, first vertex, first instance.
    let packet = type3(0x24, &[16, 2]);
    let draw = Draw {
        initiator: 2,
        indices: 30,
        source: IndexSource::Auto,
    };
    assert_eq!(drawn(0, 0, &packet, &[30, 3, 7, 9]), [(draw, [3, 7, 9])]);
}

#[test]
fn an_indexed_draw_begins_inside_its_buffer_and_ends_there() {
    // DRAW_INDEX_INDIRECT: indices, instances, first index, base vertex, first instance.
    let packet = type3(0x25, &[16, 0]);
    let draw = |indices, source| Draw {
        initiator: 0,
        indices,
        source: IndexSource::Memory(source),
    };
    let arguments = [30, 1, 10, 7, 9];
    let short = drawn(0, 100, &packet, &arguments);
    assert_eq!(short, [(draw(30, INDICES + 20), [1, 7, 9])]);
    let long = drawn(1, 25, &packet, &arguments);
    assert_eq!(long, [(draw(15, INDICES + 40), [1, 7, 9])]);
}

#[test]
fn a_draw_of_nothing_draws_nothing() {
    let packet = type3(0x24, &[16, 2]);
    for arguments in [[0, 3, 0, 0], [30, 0, 0, 0]] {
        assert_eq!(drawn(0, 0, &packet, &arguments), []);
    }
}
