// SPDX-License-Identifier: MIT
//! R6xx's decoders, where they are not R7xx's. The shader encoding is
//! [`r600`](super::shader::r600).
//!
//! Sources: Mesa's `r600d.h`, and the places of `r600_state.c`, `r600_state_common.c` and
//! `radeon_surface.c` that ask for R600.

use super::front::{Front, R700_TABLE};
use super::geometry::MOST_VERTICES;
use super::shader::Isa;
use super::state::Shadow;
use super::texture::resource::Texture;
use crate::chip::regs::fields::r700::r600::sx_misc;
use crate::chip::regs::fields::r700::{sq_gs_vert_itemsize, sq_gsvs_ring_itemsize};
use crate::chip::regs::{self, gfx as reg, r600};

/// Slices in memory of a level of a cube map (`radeon_surface_sanity()`).
const CUBE_SLICES: u32 = 6;

/// The decoders.
pub static FRONT: Front = Front {
    name: "R600",
    registers: || &regs::R600,
    isa: Isa::R600,
    translate: Some(translate),
    texture: |words, config| Texture::decode_with(words, config, CUBE_SLICES),
    front_cull_takes_all: true,
    ..R700_TABLE
};

/// `VPORT_SCISSOR_ENABLE` of R7xx's `PA_SC_MODE_CNTL`.
const VPORT_SCISSOR_ENABLE: u32 = 1 << 22;
/// `DX_RASTERIZATION_KILL` of R7xx's `PA_CL_CLIP_CNTL`.
const DX_RASTERIZATION_KILL: u32 = 1 << 22;

/// Sets R7xx's registers: all are in their places; some of R7xx's fields are not there.
fn translate(s: &mut Shadow) {
    s.copy_raw();
    // Scissors of viewports cannot be disabled.
    let mode = s.raw(reg::PA_SC_MODE_CNTL);
    s.set(reg::PA_SC_MODE_CNTL, mode | VPORT_SCISSOR_ENABLE);
    // MULTIPASS drops all primitives behind stream-out.
    let clip = s.raw(reg::PA_CL_CLIP_CNTL) & !DX_RASTERIZATION_KILL;
    let dropped = match sx_misc::MULTIPASS.is_set(s.raw(r600::SX_MISC)) {
        true => DX_RASTERIZATION_KILL,
        false => 0,
    };
    s.set(reg::PA_CL_CLIP_CNTL, clip | dropped);
    // VGT_GS_MAX_VERT_OUT does not exist: the item in the ring is the limit.
    let item = sq_gsvs_ring_itemsize::ITEMSIZE.of(s.raw(reg::SQ_GSVS_RING_ITEMSIZE));
    let vertex = sq_gs_vert_itemsize::ITEMSIZE
        .of(s.raw(reg::SQ_GS_VERT_ITEMSIZE))
        .max(1);
    s.set(reg::VGT_GS_MAX_VERT_OUT, (item / vertex).min(MOST_VERTICES));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chip::bus::RegFile;
    use crate::chip::gfx::state::SetupState;

    /// Registers with the given values, all others 0.
    struct Regs(Vec<(u32, u32)>);

    impl RegFile for Regs {
        fn load(&self, offset: u32) -> u32 {
            let found = self.0.iter().find(|(at, _)| *at == offset);
            found.map_or(0, |(_, value)| *value)
        }

        fn store(&self, _: u32, _: u32) {}
    }

    fn shadow(values: &[(u32, u32)]) -> Shadow {
        let mut shadow = Shadow::new(&FRONT);
        shadow.load(&Regs(values.to_vec()));
        translate(&mut shadow);
        shadow
    }

    #[test]
    fn multipass_drops_primitives_and_r700s_bit_does_not() {
        let kill = |values: &[(u32, u32)]| SetupState::decode(&shadow(values)).kill;
        assert!(kill(&[(r600::SX_MISC, 1)]));
        assert!(!kill(&[(reg::PA_CL_CLIP_CNTL, DX_RASTERIZATION_KILL)]));
    }

    #[test]
    fn scissors_of_viewports_are_always_on() {
        let s = shadow(&[
            (reg::PA_SC_SCREEN_SCISSOR_BR, 100 | 100 << 16),
            (reg::PA_SC_WINDOW_SCISSOR_BR, 100 | 100 << 16),
            (reg::PA_SC_GENERIC_SCISSOR_BR, 100 | 100 << 16),
            (reg::PA_SC_VPORT_SCISSOR_0_BR, 40 | 30 << 16),
        ]);
        let scissor = SetupState::decode(&s).viewports[0].scissor;
        assert_eq!((scissor.x1, scissor.y1), (40, 30));
    }

    #[test]
    fn the_rings_item_limits_the_vertices_of_a_geometry_shader() {
        let most = |item, vertex| {
            shadow(&[
                (reg::SQ_GSVS_RING_ITEMSIZE, item),
                (reg::SQ_GS_VERT_ITEMSIZE, vertex),
            ])
            .get(reg::VGT_GS_MAX_VERT_OUT)
        };
        assert_eq!((most(64, 8), most(63, 8)), (8, 7));
        assert_eq!((most(0x7FFF, 0), most(0, 8)), (MOST_VERTICES, 0));
    }
}
