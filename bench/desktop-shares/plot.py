#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Plots where a desktop's time goes, shares of guest CPUs, engines and traps, and the time on other stacks.

usage: plot.py RESULTS.json PLOT.png

RESULTS.json is what report.py wrote.
"""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from plotting import COLOURS, finish, panels, results_and_target  # noqa: E402 (the path comes first)

SHARES = (("guest_cpu", "guest's CPUs"), ("engine", "board's engines"), ("traps", "trapped registers"))


def main():
    data, target = results_and_target()
    rows = data["rows"]
    others = data.get("stacks", [])
    figure, axes = panels(2 if others else 1)
    panel, *more = list(axes) if others else [axes]
    for number, (key, label) in enumerate(SHARES):
        places = [i + (number - 1) * 0.27 for i in range(len(rows))]
        panel.bar(places, [100 * row[key] for row in rows], width=0.25, label=label,
                 color=COLOURS[number])
    panel.set_xticks(range(len(rows)), [f"{row['row']}\n{row['us']:,.1f} us each" for row in rows], fontsize=7)
    panel.set_ylabel(f"share of the time, %, {rows[0].get('stack', 'debian')}; shares overlap")
    panel.grid(True, axis="y", alpha=0.3)
    if more:
        draw_stacks(more[0], rows, others)
    finish(figure, [panel, *more], "desktop-shares: x11perf and glxgears on X with glamor on the emulated board", target)


def draw_stacks(panel, rows, others):
    """The time of each test on each stack, in units of the first stack's: median, smallest and largest of the runs."""
    names = list(dict.fromkeys(row["stack"] for row in others))
    for number, name in enumerate(names):
        found = {row["row"]: row for row in others if row["stack"] == name}
        own = [(i, found[row["row"]]) for i, row in enumerate(rows) if row["row"] in found]
        panel.errorbar([i + (number - (len(names) - 1) / 2) * 0.2 for i, _ in own], [row["time"] for _, row in own],
                       yerr=[[row["time"] - row["low"] for _, row in own], [row["high"] - row["time"] for _, row in own]],
                       fmt="o", capsize=3, label=name, color=COLOURS[3 + number])
    panel.axhline(1, color="black", linewidth=0.8)
    panel.set_ylim(bottom=0)
    panel.set_xticks(range(len(rows)), [row["row"] for row in rows], fontsize=7)
    panel.set_ylabel(f"time in units of that on {rows[0]['stack']}; below 1 is faster")
    panel.grid(True, axis="y", alpha=0.3)


main()
