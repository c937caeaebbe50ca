# SPDX-License-Identifier: MIT
"""The emulated board's counters are selected by number: those of lib/igt_radeon.h are the board's."""

import pathlib
import re

HERE = pathlib.Path(__file__).resolve().parent


def test_counters_have_the_boards_numbers():
    board = {name: int(n) for name, n in re.findall(r"^    \w+ (\w+) = (\d+);",
                                                    (HERE.parent / "emulator/src/chip/counters.rs").read_text(), re.M)}
    ours = {name.lower(): int(n) for name, n in re.findall(r"^\tIGT_RADEON_(\w+) = (\d+),?$",
                                                           (HERE / "lib/igt_radeon.h").read_text(), re.M)}
    assert len(ours) >= 7
    ours["mmio_writes"] = ours.pop("register_writes")
    assert ours == {name: board[name] for name in ours}
