#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes results and a table of what threads measured, and checks it.

usage: report.py [--check] [--json OUT.json] RESULTS.json...

Each RESULTS.json is of one run of threads, on one kernel; several of a kernel
(boots) are put together. Times of a thousand threads are medians over all runs
that got so far; totals are sums of these. Where the clock counts instructions
(lab/run --accel icount --smp 1), a second is 10^9 of them, and only CPU time says
something.

With --check: all threads came to life; no case but guards on a kernel that
retries costs more for the last threads than five times what the first cost
(fresh memory alone can make it three). Exit status: 0 if all holds, 1 if not.
"""

import os
import statistics
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..", "..", "bench", "lib"))
from reporting import arguments, load, verdict, write  # noqa: E402 (the path comes first)
from sources import load as sources  # noqa: E402

# System time of test_str02 with 20,000 threads, on the author's machine of 2005.
REPORT_2005 = {key: value for key, value in sources()["fragmentation-2005"].items()
               if key == "threads" or key.startswith("system_s")}
TITLES = {
    "live-8m": "all live, stacks of 8 MiB (default)",
    "live-64k": "all live, 64 KiB",
    "live-own": "all live, 64 KiB mapped by the program",
    "live-guard": "all live, the same with MAP_GROWSDOWN",
    "join-8m": "one after the other, 8 MiB",
    "join-8m-no-cache": "the same without glibc's stack cache",
    "join-guard": "one after the other, MAP_GROWSDOWN",
}
TIMES = ("wall_ns", "cpu_ns", "user_ns", "system_ns")
# Chunks (thousands of threads) at each end that are compared for growth.
EDGE = 3
GROWTH_MAX = 5


def growth(chunks):
    """CPU time of the last chunks, in units of that of the first.

    The very first chunk is left out: it also pays for one-time work.
    """
    if len(chunks) < 2 * EDGE:
        return None
    first = statistics.median(chunks[1:1 + EDGE])
    return statistics.median(chunks[-EDGE:]) / first


def summary(case, kernel, unit, runs):
    """One entry of the results."""
    entry = {"case": case, "kernel": kernel, "unit": unit, "runs": len(runs),
             "threads": max(r["threads"] for r in runs),
             "errors": sorted({r["error"] for r in runs if r["error"]})}
    for name in TIMES:
        length = max(len(r[name]) for r in runs)
        entry[name] = [
            statistics.median(r[name][i] for r in runs if len(r[name]) > i)
            for i in range(length)]
        entry[name[:-2] + "total_s"] = sum(entry[name]) / 1e9
    totals = [sum(r["cpu_ns"]) / 1e9 for r in runs
              if len(r["cpu_ns"]) == len(entry["cpu_ns"])]
    entry["cpu_total_s_runs"] = totals
    entry["growth"] = growth(entry["cpu_ns"])
    entry["chunk"] = runs[0]["chunk"]
    return entry


def collect(files):
    """Results of all files, by case and kernel."""
    runs = {}
    environments = []
    for path in files:
        data = load(path)
        environment = data["environment"]
        if environment not in environments:
            environments.append(environment)
        for run in data["runs"]:
            if run:
                key = run["case"], environment["kernel"], environment["unit"]
                runs.setdefault(key, []).append(run)
    order = list(TITLES)
    keys = sorted(runs, key=lambda k: (k[2], order.index(k[0]), k[1]))
    return [summary(*key, runs[key]) for key in keys], environments


def table(results):
    """Yields the lines of the table."""
    yield (f"{'':<40}{'kernel':<28}{'threads':>8}{'runs':>5}{'system':>8}"
           f"{'user':>7}{'wall':>8}{'CPU per thread':>20}{'growth':>8}")
    unit = None
    for r in results:
        if r["unit"] != unit:
            unit = r["unit"]
            names = (("s", "s", "s", "us") if unit == "ns" else
                     ("10^9", "10^9", "", "10^3"))
            yield (f"{unit if unit != 'ns' else 'time':<81}{names[0]:>8}"
                   f"{names[1]:>7}{names[2]:>8}{'first, last, ' + names[3]:>20}")
        each = [t / r["chunk"] / 1e3 for t in r["cpu_ns"]] or [0]
        grown = f"{r['growth']:.2f}" if r["growth"] else "-"
        wall = f"{r['wall_total_s']:.2f}" if unit == "ns" else ""
        yield (f"{TITLES[r['case']]:<40}{r['kernel']:<28}{r['threads']:>8,}"
               f"{r['runs']:>5}{r['system_total_s']:>8.2f}"
               f"{r['user_total_s']:>7.2f}{wall:>8}"
               f"{each[0]:>10.0f}{each[-1]:>10.0f}{grown:>8}")
        for error in r["errors"]:
            yield f"{'':<40}ended by: {error}"
    yield ""
    told = REPORT_2005
    yield (f"2005, {told['threads']:,} threads, system time: {told['system_s_first_fit']}+ s with first fit,"
           f" {told['system_s_cache']} s with the free-area cache, {told['system_s_patch']} s with the cached hole size")


def has_series(kernel):
    """Does the kernel's search know guard gaps?"""
    return kernel.endswith("-mm")


def check(results):
    """Yields the faults."""
    if not results:
        yield "no results"
    for r in results:
        what = f"{r['kernel']}, {r['case']}, {r['unit']}"
        for error in r["errors"]:
            yield f"{what}: {error}"
        if r["growth"] is None:
            continue
        if r["case"] == "live-guard" and not has_series(r["kernel"]):
            continue
        if r["growth"] > GROWTH_MAX:
            yield f"{what}: the last threads cost {r['growth']:.1f} times as much"


def main():
    args = arguments(__doc__, "results...")
    results, environments = collect(args.results)
    for text in table(results):
        print(text)
    if args.json:
        write(args.json, {"environments": environments,
                          "report_2005": REPORT_2005, "results": results})
    if not args.check:
        return 0
    print()
    return verdict(list(check(results)))


if __name__ == "__main__":
    sys.exit(main())
