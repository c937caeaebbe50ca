# SPDX-License-Identifier: MIT
"""PREAD, PWRITE and TRANSFER beside what needs none of them: BOs of user memory, windows, mappings.
Instructions and events, which are the same on any machine, and times; results, plot and table go to build/results."""

from nomap_lab.paths import RESULTS
from nomap_lab.testing import Lab, case, suite

pytestmark = suite(order=67, finds="a variant that does not do what it is named after, or whose contents are wrong")

COUNTS = ("build/check/alternatives-transfer.json", "build/check/alternatives-live.json")
TIMES = "build/check/alternatives-times.json"


@case("alternatives/count", tier="all")
def count(lab: Lab) -> None:
    lab.run("sh", "-c", """
        /build/bench/transfer-paths --count --only alternatives --verbose --json /build/check/alternatives-transfer.json &&
        /build/bench/live-bos --count --verbose --arms mmap,mmap-temp,pwrite,userptr,userptr-window --live 100,1000,3000 \\
            --samples 51 --json /build/check/alternatives-live.json""", accel="icount", smp=1, timeout=3000)


@case("alternatives/time", tier="all")
def time(lab: Lab) -> None:
    lab.run("/build/bench/transfer-paths", "--only", "alternatives", "--verbose", "--json", "/" + TIMES, timeout=2400, pin=True)


@case("alternatives/report", tier="all", needs=["alternatives/count", "alternatives/time"])
def report(lab: Lab) -> None:
    RESULTS.mkdir(parents=True, exist_ok=True)
    lab.call("python3", "bench/alternatives/report.py", "--check", "--json", RESULTS / "alternatives.json", *COUNTS, TIMES)
    lab.call("python3", "bench/alternatives/plot.py", RESULTS / "alternatives.json", RESULTS / "alternatives.png")
    lab.record("alternatives")


@case("alternatives/report-finds-faults", runner="pytest", tier="all",
      needs=["alternatives/count", "alternatives/time"])
def report_test(lab: Lab) -> None:
    lab.pytest("bench/alternatives/report_test.py")
