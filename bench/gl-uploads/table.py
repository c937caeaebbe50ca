#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Prints gl-uploads.json as Markdown: table.py RESULTS.json

A row for each place and case: microseconds, ioctls and mappings per call of each variant,
and the times of series A alone and of both series in parts of the unmodified Mesa's.
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
          " | A alone / unmodified" * ("a" in variants) + " | patched / unmodified |")
    print("|---|---" + "|---:" * (3 * len(variants) + 1 + ("a" in variants)) + "|")
    for where, case in dict.fromkeys(k[:2] for k in rows):
        of = [rows[where, case, v] for v in variants]
        unmodified = rows[where, case, "unmodified"]
        cells = [f"{r['ns'] / 1000:.2f}" for r in of]
        cells += [f"{r['ioctls']:.2f}" for r in of] + [f"{r['maps']:.2f}" for r in of]
        cells += [f"{rows[where, case, v]['ns'] / unmodified['ns']:.2f}" for v in ("a", "patched") if v in variants]
        print(f"| {where} | {case} | " + " | ".join(cells) + " |")


if __name__ == "__main__":
    main()
