// SPDX-License-Identifier: MIT
//! A failure or reset of one part of the board must not harm the rest.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;
use std::time::Duration;

use crate::rig::scene::*;
use crate::rig::*;
use r7xx_board::chip::counters::Counter;
use r7xx_board::chip::cp::pm4::{Draw, IndexSource, MemWriteData, Packet};
use r7xx_board::chip::gfx::{Cancelled, Gfx, GfxContext, Pipeline};
use r7xx_board::chip::queue::EngineId;
use r7xx_board::chip::regs::grbm;

fn draw() -> Vec<u32> {
    Packet::Draw(Draw {
        initiator: 0,
        indices: 3,
        source: IndexSource::Auto,
    })
    .encode()
}

fn write(addr: u64, value: u32) -> Vec<u32> {
    let data = MemWriteData::U32(value);
    Packet::MemWrite { addr, data }.encode()
}

/// A 3D engine that panics in every draw.
struct Faulty;

impl Gfx for Faulty {
    fn draw(&mut self, _: &GfxContext<'_>, _: &Draw) -> Result<bool, Cancelled> {
        panic!("a fault of the graphics block, on purpose");
    }
}

#[test]
fn panic_of_an_engine_hangs_its_ring_until_reset() {
    let mut rig = Rig::cold(config(None), Box::new(Faulty));
    rig.start_cp();
    rig.start_dma();
    rig.cp_fill(&draw());
    rig.cp_fill(&write(FENCE, 1));
    rig.cp_commit();
    rig.until("hang", |r| r.chip.knobs().hung() == EngineId::Gfx.bit());
    assert_eq!(rig.chip.counters().get(Counter::EnginePanics), 1);
    assert_ne!(rig.read(grbm::GRBM_STATUS) & grbm::GUI_ACTIVE, 0);
    assert_eq!(rig.mem(FENCE), 0);
    // Another ring still works, and so does this one after its reset.
    rig.dma(
        &r7xx_board::chip::dma::packet::Packet::Fence {
            addr: DATA,
            value: 5,
        }
        .encode(),
    );
    rig.until_mem(DATA, 5);
    rig.start_cp();
    rig.cp(&write(FENCE, 2));
    rig.until_mem(FENCE, 2);
    assert_eq!(rig.chip.knobs().hung(), 0);
}

/// A [`Scene`] of a pipeline with `threads` threads.
fn scene_with(threads: usize) -> Scene {
    let gfx = Box::new(Pipeline::new(threads));
    Scene::new(Rig::with_gfx(config(None), gfx))
}

#[test]
fn the_3d_engine_draws_again_after_each_panic() {
    let mut s = scene_with(2);
    for round in 1..=3 {
        // The vertex fetch of the draw panics, on the engine's thread.
        s.vertices(&everything(0.5, RED));
        s.draw(TRIANGLES, 3);
        s.rig.mc.set_trap(s.address_of_last(3));
        s.submit_fence();
        s.rig
            .until("hang", |r| r.chip.knobs().hung() == EngineId::Gfx.bit());
        assert!(!s.rig.mc.trap_is_set());
        assert_eq!(s.rig.chip.counters().get(Counter::EnginePanics), round);
        // Its reset makes it draw again.
        s.rig.start_cp();
        s.rectangle([0.0, 0.0, 8.0, 8.0], 0.5, GREEN);
        assert_eq!(count(&s.pixels(), GREEN), 64, "round {round}");
        s.rectangle([0.0, 0.0, 8.0, 8.0], 0.5, BLUE);
        assert_eq!(count(&s.pixels(), BLUE), 64, "round {round}");
    }
}

#[test]
fn a_panic_of_a_worker_drops_its_draw() {
    let mut s = scene_with(2);
    // Large enough for two threads. Either takes the second square of 64x64 pixels.
    let target = |s: &mut Scene, height: u32| {
        s.set(0x2_8034, WIDTH | height << 16);
        s.set(0x2_8208, WIDTH | height << 16);
        s.set(0x2_8244, WIDTH | height << 16);
        let slice = (WIDTH / 8 - 1) | (WIDTH * height / 64 - 1) << 10;
        s.set(0x2_8060, slice);
    };
    target(&mut s, 512);
    let second_square = COLOUR + u64::from(WIDTH * HEIGHT * 4);
    s.rig.mc.set_trap(second_square);
    s.set(0x2_8444, f(256.0));
    s.set(0x2_8448, f(256.0));
    s.draw_vertices(TRIANGLES, &everything(0.5, RED));
    s.finish();
    assert!(!s.rig.mc.trap_is_set());
    let counters = s.rig.chip.counters();
    assert_eq!(counters.get(Counter::EnginePanics), 1);
    assert_eq!(counters.get(Counter::DroppedDraws), 1);
    assert_eq!(s.rig.chip.knobs().hung(), 0);
    // The next draw has all its workers.
    s.draw_vertices(TRIANGLES, &everything(0.5, GREEN));
    s.finish();
    let pixels = s.rig.bytes(COLOUR, (WIDTH * 512 * 4) as usize);
    assert!(pixels.chunks(4).all(|pixel| *pixel == bytes(GREEN)));
    assert_eq!(s.rig.chip.counters().get(Counter::DroppedDraws), 1);
}

/// A 3D engine that draws until it is cancelled, and a while longer.
struct Slow {
    inside: Arc<AtomicBool>,
}

impl Gfx for Slow {
    fn draw(&mut self, context: &GfxContext<'_>, _: &Draw) -> Result<bool, Cancelled> {
        self.inside.store(true, Ordering::SeqCst);
        while context.control.check().is_ok() {
            std::thread::yield_now();
        }
        std::thread::sleep(Duration::from_millis(50));
        context.mc.write_u32(DATA, 0xBAD).unwrap();
        self.inside.store(false, Ordering::SeqCst);
        Err(Cancelled)
    }
}

#[test]
fn reset_returns_when_the_running_packet_is_over() {
    let inside = Arc::new(AtomicBool::new(false));
    let slow = Slow {
        inside: inside.clone(),
    };
    let mut rig = Rig::cold(config(None), Box::new(slow));
    rig.start_cp();
    rig.cp(&draw());
    rig.until("draw", |_| inside.load(Ordering::SeqCst));
    rig.chip.reset();
    assert!(!inside.load(Ordering::SeqCst), "the draw still runs");
    // Its last write came before the end of the reset.
    assert_eq!(rig.mem(DATA), 0xBAD);
    rig.start_cp();
    rig.cp(&write(FENCE, 1));
    rig.until_mem(FENCE, 1);
}
