# SPDX-License-Identifier: MIT
"""The driver's unit tests by KUnit, on a kernel of ours that has it: Debian's has not."""

import re

from nomap_lab.testing import Lab, case, suite

pytestmark = suite(order=84, tier="all", finds="wrong rules, bounds or arithmetic of the driver that no call reaches")


@case("kunit/kernel")
def kernel(lab: Lab) -> None:
    lab.build("kunit")


@case("kunit/driver", needs=["kunit/kernel"])
def driver(lab: Lab) -> None:
    """They run when the module is loaded, and their results are in the kernel's log."""
    log = lab.run("dmesg", kernel="kunit", timeout=300, append="kunit.enable=1")
    totals = re.search(r"# radeon_gem_rw: pass:(\d+) fail:(\d+) skip:(\d+) total:(\d+)", log)
    failed = [line for line in log.splitlines() if "not ok" in line or "EXPECTATION FAILED" in line]
    assert totals, "the tests have not run"
    passed, *others, total = map(int, totals.groups())
    assert passed == total and passed >= 9 and not any(others), failed
