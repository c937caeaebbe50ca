# SPDX-License-Identifier: MIT
"""A short transfer-paths: contents, the paths that the driver takes, and ratios of instructions, which
are the same on any machine. Times are shown, and checked with wide margins only."""

from nomap_lab.paths import RESULTS
from nomap_lab.testing import Lab, case, suite

pytestmark = suite(order=65, finds="a transfer that takes another path than it should, or more instructions")

BOTH = ["transfer-paths/times", "transfer-paths/instructions"]
PROGRAM = ("/build/bench/transfer-paths", "--quick")


@case("transfer-paths/times")
def times(lab: Lab) -> None:
    lab.run(*PROGRAM, "--verbose", "--json", "/build/check/transfer-times.json", exclusive=True, timeout=300)


@case("transfer-paths/instructions")
def instructions(lab: Lab) -> None:
    lab.run(*PROGRAM, "--count", "--json", "/build/check/transfer-counts.json", accel="icount", smp=1, timeout=300)


@case("transfer-paths/bus", tier="all")
def bus(lab: Lab) -> None:
    """What loads and stores of VRAM cost over a bus, added to the instructions; results go to build/results."""
    RESULTS.mkdir(parents=True, exist_ok=True)
    lab.run("/build/bench/transfer-paths", "--count", "--only", "bus", "--verbose", "--json", "/build/check/bus-counts.json",
            accel="icount", smp=1, board="--bar-read-ns 1000 --bar-write-ns 11", timeout=1500)
    lab.call("python3", "bench/bus/report.py", "--check", "--json", RESULTS / "bus.json", "build/check/bus-counts.json")
    lab.record("bus")


@case("transfer-paths/bus-report-finds-faults", runner="pytest", tier="all", needs=["transfer-paths/bus"])
def bus_report_test(lab: Lab) -> None:
    lab.pytest("bench/bus/report_test.py")


@case("transfer-paths/report", needs=BOTH)
def report(lab: Lab) -> None:
    lab.call("python3", "bench/transfer-paths/report.py", "--check", "--json", "build/check/transfer-paths.json",
             "build/check/transfer-times.json", "build/check/transfer-counts.json")
    lab.call("python3", "bench/transfer-paths/plot.py", "build/check/transfer-paths.json",
             "build/check/transfer-paths.png")


@case("transfer-paths/report-finds-faults", runner="pytest", needs=BOTH)
def report_test(lab: Lab) -> None:
    lab.pytest("bench/transfer-paths/report_test.py")
