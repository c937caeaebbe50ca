// SPDX-License-Identifier: MIT
//! Executes captured command streams on a new chip.

use std::io::Read;
use std::sync::{Arc, Mutex, PoisonError};

use r7xx_board::chip::bus::{Mc, RegFile};
use r7xx_board::chip::counters::Counter;
use r7xx_board::chip::cp::pm4::Draw;
use r7xx_board::chip::gfx::colour::Target;
use r7xx_board::chip::gfx::lint::Lint;
use r7xx_board::chip::gfx::probe::{History, Probe, Watch};
use r7xx_board::chip::gfx::shaders::Shaders;
use r7xx_board::chip::gfx::{Cancelled, Gfx, GfxContext, Pipeline};

use crate::capture::{hash, CaptureError, Reader, Record};
use crate::gpu::{Gpu, GpuError};
use crate::memory::{Memory, PAGE};
use crate::timeline::Timeline;

/// `PA_SC_WINDOW_SCISSOR_BR` (`r600d.h`), which Mesa sets to the size of the
/// frame buffer.
const PA_SC_WINDOW_SCISSOR_BR: u32 = 0x2_8208;

/// Options of a replay.
#[derive(Debug, Clone, Default)]
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
    /// Lists the shaders that are executed, and replaces some.
    pub shaders: Option<Arc<Shaders>>,
}

/// Observations of a replay.
#[derive(Debug, Default)]
pub struct Seen {
    /// Number of submissions.
    pub submissions: u64,
    /// Number of draws, executed or not.
    pub draws: u64,
    /// The draws that were cut short, counted from 1: those that would hang hardware.
    pub dropped: Vec<u64>,
    /// The first colour target of the last executed draw that had one, with
    /// width and height in pixels.
    pub target: Option<(Target, (u32, u32))>,
    /// Description of draw [`Options::describe`].
    pub description: Option<String>,
    /// What [`Options::watch`] recorded.
    pub history: Option<History>,
    /// What [`Options::lint`] found, a line each.
    pub findings: Vec<String>,
    /// Waves of pixel shaders that several polygons, or tiles of one, shared.
    pub gathered: u64,
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
        if !executed {
            let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
            seen.dropped.push(number);
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
    if let Some(shaders) = &options.shaders {
        pipeline = pipeline.with_shaders(shaders.clone());
    }
    // Results are not compared if draws were left out.
    let whole = options.last_draw.is_none();
    let observer = Observer {
        pipeline,
        options,
        seen: seen.clone(),
        timeline: timeline.cloned(),
    };
    let gpu = Gpu::start(reader.family, memory.clone(), Box::new(observer), trace)?;
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
    let gathered = gpu.chip().counters().get(Counter::GatheredWaves);
    drop(gpu);
    let mut seen = std::mem::take(&mut *seen.lock().unwrap_or_else(PoisonError::into_inner));
    (seen.submissions, seen.gathered) = (submission, gathered);
    seen.history = probe.map(|probe| probe.history());
    Ok(Outcome { seen, memory })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::capture::{Until, Which, Writer};
    use crate::gpu::Ring;
    use crate::memory::{punch, RESERVED};
    use r7xx_board::chip::Family;
    use std::fs::{self, File};

    /// The submission of these tests: the CP copies 64 bytes.
    fn copy(from: u64, to: u64) -> Vec<u32> {
        vec![0xC004_4100, from as u32, 1 << 31, to as u32, 0, 64]
    }

    /// Counts each draw as executed, or, of 13 indices, as cut short.
    struct Unlucky;

    impl Gfx for Unlucky {
        fn draw(&mut self, context: &GfxContext<'_>, draw: &Draw) -> Result<bool, Cancelled> {
            let dropped = draw.indices == 13;
            context.control.count(Counter::DroppedDraws, dropped.into());
            Ok(!dropped)
        }
    }

    /// A program that is captured.
    struct Program {
        path: std::path::PathBuf,
        memory: Arc<Memory>,
        gpu: Gpu,
        writer: Writer,
    }

    impl Program {
        fn new(name: &str, which: Which) -> Self {
            let path = std::env::temp_dir().join(format!("{name}.{}", std::process::id()));
            let memory = Arc::new(Memory::of_program(true).unwrap());
            let gpu = Gpu::start(Family::Rv730, memory.clone(), Box::new(Unlucky), None).unwrap();
            let file = File::create(&path).unwrap();
            let writer = Writer::new(file, Family::Rv730, memory.clone(), which).unwrap();
            Self {
                path,
                memory,
                gpu,
                writer,
            }
        }

        /// Submits a stream; `meanwhile` is what the program does before it is executed.
        fn submit(&mut self, ib: &[u32], meanwhile: impl FnOnce(&Memory)) {
            self.writer.before(&self.gpu, Ring::GRAPHICS, ib);
            meanwhile(&self.memory);
            self.gpu.submit(Ring::GRAPHICS, ib).unwrap();
            self.writer.after(&self.gpu, None);
        }

        /// What the file has by now.
        fn bytes(&self) -> Vec<u8> {
            fs::read(&self.path).unwrap()
        }
    }

    impl Drop for Program {
        fn drop(&mut self) {
            let _ = fs::remove_file(&self.path);
        }
    }

    /// A capture of two copies: the first copies a page that the CPU wrote, the
    /// second copies the first one's result. Between them page 3 is filled with
    /// zeroes, and pages 4 and 5 become a hole, like the memory of a closed BO.
    fn capture(name: &str, range: std::ops::RangeInclusive<u64>) -> Vec<u8> {
        let mut program = Program::new(name, Which::Range(range));
        let memory = program.memory.clone();
        memory.write(RESERVED, &[7; 64]).unwrap();
        for page in 3..6 {
            memory.write(RESERVED + page * PAGE, &[9; 64]).unwrap();
        }
        program.gpu.chip().mmio_write(0x2_8414, 0x1234_5678);
        program.submit(&copy(RESERVED, RESERVED + PAGE), |_| ());
        memory.write(RESERVED + 3 * PAGE, &[0; 64]).unwrap();
        let hole = RESERVED + 4 * PAGE..RESERVED + 6 * PAGE;
        punch(memory.file().unwrap(), hole).unwrap();
        program.submit(&copy(RESERVED + PAGE, RESERVED + 2 * PAGE), |_| ());
        program.bytes()
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

    /// As with Mesa's thread: the program writes while its submission waits. What the submission reads is
    /// what was there when it was made, and nothing of what the program writes is lost.
    #[test]
    fn what_is_written_meanwhile_is_in_the_next_submission() {
        let mut program = Program::new("meanwhile", Which::Range(1..=2));
        let memory = program.memory.clone();
        let page = |n: u64| RESERVED + n * PAGE;
        memory.write(page(0), &[1; 64]).unwrap();
        program.submit(&copy(page(0), page(1)), |memory| {
            // The source, the rest of the target's page, and the next submission's source.
            memory.put(page(0), &[2; 64]).unwrap();
            memory.put(page(1) + 64, &[3; 64]).unwrap();
            memory.put(page(2), &[4; 64]).unwrap();
        });
        let mut found = [0; 2];
        memory.read(page(1) + 63, &mut found).unwrap();
        assert_eq!(
            found,
            [1, 3],
            "the copy of the old source, and the program's bytes"
        );
        program.submit(&copy(page(2), page(3)), |_| ());
        program.submit(&copy(page(1) + 32, page(4)), |memory| {
            memory.put(page(2), &[5; 64]).unwrap();
        });
        let outcome = run(&program.bytes()).unwrap();
        assert_eq!(outcome.seen.different, []);
        assert_eq!((outcome.seen.submissions, outcome.seen.pages), (2, 2));
        let at = |address| byte(&outcome.memory, address);
        let seen = [page(0), page(1), page(1) + 64, page(3)].map(at);
        assert_eq!(seen, [2, 1, 3, 4]);
    }

    /// A draw of the R700 with that many indices.
    fn draw(indices: u32) -> Vec<u32> {
        vec![0xC001_2D00, indices, 2]
    }

    #[test]
    fn the_last_submissions_before_a_hang_are_captured() {
        let until = Until::Hang;
        let mut program = Program::new("hang", Which::Last { count: 3, until });
        let memory = program.memory.clone();
        let page = |n: u64| RESERVED + n * PAGE;
        let mut source = 0;
        let mut step = |program: &mut Program, ib: Option<Vec<u32>>| {
            source += 1;
            memory.write(page(0), &[source; 64]).unwrap();
            let ib = ib.unwrap_or_else(|| copy(page(0), page(source.into())));
            program.submit(&ib, |memory| memory.put(page(20) + 8, &[source]).unwrap());
        };
        for _ in 0..4 {
            step(&mut program, None);
        }
        // Of the kept ones the first has copied to a page that had something before.
        program.memory.write(page(5), &[99; 64]).unwrap();
        program.memory.write(page(30), &[50; 64]).unwrap();
        step(&mut program, None);
        program.memory.write(page(30), &[51; 64]).unwrap();
        step(&mut program, Some(draw(3)));
        assert!(program.bytes().is_empty(), "nothing has happened");
        program.memory.write(page(30), &[52; 64]).unwrap();
        step(&mut program, Some([draw(3), draw(13)].concat()));
        let bytes = program.bytes();
        // The first event only.
        step(&mut program, Some(draw(13)));
        assert_eq!(program.bytes(), bytes);
        let reader = &mut Reader::new(&bytes[..]).unwrap();
        let records: Vec<Record> = std::iter::from_fn(|| reader.record().unwrap()).collect();
        let contents = |wanted: u64| -> Vec<u8> {
            let pages = records.iter().filter_map(|record| match record {
                Record::Page(address, contents) if *address == wanted => Some(contents[0]),
                _ => None,
            });
            pages.collect()
        };
        // Memory ahead of the first, what was written before it, and what the copy has overwritten.
        assert_eq!(contents(page(5)), [99]);
        assert_eq!(contents(page(30)), [50, 51, 52]);
        let outcome = run(&bytes).unwrap();
        assert_eq!((outcome.seen.submissions, outcome.seen.draws), (3, 3));
        assert_eq!(outcome.seen.different, []);
        let at = |n| byte(&outcome.memory, page(n));
        assert_eq!([0, 1, 4, 5, 6].map(at), [7, 1, 4, 5, 0]);
        assert_eq!(
            byte(&outcome.memory, page(20) + 8),
            6,
            "what came before the last one"
        );
    }

    #[test]
    fn the_submission_that_holds_a_draw_is_captured() {
        // The first and the last of the third submission.
        for number in [4, 6] {
            let until = Until::Draw(number);
            let mut program = Program::new("draw", Which::Last { count: 1, until });
            for draws in [2, 1] {
                program.submit(&draw(3).repeat(draws), |_| ());
            }
            assert!(program.bytes().is_empty());
            program.submit(&draw(6).repeat(3), |_| ());
            let bytes = program.bytes();
            program.submit(&draw(3), |_| ());
            assert_eq!(program.bytes(), bytes);
            let outcome = run(&bytes).unwrap();
            assert_eq!((outcome.seen.submissions, outcome.seen.draws), (1, 3));
        }
    }

    #[test]
    fn a_refused_stream_ends_a_capture_until_a_hang() {
        for (until, written) in [(Until::Hang, true), (Until::Draw(9), false)] {
            let mut program = Program::new("refused", Which::Last { count: 2, until });
            program.submit(&copy(RESERVED, RESERVED + PAGE), |_| ());
            program.writer.refused("refused");
            assert_eq!(!program.bytes().is_empty(), written);
        }
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
