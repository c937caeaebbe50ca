#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Plots where a desktop's time goes: shares of guest CPUs, engines and traps.

usage: plot.py RESULTS.json PLOT.png

RESULTS.json is what report.py wrote.
"""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from plotting import COLOURS, finish, panels, results_and_target  # noqa: E402

SHARES = (("guest_cpu", "guest's CPUs"), ("engine", "board's engines"), ("traps", "trapped registers"))


def main():
    data, target = results_and_target()
    rows = data["rows"]
    figure, axes = panels(1)
    for number, (key, label) in enumerate(SHARES):
        places = [i + (number - 1) * 0.27 for i in range(len(rows))]
        axes.bar(places, [100 * row[key] for row in rows], width=0.25, label=label,
                 color=COLOURS[number])
    axes.set_xticks(range(len(rows)), [f"{row['row']}\n{row['us']:,.1f} us each" for row in rows])
    axes.set_ylabel("share of the time, %")
    axes.grid(True, axis="y", alpha=0.3)
    finish(figure, [axes], "desktop-shares: x11perf and glxgears on X with glamor, Debian's Mesa on the "
           "emulated board; shares overlap", target)


main()
