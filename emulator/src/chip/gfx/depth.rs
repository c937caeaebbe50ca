// SPDX-License-Identifier: MIT
//! Depth and stencil tests of a tile's samples.
//!
//! Formats and operations: `DB_DEPTH_INFO`, `DB_DEPTH_CONTROL` and
//! `DB_STENCILREFMASK` in Mesa's `r600d.h`; `r600_translate_stencil_op()` for
//! the order of the operations. Depth and stencil share an element. The model
//! has no compressed depth (HTILE): every element is always expanded, see
//! [`compressed`](super::compressed) for reads of what hardware would have compressed.

use super::lanes::{expand, select, Lanes, Mask, LANES};
use super::state::Shadow;
use crate::chip::regs::fields::r700::{db_depth_control, db_depth_info, db_stencilrefmask};
use crate::chip::regs::fields::Field;
use crate::chip::regs::gfx as reg;

/// How an element holds depth and stencil (`DB_DEPTH_INFO.FORMAT`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// 16 bits.
    D16,
    /// 24 bits, below 8 unused ones.
    X8D24,
    /// 24 bits below 8 bits of stencil.
    S8D24,
    /// A float.
    D32F,
    /// A float, then a dword whose low byte is stencil.
    X24S8D32F,
}

impl Format {
    /// Decodes the field; none if there is no depth buffer or the format is unknown.
    pub fn decode(value: u32) -> Option<Self> {
        Some(match value {
            1 => Format::D16,
            2 => Format::X8D24,
            3 => Format::S8D24,
            6 => Format::D32F,
            7 => Format::X24S8D32F,
            _ => return None,
        })
    }

    /// Bytes per sample.
    pub fn bytes(self) -> u32 {
        match self {
            Format::D16 => 2,
            Format::X8D24 | Format::S8D24 | Format::D32F => 4,
            Format::X24S8D32F => 8,
        }
    }

    /// Whether there is a stencil value.
    pub fn has_stencil(self) -> bool {
        matches!(self, Format::S8D24 | Format::X24S8D32F)
    }

    /// Depth as stored: a rounded integer, or the bits of a float.
    #[inline(always)]
    pub fn quantise(self, z: f32) -> u32 {
        // NaN becomes 0.
        let unorm = |max: f64| floor(f64::from(z).max(0.0).min(1.0) * max + 0.5);
        match self {
            Format::D16 => unorm(65535.0),
            Format::X8D24 | Format::S8D24 => unorm(16_777_215.0),
            Format::D32F | Format::X24S8D32F => z.to_bits(),
        }
    }

    /// The depth that `stored` stands for.
    pub fn depth(self, stored: u32) -> f32 {
        match self {
            Format::D16 => (f64::from(stored) / 65535.0) as f32,
            Format::X8D24 | Format::S8D24 => (f64::from(stored) / 16_777_215.0) as f32,
            Format::D32F | Format::X24S8D32F => f32::from_bits(stored),
        }
    }

    #[inline(always)]
    fn is_float(self) -> bool {
        matches!(self, Format::D32F | Format::X24S8D32F)
    }
}

/// `value`, 0 to 2^31, rounded down. The compiler does not vectorise a plain cast, which saturates.
#[inline(always)]
fn floor(value: f64) -> u32 {
    // Doubles have no fraction bits from 2^52 on: the sum is a rounded integer, in the low bits.
    const MAGIC: f64 = 4_503_599_627_370_496.0;
    let sum = value + MAGIC;
    let up = sum - MAGIC > value;
    (sum.to_bits() as u32).wrapping_sub(u32::from(up))
}

/// Compares `a` with `b`. The functions 0 to 7 are never, less, equal, less or equal, greater, not
/// equal, greater or equal, always (Mesa's `PIPE_FUNC_*`, which it writes unchanged).
#[inline]
pub fn compare<T: PartialOrd>(function: u32, a: T, b: T) -> bool {
    match function & 7 {
        0 => false,
        1 => a < b,
        2 => a == b,
        3 => a <= b,
        4 => a > b,
        5 => a != b,
        6 => a >= b,
        _ => true,
    }
}

/// Stencil state of one face.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Face {
    function: u32,
    /// Operations on stencil fail, depth pass, depth fail.
    ops: [u32; 3],
    reference: u8,
    mask: u8,
    write_mask: u8,
}

/// What a fragment leaves, whatever was before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Replaced {
    /// The element of depth, with the stencil if that has no plane of its own.
    pub element: u32,
    /// The stencil, if it is written.
    pub stencil: Option<u8>,
}

/// Depth and stencil state of a draw.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct State {
    /// Element format.
    pub format: Format,
    /// Depth is tested.
    pub z_enable: bool,
    z_write: bool,
    z_function: u32,
    /// Stencil is tested.
    pub stencil_enable: bool,
    faces: [Face; 2],
}

impl State {
    /// Decodes the state; none if there is no depth buffer.
    pub fn decode(s: &Shadow) -> Option<Self> {
        let format = Format::decode(db_depth_info::FORMAT.of(s.get(reg::DB_DEPTH_INFO)))?;
        Some(Self::of(s, format, true, format.has_stencil()))
    }

    /// The state of separate planes of depth, none without `format`, and stencil.
    pub fn planes(s: &Shadow, format: Option<Format>, has_stencil: bool) -> Self {
        let held = format.unwrap_or(Format::X8D24);
        Self::of(s, held, format.is_some(), has_stencil)
    }

    fn of(s: &Shadow, format: Format, has_depth: bool, has_stencil: bool) -> Self {
        let control = s.get(reg::DB_DEPTH_CONTROL);
        let face = |fields: [Field; 4], masks: u32| {
            let [function, fail, z_pass, z_fail] = fields.map(|field| field.of(control));
            Face {
                function,
                ops: [fail, z_pass, z_fail],
                reference: db_stencilrefmask::STENCILREF.of(masks) as u8,
                mask: db_stencilrefmask::STENCILMASK.of(masks) as u8,
                write_mask: db_stencilrefmask::STENCILWRITEMASK.of(masks) as u8,
            }
        };
        use db_depth_control::*;
        let front = face(
            [STENCILFUNC, STENCILFAIL, STENCILZPASS, STENCILZFAIL],
            s.get(reg::DB_STENCILREFMASK),
        );
        let back = if BACKFACE_ENABLE.is_set(control) {
            face(
                [
                    STENCILFUNC_BF,
                    STENCILFAIL_BF,
                    STENCILZPASS_BF,
                    STENCILZFAIL_BF,
                ],
                s.get(reg::DB_STENCILREFMASK_BF),
            )
        } else {
            front
        };
        Self {
            format,
            z_enable: has_depth && Z_ENABLE.is_set(control),
            z_write: has_depth && Z_ENABLE.is_set(control) && Z_WRITE_ENABLE.is_set(control),
            z_function: ZFUNC.of(control),
            stencil_enable: STENCIL_ENABLE.is_set(control) && has_stencil,
            faces: [front, back],
        }
    }

    /// Whether depth or stencil is tested.
    pub fn is_active(&self) -> bool {
        self.z_enable || self.stencil_enable
    }

    /// What is stored after a fragment of depth `z` is drawn; none if it depends on what was
    /// before, or if elements are not dwords.
    pub fn replaces(&self, z: f32, front: bool) -> Option<Replaced> {
        let depth = self.z_write && self.z_function == 7;
        let face = &self.faces[usize::from(!front)];
        let stencil = match face.ops[1] {
            1 => 0,
            _ => face.reference,
        };
        // The test always passes, and the operation then replaces or clears all eight bits.
        let known = self.stencil_enable
            && face.function == 7
            && matches!(face.ops[1], 1 | 2)
            && face.write_mask == 0xFF;
        let stencil_after = known.then_some(stencil);
        let element = match self.format {
            // X8D24 has a stencil if that is a plane of its own. Elements have it all the same, see `store_elements()`.
            Format::S8D24 | Format::X8D24 if depth && known => {
                self.format.quantise(z) | u32::from(stencil) << 24
            }
            Format::D32F if depth && (known || !self.stencil_enable) => self.format.quantise(z),
            _ => return None,
        };
        Some(Replaced {
            element,
            stencil: stencil_after,
        })
    }
}

/// One sample of each pixel of a tile, as stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Samples {
    /// Depth, see [`Format::quantise`].
    pub depth: Lanes,
    /// Stencil.
    pub stencil: [u8; LANES],
}

impl Default for Samples {
    fn default() -> Self {
        Self {
            depth: [0; LANES],
            stencil: [0; LANES],
        }
    }
}

#[inline(always)]
fn stencil_op(op: u32, old: u8, reference: u8) -> u8 {
    match op & 7 {
        0 => old,
        1 => 0,
        2 => reference,
        3 => old.saturating_add(1),
        4 => old.saturating_sub(1),
        5 => !old,
        6 => old.wrapping_add(1),
        _ => old.wrapping_sub(1),
    }
}

/// Result of testing one sample of a tile.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tested {
    /// Lanes that passed.
    pub passed: Mask,
    /// Lanes whose stored element changed.
    pub changed: Mask,
}

impl State {
    /// Tests the lanes of `mask` and, if `update`, changes `stored`. `z` is the
    /// depth of the fragments; `reference` holds the stencil references that
    /// the shader exports, if it does.
    #[inline(always)]
    pub fn test(
        &self,
        stored: &mut Samples,
        z: &[f32; LANES],
        mask: Mask,
        front: bool,
        reference: Option<&Lanes>,
        update: bool,
    ) -> Tested {
        let mut values: Lanes = [0; LANES];
        let mut depth_passes = Mask::MAX;
        if self.z_enable {
            // One loop for each format and function: no branch within a loop.
            match self.format {
                Format::D16 => (values.iter_mut().zip(z)).for_each(|(v, &z)| {
                    *v = Format::D16.quantise(z);
                }),
                Format::X8D24 | Format::S8D24 => {
                    (values.iter_mut().zip(z)).for_each(|(v, &z)| *v = Format::S8D24.quantise(z));
                }
                Format::D32F | Format::X24S8D32F => {
                    (values.iter_mut().zip(z)).for_each(|(v, &z)| *v = z.to_bits());
                }
            }
            let old = &stored.depth;
            depth_passes = if self.format.is_float() {
                let f = f32::from_bits;
                lanes_that(self.z_function, |l| f(values[l]), |l| f(old[l]))
            } else {
                lanes_that(self.z_function, |l| values[l], |l| old[l])
            };
        }
        let (mut passed, mut changed) = (mask & depth_passes, 0);
        if self.stencil_enable {
            let face = &self.faces[usize::from(!front)];
            let passes = face.test(stored, reference);
            passed &= passes;
            if update {
                changed = face.update(stored, reference, mask, passes, depth_passes);
            }
        }
        if self.z_write && update {
            let old = &stored.depth;
            let new = passed & lanes_where(|l| values[l] != old[l]);
            changed |= new;
            select(&mut stored.depth, &values, &expand(new));
        }
        Tested { passed, changed }
    }
}

impl Face {
    #[inline(always)]
    fn references(&self, reference: Option<&Lanes>) -> [u8; LANES] {
        match reference {
            Some(lanes) => lanes.map(|r| r as u8),
            None => [self.reference; LANES],
        }
    }

    /// The lanes that pass the stencil test.
    #[inline(always)]
    fn test(&self, stored: &Samples, reference: Option<&Lanes>) -> Mask {
        let (references, old, mask) = (self.references(reference), &stored.stencil, self.mask);
        lanes_that(
            self.function,
            |l| u32::from(references[l] & mask),
            |l| u32::from(old[l] & mask),
        )
    }

    /// Applies the stencil operations to the lanes of `mask`. Returns the lanes that changed.
    #[inline(always)]
    fn update(
        &self,
        stored: &mut Samples,
        reference: Option<&Lanes>,
        mask: Mask,
        passes: Mask,
        depth_passes: Mask,
    ) -> Mask {
        let references = self.references(reference);
        let mut changed = 0;
        let outcomes = [!passes, passes & depth_passes, passes & !depth_passes];
        for (op, lanes) in self.ops.into_iter().zip(outcomes) {
            let lanes = lanes & mask;
            if op & 7 == 0 || lanes == 0 {
                continue;
            }
            let mut new = [0; LANES];
            for lane in 0..LANES {
                let old = stored.stencil[lane];
                let result = stencil_op(op, old, references[lane]);
                new[lane] = (result & self.write_mask) | (old & !self.write_mask);
            }
            let old = &stored.stencil;
            let differs = lanes & lanes_where(|l| new[l] != old[l]);
            for lane in 0..LANES {
                let taken = ((differs >> lane & 1) as u8).wrapping_neg();
                stored.stencil[lane] = stored.stencil[lane] & !taken | new[lane] & taken;
            }
            changed |= differs;
        }
        changed
    }
}

/// The lanes for which `function` (see [`compare`]) holds of `a` and `b`. One loop for each one.
#[inline(always)]
fn lanes_that<T: PartialOrd>(
    function: u32,
    a: impl Fn(usize) -> T,
    b: impl Fn(usize) -> T,
) -> Mask {
    match function & 7 {
        0 => 0,
        1 => lanes_where(|l| a(l) < b(l)),
        2 => lanes_where(|l| a(l) == b(l)),
        3 => lanes_where(|l| a(l) <= b(l)),
        4 => lanes_where(|l| a(l) > b(l)),
        5 => lanes_where(|l| a(l) != b(l)),
        6 => lanes_where(|l| a(l) >= b(l)),
        _ => Mask::MAX,
    }
}

#[inline(always)]
fn lanes_where(test: impl Fn(usize) -> bool) -> Mask {
    let half = |first: usize| {
        let mut bits = 0u32;
        for i in 0..32 {
            bits |= u32::from(test(first + i)) << i;
        }
        bits
    };
    u64::from(half(0)) | u64::from(half(32)) << 32
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state(format: Format) -> State {
        State {
            format,
            z_enable: true,
            z_write: true,
            z_function: 1,
            stencil_enable: false,
            faces: [Face::default(); 2],
        }
    }

    #[test]
    fn stored_depth_survives_the_way_there_and_back() {
        for format in [Format::D16, Format::S8D24] {
            let max = if format == Format::D16 {
                0xFFFF
            } else {
                0xFF_FFFF
            };
            for v in (0..=max)
                .step_by(if max > 0xFFFF { 97 } else { 1 })
                .chain([max])
            {
                assert_eq!(format.quantise(format.depth(v)), v);
            }
        }
        assert_eq!(Format::S8D24.quantise(f32::NAN), 0);
        assert_eq!(Format::D16.quantise(7.0), 0xFFFF);
    }

    #[test]
    fn what_is_replaced_depends_on_nothing_before() {
        let replaced = |format, write_mask: Option<u8>| {
            let face = Face {
                function: 7,
                ops: [0, 2, 0],
                reference: 0x5A,
                mask: 0xFF,
                write_mask: write_mask.unwrap_or(0),
            };
            let s = State {
                z_function: 7,
                stencil_enable: write_mask.is_some(),
                faces: [face; 2],
                ..state(format)
            };
            s.replaces(0.5, true).map(|new| (new.element, new.stencil))
        };
        let (d24, d32) = (Format::S8D24.quantise(0.5), 0.5f32.to_bits());
        for format in [Format::S8D24, Format::X8D24] {
            let all = Some((d24 | 0x5A << 24, Some(0x5A)));
            assert_eq!(replaced(format, Some(0xFF)), all);
            assert_eq!(replaced(format, Some(0x7F)), None);
            assert_eq!(replaced(format, None), None);
        }
        // The stencil of floats is a plane of its own, or there is none.
        assert_eq!(replaced(Format::D32F, None), Some((d32, None)));
        assert_eq!(replaced(Format::D32F, Some(0xFF)), Some((d32, Some(0x5A))));
        assert_eq!(replaced(Format::D32F, Some(0x7F)), None);
        assert_eq!(replaced(Format::D16, Some(0xFF)), None);
    }

    #[test]
    fn less_writes_only_lanes_that_pass() {
        let s = state(Format::X8D24);
        let mut stored = Samples {
            depth: [s.format.quantise(0.5); LANES],
            ..Samples::default()
        };
        let mut z = [0.25; LANES];
        z[1] = 0.75;
        let tested = s.test(&mut stored, &z, 0b111, true, None, true);
        assert_eq!((tested.passed, tested.changed), (0b101, 0b101));
        assert_eq!(stored.depth[0], s.format.quantise(0.25));
        assert_eq!(stored.depth[1], s.format.quantise(0.5));
        assert_eq!(stored.depth[3], s.format.quantise(0.5), "not in the mask");
    }

    #[test]
    fn all_functions_agree_with_compare() {
        for function in 0..8 {
            let mut s = state(Format::D16);
            s.z_function = function;
            let mut stored = Samples {
                depth: [s.format.quantise(0.5); LANES],
                ..Samples::default()
            };
            let z = std::array::from_fn(|i| [0.25, 0.5, 0.75][i % 3]);
            let expected = (0..LANES)
                .filter(|&l| compare(function, z[l], 0.5))
                .fold(0u64, |m, l| m | 1 << l);
            let tested = s.test(&mut stored, &z, Mask::MAX, true, None, false);
            assert_eq!(tested.passed, expected, "{function}");
        }
    }

    #[test]
    fn float_depth_compares_as_float() {
        let s = state(Format::D32F);
        let mut stored = Samples {
            depth: [(-1.0f32).to_bits(); LANES],
            ..Samples::default()
        };
        let tested = s.test(&mut stored, &[-2.0; LANES], 1, true, None, true);
        assert_eq!(tested.passed, 1, "-2 is less than -1");
    }

    #[test]
    fn stencil_ops_follow_the_three_outcomes() {
        let mut s = state(Format::S8D24);
        s.stencil_enable = true;
        let face = Face {
            function: 2,
            // zero on fail, replace on pass, increment on depth fail
            ops: [1, 2, 3],
            reference: 9,
            mask: 0x0F,
            write_mask: 0xFF,
        };
        s.faces = [
            face,
            Face {
                ops: [0; 3],
                ..face
            },
        ];
        let half = s.format.quantise(0.5);
        let mut stored = Samples {
            depth: [half; LANES],
            ..Samples::default()
        };
        stored.stencil[..3].copy_from_slice(&[0x18, 0x19, 0x29]);
        let z = std::array::from_fn(|i| if i == 2 { 0.9 } else { 0.1 });
        let before = stored.clone();
        let tested = s.test(&mut stored, &z, 0b111, true, None, true);
        assert_eq!(stored.stencil[..3], [0, 9, 0x2A]);
        assert_eq!((tested.passed, tested.changed), (0b010, 0b111));
        let mut untouched = before.clone();
        s.test(&mut untouched, &z, 0b111, true, None, false);
        assert_eq!(untouched, before);
        let mut back = before;
        s.test(&mut back, &z, 0b111, false, None, true);
        assert_eq!(back.stencil[..3], [0x18, 0x19, 0x29], "other face keeps");
    }

    #[test]
    fn stencil_write_mask_and_exported_reference() {
        let mut s = state(Format::S8D24);
        s.z_enable = false;
        s.z_write = false;
        s.stencil_enable = true;
        s.faces = [Face {
            function: 7,
            ops: [0, 2, 0],
            reference: 0,
            mask: 0xFF,
            write_mask: 0x0F,
        }; 2];
        let mut stored = Samples {
            stencil: [0xA0; LANES],
            ..Samples::default()
        };
        let reference = [0x35; LANES];
        let tested = s.test(&mut stored, &[0.0; LANES], 1, true, Some(&reference), true);
        assert_eq!(tested.passed, 1);
        assert_eq!(stored.stencil[0], 0xA5);
    }
}
