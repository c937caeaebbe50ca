# SPDX-License-Identifier: MIT
"""Changes of the driver that take out something which hardware needs, each with the test that has to
fail then."""

import re

from nomap_lab.paths import TOP
from nomap_lab.testing import Lab, case, suite

pytestmark = suite(order=52, tier="all", finds="a test that passes whatever the driver does")


@case("mutations/program", runner="pytest")
def program(lab: Lab) -> None:
    lab.pytest("igt-tests/mutations/mutations_test.py")


@case("mutations/apply")
def apply(lab: Lab) -> None:
    """The table fits the driver, and docs/mutations.md has its lines."""
    lab.call("igt-tests/mutations/mutations.py", "check", "kernel")
    table = re.search(r"(?ms)^\|---.*?^$", (TOP / "docs/mutations.md").read_text(encoding="utf-8"))
    assert table, "docs/mutations.md has no table"
    documented = re.findall(r"(?m)^\| ([a-z0-9-]*) ", table[0])
    assert lab.call("igt-tests/mutations/mutations.py", "list").splitlines() == documented
    assert lab.call("igt-tests/mutations/mutations.py", "chips") in (TOP / "docs/mutations.md").read_text(encoding="utf-8")


@case("mutations/shown", needs=["mutations/apply"])
def shown(lab: Lab) -> None:
    lab.lab("mutations")
