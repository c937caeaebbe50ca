// SPDX-License-Identifier: MIT
//! Packet and register trace: text, one line per event.
//!
//! A line is the time since start in seconds, the block, and the event.
//! Without a writer a call costs one branch.

use std::fmt;
use std::io::Write;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

/// Sink of trace lines; may be used from any thread.
pub struct Trace {
    start: Instant,
    enabled: bool,
    out: Mutex<Option<Box<dyn Write + Send>>>,
}

impl fmt::Debug for Trace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Trace")
            .field("enabled", &self.enabled)
            .finish()
    }
}

impl Trace {
    /// Traces to `out`, or nowhere.
    pub fn new(out: Option<Box<dyn Write + Send>>) -> Self {
        Self {
            start: Instant::now(),
            enabled: out.is_some(),
            out: Mutex::new(out),
        }
    }

    /// Whether lines are written; if not, callers need not compose them.
    pub fn enabled(&self) -> bool {
        self.enabled
    }

    /// Writes one line about `block`. A failing writer ends the trace.
    pub fn line(&self, block: &str, event: fmt::Arguments<'_>) {
        if !self.enabled {
            return;
        }
        let at = self.start.elapsed();
        let mut out = self.out.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(writer) = out.as_mut() {
            let seconds = at.as_secs();
            let micros = at.subsec_micros();
            if writeln!(writer, "{seconds}.{micros:06} {block} {event}").is_err() {
                log::warn!("trace: the file cannot be written, trace ends");
                *out = None;
            }
        }
    }

    /// Writes buffered lines out.
    pub fn flush(&self) {
        let mut out = self.out.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(writer) = out.as_mut() {
            if writer.flush().is_err() {
                log::warn!("trace: the file cannot be written, trace ends");
                *out = None;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    #[derive(Clone, Default)]
    struct Shared(Arc<Mutex<Vec<u8>>>);

    impl Write for Shared {
        fn write(&mut self, buf: &[u8]) -> std::io::Result<usize> {
            self.0.lock().unwrap().extend_from_slice(buf);
            Ok(buf.len())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn line_enabled_is_time_block_event() {
        let sink = Shared::default();
        let trace = Trace::new(Some(Box::new(sink.clone())));
        trace.line("cp", format_args!("NOP"));
        let text = String::from_utf8(sink.0.lock().unwrap().clone()).unwrap();
        let words: Vec<&str> = text.split_whitespace().collect();
        assert_eq!(words[1..], ["cp", "NOP"]);
        assert!(words[0].parse::<f64>().is_ok());
        assert!(text.ends_with('\n'));
    }

    #[test]
    fn line_failing_writer_ends_trace() {
        struct Full;
        impl Write for Full {
            fn write(&mut self, _: &[u8]) -> std::io::Result<usize> {
                Err(std::io::Error::other("full"))
            }
            fn flush(&mut self) -> std::io::Result<()> {
                Ok(())
            }
        }
        let trace = Trace::new(Some(Box::new(Full)));
        trace.line("cp", format_args!("NOP"));
        assert!(trace.out.lock().unwrap().is_none());
    }
}
