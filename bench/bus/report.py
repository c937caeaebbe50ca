#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Adds up what transfers cost if an access of the CPU to VRAM costs what it does on a bus.

usage: report.py [--check] [--json OUT.json] COUNTS.json

COUNTS.json is of transfer-paths --count --only bus, in a guest whose board has --bar-read-ns and
--bar-write-ns (emulator/README.md). An operation costs its instructions, of which each takes 1 ns of
the guest's clock, and the nanoseconds that the board has counted for its accesses to VRAM. OUT.json
gets both and their sum for each variant, and from which size on a staged read costs less than one by
the CPU.

With --check it asserts that contents were right, and that the board saw the accesses that a variant makes:
each 8 bytes are a load, each 64 bytes a line, and a staged read makes none. Exit status: 0 if all holds, 1 if not.
"""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from reporting import arguments, load, verdict, write  # noqa: E402 (the path comes first)

LOAD, LINE = 8, 64
# Loads beyond one for each 8 bytes: a flush of the HDP on R700 ends with a read of VRAM.
MORE_LOADS = 4
# What a CPU without a hypervisor's bit does: non-temporal loads, which fetch a line each.
LINES = "pread-cpu-lines"
BY_CPU = {"upload": ("mmap", "kept", "pwrite", "pwrite-again"), "download": ("mmap", "kept", "pread-cpu")}


def rows(data):
    """What each variant costs, by operation."""
    found = []
    for row in data["rows"]:
        board = {key: value / row["samples"] for key, value in (row["board"] or {}).items()} if row["samples"] else {}
        # The least, as the kernel's interrupts and a wait for the board add to some samples.
        count = row["min"] - data["environment"]["clock_cost"] if row["samples"] else 0
        found.append({"case": row["case"], "bytes": row["bytes"], "arm": row["arm"], "instructions": round(count),
                      "loads": round(board.get("bar_reads", 0)), "lines": round(board.get("bar_lines", 0)),
                      "bus_ns": round(board.get("bar_ns", 0))})
    return found


def prices(found):
    """Nanoseconds of a load and of a line, as the board has counted them."""
    of_load = next(r["bus_ns"] / r["loads"] for r in found if r["loads"] and not r["lines"])
    of_line = next(r["bus_ns"] / r["lines"] for r in found if r["lines"] and not r["loads"])
    return {"load_ns": round(of_load, 1), "line_ns": round(of_line, 1)}


def with_lines(found, price):
    """Adds the CPU's read by non-temporal loads: as many instructions, and a load for each line."""
    for row in [r for r in found if r["arm"] == "pread-cpu"]:
        lines = -(-row["bytes"] // LINE)
        found.append({**row, "arm": LINES, "loads": lines, "bus_ns": round(lines * price["load_ns"])})
    for row in found:
        row["total_ns"] = row["instructions"] + row["bus_ns"]


def crossing(found, arm):
    """Bytes from which on a staged read costs less than variant ARM: costs are linear between two sizes."""
    cost = {(r["arm"], r["bytes"]): r["total_ns"] for r in found if r["case"] == "download"}
    sizes = sorted(size for (a, size) in cost if a == arm)
    last = None
    for size in sizes:
        gain = cost[arm, size] - cost["pread-staged", size]
        if gain > 0:
            if last is None:
                return {"bytes": size, "or_less": True}
            below, loss = last
            return {"bytes": round(below + (size - below) * loss / (loss + gain)), "or_less": False}
        last = size, -gain
    return None


def check(data, found):
    """Yields what is not as it has to be."""
    for row in data["rows"]:
        name = f"{row['case']}, {row['bytes']} bytes, {row['arm']}"
        if row["error"] or row["verified"] != data["environment"]["turns"]:
            yield f"{name}: {row['error'] or 'contents were not verified'}"
    for row in found:
        name = f"{row['case']}, {row['bytes']} bytes, {row['arm']}"
        by_cpu = row["arm"] in BY_CPU[row["case"]]
        loads = row["bytes"] // LOAD if by_cpu and row["case"] == "download" else 0
        lines = row["bytes"] // LINE if by_cpu and row["case"] == "upload" else 0
        if row["arm"] == LINES:
            continue
        if row["arm"] in ("pread", "pread-again"):
            # The driver's threshold chooses.
            continue
        if not loads <= row["loads"] <= loads + MORE_LOADS:
            yield f"{name}: {row['loads']} loads, not {loads}"
        if not lines <= row["lines"] <= lines + 1:
            yield f"{name}: {row['lines']} lines, not {lines}"
    for case, arms in BY_CPU.items():
        for arm in arms:
            if not any(r["case"] == case and r["arm"] == arm for r in found):
                yield f"{case}: no row of {arm}"


def main():
    options = arguments(__doc__, "counts")
    data = load(options.counts)
    found = rows(data)
    price = prices(found)
    wrong = list(check(data, found))
    with_lines(found, price)
    results = {"environment": data["environment"], **price, "rows": found,
               "crossings": {arm: crossing(found, arm) for arm in ("pread-cpu", LINES)}}
    if options.json:
        write(options.json, results)
    for row in found:
        print(f"{row['case']:9} {row['bytes']:6} {row['arm']:16} {row['instructions']:8} instructions, {row['loads']:6} loads,"
              f" {row['lines']:5} lines, {row['bus_ns']:9} ns on the bus: {row['total_ns']:9}")
    print(results["crossings"])
    sys.exit(verdict(wrong) if options.check else 0)


if __name__ == "__main__":
    main()
