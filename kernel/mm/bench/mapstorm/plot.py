#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Plots the results of mapstorm.

usage: plot.py RESULTS.json PLOT.png

RESULTS.json is what report.py wrote. Panels: one munmap and mmap over
the number of guard mappings; the same over the number of live maps, with what
was reported in 2011; what other operations cost, in units of before.
"""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..", "..", "bench", "lib"))
from plotting import COLOURS, finish, panels, results_and_target  # noqa: E402
from sources import report_2011  # noqa: E402

LAYOUTS = {"top-down": "-", "bottom-up": ":"}


def over(axes, rows, kind, key):
    # The short run of "make check" has instructions only.
    timed = any(r["ns"]["ratio"] for r in rows)
    unit, scale = ("ns", 1000) if timed else ("instructions", 1)
    for layout, style in LAYOUTS.items():
        some = sorted((r for r in rows if (r["kind"], r["layout"], r["operation"]) ==
                       (kind, layout, "pair") and r["error"] is None),
                      key=lambda r: r[key])
        for when, colour in (("before", COLOURS[0]), ("after", COLOURS[2])):
            points = [(r[key], r[unit][when]) for r in some if r[unit][when]]
            axes.plot([x for x, _ in points], [y["median"] / scale for _, y in points],
                      linestyle=style, marker="o", markersize=4, color=colour,
                      label=f"{when}, {layout}")
            axes.fill_between([x for x, _ in points], [y["p10"] / scale for _, y in points],
                              [y["p90"] / scale for _, y in points], color=colour,
                              alpha=0.08, linewidth=0)
    axes.set_xscale("log")
    axes.set_ylabel(f"{'us' if timed else unit} for munmap and mmap (band: p10 to p90)")
    return timed


def others(axes, rows):
    some = [r for r in rows if r["kind"] == "others" and r["instructions"]["ratio"]]
    populations = sorted({r["live"] for r in some})
    names = list(dict.fromkeys(r["operation"] for r in some))
    height = 0.8 / max(len(populations), 1)
    for number, live in enumerate(populations):
        ratio = {r["operation"]: r["instructions"]["ratio"] for r in some if r["live"] == live}
        axes.barh([i + number * height for i in range(len(names))],
                  [ratio.get(n, 1) - 1 for n in names], left=1, height=height,
                  color=COLOURS[3 + number], label=f"{live:,} live maps")
    axes.axvline(1.03, linestyle="--", color="black", linewidth=1, label="3 % more")
    axes.axvline(1, color="black", linewidth=1)
    axes.set_yticks([i + 0.4 - height / 2 for i in range(len(names))], names, fontsize=8)
    axes.invert_yaxis()
    axes.set_xlim(0.9, 1.1)
    axes.set_xlabel("instructions, in units of before")
    axes.set_title("other operations")


def main():
    data, target = results_and_target()
    figure, axes = panels(3)
    over(axes[0], data["rows"], "guards", "guards")
    axes[0].set_yscale("log")
    axes[0].set_xlabel("MAP_GROWSDOWN mappings at a stride of 1 MiB")
    axes[0].set_title("100 live maps, and guards on the way")
    if over(axes[1], data["rows"], "plain", "live"):
        # Of other operations, on other hardware and another kernel.
        told = [(live, us) for live, (us, _) in report_2011().items() if us]
        axes[1].plot(*zip(*told), marker="x", color="grey", label="2011 report (its slope)")
    axes[1].set_yscale("log")
    axes[1].set_xlabel("live maps")
    axes[1].set_title("live maps only")
    others(axes[2], data["rows"])
    finish(figure, axes, "mapstorm: Linux 6.12 without (before) and with (after) the "
           "series of kernel/mm, in an emulated machine", target)


main()
