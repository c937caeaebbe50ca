#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Prints address-space.json as Markdown: table.py RESULTS.json"""

import json
import sys

MESAS = {"a": "A alone"}


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: table.py RESULTS.json")
    with open(sys.argv[1], encoding="ascii") as f:
        rows = json.load(f)["rows"]
    print("| where | Mesa | kernel | objects | peak, MiB | lost | GL error | on stderr |")
    print("|---|---|---|---:|---:|---:|---:|---|")
    for r in rows:
        first = (r["stderr"].splitlines() or [""])[0]
        print(f"| {r['where']} | {MESAS.get(r['mesa'], r['mesa'])} | {r['kernel']} | {r.get('objects', '')} | {r.get('vm_peak_mib', '')} | "
              f"{r.get('lost', 'ended by signal ' + str(-r['status']))} | {r.get('gl_error', '')} | {first} |")


if __name__ == "__main__":
    main()
