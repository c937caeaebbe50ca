#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Counts which part of a draw's instructions the interpreter's ALU clauses are, under callgrind.

usage: shares.py REPLAY OUT NAME=FRAME:DRAW...   (REPLAY: r7xx-replay, or a command that ends with it)

A frame is replayed up to the draw, and up to the one before; the difference is the draw's. The engine has
one thread, so the counts repeat. Rows go to the JSON file OUT.
"""
import json
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

# Functions of the board, by the end of their names: a whole draw, a shader's run, its ALU clauses.
PARTS = {
    "draw": r"pipeline::Pipeline as r7xx_board::chip::gfx::Gfx>::draw",
    "shaders": r"shader::exec::run",
    "alu": r"shader::exec::Runner::alu",
}


def counted(replay: list[str], frame: str, draws: int) -> dict[str, int]:
    """Instructions of each part, callees included, when `draws` draws are replayed."""
    with tempfile.TemporaryDirectory() as work:
        out = pathlib.Path(work) / "out"
        command = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={out}", *replay, "--threads", "1"]
        command += ["--draws", str(draws), frame]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        text = subprocess.run(["callgrind_annotate", "--inclusive=yes", "--threshold=100", out], check=True, stdout=subprocess.PIPE,
                              text=True).stdout
    found = dict.fromkeys(PARTS, 0)
    for line in text.splitlines():
        count = re.match(r" *([\d,]+) ", line)
        for part, name in PARTS.items():
            if count and re.search(name + r"( \[|$)", line):
                found[part] = max(found[part], int(count.group(1).replace(",", "")))
    return found


def main() -> int:
    """The command."""
    replay, out = shlex.split(sys.argv[1]), pathlib.Path(sys.argv[2])
    rows = []
    for argument in sys.argv[3:]:
        name, place = argument.split("=", 1)
        frame, draw = place.rsplit(":", 1)
        after, before = counted(replay, frame, int(draw)), counted(replay, frame, int(draw) - 1)
        rows.append({"scene": name, **{part: after[part] - before[part] for part in PARTS}})
        print(rows[-1], flush=True)
    out.write_text(json.dumps({"rows": rows}, indent=2) + "\n", encoding="ascii")
    return 0


if __name__ == "__main__":
    sys.exit(main())
