// SPDX-License-Identifier: MIT
//! Blend equations and logic operations of the render backend.
//!
//! Factors and functions: `CB_BLEND_CONTROL` in `r600d.h`. Arithmetic is in
//! single precision; multiplication and addition are rounded separately. The
//! chip blends 8-bit targets in fewer bits; results differ from its own by at
//! most one step of the target.

use crate::chip::gfx::lanes::LANES;

/// One component of 64 pixels.
pub type Channel = [f32; LANES];
/// Red, green, blue and alpha of 64 pixels.
pub type Colour = [Channel; 4];

/// A blend factor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs)] // The names are the registers'.
pub enum Factor {
    Zero,
    One,
    SrcColour,
    OneMinusSrcColour,
    SrcAlpha,
    OneMinusSrcAlpha,
    DstAlpha,
    OneMinusDstAlpha,
    DstColour,
    OneMinusDstColour,
    SrcAlphaSaturate,
    /// Source alpha for the source, and one minus it for the destination.
    BothSrcAlpha,
    /// One minus source alpha for the source, source alpha for the destination.
    BothInvSrcAlpha,
    ConstColour,
    OneMinusConstColour,
    Src1Colour,
    OneMinusSrc1Colour,
    Src1Alpha,
    OneMinusSrc1Alpha,
    ConstAlpha,
    OneMinusConstAlpha,
}

impl Factor {
    /// Decodes a field of 5 bits; reserved values are taken as zero.
    pub fn from_field(value: u32) -> Self {
        use Factor::*;
        const TABLE: [Factor; 21] = [
            Zero,
            One,
            SrcColour,
            OneMinusSrcColour,
            SrcAlpha,
            OneMinusSrcAlpha,
            DstAlpha,
            OneMinusDstAlpha,
            DstColour,
            OneMinusDstColour,
            SrcAlphaSaturate,
            BothSrcAlpha,
            BothInvSrcAlpha,
            ConstColour,
            OneMinusConstColour,
            Src1Colour,
            OneMinusSrc1Colour,
            Src1Alpha,
            OneMinusSrc1Alpha,
            ConstAlpha,
            OneMinusConstAlpha,
        ];
        TABLE
            .get((value & 0x1F) as usize)
            .copied()
            .unwrap_or(Factor::Zero)
    }

    fn reads_destination(self) -> bool {
        matches!(
            self,
            Factor::DstAlpha
                | Factor::OneMinusDstAlpha
                | Factor::DstColour
                | Factor::OneMinusDstColour
                | Factor::SrcAlphaSaturate
        )
    }
}

/// How source and destination are combined.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Function {
    Add,
    SrcMinusDst,
    Min,
    Max,
    DstMinusSrc,
}

impl Function {
    /// Decodes a field of 3 bits; reserved values are taken as `Add`.
    pub fn from_field(value: u32) -> Self {
        match value & 7 {
            1 => Function::SrcMinusDst,
            2 => Function::Min,
            3 => Function::Max,
            4 => Function::DstMinusSrc,
            _ => Function::Add,
        }
    }
}

/// The equation of the colour components, or of alpha.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Equation {
    /// Factor of the source.
    pub src: Factor,
    /// Factor of the destination.
    pub dst: Factor,
    /// Combination.
    pub function: Function,
}

impl Equation {
    /// Decodes source factor, function and destination factor at bits 4:0, 7:5
    /// and 12:8.
    fn from_bits(bits: u32) -> Self {
        // As the source's factor these two set both factors; as the destination's
        // they set it alone.
        let (src, dst) = match (Factor::from_field(bits), Factor::from_field(bits >> 8)) {
            (Factor::BothSrcAlpha, _) => (Factor::SrcAlpha, Factor::OneMinusSrcAlpha),
            (Factor::BothInvSrcAlpha, _) => (Factor::OneMinusSrcAlpha, Factor::SrcAlpha),
            (src, Factor::BothSrcAlpha) => (src, Factor::OneMinusSrcAlpha),
            (src, Factor::BothInvSrcAlpha) => (src, Factor::SrcAlpha),
            other => other,
        };
        Self {
            src,
            dst,
            function: Function::from_field(bits >> 5),
        }
    }

    fn is_copy(&self) -> bool {
        self.src == Factor::One && self.dst == Factor::Zero && self.function == Function::Add
    }

    fn reads_destination(&self) -> bool {
        self.dst != Factor::Zero
            || matches!(self.function, Function::Min | Function::Max)
            || self.src.reads_destination()
    }
}

/// Blend state of one target.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Blend {
    /// Red, green and blue.
    pub colour: Equation,
    /// Alpha.
    pub alpha: Equation,
    /// `CB_BLEND_RED` to `ALPHA`.
    pub constant: [f32; 4],
    /// `BLEND_CLAMP`: inputs are clamped to this range.
    pub clamp: Option<(f32, f32)>,
}

impl Blend {
    /// Decodes `CB_BLENDn_CONTROL`. None if the equations only copy.
    pub fn decode(control: u32, constant: [f32; 4], clamp: Option<(f32, f32)>) -> Option<Self> {
        let colour = Equation::from_bits(control);
        let alpha = if control & (1 << 29) != 0 {
            Equation::from_bits(control >> 16)
        } else {
            colour
        };
        if colour.is_copy() && alpha.is_copy() {
            return None;
        }
        let constant = match clamp {
            Some((low, high)) => constant.map(|c| c.max(low).min(high)),
            None => constant,
        };
        Some(Self {
            colour,
            alpha,
            constant,
            clamp,
        })
    }

    /// True if results depend on what the target holds.
    pub fn reads_destination(&self) -> bool {
        self.colour.reads_destination() || self.alpha.reads_destination()
    }

    /// True if a factor uses the second source.
    pub fn uses_second(&self) -> bool {
        use Factor::*;
        [self.colour, self.alpha].iter().any(|e| {
            [e.src, e.dst].iter().any(|f| {
                matches!(
                    f,
                    Src1Colour | OneMinusSrc1Colour | Src1Alpha | OneMinusSrc1Alpha
                )
            })
        })
    }

    /// Blends 64 pixels; `src` becomes the result. `src1` is the second source
    /// of dual-source blending.
    #[inline(always)]
    pub fn apply(&self, src: &mut Colour, src1: Option<&Colour>, dst: &Colour) {
        let mut second = [[0.0; LANES]; 4];
        if let Some(src1) = src1 {
            second = *src1;
        }
        if let Some((low, high)) = self.clamp {
            for channel in src.iter_mut().chain(second.iter_mut()) {
                for v in channel.iter_mut() {
                    *v = v.max(low).min(high);
                }
            }
        }
        let alpha = src[3];
        for c in 0..4 {
            let equation = if c == 3 { &self.alpha } else { &self.colour };
            let inputs = Inputs {
                src: src[c],
                src_alpha: &alpha,
                dst: &dst[c],
                dst_alpha: &dst[3],
                second: &second[c],
                second_alpha: &second[3],
                constant: self.constant[c],
                constant_alpha: self.constant[3],
                is_alpha: c == 3,
            };
            inputs.combine(equation, &mut src[c]);
        }
    }
}

/// Operands of one component's equation.
struct Inputs<'a> {
    src: Channel,
    src_alpha: &'a Channel,
    dst: &'a Channel,
    dst_alpha: &'a Channel,
    second: &'a Channel,
    second_alpha: &'a Channel,
    constant: f32,
    constant_alpha: f32,
    is_alpha: bool,
}

impl Inputs<'_> {
    #[inline(always)]
    fn combine(&self, equation: &Equation, out: &mut Channel) {
        match equation.function {
            Function::Min => {
                for (i, out) in out.iter_mut().enumerate() {
                    *out = self.src[i].min(self.dst[i]);
                }
            }
            Function::Max => {
                for (i, out) in out.iter_mut().enumerate() {
                    *out = self.src[i].max(self.dst[i]);
                }
            }
            function => {
                let mut s = [0.0; LANES];
                let mut d = [0.0; LANES];
                self.term(equation.src, &self.src, &mut s);
                self.term(equation.dst, self.dst, &mut d);
                match function {
                    Function::SrcMinusDst => {
                        for (i, out) in out.iter_mut().enumerate() {
                            *out = s[i] - d[i];
                        }
                    }
                    Function::DstMinusSrc => {
                        for (i, out) in out.iter_mut().enumerate() {
                            *out = d[i] - s[i];
                        }
                    }
                    _ => {
                        for (i, out) in out.iter_mut().enumerate() {
                            *out = s[i] + d[i];
                        }
                    }
                }
            }
        }
    }

    /// Sets `out`, which is 0, to `value` times `factor`. [`Factor::Zero`] gives
    /// 0 even for infinities and NaN.
    #[inline(always)]
    fn term(&self, factor: Factor, value: &Channel, out: &mut Channel) {
        let by = |out: &mut Channel, by: &Channel| {
            for i in 0..LANES {
                out[i] = value[i] * by[i];
            }
        };
        let by_rest = |out: &mut Channel, by: &Channel| {
            for i in 0..LANES {
                out[i] = value[i] * (1.0 - by[i]);
            }
        };
        let scale = |out: &mut Channel, by: f32| {
            for i in 0..LANES {
                out[i] = value[i] * by;
            }
        };
        match factor {
            Factor::Zero => {}
            Factor::One => *out = *value,
            Factor::SrcColour => by(out, &self.src),
            Factor::OneMinusSrcColour => by_rest(out, &self.src),
            Factor::SrcAlpha | Factor::BothSrcAlpha => by(out, self.src_alpha),
            Factor::OneMinusSrcAlpha | Factor::BothInvSrcAlpha => by_rest(out, self.src_alpha),
            Factor::DstAlpha => by(out, self.dst_alpha),
            Factor::OneMinusDstAlpha => by_rest(out, self.dst_alpha),
            Factor::DstColour => by(out, self.dst),
            Factor::OneMinusDstColour => by_rest(out, self.dst),
            Factor::SrcAlphaSaturate if self.is_alpha => *out = *value,
            Factor::SrcAlphaSaturate => {
                for i in 0..LANES {
                    out[i] = value[i] * self.src_alpha[i].min(1.0 - self.dst_alpha[i]);
                }
            }
            Factor::ConstColour => scale(out, self.constant),
            Factor::OneMinusConstColour => scale(out, 1.0 - self.constant),
            Factor::ConstAlpha => scale(out, self.constant_alpha),
            Factor::OneMinusConstAlpha => scale(out, 1.0 - self.constant_alpha),
            Factor::Src1Colour => by(out, self.second),
            Factor::OneMinusSrc1Colour => by_rest(out, self.second),
            Factor::Src1Alpha => by(out, self.second_alpha),
            Factor::OneMinusSrc1Alpha => by_rest(out, self.second_alpha),
        }
    }
}

/// A logic operation: bit `2 * source + destination` of the nibble is the
/// result's bit (`ROP3` without the pattern).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct LogicOp(u8);

impl LogicOp {
    /// Decodes `ROP3`; none for a copy (0xCC).
    pub fn from_field(rop3: u32) -> Option<Self> {
        let nibble = (rop3 & 0xF) as u8;
        (nibble != 0xC).then_some(Self(nibble))
    }

    /// Applies the operation to every bit.
    #[inline(always)]
    pub fn apply(self, src: u32, dst: u32) -> u32 {
        let term = |bit: u8, value: u32| if self.0 & (1 << bit) != 0 { value } else { 0 };
        term(3, src & dst) | term(2, src & !dst) | term(1, !src & dst) | term(0, !src & !dst)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The equation of OpenGL 3.3, section 4.1.7, for one pixel, in f64.
    fn reference(blend: &Blend, s: [f64; 4], s1: [f64; 4], d: [f64; 4]) -> [f64; 4] {
        let k = blend.constant.map(f64::from);
        std::array::from_fn(|c| {
            let e = if c == 3 { blend.alpha } else { blend.colour };
            let factor = |f: Factor| match f {
                Factor::Zero => 0.0,
                Factor::One => 1.0,
                Factor::SrcColour => s[c],
                Factor::OneMinusSrcColour => 1.0 - s[c],
                Factor::SrcAlpha => s[3],
                Factor::OneMinusSrcAlpha => 1.0 - s[3],
                Factor::DstAlpha => d[3],
                Factor::OneMinusDstAlpha => 1.0 - d[3],
                Factor::DstColour => d[c],
                Factor::OneMinusDstColour => 1.0 - d[c],
                Factor::SrcAlphaSaturate if c == 3 => 1.0,
                Factor::SrcAlphaSaturate => s[3].min(1.0 - d[3]),
                Factor::ConstColour => k[c],
                Factor::OneMinusConstColour => 1.0 - k[c],
                Factor::ConstAlpha => k[3],
                Factor::OneMinusConstAlpha => 1.0 - k[3],
                Factor::Src1Colour => s1[c],
                Factor::OneMinusSrc1Colour => 1.0 - s1[c],
                Factor::Src1Alpha => s1[3],
                Factor::OneMinusSrc1Alpha => 1.0 - s1[3],
                Factor::BothSrcAlpha | Factor::BothInvSrcAlpha => unreachable!("decoded away"),
            };
            let (fs, fd) = (s[c] * factor(e.src), d[c] * factor(e.dst));
            match e.function {
                Function::Add => fs + fd,
                Function::SrcMinusDst => fs - fd,
                Function::DstMinusSrc => fd - fs,
                Function::Min => s[c].min(d[c]),
                Function::Max => s[c].max(d[c]),
            }
        })
    }

    fn colour() -> impl Strategy<Value = [f32; 4]> {
        proptest::array::uniform4(0.0f32..1.0)
    }

    proptest! {
        #[test]
        fn equations_are_those_of_opengl(
            control: u32, constant in colour(), s in colour(), s1 in colour(), d in colour(),
        ) {
            let Some(blend) = Blend::decode(control, constant, None) else { return Ok(()) };
            let splat = |c: [f32; 4]| c.map(|v| [v; LANES]);
            let mut got = splat(s);
            blend.apply(&mut got, Some(&splat(s1)), &splat(d));
            let wide = |c: [f32; 4]| c.map(f64::from);
            let want = reference(&blend, wide(s), wide(s1), wide(d));
            for c in 0..4 {
                for lane in [0, 63] {
                    let error = (f64::from(got[c][lane]) - want[c]).abs();
                    prop_assert!(error < 1e-6, "{c}: {} for {}", got[c][lane], want[c]);
                }
            }
        }

        #[test]
        fn destination_is_read_only_when_said(control: u32, s in colour(), constant in colour()) {
            let Some(blend) = Blend::decode(control, constant, None) else { return Ok(()) };
            if !blend.reads_destination() {
                let splat = |c: [f32; 4]| c.map(|v| [v; LANES]);
                let (mut a, mut b) = (splat(s), splat(s));
                blend.apply(&mut a, None, &[[0.25; LANES]; 4]);
                blend.apply(&mut b, None, &[[0.75; LANES]; 4]);
                prop_assert_eq!(a, b);
            }
        }

        #[test]
        fn logic_ops_follow_the_truth_table(op in 0u32..16, s: u32, d: u32) {
            // GL_CLEAR.. by their nibbles in ROP3, as r600_blend_state does.
            let Some(logic) = LogicOp::from_field(op * 17) else {
                prop_assert_eq!(op, 12);
                return Ok(());
            };
            let got = logic.apply(s, d);
            for bit in 0..32 {
                let (sb, db) = (s >> bit & 1, d >> bit & 1);
                prop_assert_eq!(got >> bit & 1, op >> (2 * sb + db) & 1);
            }
        }
    }

    #[test]
    fn zero_factor_swallows_infinity() {
        let control = 1 | (0 << 8); // one, zero: a copy
        assert!(Blend::decode(control, [0.0; 4], None).is_none());
        // Zero times the source, one times the destination.
        let blend = Blend::decode(1 << 8, [0.0; 4], None).unwrap();
        let mut src = [[f32::INFINITY; LANES]; 4];
        blend.apply(&mut src, None, &[[0.5; LANES]; 4]);
        assert_eq!(src[0][0], 0.5);
    }

    #[test]
    fn clamp_limits_the_source() {
        let blend = Blend::decode(1 | (1 << 8), [2.0; 4], Some((0.0, 1.0))).unwrap();
        assert_eq!(blend.constant, [1.0; 4]);
        let mut src = [[3.0; LANES]; 4];
        src[1] = [f32::NAN; LANES];
        blend.apply(&mut src, None, &[[0.5; LANES]; 4]);
        assert_eq!((src[0][7], src[1][7]), (1.5, 0.5));
    }
}
