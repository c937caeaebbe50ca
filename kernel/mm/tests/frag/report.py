#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes results and a table of what frag found, and checks it.

usage: report.py [--check] [--json OUT.json] RESULTS.json...

Each RESULTS.json is of one run of frag: rows of models (any run has the same)
and of the kernel that ran, which are told apart by its release. The table has
the long run of 2005 beside what was reported then, and the other workloads.

With --check: kernels mapped where their model says; the searches of 2.4 and of
2005 end as reported; and a kernel with usable gaps does not leave more areas
than one without. Exit status: 0 if all holds, 1 if not.
"""

import os
import statistics
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..", "..", "bench", "lib"))
from reporting import arguments, load, verdict, write  # noqa: E402 (the path comes first)
from sources import load as sources  # noqa: E402

MIB = 256  # pages

# Distinct areas in /proc/self/maps, which include those of the program itself, and
# after how many rounds it failed.
REPORT_2005 = {name: {"areas": told["areas"], "failed_after": told.get("failed_after")}
               for name, told in sources()["fragmentation-2005"]["areas"].items()}
TITLES = {
    "first-fit": "first fit (2.4)",
    "cache": "free-area cache (2.6.12-rc4)",
    "cache-last": "the same as described in 2005",
    "hole": "cached hole size (patch of May 2005)",
    "hole-merged": "cached hole size (2.6.13 to 3.3)",
    "best-fit": "best fit by size (2011)",
    "gap-tree": "gap tree (3.8)",
    "gap-retry": "today, guards by retries",
    "gap-usable": "today, usable gaps (the series)",
}


def by_seed(rows):
    """Rows of all seeds of the same thing, in order of appearance."""
    groups = {}
    for row in rows:
        key = (row["workload"], row["by"], row.get("release"), row["name"],
               row["direction"])
        groups.setdefault(key, []).append(row)
    return groups


def mean(rows, key):
    """Mean over seeds."""
    return statistics.mean(row[key] for row in rows)


def who(row):
    """The title of a row."""
    if row["by"] == "kernel":
        return f"Linux {row['release']}"
    return TITLES[row["name"]]


def line(rows, historic=False):
    """A line of the table."""
    row = rows[0]
    end = (f"{row['steps']:,}" if row["steps"] == row["steps_wanted"]
           else f"fails at {row['steps']:,}")
    text = (f"{who(row):<38}{row['direction']:<11}{end:>16}"
            f"{mean(rows, 'areas'):>8.0f}"
            f"{mean(rows, 'largest_hole_pages') / MIB:>9.1f}"
            f"{mean(rows, 'free_pages') / MIB:>8.0f}")
    if row["by"] == "kernel":
        wrong = sum(r["differing"] + r["areas_differing"] for r in rows)
        text += f"   {sum(r['maps'] for r in rows):,} addresses, "
        text += f"{wrong or 'none'} not as in \"{TITLES[row['name']]}\""
    elif "looked_mean" in row:
        text += (f"{mean(rows, 'looked_mean'):>10.1f}"
                 f"{max(r['looked_worst'] for r in rows):>8,}")
    if historic and row["by"] == "model" and row["direction"] == "bottom-up" \
            and row["name"] in REPORT_2005:
        told = REPORT_2005[row["name"]]
        text += f"   2005: {told['areas']} areas"
        if told["failed_after"]:
            text += f", fails after {told['failed_after']:,}+"
    return text


HEAD = (f"{'':<38}{'':<11}{'steps':>16}{'areas':>8}{'largest':>9}{'free':>8}"
        f"{'areas looked at':>18}\n"
        f"{'search':<38}{'from':<11}{'':>16}{'':>8}{'hole/MiB':>9}{'/MiB':>8}"
        f"{'mean':>10}{'worst':>8}")

WORKLOADS = {
    "long-32": "The long run of 2005, in a window of 2.67 GiB (models; kernels:"
               " all else filled)",
    "long-ia32": "The same by 32-bit system calls",
    "long-64": "The same in as much space as there is",
    "mix": "Random mix, means over seeds",
    "guards": "Random mix, every fourth a MAP_GROWSDOWN mapping",
    "stacks": "20,000 stacks that stay, in a window of 2.67 GiB (models)",
}


def table(rows):
    """Yields the lines of the table."""
    groups = by_seed(rows)
    yield "Five regions, 4 2 3 freed, one mapped: where, and areas then"
    for key, group in groups.items():
        if key[0] == "five" and key[1] == "model":
            row = group[0]
            yield (f"{who(row):<38}{row['direction']:<11}"
                   f"place of region {row['place']}, {row['areas']} areas")
    for name, title in WORKLOADS.items():
        mine = [group for key, group in groups.items() if key[0] == name]
        if not mine:
            continue
        yield ""
        yield title
        yield HEAD
        for group in mine:
            yield line(group, name == "long-32")


def check_history(rows):
    """Yields the differences from the report of 2005."""
    ends = {row["name"]: row for row in rows
            if row["workload"] == "long-32" and row["by"] == "model"
            and row["direction"] == "bottom-up"}
    for name, told in REPORT_2005.items():
        row = ends.get(name)
        if not row:
            yield f"long-32: no {name}"
            continue
        failed = row["steps"] < row["steps_wanted"]
        # A run with fewer steps than the one that failed in 2005 proves nothing.
        if row["steps_wanted"] > 2 * (told["failed_after"] or 0) and \
                failed != bool(told["failed_after"]):
            yield f"long-32, {name}: ends after {row['steps']} steps"
        if row["areas"] > told["areas"]:
            yield f"long-32, {name}: {row['areas']} areas"
    if not ends or ends["cache"]["areas"] < 5 * ends["hole"]["areas"]:
        yield "long-32: the cache does not fragment more than the patch"
    for row in rows:
        if row["workload"] == "five" and row["by"] == "model" and \
                row["place"] != (3 if row["name"] == "cache-last" else 2):
            yield f"five, {row['name']}: at region {row['place']}"


def check_kernels(rows):
    """Yields the kernels' differences from their models."""
    for row in rows:
        if row["by"] == "kernel" and \
                (row["differing"] or row["areas_differing"]):
            yield (f"{row['release']}, {row['workload']}, {row['direction']}:"
                   f" {row['differing']} of {row['maps']} addresses and"
                   f" {row['areas_differing']} areas not as predicted")


def check_series(rows):
    """Yields the rows in which usable gaps left more areas than retries."""
    groups = by_seed(rows)
    for (workload, by, release, name, direction), group in groups.items():
        if not release or not release.endswith("-mm"):
            continue
        base = [g for k, g in groups.items()
                if k[:2] == (workload, by) and k[4] == direction
                and str(k[2]).endswith("-mm-base")]
        if not base:
            continue
        more, less = mean(group, "areas"), mean(base[0], "areas")
        if more > less:
            yield (f"{workload}, {direction}: {more:.0f} areas with {name},"
                   f" {less:.0f} before")


def merge(files):
    """Rows of all files; rows of kernels get the kernel's release."""
    rows, seen, releases = [], set(), []
    for path in files:
        data = load(path)
        release = data["environment"]["kernel"]
        for row in data["rows"]:
            if row["by"] == "kernel":
                row["release"] = release
                if release not in releases:
                    releases.append(release)
            key = tuple(row.get(k) for k in ("workload", "by", "release",
                                             "name", "direction", "seed"))
            if key not in seen:
                seen.add(key)
                rows.append(row)
    return rows, releases


def main():
    args = arguments(__doc__, "results...")
    rows, releases = merge(args.results)
    for text in table(rows):
        print(text)
    if args.json:
        write(args.json, {"environment": {"kernels": releases},
                          "report_2005": REPORT_2005, "rows": rows})
    if not args.check:
        return 0
    wrong = [*check_kernels(rows), *check_series(rows)]
    if any(row["by"] == "model" for row in rows):
        wrong += check_history(rows)
    if not any(row["by"] == "kernel" for row in rows):
        wrong.append("no kernel was compared")
    print()
    return verdict(wrong)


if __name__ == "__main__":
    sys.exit(main())
