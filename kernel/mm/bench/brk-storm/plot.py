#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Plots the results of brk-storm.

usage: plot.py RESULTS.json PLOT.png

Left: instructions of a call by the pages that it adds or takes away, with the heap
inside a leaf of the maple tree and as its last entry. Right: what a call consists of.
The jobs of children are in the table only.
"""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..", "..", "bench", "lib"))
from plotting import (  # noqa: E402 (the path comes first)
    COLOURS, legend_below, plt, results_and_target, save)

HEAPS = {"new": "no heap yet", "own": "own heap", "inherited": "parent's heap"}
OTHER = "everything else in the system call"


def steps(axes, rows):
    """A line for growing and for shrinking, and for each place of the heap."""
    sizes = set()
    for number, (op, verb) in enumerate((("grow", "grow"), ("shrink", "shrink"))):
        points = []
        for row in rows:
            heap, pages, touched, what = row["id"].split("/")
            if heap == "own" and touched == "touched" and what == op and "mm" in row["instructions"]:
                points.append((int(pages), row["instructions"]["mm"]))
        points.sort(key=lambda p: p[0])
        sizes.update(p[0] for p in points)
        for key, style, where in (("last", "x:", "the heap is the last entry of its leaf"),
                                  ("inside", "o-", "the heap is inside a leaf of the maple tree")):
            axes.plot([p[0] for p in points], [p[1][key] for p in points], style, color=COLOURS[number],
                      label=f"{verb}; {where}")
    axes.set(xscale="log", yscale="log", xlabel="pages by which the heap grows or shrinks (all have been touched)",
             ylabel="instructions of one brk()", title="One brk()")
    axes.set_xticks(sorted(sizes), [str(size) for size in sorted(sizes)])
    axes.minorticks_off()
    axes.grid(True, alpha=0.3)
    legend_below(axes, 1)


def call(row):
    """A row's name in words."""
    heap, pages, touched, op = row["id"].split("/")
    return f"{op} by {pages} page{'' if pages == '1' else 's'}, {touched}, {HEAPS[heap]}"


def consists(axes, rows):
    """A bar for each kind of call, with its parts as shares of the instructions."""
    rows = [r for r in rows if r["samples"] >= 100]
    names = list(dict.fromkeys(what for row in rows for what in row["shares"]))
    colours = {name: COLOURS[(i + 2) % len(COLOURS)] for i, name in enumerate(names)}
    colours[OTHER] = "lightgrey"
    labelled = set()
    for y, row in enumerate(rows):
        left = 0
        shares = dict(row["shares"])
        shares[OTHER] = max(0, 1 - sum(shares.values()))
        for what, value in shares.items():
            axes.barh(y, 100 * value, left=left, color=colours[what], label=None if what in labelled else what)
            labelled.add(what)
            if value >= 0.04:
                axes.text(left + 50 * value, y, f"{100 * value:.0f}", ha="center", va="center", fontsize=8)
            left += 100 * value
    axes.set_yticks(range(len(rows)), [call(row) for row in rows], fontsize=9)
    axes.set(xlabel="% of the instructions of a brk()", xlim=(0, 100), title="What it consists of (heap inside a leaf)")
    legend_below(axes, 2)


def main():
    data, target = results_and_target()
    kernels = dict.fromkeys(e["kernel"] for e in data["environments"])
    with_series = [kernel for kernel in kernels if not kernel.endswith("-base")]
    figure, axes = plt.subplots(1, 2, figsize=(16, 7), width_ratios=(2, 3), layout="constrained")
    steps(axes[0], data["cost"])
    consists(axes[1], data["parts"])
    figure.suptitle(f"What growing and shrinking the heap costs: Linux {', '.join(with_series or kernels)}, instructions "
                    "counted in an emulated guest", fontsize=11)
    save(figure, target)


if __name__ == "__main__":
    main()
