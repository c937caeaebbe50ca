// SPDX-License-Identifier: MIT
//! A driver of the 3D pipeline for tests: state, shaders and draws on a
//! [`Rig`], in the manner of Mesa's r600 driver.

use r7xx_board::chip::cp::pm4::{Draw, IndexSource, Packet};

use r7xx_board::chip::gfx::shader::Isa;
use r7xx_board::chip::gfx::Pipeline;
use r7xx_board::chip::regs::evergreen::gfx as eg;

use super::shader::Shader;
use super::{r800, Rig, DATA, FENCE};

pub use super::state::*;

/// `count` words that look like noise, the same for a `seed`.
pub fn noise(count: usize, seed: u64) -> Vec<u32> {
    let mut rng = fastrand::Rng::with_seed(seed);
    (0..count).map(|_| rng.u32(..)).collect()
}

/// A vertex: position in clip space and one parameter.
pub type Vertex = ([f32; 4], [f32; 4]);

pub struct Scene {
    pub rig: Rig,
    fence: u32,
    shaders: u64,
    /// First free vertex: draws are queued, so their vertices must stay.
    next_vertex: u32,
}

/// A [`Scene`] on an RV710 whose pipeline has two threads.
pub fn scene() -> Scene {
    let pipeline = Box::new(Pipeline::new(2));
    Scene::new(Rig::with_gfx(super::config(None), pipeline))
}

impl Scene {
    /// A pipeline that passes colours through to a linear 64x64 RGBA8 target.
    pub fn new(rig: Rig) -> Self {
        let mut scene = Self::with_state(rig, state(0));
        let vs = scene.shader(&vertex_shader());
        let ps = scene.shader(&pixel_shader());
        scene.set(START_VS, vs);
        scene.set(START_PS, ps);
        scene
    }

    /// The same on an Evergreen or a Cayman, whose shaders have the encoding `isa`.
    pub fn r800(rig: Rig, isa: Isa) -> Self {
        let mut scene = Self::with_state(rig, r800::state(0));
        let vs = scene.shader_words(&r800::vertex_shader(isa).words());
        let ps = scene.shader_words(&r800::passing(isa).words());
        scene.set(eg::SQ_PGM_START_VS, vs);
        scene.set(eg::SQ_PGM_START_PS, ps);
        scene
    }

    /// Without shaders.
    fn with_state(rig: Rig, state: Vec<(u32, u32)>) -> Self {
        let mut scene = Self {
            rig,
            fence: 0,
            shaders: SHADERS,
            next_vertex: 0,
        };
        for (reg, value) in state {
            scene.set(reg, value);
        }
        (scene.rig).cp_fill(&Packet::NumInstances(1).encode());
        scene
    }

    /// Sets a register, by the packet for its window.
    pub fn set(&mut self, reg: u32, value: u32) {
        self.rig.cp_fill(&r800::set(reg, value));
    }

    /// Binds resource 0 and sampler 0 of pixel shaders, by the words of a texture resource and of a sampler.
    pub fn texture(&mut self, resource: [u32; 7], sampler: [u32; 3]) {
        for (first, words) in [(0x3_8000, &resource[..]), (0x3_C000, &sampler[..])] {
            for (reg, word) in (first..).step_by(4).zip(words) {
                self.set(reg, *word);
            }
        }
    }

    /// Puts a shader into memory; returns the value for its start register.
    pub fn shader(&mut self, shader: &Shader) -> u32 {
        self.shader_words(&shader.words())
    }

    pub fn shader_words(&mut self, words: &[u32]) -> u32 {
        let at = self.shaders;
        self.rig.ib(at, words);
        self.shaders += (words.len() as u64 * 4).div_ceil(256) * 256;
        (at >> 8) as u32
    }

    /// Puts vertices after those of earlier draws; the next draws begin there.
    pub fn vertices(&mut self, vertices: &[Vertex]) {
        let first = self.next_vertex;
        for (i, (position, param)) in vertices.iter().enumerate() {
            let words: Vec<u32> = position.iter().chain(param).map(|v| f(*v)).collect();
            let at = u64::from(first) + i as u64;
            self.rig.ib(VERTICES + 32 * at, &words);
        }
        self.next_vertex += vertices.len() as u32;
        self.set(0x2_8408, first);
    }

    /// MC address of the vertices that [`Self::vertices`] has put into memory last; `count` of them.
    pub fn address_of_last(&self, count: u32) -> u64 {
        VERTICES + 32 * u64::from(self.next_vertex - count)
    }

    pub fn draw_from(&mut self, kind: u32, source: IndexSource, indices: u32, initiator: u32) {
        self.set(0x8958, kind);
        self.rig.cp_fill(
            &Packet::Draw(Draw {
                initiator,
                indices,
                source,
            })
            .encode(),
        );
    }

    pub fn draw(&mut self, kind: u32, count: u32) {
        self.draw_from(kind, IndexSource::Auto, count, 2);
    }

    /// Puts vertices into memory and draws them.
    pub fn draw_vertices(&mut self, kind: u32, vertices: &[Vertex]) {
        self.vertices(vertices);
        self.draw(kind, vertices.len() as u32);
    }

    /// A rectangle from (`x0`, `y0`) to (`x1`, `y1`) in pixels at depth `z`.
    pub fn rectangle(&mut self, [x0, y0, x1, y1]: [f32; 4], z: f32, colour: [f32; 4]) {
        let v = |x: f32, y: f32| {
            let scale = |v: f32, size: u32| v / (size as f32 / 2.0) - 1.0;
            (
                [scale(x, WIDTH), scale(y, HEIGHT), z * 2.0 - 1.0, 1.0],
                colour,
            )
        };
        self.draw_vertices(RECTANGLES, &[v(x0, y0), v(x0, y1), v(x1, y0)]);
    }

    /// Draws a triangle over the whole target by pixel shader `ps`, with `params` at its corners.
    /// Checks that all pixels get the same colour, and returns it.
    pub fn one_colour(&mut self, ps: &Shader, params: [[f32; 4]; 3]) -> [u8; 4] {
        let start = self.shader(ps);
        self.set(0x2_8840, start);
        let corners = [[-1.0, -1.0], [3.0, -1.0], [-1.0, 3.0]];
        let vertices: Vec<Vertex> = (corners.iter().zip(params))
            .map(|([x, y], param)| ([*x, *y, 0.0, 1.0], param))
            .collect();
        self.draw_vertices(TRIANGLES, &vertices);
        let pixels = self.pixels();
        assert!(pixels.iter().all(|pixel| *pixel == pixels[0]));
        pixels[0]
    }

    pub fn event(&mut self, event: u8, index: u8, addr: Option<u64>) {
        self.rig
            .cp_fill(&Packet::EventWrite { event, index, addr }.encode());
    }

    /// Submits everything and waits for its end.
    pub fn finish(&mut self) {
        self.fence += 1;
        let value = self.fence;
        self.submit_fence();
        self.rig.until_mem(FENCE, value);
    }

    /// Submits everything, followed by a fence.
    pub fn submit_fence(&mut self) {
        let data = u64::from(self.fence);
        self.rig.cp_fill(
            &Packet::EventWriteEop {
                event: 0x14,
                addr: FENCE,
                data_sel: 1,
                int_sel: 0,
                data,
            }
            .encode(),
        );
        self.rig.cp_commit();
    }

    /// The pixels of the linear target, row by row, as R, G, B, A.
    pub fn pixels(&mut self) -> Vec<[u8; 4]> {
        self.finish();
        self.rig
            .bytes(COLOUR, (WIDTH * HEIGHT * 4) as usize)
            .chunks_exact(4)
            .map(|p| [p[0], p[1], p[2], p[3]])
            .collect()
    }

    /// MC address for the results of queries.
    pub fn results(&self) -> u64 {
        DATA
    }
}

pub const RED: [f32; 4] = [1.0, 0.0, 0.0, 1.0];
pub const GREEN: [f32; 4] = [0.0, 1.0, 0.0, 1.0];
pub const BLUE: [f32; 4] = [0.0, 0.0, 1.0, 1.0];

pub fn bytes(colour: [f32; 4]) -> [u8; 4] {
    colour.map(|c| (c * 255.0).round() as u8)
}

/// Number of pixels that have the colour.
pub fn count(pixels: &[[u8; 4]], colour: [f32; 4]) -> usize {
    pixels.iter().filter(|p| **p == bytes(colour)).count()
}

/// A triangle that covers the whole target.
pub fn everything(z: f32, colour: [f32; 4]) -> [Vertex; 3] {
    let z = z * 2.0 - 1.0;
    [
        ([-1.0, -1.0, z, 1.0], colour),
        ([3.0, -1.0, z, 1.0], colour),
        ([-1.0, 3.0, z, 1.0], colour),
    ]
}

/// Binds a depth buffer of `format` with `control`.
pub fn depth_buffer(s: &mut Scene, format: u32, control: u32) {
    s.set(0x2_8000, (WIDTH / 8 - 1) | (WIDTH * HEIGHT / 64 - 1) << 10);
    s.set(0x2_8004, 0);
    s.set(0x2_800C, (DEPTH >> 8) as u32);
    s.set(0x2_8010, format | 2 << 15);
    s.set(0x2_8800, control);
}

pub const Z_ENABLE: u32 = 1 << 1;
pub const Z_WRITE: u32 = 1 << 2;
pub const ALWAYS: u32 = 7 << 4;
pub const LESS: u32 = 1 << 4;
