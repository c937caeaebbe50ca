# SPDX-License-Identifier: MIT
"""usage: lab/check [OPTION...] [SUITE [TEST...] | SUITE/TEST]... [PYTEST-OPTION...]

Runs the tests of lab/suites/ by pytest. Without a SUITE: those of the tier "check", which
is what "make check" does. With one: all of its tests, or the TESTs that follow it. A
TEST is a name that --list prints, with or without "SUITE/" before it, or one that a
runner within the suite knows (a subtest of IGT, a test of cargo). Each test first brings
what it uses up to date.

    lab/check boot
    lab/check boot counters screenshot
    lab/check boot/counters deb/lintian
    lab/check igt radeon_gem_pwrite@vram
    lab/check board hostile_client
    lab/check -k 'strict and not reclock' -x

  --tier check|all   tests of this tier: "check" has what finds most for its minutes,
                     "all" (make check-all) has every test
  --list             prints the tests (suite/test, tier, runner if any), runs none
  --lanes N          suites side by side, as pytest's -n (default: CPUs, at most 2;
                     1 with a SUITE)
  --resume           go on with a run that was interrupted: what has ended is kept, if the
                     files of the repository are the same
  -h, --help

Of pytest's options: -k, -m, -x, --maxfail, --lf, --ff, -n, --co, -v, --junitxml,
--durations, --tb, -p.

Results: build/check/results.jsonl (a line for each test, as it ends), junit.xml (JUnit),
report.html, one log for each test, all in build/check/. The last line is "N passed, M
failed, K skipped"; a skip always has a reason that the machine gives, and one without is a
failure. Exit status: 0 if nothing failed, 1 if something did, 2 for a usage error.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time

from .. import cache, graph, report, stages
from ..paths import CHECK, RESULTS, TOP, UsageError, locked, say
from ..plugin import RECORDS, SUITES, suite_file

#: pytest's options that take a value, and those that do not.
VALUED = {"-k", "-m", "--maxfail", "-n", "--junitxml", "--durations", "--tb", "-p"}
PLAIN = {"-x", "--lf", "--ff", "--last-failed", "--failed-first", "--co", "--collect-only", "-v", "-vv", "--sw"}


def build_suites() -> str:
    """Names of the suites of the lane "builds", for the scheduler."""
    found = []
    for path in SUITES.glob("test_*.py"):
        if re.search(r'suite\([^)]*lane="builds"', path.read_text(encoding="utf-8")):
            found.append(path.stem.removeprefix("test_").replace("_", "-"))
    return " ".join(found)


def state() -> str:
    """A key of the repository's files, by which a run is known to be of the same state."""
    files = subprocess.run(["git", "-c", "safe.directory=*", "ls-files", "-z"], cwd=TOP, stdout=subprocess.PIPE,
                           stderr=subprocess.DEVNULL, check=False)
    names = [TOP / n for n in files.stdout.decode().split("\0") if n]
    return cache.digest((), [n for n in names if n.is_file()] or [TOP / "lab"])


def main(argv: list[str]) -> int:
    tier, lanes, words, options, listing, resume = "", "", [], [], False, False
    i = 0
    while i < len(argv):
        word, _, value = argv[i].partition("=")
        if word in ("-h", "--help"):
            print((__doc__ or "").strip())
            return 0
        if word in ("--tier", "--lanes") or word in VALUED:
            if not value:
                i += 1
                if i == len(argv):
                    raise UsageError(f"{word} needs a value")
                value = argv[i]
            if word == "--tier":
                tier = value
            elif word in ("--lanes", "-n"):
                lanes = value
            else:
                options += [word, value]
        elif word == "--list":
            listing = True
        elif word == "--resume":
            resume = True
        elif word in PLAIN:
            options.append(word)
        elif word.startswith("-"):
            raise UsageError(f"unknown option {word}; of pytest's it takes {' '.join(sorted(VALUED | PLAIN))}")
        else:
            words.append(argv[i])
        i += 1
    if tier not in ("", "check", "all"):
        raise UsageError("--tier takes check or all")
    if not re.fullmatch(r"|auto|[0-9]", lanes) or (lanes == "0" and "--lanes" in argv):
        raise UsageError("--lanes takes a number from 1 to 9")
    narrow = bool(words or {"-k", "-m", "--lf", "--last-failed"} & set(options))
    if not tier:
        tier = "" if words else "all" if listing or narrow else "check"
    if not lanes or lanes == "auto":
        lanes = "1" if narrow else str(min(2, os.cpu_count() or 1))
    for d in (CHECK, RESULTS):
        d.mkdir(parents=True, exist_ok=True)
    env = {**os.environ, "PYTHONPATH": str(TOP / "lab"), "NOMAP_BUILD_SUITES": build_suites()}
    for name in ("PYTEST_ADDOPTS", "PYTEST_XDIST_WORKER"):
        env.pop(name, None)
    # Only the suites that are named are read, if there are such.
    files = [str(f) for f in map(suite_file, words) if f.exists()] or [str(SUITES)]
    cmd = [sys.executable, "-B", "-m", "pytest", "-p", "nomap_lab.plugin", "-c", str(TOP / "lab/pyproject.toml"),
           "--rootdir", str(TOP), "-o", f"cache_dir={TOP}/build/.lab/pytest", "--tier", tier or "all",
           "--suite-words", " ".join(words), *options, *dict.fromkeys(files)]
    if listing:
        quiet = [*cmd, "--tests", "-qqq", "--no-header", "--no-summary"]
        done = subprocess.run(quiet, env=env, check=False, cwd=TOP, stdout=subprocess.PIPE, text=True)
        print(done.stdout.strip())
        return _status(done.returncode, True)
    if "--co" in options or "--collect-only" in options:
        return _status(subprocess.run([*cmd, "-q"], env=env, check=False, cwd=TOP).returncode, True)
    if words:
        # Names that are none are said at once, also beside another run.
        known = subprocess.run([*cmd, "--tests", "-qqq", "--no-header", "--no-summary"], env=env, check=False, cwd=TOP,
                               stdout=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
        if known.returncode == 4:
            return 2
    with locked(CHECK / ".lock", "another lab/check is running in this checkout: wait for it, or work in another clone"):
        if not narrow and (TOP / "emulator").is_dir():
            # Here it shows its progress; a test that uses it would build it mutely. The lab's own tests
            # have directories with suites and nothing to build.
            graph.ensure(*stages.ALL)
        return _run(cmd, env, lanes, resume, tier)


def _status(pytest_status: int, listed: bool = False) -> int:
    """Our exit status for pytest's: 4 is a usage error, 5 that there is no such test."""
    return {0: 0, 1: 1, 2: 130, 4: 2, 5: 0 if listed else 2}.get(pytest_status, 1)


def _run(cmd: list[str], env: dict[str, str], lanes: str, resume: bool, tier: str) -> int:
    begun, key, mark = time.monotonic(), state(), CHECK / "state"
    if resume and (not RECORDS.exists() or not mark.exists() or mark.read_text(encoding="ascii") != key):
        say("check: there is no interrupted run of this state of the repository: all tests are run")
        resume = False
    if not resume:
        for name in ("junit.xml", "report.html"):
            (CHECK / name).unlink(missing_ok=True)
        RECORDS.write_bytes(b"")
        mark.write_text(key, encoding="ascii")
    kept = len(RECORDS.read_bytes().splitlines())
    if kept:
        say(f"check: {kept} tests of the interrupted run are kept")
    extra = ["--resume"] if resume else []
    if lanes not in ("0", "1"):
        extra += ["-n", lanes, "--max-worker-restart", "0"]
    done = subprocess.run([*cmd, *extra, "-qq", "--no-header", "--no-summary", "-rN", "-p",
                           "no:terminaldistreporter", "--continue-on-collection-errors"], env=env, check=False, cwd=TOP,
                          stdin=subprocess.DEVNULL)
    if done.returncode != 4:
        say("check: done")
    if done.returncode not in (0, 1):
        status = _status(done.returncode)
        if status != 130 or not RECORDS.read_bytes():
            return 0 if done.returncode == 5 and kept else status
    if not RECORDS.read_bytes():
        return _status(done.returncode) or 1
    good = report.make(CHECK, int(time.monotonic() - begun), tier or "all", died=done.returncode not in (0, 1, 5))
    return 0 if good else 1


