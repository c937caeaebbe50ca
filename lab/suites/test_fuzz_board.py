# SPDX-License-Identifier: MIT
"""Frames of Debian's Mesa with mutations, on the board's 3D engine (natively)."""

from nomap_lab.testing import Lab, case, suite

pytestmark = suite(order=21, lane="builds",
                   finds="a stream, state or shader that makes the board panic, hang or reach other memory")


@case("fuzz-board/mutated-frames")
def mutated_frames(lab: Lab) -> None:
    lab.lab("fuzz-board", "--cases", "100")


@case("fuzz-board/mutated-frames-on-{chip}", tier="all", chip=["turks", "cedar", "cayman"])
def evergreen(lab: Lab, chip: str) -> None:
    """Evergreen's registers, resources, addresses and shaders; Cayman's shaders and address spaces."""
    lab.lab("fuzz-board", "--chip", chip, "--cases", "100")


@case("fuzz-board/long", tier="all")
def long(lab: Lab) -> None:
    scenes = ("gears text wires floor phong mirror compressed instances samples stencil shadow particles "
              "geometry feedback")
    lab.lab("fuzz-board", "--seconds", "600", "--seed", "1000", "--scenes", scenes)
