# SPDX-License-Identifier: MIT
"""Compares two runs of the same piglit tests: python3 -m nomap_lab.piglit.compare [--same] FIRST SECOND

Each is a directory of lab/piglit. Fails if a test passes in the first run and does not in the
second, if they did not run the same tests, or if none passed. --same: also if one passes in
the second run only, or is skipped in one only. Tests that flake on a real RV770 are not compared.
"""

import argparse
import csv
import sys
from collections.abc import Mapping
from pathlib import Path


def read(directory: Path) -> dict[str, str]:
    """{test: status} of a run."""
    with (directory / "results.csv").open(encoding="utf-8", newline="") as f:
        return {row[0]: row[1] for row in csv.reader(f) if len(row) >= 2}


def kind(status: str) -> str:
    """pass, skip or fail, also if the runner did not expect it: "UnexpectedImprovement(Pass)"."""
    kinds = {"Pass": "pass", "Warn": "pass", "Skip": "skip", "": "not run"}
    return kinds.get(status.rstrip(")").split("(")[-1], "fail")


def compare(first: Mapping[str, str], second: Mapping[str, str], same: bool = False) -> list[str]:
    """The lines that say what is wrong, of two {test: status}."""
    bad = []
    for test in sorted(set(first) | set(second)):
        a, b = first.get(test, ""), second.get(test, "")
        if "KnownFlake" in (a, b):
            continue
        worse = kind(a) == "pass" and kind(b) != "pass"
        if worse or "" in (a, b) or (same and kind(a) != kind(b)):
            bad.append(f"{test}: {a or 'not run'}, then {b or 'not run'}")
    if not any(kind(status) == "pass" for status in first.values()):
        bad.append("no test has passed: there is nothing to compare")
    return bad


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--same", action="store_true")
    parser.add_argument("first", type=Path)
    parser.add_argument("second", type=Path)
    args = parser.parse_args()
    first, second = read(args.first), read(args.second)
    bad = compare(first, second, args.same)
    for name, run in ((args.first, first), (args.second, second)):
        kinds = [kind(status) for status in run.values()]
        print(f"{name}: {len(kinds)} tests, {kinds.count('pass')} pass, {kinds.count('fail')} fail, "
              f"{kinds.count('skip')} skipped")
    print("\n".join(bad), file=sys.stderr)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
