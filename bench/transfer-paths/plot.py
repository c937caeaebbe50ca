#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Plots the results of transfer-paths.

usage: plot.py RESULTS.json PLOT.png

RESULTS.json is what report.py wrote. Four panels compare PWRITE and PREAD with a mapping
that is made for the copy, by time and by instructions, over the size. The fifth has the
CPU's instructions for each byte of large uploads, by the way in which they are done.
"""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from plotting import (  # noqa: E402 (the path comes first)
    COLOURS, in_bytes, legend_below, plt, results_and_target, save)

PLACEMENTS = {"gtt": ("GTT, cached", "o"), "gtt-wc": ("GTT, write-combined", "^"), "vram": ("VRAM", "s")}
VARIANTS = {
    "mmap": "map, copy, unmap",
    "pwrite": "PWRITE",
    "kept": "copy to a mapping that is kept",
}


def points_of(data, case):
    """By placement: (size, time's ratio, instructions' ratio, quartiles of time), and targets by size."""
    lines, targets = {}, {}
    for result in data["results"]:
        kind, placement, *_ = result["id"].split("/")
        if kind != case or not result["id"].endswith("/mmap"):
            continue
        size = result["arm"][2]
        lines.setdefault(placement, []).append(
            (size, result["measured"], result["instructions"], result["quartiles"]))
        targets[size] = min(result["target"], targets.get(size, 9))
    return lines, targets


def against_mapping(axes, lines, targets, column, title, what):
    """One panel: column 1 is time, 2 instructions."""
    for number, (placement, points) in enumerate(lines.items()):
        name, marker = PLACEMENTS[placement]
        points = [p for p in points if p[column] is not None]
        axes.plot([p[0] for p in points], [p[column] for p in points], marker=marker, color=COLOURS[number],
                  markersize=5, label=name)
        spread = [p for p in points if p[3]] if column == 1 else []
        axes.fill_between([p[0] for p in spread], [p[3][0] for p in spread], [p[3][1] for p in spread],
                          color=COLOURS[number], alpha=0.12, linewidth=0)
    # Targets are of times.
    if column == 1:
        axes.step(list(targets), list(targets.values()), where="mid", linestyle=":", color="black", linewidth=1,
                  label="target")
    axes.axhline(1, linestyle="--", color="grey", linewidth=1, label="as dear as map, copy, unmap")
    axes.set_ylim(0, max(1.2, axes.get_ylim()[1]))
    axes.set_title(title)
    axes.set_ylabel(f"{what}, in units of map, copy, unmap", fontsize=9)
    in_bytes(axes, targets)
    axes.grid(True, which="major", alpha=0.3)


def per_byte(axes, data):
    """Instructions for each byte of uploads to VRAM."""
    variants = {}
    cost = data["count_clock_cost"] or 0
    for row in data["counts"] or []:
        if row["case"] == "upload" and row["placement"] == "vram" and row["median"] is not None and \
                row["bytes"] >= 4096 and not row["arm"].endswith("-again"):
            variants.setdefault(row["arm"], []).append((row["bytes"], (row["median"] - cost) / row["bytes"]))
    for number, (variant, points) in enumerate(variants.items()):
        axes.plot([p[0] for p in points], [p[1] for p in points], color=COLOURS[number % len(COLOURS)],
                  linestyle="-", marker="x", markersize=5, label=VARIANTS.get(variant, variant))
    axes.set_yscale("log")
    axes.set_title("Uploads to VRAM: the CPU's work")
    axes.set_ylabel("instructions for each byte", fontsize=9)
    in_bytes(axes, {p[0] for points in variants.values() for p in points})
    axes.set_xlabel("size of the upload")
    axes.grid(True, which="major", alpha=0.3)
    legend_below(axes, 1, 0.07)


def main():
    data, target = results_and_target()

    figure = plt.figure(figsize=(16, 9.5), layout="constrained")
    grid = figure.add_gridspec(2, 3)
    for row, (case, call) in enumerate((("upload", "Upload by PWRITE"), ("download", "Download by PREAD"))):
        lines, targets = points_of(data, case)
        for column, what in enumerate(("time", "instructions")):
            axes = figure.add_subplot(grid[row, column])
            against_mapping(axes, lines, targets, column + 1, f"{call}: {what}", what)
            if row:
                axes.set_xlabel("size of the transfer")
                legend_below(axes, 2)
    per_byte(figure.add_subplot(grid[:, 2]), data)
    environment = data["environment"]
    figure.suptitle(f"What a transfer costs without a mapping: Linux {environment['kernel']}, {environment['driver']}, device "
                    f"{environment['device']}, emulated; bands are quartiles", fontsize=11)
    save(figure, target)


if __name__ == "__main__":
    main()
