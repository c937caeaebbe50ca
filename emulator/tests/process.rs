// SPDX-License-Identifier: MIT
//! The program: outputs, exit status, signals.

use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{kill_process, Pid, Signal};

use crate::common;

/// A board's process, killed if the test ends before it does.
struct Board(Option<Child>);

impl Board {
    fn signal(&self, signal: Signal) {
        let id = self.0.as_ref().unwrap().id();
        kill_process(Pid::from_raw(id as i32).unwrap(), signal).unwrap();
    }

    /// Waits for the process to end.
    fn output(mut self) -> Output {
        self.0.take().unwrap().wait_with_output().unwrap()
    }
}

impl Drop for Board {
    fn drop(&mut self) {
        if let Some(mut child) = self.0.take() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

fn board(dir: &Path, args: &[&str]) -> Board {
    let child = Command::new(common::board_program())
        .current_dir(dir)
        .args(["--socket", "s"])
        .args(args)
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    Board(Some(child))
}

fn wait_for(path: &Path) {
    let start = Instant::now();
    while !path.exists() {
        // Generous: this is a guard against hanging, not a measurement.
        assert!(start.elapsed() < Duration::from_secs(60), "{path:?}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn counters_are_written_when_the_client_leaves() {
    let dir = tempfile::tempdir().unwrap();
    let child = board(dir.path(), &["--counters", "c.json"]);
    let socket = dir.path().join("s");
    wait_for(&socket);
    let mut client = vfio_user::Client::new(&socket).unwrap();
    common::write32(&mut client, common::BAR2, 0x8508, 1);
    common::read32(&mut client, common::BAR2, 0x8508);
    drop(client);
    let output = child.output();
    assert!(output.status.success(), "{}", stderr(&output));
    let text = std::fs::read(dir.path().join("c.json")).unwrap();
    let json: serde_json::Value = serde_json::from_slice(&text).unwrap();
    assert_eq!(json["mmio_reads"], 1);
    assert_eq!(json["mmio_writes"], 1);
    assert!(!socket.exists());
}

#[test]
fn termination_is_clean_with_and_without_client() {
    for with_client in [false, true] {
        for sig in [Signal::TERM, Signal::INT] {
            let dir = tempfile::tempdir().unwrap();
            let child = board(dir.path(), &["--counters", "c.json"]);
            let socket = dir.path().join("s");
            wait_for(&socket);
            let client = with_client.then(|| vfio_user::Client::new(&socket).unwrap());
            child.signal(sig);
            let output = child.output();
            assert!(output.status.success(), "{}", stderr(&output));
            assert!(dir.path().join("c.json").exists());
            assert!(!socket.exists());
            drop(client);
        }
    }
}

#[test]
fn existing_socket_is_an_error_and_stays() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("s"), "").unwrap();
    let output = board(dir.path(), &[]).output();
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("s exists"), "{}", stderr(&output));
    assert!(dir.path().join("s").exists());
}

/// A large tiled mode takes a while to read, the largest a minute; meanwhile the board
/// answers.
#[test]
fn screenshot_of_an_absurd_mode_does_not_stall_the_client() {
    let dir = tempfile::tempdir().unwrap();
    let child = board(dir.path(), &["--screenshot", "shot.png"]);
    let socket = dir.path().join("s");
    wait_for(&socket);
    let mut client = vfio_user::Client::new(&socket).unwrap();
    for (register, value) in [
        (0x6080, 1),             // CRTC on
        (0x6100, 1),             // surface on
        (0x6104, 2 | (4 << 20)), // 32 bits, 2D tiled
        (0x6120, 0x1fff),        // pitch
        (0x6584, 0x0800_07ff),   // size
    ] {
        common::write32(&mut client, common::BAR2, register, value);
    }
    child.signal(Signal::USR1);
    // The file appears only when the board has read all pixels.
    let start = Instant::now();
    let mut answers = 0;
    while !dir.path().join("shot.png").exists() {
        common::read32(&mut client, common::BAR2, 0x8508);
        answers += 1;
        assert!(start.elapsed() < Duration::from_secs(120), "no picture");
    }
    assert!(answers > 100, "{answers} answers in {:?}", start.elapsed());
    drop(client);
    assert!(child.output().status.success());
}

/// KiB that the board has in memory.
fn resident(board: &Board) -> u64 {
    let id = board.0.as_ref().unwrap().id();
    let text = std::fs::read_to_string(format!("/proc/{id}/status")).unwrap();
    let line = text.lines().find(|line| line.starts_with("VmRSS:"));
    let kib = line.and_then(|line| line.split_whitespace().nth(1));
    kib.unwrap().parse().unwrap()
}

/// A board without work has a monitor to feed, and a guest that suspends, or sets modes, for
/// days. None of it may leave memory behind.
#[test]
fn memory_of_an_idle_board_does_not_grow() {
    // A page lost by each reset or mode is 4 MiB; a page lost by each vertical blank, of which
    // two CRTCs have 120 a second, is 960 KiB.
    const ROUNDS: u32 = 1000;
    const IDLE: Duration = Duration::from_secs(2);
    const NOISE_KIB: u64 = 384;
    let dir = tempfile::tempdir().unwrap();
    let child = board(dir.path(), &["--counters", "c.json"]);
    let socket = dir.path().join("s");
    wait_for(&socket);
    let mut client = vfio_user::Client::new(&socket).unwrap();
    let rounds = |client: &mut vfio_user::Client, count: u32| {
        for n in 0..count {
            // GRBM_SOFT_RESET of all of the CP, SRBM_SOFT_RESET of the DMA engine.
            for (register, value) in [(0x8020, 1), (0x8020, 0), (0x0E60, 1 << 20), (0x0E60, 0)] {
                common::write32(client, common::BAR2, register, value);
            }
            for crtc in [0, 0x800] {
                for (register, value) in [
                    (0x6080, 0),                   // CRTC off
                    (0x6104, 2),                   // 32 bits, linear
                    (0x6120, 0x400),               // pitch
                    (0x6584, 0x0400_0300 + n % 2), // size
                    (0x6100, 1),                   // surface on
                    (0x6080, 1),                   // CRTC on
                ] {
                    common::write32(client, common::BAR2, register + crtc, value);
                }
            }
        }
    };
    // Interrupts of both CRTCs' vertical blanks, so that they are counted.
    common::write32(&mut client, common::BAR2, 0x6540, 0x101);
    // The first times have tables and stacks to fill.
    rounds(&mut client, ROUNDS / 10);
    std::thread::sleep(IDLE / 4);
    let first = resident(&child);
    std::thread::sleep(IDLE);
    let idle = resident(&child);
    // What a thread allocates once may come late; what is lost is lost each time.
    let busy = (0..3).map(|_| {
        let before = resident(&child);
        rounds(&mut client, ROUNDS);
        resident(&child).saturating_sub(before)
    });
    let grown = busy.min().unwrap();
    drop(client);
    assert!(child.output().status.success());
    let text = std::fs::read(dir.path().join("c.json")).unwrap();
    let counters: serde_json::Value = serde_json::from_slice(&text).unwrap();
    assert!(counters["soft_resets"].as_u64().unwrap() >= u64::from(6 * ROUNDS));
    assert!(counters["vblanks"].as_u64().unwrap() >= 120);
    assert!(idle <= first + NOISE_KIB, "idle: {first} KiB, then {idle}");
    assert!(
        grown <= NOISE_KIB,
        "{ROUNDS} resets and modes: {grown} KiB more each time"
    );
}

#[test]
fn unwritable_outputs_are_errors() {
    let dir = tempfile::tempdir().unwrap();
    let output = board(dir.path(), &["--trace", "missing/t"]).output();
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("missing/t"));

    let child = board(dir.path(), &["--counters", "missing/c"]);
    wait_for(&dir.path().join("s"));
    child.signal(Signal::TERM);
    let output = child.output();
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("missing/c"));
}

#[test]
fn bad_options_are_named() {
    let dir = tempfile::tempdir().unwrap();
    let output = board(dir.path(), &["--bar-mib", "100"]).output();
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("--bar-mib"));
    let output = board(dir.path(), &["--chip", "rv999"]);
    assert_eq!(output.output().status.code(), Some(2));
}
