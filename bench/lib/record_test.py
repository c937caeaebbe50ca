# SPDX-License-Identifier: MIT
"""bench/lib/record measures how quiet the machine is, on a /proc of the test's own."""

import hashlib
import json
import os
import pathlib
import shutil
import subprocess
import sys

import pytest

RECORD = pathlib.Path(__file__).with_name("record")
# user nice system idle iowait irq softirq steal
STAT = "cpu  {} 0 0 {} 0 0 0 {} 0 0\n"


@pytest.fixture(name="machine")
def fixture_machine(tmp_path):
    proc = tmp_path / "proc"
    proc.mkdir()
    (proc / "loadavg").write_text("0.25 0.10 0.05 1/100 1234\n")
    (proc / "cpuinfo").write_text('model name\t: A "CPU"\nmodel name\t: A "CPU"\n')
    (proc / "meminfo").write_text("MemTotal:        4194304 kB\n")
    (proc / "stat").write_text(STAT.format(1000, 5000, 10))
    (tmp_path / "results").mkdir()
    return tmp_path


def run(machine, command, *names, record=RECORD):
    return subprocess.run(
        [record, *(names or ("x",)), "--", "sh", "-c", command], check=False, capture_output=True, text=True, cwd=machine,
        env={**os.environ, "NOMAP_BUILD": str(machine), "RECORD_PROC": str(machine / "proc")})


def after(user, idle, steal):
    """A command that leaves results, while the machine's clocks go on."""
    return f"echo '{{}}' >results/x.json; echo '{STAT.format(user, idle, steal).strip()}' >proc/stat"


def recorded(machine):
    return json.loads((machine / "results/x.recorded.json").read_text())


def test_a_quiet_machine(machine):
    assert run(machine, after(1000, 5400, 10)).returncode == 0
    found = recorded(machine)
    assert found["foreign"] == 0 and found["stolen"] == 0 and found["load"] == 0.25
    assert found["machine"]["cpu"] == 'A "CPU"' and found["machine"]["memory_mib"] == 4096
    assert found["spread"]["before"] >= 0 and found["spread"]["after"] >= 0
    assert found["sha256"] == hashlib.sha256((machine / "results/x.json").read_bytes()).hexdigest()
    assert found["date"].startswith("20") and len(found["commit"]) in (0, 40)


def test_others_take_cpu_time(machine):
    # Of 1,000 jiffies 300 were busy; the command itself took next to nothing.
    assert run(machine, after(1300, 5600, 110)).returncode == 0
    assert 0.28 <= recorded(machine)["foreign"] <= 0.30
    assert recorded(machine)["stolen"] == pytest.approx(0.1, abs=0.001)


def test_the_commands_own_cpu_time_is_not_foreign(machine):
    # 0.3 s of CPU time, however fast the machine is: 0.03 of the 900 jiffies that pass.
    program = "import time; all(iter(lambda: time.process_time() < 0.3, False))"
    assert run(machine, f"{sys.executable} -c '{program}'; " + after(1100, 5800, 10)).returncode == 0
    own = recorded(machine)["foreign"]
    assert run(machine, "echo '" + STAT.format(1000, 5000, 10).strip() + "' >proc/stat").returncode == 0
    (machine / "proc/stat").write_text(STAT.format(1000, 5000, 10))
    assert run(machine, after(1100, 5800, 10)).returncode == 0
    assert own < recorded(machine)["foreign"] - 0.02


def test_a_command_that_fails_records_nothing(machine):
    assert run(machine, after(1000, 5400, 10) + "; exit 7").returncode == 7
    assert not (machine / "results/x.recorded.json").exists()


@pytest.mark.parametrize("limit, status", [("0.0", 75), ("100.0", 0)])
def test_waits_until_the_loop_varies_little(machine, limit, status):
    lib = machine / "bench/lib"
    lib.mkdir(parents=True)
    results = RECORD.with_name("results.py").read_text()
    assert '"spread": 0.15}' in results
    (lib / "results.py").write_text(results.replace('"spread": 0.15}', f'"spread": {limit}}}'))
    shutil.copy(RECORD, lib / "record")
    done = run(machine, "touch ran; " + after(1000, 5400, 10), "--wait", "0", "x", record=lib / "record")
    assert done.returncode == status
    assert (machine / "ran").exists() == (status == 0)
    assert ("varies by" in done.stderr) == (status == 75)


def test_wait_without_seconds_is_an_error(machine):
    assert run(machine, "true", "--wait", "x").returncode == 2


def test_missing_results_are_an_error(machine):
    assert run(machine, "true").returncode == 1


def test_counts_have_commit_and_machine_alone(machine):
    (machine / "results/x.json").write_text("{}", encoding="ascii")
    done = subprocess.run([RECORD, "--counts", "x"], check=False, capture_output=True, text=True,
                          env={**os.environ, "NOMAP_BUILD": str(machine), "RECORD_PROC": str(machine / "proc")})
    assert done.returncode == 0, done.stderr
    found = recorded(machine)
    assert found["machine"]["cpu"] == 'A "CPU"' and len(found["commit"]) in (0, 40) and "load" not in found
    assert found["sha256"] == hashlib.sha256(b"{}").hexdigest()


@pytest.mark.parametrize("words", [["x"], ["--", "true"], ["x", "--"], ["--no", "--", "true"], ["a/b", "--", "true"],
                                   ["--counts"], ["--counts", "x", "--", "true"]])
def test_bad_command_lines(words):
    assert subprocess.run([RECORD, *words], check=False, capture_output=True).returncode == 2
