#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Plots the results of brk-storm.

usage: plot.py RESULTS.json PLOT.png

Left: instructions of a step by the pages touched, growing and shrinking, with the
heap inside a leaf of the maple tree and as its last entry. Right: what growing
and shrinking consist of. The jobs of children are in the table only.
"""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..", "..", "bench", "lib"))
from plotting import COLOURS, finish, panels, results_and_target  # noqa: E402 (the path comes first)


def steps(axes, rows):
    for number, op in enumerate(("grow", "shrink")):
        points = []
        for row in rows:
            heap, pages, touched, what = row["id"].split("/")
            if heap == "own" and touched == "touched" and what == op and "mm" in row["instructions"]:
                points.append((int(pages), row["instructions"]["mm"]))
        points.sort(key=lambda p: p[0])
        axes.plot([p[0] for p in points], [p[1]["inside"] for p in points], "o-",
                  color=COLOURS[number], label=f"{op}, heap inside a leaf")
        axes.plot([p[0] for p in points], [p[1]["last"] for p in points], "x:",
                  color=COLOURS[number], label=f"{op}, heap the last entry of its leaf")
    axes.set(xscale="log", yscale="log", xlabel="pages of a step, all touched",
             ylabel="instructions", title="One step")


def consists(axes, rows):
    rows = [r for r in rows if r["samples"] >= 100]
    named = {}
    for y, row in enumerate(rows):
        left = 0
        shares = dict(row["shares"])
        shares["other"] = max(0, 1 - sum(shares.values()))
        for what, value in shares.items():
            colour = "lightgrey" if what == "other" else \
                named.setdefault(what, COLOURS[(len(named) + 2) % len(COLOURS)])
            axes.barh(y, 100 * value, left=left, color=colour)
            if value > 0.12:
                axes.text(left + 50 * value, y, what.replace(": ", ":\n").replace(" and ", "\nand "), ha="center", va="center", fontsize=6)
            left += 100 * value
    axes.set_yticks(range(len(rows)), [" ".join(r["what"].split()) for r in rows], fontsize=7)
    axes.set(xlabel="% of the instructions", title="What a step consists of")


def main():
    data, target = results_and_target()
    kernels = dict.fromkeys(e["kernel"] for e in data["environments"])
    figure, axes = panels(2)
    steps(axes[0], data["cost"])
    consists(axes[1], data["parts"])
    axes[0].grid(True, which="both", alpha=0.2)
    # The parts of a step are named in their bars.
    finish(figure, axes[:1], f"brk-storm, Linux {' and '.join(kernels)}, emulated", target)


if __name__ == "__main__":
    main()
