#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Plots the mappings of BOs that X servers have while glyphstorm runs.

usage: plot.py RESULTS.json PLOT.png

RESULTS.json is what report.py wrote.
"""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from plotting import COLOURS, finish, panels, results_and_target  # noqa: E402

STYLES = {"debian": ":", "series-a": "-.", "our-mesa": "--", "nomap": "-"}


def main():
    data, target = results_and_target()
    figure, axes = panels(2)
    servers = list(dict.fromkeys(case["server"] for case in data["cases"]))
    for case in data["cases"]:
        rows = [row for row in case["rows"] if not row["operation"].startswith("check")]
        look = {"label": f"{case['server']}, {case['stack']}", "linestyle": STYLES[case["stack"]],
                "color": COLOURS[servers.index(case["server"])], "marker": "."}
        axes[0].plot(range(len(rows)), [row["gpu_maps_peak"] for row in rows], **look)
        axes[1].plot(range(len(rows)), [row["mmaps"] / max(row["count"], 1) for row in rows], **look)
        for panel in axes:
            panel.set_xticks(range(len(rows)), [row["operation"] for row in rows], rotation=30, ha="right")
    axes[0].set_ylabel("mappings of BOs of the X server, at the most")
    axes[0].set_yscale("log")
    axes[1].set_ylabel("mmap() for each operation")
    for panel in axes:
        panel.grid(True, alpha=0.3)
    finish(figure, list(axes), f"glyphstorm: {data['cases'][0]['pixmaps']:,} live pixmaps, "
           f"{data['cases'][0]['glyphs']:,} glyphs, on the emulated board", target)


main()
