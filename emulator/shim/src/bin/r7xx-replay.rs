// SPDX-License-Identifier: MIT
//! `r7xx-replay`: executes the submissions of a GL program that r7xx-shim has captured.

use std::fs::{self, File};
use std::io::{self, BufReader, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use clap::Parser;
use r7xx_board::chip::gfx::probe::Watch;
use r7xx_board::chip::gfx::shaders::Shaders;
use r7xx_board::chip::Family;
use r7xx_board::host::{output, target_png};
use r7xx_shim::capture::Reader;
use r7xx_shim::edit::{self, Which};
use r7xx_shim::history;
use r7xx_shim::redundant;
use r7xx_shim::replay::{replay, replay_with_timeline, Options, Outcome};
use r7xx_shim::timeline::Timeline;

/// Executes a captured command stream on the emulated chip, without the program that
/// submitted it
///
/// A GL program writes FRAME when it is run with libr7xx_shim.so and R7XX_CAPTURE=FRAME;
/// R7XX_CAPTURE_SUBMISSIONS=FIRST-LAST takes a part of its submissions, R7XX_CAPTURE_ON=hang the
/// last ones before something that would hang hardware.
///
/// Exit status: 0; 1 for an error, named on standard error, and with --check for another
/// result; 2 for a usage error.
#[derive(Parser)]
#[command(name = "r7xx-replay", version)]
struct Cli {
    /// The captured stream
    frame: PathBuf,
    /// Write the colour target of the last draw to this file as PNG
    #[arg(long, value_name = "FILE")]
    png: Option<PathBuf>,
    /// The first row in memory is the picture's highest one, as for a scan-out buffer
    #[arg(long)]
    top_down: bool,
    /// Execute no draw after the Nth
    #[arg(long, value_name = "N")]
    draws: Option<u64>,
    /// Print packet, targets, registers and shaders of the Nth draw
    #[arg(long, value_name = "N")]
    describe: Option<u64>,
    /// Print each fragment that fell on this pixel: coverage, tests, the shader's run, colours.
    /// Y counts from the target's first row in memory
    #[arg(long, value_name = "X,Y", value_parser = history::pixel)]
    pixel: Option<Watch>,
    /// Print the run of the vertex shader for vertex N of draw DRAW (counted from 1); N is the
    /// index that the shader gets
    #[arg(long, value_name = "DRAW:N", value_parser = history::vertex, conflicts_with = "pixel")]
    vertex: Option<Watch>,
    /// List the shaders that draws and dispatches execute: number, stage, address, length, draws
    #[arg(long)]
    shaders: bool,
    /// Print shader N of --shaders, or the one at ADDRESS (0x...), as text for --edit, and nothing
    /// else
    #[arg(long, value_name = "N|ADDRESS", value_parser = edit::which,
          conflicts_with_all = ["edit", "describe", "shaders", "json", "pixel", "vertex", "lint"])]
    shader: Option<Which>,
    /// Execute the shader in this file, a changed text of --shader, in place of the one that its
    /// first line names. Can be given several times
    #[arg(long, value_name = "FILE", conflicts_with = "check")]
    edit: Vec<PathBuf>,
    /// Print mistakes of the driver that hardware does not tell, each once with its draw
    #[arg(long)]
    lint: bool,
    /// Execute nothing, and print how many registers are written with the value that they have or
    /// again before a draw, how many flushes have nothing to flush, and which registers these are
    #[arg(long, conflicts_with_all = ["png", "draws", "describe", "pixel", "vertex", "shaders", "shader", "edit",
          "lint", "json", "check", "trace", "timeline", "threads"])]
    redundant: bool,
    /// Print what --pixel or --vertex found as JSON, and nothing else
    #[arg(long, conflicts_with = "describe")]
    json: bool,
    /// Fail if memory is not as it was after the same submission of the capture
    #[arg(long, conflicts_with = "draws")]
    check: bool,
    /// Write packets and register accesses to this file
    #[arg(long, value_name = "FILE")]
    trace: Option<PathBuf>,
    /// Write when the frame's packets, draws and flushes were executed to this file, for Perfetto
    /// or chrome://tracing
    #[arg(long, value_name = "FILE", conflicts_with = "trace")]
    timeline: Option<PathBuf>,
    /// Threads of the 3D engine (default: CPUs)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=64))]
    threads: Option<u16>,
}

/// What lists and replaces shaders, if the options ask for it.
fn shaders(cli: &Cli, family: Family) -> Result<Option<Arc<Shaders>>, String> {
    if cli.edit.is_empty() && !cli.shaders && cli.shader.is_none() {
        return Ok(None);
    }
    let front = family.model().generation.draws;
    let isa = front.ok_or("the chip has no shaders")?.isa;
    let replacements = cli.edit.iter().map(|path| {
        let named = |e: &dyn std::fmt::Display| format!("{}: {e}", path.display());
        let text = fs::read_to_string(path).map_err(|e| named(&e))?;
        edit::replacement(&text, isa).map_err(|e| named(&e))
    });
    let replacements = replacements.collect::<Result<_, String>>()?;
    Ok(Some(Arc::new(Shaders::new(replacements))))
}

fn run(cli: &Cli) -> Result<ExitCode, String> {
    let named = |e: &dyn std::fmt::Display| format!("{}: {e}", cli.frame.display());
    let file = File::open(&cli.frame).map_err(|e| named(&e))?;
    let reader = Reader::new(BufReader::new(file)).map_err(|e| named(&e))?;
    if cli.redundant {
        let chip = reader.family.model().name;
        let found = redundant::count(reader).map_err(|e| named(&e))?;
        // `r7xx-replay --redundant FRAME | head` is no error.
        return match write!(io::stdout(), "{chip}: {found}") {
            Err(e) if e.kind() != io::ErrorKind::BrokenPipe => Err(e.to_string()),
            _ => Ok(ExitCode::SUCCESS),
        };
    }
    let trace = match &cli.trace {
        None => None,
        Some(path) => {
            let file = output::create(path).map_err(|e| e.to_string())?;
            Some(Box::new(file) as Box<dyn Write + Send>)
        }
    };
    let family = reader.family;
    let shaders = shaders(cli, family)?;
    let cpus = std::thread::available_parallelism().map_or(1, usize::from);
    let options = Options {
        threads: cli.threads.map_or(cpus, usize::from),
        last_draw: cli.draws,
        describe: cli.describe,
        watch: cli.pixel.or(cli.vertex),
        lint: cli.lint,
        shaders: shaders.clone(),
    };
    if cli.json && options.watch.is_none() {
        return Err("--json prints what --pixel or --vertex found; give one of them".into());
    }
    let watch = options.watch;
    let outcome = match &cli.timeline {
        None => replay(reader, options, trace),
        Some(path) => {
            let timeline = Timeline::default();
            let outcome = replay_with_timeline(reader, options, &timeline);
            output::replace(path, |out| writeln!(out, "{}", timeline.json()))
                .map_err(|e| e.to_string())?;
            outcome
        }
    };
    let Outcome { seen, memory } = outcome.map_err(|e| named(&e))?;
    let chip = family.model().name;
    if let (Some(which), Some(shaders)) = (cli.shader, &shaders) {
        let list = shaders.list();
        print!("{}", edit::text(edit::find(&list, which)?, chip)?);
        return Ok(ExitCode::SUCCESS);
    }
    let say = |line: String| {
        if !cli.json {
            println!("{line}");
        }
    };
    let (submissions, draws) = (seen.submissions, seen.draws);
    say(format!("{chip}: {submissions} submissions, {draws} draws"));
    for draw in &seen.dropped {
        say(format!("draw {draw} was cut short: it would hang hardware"));
    }
    if let Some(shaders) = &shaders {
        for (path, count) in cli.edit.iter().zip(shaders.used()) {
            let path = path.display();
            if count == 0 {
                return Err(format!(
                    "{path}: no draw or dispatch executes the shader that it replaces"
                ));
            }
            say(format!("{path}: executed for {count} draws and dispatches"));
        }
        for violation in shaders.violations() {
            say(format!("hardware would not execute it so: {violation}"));
        }
        if cli.shaders {
            print!("{}", edit::list(&shaders.list()));
        }
    }
    for finding in &seen.findings {
        say(finding.clone());
    }
    if let (Some(watch), Some(found)) = (watch, &seen.history) {
        let text = match cli.json {
            true => serde_json::to_string_pretty(found).map_err(|e| e.to_string())? + "\n",
            false => history::text(watch, found),
        };
        print!("{text}");
    }
    if let Some(n) = cli.describe {
        let absent = || format!("there is no draw {n}, only {}", seen.draws);
        print!("{}", seen.description.as_ref().ok_or_else(absent)?);
    }
    if let Some(path) = &cli.png {
        let (target, size) = seen.target.ok_or("no draw has written a colour target")?;
        output::replace(path, |out| {
            target_png::write_png(&target, size, cli.top_down, &*memory, out)
        })
        .map_err(|e| e.to_string())?;
        say(format!("{}: {}x{}", path.display(), size.0, size.1));
    }
    if cli.check {
        say(format!(
            "{} of {} pages that it changed are as captured",
            seen.pages - seen.different.len() as u64,
            seen.pages
        ));
        for (submission, address) in seen.different.iter().take(10) {
            eprintln!("r7xx-replay: page {address:#x} differs after submission {submission}");
        }
        if seen.pages == 0 {
            return Err("nothing was changed: nothing to compare".into());
        }
        if !seen.different.is_empty() {
            return Ok(ExitCode::FAILURE);
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn main() -> ExitCode {
    run(&Cli::parse()).unwrap_or_else(|e| {
        eprintln!("r7xx-replay: {e}");
        ExitCode::FAILURE
    })
}
