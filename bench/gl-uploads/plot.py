#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Plots gl-uploads.json: plot.py FILE.json FILE.png

Time per call of each case by place: series A alone, both series, and temporary mappings in parts of unmodified.
"""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from plotting import grouped_bars, plt, results_and_target, save  # noqa: E402 (the path comes first)

SERIES = {"a": "series A alone", "patched": "both series", "temporary": "temporary mappings"}


def main():
    data, target = results_and_target()
    rows = {(r["where"], r["case"], r["mesa"]): r for r in data["rows"]}
    places = list(dict.fromkeys(k[0] for k in rows))
    fig, axes = plt.subplots(1, len(places), figsize=(6 * len(places), 4.5), sharey=True, squeeze=False)
    for ax, where in zip(axes[0], places):
        cases = list(dict.fromkeys(c for w, c, _ in rows if w == where))
        series = {what: [rows[where, c, mesa]["ns"] / rows[where, c, "unmodified"]["ns"] for c in cases]
                  for mesa, what in SERIES.items()}
        grouped_bars(ax, cases, series, 0.27, rotation=60, ha="right")
        ax.axhline(1, color="black", linewidth=0.8)
        ax.set_yscale("log")
        ax.set_title(where)
    axes[0][0].set_ylabel("time per call, unmodified = 1")
    # Above the bars, of which it would hide some.
    fig.legend(*axes[0][0].get_legend_handles_labels(), fontsize=8, loc="upper center", ncols=len(SERIES), frameon=False)
    fig.tight_layout(rect=(0, 0, 1, 0.94))
    save(fig, target)


if __name__ == "__main__":
    main()
