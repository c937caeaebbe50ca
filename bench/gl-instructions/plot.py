#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Plots gl-instructions.json: plot.py FILE.json FILE.png

Instructions of each case with series A and with both series, in parts of the unmodified Mesa's.
"""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from plotting import grouped_bars, plt, results_and_target, save  # noqa: E402 (the path comes first)
from goals import CASES, parts  # noqa: E402


def main():
    data, target = results_and_target()
    part = parts(data["rows"])
    fig, ax = plt.subplots(figsize=(7, 4.5))
    series = {label: [part[c, mesa] for c in CASES]
              for mesa, label in (("a", "A alone, unmodified kernel"), ("patched", "both series"))}
    grouped_bars(ax, list(CASES), series, 0.4, rotation=60, ha="right")
    ax.axhline(1, color="black", linewidth=0.8)
    ax.set_ylabel("instructions per call, unmodified = 1")
    ax.legend(fontsize=8)
    fig.tight_layout()
    save(fig, target)


if __name__ == "__main__":
    main()
