# SPDX-License-Identifier: MIT
"""usage: python3 -m nomap_lab.kernel_reports CONSOLE.LOG

Prints the reports in a kernel console log that no test may leave behind: WARN, BUG, Oops, hung tasks,
stalls, lockdep, KASAN, DMA-API, ... Exit status 1 when there is one, 0 when there is none, 2 when the
log cannot be read.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

START = re.compile(
    r"""WARNING:\ (CPU|possible|suspicious|inconsistent|bad\ unlock|lock\ held|at|kernel\ stack)
      | \bBUG:\ | \bkernel\ BUG\ at | \bOops: | \bKASAN: | \bKCSAN: | \bKFENCE:
      | INFO:\ task\ .*\ blocked\ for\ more
      | INFO:\ (possible|inconsistent|trying\ to\ register|rcu_\w+\ (self-)?detected)
      | rcu:\ INFO: | watchdog:\ BUG | soft\ lockup
      | general\ protection\ fault | Unable\ to\ handle\ kernel | unable\ to\ handle\ page
      | Kernel\ panic | \bUBSAN: | DMA-API:.*(device\ driver|mapping\ error|leak|exceeded)
      | sleeping\ function\ called | scheduling\ while\ atomic
      | refcount_t: | list_(add|del)\ corruption | kmemleak:\ \d+\ new
      | page\ dumped\ because | Bad\ page\ state | nobody\ cared""",
    re.X,
)
END = re.compile(r"---\[ end | </TASK>|={20,}$")
MAX_LINES = 70
MAX_REPORTS = 4


def reports(lines: list[str]) -> Iterator[list[str]]:
    """Yields each report as a list of lines: from its first to its end mark."""
    i = 0
    while i < len(lines):
        if not START.search(lines[i]):
            i += 1
            continue
        first = i
        while i + 1 < len(lines) and i - first < MAX_LINES:
            i += 1
            if END.search(lines[i]):
                break
        i += 1
        yield lines[first:i]


def read(path: Path) -> str:
    """The first reports in a log, and how many more there are; "" if there is none or no log."""
    try:
        lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return ""
    found = ["\n".join(r) + "\n" for r in reports([line.rstrip("\r") for line in lines])]
    more = [f"... and {len(found) - MAX_REPORTS} more"] if len(found) > MAX_REPORTS else []
    return "\n".join(found[:MAX_REPORTS] + more)


def main(argv: list[str]) -> int:
    if len(argv) != 1 or argv[0].startswith("-"):
        print(__doc__, file=sys.stderr)
        return 2
    try:
        Path(argv[0]).open("rb").close()
    except OSError as e:
        print(f"kernel-reports: {e}", file=sys.stderr)
        return 2
    text = read(Path(argv[0]))
    if text:
        print(text)
    return 1 if text else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
