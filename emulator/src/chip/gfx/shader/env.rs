// SPDX-License-Identifier: MIT
//! Interface of a running shader to everything outside its registers.

use super::isa::{TexInstruction, VtxInstruction};
use super::tape::Texel;
use crate::chip::bus::McError;
use crate::chip::gfx::front::BufferView;
use crate::chip::gfx::lanes::{Lanes, Mask, QUADS};

/// Destination of an export.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ExportKind {
    /// Colours 0-7; 61 is depth in x, stencil in y, sample mask in z.
    Pixel,
    /// 60 is the position, 61-63 are the misc and clip distance vectors.
    Position,
    /// Parameters 0-31 for the pixel shader.
    Parameter,
}

/// The memory that a memory export writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum MemoryTarget {
    /// Stream-out buffer 0-3 (`MEM_STREAMn`).
    Stream(u8),
    /// The ES-GS ring of an export shader, or the part of the GS-VS ring that has the vertices of
    /// this stream of a geometry shader (`MEM_RING`, `MEM_RING1` to `3`).
    Ring(u8),
    /// The reduction buffer (`MEM_REDUCTION`).
    Reduction,
    /// Global memory at a byte address from the index GPR (`MEM_EXPORT`).
    Global,
}

/// One memory export: up to four dwords a lane. Writes to scratch are not
/// passed on, as the wave holds scratch itself.
#[derive(Debug, Clone, Copy)]
pub struct MemoryExport<'a> {
    /// The memory.
    pub target: MemoryTarget,
    /// `ARRAY_BASE` in dwords, plus an element for each export of a burst.
    pub array_base: u32,
    /// `ARRAY_SIZE`: the number of elements minus 1, which bounds the index.
    pub array_size: u32,
    /// Element size in dwords, 1 to 4.
    pub element_size: u32,
    /// The index of each lane for the `_IND` kinds, in elements.
    pub index: Option<&'a Lanes>,
    /// The four components.
    pub values: [&'a Lanes; 4],
    /// Components to write, bit 0 is x.
    pub components: u8,
    /// Lanes that write.
    pub exec: Mask,
}

/// An access of a target of random access (`MEM_RAT`).
#[derive(Debug, Clone, Copy)]
pub struct RandomAccess<'a> {
    /// `RAT_ID`.
    pub target: u32,
    /// `RAT_INST`.
    pub op: u8,
    /// x, y and z of each lane, in elements; the first of a raw store in dwords.
    pub index: [&'a Lanes; 3],
    /// The components: of a store the element, of an atomic operation the operand, the address of
    /// its result in elements, and (in w) the value to compare with.
    pub values: [&'a Lanes; 4],
    /// Components to write, bit 0 is x.
    pub components: u8,
    /// Lanes that take part.
    pub exec: Mask,
}

/// The environment of a running wave.
///
/// Indices come from the guest's shader, which is not trusted: implementations
/// check each.
pub trait Env {
    /// Reads vec4s `first..first + out.len()` of constant buffer `bank` (0 to
    /// 15) of the stage. Vec4s outside the buffer are zero.
    fn constants(&mut self, bank: u32, first: u32, out: &mut [[u32; 4]]);

    /// A number that changes whenever [`Env::constants`] may give other values.
    /// 0: each wave loads its constants again.
    fn constants_epoch(&mut self) -> u64 {
        0
    }

    /// Vec4 `index` of the stage's constant file (selects 256 to 511).
    fn constant_file(&mut self, _index: u32) -> [u32; 4] {
        [0; 4]
    }

    /// The seven words of fetch resource `index`, counted from the stage's
    /// first (PS 0, VS 160, GS 336; a fetch shader counts from VS's).
    fn resource(&mut self, index: u32) -> [u32; 7];

    /// What the descriptor of buffer `index` adds to fetches, counted as for
    /// [`Env::resource`]. None on R7xx.
    fn buffer_view(&mut self, _index: u32) -> Option<BufferView> {
        None
    }

    /// First resource of a fetch shader, counted as for [`Env::resource`]. On R7xx its
    /// instructions name it.
    fn fetch_resources(&mut self) -> u32 {
        0
    }

    /// Component `chan` of input `index` of a pixel shader that interpolates its inputs itself:
    /// its value at vertex 0, and how much those at vertices 1 and 2 differ from it. None if quads
    /// are of several polygons: [`Env::quad_parameters`] has those of each.
    fn parameter(&mut self, _index: u32, _chan: u8) -> Option<[f32; 3]> {
        Some([0.0; 3])
    }

    /// See [`Env::parameter`].
    fn quad_parameters(&mut self, _index: u32, _chan: u8) -> [[f32; 3]; QUADS] {
        [[0.0; 3]; QUADS]
    }

    /// Reads memory for vertex fetches.
    fn read(&mut self, address: u64, out: &mut [u8]) -> Result<(), McError>;

    /// As [`Env::read`], of what other instructions of the same draw have written.
    fn read_uncached(&mut self, address: u64, out: &mut [u8]) -> Result<(), McError> {
        self.read(address, out)
    }

    /// Runs a texture instruction. `src` has the operands after the source
    /// swizzle; `out` gets the result before the destination swizzle. Returns
    /// false if the result is known to have no denormals.
    fn texture(
        &mut self,
        op: &TexInstruction,
        src: &[&Lanes; 4],
        exec: Mask,
        out: &mut [Lanes; 4],
    ) -> bool;

    /// The texels that [`Env::texture`] would read for `lane`, for a [`tape`](super::tape).
    fn texels(&mut self, _op: &TexInstruction, _src: &[&Lanes; 4], _lane: usize) -> Vec<Texel> {
        Vec::new()
    }

    /// A fetch clause ends: gradients that it has set are discarded.
    fn end_of_fetch_clause(&mut self) {}

    /// Takes an export. `values` has the components after the swizzle; those
    /// that are not in `components` keep their earlier export.
    fn export(
        &mut self,
        kind: ExportKind,
        index: u32,
        values: [&Lanes; 4],
        components: u8,
        exec: Mask,
    );

    /// A program ends with an export of four components of R`gpr`, selected by `select`, for all
    /// lanes that count. True if the implementation will read them from the register; if false,
    /// [`Env::export`] is called.
    fn export_in_place(
        &mut self,
        _kind: ExportKind,
        _index: u32,
        _gpr: usize,
        _select: [u8; 4],
    ) -> bool {
        false
    }

    /// Takes a memory export.
    fn memory_export(&mut self, export: &MemoryExport<'_>);

    /// Executes an access of a target of random access. Lanes take turns.
    fn random_access(&mut self, _access: &RandomAccess<'_>) {}

    /// What [`Env::random_access`] would write for `lane`, for a [`tape`](super::tape): MC addresses
    /// and bytes.
    fn random_writes(&mut self, _access: &RandomAccess<'_>, _lane: usize) -> Vec<(u64, u64)> {
        Vec::new()
    }

    /// Changes an append counter by [`share::apply`](super::share::apply) with the operands `a` and
    /// `b`, once for each lane of `exec`; `out` gets the values before.
    fn counter(
        &mut self,
        _op: u8,
        _counter: u32,
        _a: &Lanes,
        _b: &Lanes,
        _exec: Mask,
        _out: &mut Lanes,
    ) {
    }

    /// Changes a dword of the global data share's memory in the same way, once for each lane of
    /// `exec`. The operands are a byte address, `a` and `b`; `out` gets the values before.
    fn global_share(&mut self, _op: u8, _operands: [&Lanes; 3], _exec: Mask, _out: &mut Lanes) {}

    /// A hull shader's `TF_WRITE`: for each lane of `exec` a tessellation factor, and its address in
    /// bytes.
    fn tessellation_factor(&mut self, _address: &Lanes, _factor: &Lanes, _exec: Mask) {}

    /// The local data share of the wave's group, in dwords.
    fn local_share(&mut self) -> &mut [u32] {
        &mut []
    }

    /// `HW_WAVE_ID`: no two waves that run at the same time have the same, 0 to 255.
    fn wave_id(&mut self) -> u32 {
        0
    }

    /// A geometry shader's `EMIT_VERTEX` for the lanes of `exec`. The shader
    /// computes its ring offsets itself.
    fn emit_vertex(&mut self, _stream: u32, _exec: Mask) {}

    /// A geometry shader's `CUT_VERTEX`.
    fn cut_vertex(&mut self, _stream: u32, _exec: Mask) {}

    /// The fetch shader that `CALL_FS` runs.
    fn fetch_shader(&mut self) -> Option<std::sync::Arc<super::Program>> {
        None
    }

    /// Integer loop constant `index` (`SQ_LOOP_CONST`, 0 to 31 of the stage).
    /// The default is Mesa's value: 4095 iterations, from 0 in steps of 1.
    fn loop_constant(&mut self, _index: u32) -> u32 {
        0x0100_0fff
    }

    /// The 32 boolean constants of the stage (`SQ_BOOL_CONST`), a bit each.
    fn bool_constants(&mut self) -> u32 {
        0
    }

    /// `SQ_VTX_BASE_VTX_LOC` and `SQ_VTX_START_INST_LOC`.
    fn vertex_offsets(&mut self) -> [u32; 2] {
        [0; 2]
    }

    /// A semantic fetch's destination GPR (`SQ_VTX_SEMANTIC_n`), if any.
    fn semantic(&mut self, _id: u32) -> Option<u32> {
        None
    }

    /// True once the job is cancelled. Called every few thousand
    /// instructions.
    fn cancelled(&mut self) -> bool {
        false
    }

    /// Reports an unknown instruction or operand; `what` names its kind.
    fn unknown(&mut self, _what: &'static str, _word: u32) {}

    /// Called before each vertex instruction, for traces and statistics.
    fn vertex_fetch(&mut self, _op: &VtxInstruction, _exec: Mask) {}
}
