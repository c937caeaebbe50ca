// SPDX-License-Identifier: MIT
//! Texture resources: decodes the seven descriptor words to sizes and layouts of
//! all mip levels.
//!
//! Fields: `SQ_TEX_RESOURCE_WORD0` to `WORD6` in `r600d.h`. Sizes and addresses
//! of the levels: libdrm's `radeon_surface.c` (`r6_surface_init_*()`), which has
//! to agree with the chip's own arithmetic.

use crate::chip::gfx::format::{DataFormat, ElementFormat, Kind, NumFormat, Sign};
use crate::chip::gfx::surface::Surface;
use crate::chip::regs::fields::words::r700::{
    sq_tex_resource_word0 as word0, sq_tex_resource_word1 as word1, sq_tex_resource_word4 as word4,
    sq_tex_resource_word5 as word5, sq_tex_resource_word6 as word6,
};
use crate::chip::regs::fields::words::{four, VALID_TEXTURE};
use crate::chip::regs::fields::Field;
use crate::chip::strict::cache::Cache;
use crate::chip::tiling::{ArrayMode, Layout, TilingConfig};

/// `DST_SEL_X` to `W`, which Evergreen has at the same place.
pub const SELECTS: [Field; 4] = [
    word4::DST_SEL_X,
    word4::DST_SEL_Y,
    word4::DST_SEL_Z,
    word4::DST_SEL_W,
];
/// Most levels of a descriptor.
pub const MAX_LEVELS: usize = 16;
/// Slices in memory of each level of a cube map, of which six are faces, on RV770 and later.
pub const CUBE_SLICES: u32 = 8;

/// `DIM`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)] // The names say it.
pub enum Dim {
    D1,
    D2,
    D3,
    Cube,
    D1Array,
    D2Array,
    D2Msaa,
    D2ArrayMsaa,
}

impl Dim {
    /// Decodes a field of 3 bits.
    pub fn from_field(value: u32) -> Self {
        use Dim::*;
        [D1, D2, D3, Cube, D1Array, D2Array, D2Msaa, D2ArrayMsaa][(value & 7) as usize]
    }

    /// True if texels have several samples.
    pub fn is_msaa(self) -> bool {
        matches!(self, Dim::D2Msaa | Dim::D2ArrayMsaa)
    }

    /// True if the third coordinate selects a layer.
    pub fn is_array(self) -> bool {
        matches!(self, Dim::D1Array | Dim::D2Array | Dim::D2ArrayMsaa)
    }

    /// True if there is no second coordinate.
    pub fn is_1d(self) -> bool {
        matches!(self, Dim::D1 | Dim::D1Array)
    }
}

/// One mip level.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Level {
    /// Width in texels.
    pub width: u32,
    /// Height in texels.
    pub height: u32,
    /// Depth of a 3D texture in texels, else 1.
    pub depth: u32,
    /// Its memory. Elements are texels, blocks of a block format, or pairs of
    /// texels of a subsampled one.
    pub surface: Surface,
}

/// The fields of a resource's words, whatever their places.
#[derive(Debug, Clone, Copy)]
pub struct Descriptor {
    /// `DIM`.
    pub dim: Dim,
    /// Arrangement of level 0.
    pub mode: ArrayMode,
    /// Texels are in the order of depth buffers.
    pub depth_order: bool,
    /// Texels in a row of level 0.
    pub pitch: u32,
    /// Width, height, and depth or number of layers.
    pub size: [u32; 3],
    /// Format of an element.
    pub format: ElementFormat,
    /// MC address of level 0.
    pub base: u64,
    /// MC address of level 1.
    pub mips: u64,
    /// `DST_SEL_X` to `W`.
    pub swizzle: [u8; 4],
    /// `BASE_LEVEL`.
    pub base_level: u32,
    /// `LAST_LEVEL`, 0 to 15; of multisampled textures log2 of the samples.
    pub last: u32,
    /// `BASE_ARRAY` and `LAST_ARRAY`.
    pub layers: (u32, u32),
    /// log2 of `MAX_ANISO`.
    pub log2_max_aniso: u32,
    /// Tiling geometry, with the surface's own parts.
    pub config: TilingConfig,
    /// Slices in memory of a level of a cube map.
    pub cube_slices: u32,
}

/// A decoded texture resource.
#[derive(Debug, Clone)]
pub struct Texture {
    /// The words that it was decoded from.
    pub words: [u32; 8],
    /// Tiling geometry that it was decoded with.
    pub config: TilingConfig,
    /// Dimensions.
    pub dim: Dim,
    /// Format of an element.
    pub format: ElementFormat,
    /// `DST_SEL_X` to `W`: 0-3 a component, 4 is 0, 5 is 1.
    pub swizzle: [u8; 4],
    /// `BASE_LEVEL`.
    pub base_level: u32,
    /// `LAST_LEVEL`; 0 for multisampled textures.
    pub last_level: u32,
    /// Samples per texel.
    pub samples: u32,
    /// `BASE_ARRAY` and `LAST_ARRAY`: first and last layer of the view.
    pub layers: (u32, u32),
    /// Number of layers by the descriptor's depth; 1 for 3D textures.
    pub layer_count: u32,
    /// log2 of `MAX_ANISO`.
    pub log2_max_aniso: u32,
    /// The levels, 0 to `last_level`.
    pub levels: [Option<Level>; MAX_LEVELS],
    /// True if the cache keeps texels as four bytes: unsigned normalised
    /// components of 8 bits, not sRGB.
    pub packed: bool,
}

impl Texture {
    /// Decodes a resource of R7xx. None if it is no valid texture or its format is
    /// unknown: such textures read as zero.
    pub fn decode(words: &[u32; 8], config: TilingConfig) -> Option<Self> {
        Self::decode_with(words, config, CUBE_SLICES)
    }

    /// Decodes a resource of R6xx or R7xx, on which levels of cube maps have `cube_slices` slices
    /// in memory.
    pub fn decode_with(words: &[u32; 8], config: TilingConfig, cube_slices: u32) -> Option<Self> {
        if word6::TYPE.of(words[6]) != VALID_TEXTURE {
            return None;
        }
        let descriptor = Descriptor {
            dim: Dim::from_field(word0::DIM.of(words[0])),
            mode: ArrayMode::from_field(word0::TILE_MODE.of(words[0])),
            depth_order: word0::TILE_TYPE.is_set(words[0]),
            pitch: (word0::PITCH.of(words[0]) + 1) * 8,
            size: [
                word0::TEX_WIDTH.of(words[0]) + 1,
                word1::TEX_HEIGHT.of(words[1]) + 1,
                word1::TEX_DEPTH.of(words[1]) + 1,
            ],
            format: ElementFormat::texture(word1::DATA_FORMAT.of(words[1]), words[4]),
            base: u64::from(words[2]) << 8,
            mips: u64::from(words[3]) << 8,
            swizzle: four(words[4], SELECTS),
            base_level: word4::BASE_LEVEL.of(words[4]),
            last: word5::LAST_LEVEL.of(words[5]),
            layers: (
                word5::BASE_ARRAY.of(words[5]),
                word5::LAST_ARRAY.of(words[5]),
            ),
            log2_max_aniso: word6::MAX_ANISO.of(words[6]),
            cube_slices,
            config,
        };
        // Later chips' formats.
        if matches!(descriptor.format.data, DataFormat::BC6 | DataFormat::BC7) {
            return None;
        }
        Self::new(words, config, &descriptor)
    }

    /// The texture that `descriptor` describes, which was decoded from `words` and the tiling
    /// geometry `config`. None if its format is unknown.
    pub fn new(words: &[u32; 8], config: TilingConfig, descriptor: &Descriptor) -> Option<Self> {
        let format = descriptor.format;
        let kind = format.data.layout().kind;
        if kind == Kind::Invalid {
            return None;
        }
        let (dim, mode) = (descriptor.dim, descriptor.mode);
        let bytes = format.data.bytes();
        let tiled = matches!(mode, ArrayMode::Tiled1dThin1 | ArrayMode::Tiled2dThin1);
        if tiled && !bytes.is_power_of_two() {
            return None;
        }
        let last = descriptor.last;
        let (samples, last_level) = if dim.is_msaa() {
            (1 << last.min(3), 0)
        } else {
            (1, last)
        };
        let [_, _, depth] = descriptor.size;
        let mut texture = Self {
            words: *words,
            config,
            dim,
            format,
            swizzle: descriptor.swizzle,
            base_level: descriptor.base_level.min(last_level),
            last_level,
            samples,
            layers: descriptor.layers,
            layer_count: if dim == Dim::D3 { 1 } else { depth },
            log2_max_aniso: descriptor.log2_max_aniso.min(4),
            levels: [None; MAX_LEVELS],
            packed: kind == Kind::Fixed
                && format.num == NumFormat::Norm
                && format.sign == [Sign::Unsigned; 4]
                && !format.degamma
                && format.endian == Default::default()
                && matches!(format.data.field(), 0x01 | 0x07 | 0x1A),
        };
        texture.lay_out(descriptor);
        Some(texture)
    }

    /// True if texels are integers.
    pub fn is_integer(&self) -> bool {
        self.format.is_integer()
    }

    /// Level `level`, or the last one if it is beyond that.
    pub fn level(&self, level: u32) -> Option<&Level> {
        self.levels[level.min(self.last_level) as usize & (MAX_LEVELS - 1)].as_ref()
    }

    /// Slices in memory of each level.
    fn slices(&self, depth: u32, descriptor: &Descriptor) -> u32 {
        match self.dim {
            Dim::D3 => depth,
            // More than one cube only on Evergreen, where they are an array of faces.
            Dim::Cube if self.layer_count > 1 => (6 * self.layer_count).next_power_of_two(),
            Dim::Cube => descriptor.cube_slices,
            // radeon_surface_init() of Mesa's winsys lays out arrays so.
            _ => self.layer_count.next_power_of_two(),
        }
    }

    fn lay_out(&mut self, descriptor: &Descriptor) {
        let bpe = self.format.data.bytes().max(1);
        let (block_w, block_h) = self.format.data.texels();
        let [width0, height0, depth0] = descriptor.size;
        let height0 = if self.dim.is_1d() { 1 } else { height0 };
        let depth0 = if self.dim == Dim::D3 { depth0 } else { 1 };
        let config = descriptor.config;
        let line = bpe * self.samples;
        let align = |mode: ArrayMode| config.alignment(mode, bpe, self.samples);
        let mut mode = descriptor.mode;
        let mut next = descriptor.mips;
        for level in 0..=self.last_level.min(MAX_LEVELS as u32 - 1) {
            // The sizes that a shader sees. In memory, those of levels above 0 are rounded up to
            // powers of two.
            let minify = |size: u32| (size >> level).max(1);
            let (width, height, depth) = (minify(width0), minify(height0), minify(depth0));
            let stored = |size: u32| {
                if level == 0 {
                    size
                } else {
                    size.next_power_of_two()
                }
            };
            let across = stored(width).div_ceil(block_w);
            let down = stored(height).div_ceil(block_h);
            if level > 0 && mode == ArrayMode::Tiled2dThin1 && self.samples == 1 {
                let (x, y) = align(mode);
                if across < x || down < y {
                    mode = ArrayMode::Tiled1dThin1;
                }
            }
            let (x, y) = align(mode);
            let pitch = if level == 0 {
                // The field is in texels, the layout's pitch in elements (blocks).
                descriptor.pitch / block_w
            } else {
                across.next_multiple_of(x)
            }
            .max(1);
            let rows = down.next_multiple_of(y);
            let mut layout = Layout::new(mode, bpe, pitch, pitch * rows, config);
            layout.samples = self.samples;
            layout.depth_order = descriptor.depth_order;
            let base = if level == 0 { descriptor.base } else { next };
            if level > 0 {
                let slice = u64::from(pitch) * u64::from(rows) * u64::from(line);
                next = next.wrapping_add(slice * u64::from(self.slices(stored(depth), descriptor)));
            }
            self.levels[level as usize] = Some(Level {
                width,
                height,
                depth,
                surface: Surface::new(base, layout, Cache::Texture),
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// RV710.
    fn config() -> TilingConfig {
        TilingConfig::from_register(1 << 1 | 1 << 4)
    }

    fn words(
        dim: u32,
        mode: u32,
        size: [u32; 3],
        format: u32,
        levels: u32,
        pitch: u32,
    ) -> [u32; 8] {
        [
            dim | mode << 3 | (pitch / 8 - 1) << 8 | (size[0] - 1) << 19,
            (size[1] - 1) | (size[2] - 1) << 13 | format << 26,
            0x100,
            0x400,
            0o3210 << 16,
            levels,
            2 << 30,
            0,
        ]
    }

    fn level(texture: &Texture, i: u32) -> (u64, u32, ArrayMode) {
        let surface = texture.level(i).unwrap().surface;
        (surface.base, surface.layout.pitch, surface.layout.mode)
    }

    #[test]
    fn levels_follow_libdrm() {
        // 256x256 RGBA8 in 2D: macro tiles of 64x16.
        let t = Texture::decode(&words(1, 4, [256, 256, 1], 0x1A, 8, 256), config()).unwrap();
        use ArrayMode::*;
        assert_eq!(level(&t, 0), (0x1_0000, 256, Tiled2dThin1));
        assert_eq!(level(&t, 1), (0x4_0000, 128, Tiled2dThin1));
        assert_eq!(level(&t, 2), (0x4_0000 + 128 * 128 * 4, 64, Tiled2dThin1));
        // 32 wide is less than a macro tile: 1D from there on.
        let at3 = 0x4_0000 + (128 * 128 + 64 * 64) * 4;
        assert_eq!(level(&t, 3), (at3, 32, Tiled1dThin1));
        assert_eq!(level(&t, 4), (at3 + 32 * 32 * 4, 16, Tiled1dThin1));
        assert_eq!(
            level(&t, 5),
            (at3 + (32 * 32 + 16 * 16) * 4, 8, Tiled1dThin1)
        );
        assert_eq!(t.level(8).unwrap().width, 1);
    }

    #[test]
    fn levels_above_the_first_are_powers_of_two() {
        let t = Texture::decode(&words(1, 2, [100, 60, 1], 0x1A, 6, 104), config()).unwrap();
        let one = t.level(1).unwrap();
        assert_eq!((one.width, one.height), (50, 30));
        assert_eq!(one.surface.layout.pitch, 64);
        assert_eq!(one.surface.layout.slice_elements, 64 * 32);
    }

    #[test]
    fn cubes_have_eight_slices_a_level() {
        let t = Texture::decode(&words(3, 2, [32, 32, 1], 0x1A, 5, 32), config()).unwrap();
        assert_eq!(level(&t, 2).0 - level(&t, 1).0, 16 * 16 * 4 * 8);
        let t = Texture::decode(&words(2, 2, [32, 32, 32], 0x1A, 5, 32), config()).unwrap();
        assert_eq!(level(&t, 2).0 - level(&t, 1).0, 16 * 16 * 4 * 16);
    }

    #[test]
    fn cubes_of_r600_have_six_slices_a_level() {
        let cube = words(3, 2, [32, 32, 1], 0x1A, 5, 32);
        let t = Texture::decode_with(&cube, config(), 6).unwrap();
        assert_eq!(level(&t, 2).0 - level(&t, 1).0, 16 * 16 * 4 * 6);
    }

    #[test]
    fn arrays_have_a_power_of_two_of_slices_a_level() {
        // 65 texels of 16 bytes in 5 layers: RADEON's layout has levels 0, 1, 2 at 0, 16384, 24576.
        let t = Texture::decode(&words(4, 1, [65, 1, 5], 0x22, 6, 128), config()).unwrap();
        assert_eq!(level(&t, 2).0 - level(&t, 1).0, 24576 - 16384);
        assert_eq!(t.layer_count, 5);
    }

    #[test]
    fn blocks_count_as_elements() {
        let t = Texture::decode(&words(1, 2, [64, 64, 1], 0x31, 6, 64), config()).unwrap();
        let layout = t.level(0).unwrap().surface.layout;
        assert_eq!((layout.pitch, layout.bytes_per_element), (16, 8));
        assert_eq!(t.level(1).unwrap().surface.layout.pitch, 8);
    }

    #[test]
    fn invalid_resources_are_no_textures() {
        let mut w = words(1, 2, [64, 64, 1], 0x1A, 0, 64);
        assert!(Texture::decode(&w, config()).is_some());
        w[6] = 3 << 30;
        assert!(Texture::decode(&w, config()).is_none());
    }

    proptest! {
        #[test]
        fn hostile_words_decode(words: [u32; 8], tiling: u32) {
            let mut words = words;
            words[6] = words[6] & 0x3FFF_FFFF | 2 << 30;
            if let Some(t) = Texture::decode(&words, TilingConfig::from_register(tiling)) {
                for level in 0..32 {
                    prop_assert!(t.level(level).is_some());
                }
            }
        }
    }
}
