# SPDX-License-Identifier: MIT
"""The IGT tests once more, on a kernel with KASAN, lockdep, DMA-API debugging, kmemleak and fault
injection. Anything that it reports fails the run."""

from pathlib import Path

from nomap_lab.igt_sets import HELD
from nomap_lab.paths import CHECK
from nomap_lab.testing import Lab, case, suite

pytestmark = suite(order=85, tier="all", finds="KASAN, lockdep, DMA-API and kmemleak reports in all IGT tests")

# kmemleak is cleared first: older leaks are not the tests'.
LEAKS = """
    echo clear >/sys/kernel/debug/kmemleak
    "$@" || exit
    sleep 6
    echo scan >/sys/kernel/debug/kmemleak
    echo scan >/sys/kernel/debug/kmemleak
    leaks=$(cat /sys/kernel/debug/kmemleak)
    [ -z "$leaks" ] || { echo "kmemleak: $leaks"; exit 1; }
    off="dma-debug disabled|turning off the locking correctness|Kernel memory leak detector disabled"
    dmesg | grep -E "$off" && exit 1
    exit 0"""


def igt(lab: Lab, results: Path, lockup: int) -> None:
    """Fewer rounds (-q), as subtests are several times slower on this kernel; the stock one runs all.

    A scan for leaks keeps a CPU for long, on a busy machine for longer than the soft lockup detector allows.
    """
    lab.igt(results, flags=["-q", "-T", "600"], command=LEAKS, kernel="debug", mem="3G", timeout=3300,
            append=f"radeon.lockup_timeout={lockup} watchdog_thresh=60")


@case("debug/kernel")
def kernel(lab: Lab) -> None:
    lab.build("debug")


@case("debug/igt", needs=["debug/kernel"], runner="igt")
def all_tests(lab: Lab) -> None:
    igt(lab, CHECK / "igt-debug", 3000)


@case("debug/held", needs=["debug/kernel"], runner="igt", include=[HELD])
def held(lab: Lab) -> None:
    igt(lab, CHECK / "igt-debug-held", 60000)
