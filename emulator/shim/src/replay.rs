// SPDX-License-Identifier: MIT
//! Executes captured command streams on a new chip.

use std::io::Read;
use std::sync::{Arc, Mutex, PoisonError};

use r7xx_board::chip::bus::{Mc, RegFile};
use r7xx_board::chip::cp::pm4::Draw;
use r7xx_board::chip::gfx::colour::Target;
use r7xx_board::chip::gfx::lint::Lint;
use r7xx_board::chip::gfx::probe::{History, Probe, Watch};
use r7xx_board::chip::gfx::{Cancelled, Gfx, GfxContext, Pipeline};

use crate::bo::{Memory, PAGE};
use crate::capture::{hash, CaptureError, Reader, Record};
use crate::gpu::{Gpu, GpuError};
use crate::timeline::Timeline;

/// `PA_SC_WINDOW_SCISSOR_BR` (`r600d.h`), which Mesa sets to the size of the
/// frame buffer.
const PA_SC_WINDOW_SCISSOR_BR: u32 = 0x2_8208;

/// Options of a replay.
#[derive(Debug, Clone, Copy, Default)]
pub struct Options {
    /// Threads of the 3D engine, at least one.
    pub threads: usize,
    /// The last draw to execute, counted from 1; `None` executes all.
    pub last_draw: Option<u64>,
    /// The draw to describe, counted from 1.
    pub describe: Option<u64>,
    /// The pixel or vertex to record. The 3D engine then has one thread.
    pub watch: Option<Watch>,
    /// Collect the mistakes of the driver that [`Lint`] finds.
    pub lint: bool,
}

/// Observations of a replay.
#[derive(Debug, Default)]
pub struct Seen {
    /// Number of submissions.
    pub submissions: u64,
    /// Number of draws, executed or not.
    pub draws: u64,
    /// The first colour target of the last executed draw that had one, with
    /// width and height in pixels.
    pub target: Option<(Target, (u32, u32))>,
    /// Description of draw [`Options::describe`].
    pub description: Option<String>,
    /// What [`Options::watch`] recorded.
    pub history: Option<History>,
    /// What [`Options::lint`] found, a line each.
    pub findings: Vec<String>,
    /// Number of pages that the submissions of the capture changed.
    pub pages: u64,
    /// The changed pages that differ from the capture's: submission and MC address.
    pub different: Vec<(u64, u64)>,
}

/// Why a replay ended early.
#[derive(Debug)]
pub enum ReplayError {
    /// The capture cannot be read.
    Capture(CaptureError),
    /// The chip did not come up, or hangs.
    Gpu(GpuError),
}

impl std::fmt::Display for ReplayError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Capture(e) => write!(f, "{e}"),
            Self::Gpu(e) => write!(f, "{e:?}"),
        }
    }
}

impl From<CaptureError> for ReplayError {
    fn from(e: CaptureError) -> Self {
        Self::Capture(e)
    }
}

impl From<GpuError> for ReplayError {
    fn from(e: GpuError) -> Self {
        Self::Gpu(e)
    }
}

/// A wrapper of the 3D engine that records the draws in `seen` and leaves out those after
/// [`Options::last_draw`].
struct Observer {
    pipeline: Pipeline,
    options: Options,
    seen: Arc<Mutex<Seen>>,
    timeline: Option<Timeline>,
}

impl Gfx for Observer {
    fn draw(&mut self, context: &GfxContext<'_>, draw: &Draw) -> Result<bool, Cancelled> {
        let number = {
            let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
            seen.draws += 1;
            if self.options.describe == Some(seen.draws) {
                seen.description = Some(self.pipeline.describe(context, draw));
            }
            seen.draws
        };
        if self.options.last_draw.is_some_and(|last| number > last) {
            return Ok(false);
        }
        let statistics = self.pipeline.statistics();
        let span = (self.timeline.as_ref())
            .map(|timeline| timeline.draw_begins(number, draw.indices, &statistics));
        let executed = self.pipeline.draw(context, draw)?;
        if let (Some(timeline), Some(span)) = (&self.timeline, span) {
            timeline.draw_ends(span, executed, &self.pipeline.statistics());
        }
        let targets = self.pipeline.targets(context);
        if let Some((_, _, target)) = targets.written().next() {
            let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
            seen.target = Some((*target, size(target, context.regs)));
        }
        Ok(executed)
    }

    fn event(&mut self, context: &GfxContext<'_>, event: u8) {
        let timeline = self.timeline.as_ref();
        let span = timeline.map(|timeline| (timeline, timeline.event_begins(event)));
        self.pipeline.event(context, event);
        if let Some((timeline, span)) = span {
            timeline.ends(span);
        }
    }

    fn flush(&mut self, context: &GfxContext<'_>, coher_cntl: u32) {
        let timeline = self.timeline.as_ref();
        let span = timeline.map(|timeline| (timeline, timeline.flush_begins(coher_cntl)));
        self.pipeline.flush(context, coher_cntl);
        if let Some((timeline, span)) = span {
            timeline.ends(span);
        }
    }

    fn inner(&self) -> Option<&dyn Gfx> {
        Some(&self.pipeline)
    }

    fn inner_mut(&mut self) -> Option<&mut dyn Gfx> {
        Some(&mut self.pipeline)
    }
}

/// Width and height of a target in pixels: those of the window scissor, within
/// the target's memory.
fn size(target: &Target, regs: &dyn RegFile) -> (u32, u32) {
    let layout = &target.surface.layout;
    let scissor = regs.load(PA_SC_WINDOW_SCISSOR_BR);
    let height = layout.slice_elements / layout.pitch.max(1);
    (
        layout.pitch.min(scissor & 0x7FFF),
        height.min(scissor >> 16 & 0x7FFF),
    )
}

/// Result of a replay.
pub struct Outcome {
    /// Observations.
    pub seen: Seen,
    /// All memory, at MC addresses.
    pub memory: Arc<Memory>,
}

/// Executes a capture.
///
/// # Errors
/// [`ReplayError`] if the capture cannot be read to its end, or a submission
/// does not end.
pub fn replay<R: Read>(
    mut reader: Reader<R>,
    options: Options,
    trace: Option<Box<dyn std::io::Write + Send>>,
) -> Result<Outcome, ReplayError> {
    execute(&mut reader, options, trace, None)
}

/// Executes a capture as [`replay`] does, and records its timeline.
///
/// # Errors
/// As [`replay`].
pub fn replay_with_timeline<R: Read>(
    mut reader: Reader<R>,
    options: Options,
    timeline: &Timeline,
) -> Result<Outcome, ReplayError> {
    let trace = Some(Box::new(timeline.clone()) as Box<_>);
    execute(&mut reader, options, trace, Some(timeline))
}

fn execute<R: Read>(
    reader: &mut Reader<R>,
    options: Options,
    trace: Option<Box<dyn std::io::Write + Send>>,
    timeline: Option<&Timeline>,
) -> Result<Outcome, ReplayError> {
    let memory = Arc::new(Memory::new().map_err(GpuError::Memory)?);
    let seen = Arc::new(Mutex::new(Seen::default()));
    let probe = options.watch.map(|watch| Arc::new(Probe::new(watch)));
    let mut pipeline = match &probe {
        Some(probe) => Pipeline::new(1).with_probe(probe.clone()),
        None => Pipeline::new(options.threads),
    };
    if options.lint {
        let seen = seen.clone();
        let report = move |line: &str| {
            let mut seen = seen.lock().unwrap_or_else(PoisonError::into_inner);
            seen.findings.push(line.to_string());
        };
        pipeline = pipeline.with_lint(Lint::new(Box::new(report)));
    }
    let observer = Observer {
        pipeline,
        options,
        seen: seen.clone(),
        timeline: timeline.cloned(),
    };
    let gpu = Gpu::start(reader.family, memory.clone(), Box::new(observer), trace)?;
    // Results are not compared if draws were left out.
    let whole = options.last_draw.is_none();
    let mut submission = 0;
    while let Some(record) = reader.record()? {
        match record {
            Record::Register(offset, value) => gpu.chip().mmio_write(offset, value),
            Record::Page(address, page) => {
                memory.write(address, &page[..]).map_err(GpuError::Mc)?;
            }
            Record::Zero(address) => {
                let zeroes = [0; PAGE as usize];
                memory.write(address, &zeroes).map_err(GpuError::Mc)?;
            }
            Record::Submission(ring, ib) => {
                submission += 1;
                if let Some(timeline) = timeline {
                    timeline.submission_begins(submission, ring.dma, ib.len());
                }
                gpu.submit(ring, &ib)?;
                if let Some(timeline) = timeline {
                    timeline.submission_ends();
                }
            }
            Record::Result(address, expected) => {
                let mut page = [0; PAGE as usize];
                memory.read(address, &mut page).map_err(GpuError::Mc)?;
                let mut seen = seen.lock().unwrap_or_else(PoisonError::into_inner);
                seen.pages += 1;
                if whole && hash(&page) != expected {
                    seen.different.push((submission, address));
                }
            }
        }
    }
    drop(gpu);
    let mut seen = std::mem::take(&mut *seen.lock().unwrap_or_else(PoisonError::into_inner));
    seen.submissions = submission;
    seen.history = probe.map(|probe| probe.history());
    Ok(Outcome { seen, memory })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bo::RESERVED;
    use crate::capture::Writer;
    use crate::gpu::Ring;
    use r7xx_board::chip::gfx::NullGfx;
    use r7xx_board::chip::Family;
    use rustix::fs::{fallocate, FallocateFlags};
    use std::fs::{self, File};

    /// The submission of these tests: the CP copies 64 bytes.
    fn copy(from: u64, to: u64) -> Vec<u32> {
        vec![0xC004_4100, from as u32, 1 << 31, to as u32, 0, 64]
    }

    /// A capture of two copies: the first copies a page that the CPU wrote, the
    /// second copies the first one's result. Between them page 3 is filled with
    /// zeroes, and pages 4 and 5 become a hole, like the memory of a closed BO.
    fn capture(name: &str, range: std::ops::RangeInclusive<u64>) -> Vec<u8> {
        let path = std::env::temp_dir().join(format!("{name}.{}", std::process::id()));
        let memory = Arc::new(Memory::new().unwrap());
        let gfx = Box::<NullGfx>::default();
        let gpu = Gpu::start(Family::Rv730, memory.clone(), gfx, None).unwrap();
        let file = File::create(&path).unwrap();
        let mut writer = Writer::new(file, Family::Rv730, memory.clone(), range).unwrap();
        let mut submit = |ib: &[u32]| {
            writer.before(&gpu, Ring::GRAPHICS, ib);
            gpu.submit(Ring::GRAPHICS, ib).unwrap();
            writer.after();
        };
        memory.write(RESERVED, &[7; 64]).unwrap();
        for page in 3..6 {
            memory.write(RESERVED + page * PAGE, &[9; 64]).unwrap();
        }
        gpu.chip().mmio_write(0x2_8414, 0x1234_5678);
        submit(&copy(RESERVED, RESERVED + PAGE));
        memory.write(RESERVED + 3 * PAGE, &[0; 64]).unwrap();
        let flags = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
        fallocate(memory.file().unwrap(), flags, RESERVED + 4 * PAGE, 2 * PAGE).unwrap();
        submit(&copy(RESERVED + PAGE, RESERVED + 2 * PAGE));
        let bytes = fs::read(&path).unwrap();
        fs::remove_file(&path).unwrap();
        bytes
    }

    fn run(bytes: &[u8]) -> Result<Outcome, ReplayError> {
        let options = Options {
            threads: 1,
            ..Options::default()
        };
        replay(Reader::new(bytes)?, options, None)
    }

    fn byte(memory: &Memory, address: u64) -> u8 {
        let mut b = [0];
        memory.read(address, &mut b).unwrap();
        b[0]
    }

    #[test]
    fn replay_executes_the_streams_on_the_same_memory() {
        let bytes = capture("whole", 1..=u64::MAX);
        let outcome = run(&bytes).unwrap();
        let at = |page| byte(&outcome.memory, RESERVED + page * PAGE);
        assert_eq!([0, 1, 2, 3, 4, 5].map(at), [7, 7, 7, 0, 0, 0]);
        assert_eq!(outcome.seen.submissions, 2);
        assert_eq!(outcome.seen.pages, 2);
        assert_eq!(outcome.seen.different, []);
        // Pages that the GPU wrote are not in the file: the replay has to write them.
        let reader = &mut Reader::new(&bytes[..]).unwrap();
        let records: Vec<Record> = std::iter::from_fn(|| reader.record().unwrap()).collect();
        let count = |f: fn(&Record) -> bool| records.iter().filter(|r| f(r)).count();
        assert_eq!(count(|r| matches!(r, Record::Page(..))), 4);
        assert_eq!(count(|r| matches!(r, Record::Zero(_))), 3);
        assert!(records.contains(&Record::Register(0x2_8414, 0x1234_5678)));
    }

    #[test]
    fn capture_of_a_later_submission_has_what_it_needs() {
        let outcome = run(&capture("later", 2..=2)).unwrap();
        assert_eq!(byte(&outcome.memory, RESERVED + 2 * PAGE), 7);
        assert_eq!(outcome.seen.submissions, 1);
        assert_eq!(outcome.seen.different, []);
    }

    #[test]
    fn another_result_is_found() {
        let mut bytes = capture("other", 1..=1);
        let page = bytes.windows(64).position(|w| w == [7; 64]).unwrap();
        bytes[page + 5] = 8;
        let outcome = run(&bytes).unwrap();
        assert_eq!(outcome.seen.different, [(1, RESERVED + PAGE)]);
    }

    #[test]
    fn damaged_captures_are_errors() {
        let bytes = capture("damaged", 1..=1);
        for end in 0..bytes.len() {
            // Cut in the head or in a record; cut at a record's end, it is a valid capture.
            match run_head(&bytes[..end]) {
                Ok(()) | Err(CaptureError::Magic | CaptureError::Io(_)) => {}
                Err(e) => panic!("{end}: {e}"),
            }
        }
        let head = &bytes[..14];
        let with = |tail: &[u8]| [head, tail].concat();
        let corrupt = [
            with(&[9]),
            with(&[4, 7, 0, 0, 0, 0]),
            with(&[4, 0, 255, 255, 255, 255]),
            with(&[3, 1, 0, 0, 0, 0, 0, 0, 0]),
            with(&[3, 0, 0, 0, 0, 0, 0, 0, 1]),
            with(&[1, 0, 0, 0, 0, 0, 0, 0, 0]),
        ];
        for bytes in corrupt {
            let result = run_head(&bytes);
            assert!(
                matches!(result, Err(CaptureError::Corrupt(_))),
                "{result:?}"
            );
        }
        let mut other = bytes.clone();
        other[10] = b'x';
        assert!(matches!(run_head(&other), Err(CaptureError::Chip(_))));
    }

    /// Reads all records without executing them.
    fn run_head(bytes: &[u8]) -> Result<(), CaptureError> {
        let mut reader = Reader::new(bytes)?;
        while reader.record()?.is_some() {}
        Ok(())
    }
}
