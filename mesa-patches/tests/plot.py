#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Plots gl-maps.json: plot.py FILE.json FILE.png

Mappings that each case makes with the most objects, for RV770, without the series, with series A and with both.
"""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "bench", "lib"))
from plotting import plt, results_and_target, save  # noqa: E402 (the path comes first)


COLOURS = {"unmodified": "tab:red", "a": "tab:blue", "patched": "tab:green"}
NAMES = {"unmodified": "unmodified Mesa", "a": "A alone, unmodified kernel", "patched": "A and B"}


def main():
    data, target = results_and_target()
    cases = {}
    for r in data["rows"]:
        if r["chip"] == "RV770":
            late = f", GPU {r['latency_us'] // 1000} ms late" if r["latency_us"] else ""
            cases.setdefault(r["case"] + late, {}).setdefault(r["n"], {})[r["mesa"]] = r["maps"]
    fig, ax = plt.subplots(figsize=(9, 1 + 0.24 * len(cases)))
    names = sorted(cases, reverse=True)
    for y, name in enumerate(names):
        # 0 has no place on a logarithmic axis.
        maps = {mesa: max(m, 0.5) for mesa, m in cases[name][max(cases[name])].items()}
        ax.plot(list(maps.values()), [y] * len(maps), color="lightgrey", linewidth=1, zorder=1)
        for mesa, m in maps.items():
            ax.scatter(m, y, color=COLOURS[mesa], s=22, zorder=2, label=NAMES[mesa] if y == 0 else None)
    ax.axvline(64, color="grey", linestyle=":", linewidth=1)
    ax.set_xscale("log")
    ax.set_yticks(range(len(names)), [f"{n} ({max(cases[n])})" for n in names], fontsize=8)
    ax.set_xlabel("mappings made (0 is drawn as 0.5; dotted: 64)")
    ax.set_title("case (objects)", loc="left", fontsize=9)
    fig.legend(loc="upper right", ncol=3, fontsize=8)
    fig.tight_layout()
    save(fig, target)


if __name__ == "__main__":
    main()
