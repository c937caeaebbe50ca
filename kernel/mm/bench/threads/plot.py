#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Plots what threads measured.

usage: plot.py RESULTS.json PLOT.png

RESULTS.json is what report.py wrote. Above, what one more thread costs, over the threads
that are live: instructions in guests, and CPU time of the machine. Below, what all cost:
instructions, and system time beside what was reported in 2005.
"""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..", "..", "bench", "lib"))
from plotting import COLOURS, legend_below, plt, results_and_target, save  # noqa: E402 (the path comes first)

STYLES = ["-", "--", ":", "-."]
CASES = {
    "live-8m": "8 MiB (default)",
    "live-64k": "64 KiB",
    "live-own": "64 KiB, mapped by the program",
    "live-guard": "64 KiB, MAP_GROWSDOWN",
    "join-8m": "8 MiB, joined",
    "join-8m-no-cache": "8 MiB, joined, no stack cache",
    "join-guard": "64 KiB, MAP_GROWSDOWN, joined",
}


def label(kernel):
    """A kernel's name in words; the machine's own without its builder's suffix."""
    version, _, name = kernel.partition("-")
    return {"mm": "with the series", "mm-base": "without it"}.get(name, f"Linux {version}")


def each(axes, results, scale, what, title):
    """What one more live thread costs, a line for each case and kernel."""
    mine = [r for r in results if r["cpu_ns"] and r["case"].startswith("live")]
    cases = list(dict.fromkeys(r["case"] for r in mine))
    kernels = list(dict.fromkeys(r["kernel"] for r in mine))
    for result in mine:
        chunk = result["chunk"]
        name = CASES.get(result["case"], result["case"])
        axes.plot([(i + 1) * chunk for i in range(len(result["cpu_ns"]))],
                  [t / chunk / scale for t in result["cpu_ns"]],
                  color=COLOURS[cases.index(result["case"]) % len(COLOURS)],
                  # Lines of two kernels can coincide: the one below is wider.
                  linestyle=STYLES[kernels.index(result["kernel"]) % 4], marker="o", markersize=2.5,
                  linewidth=1.2 if result["kernel"] == kernels[-1] else 4, alpha=1 if result["kernel"] == kernels[-1] else 0.4,
                  label=f"{name}; {label(result['kernel'])}" if len(kernels) > 1 else name)
    axes.set_yscale("log")
    axes.set(xlabel="threads that are live", ylabel=f"one more thread: {what}", title=title)
    axes.grid(True, which="major", alpha=0.3)
    legend_below(axes, 2)


def totals(axes, results, told, what, title):
    """What all threads cost together, a line for each case and a mark for each kernel."""
    cases = list(dict.fromkeys(r["case"] for r in results))
    most = max((r["threads"] for r in results), default=0)
    kernels = list(dict.fromkeys(r["kernel"] for r in results))
    for number, kernel in enumerate(kernels):
        mine = [r for r in results if r["kernel"] == kernel]
        # Beside each other, as equal values would cover each other.
        above = 0.24 * (number - (len(kernels) - 1) / 2)
        axes.plot([r["system_total_s"] for r in mine], [cases.index(r["case"]) + above for r in mine], "os"[number % 2],
                  color=COLOURS[number + 1], markersize=6, label=label(kernel))
        for r in mine:
            if r["threads"] < most:
                axes.annotate(f"of {r['threads']:,} threads", (r["system_total_s"], cases.index(r["case"]) + above), (-6, 6),
                              textcoords="offset points", ha="right", fontsize=8)
    for value, name, style in told:
        axes.axvline(value, color="black", linestyle=style, linewidth=1, label=f"2005, other hardware: {name}, {value} s")
    axes.set_yticks(range(len(cases)), [CASES.get(case, case) for case in cases], fontsize=9)
    axes.set(xscale="log", xlabel=what, title=title, ylim=(-0.7, len(cases) - 0.3))
    axes.xaxis.set_major_formatter("{x:g}")
    axes.xaxis.set_minor_formatter("")
    axes.grid(True, which="both", alpha=0.3)
    legend_below(axes, 1 if told else 2)


def main():
    data, target = results_and_target()
    counted = [r for r in data["results"] if r["unit"] == "instructions"]
    timed = [r for r in data["results"] if r["unit"] == "ns"]
    threads = max(r["threads"] for r in data["results"])
    own = ", ".join(dict.fromkeys(label(r["kernel"]) for r in timed))
    report = data["report_2005"]
    told = [(report["system_s_first_fit"], "first fit", "--"), (report["system_s_cache"], "free-area cache", ":")]

    figure, axes = plt.subplots(2, 2, figsize=(16, 12), layout="constrained")
    each(axes[0][0], counted, 1e3, "thousands of instructions", "One more thread, by its stack: instructions in a guest")
    each(axes[0][1], timed, 1e3, "microseconds of CPU time", "One more thread, by its stack: time of the machine itself")
    totals(axes[1][0], counted, [], "thousand millions of instructions in the kernel",
           f"All {threads:,} threads: instructions in a guest")
    totals(axes[1][1], timed, told, "seconds of system time", f"All {threads:,} threads: time of the machine itself")
    guests = ", ".join(dict.fromkeys(r["kernel"] for r in counted))
    figure.suptitle(f"What thousands of threads cost to create (guests: {guests}; machine: {own})", fontsize=11)
    save(figure, target)


if __name__ == "__main__":
    main()
