# SPDX-License-Identifier: MIT
"""A GL program's submissions, captured by r7xx-shim and executed again by r7xx-replay."""

from nomap_lab.testing import Lab, case, suite

pytestmark = suite(order=24, lane="builds", finds="a captured frame that is drawn otherwise the second time")


@case("replay/frame-is-drawn-again")
def frame(lab: Lab) -> None:
    lab.build("board", "bench")
    lab.call("python3", "-B", "emulator/tests/replay/check.py", "build", "build/check/replay")
