#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes results and tables of x11perf and glxgears: where the time goes, and how much each stack takes; checks them.

usage: report.py [--check] [--json OUT.json] STACK=SESSION...

Each SESSION is a directory that emulator/tests/desktop/session left, of one boot: for each
test row-NAME.json (desktop-row) and NAME.log, what the test said. OUT.json gets in "rows" a row
for each test on the first STACK, medians of the sessions: row, rate and its unit, us of one operation,
shares of the time: guest_cpu (of all its CPUs), engine (the board's engines worked), traps
(registers); traps, draws and interrupts of one operation; spread (largest to smallest rate).
"stacks" has one for each test on each other stack: row, stack, us, and time, low and high: median,
smallest and largest of the ratios of its sessions' times to those of the first stack. The first
session of one is compared with the first of the other, and so on.

The shares overlap: the engines work beside the guest, and a trap is time of a guest's CPU,
too.

With --check it asserts what does not depend on the machine: every test ran, said its rate,
and drew by the board. Exit status: 0 if all holds, 1 if not.
"""

import os
import re
import statistics
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from reporting import arguments, load, verdict, write  # noqa: E402 (the path comes first)

# Name of the row, name of its log, unit, and pattern of the rate in the log.
X11PERF = r"\(\s*([\d.]+)/sec\)"
ROWS = (
    ("aa10text", "aa10text", "char", X11PERF),
    ("rgb10text", "rgb10text", "char", X11PERF),
    ("copywinwin500", "copywinwin500", "copy", X11PERF),
    ("putimage10", "putimage10", "image", X11PERF),
    ("putimage100", "putimage100", "image", X11PERF),
    ("shmput500", "shmput500", "image", X11PERF),
    ("getimage100", "getimage100", "image", X11PERF),
    ("glxgears", "gears", "frame", r"=\s*([\d.]+) FPS"),
)
# timeout(1) ends glxgears.
ENDED = {"glxgears": 124}


def rate(path, pattern):
    """The last rate in a test's log, in 1/s; None without one."""
    if not os.path.exists(path):
        return None
    with open(path, encoding="utf-8", errors="replace") as f:
        found = re.findall(pattern, f.read())
    return float(found[-1]) if found else None


def measured(session, name, log, pattern):
    """A test's measurements in one session; a text that says why if there are none."""
    path = os.path.join(session, f"row-{name}.json")
    if not os.path.exists(path):
        return f"{name}: did not run in {session}"
    data = load(path)
    if data["status"] != ENDED.get(name, 0):
        return f"{name}: status {data['status']} in {session}"
    data["rate"] = rate(os.path.join(session, f"{log}.log"), pattern)
    if not data["rate"]:
        return f"{name}: said no rate in {session}"
    if not data["draws"] or not data["engine_ns"]:
        return f"{name}: the board drew nothing in {session}"
    return data


def summary(name, unit, runs):
    """A row of the results."""
    def median(value):
        return statistics.median(value(run) for run in runs)

    def each(key):
        # Per operation. x11perf's calibration, which finds the number of repetitions, is included.
        return round(median(lambda run: run[key] / (run["ns"] / 1e9) / run["rate"]), 4)

    rates = [run["rate"] for run in runs]
    traps = "mmio_reads", "mmio_writes"
    return {
        "row": name, "unit": unit, "rate": round(statistics.median(rates), 2),
        "us": round(1e6 / statistics.median(rates), 3),
        "guest_cpu": round(median(lambda run: run["guest_cpu_ns"] / run["ns"] / run["cpus"]), 4),
        "engine": round(median(lambda run: run["engine_ns"] / run["ns"]), 4),
        "traps": round(median(lambda run: sum(run[k] for k in traps) * run["trap_ns"] / run["ns"]), 4),
        "trap_us": round(median(lambda run: run["trap_ns"] / 1e3), 1),
        "traps_each": round(sum(each(key) for key in traps), 4),
        "draws_each": each("draws"), "irqs_each": each("irqs"), "ibs_each": each("ibs"),
        "runs": len(runs), "spread": round(max(rates) / min(rates), 3),
    }


def compared(name, stack, first, runs):
    """A row of another stack: its time in units of the first stack's, session by session."""
    ratios = [mine["rate"] / its["rate"] for mine, its in zip(first, runs, strict=True) if mine and its]
    if not ratios:
        return None
    return {"row": name, "stack": stack, "us": round(1e6 / statistics.median(run["rate"] for run in runs if run), 3),
            "time": round(statistics.median(ratios), 3), "low": round(min(ratios), 3), "high": round(max(ratios), 3)}


def by_stack(words):
    """The sessions of each stack, in the order of the command line."""
    stacks = {}
    for word in words:
        stack, _, session = word.partition("=")
        if not session:
            sys.exit(f"report.py: '{word}' is not STACK=SESSION")
        stacks.setdefault(stack, []).append(session)
    if len({len(sessions) for sessions in stacks.values()}) != 1:
        sys.exit("report.py: the stacks have different numbers of sessions")
    return stacks


def print_stacks(results, others):
    """The table of the other stacks: x11perf before and after."""
    names = list(dict.fromkeys(row["stack"] for row in others))
    print()
    print(f"| test | us of one, {results[0]['stack']} | " + " | ".join(f"{name}: time of that" for name in names) + " |")
    print("| --- | ---: |" + " ---: |" * len(names))
    for row in results:
        cells = {o["stack"]: f"{o['time']:.2f} ({o['low']:.2f} to {o['high']:.2f})" for o in others if o["row"] == row["row"]}
        print(f"| {row['row']} ({row['unit']}) | {row['us']:,.1f} | " + " | ".join(cells.get(n, "-") for n in names) + " |")


def main():
    options = arguments(__doc__, "sessions...")
    stacks = by_stack(options.sessions)
    results, others, wrong, environment = [], [], [], None
    for name, log, unit, pattern in ROWS:
        runs = {}
        for stack, sessions in stacks.items():
            found = [measured(session, name, log, pattern) for session in sessions]
            wrong += [said for said in found if isinstance(said, str)]
            runs[stack] = [None if isinstance(said, str) else said for said in found]
        first, *rest = runs
        good = [run for run in runs[first] if run]
        if good:
            results.append({**summary(name, unit, good), "stack": first})
            environment = environment or good[0]["environment"]
            others += filter(None, (compared(name, stack, runs[first], runs[stack]) for stack in rest))
    print("| test | rate, 1/s | us of one | guest CPUs | engines | traps | traps of one | draws of one |")
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
    for row in results:
        shares = " | ".join(f"{row[k]:.0%}" for k in ("guest_cpu", "engine", "traps"))
        print(f"| {row['row']} ({row['unit']}) | {row['rate']:,.0f} | {row['us']:,.1f} | {shares} | "
              f"{row['traps_each']:.2f} | {row['draws_each']:.2f} |")
    if others:
        print_stacks(results, others)
    if options.json:
        write(options.json, {"benchmark": "desktop-shares", "environment": environment, "rows": results, "stacks": others})
    status = verdict(wrong) if options.check or wrong else 0
    sys.exit(status)


if __name__ == "__main__":
    main()
