#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Prints what report.py made as the tables of docs/results.md, in Markdown.

usage: table.py RESULTS.json
"""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from reporting import load  # noqa: E402 (the path comes first)
from report import EVENTS, per_operation  # noqa: E402

SIZES = {256: "256 B", 4096: "4 KiB", 65536: "64 KiB", 1 << 20: "1 MiB", 4 << 20: "4 MiB", 16 << 20: "16 MiB"}
PLACES = {"gtt": "GTT", "vram": "VRAM", "vram-hidden": "CPU-inaccessible VRAM"}
HEADS = {"ioctls": "ioctls", "mmaps": "mappings", "bos": "BOs", "userptrs": "of user memory", "mmu_notifiers": "MMU notifiers",
         "submissions": "submissions", "relocations": "relocations", "fences": "fences", "gart_flushes": "GART flushes"}


def table(head, rows, text=1):
    """Yields a table; the first columns are text."""
    yield "| " + " | ".join(head) + " |"
    yield "|" + "---|" * text + "---:|" * (len(head) - text)
    for cells in rows:
        yield "| " + " | ".join(cells) + " |"


def instructions(rows, case, placement, title):
    """Yields a table of instructions: variants by sizes; the fewest are bold, but those of a mapping that is kept.

    A cell of a variant whose bytes do not arrive says so.
    """
    found = [r for r in rows if (r["case"], r["placement"]) == (case, placement)]
    sizes = sorted({r["bytes"] for r in found})
    cells = {(r["arm"], r["bytes"]): r["instructions"] for r in found if not r.get("lost")}
    least = {size: min(v for (a, s), v in cells.items() if s == size and a != "kept") for size in sizes}
    yield title
    yield ""
    yield from table(["variant", *(SIZES[s] for s in sizes)], (
        [f"`{arm}`", *(("**{:,}**" if cells[arm, s] == least[s] else "{:,}").format(cells[arm, s]) if (arm, s) in cells else "lost"
                       for s in sizes)]
        for arm in dict.fromkeys(r["arm"] for r in found)))
    yield ""


def events(rows):
    """Yields the table of events of one operation."""
    shown = []
    for case, placement, size in (("upload", "vram", 4096), ("upload", "vram", 16 << 20), ("download", "vram", 4096),
                                  ("glyphs-many", "vram", 256000)):
        for r in rows:
            if not r.get("lost") and (r["case"], r["placement"], r["bytes"]) == (case, placement, size):
                what = "1,000 uploads of 256 B" if case == "glyphs-many" else f"{case}, {SIZES[size]}"
                costs = per_operation(r)
                shown.append([what, f"`{r['arm']}`", *(f"{costs[e]:g}" for e in EVENTS)])
    yield "Events of one operation, idle BOs in VRAM:"
    yield ""
    yield from table(["operation", "variant", *(HEADS[e] for e in EVENTS)], shown, 2)
    yield ""


def many(rows):
    """Yields the table of 1,000 objects."""
    found = [r for r in rows if r["case"] == "glyphs-many"]
    cells = {(r["arm"], r["placement"]): r["instructions"] for r in found}
    places = list(dict.fromkeys(r["placement"] for r in found))
    yield "Upload of 256 B into each of 1,000 BOs, instructions:"
    yield ""
    yield from table(["variant", *(PLACES[p] for p in places)], (
        [f"`{arm}`", *(f"{cells[arm, p]:,}" for p in places)] for arm in dict.fromkeys(r["arm"] for r in found)))
    yield ""


def busy(rows):
    """Yields the table of busy BOs."""
    found = [r for r in rows if r["case"] == "busy"]
    yield "Upload into a BO that the GPU still reads, instructions without the wait:"
    yield ""
    yield from table(["size", "placement", "variant", "instructions", "waits for the GPU", "caller's memory is free on return"], (
        [SIZES[r["bytes"]], PLACES[r["placement"]], f"`{r['arm']}`", f"{r['instructions']:,}",
         "yes" if r["waited"] else "no", "yes" if r["captured"] == r["samples"] else "no"] for r in found), 3)
    yield ""


def live(rows):
    """Yields the table of one more BO with N live."""
    arms = list(dict.fromkeys(r["arm"] for r in rows))
    keys = list(dict.fromkeys((r["domain"], r["requested"]) for r in rows))
    cells = {(r["domain"], r["requested"], r["arm"]): r for r in rows}
    yield "Upload of 4 KiB into one more BO with N live, instructions; kernel memory for the mappings of N:"
    yield ""
    yield from table(["placement", "live BOs", *(f"`{a}`" for a in arms), "KiB of mappings and page tables: `mmap`"], (
        [PLACES[d], f"{n:,}", *(f"{cells[d, n, a]['upload_instructions']:,}" for a in arms),
         f"{cells[d, n, 'mmap']['vmpte_kib'] + (cells[d, n, 'mmap']['vma_kib'] or 0):,}"] for d, n in keys))


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: table.py RESULTS.json")
    data = load(sys.argv[1])
    rows = data["transfers"]["rows"]
    for case, verb in (("upload", "Upload to"), ("download", "Download from")):
        for place, name in PLACES.items():
            print("\n".join(instructions(rows, case, place, f"{verb} {name}, instructions:")))
    for part in (events, many, busy):
        print("\n".join(part(rows)))
    print("\n".join(live(data["live"]["rows"])))


if __name__ == "__main__":
    main()
