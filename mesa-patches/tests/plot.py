#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Plots gl-maps.json: plot.py FILE.json FILE.png

Mappings made over the number of objects, for RV770, without and with the series.
"""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "bench", "lib"))
from plotting import plt, results_and_target, save  # noqa: E402 (the path comes first)


def main():
    data, target = results_and_target()
    rows = [r for r in data["rows"] if r["chip"] == "RV770"]
    fig, axes = plt.subplots(1, 2, figsize=(11, 4.5), sharey=True)
    for ax, which in zip(axes, ("unmodified", "patched")):
        lines = {}
        for r in rows:
            if r["mesa"] == which:
                late = f", GPU {r['latency_us'] // 1000} ms late" if r["latency_us"] else ""
                lines.setdefault(r["case"] + late, []).append((r["n"], r["maps"]))
        for name, points in sorted(lines.items()):
            points.sort()
            # 0 has no place on a logarithmic axis.
            ax.plot([n for n, _ in points], [max(m, 0.5) for _, m in points], marker="o", markersize=3,
                    linewidth=1, label=name)
        ax.axhline(8, color="grey", linestyle=":", linewidth=1)
        ax.set_xscale("log")
        ax.set_yscale("log")
        ax.set_title(f"{which} Mesa")
        ax.set_xlabel("objects")
    axes[0].set_ylabel("mappings made (0 is drawn as 0.5)")
    axes[1].legend(fontsize=6, ncol=2, loc="upper left")
    fig.tight_layout()
    save(fig, target)


if __name__ == "__main__":
    main()
