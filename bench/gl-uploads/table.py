#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Prints gl-uploads.json as Markdown: table.py RESULTS.json

A row for each place and case: microseconds, ioctls and mappings per call of each variant,
and the patched Mesa's time in parts of the unmodified one's.
"""

import json
import sys

VARIANTS = ("unmodified", "patched", "temporary")


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: table.py RESULTS.json")
    with open(sys.argv[1], encoding="ascii") as f:
        rows = {(r["where"], r["case"], r["mesa"]): r for r in json.load(f)["rows"]}
    print("| where | case | " + " | ".join(f"{what}, {v}" for what in ("µs", "ioctls", "maps") for v in VARIANTS) +
          " | patched / unmodified |")
    print("|---|---" + "|---:" * 10 + "|")
    for where, case in dict.fromkeys(k[:2] for k in rows):
        of = [rows[where, case, v] for v in VARIANTS]
        cells = [f"{r['ns'] / 1000:.2f}" for r in of]
        cells += [f"{r['ioctls']:.2f}" for r in of] + [f"{r['maps']:.2f}" for r in of]
        print(f"| {where} | {case} | " + " | ".join(cells) + f" | {of[1]['ns'] / of[0]['ns']:.2f} |")


if __name__ == "__main__":
    main()
