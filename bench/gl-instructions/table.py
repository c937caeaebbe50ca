#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Prints gl-instructions.json as Markdown: table.py RESULTS.json

Rows that miss a goal come first.
"""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from reporting import load  # noqa: E402 (the path comes first)
from goals import CASES, goal, parts  # noqa: E402

MESAS = ("unmodified", "a", "patched")


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: table.py RESULTS.json")
    rows = load(sys.argv[1])["rows"]
    of = {(r["case"], r["mesa"]): r for r in rows}
    part = parts(rows)
    missed = {case: [m for m in MESAS[1:] if part[case, m] > goal(case, m)] for case in CASES}
    print("| case | instructions, unmodified | A alone, unmodified kernel | patched | A / unmodified | goal | "
          "patched / unmodified | goal | missed by | ioctls, unmodified | A alone | patched | mappings, unmodified | A alone | patched |")
    print("|---" + "|---:" * 7 + "|---" + "|---:" * 6 + "|")
    for case in sorted(CASES, key=lambda c: not missed[c]):
        cells = [f"{of[case, m]['instructions']:,.0f}" for m in MESAS]
        for mesa in MESAS[1:]:
            cells += [f"{part[case, mesa]:.2f}", f"{goal(case, mesa)}"]
        cells.append(", ".join({"a": "A alone"}.get(m, m) for m in missed[case]))
        cells += [f"{of[case, m]['ioctls']:.2f}" for m in MESAS] + [f"{of[case, m]['maps']:.3f}" for m in MESAS]
        print(f"| {case} | " + " | ".join(cells) + " |")


if __name__ == "__main__":
    main()
