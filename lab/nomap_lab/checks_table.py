# SPDX-License-Identifier: MIT
"""usage: python3 -m nomap_lab.checks_table [--check] DOC LIST [RESULTS.jsonl...]

Brings the table in DOC (docs/checks.md) up to date: a line for each suite of lab/suites,
and their sums. LIST is the output of lab/check --list, each RESULTS.jsonl what a run left in
build/check. Where not all of a suite's tests of a tier were run, their seconds stay as they
were. With --check nothing is written, and the status is 1 if a suite, its tier or what it
finds is not as DOC has it.
"""
import ast
import json
import re
import sys
from collections.abc import Iterable
from pathlib import Path

from nomap_lab.paths import TOP

MARKS = re.compile(r"(<!-- table: [^\n]*checks.table -->\n)(.*?)(<!-- end of table -->\n)", re.S)
HEAD = ["suite", "tier", "tests", "seconds", "CPU seconds", "seconds of the others", "CPU seconds of the others",
        "what it finds"]
SUM = "all"
#: Seconds and CPU seconds of a test.
Spent = dict[str, tuple[float, float]]


def finds(name: str) -> str:
    """What a suite is for: the argument "finds" of suite() at its head."""
    path = TOP / "lab/suites" / f"test_{name.replace('-', '_')}.py"
    if not path.exists():
        return ""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "suite":
            for keyword in node.keywords:
                if keyword.arg == "finds":
                    return str(ast.literal_eval(keyword.value))
    return ""


def suites(listing: str) -> dict[str, tuple[set[str], set[str]]]:
    """{suite: (names of its tests of tier check, of tier all)} in the order of the list."""
    result: dict[str, tuple[set[str], set[str]]] = {}
    for line in listing.splitlines():
        name, tier = line.split()[:2]
        result.setdefault(name.split("/")[0], (set(), set()))[tier == "all"].add(name)
    return result


def spent_in(files: Iterable[str]) -> Spent:
    """What runs took, the last one where several had a test."""
    spent: Spent = {}
    for file in files:
        for line in Path(file).read_text(encoding="utf-8").splitlines():
            record = json.loads(line)
            spent[record["name"]] = (record["seconds"], record["cpu"])
    return spent


def rows_of(table: str) -> dict[str, list[str]]:
    """{suite: cells} of the table in a document."""
    rows = [[c.strip() for c in line.strip("|\n ").split("|")] for line in table.splitlines()[2:]]
    return {r[0]: r for r in rows if len(r) == len(HEAD)}


def rows_now(listing: str, before: dict[str, list[str]], spent: Spent) -> list[list[str]]:
    """The rows of the suites as they are, with BEFORE's seconds where SPENT has none."""
    rows = []
    for name, (short, more) in suites(listing).items():
        tier = "check" if not more else "all" if not short else "both"
        tests = str(len(short or more)) if not (short and more) else f"{len(short)} + {len(more)}"
        cells = before.get(name, [""] * len(HEAD))[3:7]
        for i, tests_of_tier in ((0, short), (2, more)):
            if tests_of_tier and tests_of_tier <= spent.keys():
                cells[i:i + 2] = [f"{sum(spent[test][k] for test in tests_of_tier):.0f}" for k in (0, 1)]
        rows.append([name, tier, tests, *cells, finds(name)])
    return rows


def wrong(rows: list[list[str]], before: dict[str, list[str]]) -> list[str]:
    """The suites that are not as the table has them."""
    def facts(row: list[str]) -> list[str]:
        return row[:2] + row[7:]

    names = [r[0] for r in rows if facts(r) != facts(before.get(r[0], [""] * len(HEAD)))]
    return names + [name for name in before if name not in {r[0] for r in rows} | {SUM}]


def main(argv: list[str]) -> int:
    """The command."""
    check = argv[:1] == ["--check"]
    args = argv[check:]
    if len(args) < 2 or args[0].startswith("-"):
        print(__doc__, file=sys.stderr)
        return 2
    doc = Path(args[0])
    text = doc.read_text(encoding="utf-8")
    found = MARKS.search(text)
    if not found:
        print(f"{doc}: no table between the marks of checks_table", file=sys.stderr)
        return 2
    before = rows_of(found[2])
    rows = rows_now(Path(args[1]).read_text(encoding="utf-8"), before, spent_in(args[2:]))
    if check:
        names = wrong(rows, before)
        if names:
            print(f"{doc}: not as the suites are: {', '.join(names)}; run python3 -m nomap_lab.checks_table")
        return 1 if names else 0
    rows.append([SUM, "", "", *(str(sum(int(r[i] or 0) for r in rows)) for i in range(3, 7)), ""])
    rule = ["---"] * 3 + ["---:"] * 4 + ["---"]
    lines = ["| " + " | ".join(r) + " |\n" for r in [HEAD, rule, *rows]]
    doc.write_text(text[:found.start(2)] + "".join(lines) + text[found.end(2):], encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
