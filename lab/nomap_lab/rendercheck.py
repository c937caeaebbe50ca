# SPDX-License-Identifier: MIT
"""What rendercheck has said about X servers: how many of each group's tests passed, and which failed here only."""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass
from pathlib import Path

#: The groups of tests, in the order in which they are run.
GROUPS = ("fill", "dcoords", "scoords", "mcoords", "tscoords", "tmcoords", "blend", "composite", "cacomposite", "gradients",
          "repeat", "triangles", "bug7366")
#: The server that draws in software.
SOFTWARE = "xvfb"


@dataclass(frozen=True)
class Group:
    """A group of tests on a server of a stack; passed and total are None if it did not get to its end."""

    stack: str
    server: str
    group: str
    passed: int | None
    total: int | None
    fault: str

    @property
    def right(self) -> bool:
        return self.total is not None and self.total > 0 and self.passed == self.total


def read_group(directory: Path, stack: str, server: str, group: str) -> Group:
    """Reads GROUP.log and GROUP.status in DIRECTORY/STACK/SERVER."""
    where = directory / stack / server
    log, status = where / f"{group}.log", where / f"{group}.status"
    if not status.exists() or not log.exists():
        return Group(stack, server, group, None, None, "was not run")
    found = re.search(r"^(\d+) tests passed of (\d+) total$", log.read_text(encoding="utf-8", errors="replace"), re.M)
    if not found:
        code = status.read_text(encoding="ascii").strip()
        return Group(stack, server, group, None, None, "took too long" if code == "124" else f"ended with status {code}")
    passed, total = map(int, found.groups())
    fault = "" if total else "has no tests: are the server's formats known to it?"
    if passed < total:
        fault = f"{total - passed} of {total} tests fail"
    return Group(stack, server, group, passed, total, fault)


def read(directory: Path, cases: list[tuple[str, str]], groups: list[str]) -> list[Group]:
    """All groups of the cases, pairs of stack and server."""
    return [read_group(directory, stack, server, group) for stack, server in cases for group in groups]


def faults(results: list[Group]) -> list[str]:
    """What fails, but for groups that fail by the software's server, too. Empty if all is right."""
    software = {r.group for r in results if r.server == SOFTWARE and not r.right}
    return [f"{r.stack}/{r.server}: {r.group} {r.fault}" for r in results
            if not r.right and r.server != SOFTWARE and r.group not in software]


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
    return {"benchmark": "rendercheck", "groups": [asdict(r) for r in results]}
