#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Plots the results of live-bos.

usage: plot.py RESULTS.json PLOT.png

Upload and destroy cost and the maps of the process over the number of live
BOs, one line per arm and domain, medians with the 10th to 90th percentile. In a panel
of its own what the report of 2011 measured: its figures (dashed), and ours if there
are any. The plot is written aside and renamed.
"""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from plotting import (  # noqa: E402 (the path comes first)
    COLOURS, finish, panels as make_panels, results_and_target)
from sources import report_2011  # noqa: E402

STYLES = {"vram": ("o", "-"), "gtt": ("s", ":")}
# Each arm has the same colour in every plot.
ARMS = ["mmap", "mmap-temp", "pwrite", "libdrm", "libdrm-map", "arena",
        "libdrm-debian"]


def series(rows, arm, domain, key):
    """Points of one line: (live, value, row) where there is a value."""
    return [(row["live"], row[key], row) for row in rows
            if row["arm"] == arm and row["domain"] == domain
            and row.get(key) is not None and row["live"] > 0]


def draw(axes, data, key, scale, title, unit):
    """One panel; times (scale 1000) get their spread as a band."""
    rows = data["rows"]
    arms = list(dict.fromkeys(row["arm"] for row in rows))
    domains = list(dict.fromkeys(row["domain"] for row in rows))
    for number, arm in enumerate(arms):
        colour = COLOURS[ARMS.index(arm) % len(COLOURS)]
        # Lines may coincide, so later ones are thinner and on top.
        width = 3.5 - 2.5 * number / len(arms)
        for domain in domains:
            points = series(rows, arm, domain, key)
            if key == "maps":
                # A logarithmic axis has no 0: draw arms without maps at the bottom.
                points = [(n, max(v, 0.5), row) for n, v, row in points]
            if not points:
                continue
            marker, style = STYLES.get(domain, ("o", "-"))
            axes.plot([p[0] for p in points], [p[1] / scale for p in points],
                      marker=marker, linestyle=style, color=colour,
                      linewidth=width, markersize=width + 2,
                      label=f"{arm}, {domain}")
            low = key.replace("_ns", "_p10_ns")
            if key.endswith("_ns") and all(p[2].get(low) is not None for p in points):
                high = key.replace("_ns", "_p90_ns")
                axes.fill_between([p[0] for p in points],
                                  [p[2][low] / scale for p in points],
                                  [p[2][high] / scale for p in points],
                                  color=colour, alpha=0.12, linewidth=0)
            for live, value, row in points:
                if row["error"]:
                    axes.plot([live], [value / scale], marker="x",
                              color=colour, markersize=11,
                              markeredgewidth=2.5)
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlabel("live 4 KiB BOs")
    axes.set_ylabel(unit)
    axes.set_title(title)
    axes.grid(True, which="major", alpha=0.3)


def as_2011(axes, data):
    """The operations of 2011, which are not uploads."""
    told = report_2011()
    for column, label, marker in ((0, "2011: kernel's search", "^"),
                                  (1, "2011: work-around (MAP_FIXED)", "v")):
        points = [(n, figures[column]) for n, figures in told.items() if figures[column]]
        axes.plot(*zip(*points), linestyle="--", color="black", marker=marker,
                  markersize=4, label=label)
    for arm, title in (("mmap", "kernel's search"), ("arena", "work-around")):
        for key, what, style in (("make_ns", "make and map", "-"), ("destroy_ns", "unmap and destroy", ":")):
            points = [(row["requested"], row[key] / 1000) for row in data.get("as_2011", [])
                      if row["arm"] == arm and row[key] is not None]
            if points:
                axes.plot(*zip(*points), linestyle=style, color=COLOURS[ARMS.index(arm)], marker="o",
                          markersize=4, label=f"here, {title}: {what}")
    axes.set(xscale="log", yscale="log", xlabel="live BOs of 1 to 16,384 bytes", ylabel="microseconds",
             title="as in 2011: make and map,\nor unmap and destroy, one BO")
    axes.grid(True, which="major", alpha=0.3)


def main():
    data, target = results_and_target()

    destroyed = any(row.get("destroy_ns") for row in data["rows"])
    figure, panels = make_panels(4 if destroyed else 3)
    draw(panels[0], data, "upload_ns", 1000,
         "upload of 4 KiB to one more BO", "microseconds")
    if destroyed:
        draw(panels[-3], data, "destroy_ns", 1000,
             "destroy one BO", "microseconds")
    draw(panels[-2], data, "maps", 1,
         "maps of the process (x: no more possible)", "maps (none: 0.5)")
    limit = data["environment"]["max_map_count"]
    panels[-2].axhline(limit, linestyle="--", color="grey", linewidth=1,
                       label="vm.max_map_count")
    as_2011(panels[-1], data)
    environment = data["environment"]
    finish(figure, panels,
           f"live-bos: Linux {environment['kernel']}, "
           f"{environment['driver']}, device {environment['device']}, emulated "
           "(2011: hardware and kernel of then)", target)


if __name__ == "__main__":
    main()
