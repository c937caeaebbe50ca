#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Plots the results of live-bos.

usage: plot.py RESULTS.json PLOT.png

Upload and destroy cost and the mappings of the process over the number of live
BOs, one line for each variant and domain, medians with the 10th to 90th percentile. In a panel
of its own what the report of 2011 measured: how its figures grow (dashed), and ours if
there are any. The plot is written aside and renamed.
"""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from plotting import (  # noqa: E402 (the path comes first)
    COLOURS, plt, results_and_target, save)
from sources import report_2011  # noqa: E402

STYLES = {"vram": ("o", "-", "VRAM"), "gtt": ("s", ":", "GTT")}
NAMES = {
    "mmap": "mmap, mapping kept (Mesa, libdrm)",
    "mmap-temp": "mmap, unmapped at once",
    "arena": "arena: mapping kept, address chosen",
    "pwrite": "pwrite, no mapping",
    "libdrm": "pwrite by our libdrm",
    "libdrm-map": "map by our libdrm",
    "libdrm-debian": "map by Debian's libdrm",
}
# Each arm has the same colour in every plot.
ARMS = ["mmap", "mmap-temp", "pwrite", "libdrm", "libdrm-map", "arena",
        "libdrm-debian"]


def series(rows, arm, domain, key):
    """Points of one line: (live, value, row) where there is a value."""
    return [(row["live"], row[key], row) for row in rows
            if row["arm"] == arm and row["domain"] == domain
            and row.get(key) is not None and row["live"] > 0]


def microseconds(axes):
    """A logarithmic y axis with numbers at 1, 2 and 5."""
    axes.set_yscale("log")
    axes.yaxis.set_major_locator(plt.matplotlib.ticker.LogLocator(subs=(1, 2, 5)))
    axes.yaxis.set_major_formatter("{x:g}")
    axes.yaxis.set_minor_formatter("")


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
            if not points:
                continue
            marker, style, place = STYLES[domain]
            axes.plot([p[0] for p in points], [p[1] / scale for p in points],
                      marker=marker, linestyle=style, color=colour,
                      linewidth=width, markersize=width + 2,
                      label=f"{NAMES[arm]}; {place}")
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
    if key == "maps":
        # Linear up to 1, because some have none.
        axes.set_yscale("symlog", linthresh=1)
        axes.set_ylim(-0.5, 2 * data["environment"]["max_map_count"])
    else:
        microseconds(axes)
    axes.set_xlabel("live 4 KiB BOs")
    axes.set_ylabel(unit)
    axes.set_title(title)
    axes.grid(True, which="major", alpha=0.3)


def relative(points):
    """Points with the first one's value as the unit."""
    return [(live, value / points[0][1]) for live, value in points]


def as_2011(axes, data):
    """The operations of 2011, which are not uploads. That was hardware and this is an emulated CPU, so each line is
    in units of its own first value: what can be compared is how it grows."""
    told = report_2011()
    for column, label, marker in ((0, "2011: kernel's search", "^"),
                                  (1, "2011: work-around (MAP_FIXED)", "v")):
        points = [(n, figures[column]) for n, figures in told.items() if figures[column]]
        axes.plot(*zip(*relative(points)), linestyle="--", color="black", marker=marker,
                  markersize=4, label=f"{label}; 1 is {points[0][1]:g} us")
    for arm, title in (("mmap", "kernel's search"), ("arena", "work-around")):
        for key, what, style in (("make_ns", "make and map", "-"), ("destroy_ns", "unmap and destroy", ":")):
            points = [(row["requested"], row[key] / 1000) for row in data.get("as_2011", [])
                      if row["arm"] == arm and row[key] is not None]
            if points:
                axes.plot(*zip(*relative(points)), linestyle=style, color=COLOURS[ARMS.index(arm)], marker="o",
                          markersize=4, label=f"here, {title}: {what}; 1 is {points[0][1]:.1f} us")
    microseconds(axes)
    axes.set(xscale="log", xlabel="live BOs of 1 to 16,384 bytes", ylabel="cost / cost with 100 live BOs",
             title="as in 2011: make and map, or unmap\nand destroy, one BO: how it grows")
    axes.grid(True, which="major", alpha=0.3)


def main():
    data, target = results_and_target()

    destroyed = any(row.get("destroy_ns") for row in data["rows"])
    count = 4 if destroyed else 3
    figure, panels = plt.subplots(1, count, figsize=(5.4 * count, 6.5), layout="constrained")
    draw(panels[0], data, "upload_ns", 1000,
         "upload of 4 KiB to one more BO", "microseconds")
    if destroyed:
        draw(panels[-3], data, "destroy_ns", 1000,
             "destroy one BO", "microseconds")
    draw(panels[-2], data, "maps", 1,
         "mappings of the process (x: no more possible)", "mappings")
    limit = data["environment"]["max_map_count"]
    panels[-2].axhline(limit, linestyle="--", color="grey", linewidth=1,
                       label="limit of mappings (vm.max_map_count)")
    as_2011(panels[-1], data)
    environment = data["environment"]
    figure.suptitle(f"What one more small BO costs with N live: Linux {environment['kernel']}, {environment['driver']}, "
                    f"device {environment['device']}, emulated CPU", fontsize=11)
    entries = {}
    for panel in panels:
        entries.update(zip(*reversed(panel.get_legend_handles_labels())))
    figure.legend(entries.values(), entries.keys(), loc="outside lower center", ncol=4, fontsize=9, frameon=False)
    save(figure, target)


if __name__ == "__main__":
    main()
