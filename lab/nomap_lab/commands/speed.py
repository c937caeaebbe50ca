# SPDX-License-Identifier: MIT
"""usage: lab/speed [TRANSFER-PATHS-OPTION...]   (make speed)

Runs bench/transfer-paths on the patched module twice: for times, then in a
guest whose clock counts instructions. Results, table and plot:
build/results/transfer-paths.{json,txt,png}. About four minutes.
"""
from nomap_lab import graph, guest, procs
from nomap_lab.options import passed_on, python, results_are, show_table
from nomap_lab.paths import RESULTS, LabError, say


def measure(boot: guest.Boot, name: str, *options: str) -> None:
    """One run, in a boot of its own; its numbers are in build/results/.NAME.json."""
    status = guest.run(boot, ["/build/bench/transfer-paths", "--verbose", "--json", f"/build/results/.{name}.json",
                              *options])
    if status:
        raise LabError(f"transfer-paths failed with status {status} (logs: build/lab/)")


def main(argv: list[str]) -> int:
    """The command."""
    options = passed_on(__doc__, "bench/transfer-paths", argv)
    graph.ensure("bench")
    RESULTS.mkdir(parents=True, exist_ok=True)
    say("times: booting the guest (stock kernel, patched radeon.ko, emulated RV710)")
    measure(guest.Boot(timeout=900, pin=True), "transfer-paths-times", *options)
    say("instructions: booting a guest whose clock counts them")
    measure(guest.Boot(timeout=1200, accel="icount", smp=1), "transfer-paths-counts", "--count", "--profile", *options)
    say("table and plot")
    numbers = RESULTS / "transfer-paths.json"
    if show_table(python("bench/transfer-paths/report.py", "--json", numbers, RESULTS / ".transfer-paths-times.json",
                    RESULTS / ".transfer-paths-counts.json"), RESULTS / "transfer-paths.txt"):
        raise LabError("no table could be made of the results")
    plot = python("bench/transfer-paths/plot.py", numbers, RESULTS / "transfer-paths.png")
    if procs.call(plot, check=False).returncode:
        raise LabError("the plot could not be made; the numbers are in build/results/transfer-paths.json")
    say("done")
    results_are("results", "transfer-paths")
    return 0
