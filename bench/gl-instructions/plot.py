#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Plots gl-instructions.json: plot.py FILE.json FILE.png

Instructions of each case with series A and with both series, in parts of the unmodified Mesa's.
"""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from plotting import plt, results_and_target, save  # noqa: E402 (the path comes first)
from goals import CASES, parts  # noqa: E402


def main():
    data, target = results_and_target()
    part = parts(data["rows"])
    fig, ax = plt.subplots(figsize=(7, 4.5))
    for i, (mesa, label) in enumerate((("a", "A alone, unmodified kernel"), ("patched", "both series"))):
        ax.bar([n + (i - 0.5) * 0.4 for n in range(len(CASES))], [part[c, mesa] for c in CASES], 0.4, label=label)
    ax.axhline(1, color="black", linewidth=0.8)
    ax.set_xticks(range(len(CASES)), list(CASES), rotation=60, ha="right", fontsize=8)
    ax.set_ylabel("instructions per call, unmodified = 1")
    ax.legend(fontsize=8)
    fig.tight_layout()
    save(fig, target)


if __name__ == "__main__":
    main()
