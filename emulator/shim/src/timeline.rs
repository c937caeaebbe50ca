// SPDX-License-Identifier: MIT
//! A frame's timeline in the JSON of Chrome's trace events, which Perfetto and `chrome://tracing`
//! show: submissions, packets, draws, waits, and flushes of caches.
//!
//! Times are those of this computer while it executes the frame, not the chip's: they tell the order
//! and what the model spends its time with. Packets come from the chip's trace: a packet lasts until
//! the next one of its level, so that an indirect buffer contains its packets.
//!
//! r600 writes no names of GL debug groups into its streams: it has no `emit_string_marker()` (Mesa
//! 25.0). Its numbered trace points (`R600_TRACE`, Evergreen and later: a NOP with 0xCAFE in its
//! upper half) are shown as such.

use std::io::Write;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use r7xx_board::chip::gfx::{GfxStatistics, PipelineCounter};
use serde_json::{json, Value};

/// The caches that a `SURFACE_SYNC` names, by bits of `CP_COHER_CNTL` (`r600d.h`).
const CACHES: [(u32, &str); 5] = [
    (23, "texture"),
    (24, "vertex"),
    (25, "colour"),
    (26, "depth"),
    (27, "shader"),
];

/// `VGT_EVENT_TYPE` of `r600d.h` that flush or wait.
const EVENTS: [(u8, &str); 7] = [
    (0x0F, "VS_PARTIAL_FLUSH"),
    (0x10, "PS_PARTIAL_FLUSH"),
    (0x14, "CACHE_FLUSH_AND_INV_EVENT_TS"),
    (0x16, "CACHE_FLUSH_AND_INV_EVENT"),
    (0x1F, "SO_VGTSTREAMOUT_FLUSH"),
    (0x24, "VGT_FLUSH"),
    (0x28, "BOTTOM_OF_PIPE_TS"),
];

/// Packets that wait for something.
const WAITS: [&str; 2] = ["WAIT_REG_MEM", "MEM_SEMAPHORE"];

/// Threads of the trace: the engines.
const GRAPHICS: u32 = 1;
const DMA: u32 = 2;

/// A part of the timeline.
#[derive(Debug, Clone)]
struct Span {
    name: String,
    category: &'static str,
    engine: u32,
    /// Nanoseconds since the start. Without an end it is open.
    begin: u64,
    end: Option<u64>,
    args: Value,
}

#[derive(Debug)]
struct State {
    start: Instant,
    spans: Vec<Span>,
    /// Open packets of the graphics ring and its indirect buffers: level, and number of the span.
    packets: Vec<(u32, usize)>,
    /// The open submission, and its engine.
    submission: Option<(usize, u32)>,
    /// Counters before the open draw.
    before: GfxStatistics,
    /// A line of the chip's trace that is not complete.
    line: Vec<u8>,
}

/// Records a timeline. Clones record the same one.
#[derive(Debug, Clone)]
pub struct Timeline(Arc<Mutex<State>>);

impl Default for Timeline {
    fn default() -> Self {
        Self(Arc::new(Mutex::new(State {
            start: Instant::now(),
            spans: Vec::new(),
            packets: Vec::new(),
            submission: None,
            before: GfxStatistics::default(),
            line: Vec::new(),
        })))
    }
}

impl Timeline {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Submission `number` (from 1) of `dwords` dwords begins on the graphics or the DMA ring.
    pub fn submission_begins(&self, number: u64, on_dma: bool, dwords: usize) {
        let state = &mut *self.state();
        let engine = if on_dma { DMA } else { GRAPHICS };
        let name = format!("submission {number}");
        let span = state.open(name, "submission", engine, json!({ "dwords": dwords }));
        state.submission = Some((span, engine));
    }

    /// It ends.
    pub fn submission_ends(&self) {
        let state = &mut *self.state();
        state.close_packets(0);
        if let Some((span, _)) = state.submission.take() {
            state.close(span);
        }
    }

    /// Draw `number` (from 1) of `indices` indices begins.
    pub fn draw_begins(&self, number: u64, indices: u32, statistics: &GfxStatistics) -> usize {
        let state = &mut *self.state();
        state.before = statistics.clone();
        let args = json!({ "draw": number, "indices": indices });
        state.open(format!("draw {number}"), "draw", GRAPHICS, args)
    }

    /// Draw `span` ends.
    pub fn draw_ends(&self, span: usize, executed: bool, statistics: &GfxStatistics) {
        let state = &mut *self.state();
        let before = std::mem::take(&mut state.before).pipeline;
        let count = |counter: PipelineCounter| {
            let n = counter as usize;
            statistics.pipeline[n].wrapping_sub(before[n])
        };
        if let Some(args) = state.spans[span].args.as_object_mut() {
            args.insert("executed".into(), executed.into());
            for (name, counter) in [
                ("vertices shaded", PipelineCounter::VsInvocations),
                ("primitives", PipelineCounter::InputPrimitives),
                ("primitives drawn", PipelineCounter::ClippedPrimitives),
                ("pixels shaded", PipelineCounter::PsInvocations),
            ] {
                args.insert(name.into(), count(counter).into());
            }
        }
        state.close(span);
    }

    /// Caches are written back or dropped: `CP_COHER_CNTL`. Returns the span.
    pub fn flush_begins(&self, coher_cntl: u32) -> usize {
        let named = CACHES.iter().filter(|(bit, _)| coher_cntl >> bit & 1 != 0);
        let names: Vec<&str> = named.map(|(_, name)| *name).collect();
        let name = match names.is_empty() {
            true => "flush of no cache".into(),
            false => format!("flush {}", names.join(", ")),
        };
        let args = json!({ "CP_COHER_CNTL": format!("{coher_cntl:#010x}") });
        self.state().open(name, "cache", GRAPHICS, args)
    }

    /// An event passes the pipeline. Returns the span.
    pub fn event_begins(&self, event: u8) -> usize {
        let known = EVENTS.iter().find(|(code, _)| *code == event);
        let (name, category) = match known {
            Some((_, name)) => ((*name).to_string(), "flush"),
            None => (format!("event {event:#x}"), "event"),
        };
        self.state().open(name, category, GRAPHICS, json!({}))
    }

    /// What began with `span` ends.
    pub fn ends(&self, span: usize) {
        self.state().close(span);
    }

    /// The timeline as JSON. What is open ends now.
    pub fn json(&self) -> Value {
        let state = &mut *self.state();
        let now = state.now();
        let micros = |nanos: u64| nanos as f64 / 1000.0;
        let event = |span: &Span| {
            json!({
                "name": span.name, "cat": span.category, "ph": "X", "pid": 1, "tid": span.engine,
                "ts": micros(span.begin),
                "dur": micros(span.end.unwrap_or(now) - span.begin),
                "args": span.args,
            })
        };
        let name = |kind: &str, tid: u32, name: &str| json!({ "name": kind, "ph": "M", "pid": 1, "tid": tid, "args": { "name": name } });
        let mut events = vec![
            name("process_name", 0, "r7xx"),
            name("thread_name", GRAPHICS, "graphics"),
            name("thread_name", DMA, "DMA"),
        ];
        // Chrome takes the first of spans with equal beginnings as the outer one.
        events.extend(state.spans.iter().map(event));
        json!({
            "traceEvents": events,
            "displayTimeUnit": "ns",
            "otherData": { "clock": "of the computer that executes the frame, not of the chip" },
        })
    }
}

impl State {
    fn now(&self) -> u64 {
        self.start.elapsed().as_nanos() as u64
    }

    fn open(&mut self, name: String, category: &'static str, engine: u32, args: Value) -> usize {
        let begin = self.now();
        self.spans.push(Span {
            name,
            category,
            engine,
            begin,
            end: None,
            args,
        });
        self.spans.len() - 1
    }

    fn close(&mut self, span: usize) {
        let now = self.now();
        if let Some(span) = self.spans.get_mut(span) {
            span.end.get_or_insert(now);
        }
    }

    /// Ends the open packets of `level` and above.
    fn close_packets(&mut self, level: u32) {
        while let Some((_, span)) = self
            .packets
            .last()
            .filter(|(open, _)| *open >= level)
            .copied()
        {
            self.packets.pop();
            self.close(span);
        }
    }

    /// A line of the chip's trace: time, block, then for the CP the packet's position.
    fn trace(&mut self, line: &str) {
        let mut words = line.splitn(4, ' ');
        let (Some(_), Some(block), Some(at), Some(text)) =
            (words.next(), words.next(), words.next(), words.next())
        else {
            return;
        };
        if block != "cp" || !matches!(self.submission, Some((_, GRAPHICS))) {
            return;
        }
        // "ring+0x2" or "ib1:0x100000+0x3".
        let level = match at.strip_prefix("ib") {
            None => 0,
            Some(rest) => rest
                .split(':')
                .next()
                .and_then(|n| n.parse().ok())
                .unwrap_or(1),
        };
        self.close_packets(level);
        let name = text.split(['(', ' ']).next().unwrap_or(text);
        let category = if WAITS.contains(&name) {
            "wait"
        } else {
            "packet"
        };
        let name = match trace_point(name, text) {
            Some(number) => format!("trace point {number}"),
            None => name.to_string(),
        };
        let args = json!({ "at": at, "packet": text });
        let span = self.open(name, category, GRAPHICS, args);
        self.packets.push((level, span));
    }
}

/// The number of r600's trace point, if the packet is one.
fn trace_point(name: &str, text: &str) -> Option<u32> {
    let body = text.split_once('[')?.1.split([',', ']']).next()?;
    let word = u32::from_str_radix(body.trim(), 16).ok()?;
    (name == "NOP" && word >> 16 == 0xCAFE).then_some(word & 0xFFFF)
}

/// The sink of the chip's trace.
impl Write for Timeline {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let state = &mut *self.state();
        for part in bytes.split_inclusive(|b| *b == b'\n') {
            state.line.extend_from_slice(part);
            if part.ends_with(b"\n") {
                let line = std::mem::take(&mut state.line);
                state.trace(String::from_utf8_lossy(&line).trim_end());
            }
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Names with begin and end, of one engine.
    fn spans(json: &Value, engine: u64) -> Vec<(String, f64, f64)> {
        let events = json["traceEvents"].as_array().unwrap().iter();
        let own = events.filter(|e| e["ph"] == "X" && e["tid"] == engine);
        own.map(|e| {
            let begin = e["ts"].as_f64().unwrap();
            let name = e["name"].as_str().unwrap().to_string();
            (name, begin, begin + e["dur"].as_f64().unwrap())
        })
        .collect()
    }

    /// Names, each below the innermost span that contains it: `a/b` is b in a. Panics if two
    /// spans overlap and none contains the other.
    fn tree(json: &Value, engine: u64) -> Vec<String> {
        // A tenth of a nanosecond, for the rounding of microseconds.
        const ERROR: f64 = 1e-4;
        let mut open: Vec<(String, f64)> = Vec::new();
        let mut last = 0.0;
        let mut paths = Vec::new();
        for (name, begin, end) in spans(json, engine) {
            assert!(
                begin + ERROR >= last,
                "{name} begins before what precedes it"
            );
            last = begin;
            open.retain(|(_, outer)| *outer > begin + ERROR);
            for (outer, outer_end) in &open {
                assert!(end <= outer_end + ERROR, "{name} outlasts {outer}");
            }
            let above: Vec<&str> = open.iter().map(|(name, _)| name.as_str()).collect();
            paths.push([&above[..], &[name.as_str()]].concat().join("/"));
            open.push((name, end));
        }
        paths
    }

    fn pause() {
        std::thread::sleep(std::time::Duration::from_micros(50));
    }

    fn line(timeline: &mut Timeline, line: &str) {
        pause();
        writeln!(timeline, "{line}").unwrap();
        pause();
    }

    #[test]
    fn packets_draws_and_flushes_are_nested_in_their_order() {
        let mut t = Timeline::default();
        let statistics = GfxStatistics::default();
        line(&mut t, "0.1 cp ring+0x0 NOP(0x10) n=1 [0]");
        t.submission_begins(1, false, 12);
        line(
            &mut t,
            "0.1 cp ring+0x0 INDIRECT_BUFFER(0x32) n=3 [0, 0, c]",
        );
        line(&mut t, "0.1 mmio read 0x8010 = 0x0");
        line(&mut t, "0.1 cp ib1:0x100+0x0 NOP(0x10) n=1 [cafe0007]");
        line(
            &mut t,
            "0.1 cp ib1:0x100+0x2 DRAW_INDEX_AUTO(0x2d) n=2 [3, 2]",
        );
        let draw = t.draw_begins(1, 3, &statistics);
        pause();
        let mut after = statistics.clone();
        after.pipeline[PipelineCounter::PsInvocations as usize] = 64;
        t.draw_ends(draw, true, &after);
        line(&mut t, "0.1 cp ib1:0x100+0x5 WAIT_REG_MEM(0x3c) n=6 [13]");
        line(
            &mut t,
            "0.1 cp ring+0x4 SURFACE_SYNC(0x43) n=4 [9800000, ffffffff, 0, a]",
        );
        let flush = t.flush_begins(1 << 23 | 1 << 27);
        pause();
        t.ends(flush);
        t.submission_ends();
        pause();
        t.submission_begins(2, true, 5);
        pause();
        t.submission_ends();
        let json: Value = serde_json::from_str(&t.json().to_string()).unwrap();
        let ib = "submission 1/INDIRECT_BUFFER";
        let expected = [
            "submission 1".to_string(),
            ib.into(),
            format!("{ib}/trace point 7"),
            format!("{ib}/DRAW_INDEX_AUTO"),
            format!("{ib}/DRAW_INDEX_AUTO/draw 1"),
            format!("{ib}/WAIT_REG_MEM"),
            "submission 1/SURFACE_SYNC".into(),
            "submission 1/SURFACE_SYNC/flush texture, shader".into(),
        ];
        assert_eq!(tree(&json, 1), expected);
        assert_eq!(tree(&json, 2), ["submission 2"]);
        let events = json["traceEvents"].as_array().unwrap();
        let named = |name: &str| events.iter().find(|e| e["name"] == name).unwrap();
        assert_eq!(named("draw 1")["args"]["pixels shaded"], 64);
        assert_eq!(named("WAIT_REG_MEM")["cat"], "wait");
    }
}
