// SPDX-License-Identifier: MIT
//! State of a pipeline that passes colours through to a linear 64x64 RGBA8 target, as Mesa's r600
//! driver would set it, and the shaders for it. Also for tests without a rig.

use super::shader::{Shader, PARAM, PIXEL, POSITION, XYZW};

pub const WIDTH: u32 = 64;
pub const HEIGHT: u32 = 64;

// Places, counted from the base of [`state`].
pub const COLOUR: u64 = 0x10_0000;
pub const DEPTH: u64 = 0x20_0000;
pub const SHADERS: u64 = 0x40_0000;
pub const VERTICES: u64 = 0x50_0000;
pub const STREAM: u64 = 0x60_0000;
pub const RING: u64 = 0x70_0000;

/// Primitive types.
pub const POINTS: u32 = 1;
pub const LINES: u32 = 2;
pub const TRIANGLES: u32 = 4;
pub const TRIANGLE_STRIP: u32 = 6;
pub const RECTANGLES: u32 = 0x11;

/// Registers of the shaders' start addresses.
pub const START_PS: u32 = 0x2_8840;
pub const START_VS: u32 = 0x2_8858;
pub const START_GS: u32 = 0x2_886C;
pub const START_ES: u32 = 0x2_8880;

pub fn f(value: f32) -> u32 {
    value.to_bits()
}

/// A vertex shader that passes on position and parameter.
pub fn vertex_shader() -> Shader {
    let mut s = Shader::new();
    s.fetch(1, 0, 0, 0, 0)
        .fetch(2, 0, 0, 0, 16)
        .export(POSITION, 60, 1, XYZW, true)
        .export(PARAM, 0, 2, XYZW, true);
    s
}

/// A pixel shader that takes the parameter as colour.
pub fn pixel_shader() -> Shader {
    let mut s = Shader::new();
    s.export(PIXEL, 0, 0, XYZW, true);
    s
}

/// Registers and their values, for memory whose places begin at MC address `base`.
pub fn state(base: u64) -> Vec<(u32, u32)> {
    let size = WIDTH | HEIGHT << 16;
    vec![
        (0x8958, TRIANGLES),
        (0x2_8030, 0),
        (0x2_8034, size),
        (0x2_8204, 1 << 31),
        (0x2_8208, size),
        (0x2_8240, 1 << 31),
        (0x2_8244, size),
        (0x2_820C, 0xFFFF),
        (0x2_82D0, f(0.0)),
        (0x2_82D4, f(1.0)),
        (0x2_8400, u32::MAX),
        (0x2_8404, 0),
        (0x2_8408, 0),
        // Viewport: -1..1 is the whole target, y is not flipped.
        (0x2_843C, f(WIDTH as f32 / 2.0)),
        (0x2_8440, f(WIDTH as f32 / 2.0)),
        (0x2_8444, f(HEIGHT as f32 / 2.0)),
        (0x2_8448, f(HEIGHT as f32 / 2.0)),
        (0x2_844C, f(0.5)),
        (0x2_8450, f(0.5)),
        (0x2_8818, 0x43F),
        (0x2_8814, 1 << 19),
        (0x2_8C08, 1 | 2 << 1 | 5 << 3),
        (0x2_8C0C, f(16.0)),
        (0x2_8C10, f(1.0)),
        (0x2_8C14, f(16.0)),
        (0x2_8C18, f(1.0)),
        (0x2_8C48, u32::MAX),
        (0x2_8A00, 8 | 8 << 16),
        (0x2_8A08, 8),
        // One parameter with semantic 1.
        (0x2_8614, 1),
        (0x2_86C4, 0),
        (0x2_8644, 1),
        (0x2_86CC, 1 | 1 << 28),
        (0x2_86D4, 1),
        // 8_8_8_8 UNORM, linear aligned.
        (0x2_8040, ((base + COLOUR) >> 8) as u32),
        (0x2_8060, (WIDTH / 8 - 1) | (WIDTH * HEIGHT / 64 - 1) << 10),
        (0x2_80A0, 0x1A << 2 | 1 << 8),
        (0x2_8238, 0xF),
        (0x2_823C, 0xF),
        (0x2_8808, 0xCC << 16),
        (0x2_87A0, 1),
        // No depth buffer.
        (0x2_8010, 0),
        (0x2_8A7C, 1),
        // Vertex buffer in resource 160: stride 32.
        (0x3_8000 + 28 * 160, (base + VERTICES) as u32),
        (0x3_8000 + 28 * 160 + 4, 0xFFFF),
        (0x3_8000 + 28 * 160 + 8, 32 << 8),
        (0x3_8000 + 28 * 160 + 24, 0xC000_0000),
    ]
}
