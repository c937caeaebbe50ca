// SPDX-License-Identifier: MIT
//! [`Interpolator::parameter_plane`] against what a shader computes of its registers and parameters.
//!
//! Each refusal is of a case in which the shader's values differ from those of the plane.

use super::*;
use crate::chip::gfx::raster::Polygon;
use crate::chip::gfx::setup::Sprite;
use crate::chip::gfx::shader::{Isa, Options};
use crate::chip::gfx::state::Rect;

/// A pair of weights at the pixels' centres without perspective.
const STRAIGHT: Pair = Pair {
    place: Place::Center,
    linear: true,
};
/// First pixel of the tile.
const TILE_AT: (i32, i32) = (16, 8);
/// Number of the second input, and a component of it.
const OF: (usize, usize) = (1, 2);

const fn plane(c: f64, dx: f64, dy: f64) -> Plane {
    Plane { c, dx, dy }
}

/// A polygon, and a shader that interpolates two inputs itself.
struct Scene {
    interpolator: Interpolator,
    setup: Setup,
    vertices: Vertices,
    sample: Option<usize>,
    coverage: [Mask; 8],
    /// The input that is looked at, and where the shader takes its weights from.
    of: (usize, usize),
    weights: [(usize, usize); 2],
}

impl Scene {
    /// The plane is that of what the shader computes. All values are exact.
    fn new() -> Self {
        let input = |param| Input {
            param: Some(param),
            default: [3.0; 4],
            flat: false,
            linear: false,
            place: Place::Center,
            sprite: false,
        };
        let interpolator = Interpolator {
            inputs: vec![input(0), input(1)],
            params: 2,
            position: None,
            face: None,
            sample_id: None,
            // s in all components.
            sprite: [2; 4],
            sprite_enabled: false,
            sprite_top_1: false,
            flat_enabled: false,
            central: true,
            uses: [true; 2],
            center: [0.5; 2],
            places: [[0.25, 0.75]; 8],
            samples: 1,
            barycentric: Some(vec![STRAIGHT; 3]),
        };
        let bounds = Rect {
            x0: 0,
            y0: 0,
            x1: 64,
            y1: 64,
        };
        let polygon = Polygon::new(&[[0, 0], [1 << 14, 0], [0, 1 << 14]], bounds);
        let setup = Setup {
            weights: [plane(0.5, 1.0, 0.25), plane(0.75, 0.5, 1.0)],
            inv_w: plane(2.0, 0.0, 0.0),
            linear: [plane(0.25, 0.0625, 0.0), plane(0.125, 0.0, 0.03125)],
            vertices: [2, 0, 1],
            provoking: 1,
            ..Setup::of(polygon.unwrap())
        };
        // Parameter p of vertex v: components (v + 1)² + 8 p + chan.
        let params = (0..3u16).flat_map(|v| {
            (0..2).map(move |p| {
                [0, 1, 2, 3].map(|chan| f32::from((v + 1).pow(2) + 8 * p + chan).to_bits())
            })
        });
        let vertices = Vertices {
            params: params.collect(),
            stride: 2,
            ..Vertices::default()
        };
        Self {
            interpolator,
            setup,
            vertices,
            sample: None,
            coverage: [Mask::MAX; 8],
            of: OF,
            weights: [(0, 2), (0, 3)],
        }
    }

    /// With another interpolator.
    fn of(change: impl FnOnce(&mut Interpolator)) -> Self {
        let mut scene = Self::new();
        change(&mut scene.interpolator);
        scene
    }

    fn plane(&self) -> Option<([f64; 3], Plane)> {
        let Self {
            interpolator,
            setup,
            vertices,
            ..
        } = self;
        interpolator.parameter_plane(setup, vertices, self.of, self.weights)
    }

    /// Values of `plane` at the centres of the tile's pixels.
    fn values_of(plane: &Plane) -> [f32; LANES] {
        std::array::from_fn(|lane| {
            let (x, y) = pixel_of(lane);
            let at = |first: i32, offset: usize| f64::from(first) + offset as f64 + 0.5;
            plane.at(at(TILE_AT.0, x), at(TILE_AT.1, y)) as f32
        })
    }

    /// What the shader computes in the tile's pixels.
    fn shader(&self) -> [f32; LANES] {
        let options = Options {
            isa: Isa::R800,
            ..Options::r700(true)
        };
        let mut end = |_: u64, out: &mut [u32]| {
            out.fill(0);
            // NOP with END_OF_PROGRAM.
            out[1] = 1 << 21;
            true
        };
        let program = Program::decode(0, options, &mut end).unwrap();
        let (mut wave, mut scratch) = (Wave::new(), Scratch::default());
        let inputs = Inputs {
            program: &program,
            setup: &self.setup,
            vertices: &self.vertices,
            x: TILE_AT.0,
            y: TILE_AT.1,
            sample: self.sample,
            coverage: &self.coverage,
        };
        self.interpolator.fill(&mut wave, &mut scratch, inputs);
        let [a, b, c] = scratch.parameter(self.of.0, self.of.1).unwrap();
        let [v, w] = self
            .weights
            .map(|(gpr, chan)| wave.gpr(gpr, chan).map(f32::from_bits));
        std::array::from_fn(|lane| a + (b * v[lane] + c * w[lane]))
    }

    /// The plane is that of what the shader computes.
    fn accepts(&self) {
        let (values, plane) = self.plane().expect("a plane");
        assert_eq!(values, [19.0, 11.0, 14.0], "at the vertices");
        assert_eq!(self.shader(), Self::values_of(&plane));
    }

    /// There is no plane, and that of the input's vertices would be another one than the shader's values.
    fn refuses(&self) {
        let plane = Interpolator::mixed(&self.setup, &self.vertices, OF.0, OF.1).1;
        assert_ne!(self.shader(), Self::values_of(&plane), "the special case");
        assert_eq!(self.plane(), None);
    }
}

#[test]
fn the_plane_is_that_of_the_shaders_values() {
    Scene::new().accepts();
    // Of another register, and another component of the parameter.
    let mut scene = Scene::new();
    scene.weights = [(1, 0), (1, 1)];
    scene.accepts();
    scene.of = (1, 0);
    let (values, plane) = scene.plane().expect("a plane");
    assert_eq!(values, [17.0, 9.0, 12.0]);
    assert_eq!(scene.shader(), Scene::values_of(&plane));
    // What the refusals below look at, where it changes no value.
    Scene::of(|of| of.position = Some((1, Place::Center))).accepts();
    Scene::of(|of| of.face = Some((1, 2))).accepts();
    Scene::of(|of| of.sample_id = Some(1)).accepts();
    Scene::of(|of| of.inputs[1].flat = true).accepts();
    Scene::of(|of| (of.flat_enabled, of.inputs[0].flat) = (true, true)).accepts();
    Scene::of(|of| {
        of.barycentric = Some(vec![
            Pair {
                linear: false,
                ..STRAIGHT
            };
            2
        ])
    })
    .accepts();
    let mut scene = Scene::of(|of| {
        of.barycentric = Some(vec![
            Pair {
                place: Place::Centroid,
                ..STRAIGHT
            };
            2
        ])
    });
    scene.coverage = [0; 8];
    scene.accepts();
}

#[test]
fn a_shader_that_gets_its_inputs_has_no_weights() {
    Scene::of(|of| of.barycentric = None).refuses();
}

#[test]
fn weights_are_those_of_a_pair() {
    let with = |weights| {
        let mut scene = Scene::of(|of| {
            let perspective = Pair {
                linear: false,
                ..STRAIGHT
            };
            of.barycentric = Some(vec![STRAIGHT, STRAIGHT, perspective]);
        });
        scene.setup.perspective = true;
        scene.weights = weights;
        scene
    };
    with([(0, 0), (0, 1)]).accepts();
    // A register that none has filled.
    with([(1, 2), (1, 3)]).refuses();
    // Halves of two pairs, from an odd component on.
    with([(0, 1), (0, 2)]).refuses();
    // The second weight is the first one, and one of another register.
    with([(0, 0), (0, 0)]).refuses();
    with([(0, 0), (1, 1)]).refuses();
}

#[test]
fn weights_with_perspective_have_no_plane() {
    let mut scene = Scene::of(|of| {
        let perspective = Pair {
            linear: false,
            ..STRAIGHT
        };
        of.barycentric = Some(vec![STRAIGHT, perspective]);
    });
    scene.accepts();
    scene.setup.perspective = true;
    scene.refuses();
}

#[test]
fn weights_at_other_places_than_the_centres_have_no_plane() {
    let at = |place| {
        Scene::of(|of| {
            of.samples = 4;
            of.barycentric = Some(vec![STRAIGHT, Pair { place, ..STRAIGHT }]);
        })
    };
    at(Place::Center).accepts();
    // Those of the centre are the same in a shader that runs per sample.
    let mut scene = at(Place::Center);
    scene.sample = Some(1);
    scene.accepts();
    // The first sample alone is covered.
    let mut scene = at(Place::Centroid);
    scene.coverage = [Mask::MAX, 0, 0, 0, 0, 0, 0, 0];
    scene.refuses();
    let mut scene = at(Place::Sample);
    scene.sample = Some(1);
    scene.refuses();
}

#[test]
fn position_face_and_sample_overwrite_weights() {
    Scene::of(|of| of.position = Some((0, Place::Center))).refuses();
    Scene::of(|of| of.face = Some((0, 2))).refuses();
    Scene::of(|of| of.sample_id = Some(0)).refuses();
}

#[test]
fn points_with_sprites_have_other_weights() {
    let mut scene = Scene::new();
    scene.setup.sprite = Some(Sprite {
        s: plane(0.0, 1.0, 0.0),
        t: plane(0.0, 0.0, 1.0),
    });
    // The parameters of the provoking vertex, then the sprite's coordinates.
    scene.refuses();
    scene.interpolator.sprite_enabled = true;
    scene.interpolator.inputs[1].sprite = true;
    scene.refuses();
}

#[test]
fn an_input_that_is_not_interpolated_has_no_plane() {
    // There is no third input.
    let mut scene = Scene::new();
    scene.of = (2, OF.1);
    scene.refuses();
    // The provoking vertex' value, and the default.
    Scene::of(|of| (of.flat_enabled, of.inputs[1].flat) = (true, true)).refuses();
    Scene::of(|of| of.inputs[1].param = None).refuses();
}
