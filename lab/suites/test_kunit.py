# SPDX-License-Identifier: MIT
"""The driver's unit tests by KUnit, on a kernel of ours that has it: Debian's has not."""

import re

from nomap_lab import kunit
from nomap_lab.paths import TOP
from nomap_lab.testing import Lab, case, suite

pytestmark = suite(order=84, tier="all", finds="wrong rules, bounds or arithmetic of the driver that no call reaches")


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
