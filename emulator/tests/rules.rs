// SPDX-License-Identifier: MIT
//! Rules of hardware that the interpreter does not need: shaders that break one are reported.

use std::sync::{Arc, Mutex};

use crate::rig::scene::*;
use crate::rig::{config, strict_config, Rig};
use r7xx_board::chip::counters::Counter;
use r7xx_board::chip::gfx::{Gfx, Pipeline};
use r7xx_board::chip::ChipConfig;

/// `SQ_PGM_RESOURCES_PS` and `_VS`.
const RESOURCES_PS: u32 = 0x2_8850;
const RESOURCES_VS: u32 = 0x2_8868;

fn scene_of(config: ChipConfig, gfx: Pipeline) -> Scene {
    let gfx: Box<dyn Gfx> = Box::new(gfx);
    let mut s = Scene::new(Rig::with_gfx(config, gfx));
    s.set(RESOURCES_PS, 1);
    s.set(RESOURCES_VS, 3);
    s
}

fn broken(s: &Scene) -> u64 {
    s.rig.chip.counters().get(Counter::BrokenShaders)
}

#[test]
fn a_report_names_draw_and_shader_once() {
    let lines = Arc::new(Mutex::new(Vec::new()));
    let sink = lines.clone();
    let report = Box::new(move |line: &str| {
        sink.lock().unwrap().push(line.to_string());
    });
    let mut s = scene_of(config(None), Pipeline::new(1).with_report(report));
    s.draw_vertices(TRIANGLES, &everything(0.5, RED));
    s.finish();
    assert_eq!(*lines.lock().unwrap(), [""; 0]);
    // The vertex shader has R0 to R2.
    s.set(RESOURCES_VS, 2);
    s.draw_vertices(TRIANGLES, &everything(0.5, GREEN));
    s.draw_vertices(TRIANGLES, &everything(0.5, BLUE));
    assert_eq!(count(&s.pixels(), BLUE), 64 * 64);
    let expected = format!("draw 2: vertex shader at {SHADERS:#x}: it uses R2, but NUM_GPRS is 2");
    assert_eq!(*lines.lock().unwrap(), [expected]);
    assert_eq!(broken(&s), 1);
    // With other resources it is another case, and so is the pixel shader.
    s.set(RESOURCES_VS, 1);
    s.set(RESOURCES_PS, 0);
    s.draw_vertices(TRIANGLES, &everything(0.5, RED));
    s.finish();
    let found = lines.lock().unwrap()[1..].join("\n");
    assert!(found.contains("draw 4: vertex shader at") && found.contains("NUM_GPRS is 1"));
    assert!(found.contains("draw 4: pixel shader at") && found.contains("it uses R0"));
    assert_eq!(broken(&s), 3);
}

#[test]
fn a_strict_board_counts_what_another_does_not() {
    for (config, expected) in [(strict_config(), 1), (config(None), 0)] {
        let mut s = scene_of(config, Pipeline::new(1));
        s.draw_vertices(TRIANGLES, &everything(0.5, RED));
        s.finish();
        assert_eq!(broken(&s), 0);
        s.set(RESOURCES_VS, 2);
        s.draw_vertices(TRIANGLES, &everything(0.5, RED));
        s.finish();
        assert_eq!(broken(&s), expected);
    }
}
