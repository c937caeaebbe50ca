#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks gl-instructions.json: check.py FILE

The rows that miss their goals (goals.py) are those that are known, no more and no fewer;
all three Mesas were measured, and those with the series map less than the unmodified one.
"""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from reporting import load, verdict  # noqa: E402 (the path comes first)
from goals import CASES, KNOWN_MISSES, MANY, goal, parts  # noqa: E402


def main():
    rows = load(sys.argv[1])["rows"]
    part = parts(rows)
    wrong = [f"{case}: no row of {mesa}" for case in CASES for mesa in ("a", "patched") if (case, mesa) not in part]
    for (case, mesa), measured in sorted(part.items()):
        missed = measured > goal(case, mesa)
        if missed != ((case, mesa) in KNOWN_MISSES):
            wrong.append(f"{case}, {mesa}: {measured:.2f}, the goal {goal(case, mesa)} is {'missed' if missed else 'met'}")
    maps = {(r["case"], r["mesa"]): r["maps"] for r in rows}
    wrong += [f"{case}, {mesa}: {maps[case, mesa]:.3f} mappings a call" for case in CASES if CASES[case] is MANY
              for mesa in ("a", "patched") if maps[case, mesa] > 64 / MANY["--calls"]]
    sys.exit(verdict(wrong))


if __name__ == "__main__":
    main()
