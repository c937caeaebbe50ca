# SPDX-License-Identifier: MIT
"""The driver as patches for the kernel's lists: made from the overlay, applied, and built patch by patch."""

from nomap_lab.testing import Lab, case, suite

pytestmark = suite(order=70, lane="builds",
                   finds="a series for the lists that does not apply, pass checkpatch or build at each patch")

STEPS = {"applies": "apply", "checkpatch": "style", "documentation": "docs"}


@case("series/make")
def make(lab: Lab) -> None:
    lab.call("kernel/series.sh", "/usr/src/linux-source-6.12.tar.xz", "build/series")


@case("series/{step}", step=list(STEPS))
def check(lab: Lab, step: str) -> None:
    lab.call("kernel/check-series.sh", STEPS[step], "build/series")


@case("series/each-patch-builds", tier="all")
def each_builds(lab: Lab) -> None:
    lab.call("kernel/check-series.sh", "build", "build/series")


@case("series/fixes")
def fixes(lab: Lab) -> None:
    """The fixes of the unmodified driver apply without the driver's hooks, and are not sent with a placeholder's sign-off."""
    lab.call("kernel/fixes.sh", "/usr/src/linux-source-6.12.tar.xz", "build/series-fixes")
    for step in ("apply", "style"):
        lab.call("kernel/check-series.sh", step, "build/series-fixes")
    refused = lab.status("kernel/check-series.sh", "send", "build/series-fixes")
    assert refused.status == 1 and "placeholder" in refused.err


@case("series/each-fix-builds", tier="all", needs=["series/fixes"])
def each_fix_builds(lab: Lab) -> None:
    lab.call("kernel/check-series.sh", "build", "build/series-fixes")
