# SPDX-License-Identifier: MIT
"""usage: lab/fuzz-board [--cases N | --seconds N] [--seed SEED] [--scenes "NAME..."]
                      [--chip NAME]
                      (make fuzz-board SECONDS=600 SEED=1)

Captures what Debian's Mesa submits for scenes of bench/gallery (default: all that draw
little), and has the board's 3D engine execute it with mutations, natively: of registers,
resources, packets, draws, addresses, shaders, vertices, indices, constants, the order of
packets, and tables of address spaces. The worst cases come first, draws and dispatches: each has
a bound of memory, and of time to be cancelled. A case is one submission with up to four mutations;
200 cases, or as many as SECONDS allow. --chip is the chip that Mesa draws on: rv770 (default),
turks, cedar or another that draws; the worst cases are those of an RV770, a Turks and a Cayman. On cayman and aruba each
scene is captured twice, without and with an address space (RADEON_VA=true). Fails if anything
panics, does not end or reaches other memory, or if too few mutations get to the shaders. SEED
(default 1) is the first case's; a failure names the seed that repeats it with --cases 1 and
the same scenes.
"""
import argparse
import itertools
import re
import shutil

from nomap_lab import cli, graph, procs
from nomap_lab.paths import BUILD, CHECK, LabError, say

#: Chips with a 3D engine.
CHIPS = ("rv670", "rs780", "rv710", "rv730", "rv740", "rv770", "cedar", "redwood", "cypress", "palm", "caicos", "turks", "barts",
         "cayman", "aruba")
SCENES = "gears text compressed geometry feedback samples wires"


def names(text: str) -> list[str]:
    """Names of scenes."""
    if not re.fullmatch("[a-z ]+", text) or not text.split():
        raise argparse.ArgumentTypeError(f"takes names of scenes, such as \"gears text\", not '{text}'")
    return text.split()


def main(argv: list[str]) -> int:
    """The command."""
    parser = cli.parser(__doc__, prog="lab/fuzz-board")
    length = parser.add_mutually_exclusive_group()
    length.add_argument("--cases", type=cli.number("a number of cases", 0), default=200)
    length.add_argument("--seconds", type=cli.number("seconds", 0))
    parser.add_argument("--seed", type=cli.number("a seed", 0), default=1)
    parser.add_argument("--scenes", type=names, default=SCENES.split())
    parser.add_argument("--chip", choices=CHIPS, default="rv770")
    args = parser.parse(argv)
    how = ["--cases", str(args.cases)] if args.seconds is None else ["--seconds", str(args.seconds)]
    graph.ensure("board", "bench", "board-tests")
    out = CHECK / "captures"
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    # What Mesa is to do with address spaces, by the names of the captures.
    spaces = {"": "false", "-space": "true"} if args.chip in ("cayman", "aruba") else {"": "false"}
    for scene, (suffix, space) in itertools.product(args.scenes, spaces.items()):
        env = {**procs.rendered_env("board"), "R7XX_CHIP": args.chip, "R7XX_CAPTURE": str(out / f"{scene}{suffix}.r7xx"),
               "R7XX_CAPTURE_SUBMISSIONS": "1-8", "MESA_SHADER_CACHE_DISABLE": "true", "RADEON_VA": space}
        if procs.call([BUILD / "bench/gallery", "--scene", scene, "--out", out], env=env, check=False).returncode:
            raise LabError(f"{scene} cannot be captured")
    say(f"{args.chip}, seed {args.seed}, {' '.join(how).removeprefix('--')}")
    options = ["--chip", args.chip, "--seed", str(args.seed), *how]
    return procs.call([BUILD / "board-tests/r7xx-fuzz", *options, out], check=False).returncode
