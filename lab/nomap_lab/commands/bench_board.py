# SPDX-License-Identifier: MIT
"""usage: lab/bench-board [--rounds N] [--runs N] [--out DIR] [--check]   (make bench-board)

Draws the scenes of bench/board-fill by the board's 3D engine (natively, by
r7xx-shim) as an RV770 and as a TURKS, llvmpipe and softpipe in turn, and by the
RV770 and llvmpipe on one CPU as well.
--rounds: batches of each scene (default 15); --runs: turns (default 3). Results, table and plot: board-fill.{json,txt,png} in
build/DIR (default: results). Times are only reported; --check fails if the renderers
do not draw the same.
"""
import os

from nomap_lab import cli, graph, procs
from nomap_lab.cli import number
from nomap_lab.options import in_build, python, results_are, show_table
from nomap_lab.paths import BUILD, LabError, say


def main(argv: list[str]) -> int:
    """The command."""
    parser = cli.parser(__doc__, prog="lab/bench-board")
    parser.add_argument("--rounds", type=number("rounds", 1, 99), default=15)
    parser.add_argument("--runs", type=number("runs", 1, 99), default=3)
    parser.add_argument("--out", type=in_build, default="results")
    parser.add_argument("--check", action="store_true")
    args = parser.parse(argv)
    graph.ensure("board", "bench")
    out = BUILD / args.out
    out.mkdir(parents=True, exist_ok=True)
    files = []
    first = min(os.sched_getaffinity(0))
    on = {"": [], "1-cpu": ["taskset", "--cpu-list", str(first)]}
    turns = [("board", ""), ("turks", ""), ("llvmpipe", ""), ("softpipe", ""), ("board", "1-cpu"), ("llvmpipe", "1-cpu")]
    for run in range(1, args.runs + 1):
        for renderer, cpus in turns:
            what = " ".join(filter(None, (renderer, cpus)))
            say(f"run {run} of {args.runs}: {what}")
            files.append(out / f".board-fill-{what.replace(' ', '-')}-{run}.json")
            status = procs.call([*on[cpus], BUILD / "bench/board-fill", "--rounds", str(args.rounds), "--json", files[-1]],
                                env=procs.rendered_env(renderer), check=False).returncode
            if status:
                raise LabError(f"{what}: board-fill failed with status {status}")
    numbers = out / "board-fill.json"
    if show_table(python("bench/board-fill/report.py", *["--check"] * args.check, "--json", numbers, *files),
             out / "board-fill.txt"):
        raise LabError("the renderers differ (see above)")
    if procs.call(python("bench/board-fill/plot.py", numbers, out / "board-fill.png"), check=False).returncode:
        raise LabError(f"the plot could not be made; the numbers are in build/{args.out}/board-fill.json")
    say("done")
    results_are(args.out, "board-fill")
    return 0
