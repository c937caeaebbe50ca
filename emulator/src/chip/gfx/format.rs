// SPDX-License-Identifier: MIT
//! Formats of elements in memory: decodes bytes to four shader values, and
//! encodes these.
//!
//! Vertex fetch, texture unit, render backend and stream-out share one list of
//! formats (`FMT_*` in Mesa's `r600_formats.h`, `COLOR_*` in `r600d.h`; AMD's
//! "R700-Family Instruction Set Architecture", chapter on memory formats).
//! Names list the widths from the most significant bit down; component x is
//! the least significant one, as the pairs in Mesa's
//! `r600_translate_texformat()` show: `B5G5R5A1` is `1_5_5_5`, `Z24X8` is `8_24`.
//!
//! A value is 32 raw bits: an IEEE single, or an integer where the number
//! format says so. Components that a format does not have decode to 0.
//!
//! Not modelled: `1`, `1_REVERSED` and the `32_AS_*` formats, which Mesa never
//! uses, decode to 0 as formats without components.

use super::math;
use crate::chip::regs::fields::words::r700::{sq_tex_resource_word4, sq_vtx_constant_word2};

/// `DATA_FORMAT` of a resource, fetch instruction or render target.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct DataFormat(u8);

/// How a format's bits are to be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Not a format that the chip reads.
    Invalid,
    /// Bit fields, which the number format interprets.
    Fixed,
    /// Floats of 10, 11, 16, 24 or 32 bits.
    Float,
    /// Three mantissas of 9 bits and an exponent of 5.
    SharedExponent,
    /// Two texels in 32 bits that share two components, see [`subsampled`].
    Subsampled,
    /// Blocks of 4x4 texels (S3TC, RGTC, BPTC), see `texture::block` and `texture::bptc`.
    Block,
}

/// One component: where it lies in the element.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Component {
    /// Dword of the element, 0 to 3.
    pub word: u8,
    /// Lowest bit in that dword.
    pub shift: u8,
    /// Width in bits, 1 to 32.
    pub bits: u8,
}

/// Size and components of a [`DataFormat`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Layout {
    /// How the bits are to be read.
    pub kind: Kind,
    /// Bytes per element (per block of 4x4 texels for [`Kind::Block`], per
    /// two texels for [`Kind::Subsampled`]); 0 for invalid formats.
    pub bytes: u8,
    /// Components in use, 0 to 4.
    pub count: u8,
    /// The components, x first.
    pub components: [Component; 4],
    /// Bit i: component i of a [`Kind::Float`] format is a float, else a bit
    /// field (the stencil of depth formats).
    float_mask: u8,
}

const NONE: Component = Component {
    word: 0,
    shift: 0,
    bits: 0,
};

/// Packs `widths` from bit 0 up. A component never straddles a dword.
const fn pack(kind: Kind, bytes: u8, widths: &[u8]) -> Layout {
    let mut components = [NONE; 4];
    let mut at = 0;
    let mut i = 0;
    while i < widths.len() {
        components[i] = Component {
            word: at / 32,
            shift: at % 32,
            bits: widths[i],
        };
        at += widths[i];
        i += 1;
    }
    Layout {
        kind,
        bytes,
        count: widths.len() as u8,
        components,
        float_mask: 0xF,
    }
}

const fn fixed(bytes: u8, widths: &[u8]) -> Layout {
    pack(Kind::Fixed, bytes, widths)
}

const fn float(bytes: u8, widths: &[u8]) -> Layout {
    pack(Kind::Float, bytes, widths)
}

/// Depth float in the first dword, stencil in the low byte of the second.
const fn depth_float_stencil() -> Layout {
    let mut layout = float(8, &[32, 8]);
    layout.float_mask = 1;
    layout
}

/// 24-bit float depth beside 8 bits of stencil; `depth` is the component of
/// the depth.
const fn depth24_float(widths: &[u8], depth: u8) -> Layout {
    let mut layout = float(4, widths);
    layout.float_mask = 1 << depth;
    layout
}

const INVALID: Layout = pack(Kind::Invalid, 0, &[]);

/// Layouts by `DATA_FORMAT`.
static LAYOUTS: [Layout; 64] = {
    let mut t = [INVALID; 64];
    t[0x01] = fixed(1, &[8]);
    t[0x02] = fixed(1, &[4, 4]);
    t[0x03] = fixed(1, &[2, 3, 3]);
    t[0x05] = fixed(2, &[16]);
    t[0x06] = float(2, &[16]);
    t[0x07] = fixed(2, &[8, 8]);
    t[0x08] = fixed(2, &[5, 6, 5]);
    t[0x09] = fixed(2, &[5, 5, 6]);
    t[0x0A] = fixed(2, &[5, 5, 5, 1]);
    t[0x0B] = fixed(2, &[4, 4, 4, 4]);
    t[0x0C] = fixed(2, &[1, 5, 5, 5]);
    t[0x0D] = fixed(4, &[32]);
    t[0x0E] = float(4, &[32]);
    t[0x0F] = fixed(4, &[16, 16]);
    t[0x10] = float(4, &[16, 16]);
    t[0x11] = fixed(4, &[24, 8]);
    t[0x12] = depth24_float(&[24, 8], 0);
    t[0x13] = fixed(4, &[8, 24]);
    t[0x14] = depth24_float(&[8, 24], 1);
    t[0x15] = fixed(4, &[11, 11, 10]);
    t[0x16] = float(4, &[11, 11, 10]);
    t[0x17] = fixed(4, &[10, 11, 11]);
    t[0x18] = float(4, &[10, 11, 11]);
    t[0x19] = fixed(4, &[10, 10, 10, 2]);
    t[0x1A] = fixed(4, &[8, 8, 8, 8]);
    t[0x1B] = fixed(4, &[2, 10, 10, 10]);
    t[0x1C] = depth_float_stencil();
    t[0x1D] = fixed(8, &[32, 32]);
    t[0x1E] = float(8, &[32, 32]);
    t[0x1F] = fixed(8, &[16, 16, 16, 16]);
    t[0x20] = float(8, &[16, 16, 16, 16]);
    t[0x22] = fixed(16, &[32, 32, 32, 32]);
    t[0x23] = float(16, &[32, 32, 32, 32]);
    t[0x27] = pack(Kind::Subsampled, 4, &[8, 8, 8]);
    t[0x28] = pack(Kind::Subsampled, 4, &[8, 8, 8]);
    t[0x2B] = pack(Kind::SharedExponent, 4, &[9, 9, 9]);
    t[0x2C] = fixed(3, &[8, 8, 8]);
    t[0x2D] = fixed(6, &[16, 16, 16]);
    t[0x2E] = float(6, &[16, 16, 16]);
    t[0x2F] = fixed(12, &[32, 32, 32]);
    t[0x30] = float(12, &[32, 32, 32]);
    t[0x31] = pack(Kind::Block, 8, &[8, 8, 8, 8]);
    t[0x32] = pack(Kind::Block, 16, &[8, 8, 8, 8]);
    t[0x33] = pack(Kind::Block, 16, &[8, 8, 8, 8]);
    t[0x34] = pack(Kind::Block, 8, &[8]);
    t[0x35] = pack(Kind::Block, 16, &[8, 8]);
    t[0x36] = pack(Kind::Block, 16, &[16, 16, 16]);
    t[0x37] = pack(Kind::Block, 16, &[8, 8, 8, 8]);
    t
};

impl DataFormat {
    /// `FMT_INVALID`.
    pub const INVALID: Self = Self(0x00);
    /// `FMT_8`.
    pub const F8: Self = Self(0x01);
    /// `FMT_16`: depth of 16 bits, among others.
    pub const F16: Self = Self(0x05);
    /// `FMT_5_6_5`.
    pub const F5_6_5: Self = Self(0x08);
    /// `FMT_32`.
    pub const F32: Self = Self(0x0D);
    /// `FMT_32_FLOAT`.
    pub const F32_FLOAT: Self = Self(0x0E);
    /// `FMT_8_24`: 24 bits of depth below 8 of stencil.
    pub const F8_24: Self = Self(0x11);
    /// `FMT_24_8`: 8 bits of stencil below 24 of depth.
    pub const F24_8: Self = Self(0x13);
    /// `FMT_8_8_8_8`.
    pub const F8_8_8_8: Self = Self(0x1A);
    /// `FMT_X24_8_32_FLOAT`.
    pub const X24_8_32_FLOAT: Self = Self(0x1C);
    /// `FMT_GB_GR`.
    pub const GB_GR: Self = Self(0x27);
    /// `FMT_BG_RG`.
    pub const BG_RG: Self = Self(0x28);
    /// `FMT_BC1`.
    pub const BC1: Self = Self(0x31);
    /// `FMT_BC2`.
    pub const BC2: Self = Self(0x32);
    /// `FMT_BC3`.
    pub const BC3: Self = Self(0x33);
    /// `FMT_BC4`.
    pub const BC4: Self = Self(0x34);
    /// `FMT_BC5`.
    pub const BC5: Self = Self(0x35);
    /// `FMT_BC6`, of Evergreen and later.
    pub const BC6: Self = Self(0x36);
    /// `FMT_BC7`, of Evergreen and later.
    pub const BC7: Self = Self(0x37);

    /// Decodes a field of 6 bits; higher bits are ignored.
    pub fn from_field(value: u32) -> Self {
        Self((value & 0x3F) as u8)
    }

    /// The field's value.
    pub fn field(self) -> u32 {
        u32::from(self.0)
    }

    /// Bits and components of the format.
    pub fn layout(self) -> &'static Layout {
        &LAYOUTS[usize::from(self.0 & 0x3F)]
    }

    /// Bytes per element, 0 for invalid formats. See [`Layout::bytes`].
    pub fn bytes(self) -> u32 {
        u32::from(self.layout().bytes)
    }

    /// Texels per element: (4, 4) for block formats, (2, 1) for subsampled
    /// ones, else (1, 1).
    pub fn texels(self) -> (u32, u32) {
        match self.layout().kind {
            Kind::Block => (4, 4),
            Kind::Subsampled => (2, 1),
            _ => (1, 1),
        }
    }
}

/// `NUM_FORMAT_ALL` of resources and fetch instructions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum NumFormat {
    /// Scaled to 0..1 or -1..1.
    #[default]
    Norm,
    /// Integers, sign or zero extended.
    Int,
    /// Integers converted to float.
    Scaled,
}

impl NumFormat {
    /// Decodes a field of 2 bits; the reserved value is taken as `Norm`.
    pub fn from_field(value: u32) -> Self {
        match value & 3 {
            1 => NumFormat::Int,
            2 => NumFormat::Scaled,
            _ => NumFormat::Norm,
        }
    }
}

/// `FORMAT_COMP_*`: the sign of a component.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Sign {
    /// Unsigned.
    #[default]
    Unsigned,
    /// Two's complement.
    Signed,
    /// Unsigned with the middle of the range subtracted.
    Biased,
}

impl Sign {
    /// Decodes a field of 2 bits; the reserved value is taken as unsigned.
    pub fn from_field(value: u32) -> Self {
        match value & 3 {
            1 => Sign::Signed,
            2 => Sign::Biased,
            _ => Sign::Unsigned,
        }
    }
}

/// `ENDIAN_SWAP`: which bytes are swapped before an element is decoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Endian {
    /// None.
    #[default]
    None,
    /// Within 16 bits.
    In16,
    /// Within 32 bits.
    In32,
    /// Within 64 bits.
    In64,
}

impl Endian {
    /// Decodes a field of 2 bits.
    pub fn from_field(value: u32) -> Self {
        [Endian::None, Endian::In16, Endian::In32, Endian::In64][(value & 3) as usize]
    }

    /// Swaps the bytes of `element` in place, unit by unit. A remainder shorter
    /// than a unit does not change.
    pub fn apply(self, element: &mut [u8]) {
        let unit = match self {
            Endian::None => return,
            Endian::In16 => 2,
            Endian::In32 => 4,
            Endian::In64 => 8,
        };
        for piece in element.chunks_exact_mut(unit) {
            piece.reverse();
        }
    }
}

/// A format with all fields that tell how to decode an element.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct ElementFormat {
    /// Bits in memory.
    pub data: DataFormat,
    /// Interpretation of bit fields.
    pub num: NumFormat,
    /// Sign of each component.
    pub sign: [Sign; 4],
    /// `SRF_MODE_NO_ZERO`: -1 and 1 are the ends of the range and 0 does not
    /// exist (OpenGL 4.1, equation 2.2), instead of a clamp at -1.
    pub no_zero: bool,
    /// Byte order in memory.
    pub endian: Endian,
    /// sRGB: the first three components become linear (`FORCE_DEGAMMA`).
    pub degamma: bool,
}

impl ElementFormat {
    /// The format of a vertex fetch from the fields `DATA_FORMAT`,
    /// `NUM_FORMAT_ALL`, `FORMAT_COMP_ALL`, `SRF_MODE_ALL` and `ENDIAN_SWAP`.
    pub fn vertex(data: u32, num: u32, comp: u32, srf: u32, endian: u32) -> Self {
        let sign = if comp & 1 != 0 {
            Sign::Signed
        } else {
            Sign::Unsigned
        };
        Self {
            data: DataFormat::from_field(data),
            num: NumFormat::from_field(num),
            sign: [sign; 4],
            no_zero: srf & 1 != 0,
            endian: Endian::from_field(endian),
            degamma: false,
        }
    }

    /// The format of a texture resource: `DATA_FORMAT`, and what `SQ_TEX_RESOURCE_WORD4` has of it.
    pub fn texture(data: u32, word4: u32) -> Self {
        use sq_tex_resource_word4::*;
        let components = [FORMAT_COMP_X, FORMAT_COMP_Y, FORMAT_COMP_Z, FORMAT_COMP_W];
        Self {
            data: DataFormat::from_field(data),
            num: NumFormat::from_field(NUM_FORMAT_ALL.of(word4)),
            sign: components.map(|field| Sign::from_field(field.of(word4))),
            no_zero: SRF_MODE_ALL.is_set(word4),
            endian: Endian::from_field(ENDIAN_SWAP.of(word4)),
            degamma: FORCE_DEGAMMA.is_set(word4),
        }
    }

    /// The format in word 2 of a buffer resource (`SQ_VTX_CONSTANT_WORD2`),
    /// for fetches with `USE_CONST_FIELDS` (texture buffers).
    pub fn buffer(word2: u32) -> Self {
        use sq_vtx_constant_word2::*;
        Self::vertex(
            DATA_FORMAT.of(word2),
            NUM_FORMAT_ALL.of(word2),
            FORMAT_COMP_ALL.of(word2),
            SRF_MODE_ALL.of(word2),
            ENDIAN_SWAP.of(word2),
        )
    }

    /// Bytes per element.
    pub fn bytes(&self) -> usize {
        self.data.bytes() as usize
    }

    /// True if values are integers, which cannot be filtered.
    pub fn is_integer(&self) -> bool {
        self.num == NumFormat::Int && self.data.layout().kind == Kind::Fixed
    }

    /// Decodes one element. `bytes` holds at least [`Self::bytes`] bytes;
    /// missing ones read as 0. Block and subsampled formats, which hold
    /// several texels, give 0 here.
    pub fn decode(&self, bytes: &[u8]) -> [u32; 4] {
        let layout = self.data.layout();
        let words = self.words(bytes);
        match layout.kind {
            Kind::Invalid | Kind::Subsampled | Kind::Block => [0; 4],
            Kind::SharedExponent => shared_exponent(words[0]),
            Kind::Fixed | Kind::Float => {
                let mut out = [0; 4];
                for (i, out) in out.iter_mut().enumerate().take(usize::from(layout.count)) {
                    let c = layout.components[i];
                    let raw = field(words[usize::from(c.word)], c.shift, c.bits);
                    *out = if layout.kind == Kind::Float && layout.float_mask & (1 << i) != 0 {
                        decode_float(raw, c.bits)
                    } else if self.degamma && i < 3 {
                        srgb_to_linear(raw, c.bits).to_bits()
                    } else {
                        self.number(raw, c.bits, self.sign[i])
                    };
                }
                out
            }
        }
    }

    /// The element's dwords after the byte swap.
    fn words(&self, bytes: &[u8]) -> [u32; 4] {
        let mut raw = [0; 16];
        let len = bytes.len().min(self.bytes());
        raw[..len].copy_from_slice(&bytes[..len]);
        self.endian.apply(&mut raw[..len]);
        let mut words = [0; 4];
        for (word, b) in words.iter_mut().zip(raw.chunks_exact(4)) {
            *word = u32::from_le_bytes([b[0], b[1], b[2], b[3]]);
        }
        words
    }

    /// Applies the number format to a bit field.
    fn number(&self, raw: u32, bits: u8, sign: Sign) -> u32 {
        match (self.num, sign) {
            (NumFormat::Int, Sign::Signed) => sign_extend(raw, bits) as u32,
            (NumFormat::Int, Sign::Unsigned) => raw,
            (NumFormat::Int, Sign::Biased) => raw.wrapping_sub(1 << (bits - 1)),
            // Components of 32 bits stay integers: Mesa offers no such vertex format
            // (`r600_is_vertex_format_supported()`), and fetches the layout of the local data share of
            // hull shaders by one (`LoadFromBuffer` in `Shader::emit_load_tcs_param_base()`).
            (NumFormat::Scaled, Sign::Signed | Sign::Unsigned) if bits == 32 => raw,
            (NumFormat::Scaled, Sign::Signed) => (sign_extend(raw, bits) as f32).to_bits(),
            (NumFormat::Scaled, Sign::Unsigned) => (raw as f32).to_bits(),
            (NumFormat::Scaled, Sign::Biased) => {
                ((i64::from(raw) - (1 << (bits - 1))) as f32).to_bits()
            }
            (NumFormat::Norm, Sign::Unsigned) => unorm(raw, bits).to_bits(),
            (NumFormat::Norm, Sign::Signed) => {
                let v = sign_extend(raw, bits);
                if self.no_zero {
                    let span = ((1u64 << bits) - 1) as f64;
                    ((2.0 * f64::from(v) + 1.0) / span) as f32
                } else {
                    snorm(v, bits)
                }
                .to_bits()
            }
            (NumFormat::Norm, Sign::Biased) => {
                let v = (i64::from(raw) - (1 << (bits - 1))) as i32;
                snorm(v, bits).to_bits()
            }
        }
    }
}

/// The `bits` bits of `raw` from bit `shift` up.
pub fn field(raw: u32, shift: u8, bits: u8) -> u32 {
    (raw >> shift) & mask(bits)
}

/// A mask of the low `bits` bits, 1 to 32.
pub fn mask(bits: u8) -> u32 {
    u32::MAX >> (32 - u32::from(bits.clamp(1, 32)))
}

fn sign_extend(raw: u32, bits: u8) -> i32 {
    let unused = 32 - u32::from(bits);
    ((raw << unused) as i32) >> unused
}

/// Unsigned normalised value, correctly rounded.
pub fn unorm(raw: u32, bits: u8) -> f32 {
    if bits <= 24 {
        raw as f32 / mask(bits) as f32
    } else {
        (f64::from(raw) / f64::from(mask(bits))) as f32
    }
}

/// Signed normalised value; the most negative number is -1 as well.
pub fn snorm(v: i32, bits: u8) -> f32 {
    if bits == 1 {
        return v as f32;
    }
    let max = f64::from(mask(bits - 1));
    (f64::from(v) / max).max(-1.0) as f32
}

/// Widths of exponent and mantissa of a float of `bits` bits, and whether it has a sign bit.
fn float_shape(bits: u8) -> (u32, u32, bool) {
    match bits {
        10 => (5, 5, false),
        11 => (5, 6, false),
        16 => (5, 10, true),
        // Depth: 4 bits of exponent, 20 of mantissa (`DEPTH_8_24_FLOAT`).
        _ => (4, 20, false),
    }
}

/// Converts a float of 10, 11, 16, 24 or 32 bits to a single. Exact; infinities
/// and NaN stay what they are.
pub fn decode_float(raw: u32, bits: u8) -> u32 {
    if bits == 32 {
        return raw;
    }
    let (exponent_bits, mantissa_bits, signed) = float_shape(bits);
    let mantissa = raw & ((1 << mantissa_bits) - 1);
    let max = (1 << exponent_bits) - 1;
    let exponent = (raw >> mantissa_bits) & max;
    let sign = if signed {
        (raw >> (exponent_bits + mantissa_bits)) << 31
    } else {
        0
    };
    let bias = (1 << (exponent_bits - 1)) - 1;
    // The depth float has no infinity.
    if exponent == max && bits != 24 {
        return sign | 0x7F80_0000 | (mantissa << (23 - mantissa_bits));
    }
    if exponent == 0 {
        // Exact: the mantissa has few bits, and the scale is a power of two.
        let scale = f32::from_bits((127 + 1 - bias - mantissa_bits) << 23);
        return sign | (mantissa as f32 * scale).to_bits();
    }
    sign | ((exponent + 127 - bias) << 23) | (mantissa << (23 - mantissa_bits))
}

/// Converts a single to a float of 10, 11, 16, 24 or 32 bits: rounds to nearest
/// even, or towards zero if `truncate`. Finite values beyond the range become
/// infinity, or the largest number if `truncate` or if the format (24 bits) has
/// no infinity. Negative values become 0 if the format has no sign.
pub fn encode_float(value: u32, bits: u8, truncate: bool) -> u32 {
    if bits == 32 {
        return value;
    }
    let (exponent_bits, mantissa_bits, signed) = float_shape(bits);
    let max = (1u32 << exponent_bits) - 1;
    let magnitude = value & 0x7FFF_FFFF;
    let negative = value >> 31 != 0;
    let sign = if signed {
        (value >> 31) << (exponent_bits + mantissa_bits)
    } else {
        0
    };
    if magnitude > 0x7F80_0000 {
        return sign | (max << mantissa_bits) | (1 << (mantissa_bits - 1));
    }
    if negative && !signed {
        return 0;
    }
    if magnitude == 0x7F80_0000 && bits != 24 {
        return sign | (max << mantissa_bits);
    }
    let bias = (1i32 << (exponent_bits - 1)) - 1;
    let exponent = (magnitude >> 23) as i32 - 127 + bias;
    let mantissa = (magnitude & 0x7F_FFFF) | 0x80_0000;
    // A denormal result loses one more bit for each step below the least exponent.
    let drop = 23 - mantissa_bits + (1 - exponent).max(0) as u32;
    let (kept, rest, half) = if drop > 25 {
        (0, u64::from(mantissa), 1 << 26)
    } else {
        (
            mantissa >> drop,
            u64::from(mantissa) & ((1 << drop) - 1),
            1u64 << (drop - 1),
        )
    };
    let up = !truncate && (rest > half || rest == half && kept & 1 == 1);
    // The hidden bit and a carry out of the mantissa both add to the exponent.
    let base = (exponent.max(1) - 1) as u32;
    let result = (base << mantissa_bits) + kept + u32::from(up);
    let first_infinite = max << mantissa_bits;
    let largest = if bits == 24 {
        (1 << 24) - 1
    } else if truncate {
        first_infinite - 1
    } else {
        first_infinite
    };
    sign | result.min(largest)
}

/// `FMT_5_9_9_9_SHAREDEXP` (EXT_texture_shared_exponent).
fn shared_exponent(word: u32) -> [u32; 4] {
    let scale = f32::from_bits(((word >> 27) + 127 - 15 - 9) << 23);
    let value = |shift: u32| (((word >> shift) & 0x1FF) as f32 * scale).to_bits();
    [value(0), value(9), value(18), 0]
}

/// The x, y and z values of a subsampled element's first or second (`odd`)
/// texel. The texels share x and z. The bytes of `GB_GR` are, from the lowest,
/// x y0 z y1, those of `BG_RG` y0 x y1 z.
///
/// `r600_translate_texformat()` pairs Mesa's formats with these; the byte order
/// of `GB_GR` is that of `R8G8_B8G8` (r, g0, b, g1) in `u_format_yuv.c`.
pub fn subsampled(format: DataFormat, element: [u8; 4], odd: bool) -> [u32; 4] {
    let [a, b, c, d] = element;
    let (x, y, z) = if format == DataFormat::GB_GR {
        (a, if odd { d } else { b }, c)
    } else {
        (b, if odd { c } else { a }, d)
    };
    [x, y, z, 0].map(|v| unorm(u32::from(v), 8).to_bits())
}

/// sRGB code to linear light (IEC 61966-2-1), computed in f64 and rounded.
pub fn srgb_to_linear(raw: u32, bits: u8) -> f32 {
    if bits == 8 {
        return srgb_table()[(raw & 0xFF) as usize];
    }
    srgb_curve(f64::from(unorm(raw, bits)))
}

fn srgb_curve(c: f64) -> f32 {
    if c <= 0.04045 {
        (c / 12.92) as f32
    } else {
        math::pow((c + 0.055) / 1.055, 2.4) as f32
    }
}

/// Linear values of the 256 codes of 8 bits.
pub fn srgb_table() -> &'static [f32; 256] {
    static TABLE: std::sync::OnceLock<[f32; 256]> = std::sync::OnceLock::new();
    TABLE.get_or_init(|| std::array::from_fn(|i| srgb_curve(i as f64 / 255.0)))
}

/// Linear light to sRGB in 0..1. NaN gives 0.
pub fn linear_to_srgb(value: f32) -> f32 {
    let c = f64::from(value.max(0.0).min(1.0));
    if c <= 0.003_130_8 {
        (c * 12.92) as f32
    } else {
        (1.055 * math::pow(c, 1.0 / 2.4) - 0.055) as f32
    }
}

/// `NUMBER_TYPE` of a render target (`CB_COLORn_INFO`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum NumberType {
    /// 0..1.
    #[default]
    Unorm,
    /// -1..1.
    Snorm,
    /// Floats stored as unsigned integers.
    Uscaled,
    /// Floats stored as signed integers.
    Sscaled,
    /// Unsigned integers.
    Uint,
    /// Signed integers.
    Sint,
    /// 0..1, the colour components in sRGB.
    Srgb,
    /// Floats.
    Float,
}

impl NumberType {
    /// Decodes a field of 3 bits.
    pub fn from_field(value: u32) -> Self {
        use NumberType::*;
        [Unorm, Snorm, Uscaled, Sscaled, Uint, Sint, Srgb, Float][(value & 7) as usize]
    }

    /// True for integers, which are neither blended nor clamped to 0..1.
    pub fn is_integer(self) -> bool {
        matches!(self, NumberType::Uint | NumberType::Sint)
    }
}

/// Encodes a shader value as a component of `bits` bits. Fixed-point numbers
/// round half away from zero and saturate; NaN gives 0. The caller applies the
/// sRGB curve, as alpha has none.
pub fn encode_component(value: u32, bits: u8, number: NumberType) -> u32 {
    let f = f32::from_bits(value);
    let max = mask(bits);
    match number {
        NumberType::Unorm | NumberType::Srgb => {
            let v = f.max(0.0).min(1.0);
            if bits <= 16 {
                (v * max as f32 + 0.5) as u32
            } else {
                (f64::from(v) * f64::from(max) + 0.5) as u32
            }
        }
        NumberType::Snorm => {
            let v = if f.is_nan() { 0.0 } else { f.clamp(-1.0, 1.0) };
            let scaled = f64::from(v) * f64::from(mask(bits) >> 1);
            (scaled + 0.5f64.copysign(scaled)) as i32 as u32 & max
        }
        // `max()` takes 0 of 0 and NaN.
        NumberType::Uscaled => (f64::from(f).max(0.0) + 0.5).min(f64::from(max)) as u32,
        NumberType::Sscaled => {
            let top = f64::from(max >> 1);
            let v = f64::from(f).clamp(-top - 1.0, top);
            (v + 0.5f64.copysign(v)) as i32 as u32 & max
        }
        NumberType::Uint => value.min(max),
        NumberType::Sint => {
            let top = (max >> 1) as i32;
            (value as i32).clamp(-top - 1, top) as u32 & max
        }
        NumberType::Float => encode_float(value, bits, false),
    }
}

#[cfg(test)]
mod tests;
