#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Prints gl-uploads.json as Markdown: table.py RESULTS.json

A row for each place and case: microseconds, ioctls and mappings per call of each variant,
and the patched Mesa's time in parts of the unmodified one's.
"""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from reporting import load  # noqa: E402 (the path comes first)

VARIANTS = {"unmodified": "unmodified", "a": "A alone, unmodified kernel", "patched": "patched", "temporary": "temporary"}


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: table.py RESULTS.json")
    rows = {(r["where"], r["case"], r["mesa"]): r for r in load(sys.argv[1])["rows"]}
    # Results of before series A was measured do not have it.
    variants = [v for v in VARIANTS if any(k[2] == v for k in rows)]
    print("| where | case | " + " | ".join(f"{what}, {VARIANTS[v]}" for what in ("µs", "ioctls", "maps") for v in variants) +
          " | patched / unmodified |")
    print("|---|---" + "|---:" * (3 * len(variants) + 1) + "|")
    for where, case in dict.fromkeys(k[:2] for k in rows):
        of = [rows[where, case, v] for v in variants]
        patched, unmodified = rows[where, case, "patched"], rows[where, case, "unmodified"]
        cells = [f"{r['ns'] / 1000:.2f}" for r in of]
        cells += [f"{r['ioctls']:.2f}" for r in of] + [f"{r['maps']:.2f}" for r in of]
        print(f"| {where} | {case} | " + " | ".join(cells) + f" | {patched['ns'] / unmodified['ns']:.2f} |")


if __name__ == "__main__":
    main()
