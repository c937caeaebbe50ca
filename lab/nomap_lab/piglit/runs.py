# SPDX-License-Identifier: MIT
"""A run of a suite by a runner of Mesa CI: what lab/piglit and lab/deqp share.

Options, the directory of a run, the environment of lab/guest/NAME-run, guests that may die, lists of what
is expected, and results. SUITE is "piglit" or "deqp".
"""

from __future__ import annotations

import argparse
import contextlib
import os
import re
import shutil
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from nomap_lab import cli, guest, mesa_ci, procs
from nomap_lab.paths import BUILD, RESULTS, TOP, LabError, UsageError, host_path, say
from nomap_lab.piglit import known, summary
from nomap_lab.run_directory import run_directory

MAX_GUESTS = 12
#: Exit status of lab/guest/SUITE-run: the guest lives, its runner does not.
NO_RUNNER = 3


def pattern(text: str) -> re.Pattern[str]:
    """A type for argparse: a regular expression."""
    try:
        return re.compile(text)
    except re.error as error:
        raise argparse.ArgumentTypeError(f"'{text}' is no regular expression: {error}") from None


def add_options(parser: argparse.ArgumentParser, timeout: int) -> None:
    """The options of both commands. TIMEOUT is the default of --timeout in seconds."""
    parser.add_argument("--tests")
    parser.add_argument("-t", dest="only", metavar="REGEX", type=pattern, action="append", default=[])
    parser.add_argument("--out")
    parser.add_argument("--native", action="store_true")
    parser.add_argument("--chip", choices=list(mesa_ci.JUDGE), default="rv770")
    parser.add_argument("--mesa", choices=["patched", "unmodified"], default="patched")
    parser.add_argument("--module", choices=["patched", "stock"], default="patched")
    parser.add_argument("--strict", action="store_true")
    parser.add_argument("--timeout", type=cli.number("seconds"), default=timeout)
    parser.add_argument("--jobs", type=cli.number("a number of tests"))
    parser.add_argument("--sample", type=cli.number("a number of tests"))
    parser.add_argument("--seed", type=cli.number("a seed"), default=1)


def need_tests_and_out(args: argparse.Namespace) -> None:
    """Raises UsageError if an option is missing without which nothing can be run."""
    if not args.tests or not args.out:
        raise UsageError("--tests and --out are needed: what to run, and where to put the results")


def make_out(args: argparse.Namespace) -> Path:
    """The directory that --out names, made. Raises LabError if that cannot be."""
    out = host_path(args.out)
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise LabError(f"--out: {args.out} cannot be made: {error.strerror}") from None
    return out


def seen(suite: str, chip: str) -> dict[str, str]:
    """Mesa CI's lists by kind for a chip: those of the real one that it is judged by."""
    judge = mesa_ci.JUDGE[chip]
    return {kind: (BUILD / f"{suite}-expected/{judge}-{kind}.txt").read_text(encoding="utf-8") for kind in mesa_ci.KINDS}


def expect(run: Path, lists: Mapping[str, str], *known_fails: str) -> None:
    """Writes what Mesa CI has seen, LISTS of "fails", "skips" and "flakes", to the directory RUN.

    Failures for a known reason, which the files KNOWN_FAILS of lab/piglit-sets have, are expected, too, and reported
    separately.
    """
    text = "".join((TOP / "lab/piglit-sets" / name).read_text(encoding="utf-8") for name in known_fails)
    failures = known.failures(text, lists["fails"])
    (run / "known").write_text("".join(f"{test}  # {cause}\n" for test, cause in failures), encoding="utf-8")
    more = {"fails": "".join(f"{re.sub(' *#.*', '', test)}\n" for test, _ in failures)}
    for what, listed in lists.items():
        (run / f"{what}.txt").write_text(listed + more.get(what, ""), encoding="utf-8")


def natively(args: argparse.Namespace, run: Path, suite: str, *words: str) -> None:
    """All tests, in the build root."""
    prefix = suite.upper()
    env = {f"{prefix}_JOBS": str(args.jobs or len(os.sched_getaffinity(0))), f"{prefix}_TIMEOUT": str(args.timeout),
           f"{prefix}_SHIM": str(BUILD / "board/libr7xx_shim.so"), "R7XX_CHIP": args.chip,
           f"{prefix}_MESA": str(BUILD / "mesa/patched/lib") if args.mesa == "patched" else ""}
    if args.strict:
        env["R7XX_STRICT"] = "1"
    status = procs.call(["bash", run / f"{suite}-run", BUILD, run, *words], env=env, check=False).returncode
    if status:
        say(f"{suite}: the runner ended with status {status}")


def in_guests(args: argparse.Namespace, run: Path, count: int, suite: str, divide: Callable[[Path], list[Path]],
              *words: str) -> None:
    """A guest for all COUNT tests. Where it dies, the tests of the part that was being run get a part each, so that
    the next guest finds the one that killed it. DIVIDE makes the parts, and returns those that are left."""
    inside = f"/build/{run.relative_to(BUILD)}"
    prefix = suite.upper()
    cmd = ["env", f"{prefix}_JOBS={args.jobs or 1}", f"{prefix}_TIMEOUT={args.timeout}", f"{prefix}_SHIM=", f"{prefix}_MESA=",
           "bash", f"{inside}/{suite}-run", "/build", inside, *words]
    for n in range(1, MAX_GUESTS + 1):
        left = divide(run)
        if not left:
            break
        tests = sum((part / "names").read_text(encoding="utf-8").count("\n") for part in left)
        say(f"{suite}: {tests} tests in guest {n}, {args.chip}, {args.module} radeon.ko")
        boot = guest.Boot(board=f"--chip {args.chip}{' --strict' * args.strict}", module=args.module, mesa=args.mesa,
                          timeout=600 + count * args.timeout, logs=run / f"guest.{n}")
        log = run / f"guest.{n}.log"
        with open(log, "wb") as f:
            status = guest.run(boot, cmd, stdout=f, stderr=f)
        if not status:
            break
        said = log.read_text(encoding="utf-8", errors="replace").splitlines() or ["nothing was said"]
        say(f"{suite}: guest {n} ended with status {status}: {said[-1]}")
        (run / f"guest.{n}.status").write_text(f"{status}\n", encoding="ascii")
        # If the runner cannot run at all, another guest does not help.
        if status == NO_RUNNER and not list(run.glob("parts/*/out/results.csv")):
            say("\n".join(said[-20:]))
            break


def keep(args: argparse.Namespace, run: Path, out: Path, seconds: int, title: str) -> bool:
    """Judges the results in the directory RUN, and copies them and the logs to OUT. Returns whether all is well.

    TITLE is the suite's name in the summary.
    """
    shutil.rmtree(out / "logs", ignore_errors=True)
    # A guest's own log is in the directory of that guest.
    for log in run.rglob("*.log"):
        (out / "logs" / log.relative_to(run)).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(log, out / "logs" / log.relative_to(run))
    # A kernel report in a guest is a fault, whatever the tests say.
    where = "native" if args.native else f"guest, {args.module} radeon.ko"
    good = summary.summarise(run, f"{args.chip}, {where}{', strict' * args.strict}, {args.mesa} Mesa", seconds, title)
    for name in ("results.csv", "results.json", "summary.html"):
        shutil.copy(run / name, out)
    return good


@contextlib.contextmanager
def directory(suite: str) -> Iterator[Path]:
    """A directory for a run, which guests see, and which is removed afterwards."""
    with run_directory(RESULTS / suite) as run:
        run.chmod(0o755)
        shutil.copy(TOP / f"lab/guest/{suite}-run", run)
        yield run
