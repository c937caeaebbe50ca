# SPDX-License-Identifier: MIT
"""What rendercheck has said about X servers: how many of each group's tests passed, and which failed here only.

Some tests fail on every server (triangles by the conjoint and disjoint operations, for one), so a test counts as failed if it
passes on a server that draws in software. A server's formats are its own: the same test on another format counts if the
server that draws in software does not have the format.
"""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass
from pathlib import Path

#: The groups of tests, in the order in which they are run.
GROUPS = ("fill", "dcoords", "scoords", "mcoords", "tscoords", "tmcoords", "blend", "composite", "cacomposite", "gradients",
          "repeat", "triangles", "bug7366")
#: The server that draws in software.
SOFTWARE = "xvfb"


@dataclass(frozen=True, order=True)
class Failure:
    """A test that failed: what was announced, for which format of the destination (or ""), and what was reported."""

    test: str
    format: str
    report: str

    def __str__(self) -> str:
        return f"{self.test}{self.format and ' on '}{self.format}{'' if self.report in self.test else f' ({self.report})'}"


@dataclass(frozen=True)
class Group:
    """A group of tests on a server of a stack; passed and total are None if it did not get to its end."""

    stack: str
    server: str
    group: str
    passed: int | None
    total: int | None
    fault: str
    formats: tuple[str, ...] = ()
    failures: tuple[Failure, ...] = ()

    @property
    def right(self) -> bool:
        return self.total is not None and self.total > 0 and self.passed == self.total


def failures_of(text: str) -> tuple[Failure, ...]:
    """The tests that a log reports as failed."""
    found, test = set(), ("", "")
    for line in text.splitlines():
        if begins := re.fullmatch(r"Beginning (.*?)(?: test)?(?: (?:on|from) (.*))?", line):
            test = (begins[1], begins[2] or "")
        elif fails := re.match(r"(.+) test error of ", line):
            found.add(Failure(*test, fails[1]))
    return tuple(sorted(found))


def read_group(directory: Path, stack: str, server: str, group: str) -> Group:
    """Reads GROUP.log and GROUP.status in DIRECTORY/STACK/SERVER."""
    where = directory / stack / server
    log, status = where / f"{group}.log", where / f"{group}.status"
    if not status.exists() or not log.exists():
        return Group(stack, server, group, None, None, "was not run")
    text = log.read_text(encoding="utf-8", errors="replace")
    found = re.search(r"^(\d+) tests passed of (\d+) total$", text, re.M)
    if not found:
        code = status.read_text(encoding="ascii").strip()
        return Group(stack, server, group, None, None, "took too long" if code == "124" else f"ended with status {code}")
    passed, total = map(int, found.groups())
    fault = "" if total else "has no tests: are the server's formats known to it?"
    if passed < total:
        fault = f"{total - passed} of {total} tests fail"
    formats = tuple(re.findall(r"(?m)^Found server-supported format: (.*)$", text))
    return Group(stack, server, group, passed, total, fault, formats, failures_of(text))


def read(directory: Path, cases: list[tuple[str, str]], groups: list[str]) -> list[Group]:
    """All groups of the cases, pairs of stack and server."""
    return [read_group(directory, stack, server, group) for stack, server in cases for group in groups]


def faults(results: list[Group]) -> list[str]:
    """What fails, but for tests that fail in software, too. Empty if all is right."""
    software = {r.group: r for r in results if r.server == SOFTWARE}
    found = []
    for group in results:
        if group.right or group.server == SOFTWARE:
            continue
        name, reference = f"{group.stack}/{group.server}: {group.group}", software.get(group.group)
        if group.total is None or not group.failures:
            # Without names of tests it is all or nothing.
            if not reference or reference.right or reference.total is not None and group.total is None:
                found.append(f"{name} {group.fault}")
        elif alone := here_alone(group, reference) if reference else group.failures:
            found.append(f"{name}: {len(alone)} tests fail that pass in software, as {alone[0]}")
    return found


def here_alone(group: Group, software: Group) -> tuple[Failure, ...]:
    """The failures of a group that drawing in software does not have."""
    same = {(f.test, f.format, f.report) for f in software.failures}
    elsewhere = {(f.test, f.report) for f in software.failures}
    return tuple(f for f in group.failures if (f.test, f.format, f.report) not in same
                 and (f.format.removesuffix(" window") in software.formats or (f.test, f.report) not in elsewhere))


def table(results: list[Group]) -> str:
    """A table in Markdown: a row for each server of a stack, a column for each group."""
    groups = list(dict.fromkeys(r.group for r in results))
    lines = ["| stack | server | " + " | ".join(groups) + " | all |", "|---|---|" + "---:|" * (len(groups) + 1)]
    for stack, server in dict.fromkeys((r.stack, r.server) for r in results):
        row = [r for r in results if (r.stack, r.server) == (stack, server)]
        cells = [f"{r.passed:,} of {r.total:,}" if r.total is not None else r.fault for r in row]
        whole = f"{sum(r.passed or 0 for r in row):,} of {sum(r.total or 0 for r in row):,}"
        lines.append(f"| {stack} | {server} | " + " | ".join([*cells, whole]) + " |")
    return "\n".join(lines)


def as_json(results: list[Group]) -> dict[str, object]:
    """For build/results."""
    return {"benchmark": "rendercheck",
            "groups": [{**asdict(r), "failures": [str(f) for f in r.failures]} for r in results]}
