# SPDX-License-Identifier: MIT
"""Builds our own kernels that suites of this tier boot, so that these need not wait."""

from nomap_lab.testing import Lab, case, suite

pytestmark = suite(order=15, lane="builds", tier="all", finds="kernels of our own that do not build")


@case("kernels/debug")
def debug(lab: Lab) -> None:
    lab.build("debug")


@case("kernels/mm")
def mm(lab: Lab) -> None:
    lab.build("mm-base", "mm")
