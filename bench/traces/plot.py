#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Plots traces.json: plot.py FILE.json FILE.png

Mappings that each program has made, with the three Mesas.
"""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from plotting import plt, results_and_target, save  # noqa: E402 (the path comes first)
from table import MESAS  # noqa: E402


def main():
    data, target = results_and_target()
    rows = {(r["program"], r["mesa"]): r for r in data["rows"]}
    programs = list(dict.fromkeys(p for p, _ in rows))
    fig, ax = plt.subplots(figsize=(6, 4))
    for i, (mesa, label) in enumerate(MESAS.items()):
        ax.bar([n + (i - 1) * 0.27 for n in range(len(programs))], [rows[p, mesa]["maps"] for p in programs], 0.27, label=label)
    ax.set_xticks(range(len(programs)), programs, fontsize=8)
    ax.set_ylabel("mappings")
    ax.legend(fontsize=8)
    fig.tight_layout()
    save(fig, target)


if __name__ == "__main__":
    main()
