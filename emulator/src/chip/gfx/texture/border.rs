// SPDX-License-Identifier: MIT
//! Border colours: the results for texels outside of a texture.
//!
//! For textures of integers Evergreen and Northern Islands have floats in the registers, of which the
//! format makes integers: of 0..1 or -1..1 where it has less than 32 bits, of the value itself where it
//! has 32. The resource's swizzle applies then. Sources:
//!
//! * Mesa's `evergreen_convert_border_color()`, which divides by the largest integer, and what a real
//!   Turks makes of that in piglit's `texwrap ... bordercolor` (`r600-turks-fails.txt`): formats of
//!   8, 10 and 16 bits pass with red, green and blue, with luminance and with intensity, those of 32
//!   bits fail; and all fail that have alpha in another register than its component's (`ALPHA8I`,
//!   `LUMINANCE_ALPHA8I`).
//! * Measurements on a card by Terakan (`terakan_sampler.c`): 0.5 reads as 32768 of 16 bits and as 0
//!   of 32, 1 as an integer (a tiny float) as 0; white is 1 of 32 bits, and not of 8 and 16.
//!
//! On Cayman registers hold the integers (`cayman_convert_border_color()`). Of the swizzle only its
//! constants apply, which Turks takes rather than the register, too: of formats without alpha Mesa's
//! register has the bits of 1.0 there, on both. R700's registers hold integers here, too; on a real
//! RV770 all tests of such colours fail.

use super::filter::{finish, swizzled, Request};
use super::resource::Texture;
use super::sampler::Filter;
use crate::chip::gfx::format::{encode_component, ElementFormat, NumberType, Sign};

/// The result for a texel of the border. The swizzle does not apply to the
/// border colour (Mesa: `PIPE_QUIRK_TEXTURE_BORDER_COLOR_SWIZZLE_R600`), only
/// to the result of a comparison, and to integers of floats; its constants apply to all integers.
pub(super) fn border(request: &Request<'_>, lane: usize) -> [u32; 4] {
    let Request {
        texture, filter, ..
    } = *request;
    if texture.is_integer() && filter.float_border {
        return integers(texture, filter);
    }
    let colour = filter.border_colour(texture.is_integer());
    match request.reference {
        Some(_) => finish(request, lane, &colour),
        None if texture.is_integer() => with_constants(texture, &colour),
        None => colour,
    }
}

/// A border colour of integers, with the constants of the swizzle.
fn with_constants(texture: &Texture, colour: &[u32; 4]) -> [u32; 4] {
    let result = swizzled(texture, colour);
    std::array::from_fn(|c| match texture.swizzle[c] {
        0..=3 => colour[c],
        _ => result[c],
    })
}

/// The border colour of a texture of integers, from floats.
fn integers(texture: &Texture, filter: &Filter) -> [u32; 4] {
    let colour = filter.border_colour(false);
    let texel = std::array::from_fn(|c| integer(colour[c], &texture.format, c));
    swizzled(texture, &texel)
}

/// The integer that a format's component makes of a float; 0 if it has no such component.
fn integer(value: u32, format: &ElementFormat, component: usize) -> u32 {
    let layout = format.data.layout();
    if component >= usize::from(layout.count) {
        return 0;
    }
    let bits = layout.components[component].bits;
    let signed = format.sign[component] == Sign::Signed;
    match (bits, signed) {
        (32, false) => f32::from_bits(value) as u32,
        (32, true) => f32::from_bits(value) as i32 as u32,
        (_, false) => encode_component(value, bits, NumberType::Unorm),
        (_, true) => {
            let unused = 32 - u32::from(bits);
            let code = encode_component(value, bits, NumberType::Snorm);
            ((code << unused) as i32 >> unused) as u32
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chip::tiling::TilingConfig;

    /// A texture of integers: its data format, the sign of its components, and `DST_SEL`.
    fn texture(data: u32, signed: bool, swizzle: u32) -> Texture {
        let signs = if signed { 0x55 } else { 0 };
        let words = [
            1 | 2 << 3 | 7 << 8 | 63 << 19,
            63 | data << 26,
            0,
            0,
            signs | 1 << 8 | swizzle << 16,
            0,
            2 << 30,
            0,
        ];
        Texture::decode(&words, TilingConfig::from_register(1 << 1 | 1 << 4)).unwrap()
    }

    /// A sampler whose border colour is in registers.
    fn registers(colour: [f32; 4]) -> Filter {
        Filter {
            border_type: 3,
            border: colour.map(f32::to_bits),
            float_border: true,
            ..Filter::default()
        }
    }

    const RGBA: u32 = 0o3210;
    const COLOUR: [f32; 4] = [0.1, 0.9, 0.5, 1.0];

    #[test]
    fn narrow_integers_are_normalised_floats() {
        let of = |data, signed| integers(&texture(data, signed, RGBA), &registers(COLOUR));
        // 8_8_8_8, 16_16_16_16 and 2_10_10_10.
        assert_eq!(of(0x1A, false), [26, 230, 128, 255]);
        assert_eq!(of(0x1F, false), [6554, 58982, 32768, 65535]);
        assert_eq!(of(0x19, false), [102, 921, 512, 3]);
        assert_eq!(of(0x1A, true), [13, 114, 64, 127]);
        let negative = registers([-1.0, -0.5, -2.0, f32::NAN]);
        let found = integers(&texture(0x1F, true, RGBA), &negative);
        assert_eq!(found.map(|v| v as i32), [-32767, -16384, -32767, 0]);
        // Mesa's quotient gives the integer again, whichever it is.
        for n in 0..=255u32 {
            let quotient = (f64::from(n) / 255.0) as f32;
            let found = integers(&texture(0x1A, false, RGBA), &registers([quotient; 4]));
            assert_eq!(found, [n; 4]);
        }
    }

    #[test]
    fn integers_of_32_bits_are_not_normalised() {
        let of = |colour, signed| integers(&texture(0x22, signed, RGBA), &registers(colour));
        assert_eq!(of([0.5, 1.0, 300.75, 5e9], false), [0, 1, 300, u32::MAX]);
        let signed = of([-1.5, 1.0, -3e9, 3e9], true);
        assert_eq!(signed.map(|v| v as i32), [-1, 1, i32::MIN, i32::MAX]);
        // The integer 1 is a denormal.
        assert_eq!(of([1, 2, 3, 4].map(f32::from_bits), false), [0; 4]);
    }

    #[test]
    fn the_swizzle_applies_to_integers() {
        let of = |data, swizzle| integers(&texture(data, false, swizzle), &registers(COLOUR));
        // Luminance and RGB: the constant is an integer, whatever the register has.
        assert_eq!(of(0x01, 0o5000), [26, 26, 26, 1]);
        assert_eq!(of(0x1A, 0o5210), [26, 230, 128, 1]);
        // Alpha alone takes the first register.
        assert_eq!(of(0x01, 0o0444), [0, 0, 0, 26]);
        // A component that the format does not have.
        assert_eq!(of(0x01, 0o3210), [26, 0, 0, 0]);
    }

    #[test]
    fn only_the_swizzles_constants_apply_to_registers_of_integers() {
        let one = 1f32.to_bits();
        let of = |swizzle| with_constants(&texture(0x1A, false, swizzle), &[7, 8, 9, one]);
        assert_eq!(of(0o5210), [7, 8, 9, 1]);
        assert_eq!(of(RGBA), [7, 8, 9, one]);
        assert_eq!(of(0o3012), [7, 8, 9, one]);
        assert_eq!(of(0o3404), [0, 8, 0, one]);
    }

    #[test]
    fn white_is_a_float_too() {
        let white = Filter {
            border_type: 2,
            ..registers(COLOUR)
        };
        assert_eq!(integers(&texture(0x1A, false, RGBA), &white), [255; 4]);
        assert_eq!(integers(&texture(0x22, false, RGBA), &white), [1; 4]);
    }
}
