// SPDX-License-Identifier: MIT
//! The captured frames of `tests/captures`.

use std::io::Read;

use flate2::read::GzDecoder;

/// Chip and scene, and the compressed capture.
macro_rules! frames {
    ($($name:literal),* $(,)?) => {
        &[$((
            $name,
            include_bytes!(concat!("../../../tests/captures/", $name, ".r7xx.gz")),
        )),*]
    };
}
pub const FRAMES: &[(&str, &[u8])] = frames![
    "rv670-wires",
    "rv770-text",
    "rv770-samples",
    "rv770-geometry",
    "turks-compressed",
    "turks-samples",
    "cayman-gears",
    "cayman-phong",
];

/// The capture of a frame.
pub fn unpacked(frame: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    GzDecoder::new(frame).read_to_end(&mut bytes).unwrap();
    bytes
}
