# SPDX-License-Identifier: MIT
"""The board's unit, property and transport tests ("cargo test", compiled once for these sources)."""

from nomap_lab.testing import Lab, case, suite

pytestmark = suite(order=20, lane="builds",
                   finds="wrong packets, registers, transport and display of the board, hostile clients")


@case("board/cargo-test", runner="cargo")
def cargo_test(lab: Lab) -> None:
    lab.build("board-tests")
    lab.cargo("python3", "-B", "-m", "nomap_lab.board_tests", "run", "build/board-tests")
