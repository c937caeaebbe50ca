// SPDX-License-Identifier: MIT
//! `r7xx run -- PROGRAM`: runs a GL program on the emulated chip, by the program's own Mesa.

mod egl;
mod environment;
mod mesa;
mod program;

use std::ffi::OsString;
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::{Command, ExitCode};

use clap::{Args, Parser, Subcommand};

use environment::{Environment, Settings};

/// Runs GL programs on an emulated Radeon, without hardware and without a virtual machine
#[derive(Parser)]
#[command(name = "r7xx", version)]
struct Cli {
    #[command(subcommand)]
    command: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Runs a program by the Mesa that it finds in the environment, `meson devenv`'s for example
    ///
    /// Checks first that this Mesa has r600 and draws with it. Without EGL_PLATFORM in the
    /// environment the platform is surfaceless: there is no display.
    ///
    /// Exit status: the program's; 125 if it was not started, 126 if it is no program that can be
    /// run like this, 127 if there is none.
    Run(Box<Run>),
    /// Prints vendor, renderer and version of the GL that this process gets
    #[command(hide = true)]
    GlInfo,
}

#[derive(Args)]
struct Run {
    /// The chip
    #[arg(long, default_value = "rv770")]
    chip: String,
    /// Write the program's submissions to DIR/PROGRAM.r7xx, for r7xx-replay
    #[arg(long, value_name = "DIR")]
    capture: Option<PathBuf>,
    /// Submissions to capture, N or FIRST-LAST, counted from 1
    #[arg(long, value_name = "RANGE", requires = "capture")]
    submissions: Option<String>,
    /// Capture the last submissions before something that would hang hardware: a shader that does
    /// not end, a fault, a refused stream; with --check a shader that breaks a rule
    #[arg(long, value_name = "EVENT", value_parser = ["hang"], requires = "capture", conflicts_with = "submissions")]
    capture_on: Option<String>,
    /// Capture the submission that holds the program's Nth draw, and those before it
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..), requires = "capture",
        conflicts_with_all = ["submissions", "capture_on"])]
    capture_draw: Option<u64>,
    /// How many submissions --capture-on and --capture-draw take at most (default: 4)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1000), requires = "capture",
        conflicts_with = "submissions")]
    capture_last: Option<u64>,
    /// Print which shaders hardware would not execute
    #[arg(long)]
    check: bool,
    /// Print mistakes of the driver that hardware does not tell
    #[arg(long)]
    lint: bool,
    /// Be as incoherent as hardware may be: model its caches
    #[arg(long, value_name = "SEED", num_args = 0..=1, default_missing_value = "1", require_equals = true)]
    strict: Option<u64>,
    /// Write packets and register accesses to this file
    #[arg(long, value_name = "FILE")]
    trace: Option<PathBuf>,
    /// The shim (default: beside this program, or in ../lib)
    #[arg(long, value_name = "FILE")]
    shim: Option<PathBuf>,
    /// Do not check Mesa first: it takes some tenths of a second
    #[arg(long)]
    no_probe: bool,
    /// The program and its arguments
    #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true)]
    program: Vec<OsString>,
}

/// Why a program was not run, with the exit status.
type Refused = (u8, String);

fn run(run: &Run) -> Result<ExitCode, Refused> {
    let failed = |e: String| (125, e);
    let (name, arguments) = run
        .program
        .split_first()
        .ok_or((127, "no program".into()))?;
    let path = program::find(name)?;
    let shim = environment::shim(run.shim.as_deref()).map_err(failed)?;
    let capture = match &run.capture {
        None => None,
        Some(directory) => Some(environment::capture_file(directory, &path).map_err(failed)?),
    };
    let settings = Settings {
        chip: &run.chip,
        shim: &shim,
        capture: capture.as_deref(),
        submissions: run.submissions.as_deref(),
        capture_on: run.capture_on.as_deref(),
        capture_draw: run.capture_draw,
        capture_last: run.capture_last,
        check: run.check,
        lint: run.lint,
        strict: run.strict,
        trace: run.trace.as_deref(),
    };
    let environment =
        Environment::new(&settings, &|name| std::env::var_os(name)).map_err(failed)?;
    if !run.no_probe {
        mesa::check(&environment, &run.chip).map_err(failed)?;
    }
    let mut command = Command::new(&path);
    command.args(arguments);
    environment.apply(&mut command);
    let status = command
        .status()
        .map_err(|e| (126, format!("{}: {e}", path.display())))?;
    if let Some(capture) = &capture {
        match capture.metadata() {
            Ok(file) if file.len() > 0 => eprintln!(
                "r7xx: captured; draw it again with: r7xx-replay {}",
                capture.display()
            ),
            _ => {
                let why = match (&run.capture_on, run.capture_draw) {
                    (Some(event), _) => format!("there was no {event}"),
                    (_, Some(draw)) => format!("the program has not made {draw} draws"),
                    _ => "the program has not opened the device".into(),
                };
                eprintln!("r7xx: nothing was captured: {why}");
                // It is this program's, and empty.
                let _ = std::fs::remove_file(capture);
            }
        }
    }
    let code = match (status.code(), status.signal()) {
        (Some(code), _) => code as u8,
        (None, signal) => 128 + signal.unwrap_or(0) as u8,
    };
    Ok(code.into())
}

fn main() -> ExitCode {
    let (status, message) = match &Cli::parse().command {
        Task::Run(options) => match run(options) {
            Ok(code) => return code,
            Err(refused) => refused,
        },
        Task::GlInfo => match egl::info() {
            Ok(info) => {
                print!("{info}");
                return ExitCode::SUCCESS;
            }
            Err(e) => (1, e),
        },
    };
    eprintln!("r7xx: {message}");
    status.into()
}
