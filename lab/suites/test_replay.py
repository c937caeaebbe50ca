# SPDX-License-Identifier: MIT
"""A GL program's submissions, captured by r7xx-shim and executed again by r7xx-replay."""

from nomap_lab.testing import Lab, case, suite

pytestmark = suite(order=24, lane="builds", finds="a captured frame that is drawn otherwise the second time")


def frame_is_drawn_again(lab: Lab, chip: str) -> None:
    """With the same results; and it is described with Mesa's names and notation."""
    lab.build("board", "bench")
    lab.call("python3", "-B", "emulator/tests/replay/check.py", "build", f"build/check/replay/{chip}", chip)


@case("replay/{chip}", chip=["rv730", "turks"])
def frame(lab: Lab, chip: str) -> None:
    frame_is_drawn_again(lab, chip)


@case("replay/{chip}", tier="all", chip=["rv670", "cayman"])
def other_frames(lab: Lab, chip: str) -> None:
    frame_is_drawn_again(lab, chip)


@case("replay/shared-memory")
def shared_memory(lab: Lab) -> None:
    """Dma-bufs, pinned memory, and captures of a program that goes on while it is drawn, or hangs."""
    lab.build("board")
    lab.call("python3", "-B", "emulator/tests/share/check.py", "build", "build/check/share", "rv770", "turks")


@case("replay/register-fields")
def register_fields(lab: Lab) -> None:
    """The tables by which registers are decoded and described."""
    lab.build("mesa-source")
    lab.call("python3", "-B", "emulator/tests/fields/check.py", "build/mesa-source")
