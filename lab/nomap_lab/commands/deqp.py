# SPDX-License-Identifier: MIT
"""usage: lab/deqp [OPTION...] --tests FILE|gles2|gles3 --out DIR
       lab/deqp --sample N [--seed SEED]

Runs tests of dEQP on the emulated board with Mesa CI's runner (deqp-runner), and judges
them by what Mesa CI has seen on the real chip: its lists of failures, skips and flakes,
from the source package of the Mesa that is tested. dEQP is built from a source of
VK-GL-CTS that you have.

  --tests FILE      names of tests, one a line; "NAME*" is all that begin so, "#" begins a
                    comment. gles2 and gles3: all that a conformant driver must pass
  -t REGEX          only those of them whose names match (may be repeated)
  --out DIR         for results.csv (NAME,STATUS, as deqp-runner writes them),
                    summary.html, results.json (piglit's format) and the runner's logs
  --source WHERE    the source of VK-GL-CTS: a directory with its source tree, or with an
                    archive of it and case lists, or a git URL (URL#TAG); default:
                    $NOMAP_VK_GL_CTS, or ../shared/suites
  --native          without guest and kernel: Mesa renders on the board's 3D engine in the
                    test's own process (r7xx-shim)
  --chip NAME       rv770 (default) or rv710
  --mesa WHICH      patched (default) or unmodified, Debian's
  --module WHICH    radeon.ko of the guest: patched (default) or stock
  --strict          on the strict board; with --native, what is strict between a
                    guest and its board is not there, the caches of the 3D engine are
  --timeout S       seconds that a test may take (default 120)
  --jobs N          tests at a time (default: CPUs; in a guest 1)
  --sample N        prints N names of all lists, drawn at random from SEED (default 1),
                    for --tests

A test that crashes or hangs costs only itself; so does one that takes the guest with it,
which is booted again for the rest. Tests of a module that the source lacks are skipped.

Exit status: 0 if no test did worse than on the real chip, 1 if one did, 2 for wrong
arguments, 77 if there is no source of VK-GL-CTS.
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
from nomap_lab.commands.piglit import MAX_GUESTS, NO_RUNNER, pattern, remove_old
from nomap_lab.deqp import lists, source
from nomap_lab.paths import BUILD, RESULTS, TOP, LabError, UsageError, host_path, say
from nomap_lab.piglit import known, summary

DEQP = BUILD / "deqp"


def options(argv: list[str]) -> argparse.Namespace:
    """The options."""
    parser = cli.parser(__doc__, prog="lab/deqp")
    parser.add_argument("--tests")
    parser.add_argument("-t", dest="only", metavar="REGEX", type=pattern, action="append", default=[])
    parser.add_argument("--out")
    parser.add_argument("--source")
    parser.add_argument("--native", action="store_true")
    parser.add_argument("--chip", choices=["rv770", "rv710"], default="rv770")
    parser.add_argument("--mesa", choices=["patched", "unmodified"], default="patched")
    parser.add_argument("--module", choices=["patched", "stock"], default="patched")
    parser.add_argument("--strict", action="store_true")
    parser.add_argument("--timeout", type=cli.number("seconds"), default=120)
    parser.add_argument("--jobs", type=cli.number("a number of tests"))
    parser.add_argument("--sample", type=cli.number("a number of tests"))
    parser.add_argument("--seed", type=cli.number("a seed"), default=1)
    return parser.parse(argv)


def run_natively(args: argparse.Namespace, run: Path) -> None:
    """All tests, in the build root."""
    lists.divide(run, 1_000_000)
    env = {"DEQP_JOBS": str(args.jobs or len(os.sched_getaffinity(0))), "DEQP_TIMEOUT": str(args.timeout),
           "DEQP_SHIM": str(BUILD / "board/libr7xx_shim.so"), "R7XX_CHIP": args.chip,
           "DEQP_MESA": str(BUILD / "mesa/patched/lib") if args.mesa == "patched" else ""}
    if args.strict:
        env["R7XX_STRICT"] = "1"
    status = procs.call(["bash", run / "deqp-run", BUILD, run], env=env, check=False).returncode
    if status:
        say(f"deqp: the runner ended with status {status}")


def run_in_guests(args: argparse.Namespace, run: Path, count: int) -> None:
    """A guest for all tests; where it dies, another goes on behind the test that ended it."""
    inside = f"/build/{run.relative_to(BUILD)}"
    cmd = ["env", f"DEQP_JOBS={args.jobs or 1}", f"DEQP_TIMEOUT={args.timeout}", "DEQP_SHIM=", "DEQP_MESA=",
           "bash", f"{inside}/deqp-run", "/build", inside]
    for n in range(1, MAX_GUESTS + 1):
        left = lists.divide(run, lists.SIZE)
        if not left:
            break
        tests = sum((part / "names").read_text(encoding="ascii").count("\n") for part in left)
        say(f"deqp: {tests} tests in guest {n}, {args.chip}, {args.module} radeon.ko")
        boot = guest.Boot(board=f"--chip {args.chip}{' --strict' * args.strict}", module=args.module, mesa=args.mesa,
                          timeout=600 + count * args.timeout, logs=run / f"guest.{n}")
        log = run / f"guest.{n}.log"
        with open(log, "wb") as f:
            status = guest.run(boot, cmd, stdout=f, stderr=f)
        if not status:
            break
        said = log.read_text(encoding="utf-8", errors="replace").splitlines() or ["nothing was said"]
        say(f"deqp: guest {n} ended with status {status}: {said[-1]}")
        (run / f"guest.{n}.status").write_text(f"{status}\n", encoding="ascii")
        # If the runner cannot run at all, another guest does not help.
        if status == NO_RUNNER and not list(run.glob("parts/*/out/results.csv")):
            say("\n".join(said[-20:]))
            break


def prepare(args: argparse.Namespace, names: list[str], run: Path) -> int:
    """Writes to the directory RUN what the runner reads; returns how many tests will be run."""
    # All chips of R7xx are judged by the RV770, the only one with lists.
    expected = {kind: (BUILD / f"deqp-expected/rv770-{kind}.txt").read_text(encoding="utf-8") for kind in lists.KINDS}
    causes = known.failures((TOP / "lab/piglit-sets/deqp-known-fails").read_text(encoding="utf-8"), expected["fails"])
    expected["fails"] += "".join(f"{re.sub(' *#.*', '', test)}\n" for test, _ in causes)
    for kind, text in expected.items():
        (run / f"{kind}.txt").write_text(text, encoding="utf-8")
    (run / "known").write_text("".join(f"{test}  # {cause}\n" for test, cause in causes), encoding="utf-8")
    there = [name for name in names if (DEQP / source.module_of(name)).is_dir()]
    if absent := sorted({source.module_of(name) for name in set(names) - set(there)}):
        say(f"deqp: skipped, as the source of VK-GL-CTS lacks it: {', '.join(absent)}")
    (run / "names").write_text("".join(f"{name}\n" for name in there), encoding="ascii")
    (run / "absent.csv").write_text("".join(f"{name},Skip\n" for name in names if name not in set(there)), encoding="ascii")
    shutil.copy(TOP / "lab/guest/deqp-run", run)
    # dEQP opens the library by the name that only development packages have.
    (run / "lib").mkdir()
    (run / "lib/libEGL.so").symlink_to("/usr/lib/x86_64-linux-gnu/libEGL.so.1")
    return len(there)


def run_tests(args: argparse.Namespace, names: list[str], out: Path, run: Path) -> int:
    """Runs the tests with the directory RUN, which guests see, and copies the results to OUT."""
    count = prepare(args, names, run)
    started = time.monotonic()
    if args.native:
        say(f"deqp: {count} tests, natively, {args.chip}")
        run_natively(args, run)
    else:
        run_in_guests(args, run, count)
    shutil.rmtree(out / "logs", ignore_errors=True)
    for log in run.rglob("*.log"):
        (out / "logs" / log.relative_to(run)).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(log, out / "logs" / log.relative_to(run))
    where = "native" if args.native else f"guest, {args.module} radeon.ko"
    good = summary.summarise(run, f"{args.chip}, {where}{', strict' * args.strict}, {args.mesa} Mesa",
                             int(time.monotonic() - started), "dEQP")
    for name in ("results.csv", "results.json", "summary.html"):
        shutil.copy(run / name, out)
    return 0 if good else 1


def main(argv: list[str]) -> int:
    """The command."""
    args = options(argv)
    if args.source:
        os.environ[source.VARIABLE] = args.source if source.is_url(args.source) else os.path.normpath(Path.cwd() / args.source)
    if not args.sample and (not args.tests or not args.out):
        raise UsageError("--tests and --out are needed: what to run, and where to put the results")
    words = ""
    if not args.sample and args.tests not in source.MODULES:
        tests = host_path(args.tests)
        if not os.access(tests, os.R_OK) or not tests.is_file():
            raise UsageError(f"--tests: there is no file {args.tests} that can be read, "
                             f"nor is it one of {', '.join(source.MODULES)}")
        words = tests.read_text(encoding="utf-8")
    source.named()
    graph.ensure("deqp")
    if args.sample:
        print("\n".join(lists.sample(DEQP, args.sample, args.seed)))
        return 0
    names = lists.choose(words, args.tests, DEQP, args.only)
    graph.ensure("board", *["mesa"] * (args.mesa == "patched"))
    out = host_path(args.out)
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise LabError(f"--out: {args.out} cannot be made: {error.strerror}") from None
    base = RESULTS / "deqp"
    base.mkdir(parents=True, exist_ok=True)
    remove_old(base)
    with tempfile.TemporaryDirectory(prefix=".run.", dir=base) as name:
        lock = os.open(name, os.O_RDONLY)
        try:
            fcntl.flock(lock, fcntl.LOCK_SH)
            os.chmod(name, 0o755)
            return run_tests(args, names, out, Path(name))
        finally:
            os.close(lock)
