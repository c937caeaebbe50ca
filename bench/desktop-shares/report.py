#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes results and a table of where a desktop's time goes, and checks it.

usage: report.py [--check] [--json OUT.json] SESSION...

Each SESSION is a directory that emulator/tests/desktop/session left, of one boot: for each
test row-NAME.json (desktop-row) and NAME.log, what the test said. OUT.json gets a row for
each test, medians of the sessions: row, rate and its unit, us of one operation, shares of
the time: guest_cpu (of all its CPUs), engine (the board's engines worked), traps (registers);
traps, draws and interrupts of one operation; spread (largest to smallest rate).

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
    ("putimage100", "putimage100", "image", X11PERF),
    ("shmput500", "shmput500", "image", X11PERF),
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


def main():
    options = arguments(__doc__, "sessions...")
    results, wrong, environment = [], [], None
    for name, log, unit, pattern in ROWS:
        runs = []
        for session in options.sessions:
            found = measured(session, name, log, pattern)
            if isinstance(found, str):
                wrong.append(found)
            else:
                runs.append(found)
        if runs:
            results.append(summary(name, unit, runs))
            environment = environment or runs[0]["environment"]
    print("| test | rate, 1/s | us of one | guest CPUs | engines | traps | traps of one | draws of one |")
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
    for row in results:
        shares = " | ".join(f"{row[k]:.0%}" for k in ("guest_cpu", "engine", "traps"))
        print(f"| {row['row']} ({row['unit']}) | {row['rate']:,.0f} | {row['us']:,.1f} | {shares} | "
              f"{row['traps_each']:.2f} | {row['draws_each']:.2f} |")
    if options.json:
        write(options.json, {"benchmark": "desktop-shares", "environment": environment, "rows": results})
    status = verdict(wrong) if options.check or wrong else 0
    sys.exit(status)


if __name__ == "__main__":
    main()
