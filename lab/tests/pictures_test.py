# SPDX-License-Identifier: MIT
"""Pictures are compared in both directions, and a document without its marks is left alone."""
import pathlib
import sys

import numpy
import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench" / "lib"))
from pictures import ROUNDING, compare, difference, put_between  # noqa: E402 (the path comes first)

MARKS = ("<!-- from -->\n", "<!-- to -->\n")


@pytest.mark.parametrize("sign", [1, -1])
def test_darker_and_brighter_count_alike(sign):
    one = numpy.full((4, 5, 3), 100)
    other = one.copy()
    other[0, 0, 1] += sign * ROUNDING
    other[3, 4, 2] += sign * (ROUNDING + 5)
    assert compare(one, other) == {"differ": 2, "beyond": 1, "largest": ROUNDING + 5}
    shown = numpy.asarray(difference(one, other))
    assert (shown > 0).sum() == 2 and shown[3, 4] > shown[0, 0] > 0


def test_what_is_between_marks_is_replaced(tmp_path):
    path = tmp_path / "a.md"
    path.write_text(f"before\n{MARKS[0]}old\n{MARKS[1]}after\n")
    put_between(path, MARKS, ["new", "lines"])
    assert path.read_text() == f"before\n{MARKS[0]}new\nlines\n{MARKS[1]}after\n"


def test_without_a_mark_nothing_is_written(tmp_path):
    path = tmp_path / "a.md"
    path.write_text(f"before\n{MARKS[0]}old\n")
    with pytest.raises(SystemExit, match="one of each mark"):
        put_between(path, MARKS, ["new"])
    assert path.read_text() == f"before\n{MARKS[0]}old\n"
