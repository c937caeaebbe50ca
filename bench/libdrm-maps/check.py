#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares libdrm-maps with one library to the same with another.

usage: check.py [--max-maps N] [--max-ratio R | --no-costs] NEW.json OLD.json

- NEW came to its end, with all BOs live and the right contents, and never had
  more than N maps (8192: an eighth of the kernel's default limit, and one in use).
- Mapping BOs in turn, one or up to 4,096 of them, costs at most R times as much as
  with OLD (1.3 if instructions were counted, else 2: times are not asserted on
  closely). With --no-costs they are only printed.

OLD may have ended at the kernel's limit of maps. Exit status: 0, 1 if something
does not hold.
"""

import argparse
import json
import sys


def load(path):
    with open(path, encoding="utf-8") as f:
        return json.load(f)


def hot_rows(data):
    """Rows of hot BOs by (BOs, whether all others are live)."""
    few = min((r["bos"] + r["others"] for r in data["rows"]), default=0)
    return {(row["bos"], row["bos"] + row["others"] > few): row
            for row in data["rows"] if row["name"] == "hot"}


def main():
    parser = argparse.ArgumentParser(
        description="Compares libdrm-maps with two libraries.")
    parser.add_argument("--max-maps", type=int, default=8192, metavar="N")
    costs = parser.add_mutually_exclusive_group()
    costs.add_argument("--max-ratio", type=float, metavar="R")
    costs.add_argument("--no-costs", action="store_true")
    parser.add_argument("new")
    parser.add_argument("old")
    options = parser.parse_args()
    new, old = load(options.new), load(options.old)
    unit = new["environment"]["unit"]
    limit = options.max_ratio or (1.3 if unit == "instructions" else 2.0)
    wrong = []

    if unit != old["environment"]["unit"]:
        sys.exit("libdrm-maps: different units")
    if new["environment"]["library"] == old["environment"]["library"]:
        wrong.append("the same library twice")
    if new["error"]:
        wrong.append(new["error"])
    if old["error"] and not old["error"].startswith("radeon_bo_map: "):
        wrong.append(f"the other one: {old['error']}")
    most = max([row["maps"] for row in new["rows"]] + [new["maps"]])
    print(f"{new['live']} BOs live, at most {most} maps; "
          f"the other one: {old['live']}, {old['maps']}"
          f"{' (' + old['error'] + ')' if old['error'] else ''}")
    if most > options.max_maps:
        wrong.append(f"{most} maps")

    before, hot = hot_rows(old), {}
    print(f"one of N BOs mapped and unmapped, {unit}:")
    for (bos, full), row in sorted(hot_rows(new).items(),
                                   key=lambda item: item[0][::-1]):
        if (bos, full) not in before:
            continue
        ratio = row["median"] / before[bos, full]["median"]
        print(f"{bos:6} hot, {row['others']:6} others: {row['median']:7} "
              f"against {before[bos, full]['median']:7}: {ratio:.2f}")
        hot[bos] = max(hot.get(bos, 0), ratio)
    if not {1, 1024, 4096} <= hot.keys():
        wrong.append("no rows of 1, 1,024 and 4,096 BOs in turn in both")
    wrong += [f"{bos} BOs in turn cost {ratio:.2f} times as much"
              for bos, ratio in hot.items() if ratio > limit and not options.no_costs]
    for line in wrong:
        print(f"libdrm-maps: {line}", file=sys.stderr)
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
