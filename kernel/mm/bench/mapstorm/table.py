#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Prints what mapstorm found as the tables of docs/results.md, in Markdown.

usage: table.py RESULTS.json

RESULTS.json is what report.py wrote. Instructions; times of the pairs as well, where
they were measured.
"""

import json
import sys

# Kind, the meaning of a row's number, operations, and the table's subject.
CYCLES = (
    ("guards", "guards", ("pair",), "`guards`: 100 live mappings behind N stacks (`MAP_GROWSDOWN`, 1 MiB"
     " free before each); a munmap() and an mmap()"),
    ("small", "guards", ("pair",), "`small`: the same with guards of one page, as shadow stacks have them"
     " (`stack_guard_gap=1`); 90th percentiles, as the holes are tried for mappings of two pages, a third"),
    ("page", "guards", ("pair",), "`page`: the same with a hole of one page before each stack, and requests of one page,"
     " which all have the holes tried; medians"),
    ("shadow", "guards", ("pair",), "`shadow`: the same with shadow stacks"),
    ("among", "guards", ("unmap", "map"), "`among`: 100 live mappings, each between two of N stacks"),
    ("holes", "live", ("unmap", "map"), "`holes`: N live mappings with a hole of one page before each, no stack"),
    ("plain", "live", ("pair",), "`plain`: N live mappings only"),
)
WHENS = ("before", "after")


def number(stat, scale=1, key="median"):
    """The cell of a median; empty if it was not measured."""
    if not stat:
        return ""
    return f"{stat[key] / scale:,.1f}" if scale > 1 else f"{stat[key]:,.0f}"


def change(row, unit="instructions", key="median"):
    """The cell of the ratio of after to before."""
    ratio = row[unit]["ratio"]
    if not ratio:
        return ""
    if key != "median":
        ratio = row[unit]["after"][key] / row[unit]["before"][key]
    return f"1/{1 / ratio:,.0f}" if ratio < 0.1 else f"{100 * (ratio - 1):+.1f} %"


def lines(head, body):
    """A Markdown table; the first column is text, the others numbers."""
    yield "| " + " | ".join(head) + " |"
    yield "|---|" + "---:|" * (len(head) - 1)
    for cells in body:
        yield "| " + " | ".join(cells) + " |"
    yield ""


def cycle(rows, kind, key, operations, title):
    """The table of one kind of address space."""
    mine = [r for r in rows if r["kind"] == kind and not r["error"] and r["operation"] in operations]
    if not mine:
        return
    whens = [w for w in WHENS if any(r["instructions"].get(w) for r in mine)]
    timed = any(r["ns"]["ratio"] for r in mine)
    yield title + ":"
    yield ""
    head = ["search", "N", *(["operation"] if len(operations) > 1 else []),
            *whens, ""]
    if timed:
        head += ["us before", "after", "", "of each pair of boots"]
    body = []
    for r in sorted(mine, key=lambda r: (r["layout"] != "top-down", r[key], operations.index(r["operation"]))):
        cells = [r["layout"], f"{r[key]:,}"]
        if len(operations) > 1:
            cells.append({"unmap": "munmap()", "map": "mmap()"}[r["operation"]])
        stat = "p90" if kind in ("small", "shadow") else "median"
        cells += [number(r["instructions"].get(w), key=stat) for w in whens] + [change(r, key=stat)]
        if timed:
            cells += [number(r["ns"]["before"], 1000), number(r["ns"]["after"], 1000), change(r, "ns"),
                      " ".join(f"{x:.2f}" for x in r["ns"]["ratios"])]
        body.append(cells)
    yield from lines(head, body)


def others(rows):
    """The table of the other operations on address spaces."""
    mine = [r for r in rows if r["kind"] == "others" and not r["error"]]
    lives = sorted({r["live"] for r in mine})
    if not lives:
        return
    whens = [w for w in WHENS if any(r["instructions"].get(w) for r in mine)]
    yield "`others`: other operations, with N live mappings:"
    yield ""
    head = ["operation"]
    for live in lives:
        head += [f"{live:,} maps: {whens[0]}", *whens[1:], ""]
    body = []
    for operation in dict.fromkeys(r["operation"] for r in mine):
        cells = [f"`{operation}`"]
        for live in lives:
            r = next(r for r in mine if (r["live"], r["operation"]) == (live, operation))
            cells += [number(r["instructions"].get(w)) for w in whens] + [change(r)]
        body.append(cells)
    yield from lines(head, body)


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: table.py RESULTS.json")
    with open(sys.argv[1], encoding="utf-8") as f:
        rows = json.load(f)["rows"]
    for kind in CYCLES:
        if text := "\n".join(cycle(rows, *kind)):
            print(text)
    print("\n".join(others(rows)))


if __name__ == "__main__":
    main()
