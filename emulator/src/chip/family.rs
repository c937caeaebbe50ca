// SPDX-License-Identifier: MIT
//! The table of the chips that the board can have.

use std::fmt;
use std::str::FromStr;

use crate::chip::generation::{cayman, evergreen, r600, r700, Generation};

/// The chips, by generation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(usize)]
#[allow(missing_docs)] // The names are the chips'.
pub enum Family {
    Rv710,
    Rv730,
    Rv740,
    Rv770,
    Cedar,
    Redwood,
    Cypress,
    Palm,
    Caicos,
    Turks,
    Barts,
    Rv670,
    Rs780,
    Cayman,
    Aruba,
}

/// Properties by which the chips differ.
#[derive(Debug, Clone, Copy)]
pub struct Model {
    /// The chip.
    pub family: Family,
    /// What its generation changes.
    pub generation: &'static Generation,
    /// Its name on the command line.
    pub name: &'static str,
    /// Products with this chip.
    pub sold_as: &'static str,
    /// PCI device ID of such a board.
    pub device_id: u16,
    /// Core clock after POST in units of 10 kHz.
    pub engine_clock: u32,
    /// Memory clock after POST in units of 10 kHz.
    pub memory_clock: u32,
    /// Shader pipes (`rv770_gpu_init()`, `evergreen_gpu_init()`).
    pub pipes: u32,
    /// Tile pipes (from the same).
    pub tile_pipes: u32,
    /// SIMDs of a shader engine (from the same).
    pub simds: u32,
    /// Render backends.
    pub backends: u32,
    /// log2 of the number of 64-bit memory channels.
    pub log2_channels: u32,
    /// CRTCs.
    pub crtcs: usize,
    /// Vertices come through the texture cache: there is no vertex cache (Mesa,
    /// `has_vertex_cache` in `r600_pipe.c`).
    pub vertices_as_texels: bool,
}

/// All chips, in the order of [`Family`].
pub static MODELS: [Model; 15] = [
    Model {
        family: Family::Rv710,
        generation: &r700::R700,
        name: "rv710",
        sold_as: "Radeon HD 4350/4550",
        device_id: 0x9540,
        engine_clock: 60_000,
        memory_clock: 40_000,
        pipes: 2,
        tile_pipes: 2,
        simds: 2,
        backends: 1,
        log2_channels: 0,
        crtcs: 2,
        vertices_as_texels: true,
    },
    Model {
        family: Family::Rv730,
        generation: &r700::R700,
        name: "rv730",
        sold_as: "Radeon HD 4650/4670",
        device_id: 0x9480,
        engine_clock: 75_000,
        memory_clock: 90_000,
        pipes: 2,
        tile_pipes: 4,
        simds: 8,
        backends: 2,
        log2_channels: 1,
        crtcs: 2,
        vertices_as_texels: false,
    },
    Model {
        family: Family::Rv740,
        generation: &r700::R700,
        name: "rv740",
        sold_as: "Radeon HD 4770",
        device_id: 0x94A0,
        engine_clock: 75_000,
        memory_clock: 80_000,
        pipes: 4,
        tile_pipes: 4,
        simds: 8,
        backends: 4,
        log2_channels: 1,
        crtcs: 2,
        vertices_as_texels: false,
    },
    Model {
        family: Family::Rv770,
        generation: &r700::R700,
        name: "rv770",
        sold_as: "Radeon HD 4850/4870",
        device_id: 0x9440,
        engine_clock: 62_500,
        memory_clock: 99_300,
        pipes: 4,
        tile_pipes: 8,
        simds: 10,
        backends: 4,
        log2_channels: 2,
        crtcs: 2,
        vertices_as_texels: false,
    },
    Model {
        family: Family::Cedar,
        generation: &evergreen::EVERGREEN,
        name: "cedar",
        sold_as: "Radeon HD 5450",
        device_id: 0x68F9,
        engine_clock: 65_000,
        memory_clock: 80_000,
        pipes: 2,
        tile_pipes: 2,
        simds: 2,
        backends: 1,
        log2_channels: 0,
        crtcs: 4,
        vertices_as_texels: true,
    },
    Model {
        family: Family::Redwood,
        generation: &evergreen::EVERGREEN,
        name: "redwood",
        sold_as: "Radeon HD 5670",
        device_id: 0x68D8,
        engine_clock: 77_500,
        memory_clock: 100_000,
        pipes: 4,
        tile_pipes: 4,
        simds: 5,
        backends: 2,
        log2_channels: 1,
        crtcs: 6,
        vertices_as_texels: false,
    },
    Model {
        family: Family::Cypress,
        generation: &evergreen::EVERGREEN,
        name: "cypress",
        sold_as: "Radeon HD 5870",
        device_id: 0x6898,
        engine_clock: 85_000,
        memory_clock: 120_000,
        pipes: 4,
        tile_pipes: 8,
        simds: 10,
        backends: 8,
        log2_channels: 2,
        crtcs: 6,
        vertices_as_texels: false,
    },
    Model {
        family: Family::Palm,
        generation: &evergreen::APU,
        name: "palm",
        sold_as: "Radeon HD 6310 (APU)",
        device_id: 0x9802,
        engine_clock: 50_000,
        memory_clock: 53_300,
        pipes: 2,
        tile_pipes: 2,
        simds: 2,
        backends: 1,
        log2_channels: 0,
        crtcs: 2,
        vertices_as_texels: true,
    },
    Model {
        family: Family::Caicos,
        generation: &evergreen::NI,
        name: "caicos",
        sold_as: "Radeon HD 6450",
        device_id: 0x6779,
        engine_clock: 62_500,
        memory_clock: 80_000,
        pipes: 2,
        tile_pipes: 2,
        simds: 2,
        backends: 1,
        log2_channels: 0,
        crtcs: 4,
        vertices_as_texels: true,
    },
    Model {
        family: Family::Turks,
        generation: &evergreen::NI,
        name: "turks",
        sold_as: "Radeon HD 6570/6670",
        device_id: 0x6759,
        engine_clock: 65_000,
        memory_clock: 100_000,
        pipes: 4,
        tile_pipes: 4,
        simds: 6,
        backends: 2,
        log2_channels: 1,
        crtcs: 6,
        vertices_as_texels: false,
    },
    Model {
        family: Family::Barts,
        generation: &evergreen::NI,
        name: "barts",
        sold_as: "Radeon HD 6850",
        device_id: 0x6739,
        engine_clock: 77_500,
        memory_clock: 100_000,
        pipes: 4,
        tile_pipes: 8,
        simds: 7,
        backends: 8,
        log2_channels: 2,
        crtcs: 6,
        vertices_as_texels: false,
    },
    Model {
        family: Family::Rv670,
        generation: &r600::R600,
        name: "rv670",
        sold_as: "Radeon HD 3850",
        device_id: 0x9505,
        engine_clock: 67_000,
        memory_clock: 83_000,
        pipes: 4,
        tile_pipes: 4,
        simds: 4,
        backends: 4,
        log2_channels: 2,
        crtcs: 2,
        vertices_as_texels: false,
    },
    Model {
        family: Family::Rs780,
        generation: &r600::RS780,
        name: "rs780",
        sold_as: "Radeon HD 3200 (chipset)",
        device_id: 0x9610,
        engine_clock: 50_000,
        memory_clock: 40_000,
        pipes: 1,
        tile_pipes: 1,
        simds: 2,
        backends: 1,
        log2_channels: 0,
        crtcs: 2,
        vertices_as_texels: true,
    },
    Model {
        family: Family::Cayman,
        generation: &cayman::CAYMAN,
        name: "cayman",
        sold_as: "Radeon HD 6950/6970",
        device_id: 0x6718,
        engine_clock: 88_000,
        memory_clock: 137_500,
        pipes: 4,
        tile_pipes: 8,
        simds: 12,
        backends: 8,
        log2_channels: 2,
        crtcs: 6,
        vertices_as_texels: true,
    },
    Model {
        family: Family::Aruba,
        generation: &cayman::APU,
        name: "aruba",
        sold_as: "Radeon HD 7660D (APU)",
        device_id: 0x9901,
        engine_clock: 80_000,
        memory_clock: 80_000,
        pipes: 4,
        tile_pipes: 2,
        simds: 6,
        backends: 2,
        log2_channels: 1,
        crtcs: 4,
        vertices_as_texels: true,
    },
];

impl Model {
    /// The render backends that are fused off, of eight, as a mask.
    pub fn backends_off(&self) -> u32 {
        (0xFF << self.backends) & 0xFF
    }
}

impl Family {
    /// The chip's entry in [`MODELS`].
    pub fn model(self) -> &'static Model {
        &MODELS[self as usize]
    }
}

impl fmt::Display for Family {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.model().name)
    }
}

impl FromStr for Family {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let model = MODELS.iter().find(|m| m.name == name);
        model
            .map(|m| m.family)
            .ok_or_else(|| format!("no chip '{name}'"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn table_is_in_the_order_of_the_enum_and_names_lead_back() {
        for (i, model) in MODELS.iter().enumerate() {
            assert_eq!(model.family as usize, i);
            assert_eq!(model.name.parse::<Family>(), Ok(model.family));
            assert_eq!(model.family.to_string(), model.name);
        }
        assert!("rv999".parse::<Family>().is_err());
    }
}
