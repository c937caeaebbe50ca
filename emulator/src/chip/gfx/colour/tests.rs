// SPDX-License-Identifier: MIT

use std::collections::HashMap;
use std::sync::Mutex;

use proptest::prelude::*;

use super::*;
use crate::chip::bus::Mc;
use crate::chip::gfx::lanes::{pixel_of, LANES};
use crate::chip::regs::gb::GB_TILING_CONFIG;
use crate::chip::regs::gfx::{
    CB_BLEND0_CONTROL, CB_BLEND_CONTROL, CB_BLEND_RED, CB_COLOR0_BASE, CB_COLOR0_INFO,
    CB_COLOR0_SIZE, CB_COLOR0_VIEW,
};

/// Registers that tests set.
#[derive(Default)]
struct Regs(Mutex<HashMap<u32, u32>>);

impl RegFile for Regs {
    fn load(&self, offset: u32) -> u32 {
        *self.0.lock().unwrap().get(&offset).unwrap_or(&0)
    }
    fn store(&self, offset: u32, value: u32) {
        self.0.lock().unwrap().insert(offset, value);
    }
}

/// Memory that counts reads.
struct Memory {
    bytes: Mutex<Vec<u8>>,
    reads: Mutex<usize>,
}

impl Memory {
    fn new(len: usize) -> Self {
        Self {
            bytes: Mutex::new(vec![0; len]),
            reads: Mutex::new(0),
        }
    }
}

impl Mc for Memory {
    fn read(&self, addr: u64, buf: &mut [u8]) -> Result<(), McError> {
        *self.reads.lock().unwrap() += 1;
        let bytes = self.bytes.lock().unwrap();
        let start = usize::try_from(addr).map_err(|_| McError::Unmapped(addr))?;
        let range = start..start.saturating_add(buf.len());
        buf.copy_from_slice(bytes.get(range).ok_or(McError::Unmapped(addr))?);
        Ok(())
    }
    fn write(&self, addr: u64, buf: &[u8]) -> Result<(), McError> {
        let mut bytes = self.bytes.lock().unwrap();
        let start = usize::try_from(addr).map_err(|_| McError::Unmapped(addr))?;
        let range = start..start.saturating_add(buf.len());
        bytes
            .get_mut(range)
            .ok_or(McError::Unmapped(addr))?
            .copy_from_slice(buf);
        Ok(())
    }
}

/// Two pipes, eight banks: RV710.
const TILING: u32 = 1 << 1 | 1 << 4;
const BASE: u64 = 0x1000;
const PITCH: u32 = 128;
const HEIGHT: u32 = 32;

/// `CB_COLORn_INFO`.
fn info(format: u32, mode: u32, number: u32, swap: u32, flags: u32) -> u32 {
    format << 2 | mode << 8 | number << 12 | swap << 16 | flags
}

fn set_target(regs: &Regs, index: u32, info: u32, base: u64) {
    regs.store(CB_COLOR0_BASE + 4 * index, (base >> 8) as u32);
    let slice = PITCH * HEIGHT / 64 - 1;
    regs.store(CB_COLOR0_SIZE + 4 * index, PITCH / 8 - 1 | slice << 10);
    regs.store(CB_COLOR0_VIEW + 4 * index, 7 << 13);
    regs.store(CB_COLOR0_INFO + 4 * index, info);
}

fn registers(info: u32) -> Regs {
    let regs = Regs::default();
    regs.store(GB_TILING_CONFIG, TILING);
    set_target(&regs, 0, info, BASE);
    regs.store(CB_TARGET_MASK, 0xF);
    regs.store(CB_SHADER_MASK, 0xFFFF_FFFF);
    regs.store(CB_COLOR_CONTROL, 0xCC << 16 | 1 << 7);
    regs
}

fn colour(rgba: [f32; 4]) -> [Lanes; 4] {
    rgba.map(|v| [v.to_bits(); LANES])
}

/// The dword of pixel (x, y) of slice z, sample s.
fn pixel(memory: &Memory, target: &Target, x: u32, y: u32, z: u32, s: u32) -> u32 {
    let at = target.surface.base + target.surface.layout.sample_offset(x, y, z, s);
    let mut bytes = [0; 4];
    let len = 4.min(target.surface.layout.bytes_per_element as usize);
    memory.read(at, &mut bytes[..len]).unwrap();
    u32::from_le_bytes(bytes)
}

fn at(x: u32, y: u32, layer: u32, sample: u32) -> At {
    At::new(x, y, layer).sample(sample)
}

#[test]
fn whole_tile_is_written_without_reading() {
    for mode in [1, 2, 4] {
        let memory = Memory::new(0x10_0000);
        let targets = Targets::decode(&registers(info(0x1A, mode, 0, 1, 0)));
        let view = View::new(&memory);
        let src = colour([1.0, 0.5, 0.0, 1.0]);
        targets
            .write_tile(&view, 0, at(3, 2, 0, 0), &src.each_ref(), None, ALL)
            .unwrap();
        assert_eq!(*memory.reads.lock().unwrap(), 0, "mode {mode}");
        let target = targets.get(0).unwrap();
        for y in 0..HEIGHT {
            for x in 0..PITCH {
                let inside = x / 8 == 3 && y / 8 == 2;
                let want = if inside { 0xFFFF_8000 } else { 0 };
                assert_eq!(pixel(&memory, target, x, y, 0, 0), want, "({x}, {y})");
            }
        }
    }
}

#[test]
fn pixels_outside_the_mask_stay() {
    for mode in [1, 2, 4] {
        let memory = Memory::new(0x10_0000);
        let targets = Targets::decode(&registers(info(0x1A, mode, 0, 0, 0)));
        let view = View::new(&memory);
        let lanes: Lanes = std::array::from_fn(|lane| (lane as f32 / 255.0).to_bits());
        let src = [lanes; 4];
        let mask = 0x8000_0000_0400_0012;
        targets
            .write_tile(&view, 0, at(1, 1, 0, 0), &src.each_ref(), None, mask)
            .unwrap();
        let target = targets.get(0).unwrap();
        for lane in 0..LANES {
            let (x, y) = pixel_of(lane);
            let want = if mask >> lane & 1 == 1 {
                lane as u32 * 0x0101_0101
            } else {
                0
            };
            let got = pixel(&memory, target, 8 + x as u32, 8 + y as u32, 0, 0);
            assert_eq!(got, want, "lane {lane} mode {mode}");
        }
    }
}

#[test]
fn linear_rows_without_pixels_are_not_touched() {
    // Memory ends after the first row of the tile.
    let memory = Memory::new(BASE as usize + PITCH as usize * 4);
    let targets = Targets::decode(&registers(info(0x1A, 1, 0, 0, 0)));
    let view = View::new(&memory);
    let src = colour([1.0; 4]);
    // Lanes 0 and 1 are in row 0, lane 2 is in row 1.
    targets
        .write_tile(&view, 0, at(0, 0, 0, 0), &src.each_ref(), None, 3)
        .unwrap();
    assert!(targets
        .write_tile(&view, 0, at(0, 0, 0, 0), &src.each_ref(), None, 4)
        .is_err());
}

#[test]
fn blending_uses_what_is_there() {
    let regs = registers(info(0x1A, 4, 0, 0, 1 << 20));
    // SRC_ALPHA, ONE_MINUS_SRC_ALPHA, on target 0.
    regs.store(CB_BLEND0_CONTROL, 4 | 5 << 8);
    let memory = Memory::new(0x10_0000);
    let view = View::new(&memory);
    let plain = Targets::decode(&regs);
    regs.store(CB_COLOR_CONTROL, regs.load(CB_COLOR_CONTROL) | 1 << 8);
    let blended = Targets::decode(&regs);
    let target = blended.get(0).unwrap();
    assert!(target.reads_destination() && !plain.get(0).unwrap().reads_destination());
    let (red, half) = (colour([1.0, 0.0, 0.0, 1.0]), colour([0.0, 1.0, 0.0, 0.5]));
    plain
        .write_tile(&view, 0, at(0, 0, 0, 0), &red.each_ref(), None, ALL)
        .unwrap();
    blended
        .write_tile(&view, 0, at(0, 0, 0, 0), &half.each_ref(), None, ALL)
        .unwrap();
    // alpha: 0.5 * 0.5 + 1 * 0.5
    assert_eq!(pixel(&memory, target, 5, 5, 0, 0), 0xBF00_8080);
}

#[test]
fn dual_source_takes_the_second_colour() {
    let regs = registers(info(0x1A, 4, 0, 0, 1 << 20));
    // ONE for the source, SRC1_COLOR for the destination.
    regs.store(CB_BLEND0_CONTROL, 1 | 15 << 8);
    regs.store(CB_COLOR_CONTROL, 0xCC << 16 | 1 << 7 | 1 << 8);
    let memory = Memory::new(0x10_0000);
    let view = View::new(&memory);
    let targets = Targets::decode(&regs);
    let write = |src, src1: Option<&[&Lanes; 4]>| {
        targets
            .write_tile(&view, 0, at(0, 0, 0, 0), &colour(src).each_ref(), src1, ALL)
            .unwrap();
    };
    write([1.0; 4], None);
    let second = colour([0.2, 0.4, 0.6, 0.8]);
    write([0.0; 4], Some(&second.each_ref()));
    let target = targets.get(0).unwrap();
    assert_eq!(pixel(&memory, target, 0, 0, 0, 0), 0xCC99_6633);
}

#[test]
fn write_mask_keeps_components() {
    let regs = registers(info(0x1A, 2, 0, 0, 0));
    let memory = Memory::new(0x10_0000);
    let view = View::new(&memory);
    let all = Targets::decode(&regs);
    all.write_tile(
        &view,
        0,
        at(0, 0, 0, 0),
        &colour([1.0; 4]).each_ref(),
        None,
        ALL,
    )
    .unwrap();
    regs.store(CB_TARGET_MASK, 0b0101);
    let some = Targets::decode(&regs);
    some.write_tile(
        &view,
        0,
        at(0, 0, 0, 0),
        &colour([0.0; 4]).each_ref(),
        None,
        ALL,
    )
    .unwrap();
    let target = some.get(0).unwrap();
    assert_eq!(pixel(&memory, target, 0, 0, 0, 0), 0xFF00_FF00);
    regs.store(CB_TARGET_MASK, 0);
    assert!(Targets::decode(&regs).get(0).is_none());
}

#[test]
fn logic_op_works_on_bits() {
    let regs = registers(info(0x1A, 2, 0, 0, 0));
    // XOR: 0x66.
    regs.store(CB_COLOR_CONTROL, 0x66 << 16 | 1 << 7);
    let memory = Memory::new(0x10_0000);
    let view = View::new(&memory);
    let targets = Targets::decode(&regs);
    let src = colour([1.0, 0.2, 0.0, 1.0]);
    let target = targets.get(0).unwrap();
    for want in [0xFF00_33FF, 0] {
        targets
            .write_tile(&view, 0, at(0, 0, 0, 0), &src.each_ref(), None, ALL)
            .unwrap();
        assert_eq!(pixel(&memory, target, 3, 3, 0, 0), want);
    }
}

#[test]
fn multiwrite_and_views() {
    let regs = registers(info(0x1A, 4, 0, 0, 0));
    set_target(&regs, 1, info(0x0E, 4, 7, 0, 0), 0x8_0000);
    regs.store(CB_TARGET_MASK, 0x1F);
    regs.store(CB_COLOR_CONTROL, 0xCC << 16 | 1 << 7 | 2);
    regs.store(CB_COLOR0_VIEW, 2 | 3 << 13);
    let targets = Targets::decode(&regs);
    let written: Vec<_> = targets.written().map(|(i, e, _)| (i, e)).collect();
    assert_eq!(written, [(0, 0), (1, 0)]);
    let memory = Memory::new(0x20_0000);
    let view = View::new(&memory);
    // Layer 9 is clamped to the view's last slice.
    for (layer, slice) in [(0, 2), (1, 3), (9, 3)] {
        let src = colour([layer as f32 / 255.0; 4]);
        targets
            .write_tile(&view, 0, at(0, 0, layer, 0), &src.each_ref(), None, ALL)
            .unwrap();
        let target = targets.get(0).unwrap();
        assert_eq!(pixel(&memory, target, 0, 0, slice, 0), layer * 0x0101_0101);
    }
}

#[test]
fn samples_are_resolved_to_their_average() {
    for (number, want) in [(0, 0x80), (6, 0xBC)] {
        let regs = registers(info(0x1A, 4, number, 0, 0));
        regs.store(PA_SC_AA_CONFIG, 2);
        let memory = Memory::new(0x20_0000);
        let view = View::new(&memory);
        let targets = Targets::decode(&regs);
        for sample in 0..4 {
            let src = colour([(sample / 2) as f32; 4]);
            targets
                .write_tile(&view, 0, at(0, 0, 0, sample), &src.each_ref(), None, ALL)
                .unwrap();
        }
        let target = targets.get(0).unwrap();
        assert_eq!(pixel(&memory, target, 1, 1, 0, 3), 0xFFFF_FFFF);
        assert_eq!(pixel(&memory, target, 1, 1, 0, 1), 0);
        set_target(&regs, 1, info(0x1A, 4, number, 0, 0), 0x8_0000);
        regs.store(CB_COLOR_CONTROL, 0xCC << 16 | 7 << 4);
        let resolve = Targets::decode(&regs);
        assert_eq!(resolve.special, SpecialOp::Resolve);
        assert_eq!(resolve.written().count(), 0);
        resolve.resolve_tile(&view, at(0, 0, 0, 0), 1).unwrap();
        let to = resolve.get(1).unwrap();
        assert_eq!(to.samples(), 1);
        let got = pixel(&memory, to, 0, 0, 0, 0);
        assert_eq!(got, 0x8000_0000 | want * 0x0001_0101);
        assert_eq!(pixel(&memory, to, 1, 0, 0, 0), 0, "outside the mask");
    }
}

#[test]
fn samples_of_16_bytes_in_the_order_of_depth_are_apart() {
    // 32_32_32_32_FLOAT as on Cayman.
    let regs = registers(info(0x23, 4, 7, 0, 0));
    regs.store(PA_SC_AA_CONFIG, 2);
    let targets = Targets::of(&regs, |index| ColourBuffer {
        depth_order: true,
        ..ColourBuffer::of(&regs, &regs, index)
    });
    let memory = Memory::new(0x20_0000);
    let view = View::new(&memory);
    for sample in 0..4 {
        let values = std::array::from_fn(|lane| (64 * sample + lane as u32) as f32);
        let src = [values.map(f32::to_bits); 4];
        targets
            .write_tile(&view, 0, at(3, 1, 0, sample), &src.each_ref(), None, ALL)
            .unwrap();
    }
    let target = targets.get(0).unwrap();
    for (lane, sample) in (0..LANES).flat_map(|lane| (0..4).map(move |s| (lane, s))) {
        let (x, y) = pixel_of(lane);
        let got = pixel(&memory, target, 24 + x as u32, 8 + y as u32, 0, sample);
        let want = (64 * sample + lane as u32) as f32;
        assert_eq!(f32::from_bits(got), want, "lane {lane}, sample {sample}");
    }
}

#[test]
fn depth_copies_go_to_one_sample() {
    let regs = registers(info(0x11, 4, 0, 0, 1 << 22));
    regs.store(PA_SC_AA_CONFIG, 1);
    let memory = Memory::new(0x20_0000);
    let view = View::new(&memory);
    let targets = Targets::decode(&regs);
    let depth = [1.0f32.to_bits(); LANES];
    let stencil = [7; LANES];
    targets
        .write_depth(&view, 0, at(0, 0, 0, 1), Some(&depth), None, ALL)
        .unwrap();
    targets
        .write_depth(&view, 0, at(0, 0, 0, 1), None, Some(&stencil), ALL)
        .unwrap();
    let target = targets.get(0).unwrap();
    assert_eq!(pixel(&memory, target, 2, 2, 0, 1), 0x07FF_FFFF);
    assert_eq!(pixel(&memory, target, 2, 2, 0, 0), 0);
}

#[test]
fn integers_are_neither_blended_nor_scaled() {
    let regs = registers(info(0x0D, 2, 4, 0, 0));
    regs.store(CB_BLEND0_CONTROL, 4 | 5 << 8);
    regs.store(CB_COLOR_CONTROL, 0xCC << 16 | 1 << 7 | 1 << 8);
    let memory = Memory::new(0x10_0000);
    let view = View::new(&memory);
    let targets = Targets::decode(&regs);
    let src = [[0xDEAD_BEEF; LANES]; 4];
    targets
        .write_tile(&view, 0, at(0, 0, 0, 0), &src.each_ref(), None, ALL)
        .unwrap();
    let target = targets.get(0).unwrap();
    assert_eq!(pixel(&memory, target, 0, 0, 0, 0), 0xDEAD_BEEF);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn hostile_state_ends_in_a_result(
        base: u32, size: u32, slices: u32, info: u32, control: u32, blend: u32, aa: u32,
        tiling: u32, x: u32, y: u32, layer: u32, sample: u32, mask: u64, value: [u32; 4],
        constant: u32,
    ) {
        let regs = registers(info);
        regs.store(CB_COLOR0_BASE, base & 0xFFF);
        regs.store(CB_COLOR0_SIZE, size);
        regs.store(CB_COLOR0_VIEW, slices);
        regs.store(CB_COLOR_CONTROL, control);
        regs.store(CB_BLEND_CONTROL, blend);
        regs.store(CB_BLEND0_CONTROL, blend);
        regs.store(CB_BLEND_RED, constant);
        regs.store(PA_SC_AA_CONFIG, aa);
        regs.store(GB_TILING_CONFIG, tiling);
        let memory = Memory::new(0x10_0000);
        let view = View::new(&memory);
        let targets = Targets::decode(&regs);
        let src = value.map(|v| [v; LANES]);
        let _ = targets.write_tile(&view, 0, at(x, y, layer, sample), &src.each_ref(), Some(&src.each_ref()), mask);
        let _ = targets.write_tile(&view, 0, at(x % 16, y % 4, 0, sample), &src.each_ref(), None, mask);
        let _ = targets.write_depth(&view, 0, at(x, y, layer, sample), Some(&src[0]), None, mask);
        let _ = targets.resolve_tile(&view, at(x % 16, y % 4, layer, 0), mask);
    }
}

/// Blend states of the fast path: none, over, premultiplied over, and over with a factor of one
/// for alpha, or for the colours.
const FAST: [Option<u32>; 5] = [
    None,
    Some(4 | 5 << 8),
    Some(1 | 5 << 8),
    Some(4 | 5 << 8 | 1 << 16 | 5 << 24 | 1 << 29),
    Some(1 | 5 << 8 | 4 << 16 | 5 << 24 | 1 << 29),
];

/// Any values, with infinities and NaN.
fn exported() -> impl Strategy<Value = u32> {
    prop_oneof![
        (-0.25f32..1.25).prop_map(f32::to_bits),
        any::<u32>(),
        (0u32..=255).prop_map(|v| (v as f32 / 255.0).to_bits()),
    ]
}

proptest! {
    #[test]
    fn fast_path_gives_the_general_paths_bits(
        state in 0..FAST.len(), mode in proptest::sample::select(vec![1u32, 2, 4]), swap in 0u32..4,
        values in proptest::collection::vec(exported(), 256), old in any::<[u8; 32]>(),
        mask in prop_oneof![Just(ALL), any::<u64>()], write_mask in prop_oneof![Just(0xFu32), 1u32..16],
    ) {
        let regs = registers(info(0x1A, mode, 0, swap, 1 << 20));
        regs.store(CB_TARGET_MASK, write_mask);
        if let Some(blend) = FAST[state] {
            regs.store(CB_BLEND0_CONTROL, blend);
            regs.store(CB_COLOR_CONTROL, 0xCC << 16 | 1 << 7 | 1 << 8);
        }
        let fast = Targets::decode(&regs);
        let mut general = fast.clone();
        general.targets[0].as_mut().unwrap().packed = None;
        prop_assert!(fast.get(0).unwrap().packed.is_some());
        let src: [Lanes; 4] = std::array::from_fn(|c| std::array::from_fn(|i| values[c * 64 + i]));
        let [a, b] = [&fast, &general].map(|targets| {
            let memory = Memory::new(0x10_0000);
            for (i, byte) in memory.bytes.lock().unwrap().iter_mut().enumerate() {
                *byte = old[i % 32].wrapping_add((i / 32) as u8);
            }
            let view = View::new(&memory);
            targets.write_tile(&view, 0, at(1, 1, 0, 0), &src.each_ref(), None, mask).unwrap();
            memory.bytes.into_inner().unwrap()
        });
        prop_assert!(a == b);
    }

    #[test]
    fn fast_resolve_gives_the_general_ones_bits(
        samples in 1u32..4, swaps in [0u32..4, 0u32..4], old in any::<[u8; 64]>(),
        mask in prop_oneof![Just(ALL), any::<u64>()],
    ) {
        let regs = registers(info(0x1A, 4, 0, swaps[0], 0));
        set_target(&regs, 1, info(0x1A, 2, 0, swaps[1], 0), 0x8_0000);
        regs.store(PA_SC_AA_CONFIG, samples);
        regs.store(CB_COLOR_CONTROL, 0xCC << 16 | 7 << 4);
        let fast = Targets::decode(&regs);
        let mut general = fast.clone();
        general.targets[1].as_mut().unwrap().packed = None;
        prop_assert!(fast.get(1).unwrap().packed.is_some());
        let [a, b] = [&fast, &general].map(|targets| {
            let memory = Memory::new(0x10_0000);
            for (i, byte) in memory.bytes.lock().unwrap().iter_mut().enumerate() {
                *byte = old[i % 64].wrapping_mul((i / 64) as u8 | 1);
            }
            let view = View::new(&memory);
            targets.resolve_tile(&view, at(2, 1, 0, 0), mask).unwrap();
            memory.bytes.into_inner().unwrap()
        });
        prop_assert!(a == b);
    }
}

#[test]
fn uniform_tile_is_what_would_be_written() {
    let targets = Targets::decode(&registers(info(0x1A, 4, 0, 1, 0)));
    let src = colour([0.1, 0.7, 0.3, 0.9]);
    let bytes = targets
        .uniform_tile(0, &src.each_ref())
        .expect("a plain target");
    let [a, b] = [true, false].map(|uniform| {
        let memory = Memory::new(0x10_0000);
        let view = View::new(&memory);
        if uniform {
            targets
                .write_uniform(&view, 0, at(2, 1, 0, 0), &bytes)
                .unwrap();
        } else {
            targets
                .write_tile(&view, 0, at(2, 1, 0, 0), &src.each_ref(), None, ALL)
                .unwrap();
        }
        memory.bytes.into_inner().unwrap()
    });
    assert!(a == b && a.iter().any(|byte| *byte != 0));
}

/// Copies rely on this: converting a texture's byte to a float and back gives the same byte.
#[test]
fn bytes_survive_the_way_through_a_shader() {
    for byte in 0..=255u8 {
        assert_eq!(pack::to_byte(f32::from(byte) / 255.0), u32::from(byte));
    }
}
