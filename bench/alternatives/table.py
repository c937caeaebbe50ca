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


def key(row):
    """What tells a row from others."""
    return row["case"], row["placement"], row["bytes"], row["arm"]


def microseconds(ns):
    """A time as text: microseconds, with a decimal below 100."""
    return f"{ns / 1000:,.1f}" if ns < 99950 else f"{ns / 1000:,.0f}"


def columns(found, name, shown):
    """(heads, {arm: cells}) for one value of rows, variants by sizes; no heads if no row has it.

    The least of a size is bold, a mapping that is kept aside. A cell of a variant whose bytes do not arrive says so.
    """
    cells = {(r["arm"], r["bytes"]): r[name] for r in found if not r.get("lost") and name in r}
    sizes = sorted({size for _, size in cells})
    least = {size: min((v for (a, s), v in cells.items() if s == size and a != "kept"), default=None) for size in sizes}
    return [SIZES[s] for s in sizes], {
        arm: [("**{}**" if cells[arm, s] == least[s] else "{}").format(shown(cells[arm, s])) if (arm, s) in cells else "lost"
              for s in sizes]
        for arm in dict.fromkeys(r["arm"] for r in found)}


def measured(rows, case, placement, what):
    """Yields a table of instructions and of times, variants by sizes."""
    found = [r for r in rows if (r["case"], r["placement"]) == (case, placement)]
    counts, by_count = columns(found, "instructions", "{:,}".format)
    times, by_time = columns(found, "ns", microseconds)
    yield f"{what}, instructions{', then microseconds' if times else ''}:"
    yield ""
    yield from table(["variant", *counts, *(f"{size}, µs" for size in times)], (
        [f"`{arm}`", *by_count[arm], *(by_time[arm] if times else [])] for arm in by_count))
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
    cells = {(r["arm"], r["placement"]): r for r in found}
    places = list(dict.fromkeys(r["placement"] for r in found))
    timed = [p for p in places if all("ns" in r for r in found if r["placement"] == p)]
    yield f"Upload of 256 B into each of 1,000 BOs, instructions{', then microseconds' if timed else ''}:"
    yield ""
    yield from table(["variant", *(PLACES[p] for p in places), *(f"{PLACES[p]}, µs" for p in timed)], (
        [f"`{arm}`", *(f"{cells[arm, p]['instructions']:,}" for p in places), *(microseconds(cells[arm, p]["ns"]) for p in timed)]
        for arm in dict.fromkeys(r["arm"] for r in found)))
    yield ""


def busy(rows):
    """Yields the tables of busy BOs: instructions, in italics if the call waits for the GPU, and times of the others."""
    for place in dict.fromkeys(r["placement"] for r in rows if r["case"] == "busy"):
        found = [r for r in rows if (r["case"], r["placement"]) == ("busy", place)]
        cells = {(r["arm"], r["bytes"]): r for r in found}
        sizes = sorted({r["bytes"] for r in found})
        timed = [s for s in sizes if all("ns" in r for r in found if r["bytes"] == s)]
        yield (f"Upload into a BO in {PLACES[place]} that the GPU still reads, instructions without the wait (*in italics* if the call "
               f"waits for the GPU){', then microseconds of calls that do not wait' if timed else ''}:")
        yield ""
        yield from table(["variant", "caller's memory is free on return", *(SIZES[s] for s in sizes),
                          *(f"{SIZES[s]}, µs" for s in timed)], (
            [f"`{arm}`", "yes" if all(r["captured"] == r["samples"] for r in found if r["arm"] == arm) else "no",
             *(("*{:,}*" if cells[arm, s]["waited"] else "{:,}").format(cells[arm, s]["instructions"]) for s in sizes),
             *("waits" if cells[arm, s]["waited"] else microseconds(cells[arm, s]["ns"]) for s in timed)]
            for arm in dict.fromkeys(r["arm"] for r in found)), 2)
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
    times = {key(r): r["ns"] for r in data.get("times", {"rows": []})["rows"] if "ns" in r}
    for row in rows:
        if key(row) in times:
            row["ns"] = times[key(row)]
    for case, verb in (("upload", "Upload to"), ("download", "Download from")):
        for place, name in PLACES.items():
            print("\n".join(measured(rows, case, place, f"{verb} {name}")))
    for part in (events, many, busy):
        print("\n".join(part(rows)))
    print("\n".join(live(data["live"]["rows"])))


if __name__ == "__main__":
    main()
