// SPDX-License-Identifier: MIT
//! Addresses of the board's tiling compared with those of AMD's address library
//! for R600-class chips. `data/tiling.csv` has numbers that the library (as
//! published with decaf-emu) computed for random geometries, half of them those
//! of RV710 and RV770. No other part of the library is here.

use r7xx_board::chip::tiling::{ArrayMode, Layout, TilingConfig};

/// One line of the table.
struct Row {
    layout: Layout,
    at: [u32; 4],
    offset: u64,
}

fn number(field: &str) -> u64 {
    match field.strip_prefix("0x") {
        Some(hex) => u64::from_str_radix(hex, 16).unwrap(),
        None => field.parse().unwrap(),
    }
}

fn rows() -> Vec<Row> {
    include_str!("data/tiling.csv")
        .lines()
        .filter(|line| !line.starts_with('#'))
        .map(|line| {
            let f: Vec<u64> = line.split(',').map(number).collect();
            let n = |i: usize| f[i] as u32;
            let mut layout = Layout::new(
                ArrayMode::from_field(n(1)),
                n(2),
                n(5),
                n(5) * n(6),
                TilingConfig::from_register(n(0)),
            );
            layout.samples = n(3);
            layout.depth_order = n(4) == 1;
            Row {
                layout,
                at: [n(7), n(8), n(9), n(10)],
                offset: f[11],
            }
        })
        .collect()
}

#[test]
fn addresses_are_those_of_the_address_library() {
    for (line, row) in rows().iter().enumerate() {
        let [x, y, z, sample] = row.at;
        let got = row.layout.sample_offset(x, y, z, sample);
        assert_eq!(
            got, row.offset,
            "row {line}: {:?} at {:?}",
            row.layout, row.at
        );
    }
}

/// The comparison proves something only if the table has the special cases.
#[test]
fn table_has_the_special_cases() {
    let rows = rows();
    let count = |test: &dyn Fn(&Row) -> bool| rows.iter().filter(|row| test(row)).count();
    let tiled_2d = |row: &Row| row.layout.mode == ArrayMode::Tiled2dThin1;
    let split = |row: &Row| row.layout.tile_bytes() > 1 << row.layout.config.log2_split;
    assert!(count(&|row| tiled_2d(row) && row.at[2] > 0) > 200, "slices");
    assert!(
        count(&|row| tiled_2d(row) && row.at[3] > 0) > 200,
        "samples"
    );
    assert!(count(&|row| row.layout.depth_order) > 200, "depth order");
    assert!(
        count(&|row| split(row) && row.at[3] > 0) > 100,
        "split samples"
    );
    assert!(count(&|row| !tiled_2d(row)) > 200, "1D");
    let swap = |row: &Row| row.layout.config.optimal_bank_swap;
    assert!(count(&|row| swap(row) && row.layout.config.log2_pipes == 3) > 20);
    for log2_bpe in 0..5 {
        assert!(count(&|row| row.layout.bytes_per_element == 1 << log2_bpe) > 100);
    }
}
