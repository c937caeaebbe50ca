# SPDX-License-Identifier: MIT
"""The groups of lab/piglit-sets/deqp-groups: what fails on a real RV770.

usage: python3 -m nomap_lab.deqp.groups LIST [RESULTS]

Fails if Mesa CI's LIST of failures (deqp-expected's rv770-fails.txt) has other counts of tests of dEQP-GLES2 and
dEQP-GLES3 than the groups say, or tests that no group has; or if others than they say pass in RESULTS, a results.csv.
Without RESULTS prints the tests' names.
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from pathlib import Path
from typing import NamedTuple

from ..paths import TOP, LabError

GROUPS = TOP / "lab/piglit-sets/deqp-groups"
LINE = re.compile(r"(\d+) (\d+)  (\S+)  # (.+)")


class Group(NamedTuple):
    """Tests that fail for what may be one reason."""

    tests: int
    passing: int
    pattern: re.Pattern[str]
    name: str


def read(text: str) -> list[Group]:
    """The groups of the file's TEXT. Raises LabError for a line that is none."""
    groups = []
    for line in text.splitlines():
        if not line or line.startswith("#"):
            continue
        match = LINE.fullmatch(line)
        if not match:
            raise LabError(f"deqp-groups: not COUNT PASS  REGEX  # name: {line}", status=2)
        groups.append(Group(int(match[1]), int(match[2]), re.compile(match[3]), match[4]))
    return groups


def names(listed: str) -> list[str]:
    """The tests of dEQP-GLES2 and dEQP-GLES3 among lines "NAME,STATUS"."""
    return [name for line in listed.splitlines() if re.match(r"dEQP-GLES[23]\.", name := line.split(",")[0])]


def count(groups: list[Group], tests: list[str]) -> tuple[Counter[str], list[str]]:
    """How many of the TESTS each group has, by its name, and which tests no group has."""
    counts: Counter[str] = Counter()
    strange = []
    for test in tests:
        name = next((group.name for group in groups if group.pattern.search(test)), None)
        if name is None:
            strange.append(f"no group has {test}")
        else:
            counts[name] += 1
    return counts, strange


def differences(groups: list[Group], listed: str, results: str = "") -> list[str]:
    """In which groups LISTED has another number of tests, or RESULTS another number that pass, and tests without a group.

    Both have lines "NAME,STATUS". Without RESULTS nothing is said of them.
    """
    counts, wrong = count(groups, names(listed))
    wrong += [f"{group.name}: {counts[group.name]} tests, not {group.tests}"
              for group in groups if counts[group.name] != group.tests]
    if results:
        passing = "\n".join(line for line in results.splitlines() if "Pass" in line.split(",")[1])
        counts, _ = count(groups, names(passing))
        wrong += [f"{group.name}: {counts[group.name]} pass, not {group.passing}"
                  for group in groups if counts[group.name] != group.passing]
    return wrong


def main(argv: list[str]) -> int:
    """The command."""
    listed = Path(argv[0]).read_text(encoding="utf-8")
    results = Path(argv[1]).read_text(encoding="utf-8") if argv[1:] else ""
    wrong = differences(read(GROUPS.read_text(encoding="utf-8")), listed, results)
    print("\n".join(wrong if wrong or results else names(listed)))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
