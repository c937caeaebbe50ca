// SPDX-License-Identifier: MIT
//! `r7xx-board`: see the library's documentation.

use std::process::ExitCode;

use clap::Parser;
use r7xx_board::host::cli::Options;

fn main() -> ExitCode {
    match r7xx_board::host::run::run(&Options::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(e) => {
            eprintln!("r7xx-board: {e}");
            ExitCode::FAILURE
        }
    }
}
