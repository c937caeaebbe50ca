#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks what live-bos found; asserts on counts and contents, not on times.

usage: check.py [--max-ratio R] [--pool N] [--allow-unsupported] RESULTS.json

- Every arm has a row for every domain and population.
- All live BOs held what was written.
- pwrite, mmap-temp and libdrm reach every population and add at most 4 maps;
  libdrm-map adds one a BO until its pool is full, and no more: N, or an eighth of
  vm.max_map_count. So does libdrm where pwrite is unsupported.
- mmap, libdrm-debian and arena add one map per BO, and end when the population
  reaches the limit of maps (vm.max_map_count): not much earlier, and never later.
- Where the measurement of 2011 was made: all BOs were live, had contents of their own and
  kept their mapping; in the arena also gaps are mappings.
- The cost of a pwrite upload at the largest population is printed in units of that
  at the smallest; with --max-ratio it must not be above R.

Exit status: 0 if all holds, 1 if not.
"""

import argparse
import json
import sys

# Maps besides those of BOs that a process may add while it runs; none are expected.
SLACK = 4
# More maps than a process has before its first BO.
BASE = 100
# Arms that keep each BO mapped.
KEEP = ("mmap", "arena", "libdrm-debian")
# libdrm's pool has room for this part of the kernel's limit.
POOL_SHARE = 8


def check_row(row, limit, pool, allow_unsupported, has_rw):
    """Yields what is wrong with one row."""
    arm, error = row["arm"], row["error"]
    if row["verified"] != row["live"]:
        yield f"{row['verified']} of {row['live']} BOs verified"

    if error and error.startswith("unsupported"):
        if not allow_unsupported:
            yield error
        return

    if arm in KEEP:
        if abs(row["maps"] - row["live"]) > SLACK:
            yield f"{row['maps']} maps for {row['live']} mapped BOs"
        if error:
            if not error.startswith(("mmap: ", "radeon_bo_map: ")):
                yield f"ended by another cause than maps: {error}"
            if not limit - BASE <= row["live"] <= limit:
                yield f"ended at {row['live']}, the limit being {limit}"
            return
        if row["requested"] > limit:
            yield f"no end at {row['requested']}, the limit being {limit}"
    else:
        pooled = arm == "libdrm-map" or (arm == "libdrm" and not has_rw)
        want = min(row["live"], pool) if pooled else 0
        if not want - SLACK <= row["maps"] <= want + SLACK:
            yield f"{row['maps']} maps, not {want}"

    if error:
        yield error
    elif row["live"] != row["requested"]:
        yield f"{row['live']} BOs live"
    elif not row["samples"] or not row["upload_ns"]:
        yield "nothing measured"


def check_2011(data):
    """Yields what is wrong with the measurement of 2011."""
    for row in data.get("as_2011", []):
        what = f"as in 2011, {row['arm']}, N = {row['requested']}"
        if row["error"]:
            yield f"{what}: {row['error']}"
            continue
        most = row["live"] * (2 if row["arm"] == "arena" else 1) + SLACK
        if row["live"] != row["requested"] or not row["samples"]:
            yield f"{what}: {row['live']} BOs live, {row['samples']} samples"
        if not row["live"] - SLACK <= row["maps"] <= most:
            yield f"{what}: {row['maps']} maps"


def check(data, options):
    """Yields all that is wrong."""
    yield from check_2011(data)
    rows = data["rows"]
    limit = data["environment"]["max_map_count"]
    pool = limit // POOL_SHARE if options.pool is None else options.pool
    arms = {row["arm"] for row in rows}
    steps = {(row["domain"], row["requested"]) for row in rows}
    found = {(row["arm"], row["domain"], row["requested"]) for row in rows}
    has_rw = not any(row["arm"] == "pwrite" and
                     (row["error"] or "").startswith("unsupported")
                     for row in rows)

    if not rows:
        yield "no rows"
    for key in sorted({(a, d, n) for a in arms for d, n in steps} - found):
        yield f"{key[0]}, {key[1]}, N = {key[2]}: missing"
    for row in rows:
        for what in check_row(row, limit, pool, options.allow_unsupported,
                              has_rw):
            yield (f"{row['arm']}, {row['domain']}, "
                   f"N = {row['requested']}: {what}")


def ratios(data):
    """Yields domain, smallest and largest population, ratio of costs."""
    for domain in sorted({row["domain"] for row in data["rows"]}):
        costs = sorted((row["live"], row["upload_ns"]) for row in data["rows"]
                       if row["arm"] == "pwrite" and row["domain"] == domain
                       and row["upload_ns"])
        if len(costs) > 1:
            yield domain, costs[0][0], costs[-1][0], costs[-1][1] / costs[0][1]


def main():
    parser = argparse.ArgumentParser(
        description="Checks what live-bos found.")
    parser.add_argument("--max-ratio", type=float, metavar="R",
                        help="largest cost of a pwrite at the largest "
                        "population, in units of that at the smallest")
    parser.add_argument("--pool", type=int, metavar="N",
                        help="room in libdrm's pool of mappings")
    parser.add_argument("--allow-unsupported", action="store_true",
                        help="accept a kernel without PREAD and PWRITE")
    parser.add_argument("results")
    options = parser.parse_args()
    with open(options.results, encoding="utf-8") as f:
        data = json.load(f)

    wrong = list(check(data, options))
    for domain, small, large, ratio in ratios(data):
        print(f"pwrite, {domain}: upload at {large} live BOs costs "
              f"{ratio:.2f} of that at {small}")
        if options.max_ratio and ratio > options.max_ratio:
            wrong.append(f"pwrite, {domain}: ratio above {options.max_ratio}")
    for line in wrong:
        print(f"live-bos: {line}", file=sys.stderr)
    print(f"live-bos: {len(data['rows'])} rows, "
          f"{'all as it should be' if not wrong else f'{len(wrong)} wrong'}")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
