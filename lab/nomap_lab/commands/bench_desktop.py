# SPDX-License-Identifier: MIT
"""usage: lab/bench-desktop [--stacks LIST] [--seconds N] [--runs N] [--driver modesetting|radeon]
                         [--chip rv770|rv740|rv730|rv710] [--out DIR] [--check]   (make bench-desktop)

x11perf and glxgears on X with glamor on the board: how fast, on each stack, and where the time goes
on the first one, to the guest's CPUs, the board's engines or trapped registers. --stacks: as for
lab/desktop (default: debian,our-mesa,nomap); --seconds: each test takes at least that long (default 5); --runs: boots of each
stack, which take turns (default 3). Results, tables and plot:
desktop-shares.{json,txt,png} in build/DIR (default: results). --check fails if a test did not
run, or did not draw by the board.
"""
import shutil

from nomap_lab import cli, graph, guest, procs
from nomap_lab.cli import number
from nomap_lab.commands.desktop import STACKS, mesas_of, words_of
from nomap_lab.options import in_build, python, results_are, show_table
from nomap_lab.paths import BUILD, CHECK, TOP, LabError, say


def main(argv: list[str]) -> int:
    """The command."""
    parser = cli.parser(__doc__, prog="lab/bench-desktop")
    parser.add_argument("--stacks", type=words_of(list(STACKS)), default=["debian", "our-mesa", "nomap"])
    parser.add_argument("--seconds", type=number("seconds", 1, 99), default=5)
    parser.add_argument("--runs", type=number("runs", 1, 99), default=3)
    parser.add_argument("--driver", choices=["modesetting", "radeon"], default="modesetting")
    parser.add_argument("--chip", choices=["rv770", "rv740", "rv730", "rv710"], default="rv770")
    parser.add_argument("--out", type=in_build, default="results")
    parser.add_argument("--check", action="store_true")
    args = parser.parse(argv)
    graph.ensure("board", "bench", *mesas_of(args.stacks))
    work, out = CHECK / "bench-desktop", BUILD / args.out
    shutil.rmtree(work, ignore_errors=True)
    out.mkdir(parents=True, exist_ok=True)
    shutil.copytree(TOP / "emulator/tests/desktop", work / "session")
    rows = []
    for run, stack in ((run, stack) for run in range(1, args.runs + 1) for stack in args.stacks):
        say(f"run {run} of {args.runs}, {stack}: X on the board ({args.chip}, {args.driver}), "
            f"eight tests of {args.seconds} s or more")
        module, mesa = STACKS[stack]
        boot = guest.Boot(exclusive=True, module=module, mesa=mesa, board=f"--chip {args.chip}",
                          timeout=240 + 35 * args.seconds)
        inside = "/build/check/bench-desktop"
        status = guest.run(boot, [f"{inside}/session/session", args.driver, f"{inside}/{stack}-{run}", str(args.seconds)])
        if status:
            raise LabError(f"the session failed with status {status} (see build/check/bench-desktop/{stack}-{run})")
        rows.append(f"{stack}={work}/{stack}-{run}")
    numbers = out / "desktop-shares.json"
    if show_table(python("bench/desktop-shares/report.py", *["--check"] * args.check, "--json", numbers, *rows),
             out / "desktop-shares.txt"):
        raise LabError("not all was drawn as it should be (see above)")
    if procs.call(python("bench/desktop-shares/plot.py", numbers, out / "desktop-shares.png"), check=False).returncode:
        raise LabError(f"the plot could not be made; the numbers are in build/{args.out}/desktop-shares.json")
    say("done")
    results_are(args.out, "desktop-shares")
    return 0
