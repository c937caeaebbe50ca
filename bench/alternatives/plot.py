#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Plots what uploads and downloads cost by PWRITE, PREAD, mappings and BOs of user memory.

usage: plot.py RESULTS.json PLOT.png

RESULTS.json is what report.py wrote. Two panels have instructions of uploads over their
size, one those of downloads, in units of PWRITE's or PREAD's. The last has the instructions of 1,000 small
uploads.
"""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from plotting import COLOURS, in_bytes, plt, results_and_target, save  # noqa: E402 (the path comes first)

NAMES = {
    "mmap": ("map, copy, unmap", COLOURS[0], "-"),
    "kept": ("copy to or from a mapping that is kept", COLOURS[0], ":"),
    "userptr": ("BO of the user memory, made for each transfer; wait", COLOURS[2], "-"),
    "userptr-registered": ("the same with an MMU notifier, as Mesa makes it", COLOURS[2], "--"),
    "userptr-nowait": ("the same without waiting", COLOURS[2], ":"),
    "userptr-kept": ("BO of the user memory, kept; wait", COLOURS[3], "-"),
    "userptr-window": ("copy to or from a window of user memory; wait", COLOURS[1], "-"),
    "userptr-window-nowait": ("two windows of user memory in turn, without waiting", COLOURS[1], ":"),
    "gtt-window": ("window in GTT that stays mapped; wait", COLOURS[4], "-"),
    "gtt-window-nowait": ("two windows in GTT in turn, without waiting", COLOURS[4], ":"),
}
MANY = {"pwrite": "PWRITE, 1,000 calls", "transfer": "TRANSFER, one call", "userptr": "one BO of user memory,\none submission",
        "userptr-each": "BO of user memory and\nsubmission for each", "userptr-kept": "BO of user memory,\nkept",
        "userptr-window": "window of user memory", "gtt-window": "window in GTT"}


def against(axes, rows, case, placement, base, title):
    """Instructions over the size, in units of the ioctl's."""
    cells = {(r["arm"], r["bytes"]): r["instructions"] for r in rows if (r["case"], r["placement"]) == (case, placement)
             and not r.get("lost")}
    sizes = sorted({size for _, size in cells})
    for arm, (name, colour, style) in NAMES.items():
        points = [(s, cells[arm, s] / cells[base, s]) for s in sizes if (arm, s) in cells]
        if points:
            axes.plot(*zip(*points), marker="o", markersize=4, color=colour, linestyle=style, label=name,
                      # Those of the window in GTT lie upon it.
                      linewidth=4 if arm.startswith("userptr-window") else 1.5)
    axes.axhline(1, color="black", linewidth=1.5, label="PWRITE, PREAD")
    axes.set_yscale("log")
    axes.yaxis.set_major_locator(plt.matplotlib.ticker.LogLocator(subs=(1, 2, 5)))
    axes.yaxis.set_major_formatter("{x:g}")
    axes.yaxis.set_minor_formatter("")
    in_bytes(axes, sizes)
    axes.tick_params(axis="x", labelsize=8)
    axes.set(title=title, ylabel=f"instructions, in units of {base.upper()}")
    axes.grid(True, which="major", alpha=0.3)


def objects(axes, rows):
    """1,000 uploads."""
    cells = {r["arm"]: r["instructions"] for r in rows if (r["case"], r["placement"]) == ("glyphs-many", "vram")}
    arms = [a for a in MANY if a in cells]
    bars = axes.barh([MANY[a] for a in arms], [cells[a] / 1000 / 1000 for a in arms], color=COLOURS[2])
    axes.bar_label(bars, fmt="{:.1f}", padding=3)
    axes.margins(x=0.1)
    axes.invert_yaxis()
    axes.set(title="256 B into each of 1,000 BOs in VRAM", xlabel="thousand instructions for each BO")
    axes.grid(True, axis="x", alpha=0.3)


def main():
    data, target = results_and_target()
    rows = data["transfers"]["rows"]
    figure, panels = plt.subplots(2, 2, figsize=(15, 10.5), layout="constrained")
    against(panels[0][0], rows, "upload", "gtt", "pwrite", "Upload to GTT")
    against(panels[0][1], rows, "upload", "vram", "pwrite", "Upload to VRAM")
    against(panels[1][0], rows, "download", "vram", "pread", "Download from VRAM (into user memory the bytes are lost)")
    objects(panels[1][1], rows)
    entries = {}
    for axes in (panels[0][0], panels[0][1], panels[1][0]):
        for handle, name in zip(*axes.get_legend_handles_labels()):
            entries[name] = handle
    figure.legend(entries.values(), entries.keys(), loc="outside lower center", ncol=3, fontsize=9, frameon=False)
    environment = data["environment"]
    figure.suptitle("PWRITE and PREAD beside DRM_RADEON_GEM_USERPTR with a copy by the DMA engine, and beside mappings: "
                    f"instructions of the CPU, Linux {environment['kernel']}", fontsize=11)
    save(figure, target)


if __name__ == "__main__":
    main()
