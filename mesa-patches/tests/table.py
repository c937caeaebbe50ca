#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Prints gl-maps.json as Markdown: table.py RESULTS.json

A row for each case, on RV770: mappings made for 100, 1,000 and 10,000 objects, of the
unmodified Mesa, the one with series A alone on a kernel without the ioctls, and the patched one;
and ioctls of all for the largest number.
"""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "bench", "lib"))
from reporting import load  # noqa: E402 (the path comes first)


MESAS = {"unmodified": "unmodified", "a": "A alone, unmodified kernel", "patched": "patched"}


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: table.py RESULTS.json")
    rows = [r for r in load(sys.argv[1])["rows"] if r["chip"] == "RV770"]
    steps = sorted({r["n"] for r in rows} & {100, 1000, 10000})
    lines = {}
    for r in rows:
        name = r["case"] + (f", GPU {r['latency_us'] // 1000} ms late" if r["latency_us"] else "")
        lines.setdefault(name, {})[r["mesa"], r["n"]] = r
    # Results of before series A was measured do not have it.
    mesas = [m for m in MESAS if any(r["mesa"] == m for r in rows)]
    print("| case | " + " | ".join(f"{MESAS[m]}, {n:,}" for m in mesas for n in steps) + " | ioctls, " +
          " | ".join(MESAS[m] for m in mesas) + " |")
    print("|---" + "|---:" * (len(mesas) * (len(steps) + 1)) + "|")
    for name, of in lines.items():
        most = max(n for _, n in of)
        cells = [f"{of[m, n]['maps']:,}" if (m, n) in of else "" for m in mesas for n in steps]
        cells += [f"{of[m, most]['ioctls']:,}" if (m, most) in of else "" for m in mesas]
        print(f"| {name} | " + " | ".join(cells) + " |")


if __name__ == "__main__":
    main()
