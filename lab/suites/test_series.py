# SPDX-License-Identifier: MIT
"""The driver as patches for the kernel's lists: made from the overlay, applied, and built patch by patch."""

import re

from nomap_lab.testing import Lab, case, suite

pytestmark = suite(order=70, lane="builds",
                   finds="a series for the lists that does not apply, pass checkpatch or build at each patch")

STEPS = {"applies": "apply", "checkpatch": "style", "documentation": "docs"}


@case("series/make")
def make(lab: Lab) -> None:
    lab.call("kernel/series.sh", "/usr/src/linux-source-6.12.tar.xz", "build/series")


@case("series/{step}", needs=["series/make"], step=list(STEPS))
def check(lab: Lab, step: str) -> None:
    lab.call("kernel/check-series.sh", STEPS[step], "build/series")


@case("series/each-patch-builds", tier="all", needs=["series/make"])
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


@case("series/fixes-of-a-kernel-that-has-them", needs=["series/fixes"])
def fixes_there(lab: Lab) -> None:
    """build.sh leaves fixes out that the source has, and stops where it cannot tell."""
    fix = ("bash", "-euc", '. kernel/lib.sh; choose_fixes 6.12; apply_fixes "$1"', "fixes.sh")
    tree = lab.dir("fixed")
    lab.call("cp", "-r", "build/series-fixes/tree", tree)
    lab.call(*fix, tree / "tree")
    assert not lab.call("git", "-C", tree / "tree", "status", "--porcelain")
    source = tree / "tree/drivers/gpu/drm/radeon/r600_cs.c"
    source.write_text(source.read_text(encoding="utf-8").replace("cb size not set", "CB_COLOR_SIZE missing"), encoding="utf-8")
    done = lab.status(*fix, tree / "tree")
    assert done.status == 1 and re.search("0001-.*does not apply without fuzz", done.err)


@case("series/each-fix-builds", tier="all", needs=["series/fixes"])
def each_fix_builds(lab: Lab) -> None:
    lab.call("kernel/check-series.sh", "build", "build/series-fixes")
