#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Plots the results of transfer-paths.

usage: plot.py RESULTS.json PLOT.png

RESULTS.json is what report.py wrote. Panels: uploads and
downloads over their size, time and instructions in units of a mapping made for
each, with the targets; and the CPU's instructions per byte for large uploads.
"""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from plotting import COLOURS, finish, panels, results_and_target  # noqa: E402 (the path comes first)

PLACEMENTS = {"gtt": "o", "gtt-wc": "^", "vram": "s"}


def against_mapping(axes, data, case, title):
    """Ratio to mapping, copying and unmapping, over the size."""
    lines = {}
    targets = {}
    for result in data["results"]:
        kind, placement, *_ = result["id"].split("/")
        if kind != case or not result["id"].endswith("/mmap"):
            continue
        size = result["arm"][2]
        lines.setdefault(placement, []).append(
            (size, result["measured"], result["instructions"],
             result["quartiles"]))
        targets[size] = min(result["target"], targets.get(size, 9))
    for number, (placement, points) in enumerate(lines.items()):
        colour = COLOURS[number]
        axes.plot([p[0] for p in points], [p[1] for p in points],
                  marker=PLACEMENTS[placement], color=colour, markersize=4,
                  label=f"{placement}, time")
        spread = [p for p in points if p[3]]
        axes.fill_between([p[0] for p in spread], [p[3][0] for p in spread],
                          [p[3][1] for p in spread], color=colour, alpha=0.12,
                          linewidth=0)
        counted = [p for p in points if p[2] is not None]
        axes.plot([p[0] for p in counted], [p[2] for p in counted],
                  marker=PLACEMENTS[placement], color=colour, markersize=4,
                  linestyle=":", label=f"{placement}, instructions")
    axes.step(list(targets), list(targets.values()), where="mid",
              linestyle="--", color="black", linewidth=1, label="target")
    axes.set_ylim(0, max(1.2, axes.get_ylim()[1]))
    axes.set_title(title)
    axes.set_ylabel("in units of mapping, copying, unmapping")


def per_byte(axes, data):
    """Instructions per byte of uploads to VRAM."""
    arms = {}
    cost = data["count_clock_cost"] or 0
    for row in data["counts"] or []:
        if row["case"] == "upload" and row["placement"] == "vram" and \
                row["median"] is not None and row["bytes"] >= 4096 and \
                not row["arm"].endswith("-again"):
            arms.setdefault(row["arm"], []).append(
                (row["bytes"], (row["median"] - cost) / row["bytes"]))
    for number, (arm, points) in enumerate(arms.items()):
        axes.plot([p[0] for p in points], [p[1] for p in points],
                  color=COLOURS[number % len(COLOURS)], linestyle="-.",
                  marker="x", markersize=4, label=arm)
    axes.set_yscale("log")
    axes.set_title("CPU of uploads to VRAM")
    axes.set_ylabel("instructions per byte")


def main():
    data, target = results_and_target()

    figure, axes = panels(3)
    against_mapping(axes[0], data, "upload", "upload by PWRITE")
    against_mapping(axes[1], data, "download", "download by PREAD")
    per_byte(axes[2], data)
    for panel in axes:
        panel.set_xscale("log", base=2)
        panel.set_xlabel("bytes")
        panel.grid(True, which="major", alpha=0.3)
    environment = data["environment"]
    finish(figure, axes,
           f"transfer-paths: Linux {environment['kernel']}, "
           f"{environment['driver']}, device {environment['device']}", target)


if __name__ == "__main__":
    main()
