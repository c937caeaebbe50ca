// SPDX-License-Identifier: MIT
//! A program with settings that cannot be obeyed ends: it must not render in software.
//!
//! The program is this one. It opens the device by the function that takes the place of libc's.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use r7xx_shim::hooks;

/// Variables that change what the shim does.
const VARIABLES: [&str; 8] = [
    "R7XX_CHIP",
    "R7XX_STRICT",
    "R7XX_TRACE",
    "R7XX_CAPTURE",
    "R7XX_CAPTURE_SUBMISSIONS",
    "R7XX_CAPTURE_ON",
    "R7XX_CAPTURE_DRAW",
    "R7XX_CAPTURE_LAST",
];
/// What the program prints once it has gone on after opening the device, and its descriptor.
const OPENED: &str = "the device is open:";

#[test]
#[ignore = "the other tests run it in a process of its own"]
fn program() {
    // SAFETY: the path is a C string.
    let fd = unsafe { hooks::open(c"/dev/dri/renderD128".as_ptr(), libc::O_RDWR, 0) };
    println!("{OPENED} {fd}");
    assert!(fd >= 0);
}

/// Runs the program with `variables` in `directory`.
fn run(directory: &Path, variables: &[(&str, &str)]) -> Output {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--ignored", "--exact", "program", "--nocapture"]);
    for name in VARIABLES {
        command.env_remove(name);
    }
    let variables = variables.iter().copied();
    command
        .envs(variables)
        .current_dir(directory)
        .output()
        .unwrap()
}

/// A directory for the files of the test `name`.
fn directory(name: &str) -> std::path::PathBuf {
    let path = std::env::temp_dir().join(format!("r7xx-shim-{}-{name}", std::process::id()));
    fs::create_dir_all(&path).unwrap();
    path
}

/// Checks that the program goes on with the device.
fn obeyed(directory: &Path, variables: &[(&str, &str)]) {
    let output = run(directory, variables);
    let stdout = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{variables:?}: {output:?}");
    assert!(stdout.contains(OPENED), "{variables:?}: {stdout}");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(!stderr.contains("r7xx-shim"), "{variables:?}: {stderr}");
}

/// Checks that the program ends, and that its message contains `parts`.
fn refused(directory: &Path, variables: &[(&str, &str)], parts: &[&str]) {
    let output = run(directory, variables);
    assert_eq!(output.status.code(), Some(125), "{variables:?}: {output:?}");
    let stdout = String::from_utf8_lossy(&output.stdout);
    assert!(!stdout.contains(OPENED), "{variables:?}: {stdout}");
    let stderr = String::from_utf8_lossy(&output.stderr);
    for part in parts.iter().chain(&["r7xx-shim: ", "the program ends"]) {
        assert!(stderr.contains(part), "{variables:?}: {stderr}");
    }
}

#[test]
fn what_can_be_obeyed_is() {
    let dir = directory("obeyed");
    obeyed(&dir, &[]);
    obeyed(&dir, &[("R7XX_CHIP", "rv710"), ("R7XX_STRICT", "3")]);
    let files = [("R7XX_CAPTURE", "c"), ("R7XX_TRACE", "t")];
    obeyed(&dir, &files);
    assert!(dir.join("c").exists() && dir.join("t").exists());
    fs::remove_dir_all(dir).unwrap();
}

#[test]
fn an_unknown_chip_ends_the_program() {
    let dir = directory("chip");
    refused(
        &dir,
        &[("R7XX_CHIP", "rv999")],
        &["R7XX_CHIP=rv999", "rv770"],
    );
    fs::remove_dir_all(dir).unwrap();
}

#[test]
fn a_bad_seed_ends_the_program() {
    let dir = directory("seed");
    refused(
        &dir,
        &[("R7XX_STRICT", "yes")],
        &["R7XX_STRICT=yes", "R7XX_STRICT=1"],
    );
    fs::remove_dir_all(dir).unwrap();
}

#[test]
fn a_file_that_cannot_be_written_ends_the_program() {
    let dir = directory("file");
    let parts = ["=nowhere/c: ", "No such file", "name another"];
    refused(&dir, &[("R7XX_CAPTURE", "nowhere/c")], &parts);
    refused(&dir, &[("R7XX_TRACE", "nowhere/c")], &parts);
    // A directory, which root cannot write to, either.
    refused(&dir, &[("R7XX_CAPTURE", ".")], &["R7XX_CAPTURE=."]);
    fs::remove_dir_all(dir).unwrap();
}

#[test]
fn captures_that_exclude_each_other_end_the_program() {
    let dir = directory("exclusive");
    let both = [
        ("R7XX_CAPTURE", "c"),
        ("R7XX_CAPTURE_ON", "hang"),
        ("R7XX_CAPTURE_SUBMISSIONS", "1-4"),
    ];
    let parts = ["R7XX_CAPTURE_SUBMISSIONS", "R7XX_CAPTURE_ON", "set one of"];
    refused(&dir, &both, &parts);
    assert!(!dir.join("c").exists());
    fs::remove_dir_all(dir).unwrap();
}
