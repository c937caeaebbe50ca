// SPDX-License-Identifier: MIT
//! Exports, writes to memory, and scratch memory.

use super::{operand, Runner};
use crate::chip::gfx::lanes::{iter, Mask, LANES};
use crate::chip::gfx::shader::env::{Env, ExportKind, MemoryExport, MemoryTarget, RandomAccess};
use crate::chip::gfx::shader::isa::{cf, CfExport};

impl Runner<'_> {
    /// The lanes whose exports and memory writes count.
    pub(super) fn counting(&self) -> Mask {
        self.wave.exec & self.wave.valid & !self.wave.killed
    }

    /// Exports registers. `last`: the program ends with this instruction.
    pub(super) fn export(&mut self, export: &CfExport, last: bool) {
        let kind = match export.kind {
            0 => ExportKind::Pixel,
            1 => ExportKind::Position,
            2 => ExportKind::Parameter,
            _ => {
                self.env.unknown("export type", export.kind.into());
                return;
            }
        };
        let exec = self.counting();
        let all = exec == self.wave.valid & !self.wave.killed;
        let in_place = last && all && export.sel.iter().all(|select| *select < 4);
        for i in 0..export.burst {
            let Some(gpr) = self.gpr(export.gpr.wrapping_add(i), export.rel) else {
                break;
            };
            let index = u32::from(export.array_base) + u32::from(i);
            if !in_place || !self.env.export_in_place(kind, index, gpr, export.sel) {
                self.export_values(kind, index, gpr, export, exec);
            }
        }
    }

    /// Exports the values of one register. Not inlined, as most exports are in place.
    #[inline(never)]
    fn export_values(
        &mut self,
        kind: ExportKind,
        index: u32,
        gpr: usize,
        export: &CfExport,
        exec: Mask,
    ) {
        let value = |chan: usize| operand(&self.wave.rows, gpr, export.sel[chan]);
        let components = (0..4).fold(0, |all, chan| all | u8::from(export.sel[chan] <= 5) << chan);
        let values = [value(0), value(1), value(2), value(3)];
        self.env.export(kind, index, values, components, exec);
    }

    pub(super) fn memory(&mut self, export: &CfExport) {
        let target = match export.code {
            cf::MEM_STREAM0..=cf::MEM_STREAM3 => {
                MemoryTarget::Stream(export.code - cf::MEM_STREAM0)
            }
            cf::MEM_SCRATCH => return self.write_scratch(export),
            cf::MEM_REDUCTION => MemoryTarget::Reduction,
            cf::MEM_RING | cf::MEM_RING1 => MemoryTarget::Ring(export.stream & 3),
            cf::MEM_EXPORT => MemoryTarget::Global,
            cf::MEM_RAT => return self.random_access(export),
            _ => return,
        };
        let exec = self.counting();
        let element_size = u32::from(export.element_size) + 1;
        for i in 0..u32::from(export.burst) {
            let gpr = export.gpr.wrapping_add(i as u8);
            let Some(gpr) = self.gpr(gpr, export.rel) else {
                break;
            };
            let rows = &self.wave.rows;
            let values = [0, 1, 2, 3].map(|chan| &rows[gpr * 4 + chan]);
            self.env.memory_export(&MemoryExport {
                target,
                array_base: u32::from(export.array_base) + i * element_size,
                array_size: export.array_size.into(),
                element_size,
                index: (export.kind & 1 != 0).then(|| &rows[usize::from(export.index_gpr) * 4]),
                values,
                components: export.components,
                exec,
            });
        }
    }

    /// `MEM_RAT`: `ARRAY_BASE` holds `RAT_ID`, `RAT_INST` and `RAT_INDEX_MODE`.
    fn random_access(&mut self, export: &CfExport) {
        self.with_random_access(export, |env, access| env.random_access(access));
    }

    /// What the `MEM_RAT` instruction `export` writes for `lane`: MC addresses and bytes.
    pub(super) fn random_writes(&mut self, export: &CfExport, lane: usize) -> Vec<(u64, u64)> {
        self.with_random_access(export, |env, access| env.random_writes(access, lane))
            .unwrap_or_default()
    }

    fn with_random_access<T>(
        &mut self,
        export: &CfExport,
        f: impl FnOnce(&mut dyn Env, &RandomAccess<'_>) -> T,
    ) -> Option<T> {
        let base = u32::from(export.array_base);
        let gpr = self.gpr(export.gpr, export.rel)?;
        let target = match base >> 11 & 3 {
            mode @ (1 | 2) => (base & 0xF).saturating_add(self.wave.index[mode as usize - 1]),
            _ => base & 0xF,
        };
        let exec = self.counting();
        let rows = &self.wave.rows;
        let index = usize::from(export.index_gpr) * 4;
        let access = RandomAccess {
            target,
            op: (base >> 4 & 0x3F) as u8,
            index: [0, 1, 2].map(|chan| &rows[index + chan]),
            values: [0, 1, 2, 3].map(|chan| &rows[gpr * 4 + chan]),
            components: export.components,
            exec,
        };
        Some(f(&mut *self.env, &access))
    }

    /// The element of scratch that each lane accesses: `base`, plus the lane's
    /// index in row `index`, if given. None if an index is larger than `size`.
    pub(super) fn scratch_elements(
        &self,
        base: u32,
        size: u32,
        index: Option<usize>,
    ) -> [Option<usize>; LANES] {
        match index {
            None => [Some(base as usize); LANES],
            Some(row) => {
                self.wave.rows[row].map(|index| (index <= size).then(|| (base + index) as usize))
            }
        }
    }

    fn write_scratch(&mut self, export: &CfExport) {
        // Helper lanes write, too: they must read back their own values.
        let exec = self.wave.exec;
        let index = (export.kind & 1 != 0).then(|| usize::from(export.index_gpr) * 4);
        for i in 0..export.burst {
            let Some(gpr) = self.gpr(export.gpr.wrapping_add(i), export.rel) else {
                break;
            };
            let base = u32::from(export.array_base) + u32::from(i);
            let elements = self.scratch_elements(base, export.array_size.into(), index);
            for lane in iter(exec) {
                let Some(element) = elements[lane] else {
                    continue;
                };
                if self.wave.scratch.len() < (element + 1) * 4 {
                    self.wave.scratch.resize((element + 1) * 4, [0; LANES]);
                }
                for chan in 0..4 {
                    if export.components >> chan & 1 != 0 {
                        self.wave.scratch[element * 4 + chan][lane] =
                            self.wave.rows[gpr * 4 + chan][lane];
                    }
                }
            }
        }
    }
}
