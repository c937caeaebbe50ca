# SPDX-License-Identifier: MIT
"""usage: lab/mm-debug [SECONDS [SEED]]   (make mm-debug SECONDS=300 SEED=any)

The series of kernel/mm on a kernel that watches itself: KASAN, lockdep, and
checks of the trees of VMAs and anon_vmas at each change
(lab/kernels/mm-debug.config). The programs of kernel/mm change address spaces
there, in rounds (of 2 to 4 minutes) for about SECONDS (default 300), with the
next seed each time; then come those of the kernel's own mm selftests that are
about VMAs. Each program checks what it finds itself, and the kernel must have
nothing to report. Ends with a verdict.
"""
import random

from nomap_lab import cli, graph, guest
from nomap_lab.paths import BUILD, TOP, LabError, say

KERNEL_REPORTED = 70


def main(argv: list[str]) -> int:
    """The command."""
    parser = cli.parser(__doc__, prog="lab/mm-debug")
    parser.add_argument("seconds", metavar="SECONDS", nargs="?", type=cli.number("seconds"), default=300)
    parser.add_argument("seed", metavar="SEED", nargs="?", type=cli.number("a seed"))
    args = parser.parse(argv)
    seed = args.seed or random.randint(1, 1 << 15)
    graph.ensure("mm-debug", "mm-tools", "mm-selftests")
    say(f"mm-debug: rounds for {args.seconds} s from seed {seed}, then selftests")
    script = (TOP / "lab/guest/mm-debug").read_text(encoding="utf-8")
    boot = guest.Boot(kernel="mm-debug", mem="4G", timeout=args.seconds + 1800, logs=BUILD / "mm-debug")
    status = guest.run(boot, ["bash", "-c", script, "mm-debug", str(args.seconds), str(seed)])
    if status == KERNEL_REPORTED:
        raise LabError("mm-debug: FAILED: the kernel reported something, see above and build/mm-debug/console.log")
    if status:
        raise LabError(f"mm-debug: FAILED with status {status}")
    print("mm-debug: passed, and the kernel had nothing to report")
    return 0
