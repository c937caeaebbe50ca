# SPDX-License-Identifier: MIT
"""usage: lab/piglit [OPTION...] --tests FILE --out DIR
       lab/piglit --sample N [--seed SEED] [--chip NAME]

Runs tests of Debian's piglit on the emulated board with Mesa CI's runner (piglit-runner
of deqp-runner), and judges them by what Mesa CI has seen on a real RV770 or Turks: its
lists of failures, skips and flakes, from the source package of the Mesa that is tested.

  --tests FILE      names of tests of the profiles quick_gl and quick_shader, one a line;
                    "NAME*" is all that begin so, "#" begins a comment. lab/piglit-sets/
                    has some
  -t REGEX          only those of them whose names match (may be repeated)
  --out DIR         for results.csv (NAME,STATUS, as piglit-runner writes them),
                    summary.html, results.json (piglit's own format) and the runner's logs
  --native          without guest and kernel: Mesa renders on the board's 3D engine in the
                    test's own process (r7xx-shim)
  --chip NAME       rv770 (default), rv740, rv730, rv710, rv670, rs780, or turks, cedar,
                    cypress, cayman, which are judged by a real Turks
  --mesa WHICH      patched (default) or unmodified, Debian's
  --module WHICH    radeon.ko of the guest: patched (default) or stock
  --strict          on the strict board; with --native, what is strict between a
                    guest and its board is not there, the caches of the 3D engine are
  --timeout S       seconds that a test may take (default 300)
  --jobs N          tests at a time (default: CPUs; in a guest 1)
  --sample N        prints N names of both profiles, drawn at random from SEED (default 1),
                    for --tests

A test that crashes or hangs costs only itself; so does one that takes the guest with it,
which is booted again for the rest. On R6xx and R7xx generated tests of GLSL 4 and of 64-bit
types, which they have not, count as skipped without being run.

Exit status: 0 if no test did worse than on the real chip, 1 if one did, 2 for wrong
arguments.
"""
import argparse
import os
import time
from pathlib import Path

from nomap_lab import chips, cli, graph, mesa_ci
from nomap_lab.paths import BUILD, TOP, UsageError, host_path, say
from nomap_lab.piglit import parts, runs, select

PIGLIT = BUILD / "piglit/piglit"


def options(argv: list[str]) -> argparse.Namespace:
    """The options."""
    parser = cli.parser(__doc__, prog="lab/piglit")
    runs.add_options(parser, timeout=300)
    return parser.parse(argv)


def has_glsl4(chip: str) -> bool:
    """Has r600 GLSL 4 on the chip? It has from Evergreen on."""
    return mesa_ci.JUDGE[chip] != "rv770"


def known_fails(chip: str) -> list[str]:
    """The files of lab/piglit-sets with the failures of a chip that have a known reason."""
    judge = mesa_ci.JUDGE[chip]
    if judge == "rv770":
        return ["known-fails", *["r6xx-known-fails"] * (chip in chips.R6XX)]
    return [f"{judge}-known-fails", *["cayman-known-fails"] * (chip == "cayman")]


def run_in_guests(args: argparse.Namespace, run: Path, count: int) -> None:
    """A guest for all tests, or further ones where it dies."""
    runs.in_guests(args, run, count, "piglit", parts.divide, "parts")


def run_tests(args: argparse.Namespace, tests: Path, out: Path, run: Path) -> int:
    """Runs TESTS with the directory RUN, and copies the results to OUT."""
    profiles = select.read_profiles(PIGLIT)
    names = select.listed(profiles, tests, args.only, args.tests)
    if has_glsl4(args.chip) and any(select.is_generated(profiles[name]) for name in names):
        graph.ensure("piglit-generated")
    count = select.choose(PIGLIT, names, profiles, has_glsl4(args.chip), run)
    lists = runs.seen("piglit", args.chip)
    flakes = (TOP / "lab/piglit-sets/known-flakes").read_text(encoding="utf-8").splitlines()
    lists["flakes"] += "".join(f"{line.split('  # ')[0]}\n" for line in flakes if "  # " in line)
    runs.expect(run, lists, *known_fails(args.chip))
    started = time.monotonic()
    if args.native:
        say(f"piglit: {count} tests, natively, {args.chip}")
        runs.natively(args, run, "piglit", "all")
    else:
        run_in_guests(args, run, count)
    return 0 if runs.keep(args, run, out, int(time.monotonic() - started), "piglit") else 1


def main(argv: list[str]) -> int:
    """The command."""
    args = options(argv)
    if args.sample:
        graph.ensure("piglit")
        print("\n".join(select.sample(PIGLIT, args.sample, args.seed, has_glsl4(args.chip))))
        return 0
    runs.need_tests_and_out(args)
    tests = host_path(args.tests)
    if not os.access(tests, os.R_OK) or not tests.is_file():
        raise UsageError(f"--tests: there is no file {args.tests} that can be read: lab/piglit-sets/ has some")
    graph.ensure("piglit", "board", *["mesa"] * (args.mesa == "patched"))
    out = runs.make_out(args)
    with runs.directory("piglit") as run:
        return run_tests(args, tests, out, run)
