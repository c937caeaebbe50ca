# SPDX-License-Identifier: MIT
"""The series of kernel/mm: that it applies, its style, and its search for unmapped areas, compared
with an oracle."""

from nomap_lab.testing import Lab, case, suite

pytestmark = suite(order=25, lane="builds",
                   finds="patches of kernel/mm that do not apply, and a search that returns another address")

STEPS = {"applies": "apply", "checkpatch": "style", "oracle": "oracle", "guards": "guards", "series": "series"}


@case("mm/{step}", step=list(STEPS))
def check(lab: Lab, step: str) -> None:
    lab.call("kernel/mm/check.sh", STEPS[step], "/usr/src/linux-source-6.12.tar.xz", "build/mm")


@case("mm/oracle-32-bit", tier="all", needs=["mm/applies"])
def oracle32(lab: Lab) -> None:
    # Uses the source that mm/applies has unpacked.
    lab.call("kernel/mm/check.sh", "oracle32", "build/mm/base", "build/mm-32")
