// SPDX-License-Identifier: MIT

use super::*;

/// Marsaglia's xorshift of 64 bits, which the program that made the digests has, too.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// A block with these lowest bits.
    fn block(&mut self, lowest: u64, count: u32) -> [u8; 16] {
        let low = self.next() >> count << count | lowest;
        (u128::from(low) | u128::from(self.next()) << 64).to_le_bytes()
    }
}

/// FNV-1a over the words of the texels of 200 blocks.
fn digest(mut texels: impl FnMut() -> [[u32; 4]; 16]) -> u64 {
    (0..200).fold(0xCBF2_9CE4_8422_2325, |digest, _| {
        texels().as_flattened().iter().fold(digest, |digest, word| {
            (digest ^ u64::from(*word)).wrapping_mul(0x100_0000_01B3)
        })
    })
}

/// The codes of BC6's modes.
const CODES: [u32; 14] = [0, 1, 2, 3, 6, 7, 10, 11, 14, 15, 18, 22, 26, 30];

/// Digests of what Mesa 25.0.7 (`texcompress_bptc_tmp.h`) makes of the same blocks: BC7's modes, BC6's
/// without and with signs.
const BYTES: [u64; 8] = [
    0xFF74_2925_F2BD_1FAF,
    0x9895_8824_7F0D_C0E0,
    0xAF25_8BB3_A158_F728,
    0x735E_FCEF_4A80_90FC,
    0xBFAC_FB95_9465_3A07,
    0x384A_0E38_CFEB_A456,
    0x199A_3643_C402_9965,
    0xFCE6_24CC_D6BD_5E72,
];
const UNSIGNED: [u64; 14] = [
    0xC74E_C6FE_252C_4B25,
    0xF281_FBDC_1D06_2B25,
    0x6F25_0621_3DAD_8B25,
    0x55F2_9B8E_ABE6_8B25,
    0x6E8B_547D_02D6_EB25,
    0xC8D2_1881_3FCC_6B25,
    0xF2F6_4A43_E0FB_6B25,
    0xF141_6722_1B83_0B25,
    0x7089_A549_0E89_CB25,
    0xA0DA_5FD3_B506_4B25,
    0xAB82_F2AA_EA41_8B25,
    0x4453_5794_9C35_AB25,
    0xEFC9_EC38_90CC_2B25,
    0xC7D0_4572_2E0B_8B25,
];
const SIGNED: [u64; 14] = [
    0x68CB_3C66_B242_0B25,
    0x6E8E_EB2F_19E7_CB25,
    0xFC6F_8245_8CC0_8B25,
    0x82F2_B686_9B48_CB25,
    0x7FE2_EFF9_EAFC_0B25,
    0x7635_916D_0CFC_0B25,
    0x87F0_7C52_30A7_4B25,
    0x0278_40D2_70E4_4B25,
    0x7089_6F56_0FAB_0B25,
    0x029F_7775_3A66_8B25,
    0xD09D_4D22_88A3_4B25,
    0xE35C_96EA_E373_EB25,
    0xD007_8899_75EC_6B25,
    0x764F_F26D_ABD7_EB25,
];

#[test]
fn each_mode_gives_what_mesa_decodes() {
    let mut random = Random(88_172_645_463_325_252);
    for (mode, want) in BYTES.into_iter().enumerate() {
        let found = digest(|| {
            let block = random.block(1 << mode, mode as u32 + 1);
            bytes(Bits(u128::from_le_bytes(block))).map(|texel| texel.map(u32::from))
        });
        assert_eq!(found, want, "BC7, mode {mode}");
    }
    for (signed, wants) in [(false, UNSIGNED), (true, SIGNED)] {
        for (code, want) in CODES.into_iter().zip(wants) {
            let found = digest(|| {
                let block = random.block(code.into(), if code < 2 { 2 } else { 5 });
                let texels = decode(DataFormat::BC6, &block, signed, false).unwrap();
                texels.map(|texel| texel.map(f32::to_bits))
            });
            assert_eq!(found, want, "BC6, mode {code}, signed {signed}");
        }
    }
}

/// A block of BC7's mode 6: one subset, endpoints of 7 bits and one for each, indices of 4.
fn plain(ends: [[u8; 4]; 2], index: u128) -> [u8; 16] {
    let mut block = 1u128 << 6;
    for c in 0..4 {
        for (i, end) in ends.iter().enumerate() {
            block |= u128::from(end[c] >> 1) << (7 + 14 * c + 7 * i);
        }
    }
    block |= u128::from(ends[0][3] & 1) << 63 | u128::from(ends[1][3] & 1) << 64;
    // The index of texel 0 has three bits.
    (block | index << 65).to_le_bytes()
}

#[test]
fn a_block_of_one_subset() {
    let ends = [[254, 0, 100, 0], [0, 254, 100, 254]];
    // Texel 1 is the second endpoint, the others are the first.
    let block = plain(ends, 0xF << 3);
    let texels = decode(DataFormat::BC7, &block, false, false).unwrap();
    let want = |end: [u8; 4]| end.map(|v| f32::from(v) / 255.0);
    assert_eq!(texels[0], want(ends[0]));
    assert_eq!(texels[1], want(ends[1]));
    let linear = decode(DataFormat::BC7, &block, false, true).unwrap();
    assert!((linear[0][2] - 0.127).abs() < 1e-3, "{:?}", linear[0]);
    assert_eq!(linear[1][3], want(ends[1])[3]);
}

#[test]
fn blocks_of_no_mode_are_black() {
    let found = |format, low: u8| {
        let mut block = [0xFF; 16];
        block[0] = low;
        decode(format, &block, false, false).map(|texels| texels[5])
    };
    assert_eq!(found(DataFormat::BC7, 0), Some([0.0; 4]));
    for reserved in [0b10011, 0b10111, 0b11011, 0b11111] {
        let black = [0.0, 0.0, 0.0, 1.0];
        assert_eq!(found(DataFormat::BC6, reserved), Some(black));
    }
    assert_eq!(found(DataFormat::BC3, 1), None);
}
