#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Prints what report.py made as the table of docs/results.md, in Markdown.

usage: table.py RESULTS.json
"""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from reporting import load  # noqa: E402 (the path comes first)

SIZES = {256: "256 B", 4096: "4 KiB", 65536: "64 KiB"}
VARIANTS = (("upload", "mmap", "write: map, copy, unmap"), ("upload", "kept", "write: a mapping that is kept"),
            ("upload", "pwrite", "write: PWRITE, by the CPU"),
            ("download", "mmap", "read: map, copy, unmap"), ("download", "kept", "read: a mapping that is kept"),
            ("download", "pread-cpu", "read: PREAD by the CPU, loads of 8 bytes"),
            ("download", "pread-cpu-lines", "read: the same, a line of 64 bytes for each load"),
            ("download", "pread-staged", "read: PREAD, staged"))


def micro(ns):
    """Nanoseconds as microseconds."""
    return f"{ns / 1000:,.1f}"


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: table.py RESULTS.json")
    data = load(sys.argv[1])
    cost = {(r["case"], r["arm"], r["bytes"]): r for r in data["rows"]}
    print("| | " + " | ".join(f"{name}: instructions | bus, us | sum, us" for name in SIZES.values()) + " |")
    print("|---|" + "---:|" * 3 * len(SIZES))
    for case, arm, text in VARIANTS:
        cells = [text]
        for size in SIZES:
            row = cost[case, arm, size]
            cells += [f"{row['instructions']:,}", micro(row["bus_ns"]), micro(row["total_ns"])]
        print("| " + " | ".join(cells) + " |")
    print()
    print(f"A load costs {data['load_ns']:,.0f} ns, a line that is written {data['line_ns']:,.0f} ns. A staged read costs less than one"
          " by the CPU")
    print()
    for arm, text in (("pread-cpu", "with loads of 8 bytes"), ("pread-cpu-lines", "with loads of 64 bytes")):
        at = data["crossings"][arm]
        where = "at no size here" if at is None else f"from {at['bytes']:,} bytes on" + (" or less" if at["or_less"] else "")
        print(f"- {text}: {where}.")


if __name__ == "__main__":
    main()
