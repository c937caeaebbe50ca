#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Prints transfer-paths.json as Markdown: table.py RESULTS.json

PWRITE and PREAD in units of mapping, copying and unmapping, a row for each placement and
direction: time, instructions in brackets; values that miss their target in bold. A second
table has comparisons with another base.
"""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from reporting import load  # noqa: E402 (the path comes first)

PLACES = {"gtt": "GTT", "gtt-wc": "GTT, write-combined", "vram": "VRAM"}
SIZES = {256: "256 B", 4096: "4 KiB", 65536: "64 KiB", 1 << 20: "1 MiB", 4 << 20: "4 MiB", 16 << 20: "16 MiB"}


def cell(row):
    if row is None:
        return ""
    text = f"{row['measured']:.2f}"
    if row.get("met") is False:
        text = f"**{text}**"
    if row.get("instructions") is not None and row["unit"] == "ratio":
        text += f" ({row['instructions']:.2f})"
    return text


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: table.py RESULTS.json")
    rows = load(sys.argv[1])["results"]
    against_mmap = {}
    others = []
    for row in rows:
        if row["base"] and row["base"][3] == "mmap" and row["target"] is not None:
            against_mmap[tuple(row["arm"][:3])] = row
        elif "kept" not in row["what"] and (row["target"] is not None or "visible" in row["what"]):
            others.append(row)
    print("| | " + " | ".join(SIZES.values()) + " |")
    print("|---|" + "---:|" * len(SIZES))
    for case, verb in (("upload", "write"), ("download", "read")):
        for place, name in PLACES.items():
            cells = [against_mmap.get((case, place, size)) for size in SIZES]
            print(f"| {verb}, {name} | " + " | ".join(map(cell, cells)) + " |")
            targets = [f"{c['target']:g}" if c else "" for c in cells]
            if place != "gtt-wc":
                print(f"| target, {name} | " + " | ".join(targets) + " |")
    print()
    print("| | measured | target | quartiles |")
    print("|---|---:|---:|---:|")
    for row in others:
        quartiles = "-".join(f"{q:.2f}" for q in row["quartiles"]) if row["quartiles"] else ""
        target = "" if row["target"] is None else f"{row['target']:g}"
        print(f"| {row['what']} | {cell(row)} | {target} | {quartiles} |")


if __name__ == "__main__":
    main()
