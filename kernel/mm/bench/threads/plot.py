#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Plots what threads measured.

usage: plot.py RESULTS.json PLOT.png

RESULTS.json is what report.py wrote. Panels: instructions of one more
thread, over the threads that are live, and its CPU time; system time in all, with
what was reported in 2005.
"""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..", "..", "bench", "lib"))
from plotting import COLOURS, finish, panels, results_and_target  # noqa: E402

STYLES = ["-", "--", ":", "-."]


def label(result):
    """The label of a kernel, with the unit of its numbers."""
    if result["unit"] == "ns":
        # The machine's own kernel: leave out its builder's suffix.
        return f"Linux {result['kernel'].split('-')[0]}, times"
    return f"{result['kernel']}, {result['unit']}"


def lines(axes, data, unit, name):
    """What one more live thread costs, a line for each case and kernel."""
    mine = [r for r in data["results"] if r["unit"] == unit and r["cpu_ns"]
            and r["case"].startswith("live")]
    cases = list(dict.fromkeys(r["case"] for r in mine))
    kernels = list(dict.fromkeys(r["kernel"] for r in mine))
    for result in mine:
        chunk = result["chunk"]
        axes.plot([(i + 1) * chunk for i in range(len(result["cpu_ns"]))],
                  [t / chunk / 1e3 for t in result["cpu_ns"]],
                  color=COLOURS[cases.index(result["case"]) % len(COLOURS)],
                  linestyle=STYLES[kernels.index(result["kernel"]) % 4],
                  marker="o", markersize=2.5, linewidth=1,
                  label=f"{result['case']}, {label(result)}")
    axes.set_yscale("log")
    axes.set_ylim(10, 50000)
    axes.set_ylabel(f"one more thread, {name}")
    axes.set_xlabel("threads that are live")
    axes.grid(True, which="major", alpha=0.3)
    if mine:
        axes.legend(fontsize=6.5, loc="upper right", ncol=2)


def totals(axes, data, kernels, threads):
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
        for r in data["results"]:
            if label(r) == kernel and r["threads"] < threads:
                axes.text(cases.index(r["case"]) + number * width - 0.4,
                          r["system_total_s"], f"{r['threads']:,}\nthreads",
                          fontsize=6, ha="right", va="top")
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
    data, target = results_and_target()
    kernels = list(dict.fromkeys(label(r) for r in data["results"]))
    threads = max(r["threads"] for r in data["results"])

    figure, axes = panels(3)
    lines(axes[0], data, "instructions", "10^3 instructions")
    axes[0].set_title("instructions, all threads live", fontsize=9)
    lines(axes[1], data, "ns", "us of CPU time")
    axes[1].set_title("CPU time, all threads live", fontsize=9)
    totals(axes[2], data, kernels, threads)
    axes[2].set_title(f"{threads:,} threads", fontsize=9)
    finish(figure, axes[2:], f"threads: {'; '.join(kernels)}", target)


if __name__ == "__main__":
    main()
