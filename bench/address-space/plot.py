#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Plots address-space.json: plot.py FILE.json FILE.png

The peak of the program's virtual size, by place, Mesa and kernel.
"""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from plotting import plt, results_and_target, save  # noqa: E402 (the path comes first)


def main():
    data, target = results_and_target()
    rows = data["rows"]
    fig, ax = plt.subplots(figsize=(1.3 * len(rows) + 1, 4))
    bars = ax.bar([f"{r['where']}:\n{r['mesa']} Mesa,\n{r['kernel']} kernel" for r in rows], [r.get("vm_peak_mib", 0) for r in rows],
                  color=["tab:green" if r["status"] == 0 else "tab:red" for r in rows])
    ax.bar_label(bars, ["" if r["status"] == 0 else "uploads lost" if "lost" in r else "ends" for r in rows], fontsize=8)
    ax.axhline(3072, color="grey", linestyle=":", linewidth=1)
    ax.set_ylabel("peak of the virtual size, MiB")
    ax.tick_params(axis="x", labelsize=8)
    fig.tight_layout()
    save(fig, target)


if __name__ == "__main__":
    main()
