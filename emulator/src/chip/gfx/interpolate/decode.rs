// SPDX-License-Identifier: MIT
//! The SPI's registers to an [`Interpolator`].

use super::{Input, Interpolator, Pair, Place, MAX_INPUTS, MAX_PARAMS};
use crate::chip::gfx::state::{bits, SetupState, Shadow};
use crate::chip::regs::evergreen::gfx as eg;
use crate::chip::regs::fields::evergreen::spi_baryc_cntl;
use crate::chip::regs::fields::r700::{
    spi_interp_control_0, spi_ps_in_control_0, spi_ps_in_control_1, spi_ps_input_cntl_0,
    spi_vs_out_config,
};
use crate::chip::regs::gfx as reg;

impl Interpolator {
    /// Decodes the state. `places` are the positions of the samples in 1/16 pixel from the centre.
    pub fn new(s: &Shadow, places: &[[i8; 2]; 8], samples: usize, center_half: bool) -> Self {
        let control = s.get(reg::SPI_PS_IN_CONTROL_0);
        let control_1 = s.get(reg::SPI_PS_IN_CONTROL_1);
        let interp = s.get(reg::SPI_INTERP_CONTROL_0);
        let exported =
            spi_vs_out_config::VS_EXPORT_COUNT.of(s.get(reg::SPI_VS_OUT_CONFIG)) as usize + 1;
        let count = (spi_ps_in_control_0::NUM_INTERP.of(control) as usize).min(MAX_INPUTS);
        let ids: [u32; 10] = s.array(reg::SPI_VS_OUT_ID_0);
        let semantic = |param: usize| bits(ids[param / 4], (param as u32 % 4) * 8, 8);
        let mut params = 0;
        let inputs: Vec<Input> = (0..count)
            .map(|i| {
                let cntl = s.get(reg::SPI_PS_INPUT_CNTL_0 + 4 * i as u32);
                let param = (0..exported.min(MAX_PARAMS))
                    .find(|&p| semantic(p) == spi_ps_input_cntl_0::SEMANTIC.of(cntl));
                params = params.max(param.map_or(0, |p| p + 1));
                Input {
                    param,
                    default: match spi_ps_input_cntl_0::DEFAULT_VAL.of(cntl) {
                        0 => [0.0; 4],
                        1 => [0.0, 0.0, 0.0, 1.0],
                        2 => [1.0, 1.0, 1.0, 0.0],
                        _ => [1.0; 4],
                    },
                    flat: spi_ps_input_cntl_0::FLAT_SHADE.is_set(cntl),
                    linear: spi_ps_input_cntl_0::SEL_LINEAR.is_set(cntl),
                    place: if spi_ps_input_cntl_0::SEL_SAMPLE.is_set(cntl) {
                        Place::Sample
                    } else if spi_ps_input_cntl_0::SEL_CENTROID.is_set(cntl) {
                        Place::Centroid
                    } else {
                        Place::Center
                    },
                    sprite: spi_ps_input_cntl_0::PT_SPRITE_TEX.is_set(cntl),
                }
            })
            .collect();
        let position = spi_ps_in_control_0::POSITION_ENA.is_set(control).then(|| {
            let place = if spi_ps_in_control_0::POSITION_SAMPLE.is_set(control) {
                Place::Sample
            } else if spi_ps_in_control_0::POSITION_CENTROID.is_set(control) {
                Place::Centroid
            } else {
                Place::Center
            };
            (
                spi_ps_in_control_0::POSITION_ADDR.of(control) as usize,
                place,
            )
        });
        let center = if center_half { 0.5 } else { 0.0 };
        let flat_enabled = spi_interp_control_0::FLAT_SHADE_ENA.is_set(interp);
        let uses = [true, false].map(|linear| {
            inputs.iter().any(|input| {
                input.param.is_some() && input.linear == linear && !(input.flat && flat_enabled)
            })
        });
        let central = (inputs.iter().map(|input| input.place))
            .chain(position.map(|(_, place)| place))
            .all(|place| place.is_center(samples));
        Self {
            inputs,
            params,
            position,
            central,
            uses,
            face: spi_ps_in_control_1::FRONT_FACE_ENA
                .is_set(control_1)
                .then(|| {
                    (
                        spi_ps_in_control_1::FRONT_FACE_ADDR.of(control_1) as usize,
                        spi_ps_in_control_1::FRONT_FACE_CHAN.of(control_1) as usize,
                    )
                }),
            sample_id: spi_ps_in_control_1::FIXED_PT_POSITION_ENA
                .is_set(control_1)
                .then(|| spi_ps_in_control_1::FIXED_PT_POSITION_ADDR.of(control_1) as usize),
            sprite: [
                spi_interp_control_0::PNT_SPRITE_OVRD_X,
                spi_interp_control_0::PNT_SPRITE_OVRD_Y,
                spi_interp_control_0::PNT_SPRITE_OVRD_Z,
                spi_interp_control_0::PNT_SPRITE_OVRD_W,
            ]
            .map(|field| field.of(interp)),
            sprite_enabled: spi_interp_control_0::PNT_SPRITE_ENA.is_set(interp),
            sprite_top_1: spi_interp_control_0::PNT_SPRITE_TOP_1.is_set(interp),
            flat_enabled,
            center: [center; 2],
            places: places.map(|p| p.map(|v| center + f32::from(v) / 16.0)),
            samples,
            barycentric: None,
        }
    }

    /// Decodes the state of Evergreen, whose shaders get weights. The inputs are parameters of the
    /// shader's interpolation instructions. `SPI_BARYC_CNTL` enables pairs of weights, which follow
    /// each other from R0.xy on: with perspective at the sample, the centre and the centroid, then
    /// without (Mesa's `evergreen_update_ps_state()`, `allocate_interpolators_or_inputs()`).
    pub fn barycentric(s: &Shadow, setup: &SetupState) -> Self {
        let samples = setup.samples();
        let mut of = Self::new(s, &setup.sample_places, samples, setup.center_half);
        let control = s.raw(eg::SPI_BARYC_CNTL);
        let pairs = [
            (spi_baryc_cntl::PERSP_SAMPLE_ENA, Place::Sample, false),
            (spi_baryc_cntl::PERSP_CENTER_ENA, Place::Center, false),
            (spi_baryc_cntl::PERSP_CENTROID_ENA, Place::Centroid, false),
            (spi_baryc_cntl::LINEAR_SAMPLE_ENA, Place::Sample, true),
            (spi_baryc_cntl::LINEAR_CENTER_ENA, Place::Center, true),
            (spi_baryc_cntl::LINEAR_CENTROID_ENA, Place::Centroid, true),
        ];
        let enabled = pairs
            .into_iter()
            .filter(|(field, ..)| field.is_set(control));
        let pairs: Vec<_> = enabled
            .map(|(_, place, linear)| Pair { place, linear })
            .collect();
        of.uses = [true, false].map(|linear| pairs.iter().any(|pair| pair.linear == linear));
        of.barycentric = Some(pairs);
        of
    }
}
