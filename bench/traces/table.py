#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Prints traces.json as Markdown: table.py RESULTS.json"""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from reporting import load  # noqa: E402 (the path comes first)

MESAS = {"unmodified": "unmodified", "a": "A alone", "patched": "patched"}
COLUMNS = {"maps": "mappings", "creates": "BOs", "ioctls": "ioctls"}


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: table.py RESULTS.json")
    rows = {(r["program"], r["mesa"]): r for r in load(sys.argv[1])["rows"]}
    print("| program | frames | other than unmodified, A alone | patched | " + " | ".join(f"{what}, {mesa}" for what in COLUMNS.values() for mesa in MESAS.values()) +
          " | submissions | s, unmodified | time of that, A alone | time of that, patched | " + " | ".join(f"virtual size, MiB, {mesa}" for mesa in MESAS.values()) + " |")
    print("|---" + "|---:" * (7 + len(COLUMNS) * len(MESAS) + len(MESAS)) + "|")
    for program in dict.fromkeys(p for p, _ in rows):
        cells = [f"{rows[program, mesa][column]:,}" for column in COLUMNS for mesa in MESAS]
        row = rows[program, "unmodified"]
        others = " | ".join(str(rows[program, mesa].get("other_frames", 0)) for mesa in ("a", "patched"))
        # The board in the process of a 64-bit program has addresses of its own.
        sizes = [f"{rows[program, mesa]['vm_peak_mib']:,}" if row.get("bits") == 32 else "" for mesa in MESAS]
        times = ["", "", ""]
        if "seconds" in row:
            base = row["seconds"]
            times = [f"{base:.2f}", *(f"{rows[program, mesa]['seconds'] / base:.2f}" for mesa in ("a", "patched"))]
        print(f"| {program} | {row['frames']} | {others} | " + " | ".join(cells) + f" | {row['submissions']:,} | " +
              " | ".join(times) + " | " +
              " | ".join(sizes) + " |")


if __name__ == "__main__":
    main()
