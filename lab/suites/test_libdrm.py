# SPDX-License-Identifier: MIT
"""libdrm: the series, patch by patch, on a fake of the kernel; its ABI and its packages.

The suite libdrm-board has what needs the board.
"""

from nomap_lab.paths import BUILD
from nomap_lab.testing import Lab, case, suite

pytestmark = suite(order=35, lane="builds",
                   finds="a patch of libdrm that does not build or pass alone, ABI breaks, package faults")

STEPS = {"each-patch-builds-and-passes": "each", "abi": "abi", "uapi-header": "header", "sanitizers": "sanitize"}


@case("libdrm/build")
def build(lab: Lab) -> None:
    lab.build("libdrm")


@case("libdrm/{step}", step=list(STEPS))
def check(lab: Lab, step: str) -> None:
    lab.build("libdrm-source")
    lab.call("libdrm/check", STEPS[step], "build/libdrm-source", "build/libdrm-check")


@case("libdrm/package")
def package(lab: Lab) -> None:
    lab.build("libdrm-deb")
    debs = [deb for name in ("radeon1", "dev") for deb in (BUILD / "libdrm-deb").glob(f"libdrm-{name}_*.deb")]
    lab.call("packaging/tests/run", "libdrm", *debs)
