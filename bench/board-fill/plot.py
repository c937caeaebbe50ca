#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Plots board-fill: milliseconds of a draw, by scene and renderer.

usage: plot.py RESULTS.json PLOT.png

RESULTS.json is what report.py wrote.
"""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from plotting import COLOURS, finish, panels, results_and_target  # noqa: E402


def main():
    data, target = results_and_target()
    scenes = list(dict.fromkeys(row["scene"] for row in data["rows"]))
    most = max(row["threads"] for row in data["rows"])
    names = list(dict.fromkeys(row["renderer"] for row in data["rows"]))
    figure, axes = panels(1)
    for number, name in enumerate(names):
        by = {row["scene"]: row["ms"] for row in data["rows"] if row["renderer"] == name and row["threads"] == most}
        places = [i + (number - (len(names) - 1) / 2) * 0.8 / len(names) for i, s in enumerate(scenes) if s in by]
        axes.bar(places, [by[s] for s in scenes if s in by], width=0.75 / len(names),
               label={"board": "board, RV770", "turks": "board, TURKS"}.get(name, name),
                 color=COLOURS[number])
    axes.set_yscale("log")
    axes.set_xticks(range(len(scenes)), scenes)
    axes.set_ylabel("ms of one draw")
    axes.grid(True, axis="y", which="major", alpha=0.3)
    finish(figure, [axes], "board-fill: 1024x768, the emulated board by r7xx-shim beside "
           f"Mesa's software renderers, {data['environment']['cpus']} CPUs", target)


main()
