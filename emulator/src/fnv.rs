// SPDX-License-Identifier: MIT
//! The hash by which pages, shaders and pictures are told apart.

/// FNV-1a of `bytes`, 64 bits: "The FNV Non-Cryptographic Hash Algorithm" (draft-eastlake-fnv), "FNV Basics".
/// It stands in files of captures, and is the same on every host.
pub fn fnv1a(bytes: impl IntoIterator<Item = u8>) -> u64 {
    bytes.into_iter().fold(0xCBF2_9CE4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3)
    })
}

#[cfg(test)]
mod tests {
    use super::fnv1a;

    /// Of the test vectors that its authors have published.
    #[test]
    fn hashes_are_those_published() {
        assert_eq!(fnv1a([]), 0xCBF2_9CE4_8422_2325);
        assert_eq!(fnv1a(*b"a"), 0xAF63_DC4C_8601_EC8C);
        assert_eq!(fnv1a(*b"foobar"), 0x8594_4171_F739_67E8);
    }
}
