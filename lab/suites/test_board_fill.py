# SPDX-License-Identifier: MIT
"""bench/board-fill, natively by r7xx-shim: what it draws, not how fast."""

from nomap_lab.testing import Lab, case, suite

pytestmark = suite(order=23, lane="builds",
                   finds="a scene that the board draws otherwise than llvmpipe and softpipe do")


@case("board-fill/same-pictures")
def same_pictures(lab: Lab) -> None:
    lab.lab("bench-board", "--rounds", "2", "--runs", "1", "--out", "check/board-fill", "--check")
