// SPDX-License-Identifier: MIT
//! Geometry shaders, assembled by hand.

use std::sync::{Arc, Mutex};

use crate::rig::scene::*;
use crate::rig::shader::*;
use crate::rig::{config, Rig};
use r7xx_board::chip::counters::Counter;
use r7xx_board::chip::cp::pm4::Draw;
use r7xx_board::chip::gfx::{Cancelled, Gfx, GfxContext, GfxStatistics, Pipeline, PipelineCounter};

const EMIT_VERTEX: u32 = 0x15;
const MEM_RING: u32 = 0x26;
/// The rings: a vertex of the export shader is 8 dwords.
const ESGS: u64 = RING;
const ESGS_BYTES: u32 = 0x1_0000;

/// Binds geometry shader `gs`, which emits at most `most` vertices of `vertex` dwords for each
/// primitive to a ring of `bytes` bytes at `gsvs`, and the copy shader `vs`.
fn geometry(
    s: &mut Scene,
    gs: &Shader,
    vs: &Shader,
    gsvs: u64,
    bytes: u32,
    most: u32,
    vertex: u32,
) {
    // Export shader: position and parameter into the ring.
    let mut es = Shader::new();
    es.fetch(1, 0, 0, 0, 0)
        .fetch(2, 0, 0, 0, 16)
        .memory(MEM_RING, 0, 1, 15)
        .memory(MEM_RING, 4, 2, 15);
    for (reg, shader) in [(START_ES, &es), (START_GS, gs), (START_VS, vs)] {
        let start = s.shader(shader);
        s.set(reg, start);
    }
    for (reg, value) in [
        (0x2_8A40, 3),
        (0x2_88A8, 8),
        (0x2_88AC, most * vertex),
        (0x2_88C8, vertex),
        (0x2_8B38, most),
        (0x2_8A6C, 0),
        (0x8C40, (ESGS >> 8) as u32),
        (0x8C44, ESGS_BYTES >> 8),
        (0x8C48, (gsvs >> 8) as u32),
        (0x8C4C, bytes >> 8),
        // The rings as fetch resources of GS and VS, stride 4.
        (0x3_8000 + 28 * (336 + 17), ESGS as u32),
        (0x3_8000 + 28 * (336 + 17) + 4, ESGS_BYTES - 1),
        (0x3_8000 + 28 * (336 + 17) + 8, 4 << 8),
        (0x3_8000 + 28 * (336 + 17) + 24, 0xC000_0000),
        (0x3_8000 + 28 * (160 + 17), gsvs as u32),
        (0x3_8000 + 28 * (160 + 17) + 4, bytes - 1),
        (0x3_8000 + 28 * (160 + 17) + 8, 4 << 8),
        (0x3_8000 + 28 * (160 + 17) + 24, 0xC000_0000),
    ] {
        s.set(reg, value);
    }
}

/// The position in clip space of the centre of pixel `p`.
fn at(p: f32) -> f32 {
    (p + 0.5) / 32.0 - 1.0
}

#[test]
fn geometry_shader_multiplies_primitives() {
    let mut s = scene();
    // A point becomes two, the second one to the right.
    // R3.x counts vertices of 8 dwords; ring writes are in units of four.
    let mut gs = Shader::new();
    gs.fetch(4, 0, 0, 17, 0)
        .fetch(5, 0, 0, 17, 16)
        .alu(0x08, &[mov(3, 0, Src(ZERO, 0), true)], &[])
        .memory_indexed(MEM_RING, 0, 4, 3)
        .memory_indexed(MEM_RING, 4, 5, 3)
        .cf(EMIT_VERTEX, 0, 0)
        .alu(
            0x08,
            &[
                op2(0x00, 4, 0, gpr(4, 0), Src(ONE, 0), true),
                // ADD_INT R3.x += 2
                op2(0x34, 3, 0, gpr(3, 0), Src(LITERAL, 0), true),
            ],
            &[2, 0],
        )
        .memory_indexed(MEM_RING, 0, 4, 3)
        .memory_indexed(MEM_RING, 4, 5, 3)
        .cf(EMIT_VERTEX, 0, 0);
    let mut vs = Shader::new();
    vs.fetch(1, 0, 0, 17, 0)
        .fetch(2, 0, 0, 17, 16)
        .export(POSITION, 60, 1, XYZW, true)
        .export(PARAM, 0, 2, XYZW, true);
    geometry(&mut s, &gs, &vs, RING + 0x2_0000, 0x1_0000, 8, 8);
    s.draw_vertices(
        POINTS,
        &[
            ([at(3.0), at(0.0), 0.0, 1.0], RED),
            ([at(5.0), at(0.0), 0.0, 1.0], GREEN),
        ],
    );
    let pixels = s.pixels();
    assert_eq!(s.rig.chip.counters().get(Counter::DroppedDraws), 0);
    assert_eq!((pixels[3], pixels[35]), (bytes(RED), bytes(RED)));
    assert_eq!((pixels[5], pixels[37]), (bytes(GREEN), bytes(GREEN)));
    assert_eq!(count(&pixels, RED) + count(&pixels, GREEN), 4);
}

/// What a pipeline holds and has counted after its last draw.
type Measured = Arc<Mutex<(usize, GfxStatistics)>>;

/// A pipeline that is measured after each draw.
struct Measuring(Pipeline, Measured);

impl Gfx for Measuring {
    fn draw(&mut self, context: &GfxContext<'_>, draw: &Draw) -> Result<bool, Cancelled> {
        let result = self.0.draw(context, draw);
        *self.1.lock().unwrap() = (self.0.bytes(), self.0.statistics());
        result
    }
}

#[test]
fn a_wave_of_many_vertices_is_drawn_in_batches() {
    /// Of one input; `VGT_GS_MAX_VERT_OUT` has 11 bits.
    const MOST: u32 = 2047;
    const INPUTS: u32 = 64;
    let measured = Measured::default();
    let gfx = Box::new(Measuring(Pipeline::new(2), measured.clone()));
    let mut s = Scene::new(Rig::with_gfx(config(None), gfx));
    // Each of 64 points becomes 2047.
    let mut gs = Shader::new();
    gs.fetch(4, 0, 0, 17, 0)
        .alu(0x08, &[mov(3, 0, Src(ZERO, 0), true)], &[])
        // LOOP_START_NO_AL, up to LOOP_END
        .cf(0x07, 7, 0)
        .memory_indexed(MEM_RING, 0, 4, 3)
        .cf(EMIT_VERTEX, 0, 0)
        // ADD_INT R3.x += 1
        .alu(0x08, &[op2(0x34, 3, 0, gpr(3, 0), Src(250, 0), true)], &[])
        .cf(0x05, 3, 0);
    let mut vs = Shader::new();
    vs.fetch(1, 0, 0, 17, 0)
        .export(POSITION, 60, 1, XYZW, true)
        .export(PARAM, 0, 1, XYZW, true);
    let ring = STREAM;
    let bytes = INPUTS * MOST * 4 * 4;
    geometry(&mut s, &gs, &vs, ring, bytes.next_multiple_of(256), MOST, 4);
    // The geometry shader's loop constant 0.
    s.set(0x3_E200 + 4 * 32 * 2, MOST);
    let points: Vec<Vertex> = (0..INPUTS)
        .map(|n| ([at(n as f32), at(3.0), 0.0, 1.0], RED))
        .collect();
    s.draw_vertices(POINTS, &points);
    let pixels = s.pixels();
    assert_eq!(s.rig.chip.counters().get(Counter::DroppedDraws), 0);
    let drawn = |(_, pixel): &(usize, &[u8; 4])| **pixel != [0; 4];
    let drawn: Vec<usize> = pixels
        .iter()
        .enumerate()
        .filter(drawn)
        .map(|(i, _)| i)
        .collect();
    assert_eq!(drawn, (3 * 64..4 * 64).collect::<Vec<_>>());
    let (held, statistics) = measured.lock().unwrap().clone();
    let primitives = statistics.pipeline[PipelineCounter::GsPrimitives as usize];
    assert_eq!(primitives, u64::from(INPUTS * MOST));
    let pixels = statistics.pipeline[PipelineCounter::PsInvocations as usize];
    assert_eq!(pixels, u64::from(INPUTS * MOST));
    // Their vertices and set-ups alone are 131,008 * 472 bytes.
    assert!(held < 8 << 20, "{held} bytes");
}
