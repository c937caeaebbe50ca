#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Prints what live-bos found as the table of the README, in Markdown.

usage: table.py RESULTS.json

A row for each population: the cost of filling one more BO (medians,
microseconds) by domain and arm, the maps of the process by arms, and the figures
reported in 2011. Arms whose maps agree in every row share a column.
"""

import json
import sys


def cost(row):
    """Cell of an upload: empty if it was not measured, "fails" if it failed."""
    if row is None:
        return ""
    if row["error"]:
        return "fails"
    return f"{row['upload_ns'] / 1000:.1f}"


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: table.py RESULTS.json")
    with open(sys.argv[1], encoding="utf-8") as f:
        data = json.load(f)
    rows = {(row["domain"], row["arm"], row["requested"]): row
            for row in data["rows"]}
    domains = list(dict.fromkeys(row["domain"] for row in data["rows"]))
    arms = list(dict.fromkeys(row["arm"] for row in data["rows"]))
    steps = sorted({row["requested"] for row in data["rows"]})

    # Arms by their maps in the first domain, which has all populations.
    maps = {}
    for arm in arms:
        counts = tuple(rows[domains[0], arm, n]["maps"] for n in steps)
        maps.setdefault(counts, []).append(arm)
    report = data["report_2011_us"]

    print("| live BOs |",
          " | ".join(f"{d.upper()} {a}" for d in domains for a in arms), "|",
          " | ".join("maps: " + ", ".join(names) for names in maps.values()),
          "| 2011 report | 2011 work-around |")
    print("|" + "---:|" * (1 + len(domains) * len(arms) + len(maps) + 2))
    for number, n in enumerate(steps):
        cells = [cost(rows.get((d, a, n))) for d in domains for a in arms]
        cells += [f"{counts[number]:,}" for counts in maps]
        cells += [str(report[name].get(str(n), "")) for name in
                  ("mapped", "workaround")]
        print(f"| {n:,} |", " | ".join(cells), "|")


if __name__ == "__main__":
    main()
