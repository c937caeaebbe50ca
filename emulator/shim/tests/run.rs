// SPDX-License-Identifier: MIT
//! `r7xx run`: the program's environment, and what is said of input that cannot be obeyed. Mesa is
//! not needed: programs are `sh`, and Mesa is a file that is none.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A directory for the test `name`, removed at the end.
struct Directory(PathBuf);

impl Directory {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("r7xx-run-{}-{name}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn file(&self, name: &str, contents: &[u8], mode: u32) -> PathBuf {
        let path = self.0.join(name);
        fs::write(&path, contents).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        path
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn command(arguments: &[&str]) -> Command {
    // `R7XX_RUN` names it for a copy of the tests, as cargo's path is of where they were compiled.
    let program = std::env::var_os("R7XX_RUN").unwrap_or_else(|| env!("CARGO_BIN_EXE_r7xx").into());
    let mut command = Command::new(program);
    command.arg("run").args(arguments);
    for name in [
        "EGL_PLATFORM",
        "LD_PRELOAD",
        "LIBGL_ALWAYS_SOFTWARE",
        "GALLIUM_DRIVER",
    ] {
        command.env_remove(name);
    }
    command
}

/// A library that does nothing: the dynamic linker loads it in place of the shim. This program's
/// tests have no other at hand.
fn library() -> PathBuf {
    let maps = fs::read_to_string("/proc/self/maps").unwrap();
    let found = maps.lines().find_map(|line| {
        line.split_whitespace()
            .last()
            .filter(|path| path.contains("/libc.so"))
    });
    found.expect("libc").into()
}

fn run(arguments: &[&str]) -> Output {
    let shim = library();
    let shim = ["--shim", shim.to_str().unwrap()];
    command(&[&shim, arguments].concat()).output().unwrap()
}

#[track_caller]
fn refused(output: &Output, status: i32, parts: &[&str]) {
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(status), "{said}");
    for part in parts.iter().chain(&["r7xx: "]) {
        assert!(said.contains(part), "{said}");
    }
    assert_eq!(said.lines().count(), 1, "one sentence: {said}");
}

#[test]
fn a_program_gets_its_environment_and_gives_its_status() {
    let output = run(&["--no-probe", "--chip", "rv710", "--check", "--", "sh", "-c",
        "echo $LD_PRELOAD $R7XX_CHIP $R7XX_CHECK $MESA_LOADER_DRIVER_OVERRIDE $vblank_mode $EGL_PLATFORM; exit 7"]);
    let said = String::from_utf8_lossy(&output.stdout);
    let shim = library().canonicalize().unwrap();
    let expected = format!("{} rv710 1 r600 0 surfaceless\n", shim.display());
    assert_eq!(
        (said.as_ref(), output.status.code()),
        (expected.as_str(), Some(7))
    );
    let killed = run(&["--no-probe", "--", "sh", "-c", "kill -9 $$"]);
    assert_eq!(killed.status.code(), Some(128 + 9));
}

#[test]
fn each_capture_has_a_file_of_its_own() {
    let directory = Directory::new("capture");
    let captures = directory.0.join("new");
    let to = captures.to_str().unwrap();
    for name in ["sh.r7xx", "sh-2.r7xx"] {
        // The second finds the first one's file.
        let print = "echo $R7XX_CAPTURE $R7XX_CAPTURE_SUBMISSIONS; echo >$R7XX_CAPTURE";
        let output = run(&[
            "--no-probe",
            "--capture",
            to,
            "--submissions",
            "1-4",
            "--",
            "sh",
            "-c",
            print,
        ]);
        let file = captures.canonicalize().unwrap().join(name);
        let expected = format!("{} 1-4\n", file.display());
        assert_eq!(String::from_utf8_lossy(&output.stdout), expected);
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(said.contains("r7xx-replay"), "{said}");
    }
}

#[test]
fn a_capture_of_nothing_leaves_no_file() {
    let directory = Directory::new("nothing");
    let to = directory.0.join("new");
    let shell = [
        "--",
        "sh",
        "-c",
        "echo $R7XX_CAPTURE_ON $R7XX_CAPTURE_DRAW $R7XX_CAPTURE_LAST",
    ];
    for (which, expected, why) in [
        (&["--capture-on", "hang"][..], "hang\n", "no hang"),
        (
            &["--capture-draw", "7", "--capture-last", "2"],
            "7 2\n",
            "not made 7 draws",
        ),
        (&[], "\n", "not opened the device"),
    ] {
        let capture = ["--no-probe", "--capture", to.to_str().unwrap()];
        let output = run(&[&capture, which, &shell].concat());
        assert_eq!(String::from_utf8_lossy(&output.stdout), expected);
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(
            said.contains("nothing was captured") && said.contains(why),
            "{said}"
        );
        assert_eq!(fs::read_dir(&to).unwrap().count(), 0);
    }
}

#[test]
fn input_that_cannot_be_obeyed_is_said() {
    let directory = Directory::new("refused");
    let plain = directory.file("plain", b"text", 0o644);
    let set_id = directory.file("set-id", b"#!/bin/sh\n", 0o4755);
    let old = directory.file("old", b"\x7fELF\x01", 0o755);
    let path = |path: &Path| path.to_str().unwrap().to_owned();
    let missing = path(&directory.0.join("missing"));
    refused(
        &run(&["--", "no-such-program-here"]),
        127,
        &["no-such-program-here", "PATH"],
    );
    refused(&run(&["--", &missing]), 127, &["missing", "No such file"]);
    refused(&run(&["--", &path(&plain)]), 126, &["plain", "executed"]);
    refused(
        &run(&["--", &path(&set_id)]),
        126,
        &["set-id", "set-user-ID"],
    );
    refused(&run(&["--", &path(&old)]), 126, &["old", "32-bit"]);
    refused(
        &run(&["--chip", "rv999", "--", "sh"]),
        125,
        &["--chip rv999", "rv710"],
    );
    let below = format!("{}/below", path(&plain));
    refused(
        &run(&["--capture", &below, "--", "sh"]),
        125,
        &["--capture", "below"],
    );
    let output = command(&["--shim", &missing, "--", "sh"]).output().unwrap();
    refused(&output, 125, &["--shim", "missing", "no such file"]);
    for wrong in [
        &["--submissions", "1", "--", "sh"][..],
        &["--strict=x", "--", "sh"],
        &["--capture-on", "hang", "--", "sh"],
        &["--capture", "c", "--capture-on", "end", "--", "sh"],
        &[
            "--capture",
            "c",
            "--capture-on",
            "hang",
            "--submissions",
            "1",
            "--",
            "sh",
        ],
        &["--check"],
    ] {
        let output = run(wrong);
        assert_eq!(output.status.code(), Some(2), "{wrong:?}: {output:?}");
    }
}

#[test]
fn a_mesa_that_is_none_is_said_before_the_program_runs() {
    let directory = Directory::new("mesa");
    directory.file("libEGL.so.1", b"nothing", 0o755);
    let shim = library();
    let output = command(&[
        "--shim",
        shim.to_str().unwrap(),
        "--",
        "sh",
        "-c",
        "echo ran",
    ])
    .env("LD_LIBRARY_PATH", &directory.0)
    .env("LIBGL_DRIVERS_PATH", &directory.0)
    .output()
    .unwrap();
    let here = directory.0.to_str().unwrap();
    let parts = [
        "libEGL.so.1 cannot be loaded",
        here,
        "-Dgallium-drivers=r600",
        "--no-probe",
    ];
    refused(&output, 125, &parts);
    assert!(output.stdout.is_empty(), "{output:?}");
}
