#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Plots what threads measured.

usage: plot-threads.py RESULTS.json PLOT.png

RESULTS.json is what report-threads.py wrote. Panels: CPU time of one more thread
over the threads that are live; the same for threads that are joined at once;
system time in all, with what was reported in 2005.
"""

import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
from plotting import COLOURS, finish, panels  # noqa: E402

STYLES = ["-", "--", ":", "-."]


def label(result):
    """A kernel, and what was counted on it."""
    if result["unit"] == "ns":
        # The machine's own: what its builder calls it does not matter.
        return f"Linux {result['kernel'].split('-')[0]}, times"
    return f"{result['kernel']}, {result['unit']}"


def lines(axes, data, kernels, start):
    """CPU time per thread, a line for each case and kernel."""
    cases = []
    for result in data["results"]:
        if not result["case"].startswith(start) or not result["cpu_ns"]:
            continue
        if result["case"] not in cases:
            cases.append(result["case"])
        chunk = result["chunk"]
        axes.plot([(i + 1) * chunk for i in range(len(result["cpu_ns"]))],
                  [t / chunk / 1e3 for t in result["cpu_ns"]],
                  color=COLOURS[cases.index(result["case"]) %
                                len(COLOURS)],
                  linestyle=STYLES[kernels.index(label(result)) % 4],
                  marker="o", markersize=2.5, linewidth=1,
                  label=f"{result['case']}, {label(result)}")
    axes.set_yscale("log")
    axes.set_ylabel("CPU time of one more thread, us (10^3 instructions)")
    axes.set_xlabel("threads so far")
    axes.grid(True, which="major", alpha=0.3)
    if cases:
        axes.legend(fontsize=6.5)


def totals(axes, data, kernels):
    """System time of all threads."""
    cases = list(dict.fromkeys(r["case"] for r in data["results"]))
    width = 0.8 / len(kernels)
    for number, kernel in enumerate(kernels):
        mine = {r["case"]: r["system_total_s"] for r in data["results"]
                if label(r) == kernel}
        axes.bar([i + number * width - 0.4 + width / 2
                  for i, case in enumerate(cases) if case in mine],
                 [mine[case] for case in cases if case in mine],
                 width, color=COLOURS[number + 1], label=kernel)
    told = data["report_2005"]
    axes.axhline(told["system_s_first_fit"], color="black", linestyle="--",
                 linewidth=1, label="2005: first fit, 30 s")
    axes.axhline(told["system_s_cache"], color="black", linestyle=":",
                 linewidth=1, label="2005: free-area cache, 0.7 s")
    axes.set_xticks(range(len(cases)), cases, fontsize=7, rotation=30)
    axes.set_yscale("log")
    axes.set_ylabel("system time in all, s (10^9 instructions)")
    axes.grid(True, axis="y", which="major", alpha=0.3)


def main():
    if len(sys.argv) != 3:
        sys.exit("usage: plot-threads.py RESULTS.json PLOT.png")
    source, target = sys.argv[1:]
    with open(source, encoding="utf-8") as f:
        data = json.load(f)
    kernels = list(dict.fromkeys(label(r) for r in data["results"]))
    threads = max(r["threads"] for r in data["results"])

    figure, axes = panels(3)
    lines(axes[0], data, kernels, "live")
    axes[0].set_title("all live", fontsize=9)
    lines(axes[1], data, kernels, "join")
    axes[1].set_title("each joined before the next", fontsize=9)
    totals(axes[2], data, kernels)
    axes[2].set_title(f"up to {threads:,} threads", fontsize=9)
    finish(figure, axes[2:], f"threads: {'; '.join(kernels)}", target)


if __name__ == "__main__":
    main()
