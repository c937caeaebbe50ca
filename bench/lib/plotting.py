# SPDX-License-Identifier: MIT
"""Code that the benchmarks' plots share."""

import math
import os
import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402 (the backend comes first)
from reporting import load  # noqa: E402

COLOURS = ["tab:red", "tab:orange", "tab:blue", "tab:green", "tab:purple",
           "tab:brown", "tab:olive"]


def results_and_target():
    """The results that the command line names first, and where the plot goes."""
    if len(sys.argv) != 3:
        sys.exit("usage: plot.py RESULTS.json PLOT.png")
    return load(sys.argv[1]), sys.argv[2]


def panels(count, **options):
    """A figure with panels side by side."""
    return plt.subplots(1, count, figsize=(16, 5.5), **options)


def finish(figure, axes, title, target):
    """Draws one legend below all panels, and saves the figure."""
    entries = {}
    for panel in axes:
        entries.update(zip(*reversed(panel.get_legend_handles_labels())))
    # At most 11 entries fit into a row; a letter is about 0.065 inches wide, handle and gap are as wide as seven.
    width = sum(len(label) + 7 for label in entries) * 0.065
    lines = max(-(-len(entries) // 11), math.ceil(width / figure.get_figwidth()))
    figure.legend(entries.values(), entries.keys(), loc="lower center",
                  ncol=-(-len(entries) // lines), fontsize=8)
    figure.suptitle(title, fontsize=10)
    figure.tight_layout(rect=(0, 0.02 + 0.035 * lines, 1, 1))

    save(figure, target)


def save(figure, target):
    """Writes a new file and renames it, so that the old one survives a full disk."""
    stem, suffix = os.path.splitext(target)
    aside = f"{stem}.new{suffix}"
    figure.savefig(aside, dpi=110)
    os.replace(aside, target)


def grouped_bars(axes, names, series, width, **ticks):
    """A group of bars, each as wide as width, at the tick of each name; series are labels with a value for each name."""
    for i, (label, values) in enumerate(series.items()):
        middle = i - (len(series) - 1) / 2
        axes.bar([n + middle * width for n in range(len(names))], values, width, label=label)
    axes.set_xticks(range(len(names)), names, fontsize=8, **ticks)


def in_bytes(axes, sizes):
    """A logarithmic x axis with a tick at each size, as "4 KiB"."""
    sizes = sorted(sizes)
    axes.set_xscale("log", base=2)
    axes.set_xticks(sizes, [bytes_text(size) for size in sizes])
    axes.minorticks_off()


def bytes_text(size):
    """A number of bytes in the largest unit that divides it."""
    for unit, name in ((1 << 20, "MiB"), (1 << 10, "KiB")):
        if size and size % unit == 0:
            return f"{size // unit} {name}"
    return f"{size} B"


def legend_below(axes, columns, distance=0.14):
    """A legend of one panel, below it; the distance is in units of the panel's height."""
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, -distance), ncol=columns, fontsize=9, frameon=False)
