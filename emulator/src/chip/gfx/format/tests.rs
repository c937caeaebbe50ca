// SPDX-License-Identifier: MIT

use super::*;
use half::f16;
use proptest::prelude::*;

fn format(data: u32, num: NumFormat, sign: Sign) -> ElementFormat {
    ElementFormat {
        data: DataFormat::from_field(data),
        num,
        sign: [sign; 4],
        ..ElementFormat::default()
    }
}

fn floats(values: [u32; 4]) -> [f32; 4] {
    values.map(f32::from_bits)
}

#[test]
fn layouts_fill_their_bytes() {
    for (i, layout) in LAYOUTS.iter().enumerate() {
        let bits: u32 = layout.components.iter().map(|c| u32::from(c.bits)).sum();
        match layout.kind {
            Kind::Fixed | Kind::Float if i != 0x1C => {
                assert_eq!(bits, u32::from(layout.bytes) * 8, "format {i:#x}");
            }
            _ => {}
        }
        for c in layout.components {
            assert!(c.shift + c.bits <= 32, "format {i:#x} straddles");
        }
    }
}

#[test]
fn component_x_is_the_least_significant() {
    let f = format(0x0A, NumFormat::Int, Sign::Unsigned);
    assert_eq!(f.decode(&0x8C41u16.to_le_bytes()), [1, 2, 3, 1]);
    let f = format(0x19, NumFormat::Int, Sign::Unsigned);
    let word = 5 | (6 << 10) | (7 << 20) | (2 << 30);
    assert_eq!(f.decode(&u32::to_le_bytes(word)), [5, 6, 7, 2]);
    let f = format(0x11, NumFormat::Int, Sign::Unsigned);
    assert_eq!(
        f.decode(&0xAB12_3456u32.to_le_bytes()),
        [0x12_3456, 0xAB, 0, 0]
    );
}

#[test]
fn signs_and_numbers() {
    let bytes = [0x80, 0x81, 0x7F, 0x00];
    let norm = format(0x1A, NumFormat::Norm, Sign::Signed);
    assert_eq!(floats(norm.decode(&bytes)), [-1.0, -1.0, 1.0, 0.0]);
    let mut no_zero = norm;
    no_zero.no_zero = true;
    assert_eq!(
        floats(no_zero.decode(&bytes)),
        [-1.0, -253.0 / 255.0, 1.0, 1.0 / 255.0]
    );
    let int = format(0x1A, NumFormat::Int, Sign::Signed);
    assert_eq!(int.decode(&bytes), [-128i32 as u32, -127i32 as u32, 127, 0]);
    let scaled = format(0x1A, NumFormat::Scaled, Sign::Unsigned);
    assert_eq!(floats(scaled.decode(&bytes)), [128.0, 129.0, 127.0, 0.0]);
    // Four components of 32 bits.
    let whole = format(0x22, NumFormat::Scaled, Sign::Signed);
    let values = [1u32, 112, u32::MAX, 0x8000_0000];
    let dwords: Vec<u8> = values.iter().flat_map(|v| v.to_le_bytes()).collect();
    assert_eq!(whole.decode(&dwords), values);
    let biased = format(0x1A, NumFormat::Norm, Sign::Biased);
    assert_eq!(floats(biased.decode(&bytes))[0], 0.0);
}

#[test]
fn short_input_reads_zero() {
    let f = format(0x23, NumFormat::Norm, Sign::Unsigned);
    assert_eq!(f.decode(&1.5f32.to_le_bytes()), [1.5f32.to_bits(), 0, 0, 0]);
    assert_eq!(f.decode(&[]), [0; 4]);
}

#[test]
fn endian_swaps_before_decoding() {
    let mut f = format(0x0D, NumFormat::Int, Sign::Unsigned);
    f.endian = Endian::In32;
    assert_eq!(f.decode(&[1, 2, 3, 4])[0], 0x0102_0304);
    f.endian = Endian::In16;
    assert_eq!(f.decode(&[1, 2, 3, 4])[0], 0x0304_0102);
}

#[test]
fn half_floats_agree_with_crate_half() {
    for raw in 0..=0xFFFFu16 {
        let want = f16::from_bits(raw).to_f32();
        let got = f32::from_bits(decode_float(u32::from(raw), 16));
        assert!(want == got || want.is_nan() && got.is_nan(), "{raw:#x}");
        if !want.is_nan() {
            assert_eq!(encode_float(want.to_bits(), 16, false), u32::from(raw));
            assert_eq!(encode_float(want.to_bits(), 16, true), u32::from(raw));
        }
    }
}

#[test]
fn small_floats_are_halves_without_sign_and_low_bits() {
    // A float of 11 bits is the upper part of a positive half.
    for raw in 0..0x800u32 {
        let want = f16::from_bits((raw << 4) as u16).to_f32();
        let got = f32::from_bits(decode_float(raw, 11));
        assert!(want == got || want.is_nan() && got.is_nan(), "{raw:#x}");
    }
    for raw in 0..0x400u32 {
        let want = f16::from_bits((raw << 5) as u16).to_f32();
        let got = f32::from_bits(decode_float(raw, 10));
        assert!(want == got || want.is_nan() && got.is_nan(), "{raw:#x}");
    }
    assert_eq!(encode_float((-1.0f32).to_bits(), 11, false), 0);
    assert_eq!(encode_float(1e9f32.to_bits(), 11, false), 0x7C0);
    assert_eq!(encode_float(1e9f32.to_bits(), 11, true), 0x7BF);
}

#[test]
fn srgb_known_codes() {
    assert_eq!(srgb_to_linear(0, 8), 0.0);
    assert_eq!(srgb_to_linear(255, 8), 1.0);
    // IEC 61966-2-1: code 188 is close to half of full light.
    assert!((srgb_to_linear(188, 8) - 0.502_886_5).abs() < 1e-6);
    for code in 0..256u32 {
        let back = linear_to_srgb(srgb_to_linear(code, 8));
        assert_eq!(encode_component(back.to_bits(), 8, NumberType::Srgb), code);
    }
}

#[test]
fn shared_exponent_of_the_extension() {
    // 1.0 is mantissa 256 with exponent 16: 256 * 2^(16 - 15 - 9).
    let word = 256 | (128 << 9) | (511 << 18) | (16 << 27);
    assert_eq!(
        floats(shared_exponent(word)),
        [1.0, 0.5, 511.0 / 256.0, 0.0]
    );
}

#[test]
fn subsampled_texels_share_red_and_blue() {
    let pick = |f, odd| floats(subsampled(f, [0, 51, 102, 255], odd));
    assert_eq!(pick(DataFormat::GB_GR, false), [0.0, 0.2, 0.4, 0.0]);
    assert_eq!(pick(DataFormat::GB_GR, true), [0.0, 1.0, 0.4, 0.0]);
    assert_eq!(pick(DataFormat::BG_RG, false), [0.2, 0.0, 1.0, 0.0]);
    assert_eq!(pick(DataFormat::BG_RG, true), [0.2, 0.4, 1.0, 0.0]);
}

#[test]
fn encode_saturates_and_takes_nan_as_zero() {
    let encode = |f: f32, number| encode_component(f.to_bits(), 8, number);
    assert_eq!(encode(f32::NAN, NumberType::Unorm), 0);
    assert_eq!(encode(f32::NAN, NumberType::Snorm), 0);
    assert_eq!(encode(f32::NAN, NumberType::Uscaled), 0);
    assert_eq!(encode(f32::NAN, NumberType::Sscaled), 0);
    assert_eq!(encode(2.0, NumberType::Unorm), 255);
    assert_eq!(encode(-2.0, NumberType::Snorm), 0x81);
    assert_eq!(encode(300.0, NumberType::Uscaled), 255);
    assert_eq!(encode(-300.0, NumberType::Sscaled), 0x80);
    assert_eq!(encode_component(300, 8, NumberType::Uint), 255);
    assert_eq!(encode_component(-300i32 as u32, 8, NumberType::Sint), 0x80);
    assert_eq!(encode_component(u32::MAX, 32, NumberType::Uint), u32::MAX);
}

proptest! {
    #[test]
    fn any_float_encodes_as_crate_half_does(bits: u32) {
        let value = f32::from_bits(bits);
        let want = f16::from_f32(value);
        if want.is_nan() {
            prop_assert!(f16::from_bits(encode_float(bits, 16, false) as u16).is_nan());
        } else {
            prop_assert_eq!(encode_float(bits, 16, false), u32::from(want.to_bits()));
        }
    }

    #[test]
    fn normalised_values_survive(raw: u32, bits in 1u8..=24) {
        let raw = raw & mask(bits);
        let value = unorm(raw, bits).to_bits();
        prop_assert_eq!(encode_component(value, bits, NumberType::Unorm), raw);
    }

    #[test]
    fn hostile_formats_do_not_panic(
        word1: u32, word4: u32, word2: u32, bytes: [u8; 16], len in 0usize..=16,
        value: u32, bits in 1u8..=32, number in 0u32..8,
    ) {
        ElementFormat::texture(word1 >> 26, word4).decode(&bytes[..len]);
        ElementFormat::buffer(word2).decode(&bytes[..len]);
        let encoded = encode_component(value, bits, NumberType::from_field(number));
        if matches!(bits, 10 | 11 | 16 | 24 | 32) || number != 7 {
            prop_assert_eq!(encoded & !mask(bits), 0);
        }
    }
}
