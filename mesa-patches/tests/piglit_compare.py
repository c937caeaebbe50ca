#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares two runs of the same piglit tests: piglit_compare.py UNMODIFIED PATCHED

Each is a directory of lab/piglit. Fails if a test passes with the unmodified Mesa and does not
with the patched one, or if they did not run the same tests.
"""

import csv
import sys


def read(directory):
    """{test: status} of a run."""
    with open(f"{directory}/results.csv", encoding="utf-8", newline="") as f:
        return {row[0]: row[1] for row in csv.reader(f) if len(row) >= 2}


def passed(status):
    """Also if the runner did not expect it: "UnexpectedImprovement(Pass)"."""
    return status.rstrip(")").split("(")[-1] == "Pass"


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    unmodified, patched = map(read, sys.argv[1:])
    bad = [f"{test}: {status}, patched {patched.get(test, 'not run')}" for test, status in sorted(unmodified.items())
           if passed(status) and not passed(patched.get(test, ""))]
    bad += [f"{test}: only run with the patched Mesa" for test in sorted(set(patched) - set(unmodified))]
    if not any(map(passed, unmodified.values())):
        bad.append("no test has passed: there is nothing to compare")
    print(f"{len(unmodified)} tests, {sum(map(passed, unmodified.values()))} pass with the unmodified Mesa, "
          f"{sum(map(passed, patched.values()))} with the patched one")
    print("\n".join(bad), file=sys.stderr)
    sys.exit(bool(bad))


if __name__ == "__main__":
    main()
