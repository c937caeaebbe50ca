#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes results and a table of what board-fill measured, and checks it.

usage: report.py [--check] [--json OUT.json] RUN.json...

Each RUN.json is of one renderer, on all CPUs or on one; there may be several of each,
run in turn, of which the median counts. OUT.json gets a row for each scene, renderer and
number of CPUs: scene, renderer (board, turks, llvmpipe, softpipe), threads, ms of a draw, ns of
a unit, spread (largest to smallest median of its runs).

With --check it asserts what does not depend on the machine: all scenes by all
renderers, each drew what llvmpipe drew, and runs on one CPU are there. Exit status: 0 if all holds, 1 if not.
"""

import os
import re
import statistics
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from reporting import arguments, load, verdict, write  # noqa: E402 (the path comes first)

# The board as an RV770 and as a TURKS, and Mesa's software renderers.
RENDERERS = ("board", "turks", "llvmpipe", "softpipe")
REFERENCE = "llvmpipe"
# Those that have several threads, and are measured on one CPU as well.
ON_ONE = ("board", "llvmpipe")
# Renderers round blends differently. Tolerances: share of the pixels touched, and
# 255ths of a channel's mean; larger where sample positions differ (edges of a resolve).
TOUCHED, MEAN = 0.002, 1.0
MEAN_OF = {"resolve": 3.0}


def renderer(name):
    """The short name for GL_RENDERER."""
    found = re.search(r"llvmpipe|softpipe|AMD RV770|AMD TURKS", name)
    if not found:
        sys.exit(f"report.py: {name} is no renderer of these: {', '.join(RENDERERS)}")
    return {"AMD RV770": "board", "AMD TURKS": "turks"}.get(found[0], found[0])


def collect(paths):
    """Rows of all runs by scene, renderer and CPUs."""
    rows, info = {}, {}
    for path in paths:
        data = load(path)
        name = renderer(data["renderer"])
        info[name] = data
        for row in data["rows"]:
            rows.setdefault((row["scene"], name, data["usable_cpus"]), []).append(row)
    return rows, info


def faults(rows, info):
    """What --check finds."""
    wrong = []
    most = max(cpus for _, _, cpus in rows)
    wanted = [(name, most) for name in RENDERERS] + [(name, 1) for name in ON_ONE]
    for scene in dict.fromkeys(scene for scene, _, _ in rows):
        for name, cpus in wanted:
            missing = name in info and info[name].get("not_supported") == scene and name not in ("board", "turks")
            if (scene, name, cpus) not in rows and not missing:
                wrong.append(f"{scene}: not drawn by {name} on {cpus} CPUs")
        if (scene, REFERENCE, most) not in rows:
            continue
        reference = rows[scene, REFERENCE, most][0]
        if not reference["touched"]:
            wrong.append(f"{scene}: draws nothing")
        for name, cpus in wanted:
            for row in rows.get((scene, name, cpus), []):
                if abs(row["touched"] - reference["touched"]) > TOUCHED * reference["touched"]:
                    wrong.append(f"{scene}: {name} touches {row['touched']} pixels, "
                                 f"{REFERENCE} {reference['touched']}")
                if any(abs(a - b) > MEAN_OF.get(scene, MEAN) for a, b in zip(row["mean"], reference["mean"])):
                    wrong.append(f"{scene}: {name} draws {row['mean']} in the mean, "
                                 f"{REFERENCE} {reference['mean']}")
    return wrong


def table(results):
    """The lines of the table: all CPUs, then one."""
    most = max(row["threads"] for row in results)
    by = {(row["scene"], row["renderer"], row["threads"]): row for row in results}
    yield ("| scene | unit | board, ms | board as TURKS, ms | llvmpipe, ms | softpipe, ms | board, ns a unit | board / llvmpipe "
           "| TURKS / llvmpipe | board, 1 CPU, ms | llvmpipe, 1 CPU, ms | board / llvmpipe, 1 CPU |")
    yield "| --- | --- |" + " ---: |" * 10
    for scene in dict.fromkeys(row["scene"] for row in results):
        line = [by.get((scene, name, most)) for name in RENDERERS]
        alone = [by.get((scene, name, 1)) for name in ON_ONE]
        ms = [[f"{row['ms']:.2f}" if row else "-" for row in rows] for rows in (line, alone)]
        board, turks, llvmpipe, _ = line
        ratios = [f"{a['ms'] / b['ms']:.1f}" if a and b else "-" for a, b in ((board, llvmpipe), (turks, llvmpipe), alone)]
        unit = f"{board['ns_per_unit']:.1f}" if board else "-"
        cells = [scene, next(row for row in line if row)["unit"], *ms[0], unit, *ratios[:2], *ms[1], ratios[2]]
        yield "| " + " | ".join(cells) + " |"


def main():
    options = arguments(__doc__, "runs...")
    rows, info = collect(options.runs)
    results = []
    for (scene, name, cpus), runs in rows.items():
        ns = [row["ns"] for row in runs]
        results.append({
            "scene": scene, "renderer": name, "threads": cpus,
            "ms": round(statistics.median(ns) / 1e6, 4),
            "ns_per_unit": round(statistics.median(ns) / runs[0]["units"], 3),
            "unit": runs[0]["unit"], "runs": len(runs),
            "spread": round(max(ns) / min(ns), 3),
        })
    print("\n".join(table(results)))
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
