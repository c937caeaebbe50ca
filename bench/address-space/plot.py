#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Plots address-space.json: plot.py FILE.json FILE.png

The peak of the program's virtual size, by Mesa, kernel and place, and how the program
fared.
"""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from plotting import plt, results_and_target, save  # noqa: E402 (the path comes first)

# The address space of a process under a 32-bit kernel (setarch --3gb), MiB.
ALL_MIB = 3072
PLACES = {"shim": "the no-op shim, natively", "board": "a guest with the board"}
MESAS = {"unmodified": "unmodified Mesa", "a": "Mesa with series A alone", "patched": "patched Mesa"}
COLOURS = {"all uploads arrived": "tab:green", "uploads were lost": "tab:red", "the program was ended": "tab:grey"}


def fate(row):
    """How the program fared, in words of COLOURS."""
    if row["status"] == 0:
        return "all uploads arrived"
    return "uploads were lost" if "lost" in row else "the program was ended"


def remark(row):
    """What stands beside a bar."""
    if "vm_peak_mib" not in row:
        number = -row["status"]
        why = f"by signal {number}" if number > 0 else f"status {row['status']}"
        return f" the program was ended before it could tell its size ({why})"
    lost = f", {row['lost']:,} uploads lost" if isinstance(row.get("lost"), int) and row["lost"] else ""
    return f" {row['vm_peak_mib']:,} MiB{lost}"


def main():
    data, target = results_and_target()
    # From below: the patched Mesa last, so that it is at the top.
    rows = sorted(data["rows"], key=lambda r: (list(MESAS).index(r["mesa"]), r["kernel"] != "unmodified", r["where"]))
    figure, axes = plt.subplots(figsize=(12, 0.55 * len(rows) + 2), layout="constrained")
    for name, colour in COLOURS.items():
        mine = [(y, r) for y, r in enumerate(rows) if fate(r) == name]
        if mine:
            bars = axes.barh([y for y, _ in mine], [r.get("vm_peak_mib", 0) for _, r in mine], color=colour, label=name)
            axes.bar_label(bars, [remark(r) for _, r in mine], fontsize=9)
    axes.axvline(ALL_MIB, color="black", linestyle=":", linewidth=1, label=f"all that the process has: {ALL_MIB:,} MiB")
    axes.set_yticks(range(len(rows)), [f"{MESAS[r['mesa']]}, {r['kernel']} kernel; {PLACES[r['where']]}" for r in rows], fontsize=9)
    axes.set(xlabel="largest virtual size of the process, MiB", xlim=(0, 1.5 * ALL_MIB),
             title="A 32-bit GL program that fills 3.5 GiB of buffers and textures")
    figure.legend(loc="outside lower center", ncol=2, fontsize=9, frameon=False)
    save(figure, target)


if __name__ == "__main__":
    main()
