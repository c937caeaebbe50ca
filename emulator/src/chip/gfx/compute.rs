// SPDX-License-Identifier: MIT
//! Compute shaders: groups of threads, in waves that meet at barriers and share memory.
//!
//! Registers: `SPI_COMPUTE_NUM_THREAD_X` to `Z` (threads of a group), `VGT_COMPUTE_START_X` to `Z`
//! (first group), `SQ_LDS_ALLOC` (dwords of the local data share), the program of the local shader.
//! A thread starts with its place in the group in R0.xyz and the group's place in R1.xyz (Mesa's
//! `evergreen_emit_dispatch()`, `sfn_shader_cs.cpp`).
//!
//! Groups run one after the other. The waves of a group run in turn, each to its next barrier or its
//! end; a wave that has ended is not waited for.

use super::batch::Failed;
use super::lanes::{first, LANES};
use super::memory::View;
use super::shader::{Position, Program, Stop, Wave};
use super::stage::DrawShared;
use super::state::{bits, Shadow, Stage};
use super::vertex::Core;
use crate::chip::bus::RegFile;
use crate::chip::regs::evergreen::gfx as eg;

/// Most threads of a group: those that GL and OpenCL drivers offer.
pub(super) const MOST_THREADS: u64 = 1024;
/// Most dwords of the local data share of a group.
pub(super) const MOST_SHARE: u32 = 8192;

/// What a dispatch runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Dispatch {
    /// Number of groups.
    groups: [u32; 3],
    /// Place of the first group.
    start: [u32; 3],
    /// Threads of a group.
    threads: [u32; 3],
    /// Dwords that they share.
    share: usize,
}

impl Dispatch {
    /// Decodes the registers.
    pub(super) fn decode(s: &Shadow, regs: &dyn RegFile, groups: [u32; 3]) -> Self {
        let threads = [
            eg::SPI_COMPUTE_NUM_THREAD_X,
            eg::SPI_COMPUTE_NUM_THREAD_Y,
            eg::SPI_COMPUTE_NUM_THREAD_Z,
        ];
        let start = [
            eg::VGT_COMPUTE_START_X,
            eg::VGT_COMPUTE_START_Y,
            eg::VGT_COMPUTE_START_Z,
        ];
        Self {
            groups,
            start: start.map(|register| regs.load(register)),
            threads: threads.map(|register| s.raw(register)),
            share: bits(s.raw(eg::SQ_LDS_ALLOC), 0, 14).min(MOST_SHARE) as usize,
        }
    }

    /// Threads of a group, if the chip has as many.
    fn size(&self) -> Result<usize, Failed> {
        let size = self
            .threads
            .iter()
            .try_fold(1u64, |all, n| all.checked_mul(u64::from(*n)));
        match size {
            Some(size) if size <= MOST_THREADS => Ok(size as usize),
            _ => Err(Failed::Dropped("a group has too many threads")),
        }
    }

    /// The place of thread `n` in its group.
    fn thread(&self, n: usize) -> [u32; 3] {
        let [width, height, _] = self.threads;
        let n = n as u32;
        [n % width, n / width % height, n / width / height]
    }
}

/// A wave of a group, and where it waits.
#[derive(Default)]
pub(super) struct Waiting {
    pub(super) wave: Wave,
    pub(super) at: Position,
}

/// Runs all groups. Returns the number of threads.
pub(super) fn run(
    dispatch: &Dispatch,
    shared: &DrawShared<'_>,
    view: &View<'_>,
    core: &mut Core,
    program: &Program,
    threads: &mut u64,
) -> Result<(), Failed> {
    let size = dispatch.size()?;
    // Without this the loops below would count rows and layers of no group.
    if size == 0 || dispatch.groups.contains(&0) {
        return Ok(());
    }
    let mut waves: Vec<Waiting> = Vec::new();
    waves.resize_with(size.div_ceil(LANES), Waiting::default);
    let [width, height, depth] = dispatch.groups;
    for z in 0..depth {
        for y in 0..height {
            for x in 0..width {
                shared.context.control.check()?;
                let [a, b, c] = dispatch.start;
                let place = [x, y, z].into_iter().zip([a, b, c]);
                let place: Vec<u32> = place.map(|(n, first)| first.wrapping_add(n)).collect();
                let limit = shared.limits.wave_instructions;
                for (n, waiting) in waves.iter_mut().enumerate() {
                    begin(dispatch, waiting, n, size, &place, limit);
                }
                core.share.clear();
                core.share.resize(dispatch.share, 0);
                group(shared, view, core, Stage::Compute, program, &mut waves)?;
                *threads += size as u64;
                if core.executed > shared.limits.instructions {
                    return Err(Failed::Dropped("too many instructions"));
                }
            }
        }
    }
    Ok(())
}

/// Fills the registers of wave `n` of the group at `place`.
fn begin(
    dispatch: &Dispatch,
    waiting: &mut Waiting,
    n: usize,
    size: usize,
    place: &[u32],
    limit: u64,
) {
    let lanes = (size - n * LANES).min(LANES);
    let mask = first(lanes);
    let wave = &mut waiting.wave;
    wave.begin(mask, mask, limit);
    for lane in 0..lanes {
        let thread = dispatch.thread(n * LANES + lane);
        for (chan, (thread, group)) in thread.into_iter().zip(place).enumerate() {
            wave.gpr_mut(0, chan)[lane] = thread;
            wave.gpr_mut(1, chan)[lane] = *group;
        }
    }
    waiting.at = Position::default();
}

/// Runs the waves of a group of `stage` until all have ended.
pub(super) fn group(
    shared: &DrawShared<'_>,
    view: &View<'_>,
    core: &mut Core,
    stage: Stage,
    program: &Program,
    waves: &mut [Waiting],
) -> Result<(), Stop> {
    let mut looked_at = Vec::new();
    if let Some(lint) = shared.lint {
        let wanted = |waiting: &mut Waiting| lint.records(program, stage, &mut waiting.wave);
        looked_at.extend(waves.iter_mut().map(wanted));
    }
    while waves.iter().any(|waiting| !waiting.at.done) {
        for waiting in waves.iter_mut().filter(|waiting| !waiting.at.done) {
            // A part may be shorter than what a wave executes without a look at it.
            shared.check()?;
            std::mem::swap(&mut core.wave, &mut waiting.wave);
            let result = core.run_part(shared, view, stage, program, &mut waiting.at);
            std::mem::swap(&mut core.wave, &mut waiting.wave);
            result?;
        }
    }
    if let Some(lint) = shared.lint {
        for (waiting, _) in waves
            .iter_mut()
            .zip(looked_at)
            .filter(|(_, wanted)| *wanted)
        {
            lint.ran(program, stage, &mut waiting.wave);
        }
    }
    core.exports.clear();
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_count_x_first_and_groups_have_a_largest_size() {
        let mut dispatch = Dispatch {
            groups: [1; 3],
            start: [0; 3],
            threads: [3, 2, 4],
            share: 0,
        };
        assert_eq!(dispatch.size().unwrap(), 24);
        assert_eq!(dispatch.thread(0), [0, 0, 0]);
        assert_eq!(dispatch.thread(4), [1, 1, 0]);
        assert_eq!(dispatch.thread(23), [2, 1, 3]);
        dispatch.threads = [1025, 1, 1];
        assert!(dispatch.size().is_err());
        dispatch.threads = [u32::MAX; 3];
        assert!(dispatch.size().is_err());
        dispatch.threads = [5, 0, 1];
        assert_eq!(dispatch.size().unwrap(), 0);
    }
}
