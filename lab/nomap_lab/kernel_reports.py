# SPDX-License-Identifier: MIT
"""usage: python3 -m nomap_lab.kernel_reports CONSOLE.LOG

Prints the reports in a kernel console log that no test may leave behind: WARN,
BUG, Oops, hung tasks, stalls, lockdep, KASAN, DMA-API, ... Exit status 1 when
there is one, 0 when there is none, 2 when the log cannot be read.
"""
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


def shown(lines: list[str]) -> str:
    """The first reports of a log, as text; nothing if there are none."""
    found = list(reports(lines))
    text = "\n".join("\n".join(r) + "\n" for r in found[:MAX_REPORTS])
    return text + (f"\n... and {len(found) - MAX_REPORTS} more" if len(found) > MAX_REPORTS else "")


def read(path: Path) -> str:
    """The reports in a console log, as text; nothing if there are none, or no log."""
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
    except FileNotFoundError:
        return ""
    return shown([line.rstrip("\r") for line in text.split("\n")])


def main(argv: list[str]) -> int:
    """The command."""
    if len(argv) != 1 or argv[0].startswith("-"):
        print(__doc__, file=sys.stderr)
        return 2
    path = Path(argv[0])
    if not path.is_file():
        print(f"kernel_reports: there is no console log {path}", file=sys.stderr)
        return 2
    text = read(path)
    print(text, end="\n" if text else "")
    return 1 if text else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
