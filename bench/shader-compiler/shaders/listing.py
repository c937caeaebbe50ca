#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes shaders/bench-board.txt from what r7xx-replay says of a draw of each scene of board-fill.

usage: listing.py SCENE=TEXT... > bench-board.txt      TEXT: the output of r7xx-replay --describe
"""
import re
import sys


def main() -> int:
    """The command."""
    print("# Shaders of the scenes of board-fill as Mesa 25.0.7 compiles them for RV770 and r7xx-replay lists them (listing.py).")
    for argument in sys.argv[1:]:
        scene, name = argument.split("=", 1)
        with open(name, encoding="utf-8") as file:
            parts = re.split(r"^[VP]S \((vertex|pixel)\) at \S+:\n", file.read(), flags=re.MULTILINE)
        for stage, text in zip(parts[1::2], parts[2::2], strict=True):
            lines = [" ".join(line.split()) for line in text.split("\n\n")[0].splitlines() if re.match(r" ?\d{4} ", line)]
            words = [(int(line.split()[0]), len(re.match(r"\d{4}((?: [0-9A-F]{8})+)", line).group(1).split())) for line in lines]
            print(f"shader {scene}/{stage} dwords {max(at + count for at, count in words)}", *lines, sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
