// SPDX-License-Identifier: MIT
//! Life of the process: opens the outputs, serves one client until it leaves
//! or a signal comes, writes the outputs.

use std::error::Error;
use std::io::{Read, Write};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;
use std::thread::ScopedJoinHandle;

use signal_hook::consts::{SIGINT, SIGTERM, SIGUSR1};

use crate::chip::coverage;
use crate::host::board::Board;
use crate::host::cli::Options;
use crate::host::output;
use crate::host::vfio::Server;

/// Prints messages to standard error: warnings and errors, or up to the level
/// in `R7XX_LOG` (`info`, `debug`, `trace`).
struct StderrLog;

impl log::Log for StderrLog {
    fn enabled(&self, _: &log::Metadata<'_>) -> bool {
        true
    }

    fn log(&self, record: &log::Record<'_>) {
        if record.target().starts_with("r7xx_board") {
            eprintln!("r7xx-board: {}: {}", record.level(), record.args());
        }
    }

    fn flush(&self) {}
}

fn start_log() {
    let level = std::env::var("R7XX_LOG")
        .ok()
        .and_then(|l| l.parse().ok())
        .unwrap_or(log::LevelFilter::Warn);
    // A second run in one process (tests) keeps the first logger.
    if log::set_logger(&StderrLog).is_ok() {
        log::set_max_level(level);
    }
}

/// A flag for each kind of signal, and a pipe that wakes the server.
struct Signals {
    stop: Arc<AtomicBool>,
    shoot: Arc<AtomicBool>,
    pipe: UnixStream,
}

impl Signals {
    fn new() -> std::io::Result<Self> {
        let (pipe, writer) = UnixStream::pair()?;
        pipe.set_nonblocking(true)?;
        let stop = Arc::new(AtomicBool::new(false));
        let shoot = Arc::new(AtomicBool::new(false));
        for signal in [SIGTERM, SIGINT] {
            // The second signal ends the process even if the first did not.
            signal_hook::flag::register_conditional_shutdown(signal, 1, stop.clone())?;
            signal_hook::flag::register(signal, stop.clone())?;
            signal_hook::low_level::pipe::register(signal, writer.try_clone()?)?;
        }
        signal_hook::flag::register(SIGUSR1, shoot.clone())?;
        signal_hook::low_level::pipe::register(SIGUSR1, writer)?;
        Ok(Self { stop, shoot, pipe })
    }

    fn drain(&self) {
        let mut bytes = [0; 64];
        let mut pipe = &self.pipe;
        while pipe.read(&mut bytes).is_ok_and(|n| n > 0) {}
    }
}

/// Runs a board until its client leaves or a signal ends it.
///
/// Once the board runs, its output files are written even if serving it fails;
/// the first error is returned.
pub fn run(options: &Options) -> Result<(), Box<dyn Error>> {
    // The parser requires --socket unless --coverage is given.
    let Some(socket) = &options.socket else {
        std::io::stdout().write_all(coverage::document().as_bytes())?;
        return Ok(());
    };
    start_log();
    options.check()?;
    let signals = Signals::new()?;
    let trace = match &options.trace {
        Some(path) => Some(Box::new(output::create(path)?) as Box<dyn Write + Send>),
        None => None,
    };
    let server = Server::bind(socket)?;
    let board = Board::new(options, trace)?;

    // A separate thread takes the pictures: the guest's mode decides how long
    // one takes, and the guest's accesses must not wait for it.
    let served = std::thread::scope(|scope| {
        let mut shooting: Option<ScopedJoinHandle<'_, ()>> = None;
        server.run(&board, signals.pipe.as_fd(), || {
            signals.drain();
            if signals.shoot.swap(false, Ordering::Relaxed) {
                if shooting.as_ref().is_some_and(|s| !s.is_finished()) {
                    log::warn!("the last screenshot is not finished: no new one");
                } else {
                    shooting = Some(scope.spawn(|| {
                        if let Err(e) = shoot(options, &board) {
                            log::error!("{e}");
                        }
                    }));
                }
            }
            !signals.stop.load(Ordering::Relaxed)
        })
    });
    // Remove the socket before the outputs appear: a script that waits for them
    // may start the next board at once.
    drop(server);

    // The picture comes before the shutdown: it needs the chip's registers.
    // Guest RAM that the client has unmapped is black in it.
    let shot = shoot(options, &board);
    board.chip().shutdown();
    let counted = match &options.counters {
        Some(path) => output::replace(path, |w| {
            serde_json::to_writer_pretty(&mut *w, &board.chip().counters().snapshot())?;
            w.write_all(b"\n")
        }),
        None => Ok(()),
    };
    served?;
    shot?;
    counted?;
    Ok(())
}

fn shoot(options: &Options, board: &Board) -> Result<(), Box<dyn Error>> {
    let Some(path) = &options.screenshot else {
        return Ok(());
    };
    let pictures = board.pictures();
    if pictures.is_empty() {
        log::warn!("no CRTC scans anything out: no screenshot");
    }
    for (n, picture) in pictures.iter().enumerate() {
        output::replace(&numbered(path, n), |w| picture.write_png(board.mc(), w))?;
    }
    Ok(())
}

/// The file of picture `n`, counted from 0: the first has `path`, the next `-2` before its extension.
fn numbered(path: &Path, n: usize) -> PathBuf {
    if n == 0 {
        return path.to_owned();
    }
    let mut name = path.file_stem().unwrap_or_default().to_owned();
    name.push(format!("-{}", n + 1));
    if let Some(extension) = path.extension() {
        name.push(".");
        name.push(extension);
    }
    path.with_file_name(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pictures_beyond_the_first_are_numbered_before_the_extension() {
        let name = |path: &str, n| numbered(Path::new(path), n).display().to_string();
        assert_eq!(name("a/screen.png", 0), "a/screen.png");
        assert_eq!(name("a/screen.png", 1), "a/screen-2.png");
        assert_eq!(name("a.b/screen", 1), "a.b/screen-2");
    }
}
