#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Prints what live-bos found as the tables of docs/results.md, in Markdown.

usage: table.py RESULTS.json

The first table: the cost of filling one more BO (medians, microseconds, with the 10th and
the 90th percentile) by domain and variant, that of mmap in units of pwrite, the mappings of
the process by variant (those that have as many in every row share a column), and the kernel memory
of mappings and page tables. The second: what the report of 2011 measured, then and here.
"""

import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from sources import report_2011  # noqa: E402 (the path comes first)


def spread(row, key):
    """A median in microseconds, and its percentiles if they were kept."""
    text = f"{row[key + '_ns'] / 1000:.1f}"
    low, high = (row.get(f"{key}_p{p}_ns") for p in (10, 90))
    return text if low is None else f"{text} ({low / 1000:.1f}-{high / 1000:.1f})"


def cost(row, key="upload"):
    """Cell of a cost: empty if it was not measured, "fails" if it failed."""
    if row is None or (row["error"] or "").startswith(("skipped", "unsupported")):
        return ""
    return "fails" if row["error"] else spread(row, key)


def ratio(mmap, pwrite):
    """Cell of the cost of mmap in units of pwrite."""
    if not mmap or not pwrite or mmap["error"] or pwrite["error"]:
        return ""
    return f"{mmap['upload_ns'] / pwrite['upload_ns']:.1f}"


def memory(row):
    """Cell of the kernel memory of maps and page tables, in KiB."""
    if row is None or row.get("vmpte_kib") is None or row.get("vma_kib") is None:
        return ""
    return f"{row['vmpte_kib'] + row['vma_kib']:,}"


def table(columns):
    """Yields a table of columns: (head, cells), numbers all."""
    yield "| " + " | ".join(head for head, _ in columns) + " |"
    yield "|" + "---:|" * len(columns)
    for cells in zip(*(cells for _, cells in columns)):
        yield "| " + " | ".join(cells) + " |"


def uploads(data):
    """Yields the table of uploads."""
    rows = {(row["domain"], row["arm"], row["requested"]): row
            for row in data["rows"]}
    domains = list(dict.fromkeys(row["domain"] for row in data["rows"]))
    arms = list(dict.fromkeys(row["arm"] for row in data["rows"]))
    steps = sorted({row["requested"] for row in data["rows"]})

    columns = [("live BOs", [f"{n:,}" for n in steps])]
    for d in domains:
        columns += [(f"{d.upper()} {a}", [cost(rows.get((d, a, n))) for n in steps]) for a in arms]
        if {"mmap", "pwrite"} <= set(arms):
            columns.append((f"{d.upper()} mmap / pwrite",
                            [ratio(rows.get((d, "mmap", n)), rows.get((d, "pwrite", n))) for n in steps]))
    # Variants by their mappings in the first domain, which has all populations.
    maps = {}
    for arm in arms:
        counts = tuple(rows[domains[0], arm, n]["maps"] for n in steps)
        maps.setdefault(counts, []).append(arm)
    columns += [("mappings: " + ", ".join(names), [f"{count:,}" for count in counts])
                for counts, names in maps.items()]
    for arm in ("mmap", "pwrite"):
        cells = [memory(rows.get((domains[0], arm, n))) for n in steps]
        if any(cells):
            columns.append((f"KiB of mappings and page tables: {arm}", cells))
    yield "Upload of 4 KiB into one more BO, us:"
    yield ""
    yield from table(columns)


def as_2011(data):
    """Yields the table of what 2011 measured."""
    told = report_2011()
    rows = {(row["arm"], row["requested"]): row for row in data.get("as_2011", [])}
    steps = sorted(set(told) | {n for _, n in rows})

    def figures(column):
        return [f"{told[n][column]:.1f}" if n in told and told[n][column] else "" for n in steps]

    columns = [("live BOs", [f"{n:,}" for n in steps]),
               ("2011: kernel's search", figures(0)), ("2011: work-around", figures(1))]
    for arm, title in (("mmap", "kernel's search"), ("arena", "work-around")):
        if any(a == arm for a, _ in rows):
            columns += [(f"{title}: {what}", [cost(rows.get((arm, n)), key) for n in steps])
                        for key, what in (("make", "make and map"), ("destroy", "unmap and destroy"))]
    yield "As in 2011: a BO of 1 to 16,384 bytes is made and mapped, or unmapped and destroyed, us:"
    yield ""
    yield from table(columns)


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: table.py RESULTS.json")
    with open(sys.argv[1], encoding="utf-8") as f:
        data = json.load(f)
    print("\n".join(uploads(data)))
    print()
    print("\n".join(as_2011(data)))


if __name__ == "__main__":
    main()
