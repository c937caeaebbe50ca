// SPDX-License-Identifier: MIT
//! Vertex fetch: buffer elements to four shader values.
//!
//! Resource words: `SQ_VTX_CONSTANT_WORD0` to `WORD6` in Mesa's `r600d.h`.
//! Elements outside a buffer, and those of a resource that is not a buffer,
//! read as 0 without an access to the memory controller. The size is rounded up
//! to a dword: Mesa fetches three bytes or shorts as four, and a real RV770
//! reads the last vertex of a buffer that ends with the third (piglit's
//! `gl-2.0-vertexattribpointer-size-3`).

use super::format::{unorm, DataFormat, ElementFormat, Endian, Kind, NumFormat, Sign};
use super::lanes::{iter, Lanes, Mask, LANES};
use super::shader::isa::VtxInstruction;
use super::shader::Env;
use crate::chip::regs::fields::words::r700::{
    sq_vtx_constant_word2 as word2, sq_vtx_constant_word6,
};
use crate::chip::regs::fields::words::{evergreen, VALID_BUFFER};

/// `FETCH_TYPE`: the index counts vertices.
const VERTEX_DATA: u8 = 0;
/// `FETCH_TYPE`: the index counts instances.
const INSTANCE_DATA: u8 = 1;

/// Most bytes that one read fetches for the lanes of a wave.
const SPAN: u64 = 16 << 10;

/// A buffer resource (`SQ_VTX_CONSTANT_WORDn`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BufferResource {
    /// MC address of the first byte.
    pub base: u64,
    /// Size in bytes.
    pub size: u64,
    /// Bytes from one element to the next, 0 to 2047.
    pub stride: u64,
    /// The format, for fetches with `USE_CONST_FIELDS`.
    pub format: ElementFormat,
    /// `UNCACHED`: what shaders write in the same draw is seen. Only on R800.
    pub uncached: bool,
}

impl BufferResource {
    /// Decodes the seven words; none if the resource is not a valid buffer.
    pub fn decode(words: &[u32; 7]) -> Option<Self> {
        if sq_vtx_constant_word6::TYPE.of(words[6]) != VALID_BUFFER {
            return None;
        }
        Some(Self {
            base: u64::from(words[0]) | u64::from(word2::BASE_ADDRESS_HI.of(words[2])) << 32,
            size: u64::from(words[1]) + 1,
            stride: u64::from(word2::STRIDE.of(words[2])),
            format: ElementFormat::buffer(words[2]),
            uncached: evergreen::sq_vtx_constant_word3::UNCACHED.is_set(words[3]),
        })
    }
}

/// Where the element of a vertex whose index is `index` begins, in bytes from the start of the
/// buffer; below 2^32 * 2047 + 2^16. `offsets` are `SQ_VTX_BASE_VTX_LOC` and
/// `SQ_VTX_START_INST_LOC`.
#[inline(always)]
pub fn place(op: &VtxInstruction, resource: &BufferResource, offsets: [u32; 2], index: u32) -> u64 {
    let stride = if op.const_buf_no_stride {
        0
    } else {
        resource.stride
    };
    let first = match op.fetch_type {
        VERTEX_DATA => offsets[0],
        INSTANCE_DATA => offsets[1],
        _ => 0,
    };
    u64::from(index.wrapping_add(first)) * stride + u64::from(op.offset)
}

/// The format of the elements that a vertex instruction fetches.
pub fn format(op: &VtxInstruction, resource: &BufferResource) -> ElementFormat {
    match op.use_const_fields {
        true => resource.format,
        false => ElementFormat::vertex(
            op.data_format.into(),
            op.num_format.into(),
            op.signed.into(),
            op.srf_mode.into(),
            op.endian_swap.into(),
        ),
    }
}

/// Runs a vertex instruction for the lanes of `exec`, whose indices are in
/// `index`. Returns the four values before `DST_SEL` is applied, and whether the
/// format is an integer one: `SEL_1` is then an integer, too. The caller keeps
/// `buffer` from call to call to save allocations. Buffers count from resource `first`.
pub fn fetch(
    env: &mut dyn Env,
    op: &VtxInstruction,
    first: u32,
    index: &Lanes,
    exec: Mask,
    buffer: &mut Vec<u8>,
) -> ([Lanes; 4], bool) {
    let mut out = [[0; LANES]; 4];
    let words = env.resource(first + u32::from(op.buffer));
    let Some(resource) = BufferResource::decode(&words) else {
        return (out, false);
    };
    let format = format(op, &resource);
    let bytes = format.bytes() as u64;
    let integer = format.is_integer();
    if bytes == 0 || exec == 0 {
        return (out, integer);
    }
    let stride = if op.const_buf_no_stride {
        0
    } else {
        resource.stride
    };
    let offsets = env.vertex_offsets();
    let end = resource.size.next_multiple_of(4);
    // Offset of each lane's element in the buffer.
    let mut at = [0u64; LANES];
    let mut inside: Mask = 0;
    let (mut low, mut high) = (u64::MAX, 0);
    for lane in iter(exec) {
        let offset = place(op, &resource, offsets, index[lane]);
        if offset + bytes <= end {
            at[lane] = offset;
            inside |= 1 << lane;
            low = low.min(offset);
            high = high.max(offset + bytes);
        }
    }
    if inside == 0 {
        return (out, integer);
    }
    let mut read = |address: u64, out: &mut [u8]| match resource.uncached {
        true => env.read_uncached(address, out).is_ok(),
        false => env.read(address, out).is_ok(),
    };
    let (dwords, bytes_only) = (dwords_of(&format), is_bytes(&format));
    let fourth = format.data.layout().count == 4;
    let mut element = [0u8; 16];
    let size = bytes as usize;
    let span = high - low;
    let mut whole = false;
    if span <= SPAN && span <= (stride + bytes) * LANES as u64 * 2 {
        buffer.resize(span as usize, 0);
        whole = resource
            .base
            .checked_add(low)
            .is_some_and(|address| read(address, buffer));
    }
    for lane in iter(inside) {
        let source: &[u8] = if whole {
            let from = (at[lane] - low) as usize;
            &buffer[from..from + size]
        } else {
            let address = resource.base.saturating_add(at[lane]);
            if !read(address, &mut element[..size]) {
                // The environment has reported the fault.
                continue;
            }
            &element[..size]
        };
        if dwords != 0 {
            for (component, word) in source.chunks_exact(4).enumerate() {
                out[component][lane] = u32::from_le_bytes([word[0], word[1], word[2], word[3]]);
            }
        } else if bytes_only {
            for (row, byte) in out.iter_mut().zip(source) {
                row[lane] = unorm((*byte).into(), 8).to_bits();
            }
        } else {
            for (row, value) in out.iter_mut().zip(format.decode(source)) {
                row[lane] = value;
            }
        }
        // Mesa's image loads select w of formats without it, and a real Turks returns 1 (piglit's
        // `arb_shader_image_load_store-semantics`).
        if !fourth {
            out[3][lane] = if integer { 1 } else { 1f32.to_bits() };
        }
    }
    (out, integer)
}

/// Whether elements are four bytes that stand for 0 to 1: colours.
fn is_bytes(format: &ElementFormat) -> bool {
    format.data == DataFormat::F8_8_8_8
        && format.num == NumFormat::Norm
        && format.sign == [Sign::Unsigned; 4]
        && format.endian == Endian::None
        && !format.degamma
}

/// Number of components of a format that needs no conversion: its elements are
/// float or integer dwords in the chip's byte order. 0 for other formats.
fn dwords_of(format: &ElementFormat) -> u8 {
    let layout = format.data.layout();
    let whole = layout.components[..usize::from(layout.count)]
        .iter()
        .enumerate()
        .all(|(i, c)| c.bits == 32 && usize::from(c.word) == i);
    let plain = match layout.kind {
        Kind::Float => format.data != DataFormat::X24_8_32_FLOAT,
        Kind::Fixed => format.is_integer(),
        _ => false,
    };
    if whole && plain && format.endian == Endian::None && layout.bytes == layout.count * 4 {
        layout.count
    } else {
        0
    }
}
