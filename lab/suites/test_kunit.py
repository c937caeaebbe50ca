# SPDX-License-Identifier: MIT
"""The driver's unit tests by KUnit, and IGT under lockdep, on a kernel of ours that has both: Debian's has not."""

import re

from nomap_lab import kunit
from nomap_lab.paths import CHECK, TOP
from nomap_lab.testing import Lab, case, suite

pytestmark = suite(order=84, tier="all",
                   finds="wrong rules, bounds or arithmetic of the driver that no call reaches; locks that are not held")


@case("kunit/kernel")
def kernel(lab: Lab) -> None:
    lab.build("kunit")


@case("kunit/driver", needs=["kunit/kernel"])
def driver(lab: Lab) -> None:
    """They run when the module is loaded, and their results are in the kernel's log."""
    log = lab.run("dmesg", kernel="kunit", timeout=300, append="kunit.enable=1")
    found = kunit.results(log)
    assert not {name: text for name, (result, text) in found.items() if result != "pass"}
    cases = {name for name in re.findall(r"KUNIT_CASE(?:_PARAM)?\((\w+)", "".join(
        path.read_text(encoding="utf-8") for path in (TOP / "kernel/drivers/gpu/drm/radeon").glob("*_test.c")))}
    assert cases and set(found) == cases, "not all tests have run"


@case("kunit/locks", needs=["kunit/kernel"], runner="igt")
def locks(lab: Lab) -> None:
    """All of IGT, where lockdep watches the order of locks and the driver's assertions: `debug` without KASAN and leaks."""
    lab.igt(CHECK / "igt-locks", flags=["-q", "-T", "300"], command="""
        "$@" || exit
        # lockdep turns itself off at its first report, or if it runs out of room.
        grep -E "debug_locks: *1$" /proc/lockdep_stats""", kernel="kunit", timeout=2400,
            append="radeon.lockup_timeout=3000 kunit.enable=0")
