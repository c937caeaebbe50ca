# SPDX-License-Identifier: MIT
"""The report of bench/desktop-shares: shares are what was measured, and a test that did not run or draw is a fault."""
import json
import pathlib
import subprocess
import sys

import pytest

REPORT = pathlib.Path(__file__).resolve().parents[2] / "bench" / "desktop-shares" / "report.py"
TESTS = ("aa10text", "rgb10text", "copywinwin500", "putimage10", "putimage100", "shmput500", "getimage100",
         "glxgears")
SECOND = 10**9


def write_row(directory, test, rate=50.0, **changes):
    """10 s of a guest with two CPUs: 8 of their 20 s, engines 3 s, 1,000 traps of 100 us."""
    data = {"row": test, "status": 124 if test == "glxgears" else 0, "ns": 10 * SECOND, "cpus": 2,
            "guest_cpu_ns": 8 * SECOND, "trap_ns": 100_000, "irqs": 500, "mmio_reads": 400, "mmio_writes": 600,
            "ibs": 250, "draws": 2000, "engine_ns": 3 * SECOND, "environment": {"cpus": 2}, **changes}
    (directory / f"row-{test}.json").write_text(json.dumps(data))
    said = f"503 frames in 5.0 seconds = {rate:.3f} FPS\n" if test == "glxgears" else \
        f"   500 reps @  20.0 msec (    {rate:.1f}/sec): {test}\n"
    (directory / f"{test.replace('glxgears', 'gears')}.log").write_text("Sync time 1.0 msec\n" + said)


@pytest.fixture(name="sessions")
def fixture_sessions(tmp_path):
    sessions = [tmp_path / number for number in ("1", "2", "3")]
    for number, session in enumerate(sessions):
        session.mkdir()
        for test in TESTS:
            write_row(session, test, rate=40.0 + 10 * number)
    return sessions


def report(sessions, *options):
    return subprocess.run([sys.executable, "-B", REPORT, "--check", *options, *(f"debian={s}" for s in sessions)],
                          capture_output=True, text=True, check=False)


def test_shares_and_medians(sessions, tmp_path):
    out = tmp_path / "desktop.json"
    run = report(sessions, "--json", out)
    assert run.returncode == 0, run.stdout + run.stderr
    rows = json.loads(out.read_text())["rows"]
    assert [row["row"] for row in rows] == list(TESTS)
    for row in rows:
        assert (row["rate"], row["runs"], row["spread"]) == (50, 3, 1.5)
        assert (row["guest_cpu"], row["engine"], row["traps"]) == (0.4, 0.3, 0.01)
        # 2,000 draws and 1,000 traps in 10 s of 50 operations each.
        assert (row["draws_each"], row["traps_each"]) == (4, 2)


@pytest.mark.parametrize("changes", [{"draws": 0}, {"engine_ns": 0}, {"status": 1}])
@pytest.mark.parametrize("test", ["aa10text", "glxgears"])
def test_what_was_not_drawn_by_the_board_is_found(sessions, test, changes):
    write_row(sessions[1], test, **changes)
    run = report(sessions)
    assert run.returncode == 1 and test in run.stdout


@pytest.mark.parametrize("lost", ["row-putimage100.json", "putimage100.log"])
def test_what_is_missing_is_found(sessions, lost):
    (sessions[2] / lost).unlink()
    run = report(sessions)
    assert run.returncode == 1 and "putimage100" in run.stdout and "Traceback" not in run.stderr


def test_no_rate_is_found(sessions):
    (sessions[0] / "gears.log").write_text("X connection to :0 broken\n")
    run = report(sessions)
    assert run.returncode == 1 and "glxgears" in run.stdout


def test_other_stacks_are_compared_session_by_session(sessions, tmp_path):
    """The second stack's sessions take a half, 1 and twice the time of the first's."""
    words = [f"debian={s}" for s in sessions]
    for session, factor in zip(sessions, (2.0, 1.0, 0.5), strict=True):
        other = tmp_path / f"other-{session.name}"
        other.mkdir()
        for test in TESTS:
            write_row(other, test, rate=(40.0 + 10 * (int(session.name) - 1)) * factor)
        words.append(f"nomap={other}")
    out = tmp_path / "results.json"
    run = subprocess.run([sys.executable, "-B", REPORT, "--check", "--json", out, *words],
                         capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout + run.stderr
    assert "| aa10text (char) | 20,000.0 | 1.00 (0.50 to 2.00) |" in run.stdout
    found = json.loads(out.read_text())["stacks"]
    assert [row["row"] for row in found] == list(TESTS)
    assert {(row["stack"], row["time"], row["low"], row["high"]) for row in found} == {("nomap", 1.0, 0.5, 2.0)}


@pytest.mark.parametrize("words", [["debian"], ["debian=1", "debian=2", "nomap=3"]])
def test_sessions_that_cannot_be_compared_are_refused(words):
    run = subprocess.run([sys.executable, "-B", REPORT, *words], capture_output=True, text=True, check=False)
    assert run.returncode == 1 and "report.py: " in run.stderr
