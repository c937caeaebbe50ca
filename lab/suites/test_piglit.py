# SPDX-License-Identifier: MIT
"""Piglit's tests of uploads and readbacks on the board's 3D engine, with Debian's Mesa in the
test's own process. The suite piglit-guest has a sample of them in a guest."""

from nomap_lab.paths import RESULTS
from nomap_lab.testing import Lab, case, suite

pytestmark = suite(order=22, lane="builds", finds="pixels, texels and bytes other than those of a real RV770")

NATIVE = ("--native", "--mesa", "unmodified")


@case("piglit/native-{chip}", chip=["rv770", "rv710"], runner="piglit")
def native(lab: Lab, chip: str) -> None:
    out = RESULTS / f"piglit/native-{chip}"
    lab.piglit(*NATIVE, "--chip", chip, "--tests", "lab/piglit-sets/upload-readback", out=out)


@case("piglit/sample-{chip}", runner="piglit", chip=["turks", "cayman"])
def evergreen(lab: Lab, chip: str) -> None:
    """Of all tests, with those of GLSL 4 and of doubles, which Mesa computes with integers for a Turks and
    the chip itself on a Cayman."""
    tests = lab.piglit_sample(chip, chip, 200, seed=33)
    lab.piglit(*NATIVE, "--chip", chip, "--tests", tests, out=RESULTS / f"piglit/sample-{chip}")


@case("piglit/native-strict", tier="all", runner="piglit")
def strict(lab: Lab) -> None:
    """The unmodified Mesa writes back and invalidates each cache that it has to.

    Each texel goes through the modelled caches, which is slow: hence a sample.
    """
    tests = lab.piglit_sample("strict", "rv770", 150, seed=7)
    lab.piglit(*NATIVE, "--strict", "--chip", "rv770", "--tests", tests, out=RESULTS / "piglit/native-strict")
