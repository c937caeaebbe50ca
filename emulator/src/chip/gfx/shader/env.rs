// SPDX-License-Identifier: MIT
//! What a running shader reaches outside its registers.

use super::isa::{TexInstruction, VtxInstruction};
use crate::chip::bus::McError;
use crate::chip::gfx::lanes::{Lanes, Mask};

/// Where an export goes.
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
    /// The ES-GS or GS-VS ring, by the stage that runs (`MEM_RING`).
    Ring,
    /// The reduction buffer (`MEM_REDUCTION`).
    Reduction,
    /// Global memory at a byte address from the index GPR (`MEM_EXPORT`).
    Global,
}

/// One memory export: up to four dwords a lane. Scratch never gets here,
/// the wave holds it.
#[derive(Debug, Clone, Copy)]
pub struct MemoryExport<'a> {
    /// The memory.
    pub target: MemoryTarget,
    /// `ARRAY_BASE` in dwords, counted up through a burst.
    pub array_base: u32,
    /// `ARRAY_SIZE`: the bound of an indexed export, in elements less one.
    pub array_size: u32,
    /// Element size in dwords, 1 to 4.
    pub element_size: u32,
    /// The index of each lane for the `_IND` kinds, in elements.
    pub index: Option<&'a Lanes>,
    /// The components.
    pub values: [&'a Lanes; 4],
    /// Components to write, bit 0 is x.
    pub components: u8,
    /// Lanes that write.
    pub exec: Mask,
}

/// The surroundings of a running wave.
///
/// Indices come from the guest's shader and are as wild as it: an
/// implementation checks each.
pub trait Env {
    /// Reads vec4s `first..first + out.len()` of constant buffer `bank` (0 to
    /// 15) of the stage; what lies outside the buffer is zero.
    fn constants(&mut self, bank: u32, first: u32, out: &mut [[u32; 4]]);

    /// A number that changes whenever [`Env::constants`] may give other values.
    /// With 0 nothing is remembered from wave to wave.
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

    /// Reads memory for vertex fetches.
    fn read(&mut self, address: u64, out: &mut [u8]) -> Result<(), McError>;

    /// Runs a texture instruction. `src` is after the source swizzle; the
    /// result, in `out`, is before the destination's. False if it is known to
    /// have no denormals.
    fn texture(
        &mut self,
        op: &TexInstruction,
        src: &[&Lanes; 4],
        exec: Mask,
        out: &mut [Lanes; 4],
    ) -> bool;

    /// A fetch clause ends: gradients set in it are forgotten.
    fn end_of_fetch_clause(&mut self) {}

    /// Takes an export. `values` is after the swizzle; components outside
    /// `components` keep what was exported before.
    fn export(
        &mut self,
        kind: ExportKind,
        index: u32,
        values: [&Lanes; 4],
        components: u8,
        exec: Mask,
    );

    /// A program ends with an export of four components of R`gpr`, which `select` names, for all
    /// lanes that count. True if they are read from there; else [`Env::export`] is called.
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

    /// A geometry shader's `EMIT_VERTEX` for the lanes of `exec`; returns
    /// nothing, the shader carries its own ring offsets.
    fn emit_vertex(&mut self, _stream: u32, _exec: Mask) {}

    /// A geometry shader's `CUT_VERTEX`.
    fn cut_vertex(&mut self, _stream: u32, _exec: Mask) {}

    /// The fetch shader that `CALL_FS` runs.
    fn fetch_shader(&mut self) -> Option<std::sync::Arc<super::Program>> {
        None
    }

    /// Integer loop constant `index` (`SQ_LOOP_CONST`, 0 to 31 of the stage).
    /// The default is what Mesa programs: 4095 turns from 0 in steps of 1.
    fn loop_constant(&mut self, _index: u32) -> u32 {
        0x0100_0fff
    }

    /// Boolean constants `32 * word..` of the stage (`SQ_BOOL_CONST`).
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

    /// An instruction that is not known; `what` names it.
    fn unknown(&mut self, _what: &'static str, _word: u32) {}

    /// Called before each vertex instruction, for traces and statistics.
    fn vertex_fetch(&mut self, _op: &VtxInstruction, _exec: Mask) {}
}
