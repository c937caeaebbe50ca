// SPDX-License-Identifier: MIT
//! Textures that fit their BOs are accepted, and those that do not are refused.

use super::*;

const DIM_1D: u32 = 0;
const DIM_2D: u32 = 1;
const DIM_3D: u32 = 2;
const CUBE: u32 = 3;
const ARRAY_1D: u32 = 4;
const ARRAY_2D: u32 = 5;
const MSAA: u32 = 6;
const ARRAY_MSAA: u32 = 7;

/// A texture of 32-bit texels; pitch and width are the same.
#[derive(Clone, Copy)]
struct Texture {
    dim: u32,
    width: u32,
    pitch: u32,
    height: u32,
    depth: u32,
    mode: u32,
    format: u32,
    split: u32,
    last_level: u32,
    last_array: u32,
    base: u32,
    mip: u32,
    bo: u32,
    mip_bo: Option<u32>,
}

/// 2D tiled in macro tiles of 64x64 texels, in the BO of 1 MiB; the mipmap is in that of 128 KiB.
const fn texture(width: u32, height: u32) -> Texture {
    Texture {
        dim: DIM_2D,
        width,
        pitch: width,
        height,
        depth: 1,
        mode: TILED,
        format: 0x1A,
        split: 3,
        last_level: 0,
        last_array: 0,
        base: 0,
        mip: 0,
        bo: 0,
        mip_bo: Some(2),
    }
}

impl Texture {
    fn words(&self) -> [u32; 8] {
        [
            self.dim | (self.pitch / 8 - 1) << 6 | (self.width - 1) << 18,
            self.height - 1 | (self.depth - 1) << 14 | self.mode << 28,
            self.base,
            self.mip,
            0,
            self.last_level | self.last_array << 17,
            self.split << 29,
            self.format | 1 << 6 | 1 << 10 | 2 << 16 | 2 << 30,
        ]
    }

    fn refused(&self) -> Option<String> {
        let mut ib = packet(op::SET_RESOURCE, &[&[0][..], &self.words()].concat());
        ib.extend(nop(self.bo));
        ib.extend(self.mip_bo.map(nop).into_iter().flatten());
        message(ib)
    }
}

#[track_caller]
fn assert_fits(texture: Texture) {
    assert_eq!(texture.refused(), None);
}

#[track_caller]
fn assert_refused(texture: Texture, why: &str) {
    let why = format!("a texture (register 0x30000) {why}");
    assert_eq!(texture.refused(), Some(why));
}

#[track_caller]
fn assert_mipmap_refused(texture: Texture, why: &str) {
    let why = format!("the mipmap of a texture (register 0x30000) {why}");
    assert_eq!(texture.refused(), Some(why));
}

#[test]
fn extents_are_checked() {
    let whole = texture(512, 512);
    assert_fits(whole);
    let large = "needs 0x120000 bytes, its BO has 0x100000";
    assert_refused(
        Texture {
            height: 513,
            ..whole
        },
        large,
    );
    assert_refused(texture(576, 512), large);
    // The pitch counts, the width does not.
    assert_fits(Texture {
        width: 576,
        ..whole
    });
    assert_refused(
        Texture {
            pitch: 576,
            ..whole
        },
        large,
    );
    let pitch = Texture {
        pitch: 504,
        ..whole
    };
    assert_refused(pitch, "has pitch 504, no multiple of 64");
    let base = |base| Texture { base, ..whole };
    assert_refused(base(0x40), "needs 0x104000 bytes, its BO has 0x100000");
    assert_refused(base(0x3F), "is at offset 0x3f00, no multiple of 0x4000");
    // The kernel shifts the offset in 32 bits.
    assert_fits(base(0x100_0000));
}

#[test]
fn layers_and_depth_are_checked() {
    let half = |dim, depth, last_array| Texture {
        dim,
        depth,
        last_array,
        ..texture(512, 256)
    };
    let large = "needs 0x180000 bytes, its BO has 0x100000";
    for dim in [DIM_1D, DIM_2D, CUBE, ARRAY_1D, ARRAY_2D] {
        assert_fits(half(dim, 8, 1));
        assert_refused(half(dim, 1, 2), large);
    }
    assert_fits(half(DIM_3D, 2, 8));
    assert_refused(half(DIM_3D, 3, 0), large);
}

#[test]
fn samples_are_checked() {
    let msaa = |dim, log_samples, height| Texture {
        dim,
        last_level: log_samples,
        height,
        mip_bo: None,
        ..texture(256, 256)
    };
    // Four samples are two slices of 512 bytes a tile.
    assert_fits(msaa(MSAA, 2, 256));
    let large = "needs 0x140000 bytes, its BO has 0x100000";
    assert_refused(msaa(MSAA, 2, 257), large);
    assert_fits(msaa(ARRAY_MSAA, 2, 256));
    let layers = Texture {
        last_array: 1,
        ..msaa(ARRAY_MSAA, 2, 256)
    };
    assert_refused(layers, "needs 0x200000 bytes, its BO has 0x100000");
    assert_refused(
        msaa(MSAA, 3, 256),
        "needs 0x200000 bytes, its BO has 0x100000",
    );
    // The mip address is FMASK's. With one sample it has to be aligned.
    let fmask = |samples| Texture {
        mip: 1,
        mip_bo: Some(1),
        ..msaa(MSAA, samples, 64)
    };
    assert_fits(fmask(1));
    assert_mipmap_refused(fmask(0), "is at offset 0x100, no multiple of 0x4000");
    let stream = |texture: Texture| {
        let mut ib = packet(op::SET_RESOURCE, &[&[0][..], &texture.words()].concat());
        ib.extend(nop(texture.bo));
        ib.extend(texture.mip_bo.map(nop).into_iter().flatten());
        relocate_gfx(&mut ib, &BOS, TURKS).map(|()| ib[5])
    };
    assert_eq!(stream(fmask(1)), Ok((BOS[1].address >> 8) as u32 + 1));
    let (first, none) = (
        Texture { mip: 0, ..fmask(1) },
        Texture {
            mip_bo: None,
            ..fmask(1)
        },
    );
    assert_eq!(stream(first), Ok((BOS[1].address >> 8) as u32));
    assert_eq!(stream(none), Err(CheckError::NoReloc(0)));
    assert_eq!(stream(Texture { mip: 0, ..none }), Ok(0));
    // Linear surfaces of samples are larger, those of 1D tiling are not.
    let mode = |mode| Texture {
        mode,
        bo: 1,
        ..msaa(MSAA, 1, 8)
    };
    for linear in [0, ALIGNED] {
        let linear = Texture {
            pitch: 128,
            ..mode(linear)
        };
        assert_refused(linear, "needs 0x2000 bytes, its BO has 0x1000");
    }
    assert_fits(Texture {
        pitch: 128,
        ..mode(TILED_1D)
    });
    let one_byte = |samples| Texture {
        pitch: 136,
        format: 1,
        ..Texture {
            last_level: samples,
            ..mode(TILED_1D)
        }
    };
    // More samples need a pitch that is less aligned.
    assert_refused(one_byte(1), "has pitch 136, no multiple of 16");
    assert_fits(one_byte(2));
    // All others have a BO of mipmaps.
    let single = Texture {
        mip_bo: None,
        ..texture(64, 64)
    };
    assert_eq!(stream(single), Err(CheckError::NoReloc(0)));
}

#[test]
fn array_modes_have_their_alignments() {
    let mode = |mode, width, height| Texture {
        mode,
        bo: 1,
        ..texture(width, height)
    };
    for linear in [0, ALIGNED] {
        assert_fits(mode(linear, 64, 16));
        let large = mode(linear, 64, 17);
        assert_refused(large, "needs 0x1100 bytes, its BO has 0x1000");
    }
    assert_fits(mode(0, 8, 16));
    assert_refused(mode(ALIGNED, 8, 16), "has pitch 8, no multiple of 64");
    assert_fits(mode(TILED_1D, 64, 16));
    let large = "needs 0x1800 bytes, its BO has 0x1000";
    assert_refused(mode(TILED_1D, 64, 17), large);
    for invalid in [3, 5, 15] {
        let why = format!("has invalid array mode {invalid}");
        assert_refused(mode(invalid, 64, 8), &why);
    }
    let split = Texture {
        split: 7,
        ..texture(64, 64)
    };
    assert_refused(split, "has invalid tile split 7");
}

#[test]
fn formats_are_checked() {
    let format = |format, width, height| Texture {
        format,
        ..texture(width, height)
    };
    for invalid in [0, 4, 0x21, 0x39, 0x3F] {
        let why = format!("has invalid format {invalid:#x}");
        assert_refused(format(invalid, 64, 64), &why);
    }
    // BC1: 4x4 texels in 8 bytes; BC6 and BC7 in 16.
    assert_fits(format(0x31, 1024, 2048));
    let large = "needs 0x120000 bytes, its BO has 0x100000";
    assert_refused(format(0x31, 1024, 2049), large);
    for bc in [0x36, 0x37] {
        // Tiles are 1024 bytes, of which the split makes two slices.
        assert_fits(format(bc, 1024, 1024));
        let large = "needs 0x140000 bytes, its BO has 0x100000";
        assert_refused(format(bc, 1024, 1025), large);
    }
    // Macro tiles of 12-byte texels have 0xC000 bytes, and the kernel takes that less one for a mask.
    let twelve = |base| Texture {
        base,
        ..format(0x30, 64, 64)
    };
    assert_fits(twelve(0x40));
    let offset = "is at offset 0xc000, no multiple of 0xc000";
    assert_refused(twelve(0xC0), offset);
    assert_fits(format(0x38, 512, 512));
    assert_refused(format(0x38, 512, 513), large);
}

#[test]
fn mipmaps_are_within_their_bos() {
    let levels = |texture, mip, mip_bo, last_level| Texture {
        mip,
        mip_bo: Some(mip_bo),
        last_level,
        ..texture
    };
    // Levels of 128x128 and 64x64 texels; that of 32x32 is smaller than a macro tile: 1D tiled.
    let whole = texture(256, 256);
    assert_fits(levels(whole, 0xC0, 2, 2));
    assert_mipmap_refused(
        levels(whole, 0xC0, 2, 3),
        "needs 0x21000 bytes, its BO has 0x20000",
    );
    assert_mipmap_refused(
        levels(whole, 0x100, 2, 2),
        "needs 0x24000 bytes, its BO has 0x20000",
    );
    assert_mipmap_refused(
        levels(whole, 0x3F, 2, 1),
        "is at offset 0x3f00, no multiple of 0x4000",
    );
    // The height alone is smaller, and the width alone.
    for (width, height) in [(256, 64), (64, 256)] {
        let narrow = levels(texture(width, height), 0x1C0, 2, 1);
        assert_fits(narrow);
        let mut two = narrow;
        two.last_level = 2;
        assert_mipmap_refused(two, "needs 0x21000 bytes, its BO has 0x20000");
    }
    let tiled_1d = |width, height| Texture {
        mode: TILED_1D,
        pitch: 128,
        ..texture(width, height)
    };
    // 8x8 texels are the least.
    assert_fits(levels(tiled_1d(16, 16), 0xE, 1, 2));
    assert_mipmap_refused(
        levels(tiled_1d(16, 16), 0xE, 1, 3),
        "needs 0x1100 bytes, its BO has 0x1000",
    );
    // Of 16 bytes, too, though they fill more than a group.
    let wide = Texture {
        format: 0x23,
        ..tiled_1d(8, 8)
    };
    assert_fits(levels(wide, 0xC, 1, 1));
    assert_mipmap_refused(
        levels(wide, 0xD, 1, 1),
        "needs 0x1100 bytes, its BO has 0x1000",
    );
    // 48x4 texels become 64x8.
    assert_fits(levels(tiled_1d(96, 8), 8, 1, 1));
    assert_mipmap_refused(
        levels(tiled_1d(96, 8), 9, 1, 1),
        "needs 0x1100 bytes, its BO has 0x1000",
    );
    // The depth is halved, layers are not.
    let depth = Texture {
        dim: DIM_3D,
        depth: 4,
        ..tiled_1d(16, 16)
    };
    assert_fits(levels(depth, 0xD, 1, 2));
    assert_mipmap_refused(
        levels(depth, 0xE, 1, 2),
        "needs 0x1100 bytes, its BO has 0x1000",
    );
    let layers = Texture {
        dim: ARRAY_2D,
        last_array: 1,
        ..tiled_1d(16, 16)
    };
    assert_fits(levels(layers, 0xC, 1, 2));
    assert_mipmap_refused(
        levels(layers, 0xD, 1, 2),
        "needs 0x1100 bytes, its BO has 0x1000",
    );
    // Blocks of BC1: 32x32 texels are 8x8 of them, and 16x16 take as much.
    let blocks = Texture {
        format: 0x31,
        ..tiled_1d(64, 64)
    };
    assert_fits(levels(blocks, 0xC, 1, 2));
    assert_mipmap_refused(
        levels(blocks, 0xD, 1, 2),
        "needs 0x1100 bytes, its BO has 0x1000",
    );
}

#[test]
fn messages_name_the_resource() {
    let words = texture(512, 576).words();
    let mut ib = packet(op::SET_RESOURCE, &[&[80][..], &[0; 8], &words].concat());
    ib[9] = 3 << 30;
    ib.extend([nop(1), nop(0), nop(0)].concat());
    let why = "a texture (register 0x30160) needs 0x120000 bytes, its BO has 0x100000";
    assert_eq!(message(ib).as_deref(), Some(why));
}
