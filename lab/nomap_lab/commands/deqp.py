# SPDX-License-Identifier: MIT
"""usage: lab/deqp [OPTION...] --tests FILE|MODULE --out DIR
       lab/deqp --sample N [--seed SEED]

Runs tests of dEQP and of Khronos (KHR) on the emulated board with Mesa CI's runner
(deqp-runner), and judges them by what Mesa CI has seen on the real chip: its lists of
failures, skips and flakes, from the source package of the Mesa that is tested. The
programs are built from a source of VK-GL-CTS that you have.

  --tests FILE      names of tests, one a line; "NAME*" is all that begin so, "#" begins a
                    comment
  --tests MODULE    all that a conformant driver must pass of gles2, gles3 or gles31 (dEQP),
                    khr-gl33, khr-gles2, khr-gles3 or khr-gles31
  -t REGEX          only those of them whose names match (may be repeated)
  --out DIR         for results.csv (NAME,STATUS, as deqp-runner writes them),
                    summary.html, results.json (piglit's format) and the runner's logs
  --source WHERE    the source of VK-GL-CTS: a directory with its source tree, or with an
                    archive of it and case lists, or a git URL (URL#TAG); default:
                    $NOMAP_VK_GL_CTS, or ../shared/suites
  --native          without guest and kernel: Mesa renders on the board's 3D engine in the
                    test's own process (r7xx-shim)
  --chip NAME       rv770 (default), rv740, rv730, rv710, rv670, rs780, or turks, cedar,
                    cypress, cayman, which are judged by a real Turks
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
arguments, 77 if there is no source of VK-GL-CTS, or it lacks MODULE.
"""
import argparse
import functools
import os
import time
from pathlib import Path

from nomap_lab import chips, cli, graph
from nomap_lab.deqp import lists, source
from nomap_lab.paths import BUILD, UsageError, host_path, say
from nomap_lab.piglit import runs

DEQP = BUILD / "deqp"


def options(argv: list[str]) -> argparse.Namespace:
    """The options."""
    parser = cli.parser(__doc__, prog="lab/deqp")
    runs.add_options(parser, timeout=120)
    parser.add_argument("--source")
    return parser.parse(argv)


def prepare(args: argparse.Namespace, names: list[str], run: Path) -> int:
    """Writes to the directory RUN what the runner reads; returns how many tests will be run."""
    runs.expect(run, runs.seen("deqp", args.chip), "deqp-known-fails", *["deqp-r6xx-known-fails"] * (args.chip in chips.R6XX))
    there = [name for name in names if (DEQP / source.program(source.module_of(name))).exists()]
    if absent := sorted({source.module_of(name) for name in set(names) - set(there)}):
        say(f"deqp: skipped, as the source of VK-GL-CTS lacks it: {', '.join(absent)}")
    (run / "names").write_text("".join(f"{name}\n" for name in there), encoding="ascii")
    (run / "absent.csv").write_text("".join(f"{name},Skip\n" for name in names if name not in set(there)), encoding="ascii")
    # The programs open libraries by names that only development packages have.
    (run / "lib").mkdir()
    for library, version in (("EGL", 1), ("GL", 1), ("GLESv2", 2)):
        (run / f"lib/lib{library}.so").symlink_to(f"/usr/lib/x86_64-linux-gnu/lib{library}.so.{version}")
    return len(there)


def run_tests(args: argparse.Namespace, names: list[str], out: Path, run: Path) -> int:
    """Runs the tests with the directory RUN, and copies the results to OUT."""
    count = prepare(args, names, run)
    started = time.monotonic()
    if args.native:
        say(f"deqp: {count} tests, natively, {args.chip}")
        lists.divide(run, 1_000_000)
        runs.natively(args, run, "deqp")
    else:
        runs.in_guests(args, run, count, "deqp", functools.partial(lists.divide, size=lists.SIZE))
    return 0 if runs.keep(args, run, out, int(time.monotonic() - started), "dEQP") else 1


def main(argv: list[str]) -> int:
    """The command."""
    args = options(argv)
    if args.source:
        os.environ[source.VARIABLE] = args.source if source.is_url(args.source) else os.path.normpath(Path.cwd() / args.source)
    words = ""
    if not args.sample:
        runs.need_tests_and_out(args)
        tests = host_path(args.tests)
        if args.tests not in source.MODULES:
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
    out = runs.make_out(args)
    with runs.directory("deqp") as run:
        return run_tests(args, names, out, run)
