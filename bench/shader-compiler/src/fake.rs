// SPDX-License-Identifier: MIT
//! An environment for both: constants and texels from a hash, exports kept.

use r7xx_board::chip::bus::McError;
use r7xx_board::chip::gfx::lanes::{iter, Lanes, Mask, LANES};
use r7xx_board::chip::gfx::shader::isa::TexInstruction;
use r7xx_board::chip::gfx::shader::{Env, ExportKind, MemoryExport};

/// Values that are hard: zeros, infinities, NaN, denormals, the largest and the smallest.
pub const SPECIAL: [u32; 14] = [
    0,
    0x8000_0000,
    0x7f80_0000,
    0xff80_0000,
    0x7fc0_0000,
    1,
    0x807f_ffff,
    0x0080_0000,
    0x7f7f_ffff,
    0x3f80_0000,
    0xbf80_0000,
    0x3f7f_ffff,
    u32::MAX,
    0x4b00_0001,
];

/// A mixed-up number.
pub fn hash(seed: u64) -> u32 {
    let x = (seed ^ seed >> 29).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let x = (x ^ x >> 32).wrapping_mul(0xd6e8_feb8_6659_fd93);
    (x >> 32) as u32
}

/// A float of the kind that shaders meet, or one time in eight any of [`SPECIAL`], or any bits. If
/// `tame`, none of these two.
pub fn value(seed: u64, tame: bool) -> u32 {
    let bits = hash(seed);
    match bits % 16 {
        0 if !tame => hash(seed + 1),
        1 | 2 if !tame => SPECIAL[(bits >> 8) as usize % SPECIAL.len()],
        kind => {
            let unit = (bits >> 8) as f32 / (1 << 24) as f32;
            let scale = if kind < 8 { 2.0 } else { 40.0 };
            ((unit - 0.5) * scale).to_bits()
        }
    }
}

/// An export: kind, number, components, lanes, values of these.
pub type Export = (ExportKind, u32, u8, Mask, Vec<u32>);

/// The environment.
#[derive(Debug, Default)]
pub struct Fake {
    pub seed: u64,
    pub tame: bool,
    pub exports: Vec<Export>,
    pub texels: usize,
}

impl Env for Fake {
    fn constants(&mut self, bank: u32, first: u32, out: &mut [[u32; 4]]) {
        for (i, vector) in out.iter_mut().enumerate() {
            for (chan, to) in vector.iter_mut().enumerate() {
                let place =
                    u64::from(bank) << 20 | (u64::from(first) + i as u64) << 4 | chan as u64;
                *to = value(self.seed << 32 ^ place, self.tame);
            }
        }
    }

    fn constants_epoch(&mut self) -> u64 {
        1 + self.seed
    }

    fn resource(&mut self, _index: u32) -> [u32; 7] {
        [0; 7]
    }

    fn read(&mut self, _address: u64, out: &mut [u8]) -> Result<(), McError> {
        out.fill(0);
        Ok(())
    }

    fn texture(
        &mut self,
        op: &TexInstruction,
        src: &[&Lanes; 4],
        exec: Mask,
        out: &mut [Lanes; 4],
    ) -> bool {
        self.texels += 1;
        for lane in iter(exec) {
            // NaNs count as one.
            let bits = |chan: usize| match f32::from_bits(src[chan][lane]).is_nan() {
                true => 0x7fc0_0000,
                false => src[chan][lane],
            };
            let place = u64::from(bits(0)) << 20 ^ u64::from(bits(1)) ^ u64::from(op.resource);
            for (chan, row) in out.iter_mut().enumerate() {
                row[lane] = value(place + (chan as u64) << 3, self.tame);
            }
        }
        true
    }

    fn export(
        &mut self,
        kind: ExportKind,
        index: u32,
        values: [&Lanes; 4],
        components: u8,
        exec: Mask,
    ) {
        let mut kept = Vec::new();
        for (chan, row) in values.into_iter().enumerate() {
            if components >> chan & 1 != 0 {
                kept.extend(
                    (0..LANES)
                        .filter(|lane| exec >> lane & 1 != 0)
                        .map(|l| row[l]),
                );
            }
        }
        self.exports.push((kind, index, components, exec, kept));
    }

    fn memory_export(&mut self, _export: &MemoryExport<'_>) {}
}
