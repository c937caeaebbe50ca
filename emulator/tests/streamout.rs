// SPDX-License-Identifier: MIT
//! Stream-out: the written data, the counters, and draws from streamed data.

// Register values are written field by field.
#![allow(clippy::precedence, clippy::identity_op, clippy::erasing_op)]

use crate::rig::scene::*;
use crate::rig::shader::*;
use r7xx_board::chip::cp::pm4::{IndexSource, Packet, StrmoutSource};

/// A vertex shader that streams out the position as three dwords and the parameter as one.
fn streaming_shader() -> Shader {
    let mut vs = Shader::new();
    vs.fetch(1, 0, 0, 0, 0)
        .fetch(2, 0, 0, 0, 16)
        .memory(0x20, 0, 1, 0b0111)
        .memory(0x20, 3, 2, 0b0001)
        .export(POSITION, 60, 1, XYZW, true);
    vs
}

/// Stream-out of buffer 0 with room for `room` dwords.
fn stream_out(s: &mut Scene, room: u32) {
    let vs = s.shader(&streaming_shader());
    s.set(0x2_8858, vs);
    s.set(0x2_8AD0, room);
    s.set(0x2_8AD4, 4);
    s.set(0x2_8AD8, (STREAM >> 8) as u32);
    s.set(0x2_8AB0, 1);
    s.set(0x2_8B20, 1);
    // DX_RASTERIZATION_KILL
    s.set(0x2_8810, 1 << 22);
    let update = Packet::StrmoutBufferUpdate {
        buffer: 0,
        source: StrmoutSource::Packet(0),
        store: None,
    };
    s.rig.cp_fill(&update.encode());
}

#[test]
fn stream_out_writes_whole_primitives_and_counts_needed_ones() {
    let mut s = scene();
    // Room for two and a half triangles.
    stream_out(&mut s, 30);
    let results = s.results();
    s.event(0x20, 3, Some(results));
    let v: Vec<Vertex> = (0..9)
        .map(|i| {
            let i = i as f32;
            ([i, i + 0.25, i + 0.5, 1.0], [100.0 + i, 0.0, 0.0, 0.0])
        })
        .collect();
    s.draw_vertices(TRIANGLES, &v);
    s.event(0x20, 3, Some(results + 16));
    // As the driver waits for the offsets.
    s.set(0x8490, 0);
    s.event(0x1F, 0, None);
    let update = Packet::StrmoutBufferUpdate {
        buffer: 0,
        source: StrmoutSource::None,
        store: Some(results + 64),
    };
    s.rig.cp_fill(&update.encode());
    s.finish();
    assert_eq!(s.rig.read(0x8490) & 1, 1, "offsets are up to date");
    let at = |i: u64| s.rig.mc_u64(results + 8 * i);
    assert_eq!(at(2) - at(0), 3, "needed");
    assert_eq!(at(3) - at(1), 2, "written");
    assert_eq!(s.rig.mem(results + 64), 24, "filled, in dwords");
    for i in 0..6u64 {
        let n = i as f32;
        let found: Vec<u32> = (0..4).map(|k| s.rig.mem(STREAM + 16 * i + 4 * k)).collect();
        assert_eq!(found, [f(n), f(n + 0.25), f(n + 0.5), f(100.0 + n)]);
    }
    assert_eq!(s.rig.mem(STREAM + 96), 0, "nothing of the third");
}

/// A paused transform feedback while a query counts generated primitives.
#[test]
fn without_buffers_primitives_are_needed_but_not_written() {
    let mut s = scene();
    stream_out(&mut s, 4000);
    let results = s.results();
    for (i, enabled) in [1, 0, 1].into_iter().enumerate() {
        s.set(0x2_8B20, enabled);
        s.event(0x20, 3, Some(results + 16 * i as u64));
        s.draw_vertices(TRIANGLES, &everything(0.5, RED));
    }
    s.event(0x20, 3, Some(results + 48));
    s.finish();
    let at = |i: u64| s.rig.mc_u64(results + 8 * i);
    let steps: Vec<_> = (0..3)
        .map(|i| (at(2 * i + 2) - at(2 * i), at(2 * i + 3) - at(2 * i + 1)))
        .collect();
    assert_eq!(steps, [(1, 1), (1, 0), (1, 1)], "needed, written");
}

#[test]
fn draw_auto_draws_what_was_streamed() {
    let mut s = scene();
    stream_out(&mut s, 4000);
    let v = everything(0.5, RED);
    s.draw_vertices(TRIANGLES, &v);
    let filled = s.results();
    let update = Packet::StrmoutBufferUpdate {
        buffer: 0,
        source: StrmoutSource::None,
        store: Some(filled),
    };
    s.rig.cp_fill(&update.encode());
    s.set(0x2_8AB0, 0);
    s.set(0x2_8810, 0);
    s.set(0x2_8B28, 0);
    s.set(0x2_8B30, 4);
    s.rig.cp_fill(
        &Packet::CopyDw {
            src: r7xx_board::chip::cp::pm4::Place::Mem(filled),
            dst: r7xx_board::chip::cp::pm4::Place::Reg(0x2_8B2C),
        }
        .encode(),
    );
    let vs = s.shader(&vertex_shader());
    s.set(0x2_8858, vs);
    // USE_OPAQUE
    s.draw_from(TRIANGLES, IndexSource::Auto, 0, 2 | 1 << 6);
    assert_eq!(count(&s.pixels(), RED), 64 * 64);
}

#[test]
fn overflow_predication_skips_draws_when_it_says_so() {
    let mut s = scene();
    let results = s.results();
    // Needed 0 to 3, written 0 to 2: overflow, so not visible.
    for (i, v) in [0, 0, 3, 2u64].iter().enumerate() {
        s.rig.set_u64(results + 8 * i as u64, v | 1 << 63);
    }
    for (draw_visible, drawn) in [(true, 0), (false, 64 * 64)] {
        s.rig.cp_fill(
            &Packet::SetPredication {
                addr: results,
                op: 2,
                draw_visible,
                keep: false,
            }
            .encode(),
        );
        s.vertices(&everything(0.5, RED));
        let mut packet = Packet::Draw(r7xx_board::chip::cp::pm4::Draw {
            initiator: 2,
            indices: 3,
            source: IndexSource::Auto,
        })
        .encode();
        packet[0] |= 1;
        s.rig.cp_fill(&packet);
        assert_eq!(count(&s.pixels(), RED), drawn);
    }
}
