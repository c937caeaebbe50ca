# SPDX-License-Identifier: MIT
"""What the suites are written with: @case, and the Lab that each test gets."""

from __future__ import annotations

import itertools
import json
import os
import re
import shutil
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

import pytest

from . import board_counters, cases, graph, subtests
from .guest import Boot
from .paths import BUILD, CHECK, TOP, shown
from .procs import WITH_PARENT, environment, last_lines

Runner = str  # "", igt, cargo, pytest, piglit


@dataclass(frozen=True)
class Info:
    """A test: its name, its tier, what must have passed before, and how its cases are read."""

    name: str
    arguments: Mapping[str, str] = field(default_factory=dict)
    tier: str = ""
    needs: tuple[str, ...] = ()
    runner: Runner = ""
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()


@dataclass(frozen=True)
class SuiteInfo:
    """What a module says of itself, in its pytestmark."""

    finds: str
    lane: str = "guests"
    tier: str = "check"
    order: int = 0


def suite(finds: str, lane: str = "guests", tier: str = "check", order: int = 0) -> pytest.MarkDecorator:
    """The mark of a module of tests.

    `finds` is for docs/checks.md. `lane` "builds": it needs no guest, or compiles, and goes beside suites
    with guests. `tier` "all": none of its tests is in "make check". Suites run in `order`.
    """
    return pytest.mark.nomap_suite(SuiteInfo(finds, lane, tier, order))


def case(name: str, *, tier: str = "", needs: Sequence[str] = (), runner: Runner = "", include: Sequence[str] = (),
         exclude: Sequence[str] = (), **lists: Sequence[str]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Makes a function the test `name`, or one test for each combination of `lists`, which it gets as arguments.

    `name` and `needs` are formatted with them. `tier` is the suite's if empty. `needs` are tests that must
    have passed before: it is not run, and fails, if one of these failed; it is skipped if one was skipped.
    `runner` says whose cases become items of their own; `include` and `exclude` are those of IGT.
    """

    def declare(function: Callable[..., None]) -> Callable[..., None]:
        found = getattr(function, "nomap_cases", [])
        for values in itertools.product(*lists.values()):
            arguments = dict(zip(lists, values, strict=True))
            found.append(Info(name.format(**arguments), arguments, tier, tuple(n.format(**arguments) for n in needs),
                              runner, tuple(include), tuple(exclude)))
        function.nomap_cases = found  # type: ignore[attr-defined]
        return function

    return declare


class Result(NamedTuple):
    """What a command left."""

    status: int
    out: str
    err: str


def last_words(text: str) -> str:
    """How `text` ends, without what is about a stage of a build ("[ 0:02] igt: done in 1 s"), or nothing."""
    said = [line for line in text.splitlines() if line.strip() and not re.match(r"\[ *\d+:\d\d\] ", line)]
    return cases.conclusion(said) if said else ""


class Lab:
    """The lab for one test. What its commands say goes to the test's log."""

    def __init__(self, info: Info, only: Sequence[str] = ()) -> None:
        self.info = info
        #: Cases that were asked for, for the runner; all if empty.
        self.only = list(only)
        self.cases: list[cases.Case] = []
        self.last_err = ""
        CHECK.mkdir(parents=True, exist_ok=True)
        self.log = CHECK / ("".join(c if c.isalnum() or c in "._-" else "_" for c in info.name) + ".log")
        self.log.write_bytes(b"")

    # Results

    def fail(self, reason: str) -> NoReturn:
        """Ends the test as failed."""
        pytest.fail(reason, pytrace=False)

    def skip(self, reason: str) -> NoReturn:
        """Ends the test as skipped, for a reason that the machine gives; without one it fails."""
        if not reason.strip():
            self.fail("skipped without a reason")
        pytest.skip(reason)

    def note(self, text: str) -> None:
        """Adds text to the log."""
        with open(self.log, "a", encoding="utf-8") as f:
            f.write(text if text.endswith("\n") else text + "\n")

    def record(self, *names: str) -> None:
        """Notes down commit, machine and date beside build/results/NAME.json, which has no times."""
        self.call("bench/lib/record", "--counts", *names)

    def dir(self, name: str) -> Path:
        """build/check/NAME, emptied."""
        path = CHECK / name
        shutil.rmtree(path, ignore_errors=True)
        path.mkdir(parents=True)
        return path

    def guest_path(self, path: Path | str) -> str:
        """A path below build/ as the guest has it."""
        return f"/build/{(TOP / path).relative_to(BUILD)}"

    def build(self, *stages: str) -> None:
        """Brings stages up to date."""
        graph.ensure(*stages)

    # Commands

    def status(self, *cmd: object, env: Mapping[str, str] | None = None, cwd: Path = TOP, input: str | None = None) -> Result:
        """Runs a program of the build root; no status is a failure."""
        words = [str(w) for part in cmd for w in (part if isinstance(part, (list, tuple)) else [part])]
        self.note(f"$ {' '.join(words)[:400]}")
        done = subprocess.run([*WITH_PARENT, *words], env=environment(env, cwd), cwd=cwd, text=True, errors="replace",
                              capture_output=True, check=False, input=input or "")
        self.note(done.stdout + done.stderr)
        self.last_err = done.stderr
        return Result(done.returncode, done.stdout, done.stderr)

    def call(self, *cmd: object, ok: Sequence[int] = (0,), skip77: bool = False, env: Mapping[str, str] | None = None,
             cwd: Path = TOP, input: str | None = None) -> str:
        """Runs a program of the build root and returns its stdout; fails the test on a status that is not in `ok`.

        With `skip77` that status skips the test, with the last line of the output as the reason.
        """
        done = self.status(*cmd, env=env, cwd=cwd, input=input)
        said = [line for line in (done.out + done.err).splitlines() if line.strip()]
        if skip77 and done.status == 77:
            self.skip(said[-1] if said else "")
        if done.status not in ok:
            self.fail(f"exit status {done.status}: {cases.conclusion(said)}")
        return done.out

    def sh(self, script: str, *args: object, **options: Any) -> str:
        """Runs a script by bash -e; it gets `args`."""
        return self.call("bash", "-euo", "pipefail", "-c", script, "bash", *args, **options)

    def lab(self, name: str, *args: object, status: int | None = 0, env: Mapping[str, str] | None = None,
            cwd: Path = TOP) -> Result:
        """A command of the lab, as a user types it; fails the test on another exit status (None: any)."""
        done = self.status(TOP / "lab" / name, *args, env={"NOMAP_LOGS": str(self.logs), **(env or {})}, cwd=cwd)
        if status is not None and done.status != status:
            said = last_words(done.err) or last_words(done.out) or "no output"
            self.fail(f"lab/{name}: exit status {done.status}, not {status}: {said}")
        return done

    @property
    def logs(self) -> Path:
        """Where guests of this suite write their logs: two must not write the same."""
        return CHECK / f"guest-{self.info.name.split('/')[0]}"

    def _run_words(self, cmd: Sequence[object], boot: Mapping[str, Any]) -> list[object]:
        words: list[object] = []
        known = {f.name: f for f in fields(Boot)}
        for name, value in boot.items():
            option = f"--{name.replace('_', '-')}"
            if name not in known:
                raise TypeError(f"lab/run has no option {option}")
            if name in ("radeon", "hypervisor"):
                words += [] if value else [f"--no-{name}"]
            elif isinstance(value, bool):
                words += [option] if value else []
            else:
                for v in value if isinstance(value, list) else [value]:
                    words += [option, v]
        return [*words, "--", *cmd]

    def run(self, *cmd: object, status: int | None = 0, env: Mapping[str, str] | None = None, **boot: Any) -> str:
        """Runs `cmd` in a guest and returns its stdout; keywords are the fields of Boot."""
        return self.lab("run", *self._run_words(cmd, boot), status=status, env=env).out

    def counters(self, board_json: Path | str, *conditions: str) -> None:
        """Fails unless the board's counters meet all conditions, such as "draws > 100"."""
        counters = json.loads((TOP / board_json).read_text(encoding="utf-8"))
        wrong = board_counters.check(counters, conditions)
        self.note("\n".join(wrong))
        if wrong:
            self.fail("; ".join(wrong))

    # Runners, whose cases become items of their own

    def _read(self, runner: Runner, status: int, results: Path | None) -> None:
        log = self.log.read_text(encoding="utf-8", errors="replace")
        self.cases = cases.judge(cases.READERS[runner](log, cases.load(runner, results)), status, log)

    def igt(self, results: Path | str, *, flags: Sequence[str] = (), command: str = "", args: Sequence[object] = (),
            include: Sequence[str] = (), exclude: Sequence[str] = (), **boot: Any) -> None:
        """IGT in a guest: the subtests that the case includes, or those of them that were asked for.

        `results` is the directory of igt-tests/run. `command` is a script that runs "$@" instead, with `args` as $1 and on.
        """
        self.build("igt")
        filters: list[str] = []
        if self.only:
            for name in self.only:
                filters += ["-t", f"^igt@{name}$"]
        else:
            for pattern in [*self.info.include, *include]:
                filters += ["-t", pattern]
            for pattern in [*self.info.exclude, *exclude]:
                filters += ["-x", pattern]
        words: list[object] = ["/build/igt-tests/run", *flags, "-r", self.guest_path(results), *filters]
        (TOP / results / "results.json").unlink(missing_ok=True)
        if command:
            words = ["bash", "-c", command, "bash", *args, *words]
        done = self.lab("run", *self._run_words(words, boot), status=None)
        self._read("igt", done.status, TOP / results / "results.json")

    def cargo(self, *cmd: object) -> None:
        """A program that prints as "cargo test" does; it gets the cases that were asked for."""
        done = self.status(*cmd, *self.only)
        self._read("cargo", done.status, None)

    def piglit(self, *args: object, out: Path | str) -> None:
        """lab/piglit with these arguments."""
        self._judged(out, "piglit", *args)

    def piglit_sample(self, name: str, chip: str, count: int, seed: int) -> Path:
        """A file for lab/piglit's --tests, called after NAME: COUNT tests that lab/piglit --sample draws for a chip."""
        tests = CHECK / f"piglit-{name}.tests"
        drawn = self.lab("piglit", "--chip", chip, "--sample", count, "--seed", seed)
        tests.write_text(drawn.out, encoding="utf-8")
        return tests

    def deqp(self, *args: object, out: Path | str) -> None:
        """lab/deqp with these arguments; skips if there is no source of VK-GL-CTS."""
        self._judged(out, "deqp", *args, may_skip=True)

    def deqp_sample(self, *args: object) -> str:
        """Names that lab/deqp --sample prints with these arguments; skips as deqp()."""
        done = self.lab("deqp", "--sample", *args, status=None)
        self._skip_if_77(done)
        return done.out

    def _judged(self, out: Path | str, command: str, *args: object, may_skip: bool = False) -> None:
        results = TOP / out / "results.json"
        results.unlink(missing_ok=True)
        only = [w for name in self.only for w in ("-t", f"^{name}$")]
        done = self.lab(command, *args, "--out", TOP / out, *only, status=None)
        if may_skip:
            self._skip_if_77(done)
        self._read("piglit", done.status, results)

    def _skip_if_77(self, done: Result) -> None:
        """Skips with the command's last words if its exit status is 77."""
        if done.status == 77:
            self.skip(done.err.strip().splitlines()[-1].removeprefix("nomap: error: "))

    def pytest(self, *files: object) -> None:
        """pytest on files of the repository."""
        xml = self.log.with_suffix(".pytest.xml")
        xml.unlink(missing_ok=True)
        only = ["-k", " or ".join(self.only)] if self.only else []
        env = {"PYTHONPATH": str(TOP / "lab"), "PYTEST_ADDOPTS": "", "PYTEST_XDIST_WORKER": ""}
        done = self.status("python3", "-B", "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", "-c", "/dev/null",
                           "--rootdir", TOP, "--import-mode=importlib", "--junitxml", xml, *only, *files, env=env)
        if done.status == 5 and self.only:
            self.fail(f"no test in {' '.join(map(str, files))} is called {' or '.join(self.only)}")
        self._read("pytest", done.status, xml)


def owned(info: Info, words: Sequence[str]) -> list[str]:
    """The IGT subtests that the words name and that this case would run."""
    return [n for n in subtests.asked_for(words) if n in set(subtests.chosen(info.include, info.exclude))]


def as_record(info: Info, lab: Lab, status: str, reason: str, seconds: float, cpu: float) -> dict[str, Any]:
    """What is kept of a test: plain values, for the report and for the process that shows it."""
    return {"suite": info.name.split("/")[0], "name": info.name, "status": status, "reason": reason,
            "seconds": round(seconds, 2), "cpu": round(cpu, 2), "log": shown(lab.log),
            "cases": [asdict(c) for c in lab.cases]}


def tail_of(record: Mapping[str, Any], n: int = 25) -> str:
    """The end of a test's log."""
    return last_lines(TOP / record["log"], n)


def read_records(path: Path) -> list[dict[str, Any]]:
    """The records of a run, in the order in which the tests ended."""
    if not path.exists():
        return []
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line]


def append_record(path: Path, record: Mapping[str, Any]) -> None:
    """Adds a record; what was written stays if the run is ended."""
    with open(path, "a", encoding="utf-8") as f:
        f.write(json.dumps(record) + "\n")
        f.flush()
        os.fsync(f.fileno())
