# SPDX-License-Identifier: MIT
"""usage: lab/piglit [OPTION...] --tests FILE --out DIR
       lab/piglit --sample N [--seed SEED]

Runs tests of Debian's piglit on the emulated board with Mesa CI's runner (piglit-runner
of deqp-runner), and judges them by what Mesa CI has seen on a real RV770: its lists of
failures, skips and flakes, from the source package of the Mesa that is tested.

  --tests FILE      names of tests of the profiles quick_gl and quick_shader, one a line;
                    "NAME*" is all that begin so, "#" begins a comment. lab/piglit-sets/
                    has some
  -t REGEX          only those of them whose names match (may be repeated)
  --out DIR         for results.csv (NAME,STATUS, as piglit-runner writes them),
                    summary.html, results.json (piglit's own format) and the runner's logs
  --native          without guest and kernel: Mesa renders on the board's 3D engine in the
                    test's own process (r7xx-shim)
  --chip NAME       rv770 (default) or rv710
  --mesa WHICH      patched (default) or unmodified, Debian's
  --module WHICH    radeon.ko of the guest: patched (default) or stock
  --strict          on the strict board; with --native, what is strict between a
                    guest and its board is not there, the caches of the 3D engine are
  --timeout S       seconds that a test may take (default 300)
  --jobs N          tests at a time (default: CPUs; in a guest 1)
  --sample N        prints N names of both profiles, drawn at random from SEED (default 1),
                    for --tests

A test that crashes or hangs costs only itself; so does one that takes the guest with it,
which is booted again for the rest. Tests of GLSL 4 and later, which an R700 skips, count
as skipped without being run.

Exit status: 0 if no test did worse than on the real chip, 1 if one did, 2 for wrong
arguments.
"""
import argparse
import fcntl
import os
import re
import shutil
import tempfile
import time
from pathlib import Path

from nomap_lab import cli, graph, guest, procs
from nomap_lab.paths import BUILD, RESULTS, TOP, LabError, UsageError, host_path, say
from nomap_lab.piglit import known, parts, select, summary

PIGLIT = BUILD / "piglit/piglit"
MAX_GUESTS = 12
#: Exit status of lab/guest/piglit-run: the guest lives, its runner does not.
NO_RUNNER = 3


def pattern(text: str) -> re.Pattern[str]:
    """A type for argparse: a regular expression."""
    try:
        return re.compile(text)
    except re.error as error:
        raise argparse.ArgumentTypeError(f"'{text}' is no regular expression: {error}") from None


def options(argv: list[str]) -> argparse.Namespace:
    """The options."""
    parser = cli.parser(__doc__, prog="lab/piglit")
    parser.add_argument("--tests")
    parser.add_argument("-t", dest="only", metavar="REGEX", type=pattern, action="append", default=[])
    parser.add_argument("--out")
    parser.add_argument("--native", action="store_true")
    parser.add_argument("--chip", choices=["rv770", "rv710"], default="rv770")
    parser.add_argument("--mesa", choices=["patched", "unmodified"], default="patched")
    parser.add_argument("--module", choices=["patched", "stock"], default="patched")
    parser.add_argument("--strict", action="store_true")
    parser.add_argument("--timeout", type=cli.number("seconds"), default=300)
    parser.add_argument("--jobs", type=cli.number("a number of tests"))
    parser.add_argument("--sample", type=cli.number("a number of tests"))
    parser.add_argument("--seed", type=cli.number("a seed"), default=1)
    return parser.parse(argv)


def run_natively(args: argparse.Namespace, run: Path) -> None:
    """All tests, in the build root."""
    env = {"PIGLIT_JOBS": str(args.jobs or len(os.sched_getaffinity(0))), "PIGLIT_TIMEOUT": str(args.timeout),
           "PIGLIT_SHIM": str(BUILD / "board/libr7xx_shim.so"), "R7XX_CHIP": args.chip,
           "PIGLIT_MESA": str(BUILD / "mesa/patched/lib") if args.mesa == "patched" else ""}
    if args.strict:
        env["R7XX_STRICT"] = "1"
    status = procs.call(["bash", run / "piglit-run", BUILD, run, "all"], env=env, check=False).returncode
    if status:
        say(f"piglit: the runner ended with status {status}")


def run_in_guests(args: argparse.Namespace, run: Path, count: int) -> None:
    """A guest for all tests. Where it dies, the tests of the part that was being run get a part each, so that the
    next guest finds the one that killed it."""
    inside = f"/build/{run.relative_to(BUILD)}"
    cmd = ["env", f"PIGLIT_JOBS={args.jobs or 1}", f"PIGLIT_TIMEOUT={args.timeout}", "PIGLIT_SHIM=", "PIGLIT_MESA=",
           "bash", f"{inside}/piglit-run", "/build", inside, "parts"]
    for n in range(1, MAX_GUESTS + 1):
        left = parts.divide(run)
        if not left:
            break
        tests = sum((part / "names").read_text(encoding="utf-8").count("\n") for part in left)
        say(f"piglit: {tests} tests in guest {n}, {args.chip}, {args.module} radeon.ko")
        boot = guest.Boot(board=f"--chip {args.chip}{' --strict' * args.strict}", module=args.module, mesa=args.mesa,
                          timeout=600 + count * args.timeout, logs=run / f"guest.{n}")
        log = run / f"guest.{n}.log"
        with open(log, "wb") as f:
            status = guest.run(boot, cmd, stdout=f, stderr=f)
        if not status:
            break
        said = log.read_text(encoding="utf-8", errors="replace").splitlines() or ["nothing was said"]
        say(f"piglit: guest {n} ended with status {status}: {said[-1]}")
        (run / f"guest.{n}.status").write_text(f"{status}\n", encoding="ascii")
        # If the runner cannot run at all, another guest does not help.
        if status == NO_RUNNER and not list(run.glob("parts/*/out/results.csv")):
            say("\n".join(said[-20:]))
            break


def run_tests(args: argparse.Namespace, tests: Path, out: Path, run: Path) -> int:
    """Runs TESTS with the directory RUN, which guests see, and copies the results to OUT."""
    count = select.choose(PIGLIT, tests, run, args.only, args.tests)
    shutil.copy(TOP / "lab/guest/piglit-run", run)
    lists = {what: (BUILD / f"piglit-expected/{what}.txt").read_text(encoding="utf-8")
             for what in ("fails", "skips", "flakes")}
    # Failures for a known reason are expected, too, and reported separately.
    sets = TOP / "lab/piglit-sets"
    failures = known.failures((sets / "known-fails").read_text(encoding="utf-8"), lists["fails"])
    (run / "known").write_text("".join(f"{test}  # {cause}\n" for test, cause in failures), encoding="utf-8")
    lists["fails"] += "".join(f"{re.sub(' *#.*', '', test)}\n" for test, _ in failures)
    flakes = (sets / "known-flakes").read_text(encoding="utf-8").splitlines()
    lists["flakes"] += "".join(f"{line.split('  # ')[0]}\n" for line in flakes if "  # " in line)
    for what, text in lists.items():
        (run / f"{what}.txt").write_text(text, encoding="utf-8")
    started = time.monotonic()
    if args.native:
        say(f"piglit: {count} tests, natively, {args.chip}")
        run_natively(args, run)
    else:
        run_in_guests(args, run, count)
    shutil.rmtree(out / "logs", ignore_errors=True)
    # A guest's own log is in the directory of that guest.
    for log in run.rglob("*.log"):
        (out / "logs" / log.relative_to(run)).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(log, out / "logs" / log.relative_to(run))
    # A kernel report in a guest is a fault, whatever the tests say.
    where = "native" if args.native else f"guest, {args.module} radeon.ko"
    good = summary.summarise(run, f"{args.chip}, {where}{', strict' * args.strict}, {args.mesa} Mesa",
                             int(time.monotonic() - started))
    for name in ("results.csv", "results.json", "summary.html"):
        shutil.copy(run / name, out)
    return 0 if good else 1


def main(argv: list[str]) -> int:
    """The command."""
    args = options(argv)
    if args.sample:
        graph.ensure("piglit")
        print("\n".join(select.sample(PIGLIT, args.sample, args.seed)))
        return 0
    if not args.tests or not args.out:
        raise UsageError("--tests and --out are needed: what to run, and where to put the results")
    tests, out = host_path(args.tests), host_path(args.out)
    if not os.access(tests, os.R_OK) or not tests.is_file():
        raise UsageError(f"--tests: there is no file {args.tests} that can be read: lab/piglit-sets/ has some")
    graph.ensure("piglit", "board", *["mesa"] * (args.mesa == "patched"))
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise LabError(f"--out: {args.out} cannot be made: {error.strerror}") from None
    base = RESULTS / "piglit"
    base.mkdir(parents=True, exist_ok=True)
    remove_old(base)
    with tempfile.TemporaryDirectory(prefix=".run.", dir=base) as name:
        lock = os.open(name, os.O_RDONLY)
        try:
            fcntl.flock(lock, fcntl.LOCK_SH)
            os.chmod(name, 0o755)
            return run_tests(args, tests, out, Path(name))
        finally:
            os.close(lock)


def remove_old(base: Path) -> None:
    """Removes the directories of runs that were killed; a run that lives holds a lock on its own."""
    for path in base.glob(".run.*"):
        if path.stat().st_mtime > time.time() - 60:
            continue
        lock = os.open(path, os.O_RDONLY)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(path, ignore_errors=True)
        except BlockingIOError:
            pass
        finally:
            os.close(lock)
