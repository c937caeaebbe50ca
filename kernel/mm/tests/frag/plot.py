#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Plots what frag found.

usage: plot.py RESULTS.json PLOT.png

RESULTS.json is what report.py wrote. Panels: areas after the long run of
2005, with those reported then; areas after the random mixes; areas that a search
looks at.
"""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..", "..", "bench", "lib"))
from plotting import COLOURS, finish, panels, results_and_target  # noqa: E402

NAMES = {
    "first-fit": "first fit\n(2.4)",
    "cache": "cache\n(2.6.12)",
    "cache-last": "cache, as\ndescribed",
    "hole": "hole size\n(5/2005)",
    "hole-merged": "hole size\n(2.6.13)",
    "best-fit": "best fit\n(2011)",
    "gap-tree": "gap tree\n(3.8)",
    "gap-retry": "today,\nretries",
    "gap-usable": "usable\ngaps",
}


def values(data, workload, direction, key, by="model"):
    """Means over seeds, by name."""
    found = {}
    for row in data["rows"]:
        if (row["workload"], row["direction"], row["by"]) == \
                (workload, direction, by) and key in row:
            found.setdefault(row["name"], []).append(row[key])
    return {name: sum(v) / len(v) for name, v in found.items()}


def bars(axes, data, series, key):
    """A group of bars for each search."""
    width = 0.8 / len(series)
    for number, (workload, direction, label) in enumerate(series):
        found = values(data, workload, direction, key)
        places = [i + number * width - 0.4 + width / 2
                  for i, name in enumerate(NAMES) if name in found]
        axes.bar(places, [found[name] for name in NAMES if name in found],
                 width, color=COLOURS[number + 1], label=label)
    axes.set_xticks(range(len(NAMES)), NAMES.values(), fontsize=7)
    axes.set_yscale("log")
    axes.grid(True, axis="y", which="major", alpha=0.3)


def long_run(axes, data):
    """The long run in a limited window."""
    series = [("long-32", "bottom-up", "bottom-up"),
              ("long-32", "top-down", "top-down")]
    bars(axes, data, series, "areas")
    for index, name in enumerate(NAMES):
        told = data["report_2005"].get(name)
        if told:
            axes.plot(index, told["areas"], "k_", markersize=22,
                      markeredgewidth=2, label="reported in 2005")
        for row in data["rows"]:
            if (row["workload"], row["by"], row["name"]) == \
                    ("long-32", "model", name) and \
                    row["steps"] < row["steps_wanted"]:
                shift = -0.2 if row["direction"] == "bottom-up" else 0.2
                top = max(row["areas"], told["areas"] if told else 0)
                axes.text(index + shift, top * 1.1,
                          f"fails at {row['steps']:,}", rotation=90,
                          fontsize=6, ha="center", va="bottom")
    real = {row["release"]: row["areas"] for row in data["rows"]
            if row["by"] == "kernel" and row["workload"] == "long-ia32"}
    for number, areas in enumerate(real.values()):
        # Without alignment to huge pages: 32-bit processes have none.
        axes.plot(5.85 + 0.15 * number, areas, "D", markersize=5,
                  color="black", fillstyle="none",
                  label="each of these kernels, 32-bit calls")
    axes.set_ylim(1, 1500)
    axes.set_ylabel("distinct areas in the end")
    axes.set_title("long run of 2005, window of 2.67 GiB, 1,000,000 steps",
                   fontsize=9)


def main():
    data, target = results_and_target()

    figure, axes = panels(3)
    long_run(axes[0], data)
    mixes = [("mix", "bottom-up", "bottom-up"),
             ("mix", "top-down", "top-down"),
             ("guards", "bottom-up", "with guards, bottom-up"),
             ("guards", "top-down", "with guards, top-down")]
    bars(axes[1], data, mixes, "areas")
    axes[1].set_yscale("linear")
    axes[1].set_ylabel("distinct areas in the end")
    axes[1].set_title("random mix of 1,000 places", fontsize=9)
    bars(axes[2], data, mixes, "looked_mean")
    axes[2].set_ylabel("areas that a search looks at, mean")
    axes[2].set_title("cost of the searches there", fontsize=9)
    kernels = ", ".join(data["environment"]["kernels"])
    finish(figure, axes, f"frag: models of searches; compared with Linux {kernels}",
           target)


if __name__ == "__main__":
    main()
