# SPDX-License-Identifier: MIT
"""usage: lab/demo [LIVE-BOS-OPTION...]   (make demo FULL=1: with --full)

Runs bench/live-bos on the patched module, all variants in one boot, and plots
what it measured. Results: build/results/live-bos.{json,png}.

The board gets a VRAM aperture that holds all populations side by side: what
is to be seen is the cost of mappings, not that of moving BOs into a small one.
"""
from nomap_lab import graph, guest, procs
from nomap_lab.options import passed_on, python
from nomap_lab.paths import RESULTS, LabError, say


def main(argv: list[str]) -> int:
    """The command."""
    options = passed_on(__doc__, "bench/live-bos", argv)
    graph.ensure("image", "board", "boot", "bench", "libdrm")
    RESULTS.mkdir(parents=True, exist_ok=True)
    say("booting the guest (stock kernel, patched radeon.ko, emulated RV710)")
    status = guest.run(guest.Boot(timeout=900, mem="4G", board="--vram-mib 1024 --bar-mib 1024"),
                       ["/build/bench/live-bos", "--verbose", "--json", "/build/results/live-bos.json", *options])
    if status:
        raise LabError(f"the demo's guest failed with status {status} (logs: build/lab/)")
    plot = python("bench/live-bos/plot.py", RESULTS / "live-bos.json", RESULTS / "live-bos.png")
    if procs.call(plot, check=False).returncode:
        raise LabError("the plot could not be made; the numbers are in build/results/live-bos.json")
    say("done")
    print("numbers: build/results/live-bos.json\nplot:    build/results/live-bos.png")
    return 0
