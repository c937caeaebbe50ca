// SPDX-License-Identifier: MIT
use super::*;
use crate::chip::bus::{FlatMemory, Mc};
use crate::chip::gfx::format::{DataFormat, NumberType};
use crate::chip::gfx::lanes::Lanes;
use crate::chip::tiling::{ArrayMode, TilingConfig};

/// 64 KiB, all of them 0xEE at first.
fn memory() -> FlatMemory {
    FlatMemory::new(1 << 16, 0xEE)
}

fn word(memory: &FlatMemory, at: u64) -> u32 {
    let mut bytes = [0; 4];
    memory.read(at, &mut bytes).unwrap();
    u32::from_le_bytes(bytes)
}

const RETURNED: u64 = 0x8000;

fn rat(kind: Kind, format: u32, number: NumberType, mode: u32) -> Rat {
    let format = DataFormat::from_field(format);
    let config = TilingConfig::from_address_config(0x0201_0002);
    let bytes = format.bytes();
    Rat {
        base: 0x1000,
        kind,
        layout: Layout::new(ArrayMode::from_field(mode), bytes, 64, 64 * 8, config),
        packing: Packing::new(format, number, 0),
        last: [15, 7],
        slices: (0, 1),
        returned: RETURNED,
        compare: 3,
    }
}

const ZERO: Lanes = [0; LANES];

/// Lane `n` has `f(n)`.
fn lanes(f: impl Fn(u32) -> u32) -> Lanes {
    std::array::from_fn(|lane| f(lane as u32))
}

fn run(
    rat: &Rat,
    memory: &FlatMemory,
    op: u8,
    index: [&Lanes; 3],
    values: [&Lanes; 4],
    exec: u64,
) -> Result<(), McError> {
    let access = RandomAccess {
        target: 0,
        op,
        index,
        values,
        components: 0xF,
        exec,
    };
    rat.execute(&View::new(memory), &access, &Mutex::new(()))
}

#[test]
fn a_typed_store_converts_and_stays_inside() {
    let memory = memory();
    // 8_8_8_8, UNORM
    let image = rat(Kind::Planes, 0x1A, NumberType::Unorm, 4);
    let one = [1f32.to_bits(); LANES];
    let x = lanes(|lane| lane % 32);
    let y = lanes(|lane| lane / 32);
    let z = [1; LANES];
    run(
        &image,
        &memory,
        1,
        [&x, &y, &z],
        [&one, &ZERO, &one, &one],
        !0,
    )
    .unwrap();
    for lane in 0..64u32 {
        let at = image.base + image.layout.offset(lane % 32, lane / 32, 1);
        let want = if lane % 32 < 16 {
            0xFFFF_00FF
        } else {
            0xEEEE_EEEE
        };
        assert_eq!(word(&memory, at), want, "lane {lane}");
    }
    // Two slices, from 0 on.
    let beyond = [2; LANES];
    run(&image, &memory, 1, [&ZERO, &ZERO, &beyond], [&ZERO; 4], 1).unwrap();
    assert_eq!(
        word(&memory, image.base + image.layout.offset(0, 0, 2)),
        0xEEEE_EEEE
    );
}

#[test]
fn one_dimensional_images_have_their_layer_in_z() {
    let memory = memory();
    // 32, UINT
    let image = rat(Kind::Lines, 0x0D, NumberType::Uint, 4);
    let garbage = [77; LANES];
    run(
        &image,
        &memory,
        1,
        [&[3; LANES], &garbage, &[1; LANES]],
        [&[9; LANES]; 4],
        1,
    )
    .unwrap();
    assert_eq!(word(&memory, image.base + image.layout.offset(3, 0, 1)), 9);
}

#[test]
fn atomic_operations_return_what_was_before() {
    let memory = memory();
    let buffer = rat(Kind::Buffer, 0x0D, NumberType::Uint, 1);
    memory.write(buffer.base + 8, &5u32.to_le_bytes()).unwrap();
    let two = [2; LANES];
    let slot = lanes(|lane| 100 + lane);
    // ADD_RTN by lanes 1, 2 and 40.
    let exec = 1 << 1 | 1 << 2 | 1 << 40;
    run(
        &buffer,
        &memory,
        39,
        [&two, &ZERO, &ZERO],
        [&[7; LANES], &slot, &ZERO, &ZERO],
        exec,
    )
    .unwrap();
    assert_eq!(word(&memory, buffer.base + 8), 5 + 3 * 7);
    for (lane, old) in [(1, 5), (2, 12), (40, 19)] {
        assert_eq!(
            word(&memory, RETURNED + 4 * (100 + lane)),
            old,
            "lane {lane}"
        );
    }
    assert_eq!(word(&memory, RETURNED + 4 * 103), 0xEEEE_EEEE);
    // Beyond the end: 0, and nothing changes.
    run(
        &buffer,
        &memory,
        39,
        [&[16; LANES], &ZERO, &ZERO],
        [&two, &slot, &ZERO, &ZERO],
        1,
    )
    .unwrap();
    assert_eq!(word(&memory, RETURNED + 400), 0);
    assert_eq!(word(&memory, buffer.base + 64), 0xEEEE_EEEE);
    // CMPXCHG_INT takes the value to compare with from w.
    for (compare, now) in [(4, 26), (26, 1)] {
        let values = [&[1; LANES], &ZERO, &ZERO, &[compare; LANES]];
        run(&buffer, &memory, 4, [&two, &ZERO, &ZERO], values, 1).unwrap();
        assert_eq!(word(&memory, buffer.base + 8), now);
    }
}

#[test]
fn each_operation_has_its_code() {
    let minus = -3i32 as u32;
    for (code, [old, operand, compare], new) in [
        (34, [5, 7, 0], Some(7)),
        (36, [5, 7, 5], Some(7)),
        (36, [5, 7, 6], None),
        (7, [5, 7, 0], Some(12)),
        (8, [5, 7, 0], Some(-2i32 as u32)),
        (9, [5, 7, 0], Some(2)),
        (10, [minus, 7, 0], Some(minus)),
        (11, [minus, 7, 0], Some(7)),
        (12, [minus, 7, 0], Some(7)),
        (45, [minus, 7, 0], Some(minus)),
        (14, [6, 3, 0], Some(2)),
        (15, [6, 3, 0], Some(7)),
        (16, [6, 3, 0], Some(5)),
        (18, [6, 6, 0], Some(0)),
        (19, [0, 6, 0], Some(6)),
        (32, [6, 3, 0], None),
    ] {
        assert!(is_modelled(code));
        assert_eq!(apply(code, old, operand, compare), new, "{code}");
    }
    assert!(!is_modelled(5) && !is_modelled(33) && !is_modelled(60));
}

#[test]
fn a_load_returns_the_whole_element() {
    let memory = memory();
    // 32_32_32_32, FLOAT
    let image = rat(Kind::Planes, 0x22, NumberType::Float, 1);
    let at = image.base + image.layout.offset(3, 2, 0);
    let bytes: Vec<u8> = (1..17).collect();
    memory.write(at, &bytes).unwrap();
    let index = [&[3; LANES], &[2; LANES], &ZERO];
    run(
        &image,
        &memory,
        32,
        index,
        [&ZERO, &[5; LANES], &ZERO, &ZERO],
        1,
    )
    .unwrap();
    let mut found = [0; 16];
    memory.read(RETURNED + 80, &mut found).unwrap();
    assert_eq!(found[..], bytes);
}

#[test]
fn raw_stores_write_dwords_and_faults_are_reported() {
    let memory = memory();
    let mut buffer = rat(Kind::Buffer, 0x0D, NumberType::Uint, 1);
    let index = [&[14; LANES], &ZERO, &ZERO];
    let values = [&[1; LANES], &[2; LANES], &[3; LANES], &[4; LANES]];
    run(&buffer, &memory, 2, index, values, 1).unwrap();
    let words = [14, 15, 16].map(|i| word(&memory, buffer.base + 4 * i));
    assert_eq!(words, [1, 2, 0xEEEE_EEEE], "the buffer has 16 elements");
    buffer.base = 1 << 40;
    for op in [1, 2, 7] {
        assert!(run(&buffer, &memory, op, [&ZERO; 3], values, 1).is_err());
    }
}

#[test]
fn what_an_access_writes_is_known() {
    let at = |op, components, index: u32, operand: u32| {
        // 32, UINT
        let buffer = rat(Kind::Buffer, 0x0D, NumberType::Uint, 1);
        let (index, operand) = ([index; LANES], [operand; LANES]);
        let access = RandomAccess {
            target: 0,
            op,
            index: [&index, &ZERO, &ZERO],
            values: [&ZERO, &operand, &ZERO, &ZERO],
            components,
            exec: !0,
        };
        buffer.writes(&access, 5)
    };
    assert_eq!(at(op::STORE_TYPED, 1, 3, 0), [(0x100C, 4)]);
    assert_eq!(at(op::STORE_TYPED, 1, 16, 0), []);
    // Dwords 14 to 17 of 16, without y.
    assert_eq!(at(op::STORE_RAW, 0b1101, 14, 0), [(0x1038, 4)]);
    assert_eq!(at(op::STORE_RAW, 0b1101, 13, 0), [(0x1034, 4), (0x103C, 4)]);
    assert_eq!(at(op::ADD, 1, 2, 7), [(0x1008, 4)]);
    let old = (RETURNED + 28, 4);
    assert_eq!(at(op::ADD | op::RETURNS, 1, 2, 7), [(0x1008, 4), old]);
    // A load.
    assert_eq!(at(op::NOP | op::RETURNS, 1, 2, 7), [old]);
}

#[test]
fn operations_read_their_operands() {
    assert_eq!(operands(op::STORE_TYPED, 0b0101), 0b0101);
    assert_eq!(operands(op::STORE_RAW, 0b1000), 0b1000);
    assert_eq!(operands(op::ADD, 0b1111), 0b0001);
    assert_eq!(operands(op::ADD | op::RETURNS, 0b1111), 0b0011);
    // An exchange, which is not the store of that code, and a load.
    assert_eq!(operands(op::XCHG | op::RETURNS, 0b1111), 0b0011);
    assert_eq!(operands(op::NOP | op::RETURNS, 0b1111), 0b0010);
}
