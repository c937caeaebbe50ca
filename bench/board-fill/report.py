#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes results and a table of what board-fill measured, and checks it.

usage: report.py [--check] [--json OUT.json] RUN.json...

Each RUN.json is of one renderer; there may be several of each, run in turn, of
which the median counts. OUT.json gets a row for each scene and renderer: scene,
renderer (board, llvmpipe, softpipe), threads, ms of a draw, ns of a unit, spread
(largest to smallest median of its runs).

With --check it asserts what does not depend on the machine: all scenes by all
renderers, each drew what llvmpipe drew. Exit status: 0 if all holds, 1 if not.
"""

import os
import re
import statistics
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from reporting import arguments, load, verdict, write  # noqa: E402 (the path comes first)

RENDERERS = ("board", "llvmpipe", "softpipe")
REFERENCE = "llvmpipe"
# Renderers round blends differently. Tolerances: share of the pixels touched, and
# 255ths of a channel's mean; larger where sample positions differ (edges of a resolve).
TOUCHED, MEAN = 0.002, 1.0
MEAN_OF = {"resolve": 3.0}


def renderer(name):
    """The short name for GL_RENDERER."""
    found = re.search(r"llvmpipe|softpipe|AMD RV7\d\d", name)
    if not found:
        sys.exit(f"report.py: {name} is no renderer of these: {', '.join(RENDERERS)}")
    return "board" if found[0].startswith("AMD") else found[0]


def collect(paths):
    """Rows of all runs by scene and renderer."""
    rows, info = {}, {}
    for path in paths:
        data = load(path)
        name = renderer(data["renderer"])
        info[name] = data
        for row in data["rows"]:
            rows.setdefault((row["scene"], name), []).append(row)
    return rows, info


def faults(rows, info):
    """What --check finds."""
    wrong = []
    scenes = dict.fromkeys(scene for scene, _ in rows)
    for scene in scenes:
        for name in RENDERERS:
            missing = name in info and info[name].get("not_supported") == scene and name != "board"
            if (scene, name) not in rows and not missing:
                wrong.append(f"{scene}: not drawn by {name}")
        if (scene, REFERENCE) not in rows:
            continue
        reference = rows[scene, REFERENCE][0]
        if not reference["touched"]:
            wrong.append(f"{scene}: draws nothing")
        for name in RENDERERS:
            for row in rows.get((scene, name), []):
                if abs(row["touched"] - reference["touched"]) > TOUCHED * reference["touched"]:
                    wrong.append(f"{scene}: {name} touches {row['touched']} pixels, "
                                 f"{REFERENCE} {reference['touched']}")
                if any(abs(a - b) > MEAN_OF.get(scene, MEAN) for a, b in zip(row["mean"], reference["mean"])):
                    wrong.append(f"{scene}: {name} draws {row['mean']} in the mean, "
                                 f"{REFERENCE} {reference['mean']}")
    return wrong


def main():
    options = arguments(__doc__, "runs...")
    rows, info = collect(options.runs)
    results = []
    for (scene, name), runs in rows.items():
        ns = [row["ns"] for row in runs]
        results.append({
            "scene": scene, "renderer": name, "threads": info[name]["environment"]["cpus"],
            "ms": round(statistics.median(ns) / 1e6, 4),
            "ns_per_unit": round(statistics.median(ns) / runs[0]["units"], 3),
            "unit": runs[0]["unit"], "runs": len(runs),
            "spread": round(max(ns) / min(ns), 3),
        })
    by = {(r["scene"], r["renderer"]): r for r in results}
    print("| scene | unit | board, ms | llvmpipe, ms | softpipe, ms | board, ns a unit | board / llvmpipe |")
    print("| --- | --- | ---: | ---: | ---: | ---: | ---: |")
    for scene in dict.fromkeys(r["scene"] for r in results):
        line = [by.get((scene, name)) for name in RENDERERS]
        ms = [f"{r['ms']:.2f}" if r else "-" for r in line]
        ratio = f"{line[0]['ms'] / line[1]['ms']:.1f}" if line[0] and line[1] else "-"
        unit = f"{line[0]['ns_per_unit']:.1f}" if line[0] else "-"
        print(f"| {scene} | {next(r for r in line if r)['unit']} | {' | '.join(ms)} | {unit} | {ratio} |")
    if options.json:
        write(options.json, {
            "benchmark": "board-fill",
            "environment": {**next(iter(info.values()))["environment"],
                            "renderers": {name: data["renderer"] for name, data in info.items()}},
            "rows": results})
    if options.check:
        sys.exit(verdict(faults(rows, info)))


if __name__ == "__main__":
    main()
